"""The scene: what is drawn of a mechanism, described once for pictures, films, pages and the
browser.

describe(mechanism) -> Scene        solids on bodies (Part), things between bodies (Span), in layers
                                    that can be switched

    geometry              triangles of the solids that are drawn
    meshes                triangles of mesh files
    skeleton, curves      bodies as lines
    detail                the same solids with fewer triangles
    bodies                the drawing of bodies and of the ground
    joints, loads, marks  the drawing of joints, loads and marks, one function per kind (glyph)
    wire                  a scene as bytes for a page
    raster                a picture of a scene without OpenGL
"""

from typing import TYPE_CHECKING

from ...doors import door

if TYPE_CHECKING:
    from . import wire
    from .description import LAYERS, Part, Scene, Span, describe, poses
    from .detail import drafts
    from .geometry import Geometry
    from .placement import placement
    from .raster import Painter, camera_of
    from .skeleton import bodies_at
    from .view import View, upward

__getattr__, __dir__ = door(__name__)
