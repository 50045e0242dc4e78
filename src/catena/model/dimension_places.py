"""Places: the fields of a mechanism that may be expressions of parameters, and the dimension that
each of them must have.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from ..errors import ExpressionError
from .carriers import place_names
from .dimensions import si_powers, without_radian
from .expression_syntax import RESERVED, names_in
from .expressions import parse
from .freedom_units import MEASURES, coordinate_units, slides, speed_units
from .joints import Joint
from .loads import identifier
from .loads.keys import Key, Keyed
from .mechanism import Mechanism
from .motions import Motion
from .pose import Pose, Scalar
from .shapes import KINDS, Shape

INERTIA = ("xx", "xy", "xz", "yy", "yz", "zz")
_LAWS = ("expression", "expressions", "text", "position", "profile")


class Place(NamedTuple):
    """A value of a mechanism. where: the record that holds it. what: its key. value: the
    expression. dimension: the one that is expected ("any": none). law: whether it is an expression
    of time and coordinates.
    """

    where: str
    what: str
    value: Scalar
    dimension: str
    law: bool = False


def places(m: Mechanism) -> Iterator[Place]:
    """Yield every value that contains a parameter."""
    for place in _all(m):
        if getattr(place.value, "free_symbols", None):
            yield place
    yield from _laws(m)


def signals(m: Mechanism) -> dict[str, dict[str, Fraction]]:
    """Return {name: powers of base units, without radians} of those names, other than parameters,
    that expressions of time and coordinates may use: t, q_..., v_... and the coordinates of frames.
    """
    found = {"t": si_powers("s"), "angle": {}}
    for j in (j for j in m.joints if j.sound):
        for letter, names, units in (
            ("q", j.coordinate_names, coordinate_units(j)),
            ("v", j.speed_names, speed_units(j)),
        ):
            for name, unit in zip(names, units):
                found[f"{letter}_{identifier(name)}"] = without_radian(si_powers(unit))
    return found | dict.fromkeys(place_names(m), si_powers("m"))


def _all(m: Mechanism) -> Iterator[Place]:
    yield from (
        Place("the mechanism", f"gravity.{a}", x, "acceleration") for a, x in zip("xyz", m.gravity)
    )
    for b in m.bodies:
        where = f"body {b.name!r}"
        yield from _beam(where, b.flexible) if b.flexible is not None else _rigid(where, b)
        yield from (p for s in b.shapes for p in _shape(f"{where}: shape {s.kind!r}", s))
    for what, joints in (("joint", m.joints), ("loop", m.loops)):
        yield from (p for j in joints for p in _joint(f"{what} {j.name!r}", j, m))
    for f in m.frames:
        yield from _pose(f"frame {f.name!r}", f.pose)
    yield from (p for s in m.ground for p in _shape(f"ground: shape {s.kind!r}", s))
    for what, keyed in _keyed(m):
        yield from _numbers(f"{what} {keyed.name!r}", keyed, m)


def _rigid(where: str, b: Scalar) -> Iterator[Place]:
    yield Place(where, "mass", b.mass, "mass")
    yield from (Place(where, f"com.{a}", x, "length") for a, x in zip("xyz", b.com))
    yield from (Place(where, f"inertia.{a}", x, "inertia") for a, x in zip(INERTIA, b.inertia))


def _beam(where: str, beam: Scalar) -> Iterator[Place]:
    for key, dimension in (
        ("length", "length"),
        ("rhoA", "line density"),
        ("EA", "force"),
        ("GJ", "bending stiffness"),
        ("rhoJ", "line inertia"),
        ("damping", "number"),
    ):
        yield Place(f"{where}: flexible", key, getattr(beam, key), dimension)
    for x in beam.EI if isinstance(beam.EI, tuple) else (beam.EI,):
        yield Place(f"{where}: flexible", "EI", x, "bending stiffness")


def _shape(where: str, s: Shape) -> Iterator[Place]:
    kind = KINDS.get(s.kind)
    if kind is not None:
        yield from (Place(where, f"size.{n}", x, kind.measure) for n, x in zip(kind.sizes, s.size))
    yield from _pose(where, s.pose)


def _pose(where: str, X: Pose, at: str = "at") -> Iterator[Place]:
    yield from (Place(where, f"{at}.{a}", x, "length") for a, x in zip("xyz", X.position))
    turned = (x for row in X.rotation for x in row)
    yield from (Place(where, f"the rotation next to {at}", x, "number") for x in turned)


def _joint(where: str, j: Joint, m: Mechanism) -> Iterator[Place]:
    yield from _pose(where, j.placement)
    yield from _pose(where, j.offset, "child_at")
    yield Place(where, "pitch", j.pitch, "pitch")
    if not j.sound:
        return
    slides = [f.motion == Motion.SLIDE for f in j.freedoms for _ in f.speeds]
    for key in ("damping", "friction", "armature"):
        for x, slide in zip(getattr(j, key), slides):
            yield Place(where, key, x, MEASURES[key][0 if slide else 1])
    if j.mimic is not None and slides:
        yield Place(f"{where}: mimic", "offset", j.mimic.offset, "length" if slides[0] else "angle")
        leader = m._joints.get(j.mimic.joint)
        if leader is not None and leader.sound and leader.freedoms:
            other = leader.freedoms[0].motion == Motion.SLIDE
            ratio = {(True, False): "pitch", (False, True): "turning per length"}
            dimension = ratio.get((slides[0], other), "number")
            yield Place(f"{where}: mimic", "multiplier", j.mimic.multiplier, dimension)


# --- loads, rows and constraints
def _keyed(m: Mechanism) -> Iterator[tuple[str, Keyed]]:
    for what, members in (
        ("load", m.loads),
        ("row", m.nonholonomic),
        ("constraint", m.constraints),
    ):
        yield from ((what, x) for x in members)


def _numbers(where: str, x: Keyed, m: Mechanism) -> Iterator[Place]:
    for name, key in x.schema().items():
        value = getattr(x, name)
        if key.sort == "number":
            yield Place(where, name, value, measure_of(x, key, m))
        elif key.sort == "numbers" and isinstance(value, tuple):
            each = key.measure if isinstance(key.measure, tuple) else (key.measure,) * len(value)
            yield from (Place(where, name, v, d) for v, d in zip(value, each))


def measure_of(x: Keyed, key: Key, m: Mechanism) -> str:
    """Return the dimension of a field. A dimension with |, such as "length|angle", is the first
    where the coordinate that the record names is a translation, and the second where it is a
    rotation.
    """
    slide, _, turn = str(key.measure).partition("|")
    if not turn:
        return slide
    moving = slides(m.joints)
    for name, k in x.schema().items():
        if k.sort in ("coordinate", "speed") and getattr(x, name) in moving:
            return slide if moving[getattr(x, name)] else turn
    return "any"


def _laws(m: Mechanism) -> Iterator[Place]:
    if not m.parameters:
        return
    for what, x in _keyed(m):
        for name, key in x.schema().items():
            if key.sort in _LAWS:
                value = getattr(x, name)
                for text in value if isinstance(value, tuple) else (value,):
                    if isinstance(text, str) and names_in(text) & m.parameters.keys():
                        yield from _law(f"{what} {x.name!r}", name, text, measure_of(x, key, m))


def _law(where: str, what: str, text: str, dimension: str) -> Iterator[Place]:
    try:
        found = parse(text, names_in(text) - RESERVED)
    except ExpressionError:
        return  # validation says so
    if found.free_symbols:
        yield Place(where, what, found, dimension, law=True)
