"""Independent speeds: speeds u that remain free under the rows A v + B = 0 of a mechanism.

    v = G u + b,    A G = 0,  A b + B = 0
    a = G u' + c    c: the rate of G u + b with constant u

The columns of G are the motions that the rows allow ([Everett1988] eq. 2, 20-22). Without speed
rows, and if the user chooses no generalised speeds, u is v itself; then loops are cut, and the
forces of the joints that close them are A' lambda.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import casadi as ca
import numpy as np

from ...equations.readable import Name
from ...errors import FormulationError
from .board import Board
from .steps import Label, Step

# a determinant is constant if it varies by less than this over the states, relative to its size
CONSTANT_RATIO = 1e-12
# G has lost a column if a singular value is below this, relative to the largest
LOST_COLUMN_RATIO = 1e-9


@dataclass(frozen=True)
class IndependentSpeeds:
    """The independent speeds on a board.

    u, u_rate: their symbols and those of their rates. names, rate_names, freedoms: the names of u,
    of their rates, and of the forces along them. G (nv, p), b (nv), c (nv): as above. own: whether
    they differ from the mechanism's speeds.
    """

    board: Board
    u: ca.SX
    u_rate: ca.SX
    names: Sequence[Name]
    rate_names: Sequence[Name]
    freedoms: Sequence[Name]
    G: ca.SX
    b: ca.SX
    c: ca.SX
    own: bool

    def along(self, x: ca.SX) -> ca.SX:
        """Return forces along the speeds v, (nv, ...), as forces along u."""
        return self.G.T @ x if self.own else x

    def written(self, x: ca.SX) -> ca.SX:
        """Return an expression of v and a, rewritten in terms of the independent speeds u and their
        rates u'.
        """
        if not self.own:
            return x
        s = self.board.s
        (x,) = ca.substitute([x], [s.a], [self.G @ self.u_rate + self.c])
        return ca.substitute(x, s.v, self.G @ self.u + self.b)

    @property
    def closing(self) -> ca.SX:
        """The forces of cut loops along the speeds, A' lambda; zero where the rows are obeyed."""
        board = self.board
        return self.along(ca.SX.zeros(self.b.numel())) if self.own else board.A.T @ board.lam

    @property
    def remark(self) -> str:
        """A sentence on how the forces of the constraints were eliminated; "" if there are none."""
        if not self.board.lam.numel():
            return ""
        return (
            " The forces of the constraints have no part along these speeds."
            if self.own
            else " The loops are cut; A' lambda are the forces of the joints that close them."
        )

    def rest(self, a: ca.SX) -> ca.SX:
        """Return the part of the accelerations a that remains for u' = 0."""
        return self.written(a) - self.G @ self.u_rate if self.own else ca.SX.zeros(a.numel())

    def steps(self) -> list[Step]:
        """Return the steps of the rows and of the kinematic equations; none where u is v."""
        if not self.own:
            return []
        board, s = self.board, self.board.s
        A, B = board.own_rows
        rows = board.rows(A @ s.v, -B) if A.shape[0] else []
        labels = [Label(n.text, n.latex) for n in board.names["v"]]
        lines = board.lines(labels, self.G @ self.u + self.b, s.v)
        p, n = self.u.numel(), s.layout.nv
        choice = self.names[0].text + (f" to {self.names[-1].text}" if p > 1 else "")
        why = (
            f"{'Only one' if p == 1 else p} of the {n} speeds"
            f" {'is' if p == 1 else 'are'} independent; every choice of {choice} obeys the rows"
            " above."
            if A.shape[0]
            else "Generalised speeds are linear combinations of the rates of the coordinates."
        )
        return [
            Step(
                "constraints on the speeds",
                "The speeds obey these rows, which are linear in them"
                + ("; those of loops are differentiated once." if board.loops_held else "."),
                tuple(rows),
                True,
            ),
            Step("generalised speeds", why, tuple(lines), True),
        ]


def independent_speeds(board: Board) -> IndependentSpeeds:
    """Return the independent speeds of a board: those of the options `speeds` and `dependent` of
    the equations, else a choice whose G has sines and cosines and no quotients.
    """
    s = board.s
    n = s.layout.nv
    options: Mapping[str, object] = getattr(board.equations, "options", {})
    if not (board.mechanism.nonholonomic or {"rows", "speeds", "dependent"} & set(options)):
        return unconstrained_speeds(board)
    G, b = _given(board, options) if {"speeds", "dependent"} & set(options) else _chosen(board)
    _hold(board, G, b)
    p = G.shape[1]
    letter = _letter(board)
    names = [
        Name(f"{letter}{k + 1}_", f"{letter}{k + 1}", f"{letter}_{{{k + 1}}}") for k in range(p)
    ]
    rates = [
        Name(f"{letter}{k + 1}_dot_", f"{letter}{k + 1}'", rf"\dot{{{letter}}}_{{{k + 1}}}")
        for k in range(p)
    ]
    onto = ca.solve(G.T @ G, G.T) if p else ca.SX(0, n)
    u = board.more("u", names, onto @ (s.v - b))
    c = ca.jtimes(G @ u + b, s.q, s.coordinate_rate()) + ca.jacobian(G @ u + b, s.t)
    c = ca.substitute(c, s.v, G @ u + b)
    u_rate = board.more("u_rate", rates, onto @ (s.a - c))
    return IndependentSpeeds(board, u, u_rate, names, rates, names, G, b, c, True)


def unconstrained_speeds(board: Board) -> IndependentSpeeds:
    """Return the mechanism's own speeds as independent speeds, as if there were no rows."""
    s, names = board.s, board.names
    n = s.layout.nv
    none = ca.SX.zeros(n)
    return IndependentSpeeds(
        board, s.v, s.a, names["v"], names["a"], board.freedoms, ca.SX.eye(n), none, none, False
    )


def _letter(board: Board) -> str:
    """Return u, or another letter where the mechanism has quantities u1, u2 of its own."""
    taken = {n.text for group in board.names.values() for n in group}
    nv = board.s.layout.nv
    return next(x for x in ("u", "w", "U", "nu") if not taken & {f"{x}{k + 1}" for k in range(nv)})


def _given(board: Board, options: Mapping[str, object]) -> tuple[ca.SX, ca.SX]:
    """Return G and b of the options: v = W u + X, and the rows solved for the dependent u."""
    s = board.s
    n = s.layout.nv
    A, B = board.own_rows
    speeds = options.get("speeds")
    W, X = (
        (ca.SX(x) for x in speeds(s.t, s.q, s.p))  # type: ignore[operator]
        if speeds
        else (ca.SX.eye(n), ca.SX.zeros(n))
    )
    J, c = A @ W, A @ X + B
    given = options.get("dependent")
    r = list(solvable_speeds(board, J) if given is None else given)  # type: ignore[call-overload]
    free = [k for k in range(n) if k not in r]
    if not r:
        return W, X
    solved = _divided(board, J[:, r], -ca.horzcat(J[:, free], c))
    return W[:, free] + W[:, r] @ solved[:, :-1], W[:, r] @ solved[:, -1] + X


def _divided(board: Board, J: ca.SX, right: ca.SX) -> ca.SX:
    """Return J^-1 right, without a division if the determinant is constant."""
    det = constant_value(board, ca.det(J))
    return ca.adj(J) @ right / det if det else ca.solve(J, right)


def constant_value(board: Board, x: ca.SX) -> float:
    """Return the value of an expression that is equal at all states and not zero; else zero."""
    if ca.depends_on(x, board.s.p):
        return 0.0
    found = board.numbers(x).ravel()
    same = np.ptp(found) <= CONSTANT_RATIO * np.abs(found).max()
    return float(np.round(found[0], 14)) if same else 0.0


def solvable_speeds(board: Board, J: ca.SX) -> list[int]:
    """Return the speeds for which the rows can be solved: those with a constant determinant, else
    those with the largest at the states.
    """
    m, n = J.shape
    sets = list(combinations(range(n), m))
    dets = [ca.det(J[:, list(r)]) for r in sets]
    for r, d in zip(sets, dets):
        if constant_value(board, d):
            return list(r)
    values = np.abs(board.numbers(ca.densify(ca.vertcat(*dets)))).min(0)
    return list(sets[int(np.argmax(values))])


def _chosen(board: Board) -> tuple[ca.SX, ca.SX]:
    """Return G and b of the rows. They are solved for speeds r whose coefficients in the rows have
    a constant determinant. If there are none, each column of G that the rows affect is multiplied
    by the determinant: for the blade of a sleigh it is (cos, sin), not (1, tan).
    """
    A, B = board.own_rows
    n = A.shape[1]
    r = solvable_speeds(board, A)
    free = [k for k in range(n) if k not in r]
    det = ca.det(A[:, r])
    constant = constant_value(board, det)
    if not constant and not B.is_zero():
        return _given(board, {"dependent": r})
    solved = -ca.adj(A[:, r]) @ ca.horzcat(A[:, free], B) / (constant or 1.0)
    G = ca.SX.zeros(n, len(free))
    for k, column in enumerate(free):
        touched = ca.sparsify(solved[:, k]).nnz() > 0
        G[column, k] = 1.0 if constant or not touched else det
        G[r, k] = solved[:, k]
    b = ca.SX.zeros(n)
    b[r] = solved[:, -1]
    return ca.sparsify(G), b


def _hold(board: Board, G: ca.SX, b: ca.SX) -> None:
    """Raise an error if G and b do not satisfy the rows, or a column of G is lost."""
    A, B = board.own_rows
    n, p = G.shape
    size = np.abs(board.numbers(ca.densify(G))).max(initial=0.0)
    kept = board.numbers(ca.densify(G)).reshape(-1, p, n)
    left = board.numbers(ca.densify(ca.horzcat(A @ G, A @ b + B)))
    lost = p and any(
        (x := np.linalg.svd(g, compute_uv=False))[-1] <= LOST_COLUMN_RATIO * x[0] for g in kept
    )
    if lost or np.abs(left).max(initial=0.0) > LOST_COLUMN_RATIO * max(size, 1.0):
        raise FormulationError(
            f"steps: the rows of {board.mechanism.name!r} cannot be solved for as many of its"
            f" speeds as there are rows, so {board.equations.formulation} has no independent speeds"
            " to write with; take lagrange or hamilton, which write multipliers, or leave out rows"
            " that follow from others"
        )
