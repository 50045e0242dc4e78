"""Base parameters: the combinations of inertial parameters that the forces of a mechanism depend
on.

    W theta = tau for all motions;  W = W[:, kept] K,  so that tau = W[:, kept] (K theta)

W stacks the regressor over random states (on the loops, projected, where there are any). Its rank
is the number of base parameters, and the rows of K say which combinations they are. Columns are
taken bodies near the ground first, so that what a child shares with its parent counts as the
parent's ([Gautier1990]); those that follow from columns already taken are left out.

The rank is decided on columns of length one, in singular values: `gap` has the smallest that counts
and the largest that does not, beside the largest of all. The latter is rounding, some 1e-15,
whatever the units.
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
# beside the largest singular value, of columns of length one; rounding leaves some 1e-15
RANK = 1e-10
CLEAN = 1e-8  # a coefficient this small beside the largest of its row is rounding
# in which order a body's parameters are taken: products of inertia first, the mass last
INNER = (4, 5, 7, 8, 9, 6, 1, 2, 3, 0)


@dataclass(frozen=True)
class Reduction:
    """Which columns of a matrix count, and the others as combinations of them.

    kept: their indices. K (rank, n): W = W[:, kept] K. zero: columns that are nothing. gap: see
    above.
    """

    kept: tuple[int, ...]
    K: Array
    zero: tuple[int, ...]
    gap: tuple[float, float]

    @property
    def rank(self) -> int:
        """How many count."""
        return len(self.kept)

    def texts(self, names: Sequence[str]) -> list[str]:
        """Each combination in words: "Izz of upper + 0.25 m of fore"."""
        return [combination(row, names, k) for row, k in zip(self.K, self.kept)]


@dataclass(frozen=True)
class BaseParameters:
    """What the structure of a mechanism identifies.

    names: of all inertial parameters. reduction: which count, and how others join them.
    """

    names: tuple[str, ...]
    reduction: Reduction

    @property
    def rank(self) -> int:
        """The number of base parameters."""
        return self.reduction.rank

    @property
    def combinations(self) -> list[str]:
        """Each base parameter in words."""
        return self.reduction.texts(self.names)

    @property
    def alone(self) -> list[str]:
        """Parameters that are identified by themselves."""
        return [x for x in self.combinations if x in self.names]

    @property
    def without_effect(self) -> list[str]:
        """Parameters on which no force depends."""
        return [self.names[k] for k in self.reduction.zero]

    def of(self, theta: Array) -> Array:
        """The values of the base parameters (..., rank) of inertial parameters (..., n)."""
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
    """Which combinations of its bodies' inertial parameters the joint forces of a mechanism tell.

    states: over how many random states, enough for the rank unless given.

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
    """The names of the regressor's columns, such as "m of fore" and "Izz of fore"."""
    return tuple(
        f"{x} of {b.name}" for b in inertial_bodies(machine_of(mechanism).layout) for x in INERTIAL
    )


def order(bodies: int) -> list[int]:
    """The order in which columns are taken: body by body."""
    return [10 * k + i for k in range(bodies) for i in INNER]


def random_states(machine: Machine, count: int, seed: int = 0) -> tuple[Array, Array, Array]:
    """q, v, a (count, n) that are possible: on the loops, with rates and accelerations that keep
    them closed.
    """
    rng = np.random.default_rng(seed)
    q = machine.sample(rng, count)
    v = rng.standard_normal((count, machine.nv))
    a = rng.standard_normal((count, machine.nv))
    if not machine.rows:
        return q, v, a
    q = _closed(machine, rng, count)
    *_, A = machine.constraint_rows(q, 0.0 * v[: len(q)])
    inverse = np.linalg.pinv(A, rcond=1e-9)
    v, a = v[: len(q)], a[: len(q)]
    v = v - np.einsum("kij,kj->ki", inverse, np.einsum("kij,kj->ki", A, v))
    gamma = machine.constraint_rows(q, v)[2]
    return q, v, a + np.einsum("kij,kj->ki", inverse, gamma - np.einsum("kij,kj->ki", A, a))


def _closed(machine: Machine, rng: np.random.Generator, count: int) -> Array:
    """Coordinates whose loops are closed, from random ones."""
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
    """N' B for each B (states, nv, ...): along the speeds that the constraint rows leave free.
    Without rows B itself.
    """
    if not machine.rows:
        return list(matrices)
    *_, A = machine.constraint_rows(q, v)
    _, s, Vh = np.linalg.svd(A)
    rank = int((s > 1e-9 * s[:, :1]).sum(axis=1).max())
    N = Vh[:, rank:]
    return [np.einsum("kfv,kv...->kf...", N, B) for B in matrices]


def reduced(W: Array, take: Sequence[int]) -> Reduction:
    """The columns of W (rows, n) that count, taken in this order, and K."""
    n = W.shape[1]
    R = np.linalg.qr(W, mode="r")
    length = np.linalg.norm(R, axis=0)
    zero = length <= RANK * length.max(initial=0.0)
    S = R / np.where(zero, 1.0, length)
    S[:, zero] = 0.0
    s = np.linalg.svd(S, compute_uv=False)
    rank = int((s > RANK * s[0]).sum()) if s.size and s[0] > 0 else 0
    kept = sorted(_independent(S, [k for k in take if not zero[k]], rank), key=list(take).index)
    K = np.zeros((len(kept), n))
    if kept:
        K = np.linalg.lstsq(S[:, kept], S, rcond=None)[0] * length / length[kept][:, None]
        K[np.abs(K) <= CLEAN * np.abs(K).max(axis=1, keepdims=True)] = 0.0
        K[:, kept] = np.eye(len(kept))
    left = float(s[rank] / s[0]) if rank < len(s) and rank else 0.0
    return Reduction(
        tuple(kept),
        K,
        tuple(np.flatnonzero(zero)),
        (float(s[rank - 1] / s[0]) if rank else 0.0, left),
    )


def _independent(S: Array, take: Sequence[int], rank: int) -> list[int]:
    """The first columns in order that the ones before do not give: each is projected twice, against
    rounding.
    """
    kept: list[int] = []
    Q = np.zeros((len(S), 0))
    for k in take:
        x = S[:, k]
        for _ in range(2):
            x = x - Q @ (Q.T @ x)
        size = np.linalg.norm(x)
        # of columns of length one; what depends leaves some 1e-15, or more by what was kept
        if size > 1e-7 and len(kept) < rank:
            kept.append(k)
            Q = np.column_stack([Q, x / size])
    if len(kept) == rank:
        return kept
    from scipy.linalg import qr

    return [int(k) for k in qr(S, pivoting=True, mode="r")[1][:rank]]


def combination(row: Array, names: Sequence[str], first: int) -> str:
    """A row of coefficients in words, one parameter first."""
    parts = []
    for k in [first, *(int(k) for k in np.flatnonzero(row) if k != first)]:
        size = f"{abs(row[k]):.5g}"
        parts.append(
            ("- " if row[k] < 0 else "+ ") + (names[k] if size == "1" else f"{size} {names[k]}")
        )
    return " ".join(parts).removeprefix("+ ")
