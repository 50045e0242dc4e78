"""Shapes of an SDF link: visuals are drawn, collisions collide."""

from __future__ import annotations

from dataclasses import replace

from ...model import Pose, Shape, onto_z
from ..mapping import MappingReport
from ..xml_node import XmlNode
from .poses import own


def shapes(link: XmlNode, mapping: MappingReport) -> tuple[Shape, ...]:
    """Return the shapes of a link."""
    drawn = tuple(s for n in link.children("visual") if (s := _shape(n, mapping)))
    solid = tuple(
        replace(s, collides=True, drawn=False, colour=())
        for n in link.children("collision")
        if (s := _shape(n, mapping))
    )
    return drawn + solid


def _shape(n: XmlNode, mapping: MappingReport) -> Shape | None:
    geometry = n.child("geometry")
    X = own(n)
    name = n.element.get("name") or ""
    for g in (
        XmlNode(e, f"{n.where}: {e.tag}", n.faults) for e in (geometry.element if geometry else ())
    ):
        found = _kind(g, X)
        if found is None:
            mapping.refuse(n.element.tag, name, f"a geometry <{g.element.tag}> is not taken")
            return None
        mapping.take(n.element.tag, name)
        kind, size, pose, file = found
        return Shape(
            kind, size, pose, file, _colour(n), name=name if n.element.tag == "collision" else ""
        )
    return None


def _kind(g: XmlNode, X: Pose) -> tuple[str, tuple[float, ...], Pose, str] | None:
    """Return kind, sizes, pose and file of a geometry; None where catena has no such shape."""
    tag = g.element.tag
    if tag in ("cylinder", "capsule"):
        return tag, (g.number("radius"), g.number("length")), X, ""
    if tag == "box":
        return tag, g.vector("size", None), X, ""
    if tag == "sphere":
        return tag, (g.number("radius"),), X, ""
    if tag == "ellipsoid":
        return tag, g.vector("radii", None), X, ""
    if tag == "plane":
        normal = g.vector("normal", (0.0, 0.0, 1.0))
        return tag, (), X @ onto_z(normal) if any(normal) else X, ""
    if tag == "mesh":
        return (
            tag,
            g.vector("scale", (1.0, 1.0, 1.0)),
            X,
            g.text("uri").replace("model://", "package://"),
        )
    return None


def _colour(n: XmlNode) -> tuple[float, ...]:
    material = n.child("material")
    key = next((k for k in ("diffuse", "ambient") if material and material.element.get(k)), "")
    words = material.element.get(key, "").split() if material and key else []
    return material.vector(key, (), len(words)) if material and len(words) in (3, 4) else ()
