"""Independent speeds under rows J u' = g, chosen anew at every instant, so that the choice is not
singular at any configuration.

    (J D)' = [Q1 Q2] [R; 0]                     Householder reflections; D = the speeds' unit of
                                                measure, see `measures`
    u' = Z y + z,  Z = D Q2,  z = D Q1 R'^-1 g
            y (n - m): the rates of the independent speeds Q2' D^-1 u
    J' lambda = f   where  R lambda = Q1' D f

The columns of Z are what the rows leave free: nonholonomic partial speeds, (20)-(24) of
[Everett1988] with combinations of all speeds in place of some of them ([Kim1986]). Accelerations do
not depend on the combination, so the speeds themselves are the state, and nothing jumps where the
choice changes. It fails only where the rows themselves lose rank.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import casadi as ca
import numpy as np

from ...compiler import Tracer
from ...errors import SingularError
from ...kernels import BALL

CLOSED_CONFIGURATIONS = 8  # the number of closed configurations at which rows are compared
# A row is redundant if its pivot is below this, relative to the largest, with rows in their units.
REDUNDANT_PIVOT_RATIO = 1e-9


class Reflection(NamedTuple):
    """A Householder reflection x -> x - w (w . x) / half, with w (n) and half = w . w / 2. pivot:
    the speed whose entry remains in its column of (J D)'.
    """

    pivot: int
    w: ca.SX
    half: ca.SX

    def __call__(self, x: ca.SX) -> ca.SX:
        along = ca.mtimes(self.w.T, x)
        return ca.sparsify(x - self.w @ (along / self.half)) if along.nnz() else x


class Complement(NamedTuple):
    """The QR factorisation of rows on n speeds. D (n,). R (rank x rows): upper triangular. free:
    the speeds closest to the directions Q2.

    unit (rows,): the scale by which each row is divided. swaps: (k, j, condition) of the rows that
    are exchanged, in this order.
    """

    D: np.ndarray
    reflections: list[Reflection]
    R: ca.SX
    free: list[int]
    unit: np.ndarray
    swaps: list[tuple[int, int, ca.SX]]

    @property
    def Z(self) -> ca.SX:
        """Z (n x n - m): the speeds that obey the rows are combinations of its columns."""
        columns = []
        for k in self.free:
            x = ca.SX(len(self.D), 1)
            x[k] = 1.0
            columns.append(self._back(x))
        return ca.sparsify(ca.horzcat(*columns)) if columns else ca.SX(len(self.D), 0)

    def particular(self, g: ca.SX) -> ca.SX:
        """Return the smallest z (n), in these units, with J z = g."""
        x = ca.SX(len(self.D), 1)
        g = _swapped(g / self.unit, self.swaps)
        for k, h in enumerate(self.reflections):
            x[h.pivot] = (
                g[k]
                - sum((self.R[i, k] * x[self.reflections[i].pivot] for i in range(k)), ca.SX(0))
            ) / self.R[k, k]
        return self._back(ca.sparsify(x))

    def multipliers(self, f: ca.SX) -> ca.SX:
        """Return lambda (rows) with J' lambda = f, for an f in the span of the rows; zero for
        redundant rows.
        """
        x = ca.SX(self.D) * f
        m = len(self.reflections)
        for h in self.reflections:
            x = h(x)
        found = ca.SX.zeros(len(self.unit))
        for k in reversed(range(m)):
            left = x[self.reflections[k].pivot] - sum(
                (self.R[k, j] * found[j] for j in range(k + 1, m)), ca.SX(0)
            )
            found[k] = left / self.R[k, k]
        return _swapped(found, self.swaps[::-1]) / self.unit

    def _back(self, x: ca.SX) -> ca.SX:
        """Return D Q x: the reflections Q applied to x (n), then the scales D of the speeds."""
        for h in reversed(self.reflections):
            x = h(x)
        return ca.sparsify(ca.SX(self.D) * x)


def complement(
    J: ca.SX,
    value: np.ndarray,
    D: np.ndarray,
    rank: int | None = None,
    unit: np.ndarray | None = None,
) -> Complement:
    """Return the complement of rows J (m x n). value: J at some configuration, which only decides
    the order of elimination. rank: how many rows are independent, by default all. If some are not,
    the rows with the largest remainder, in their units, are eliminated first. That choice is made
    anew at every instant, because a row that is redundant at one configuration may be needed at
    another.
    """
    from scipy.linalg import lu

    m, n = J.shape
    rank = m if rank is None else rank
    unit = np.ones(m) if unit is None else unit
    order = np.argsort(lu((value * D).T, p_indices=True)[0])[:rank].tolist() if rank else []
    X = [ca.sparsify(ca.SX(D) * J[k, :].T / unit[k]) for k in range(m)]
    done: list[Reflection] = []
    swaps = []
    left = set(range(n))
    R = ca.SX(rank, rank)
    for k in range(rank):
        for j in range(k + 1, m if rank < m else 0):
            longer = ca.sumsqr(X[j][sorted(left)]) > ca.sumsqr(X[k][sorted(left)])
            X[k], X[j] = ca.if_else(longer, X[j], X[k]), ca.if_else(longer, X[k], X[j])
            swaps.append((k, j, longer))
        below = ca.SX(n, 1)
        for i in (i for i in left if X[k][i].nnz()):
            below[i] = X[k][i]
        size = ca.norm_2(below)
        at = X[k][order[k]]
        for i, h in enumerate(done):
            R[i, k] = X[k][h.pivot]
        R[k, k] = ca.if_else(at < 0, size, -size)
        below[order[k]] = at - R[k, k]
        done.append(Reflection(order[k], ca.sparsify(below), size * (size + ca.fabs(at))))
        left.remove(order[k])
        X[k + 1 :] = [done[-1](x) for x in X[k + 1 :]]
    return Complement(D, done, R, sorted(left), unit, swaps)


def _swapped(x: ca.SX, swaps: list[tuple[int, int, ca.SX]]) -> ca.SX:
    """Return x with entries exchanged where the conditions hold."""
    parts = ca.vertsplit(x)
    for k, j, condition in swaps:
        parts[k], parts[j] = (
            ca.if_else(condition, parts[j], parts[k]),
            ca.if_else(condition, parts[k], parts[j]),
        )
    return ca.vertcat(*parts)


def measures(M: np.ndarray) -> np.ndarray:
    """Return D (n,): one over the root of each speed's inertia, so that squares of scaled speeds
    are energies, whatever the units. M (places, n, n): the mass matrix at some configurations. A
    speed without inertia gets the scale of the speed with the least inertia.
    """
    inertia = np.abs(np.einsum("kii->ki", M)).max(axis=0)
    lightest = inertia[inertia > 0].min(initial=np.inf)
    return 1.0 / np.sqrt(np.where(inertia > 0, inertia, lightest if np.isfinite(lightest) else 1.0))


# --- the mechanism's own rows
class OwnRows(NamedTuple):
    """The rows A v + B = 0, A a = gamma of a mechanism's loops and speed rows; with the indices of
    the independent ones, and configurations with closed loops.
    """

    A: ca.SX
    B: ca.SX
    gamma: ca.SX
    kept: list[int]
    unit: np.ndarray
    places: list[list[np.ndarray]]

    def complement(self, s: Tracer, M: ca.SX) -> Complement:
        """Return the complement of these rows, which describes the speeds that they leave free, in
        the metric of the mass matrix M.
        """
        f = ca.Function("at", [s.t, s.q, s.p], [ca.densify(self.A), ca.densify(M)])
        found = [[np.array(x) for x in f(0.0, *place)] for place in self.places]
        return complement(
            self.A,
            found[0][0],
            measures(np.array([M for _, M in found])),
            len(self.kept),
            self.unit,
        )

    def map(self, s: Tracer) -> Callable[[ca.SX, ca.SX, ca.SX], tuple[ca.SX, ca.SX]]:
        """Return a function (t, q, p) -> A, B of the independent rows, where the choice is made
        once for all configurations.
        """
        f = ca.Function("rows", [s.t, s.q, s.p], [self.A[self.kept, :], self.B[self.kept]])
        return lambda t, q, p: tuple(f.call([t, q, p]))  # type: ignore[return-value]

    def spread(self, lam: ca.SX) -> ca.SX:
        """Return the multipliers of all rows from those of the independent rows, with zero for the
        others.
        """
        found = ca.SX.zeros(self.A.shape[0])
        found[self.kept] = lam
        return found


def own_rows(s: Tracer) -> OwnRows:
    """Return the rows of the mechanism's loops and speed rows, without those that depend on the
    others. This is decided at configurations with closed loops: only there does an overconstrained
    loop have redundant rows. If no such configuration is found, all rows are kept.
    """
    error, rate, gamma, A = s.constraint_rows()
    at = ca.Function("at", [s.t, s.q, s.p], [ca.densify(error), ca.densify(A)])
    places = [
        place for seed in range(CLOSED_CONFIGURATIONS) if (place := closed(s, at, seed)) is not None
    ]
    values = np.array(
        [
            np.array(at(0.0, *place)[1])
            for place in [*places, *(s.layout.somewhere(seed) for seed in range(3))]
        ]
    )
    unit = units(values)
    m = A.shape[0]
    name = s.layout.mechanism.name
    kept = independent_rows(values[0], unit)
    if not places and len(kept) < m:
        raise SingularError(
            f"only {len(kept)} of the {m} rows A v + B = 0 of {name!r} are independent; leave out"
            " those that follow from the others"
        )
    B = ca.substitute(rate, s.v, ca.SX.zeros(s.layout.nv))
    return OwnRows(A, B, gamma, kept, unit, places or [s.layout.somewhere(0)])


# --- places
def closed(s: Tracer, at: ca.Function, seed: int) -> list[np.ndarray] | None:
    """Return a configuration near the neutral one where the residuals vanish (Gauss-Newton), and
    the parameters; None if it is not found.

    at: (t, q, p) -> the rows' residuals, and A.
    """
    rng, (_, p) = np.random.default_rng(seed), s.layout.somewhere(seed)
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


def units(A: np.ndarray) -> np.ndarray:
    """Return the scale of each row of A (places, m, n), (m,): its largest entry at any of the
    configurations, so that a row that vanishes at one of them is not magnified.
    """
    largest = np.abs(A).max(axis=(0, 2), initial=0.0)
    return np.where(largest > 0, largest, 1.0)


def independent_rows(A: np.ndarray, unit: np.ndarray) -> list[int]:
    """Return which rows of A (m x n), each divided by its scale, are independent: the first pivots
    of a QR factorisation.
    """
    from scipy.linalg import qr

    _, R, order = qr((A / unit[:, None]).T, mode="economic", pivoting=True)
    size = np.abs(np.diag(R))
    return sorted(int(k) for k in order[: int((size > REDUNDANT_PIVOT_RATIO * size[0]).sum())])
