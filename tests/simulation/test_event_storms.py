"""Events that come ever faster end in one sentence, and whoever interrupts a run keeps what was
computed.
"""

from __future__ import annotations

import numpy as np
import pytest

import zoo
from catena import Body, Contact, Frame, Joint, Mechanism, Pose, simulate
from catena.errors import SimulationError
from catena.simulation.handlers import event_handler, event_storm

GROUND, RADIUS = "ground", 0.05


@pytest.fixture
def short_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Looks after twenty events, so that a storm is a short one."""
    monkeypatch.setattr(event_handler, "EVENTS_PER_BLOCK", 20)
    monkeypatch.setattr(event_storm, "BLOCK_TIME", 0.1)


def between_walls(restitution: float) -> Mechanism:
    """A ball between a wall and a piston.

    wall |  (ball)   | piston
    """
    bodies = (
        Body("ball", 1.0, (0, 0, 0), (0.01,) * 3),
        Body("piston", 1.0, (0, 0, 0), (0.01,) * 3),
    )
    joints = (
        Joint("x", "prismatic", GROUND, "ball", axis=(1, 0, 0)),
        Joint("p", "prismatic", GROUND, "piston", axis=(1, 0, 0)),
    )
    frames = (
        Frame("middle", "ball", Pose()),
        Frame("wall", GROUND, Pose(rotation=((0, 0, 1), (0, 1, 0), (-1, 0, 0)))),
        Frame("face", "piston", Pose(rotation=((0, 0, -1), (0, 1, 0), (1, 0, 0)))),
    )
    contacts = tuple(
        Contact(("middle", side), 0.0, restitution, radius=RADIUS, surface="plane", name=side)
        for side in ("wall", "face")
    )
    return Mechanism(
        "between walls", bodies, joints, frames=frames, gravity=(0, 0, 0), contacts=contacts
    )


def rebounds(until: float) -> tuple[float, float, int]:
    """Place and speed of the ball between a wall and a piston that comes with 0.1 m/s, and how
    often it has rebounded: by hand.
    """
    x, v, t, count = 0.3, 1.0, 0.0, 0
    while True:
        away = (0.95 - 0.1 * t - x) / (v + 0.1) if v > 0 else (x - RADIUS) / -v
        if t + away > until:
            return x + v * (until - t), v, count
        x = x + v * away
        t = t + away
        count = count + 1
        v = -v - (0.2 if v > 0 else 0.0)


def test_a_ball_between_closing_walls_is_followed_and_ends_in_a_sentence(
    short_blocks: None,
) -> None:
    with pytest.raises(
        SimulationError,
        match=(
            r"events come ever faster and do not become weaker: the last 20 took .* \(restitution"
            r" below 1\)"
        ),
    ) as told:
        simulate(
            between_walls(1.0),
            q=[0.3, 1.0],
            v=[1.0, 0.0],
            until=10.0,
            motion={"p": "1.0-0.1*t"},
            output=0.5,
        )
    run = told.value.result
    x, v, count = rebounds(float(run.time[-1]))
    assert (
        run.time[-1] > 6.0
        and run.q.values[-1, 0] == pytest.approx(x, abs=1e-11)
        and run.v.values[-1, 0] == pytest.approx(v, rel=1e-12)
    )
    assert (
        not run.ledger.complete and (run.data["event_time"].values <= run.time[-1]).sum() == count
    )


def test_what_drives_a_piston_does_work_in_impacts() -> None:
    """Each rebound from it adds (v + 0.2)^2/2 - v^2/2 to the ball, in J."""
    run = simulate(
        between_walls(1.0), q=[0.3, 1.0], v=[1.0, 0.0], until=5.0, motion={"p": "1.0-0.1*t"}
    )
    assert run.v.values[-1, 0] == pytest.approx(rebounds(5.0)[1], rel=1e-12)
    assert run.work.values[-1] == pytest.approx(0.5 * run.v.values[-1, 0] ** 2 - 0.5, rel=1e-12)
    assert run.ledger.imbalance < 1e-12


def test_rebounds_that_die_out_are_no_storm(short_blocks: None) -> None:
    """They come ever faster, and have a limit: 2 v / g (1 + e) / (1 - e) / 2 for a ball that
    falls.
    """
    ball = Mechanism(
        "ball",
        (Body("ball", 1.0, (0, 0, 0), (0.01,) * 3),),
        (Joint("z", "prismatic", GROUND, "ball", axis=(0, 0, 1), lower=0.0),),
    )
    run = simulate(ball, q=[1.0], until=60.0, limits="stop", restitution=0.9, output=10.0)
    fall = np.sqrt(2.0 / 9.81)
    assert "rests on its lower stop" in run.data["event"].values[-1]
    assert run.data["event_time"].values[-1] == pytest.approx(
        fall * (1 + 0.9) / (1 - 0.9), rel=1e-9
    )
    steady = simulate(
        ball.with_(
            gravity=(0, 0, 0),
            joints=(
                Joint("z", "prismatic", GROUND, "ball", axis=(0, 0, 1), lower=0.0, upper=0.01),
            ),
        ),
        v=[1.0],
        until=0.995,
        limits="stop",
        restitution=1.0,
    )
    # many, but not ever faster
    assert len(steady.data["event_time"]) == 99 and steady.ledger.complete


def test_an_interruption_keeps_what_was_computed() -> None:
    def stop(t: float) -> None:
        if t > 500.0:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as told:
        simulate(zoo.pendulum(2), q=[0.5, 0.1], until=1e6, output=0.1, progress=stop)
    run = told.value.result
    whole = simulate(zoo.pendulum(2), q=[0.5, 0.1], until=20.0, output=0.1)
    assert (
        run.time[-1] > 400.0
        and run.ledger.outcome.startswith("interrupted at t = ")
        and not run.ledger.complete
    )
    assert "in this exception's `.result`" in told.value.__notes__[0]
    assert np.abs(run.q.values[:201] - whole.q.values).max() < 1e-6
