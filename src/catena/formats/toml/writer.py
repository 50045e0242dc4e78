"""Writer: a mechanism as the text of a TOML file, with all digits of every number, and expressions
as expressions.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence

from ...errors import MechanismError
from ...model import (
    IDENTITY,
    ORIGIN,
    Body,
    CollisionFilter,
    Frame,
    Joint,
    Mechanism,
    Pose,
    Scalar,
    Shape,
    contradictions,
    write,
)
from ...model import JOINT_KINDS as KINDS
from ...model.flexible import discretise, whole
from ...model.loads import Keyed
from .beams import beam_pairs
from .contacts import contact_pairs
from .schema import LIMIT_KEYS, LOSS_KEYS
from .sensors import sensor_pairs

Pairs = Iterator[tuple[str, str]]
_DEFAULTS = {
    "lower": -math.inf,
    "upper": math.inf,
    "effort": math.inf,
    "speed": math.inf,
} | dict.fromkeys(LOSS_KEYS, 0.0)

_RATIO = "m/m"  # the unit of a plain number, where one is given: without it any unit would do


def text(m: Mechanism) -> str:
    """Return the text of the file. Reading it gives an equal mechanism."""
    return "\n".join(_lines(m)) + "\n"


def companion(m: Mechanism) -> str:
    """Return the text of a companion file with the properties that another format cannot express.
    It includes the shapes of bodies and the armatures of joints.
    """
    lines = [
        "# Written by catena. All values are SI: m, kg, s, rad.",
        f"gravity = {_list(m.gravity)}",
        *_unchecked(m),
    ]
    if m.parameters:
        lines += [
            "\n[parameters]",
            *_parameters(m),
        ]
    if m.collisions != CollisionFilter():
        lines += [
            "\n[collisions]",
            *(f"{key} = {value}" for key, value in _collisions(m.collisions)),
        ]
    bodies = (
        ("body", _named(b.name, "shapes", f"[{', '.join(_table(_shape(s)) for s in b.shapes)}]"))
        for b in m.bodies
    )
    joints = (("joint", _named(j.name, "armature", _each(j.armature))) for j in m.joints)
    return "\n".join([*lines, *_headed([*bodies, *joints, *_things(m, m)])]) + "\n"


def _named(name: str, key: str, value: str) -> Pairs:
    yield "name", _string(name)
    yield key, value


def _lines(m: Mechanism) -> Iterator[str]:
    yield "# Written by catena. All values are SI: m, kg, s, rad."
    yield f"name = {_string(m.name)}"
    yield f"gravity = {_list(m.gravity)}"
    if m.planar is not None:
        yield f"planar = {str(m.planar).lower()}"
    if m.as_found:
        yield "as_found = true"
    yield from _unchecked(m)
    if m.notes:
        yield f"notes = [\n{''.join(f'    {_string(note)},{chr(10)}' for note in m.notes)}]"
    if m.parameters:
        yield "\n[parameters]"
        yield from _parameters(m)
    if m.collisions != CollisionFilter():
        yield "\n[collisions]"
        yield from (f"{key} = {value}" for key, value in _collisions(m.collisions))
    given = _as_given(m)
    yield from _headed(
        [
            *(("body", _body(b)) for b in given.bodies),
            *(("joint", _joint(j)) for j in given.joints),
            *_things(given, m),
        ]
    )


def _unchecked(m: Mechanism) -> Iterator[str]:
    """Return the key that allows parameters without unit to be used as different quantities: in
    Python a length of 1 m is the number 1, and m*l**2 is m.
    """
    if contradictions(m):
        yield "check_dimensions = false"


def _parameters(m: Mechanism) -> Iterator[str]:
    for name, value in m.parameters.items():
        unit = m.units.get(name)
        unit = _RATIO if unit == "" else unit
        yield f"{_key(name)} = {_string(f'{value!r} {unit}') if unit else _value(value)}"


def _things(given: Mechanism, m: Mechanism) -> Iterator[tuple[str, Pairs]]:
    """Yield everything but bodies and joints: frames, loops and loads as given, rows, constraints,
    shapes of the ground, contacts, sensors.
    """
    yield from (("frame", _frame(f)) for f in given.frames)
    yield from (("loop", _joint(j)) for j in given.loops)
    yield from (("load", _load(x)) for x in given.loads)
    yield from (("row", _load(x)) for x in m.nonholonomic)
    yield from (("constraint", _load(x)) for x in m.constraints)
    yield from (("ground", _shape(s)) for s in m.ground)
    yield from (("contact", contact_pairs(c, _value, _string)) for c in m.contacts)
    yield from (("sensor", sensor_pairs(s, _value, _string)) for s in m.sensors)


def _headed(written: Iterable[tuple[str, Pairs]]) -> Iterator[str]:
    """Yield tables of arrays under their headings."""
    for heading, pairs in written:
        yield f"\n[[{heading}]]"
        yield from (f"{key} = {value}" for key, value in pairs)


def _as_given(m: Mechanism) -> Mechanism:
    """Return the mechanism with flexible bodies restored from their pieces, where that loses
    nothing; pieces that were changed after `discretise` are written one by one.
    """
    given = whole(m)
    return given if given is m or discretise(given) == m else m


def _body(b: Body) -> Pairs:
    yield "name", _string(b.name)
    if b.flexible is not None:
        yield "flexible", _table(beam_pairs(b.flexible, _value, _string))
    else:
        yield "mass", _value(b.mass)
        yield "com", _list(b.com)
        yield "inertia", _list(b.inertia)
    if b.shapes:
        yield "shapes", f"[\n{''.join(f'    {_table(_shape(s))},{chr(10)}' for s in b.shapes)}]"


def _collisions(c: CollisionFilter) -> Pairs:
    for key in ("include", "exclude", "only"):
        if pairs := getattr(c, key):
            yield key, f"[{', '.join(map(_strings, pairs))}]"
    if c.groups:
        yield (
            "groups",
            _table([(_key(name), _strings(members)) for name, members in c.groups.items()]),
        )


def _shape(s: Shape) -> Pairs:
    if s.name:
        yield "name", _string(s.name)
    yield "kind", _string(s.kind)
    if s.size:
        yield "size", _list(s.size)
    yield from _pose(s.pose)
    if s.file:
        yield "file", _string(s.file)
    if s.heights:
        yield "heights", f"[{', '.join(_list(row) for row in s.heights)}]"
    if s.colour:
        yield "colour", _list(s.colour)
    if s.collides:
        yield "collides", "true"
    if not s.drawn:
        yield "drawn", "false"


def _frame(f: Frame) -> Pairs:
    yield "name", _string(f.name)
    yield "body", _string(f.body)
    yield from _pose(f.pose)


def _joint(j: Joint) -> Pairs:
    for key in ("name", "kind", "parent", "child"):
        yield key, _string(getattr(j, key))
    yield from _pose(j.placement)
    yield from _pose(j.offset, "child_at", "child_rotate")
    if j.axis != KINDS[j.kind].axes:
        yield "axis", _list(j.axis[0]) if len(j.axis) == 1 else f"[{', '.join(map(_list, j.axis))}]"
    if j.sequence:
        yield "sequence", f"[{', '.join(map(_string, j.sequence))}]"
    if KINDS[j.kind].pitched:
        yield "pitch", _value(j.pitch)
    limits = [(key, _each(getattr(j, key))) for key in LIMIT_KEYS if _differs(j, key)]
    if limits:
        yield "limits", _table(limits)
    yield from ((key, _each(getattr(j, key))) for key in LOSS_KEYS if _differs(j, key))
    if j.mimic and j.mimic.function:
        f = j.mimic.function
        function = [
            ("kind", _string(f.kind)),
            *([("x", _list(f.x))] if f.x else []),
            ("y", _list(f.y)),
        ]
        yield "mimic", _table([("joint", _string(j.mimic.joint)), ("function", _table(function))])
    elif j.mimic:
        numbers = [(key, _value(getattr(j.mimic, key))) for key in ("multiplier", "offset")]
        yield "mimic", _table([("joint", _string(j.mimic.joint)), *numbers])


def _load(thing: Keyed) -> Pairs:
    if not thing.written:
        raise MechanismError(
            f"{thing.kind} {thing.name!r} is made by catena and cannot stand in a file without its"
            " flexible body"
        )
    yield "name", _string(thing.name)
    yield "kind", _string(thing.kind)
    for key in thing.schema():
        value = getattr(thing, key)
        if value is not None and not (isinstance(value, tuple | str) and not value):
            yield (
                key,
                f"[{', '.join(map(_mixed, value))}]" if isinstance(value, tuple) else _mixed(value),
            )


def _mixed(x: Scalar | str) -> str:
    return _string(x) if isinstance(x, str) else _value(x)


def _differs(j: Joint, key: str) -> bool:
    return any(x != _DEFAULTS[key] for x in getattr(j, key))


def _pose(X: Pose, at: str = "at", rotate: str = "rotate") -> Pairs:
    if X.position != ORIGIN:
        yield at, _list(X.position)
    if X.rotation != IDENTITY:
        yield rotate, _rotation(X)


def _rotation(X: Pose) -> str:
    """Return roll, pitch and yaw if they give exactly the same matrix, else the matrix."""
    if all(isinstance(x, float) for row in X.rotation for x in row):
        angles = X.roll_pitch_yaw()
        if Pose.rpy(*angles).rotation == X.rotation:
            return f"{{ rpy = {_list(angles)} }}"
    return f"{{ matrix = [{', '.join(map(_list, X.rotation))}] }}"


# --- TOML itself
def _value(x: Scalar) -> str:
    return repr(float(x)) if isinstance(x, (int, float)) else _string(write(x))


def _list(values: Iterable[Scalar]) -> str:
    return f"[{', '.join(map(_value, values))}]"


def _strings(values: Iterable[str]) -> str:
    return f"[{', '.join(map(_string, values))}]"


def _each(values: Sequence[Scalar]) -> str:
    return _value(values[0]) if all(x == values[0] for x in values) else _list(values)


def _table(pairs: Iterable[tuple[str, str]]) -> str:
    return f"{{ {', '.join(f'{key} = {value}' for key, value in pairs)} }}"


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _string(name)


def _string(text: str) -> str:
    """Return a TOML basic string: JSON's escapes, and DEL, which JSON does not escape."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
