"""Parts: what a mechanism is made of while its flexible bodies are replaced, and the way back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from ..beams import Flexed
from ..mechanism import Body, Frame, Joint, Mechanism
from ..pose import Pose, Scalar


@dataclass(frozen=True)
class Parts:
    """The fields of a mechanism that change when a flexible body is replaced, and the parameters' values."""

    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...]
    frames: tuple[Frame, ...]
    loops: tuple[Joint, ...]
    loads: tuple[Any, ...]
    beams: tuple[Flexed, ...]
    parameters: Mapping[str, float]

    @staticmethod
    def of(m: Mechanism) -> Parts:
        """Those of a mechanism as it stands."""
        return Parts(**{f.name: getattr(m, f.name) for f in fields(Parts)})

    def changes(self) -> dict[str, Any]:
        """As the fields of a mechanism, for `mechanism.with_(**changes)`."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name != "parameters"}


def whole(m: Mechanism) -> Mechanism:
    """The mechanism before `discretise`: what stood on the pieces of a flexible body stands on it, at its place along the beam."""
    parts = Parts.of(m)
    for flexed in parts.beams:
        parts = _fold(parts, flexed)
    return m.with_(**replace(parts, beams=()).changes()) if m.beams else m


def _fold(parts: Parts, flexed: Flexed) -> Parts:
    whole = Body(flexed.body, shapes=flexed.shapes, flexible=flexed.beam)
    stations = dict(zip(flexed.bodies, flexed.stations))
    made = (flexed.joints, flexed.frames, flexed.loads)
    joints, frames, loads = (_without(x, names) for x, names in zip((parts.joints, parts.frames, parts.loads), made))
    bodies = tuple(whole if b.name == flexed.body else b for b in parts.bodies if b.name not in stations or b.name == flexed.body)
    return replace(
        parts, bodies=bodies, loads=loads,
        joints=tuple(reattached(j, flexed.body, stations) for j in joints),
        loops=tuple(reattached(j, flexed.body, stations) for j in parts.loops),
        frames=tuple(_framed(f, flexed.body, stations) for f in frames),
    )  # fmt: skip


def _without(things: Iterable[Any], names: Iterable[str]) -> tuple[Any, ...]:
    gone = set(names)
    return tuple(x for x in things if x.name not in gone)


def reattached(j: Joint, body: str, stations: Mapping[str, Scalar]) -> Joint:
    """A joint on pieces at these stations, as a joint on the whole body."""
    if j.parent in stations:
        j = replace(j, parent=body, placement=slid(j.placement, stations[j.parent]))
    if j.child in stations:
        j = replace(j, child=body, offset=slid(j.offset, stations[j.child]))
    return j


def _framed(f: Frame, body: str, stations: Mapping[str, Scalar]) -> Frame:
    return Frame(f.name, body, slid(f.pose, stations[f.body])) if f.body in stations else f


def slid(X: Pose, x: Scalar) -> Pose:
    """The pose moved by x along the beam."""
    return Pose(X.rotation, (X.position[0] + x, X.position[1], X.position[2]))
