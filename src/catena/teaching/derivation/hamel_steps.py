"""The derivation of boltzmann_hamel: Lagrange's equations in quasi-velocities.

    x' = W w,    w = a x'                  quasi-velocities: combinations of speeds
    d/dt dT/dw_r + gamma^s_rk w_k dT/dw_s - dT/dpi_r + dV/dpi_r = Q_r
    gamma^s_rk = (da_si/dx_j - da_sj/dx_i) W_ir W_jk,    dT/dpi_r = W_ir dT/dx_i

r runs over the independent quasi-velocities, s and k over all of them ([Hamel1904], [Quinn1991] eq.
18). Under speed rows the last quasi-velocities are the expressions that the rows set to zero: T is
first differentiated with respect to them, and then they are set to zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from ...equations.readable import Name
from ...errors import FormulationError
from ...model import Motion, plane
from .board import Board
from .energy_steps import Energies, constraint_step
from .independent_speeds import constant_value, independent_speeds, solvable_speeds
from .steps import Label, Line, Step
from .words import along, slope

# an entry of a three-index symbol vanishes below this, relative to the largest
VANISHING_SYMBOL_RATIO = 1e-12


@dataclass(frozen=True)
class QuasiVelocities:
    """Quasi-velocities on a board: v = W w and w = onto v; the first `free` are independent, the
    others are zero. names, rate_names: the names of all of them and of their rates.
    """

    W: ca.SX
    onto: ca.SX
    free: int
    w: ca.SX
    w_rate: ca.SX
    names: Sequence[Name]
    rate_names: Sequence[Name]


def quasi_velocities(board: Board) -> QuasiVelocities:
    """Return the quasi-velocities of a board. Under speed rows these are independent speeds and the
    expressions that the rows set to zero; for a plane mechanism they are the angular velocities of
    the links; otherwise they are the speeds themselves, such as the angular velocity of a ball in
    the body's axes.
    """
    s = board.s
    n = s.layout.nv
    if board.mechanism.nonholonomic:
        W, onto, free = _under_rows(board)
    else:
        rates_of_links = _link_rates(board)
        W, onto, free = ca.SX(np.linalg.inv(rates_of_links)), ca.SX(rates_of_links), n
    names = [Name(f"w{k + 1}_", f"w{k + 1}", rf"\omega_{{{k + 1}}}") for k in range(n)]
    rates = [Name(f"w{k + 1}_dot_", f"w{k + 1}'", rf"\dot{{\omega}}_{{{k + 1}}}") for k in range(n)]
    w = board.more("w", names, onto @ s.v)
    turned = ca.jtimes(W @ w, s.q, s.coordinate_rate())
    turned = ca.substitute(turned, s.v, W @ w)
    w_rate = board.more("w_rate", rates, onto @ (s.a - turned))
    return QuasiVelocities(W, onto, free, w, w_rate, names, rates)


def _link_rates(board: Board) -> np.ndarray:
    """Return (nv, nv): the angular velocities of the links of a plane mechanism from the speeds, of
    other mechanisms the identity.
    """
    m, s = board.mechanism, board.s
    found = np.eye(s.layout.nv)
    normal = plane(m)
    if normal is None or any(joint.mimic is not None for joint in m.ordered):
        return found
    k = 0
    for joint in m.ordered:
        spin = (
            np.array(normal)
            @ board.numbers(s.jacobian(joint.child, "world"))[0].reshape(-1, 6)[:, :3].T
        )
        for freedom in joint.freedoms:
            if freedom.motion == Motion.TURN:
                found[k] = np.round(spin, 12)
            k += freedom.nv
    return found


def _under_rows(board: Board) -> tuple[ca.SX, ca.SX, int]:
    """Return W, its inverse, and the number of independent quasi-velocities under rows A v = 0."""
    A, B = board.own_rows
    if not B.is_zero():
        raise FormulationError(
            f"steps: rows of {board.mechanism.name!r} prescribe a motion, and the three-index"
            " symbols of boltzmann_hamel are written for rows that set a velocity to zero; take"
            " kane or maggi"
        )
    G = independent_speeds(board).G
    n = G.shape[0]
    r = solvable_speeds(board, A)
    kept = [k for k in range(n) if k not in r]
    det = constant_value(board, ca.det(A[:, r]))
    if det:
        K = ca.SX.zeros(n, len(r))
        K[r, :] = ca.adj(A[:, r]) / det
        onto = ca.SX.eye(n)[kept, :]
    else:
        square, gram = A @ A.T, G.T @ G
        K = A.T @ _inverse(board, square)
        onto = _inverse(board, gram) @ G.T
    return ca.horzcat(G, ca.sparsify(K)), ca.vertcat(onto, A), G.shape[1]


def _inverse(board: Board, x: ca.SX) -> ca.SX:
    """Return the inverse of a matrix, as numbers where it is the same at all states."""
    found = board.numbers(ca.densify(x)).reshape(-1, *x.shape)
    if not ca.depends_on(x, board.s.p) and np.allclose(found, found[0], rtol=0, atol=1e-13):
        return ca.SX(np.round(np.linalg.inv(found[0]), 13))
    return ca.inv(x)


class Hamel:
    """T, its derivatives and the three-index symbols of a mechanism in quasi-velocities."""

    def __init__(self, board: Board):
        self.board, self.s = board, board.s
        self.e, self.w = Energies(board), quasi_velocities(board)
        self.T = ca.substitute(self.e.T, self.s.v, self.w.W @ self.w.w)

    def closed(self, x: ca.SX) -> ca.SX:
        """Return an expression in which the quasi-velocities that the rows set to zero are zero."""
        w = self.w
        if w.free == w.w.numel():
            return x
        for symbols in (w.w, w.w_rate):
            x = ca.substitute(x, symbols[w.free :], ca.SX.zeros(symbols.numel() - w.free))
        return x

    @cached_property
    def fields(self) -> ca.SX:
        """The rates of the coordinates per unit of each quasi-velocity, (nq, nv)."""
        return ca.jacobian(self.s.coordinate_rate(), self.s.v) @ self.w.W

    @cached_property
    def forms(self) -> ca.SX:
        """The quasi-velocities per unit rate of each coordinate, (nv, nq)."""
        N = ca.jacobian(self.s.coordinate_rate(), self.s.v)
        size = self.board.numbers(ca.densify(ca.sum1(N * N))).mean(0)  # 1, or 1/4 of a quaternion
        return self.w.onto @ ca.diag(ca.SX(1 / np.round(size, 12))) @ N.T

    def bracket(self, r: int, k: int) -> ca.SX:
        """Return gamma^s_rk for all s, (nv,): the components of the Lie bracket of two fields."""
        X, q = self.fields, self.s.q
        return self.forms @ (ca.jtimes(X[:, k], q, X[:, r]) - ca.jtimes(X[:, r], q, X[:, k]))

    def classical(self, r: int, k: int) -> ca.SX:
        """Return gamma^s_rk by Boltzmann's sum over the derivatives of the coefficients a_si."""
        X, a, q = self.fields, self.forms, self.s.q
        found = [
            X[:, r].T @ (ca.jacobian(a[s, :].T, q) - ca.jacobian(a[s, :].T, q).T) @ X[:, k]
            for s in range(a.shape[0])
        ]
        return ca.vertcat(*found)

    @cached_property
    def symbols(self) -> dict[tuple[int, int], ca.SX]:
        """The brackets of independent quasi-velocities r < k that do not vanish."""
        found = {}
        for r in range(self.w.free):
            for k in range(r + 1, self.w.free):
                c = self.bracket(r, k)
                values = np.abs(self.board.numbers(ca.densify(c))).max(0)
                if values.max(initial=0.0) > VANISHING_SYMBOL_RATIO:
                    least = VANISHING_SYMBOL_RATIO * values.max()
                    found[r, k] = ca.vertcat(
                        *(c[s] if values[s] > least else ca.SX(0) for s in range(c.numel()))
                    )
        return found

    @cached_property
    def momenta(self) -> ca.SX:
        """dT/dw for all quasi-velocities; those that the rows set to zero are set to zero after the
        differentiation.
        """
        return self.closed(ca.gradient(self.T, self.w.w))

    @cached_property
    def turned(self) -> ca.SX:
        """The terms gamma^s_rk w_k dT/dw_s for each independent r."""
        w, p = self.w, self.momenta
        total = [ca.SX(0)] * w.free
        for (r, k), c in self.symbols.items():
            total[r] = total[r] + w.w[k] * ca.dot(c, p)
            total[k] = total[k] - w.w[r] * ca.dot(c, p)
        return ca.vertcat(*total)

    def rate(self, x: ca.SX) -> ca.SX:
        """Return dx/dt along the motion, for an expression of q and w."""
        w, s = self.w, self.s
        moved = ca.substitute(s.coordinate_rate(), s.v, w.W @ w.w)
        return self.closed(ca.jtimes(x, s.q, moved) + ca.jtimes(x, w.w, w.w_rate))

    def gradient(self, F: ca.SX) -> ca.SX:
        """Return the derivatives dF/dpi_r of F along the independent quasi-velocities r."""
        return self.closed(self.fields.T @ ca.gradient(F, self.s.q))[: self.w.free]

    def onto(self, x: ca.SX) -> ca.SX:
        """Return forces along the speeds as forces along the independent quasi-velocities, in
        terms of w.
        """
        w = self.w
        found = w.W[:, : w.free].T @ x
        return self.closed(ca.substitute(found, self.s.v, w.W @ w.w))


def boltzmann_hamel(board: Board) -> list[Step]:
    """Return the steps of boltzmann_hamel: Lagrange's equations in quasi-velocities, with their
    three-index symbols.
    """
    h = Hamel(board)
    e, w = h.e, h.w
    free, all_names = w.names[: w.free], w.names
    p, W = h.momenta, w.W[:, : w.free]
    kernel = w.W.T @ (e.M @ board.s.v)
    rates, turned = h.rate(p[: w.free]), h.turned
    slopes, weights = h.gradient(h.T), h.gradient(e.written_potential)
    stored = ca.SX.zeros(board.s.layout.nv) if e.opaque else e.slope(e.stored)
    force = h.onto(e.force)
    closing = W.T @ board.A.T @ board.lam if not board.mechanism.nonholonomic else ca.SX(w.free, 1)
    known_rate = e.bodies.rate(kernel)[: w.free]
    dT = board.lines(
        _by("T", free),
        slopes,
        known_rate + turned - W.T @ board.inertial,
        scale=ca.vertcat(W.T @ board.inertial, turned, W.T @ (board.inertia @ board.s.a)),
    )
    dV = board.lines(
        _by("V", free), weights, W.T @ (board.weight + stored), scale=ca.fabs(W.T) @ e.weight_size
    )
    T, V = e.energy_lines(h.T)
    rows = _kinematics(h) + board.rows(rates + turned - slopes + weights, force + closing)
    return [
        e.bodies.positions(),
        *_constraints(h),
        _definition(h),
        Step("kinetic energy", _kinetic_words(h), (T,), True),
        Step("potential energy", e.potential_words, (V,)),
        Step(
            "momenta",
            f"Differentiate the kinetic energy by each quasi-velocity{_closed_words(h)}.",
            tuple(board.lines(slope("T", all_names), p, kernel)),
            True,
        ),
        *_symbol_step(h),
        Step(
            "rates of the momenta",
            f"Differentiate the momenta of {_listed(free)} in time.",
            tuple(board.lines(slope("T", free, True), rates, known_rate)),
        ),
        Step(
            "gradients of the energies",
            "d/dpi_r is the change along the motion in which w_r alone is one.",
            tuple(line for line in (*dT, *dV) if any(line.right)),
        ),
        *e.loads(),
        Step(
            "generalised forces",
            f"Forces along the quasi-velocities: W^T tau{' with loads' if _loads(h) else ''}.",
            tuple(
                board.lines(
                    along("Q", free), force, W.T @ (board.pushed + stored), scale=W.T @ stored
                )
            ),
            True,
        ),
        Step("equations of motion", _final_words(h), tuple(rows), True),
        *([] if board.mechanism.nonholonomic else constraint_step(board)),
    ]


# --- steps and words
def _kinematics(h: Hamel) -> list[Line]:
    """Return the equations q' = N W w, for a speed that is not the rate of a coordinate."""
    board, s, m = h.board, h.s, h.board.mechanism
    turned = [k for k, name in enumerate(m.coordinate_names) if name not in set(m.speed_names)]
    if not turned:
        return []
    rate = s.coordinate_rate()[turned]
    labels = [Label(board.names["q_rate"][k].text, board.names["q_rate"][k].latex) for k in turned]
    return board.lines(labels, h.closed(ca.substitute(rate, s.v, h.w.W @ h.w.w)), rate)


def _constraints(h: Hamel) -> list[Step]:
    board, s = h.board, h.s
    A, B = board.own_rows
    if not board.mechanism.nonholonomic:
        return []
    return [
        Step(
            "constraints on the speeds",
            "The speeds obey these rows, which are linear in them.",
            tuple(board.rows(A @ s.v, -B)),
            True,
        )
    ]


def _definition(h: Hamel) -> Step:
    """Return the step that defines the quasi-velocities, w = a x', and its inverse, x' = W w."""
    board, s, w = h.board, h.s, h.w
    labels = [Label(n.text, n.latex) for n in w.names]
    if (w.W - ca.SX.eye(w.W.shape[0])).is_zero():
        same = "The speeds themselves serve as quasi-velocities."
        return Step("quasi-velocities", same, tuple(board.lines(labels, s.v, w.onto @ s.v)), True)
    speeds = [Label(n.text, n.latex) for n in board.names["v"]]
    lines = board.lines(labels, w.onto @ s.v, w.onto @ s.v)
    back = board.lines(speeds, h.closed(w.W @ w.w), s.v)
    gone = w.names[w.free :]
    words = "Combinations of the speeds take their place, and the speeds follow from them."
    if gone:
        words = (
            f"Combinations of the speeds take their place. The rows say that {_listed(gone)}"
            f" {'vanishes' if len(gone) == 1 else 'vanish'}; the speeds follow from the others."
        )
    return Step("quasi-velocities", words, (*lines, *back), True)


def _symbol_step(h: Hamel) -> list[Step]:
    """Return the step of the three-index symbols that do not vanish."""
    lines = []
    for (r, k), c in h.symbols.items():
        known = h.classical(r, k)
        for s in range(c.numel()):
            if not c[s].is_zero():
                label = Label(
                    f"gamma{s + 1}_{r + 1}{k + 1}", rf"\gamma^{{{s + 1}}}_{{{r + 1}{k + 1}}}"
                )
                found = h.board.line(label, ca.densify(c[s]), ca.densify(known[s]))
                lines.append(found)
    why = (
        "gamma^s_rk, the coefficient of w_s in the commutator of the motions r and k; gamma^s_kr is"
        " its negative, and all others vanish."
    )
    return [Step("three-index symbols", why, tuple(lines), True)] if lines else []


def _kinetic_words(h: Hamel) -> str:
    held = (
        " Those that vanish stay in it, because T is differentiated by them too."
        if h.w.free < len(h.w.names)
        else ""
    )
    return f"Write it with the quasi-velocities.{held}"


def _closed_words(h: Hamel) -> str:
    gone = h.w.names[h.w.free :]
    return f", then set {_listed(gone)} to zero" if gone else ""


def _loads(h: Hamel) -> bool:
    return bool(h.board.mechanism.loads)


def _final_words(h: Hamel) -> str:
    """Return the sentence of the equations, with the terms that the mechanism has."""
    turning = " + gamma^s_rk w_k dT/dw_s" if h.symbols else ""
    still = (
        ""
        if h.symbols
        else " The three-index symbols vanish: these quasi-velocities are rates of coordinates."
    )
    loops = (
        " The loops are cut; A' lambda are the forces of the joints that close them."
        if h.board.lam.numel() and not h.board.mechanism.nonholonomic
        else ""
    )
    rows = (
        " The forces of the constraints have no part along independent quasi-velocities."
        if h.board.mechanism.nonholonomic
        else ""
    )
    which = f" for r = {'1' if h.w.free == 1 else f'1 to {h.w.free}'}"
    return (
        (
            f"d/dt dT/dw_r{turning} - dT/dpi_r + dV/dpi_r = Q_r{which}, sum over s and k."
            if turning
            else f"d/dt dT/dw_r - dT/dpi_r + dV/dpi_r = Q_r{which}."
        )
        + still
        + rows
        + loops
    )


def _by(letter: str, names: Sequence[Name]) -> list[Label]:
    """Return the labels of derivatives, such as dT/dpi_r, for each name."""
    return [
        Label(f"d{letter}/dpi{k}", rf"\frac{{\partial {letter}}}{{\partial \pi_{{{k}}}}}")
        for k in range(1, len(names) + 1)
    ]


def _listed(names: Sequence[Name]) -> str:
    texts = [n.text for n in names]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"
