"""Controllers: laws from time and state to joint forces, traced into the machine code of a run.

    PID              tau = kp e + ki z + kd e',  z' = e,  e = target - q          a joint at a time
    PD               the same without z, with the forces that hold the mechanism still
    ComputedTorque   tau of the accelerations a* + kd e' + kp e     the whole model, also with loops
    Forces           tau(t), from a table
    Impedance        a frame as on a spring and damper; Hybrid: a force along a normal, a place
                     across it (`force_control.py`)
    Actuator         tau = gear (gain u + b0 + b1 l + b2 l'): motors and servos behind a gear, as
                     MuJoCo's
    DCMotor          L i' = u - R i - k gear v, tau = gear k i: a motor with its electrical time
                     constant
    Thruster         a force and a torque at a frame, along its axes, times a signal
    Sequence         one controller after another
    Hold             any of them sampled: asked every so often, held in between
    traced           a Python function (t, q, v) -> tau
    FMU              a functional mock-up unit, asked every so often (`fmu_control.py`)

A controller is any object with `law(system) -> Law`; see `terms.symbols.SystemSymbols` for the
symbols it may use. Controllers add: a + b. Forces are N m or N, along the speeds of coordinates;
gains are per rad or per m.
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
from .control_laws import Controller, Hold, Sequence, held, sampling, traced
from .fmu_control import FMU
from .force_control import Hybrid, Impedance
from .traced_law import Law

__all__ = [
    "FMU",
    "PD",
    "PID",
    "Actuator",
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
    """A controller for each coordinate of its target ([Merwe1995] section 8.1.2):

        tau = kp e + ki z + kd (v* - v),      e = q* - q,      z' = e + (clipped tau - tau) / (ki T)

    kp, ki, kd: gains, one for all or {joint or coordinate: gain}; those not named are zero; one may
    be a SymPy expression of the mechanism's parameters, which a batch may vary. target: a
    Trajectory, {coordinate: number or Trajectory}, or one number for all coordinates. limits: the
    largest force, one for all, {joint or coordinate: force or (lowest, highest)}, or "effort" for
    those of the joints; smooth: by a tanh instead of a corner. anti_windup: the integral is led
    back while a limit holds the force, in the time T (s); True takes T = sqrt(kd / ki), or kp / ki
    without kd. gravity: add the forces that hold the mechanism still there. sample: seconds between
    samples, None: continuous. integral: z at the start (rad s, m s), one for all or {joint or
    coordinate: z}, by default zero; a run that begins in the steady state has z = tau / ki.
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
            _gains(f"PID, {name}", getattr(self, name))
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
        sampling("PID", self.sample)

    def law(self, system: SystemSymbols) -> Law:
        """One integral for each coordinate with ki."""
        target, at = _aimed(system, self.target)
        kp, ki, kd = (
            _each("PID", name, system, at, getattr(self, name)) for name in ("kp", "ki", "kd")
        )
        q, v, _ = system.follow(target).at(system.t)
        error = [q[j] - system.q[c.qi] for j, c in enumerate(at)]
        integral = [j for j in range(len(at)) if not _absent(ki[j])]
        z = ca.SX.sym("z", len(integral))
        tau = [ca.SX(0)] * system.nv
        if self.gravity:
            tau = _held_still(system, at)
        for j, c in enumerate(at):
            tau[c.vi] += kp[j] * error[j] + kd[j] * (v[j] - system.v[c.vi])
        for k, j in enumerate(integral):
            tau[at[j].vi] += ki[j] * z[k]
        given = clipped(system, vector(tau), self.limits, self.smooth)
        rate = []
        for j in integral:
            over = given[at[j].vi] - tau[at[j].vi] if self.anti_windup else 0.0
            rate.append(error[j] + over / (ki[j] * self._time(kp[j], ki[j], kd[j])))
        names = tuple(f"integral of {at[j].name}" for j in integral)
        begin = _each("PID", "integral", system, at, self.integral)
        return held(
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
        """In which the integral is led back, s."""
        if not isinstance(self.anti_windup, bool):
            return float(self.anti_windup)
        return apply("sqrt", [kd / ki]) if not _absent(kd) else 1.0 if _absent(kp) else kp / ki


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
    """tau = kp (q* - q) + kd (v* - v) + what holds the mechanism still (gravity and springs), for
    the target's coordinates.
    """
    return PID(kp, 0.0, kd, target, limits, gravity=gravity, smooth=smooth, sample=sample)


def _held_still(system: SystemSymbols, at: tuple[Coordinate, ...]) -> list[ca.SX]:
    """Gravity compensation along the controlled speeds."""
    s = system.tracer()
    g = ca.Function("gravity", [s.t, s.q, s.p], [s.gravity()])(system.t, system.q, system.p)
    mine = {c.vi for c in at}
    return [g[k] if k in mine else ca.SX(0) for k in range(system.nv)]


# --- with the model
@dataclass(frozen=True)
class ComputedTorque(Controller):
    """The forces that give the coordinates of a trajectory the accelerations a* + kd (v* - v) + kp
    (q* - q).

        M(q) a + bias(q, v) = tau + losses,      e'' + kd e' + kp e = 0

    kp (1/s2), kd (1/s): kp = w^2, kd = 2 w let an error die out in about 5/w seconds. What the
    trajectory leaves out has no motor and moves as it must. Damping and friction are compensated.
    Loops are taken into account; the trajectory then has as many coordinates as the mechanism has
    freedoms. limits, smooth, sample: as for `PID`.
    """

    trajectory: Target
    kp: Gains
    kd: Gains
    limits: Limits = None
    smooth: bool = False
    sample: float | None = None

    def __post_init__(self) -> None:
        for name in ("kp", "kd"):
            _gains(f"ComputedTorque, {name}", getattr(self, name))
        sampling("ComputedTorque", self.sample)

    def law(self, system: SystemSymbols) -> Law:
        """No state of its own."""
        target, at = _aimed(system, self.trajectory)
        kp, kd = (
            _each("ComputedTorque", name, system, at, getattr(self, name)) for name in ("kp", "kd")
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
        return held(self.sample, system, Law(clipped(system, motors, self.limits, self.smooth)))


@dataclass(frozen=True)
class Forces(Controller):
    """Forces as functions of time: {joint, coordinate or speed: number or Trajectory (its q is the
    force)}, N m or N.
    """

    table: Trajectory | Mapping[str, float | Trajectory]

    def law(self, system: SystemSymbols) -> Law:
        """No state of its own."""
        found = trajectory(self.table)
        tau = [ca.SX(0)] * system.nv
        for name, x in zip(found.names, elements(system.follow(found).at(system.t)[0])):
            for k in speeds_of(system.mechanism, name):
                tau[k] += x
        return Law(vector(tau))


# --- limits, targets and gains
def clipped(system: SystemSymbols, tau: ca.SX, limits: Limits, smooth: bool = False) -> ca.SX:
    """Forces within limits: a corner, or a tanh between them."""
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
    """Lowest and highest force along each speed."""
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


def _aimed(system: SystemSymbols, target: Target) -> tuple[Trajectory, tuple[Coordinate, ...]]:
    """The target as a trajectory, and where its coordinates are."""
    if isinstance(target, int | float):
        target = {c.name: target for c in coordinates(system.mechanism)}
    found = trajectory(target)
    return found, places(system.mechanism, found.names)


def _each(
    kind: str, what: str, system: SystemSymbols, at: tuple[Coordinate, ...], gains: Gains
) -> list[Any]:
    """One gain for each controlled coordinate: a number, or an expression of the system's
    parameters.
    """
    names = list(system.mechanism.parameters)

    def value(x: Gain) -> Any:
        return (
            evaluate(x, {name: system.p[k] for k, name in enumerate(names)})
            if _symbolic(x)
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


def _symbolic(gain: Any) -> bool:
    """Whether a gain is an expression of parameters."""
    return bool(getattr(gain, "free_symbols", None))


def _absent(gain: Any) -> bool:
    """Whether a gain is zero, whatever the parameters are."""
    return isinstance(gain, float) and gain == 0.0


def _gains(what: str, gains: object) -> None:
    """Refuse gains that are negative or not numbers."""
    for name, x in gains.items() if isinstance(gains, Mapping) else [("", gains)]:
        if _symbolic(x):
            continue
        if isinstance(x, bool) or not isinstance(x, int | float | np.number) or not 0 <= x < np.inf:
            place = f" of {name!r}" if name else ""
            raise StateError(
                f"{what}{place} = {x!r}; a gain is a finite number, zero or above: it pulls towards"
                " the target"
            )
