"""Events in lanes: where guards fall to zero within the steps of W runs. See `guards.py` for what a
guard is.

A step may be long: balls that fly straight on, or a rod that spins freely, have no error to keep it
short. So that no zero between two evaluations is missed, guards are evaluated at closer places
where a guard falls before and rises after an interval, and could have been at zero within it; and
where joints turn far from one place to the next.
"""

from __future__ import annotations

from ...compiler import call_block
from .lane_arithmetic import dense, lane_sums, put, take, times_of

LOOKS = 8  # places within a step at which guards are evaluated
# distance of the next place from the near end of a bracket, relative to the secant's zero: beyond
# the zero, so that both ends of the bracket move
SECANT_OVERSHOOT = 2.0
# sum of the times to zero along the tangents at both places, relative to the time between them: a
# guard for which it is larger was not at zero in between
DIP_TIME = 2.0
TURN_BETWEEN_LOOKS = 0.5  # rad: how far joints may turn between two places
MOST_TURN_PARTS = 1e6  # most parts into which the time between two places is divided
CLOSEST_LOOKS = 1e-12  # distance of two places relative to the step: they are no closer
# length of a bracket relative to its distance from the step's start: a shorter one is halved
BISECTED_BRACKET = 1e-14
SECANTS = 12  # places by secants; after them every other place is the middle of the bracket
MOST_BRACKETINGS = 200  # most places at which a zero is bracketed


def fell(before, values, l, W):
    """Return the first guard of lane l that has fallen to zero, or -1. before, values: the values
    of the guards, then their rates, at the previous place and at this one; see `guards.py`.
    """
    n = len(values) // (2 * W)
    for j in range(n):
        at = j * W + l
        if before[at] > 0.0 and values[at] <= 0.0:
            return j
        if values[at] < 0.0 and values[at + n * W] < 0.0:
            return j
    return -1


def dips(before, values, time, l, W):
    """Return whether a guard of lane l falls at the start and rises at the end of an interval of
    this duration (s), such that it may have been at zero in between, judged by its tangents at both
    ends.
    """
    n = len(values) // (2 * W)
    for j in range(n):
        at = j * W + l
        down = before[at + n * W]
        up = values[at + n * W]
        if (
            down < 0.0
            and up > 0.0
            and before[at] > 0.0
            and values[at] / up - before[at] / down <= DIP_TIME * time
        ):
            return True
    return False


def turned(before, values, time, l, W):
    """Return the number of parts into which an interval of lane l of this duration (s) is divided,
    so that joints turn by at most TURN_BETWEEN_LOOKS in each part. The last number of `before` and
    of `values` is the rate of turning.
    """
    last = len(values) - W + l
    far = max(before[last], values[last]) * time / TURN_BETWEEN_LOOKS
    return min(far, MOST_TURN_PARTS) if far > 1.0 else 1.0


def locate(guard, method, lanes, memory, W):
    """Find for each lane the first guard that falls to zero within its step, and the fraction of
    the step at which it does (`high`): guards are evaluated at some places, then the zero is
    bracketed.

    Guards at the step's end are left in g_new. The place is found to the last digit of its distance
    from the step's start, so that an event soon after the last one is located as precisely as a
    late one. method.looks (LOOKS, stages): the weights of dense output at those places. The records
    are those of `lane_records.py`.
    """
    for n in range(len(memory.g)):
        memory.before[n] = memory.g[n]
    for l in range(W):
        lanes.needs[l] = lanes.accepted[l]
    found = False
    for k in range(1, LOOKS + 1):
        look(guard, method, lanes, memory, k, W)
        if mark_unclear_lanes(lanes, memory, k, W):
            found = look_closer(guard, method, lanes, memory, k, W) or found
            look(guard, method, lanes, memory, k, W)
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
        # lanes that have found their event keep the guards before it
        take(memory.before, memory.values, lanes.needs, W)
    for n in range(len(memory.g)):
        memory.g_new[n] = memory.values[n]
    if found:
        narrow_brackets(guard, method, lanes, memory, W)


def look(guard, method, lanes, memory, k, W):
    """Evaluate the guards at the k-th of the fractions LOOKS of the step."""
    for l in range(W):
        lanes.part[l] = k / LOOKS
    if k == LOOKS:
        put(memory.buffer, memory.new, lanes.t, lanes.part, lanes.step, W)
    else:
        lane_sums(
            memory.x, memory.K, method.looks[k], method.P.shape[0], lanes.step, memory.buffer, W, W
        )
        times_of(memory.buffer, lanes.t, lanes.part, lanes.step, W)
    call_block(guard, memory.buffer, memory.values)


def mark_unclear_lanes(lanes, memory, k, W):
    """Mark the lanes (due) in which a guard may have been zero between two successive places of
    evaluation, k - 1 and k of the LOOKS in a step, although its values there do not show it. Return
    whether there are any.
    """
    some = False
    for l in range(W):
        lanes.due[l] = 0.0
        if lanes.needs[l] > 0.0:
            time = lanes.step[l] / LOOKS
            parts = turned(memory.before, memory.values, time, l, W)
            if parts > 1.0 or (
                fell(memory.before, memory.values, l, W) < 0
                and dips(memory.before, memory.values, time, l, W)
            ):
                lanes.due[l] = 1.0
                lanes.low[l] = (k - 1) / LOOKS
                lanes.high[l] = 1.0 / (LOOKS * parts)
                some = True
    return some


def look_closer(guard, method, lanes, memory, k, W):
    """In the marked lanes, evaluate the guards between the places k - 1 and k of the step: after at
    most the fraction `high` of the step at a time, and after less where a guard may have been zero
    in between. Return whether there is an event. `before` becomes the guards at the last place
    without an event.
    """
    found, going = False, True
    while going:
        for l in range(W):
            lanes.fresh[l] = 0.0
            lanes.part[l] = k / LOOKS
            if lanes.due[l] > 0.0:
                lanes.part[l] = min(lanes.low[l] + lanes.high[l], k / LOOKS)
        dense(method.P, lanes.part, memory.w, memory.x, memory.K, lanes.step, memory.buffer, W, W)
        times_of(memory.buffer, lanes.t, lanes.part, lanes.step, W)
        call_block(guard, memory.buffer, memory.values)
        going = False
        for l in range(W):
            if lanes.due[l] > 0.0:
                found = decide_next_place(lanes, memory, k, l, W) or found
                if lanes.due[l] > 0.0:
                    going = True
        take(memory.before, memory.values, lanes.fresh, W)
    return found


def decide_next_place(lanes, memory, k, l, W):
    """From the guards at place k of a lane's step, decide whether there is an event (then return
    True), whether a smaller part must be examined, or whether to continue from this place.
    """
    way = lanes.part[l] - lanes.low[l]
    event = fell(memory.before, memory.values, l, W)
    if event >= 0:
        lanes.due[l] = 0.0
        lanes.needs[l] = 0.0
        lanes.event[l] = event
        lanes.high[l] = lanes.part[l]
        lanes.below[l] = memory.before[event * W + l]
        lanes.above[l] = memory.values[event * W + l]
        return True
    if way > CLOSEST_LOOKS and dips(memory.before, memory.values, way * lanes.step[l], l, W):
        lanes.high[l] = 0.5 * way
        return False
    lanes.fresh[l] = 1.0
    lanes.low[l] = lanes.part[l]
    lanes.high[l] = 1.0 / (
        LOOKS * turned(memory.before, memory.values, lanes.step[l] / LOOKS, l, W)
    )
    if lanes.part[l] >= k / LOOKS:
        lanes.due[l] = 0.0
        lanes.high[l] = 1.0
    return False


def narrow_brackets(guard, method, lanes, memory, W):
    """Narrow the bracket [low, high] of each lane's event until there is no floating-point number
    between its ends.
    """
    for k in range(MOST_BRACKETINGS):
        going = False
        for l in range(W):
            lanes.part[l] = 1.0
            if lanes.event[l] >= 0:
                lanes.part[l] = between(
                    lanes.low[l], lanes.high[l], lanes.below[l], lanes.above[l], k
                )
                if lanes.part[l] > lanes.low[l] and lanes.part[l] < lanes.high[l]:
                    going = True
        if not going:
            break
        dense(method.P, lanes.part, memory.w, memory.x, memory.K, lanes.step, memory.buffer, W, W)
        times_of(memory.buffer, lanes.t, lanes.part, lanes.step, W)
        call_block(guard, memory.buffer, memory.values)
        for l in range(W):
            if (
                lanes.event[l] >= 0
                and lanes.part[l] > lanes.low[l]
                and lanes.part[l] < lanes.high[l]
            ):
                now = fell(memory.before, memory.values, l, W)
                if now >= 0:
                    lanes.high[l] = lanes.part[l]
                    if now != lanes.event[l]:
                        # another guard: its value at the lower end is not known
                        lanes.below[l] = 0.0
                    lanes.event[l] = now
                    lanes.above[l] = memory.values[now * W + l]
                else:
                    lanes.low[l] = lanes.part[l]
                    lanes.below[l] = memory.values[lanes.event[l] * W + l]


def between(low, high, below, above, k):
    """Return the next place to evaluate within a bracket: beyond the zero of the secant, so that
    the farther end comes near too; otherwise the middle. below, above: the guard's values at both
    ends; k: how many places were evaluated before.
    """
    middle = 0.5 * (low + high)
    if (
        below <= 0.0
        or above >= 0.0
        or (k > SECANTS and k % 2 == 0)
        or high - low <= BISECTED_BRACKET * high
    ):
        return middle
    away = (high - low) * (below / (below - above))
    rest = (high - low) - away
    place = (
        min(low + SECANT_OVERSHOOT * away, middle)
        if away < rest
        else max(high - SECANT_OVERSHOOT * rest, middle)
    )
    return place if place > low and place < high else middle
