"""Cylinders and ellipsoids that touch other shapes, on the tape: points whose nearest features are
numbers of their modes (`analysis.nearest_features`).

They are points of a pair as those of two polyhedra are (`contact_slots.py`): chosen at events,
watched by one guard, and other features compile nothing.
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
    """The mode of a point: that of a contact point, then the numbers of its features
    (`kernels.support_pairs.SupportPair`).
    """

    __slots__ = ()

    @property
    def pair(self) -> SupportPair:
        """Of numbers or symbols."""
        return SupportPair.of(self[OWN:])

    @property
    def feature(self) -> NearestPoint:
        """Of numbers."""
        return NearestPoint(self.pair)


@dataclass(frozen=True)
class SmoothPoint(PatchPoint):
    """One of the points of a pair."""

    mode = SmoothMode()

    def meet(self, s: Tracer, mode: Any = None) -> Meet:
        """Gap and axes of the features of the mode."""
        (_, o_A, w_A, v_A), (_, o_B, w_B, v_B), found = *self._both(s), self._found(s, mode)
        u = sub(velocity_at(found.place, o_A, w_A, v_A), velocity_at(found.place, o_B, w_B, v_B))
        axes = found.axes if self.rough else found.axes[:1]
        return Meet(found.gap, axes, found.place, [dot(axis, u) for axis in axes])

    def watched(self, s: Tracer, mode: Any) -> Iterator[tuple[Meaning, Any, Any]]:
        """Whether its features are the nearest."""
        yield Meaning.LEAVES_FACE, ca.if_else(mode.key > 0.5, self._found(s, mode).margin, 1.0), 1.0

    def _both(self, s: Tracer) -> tuple[Any, Any]:
        return moving(s, self.point.body), moving(s, self.point.other)

    def _found(self, s: Tracer, mode: Any) -> SupportMeet:
        (R_A, o_A, _, _), (R_B, o_B, _, _) = self._both(s)
        return support_meet(mode.pair, (R_A, o_A), (R_B, o_B))
