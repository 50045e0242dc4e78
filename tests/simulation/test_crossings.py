"""A condition of an event happens once each time that it falls to zero, whatever is done to the
state between two segments of a run.
"""

from __future__ import annotations

import numpy as np
import pytest

import catena
import closed
import resuming
from catena.model.contacts import Contact
from catena.model.loads import Force
from catena.model.mechanism import GROUND, Body, Frame, Joint, Mechanism
from catena.sensitivity.sensitivities import planned
from catena.simulation import simulate
from catena.simulation.events import Impulse, When

# one minus twice the square of the sine of half the tilt: zero where the body's z axis is level
LEVEL = "1 - 2*(q_j_qx^2 + q_j_qy^2)"
BLOW = Impulse(frame="b", angular=(0.0, 0.0, 1.0), when=LEVEL)


def spinning() -> Mechanism:
    """A body of unit inertia, free to turn about its centre: its speeds are constant."""
    return Mechanism(
        "spinning",
        (Body("body", 1.0, (0, 0, 0), (1.0, 1.0, 1.0)),),
        (Joint("j", "ball", GROUND, "body"),),
        (Frame("b", "body"),),
        gravity=(0, 0, 0),
    )


def upright_momentum(run) -> np.ndarray:
    """The vertical component of the angular momentum, N m s: the speeds turned into the world."""
    m = catena.compile(spinning())
    q, v = run.q.values, run.v.values
    return np.einsum("...j,...j->...", m.pose(q, "b")[..., 2, :3], v)


@pytest.mark.parametrize("integrator", ["dop853", "dopri5", "radau"])
@pytest.mark.parametrize("by", ["recursive", "hamilton"])
def test_a_condition_of_a_quaternion_happens_once_per_crossing(integrator: str, by: str) -> None:
    """Turning about x with 1 rad/s the axis is level after a quarter of a turn, and falls below."""
    run = simulate(
        spinning(),
        [1, 0, 0, 0],
        [1.0, 0.0, 0.0],
        until=3.0,
        events=[BLOW],
        integrator=integrator,
        by=by,
        output=0.5,
    )
    assert run.data["event_time"].values == pytest.approx([np.pi / 2], abs=1e-8)
    assert upright_momentum(run)[-1] == pytest.approx(1.0, abs=1e-8)


def test_every_turn_has_its_crossing() -> None:
    """Ten turns about x: ten times from above to below, and none on the way up."""
    run = simulate(
        spinning(),
        [1, 0, 0, 0],
        [1.0, 0.0, 0.0],
        until=20 * np.pi,
        events=[When(when=LEVEL)],
    )
    assert run.data["event_time"].values == pytest.approx(
        np.pi / 2 + 2 * np.pi * np.arange(10), abs=1e-7
    )


def test_in_lanes_and_from_many_starts() -> None:
    """Turning about a level axis at many speeds: one blow each, as alone."""
    rate = np.linspace(0.55, 1.45, 19)
    turn = 0.4 * np.arange(19)
    v = np.stack([rate * np.cos(turn), rate * np.sin(turn), 0 * rate], axis=1)
    q = np.tile([1.0, 0, 0, 0], (19, 1))
    runs = simulate(spinning(), q, v, until=3.0, events=[BLOW], output=0.5)
    assert runs.data["event_run"].values.tolist() == list(range(19))
    assert runs.data["event_time"].values == pytest.approx(np.pi / 2 / rate, abs=1e-7)
    assert upright_momentum(runs)[:, -1] == pytest.approx(np.ones(19), abs=1e-7)


def test_its_sensitivities_are_differences() -> None:
    """Of the last state to the speed at the start, with the blow between."""

    def end(speed: float) -> np.ndarray:
        run = simulate(
            spinning(), [1, 0, 0, 0], [speed, 0.2, 0.1], until=3.0, events=[BLOW], tolerance=1e-12
        )
        return run.v.values[-1]

    found = catena.sensitivities(
        spinning(),
        with_respect_to=["v.j.wx"],
        of=["v_j_wx", "v_j_wy", "v_j_wz"],
        q=[1, 0, 0, 0],
        v=[1.0, 0.2, 0.1],
        until=3.0,
        events=[BLOW],
    )
    h = 1e-5
    assert np.ravel(found.derivatives) == pytest.approx(
        (end(1.0 + h) - end(1.0 - h)) / (2 * h), abs=1e-6
    )


def test_two_conditions_that_fall_together_both_happen() -> None:
    """Also where they are the same, and where a scheduled event comes at that instant."""
    body = Body("b", 1.0, (0, 0, 0), (1, 1, 1))
    slide = Mechanism("slide", (body,), (Joint("x", "prismatic", GROUND, "b", axis=(1, 0, 0)),))
    asked = [
        When(when="0.5 - q_x", name="first"),
        When(when="1 - 2*q_x", name="second"),
        When(when="0.75 - q_x", name="later"),
        When(at=0.5, name="scheduled"),
    ]
    run = simulate(slide, [0.0], [1.0], until=1.0, events=asked)
    said = dict(zip(run.event.values.tolist(), run.data["event_time"].values.tolist()))
    assert len(run.event) == 4
    assert said == pytest.approx(
        {"first": 0.5, "second": 0.5, "later": 0.75, "scheduled": 0.5}, abs=1e-9
    )


def test_a_condition_that_its_own_blow_lifts_happens_again() -> None:
    """A body thrown up by each blow whenever it comes down to zero: like a ball on a racket."""
    body = Body("b", 1.0, (0, 0, 0), (1, 1, 1))
    m = Mechanism("up", (body,), (Joint("z", "prismatic", GROUND, "b", axis=(0, 0, 1)),))
    # falling with 1 m/s at zero height, it is thrown up with 1 m/s
    blow = Impulse(joint={"z": 2.0}, when="q_z + 0*t")
    run = simulate(m, [0.0], [1.0], until=1.0, events=[blow])
    assert run.data["event_time"].values == pytest.approx(2 / 9.81 * np.arange(1, 5), abs=1e-8)
    # of the speed: each time it has come down to zero it is set to 1 m/s again
    again = simulate(m, [0.0], [1.0], until=1.0, events=[Impulse(joint={"z": 1.0}, when="v_z")])
    assert again.data["event_time"].values == pytest.approx(np.arange(1, 10) / 9.81, abs=1e-8)


def test_in_a_loop_a_condition_happens_once_per_turn() -> None:
    """Projection onto the loop after each step moves its coordinates; the crank turns on."""
    m = closed.four_bar()
    q, _ = catena.assemble(m)
    crank = catena.compile(m).coordinate_names[0]
    swing = simulate(m, q, until=4.0, output=0.01).q.values[:, 0]
    middle = 0.5 * (swing.min() + swing.max())
    run = simulate(m, q, until=4.0, events=[When(when=f"q_{crank} - {middle:.6f}")], output=0.01)
    above = run.q.values[:, 0] > round(middle, 6)
    assert len(run.data["event_time"]) == int(np.sum(above[:-1] & ~above[1:])) > 1


def test_sides_survive_an_interruption() -> None:
    """A run that is resumed has the events, at the bit, of one that was not stopped."""
    plan = planned(spinning(), [1, 0, 0, 0], [1.0, 0.3, 0.2], 20.0, {"events": [BLOW]})
    resuming.goes_on_bit_for_bit(plan, least=10)


def test_a_slip_that_begins_does_not_turn_round() -> None:
    """A block at rest that is pulled off: the modes are chosen once more at each scheduled event of
    that instant, and its slip has not changed its direction.
    """
    block = Mechanism(
        "block",
        (Body("b", 1.0, (0, 0, 0), (1, 1, 1)),),
        (Joint("free", "free", GROUND, "b"),),
        (Frame("foot", "b"),),
        loads=(Force("pull", "foot", force=("20", 0.0, 0.0)),),
        contacts=(Contact((("foot",), GROUND), 0.4, 0.0),),
    )
    asked = [When(at=0.0, name="a"), When(at=0.0, name="b")]
    run = simulate(block, [0, 0, 0, 1, 0, 0, 0], until=0.3, events=asked)
    assert run.event.values.tolist() == ["foot-ground closes and slips", "a", "b"]
