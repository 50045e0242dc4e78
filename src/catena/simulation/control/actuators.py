"""Actuators: affine motors and servos behind a gear as MuJoCo has them, direct-current motors with
their current as a state, and thrusters fixed to frames.
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
class HeldInput:
    """A signal that is set from outside while a system runs: entry `index` of its inputs u."""

    index: int


@dataclass(frozen=True)
class Actuator(Controller):
    """A force along a weighted sum of coordinates, affine in a signal, that sum and its rate.

        tau = gear f,      f = clip((gain + g1 l + g2 l') clip(u) + b0 + b1 l + b2 l'),
        l = sum of gear q

    A motor has gain 1; a position servo has gain k and bias (0, -k, -d); a velocity servo has gain
    k and bias (0, 0, -k); a damper whose coefficient is the signal has gain 0 and gain_slopes (0,
    -k). With a time constant T, or where the actuator integrates, the gain acts on a state w of the
    run, the activation, instead of on u:

        T w' = clip(u) - w,      or, where it integrates,      w' = clip(u) / T

    Parameters
    ----------
    gear : mapping of str to float
        The ratio of each coordinate, {coordinate: ratio}.
    signal : float or Trajectory, default 0.0
        The signal u: a number, or a trajectory with one name.
    gain : float, default 1.0
        Force per unit of the signal or of the activation.
    bias : tuple of 3 floats, default (0, 0, 0)
        The coefficients b0, b1, b2.
    signals : tuple of 2 floats or None
        The range (lowest, highest) to which u is clipped; None means no clipping.
    forces : tuple of 2 floats or None
        The range (lowest, highest) to which f is clipped; None means no clipping.
    name : str, default "actuator"
        The name used in messages and in the names of states.
    time_constant : float or None
        T in s; None means no activation, or 1 s where the actuator integrates.
    integrates : bool, default False
        Whether the activation is the integral of the signal.
    activation : float, default 0.0
        The activation w at the start of the run.
    activations : tuple of 2 floats or None
        The range (lowest, highest) of w; at either end w stays until its rate points inwards.
    gain_slopes : tuple of 2 floats, default (0, 0)
        The coefficients g1, g2 by which the gain grows with l and its rate.

    Raises
    ------
    StateError
        If a range is not ordered, or a number is missing, not finite or out of range.
    """

    gear: Mapping[str, float]
    signal: float | Trajectory | HeldInput = 0.0
    gain: float = 1.0
    bias: tuple[float, float, float] = (0.0, 0.0, 0.0)
    signals: Span = None
    forces: Span = None
    name: str = "actuator"
    time_constant: float | None = None
    integrates: bool = False
    activation: float = 0.0
    activations: Span = None
    gain_slopes: tuple[float, float] = (0.0, 0.0)

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
        values = [self.gain, *self.gain_slopes, *self.bias, *self.gear.values()]
        if (
            not self.gear
            or len(self.bias) != 3
            or len(self.gain_slopes) != 2
            or not all(isinstance(x, int | float | np.number) and np.isfinite(x) for x in values)
        ):
            raise StateError(
                f"actuator {self.name!r}: gear is {{coordinate: ratio}}, gain a number, bias"
                f" three and gain_slopes two; found {dict(self.gear)}, {self.gain}, {self.bias},"
                f" {self.gain_slopes}"
            )

    def law(self, system: SystemSymbols) -> Law:
        """Return the joint forces; with a time constant or integration, the activation is one
        state.
        """
        at = places(system.mechanism, tuple(self.gear))
        length = sum((r * system.q[c.qi] for r, c in zip(self.gear.values(), at)), ca.SX(0))
        rate = sum((r * system.v[c.vi] for r, c in zip(self.gear.values(), at)), ca.SX(0))
        b0, b1, b2 = self.bias
        g1, g2 = self.gain_slopes
        signal = clip_signal(signal_value(system, self.name, self.signal), self.signals)
        w = ca.SX.sym("w")
        direct = self.time_constant is None and not self.integrates
        acting = signal if direct else clip_signal(w, self.activations)
        tau = _geared_forces(
            system,
            self.gear,
            clip_signal(
                (self.gain + g1 * length + g2 * rate) * acting + b0 + b1 * length + b2 * rate,
                self.forces,
            ),
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
    """A direct-current motor behind a gear, whose current i (A) is a state of the run.

        L i' = u - R i - k l',      tau = gear k i,      l = sum of gear q

    The rotor's inertia belongs to the armature of the joint: the square of the gear ratio times the
    inertia of the rotor.

    Parameters
    ----------
    gear : mapping of str to float
        The ratio of each coordinate, {coordinate: ratio}.
    voltage : float or Trajectory
        u in V: a number, or a trajectory with one name.
    resistance : float
        R in ohm.
    inductance : float
        L in H; L / R is the electrical time constant.
    constant : float
        The torque constant k in N m/A, which equals the back-EMF constant in V s/rad.
    current : float, default 0.0
        The current i at the start of the run, A.
    name : str, default "motor"
        The name used in messages and in the name of the state.

    Raises
    ------
    StateError
        If resistance, inductance or constant is not above zero, or the gear is empty.
    """

    gear: Mapping[str, float]
    voltage: float | Trajectory | HeldInput
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
        """Return the joint forces and the rate of the one state, the current."""
        at = places(system.mechanism, tuple(self.gear))
        i = ca.SX.sym("i")
        rate = sum((r * system.v[c.vi] for r, c in zip(self.gear.values(), at)), ca.SX(0))
        change = (
            signal_value(system, self.name, self.voltage)
            - self.resistance * i
            - self.constant * rate
        ) / self.inductance
        return Law(
            _geared_forces(system, self.gear, self.constant * i),
            change,
            i,
            (f"current of {self.name}",),
            (float(self.current),),
        )


@dataclass(frozen=True)
class Thruster(Controller):
    """A force and a torque at the origin of a frame, along the frame's axes, proportional to a
    signal.

        F = R force clip(u),      T = R torque clip(u)

    R turns the frame's axes into those of the ground. A propeller, a jet and a cold-gas thruster
    are modelled so.

    Parameters
    ----------
    frame : str
        The name of the frame.
    force : tuple of 3 floats, default (0, 0, 0)
        The force along the frame's axes, N per unit of the signal.
    torque : tuple of 3 floats, default (0, 0, 0)
        The torque along the frame's axes, N m per unit of the signal.
    signal : float or Trajectory, default 0.0
        The signal u: a number, or a trajectory with one name.
    signals : tuple of 2 floats or None
        The range (lowest, highest) to which u is clipped; None means no clipping.
    name : str, default "thruster"
        The name used in messages.

    Raises
    ------
    StateError
        If a range is not ordered, or force or torque is not three finite numbers.
    """

    frame: str
    force: tuple[float, float, float] = (0.0, 0.0, 0.0)
    torque: tuple[float, float, float] = (0.0, 0.0, 0.0)
    signal: float | Trajectory | HeldInput = 0.0
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
        """Return the joint forces J' (T, F) of the thruster, which has no state."""
        s = system.tracer()
        # R turns the frame's axes into the ground's; the twist has the angular part first
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
            * clip_signal(signal_value(system, self.name, self.signal), self.signals)
        )


def _geared_forces(system: SystemSymbols, gear: Mapping[str, float], force: ca.SX) -> ca.SX:
    """Return tau (nv,) of a force that acts on coordinates through the ratios of a gear."""
    tau = [ca.SX(0)] * system.nv
    for r, c in zip(gear.values(), places(system.mechanism, tuple(gear))):
        tau[c.vi] += r * force
    return vector(tau)


def signal_value(system: SystemSymbols, name: str, signal: float | Trajectory | HeldInput) -> ca.SX:
    """Return the signal at the time of the system: a constant, the value of a trajectory, or an
    input.
    """
    if isinstance(signal, HeldInput):
        return system.u[signal.index]
    if not isinstance(signal, Trajectory | int | float | np.number):
        raise StateError(
            f"{name!r} has the signal {signal!r}; a signal is a number, or a trajectory:"
            f" catena.trajectories.function({{{name!r}: text}}, [start, end]) makes one of a text"
        )
    if not isinstance(signal, Trajectory):
        return ca.SX(float(signal))
    return system.follow(trajectory({name: signal})).at(system.t)[0][0]


def clip_signal(x: ca.SX, span: Span) -> ca.SX:
    """Return x clipped to the range (lowest, highest), or x itself where the range is None."""
    return x if span is None else ca.fmin(ca.fmax(x, span[0]), span[1])
