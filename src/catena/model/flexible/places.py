"""The places of a beam by modes that become bodies: its root, its tip, and wherever something is
attached.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..mechanism import Body, Joint, Mimic
from ..motions import Deflection
from ..pose import Pose, Scalar
from .modal_beam import Modal
from .parts import Parts, Pieces, slid

# the key of the body's own frame among the places, where it differs from the beam's frame at x = 0
# because the beam may turn there; s is never negative
BODY_FRAME = -1.0


class Places(Pieces):
    """The places s = x/L of a beam, root to tip, as bodies."""

    def __init__(self, model: Modal, body: Body, parts: Parts):
        super().__init__(body, parts)
        self.model = model
        at: dict[float, Scalar] = {0.0: 0.0, 1.0: model.length}
        on = [j.placement for j in (*parts.joints, *parts.loops) if j.parent == model.body]
        on += [j.offset for j in parts.loops if j.child == model.body] + [
            f.pose for f in parts.frames if f.body == model.body
        ]
        for X in on:
            if not any(abs(self.s(X) - s) < 1e-9 for s in at):
                at[self.s(X)] = X.position[0]
        if model.shifts(0.0):
            at[BODY_FRAME] = 0.0
        self.at = sorted(at)
        self.stations = tuple(at[s] for s in self.at)
        self.names = (model.body, *(f"{model.body} {k}" for k in range(2, len(at) + 1)))

    def index(self, X: Pose) -> int:
        """Return the index of the place nearest to X on the beam."""
        return min(
            (k for k, s in enumerate(self.at) if s != BODY_FRAME),
            key=lambda k: abs(self.at[k] - self.s(X)),
        )

    def bodies(self) -> Iterator[Body]:
        """Yield the body's frame with the mass of the beam, and the other places as massless
        bodies.
        """
        whole = self.body
        solid = [shape for shape in whole.shapes if shape.kind != "line"]
        for k, name in enumerate(self.names):
            own = tuple(
                replace(x, pose=slid(x.pose, -self.stations[k]))
                for x in solid
                if self.index(x.pose) == k
            )
            yield (
                Body(name, whole.mass, whole.com, whole.inertia, own)
                if k == 0
                else Body.massless(name, own)
            )

    def joints(self) -> tuple[Joint, ...]:
        """Return the modal joints, the tip's first: it has the amplitudes, and the others follow
        it.
        """
        labels = self.model.integrals.basis.labels
        leader = self.model.joint
        modal_joints = []
        for k, (s, name) in enumerate(zip(self.at, self.names)):
            if k == 0:
                continue
            own = s == 1.0
            at = Pose(position=(self.stations[k], 0.0, 0.0))
            deflection = Deflection(self.model.body, self.model.shifts(s))
            modal_joints.append(
                Joint(
                    leader if own else f"{leader} {k + 1}",
                    "modal",
                    self.model.body,
                    name,
                    at,
                    sequence=labels,
                    mimic=None if own else Mimic(leader),
                    deflection=deflection,
                )
            )
        return (modal_joints[-1], *modal_joints[:-1])
