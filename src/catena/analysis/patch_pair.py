"""The two polyhedra of a contact patch, with or without a radius: which features they may touch by, and where these are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..model.contact_points import ContactPatch
from ..model.polyhedra import Polyhedron, polyhedron, rounding
from .contact_features import Feature, PatchFeatures, on_second, patch_features
from .rounded_features import RoundedFeature, RoundedFeatures, rounded_features

Array = np.ndarray


class PatchPair(NamedTuple):
    """A and B in the axes of their bodies, in the order of `ContactPatch.pair`; radius: of both together, m; zero of boxes and meshes."""

    A: Polyhedron
    B: Polyhedron
    radius: float

    def features(self, R: Array, p: Array, w: Array | None = None, v: Array | None = None) -> PatchFeatures | RoundedFeatures:
        """At X_BA = (R, p); w, v (3,): angular velocity of A and velocity of its origin against B."""
        return rounded_features(self.A, self.B, self.radius, R, p, w, v) if self.radius else patch_features(self.A, self.B, R, p, w, v)

    def at(self, x: Feature | RoundedFeature, R: Array, p: Array) -> tuple[float, Array]:
        """Gap and place of a feature, in the axes of B; of a rounded one the place of A's core."""
        if isinstance(x, RoundedFeature):
            found = x.on_second(R, p, self.radius)
            return float(found.gap), np.array(found.core)
        meets = on_second(x, R, p)
        return float(meets.gap), np.array(meets.place)


def patch_pair(patch: ContactPatch, parameters: Mapping[str, Any]) -> PatchPair:
    """At given values of the mechanism's parameters."""
    (_, one), (_, other) = patch.pair
    return PatchPair(polyhedron(one, parameters), polyhedron(other, parameters), rounding(one, parameters) + rounding(other, parameters))
