"""Actuators with an affine law: motors, position servos and velocity servos behind a gear, as MuJoCo's are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ..compiler.trace import vector
from ..errors import StateError
from .control_laws import Controller
from .piecewise import Trajectory, places, trajectory
from .system import System
from .traced_law import Law

Span = tuple[float, float] | None


@dataclass(frozen=True)
class Actuator(Controller):
    """A force along a sum of coordinates, affine in a signal, that sum and its rate:

        tau = gear f,      f = clip(gain clip(u) + b0 + b1 l + b2 l'),      l = sum of gear q

    gear: {coordinate: ratio}. signal: u, a number or a Trajectory of one name. gain, bias (b0, b1, b2): a motor has gain 1; a position
    servo gain k and bias (0, -k, -d); a velocity servo gain k and bias (0, 0, -k). signals, forces: the ranges of u and of f, lowest and
    highest, or None. name: for people.
    """

    gear: Mapping[str, float]
    signal: float | Trajectory = 0.0
    gain: float = 1.0
    bias: tuple[float, float, float] = (0.0, 0.0, 0.0)
    signals: Span = None
    forces: Span = None
    name: str = "actuator"

    def __post_init__(self) -> None:
        for what, span in (("signals", self.signals), ("forces", self.forces)):
            if span is not None and not (len(span) == 2 and span[0] <= span[1]):
                raise StateError(f"actuator {self.name!r}: {what} is {span}; it is a range (lowest, highest)")
        values = [self.gain, *self.bias, *self.gear.values()]
        if not self.gear or len(self.bias) != 3 or not all(isinstance(x, int | float | np.number) and np.isfinite(x) for x in values):
            raise StateError(f"actuator {self.name!r}: gear is {{coordinate: ratio}}, gain a number and bias three; found {dict(self.gear)}, "
                             f"{self.gain}, {self.bias}")  # fmt: skip

    def law(self, system: System) -> Law:
        """No state of its own."""
        at = places(system.mechanism, tuple(self.gear))
        length = sum((r * system.q[c.qi] for r, c in zip(self.gear.values(), at)), ca.SX(0))
        rate = sum((r * system.v[c.vi] for r, c in zip(self.gear.values(), at)), ca.SX(0))
        b0, b1, b2 = self.bias
        force = _within(self.gain * _within(self._signal(system), self.signals) + b0 + b1 * length + b2 * rate, self.forces)
        tau = [ca.SX(0)] * system.nv
        for r, c in zip(self.gear.values(), at):
            tau[c.vi] += r * force
        return Law(vector(tau))

    def _signal(self, system: System) -> Any:
        if not isinstance(self.signal, Trajectory):
            return ca.SX(float(self.signal))
        return system.follow(trajectory({self.name: self.signal})).at(system.t)[0][0]


def _within(x: ca.SX, span: Span) -> ca.SX:
    return x if span is None else ca.fmin(ca.fmax(x, span[0]), span[1])
