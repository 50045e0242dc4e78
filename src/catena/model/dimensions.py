"""Dimensions: the physical quantities, such as length, their SI units, and products of powers of
units.

A product of powers is a mapping from base units to exponents, {"meter": 1, "second": -2}, without
those that are zero. The radian is a base unit where a value is read, since "2 mm" and "2 mm per
turn" are different pitches; in the arithmetic of expressions it counts as a plain number
(`without_radian`), since an arc is a radius times an angle.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

from ..errors import QuantityError

Powers = Mapping[str, Fraction]


class Dimension(NamedTuple):
    """A physical quantity such as length: its SI unit, an example, and other units of the same
    meaning.
    """

    name: str
    unit: str
    example: str
    also: tuple[str, ...] = ()
    common: bool = True


DIMENSIONS: dict[str, Dimension] = {
    d.name: d
    for d in (
        Dimension("number", "", "3.0"),
        Dimension("mass", "kg", "3 kg"),
        Dimension("length", "m", "3 m"),
        Dimension("inertia", "kg*m^2", "3 kg*m^2", ("kg*m^2/rad^2", "N*m*s^2/rad")),
        Dimension("angle", "rad", "90 deg"),
        Dimension("acceleration", "m/s^2", "9.81 m/s^2"),
        Dimension("speed", "m/s", "3 m/s"),
        Dimension("angular speed", "rad/s", "3 rad/s"),
        Dimension("force", "N", "3 N"),
        Dimension("torque", "N*m", "3 N*m", ("N*m/rad",)),
        Dimension("damping", "N*s/m", "3 N*s/m"),
        Dimension("stiffness", "N/m", "200 N/m"),
        Dimension("bending stiffness", "N*m^2", "900 N*m^2", ("N*m^2/rad",)),
        Dimension("line density", "kg/m", "0.8 kg/m"),
        Dimension("line inertia", "kg*m", "2e-4 kg*m"),
        Dimension("drag coefficient", "kg/m", "0.3 kg/m"),
        Dimension("density", "kg/m^3", "1000 kg/m^3"),
        Dimension("viscosity", "Pa*s", "1e-3 Pa*s"),
        Dimension("contact damping", "s/m", "0.1 s/m", common=False),
        Dimension("angular stiffness", "N*m/rad", "3 N*m/rad", ("N*m", "N*m/rad^2")),
        Dimension("angular damping", "N*m*s/rad", "3 N*m*s/rad", ("N*m*s", "N*m*s/rad^2")),
        Dimension("pitch", "m/rad", "2 mm/turn"),
        Dimension("turning per length", "rad/m", "30 rad/m", ("1/m",)),
        Dimension("time", "s", "5 s"),
        Dimension("angular acceleration", "rad/s^2", "3 rad/s^2"),
        Dimension("impulse", "N*s", "3 N*s", common=False),
        Dimension("angular impulse", "N*m*s", "3 N*m*s", ("N*m*s/rad",), common=False),
        # gains of controllers
        Dimension("stiffness per time", "N/m/s", "3 N/m/s", common=False),
        Dimension(
            "angular stiffness per time", "N*m/rad/s", "3 N*m/rad/s", ("N*m/s",), common=False
        ),
        Dimension("stiffness per inertia", "1/s^2", "100/s^2", common=False),
        Dimension("damping per inertia", "1/s", "20/s", common=False),
        # electric motors
        Dimension("voltage", "V", "24 V"),
        Dimension("current", "A", "2 A"),
        Dimension("resistance", "ohm", "0.5 ohm"),
        Dimension("inductance", "H", "0.5 mH"),
        Dimension(
            "motor constant", "N*m/A", "0.05 N*m/A", ("N*m/A/rad", "V*s/rad", "V*s"), common=False
        ),
    )
}
# sorts that no key of a file asks for, but that a message may have to name
OTHERS = {
    "frequency": "1/s",
    "area": "m^2",
    "volume": "m^3",
    "pressure": "Pa",
    "power": "W",
    "momentum": "kg*m/s",
    "temperature": "K",
}
_SI: dict[str, dict[str, int]] = {
    "kg": {"kilogram": 1},
    "m": {"meter": 1},
    "s": {"second": 1},
    "rad": {"radian": 1},
    "A": {"ampere": 1},
    "K": {"kelvin": 1},
    "mol": {"mole": 1},
    "cd": {"candela": 1},
    "N": {"kilogram": 1, "meter": 1, "second": -2},
    "J": {"kilogram": 1, "meter": 2, "second": -2},
    "W": {"kilogram": 1, "meter": 2, "second": -3},
    "Pa": {"kilogram": 1, "meter": -1, "second": -2},
    "Hz": {"second": -1},
    "V": {"kilogram": 1, "meter": 2, "second": -3, "ampere": -1},
    "ohm": {"kilogram": 1, "meter": 2, "second": -3, "ampere": -2},
    "H": {"kilogram": 1, "meter": 2, "second": -2, "ampere": -2},
}
_SHORT = {next(iter(p)): name for name, p in _SI.items() if list(p.values()) == [1]}
_FACTOR = re.compile(r"([*/])([^\W\d]\w*)(?:\^(-?\d+))?")


def si_powers(unit: str) -> dict[str, Fraction]:
    """Return the powers of base units of a product of SI units without prefixes; raise
    QuantityError where the string is not such a product.

    >>> si_powers("N/m") == {"kilogram": 1, "second": -2}
    True
    """
    found = _powers_of(unit.replace(" ", ""))
    if found is None:
        raise QuantityError(
            f"{unit!r} is not a product of SI units ({', '.join(_SI)}), such as 'kg*m^2' or 'N/m'"
        )
    return dict(found)


@cache
def _powers_of(unit: str) -> tuple[tuple[str, Fraction], ...] | None:
    text = "" if unit in ("", "1") else unit.removeprefix("1") if unit[:2] == "1/" else f"*{unit}"
    found: dict[str, Fraction] = {}
    at = 0
    while match := _FACTOR.match(text, at):
        sign, name, power = match.groups()
        for base, k in _SI.get(name, {name: 1}).items():
            exponent = k * int(power or 1) * (1 if sign == "*" else -1)
            found[base] = found.get(base, Fraction(0)) + exponent
        at = match.end()
    known = {base for powers in _SI.values() for base in powers}
    if text[at:] or not found.keys() <= known:
        return None
    return tuple(sorted((base, k) for base, k in found.items() if k))


def without_radian(powers: Powers) -> dict[str, Fraction]:
    """Return the powers with every radian counted as the number one."""
    return {base: k for base, k in powers.items() if base != "radian"}


def unit_text(powers: Powers) -> str:
    """Return a product of powers as a string that `si_powers` reads: the unit of a known dimension,
    else a product of base units; "" for a plain number.

    >>> unit_text({"kilogram": 1, "second": -2})
    'N/m'
    """
    powers = {base: Fraction(k) for base, k in powers.items() if k}
    if name := sort_of(powers):
        return DIMENSIONS[name].unit if name in DIMENSIONS else OTHERS[name]
    if any(k.denominator != 1 for k in powers.values()):
        return "*".join(f"{_SHORT.get(u, u)}^({k})" for u, k in powers.items())
    ordered = sorted(powers.items(), key=lambda item: (item[1] < 0, item[0]))
    above = [f"{_SHORT.get(u, u)}{f'^{k}' if k > 1 else ''}" for u, k in ordered if k > 0]
    below = "".join(f"/{_SHORT.get(u, u)}{f'^{-k}' if k < -1 else ''}" for u, k in ordered if k < 0)
    return ("*".join(above) or ("1" if below else "")) + below


@cache
def _sorts() -> dict[tuple[tuple[str, Fraction], ...], str]:
    """Return {powers: name of the dimension}; where several dimensions have the same powers, the
    first of the tables.
    """
    found: dict[tuple[tuple[str, Fraction], ...], str] = {}
    for pick in ("own", "also"):
        for d in (d for d in DIMENSIONS.values() if d.common):
            for unit in (d.unit,) if pick == "own" else d.also:
                found.setdefault(_powers_of(unit) or (), d.name)
    for name, unit in OTHERS.items():
        found.setdefault(_powers_of(unit) or (), name)
    return found


def sort_of(powers: Powers) -> str:
    """Return the name of the dimension of a product of powers, such as "length"; "" where it has
    none.
    """
    return _sorts().get(tuple(sorted((b, Fraction(k)) for b, k in powers.items() if k)), "")


def name_of(base: Mapping[str, Any] | Iterable[tuple[str, Any]]) -> str:
    """Return a noun for a product of powers, such as "a length", or its units."""
    powers: dict[str, Any] = dict(base)
    if not any(powers.values()):
        return "a number without unit"
    if name := sort_of(powers):
        return with_article(name)
    return "in " + " ".join(
        name if power == 1 else f"{name}^{float(power):g}" for name, power in sorted(powers.items())
    )


def with_article(noun: str) -> str:
    """Return the noun with "a" or "an" before it."""
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"


def wanted(dimension: str) -> str:
    """Return the second half of a sentence that says which values a dimension allows. "any": any
    number; a dimension with |, such as "length|angle", is either of two.
    """
    if dimension == "any":
        return "a number or a text with a unit is wanted, such as 3.0 or '3 kg'"
    if dimension == "number":
        return "a number without unit is wanted, such as 3.0"
    sorts = dimension.split("|")
    examples = " or ".join(repr(DIMENSIONS[d].example) for d in sorts)
    return f"{' or '.join(map(with_article, sorts))} is wanted, such as {examples}"


@cache
def accepted(dimension: str) -> tuple[tuple[tuple[str, Fraction], ...], ...]:
    """Return the products of powers, radians included, that a value of this dimension may have."""
    return tuple(
        _powers_of(unit) or ()
        for word in dimension.split("|")
        for d in (DIMENSIONS[word],)
        for unit in (d.unit, *d.also)
    )
