"""What can be wrong with a mechanism: every fault as one sentence that names the thing, what was found, what is right."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice
from typing import Any

from ..errors import unknown
from . import joints as catalogue
from .mechanism import GROUND, Body, Joint, Mechanism
from .pose import Pose

MOST = 1000  # faults of one mechanism; a file with more is not a mechanism but an accident


def faults(m: Mechanism) -> list[str]:
    """All faults (at most MOST), in the order a reader meets the things they belong to."""
    found = list(islice(_faults(m), MOST))
    if not found and (m.loads or m.nonholonomic):
        from .validation_loads import load_faults

        found = list(islice(load_faults(m), MOST))
    if not found and m.planar and plane(m) is None:
        found.append("it is declared planar, but its joints do not all move in one plane")
    return found


def _faults(m: Mechanism) -> Iterator[str]:
    yield from _names(m)
    yield from _numbers(m)
    yield from _parameters(m)
    for b in m.bodies:
        yield from _body(b, m)
    if m.beams or any(b.flexible is not None for b in m.bodies):
        from .validation_beams import flexible_faults

        yield from flexible_faults(m)
    for j in (*m.joints, *m.loops):
        yield from _joint(j, m)
    yield from _tree(m)
    yield from _mimics(m)
    yield from _loops(m)
    for f in m.frames:
        if f.body != GROUND and f.body not in m._bodies:
            yield f"frame {f.name!r}: {unknown('body', f.body, m._bodies)}"
        if fault := _pose_fault(f.pose):
            yield f"frame {f.name!r}: its pose {fault}"


def doubts(m: Mechanism) -> list[str]:
    """What is allowed but deserves a word: inertias read as found, joints that no force can answer."""
    impossible = [fault for b in m.bodies if m.as_found for fault in _inertia(b, m)]
    return [*impossible, *_weightless(m), *_unused(m)]


def _names(m: Mechanism) -> Iterator[str]:
    for what, names in (("bodies", [b.name for b in m.bodies]), ("joints", [j.name for j in (*m.joints, *m.loops)]),
                        ("frames", [f.name for f in m.frames])):  # fmt: skip
        for name, count in Counter(names).items():
            if count > 1:
                yield f"{count} {what} are called {name!r}; give each its own name"
            if not isinstance(name, str) or not name:
                yield f"one of the {what} has no name; names are texts of at least one letter"
    if all(catalogue.kind_of(j.kind) for j in m.joints):
        yield from _coordinate_names(m)
    for f in m.frames:
        if f.name in m._bodies or f.name == GROUND:
            yield f"frame {f.name!r} has the name of a body; give it its own"
    if GROUND in m._bodies:
        yield f"a body is called {GROUND!r}, which is the name of what stands still; give it another"
    if not m.bodies:
        yield "it has no body; give it at least one"


def _coordinate_names(m: Mechanism) -> Iterator[str]:
    """A joint called "u.first" beside a universal joint "u" has the name of its coordinate."""
    owners: dict[str, str] = {}
    for j in m.joints:
        if j.kind == "general" and not set(j.sequence) <= set(catalogue.GENERAL):
            return  # said already
        for name in dict.fromkeys((*j.coordinate_names, *j.speed_names)) if j.mimic is None and j.nv else ():
            if owners.setdefault(name, j.name) != j.name:
                yield f"joints {owners[name]!r} and {j.name!r} both have a coordinate called {name!r}; give one another name"


def _finite(x: Any) -> bool:
    return not isinstance(x, (int, float)) or math.isfinite(x)


def _numbers(m: Mechanism) -> Iterator[str]:
    if not all(_finite(x) for x in m.gravity):
        yield f"gravity is {m.gravity}; it takes three finite numbers, m/s2"
    for name, value in m.parameters.items():
        if not math.isfinite(value):
            yield f"parameter {name!r} is {value}; it takes a finite number"


def _parameters(m: Mechanism) -> Iterator[str]:
    used: dict[str, str] = {}
    for where, x in scalars(m):
        for symbol in getattr(x, "free_symbols", ()):
            used.setdefault(str(symbol), where)
    for name, where in used.items():
        if name not in m.parameters:
            yield f"{where} uses {unknown('parameter', name, m.parameters)}"


def scalars(m: Mechanism) -> Iterator[tuple[str, Any]]:
    """Every scalar of a mechanism that may be an expression, with where it stands."""
    yield from (("gravity", x) for x in m.gravity)
    for b in m.bodies:
        yield from ((f"body {b.name!r}", x) for x in (b.mass, *b.com, *b.inertia))
    for j in (*m.joints, *m.loops):
        values = [j.pitch, *j.placement.position, *j.offset.position]
        values += [x for row in (*j.placement.rotation, *j.offset.rotation) for x in row]
        for attribute in ("damping", "friction", "armature"):
            given = getattr(j, attribute)
            values += given if isinstance(given, tuple) else (given,)
        if j.mimic:
            values += [j.mimic.multiplier, j.mimic.offset]
        yield from ((f"joint {j.name!r}", x) for x in values)
    for f in m.frames:
        yield from ((f"frame {f.name!r}", x) for x in (*f.pose.position, *(y for r in f.pose.rotation for y in r)))


def _body(b: Body, m: Mechanism) -> Iterator[str]:
    values = [value_of(x, m.parameters) for x in (b.mass, *b.com, *b.inertia)]
    if any(x is None for x in values) or b.flexible is not None:
        return  # an unknown parameter: said already; a beam's faults are its own
    mass = values[0]
    if not all(math.isfinite(x) for x in values):
        yield f"body {b.name!r}: mass, com or inertia is not a finite number: {values}"
    elif mass < 0:
        yield f"body {b.name!r}: mass is {mass:g} kg; a mass is zero or more"
    elif not m.as_found:
        yield from _inertia(b, m)


def _inertia(b: Body, m: Mechanism) -> Iterator[str]:
    inertia = [value_of(x, m.parameters) for x in b.inertia]
    why = impossible_inertia(inertia)
    if why:
        yield f"body {b.name!r}: {why}"


def impossible_inertia(I: Any, tolerance: float = 1e-6) -> str:
    """Why no body can have this inertia (xx, xy, xz, yy, yz, zz), or nothing."""
    import numpy as np

    size = max(1e-12, *(abs(x) for x in I))  # below it is the round-off of an inertia that is zero
    xx, xy, xz, yy, yz, zz = (x / size for x in I)
    a, b, c = np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]).tolist()
    shown = f"principal moments {a * size:.6g}, {b * size:.6g}, {c * size:.6g} kg m2"
    if a < -tolerance:
        return f"inertia is not positive: {shown}; each is zero or more"
    if a + b < c - tolerance:
        return f"inertia breaks the triangle inequality: {shown}; the two smaller add up to at least the largest"
    return ""


def _joint(j: Joint, m: Mechanism) -> Iterator[str]:
    here = f"joint {j.name!r}"
    for side, body in (("parent", j.parent), ("child", j.child)):
        if body == GROUND and side == "child" and j not in m.loops:
            yield f"{here}: its child is {GROUND!r}, which nothing carries; exchange parent and child, or make it a loop"
        elif body != GROUND and body not in m._bodies:
            yield f"{here}: its {side}: {unknown('body', body, [GROUND, *m._bodies])}"
    if j.parent == j.child:
        yield f"{here}: it joins {j.parent!r} to itself; a joint needs two bodies"
    kind = catalogue.KINDS.get(j.kind) if j.deflection is None else catalogue.kind_of(j.kind)
    if kind is None:
        yield f"{here}: {unknown('joint kind', j.kind, catalogue.KINDS)}"
        return
    wanted = len(kind.axes)
    if len(j.axis) != wanted:
        yield f"{here}: a {j.kind} joint takes {wanted} axis vectors, found {len(j.axis)}"
        return
    for a in j.axis:
        n = math.sqrt(sum(x * x for x in a)) if len(a) == 3 else math.nan
        if not abs(n - 1) < 1e-9:
            yield f"{here}: axis {a} has no direction; give three finite numbers that are not all zero"
            return
    if j.kind == "helical" and not value_of(j.pitch, m.parameters):
        yield f"{here}: a helical joint needs a pitch, in metres a radian; without one it is revolute"
    if j.kind == "gimbal" or j.kind == "universal":
        for a, b in zip(j.axis, j.axis[1:]):
            if abs(sum(x * y for x, y in zip(a, b))) > 1 - 1e-9:
                yield f"{here}: axes {a} and {b} that follow each other are parallel; turn one of them"
    if j.kind == "general":
        yield from _sequence(j, here)
    elif j.sequence and not j.deflection:
        yield f"{here}: a {j.kind} joint takes no sequence; only a general joint does"
    yield from _joint_numbers(j, m, here)


def _sequence(j: Joint, here: str) -> Iterator[str]:
    order = list(catalogue.GENERAL)
    if not set(j.sequence) <= set(order):
        yield f"{here}: sequence {j.sequence} has a freedom that is not one of {', '.join(order)}"
    elif not j.sequence or [x for x in order if x in j.sequence] != list(j.sequence):
        yield f"{here}: sequence {j.sequence} is not a part of {', '.join(order)}, each at most once and in this order"


def _joint_numbers(j: Joint, m: Mechanism, here: str) -> Iterator[str]:
    if j.kind == "general" and not set(j.sequence) <= set(catalogue.GENERAL):
        return
    for attribute in ("lower", "upper", "effort", "speed", "damping", "friction", "armature"):
        values = getattr(j, attribute)
        if len(values) != j.nv:
            yield f"{here}: {attribute} has {len(values)} values; one for each of its {j.nv} speeds is needed, or one for all"
            return
        if any(isinstance(x, float) and math.isnan(x) for x in values):
            yield f"{here}: {attribute} is not a number"
        elif attribute in ("effort", "speed", "damping", "friction", "armature"):
            low = min((v for x in values if (v := value_of(x, m.parameters)) is not None), default=0.0)
            if low < 0:
                yield f"{here}: {attribute} is {low:g}; it is zero or more"
    for lower, upper in zip(j.lower, j.upper):
        if lower > upper:
            yield f"{here}: lower limit {lower:g} is above upper limit {upper:g}"
    for what, X in (("placement", j.placement), ("offset", j.offset)):
        fault = _pose_fault(X)
        if fault:
            yield f"{here}: {what} {fault}"


def _pose_fault(X: Pose) -> str:
    entries = [*X.position, *(x for row in X.rotation for x in row)]
    if not all(isinstance(x, float) for x in entries):
        return ""
    if not all(math.isfinite(x) for x in entries):
        return "has a number that is not finite"
    R = X.rotation
    worst = max(abs(sum(R[i][k] * R[j][k] for k in range(3)) - (i == j)) for i in range(3) for j in range(3))
    if worst > 1e-6:
        return f"is not a rotation: R R' differs from one by {worst:.2g}"
    (a, b, c), (d, e, f), (g, h, i) = R
    mirrored = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g) < 0
    return "is not a rotation but a reflection: its determinant is -1; turn one axis round" if mirrored else ""


def _tree(m: Mechanism) -> Iterator[str]:
    carried: dict[str, list[str]] = {}
    for j in m.joints:
        carried.setdefault(j.child, []).append(j.name)
    for body, names in carried.items():
        if len(names) > 1:
            who = ", ".join(map(repr, names[:12])) + (", ..." if len(names) > 12 else "")
            yield (f"body {body!r} is carried by {len(names)} joints ({who}); "
                   "in a tree one carries it, the others belong in loops")  # fmt: skip
    if any(len(names) > 1 for names in carried.values()):
        return
    reached = _reached(m)
    for b in m.bodies:
        if b.name not in carried:
            yield f"body {b.name!r} hangs on no joint; join it to {GROUND!r} or to another body"
        elif b.name not in reached:
            yield f"body {b.name!r} is not joined to {GROUND!r}: its parents lead round in a cycle or to a loose body"


def _reached(m: Mechanism) -> set[str]:
    """The bodies that joints lead to from the ground, or from a parent that does not exist, which is a fault of its own."""
    children: dict[str, list[str]] = {}
    for j in m.joints:
        children.setdefault(j.parent, []).append(j.child)
    waiting = [GROUND, *(name for name in children if name not in m._bodies)]
    reached: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting.extend(children.get(name, ()))
    return reached


def _mimics(m: Mechanism) -> Iterator[str]:
    for j in m.joints:
        if j.mimic is None or j.kind not in catalogue.KINDS:
            continue  # places of flexible bodies follow them too, but nobody writes those
        tree = {k.name: k for k in m.joints}
        leader = m._joints.get(j.mimic.joint)
        values = [value_of(x, m.parameters) for x in (j.mimic.multiplier, j.mimic.offset)]
        if not all(x is None or math.isfinite(x) for x in values):
            yield f"joint {j.name!r} mimics {j.mimic.joint!r} with multiplier {values[0]} and offset {values[1]}; both are finite"
        if leader is None:
            yield f"joint {j.name!r} mimics {unknown('joint', j.mimic.joint, tree)}"
        elif leader.name not in tree:
            yield f"joint {j.name!r} mimics {leader.name!r}, which closes a loop and has no coordinate; name a joint of the tree"
        elif leader.kind not in catalogue.KINDS:
            continue
        elif leader is j:
            yield f"joint {j.name!r} mimics itself; name the joint it follows"
        elif j.nv != 1 or leader.nv != 1:
            yield f"joint {j.name!r} mimics {leader.name!r}; both need one freedom, they have {j.nv} and {leader.nv}"
        elif leader.mimic is not None:
            yield f"joint {j.name!r} mimics {leader.name!r}, which mimics {leader.mimic.joint!r}; name that one directly"


def _loops(m: Mechanism) -> Iterator[str]:
    """A loop has no coordinate, so that what lives on coordinates would be lost on it without a word."""
    for j in m.loops:
        if j.mimic is not None:
            yield f"loop {j.name!r} mimics {j.mimic.joint!r}; a loop has no coordinate that could follow: make it a joint of the tree"
        if j.kind not in catalogue.KINDS or len(j.axis) != len(catalogue.KINDS[j.kind].axes):
            continue
        if j.kind == "free":
            yield f"loop {j.name!r} is free: it forbids nothing and closes nothing; leave it out"


def _unused(m: Mechanism) -> Iterator[str]:
    """What lives on coordinates, said of a loop, which has none."""
    for j in m.loops:
        limits = [*(x for x in j.lower if x != -math.inf), *(x for x in j.upper if x != math.inf)]
        names = [name for name in ("damping", "friction", "armature") if any(x != 0 for x in getattr(j, name))]
        if said := [*names, *(["limits"] if limits else [])]:
            yield (f"loop {j.name!r}: its {' and '.join(said)} are not used, as a loop has no coordinate; "
                   "cut the loop at another joint, or add a load")  # fmt: skip


def _weightless(m: Mechanism) -> Iterator[str]:
    """A joint that slides nothing with a mass, or turns nothing with a mass or an inertia, cannot be moved by forces."""
    heavy: set[str] = set()  # bodies that carry a mass, themselves included
    inert: set[str] = set()  # a mass or an inertia: a hub without mass can be turned
    for j in reversed(m.ordered):
        b = m.body(j.child)
        if value_of(b.mass, m.parameters) or j.child in heavy:
            heavy |= {j.child, j.parent}
        if j.child in heavy or j.child in inert or any(value_of(x, m.parameters) for x in b.inertia):
            inert |= {j.child, j.parent}
        if not j.nv or j.mimic or j.deflection or any(value_of(x, m.parameters) for x in j.armature):
            continue
        slides = any(f.motion == catalogue.Motion.SLIDE for f in j.freedoms)
        if j.child not in (heavy if slides else inert):
            what = "no mass" if j.child in inert else "no mass and no inertia"
            yield (f"joint {j.name!r} moves body {j.child!r} and what it carries, which have {what}; "
                   "give them mass and inertia, or make the joint fixed")  # fmt: skip


def value_of(x: Any, parameters: Any) -> Any:
    """The number of a scalar at given parameter values; None where a parameter has no value."""
    if isinstance(x, (int, float)):
        return x
    names = _names_in(x)
    values = tuple(parameters.get(name) for name in names)
    return None if None in values else _number(x, names, values)


@lru_cache(100_000)
def _names_in(x: Any) -> tuple[str, ...]:
    return tuple(str(s) for s in x.free_symbols)


@lru_cache(100_000)  # a mechanism of many alike pieces asks the same again and again, and SymPy is slow to answer
def _number(x: Any, names: tuple[str, ...], values: tuple[float, ...]) -> float:
    try:
        return float(x.subs(dict(zip(names, values))))
    except TypeError:  # the root of a negative number, a division by zero
        return math.nan


def plane(m: Mechanism) -> tuple[float, float, float] | None:
    """The normal of the plane all bodies move in, in the ground's axes; None when there is no such plane."""
    return normal(m.ordered, m.parameters)[0]


def normal(ordered: Iterable[Joint], parameters: Any) -> tuple[tuple[float, float, float] | None, dict[str, Any]]:
    """The normal of the plane in which these joints, parents first, move all bodies; and R (3, 3) of each body at rest.

    Every turn is about the normal and every slide across it. Turning about the normal keeps both true, so looking at one
    configuration is enough.
    """
    import numpy as np

    turned: dict[str, Any] = {GROUND: np.eye(3)}
    turns: list[np.ndarray] = []
    slides: list[np.ndarray] = []
    tumbling = False
    for j in ordered:
        R = turned[j.parent] @ np.array([[value_of(x, parameters) for x in row] for row in j.placement.rotation], float)
        for f in j.motions:
            tumbling = tumbling or f.motion == catalogue.Motion.BALL or f.motion == catalogue.Motion.SCREW
            (slides if f.motion == catalogue.Motion.SLIDE else turns).append(R @ f.axis)
        back = np.array([[value_of(x, parameters) for x in row] for row in j.offset.rotation], float)
        turned[j.child] = R @ back.T
    if turns:
        n = turns[0]
    else:
        _, s, Vt = np.linalg.svd(np.array(slides).reshape(-1, 3), full_matrices=True)
        tumbling = tumbling or (s > 1e-9).sum() == 3
        n = Vt[2]
    in_plane = all(np.linalg.norm(np.cross(n, t)) < 1e-7 for t in turns) and all(abs(n @ s) < 1e-7 for s in slides)
    return ((float(n[0]), float(n[1]), float(n[2])) if in_plane and not tumbling else None), turned
