"""Joint constraints between two free bodies, and the speeds and coordinates of the joint.

    P, R  where a link is: its centre of mass in the ground (m), and its axes, row by row
            3 and 9 numbers per link
    V  how it moves: velocity of the centre of mass in the ground's axes, angular velocity in the
        link's  6 numbers per link;
             after those of all links, the rates e' of the amplitudes of bodies that bend by modes
    f  what a joint forbids: zero as long as it holds, read from the poses of its two bodies
            6 - nv rows
    v        how fast a joint moves, read from the motion of its two bodies                  nv rows

`rate` differentiates any of these along the motion, P' = u and R' = R tilde(w), so that f', and the
terms of f'' without accelerations, follow by differentiation. For a planar mechanism, the rows
across the plane are left out.

A place on a body that bends, to which something is attached, is a massless body; its modal joint is
a weld to the frame that the amplitudes have moved there, so that its rows have columns for e' in
addition to those of two links.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import tau as TURN
from typing import Any

import casadi as ca
import numpy as np

from ...compiler import Tracer, elements
from ...kernels import active_rows, kinematics, layout
from ...model import (
    GENERAL,
    POINT,
    WELD,
    ClosureRow,
    Joint,
    Mechanism,
    Motion,
    RowKind,
    X,
    Y,
    Z,
    onto_z,
    plane,
    vector,
)
from ...spatial import add, cross, dot, product, rotate, scale, sub, tilde, transpose, unrotate
from .attitude import angles, components, quaternion, rotation
from .links import SNAP, JointSide, Welded, snapped

ACROSS = (RowKind.ACROSS_P, RowKind.ACROSS_C)


@dataclass(frozen=True)
class Pair:
    """A joint between two free bodies, and the rows that it imposes. point: whether it forbids
    every displacement (in the plane).

    q, v: the indices of its coordinates and speeds in the mechanism's vectors; empty for a joint
    that mimics another or closes a loop. sense: 1 or -1, the direction of its turn relative to the
    plane's normal.
    """

    joint: Joint
    parent: JointSide
    child: JointSide
    rows: tuple[ClosureRow, ...]
    point: bool
    q: slice
    v: slice
    sense: float = 1.0


@dataclass(frozen=True)
class Amplitudes:
    """The indices of the amplitudes of a flexible body in q and in v, and of their rates in V."""

    q: slice
    v: slice
    V: slice


class Bodies:
    """The links of a mechanism as free bodies: symbols P, R, V of their motion, and the pairs that
    join them.

    `pairs[i]` carries `links[i]`; `loops` are the pairs that close the tree. The symbols q, v, tau
    and p are the tracer's, and `value` turns a scalar of the mechanism into a number or an
    expression of p. normal: of the plane, if there is one; with planar=False every mechanism is
    treated as spatial. bending: {body: its amplitudes}, for modal flexible bodies.
    """

    def __init__(self, mechanism: Mechanism, planar: bool = True):
        self.mechanism, self.tracer = mechanism, Tracer(layout(mechanism), SNAP)
        self.value, self._welded = self.tracer.value, Welded(mechanism, self.tracer.value)
        self.links = self._welded.links
        self.ground = self._welded.ground
        n = len(self.links)
        self.bending = self._amplitudes(6 * n)
        self.P, self.R = ca.SX.sym("P", 3 * n), ca.SX.sym("R", 9 * n)
        self.V = ca.SX.sym("V", 6 * n + sum(x.v.stop - x.v.start for x in self.bending.values()))
        normal = None if mechanism.planar is False or not planar else plane(mechanism)
        self.normal = None if normal is None else tuple(snapped(x) for x in normal)
        self.pairs, self.loops = list(self._pairs()), list(self._loops())

    def _amplitudes(self, first: int) -> dict[str, Amplitudes]:
        """Return {body: its amplitudes}. first: the index in V at which their rates begin."""
        q = v = 0
        found = {}
        for j in self.mechanism.moving:
            if j.deflection:
                found[j.deflection.body] = Amplitudes(
                    slice(q, q + j.nq), slice(v, v + j.nv), slice(first, first + j.nv)
                )
                first += j.nv
            q, v = q + j.nq, v + j.nv
        return found

    # --- motion
    def axes(self, k: int) -> tuple[Any, ...]:
        """Return the axes of link k, three rows of symbols."""
        r = elements(self.R[9 * k : 9 * k + 9])
        return tuple(r[:3]), tuple(r[3:6]), tuple(r[6:])

    def centre(self, k: int) -> tuple[Any, ...]:
        """Return the centre of mass of link k."""
        return tuple(elements(self.P[3 * k : 3 * k + 3]))

    def spin(self, k: int) -> tuple[Any, ...]:
        """Return the angular velocity of link k in its own axes."""
        return tuple(elements(self.V[6 * k + 3 : 6 * k + 6]))

    def pose(self, side: JointSide) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """Return axes and origin of one side of a joint, in the ground."""
        if side.link < 0:
            return side.R, side.p
        R = self.axes(side.link)
        return product(R, side.R), add(self.centre(side.link), rotate(R, side.p))

    def parent_pose(self, pair: Pair) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """Return axes and origin of a joint on its parent; for a modal joint, displaced by the
        amplitudes.
        """
        R, p = self.pose(pair.parent)
        if pair.joint.deflection:
            at = self.bending[pair.joint.deflection.body].q
            e = elements(self.tracer.q[at])
            for shift in pair.joint.deflection.shifts:
                z = sum(self.value(a) * x for a, x in zip(shift.a, e))
                z += 0.5 * sum(
                    self.value(b) * x * y for row, x in zip(shift.B, e) for b, y in zip(row, e)
                )
                if shift.motion.startswith("D"):
                    p = add(p, rotate(R, scale(z, GENERAL[shift.motion])))
                else:
                    R = product(R, rotation(GENERAL[shift.motion], z))
        return R, p

    def frame(self, name: str) -> JointSide:
        """Return a named frame or body in the form of a joint's side."""
        f = self.mechanism.frame(name)
        return self._welded.side(f.body, f.pose)

    def turning(self, side: JointSide) -> tuple[Any, ...]:
        """Return the angular velocity of a side in the ground's axes."""
        return (
            (0.0, 0.0, 0.0) if side.link < 0 else rotate(self.axes(side.link), self.spin(side.link))
        )

    def rate(self, f: ca.SX) -> ca.SX:
        """Return the rate of an expression of P, R and q, with V and v constant."""
        return ca.jtimes(f, *self._flow)

    @cached_property
    def _flow(self) -> tuple[ca.SX, ca.SX]:
        n, s = len(self.links), self.tracer
        u = [self.V[6 * k : 6 * k + 3] for k in range(n)]
        R = [x for k in range(n) for row in product(self.axes(k), tilde(self.spin(k))) for x in row]
        q = ca.SX(s.coordinate_rate())
        for x in self.bending.values():
            q[x.q] = self.V[x.V]
        return ca.vertcat(self.P, self.R, s.q), ca.vertcat(*u, *R, q)

    @cached_property
    def motion(self) -> tuple[ca.SX, ca.SX, ca.SX]:
        """The positions P, rotations R and velocities V of all links as functions of the joints' q
        and v.
        """
        s, x = self.tracer, self.tracer.work()
        kinematics.velocities(s.tree, s.Q, s.V, x)
        P: list[Any] = []
        R: list[Any] = []
        V: list[Any] = []
        for link in self.links:
            axes, p = kinematics.frame_pose(*s.seat(link.name), s.posed)
            w, u = kinematics.frame_velocity(*s.seat(link.name), x)
            P.extend(add(p, rotate(axes, link.at)))
            R.extend(x for row in axes for x in row)
            V.extend((*rotate(axes, add(u, cross(w, link.at))), *w))
        V.extend(s.v[x.v] for x in self.bending.values())
        return ca.vertcat(*P), ca.vertcat(*R), ca.vertcat(*V)

    @cached_property
    def rest(self) -> tuple[ca.SX, ca.SX]:
        """P and R with every joint at zero."""
        P, R = ca.substitute(
            list(self.motion[:2]), [self.tracer.q], [ca.SX.zeros(self.tracer.layout.nq)]
        )
        return P, R

    def sample(self, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Return random q and v: normal numbers, quaternions of length one."""
        rng = np.random.default_rng(seed)
        n = self.tracer.layout
        return n.sample(rng), rng.standard_normal(n.nv)

    # --- joints
    def _pairs(self) -> Iterator[Pair]:
        """Return the pairs of the tree; in the plane, each with only those rows that act in the
        plane.
        """
        q = v = 0
        for j in (link.joint for link in self.links):
            nq, nv = (j.nq, j.nv) if j.mimic is None else (0, 0)
            parent = self._welded.side(j.parent, j.placement)
            child = self._welded.side(j.child, j.offset)
            found = (*POINT, *WELD) if j.deflection else j.closure
            sense = 1.0
            if self.normal is not None:
                n = self._normal_in(parent)
                found = _in_plane(found, n)
                sense = (
                    1.0 if j.deflection else next((1.0 * round(dot(n, a)) for a in _turns(j)), 1.0)
                )
            # angles first: less fill in elimination
            found = tuple(sorted(found, key=lambda r: r.kind != RowKind.ANGLE))
            point = sum(r.kind in ACROSS for r in found) == len(self.directions)
            yield Pair(j, parent, child, found, point, slice(q, q + nq), slice(v, v + nv), sense)
            q, v = q + nq, v + nv

    def _loops(self) -> Iterator[Pair]:
        """Return the pairs that close the tree, with the rows that can act, as the kernels choose
        and order them.
        """
        active = set(active_rows(self.tracer.layout))
        count = 0
        for j in self.mechanism.loops:
            found = j.closure
            kept = tuple(r for k, r in enumerate(found, count) if k in active)
            count += len(found)
            sides = self._welded.side(j.parent, j.placement), self._welded.side(j.child, j.offset)
            yield Pair(j, *sides, kept, False, slice(0), slice(0))

    def _normal_in(self, side: JointSide) -> tuple[Any, ...]:
        """Return the plane's normal in the axes of a side, at the mechanism's own parameter
        values.
        """
        _, R = ca.Function("rest", [self.tracer.p], list(self.rest))(
            list(self.mechanism.parameters.values())
        )
        n = np.array(self.normal)
        n = (
            n
            if side.link < 0
            else np.array(R)[9 * side.link : 9 * side.link + 9].reshape(3, 3).T @ n
        )
        fixed = ca.Function(
            "R", [self.tracer.p], [ca.vertcat(*(ca.horzcat(*row) for row in side.R))]
        )
        return tuple(
            snapped(float(x)) for x in n @ np.array(fixed(list(self.mechanism.parameters.values())))
        )

    @cached_property
    def directions(self) -> tuple[Any, ...]:
        """The directions of the ground along which the position of a link is measured: x, y, z, or
        two in the plane.
        """
        if self.normal is None:
            return X, Y, Z
        level = tuple(e for e in (X, Y, Z) if dot(e, self.normal) == 0.0)
        return level if len(level) == 2 else transpose(onto_z(self.normal).rotation)[:2]

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of those directions."""
        names = {X: "x", Y: "y", Z: "z"}
        return tuple(names.get(e, f"along{k}") for k, e in enumerate(self.directions, 1))

    def residual(self, pair: Pair) -> ca.SX:
        """Return f of a joint: a cosine for each angle that it keeps constant, metres for each
        displacement that it prevents. A joint that prevents every displacement does so along the
        ground's directions, others across the directions that they leave free.
        """
        (R_P, p_P), (R_C, p_C) = self.parent_pose(pair), self.pose(pair.child)
        d = sub(p_C, p_P)
        level = iter(self.directions)
        f = []
        for r in pair.rows:
            if r.kind == RowKind.ANGLE:
                f.append(dot(rotate(R_P, r.a), rotate(R_C, r.b)) - self.value(r.value))
            elif r.kind == RowKind.SCREW:
                a = rotate(R_P, r.a)
                b_P = rotate(R_P, r.b)
                b_C = rotate(R_C, r.b)
                h = self.value(r.value)
                e = dot(a, d) - h * ca.atan2(dot(a, cross(b_P, b_C)), dot(b_P, b_C))
                f.append(e - TURN * h * ca.floor(e / (TURN * h) + 0.5))  # whole turns do not count
            elif pair.point:
                f.append(dot(next(level), d))
            else:
                f.append(dot(rotate(R_P if r.kind == RowKind.ACROSS_P else R_C, r.a), d))
        return ca.vertcat(ca.SX(0, 1), *f)

    def speeds(self, pair: Pair) -> list[Any]:
        """Return the speeds v of a joint: of rotations along their axes, of translations as rates,
        of a ball in the child's axes.

        Of three turns the middle axis depends on the first angle, which is taken from the symbols
        q. The speeds of a modal joint are e'.
        """
        if pair.joint.deflection:
            return elements(self.V[self.bending[pair.joint.deflection.body].V])
        (R_P, p_P), (R_C, p_C) = self.pose(pair.parent), self.pose(pair.child)
        w = sub(self.turning(pair.child), self.turning(pair.parent))
        turns = _turns(pair.joint)
        axes = [rotate(R_P, a) for a in turns[:1]] + [rotate(R_C, a) for a in turns[1:][-1:]]
        if len(turns) == 3:  # these stand first in a joint, or alone
            axes.insert(
                1, rotate(R_P, rotate(rotation(turns[0], self.tracer.q[pair.q.start]), turns[1]))
            )
        turned = iter(components(w, axes, dot(turns[0], turns[1]) if len(turns) == 2 else 0.0))
        v: list[Any] = []
        for f in pair.joint.freedoms:
            if f.motion == Motion.BALL:
                v.extend(unrotate(R_C, w))
            elif f.motion == Motion.SLIDE:
                v.append(self.rate(dot(_slid(pair.joint, R_P, R_C, f.axis), sub(p_C, p_P))))
            else:
                v.append(next(turned))
        return v

    def coordinates(self, pair: Pair, turned: Sequence[Any]) -> list[Any]:
        """Return q of a joint from the poses of its bodies. turned: the angles of the links about
        the plane's normal, if there is one.

        In space an angle is between -pi and pi, and the second of three in the branch that contains
        zero.
        """
        (R_P, p_P), (R_C, p_C) = self.pose(pair.parent), self.pose(pair.child)
        Q = product(transpose(R_P), R_C)
        d = sub(p_C, p_P)
        if self.normal is None:
            found = iter(angles(_turns(pair.joint), Q))
        else:
            below, above = (
                0.0 if side.link < 0 else turned[side.link] for side in (pair.parent, pair.child)
            )
            found = iter([pair.sense * (above - below)])
        q: list[Any] = []
        for f in pair.joint.freedoms:
            if f.motion == Motion.BALL:
                q.extend(quaternion(Q))
            elif f.motion == Motion.SLIDE:
                q.append(dot(_slid(pair.joint, R_P, R_C, f.axis), d))
            elif f.motion == Motion.SCREW:
                q.append(dot(rotate(R_P, f.axis), d) / self.value(f.pitch))
            else:
                q.append(next(found))
        return q


def _turns(j: Joint) -> list[Any]:
    """Return the axes that a joint turns about."""
    return [f.axis for f in j.freedoms if f.motion in (Motion.TURN, Motion.SCREW)]


def _slid(
    j: Joint, R_P: tuple[Any, ...], R_C: tuple[Any, ...], axis: tuple[Any, ...]
) -> tuple[Any, ...]:
    """Return the direction of a translation in the ground's axes. Translations that come before the
    rotations of a joint are fixed in the parent.
    """
    return rotate(R_P if j.freedoms[0].motion == Motion.SLIDE else R_C, axis)


def _in_plane(found: tuple[ClosureRow, ...], n: tuple[Any, ...]) -> tuple[ClosureRow, ...]:
    """Return the constraint directions of rows in the plane with normal n: displacements in their
    span without n, and the rotation about n if the rows prevent all rotations.
    """
    across = [r for r in found if r.kind in ACROSS]
    D = np.array([r.a for r in across]).reshape(-1, 3)
    _, sizes, Vt = np.linalg.svd(D - np.outer(D @ n, n))
    level = [vector(d + 0.0) for d, size in zip(Vt, sizes) if size > 1e-9]
    x, y, _ = transpose(onto_z(n).rotation)
    turn = (
        (ClosureRow(RowKind.ANGLE, y, x, "rotation in the plane"),)
        if sum(r.kind == RowKind.ANGLE for r in found) == 3
        else ()
    )
    return (*(ClosureRow(across[0].kind, d, d, "displacement in the plane") for d in level), *turn)
