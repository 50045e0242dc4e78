"""Lagrange's and Hamilton's derivations: energies, their derivatives, collection ([Baysec1996] eq.
5-15).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import casadi as ca
import numpy as np

from ...compiler import vector
from ...kernels import BALL, kinematics
from .board import Board
from .independent_speeds import IndependentSpeeds
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
        self.weight = -sum(
            (b.m * ca.dot(self.bodies.gravity, b.r) for b in self.bodies.all), ca.SX(0)
        )
        self.stored = s.applied.energy if board.mechanism.loads else ca.SX(0)
        self.V = self.weight + self.stored
        self.h = ca.gradient(self.T, s.v)

    @cached_property
    def kernel(self) -> tuple[ca.SX, ca.SX]:
        """T and V as computed by the kernels' recursive pass."""
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
        """The terms w x h of Lagrange's equations, on the rows of every ball, whose axes rotate
        with w.
        """
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
    def weight_size(self) -> ca.SX:
        """What the weights would do along each speed if no direction cancelled, (nv,): the size
        relative to which the rounding of a gradient that vanishes is measured.
        """
        g = ca.norm_2(self.bodies.gravity)
        size = ca.SX.zeros(self.s.layout.nv)
        for b in self.bodies.all:
            V = ca.jacobian(b.v, self.s.v)
            size = size + b.m * g * ca.sqrt(ca.sum1(V * V)).T
        return size

    @cached_property
    def momentum_rate(self) -> ca.SX:
        """The rate of the momentum M v, with the mass matrix M from the kernels."""
        return self.bodies.rate(self.M @ self.s.v)

    @cached_property
    def force(self) -> ca.SX:
        """Q, the forces of motors, and those of loads that have no potential."""
        if self.opaque:
            return self.s.tau + self.board.loads
        return self.s.tau + self.remainder

    @cached_property
    def remainder(self) -> ca.SX:
        """The forces of loads along the speeds without those of the potential; zero where springs
        are all there is.
        """
        Q = self.s.applied.generalised() if self.board.mechanism.loads else self.board.loads
        left = Q + self.slope(self.stored)
        size = np.abs(self.board.numbers(Q)).max(initial=0.0)
        vanishes = np.abs(self.board.numbers(left)).max(initial=0.0) <= 1e-12 * size
        return ca.SX.zeros(Q.numel()) if vanishes else left

    @cached_property
    def opaque(self) -> bool:
        """Whether forces of loads are too long to write out, so that they are written as symbols Q,
        springs included.
        """
        self.board.loads  # noqa: B018  makes the symbols where it must
        return "Q" in self.board.symbols

    @property
    def written_potential(self) -> ca.SX:
        """The part of V whose gradient is written in the rows."""
        return self.weight if self.opaque else self.V

    def loads(self) -> list[Step]:
        """Return the step of the loads that have no potential; of all loads where they are
        symbols.
        """
        if self.opaque or not self.board.mechanism.loads:
            return load_step(self.board)
        rest = self.board.pushed - self.s.tau + self.slope(self.stored)
        lines = self.board.lines(
            along("Q", self.board.freedoms),
            self.remainder,
            rest,
            scale=ca.vertcat(self.board.pushed - self.s.tau, self.board.inertial),
        )
        why = (
            "The power of the loads that are not in V, differentiated by each speed; the forces of"
            " motors are tau."
        )
        shown = [line for line in lines if any(line.right)]
        if shown and self.viscous:
            power = ca.dot(self.s.v, self.remainder)
            shown.append(
                self.board.line(
                    scalar("D"),
                    -power / 2,
                    -ca.dot(self.s.v, rest) / 2,
                    Label("-sum of Q v/2", r"-\tfrac12\sum Q\,v"),
                    scale=ca.vertcat(self.board.pushed - self.s.tau, self.board.inertial),
                )
            )
            why = f"{why} D is the dissipation function: Q = -dD/dv."
        return [Step("loads that are not in V", why, tuple(shown))] if shown else []

    @property
    def viscous(self) -> bool:
        """Whether the loads that are not in V are linear in the speeds with a symmetric matrix, so
        that they have a dissipation function.
        """
        Q, v = self.remainder, self.s.v
        J = ca.jacobian(Q, v)
        size = np.abs(self.board.numbers(Q)).max(initial=0.0)
        constant = np.abs(self.board.numbers(Q - J @ v)).max(initial=0.0)
        skew = np.abs(self.board.numbers(ca.vec(J - J.T))).max(initial=0.0)
        largest = np.abs(self.board.numbers(ca.vec(J))).max(initial=0.0)
        return bool(size > 0 and constant <= 1e-12 * size and skew <= 1e-12 * largest)

    # --- steps
    def opening(self) -> list[Step]:
        """Return the steps from positions to energies."""
        T, V = self.energy_lines(self.T)
        still = all(not b.stiff for b in self.bodies.all)
        more = "" if still else ", and one half omega.I omega where it has inertia"
        return [
            self.bodies.positions(),
            self.bodies.velocities(),
            *self.bodies.turning(),
            Step("kinetic energy", f"Add one half m v^2 of each body{more}.{self._rotors}", (T,)),
            Step("potential energy", self.potential_words, (V,)),
        ]

    def energy_lines(self, T: ca.SX) -> tuple[Line, Line]:
        """Return the lines of the kinetic energy, written as T, and of the potential energy."""
        kinetic, potential = self.kernel
        stiff = any(b.stiff for b in self.bodies.all)
        means = Label(
            "sum of m v^2/2" + " + omega.I omega/2" * stiff,
            r"\sum \tfrac12 m\,\mathbf{v}\cdot\mathbf{v}"
            + r" + \tfrac12\,\boldsymbol{\omega}\cdot\mathbf{I}\,\boldsymbol{\omega}" * stiff,
        )
        kinetic_line = self.board.line(scalar("T"), T, kinetic, None if self._rotors else means)
        potential_line = self.board.line(
            scalar("V"), self.V, potential + self.stored, self._potential
        )
        return kinetic_line, replace(potential_line, datum=True)

    @property
    def _rotors(self) -> str:
        """A sentence on the inertia of rotors, where the mechanism has some."""
        return (
            " Rotors add one half of their inertia along a speed times its square."
            if not vector(self.s.tree.armature).is_zero()
            else ""
        )

    @property
    def _parts(self) -> tuple[bool, bool]:
        """Whether the potential has a part of gravity, and whether it has a part of springs."""
        return not ca.SX(self.weight).is_zero(), not ca.SX(self.stored).is_zero()

    @property
    def _potential(self) -> Label | None:
        """The definition of the potential, with the parts that the mechanism has."""
        gravity, springs = self._parts
        parts = [("-sum of m g.r", r"-\sum m\,\mathbf{g}\cdot\mathbf{r}")] * gravity
        parts += [("energy of the springs", r"V_{\mathrm{springs}}")] * springs
        return Label(*(" + ".join(x) for x in zip(*parts))) if parts else None

    @property
    def potential_words(self) -> str:
        """A phrase that says which forces have a potential, and where its zero is."""
        gravity, springs = self._parts
        level = " that of gravity is zero at the ground's origin" if gravity else ""
        if springs:
            who = "Gravity and springs have" if gravity else "Springs have"
            inside = " In the rows their forces are part of the loads Q." if self.opaque else ""
            return (
                f"{who} a potential;{level}{', and' if gravity else ''} that of a spring is zero"
                f" where it is at rest.{inside}"
            )
        others = self.board.mechanism.loads
        if gravity and others:
            return f"V is that of gravity;{level}. The loads are forces Q."
        if gravity:
            return f"Of the forces here gravity alone has a potential;{level}."
        return "V is zero: the loads are forces Q." if others else "No force here has a potential."

    def momenta(self, labels: Sequence[Label] | None = None) -> Step:
        """Return the step with the momenta dT/dv."""
        v = self.board.names["v"]
        lines = self.board.lines(
            labels or slope("T", v), self.h, self.M @ self.s.v, slope("T", v) if labels else None
        )
        return Step("momenta", "Differentiate the kinetic energy by each speed.", tuple(lines))

    def rates(self) -> Step:
        """Return the step with the rates of the momenta, d/dt dT/dv."""
        lines = self.board.lines(
            slope("T", self.board.names["v"], True), self.bodies.rate(self.h), self.momentum_rate
        )
        moved = ca.jtimes(self.h, self.s.q, self.s.coordinate_rate())
        size = np.abs(self.board.numbers(self.momentum_rate)).max(initial=0.0)
        turned = np.abs(self.board.numbers(moved)).max(initial=0.0) > 1e-12 * size
        more = ", coordinates bring their rates" if turned else ""
        return Step(
            "rates of the momenta",
            f"Differentiate each momentum in time: speeds become accelerations{more}.",
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
            scale=ca.vertcat(board.inertial, board.inertia @ s.a),
        )
        V = board.lines(
            slope("V", names),
            self.slope(self.V),
            board.weight + self.slope(self.stored),
            scale=self.weight_size,
        )
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
        scale=board.inertial,
    )
    why = "The power of the loads, differentiated by each speed; the forces of motors are tau."
    return [Step("loads along the speeds", why, tuple(lines), "Q" in board.symbols)]


def constraint_step(board: Board, u: IndependentSpeeds | None = None) -> list[Step]:
    """Return the step with the rows of loops and speed constraints, differentiated; None if there
    are none, or if independent speeds u satisfy them already.
    """
    if not board.lam.numel() or (u and u.own):
        return []
    lines = [
        line for line in board.rows(board.A @ board.s.a, board.gamma) if line.left or line.right[0]
    ]
    return [
        Step(
            "constraints",
            f"Differentiate {_row_words(board)}, so that accelerations stand in them.",
            tuple(lines),
            True,
        )
    ]


def _row_words(board: Board) -> str:
    """Return a phrase that says which constraints there are, and how often each is
    differentiated.
    """
    kinds = ["the conditions of loops twice"] * board.loops_held + ["the rows of speeds once"] * (
        bool(board.mechanism.nonholonomic) or not board.loops_held
    )
    return " and ".join(kinds)


def rate_rows(board: Board, u: IndependentSpeeds | None = None) -> list[Line]:
    """Return the equations q' = N v, for speeds that are not the rate of a coordinate. u:
    independent speeds that replace v, if given.
    """
    s, m = board.s, board.mechanism
    turned = [k for k, name in enumerate(m.coordinate_names) if name not in set(m.speed_names)]
    if not turned:
        return []
    rate = s.coordinate_rate()
    labels = [Label(board.names["q_rate"][k].text, board.names["q_rate"][k].latex) for k in turned]
    shown = u.written(rate[turned]) if u else rate[turned]
    return board.lines(labels, shown, rate[turned])


def lagrange(board: Board) -> list[Step]:
    """Return the steps of lagrange: d/dt dT/dv - dT/dq + dV/dq = Q + A' lambda."""
    e = Energies(board)
    left = e.bodies.rate(e.h) - e.slope(e.T) + e.bracket + e.slope(e.written_potential)
    rows = rate_rows(board) + board.rows(left, e.force + board.A.T @ board.lam)
    why = (
        "Put them into d/dt dT/dv - dT/dq + dV/dq = Q and collect accelerations first, then"
        " products of speeds, then what remains"
    )
    held = "; A' lambda is what the constraints do" if board.lam.numel() else ""
    return [
        *e.opening(),
        e.momenta(),
        e.rates(),
        e.gradients(),
        *e.loads(),
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
    H = board.line(Label("H = T + V", "H = T + V"), e.T + e.V, e.kernel[0] + e.kernel[1] + e.stored)
    held = " + A' lambda" if board.lam.numel() else ""
    slopes = e.force + e.slope(e.T - e.written_potential) - e.bracket + board.A.T @ board.lam
    return [
        *e.opening(),
        e.momenta(labels),
        e.gradients(),
        *e.loads(),
        Step(
            "Hamilton's function",
            "The energy itself; the speeds in it stand for functions of coordinates and momenta.",
            (replace(H, datum=True),),
        ),
        Step(
            "first half",
            "dH/dp = x': the momenta's definition, to be solved for the speeds.",
            (*rate_rows(board), *board.rows(h, e.h)),
            True,
        ),
        Step(
            "second half",
            f"p' = Q - dH/dx{held}, where dH/dx at constant momenta is -dT/dx + dV/dx at constant"
            " speeds.",
            tuple(board.rows(rate, slopes)),
            True,
        ),
        *constraint_step(board),
    ]
