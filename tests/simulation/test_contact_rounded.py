"""Capsules on boxes, meshes and each other, spheres on meshes: closed forms, the same motion on a
half-space, distances by another route, other axes and units.
"""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import nnls
from scipy.spatial.transform import Rotation

import catena
from catena import Body, Contact, Frame, Joint, Mechanism, Pose, Shape, simulate
from catena.collision.polyhedra import polyhedron
from catena.errors import MechanismError, SimulationError, StateError, StudyError
from resuming import goes_on_bit_for_bit

GROUND = "ground"
ORIGIN = (0.0, 0.0, 0.0)
G = 9.81
RADIUS, LONG = 0.05, 0.6
BEFORE = 1.0 - 1e-11
# turns of a capsule, which stands along z
LYING_X = (0.0, np.pi / 2, 0.0)
LYING_Y = (np.pi / 2, 0.0, 0.0)


def rod(scale: float = 1.0) -> tuple[Shape, tuple[float, ...]]:
    """A capsule and its inertias."""
    r, long = RADIUS * scale, LONG * scale
    across = (long + r) ** 2 / 12
    return Shape("capsule", (r, long), collides=True), (across, across, r * r / 2)


def ball(r: float = 0.1) -> tuple[Shape, tuple[float, ...]]:
    return Shape("sphere", (r,), collides=True), (0.4 * r * r,) * 3


def free_on(
    one: tuple[Shape, tuple[float, ...]],
    *surface: Shape,
    friction=0.0,
    restitution=0.0,
    gravity=(0.0, 0.0, -G),
    com=0.0,
) -> Mechanism:
    """A free body on shapes of the ground. Radius, inertias and gravity are parameters, so that all
    of these have the same tapes.
    """
    import sympy

    names = ("r", "xx", "yy", "zz", "gx", "gy", "gz", "com")
    r, xx, yy, zz, *g, z = sympy.symbols(" ".join(names))
    (shape, inertia), flat = (
        one,
        bool(surface) and surface[0].kind in ("box", "mesh") and one[0].kind == "capsule",
    )
    # closed forms take numbers
    own = Shape(shape.kind, (r, *shape.size[1:]), shape.pose, collides=True) if flat else shape
    body = Body("rod", 1.0, (0, 0, z), (xx, yy, zz), shapes=(own,))
    return Mechanism(
        "free",
        (body,),
        (Joint("free", "free", GROUND, "rod"),),
        ground=surface,
        gravity=tuple(g),
        parameters=dict(zip(names, (shape.size[0], *inertia, *gravity, com))),
        contacts=(Contact(("rod", GROUND), friction, restitution),),
    )


def boxed(path: Path) -> Shape:
    """The table as a mesh."""
    trimesh = pytest.importorskip("trimesh")
    trimesh.creation.box((2.0, 2.0, 0.5)).export(path / "box.stl")
    return Shape("mesh", (1.0, 1.0, 1.0), table().pose, file=str(path / "box.stl"), collides=True)


def table(scale: float = 1.0, at: float = -1.0) -> Shape:
    """Two metres wide, with its top at z = 0, and an edge along y at x = 0."""
    return Shape(
        "box",
        (2.0 * scale, 2.0 * scale, 0.5 * scale),
        Pose(position=(at * scale, 0, -0.25 * scale)),
        collides=True,
    )


def turned(rotation) -> list[float]:
    return Rotation.from_rotvec(rotation).as_quat(scalar_first=True).tolist()


def instants(run, word: str) -> list[float]:
    return [
        float(t)
        for t, what in zip(run.data["event_time"].values, run.data["event"].values)
        if word in str(what)
    ]


def kept(run, within: float = 1e-10) -> None:
    """The laws and the energy balance of a run."""
    c = run.ledger.contact
    assert (
        max(c.penetration, c.complementarity, c.cone, c.gain) < within
        and run.ledger.imbalance < 1e-9
    ), run.ledger


def distance(x, y) -> float:
    """Of two convex hulls, by non-negative least squares for the weights of their corners."""
    n, many = len(x), 1e3
    sums = np.array([[1.0] * n + [0.0] * len(y), [0.0] * n + [1.0] * len(y)])
    w, _ = nnls(
        np.vstack([np.hstack([x.T, -y.T]), many * sums]),
        np.array([0, 0, 0, many, many]),
        maxiter=1000,
    )
    return float(np.linalg.norm(x.T @ (w[:n] / w[:n].sum()) - y.T @ (w[n:] / w[n:].sum())))


def clearances(run, first: Shape, second: Shape, radius: float) -> np.ndarray:
    """Along a run of "rod" and "other", of cores by `distance`, less the radii."""
    A, B = (polyhedron(s, {}).corners for s in (first, second))
    X, Y = (run.machine.pose(run.q.values, name) for name in ("rod", "other"))
    return (
        np.array(
            [distance(A @ a[:3, :3].T + a[:3, 3], B @ b[:3, :3].T + b[:3, 3]) for a, b in zip(X, Y)]
        )
        - radius
    )


# --- the same on a half-space
@functools.cache
def on_table() -> Mechanism:
    return free_on(rod(), table(at=0.0), friction=0.5)


def test_a_capsule_on_a_table_moves_as_on_a_half_space() -> None:
    """It falls at a slant, strikes with one end and then the other, slides and rolls."""
    q = [0, 0, 0.5, *turned((0.3, 1.2, 0.1))]
    v = [0.5, 0.2, 0, 1, 2, 0.5]
    one, other = (
        simulate(m, q, v, until=0.8, output=0.1) for m in (on_table(), free_on(rod(), friction=0.5))
    )
    assert one.q.values == pytest.approx(other.q.values, abs=1e-9)
    assert one.impact_time.values == pytest.approx(other.impact_time.values, abs=1e-9)
    kept(one)


def test_a_ball_on_a_mesh_moves_as_on_a_box_and_on_a_half_space(tmp_path: Path) -> None:
    """Thrown with spin; it bounces, slips and rolls, on the mesh of that box."""
    runs = [
        simulate(
            free_on(ball(), *s, friction=0.3, restitution=0.4),
            [-1, 0, 0.3, 1, 0, 0, 0],
            [0.4, 0, 0, 0, -20, 3],
            until=0.8,
            output=0.1,
        )
        for s in ((boxed(tmp_path),), (table(),), ())
    ]
    assert [list(run.contacts.contact.values) for run in runs] == [["rod-ground"]] * 3
    for other in runs[1:]:
        assert runs[0].q.values == pytest.approx(other.q.values, abs=1e-9)
    kept(runs[0])


# --- over the edge of a table
def test_a_capsule_tips_where_its_centre_of_mass_is_over_the_edge() -> None:
    """It slides with 0.5 m/s without friction, lengthwise: the end on the table lifts where its
    middle passes the edge, whatever the units are.
    """
    for scale in (1e-6, 1.0, 1e6):
        m = free_on(rod(scale), table(scale), gravity=(0, 0, -G * scale))
        run = simulate(
            m,
            [-0.1 * scale, 0, RADIUS * scale, *turned(LYING_X)],
            [0.5 * scale, 0, 0, 0, 0, 0],
            until=0.3,
            output=0.05,
        )
        assert instants(run, "opens") == pytest.approx([0.2], rel=1e-9)
        inner, crossing = run.contacts.place.values[2, [0, 2], 0] / scale  # at t = 0.1
        assert (inner, crossing) == pytest.approx((-0.05 - LONG / 2, 0.0), abs=1e-12)
        assert run.q.values[-1, 2] < RADIUS * scale and run.ledger.imbalance < 1e-9


@pytest.mark.parametrize("what", ["ball", "capsule"])
def test_what_rolls_over_an_edge_without_friction_leaves_it_at_the_angle_of_a_pendulum(
    what: str, tmp_path: Path
) -> None:
    """v^2 / (g r) = cos(theta) where m v^2 / 2 = m v0^2 / 2 + m g r (1 - cos(theta)): cos(theta) =
    (2 + Fr) / 3, Fr = v0^2 / (g r).
    """
    body, surface, r, turn = (
        (ball(), boxed(tmp_path), 0.1, ORIGIN)
        if what == "ball"
        else (rod(), table(), RADIUS, LYING_Y)
    )
    m, v0 = free_on(body, surface), 0.3
    start = [-0.06, 0, r, *turned(turn)], [v0, 0, 0, 0, 0, 0]
    run = simulate(m, *start, until=0.6)
    left = instants(run, "opens")
    assert len(set(left)) == 1
    x, _, z = simulate(m, *start, until=BEFORE * left[0], output=BEFORE * left[0]).q.values[-1, :3]
    assert np.hypot(x, z) == pytest.approx(r, rel=1e-12)
    assert z / r == pytest.approx((2 + v0**2 / (G * r)) / 3, rel=1e-9)
    kept(run)


def test_a_ball_that_rolls_over_an_edge_presses_as_a_solid_ball(tmp_path: Path) -> None:
    """Without slip N = m g (17 cos(theta) - 10) / 7 - m v0^2 / r: zero at cos(theta) = 10 / 17 for
    a slow start.
    """
    r, v0 = 0.1, 0.1
    m = free_on(ball(), boxed(tmp_path), friction=20.0)
    run = simulate(m, [-0.005, 0, r, 1, 0, 0, 0], [v0, 0, 0, 0, v0 / r, 0], until=0.5, output=0.01)
    over = (run.contacts["mode"].values[:, 0] == "stick") & (run.q.values[:, 0] > 1e-6)
    cos = run.q.values[over, 2] / r
    press = run.contacts.normal_force.values[over, 0]
    assert over.sum() > 15 and cos.min() < 0.65
    assert press == pytest.approx(G * (17 * cos - 10) / 7 - v0**2 / r, abs=1e-8 * G)
    kept(run)


def test_a_capsule_across_an_edge_rocks_as_a_pendulum() -> None:
    """With its mass far below; the edge is that of a box that stands on another one. Without slip
    it turns about the point where it touches.
    """
    below = 0.4
    heavy = Shape("capsule", (RADIUS, LONG), Pose.rpy(*LYING_X), collides=True), (0.02, 0.03, 0.02)
    ridge = Shape(
        "box",
        (0.3, 0.5, 0.3),
        Pose.rpy(0, np.pi / 4, 0, position=(0, 0, -0.15 * np.sqrt(2))),
        collides=True,
    )
    m = free_on(heavy, ridge, friction=2.0, com=-below)
    h = below - RADIUS
    a0 = 0.2
    start = [RADIUS * np.sin(a0), 0, RADIUS * np.cos(a0), *turned((0, a0, 0))]
    run = simulate(m, start, until=0.8, output=0.02)
    turns = 2 * np.arctan2(run.q.values[:, 5], run.q.values[:, 3])
    rates = run.v.values[:, 4]
    assert 0.5 * (0.03 + h * h) * rates**2 == pytest.approx(
        G * h * (np.cos(turns) - np.cos(a0)), abs=1e-9
    )
    assert turns.min() == pytest.approx(-a0, abs=1e-3) and (
        run.contacts["mode"].values == "stick"
    ).sum(axis=1).tolist() == [1] * len(turns)
    balanced = simulate(
        free_on(rod(), ridge, friction=0.5), [0, 0, RADIUS, *turned(LYING_X)], until=0.2, output=0.2
    )
    assert balanced.q.values[-1] == pytest.approx([0, 0, RADIUS, *turned(LYING_X)], abs=1e-12)


# --- along each other
@pytest.mark.parametrize("long", [LONG, 0.4, 0.9])
def test_a_capsule_falls_along_another_and_slides_off(long: float) -> None:
    """They touch at both ends of what they have in common; from rest at theta0 it leaves where
    cos(theta) = 2/3 cos(theta0).
    """
    fixed = Shape("capsule", (0.1, long), Pose.rpy(np.pi / 2, 0, 0), collides=True)
    m = free_on(rod(), fixed)
    c = 0.1 + RADIUS
    begin = 0.3
    rests = [c * np.sin(begin), 0, c * np.cos(begin), *turned(LYING_Y)]
    run = simulate(m, rests, until=0.4)
    left = instants(run, "opens")
    assert len(left) == 2 and left[0] == left[1]
    x, _, z = simulate(m, rests, until=BEFORE * left[0], output=BEFORE * left[0]).q.values[-1, :3]
    assert (np.hypot(x, z), z / np.hypot(x, z)) == pytest.approx(
        (c, 2 / 3 * np.cos(begin)), rel=1e-9
    )
    touch = run.contacts.place.values[0][(run.contacts["mode"].values[0] != "open")]
    assert sorted(touch[:, 1]) == pytest.approx(
        [-min(long, LONG) / 2, min(long, LONG) / 2], abs=1e-12
    )
    fallen = simulate(m, [rests[0], 0, 0.5, *rests[3:]], until=0.3, output=0.3)
    drop = 0.5 - rests[2]
    assert fallen.impact_time.values == pytest.approx([np.sqrt(2 * drop / G)] * 2, rel=1e-9)
    assert fallen.impulse.values[:, 0] == pytest.approx(
        [np.sqrt(2 * G * drop) * np.cos(begin) / 2] * 2, rel=1e-9
    )
    kept(run)


def test_capsules_that_turn_away_from_each_other_are_refused_by_name() -> None:
    """The point where they cross at a small angle runs along them as the turn over its square."""
    fixed = Shape("capsule", (0.1, 0.9), Pose.rpy(np.pi / 2, 0, 0), collides=True)
    for q, w in (
        (turned(LYING_Y), 0.1),
        (Rotation.from_rotvec([0, 0, 0.02]) * Rotation.from_rotvec(LYING_Y), -0.5),
    ):
        turn = q if isinstance(q, list) else q.as_quat(scalar_first=True).tolist()
        with pytest.raises(
            SimulationError,
            match=(
                r"'rod' and 'ground' press where edges of them cross at \S+ rad \(contact"
                r" 'rod-ground'\): below 0.001 rad"
            ),
        ):
            simulate(
                free_on(rod(), fixed), [0, 0, 0.1 + RADIUS, *turn], [0, 0, 0, 0, w, 0], until=0.3
            )


# --- thrown at random
SIZE = (0.3, 0.4, 0.5)


@functools.cache
def thrown(kind: str, order: str, friction: float = 0.3, restitution: float = 0.5) -> Mechanism:
    """Two free bodies without gravity, a capsule and another."""
    shape = (
        Shape("box", SIZE, collides=True)
        if kind == "box"
        else Shape("capsule", (0.12, 0.5), collides=True)
    )
    other = Body("other", 2.0, ORIGIN, (0.07, 0.06, 0.04), shapes=(shape,))
    between = ("rod", "other") if order == "rod first" else ("other", "rod")
    capsule, inertia = rod()
    return Mechanism(
        "thrown",
        (Body("rod", 1.0, ORIGIN, inertia, shapes=(capsule,)), other),
        tuple(Joint(f"free {n}", "free", GROUND, n) for n in ("rod", "other")),
        gravity=(0, 0, 0),
        contacts=(Contact(between, friction, restitution),),
    )


def throw(seed: int) -> tuple[list[float], list[float]]:
    """Towards each other, turning."""
    rng = np.random.default_rng(seed)
    d = rng.normal(size=3)
    d /= np.linalg.norm(d)
    a, b = (Rotation.random(random_state=rng).as_quat(scalar_first=True) for _ in range(2))
    return [*(0.6 * d), *a, *(-0.3 * d), *b], [
        *(-2 * d + 0.2 * rng.normal(size=3)),
        *(3 * rng.normal(size=3)),
        *d,
        *(2 * rng.normal(size=3)),
    ]


@pytest.mark.parametrize("kind", ["box", "capsule"])
def test_what_is_thrown_keeps_apart_and_keeps_its_momentum(kind: str) -> None:
    m = thrown(kind, "rod first")
    touched = 0
    for seed in range(5):
        q, v = throw(seed)
        run = simulate(m, q, v, until=0.8, output=0.02, tolerance=1e-12)
        touched += run.ledger.contact.impacts > 0
        radius = RADIUS + (0.12 if kind == "capsule" else 0.0)
        assert clearances(run, rod()[0], m.body("other").shapes[0], radius).min() > -1e-12
        for P in (run.momentum().linear.values, run.momentum().angular.values):
            assert np.abs(P - P[0]).max() < 1e-11
        kept(run)
    assert touched >= 3


def test_either_may_be_the_surface() -> None:
    """The same motion, with the normal the other way."""
    q, v = throw(2)
    one, other = (
        simulate(thrown("box", order, 0.0), q, v, until=0.8, output=0.1)
        for order in ("rod first", "rod second")
    )
    assert one.ledger.contact.impacts > 0 and one.q.values == pytest.approx(
        other.q.values, abs=1e-9
    )
    assert one.impulse.values[:, 0] == pytest.approx(other.impulse.values[:, 0], rel=1e-9)


def test_axes_and_units_do_not_matter() -> None:
    """The whole turned with its gravity; and a million times smaller."""
    turn = Rotation.from_rotvec([0.4, -1.1, 0.7])
    q = [0.05, 0.1, 0.4, *turned((0.3, 1.2, 0.1))]
    v = [0.3, 0.2, 0, 1, 2, 0.5]
    small = Shape("box", (0.3, 0.4, 0.5), Pose(position=(0, 0, -0.25)), collides=True)
    plain = simulate(
        free_on(rod(), small, friction=0.4, restitution=0.2), q, v, until=0.5, output=0.1
    )
    tilted = Shape(
        "box",
        small.size,
        Pose(tuple(map(tuple, turn.as_matrix())), tuple(turn.apply([0, 0, -0.25]))),
        collides=True,
    )
    m = free_on(rod(), tilted, friction=0.4, restitution=0.2, gravity=tuple(turn.apply([0, 0, -G])))
    R = turn * Rotation.from_quat(q[3:], scalar_first=True)
    other = simulate(
        m,
        [*turn.apply(q[:3]), *R.as_quat(scalar_first=True)],
        [*turn.apply(v[:3]), *v[3:]],
        until=0.5,
        output=0.1,
    )
    assert plain.ledger.contact.impacts > 0 and turn.apply(plain.q.values[:, :3]) == pytest.approx(
        other.q.values[:, :3], abs=1e-9
    )
    scale = 1e-6
    box = Shape(
        "box",
        tuple(scale * x for x in small.size),
        Pose(position=(0, 0, -0.25 * scale)),
        collides=True,
    )
    m = free_on(rod(scale), box, friction=0.4, restitution=0.2, gravity=(0, 0, -G * scale))
    run = simulate(
        m,
        [*(scale * x for x in q[:3]), *q[3:]],
        [*(scale * x for x in v[:3]), *v[3:]],
        until=0.5,
        output=0.1,
    )
    assert run.q.values[:, :3] / scale == pytest.approx(plain.q.values[:, :3], abs=1e-8)


# --- the rest of the house
def test_a_run_that_is_continued_is_the_same() -> None:
    """Bit for bit: the features are in the modes."""

    from catena.sensitivity.sensitivities import planned

    plan = planned(
        on_table(),
        [0, 0, 0.3, *turned((0.3, 1.2, 0.1))],
        [0.5, 0.2, 0, 1, 2, 0.5],
        0.5,
        {"output": np.linspace(0, 0.5, 11)},
    )
    goes_on_bit_for_bit(plan, 3)


def test_a_start_in_penetration_is_named_and_assemble_parts_it() -> None:
    deep = [0, 0, 0.03, *turned(LYING_X)]
    with pytest.raises(
        StateError, match=r"at the start 'rod' is 0.02 m deep in 'ground' \(contact 'rod-ground'\)"
    ):
        simulate(on_table(), deep, until=0.1)
    for q in (deep, [0, 0, -0.05, *turned((0.1, 1.3, 0.2))], [0, 0, 0.1, 1, 0, 0, 0]):
        apart, _ = catena.assemble(on_table(), q, contact=True)
        x = (
            Rotation.from_quat(apart[3:7], scalar_first=True).apply(
                polyhedron(rod()[0], {}).corners
            )
            + apart[:3]
        )
        assert x[:, 2].min() == pytest.approx(RADIUS, abs=1e-9)
        simulate(on_table(), apart, until=0.01)


def test_what_these_pairs_lack_is_said_by_name(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="these shapes touch by features"):
        catena.sensitivities(on_table(), with_respect_to=["r"], q=[0, 0, 1, 1, 0, 0, 0], until=0.1)
    point = Mechanism(
        "point",
        (Body("b", 1.0, ORIGIN, (1, 1, 1)),),
        (Joint("free", "free", GROUND, "b"),),
        (Frame("tip", "b"),),
        ground=(boxed(tmp_path),),
        contacts=(Contact(("tip", GROUND), 0.0, 0.0),),
    )
    with pytest.raises(
        MechanismError,
        match="the point 'tip' has no normal on the edges of a mesh; give it a radius",
    ):
        simulate(point, [0, 0, 2, 1, 0, 0, 0], until=0.1)


def test_mujoco_slides_a_capsule_over_an_edge_too() -> None:
    """A peer with soft contacts and steps of its own: the pitch after the tip, to a few
    hundredths.
    """
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><option timestep="1e-4" gravity="0 0 {-G}" integrator="RK4" cone="elliptic"/><worldbody>
      <geom type="box" size="1 1 .25" pos="-1 0 -.25" friction="1e-9" condim="1"/>
      <body pos="-0.1 0 {RADIUS}" euler="0 90 0"><freejoint/><inertial pos="0 0 0" mass="1" diaginertia="{" ".join(f"{x:.12f}" for x in rod()[1])}"/>
      <geom type="capsule" size="{RADIUS} {LONG / 2}" condim="1"/></body></worldbody></mujoco>"""  # noqa: E501
    )
    data = mujoco.MjData(model)
    data.qvel[0] = 0.5
    while data.time < 0.45 - 1e-9:
        mujoco.mj_step(model, data)
    run = simulate(
        free_on(rod(), table()),
        [-0.1, 0, RADIUS, *turned(LYING_X)],
        [0.5, 0, 0, 0, 0, 0],
        until=0.45,
        output=0.45,
    )
    pitch, theirs = (2 * np.arctan2(x[5], x[3]) for x in (run.q.values[-1], data.qpos))
    print(f"pitch {pitch:.6f} rad, of MuJoCo {theirs:.6f} rad")
    assert pitch - np.pi / 2 > 0.1 and theirs == pytest.approx(pitch, abs=0.05)
