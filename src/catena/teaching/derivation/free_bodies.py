"""Bodies cut free, with the forces of their joints as named symbols: for Newton and Euler, the
recursive passes, and springs in place of joints.

    F, T of a joint      the wrench of the parent on the child through it, motor included, about the
                         child body's origin

The forces of loops and of contacts by speed rows are the multipliers of their rows. In the plane
two forces and one torque are written for each joint.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from ...compiler import elements, matrix, vector
from ...equations.readable import Name, upright
from ...errors import FormulationError
from ...model import GROUND, plane
from ...model.loads import Nonholonomic
from .board import Board
from .kinematics import Bodies, Mover

AXES = "xyz"


class FreeBodies:
    """The bodies and the joints' forces. axes: "ground" or "body", along which forces are
    written.
    """

    def __init__(self, board: Board, axes: str = "ground"):
        m = board.mechanism
        unplaced = [x.name for x in (*m.constraints, *m.nonholonomic) if not _placed(x)]
        if unplaced:
            raise FormulationError(
                f"steps: by {board.equations.formulation} every body is cut free, and it is not"
                f" known on which bodies {', '.join(map(repr, unplaced))} of {m.name!r} acts; take"
                " kane or maggi, which use independent speeds, or lagrange or hamilton, which write"
                " multipliers"
            )
        self.board, self.s, self.axes, self.bodies = board, board.s, axes, Bodies(board)
        self.movers = {j.child: self.bodies.mover(j.child) for j in m.ordered}
        self.shown = [k for k in range(6) if self._in_evidence(k)]
        self.wrench = self._symbols()

    # --- what is shown
    @cached_property
    def _normal(self) -> int | None:
        """The index of the ground's axis about which all rotations are; None in space, or in a
        plane that is not perpendicular to an axis of the ground.
        """
        n = plane(self.board.mechanism)
        return None if n is None or max(map(abs, n)) < 1 - 1e-12 else int(np.argmax(np.abs(n)))

    def _in_evidence(self, k: int) -> bool:
        """Return whether entry k of a wrench, torque first, is written as an unknown."""
        n = self._normal
        straight = (
            self.axes == "ground"
            or n is None
            or all(self._keeps(b, n) for b in self.movers.values())
        )
        return n is None or not straight or ((k == n) if k < 3 else (k - 3 != n))

    def _keeps(self, b: Mover, n: int) -> bool:
        """Return whether a body's own axis n always coincides with the plane's normal."""
        return bool(np.allclose(np.abs(self.board.numbers(b.R[n, n])), 1.0))

    # --- symbols
    @cached_property
    def held(self) -> dict[str, tuple[Any, Any]]:
        """The wrenches of the rows of loops and of contacts on bodies."""
        return held_by_rows(self.board)

    @property
    def row_words(self) -> str:
        """The end of a sentence that says what lambda is, where the mechanism has rows."""
        m = self.board.mechanism
        who = [
            *["joints that close loops"] * bool(m.loops),
            *["contacts"] * bool(m.nonholonomic),
        ]
        return f"; lambda are the forces of the {' and of the '.join(who)}" if who else ""

    def _symbols(self) -> dict[str, ca.SX]:
        """Return torque and force (6,) of every joint on its child, as symbols where they are
        written.
        """
        m = self.board.mechanism
        found = self.s.reactions(self.held)
        names: list[Name] = []
        values: list[ca.SX] = []
        place: dict[tuple[str, int], int] = {}
        for row, joint in enumerate(m.ordered):
            R = self._turn(self.movers[joint.child])
            values_here = ca.vertcat(R @ ca.vec(found[row, :3].T), R @ ca.vec(found[row, 3:].T))
            plain = "".join(c if c.isalnum() else "_" for c in joint.name)
            for k in self.shown:
                letter, axis = "TF"[k // 3], AXES[k % 3]
                place[joint.child, k] = len(names)
                names.append(
                    Name(
                        f"{letter}{axis}_{plain}_",
                        f"{letter}{axis}_{joint.name}",
                        rf"{letter}^{{{axis}}}_{{{upright(joint.name)}}}",
                    )
                )
                values.append(values_here[k])
        x = self.board.more("reactions", names, ca.vertcat(*values))
        return {
            j.child: vector(
                [x[place[j.child, k]] if (j.child, k) in place else 0.0 for k in range(6)]
            )
            for j in m.ordered
        }

    def _turn(self, b: Mover) -> ca.SX:
        """Return the rotation from the body's axes to those along which forces are written."""
        return b.R if self.axes == "ground" else ca.SX.eye(3)

    def into(self, b: Mover, x: ca.SX) -> ca.SX:
        """Return a vector, given in the ground's axes, along the axes in which forces on body b are
        written.
        """
        return x if self.axes == "ground" else b.R.T @ x

    def out_of(self, b: Mover, x: ca.SX) -> ca.SX:
        """Return a vector, given along the axes in which forces on body b are written, in the
        ground's axes.
        """
        return x if self.axes == "ground" else b.R @ x

    # --- balances
    @cached_property
    def sizes(self) -> tuple[ca.SX, ca.SX]:
        """The sizes relative to which forces and torques are compared: weights and inertia forces
        of all bodies, and their torques about the ground's origin.
        """
        force, torque = ca.SX(0), ca.SX(0)
        for b in self.movers.values():
            F = b.m * (ca.norm_1(b.a) + ca.norm_1(self.bodies.gravity))
            force = force + F
            torque = (
                torque
                + F * (ca.norm_1(b.r) + ca.norm_1(b.com))
                + ca.norm_1(b.I @ b.alpha)
                + ca.norm_1(ca.cross(b.w, b.I @ b.w))
            )
        return force, torque + ca.norm_1(self.s.tau)

    @property
    def weight_direction(self) -> ca.SX:
        """The acceleration of gravity (3,) along the axes in which forces are written."""
        seen = [float(self.axes == "body" or k + 3 in self.shown) for k in range(3)]
        return self.bodies.gravity * vector(seen)

    def relative(self, name: str) -> ca.SX:
        """Return (6, nv): the motion of a body relative to its parent, at the body's origin in the
        ground's axes, angular first.
        """
        s = self.s
        joint = next(j for j in self.board.mechanism.ordered if j.child == name)
        J = s.jacobian(name, "world")
        if joint.parent == GROUND:
            return J
        P = s.jacobian(joint.parent, "world")
        arm = self.origin(name) - self.origin(joint.parent)
        return J - ca.vertcat(P[:3, :], P[3:, :] - ca.skew(arm) @ P[:3, :])

    def origin(self, name: str) -> ca.SX:
        """Return the origin of a body's frame, (3,)."""
        return self.s.pose(name)[:, 3]

    def force(self, name: str) -> ca.SX:
        """Return all forces on a body but its weight, in the ground's axes."""
        b = self.movers[name]
        F = self.out_of(b, self.wrench[name][3:])
        for child in self._carried(name):
            F = F - self.out_of(self.movers[child], self.wrench[child][3:])
        return F + self._outside(name)[1]

    def torque(self, name: str, about: ca.SX) -> ca.SX:
        """Return all torques on a body about a point, without its weight, in the ground's axes."""
        b, T = self.movers[name], ca.SX.zeros(3)
        for body, sign in ((name, 1), *((child, -1) for child in self._carried(name))):
            t, f = (
                self.out_of(self.movers[body], x)
                for x in (self.wrench[body][:3], self.wrench[body][3:])
            )
            T = T + sign * (t + ca.cross(self.origin(body) - about, f))
        t, f = self._outside(name)
        return T + t + ca.cross(self.origin(b.name) - about, f)

    def _carried(self, name: str) -> list[str]:
        return [j.child for j in self.board.mechanism.ordered if j.parent == name]

    def _outside(self, name: str) -> tuple[ca.SX, ca.SX]:
        """Return the wrench of loads and loops on a body: torque about its origin and force, in the
        ground's axes.
        """
        t, f = (
            self.s.applied.wrenches.get(name, (ca.SX.zeros(3), ca.SX.zeros(3)))
            if self.board.mechanism.loads
            else (ca.SX.zeros(3),) * 2
        )
        if name in self.held:
            node, _, p = self.s.seat(name)
            N = ca.SX(ca.vertcat(*(ca.horzcat(*row) for row in self.s.posed.R[node])))
            torque, force = (vector(x) for x in self.held[name])
            t = t + N @ (torque - ca.cross(vector(p), force))
            f = f + N @ force
        return t, f

    def along_freedoms(self) -> ca.SX:
        """Return (nv,): the generalised forces of the joints' wrenches along each speed, from the
        motion of each child relative to its parent.
        """
        total = ca.SX.zeros(self.s.layout.nv)
        for joint in self.board.mechanism.ordered:
            J = self.relative(joint.child)
            b = self.movers[joint.child]
            T, F = (
                self.out_of(b, x)
                for x in (self.wrench[joint.child][:3], self.wrench[joint.child][3:])
            )
            total = total + J[:3, :].T @ T + J[3:, :].T @ F
        return total

    def motors(self) -> ca.SX:
        """Return (nv,): tau and loads along the speeds, less the inertia forces of rotors."""
        s = self.s
        loads = ca.SX.zeros(s.layout.nv)
        if self.board.mechanism.loads:
            loads = s.applied.forces if s.applied.wrenches else self.board.loads
        return s.tau + loads - vector(s.tree.armature) * s.a


def _placed(row: object) -> bool:
    """Return whether it is known at which point of which body a constraint row acts."""
    return isinstance(row, Nonholonomic) and row.text is None


def held_by_rows(board: Board) -> dict[str, tuple[Any, Any]]:
    """Return the wrenches of the rows of loops and contacts on bodies: torque about the node's
    origin and force, in the node's axes.
    """
    if not board.lam.numel():
        return {}
    W, s = board.s.row_wrenches(), board.s
    found: dict[str, ca.SX] = {}
    for k, loop in enumerate(s.con.loop):
        joint = s.layout.mechanism.loops[loop]
        for body, w in ((joint.parent, W[k, :6]), (joint.child, W[k, 6:])):
            w = board.lam[k] * ca.vec(w.T)
            found[body] = found[body] + w if body in found else w
    k = len(s.con.loop)
    for row in filter(_placed, board.mechanism.nonholonomic):
        body = board.mechanism.frame(row.frame).body
        X = s.pose(body)
        _, R, p = s.seat(body)
        N = X[:, :3] @ matrix(R).T
        at = X[:, 3] - N @ vector(p)
        for unit in s.applied.contact_wrenches(row):
            t, f = vector(unit[:3]), vector(unit[3:])
            w = board.lam[k] * ca.vertcat(N.T @ (t - ca.cross(at, f)), N.T @ f)
            found[body] = found[body] + w if body in found else w
            k += 1
    return {
        b: (tuple(elements(w[:3])), tuple(elements(w[3:]))) for b, w in found.items() if b != GROUND
    }
