"""Loads as MuJoCo has them, for the writer: springs of joints, tendons, and compensated weight."""

from __future__ import annotations

from typing import Any
from xml.etree.ElementTree import Element, SubElement

from ...model import GROUND, Mechanism, Motion, Pose
from ...model.loads import Cable, CoordinateSpring, Force, JointSpring, Load, Spring
from .numbers import number, numbers, placed


class WrittenLoads:
    """The loads of a mechanism whose values are numbers, as MJCF expresses them.

    springs: {coordinate: attributes of its joint}. gravcomp: {body: the fraction of its weight that
    is carried}.
    """

    def __init__(self, m: Mechanism):
        self.m = m
        springs = [x for x in m.loads if isinstance(x, JointSpring)]
        self.springs = {
            x.coordinate: {"stiffness": x.stiffness, "springref": x.rest, "damping": x.damping}
            for x in springs
        }
        self.gravcomp = {
            m.frame(x.frame).body: share
            for x in m.loads
            if isinstance(x, Force) and (share := self._share(x)) is not None
        }

    def _share(self, x: Force) -> float | None:
        """Return the fraction of a body's weight that a force carries; None for any other force."""
        frame = self.m.frame(x.frame)
        g = self.m.gravity
        if (
            frame.body == GROUND
            or x.axes != "world"
            or any(isinstance(f, str) for f in (*x.force, *x.torque))
            or any(x.torque)
            or x.switches
        ):
            return None
        b = self.m.body(frame.body)
        size = sum(c * c for c in g)
        if not (b.mass and size) or any(
            abs(p - c) > 1e-12 * (1 + abs(c)) for p, c in zip(frame.pose.position, b.com)
        ):
            return None
        share = -sum(f * c for f, c in zip(x.force, g)) / (b.mass * size)
        carried = [-share * b.mass * c for c in g]
        return (
            share
            if all(abs(f - c) <= 1e-12 * max(map(abs, carried)) for f, c in zip(x.force, carried))
            else None
        )

    def unsayable(self, x: Load) -> str:
        """Return the reason why MJCF cannot express a load; "" where it can."""
        twice = [
            y.name
            for y in self.m.loads
            if isinstance(y, JointSpring)
            and isinstance(x, JointSpring)
            and y.coordinate == x.coordinate
        ]
        if len(twice) > 1:
            return f"MJCF has one spring for each coordinate; here are {', '.join(twice)}"
        if isinstance(x, Cable):
            return (
                "MuJoCo's tendon resists by its damping when it is slack, this cable does not"
                if x.pulls == "tension" and x.damping
                else ""
            )
        if isinstance(x, CoordinateSpring):
            many = [name for name in x.coordinates if not self._hinge_or_slide(name)]
            return (
                f"MJCF's fixed tendons go over joints of one freedom; not so {', '.join(many)}"
                if many
                else ""
            )
        if isinstance(x, JointSpring | Spring):
            return ""
        if isinstance(x, Force):
            body = self.m.frame(x.frame).body
            mine = [
                y
                for y in self.m.loads
                if isinstance(y, Force) and self.m.frame(y.frame).body == body
            ]
            return (
                ""
                if self._share(x) is not None and len(mine) == 1
                else "MJCF has no force but one that carries a share of a body's weight"
            )
        return "MJCF has no such load"

    def _hinge_or_slide(self, coordinate: str) -> bool:
        return any(
            name == coordinate and f.motion != Motion.BALL
            for j in self.m.joints
            if j.nq == j.nv
            for name, f in zip(j.coordinate_names, j.freedoms)
        )

    # --- elements
    def sites(self, root: Element) -> None:
        """Write sites where tendons pass through bodies or joints that have no named frame."""
        for x in self._tendons():
            for name in _path(x):
                if name not in self.m._frames:
                    frame = self.m.frame(name)
                    self.site(root, frame.body, f"{name} point", frame.pose, once=True)

    def site(self, root: Element, body: str, name: str, X: Pose, once: bool = False) -> None:
        """Write a site on a body whose element is written already."""
        if once and any(s.get("name") == name for s in root.iter("site")):
            return
        inside = (
            root.find("worldbody")
            if body == GROUND
            else next(b for b in root.iter("body") if b.get("name") == body)
        )
        SubElement(inside, "site", {"name": name, "size": "0.005", **placed(X)})  # type: ignore[arg-type]  # every document has a worldbody

    def tendons(self, root: Element) -> None:
        """Write springs along coordinates and between points."""
        found = self._tendons()
        inside = SubElement(root, "tendon") if found else None
        for x in found:
            rest = (
                (x.rest, x.rest)
                if isinstance(x, CoordinateSpring)
                else (0.0 if getattr(x, "pulls", "") == "tension" else x.length, x.length)
            )
            kind = "fixed" if isinstance(x, CoordinateSpring) else "spatial"
            e = SubElement(
                inside,  # type: ignore[arg-type]
                kind,
                name=x.name,
                stiffness=number(x.stiffness),
                damping=number(x.damping),
                springlength=numbers(rest),
            )
            if isinstance(x, CoordinateSpring):
                for name, ratio in zip(x.coordinates, x.ratios):
                    SubElement(e, "joint", joint=name, coef=number(ratio))
            else:
                for name in _path(x):
                    SubElement(e, "site", site=name if name in self.m._frames else f"{name} point")

    def _tendons(self) -> list[Any]:
        return [x for x in self.m.loads if isinstance(x, Cable | Spring | CoordinateSpring)]


def _path(x: Any) -> tuple[str, ...]:
    """Return the frames through which a load passes."""
    return x.frames if isinstance(x, Cable) else (x.start, x.end) if isinstance(x, Spring) else ()
