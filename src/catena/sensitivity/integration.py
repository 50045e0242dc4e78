"""The integration of one segment of a run: together with variations, or step by step."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..compiler import default_width
from ..contact import SLIP
from ..errors import StudyError
from ..simulation.integrators import AdaptiveRuns, drivers, fixed_step
from ..simulation.planning import FIRST, RunPlan
from ..simulation.terms import FINEST, SHARE
from .linearised import Linearised
from .smooth_segments import Segment

Array = NDArray[np.float64]


def equal_steps(plan: RunPlan, segment: Segment) -> tuple[int, float]:
    """Return the number of equal steps of a segment, none longer than the plan's, and their size
    (s).
    """
    length = segment.end - segment.short - segment.begin
    count = max(1, int(np.ceil(length / plan.step - 1e-9)))
    return count, length / count


def integrate_segment(
    plan: RunPlan,
    tapes: Linearised,
    segment: Segment,
    x: Array,
    dx: Array,
    p: Array,
    dp: Array,
    du: Array,
) -> tuple[Array, Array]:
    """Return x (size,) and dx (size, n) at the end of a segment.

    dx: the variations at its begin; dp (parameters, n) and du (nv, n): those of parameters and
    forces.
    """
    n, width = dx.shape[1], default_width()
    found = np.zeros_like(dx)
    for first in range(0, n, width):
        rows = slice(first, min(first + width, n))
        W = 1 << (rows.stop - first - 1).bit_length()
        lanes = [np.zeros((len(y), W)) for y in (dx, dp, du)]
        for own, y in zip(lanes, (dx, dp, du)):
            own[:, : rows.stop - first] = y[:, rows]
        end = _advance(plan, tapes, segment, x, p, *lanes)
        found[:, rows] = end[tapes.size :, : rows.stop - first]
    return end[: tapes.size, 0], found


def _advance(
    plan: RunPlan,
    tapes: Linearised,
    segment: Segment,
    x: Array,
    p: Array,
    dx: Array,
    dp: Array,
    du: Array,
) -> Array:
    """Return the state and its variations at the end of a segment, W of them in lanes, (2
    size, W).
    """
    W, m = dx.shape[1], plan.how
    whole = [np.repeat(y[:, None], W, axis=1) for y in (x, segment.held, p)]
    state = np.vstack([whole[0], dx])
    given = np.vstack([whole[1], whole[2], dp, du])
    addresses = tapes.address("tangent flow", W), tapes.address("tangent settle", W)
    if m.kind == "fixed":
        steps, h = equal_steps(plan, segment)
        buffer = np.vstack([np.zeros((1, W)), state, given]).reshape(-1)
        K = np.zeros((max(len(m.A), 1), state.size))
        status, t, _, _ = fixed_step.explicit(
            *addresses,
            m.A,
            m.B[None],
            m.C,
            state.reshape(-1),
            buffer,
            K,
            np.zeros((W, 0, tapes.nv)),
            1,
            0,
            segment.begin,
            h,
            steps,
            steps + 1,
            np.zeros((W, 1, len(state))),
            0,
            W,
        )
    else:
        runs = _adaptive(plan, segment, state.T, given.T)
        status = runs.finish(*addresses, _end(plan, segment), plan.most)
        t = runs.t.min()
        state = runs.x.T
    if status != drivers.REACHED:
        raise StudyError(
            f"the variations of the run stop at t = {t:.6g} s: {drivers.OUTCOMES[status]}"
        )
    return state


def _end(plan: RunPlan, segment: Segment) -> float:
    """Return the time (s) at which the integration of a segment ends."""
    return min(segment.end - segment.short, plan.before_switch(segment.begin))


def _adaptive(plan: RunPlan, segment: Segment, x: Array, given: Array) -> AdaptiveRuns:
    """Return adaptive runs (W, size) in lanes from the begin of a segment on."""
    begin = plan.after_switch(segment.begin)
    x = np.ascontiguousarray(x)
    given = np.ascontiguousarray(given)
    scales = plan.scales.with_others(x.shape[1] - plan.system.size)
    return AdaptiveRuns(
        plan.how,
        x,
        given,
        h=-FIRST * (_end(plan, segment) - begin),
        t=begin,
        width=len(x),
        rtol=max(SHARE * plan.tolerance, FINEST),
        scales=scales,
        origin=scales.origin(x),
        largest=plan.largest,
    )


def step_times(
    plan: RunPlan, tapes: Linearised, segment: Segment, x: Array, p: Array
) -> tuple[Array, Array]:
    """Return the times (s) at which the steps of a segment begin, and their sizes."""
    if plan.how.kind == "fixed":
        count, h = equal_steps(plan, segment)
        return np.asarray(segment.begin + h * np.arange(count), np.float64), np.full(count, h)
    state, given, addresses = _followed(plan, tapes, segment, x, p)
    runs = _adaptive(plan, segment, state[None], given[None])
    begins = [plan.after_switch(segment.begin)]
    while begins[-1] < _end(plan, segment):
        status = runs.finish(*addresses, _end(plan, segment), 1)
        if runs.t[0] > begins[-1]:
            begins.append(float(runs.t[0]))
        if status not in (drivers.REACHED, drivers.TOO_MANY) or len(begins) > plan.most:
            raise StudyError(
                f"the run of which sensitivities are asked stops at t = {runs.t[0]:.6g} s:"
                f" {drivers.OUTCOMES[status]}"
            )
    found = np.array(begins, dtype=np.float64)
    return found[:-1], found[1:] - found[:-1]


def _followed(
    plan: RunPlan, tapes: Linearised, segment: Segment, x: Array, p: Array
) -> tuple[Array, Array, tuple[int, int]]:
    """Return the state that determines the steps, its inputs, and the addresses of its compiled
    functions.

    It is the state of the run; where a contact slips, a variation is added, because variations
    across the direction of slip become stiff as the slip ends.
    """
    h = plan.system.holding
    nv = plan.system.nv
    given = np.concatenate([segment.held, p])
    if not any(
        h.mode(h.first_contact + k, segment.held[nv:]).word == SLIP and c.rough
        for k, c in enumerate(h.contacts)
    ):
        return x.copy(), given, (tapes.address("flow", 1), tapes.address("settle", 1))
    both = np.append(x, np.random.default_rng(0).standard_normal(len(x)))
    return (
        both,
        np.append(given, np.zeros(tapes.np + nv)),
        (tapes.address("tangent flow", 1), tapes.address("tangent settle", 1)),
    )
