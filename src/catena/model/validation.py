"""Validation: every fault of a mechanism as one sentence that names the record, the value found,
and what is allowed.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from weakref import WeakValueDictionary

import numpy as np

from ..errors import MechanismError, QuantityError, unknown
from ..registry import loaded
from .bodies import Body
from .dimension_analysis import faults as dimension_faults
from .dimensions import si_powers
from .flexible import discretise
from .mechanism import GROUND, Mechanism
from .motions import Motion
from .planarity import plane
from .validation_beams import flexible_faults
from .validation_joints import joint_faults, pose_fault, unused
from .validation_loads import load_faults
from .validation_shapes import shape_faults
from .values import value_of

# what rooms above this one find wrong, where a mechanism has any of these: field -> function
FURTHER_FAULTS = {
    "contacts": "catena.collision:contact_faults",
    "sensors": "catena.model.sensor_places:sensor_faults",
}
MAX_FAULTS = 1000  # faults of one mechanism that are reported; the search ends there
# mechanisms without faults, by their id
_faultless: WeakValueDictionary[int, Mechanism] = WeakValueDictionary()


def checked(m: Mechanism) -> Mechanism:
    """Return the mechanism; raise MechanismError with all faults where it has any."""
    if found := faults(m):
        raise MechanismError(
            f"mechanism {m.name!r} has {len(found)} fault{'s' * (len(found) > 1)}:", found
        )
    return m


def faults(m: Mechanism) -> list[str]:
    """Return all faults (at most MAX_FAULTS), in the order of the mechanism's records. A mechanism
    that has none is remembered, as it cannot change.
    """
    if _faultless.get(id(m)) is m:
        return []
    if not (found := _found(m)):
        _faultless[id(m)] = m
    return found


def _found(m: Mechanism) -> list[str]:
    if found := list(islice(_faults(m), MAX_FAULTS)):
        return found
    try:
        discretised = discretise(m)  # loads may name coordinates of flexible bodies
    except MechanismError as why:
        return [str(why)]
    found = list(islice(load_faults(discretised), MAX_FAULTS))
    if not found and m.planar and plane(discretised) is None:
        found.append("it is declared planar, but its joints do not all move in one plane")
    return found


def _faults(m: Mechanism) -> Iterator[str]:
    yield from _names(m)
    yield from _numbers(m)
    yield from _parameters(m)
    for b in m.bodies:
        yield from _body(b, m)
    yield from flexible_faults(m)
    yield from joint_faults(m)
    yield from _tree(m)
    yield from shape_faults(m)
    for f in m.frames:
        if f.body != GROUND and f.body not in m._bodies:
            yield f"frame {f.name!r}: {unknown('body', f.body, m._bodies)}"
        if fault := pose_fault(f.pose):
            yield f"frame {f.name!r}: its pose {fault}"
    for field, where in FURTHER_FAULTS.items():
        if getattr(m, field):
            yield from loaded(where)(m)
    yield from _units(m)


def doubts(m: Mechanism) -> list[str]:
    """Return a sentence for each thing that is allowed but suspicious: impossible inertias in a
    file of another tool, and joints whose acceleration no force determines.
    """
    impossible = [fault for b in m.bodies if m.as_found for fault in _inertia(b, m)]
    return [*impossible, *_weightless(m), *unused(m)]


def _names(m: Mechanism) -> Iterator[str]:
    for what, names in (
        ("bodies", [b.name for b in m.bodies]),
        ("joints", [j.name for j in (*m.joints, *m.loops)]),
        ("frames", [f.name for f in m.frames]),
    ):
        for name, count in Counter(names).items():
            if count > 1:
                yield f"{count} {what} are called {name!r}; give each its own name"
            if not isinstance(name, str) or not name:
                yield f"one of the {what} has no name; names are texts of at least one letter"
    yield from _coordinate_names(m)
    for f in m.frames:
        if f.name in m._bodies or f.name == GROUND:
            yield f"frame {f.name!r} has the name of a body; give it its own"
    if GROUND in m._bodies:
        yield (
            f"a body is called {GROUND!r}, which is the name of what stands still; give it another"
        )
    if not m.bodies:
        yield "it has no body; give it at least one"


def _coordinate_names(m: Mechanism) -> Iterator[str]:
    """Yield the joints whose name is that of another joint's coordinate, as "u.first" where a
    universal joint "u" exists.
    """
    owners: dict[str, str] = {}
    for j in (j for j in m.joints if j.sound):  # of others it is said already
        for name in (
            dict.fromkeys((*j.coordinate_names, *j.speed_names)) if j.mimic is None and j.nv else ()
        ):
            if owners.setdefault(name, j.name) != j.name:
                yield (
                    f"joints {owners[name]!r} and {j.name!r} both have a coordinate called"
                    f" {name!r}; give one another name"
                )


def _numbers(m: Mechanism) -> Iterator[str]:
    if not all(math.isfinite(x) for x in m.gravity if isinstance(x, float)):
        yield f"gravity is {m.gravity}; it takes three finite numbers, m/s2"
    for name, value in m.parameters.items():
        if not math.isfinite(value):
            yield f"parameter {name!r} is {value}; it takes a finite number"


def _parameters(m: Mechanism) -> Iterator[str]:
    used: dict[str, str] = {}
    for where, x in m.scalars():
        for symbol in getattr(x, "free_symbols", ()):
            used.setdefault(str(symbol), where)
    for name, where in used.items():
        if name not in m.parameters:
            yield f"{where} uses {unknown('parameter', name, m.parameters)}"


def _units(m: Mechanism) -> Iterator[str]:
    """Yield a fault for each unit that is not valid or belongs to no parameter; where there are
    none, the faults of the dimensional analysis.
    """
    found = []
    for name, unit in m.units.items():
        if name not in m.parameters:
            found.append(f"units name {unknown('parameter', name, m.parameters)}")
        try:
            si_powers(unit)
        except QuantityError as why:
            found.append(f"the unit of parameter {name!r}: {why}")
    yield from found or dimension_faults(m)


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


def impossible_inertia(I: Sequence[float], tolerance: float = 1e-6) -> str:
    """Return the reason why no body can have this inertia (xx, xy, xz, yy, yz, zz); "" for a
    possible one.
    """
    size = max(1e-12, *(abs(x) for x in I))  # below it is the round-off of an inertia that is zero
    xx, xy, xz, yy, yz, zz = (x / size for x in I)
    a, b, c = np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]).tolist()
    shown = f"principal moments {a * size:.6g}, {b * size:.6g}, {c * size:.6g} kg m2"
    if a < -tolerance:
        return f"inertia is not positive: {shown}; each is zero or more"
    if a + b < c - tolerance:
        return (
            f"inertia breaks the triangle inequality: {shown}; the two smaller add up to at least"
            " the largest"
        )
    return ""


def _tree(m: Mechanism) -> Iterator[str]:
    carried: dict[str, list[str]] = {}
    for j in m.joints:
        carried.setdefault(j.child, []).append(j.name)
    for body, names in carried.items():
        if len(names) > 1:
            who = ", ".join(map(repr, names[:12])) + (", ..." if len(names) > 12 else "")
            yield (
                f"body {body!r} is carried by {len(names)} joints ({who}); "
                "in a tree one carries it, the others belong in loops"
            )
    if any(len(names) > 1 for names in carried.values()):
        return
    reached = _reached(m)
    for b in m.bodies:
        if b.name not in carried:
            yield f"body {b.name!r} hangs on no joint; join it to {GROUND!r} or to another body"
        elif b.name not in reached:
            yield (
                f"body {b.name!r} is not joined to {GROUND!r}: its parents lead round in a cycle or"
                " to a loose body"
            )


def _reached(m: Mechanism) -> set[str]:
    """Return the bodies to which joints lead from the ground, or from a parent that does not exist,
    which is a fault of its own.
    """
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


def _weightless(m: Mechanism) -> Iterator[str]:
    """Yield the joints that move no mass along a translation, or no mass or inertia about a
    rotation, so that no force determines their acceleration.
    """
    heavy: set[str] = set()  # bodies that carry a mass, themselves included
    inert: set[str] = set()  # a mass or an inertia: a hub without mass can be turned
    for j in reversed(m.ordered):
        b = m.body(j.child)
        if value_of(b.mass, m.parameters) or j.child in heavy:
            heavy |= {j.child, j.parent}
        if (
            j.child in heavy
            or j.child in inert
            or any(value_of(x, m.parameters) for x in b.inertia)
        ):
            inert |= {j.child, j.parent}
        if (
            not j.nv
            or j.mimic
            or j.deflection
            or any(value_of(x, m.parameters) for x in j.armature)
        ):
            continue
        slides = any(f.motion == Motion.SLIDE for f in j.freedoms)
        if j.child not in (heavy if slides else inert):
            what = "no mass" if j.child in inert else "no mass and no inertia"
            yield (
                f"joint {j.name!r} moves body {j.child!r} and what it carries, which have {what}; "
                "kinematics and prescribed motion need none; for motion from forces give them mass"
                " and inertia, or the joint a rotor inertia (armature), unless loops or contacts"
                " determine it"
            )
