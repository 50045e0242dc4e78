"""Writer: a mechanism as the text of an MJCF file. Everything that MJCF cannot express is refused
by name, in one error. A joint of catena means X_PC = placement D1(q1) D2(q2) ... offset^-1, MuJoCo
X_PB = X0 T1 T2 ... with T = K D K^-1 in the body's own frame. Both are the same where X0 =
placement offset^-1 and K is the offset; a chain of massless bodies becomes several joints of one
body.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from ...errors import MechanismError, MechanismWarning
from ...model import (
    GROUND,
    IDENTITY,
    Joint,
    Mechanism,
    Mimic,
    Motion,
    Pose,
    Shape,
    value_of,
    with_scalars,
)
from . import written_constraints
from .chains import Chains, Step
from .numbers import attitude, number, numbers, placed, principal
from .written_loads import WrittenLoads
from .written_shapes import geom, lost_shapes, meshes

_TYPES = {Motion.TURN: "hinge", Motion.SLIDE: "slide", Motion.BALL: "ball"}
LOOPS = ("ball", "fixed", "revolute")
LEAST_INERTIA = 2e-15  # kg m2; MuJoCo refuses moving bodies with less than half of it


def text(mechanism: Mechanism) -> str:
    """Return the text of the file. MuJoCo computes the same mass matrix and bias from it; its
    loops, limits and contacts are soft.
    """
    m = with_scalars(mechanism, lambda x: value_of(x, mechanism.parameters))
    if found := list(_unsayable(m)):
        raise MechanismError(
            f"mechanism {m.name!r} cannot be written as MJCF; save it as .toml, which says"
            " everything:",
            found,
        )
    lost = list(_lost(m, mechanism))
    if lost:
        warnings.warn(
            "\n".join([f"mechanism {m.name!r} as MJCF:", *(f"  - {x}" for x in lost)]),
            MechanismWarning,
            stacklevel=3,
        )
    said = "".join(f"<!-- {x.replace('--', '- -')} -->\n" for x in ("written by catena", *lost))
    return f'<?xml version="1.0" encoding="utf-8"?>\n{said}{_Writer(m).text()}\n'


# --- what it cannot say
def _unsayable(m: Mechanism) -> Iterator[str]:
    """Yield a sentence for each record that MJCF cannot express."""
    for b in m.bodies:
        if b.flexible is not None or any(f.body == b.name for f in m.beams):
            yield f"body {b.name!r}: MJCF has no beams as ours"
    for j in m.joints:
        yield from (f"joint {j.name!r}: {why}" for why in _unsayable_joint(j))
    chains = Chains(m)
    for s in (
        s for b in m.bodies if b.name not in chains.absorbed for s in chains.steps_of(b.name)
    ):
        if s.freedom.motion == Motion.BALL and s.K.rotation != IDENTITY:
            yield (
                f"joint {s.joint.name!r}: MuJoCo's ball turns about the axes of its body; give the"
                " body the axes of its joint, an offset without rotation"
            )
    yield from (
        f"loop {j.name!r}: MJCF closes loops with {' and '.join(LOOPS)} joints, this is {j.kind}"
        for j in m.loops
        if j.kind not in LOOPS
    )
    loads = WrittenLoads(m)
    yield from (
        f"{type(x).__name__} {x.name!r}: {why}" for x in m.loads if (why := loads.unsayable(x))
    )
    yield from (
        f"{type(x).__name__} {x.name!r}: MJCF has no rows of speeds" for x in m.nonholonomic
    )
    yield from (
        f"{type(x).__name__} {x.name!r}: {why}"
        for x in m.constraints
        if (why := written_constraints.unsayable(m, x))
    )
    yield from (
        f"body {name!r} moves and has no mass; MuJoCo asks every moving body for some, or for a"
        " child fixed to it that has"
        for name in _light(m)
    )


def _unsayable_joint(j: Joint) -> Iterator[str]:
    if any(f.motion == Motion.SCREW for f in j.freedoms):
        yield f"MJCF has no {j.kind} joint"
    balls = [f for f in j.freedoms if f.motion == Motion.BALL]
    if balls and len({*zip(j.damping[-3:], j.friction[-3:], j.armature[-3:])}) > 1:
        yield (
            "MJCF has one damping, friction and armature for the three speeds of a ball; here they"
            " differ"
        )
    if balls and any(math.isfinite(x) for x in (*j.lower[-3:], *j.upper[-3:])):
        yield "MJCF limits a ball by one angle, not by its speeds' coordinates"
    if (
        j.mimic
        and j.mimic.function
        and (j.mimic.function.kind != "polynomial" or len(j.mimic.function.y) > 5)
    ):
        yield (
            "MJCF lets a joint follow another by a polynomial of degree 4 at most; this one"
            f" follows by a {j.mimic.function.kind}"
        )
    if j.mimic and j.nv != 1:
        yield "MJCF lets joints of one freedom follow others"


def _light(m: Mechanism) -> Iterator[str]:
    """Yield the bodies that move and have no mass, neither alone nor with those fixed to them."""
    chain = Chains(m)
    moving = (b.name for b in m.bodies if b.name not in chain.absorbed and chain.steps_of(b.name))
    return (name for name in moving if not any(x.mass for x in chain.welded(name)))


def _lost(m: Mechanism, given: Mechanism) -> Iterator[str]:
    """Yield a sentence for each property that the file does not contain although the motion is the
    same, or contains only in MuJoCo's form.
    """
    if given.parameters:
        yield (
            "parameters are written at their values:"
            f" {', '.join(f'{k} = {x:g}' for k, x in given.parameters.items())}"
        )
    if fast := [j.name for j in m.joints if j.sound and any(math.isfinite(x) for x in j.speed)]:
        yield f"limits of speed are left out: {', '.join(fast)}"
    if m.loops:
        yield f"loops are soft in MuJoCo: {', '.join(j.name for j in m.loops)}"
    if m.constraints:
        yield f"constraints are soft in MuJoCo: {', '.join(x.name for x in m.constraints)}"
    if m.contacts:
        yield (
            "contacts are soft in MuJoCo, restitution and the difference of static and kinetic"
            f" friction are left out: {', '.join(c.name for c in m.contacts)}"
        )
    if thin := [
        b.name for b in m.bodies if b.mass and min(principal(b.inertia)[0]) < LEAST_INERTIA
    ]:
        yield (
            f"moments of inertia below {LEAST_INERTIA:g} kg m2, the least that MuJoCo takes, are"
            f" written as that: {', '.join(thin)}"
        )
    yield from lost_shapes(m)


# --- what it can
class _Writer:
    """The elements written so far."""

    def __init__(self, m: Mechanism):
        self.m, self.chains, self.loads = m, Chains(m), WrittenLoads(m)
        self.root = Element("mujoco", model=m.name)

    def text(self) -> str:
        m = self.m
        SubElement(
            self.root,
            "compiler",
            angle="radian",
            autolimits="true",
            inertiafromgeom="false",
            fusestatic="false",
        )
        SubElement(self.root, "option", gravity=numbers(m.gravity))
        if found := meshes(m):
            asset = SubElement(self.root, "asset")
            for attributes in found:
                SubElement(asset, "mesh", attributes)
        world = SubElement(self.root, "worldbody")
        self.things(world, GROUND, m.ground)
        self.children(world, GROUND)
        self.loads.sites(self.root)
        self.equalities()
        self.loads.tendons(self.root)
        written_constraints.equalities(self.root, m)
        self.exclusions()
        indent(self.root)
        return tostring(self.root, encoding="unicode")

    def children(self, parent: Element, body: str) -> None:
        for j in self.chains.carried.get(body, ()):
            child = j.child
            while child in self.chains.absorbed:
                child = self.chains.carried[child][0].child
            self.body(parent, child)

    def body(self, parent: Element, name: str) -> None:
        b = self.m.body(name)
        steps = self.chains.steps_of(name)
        X = self.chains.rest(name)
        element = SubElement(parent, "body", {"name": name, **placed(X)})
        if lifted := self.loads.gravcomp.get(name):
            element.set("gravcomp", number(lifted))
        if _free(self.chains, name, steps, X):
            SubElement(element, "freejoint", name=steps[0].joint.name)
        else:
            for s in steps:
                self.joint(element, s)
        if b.mass or any(b.inertia):
            values, axes = principal(b.inertia)
            SubElement(
                element,
                "inertial",
                {
                    "mass": number(b.mass),
                    "pos": numbers(b.com),
                    "diaginertia": numbers(
                        [max(x, LEAST_INERTIA) for x in values] if b.mass else values
                    ),
                    **attitude(axes),
                },
            )
        self.things(element, name, b.shapes)
        self.children(element, name)

    def things(self, element: Element, body: str, shapes: Sequence[Shape]) -> None:
        """Write the shapes and frames of a body or of the ground."""
        for n, s in enumerate(shapes):
            if found := geom(self.m, body, s, n):
                SubElement(element, "geom", found)
        for f in self.m.frames:
            if f.body == body:
                SubElement(element, "site", {"name": f.name, "size": "0.005", **placed(f.pose)})

    def joint(self, element: Element, s: Step) -> None:
        j, at = s.joint, s.speeds.start
        e = SubElement(element, "joint", name=s.name, type=_TYPES[s.freedom.motion])
        if s.freedom.motion != Motion.SLIDE and any(s.K.position):
            e.set("pos", numbers(s.K.position))
        if s.freedom.motion != Motion.BALL:
            R = s.K.rotation
            e.set(
                "axis",
                numbers([sum(R[i][k] * s.freedom.axis[k] for k in range(3)) for i in range(3)]),
            )
        for key, values in (
            ("damping", j.damping),
            ("frictionloss", j.friction),
            ("armature", j.armature),
        ):
            if values[at]:
                e.set(key, number(values[at]))
        if s.freedom.nv == 1:
            _ranges(e, j, at)
        for key, value in self.loads.springs.get(
            j.coordinate_names[at] if s.freedom.nv == 1 else "", {}
        ).items():
            e.set(key, number(value + float(e.get(key, 0.0)) if key == "damping" else value))

    def equalities(self) -> None:
        joints = [j for j in self.m.joints if j.mimic]
        if not (joints or self.m.loops):
            return
        inside = SubElement(self.root, "equality")
        for j in joints:
            poly = numbers((*_polynomial(j.mimic), 0.0, 0.0, 0.0, 0.0)[:5])  # type: ignore[arg-type]
            SubElement(
                inside,
                "joint",
                name=f"{j.name} follows",
                joint1=j.name,
                joint2=j.mimic.joint,  # type: ignore[union-attr]
                polycoef=poly,
            )
        for j in self.m.loops:
            self.loop(inside, j)

    def loop(self, inside: Element, j: Joint) -> None:
        """Write sites at both ends of the loop's joint, and the equality that holds them together;
        a revolute joint is held at two points of its axis.
        """
        places = [Pose()] if j.kind != "revolute" else [Pose(), Pose(position=tuple(j.axis[0]))]
        tag = "weld" if j.kind == "fixed" else "connect"
        for n, X in enumerate(places):
            name = j.name if n == 0 else f"{j.name} along its axis"
            ends = {}
            for k, (body, at) in enumerate(
                ((j.parent, j.placement @ X), (j.child, j.offset @ X)), start=1
            ):
                ends[f"site{k}"] = f"{name} end {k}"
                self.loads.site(self.root, body, ends[f"site{k}"], at)
            SubElement(inside, tag, {"name": name, **ends})

    def exclusions(self) -> None:
        if self.m.collisions.exclude:
            inside = SubElement(self.root, "contact")
            for a, b in self.m.collisions.exclude:
                SubElement(inside, "exclude", body1=_world(a), body2=_world(b))


def _polynomial(mimic: Mimic) -> tuple[float, ...]:
    return mimic.function.y if mimic.function else (mimic.offset, mimic.multiplier)


def _free(chains: Chains, name: str, steps: list[Step], X: Pose) -> bool:
    """Return whether a free joint has the coordinates of MuJoCo's free joint: its parent is the
    world, and placement and offset are the identity.
    """
    row = chains.row(name)
    return (
        len(row) == 1
        and row[0].kind == "free"
        and row[0].parent == GROUND
        and row[0].placement == row[0].offset == Pose()
    )


def _ranges(e: Element, j: Joint, at: int) -> None:
    if math.isfinite(j.lower[at]) and math.isfinite(j.upper[at]):
        e.set("range", numbers((j.lower[at], j.upper[at])))
    elif math.isfinite(j.lower[at]) or math.isfinite(j.upper[at]):
        e.set("range", numbers((max(j.lower[at], -1e10), min(j.upper[at], 1e10))))
    if math.isfinite(j.effort[at]):
        e.set("actuatorfrcrange", numbers((-j.effort[at], j.effort[at])))


def _world(name: str) -> str:
    return "world" if name == GROUND else name
