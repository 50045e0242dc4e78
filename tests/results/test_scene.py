"""The scene: bodies are where the kernels put them, solids are closed and face outwards, meshes are
found where they may lie.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

import catena
from catena.formats import examples
from catena.machine.machine import Machine
from catena.model.flexible import discretise
from catena.model.joint_kinds import KINDS
from catena.model.loads import (
    CONSTRAINTS,
    LOADS,
    Cable,
    Clutch,
    CoordinateSpring,
    Coupling,
    Drag,
    Fluid,
    Freewheel,
    Screw,
    Tension,
)
from catena.model.mechanism import Body, Joint, Mechanism, Shape
from catena.model.shapes import KINDS as SHAPES
from catena.results.scene import describe, geometry, loads, meshes, wire
from catena.results.scene.detail import DRAFT_TRIANGLES, drafts
from catena.results.scene.elements import _around, disc
from catena.results.scene.geometry import ball, box
from catena.results.scene.placement import placement
from catena.results.scene.raster import Painter, camera_of
from catena.results.scene.skeleton import bodies_at
from catena.results.scene.wheels import Axes, wheels
from zoo import random_tree


@pytest.mark.parametrize("seed", [1, 2])
def test_bodies_are_where_the_machine_says(seed):
    m = random_tree(seed, KINDS)
    machine = Machine(m, life="generic")
    q = machine.sample(np.random.default_rng(seed), 4)
    at = placement(m).at(q)
    for body in m.bodies:
        np.testing.assert_allclose(at[body.name], machine.pose(q, body.name), atol=1e-12)
    np.testing.assert_array_equal(
        placement(m).at(q[0])[m.bodies[-1].name], at[m.bodies[-1].name][0]
    )


def test_a_flexible_body_and_other_parameters():
    m = catena.load("four_bar")
    q = np.array([0.3, -0.4, 0.2])
    other = np.array([0.2, *list(m.parameters.values())[1:]])
    moved = placement(m, other).at(q)["coupler"][:3, 3]
    np.testing.assert_allclose(moved, [0.2 * np.cos(0.3), 0.2 * np.sin(0.3), 0], atol=1e-15)
    beam = discretise(catena.load("two_link_flexible"))
    machine = Machine(beam)
    q = machine.sample(np.random.default_rng(0))
    at = placement(beam).at(q)
    assert max(np.abs(at[b.name] - machine.pose(q, b.name)).max() for b in beam.bodies) < 1e-12


SOLIDS = {
    "box": (lambda: geometry.box(1, 2, 3), 6.0),
    "cylinder": (lambda: geometry.cylinder(1, 2, 200), 2 * np.pi),
    "ball": (lambda: geometry.ball(1, 60), 4 / 3 * np.pi),
    "capsule": (lambda: geometry.capsule(1, 2, 60), 2 * np.pi + 4 / 3 * np.pi),
    "pin": (lambda: geometry.pin(1, 2), None),
    "arrow": (lambda: geometry.arrow(1, 0.1), None),
    "spiral": (lambda: geometry.spiral(1.0), None),
    "hull": (lambda: geometry.hull(geometry.box(1, 2, 3).points), 6.0),
}


@pytest.mark.parametrize("name", SOLIDS)
def test_solids_face_outwards(name):
    """The volume by Gauss's theorem is positive and right; normals agree with the faces."""
    make, volume = SOLIDS[name]
    g = make()
    a, b, c = (g.points[g.faces[:, k]] for k in range(3))
    found = np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6
    assert found > 0 and (volume is None or found == pytest.approx(volume, rel=4e-3))
    flat = np.cross(b - a, c - a)
    facing = np.einsum("ij,ij->i", flat, g.normals[g.faces].sum(axis=1))
    assert (facing[np.linalg.norm(flat, axis=1) > 1e-9] > 0).all()
    mirrored = g.moved(np.diag([-2.0, 1.0, 1.0, 1.0]))
    a, b, c = (mirrored.points[mirrored.faces[:, k]] for k in range(3))
    assert np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6 == pytest.approx(2 * found)


@pytest.mark.parametrize(
    "name",
    [
        "every_joint",
        "slider_crank",
        "human_in_free_fall",
        "rolling_disc",
        "knife_edge",
        "flexible_arm",
    ],
)
def test_every_body_is_seen(name):
    m = discretise(catena.load(name))
    scene = describe(m)
    drawn = {p.body for p in scene.parts if p.layer in ("bodies", "joints")} | {
        s.start for s in scene.spans
    }
    lonely = {b.name for b in m.bodies} - drawn
    inner = {n for f in m.beams for n in f.bodies}
    massless = {b.name for b in m.bodies if not b.mass}
    assert not lonely - inner - massless and not scene.notes
    header, blob = wire.header(scene, np.tile(np.eye(4), (len(scene.bodies), 1, 1)))
    last = header["geometries"][-1]
    assert len(blob) == last["start"] + 24 * last["points"] + 12 * last["faces"]


def test_springs_dampers_cables_and_forces_are_drawn():
    rod = Body("rod", 1.0, (0.5, 0, 0), (0.1, 0.1, 0.1))
    m = Mechanism(
        "sprung",
        [rod],
        [Joint("pin", "revolute", "ground", "rod")],
        frames=[catena.Frame("tip", "rod", catena.Pose(position=(1, 0, 0)))],
        loads=[
            catena.Spring("s", "ground", "tip", stiffness=10.0, length=0.5, damping=1.0),
            Cable("c", ("ground", "rod", "tip"), stiffness=5.0, length=1.0),
            catena.JointSpring("k", "pin", stiffness=1.0, rest=0.0),
            catena.Force("f", "tip", force=(0.0, -1.0, 0.0)),
            catena.JointForce("t", "pin", "sin(t)"),
        ],
    )
    scene = describe(m.validate())
    assert {s.name for s in scene.spans} == {"s", "c"} and {
        p.name for p in scene.parts if p.layer == "loads"
    } == {"c", "k", "f", "pin"}
    assert (
        sum(s.geometry == "coil" for s in scene.spans) == 1
        and sum(s.geometry == "damper" for s in scene.spans) == 1
    )


def test_a_glyph_from_outside():
    class Toy(catena.Force):
        kind = "toy"

    seen = []
    loads.register(loads.LoadGlyph("toy", lambda d, load: seen.append(load.name)))
    try:
        m = catena.load("two_link_arm")
        describe(m.with_(loads=(Toy("push", m.bodies[0].name),)))
    finally:
        del loads.GLYPHS["toy"]
    assert seen == ["push"]


def test_the_scale_is_the_mechanism_s_own():
    small = describe(catena.load("two_link_arm"))
    m = catena.load("two_link_arm")
    grown = m.with_(
        bodies=tuple(replace(b, com=tuple(1000 * x for x in b.com)) for b in m.bodies),
        joints=tuple(
            replace(
                j, placement=catena.Pose(position=tuple(1000 * x for x in j.placement.position))
            )
            for j in m.joints
        ),
        frames=(),
    )
    assert describe(grown).unit > 300 * small.unit


def test_all_examples_can_be_painted():
    for name in ("four_bar", "every_joint"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            m = discretise(catena.load(name))
        scene = describe(m)
        at = bodies_at(m, Machine(m, life="generic").neutral())
        box = scene.box(at)
        picture = np.asarray(Painter(scene, camera_of(scene, box, (160, 120)), box).picture(at))
        assert picture.shape == (120, 160, 3) and picture.std() > 4
    assert "four_bar" in examples()


# --- meshes
def part(file):
    return Mechanism(
        "robot",
        [
            Body(
                "link",
                1.0,
                (0, 0, 0),
                (1, 1, 1),
                shapes=(Shape("mesh", (1.0, 1.0, 1.0), file=file),),
            )
        ],
        [Joint("pin", "revolute", "ground", "link")],
    )


@pytest.fixture
def cube(tmp_path, monkeypatch):
    trimesh = pytest.importorskip("trimesh")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("ROS_PACKAGE_PATH", raising=False)
    home = tmp_path / "ws" / "bot" / "urdf"
    for folder in (home, home.parent / "meshes", tmp_path / "ws" / "other", tmp_path / "elsewhere"):
        folder.mkdir(parents=True)
    data = trimesh.creation.box((1, 1, 1)).export(file_type="stl")
    for place in (
        home.parent / "meshes" / "cube.stl",
        tmp_path / "elsewhere" / "cube.stl",
        tmp_path / "ws" / "other" / "cube.stl",
    ):
        place.write_bytes(data)
    return home


@pytest.mark.parametrize(
    "name",
    [
        "../meshes/cube.stl",
        "package://bot/meshes/cube.stl",
        "package:///bot/meshes/cube.stl",
        "package://other/cube.stl",
    ],
)
def test_meshes_are_found(cube, name):
    scene = describe(part(name), folders=[cube])
    assert not scene.notes
    (key,) = [k for k in scene.geometries if k.startswith("mesh")]
    assert len(scene.geometries[key].faces) == 12
    again = describe(part(name), folders=[cube])  # from the cache
    np.testing.assert_allclose(again.geometries[key].points, scene.geometries[key].points)


def test_ros_package_path(cube, tmp_path, monkeypatch):
    (tmp_path / "ros" / "pack").mkdir(parents=True)
    (tmp_path / "elsewhere" / "cube.stl").rename(tmp_path / "ros" / "pack" / "cube.stl")
    assert describe(part("package://pack/cube.stl"), folders=[cube]).notes
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path / "ros"))
    assert not describe(part("package://pack/cube.stl"), folders=[cube]).notes


def test_meshes_that_cannot_be_drawn(cube, tmp_path, monkeypatch):
    """A box stands in, and one sentence names the file."""
    (cube / "broken.stl").write_bytes(b"solid nothing\nfacet nonsense\n")
    (cube / "empty.obj").write_text("# nothing\n")
    monkeypatch.setattr(meshes, "LARGEST_FILE_BYTES", 500)
    cases = {
        "gone.stl": "'gone.stl' is not there; looked in",
        str(
            tmp_path / "elsewhere" / "cube.stl"
        ): "lies outside the folders of the model; name its folder with --meshes",
        "../../../elsewhere/cube.stl": "lies outside the folders",
        "broken.stl": "mesh 'broken.stl'",
        "empty.obj": "mesh 'empty.obj'",
        "../meshes/cube.stl": r"'cube.stl' has 0 MB; 0 MB are read at most",
    }
    for name, words in cases.items():
        scene = describe(part(name), folders=[cube])
        (note,) = scene.notes
        assert note.startswith("link: ") and note.endswith("a box stands in") and words in note
        assert sum(p.layer == "bodies" for p in scene.parts) == 1


def test_a_fine_mesh_is_made_coarser():
    g = geometry.ball(1.0, 90)
    points, faces = meshes.coarser(g.points, g.faces, most=3000)
    assert (
        len(faces) <= 3000 < len(g.faces)
        and np.abs(np.linalg.norm(points, axis=1) - 1).max() < 0.05
    )


def test_a_draft_has_few_triangles_of_the_same_size():
    """Large solids lose most; what is left fills the same box; small scenes are left as they
    are.
    """
    pytest.importorskip("fast_simplification")
    shapes = {"large": ball(1.0, 120), "small": ball(0.05, 60), "box": box(1.0, 1.0, 1.0)}
    made = drafts(shapes, ["large", "small", "small", "box"])
    assert (
        set(made) == {"large", "small"}
        and len(made["small"].faces) < len(made["large"].faces) <= DRAFT_TRIANGLES
    )
    for key, g in made.items():
        np.testing.assert_allclose(
            np.ptp(g.points, axis=0), np.ptp(shapes[key].points, axis=0), rtol=0.1
        )
        np.testing.assert_allclose(np.linalg.norm(g.normals, axis=1), 1.0, atol=1e-6)
    assert drafts({"box": box(1.0, 1.0, 1.0)}, ["box"] * 10) == {}


def test_every_kind_of_shape_is_drawn():
    for kind in SHAPES.values():
        if kind.from_file or kind.name == "line":
            continue
        grid = {"heights": ((0.0, 1.0), (0.5, 0.0))} if kind.has_grid else {}
        m = part("x").with_(
            bodies=(
                Body(
                    "link",
                    1.0,
                    (0, 0, 0),
                    (1, 1, 1),
                    shapes=(Shape(kind.name, (0.2,) * len(kind.sizes), **grid),),
                ),
            )
        )
        assert any(p.layer == "bodies" and p.body == "link" for p in describe(m).parts), kind.name


def test_gears_touch_cams_have_their_lift_and_belts_their_length():
    """Pitch circles of the train touch; the cam's curve is base circle and lift; an open belt is
    two tangents and two arcs long.
    """
    gear = catena.load("planetary_gear")
    made = {(w.body, w.ring): w for w in wheels(gear)}
    sun, planet, ring = (
        next(w for (body, _), w in made.items() if word in body)
        for word in ("sun", "planet", "ring")
    )
    apart = Axes(gear).distance(sun.body, planet.body)
    assert (
        sun.radius + planet.radius == pytest.approx(apart)
        and ring.radius - planet.radius == pytest.approx(apart)
        and ring.ring
        and ring.teeth > 0
    )
    (cam,) = wheels(catena.load("cycloidal_cam"))
    assert np.ptp(cam.outline) == pytest.approx(
        catena.load("cycloidal_cam").parameters["h"], rel=1e-3
    )
    a, b, d = 0.1, 0.2, 0.6
    length = np.linalg.norm(np.diff(_around(a, b, d, False), axis=0), axis=1).sum()
    lean = np.arcsin((b - a) / d)
    assert length == pytest.approx(
        2 * np.sqrt(d**2 - (b - a) ** 2) + a * (np.pi - 2 * lean) + b * (np.pi + 2 * lean), rel=1e-3
    )
    assert _around(0.1, 0.9, 0.6, False) is None
    parts = {p.name for p in describe(gear).parts if p.layer == "loads"}
    assert len([x for x in gear.constraints if x.name in parts]) == len(gear.constraints)
    volume = disc(np.full(400, 0.5), 0.1, 0.0)
    corners = volume.points[volume.faces]
    # looks outwards
    assert np.einsum(
        "ij,ij->i", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])
    ).sum() / 6 == pytest.approx(np.pi * 0.25 * 0.1, rel=1e-3)


def test_every_machine_element_has_a_glyph():
    """Gears and cams are drawn as wheels; a text and the strain of a beam have no place of their
    own.
    """
    drawn = {*loads.GLYPHS, "gear_pair", "cam", "expression", "strain"}
    assert {*LOADS, *CONSTRAINTS} <= drawn
    box = Body("a", 1.0, (0, 0, 0), (0.1, 0, 0, 0.1, 0, 0.1))
    joints = [
        Joint(name, kind, "ground", name, axis=(1, 0, 0))
        for name, kind in (("a", "revolute"), ("b", "revolute"), ("s", "prismatic"))
    ]
    m = Mechanism(
        "elements",
        [replace(box, name=j.name) for j in joints],
        joints,
        loads=[
            Clutch("c", "a", "5", 0.01, ("b",)),
            Freewheel("w", "b", 3.0),
            CoordinateSpring("bar", ("a", "b"), (1, -1), 3.0, 0.0),
            Tension("t", ("a", "s"), "-3"),
            Fluid("water", "b", (0.5, 0.2, 0.1), 1000.0),
            Drag("air", "a", 0.3),
        ],
        constraints=[
            Screw("thread", "a", "s", "ground", 0.02),
            Coupling("tie", ("b", "s"), (1, 2)),
        ],
    )
    made = describe(m)
    assert {x.name for x in (*m.loads, *m.constraints)} <= {
        x.name for x in (*made.parts, *made.spans)
    }


@pytest.mark.parametrize(
    ("shape", "balls"),
    [
        (Shape("cylinder", (0.1, 0.3), collides=True), 0),
        (Shape("capsule", (0.1, 0.3), collides=True), 0),
        (Shape("box", (0.1, 0.2, 0.3), collides=True), 8),
    ],
)
def test_what_touches_is_seen_once(shape, balls):
    """Corners that touch are marked; rims, and the ends of capsules, are seen with the body."""
    body = Body("it", 1.0, (0, 0, 0), (1, 1, 1), shapes=(shape,))
    m = Mechanism(
        "it",
        (body,),
        (Joint("free", "free", "ground", "it"),),
        contacts=(catena.Contact(("it", "ground"), 0.5, 0.0),),
    )
    assert sum(p.layer == "contacts" and p.body == "it" for p in describe(m).parts) == balls


def test_a_ring_that_is_the_ground_is_drawn_about_the_axis_of_its_arm():
    """Of gears whose second wheel is the ground, or a body fixed anywhere: about the arm's axis, in
    sticks, in solids and on a page.
    """
    from catena.model.loads import GearPair
    from catena.results.scene.wheels import wheels

    pair = GearPair("mesh", "planet", "ground", "arm", (20, 60), "internal")
    disc = {"mass": 1.0, "com": (0, 0, 0), "inertia": (0.1, 0.1, 0.1)}
    joints = [
        catena.Joint("arm", "revolute", "ground", "arm", (0.3, 0.1, 0)),
        catena.Joint("planet", "revolute", "arm", "planet", (0.04, 0, 0)),
    ]
    bodies = [catena.Body(name, **disc) for name in ("arm", "planet")]
    m = catena.Mechanism("ring", bodies, joints, constraints=[pair]).validate()
    housing = m.with_(
        bodies=[*bodies, catena.Body("ring", **disc)],
        joints=[*joints, catena.Joint("housing", "fixed", "ground", "ring", (0.7, 0, 0))],
        constraints=[replace(pair, second="ring")],
    ).validate()
    for each, body, centre in ((m, "ground", [0.3, 0.1, 0]), (housing, "ring", [-0.4, 0.1, 0])):
        planet, ring = wheels(each)
        assert (planet.body, ring.body) == ("planet", body) and ring.ring
        np.testing.assert_allclose(ring.pose[:3, 3], centre, atol=1e-12)
        np.testing.assert_allclose([planet.radius, ring.radius], [0.02, 0.06])
        result = catena.simulate(each, v={"arm": 1.0}, until=0.1)
        for what in ("overview", "paths", "reactions"):
            result.plot(what)
        assert any(part.body == body for part in describe(each).parts)
