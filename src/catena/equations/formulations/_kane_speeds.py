"""Generalised speeds for `kane`: u with q' = W u + X, and simple nonholonomic constraints
([Everett1988] eq. 1-2, 20-24).

A mechanism has speeds v of its own, q' = N(q) v. Others are v = W u + X, so that the W and X of (1)
are N W and N X here. m rows A v + B = 0 leave p = nv - m of the u independent:

    u_r = A_rs u_s + B_r  r dependent, s independent: the rows, solved for u_r                   (2)
    v   = Gamma u_s + beta                      Gamma = W_s + W_r A_rs,  beta = W_r B_r + X     (20)
    V~_is = V_ij Gamma_js,  omega~_is likewise  nonholonomic partial velocities: what multiplies u_s
            (22)-(24)
    a   = Gamma u_s' + gamma                    gamma = the rate of Gamma u_s + beta while u_s stays

B and X move the mechanism but are not virtual displacements (21), so that they appear in gamma
only. Where the block of the rows that multiplies u_r becomes singular at some configuration, choose
other dependent speeds, or other u: for a knife edge on a rotating body, use the velocities along
and across the blade as u, not those along x and y. For the rows of the mechanism itself, u_s are
chosen anew at every instant instead: see `_independent_speeds`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import casadi as ca
import numpy as np

from ...compiler import Tracer
from ...errors import FormulationError, SingularError
from ._independent_speeds import Complement

# (t, q, p) -> a matrix and a column: A, B or W, X
Map = Callable[[ca.SX, ca.SX, ca.SX], tuple[ca.SX, ca.SX]]


class KaneSpeeds(NamedTuple):
    """The independent generalised speeds u_s.

    names (p). Gamma (nv x p), gamma (nv): as above, at the speeds v of the tracer. multipliers: a
    function from the residual force M a + bias - tau to the multipliers lambda (m) of the rows that
    produce it. state: the names of the speeds w that are integrated: u_s, or v where u_s changes on
    the way. encode: (q, v, p) -> w. decode: (q, w, p) -> v.
    """

    names: tuple[str, ...]
    Gamma: ca.SX
    gamma: ca.SX
    multipliers: Callable[[ca.SX], ca.SX]
    state: tuple[str, ...]
    encode: ca.Function
    decode: ca.Function

    @property
    def size(self) -> int:
        """p, the number of independent speeds."""
        return len(self.names)


def adapted_speeds(s: Tracer, rows: Complement, gamma: ca.SX) -> KaneSpeeds:
    """Return the independent speeds that rows A a = gamma leave at each instant; the state is v."""
    own = _names(s)
    same = ca.Function("same", [s.q, s.v, s.p], [s.v])
    return KaneSpeeds(
        tuple(own[k] for k in rows.free),
        rows.Z,
        rows.particular(gamma),
        rows.multipliers,
        own,
        same,
        same,
    )


def own_speeds(
    s: Tracer, t: ca.SX, rows: Map | None, speeds: Map | None, dependent: Sequence[int] | None
) -> KaneSpeeds:
    """Return the independent speeds of a traced mechanism under these rows; v itself if there are
    no options.
    """
    n = s.layout.nv
    W, X = speeds(t, s.q, s.p) if speeds else (ca.SX.eye(n), ca.SX(n, 1))
    A, B = rows(t, s.q, s.p) if rows else (ca.SX(0, n), ca.SX(0, 1))
    _check(s, t, W, X, A, B, dependent)
    J, c = A @ W, A @ X + B
    names = [f"u{k + 1}" for k in range(n)] if speeds else _names(s)
    r = _determined(s, J) if dependent is None else list(dependent)

    free = [k for k in range(n) if k not in r]
    W_r, J_r = W[:, r], J[:, r]
    u = ca.SX.sym("u", len(free))
    # A_rs and B_r of (2)
    solved = ca.solve(J_r, -ca.horzcat(J[:, free], c)) if r else ca.SX(0, len(free) + 1)
    Gamma = W[:, free] + W_r @ solved[:, :-1]
    beta = W_r @ solved[:, -1] + X
    v = Gamma @ u + beta
    encode = ca.Function(
        "encode", [s.q, s.v, s.p], [ca.densify((ca.solve(W, s.v - X) if speeds else s.v)[free])]
    )
    decode = ca.Function("decode", [s.q, u, s.p], [ca.densify(v)])
    gamma = ca.substitute(ca.jtimes(v, s.q, s.coordinate_rate()), u, encode(s.q, s.v, s.p))
    chosen = tuple(names[k] for k in free)

    # A' lambda = excess: the rows of u_r, which (22) leaves aside, bring it into evidence
    def multipliers(excess: ca.SX) -> ca.SX:
        return ca.solve(J_r.T, W_r.T @ excess)

    return KaneSpeeds(
        chosen, ca.sparsify(Gamma), ca.sparsify(gamma), multipliers, chosen, encode, decode
    )


def _names(s: Tracer) -> tuple[str, ...]:
    return tuple(f"{name}'" for name in s.layout.mechanism.speed_names)


def _determined(s: Tracer, J: ca.SX) -> list[int]:
    """Return the m speeds that the rows J u + c = 0 determine best at a random configuration, by
    the first pivots of a QR factorisation.
    """
    if not J.shape[0]:
        return []
    from scipy.linalg import qr

    value = np.array(ca.Function("J", [s.q, s.p], [ca.densify(J)])(*s.layout.somewhere(0)))
    _, R, order = qr(value, mode="economic", pivoting=True)
    found = np.abs(np.diag(R))
    rank = int((found > 1e-10 * found[0]).sum())
    name = s.layout.mechanism.name
    if rank < len(value):
        raise SingularError(
            f"kane: only {rank} of the {len(value)} rows A v + B = 0 of {name!r} are independent;"
            " leave out those that follow from the others"
        )
    return sorted(int(k) for k in order[:rank])


def _check(
    s: Tracer, t: ca.SX, W: ca.SX, X: ca.SX, A: ca.SX, B: ca.SX, dependent: Sequence[int] | None
) -> None:
    """Raise an error where the functions of the user return matrices of the wrong shape, or depend
    on the time.
    """
    n = s.layout.nv
    m = B.numel()
    name = s.layout.mechanism.name
    chosen = range(m) if dependent is None else sorted(set(dependent) & set(range(n)))
    if W.shape != (n, n) or X.numel() != n or A.shape != (m, n) or len(chosen) != m:
        raise FormulationError(
            f"kane: {name!r} has {n} speeds: W is {n} x {n} and X has {n} entries, a row of A has"
            f" {n}, B has one entry per row, and as many speeds of 0 to {n - 1} are dependent;"
            f" found W {W.shape}, X {X.shape}, A {A.shape}, B {B.shape}, dependent {dependent}"
        )
    if ca.depends_on(ca.veccat(W, X, A, B), t):
        raise FormulationError(
            f"kane: the rows or speeds of {name!r} depend on time, and v cannot then be read from"
            " the state alone; make what moves in time a joint of its own"
        )
