"""The test of explicit steps for stiffness, in lanes: the product of step size and largest rate,
measured from the last two stages of a step. `stiffness.py` says what follows from it.
"""

from __future__ import annotations

from .lane_arithmetic import lane_sums, lanewise

# columns of `watch`. TEST: accepted steps until the next test. HITS, MISSES: tests that found a
# large product, and those since that did not. NEEDED: a look is due with more hits. LAST: the error
# of the last step of a segment that ended for a look, zero otherwise. IMPLICIT: whether the
# implicit method has the run. PRODUCT: h |lambda| where it took over. LEFT: steps until it is
# looked at again; SPAN: how many there were; SINCE: the time at which they began, s.
TEST, HITS, MISSES, NEEDED, LAST, IMPLICIT, PRODUCT, LEFT, SPAN, SINCE = range(10)
WATCHED = 10
TEST_EVERY = 8  # accepted steps between two tests, as long as none has found a large product
# h |lambda| that is large: stability, and not the error, is likely to limit the steps
LARGE_PRODUCT = 2.5
FEW_MISSES = 6  # tests in a row that find a smaller product, after which hits are forgotten


def watch_stiffness(method, runs, lanes, memory, W):
    """Test accepted steps for stiffness, in the lanes in which a test is due."""
    due = False
    for l in range(W):
        lanes.due[l] = 0.0
        if lanes.accepted[l] > 0.0:
            r = lanes.who[l]
            runs.watch[r, TEST] -= 1.0
            if runs.watch[r, TEST] <= 0.0:
                lanes.due[l] = 1.0
                due = True
    if due:
        i = method.s - 1
        lane_sums(memory.x, memory.K, method.A[i], i, lanes.step, memory.scratch, 0, W)
        products(
            memory.new,
            memory.scratch,
            memory.K[method.s],
            memory.K[i],
            memory.inverse_allowed,
            lanes.step,
            lanes.part,
            W,
        )
        for l in range(W):
            if lanes.due[l] > 0.0:
                note_product(runs.watch, lanes.who[l], lanes.part[l])


def note_product(watch, r, square):
    """Add the square of h |lambda|, measured in a step of run r, to the evidence of its
    stiffness.
    """
    if square > LARGE_PRODUCT * LARGE_PRODUCT:
        watch[r, HITS] += 1.0
        watch[r, MISSES] = 0.0
    else:
        watch[r, MISSES] += 1.0
        if watch[r, MISSES] >= FEW_MISSES:
            watch[r, HITS] = 0.0
    watch[r, TEST] = 1.0 if watch[r, HITS] > 0.0 else 1.0 * TEST_EVERY


@lanewise()
def products(new, other, rate, other_rate, inverse_allowed, step, out, W):
    """Compute the square of h |rate - other_rate| / |new - other| of each lane, with numbers
    relative to their allowed errors.
    """
    above, below = 0.0, 0.0
    for n in range(0, len(new), W):
        change = (rate[n] - other_rate[n]) * inverse_allowed[n] * step[0]
        apart = (new[n] - other[n]) * inverse_allowed[n]
        above += change * change
        below += apart * apart
    out[0] = above / below if below > 0.0 else 0.0
