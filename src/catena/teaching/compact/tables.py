"""The tables of a compact form: the mechanism's frames with their places, motions and masses, and
the rows of its loops.

Numbers are written with six digits; symbols remain symbols. A cell that is too wide for its column
is written below the table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp

from ...equations.readable import number, upright
from ...model import ORIGIN, Motion, Pose, RowKind, named
from .frames import Frame, Frames

# A number below this, relative to the largest of its vector, is written as zero: it is rounding,
# such as that of cos(pi/2).
ROUNDING = 1e-15
WORDS = {Motion.TURN: "turn", Motion.SLIDE: "slide"}


@dataclass(frozen=True)
class Column:
    """A heading, as text and as LaTeX, and a cell for each row. words: whether cells are words and
    not mathematics.
    """

    text: str
    latex: str
    cells: tuple[str, ...]
    words: bool = False

    @property
    def empty(self) -> bool:
        """Whether all its cells are empty."""
        return not any(self.cells)


class Cells:
    """Writes numbers, vectors and tensors as cells of a table. write: writes an expression. how:
    "text" or "latex".
    """

    def __init__(self, write: Callable[[Any, bool], str], how: str):
        self.write, self.how = write, how

    def number(self, x: Any, scale: float = 0.0) -> str:
        """Return a number with six digits, or its symbols. scale: the size of the numbers next to
        it, relative to which it may be rounding.
        """
        if isinstance(x, sp.Basic) and x.free_symbols:
            largest = max(_largest(x), scale)
            rounded = x.xreplace(
                {
                    y: number(float(f"{float(y):.6g}") if abs(y) > ROUNDING * largest else 0.0)
                    for y in x.atoms(sp.Float)
                }
            )
            return self.write(rounded, False)
        shown = f"{float(x) + 0.0 if abs(x) > ROUNDING * scale else 0.0:.6g}"
        head, e, power = shown.partition("e")
        return rf"{head}\cdot 10^{{{int(power)}}}" if e and self.how == "latex" else shown

    def vector(self, xs: Sequence[Any]) -> str:
        """Return three numbers in brackets; "" where all are zero."""
        if all(x == 0 for x in xs):
            return ""
        comma = r",\," if self.how == "latex" else ", "
        scale = max(map(_largest, xs))
        return f"({comma.join(self.number(x, scale) for x in xs)})"

    def inertia(self, S: Sequence[Any]) -> str:
        """Return the diagonal of an inertia (xx, xy, xz, yy, yz, zz), followed by the products of
        inertia where they are not zero.
        """
        xx, xy, xz, yy, yz, zz = S
        diagonal = self.vector((xx, yy, zz))
        others = self.vector((xy, xz, yz))
        return f"{diagonal}; {others}" if others else diagonal

    def rotation(self, rows: Sequence[Sequence[Any]]) -> str:
        """Return an axis and an angle in degrees; the rows of the matrix where there are symbols in
        them.
        """
        if any(isinstance(x, sp.Basic) and x.free_symbols for row in rows for x in row):
            return f"[{'; '.join(self.vector(row) or '0' for row in rows)}]"
        R = np.array([[float(x) for x in row] for row in rows])
        angle, axis = _axis_angle(R)
        if abs(angle) < 1e-12:
            return ""
        gap, degree = (r"\,", r"^{\circ}") if self.how == "latex" else (" ", " deg")
        return f"{self.axis(list(axis))}{gap}{self.number(np.degrees(angle))}{degree}"

    def axis(self, d: Sequence[float]) -> str:
        """Return an axis as x, -y, or its three components."""
        short = named(tuple(float(x) for x in d))  # type: ignore[arg-type]
        return short if len(short) <= 2 else self.vector([float(x) for x in d])

    def motion(self, f: Frame) -> str:
        """Return the motion of a frame as a word: turn z, slide x, ball, or weld."""
        if f.motion is None:
            return self.word("weld")
        if f.ball:
            return self.word("ball")
        gap = r"\ " if self.how == "latex" else " "
        return f"{self.word(WORDS[f.motion.motion])}{gap}{self.axis(f.motion.axis)}"

    def word(self, x: str) -> str:
        """Return a word, upright in LaTeX."""
        return rf"\mathrm{{{x}}}" if self.how == "latex" else x

    def name(self, x: str) -> str:
        """Return the name of a body or a joint as a cell."""
        return upright(x) if self.how == "latex" else x


def _largest(x: Any) -> float:
    """Return the largest absolute number in a value."""
    return (
        max((abs(float(y)) for y in x.atoms(sp.Number)), default=1.0)
        if isinstance(x, sp.Basic)
        else abs(float(x))
    )


def _axis_angle(R: np.ndarray) -> tuple[float, np.ndarray]:
    """Return angle and axis of a rotation: an angle from -pi to pi about a unit vector whose
    largest entry is positive.
    """
    angle = float(np.arccos(np.clip((np.trace(R) - 1) / 2, -1.0, 1.0)))
    axis = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    if np.linalg.norm(axis) < 1e-9:
        w, V = np.linalg.eigh((R + R.T) / 2)
        axis = V[:, int(np.argmax(w))]
    axis = axis / np.linalg.norm(axis)
    return (angle, axis) if axis[int(np.argmax(np.abs(axis)))] > 0 else (-angle, -axis)


def frame_columns(fr: Frames, cells: Cells, coordinates: Sequence[str]) -> list[Column]:
    """Return the columns of the table of frames, one row for each frame."""
    names = [
        ", ".join(coordinates[f.q : f.q + f.nq]) if not f.ball else cells.name(f.joint.name)
        for f in fr.all
    ]
    bodies = [f.body for f in fr.all]
    found = [
        Column("i", "i", tuple(str(k + 1) for k in range(len(fr.all)))),
        Column("p", "p", tuple(str(f.carrier + 1) for f in fr.all)),
        Column("body", r"\mathrm{body}", tuple(cells.name(b.name) if b else "" for b in bodies)),
        Column("b_i", r"\mathbf{b}_i", tuple(cells.vector(f.pose.position) for f in fr.all)),
        Column("P_i", "P_i", tuple(cells.rotation(f.pose.rotation) for f in fr.all)),
        Column("motion", r"\mathrm{motion}", tuple(cells.motion(f) for f in fr.all)),
        Column("q_i", "q_i", tuple(names)),
        Column(
            "kappa_i",
            r"\kappa_i",
            tuple(
                (
                    cells.vector(f.rotor)
                    if f.ball
                    else cells.number(f.rotor[0])
                    if f.rotor and f.rotor[0] != 0
                    else ""
                )
                for f in fr.all
            ),
        ),
        Column(
            "m_i", "m_i", tuple(cells.number(b.mass) if b and b.mass != 0 else "" for b in bodies)
        ),
        Column("c_i", r"\mathbf{c}_i", tuple(cells.vector(b.com) if b else "" for b in bodies)),
        Column("I_i", "I_i", tuple(cells.inertia(b.inertia) if b else "" for b in bodies)),
    ]
    # the ground, index -1, is frame 0 of a table that counts from 1
    return [c for c in found if not c.empty]


def row_columns(fr: Frames, cells: Cells) -> list[Column]:
    """Return the columns of the table of loops: one line for the rows that fix positions in a loop,
    and one for those that fix angles.
    """
    groups: dict[tuple[str, RowKind], list[int]] = {}
    for k, row in enumerate(fr.rows):
        groups.setdefault((row.loop.name, row.kind), []).append(k)
    lines = list(groups.values())
    first = [fr.rows[ks[0]] for ks in lines]
    angle = [row.kind == RowKind.ANGLE for row in first]
    each = [[fr.rows[k] for k in ks] for ks in lines]
    found = [
        Column("k", "k", tuple(", ".join(str(k + 1) for k in ks) for ks in lines)),
        Column("loop", r"\mathrm{loop}", tuple(cells.name(row.loop.name) for row in first)),
        Column("P", "P", tuple(str(row.P + 1) for row in first)),
        Column("C", "C", tuple(str(row.C + 1) for row in first)),
        Column(
            "keeps", r"\mathrm{keeps}", tuple(cells.word("angle" if x else "place") for x in angle)
        ),
        Column(
            "y_k",
            r"\mathbf{y}_k",
            tuple(_place(cells, row.at[0], x) for row, x in zip(first, angle)),
        ),
        Column(
            "z_k",
            r"\mathbf{z}_k",
            tuple(_place(cells, row.at[1], x) for row, x in zip(first, angle)),
        ),
        Column(
            "f_k",
            r"\mathbf{f}_k",
            tuple(
                (
                    ""
                    if rows[0].kind == RowKind.ACROSS_C
                    else ", ".join(_direction(cells, x.at[0], x.a) for x in rows)
                )
                for rows in each
            ),
        ),
        Column(
            "h_k",
            r"\mathbf{h}_k",
            tuple(
                (
                    ""
                    if rows[0].kind == RowKind.ACROSS_P
                    else ", ".join(_direction(cells, x.at[1], x.b) for x in rows)
                )
                for rows in each
            ),
        ),
        Column(
            "cos_k",
            r"\gamma_k",
            tuple(
                (
                    ", ".join(cells.number(x.value) for x in rows)
                    if any(x.value != 0 for x in rows) and y
                    else ""
                )
                for rows, y in zip(each, angle)
            ),
        ),
    ]
    return [c for c in found if not c.empty]


def _place(cells: Cells, at: Pose, angle: bool) -> str:
    return "" if angle or at.position == ORIGIN else cells.vector(at.position)


def _direction(cells: Cells, at: Pose, d: Sequence[float]) -> str:
    """Return a direction of a joint's frame, along the axes of the body."""
    turned = Pose(at.rotation).point(d)
    if any(isinstance(x, sp.Basic) and x.free_symbols for x in turned):
        return cells.vector(turned)
    return cells.axis([float(x) for x in turned])
