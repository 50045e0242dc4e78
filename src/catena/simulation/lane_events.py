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


def locate(guard, buffer, x, new, K, P, looks, w, t, step, g, g_new, values, before, verdict, event, looking, low, high, below, above,
           part, W):  # fmt: skip
    """For each lane the first guard that falls to zero within its step, and where (`high`): looked for at some places, then closed in.

    Guards at the step's end are left in g_new. The place is found to the last digit of its distance from the step's start, so
    that an event soon after the last one is located as precisely as a late one. looks (LOOKS, stages): the weights of dense output
    at those places. below, above: the guard's values at both ends.
    """
    for n in range(len(g)):
        before[n] = g[n]
    for l in range(len(event)):
        looking[l] = verdict[l]
    found = False
    for k in range(1, LOOKS + 1):
        for l in range(len(event)):
            part[l] = k / LOOKS
        if k == LOOKS:
            put(buffer, new, t, part, step, W)
        else:
            lane_sums(x, K, looks[k], P.shape[0], step, buffer, W, W)
            times_of(buffer, t, part, step, W)
        call_block(guard, buffer, values)
        for l in range(len(event)):
            if looking[l] > 0.0:
                event[l] = fell(before, values, l, W)
                if event[l] >= 0:
                    looking[l] = 0.0
                    found = True
                    high[l] = part[l]
                    low[l] = (k - 1) / LOOKS
                    below[l] = before[event[l] * W + l]
                    above[l] = values[event[l] * W + l]
        take(before, values, looking, W)  # those of a lane that has its event stay
    for n in range(len(g)):
        g_new[n] = values[n]
    if found:
        close_in(guard, buffer, x, K, P, w, t, step, values, before, event, low, high, below, above, part, W)


def close_in(guard, buffer, x, K, P, w, t, step, values, before, event, low, high, below, above, part, W):
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
        dense(P, part, w, x, K, step, buffer, W, W)
        times_of(buffer, t, part, step, W)
        call_block(guard, buffer, values)
        for l in range(len(event)):
            if event[l] >= 0 and part[l] > low[l] and part[l] < high[l]:
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
