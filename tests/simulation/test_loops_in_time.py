"""Loops over time: benchmark motions to their end, closure over many steps, the three ways to keep
loops closed, bad starts.
"""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.special import ellipk

import closed
from catena.analysis.assembly import assemble
from catena.errors import ClosureError, SimulationError
from catena.machine.machine import Machine
from catena.model.loads import SpeedRow, Spring
from catena.model.mechanism import GROUND, Body, Frame, Joint, Mechanism
from catena.simulation import simulate
from catena.simulation.terms.stabilisation import Baumgarte, Corrective


def reference(name: str) -> dict:
    return json.loads((closed.MOTIONS / name).read_text())


# --- benchmarks
def test_iftomm_a01_pendulum() -> None:
    """A bob of 1 kg on a massless bar of 1 m, from the horizontal: ten seconds, more than four
    swings.
    """
    m = Mechanism(
        "A01",
        (Body("bob", 1.0, (1, 0, 0), (0, 0, 0)),),
        (Joint("pin", "revolute", GROUND, "bob"),),
        gravity=(0, -9.81, 0),
    )
    known = reference("A01_A02_N2.json")["A01"]
    run = simulate(m, [np.pi], until=10.0, output=known["t"][1:])
    q = run.q.values[:, 0]
    v = run.v.values[:, 0]
    found = np.stack([np.cos(q), np.sin(q), -v * np.sin(q), v * np.cos(q)], axis=1)
    assert np.abs(found - known["x_y_vx_vy"]).max() < 1e-8
    period = 4 * ellipk(np.sin(np.pi / 4) ** 2) / np.sqrt(9.81)
    assert abs(period - known["period"]) < 1e-12


@pytest.mark.parametrize(("tolerance", "error"), [(1e-6, 1e-3), (1e-9, 1e-6)])
def test_iftomm_a02_passes_its_singular_configurations(tolerance: float, error: float) -> None:
    """Two windows: each half turn all links lie in one line, and branches of motion meet; the
    parallel one is kept.
    """
    machine = Machine(closed.windows(2))
    known = reference("A01_A02_N2.json")["A02_N2"]
    start = [-1.0 if name.startswith("A") else 1.0 for name in machine.speed_names]
    run = simulate(machine, v=start, until=10.0, output=known["t"][1:], tolerance=tolerance)
    q, v = run.q.values, run.v.values
    posts = [k for k, name in enumerate(machine.speed_names) if name.startswith("A")]
    assert np.abs(q[:, posts] - q[:, :1]).max() < error  # all posts stay parallel
    assert np.ptp(q[:, 0]) > 2 * np.pi  # whole turns, through both singular places
    found = np.stack(
        [-np.sin(q[:, 0]), np.cos(q[:, 0]), -v[:, 0] * np.cos(q[:, 0]), -v[:, 0] * np.sin(q[:, 0])],
        axis=1,
    )
    assert np.abs(found - known["B0_x_y_vx_vy"]).max() < error
    assert run.ledger.closure < 1e-12


def test_iftomm_a04_bricard() -> None:
    """Overconstrained: five rows, of which four say something, and still one freedom."""
    known = reference("A04_bricard.json")
    run = simulate(closed.bricard(), until=10.0, output=known["t"][1:])
    assert np.abs(run.q.values - known["q"]).max() < 1e-7
    assert np.abs(run.v.values - known["qd"]).max() < 1e-7
    assert abs(run.energy.values[0] - known["energy0"]) < 1e-12
    assert run.ledger.closure < 1e-13 and run.ledger.relative_energy_balance < 1e-7


def car_axis() -> Mechanism:
    """The car axis of the IVP test set, index 3: an axle turned by a bumpy road carries two masses
    on stiff springs.

              r = right mass
    l ------- |         l slides across the axle at its left end, r hangs on a bar of 1 m at l;
    | spring  | spring
            springs of 1e4 N/m and 0.5 m lead to the axle's ends. The axle's far end follows
    o=========o         y = 0.1 sin(10 t), as a row of speeds.
    """
    angle_rate = "10 * 0.1 * cos(10 * t) / sqrt(1 - (0.1 * sin(10 * t))^2)"
    return Mechanism(
        "car_axis",
        (
            Body.massless("axle"),
            Body("left", 5.0, (0, 0, 0), (0, 0, 0)),
            Body("right", 5.0, (1, 0, 0), (0, 0, 0)),
        ),
        (
            Joint("tilt", "revolute", GROUND, "axle"),
            Joint("rise", "prismatic", "axle", "left", axis=(0, 1, 0)),
            Joint("sway", "revolute", "left", "right"),
        ),
        (Frame("wheel", "axle", closed.at(1.0)), Frame("hub", "right", closed.at(1.0))),
        gravity=(0, -1, 0),
        loads=(Spring("front", GROUND, "left", 1e4, 0.5), Spring("rear", "wheel", "hub", 1e4, 0.5)),
        nonholonomic=(SpeedRow("road", f"v_tilt - {angle_rate}"),),
    )


def test_ivp_car_axis() -> None:
    known = reference("ivp_car_axis.json")
    machine = Machine(car_axis())
    start = np.array(known["p_v"][0])
    # xl = 0, yl = 0.5, xr = 1, yr = 0.5; velocities (-0.5, 0, -0.5, 0): the axle turns at 1 rad/s,
    # the bar against it
    run = simulate(
        machine, [0.0, 0.5, 0.0], [1.0, 0.0, -1.0], 3.0, output=known["t"][1:], tolerance=1e-11
    )
    q, v = run.q.values, run.v.values
    left = machine.pose(q, "left")[:, :2, 3]
    right = machine.pose(q, "hub")[:, :2, 3]
    speeds = [machine.frame_velocity(q, v, name, "world")[:, 3:5] for name in ("left", "hub")]
    found = np.concatenate([left, right, *speeds], axis=1)
    assert np.abs(found[0] - start).max() < 1e-12
    assert np.abs(found - known["p_v"]).max() < 1e-8
    assert np.abs(found[-1] - known["published_end_t3"][:8]).max() < 1e-9
    assert run.ledger.relative_energy_balance < 1e-6  # the road's work is counted


def test_seed_004_four_link_closed_chain() -> None:
    known = np.load(closed.MOTIONS / "merwe1995_fourlink_closed.npz")
    machine = Machine(closed.damped_four_link())
    run = simulate(machine, until=10.0, output=known["t"][1:])
    assert np.abs(run.q.values - known["q"]).max() < 1e-8
    assert np.abs(run.v.values - known["qd"]).max() < 1e-7
    assert run.q.values[-1] == pytest.approx(
        [1.5634173304, -2.9961163363, 1.3861199809, -1.6153857099], abs=1e-8
    )
    assert [label for _, label in machine.rows] == ["displacement x", "displacement z"]
    tip = -run.multipliers().values  # on the environment
    assert np.abs(tip - known["tip_force_on_environment_xz"]).max() < 1e-5
    assert np.abs(tip).max() == pytest.approx(228.85, abs=0.005) and run.time[
        np.abs(tip).max(axis=1).argmax()
    ] == pytest.approx(1.30)
    assert run.ledger.relative_energy_balance < 1e-9


# --- staying closed
@pytest.mark.parametrize("integrator", ["semi_implicit", "rk4", "midpoint"])
def test_loops_stay_closed_for_a_hundred_thousand_steps(integrator: str) -> None:
    run = simulate(
        closed.damped_four_link(), until=100.0, integrator=integrator, step=0.001, output=1.0
    )
    assert run.ledger.steps == 100_000
    assert run.ledger.closure < 1e-9


def test_projection_keeps_a_spatial_loop_with_balls() -> None:
    machine = Machine(closed.spatial_four_bar())
    q, v = assemble(machine, v=[2.0, *[0.0] * (machine.nv - 1)])
    run = simulate(machine, q, v, until=20.0)
    assert run.ledger.closure < 1e-12 and run.ledger.quaternion < 1e-14
    assert run.ledger.relative_energy_balance < 1e-8


@pytest.mark.parametrize(
    "stabilise",
    ["project", "baumgarte", "corrective", None, Baumgarte(50.0, 50.0), Corrective(600.0, 400.0)],
)
def test_every_stabiliser_gives_the_same_motion(stabilise: object) -> None:
    known = np.load(closed.MOTIONS / "merwe1995_fourlink_closed.npz")
    run = simulate(closed.damped_four_link(), until=2.0, output=0.02, stabilise=stabilise)
    assert np.abs(run.q.values - known["q"][:101]).max() < 1e-8
    assert run.ledger.closure < (1e-13 if stabilise == "project" else 1e-7)
    assert run.ledger.relative_energy_balance < 1e-8  # what a stabiliser does is in the balance


def euler_drift(stabilise: object) -> np.ndarray:
    """How far the tip of seed 004's chain is from its pin, with the integration of its section
    5.5.5: Euler, 1 ms.
    """
    run = simulate(
        closed.damped_four_link(),
        until=4.0,
        output=0.05,
        integrator="semi_implicit",
        step=0.001,
        stabilise=stabilise,
    )
    return np.linalg.norm(run.closure.values, axis=1)


def test_seed_004_corrective_force_holds_the_drift_of_a_simple_integrator() -> None:
    """Figures 5.8 and 5.9: with 60 N/m and 40 N s/m the tip wanders less; Baumgarte and projection
    hold it tighter.
    """
    left, corrected, pulled, projected = (
        euler_drift(s) for s in (None, "corrective", "baumgarte", "project")
    )
    assert corrected[-1] < 0.2 * left[-1]
    assert pulled.max() < 0.5 * left.max()
    assert projected.max() < 1e-9


def test_a_loop_that_starts_slightly_open_is_closed() -> None:
    """Six digits, as a person types them."""
    run = simulate(closed.damped_four_link(), [0.0, 4e-7, 0.0, 0.0], until=0.1)
    assert np.abs(run.closure.values[1:]).max() < 1e-12


# --- bad input
def test_a_start_that_leaves_a_loop_open_names_it() -> None:
    with pytest.raises(
        ClosureError, match=r"at the start: loop 'tip' .*stays open by 0\.\d+ m .*catena\.assemble"
    ) as caught:
        simulate(closed.damped_four_link(), [0.1, 0.0, 0.0, 0.0])
    assert caught.value.gaps["tip"] > 0.1
    with pytest.raises(ClosureError, match=r"loop 'tip' .* is torn open at \d"):
        simulate(closed.damped_four_link(), v=[1.0, 0.0, 0.0, 0.0])


def test_stabilisers_that_cannot_be() -> None:
    with pytest.raises(
        SimulationError, match=r"no stabiliser 'baumgart'.*Did you mean 'baumgarte'"
    ):
        simulate(closed.damped_four_link(), stabilise="baumgart")
    with pytest.raises(
        SimulationError,
        match=(
            r"'baumgarte' adds to accelerations, and the state of these equations by 'newton_euler'"
            r" is not \(q, v\); take one of"
        ),
    ):
        simulate(closed.damped_four_link(), by="newton_euler", stabilise="baumgarte")


def test_newton_euler_is_kept_on_its_joints() -> None:
    """Bodies with their own poses drift from their joints; they are put back after every step."""
    run = simulate(closed.windows(1), v=[-1.0, 1.0, -1.0], until=3.0, by="newton_euler")
    other = simulate(closed.windows(1), v=[-1.0, 1.0, -1.0], until=3.0)
    assert run.ledger.closure < 1e-12
    # a body's pose does not count turns
    turns = np.round((run.q.values - other.q.values) / (2 * np.pi))
    assert np.abs(run.q.values - other.q.values - 2 * np.pi * turns).max() < 1e-7


def test_the_pose_of_a_closed_pin_does_not_move() -> None:
    machine = Machine(closed.damped_four_link())
    run = simulate(machine, until=5.0)
    tip = machine.pose(run.q.values, "end")[:, :3, 3]
    assert np.abs(tip - [2.0, 0.0, 3.0]).max() < 1e-13
