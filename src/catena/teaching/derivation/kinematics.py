"""The steps that every derivation begins with: the bodies' mass centres, velocities and angular
velocities, as expressions and as steps.

Positions come from the chain of frames; velocities from positions by differentiation in time,
angular velocities from the rotation R by R^T R'. All are checked against the kernels' recursive
pass, and against finite differences of the bodies' poses.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import casadi as ca

from ...compiler import matrix, vector
from ...spatial import full
from .board import Board
from .independent_speeds import independent_speeds, unconstrained_speeds
from .steps import Label, Step
from .words import bold, rate


@dataclass(frozen=True)
class Mover:
    """A body with mass or inertia that moves.

    m, I: mass, and inertia about the centre of mass in the body's axes. R, r: rotation and centre
    of mass in the ground. v, w: velocity of the centre of mass in the ground's axes, angular
    velocity in the body's own. a, alpha: their rates likewise.
    """

    name: str
    m: Any
    I: ca.SX
    R: ca.SX
    com: ca.SX
    r: ca.SX
    v: ca.SX
    w: ca.SX
    a: ca.SX
    alpha: ca.SX
    kernel: ca.SX  # angular velocity in the body's axes and velocity of G, by the recursive pass
    kernel_rate: ca.SX  # the same of accelerations
    heavy: bool
    stiff: bool

    def partial(self, u: ca.SX) -> tuple[ca.SX, ca.SX]:
        """Return the partial angular velocities and partial velocities, (3, size of u) each."""
        return ca.jacobian(self.w, u), ca.jacobian(self.v, u)


class Bodies:
    """The moving bodies of a mechanism on a board, and the steps about them. independent: write
    motions with the speeds that the constraints leave independent.
    """

    def __init__(self, board: Board, independent: bool = False):
        self.board, self.s = board, board.s
        self.speeds = independent_speeds(board) if independent else unconstrained_speeds(board)

    @cached_property
    def all(self) -> list[Mover]:
        """Every body that moves and has mass or inertia, ground to leaves."""
        m, u = self.board.mechanism, self.speeds
        found = [self.mover(joint.child) for joint in m.ordered]
        return [
            replace(
                b,
                v=u.written(b.v),
                w=u.written(b.w),
                a=u.written(b.a),
                alpha=u.written(b.alpha),
            )
            for b in found
            if (b.heavy or b.stiff) and ca.depends_on(ca.vertcat(b.v, b.w), self.s.v)
        ]

    def rate(self, x: ca.SX) -> ca.SX:
        """Return dx/dt along the motion, for an expression of q and v."""
        s = self.s
        return ca.jtimes(x, s.q, s.coordinate_rate()) + ca.jtimes(x, s.v, s.a)

    def mover(self, name: str) -> Mover:
        """Return the moving body of that name."""
        s = self.s
        body = self.board.mechanism.body(name)
        X = s.pose(name)
        R = X[:, :3]
        c = vector([s.value(x) for x in body.com])
        I = matrix(full(tuple(s.value(x) for x in body.inertia)))
        r = X[:, 3] + R @ c
        dR = ca.reshape(ca.jtimes(ca.vec(X[:, :3]), s.q, s.coordinate_rate()), 3, 3)
        turned = R.T @ dR
        w = (
            vector(
                [
                    turned[2, 1] - turned[1, 2],
                    turned[0, 2] - turned[2, 0],
                    turned[1, 0] - turned[0, 1],
                ]
            )
            / 2
        )
        v = ca.jtimes(r, s.q, s.coordinate_rate())
        u = s.frame_velocity(name, "body")
        du = s.frame_acceleration(name, "body")
        spun = ca.cross(u[:3], c)
        kernel = ca.vertcat(u[:3], R @ (u[3:] + spun))
        kernel_rate = ca.vertcat(du[:3], R @ (du[3:] + ca.cross(du[:3], c) + ca.cross(u[:3], spun)))
        m = s.value(body.mass)
        return Mover(
            name,
            m,
            I,
            R,
            c,
            r,
            v,
            u[:3] if self._quaternion else w,
            self.rate(v),
            du[:3] if self._quaternion else self.rate(w),
            kernel,
            kernel_rate,
            heavy=_nonzero(m),
            stiff=_nonzero(I) and ca.depends_on(u[:3], s.v),
        )

    @cached_property
    def _quaternion(self) -> bool:
        """Whether some speed is not the rate of a coordinate; then R^T R' holds only for unit
        quaternions.
        """
        return self.s.layout.nq != self.s.layout.nv

    @property
    def gravity(self) -> ca.SX:
        """The acceleration of gravity (3,) in the ground's axes."""
        return vector(self.s.tree.gravity)

    # --- steps
    def positions(self) -> Step:
        """Return the step with the positions of the centres of mass."""
        lines = [
            self.board.line(bold("r", b.name), b.r, self.board.observed[b.name].r, axes="ground")
            for b in self.all
            if b.heavy
        ]
        return Step(
            "positions",
            "Follow the chain of joints from the ground to each body's centre of mass.",
            tuple(lines),
        )

    def velocities(self) -> Step:
        """Return the step of the velocities of the centres of mass, in the ground's axes."""
        lines = [
            self.board.line(
                bold("v", b.name),
                b.v,
                b.kernel[3:],
                Label(f"d r_{b.name}/dt", rate("r", b.name)),
                "ground",
                self.board.observed[b.name].v,
            )
            for b in self.all
            if b.heavy
        ]
        return Step(
            "velocities of the centres of mass",
            "Differentiate each position in time, by the chain rule.",
            tuple(lines),
        )

    def turning(self) -> list[Step]:
        """Return the step with the angular velocities of those bodies whose rotational inertia
        matters, if there are any.
        """
        lines = [
            self.board.line(
                bold("omega", b.name),
                b.w,
                b.kernel[:3],
                axes=b.name,
                seen=self.board.observed[b.name].w,
            )
            for b in self.all
            if b.stiff
        ]
        why = (
            "A joint adds its own rate along its axis to the angular velocity of the body that"
            " carries it; components along the body's own axes."
        )
        return [Step("angular velocities", why, tuple(lines))] if lines else []

    def accelerations(self) -> Step:
        """Return the step of the accelerations of the centres of mass and of the angular
        accelerations.
        """
        lines = []
        for b in self.all:
            if b.heavy:
                lines.append(
                    self.board.line(
                        bold("a", b.name),
                        b.a,
                        b.kernel_rate[3:],
                        Label(f"d v_{b.name}/dt", rate("v", b.name)),
                        "ground",
                        self.board.observed[b.name].a,
                    )
                )
            if b.stiff:
                seen = self.board.observed[b.name].alpha
                lines.append(
                    self.board.line(
                        bold("alpha", b.name), b.alpha, b.kernel_rate[:3], axes=b.name, seen=seen
                    )
                )
        return Step(
            "accelerations", "Differentiate the velocities in time once more.", tuple(lines)
        )


def _nonzero(x: Any) -> bool:
    return not ca.SX(x).is_zero()
