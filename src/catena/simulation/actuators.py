"""Actuators behind a gear: affine motors and servos, as MuJoCo's are, and direct-current motors with their current."""

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
        return Law(_behind(system, self.gear, force))

    def _signal(self, system: System) -> Any:
        return _over_time(system, self.name, self.signal)


@dataclass(frozen=True)
class DCMotor(Controller):
    """A direct-current motor behind a gear; its current i (A) is a state of the run.

        L i' = u - R i - k l',      tau = gear k i,      l = sum of gear q

    gear: {coordinate: ratio}. voltage: u, V, a number or a Trajectory of one name. resistance: R, ohm. inductance: L, H; L / R is the
    electrical time constant. constant: k, N m/A, which is V s/rad. current: i at the start, A. The rotor's inertia is the armature of the
    joint, gear squared times its own. name: for people.
    """

    gear: Mapping[str, float]
    voltage: float | Trajectory
    resistance: float
    inductance: float
    constant: float
    current: float = 0.0
    name: str = "motor"

    def __post_init__(self) -> None:
        for what, unit in (("resistance", "ohm"), ("inductance", "H"), ("constant", "N m/A")):
            x = getattr(self, what)
            if not isinstance(x, int | float | np.number) or not 0 < x < np.inf:
                raise StateError(f"motor {self.name!r}: {what} is {x!r}; it is a number above zero, {unit}")
        if not self.gear or not all(isinstance(x, int | float | np.number) and np.isfinite(x) for x in (*self.gear.values(), self.current)):
            raise StateError(f"motor {self.name!r}: gear is {{coordinate: ratio}} and current a number; found {dict(self.gear)}, {self.current}")

    def law(self, system: System) -> Law:
        """One state, the current."""
        at, i = places(system.mechanism, tuple(self.gear)), ca.SX.sym("i")
        rate = sum((r * system.v[c.vi] for r, c in zip(self.gear.values(), at)), ca.SX(0))
        change = (_over_time(system, self.name, self.voltage) - self.resistance * i - self.constant * rate) / self.inductance
        return Law(_behind(system, self.gear, self.constant * i), change, i, (f"current of {self.name}",), (float(self.current),))


def _behind(system: System, gear: Mapping[str, float], force: ca.SX) -> ca.SX:
    """tau (nv,) of a force behind a gear."""
    tau = [ca.SX(0)] * system.nv
    for r, c in zip(gear.values(), places(system.mechanism, tuple(gear))):
        tau[c.vi] += r * force
    return vector(tau)


def _over_time(system: System, name: str, signal: float | Trajectory) -> ca.SX:
    """A number, or the value of a trajectory of one name."""
    if not isinstance(signal, Trajectory):
        return ca.SX(float(signal))
    return system.follow(trajectory({name: signal})).at(system.t)[0][0]


def _within(x: ca.SX, span: Span) -> ca.SX:
    return x if span is None else ca.fmin(ca.fmax(x, span[0]), span[1])
