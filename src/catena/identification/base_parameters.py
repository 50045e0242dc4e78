"""Base parameters: the combinations of inertial parameters on which the forces of a mechanism
depend.

    W theta = tau for all motions;  W = W[:, kept] K,  so that tau = W[:, kept] (K theta)

W stacks the regressor over random states (on the loops, projected, where there are any). Its rank
is the number of base parameters, and the rows of K are the combinations. Columns are selected in
order, those of bodies near the ground first, so that a combination of a child with its parent is
assigned to the parent ([Gautier1990]); columns that depend on those already selected are left out.

The rank is decided by the singular values of W with columns of length one: `gap` has the smallest
one that counts as nonzero and the largest one that counts as zero, relative to the largest of all.
The latter is rounding, about 1e-15, whatever the units.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..analysis import assemble
from ..compiler import INERTIAL, inertial_bodies
from ..errors import CatenaError, ClosureError
from ..machine import Machine, machine_of
from ..model import Mechanism

Array = NDArray[np.float64]
# relative to the largest singular value of columns of length one; rounding leaves some 1e-15
SINGULAR_VALUE_RATIO = 1e-10
COEFFICIENT_RATIO = 1e-8  # relative to the largest coefficient of a row: a smaller one is rounding
# the order in which the parameters of a body are taken: inertias first, the mass last
PARAMETER_ORDER = (4, 5, 7, 8, 9, 6, 1, 2, 3, 0)


@dataclass(frozen=True)
class Reduction:
    """Independent columns of a matrix W, and the others as combinations of them.

    kept: the indices of the independent columns. K (rank, n): W = W[:, kept] K. zero: the indices
    of columns that are zero. gap: the smallest singular value that counts as nonzero and the
    largest that counts as zero, relative to the largest of all.
    """

    kept: tuple[int, ...]
    K: Array
    zero: tuple[int, ...]
    gap: tuple[float, float]

    @property
    def rank(self) -> int:
        """The number of independent columns."""
        return len(self.kept)

    def texts(self, names: Sequence[str]) -> list[str]:
        """Return each combination as a string, such as "Izz of upper + 0.25 m of fore"."""
        return [combination(row, names, k) for row, k in zip(self.K, self.kept)]


@dataclass(frozen=True)
class BaseParameters:
    """The base parameters of a mechanism.

    names: of all inertial parameters. reduction: which of them are independent, and how the others
    combine with them.
    """

    names: tuple[str, ...]
    reduction: Reduction

    @property
    def rank(self) -> int:
        """The number of base parameters."""
        return self.reduction.rank

    @property
    def combinations(self) -> list[str]:
        """Each base parameter as a string."""
        return self.reduction.texts(self.names)

    @property
    def alone(self) -> list[str]:
        """The inertial parameters that are identifiable individually, not only in combinations."""
        return [x for x in self.combinations if x in self.names]

    @property
    def without_effect(self) -> list[str]:
        """The inertial parameters on which no force depends."""
        return [self.names[k] for k in self.reduction.zero]

    def of(self, theta: Array) -> Array:
        """Return the base parameters (..., rank) of inertial parameters theta (..., n)."""
        return np.asarray(theta) @ self.reduction.K.T

    def __str__(self) -> str:
        lines = [
            f"{self.rank} base parameters of {len(self.names)} inertial parameters",
            *(f"  {x}" for x in self.combinations),
        ]
        return "\n".join([*lines, f"without effect: {', '.join(self.without_effect) or 'none'}"])


def base_parameters(
    mechanism: Mechanism | Machine, *, states: int | None = None, seed: int = 0
) -> BaseParameters:
    """Return the combinations of inertial parameters on which the joint forces of a mechanism
    depend.

    Parameters
    ----------
    mechanism : Mechanism or Machine
        The mechanism.
    states : int or None, default None
        The number of random states; by default enough for the rank.
    seed : int, default 0
        The seed of the random states.

    Returns
    -------
    BaseParameters
        Their number, and each as a combination of inertial parameters.

    Raises
    ------
    CatenaError
        If no joint moves a body with mass.

    Examples
    --------
    >>> import catena
    >>> base = base_parameters(catena.load("two_link_arm"))
    >>> base.rank, base.combinations[0]
    (6, 'Izz of upper + 0.25 m of fore')
    """
    machine = machine_of(mechanism)
    names = inertial_names(machine)
    if not names:
        raise CatenaError(
            f"base_parameters: no body of mechanism {machine.mechanism.name!r} has a mass that a"
            " joint moves"
        )
    count = states or 3 * -(-len(names) // machine.nv) + 10
    q, v, a = random_states(machine, count, seed)
    W = np.concatenate(list(projected(machine, q, v, machine.regressor(q, v, a))[0]))
    return BaseParameters(names, reduced(W, order(len(names) // 10)))


def inertial_names(mechanism: Mechanism | Machine) -> tuple[str, ...]:
    """Return the names of the regressor's columns, such as "m of fore" and "Izz of fore"."""
    return tuple(
        f"{x} of {b.name}" for b in inertial_bodies(machine_of(mechanism).layout) for x in INERTIAL
    )


def order(bodies: int) -> list[int]:
    """Return the order in which the regressor's columns of so many bodies are selected: body by
    body.
    """
    return [10 * k + i for k in range(bodies) for i in PARAMETER_ORDER]


def random_states(machine: Machine, count: int, seed: int = 0) -> tuple[Array, Array, Array]:
    """Return random q, v, a (count, n) that satisfy the loops, their rates and their
    accelerations.
    """
    rng = np.random.default_rng(seed)
    q = machine.sample(rng, count)
    v = rng.standard_normal((count, machine.nv))
    a = rng.standard_normal((count, machine.nv))
    if not machine.rows:
        return q, v, a
    q = _assembled_coordinates(machine, rng, count)
    *_, A = machine.constraint_rows(q, 0.0 * v[: len(q)])
    inverse = np.linalg.pinv(A, rcond=1e-9)
    v, a = v[: len(q)], a[: len(q)]
    v = v - np.einsum("kij,kj->ki", inverse, np.einsum("kij,kj->ki", A, v))
    gamma = machine.constraint_rows(q, v)[2]
    return q, v, a + np.einsum("kij,kj->ki", inverse, gamma - np.einsum("kij,kj->ki", A, a))


def _assembled_coordinates(machine: Machine, rng: np.random.Generator, count: int) -> Array:
    """Return coordinates (count, nq) with closed loops, assembled from random ones."""
    found = []
    for scale in np.tile([0.3, 0.6, 1.0], 4 * count):
        guess = machine.neutral() + scale * (machine.sample(rng) - machine.neutral())
        for k in machine.spec.quaternions:
            guess[k : k + 4] /= np.linalg.norm(guess[k : k + 4])
        try:
            found.append(np.asarray(assemble(machine, guess)[0]))
        except ClosureError:
            continue
        if len(found) == count:
            return np.stack(found)
    raise CatenaError(
        f"the loops of mechanism {machine.mechanism.name!r} close from {len(found)} of {12 * count}"
        f" random starts; {count} states are needed"
    )


def projected(machine: Machine, q: Array, v: Array, *matrices: Array) -> list[Array]:
    """Return N' B for each matrix B (states, nv, ...), with N a basis of the speeds that the
    constraint rows leave free. Without constraint rows the matrices are returned as they are.
    """
    if not machine.rows:
        return list(matrices)
    *_, A = machine.constraint_rows(q, v)
    _, s, Vh = np.linalg.svd(A)
    rank = int((s > 1e-9 * s[:, :1]).sum(axis=1).max())
    N = Vh[:, rank:]
    return [np.einsum("kfv,kv...->kf...", N, B) for B in matrices]


def reduced(W: Array, take: Sequence[int]) -> Reduction:
    """Return which columns of W (rows, n) are independent, selected in the order `take`, and the
    matrix K (rank, n) with W = W[:, selected] K.
    """
    n = W.shape[1]
    R = np.linalg.qr(W, mode="r")
    length = np.linalg.norm(R, axis=0)
    zero = length <= SINGULAR_VALUE_RATIO * length.max(initial=0.0)
    S = R / np.where(zero, 1.0, length)
    S[:, zero] = 0.0
    s = np.linalg.svd(S, compute_uv=False)
    rank = int((s > SINGULAR_VALUE_RATIO * s[0]).sum()) if s.size and s[0] > 0 else 0
    kept = sorted(_independent(S, [k for k in take if not zero[k]], rank), key=list(take).index)
    K = np.zeros((len(kept), n))
    if kept:
        K = np.linalg.lstsq(S[:, kept], S, rcond=None)[0] * length / length[kept][:, None]
        K[np.abs(K) <= COEFFICIENT_RATIO * np.abs(K).max(axis=1, keepdims=True)] = 0.0
        K[:, kept] = np.eye(len(kept))
    left = float(s[rank] / s[0]) if rank < len(s) and rank else 0.0
    return Reduction(
        tuple(kept),
        K,
        tuple(np.flatnonzero(zero)),
        (float(s[rank - 1] / s[0]) if rank else 0.0, left),
    )


def _independent(S: Array, take: Sequence[int], rank: int) -> list[int]:
    """Return the first `rank` columns, in the order `take`, that do not depend on those before
    them. Each is orthogonalised twice, against rounding; if too few are found, QR with pivoting is
    used.
    """
    kept: list[int] = []
    Q = np.zeros((len(S), 0))
    for k in take:
        x = S[:, k]
        for _ in range(2):
            x = x - Q @ (Q.T @ x)
        size = np.linalg.norm(x)
        # columns have length one; a dependent one leaves some 1e-15, or more by the errors of Q
        if size > 1e-7 and len(kept) < rank:
            kept.append(k)
            Q = np.column_stack([Q, x / size])
    if len(kept) == rank:
        return kept
    from scipy.linalg import qr

    return [int(k) for k in qr(S, pivoting=True, mode="r")[1][:rank]]


def combination(row: Array, names: Sequence[str], first: int) -> str:
    """Return a combination of parameters as a string, with the parameter `first` in front. row: its
    coefficients.
    """
    parts = []
    for k in [first, *(int(k) for k in np.flatnonzero(row) if k != first)]:
        size = f"{abs(row[k]):.5g}"
        parts.append(
            ("- " if row[k] < 0 else "+ ") + (names[k] if size == "1" else f"{size} {names[k]}")
        )
    return " ".join(parts).removeprefix("+ ")
