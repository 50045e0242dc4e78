"""Ranges of contact forces: which of them rigid-body mechanics determines, and which it leaves
open.

Contacts that touch push with forces f within their friction cones, and the motion (q, v, a)
requires

    T' J' f = T' (M a + b - tau),  0 <= N,     |f_t| <= mu N  (f_t = -mu N d where it slips along d)

in the motions T that the loops allow. Where f is not unique (a table on four legs, a block held by
a gripper), each component lies in a range whose ends are found by `contact/cone_programmes.py`:
exactly without friction and for planar motion, to 1e-10 with cones in space.
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
# A gap at most this, relative to the mechanism's length, is closed.
CLOSED_GAP_RATIO = 1e-8
# A point at most this fast is at rest, relative to the speed that all kinetic energy would give it;
# likewise its acceleration relative to the largest one.
REST_RATE_RATIO = 1e-8
# An end of a range at most this, relative to the largest force, is zero.
ZERO_FORCE_RATIO = 1e-13
# An imbalance at most this, relative to the forces needed, is zero.
IMBALANCE_RATIO = 1e-8


@dataclass(frozen=True)
class ContactRanges:
    """The ranges of the forces (N) of the k contact points that touch.

    Attributes
    ----------
    names : tuple of str
        The names of the points.
    normal : ndarray (k, 2)
        The smallest and the largest normal force; infinite if other contacts can squeeze without
        bound.
    friction : ndarray (k, 2, 2)
        The smallest and the largest friction along each of the two tangents.
    least_norm : ndarray (k, 3)
        The forces of least sum of squares, along normal and tangents: one choice among many.
    inside : bool
        Whether `least_norm` lies within the friction cones.
    loose : ndarray (n, k, 3)
        Combinations of forces that cause no motion (a basis).
    axes : ndarray (k, 3, 3)
        Normal and tangents in the ground's axes, for the force on the first of the two bodies.
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
        """Booleans (k,): whether a normal force is unique, relative to the largest force of least
        norm.
        """
        return self.normal[:, 1] - self.normal[:, 0] <= IMBALANCE_RATIO * max(
            float(np.abs(self.least_norm).max(initial=0.0)), 1e-300
        )

    def __str__(self) -> str:
        lines = [
            f"{name}: {low:.6g} N"
            if known
            else f"{name}: {low:.6g} to {high:.6g} N{self._least_norm_words(n)}"
            for n, (name, (low, high), known) in enumerate(
                zip(self.names, self.normal, self.determined)
            )
        ]
        if lines and not self.inside:
            lines.append("the forces of least norm are not within their cones")
        return "\n".join(lines or ["nothing touches"])

    def _least_norm_words(self, n: int) -> str:
        """Return the words about the normal force of least norm, or nothing if that lies outside
        its cone.
        """
        return f", least norm {self.least_norm[n, 0]:.6g} N" if self.inside else ""


class Closed(NamedTuple):
    """A contact point that can push: its index; its coefficient of friction mu; its direction of
    slip d (2,), or None if it sticks; and the tangents (1, 2) along which it can have a force.
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
    """Return the ranges of the contact forces that are compatible with a motion.

    Parameters
    ----------
    m : Mechanism or Machine
        The mechanism, or the machine compiled from it. It must have contacts at fixed points
        (frames, spheres), not pairs of shapes whose contact points depend on the motion.
    q : array (nq,)
        Coordinates, rad or m.
    v : array (nv,), optional
        Speeds, rad/s or m/s. By default zero.
    a : array (nv,), optional
        Accelerations, rad/s2 or m/s2. By default zero.
    tau : array (nv,), optional
        Joint forces, N m or N. By default zero.
    wrenches : mapping, optional
        External wrenches on frames.
    t : float, default 0.0
        The time (s), for loads that depend on it.

    Returns
    -------
    ContactRanges

    Raises
    ------
    QuestionError
        If the mechanism has no contacts, or pairs of shapes as contacts, or if no forces within the
        friction cones cause this motion.

    Notes
    -----
    For one instant of a run use ``contact_ranges(run.machine, q, v, a)``.

    Examples
    --------
    A table of 40 N on four legs: each leg may carry nothing, or half of the weight.

    >>> import catena
    >>> legs = [
    ...     catena.Frame(name, "top", catena.Pose(position=(x, y, 0.0)))
    ...     for name, x, y in (("a", 1, 1), ("b", -1, 1), ("c", -1, -1), ("d", 1, -1))
    ... ]
    >>> table = catena.Mechanism(
    ...     "table",
    ...     (catena.Body("top", 4.0, (0.0, 0.0, 0.5), (1.0, 1.0, 1.0)),),
    ...     (catena.Joint("free", "free", "ground", "top"),),
    ...     tuple(legs),
    ...     (0.0, 0.0, -10.0),
    ...     contacts=(catena.Contact((("a", "b", "c", "d"), "ground"), 0.5, 0.0),),
    ... )
    >>> found = catena.contact_ranges(table, [0, 0, 0, 1, 0, 0, 0])
    >>> found.normal.round(6).tolist()[0], found.least_norm[0].round(6).tolist()[0]
    ([0.0, 20.0], 10.0)
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
            f" {pairs[0].against.kind}, whose contact points change with the configuration; use"
            " frames or spheres in this contact instead"
        )
    at = terms(machine, q, v, wrenches, t)
    T = at.spaces.T
    gap, J, u, rate, axes = _touching(machine, q, v, a)
    S = _whitening(T.T @ at.M @ T) @ T.T
    closed = list(
        _closed_points(machine, gap, u, rate, ((S @ J.T) ** 2).sum(axis=0), float(v @ at.M @ v), a)
    )
    names = tuple(contact_points(machine.mechanism)[c.point].name for c in closed)
    return _solve_ranges(
        machine, closed, S @ J.T, S, at.M @ a + at.b - tau, names, axes[[c.point for c in closed]]
    )


def _whitening(H: Array) -> Array:
    """Return L with L H L' = 1, which scales equations of motion with the mass matrix H so that
    residuals do not depend on units.
    """
    size = np.sqrt(np.maximum(np.diagonal(H), 1e-300))
    w, V = np.linalg.eigh(H / np.outer(size, size))
    return V.T / np.sqrt(np.maximum(w, 1e-13 * w.max(initial=0.0)))[:, None] / size


def _touching(machine: Machine, q: Array, v: Array, a: Array) -> tuple[Array, ...]:
    """Return, for all k points: gaps (k,); the Jacobian J (3 k, nv), speeds and accelerations (3
    k,) along normal and tangents; and axes (k, 3, 3).
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


def _closed_points(
    machine: Machine, gap: Array, u: Array, rate: Array, own: Array, energy: float, a: Array
) -> Iterator[Closed]:
    """Yield the points that can push: closed, and neither moving nor accelerating apart. own (3 k,)
    is the diagonal of G = J M^-1 J'; energy is v' M v.
    """
    near = gap <= CLOSED_GAP_RATIO * usual_length(machine.layout)
    fast = np.sqrt(np.maximum(own, 0.0) * energy)
    hard = np.abs(rate).max(initial=0.0)
    for i, p in enumerate(contact_points(machine.mechanism)):
        n = 3 * i
        c = machine.mechanism.contacts[p.contact]
        if (
            not near[i]
            or u[n] > REST_RATE_RATIO * fast[n]
            or (rate[n] > REST_RATE_RATIO * hard and a.any())
        ):
            continue
        slips = np.hypot(u[n + 1], u[n + 2]) > REST_RATE_RATIO * fast[n + 1 : n + 3].max()
        live = tuple(j for j in (1, 2) if own[n + j] > DEAD * own[n] and c.static > 0.0)
        yield Closed(
            i,
            c.kinetic if slips else c.static,
            u[n + 1 : n + 3] / np.hypot(*u[n + 1 : n + 3]) if slips and c.static > 0.0 else None,
            live,
        )


# --- all forces that balance
def _solve_ranges(
    machine: Machine,
    closed: list[Closed],
    F: Array,
    S: Array,
    need: Array,
    names: tuple[str, ...],
    axes: Array,
) -> ContactRanges:
    """Return the ranges of the forces f that solve F f = S need, F with three columns per point."""
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
            f"contact_ranges: no contact forces within the friction cones of {where(machine)}"
            " cause this motion: some contact opens or slips; give the accelerations a of the"
            " actual motion"
        ) from None
    ends[np.abs(ends) <= ZERO_FORCE_RATIO * size] = 0.0
    least = f.reshape(k, 3)
    inside = all(
        one[0] >= -IMBALANCE_RATIO * size
        and np.hypot(*one[1:]) <= c.mu * one[0] + IMBALANCE_RATIO * size
        for c, one in zip(closed, least)
    )
    return ContactRanges(
        names, ends[:, 0], ends[:, 1:], least, inside, loose.T.reshape(-1, k, 3), axes
    )


def _column(size: int, n: int, c: Closed, j: int) -> Array:
    """Return the direction (size,) of the j-th unknown force of a point whose rows begin at n; for
    a slipping point the normal force includes its friction.
    """
    found = np.zeros(size)
    found[n + j] = 1.0
    if c.d is not None:
        found[n + 1 : n + 3] = -c.mu * c.d
    return found


def _balance(machine: Machine, E: Array, S: Array, need: Array) -> tuple[Array, Array]:
    """Return x of least norm with E x = S need, and an orthonormal basis Z of the solutions of E Z
    = 0; raise a QuestionError if there is no such x.
    """
    r = S @ need
    size = np.maximum(np.sqrt((E * E).sum(axis=0)), 1e-300)
    U, s, V = np.linalg.svd(E / size)
    rank = int((s > np.sqrt(RANK) * s.max(initial=0.0)).sum())
    x = (V[:rank].T @ ((U[:, :rank].T @ r) / s[:rank])) / size
    Z = np.linalg.qr(V[rank:].T / size[:, None])[0]
    x = x - Z @ (Z.T @ x)
    if np.abs(r - E @ x).max(initial=0.0) > IMBALANCE_RATIO * np.abs(r).max(initial=0.0):
        name, much = name_of(machine, np.linalg.pinv(S) @ (r - E @ x))
        raise QuestionError(
            f"contact_ranges: the contacts of {where(machine)} that touch cannot cause this"
            f" motion: {name!r} lacks {much:.4g} (N m or N); give accelerations a and joint forces"
            " tau of the same motion"
        )
    return x, Z
