"""Design: the values of the variables in run number k. They depend only on the number of the run,
not on the machine.

    axes            every value of one is combined with every value of the others; the last axis
                    varies fastest
    a list          rows of values that belong together, as one axis
    samples         variables that are drawn together, as the last axis: each point of the axes is
                    combined with the same draws

Draws are made from numbers between 0 and 1, by one of `SCHEMES`: "random" (Philox, a generator
whose state is a counter, [Salmon2011]), "sobol" (a scrambled Sobol sequence), "lhs" (a Latin
hypercube). The draws of a run do not depend on which other runs are computed with it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from ..errors import StudyError
from ..registry import Registry
from .ranges import Axis, Distribution, Scipy

Array = NDArray[np.float64]
AXES_SEED = 7919  # added per axis, so that each axis draws from its own stream
PHILOX_BLOCK = 4  # random numbers per increment of Philox's counter


@dataclass(frozen=True)
class Scheme:
    """A sampling scheme of the unit cube.

    draw(seed, size, columns, first, last): the samples first to last of `size`, (last - first,
    columns). doc: one line for help texts.
    """

    name: str
    draw: Callable[[int, int, int, int, int], Array]
    doc: str


def _random(seed: int, size: int, columns: int, first: int, last: int) -> Array:
    """Return independent draws. Each column has its own random stream, advanced to the sample
    `first`.
    """
    found = np.empty((last - first, columns))
    for k in range(columns):
        bits = np.random.Philox(key=np.array([seed, k], dtype=np.uint64)).advance(
            first // PHILOX_BLOCK
        )
        found[:, k] = np.random.Generator(bits).random(last - first + first % PHILOX_BLOCK)[
            first % PHILOX_BLOCK :
        ]
    return found


def _sobol(seed: int, size: int, columns: int, first: int, last: int) -> Array:
    """Return samples of a scrambled Sobol sequence."""
    from scipy.stats import qmc

    sequence = qmc.Sobol(columns, scramble=True, seed=np.random.default_rng(seed))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about sizes that are no powers of two
        return (sequence.fast_forward(first) if first else sequence).random(last - first)


@lru_cache(4)
def _hypercube(seed: int, size: int, columns: int) -> Array:
    """Return a Latin hypercube (size, columns)."""
    from scipy.stats import qmc

    return qmc.LatinHypercube(columns, seed=np.random.default_rng(seed)).random(size)


SCHEMES: Registry[Scheme] = Registry(
    "sampling scheme",
    [
        Scheme("random", _random, "independent draws"),
        Scheme(
            "lhs",
            lambda seed, size, columns, first, last: _hypercube(seed, size, columns)[first:last],
            "Latin hypercube: one draw in each of as many equal parts of every variable",
        ),
        Scheme(
            "sobol",
            _sobol,
            "a scrambled Sobol sequence: fills the space evenly; sizes that are powers of two are"
            " best",
        ),
    ],
)


@dataclass(frozen=True)
class Grid:
    """An axis of the design: the names of the variables that it sets, and their values (n,
    count).
    """

    names: tuple[str, ...]
    values: Array


@dataclass(frozen=True)
class Design:
    """The runs of a study.

    names: all variables, in order. grids: the axes. drawn: (variable, its distribution), drawn
    together `samples` times. cube: numbers between 0 and 1 in place of a scheme's, (samples,
    drawn).
    """

    names: tuple[str, ...]
    grids: tuple[Grid, ...]
    drawn: tuple[tuple[str, Distribution | Scipy], ...] = ()
    samples: int = 1
    scheme: str = "random"
    seed: int = 0
    cube: Array | None = None

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the axes; that of the draws is the last, where there are any."""
        return (*(len(g.values) for g in self.grids), *((self.samples,) if self.drawn else ()))

    @property
    def dimensions(self) -> tuple[str, ...]:
        """The names of the axes: a variable, "row" for a list, "sample" for the draws."""
        return (
            *(g.names[0] if len(g.names) == 1 else "row" for g in self.grids),
            *(("sample",) if self.drawn else ()),
        )

    @cached_property
    def runs(self) -> int:
        """The number of runs."""
        return int(np.prod([int(n) for n in self.shape], dtype=object))

    def rows(self, first: int, last: int) -> Array:
        """Return the values of the runs first to last, (last - first, variables)."""
        found = np.empty((last - first, len(self.names)))
        k = np.arange(first, last)
        at = np.unravel_index(k, self.shape)
        for grid, place in zip(self.grids, at):
            for column, name in enumerate(grid.names):
                found[:, self.names.index(name)] = grid.values[place, column]
        if self.drawn:
            u = self._uniform(at[-1])
            for column, (name, how) in enumerate(self.drawn):
                found[:, self.names.index(name)] = how.quantile(u[:, column])
        return found

    def _uniform(self, at: NDArray[np.intp]) -> Array:
        """Return the numbers between 0 and 1 of the samples with these indices, (n, drawn)."""
        low = int(at.min())
        high = int(at.max()) + 1
        if self.cube is not None:
            return self.cube[at]
        return SCHEMES.find(self.scheme).draw(self.seed, self.samples, len(self.drawn), low, high)[
            at - low
        ]


def design(
    values: dict[str, Axis | Distribution | Scipy],
    rows: Grid | None,
    samples: int | None,
    scheme: str,
    seed: int,
) -> Design:
    """Return the design of variables that take these values, together with a list of rows.

    Raises StudyError where the number of draws is missing or superfluous, or the seed is not valid.
    """
    SCHEMES.find(scheme)
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise StudyError(f"seed is {seed!r}; it is a whole number, zero or more")
    drawn = tuple((name, x) for name, x in values.items() if not isinstance(x, Axis))
    if drawn and samples is None:
        raise StudyError(
            f"{', '.join(name for name, _ in drawn)} {'is' if len(drawn) == 1 else 'are'} drawn,"
            " and how often is not said: samples=1000 (--samples 1000), or a count of its own,"
            " 'uniform(0.6, 1.0):50'"
        )
    if samples is not None and (
        isinstance(samples, bool) or not isinstance(samples, int) or samples < 1
    ):
        raise StudyError(f"samples is {samples!r}; it is a whole number from 1 on")
    if samples is not None and not drawn:
        raise StudyError(
            "samples says how often variables are drawn, and none has a distribution; leave it out,"
            " or let one be uniform(...)"
        )
    grids = [
        Grid((name,), np.array(_values(x, k, scheme, seed))[:, None])
        for k, (name, x) in enumerate(values.items())
        if isinstance(x, Axis)
    ]
    named = (*((*rows.names,) if rows is not None else ()), *values)
    return Design(
        named, (*((rows,) if rows is not None else ()), *grids), drawn, samples or 1, scheme, seed
    )


def _values(axis: Axis, k: int, scheme: str, seed: int) -> Array:
    """Return the values of the axis with index k, drawn where it is given by a distribution."""
    if axis.drawn is None:
        return np.array(axis.values)
    u = SCHEMES.find(scheme).draw(seed + AXES_SEED * (k + 1), axis.count, 1, 0, axis.count)[:, 0]
    return axis.drawn.quantile(u)
