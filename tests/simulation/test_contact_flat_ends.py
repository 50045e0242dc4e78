"""A cylinder that stands flat on its end: it rests, slides, tips over its rim, rocks and lands, as
closed forms and other ways have it.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import sympy
from scipy.optimize import nnls
from scipy.spatial.transform import Rotation

from catena import (
    Body,
    Contact,
    Force,
    Frame,
    Joint,
    Mechanism,
    Pose,
    Result,
    Shape,
    sensitivities,
    simulate,
)
from catena.contact.flat_ends import POINT_ANGLES, RimImpact, lowest, turn, turned
from catena.errors import StudyError
from catena.sensitivity.sensitivities import planned
from resuming import goes_on_bit_for_bit

GROUND = "ground"
ORIGIN = (0.0, 0.0, 0.0)
G = 9.81
# m, m, kg, m: the height at which it is pushed
R = 0.1
H = 0.3
MASS = 2.0
HAND = 0.25
STANDS = [0, 0, H / 2, 1, 0, 0, 0]
FLOOR = Pose.rpy(0.7, -0.4, 1.9)  # a world turned round


def inertia(m: float, r: float, h: float) -> tuple[float, float, float]:
    return (m * (3 * r * r + h * h) / 12,) * 2 + (m * r * r / 2,)


def can(friction=0.5, restitution: float = 0.0, **more) -> Mechanism:
    """Free on a slope of angle beta along x, pushed along the direction `heading` at its hand by
    rise * t.
    """
    beta = sympy.Symbol("beta")
    body = Body(
        "can", MASS, ORIGIN, inertia(MASS, R, H), shapes=(Shape("cylinder", (R, H), collides=True),)
    )
    push = Force("push", "hand", force=("rise*t*cos(heading)", "rise*t*sin(heading)", 0.0))
    return Mechanism(
        "can",
        (body,),
        (Joint("free", "free", GROUND, "can"),),
        (Frame("hand", "can", Pose(position=(0, 0, HAND - H / 2))),),
        loads=(push,),
        parameters={"beta": 0.0, "rise": 0.0, "heading": 0.0},
        gravity=(G * sympy.sin(beta), 0.0, -G * sympy.cos(beta)),
        contacts=(Contact(("can", GROUND), friction, restitution),),
        **more,
    )


def run(
    until: float,
    q=STANDS,
    v=None,
    friction=0.5,
    restitution: float = 0.0,
    output: float | None = None,
    **parameters,
) -> Result:
    return simulate(
        can(friction, restitution), q, v, until, parameters=parameters, output=output or until
    )


def words(result: Result) -> list[str]:
    return [str(x) for x in result.event.values]


def tilted(angle: float, heading: float = 0.0) -> list[float]:
    """On its rim."""
    x, y, z, w = (
        Rotation.from_rotvec([0, 0, heading]) * Rotation.from_rotvec([0, angle, 0])
    ).as_quat()
    return [0, 0, H / 2 * np.cos(angle) + R * np.sin(angle), w, x, y, z]


# --- it stands
def test_at_rest_three_points_carry_it_and_the_sums_are_given() -> None:
    still = run(0.5)
    assert np.array_equal(still.q.values[-1], STANDS) and still.ledger.contact.penetration == 0.0
    contacts = still.contacts
    assert list(contacts.contact.values) == [
        "can rim 1-ground",
        "can rim 2-ground",
        "can flat 1-ground",
        "can flat 2-ground",
    ]
    assert contacts.normal_force.values[-1] == pytest.approx([0, *[MASS * G / 3] * 3]) and list(
        contacts["mode"].values[-1]
    ) == ["open", *["stick"] * 3]
    assert (
        contacts.gap.values[-1] == pytest.approx([H, 0, 0, 0], abs=1e-15)
        and np.isnan(contacts.friction_force.values[-1, 1:, :2]).any()
    )
    assert contacts.force.values[-1, 0] == pytest.approx(
        [0, 0, MASS * G], abs=1e-12
    ) and contacts.pressure_centre.values[-1, 0] == pytest.approx(ORIGIN, abs=1e-12)
    assert (
        np.linalg.norm(contacts.place.values[-1, 1:], axis=1) == pytest.approx([R] * 3)
        and np.isnan(run(1e-3, tilted(0.2)).contacts.place.values[-1, 2:]).all()
    )


@pytest.mark.parametrize("side", [-1e-9, 1e-9])
def test_on_a_slope_it_sticks_slides_or_tips(side: float) -> None:
    """It slides where tan(alpha) > mu, and tips where tan(alpha) > R/h of its centre of mass."""
    slides = run(0.1, friction=0.5, beta=np.arctan(0.5) + side)
    assert set(slides.contacts["mode"].values[0, 1:]) == ({"slip"} if side > 0 else {"stick"})
    tips = run(0.1, friction=0.8, beta=np.arctan(R / (H / 2)) + side)
    assert list(tips.contacts["mode"].values[0]) == (
        ["open", "stick", "open", "open"] if side > 0 else ["open", *["stick"] * 3]
    )
    if side < 0:
        assert np.array_equal(tips.q.values[-1], STANDS) and np.array_equal(
            slides.q.values[-1], STANDS
        )


@pytest.mark.parametrize("heading", [0.0, 1.0, -2.5])
def test_a_growing_push_tips_it_where_it_is_as_strong_as_its_weight(heading: float) -> None:
    """F h = m g R, over the point of the rim ahead; until then nothing moves."""
    rise = 20.0
    tipped = run(0.5, friction=0.9, rise=rise, heading=heading, output=0.05)
    opens = [
        float(t)
        for t, what in zip(tipped.event_time.values, words(tipped))
        if what.endswith("opens")
    ]
    assert opens == pytest.approx([MASS * G * R / (rise * HAND)] * 2, rel=1e-9)
    assert tipped.contacts.place.values[-1, 1] == pytest.approx(
        [R * np.cos(heading), R * np.sin(heading), 0.0], abs=1e-9
    )
    assert (
        np.array_equal(tipped.q.values[:7], [STANDS] * 7)
        and tipped.ledger.contact.penetration < 1e-12
    )


def test_the_three_points_follow_a_push_that_turns_round() -> None:
    """A force of constant size, at 0.7 of what tips it, goes round: nothing moves."""
    m = can(0.9).with_(
        loads=(
            Force(
                "push",
                "hand",
                force=(
                    f"{0.7 * MASS * G * R / HAND}*cos(heading*t)",
                    f"{0.7 * MASS * G * R / HAND}*sin(heading*t)",
                    0.0,
                ),
            ),
        )
    )
    round_ = simulate(m, STANDS, None, 0.4, parameters={"heading": 16.0}, output=0.1)
    assert np.array_equal(round_.q.values[-1], STANDS) and not any(
        "opens" in x for x in words(round_)
    )
    t = round_.time
    want = 0.7 * R * np.stack([np.cos(16 * t), np.sin(16 * t)], axis=1)
    assert round_.contacts.pressure_centre.values[:, 0, :2] == pytest.approx(want, abs=1e-12)


# --- it slides and spins
def test_a_puck_slides_and_stops() -> None:
    """After v^2/(2 mu g), along a line; its load leans forward by mu h."""
    v = np.array([1.0, 0.5])
    slid = run(0.6, v=[*v, 0, 0, 0, 0], friction=0.4, output=0.1)
    assert slid.q.values[-1] == pytest.approx(
        [*(v * np.hypot(*v) / (2 * 0.4 * G)), *STANDS[2:]], rel=1e-9, abs=1e-13
    )
    ahead = slid.contacts.pressure_centre.values[1, 0, :2] - slid.q.values[1, :2]
    assert (
        ahead == pytest.approx(0.4 * H / 2 * v / np.hypot(*v), rel=1e-9)
        and slid.ledger.relative_energy_balance < 1e-9
    )


def test_a_puck_spins_as_a_ring_carries_it() -> None:
    """I w = mu m g R t."""
    spin = run(0.2, v=[0, 0, 0, 0, 0, 8.0], output=0.05)
    stops = max(
        float(t) for t, what in zip(spin.event_time.values, words(spin)) if what.endswith("sticks")
    )
    assert (
        stops == pytest.approx(0.5 * MASS * R**2 * 8.0 / (0.5 * MASS * G * R), rel=1e-9)
        and not spin.v.values[-1].any()
    )


# --- it rocks and lands
def planar(shape: Shape) -> Mechanism:
    body = Body("block", MASS, ORIGIN, (inertia(MASS, R, H)[0],) * 3, shapes=(shape,))
    joints = (
        Joint("x", "prismatic", GROUND, "a", axis=(1, 0, 0)),
        Joint("z", "prismatic", "a", "b", axis=(0, 0, 1)),
        Joint("turn", "revolute", "b", "block", axis=(0, 1, 0)),
    )
    return Mechanism(
        "block",
        (Body("a", 0, ORIGIN, ORIGIN), Body("b", 0, ORIGIN, ORIGIN), body),
        joints,
        contacts=(Contact(("block", GROUND), 2.0, 0.0),),
    )


@cache
def rocking(heading: float) -> Result:
    return simulate(can(2.0), tilted(0.1, heading), None, 1.0, output=0.02)


@pytest.mark.parametrize("heading", [0.0, 0.7])
def test_it_rocks_as_a_block_of_its_width_and_comes_to_rest(heading: float) -> None:
    """Free, and in any direction, against a box on joints of a plane; every landing leaves 1 - 2 m
    R^2/I of the speed [Housner1963].
    """
    rocks = rocking(heading)
    block = simulate(
        planar(Shape("box", (2 * R, 0.1, H), collides=True)),
        [0, tilted(0.1)[2], 0.1],
        None,
        1.0,
        output=0.02,
    )
    approach = rocks.approach.values
    times = rocks.impact_time.values
    # two corners of the box at once
    met = block.impact_time.values[::2], block.approach.values[::2]
    assert (
        len(approach) > 15
        and times[:12] == pytest.approx(met[0][:12], abs=1e-9)
        and approach[:12] == pytest.approx(met[1][:12], abs=1e-9)
    )
    about = inertia(MASS, R, H)[0] + MASS * (R**2 + H**2 / 4)
    assert approach[1:6] / approach[:5] == pytest.approx(1 - 2 * MASS * R**2 / about, rel=1e-8)
    along = rocks.q.values[:, :2] @ [np.cos(heading), np.sin(heading)]
    assert along == pytest.approx(block.q.values[:, 0], abs=1e-9) and rocks.q.values[
        :, 2
    ] == pytest.approx(block.q.values[:, 1], abs=1e-9)
    assert (
        rocks.ledger.contact.accumulations
        and rocks.ledger.relative_energy_balance < 1e-9
        and not rocks.v.values[-1].any()
    )
    assert list(rocks.contacts["mode"].values[-1]) == ["open", *["stick"] * 3]


def test_it_falls_flat_and_rebounds() -> None:
    """With e of its speed each time; spinning, it does not tilt."""
    e, height = 0.5, 0.1
    falls = run(
        1.0,
        [0, 0, H / 2 + height, 1, 0, 0, 0],
        [0, 0, 0, 0, 0, 1.0],
        friction=0.0,
        restitution=e,
        output=0.05,
    )
    times = np.unique(falls.impact_time.values)
    speed = np.sqrt(2 * G * height)
    assert falls.approach.values[:12] == pytest.approx(
        np.repeat(speed * e ** np.arange(4), 3), rel=1e-9
    )
    assert times[1:4] - times[:3] == pytest.approx(2 * speed / G * e ** np.arange(1, 4), rel=1e-8)
    assert falls.q.values[-1, 2] == pytest.approx(H / 2, abs=1e-14) and falls.v.values[
        -1
    ] == pytest.approx([0, 0, 0, 0, 0, 1.0], abs=1e-13)


@pytest.mark.parametrize("size", [1e-6, 1e6])
def test_it_rocks_the_same_in_any_unit_of_length(size: float) -> None:
    """Lengths by `size` and gravity with them: the same angles at the same times, and the same mass
    of another unit.
    """
    r, h = size * R, size * H
    body = Body(
        "can",
        1e3 * MASS,
        ORIGIN,
        inertia(1e3 * MASS, r, h),
        shapes=(Shape("cylinder", (r, h), collides=True),),
    )
    m = Mechanism(
        "can",
        (body,),
        (Joint("free", "free", GROUND, "can"),),
        gravity=(0, 0, -G * size),
        contacts=(Contact(("can", GROUND), 2.0, 0.0),),
    )
    q = tilted(0.1, 0.7)
    rocks = simulate(m, [*(size * np.array(q[:3])), *q[3:]], None, 1.0, output=0.02)
    same = rocking(0.7)
    assert rocks.impact_time.values[:10] == pytest.approx(same.impact_time.values[:10], rel=1e-8)
    assert rocks.approach.values[:10] / size == pytest.approx(same.approach.values[:10], rel=1e-8)
    assert (
        rocks.q.values[-1, :3] / size == pytest.approx(same.q.values[-1, :3], abs=1e-9)
        and not rocks.v.values[-1].any()
    )


def test_a_turned_world_is_the_same_world() -> None:
    """A floor and gravity that are turned round: it slides and spins, and it rocks until it
    stands.
    """
    Q = np.array(FLOOR.rotation, float)
    m = can()
    floor = Mechanism(
        "can",
        m.bodies,
        m.joints,
        (Frame("floor", GROUND, FLOOR),),
        gravity=tuple(Q @ [0, 0, -G]),
        contacts=(Contact(("can", "floor"), 0.3, 0.0),),
    )
    v = np.array([0.3, 0.2, 0.0, 0.0, 0.0, 3.0])
    x, y, z, w = Rotation.from_matrix(Q).as_quat()
    here = run(0.5, v=v, friction=0.3, output=0.05)
    there = simulate(
        floor, [*(Q @ STANDS[:3]), w, x, y, z], [*(Q @ v[:3]), *v[3:]], 0.5, output=0.05
    )
    assert (
        there.q.values[:, :3] == pytest.approx(here.q.values[:, :3] @ Q.T, abs=1e-9)
        and "carries its load" in here.ledger.contact.remark
    )
    q = tilted(0.1, 0.4)
    start = Rotation.from_matrix(Q) * Rotation.from_quat([*q[4:], q[3]])
    x, y, z, w = start.as_quat()
    here = run(1.0, q, friction=2.0, output=0.1)
    there = simulate(
        floor.with_(contacts=(Contact(("can", "floor"), 2.0, 0.0),)),
        [*(Q @ q[:3]), w, x, y, z],
        None,
        1.0,
        output=0.1,
    )
    assert there.q.values[:, :3] == pytest.approx(here.q.values[:, :3] @ Q.T, abs=1e-9) and len(
        there.approach
    ) == pytest.approx(len(here.approach), abs=1)


def test_a_run_continues_from_a_checkpoint_on_the_same_points() -> None:
    """Bit for bit: directions of points are in the modes."""
    plan = planned(can(2.0), tilted(0.1, 0.7), None, 0.28, {})
    goes_on_bit_for_bit(plan, 3)


# --- three points for a rim
def rim(angle: float | np.ndarray, offset: np.ndarray) -> np.ndarray:
    """J (3 k, 6) of points at these angles, about a centre of mass that is off the axis."""
    found = []
    for x in np.atleast_1d(angle):
        p = np.array([R * np.cos(x), R * np.sin(x), -H / 2]) - offset
        cross = np.array([[0, p[2], -p[1]], [-p[2], 0, p[0]], [p[1], -p[0], 0]])
        found.append(np.hstack([np.eye(3), cross])[[2, 0, 1]])
    return np.vstack(found)


def test_the_impact_of_three_points_is_that_of_the_whole_rim() -> None:
    """Without friction, against least squares over 3600 points: the smallest kinetic energy of all
    that nowhere goes down.
    """
    rng = np.random.default_rng(3)
    ring = np.linspace(0, 2 * np.pi, 3600, endpoint=False)
    kinds = set()
    for _ in range(40):
        offset = rng.uniform(-1.2 * R, 1.2 * R, 3)
        A = rng.normal(size=(3, 3))
        M = np.zeros((6, 6))
        M[:3, :3], M[3:, 3:] = MASS * np.eye(3), MASS * R * R * (A @ A.T + 0.2 * np.eye(3))
        W = np.linalg.inv(M)
        v = rng.normal(size=6) * [0, 0, 1, 3, 3, 1]
        J = rim(POINT_ANGLES, offset)
        problem = RimImpact(W, J, J @ v, np.zeros(3), np.zeros(3), "newton", "simultaneous")
        if lowest((J @ v)[::3])[0] > 0.0:
            continue
        found = turn([[0, 1, 2]], problem)
        S = turned(3, [[0, 1, 2]], found.angles)
        np.testing.assert_allclose(S @ J, rim(POINT_ANGLES + found.angles[0], offset), atol=1e-14)
        one = problem.solve(S, found.alone)
        push = W @ (S @ J)[::3].T @ one.pushes
        N = rim(ring, offset)[::3]
        L = np.linalg.cholesky(W)
        P, _ = nnls((N @ L).T, -np.linalg.solve(L, v))
        energy = [float(x @ M @ x) / float(v @ M @ v) for x in (v + push, v + W @ N.T @ P)]
        assert -1e-5 < energy[0] - energy[1] < 1e-12 and (N @ (v + push)).min() > -1e-9
        kinds.add(len(found.alone))
    assert kinds == {0, 2}


def test_what_does_not_go_through_a_flat_end_says_so() -> None:
    with pytest.raises(
        StudyError,
        match=(
            "'can rim 2-ground': the end of a cylinder stands flat, on three points that are chosen"
            " on the way, which are not differentiated"
        ),
    ):
        sensitivities(can(), with_respect_to=["beta"], q=STANDS, until=0.01)
