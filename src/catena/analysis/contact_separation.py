"""Separation of contacts that penetrate: coordinates are moved until all gaps are closed or open.
Gaps are those of contact points, of the points of a contact patch of two polyhedra, and along the
nearest normal for other pairs.
"""

from __future__ import annotations

from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import casadi as ca
import numpy as np

from ..collision import (
    ContactPatch,
    ContactPoint,
    contact_patches,
    contact_points,
    patch_pair,
    patch_points,
)
from ..compiler import Tracer, elements, vector
from ..contact import Meet, meet, moving
from ..errors import ClosureError
from ..kernels import usual_length
from ..machine import Machine, where
from ..registry import loaded
from .assembly import damped_steps, residual

Array = np.ndarray
# A gap at most this, relative to the mechanism's length, is closed.
CLOSED_GAP_RATIO = 1e-8
# A penetration at most this, relative to the mechanism's length, is zero.
PENETRATION_RATIO = 1e-10


class _Gaps(NamedTuple):
    """The gaps of all contacts of a mechanism, compiled.

    gaps maps (q, p, features) to gaps (k,) and their Jacobian (k, nv). places maps (q, p) to the
    relative poses X_BA of the patches. points: the points that the gaps belong to. patches: the
    patches and their numbers of points. own: the parameters of the mechanism.
    """

    gaps: ca.Function
    places: ca.Function
    points: list[ContactPoint]
    patches: list[tuple[ContactPatch, int]]
    own: dict[str, float]

    def at(self, q: Array) -> tuple[Array, Array]:
        """Return the gaps (k,) at q, m, infinite for points that do not exist at q, and their
        Jacobian (k, nv).
        """
        values = list(self.own.values())
        numbers = []
        there = np.ones(len(self.points), bool)
        end = len(self.points) - sum(count for _, count in self.patches)
        for X, (patch, count) in zip(
            np.reshape(np.array(self.places(q, values)), (-1, 4, 3)), self.patches
        ):
            found = patch_pair(patch, self.own).parting(X[:3], X[3])
            there[end : end + count] = [n < len(found) and found[n].key > 0.0 for n in range(count)]
            none = loaded(patch.method.feature).absent()  # type: ignore[attr-defined]
            numbers += [
                x for n in range(count) for x in (found[n].numbers if n < len(found) else none)
            ]
            end += count
        gap, J = (np.array(x) for x in self.gaps(q, values, numbers))
        return np.where(there, gap[:, 0], np.inf), J


def separated(machine: Machine, q: Array, free: list[int]) -> Array:
    """Return q moved along the free speeds, as little as possible, until nothing penetrates and
    every loop is closed; contacts that penetrated then touch. Raises a ClosureError if a
    penetration remains.
    """
    all_gaps = _gaps(machine)
    if not all_gaps.points:
        return q

    def residuals(machine: Machine, q: Array) -> tuple[Array, Array]:
        """Return the residuals of the loops and the negative gaps, with their Jacobian."""
        gap, J = all_gaps.at(q)
        deep = gap < 0.0
        error, A = residual(machine, q)
        return np.concatenate([error, np.where(deep, gap, 0.0)]), np.vstack(
            [A, np.where(deep[:, None], J, 0.0)]
        )

    found = damped_steps(machine, q, residuals, lambda q, pull: free)
    gap = all_gaps.at(found)[0]
    worst = int(gap.argmin())
    if gap[worst] < -PENETRATION_RATIO * usual_length(machine.layout):
        p = all_gaps.points[worst]
        raise ClosureError(
            f"{where(machine)}: {p.body!r} stays {-gap[worst]:.3g} m deep in {p.other!r} (contact"
            f" {p.name!r}), and no motion of the free joints separates them; give a better guess,"
            " or fix fewer joints",
            {p.name: float(-gap[worst])},
        )
    return found


_gaps_cache: WeakKeyDictionary[Machine, _Gaps] = WeakKeyDictionary()


def touching(machine: Machine, q: Array) -> list[str]:
    """Return the names of the contacts whose bodies touch or penetrate at q (nq,)."""
    if not machine.mechanism.contacts:
        return []
    if machine not in _gaps_cache:
        _gaps_cache[machine] = _gaps(machine)
    found = _gaps_cache[machine]
    if not found.points:
        return []
    near = found.at(q)[0] <= CLOSED_GAP_RATIO * usual_length(machine.layout)
    return list(dict.fromkeys(p.name for p, on in zip(found.points, near) if on))


def _gaps(machine: Machine) -> _Gaps:
    """Trace the gaps of all contact points and patch points of a machine."""
    m = machine.mechanism
    s = Tracer(machine.layout)
    patches = [(patch, patch_points(m, patch)) for patch in contact_patches(m, by_features=True)]
    own_points = contact_points(m, by_features=True)
    points = [*own_points, *(p for _, own in patches for p in own)]
    several = [patch for patch, own in patches for _ in own]
    features = [
        ca.SX.sym("features", len(loaded(patch.method.feature).absent()))  # type: ignore[attr-defined]
        for patch in several
    ]
    meets = [meet(s, p, False) for p in own_points]
    meets += [_meet(s, patch, elements(x)) for patch, x in zip(several, features)]
    rates = vector([x.velocity[0] for x in meets])
    gaps = ca.Function(
        "gaps",
        [s.q, s.p, ca.vertcat(*features)],
        [vector([x.gap for x in meets]), ca.jacobian(rates, s.v)],
    )
    places = [_place(s, patch) for patch, _ in patches]
    return _Gaps(
        gaps,
        ca.Function("places", [s.q, s.p], [vector([x for place in places for x in place])]),
        points,
        [(patch, len(own)) for patch, own in patches],
        dict(m.parameters),
    )


def _meet(s: Tracer, patch: ContactPatch, numbers: list[Any]) -> Meet:
    """Return the meeting of two features of a patch, given by their numbers."""
    feature = loaded(patch.method.feature).of(numbers)  # type: ignore[attr-defined]
    found: Meet = loaded(patch.method.meet)(s, patch, feature, False)
    return found


def _place(s: Tracer, patch: ContactPatch) -> list[Any]:
    """Return the relative pose X_BA of a patch as 12 expressions: R by rows, then p."""
    (R_A, o_A, _, _), (R_B, o_B, _, _) = (moving(s, body) for body, _ in patch.pair)
    R = [[sum(R_B[k][i] * R_A[k][j] for k in range(3)) for j in range(3)] for i in range(3)]
    p = [sum(R_B[k][i] * (o_A[k] - o_B[k]) for k in range(3)) for i in range(3)]
    return [x for row in (*R, p) for x in row]
