"""Reader: a URDF file as a mechanism, with every fault of the file."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from xml.etree.ElementTree import Element

from ... import spatial
from ...errors import FormatError, unknown
from ...model import GROUND, IDENTITY, ORIGIN, Body, Joint, Mechanism, Mimic, Pose, Shape
from .. import files, transmissions
from ..draft import MISSING, ROOT_JOINT, Draft
from ..xml import parse
from ..xml_node import XmlNode
from .kinds import bounded, types

_READ = {
    "robot": {"link", "joint", "material", "transmission"},
    "link": {"inertial", "visual", "collision"},
    "joint": {"origin", "parent", "child", "axis", "limit", "dynamics", "mimic"},
}
_OTHER_FORMATS = {
    "mujoco": "a MuJoCo model (MJCF)",
    "sdf": "an SDF file",
    "COLLADA": "a COLLADA drawing",
}
AXIS = (1.0, 0.0, 0.0)  # of a joint that names none


def read(path: Path) -> Draft:
    """Return the draft of a URDF file; its inertias are taken as found."""
    return read_bytes(files.read(path), path)


def read_bytes(data: bytes, path: Path) -> Draft:
    """Return the draft of the bytes of a URDF."""
    robot = parse(data, path)
    if _local(robot.tag) != "robot":
        found = _OTHER_FORMATS.get(_local(robot.tag), f"an XML file of <{_local(robot.tag)}>")
        raise FormatError(path, f"the file is {found}; a URDF begins with <robot>")
    return _Reader(robot, path).draft()


class _Reader:
    """The state of reading a file: its materials, the names that had to change, faults and
    notes.
    """

    def __init__(self, robot: Element, path: Path):
        _forget_namespace(robot)
        self.path, self.robot = path, robot
        self.faults: list[str] = []
        self.notes: list[str] = []
        self.top = XmlNode(robot, "robot", self.faults)
        self.materials = {m.get("name"): m for m in robot.findall("material")}
        self.names: dict[str, str] = {}  # of links that are called otherwise here
        self.idle: list[str] = []  # fixed joints that mimic others

    def draft(self) -> Draft:
        links = [self.named(n, "link", i) for i, n in enumerate(self.top.children("link"), start=1)]
        joints = [
            self.named(n, "joint", i) for i, n in enumerate(self.top.children("joint"), start=1)
        ]
        roots = self.roots(links, joints)
        self.rename_ground(links, roots)
        bodies = tuple(self.body(n) for n in links if self.body_name(n) != GROUND)
        read = tuple(self.joint(n) for n in joints)
        name = self.robot.get("name") or self.path.stem
        base = self.base(
            [n for n in map(self.body_name, roots) if n != GROUND], {j.name for j in read}
        )
        motors = self.motors({j.name: j for j in read})
        self.ignored(links, joints)
        mechanism = Mechanism(
            name,
            bodies,
            (*base, *transmissions.with_rotors(read, motors)),
            as_found=True,
            notes=tuple(self.notes),
        )
        laws = transmissions.motors(motors, {j.name: j for j in read})
        run = {"control": laws} if laws else {}
        return Draft(self.path, mechanism, self.faults, noted=True, scenario=run)

    def motors(self, joints: dict[str, Joint]) -> list[transmissions.Transmission]:
        """Return the transmissions that can be taken; the notes name the others."""
        found = list(transmissions.transmissions(self.robot, joints))
        self.notes += [t for t in found if isinstance(t, str)]
        return [t for t in found if not isinstance(t, str)]

    # --- names and roots
    def named(self, n: XmlNode, what: str, number: int) -> XmlNode:
        """Return the element with its name, which messages about faults use."""
        name = n.element.get("name")
        called = XmlNode(
            n.element, f"{what} {name!r}" if name else f"{what} number {number}", self.faults
        )
        if not name:
            called.fault("name is missing")
            called.element.set("name", called.where)
        return called

    def roots(self, links: list[XmlNode], joints: list[XmlNode]) -> list[XmlNode]:
        """Return the links that no joint carries; more than one is a fault."""
        carried = {c.element.get("link") for n in joints if (c := n.child("child"))}
        roots = list({n.where: n for n in links if n.element.get("name") not in carried}.values())
        if len(roots) > 1 and None not in carried:
            names = [repr(n.element.get("name")) for n in roots]
            shown = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
            self.faults.append(
                f"{len(roots)} links are carried by no joint ({shown}); a URDF has one root link"
            )
        return roots

    def rename_ground(self, links: list[XmlNode], roots: list[XmlNode]) -> None:
        """If a bare root link is called "ground", identify it with the ground; any other link of
        that name is renamed.
        """
        for n in links:
            if n.element.get("name") == GROUND and not (n in roots and len(n.element) == 0):
                self.names[GROUND] = f"{GROUND}_link"
                self.notes.append(
                    f"link {GROUND!r} is called '{GROUND}_link' here, since {GROUND!r} is what"
                    " stands still"
                )

    def body_name(self, n: XmlNode) -> str:
        name = n.element.get("name") or ""
        return self.names.get(name, name)

    def base(self, roots: list[str], taken: set[str]) -> tuple[Joint, ...]:
        """Return the joints that fix the root links to the ground: one, unless there are faults."""
        name = ROOT_JOINT
        while name in taken:
            name += "_"
        return tuple(Joint(name + "_" * i, "fixed", GROUND, root) for i, root in enumerate(roots))

    def ignored(self, links: list[XmlNode], joints: list[XmlNode]) -> None:
        """Report the elements that are not read, each tag once."""
        tags = {_local(e.tag) for e in self.robot if e.tag not in _READ["robot"]}
        for nodes, known in ((links, _READ["link"]), (joints, _READ["joint"])):
            tags |= {_local(e.tag) for n in nodes for e in n.element if e.tag not in known}
        if self.idle:
            self.notes.append(
                f"fixed joints that mimic others, which has no effect: {', '.join(self.idle)}"
            )
        if tags:
            self.notes.append(f"elements of the file that are not read: {', '.join(sorted(tags))}")

    # --- links
    def body(self, n: XmlNode) -> Body:
        name = self.body_name(n)
        shapes = tuple(s for v in n.children("visual") if (s := self.shape(v)))
        shapes += tuple(
            replace(s, collides=True, drawn=False, colour=())
            for c in n.children("collision")
            if (s := self.shape(c))
        )
        inertial = n.child("inertial")
        if inertial is None:
            return Body.massless(name, shapes)
        X = _origin(inertial)
        mass = inertial.child("mass")
        inertia = inertial.child("inertia")
        if mass is None or inertia is None:
            inertial.fault(f"{'mass' if mass is None else 'inertia'} is missing")
            return Body.massless(name, shapes)
        six = tuple(inertia.number(k) for k in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))
        if X.rotation != IDENTITY:
            six = spatial.unrotate_symmetric(spatial.transpose(X.rotation), six)  # R I R'
        return Body(name, mass.number("value"), X.position, six, shapes)

    def shape(self, n: XmlNode) -> Shape | None:
        geometry = n.child("geometry")
        pose = _origin(n)
        colour = self.colour(n)
        for g in (
            XmlNode(e, f"{n.where}: {e.tag}", self.faults)
            for e in (geometry.element if geometry else ())
        ):
            if g.element.tag == "box":
                return Shape("box", g.vector("size", None), pose, colour=colour)
            if g.element.tag == "cylinder":
                return Shape(
                    "cylinder", (g.number("radius"), g.number("length")), pose, colour=colour
                )
            if g.element.tag == "sphere":
                return Shape("sphere", (g.number("radius"),), pose, colour=colour)
            if g.element.tag == "mesh":
                return Shape(
                    "mesh", g.vector("scale", (1.0, 1.0, 1.0)), pose, g.text("filename"), colour
                )
            self.notes.append(f"{n.where}: a geometry <{_local(g.element.tag)}> is not read")
        return None

    def colour(self, n: XmlNode) -> tuple[float, ...]:
        """Return the colour of the material given here, or of the robot's material of that name."""
        material = n.element.find("material")
        if material is None:
            return ()
        if material.find("color") is None:
            material = self.materials.get(material.get("name"))
        found = (
            XmlNode(material, f"{n.where}: material", self.faults).child("color")
            if material is not None
            else None
        )
        return found.vector("rgba", (), 4) if found else ()

    # --- joints
    def joint(self, n: XmlNode) -> Joint:
        name = n.text("name")
        kind = n.text("type", "fixed")
        known = types()
        if kind not in known:
            n.fault(unknown("joint type", kind, known))
            kind = "fixed"
        axis = n.child("axis")
        return Joint(
            name,
            known[kind].name,
            self.end(n, "parent"),
            self.end(n, "child"),
            placement=_origin(n),
            axis=(axis.vector("xyz", AXIS) if axis else AXIS) if known[kind].axes else None,
            mimic=self.mimic(n, kind),
            **(self.limits(n, kind) | self.losses(n) if kind != "fixed" else {}),  # type: ignore[arg-type]  # of PER_SPEED
        )

    def end(self, n: XmlNode, side: str) -> str:
        found = n.child(side)
        if found is None:
            n.fault(f"its {side} is missing")
        name = found.text("link", MISSING) if found else MISSING
        return self.names.get(name, name)

    def limits(self, n: XmlNode, kind: str) -> dict[str, float]:
        limit = n.child("limit")
        required = bounded(kind)
        if limit is None:
            if required:
                self.notes.append(
                    f"{n.where} has no limit, which its type asks for; it is taken as unlimited"
                )
            return {}
        found = {
            "effort": limit.number("effort", math.inf, True),
            "speed": limit.number("velocity", math.inf, True),
        }
        if required:  # URDF's own default is zero
            found |= {key: limit.number(key, 0.0, True) for key in ("lower", "upper")}
        return found

    def losses(self, n: XmlNode) -> dict[str, float]:
        dynamics = n.child("dynamics")
        return (
            {key: dynamics.number(key, 0.0) for key in ("damping", "friction")} if dynamics else {}
        )

    def mimic(self, n: XmlNode, kind: str) -> Mimic | None:
        found = n.child("mimic")
        if found is None:
            return None
        leader = found.text("joint", MISSING)
        if kind == "fixed":
            self.idle.append(n.text("name"))
            return None
        return Mimic(leader, found.number("multiplier", 1.0), found.number("offset", 0.0))


def _origin(n: XmlNode) -> Pose:
    origin = n.child("origin")
    if origin is None:
        return Pose()
    position = origin.vector("xyz", ORIGIN)
    angles = origin.vector("rpy", ORIGIN)
    return Pose.rpy(*angles, position=position) if any(angles) else Pose(position=position)  # type: ignore[arg-type, misc]


def _local(tag: object) -> str:
    """Return a tag without its namespace."""
    return str(tag).rpartition("}")[2]


def _forget_namespace(robot: Element) -> None:
    """Remove the file's default namespace, if it has one, from its elements, because URDF has no
    namespaces.
    """
    home, _, _ = robot.tag.rpartition("}")
    for e in robot.iter() if home else ():
        if str(e.tag).startswith(home + "}"):
            e.tag = _local(e.tag)
