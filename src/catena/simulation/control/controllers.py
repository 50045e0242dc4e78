"""Controllers: laws that map time and state to joint forces, traced into the machine code of a
run.

    PID              tau = kp e + ki z + kd e',  z' = e,  e = target - q      joint by joint
    PD               the same without z, by default with gravity compensation
    ComputedTorque   tau for the accelerations a* + kd e' + kp e     whole model, loops included
    Forces           tau(t), from a table
    Impedance        a frame held by a virtual spring and damper (`force_control.py`)
    Hybrid           a force along a normal, a position across it (`force_control.py`)
    Actuator         tau = gear (gain u + b0 + b1 l + b2 l'): motors and servos behind a gear, as
                     MuJoCo has them
    Drive            a motor or servo with limits, delay, backlash, elasticity, friction and heat
    DCMotor          L i' = u - R i - k gear v, tau = gear k i: a motor with its electrical time
                     constant
    Thruster         a force and a torque at a frame, along its axes, times a signal
    Sequence         one controller after another
    Hold             any of them, sampled with zero-order hold
    traced           a Python function (t, q, v) -> tau
    FMU              a functional mock-up unit, sampled (`fmu_control.py`)

A controller is any object with a method `law(system) -> Law`; see `terms.symbols.SystemSymbols` for
the symbols it may use. Controllers add: a + b. Forces are in N m or N, along the speeds of
coordinates; gains are per rad or per m.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ...compiler import elements, vector
from ...errors import StateError, UnknownNameError
from ...machine import Coordinate, coordinates, speeds_of
from ...model import apply, evaluate, value_of
from ..terms.prescribed import partitioned
from ..terms.symbols import SystemSymbols
from ..trajectories.piecewise import Trajectory, places, trajectory
from .actuators import Actuator, DCMotor, Thruster
from .control_laws import Controller, Hold, Sequence, check_sample_time, sample_and_hold, traced
from .drives import Drive
from .fmu_control import FMU
from .force_control import Hybrid, Impedance
from .traced_law import Law

__all__ = [
    "FMU",
    "PD",
    "PID",
    "Actuator",
    "Drive",
    "ComputedTorque",
    "Controller",
    "DCMotor",
    "Forces",
    "Hold",
    "Hybrid",
    "Impedance",
    "Law",
    "Sequence",
    "Thruster",
    "traced",
]

Gain = Any  # a number, or a SymPy expression of the mechanism's parameters
Gains = Gain | Mapping[str, Gain]
# q and v that are wanted; one number: of all coordinates
Target = Trajectory | Mapping[str, float | Trajectory] | float
# "effort", one force, by names, or none
Limits = str | float | Mapping[str, float | tuple[float, float]] | None


# --- a joint at a time
@dataclass(frozen=True)
class PID(Controller):
    """A proportional-integral-derivative controller for each coordinate of its target.

        tau = kp e + ki z + kd (v* - v),      e = q* - q,      z' = e + (clipped tau - tau) / (ki T)

    See [Merwe1995] section 8.1.2.

    Parameters
    ----------
    kp, ki, kd : float, SymPy expression, or mapping
        Gains, zero or above: one for all coordinates, or {joint or coordinate: gain}, where those
        not named are zero. A gain may be a SymPy expression of the mechanism's parameters, which a
        batch may vary. Units: force per rad or m, per (rad s) or (m s), per (rad/s) or (m/s).
    target : Trajectory, mapping or float
        q* and v*: a trajectory, {coordinate: number or Trajectory}, or one number for all
        coordinates (rad or m).
    limits : "effort", float, mapping or None
        The largest force (N m or N): one for all, {joint or coordinate: force or (lowest,
        highest)}, "effort" for the efforts of the joints, or None for no limit.
    anti_windup : bool or float, default True
        While a limit clips the force, the integral is led back with the time constant T (s). True
        takes T = sqrt(kd / ki), or kp / ki where kd is zero; False leaves the integral alone.
    gravity : bool, default False
        Whether to add the forces that hold the mechanism still at q.
    smooth : bool, default False
        Whether limits clip by a tanh instead of a corner.
    sample : float or None, default None
        The sample time in s; None means a continuous controller.
    integral : float or mapping, default 0.0
        z at the start (rad s or m s): one for all, or {joint or coordinate: z}. A run that begins
        in the steady state has z = tau / ki.

    Raises
    ------
    StateError
        If a gain is negative or not a number, or another argument is out of its range.

    Examples
    --------
    >>> from catena.control import PID
    >>> PID(kp=80.0, ki=20.0, kd=8.0, target={"elbow": 0.5}, limits=30.0).limits
    30.0
    """

    kp: Gains
    ki: Gains
    kd: Gains
    target: Target
    limits: Limits = None
    anti_windup: bool | float = True
    gravity: bool = False
    smooth: bool = False
    sample: float | None = None
    integral: Gains = 0.0

    def __post_init__(self) -> None:
        for name in ("kp", "ki", "kd"):
            _check_gains(f"PID, {name}", getattr(self, name))
        values = self.integral.values() if isinstance(self.integral, Mapping) else [self.integral]
        if not all(isinstance(x, int | float | np.number) and np.isfinite(x) for x in values):
            raise StateError(
                f"PID: integral = {self.integral!r}; it is a finite number for all, or"
                " {coordinate: number} (rad s, m s)"
            )
        if not isinstance(self.anti_windup, bool) and not self.anti_windup > 0:
            raise StateError(
                f"PID: anti_windup = {self.anti_windup}; it is True, False, or a time above"
                " zero (s)"
            )
        check_sample_time("PID", self.sample)

    def law(self, system: SystemSymbols) -> Law:
        """Return the forces; each coordinate whose ki is not zero has one state, its integral z."""
        target, at = _target_trajectory(system, self.target)
        kp, ki, kd = (
            _gain_per_coordinate("PID", name, system, at, getattr(self, name))
            for name in ("kp", "ki", "kd")
        )
        q, v, _ = system.follow(target).at(system.t)
        error = [q[j] - system.q[c.qi] for j, c in enumerate(at)]
        integral = [j for j in range(len(at)) if not _is_zero(ki[j])]
        z = ca.SX.sym("z", len(integral))
        tau = [ca.SX(0)] * system.nv
        if self.gravity:
            tau = _gravity_compensation(system, at)
        for j, c in enumerate(at):
            tau[c.vi] += kp[j] * error[j] + kd[j] * (v[j] - system.v[c.vi])
        for k, j in enumerate(integral):
            tau[at[j].vi] += ki[j] * z[k]
        given = clip_forces(system, vector(tau), self.limits, self.smooth)
        rate = []
        for j in integral:
            over = given[at[j].vi] - tau[at[j].vi] if self.anti_windup else 0.0
            rate.append(error[j] + over / (ki[j] * self._time(kp[j], ki[j], kd[j])))
        names = tuple(f"integral of {at[j].name}" for j in integral)
        begin = _gain_per_coordinate("PID", "integral", system, at, self.integral)
        return sample_and_hold(
            self.sample,
            system,
            Law(
                given,
                vector(rate),
                z,
                names,
                tuple(float(begin[j]) for j in integral),
                integrals=tuple(at[j].qi for j in integral),
            ),
        )

    def _time(self, kp: Any, ki: Any, kd: Any) -> Any:
        """Return the time constant T (s) of anti-windup: while a limit clips the force, the
        integral returns towards a value at which it would not be clipped with this time
        constant.
        """
        if not isinstance(self.anti_windup, bool):
            return float(self.anti_windup)
        return apply("sqrt", [kd / ki]) if not _is_zero(kd) else 1.0 if _is_zero(kp) else kp / ki


def PD(
    kp: Gains,
    kd: Gains,
    target: Target,
    *,
    gravity: bool = True,
    limits: Limits = None,
    smooth: bool = False,
    sample: float | None = None,
) -> PID:
    """Return a PID without integral: proportional and derivative gains with gravity compensation.

        tau = kp (q* - q) + kd (v* - v) + (forces that balance gravity and springs)

    Parameters
    ----------
    kp, kd : float, SymPy expression, or mapping
        Gains, as for `PID`.
    target : Trajectory, mapping or float
        q* and v*, as for `PID`; only the target's coordinates are controlled.
    gravity : bool, default True
        Whether to add the forces that hold the mechanism still at q.
    limits : "effort", float, mapping or None
        The largest force, as for `PID`.
    smooth : bool, default False
        Whether limits clip by a tanh instead of a corner.
    sample : float or None, default None
        The sample time in s; None means a continuous controller.

    Returns
    -------
    PID
        A PID controller whose ki is zero.

    Examples
    --------
    >>> from catena.control import PD
    >>> PD(80.0, 8.0, {"elbow": 0.5}).gravity
    True
    """
    return PID(kp, 0.0, kd, target, limits, gravity=gravity, smooth=smooth, sample=sample)


def _gravity_compensation(system: SystemSymbols, at: tuple[Coordinate, ...]) -> list[ca.SX]:
    """Return the gravity compensation (nv,) along the controlled speeds, zero along the others."""
    s = system.tracer()
    g = ca.Function("gravity", [s.t, s.q, s.p], [s.gravity()])(system.t, system.q, system.p)
    mine = {c.vi for c in at}
    return [g[k] if k in mine else ca.SX(0) for k in range(system.nv)]


# --- with the model
@dataclass(frozen=True)
class ComputedTorque(Controller):
    """Computed-torque control: the forces that give the coordinates of a trajectory the
    accelerations a* + kd (v* - v) + kp (q* - q).

        M(q) a + bias(q, v) = tau + losses,      e'' + kd e' + kp e = 0

    With kp = w^2 and kd = 2 w an error dies out in about 5/w seconds. Coordinates that the
    trajectory leaves out have no motor and move freely. Damping and friction are compensated. Loops
    are taken into account; the trajectory then has as many coordinates as the mechanism has degrees
    of freedom.

    Parameters
    ----------
    trajectory : Trajectory, mapping or float
        q*, v* and a*, as the target of `PID`.
    kp : float, SymPy expression, or mapping
        Gain in 1/s2, one for all coordinates or {joint or coordinate: gain}.
    kd : float, SymPy expression, or mapping
        Gain in 1/s, likewise.
    limits, smooth, sample
        As for `PID`.

    Raises
    ------
    StateError
        If a gain is negative or not a number, or the sample time is not above zero.
    """

    trajectory: Target
    kp: Gains
    kd: Gains
    limits: Limits = None
    smooth: bool = False
    sample: float | None = None

    def __post_init__(self) -> None:
        for name in ("kp", "kd"):
            _check_gains(f"ComputedTorque, {name}", getattr(self, name))
        check_sample_time("ComputedTorque", self.sample)

    def law(self, system: SystemSymbols) -> Law:
        """Return the motor forces; the controller has no state unless it is sampled."""
        target, at = _target_trajectory(system, self.trajectory)
        kp, kd = (
            _gain_per_coordinate("ComputedTorque", name, system, at, getattr(self, name))
            for name in ("kp", "kd")
        )
        q, v, a = system.follow(target).at(system.t)
        wanted = [
            a[j] + kd[j] * (v[j] - system.v[c.vi]) + kp[j] * (q[j] - system.q[c.qi])
            for j, c in enumerate(at)
        ]
        driven = [c.vi for c in at]
        f = partitioned(system.layout, driven)
        _, tau, _ = f(system.t, system.q, system.v, system.p, vector(wanted), system.losses)
        motors = vector(
            [tau[k] - system.losses[k] if k in driven else ca.SX(0) for k in range(system.nv)]
        )
        return sample_and_hold(
            self.sample, system, Law(clip_forces(system, motors, self.limits, self.smooth))
        )


@dataclass(frozen=True)
class Forces(Controller):
    """Joint forces as functions of time.

    Parameters
    ----------
    table : Trajectory or mapping
        {joint, coordinate or speed: number or Trajectory}, N m or N. The position q of a trajectory
        is taken as the force.
    """

    table: Trajectory | Mapping[str, float | Trajectory]

    def law(self, system: SystemSymbols) -> Law:
        """Return the forces at the time of the system; there is no state."""
        found = trajectory(self.table)
        tau = [ca.SX(0)] * system.nv
        for name, x in zip(found.names, elements(system.follow(found).at(system.t)[0])):
            for k in speeds_of(system.mechanism, name):
                tau[k] += x
        return Law(vector(tau))


# --- limits, targets and gains
def clip_forces(system: SystemSymbols, tau: ca.SX, limits: Limits, smooth: bool = False) -> ca.SX:
    """Return the forces tau (nv,) clipped to their limits: with a corner, or by a tanh if smooth.
    An entry of tau that is identically zero belongs to a speed without motor and stays zero; a tanh
    needs both limits to be finite.
    """
    if limits is None:
        return tau
    low, high = _limits(system, limits)
    found = []
    for k, x in enumerate(elements(tau)):
        if x.is_zero():  # no motor there
            pass
        elif smooth and np.isfinite(high[k] - low[k]):
            middle = 0.5 * (high[k] + low[k])
            half = 0.5 * (high[k] - low[k])
            x = middle + half * ca.tanh((x - middle) / half)
        else:
            x = ca.fmax(x, low[k]) if np.isfinite(low[k]) else x
            x = ca.fmin(x, high[k]) if np.isfinite(high[k]) else x
        found.append(x)
    return vector(found)


def _limits(system: SystemSymbols, limits: Limits) -> tuple[list[float], list[float]]:
    """Return the lowest and the highest force along each speed, two lists (nv,) of N m or N."""
    high = [np.inf] * system.nv
    low = [-np.inf] * system.nv
    if isinstance(limits, str):
        if limits != "effort":
            raise UnknownNameError("kind of limit", limits, ["effort"], "a controller")
        efforts = [x for j in system.mechanism.moving for x in j.effort]
        given: dict[int, Any] = {
            k: value_of(x, system.mechanism.parameters) for k, x in enumerate(efforts)
        }
    elif isinstance(limits, Mapping):
        given = {k: x for name, x in limits.items() for k in speeds_of(system.mechanism, name)}
    else:
        given = dict.fromkeys(range(system.nv), limits)
    for k, x in given.items():
        try:
            low[k], high[k] = (float(y) for y in (x if isinstance(x, tuple | list) else (-x, x)))
        except (TypeError, ValueError):
            low[k] = high[k] = np.nan
        if not low[k] < high[k]:
            name = system.mechanism.speed_names[k]
            raise StateError(
                f"limits: {name!r} is given {x!r}; it takes a force above zero, or (lowest,"
                " highest), N m or N"
            )
    return low, high


def _target_trajectory(
    system: SystemSymbols, target: Target
) -> tuple[Trajectory, tuple[Coordinate, ...]]:
    """Return the target as a trajectory, and the indices of its coordinates in q and of their
    speeds in v.
    """
    if isinstance(target, int | float):
        target = {c.name: target for c in coordinates(system.mechanism)}
    found = trajectory(target)
    return found, places(system.mechanism, found.names)


def _gain_per_coordinate(
    kind: str, what: str, system: SystemSymbols, at: tuple[Coordinate, ...], gains: Gains
) -> list[Any]:
    """Return one gain for each controlled coordinate, a number or an expression of the parameters.
    Raises UnknownNameError for a coordinate that is not controlled; `kind` and `what` are the names
    of the controller and of its argument, for the message.
    """
    names = list(system.mechanism.parameters)

    def value(x: Gain) -> Any:
        return (
            evaluate(x, {name: system.p[k] for k, name in enumerate(names)})
            if _is_expression(x)
            else float(x)
        )

    if not isinstance(gains, Mapping):
        return [value(gains)] * len(at)
    found: list[Any] = [0.0] * len(at)
    for name, x in gains.items():
        speeds_of(system.mechanism, name)  # an UnknownNameError for a name that is nowhere
        mine = [j for j, c in enumerate(at) if name in (c.name, c.speed, c.joint)]
        if not mine:
            raise UnknownNameError(
                "controlled coordinate",
                name,
                [c.name for c in at],
                f"{kind}, whose {what} names it",
            )
        for j in mine:
            found[j] = value(x)
    return found


def _is_expression(gain: Any) -> bool:
    """Return whether a gain is a SymPy expression with free symbols, the mechanism's parameters."""
    return bool(getattr(gain, "free_symbols", None))


def _is_zero(gain: Any) -> bool:
    """Return whether a gain is the number zero, so that its term can be left out of the
    expression.
    """
    return isinstance(gain, float) and gain == 0.0


def _check_gains(what: str, gains: object) -> None:
    """Raise StateError where a gain is negative, infinite or not a number."""
    for name, x in gains.items() if isinstance(gains, Mapping) else [("", gains)]:
        if _is_expression(x):
            continue
        if isinstance(x, bool) or not isinstance(x, int | float | np.number) or not 0 <= x < np.inf:
            place = f" of {name!r}" if name else ""
            raise StateError(
                f"{what}{place} = {x!r}; a gain is a finite number, zero or above: it pulls towards"
                " the target"
            )
