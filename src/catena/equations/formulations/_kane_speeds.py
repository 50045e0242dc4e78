"""Generalised speeds for `kane`: u with q' = W u + X, and simple nonholonomic constraints ([Everett1988] eq. 1-2, 20-24).

A mechanism has speeds v of its own, q' = N(q) v. Others are v = W u + X, so that the W and X of (1) are N W and N X here.
m rows A v + B = 0 leave p = nv - m of the u independent:

    u_r = A_rs u_s + B_r                        r dependent, s independent: the rows, solved for u_r                        (2)
    v   = Gamma u_s + beta                      Gamma = W_s + W_r A_rs,  beta = W_r B_r + X                                (20)
    V~_is = V_ij Gamma_js,  omega~_is likewise  nonholonomic partial velocities: what multiplies u_s                   (22)-(24)
    a   = Gamma u_s' + gamma                    gamma = the rate of Gamma u_s + beta while u_s stays

B and X move the mechanism but are no virtual displacement (21), so they appear in gamma alone. Where the block of the rows
that stands before u_r becomes singular in some place, other dependent speeds, or other u, are the cure: a knife edge on a
body that turns wants the velocities along and across the blade for u, not those along x and y.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import casadi as ca
import numpy as np
from scipy.linalg import qr

from ...compiler.trace import Tracer
from ...errors import FormulationError, SingularError
from ...kernels.motion import BALL

PLACES = 8  # closed configurations at which a choice of dependent speeds is tried

Map = Callable[[ca.SX, ca.SX, ca.SX], tuple[ca.SX, ca.SX]]  # (t, q, p) -> a matrix and a column: A, B or W, X


class Speeds(NamedTuple):
    """The independent generalised speeds u_s.

    Gamma (nv x p), gamma (nv): as above, at the speeds v of the tracer. encode: (q, v, p) -> u_s. decode: (q, u_s, p) -> v.
    W_r (nv x m), J_r (m x m) = A W_r: what the dependent speeds do.
    """

    names: tuple[str, ...]
    Gamma: ca.SX
    gamma: ca.SX
    encode: ca.Function
    decode: ca.Function
    W_r: ca.SX
    J_r: ca.SX

    @property
    def size(self) -> int:
        """p, how many are independent."""
        return len(self.names)

    def multipliers(self, excess: ca.SX) -> ca.SX:
        """lambda (m) of the rows, from A' lambda = the force that is missing in M a + bias - tau.

        The rows of the dependent speeds, which (22) leaves aside, bring it into evidence: J_r' lambda = W_r' excess.
        """
        return ca.solve(self.J_r.T, self.W_r.T @ excess)


def own_speeds(s: Tracer, t: ca.SX, rows: Map | None, speeds: Map | None, dependent: Sequence[int] | None) -> Speeds:
    """The independent speeds of a traced mechanism under these rows; v itself if nothing is asked."""
    n = s.layout.nv
    W, X = speeds(t, s.q, s.p) if speeds else (ca.SX.eye(n), ca.SX(n, 1))
    A, B = rows(t, s.q, s.p) if rows else (ca.SX(0, n), ca.SX(0, 1))
    _check(s, t, W, X, A, B, dependent)
    J, c = A @ W, A @ X + B
    own = [f"{name}'" for j in s.layout.mechanism.moving for name in j.speed_names]
    names = [f"u{k + 1}" for k in range(n)] if speeds else own
    r = _determined(s, J) if dependent is None else list(dependent)

    free = [k for k in range(n) if k not in r]
    W_r, J_r = W[:, r], J[:, r]
    u = ca.SX.sym("u", len(free))
    solved = ca.solve(J_r, -ca.horzcat(J[:, free], c)) if r else ca.SX(0, len(free) + 1)  # A_rs and B_r of (2)
    Gamma, beta = W[:, free] + W_r @ solved[:, :-1], W_r @ solved[:, -1] + X
    v = Gamma @ u + beta
    encode = ca.Function("encode", [s.q, s.v, s.p], [ca.densify((ca.solve(W, s.v - X) if speeds else s.v)[free])])
    decode = ca.Function("decode", [s.q, u, s.p], [ca.densify(v)])
    gamma = ca.substitute(ca.jtimes(v, s.q, s.coordinate_rate()), u, encode(s.q, s.v, s.p))
    return Speeds(tuple(names[k] for k in free), ca.sparsify(Gamma), ca.sparsify(gamma), encode, decode, W_r, J_r)


def somewhere(s: Tracer, seed: int) -> list[np.ndarray]:
    """A random place: coordinates with unit quaternions, and the mechanism's own parameters."""
    q = np.random.default_rng(seed).standard_normal(s.layout.nq)
    for node in s.layout.nodes:
        if node.motion == BALL:
            q[node.qi : node.qi + 4] /= np.linalg.norm(q[node.qi : node.qi + 4])
    return [q, np.array(list(s.layout.mechanism.parameters.values()))]


def closed(s: Tracer, error: ca.SX, A: ca.SX, seed: int) -> list[np.ndarray] | None:
    """A place near the neutral one where the rows' residuals vanish (Gauss-Newton), and the parameters; None if not found."""
    rng, (_, p) = np.random.default_rng(seed), somewhere(s, seed)
    at = _at(s, error, A)
    step = ca.Function("step", [s.q, s.v], [s.coordinate_rate()])
    balls = [node.qi for node in s.layout.nodes if node.motion == BALL]
    q = np.zeros(s.layout.nq)
    q[balls] = 1.0
    move = 0.2 * rng.standard_normal(s.layout.nv)
    for _ in range(100):
        q = q + np.array(step(q, move)).ravel()
        for k in balls:
            q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
        residual, slope = (np.array(x) for x in at(0.0, q, p))
        if np.abs(residual).max(initial=0.0) < 1e-12:
            return [q, p]
        move = -np.linalg.lstsq(slope, residual.ravel(), rcond=1e-8)[0]
        move *= min(1.0, 0.5 / max(np.abs(move).max(initial=0.0), 1e-300))
    return None


def independent(s: Tracer, error: ca.SX, A: ca.SX) -> tuple[list[int], list[int]]:
    """Rows of A that are independent where the loops are closed, and the speeds that they determine best there.

    Of the speeds that are best at one of a few places, those that do best at the worst of all these places. Where no closed
    place is found, nothing can be left out.
    """
    at = _at(s, error, A)
    places = [place for seed in range(PLACES) if (place := closed(s, error, A, seed)) is not None]
    if not places:
        return list(range(A.shape[0])), _determined(s, A)
    values = [np.array(at(0.0, *place)[1]) for place in places]
    _, R, rows = qr(values[0].T, mode="economic", pivoting=True)
    size = np.abs(np.diag(R))
    kept = sorted(int(k) for k in rows[: int((size > 1e-9 * size[0]).sum())])
    choices = {tuple(sorted(qr(J[kept], mode="economic", pivoting=True)[2][: len(kept)].tolist())) for J in values}
    worst = {c: min(np.linalg.svd(J[np.ix_(kept, c)], compute_uv=False).min(initial=np.inf) for J in values) for c in sorted(choices)}
    return kept, [int(k) for k in max(worst, key=lambda c: worst[c])]


def _at(s: Tracer, error: ca.SX, A: ca.SX) -> ca.Function:
    """(t, q, p) -> the rows' residuals, and A."""
    return ca.Function("at", [s.t, s.q, s.p], [ca.densify(error), ca.densify(A)])


def _determined(s: Tracer, J: ca.SX) -> list[int]:
    """The m speeds that the rows J u + c = 0 determine best at a random place: the first pivots of a QR factorisation."""
    if not J.shape[0]:
        return []
    value = np.array(ca.Function("J", [s.q, s.p], [ca.densify(J)])(*somewhere(s, 0)))
    _, R, order = qr(value, mode="economic", pivoting=True)
    found = np.abs(np.diag(R))
    rank, name = int((found > 1e-10 * found[0]).sum()), s.layout.mechanism.name
    if rank < len(value):
        raise SingularError(f"kane: only {rank} of the {len(value)} rows A v + B = 0 of {name!r} are independent; leave out "
                            "those that follow from the others")  # fmt: skip
    return sorted(int(k) for k in order[:rank])


def _check(s: Tracer, t: ca.SX, W: ca.SX, X: ca.SX, A: ca.SX, B: ca.SX, dependent: Sequence[int] | None) -> None:
    """Refuse maps of the wrong shape, and maps of time."""
    n, m, name = s.layout.nv, B.numel(), s.layout.mechanism.name
    chosen = range(m) if dependent is None else sorted(set(dependent) & set(range(n)))
    if W.shape != (n, n) or X.numel() != n or A.shape != (m, n) or len(chosen) != m:
        raise FormulationError(
            f"kane: {name!r} has {n} speeds: W is {n} x {n} and X has {n} entries, a row of A has {n}, B has one entry a row, "
            f"and as many speeds of 0 to {n - 1} are dependent; found W {W.shape}, X {X.shape}, A {A.shape}, B {B.shape}, "
            f"dependent {dependent}"
        )
    if ca.depends_on(ca.veccat(W, X, A, B), t):
        raise FormulationError(f"kane: the rows or speeds of {name!r} depend on time, and v cannot then be read from the state "
                               "alone; make what moves in time a joint of its own")  # fmt: skip
