"""Reader: an SDF file as a mechanism, with every fault of the file."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from ... import spatial
from ...errors import FormatError, unknown
from ...model import GRAVITY, GROUND, IDENTITY, Body, Frame, Joint, Mechanism, Pose, Vector
from ...model.loads import GearPair, JointSpring
from .. import files, transmissions
from ..draft import MISSING, ROOT_JOINT, Draft
from ..mapping import MappingReport
from ..xml import parse
from ..xml_node import XmlNode, texts_as_attributes
from .poses import WORLD, Poses, own
from .shapes import shapes

TYPES = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "ball": "ball",
    "universal": "universal",
    "revolute2": "universal",
    "screw": "helical",
    "fixed": "fixed",
}
GEARBOX = "gearbox"  # SDF's word for a pair of gears: no joint, but a ratio of two turns
NO_LIMIT = 1e15  # rad or m (or their rates, or N m): larger values mean no limit; SDF writes 1e16
UNREAD = (
    "plugin",
    "sensor",
    "light",
    "audio_source",
    "audio_sink",
    "battery",
    "projector",
    "gripper",
    "particle_emitter",
    "self_collide",
    "allow_auto_disable",
    "enable_wind",
    "velocity_decay",
)


def read(path: Path) -> Draft:
    """Return the draft of an SDF file; its inertias are taken as found."""
    root = parse(files.read(path), path)
    if root.tag != "sdf":
        raise FormatError(
            path, f"the file is an XML file of <{root.tag}>; an SDF begins with <sdf>"
        )
    texts_as_attributes(root)
    world = root.find("world")
    holder = world if world is not None else root
    models = holder.findall("model")
    if len(models) != 1:
        count = f"{len(models)} models" if models else "no model"
        raise FormatError(
            path,
            f"the file has {count}; a mechanism is made of one, and several are put together in a"
            " scene by [[include]]",
        )
    if holder.find("include") is not None or models[0].find("include") is not None:
        raise FormatError(
            path,
            "the file includes other models by <include>; it would lose them: write them into the"
            " file, or a scene with [[include]]",
        )
    return _Reader(models[0], path).draft(_gravity(world))


def _gravity(world: Element | None) -> Vector:
    if world is None or not world.get("gravity"):
        return GRAVITY
    x, y, z = XmlNode(world, "world", []).vector("gravity", GRAVITY)
    return (x, y, z)


class _Reader:
    """The state of reading a model."""

    def __init__(self, model: Element, path: Path):
        self.path, self.faults, self.mapping = path, list[str](), MappingReport()
        self.model = XmlNode(model, "model", self.faults)
        self.poses = Poses(self.model)
        self.loads: list[JointSpring] = []

    def draft(self, gravity: Vector) -> Draft:
        m, X_WM = self.model, own(self.model)
        for e in m.element.findall("model"):
            self.faults.append(
                f"model {e.get('name')!r} inside the model: it would be lost; put both together in"
                " a scene with [[include]]"
            )
        links = [self.named(n, "link", i) for i, n in enumerate(m.children("link"), start=1)]
        bodies = tuple(self.body(n) for n in links)
        found = [self.named(n, "joint", i) for i, n in enumerate(m.children("joint"), start=1)]
        joints = tuple(self.joint(n, X_WM) for n in found if n.element.get("type") != GEARBOX)
        gears = [self.gearbox(n, X_WM) for n in found if n.element.get("type") == GEARBOX]
        base = self.base(links, joints, X_WM)
        frames = tuple(self.frame(n, {b.name for b in bodies}) for n in m.children("frame"))
        self.unread(links)
        motors = self.motors(found, {j.name: j for j in joints})
        laws = transmissions.motors(motors, {j.name: j for j in joints})
        mechanism = Mechanism(
            m.element.get("name") or self.path.stem,
            bodies,
            (*base, *transmissions.with_rotors(joints, motors)),
            frames=frames,
            gravity=gravity,
            loads=tuple(self.loads),
            constraints=tuple(x for x in gears if x),
            as_found=True,
            notes=tuple(self.mapping.notes()),
        )
        return Draft(
            self.path,
            mechanism,
            self.faults,
            noted=True,
            mapping=self.mapping.entries,
            scenario={"control": laws} if laws else {},
        )

    def motors(
        self, nodes: list[XmlNode], joints: dict[str, Joint]
    ) -> list[transmissions.Transmission]:
        """Return the motors that joints have in the form of Drake's elements gear_ratio and
        rotor_inertia.
        """
        found = []
        for name, n in ((n.element.get("name", ""), n) for n in nodes):
            motor = transmissions.of_joint(n.element, name) if name in joints else None
            if isinstance(motor, str):
                self.mapping.refuse("joint", name, motor)
            elif motor is not None and len(joints[name].coordinate_names) != 1:
                self.mapping.refuse("joint", name, "a motor is taken on joints of one freedom")
            elif motor is not None:
                self.mapping.take("joint", name, "its motor is a controller of the scenario")
                found.append(motor)
        return found

    def named(self, n: XmlNode, what: str, number: int) -> XmlNode:
        name = n.element.get("name")
        called = XmlNode(
            n.element, f"{what} {name!r}" if name else f"{what} number {number}", self.faults
        )
        if not name:
            called.fault("name is missing")
            n.element.set("name", called.where)
        return called

    # --- links
    def body(self, n: XmlNode) -> Body:
        name = n.element.get("name", MISSING)
        inertial = n.child("inertial")
        shown = shapes(n, self.mapping)
        if name == GROUND:
            n.fault(f"a link is called {GROUND!r}, which is what stands still here; rename it")
        if inertial is None:
            self.mapping.approximate(
                "link", name, "it has no inertial: SDF takes 1 kg and 1 kg m2 about each axis"
            )
            return Body(name, 1.0, (0.0, 0.0, 0.0), (1.0, 1.0, 1.0), shown)
        self.mapping.take("link", name)
        X = own(inertial)
        tensor = inertial.child("inertia")
        diagonal = ("ixx", "iyy", "izz")
        six = (
            tuple(
                tensor.number(k, 1.0 if k in diagonal else 0.0)
                for k in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
            )
            if tensor
            else (1.0, 0.0, 0.0, 1.0, 0.0, 1.0)
        )
        if X.rotation != IDENTITY:
            six = spatial.unrotate_symmetric(spatial.transpose(X.rotation), six)  # R I R'
        return Body(name, inertial.number("mass", 1.0), X.position, six, shown)

    def frame(self, n: XmlNode, bodies: set[str]) -> Frame:
        """Return a frame on the link that it is attached to, directly or through other frames."""
        name = n.element.get("name") or MISSING
        seen = set[str]()
        carrier = n.element.get("attached_to", "")
        while carrier in self.poses.nodes and carrier not in bodies and carrier not in seen:
            seen.add(carrier)
            e = self.poses.nodes[carrier].element
            carrier = e.get("child", "") if e.tag == "joint" else e.get("attached_to", "")
        self.mapping.take("frame", name)
        if carrier not in bodies:
            return Frame(name, GROUND, own(self.model) @ self.poses.of(name, n))
        return Frame(name, carrier, self.poses.of(carrier, n).inverse() @ self.poses.of(name, n))

    # --- joints
    def joint(self, n: XmlNode, X_WM: Pose) -> Joint:
        name = n.text("name", MISSING)
        word = n.text("type", "fixed")
        kind = TYPES.get(word)
        if kind is None:
            n.fault(unknown("joint type", word, (*TYPES, GEARBOX)))
            kind = "fixed"
        else:
            self.mapping.take("joint", name)
        (parent, X_MP), (child, X_MC) = self.end(n, "parent", X_WM), self.end(n, "child", X_WM)
        X_MJ = self.poses.of(name, n)
        axes = [n.child(tag) for tag in ("axis", "axis2")][
            : {"universal": 2, "ball": 0, "fixed": 0}.get(kind, 1)
        ]
        extra: dict[str, Any] = (
            {"axis": [self.axis(n, a, X_MJ, X_MC) for a in axes]} if axes else {}
        )
        if kind in ("revolute", "prismatic", "helical") and axes[0] is not None:
            extra |= self.values(axes[0], name)
        if kind == "helical":
            extra["pitch"] = n.number("screw_thread_pitch") / math.tau
        return Joint(
            name,
            kind,
            parent,
            child,
            placement=X_MP.inverse() @ X_MJ,
            offset=X_MC.inverse() @ X_MJ,
            **extra,
        )

    def gearbox(self, n: XmlNode, X_WM: Pose) -> GearPair | None:
        """Return the constraint turn2 = -ratio turn1, of the child about axis2 and of the parent
        about axis, both in the reference body, as SDF defines it.
        """
        name = n.text("name", MISSING)
        ratio = n.number("gearbox_ratio")
        carrier = n.element.get("gearbox_reference_body") or ""
        (parent, _), (child, X_MC) = self.end(n, "parent", X_WM), self.end(n, "child", X_WM)
        X_MJ = self.poses.of(name, n)
        one, other = (
            spatial.rotate(X_MJ.rotation, self.axis(n, n.child(tag), X_MJ, X_MC))
            for tag in ("axis", "axis2")
        )
        if not carrier or not ratio or not math.isfinite(ratio):
            n.fault(
                "a gearbox has a gearbox_reference_body and a gearbox_ratio other than zero; found"
                f" {carrier or 'none'!r} and {ratio}"
            )
            return None
        along = spatial.dot(one, other) / math.sqrt(
            spatial.dot(one, one) * spatial.dot(other, other) or 1.0
        )
        if 1.0 - abs(along) > 1e-9:
            n.fault(
                "the axes of a gearbox are taken where they are parallel; write bevel gears as a"
                " [[constraint]] of a companion"
            )
            return None
        self.mapping.take("joint", name, "a gear_pair")
        return GearPair(
            name,
            parent,
            child,
            GROUND if carrier == WORLD else carrier,
            (abs(ratio), 1.0),
            "external" if ratio * along > 0 else "internal",
        )

    def end(self, n: XmlNode, side: str, X_WM: Pose) -> tuple[str, Pose]:
        """Return the body at one side of a joint and its pose in the model; the world is the
        ground.
        """
        name = n.element.get(side)
        if not name:
            n.fault(f"its {side} is missing")
            return MISSING, Pose()
        if name == WORLD:
            return GROUND, X_WM.inverse()
        if (found := self.poses.nodes.get(name)) is None or found.element.tag != "link":
            links = [key for key, node in self.poses.nodes.items() if node.element.tag == "link"]
            n.fault(f"its {side}: {unknown('link', name, links, 'the model')}")
            return MISSING, Pose()
        return name, self.poses.of(name, n)

    def axis(self, n: XmlNode, axis: XmlNode | None, X_MJ: Pose, X_MC: Pose) -> tuple[float, ...]:
        """Return the axis in the joint's frame."""
        if axis is None:
            n.fault("its axis is missing")
            return (0.0, 0.0, 1.0)
        given = axis.vector("xyz", (0.0, 0.0, 1.0))
        inside = axis.element.find("xyz")
        said = inside.get("expressed_in") if inside is not None else None
        if axis.element.get("use_parent_model_frame") in ("1", "true"):
            return spatial.unrotate(X_MJ.rotation, given)
        return (
            spatial.unrotate(
                X_MJ.rotation, spatial.rotate(self.poses.of(said, axis).rotation, given)
            )
            if said
            else given
        )

    def values(self, axis: XmlNode, name: str) -> dict[str, float]:
        limit = axis.child("limit")
        dynamics = axis.child("dynamics")
        found: dict[str, float] = {}
        for key, word, sign in (
            ("lower", "lower", -1),
            ("upper", "upper", 1),
            ("effort", "effort", 1),
            ("speed", "velocity", 1),
        ):
            x = limit.number(word, sign * math.inf, True) if limit else sign * math.inf
            unlimited = abs(x) > NO_LIMIT or (x < 0 and key in ("effort", "speed"))
            found[key] = sign * math.inf if unlimited else x
        if dynamics:
            found |= {key: dynamics.number(key, 0.0) for key in ("damping", "friction")}
            if stiffness := dynamics.number("spring_stiffness", 0.0):
                self.loads.append(
                    JointSpring(
                        f"spring {name}", name, stiffness, dynamics.number("spring_reference", 0.0)
                    )
                )
        return found

    def base(
        self, links: list[XmlNode], joints: tuple[Joint, ...], X_WM: Pose
    ) -> tuple[Joint, ...]:
        """Return the joint that fixes the first link, unless a joint connects the model to the
        world.
        """
        if not links or any(GROUND in (j.parent, j.child) for j in joints):
            return ()
        name = ROOT_JOINT
        first = links[0].element.get("name", MISSING)
        while name in {j.name for j in joints}:
            name += "_"
        if self.model.element.get("static") not in ("1", "true"):
            self.mapping.approximate(
                "model",
                self.model.element.get("name", ""),
                f"it is joined to nothing: its link {first!r} is held here, floating=True lets"
                " it go",
            )
        return (
            Joint(name, "fixed", GROUND, first, placement=X_WM @ self.poses.of(first, links[0])),
        )

    def unread(self, links: list[XmlNode]) -> None:
        """Report the elements that are not read, once for each tag."""
        tags = [
            e.tag
            for n in (self.model, *links, *self.model.children("joint"))
            for e in n.element
            if e.tag in UNREAD
        ]
        for tag in dict.fromkeys(tags):
            self.mapping.refuse(tag, "", f"{tags.count(tag)} in the file; they are not read")
