"""Errors are judged beside a scale of each state: neither units nor the size of a motion decide how
well it is resolved.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.special import ellipj, ellipk

from catena import simulate
from catena.errors import SimulationError, StateError
from catena.model.loads import JointSpring
from catena.model.mechanism import GROUND, Body, Joint, Mechanism
from catena.model.pose import Pose
from catena.simulation.control import PID

G = 9.81


def rod(length: float, amount: float = 1.0) -> Mechanism:
    """A point mass on a rod of no mass."""
    return Mechanism(
        "rod",
        (Body("rod", amount, (0, 0, -length), (0, 0, 0)),),
        (Joint("pin", "revolute", GROUND, "rod", axis=(0, 1, 0)),),
    )


def swing(amplitude: float, rate: float, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """q and v of a pendulum released from rest, by elliptic functions."""
    k = np.sin(0.5 * amplitude)
    sn, cn, _, _ = ellipj(rate * t + ellipk(k * k), k * k)
    return 2.0 * np.arcsin(k * sn), 2.0 * k * rate * cn


def error(run: Any, amplitude: float, rate: float) -> float:
    """The largest error of a run beside its amplitude."""
    q, v = swing(amplitude, rate, run.time)
    return float(
        max(
            np.abs(run.q.values[:, 0] - q).max() / amplitude,
            np.abs(run.v.values[:, 0] - v).max() / (amplitude * rate),
        )
    )


# --- small motions
@pytest.mark.parametrize("integrator", ["dop853", "dopri5", "radau"])
@pytest.mark.parametrize(
    ("amplitude", "allowed"), [(1.0, 1e-9), (1e-3, 1e-9), (1e-6, 2e-8), (1e-9, 1e-5)]
)
def test_a_small_motion_is_resolved_beside_itself(
    amplitude: float, allowed: float, integrator: str
) -> None:
    rate = np.sqrt(G)
    run = simulate(
        rod(1.0), q=[amplitude], until=12 / rate, output=0.5 / rate, integrator=integrator
    )
    assert error(run, amplitude, rate) < allowed
    assert ("the motion is so small that rounding leaves" in run.ledger.verdict) is (
        amplitude == 1e-9
    )


def test_a_batch_is_judged_run_by_run() -> None:
    """A small motion beside a large one is what it is alone, to the last bit, and the ledger speaks
    of the smallest.
    """
    starts = np.array([[1.0], [1e-6], [1e-9], [0.0]])
    both = simulate(rod(1.0), q=starts, until=2.0)
    for k, q in enumerate(starts):
        assert (both.q.values[k] == simulate(rod(1.0), q=q, until=2.0).q.values).all()
    assert "so small" in both.ledger.verdict and both.ledger.met is None


def test_what_rests_takes_few_steps_and_calls_for_no_word() -> None:
    for q in (0.0, np.arcsin(0.5)):  # hanging; held by a spring to rounding
        m = rod(1.0).with_(loads=(JointSpring("spring", "pin", 50.0, q + G * np.sin(q) / 50.0),))
        run = simulate(m, q=[q], until=20.0)
        assert (
            run.ledger.steps < 400
            and run.ledger.verdict == ""
            and abs(run.q.values[-1, 0] - q) < 1e-14
        )


def test_a_tighter_run_knows_a_fall_out_of_rounding() -> None:
    """A rod that stands upright falls because pi is rounded, and by how much that is depends on
    rounding alone.
    """
    run = simulate(rod(1.0), q=[np.pi], until=5.0, verify=True)
    assert run.ledger.met is False and "so small" in run.ledger.verdict


def test_a_small_part_of_a_large_motion_does_not_choose_the_steps() -> None:
    """A stiff light part that hardly moves beside the rest costs no more than its stability asks: a
    tight tolerance is not put on it.
    """
    two = Mechanism(
        "two",
        (Body("cart", 1.0, (0, 0, 0), (0, 0, 0)), Body("tip", 1e-6, (0, 0, 0), (0, 0, 0))),
        (
            Joint("x", "prismatic", GROUND, "cart", axis=(1, 0, 0)),
            Joint(
                "y", "prismatic", "cart", "tip", axis=(1, 0, 0), placement=Pose(position=(1, 0, 0))
            ),
        ),
        loads=(JointSpring("soft", "x", 10.0, 0.0), JointSpring("stiff", "y", 1.0, 0.0)),
    )
    large = simulate(two, q=[1.0, 0.0], until=3.0)
    still = simulate(two, q=[1.0, 1e-12], until=3.0)
    assert still.ledger.steps < 1.2 * large.ledger.steps


# --- units
# m, kg, s become so many
UNITS = [
    (2.0**-10, 2.0**-10, 2.0**-10),
    (2.0**30, 2.0**-80, 2.0**15),
    (2.0**-30, 2.0**80, 2.0**-15),
]


def cart_pole(L: float, M: float, T: float) -> tuple[Mechanism, dict[str, Any]]:
    """A cart on a spring with damping, and a pole on it; a PID turns the pole."""
    force = M * L / T**2
    m = Mechanism(
        "cart pole",
        (
            Body("cart", 2 * M, (0, 0, 0), (0, 0, 0)),
            Body("pole", M, (0, 0, L / 2), (M * L**2 / 12, M * L**2 / 12, M * L**2 / 100)),
        ),
        (
            Joint(
                "x",
                "prismatic",
                GROUND,
                "cart",
                axis=(1, 0, 0),
                damping=0.3 * M / T,
                lower=-0.25 * L,
                upper=9 * L,
            ),
            Joint(
                "pin",
                "revolute",
                "cart",
                "pole",
                axis=(0, 1, 0),
                placement=Pose(position=(0, 0, L / 4)),
            ),
        ),
        gravity=(0, 0, -G * L / T**2),
        loads=(JointSpring("spring", "x", 5 * M / T**2, 0.0),),
    )
    pid = PID(
        kp={"pin": 30 * force * L},
        ki={"pin": 9 * force * L / T},
        kd={"pin": 3 * force * L * T},
        target={"pin": 0.0},
        anti_windup=False,
    )
    return m, {
        "q": [0.0, 0.3],
        "v": [L / T, 0.0],
        "control": pid,
        "limits": "stop",
        "restitution": 0.5,
    }


def free_box(L: float, M: float, T: float) -> tuple[Mechanism, dict[str, Any]]:
    """A box that is thrown and turns."""
    m = Mechanism(
        "box",
        (Body("box", M, (0, 0, 0), (2 * M * L**2, 3 * M * L**2, 4 * M * L**2)),),
        (Joint("free", "free", GROUND, "box"),),
        gravity=(0, 0, -G * L / T**2),
    )
    return m, {"q": [5 * L, 0, 0, 1, 0, 0, 0], "v": [L / T, 0, 3 * L / T, 0.1 / T, 4 / T, 0.1 / T]}


def point(L: float, M: float, T: float) -> tuple[Mechanism, dict[str, Any]]:
    """A point on a spring: nothing of it has a length."""
    m = Mechanism(
        "point",
        (Body("point", M, (0, 0, 0), (0, 0, 0)),),
        (Joint("x", "prismatic", GROUND, "point", axis=(1, 0, 0), damping=0.1 * M / T),),
        gravity=(0, 0, -G * L / T**2),
        loads=(JointSpring("spring", "x", 7 * M / T**2, 0.0),),
    )
    return m, {"q": [3e-7 * L]}


def double_pendulum(L: float, M: float, T: float) -> tuple[Mechanism, dict[str, Any]]:
    """Two rods, by any formulation."""
    rods = tuple(
        Body(name, M, (0, 0, -L / 2), (M * L**2 / 12, M * L**2 / 12, M * L**2 / 400))
        for name in ("upper", "lower")
    )
    joints = (
        Joint("a", "revolute", GROUND, "upper", axis=(0, 1, 0)),
        Joint(
            "b", "revolute", "upper", "lower", axis=(0, 1, 0), placement=Pose(position=(0, 0, -L))
        ),
    )
    return Mechanism("double pendulum", rods, joints, gravity=(0, 0, -G * L / T**2)), {
        "q": [0.4, -0.2]
    }


Case = Callable[[float, float, float], tuple[Mechanism, dict[str, Any]]]


@pytest.mark.parametrize(
    ("case", "more"),
    [
        (cart_pole, {}),
        (cart_pole, {"integrator": "radau", "tolerance": 1e-7}),
        (free_box, {}),
        (point, {}),
        (double_pendulum, {}),
        (double_pendulum, {"by": "hamilton"}),
        (double_pendulum, {"by": "newton_euler"}),
    ],
)
@pytest.mark.parametrize("units", UNITS)
def test_units_change_no_step(
    case: Case, more: dict[str, Any], units: tuple[float, float, float]
) -> None:
    """Units that are powers of two change exponents alone: steps, angles and events are the same to
    the last bit.
    """
    (m, asked), (scaled, theirs) = case(1.0, 1.0, 1.0), case(*units)
    run = simulate(m, until=2.0, output=0.25, **asked, **more)
    other = simulate(scaled, until=2.0 * units[2], output=0.25 * units[2], **theirs, **more)

    def cost(x):
        return (
            x.ledger.steps,
            x.ledger.rejected,
            x.ledger.evaluations,
            len(x.data.get("event_time", ())),
        )

    assert cost(run) == cost(other)
    size = np.array([units[0] if name == "m" else 1.0 for name in _units(m)])
    assert np.abs(other.q.values / size - run.q.values).max() <= 1e-12 * np.abs(run.q.values).max()


def _units(m: Mechanism) -> list[str]:
    from catena.model.freedom_units import coordinate_units

    return [u for j in m.moving for u in coordinate_units(j)]


@pytest.mark.parametrize("length", [1e-9, 1e-3, 1e6, 1e9])
@pytest.mark.parametrize("amount", [1e-24, 1e24])
def test_lengths_and_masses_change_no_accuracy(length: float, amount: float) -> None:
    for amplitude in (1.0, 1e-6):
        rate = np.sqrt(G / length)
        run, usual = (
            simulate(rod(size, m), q=[amplitude], until=12 / w, output=0.5 / w)
            for size, m, w in ((length, amount, rate), (1.0, 1.0, np.sqrt(G)))
        )
        assert (
            abs(run.ledger.steps - usual.ledger.steps) <= 1 and error(run, amplitude, rate) < 2e-8
        )


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
def test_a_start_outside_a_stop_is_told_whatever_the_unit(size: float) -> None:
    m = Mechanism(
        "block",
        (Body("block", 1.0, (0, 0, 0), (size**2,) * 3),),
        (Joint("z", "prismatic", GROUND, "block", axis=(0, 0, 1), lower=size),),
    )
    for q in ([0.999 * size], [[0.999 * size], [size]]):
        with pytest.raises(StateError, match="Start within the limits"):
            simulate(m, q=q, until=np.sqrt(size), limits="stop")
    assert simulate(m, q=[(1.0 - 2e-16) * size], until=np.sqrt(size), limits="stop").ledger.complete


@pytest.mark.parametrize(("start", "span"), [(0.0, 1.0), (0.0, 1e-12), (1e9, 1.0), (-1e9, 1.0)])
def test_equal_steps_meet_their_rows_whatever_the_time(start: float, span: float) -> None:
    """Late starts and short runs: rows are at the times asked for, or refused."""
    m = rod(G * span**2)
    asked = {
        "q": [0.5],
        "start": start,
        "until": start + span,
        "integrator": "rk4",
        "step": span / 400,
    }
    for parts in ([0.25, 0.5, 0.75, 1.0], [0.5, 0.6, 0.7, 0.8]):
        run = simulate(m, **asked, output=start + span * np.array(parts))
        q, _ = swing(0.5, 1 / span, run.time - start)
        assert np.abs(run.q.values[:, 0] - q).max() < 1e-9 + 4 * np.spacing(abs(start)) / span
    with pytest.raises(SimulationError, match="needs output times that are equally spaced"):
        simulate(m, **asked, output=start + span * np.array([0.1, 0.2, 0.3, 1.0]))


# --- to continue
def test_a_run_that_was_stopped_remembers_how_far_it_has_moved(tmp_path: Any) -> None:
    """The steps of a resumed run are those of one that was not stopped."""

    def broken(t: float) -> None:
        if t > 150:
            raise KeyboardInterrupt

    asked = {"q": [1e-5], "until": 400.0, "output": 0.02}
    whole = simulate(rod(1.0), **asked)
    with pytest.raises((KeyboardInterrupt, SimulationError)):
        simulate(rod(1.0), **asked, out=tmp_path / "run.nc", progress=broken)
    again = simulate(rod(1.0), **asked, out=tmp_path / "run.nc", resume=True)
    assert (again.q.values == whole.q.values).all() and again.ledger.steps == whole.ledger.steps
