"""Finite segments: a beam as rigid pieces with springs between them.

    |==o=====o=====o=====o==|      N elements of length h = L/N, a spring o in the middle of each:
     h/2   h     h     h  h/2      N + 1 pieces, the first and the last of length h/2

A spring carries what its element would: EI/h a radian of bending, GJ/h a radian of twist, EA/h a metre of stretching. Each
piece has the mass of its own stretch of the beam ([Huston1981] has the method). Deflections may be large, and tension stiffens
the beam without being asked.

An element whose curvature changes by d has its far end right to d h^2/12: its turn is right, but stands in the middle. Along
the beam these sum to h^2/12 times the difference of the curvatures at the ends. So shapes and frequencies converge with h^2, and
with h^4 where both ends are free to turn.

Damping is proportional to stiffness: c = 2 zeta k / omega, omega the first frequency of the beam clamped at x = 0, so that
a mode at omega has the ratio zeta and one at r omega the ratio r zeta.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ..beams import Beam, Flexed, rod
from ..loads import JointSpring
from ..mechanism import Body, Frame, Joint, Shape
from ..pose import Pose, Scalar
from ..values import value_of
from .parts import Parts, slid

CLAMPED_FREE = 1.8751040687119611  # first root of cosh(b) cos(b) = -1


def segmented(body: Body, parts: Parts) -> Parts:
    """The parts with that body replaced by pieces and springs."""
    beam: Beam = body.flexible  # type: ignore[assignment]
    chain = _Chain(body.name, beam, parts.parameters)
    carrier = next((j for j in parts.joints if j.child == body.name), None)
    root = chain.index(carrier.offset) if carrier else 0
    elastic, springs = chain.joints(root), tuple(chain.springs())
    joints = [chain.attached(j) for j in parts.joints]
    after = parts.joints.index(carrier) + 1 if carrier else len(joints)
    tip = Frame(f"{body.name}.tip", chain.names[-1], Pose(position=(chain.lengths[-1], 0.0, 0.0)))
    tips = () if any(f.name == tip.name for f in parts.frames) else (tip,)
    record = Flexed(body.name, beam, body.shapes, chain.names, chain.stations, tuple(j.name for j in elastic),
                    tuple(f.name for f in tips), tuple(s.name for s in springs))  # fmt: skip
    at = [b.name for b in parts.bodies].index(body.name)
    return replace(
        parts,
        bodies=(*parts.bodies[:at], *chain.bodies(body.shapes), *parts.bodies[at + 1 :]),
        joints=(*joints[:after], *elastic, *joints[after:]),
        frames=(*(chain.framed(f) for f in parts.frames), *tips),
        loops=tuple(chain.attached(j) for j in parts.loops),
        loads=(*parts.loads, *springs),
        beams=(*parts.beams, record),
    )


class _Chain:
    """The pieces of one beam: names, stations (where each begins, m along the beam) and lengths (m)."""

    def __init__(self, name: str, beam: Beam, parameters: Any):
        self.name, self.beam, self.parameters = name, beam, parameters
        n: int = beam.segments  # type: ignore[assignment]
        self.h = beam.length / n
        self.names = (name, *(f"{name} {k + 1}" for k in range(1, n + 1)))
        self.stations = (0.0, *(beam.length * (2 * k - 1) / (2 * n) for k in range(1, n + 1)))
        self.lengths = (self.h / 2, *[self.h] * (n - 1), self.h / 2)
        EI_y, EI_z = beam.planes
        given = {"Rx": beam.GJ, "Ry": EI_z, "Rz": EI_y, "Dx": beam.EA}
        self.stiffness = {label: value for label, value in given.items() if value is not None}

    # ------------------------------------------------------------------------------------------------ pieces
    def bodies(self, shapes: tuple[Shape, ...]) -> Iterator[Body]:
        """The pieces. Lines of the whole body become one bent line; other shapes go to the piece they sit on."""
        lines = [s for s in shapes if s.kind == "line"]
        colour = lines[0].colour if lines else ()
        for k, (name, length) in enumerate(zip(self.names, self.lengths)):
            own = [replace(s, pose=slid(s.pose, -self.stations[k])) for s in shapes if s not in lines and self.index(s.pose) == k]
            yield Body(name, *rod(self.beam.rhoA, self.beam.rhoJ, length), shapes=(Shape("line", (length, 0.0, 0.0), colour=colour), *own))

    def index(self, X: Pose) -> int:
        """The piece that carries what sits at X on the beam."""
        x, length = (float(value_of(v, self.parameters) or 0.0) for v in (X.position[0], self.beam.length))
        n = len(self.names) - 1
        return min(max(math.floor(x / length * n + 0.5 + 1e-9), 0), n)

    def attached(self, j: Joint) -> Joint:
        """A joint of the whole body, on the pieces it belongs to."""
        if j.parent == self.name:
            k = self.index(j.placement)
            j = replace(j, parent=self.names[k], placement=slid(j.placement, -self.stations[k]))
        if j.child == self.name:
            k = self.index(j.offset)
            j = replace(j, child=self.names[k], offset=slid(j.offset, -self.stations[k]))
        return j

    def framed(self, f: Frame) -> Frame:
        """A frame of the whole body, on the piece it belongs to."""
        k = self.index(f.pose)
        return Frame(f.name, self.names[k], slid(f.pose, -self.stations[k])) if f.body == self.name else f

    # ------------------------------------------------------------------------------------------------ springs
    def joints(self, root: int) -> tuple[Joint, ...]:
        """The elastic joints, away from the piece `root` that something else carries."""
        made = []
        for k in range(1, len(self.names)):
            near, far, end = self.names[k - 1], self.names[k], Pose(position=(self.lengths[k - 1], 0.0, 0.0))
            bodies, places = ((near, far), (end, Pose())) if k > root else ((far, near), (Pose(), end))
            made.append(Joint(self._joint(k), "general", *bodies, places[0], offset=places[1], sequence=tuple(self.stiffness)))
        return tuple(made)

    def springs(self) -> Iterator[JointSpring]:
        """A spring for each coordinate of each elastic joint."""
        for k in range(1, len(self.names)):
            for label, value in self.stiffness.items():
                name = self._joint(k) if len(self.stiffness) == 1 else f"{self._joint(k)}.{label}"
                yield JointSpring(name, name, value / self.h, 0.0, self._damping(label, value) / self.h)

    def _joint(self, k: int) -> str:
        return f"{self.name} flex {k}"

    def _damping(self, label: str, stiffness: Scalar) -> Scalar:
        """2 zeta k / omega for the kind of motion a label stands for, N m2 s or N s."""
        b, L = self.beam, self.beam.length
        if b.damping == 0.0:
            return 0.0
        if label in ("Ry", "Rz"):
            return 2 * b.damping * stiffness / (CLAMPED_FREE**2 * _root(stiffness / b.rhoA) / L**2)
        inertia = b.rhoJ if label == "Rx" else b.rhoA
        return 2 * b.damping * stiffness / (math.pi / 2 * _root(stiffness / inertia) / L)


def _root(x: Scalar) -> Scalar:
    if isinstance(x, float):
        return math.sqrt(x)
    import sympy

    return sympy.sqrt(x)
