"""Pairs of kinds of shapes: how each two are treated in distances, in contact by events and in
contact by time stepping. A registry with one record per pair (`CONTACT_PAIRS`).

plane, bowl, trough   are surfaces only; a capsule touches them by the spheres at its ends, a box or
                      mesh by its corners, a cylinder by its two rims
sphere                touches other shapes at one point, in closed form
capsule, box, mesh    touch each other by features (corners, edges, faces)
cylinder, ellipsoid   touch these, and each other, at nearest points
heightfield           is a surface only; others touch it by the parts by which they touch a plane
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from ..errors import MechanismError
from ..model import SHAPE_KINDS, Pose, Shape, value_of
from ..registry import Registry, loaded
from . import distance, half_spaces
from .mesh_hull import hull_corners
from .polyhedra import most_corners, polyhedron, rounding
from .solids import Proximity, Solid

Parts = Callable[[Shape], Iterator[tuple[str, Shape]]]
Values = Mapping[str, Any]


@dataclass(frozen=True)
class FeatureMethod:
    """How the features by which two shapes touch are found at events, and computed in the compiled
    equations. Strings such as "package.module:name" are loaded when they are used.

    name: its name. shapes: (one, other, values) -> the `PatchPair` at these values of the
    parameters. point: the class of the contact points. feature, meet: the class of the features
    along whose normals shapes that penetrate are separated, and the function that returns their
    `Meet`. most_points(one, other, values): the largest number of contact points. reach(shape,
    values): a bound of the distance of the shape from its body's origin, m. first_leads: whether
    the shape of the first kind of a pair is always A. surface: the word for the surface of its
    contact points. keeps_normal: whether old and new features have the same normal where one takes
    the place of the other.
    """

    name: str
    shapes: str
    point: str
    feature: str
    meet: str
    most_points: Callable[[Shape, Shape, Values], int]
    reach: Callable[[Shape, Values], float]
    first_leads: bool = False
    surface: str = "patch"
    keeps_normal: bool = False


@dataclass(frozen=True)
class Manifold:
    """How the points at which two shapes touch are found in every time step, over lanes.

    name: its name, by which compiled code is cached: a kernel with other code takes another name.
    function: "package.module:name" of a kernel (pose, s, k, at) that computes s.points of pair k
    from `at` on, and returns the normal from its first shape to the second. points(sides): the
    number of its points, where faces have at most `sides` corners. hulls: whether it reads the
    tables of polyhedra. normals: the number of normals that two shapes may have at once; each is a
    pair of its own, of rank 0, 1 and so on.
    """

    name: str
    function: str
    points: Callable[[int], int]
    hulls: bool = True
    normals: int = 1

    @property
    def kernel(self) -> Callable[..., Any]:
        """The kernel, which is imported now."""
        return loaded(self.function)


def _whole(shape: Shape) -> Iterator[tuple[str, Shape]]:
    """Yield the shape itself as its only part, without a label."""
    yield "", shape


@dataclass(frozen=True)
class ContactPair:
    """The properties of a pair of two kinds of shapes.

    kinds: both kinds. distance: the signed distance of two solids of these kinds, in this order, in
    closed form; None: clearances use the convex solver. meeting: gap and normal of a sphere on a
    surface of the first kind, see `half_spaces`. parts: the parts of a shape of the second kind
    that touch, such as corners; the pair of each part is looked up by its own kind. features: how
    contact points are found at events; None: there is one, by `meeting` or `distance`. manifold:
    how they are found in time stepping; None: as with `features` None. A pair with a manifold and
    no features is for time stepping only. surface_first: whether only the first kind can be the
    surface of a contact. needs_radius: whether points (spheres of radius zero) are refused. rim:
    whether the touching shape rolls on its rim and stands on its flat end.
    """

    kinds: tuple[str, str]
    distance: Callable[[Solid, Solid], Proximity] | None = None
    meeting: Callable[..., half_spaces.Meeting] | None = None
    parts: Parts = _whole
    features: FeatureMethod | None = None
    manifold: Manifold | None = None
    surface_first: bool = False
    needs_radius: bool = False
    rim: bool = False

    @property
    def name(self) -> str:
        """Both kinds, such as "capsule-box"."""
        return "-".join(self.kinds)

    def is_patch(self, by_features: bool) -> bool:
        """Whether its contact points depend on the configuration: at events (by_features) or in
        time stepping.
        """
        if self.features is None:
            return self.manifold is not None
        return by_features or self.manifold is not None or self.distance is None


# --- the parts by which shapes touch planes, bowls and troughs
def _corners(shape: Shape) -> Iterator[tuple[str, Shape]]:
    """Yield the corners of a box as spheres of radius zero."""
    for n, signs in enumerate(product((1, -1), repeat=3), start=1):
        p = tuple(0.5 * s * x for s, x in zip(signs, shape.size))
        yield f"corner {n}", Shape("sphere", (0.0,), shape.pose @ Pose(position=p))


def _hull_corners(shape: Shape) -> Iterator[tuple[str, Shape]]:
    """Yield the corners of a mesh's convex hull as spheres of radius zero."""
    for n, corner in enumerate(hull_corners(shape), start=1):
        yield f"corner {n}", Shape("sphere", (0.0,), shape.pose @ Pose(position=corner))


def _ends(shape: Shape) -> Iterator[tuple[str, Shape]]:
    """Yield the spheres at both ends of a capsule."""
    for n, pose in _end_poses(shape):
        yield f"end {n}", Shape("sphere", (shape.size[0],), pose)


def _rims(shape: Shape) -> Iterator[tuple[str, Shape]]:
    """Yield both rims of a cylinder, as cylinders of length zero."""
    for n, pose in _end_poses(shape):
        yield f"rim {n}", Shape("cylinder", (shape.size[0], 0.0), pose)


def _end_poses(shape: Shape) -> Iterator[tuple[int, Pose]]:
    """Yield number and pose of both ends of a capsule or cylinder."""
    for n, sign in enumerate((1, -1), start=1):
        yield n, shape.pose @ Pose(position=(0.0, 0.0, 0.5 * sign * shape.size[1]))


# --- features at events
def _face_points(one: Shape, other: Shape, values: Values) -> int:
    """Return the largest number of contact points of two faces: the overlap of convex polygons has
    at most as many corners as both have together.
    """
    return most_corners(one, values) + most_corners(other, values)


def _round_points(one: Shape, other: Shape, values: Values) -> int:
    """Return the largest number of contact points of a sphere, or of a capsule: both ends, and two
    between them.
    """
    return 1 if len(polyhedron(one, values).corners) == 1 else 4


def _reach_of_corners(shape: Shape, values: Values) -> float:
    """Return a bound of the distance of a shape from its body's origin: the distance of its
    farthest corner plus its radius, m.
    """
    corners = polyhedron(shape, values).corners
    return float(np.linalg.norm(corners, axis=1).max()) + rounding(shape, values)


def reach_of_sizes(shape: Shape, values: Values) -> float:
    """Return a bound of the distance of a shape from its body's origin: the distance of its middle
    plus its largest size, m.
    """
    number = lambda x: float(value_of(x, values) or 0.0)  # noqa: E731
    middle = np.array([number(x) for x in shape.pose.position])
    return float(np.hypot(np.linalg.norm(middle), max(number(x) for x in shape.size)))


POLYHEDRA = FeatureMethod(
    "polyhedra",
    "catena.collision.patch_pair:polyhedra_pair",
    "catena.simulation.terms.contact_slots:PatchPoint",
    "catena.collision.polyhedron_features:Feature",
    "catena.contact.gaps:meet_features",
    _face_points,
    _reach_of_corners,
)
ROUNDED = FeatureMethod(
    "rounded",
    "catena.collision.patch_pair:rounded_pair",
    "catena.simulation.terms.contact_slots:RoundedPoint",
    "catena.collision.rounded_features:RoundedFeature",
    "catena.contact.gaps:meet_rounded",
    _round_points,
    _reach_of_corners,
    first_leads=True,
)
# touches at one point, or at two where the sides of cylinders and capsules lie along a line
NEAREST_LINE = FeatureMethod(
    "smooth",
    "catena.collision.patch_pair:nearest_pair",
    "catena.simulation.terms.smooth_pairs:SmoothPoint",
    "catena.collision.polyhedron_features:Feature",
    "catena.contact.gaps:meet_features",
    lambda one, other, values: 2,
    reach_of_sizes,
    surface="pair",
    keeps_normal=True,
)


# curved all round: one point
NEAREST_POINT = replace(NEAREST_LINE, most_points=lambda one, other, values: 1)

# --- manifolds of time stepping, in the order of the solver
_ROOM = "catena.collision.manifolds"
MANIFOLDS: Registry[Manifold] = Registry(
    "contact manifold",
    (
        Manifold("boxes", f"{_ROOM}:box_points", lambda sides: 12, hulls=False),
        Manifold("polyhedra", f"{_ROOM}:polyhedron_manifold", lambda sides: 2 * sides),
        Manifold("capsule", f"{_ROOM}:capsule_on_hull", lambda sides: 3),
        Manifold("sphere", f"{_ROOM}:sphere_on_hull", lambda sides: 1),
        Manifold("heights", f"{_ROOM}:sphere_on_heights", lambda sides: 1, hulls=False, normals=3),
    ),
    MechanismError,
)
_BOXES, _HULLS, _CAPSULE, _SPHERE, _HEIGHTS = MANIFOLDS.values()


# --- the registry
CONTACT_PAIRS: Registry[ContactPair] = Registry(
    "pair of shapes",
    (
        ContactPair(
            ("plane", "sphere"),
            distance.plane_sphere,
            meeting=half_spaces.on_plane,
            surface_first=True,
        ),
        ContactPair(("plane", "capsule"), distance.plane_capsule, parts=_ends, surface_first=True),
        ContactPair(("plane", "box"), distance.plane_box, parts=_corners, surface_first=True),
        ContactPair(("plane", "ellipsoid"), distance.plane_ellipsoid, surface_first=True),
        ContactPair(
            ("plane", "cylinder"),
            distance.plane_cylinder,
            parts=_rims,
            surface_first=True,
            rim=True,
        ),
        ContactPair(("plane", "mesh"), parts=_hull_corners, surface_first=True),
        *(
            pair
            for kind, meeting in (("bowl", half_spaces.in_bowl), ("trough", half_spaces.in_trough))
            for pair in (
                ContactPair((kind, "sphere"), meeting=meeting, surface_first=True),
                ContactPair((kind, "capsule"), parts=_ends, surface_first=True),
                ContactPair((kind, "box"), parts=_corners, surface_first=True),
                ContactPair((kind, "mesh"), parts=_hull_corners, surface_first=True),
            )
        ),
        ContactPair(("heightfield", "sphere"), manifold=_HEIGHTS, surface_first=True),
        ContactPair(("heightfield", "capsule"), parts=_ends, surface_first=True),
        ContactPair(("heightfield", "box"), parts=_corners, surface_first=True),
        ContactPair(("heightfield", "mesh"), parts=_hull_corners, surface_first=True),
        ContactPair(("sphere", "sphere"), distance.sphere_sphere, meeting=half_spaces.on_sphere),
        ContactPair(("sphere", "capsule"), distance.sphere_capsule),
        ContactPair(("sphere", "box"), distance.sphere_box, needs_radius=True),
        ContactPair(("sphere", "ellipsoid"), distance.sphere_ellipsoid),
        ContactPair(("sphere", "cylinder"), distance.sphere_cylinder, needs_radius=True),
        ContactPair(("sphere", "mesh"), features=ROUNDED, manifold=_SPHERE, needs_radius=True),
        ContactPair(("capsule", "capsule"), distance.capsule_capsule, features=ROUNDED),
        ContactPair(("capsule", "box"), distance.capsule_box, features=ROUNDED, manifold=_CAPSULE),
        ContactPair(("capsule", "mesh"), features=ROUNDED, manifold=_CAPSULE),
        ContactPair(("box", "box"), distance.box_box, features=POLYHEDRA, manifold=_BOXES),
        ContactPair(("box", "mesh"), features=POLYHEDRA, manifold=_HULLS),
        ContactPair(("mesh", "mesh"), features=POLYHEDRA, manifold=_HULLS),
        *(
            ContactPair((kind, "cylinder"), features=NEAREST_LINE)
            for kind in ("capsule", "box", "mesh", "cylinder")
        ),
        *(
            ContactPair((kind, "ellipsoid"), features=NEAREST_POINT)
            for kind in ("capsule", "box", "mesh", "cylinder", "ellipsoid")
        ),
    ),
    MechanismError,
)


def find_pair(surface: str, touching: str) -> ContactPair | None:
    """Return the record for a contact of two kinds of shapes; None if these cannot touch."""
    found = either_pair(surface, touching)
    return None if found and found.surface_first and found.kinds[0] != surface else found


def either_pair(one: str, other: str) -> ContactPair | None:
    """Return the record of two kinds of shapes in either order, None if there is none."""
    return CONTACT_PAIRS.get(f"{one}-{other}") or CONTACT_PAIRS.get(f"{other}-{one}")


def touching_kinds(surface: str) -> list[str]:
    """Return the kinds of shapes that can touch a surface of a kind."""
    found = [x.kinds for x in CONTACT_PAIRS.values() if surface in x.kinds]
    kinds = [two if one == surface else one for one, two in found]
    return [kind for kind in kinds if find_pair(surface, kind)]


def surface_kinds() -> list[str]:
    """Return the kinds of shapes of bodies that can be the surface of a contact."""
    return [kind for kind in SHAPE_KINDS if touching_kinds(kind)]


def proximity(kinds: tuple[str, str], s: Solid, o: Solid) -> Proximity:
    """Return the proximity of two solids of these kinds, in either order, in closed form."""
    pair = either_pair(*kinds)
    if pair is None or pair.distance is None:
        raise MechanismError(
            f"the distance of a {kinds[0]} and a {kinds[1]} has no closed form; register a"
            " ContactPair with a distance"
        )
    return pair.distance(s, o) if kinds == pair.kinds else pair.distance(o, s).flipped()
