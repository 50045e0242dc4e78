"""Events in lanes: where guards fall to zero within the steps of W runs side by side. See `guards.py` for what a guard is."""

from __future__ import annotations

from ..compiler.machine_function import call_block
from .lane_arithmetic import dense, lane_sums, put, take, times_of

LOOKS = 8  # places within a step at which guards are looked at
OVERSHOOT = 2.0  # of a secant's step across a zero, so that both ends of its interval close in
CLOSE = 1e-14  # of an interval's distance from the step's start: below it the interval is halved
SECANTS, MOST_LOOKS = 12, 200  # places looked at before every other one is the middle; at most


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


def locate(guard, method, lanes, memory, W):
    """For each lane the first guard that falls to zero within its step, and where (`high`): looked for at some places, then closed in.

    Guards at the step's end are left in g_new. The place is found to the last digit of its distance from the step's start, so
    that an event soon after the last one is located as precisely as a late one. method.looks (LOOKS, stages): the weights of dense
    output at those places. The records are those of `lane_records.py`.
    """
    for n in range(len(memory.g)):
        memory.before[n] = memory.g[n]
    for l in range(W):
        lanes.needs[l] = lanes.accepted[l]
    found = False
    for k in range(1, LOOKS + 1):
        for l in range(W):
            lanes.part[l] = k / LOOKS
        if k == LOOKS:
            put(memory.buffer, memory.new, lanes.t, lanes.part, lanes.step, W)
        else:
            lane_sums(memory.x, memory.K, method.looks[k], method.P.shape[0], lanes.step, memory.buffer, W, W)
            times_of(memory.buffer, lanes.t, lanes.part, lanes.step, W)
        call_block(guard, memory.buffer, memory.values)
        for l in range(W):
            if lanes.needs[l] > 0.0:
                event = fell(memory.before, memory.values, l, W)
                lanes.event[l] = event
                if event >= 0:
                    lanes.needs[l] = 0.0
                    found = True
                    lanes.high[l] = lanes.part[l]
                    lanes.low[l] = (k - 1) / LOOKS
                    lanes.below[l] = memory.before[event * W + l]
                    lanes.above[l] = memory.values[event * W + l]
        take(memory.before, memory.values, lanes.needs, W)  # those of a lane that has its event stay
    for n in range(len(memory.g)):
        memory.g_new[n] = memory.values[n]
    if found:
        close_in(guard, method, lanes, memory, W)


def close_in(guard, method, lanes, memory, W):
    """Close in on each lane's event between low and high, until there is no number between them."""
    for k in range(MOST_LOOKS):
        going = False
        for l in range(W):
            lanes.part[l] = 1.0
            if lanes.event[l] >= 0:
                lanes.part[l] = between(lanes.low[l], lanes.high[l], lanes.below[l], lanes.above[l], k)
                if lanes.part[l] > lanes.low[l] and lanes.part[l] < lanes.high[l]:
                    going = True
        if not going:
            break
        dense(method.P, lanes.part, memory.w, memory.x, memory.K, lanes.step, memory.buffer, W, W)
        times_of(memory.buffer, lanes.t, lanes.part, lanes.step, W)
        call_block(guard, memory.buffer, memory.values)
        for l in range(W):
            if lanes.event[l] >= 0 and lanes.part[l] > lanes.low[l] and lanes.part[l] < lanes.high[l]:
                now = fell(memory.before, memory.values, l, W)
                if now >= 0:
                    lanes.high[l] = lanes.part[l]
                    if now != lanes.event[l]:
                        lanes.below[l] = 0.0  # another guard: its value at the lower end is not known
                    lanes.event[l] = now
                    lanes.above[l] = memory.values[now * W + l]
                else:
                    lanes.low[l] = lanes.part[l]
                    lanes.below[l] = memory.values[lanes.event[l] * W + l]


def between(low, high, below, above, k):
    """The next place to look at: beyond the zero of the secant, so that the farther end comes near too; else the middle."""
    middle = 0.5 * (low + high)
    if below <= 0.0 or above >= 0.0 or (k > SECANTS and k % 2 == 0) or high - low <= CLOSE * high:
        return middle
    away = (high - low) * (below / (below - above))
    rest = (high - low) - away
    place = min(low + OVERSHOOT * away, middle) if away < rest else max(high - OVERSHOOT * rest, middle)
    return place if place > low and place < high else middle
