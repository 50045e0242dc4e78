"""Impacts that accumulate, units, exact rest: one body on two rails, so that everything runs on one
compiled mechanism.

  z ^  [ m ]  pulled down by m g (a load, so that units can be changed by parameters), stop at z =
      0,
    |     |          dry friction F along z and none along x
----+-----+----> x
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
import sympy

from catena.model.loads import JointForce
from catena.model.mechanism import GROUND, Body, Joint, Mechanism
from catena.model.pose import Pose
from catena.simulation import simulate
from catena.simulation.handlers.accumulation import Impacts

REFERENCE = json.loads(
    (Path(__file__).parents[1] / "reference/contact/bouncing_ball.json").read_text()
)
MASS, FRICTION = sympy.symbols("m F")
BODY = Mechanism(
    "body",
    (Body("cart", 0.1, (0, 0, 0), (1, 1, 1)), Body("ball", MASS, (0, 0, 0), (MASS, MASS, MASS))),
    (
        Joint("x", "prismatic", GROUND, "cart", axis=(1, 0, 0)),
        Joint("z", "prismatic", "cart", "ball", axis=(0, 0, 1), lower=0.0, friction=FRICTION),
    ),
    loads=(JointForce("weight", "z", "-m*g"),),
    gravity=(0, 0, 0),
    parameters={"m": 0.5, "g": 9.81, "F": 0.0},
)


def bounce(
    height: float,
    e: float,
    until: float,
    speed: float = 0.0,
    along: float = 0.0,
    **parameters: float,
):
    given = {
        "limits": "stop",
        "friction": "stick",
        "restitution": e,
        "parameters": parameters or None,
    }
    return simulate(BODY, [0.0, height], [along, speed], until, output=until / 4, **given)


def times(run, words: str) -> np.ndarray:
    return run.data["event_time"].values[[words in what for what in run.event.values]]


def passes(entry: dict, x) -> bool:
    v = np.asarray(entry["value"], float)
    return bool(
        np.all(
            np.abs(np.asarray(x) - v) <= entry.get("abs", 0.0) + entry.get("rel", 0.0) * np.abs(v)
        )
    )


@pytest.mark.parametrize("case", REFERENCE["cases"], ids=lambda case: case["name"])
def test_the_reference_ball(case: dict) -> None:
    start = case["initial"]
    e = case["parameters"]["e"]
    wanted = case["expected"]
    rest = wanted.get("rest_time", {"value": 9.0})["value"]
    run = bounce(start["gap"], e, 1.5 * rest, start["vz"], start["vx"])
    hits = times(run, "meets its lower stop")
    assert passes(wanted["impact_times"], hits[: len(wanted["impact_times"]["value"])])
    if "rest_time" not in wanted:  # elastic: it never rests
        assert not len(times(run, "rests")) and run.ledger.relative_energy_balance < 1e-11
        return
    assert passes(wanted["rest_time"], times(run, "rests")[0]) and len(times(run, "rests")) == 1
    assert (
        not len(times(run, "leaves")) and run.q.values[-1, 1] == 0.0 and run.v.values[-1, 1] == 0.0
    )
    assert passes(wanted["contact_force_at_rest"], run.held_force.values[-1, -1])
    # the weight is a load here
    assert passes(wanted["dissipated"], 0.5 * 9.81 * start["gap"] - run.work.values[-1])
    if "x_at_rest_time" in wanted:
        k = int(np.searchsorted(run.time, rest))
        assert run.q.values[k, 0] == pytest.approx(1.5 * run.time[k], rel=1e-9)


@pytest.mark.parametrize("e", [0.95, 0.97])
def test_a_lively_ball_comes_to_rest_at_the_limit_of_its_impacts(e: float) -> None:
    """The sum of its flights is sqrt(2 h / g) (1 + e) / (1 - e)."""
    run = bounce(1.0, e, 30.0)
    assert times(run, "rests on its lower stop at 0 m, the limit of")[0] == pytest.approx(
        math.sqrt(2 / 9.81) * (1 + e) / (1 - e), rel=1e-10
    )
    assert run.q.values[-1].tolist() == [0.0, 0.0] and run.ledger.relative_energy_balance < 1e-11


@pytest.mark.parametrize(
    ("length", "mass", "time"),
    [(1e3, 1e3, 1e3), (1e-6, 1e-6, 1.0), (1e6, 1e6, 1.0), (1e6, 1e-6, 1e-3)],
)
def test_units_do_not_matter(length: float, mass: float, time: float) -> None:
    """The same problem in mm, g, ms, and in units of twelve orders of magnitude: the same events at
    the same times.
    """
    F, g = 0.8, 9.81
    here = bounce(1.0, 0.6, 3.0, m=0.5, g=g, F=F)
    a = length / time**2
    there = bounce(length, 0.6, 3.0 * time, m=0.5 * mass, g=g * a, F=F * mass * a)
    assert len(here.event) > 20 and len(here.event) == len(there.event)
    assert there.data["event_time"].values / time == pytest.approx(
        here.data["event_time"].values, rel=1e-9
    )
    assert [w.split(" at ")[0] for w in there.event.values] == [
        w.split(" at ")[0] for w in here.event.values
    ]


def test_what_rests_stands_still_to_the_last_digit() -> None:
    run = bounce(0.0, 0.0, 1000.0, along=1.0)
    assert not run.q.values[:, 1].any() and not run.v.values[:, 1].any()
    assert run.q.values[-1, 0] == pytest.approx(1000.0, rel=1e-12)


def test_sentences_have_units_and_places() -> None:
    run = bounce(1.0, 0.5, 0.6)
    assert run.event.values.tolist() == [
        "z meets its lower stop at 0 m with 4.42945 m/s and rebounds with 2.21472 m/s"
    ]


def test_a_series_of_impacts_has_a_limit_only_when_it_converges() -> None:
    even, t = Impacts(), 0.0
    for n in range(2000):  # a pendulum against a wall: slower and slower, at equal intervals
        even = even.then(float(n), 0.9**n)
        assert even.limit is None
    geometric = Impacts()
    for n in range(300):
        geometric = geometric.then(t, 0.9**n)
        t = t + 0.9**n
        if geometric.limit is not None:
            break
    assert geometric.limit == pytest.approx(10.0, rel=1e-12) and n < 260
    assert geometric.then(t + 5.0, 1.0).number == 1


def test_a_series_that_rounding_keeps_up_is_closed() -> None:
    """Away from zero a coordinate resolves no rebound of 1e-16 of its place; and no series goes on
    at equal speed.
    """
    far = near = Impacts()
    for n in range(200):
        far = far.then(10.0 * (1 - 0.9**n), 0.9**n, 1.0)
        near = near.then(10.0 * (1 - 0.9**n), 0.9**n)
        if far.limit is not None:
            break
    assert far.limit == pytest.approx(10.0, rel=1e-9) and near.limit is None
    stalled = near.then(10.0, near.speed)
    assert (
        stalled.limit == pytest.approx(10.0, rel=1e-4)
        and near.then(10.0, 100 * near.speed).limit is None
    )


def test_neighbouring_stops_that_throw_each_other_off_come_to_rest() -> None:
    """A chain of three links swings against the stops of both its joints: their impacts accumulate
    together, alone and in lanes.
    """
    links = tuple(Body(f"link {i}", 1.0, (0, 0, -0.25), (0.02, 0.02, 0.001)) for i in range(3))
    joints = tuple(
        Joint(
            f"j{i}",
            "revolute",
            f"link {i - 1}" if i else GROUND,
            f"link {i}",
            Pose(position=(0, 0, -0.5)) if i else Pose(),
            axis=(0, 1, 0),
            lower=-0.3 if i else -math.inf,
            upper=0.3 if i else math.inf,
        )
        for i in range(3)
    )
    chain = Mechanism("chain", links, joints)
    q = [1.2, 0.2, -0.2]
    v = [0.0, 1.0, -2.0]
    one = simulate(chain, q, v, 1.25, output=1.25, limits="stop", restitution=0.3)
    assert len(one.event) < 60 and [e for e in one.event.values if "rests on its lower stop" in e][
        -1
    ].startswith("j2")
    assert (
        one.q.values[-1, 1:].tolist() == [-0.3, -0.3]
        and not one.v.values[-1, 1:].any()
        and one.ledger.imbalance < 1e-9
    )
    many = simulate(
        chain,
        np.tile(q, (2, 1)),
        np.tile(v, (2, 1)),
        1.25,
        output=1.25,
        limits="stop",
        restitution=0.3,
    )
    assert (
        many.q.values[:, -1] == pytest.approx(np.tile(one.q.values[-1], (2, 1)), abs=1e-8)
        and not many.v.values[:, -1, 1:].any()
    )
