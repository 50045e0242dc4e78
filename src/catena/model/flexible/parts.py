"""Parts: the records of a mechanism while its flexible bodies are replaced, and the reverse
step.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from ..beams import Beam, Flexed
from ..loads import Load
from ..mechanism import Body, Frame, Joint, Mechanism
from ..pose import Pose, Scalar
from ..values import value_of


@dataclass(frozen=True)
class Parts:
    """The fields of a mechanism that change when a flexible body is replaced, and the values of the
    parameters.
    """

    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...]
    frames: tuple[Frame, ...]
    loops: tuple[Joint, ...]
    loads: tuple[Load, ...]
    beams: tuple[Flexed, ...]
    parameters: Mapping[str, float]

    @staticmethod
    def of(m: Mechanism) -> Parts:
        """Return the parts of a mechanism."""
        return Parts(**{f.name: getattr(m, f.name) for f in fields(Parts)})

    def changes(self) -> dict[str, Any]:
        """Return the parts as fields of a mechanism, for `mechanism.with_(**changes)`."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name != "parameters"}

    def carrier(self, body: str) -> Joint | None:
        """Return the joint of the tree that carries a body, or None."""
        return next((j for j in self.joints if j.child == body), None)


class Pieces:
    """The bodies that replace a flexible body, root to tip: their names, and their stations, which
    are the positions of their origins along the beam, m.
    """

    names: tuple[str, ...]
    stations: tuple[Scalar, ...]

    def __init__(self, body: Body, parts: Parts):
        self.body, self.parts = body, parts
        self.beam: Beam = body.flexible  # type: ignore[assignment]

    def index(self, X: Pose) -> int:
        """Return the index of the piece that carries an object attached at the pose X on the
        undivided body.
        """
        raise NotImplementedError

    def s(self, X: Pose) -> float:
        """Return x/L of an object attached at the pose X on the undivided body."""
        x, length = (
            float(value_of(v, self.parts.parameters) or 0.0)
            for v in (X.position[0], self.beam.length)
        )
        return x / length

    def replaced(
        self,
        bodies: Iterable[Body],
        joints: Sequence[Joint],
        loads: Sequence[Load],
        tip: Frame,
        modal: Any = None,
    ) -> Parts:
        """Return the parts with these bodies, joints and loads in place of the flexible body; the
        joint that carries it comes first.
        """
        parts = self.parts
        name = self.body.name
        carrier = self.parts.carrier(self.body.name)
        tips = () if any(f.name == tip.name for f in parts.frames) else (tip,)
        record = Flexed(
            name,
            self.beam,
            self.body.shapes,
            self.names,
            self.stations,
            _names(joints),
            _names(tips),
            _names(loads),
            modal,
        )
        at = [b.name for b in parts.bodies].index(name)
        after = parts.joints.index(carrier) + 1 if carrier else len(parts.joints)
        # shapes are seen in the frame that is carried
        moved = [j if j is carrier and modal else self.attached(j) for j in parts.joints]
        return replace(
            parts,
            bodies=(*parts.bodies[:at], *bodies, *parts.bodies[at + 1 :]),
            joints=(*moved[:after], *joints, *moved[after:]),
            frames=(*(Frame(f.name, *self._on_piece(f.body, f.pose)) for f in parts.frames), *tips),
            loops=tuple(map(self.attached, parts.loops)),
            loads=(*parts.loads, *loads),
            beams=(*parts.beams, record),
        )

    def attached(self, j: Joint) -> Joint:
        """Return a joint of the undivided body, moved to the pieces that it is attached to."""
        parent, placement = self._on_piece(j.parent, j.placement)
        child, offset = self._on_piece(j.child, j.offset)
        same = (parent, child) == (j.parent, j.child)
        return (
            j
            if same
            else replace(j, parent=parent, placement=placement, child=child, offset=offset)
        )

    def _on_piece(self, body: str, X: Pose) -> tuple[str, Pose]:
        if body != self.body.name:
            return body, X
        k = self.index(X)
        return self.names[k], slid(X, -self.stations[k])


def whole(m: Mechanism) -> Mechanism:
    """Return the mechanism before `discretise`: objects attached to the pieces of a flexible body
    are attached to the body again, at their positions along the beam.
    """
    parts = Parts.of(m)
    for flexed in parts.beams:
        parts = _fold(parts, flexed)
    return m.with_(**replace(parts, beams=()).changes()) if m.beams else m


def _fold(parts: Parts, flexed: Flexed) -> Parts:
    """Return the parts of a mechanism with the pieces of one flexible body replaced by the whole
    body.
    """
    stations = dict(zip(flexed.bodies, flexed.stations))
    inner_joints, tips, springs = map(set, (flexed.joints, flexed.frames, flexed.loads))

    def back(body: str, X: Pose) -> tuple[str, Pose]:
        return (flexed.body, slid(X, stations[body])) if body in stations else (body, X)

    def joined(joints: Iterable[Joint]) -> tuple[Joint, ...]:
        ends = (
            (j, *back(j.parent, j.placement), *back(j.child, j.offset))
            for j in joints
            if j.name not in inner_joints
        )
        return tuple(replace(j, parent=p, placement=X, child=c, offset=Y) for j, p, X, c, Y in ends)

    body = Body(flexed.body, shapes=flexed.shapes, flexible=flexed.beam)
    return replace(
        parts,
        bodies=tuple(
            body if b.name == body.name else b
            for b in parts.bodies
            if b.name not in stations or b.name == body.name
        ),
        joints=joined(parts.joints),
        loops=joined(parts.loops),
        frames=tuple(
            Frame(f.name, *back(f.body, f.pose)) for f in parts.frames if f.name not in tips
        ),
        loads=tuple(x for x in parts.loads if x.name not in springs),
    )


def _names(things: Iterable[Joint | Frame | Load]) -> tuple[str, ...]:
    return tuple(x.name for x in things)


def slid(X: Pose, x: Scalar) -> Pose:
    """Return the pose moved by x along the beam, m."""
    return Pose(X.rotation, (X.position[0] + x, X.position[1], X.position[2]))
