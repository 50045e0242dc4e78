"""Events: impacts, dry friction, blows and locks, each with a known answer; the energy balance
holds across them.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import closed
import zoo
from catena.analysis.assembly import assemble
from catena.analysis.impulse import impulse
from catena.errors import (
    CatenaError,
    MechanismWarning,
    SimulationError,
    StateError,
    UnknownNameError,
)
from catena.formats import load
from catena.machine.machine import Machine
from catena.model.loads import JointForce
from catena.model.mechanism import GROUND, Body, Frame, Joint, Mechanism
from catena.model.pose import Pose
from catena.results.result import load_result
from catena.simulation import simulate
from catena.simulation.events import Impulse, Lock, Release, Stop, When

G = 9.81


def sledge(axis=(1, 0, 0), force: str | None = None, **joint: object) -> Mechanism:
    """A body of 2 kg on a rail.   |--[ 2 kg ]--> x"""
    body = Body("sledge", 2.0, (0, 0, 0), (0.1, 0.1, 0.1))
    loads = (JointForce("push", "x", force),) if force else ()
    return Mechanism(
        "sledge",
        (body,),
        (Joint("x", "prismatic", GROUND, "sledge", axis=axis, **joint),),
        loads=loads,
    )


def happened(run) -> list[tuple[float, str]]:
    return list(zip(run.data["event_time"].values.tolist(), run.event.values.tolist()))


def times(run, words: str) -> np.ndarray:
    return np.array([t for t, what in happened(run) if words in what])


# --- stops
@pytest.mark.parametrize("integrator", ["dop853", "dopri5", "radau"])
def test_a_bouncing_body_meets_the_ground_at_the_known_times(integrator: str) -> None:
    """Dropped from 1 m with e = 0.7: flights of 2 v e^n / g, at rest after t1 (1 + e) / (1 - e)."""
    e, fall = 0.7, math.sqrt(2 / G)
    run = simulate(
        sledge(axis=(0, 0, 1), lower=0.0),
        [1.0],
        until=3.0,
        limits="stop",
        restitution=e,
        integrator=integrator,
    )
    flights = [fall, *(2 * fall * e**n for n in range(1, 12))]
    assert times(run, "meets its lower stop")[:12] == pytest.approx(np.cumsum(flights), abs=1e-8)
    assert times(run, "rests on its lower stop") == pytest.approx(
        [fall * (1 + e) / (1 - e)], rel=1e-9
    )
    assert run.q.values[-1, 0] == 0.0 and run.v.values[-1, 0] == 0.0
    assert run.held_force.values[-1, 0] == pytest.approx(2.0 * G)  # the ground carries it
    assert run.ledger.relative_energy_balance < 1e-8  # what impacts took is booked
    assert run.work.values[-1] == pytest.approx(-2.0 * G * 1.0, abs=1e-8)


@pytest.mark.parametrize(
    "by", ["recursive", "lagrange", "hamilton", "kane", "boltzmann_hamel", "newton_euler"]
)
def test_a_pendulum_against_a_wall_loses_its_speed_by_restitution(by: str) -> None:
    """Let go from the side, it strikes a wall at its lowest place: the n-th impact is e^(n - 1)
    times as fast as the first.
    """
    e, m = 0.8, zoo.pendulum(1)
    start = 1.0
    run = simulate(m, [start], until=5.0, by=by, events=[Stop("pin1", restitution=e, lower=0.0)])
    speeds = np.array(
        [float(what.split(" with ")[1].split()[0]) for _, what in happened(run) if "meets" in what]
    )
    machine = Machine(m)
    fall = machine.energy([start], [0.0])[1] - machine.energy([0.0], [0.0])[1]
    first = math.sqrt(2 * fall / machine.mass_matrix([0.0])[0, 0])
    assert len(speeds) >= 6
    assert speeds == pytest.approx(first * e ** np.arange(len(speeds)), rel=1e-5)
    assert run.q.values.min() > -1e-9 and run.ledger.relative_energy_balance < 1e-8


def test_bounces_without_loss_keep_the_energy() -> None:
    run = simulate(
        sledge(lower=-0.5, upper=0.5), v=[3.0], until=10.0, limits="stop", restitution=1.0
    )
    assert times(run, "stop") == pytest.approx((0.5 + np.arange(30)) / 3.0, abs=1e-9)
    assert np.abs(np.abs(run.v.values) - 3.0).max() < 1e-12
    assert abs(run.work.values[-1]) < 1e-11


def test_a_joint_leaves_its_stop_when_the_force_turns_round() -> None:
    """Pushed against the stop by -3 cos t, it rests until pi / 2 and then moves by (3 / m) (cos t +
    t - pi / 2).
    """
    run = simulate(sledge(force="-3 * cos(t)", lower=0.0), until=3.0, limits="stop")
    assert times(run, "leaves its lower stop") == pytest.approx([math.pi / 2], abs=1e-7)
    t = run.time[run.time > math.pi / 2]
    assert run.q.values[run.time > math.pi / 2, 0] == pytest.approx(
        1.5 * (np.cos(t) + t - math.pi / 2), abs=1e-8
    )
    still = run.time < math.pi / 2
    assert run.held_force.values[still, 0] == pytest.approx(3 * np.cos(run.time[still]), abs=1e-9)


def test_a_stop_in_a_loop_leaves_the_loop_closed() -> None:
    machine = Machine(closed.windows(1))
    q, v = assemble(machine, v=[-1.0, 1.0, -1.0])
    run = simulate(
        machine, q, v, until=3.0, events=[Stop("A1", restitution=0.6, lower=-1.0, upper=1.0)]
    )
    assert len(times(run, "A1 meets")) >= 2
    assert np.abs(run.q.values[:, 2]).max() < 1.0 + 1e-9
    assert run.ledger.closure < 1e-12 and run.ledger.relative_energy_balance < 1e-8


def test_limits_of_a_joint_that_closes_a_loop_are_told_not_to_be_felt() -> None:
    m = closed.windows(1)
    limited = m.with_(
        loops=tuple(
            Joint(j.name, j.kind, j.parent, j.child, j.placement, offset=j.offset, upper=1.0)
            for j in m.loops
        )
    )
    with pytest.warns(
        MechanismWarning,
        match=(
            "limits of 'C0' are not felt: a joint that closes a loop stops as one slide, or as one"
            " turn"
        ),
    ):
        simulate(limited, until=0.01, limits="stop")


def test_two_stops_share_an_impact() -> None:
    """Two pendulum rods fall onto stops of both joints; nothing passes, energy only leaves."""
    m = zoo.pendulum(2)
    run = simulate(
        m,
        [1.2, -0.5],
        until=6.0,
        events=[Stop("pin1", 0.4, lower=-0.2), Stop("pin2", 0.4, lower=-0.6, upper=0.6)],
    )
    assert run.q.values[:, 0].min() > -0.2 - 1e-9 and np.abs(run.q.values[:, 1]).max() < 0.6 + 1e-9
    assert (np.diff(run.work.values) < 1e-9).all()
    assert run.ledger.relative_energy_balance < 1e-7


# --- friction
def test_a_sliding_block_comes_to_rest_at_the_known_time() -> None:
    """v0 = 4 m/s against 3 N on 2 kg: at rest after v0 m / F, v0^2 m / (2 F) farther; and it stays
    there.
    """
    run = simulate(sledge(friction=3.0), v=[4.0], until=5.0, friction="stick")
    assert happened(run) == [(pytest.approx(8 / 3, abs=1e-10), "x sticks")]
    assert run.q.values[-1, 0] == pytest.approx(16 / 3, abs=1e-10) and run.v.values[-1, 0] == 0.0
    assert run.work.values[-1] == pytest.approx(-16.0) and run.ledger.energy_balance < 1e-9


def test_smooth_friction_approaches_it() -> None:
    run = simulate(sledge(friction=3.0), v=[4.0], until=5.0)
    assert run.q.values[-1, 0] == pytest.approx(16 / 3, abs=1e-5)


def test_a_block_lets_go_when_the_push_passes_its_friction() -> None:
    """Pushed by 2 t against 3 N it starts at 1.5 s; then m v = (t - 1.5)^2."""
    run = simulate(sledge(friction=3.0, force="2 * t"), until=4.0, friction="stick")
    assert happened(run) == [(0.0, "x sticks"), (pytest.approx(1.5, abs=1e-8), "x slips")]
    t = run.time[run.time > 1.5]
    assert run.v.values[run.time > 1.5, 0] == pytest.approx((t - 1.5) ** 2 / 2.0, abs=1e-8)
    assert np.abs(run.q.values[run.time < 1.5]).max() < 1e-15
    assert run.held_force.values[run.time < 1.5, 0] == pytest.approx(
        -2 * run.time[run.time < 1.5], abs=1e-12
    )


def test_stick_and_slip_take_turns_under_a_swinging_push() -> None:
    """Pushed by 5 sin t against 3 N, each half period it slips from asin(3 / 5) on, stops and waits
    for the other side.
    """
    run = simulate(sledge(friction=3.0, force="5 * sin(t)"), until=30.0, friction="stick")
    slips = times(run, "slips")
    assert (
        slips == pytest.approx(math.asin(0.6) + math.pi * np.arange(len(slips)), abs=1e-7)
        and len(slips) == 10
    )
    sticks = times(run, "sticks")[1:]
    moved = 5 * (np.cos(slips[0]) - np.cos(sticks[0])) - 3 * (sticks[0] - slips[0])
    assert abs(moved) < 1e-7  # momentum gained and lost
    assert run.ledger.relative_energy_balance < 1e-8


def test_friction_in_a_chain_holds_some_joints_and_not_others() -> None:
    LIMIT = (2.0, 5.0, 1.0)
    m = zoo.pendulum(3)
    joints = tuple(
        Joint(j.name, j.kind, j.parent, j.child, j.placement, axis=j.axis, friction=f)
        for j, f in zip(m.joints, LIMIT)
    )
    run = simulate(m.with_(joints=joints), [1.0, 0.4, -0.3], until=40.0, friction="stick")
    other = simulate(m.with_(joints=joints), [1.0, 0.4, -0.3], until=40.0)
    assert len(times(run, "pin2 sticks")) >= 1 and len(times(run, "slips")) > 2
    assert run.ledger.relative_energy_balance < 1e-7
    assert np.abs(run.q.values - other.q.values).max() < 0.02  # smoothed friction creeps a little
    assert np.abs(run.v.values[-1]).max() < 1e-11  # in the end everything sticks
    held = run.mode.sel(mode_name=[f"pin{k} held" for k in (1, 2, 3)]).values > 0.5
    assert (np.abs(run.held_force.values) <= np.array(LIMIT) + 1e-8)[held].all()


def test_reactions_have_the_friction_that_acted() -> None:
    """A plate of 3 kg on two cranks of 0.5 m, the left one held by up to 15 N m of dry friction and
    pulled down by 2 t N m.

             b === plate === c        at rest: friction carries m g l cos(theta) + 2 t, and the
                                      right crank, without a torque,
            /               /         half the weight along itself: f = m g / (2 sin(theta))
                                      (cos(theta), sin(theta))
    ground a  d  slipping: the plate, which only shifts, still shares its upward force between b and
        c
    """
    m, l, d, I, dry, theta = 3.0, 0.5, 0.8, 0.02, 15.0, 0.7
    crank = {"mass": 1.0, "com": (0, 0, 0), "inertia": (I, I, I)}
    z = {"axis": (0, 0, 1)}
    bars = Mechanism(
        "parallelogram",
        (
            Body("left", **crank),
            Body("plate", m, (d / 2, 0, 0), (0.1, 0.1, 0.1)),
            Body("right", **crank),
        ),
        (
            Joint("a", "revolute", GROUND, "left", friction=dry, **z),
            Joint("b", "revolute", "left", "plate", Pose(position=(l, 0, 0)), **z),
            Joint("d", "revolute", GROUND, "right", Pose(position=(d, 0, 0)), **z),
        ),
        loops=(
            Joint(
                "c",
                "revolute",
                "right",
                "plate",
                Pose(position=(l, 0, 0)),
                offset=Pose(position=(d, 0, 0)),
                **z,
            ),
        ),
        gravity=(0, -G, 0),
        loads=(JointForce("pull", "a", "-2 * t"),),
    )
    run = simulate(bars, [theta, -theta, theta], until=2.2, friction="stick")
    slips = (dry - m * G * l * math.cos(theta)) / 2
    assert happened(run) == [(0.0, "a sticks"), (pytest.approx(slips, abs=1e-8), "a slips")]
    force = run.reactions("world").sel(joint="c").values[:, 3:5]
    rest = run.time < slips
    assert force[rest] == pytest.approx(
        np.tile(m * G / 2 * np.array([1 / math.tan(theta), 1.0]), (rest.sum(), 1)), abs=1e-9
    )
    angle = run.q.values[~rest, 0]
    speed = run.v.values[~rest, 0]
    t = run.time[~rest]
    turning = (dry - 2 * t - m * G * l * np.cos(angle)) / (m * l**2 + 2 * I)
    up = m * (l * (turning * np.cos(angle) - speed**2 * np.sin(angle)) + G) / 2
    aside = (I * turning / l + np.cos(angle) * up) / np.sin(angle)
    assert run.a.values[~rest, 0] == pytest.approx(turning, abs=1e-7)
    assert force[~rest] == pytest.approx(np.column_stack([aside, up]), abs=1e-6)
    rows = run.machine.constraint_rows(run.q.values, run.v.values)[3]
    acts = (run.tau + run.losses).values
    left = run.machine.inverse_dynamics(run.q.values, run.v.values, run.a.values, t=run.time) - acts
    assert np.einsum("trv,tr->tv", rows, run.multipliers().values) == pytest.approx(left, abs=1e-8)


# --- blows
def test_a_scheduled_impulse_adds_its_momentum() -> None:
    machine = Machine(zoo.random_tree(6, ["free", "revolute", "revolute"], gravity=(0, 0, 0)))
    linear = np.array([1.0, -2.0, 0.5])
    angular = np.array([0.3, 0.1, -0.2])
    run = simulate(
        machine,
        v=0.1 * np.arange(machine.nv),
        until=1.0,
        events=[Impulse("body2", linear, angular, at=0.4)],
    )
    momentum = run.momentum()
    before = run.time <= 0.4
    after = run.time > 0.4
    p = momentum["linear"].values
    L = momentum["angular"].values
    assert np.ptp(p[before], axis=0).max() < 1e-9 and np.ptp(p[after], axis=0).max() < 1e-9
    assert p[-1] - p[0] == pytest.approx(linear, abs=1e-9)
    k = int(np.searchsorted(run.time, 0.4))
    arm = machine.pose(run.q.values[k], "body2")[:3, 3] - momentum["com"].values[k]
    assert L[-1] - L[0] == pytest.approx(angular + np.cross(arm, linear), abs=1e-8)
    assert run.ledger.relative_energy_balance < 1e-8


def test_an_impulse_is_the_question_of_the_same_name() -> None:
    machine = Machine(closed.damped_four_link())
    run = simulate(
        machine,
        until=0.5,
        output=[0.25, 0.25 + 1e-9, 0.5],
        events=[Impulse("link2", (1.0, 0, 2.0), at=0.25)],
    )
    dv = run.v.values[2] - run.v.values[1]
    assert dv == pytest.approx(
        impulse(machine, run.q.values[1], run.v.values[1], at="link2", linear=(1.0, 0, 2.0)).dv,
        abs=1e-6,
    )
    assert run.ledger.closure < 1e-13


def test_an_impulse_starts_a_block_that_sticks() -> None:
    run = simulate(
        sledge(friction=3.0),
        until=4.0,
        friction="stick",
        events=[Impulse(joint={"x": 6.0}, at=(0.5, 3.5), name="kick")],
    )
    assert [what for _, what in happened(run)] == [
        "x sticks",
        "kick",
        "x slips",
        "x sticks",
        "kick",
        "x slips",
    ]
    assert times(run, "sticks")[1] == pytest.approx(0.5 + 2.0, abs=1e-9)
    assert run.ledger.energy_balance < 1e-9


# --- locks
def discs() -> Mechanism:
    """Two discs on one shaft, 3 and 1 kg m2; the second turns on the first."""
    return Mechanism(
        "discs",
        (Body("first", 1.0, (0, 0, 0), (2, 2, 3)), Body("second", 1.0, (0, 0, 0), (1, 1, 1))),
        (
            Joint("shaft", "revolute", GROUND, "first"),
            Joint("clutch", "revolute", "first", "second"),
        ),
        gravity=(0, 0, 0),
    )


def test_a_clutch_that_locks_shares_the_angular_momentum() -> None:
    """4 rad/s of the second disc alone become 1 rad/s of both; three quarters of the energy go."""
    run = simulate(
        discs(),
        v=[0.0, 4.0],
        until=2.0,
        events=[Lock("clutch", at=1.0), Release(lock="clutch", at=1.5)],
    )
    assert run.v.values[-1] == pytest.approx([1.0, 0.0], abs=1e-12)
    assert (
        run.kinetic.values[[0, -1]] == pytest.approx([8.0, 2.0])
        and run.ledger.energy_balance < 1e-11
    )
    assert happened(run) == [(1.0, "clutch is locked"), (1.5, "clutch is released")]


def test_a_locked_joint_carries_what_it_must_and_lets_go() -> None:
    m = zoo.pendulum(2)
    run = simulate(
        m, [1.0, 0.5], until=3.0, events=[Lock("pin2", at=0.5), Release(lock="pin2", at=1.5)]
    )
    during = (run.time > 0.5) & (run.time <= 1.5)
    assert np.ptp(run.q.values[during, 1]) < 1e-13 and np.ptp(run.q.values[run.time > 1.5, 1]) > 0.5
    stiff = m.with_(
        joints=(
            m.joints[0],
            Joint(
                "pin2",
                "fixed",
                "rod1",
                "rod2",
                m.joints[1].placement @ _turned(run.q.values[during][0, 1]),
            ),
        )
    )
    k = np.flatnonzero(during)
    alone = simulate(
        stiff,
        run.q.values[k[0], :1],
        run.v.values[k[0], :1],
        run.time[k[-1]],
        start=run.time[k[0]],
        output=run.time[k[1:]],
    )
    assert alone.q.values[:, 0] == pytest.approx(run.q.values[k, 0], abs=1e-8)
    assert run.ledger.relative_energy_balance < 1e-8


def _turned(angle: float):
    from catena.model.pose import Pose

    return Pose.turn("y", angle)


def test_a_chain_whose_tip_is_caught_is_the_closed_chain() -> None:
    """Seed 004: the open chain, with its tip pinned to the ground at the start, moves as the closed
    one.
    """
    known = np.load(closed.MOTIONS / "merwe1995_fourlink_closed.npz")
    m = closed.damped_four_link().with_(loops=())
    run = simulate(
        m,
        until=10.0,
        output=known["t"][1:],
        events=[Lock(frame="end", kind="revolute", axis=(0, 1, 0), at=0.0)],
    )
    assert np.abs(run.q.values - known["q"]).max() < 1e-7
    assert run.ledger.relative_energy_balance < 1e-8


def test_a_frame_is_caught_where_it_is_and_freed_again() -> None:
    machine = Machine(zoo.pendulum(3))
    catch = Lock(frame="rod3", kind="ball", when="0.3 - t", name="catch")
    run = simulate(
        machine, [1.0, 0.3, 0.2], until=2.0, events=[catch, Release(lock="catch", at=1.0)]
    )
    place = machine.pose(run.q.values, "rod3")[:, :3, 3]
    held = (run.time > 0.3) & (run.time <= 1.0)
    assert (
        np.ptp(place[held], axis=0).max() < 1e-10
        and np.ptp(place[run.time > 1.0], axis=0).max() > 0.1
    )
    assert np.ptp(run.q.values[held], axis=0).max() > 1e-2  # the rest swings on
    assert run.ledger.relative_energy_balance < 1e-8


def test_one_body_catches_another() -> None:
    """Two sledges on one rail; the first is caught by the second when they meet, and both go on
    with their common momentum.
    """
    m = Mechanism(
        "rail",
        (Body("a", 1.0, (0, 0, 0), (1, 1, 1)), Body("b", 3.0, (0, 0, 0), (1, 1, 1))),
        (
            Joint("x", "prismatic", GROUND, "a", axis=(1, 0, 0)),
            Joint("y", "prismatic", GROUND, "b", axis=(1, 0, 0)),
        ),
        (Frame("hook", "a"),),
    )
    run = simulate(
        m, [0.0, 1.0], [2.0, 0.0], 2.0, events=[Lock(frame="hook", to="b", when="q_y - q_x")]
    )
    assert happened(run) == [(pytest.approx(0.5, abs=1e-9), "hook is locked to b")]
    assert run.v.values[-1] == pytest.approx([0.5, 0.5], abs=1e-10)
    assert run.q.values[-1] == pytest.approx([1.75, 1.75], abs=1e-9)


# --- instants
def test_when_records_and_ends() -> None:
    m = zoo.pendulum(1)
    down = When(when="q_pin1", name="lowest")
    period = simulate(m, [1.0], until=6.0, events=[down])
    falls = times(period, "lowest")
    assert np.ptp(np.diff(falls)) < 1e-8
    ended = simulate(m, [1.0], until=6.0, events=[When(when="q_pin1", end=True, name="lowest")])
    assert (
        ended.time[-1] == pytest.approx(falls[0])
        and ended.complete
        and "ended by 'lowest'" in ended.ledger.outcome
    )
    assert abs(ended.q.values[-1, 0]) < 1e-12


def test_a_guard_can_be_a_function_of_the_tracer() -> None:
    """The tip of a pendulum of 0.9 m falls through half a metre below its pin where cos q = 5 /
    9.
    """
    m = zoo.pendulum(1).with_(frames=(Frame("tip", "rod1", closed.at(0, 0, -0.9)),))
    fall = When(when=lambda s: s.pose("tip")[2, 3] + 0.5, end=True)
    run = simulate(m, [2.0], until=2.0, events=[fall])
    assert math.cos(run.q.values[-1, 0]) == pytest.approx(5 / 9, abs=1e-10)


def test_short_dips_within_a_step_are_not_missed() -> None:
    """The guard is below zero for a twentieth of a second, in a run whose steps are longer than
    that.
    """
    m = sledge()
    run = simulate(m, v=[1.0], until=10.0, events=[When(when="(q_x - 5)^2 - 0.1", name="near")])
    assert run.ledger.steps < 40
    assert times(run, "near") == pytest.approx([5 - math.sqrt(0.1)], abs=1e-8)


def test_each_run_of_a_batch_has_its_own_events(tmp_path) -> None:
    heights = np.array([[0.5], [1.0], [2.0]])
    run = simulate(
        sledge(axis=(0, 0, 1), lower=0.0),
        heights,
        until=0.8,
        limits="stop",
        restitution=0.5,
        threads=2,
    )
    for k, h in enumerate(heights[:, 0]):
        first = min(
            t for t, r in zip(run.data["event_time"].values, run.data["event_run"].values) if r == k
        )
        assert first == pytest.approx(math.sqrt(2 * h / G), abs=1e-9)
    back = load_result(run.save(tmp_path / "run.nc"))
    assert back.event.values.tolist() == run.event.values.tolist() and back.mode.equals(run.mode)


def test_a_stop_inside_a_free_mechanism_keeps_the_momentum() -> None:
    """A slider of 1 kg rattles in a cart of 3 kg that rolls freely: momentum stays, the relative
    speed falls by e at each impact.
    """
    box = Mechanism(
        "rattle",
        (Body("cart", 3.0, (0, 0, 0), (1, 1, 1)), Body("slider", 1.0, (0, 0, 0), (1, 1, 1))),
        (
            Joint("x", "prismatic", GROUND, "cart", axis=(1, 0, 0)),
            Joint("y", "prismatic", "cart", "slider", axis=(1, 0, 0), lower=-0.5, upper=0.5),
        ),
        gravity=(0, 0, 0),
    )
    run = simulate(box, v=[1.0, 2.0], until=4.0, limits="stop", restitution=0.8)
    momentum = 4.0 * run.v.values[:, 0] + run.v.values[:, 1]
    hits = len(times(run, "meets"))
    assert hits >= 4 and momentum == pytest.approx(6.0, abs=1e-12)
    assert run.v.values[-1, 1] == pytest.approx(2.0 * (-0.8) ** hits, rel=1e-12)
    assert run.kinetic.values[-1] == pytest.approx(
        0.5 * 4 * 1.5**2 + 0.5 * 0.75 * (2.0 * 0.8**hits) ** 2, rel=1e-12
    )


def test_a_kind_of_event_can_be_added_from_outside(monkeypatch, tmp_path) -> None:
    """A brake that halves a speed: a record, and how it is read and handled; it works from Python
    and from a file.
    """
    from dataclasses import dataclass

    from catena.simulation.events import InstantEvent
    from catena.simulation.events.event_kinds import EVENT_KINDS, INSTANT, EventKind, register
    from catena.simulation.scenario import read

    @dataclass(frozen=True)
    class Brake(InstantEvent):
        to: float = 0.5

    def slow(handler, t: float, e: Brake) -> None:
        _, v = handler.state_of()
        handler.say(t, "the brake acts")
        handler.jump(t, wanted={0: e.to * v[0]})

    monkeypatch.setitem(EVENT_KINDS, "brake", None)  # it is gone after the test
    del EVENT_KINDS["brake"]
    kind = register(
        EventKind(
            "brake",
            Brake,
            "a brake",
            {**INSTANT, "to": ("number", "the speed it leaves")},
            handle=slow,
        )
    )
    with pytest.raises(SimulationError, match="event 'brake' is in the registry already"):
        register(kind)
    run = simulate(sledge(), v=[4.0], until=1.0, events=[Brake(when="1 - q_x")])
    assert happened(run) == [(pytest.approx(0.25), "the brake acts")] and run.v.values[
        -1, 0
    ] == pytest.approx(2.0)
    assert run.ledger.relative_energy_balance < 1e-12
    file = tmp_path / "brake.toml"
    file.write_text(
        'name = "sledge"\n[[body]]\nname = "sledge"\nmass = 2.0\ncom = [0, 0, 0]\ninertia = [0.1,'
        ' 0.1, 0.1]\n[[joint]]\nname = "x"\nkind = "prismatic"\nparent = "ground"\nchild ='
        ' "sledge"\naxis = [1, 0, 0]\n[scenario]\nuntil = 1\n[[scenario.events]]\nevent ='
        ' "brake"\nat = 0.5\nto = 0.25\n'
    )
    assert read(file).arguments["events"] == [Brake(to=0.25, at=0.5)]


# --- switches
PULSE = "100 * (1 + sign(t - 5)) * (1 - sign(t - 5.01)) / 4"  # 100 N for a hundredth of a second


@pytest.mark.parametrize("integrator", ["dop853", "dopri5", "radau", "rk4"])
def test_a_pulse_between_declared_switches_is_met_exactly(integrator: str) -> None:
    m = sledge().with_(loads=(JointForce("pulse", "x", PULSE, switches=(5.0, 5.01)),))
    run = simulate(m, until=10.0, integrator=integrator, output=0.5)
    assert run.v.values[-1, 0] == pytest.approx(0.5, rel=1e-11) and len(run.time) == 21
    assert run.time[10] == 5.0 and run.v.values[10, 0] == 0.0
    assert run.q.values[-1, 0] == pytest.approx(0.5 * 4.995, rel=1e-11)


def test_a_smooth_pulse_is_not_stepped_over_with_a_largest_step() -> None:
    m = sledge().with_(loads=(JointForce("pulse", "x", "1000 * exp(-((t - 5) * 100)^2)"),))
    looked_at = simulate(m, until=10.0, verify=True).ledger
    assert (
        looked_at.met is False
        and "a pulse shorter than the steps (largest_step, switches)" in looked_at.verdict
    )
    assert simulate(m, until=10.0, largest_step=0.02).v.values[-1, 0] == pytest.approx(
        5 * math.sqrt(math.pi), rel=1e-9
    )
    with pytest.raises(SimulationError, match="largest_step = -1 s; it lies above zero"):
        simulate(m, until=10.0, largest_step=-1)


# --- bad input
@pytest.mark.parametrize(
    ("asked", "error", "said"),
    [
        ({"limits": "bounce"}, SimulationError, "no limits method 'bounce'"),
        ({"friction": "sticky"}, SimulationError, "no friction 'sticky'.*Did you mean 'stick'"),
        ({"restitution": 1.5}, SimulationError, "restitution = 1.5; it lies between 0 and 1"),
        ({"events": [Stop("y")]}, UnknownNameError, "no coordinate 'y'.*coordinates are: x"),
        ({"events": [Stop("x")]}, SimulationError, "stop of 'x' has no effect.*it has no limits"),
        ({"events": [Lock("z", at=0.5)]}, UnknownNameError, "no coordinate 'z'"),
        ({"events": [Lock(frame="tip", at=0.5)]}, UnknownNameError, "no frame 'tip'"),
        (
            {"events": [Lock(frame="sledge", to="sledge", at=0.5)]},
            SimulationError,
            "is on 'sledge' itself",
        ),
        ({"events": [Impulse("tip", at=0.5)]}, UnknownNameError, "no frame 'tip'"),
        (
            {"events": [Impulse("sledge", at=7.0)]},
            SimulationError,
            "is to happen at 7.0 s; the run goes from 0 to 1 s",
        ),
        ({"events": [Release(lock="x", at=0.5)]}, SimulationError, "no lock 'x' in this run"),
        ({"events": ["stop"]}, SimulationError, "'stop' is no event; events are"),
        ({"events": [When(when="q_y - 1")]}, Exception, "q_y"),
        (
            {"events": [When(when="q_x - 1")], "integrator": "rk4"},
            SimulationError,
            "'rk4' cannot locate events.*dop853",
        ),
    ],
)
def test_bad_events_are_told(asked: dict, error: type, said: str) -> None:
    with pytest.raises(error, match=said):
        simulate(sledge(), **{"until": 1.0, **asked})


def test_records_refuse_what_cannot_be() -> None:
    with pytest.raises(SimulationError, match="has neither of `at` and `when`"):
        Impulse("sledge")
    with pytest.raises(SimulationError, match="has both of `at` and `when`"):
        Lock("x", at=1.0, when="t")
    with pytest.raises(SimulationError, match="restitution 2; it lies between 0 and 1"):
        Stop("x", 2)
    with pytest.raises(SimulationError, match="a lock holds a joint, or a frame"):
        Lock(at=1.0)


def test_a_start_outside_its_limits_is_told() -> None:
    m = sledge(lower=-1.0, upper=1.0)
    with pytest.raises(
        StateError,
        match=(
            r"'x' starts at 2, its limits are -1 and 1\. Start within the limits, or say"
            r" limits='ignore'"
        ),
    ):
        simulate(m, [2.0])
    assert simulate(m, [2.0], limits="ignore").complete


def test_scheduled_events_need_no_adaptive_integrator() -> None:
    run = simulate(
        discs(),
        v=[0.0, 4.0],
        until=2.0,
        integrator="rk4",
        step=0.01,
        events=[Lock("clutch", at=1.003)],
    )
    assert run.v.values[-1] == pytest.approx([1.0, 0.0], abs=1e-12)


def test_events_that_crowd_at_one_instant_end_the_run() -> None:
    """A blow that answers every fall of a speed with a push too small for time to go on: more than
    a hundred are not awaited.
    """
    m = sledge(force="-10")
    with pytest.raises(
        SimulationError, match=r"more than 100 events at t = 0\.2\d* s, the last: .*kick"
    ):
        simulate(
            m, v=[1.0], until=1.0, events=[Impulse(joint={"x": 1e-12}, when="v_x", name="kick")]
        )


def test_reactions_of_a_run_that_catches_a_frame_are_refused_and_not_wrong():
    """What holds the frame acts on a body: inverse dynamics without it would show torques in free
    pins.
    """
    m = load("triple_pendulum")
    run = simulate(
        m, until=0.2, events=[Lock(frame="link3", kind="revolute", axis=(0, 0, 1), at=0.1)]
    )
    with pytest.raises(CatenaError, match="locks the frame link3"):
        run.reactions()
    assert np.isfinite(simulate(m, until=0.1).reactions().values).all()
