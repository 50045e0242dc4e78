"""Capsules, spheres and meshes on boxes and meshes by time stepping: what else has the same motion,
closed forms, theorems, bad input.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import catena
from catena import Body, Contact, Joint, Mechanism, Pose, Shape, simulate
from catena.errors import SimulationError
from touching import thrown

GROUND = "ground"
ORIGIN = (0.0, 0.0, 0.0)
g = 9.81
TABLE = (1.0, 0.8, 0.2)


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> dict[str, str]:
    """Meshes: a table and a block as boxes are, a stone, a disc of too many corners."""
    import trimesh

    folder = tmp_path_factory.mktemp("meshes")
    rng = np.random.default_rng(0)
    stone = rng.standard_normal((12, 3))
    points = {
        "table": [np.array(c) * TABLE / 2 for c in itertools.product((-1, 1), repeat=3)],
        "block": [np.array(c) * (0.2, 0.2, 0.1) / 2 for c in itertools.product((-1, 1), repeat=3)],
        "stone": 0.1 * stone / np.linalg.norm(stone, axis=1)[:, None],
        "disc": [(np.cos(a), np.sin(a), z) for a in np.arange(18) * np.pi / 9 for z in (0, 1)],
    }
    for name, x in points.items():
        trimesh.convex.convex_hull(np.array(x)).export(folder / f"{name}.obj")
    return {name: str(folder / f"{name}.obj") for name in points}


def mesh(file: str, **more) -> Shape:
    return Shape("mesh", (1.0, 1.0, 1.0), file=file, collides=True, **more)


def table(files=None) -> Shape:
    """Its top is z = 0."""
    place = Pose(position=(0.0, 0.0, -0.1))
    return (
        Shape("box", TABLE, place, collides=True)
        if files is None
        else mesh(files["table"], pose=place)
    )


def body(name: str, shape: Shape, inertia=(0.004, 0.004, 0.007), mass: float = 1.0) -> Body:
    return Body(name, mass, ORIGIN, inertia, shapes=(shape,))


def free(bodies, contacts, ground=(), gravity=(0.0, 0.0, -g)) -> Mechanism:
    return Mechanism(
        "things",
        tuple(bodies),
        tuple(Joint(f"{b.name} free", "free", GROUND, b.name) for b in bodies),
        gravity=gravity,
        contacts=tuple(contacts),
        ground=tuple(ground),
    )


def on(
    shape: Shape, ground=(), friction: float = 0.4, restitution: float = 0.0, **more
) -> Mechanism:
    return free(
        [body("it", shape)], [Contact(("it", GROUND), friction, restitution)], ground, **more
    )


def stepped(m, *given, step=1e-3, **options):
    return simulate(m, *given, contact="time_stepping", step=step, **options)


BLOCK = Shape("box", (0.2, 0.2, 0.1), collides=True)
ROD = Shape("capsule", (0.03, 0.2), collides=True)
BALL = Shape("sphere", (0.05,), collides=True)
LYING = [np.sqrt(0.5), 0, np.sqrt(0.5), 0]


# --- what has the same motion
@pytest.mark.parametrize("surface", ["box", "mesh"])
def test_a_capsule_on_a_table_is_one_on_the_half_space(files, surface: str) -> None:
    """It falls on one end, then lies down, slides and rolls."""
    q = [0, 0, 0.12, np.cos(0.6), 0.1 * np.sin(0.6), np.sqrt(0.99) * np.sin(0.6), 0]
    v = [0.3, 0.2, 0, 1, 2, 0]
    plain = stepped(on(ROD), q, v, until=0.5, output=0.05)
    run = stepped(
        on(ROD, (table(files if surface == "mesh" else None),)), q, v, until=0.5, output=0.05
    )
    # what counts as closed depends on all points
    assert (
        np.abs(run.q.values[:3] - plain.q.values[:3]).max() < 1e-12
        and np.abs(run.q.values - plain.q.values).max() < 2e-6
    )
    assert (
        run.ledger.contact.penetration < 1e-9
        and run.contacts.force.values[-1, 0] == pytest.approx([0, 0, g], abs=1e-6)
        and run.ledger.contact.unconverged == 0
    )


def test_a_ball_on_a_mesh_rolls_off_its_edge_as_off_a_box(files) -> None:
    q = [0.42, 0, 0.0501, 1, 0, 0, 0]
    v = [0.4, 0.1, 0, 0, 8.0, 0]
    one = stepped(on(BALL, (table(),)), q, v, until=0.4, output=0.05)
    other = stepped(on(BALL, (table(files),)), q, v, until=0.4, output=0.05)
    assert (
        one.q.values[-1, 2] < -0.01
        and np.abs(one.q.values - other.q.values).max() < 1e-9
        and list(other.contacts.contact.values) == ["it-ground"]
    )


def test_a_mesh_of_a_block_is_that_block(files) -> None:
    """On a table, and one on another: to the first impacts and a little on, for rigid bodies do not
    say how corners share a load.
    """
    q = [0.02, 0, 0.2, 1, 0, 0, 0]
    v = [0.5, 0.1, 0, 2.0, 5.0, 1.0]
    runs = [
        stepped(on(shape, (table(t),)), q, v, until=0.15, output=0.05)
        for shape, t in ((BLOCK, None), (mesh(files["block"]), None), (mesh(files["block"]), files))
    ]
    assert runs[0].ledger.contact.impacts > 0
    for run in runs[1:]:
        assert np.abs(run.q.values - runs[0].q.values).max() < 1e-7
    still = stepped(
        on(mesh(files["block"]), (table(files),)),
        [0.4, 0.1, 0.05, 1, 0, 0, 0],
        until=1.0,
        output=0.5,
    )
    assert np.abs(still.q.values - still.q.values[0]).max() < 1e-12 and still.contacts.force.values[
        -1, 0
    ] == pytest.approx([0, 0, g], abs=1e-6)


# --- closed forms
@pytest.mark.parametrize("swapped", [False, True])
def test_a_capsule_across_a_block_stops_after_its_way(swapped: bool) -> None:
    """It slides along itself on a fixed block: v^2 / 2 mu g, whichever is called the surface."""
    hold = Joint("hold", "fixed", GROUND, "block", placement=Pose(position=(0, 0, -0.1)))
    m = Mechanism(
        "rod",
        (body("rod", ROD), body("block", Shape("box", TABLE, collides=True))),
        (Joint("free", "free", GROUND, "rod"), hold),
        contacts=(Contact(("block", "rod") if swapped else ("rod", "block"), 0.3, 0.0),),
    )
    exact = 0.25 / (2 * 0.3 * g)
    for h in (2e-3, 1e-3):
        run = stepped(m, [0, 0, 0.03, *LYING], [0.5, 0, 0, 0, 0, 0], until=0.4, step=h, output=0.1)
        assert (
            run.q.values[-1, 0] == pytest.approx(exact, abs=0.3 * h)
            and np.abs(run.v.values[-1]).max() < 1e-8
        )
    force = run.contacts.force.values[-1, 0]
    assert (
        force == pytest.approx([0, 0, -g if swapped else g], abs=1e-5)
        and run.ledger.contact.unconverged == 0
    )


def test_a_capsule_that_overhangs_tips_about_the_edge() -> None:
    """Its middle 20 mm beyond the edge: it begins with m g x / I, I about the edge, as a rod
    does.
    """
    m = on(ROD, (table(),), friction=5.0)
    x = 0.02
    run = stepped(m, [0.5 + x, 0, 0.03, *LYING], until=0.02, step=1e-4, output=0.02)
    about = 0.004 + x * x + 0.03**2
    assert run.v.values[-1, 4] == pytest.approx(g * x / about * 0.02, rel=0.02)


def test_a_block_slides_on_a_mesh_until_it_stops(files) -> None:
    exact = 0.25 / (2 * 0.4 * g)
    for shape in (BLOCK, mesh(files["block"])):
        run = stepped(
            on(shape, (table(files),)),
            [0, 0, 0.05, 1, 0, 0, 0],
            [0.5, 0, 0, 0, 0, 0],
            until=0.3,
            output=0.1,
        )
        assert (
            run.q.values[-1, 0] == pytest.approx(exact, abs=2e-4)
            and np.abs(run.v.values[-1]).max() < 1e-8
        )


# --- theorems
def colliding(one: Shape, other: Shape) -> Mechanism:
    return free(
        [body("a", one), body("b", other, mass=2.0)],
        [Contact(("b", "a"), 0.4, 0.3)],
        gravity=ORIGIN,
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("stone", "box"),
        ("stone", "stone"),
        ("stone", "capsule"),
        ("box", "capsule"),
        ("stone", "sphere"),
        ("capsule", "stone"),
    ],
)
def test_what_is_thrown_keeps_its_momentum_and_loses_energy_whatever_its_neighbours(
    files, one: str, other: str
) -> None:
    own = {"stone": mesh(files["stone"]), "box": BLOCK, "capsule": ROD, "sphere": BALL}
    m, (q, v) = catena.compile(colliding(own[one], own[other])), thrown(24, 1, 0.35, 3.0, 0.1)
    run = stepped(m, q, v, until=0.3, output=0.02, threads=1)
    p = run.v.values[..., :3] + 2.0 * run.v.values[..., 6:9]
    T = run.kinetic.values
    c = run.ledger.contact
    assert (
        np.abs(p - p[:, :1]).max() < 1e-13
        and np.diff(T, axis=1).max() < 3e-3 * T.max()
        and (T[:, -1] < 0.999 * T[:, 0]).sum() > 12
    )
    assert c.unconverged == 0 and c.cone < 1e-12 and c.penetration < 0.03 and c.impacts > 0
    mixed = np.random.default_rng(3).permutation(24)
    again = stepped(m, q[mixed], v[mixed], until=0.3, output=0.1, threads=2)
    assert np.array_equal(run.state.values[mixed][:, ::5], again.state.values)


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_lengths_in_other_units(files, unit: float) -> None:
    q, v = thrown(8, 2, 0.35, 3.0, 0.1)
    places = np.ones(14)
    speeds = np.ones(12)
    places[[0, 1, 2, 7, 8, 9]], speeds[[0, 1, 2, 6, 7, 8]] = unit, unit
    stone = Shape("mesh", (unit,) * 3, file=files["stone"], collides=True)
    rod = Shape("capsule", (0.03 * unit, 0.2 * unit), collides=True)
    inertia = np.array((0.004, 0.004, 0.007))
    scaled = free(
        [body("a", stone, tuple(inertia * unit**2)), body("b", rod, tuple(inertia * unit**2), 2.0)],
        [Contact(("b", "a"), 0.4, 0.3)],
        gravity=ORIGIN,
    )
    plain = stepped(colliding(mesh(files["stone"]), ROD), q, v, until=0.2, output=0.1).q.values
    assert stepped(
        scaled, q * places, v * speeds, until=0.2, output=0.1
    ).q.values / places == pytest.approx(plain, abs=1e-6)


# --- bad input
def test_hulls_with_too_many_corners_are_refused_by_name(files) -> None:
    with pytest.raises(
        SimulationError,
        match=(
            r"contact 'it-ground': the hull of the mesh of 'it' has 20 faces with up to 18 corners,"
            r" and time stepping supports at most 32 faces with 16 corners"
        ),
    ):
        stepped(on(mesh(files["disc"]), (table(),)), [0, 0, 2, 1, 0, 0, 0])


@pytest.mark.parametrize("kind", ["rod", "ball"])
def test_steps_converge_to_runs_with_events(kind: str, files) -> None:
    """A rod that falls flat on a table and slides, turning; a ball that falls on a mesh, slides and
    rolls: in first order.
    """
    shape, ground, q = (
        (ROD, table(), [0, 0, 0.3, np.sqrt(0.5), 0, np.sqrt(0.5), 0])
        if kind == "rod"
        else (BALL, table(files), [0, 0, 0.3, 1, 0, 0, 0])
    )
    start = (on(shape, (ground,)), q, [0.6, 0.2, 0, 0.5 if kind == "rod" else 0.0, 0, 0])
    wanted = simulate(*start, until=0.4, output=0.4).q.values[-1]
    for h in (4e-3, 1e-3, 2.5e-4):  # an impact is met somewhere within its step
        found = stepped(*start, until=0.4, output=0.4, step=h).q.values[-1]
        assert np.abs(found - wanted).max() < 2.0 * h
