"""Drive: a motor or servo behind a gear, with what real ones cannot do.

    command    u, or kp (u - th) - kd th', or kd (u - th')           [delayed by whole samples]
    motor      clipped to what the curve of torque over speed and the winding's temperature leave
    gear       rigid: it acts on the joint;  elastic: J th'' = motor - friction - k deadband(th - q)

All quantities are seen from the joint: angles and speeds behind the gear, torques in front of it
times the ratio, the inertia J of the rotor times its square.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import casadi as ca
import numpy as np

from ...compiler import vector
from ...errors import StateError
from ...registry import Registry
from ..terms.symbols import SystemSymbols
from ..trajectories.piecewise import Trajectory, places
from .actuators import HeldInput, Span, clip_signal, signal_value
from .control_laws import Controller
from .traced_law import Law

FRICTION_SPEED = 1e-3  # rad/s or m/s: at which tanh has three quarters of the friction
EARLY = 1e-6  # of a sample time: a sample is due this much early, since times are rounded


@dataclass(frozen=True)
class DriveMode:
    """What the signal of a drive asks for. command(drive, u, angle, rate): the torque wanted."""

    name: str
    doc: str
    command: Callable[[Drive, Any, Any, Any], Any]
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Drive(Controller):
    """A drive of one coordinate, with limits, delay, backlash, elasticity, friction and heat.

    Parameters
    ----------
    joint : str
        The coordinate, or a joint with one.
    mode : str, default "force"
        What the signal is: "force", or the target of a servo, "position" or "velocity".
    signal : float or Trajectory, default 0.0
        The signal u.
    signals : tuple of 2 floats or None
        The range to which u is clipped.
    kp, kd : float, default 0.0
        The gains of a servo: force per error of position, and per error of speed.
    effort : float or None
        The largest force of the motor, N m or N.
    speed : float or None
        The speed at which a motor has no more force left to accelerate; it falls linearly from
        `effort` over the last twentieth below it.
    curve : sequence of (speed, force), optional
        The largest force over speed in the direction of motion, linear between the points, constant
        beyond them; in place of `speed`. Against the direction of motion `effort` counts.
    delay : float, default 0.0
        The time after which a command acts, s, in whole samples.
    sample : float or None
        The sample time of the command, s, which is held in between; needed with a delay.
    stiffness : float or None
        k of the gear, N m/rad or N/m; None for a rigid one.
    damping : float, default 0.0
        Of the elastic gear, N m s/rad or N s/m.
    backlash : float, default 0.0
        The whole play of the gear, rad or m, before its spring acts; needs a stiffness.
    inertia : float or None
        J of the rotor; needed with a stiffness. Behind a rigid gear it is the joint's armature.
    friction, viscous : float, default 0.0
        Dry and viscous friction of motor and gear, N m and N m s/rad, or N and N s/m. The dry one
        is F tanh(rate / 1e-3).
    heating : float or None
        Kelvin per second and per square of force, of a winding without cooling.
    cooling : float
        The time constant of the winding, s; needed with `heating`.
    hottest : float
        The rise of temperature, K, at which the motor gives no more force; the limit falls linearly
        over the last tenth.
    winding : float, default 0.0
        How far the rotor is ahead of the joint at the start of a run, behind an elastic gear, rad
        or m. The rotor starts at rest.
    name : str
        The name in messages and of states; by default that of the joint.

    Raises
    ------
    StateError
        If a number is missing, not finite or out of range; all faults are named.
    """

    joint: str
    mode: str = "force"
    signal: float | Trajectory | HeldInput = 0.0
    signals: Span = None
    kp: float = 0.0
    kd: float = 0.0
    effort: float | None = None
    speed: float | None = None
    curve: tuple[tuple[float, float], ...] = ()
    delay: float = 0.0
    sample: float | None = None
    stiffness: float | None = None
    damping: float = 0.0
    backlash: float = 0.0
    inertia: float | None = None
    friction: float = 0.0
    viscous: float = 0.0
    heating: float | None = None
    cooling: float | None = None
    hottest: float | None = None
    winding: float = 0.0
    name: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.name or self.joint)
        points = tuple((float(w), float(f)) for w, f in self.curve)
        if self.speed is not None and self.effort is not None and not points:
            points = ((0.95 * self.speed, self.effort), (float(self.speed), 0.0))
        object.__setattr__(self, "curve", points)
        if faults := list(self._faults()):
            raise StateError(f"drive {self.name!r}: " + "; ".join(faults))

    def _faults(self) -> Any:
        """Yield what is wrong, in words."""
        if self.mode not in DRIVE_MODES:
            yield f"mode is {self.mode!r}; it is one of {', '.join(DRIVE_MODES)}"
        else:
            for key in DRIVE_MODES[self.mode].needs:
                if not getattr(self, key) > 0:
                    yield f"a {self.mode} servo needs {key} above zero"
        for key in ("kp", "kd", "delay", "damping", "backlash", "friction", "viscous"):
            value = getattr(self, key)
            if not (_number(value) and value >= 0):
                yield f"{key} is {value!r}; it is a number, zero or more"
        for key in ("effort", "speed", "sample", "stiffness", "inertia", "heating", "cooling"):
            value = getattr(self, key)
            if value is not None and not (_number(value) and value > 0):
                yield f"{key} is {value!r}; it is a number above zero"
        if any(b[0] <= a[0] or b[1] < 0 for a, b in pairwise(((-1.0, 0.0), *self.curve))):
            yield f"curve is {self.curve}; its speeds rise from zero, its forces are not below it"
        if (self.speed is not None or self.curve) and self.effort is None:
            yield "a limit by speed needs effort, the force that is left against the motion"
        if self.stiffness is not None and self.inertia is None:
            yield "an elastic gear needs the inertia of the rotor"
        if self.backlash and self.stiffness is None:
            yield "backlash needs a stiffness, of the teeth that meet"
        if self.delay and self.sample is None:
            yield "a delay needs a sample time"
        elif self.delay and self.sample:
            count = self.delay / self.sample
            if abs(count - round(count)) > 1e-6:
                yield f"delay = {self.delay:g} s is no whole number of samples of {self.sample:g} s"
        heat = [self.heating, self.cooling, self.hottest]
        if any(x is not None for x in heat) and (None in heat or self.effort is None):
            yield "a thermal limit needs heating, cooling, hottest and effort"

    def law(self, system: SystemSymbols) -> Law:
        """Return the force on the joint; states are the command's samples, the winding of an
        elastic gear and the speed of its rotor, and the rise of temperature, as far as there are
        any.
        """
        (at,) = places(system.mechanism, (self.joint,))
        q, v = system.q[at.qi], system.v[at.vi]
        states = _States(self.name)
        elastic = self.stiffness is not None
        wound = states.add("winding", self.winding) if elastic else ca.SX(0)
        angle, rate = q + wound, states.add("rotor speed") if elastic else v
        u = clip_signal(signal_value(system, self.name, self.signal), self.signals)
        command = DRIVE_MODES[self.mode].command(self, u, angle, rate)
        command = self._sampled(system, states, command)
        hot = states.add("temperature rise") if self.heating is not None else None
        motor = self._within(command, rate, hot)
        losses = self.friction * ca.tanh(rate / FRICTION_SPEED) + self.viscous * rate
        force = motor - losses
        if elastic:
            assert self.stiffness is not None and self.inertia is not None
            play = 0.5 * self.backlash
            meet = ca.fabs(wound) > play if play else 1
            spring = self.stiffness * (wound - ca.fmax(-play, ca.fmin(play, wound)))
            spring += self.damping * (rate - v) * meet
            states.rates({"winding": rate - v, "rotor speed": (force - spring) / self.inertia})
            force = spring
        if hot is not None:
            assert self.heating is not None and self.cooling is not None
            states.rates({"temperature rise": self.heating * motor**2 - hot / self.cooling})
        tau = [ca.SX(0)] * system.nv
        tau[at.vi] = force
        return states.law(vector(tau))

    def _within(self, command: Any, rate: Any, hot: Any) -> Any:
        """Return the command within what the motor can do at its speed and temperature."""
        if self.effort is None:
            return command
        share: Any = 1.0
        if hot is not None:
            assert self.hottest is not None
            share = ca.fmax(0, ca.fmin(1, (self.hottest - hot) / (0.1 * self.hottest)))
        along = against = self.effort
        if self.curve:
            along = _interpolated(ca.fabs(rate), self.curve)
        high = ca.if_else(rate > 0, along, against) * share
        low = ca.if_else(rate < 0, along, against) * share
        return ca.fmax(-low, ca.fmin(high, command))

    def _sampled(self, system: SystemSymbols, states: _States, command: Any) -> Any:
        """Return the command as it acts: sampled, held, and late by whole samples."""
        if self.sample is None:
            return command
        late = round(self.delay / self.sample)
        queue = [states.add(f"command {k} samples late") for k in range(late + 1)]
        due = states.clock(f"next sample, every {self.sample:g} s")
        now = system.t >= due - EARLY * self.sample
        for old, new in zip(queue, [command, *queue[:-1]], strict=False):
            states.jump(old, ca.if_else(now, new, old))
        states.jump(due, ca.if_else(now, system.t + self.sample, due))
        return queue[-1]


class _States:
    """The states of a drive while its law is written: symbols, rates, jumps."""

    def __init__(self, name: str):
        self.name = name
        self.symbols: dict[str, Any] = {}
        self.rate: dict[str, Any] = {}
        self.jumps: dict[str, Any] = {}
        self.starts: dict[str, float] = {}
        self.clocks: list[str] = []

    def add(self, name: str, start: float = 0.0) -> Any:
        self.starts[name] = float(start)
        self.symbols[name] = ca.SX.sym(name.replace(" ", "_"))
        return self.symbols[name]

    def clock(self, name: str) -> Any:
        self.clocks.append(name)
        return self.add(name, -1e300)  # the first sample is due at once

    def rates(self, found: dict[str, Any]) -> None:
        self.rate.update(found)

    def jump(self, symbol: Any, value: Any) -> None:
        name = next(n for n, s in self.symbols.items() if s is symbol)
        self.jumps[name] = value

    def law(self, tau: Any) -> Law:
        names = list(self.symbols)
        if not names:
            return Law(tau)
        return Law(
            tau,
            vector([self.rate.get(n, ca.SX(0)) for n in names]),
            vector(list(self.symbols.values())),
            tuple(f"{n} of {self.name}" for n in names),
            tuple(self.starts[n] for n in names),
            vector([self.jumps.get(n, self.symbols[n]) for n in names]) if self.clocks else None,
            tuple(names.index(n) for n in self.clocks),
        )


def _interpolated(x: Any, points: tuple[tuple[float, float], ...]) -> Any:
    """Return the value at x of a line through points, constant beyond them."""
    found: Any = ca.SX(points[-1][1])
    for (x0, y0), (x1, y1) in reversed(list(pairwise(points))):
        found = ca.if_else(x < x1, y0 + (y1 - y0) * (x - x0) / (x1 - x0), found)
    return ca.if_else(x <= points[0][0], points[0][1], found)


def _number(x: Any) -> bool:
    return isinstance(x, int | float | np.number) and bool(np.isfinite(x))


DRIVE_MODES: Registry[DriveMode] = Registry(
    "mode of a drive",
    (
        DriveMode("force", "the force itself", lambda drive, u, angle, rate: u),
        DriveMode(
            "position",
            "the target of a servo, kp (u - angle) - kd rate",
            lambda drive, u, angle, rate: drive.kp * (u - angle) - drive.kd * rate,
            ("kp",),
        ),
        DriveMode(
            "velocity",
            "the target of a servo, kd (u - rate)",
            lambda drive, u, angle, rate: drive.kd * (u - rate),
            ("kd",),
        ),
    ),
)
