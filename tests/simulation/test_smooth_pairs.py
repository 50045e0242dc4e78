"""Cylinders and ellipsoids that touch other shapes in runs with events: closed forms, other ways to
the same motion, laws that hold whatever happens.
"""

from __future__ import annotations

import functools
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import catena
from catena import Body, Contact, Frame, Joint, Mechanism, Pose, Shape, simulate
from catena.collision.contact_points import contact_patches, contact_points, patch_points
from catena.collision.nearest_features import pair_features
from catena.collision.support_features import support_shape
from catena.errors import MechanismError, QuestionError, SimulationError, StateError, StudyError
from catena.simulation.system.first_order import System
from catena.simulation.terms.contact_rows import ContactMode
from catena.simulation.terms.smooth_pairs import SmoothMode, SmoothPoint
from resuming import goes_on_bit_for_bit

GROUND = "ground"
ORIGIN = (0.0, 0.0, 0.0)
G = 9.81
SIZES = {
    "capsule": (0.1, 0.5),
    "box": (0.3, 0.4, 0.5),
    "ellipsoid": (0.2, 0.3, 0.4),
    "cylinder": (0.2, 0.5),
    "sphere": (0.2,),
}
PAIRS = [("ellipsoid", k) for k in ("ellipsoid", "capsule", "cylinder", "box")] + [
    ("cylinder", k) for k in ("capsule", "cylinder", "box")
]


def solid(kind: str, *size: float, **more) -> Shape:
    return Shape(kind, size or SIZES[kind], collides=True, **more)


def free_on(
    shape: Shape,
    *surface: Shape,
    mass=1.0,
    inertia=(0.004, 0.005, 0.006),
    gravity=(0.0, 0.0, -G),
    friction=0.4,
    restitution=0.0,
) -> Mechanism:
    """A free body on shapes of the ground. Mass, inertias and gravity are parameters, so that all
    of these have the same tapes.
    """
    import sympy

    names = ("m", "xx", "yy", "zz", "gx", "gy", "gz")
    m, xx, yy, zz, *g = sympy.symbols(" ".join(names))
    body = Body("one", m, ORIGIN, (xx, yy, zz), shapes=(shape,))
    return Mechanism(
        "one",
        (body,),
        (Joint("free", "free", GROUND, "one"),),
        ground=surface,
        gravity=tuple(g),
        parameters=dict(zip(names, (mass, *inertia, *gravity))),
        contacts=(Contact(("one", GROUND), friction, restitution),),
    )


def table(x=2.0, y=2.0, z=0.5) -> Shape:
    """With its top at z = 0."""
    return solid("box", x, y, z, pose=Pose(position=(0.0, 0.0, -z / 2)))


def turned(*rotation: float) -> list[float]:
    return Rotation.from_rotvec(rotation).as_quat(scalar_first=True).tolist()


def kept(run, within: float = 1e-10) -> None:
    """The laws and the energy balance of a run."""
    c = run.ledger.contact
    assert (
        max(c.penetration, c.complementarity, c.cone, c.gain) < within
        and run.ledger.imbalance < 1e-9
    ), run.ledger


# --- rows
@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_the_rows_are_the_rates_of_the_gap(first: str, second: str) -> None:
    """Two free bodies: n . u is the derivative of the gap along a motion, and gamma that of the
    rates along normal and tangents, wherever the features are.
    """
    bodies = tuple(
        Body(n, 1.0, ORIGIN, (1, 1, 1), shapes=(solid(kind),))
        for n, kind in (("one", first), ("two", second))
    )
    m = Mechanism(
        "pair",
        bodies,
        tuple(Joint(f"free {b.name}", "free", GROUND, b.name) for b in bodies),
        contacts=(Contact(("one", "two"), 0.3, 0.0),),
    )
    (patch,), rng, h = contact_patches(m), np.random.default_rng(1), 1e-4
    point = SmoothPoint(patch_points(m, patch)[0], m.contacts[0], patch)
    s = System(m).tracer()
    mode = ca.SX.sym("mode", len(SmoothMode()))
    rows = point.rows(s, SmoothMode(*ca.vertsplit(mode)))
    f = ca.Function("f", [s.q, s.v, mode], [rows.error, rows.rate, rows.gamma, s.coordinate_rate()])
    A, B = (support_shape(x, {}) for x in (patch.shape, patch.against))
    for _ in range(5):
        R, S = (Rotation.random(random_state=rng) for _ in range(2))
        u = rng.normal(size=3)
        o = rng.normal(size=3)
        T = S.as_matrix().T @ R.as_matrix()
        u = u / np.linalg.norm(u)
        p = u * (0.01 + u @ B.support(u) - u @ T @ A.support(-T.T @ u))
        features = pair_features(A, B, T, p).points
        q = np.concatenate(
            [o + S.apply(p), R.as_quat(scalar_first=True), o, S.as_quat(scalar_first=True)]
        )
        if not features:
            continue
        v = rng.normal(size=12)
        own = SmoothMode(*ContactMode(), *features[0].numbers)
        step = np.array(f(q, v, own)[3]).ravel()
        paths = [q + x * step for x in (-2 * h, -h, h, 2 * h)]
        for x in paths:
            for k in (3, 10):
                x[k : k + 4] /= np.linalg.norm(x[k : k + 4])
        seen = [f(x, v, own) for x in paths]
        # of fourth order
        slope = [
            np.array(8 * (seen[2][k] - seen[1][k]) - (seen[3][k] - seen[0][k])).ravel() / (12 * h)
            for k in (0, 1)
        ]
        _, rate, gamma, _ = (np.array(x).ravel() for x in f(q, v, own))
        assert slope[0][0] == pytest.approx(rate[0], abs=1e-9) and slope[1] == pytest.approx(
            -gamma, abs=1e-6
        )


# --- other ways to the same motion
@pytest.mark.parametrize("surface", ["box", "capsule", "sphere"])
def test_an_ellipsoid_of_equal_axes_is_a_sphere(surface: str) -> None:
    """It bounces, rolls over the edge of a table or down a round back, slips and leaves; on a ball
    it meets an ellipsoid of equal axes too.
    """
    below = {
        "box": [table(1.0, 1.0)] * 2,
        "capsule": (
            [
                solid(
                    "capsule", 0.3, 0.8, pose=Pose.rpy(0, np.pi / 2, 0) @ Pose(position=(0.3, 0, 0))
                )
            ]
            * 2
        ),
        "sphere": [
            solid("sphere", 0.3, pose=Pose(position=(0, 0, -0.3))),
            solid("ellipsoid", 0.3, 0.3, 0.3, pose=Pose(position=(0, 0, -0.3))),
        ],
    }[surface]
    start = {
        "q": [0.3 if surface == "box" else 0.02, 0.01, 0.25, 1, 0, 0, 0],
        "v": [0.5, 0.2, 0, 3, 4, 5],
        "until": 0.8,
        "output": 0.05,
        "tolerance": 1e-11,
    }
    ball, same = (
        simulate(free_on(shape, s, inertia=(0.004,) * 3, restitution=0.3), **start)
        for shape, s in zip((solid("sphere", 0.1), solid("ellipsoid", 0.1, 0.1, 0.1)), below)
    )
    kept(same)
    # the last of a series are a matter of rounding
    assert min(same.ledger.contact.impacts, ball.ledger.contact.impacts) > 1
    assert same.q.values == pytest.approx(
        ball.q.values, abs=1e-9
    ) and same.v.values == pytest.approx(ball.v.values, abs=1e-8)


def test_a_cylinder_on_a_table_moves_as_on_a_half_space() -> None:
    """A tilted drop: it claps from one rim to the other, slides, and rolls on both."""
    start = {
        "q": [0, 0, 0.2, *turned(np.pi / 2 + 0.1, 0, 0)],
        "v": [0.5, 0.1, 0, 0.1, 0.2, 4],
        "until": 0.6,
        "output": 0.05,
        "tolerance": 1e-11,
    }
    can = solid("cylinder", 0.1, 0.3)
    wanted, run = (
        simulate(free_on(can, *below, restitution=0.2), **start) for below in ((), (table(),))
    )
    kept(run)
    assert (
        run.contacts["mode"].values[-1].tolist()
        == ["stick", "stick"]
        == wanted.contacts["mode"].values[-1, :2].tolist()
    )
    assert run.q.values == pytest.approx(wanted.q.values, abs=1e-9)
    assert run.contacts.force.values[-1] == pytest.approx(
        wanted.contacts.force.values[-1], abs=1e-8
    )


def test_the_motion_does_not_know_axes_or_units() -> None:
    """A thin ellipsoid that falls on a table, bounces and tumbles: turned with its table and
    gravity; a millionth or a million times as large.
    """
    spin = [2.0, 3.0, 1.0]
    v = np.array([0.3, 0.1, 0.0])
    until = 0.5

    def run(L: float = 1.0, turn: Rotation | None = None):
        turn = turn or Rotation.identity()
        below = table()
        pose = Pose(rotation=turn.as_matrix(), position=tuple(turn.apply(below.pose.position) * L))
        m = free_on(
            solid("ellipsoid", 0.1 * L, 0.01 * L, 0.05 * L),
            solid("box", *(x * L for x in below.size), pose=pose),
            inertia=tuple(np.array([0.0006, 0.003, 0.0024]) * L * L),
            gravity=tuple(turn.apply([0, 0, -G * L])),
            restitution=0.4,
        )
        q = [
            *turn.apply([0, 0, 0.2 * L]),
            *(turn * Rotation.from_rotvec([0.3, 0.2, 0.1])).as_quat(scalar_first=True),
        ]
        found = simulate(m, q, [*turn.apply(v * L), *spin], until, output=0.1, tolerance=1e-11)
        kept(found)
        return turn.inv().apply(found.q.values[:, :3]) / L, found.ledger.contact.impacts

    wanted, count = run()
    for L, turn in ((1.0, Rotation.from_rotvec([1.0, -2.0, 0.5])), (1e-6, None), (1e6, None)):
        found, impacts = run(L, turn)
        # the last of a series are a matter of rounding
        assert found == pytest.approx(wanted, abs=1e-8) and min(impacts, count) > 5


def test_a_mesh_that_is_a_box_is_a_box(tmp_path: Path) -> None:
    """An ellipsoid that rolls off it, and a cylinder that lies across its edge and tips over it."""
    trimesh = pytest.importorskip("trimesh")
    trimesh.creation.box((0.6, 0.6, 0.5)).export(tmp_path / "box.obj")
    block, mesh = (
        Shape(kind, size, Pose(position=(0, 0, -0.25)), file=file, collides=True)
        for kind, size, file in (
            ("box", (0.6, 0.6, 0.5), ""),
            ("mesh", (1.0, 1.0, 1.0), str(tmp_path / "box.obj")),
        )
    )
    for shape, q, v in (
        (solid("ellipsoid", 0.1, 0.12, 0.08), [0.2, 0, 0.081, 1, 0, 0, 0], [0.8, 0.1, 0, 0, 8, 0]),
        (
            solid("cylinder", 0.05, 0.3),
            [0.31, 0, 0.05, *turned(0, np.pi / 2, 0)],
            [0, 0.3, 0, 0, 0, 0],
        ),
    ):
        one, other = (
            simulate(
                free_on(shape, below, inertia=(0.004, 0.004, 0.002)),
                q,
                v,
                0.4,
                output=0.02,
                tolerance=1e-11,
            )
            for below in (block, mesh)
        )
        kept(one)
        # it has left the block
        assert other.q.values == pytest.approx(one.q.values, abs=1e-9) and one.q.values[-1, 2] < 0.0


# --- closed forms
def test_a_wheel_climbs_a_step() -> None:
    """Rolling on a smooth floor it meets the edge of a step of height h with its side. Its angular
    momentum about the edge stays: (I + m R^2) w1 = I w0 + m w0 R (R - h); then it turns about the
    edge without slip and keeps its energy, onto the step, where it rolls on.
    """
    R, h, m, w0 = 0.1, 0.02, 1.0, 8.0
    I = 0.5 * m * R * R
    step = solid("box", 1.0, 2.0, 1.0, pose=Pose(position=(0.5, 0, h - 0.5)))
    wheel = free_on(solid("cylinder", R, 0.3), step, mass=m, inertia=(I, I, I), friction=5.0)
    wheel = wheel.with_(
        frames=(Frame("floor", GROUND),),
        contacts=(Contact(("one", "floor"), 0.0, 0.0, surface="plane"), *wheel.contacts),
    )
    run = simulate(
        wheel,
        [-0.3, 0, R, *turned(np.pi / 2, 0, 0)],
        [w0 * R, 0, 0, 0, 0, -w0],
        0.6,
        output=0.01,
        tolerance=1e-11,
    )
    kept(run)
    meets = 0.3 - np.sqrt(R**2 - (R - h) ** 2)
    # both ends of the side at once, and nothing else ever
    assert run.impact_time.values == pytest.approx([meets / (w0 * R)] * 2, rel=1e-9)
    w1 = (I * w0 + m * w0 * R * (R - h)) / (I + m * R * R)
    after = np.searchsorted(run.time, run.impact_time.values[0], side="right")
    energy = (run.kinetic + run.potential).values
    assert energy[after:] == pytest.approx(
        np.full(len(energy) - after, 0.5 * (I + m * R * R) * w1**2 + m * G * R), rel=1e-9
    )
    rolling = np.sqrt(w1**2 - 2 * m * G * h / (I + m * R * R))
    assert run.v.values[-1, 5] == pytest.approx(-rolling, rel=1e-9) and run.q.values[
        -1, 2
    ] == pytest.approx(R + h, abs=1e-11)


def test_a_log_rocks_across_another() -> None:
    """Crossed at right angles they touch side on side: x = (R + r) sin a - R a cos a, z = (R + r)
    cos a + R a sin a, and half (I + m (r^2 + R^2 a^2)) a'^2 + m g z stays.
    """
    R, r, m, I, a0 = 0.3, 0.05, 2.0, 0.06, 0.3
    log = free_on(
        solid("cylinder", r, 0.6, pose=Pose.rpy(0, np.pi / 2, 0)),
        solid("cylinder", R, 1.0, pose=Pose.rpy(np.pi / 2, 0, 0)),
        mass=m,
        inertia=(0.01, I, I),
        friction=1.0,
    )

    def at(a):
        return np.array(
            [
                (R + r) * np.sin(a) - R * a * np.cos(a),
                0 * a,
                (R + r) * np.cos(a) + R * a * np.sin(a),
            ]
        )

    run = simulate(log, [*at(a0), *turned(0, a0, 0)], None, 2.0, output=0.05, tolerance=1e-11)
    kept(run)
    a = 2.0 * np.arcsin(run.q.values[:, 5])
    w = run.v.values[:, 4]
    assert run.q.values[:, :3] == pytest.approx(at(a).T, abs=1e-8) and a.min() < -0.29
    assert 0.5 * (I + m * (r**2 + R**2 * a**2)) * w**2 + m * G * at(a)[2] == pytest.approx(
        np.full(len(a), m * G * at(a0)[2]), rel=1e-9
    )
    assert (run.contacts["mode"].values == "stick").any(axis=1).all()


def test_a_roller_at_rest_presses_on_both_ends() -> None:
    roller = simulate(
        free_on(solid("cylinder", 0.1, 0.3), table(), friction=0.5),
        [0, 0, 0.1, *turned(np.pi / 2, 0, 0)],
        None,
        0.3,
        output=0.3,
    )
    assert roller.q.values[-1] == pytest.approx(
        roller.q.values[0], abs=1e-15
    ) and roller.contacts.force.values[-1, 0] == pytest.approx([0, 0, G])
    assert np.sort(roller.contacts.place.values[-1, :, 1]) == pytest.approx([-0.15, 0.15])


# --- whatever happens
@functools.cache
def thrown(first: str, second: str, seed: int):
    """Two free bodies without gravity, which meet."""
    import sympy

    rng = np.random.default_rng(seed)
    numbers = [sympy.symbols(f"m{k} a{k} b{k} c{k}") for k in (0, 1)]
    bodies = tuple(
        Body(name, x[0], ORIGIN, x[1:], shapes=(solid(kind),))
        for name, kind, x in zip(("one", "two"), (first, second), numbers)
    )
    own = np.array([[1.0, 0.03, 0.035, 0.04], [2.0, 0.06, 0.07, 0.08]])
    m = Mechanism(
        "pair",
        bodies,
        tuple(Joint(f"free {b.name}", "free", GROUND, b.name) for b in bodies),
        gravity=ORIGIN,
        contacts=(Contact(("one", "two"), 0.3, 0.5),),
        parameters={
            str(s): float(x) for row, values in zip(numbers, own) for s, x in zip(row, values)
        },
    )
    u = rng.normal(size=3)
    u /= np.linalg.norm(u)
    q = np.concatenate(
        [
            1.5 * u,
            Rotation.random(random_state=rng).as_quat(scalar_first=True),
            ORIGIN,
            Rotation.random(random_state=rng).as_quat(scalar_first=True),
        ]
    )
    v = np.concatenate(
        [
            -2.0 * u + 0.1 * rng.normal(size=3),
            3.0 * rng.normal(size=3),
            ORIGIN,
            3.0 * rng.normal(size=3),
        ]
    )
    return simulate(m, q, v, 1.2, output=0.02, tolerance=1e-11), own


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_bodies_thrown_at_each_other_keep_momentum_and_do_not_overlap(
    first: str, second: str
) -> None:
    """Linear and angular momentum; the distance by MuJoCo's solver, or in closed form; the energy
    balance.
    """
    pytest.importorskip("mujoco")
    run, own = thrown(first, second, 5)
    kept(run)
    assert run.ledger.contact.impacts >= 1
    P, H = 0.0, 0.0
    for k, (mass, *inertia) in enumerate(own):
        x = run.q.values[:, 7 * k : 7 * k + 3]
        q = run.q.values[:, 7 * k + 3 : 7 * k + 7]
        v = run.v.values[:, 6 * k : 6 * k + 3]
        w = run.v.values[:, 6 * k + 3 : 6 * k + 6]
        P = P + mass * v
        H = H + mass * np.cross(x, v) + Rotation.from_quat(q, scalar_first=True).apply(inertia * w)
    assert np.abs(P - P[0]).max() < 1e-12 and np.abs(H - H[0]).max() < 1e-9
    d = catena.clearance(run.machine, run.q.values, pairs=[("one", "two")]).distance[:, 0]
    assert d.min() > -1e-7
    gaps = np.nan_to_num(run.contacts.gap.values, nan=np.inf).min(axis=1)
    seen = np.isfinite(gaps)
    assert gaps[seen] == pytest.approx(d[seen], abs=1e-6) and seen.any()


def test_a_run_continues_from_a_checkpoint_with_the_same_features() -> None:
    """Bit for bit: the features are in the modes."""

    from catena.sensitivity.sensitivities import planned

    m = free_on(solid("ellipsoid", 0.1, 0.02, 0.05), table(), restitution=0.5)
    plan = planned(m, [0, 0, 0.2, *turned(0.3, 0.2, 0.1)], [0.3, 0.1, 0, 2, 3, 1], 0.5, {})
    goes_on_bit_for_bit(plan, 5)


# --- what is refused, and what is asked before a run
def test_starts_in_penetration_are_named_and_taken_apart() -> None:
    # with its end flat below the face, too
    with pytest.raises(StateError, match="at the start 'one' is 0.05 m deep in 'ground'"):
        simulate(free_on(solid("cylinder", 0.1, 0.3), table()), [0, 0, 0.1, 1, 0, 0, 0], None, 0.1)
    m = free_on(solid("ellipsoid", 0.1, 0.2, 0.05), table())
    with pytest.raises(StateError, match="at the start 'one' is 0.01 m deep in 'ground'"):
        simulate(m, [0, 0, 0.04, 1, 0, 0, 0], None, 0.1)
    q = catena.assemble(m, q=[0.02, 0, 0.03, *turned(0.2, 0.1, 0)], contact=True)[0]
    run = simulate(m, q, None, 0.01)
    assert np.nanmin(run.contacts.gap.values[0]) == pytest.approx(0.0, abs=1e-9)


def test_what_they_cannot_do_is_said_by_name() -> None:
    can = solid("cylinder", 0.1, 0.2)
    with pytest.raises(
        SimulationError,
        match=(
            r"the cylinder of 'one' and the box of 'ground' touch \(contact 'one-ground'\) where"
            r" they have no single point and no two ends"
        ),
    ):
        simulate(free_on(can, table()), [0, 0, 0.15, 1, 0, 0, 0], None, 0.5)
    m = free_on(solid("ellipsoid", 0.1, 0.2, 0.05), table())
    with pytest.raises(
        SimulationError,
        match=(
            "is between the ellipsoid of 'one' and the box of 'ground', which time stepping does"
            " not support"
        ),
    ):
        simulate(m, [0, 0, 0.15, 1, 0, 0, 0], None, 0.1, contact="time_stepping", step=1e-3)
    with pytest.raises(
        StudyError, match="'one-ground': these shapes touch by features that are chosen on the way"
    ):
        catena.sensitivities(m, with_respect_to=["m"], q=[0, 0, 0.2, 1, 0, 0, 0], until=0.1)
    with pytest.raises(
        QuestionError,
        match=(
            "contact 'one-ground' is of a ellipsoid and a box, whose contact points change with"
        ),
    ):
        catena.contact_ranges(m, [0, 0, 0.2, 1, 0, 0, 0])
    with pytest.raises(MechanismError, match="a bowl"):
        contact_points(
            m.with_(
                frames=(Frame("cup", GROUND),),
                contacts=(Contact(("one", "cup"), 0.1, 0.0, surface="bowl", surface_radius=1.0),),
            )
        )
