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

from typing import Any

import numpy as np

from ..compiler.kernel_compiler import Module
from ..compiler.kernel_intrinsics import intrinsic
from ..compiler.kernel_text import Array, Value
from ..compiler.machine_function import call_block, machine_function
from .drivers import (
    BEFORE, BETWEEN, EVENT, GROW, NOT_FINITE, NOW, REACHED, SAFETY, SHRINK, TOO_MANY, TOO_SMALL, _allowed, _squares,
)  # fmt: skip

ACCEPTED, REJECTED, EVALUATIONS = range(3)  # columns of `tally`
LOOKS = 8  # places within a step at which guards are looked at
OVERSHOOT = 2.0  # of a secant's step across a zero, so that both ends of its interval close in
CLOSE = 1e-14  # of an interval's distance from the step's start: below it the interval is halved
SECANTS, MOST_LOOKS = 12, 200  # places looked at before every other one is the middle; at most


# ---------------------------------------------------------------------------------------------------- sums over stages
def lane_sums(x: Any, K: Any, w: Any, count: Any, h: Any, out: Any, offset: Any, W: Any) -> None:
    """out[offset + n] = x[n] + h_l sum_i w_i K[i, n] over i < count, with l = n mod W. w: (count,), or (count, W) for weights of each lane."""
    raise TypeError("lane_sums is for machine functions")


@intrinsic(lane_sums)
def _lane_sums(m: Module, x: Array, K: Array, w: Array, count: Any, h: Array, out: Array, offset: Any, W: int) -> None:
    own = len(w.shape) == 2
    name = f"lane_sums{W}{'own' if own else ''}"
    if name not in m.helpers:
        m.helpers[name] = _sums_text(m, name, W, own)
    target = m.place(out, (offset,))
    size, width = (m.later(s, "int").name for s in (x.shape[0], K.shape[1]))
    given = f"ptr {x.pointer}, ptr {K.pointer}, i64 {width}, ptr {w.pointer}, i64 {m.later(count, 'int').name}"
    m.do(f"call void @{name}({given}, ptr {h.pointer}, ptr {target.pointer}, i64 {size})")


def _sums_text(m: Module, name: str, W: int, own: bool) -> list[str]:
    inner = Module(1, m.fused)
    inner.text.lines = []
    parameters = "ptr x", "ptr K", "i64 width", "ptr w", "i64 count", "ptr h", "ptr out", "i64 size"
    with inner.function(name, *parameters, linkage="internal ") as (x, K, width, w, count, h, out, size):
        begin: Any = 0
        n, total = Value("int", size), Value("int", count)
        for registers in (4, 1):
            with inner.lanes(W):
                begin = inner.call(_summed, Array(x, (n,), "window"), Array(K, (total, Value("int", width)), "window"),
                                   Array(w, (total,), "window" if own else "double"), W if own else 1, total,
                                   Array(h, (W,), "window"), Array(out, (n,), "window"), begin, W, registers)  # fmt: skip
    return inner.text.lines


def _summed(x, K, w, stride, count, h, out, n, lanes, registers):  # type: ignore[no-untyped-def]  # over lanes
    """The sums for whole blocks of lanes * registers numbers from n on; where they end."""
    while n + lanes * registers <= len(x):
        if registers == 4:
            a, b, c, d = 0.0, 0.0, 0.0, 0.0
            for i in range(count):
                a += w[i * stride] * K[i, n]
                b += w[i * stride] * K[i, n + lanes]
                c += w[i * stride] * K[i, n + 2 * lanes]
                d += w[i * stride] * K[i, n + 3 * lanes]
            out[n] = x[n] + h[0] * a
            out[n + lanes] = x[n + lanes] + h[0] * b
            out[n + 2 * lanes] = x[n + 2 * lanes] + h[0] * c
            out[n + 3 * lanes] = x[n + 3 * lanes] + h[0] * d
        else:
            total = 0.0
            for i in range(count):
                total += w[i * stride] * K[i, n]
            out[n] = x[n] + h[0] * total
        n += lanes * registers
    return n


# ---------------------------------------------------------------------------------------------------- lanes
def put(buffer, x, t, part, step):
    """Let the buffer hold these states, at the time t + part step of each lane; part is one number or one per lane."""
    for l in range(len(t)):
        buffer[l] = t[l] + part * step[l]
    for n in range(len(x)):
        buffer[len(t) + n] = x[n]


def stage(address, buffer, x, K, A, i, c, t, step, W):
    """k_i at x + step sum_j A_ij k_j."""
    lane_sums(x, K, A[i], i, step, buffer, W, W)
    for l in range(len(t)):
        buffer[l] = t[l] + c * step[l]
    call_block(address, buffer, K[i])


def dense(P, part, w, x, K, step, out, W):
    """The states at the place `part` of each lane's step: weights w_i = sum_d P_id part^d, then x + step sum_i w_i k_i."""
    for i in range(P.shape[0]):
        for l in range(len(part)):
            total, power = 0.0, part[l]
            for d in range(P.shape[1]):
                total += P[i, d] * power
                power *= part[l]
            w[i, l] = total
    lane_sums(x, K, w, P.shape[0], step, out, 0, W)


def at_part(buffer, x, t, part, step, W):
    """Let the buffer hold these states, each at the place `part` of its step."""
    for l in range(len(t)):
        buffer[l] = t[l] + part[l] * step[l]
    for n in range(len(x)):
        buffer[W + n] = x[n]


def take(into, values, chosen, W):
    """Copy the lanes that are chosen."""
    for n in range(0, len(into), W):
        for l in range(len(chosen)):
            if chosen[l] > 0:
                into[n + l] = values[n + l]


def settled(settle, buffer, x, t, part, step, rounds, W):
    """Put states back on their constraints."""
    if settle != 0:
        for _ in range(rounds):
            at_part(buffer, x, t, part, step, W)
            call_block(settle, buffer, x)


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
    fresh[l] = 1


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
    address, settle, guard, A, s, C, E, P, D, order, degree, largest, rtol, atol, times, runs, X, given, T, H, end, row, until_row,
    most, out, held, first, tally, ended, buffer, K, g, whole, W,
):  # fmt: skip
    """Advance the runs of a list, run r from T[r] to end[r] (s), with rows of `out` at times[row[r]:until_row[r]].

    runs: (n,) whole numbers. X (R, size), given (R, inputs): states; inputs, modes and parameters. H (R,): steps, s. most (R,):
    steps, after which a segment ends. out (R, rows, size), held (R, rows, nu): rows are written from `first` on. tally (R, 3)
    is added to; ended (R, 2): status and guard. g: guards and their rates of W lanes. whole: (8, W) whole numbers.
    """
    size, stages = X.shape[1], K.shape[0]
    x, new, scratch, zero = np.zeros(size * W), np.zeros(size * W), np.zeros(size * W), np.zeros(size * W)
    e, beside, sums = np.zeros(size * W), np.zeros(size * W), np.zeros((2, W))
    g_new, values, before, w = np.zeros(len(g)), np.zeros(len(g)), np.zeros(len(g)), np.zeros((P.shape[0], W))
    floats = np.zeros((11, W))
    t, h, step, last, later, error, part, high, above = (
        floats[0], floats[1], floats[2], floats[3], floats[4], floats[5], floats[6], floats[7], floats[8])  # fmt: skip
    low, below = floats[9], floats[10]
    who, verdict, needs, event, refused, fresh, clipped, due = (
        whole[0], whole[1], whole[2], whole[3], whole[4], whole[5], whole[6], whole[7])  # fmt: skip
    exponent, coming = -1.0 / order, 0
    for l in range(len(who)):
        who[l] = -1
    while True:
        # the next runs into lanes that are empty
        live, entering = 0, False
        for l in range(len(who)):
            fresh[l] = 0
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
            put(buffer, x, t, 0.0, step)
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
            stage(address, buffer, x, K, A, i, C[i], t, step, W)
        stage(address, buffer, x, K, A, s, 1.0, t, step, W)  # the derivative at the step's end; its state stands in buffer
        for n in range(size * W):
            new[n] = buffer[W + n]
        _allowed(x, new, rtol, atol, beside)
        for i in range(len(E)):
            _squares(K, E, i, zero, beside, e, sums, i, W)
        wanted = False
        for l in range(len(who)):
            verdict[l] = 0
            needs[l] = 0
            if who[l] >= 0:
                r = who[l]
                tally[r, EVALUATIONS] += s
                most[r] -= 1
                error[l] = lane_error(sums, len(E), step[l], size, l)
                if error[l] < 1.0:
                    verdict[l] = 1
                    error[l] = max(error[l], 1e-6)
                    later[l] = min(GROW, SAFETY * error[l] ** (NOW * exponent) * last[l] ** (BEFORE * exponent))
                    stop = end[r] if clipped[l] > 0 else t[l] + step[l]
                    if guard != 0:
                        needs[l] = 1
                    elif row[r] < until_row[r]:
                        if times[row[r]] < stop:
                            needs[l] = 1
                    if needs[l] > 0:
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
                stage(address, buffer, x, K, A, i, C[i], t, step, W)
            _squares(K, D, 0, zero, beside, e, sums, 0, W)
            for l in range(len(who)):
                if needs[l] > 0:
                    tally[who[l], EVALUATIONS] += stages - s - 1
                    inside = abs(step[l]) * np.sqrt(sums[0, l] / size) / BETWEEN
                    if not np.isfinite(inside):
                        inside = np.inf
                    fits = GROW if inside == 0.0 else SAFETY * inside ** (-1.0 / degree)
                    if fits < 0.7:
                        h[l] = step[l] * max(SHRINK, fits)
                        tally[who[l], REJECTED] += 1
                        refused[l] = 1
                        verdict[l] = 0
                    else:
                        later[l] = min(later[l], fits)
        accepted = 0
        for l in range(len(who)):
            event[l] = -1
            high[l] = 1.0
            if verdict[l] > 0:
                accepted += 1
                tally[who[l], ACCEPTED] += 1
                last[l] = error[l]
                later[l] = step[l] * min(1.0, later[l]) if refused[l] > 0 else step[l] * later[l]
                refused[l] = 0
        if accepted == 0:
            continue
        if guard != 0:
            locate(guard, buffer, x, new, K, P, w, scratch, t, step, g, g_new, values, before, verdict, event, needs, low, high, below, above, part, W)
        # rows within the steps, each lane's next one at a time
        rows_left = wanted
        while rows_left:
            rows_left = False
            for l in range(len(who)):
                due[l] = 0
                part[l] = 0.0
                if verdict[l] > 0:
                    r = who[l]
                    stop = end[r] if clipped[l] > 0 else t[l] + step[l]
                    if event[l] >= 0:
                        stop = t[l] + high[l] * step[l]
                    if row[r] < until_row[r]:
                        time = times[row[r]]
                        if time < stop or (time == stop and event[l] >= 0):  # the settled end of a step is better than dense output
                            due[l] = 1
                            part[l] = (time - t[l]) / step[l]
                            rows_left = True
            if rows_left:
                dense(P, part, w, x, K, step, scratch, W)
                settled(settle, buffer, scratch, t, part, step, 1, W)
                for l in range(len(who)):
                    if due[l] > 0:
                        r = who[l]
                        write(out, held, r, first + row[r], scratch, buffer, l, W)
                        row[r] += 1
        # runs that meet an event are left at its instant
        met = False
        for l in range(len(who)):
            part[l] = 0.0
            due[l] = 0
            if event[l] >= 0:
                part[l] = high[l]
                due[l] = 1
                verdict[l] = 0
                met = True
        if met:
            dense(P, part, w, x, K, step, scratch, W)
            settled(settle, buffer, scratch, t, part, step, 2, W)
            take(x, scratch, due, W)
            for l in range(len(who)):
                if due[l] > 0:
                    t[l] = t[l] + high[l] * step[l]
                    h[l] = min(later[l], step[l])
                    leave(EVENT, event[l], l, X, T, H, ended, x, t, h, who, W)
        # the others go to the end of their steps
        take(x, new, verdict, W)
        take(g, g_new, verdict, W)
        for l in range(len(who)):
            if verdict[l] > 0:
                r = who[l]
                t[l] = end[r] if clipped[l] > 0 else t[l] + step[l]
                h[l] = max(later[l], h[l]) if clipped[l] > 0 else later[l]
        if settle != 0:
            put(buffer, x, t, 0.0, step)
            call_block(settle, buffer, scratch)
            take(x, scratch, verdict, W)
            put(buffer, x, t, 0.0, step)
            call_block(address, buffer, scratch)
            take(K[0], scratch, verdict, W)
        else:
            take(K[0], K[s], verdict, W)
        for l in range(len(who)):
            if verdict[l] > 0:
                r = who[l]
                if settle != 0:
                    tally[r, EVALUATIONS] += 1
                while row[r] < until_row[r] and times[row[r]] <= t[l]:
                    write(out, held, r, first + row[r], x, buffer, l, W)
                    row[r] += 1
    return coming


# ---------------------------------------------------------------------------------------------------- events
def fell(before, values, l, W):
    """The first guard of a lane that has fallen, or -1. Both arrays have the guards' values, then their rates; see `guards.py`."""
    n = len(values) // (2 * W)
    for j in range(n):
        at = j * W + l
        if before[at] > 0.0 and values[at] <= 0.0:
            return j
        if values[at] < 0.0 and values[at + n * W] < 0.0:
            return j
    return -1


def locate(guard, buffer, x, new, K, P, w, scratch, t, step, g, g_new, values, before, verdict, event, looking, low, high, below, above,
           part, W):  # fmt: skip
    """For each lane the first guard that falls to zero within its step, and where (`high`): looked for at some places, then closed in.

    Guards at the step's end are left in g_new. The place is found to the last digit of its distance from the step's start, so
    that an event soon after the last one is located as precisely as a late one. below, above: the guard's values at both ends.
    """
    for n in range(len(g)):
        before[n] = g[n]
    for l in range(len(looking)):
        looking[l] = verdict[l]
    found = False
    for k in range(1, LOOKS + 1):
        for l in range(len(part)):
            part[l] = k / LOOKS
        if k == LOOKS:
            at_part(buffer, new, t, part, step, W)
        else:
            dense(P, part, w, x, K, step, scratch, W)
            at_part(buffer, scratch, t, part, step, W)
        call_block(guard, buffer, values)
        for l in range(len(looking)):
            if looking[l] > 0:
                event[l] = fell(before, values, l, W)
                if event[l] >= 0:
                    looking[l] = 0
                    found = True
                    high[l] = part[l]
                    low[l] = (k - 1) / LOOKS
                    below[l] = before[event[l] * W + l]
                    above[l] = values[event[l] * W + l]
        take(before, values, looking, W)  # those of a lane that has its event stay
    for n in range(len(g)):
        g_new[n] = values[n]
    if found:
        close_in(guard, buffer, x, K, P, w, scratch, t, step, values, before, event, low, high, below, above, part, W)


def close_in(guard, buffer, x, K, P, w, scratch, t, step, values, before, event, low, high, below, above, part, W):
    """Close in on each lane's event between low and high, until there is no number between them."""
    for k in range(MOST_LOOKS):
        going = False
        for l in range(len(event)):
            part[l] = 1.0
            if event[l] >= 0:
                part[l] = between(low[l], high[l], below[l], above[l], k)
                if part[l] > low[l] and part[l] < high[l]:
                    going = True
        if not going:
            break
        dense(P, part, w, x, K, step, scratch, W)
        at_part(buffer, scratch, t, part, step, W)
        call_block(guard, buffer, values)
        for l in range(len(event)):
            if event[l] >= 0:
                if part[l] > low[l] and part[l] < high[l]:
                    now = fell(before, values, l, W)
                    if now >= 0:
                        high[l] = part[l]
                        if now != event[l]:
                            below[l] = 0.0  # another guard: its value at the lower end is not known
                        event[l] = now
                        above[l] = values[now * W + l]
                    else:
                        low[l] = part[l]
                        below[l] = values[event[l] * W + l]


def between(low, high, below, above, k):
    """The next place to look at: beyond the zero of the secant, so that the farther end comes near too; else the middle."""
    middle = 0.5 * (low + high)
    if below <= 0.0 or above >= 0.0 or (k > SECANTS and k % 2 == 0) or high - low <= CLOSE * high:
        return middle
    away = (high - low) * (below / (below - above))
    rest = (high - low) - away
    place = min(low + OVERSHOOT * away, middle) if away < rest else max(high - OVERSHOOT * rest, middle)
    return place if place > low and place < high else middle
