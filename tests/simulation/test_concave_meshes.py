"""Concave meshes collide as their convex parts, which are found once and kept."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

import catena
from catena import Body, Contact, Joint, Mechanism, Shape
from catena.collision import convex_decomposition, convex_parts
from catena.errors import MechanismError

if find_spec("coacd") is None:
    pytest.skip("needs coacd", allow_module_level=True)
trimesh = pytest.importorskip("trimesh")


@pytest.fixture
def channel(tmp_path, monkeypatch):
    """The file of a channel: a floor 0.1 m thick from x = -0.3 to 0.3, and walls up to z = 0.5 on
    both sides.

        |       |
        |       |
        |_______|
    """
    monkeypatch.setattr(convex_decomposition, "cache_folder", lambda: tmp_path / "parts")
    convex_decomposition._files.cache_clear()
    outline = [(-0.3, 0), (0.3, 0), (0.3, 0.5), (0.2, 0.5), (0.2, 0.1), (-0.2, 0.1)]
    outline += [(-0.2, 0.5), (-0.3, 0.5)]
    triangles = [(0, 1, 4), (1, 2, 3), (1, 3, 4), (0, 4, 5), (0, 5, 6), (0, 6, 7)]
    n = len(outline)
    points = [(x, y, z) for y in (-0.5, 0.5) for x, z in outline]
    faces = [*triangles, *((a + n, c + n, b + n) for a, b, c in triangles)]
    for k in range(n):
        j = (k + 1) % n
        faces += [(k, k + n, j), (j, k + n, j + n)]
    mesh = trimesh.Trimesh(points, faces, process=False)
    mesh.fix_normals()
    assert mesh.is_watertight and abs(mesh.volume - (0.06 + 2 * 0.04)) < 1e-12
    mesh.export(tmp_path / "channel.stl")
    yield str(tmp_path / "channel.stl")
    convex_decomposition._files.cache_clear()


def rolling(channel: str, kind: str) -> Mechanism:
    """A ball above a channel of the ground."""
    ball = Shape("sphere", (0.05,), collides=True)
    return Mechanism(
        "channel",
        (Body("ball", 1.0, (0, 0, 0), (0.001,) * 3, shapes=(ball,)),),
        (Joint("free", "free", "ground", "ball"),),
        ground=(Shape(kind, (1.0, 1.0, 1.0), file=channel, collides=True),),
        contacts=(Contact(("ball", "ground"), 0.0, 0.0),),
    )


@pytest.mark.parametrize("options", [{"contact": "time_stepping", "step": 1e-3}, {}])
def test_a_ball_falls_into_a_channel(channel, options):
    m = rolling(channel, "concave_mesh")
    run = catena.simulate(m, q=[0, 0.02, 0.3, 1, 0, 0, 0], until=0.5, threads=1, **options)
    assert abs(run.q.values[-1, 2] - 0.15) < 1e-3  # as exact as the decomposition
    clear = catena.clearance(m, [0, 0.02, 0.3, 1, 0, 0, 0])
    assert abs(float(np.min(clear.distance)) - 0.15) < 1e-3


def test_parts_fill_the_mesh_and_are_made_once(channel, monkeypatch):
    shape = rolling(channel, "concave_mesh").ground[0]
    parts = convex_parts(shape)
    assert len(parts) >= 3 and all(p.kind == "mesh" and p.collides for p in parts)
    volume = sum(trimesh.load(p.file, force="mesh").convex_hull.volume for p in parts)
    assert abs(volume - 0.14) < 0.03 * 0.14
    monkeypatch.setattr(convex_decomposition, "_decomposed", None)
    convex_decomposition._files.cache_clear()
    assert convex_parts(shape) == parts
    with pytest.raises(MechanismError, match="between 0.01 and 1"):
        convex_parts(shape, threshold=2.0)
    scaled = convex_parts(Shape("concave_mesh", (2.0, 1.0, 1.0), file=channel))
    assert np.allclose(scaled[0].size, (2.0, 1.0, 1.0))
