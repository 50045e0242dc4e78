"""Raster: a picture of a scene without OpenGL. Triangles are lit, sorted by depth and filled by
Pillow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .description import Scene
from .geometry import Geometry
from .skeleton import moved

if TYPE_CHECKING:
    from PIL.Image import Image

Array = np.ndarray
FINER = 2  # pixels drawn for one that is kept, each way
# of the camera: half height over distance is 1 / LENS; how much of a picture is filled
LENS, FILL = 2.4, 0.84
SEEN = ("bodies", "joints", "loads", "contacts")


@dataclass(frozen=True)
class Camera:
    """The camera of a picture: axes (3, 3), right, up and towards it; the point it looks at; its
    distance from it; pixels (w, h).
    """

    axes: Array
    middle: Array
    distance: float
    size: tuple[int, int]

    def page(self, points: Array) -> tuple[Array, Array]:
        """Return pixels (..., 2) and depth (...), larger being nearer, of points (..., 3) in the
        ground.
        """
        seen = (points - self.middle) @ self.axes.T
        far = np.maximum(self.distance - seen[..., 2], 0.05 * self.distance)
        w, h = self.size
        scale = LENS * h / 2 * min(1.0, w / h) / far
        return np.stack([w / 2 + seen[..., 0] * scale, h / 2 - seen[..., 1] * scale], axis=-1), -far


def camera_of(scene: Scene, box: Array, size: tuple[int, int]) -> Camera:
    """Return a camera that contains a box (2, 3), from the scene's own view; a planar scene is seen
    a little from above and from the side. size: pixels.
    """
    v, up = scene.view, scene.up
    towards = v.towards
    if v.planar and abs(towards @ up) < 0.5:
        towards = towards + 0.16 * up - 0.22 * v.right
    towards = towards / np.linalg.norm(towards)
    right = np.cross(up, towards) if abs(towards @ up) < 0.98 else v.right
    right = right / np.linalg.norm(right)
    axes = np.array([right, np.cross(towards, right), towards])
    x, y, z = axes @ (np.array(np.meshgrid(*box.T)).reshape(3, -1) - box.mean(axis=0)[:, None])
    w, h = size
    f = LENS * min(1.0, w / h)
    near = max(
        6 * scene.unit,
        float((z + np.abs(x) * f * h / w / FILL).max()),
        float((z + np.abs(y) * f / FILL).max()),
    )
    return Camera(axes, box.mean(axis=0), near, size)


class Painter:
    """Draws pictures of a scene. Everything that is the same in all pictures is computed once."""

    def __init__(self, scene: Scene, camera: Camera, box: Array, layers: Sequence[str] = SEEN):
        self.scene = scene
        self.camera = camera
        self.box = box
        self.layers = layers
        self.big = Camera(
            camera.axes,
            camera.middle,
            camera.distance,
            (FINER * camera.size[0], FINER * camera.size[1]),
        )
        self.sun = (scene.up + 0.55 * camera.axes[2] - 0.45 * camera.axes[0]) / np.linalg.norm(
            scene.up + 0.55 * camera.axes[2] - 0.45 * camera.axes[0]
        )

    def picture(
        self,
        at: Mapping[str, Array],
        trails: Sequence[tuple[Array, Sequence[float]]] = (),
        arrows: Sequence[tuple[Array, Sequence[float]]] = (),
    ) -> Image:
        """Return the scene with bodies at poses (4, 4). trails: (points (n, 3), colour). arrows, in
        front of everything: (tail and head (2, 3), colour).
        """
        from PIL import Image, ImageDraw

        image = self._paper.copy()
        pen = ImageDraw.Draw(image, "RGBA")
        self._shadow(pen, at)
        for points, colour in trails:
            if len(points) > 1:
                pen.line(
                    [tuple(p) for p in self.big.page(points)[0]],
                    fill=_bytes(colour),
                    width=FINER + 1,
                    joint="curve",
                )
        corners, shades = self._triangles(at)
        pixels, depth = self.big.page(corners)
        for k in np.argsort(depth.mean(axis=1), kind="stable"):
            pen.polygon([(x, y) for x, y in pixels[k]], fill=tuple(shades[k]))
        for ends, colour in arrows:
            self._arrow(pen, self.big.page(ends)[0], _bytes(colour))
        return image.resize(self.camera.size, Image.Resampling.BOX).convert("RGB")

    def _arrow(self, pen: Any, ends: Array, colour: tuple[int, ...]) -> None:
        """Draw a line with a dot at its tail and a head of a fixed size."""
        tail, tip = ends
        length = float(np.linalg.norm(tip - tail))
        size = FINER * 9.0
        pen.ellipse([*(tail - 0.35 * size), *(tail + 0.35 * size)], fill=colour)
        if length > 1e-9:
            along = (tip - tail) / length
            back = tip - min(size, length) * along
            side = 0.36 * size * np.array([-along[1], along[0]])
            pen.line([tuple(tail), tuple(back)], fill=colour, width=2 * FINER)
            pen.polygon([tuple(tip), tuple(back + side), tuple(back - side)], fill=colour)

    @cached_property
    def _paper(self) -> Image:
        """The background: a colour gradient and the grid of the floor."""
        from PIL import Image, ImageDraw

        w, h = self.big.size
        shade = np.linspace(0, 1, h)[:, None, None]
        ramp = (1 - shade) * np.array([247, 249, 251]) + shade * np.array([226, 231, 237])
        image = Image.fromarray(np.broadcast_to(ramp, (h, w, 3)).astype(np.uint8).copy())
        if abs(self.camera.axes[2] @ self.scene.up) > 0.02:
            pen = ImageDraw.Draw(image, "RGBA")
            for line in self._grid():
                pen.line(
                    [tuple(p) for p in self.big.page(line)[0]],
                    fill=(120, 132, 145, 70),
                    width=FINER,
                )
        return image

    def _grid(self) -> list[Array]:
        from .wire import cell_size

        up = self.scene.up
        radius = max(float(np.linalg.norm(np.ptp(self.box, axis=0))) / 2, 6 * self.scene.unit)
        cell = cell_size(radius)
        x = self.camera.axes[0] - up * (self.camera.axes[0] @ up)
        x = x / np.linalg.norm(x)
        y = np.cross(up, x)
        o = self._floor * up + self.box.mean(axis=0) - up * (up @ self.box.mean(axis=0))
        n = int(np.ceil(1.8 * radius / cell))
        spots = cell * np.arange(-n, n + 1)
        return [
            o + s * a + np.outer([-n * cell, n * cell], b)
            for a, b in ((x, y), (y, x))
            for s in spots
        ]

    @cached_property
    def _floor(self) -> float:
        corners = np.array(np.meshgrid(*self.box.T)).reshape(3, -1).T
        return float((corners @ self.scene.up).min()) - 0.5 * self.scene.unit

    def _shadow(self, pen: Any, at: Mapping[str, Array]) -> None:
        """Draw the shadow of everything on the floor, along the sun's rays, where the floor is seen
        from above.
        """
        if self.camera.axes[2] @ self.scene.up < 0.03:
            return
        from PIL import Image, ImageDraw

        mask = Image.new("L", self.big.size, 0)
        ink = ImageDraw.Draw(mask)
        corners, _ = self._triangles(at, solid=True)
        fall = (corners @ self.scene.up - self._floor) / (self.sun @ self.scene.up)
        for triangle in self.big.page(corners - fall[..., None] * self.sun)[0]:
            ink.polygon([(x, y) for x, y in triangle], fill=46)
        pen.bitmap((0, 0), mask, fill=(40, 50, 60))

    def _triangles(self, at: Mapping[str, Array], solid: bool = False) -> tuple[Array, Array]:
        """Return corners (n, 3, 3) and colours (n, 4) of all triangles that face the camera, or
        with `solid` of all that cast shadows.
        """
        corners = [np.zeros((0, 3, 3))]
        colours = [np.zeros((0, 4), int)]
        for g, X, colour in self._placed(at):
            points = moved(X, g.points)
            normals = g.normals @ np.linalg.inv(X[:3, :3])
            triangles = points[g.faces]
            n = normals[g.faces].sum(axis=1)
            n /= np.maximum(np.linalg.norm(n, axis=1, keepdims=True), 1e-300)
            if solid:
                corners.append(triangles if colour[3] > 0.6 else triangles[:0])
                continue
            eye = self.camera.middle + self.camera.distance * self.camera.axes[2]
            facing = np.einsum("ij,ij->i", n, eye - triangles[:, 0]) > 0
            corners.append(triangles[facing])
            colours.append(self._lit(n[facing], colour))
        return np.concatenate(corners), np.concatenate(colours)

    def _lit(self, n: Array, colour: Sequence[float]) -> Array:
        base = np.asarray(colour[:3]) ** 2.2
        day = np.maximum(n @ self.sun, 0.0)[:, None]
        sky = (0.5 + 0.5 * (n @ self.scene.up))[:, None]
        half = self.sun + self.camera.axes[2]
        gloss = np.maximum(n @ (half / np.linalg.norm(half)), 0.0)[:, None] ** 48
        light = base * (0.30 + 0.24 * sky + 0.86 * day) + 0.18 * gloss
        rgb = np.clip(255 * np.clip(light, 0, 1) ** (1 / 2.2), 0, 255)
        return np.concatenate([rgb, np.full((len(n), 1), 255 * colour[3])], axis=1).astype(int)

    def _placed(self, at: Mapping[str, Array]) -> list[tuple[Geometry, Array, Sequence[float]]]:
        s = self.scene
        found: list[tuple[Geometry, Array, Sequence[float]]] = []
        found += [
            (s.geometries[p.geometry], at[p.body] @ p.pose, p.colour)
            for p in s.parts
            if p.layer in self.layers
        ]
        for span in s.spans:
            a = moved(at[span.start], span.at)
            b = moved(at[span.end], span.to)
            if span.layer in self.layers and np.linalg.norm(b - a) > 1e-9:
                found.append(
                    (s.geometries[span.geometry], _stretched(a, b, span.width), span.colour)
                )
        return found


def _stretched(a: Array, b: Array, width: float) -> Array:
    from .drawing import along

    X = along(b - a, a)
    X[:3, :2] *= width
    X[:3, 2] = b - a
    return X


def _bytes(colour: Sequence[float]) -> tuple[int, ...]:
    return tuple(round(255 * x) for x in colour)
