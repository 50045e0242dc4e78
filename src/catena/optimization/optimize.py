"""`catena.optimize`: an optimal motion, or an optimal design."""

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

MAX_REFINEMENTS = 5  # solutions, each with intervals of half the length of those before


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
    """Find the motion of least cost from a start to an end; with `over`, the design of least cost
    over poses.

    Parameters
    ----------
    mechanism : Mechanism or Machine
        The mechanism.
    cost : str or mapping, default "torque squared"
        Of a motion: "time", "torque squared", "energy", or a text such as "tau_x^2 + v_x^2". Of a
        design: "distance", "torque squared", "shaking force", or a text such as "tau_arm^2 + (x_tip
        - 1)^2". Or {one of these: weight}.
    q, v : array_like, mapping or None
        The start of a motion, as for `catena.simulate`; q also holds coordinates of poses that
        `over` does not name.
    end : mapping or None, default None
        {"q": {name: value}, "v": {name: value} or "rest"}; what is not named is free.
    until : float or (float, float), default 1.0
        The duration (s), or a range in which it is free.
    actuated : iterable of str or None, default None
        The joints whose forces are free; by default those with a limited effort, or all.
    bounds : mapping or None, default None
        {"q.x": (low, high), "v.x": ..., "tau.x": ...}, in addition to the limits of the joints.
    conditions : mapping or None, default None
        {text: value or (low, high)} that hold at the end of every interval, or in every pose.
    design : mapping or None, default None
        {parameter or "body.rod.mass": (low, high)}: unknown parameters.
    over : mapping or None, default None
        {coordinate: values (K,)}: the poses of a design; other coordinates follow from the loops,
        or stay at q.
    points : mapping or None, default None
        {frame: (K, 2) or (K, 3)}, m: where "distance" wants frames to be.
    speeds : mapping or None, default None
        {coordinate: constant speed} of a design; None means at rest.
    free : iterable of str, default ()
        The coordinates of `over` whose values are first guesses only.
    intervals : int, default 50
        The number of intervals of constant forces.
    method : {"collocation", "shooting"}, default "collocation"
        The transcription.
    parameters : mapping or None, default None
        Values of the mechanism's parameters.
    tolerance : float, default 1e-8
        The tolerance of Ipopt.
    iterations : int, default 1000
        The most iterations of Ipopt.
    accuracy : float or None, default None
        Intervals are halved, at most four times, until the forward simulation differs by no more,
        relative to the largest coordinate or speed; None means once as given.
    contacts : mapping or None, default None
        {contact: "open", "stick" or "slip"}: its mode during the whole motion.

    Returns
    -------
    Optimum or Design
        The motion with a forward simulation of its forces, or the design.

    Raises
    ------
    StudyError
        If the request is not possible, or no optimum was found; the message names the condition
        that is violated most.

    Examples
    --------
    >>> import catena
    >>> arm = catena.load("two_link_arm")
    >>> goal = {"q": {"elbow": 0.5}, "v": "rest"}
    >>> catena.optimize(arm, end=goal, intervals=10).forces.shape
    (10, 2)
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
    for round in range(MAX_REFINEMENTS):
        best, found = best_motion(
            Motion.of(problem, ranges, cost, method, conditions or {}), tolerance, iterations
        )
        if accuracy is None or best.difference <= accuracy or round == MAX_REFINEMENTS - 1:
            break
        problem = replace(problem, intervals=2 * problem.intervals)
        ranges = problem.ranges(end or {}, bounds or {}).near(*found)
    return best
