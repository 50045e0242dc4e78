"""Reader: an OpenSim model as a mechanism, with every fault of the file."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from ...errors import FormatError, unknown
from ...model import GROUND, ORIGIN, Body, Frame, Joint, Mechanism, Mimic, Pose, vector
from .. import files
from ..draft import MISSING, Draft
from ..mapping import MappingReport
from ..xml import parse
from ..xml_node import XmlNode, texts_as_attributes
from .joints import IDENTITY, SIMPLE, Chain, axes, chain, function_of
from .muscles import muscles as read_muscles

KNOWN = (*SIMPLE, "CustomJoint")
# OpenSim names elements as C++ does, HuntCrossleyForce::ContactParameters, which XML forbids
_SCOPED = re.compile(rb"(</?\w+)::")


def read(path: Path, muscles: bool = False) -> Draft:
    """Return the draft of an OpenSim model. muscles: whether muscles that run straight from point
    to point become tensions, each with its activation.
    """
    root = parse(_SCOPED.sub(rb"\1.", files.read(path)), path)
    model = root.find("Model")
    if root.tag != "OpenSimDocument" or model is None:
        raise FormatError(
            path,
            f"the file is an XML file of <{root.tag}>; a model of OpenSim has <OpenSimDocument> and"
            " a <Model> in it",
        )
    for e in model.findall("defaults"):
        model.remove(e)
    texts_as_attributes(root)
    return _Reader(model, path).draft(muscles)


class _Reader:
    """The state of reading a model."""

    def __init__(self, model: Element, path: Path):
        self.path, self.faults, self.mapping = path, list[str](), MappingReport()
        self.model = XmlNode(model, "model", self.faults)
        self.values: dict[str, float] = {}  # where coordinates stand

    def draft(self, muscles: bool) -> Draft:
        found = [n for n in self.objects("BodySet", "Body") if n.element.get("name") != GROUND]
        bodies = [self.body(n) for n in found]
        chains = [c for n, kind, owner in self.joints() if (c := self.chain(n, kind, owner))]
        joints = [j for c in chains for j in c.joints]
        follows = dict(self.couplers({j.name for j in joints}))
        joints = [replace(j, mimic=follows[j.name]) if j.name in follows else j for j in joints]
        joints = [self.leading(j, follows) for j in joints]
        frames = [self.marker(n) for n in self.objects("MarkerSet", "Marker")]
        loads, points, parameters = read_muscles(self.model, self.mapping, muscles)
        self.unread()
        gravity = vector(self.model.vector("gravity", (0.0, -9.80665, 0.0)))
        mechanism = Mechanism(
            self.model.element.get("name") or self.path.stem,
            (*(b for c in chains for b in c.bodies), *bodies),
            tuple(joints),
            frames=(*frames, *points),
            gravity=gravity,
            loads=tuple(loads),
            parameters=parameters,
            as_found=True,
            notes=tuple(self.mapping.notes()),
        )
        parts = frozenset(name for c in chains for name in c.followers)
        start = {
            name: x
            for name, x in self.values.items()
            if x and name not in follows and any(j.name == name for j in joints)
        }
        return Draft(
            self.path,
            mechanism,
            self.faults,
            noted=True,
            mapping=self.mapping.entries,
            parts=parts,
            scenario={"initial": {"q": start}},
        )

    def objects(self, group: str, tag: str = "") -> Iterator[XmlNode]:
        """Yield the elements in the <objects> of a set, with their names."""
        inside = self.model.element.find(f"{group}/objects")
        for e in inside if inside is not None else ():
            if not tag or e.tag == tag:
                yield XmlNode(e, f"{e.tag} {e.get('name')!r}", self.faults)

    def body(self, n: XmlNode) -> Body:
        name = n.text("name", MISSING)
        if n.element.get("inertia"):
            xx, yy, zz, xy, xz, yz = n.vector("inertia", None, 6)
        else:
            xx, yy, zz, xy, xz, yz = (
                n.number(f"inertia_{k}", 0.0) for k in ("xx", "yy", "zz", "xy", "xz", "yz")
            )
        self.mapping.take("Body", name)
        return Body(
            name,
            n.number("mass"),
            vector(n.vector("mass_center", ORIGIN)),
            (xx, xy, xz, yy, yz, zz),
        )

    # --- joints
    def joints(self) -> Iterator[tuple[XmlNode, str, str]]:
        """Yield each joint, its kind, and the body that contains it, which is None in version 4."""
        for n in self.objects("JointSet"):
            yield n, n.element.tag, ""
        for b in self.objects("BodySet", "Body"):
            holder = (
                b.element.find("Joint")
                if b.element.find("Joint") is not None
                else b.element.find("joint")
            )
            for e in holder if holder is not None else ():
                yield (
                    XmlNode(e, f"{e.tag} {e.get('name')!r}", self.faults),
                    e.tag,
                    b.element.get("name") or MISSING,
                )

    def chain(self, n: XmlNode, kind: str, owner: str) -> Chain | None:
        name = n.element.get("name") or MISSING
        if kind not in KNOWN:
            n.fault(
                unknown("joint", kind, KNOWN, "what is read of OpenSim")
                + "; the bodies it carries would be lost"
            )
            return None
        coordinates = list(n.element.iter("Coordinate"))
        (parent, X_PJ), (child, X_CJ) = self.sides(n, owner)
        if (n.element.get("reverse") or "false").strip() == "true":
            n.fault("it is reversed, written from child to parent; write it from parent to child")
        said = (
            "its speeds are the rates of its three angles, OpenSim's are angular velocities"
            if kind in ("BallJoint", "FreeJoint")
            else ""
        )
        (self.mapping.approximate if said else self.mapping.take)("Joint", name, said)
        given = axes(n, kind, [c.get("name") or "" for c in coordinates])
        chained = chain(name, given, parent, child, X_PJ, X_CJ)
        limits = {
            c.get("name"): self.coordinate(XmlNode(c, f"coordinate {c.get('name')!r}", self.faults))
            for c in coordinates
        }
        chained.joints = [
            replace(j, **limits[j.name]) if j.name in limits and j.nv else j for j in chained.joints
        ]
        return chained

    def coordinate(self, c: XmlNode) -> dict[str, Any]:
        """Return the range of a coordinate where it is clamped; its default value goes to the
        scenario.
        """
        name = c.element.get("name") or MISSING
        self.values[name] = c.number("default_value", 0.0)
        if (c.element.get("locked") or "").strip() == "true":
            self.mapping.approximate(
                "Coordinate",
                name,
                "it is locked in the file and moves here; catena.model.scenes.locked holds it",
            )
        else:
            self.mapping.take("Coordinate", name)
        low, high = c.vector("range", (-math.inf, math.inf), 2)
        return (
            {"lower": low, "upper": high}
            if (c.element.get("clamped") or "").strip() == "true"
            else {}
        )

    def sides(self, n: XmlNode, owner: str) -> tuple[tuple[str, Pose], tuple[str, Pose]]:
        """Return the two bodies of a joint, and the joint's frame in each."""
        if owner:
            return (
                n.text("parent_body", MISSING),
                _pose(n, "location_in_parent", "orientation_in_parent"),
            ), (owner, _pose(n, "location", "orientation"))
        offsets = {
            f.get("name"): XmlNode(f, f"{n.where}: frame {f.get('name')!r}", self.faults)
            for f in n.element.iter("PhysicalOffsetFrame")
        }
        return self.side(n, "parent", offsets), self.side(n, "child", offsets)

    def side(self, n: XmlNode, which: str, offsets: dict[str | None, XmlNode]) -> tuple[str, Pose]:
        name = n.text(f"socket_{which}_frame", MISSING)
        if name in offsets:
            f = offsets[name]
            return f.text("socket_parent", MISSING).rpartition("/")[2], _pose(
                f, "translation", "orientation"
            )
        return name.rpartition("/")[2], Pose()

    def couplers(self, joints: set[str]) -> Iterator[tuple[str, Mimic]]:
        """Yield (coordinate, the Mimic by which it follows) of the constraints that couple
        coordinates; other constraints are faults.
        """
        for n in self.objects("ConstraintSet"):
            name = n.element.get("name") or ""
            if (n.element.get("isEnforced") or n.element.get("isDisabled") or "").strip() in (
                "false",
            ) and n.element.get("isEnforced"):
                self.mapping.refuse("Constraint", name, "it is not enforced in the file")
                continue
            if n.element.tag != "CoordinateCouplerConstraint":
                n.fault(
                    "the constraint would be lost; only CoordinateCouplerConstraint is read. Write"
                    " it as a [[loop]] of a companion"
                )
                continue
            wrapped = n.element.find("coupled_coordinates_function")
            leaders = n.text("independent_coordinate_names", "").split()
            follower = n.text("dependent_coordinate_name", MISSING)
            if len(leaders) != 1 or not {*leaders, follower} <= joints:
                n.fault(
                    f"{follower!r} follows {', '.join(leaders) or 'nothing'}; one coordinate of the"
                    " model is to be followed"
                )
                continue
            f = (
                function_of(XmlNode(wrapped, n.where, self.faults))
                if wrapped is not None
                else IDENTITY
            )
            scale = n.number("scale_factor", 1.0)
            self.mapping.take("Constraint", name, "a mimic by a function")
            yield follower, Mimic(leaders[0], function=replace(f, y=tuple(scale * y for y in f.y)))

    def leading(self, j: Joint, follows: dict[str, Mimic]) -> Joint:
        """Return the rule of a joint that follows a follower as a rule in terms of the leader
        itself, by the composed function.
        """
        met = {j.name}
        while j.mimic and j.mimic.joint in follows and j.mimic.joint not in met:
            met.add(j.mimic.joint)
            first = follows[j.mimic.joint]
            then = j.mimic.function
            assert first.function is not None and then is not None  # as this reader makes them
            if (function := then.after(first.function)) is None:
                self.faults.append(
                    f"joint {j.name!r} is a {then.kind} of {j.mimic.joint!r}, which is a"
                    f" {first.function.kind} of {first.joint!r}; one of the two is to be linear"
                )
                function = IDENTITY
            j = replace(j, mimic=Mimic(first.joint, function=function))
        return j

    def marker(self, n: XmlNode) -> Frame:
        name = n.text("name", MISSING)
        body = (
            (n.element.get("socket_parent_frame") or n.element.get("body") or MISSING)
            .strip()
            .rpartition("/")[2]
        )
        self.mapping.take("Marker", name, "a frame")
        return Frame(name, body, Pose(position=vector(n.vector("location", ORIGIN))))

    def unread(self) -> None:
        """Report the elements that are not read, once for each kind."""
        for group in (
            "ForceSet",
            "ControllerSet",
            "ContactGeometrySet",
            "ProbeSet",
            "ComponentSet",
        ):
            tags = [n.element.tag for n in self.objects(group) if "Muscle" not in n.element.tag]
            for tag in dict.fromkeys(tags):
                self.mapping.refuse(tag, "", f"{tags.count(tag)} in the file; they are not read")


def _pose(n: XmlNode, at: str, turned: str) -> Pose:
    """Return the pose of a position and three angles about the body's own x, y and z, one after the
    other.
    """
    a, b, c = n.vector(turned, (0.0, 0.0, 0.0))
    p = vector(n.vector(at, ORIGIN))
    if not (a or b or c):
        return Pose(position=p)
    R = Pose.turn("x", a) @ Pose.turn("y", b) @ Pose.turn("z", c)
    return Pose(R.rotation, p)
