"""Vectors that are differentiated in the rotating frames in which they are given, for `variational`
([Everett1988] eq. 4-9, 16-24).

A frame is a node of the tree (its axes), or the ground, -1. With fD the derivative of the
components along the axes of f,

    bD x = aD x + b_omega_a x x                  the rule of (6), in time instead of in variation
    x_u  = d x / d u  what multiplies the virtual quantity of a speed u              (19), (22)-(24)

so that no coordinate transformation is ever differentiated: a change of axes applies to x, its rate
and its partial derivatives alike.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import casadi as ca

from ...compiler import Tracer, elements, matrix, vector
from ...kernels import motion
from ...kernels import speeds as freedom

INERTIAL = -1


class Turning(NamedTuple):
    """A vector linear in the speeds u, along the axes of `frame`: x (3), its rate
    in f is P y + D, P (3 x p) = dx/du Z.
    """

    frame: int
    x: ca.SX
    D: ca.SX
    P: ca.SX

    def __add__(self, other: Turning) -> Turning:  # type: ignore[override]
        return Turning(self.frame, self.x + other.x, self.D + other.D, self.P + other.P)

    def cross(self, r: ca.SX, rate: ca.SX) -> Turning:
        """Return self x r for a vector r along the same axes, where it changes at `rate`."""
        D = ca.cross(self.D, r) + ca.cross(self.x, rate)
        return Turning(self.frame, ca.cross(self.x, r), D, -ca.skew(r) @ self.P)


class VariationalSpeeds(NamedTuple):
    """Generalised speeds u (n) and rates y (p) of the independent ones, u' = Z y + z: Z = 1 and z =
    0 where all are, (1), (20). Equation numbers: [Everett1988].

    v (nv): an expression of q and u, v' = W y + rate. independent: the names of the speeds that y
    is closest to. known: (node, "w" or "v", axis) -> (sign, index into u), where a component of a
    node's motion along its own axes is a speed itself and need not be computed. encode: (q, v, p)
    -> u. decode: (q, u, p) -> v.
    """

    names: tuple[str, ...]
    u: ca.SX
    v: ca.SX
    rate: ca.SX
    W: ca.SX
    known: dict[tuple[int, str, int], tuple[float, int]]
    encode: ca.Function
    decode: ca.Function
    Z: ca.SX
    z: ca.SX
    independent: tuple[str, ...]


@dataclass
class FrameKinematics:
    """omega and the velocity of the origin of every node, along the axes of its home frame, each
    computed when it is first used.
    """

    s: Tracer
    speeds: VariationalSpeeds
    home: Callable[[int], int]  # node -> the frame its vectors live in
    _found: dict[tuple[str, int, int], Turning] = field(default_factory=dict)

    # --- axes
    def turned(self, a: int, b: int, x: ca.SX) -> ca.SX:
        """Return the columns of x (3 x k), given along the axes of frame a, as components along the
        axes of frame b.
        """
        nodes = self.s.layout.nodes
        placed = self.s.posed
        if a == b:
            return x
        if b >= 0 and nodes[b].parent == a:
            return _columns(lambda c: motion.into(self.s.tree, b, placed, c), x)
        if a >= 0 and nodes[a].parent == b:
            return _columns(lambda c: motion.out(self.s.tree, a, placed, c), x)
        if b != INERTIAL:
            return ca.sparsify(matrix(placed.R[b]).T @ self.turned(a, INERTIAL, x))
        return ca.sparsify(matrix(placed.R[a]) @ x)

    def spin(self, a: int) -> ca.SX:
        """Return 0_omega_a along the axes of a itself."""
        return ca.SX.zeros(3) if a == INERTIAL else self.angular(a, a).x

    def seen(self, x: Turning, b: int) -> Turning:
        """Return the same vector with its rate in frame b: bD x = aD x + b_omega_a x x."""
        a = x.frame
        if a == b:
            return x
        if b == INERTIAL:
            return Turning(
                b, *(self.turned(a, b, y) for y in (x.x, x.D + ca.cross(self.spin(a), x.x), x.P))
            )
        y, D, P = (self.turned(a, b, part) for part in (x.x, x.D, x.P))
        if self.s.layout.nodes[b].parent == a:
            relative = -self._own(b)[0].x  # what b turns by in a, its parent
        else:
            relative = self.turned(a, b, self.spin(a)) - self.spin(b)
        return Turning(b, y, D + ca.cross(relative, y), P)

    def rate(self, x: Turning) -> ca.SX:
        """Return 0D x (3) with constant u, along the axes of x."""
        return x.D if x.frame == INERTIAL else x.D + ca.cross(self.spin(x.frame), x.x)

    # --- motion
    def angular(self, i: int, f: int | None = None) -> Turning:
        """Return 0_omega_i along the axes of frame f, by default of its home."""
        return self._memory("w", i, f, self._angular)

    def linear(self, i: int, f: int | None = None) -> Turning:
        """Return the velocity of the origin of node i along the axes of frame f, by default of its
        home.
        """
        return self._memory("v", i, f, self._linear)

    def position(self, i: int, f: int) -> ca.SX:
        """Return the origin of node i relative to that of the ground, along the axes of frame f."""
        return (
            self.turned(INERTIAL, f, ca.SX(vector(self.s.posed.p[i]))) if i >= 0 else ca.SX.zeros(3)
        )

    def _memory(
        self, what: str, i: int, f: int | None, find: Callable[[int, int], Turning]
    ) -> Turning:
        f = (self.home(i) if i >= 0 else INERTIAL) if f is None else f
        if (what, i, f) not in self._found:
            self._found[what, i, f] = (
                self._stated(what, i, find(i, f)) if i >= 0 else self._still(f)
            )
        return self._found[what, i, f]

    def _angular(self, i: int, f: int) -> Turning:
        below = self.seen(self._below(self.angular, i, f), f)
        return below + self._driven(i, f, below, self._own(i)[0])

    def _linear(self, i: int, f: int) -> Turning:
        p = self.s.layout.nodes[i].parent
        v = self._below(self.linear, i, f)
        w = self._below(self.angular, i, f)
        sliding, to = self._own(i)[1], v.frame
        r = self.turned(p, to, ca.SX(vector(self.s.posed.r[i])))
        # r leaves the parent's origin, and grows along the axis of a slide
        rate = self.turned(i, to, sliding.x)
        if to != p:
            rate = rate + ca.cross(w.x - self.spin(to), r)
        carried = self.seen(v + w.cross(r, rate), f)
        return carried + self._driven(i, f, self.seen(w, f), sliding)

    def _below(self, what: Callable[[int, int | None], Turning], i: int, f: int) -> Turning:
        """Return the parent's motion: along the parent's own axes where a node's own axes are
        requested, else along those of its home frame.
        """
        p = self.s.layout.nodes[i].parent
        return what(p, p if f == i else None)

    def _own(self, i: int) -> tuple[Turning, Turning]:
        """Return the motion of node i relative to its parent, along its own axes, in which the
        directions are constant.
        """
        node = self.s.layout.nodes[i]
        nv = self.s.layout.nv
        S = [ca.SX(3, nv), ca.SX(3, nv)]
        if node.vi >= nv:
            return self._following(i, node.vi - nv)
        for k in range(freedom(node.motion)):
            for part, direction in zip(S, motion.direction(self.s.tree, i, k)):
                part[:, node.vi + k] = vector(direction)
        u = self.speeds
        turning, sliding = (
            Turning(i, A @ u.v, A @ u.rate, A @ u.W) for A in (ca.sparsify(part) for part in S)
        )
        return turning, sliding

    def _following(self, i: int, k: int) -> tuple[Turning, Turning]:
        """Return the motion that is added at a node which follows the amplitudes of a flexible
        body: its speed is F v, where F has a rate.
        """
        u = self.speeds
        F = ca.SX(1, self.s.layout.nv)
        dF = ca.SX(1, self.s.layout.nv)
        for row, found in ((F, self.s.lift.F[k]), (dF, self.s.lift.rates(elements(u.v))[k])):
            for l, c in found.items():
                row[l] = c
        z = F @ u.v
        dz = F @ u.rate + dF @ u.v
        Z = F @ u.W
        directions = [ca.sparsify(vector(part)) for part in motion.direction(self.s.tree, i, 0)]
        turning, sliding = (Turning(i, d * z, d * dz, d @ Z) for d in directions)
        return turning, sliding

    def _driven(self, i: int, f: int, below: Turning, own: Turning) -> Turning:
        """Return the motion that the joint of node i adds, in frame f. Its direction is constant in
        the axes of i, because a rotation does not change its own axis.
        """
        if f == i:
            return own
        x, D, P = (self.turned(i, f, part) for part in (own.x, own.D, own.P))
        return Turning(f, x, D + ca.cross(below.x - self.spin(f), x), P)

    def _still(self, f: int) -> Turning:
        none = ca.SX(3, 1)
        return Turning(f, none, none, ca.SX(3, self.speeds.Z.shape[1]))

    def _stated(self, what: str, i: int, x: Turning) -> Turning:
        """Return a vector in which the components that are speeds by definition replace their
        computed expressions.
        """
        for axis in range(3) if x.frame == i else ():
            if (i, what, axis) in self.speeds.known:
                sign, k = self.speeds.known[i, what, axis]
                y = ca.SX(x.x)
                D = ca.SX(x.D)
                P = ca.SX(x.P)
                y[axis], D[axis], P[axis, :] = (
                    sign * part
                    for part in (self.speeds.u[k], self.speeds.z[k], self.speeds.Z[k, :])
                )
                x = Turning(i, *(ca.sparsify(part) for part in (y, D, P)))
        return x


def _columns(turn: Callable[[tuple[Any, ...]], tuple[Any, ...]], x: ca.SX) -> ca.SX:
    """Apply a rotation of tuples to every column that is not zero."""
    out = [
        ca.sparsify(vector(turn(tuple(elements(x[:, k]))))) if x[:, k].nnz() else ca.SX(3, 1)
        for k in range(x.shape[1])
    ]
    # a mechanism that is driven in every freedom
    return ca.sparsify(ca.horzcat(*out)) if out else x
