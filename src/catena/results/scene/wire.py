"""A scene and a film in the form that a page takes: a header of plain data, and one block of bytes
with all triangles.

The page's own code is in `shaders.js`, `stage.js`, `flat.js` and `film.js`, its colours in
`theme.css`; they are part of every page that shows a scene.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from .description import LAYERS, Scene
from .detail import drafts
from .geometry import Geometry, arrow, ball, tube

Array = np.ndarray


def header(scene: Scene, at: Array, seen: Array | None = None) -> tuple[dict[str, Any], bytes]:
    """Return (plain data, triangles) of a scene with bodies at poses `at` (bodies, 4, 4). seen: (2,
    3), the corners of the box that a picture must contain.
    """
    shapes = {**scene.geometries, **_handles(scene.unit)}
    keys = {key: k for k, key in enumerate(shapes)}
    bodies = {name: k for k, name in enumerate(scene.bodies)}
    blob, table = _packed(
        shapes, drafts(shapes, [p.geometry for p in scene.parts if LAYERS[p.layer]])
    )
    box = scene.box(dict(zip(scene.bodies, at))) if seen is None else seen
    middle = box.mean(axis=0)
    radius = max(float(np.linalg.norm(np.ptp(box, axis=0))) / 2, 6 * scene.unit)
    parts = [
        {
            "body": bodies[p.body],
            "geometry": keys[p.geometry],
            "pose": _rows(p.pose),
            "colour": list(p.colour),
            "layer": p.layer,
            "name": p.name,
        }
        for p in scene.parts
    ]
    spans = [
        {
            "start": bodies[s.start],
            "at": _short(s.at),
            "end": bodies[s.end],
            "to": _short(s.to),
            "geometry": keys[s.geometry],
            "width": s.width,
            "colour": list(s.colour),
            "layer": s.layer,
            "name": s.name,
        }
        for s in scene.spans
    ]
    v = scene.view
    corners = np.array(np.meshgrid(*box.T)).reshape(3, -1).T
    return {
        "name": scene.name,
        "bodies": list(scene.bodies),
        "geometries": table,
        "parts": parts,
        "spans": spans,
        "layers": dict(LAYERS),
        "up": _short(scene.up),
        "view": {
            "right": _short(v.right),
            "up": _short(v.up),
            "towards": _short(v.towards),
            "planar": v.planar,
        },
        "middle": _short(middle),
        "box": box.tolist(),
        "radius": radius,
        "floor": float((corners @ scene.up).min()) - 0.5 * scene.unit,
        "cell": cell_size(radius),
        "unit": scene.unit,
        "poses": _rows(at),
        "notes": list(scene.notes),
        "tips": [
            {"name": name, "body": bodies[body], "point": _short(point)}
            for name, (body, point) in scene.tips.items()
            if body in bodies
        ],
    }, blob


def film_numbers(at: Array) -> Array:
    """Return poses (n, bodies, 4, 4) as float32 (n, bodies, 7): position, then quaternion, scalar
    first.
    """
    n, count = at.shape[:2]
    turns = (
        Rotation.from_matrix(at[..., :3, :3].reshape(-1, 3, 3).copy())
        .as_quat(scalar_first=True)
        .reshape(n, count, 4)
    )
    return np.concatenate([at[..., :3, 3], turns], axis=-1).astype(np.float32)


def text(data: Mapping[str, Any]) -> str:
    """Return plain data as JSON that is safe inside an HTML page."""
    return json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def packed(numbers: Array | bytes) -> str:
    """Return numbers as a string, for a page that consists of one file."""
    return base64.b64encode(
        numbers if isinstance(numbers, bytes) else np.ascontiguousarray(numbers).tobytes()
    ).decode()


def page(text: str, **parts: str) -> str:
    """Return a page with its placeholders {{name}} replaced: its parts, the colours that all pages
    share, and the code that draws scenes.
    """
    folder = resources.files("catena.results.scene")
    read = lambda name: (folder / name).read_text(encoding="utf-8")  # noqa: E731
    stage = "".join(read(f"{name}.js") for name in ("shaders", "stage", "flat", "film"))
    for name, part in {"theme": read("theme.css"), "stage": stage, **parts}.items():
        text = text.replace("{{" + name + "}}", part)
    return text


def _packed(
    shapes: Mapping[str, Geometry], few: Mapping[str, Geometry]
) -> tuple[bytes, list[dict[str, Any]]]:
    """Return the triangles of all solids one after the other (points with their normals as float32,
    faces as uint32), and where each solid begins. few: coarser solids.
    """
    blob, table = bytearray(), []

    def add(g: Geometry) -> dict[str, Any]:
        row = {"start": len(blob), "points": len(g.points), "faces": len(g.faces)}
        blob.extend(
            np.concatenate([g.points, g.normals], axis=1).astype("<f4").tobytes()
            + g.faces.astype("<u4").tobytes()
        )
        return row

    for key, g in shapes.items():
        table.append({"key": key, **add(g), "coarse": add(few[key]) if key in few else None})
    return bytes(blob), table


def _handles(unit: float) -> dict[str, Geometry]:
    """Return the solids that a page places itself: arrows of forces, and the handles for
    dragging.
    """
    angle = np.linspace(0, 2 * np.pi, 49)
    ring = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    long = arrow(1.0, 0.045)
    wide = Geometry(long.points * np.array([1 / 0.108, 1 / 0.108, 1.0]), long.normals, long.faces)
    return {
        "unit arrow": wide,
        "handle": arrow(1.0, 0.035),
        "ring": tube(ring, 0.03, 6),
        "dot": ball(1.0, 8),
    }


def _rows(X: Array) -> list[float]:
    """Return the upper three rows of poses (..., 4, 4), one after the other."""
    return np.round(X[..., :3, :].reshape(-1), 9).tolist()


def _short(x: Array | Sequence[float]) -> list[float]:
    return np.round(np.asarray(x, float), 9).tolist()


def cell_size(radius: float) -> float:
    """Return the side of a cell of the floor's grid, m: 1, 2 or 5 times a power of ten, about a
    fifth of the radius that is seen.
    """
    power = 10.0 ** np.floor(np.log10(radius / 3))
    return float(next(k * power for k in (5, 2, 1) if k * power <= radius / 3 or k == 1))
