"""Writer: a mechanism as the text of a URDF. Everything that URDF cannot express is refused by
name; nothing is left out silently.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from ...errors import MechanismError
from ...model import GRAVITY, GROUND, Body, CollisionFilter, Frame, Joint, Mechanism, Pose, Shape
from ..draft import ROOT_JOINT
from ..xml_node import UNLIMITED
from .kinds import bounded, type_of

_ILLEGAL = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SHAPES: dict[str, Callable[[Shape], dict[str, str]]] = {
    "box": lambda s: {"size": _words(s.size)},
    "cylinder": lambda s: {"radius": _number(s.size[0]), "length": _number(s.size[1])},
    "sphere": lambda s: {"radius": _number(s.size[0])},
    "mesh": lambda s: {"filename": s.file, "scale": _words(s.size)},
}


SAYABLE = tuple(_SHAPES)  # the kinds of shapes that URDF has


def text(m: Mechanism) -> str:
    """Return the text of the file. Reading it gives a mechanism that moves in the same way; frames
    come back as bodies without mass.
    """
    if found := list(_unsayable(m)):
        raise MechanismError(
            f"mechanism {m.name!r} cannot be written as URDF; save it as .toml, which says"
            " everything:",
            found,
        )
    written = _Writer(m).text()
    if bad := _ILLEGAL.search(written):
        raise MechanismError(
            f"mechanism {m.name!r}: a name holds the character {bad[0]!r}, which XML cannot hold;"
            " rename it"
        )
    return f'<?xml version="1.0" encoding="utf-8"?>\n<!-- written by catena -->\n{written}\n'


# --- what it cannot say
def _unsayable(m: Mechanism) -> Iterator[str]:
    """Yield a sentence for each record that URDF cannot express."""
    if m.parameters or any(not isinstance(x, float) for _, x in m.scalars()):
        yield f"URDF has no parameters; here are {', '.join(m.parameters)}"
    elif m.gravity != GRAVITY:
        yield f"URDF has no gravity, and its readers take {GRAVITY}; here it is {m.gravity}"
    for b in m.bodies:
        yield from (
            f"body {b.name!r}: URDF has no {s.kind}" for s in b.shapes if s.kind not in _SHAPES
        )
    for j in m.joints:
        yield from (f"joint {j.name!r}: {why}" for why in _unsayable_joint(j))
    if m.ground or m.collisions != CollisionFilter():
        yield "URDF has no shapes of the ground and no choice of pairs that collide"
    for j in m.loops:
        yield f"loop {j.name!r}: URDF has no loops"
    for thing in (*m.loads, *m.row_records):
        yield f"{type(thing).__name__} {thing.name!r}: URDF has no loads and no rows"
    yield from (f"Contact {c.name!r}: URDF has no laws of contact" for c in m.contacts)


def _unsayable_joint(j: Joint) -> Iterator[str]:
    if not type_of(j.kind, False):
        yield f"URDF has no {j.kind} joint"
        return
    if any(j.armature):
        yield "URDF has no armature"
    if j.mimic and j.mimic.function:
        yield (
            "URDF lets a joint follow another in proportion only; this one follows"
            f" {j.mimic.joint!r} by a {j.mimic.function.kind}"
        )
    if j.nv > 1 and any(math.isfinite(x) for x in (*j.lower, *j.upper)):
        yield f"URDF has no limits for the coordinates of a {j.kind} joint"
    for key in ("effort", "speed", "damping", "friction"):
        if len(set(getattr(j, key))) > 1:
            yield f"URDF has one {key} for all speeds of a {j.kind} joint; here they differ"


# --- what it can
class _Writer:
    """The elements written so far, and the names that are taken."""

    def __init__(self, m: Mechanism):
        self.m, self.robot = m, Element("robot", name=m.name)
        self.taken = {
            GROUND,
            *(b.name for b in m.bodies),
            *(j.name for j in m.joints),
            *(f.name for f in m.frames),
        }

    def text(self) -> str:
        m = self.m
        based = [j for j in m.joints if j.parent == GROUND]
        # a reader of URDF adds it by itself
        implied = based[0] if len(based) == 1 and _is_implied(based[0]) else None
        if implied is None or any(f.body == GROUND for f in m.frames):
            SubElement(self.robot, "link", name=GROUND)
            implied = None
        for b in m.bodies:
            self.link(b)
        for j in m.joints:
            if j is not implied:
                self.joint(j)
        for f in m.frames:
            self.frame(f)
        indent(self.robot)
        return tostring(self.robot, encoding="unicode")

    def fresh(self, name: str) -> str:
        """Return a name that is not used yet, derived from this one."""
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return name

    def link(self, b: Body) -> None:
        link = SubElement(self.robot, "link", name=b.name)
        if b.mass or any(b.com) or any(b.inertia):
            inertial = SubElement(link, "inertial")
            SubElement(inertial, "origin", xyz=_words(b.com), rpy="0 0 0")
            SubElement(inertial, "mass", value=_number(b.mass))
            names = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
            SubElement(inertial, "inertia", {name: _number(x) for name, x in zip(names, b.inertia)})
        for s in b.shapes:
            for tag in (["visual"] if s.drawn else []) + (["collision"] if s.collides else []):
                self.geometry(SubElement(link, tag), s)

    def geometry(self, element: Element, s: Shape) -> None:
        _origin(element, s.pose)
        SubElement(SubElement(element, "geometry"), s.kind, _SHAPES[s.kind](s))
        if s.colour and element.tag == "visual":
            material = SubElement(element, "material", name=self.fresh("colour"))
            SubElement(material, "color", rgba=_words((*s.colour, 1.0)[:4]))

    def frame(self, f: Frame) -> None:
        """Write a frame as a link without mass, as is usual in URDF."""
        SubElement(self.robot, "link", name=f.name)
        self.connect(self.fresh(f"{f.name}_frame"), "fixed", f.body, f.name, f.pose)

    def joint(self, j: Joint) -> None:
        kind = type_of(j.kind, any(math.isfinite(x) for x in (*j.lower, *j.upper)))
        child = j.child
        # URDF's link sits at its joint: a bare link does, and carries the body where it belongs
        if j.offset != Pose():
            child = self.fresh(f"{j.name}_side")
            SubElement(self.robot, "link", name=child)
        joint = self.connect(j.name, kind, j.parent, child, j.placement)
        if j.axis:
            SubElement(joint, "axis", xyz=_words(j.axis[0]))
        if j.nv:
            _values(joint, j)
        if j.mimic:
            numbers = {"multiplier": _number(j.mimic.multiplier), "offset": _number(j.mimic.offset)}
            SubElement(joint, "mimic", {"joint": j.mimic.joint, **numbers})
        if child != j.child:
            self.connect(
                self.fresh(f"{j.name}_offset"), "fixed", child, j.child, j.offset.inverse()
            )

    def connect(self, name: str, kind: str, parent: str, child: str, pose: Pose) -> Element:
        joint = SubElement(self.robot, "joint", name=name, type=kind)
        _origin(joint, pose)
        SubElement(joint, "parent", link=parent)
        SubElement(joint, "child", link=child)
        return joint


def _is_implied(j: Joint) -> bool:
    return j.name == ROOT_JOINT and j.kind == "fixed" and j.placement == j.offset == Pose()


def _values(joint: Element, j: Joint) -> None:
    limit = {"effort": _bounded(j.effort[0]), "velocity": _bounded(j.speed[0])}
    required = bounded(joint.get("type", ""))
    if required:
        limit = {"lower": _bounded(j.lower[0]), "upper": _bounded(j.upper[0]), **limit}
    if required or math.isfinite(j.effort[0]) or math.isfinite(j.speed[0]):
        SubElement(joint, "limit", limit)
    if j.damping[0] or j.friction[0]:
        SubElement(
            joint, "dynamics", damping=_number(j.damping[0]), friction=_number(j.friction[0])
        )


def _origin(inside: Element, pose: Pose) -> None:
    if pose != Pose():
        SubElement(inside, "origin", xyz=_words(pose.position), rpy=_words(pose.roll_pitch_yaw()))


def _words(values: Sequence[float]) -> str:
    return " ".join(map(_number, values))


def _number(x: float) -> str:
    return repr(float(x))


def _bounded(x: float) -> str:
    return _number(max(-UNLIMITED, min(UNLIMITED, x)))
