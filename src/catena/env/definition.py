"""Environment: what a learner may do to a mechanism, what it sees of it, and what it is paid."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from ..errors import QuestionError
from ..model import Mechanism
from ..simulation.control import Actuator, DCMotor, Drive, Thruster

Motor = Actuator | DCMotor | Drive | Thruster
Interval = tuple[float, float]
# a number; (lowest, highest) of a uniform distribution; mean and deviation of a normal one
Spread = float | Interval | Mapping[str, float]


@dataclass(frozen=True)
class Environment:
    """A task for a learner: a mechanism, its motors, what is observed, the reward, and when an
    episode ends.

    Texts are those of `catena.linearize(outputs=...)`, such as "q['hip']" or "x['torso']". Two more
    quantities are `action['motor']`, the signal that acts, and `previous_` before any other one,
    its value before the step.

    Parameters
    ----------
    mechanism : Mechanism
        What moves.
    actions : sequence
        The motors: the name of a joint or coordinate, on which a force acts within its limits of
        effort; or an `Actuator`, `Drive`, `DCMotor` or `Thruster` of `catena.control`, whose
        signal is the action, within its range `signals`.
    observations : sequence of str
        What is observed: texts, and names of sensors of the mechanism, which stand for all their
        readings, errors included. In texts, sensor['gyro.x'] is a true value.
    reward : str or callable, default "1"
        A text, or a function of the `Worlds` after a step that returns one number for each world.
    alive : mapping of str to (float, float), optional
        Texts and the ranges within which an episode goes on. It ends where one is left.
    start : mapping of str to Spread, optional
        The coordinates, and speeds as v['name'], at the start of an episode: a number, (lowest,
        highest), or {"mean": .., "deviation": ..} of a normal distribution. Others are those of the
        neutral configuration, at rest. "q" and "v" stand for all that are not named: their
        spreads are added to the neutral values.
    parameters : mapping of str to Spread, optional
        Parameters of the mechanism that are drawn anew for each episode.
    choices : sequence of sequences of float, optional
        Where given, an action is the number of one of these rows, each with one signal per motor.
    time_step : float, default 0.02
        The time between two actions, s.
    step : float or None
        The step of the integrator, s; by default the time step.
    integrator : str, default "rk4"
        An integrator with equal explicit steps: "rk4", "euler" or "semi_implicit".
    speed_limits : mapping of str to (float, float), optional
        Ranges to which speeds are clipped after each step of the integrator, and before coordinates
        follow them by "semi_implicit".
    longest : int or None
        After how many actions an episode is truncated.
    contact : str, default "ignore"
        "ignore", or "time_stepping" for contacts, stops and dry friction of joints.
    limits : str, default "ignore"
        Limits of joints: "ignore", or "stop" with time stepping.
    name : str, default ""
        A name for messages.

    Raises
    ------
    QuestionError
        Where a field is not as described; all faults are listed.
    """

    mechanism: Mechanism
    actions: tuple[Motor, ...]
    observations: tuple[str, ...]
    reward: str | Callable[[Any], Any] = "1"
    alive: Mapping[str, Interval] = field(default_factory=dict)
    start: Mapping[str, Spread] = field(default_factory=dict)
    parameters: Mapping[str, Spread] = field(default_factory=dict)
    choices: tuple[tuple[float, ...], ...] = ()
    time_step: float = 0.02
    step: float | None = None
    integrator: str = "rk4"
    speed_limits: Mapping[str, Interval] = field(default_factory=dict)
    longest: int | None = None
    contact: str = "ignore"
    limits: str = "ignore"
    name: str = ""

    def __post_init__(self) -> None:
        set_field = partial(object.__setattr__, self)
        set_field("actions", tuple(_motor(self.mechanism, x) for x in self.actions))
        set_field("observations", tuple(self.observations))
        set_field("choices", tuple(tuple(map(float, row)) for row in self.choices))
        set_field("name", self.name or self.mechanism.name)
        if self.step is None:
            set_field("step", self.time_step)
        if faults := self._faults():
            raise QuestionError(f"environment {self.name!r}: " + "; ".join(faults))

    def _faults(self) -> list[str]:
        """Return what is wrong, in words."""
        faults = []
        for what in ("time_step", "step"):
            value = getattr(self, what)
            if not (isinstance(value, int | float) and 0 < value < np.inf):
                faults.append(f"{what} is {value!r}; it is a time above zero, s")
        if not faults:
            count = self.time_step / float(self.step or 1.0)
            if round(count) < 1 or abs(count - round(count)) > 1e-9 * count:
                faults.append(
                    f"time_step = {self.time_step:g} s is not a whole number of steps of"
                    f" {self.step:g} s"
                )
        if not self.observations:
            faults.append("observations is empty; a learner sees at least one quantity")
        nv = len(self.mechanism.speed_names)
        if not 1 <= len(self.actions) <= nv:
            faults.append(
                f"there are {len(self.actions)} actions; there is at least one, and at most one per"
                f" speed, {nv}"
            )
        for row in self.choices:
            if len(row) != len(self.actions):
                faults.append(f"the choice {row} has not one signal for each of the actions")
        for text, (low, high) in self.alive.items():
            if not low < high:
                faults.append(f"alive[{text!r}] is ({low}, {high}); the lower value is first")
        if self.longest is not None and self.longest < 1:
            faults.append(f"longest is {self.longest!r}; it is a number of steps from 1 on")
        if self.contact not in ("ignore", "time_stepping"):
            faults.append(f"contact is {self.contact!r}; it is 'ignore' or 'time_stepping'")
        if self.limits not in ("ignore", "stop"):
            faults.append(f"limits is {self.limits!r}; it is 'ignore' or 'stop'")
        elif self.limits == "stop" and self.contact == "ignore":
            faults.append("limits = 'stop' needs contact = 'time_stepping'")
        if self.speed_limits and self.contact != "ignore":
            faults.append("speed_limits cannot be combined with contacts")
        return faults

    @property
    def steps(self) -> int:
        """The number of steps of the integrator between two actions."""
        return round(self.time_step / float(self.step or self.time_step))

    @property
    def signals(self) -> np.ndarray:
        """(actions, 2): the lowest and highest signal of each motor, infinite where there is
        none.
        """
        ranges = [getattr(m, "signals", None) or (-np.inf, np.inf) for m in self.actions]
        return np.array(ranges, float).reshape(-1, 2)

    def with_(self, **changes: Any) -> Environment:
        """Return a copy with other fields."""
        return replace(self, **changes)


def _motor(mechanism: Mechanism, action: Any) -> Motor:
    """Return an action as a motor; a name stands for a force on that coordinate."""
    if not isinstance(action, str):
        return action  # type: ignore[no-any-return]  # its law is checked when it is traced
    joints = {c: j for j in mechanism.moving for c in (j.name, *j.coordinate_names)}
    joint = joints.get(action)
    if joint is None:
        known = ", ".join(joints)
        raise QuestionError(f"action {action!r} is no joint or coordinate; these are {known}")
    own = list(joint.coordinate_names)
    effort = float(joint.effort[own.index(action) if action in own else 0])
    span = (-effort, effort) if np.isfinite(effort) else None
    return Actuator({action: 1.0}, signals=span, name=action)
