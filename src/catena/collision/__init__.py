"""Collision: where two shapes are nearest to each other or touch.

collision_pairs      the pairs of shapes of a mechanism that may collide (the broad phase)
contact_pairs        one record per pair of kinds of shapes: everything particular to the pair
contact_points       the contact points that the contacts of a mechanism consist of: points that may
                     touch a surface, and patches, pairs of shapes that touch at several points
solids, distance     signed distances in closed form: spheres, capsules, boxes, half-spaces, ...
polyhedra, mesh_hull corners, edges and faces of boxes and of the convex hulls of meshes
half_spaces          gap, normal and tangents where a sphere meets a surface
support_features, support_pairs, nearest_normal, nearest_features, feature_pairs
                     convex shapes by their support functions: cylinders and ellipsoids
polyhedron_features, rounded_features, rounded_reach, facing_faces, line_ends
                     the features (corners, edges, faces, ends) by which two shapes may touch next
patch_pair           the two shapes of a contact patch, with the features they may touch by
manifolds/           contact manifolds in lanes, for time stepping
"""

from typing import TYPE_CHECKING

from ..doors import door

if TYPE_CHECKING:
    from .collision_pairs import Collider, collision_pairs
    from .contact_pairs import (
        CONTACT_PAIRS,
        MANIFOLDS,
        ContactPair,
        FeatureMethod,
        Manifold,
        either_pair,
        find_pair,
        proximity,
    )
    from .contact_points import (
        ContactPatch,
        ContactPoint,
        contact_faults,
        contact_patches,
        contact_points,
        patch_points,
        rims,
        thickness_of,
    )
    from .convex_decomposition import convex_parts, solid_parts
    from .feature_pairs import NUMBERS as PAIR_NUMBERS
    from .feature_pairs import NearestPoint
    from .half_spaces import (
        FeaturesMeet,
        RoundedMeet,
        features_meet,
        rounded_meet,
        tangents,
    )
    from .heightfields import grid_of, grid_triangles, reach_of_grid
    from .mesh_hull import warn_if_concave
    from .patch_pair import Found, PatchPair, patch_pair
    from .polyhedra import CORES, Polyhedron, polyhedron, rounding
    from .polyhedron_features import NUMBERS, SIDES, Feature
    from .rounded_features import PLANES, ROUNDED_NUMBERS, RoundedFeature
    from .rounded_features import SHALLOW_CROSSING_SINE as SHALLOW
    from .solids import Solid, Vector
    from .support_pairs import SIZES, SupportMeet, SupportPair, support_meet

__getattr__, __dir__ = door(__name__)
