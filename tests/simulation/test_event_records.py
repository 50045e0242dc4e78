"""What a result holds of what happened: states on both sides of events, impacts, contacts that are
switched off for a while; all of it empty where nothing happened.
"""

from __future__ import annotations

import numpy as np
import pytest

import catena
from catena.errors import CatenaError, SimulationError, UnknownNameError
from catena.model.contacts import Contact
from catena.model.mechanism import GROUND, Body, Frame, Joint, Mechanism
from catena.results.result import load_result
from catena.simulation import simulate
from catena.simulation.events import Impulse, SwitchContact
from catena.simulation.scenario import read

G = 9.81
TABLES = ("event", "event_time", "event_q_before", "event_v_after", "impact_time", "impulse")


def ball(restitution: float = 0.5) -> Mechanism:
    """A point that falls along z onto the ground."""
    return Mechanism(
        "ball",
        (Body("b", 2.0, (0, 0, 0), (1, 1, 1)),),
        (Joint("z", "prismatic", GROUND, "b", axis=(0, 0, 1)),),
        (Frame("foot", "b"),),
        contacts=(Contact((("foot",), GROUND), 0.0, restitution),),
    )


def test_where_nothing_happened_the_tables_are_empty(tmp_path) -> None:
    for m in (catena.load("double_pendulum"), ball()):
        quiet = simulate(m, until=0.01, q=np.ones(catena.compile(m).nq), out=tmp_path / "r.nc")
        batch = simulate(m, np.ones((3, catena.compile(m).nq)), until=0.01)
        plain = simulate(m, until=0.01, q=np.ones(catena.compile(m).nq))
        plain.save(tmp_path / "s.nc")
        for run in (quiet, batch, plain, load_result(tmp_path / "s.nc")):
            for name in TABLES:
                assert len(run.data[name]) == 0, name
            assert run.event.shape == (0,) and run.impact_time.shape == (0,)
            assert run.data["event_q_before"].shape == (0, run.data.sizes["coordinate"])
        (tmp_path / "r.nc").unlink()


@pytest.mark.parametrize("kept", ["memory", "file", "saved"])
def test_states_on_both_sides_of_events_are_recorded(tmp_path, kept: str) -> None:
    """A ball dropped from 1 m with e = 0.5, and a blow at 0.2 s: the closed forms on both sides."""
    asked = {"until": 0.6, "events": [Impulse(joint={"z": -2.0}, at=0.2)]}
    if kept == "file":
        run = simulate(ball(), [1.0], out=tmp_path / "r.nc", **asked)
    else:
        run = simulate(ball(), [1.0], **asked)
    if kept == "saved":
        run.save(tmp_path / "r.nc")
        run = load_result(tmp_path / "r.nc")
    blow, met = 0, 1
    assert run.data["event_time"].values[blow] == 0.2
    assert run.data["event_v_before"].values[blow] == pytest.approx([-0.2 * G], rel=1e-9)
    assert run.data["event_v_after"].values[blow] == pytest.approx([-0.2 * G - 1.0], rel=1e-9)
    assert run.data["event_q_before"].values[blow] == pytest.approx([1 - 0.02 * G], rel=1e-9)
    down = np.sqrt((0.2 * G + 1.0) ** 2 + 2 * G * (1 - 0.02 * G))  # by the energy
    assert run.data["event_v_before"].values[met] == pytest.approx([-down], rel=1e-8)
    assert run.data["event_v_after"].values[met] == pytest.approx([0.5 * down], rel=1e-8)
    assert run.data["event_q_after"].values[met] == pytest.approx([0.0], abs=1e-9)


def test_states_of_stops_in_lanes_are_those_alone() -> None:
    body = Body("b", 2.0, (0, 0, 0), (1, 1, 1))
    m = Mechanism("m", (body,), (Joint("z", "prismatic", GROUND, "b", axis=(0, 0, 1), lower=0.0),))
    height = np.array([[1.0], [2.0], [0.5]])
    given = {"until": 1.0, "limits": "stop", "restitution": 0.5}
    runs = simulate(m, height, **given)
    for k, h in enumerate(height):
        one = simulate(m, h, **given)
        own = runs.data["event_run"].values == k
        for name in ("event_v_before", "event_v_after", "event_q_before", "event_q_after"):
            assert np.array_equal(runs.data[name].values[own], one.data[name].values)
        assert one.data["event_v_after"].values[0] == pytest.approx(
            -0.5 * one.data["event_v_before"].values[0], rel=1e-12
        )


def test_a_contact_is_off_for_a_while() -> None:
    """Off while the ball falls through the floor and is thrown back up; then it lands on it."""
    fall = np.sqrt(2 / G)
    asked = [
        SwitchContact(contact="foot-ground", at=0.1),
        Impulse(joint={"z": 4.0 * G * (fall + 0.1)}, at=fall + 0.1),  # as fast up as it was down
        SwitchContact(contact="foot-ground", on=True, at=fall + 0.3),
    ]
    run = simulate(ball(0.0), [1.0], until=3.0, events=asked, output=0.01)
    below = run.data["event_q_before"].values[run.event.values == "an impulse strikes z"]
    assert below.ravel() == pytest.approx([1 - G * (fall + 0.1) ** 2 / 2], rel=1e-9)
    again = 2 * (fall + 0.1) + fall  # up to 1 m, and down
    assert run.data["impact_time"].values == pytest.approx([again], abs=1e-7)
    assert run.q.values[-1] == 0.0 and run.ledger.contact.penetration < 1e-9
    off = (run.data["time"].values > 0.1) & (run.data["time"].values < fall + 0.3)
    assert np.isnan(run.data["contact_gap"].values[off, 0]).all()


def test_a_contact_that_carries_lets_go() -> None:
    """A ball at rest falls as soon as its contact is off."""
    asked = [SwitchContact(contact="foot-ground", when="0.25 - t")]
    run = simulate(ball(), [0.0], until=1.0, events=asked)
    assert run.q.values[-1] == pytest.approx([-G * 0.75**2 / 2], rel=1e-8)
    assert "contact foot-ground is switched off" in run.event.values.tolist()


def test_in_a_file_and_in_lanes(tmp_path) -> None:
    path = tmp_path / "ball.toml"
    catena.save(ball(), path)
    path.write_text(
        path.read_text()
        + '\n[scenario]\nuntil = "1 s"\n[[scenario.events]]\nevent = "switch_contact"\n'
        + 'contact = "foot-ground"\nat = "0.25 s"\n'
    )
    asked = read(path)
    run = simulate(asked.mechanism, [0.0], until=asked.until, **asked.options)
    assert run.q.values[-1] == pytest.approx([-G * 0.75**2 / 2], rel=1e-8)
    both = simulate(asked.mechanism, [[0.0], [0.0]], until=asked.until, **asked.options)
    assert np.array_equal(both.q.values[1, -1], run.q.values[-1])


def test_what_cannot_be_switched_is_told() -> None:
    off, on = (SwitchContact(contact="foot-ground", on=k, at=0.1 + 0.5 * k) for k in (False, True))
    with pytest.raises(SimulationError, match=r"'foot-ground' is switched on at t = 0.6 s.* deep"):
        simulate(ball(), [0.0], until=1.0, events=[off, on])
    with pytest.raises((UnknownNameError, CatenaError), match="foot-ground"):
        simulate(ball(), [0.0], until=1.0, events=[SwitchContact(contact="foot-grund", at=0.1)])
    with pytest.raises(SimulationError, match="no contacts"):
        simulate(ball(), [0.0], until=1.0, events=[off], contact="ignore")


@pytest.mark.parametrize(
    "asked",
    [
        [SwitchContact(contact="foot-ground", when="q_z - 0.04")],
        [
            SwitchContact(contact="foot-ground", at=0.05),
            SwitchContact(contact="foot-ground", on=True, at=0.1),
        ],
    ],
    ids=["falls through", "off for a while"],
)
def test_sensitivities_through_a_switched_contact_are_differences(asked: list) -> None:
    def end(speed: float) -> float:
        run = simulate(ball(), [0.1], [speed], until=0.35, events=asked, tolerance=1e-12)
        return float(run.q.values[-1, 0])

    found = catena.sensitivities(
        ball(), with_respect_to=["v.z"], of=["q_z"], q=[0.1], v=[0.3], until=0.35, events=asked
    )
    h = 1e-5
    assert found.derivatives[0, 0] == pytest.approx((end(0.3 + h) - end(0.3 - h)) / (2 * h), 1e-6)
