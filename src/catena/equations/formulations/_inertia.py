"""The mass matrix for lagrange and hamilton: its factors, multipliers of constraint rows, and the check that it is regular."""

from __future__ import annotations

import casadi as ca
import numpy as np

from ...errors import SingularError
from ...kernels.rank import motion_without_energy
from ...model.values import value_of
from ._energies import Energies

SOFT, ROUNDS = 1e-9, 4  # compliance of rows beside their mean one, and how often it is taken back


class Factor:
    """M = U D U' of a symmetric positive M, with U unit upper triangular.

    Rows are eliminated from the last to the first: a tree's leaves come first, and two branches never mix, so that every
    zero of M stays one. Only the upper triangle of M is read.
    """

    def __init__(self, M: ca.SX):
        n = self.n = M.shape[0]
        U, self.pivot = [[M[i, j] for j in range(n)] for i in range(n)], [ca.SX()] * n
        for k in reversed(range(n)):
            self.pivot[k] = 1.0 / U[k][k]
            for i in reversed(range(k)):
                u = U[i][k] * self.pivot[k]
                for j in range(i + 1):
                    U[j][i] = U[j][i] - u * U[j][k]
                U[i][k] = u
        self.U = U

    def solve(self, b: ca.SX) -> ca.SX:
        """x (n,) with M x = b."""
        U, x = self.U, [b[i] for i in range(self.n)]
        for k in reversed(range(self.n)):  # U z = b
            for i in range(k):
                x[i] = x[i] - U[i][k] * x[k]
        for k in range(self.n):  # D U' x = z
            x[k] = x[k] * self.pivot[k]
            for i in range(k):
                x[k] = x[k] - U[i][k] * x[i]
        return ca.densify(ca.vertcat(*x))


def multipliers(M: Factor, A: ca.SX, gap: ca.SX) -> ca.SX:
    """lambda (m,) with A M^-1 A' lambda = gap: the forces along the rows A (m, nv) that close a gap of accelerations (9).

    Rows may depend on each other (a planar loop in space): a small compliance e keeps the system regular, and is taken
    back by repeating (S + e) d = gap - S lambda, lambda += d. The least forces remain where many would do.
    """
    m = A.shape[0]
    S = A @ ca.horzcat(*(M.solve(A[k, :].T) for k in range(m)))
    soft, lam = Factor(S + SOFT / m * ca.trace(S) * ca.SX.eye(m)), ca.SX.zeros(m)
    for _ in range(ROUNDS):
        lam = lam + soft.solve(gap - S @ lam)
    return ca.densify(lam)


def require_inertia(e: Energies, M: ca.SX, by: str) -> None:
    """Refuse a mechanism whose mass matrix is singular in every configuration: name the coordinate and the body."""
    m, layout = e.tracer.layout.mechanism, e.tracer.layout
    f = ca.Function("mass_matrix", [e.q, e.tracer.p], [M])
    found = [motion_without_energy(np.array(f(*layout.somewhere(seed)))) for seed in range(3)]
    if any(motion is None for motion in found):
        return
    moved = [name for name, x in zip(m.speed_names, found[0]) if abs(x) > 1e-6]  # type: ignore[arg-type]
    joints = [j for j in m.moving if set(moved) & set(j.speed_names)]
    light = next((j for j in joints if not value_of(m.body(j.child).mass, m.parameters)), joints[-1])
    where = next(name for name in moved if name in light.speed_names)
    together = f" together with {', '.join(repr(name) for name in moved if name != where)}" if len(moved) > 1 else ""
    raise SingularError(
        f"{by}: the mass matrix of {m.name!r} is singular in every configuration: coordinate {where!r}{together} moves no "
        f"inertia; body {light.child!r} of joint {light.name!r} has none to offer. Give it mass and inertia, give the joint an "
        "armature, or make the joint fixed",
        where=where,
    )

