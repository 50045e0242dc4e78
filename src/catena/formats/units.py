"""Units: a value of a file as an SI number, or as an expression of the file's parameters.

A number is in SI already. A string is a number with a unit ("10 slug", "18 in", "90 deg", "2
mm/turn"), read by pint, or an expression with the name of a parameter ("m1*l1^2/12"). A turn counts
as a unit: "2 mm" is not a pitch, because a screw may move 2 mm per turn or 2 mm per radian; and "3
Hz" is not an angular speed.
"""

from __future__ import annotations

import difflib
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from decimal import Context, Decimal
from fractions import Fraction
from functools import cache
from typing import Any

from ..errors import ExpressionError, QuantityError
from ..model import (
    DIMENSIONS,
    FUNCTIONS,
    Scalar,
    accepted,
    expression_syntax,
    expressions,
    name_of,
    shown,
    unit_text,
    wanted,
    without_radian,
)

_COMMON = [  # units among which the nearest to a misspelt one is sought
    "kg",
    "g",
    "tonne",
    "slug",
    "lb",
    "oz",
    "m",
    "mm",
    "cm",
    "km",
    "in",
    "inch",
    "ft",
    "foot",
    "yard",
    "mile",
    "s",
    "ms",
    "min",
    "hour",
    "rad",
    "deg",
    "degree",
    "turn",
    "rpm",
    "N",
    "kN",
    "lbf",
    "kgf",
    "J",
    "W",
    "hp",
    "Pa",
    "Hz",
    "meter",
    "metre",
    "kilogram",
    "gram",
    "pound",
    "ounce",
    "newton",
    "radian",
    "second",
    "minute",
    "millimeter",
    "feet",
    "mph",
]
# the units of most files, as pint has them: its table takes half a second to read
PLAIN: dict[str, tuple[float, dict[str, int]]] = {
    "kg": (1.0, {"kilogram": 1}),
    "g": (1e-3, {"kilogram": 1}),
    "m": (1.0, {"meter": 1}),
    "cm": (1e-2, {"meter": 1}),
    "mm": (1e-3, {"meter": 1}),
    "in": (0.0254, {"meter": 1}),
    "s": (1.0, {"second": 1}),
    "ms": (1e-3, {"second": 1}),
    "rad": (1.0, {"radian": 1}),
    "deg": (math.pi / 180, {"radian": 1}),
    "degree": (math.pi / 180, {"radian": 1}),
    "turn": (2 * math.pi, {"radian": 1}),
    "rpm": (2 * math.pi / 60, {"radian": 1, "second": -1}),
    "N": (1.0, {"kilogram": 1, "meter": 1, "second": -2}),
}
_NUMBER = re.compile(  # what may belong to the number in front of a unit
    r"(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|pi\b|(?:"
    + "|".join(FUNCTIONS)
    + r")\s*(?=\()|[-+*/^(),\s])*"
)
_DECIMAL = re.compile(r"[+-]?\s*(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?")
_UNIT = re.compile(
    r"\s*(?:(?P<name>[^\W\d]\w*)(?:\s*(?:\*\*|\^)\s*(?P<power>-?[1-9])\b)?|(?P<op>1\b|[*/()]))"
)
_BEFORE_ONE = re.compile(r"(.*\d\.?)\s+1")
_SIGNS = str.maketrans({"·": "*", "⋅": "*", "×": "*", "²": "^2", "³": "^3", "°": " degree"})
_EXACT = Context(prec=40)
UNIT_LENGTH = 60
Base = tuple[tuple[str, int | Fraction], ...]


def quantity(
    value: object,
    dimension: str,
    parameters: Mapping[str, float] | None = None,
    *,
    what: str = "the value",
    symbolic: bool = True,
    infinite: bool = False,
) -> Scalar:
    """Return a value of a file in SI: a float, or an expression where the string contains names of
    parameters.

    dimension: a key of DIMENSIONS, or "any". what: how the value is called in an error. symbolic:
    whether an expression is allowed. infinite: whether inf is allowed.

    >>> quantity("10 slug", "mass")
    145.9390293720637
    >>> quantity("3 m", "mass", what="mass")
    Traceback (most recent call last):
    catena.errors.QuantityError: mass is '3 m', a length; a mass is wanted, such as '3 kg'
    """
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise QuantityError(f"{what} is {describe(value)}; {wanted(dimension)}")
    if isinstance(value, str) and len(value) > expression_syntax.MAX_LENGTH:
        raise QuantityError(f"{what} is a text of {len(value)} letters; {wanted(dimension)}")
    used = (
        expression_syntax.names_in(value) & (parameters or {}).keys()
        if isinstance(value, str)
        else set()
    )
    if used and not symbolic:
        raise QuantityError(
            f"{what} is {shown(str(value))}; it takes numbers, not expressions of parameters"
        )
    if used:
        return _expression(str(value), parameters or {}, used, what)
    try:
        number = (
            _with_unit(value, dimension, parameters or {}, what)
            if isinstance(value, str)
            else float(value)
        )
    except OverflowError:
        raise QuantityError(f"{what} is a number too large to be one") from None
    if math.isnan(number) or (math.isinf(number) and not infinite):
        raise QuantityError(f"{what} is {describe(value)}; a finite number is wanted")
    return number


def describe(value: object) -> str:
    """Return a value of a file in the form in which an error shows it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return shown(value)
    if isinstance(value, (list, tuple)):
        return f"a list of {len(value)}"
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, int) and abs(value) > 10**30:
        return "a number of very many digits"
    return str(value)


def _expression(text: str, parameters: Mapping[str, float], used: set[str], what: str) -> Scalar:
    """Return the expression; raise QuantityError where it has no finite value at the parameters'
    own values.
    """
    try:
        expression = expressions.parse(text, parameters)
        value = expressions.evaluate(expression, parameters)
    except ExpressionError as why:
        units = sorted(name for name in expression_syntax.names_in(text) if _known(name))
        hint = (
            f". It holds {', '.join(sorted(used))}, so it is an expression; {units[0]!r} is no unit"
            " in it"
            if units
            else ""
        )
        raise QuantityError(f"{what}: {why}{hint}") from None
    return expression if expression.free_symbols else value


# --- number and unit
def _with_unit(text: str, dimension: str, parameters: Mapping[str, float], what: str) -> float:
    """Return the SI value of "<number> <unit>"; the number may be an expression of numbers and
    pi.
    """
    head, unit = split(text)
    try:
        number = (
            Decimal(head.replace(" ", ""))
            if _DECIMAL.fullmatch(head)
            else expressions.constant(head or "1")
        )
    except ExpressionError:
        raise QuantityError(
            f"{what} is {shown(text)}, which is not a number with a unit; {wanted(dimension)}"
        ) from None
    if not head:
        hint = _nearest(unit, parameters) if parameters else ""
        raise QuantityError(
            f"{what} is {shown(text)}, which has no number; {wanted(dimension)}.{hint}"
        )
    if not unit:
        return float(number)  # a plain number, as SI
    if len(unit) > UNIT_LENGTH:
        raise QuantityError(
            f"{what} is {shown(text)}, which is not a number with a unit; {wanted(dimension)}"
        )
    for name in (piece["name"] for piece in _UNIT.finditer(unit)):
        if name and not _known(name):
            raise QuantityError(
                f"{what} is {shown(text)}; there is no unit {name!r}.{_nearest(name, parameters)}"
            )
    found = _in_base(unit)
    if found is None:
        raise QuantityError(
            f"{what} is {shown(text)}, and {unit!r} is not a product of units; {wanted(dimension)}"
        )
    factor, base = found
    if dimension != "any" and base not in accepted(dimension):
        raise QuantityError(f"{what} is {shown(text)}, {name_of(base)}; {wanted(dimension)}")
    return float(_EXACT.multiply(Decimal(number), Decimal(repr(factor))))


def split(text: str) -> tuple[str, str]:
    """Split a string into the number in front and the unit: "3/4 in" becomes ("3/4", "in"), "5/s"
    becomes ("5", "1/s").
    """
    text = text.strip().translate(_SIGNS)
    start = _NUMBER.match(text).end()  # type: ignore[union-attr]  # it matches nothing at least
    head, unit = text[:start], text[start:]
    while head.rstrip()[-1:] in ("*", "/", "("):
        head = head.rstrip()
        unit = {"*": "", "/": "1/", "(": "("}[head[-1]] + unit
        head = head[:-1]
    if unit.startswith("1/") and (alone := _BEFORE_ONE.fullmatch(head.rstrip())):
        head = alone[1]  # "5 1/s": the 1 belongs to the unit
    return head.strip(), unit.strip()


def _nearest(name: str, parameters: Mapping[str, float]) -> str:
    for kind, names in (("the parameter ", list(parameters)), ("", _COMMON)):
        if near := difflib.get_close_matches(name, names, n=1):
            return f" Did you mean {kind}{near[0]!r}?"
    return f" Parameters are: {', '.join(list(parameters)[:12])}." if parameters else ""


# --- pint
@cache
def registry() -> Any:
    """Return pint's registry of units, created when it is first needed."""
    import pint

    return pint.UnitRegistry()


@cache
def _known(name: str) -> bool:
    return name in PLAIN or len(registry().parse_unit_name(name)) > 0


@cache
def _in_base(unit: str) -> tuple[float, Base] | None:
    """Return the factor to SI, and the SI base units with their powers (radian among them); None
    where the string is not a product of units.
    """
    pieces, at = [], 0
    while match := _UNIT.match(unit, at):
        pieces.append(match)
        at = match.end()
    if unit[at:].strip():
        return None
    try:
        factor, powers = _product(iter(pieces), nested=False)
    except (ValueError, OverflowError, RecursionError):
        return None
    # pint multiplies its factors in floating point: an inch is 0.0254 m and no bit more
    rounded = float(f"{factor:.12g}")
    exact = rounded if abs(rounded - factor) <= 4e-16 * factor else factor
    return exact, tuple(sorted((name, power) for name, power in powers.items() if power))


def _product(pieces: Iterator[re.Match[str]], nested: bool) -> tuple[float, Counter[str]]:
    """Return the product of units up to the closing parenthesis or the end; raise ValueError where
    an operator has no operand.
    """
    # waiting: for the operand of an operator
    factor = 1.0
    powers = Counter[str]()
    sign = 1
    waiting = True
    for piece in pieces:
        if piece["op"] == ")":
            break
        if piece["op"] in ("*", "/"):
            if waiting:
                raise ValueError("an operator without operand")
            sign = 1 if piece["op"] == "*" else -1
            waiting = True
            continue
        f, p = _operand(piece, pieces)
        factor *= f**sign
        for name, power in p.items():
            powers[name] += sign * power
        sign, waiting = 1, False
    else:
        if nested:
            raise ValueError("a parenthesis that is not closed")
    if waiting:
        raise ValueError("an operator without operand")
    return factor, powers


def _operand(piece: re.Match[str], pieces: Iterator[re.Match[str]]) -> tuple[float, Counter[str]]:
    if piece["op"] == "(":
        return _product(pieces, nested=True)
    if piece["op"] == "1":
        return 1.0, Counter()
    factor, powers = _single(piece["name"])
    k = int(piece["power"] or 1)
    return factor**k, Counter({name: k * power for name, power in powers.items()})


@cache
def _single(name: str) -> tuple[float, Counter[str]]:
    """Return one unit in SI base units; raise ValueError for a scale that does not start at zero,
    such as degC.
    """
    if name in PLAIN:
        factor, powers = PLAIN[name]
        return factor, Counter(powers)
    return in_pint(name)


def in_pint(name: str) -> tuple[float, Counter[str]]:
    """Return one unit in SI base units, computed by pint."""
    import pint

    try:
        one, two = (registry().Quantity(k, name).to_base_units() for k in (1.0, 2.0))
    except pint.PintError as why:
        raise ValueError(str(why)) from None
    if not (
        math.isfinite(one.magnitude)
        and one.magnitude > 0
        and math.isclose(two.magnitude, 2 * one.magnitude)
    ):
        raise ValueError(name)
    return float(one.magnitude), Counter({str(unit): power for unit, power in one.unit_items()})


def base_units(unit: str) -> Base:
    """Return the SI base units of a product of units, with their powers; raise QuantityError where
    it is none.

    >>> base_units("N/mm")
    (('kilogram', 1), ('second', -2))
    """
    found = _in_base(unit or "1")
    if found is None:
        raise QuantityError(f"{unit!r} is not a product of units; 'kg/m' is one")
    return found[1]


def si_unit(value: object) -> str | None:
    """Return the SI unit of the quantity in which a value of a file was written; None where it is a
    plain number.

    >>> si_unit("30 mm"), si_unit(0.03)
    ('m', None)
    """
    unit = split(value)[1] if isinstance(value, str) else ""
    found = _in_base(unit) if unit else None
    return None if found is None else unit_text(_powers(found[1]))


def _powers(base: Base) -> dict[str, Fraction]:
    return {name: Fraction(power) for name, power in base}


def in_unit(text: str | float, unit: str | None, what: str) -> float:
    """Return a number, or a string with a unit, in SI; raise QuantityError where its unit measures
    another quantity than `unit`. None: any unit.
    """
    if unit is None or isinstance(text, int | float):
        return float(quantity(text, "any", what=what))
    own = base_units(unit)
    dimension = next((d for d in DIMENSIONS if base_units(DIMENSIONS[d].unit) == own), None)
    if dimension is not None:
        return float(quantity(text, dimension, what=what))
    value = float(quantity(text, "any", what=what))
    written = split(text)[1]
    found = _powers(base_units(written) if written else own)
    if without_radian(found) != without_radian(_powers(own)):
        raise QuantityError(f"{what} is {text!r}, {name_of(found)}; its unit is {unit}")
    return value
