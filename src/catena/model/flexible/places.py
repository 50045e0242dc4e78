"""The places of a beam by modes that are bodies: its root, where something is attached, the tip."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from ..mechanism import Body, Frame, Joint, Mimic, Shape
from ..motions import Deflection
from ..pose import Pose, Scalar
from ..values import value_of
from .parts import Parts, slid

if TYPE_CHECKING:
    from .modes import Modal

ROOT = -1.0  # the body's own frame, where that is not the beam's at x = 0 because the beam turns there


class Places:
    """The places s = x/L of a beam, root to tip, and what stands on them."""

    def __init__(self, model: Modal, parts: Parts):
        self.model, self.parameters = model, parts.parameters
        at: dict[float, Scalar] = {0.0: 0.0, 1.0: model.length}
        on = [j.placement for j in (*parts.joints, *parts.loops) if j.parent == model.body]
        on += [j.offset for j in parts.loops if j.child == model.body] + [f.pose for f in parts.frames if f.body == model.body]
        for X in on:
            if not any(abs(self.s(X) - s) < 1e-9 for s in at):
                at[self.s(X)] = X.position[0]
        if model.shifts(0.0):
            at[ROOT] = 0.0
        inner = sorted(s for s in at if s < 1.0)
        self.at = {s: at[s] for s in (*inner, *(s for s in at if s > 1.0), 1.0)}  # what lies beyond is refused by validate()

    def s(self, X: Pose) -> float:
        """x/L of what sits at X on the beam."""
        x, length = (float(value_of(v, self.parameters) or 0.0) for v in (X.position[0], self.model.length))
        return x / length

    @property
    def names(self) -> tuple[str, ...]:
        """Of the bodies, root to tip: boom, boom 2, boom 3, ..."""
        return (self.model.body, *(f"{self.model.body} {k}" for k in range(2, len(self.at) + 1)))

    @property
    def stations(self) -> tuple[Scalar, ...]:
        """x of each, m."""
        return tuple(self.at.values())

    # ------------------------------------------------------------------------------------------------ what stands there
    def attached(self, j: Joint) -> Joint:
        """A joint on the body, on its place. The joint that carries the body carries the body's frame."""
        if j.parent == self.model.body:
            name, x = self._under(j.placement)
            j = replace(j, parent=name, placement=slid(j.placement, -x))
        return j

    def closed(self, j: Joint) -> Joint:
        """A joint that closes a loop, likewise at both its ends."""
        j = self.attached(j)
        if j.child == self.model.body:
            name, x = self._under(j.offset)
            j = replace(j, child=name, offset=slid(j.offset, -x))
        return j

    def framed(self, f: Frame) -> Frame:
        """A frame of the body, on its place."""
        if f.body != self.model.body:
            return f
        name, x = self._under(f.pose)
        return Frame(f.name, name, slid(f.pose, -x))

    def _under(self, X: Pose) -> tuple[str, Scalar]:
        """The nearest place's body, and its x."""
        s = self._nearest(X)
        return self.names[list(self.at).index(s)], self.at[s]

    def _nearest(self, X: Pose) -> float:
        return min((s for s in self.at if s != ROOT), key=lambda s: abs(s - self.s(X)))

    # ------------------------------------------------------------------------------------------------ what is made
    def bodies(self, whole: Body) -> Iterator[Body]:
        """The body's frame with the beam's mass, and the places without."""
        solid = [shape for shape in whole.shapes if shape.kind != "line"]
        for s, name in zip(self.at, self.names):
            own = tuple(self._moved(x, s) for x in solid if self._nearest(x.pose) == s)
            yield Body(name, whole.mass, whole.com, whole.inertia, own) if name == whole.name else Body.massless(name, own)

    def _moved(self, shape: Shape, s: float) -> Shape:
        return replace(shape, pose=slid(shape.pose, -self.at[s]))

    def joints(self) -> tuple[Joint, ...]:
        """The modal joints, the tip's first: it has the amplitudes, the others follow."""
        labels, leader, made = self.model.integrals.basis.labels, self.model.joint, []
        for k, (s, name) in enumerate(zip(self.at, self.names)):
            if name == self.model.body:
                continue
            own, at = s == 1.0, Pose(position=(self.at[s], 0.0, 0.0))
            deflection = Deflection(self.model.body, self.model.shifts(s))
            made.append(Joint(leader if own else f"{leader} {k + 1}", "modal", self.model.body, name, at, sequence=labels,
                              mimic=None if own else Mimic(leader), deflection=deflection))  # fmt: skip
        return (made[-1], *made[:-1])
