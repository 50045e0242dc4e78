"""How well one time step with contacts was solved, and the shift of positions that removes
penetrations.

The certificate accumulates over the steps of a run: the residual of this step and the worst one,
relative to the fastest speed of a contact; the number of steps above the tolerance; depth, m;
complementarity and cone violation, each relative to the largest impulse of its step; the sine of
the angle between friction and slip; the energy dissipated and gained by contacts, J; the number of
impacts; the number of changes of mode; the number of steps in which contacts were closed ahead
(`gauss_seidel`).
"""

from __future__ import annotations

from ...spatial import any_lane, kernel, select, sqrt
from ..problem import SLIP_CONE_RATIO, TINY, normal, strikes
from ..response import along_normal, push, speeds

# Sweeps over the contacts to remove penetrations; what remains is removed in the next step.
SHIFT_SWEEPS = 12
# A penetration above this, relative to the way of the fastest contact in a step, is removed.
LIFTED_DEPTH_RATIO = 1e-9
# The lift of an inactive contact, m: never positive.
INACTIVE_LIFT = -1e300
# Slips above this, relative to the fastest speed, have their direction compared with their
# friction.
COMPARED_SLIP_RATIO = 1e-6


@kernel
def certify(p, a, s, rough, smooth, width, fastest, tolerance, left_elsewhere, boxed):
    """Compute the modes, the work of the contacts, and the certificate including this step.
    left_elsewhere: changes of mode of contacts that are not active.
    """
    speeds(p, a.P, s, rough, smooth, width)
    zero = 0.0 * fastest
    most = zero
    left = zero
    work = zero
    missed = zero
    outside = zero
    across = zero
    impacts = zero
    changes = left_elsewhere
    for i in range(rough + smooth - boxed, rough + smooth):
        n = normal(i, rough)
        P, u = a.P[n], s.u[n]
        work = work + 0.5 * P * (u + p.before[n])
        left = max(left, limit_miss(P, u, s.mu[i], s.own[i, 0]))
        mode = select(abs(P) >= SLIP_CONE_RATIO * s.mu[i], 1.0 + zero, 2.0 + zero)
        changes = changes + select(mode == p.mode[i], zero, 1.0 + zero)
        a.mode[i] = mode
    for i in range(rough + smooth - boxed):
        n = normal(i, rough)
        P, mode = a.P[n], zero
        if any_lane(s.on[i] > 0.5):
            u, own = s.u[n], s.on[i]
            most = max(most, P)
            work = work + 0.5 * P * (u + p.before[n])
            mode = select(P > 0.0, 1.0 + zero, zero)
            missed = max(missed, abs(P * (u - s.target[i])))
            left = max(left, own * abs(min(s.own[i, 0] * P, u - s.target[i])))
            if i < rough:
                x = a.P[n + 1]
                y = a.P[n + 2]
                ux = s.u[n + 1]
                uy = s.u[n + 2]
                reach = s.mu[i] * P
                step = s.block[i, 6]
                work = work + 0.5 * (x * (ux + p.before[n + 1]) + y * (uy + p.before[n + 2]))
                size = sqrt(x * x + y * y)
                speed = sqrt(ux * ux + uy * uy)
                mode = select(
                    P > 0.0, select(size >= SLIP_CONE_RATIO * reach, 1.0 + zero, 2.0 + zero), zero
                )
                outside = max(outside, size - reach)
                seen = size * speed > COMPARED_SLIP_RATIO * fastest * reach
                turned = select(
                    x * ux + y * uy <= 0.0,
                    abs(x * uy - y * ux) / select(seen, size * speed, 1.0 + zero),
                    1.0 + zero,
                )
                across = max(across, select(seen, select(mode == 1.0, turned, zero), zero))
                left = max(left, own * friction_miss(x, y, ux, uy, reach, step))
            impacts = impacts + select(
                P > 0.0,
                select(p.mode[i] == 0.0, select(strikes(p, n), 1.0 + zero, zero), zero),
                zero,
            )
        changes = changes + select(mode == p.mode[i], zero, 1.0 + zero)
        a.mode[i] = mode
    beside = select(fastest > 0.0, fastest, 1.0 + zero)
    largest = select(most > 0.0, most, 1.0 + zero)
    residual = left / beside
    c = a.certificate
    b = p.so_far
    c[0], c[1] = residual, max(b[1], residual)
    c[2] = b[2] + select(residual > tolerance, 1.0 + zero, zero)
    c[4], c[5], c[6] = (
        max(b[4], missed / (largest * beside)),
        max(b[5], outside / largest),
        max(b[6], across),
    )
    c[7], c[8] = b[7] + max(-work, zero), b[8] + max(work, zero)
    c[9], c[10], c[11] = b[9] + impacts, b[10] + changes, b[11]
    a.work[0] = work


@kernel
def misses(p, P, s, rough, smooth, boxed, width):
    """Return the largest residual of the contact laws under the impulses P, m/s."""
    speeds(p, P, s, rough, smooth, width)
    left = 0.0 * p.h[0]
    for i in range(rough + smooth - boxed, rough + smooth):
        n = normal(i, rough)
        left = max(left, limit_miss(P[n], s.u[n], s.mu[i], s.own[i, 0]))
    for i in range(rough + smooth - boxed):
        if any_lane(s.on[i] > 0.5):
            n = normal(i, rough)
            left = max(left, s.on[i] * abs(min(s.own[i, 0] * P[n], s.u[n] - s.target[i])))
            if i < rough:
                left = max(
                    left,
                    s.on[i]
                    * friction_miss(
                        P[n + 1], P[n + 2], s.u[n + 1], s.u[n + 2], s.mu[i] * P[n], s.block[i, 6]
                    ),
                )
    return left


@kernel
def friction_miss(x, y, ux, uy, reach, step):
    """Return the residual (m/s) of friction (x, y) for the slip (ux, uy): the distance to its
    projection onto the disc of radius `reach` after a step against the slip, divided by the step.
    """
    tx, ty = x - step * ux, y - step * uy
    far = reach / max(sqrt(tx * tx + ty * ty), reach + TINY)
    tx, ty = tx * far - x, ty * far - y
    return sqrt(tx * tx + ty * ty) / step


@kernel
def limit_miss(P, u, limit, own):
    """Return the residual (m/s) of an impulse P between -limit and limit for the speed u: the
    distance to its projection onto the limits after the step that would stop it.
    """
    step = 1.0 / (own + TINY)
    return abs(max(min(P - step * u, limit), -limit) - P) * own


@kernel
def lift(p, a, s, rough, smooth, width, fastest, boxed):
    """Compute the shift along the normals that separates what would penetrate at the end of the
    step, and record the remaining depth. s.u: the speeds with which positions move in the step.
    """
    k = rough + smooth - boxed
    h = p.h[0]
    worst = 0.0 * fastest
    depth = p.so_far[3]
    for r in range(3 * rough + smooth):
        a.shift[r] = 0.0 * fastest
    for i in range(k):
        n = normal(i, rough)
        s.lift[i] = select(
            s.on[i] > 0.5, -(p.gap[i] + 0.5 * h * s.u[n]), INACTIVE_LIFT + 0.0 * fastest
        )
        worst = max(worst, select(a.P[n] > 0.0, s.lift[i], 0.0 * fastest))
    deep = worst > LIFTED_DEPTH_RATIO * h * fastest
    if any_lane(deep):
        for r in range(width):
            s.z[r] = 0.0 * fastest
        for _ in range(SHIFT_SWEEPS):
            for i in range(k):
                _separate(p, a, s, i, rough, smooth, width, deep)
        if width > 0:
            for i in range(k):
                s.lift[i] = s.lift[i] - along_normal(p, s, i, rough, width)
    for i in range(k):
        depth = max(depth, s.lift[i])
    a.certificate[3] = depth


@kernel
def _separate(p, a, s, i, rough, smooth, width, deep):
    """Compute the shift of contact i along its normal that removes its penetration, the shifts of
    the others being fixed, in the lanes marked in `deep`.
    """
    n = normal(i, rough)
    own = s.own[i, 0]
    before = a.shift[n]
    deeper = s.lift[i] - (along_normal(p, s, i, rough, width) if width > 0 else 0.0)
    more = max(before + deeper / (own + TINY), 0.0 * own) - before
    more = select(
        deep, select(s.on[i] > 0.5, select(own > 0.0, more, 0.0 * own), 0.0 * own), 0.0 * own
    )
    a.shift[n] = before + more
    if width > 0:
        push(p, s, rough, smooth, i, more, width)
    else:
        for j in range(rough + smooth):  # what a boxed row has here is not used
            s.lift[j] = s.lift[j] - p.W[n, normal(j, rough)] * more
