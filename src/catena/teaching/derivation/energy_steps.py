"""Lagrange's and Hamilton's derivations: energies, their derivatives, collection ([Baysec1996] eq.
5-15).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import casadi as ca

from ...compiler import vector
from ...kernels import BALL, kinematics
from .board import Board
from .kinematics import Bodies
from .steps import Label, Line, Step
from .words import along, scalar, slope


class Energies:
    """T and V of a mechanism on a board, computed from its bodies, and their derivatives."""

    def __init__(self, board: Board):
        self.board, self.s, self.bodies = board, board.s, Bodies(board)
        s = self.s
        self.T = (
            sum(
                (b.m * ca.dot(b.v, b.v) + ca.dot(b.w, b.I @ b.w) for b in self.bodies.all), ca.SX(0)
            )
            / 2
        )
        self.T += ca.dot(vector(s.tree.armature) * s.v, s.v) / 2
        self.V = -sum((b.m * ca.dot(self.bodies.gravity, b.r) for b in self.bodies.all), ca.SX(0))
        self.h = ca.gradient(self.T, s.v)

    @cached_property
    def kernel(self) -> tuple[ca.SX, ca.SX]:
        """T and V by the recursive pass."""
        s = self.s
        T, V = kinematics.energy(s.tree, s.Q, s.V, s.work())
        return ca.SX(T), ca.SX(V)

    @cached_property
    def M(self) -> ca.SX:
        """The mass matrix by the composite-body pass."""
        return self.s.mass_matrix()

    def slope(self, F: ca.SX) -> ca.SX:
        """Return N' dF/dq, the change of F along each speed."""
        s = self.s
        return ca.jtimes(s.coordinate_rate(), s.v, ca.gradient(F, s.q), True)

    @cached_property
    def bracket(self) -> ca.SX:
        """w x h on the rows of every ball."""
        turned = ca.SX.zeros(self.h.numel())
        for node in self.s.layout.nodes:
            if node.motion == BALL:
                rows = slice(node.vi, node.vi + 3)
                turned[rows] = ca.cross(self.s.v[rows], self.h[rows])
        return turned

    @property
    def ball(self) -> bool:
        """Whether some speeds are an angular velocity."""
        return any(node.motion == BALL for node in self.s.layout.nodes)

    @cached_property
    def momentum_rate(self) -> ca.SX:
        """d/dt of M v, by the kernels' M."""
        return self.bodies.rate(self.M @ self.s.v)

    @cached_property
    def force(self) -> ca.SX:
        """Q, the forces of motors and loads."""
        return self.s.tau + self.board.loads

    # --- steps
    def opening(self) -> list[Step]:
        """Return the steps from positions to energies."""
        kinetic, potential = self.kernel
        board = self.board
        T = board.line(
            scalar("T"),
            self.T,
            kinetic,
            Label(
                "sum of m v^2/2 + omega.I omega/2",
                r"\sum \tfrac12 m\,\mathbf{v}\cdot\mathbf{v} +"
                r" \tfrac12\,\boldsymbol{\omega}\cdot\mathbf{I}\,\boldsymbol{\omega}",
            ),
        )
        V = board.line(
            scalar("V"),
            self.V,
            potential,
            Label("-sum of m g.r", r"-\sum m\,\mathbf{g}\cdot\mathbf{r}"),
        )
        return [
            self.bodies.positions(),
            self.bodies.velocities(),
            *self.bodies.turning(),
            Step(
                "kinetic energy",
                "Add one half m v^2 of each body, and one half omega.I omega where it has inertia.",
                (T,),
            ),
            Step(
                "potential energy",
                "Gravity is the only force with a potential here; its level is zero at the ground's"
                " origin.",
                (V,),
            ),
        ]

    def momenta(self, labels: Sequence[Label] | None = None) -> Step:
        """Return the step of dT/dv."""
        v = self.board.names["v"]
        lines = self.board.lines(
            labels or slope("T", v), self.h, self.M @ self.s.v, slope("T", v) if labels else None
        )
        return Step("momenta", "Differentiate the kinetic energy by each speed.", tuple(lines))

    def rates(self) -> Step:
        """Return the step of d/dt dT/dv."""
        lines = self.board.lines(
            slope("T", self.board.names["v"], True), self.bodies.rate(self.h), self.momentum_rate
        )
        return Step(
            "rates of the momenta",
            "Differentiate each momentum in time: speeds become accelerations, angles bring their"
            " rates.",
            tuple(lines),
        )

    def gradients(self) -> Step:
        """Return the step of dT/dq and dV/dq, along the speeds."""
        s = self.s
        board = self.board
        names = self.board.freedoms
        rest = ca.substitute(self.momentum_rate, s.a, ca.SX.zeros(s.layout.nv))
        T = board.lines(
            slope("T", names),
            self.slope(self.T) - self.bracket,
            rest - board.inertial + board.inertia @ s.a,
            beside=ca.vertcat(board.inertial, board.inertia @ s.a),
        )
        V = board.lines(slope("V", names), self.slope(self.V), board.weight)
        ball = (
            "; along the axes of a ball, which turn, omega x dT/domega is taken off"
            if self.ball
            else ""
        )
        return Step(
            "gradients of the energies",
            f"Differentiate both energies by each coordinate, speeds held{ball}.",
            (*T, *V),
        )


def load_step(board: Board) -> list[Step]:
    """Return the step of the generalised forces of loads, where there are any."""
    if not board.mechanism.loads:
        return []
    lines = board.lines(
        along("Q", board.freedoms),
        board.s.applied.generalised(),
        board.pushed - board.s.tau,
        beside=board.inertial,
    )
    why = (
        "The power of springs, dampers and other loads, differentiated by each speed; motors come"
        " on top as tau."
    )
    return [Step("loads along the speeds", why, tuple(lines), "Q" in board.symbols)]


def constraint_step(board: Board) -> list[Step]:
    """Return the step of the rows of loops and speed constraints, differentiated, if there are
    any.
    """
    if not board.lam.numel():
        return []
    lines = [
        line for line in board.rows(board.A @ board.s.a, board.gamma) if line.left or line.right[0]
    ]
    return [
        Step(
            "constraints",
            "Differentiate the conditions of loops twice and those of speeds once, so that"
            " accelerations stand in them.",
            tuple(lines),
            True,
        )
    ]


def rate_rows(board: Board) -> list[Line]:
    """Return the rows q' = N v, where a speed is not the rate of a coordinate."""
    s, m = board.s, board.mechanism
    turned = [k for k, name in enumerate(m.coordinate_names) if name not in set(m.speed_names)]
    if not turned:
        return []
    rate = s.coordinate_rate()
    labels = [Label(board.names["q_rate"][k].text, board.names["q_rate"][k].latex) for k in turned]
    return board.lines(labels, rate[turned], rate[turned])


def lagrange(board: Board) -> list[Step]:
    """Return the steps of lagrange: d/dt dT/dv - dT/dq + dV/dq = Q + A' lambda."""
    e = Energies(board)
    left = e.bodies.rate(e.h) - e.slope(e.T) + e.bracket + e.slope(e.V)
    rows = rate_rows(board) + board.rows(left, e.force + board.A.T @ board.lam)
    why = (
        "Put them into d/dt dT/dv - dT/dq + dV/dq = Q and collect accelerations first, then"
        " products of speeds, then weights"
    )
    held = "; A' lambda is what the constraints do" if board.lam.numel() else ""
    return [
        *e.opening(),
        e.momenta(),
        e.rates(),
        e.gradients(),
        *load_step(board),
        Step("equations of motion", f"{why}{held}.", tuple(rows), True),
        *constraint_step(board),
    ]


def hamilton(board: Board) -> list[Step]:
    """Return the steps of hamilton: q' = v(h), h' = Q - dH/dq + A' lambda."""
    e, s = Energies(board), board.s
    names = board.names
    h = board.more("h", names["h"], e.M @ s.v)
    rate = board.more("h_rate", names["h_rate"], e.momentum_rate)
    labels = [Label(x.text, x.latex) for x in names["h"]]
    H = board.line(Label("H = T + V", "H = T + V"), e.T + e.V, e.kernel[0] + e.kernel[1])
    slopes = e.force + e.slope(e.T - e.V) - e.bracket + board.A.T @ board.lam
    return [
        *e.opening(),
        e.momenta(labels),
        e.gradients(),
        *load_step(board),
        Step(
            "Hamilton's function",
            "The energy itself; the speeds in it stand for functions of coordinates and momenta.",
            (H,),
        ),
        Step(
            "first half",
            "dH/dp = x': the momenta's definition, to be solved for the speeds.",
            (*rate_rows(board), *board.rows(h, e.h)),
            True,
        ),
        Step(
            "second half",
            "p' = Q - dH/dx, where dH/dx at constant momenta is -dT/dx + dV/dx at constant speeds.",
            tuple(board.rows(rate, slopes)),
            True,
        ),
        *constraint_step(board),
    ]
