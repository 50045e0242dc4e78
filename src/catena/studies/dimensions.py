"""Dimensions of parameters: what a mechanism's expressions say about the units of the names in
them.

A parameter has a value and no unit. Where it stands tells: of `mass = density*crank` and `at =
[crank, 0, 0]` follows that crank is a length and density a mass per length. Each product of powers
in a place of known dimension is an equation; those with one unknown are solved, until nothing new
follows. What stays unknown takes any unit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from ..formats.units import DIMENSIONS, base_units
from ..model.mechanism import Mechanism

Powers = Mapping[str, Fraction]  # of base units: {"meter": 1, "second": -2}
_TRIED = 20  # rounds; each solves at least one parameter


def parameter_units(m: Mechanism) -> dict[str, str]:
    """{parameter: its SI unit as a text, such as "kg/m"}, of those that follow from where they
    stand; "" is a plain number.
    """
    known: dict[str, Powers] = {}
    terms = [(term, powers) for x, powers in _places(m) for term in _terms(x)]
    for _ in range(_TRIED):
        before = len(known)
        for term, powers in terms:
            _solve(term, powers, known)
        if len(known) == before:
            break
    return {name: _text(powers) for name, powers in known.items()}


def _places(m: Mechanism) -> Iterator[tuple[Any, Powers]]:
    """Scalars that depend on parameters, and the base units of where they stand."""
    found: list[tuple[Any, str]] = [(x, "acceleration") for x in m.gravity]
    for b in m.bodies:
        found += [
            (b.mass, "mass"),
            *((x, "length") for x in b.com),
            *((x, "inertia") for x in b.inertia),
        ]
    for pose in (
        *(f.pose for f in m.frames),
        *(p for j in (*m.joints, *m.loops) for p in (j.placement, j.offset)),
    ):
        found += [(x, "length") for x in pose.position]
    for load in m.loads:
        for name, key in load.schema().items():
            if key.sort == "number" and isinstance(key.measure, str):
                found.append((getattr(load, name), key.measure))
    for x, dimension in found:
        if dimension in DIMENSIONS and _names(x):
            yield (
                x,
                {
                    unit: Fraction(power)
                    for unit, power in base_units(DIMENSIONS[dimension].unit)
                    if unit != "radian"
                },
            )


def _names(x: Any) -> set[str]:
    return {str(s) for s in getattr(x, "free_symbols", ())}


def _terms(x: Any) -> list[dict[str, Fraction]]:
    """The products of powers of a sum, each as {parameter: power}; other terms are left out."""
    found = []
    for term in x.expand().as_ordered_terms():
        powers: dict[str, Fraction] | None = {}
        for base, power in term.as_powers_dict().items():
            if base.is_Symbol and power.is_Rational:
                powers = {**(powers or {}), str(base): Fraction(int(power.p), int(power.q))}
            elif base.free_symbols:
                powers = None
                break
        if powers:
            found.append(powers)
    return found


def _solve(term: Mapping[str, Fraction], powers: Powers, known: dict[str, Powers]) -> None:
    """The units of the one name in a product that is not known yet."""
    unknown = [name for name in term if name not in known]
    if len(unknown) != 1:
        return
    left = dict(powers)
    for name, power in term.items():
        for unit, k in known.get(name, {}).items():
            left[unit] = left.get(unit, Fraction(0)) - power * k
    known[unknown[0]] = {unit: k / term[unknown[0]] for unit, k in left.items() if k}


_SHORT = {"meter": "m", "kilogram": "kg", "second": "s"}


def _text(powers: Powers) -> str:
    if any(k.denominator != 1 for k in powers.values()):
        return "*".join(f"{_SHORT.get(u, u)}^({k})" for u, k in powers.items())
    ordered = sorted(powers.items(), key=lambda item: (item[1] < 0, item[0]))
    above = [f"{_SHORT.get(u, u)}{f'^{k}' if k > 1 else ''}" for u, k in ordered if k > 0]
    below = "".join(f"/{_SHORT.get(u, u)}{f'^{-k}' if k < -1 else ''}" for u, k in ordered if k < 0)
    return ("*".join(above) or ("1" if below else "")) + below
