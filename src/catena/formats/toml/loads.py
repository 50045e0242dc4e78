"""Loads and rows: [[load]] and [[row]] tables."""

from __future__ import annotations

from typing import Any

from ...errors import unknown
from ...model.loads import Bushing, Force, JointForce, JointSpring, KnifeEdge, Load, Nonholonomic, Rolling, SpeedRow, Spring
from ..draft import MISSING
from ..units import describe
from .tables import Table

LOADS = {  # kind -> its keys
    "joint_spring": ("coordinate", "stiffness", "rest", "damping"),
    "spring": ("start", "end", "stiffness", "length", "damping"),
    "bushing": ("start", "end", "stiffness", "damping"),
    "force": ("frame", "torque", "force", "axes"),
    "joint_force": ("coordinate", "force"),
}
ROWS = {"knife_edge": ("frame", "direction"), "rolling": ("frame", "radius", "axis", "normal"), "expression": ("expression",)}
SIX = ("rx", "ry", "rz", "x", "y", "z")
_MEASURES = (("angular stiffness", "stiffness"), ("angular damping", "damping"))


def read_load(t: Table) -> Load | None:
    """A [[load]]; None where its kind is not known, which is a fault."""
    kind, name = _kind(t, "load kind", LOADS), t.text("name", instead=t.where)
    if kind == "joint_spring":
        numbers = (t.number(key, "any", *more) for key, *more in (("stiffness",), ("rest",), ("damping", 0.0)))
        return JointSpring(name, t.text("coordinate", instead=MISSING), *numbers)
    if kind == "spring":
        start, end = (t.text(key, instead=MISSING) for key in ("start", "end"))
        stiffness, damping = t.number("stiffness", "stiffness"), t.number("damping", "damping", 0.0)
        return Spring(name, start, end, stiffness, t.number("length", "length"), damping)
    if kind == "bushing":
        start, end = (t.text(key, instead=MISSING) for key in ("start", "end"))
        return Bushing(name, start, end, _six(t, "stiffness", _MEASURES[0]), _six(t, "damping", _MEASURES[1], (0.0,) * 6))
    if kind == "force":
        zero = [0.0, 0.0, 0.0]
        torque, force = (tuple(_text(t, key, x) for x in t.items(key, default=zero)) for key in ("torque", "force"))
        return Force(name, t.text("frame", instead=MISSING), torque, force, t.text("axes", default="world"))
    if kind == "joint_force":
        return JointForce(name, t.text("coordinate", instead=MISSING), _text(t, "force", t.data.get("force")))
    return None


def read_row(t: Table) -> Nonholonomic | None:
    """A [[row]]; None where its kind is not known, which is a fault."""
    kind, name = _kind(t, "row kind", ROWS), t.text("name", instead=t.where)
    if kind == "knife_edge":
        return KnifeEdge(name, t.text("frame", instead=MISSING), _direction(t, "direction", None))
    if kind == "rolling":
        axes = (_direction(t, key, default) for key, default in (("axis", (0.0, 1.0, 0.0)), ("normal", (0.0, 0.0, 1.0))))
        return Rolling(name, t.text("frame", instead=MISSING), t.number("radius", "length", instead=1.0), *axes)
    return SpeedRow(name, t.text("expression", instead="0")) if kind == "expression" else None


def _kind(t: Table, what: str, kinds: dict[str, tuple[str, ...]]) -> str:
    kind = t.text("kind")
    if kind in kinds:
        t.only(("name", "kind", *kinds[kind]))
    elif kind:
        t.fault(unknown(what, kind, kinds))
    return kind


def _six(t: Table, key: str, measures: tuple[str, str], default: Any = None) -> tuple[Any, ...]:
    values = t.items(key, default=default) if default is not None else t.items(key)
    if len(values) != 6:
        t.fault(f"{key} has {len(values)} values; six are wanted, [{', '.join(SIX)}]")
        return (0.0,) * 6
    return tuple(t.scalar(x, f"{key}.{n}", measures[k // 3]) for k, (x, n) in enumerate(zip(values, SIX)))


def _direction(t: Table, key: str, default: Any) -> Any:
    values = t.vector(key, "number", default, symbolic=False) if default is not None else t.vector(key, "number", symbolic=False)
    if not any(values):
        if key in t:
            t.fault(f"{key} has no direction; give three numbers that are not all zero")
        return (1.0, 0.0, 0.0)
    return values


def _text(t: Table, key: str, value: Any) -> str | float:
    """A number, or a text of t, q_..., v_... and parameters; units stand in numbers only by being SI."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, str) and value:
        return value
    t.fault(f"{key} holds {describe(value)}; a number (SI) or an expression of t, q_NAME, v_NAME and parameters is wanted")
    return 0.0
