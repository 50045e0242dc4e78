"""Pairs of shapes that touch by features (corners, edges, faces), as expressions. The features of a
contact point are stored as numbers in its mode, so that a change of features needs no new
compilation.

    a point   as other contact points (`contact_rows.py`), with a further guard: it stays on its
              face, or on both edges
    a patch   has no row, but a guard that falls to zero when the shapes have moved so far since the
              features were chosen that other features may touch (`collision.polyhedron_features`)

The features are chosen at events (`patch_handler.py`).
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import casadi as ca
import numpy as np

from ...collision import (
    NUMBERS,
    PLANES,
    ROUNDED_NUMBERS,
    SHALLOW,
    SIDES,
    ContactPatch,
    Feature,
    RoundedFeature,
)
from ...compiler import Tracer
from ...contact import (
    Meet,
    margins_of_rounded,
    meet_features,
    meet_rounded,
    moving,
    place_of_features,
    slant_of_rounded,
)
from .contact_rows import ContactMode, SwitchedRows, TouchingPoint, no_rows
from .guards import Guard, Meaning

OWN = len(ContactMode._fields)  # after these a mode has the numbers of its features
_FEATURE = (
    "key",
    "corner",
    "tip",
    *(f"{v}_{x}" for v in ("a", "b", "first", "second", "along") for x in "xyz"),
    *(f"side_{k}_{x}" for k in range(SIDES) for x in "pqr"),
)
_ROUND = (
    "key",
    "face",
    "along_a",
    "along_b",
    *(f"{v}_{x}" for v in "abdg" for x in "xyz"),
    *(f"limit_{k}" for k in range(6)),
    *(f"plane_{k}_{x}" for k in range(PLANES) for x in "xyzc"),
)
_PLACE = (
    "off",
    "first",
    "second",
    "turn",
    *(f"{v}_{x}" for v in ("yaw", "middle_a", "half_a", "middle_b", "half_b") for x in "xyz"),
    *(f"R_{i}{j}" for i in "xyz" for j in "xyz"),
    *(f"p_{x}" for x in "xyz"),
)


def record(*fields: str, defaults: Sequence[Any]) -> Any:
    """Return a named tuple class with these fields, which are not visible to type checkers."""
    return namedtuple("_record", fields, defaults=defaults)  # type: ignore[misc]


_Slot = record(*ContactMode._fields, *_FEATURE, defaults=(*ContactMode(), *NUMBERS))
_Rounded = record(*ContactMode._fields, *_ROUND, defaults=(*ContactMode(), *ROUNDED_NUMBERS))
_Patch = record(*_PLACE, defaults=(*(0.0,) * 19, *np.eye(3).ravel().tolist(), *(0.0,) * 3))


class WithFeatures:
    """The methods that the modes of contact points with features have in common."""

    __slots__ = ()

    word = ContactMode.word

    @property
    def opened(self) -> Any:
        """The mode with the contact open, and the same features."""
        return type(self)(*ContactMode(), *self[OWN:])  # type: ignore[call-arg, index]

    def of_features(self, numbers: Sequence[float] | None) -> Any:
        """Return the mode with the numbers of other features stored in it; None stands for no
        feature.
        """
        return type(self)(*self[:OWN], *(type(self)()[OWN:] if numbers is None else numbers))  # type: ignore[call-arg, index]

    @property
    def present(self) -> bool:
        """Whether the point has a feature; a point without one is not in use."""
        return bool(self.key > 0.5)  # type: ignore[attr-defined]


class SlotMode(_Slot, WithFeatures):  # type: ignore[valid-type, misc]
    """The mode of a point of two polyhedra: the fields of a ContactMode, then the numbers of a
    `collision.Feature`.
    """

    __slots__ = ()

    @property
    def feature(self) -> Feature:
        """The feature stored in the mode, as numbers or symbols."""
        return Feature.of(self[OWN:])


class RoundedMode(_Rounded, WithFeatures):  # type: ignore[valid-type, misc]
    """The mode of a point of a pair of shapes with radii: the fields of a ContactMode, then the
    numbers of a `collision.RoundedFeature`.
    """

    __slots__ = ()

    @property
    def feature(self) -> RoundedFeature:
        """The feature stored in the mode, as numbers or symbols."""
        return RoundedFeature.of(self[OWN:])


class PatchMode(_Patch):  # type: ignore[valid-type, misc]
    """The mode of a patch (two shapes that touch): the relative pose at which its features were
    chosen, and how far the shapes may move before they are chosen again.

    off: always 0, since a patch has no rows to switch on. first, second: the reciprocals (1/m) of
    the distance by which corners of A may move relative to B, and corners of B relative to A. turn:
    the reciprocal of the sine of the angle by which the shapes may turn. yaw (3,): see
    `collision.PatchFeatures`. middle, half (3,): centres and half sizes of boxes that contain A and
    B, m. R, p: X_BA = (R, p) at that instant, R by rows.
    """

    __slots__ = ()

    @staticmethod
    def of(
        A: Any, B: Any, reach: Sequence[float], turn: float, yaw: Any, R: Any, p: Any
    ) -> PatchMode:
        """Return the mode of a patch whose features were chosen at X_BA = (R, p). A, B: the shapes.
        reach (2,): how far their corners may move, m. turn: the sine of the angle by which they may
        turn.
        """
        blocks = [
            x for P in (A, B) for x in (P.extents.mean(axis=0), np.ptp(P.extents, axis=0) / 2.0)
        ]
        return PatchMode(
            0.0,
            1.0 / reach[0],
            1.0 / reach[1],
            1.0 / turn,
            *yaw,
            *np.concatenate(blocks),
            *np.ravel(R),
            *p,
        )


@dataclass(frozen=True)
class PatchPoint(TouchingPoint):
    """One of the contact points of a patch of two polyhedra."""

    patch: ContactPatch

    mode = SlotMode()

    def meet(self, s: Tracer, mode: Any = None) -> Meet:
        """Return the gap, the contact axes, the place and the velocity for the features stored in
        the mode.
        """
        return meet_features(s, self.patch, mode.feature, self.rough)

    def guards(
        self, part: int, mode: Any, gap: Any, u: Any, rate: Any, force: Any
    ) -> Iterator[Guard]:
        """Yield the guards of a contact point; the gap of a point without a feature is 1 m."""
        yield from super().guards(part, mode, ca.if_else(mode.key > 0.5, gap, 1.0), u, rate, force)

    def watched(self, s: Tracer, mode: Any) -> Iterator[tuple[Meaning, Any, Any]]:
        """Yield the guard that falls to zero when the contact point leaves its features: its
        distance from the ends of its face, or of both edges.
        """
        x, y = place_of_features(s, self.point.body, self.point.other, mode.feature)
        yield (
            Meaning.LEAVES_FACE,
            ca.mmin(ca.vertcat(*(p * x + q * y + r for p, q, r in mode.feature.sides))),
            1.0,
        )


@dataclass(frozen=True)
class RoundedPoint(PatchPoint):
    """One of the contact points of a pair of shapes with radii."""

    mode = RoundedMode()

    def meet(self, s: Tracer, mode: Any = None) -> Meet:
        """Return the gap, the contact axes, the place and the velocity for the features stored in
        the mode.
        """
        return meet_rounded(s, self.patch, mode.feature, self.rough)

    def watched(self, s: Tracer, mode: Any) -> Iterator[tuple[Meaning, Any, Any]]:
        """Yield the guard that falls to zero when the contact point leaves its features: when other
        features become nearer, or when crossing edges that press on each other become nearly
        parallel.
        """
        x = mode.feature
        presses = mode.closed * x.along_a * x.along_b > 0.5
        slant = ca.if_else(presses, slant_of_rounded(s, self.patch, x) / SHALLOW**2 - 1.0, 1.0)
        yield (
            Meaning.LEAVES_FACE,
            ca.mmin(ca.vertcat(*margins_of_rounded(s, self.patch, x), slant)),
            1.0,
        )


@dataclass(frozen=True)
class TouchingPatch:
    """Two shapes of a run that touch by features (a patch). points: the largest number of contact
    points they can have.
    """

    patch: ContactPatch
    points: int

    mode = PatchMode()

    @property
    def name(self) -> str:
        """The name of the patch."""
        return f"{self.patch.name} patch"

    def rows(self, s: Tracer, mode: PatchMode) -> SwitchedRows:
        """Return an empty set of constraint rows."""
        return no_rows(s)

    def row_scales(self, s: Tracer) -> list[float]:
        """Return an empty list of scales, because there are no rows."""
        return []

    def moved(self, s: Tracer, mode: PatchMode) -> ca.SX:
        """Return a value that falls from one to zero as the two shapes move away from the pose at
        which their features were chosen.
        """
        (R_A, o_A, _, _), (R_B, o_B, _, _) = (moving(s, body) for body, _ in self.patch.pair)
        first = _matrix(R_A)
        second = _matrix(R_B)
        R = second.T @ first
        p = second.T @ (ca.vertcat(*o_A) - ca.vertcat(*o_B))
        x = mode[7:]
        R0 = _matrix([x[12 + 3 * i : 15 + 3 * i] for i in range(3)])
        p0 = ca.vertcat(*x[21:24])
        one = _farthest(R - R0, p - p0, x[0:3], x[3:6])
        other = _farthest((R - R0).T, R0.T @ p0 - R.T @ p, x[6:9], x[9:12])
        Q = R @ R0.T
        skew = 0.5 * ca.vertcat(Q[2, 1] - Q[1, 2], Q[0, 2] - Q[2, 0], Q[1, 0] - Q[0, 1])
        sine = ca.sqrt(ca.sumsqr(skew))
        turn = ca.if_else(ca.trace(Q) > 1.0, sine, 2.0 - sine)
        used = ca.vertcat(
            one * mode.first,
            other * mode.second,
            turn * mode.turn,
            ca.fabs(ca.dot(skew, ca.vertcat(*mode[4:7]))),
        )
        return 1.0 - ca.mmax(used)


def _matrix(rows: Any) -> ca.SX:
    """Return a matrix of symbols from its rows."""
    return ca.SX(ca.vertcat(*(ca.horzcat(*row) for row in rows)))


def _farthest(E: ca.SX, d: ca.SX, middle: Sequence[Any], half: Sequence[Any]) -> ca.SX:
    """Return the largest |E x + d| over the corners x of a box with this centre and these half
    sizes.
    """
    c = E @ ca.vertcat(*middle) + d
    parts = [E[:, k] * half[k] for k in range(3)]
    squares = [
        ca.sumsqr(c + parts[0] * signs[0] + parts[1] * signs[1] + parts[2] * signs[2])
        for signs in product((1.0, -1.0), repeat=3)
    ]
    return ca.sqrt(ca.mmax(ca.vertcat(*squares)))
