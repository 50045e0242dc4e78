"""Pairs of boxes by time stepping: the points at which they touch at the moment are contacts of the solver, which finds them (`kernels.contact_patches`).

Tapes have a pair's poses and the twist of one box against the other; gaps, places and normals are made in lanes by one piece of code for all pairs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..analysis.contact_gaps import moving, solid, velocity_at
from ..compiler.block_function import BlockFunction, Record
from ..compiler.host import default_width
from ..compiler.machine_function import call_block, machine_function
from ..compiler.trace import Tracer
from ..kernels.box_manifold import POINTS
from ..kernels.contact_patches import see
from ..model.contact_points import ContactPatch, contact_patches
from ..model.contacts import Contact
from ..model.mechanism import Mechanism
from ..spatial import sub
from .contact_rows import TouchingPoint

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ManifoldPoint:
    """One of the points of a pair of boxes: `point` is its pair, number counts from 0. It has three rows, also without friction."""

    point: ContactPatch
    contact: Contact
    number: int

    rough = True
    count = 3

    @property
    def name(self) -> str:
        """In results."""
        return f"{self.point.name} point {self.number + 1}"


SteppedPoint = TouchingPoint | ManifoldPoint


def manifold_points(m: Mechanism) -> Iterator[ManifoldPoint]:
    """The points of all pairs of boxes."""
    for patch in contact_patches(m):
        for number in range(POINTS):
            yield ManifoldPoint(patch, m.contacts[patch.contact], number)


def patch_faults(m: Mechanism) -> Iterator[str]:
    """Pairs that equal steps do not know."""
    for patch in contact_patches(m):
        if patch.kind != "polyhedra":
            yield (f"contact {m.contacts[patch.contact].name!r} is of a {patch.shape.kind} of {patch.body!r} and a {patch.against.kind} of {patch.other!r}, which a step does not know: put boxes or "
                   "spheres in their place, or take contact = 'events'")  # fmt: skip
        elif others := sorted({patch.shape.kind, patch.against.kind} - {"box"}):
            yield (f"contact {m.contacts[patch.contact].name!r} is of a {patch.shape.kind} of {patch.body!r} and a {patch.against.kind} of {patch.other!r}; of two polyhedra a step knows "
                   f"two boxes alone: put boxes or spheres in place of the {others[0]}, or take contact = 'events'")  # fmt: skip


# ---------------------------------------------------------------------------------------------------- on the tape
def pair_pose(s: Tracer, pair: ContactPatch) -> list[Any]:
    """(30,): rotation by rows, middle and sizes of the surface, and of what touches it."""
    found: list[Any] = []
    for body, shape in ((pair.other, pair.against), (pair.body, pair.shape)):
        box = solid(s, shape, *moving(s, body)[:2])
        found += [*(x for row in box.R for x in row), *box.p, *box.size]
    return found


def pair_twist(s: Tracer, pair: ContactPatch) -> list[Any]:
    """(6,): of what touches against the surface, angular and linear at the middle of the first, in the ground's axes."""
    body, other = moving(s, pair.body), moving(s, pair.other)
    middle = solid(s, pair.shape, *body[:2]).p
    return [*sub(body[2], other[2]), *sub(velocity_at(middle, *body[1:]), velocity_at(middle, *other[1:]))]


# ---------------------------------------------------------------------------------------------------- in lanes
class SeenPairs(NamedTuple):
    """Of n pairs: pose (n, 30) and twist (n, 6)."""

    pose: Any
    twist: Any


class SeenPoints(NamedTuple):
    """Of their points: gap; place (3,) and speed (3,) along the axes; normal and two tangents (9,)."""

    gap: Any
    place: Any
    speed: Any
    axes: Any


class Nothing(NamedTuple):
    """No scratch memory."""


def seen_points(pairs: Sequence[ContactPatch], values: Array) -> SeenPoints:
    """Of states with poses and twists (states, 36 n): arrays (states, 12 n), (states, 12 n, 3) twice, and (states, 12 n, 3, 3)."""
    n, states, W = len(pairs), len(values), default_width()
    k = POINTS * n
    shapes = ((k,), (k, 3), (k, 3), (k, 9))
    code = BlockFunction(see, Record(SeenPairs, ((n, 30), (n, 6))), Record(SeenPoints, shapes), Record(Nothing, ()), W, n)
    groups = -(-states // W)
    given = np.zeros((groups * W, values.shape[1]))
    given[:states] = values
    given[states:] = values[-1:]
    found = np.empty((groups, 16 * k * W))
    each_block(code.block_address, np.ascontiguousarray(given.reshape(groups, W, -1).transpose(0, 2, 1)).reshape(groups, -1), found)
    rows = found.reshape(groups, 16 * k, W).transpose(0, 2, 1).reshape(groups * W, -1)[:states]
    gap, place, speed, axes = np.split(rows, [k, 4 * k, 7 * k], axis=1)
    return SeenPoints(gap, place.reshape(states, k, 3), speed.reshape(states, k, 3), axes.reshape(states, k, 3, 3))


@machine_function()
def each_block(address, x, y):  # type: ignore[no-untyped-def]  # machine code
    """Call a block of lanes for each row of x, with its outputs in that row of y."""
    for g in range(x.shape[0]):
        call_block(address, x[g], y[g])
    return x.shape[0]
