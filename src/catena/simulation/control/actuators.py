"""Actuators: affine motors and servos behind a gear, as MuJoCo's are, direct-current motors with
their current, and thrusters at frames.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ...compiler import elements, vector
from ...errors import StateError
from ..terms.symbols import SystemSymbols
from ..trajectories.piecewise import Trajectory, places, trajectory
from .control_laws import Controller
from .traced_law import Law

Span = tuple[float, float] | None


@dataclass(frozen=True)
class Actuator(Controller):
    """A force along a sum of coordinates, affine in a signal, that sum and its rate:

        tau = gear f,      f = clip(gain clip(u) + b0 + b1 l + b2 l'),      l = sum of gear q

    gear: {coordinate: ratio}. signal: u, a number or a Trajectory of one name. gain, bias (b0, b1,
    b2): a motor has gain 1; a position servo gain k and bias (0, -k, -d); a velocity servo gain k
    and bias (0, 0, -k). signals, forces: the ranges of u and of f, lowest and highest, or None.
    With a time constant T, or where it integrates, the gain acts on a state w of the run instead of
    on u, the activation:

        T w' = clip(u) - w,      or, where it integrates,      w' = clip(u) / T

    time_constant: T, s, or None, which is 1 s where it integrates. integrates: whether w is the
    integral of the signal. activation: w at the start; activations: its range, at whose ends it
    stays. name: for people.
    """

    gear: Mapping[str, float]
    signal: float | Trajectory = 0.0
    gain: float = 1.0
    bias: tuple[float, float, float] = (0.0, 0.0, 0.0)
    signals: Span = None
    forces: Span = None
    name: str = "actuator"
    time_constant: float | None = None
    integrates: bool = False
    activation: float = 0.0
    activations: Span = None

    def __post_init__(self) -> None:
        if self.time_constant is not None and not 0 < self.time_constant < np.inf:
            raise StateError(
                f"actuator {self.name!r}: time_constant is {self.time_constant!r}; it is a number"
                " above zero, s"
            )
        for what, span in (
            ("signals", self.signals),
            ("forces", self.forces),
            ("activations", self.activations),
        ):
            if span is not None and not (len(span) == 2 and span[0] <= span[1]):
                raise StateError(
                    f"actuator {self.name!r}: {what} is {span}; it is a range (lowest, highest)"
                )
        values = [self.gain, *self.bias, *self.gear.values()]
        if (
            not self.gear
            or len(self.bias) != 3
            or not all(isinstance(x, int | float | np.number) and np.isfinite(x) for x in values)
        ):
            raise StateError(
                f"actuator {self.name!r}: gear is {{coordinate: ratio}}, gain a number and bias"
                f" three; found {dict(self.gear)}, {self.gain}, {self.bias}"
            )

    def law(self, system: SystemSymbols) -> Law:
        """With a time constant one state, the activation."""
        at = places(system.mechanism, tuple(self.gear))
        length = sum((r * system.q[c.qi] for r, c in zip(self.gear.values(), at)), ca.SX(0))
        rate = sum((r * system.v[c.vi] for r, c in zip(self.gear.values(), at)), ca.SX(0))
        b0, b1, b2 = self.bias
        signal = _within(_over_time(system, self.name, self.signal), self.signals)
        w = ca.SX.sym("w")
        direct = self.time_constant is None and not self.integrates
        acting = signal if direct else _within(w, self.activations)
        tau = _behind(
            system,
            self.gear,
            _within(self.gain * acting + b0 + b1 * length + b2 * rate, self.forces),
        )
        if direct:
            return Law(tau)
        change = (signal if self.integrates else signal - w) / (
            1.0 if self.time_constant is None else self.time_constant
        )
        if self.activations:
            low, high = self.activations
            change = ca.if_else(
                w >= high, ca.fmin(change, 0), ca.if_else(w <= low, ca.fmax(change, 0), change)
            )
        return Law(tau, change, w, (f"activation of {self.name}",), (float(self.activation),))


@dataclass(frozen=True)
class DCMotor(Controller):
    """A direct-current motor behind a gear; its current i (A) is a state of the run.

        L i' = u - R i - k l',      tau = gear k i,      l = sum of gear q

    gear: {coordinate: ratio}. voltage: u, V, a number or a Trajectory of one name. resistance: R,
    ohm. inductance: L, H; L / R is the electrical time constant. constant: k, N m/A, which is V
    s/rad. current: i at the start, A. The rotor's inertia is the armature of the joint, gear
    squared times its own. name: for people.
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
                raise StateError(
                    f"motor {self.name!r}: {what} is {x!r}; it is a number above zero, {unit}"
                )
        if not self.gear or not all(
            isinstance(x, int | float | np.number) and np.isfinite(x)
            for x in (*self.gear.values(), self.current)
        ):
            raise StateError(
                f"motor {self.name!r}: gear is {{coordinate: ratio}} and current a number; found"
                f" {dict(self.gear)}, {self.current}"
            )

    def law(self, system: SystemSymbols) -> Law:
        """One state, the current."""
        at = places(system.mechanism, tuple(self.gear))
        i = ca.SX.sym("i")
        rate = sum((r * system.v[c.vi] for r, c in zip(self.gear.values(), at)), ca.SX(0))
        change = (
            _over_time(system, self.name, self.voltage) - self.resistance * i - self.constant * rate
        ) / self.inductance
        return Law(
            _behind(system, self.gear, self.constant * i),
            change,
            i,
            (f"current of {self.name}",),
            (float(self.current),),
        )


@dataclass(frozen=True)
class Thruster(Controller):
    """A force and a torque at the origin of a frame, along its own axes, both times one signal: a
    propeller, a jet, a cold-gas thruster.

        F = R force clip(u),      T = R torque clip(u)

    frame: its name; R turns its axes into the ground's. force: (3,) N per unit of the signal.
    torque: (3,) N m per unit. signal: u, a number or a Trajectory of one name. signals: its range,
    lowest and highest, or None. name: for people.
    """

    frame: str
    force: tuple[float, float, float] = (0.0, 0.0, 0.0)
    torque: tuple[float, float, float] = (0.0, 0.0, 0.0)
    signal: float | Trajectory = 0.0
    signals: Span = None
    name: str = "thruster"

    def __post_init__(self) -> None:
        if self.signals is not None and not (
            len(self.signals) == 2 and self.signals[0] <= self.signals[1]
        ):
            raise StateError(
                f"thruster {self.name!r}: signals is {self.signals}; it is a range (lowest,"
                " highest)"
            )
        for what in ("force", "torque"):
            x = getattr(self, what)
            if len(x) != 3 or not all(
                isinstance(c, int | float | np.number) and np.isfinite(c) for c in x
            ):
                raise StateError(
                    f"thruster {self.name!r}: {what} is {x}; it is three numbers along the frame's"
                    " axes, per unit of the signal"
                )

    def law(self, system: SystemSymbols) -> Law:
        """No state of its own."""
        s = system.tracer()
        # turning, then origin
        R = s.pose(self.frame)[:3, :3]
        twist = s.frame_velocity(self.frame, "world")
        both = ca.vertcat(
            R @ ca.SX(np.array(self.torque, float)), R @ ca.SX(np.array(self.force, float))
        )
        tau = ca.Function(
            "thrust",
            [s.t, s.q, s.p],
            [ca.densify(ca.jacobian(vector(elements(twist)), s.v).T @ both)],
        )
        return Law(
            tau(system.t, system.q, system.p)
            * _within(_over_time(system, self.name, self.signal), self.signals)
        )


def _behind(system: SystemSymbols, gear: Mapping[str, float], force: ca.SX) -> ca.SX:
    """tau (nv,) of a force behind a gear."""
    tau = [ca.SX(0)] * system.nv
    for r, c in zip(gear.values(), places(system.mechanism, tuple(gear))):
        tau[c.vi] += r * force
    return vector(tau)


def _over_time(system: SystemSymbols, name: str, signal: float | Trajectory) -> ca.SX:
    """A number, or the value of a trajectory of one name."""
    if not isinstance(signal, Trajectory | int | float | np.number):
        raise StateError(
            f"{name!r} is told {signal!r}; it is told a number, or a trajectory:"
            f" catena.trajectories.function({{{name!r}: text}}, [start, end]) makes one of a text"
        )
    if not isinstance(signal, Trajectory):
        return ca.SX(float(signal))
    return system.follow(trajectory({name: signal})).at(system.t)[0][0]


def _within(x: ca.SX, span: Span) -> ca.SX:
    return x if span is None else ca.fmin(ca.fmax(x, span[0]), span[1])
