"""The scene of a page that runs by itself: few enough triangles for one small file, and the
derivatives of each solid by the parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..model import GROUND, Mechanism
from ..results.scene import LAYERS, Geometry, Scene, describe, drafts, wire

Array = np.ndarray
PARAMETER_STEP_RATIO = 1e-3  # step of the difference quotient, relative to the parameter's value


def page_scene(m: Mechanism, folders: Sequence[Path] | None = None) -> tuple[Scene, dict[str, Any]]:
    """Return the scene, and {parameter: derivative of what is drawn}, exact for lengths, which
    enter linearly.
    """
    base = _shown(m, describe(m, folders=folders))
    others = {}
    for name, value in m.parameters.items():
        step = PARAMETER_STEP_RATIO * (abs(value) or 1.0)
        other = _shown(
            m,
            describe(
                m.with_(parameters={**m.parameters, name: value + step}),
                folders=folders,
                unit=base.unit,
            ),
        )
        if [(p.body, len(base.geometries[p.geometry].points)) for p in base.parts] == [
            (p.body, len(other.geometries[p.geometry].points)) for p in other.parts
        ]:
            others[name] = (other, step)
    scene = _own(
        base,
        {
            k
            for other, _ in others.values()
            for k in range(len(base.parts))
            if _differs(base, other, k)
        },
    )
    keys = {key: k for k, key in enumerate(scene.geometries)}
    slopes = {name: _slopes(scene, other, step, keys) for name, (other, step) in others.items()}
    return scene, {name: s for name, s in slopes.items() if any(s.values())}


def _shown(m: Mechanism, scene: Scene) -> Scene:
    """Return the parts of a scene in layers that are visible at first, of bodies whose poses the
    page has.
    """
    known = {GROUND, *(b.name for b in m.bodies)}
    parts = tuple(p for p in scene.parts if LAYERS[p.layer] and p.body in known)
    spans = tuple(s for s in scene.spans if LAYERS[s.layer] and {s.start, s.end} <= known)
    used = dict.fromkeys([*(p.geometry for p in parts), *(s.geometry for s in spans)])
    return replace(
        scene,
        bodies=(GROUND, *(b.name for b in m.bodies)),
        parts=parts,
        spans=spans,
        geometries={key: scene.geometries[key] for key in used},
    )


def _differs(base: Scene, other: Scene, k: int) -> bool:
    """Return whether the triangles of part k differ between two scenes."""
    a = base.geometries[base.parts[k].geometry]
    b = other.geometries[other.parts[k].geometry]
    return not np.array_equal(a.points, b.points)


def _own(scene: Scene, changing: set[int]) -> Scene:
    """Return the scene in which solids that change have their own triangles, and the others are
    replaced by coarser ones if there are many.
    """
    parts = tuple(
        replace(p, geometry=f"{p.geometry} {k}") if k in changing else p
        for k, p in enumerate(scene.parts)
    )
    own = {parts[k].geometry: scene.geometries[scene.parts[k].geometry] for k in changing}
    still = {
        key: g
        for key, g in scene.geometries.items()
        if key in {*(p.geometry for p in parts), *(s.geometry for s in scene.spans)}
    }
    few = drafts(still, [p.geometry for k, p in enumerate(parts) if k not in changing])
    return replace(
        scene,
        parts=parts,
        geometries={
            key: Geometry(g.points, g.normals, g.faces)
            for key, g in {**still, **few, **own}.items()
        },
    )


def _slopes(base: Scene, other: Scene, step: float, keys: dict[str, int]) -> dict[str, Any]:
    """Return the derivatives with respect to a parameter: of poses of parts, ends of spans, tips,
    and triangles, as float32.
    """
    near = lambda a, b: np.allclose(a, b, rtol=0, atol=1e-12)  # noqa: E731
    rate = lambda a, b: np.round((np.asarray(b) - np.asarray(a)) / step, 9)  # noqa: E731
    pairs = list(enumerate(zip(base.parts, other.parts)))
    shapes = [
        (keys[p.geometry], base.geometries[p.geometry], other.geometries[q.geometry])
        for _, (p, q) in pairs
    ]
    bones = [
        (k, (*s.at, *s.to), (*t.at, *t.to)) for k, (s, t) in enumerate(zip(base.spans, other.spans))
    ]
    ends = [
        (k, a, b)
        for k, (a, b) in enumerate(
            zip((p for _, p in base.tips.values()), (p for _, p in other.tips.values()))
        )
    ]
    return {
        "parts": [
            [k, rate(p.pose, q.pose)[:3].ravel().tolist()]
            for k, (p, q) in pairs
            if not near(p.pose, q.pose)
        ],
        "spans": [[k, rate(a, b).tolist()] for k, a, b in bones if not near(a, b)],
        "tips": [[k, rate(a, b).tolist()] for k, a, b in ends if not near(a, b)],
        "shapes": [
            [
                k,
                wire.packed(
                    np.concatenate([g.points - f.points, g.normals - f.normals], axis=1).astype(
                        "<f4"
                    )
                    / np.float32(step)
                ),
            ]
            for k, f, g in shapes
            if f.points.shape == g.points.shape and not np.array_equal(f.points, g.points)
        ],
    }
