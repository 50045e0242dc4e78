"""The scene: what is drawn of a mechanism, described once for pictures, films, pages and the
browser.

describe(mechanism) -> Scene        solids on bodies (Part), things between bodies (Span), in layers
                                    that can be switched

geometry    triangles           meshes      triangles of files  skeleton, curves     bodies as lines
detail      the same with fewer triangles
bodies      what is drawn of bodies and of the ground    joints, loads, marks  glyphs, by registries
wire        a scene as bytes for a page                     raster    a picture of it without OpenGL
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
