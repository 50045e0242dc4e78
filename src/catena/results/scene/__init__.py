"""The scene: what is drawn of a mechanism, described once for pictures, films, pages and the
browser.

describe(mechanism) -> Scene        solids on bodies (Part), things between bodies (Span), in layers
                                    that can be switched

geometry    triangles           meshes      triangles of files  skeleton, curves     bodies as lines
detail      the same with fewer triangles
bodies      what is drawn of bodies and of the ground    joints, loads, marks  glyphs, by registries
wire        a scene as bytes for a page                     raster    a picture of it without OpenGL
"""

from .description import LAYERS, Part, Scene, Span, describe

__all__ = ["LAYERS", "Part", "Scene", "Span", "describe"]
