"""Finite segments: a beam as rigid pieces with springs between them.

    |==o=====o=====o=====o==|      N elements of length h = L/N, a spring o in the middle of each:
     h/2   h     h     h  h/2      N + 1 pieces, the first and the last of length h/2

A spring carries what its element would: EI/h per radian of bending, GJ/h per radian of twist, EA/h
per metre of stretching. Each piece has the mass of its own stretch of the beam ([Huston1981] has
the method). Deflections may be large, and tension stiffens the beam without further terms.

In an element whose curvature changes by d, the far end has an error of d h^2/12, because its
rotation is correct but concentrated in the middle. Along the beam these errors sum to h^2/12 times
the difference of the curvatures at the ends. So shapes and frequencies converge with h^2, and with
h^4 where both ends are free to turn.

Damping is proportional to stiffness: c = 2 zeta k / omega, omega the first frequency of the beam
clamped at x = 0, so that a mode at omega has the ratio zeta and one at r omega the ratio r zeta.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from ..beams import rod
from ..loads import JointSpring
from ..mechanism import Body, Frame, Joint, Shape
from ..pose import Pose
from .parts import Parts, Pieces, slid

# of an elastic joint, and the direction in which the beam gives way
COORDINATES = {"Rx": "twist", "Ry": "z", "Rz": "y", "Dx": "x"}


def segmented(body: Body, parts: Parts) -> Parts:
    """Return the parts with one flexible body replaced by rigid pieces and springs."""
    chain = _Chain(body, parts)
    carrier = parts.carrier(body.name)
    tip = Frame(f"{body.name}.tip", chain.names[-1], Pose(position=(chain.lengths[-1], 0.0, 0.0)))
    return chain.replaced(
        chain.bodies(),
        chain.joints(chain.index(carrier.offset) if carrier else 0),
        tuple(chain.springs()),
        tip,
    )


class _Chain(Pieces):
    """The pieces of one beam and their lengths (m); each begins at its station."""

    def __init__(self, body: Body, parts: Parts):
        super().__init__(body, parts)
        name = body.name
        length = self.beam.length
        n = self.beam.segments or 1
        self.h = length / n
        self.names = (name, *(f"{name} {k + 1}" for k in range(1, n + 1)))
        self.stations = (0.0, *(length * (2 * k - 1) / (2 * n) for k in range(1, n + 1)))
        self.lengths = (self.h / 2, *[self.h] * (n - 1), self.h / 2)
        self.elastic = {
            label: d for label, d in COORDINATES.items() if self.beam.stiffness[d] is not None
        }

    def bodies(self) -> Iterator[Body]:
        """Yield the pieces. Lines of the undivided body become one bent line; other shapes are
        attached to the piece at their position.
        """
        lines = [s for s in self.body.shapes if s.kind == "line"]
        solid = [s for s in self.body.shapes if s.kind != "line"]
        colour = lines[0].colour if lines else ()
        for k, (name, length) in enumerate(zip(self.names, self.lengths)):
            own = [
                replace(s, pose=slid(s.pose, -self.stations[k]))
                for s in solid
                if self.index(s.pose) == k
            ]
            yield Body(
                name,
                *rod(self.beam.rhoA, self.beam.rhoJ, length),
                shapes=(Shape("line", (length, 0.0, 0.0), colour=colour), *own),
            )

    def index(self, X: Pose) -> int:
        """Return the index of the piece that carries an object attached at the pose X on the
        beam.
        """
        n = len(self.names) - 1
        return min(max(math.floor(self.s(X) * n + 0.5 + 1e-9), 0), n)

    # --- springs
    def joints(self, root: int) -> tuple[Joint, ...]:
        """Return the elastic joints, directed away from the piece `root`, which another joint
        carries.
        """
        elastic_joints = []
        for k in range(1, len(self.names)):
            near = self.names[k - 1]
            far = self.names[k]
            end = Pose(position=(self.lengths[k - 1], 0.0, 0.0))
            bodies, places = (
                ((near, far), (end, Pose())) if k > root else ((far, near), (Pose(), end))
            )
            elastic_joints.append(
                Joint(
                    self._joint(k),
                    "general",
                    *bodies,
                    places[0],
                    offset=places[1],
                    sequence=tuple(self.elastic),
                )
            )
        return tuple(elastic_joints)

    def springs(self) -> Iterator[JointSpring]:
        """Yield a spring for each coordinate of each elastic joint."""
        values = {
            label: (self.beam.stiffness[d] / self.h, self.beam.lag(d))
            for label, d in self.elastic.items()
        }
        for k in range(1, len(self.names)):
            for label, (stiffness, lag) in values.items():
                name = self._joint(k) if len(values) == 1 else f"{self._joint(k)}.{label}"
                yield JointSpring(name, name, stiffness, 0.0, stiffness * lag)

    def _joint(self, k: int) -> str:
        return f"{self.body.name} flex {k}"
