"""Dry friction of joints while others are prescribed: what is free sticks and slips, against a
scalar integration of its own; what is driven has friction against its speed.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import catena
from catena.simulation import simulate
from catena.simulation import trajectories as T

from .test_prescribed import shaken

A, W, L, G = 0.1, 9.0, 0.5, 9.81
F_SLIDE, F_PIN = 2.0, 3.2


def rough(slide: float = F_SLIDE, pin: float = F_PIN):
    m = shaken((1, 0, 0))
    return m.with_(joints=tuple(replace(j, friction=(x,)) for j, x in zip(m.joints, (slide, pin))))


def scalar_events(f: float, until: float) -> tuple[list[float], np.ndarray]:
    """The pendulum of 1 kg alone: l^2 f'' = -g l sin f + l s'' cos f + r, |r| <= F_PIN. Return the
    times at which it begins to stick or to slip, and its last state.

    The moment without friction is l (s'' cos f - g sin f), for a support at s = A sin(w t).
    """

    def moment(t: float, f: float) -> float:
        return L * (-A * W**2 * np.sin(W * t) * np.cos(f) - G * np.sin(f))

    t, x, times, way = 0.0, np.array([f, 0.0]), [], 0.0
    way = np.sign(moment(t, f)) if abs(moment(t, f)) > F_PIN else 0.0
    while t < until:
        if way == 0.0:
            grid = np.linspace(t, until, 20001)[1:]
            over = np.flatnonzero(np.abs([moment(s, x[0]) for s in grid]) > F_PIN)
            if not len(over):
                break
            low, high = t if over[0] == 0 else grid[over[0] - 1], grid[over[0]]
            for _ in range(60):
                middle = 0.5 * (low + high)
                low, high = (low, middle) if abs(moment(middle, x[0])) > F_PIN else (middle, high)
            t, way = high, np.sign(moment(high, x[0]))
        else:
            stop = lambda s, y, d=way: d * y[1]  # noqa: E731
            stop.terminal, stop.direction = True, -1
            found = solve_ivp(
                lambda s, y, d=way: [y[1], (moment(s, y[0]) - F_PIN * d) / L**2],
                (t, until),
                x,
                "DOP853",
                rtol=1e-12,
                atol=1e-13,
                events=stop,
                max_step=0.01,
            )
            t, x = found.t[-1], found.y[:, -1]
            if found.status != 1:
                break
            x[1] = 0.0
            way = 0.0 if abs(moment(t, x[0])) <= F_PIN else np.sign(moment(t, x[0]))
            if way:
                continue  # it has turned round
        times.append(t)
    return times, x


def test_a_free_joint_sticks_and_slips_while_its_support_is_shaken() -> None:
    until = 2.0
    run = simulate(
        rough(),
        [0, 0.3],
        until=until,
        motion={"slide": T.sine({"slide": A}, W)},
        tolerance=1e-11,
    )
    times, x = scalar_events(0.3, until)
    found = np.asarray(run.data["event_time"])
    found = found[found > 0.0]  # it sticks from the start
    assert len(found) == len(times) >= 4
    assert np.abs(found - times).max() < 1e-6
    assert run.q.values[-1, 1] == pytest.approx(x[0], abs=1e-8)
    assert run.ledger.relative_energy_balance < 1e-7


def test_a_joint_that_sticks_while_another_moves_does_not_creep() -> None:
    run = simulate(rough(pin=50.0), [0, 0.3], until=3.0, motion={"slide": T.sine({"slide": A}, W)})
    assert (run.q.values[:, 1] == 0.3).all() and (run.v.values[:, 1] == 0.0).all()


def test_friction_of_a_driven_joint_is_against_its_speed() -> None:
    """It changes nothing but the force of the motor, by F sign(v) exactly."""
    motion = {"slide": T.sine({"slide": A}, W)}
    smooth, dry = (
        simulate(rough(x, 0.0), [0, 0.3], until=1.0, motion=motion, output=0.01)
        for x in (0.0, F_SLIDE)
    )
    assert np.abs(dry.q.values - smooth.q.values).max() < 1e-9
    more = dry.tau.values[:, 0] - smooth.tau.values[:, 0]
    moves = np.abs(dry.v.values[:, 0]) > 1e-9
    assert more[moves] == pytest.approx(F_SLIDE * np.sign(dry.v.values[moves, 0]), abs=1e-6)
    assert dry.ledger.relative_energy_balance < 1e-7


def test_everything_driven_has_friction_too() -> None:
    motion = {"slide": T.sine({"slide": A}, W), "pin": T.sine({"pin": 0.2}, 3.0)}
    run = simulate(rough(), [0, 0.0], until=0.4, motion=motion, output=0.01)
    still = simulate(rough(0.0, 0.0), [0, 0.0], until=0.4, motion=motion, output=0.01)
    more = run.tau.values - still.tau.values
    assert more[1:-1] == pytest.approx(np.sign(run.v.values[1:-1]) * [F_SLIDE, F_PIN], abs=1e-9)


def test_a_driven_loop_turns_round_against_its_friction() -> None:
    """A four-bar linkage whose crank is driven: no friction can hold the others, also where one
    turns round; the motor has the power of all of them.
    """
    m = catena.load("four_bar")
    dry = m.with_(joints=tuple(replace(j, friction=(0.3,)) for j in m.joints))
    q, _ = catena.assemble(m)
    crank = m.coordinate_names[0]
    motion = {crank: T.function({crank: f"{q[0]} + 3*t"}, [0.0, 2.5])}
    without, run = (simulate(x, q, until=2.5, output=0.05, motion=motion) for x in (m, dry))
    v = run.v.values
    assert (np.ptp(np.sign(v), axis=0) == [0.0, 2.0, 2.0]).any()  # others turn round
    more = run.tau.values[:, 0] - without.tau.values[:, 0]
    assert more == pytest.approx(0.3 * np.abs(v).sum(axis=1) / 3.0, abs=1e-6)
