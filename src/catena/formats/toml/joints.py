"""Joints: kind, placement, axes, limits and losses; and the loops, which are joints that close."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ...errors import MechanismError
from ...model import joints as catalogue
from ...model.joints import Freedom, Motion
from ...model.mechanism import Joint, Mimic
from ...model.pose import Vector
from ..draft import MISSING
from ..units import describe
from .poses import read_pose
from .schema import DH_KEYS, JOINT_KEYS, LIMIT_KEYS, LOOP_KEYS, LOSS_KEYS, MEASURES, MIMIC_KEYS, PLACE_KEYS
from .tables import REQUIRED, Table


def read_joint(t: Table) -> Joint:
    """A [[joint]]."""
    t.only(JOINT_KEYS)
    return _joint(t)


def read_loop(t: Table) -> Joint:
    """A [[loop]]: a joint that closes the tree."""
    t.only(LOOP_KEYS)
    return _joint(t)


def _joint(t: Table) -> Joint:
    bare = Joint(
        t.text("name", instead=t.where), t.text("kind", instead="fixed"), t.text("parent", instead=MISSING),
        t.text("child", instead=MISSING),
        axis=_axis(t), sequence=_sequence(t),
    )  # fmt: skip
    freedoms = known_freedoms(bare)
    if freedoms is None:
        return replace(bare, placement=read_pose(t))  # validate() says what is wrong with its kind
    values = {"pitch": _pitch(t, bare, freedoms), **read_losses(t, bare), **read_limits(t, bare)}
    mimic = _mimic(t, freedoms)
    if "dh" in t:
        return _denavit_hartenberg(t, bare, {**values, "mimic": mimic})
    place, offset = read_pose(t), read_pose(t, "child_at", "child_rotate")
    return replace(bare, placement=place, offset=offset, mimic=mimic, **values)


def known_freedoms(j: Joint) -> tuple[Freedom, ...] | None:
    """The joint's motions, if its kind, axes and sequence are such that it has any."""
    kind = catalogue.KINDS.get(j.kind)
    if kind is None or len(j.axis) != len(kind.axes) or not set(j.sequence) <= set(catalogue.GENERAL):
        return None
    return j.freedoms


def _axis(t: Table) -> tuple[Vector, ...] | None:
    """One axis or several, as vectors of plain numbers; None for the kind's own."""
    given = t.items("axis", default=None)
    if given is None:
        return None
    rows, before = (given if all(isinstance(row, list) for row in given) else [given]), t.faults
    axes = tuple(t.components(row, "axis", "number", "xyz", symbolic=False) for row in rows)
    return axes if t.faults == before else None  # type: ignore[return-value]  # three components each


def _sequence(t: Table) -> tuple[str, ...]:
    given = t.items("sequence", default=[])
    for word in given:
        if not isinstance(word, str):
            t.fault(f"sequence holds {describe(word)}; it takes some of {', '.join(catalogue.GENERAL)}")
    return tuple(str(word) for word in given)


def _pitch(t: Table, j: Joint, freedoms: Sequence[Freedom]) -> Any:
    if any(f.motion == Motion.SCREW for f in freedoms):
        return t.number("pitch", "pitch", instead=1.0)
    if "pitch" in t:
        t.fault(f"a {j.kind} joint takes no pitch; a helical joint does")
    return 0.0


# ---------------------------------------------------------------------------------------------------- values of each speed
def read_limits(t: Table, j: Joint) -> dict[str, Any]:
    """The values of limits = {lower, upper, effort, speed} that are given."""
    table = t.table("limits")
    if table is None:
        return {}
    table.only(LIMIT_KEYS)
    return {key: _each(table, key, j, symbolic=False, infinite=True) for key in LIMIT_KEYS if key in table}


def read_losses(t: Table, j: Joint) -> dict[str, Any]:
    """The values of damping, friction and armature that are given."""
    return {key: _each(t, key, j) for key in LOSS_KEYS if key in t}


def _each(t: Table, key: str, j: Joint, **rules: bool) -> tuple[Any, ...]:
    """One value for each speed of a joint; a single value counts for all."""
    labels = [label for f in j.freedoms for label in f.speeds]
    dimensions = [_measure(key, f) for f in j.freedoms for _ in f.speeds]
    value = t.data[key]
    if not labels:
        t.fault(f"a {j.kind} joint takes no {key}: it does not move")
        return ()
    if not isinstance(value, list):
        known: dict[str, Any] = {}
        for dimension in dimensions:
            if dimension not in known:
                known[dimension] = t.scalar(value, key, dimension, **rules)
        return tuple(known[dimension] for dimension in dimensions)
    if len(value) != len(labels):
        wanted = (
            f"{len(labels)} values are wanted, [{', '.join(labels)}], or one for all" if len(labels) > 1 else "one is wanted"
        )
        t.fault(f"{key} has {len(value)} values; {wanted}")
        return (0.0,) * len(labels)
    return tuple(t.scalar(v, f"{key}.{label}", d, **rules) for v, label, d in zip(value, labels, dimensions))


def _measure(key: str, f: Freedom) -> str:
    slides, turns = MEASURES[key]
    return slides if f.motion == Motion.SLIDE else turns


def _mimic(t: Table, freedoms: Sequence[Freedom]) -> Mimic | None:
    table = t.table("mimic")
    if table is None:
        return None
    table.only(MIMIC_KEYS)
    measure = _measure("lower", freedoms[0]) if freedoms else "number"
    return Mimic(
        table.text("joint", instead=MISSING), table.number("multiplier", "number", 1.0), table.number("offset", measure, 0.0)
    )


# ---------------------------------------------------------------------------------------------------- Denavit-Hartenberg
def _denavit_hartenberg(t: Table, bare: Joint, values: dict[str, Any]) -> Joint:
    table = t.table("dh")
    if table is None:
        return bare
    table.only(DH_KEYS)
    if taken := [key for key in PLACE_KEYS if key in t]:
        t.fault(f"dh stands in place of {', '.join(taken)}; give one or the other")
    custom = table.text("custom", instead="modified")
    numbers = {key: table.number(key, "length" if key in "ad" else "angle", REQUIRED) for key in DH_KEYS[1:]}
    try:
        return Joint.from_denavit_hartenberg(
            bare.name, bare.kind, bare.parent, bare.child, custom=custom, sequence=bare.sequence, **numbers, **values
        )
    except MechanismError as why:
        t.fault(str(why).partition(": ")[2])  # it names the joint, and so do we
        return bare
