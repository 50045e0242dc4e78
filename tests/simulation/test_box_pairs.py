"""Two boxes by time stepping: closed forms, theorems, the half-space beside a table, bad input."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import catena
from catena import Body, Contact, Joint, Mechanism, Pose, Shape, simulate
from catena.errors import StateError
from touching import box as box_on_ground
from touching import thrown

GROUND = "ground"
ORIGIN = (0.0, 0.0, 0.0)
g = 9.81
# its top is z = 0
TABLE = Shape("box", (1.0, 0.8, 0.2), Pose(position=(0.0, 0.0, -0.1)), collides=True)


def box(name: str, size=(0.2, 0.2, 0.1), mass: float = 1.0) -> Body:
    x, y, z = size
    inertia = tuple(mass / 12 * s for s in (y * y + z * z, x * x + z * z, x * x + y * y))
    return Body(name, mass, ORIGIN, inertia, shapes=(Shape("box", size, collides=True),))


def boxes(bodies, contacts, gravity=(0.0, 0.0, -g), ground=()) -> Mechanism:
    joints = tuple(Joint(f"{b.name} free", "free", GROUND, b.name) for b in bodies)
    return Mechanism(
        "boxes",
        tuple(bodies),
        joints,
        gravity=gravity,
        contacts=tuple(contacts),
        ground=tuple(ground),
    )


def tower(count: int, friction: float = 0.5) -> Mechanism:
    """Boxes one on another, the lowest on the half-space."""
    bodies = [box(f"b{i}") for i in range(count)]
    return boxes(
        bodies,
        [Contact((f"b{i}", f"b{i - 1}" if i else GROUND), friction, 0.0) for i in range(count)],
    )


def at(*places) -> np.ndarray:
    return np.concatenate([[*p, 1, 0, 0, 0] for p in places]).astype(float)


def stepped(m, *given, step=1e-3, **options):
    return simulate(m, *given, contact="time_stepping", step=step, **options)


# --- the half-space beside a table
def test_a_table_is_the_half_space_where_the_corners_are_inside_its_face() -> None:
    """A box thrown flat lands, slides and stops as on the half-space. (If it also turned, rigid
    bodies would not say how its corners share the load.)
    """
    on_table = boxes([box("box")], [Contact(("box", GROUND), 0.4, 0.0)], ground=(TABLE,))
    q = at((0, 0, 0.06))
    v = [0.8, 0.2, 0, 0, 0, 0]
    run = stepped(on_table, q, v, until=0.6)
    plain = stepped(box_on_ground(0.4, 0.0), q, v, until=0.6)
    assert np.abs(run.q.values - plain.q.values).max() < 1e-7 and run.contacts.force.values[
        -1, 0
    ] == pytest.approx([0, 0, g], abs=1e-6)
    assert (
        list(run.contacts.contact.values[:2]) == ["box-ground point 1", "box-ground point 2"]
        and run.ledger.contact.penetration < 1e-12
    )
    tumbling = [0.5, 0.1, 0, 2.0, 5.0, 1.0]
    # up to its first corner and a little on
    run, plain = (
        stepped(m, at((0, 0, 0.2)), tumbling, until=0.15)
        for m in (on_table, box_on_ground(0.4, 0.0))
    )
    assert run.ledger.contact.impacts > 0 and np.abs(run.q.values - plain.q.values).max() < 1e-9


# --- closed forms
def test_block_on_block_with_friction() -> None:
    """The upper one is pushed off: it slows down by mu g, the lower one speeds up by mu g m1/m2,
    until they go together.
    """
    m = boxes(
        [box("lower", (0.8, 0.4, 0.1), 2.0), box("upper")],
        [Contact(("lower", GROUND), 0.0, 0.0), Contact(("upper", "lower"), 0.3, 0.0)],
    )
    q = at((0, 0, 0.05), (-0.2, 0, 0.15))
    v = np.zeros(12)
    v[6] = 1.0
    together = 1.0 / 3.0
    t_stop = (1.0 - 1.0 / 3.0) / (0.3 * g)
    exact = 0.5 * (1.0 + together) * t_stop + together * (0.5 - t_stop)
    errors = []
    for h in (2e-3, 1e-3, 5e-4):
        run = stepped(m, q, v, until=0.5, step=h, output=0.1)
        errors.append(abs(run.q.values[-1, 7] + 0.2 - exact))
        assert run.v.values[-1, [0, 6]] == pytest.approx([together, together], rel=1e-6)
    # within the slip of a step, 1/3 m/s * h
    assert errors[2] < errors[0] and errors[2] < 0.3 * 5e-4
    assert run.contacts.force.values[-1] == pytest.approx(
        np.array([[0, 0, 3 * g], [0, 0, g]]), abs=1e-5
    )


def moreau_jean_about_an_edge(d: float, z: float, h: float, until: float) -> float:
    """The angle of a unit box that tips about a fixed edge, by an own program: positions (x, z,
    angle) of its middle relative to the edge, one contact point that sticks, at the middle of each
    step. The gap that the curve of the way has opened, g, is closed by the positions, J_n v = -2
    g/h, while the speeds after the step have J v = 0.
    """
    weights = np.array([1.0, 1.0, 12.0 / (0.2**2 + 0.1**2)])  # inverse masses
    q, v = np.array([d, z, 0.0]), np.zeros(3)
    for _ in range(round(until / h)):
        middle = q + 0.5 * h * v
        s, c = np.sin(middle[2]), np.cos(middle[2])
        gap = s * middle[0] + c * middle[1] - z
        J = np.array([[s, c], [c, -s]]) @ [[1.0, 0.0, -middle[1]], [0.0, 1.0, middle[0]]]
        falls = v + [0.0, -h * g, 0.0]
        W = np.linalg.inv((J * weights) @ J.T)
        closing, v = (
            falls + weights * (J.T @ (W @ (target - J @ falls)))
            for target in (np.array([-2.0 * gap / h, 0.0]), np.zeros(2))
        )
        q = middle + 0.5 * h * closing
    return float(q[2])


def test_a_box_that_overhangs_tips_about_the_edge() -> None:
    """Its middle is 20 mm beyond the edge of the table, about which it turns: I w' = m g x, to the
    order of the step. Up to 0.18 s the run is that of an own program of the same step, whose error
    is 0.224 h: of the method, not of the search for contacts.
    """
    m = boxes([box("box")], [Contact(("box", GROUND), 5.0, 0.0)], ground=(TABLE,))
    d = 0.02
    z = 0.05
    inertia = 1.0 / 12 * (0.2**2 + 0.1**2) + d * d + z * z
    exact = solve_ivp(
        lambda t, y: [y[1], g * (d * np.cos(y[0]) + z * np.sin(y[0])) / inertia],
        (0, 0.2),
        [0, 0],
        rtol=1e-11,
        atol=1e-12,
        t_eval=[0.18, 0.2],
    ).y[0]
    errors = []
    for h in (2e-3, 1e-3, 5e-4):
        run = stepped(m, at((0.5 + d, 0, z)), until=0.2, step=h, output=0.02)
        early, late = 2 * np.arcsin(run.q.values[[9, 10], 5])
        assert abs(early - moreau_jean_about_an_edge(d, z, h, 0.18)) < 2e-4 * h
        assert abs(early - exact[0]) < 0.23 * h
        errors.append(abs(late - exact[1]))
    # of first order, measured: each half of the step halves the error
    assert exact[1] > 0.6 and errors[2] < 0.42 * 5e-4
    assert np.divide(errors[:2], errors[1:]) == pytest.approx([2.0, 2.0], rel=0.01)


# --- what stands
@pytest.fixture(scope="module")
def five() -> catena.Machine:
    return catena.compile(tower(5))


def test_a_tower_stands(five) -> None:
    """Five boxes for a thousand steps: nothing creeps, and every one carries those above it."""
    q = at(*((0, 0, 0.05 + 0.1 * i) for i in range(5)))
    run = stepped(five, q, until=1.0, output=0.5)
    start, middle, end = run.q.values
    assert np.abs(end - start).max() < 1e-12 and np.abs(end - middle).max() < 1e-13
    assert (
        run.contacts.force.values[-1, :, 2] == pytest.approx(g * np.arange(5, 0, -1), rel=1e-6)
        and run.ledger.contact.unconverged == 0
    )


def test_a_tower_that_is_pushed_slides_apart_and_keeps_the_laws(five) -> None:
    q = at(*((0, 0, 0.05 + 0.1 * i) for i in range(5)))
    v = np.zeros(30)
    v[6], v[12 + 5] = 1.5, 8.0  # the second is struck, the third spins
    run = stepped(five, q, v, until=0.5, output=0.02)
    T = run.kinetic.values
    c = run.ledger.contact
    E = T + run.potential.values
    # what penetrates is lifted
    assert np.diff(E).max() < 1e-6 * E.max() and T[-1] < 1e-9 * T[0] and run.q.values[-1, 7] > 0.03
    # of 500 steps: see docs/contact.md
    assert c.cone < 1e-12 and c.penetration < 1e-5 and c.residual < 1e-4 and c.unconverged < 10


def test_towers_that_are_pushed_know_nothing_of_each_other(five) -> None:
    """Their contacts are those of different points, and slow to solve."""
    rng = np.random.default_rng(0)
    q = np.tile(at(*((0, 0, 0.05 + 0.1 * i) for i in range(5))), (8, 1))
    v = np.zeros((8, 30))
    v[:, 6], v[:, 17], v[:, 19] = (
        rng.uniform(-1.5, 1.5, 8),
        rng.uniform(-8, 8, 8),
        rng.uniform(-1, 1, 8),
    )
    together = stepped(five, q, v, until=0.02, output=0.01)
    for k in (0, 5):
        alike = stepped(five, q[[k] * 8], v[[k] * 8], until=0.02, output=0.01)
        assert np.array_equal(alike.state.values[0], together.state.values[k])


def test_boxes_that_land_on_each_other_on_a_slope_come_to_rest() -> None:
    """Impacts tilt them by a hundred-thousandth: one point where edges cross would then carry all,
    and they would rock for ever.
    """
    slope = (g * np.sin(0.1), 0.0, -g * np.cos(0.1))
    rng = np.random.default_rng(0)
    bodies = [box(f"b{i}", (0.2, 0.15, 0.1)) for i in range(3)]
    m = boxes(
        bodies,
        [Contact((f"b{i}", f"b{i - 1}" if i else GROUND), 0.5, 0.0) for i in range(3)],
        gravity=slope,
    )
    q = np.concatenate(
        [
            np.column_stack(
                [
                    rng.uniform(-0.01, 0.01, (16, 2)),
                    np.full(16, 0.051 + 0.101 * i),
                    np.tile([1, 0, 0, 0], (16, 1)),
                ]
            )
            for i in range(3)
        ],
        axis=1,
    )
    run = stepped(m, q, until=0.2, output=0.1)
    assert (
        np.abs(run.v.values[:, -1]).max() < 1e-8
        and run.ledger.contact.unconverged < 3
        and run.ledger.contact.residual < 1e-6
        and run.ledger.contact.penetration < 1e-3
    )
    assert np.abs(run.q.values[:, -1] - run.q.values[:, 1]).max() < 1e-9


def test_a_pile_comes_to_rest() -> None:
    """Five boxes that may all touch each other and the ground, dropped tilted one above another."""
    rng, count = np.random.default_rng(0), 5
    bodies = [box(f"b{i}", (0.2, 0.15, 0.1)) for i in range(count)]
    m = boxes(
        bodies,
        [Contact((f"b{i}", GROUND), 0.5, 0.0) for i in range(count)]
        + [Contact((f"b{i}", f"b{j}"), 0.5, 0.0) for i in range(count) for j in range(i)],
    )
    turns = [(unit_of(rng.standard_normal(4)), rng.uniform(-0.05, 0.05, 2)) for _ in range(count)]
    q = np.concatenate([[*place, 0.25 + 0.3 * i, *turn] for i, (turn, place) in enumerate(turns)])
    run = stepped(m, q, until=3.0, output=0.75)
    assert (
        np.abs(run.v.values[-1]).max() < 1e-8
        and run.kinetic.values.max() > 1.0
        and run.ledger.contact.unconverged < 16
        and run.ledger.contact.residual < 1e-4
    )
    assert (
        run.contacts.force.values[-1, :count, 2].sum() == pytest.approx(count * g, rel=1e-6)
        and np.nanmin(run.contacts.gap.values[-1]) > -1e-7
    )


def unit_of(x: np.ndarray) -> np.ndarray:
    return x / np.linalg.norm(x)


def test_crossed_planks_bear_where_they_cross() -> None:
    """One across the other: four points, each where an edge of one crosses an edge of the other, a
    quarter of the weight each.
    """
    m = boxes(
        [box("low", (1.0, 0.1, 0.05)), box("high", (0.1, 1.0, 0.05), 2.0)],
        [Contact(("low", GROUND), 0.5, 0.0), Contact(("high", "low"), 0.5, 0.0)],
    )
    run = stepped(m, at((0, 0, 0.025), (0, 0, 0.075)), until=0.2, output=0.1)
    pair = [n for n in range(8, 20) if run.contacts.normal_force.values[-1, n] > 0.0]
    places = run.contacts.place.values[-1, pair]
    assert len(pair) == 4 and np.abs(places) == pytest.approx(
        np.tile([0.05, 0.05, 0.05], (4, 1)), abs=1e-6
    )
    assert (
        run.contacts.normal_force.values[-1, pair].sum() == pytest.approx(2 * g, rel=1e-6)
        and np.abs(run.v.values[-1]).max() < 1e-9
    )


# --- theorems
def colliding(friction: float, restitution: float, unit: float = 1.0) -> Mechanism:
    bodies = [
        box("a", (0.2 * unit, 0.3 * unit, 0.1 * unit)),
        box("b", (0.25 * unit, 0.15 * unit, 0.2 * unit), 2.0),
    ]
    return boxes(bodies, [Contact(("b", "a"), friction, restitution)], gravity=ORIGIN)


@pytest.mark.parametrize(("friction", "restitution"), [(0.0, 0.0), (0.5, 0.5)])
def test_thrown_boxes_keep_their_momentum_and_lose_energy(
    friction: float, restitution: float
) -> None:
    q, v = thrown(64, 0, 0.45, 2.0, 0.2)
    run = stepped(colliding(friction, restitution), q, v, until=0.6, output=0.02)
    p = run.v.values[..., :3] + 2.0 * run.v.values[..., 6:9]
    assert np.abs(p - p[:, :1]).max() < 1e-13
    T = run.kinetic.values
    c = run.ledger.contact
    # a free turning box gains h^2
    assert np.diff(T, axis=1).max() < 2e-3 * T.max() and (T[:, -1] < T[:, 0]).sum() > 50
    assert c.gain < 1e-6 and c.penetration < 2e-3 and c.unconverged <= 1 and c.impacts > 0
    # angular momentum about the origin, of which impulses at one place change nothing
    L = sum(
        mass * np.cross(run.q.values[..., k : k + 3], run.v.values[..., j : j + 3])
        + spin(run, k, j, inertia)
        for mass, k, j, inertia in (
            (1.0, 0, 0, box("a", (0.2, 0.3, 0.1)).inertia),
            (2.0, 7, 6, box("b", (0.25, 0.15, 0.2), 2.0).inertia),
        )
    )
    assert np.abs(L - L[:, :1]).max() < 2e-3 * np.abs(L).max()


def spin(run, k: int, j: int, inertia) -> np.ndarray:
    """R I w of a body, about its middle."""
    w, x, y, z = np.moveaxis(run.q.values[..., k + 3 : k + 7], -1, 0)
    I = np.array(inertia)[[0, 3, 5]] * run.v.values[..., j + 3 : j + 6]
    R = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
    return np.einsum("abrt,rtb->rta", R, I)


def test_a_run_knows_nothing_of_its_neighbours() -> None:
    q, v = thrown(24, 1, 0.45, 2.0, 0.2)
    m = colliding(0.4, 0.3)
    mixed = np.random.default_rng(3).permutation(24)  # other neighbours
    one = stepped(m, q, v, until=0.3, threads=1, output=0.1)
    two = stepped(m, q[mixed], v[mixed], until=0.3, threads=2, output=0.1)
    assert np.array_equal(one.state.values[mixed], two.state.values)
    alone = stepped(m, q[5], v[5], until=0.3, output=0.1)
    assert np.abs(alone.q.values - one.q.values[5]).max() < 1e-9  # one lane has other code


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_lengths_in_other_units(unit: float) -> None:
    q, v = thrown(8, 2, 0.45, 2.0, 0.2)
    places = np.ones(14)
    speeds = np.ones(12)
    places[[0, 1, 2, 7, 8, 9]], speeds[[0, 1, 2, 6, 7, 8]] = unit, unit
    plain = stepped(colliding(0.4, 0.3), q, v, until=0.3, output=0.1).q.values
    assert stepped(
        colliding(0.4, 0.3, unit), q * places, v * speeds, until=0.3, output=0.1
    ).q.values / places == pytest.approx(plain, abs=1e-7)


def test_loops_are_closed_while_boxes_touch() -> None:
    """A box hangs on two parallel cranks, which keep it level, and swings onto the table."""
    crank = [Body(name, 0.1, (0, 0, -0.15), (1e-3, 1e-3, 1e-4)) for name in ("left", "right")]
    joints = (
        Joint(
            "a",
            "revolute",
            GROUND,
            "left",
            axis=(0, 1, 0),
            placement=Pose(position=(-0.05, 0, 0.34)),
        ),
        Joint(
            "b",
            "revolute",
            GROUND,
            "right",
            axis=(0, 1, 0),
            placement=Pose(position=(0.05, 0, 0.34)),
        ),
        Joint(
            "c",
            "revolute",
            "left",
            "box",
            axis=(0, 1, 0),
            placement=Pose(position=(0, 0, -0.3)),
            offset=Pose(position=(-0.05, 0, 0)),
        ),
        Joint(
            "d",
            "revolute",
            "right",
            "box",
            axis=(0, 1, 0),
            placement=Pose(position=(0, 0, -0.3)),
            offset=Pose(position=(0.05, 0, 0)),
        ),
    )
    m = Mechanism(
        "swing",
        (*crank, box("box")),
        joints,
        contacts=(Contact(("box", GROUND), 0.2, 0.0),),
        ground=(TABLE,),
    )
    run = stepped(m, catena.assemble(m, [0.8, 0.8, -0.8])[0], until=0.5, output=0.1)
    assert (
        run.ledger.closure < 1e-9
        and run.ledger.contact.impacts > 0
        and run.contacts.gap.min() > -1e-6
    )


# --- bad input
def test_a_start_in_penetration_names_the_pair() -> None:
    q = np.stack([at((0, 0, 0.05), (0, 0, 0.16)), at((0, 0, 0.05), (0.01, 0, 0.13))])
    with pytest.raises(
        StateError,
        match=r"\(run 1\) 'b1' is 0.02 m deep in 'b0' \(contact 'b1-b0 point 1'\); start apart",
    ):
        stepped(tower(2), q)
