"""Adaptive steps of runs in lanes, each lane with a time, a step and an end of its own.

A list of runs is advanced W at a time. Where a run ends its segment (its end is reached, a guard
falls to zero, it cannot go on), its lane is given the next run of the list: lanes do not wait for
each other. No number of a run depends on its neighbours, so that the runs of a batch are what they
would be alone; a single run has W = 1.

Arrays of lanes are flat, entry k of lane l at k W + l, as in `drivers.py`. The records `runs`,
`lanes`, `memory`, `code`, `method` and `norm` are those of `lane_records.py`.
"""

from __future__ import annotations

import numpy as np

from ...compiler import call_block, machine_function, weighted
from ..terms.error_scales import FAR, FAST, FIRST
from ..terms.guard_sides import (
    GuardSides,
    record_event,
    record_pause,
    record_step,
    record_values,
    resume,
)
from .drivers import (
    DENSE_ERROR,
    ERROR_EXPONENT,
    EVENT,
    LARGEST_STEP_RATIO,
    LAST_ERROR_EXPONENT,
    NOT_FINITE,
    REACHED,
    SAFETY,
    SMALLEST_STEP_RATIO,
    STIFF,
    TOO_MANY,
    TOO_SMALL,
)
from .lane_arithmetic import allowed, dense, motion, put, settled, squares, stage, take, times_of
from .lane_events import locate
from .lane_records import Code, Norm, Runs, Tableau, lanes_of, memory_of
from .lane_stiffness import HITS, LAST, NEEDED, watch_stiffness

ACCEPTED, REJECTED, EVALUATIONS = range(3)  # columns of `tally`
LATE_EVENT = 0.9  # fraction of a step: an event after it has the accuracy of the step's end
# length of a step that is to meet an event, relative to the time until the event
STEP_BEYOND_EVENT = 1.015625
# time until an event in units of rounding of the time: a shorter one is not located more precisely
EVENT_ROUNDINGS = 1e4


# --- runs and lanes
def write(runs, r, x, buffer, l, W):
    """Write the next row of run r: its state x, and its inputs and modes."""
    size = runs.X.shape[1]
    row = runs.first + runs.row[r]
    for n in range(size):
        runs.out[r, row, n] = x[n * W + l]
    for n in range(runs.held.shape[2]):
        runs.held[r, row, n] = buffer[(1 + size + n) * W + l]
    runs.row[r] += 1


def enter(r, l, runs, lanes, memory, W):
    """Start to advance run r in lane l."""
    size = runs.X.shape[1]
    for n in range(size):
        memory.x[n * W + l] = runs.X[r, n]
        memory.origin[n * W + l] = runs.origin[r, n]
    for n in range(runs.given.shape[1]):
        memory.buffer[(1 + size + n) * W + l] = runs.given[r, n]
    lanes.t[l] = runs.T[r]
    lanes.h[l] = runs.H[r]
    lanes.last[l] = runs.watch[r, LAST] if runs.watch[r, LAST] > 0.0 else 1.0
    runs.watch[r, LAST] = 0.0
    lanes.who[l] = r
    lanes.refused[l] = 0
    lanes.fresh[l] = 1.0
    lanes.far[l] = runs.moved[r, 0]
    lanes.fast[l] = runs.moved[r, 1]
    runs.tally[r, EVALUATIONS] += 1


def leave(status, event, l, runs, lanes, memory, W):
    """Remove the run of lane l from its lane. status, event: why its segment ends, and the guard
    that ended it.
    """
    r = lanes.who[l]
    for n in range(runs.X.shape[1]):
        runs.X[r, n] = memory.x[n * W + l]
    runs.T[r] = lanes.t[l]
    runs.H[r] = lanes.h[l]
    runs.moved[r, 0] = lanes.far[l]
    runs.moved[r, 1] = lanes.fast[l]
    runs.ended[r, 0] = status
    runs.ended[r, 1] = event
    lanes.who[l] = -1


def first_step(norm, l, lanes, memory, W):
    """Choose the first step of lane l, whose step size is still negative: minus the largest allowed
    one (s).

    It is a small part of the time in which anything that moves or is set in motion covers the
    mechanism's length, or, where it has none, its present distance from zero.
    """
    place, speed, gain = 0.0, 0.0, 0.0
    for n in range(norm.table.shape[1]):
        place = max(place, norm.table[FAR, n] * abs(memory.x[n * W + l]))
        speed = max(speed, norm.table[FAST, n] * abs(memory.x[n * W + l]))
        gain = max(gain, norm.table[FAST, n] * abs(memory.K[0, n * W + l]))
    length = 1.0 if norm.limits[3] > 0.0 else place
    often = max(speed / length, np.sqrt(gain / length)) if length > 0.0 else 0.0
    lanes.h[l] = -lanes.h[l] / max(1.0, -lanes.h[l] * often / FIRST)


def admit(code, norm, which, coming, runs, lanes, memory, W):
    """Put the next runs of the list `which` into empty lanes. Return the number of lanes that hold
    a run, and the index in `which` of the run that comes next.
    """
    live, entering = 0, False
    for l in range(W):
        lanes.fresh[l] = 0.0
        if lanes.who[l] < 0 and coming < len(which):
            enter(which[coming], l, runs, lanes, memory, W)
            coming += 1
            entering = True
        if lanes.who[l] >= 0:
            live += 1
    if entering:
        put(memory.buffer, memory.x, lanes.t, lanes.none, lanes.step, W)
        call_block(code.rate, memory.buffer, memory.scratch)
        take(memory.K[0], memory.scratch, lanes.fresh, W)
        if code.guarded:
            call_block(code.guard, memory.buffer, memory.values)
            for l in range(W):
                if lanes.fresh[l] > 0.0:
                    resume(runs.guards, memory.values, lanes.who[l], l, W)
            take(memory.g, memory.values, lanes.fresh, W)
        for l in range(W):
            if lanes.fresh[l] > 0.0 and lanes.h[l] < 0.0:
                first_step(norm, l, lanes, memory, W)
    return live, coming


def remember_guards(code, runs, lanes, memory, W):
    """Store the guards of the marked lanes (due), in the states in which their segments end."""
    if len(runs.guards.edge) > 0:
        put(memory.buffer, memory.x, lanes.t, lanes.none, lanes.step, W)
        call_block(code.guard, memory.buffer, memory.values)
        for l in range(W):
            if lanes.due[l] > 0.0:
                record_values(runs.guards, memory.values, lanes.who[l], l, W)


def retire(code, largest, runs, lanes, memory, W):
    """Remove the runs that have reached their ends, and choose the next steps of the others. Return
    whether a run was removed.
    """
    left = False
    for l in range(W):
        if lanes.who[l] >= 0:
            r = lanes.who[l]
            t = lanes.t[l]
            status = -1
            if not t < runs.end[r]:
                status = REACHED
            elif runs.most[r] <= 0:
                status = TOO_MANY
            elif runs.watch[r, HITS] > runs.watch[r, NEEDED]:
                status = STIFF
                runs.watch[r, LAST] = lanes.last[l]
            else:
                lanes.h[l] = min(lanes.h[l], largest)
                if (
                    lanes.h[l] < 16.0 * np.spacing(max(abs(t), abs(runs.end[r])))
                    and runs.end[r] - t > lanes.h[l]
                ):
                    status = TOO_SMALL
            lanes.due[l] = 0.0
            lanes.event[l] = status
            if status >= 0:
                lanes.due[l] = 1.0
                left = True
            else:
                lanes.clipped[l] = 1 if t + lanes.h[l] * 1.0000001 >= runs.end[r] else 0
                lanes.step[l] = runs.end[r] - t if lanes.clipped[l] > 0 else lanes.h[l]
        else:
            lanes.due[l] = 0.0
    if left:
        remember_guards(code, runs, lanes, memory, W)
        for l in range(W):
            if lanes.due[l] > 0.0:
                record_pause(runs.guards, memory.g, lanes.who[l], l, W)
                leave(lanes.event[l], -1, l, runs, lanes, memory, W)
    return left


def end_of_step(r, l, runs, lanes):
    """Return the time at which the step of a lane ends, s."""
    return runs.end[r] if lanes.clipped[l] > 0 else lanes.t[l] + lanes.step[l]


# --- stages and errors
def explicit_stages(code, method, lanes, memory, first, last, W):
    """Compute the derivatives of the stages from `first` to before `last`."""
    for i in range(first, last):
        stage(
            code.rate,
            memory.buffer,
            memory.x,
            memory.K,
            method.A,
            method.C,
            i,
            lanes.t,
            lanes.step,
            W,
        )


def attempt(stages, code, method, norm, lanes, memory, W):
    """Compute a trial step in all lanes, and the sums of squares of its errors relative to the
    allowed ones. stages: the function that computes stages.
    """
    # the last is the derivative at the step's end, whose state is then in the buffer
    stages(code, method, lanes, memory, 1, method.s + 1, W)
    for n in range(len(memory.x)):
        memory.new[n] = memory.buffer[W + n]
    motion(
        memory.x,
        memory.origin,
        memory.K[0],
        norm.table,
        norm.limits,
        lanes.far,
        lanes.fast,
        lanes.step,
        lanes.reach,
        lanes.pace,
        lanes.base,
        W,
    )
    allowed(
        memory.x,
        memory.new,
        memory.origin,
        norm.table,
        norm.limits,
        lanes.reach,
        lanes.pace,
        lanes.base,
        lanes.step,
        memory.inverse_allowed,
        W,
    )
    for i in range(len(method.E)):
        weighted(memory.zero, memory.K, method.E, i, method.E.shape[1], 1.0, memory.e, 0)
        squares(memory.e, memory.inverse_allowed, memory.sums[i], W)


def lane_error(sums, both, step, nx, l):
    """Return the error of one lane relative to what is allowed, as the root mean square over the
    state; infinite where it is not a number.
    """
    first = sums[0, l]
    if both > 1:  # Hairer's combination of an estimate of order 5 and one of order 3
        denominator = first + 0.01 * sums[1, l]
        size = abs(step) * first / np.sqrt(denominator * nx) if denominator != 0.0 else 0.0
    else:
        size = abs(step) * np.sqrt(first / nx)
    if not np.isfinite(size):
        return np.inf
    return size


def judge(code, method, runs, lanes, memory, W):
    """Decide which trial steps are accepted, and choose the next step of each lane. Return whether
    dense output is needed.
    """
    exponent = -1.0 / method.order
    wanted = False
    for l in range(W):
        lanes.accepted[l] = 0.0
        lanes.needs[l] = 0.0
        if lanes.who[l] >= 0:
            r, step = lanes.who[l], lanes.step[l]
            runs.tally[r, EVALUATIONS] += method.s
            runs.most[r] -= 1
            error = lane_error(memory.sums, len(method.E), step, runs.X.shape[1], l)
            if error < 1.0:
                error = max(error, 1e-6)
                lanes.accepted[l] = 1.0
                lanes.error[l] = error
                lanes.inside[l] = error
                lanes.later[l] = min(
                    LARGEST_STEP_RATIO,
                    SAFETY
                    * error ** (ERROR_EXPONENT * exponent)
                    * lanes.last[l] ** (LAST_ERROR_EXPONENT * exponent),
                )
                if code.guarded or (
                    runs.row[r] < runs.until_row[r]
                    and runs.times[runs.row[r]] < end_of_step(r, l, runs, lanes)
                ):
                    lanes.needs[l] = 1.0
                    wanted = True
            else:
                runs.tally[r, REJECTED] += 1
                lanes.refused[l] = 1
                if np.isfinite(error):
                    lanes.h[l] = step * max(SMALLEST_STEP_RATIO, SAFETY * error**exponent)
                elif lanes.h[l] < 1e-12 * max(abs(runs.end[r]), abs(lanes.t[l])):
                    leave(NOT_FINITE, -1, l, runs, lanes, memory, W)
                else:
                    lanes.h[l] = 0.1 * step
    return wanted


def judge_dense_output(stages, code, method, runs, lanes, memory, W):
    """Reject steps whose dense output is needed and not accurate enough."""
    stages(code, method, lanes, memory, method.s + 1, len(memory.K), W)
    weighted(memory.zero, memory.K, method.D, 0, method.D.shape[1], 1.0, memory.e, 0)
    squares(memory.e, memory.inverse_allowed, memory.sums[0], W)
    for l in range(W):
        if lanes.needs[l] > 0.0:
            r = lanes.who[l]
            runs.tally[r, EVALUATIONS] += len(memory.K) - method.s - 1
            inside = abs(lanes.step[l]) * np.sqrt(memory.sums[0, l] / runs.X.shape[1]) / DENSE_ERROR
            if not np.isfinite(inside):
                inside = np.inf
            lanes.inside[l] = max(lanes.inside[l], inside * DENSE_ERROR)
            fits = (
                LARGEST_STEP_RATIO if inside == 0.0 else SAFETY * inside ** (-1.0 / method.degree)
            )
            if fits < 0.7:
                lanes.h[l] = lanes.step[l] * max(SMALLEST_STEP_RATIO, fits)
                runs.tally[r, REJECTED] += 1
                lanes.refused[l] = 1
                lanes.accepted[l] = 0.0
            else:
                lanes.later[l] = min(lanes.later[l], fits)


def accept(runs, lanes, W):
    """Count the accepted steps, and choose those after them. Return how many were accepted."""
    count = 0
    for l in range(W):
        lanes.event[l] = -1
        lanes.high[l] = 1.0
        if lanes.accepted[l] > 0.0:
            count += 1
            runs.tally[lanes.who[l], ACCEPTED] += 1
            lanes.last[l] = lanes.error[l]
            lanes.later[l] = (
                lanes.step[l] * min(1.0, lanes.later[l])
                if lanes.refused[l] > 0
                else lanes.step[l] * lanes.later[l]
            )
            lanes.refused[l] = 0
    return count


def refuse_far_beyond_events(runs, lanes, W):
    """Reject steps that go far beyond the event within them, if the error at the event may be
    larger than a step that ends there may have; the step is then repeated to end soon after the
    event. Errors are judged relative to the motion of the whole step, of which the motion up to the
    event is about the fraction `high`, and dense output may have a larger error than a step.
    """
    for l in range(W):
        early = lanes.event[l] >= 0 and lanes.high[l] < LATE_EVENT
        if early and lanes.inside[l] > lanes.high[l]:
            r, until = lanes.who[l], lanes.high[l] * lanes.step[l]
            if until > EVENT_ROUNDINGS * np.spacing(abs(lanes.t[l])):
                lanes.h[l] = STEP_BEYOND_EVENT * until
                lanes.event[l] = -1
                lanes.accepted[l] = 0.0
                lanes.refused[l] = 1
                runs.tally[r, ACCEPTED] -= 1
                runs.tally[r, REJECTED] += 1


# --- what a step leaves
def mark_rows_due(runs, lanes, W):
    """Mark the lanes whose next output row lies within their step, and compute the fraction of the
    step at which it does. Return whether there are any.
    """
    any_due = False
    for l in range(W):
        lanes.due[l] = 0.0
        lanes.part[l] = 0.0
        if lanes.accepted[l] > 0.0:
            r = lanes.who[l]
            stop = (
                lanes.t[l] + lanes.high[l] * lanes.step[l]
                if lanes.event[l] >= 0
                else end_of_step(r, l, runs, lanes)
            )
            if runs.row[r] < runs.until_row[r]:
                time = runs.times[runs.row[r]]
                # the projected end of a step is more accurate than dense output
                if time < stop or (time == stop and lanes.event[l] >= 0):
                    lanes.due[l] = 1.0
                    lanes.part[l] = (time - lanes.t[l]) / lanes.step[l]
                    any_due = True
    return any_due


def rows_within(code, method, runs, lanes, memory, W):
    """Write the output rows that lie within the steps, one row of each lane at a time."""
    while mark_rows_due(runs, lanes, W):
        dense(method.P, lanes.part, memory.w, memory.x, memory.K, lanes.step, memory.scratch, 0, W)
        settled(code.settle, memory.buffer, memory.scratch, lanes.t, lanes.part, lanes.step, 1, W)
        for l in range(W):
            if lanes.due[l] > 0.0:
                write(runs, lanes.who[l], memory.scratch, memory.buffer, l, W)


def stop_at_events(code, method, runs, lanes, memory, W):
    """End the segments of runs that meet an event, at the instant of the event, and remove the runs
    from their lanes.
    """
    met = False
    for l in range(W):
        lanes.part[l] = 0.0
        lanes.due[l] = 0.0
        if lanes.event[l] >= 0:
            lanes.part[l] = lanes.high[l]
            lanes.due[l] = 1.0
            lanes.accepted[l] = 0.0
            met = True
    if met:
        remember_sides(code, method, runs, lanes, memory, W)
        dense(method.P, lanes.part, memory.w, memory.x, memory.K, lanes.step, memory.scratch, 0, W)
        settled(code.settle, memory.buffer, memory.scratch, lanes.t, lanes.part, lanes.step, 2, W)
        take(memory.x, memory.scratch, lanes.due, W)
        for l in range(W):
            if lanes.due[l] > 0.0:
                lanes.t[l] = lanes.t[l] + lanes.high[l] * lanes.step[l]
                if lanes.clipped[l] == 0:  # a step cut short by the end says nothing of the next
                    lanes.h[l] = min(lanes.later[l], lanes.step[l])
        remember_guards(code, runs, lanes, memory, W)
        for l in range(W):
            if lanes.due[l] > 0.0:
                leave(EVENT, lanes.event[l], l, runs, lanes, memory, W)


def remember_sides(code, method, runs, lanes, memory, W):
    """Store on which side of zero the guards are at the events of the marked lanes (due)."""
    if len(runs.guards.edge) > 0:
        dense(method.P, lanes.part, memory.w, memory.x, memory.K, lanes.step, memory.buffer, W, W)
        times_of(memory.buffer, lanes.t, lanes.part, lanes.step, W)
        call_block(code.guard, memory.buffer, memory.values)
        for l in range(W):
            if lanes.due[l] > 0.0:
                r = lanes.who[l]
                record_step(runs.guards, memory.g, memory.g_new, r, l, W)
                record_event(runs.guards, memory.before, memory.values, lanes.event[l], r, l, W)


def move_on(code, method, runs, lanes, memory, W):
    """Advance the runs whose steps were accepted to the ends of these steps, and write the output
    rows that lie there.
    """
    take(memory.x, memory.new, lanes.accepted, W)
    if code.guarded:
        for l in range(W):
            if lanes.accepted[l] > 0.0:
                record_step(runs.guards, memory.g, memory.g_new, lanes.who[l], l, W)
        take(memory.g, memory.g_new, lanes.accepted, W)
    for l in range(W):
        if lanes.accepted[l] > 0.0:
            lanes.t[l] = end_of_step(lanes.who[l], l, runs, lanes)
            lanes.h[l] = max(lanes.later[l], lanes.h[l]) if lanes.clipped[l] > 0 else lanes.later[l]
    if code.settle != 0:
        put(memory.buffer, memory.x, lanes.t, lanes.none, lanes.step, W)
        call_block(code.settle, memory.buffer, memory.scratch)
        take(memory.x, memory.scratch, lanes.accepted, W)
        put(memory.buffer, memory.x, lanes.t, lanes.none, lanes.step, W)
        call_block(code.rate, memory.buffer, memory.scratch)
        take(memory.K[0], memory.scratch, lanes.accepted, W)
    else:
        take(memory.K[0], memory.K[method.s], lanes.accepted, W)
    for l in range(W):
        if lanes.accepted[l] > 0.0:
            r = lanes.who[l]
            if code.settle != 0:
                runs.tally[r, EVALUATIONS] += 1
            while runs.row[r] < runs.until_row[r] and runs.times[runs.row[r]] <= lanes.t[l]:
                write(runs, r, memory.x, memory.buffer, l, W)


# --- the time loop
def advance_lanes(stages, watched, code, method, norm, largest, which, runs, lanes, memory, W):
    """Advance the runs of a list `which`. Return how many runs were advanced. stages: a function
    that computes stages. watched: whether to test for stiffness.
    """
    coming = 0
    while True:
        live, coming = admit(code, norm, which, coming, runs, lanes, memory, W)
        if live == 0:
            break
        if retire(code, largest, runs, lanes, memory, W):
            continue
        attempt(stages, code, method, norm, lanes, memory, W)
        wanted = judge(code, method, runs, lanes, memory, W)
        if wanted:
            judge_dense_output(stages, code, method, runs, lanes, memory, W)
        if accept(runs, lanes, W) == 0:
            continue
        if code.guarded:
            locate(code.guard, method, lanes, memory, W)
            refuse_far_beyond_events(runs, lanes, W)
        if wanted:
            rows_within(code, method, runs, lanes, memory, W)
        if code.guarded:
            stop_at_events(code, method, runs, lanes, memory, W)
        if watched:
            watch_stiffness(method, runs, lanes, memory, W)
        move_on(code, method, runs, lanes, memory, W)
    return coming


@machine_function(
    "W", "s", "guarded", "watched", quick=True
)  # a call takes some thousands of steps at most
def advance(
    rate,
    settle,
    guard,
    A,
    s,
    C,
    E,
    P,
    D,
    looks,
    order,
    degree,
    largest,
    table,
    limits,
    times,
    which,
    X,
    given,
    T,
    H,
    end,
    row,
    until_row,
    most,
    out,
    held,
    first,
    tally,
    ended,
    origin,
    moved,
    edge,
    sides,
    seen,
    distant,
    watch,
    buffer,
    K,
    g,
    whole,
    guarded,
    watched,
    W,
):
    """Advance the runs of a list `which`, run r from T[r] to end[r] (s), with rows of `out` at
    times[row[r]:until_row[r]]. Return how many runs were advanced.

    The arrays are those of `lane_records.py` and, from `edge` to `distant`, of `guard_sides.py`. g:
    guards and their rates of W lanes. whole: scratch memory of (4, W) integers. watched: whether to
    test for stiffness.
    """
    code = Code(rate, settle, guard, guarded)
    method = Tableau(A, s, C, E, P, D, looks, order, degree)
    runs = Runs(
        X,
        given,
        T,
        H,
        end,
        times,
        row,
        until_row,
        most,
        out,
        held,
        first,
        tally,
        ended,
        origin,
        moved,
        GuardSides(edge, sides, seen, distant),
        watch,
    )
    norm = Norm(table, limits)
    lanes = lanes_of(whole, W)
    memory = memory_of(X.shape[1], K, buffer, g, P.shape[0], W)
    return advance_lanes(
        explicit_stages, watched, code, method, norm, largest, which, runs, lanes, memory, W
    )
