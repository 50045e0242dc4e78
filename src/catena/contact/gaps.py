"""Gaps of contact points as expressions: where a point meets its surface, and where features of two
polyhedra meet.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..collision import (
    CORES,
    ContactPatch,
    ContactPoint,
    Feature,
    FeaturesMeet,
    RoundedFeature,
    RoundedMeet,
    Solid,
    features_meet,
    find_pair,
    proximity,
    rounded_meet,
    tangents,
)
from ..compiler import Tracer, elements
from ..model import Pose, Shape
from ..spatial import add, cross, dot, neg, rotate, scale, sub

# depth of penetration relative to the mechanism's length: a run may start with less
START_DEPTH = 1e-8


class Meet(NamedTuple):
    """A meeting of a point and a surface, as expressions: gap, m; axes, the normal and the
    tangents, and place (3,), in the ground's axes; velocity (1,) or (3,) of the point relative to
    the surface along these axes.
    """

    gap: Any
    axes: tuple[Any, ...]
    place: Any
    velocity: Any


def meet(s: Tracer, p: ContactPoint, rough: bool) -> Meet:
    """Return the Meet of a contact point at the tracer's symbols; with tangents if `rough`."""
    (R_A, o_A, w_A, v_A), (R_B, o_B, w_B, v_B) = moving(s, p.body), moving(s, p.other)
    if p.shape is not None and p.against is not None:
        first = solid(s, p.against, R_B, o_B)
        second = solid(s, p.shape, R_A, o_A)
        found = proximity((p.against.kind, p.shape.kind), first, second)
        gap, n, place = found.distance, found.normal, found.b
    else:
        pair = find_pair(p.surface, "sphere")
        assert pair is not None and pair.meeting is not None
        centre = add(o_A, rotate(R_A, tuple(s.value(x) for x in p.centre)))
        R, origin = _placed(s, p.pose, R_B, o_B)
        radius = s.value(p.radius)
        gap, n = pair.meeting(centre, radius, R, origin, s.value(p.size))
        place = sub(centre, scale(radius, n))
    u = sub(velocity_at(place, o_A, w_A, v_A), velocity_at(place, o_B, w_B, v_B))
    axes = (n, *tangents(n)) if rough else (n,)
    return Meet(gap, axes, place, [dot(axis, u) for axis in axes])


def meet_features(s: Tracer, patch: ContactPatch, x: Feature, rough: bool) -> Meet:
    """Return the Meet of two features of a patch of polyhedra; the numbers of the feature x may be
    symbols.
    """
    first = moving(s, patch.body)
    second = moving(s, patch.other)
    (_, o_A, w_A, v_A), (_, o_B, w_B, v_B), found = first, second, _features(first, second, x)
    u = sub(velocity_at(found.place, o_A, w_A, v_A), velocity_at(found.place, o_B, w_B, v_B))
    axes = found.axes if rough else found.axes[:1]
    return Meet(found.gap, axes, found.place, [dot(axis, u) for axis in axes])


def meet_rounded(s: Tracer, patch: ContactPatch, x: RoundedFeature, rough: bool) -> Meet:
    """Return the Meet of two features of a patch with a radius."""
    found, (R, o) = _rounded(s, patch, x), (moving(s, patch.body), moving(s, patch.other))
    n = neg(found.normal) if patch.swapped else found.normal
    place = sub(found.core, scale(_radius(s, patch.pair[0][1]), found.normal))
    u = sub(velocity_at(place, *R[1:]), velocity_at(place, *o[1:]))
    axes = (n, *tangents(n)) if rough else (n,)
    return Meet(found.gap, axes, place, [dot(axis, u) for axis in axes])


def margins_of_rounded(s: Tracer, patch: ContactPatch, x: RoundedFeature) -> list[Any]:
    """Return the distances (m) of the features of a rounded patch from the places where other
    features become nearer.
    """
    found, (R_A, R_B) = _rounded(s, patch, x), (moving(s, body)[0] for body, _ in patch.pair)
    return x.margins(found, rotate(R_A, x.d), [rotate(R_B, h[:3]) for h in x.planes])


def slant_of_rounded(s: Tracer, patch: ContactPatch, x: RoundedFeature) -> Any:
    """Return the squared sine of the angle between the directions d and g of both features."""
    R_A, R_B = (moving(s, body)[0] for body, _ in patch.pair)
    c = cross(rotate(R_A, x.d), rotate(R_B, x.g))
    return dot(c, c)


def _rounded(s: Tracer, patch: ContactPatch, x: RoundedFeature) -> RoundedMeet:
    """Return the RoundedMeet of two features in the ground's axes."""
    (one, shape), (other, against) = patch.pair
    (R_A, o_A, _, _), (R_B, o_B, _, _) = moving(s, one), moving(s, other)
    a = add(o_A, rotate(R_A, x.a))
    b = add(o_B, rotate(R_B, x.b))
    d = rotate(R_A, x.d)
    g = rotate(R_B, x.g)
    return rounded_meet(
        x.face, x.along_a, x.along_b, a, b, d, g, _radius(s, shape) + _radius(s, against)
    )


def _radius(s: Tracer, shape: Shape) -> Any:
    """Return the radius of a sphere or capsule, m; zero for other shapes."""
    return s.value(shape.size[0]) if shape.kind in CORES else 0.0


def place_of_features(s: Tracer, body: str, other: str, x: Feature) -> tuple[Any, Any]:
    """Return the two coordinates of the contact point on its face, or along both edges, m."""
    found = _features(moving(s, body), moving(s, other), x)
    return found.x, found.y


def _features(one: tuple[Any, ...], other: tuple[Any, ...], x: Feature) -> FeaturesMeet:
    """Return the FeaturesMeet of two bodies, given as `moving` returns them."""
    (R_A, o_A, _, _), (R_B, o_B, _, _) = one, other
    first = add(scale(x.corner, rotate(R_B, x.first)), scale(1.0 - x.corner, rotate(R_A, x.first)))
    second = add(scale(x.tip, rotate(R_A, x.second)), scale(1.0 - x.tip, rotate(R_B, x.second)))
    a = add(o_A, rotate(R_A, x.a))
    b = add(o_B, rotate(R_B, x.b))
    return features_meet(x.corner, x.tip, a, b, first, second, rotate(R_B, x.along))


def moving(s: Tracer, body: str) -> tuple[Any, ...]:
    """Return rotation (by rows), origin, angular velocity and velocity of the origin of a body, in
    the ground's axes.
    """
    if body == "ground":
        zero = (0.0, 0.0, 0.0)
        return ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)), zero, zero, zero
    X = s.pose(body)
    w = elements(s.frame_velocity(body, "world"))
    return (
        [[X[i, j] for j in range(3)] for i in range(3)],
        [X[i, 3] for i in range(3)],
        w[:3],
        w[3:],
    )


def _placed(s: Tracer, pose: Pose, R_B: Any, o_B: Any) -> tuple[Any, Any]:
    """Return rotation (by rows) and origin of a pose on a body with rotation R_B and origin o_B."""
    columns = [
        rotate(R_B, column) for column in zip(*([s.value(x) for x in row] for row in pose.rotation))
    ]
    return list(zip(*columns)), add(o_B, rotate(R_B, tuple(s.value(x) for x in pose.position)))


def solid(s: Tracer, shape: Shape, R_B: Any, o_B: Any) -> Solid:
    """Return a shape of a body as a Solid in the ground's axes."""
    return Solid(*_placed(s, shape.pose, R_B, o_B), tuple(s.value(x) for x in shape.size))


def velocity_at(place: Any, origin: Any, w: Any, v: Any) -> Any:
    """Return the velocity of a body's point at `place`, for angular velocity w and velocity v of
    the origin.
    """
    return add(v, cross(w, sub(place, origin)))
