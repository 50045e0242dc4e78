"""Excitation: motions along which the unknowns are identified best, as finite Fourier series
within the joints' limits.

    q_j(t) = q0_j + sum over k of a_jk sin(k w t) / (k w) - b_jk cos(k w t) / (k w),
            w = 2 pi / period  [Swevers1997]

The condition number of W, with columns of length one, is minimised by a random search from the best
of several random series; each series is scaled so that every joint stays within its limits of
position and speed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import StudyError
from ..machine import Coordinate, Machine, coordinates, machine_of
from ..model import Mechanism
from .base_parameters import reduced
from .measured_motion import MeasuredMotion
from .unknowns import chosen

Array = NDArray[np.float64]
LIMIT_MARGIN = 0.9  # relative to the limits of position and speed
DEFAULT_RANGE = np.pi / 2  # rad or m, to either side
DEFAULT_SPEED = 2.0  # rad/s or m/s, of a joint without a limit of speed
SEARCH_INSTANTS = 100  # instants of a period at which the regressor is evaluated


@dataclass(frozen=True)
class Excitation:
    """A periodic motion as Fourier series of the speeds.

    names: the coordinates. period: s. middle (joints,): of the positions, rad or m. sines, cosines
    (joints, harmonics): of the speeds, rad/s or m/s. condition: the condition number of W along it.
    plain: that of the best of the random series from which the search began.
    """

    names: tuple[str, ...]
    period: float
    middle: Array
    sines: Array
    cosines: Array
    condition: float
    plain: float

    def __call__(self, t: Array) -> tuple[Array, Array, Array]:
        """Return q, v, a (T, joints) at times (T,) in s, in the order of `names`."""
        return series(np.asarray(t, float), self.period, self.middle, self.sines, self.cosines)

    def to_pandas(self, step: float = 0.01) -> object:
        """Return one period as a table of time and coordinates, every `step` seconds.

        Written as CSV, `catena inverse --trajectory` reads it.
        """
        import pandas as pd  # type: ignore[import-untyped]

        t = np.arange(0.0, self.period + step / 2, step)
        return pd.DataFrame(self(t)[0], index=pd.Index(t, name="time"), columns=list(self.names))


def series(
    t: Array, period: float, middle: Array, sines: Array, cosines: Array
) -> tuple[Array, Array, Array]:
    """Return q, v, a (T, joints) of a Fourier series with the given coefficients of the speeds."""
    w = 2 * np.pi / period * np.arange(1, sines.shape[-1] + 1)
    S = np.sin(np.outer(t, w))
    C = np.cos(np.outer(t, w))
    q = middle + (S / w) @ cosines.T - (C / w) @ sines.T
    return q, C @ cosines.T + S @ sines.T, (C * w) @ sines.T - (S * w) @ cosines.T


def excitation(
    mechanism: Mechanism | Machine,
    unknown: str | Iterable[str] = "inertial",
    *,
    period: float = 10.0,
    harmonics: int = 5,
    seed: int = 0,
    trials: int = 200,
    ranges: Mapping[str, tuple[float, float]] | None = None,
) -> Excitation:
    """Return a periodic motion within the joints' limits along which the unknowns are identified
    well.

    Parameters
    ----------
    mechanism : Mechanism or Machine
        The mechanism, without loops and free rotations.
    unknown : str or iterable of str, default "inertial"
        The unknowns, as for `catena.fit`.
    period : float, default 10.0
        The period, s.
    harmonics : int, default 5
        The number of harmonics of each joint's series.
    seed : int, default 0
        The seed of the search.
    trials : int, default 200
        The number of steps of the search.
    ranges : mapping or None, default None
        {coordinate: (lower, upper)} in place of the joints' limits, rad or m.

    Returns
    -------
    Excitation
        The motion, with the condition number that it reaches.

    Raises
    ------
    StudyError
        If the mechanism has loops or free rotations, or an argument is out of range.
    """
    machine = machine_of(mechanism)
    if machine.rows or machine.nq != len(coordinates(machine)):
        raise StudyError(
            f"excitation: mechanism {machine.mechanism.name!r} has loops or free rotations; give"
            " its driven coordinates a motion of your own"
        )
    if not (period > 0 and harmonics >= 1 and trials >= 1):
        raise StudyError(
            f"excitation: period {period:g} s, {harmonics} harmonics, {trials} trials; each is"
            " above zero"
        )
    places = coordinates(machine)
    if bad := sorted(set(ranges or {}) - {c.name for c in places}):
        raise StudyError(
            f"excitation: a range is given for {bad[0]!r}; coordinates are"
            f" {', '.join(c.name for c in places)}"
        )
    search = _Search(machine, unknown, period, harmonics, _bounds(machine, places, ranges or {}))
    rng = np.random.default_rng(seed)
    best = min(
        (
            search.condition_of(rng.standard_normal((len(places), 2 * harmonics)))
            for _ in range(max(5, trials // 10))
        ),
        key=lambda x: x[0],
    )
    plain, width = best[0], 0.5
    for _ in range(trials):
        found = search.condition_of(best[1] + width * rng.standard_normal(best[1].shape))
        width = min(1.0, 1.5 * width) if found[0] < best[0] else max(0.02, 0.9 * width)
        best = min(best, found, key=lambda x: x[0])
    middle, sines, cosines = search.within_limits(best[1])
    return Excitation(tuple(c.name for c in places), period, middle, sines, cosines, best[0], plain)


def _bounds(
    machine: Machine, places: tuple[Coordinate, ...], ranges: Mapping[str, tuple[float, float]]
) -> tuple[Array, Array, Array]:
    """Return the middle and the amplitude of each position, and the largest speeds, that the limits
    allow.
    """
    speed = [x for j in machine.mechanism.moving for x in j.speed]
    lower, upper = (
        np.array([ranges.get(c.name, (c.lower, c.upper))[k] for c in places]) for k in range(2)
    )
    middle = np.where(
        np.isfinite(lower + upper),
        0.5 * (lower + upper),
        np.where(
            np.isfinite(lower),
            lower + DEFAULT_RANGE,
            np.where(np.isfinite(upper), upper - DEFAULT_RANGE, 0.0),
        ),
    )
    reach = np.where(np.isfinite(upper - lower), 0.5 * (upper - lower), DEFAULT_RANGE)
    reach = np.minimum(reach, 2 * np.pi)
    return (
        middle,
        LIMIT_MARGIN * reach,
        LIMIT_MARGIN * np.where(np.isfinite(speed), speed, DEFAULT_SPEED / LIMIT_MARGIN),
    )


class _Search:
    """The condition numbers of series of shape (joints, 2 harmonics), each scaled into its
    limits.
    """

    def __init__(
        self,
        machine: Machine,
        unknown: str | Iterable[str],
        period: float,
        harmonics: int,
        bounds: tuple[Array, Array, Array],
    ):
        self.machine, self.unknown, self.period, self.n = (
            machine,
            unknown if isinstance(unknown, str) else tuple(unknown),
            period,
            harmonics,
        )
        self.middle, self.reach, self.speed = bounds
        self.t = np.linspace(0.0, period, SEARCH_INSTANTS, endpoint=False)

    def within_limits(self, x: Array) -> tuple[Array, Array, Array]:
        """Return middle, sines and cosines of a series within its limits.

        The limits hold at every time, as they bound the sums of the harmonics' amplitudes.
        """
        w = 2 * np.pi / self.period * np.arange(1, self.n + 1)
        size = np.hypot(x[:, : self.n], x[:, self.n :])
        factor = np.minimum(self.reach / (size / w).sum(axis=1), self.speed / size.sum(axis=1))[
            :, None
        ]
        return self.middle, factor * x[:, : self.n], factor * x[:, self.n :]

    def condition_of(self, x: Array) -> tuple[float, Array]:
        """Return the condition number of a series after scaling it into its limits, and the scaled
        series.
        """
        q, v, a = series(self.t, self.period, *self.within_limits(x))
        columns, _ = chosen(
            self.machine, MeasuredMotion(self.t, q, v, a, np.zeros_like(v)), self.unknown
        )
        W = columns.matrix.reshape(-1, columns.matrix.shape[-1])
        return 1.0 / reduced(W, range(W.shape[1])).gap[0], x
