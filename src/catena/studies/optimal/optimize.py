"""`catena.optimize`: an optimal motion, or a best design."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ...machine.machine import Machine
from ...model.mechanism import Mechanism
from .motion import Motion, best_motion, solvers_for
from .motion_problem import MotionProblem
from .optimum import Optimum


def optimize(
    mechanism: Mechanism | Machine, *, cost: str | Mapping[str, float] = "torque squared", q: Any = None, v: Any = None,
    end: Mapping[str, Any] | None = None, until: float | tuple[float, float] = 1.0, actuated: Iterable[str] | None = None,
    bounds: Mapping[str, tuple[float, float]] | None = None, conditions: Mapping[str, Any] | None = None, design: Mapping[str, tuple[float, float]] | None = None,
    intervals: int = 50, method: str = "collocation", solver: str | None = None, parameters: Mapping[str, float] | None = None, tolerance: float = 1e-8,
    iterations: int = 1000,
) -> Optimum:  # fmt: skip
    """The motion of least cost from a start to an end.

    cost: "time", "torque squared", "energy", a text such as "tau_x^2 + v_x^2", or {one of these: weight}. q, v: the start, as of
    `simulate`. end: {"q": {name: value}, "v": {name: value} or "rest"}; what is not named is free. until: the duration (s), or a
    range in which it is free. actuated: the joints whose forces are free, by default those with a limit of effort, or all. bounds:
    {"q.x": (low, high), "v.x": ..., "tau.x": ...}, within the limits of the joints, which always hold. conditions: {text: value or
    (low, high)} that hold at the end of every interval. design: {parameter or "body.rod.mass": (low, high)}, unknowns as well. intervals:
    of constant forces. method: "collocation" or "shooting". solver: "fatrop" or "ipopt", by default the first, then the second where it
    finds nothing.
    """
    model = mechanism.mechanism if isinstance(mechanism, Machine) else mechanism
    problem = MotionProblem.of(model, q, v, until, actuated, design, intervals, parameters)
    ranges = problem.ranges(end or {}, bounds or {})
    return best_motion(Motion.of(problem, ranges, cost, method, conditions or {}), solvers_for(solver), tolerance, iterations)
