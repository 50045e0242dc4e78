"""Anderson acceleration of slowly converging sweeps over contacts, over lanes of runs.

Rigid-body mechanics does not always determine the impulses (a box on four corners), and stacks
couple many contacts: sweeps then converge slowly, along a few directions. From the changes of the
last sweeps those impulses are extrapolated at which a sweep would change least [Anderson1965],
[Walker2011]:

    f = G(P) - P,  min | f - dF g |,  P <- G(P) - dG g
            dF, dG: how f and G have changed from sweep to sweep, the last ANDERSON_DEPTH of them

Impulses are compared after multiplication by the square root of the mobility of their contacts, so
that units and masses do not matter. If a sweep changes much more than the best one did, a lane
returns to that one and restarts.
"""

from __future__ import annotations

from ...spatial import any_lane, kernel, select, sqrt
from ..problem import ANDERSON_DEPTH, TINY, normal
from ..response import speeds

# Sweeps before the first that is accelerated.
FIRST_ACCELERATED_SWEEP = 4
# A lane restarts if the squared change of a sweep is larger than this, relative to that of the best
# sweep.
RESTART_RATIO = 4.0
# Added to the diagonal of dF' dF, relative to its trace.
GRAM_REGULARISATION = 1e-13
# A squared extrapolation, at most, relative to the squared impulses.
MAX_EXTRAPOLATION_RATIO = 100.0
# Squared change of the best sweep before there is one.
NO_BEST_CHANGE = 1e300


@kernel
def forget(s, m, zero):
    """Clear the history of all lanes. m: the number of rows."""
    s.best[0], s.known[0] = NO_BEST_CHANGE + zero, zero
    for i in range(ANDERSON_DEPTH):
        for j in range(ANDERSON_DEPTH):
            s.gram[i, j] = zero
        for r in range(m):
            s.dF[i, r], s.dG[i, r] = zero, zero


@kernel
def follow(p, a, s, rough, smooth, width, busy, sweep, boxed):
    """Extrapolate the impulses after a sweep to where it would have changed least. s.P: the
    impulses before the sweep.
    """
    m = 3 * rough + smooth
    slot = sweep & (ANDERSON_DEPTH - 1)
    zero = 0.0 * busy
    size = _changes(a, s, rough, smooth, zero)
    back = select(size <= RESTART_RATIO * s.best[0], zero, busy)  # also lanes with NaN
    better = select(size < s.best[0], busy, zero)
    s.best[0] = select(better > 0.5, size, s.best[0])
    known = s.known[0] > 0.5
    for r in range(m):
        s.good[r] = select(better > 0.5, a.P[r], s.good[r])
        s.dF[slot, r] = select(known, s.f[r] - s.lastf[r], zero)
        s.dG[slot, r] = select(known, a.P[r] - s.last[r], zero)
        s.last[r], s.lastf[r] = a.P[r], s.f[r]
    s.known[0] = 1.0 + zero
    _least(s, slot, m, zero)
    _within(a, s, rough, smooth, _ahead(a, s, rough, smooth, busy), boxed)
    if any_lane(back > 0.5):
        _return(a, s, m, back, zero)
    # in all lanes, because recomputed speeds differ in their last digits
    speeds(p, a.P, s, rough, smooth, width)


@kernel
def _changes(a, s, rough, smooth, zero):
    """Compute s.f, the scaled change by the sweep; return its squared norm."""
    total = zero
    for i in range(rough + smooth):
        n = normal(i, rough)
        root = sqrt(s.own[i, 0])
        for r in range(3 if i < rough else 1):
            s.f[n + r] = root * (a.P[n + r] - s.P[n + r])
            total = total + s.f[n + r] * s.f[n + r]
    return total


@kernel
def _least(s, slot, m, zero):
    """Compute s.g, the coefficients of the combination of the past changes of f that is nearest to
    f.
    """
    trace = zero
    for i in range(ANDERSON_DEPTH):
        total, right = zero, zero
        for r in range(m):
            total = total + s.dF[i, r] * s.dF[slot, r]
            right = right + s.dF[i, r] * s.f[r]
        s.gram[i, slot], s.gram[slot, i], s.g[i] = total, total, right
    for i in range(ANDERSON_DEPTH):
        trace = trace + s.gram[i, i]
    for i in range(ANDERSON_DEPTH):
        for j in range(i + 1):
            total = s.gram[i, j]
            if i == j:
                total = (
                    total
                    + GRAM_REGULARISATION * trace
                    + select(s.gram[i, i] > 0.0, zero, 1.0 + zero)
                )
            for k in range(j):
                total = total - s.R[i, k] * s.R[j, k]
            s.R[i, j] = sqrt(max(total, TINY + zero)) if i == j else total / s.R[j, j]
    for i in range(ANDERSON_DEPTH):
        for k in range(i):
            s.g[i] = s.g[i] - s.R[i, k] * s.g[k]
        s.g[i] = s.g[i] / s.R[i, i]
    for back in range(ANDERSON_DEPTH):
        i = ANDERSON_DEPTH - 1 - back
        s.g[i] = s.g[i] / s.R[i, i]
        for k in range(i):
            s.g[k] = s.g[k] - s.R[i, k] * s.g[i]


@kernel
def _ahead(a, s, rough, smooth, busy):
    """Compute the extrapolated impulses s.t; return the busy lanes in which they lie near enough to
    be used.
    """
    way, size = 0.0 * busy, 0.0 * busy
    for i in range(rough + smooth):
        n, own = normal(i, rough), s.own[i, 0]
        for r in range(3 if i < rough else 1):
            step = 0.0 * busy
            for k in range(ANDERSON_DEPTH):
                step = step + s.dG[k, n + r] * s.g[k]
            s.t[n + r] = a.P[n + r] - step
            way = way + own * step * step
            size = size + own * a.P[n + r] * a.P[n + r]
    return select(way <= MAX_EXTRAPOLATION_RATIO * size, busy, 0.0 * busy)


@kernel
def _within(a, s, rough, smooth, busy, boxed):
    """Replace the impulses of busy lanes by those of s.t, projected onto their cones and limits."""
    for i in range(rough + smooth - boxed, rough + smooth):
        n = normal(i, rough)
        a.P[n] = select(busy > 0.5, max(min(s.t[n], s.mu[i]), -s.mu[i]), a.P[n])
    for i in range(rough + smooth - boxed):
        n, on = normal(i, rough), busy > 0.5
        P = max(s.t[n], 0.0 * busy)
        a.P[n] = select(on, P, a.P[n])
        if i < rough:
            x = s.t[n + 1]
            y = s.t[n + 2]
            reach = s.mu[i] * P
            far = reach / max(sqrt(x * x + y * y), reach + TINY)
            a.P[n + 1], a.P[n + 2] = (
                select(on, far * x, a.P[n + 1]),
                select(on, far * y, a.P[n + 2]),
            )


@kernel
def _return(a, s, m, back, zero):
    """In the lanes marked in `back`, take the impulses of the best sweep again and clear the
    history.
    """
    away = back > 0.5
    s.best[0], s.known[0] = (
        select(away, NO_BEST_CHANGE + zero, s.best[0]),
        select(away, zero, s.known[0]),
    )
    for r in range(m):
        a.P[r] = select(away, s.good[r], a.P[r])
    for i in range(ANDERSON_DEPTH):
        for j in range(ANDERSON_DEPTH):
            s.gram[i, j] = select(away, zero, s.gram[i, j])
        for r in range(m):
            s.dF[i, r], s.dG[i, r] = select(away, zero, s.dF[i, r]), select(away, zero, s.dG[i, r])
