"""Cylinders and ellipsoids that touch other shapes, on the tape: points whose nearest features are numbers of their modes (`analysis.nearest_features`).

They are points of a pair as those of two polyhedra are (`contact_slots.py`): chosen at events, watched by one guard, and other features compile nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ..analysis.contact_gaps import Meet, moving, velocity_at
from ..analysis.feature_pairs import NUMBERS, NearestPoint
from ..analysis.nearest_features import PairFeatures, pair_features
from ..analysis.support_features import SupportShape, support_shape
from ..compiler.trace import Tracer
from ..errors import SimulationError
from ..kernels.support_pairs import SIZES, SupportMeet, SupportPair, support_meet
from ..model.contact_points import contact_patches, patch_points
from ..model.mechanism import Mechanism
from ..spatial import dot, sub
from .contact_rows import ContactMode
from .contact_slots import PatchPoint, TouchingPatch, record
from .guards import Meaning

OWN = len(ContactMode._fields)
_FIELDS = tuple(f"{name}_{k}" if count > 1 else name for name, count in SIZES.items() for k in range(count))
_Numbers = record(*ContactMode._fields, *_FIELDS, defaults=(*ContactMode(), *(float(x) for part in NUMBERS for x in np.ravel(part))))


class SmoothMode(_Numbers):  # type: ignore[valid-type, misc]
    """The mode of a point: that of a contact point, then the numbers of its features (`kernels.support_pairs.SupportPair`)."""

    __slots__ = ()

    word = ContactMode.word

    @property
    def opened(self) -> SmoothMode:
        """Open, with the same features."""
        return SmoothMode(*ContactMode(), *self[OWN:])

    @property
    def present(self) -> bool:
        """Whether it has features."""
        return bool(self.key > 0.5)

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

    def watched(self, s: Tracer, mode: Any) -> Iterator[tuple[Meaning, Any]]:
        """Whether its features are the nearest."""
        yield Meaning.LEAVES_FACE, ca.if_else(mode.key > 0.5, self._found(s, mode).margin, 1.0)

    def _both(self, s: Tracer) -> tuple[Any, Any]:
        return moving(s, self.point.body), moving(s, self.point.other)

    def _found(self, s: Tracer, mode: Any) -> SupportMeet:
        (R_A, o_A, _, _), (R_B, o_B, _, _) = self._both(s)
        return support_meet(mode.pair, (R_A, o_A), (R_B, o_B))


@dataclass(frozen=True)
class SmoothPair(TouchingPatch):
    """A cylinder or an ellipsoid and another shape."""

    smooth = True

    def shapes(self, values: Mapping[str, float]) -> tuple[SupportShape, SupportShape]:
        """Both, at given values of parameters."""
        return support_shape(self.patch.shape, values), support_shape(self.patch.against, values)

    def choose(self, A: SupportShape, B: SupportShape, R: Any, p: Any, w: Any, v: Any, modes: Sequence[SmoothMode]) -> PairFeatures:
        """The nearest features at X_BA = (R, p), looked for from those of the modes."""
        known = next((mode.feature for mode in modes if mode.present), None)
        return pair_features(A, B, R, p, None if known is None else np.array(known.placed(R, p).axes[0]), w, v)

    def check(self, t: float, found: PairFeatures) -> None:
        """Raise a SimulationError where they touch and no features are the nearest."""
        if found.flat:
            x = self.patch
            raise SimulationError(f"at t = {t:.9g} s the {x.shape.kind} of {x.body!r} and the {x.against.kind} of {x.other!r} touch (contact {x.name!r}) where they have no single point and no "
                                  "two ends: the flat end of a cylinder lies on a face or along a line; let spheres, or frames on the rim, touch instead")  # fmt: skip


def touching_pairs(m: Mechanism) -> tuple[list[TouchingPatch], list[PatchPoint]]:
    """The pairs of a mechanism whose points are chosen at events, and all their points."""
    pairs: list[TouchingPatch] = []
    points: list[PatchPoint] = []
    for patch in contact_patches(m):
        own, (pair, point) = patch_points(m, patch), (SmoothPair, SmoothPoint) if patch.smooth else (TouchingPatch, PatchPoint)
        pairs.append(pair(patch, len(own)))
        points += [point(p, m.contacts[patch.contact]) for p in own]
    return pairs, points
