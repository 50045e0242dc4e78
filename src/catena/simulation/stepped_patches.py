"""Patches of boxes by time stepping: the points at which a pair touches at the moment, as contacts with places of their own.

A pair is `POINTS` points (`kernels.box_manifold`), which have one expression in common. Those that are not there have an infinite gap, and the solver
passes over them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..analysis.contact_gaps import Meet, met_at, moving, solid
from ..compiler.trace import Tracer
from ..errors import SimulationError
from ..kernels.box_manifold import POINTS, box_manifold
from ..model.contact_points import ContactPatch, contact_patches
from ..model.contacts import Contact
from ..model.mechanism import Mechanism
from .contact_rows import TouchingPoint


@dataclass(frozen=True)
class PatchPoint:
    """One of the points of a pair of boxes: `point` is its pair, number counts from 0."""

    point: ContactPatch
    contact: Contact
    number: int

    @property
    def name(self) -> str:
        """In results."""
        return f"{self.point.name} point {self.number + 1}"

    @property
    def rough(self) -> bool:
        """Whether it has friction."""
        return self.contact.static > 0.0

    @property
    def count(self) -> int:
        """Of its rows."""
        return 3 if self.rough else 1


SteppedPoint = TouchingPoint | PatchPoint


def patch_points(m: Mechanism) -> Iterator[PatchPoint]:
    """The points of all pairs of boxes."""
    for patch in contact_patches(m):
        for number in range(POINTS):
            yield PatchPoint(patch, m.contacts[patch.contact], number)


def patch_faults(m: Mechanism) -> Iterator[str]:
    """Pairs that equal steps do not know."""
    for patch in contact_patches(m):
        if others := {patch.shape.kind, patch.against.kind} - {"box"}:
            yield (f"contact {m.contacts[patch.contact].name!r}: {patch.body!r} and {patch.other!r} touch as a {patch.shape.kind} and a {patch.against.kind}; of two polyhedra a step knows "
                   f"boxes alone: replace the {' and the '.join(sorted(others))} by boxes or spheres, or take contact = 'events'")  # fmt: skip


def meets(s: Tracer, points: Sequence[SteppedPoint]) -> list[Meet]:
    """Where points meet their surfaces; those of a pair have its expression in common."""
    found: dict[ContactPatch, list[Meet]] = {}
    for c in points:
        if isinstance(c, PatchPoint) and c.point not in found:
            found[c.point] = _pair(s, c.point, c.rough)
    return [found[c.point][c.number] if isinstance(c, PatchPoint) else c.meet(s) for c in points]


def _pair(s: Tracer, patch: ContactPatch, rough: bool) -> list[Meet]:
    """All points of a pair."""
    body, other = moving(s, patch.body), moving(s, patch.other)
    n, points = box_manifold(solid(s, patch.against, *other[:2]), solid(s, patch.shape, *body[:2]))
    return [met_at(gap, n, place, body, other, rough) for gap, place in points]
