"""Contact impulses of one time step: block Gauss-Seidel on the Delassus matrix, over lanes of runs.

    u = free + W P,      W = J M^-1 J'        speeds and impulses (m,) of the rows

    0 <= P_n  complementary to  u_n >= target,  |P_t| <= mu P_n,
            and where it slips P_t = -mu P_n u_t/|u_t|

Contacts with friction come first, with three rows each (normal, two tangents), then those with one
row: frictionless contacts and stops of joints, and last the dry friction of joints, whose impulse
lies between two limits. One contact is solved at a time, the impulses of the
others fixed: it opens, sticks (its 3 x 3 block is solved) or slips (its direction is iterated, with
the normal impulse on the cone), so that cones are satisfied to rounding and the residual is only
the coupling; slowly converging sweeps are accelerated (`anderson`). Each lane stops when it has
converged and is not changed after that, so that no run depends on its neighbours. The laws are
those of [Moreau1988].

    target    -e u_n before (Newton's law) where the gap is closed; -2 gap/h where it is open, which
              uses up the gap in half a step
    after     the target of the speeds after the step, for a contact that has closed in it
    shift     moves positions, not speeds, out of penetrations at the end of the step; and where a
              gap is used up, moves them there

A body that would be through a thinner one by the middle of the next step, or more than half way, is
stopped ahead: its contact takes the impact now, at a distance. The certificate counts such steps.

A gap that is used up in a step without rebound requires two things: positions that reach the
surface and no farther, and speeds after the whole impact. One impulse cannot do both: the rest of
the approach would be stopped in the next step, by a second impact, and two impacts with friction
against the slip at the end of each are not one impact in which the slip reverses. So such a step is
solved twice, for the positions with `target` and for the speeds with `after`.
"""

from __future__ import annotations

from ...spatial import any_lane, kernel, select, sqrt
from ..patches import fill, sum_up
from ..problem import (
    IMPACT_SPEED_RATIO,
    MAX_DENSE_ROWS,
    MAX_UNPACKED_CONTACTS,
    TINY,
    ContactProblem,
    normal,
    strikes,
)
from ..response import own_blocks, push, push3, speed, speeds, speeds3, whole_matrix
from ..selection import pack, selected, unpack
from .active_set import active_set_step
from .anderson import FIRST_ACCELERATED_SWEEP, follow, forget
from .certificate import certify, lift
from .interior_point import interior

# Iterations of the direction of slip at each visit of a contact, after the first sweeps.
MAX_SLIP_TURNS = 5
# Sweeps at the beginning with one such iteration per visit.
ONE_TURN_SWEEPS = 16
# A gap at most this, relative to the way of the fastest contact in a step, is closed; a rebound at
# most this, relative to the change of speed in a step, is zero.
CLOSED_GAP_RATIO = 1e-3
# A lane has converged if a sweep changes its speeds by less than this share of the tolerance.
CONVERGED_SHARE = 0.1
# After 64, 128, ... sweeps, where sweep & mask equals the mask, all contacts are solved together:
# the first time by the reduced system where there is a factor of W, which is quick, then by W.
INTERIOR_POINT_SWEEP_MASK = 63
# With boxed rows, after 4, 8, ... sweeps, where sweep & mask equals the mask, all rows are solved
# for fixed modes.
ACTIVE_SET_SWEEP_MASK = 3
# Sweeps with boxed rows before the first that is accelerated.
ACTIVE_SET_SWEEPS = 16
# Added to the diagonal of a contact's block, relative to its mobility, so that it is invertible
# where the contact cannot move.
BLOCK_REGULARISATION = 1e-12


@kernel
def solve_contacts(
    p, a, s, rough, smooth, width, iterations, tolerance, groups=(), pairs=0, points=0, boxed=0
):
    """Compute the impulses of one step into a.

    rough, smooth: the number of contacts with three rows and with one. tolerance: of the residual,
    relative to the fastest speed. width: see `response`. groups, pairs, points: the groups of pairs
    of shapes, and the numbers of pairs and points (`patches`); their points are the last contacts
    with friction. boxed: how many of the contacts with one row are boxed rows; they are the last.
    If there are many contacts, the active ones are packed first.
    """
    fastest = _fastest(p, rough - points, rough, smooth - boxed)
    if points > 0:
        fastest = fill(p, s, rough, groups, pairs, points, fastest)
    _targets(p, a, s, rough, smooth - boxed, fastest)
    pace = _limits(p, a, s, rough, smooth, boxed, fastest)
    for r in range(3 * rough + smooth):  # where nothing moves nothing is solved
        a.P[r] = select(pace > 0.0, a.P[r], 0.0 * pace)
    if rough + smooth > MAX_UNPACKED_CONTACTS or points > 0:
        few, alone, left = pack(p, a, s, rough, smooth, width, points)
        problem, answer = selected(p, a, s)
        _solve(
            problem, answer, s, few, alone, width, iterations, tolerance, fastest, left, boxed, pace
        )
        unpack(a, s, rough, smooth, few)
        if points > 0:
            sum_up(p, a, s, rough, pairs, points)
    else:
        none = 0.0 * fastest
        _solve(p, a, s, rough, smooth, width, iterations, tolerance, fastest, none, boxed, pace)


@kernel
def _solve(p, a, s, rough, smooth, width, iterations, tolerance, fastest, left, boxed, pace):
    """Run the sweeps, and compute the shift and the certificate. left: changes of mode of contacts
    that are not active. pace: the fastest speed, boxed rows included.
    """
    own_blocks(p, s, rough, smooth, width)
    for i in range(rough):
        _block(s.own, s.block, i)
    busy = select(pace > 0.0, 1.0 + 0.0 * fastest, 0.0 * fastest)
    _sweep(p, a, s, rough, smooth, width, iterations, tolerance, pace, busy, boxed)
    speeds(p, a.P, s, rough, smooth, width)
    lift(p, a, s, rough, smooth, width, fastest, boxed)
    lands = _landed(p, a, s, rough, smooth - boxed, fastest)
    if any_lane(lands > 0.5):
        _add_displacement(p, a, rough, smooth, lands)
        _sweep(p, a, s, rough, smooth, width, iterations, tolerance, pace, lands, boxed)
        _add_displacement(p, a, rough, smooth, -lands)
    certify(p, a, s, rough, smooth, width, pace, tolerance, left, boxed)


@kernel
def _landed(p, a, s, rough, smooth, fastest):
    """Return the lanes in which a gap is used up without rebound; in these the targets are replaced
    by those of the speeds after the impact.
    """
    zero = 0.0 * fastest
    lands = zero
    far = CLOSED_GAP_RATIO * p.h[0] * fastest
    for i in range(rough + smooth):
        meets = select(a.P[normal(i, rough)] > 0.0, s.on[i], zero)
        meets = select(s.target[i] < s.after[i], meets, zero)
        lands = max(lands, select(p.gap[i] > far, meets, zero))
    for i in range(rough + smooth):
        closed = select(a.P[normal(i, rough)] > 0.0, 1.0 + zero, zero)
        closed = select(p.gap[i] > far, closed, 1.0 + zero)
        s.target[i] = select(closed * lands * s.on[i] > 0.5, s.after[i], s.target[i])
    return lands


@kernel
def _add_displacement(p, a, rough, smooth, share):
    """Add to the shifts `share` times the displacement that the impulses cause in half a step."""
    for r in range(3 * rough + smooth):
        a.shift[r] = a.shift[r] + 0.5 * p.h[0] * share * a.P[r]


@kernel
def _sweep(p, a, s, rough, smooth, width, iterations, tolerance, fastest, busy, boxed):
    """Sweep over the contacts, in the busy lanes, until they converge."""
    speeds(p, a.P, s, rough, smooth, width)
    accelerated = ACTIVE_SET_SWEEPS if boxed > 0 else FIRST_ACCELERATED_SWEEP
    for sweep in range(iterations):
        if sweep >= accelerated:
            for r in range(3 * rough + smooth):
                s.P[r] = a.P[r]
        change = 0.0 * fastest
        turns = 1 if sweep < ONE_TURN_SWEEPS else MAX_SLIP_TURNS
        for i in range(rough):
            if any_lane(s.on[i] * busy > 0.5):
                change = max(
                    change, _solve_with_friction(p, a, s, i, rough, smooth, width, busy, turns)
                )
        for i in range(rough, rough + smooth - boxed):
            if any_lane(s.on[i] * busy > 0.5):
                change = max(change, _solve_one_row(p, a, s, i, rough, smooth, width, busy))
        for i in range(rough + smooth - boxed, rough + smooth):
            change = max(change, _solve_boxed_row(p, a, s, i, rough, smooth, width, busy))
        busy = select(change > CONVERGED_SHARE * tolerance * fastest, busy, 0.0 * busy)
        if not any_lane(busy > 0.5):
            break
        few = 3 * rough + smooth <= MAX_DENSE_ROWS
        if sweep & INTERIOR_POINT_SWEEP_MASK == INTERIOR_POINT_SWEEP_MASK and (width > 0 or few):
            reduced = 0
            if width > 0:
                reduced = 1 if sweep == INTERIOR_POINT_SWEEP_MASK else 0
                reduced = reduced if few else 1
                if reduced < 1:
                    whole_matrix(p.W, s.W, rough, smooth, width)
            busy = interior(p, a, s, rough, smooth, width, reduced, busy, fastest, tolerance, boxed)
            speeds(p, a.P, s, rough, smooth, width)
            forget(s, 3 * rough + smooth, 0.0 * busy)
        elif sweep < accelerated:
            if (
                boxed > 0
                and sweep & ACTIVE_SET_SWEEP_MASK == ACTIVE_SET_SWEEP_MASK
                and 3 * rough + smooth <= MAX_DENSE_ROWS
            ):
                if width > 0 and sweep == ACTIVE_SET_SWEEP_MASK:
                    whole_matrix(p.W, s.W, rough, smooth, width)
                enough = CONVERGED_SHARE * tolerance * fastest
                busy = _for_modes(p, a, s, rough, smooth, width, busy, boxed, enough)
                if not any_lane(busy > 0.5):
                    break
        elif sweep + 1 < iterations:
            if sweep == accelerated:
                forget(s, 3 * rough + smooth, 0.0 * busy)
            follow(p, a, s, rough, smooth, width, busy, sweep, boxed)


@kernel
def _for_modes(p, a, s, rough, smooth, width, busy, boxed, enough):
    """Solve all rows together for the present modes, with W itself in s.W where p.W is a factor;
    return the lanes whose residual is above `enough`, m/s.
    """
    if width > 0:
        full = ContactProblem(
            p.gap, p.before, p.free, s.W, p.P, p.mode, p.e, p.static, p.kinetic, p.so_far, p.h
        )
        busy = active_set_step(full, a, s, rough, smooth, busy, boxed, enough)
    else:
        busy = active_set_step(p, a, s, rough, smooth, busy, boxed, enough)
    if any_lane(busy > 0.5):
        speeds(p, a.P, s, rough, smooth, width)
    return busy


@kernel
def _fastest(p, plain, rough, smooth):
    """Return the fastest speed, before or without impulses (m/s), of the contacts that a step may
    reach; pairs of shapes aside.

    What is far away does not count, as for pairs of shapes: the scale of a contact would otherwise
    depend on how the rest of its body is described.
    """
    bound = 0.0 * p.h[0]
    for i in range(plain):
        bound = max(bound, _speed_of(p, 3 * i, 3))
    for r in range(3 * rough, 3 * rough + smooth):
        bound = max(bound, _speed_of(p, r, 1))
    reach = p.h[0] * bound
    found = 0.0 * bound
    for i in range(plain):
        found = max(found, select(p.gap[i] <= reach, _speed_of(p, 3 * i, 3), 0.0 * bound))
    for i in range(rough, rough + smooth):
        found = max(found, select(p.gap[i] <= reach, _speed_of(p, 2 * rough + i, 1), 0.0 * bound))
    return found


@kernel
def _speed_of(p, first, rows):
    """Return the speed of a contact, before or without impulses, whichever is larger (m/s): a norm,
    so that the choice of its tangents does not count.
    """
    before = 0.0 * p.h[0]
    free = 0.0 * p.h[0]
    for r in range(first, first + rows):
        before += p.before[r] * p.before[r]
        free += p.free[r] * p.free[r]
    return sqrt(max(before, free))


@kernel
def _targets(p, a, s, rough, smooth, fastest):
    """Determine which contacts are active, their smallest normal speeds and their friction;
    impulses start from those of the previous step.
    """
    h = p.h[0]
    bouncing = 0.0 * fastest
    landing = 0.0 * fastest
    ahead = 0.0 * fastest
    one = 1.0 + 0.0 * fastest
    for i in range(rough + smooth):
        gap = p.gap[i]
        s.on[i] = select(gap <= h * fastest, 1.0 + 0.0 * gap, 0.0 * gap)
        if any_lane(s.on[i] > 0.5):
            n = normal(i, rough)
            s.lift[i] = _rebound(p, i, n, fastest, h)
            lands = select(
                gap > CLOSED_GAP_RATIO * h * fastest, -gap - 0.5 * h * p.free[n], 0.0 * gap
            )
            on = s.on[i] > 0.5
            bouncing = max(bouncing, select(on, s.lift[i], 0.0 * gap))
            ahead = max(ahead, select(on, select(_passes(p, i, n, h), one, 0.0 * gap), 0.0 * gap))
            landing = max(landing, select(on, lands, 0.0 * gap))
    p.so_far[11] = p.so_far[11] + ahead
    for i in range(rough):
        if any_lane(s.on[i] > 0.5):
            _target(p, s, i, 3 * i, fastest, h, bouncing, landing)
            s.mu[i] = _friction(p, i)
        else:
            s.target[i], s.after[i], s.mu[i] = 0.0 * fastest, 0.0 * fastest, 0.0 * fastest
        for r in range(3):
            a.P[3 * i + r] = s.on[i] * p.P[3 * i + r]
    for i in range(rough, rough + smooth):
        if any_lane(s.on[i] > 0.5):
            _target(p, s, i, 2 * rough + i, fastest, h, bouncing, landing)
        else:
            s.target[i], s.after[i] = 0.0 * fastest, 0.0 * fastest
        a.P[2 * rough + i] = s.on[i] * p.P[2 * rough + i]


@kernel
def _limits(p, a, s, rough, smooth, boxed, fastest):
    """Set the limits of the boxed rows (dry friction of joints), which are always active, and start
    from the impulses of the previous step; return the fastest speed of all rows.
    """
    pace = fastest
    first = rough + smooth - boxed
    for j in range(boxed):
        i = first + j
        r = 2 * rough + i
        zero = 0.0 * p.h[0]
        s.on[i], s.target[i], s.after[i], s.lift[i] = 1.0 + zero, zero, zero, zero
        s.mu[i] = p.limit[j]
        a.P[r] = max(min(p.P[r], s.mu[i]), -s.mu[i])
        pace = max(pace, _speed_of(p, r, 1))
    return pace


@kernel
def _friction(p, i):
    """Return the friction coefficient of a contact: static if it sticks, or closes without slip;
    kinetic if it slips, and in impacts, as in runs with events.
    """
    n = 3 * i
    x = p.before[n + 1]
    y = p.before[n + 2]
    given = abs(p.free[n + 1] - x) + abs(p.free[n + 2] - y) + abs(p.free[n] - p.before[n])
    slides = x * x + y * y > IMPACT_SPEED_RATIO * IMPACT_SPEED_RATIO * given * given
    closes = select(slides, p.kinetic[i], p.static[i])
    grip = select(p.mode[i] == 2.0, p.static[i], closes)
    grip = select(p.mode[i] == 1.0, p.kinetic[i], grip)
    return select(strikes(p, n), p.kinetic[i], grip)


@kernel
def _rebound(p, i, n, fastest, h):
    """Return the speed of the rebound of a contact whose gap is closed, or closes in this step and
    opens again; else zero. A rebound that is negligible relative to the change of speed in a step
    is zero.
    """
    gap = p.gap[i]
    before = p.before[n]
    free = p.free[n]
    rebound = -p.e[i] * before
    rebound = select(rebound > CLOSED_GAP_RATIO * abs(free - before), rebound, 0.0 * before)
    # the rebound rises above the gap: e^2 u^2 / 2 a
    rises = rebound * rebound * h > 2.0 * gap * abs(free - before)
    hits = gap + 0.5 * h * free < 0.0
    return select(
        gap > CLOSED_GAP_RATIO * h * fastest,
        select(rises and hits, rebound, 0.0 * rebound),
        rebound,
    )


@kernel
def _target(p, s, i, n, fastest, h, bouncing, landing):
    """Compute the targets of a contact: Newton's law if there is a rebound, else what is left of
    the gap.

    A gap that is small relative to the way of a step counts as closed: otherwise a box would stand
    on three of its corners, and the search for these would take long. A contact that rests there
    while others of the same body bounce has the rebound of its small speed, and while others land
    it moves as they do, so that the targets of a body are compatible with a motion of it.
    """
    gap, rebound = p.gap[i], s.lift[i]
    left = -2.0 * gap / h
    rests = select(bouncing > 0.0, -p.e[i] * p.before[n], select(landing > 0.0, left, 0.0 * left))
    rests = select(abs(rests) <= 2.0 * CLOSED_GAP_RATIO * fastest, rests, 0.0 * rests)
    asked = select(
        rebound > 0.0, rebound, select(gap > CLOSED_GAP_RATIO * h * fastest, left, rests)
    )
    passes = _passes(p, i, n, h)
    thrown = max(-p.e[i] * p.before[n], 0.0 * left)
    asked = select(passes, thrown, asked)
    s.target[i] = select(s.on[i] > 0.5, asked, 0.0 * asked)  # a gap may be infinite
    rests = select(bouncing > 0.0, rests, 0.0 * rests)
    after = select(gap > CLOSED_GAP_RATIO * h * fastest, 0.0 * left, rests)
    after = select(rebound > 0.0, rebound, after)
    after = select(passes, thrown, after)
    s.after[i] = select(s.on[i] > 0.5, after, 0.0 * asked)


@kernel
def _passes(p, i, n, h):
    """Whether a contact does not close in this step, and is more than half way through the other
    shape in the middle of the next one.
    """
    way = -h * p.free[n]
    return p.gap[i] >= 0.5 * way and way - p.gap[i] > 0.5 * p.thickness[i]


@kernel
def _block(own, block, i):
    """Compute the inverse of a 3 x 3 block, regularised by BLOCK_REGULARISATION; the step along its
    tangents; and the inverse of its mobility along the normal.
    """
    a = own[i, 0]
    b = own[i, 1]
    c = own[i, 2]
    d = own[i, 3]
    e = own[i, 4]
    f = own[i, 5]
    more = BLOCK_REGULARISATION * (a + d + f) + TINY
    block[i, 6], block[i, 7] = 1.0 / (max(d, f) + abs(e) + more), 1.0 / (a + TINY)
    a, d, f = a + more, d + more, f + more
    A = d * f - e * e
    B = c * e - b * f
    C = b * e - c * d
    det = 1.0 / (a * A + b * B + c * C)
    block[i, 0], block[i, 1], block[i, 2] = A * det, B * det, C * det
    block[i, 3], block[i, 4], block[i, 5] = (
        (a * f - c * c) * det,
        (b * c - a * e) * det,
        (a * d - b * b) * det,
    )


@kernel
def _solve_with_friction(p, a, s, i, rough, smooth, width, busy, turns):
    """Solve one contact with friction, the others fixed; return the largest change of its own
    speeds.
    """
    n = 3 * i
    mu = s.mu[i]
    own = s.own
    B = s.block
    P, x, y = a.P[n], a.P[n + 1], a.P[n + 2]
    r, ux, uy = speeds3(p, s, i, width)
    r = r - s.target[i]
    P0 = P - (B[i, 0] * r + B[i, 1] * ux + B[i, 2] * uy)
    x0 = x - (B[i, 1] * r + B[i, 3] * ux + B[i, 4] * uy)
    y0 = y - (B[i, 2] * r + B[i, 4] * ux + B[i, 5] * uy)
    sticks = x0 * x0 + y0 * y0 <= mu * mu * P0 * P0 and P0 >= 0.0
    a00 = own[i, 0]
    a01 = own[i, 1]
    a02 = own[i, 2]
    a11 = own[i, 3]
    a12 = own[i, 4]
    a22 = own[i, 5]
    b = r - (a00 * P + a01 * x + a02 * y)  # the normal speed without its own impulse
    holds = select(b < 0.0, 1.0 + 0.0 * P, 0.0 * P)
    goes = s.on[i] * busy > 0.5
    P1 = select(sticks, P0, 0.0 * P)
    x1 = select(sticks, x0, 0.0 * P)
    y1 = select(sticks, y0, 0.0 * P)
    if any_lane(select(sticks, 0.0 * busy, holds * s.on[i] * busy) > 0.5):
        P2, x2, y2 = _slipping(
            P, x, y, b, ux, uy, a00, a01, a02, a11, a12, a22, mu, B[i, 6], B[i, 7], turns
        )
        P1 = select(sticks, P0, holds * P2)
        x1 = select(sticks, x0, holds * x2)
        y1 = select(sticks, y0, holds * y2)
    dP = select(goes, P1 - P, 0.0 * P)
    dx = select(goes, x1 - x, 0.0 * P)
    dy = select(goes, y1 - y, 0.0 * P)
    a.P[n], a.P[n + 1], a.P[n + 2] = P + dP, x + dx, y + dy
    push3(p, s, rough, smooth, i, dP, dx, dy, width)
    return max(a00 * abs(dP), max(a11 * abs(dx), a22 * abs(dy)))


@kernel
def _slipping(P, x, y, b, ux, uy, a00, a01, a02, a11, a12, a22, mu, step, inverse, turns):
    """Return the impulse of a slipping contact: its direction is iterated `turns` times, with the
    normal impulse on the cone each time.
    """
    bx = ux - (a01 * P + a11 * x + a12 * y)
    by = uy - (a02 * P + a12 * x + a22 * y)
    for _ in range(turns):
        tx = x - step * (bx + a01 * P + a11 * x + a12 * y)
        ty = y - step * (by + a02 * P + a12 * x + a22 * y)
        size = sqrt(tx * tx + ty * ty)
        outside = size > mu * P
        part = mu / (size + TINY)
        # friction for each unit of the normal impulse, where it slips
        cx, cy = part * tx, part * ty
        mobility = a00 + a01 * cx + a02 * cy
        slipping = -b / select(mobility > BLOCK_REGULARISATION * a00, mobility, a00 + TINY)
        P = max(select(outside, slipping, -(b + a01 * tx + a02 * ty) * inverse), 0.0 * P)
        x = select(outside, P * cx, tx)
        y = select(outside, P * cy, ty)
    reach = mu * P
    far = reach / max(sqrt(x * x + y * y), reach + TINY)
    return P, far * x, far * y


@kernel
def _solve_one_row(p, a, s, i, rough, smooth, width, busy):
    """Solve one contact with one row, the others fixed; return the change of its speed."""
    n = 2 * rough + i
    own = s.own[i, 0] + TINY
    P = a.P[n]
    more = max(P - (speed(p, s, i, rough, width) - s.target[i]) / own, 0.0 * P) - P
    more = select(s.on[i] * busy > 0.5, more, 0.0 * P)
    a.P[n] = P + more
    push(p, s, rough, smooth, i, more, width)
    return own * abs(more)


@kernel
def _solve_boxed_row(p, a, s, i, rough, smooth, width, busy):
    """Solve one boxed row (dry friction of a joint), the others fixed; return the change of its
    speed.
    """
    n = 2 * rough + i
    own = s.own[i, 0] + TINY
    P = a.P[n]
    more = max(min(P - speed(p, s, i, rough, width) / own, s.mu[i]), -s.mu[i]) - P
    more = select(busy > 0.5, more, 0.0 * P)
    a.P[n] = P + more
    push(p, s, rough, smooth, i, more, width)
    return own * abs(more)
