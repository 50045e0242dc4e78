"""The two shapes of a contact patch: the features by which they may touch, and the positions of
these.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..model import Shape
from ..registry import loaded
from .contact_points import ContactPatch
from .feature_pairs import NearestPoint
from .nearest_features import PairFeatures, pair_features
from .polyhedra import Polyhedron, polyhedron, rounding
from .polyhedron_features import SIDES, Feature, PatchFeatures, on_second, patch_features
from .rounded_features import RoundedFeature, RoundedFeatures, rounded_features
from .support_features import SupportShape, support_shape

Array = np.ndarray
Found = PatchFeatures | RoundedFeatures | PairFeatures


class PatchPair(Protocol):
    """Two shapes in the axes of their bodies, in the order of `ContactPatch.pair`."""

    @property
    def A(self) -> Any:
        """The shape that touches, or the one with a radius."""

    @property
    def B(self) -> Any:
        """The other shape."""

    def features(
        self, R: Array, p: Array, w: Array | None = None, v: Array | None = None, known: Any = None
    ) -> Found:
        """Return the features by which the shapes may touch at X_BA = (R, p). w, v (3,): angular
        velocity of A and velocity of its origin relative to B. known: a feature of an instant
        before.
        """

    def at(self, x: Any, R: Array, p: Array) -> tuple[float, Array]:
        """Return gap (m) and place of a feature x at X_BA = (R, p), in the axes of B."""

    def parting(self, R: Array, p: Array) -> list[Any]:
        """Return features along whose normals the shapes can be separated at X_BA = (R, p)."""


class PolyhedraPair(NamedTuple):
    """Two boxes or meshes."""

    A: Polyhedron
    B: Polyhedron

    def features(
        self, R: Array, p: Array, w: Array | None = None, v: Array | None = None, known: Any = None
    ) -> PatchFeatures:
        """Return the features of the faces that face each other."""
        return patch_features(self.A, self.B, R, p, w, v)

    def at(self, x: Feature, R: Array, p: Array) -> tuple[float, Array]:
        """Return gap and place of a feature, in the axes of B, m."""
        found = on_second(x, R, p)
        return float(found.gap), np.array(found.place)

    def parting(self, R: Array, p: Array) -> list[Feature]:
        """Return all features at the relative pose X_BA = (R, p), along whose normals the shapes
        can be separated.
        """
        return self.features(R, p).points


class RoundedPair(NamedTuple):
    """A sphere or capsule and another shape: corners and edges with a radius, the sum of both
    radii, m.
    """

    A: Polyhedron
    B: Polyhedron
    radius: float

    def features(
        self, R: Array, p: Array, w: Array | None = None, v: Array | None = None, known: Any = None
    ) -> RoundedFeatures:
        """Return the features of the ends of A, and those between them."""
        return rounded_features(self.A, self.B, self.radius, R, p, w, v)

    def at(self, x: RoundedFeature, R: Array, p: Array) -> tuple[float, Array]:
        """Return the gap of a feature and the place of A's core, in the axes of B, m."""
        found = x.on_second(R, p, self.radius)
        return float(found.gap), np.array(found.core)

    def parting(self, R: Array, p: Array) -> list[RoundedFeature]:
        """Return all features at the relative pose X_BA = (R, p), along whose normals the shapes
        can be separated.
        """
        return self.features(R, p).points


class NearestPair(NamedTuple):
    """A cylinder or ellipsoid and another shape."""

    A: SupportShape
    B: SupportShape

    def features(
        self,
        R: Array,
        p: Array,
        w: Array | None = None,
        v: Array | None = None,
        known: NearestPoint | None = None,
    ) -> PairFeatures:
        """Return the nearest features."""
        return pair_features(
            self.A,
            self.B,
            R,
            p,
            None if known is None else np.array(known.placed(R, p).axes[0]),
            w,
            v,
        )

    def at(self, x: NearestPoint, R: Array, p: Array) -> tuple[float, Array]:
        """Return gap and place of a feature, in the axes of B, m."""
        found = x.placed(R, p)
        return float(found.gap), np.array(found.place)

    def parting(self, R: Array, p: Array) -> list[Feature]:
        """Return one feature at the nearest or deepest points, with a normal that is fixed on B."""
        n = self.features(R, p).normal
        t = np.cross(n, np.eye(3)[np.argmin(np.abs(n))])
        a = self.A.support(-(R.T @ n))
        b = self.B.support(n)
        return [
            Feature(
                1.0,
                1.0,
                0.0,
                a,
                b,
                n,
                t / np.linalg.norm(t),
                n,
                np.array([[0.0, 0.0, 1.0]] * SIDES),
            )
        ]


def polyhedra_pair(one: Shape, other: Shape, values: Mapping[str, Any]) -> PolyhedraPair:
    """Return the PolyhedraPair of two shapes at given values of the parameters."""
    return PolyhedraPair(polyhedron(one, values), polyhedron(other, values))


def rounded_pair(one: Shape, other: Shape, values: Mapping[str, Any]) -> RoundedPair:
    """Return the RoundedPair of two shapes at given values of the parameters."""
    return RoundedPair(
        polyhedron(one, values),
        polyhedron(other, values),
        rounding(one, values) + rounding(other, values),
    )


def nearest_pair(one: Shape, other: Shape, values: Mapping[str, Any]) -> NearestPair:
    """Return the NearestPair of two shapes at given values of the parameters."""
    return NearestPair(support_shape(one, values), support_shape(other, values))


def patch_pair(patch: ContactPatch, parameters: Mapping[str, Any]) -> PatchPair:
    """Return the two shapes of a patch at given values of the mechanism's parameters."""
    (_, one), (_, other) = patch.pair
    found: PatchPair = loaded(patch.method.shapes)(one, other, parameters)
    return found
