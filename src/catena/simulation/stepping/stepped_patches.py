"""Pairs of shapes in time stepping: the points at which they touch at the moment (their contact
manifold) are contacts of the solver, which finds them (`contact.patches`).

The compiled equations contain the poses of a pair and the twist of one shape relative to the other;
gaps, places and normals are computed in lanes by one function for all pairs of a kind.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...collision import CORES, MANIFOLDS, ContactPatch, Manifold, contact_patches
from ...collision.manifolds import Hulls
from ...compiler import BlockFunction, Record, Tracer, call_block, default_width, machine_function
from ...contact import moving, pair_shapes, see, solid, velocity_at
from ...model import Contact, Mechanism, Shape
from ...spatial import sub
from ..terms.contact_rows import TouchingPoint
from .stepped_fields import field_fault, fields_of
from .stepped_hulls import (
    MOST_FACE_CORNERS,
    MOST_FACES,
    hull_of,
    hulls,
    radius_of,
    sides_of,
    size_of,
)

Array = NDArray[np.float64]


@dataclass(frozen=True)
class SteppedPair(ContactPatch):
    """Two shapes whose contact manifold is found in every step. code: the name of the `Manifold`
    that finds it. rank: which of its normals the pair has.
    """

    code: str
    rank: int = 0

    @property
    def manifold(self) -> Manifold:
        """The record of its contact manifold: how the points are found."""
        return MANIFOLDS[self.code]

    @property
    def polyhedra(self) -> list[Shape | None]:
        """Its shapes in the order of `solids`, None for those whose polyhedron is not read."""
        reads = self.manifold.hulls
        return [x if reads and x.kind not in CORES else None for _, x in self.solids]

    @property
    def solids(self) -> tuple[tuple[str, Shape], tuple[str, Shape]]:
        """Bodies and shapes in the order in which the compiled code takes them: first the surface,
        or the shape without rounding radius.
        """
        return self.pair[1], self.pair[0]


def stepped_pairs(m: Mechanism) -> tuple[SteppedPair, ...]:
    """Return all pairs of shapes of a mechanism that time stepping can treat, grouped by their
    code.
    """
    found = [
        pair
        for x in contact_patches(m)
        if x.record.manifold is not None
        for pair in _ranks(x, x.record.manifold)
    ]
    order = list(MANIFOLDS)
    return tuple(sorted(found, key=lambda pair: order.index(pair.code)))


def _ranks(patch: ContactPatch, manifold: Manifold) -> Iterator[SteppedPair]:
    """Yield a pair for each normal that two shapes may have at once."""
    for rank in range(manifold.normals):
        name = f"{patch.name} point {rank + 1}" if manifold.normals > 1 else patch.name
        yield SteppedPair(**{**vars(patch), "name": name}, code=manifold.name, rank=rank)


@dataclass(frozen=True)
class ManifoldPoint:
    """One of the points of the contact manifold of a pair: `point` is the pair, `number` counts
    from 0. It has three rows, also without friction.
    """

    point: SteppedPair
    contact: Contact
    number: int

    rough = True
    count = 3

    @property
    def name(self) -> str:
        """The name of the point in results."""
        return (
            f"{self.point.name} point {self.number + 1}"
            if self.point.manifold.points(1) > 1
            else self.point.name
        )


SteppedPoint = TouchingPoint | ManifoldPoint


def manifold_points(m: Mechanism) -> Iterator[ManifoldPoint]:
    """Yield the manifold points of all pairs of a mechanism."""
    pairs = PairLayout(stepped_pairs(m))
    for pair in pairs.pairs:
        for number in range(pairs.points_of(pair.code)):
            yield ManifoldPoint(pair, m.contacts[pair.contact], number)


def patch_faults(m: Mechanism) -> Iterator[str]:
    """Yield a sentence for each pair of shapes that time stepping cannot treat, and for each mesh
    whose hull has too many faces or too many corners of a face.
    """
    for patch in contact_patches(m):
        if patch.record.manifold is None:
            yield (
                f"contact {m.contacts[patch.contact].name!r} is between the {patch.shape.kind} of"
                f" {patch.body!r} and the {patch.against.kind} of {patch.other!r}, which time"
                " stepping does not support: use boxes, capsules or spheres instead, or contact ="
                " 'events'"
            )
    for pair in stepped_pairs(m):
        if fault := field_fault(pair.solids[0][1], pair.solids[1][1]):
            yield f"contact {m.contacts[pair.contact].name!r}: the heightfield of {fault}"
        for body, shape in pair.solids:
            faces, sides = (
                (len(hull_of(shape).polygons), sides_of(shape)) if shape.kind == "mesh" else (0, 0)
            )
            if faces > MOST_FACES or sides > MOST_FACE_CORNERS:
                yield (
                    f"contact {m.contacts[pair.contact].name!r}: the hull of the mesh of {body!r}"
                    f" has {faces} faces with up to {sides} corners, and time stepping supports at"
                    f" most {MOST_FACES} faces with {MOST_FACE_CORNERS} corners: simplify it, or"
                    " give the body boxes, capsules or spheres that collide"
                )


@dataclass(frozen=True)
class PairLayout:
    """Pairs of shapes as the compiled code treats them: grouped by how their contact points are
    found, with the corners, edges and faces of their polyhedra.
    """

    pairs: tuple[SteppedPair, ...]

    @cached_property
    def sides(self) -> int:
        """The largest number of corners of a face."""
        return max(
            (sides_of(x) for pair in self.pairs for x in pair.polyhedra if x is not None),
            default=1,
        )

    def points_of(self, code: str) -> int:
        """Return the number of manifold points of each pair of that code."""
        return MANIFOLDS[code].points(self.sides)

    @cached_property
    def groups(self) -> tuple[tuple[str, int, int, int, int], ...]:
        """For each code: its name, the index of its first pair, the index after its last pair, the
        number of points of each pair, and the index of its first point; in the form that
        `contact.patches` takes.
        """
        found, first, start = [], 0, 0
        for code in dict.fromkeys(pair.code for pair in self.pairs):
            count = sum(pair.code == code for pair in self.pairs)
            each = self.points_of(code)
            found.append((code, first, first + count, each, start))
            first = first + count
            start = start + count * each
        return tuple(found)

    @property
    def points(self) -> int:
        """The number of manifold points of all pairs."""
        return sum(self.points_of(pair.code) for pair in self.pairs)

    @cached_property
    def hulls(self) -> Hulls:
        """The tables of the polyhedra of all pairs."""
        owner = [k for k, pair in enumerate(self.pairs) for _ in range(self.points_of(pair.code))]
        turn = [-1.0 if pair.swapped else 1.0 for pair in self.pairs]
        grids, fields = fields_of([(p.solids[0][1], p.solids[1][1], p.rank) for p in self.pairs])
        return hulls([p.polyhedra for p in self.pairs], self.sides, turn, owner, grids, fields)

    @property
    def scratch(self) -> tuple[int, int, int, int]:
        """The sizes that `contact.pair_shapes` takes: pairs, points, corners, and corners of a
        face.
        """
        return len(self.pairs), self.points, self.hulls.corner.shape[1], self.sides

    def seen(self, values: Array) -> SeenPoints:
        """Return the manifolds of states as arrays: gap (states, k), place and speed (states, k,
        3), axes (states, k, 3, 3) of k points. values (states, 38 n): poses, then twists, of n
        pairs.
        """
        n = len(self.pairs)
        k = self.points
        states = len(values)
        W = default_width()
        shapes = ((k,), (k, 3), (k, 3), (k, 9))
        scratch = Record(SeenScratch, pair_shapes(*self.scratch), self.hulls)
        code = BlockFunction(
            see,
            Record(SeenPairs, ((n, 32), (n, 6))),
            Record(SeenPoints, shapes),
            scratch,
            W,
            self.groups,
        )
        groups = -(-states // W)
        given = np.zeros((groups * W, values.shape[1]))
        given[:states] = values
        given[states:] = values[-1:]
        found = np.empty((groups, (16 * k + code.behind) * W))
        each_block(
            code.block_address,
            np.ascontiguousarray(given.reshape(groups, W, -1).transpose(0, 2, 1)).reshape(
                groups, -1
            ),
            found,
        )
        rows = (
            found[:, : 16 * k * W]
            .reshape(groups, 16 * k, W)
            .transpose(0, 2, 1)
            .reshape(groups * W, -1)[:states]
        )
        gap, place, speed, axes = np.split(rows, [k, 4 * k, 7 * k], axis=1)
        return SeenPoints(
            gap,
            place.reshape(states, k, 3),
            speed.reshape(states, k, 3),
            axes.reshape(states, k, 3, 3),
        )


# --- on the tape
def pair_pose(s: Tracer, pair: SteppedPair) -> list[Any]:
    """Return (32,): for both shapes the rotation by rows, the middle (m), three sizes (m), and the
    radius (m) of a ball that contains the shape.
    """
    found: list[Any] = []
    for body, shape in pair.solids:
        x = solid(s, shape, *moving(s, body)[:2])
        size = size_of(shape, x.size)
        found += [*(x for row in x.R for x in row), *x.p, *size, radius_of(shape, size)]
    return found


def pair_twist(s: Tracer, pair: SteppedPair) -> list[Any]:
    """Return (6,): the twist of the body that touches relative to that of the surface, angular
    (rad/s), then linear (m/s) at the middle of the second shape, in the ground's axes.
    """
    body = moving(s, pair.body)
    other = moving(s, pair.other)
    name, shape = pair.solids[1]
    middle = solid(s, shape, *moving(s, name)[:2]).p
    return [
        *sub(body[2], other[2]),
        *sub(velocity_at(middle, *body[1:]), velocity_at(middle, *other[1:])),
    ]


# --- in lanes
class SeenPairs(NamedTuple):
    """The inputs of the compiled function for n pairs: pose (n, 32) and twist (n, 6)."""

    pose: Any
    twist: Any


class SeenPoints(NamedTuple):
    """The outputs of the compiled function for k points: gap (k,); place (k, 3); speed (k, 3) along
    the axes; axes (k, 9): normal and two tangents.
    """

    gap: Any
    place: Any
    speed: Any
    axes: Any


class SeenScratch(NamedTuple):
    """The work arrays of the compiled function: the last fields of a `ContactScratch`."""

    axes: Any
    points: Any
    corner: Any
    reference: Any
    incident: Any
    hulls: Any


@machine_function()
def each_block(address, x, y):  # type: ignore[no-untyped-def]  # machine code
    """Call the compiled function for each row of x, which holds the inputs of one block of lanes,
    and store the outputs in the same row of y.
    """
    for g in range(x.shape[0]):
        call_block(address, x[g], y[g])
    return x.shape[0]
