"""What touches what in simulations: pairs of shapes, joints with clearance, stops of loop joints;
each against another way to get there.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import casadi as ca
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from catena import Body, CollisionFilter, Contact, Frame, Joint, Mechanism, Pose, Shape, simulate
from catena.collision.contact_pairs import surface_kinds, touching_kinds
from catena.collision.contact_points import contact_patches, contact_points, patch_points
from catena.collision.patch_pair import patch_pair
from catena.collision.polyhedra import polyhedron
from catena.collision.polyhedron_features import patch_features
from catena.errors import MechanismError
from catena.simulation.system.first_order import System
from catena.simulation.terms.contact_rims import STANDS, RimMode, RimPoint, with_rims
from catena.simulation.terms.contact_rows import ContactMode, TouchingPoint
from catena.simulation.terms.contact_slots import PatchPoint, RoundedMode, RoundedPoint, SlotMode

GROUND = "ground"
ORIGIN = (0.0, 0.0, 0.0)
G = 9.81
SIZES = {
    "sphere": (0.2,),
    "capsule": (0.1, 0.5),
    "box": (0.3, 0.4, 0.5),
    "ellipsoid": (0.2, 0.3, 0.4),
    "cylinder": (0.2, 0.5),
    "plane": (),
}
SMOOTH = {"cylinder", "ellipsoid"}  # on other than planes and spheres: `test_smooth_pairs.py`
PAIRS = [
    (first, second)
    for second in surface_kinds()
    for first in touching_kinds(second)
    # a mesh is its corners; terrain is for time stepping: `test_heightfields.py`
    if not {first, second} & {"mesh", "concave_mesh", "heightfield"}
    and not ({first, second} & SMOOTH and not {first, second} & {"plane", "sphere"})
]


def shape(kind: str, **more) -> Shape:
    return Shape(kind, SIZES[kind], collides=True, **more)


def in_plane(name: str, mass: float, inertia: float, **more) -> Mechanism:
    """A body that slides along x and z and turns about y."""
    body = Body(name, mass, more.pop("com", ORIGIN), (inertia,) * 3, shapes=more.pop("shapes", ()))
    joints = (
        Joint("x", "prismatic", GROUND, "a", axis=(1, 0, 0)),
        Joint("z", "prismatic", "a", "b", axis=(0, 0, 1)),
        Joint("turn", "revolute", "b", name, axis=(0, 1, 0)),
    )
    return Mechanism(
        name, (Body("a", 0, ORIGIN, ORIGIN), Body("b", 0, ORIGIN, ORIGIN), body), joints, **more
    )


def brick(folder: Path, x: float, y: float, z: float) -> Shape:
    """A mesh that is a box, with a point inside and one on an edge that are no corners of it."""
    points = [
        (i * x / 2, j * y / 2, k * z / 2) for i in (1, -1) for j in (1, -1) for k in (1, -1)
    ] + [(0.0, 0.0, 0.0), (0.0, y / 2, z / 2)]
    faces = [
        (1, 2, 3),
        (4, 2, 3),
        (5, 6, 7),
        (8, 6, 7),
        (1, 2, 5),
        (6, 2, 5),
        (3, 4, 7),
        (8, 4, 7),
        (1, 3, 5),
        (7, 3, 5),
        (2, 4, 6),
        (8, 4, 6),
        (1, 9, 10),
    ]
    (folder / "brick.obj").write_text(
        "".join(
            [
                *(f"v {a!r} {b!r} {c!r}\n" for a, b, c in points),
                *(f"f {a} {b} {c}\n" for a, b, c in faces),
            ]
        )
    )
    return Shape("mesh", (1.0, 1.0, 1.0), file=str(folder / "brick.obj"), collides=True)


# --- pairs of shapes
def test_a_mesh_touches_a_plane_by_the_corners_of_its_hull(tmp_path: Path) -> None:
    """The points of a mesh that is a box are those of the box; scaled, those of a larger one."""
    pytest.importorskip("trimesh")
    made = brick(tmp_path, 0.3, 0.4, 0.5)
    for scale in (1.0, 2.0):
        shapes = (
            replace(made, size=(scale,) * 3),
            Shape("box", (0.3 * scale, 0.4 * scale, 0.5 * scale), collides=True),
        )
        bodies = [Body("one", 1.0, ORIGIN, (1, 1, 1), shapes=(s,)) for s in shapes]
        ms = [
            Mechanism(
                "m",
                (b,),
                (Joint("free", "free", GROUND, "one"),),
                contacts=(Contact(("one", GROUND), 0.3, 0.0),),
            )
            for b in bodies
        ]
        found, wanted = (sorted(p.centre for p in contact_points(m)) for m in ms)
        np.testing.assert_allclose(found, wanted, rtol=1e-15)


def test_meshes_that_cannot_touch_say_why(tmp_path: Path) -> None:
    trimesh = pytest.importorskip("trimesh")
    trimesh.creation.icosphere(3).export(tmp_path / "ball.obj")
    (tmp_path / "flat.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    (tmp_path / "broken.stl").write_text("solid")
    for name, why in (
        ("ball.obj", "642 corners, and a contact takes 64 at most"),
        ("flat.obj", "is flat"),
        ("broken.stl", "broken.stl"),
        ("no.obj", "is not there"),
    ):
        body = Body(
            "one",
            1.0,
            ORIGIN,
            (1, 1, 1),
            shapes=(Shape("mesh", (1.0, 1.0, 1.0), file=str(tmp_path / name), collides=True),),
        )
        with pytest.raises(MechanismError, match=why):
            contact_points(
                Mechanism(
                    "m",
                    (body,),
                    (Joint("free", "free", GROUND, "one"),),
                    contacts=(Contact(("one", GROUND), 0.3, 0.0),),
                )
            )


def points_of(m: Mechanism) -> list[tuple[TouchingPoint, NamedTuple]]:
    """Contact points with modes; of two boxes a corner on a face, a corner below a face and edges
    that cross; of what is round all it has there.
    """
    found: list = [(TouchingPoint(p, m.contacts[0]), TouchingPoint.mode) for p in contact_points(m)]
    # rolling, and standing on a point of either end
    rims = [p for p in with_rims(m) if isinstance(p, RimPoint)]
    found += [
        (p, mode)
        for p in rims
        for mode in (
            RimMode(),
            RimMode(key=STANDS, rim_x=0.6, rim_y=-0.8),
            RimMode(key=STANDS, end=-1.0),
        )
    ]
    for patch in contact_patches(m, by_features=True):
        A, B = (polyhedron(s, {}) for s in (patch.shape, patch.against))
        if patch.method.name == "rounded":
            for turn, p in (
                ((0.02, 1.5, 0.3), (0.1, 0.12, 0.4)),
                ((0.6, 0.6, 0.1), (0.3, 0.4, 0.4)),
                ((1.0, 0.2, 0.0), (0.3, 0.0, 0.1)),
            ):
                features = (
                    patch_pair(patch, {})
                    .features(Rotation.from_rotvec(turn).as_matrix(), np.array(p))
                    .points
                )
                found += [
                    (RoundedPoint(q, m.contacts[0], patch), RoundedMode(*ContactMode(), *x.numbers))
                    for q, x in zip(patch_points(m, patch), features)
                ]
            continue
        features = patch_features(
            A, B, Rotation.from_rotvec([0.02, 0.01, 0.3]).as_matrix(), np.array([0.1, 0.12, 0.5])
        ).points
        assert {(x.corner, x.tip) for x in features} == {(1.0, 0.0), (0.0, 1.0), (0.0, 0.0)}
        found += [
            (PatchPoint(p, m.contacts[0], patch), SlotMode(*ContactMode(), *x.numbers))
            for p, x in zip(patch_points(m, patch), features)
        ]
    return found


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_the_rows_are_the_rates_of_the_gap(first: str, second: str) -> None:
    """Two free bodies: n . u is the derivative of the gap along a motion, and gamma that of the
    row's rate, at random places.
    """
    bodies = tuple(
        Body(n, 1.0, ORIGIN, (1, 1, 1), shapes=(shape(kind),))
        for n, kind in (("one", first), ("two", second))
    )
    joints = tuple(Joint(f"free {b.name}", "free", GROUND, b.name) for b in bodies)
    m = Mechanism("pair", bodies, joints, contacts=(Contact(("one", "two"), 0.3, 0.0),))
    s = System(m).tracer()
    rng = np.random.default_rng(1)
    h = 1e-5
    for point, mode in points_of(m):
        rows = point.rows(s, mode)
        f = ca.Function("f", [s.q, s.v], [rows.error, rows.rate, rows.gamma, s.coordinate_rate()])
        for _ in range(4):
            q = np.concatenate(
                [
                    [*(rng.normal(size=3) + 2.0 * k), *Rotation.random(random_state=rng).as_quat()]
                    for k in range(2)
                ]
            )
            v = rng.normal(size=12)
            step = np.array(f(q, v)[3]).ravel()
            turned = [[*(q + x * step)] for x in (-2 * h, -h, h, 2 * h)]
            for x in turned:
                for k in (3, 10):
                    x[k : k + 4] = np.array(x[k : k + 4]) / np.linalg.norm(x[k : k + 4])
            seen = [f(x, v) for x in turned]
            # of fourth order
            slope = [
                float((8 * (seen[2][k] - seen[1][k]) - (seen[3][k] - seen[0][k]))[0]) / (12 * h)
                for k in (0, 1)
            ]
            _, rate, gamma, _ = f(q, v)
            assert slope[0] == pytest.approx(float(rate[0]), abs=2e-8) and slope[
                1
            ] == pytest.approx(-float(gamma[0]), abs=1e-6)


def test_a_cylinder_rolls_down_an_incline_on_its_rims() -> None:
    """a = 2/3 g sin(beta) where it rolls."""
    beta, mass, R = 0.3, 2.0, 0.2
    body = Body(
        "roller",
        mass,
        ORIGIN,
        (mass * (3 * R**2 + 0.25) / 12,) * 2 + (0.5 * mass * R**2,),
        shapes=(shape("cylinder"),),
    )
    m = Mechanism(
        "roller",
        (body,),
        (Joint("free", "free", GROUND, "roller"),),
        gravity=(G * np.sin(beta), 0.0, -G * np.cos(beta)),
        contacts=(Contact(("roller", GROUND), 0.4, 0.0),),
    )
    run = simulate(m, [0, 0, R, *(np.sqrt(0.5) * np.array([1, 1, 0, 0]))], None, 1.0, output=1.0)
    assert run.q.values[-1, :3] == pytest.approx([G * np.sin(beta) / 3, 0.0, R], abs=1e-9)
    assert (
        run.contacts.normal_force.values[-1].sum() == pytest.approx(mass * G * np.cos(beta))
        and run.ledger.contact.penetration < 1e-12
    )


def test_a_capsule_falls_along_another_and_onto_its_end() -> None:
    """Along it they touch at both ends, and one behind the other at one point: what falls onto the
    round end of one that stands bounces.
    """

    def fallen(turn: Pose, height: float):
        bodies = tuple(
            Body(n, 1.0, ORIGIN, (0.02, 0.02, 0.02), shapes=(shape("capsule", pose=turn),))
            for n in ("low", "up")
        )
        joints = (
            Joint("still", "prismatic", GROUND, "low", axis=(0, 1, 0)),
            Joint("z", "prismatic", GROUND, "up", axis=(0, 0, 1)),
        )
        return simulate(
            Mechanism("logs", bodies, joints, contacts=(Contact(("up", "low"), 0.3, 0.5),)),
            {"z": height},
            None,
            0.25,
            output=0.25,
        )

    lies = fallen(Pose.rpy(0, np.pi / 2, 0), 0.3)
    assert lies.impact_time.values[:2] == pytest.approx([np.sqrt(2 * 0.1 / G)] * 2, rel=1e-9)
    assert sorted(lies.impact_contact.values[:2].tolist()) == ["up-low point 1", "up-low point 2"]
    stands = fallen(Pose(), 0.8)  # ends of radius 0.1, half a metre between their middles
    assert stands.impact_time.values[0] == pytest.approx(np.sqrt(2 * 0.1 / G), rel=1e-9)


def test_an_ellipsoid_is_a_sphere_where_its_axes_are_equal() -> None:
    runs = []
    for one in (
        Shape("sphere", (0.2,), collides=True),
        Shape("ellipsoid", (0.2, 0.2, 0.2), collides=True),
    ):
        m = in_plane(
            "ball", 1.0, 0.016, shapes=(one,), contacts=(Contact(("ball", GROUND), 0.3, 0.5),)
        )
        runs.append(simulate(m, [0, 0.5, 0], [1, 0, -9], 1.0, output=0.25))
    assert runs[0].q.values == pytest.approx(runs[1].q.values, abs=1e-9)


def test_what_has_no_single_point_is_said_by_name() -> None:
    def pair(first: str, second: str, **more) -> Mechanism:
        bodies = tuple(
            Body(n, 1.0, ORIGIN, (1, 1, 1), shapes=(shape(k),))
            for n, k in (("one", first), ("two", second))
        )
        return Mechanism(
            "pair",
            bodies,
            tuple(Joint(f"{b.name} free", "free", GROUND, b.name) for b in bodies),
            (Frame("tip", "one"),),
            contacts=(Contact(("one", "two"), 0.0, 0.0, **more),),
        )

    for first, second in (("cylinder", "capsule"), ("capsule", "box")):
        assert not contact_points(pair(first, second)) and [
            x.name for x in contact_patches(pair(first, second))
        ] == ["one-two"]
    m = pair("sphere", "box")
    with pytest.raises(
        MechanismError,
        match="the point 'tip' has no normal on the edges of a box; give it a radius",
    ):
        contact_points(m.with_(contacts=(Contact(("tip", "two"), 0.0, 0.0),)))


def test_a_group_touches_by_its_bodies() -> None:
    bodies = tuple(
        Body(n, 1.0, ORIGIN, (1, 1, 1), shapes=(shape("sphere"),)) for n in ("left", "right")
    )
    m = Mechanism(
        "feet",
        bodies,
        tuple(Joint(f"{b.name} free", "free", GROUND, b.name) for b in bodies),
        collisions=CollisionFilter(groups={"feet": ("left", "right")}),
        contacts=(Contact(("feet", GROUND), 0.5, 0.0),),
    )
    m.validate()
    assert [p.name for p in contact_points(m)] == ["left-ground", "right-ground"]


# --- clearance
def test_a_smooth_pin_in_a_hole_is_a_short_link() -> None:
    """A pendulum on a pin with clearance c: as long as it touches it moves as on a massless link of
    length c.
    """
    c = 0.1
    rod = {
        "com": (0, 0, -0.5),
        "frames": (Frame("hole", GROUND, Pose.rpy(np.pi / 2, 0, 0)), Frame("pin", "rod")),
    }
    play = Contact(("pin", "hole"), 0.0, 0.0, radius=0.02, surface="hole", clearance=c)
    m = in_plane("rod", 1.0, 1 / 12, contacts=(play,), **rod)
    run = simulate(m, [0, -c, 0.8], None, 2.0, output=0.5, tolerance=1e-10)
    bodies = (Body("link", 0, ORIGIN, ORIGIN), replace(m.bodies[2]))
    joints = (
        Joint("a", "revolute", GROUND, "link", axis=(0, 1, 0)),
        Joint("b", "revolute", "link", "rod", axis=(0, 1, 0), placement=Pose(position=(0, 0, -c))),
    )
    other = simulate(
        Mechanism("double", bodies, joints), [0, 0.8], None, 2.0, output=0.5, tolerance=1e-10
    )
    a, b = other.q.values.T
    assert run.contacts["mode"].values[-1, 0] == "slip"
    assert run.q.values == pytest.approx(
        np.column_stack([-c * np.sin(a), -c * np.cos(a), a + b]), abs=1e-7
    )


def test_a_pin_falls_from_the_middle_of_its_hole() -> None:
    c = 2e-4
    m = in_plane(
        "pin",
        1.0,
        0.01,
        frames=(Frame("hole", GROUND, Pose.rpy(np.pi / 2, 0, 0)),),
        contacts=(Contact(("pin", "hole"), 0.1, 0.0, radius=0.01, surface="hole", clearance=c),),
    )
    run = simulate(m, [0, 0, 0], None, 1.0, output=1.0)
    assert run.impact_time.values[0] == pytest.approx(np.sqrt(2 * c / G), rel=1e-9)
    assert run.q.values[-1, 1] == pytest.approx(-c, rel=1e-12) and run.contacts.normal_force.values[
        -1, 0
    ] == pytest.approx(G)


def test_a_slider_tips_in_its_guide() -> None:
    """Pulled up at one end, a block in a wide guide turns until its ends touch both walls:
    sin(angle) = clearance/half length, nearly.
    """
    from catena.model.loads import Force

    frames = (
        Frame("guide", GROUND),
        Frame("fore", "block", Pose(position=(0.2, 0, 0))),
        Frame("aft", "block", Pose(position=(-0.2, 0, 0))),
    )
    m = in_plane(
        "block",
        1.0,
        0.02,
        frames=frames,
        loads=(Force("pull", "fore", force=(0.0, 0.0, 30.0)),),
        contacts=(
            Contact(
                (("fore", "aft"), "guide"), 0.0, 0.0, radius=0.05, surface="guide", clearance=0.01
            ),
        ),
    )
    run = simulate(m, [0, 0, 0], None, 1.0, output=1.0)
    assert run.q.values[-1] == pytest.approx([0, 0, -np.arcsin(0.01 / 0.2)], abs=1e-9)
    up, down = (
        float(run.contacts.normal_force.sel(contact=n)[-1])
        for n in ("fore-guide upper wall", "aft-guide lower wall")
    )
    assert up == pytest.approx(30.0 - G / 2) and down == pytest.approx(G / 2)


# --- stops of loop joints
def linkage(loop: str, **limits) -> Mechanism:
    """A four-bar, closed at C (the limits are those of a loop) or at D (of the tree)."""
    L = (0.3, 0.9, 0.6)
    mass = (0.5, 1.2, 0.8)
    bars = [
        Body(n, mass[k], (L[k] / 2, 0, 0), (0, mass[k] * L[k] ** 2 / 12, mass[k] * L[k] ** 2 / 12))
        for k, n in enumerate(("crank", "coupler", "rocker"))
    ]

    def pin(name, parent, child, at, child_at=0.0, **more):
        return Joint(
            name,
            "revolute",
            parent,
            child,
            axis=(0, -1, 0),
            placement=Pose(position=(at, 0, 0)),
            offset=Pose(position=(child_at, 0, 0)),
            **more,
        )

    a = pin("A", GROUND, "crank", 0)
    b = pin("B", "crank", "coupler", L[0])
    if loop == "C":
        return Mechanism(
            "linkage",
            tuple(bars),
            (a, b, pin("D", GROUND, "rocker", 1.0)),
            loops=(pin("C", "coupler", "rocker", L[1], L[2], **limits),),
        )
    bars[2] = replace(bars[2], com=(-L[2] / 2, 0, 0))  # its frame at C
    return Mechanism(
        "linkage",
        tuple(bars),
        (a, b, pin("C", "coupler", "rocker", L[1], **limits)),
        loops=(pin("D", GROUND, "rocker", 1.0, -L[2]),),
    )


def test_stops_of_a_loop_joint_are_those_of_the_same_joint_in_the_tree() -> None:
    a, L = 1.0, (0.3, 0.9, 0.6)
    B = L[0] * np.array([np.cos(a), np.sin(a)])
    span = np.array([1.0, 0.0]) - B
    d = np.linalg.norm(span)
    along = (L[1] ** 2 - L[2] ** 2 + d**2) / (2 * d)
    C = B + along * span / d + np.sqrt(L[1] ** 2 - along**2) * np.array([-span[1], span[0]]) / d
    b = np.arctan2(*(C - B)[::-1])
    rocker = np.arctan2(C[1], C[0] - 1.0)
    limits = {"lower": rocker - b - 0.05, "upper": rocker - b + 1.0}
    how = {"until": 0.4, "limits": "stop", "restitution": 0.5, "output": 0.1}
    one = simulate(linkage("C", **limits), {"A": a, "B": b - a, "D": rocker}, None, **how)
    other = simulate(linkage("D", **limits), {"A": a, "B": b - a, "C": rocker - b}, None, **how)
    hits = [
        t for t, what in zip(other.data["event_time"].values, other.event.values) if "meets" in what
    ]
    assert len(hits) > 5 and one.impact_time.values[:6] == pytest.approx(hits[:6], rel=1e-9)
    assert one.q.values[:, 0] == pytest.approx(other.q.values[:, 0], abs=1e-8)
    assert "C lower stop closes" in " ".join(one.event.values)
