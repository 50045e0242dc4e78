"""Adaptive steps of many runs, each lane with a time, a step and an end of its own.

A list of runs is advanced W at a time. Where a run ends its segment (its end is reached, a guard falls to zero, it cannot go on), its
lane is given the next run of the list: lanes do not wait for each other. No number of a run depends on its neighbours, so that the
runs of a batch are what they would be alone.

Arrays of lanes are flat, entry k of lane l at k W + l, as in `drivers.py`. Of the lanes themselves:

    who       the run in each lane, -1 where there is none         t, h, step     its time, the step wanted and the one tried, s
    verdict   whether the step is accepted                         error, last    of this step and the last accepted, beside what is allowed
    needs     whether its dense output is needed                   later          the step after this one, s
    event     the guard that falls in this step, -1 for none       theta          where, as a part of the step
"""

from __future__ import annotations

import numpy as np

from ..compiler.machine_function import call_block, machine_function, weighted
from .drivers import BEFORE, BETWEEN, EVENT, GROW, NOT_FINITE, NOW, REACHED, SAFETY, SHRINK, TOO_MANY, TOO_SMALL
from .lane_arithmetic import allowed, dense, put, settled, squares, stage, take
from .lane_events import locate

ACCEPTED, REJECTED, EVALUATIONS = range(3)  # columns of `tally`


# ---------------------------------------------------------------------------------------------------- lanes
def write(out, held, r, row, x, buffer, l, W):
    """A row of one run: its state, and what is held."""
    size, first = out.shape[2], (1 + out.shape[2]) * W + l
    for n in range(size):
        out[r, row, n] = x[n * W + l]
    for n in range(held.shape[2]):
        held[r, row, n] = buffer[first + n * W]


def enter(r, l, X, given, T, H, x, buffer, t, h, last, who, refused, fresh, W):
    """Put run r into lane l."""
    size = X.shape[1]
    for n in range(size):
        x[n * W + l] = X[r, n]
    for n in range(given.shape[1]):
        buffer[(1 + size + n) * W + l] = given[r, n]
    t[l] = T[r]
    h[l] = H[r]
    last[l] = 1.0
    who[l] = r
    refused[l] = 0
    fresh[l] = 1.0


def leave(status, event, l, X, T, H, ended, x, t, h, who, W):
    """Take the run of lane l out of it."""
    r = who[l]
    for n in range(X.shape[1]):
        X[r, n] = x[n * W + l]
    T[r] = t[l]
    H[r] = h[l]
    ended[r, 0] = status
    ended[r, 1] = event
    who[l] = -1


def lane_error(sums, both, step, nx, l):
    """The error of one lane beside what is allowed, root mean square over the state; infinite where it is not a number."""
    first = sums[0, l]
    if both > 1:  # Hairer's combination of an estimate of order 5 and one of order 3
        denominator = first + 0.01 * sums[1, l]
        size = abs(step) * first / np.sqrt(denominator * nx) if denominator != 0.0 else 0.0
    else:
        size = abs(step) * np.sqrt(first / nx)
    if not np.isfinite(size):
        return np.inf
    return size


# ---------------------------------------------------------------------------------------------------- the time loop
@machine_function("W", "s")
def advance(
    address, settle, guard, A, s, C, E, P, D, looks, order, degree, largest, rtol, times, runs, X, given, T, H, end, row, until_row,
    most, out, held, first, tally, ended, buffer, K, g, whole, W,
):  # fmt: skip
    """Advance the runs of a list, run r from T[r] to end[r] (s), with rows of `out` at times[row[r]:until_row[r]].

    runs: (n,) whole numbers. X (R, size), given (R, inputs): states; inputs, modes and parameters. H (R,): steps, s. most (R,):
    steps, after which a segment ends. out (R, rows, size), held (R, rows, nu): rows are written from `first` on. tally (R, 3)
    is added to; ended (R, 2): status and guard. g: guards and their rates of W lanes. whole: (4, W) whole numbers. looks: of `locate`.
    """
    size, stages = X.shape[1], K.shape[0]
    x, new, scratch, zero = np.zeros(size * W), np.zeros(size * W), np.zeros(size * W), np.zeros(size * W)
    e, beside, sums = np.zeros(size * W), np.zeros(size * W), np.zeros((2, W))
    g_new, values, before, w = np.zeros(len(g)), np.zeros(len(g)), np.zeros(len(g)), np.zeros((P.shape[0], W))
    floats, none = np.zeros((15, W)), np.zeros(W)
    t, h, step, last, later, error, part = floats[0], floats[1], floats[2], floats[3], floats[4], floats[5], floats[6]
    low, high, below, above = floats[7], floats[8], floats[9], floats[10]
    verdict, needs, fresh, due = floats[11], floats[12], floats[13], floats[14]
    who, event, refused, clipped = whole[0], whole[1], whole[2], whole[3]
    exponent, coming = -1.0 / order, 0
    for l in range(len(who)):
        who[l] = -1
    while True:
        # the next runs into lanes that are empty
        live, entering = 0, False
        for l in range(len(who)):
            fresh[l] = 0.0
            if who[l] < 0 and coming < len(runs):
                enter(runs[coming], l, X, given, T, H, x, buffer, t, h, last, who, refused, fresh, W)
                tally[runs[coming], EVALUATIONS] += 1
                coming += 1
                entering = True
            if who[l] >= 0:
                live += 1
        if live == 0:
            break
        if entering:
            put(buffer, x, t, none, step, W)
            call_block(address, buffer, scratch)
            take(K[0], scratch, fresh, W)
            if guard != 0:
                call_block(guard, buffer, values)
                take(g, values, fresh, W)
        # which of them are done, and the steps of the others
        left = False
        for l in range(len(who)):
            if who[l] >= 0:
                r, status = who[l], -1
                if not t[l] < end[r]:
                    status = REACHED
                elif most[r] <= 0:
                    status = TOO_MANY
                else:
                    h[l] = min(h[l], largest)
                    if h[l] < 16.0 * np.spacing(max(abs(t[l]), abs(end[r]))) and end[r] - t[l] > h[l]:
                        status = TOO_SMALL
                if status >= 0:
                    leave(status, -1, l, X, T, H, ended, x, t, h, who, W)
                    left = True
                else:
                    clipped[l] = 1 if t[l] + h[l] * 1.0000001 >= end[r] else 0
                    step[l] = end[r] - t[l] if clipped[l] > 0 else h[l]
        if left:
            continue
        for i in range(1, s):
            stage(address, buffer, x, K, A, C, i, t, step, W)
        stage(address, buffer, x, K, A, C, s, t, step, W)  # the derivative at the step's end; its state stands in buffer
        for n in range(size * W):
            new[n] = buffer[W + n]
        allowed(x, new, rtol, beside, W)
        for i in range(len(E)):
            weighted(zero, K, E, i, E.shape[1], 1.0, e, 0)
            squares(e, beside, sums[i], W)
        wanted = False
        for l in range(len(who)):
            verdict[l] = 0.0
            needs[l] = 0.0
            if who[l] >= 0:
                r = who[l]
                tally[r, EVALUATIONS] += s
                most[r] -= 1
                error[l] = lane_error(sums, len(E), step[l], size, l)
                if error[l] < 1.0:
                    verdict[l] = 1.0
                    error[l] = max(error[l], 1e-6)
                    later[l] = min(GROW, SAFETY * error[l] ** (NOW * exponent) * last[l] ** (BEFORE * exponent))
                    stop = end[r] if clipped[l] > 0 else t[l] + step[l]
                    if guard != 0 or (row[r] < until_row[r] and times[row[r]] < stop):
                        needs[l] = 1.0
                        wanted = True
                else:
                    tally[r, REJECTED] += 1
                    refused[l] = 1
                    if np.isfinite(error[l]):
                        h[l] = step[l] * max(SHRINK, SAFETY * error[l] ** exponent)
                    elif h[l] < 1e-12 * max(1.0, abs(t[l])):
                        leave(NOT_FINITE, -1, l, X, T, H, ended, x, t, h, who, W)
                    else:
                        h[l] = 0.1 * step[l]
        # is dense output good enough where it is needed?
        if wanted:
            for i in range(s + 1, stages):
                stage(address, buffer, x, K, A, C, i, t, step, W)
            weighted(zero, K, D, 0, D.shape[1], 1.0, e, 0)
            squares(e, beside, sums[0], W)
            for l in range(len(who)):
                if needs[l] > 0.0:
                    tally[who[l], EVALUATIONS] += stages - s - 1
                    inside = abs(step[l]) * np.sqrt(sums[0, l] / size) / BETWEEN
                    if not np.isfinite(inside):
                        inside = np.inf
                    fits = GROW if inside == 0.0 else SAFETY * inside ** (-1.0 / degree)
                    if fits < 0.7:
                        h[l] = step[l] * max(SHRINK, fits)
                        tally[who[l], REJECTED] += 1
                        refused[l] = 1
                        verdict[l] = 0.0
                    else:
                        later[l] = min(later[l], fits)
        accepted = 0
        for l in range(len(who)):
            event[l] = -1
            high[l] = 1.0
            if verdict[l] > 0.0:
                accepted += 1
                tally[who[l], ACCEPTED] += 1
                last[l] = error[l]
                later[l] = step[l] * min(1.0, later[l]) if refused[l] > 0 else step[l] * later[l]
                refused[l] = 0
        if accepted == 0:
            continue
        if guard != 0:
            locate(guard, buffer, x, new, K, P, looks, w, t, step, g, g_new, values, before, verdict, event, needs, low, high, below, above,
                   part, W)  # fmt: skip
        # rows within the steps, each lane's next one at a time
        rows_left = wanted
        while rows_left:
            rows_left = False
            for l in range(len(who)):
                due[l] = 0.0
                part[l] = 0.0
                if verdict[l] > 0.0:
                    r = who[l]
                    stop = end[r] if clipped[l] > 0 else t[l] + step[l]
                    if event[l] >= 0:
                        stop = t[l] + high[l] * step[l]
                    if row[r] < until_row[r]:
                        time = times[row[r]]
                        if time < stop or (time == stop and event[l] >= 0):  # the settled end of a step is better than dense output
                            due[l] = 1.0
                            part[l] = (time - t[l]) / step[l]
                            rows_left = True
            if rows_left:
                dense(P, part, w, x, K, step, scratch, 0, W)
                settled(settle, buffer, scratch, t, part, step, 1, W)
                for l in range(len(who)):
                    if due[l] > 0.0:
                        r = who[l]
                        write(out, held, r, first + row[r], scratch, buffer, l, W)
                        row[r] += 1
        # runs that meet an event are left at its instant
        met = False
        for l in range(len(who)):
            part[l] = 0.0
            due[l] = 0.0
            if event[l] >= 0:
                part[l] = high[l]
                due[l] = 1.0
                verdict[l] = 0.0
                met = True
        if met:
            dense(P, part, w, x, K, step, scratch, 0, W)
            settled(settle, buffer, scratch, t, part, step, 2, W)
            take(x, scratch, due, W)
            for l in range(len(who)):
                if due[l] > 0.0:
                    t[l] = t[l] + high[l] * step[l]
                    h[l] = min(later[l], step[l])
                    leave(EVENT, event[l], l, X, T, H, ended, x, t, h, who, W)
        # the others go to the end of their steps
        take(x, new, verdict, W)
        take(g, g_new, verdict, W)
        for l in range(len(who)):
            if verdict[l] > 0.0:
                r = who[l]
                t[l] = end[r] if clipped[l] > 0 else t[l] + step[l]
                h[l] = max(later[l], h[l]) if clipped[l] > 0 else later[l]
        if settle != 0:
            put(buffer, x, t, none, step, W)
            call_block(settle, buffer, scratch)
            take(x, scratch, verdict, W)
            put(buffer, x, t, none, step, W)
            call_block(address, buffer, scratch)
            take(K[0], scratch, verdict, W)
        else:
            take(K[0], K[s], verdict, W)
        for l in range(len(who)):
            if verdict[l] > 0.0:
                r = who[l]
                if settle != 0:
                    tally[r, EVALUATIONS] += 1
                while row[r] < until_row[r] and times[row[r]] <= t[l]:
                    write(out, held, r, first + row[r], x, buffer, l, W)
                    row[r] += 1
    return coming
