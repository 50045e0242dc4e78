"""A choice of contact forces where rigid-body mechanics does not determine them, and whether
admissible ones exist.

The forces that cause a motion are f = f0 + Z y for any y; those that Coulomb's law admits have in
each of k contacts

    0 <= N,   |f_t| <= mu N  where it sticks,   0 <= N  where it slips (its friction is a part of Z)

Two questions are answered exactly, without replacing circular cones by polygons:

deepest   the largest s for which every normal force could be reduced by s F and still be admitted,
          F (k,) the size of each contact's forces: a second-order cone programme. s < 0: no forces
          are admitted, so that something must slip or open
centre    among all admitted forces those that minimise
          -sum log(mu^2 N^2 - |f_t|^2) - sum log N + sum |f|^2 / 2 F^2: the analytic centre, which
          depends smoothly on f0 and Z, and tends to the last admitted forces at the limit of
          friction; the last term keeps forces finite where contacts can squeeze without bound

Both are found by Newton's method with this barrier [Boyd2004, 11.3].
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
# Weight of the goal at which `deepest` ends; its error is 2 k over it, relative to F.
LAST_BARRIER_WEIGHT = 1e15
# Factor from one weight to the next.
BARRIER_WEIGHT_FACTOR = 20.0
# Newton steps for one weight.
MAX_NEWTON_STEPS = 60
# Squared Newton decrement at which an intermediate weight is solved.
PATH_SQUARED_DECREMENT = 1e-3
# Squared Newton decrement at which the analytic centre is found.
CENTRE_SQUARED_DECREMENT = 1e-24


class Cones(NamedTuple):
    """The constraints on the forces of k contacts.

    mu (k,): the coefficient of friction of contacts that stick, infinite where friction is not a
    free choice. least (k,): the smallest normal force, N; minus infinity if the cone implies it
    already, or if the normal force is not a free choice. size (k,): the size F of the forces, N.
    room (k,): by how much a normal force may fall short because of rounding, N.
    """

    mu: Array
    least: Array
    size: Array
    room: Array


class Deepest(NamedTuple):
    """Forces f (3 k,) and the margin s of the contact nearest to its limit, in units of F."""

    f: Array
    margin: float


def deepest(f: Array, Z: Array, cones: Cones, enough: float = np.inf) -> Deepest:
    """Return the forces f + Z y that are farthest inside their cones, or the first found with a
    margin above `enough` (relative to F).
    """
    w = _Barrier(cones)
    wider = np.hstack([w.unit(Z), np.zeros((len(f), 1))])
    wider[::3, -1] = -1.0
    x = w.of(f)
    y = np.zeros(wider.shape[1])
    y[-1] = w.depth(x) - 1.0
    goal = np.zeros(len(y))
    goal[-1] = -1.0
    weight = 1.0
    while weight < LAST_BARRIER_WEIGHT:
        y = w.least(x, wider, y, weight * goal, PATH_SQUARED_DECREMENT)
        depth = w.depth(x + wider[:, :-1] @ y[:-1])
        if depth > enough or y[-1] > 1.0 or y[-1] + 4.0 * len(f) / weight < -1e-6:
            break
        weight *= BARRIER_WEIGHT_FACTOR
    inner = x + wider[:, :-1] @ y[:-1]
    return Deepest(w.back(inner), w.depth(inner))


def centre(f: Array, Z: Array, cones: Cones) -> Array | None:
    """Return the analytic centre of the admitted forces f + Z y; None if they have no interior. f
    itself need not be admitted.
    """
    w = _Barrier(cones)
    if not w.depth(w.of(f)) > 0.0:
        f, margin = deepest(f, Z, cones, 0.0)
        if not margin > 0.0:
            return None
    x = w.of(f)
    unit = w.unit(Z)
    y = w.least(x, unit, np.zeros(unit.shape[1]), np.zeros(unit.shape[1]), CENTRE_SQUARED_DECREMENT)
    return w.back(x + unit @ y)


def centre_to_first_order(f: Array, near: Array, Z: Array, cones: Cones) -> Array:
    """Return the analytic centre of the forces near + Z y to first order, from the centre f of a
    similar problem, by one Newton step. It changes with `near` linearly, so that its difference
    from f over a short time is a derivative.
    """
    w = _Barrier(cones)
    x = w.of(f)
    unit = w.unit(Z)
    apart = w.of(near) - x
    apart = apart - unit @ np.linalg.lstsq(unit, apart, rcond=None)[0]
    _, slope, H = w.values(x)
    step = _newton(unit.T @ (slope + w.times(H, apart)), unit.T @ w.times(H, unit))
    return w.back(x + apart + unit @ step)


class _Barrier:
    """The logarithmic barrier of some cones, over forces in units of F."""

    def __init__(self, cones: Cones):
        self.size = np.repeat(np.where(cones.size > 0.0, cones.size, 1.0), 3)
        self.sticks = np.isfinite(cones.mu)
        self.mu = np.where(self.sticks, cones.mu, 1.0)
        self.pushes = np.isfinite(cones.least)
        self.lowest = np.where(self.pushes, cones.least, 0.0) / self.size[::3]
        self.room = cones.room / self.size[::3]

    def of(self, f: Array) -> Array:
        """Return forces f (3 k,), N, in units of F, with normal forces raised by their room. `back`
        is the inverse.
        """
        x = f / self.size
        x[::3] += self.room
        return x

    def back(self, x: Array) -> Array:
        """Return forces x in units of F as forces in N."""
        x = x.copy()
        x[::3] -= self.room
        return x * self.size

    def unit(self, Z: Array) -> Array:
        """Return an orthonormal basis of the span of Z, in units of F."""
        own = Z / self.size[:, None]
        own = own / np.maximum(np.linalg.norm(own, axis=0), 1e-300)
        return np.linalg.qr(own)[0] if own.shape[1] else own

    def depth(self, x: Array) -> float:
        """Return the smallest margin of all contacts, in units of F: the amount by which all normal
        forces could be reduced and still be admitted.
        """
        N, t = x[::3], np.hypot(x[1::3], x[2::3])
        cone = np.where(self.sticks, N - t / self.mu, np.inf)
        return float(np.minimum(cone, np.where(self.pushes, N - self.lowest, np.inf)).min())

    def values(self, x: Array) -> tuple[float, Array, Array]:
        """Return the barrier at x: its value (infinite outside), gradient (3 k,), and Hessian in
        blocks (k, 3, 3).
        """
        own = x.reshape(-1, 3)
        N, t = own[:, 0], own[:, 1:]
        reach, drag = self.mu * N, np.hypot(t[:, 0], t[:, 1])
        over = np.where(self.pushes, N - self.lowest, 1.0)
        if not (self.depth(x) > 0.0 and (over > 0.0).all()):
            return np.inf, x, np.zeros((len(N), 3, 3))
        q = np.where(self.sticks, (reach - drag) * (reach + drag), 1.0)
        if not (q > 0.0).all():
            return np.inf, x, np.zeros((len(N), 3, 3))
        d = np.where(self.sticks, 1.0 / q, 0.0)[:, None] * np.column_stack(
            [2.0 * self.mu * reach, -2.0 * t]
        )
        bend = np.where(self.sticks, 2.0 / q, 0.0)
        H = d[:, :, None] * d[:, None, :]
        H[:, range(3), range(3)] += 1.0 + np.column_stack([-(self.mu**2) * bend, bend, bend])
        H[:, 0, 0] += np.where(self.pushes, 1.0 / over**2, 0.0)
        slope = own - d
        slope[:, 0] -= np.where(self.pushes, 1.0 / over, 0.0)
        value = 0.5 * x @ x - np.log(q).sum() - np.log(over).sum()
        return float(value), slope.ravel(), H

    @staticmethod
    def times(H: Array, x: Array) -> Array:
        """Return H x for the block-diagonal H (k, 3, 3), for one vector (3 k,) or for columns."""
        own = x.reshape(len(H), 3, -1)
        return np.asarray((H @ own).reshape(x.shape))

    def least(self, x: Array, Z: Array, y: Array, goal: Array, until: float) -> Array:
        """Return the y that minimises goal . y plus the barrier of x + Z y, by Newton's method from
        y, which is inside. It ends when the squared Newton decrement is at most `until`.
        """
        value, slope, H = self.values(x + Z @ y)
        for _ in range(MAX_NEWTON_STEPS):
            g = goal + Z.T @ slope
            step = _newton(g, Z.T @ self.times(H, Z))
            fall = float(-g @ step)
            if not fall > until:
                break
            part = 1.0 if fall < 0.25 else 1.0 / (1.0 + np.sqrt(fall))
            while part > 1e-10:
                moved = y + part * step
                now = self.values(x + Z @ moved)
                gained = goal @ (moved - y) + now[0] - value
                if gained <= -0.1 * part * fall or (fall < 1e-6 and np.isfinite(now[0])):
                    break
                part *= 0.5
            else:
                break
            y, (value, slope, H) = moved, now
        return y


def _newton(g: Array, H: Array) -> Array:
    """Return the Newton step -H^-1 g for a positive definite H, whose diagonal may have very
    different scales. A direction in which rounding has left no curvature is not changed.
    """
    own = np.diagonal(H)
    scale = np.where(own > 0.0, 1.0 / np.sqrt(np.where(own > 0.0, own, 1.0)), 0.0)
    return np.asarray(
        -scale * np.linalg.lstsq(scale[:, None] * H * scale, scale * g, rcond=1e-15)[0]
    )
