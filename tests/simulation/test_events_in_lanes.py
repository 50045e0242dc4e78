"""Runs with events side by side in lanes: each is the run that it would be alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sympy

from catena.analysis.assembly import assemble
from catena.errors import SimulationError, StateError
from catena.formats import load
from catena.machine.machine import compile
from catena.model.mechanism import GROUND, Body, Frame, Joint, Mechanism
from catena.model.pose import Pose
from catena.simulation import RunOptions, simulate
from catena.simulation.events import Impulse, Lock, Release, When
from catena.simulation.handlers.batch_events import SpeedEvents
from catena.simulation.planning.plan import prepare

WORDS = ("meets", "rests", "leaves", "sticks", "slips")


def pendulum(links: int = 2, friction: float = 0.0, **options: object) -> Mechanism:
    """Rods that swing in the plane x-z, each with a stop on either side.   o--o--o"""
    rods = tuple(Body(f"rod{k}", 1.0 + k, (0, 0, -0.5), (0.1, 0.1, 0.001)) for k in range(links))
    joints = tuple(
        Joint(
            f"j{k}",
            "revolute",
            f"rod{k - 1}" if k else GROUND,
            f"rod{k}",
            axis=(0, 1, 0),
            lower=-0.9,
            upper=0.7,
            friction=friction,
            placement=Pose(position=(0, 0, -1.0 if k else 0.0)),
        )
        for k in range(links)
    )
    return Mechanism(
        "pendulum",
        rods,
        joints,
        frames=(Frame("tip", f"rod{links - 1}", Pose(position=(0, 0, -1))),),
        **options,
    )


def starts(runs: int, links: int = 2, fast: float = 5.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(links)
    return rng.uniform(-0.7, 0.7, (runs, links)), rng.uniform(-fast, fast, (runs, links))


def log(run, number: int | None = None) -> list[tuple[float, str]]:
    if "event" not in run.data:
        return []
    found = list(zip(run.data["event_time"].values.tolist(), run.data["event"].values.tolist()))
    return (
        found
        if number is None
        else [e for e, n in zip(found, run.data["event_run"].values) if n == number]
    )


def plain(sentence: str) -> list[str]:
    """What it says, but for its numbers."""
    return [word for word in sentence.split() if not any(c.isdigit() for c in word)]


def same_as_alone(m, q, v, until, accuracy=1e-9, **options) -> int:
    """Compare a batch with its runs one by one; how many events there were."""
    machine = compile(m)
    together = simulate(machine, q, v, until, **options)
    events = 0
    for k in range(len(q)):
        alone = simulate(machine, q[k], v[k], until, **options)
        mine = log(together, k)
        other = log(alone)
        assert [plain(what) for _, what in mine] == [plain(what) for _, what in other]
        assert [t for t, _ in mine] == pytest.approx(
            [t for t, _ in other], rel=accuracy, abs=accuracy
        )
        n = min(len(alone.data["time"]), len(together.data["time"]))
        for name in ("state", "held_force", "mode", "work"):
            if name in alone.data:
                here = together.data[name].values[k, :n]
                there = alone.data[name].values[:n]
                assert here == pytest.approx(
                    there,
                    rel=accuracy,
                    abs=accuracy * max(1.0, np.abs(there[np.abs(there) < 1e200]).max(initial=0.0)),
                )
        assert together.ledger.relative_energy_balance < 1e-7
        events += len(mine)
    return events


@pytest.mark.parametrize(
    ("friction", "options"),
    [
        (0.0, {"limits": "stop"}),
        (0.0, {"limits": "stop", "restitution": 0.6}),
        (2.0, {"friction": "stick"}),
        (0.4, {"limits": "stop", "friction": "stick", "restitution": 0.3}),
    ],
)
@pytest.mark.parametrize("links", [1, 2])
def test_runs_with_stops_and_friction_are_those_that_they_are_alone(
    links: int, friction: float, options: dict
) -> None:
    q, v = starts(7, links)
    assert same_as_alone(pendulum(links, friction), q, v, 1.0, **options) >= 3


def test_masses_that_differ_from_run_to_run() -> None:
    """Dropped onto a stop along a rail with dry friction: falls, rebounds, rests, as known for
    every mass.
    """
    m = Mechanism(
        "sledge",
        (Body("b", sympy.Symbol("m"), (0, 0, 0), (1, 1, 1)),),
        (Joint("x", "prismatic", GROUND, "b", axis=(0, 0, 1), lower=0.0, friction=0.5),),
        parameters={"m": 2.0},
    )
    masses = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    run = simulate(
        m,
        np.ones((5, 1)),
        until=2.0,
        limits="stop",
        restitution=0.3,
        friction="stick",
        parameters={"m": masses},
    )
    down = 9.81 - 0.5 / masses
    up = 9.81 + 0.5 / masses
    first, second = (
        np.array([[t for t, what in log(run, k) if "meets" in what][n] for k in range(5)])
        for n in range(2)
    )
    assert first == pytest.approx(np.sqrt(2 / down), rel=1e-9)
    rise = 0.3 * down * first / up  # then it falls from there
    assert second - first == pytest.approx(rise * (1.0 + np.sqrt(up / down)), rel=1e-8)
    assert run.q.values[:, -1, 0] == pytest.approx(0.0, abs=1e-14)
    assert run.held_force.values[:, -1, 0] == pytest.approx(9.81 * masses, rel=1e-9)


def test_a_stop_that_is_pushed_against_by_an_impact_at_another() -> None:
    """While one rod rests on its stop another meets its own: which stops push is found for each
    run.
    """
    q, v = starts(40, 3, fast=12.0)
    machine = compile(pendulum(3))
    run = simulate(machine, q, v, 1.0, limits="stop")
    words = [what for _, what in log(run)]
    assert all(any(word in what for what in words) for word in WORDS[:3])
    for k in (3, 17, 31):
        assert [plain(w) for _, w in log(run, k)] == [
            plain(w) for _, w in log(simulate(machine, q[k], v[k], 1.0, limits="stop"))
        ]


@pytest.mark.parametrize("options", [{"limits": "stop", "restitution": 0.5}, {"limits": "ignore"}])
def test_a_run_does_not_depend_on_its_neighbours_or_on_threads(options: dict) -> None:
    q, v = starts(67)
    machine = compile(pendulum())
    events = [When(when="q_j0 - 0.1", name="passes")] if options["limits"] == "ignore" else []
    whole = simulate(machine, q, v, 0.5, threads=1, events=events, **options)
    in_threads = simulate(machine, q, v, 0.5, threads=2, events=events, **options)
    back = simulate(machine, q[::-1][:9], v[::-1][:9], 0.5, threads=1, events=events, **options)
    assert np.array_equal(whole.state.values, in_threads.state.values) and log(whole) == log(
        in_threads
    )
    assert np.array_equal(whole.state.values[::-1][:9], back.state.values)
    assert all(log(whole, 66 - k) == log(back, k) for k in range(9)) and log(back)


EVENTS = {
    "impulse": [Impulse(at=0.3, frame="tip", linear=(2.0, 0.0, 0.0), name="blow")],
    "lock and release": [Lock(at=0.2, joint="j1", name="brake"), Release(at=0.6, lock="brake")],
    "condition": [
        When(when="q_j0 - 0.1", name="passes"),
        Impulse(when="q_j1 + 0.2", frame="tip", linear=(0.0, 0.0, 1.0)),
    ],
}


@pytest.mark.parametrize("kind", EVENTS)
def test_other_events_in_a_batch(kind: str) -> None:
    q, v = starts(5)
    assert same_as_alone(pendulum(), q, v, 1.0, events=EVENTS[kind], limits="stop") >= 5


def test_runs_that_an_event_ends_at_different_times() -> None:
    q = np.array([[0.5, 0.0], [0.3, 0.0], [-0.2, 0.0]])
    v = np.zeros((3, 2))
    run = simulate(pendulum(), q, v, 2.0, events=[When(when="q_j0 + 0.1", name="there", end=True)])
    ends = [log(run, k)[0][0] for k in range(2)]
    alone = [
        simulate(
            pendulum(), q[k], v[k], 2.0, events=[When(when="q_j0 + 0.1", name="there", end=True)]
        )
        for k in range(2)
    ]
    assert (
        ends == pytest.approx([float(one.data["time"][-1]) for one in alone], abs=1e-9)
        and run.ledger.complete
    )
    n = len(run.data["time"])
    assert n == min(len(one.data["time"]) for one in alone)  # rows up to the end of the shortest
    assert run.q.values[1, -2] == pytest.approx(alone[1].q.values[n - 2], abs=1e-9)


def test_loops_with_stops_in_a_batch() -> None:
    """A four-bar whose crank has a stop: rows of the loop hold in its impacts, which each run
    handles by itself.
    """
    m = load("four_bar")
    q, v = assemble(m, v=np.eye(3)[0])
    m = m.with_(
        joints=(
            replace(m.joints[0], lower=(float(q[0]) - 0.1,), upper=(float(q[0]) + 0.05,)),
            *m.joints[1:],
        )
    )
    assert (
        same_as_alone(m, np.array([q, q, q]), np.array([v, 0.5 * v, 2.0 * v]), 0.2, limits="stop")
        >= 3
    )


def test_the_verdict_of_a_batch_comes_from_a_tighter_one() -> None:
    q, v = starts(3)
    run = simulate(pendulum(), q, v, 0.5, limits="stop", verify=True)
    assert run.ledger.verified is not None and run.ledger.verified < 1e-8 and run.ledger.met


def test_bad_starts_and_runs_that_cannot_go_on_are_named() -> None:
    q, v = starts(4)
    q[2, 1] = 0.95
    with pytest.raises(StateError, match="j1"):
        simulate(pendulum(), q, v, 0.5, limits="stop")
    q, v = starts(4)
    with pytest.raises(SimulationError, match="the largest number of steps") as stopped:
        simulate(pendulum(), q, v, 0.5, limits="stop", most_steps=5)
    assert stopped.value.result is not None


def test_stops_and_friction_are_handled_for_all_runs_at_once() -> None:
    """The handler of single runs is left out where it can be."""
    q, v = starts(4)
    plan = prepare(pendulum(), q, v, 1.0, RunOptions.of(limits="stop"))
    assert plan.batched and SpeedEvents.serves(plan)
    plan = prepare(pendulum(), q, v, 1.0, RunOptions.of(events=EVENTS["impulse"]))
    assert plan.batched and not SpeedEvents.serves(plan)
