"""The examples with contacts: a number of each, by its closed form."""

from __future__ import annotations

import numpy as np
import pytest

import catena
from catena import control
from catena.errors import StateError
from catena.simulation.scenario import read

G = 9.81


def test_impedance_presses_with_stiffness_times_depth() -> None:
    arm = catena.load("arm_at_wall")
    start = {"shoulder": np.radians(70), "elbow": np.radians(-100)}
    run = catena.simulate(
        arm,
        start,
        until=3.0,
        output=1.0,
        control=control.Impedance("tip", (0.85, 0, 0.3), 400.0, 60.0),
    )
    assert run.contacts.normal_force.values[-1, 0] == pytest.approx(400 * 0.05, rel=1e-6)
    run = catena.simulate(
        arm,
        start,
        until=6.0,
        output=1.0,
        control=control.Hybrid("tip", (-1, 0, 0), 25.0, (0, 0, 0.3), 400.0, 60.0, 30.0),
    )
    assert run.contacts.normal_force.values[-1, 0] == pytest.approx(25.0, rel=1e-6)
    assert run.machine.pose(run.q.values[-1], "tip")[:3, 3] == pytest.approx(
        [0.8, 0.0, 0.3], abs=1e-6
    )


def test_gains_of_force_control_are_checked() -> None:
    with pytest.raises(
        StateError, match="Impedance: stiffness is -1.0; it is a number, or three, zero or more"
    ):
        control.Impedance("tip", (0, 0, 0), -1.0, 1.0)
    with pytest.raises(StateError, match=r"Hybrid: normal is \(0, 0, 0\); it is a direction"):
        control.Hybrid("tip", (0, 0, 0), 1.0, (0, 0, 0), 1.0, 1.0, 1.0)


def test_billiard_balls_roll_at_two_and_five_sevenths() -> None:
    m, R = catena.load("billiard"), 0.0285
    run = catena.simulate(
        m,
        [0, 0, R, 1, 0, 0, 0, 0.5, 0, R, 1, 0, 0, 0],
        [1, 0, 0, 0, 1 / R, 0] + [0] * 6,
        2.0,
        output=1.0,
    )
    assert run.v.values[-1, [0, 6]] == pytest.approx([2 / 7, 5 / 7], rel=1e-7)
    assert [str(x) for x in run.contacts["mode"].values[-1]] == ["stick", "stick", "open"]


def test_a_rimless_wheel_comes_to_its_limit_cycle() -> None:
    m = catena.load("rimless_wheel")
    a = np.pi / 8
    slope = 0.1
    inertia = 0.02
    run = catena.simulate(
        m,
        [0, np.cos(a), 0],
        [-1.3 * np.cos(a), 1.3 * np.sin(a), 1.3],
        3.0,
        output=0.5,
        tolerance=1e-10,
    )
    c = (inertia + np.cos(2 * a)) / (inertia + 1)
    D = 4 * G * np.sin(a) * np.sin(slope) / (inertia + 1)
    # the next spoke comes down about the foot of the last: 2 sin(a) away
    landing = (run.approach.values / (2 * np.sin(a))) ** 2
    away = landing - D / (1 - c**2)
    assert len(away) > 3 and away[1:] == pytest.approx(c**2 * away[:-1], rel=1e-7)


def test_a_compass_walker_repeats_its_step() -> None:
    """A step and its landing, against an own program with Lagrange's equations of the walker on its
    rolling foot.
    """
    from gallery.compass_walker import GAIT, step

    duration, after = step(GAIT)
    case = read("compass_walker", tolerance=1e-11, until=0.75, output=0.75)
    run = catena.simulate(case.mechanism, **case.arguments)
    assert after == pytest.approx(GAIT, abs=1e-12) and run.data[
        "impact_time"
    ].values == pytest.approx([duration], rel=1e-11)
    assert (
        run.approach.values == pytest.approx([0.898109], rel=1e-5)
        and run.contacts["mode"].values[0, 0] == run.contacts["mode"].values[-1, 2] == "stick"
    )


def test_a_follower_leaves_its_cam() -> None:
    run = catena.simulate(
        catena.load("cam_follower"), v={"shaft": 60.0, "lift": 0.6}, until=0.02, output=1e-3
    )
    lifts = next(
        t for t, what in zip(run.data["event_time"].values, run.event.values) if "opens" in what
    )
    assert np.sin(60 * lifts) == pytest.approx(
        (0.2 * G + 2) / (0.2 * 0.01 * 60**2 - 200 * 0.01), rel=1e-6
    )


def test_a_gripper_carries_half_the_weight_at_each_finger() -> None:
    run = catena.simulate(catena.load("gripper"), until=0.2, output=0.1)
    assert run.contacts.friction_force.values[-1, :, 2] == pytest.approx(
        [0.25 * G, 0.25 * G]
    ) and run.contacts.normal_force.values[-1] == pytest.approx([10, 10])
    # fingers and ball may move sideways together, by rounding
    assert np.abs(run.q.values).max() < 1e-15
    # rounding is judged beside the weight
    assert (
        run.ledger.met is not False
        and max(run.ledger.imbalance, run.ledger.contact.complementarity) < 1e-6
    )


def test_a_pin_rolls_in_its_larger_hole() -> None:
    """The rod turns by theta, the pin rolls by r/c theta up the hole: w^2 = g (l + r^2/c) / (I + (l
    - r)^2), for small swings.
    """
    r, c, l, small = 0.01, 0.002, 0.5, 1e-3
    quarter = np.pi / 2 * np.sqrt((1 / 12 + (l - r) ** 2) / (G * (l + r**2 / c)))
    run = catena.simulate(
        catena.load("loose_pin"),
        [-c * np.sin(small * r / c), -c * np.cos(small * r / c), small],
        until=2 * quarter,
        output=quarter,
        tolerance=1e-10,
    )
    assert abs(run.q.values[1, 2]) < 1e-5 * small and run.q.values[2, 2] == pytest.approx(
        -small, rel=1e-6
    )
    assert run.contacts["mode"].values[-1, 0] == "stick" and run.q.values[2, 0] == pytest.approx(
        r * small, rel=1e-5
    )


def test_a_block_tips_where_its_middle_passes_the_edge_of_a_table() -> None:
    s = read("block_off_table")
    run = catena.simulate(s.mechanism, **s.arguments)
    opens = next(
        t for t, what in zip(run.event_time.values, run.event.values) if what.endswith("opens")
    )
    assert opens == pytest.approx(0.3 / 1.5, rel=1e-9) and run.q.values[-1, 0] == pytest.approx(
        run.q.values[0, 0] + run.v.values[-1, 0] * 0.45, abs=0.05
    )
    assert (
        run.ledger.contact.impacts == 0
        and run.ledger.imbalance < 1e-10
        and run.contacts["mode"].values[-1, 0] == "open"
    )


def test_a_geneva_drive_steps_a_quarter_turn() -> None:
    """While the pin presses tan(wheel) = sin(crank) / (sqrt(2) - cos(crank)), and N L = I wheel'' +
    load; then the wheel is locked and the pin leaves.
    """
    s = read("geneva_drive")
    run = catena.simulate(s.mechanism, **{**s.arguments, "until": 0.5, "output": 0.01})
    (crank, wheel), w = run.q.values.T, 2 * np.pi
    on, r = run.time < 0.2499, np.sqrt(2)
    far = 1 + r**2 - 2 * r * np.cos(crank)  # squared, of pin and wheel, over the crank's
    assert np.abs(wheel - np.arctan2(np.sin(crank), r - np.cos(crank)))[on].max() < 1e-10
    assert np.abs(wheel - np.pi / 4)[~on].max() < 1e-10
    force = (2e-4 * w**2 * r * np.sin(crank) * (1 - r**2) / far**2 + 0.3) / (0.05 * np.sqrt(far))
    assert np.abs(run.contacts.normal_force.values[:, 0] - force)[on].max() < 1e-8 * force.max()
    assert [str(x) for x in run.contacts["mode"].values[[1, -1], 0]] == ["slip", "open"]
    # a driven speed does not stop where another joint is locked
    assert run.v.values[-1] == pytest.approx([w, 0.0], abs=1e-12)
