"""Dimensional analysis: whether the parameters of a mechanism fit their uses, and which dimension
each of them has.

A parameter that is written with a unit has that dimension (`Mechanism.units`). The dimension of one
that is a plain number in SI follows from its uses: `mass = "density*crank"` and `at = ["crank", 0,
0]` imply that crank is a length and density a mass per length. Each use gives one linear equation
for the exponents of base units. The equations are solved one after the other, those with the fewest
unknown parameters first. An equation that contradicts the earlier ones is a fault; it names the
parameter, its use, the dimension found and the one expected.

Laws (expressions of time and coordinates) are checked only where the dimensions of their parameters
are known otherwise. A parameter that only laws use gets the first dimension that follows from them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

from ..errors import ExpressionError
from .dimension_forms import Alike, Form, dimensioned
from .dimension_places import Place, places, signals
from .dimensions import (
    DIMENSIONS,
    Powers,
    accepted,
    name_of,
    si_powers,
    unit_text,
    wanted,
    without_radian,
)
from .expression_syntax import RESERVED, names_in, shown
from .expressions import parse, write
from .mechanism import Mechanism

_REMEDY = (
    "If a number in it stands for a quantity, make it a parameter with a unit, or write it with a"
    " decimal point"
)


@dataclass(frozen=True)
class Analysis:
    """The result of `analyse`. units: the SI unit of each parameter whose dimension is known ("" is
    a plain number). faults: contradictions with the units that parameters are written with.
    contradictions: contradictions among uses of plain numbers. assumed: decimal numbers in products
    that are taken as quantities.
    """

    units: Mapping[str, str]
    faults: tuple[str, ...] = ()
    contradictions: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()


def parameter_units(m: Mechanism) -> dict[str, str]:
    """Return {parameter: its SI unit, such as "kg/m"} of the parameters that are written with a
    unit or whose uses imply one; "" is a plain number.
    """
    return dict(analyse(m).units)


def faults(m: Mechanism) -> tuple[str, ...]:
    """Return a sentence for each use that contradicts the units that parameters are written
    with.
    """
    return analyse(m).faults if m.units else ()


def contradictions(m: Mechanism) -> tuple[str, ...]:
    """Return a sentence for each use of parameters without unit that contradicts another use.

    In a file these are faults. In a mechanism made in Python they are not: there a length of 1 m is
    the number 1 and m*l**2 is m, so that dimensions cannot be inferred.
    """
    return analyse(m).contradictions if m.parameters else ()


def law_faults(m: Mechanism, where: str, what: str, text: str) -> tuple[str, ...]:
    """Return a sentence for each contradiction in a law that is no part of the mechanism, such as
    the condition of an event, with the units that its parameters are written with.

    where, what: how the record that holds the law, and its key, are called.
    """
    named = names_in(text) & m.parameters.keys()
    if not named or not named <= m.units.keys():
        return ()
    try:
        law = Place(where, what, parse(text, names_in(text) - RESERVED), "any", law=True)
    except ExpressionError:
        return ()  # who evaluates it says so
    others = signals(m)
    given = {name: without_radian(si_powers(m.units[name])) for name in named}
    system = _System(given | {n: dict(p) for n, p in others.items()}, signals=frozenset(others))
    checked = [e for e in _equations(law) if not system.open(e.names)]
    return tuple(dict.fromkeys(filter(None, map(system.take, checked))))


def analyse(m: Mechanism) -> Analysis:
    """Return the dimensions of a mechanism's parameters, with all faults."""
    if not m.parameters:
        return Analysis({})
    found = list(places(m))
    system = _System({name: without_radian(si_powers(unit)) for name, unit in m.units.items()})
    faults: list[str] = []
    fitting = []
    blamed: set[str] = set()  # of what else holds them nothing more is said
    for place in found:
        if fault := _bare(place, m):
            faults.append(fault)
            blamed |= {str(s) for s in place.value.free_symbols}
        else:
            fitting.append(place)
    fitting = [p for p in fitting if not blamed & {str(s) for s in p.value.free_symbols}]
    equations = [e for place in fitting if not place.law for e in _equations(place)]
    # the rotations of a pose say the same of one angle many times
    equations = list({(e.place.where, e.alike or e.place): e for e in equations}.values())
    others: list[str] = []
    for e in sorted(equations, key=lambda e: system.open(e.names)):
        if fault := system.take(e):
            (others if system.open(e.names) else faults).append(fault)
    laws = [e for place in fitting if place.law for e in _equations(place)]
    for e, fault in _laws(laws, system, signals(m) if laws else {}, m):
        named = e.names.keys() & m.parameters.keys()
        (faults if named <= m.units.keys() else others).append(fault)
    units = {name: m.units.get(name) for name in m.parameters if name in m.units}
    units |= {
        name: _unit_there(name, fitting, powers)
        for name, powers in system.solved().items()
        if name in m.parameters and name not in m.units
    }
    ordered = {name: str(units[name]) for name in m.parameters if units.get(name) is not None}
    return Analysis(
        ordered,
        tuple(dict.fromkeys(faults)),
        tuple(dict.fromkeys(others)),
        tuple(_assumed(fitting, system)),
    )


# --- equations
class _Equation(NamedTuple):
    """An equation: a product of powers of names has the dimension `powers`. place: the value that
    it comes from. alike: the two parts of the expression that must agree, for a condition inside
    the expression; None for an equation about the whole value.
    """

    names: Mapping[str, Fraction]
    powers: Powers
    place: Place
    alike: Alike | None = None


def _equations(place: Place) -> Iterator[_Equation]:
    """Yield the equations that a value implies."""
    form, alike = dimensioned(place.value, place.law)
    if place.dimension in DIMENSIONS and not form.plain and not form.loose:
        needed = without_radian(si_powers(DIMENSIONS[place.dimension].unit))
        yield _Equation(dict(form.names), needed, place)
    for pair in alike:
        names = dict(pair.first.names)
        for name, k in pair.second.names if pair.second else ():
            names[name] = names.get(name, Fraction(0)) - k
        left = {name: k for name, k in names.items() if k}
        if left:
            yield _Equation(left, {}, place, pair)


def _bare(place: Place, m: Mechanism) -> str:
    """Return the fault of a parameter with a unit that is the whole value, or a rational multiple
    of it; "" where there is none. In such a place radians count as a unit, as they do in a value
    that is written directly.
    """
    factor, rest = place.value.as_coeff_Mul()
    if not (factor.is_Rational and rest.is_Symbol) or place.dimension not in DIMENSIONS:
        return ""
    unit = m.units.get(str(rest))
    if unit is None:
        return ""
    powers = si_powers(unit)
    if tuple(sorted(powers.items())) in accepted(place.dimension):
        return ""
    return f"{_is(place)}, {name_of(powers)}; {wanted(place.dimension)}{_remark(place, m.units)}"


def _is(place: Place) -> str:
    return f"{place.where}: {place.what} is {shown(write(place.value))}"


def _remark(place: Place, units: Mapping[str, str]) -> str:
    named = sorted(str(s) for s in place.value.free_symbols if str(s) in units)
    remarks = [f"{name!r} is in {units[name]}" for name in named if units[name]]
    return f" (parameter {', '.join(remarks)})" if remarks else ""


# --- what follows from them
def _added(a: Powers, b: Powers, sign: int = 1) -> dict[str, Fraction]:
    """Return the exponents of the product a b, or, with sign -1, of the quotient a / b."""
    total = {base: a.get(base, Fraction(0)) + sign * b.get(base, Fraction(0)) for base in {*a, *b}}
    return {base: k for base, k in total.items() if k}


class _Row(NamedTuple):
    """A solved name: the product of powers of other, unknown names and of base units that it
    equals.
    """

    names: Mapping[str, Fraction]
    powers: Powers
    place: Place


@dataclass
class _System:
    """The linear system: names whose dimensions are given, and rows, each of which expresses one
    name by names that have no row.
    """

    given: dict[str, dict[str, Fraction]]
    rows: dict[str, _Row] = field(default_factory=dict)
    signals: frozenset[str] = frozenset()  # those of `given` that are no parameters

    def open(self, names: Mapping[str, Fraction]) -> int:
        """Return the number of names whose dimension is not known."""
        return sum(name not in self.given for name in names)

    def solved(self) -> dict[str, Powers]:
        """Return the dimensions that the rows determine, {name: powers}."""
        return {name: row.powers for name, row in self.rows.items() if not row.names}

    def reduced(self, form: Mapping[str, Fraction]) -> tuple[dict[str, Fraction], Powers]:
        """Return a product of names and units rewritten as powers of names that have no row, and
        powers of base units.
        """
        names: dict[str, Fraction] = {}
        powers: dict[str, Fraction] = {}
        for name, k in form.items():
            row = self.rows.get(name)
            known = self.given.get(name, {}) if row is None else row.powers
            for base, power in known.items():
                powers[base] = powers.get(base, Fraction(0)) + k * power
            others = row.names if row else {} if name in self.given else {name: Fraction(1)}
            for other, power in others.items():
                names[other] = names.get(other, Fraction(0)) + k * power
        return {n: k for n, k in names.items() if k}, {b: k for b, k in powers.items() if k}

    def take(self, e: _Equation) -> str:
        """Add an equation. Return its fault where it contradicts the equations before it, else
        "".
        """
        names, powers = self.reduced(e.names)
        if not names:
            return "" if dict(powers) == dict(e.powers) else self.contradiction(e)
        name = min(names)
        k = names.pop(name)
        left = _added(e.powers, powers, -1)
        new = _Row(
            {n: -p / k for n, p in names.items()}, {b: p / k for b, p in left.items()}, e.place
        )
        self.rows[name] = new
        for other, row in list(self.rows.items()):
            if name in row.names:
                rest, more = self.reduced(row.names)
                total = _added(row.powers, more)
                self.rows[other] = _Row(rest, total, row.place)
        return ""

    # --- in words
    def contradiction(self, e: _Equation) -> str:
        """Return a sentence about the contradiction that an equation causes."""
        if e.alike is not None:
            return f"{_is(e.place)}; {self.unlike(e.alike)}{self.sources(e)}"
        found = name_of(self.reduced(e.names)[1])
        sentence = f"{_is(e.place)}, {found}; {wanted(e.place.dimension)}{self.sources(e)}"
        return f"{sentence}. {_REMEDY}" if abs(e.place.value.as_coeff_Mul()[0]) != 1 else sentence

    def unlike(self, pair: Alike) -> str:
        """Return a phrase about two parts of an expression whose dimensions differ."""
        each = [
            f"{text!r}, {name_of(self.reduced(dict(f.names))[1])}"
            for text, f in zip(pair.texts, (pair.first, pair.second))
            if f is not None
        ]
        if pair.second is None:
            return f"{pair.how} {each[0]}; a number without unit or an angle is wanted there"
        return f"{pair.how} {each[0]}, and {each[1]}; both have to be of one dimension"

    def sources(self, e: _Equation) -> str:
        """Return a remark in parentheses: where the dimensions of the names in the equation come
        from.
        """
        origins = []
        for name in sorted(e.names.keys() - self.signals):
            if name in self.given and self.given[name] and len(e.names) > 1:
                origins.append(f"parameter {name!r} is in {unit_text(self.given[name])}")
            elif (row := self.rows.get(name)) is not None and not row.names:
                origins.append(
                    f"parameter {name!r} is written without unit, and {name_of(row.powers)} by"
                    f" {row.place.what} of {row.place.where}"
                )
        return f" ({'; '.join(origins)})" if origins else ""


def _laws(
    laws: list[_Equation], system: _System, known: Mapping[str, Powers], m: Mechanism
) -> Iterator[tuple[_Equation, str]]:
    """Yield (equation, fault) of the laws whose parameters have known dimensions, and add to the
    system the dimensions of parameters that only laws use.
    """
    dimensions = {**system.given, **{n: dict(p) for n, p in system.solved().items()}}
    sure = set(dimensions)
    waiting = [e for e in laws if all(n in m.parameters or n in known for n in e.names)]
    others = {n: dict(p) for n, p in known.items() if n not in m.parameters}
    unsolved = {n: row for n, row in system.rows.items() if n not in dimensions}
    checking = _System(dimensions | others, unsolved, frozenset(others))
    for e in waiting:
        named = {n for n in e.names if n in m.parameters}
        powers = checking.reduced(e.names)[1]
        if named and named <= sure and dict(powers) != dict(e.powers):
            yield e, checking.contradiction(e)
    for e in sorted(waiting, key=lambda e: checking.open(e.names)):
        if checking.reduced(e.names)[0]:
            checking.take(e)
    for name, powers in checking.solved().items():
        if name in m.parameters and name not in sure:
            system.rows[name] = _Row({}, powers, checking.rows[name].place)


def _unit_there(name: str, found: list[Place], powers: Powers) -> str:
    """Return the unit of a parameter that was written without one: the unit of the place whose
    whole value it is, else the unit of its powers.
    """
    for place in found:
        if place.dimension in DIMENSIONS and place.value.is_Symbol and str(place.value) == name:
            unit = DIMENSIONS[place.dimension].unit
            if without_radian(si_powers(unit)) == dict(powers):
                return unit
    return unit_text(powers)


def _assumed(found: list[Place], system: _System) -> Iterator[str]:
    """Yield a sentence for each product whose dimension fits only if its decimal number is a
    quantity.
    """
    for place in found:
        form = dimensioned(place.value, place.law).form if not place.law else Form()
        if form.loose and not form.plain and place.dimension in DIMENSIONS:
            names, powers = system.reduced(dict(form.names))
            needed = without_radian(si_powers(DIMENSIONS[place.dimension].unit))
            if names or dict(powers) == needed:
                continue
            missing = _added(needed, powers, -1)
            yield f"{_is(place)}: its decimal number is taken in {unit_text(missing)}"
