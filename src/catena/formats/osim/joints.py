"""Joints of OpenSim: a spatial transform, three slides along axes of the parent's side and then
three turns, each a function of a coordinate. It becomes a chain of joints of one freedom with
massless bodies between them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from ...errors import MechanismError
from ...model import Body, CoordinateFunction, Joint, Mimic, Pose
from ..xml_node import XmlNode

X = (1.0, 0.0, 0.0)
Y = (0.0, 1.0, 0.0)
Z = (0.0, 0.0, 1.0)
# slides and turns of joints that have one coordinate for each, in the order of their coordinates
SIMPLE = {
    "PinJoint": (("R", Z),),
    "SliderJoint": (("D", X),),
    "UniversalJoint": (("R", X), ("R", Y)),
    "GimbalJoint": (("R", X), ("R", Y), ("R", Z)),
    "PlanarJoint": (("R", Z), ("D", X), ("D", Y)),
    "WeldJoint": (),
    "BallJoint": (("R", X), ("R", Y), ("R", Z)),
    "FreeJoint": (("R", X), ("R", Y), ("R", Z), ("D", X), ("D", Y), ("D", Z)),
}
IDENTITY = CoordinateFunction("polynomial", y=(0.0, 1.0))


@dataclass(frozen=True)
class Axis:
    """One slide ("D") or turn ("R") about an axis, by a function of a coordinate, or by a constant
    where it has no coordinate.
    """

    motion: str
    axis: tuple[float, ...]
    coordinate: str
    function: CoordinateFunction


@dataclass
class Chain:
    """The joints and massless bodies that one joint becomes; followers: those that follow another
    joint of the chain.
    """

    joints: list[Joint] = field(default_factory=list)
    bodies: list[Body] = field(default_factory=list)
    followers: list[str] = field(default_factory=list)


def axes(n: XmlNode, kind: str, coordinates: list[str]) -> list[Axis]:
    """Return the slides and then the turns of a joint."""
    if kind == "CustomJoint":
        found = list(_custom(n))
    else:
        simple = SIMPLE[kind]
        if len(coordinates) != len(simple):
            n.fault(f"it has {len(coordinates)} coordinates; a {kind} has {len(simple)}")
        found = [
            Axis(motion, axis, name, IDENTITY) for (motion, axis), name in zip(simple, coordinates)
        ]
    return [a for a in found if a.motion == "D"] + [a for a in found if a.motion == "R"]


def _custom(n: XmlNode) -> Iterator[Axis]:
    inside = n.element.find("SpatialTransform")
    for e in inside if inside is not None else ():
        if e.tag != "TransformAxis":
            continue
        t = XmlNode(e, f"{n.where}: {e.get('name')}", n.faults)
        motion = "R" if (e.get("name") or "").startswith("rotation") else "D"
        yield Axis(
            motion, t.vector("axis", X), (e.findtext("coordinates") or "").strip(), function_of(t)
        )


def function_of(n: XmlNode) -> CoordinateFunction:
    """Return the function in an element, inside <function> or directly; the zero function, and a
    fault, for an unknown one.
    """
    holder = n.element.find("function")
    for e in (*(holder if holder is not None else ()), *n.element):
        try:
            if (found := _known(e, n)) is not None:
                return found
        except MechanismError as why:
            n.fault(str(why))
            return CoordinateFunction("polynomial", y=(0.0,))
    others = [e.tag for e in (holder if holder is not None else ())]
    if others:
        n.fault(
            f"its function is a {others[0]}; known are Constant, LinearFunction,"
            " PolynomialFunction, SimmSpline and MultiplierFunction of these"
        )
    return CoordinateFunction("polynomial", y=(0.0,))


def _known(e: Element, n: XmlNode) -> CoordinateFunction | None:
    def words(tag: str) -> tuple[float, ...]:
        return XmlNode(e, f"{n.where}: {e.tag}", n.faults).vector(
            tag, (), len((e.get(tag) or "").split())
        )

    if e.tag == "Constant":
        return CoordinateFunction("polynomial", y=words("value")[:1] or (0.0,))
    if e.tag == "LinearFunction":
        slope, offset = (*words("coefficients"), 0.0, 0.0)[:2]
        return CoordinateFunction("polynomial", y=(offset, slope))
    if e.tag == "PolynomialFunction":
        return CoordinateFunction("polynomial", y=tuple(reversed(words("coefficients"))))
    if e.tag in ("SimmSpline", "NaturalCubicSpline"):
        return CoordinateFunction("spline", words("x"), words("y"))
    if e.tag == "MultiplierFunction":
        inner = function_of(XmlNode(e, n.where, n.faults))
        scale = (*words("scale"), 1.0)[0]
        return CoordinateFunction(inner.kind, inner.x, tuple(scale * y for y in inner.y))
    return None


# --- chains
def chain(
    name: str, given: list[Axis], parent: str, child: str, placement: Pose, offset: Pose
) -> Chain:
    """Return the chain of joints with one degree of freedom each, from parent to child, for the
    slides and turns of a joint.
    """
    found = Chain()
    X = placement
    at = parent
    moving = [
        a
        for a in given
        if (a.coordinate and any(a.function.pieces[0][1][1:])) or a.function.kind == "spline"
    ]
    led = dict.fromkeys(a.coordinate for a in moving)
    leaders = {
        c: next(
            (k for k, a in enumerate(given) if a in moving and a.coordinate == c and _leads(a)), -1
        )
        for c in led
    }
    last = max((k for k, a in enumerate(given) if a in moving), default=-1)
    for k, a in enumerate(given):
        if a not in moving:
            X = X @ _moved(a, float(a.function.y[0]))
            continue
        leads = leaders[a.coordinate] == k
        own = a.coordinate if leads else f"{name} {k + 1}"
        end = child if k == last else f"{name} {k + 1} side"
        sign = a.function.y[1] if leads else 1.0
        start = _moved(a, a.function.y[0]) if leads and a.function.y[0] else Pose()
        after = Pose() if k != last else _rest(given[k + 1 :]).inverse()
        found.joints.append(
            Joint(
                own,
                "revolute" if a.motion == "R" else "prismatic",
                at,
                end,
                placement=X @ start,
                axis=[sign * x for x in a.axis],
                offset=offset @ after if k == last else Pose(),
                mimic=None if leads else Mimic(a.coordinate, function=a.function),
            )
        )
        found.followers += [] if leads else [own]
        found.bodies += [] if k == last else [Body.massless(end)]
        X, at = Pose(), end
    if last < 0:
        found.joints.append(Joint(name, "fixed", parent, child, placement=X, offset=offset))
    # every part is a function of it: a coordinate that carries nothing
    for c in (c for c, k in leaders.items() if k < 0):
        found.bodies.append(Body.massless(f"{c} carrier"))
        found.joints.append(Joint(c, "revolute", parent, f"{c} carrier"))
    return found


def _leads(a: Axis) -> bool:
    """Return whether the coordinate of a catena joint can be OpenSim's coordinate: its function is
    plus or minus the coordinate, plus a constant.
    """
    return (
        a.function.kind == "polynomial"
        and len(a.function.y) == 2
        and math.isclose(abs(a.function.y[1]), 1.0, rel_tol=1e-12)
    )


def _rest(axes: list[Axis]) -> Pose:
    X = Pose()
    for a in axes:
        X = X @ _moved(a, float(a.function.y[0]))
    return X


def _moved(a: Axis, value: float) -> Pose:
    if not value:
        return Pose()
    return (
        Pose.turn(a.axis, value) if a.motion == "R" else Pose(position=[value * x for x in a.axis])  # type: ignore[arg-type]
    )
