"""gain_schedule: state feedback whose gain, equilibrium and forces follow one coordinate or target.

u = u*(s) - K(s) (x - x*(s)),      s a coordinate,      linear between the designs
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import casadi as ca
import numpy as np

from ..analysis import StateSpace
from ..errors import StateError
from ..machine import coordinates, machine_of
from ..model import Mechanism
from ..simulation.control import Controller, Law, clip_forces, sample_and_hold
from ..simulation.terms import SystemSymbols
from .feedback import StateFeedback
from .operating_point import deviation

Array = np.ndarray


@dataclass(frozen=True)
class ScheduledFeedback(Controller):
    """State feedback between designs; see `gain_schedule`.

    Attributes
    ----------
    coordinate : str
        The scheduling coordinate s.
    at : ndarray (m,)
        Its values at the designs, increasing.
    designs : tuple of StateFeedback
        One for each of these values.
    limits, sample
        As for `lqr`.
    """

    coordinate: str
    at: Array
    designs: tuple[StateFeedback, ...]
    limits: Any = None
    sample: float | None = None

    def law(self, system: SystemSymbols) -> Law:
        """Return the forces, with all tables linear between the designs and constant outside."""
        place = {c.name: c.qi for c in coordinates(system.mechanism)}[self.coordinate]
        share = _shares(self.at, system.q[place])
        points = [d.point for d in self.designs]
        between = lambda tables: sum(w * ca.SX(x) for w, x in zip(share, tables))  # noqa: E731
        K = between([ca.DM(d.K) for d in self.designs])
        q, v = between([p.q for p in points]), between([p.v for p in points])
        u = between([p.input_forces(system.layout) for p in points])
        x = deviation(system.layout, points[0], system.q, system.v, q, v)
        tau = points[0].spread(system.layout, u - K @ x)
        return sample_and_hold(self.sample, system, Law(clip_forces(system, tau, self.limits)))


def gain_schedule(
    mechanism: Mechanism,
    coordinate: str,
    systems: Sequence[StateSpace],
    design: Callable[[StateSpace], StateFeedback],
    *,
    limits: Any = None,
    sample: float | None = None,
) -> ScheduledFeedback:
    """Return state feedback that changes with a coordinate.

    Parameters
    ----------
    mechanism : Mechanism or Machine
        What moves.
    coordinate : str
        The scheduling coordinate, not of a quaternion.
    systems : sequence of StateSpace
        The mechanism about several equilibria, between which the coordinate increases.
    design : callable
        StateSpace -> StateFeedback, such as ``lambda s: lqr(s, Q, R)``.
    limits, sample
        As for `lqr`; those of the designs are not used.

    Returns
    -------
    ScheduledFeedback
        A controller for `catena.simulate`. With the equilibrium scheduled by the coordinate itself,
        that coordinate is held by its speed alone: weigh it at the ends.

    Raises
    ------
    StateError
        If the coordinate does not increase, or the systems differ in states or inputs.
    """
    places = {c.name: c.qi for c in coordinates(machine_of(mechanism))}
    if coordinate not in places:
        raise StateError(
            f"gain_schedule: {coordinate!r} is no scalar coordinate; these are"
            f" {', '.join(map(repr, places))}"
        )
    at = np.array([float(s.q[places[coordinate]]) for s in systems])
    if len(at) < 2 or (np.diff(at) <= 0).any():
        raise StateError(
            f"gain_schedule: {coordinate!r} is {at.tolist()} at the systems; it takes two or more,"
            " between which it increases"
        )
    names = {(s.states, s.inputs) for s in systems}
    if len(names) > 1:
        raise StateError(
            "gain_schedule: the systems differ in their states or inputs; give linearize the same"
            " `coordinates` and `actuated`"
        )
    return ScheduledFeedback(coordinate, at, tuple(design(s) for s in systems), limits, sample)


def _shares(at: Array, s: ca.SX) -> list[ca.SX]:
    """Return the weight of each design at s: linear interpolation between the designs, constant
    outside.
    """
    rising = [ca.fmin(ca.fmax((s - float(a)) / float(b - a), 0.0), 1.0) for a, b in pairwise(at)]
    first = [1.0 - rising[0]]
    inner = [rising[k] - rising[k + 1] for k in range(len(rising) - 1)]
    return [*first, *inner, rising[-1]]
