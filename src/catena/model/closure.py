"""The joint catalogue, second page: what each kind of joint forbids, as rows, when it closes a loop.

A loop joint stands between a frame P on one body and a frame C on another. Each row is a scalar that must stay zero:

    ACROSS_P   d . p_PC                    no displacement along d, a direction of P
    ACROSS_C   d . p_PC                    the same, along a direction of C
    ANGLE      a . b - value               a of P and b of C keep their angle
    SCREW      a . p_PC - pitch * angle    displacement along a follows the turn about it, angle counted from b

with p_PC the origin of C seen from P. These four make every joint of the catalogue; their rates are in
`kernels.constraints`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum

from .joints import GENERAL, X, Y, Z, _plane
from .pose import Scalar, Vector


class RowKind(IntEnum):
    """The four kinds of rows."""

    ACROSS_P = 0
    ACROSS_C = 1
    ANGLE = 2
    SCREW = 3


@dataclass(frozen=True)
class Row:
    """One forbidden direction of a joint: its kind, its vectors in P (a) and C (b), and how it is called."""

    kind: RowKind
    a: Vector
    b: Vector
    label: str
    value: Scalar = 0.0  # the angle's cosine, or the pitch of a screw


def _across(label: str, d: Vector, kind: RowKind = RowKind.ACROSS_P) -> Row:
    return Row(kind, d, d, f"displacement {label}")


def _angle(a: Vector, b: Vector, label: str) -> Row:
    return Row(RowKind.ANGLE, a, b, f"rotation {label}", sum(x * y for x, y in zip(a, b)))


_POINT = tuple(_across(label, d) for label, d in (("x", X), ("y", Y), ("z", Z)))
_WELD = (_angle(Z, Y, "x"), _angle(X, Z, "y"), _angle(Y, X, "z"))  # a x b is the axis each row guards


def _aligned(axis: Vector) -> tuple[Row, ...]:
    """Only turns about the axis: it stays across the two directions of P that it stood across."""
    x, y = _plane(axis)
    return _angle(y, axis, "about the first direction across"), _angle(x, axis, "about the second direction across")


def _slideways(axis: Vector) -> tuple[Row, ...]:
    x, y = _plane(axis)
    return _across("along the first direction across", x), _across("along the second direction across", y)


def _screw(axis: Vector, pitch: Scalar) -> Row:
    return Row(RowKind.SCREW, axis, _plane(axis)[0], "travel of the screw", pitch)


def _general(axes: Sequence[Vector], pitch: Scalar, sequence: Sequence[str]) -> tuple[Row, ...]:
    turns = "".join(name[1] for name in sequence if name[0] == "R")
    two = {"xy": (X, Y), "xz": (X, Z), "yz": (Y, Z)}  # the first axis stays with P, the second with C: they stay across
    if len(turns) == 2:
        rows: tuple[Row, ...] = (_angle(*two[turns], "between its axes"),)
    elif len(turns) == 1:
        rows = _aligned(GENERAL[f"R{turns}"])
    else:
        rows = () if turns else _WELD
    slides = {name for name in sequence if name[0] == "D"}
    held = (name for name in ("Dx", "Dy", "Dz") if name not in slides)
    return (*(_across(f"{name[1]} of the turned frame", GENERAL[name], RowKind.ACROSS_C) for name in held), *rows)


CLOSURES: dict[str, Callable[[Sequence[Vector], Scalar, Sequence[str]], tuple[Row, ...]]] = {
    "fixed": lambda a, h, s: (*_POINT, *_WELD),
    "revolute": lambda a, h, s: (*_POINT, *_aligned(a[0])),
    "prismatic": lambda a, h, s: (*_slideways(a[0]), *_WELD),
    "helical": lambda a, h, s: (*_slideways(a[0]), *_aligned(a[0]), _screw(a[0], h)),
    "cylindrical": lambda a, h, s: (*_slideways(a[0]), *_aligned(a[0])),
    "universal": lambda a, h, s: (*_POINT, _angle(a[0], a[1], "between its axes")),
    "gimbal": lambda a, h, s: _POINT,
    "ball": lambda a, h, s: _POINT,
    "planar": lambda a, h, s: (_across("off the plane", a[0]), *_aligned(a[0])),
    "free": lambda a, h, s: (),
    "general": _general,
}


def rows(kind: str, axes: Sequence[Vector], pitch: Scalar, sequence: Sequence[str]) -> tuple[Row, ...]:
    """What a joint of this kind forbids when it closes a loop: six rows less its freedoms."""
    return CLOSURES[kind](axes, pitch, sequence)
