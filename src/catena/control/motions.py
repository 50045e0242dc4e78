"""Motion: a motion that a controller follows, from a Result or from arrays; its linearisation and
its monodromy matrix.

Between the rows the coordinates and speeds are cubic polynomials that match their rates, and the
joint forces are linear.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import linalg
from scipy.interpolate import CubicHermiteSpline

from ..analysis import StateSpace, linearize
from ..errors import QuestionError, StateError
from ..machine import Machine, machine_of
from ..model import Mechanism
from ..model import Motion as Freedom
from ..results import Result

Array = np.ndarray
# of the two nodes of Gauss in an interval, from its middle, in halves of its length
GAUSS = 1.0 / np.sqrt(3.0)
# relative to the size of a motion: its end differs from its start by less if it is periodic
PERIODIC_GAP = 1e-6


@dataclass(frozen=True)
class Motion:
    """A motion of a machine. t (T,) in s, q (T, nq), v (T, nv), tau (T, nv)."""

    machine: Machine
    t: Array
    q: Array
    v: Array
    tau: Array

    @staticmethod
    def of(mechanism: Mechanism | Machine, given: Any) -> Motion:
        """Return the motion of a Result of one run, or of a tuple (t, q, v, tau).

        Raises StateError where the arrays do not fit each other or the mechanism.
        """
        machine = machine_of(mechanism)
        if isinstance(given, Motion):
            return given
        if isinstance(given, Result):
            data = given.data
            if "run" in data.dims:
                raise StateError(
                    f"a motion is one run; this result has {data.sizes['run']}; choose one, such"
                    " as result.select(run=0)"
                )
            given = (given.time, *(data[name].values for name in ("q", "v", "tau")))
        try:
            t, q, v, tau = (np.asarray(x, float) for x in given)
        except (TypeError, ValueError):
            raise StateError(
                "a motion is a Result, or a tuple (t, q, v, tau) of arrays (T,), (T, nq), (T, nv),"
                " (T, nv)"
            ) from None
        found = Motion(machine, t, q, v, tau)
        wanted = {"q": machine.nq, "v": machine.nv, "tau": machine.nv}
        for name, size in wanted.items():
            if getattr(found, name).shape != (len(t), size):
                raise StateError(
                    f"motion of mechanism {machine.mechanism.name!r}: {name} has the shape"
                    f" {getattr(found, name).shape}; with {len(t)} times it has ({len(t)}, {size})"
                )
        if t.ndim != 1 or len(t) < 2 or (np.diff(t) <= 0).any() or not np.isfinite(t).all():
            raise StateError("motion: its times t (T,) increase, and there are two or more")
        return found

    @cached_property
    def _splines(self) -> tuple[CubicHermiteSpline, CubicHermiteSpline]:
        """q and v as piecewise cubic polynomials."""
        damped = self.tau + self.machine.losses(self.v)
        a = self.machine.forward_dynamics(self.q, self.v, damped)
        rate = self.machine.coordinate_rate(self.q, self.v)
        return CubicHermiteSpline(self.t, self.q, rate), CubicHermiteSpline(self.t, self.v, a)

    def at(self, times: Array) -> tuple[Array, Array, Array]:
        """Return q, v and tau at times (n,), s."""
        q, v = (spline(times) for spline in self._splines)
        for c in self.machine.layout.coordinates:
            if c.motion == Freedom.BALL:
                q[:, c.qi : c.qi + 4] /= np.linalg.norm(q[:, c.qi : c.qi + 4], axis=1)[:, None]
        tau = np.stack([np.interp(times, self.t, x) for x in self.tau.T], axis=1)
        return q, v, tau

    def coefficients(self) -> Array:
        """Return the polynomials of q, v and tau, highest power first, (4, T - 1, nq + 2 nv)."""
        q, v = self._splines
        slope = np.diff(self.tau, axis=0) / np.diff(self.t)[:, None]
        none = np.zeros_like(slope)
        return np.concatenate([q.c, v.c, np.stack([none, none, slope, self.tau[:-1]])], axis=-1)

    def linearized(self, times: Array, **options: Any) -> StateSpace:
        """Return the linearisations at times (n,), a batch; loops are closed by projection."""
        q, v, tau = self.at(times)
        return linearize(self.machine, q, v, tau, project=bool(self.machine.rows), **options)


def interval_flows(rates: Array, h: Array) -> Array:
    """Return the matrices Omega (m, n, n) of x(t + h) = e^Omega x(t) for x' = H(t) x over m
    intervals of length h (m,), from H at the two Gauss points, rates (m, 2, n, n).

        Omega = h/2 (H1 + H2) - sqrt(3)/12 h^2 [H1, H2]

    The method is exact for constant H and of order four otherwise ([Blanes2009] eq. 253).
    """
    first, second = rates[:, 0], rates[:, 1]
    h = h[:, None, None]
    twist = first @ second - second @ first
    return 0.5 * h * (first + second) - np.sqrt(3.0) / 12.0 * h**2 * twist


def gauss_times(t: Array) -> Array:
    """Return the times (m, 2) of the two Gauss points in the intervals between the times t."""
    middle, half = 0.5 * (t[1:] + t[:-1]), 0.5 * np.diff(t)
    return np.stack([middle - GAUSS * half, middle + GAUSS * half], axis=1)


@dataclass(frozen=True)
class Floquet:
    """The linearisation of a periodic motion over one period.

    Attributes
    ----------
    monodromy : ndarray (n, n)
        The change after one period per change of the state at its start.
    multipliers : ndarray (n,)
        Its eigenvalues, those of largest modulus first. One is 1 for a motion of a mechanism
        without time-dependent loads; the motion is stable if all others are inside the unit circle.
    states : tuple of str
        The names of the states.
    period : float
        s.
    """

    monodromy: Array
    multipliers: Array
    states: tuple[str, ...]
    period: float


def floquet(
    mechanism: Mechanism | Machine, motion: Any, *, coordinates: Iterable[str] | None = None
) -> Floquet:
    """Return the monodromy matrix and the Floquet multipliers of a periodic motion.

    Parameters
    ----------
    mechanism : Mechanism or Machine
        What moves.
    motion : Result or tuple (t, q, v, tau)
        One period, whose last row repeats the first one. The error is of order four in the distance
        of its rows.
    coordinates : iterable of str, optional
        The independent coordinates, as for `linearize`.

    Returns
    -------
    Floquet
        The matrix, its eigenvalues, and the names of the states.

    Raises
    ------
    QuestionError
        If the motion does not end where it began.

    Examples
    --------
    >>> import catena, numpy as np
    >>> pendulum = catena.load("pendulum")
    >>> period = 2 * np.pi / np.sqrt(9.81)
    >>> swing = catena.simulate(pendulum, q=[1e-6], until=period, output=period / 100)
    >>> catena.control.floquet(pendulum, swing).multipliers.real.round(6).tolist()
    [1.0, 1.0]
    """
    path = Motion.of(mechanism, motion)
    size = np.concatenate([np.ptp(path.q, axis=0), np.ptp(path.v, axis=0)])
    ends = [np.concatenate([path.q[k], path.v[k]]) for k in (0, -1)]
    gap = np.abs(ends[1] - ends[0])
    names = (*path.machine.coordinate_names, *(f"v['{x}']" for x in path.machine.speed_names))
    for k in np.flatnonzero(gap > PERIODIC_GAP * np.maximum(size, size.max()))[:1]:
        raise QuestionError(
            f"floquet: the motion is not periodic: {names[k]!r} differs by {gap[k]:.3g} after"
            f" {path.t[-1] - path.t[0]:g} s; give one whole period, first and last row alike"
        )
    times = gauss_times(path.t)
    systems = path.linearized(times.ravel(), coordinates=coordinates)
    rates = systems.A.reshape(len(times), 2, *systems.A.shape[-2:])
    M = np.eye(rates.shape[-1])
    for Omega in interval_flows(rates, np.diff(path.t)):
        M = linalg.expm(Omega) @ M
    found = np.linalg.eigvals(M)
    order = np.argsort(-np.abs(found), kind="stable")
    return Floquet(M, found[order], systems.states, float(path.t[-1] - path.t[0]))
