"""Planar elements: a planar mechanism as links and elementary joints with one degree of freedom, in
coordinates of its plane.

A planar pose is a tuple (c, s, x, y): the cosine and sine of the angle, and the position (m). Its
entries are CasADi expressions of the parameters of the mechanism, so that dimensions can vary from
lane to lane.

A joint with several freedoms becomes several elements with virtual links between them. The axes of
each link's planar frame are those of the plane where all coordinates of the tree are zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ..errors import QuestionError
from ..model import GROUND, Joint, Mechanism, Motion, evaluate, plane, plane_of

PlanarPose = tuple[Any, Any, Any, Any]
UNMOVED: PlanarPose = (1.0, 0.0, 0.0, 0.0)
TURN, SLIDE = "R", "P"
# sines of angles and components of unit vectors below this come from rounding of rotations
ROUNDING_SINE = 1e-14
# the sine of the angle between the axis of a loop joint and the normal of the plane
ALIGNED_SINE = 1e-7


@dataclass(frozen=True)
class PlanarElement:
    """One elementary joint of a planar linkage: X_ab = X_aF D(q) X_bF^-1.

    joint: the name of the joint it belongs to. coordinate: the name of its coordinate; None for a
    joint that closes a loop. motion: "R", "P", or "" where it is rigid. first, second: the links a
    and b. X_aF, X_bF: the frame of the element on each of them. direction: the unit vector of a
    slide in F; for a turn its first entry is the sign of the axis along the normal.
    """

    joint: str
    coordinate: str | None
    motion: str
    first: str
    second: str
    X_aF: PlanarPose
    X_bF: PlanarPose
    direction: tuple[Any, Any] = (1.0, 0.0)

    def displacement(self, q: Any) -> PlanarPose:
        """Return D(q), the planar pose by which the joint's coordinate q moves one side relative to
        the other.
        """
        if self.motion == TURN:
            return (ca.cos(q), self.direction[0] * ca.sin(q), 0.0, 0.0)
        if self.motion == SLIDE:
            return (1.0, 0.0, self.direction[0] * q, self.direction[1] * q)
        return UNMOVED


@dataclass(frozen=True)
class PlanarMechanism:
    """The elements of a planar mechanism. basis (3, 3): the two directions of the plane and its
    normal, as rows, in the ground's axes. rotations: R_WB of each body at zero coordinates.
    heights: the offset of each body along the normal, m. p: the symbols of the parameters.
    """

    mechanism: Mechanism
    basis: np.ndarray
    elements: tuple[PlanarElement, ...]
    rotations: dict[str, Any]
    heights: dict[str, Any]
    p: ca.SX

    @property
    def links(self) -> tuple[str, ...]:
        """The names of all links, the ground first, virtual links included."""
        names = [GROUND]
        for e in self.elements:
            names += [name for name in (e.first, e.second) if name not in names]
        return tuple(names)


def compose(X: PlanarPose, Y: PlanarPose) -> PlanarPose:
    """Return the product of two planar poses, X_ac = X_ab X_bc."""
    c, s, x, y = X
    k, z, u, v = Y
    return (c * k - s * z, s * k + c * z, x + c * u - s * v, y + s * u + c * v)


def inverse(X: PlanarPose) -> PlanarPose:
    """Return the inverse of a planar pose: X_ba from X_ab."""
    c, s, x, y = X
    return (c, -s, -(c * x + s * y), s * x - c * y)


def transform(X: PlanarPose, p: tuple[Any, Any]) -> tuple[Any, Any]:
    """Return a point of frame b in frame a, by X_ab."""
    c, s, x, y = X
    return (x + c * p[0] - s * p[1], y + s * p[0] + c * p[1])


def rotate(X: PlanarPose, d: tuple[Any, Any]) -> tuple[Any, Any]:
    """Return a direction of frame b in frame a, by X_ab."""
    c, s, _, _ = X
    return (c * d[0] - s * d[1], s * d[0] + c * d[1])


def planar_mechanism(m: Mechanism) -> PlanarMechanism:
    """Return the links and elements of a planar mechanism.

    Raises
    ------
    QuestionError
        Where the mechanism is not planar, or has constraints that dyads cannot express.
    """
    n = plane(m)
    if n is None:
        raise QuestionError(
            f"positions of {m.name!r} by dyads: its joints do not move all bodies in one plane; a"
            " planar linkage has turns about one direction and slides perpendicular to it."
            " catena.analysis.kinematics(...) drives any mechanism by Newton's method"
        )
    if m.constraints or m.nonholonomic:
        names = [r.name for r in m.row_records]
        raise QuestionError(
            f"positions of {m.name!r} by dyads: constraint {names[0]!r} ({len(names)} in all) is no"
            " joint; only joints, loops and mimicking joints are solved in closed form."
            " catena.analysis.kinematics(...) drives any mechanism by Newton's method"
        )
    return _Reader(m, n).read()


class _Reader:
    """Reads the joints of one mechanism, parents first, then its loops."""

    def __init__(self, m: Mechanism, normal: tuple[float, float, float]):
        self.m = m
        self.basis = np.array([*plane_of(normal), normal])
        self.p = ca.SX.sym("p", len(m.parameters))
        self.table = dict(zip(m.parameters, ca.vertsplit(self.p) if m.parameters else []))
        self.rotations: dict[str, Any] = {GROUND: ca.SX(np.eye(3))}
        self.heights: dict[str, Any] = {GROUND: ca.SX(0.0)}
        self.elements: list[PlanarElement] = []

    def read(self) -> PlanarMechanism:
        for j in self.m.ordered:
            R_PJ, p_PJ = self._pose(j.placement)
            R_CJ, p_CJ = self._pose(j.offset)
            R_WJ = self.rotations[j.parent] @ R_PJ
            self.rotations[j.child] = _snapped(R_WJ @ R_CJ.T)
            z = self._in_plane(j.parent, p_PJ)[2] - self._in_plane(j.child, p_CJ)[2]
            self.heights[j.child] = self.heights[j.parent] + z
            self._add(j, R_WJ, p_PJ, p_CJ, UNMOVED, j.coordinate_names)
        for j in self.m.loops:
            R_PJ, p_PJ = self._pose(j.placement)
            R_CJ, p_CJ = self._pose(j.offset)
            R_WJ = self.rotations[j.parent] @ R_PJ
            turned = self._relative(j, self.rotations[j.child] @ R_CJ @ R_WJ.T)
            self._add(j, R_WJ, p_PJ, p_CJ, turned, (None,) * len(j.freedoms))
        return PlanarMechanism(
            self.m, self.basis, tuple(self.elements), self.rotations, self.heights, self.p
        )

    def _value(self, x: Any) -> Any:
        return ca.SX(x) if isinstance(x, (int, float)) else ca.SX(evaluate(x, self.table))

    def _pose(self, pose: Any) -> tuple[ca.SX, ca.SX]:
        R = ca.vertcat(*(ca.horzcat(*map(self._value, row)) for row in pose.rotation))
        return R, ca.vertcat(*map(self._value, pose.position))

    def _in_plane(self, body: str, r: Any) -> list[Any]:
        """Return the components of a vector of a body along the basis: two in the plane, and the
        height.
        """
        return ca.vertsplit(self.basis @ (self.rotations[body] @ r))

    def _relative(self, j: Joint, Q: Any) -> PlanarPose:
        """Return the planar rotation from the parent's to the child's side of a loop joint."""
        if any(f.motion == Motion.BALL for f in j.freedoms):
            return UNMOVED
        e1, e2, n = self.basis
        values = list(self.m.parameters.values())
        tilt = ca.Function("tilt", [self.p], [ca.dot(n, Q @ n)])
        if not float(tilt(values)) > 1.0 - ALIGNED_SINE:
            raise QuestionError(
                f"positions of {self.m.name!r} by dyads: the axis of loop joint {j.name!r} points"
                " another way on its child than on its parent; turn its `offset`, or use a ball"
            )
        turned = _snapped(ca.vertcat(ca.dot(e1, Q @ e1), ca.dot(e2, Q @ e1)))
        return (turned[0], turned[1], 0.0, 0.0)

    def _add(self, j: Joint, R_WJ: Any, p_PJ: Any, p_CJ: Any, turned: Any, names: Any) -> None:
        """Add the elements of one joint, with virtual links between them."""
        x, y, _ = self._in_plane(j.parent, p_PJ)
        u, v, _ = self._in_plane(j.child, p_CJ)
        X_PF: PlanarPose = (1.0, 0.0, x, y)
        X_CF: PlanarPose = (turned[0], turned[1], u, v)
        motions = [
            (f, name)
            for f, name in zip(j.motions, _padded(names, j))
            if name is not None or self._acts(f, R_WJ)
        ]
        if not motions:
            self.elements.append(PlanarElement(j.name, None, "", j.parent, j.child, X_PF, X_CF))
        for k, (f, name) in enumerate(motions):
            last = k == len(motions) - 1
            kind, direction = self._motion(f, R_WJ)
            self.elements.append(
                PlanarElement(
                    j.name,
                    name,
                    kind,
                    j.parent if k == 0 else f"{j.name}, freedom {k}",
                    j.child if last else f"{j.name}, freedom {k + 1}",
                    X_PF if k == 0 else UNMOVED,
                    X_CF if last else UNMOVED,
                    direction,
                )
            )

    def _acts(self, f: Any, R_WJ: Any) -> bool:
        """Return whether a degree of freedom of a loop joint moves the child in the plane."""
        if f.motion == Motion.BALL:
            return True
        along = abs(float(self._numeric(ca.dot(self.basis[2], R_WJ @ np.array(f.axis)))))
        return (along > 0.5) != (f.motion == Motion.SLIDE)

    def _numeric(self, x: Any) -> Any:
        return ca.Function("value", [self.p], [x])(list(self.m.parameters.values()))

    def _motion(self, f: Any, R_WJ: Any) -> tuple[str, tuple[Any, Any]]:
        if f.motion == Motion.BALL:
            return TURN, (1.0, 0.0)
        x, y, z = ca.vertsplit(_snapped(self.basis @ (R_WJ @ np.array(f.axis))))
        return (TURN, (z, 0.0)) if f.motion == Motion.TURN else (SLIDE, (x, y))


def _padded(names: Any, j: Joint) -> list[Any]:
    """Return one name for each motion of a joint; a ball of a loop has several coordinates."""
    return [names[k] if k < len(names) else None for k in range(len(j.motions))]


def _snapped(x: Any) -> ca.SX:
    """Return a matrix of cosines; constants that differ from zero, plus or minus one by rounding
    only are replaced by these.
    """
    found = ca.densify(ca.SX(x))
    for k in range(found.numel()):
        if found[k].is_constant():
            value = float(found[k])
            if abs(value - round(value)) < ROUNDING_SINE:
                found[k] = round(value)
    return found
