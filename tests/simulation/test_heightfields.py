"""Terrain by a grid of heights: its triangles, and contact with them by time stepping, against
closed forms, all distances one by one, and MuJoCo.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import catena
from catena import Body, Contact, Joint, Mechanism, Pose, Shape
from catena.collision import grid_of, grid_triangles
from catena.errors import CatenaError, MechanismError

RADIUS = 0.1


def on_field(grid, size, shape=None, friction=0.5, pose=None) -> Mechanism:
    """A free body, by default a ball of one kilogram, above a heightfield."""
    shape = shape or Shape("sphere", (RADIUS,), collides=True)
    field = Shape("heightfield", size, pose or Pose(), heights=grid, collides=True)
    return Mechanism(
        "terrain",
        (Body("ball", 1.0, (0, 0, 0), (0.4 * RADIUS**2,) * 3, shapes=(shape,)),),
        (Joint("free", "free", "ground", "ball"),),
        ground=(field,),
        contacts=(Contact(("ball", "ground"), friction, 0.0),),
    )


def stepped(m, q, until, **options):
    return catena.simulate(
        m, q=q, until=until, contact="time_stepping", step=1e-3, threads=1, **options
    )


def nearest(points, faces, c) -> float:
    """The distance of a point from the nearest triangle, one by one."""
    found = []
    for a, b, e in points[faces]:
        n = np.cross(b - a, e - a)
        n /= np.linalg.norm(n)
        inside = min(n @ np.cross(q - p, c - p) for p, q in ((a, b), (b, e), (e, a)))
        if inside >= 0.0:
            found.append(abs(n @ (c - a)))
        for p, q in ((a, b), (b, e), (e, a)):
            share = np.clip((c - p) @ (q - p) / ((q - p) @ (q - p)), 0.0, 1.0)
            found.append(float(np.linalg.norm(c - p - share * (q - p))))
    return min(found)


def test_gaps_are_distances_from_the_nearest_triangle_as_in_mujoco():
    mujoco = pytest.importorskip("mujoco")
    rng = np.random.default_rng(3)
    grid = rng.uniform(0.0, 1.0, (6, 7))
    size = (1.2, 1.0, 0.3)
    m = on_field(grid, size)
    points, faces = grid_triangles(m.ground[0], size)
    places = np.column_stack([rng.uniform(-0.4, 0.4, (200, 2)), rng.uniform(0.1, 0.5, 200)])
    far = np.array([nearest(points, faces, c) for c in places])
    row = np.clip(((places[:, 1] + 0.5) / 0.2).astype(int), 0, 4)
    column = np.clip(((places[:, 0] + 0.6) / 0.2).astype(int), 0, 5)
    highest = 0.3 * np.max([grid[row + i, column + j] for i in (0, 1) for j in (0, 1)], axis=0)
    chosen = (places[:, 2] > highest) & (far > RADIUS + 1e-3) & (far < 0.2)
    places, far = places[chosen][:24], far[chosen][:24]
    assert len(places) == 24
    q = np.column_stack([places, np.tile([1.0, 0, 0, 0], (24, 1))])
    run = stepped(m, q, 1e-3)
    gap = run.contacts.gap.values[:, 0]
    assert np.abs(np.nanmin(gap, axis=1) - (far - RADIUS)).max() < 1e-14
    xml = (
        '<mujoco><asset><hfield name="h" nrow="6" ncol="7" size="0.6 0.5 0.3 0.1"/></asset>'
        '<worldbody><geom type="hfield" hfield="h" margin="1"/><body><freejoint/>'
        f'<geom type="sphere" size="{RADIUS}" margin="1"/></body></worldbody></mujoco>'
    )
    model = mujoco.MjModel.from_xml_string(xml)
    low, high = grid.min(), grid.max()  # MuJoCo's grids are between 0 and 1
    model.hfield_data[:] = ((grid - low) / (high - low)).ravel()
    scaled = stepped(on_field((grid - low) / (high - low), size), q[:1], 1e-3)
    data = mujoco.MjData(model)
    data.qpos[:] = q[0]
    mujoco.mj_forward(model, data)
    theirs = min(c.dist for c in data.contact)
    assert abs(theirs - np.nanmin(scaled.contacts.gap.values[0, 0])) < 1e-6


def test_a_ball_rolls_down_a_plane_of_triangles():
    x = np.linspace(-1, 1, 11)
    angle = math.atan(0.1)
    m = on_field(np.tile(0.1 * x, (9, 1)), (2.0, 2.0, 1.0))
    run = stepped(m, [0.5, 0.03, 0.05 + RADIUS / math.cos(angle), 1, 0, 0, 0], 0.5)
    along = -5 / 7 * 9.81 * math.sin(angle) * math.cos(angle)
    assert abs(run.q.values[-1, 0] - (0.5 + 0.5 * along * 0.25)) < 1e-9
    assert np.nanmax(np.abs(run.contacts.gap.values[:, 0])) < 1e-12


def test_a_ball_in_a_valley_is_held_by_both_sides():
    x = np.linspace(-1, 1, 11)
    m = on_field(np.tile(np.abs(x), (9, 1)), (2.0, 2.0, 1.0), friction=0.0)
    run = stepped(m, [0, 0.03, RADIUS * math.sqrt(2) + 1e-3, 1, 0, 0, 0], 0.3)
    assert np.abs(run.q.values[-1, :3] - [0, 0.03, RADIUS * math.sqrt(2)]).max() < 1e-12
    forces = np.sort(run.contacts.normal_force.values[-1])
    assert np.abs(forces - [0, 9.81 / math.sqrt(2), 9.81 / math.sqrt(2)]).max() < 1e-9


def test_a_field_at_a_pose_is_a_plane_at_that_pose():
    turned = Pose.rpy(0.2, -0.1, 0.3)
    flat = on_field(np.zeros((5, 4)), (3.0, 3.0, 1.0), pose=turned, friction=0.2)
    plane = Mechanism(
        "plane",
        flat.bodies,
        flat.joints,
        ground=(Shape("plane", (), turned, collides=True),),
        contacts=flat.contacts,
    )
    q = [0.1, 0.2, 0.3, 1, 0, 0, 0]
    one, two = (stepped(m, q, 0.4) for m in (flat, plane))
    assert np.abs(one.q.values - two.q.values).max() < 1e-10


def test_a_box_stands_on_its_corners():
    box = Shape("box", (0.2, 0.2, 0.2), collides=True)
    run = stepped(on_field(np.zeros((8, 8)), (2, 2, 1), box), [0.01, 0.02, 0.11, 1, 0, 0, 0], 0.3)
    assert abs(run.q.values[-1, 2] - 0.1) < 1e-12
    assert abs(run.contacts.force.values[-1].sum(axis=0)[2] - 9.81) < 1e-7


def test_events_and_wrong_grids_are_refused():
    m = on_field(np.zeros((5, 5)), (2, 2, 1))
    with pytest.raises(CatenaError, match="time_stepping"):
        catena.simulate(m, q=[0, 0, 1, 1, 0, 0, 0], until=0.1)
    with pytest.raises(MechanismError, match="is not a grid"):
        on_field([[1.0, 2.0]], (2, 2, 1))
    with pytest.raises(CatenaError, match="cells of which"):
        stepped(on_field(np.zeros((201, 201)), (0.5, 0.5, 1)), [0, 0, 1, 1, 0, 0, 0], 0.1)


def test_files_hold_heights(tmp_path):
    from PIL import Image

    grid = np.array([[0, 51], [102, 255]])
    Image.fromarray(grid[::-1].astype(np.uint8)).save(tmp_path / "hill.png")
    np.save(tmp_path / "hill.npy", grid / 255)
    (tmp_path / "hill.csv").write_text("0,0.2\n0.4,1\n", encoding="utf-8")
    for ending in ("png", "npy", "csv"):
        shape = Shape("heightfield", (1, 1, 1), file=str(tmp_path / f"hill.{ending}"))
        assert np.abs(grid_of(shape) - grid / 255).max() < 1e-15
    m = on_field(grid / 255, (2, 1, 0.5))
    catena.save(m, tmp_path / "m.toml")
    assert catena.load(tmp_path / "m.toml").ground == m.ground


def test_fields_of_mjcf_are_terrain(tmp_path):
    pytest.importorskip("mujoco")
    (tmp_path / "m.xml").write_text(
        '<mujoco><asset><hfield name="h" nrow="3" ncol="3" size="1 1 0.5 0.1"'
        ' elevation="0 0 0 0 1 0 0 0 0"/></asset><worldbody><geom type="hfield" hfield="h"/>'
        '<body name="b" pos="0.3 0.2 1"><freejoint/><geom type="sphere" size="0.1"/></body>'
        "</worldbody></mujoco>",
        encoding="utf-8",
    )
    m = catena.load(tmp_path / "m.xml", contacts=True)
    (field,) = m.ground
    assert field.kind == "heightfield" and field.size == (2, 2, 0.5)
    assert [c.name for c in m.contacts] == ["b on ground"]
    run = stepped(m, [0.3, 0.2, 1, 1, 0, 0, 0], 0.8)
    assert 0.05 < run.q.values[-1, 2] < 0.5 or run.q.values[-1, 2] < 0.0  # on the cone, or off it
