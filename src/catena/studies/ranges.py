"""The values of a variable of a study: those of an axis, or a distribution to draw from.

    8..12 cm:200  an axis of 200 values at equal distances  8..12 cm  uniform between the two, drawn
    1, 2, 5 cm              an axis of these values                      0.7 kg/m          one value
    uniform(0.6, 1.0):50    an axis of 50 draws                              normal(1, 0.05)   drawn

Python may give arrays, and frozen distributions of SciPy. Distributions are a registry.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import CatenaError, QuantityError, unknown
from ..formats import in_unit, split
from ..registry import Registry

Array = NDArray[np.float64]
MAX_AXIS_VALUES = 100_000_000  # more would not fit into memory


@dataclass(frozen=True)
class Distribution:
    """A distribution to draw from. name, numbers: its kind and its arguments in SI units."""

    name: str
    numbers: tuple[float, ...]

    @property
    def frozen(self) -> Any:
        """The frozen distribution of SciPy."""
        return _frozen(self.name, self.numbers)

    def quantile(self, u: Array) -> Array:
        """Return the values below which a draw falls with probabilities u."""
        kind = DISTRIBUTIONS.find(self.name)
        return np.asarray(
            self.frozen.ppf(u) if kind.quantile is None else kind.quantile(u, *self.numbers), float
        )

    def __str__(self) -> str:
        return f"{self.name}({', '.join(f'{x:g}' for x in self.numbers)})"


@lru_cache(256)
def _frozen(name: str, numbers: tuple[float, ...]) -> Any:
    """Return the frozen distribution of SciPy, cached."""
    return DISTRIBUTIONS.find(name).make(*numbers)


@dataclass(frozen=True)
class Scipy:
    """A frozen distribution of `scipy.stats` that was given as such."""

    frozen: Any

    def quantile(self, u: Array) -> Array:
        """Return the values below which a draw falls with probabilities u."""
        return np.asarray(self.frozen.ppf(u), float)

    def __str__(self) -> str:
        words = [*map(str, self.frozen.args), *(f"{k}={x}" for k, x in self.frozen.kwds.items())]
        return f"scipy.stats.{self.frozen.dist.name}({', '.join(words)})"


@dataclass(frozen=True)
class Axis:
    """The values (n,) of one variable, each combined with those of all other axes.

    drawn: the distribution from which `count` values are still to be drawn, or None.
    """

    values: tuple[float, ...] = ()
    drawn: Distribution | Scipy | None = None
    count: int = 0


Values = Axis | Distribution | Scipy


# --- the family
@dataclass(frozen=True)
class DistributionKind:
    """A family of distributions.

    numbers: the names of its arguments. make: the frozen distribution of SciPy for them. doc: one
    line. wrong: what is violated by arguments, "" if nothing. quantile: (u, *numbers) -> values,
    where that is simpler than SciPy's.
    """

    name: str
    numbers: tuple[str, ...]
    make: Callable[..., Any]
    doc: str
    wrong: Callable[..., str] = lambda *numbers: ""
    quantile: Callable[..., Array] | None = None


def _scipy() -> Any:
    """Return the module scipy.stats, imported when it is first needed."""
    import scipy.stats

    return scipy.stats


DISTRIBUTIONS: Registry[DistributionKind] = Registry(
    "distribution",
    [
        DistributionKind(
            "uniform",
            ("lowest", "highest"),
            lambda a, b: _scipy().uniform(a, b - a),
            "equally likely between two values",
            lambda a, b: "" if a < b else "lowest is below highest",
            lambda u, a, b: u * (b - a) + a,
        ),
        DistributionKind(
            "loguniform",
            ("lowest", "highest"),
            lambda a, b: _scipy().loguniform(a, b),
            "its logarithm is uniform",
            lambda a, b: "" if 0 < a < b else "0 < lowest < highest",
        ),
        DistributionKind(
            "normal",
            ("mean", "deviation"),
            lambda m, s: _scipy().norm(m, s),
            "of Gauss, with a standard deviation",
            lambda m, s: "" if s > 0 else "the deviation is above zero",
        ),
        DistributionKind(
            "lognormal",
            ("median", "spread"),
            lambda m, s: _scipy().lognorm(s, scale=m),
            "its logarithm is normal, with that spread",
            lambda m, s: "" if m > 0 and s > 0 else "median and spread are above zero",
        ),
        DistributionKind(
            "triangular",
            ("lowest", "likeliest", "highest"),
            lambda a, c, b: _scipy().triang((c - a) / (b - a), a, b - a),
            "from the lowest up to the likeliest and down again",
            lambda a, c, b: "" if a <= c <= b and a < b else "lowest <= likeliest <= highest",
        ),
    ],
)


def distribution(name: str, *numbers: float) -> Distribution:
    """Return a distribution by its name; raise QuantityError where its arguments are not valid."""
    kind = DISTRIBUTIONS.find(name)
    if len(numbers) != len(kind.numbers):
        raise QuantityError(
            f"{name} takes {len(kind.numbers)} numbers, {', '.join(kind.numbers)}; found"
            f" {len(numbers)}"
        )
    given = tuple(float(x) for x in numbers)
    if not np.isfinite(given).all() or (said := kind.wrong(*given)):
        raise QuantityError(
            f"{name}({', '.join(f'{x:g}' for x in given)}):"
            f" {said if np.isfinite(given).all() else 'numbers are finite'}"
        )
    return Distribution(name, given)


def uniform(lowest: float, highest: float) -> Distribution:
    """Return the uniform distribution between two values, SI units."""
    return distribution("uniform", lowest, highest)


def loguniform(lowest: float, highest: float) -> Distribution:
    """Return the distribution whose logarithm is uniform between those of two values, SI units."""
    return distribution("loguniform", lowest, highest)


def normal(mean: float, deviation: float) -> Distribution:
    """Return the normal distribution with this mean and standard deviation, SI units."""
    return distribution("normal", mean, deviation)


def lognormal(median: float, spread: float) -> Distribution:
    """Return the distribution whose logarithm is normal with standard deviation `spread`."""
    return distribution("lognormal", median, spread)


def triangular(lowest: float, likeliest: float, highest: float) -> Distribution:
    """Return the triangular distribution with its mode at `likeliest`, SI units."""
    return distribution("triangular", lowest, likeliest, highest)


# --- from anything
def values_of(given: Any, unit: str | None, what: str) -> Values:
    """Return the values of a variable from a string, numbers or a distribution.

    unit: the SI unit of the variable, None where any is allowed. what: the name in messages. Raises
    QuantityError where they cannot be read.
    """
    if isinstance(given, Axis | Distribution | Scipy):
        return given
    if isinstance(given, str):
        return _read_text(given, unit, what)
    if hasattr(given, "ppf"):
        return Scipy(given)
    try:
        return _axis(np.atleast_1d(np.asarray(given, float)), what)
    except (TypeError, ValueError):
        said = (
            "numbers, a text such as '8..12 cm:200', or a distribution such as"
            " catena.studies.uniform(0.6, 1.0)"
        )
        raise QuantityError(f"{what} is a {type(given).__name__}; it takes {said}") from None


def _axis(values: Array, what: str) -> Axis:
    """Return an axis of finite numbers; raise QuantityError for others."""
    if values.ndim != 1 or not values.size:
        raise QuantityError(
            f"{what} has values of shape {values.shape}; an axis is a list of numbers"
        )
    if not np.isfinite(values).all():
        raise QuantityError(
            f"{what} takes {values[~np.isfinite(values)][0]} among its values; they are finite"
            " numbers"
        )
    return Axis(tuple(values.tolist()))


_RANGE = re.compile(r"(?P<low>.*?)\.\.(?P<high>.*)")
_CALL = re.compile(r"(?P<name>[A-Za-z_]\w*)\s*\((?P<arguments>[^()]*)\)")
_COUNT = re.compile(r"(?P<rest>.*):\s*(?P<count>\d+)\s*")


def _read_text(text: str, unit: str | None, what: str) -> Values:
    """Return the values that a string describes; see the documentation of this module."""
    match = _COUNT.fullmatch(text.strip())
    rest, count = (match["rest"].strip(), int(match["count"])) if match else (text.strip(), 0)
    if match and not 1 <= count <= MAX_AXIS_VALUES:
        raise QuantityError(f"{what} asks for {count} values; an axis has 1 to {MAX_AXIS_VALUES}")
    if call := _CALL.fullmatch(rest):
        if call["name"] not in DISTRIBUTIONS:
            raise QuantityError(
                f"{what} is {text!r}: {unknown('distribution', call['name'], DISTRIBUTIONS)}"
            )
        found = _read_distribution(call, text, unit, what)
        return Axis(drawn=found, count=count) if count else found
    if pair := _RANGE.fullmatch(rest):
        low, high = _numbers([pair["low"], pair["high"]], text, unit, what)
        if not low < high:
            raise QuantityError(
                f"{what} is {text!r}; a range goes from a lower value to a higher one, low..high"
            )
        return _axis(np.linspace(low, high, count), what) if count else uniform(low, high)
    if count:
        raise QuantityError(
            f"{what} is {text!r}; a count belongs to a range or a distribution, such as '8..12"
            " cm:200'"
        )
    return _axis(np.array(_numbers(rest.strip("[]").split(","), text, unit, what)), what)


def _read_distribution(call: re.Match[str], text: str, unit: str | None, what: str) -> Distribution:
    """Return the distribution that a call such as "normal(1, 0.05)" describes."""
    arguments = [x for x in call["arguments"].split(",") if x.strip()]
    plain = call["name"] == "lognormal" and len(arguments) == 2  # its spread has no unit
    numbers = (
        _numbers(arguments[:1], text, unit, what) + _numbers(arguments[1:], text, "", what)
        if plain
        else _numbers(arguments, text, unit, what)
    )
    try:
        return distribution(call["name"], *numbers)
    except CatenaError as why:
        raise QuantityError(f"{what} is {text!r}: {why}") from None


def _numbers(parts: list[str], text: str, unit: str | None, what: str) -> list[float]:
    """Return numbers in SI units; a number without a unit has that of the last one, as in
    8..12 cm.
    """
    common = split(parts[-1].replace("[", "").replace("]", ""))[1] if parts else ""
    found = []
    for part in parts:
        number, own = split(part)
        if not number:
            raise QuantityError(
                f"{what} is {text!r}; {part.strip()!r} in it is not a number. Write '8..12 cm:200',"
                " '1, 2, 5 cm' or 'uniform(0.6, 1.0):50'"
            )
        found.append(in_unit(f"{number} {own or common}".strip(), unit, what))
    return found
