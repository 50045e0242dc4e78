"""Ranges of contact forces: what rigid bodies leave open, and what they do not.

Contacts that touch push with forces f within their cones, and the motion (q, v, a) needs of them

    T' J' f = T' (M a + b - tau),  0 <= N,     |f_t| <= mu N  (f_t = -mu N d where it slips along d)

in the motions T that loops allow. Where f is not the only answer (a table on four legs, a block
that is gripped) each component lies in a range, whose ends `cone_programmes.py` finds: exact
without friction and in a plane of motion, to 1e-10 with cones in space.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ..collision import contact_patches, contact_points
from ..compiler import Tracer, vector
from ..contact import DEAD, Cone, ConeProgramme, NoForces, meet
from ..errors import QuestionError
from ..kernels import RANK, usual_length
from ..machine import Machine, Wrenches, machine_of, name_of, state, terms, where
from ..model import Mechanism

Array = np.ndarray
TOUCHES = 1e-8  # of the mechanism's length: a gap this small is closed
# of the speed that all energy would give, or of the largest acceleration: a point this slow stays
MOVES = 1e-8
ROUNDED = 1e-13  # of the largest force: an end this near zero is zero
LEFT = 1e-8  # of the forces needed: an imbalance this small is none


@dataclass(frozen=True)
class ContactRanges:
    """The forces (N) of the k contact points that touch.

    names: of the points. normal (k, 2): the smallest and the largest normal force; infinite where
    the rest can squeeze without bound. friction (k, 2, 2): the same of friction along each tangent.
    least_norm (k, 3): normal and tangents, the forces of least sum of squares, one choice and no
    more true than others; inside: whether these lie within their cones. loose (n, k, 3):
    combinations of forces that move nothing. axes (k, 3, 3): normal and tangents, in the ground's
    axes, on the first of the two bodies.
    """

    names: tuple[str, ...]
    normal: Array
    friction: Array
    least_norm: Array
    inside: bool
    loose: Array
    axes: Array

    @property
    def determined(self) -> Array:
        """(k,): whether a normal force has one value alone."""
        return self.normal[:, 1] - self.normal[:, 0] <= LEFT * max(
            float(np.abs(self.least_norm).max(initial=0.0)), 1e-300
        )

    def __str__(self) -> str:
        lines = [
            f"{name}: {low:.6g} N" if known else f"{name}: {low:.6g} to {high:.6g} N{self._one(n)}"
            for n, (name, (low, high), known) in enumerate(
                zip(self.names, self.normal, self.determined)
            )
        ]
        if lines and not self.inside:
            lines.append("the forces of least norm are not within their cones")
        return "\n".join(lines or ["nothing touches"])

    def _one(self, n: int) -> str:
        """The choice of least norm, where it is one that can be."""
        return f", least norm {self.least_norm[n, 0]:.6g} N" if self.inside else ""


class Closed(NamedTuple):
    """A point that can push: its number; mu; d (2,) where it slips, else None; the tangents along
    which it takes a force.
    """

    point: int
    mu: float
    d: Array | None
    live: tuple[int, ...]


def contact_ranges(
    m: Mechanism | Machine,
    q: ArrayLike,
    v: ArrayLike | None = None,
    a: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    wrenches: Wrenches | None = None,
    t: float = 0.0,
) -> ContactRanges:
    """What the contact forces may be in a motion: at q with speeds v, accelerations a and joint
    forces tau, all zero unless given.

    A QuestionError says where no forces within their cones make this motion. Of a run,
    `contact_ranges(run.machine, q, v, a)` of one row.
    """
    machine = machine_of(m)
    q, v, a, tau = state(machine, "contact_ranges", q=q, v=v, a=a, tau=tau)
    if not machine.mechanism.contacts:
        raise QuestionError(
            f"contact_ranges: {where(machine)} has no contacts; give it some: Mechanism(...,"
            " contacts=[Contact(...)])"
        )
    if pairs := contact_patches(machine.mechanism):
        raise QuestionError(
            f"contact_ranges: contact {pairs[0].name!r} is of a {pairs[0].shape.kind} and a"
            f" {pairs[0].against.kind}, whose points are chosen as they move; let frames or spheres"
            " touch instead"
        )
    at = terms(machine, q, v, wrenches, t)
    T = at.spaces.T
    gap, J, u, rate, axes = _touching(machine, q, v, a)
    S = _even(T.T @ at.M @ T) @ T.T
    closed = list(
        _closed(machine, gap, u, rate, ((S @ J.T) ** 2).sum(axis=0), float(v @ at.M @ v), a)
    )
    names = tuple(contact_points(machine.mechanism)[c.point].name for c in closed)
    return _solved(
        machine, closed, S @ J.T, S, at.M @ a + at.b - tau, names, axes[[c.point for c in closed]]
    )


def _even(H: Array) -> Array:
    """L with L H L' = 1, so that equations of motion with the mass matrix H are measured alike,
    whatever their units.
    """
    size = np.sqrt(np.maximum(np.diagonal(H), 1e-300))
    w, V = np.linalg.eigh(H / np.outer(size, size))
    return V.T / np.sqrt(np.maximum(w, 1e-13 * w.max(initial=0.0)))[:, None] / size


def _touching(machine: Machine, q: Array, v: Array, a: Array) -> tuple[Array, ...]:
    """Of all points: gap (k,); J (3 k, nv), speeds and accelerations (3 k,) along normal and
    tangents, axes (k, 3, 3).
    """
    s = Tracer(machine.layout)
    meets = [meet(s, p, True) for p in contact_points(machine.mechanism)]
    u = vector([x for one in meets for x in one.velocity])
    along = vector([x for one in meets for axis in one.axes for x in axis])
    seen = ca.Function(
        "touching",
        [s.q, s.v, s.p],
        [vector([one.gap for one in meets]), ca.jacobian(u, s.v), u, ca.jacobian(u, s.q), along],
    )
    gap, J, speed, J_q, axes = (
        np.array(x) for x in seen(q, v, list(machine.mechanism.parameters.values()))
    )
    return (
        gap[:, 0],
        J,
        speed[:, 0],
        J_q @ machine.coordinate_rate(q, v) + J @ a,
        axes.reshape(-1, 3, 3),
    )


def _closed(
    machine: Machine, gap: Array, u: Array, rate: Array, own: Array, energy: float, a: Array
) -> Iterator[Closed]:
    """The points that can push: closed, and not about to open. own (3 k,): the diagonal of G = J
    M^-1 J'.
    """
    near = gap <= TOUCHES * usual_length(machine.layout)
    fast = np.sqrt(np.maximum(own, 0.0) * energy)
    hard = np.abs(rate).max(initial=0.0)
    for i, p in enumerate(contact_points(machine.mechanism)):
        n = 3 * i
        c = machine.mechanism.contacts[p.contact]
        if not near[i] or u[n] > MOVES * fast[n] or (rate[n] > MOVES * hard and a.any()):
            continue
        slips = np.hypot(u[n + 1], u[n + 2]) > MOVES * fast[n + 1 : n + 3].max()
        live = tuple(j for j in (1, 2) if own[n + j] > DEAD * own[n] and c.static > 0.0)
        yield Closed(
            i,
            c.kinetic if slips else c.static,
            u[n + 1 : n + 3] / np.hypot(*u[n + 1 : n + 3]) if slips and c.static > 0.0 else None,
            live,
        )


# --- all forces that balance
def _solved(
    machine: Machine,
    closed: list[Closed],
    F: Array,
    S: Array,
    need: Array,
    names: tuple[str, ...],
    axes: Array,
) -> ContactRanges:
    """For F f = S need over all points."""
    k = len(closed)
    columns = [
        _column(3 * k, 3 * n, c, j)
        for n, c in enumerate(closed)
        for j in ((0,) if c.d is not None else (0, *c.live))
    ]
    B = np.array(columns).reshape(len(columns), 3 * k).T
    x, Z = _balance(machine, F[:, [3 * c.point + j for c in closed for j in range(3)]] @ B, S, need)
    f, loose = B @ x, B @ Z
    size = float(np.abs(f).max(initial=0.0)) or 1.0
    try:
        programme = ConeProgramme(
            [Cone(c.mu, c.live if c.d is None else ()) for c in closed], f / size, loose
        )
        ends = size * np.array(
            [[programme.least(row), -programme.least(-row)] for row in np.eye(3 * k)]
        ).reshape(k, 3, 2)
    except NoForces:
        raise QuestionError(
            f"contact_ranges: no forces of the contacts of {where(machine)} that push within their"
            " cones make this motion: something opens or slips; give the accelerations a that"
            " it has"
        ) from None
    ends[np.abs(ends) <= ROUNDED * size] = 0.0
    least = f.reshape(k, 3)
    inside = all(
        one[0] >= -LEFT * size and np.hypot(*one[1:]) <= c.mu * one[0] + LEFT * size
        for c, one in zip(closed, least)
    )
    return ContactRanges(
        names, ends[:, 0], ends[:, 1:], least, inside, loose.T.reshape(-1, k, 3), axes
    )


def _column(size: int, n: int, c: Closed, j: int) -> Array:
    """What one unknown force acts along."""
    found = np.zeros(size)
    found[n + j] = 1.0
    if c.d is not None:
        found[n + 1 : n + 3] = -c.mu * c.d
    return found


def _balance(machine: Machine, E: Array, S: Array, need: Array) -> tuple[Array, Array]:
    """x of least norm with E x = S need, and Z, orthonormal, with E Z = 0."""
    r = S @ need
    size = np.maximum(np.sqrt((E * E).sum(axis=0)), 1e-300)
    U, s, V = np.linalg.svd(E / size)
    rank = int((s > np.sqrt(RANK) * s.max(initial=0.0)).sum())
    x = (V[:rank].T @ ((U[:, :rank].T @ r) / s[:rank])) / size
    Z = np.linalg.qr(V[rank:].T / size[:, None])[0]
    x = x - Z @ (Z.T @ x)
    if np.abs(r - E @ x).max(initial=0.0) > LEFT * np.abs(r).max(initial=0.0):
        name, much = name_of(machine, np.linalg.pinv(S) @ (r - E @ x))
        raise QuestionError(
            f"contact_ranges: the contacts of {where(machine)} that touch cannot make this motion:"
            f" {name!r} is short of {much:.4g} (N m or N); give the accelerations a and joint"
            " forces tau that belong to it"
        )
    return x, Z
