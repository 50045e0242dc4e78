"""Reader: a Simscape Multibody Import XML file as a mechanism, with every fault of the file."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import QuantityError
from ...model import GROUND, Body, Joint, Mechanism, Pose
from .. import files, xml
from ..draft import Draft
from ..mapping import MappingReport
from ..units import in_unit
from ..xml_node import XmlNode, texts_as_attributes
from .instances import Instance, instances, transform

# The freedoms of a joint of the file: its z axis turns and slides, its x axis is that of a slot.
KINDS: Mapping[str, dict[str, Any]] = {
    "Weld": {"kind": "fixed"},
    "Revolute": {"kind": "revolute", "axis": (0.0, 0.0, 1.0)},
    "Prismatic": {"kind": "prismatic", "axis": (0.0, 0.0, 1.0)},
    "Cylindrical": {"kind": "cylindrical", "axis": (0.0, 0.0, 1.0)},
    "Planar": {"kind": "planar", "axis": (0.0, 0.0, 1.0)},
    "Spherical": {"kind": "ball"},
    "Universal": {"kind": "universal"},
    "Gimbal": {"kind": "gimbal"},
    "PinSlot": {"kind": "general", "sequence": ("Dx", "Rz")},
    "Rectangular": {"kind": "general", "sequence": ("Dx", "Dy")},
    "Cartesian": {"kind": "general", "sequence": ("Dx", "Dy", "Dz")},
    "SixDof": {"kind": "free"},
}
AT_START = 1e-9  # rad or m: smaller coordinates of the assembled pose are zero


def read(path: Path) -> Draft:
    """Return the draft of a file; its inertias are taken as found."""
    root = xml.parse(files.read(path), path)
    for element in root.iter():
        element.tag = str(element.tag).rpartition("}")[2]
    texts_as_attributes(root)
    return _Reader(root, path).draft()


class _Reader:
    """The state of reading a file."""

    def __init__(self, root: Any, path: Path):
        self.path = path
        self.faults, self.mapping = list[str](), MappingReport()
        self.root = XmlNode(root, "the file", self.faults)
        units = root.find("DataUnits")
        given = {} if units is None else units.attrib
        self.length = self.unit(given.get("length", "meter"), "m")
        self.mass = self.unit(given.get("mass", "kilogram"), "kg")
        self.parts = {e.get("uid"): XmlNode(e, f"part {e.get('name')!r}", self.faults)
                      for e in root.iterfind("Parts/Part")}  # fmt: skip
        self.assemblies = {e.get("uid"): e for e in root.iterfind("Assemblies/Assembly")}
        top = root.find("RootAssembly")
        if top is None:
            self.root.fault("RootAssembly is missing; it holds the instances and joints")
        self.top = XmlNode(top if top is not None else root, "RootAssembly", self.faults)
        tree = self.top.child("InstanceTree")
        self.placed = instances(tree, self.length) if tree is not None else []
        self.names: dict[tuple[str, ...], str] = {}  # path of a part's instance: its body
        self.at: dict[str, Pose] = {}  # poses of the bodies in the world

    def unit(self, name: str, wanted: str) -> float:
        """Return a unit of the file in SI; the faults name one that is none."""
        try:
            return in_unit(f"1 {name}", wanted, "DataUnits")
        except QuantityError as error:
            self.faults.append(f"DataUnits: {error}")
            return 1.0

    def draft(self) -> Draft:
        """Return the draft of the file."""
        parts = [p for x in self.placed for p in x.parts()]
        self.name(parts)
        bodies = tuple(b for p in parts if (b := self.body(p)) is not None)
        joints = [*self.joints(self.top.element, ())]
        for x in self.placed:
            joints += self.inside(x)
        kept, cut, free = self.tree([*self.grounded(), *joints])
        mechanism = Mechanism(
            self.top.element.get("name") or self.path.stem,
            bodies,
            (*free, *kept),
            as_found=True,
            notes=tuple(self.mapping.notes()),
        )
        run = {"initial": {"q": start}} if (start := self.start(kept, cut)) else {}
        return Draft(
            self.path,
            mechanism,
            self.faults,
            noted=True,
            mapping=self.mapping.entries,
            cut_at=tuple(sorted(cut)),
            scenario=run,
        )

    # --- bodies
    def name(self, parts: list[Instance]) -> None:
        """Name bodies after their instances; those with a name in common after their paths too."""
        short = [p.name for p in parts]
        for p in parts:
            unique = short.count(p.name) == 1 and p.name != GROUND
            self.names[p.path] = p.name if unique else self.title(p.path)
            self.at[self.names[p.path]] = p.X_WI

    def title(self, path: tuple[str, ...]) -> str:
        """Return the names of the instances along a path, such as "gripper / finger"."""
        steps = [self.find(path[: k + 1]) for k in range(len(path))]
        return " / ".join(x.name for x in steps if x is not None)

    def body(self, part: Instance) -> Body | None:
        """Return the body of an instance of a part."""
        name = self.names[part.path]
        node = self.parts.get(part.entity)
        if node is None:
            self.faults.append(
                f"instance {part.name!r} is of {part.entity!r}, which is neither a part nor an"
                " assembly with instances in the file; export the whole assembly"
            )
            return None
        for other in node.element:
            if other.tag == "GeometryFile":
                self.mapping.refuse("GeometryFile", other.get("name") or "", "is not read")
        own = node.child("MassProperties")
        if own is None:
            node.fault("MassProperties is missing; give the part a material and export it again")
            return None
        m = self.mass * own.number("Mass")
        c = self.length * np.array(own.vector("CenterOfMass", None))
        xx, yy, zz, yz, zx, xy = own.vector("Inertia", None, 6)
        size = self.mass * self.length**2
        self.mapping.take("Instance", name)
        inertia = tuple(size * x for x in (xx, xy, zx, yy, yz, zz))
        return Body(name, m, tuple(c.tolist()), inertia)

    # --- joints
    def inside(self, x: Instance) -> list[Joint]:
        """Return the joints of an assembly's instance, and of those in it."""
        found: list[Joint] = []
        if x.inside:
            assembly = self.assemblies.get(x.entity)
            if assembly is None:
                self.faults.append(
                    f"instance {x.name!r} is of the assembly {x.entity!r}, which the file does not"
                    " hold; export the whole assembly"
                )
            else:
                found += self.joints(assembly, x.path)
            for other in x.inside:
                found += self.inside(other)
        return found

    def joints(self, assembly: Any, path: tuple[str, ...]) -> list[Joint]:
        """Return the joints of an assembly whose instance has a path."""
        node = XmlNode(assembly, f"assembly {assembly.get('name')!r}", self.faults)
        held = node.child("Constraints")
        if held is not None and len(held.element):
            kinds = ", ".join(sorted({str(e.tag) for e in held.element}))
            node.fault(
                f"its parts are held by CAD constraints ({kinds}), which are not read; export"
                " joints, or make joints of them in the CAD program"
            )
        all_joints = node.child("Joints")
        found = []
        for element in [] if all_joints is None else all_joints.element:
            own = XmlNode(element, f"joint {element.get('name')!r}", self.faults)
            if (joint := self.joint(own, path)) is not None:
                found.append(joint)
        return found

    def joint(self, node: XmlNode, path: tuple[str, ...]) -> Joint | None:
        """Return a joint; None where the file does not make sense."""
        word = str(node.element.tag)
        if word not in KINDS:
            node.fault(f"a joint of kind {word}; kinds that are read are {', '.join(KINDS)}")
            return None
        base, follower = (self.end(node, tag, path) for tag in ("BaseFrame", "FollowerFrame"))
        if base is None or follower is None:
            return None
        (parent, X_PJ), (child, X_CJ) = base, follower
        if parent == child:
            node.fault(f"it joins {parent!r} to itself")
            return None
        name = node.text("name", "?")
        full = f"{name} of {self.title(path)}" if path else name
        self.mapping.take(word, full)
        return Joint(full, parent=parent, child=child, placement=X_PJ, offset=X_CJ, **KINDS[word])

    def end(self, node: XmlNode, tag: str, path: tuple[str, ...]) -> tuple[str, Pose] | None:
        """Return the body at an end of a joint, and the joint's frame in it.

        A joint of an assembly is a joint of the part that carries it.
        """
        frame = node.child(tag)
        uids = frame.element.find("InstancePath") if frame is not None else None
        if frame is None or uids is None:
            node.fault(f"{tag} with an InstancePath is missing")
            return None
        steps = tuple(str(e.text or "").strip() for e in uids.iter("Uid"))
        found = self.find((*path, *steps))
        if found is None:
            node.fault(f"{tag}: no instance {'/'.join(steps)!r} in the file")
            return None
        part = found.anchor()
        X = part.X_WI.inverse() @ found.X_WI @ transform(frame, self.length)
        return self.names[part.path], X

    def find(self, path: tuple[str, ...]) -> Instance | None:
        """Return the instance of a path, or None."""
        inside: Any = self.placed
        found = None
        for k in range(len(path)):
            found = next((x for x in inside if x.path == path[: k + 1]), None)
            if found is None:
                return None
            inside = found.inside
        return found

    def grounded(self) -> list[Joint]:
        """Return the fixed joints of the instances that the root assembly holds."""
        held = [x.anchor() for x in self.placed if x.grounded]
        return [
            Joint(f"ground of {n}", "fixed", GROUND, n, self.at[n])
            for n in (self.names[x.path] for x in held)
        ]

    def tree(self, joints: list[Joint]) -> tuple[list[Joint], set[str], list[Joint]]:
        """Return all joints, the names of those that close loops, and joints for what is free.

        Parts are reached from the ground breadth first, so that loops are cut far from it.
        """
        reached, cut, used = {GROUND}, set[str](), set[str]()
        free = list[Joint]()
        todo = [GROUND]
        pending = list(self.at)
        while True:
            while todo:
                near = todo.pop(0)
                for j in joints:
                    if j.name in used or near not in (j.parent, j.child):
                        continue
                    used.add(j.name)
                    far = j.child if near == j.parent else j.parent
                    if far in reached:
                        cut.add(j.name)
                    else:
                        reached.add(far)
                        todo.append(far)
            pending = [n for n in pending if n not in reached]
            if not pending:
                return joints, cut, free
            root = pending[0]
            self.mapping.approximate(
                "Instance", root, "no joint connects it to the ground: it is free, as in Simscape"
            )
            free.append(Joint(f"free {root}", "free", GROUND, root, self.at[root]))
            reached.add(root)
            todo.append(root)

    def start(self, joints: list[Joint], cut: set[str]) -> dict[str, float]:
        """Return the coordinates of the pose of the file, of joints with one freedom."""
        found = {}
        for j in joints:
            if j.name in cut or j.parent not in self.at or j.child not in self.at:
                continue
            D = (self.at[j.parent] @ j.placement).inverse() @ self.at[j.child] @ j.offset
            value = {
                "revolute": math.atan2(float(D.rotation[1][0]), float(D.rotation[0][0])),
                "prismatic": float(D.position[2]),
            }.get(j.kind, 0.0)
            if abs(value) > AT_START:
                found[j.name] = value
        return found
