"""Clearance: the signed distance of every pair of shapes that may collide, with the nearest points
and the normal.

Pairs with a closed form (`collision.distance`) are traced into one tape of the mechanism, including
the poses, and evaluated in lanes; other convex pairs are computed by a library (`convex_pairs`).
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import casadi as ca
import numpy as np

from ..collision import Collider, Solid, collision_pairs, either_pair, proximity
from ..compiler import LaneKernel, Tracer, compile_lanes, elements, matrix, vector
from ..errors import QuestionError, StateError, UnknownNameError
from ..kernels import frame_pose
from ..machine import arguments, machine_of, rows, where
from ..model import SHAPE_KINDS as KINDS
from ..model import Mechanism
from .assembly import assemble
from .convex_pairs import ConvexPairs

if TYPE_CHECKING:
    from ..machine import Machine

Array = np.ndarray
Pairs = Iterable[tuple[str, str]] | None
# An overlap at most this, relative to the larger shape of a pair, is a touch, as that of a body at
# rest on the ground.
TOUCH_OVERLAP_RATIO = 1e-10


@dataclass(frozen=True)
class Clearance:
    """Signed distances of pairs of shapes at one configuration, or at a batch of them.

    Attributes
    ----------
    pairs : tuple of (str, str)
        The names of the two shapes of each pair.
    distance : ndarray (..., pairs)
        Signed distances, m. A negative one is minus the shortest translation that separates the
        pair.
    first, second : ndarray (..., pairs, 3)
        The nearest points of the first and of the second shape, in the ground's axes, m; computed
        when they are first used.
    normal : ndarray (..., pairs, 3)
        Unit vectors from the first to the second shape: second - first = distance * normal.
    """

    pairs: tuple[tuple[str, str], ...]
    distance: Array
    source: tuple[Proximities, Array, Array | None]  # from which points and normals are computed

    @cached_property
    def _witness(self) -> Array:
        """The nearest points of the first shapes and the normals, (..., pairs, 6)."""
        found, q, p = self.source
        return found.witness(q, p)

    @property
    def first(self) -> Array:
        """The nearest points (..., pairs, 3) of the first shapes, m."""
        return self._witness[..., :3]

    @property
    def normal(self) -> Array:
        """The unit vectors (..., pairs, 3) from the first to the second shapes."""
        return self._witness[..., 3:]

    @property
    def second(self) -> Array:
        """The nearest points (..., pairs, 3) of the second shapes, m."""
        return self.first + self.distance[..., None] * self.normal

    @property
    def overlaps(self) -> Array:
        """Booleans (..., pairs): which pairs overlap by more than 1e-10 of the larger shape; shapes
        that only touch do not.
        """
        return np.less(self.distance, -self.source[0].touch)

    def index(self, first: str, second: str) -> int:
        """Return the index of a pair, whose names may be given in either order; raise an
        UnknownNameError if it is not there.
        """
        for k, pair in enumerate(self.pairs):
            if pair in ((first, second), (second, first)):
                return k
        raise UnknownNameError(
            "pair",
            f"{first} - {second}",
            [" - ".join(pair) for pair in self.pairs],
            "this clearance",
        )

    def __str__(self) -> str:
        least = self.distance.reshape(-1, len(self.pairs)).min(axis=0)
        overlap = np.atleast_1d(self.overlaps.reshape(-1, len(self.pairs)).any(axis=0))
        wide = max(len(" - ".join(pair)) for pair in self.pairs)
        lines = [
            f"{' - '.join(self.pairs[k]):{wide}}  {least[k]:.6g}"
            f" m{'  overlap' if overlap[k] else ''}"
            for k in np.argsort(least)
        ]
        return "\n".join(lines)


def clearance(
    m: Mechanism | Machine, q: Any = None, *, pairs: Pairs = None, parameters: Any = None
) -> Clearance:
    """Return the signed distance of every pair of shapes that may collide.

    Parameters
    ----------
    m : Mechanism or Machine
        The mechanism, or the machine compiled from it. For repeated calls pass a machine, which
        caches the compiled pairs.
    q : array (nq,) or (..., nq), optional
        Coordinates, rad or m. By default zero, or with loops the configuration assembled from
        there.
    pairs : iterable of (str, str), optional
        Only these pairs, given by names of shapes, bodies or groups. By default all pairs that the
        mechanism's collision filter allows.
    parameters : mapping of str to float or array, optional
        Values of the mechanism's parameters.

    Returns
    -------
    Clearance

    Raises
    ------
    ClosureError
        If `q` leaves a loop open.
    StateError
        If `q` has the wrong shape or is not finite.

    Examples
    --------
    >>> import catena
    >>> found = catena.clearance(catena.load("backspin"))
    >>> found.pairs, found.distance.round(6).tolist()
    ((('ground', 'ball'),), [-0.05])
    """
    machine = machine_of(m)
    found = proximities(machine, pairs)
    if q is None:
        q = assemble(machine, parameters=parameters)[0] if machine.rows else machine.neutral()
    q = arguments.array(machine, "clearance", "q", q)
    p = arguments.parameters(machine, parameters)
    if not np.isfinite(q).all():
        raise StateError("clearance: q holds values that are not finite")
    machine.require_possible("clearance", q, parameters=parameters)
    return Clearance(found.names, found.distance(q, p), (found, q, p))


_CACHE: WeakKeyDictionary[Machine, dict[tuple[tuple[str, str], ...] | None, Proximities]] = (
    WeakKeyDictionary()
)


def proximities(machine: Machine, pairs: Pairs = None) -> Proximities:
    """Return the pairs of a machine, compiled on first use and cached."""
    cache = _CACHE.setdefault(machine, {})
    key = None if pairs is None else tuple((str(a), str(b)) for a, b in pairs)
    if key not in cache:
        cache[key] = Proximities(machine, key)
    return cache[key]


class Proximities:
    """The pairs of shapes of a mechanism that may collide, with the kernels that compute their
    distances.
    """

    def __init__(self, machine: Machine, pairs: Pairs = None):
        self.machine, self.pairs = machine, collision_pairs(machine.mechanism, pairs)
        if not self.pairs:
            raise QuestionError(
                f"clearance: {where(machine)} has no pair of shapes that may collide; give shapes"
                " collides = true, the ground [[ground]] shapes, and neighbours that are wanted to"
                " [collisions] include"
            )
        self.names = tuple((a.name, b.name) for a, b in self.pairs)
        # the overlap, m, that still counts as a touch
        self.touch = TOUCH_OVERLAP_RATIO * np.array(
            [max(_extent(machine, a), _extent(machine, b)) for a, b in self.pairs]
        )
        closed = np.array([_has_closed_form(a, b) for a, b in self.pairs])
        # indices of the pairs with and without a closed form
        self.own, self.others = np.flatnonzero(closed), np.flatnonzero(~closed)
        self.convex = ConvexPairs(machine, [self.pairs[k] for k in self.others])

    def distance(self, q: Array, p: Array | None) -> Array:
        """Return the signed distances (..., pairs), m, at q (..., nq) with parameters p."""
        own = self._run(self._distance, q, p) if len(self.own) else None
        return self._merge(own, slice(0, 1), q, p)[..., 0]

    def witness(self, q: Array, p: Array | None) -> Array:
        """Return (..., pairs, 6): the nearest points of the first shapes, and the normals."""
        own = self._run(self._witness, q, p) if len(self.own) else None
        return self._merge(own, slice(1, 7), q, p)

    def _merge(self, own: Array | None, which: slice, q: Array, p: Array | None) -> Array:
        """Return the results of both sorts of pairs in the order of the names: `own`, of pairs with
        a closed form, and the columns `which` of the results of the convex solver.
        """
        if own is not None and not len(self.others):
            return own
        theirs = self.convex.ask(q, p)[..., which]
        out = np.empty((*q.shape[:-1], len(self.pairs), theirs.shape[-1]))
        out[..., self.others, :] = theirs
        if own is not None:
            out[..., self.own, :] = own
        return out

    def _run(self, kernel: LaneKernel, q: Array, p: Array | None) -> Array:
        """Evaluate a kernel in lanes; returns (..., pairs, numbers)."""
        names = self.machine.mechanism.parameters
        given = [q] + ([np.array(list(names.values())) if p is None else p] if names else [])
        lead = np.broadcast_shapes(*(x.shape[:-1] for x in given))
        batch = int(np.prod(lead))
        flat = [np.ascontiguousarray(x) if x.ndim == 1 else rows(x, lead, batch) for x in given]
        (found,), _ = kernel(flat, batch, threads=self.machine.threads)
        return found.reshape(*lead, *kernel.output_shapes[0])

    @cached_property
    def _traced(self) -> tuple[list[ca.SX], list[tuple[ca.SX, ca.SX]]]:
        """The symbols, and the expressions of distance (1,) and witness (6,) of each pair with a
        closed form.
        """
        s = Tracer(self.machine.spec.layout, self.machine.spec.snap)
        solids = {c.name: _solid(s, c) for k in self.own for c in self.pairs[k]}
        found = [
            _traced(a.shape.kind, b.shape.kind)(*solids[a.name], *solids[b.name])
            for a, b in (self.pairs[k] for k in self.own)
        ]
        return [s.q] + ([s.p] if self.machine.mechanism.parameters else []), found  # type: ignore[return-value]  # CasADi's stubs

    @cached_property
    def _distance(self) -> LaneKernel:
        """The compiled kernel of all distances with a closed form."""
        inputs, found = self._traced
        return compile_lanes(
            ca.Function("clearance", inputs, [ca.cse(ca.vertcat(*(d for d, _ in found)))])
        )

    @cached_property
    def _witness(self) -> LaneKernel:
        """The compiled kernel of the nearest points and normals with a closed form."""
        inputs, found = self._traced
        return compile_lanes(
            ca.Function("witness", inputs, [ca.cse(ca.vertcat(*(w.T for _, w in found)))])
        )


def _extent(machine: Machine, c: Collider) -> float:
    """Return the largest dimension of a shape, m; zero for a half-space, and for a mesh, whose size
    numbers are scale factors and not lengths.
    """
    if KINDS[c.shape.kind].measure != "length":
        return 0.0
    values = machine.mechanism.parameters
    return max(
        (float(getattr(x, "subs", lambda _, x=x: x)(values)) for x in c.shape.size), default=0.0
    )


def _has_closed_form(a: Collider, b: Collider) -> bool:
    """Whether the distance of a pair has a closed form."""
    pair = either_pair(a.shape.kind, b.shape.kind)
    return pair is not None and pair.distance is not None


@functools.cache
def _traced(first: str, second: str) -> ca.Function:
    """Return the distance of two kinds of shapes as a function of rotations, origins and sizes. It
    is traced once per pair of kinds and inlined for each pair of shapes.
    """
    given, solids = [], []
    for k, kind in enumerate((first, second)):
        R = ca.SX.sym(f"R{k}", 3, 3)
        p = ca.SX.sym(f"p{k}", 3)
        size = ca.SX.sym(f"s{k}", len(KINDS[kind].sizes))
        given += [R, p, size]
        solids.append(
            Solid(
                tuple(tuple(R[i, j] for j in range(3)) for i in range(3)),
                tuple(elements(p)),
                tuple(elements(size)),
            )
        )
    found = proximity((first, second), *solids)
    return ca.Function(
        f"{first}_{second}", given, [vector([found.distance]), vector([*found.a, *found.normal])]
    )


def _solid(s: Tracer, c: Collider) -> tuple[ca.SX, ca.SX, ca.SX]:
    """Return rotation (3, 3), origin (3,) and sizes of a shape in the ground's axes, as
    expressions.
    """
    seat = s.layout.seat(c.body)
    X = seat.pose @ c.shape.pose
    R, p = frame_pose(
        seat.node,
        tuple(tuple(s.value(x) for x in row) for row in X.rotation),
        tuple(map(s.value, X.position)),
        s.posed,
    )
    return matrix(R), vector(p), vector([s.value(x) for x in c.shape.size])
