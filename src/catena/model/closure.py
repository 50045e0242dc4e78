"""Closure: the constraint rows of a joint that closes a loop. `joint_kinds` says which rows each
kind has.

A loop joint stands between a frame P on one body and a frame C on another. Each row is a scalar
that must stay zero:

    ACROSS_P   d . p_PC                    no displacement along d, a direction of P
    ACROSS_C   d . p_PC                    the same, along a direction of C
    ANGLE      a . b - value               a of P and b of C keep their angle
    SCREW  a . p_PC - pitch * angle
            displacement along a follows the turn about it, angle counted from b

with p_PC the origin of C seen from P. These four make every joint of the catalogue; their rates are
in `kernels.constraint_rows`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from .motions import GENERAL, X, Y, Z, plane_of
from .pose import Scalar, Vector


class RowKind(IntEnum):
    """The four kinds of closure rows."""

    ACROSS_P = 0
    ACROSS_C = 1
    ANGLE = 2
    SCREW = 3


@dataclass(frozen=True)
class ClosureRow:
    """One constraint row of a joint that closes a loop: its kind, its vectors in P (a) and C (b),
    and its label.
    """

    kind: RowKind
    a: Vector
    b: Vector
    label: str
    value: Scalar = 0.0  # the angle's cosine, or the pitch of a screw


def named(d: Vector) -> str:
    """Return the name of a direction of the joint's frame: "x", "-z", or its components.

    >>> named((0.0, -1.0, 0.0)), named((0.6, 0.8, 0.0))
    ('-y', '(0.6, 0.8, 0)')
    """
    for letter, axis in zip("xyz", (X, Y, Z)):
        if all(abs(a - b) < 1e-12 for a, b in zip(d, axis)):
            return letter
        if all(abs(a + b) < 1e-12 for a, b in zip(d, axis)):
            return f"-{letter}"
    return f"({', '.join(f'{x + 0.0:.4g}' for x in d)})"


def across(label: str, d: Vector, kind: RowKind = RowKind.ACROSS_P) -> ClosureRow:
    """Return the constraint row that forbids displacement along d."""
    return ClosureRow(kind, d, d, f"displacement {label}")


def angle(a: Vector, b: Vector, label: str) -> ClosureRow:
    """Return the row that keeps the angle between a, fixed in P, and b, fixed in C, at its value in
    the joint's frame.
    """
    return ClosureRow(RowKind.ANGLE, a, b, f"rotation {label}", sum(x * y for x, y in zip(a, b)))


POINT = tuple(across(label, d) for label, d in (("x", X), ("y", Y), ("z", Z)))
WELD = (angle(Z, Y, "x"), angle(X, Z, "y"), angle(Y, X, "z"))  # a x b is the axis each row guards


def aligned(axis: Vector) -> tuple[ClosureRow, ...]:
    """Return the two rows that leave only turns about the axis free: the axis stays perpendicular
    to two directions of P.
    """
    x, y = plane_of(axis)
    return angle(y, axis, named(x)), angle(x, axis, named(y))


def slideways(axis: Vector) -> tuple[ClosureRow, ...]:
    """Return the rows that forbid displacement except along the axis."""
    x, y = plane_of(axis)
    return across(named(x), x), across(named(y), y)


def screw(axis: Vector, pitch: Scalar) -> ClosureRow:
    """Return the row that ties displacement along the axis to pitch (m/rad) times the turn about
    it.
    """
    return ClosureRow(RowKind.SCREW, axis, plane_of(axis)[0], "travel of the screw", pitch)


def general(sequence: Sequence[str]) -> tuple[ClosureRow, ...]:
    """Return the rows of a general joint: they fix all rotations and displacements that are not
    among its motions (names of GENERAL).
    """
    turns = "".join(name[1] for name in sequence if name[0] == "R")
    # the first axis stays with P, the second with C: they stay across
    two = {"xy": (X, Y), "xz": (X, Z), "yz": (Y, Z)}
    if len(turns) == 2:
        rows: tuple[ClosureRow, ...] = (angle(*two[turns], "between its axes"),)
    elif len(turns) == 1:
        rows = aligned(GENERAL[f"R{turns}"])
    else:
        rows = () if turns else WELD
    slides = {name for name in sequence if name[0] == "D"}
    held = (name for name in ("Dx", "Dy", "Dz") if name not in slides)
    return (
        *(
            across(f"{name[1]} of the turned frame", GENERAL[name], RowKind.ACROSS_C)
            for name in held
        ),
        *rows,
    )
