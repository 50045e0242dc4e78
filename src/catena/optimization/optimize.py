"""`catena.optimize`: an optimal motion, or a best design."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from ..machine import Machine
from ..model import Mechanism
from .design import Design, best_design
from .motion import Motion, best_motion
from .motion_problem import MotionProblem
from .optimum import Optimum

ROUNDS = 5  # with intervals of half the length each


def optimize(
    mechanism: Mechanism | Machine,
    *,
    cost: str | Mapping[str, float] = "torque squared",
    q: Any = None,
    v: Any = None,
    end: Mapping[str, Any] | None = None,
    until: float | tuple[float, float] = 1.0,
    actuated: Iterable[str] | None = None,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    conditions: Mapping[str, Any] | None = None,
    design: Mapping[str, tuple[float, float]] | None = None,
    over: Mapping[str, Any] | None = None,
    points: Mapping[str, Any] | None = None,
    speeds: Mapping[str, float] | None = None,
    free: Iterable[str] = (),
    intervals: int = 50,
    method: str = "collocation",
    parameters: Mapping[str, float] | None = None,
    tolerance: float = 1e-8,
    iterations: int = 1000,
    accuracy: float | None = None,
    contacts: Mapping[str, str] | None = None,
) -> Optimum | Design:
    """The motion of least cost from a start to an end; with `over`, the design of least cost over
    poses.

    cost: "time", "torque squared", "energy", a text such as "tau_x^2 + v_x^2", or {one of these:
    weight}. q, v: the start, as of `simulate`. end: {"q": {name: value}, "v": {name: value} or
    "rest"}; what is not named is free. until: the duration (s), or a range in which it is free.
    actuated: the joints whose forces are free, by default those with a limit of effort, or all.
    bounds: {"q.x": (low, high), "v.x": ..., "tau.x": ...}, within the limits of the joints, which
    always hold. conditions: {text: value or (low, high)} that hold at the end of every interval.
    design: {parameter or "body.rod.mass": (low, high)}, unknowns as well. intervals: of constant
    forces. method: "collocation" or "shooting". accuracy: the intervals are halved, at most four
    times, until the forward simulation differs by no more. contacts: {contact: "open", "stick" or
    "slip"}: what each does all the time.

    A design: over: {coordinate: values (K,)}, the poses; other coordinates follow from the loops,
    or stay at q. cost: "distance", "torque squared", "shaking force", a text such as "tau_arm^2 +
    (x_tip - 1)^2", or {one of these: weight}. points: {frame: (K, 2) or (K, 3)}, m. speeds:
    {coordinate: constant speed}, otherwise all is at rest. free: the coordinates of `over` whose
    values are first guesses only. conditions hold in every pose.
    """
    model = mechanism.mechanism if isinstance(mechanism, Machine) else mechanism
    if over is not None:
        own: dict[str, Any] = {
            "points": points,
            "speeds": speeds,
            "free": free,
            "actuated": actuated,
            "conditions": conditions,
            "parameters": parameters,
        }
        return best_design(
            model,
            design=design or {},
            over=over,
            cost=cost,
            q=q,
            tolerance=tolerance,
            iterations=iterations,
            **own,
        )
    problem = MotionProblem.of(
        model, q, v, until, actuated, design, intervals, parameters, contacts
    )
    ranges = problem.ranges(end or {}, bounds or {})
    for round in range(ROUNDS):
        best, found = best_motion(
            Motion.of(problem, ranges, cost, method, conditions or {}), tolerance, iterations
        )
        if accuracy is None or best.difference <= accuracy or round == ROUNDS - 1:
            break
        problem = replace(problem, intervals=2 * problem.intervals)
        ranges = problem.ranges(end or {}, bounds or {}).near(*found)
    return best
