"""Poses of an SDF model: each is given relative to a link, a joint, a frame or the model itself,
and all are resolved to the model's frame.
"""

from __future__ import annotations

from ...errors import unknown
from ...model import Pose
from ..xml_node import XmlNode

MODEL, WORLD = "__model__", "world"


class Poses:
    """X_MF of every link, joint and frame of a model, M the model's frame."""

    def __init__(self, model: XmlNode):
        self.nodes = {
            n.element.get("name", ""): n
            for tag in ("link", "joint", "frame")
            for n in model.children(tag)
        }
        self.model, self.found, self.open = model, dict[str, Pose](), list[str]()

    def of(self, name: str, asked: XmlNode) -> Pose:
        """Return X_MF of a link, joint or frame by its name."""
        if name in ("", MODEL, WORLD):
            return Pose()
        if name not in self.nodes:
            asked.fault(unknown("link, joint or frame", name, self.nodes, "the model"))
            return Pose()
        if name in self.open:
            asked.fault(
                f"its pose is given relative to itself, by way of {' -> '.join([*self.open, name])}"
            )
            return Pose()
        if name not in self.found:
            self.open.append(name)
            n = self.nodes[name]
            self.found[name] = self.of(self.base(n), n) @ own(n)
            self.open.pop()
        return self.found[name]

    def base(self, n: XmlNode) -> str:
        """Return the frame relative to which the pose of a link, joint or frame is given. The
        defaults are the model, a joint's child, and the frame's attachment.
        """
        pose = n.element.find("pose")
        said = (pose.get("relative_to") or pose.get("frame")) if pose is not None else None
        if said:
            return said
        return (
            n.element.get("child", "")
            if n.element.tag == "joint"
            else n.element.get("attached_to", "")
            if n.element.tag == "frame"
            else ""
        )


def own(n: XmlNode) -> Pose:
    """Return the six numbers of <pose>: x, y, z, roll, pitch, yaw; or seven with a quaternion,
    scalar last.
    """
    pose = n.element.find("pose")
    if pose is None:
        return Pose()
    count = 7 if pose.get("rotation_format") == "quat_xyzw" else 6
    values = n.vector("pose", (0.0,) * 6, count) if n.element.get("pose") else (0.0,) * 6
    if len(values) == 7:
        x, y, z, w = values[3:]
        return (
            Pose.quaternion(w, x, y, z, position=values[:3])
            if any(values[3:])
            else Pose(position=values[:3])
        )
    if pose.get("degrees") in ("true", "1"):
        n.fault("its pose is in degrees; write radians")
    x, y, z, roll, pitch, yaw = values
    return (
        Pose.rpy(roll, pitch, yaw, position=(x, y, z))
        if roll or pitch or yaw
        else Pose(position=(x, y, z))
    )
