"""Contact manifolds: the points at which two shapes touch, over lanes of runs.

boxes        two boxes
polyhedra    two convex polyhedra
segments     a sphere or a capsule and a convex polyhedron
heightfields a sphere and a heightfield
"""

from typing import TYPE_CHECKING

from ...doors import door

if TYPE_CHECKING:
    from .boxes import NO_POINT_GAP, box_manifold
    from .heightfields import sphere_on_heights
    from .polyhedra import Hulls, box_points, polyhedron_manifold, put_point, solid_at
    from .segments import capsule_on_hull, sphere_on_hull

__getattr__, __dir__ = door(__name__)
