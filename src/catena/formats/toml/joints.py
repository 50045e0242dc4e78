"""Joints: kind, placement, axes, limits and losses; and loops, which are joints that close the
tree.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ...errors import MechanismError
from ...model import JOINT_KINDS as KINDS
from ...model import (
    MEASURES,
    CoordinateFunction,
    Freedom,
    Joint,
    Mimic,
    Motion,
    Scalar,
    Vector,
    slides,
)
from ..draft import MISSING
from ..units import describe
from .poses import read_pose
from .schema import COORDINATE_FUNCTION, DH, JOINT, LIMIT_KEYS, LOOP, LOSS_KEYS, MIMIC, PLACE_KEYS
from .tables import REQUIRED, Table


def read_joints(top: Table) -> tuple[Joint, ...]:
    """Return the joints of all [[joint]] tables. Mimics are read last, because their units depend
    on both joints.
    """
    tables = list(top.tables("joint"))
    for t in tables:
        t.only(JOINT.names)
    joints = [_joint(t) for t in tables]
    named = {j.name: j for j in joints}
    top.ledger.slides |= slides(joints)
    return tuple(
        replace(j, mimic=_mimic(t, j, named)) if "mimic" in t else j for t, j in zip(tables, joints)
    )


def read_loop(t: Table) -> Joint:
    """Return the joint of a [[loop]], which closes the tree."""
    t.only(LOOP.names)
    return _joint(t)


def _joint(t: Table) -> Joint:
    bare = Joint(
        t.text("name", instead=t.where),
        t.text("kind", instead="fixed"),
        t.text("parent", instead=MISSING),
        t.text("child", instead=MISSING),
        axis=_axis(t),
        sequence=_sequence(t),
    )
    if not bare.sound:
        return replace(bare, placement=read_pose(t))  # validate() says what is wrong with its kind
    values = {"pitch": _pitch(t, bare), **read_losses(t, bare), **read_limits(t, bare)}
    if "dh" in t:
        return _denavit_hartenberg(t, bare, values)
    place = read_pose(t)
    offset = read_pose(t, "child_at", "child_rotate")
    return replace(bare, placement=place, offset=offset, **values)


def _axis(t: Table) -> tuple[Vector, ...] | None:
    """Return one axis or several, as vectors of plain numbers; None for the default of the kind."""
    given = t.items("axis", default=None)
    if given is None:
        return None
    rows = given if all(isinstance(row, list) for row in given) else [given]
    before = t.faults
    axes = tuple(t.components(row, "axis", "number", "xyz", symbolic=False) for row in rows)
    return axes if t.faults == before else None  # three components each


def _sequence(t: Table) -> tuple[str, ...]:
    given = t.items("sequence", default=[])
    for word in given:
        if not isinstance(word, str):
            t.fault(f'sequence holds {describe(word)}; it takes texts, such as "Rx"')
    return tuple(str(word) for word in given)


def _pitch(t: Table, j: Joint) -> Scalar:
    if KINDS[j.kind].pitched:
        return t.number("pitch", "pitch", instead=1.0)
    if "pitch" in t:
        t.fault(
            f"a {j.kind} joint takes no pitch; a"
            f" {' or '.join(k for k in KINDS if KINDS[k].pitched)} joint does"
        )
    return 0.0


# --- values of each speed
def read_limits(t: Table, j: Joint) -> dict[str, Scalar]:
    """Return the values of limits = {lower, upper, effort, speed} that are given."""
    table = t.table("limits")
    if table is None:
        return {}
    table.only(LIMIT_KEYS)
    return {
        key: _each(table, key, j, symbolic=False, infinite=True)
        for key in LIMIT_KEYS
        if key in table
    }


def read_losses(t: Table, j: Joint) -> dict[str, Scalar]:
    """Return the values of damping, friction and armature that are given."""
    return {key: _each(t, key, j) for key in LOSS_KEYS if key in t}


def _each(t: Table, key: str, j: Joint, **rules: bool) -> tuple[Scalar, ...]:
    """Return one value for each speed of a joint; a single value is used for all."""
    labels = [label for f in j.freedoms for label in f.speeds]
    dimensions = [_measure(key, f) for f in j.freedoms for _ in f.speeds]
    value = t.data[key]
    if not labels:
        t.fault(f"a {j.kind} joint takes no {key}: it does not move")
        return ()
    if not isinstance(value, list):
        known: dict[str, Scalar] = {}
        for dimension in dimensions:
            if dimension not in known:
                known[dimension] = t.scalar(value, key, dimension, **rules)
        return tuple(known[dimension] for dimension in dimensions)
    if len(value) != len(labels):
        wanted = (
            f"{len(labels)} values are wanted, [{', '.join(labels)}], or one for all"
            if len(labels) > 1
            else "one is wanted"
        )
        t.fault(f"{key} has {len(value)} values; {wanted}")
        return (0.0,) * len(labels)
    return tuple(
        t.scalar(v, f"{key}.{label}", d, **rules) for v, label, d in zip(value, labels, dimensions)
    )


def _measure(key: str, f: Freedom) -> str:
    slides, turns = MEASURES[key]
    return slides if f.motion == Motion.SLIDE else turns


def _mimic(t: Table, j: Joint, named: Mapping[str, Joint]) -> Mimic | None:
    """Return the Mimic of a joint. Its multiplier has the unit of its own coordinate per unit of
    the leader's: a number, m/rad or rad/m.
    """
    table = t.table("mimic")
    if table is None or not j.sound:
        return None
    table.only(MIMIC.names)
    leader = named.get(table.text("joint", instead=MISSING))
    if "function" in table:
        return Mimic(str(table.data.get("joint") or MISSING), function=_function(table))
    own, other = (
        _measure("lower", x.freedoms[0]) if x and x.sound and x.freedoms else ""
        for x in (j, leader)
    )
    ratio = {("length", "angle"): "pitch", ("angle", "length"): "turning per length"}.get(
        (own, other), "number" if other else "any"
    )
    multiplier = table.number("multiplier", ratio, 1.0)
    offset = table.number("offset", own or "number", 0.0)
    return Mimic(str(table.data.get("joint") or MISSING), multiplier, offset)


def _function(t: Table) -> CoordinateFunction | None:
    """Return the function given as { kind = "spline", x = [...], y = [...] } in SI, or as { kind =
    "polynomial", y = [...] } with coefficients, lowest first.
    """
    table = t.table("function")
    if table is None:
        return None
    table.only(COORDINATE_FUNCTION.names)
    before = table.faults
    kind = table.text("kind")
    x, y = (
        [table.scalar(value, key, "any", symbolic=False) for value in table.items(key, [])]
        for key in ("x", "y")
    )
    if t.data.keys() & {"multiplier", "offset"}:
        table.fault("it stands in place of multiplier and offset; give one or the other")
    try:
        return CoordinateFunction(kind, tuple(x), tuple(y)) if table.faults == before else None
    except MechanismError as why:
        table.fault(str(why).partition(": ")[2])
        return None


# --- Denavit-Hartenberg
def _denavit_hartenberg(t: Table, bare: Joint, values: dict[str, Scalar]) -> Joint:
    table = t.table("dh")
    if table is None:
        return bare
    table.only(DH.names)
    if taken := [key for key in PLACE_KEYS if key in t]:
        t.fault(f"dh stands in place of {', '.join(taken)}; give one or the other")
    custom = table.text("custom", instead="modified")
    numbers = {
        key: table.number(key, "length" if key in "ad" else "angle", REQUIRED)
        for key in DH.names[1:]
    }
    try:
        return Joint.from_denavit_hartenberg(
            bare.name,
            bare.kind,
            bare.parent,
            bare.child,
            custom=custom,
            sequence=bare.sequence,
            **numbers,
            **values,
        )
    except MechanismError as why:
        t.fault(str(why).partition(": ")[2])  # it names the joint, and so do we
        return bare
