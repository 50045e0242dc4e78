"""Drawing: a scene under construction, to which glyphs (functions that draw one kind of thing) add
solids, and the records of these solids.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ...model import Mechanism, Pose, value_of
from .geometry import Geometry
from .skeleton import Skeleton, skeleton

Array = np.ndarray
Colour = tuple[float, float, float, float]
STEEL: Colour = (0.62, 0.66, 0.71, 1.0)
DARK: Colour = (0.22, 0.25, 0.30, 1.0)
GROUND_COLOUR: Colour = (0.52, 0.55, 0.58, 1.0)
SPRING: Colour = (0.80, 0.47, 0.0, 1.0)
MOTOR: Colour = (0.76, 0.23, 0.13, 1.0)
BODY_COLOURS: tuple[Colour, ...] = (  # muted, apart for colour-blind eyes
    (0.16, 0.44, 0.66, 1.0), (0.85, 0.55, 0.18, 1.0), (0.20, 0.58, 0.48, 1.0), (0.66, 0.36, 0.55, 1.0), (0.35, 0.62, 0.80, 1.0),  # noqa: E501
    (0.58, 0.52, 0.30, 1.0), (0.45, 0.47, 0.72, 1.0), (0.75, 0.40, 0.32, 1.0),
)  # fmt: skip


@dataclass(frozen=True)
class Part:
    """A solid on a body: its pose X_BP (4, 4), the key of its triangles, its colour, its layer, and
    the name of the record that it belongs to.
    """

    body: str
    geometry: str
    pose: Array
    colour: Colour
    layer: str
    name: str = ""


@dataclass(frozen=True)
class Span:
    """A solid between a point of one body and a point of another. Its geometry reaches from z = 0
    to z = 1, and is scaled to `width` (m) across.
    """

    start: str
    at: Array
    end: str
    to: Array
    geometry: str
    width: float
    colour: Colour
    layer: str
    name: str = ""


@dataclass
class Drawing:
    """A scene under construction. unit: the radius of a rod, m, from the mechanism's lengths.
    folders: where mesh files are looked for.
    """

    mechanism: Mechanism
    unit: float
    up: Array
    folders: Sequence[Path] | None
    parts: list[Part] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    geometries: dict[str, Geometry] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @cached_property
    def bones(self) -> Skeleton:
        """The mechanism as lines."""
        return skeleton(self.mechanism)

    def put(
        self,
        body: str,
        key: str,
        make: Callable[[], Geometry],
        X: Array,
        colour: Colour,
        layer: str,
        name: str = "",
    ) -> None:
        """Add a solid to a body at the pose X. key: names its triangles, which several solids may
        share; `make` computes them once.
        """
        self._keep(key, make)
        self.parts.append(Part(body, key, X, colour, layer, name))

    def stretch(
        self,
        ends: tuple[str, Array, str, Array],
        key: str,
        make: Callable[[], Geometry],
        width: float,
        colour: Colour,
        layer: str,
        name: str = "",
    ) -> None:
        """Add a solid between two points. ends: (body, point, body, point)."""
        self._keep(key, make)
        self.spans.append(Span(*ends, key, width, colour, layer, name))

    def _keep(self, key: str, make: Callable[[], Geometry]) -> None:
        """Compute the triangles of a key, unless they are known."""
        if key not in self.geometries:
            self.geometries[key] = make()

    def number(self, x: Any) -> float:
        """Return the value of a scalar for the mechanism's parameters; zero for an expression
        without value.
        """
        return float(value_of(x, self.mechanism.parameters) or 0.0)

    def matrix(self, X: Pose) -> Array:
        """Return a pose as a 4 x 4 matrix of numbers."""
        made = np.eye(4)
        made[:3, :3] = [[self.number(x) for x in row] for row in X.rotation]
        made[:3, 3] = [self.number(x) for x in X.position]
        return made

    def frame(self, name: str) -> tuple[str, Array]:
        """Return (body, X_BF) of a named frame."""
        found = self.mechanism.frame(name)
        return found.body, self.matrix(found.pose)


def along(axis: Sequence[float] | Array, at: Sequence[float] | Array = (0.0, 0.0, 0.0)) -> Array:
    """Return a pose whose z axis points along an axis."""
    z = np.asarray(axis, float) / (np.linalg.norm(axis) or 1.0)
    side = np.eye(3)[int(np.argmin(np.abs(z)))]
    x = np.cross(side, z) / np.linalg.norm(np.cross(side, z))
    X = np.eye(4)
    X[:3, 0], X[:3, 1], X[:3, 2], X[:3, 3] = x, np.cross(z, x), z, at
    return X


def glass(colour: Sequence[float], alpha: float) -> Colour:
    """Return a colour with an opacity."""
    r, g, b = (float(x) for x in colour[:3])
    return r, g, b, alpha


def scaled(x: float, y: float, z: float) -> Array:
    """Return a transform (4, 4) that scales along its axes."""
    return np.diag([x, y, z, 1.0])


Options = Mapping[str, Any]
