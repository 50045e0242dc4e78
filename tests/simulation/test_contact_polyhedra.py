"""Boxes and meshes that touch each other in runs with events: closed forms, the same motion on a
half-space, other axes and units.
"""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import catena
from catena import Body, Contact, Joint, Mechanism, Pose, Shape, simulate
from catena.collision.polyhedra import polyhedron
from catena.errors import MechanismError, MechanismWarning, StateError, StudyError
from catena.simulation.scenario import read
from resuming import goes_on_bit_for_bit

GROUND = "ground"
ORIGIN = (0.0, 0.0, 0.0)
G = 9.81
SIZE = (0.2, 0.3, 0.1)


def inertia(mass: float, size) -> tuple[float, ...]:
    x, y, z = size
    return tuple(mass / 12 * s for s in (y * y + z * z, x * x + z * z, x * x + y * y))


def block(size, **more) -> Shape:
    return Shape("box", tuple(size), collides=True, **more)


def free_on(
    *surface: Shape,
    size=SIZE,
    shape: Shape | None = None,
    mass=1.0,
    gravity=(0.0, 0.0, -G),
    friction=0.5,
    restitution=0.0,
) -> Mechanism:
    """A free body on shapes of the ground. Mass, inertias and gravity are parameters, so that all
    of these have the same tapes.
    """
    import sympy

    names = ("m", "xx", "yy", "zz", "gx", "gy", "gz")
    m, xx, yy, zz, *g = sympy.symbols(" ".join(names))
    body = Body("box", m, ORIGIN, (xx, yy, zz), shapes=(shape or block(size),))
    return Mechanism(
        "box",
        (body,),
        (Joint("free", "free", GROUND, "box"),),
        ground=surface,
        gravity=tuple(g),
        parameters=dict(zip(names, (mass, *inertia(mass, size), *gravity))),
        contacts=(Contact(("box", GROUND), friction, restitution),),
    )


def table(x=2.0, y=2.0, z=0.5, at=(0.0, 0.0)) -> Shape:
    """With its top at z = 0."""
    return block((x, y, z), pose=Pose(position=(*at, -z / 2)))


def kept(run, within: float = 1e-10) -> None:
    """The laws and the energy balance of a run."""
    c = run.ledger.contact
    assert (
        max(c.penetration, c.complementarity, c.cone, c.gain) < within
        and run.ledger.imbalance < 1e-9
    ), run.ledger


def turned(*rotation: float) -> list[float]:
    return Rotation.from_rotvec(rotation).as_quat(scalar_first=True).tolist()


# --- the same on a half-space
def test_a_box_on_a_table_moves_as_on_a_half_space(tmp_path: Path) -> None:
    """A tilted drop that bounces, slides and comes to rest; and the same of a mesh that is a
    box.
    """
    trimesh = pytest.importorskip("trimesh")
    trimesh.creation.box(SIZE).export(tmp_path / "box.obj")
    mesh = Shape("mesh", (1.0, 1.0, 1.0), file=str(tmp_path / "box.obj"), collides=True)
    start = {
        "q": [0, 0, 0.25, *turned(0.3, 0.2, 0.1)],
        "v": [1, 0, 0, 1, 2, 3],
        "until": 1.0,
        "output": 0.1,
        "tolerance": 1e-10,
    }
    wanted, *others = (
        simulate(m, **start)
        for m in (
            free_on(restitution=0.4),
            free_on(table(), restitution=0.4),
            free_on(table(), shape=mesh, restitution=0.4),
        )
    )
    assert wanted.v.values[-1] == pytest.approx(np.zeros(6), abs=1e-12)
    for run in others:
        kept(run)
        assert run.q.values == pytest.approx(wanted.q.values, abs=1e-9)
        assert run.contacts.force.values[-1] == pytest.approx(
            wanted.contacts.force.values[-1], abs=1e-9
        )
        assert run.contacts.pressure_centre.values[-1] == pytest.approx(
            wanted.contacts.pressure_centre.values[-1], abs=1e-9
        )
    assert list(others[0].contacts["contact"].values) == [
        f"box-ground point {n}" for n in range(1, 9)
    ]


@pytest.mark.parametrize(("count", "width", "unit"), [(2, 0.2, 1.0), (2, 0.4, 1e-4), (3, 0.4, 1.0)])
def test_a_stack_whose_lowest_block_is_pushed_stays_a_stack(
    count: int, width: float, unit: float
) -> None:
    """With one coefficient everywhere friction above the lowest block is at its limit while it
    holds. That block comes to rest against the others after v / (2 n mu g), and all of them after
    twice that.
    """
    size = (width * unit, width * unit, 0.2 * unit)
    v = 0.3 * unit
    mu = 0.5
    bodies = tuple(
        Body(f"b{k}", 1.0, ORIGIN, inertia(1.0, size), shapes=(block(size),)) for k in range(count)
    )
    contacts = (
        Contact(("b0", GROUND), mu, 0.0),
        *(Contact((f"b{k}", f"b{k - 1}"), mu, 0.0) for k in range(1, count)),
    )
    m = Mechanism(
        "stack",
        bodies,
        tuple(Joint(f"f{k}", "free", GROUND, f"b{k}") for k in range(count)),
        gravity=(0.0, 0.0, -G * unit),
        contacts=contacts,
    )
    q = [x for k in range(count) for x in (0, 0, (0.1 + 0.2 * k) * unit, 1, 0, 0, 0)]
    run = simulate(m, q, [v, *[0.0] * (6 * count - 1)], until=0.05, output=0.05)
    kept(run)
    first = v / (2 * count * mu * G * unit)
    assert sorted({*run.event_time.values} - {0.0}) == pytest.approx([first, 2 * first], rel=1e-9)
    way = mu * G * unit * first**2
    slid = [v * first - (count - 1) * way, *[way] * (count - 1)]
    assert run.q.values[-1, ::7] == pytest.approx(slid, rel=1e-9) and run.q.values[
        -1, 2::7
    ] == pytest.approx(q[2::7], rel=1e-12)


# --- closed forms
@pytest.mark.parametrize("friction", [0.0, 0.2])
def test_a_box_that_slides_off_a_table_tips_where_its_pressure_passes_the_edge(
    friction: float,
) -> None:
    """Friction brakes below the centre of mass, at the height h: the pressure is mu h ahead of
    it.
    """
    v0 = 1.5
    away = 0.3 - friction * SIZE[2] / 2
    run = simulate(
        free_on(table(at=(-1.0, 0.0)), friction=friction),
        [-0.3, 0.07, 0.05, 1, 0, 0, 0],
        [v0, 0, 0, 0, 0, 0],
        0.6,
        output=0.02,
    )
    a = friction * G
    passes = (v0 - np.sqrt(v0**2 - 2 * a * away)) / a if a else away / v0
    opens = [
        t for t, what in zip(run.event_time.values, run.event.values) if what.endswith("opens")
    ]
    assert opens[0] == pytest.approx(passes, rel=1e-9) and run.q.values[-1, 2] < -0.2
    assert run.ledger.contact.impacts == 0  # the last corners leave the edge without a blow
    kept(run)


def test_a_plank_across_a_beam_rests_on_four_crossings_until_its_load_is_beyond_the_edge() -> None:
    """Edges cross edges; the pressure is below the centre of mass. Beyond the edge it tips about
    it: a = m g d / (I + m (d^2 + h^2)).
    """
    w, size = 0.1, (0.6, 0.08, 0.04)
    beam = free_on(table(w, 1.0), size=size, friction=0.6)
    run = simulate(beam, [0.49 * w, 0, 0.02, 1, 0, 0, 0], None, 0.1, output=0.1)
    assert run.q.values[-1].tolist() == run.q.values[0].tolist()  # to the last digit
    assert run.contacts.force.values[-1, 0] == pytest.approx(
        [0, 0, G]
    ) and run.contacts.pressure_centre.values[-1, 0] == pytest.approx([0.49 * w, 0, 0], abs=1e-12)
    places = run.contacts.place.values[-1, :4]
    assert sorted(map(tuple, np.round(places, 12))) == [
        (x, y, 0) for x in (-w / 2, w / 2) for y in (-0.04, 0.04)
    ]
    d = 0.01 * w
    h = 0.02
    I = inertia(1.0, size)[1]
    run = simulate(beam, [0.51 * w, 0, 0.02, 1, 0, 0, 0], None, 0.1, output=0.1)
    assert (
        run.a.values[0, 4] == pytest.approx(G * d / (I + d**2 + h**2)) and run.v.values[-1, 4] > 0
    )
    kept(run)


def test_a_turned_block_touches_at_eight_points() -> None:
    """A square on a square, turned by an eighth: the overlap is an octagon."""
    run = simulate(
        free_on(table(0.2, 0.2), size=(0.2, 0.2, 0.1)),
        [0, 0, 0.05, *turned(0, 0, np.pi / 4)],
        None,
        0.05,
        output=0.05,
    )
    assert (run.contacts["mode"].values[-1] == "stick").all()
    assert np.linalg.norm(run.contacts.place.values[-1, :, :2], axis=1) == pytest.approx(
        0.1 / np.cos(np.pi / 8)
    )
    assert (
        run.contacts.force.values[-1, 0] == pytest.approx([0, 0, G])
        and run.v.values[-1].tolist() == [0.0] * 6
    )


def test_an_aligned_block_stays_exactly_still_and_is_turned_through_the_aligned_place() -> None:
    """Of the same size as what is below: every edge lies on another one."""
    same = free_on(table(0.2, 0.3), friction=0.4)
    run = simulate(same, [0, 0, 0.05, 1, 0, 0, 0], None, 0.5, output=0.5)
    assert run.q.values[-1].tolist() == run.q.values[0].tolist() and run.contacts.force.values[
        -1, 0
    ] == pytest.approx([0, 0, G])
    spun = simulate(
        same, [0, 0, 0.05, *turned(0, 0, -0.05)], [0, 0, 0, 0, 0, 4.0], 0.1, output=0.01
    )
    kept(spun)
    turn = 2.0 * np.arcsin(spun.q.values[:, 6])
    assert spun.v.values[-1].tolist() == [0.0] * 6 and turn[0] < 0.0 < turn[-1]
    # crossings; four corners only where it is aligned
    assert set((spun.contacts["mode"].values != "open").sum(axis=1)) == {8}


@pytest.mark.parametrize(("pull", "slips"), [(6.0, False), (30.0, True)])
def test_a_block_is_carried_by_the_one_below_or_slips_on_it(pull: float, slips: bool) -> None:
    """Together a = F / (m + M); else mu g above and (F - mu m g) / M below."""
    m, M, mu = 1.0, 2.0, 0.3
    bodies = (
        Body("lower", M, ORIGIN, (1, 1, 1), shapes=(block((1.0, 0.5, 0.1)),)),
        Body("upper", m, ORIGIN, inertia(m, SIZE), shapes=(block(SIZE),)),
    )
    joints = (
        Joint("x", "prismatic", GROUND, "lower", axis=(1, 0, 0)),
        Joint("free", "free", GROUND, "upper"),
    )
    pair = Mechanism("pair", bodies, joints, contacts=(Contact(("upper", "lower"), mu, 0.0),))
    run = simulate(pair, {"free.z": 0.1}, None, 0.2, control=[pull, 0, 0, 0, 0, 0, 0], output=0.05)
    kept(run)
    below, above = ((pull - mu * m * G) / M, mu * G) if slips else (pull / (m + M),) * 2
    assert run.a.values[-1, :2] == pytest.approx([below, above]) and run.q.values[
        -1, :2
    ] == pytest.approx([below * 0.02, above * 0.02])
    assert set(run.contacts["mode"].values[-1, :4]) == {"slip" if slips else "stick"}


def test_edge_across_edge_momentum_is_kept_and_the_rebound_is_exact() -> None:
    """Both bars stand on their edges, one along x and one along y: they meet at one crossing, away
    from their middles.
    """
    (X, I), (Y, J) = (
        (size, inertia(mass, size))
        for size, mass in (((1.0, 0.1, 0.1), 1.0), ((0.1, 0.8, 0.1), 2.0))
    )
    bodies = (
        Body("one", 1.0, ORIGIN, I, shapes=(block(X, pose=Pose.rpy(np.pi / 4, 0, 0)),)),
        Body("two", 2.0, ORIGIN, J, shapes=(block(Y, pose=Pose.rpy(0, np.pi / 4, 0)),)),
    )
    m = Mechanism(
        "bars",
        bodies,
        tuple(Joint(f"{b.name} free", "free", GROUND, b.name) for b in bodies),
        gravity=(0, 0, 0),
        contacts=(Contact(("one", "two"), 0.0, 0.7),),
    )
    q = [0.2, 0.15, 0.1 * np.sqrt(2) + 0.05, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0]
    run = simulate(m, q, [0, 0, -1, *[0] * 9], 0.2, output=0.01)
    kept(run)
    assert run.data["impact_time"].values == pytest.approx(
        [0.05]
    ) and run.approach.values == pytest.approx([1.0])
    v = run.v.values[-1]
    assert v[2] + 2 * v[8] == pytest.approx(-1.0)
    P = 1.7 / (1.0 + 0.2**2 / I[1] + 0.5 + 0.15**2 / J[0])
    assert v[2:5] == pytest.approx([-1.0 + P, 0.0, 0.2 * P / I[1]], abs=1e-12) and v[
        8:11
    ] == pytest.approx([-P / 2, -0.15 * P / J[0], 0.0], abs=1e-12)


def test_two_free_boxes_stand_on_each_other_without_friction() -> None:
    size = (0.2, 0.2, 0.1)
    up = (0.2, 0.2, 0.2)
    bodies = tuple(
        Body(n, 1.0, ORIGIN, inertia(1.0, s), shapes=(block(s),))
        for n, s in (("low", size), ("high", up))
    )
    m = Mechanism(
        "stack",
        bodies,
        tuple(Joint(f"{b.name} free", "free", GROUND, b.name) for b in bodies),
        contacts=(Contact(("low", GROUND), 0.0, 0.0), Contact(("high", "low"), 0.0, 0.0)),
    )
    run = simulate(m, [0, 0, 0.05, 1, 0, 0, 0, 0, 0, 0.2, 1, 0, 0, 0], None, 0.2, output=0.1)
    assert np.abs(run.q.values - run.q.values[0]).max() < 1e-15 and run.contacts.force.values[
        -1, :, 2
    ] == pytest.approx([2 * G, G])
    kept(run)


# --- other axes, other units
def test_the_same_motion_in_a_turned_world() -> None:
    R = Rotation.from_rotvec([0.7, -1.1, 0.4])
    start = np.array([0.1, -0.2, 0.2])
    v = np.array([0.8, 0.1, 0.0])
    turn = Rotation.from_rotvec([0.2, 0.3, 0.4])
    spin = [1.0, -2.0, 3.0]
    one = simulate(
        free_on(table()), [*start, *turn.as_quat(scalar_first=True)], [*v, *spin], 0.3, output=0.05
    )
    pose = Pose(tuple(map(tuple, R.as_matrix())), tuple(R.apply([0, 0, -0.25])))
    other = free_on(block((2.0, 2.0, 0.5), pose=pose), gravity=tuple(R.apply([0, 0, -G])))
    two = simulate(
        other,
        [*R.apply(start), *(R * turn).as_quat(scalar_first=True)],
        [*R.apply(v), *spin],
        0.3,
        output=0.05,
    )
    kept(two)
    assert R.inv().apply(two.q.values[:, :3]) == pytest.approx(one.q.values[:, :3], abs=1e-8)
    assert two.v.values[:, 3:] == pytest.approx(one.v.values[:, 3:], abs=1e-6)


@functools.cache
def landing(L: float, M: float, T: float) -> np.ndarray:
    """Coordinates of a box that lands near the edge of a table and slides off, in units of length,
    mass and time.
    """
    q = np.array([-0.12, 0.04, 0.14, *turned(0.3, 0.1, 0.2)])
    v = np.array([1.2, 0, 0, 1, -2, 0.5])
    edge = block((1.0 * L, 1.0 * L, 0.5 * L), pose=Pose(position=(-0.5 * L, 0.0, -0.25 * L)))
    m = free_on(
        edge, size=tuple(x * L for x in SIZE), mass=M, gravity=(0, 0, -G * L / T**2), friction=0.0
    )
    run = simulate(
        m,
        q * np.array([L] * 3 + [1.0] * 4),
        v * np.array([L / T] * 3 + [1 / T] * 3),
        0.3 * T,
        output=0.05 * T,
    )
    kept(run)
    return run.q.values / np.array([L] * 3 + [1.0] * 4)


@pytest.mark.parametrize("unit", [(1e3, 1e3, 1e3), (1e-6, 1.0, 1e-3), (1e6, 1e3, 1e3)])
def test_the_same_motion_in_other_units(unit: tuple[float, float, float]) -> None:
    """mm, g, ms; and lengths far from one."""
    assert landing(*unit) == pytest.approx(landing(1.0, 1.0, 1.0), abs=1e-7)


# --- what comes with it
def test_a_start_in_penetration_is_refused_with_its_depth_and_can_be_separated() -> None:
    m = free_on(table())
    deep = [0, 0, 0.045, *turned(0.02, 0, 0)]
    with pytest.raises(
        StateError,
        match=r"at the start 'box' is 0.00\d+ m deep in 'ground' \(contact 'box-ground'\)",
    ):
        simulate(m, deep, None, 0.1)
    q, _ = catena.assemble(m, deep, contact=True)
    corners = np.array(q[:3]) + Rotation.from_quat(q[3:], scalar_first=True).apply(
        [[i * 0.1, j * 0.15, -0.05] for i in (1, -1) for j in (1, -1)]
    )
    assert corners[:, 2].min() == pytest.approx(0.0, abs=1e-9) and np.abs(q - deep).max() < 0.02


def test_reactions_pictures_and_files_of_a_run_with_patches(tmp_path: Path) -> None:
    run = simulate(
        free_on(table(0.1, 1.0), size=(0.6, 0.08, 0.04), friction=0.6),
        [0.02, 0, 0.03, 1, 0, 0, 0],
        None,
        0.1,
        output=0.05,
    )
    W = run.reactions("body")
    assert np.abs(W.values).max() < 1e-9  # a free joint carries nothing
    assert run.plot("contacts") is not None
    run.save(tmp_path / "run.nc")
    again = catena.load_result(tmp_path / "run.nc")
    assert again.contacts.place.values == pytest.approx(run.contacts.place.values, nan_ok=True)


def test_a_mesh_that_is_not_convex_is_told_of_whatever_its_size(tmp_path) -> None:
    trimesh = pytest.importorskip("trimesh")
    for size in (1e-6, 1.0, 1e6):
        ring = trimesh.creation.annulus(0.5, 1.0, 1.0, sections=8).apply_scale(size)
        ring.export(tmp_path / f"ring{size:g}.stl")
        with pytest.warns(
            MechanismWarning,
            match=(
                r"ring.* is not convex: its hull has 33.3 % more volume, and contacts are those of"
                r" the hull; cut it into convex parts"
            ),
        ):
            polyhedron(
                Shape(
                    "mesh", (1.0, 1.0, 1.0), file=str(tmp_path / f"ring{size:g}.stl"), collides=True
                ),
                {},
            )


def test_what_patches_cannot_do_is_said_by_name(tmp_path: Path) -> None:
    trimesh = pytest.importorskip("trimesh")
    trimesh.creation.cylinder(0.1, 0.1, sections=16).export(tmp_path / "can.obj")
    can = Shape("mesh", (1.0, 1.0, 1.0), file=str(tmp_path / "can.obj"), collides=True)
    with pytest.raises(
        MechanismError,
        match=(
            "faces of 'box' and 'ground' may touch at 20 points, and a contact of two bodies has 16"
            " at most"
        ),
    ):
        simulate(free_on(table(), shape=can), [0, 0, 1, 1, 0, 0, 0], None, 0.1)
    with pytest.raises(
        StudyError, match="'box-ground': these shapes touch by features that are chosen on the way"
    ):
        catena.sensitivities(
            free_on(table()), with_respect_to=["m"], q=[0, 0, 0.2, 1, 0, 0, 0], until=0.1
        )


def test_a_run_continues_from_a_checkpoint_with_the_same_features() -> None:
    """Bit for bit: the features are in the modes."""

    from catena.sensitivity.sensitivities import planned

    case = read("block_off_table")
    plan = planned(case.mechanism, case.arguments["q"], case.arguments["v"], 0.45, {})
    goes_on_bit_for_bit(plan, 5)


@pytest.mark.parametrize("turn", [(0.0, 0.0, 0.0), (0.4, -0.7, 1.1)])
def test_thrown_boxes_never_penetrate_by_the_clearance_of_their_shapes(
    turn: tuple[float, float, float],
) -> None:
    """Without rebound they roll over corners, edges and faces of each other; the distance in closed
    form knows nothing of patches.
    """
    bodies = tuple(
        Body(n, 1.0, ORIGIN, (0.02, 0.03, 0.025), shapes=(block(s),))
        for n, s in (("one", (0.5, 0.3, 0.2)), ("two", (0.3, 0.4, 0.5)))
    )
    m = Mechanism(
        "thrown",
        bodies,
        tuple(Joint(f"{b.name} free", "free", GROUND, b.name) for b in bodies),
        gravity=(0, 0, 0),
        contacts=(Contact(("one", "two"), 0.0, 0.0),),
    )
    q = [0.6, 0.5, 0.7, *turned(*turn), 0, 0, 0, 1, 0, 0, 0]
    run = simulate(
        m, q, [-1.5, -1.2, -1.8, 1.0, -2.0, 0.5, 0, 0, 0, -1.0, 0.0, 2.0], 0.8, output=0.005
    )
    apart = catena.clearance(m, run.q.values).distance
    assert -1e-12 < apart.min() < 1e-6 and run.ledger.contact.impacts > 0
    momentum = run.v.values[:, :3] + run.v.values[:, 6:9]
    assert np.abs(momentum - momentum[0]).max() < 1e-10
    kept(run)
