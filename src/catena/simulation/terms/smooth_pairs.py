"""Cylinders and ellipsoids that touch other shapes, as expressions: contact points whose nearest
features are stored as numbers in their modes (`collision.nearest_features`).

They work as the points of two polyhedra do (`contact_slots.py`): features are chosen at events, one
guard watches them, and a change of features needs no new compilation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ...collision import PAIR_NUMBERS as NUMBERS
from ...collision import SIZES, NearestPoint, SupportMeet, SupportPair, support_meet
from ...compiler import Tracer
from ...contact import Meet, moving, velocity_at
from ...spatial import dot, sub
from .contact_rows import ContactMode
from .contact_slots import OWN, PatchPoint, WithFeatures, record
from .guards import Meaning

_FIELDS = tuple(
    f"{name}_{k}" if count > 1 else name for name, count in SIZES.items() for k in range(count)
)
_Numbers = record(
    *ContactMode._fields,
    *_FIELDS,
    defaults=(*ContactMode(), *(float(x) for part in NUMBERS for x in np.ravel(part))),
)


class SmoothMode(_Numbers, WithFeatures):  # type: ignore[valid-type, misc]
    """The mode of a point of a pair of smooth shapes: the fields of a ContactMode, then the numbers
    of a `collision.SupportPair`.
    """

    __slots__ = ()

    @property
    def pair(self) -> SupportPair:
        """The pair of features stored in the mode, as numbers or symbols."""
        return SupportPair.of(self[OWN:])

    @property
    def feature(self) -> NearestPoint:
        """The features stored in the mode as a `Nearest` point, in numbers."""
        return NearestPoint(self.pair)


@dataclass(frozen=True)
class SmoothPoint(PatchPoint):
    """One of the contact points of a pair of smooth shapes."""

    mode = SmoothMode()

    def meet(self, s: Tracer, mode: Any = None) -> Meet:
        """Return the gap, the contact axes, the place and the velocity for the features stored in
        the mode.
        """
        (_, o_A, w_A, v_A), (_, o_B, w_B, v_B), found = *self._both(s), self._found(s, mode)
        u = sub(velocity_at(found.place, o_A, w_A, v_A), velocity_at(found.place, o_B, w_B, v_B))
        axes = found.axes if self.rough else found.axes[:1]
        return Meet(found.gap, axes, found.place, [dot(axis, u) for axis in axes])

    def watched(self, s: Tracer, mode: Any) -> Iterator[tuple[Meaning, Any, Any]]:
        """Yield the guard that falls to zero when other features become the nearest ones."""
        yield Meaning.LEAVES_FACE, ca.if_else(mode.key > 0.5, self._found(s, mode).margin, 1.0), 1.0

    def _both(self, s: Tracer) -> tuple[Any, Any]:
        """Return rotation, origin, angular velocity and velocity of the origin of both bodies."""
        return moving(s, self.point.body), moving(s, self.point.other)

    def _found(self, s: Tracer, mode: Any) -> SupportMeet:
        """Return the gap, axes, place and margin for the features stored in the mode."""
        (R_A, o_A, _, _), (R_B, o_B, _, _) = self._both(s)
        return support_meet(mode.pair, (R_A, o_A), (R_B, o_B))
