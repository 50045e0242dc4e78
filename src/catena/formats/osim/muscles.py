"""Muscles that run straight from point to point: a tension along their path, equal to the largest
isometric force times an activation.
"""

from __future__ import annotations

from ...model import Frame, Pose
from ...model.loads import Load, Tension
from ..mapping import MappingReport
from ..xml_node import XmlNode

UNASKED = "muscles do not pull unless muscles=True asks for it"
LAW = (
    "a tension: largest isometric force times a parameter, its activation; lengths and speeds of"
    " fibres are not felt"
)


def muscles(
    model: XmlNode, mapping: MappingReport, asked: bool
) -> tuple[list[Load], list[Frame], dict[str, float]]:
    """Return the loads of the muscles, the frames that they pass through, and their activations,
    zero at first.
    """
    loads: list[Load] = []
    frames: list[Frame] = []
    parameters: dict[str, float] = {}
    inside = model.element.find("ForceSet/objects")
    for e in inside if inside is not None else ():
        if "Muscle" not in e.tag:
            continue
        n = XmlNode(e, f"muscle {e.get('name')!r}", model.faults)
        name = e.get("name") or ""
        points = [p for p in e.iter() if p.tag.endswith("PathPoint")]
        if odd := [p.tag for p in points if p.tag != "PathPoint"]:
            mapping.refuse(
                "Muscle", name, f"its path has a {odd[0]}, and only fixed points are taken"
            )
        elif e.find(".//PathWrap") is not None:
            mapping.refuse(
                "Muscle",
                name,
                "it wraps around surfaces, and only paths from point to point are taken",
            )
        elif not asked:
            mapping.refuse("Muscle", name, UNASKED)
        else:
            mapping.take("Muscle", name, LAW)
            own = [
                _point(XmlNode(p, n.where, model.faults), f"{name} {k}")
                for k, p in enumerate(points, start=1)
            ]
            activation = "a_" + "".join(c if c.isalnum() else "_" for c in name)
            frames += own
            parameters[activation] = 0.0
            loads.append(
                Tension(
                    name,
                    tuple(f.name for f in own),
                    f"{n.number('max_isometric_force')!r} * {activation}",
                )
            )
    return loads, frames, parameters


def _point(n: XmlNode, name: str) -> Frame:
    body = (
        (n.element.get("socket_parent_frame") or n.element.get("body") or "")
        .strip()
        .rpartition("/")[2]
    )
    x, y, z = n.vector("location", (0.0, 0.0, 0.0))
    return Frame(name, body, Pose(position=(x, y, z)))
