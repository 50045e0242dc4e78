"""Classic tasks of reinforcement learning, with the numbers of Gymnasium [Towers2024].

A task is a record whose `make` returns an Environment; `TASKS.register` adds one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from ..errors import QuestionError
from ..model import Body, Joint, Mechanism
from ..registry import Registry
from ..simulation.control import Actuator
from ..simulation.scenario import read as read_scenario
from .definition import Environment

GRAVITY_OF_GYMNASIUM = 9.8  # m/s2, in its classic tasks


@dataclass(frozen=True)
class Task:
    """A task by name. make(**options): its environment. needs: what has to be installed."""

    name: str
    doc: str
    make: Callable[..., Environment]
    needs: str = ""


def task(name: str, **options: Any) -> Environment:
    """Return the environment of a task.

    Parameters
    ----------
    name : str
        One of `TASKS`.
    **options
        Fields of the environment to be changed; of tasks from MJCF files also `contacts=True`, with
        which the robot touches the ground, by time stepping.

    Returns
    -------
    Environment
        The environment.

    Raises
    ------
    UnknownNameError
        If there is no such task.
    """
    return TASKS.find(name).make(**options)


def _rod(name: str, mass: float, length: float, up: float, inertia: float | None = None) -> Body:
    """Return a rod along z from its joint; up: 1 or -1."""
    about = mass * length**2 / 12 if inertia is None else inertia
    return Body(name, mass=mass, com=(0, 0, up * length / 2), inertia=(about, about, 0.0))


def _mechanism(name: str, bodies: list[Body], joints: list[Joint], g: float) -> Mechanism:
    return Mechanism(name, tuple(bodies), tuple(joints), gravity=(0, 0, -g))


def cart_pole(**options: Any) -> Environment:
    """Return the task of balancing a pole on a cart by pushes to the left or right: CartPole-v1.

    theta is zero where the pole stands upright, and grows as it falls along x.
    """
    cart = Body("cart", mass=1.0, com=(0, 0, 0), inertia=(0.01, 0.01, 0.01))
    pole = _rod("pole", 0.1, 1.0, 1.0)
    plant = _mechanism(
        "cart-pole",
        [cart, pole],
        [
            Joint("x", "prismatic", "ground", "cart", axis=(1, 0, 0)),
            Joint("theta", "revolute", "cart", "pole", axis=(0, 1, 0)),
        ],
        GRAVITY_OF_GYMNASIUM,
    )
    angle = 12 * 2 * math.pi / 360
    usual = {
        "mechanism": plant,
        "actions": [Actuator({"x": 10.0}, signals=(-1, 1), name="push")],
        "choices": [[-1], [1]],
        "observations": ["x", "v['x']", "theta", "v['theta']"],
        "alive": {"x": (-2.4, 2.4), "theta": (-angle, angle)},
        "start": {"q": (-0.05, 0.05), "v": (-0.05, 0.05)},
        "time_step": 0.02,
        "integrator": "euler",
        "longest": 500,
    }
    return Environment(**{**usual, **options})


def pendulum(**options: Any) -> Environment:
    """Return the task of swinging up a rod with a weak motor: Pendulum-v1. The angle is zero where
    it stands upright.
    """
    plant = _mechanism(
        "pendulum",
        [_rod("rod", 1.0, 1.0, 1.0)],
        [Joint("angle", "revolute", "ground", "rod", axis=(0, 1, 0))],
        10.0,
    )
    off = "atan2(sin(previous_q['angle']), cos(previous_q['angle']))"
    usual = {
        "mechanism": plant,
        "actions": [Actuator({"angle": 1.0}, signals=(-2, 2), name="motor")],
        "observations": ["cos(q['angle'])", "sin(q['angle'])", "v['angle']"],
        "reward": f"-({off}^2 + 0.1*previous_v['angle']^2 + 0.001*action['motor']^2)",
        "start": {"angle": (-math.pi, math.pi), "v": (-1.0, 1.0)},
        "speed_limits": {"angle": (-8.0, 8.0)},
        "time_step": 0.05,
        "integrator": "semi_implicit",
        "longest": 200,
    }
    return Environment(**{**usual, **options})


def acrobot(**options: Any) -> Environment:
    """Return the task of swinging the tip of two links above a line with a motor between them:
    Acrobot-v1. Both angles are zero where it hangs.
    """
    plant = _mechanism(
        "acrobot",
        [_rod("upper", 1.0, 1.0, -1.0, 1.0), _rod("lower", 1.0, 1.0, -1.0, 1.0)],
        [
            Joint("bar", "revolute", "ground", "upper", axis=(0, -1, 0)),
            Joint("elbow", "revolute", "upper", "lower", (0, 0, -1.0), axis=(0, -1, 0)),
        ],
        GRAVITY_OF_GYMNASIUM,
    )
    height = "-cos(q['bar']) - cos(q['bar'] + q['elbow'])"
    usual = {
        "mechanism": plant,
        "actions": [Actuator({"elbow": 1.0}, signals=(-1, 1), name="motor")],
        "choices": [[-1], [0], [1]],
        "observations": [
            "cos(q['bar'])",
            "sin(q['bar'])",
            "cos(q['elbow'])",
            "sin(q['elbow'])",
            "v['bar']",
            "v['elbow']",
        ],
        "reward": "ended - 1",  # -1, and 0 in the step that reaches the line
        "alive": {height: (-math.inf, 1.0)},
        "start": {"q": (-0.1, 0.1), "v": (-0.1, 0.1)},
        "speed_limits": {"bar": (-4 * math.pi, 4 * math.pi), "elbow": (-9 * math.pi, 9 * math.pi)},
        "time_step": 0.2,
        "longest": 500,
    }
    return Environment(**{**usual, **options})


def gymnasium_asset(name: str) -> Path:
    """Return the MJCF file of a robot of Gymnasium; raise a QuestionError where it is not
    installed.
    """
    from importlib.util import find_spec

    found = find_spec("gymnasium")
    if found is None or found.origin is None:
        raise QuestionError(
            f"task {name!r} reads the robot from the files of Gymnasium, which is not installed:"
            ' pip install "catena[learning]"'
        )
    return Path(found.origin).parent / "envs" / "mujoco" / "assets" / f"{name}.xml"


def motors(control: Any) -> tuple[Any, ...]:
    """Return the motors of a scenario's controllers, with names that are all different."""
    parts = control.parts if hasattr(control, "parts") else () if control is None else (control,)
    found: list[Any] = []
    for part in parts:
        found += motors(part) if hasattr(part, "parts") else [part]
    names = [x.name for x in found]
    return tuple(
        x if names.count(x.name) == 1 else replace(x, name=f"{x.name} {k}")
        for k, x in enumerate(found)
    )


def gymnasium_robot(
    name: str,
    *,
    forward: str,
    steps: int,
    step: float,
    seen: Callable[[Mechanism], list[str]],
    cost: float,
    contacts: bool = False,
    healthy: float = 0.0,
    contact_step: float = 0.002,
    **options: Any,
) -> Environment:
    """Return the task of running forwards with a robot of Gymnasium: the speed forwards, minus the
    cost of the signals squared, plus a reward for every step in which it has not fallen.

    Contacts are rigid, by time stepping, where Gymnasium's are springs, and their cost is not
    part of the reward.
    """
    file = gymnasium_asset(name)
    given = read_scenario(file, until=1.0, options={"contacts": contacts})
    own = motors(given.options.get("control"))
    squares = " + ".join(f"action['{m.name}']^2" for m in own)
    time_step = steps * step
    how: dict[str, Any] = (
        {"contact": "time_stepping", "limits": "stop", "step": contact_step}
        if contacts
        else {"step": step}
    )
    start = dict(options.pop("start", {}))
    if contacts:  # stops act, so that joints begin between them
        start = {**_between_stops(given.mechanism), **start}
    usual = dict(
        mechanism=given.mechanism,
        actions=own,
        start=start,
        observations=seen(given.mechanism),
        reward=f"({forward} - previous_{forward})/{time_step!r} - {cost!r}*({squares})"
        + (f" + {healthy!r}*(1 - ended)" if healthy else ""),
        time_step=time_step,
        longest=1000,
        name=name,
        **how,
    )
    return Environment(**{**usual, **options})


def _between_stops(mechanism: Mechanism) -> dict[str, Any]:
    """Return ranges about the middle for the coordinates whose limits do not include zero."""
    found = {}
    for joint in mechanism.moving:
        for name, low, high in zip(joint.coordinate_names, joint.lower, joint.upper, strict=False):
            if not low < 0.0 < high:
                middle, half = 0.5 * (low + high), 0.1 * (high - low)
                found[name] = (middle - half, middle + half)
    return found


def _all_but(mechanism: Mechanism, first: int, most: float = math.inf) -> list[str]:
    """Return all coordinates but the first, and all speeds, clipped where a limit is given."""
    v = [f"v['{name}']" for name in mechanism.speed_names]
    if most < math.inf:
        v = [f"min(max({x}, {-most!r}), {most!r})" for x in v]
    return [f"q['{name}']" for name in mechanism.coordinate_names[first:]] + v


hopper = partial(
    gymnasium_robot,
    "hopper",
    forward="q['rootx']",
    steps=4,
    step=0.002,
    seen=partial(_all_but, first=1, most=10.0),
    cost=1e-3,
    healthy=1.0,
    alive={"q['rootz']": (0.7, math.inf), "q['rooty']": (-0.2, 0.2)},
    start={"rootz": (1.245, 1.255), "q": (-5e-3, 5e-3), "v": (-5e-3, 5e-3)},
)
half_cheetah = partial(
    gymnasium_robot,
    "half_cheetah",
    forward="q['rootx']",
    steps=5,
    step=0.01,
    seen=partial(_all_but, first=1),
    cost=0.1,
    start={"q": (-0.1, 0.1), "v": {"mean": 0.0, "deviation": 0.1}},
)
ant = partial(
    gymnasium_robot,
    "ant",
    forward="x['torso']",
    steps=5,
    step=0.01,
    seen=partial(_all_but, first=2),
    cost=0.5,
    healthy=1.0,
    alive={"q['root.z']": (0.2, 1.0)},
    start={
        "root.z": (0.65, 0.85),
        "q": (-0.1, 0.1),
        "v": {"mean": 0.0, "deviation": 0.1},
    },
)
_FILES = "Gymnasium, for its MJCF file, and MuJoCo, which reads it"
TASKS: Registry[Task] = Registry(
    "task",
    (
        Task("cart_pole", "balance a pole on a cart: CartPole-v1", cart_pole),
        Task("pendulum", "swing up a rod with a weak motor: Pendulum-v1", pendulum),
        Task("acrobot", "swing the tip of two links above a line: Acrobot-v1", acrobot),
        Task("hopper", "hop forwards on one leg: Hopper-v5", hopper, _FILES),
        Task("half_cheetah", "run forwards on two legs: HalfCheetah-v5", half_cheetah, _FILES),
        Task("ant", "walk forwards on four legs: Ant-v5, without contact forces", ant, _FILES),
    ),
)
