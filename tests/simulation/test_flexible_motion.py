"""What flexible bodies by modes do: frequencies, spinning beams, and motion, beside closed forms
and finite segments.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import catena
import flexible
from catena import Beam, Body, Joint, Mechanism, Pose
from catena.errors import SimulationError
from catena.simulation.control import PD, ComputedTorque
from catena.simulation.trajectories import quintic

REFERENCE = json.loads(
    (Path(__file__).parents[1] / "reference" / "flexible_beams.json").read_text()
)
ROOTS = REFERENCE["beam_roots"]
HUB = REFERENCE["manipulator_hub_only"]

# Flapping frequencies of a uniform beam clamped at the axis it turns about, in units of sqrt(EI /
# rhoA L^4), over the speed of rotation in the same units: A. D. Wright, C. E. Smith, R. W. Thresher
# and J. L. C. Wang, Vibration modes of centrifugally stiffened beams, Journal of Applied Mechanics
# 49 (1982) 197-202, table 1.
FLAPPING = {
    1: (3.6817, 22.1810),
    2: (4.1373, 22.6149),
    5: (6.4495, 25.4461),
    10: (11.2023, 33.6404),
}


def beam(root="fixed", gravity=(0, 0, 0), L=1.0, rhoA=1.0, EI=(1.0, None), **more) -> Mechanism:
    """A beam on the ground."""
    return Mechanism(
        "beam",
        [Body("boom", flexible=Beam(L, rhoA, EI=EI, **more))],
        [Joint("root", root, "ground", "boom")],
        gravity=gravity,
    )


# --- small vibrations
@pytest.mark.parametrize("L, rhoA, EI", [(1.0, 1.0, 1.0), (4.0, 0.8, 900.0)])
def test_a_cantilever(L, rhoA, EI):
    """Exact: its shapes are the beam's own."""
    found = catena.modes(beam(L=L, rhoA=rhoA, EI=(EI, 2 * EI), modes=4)).frequencies
    unit = np.sqrt(EI / rhoA / L**4)
    exact = np.sort(np.outer(np.square(ROOTS["clamped_free"][:4]), [1, np.sqrt(2)]).ravel()) * unit
    np.testing.assert_allclose(found, exact, rtol=1e-10)


def test_a_pinned_beam():
    """With shapes of its own ends exact; with four of a cantilever's, which are clamped there, to
    5e-4 in the first two.
    """
    exact = np.square(ROOTS["clamped_pinned_or_pinned_free"])
    own = catena.modes(beam("revolute", modes=4, ends="pinned-free")).frequencies
    np.testing.assert_allclose(own[1:4], exact, rtol=1e-10)
    other = catena.modes(beam("revolute", modes=4)).frequencies
    np.testing.assert_allclose(other[1:3], exact[:2], rtol=5e-4)
    both = catena.modes(beam(modes=4, ends="pinned")).frequencies
    np.testing.assert_allclose(both, (np.pi * np.arange(1, 5)) ** 2, rtol=1e-10)


def test_stretching_and_twisting():
    m = beam(L=2.0, rhoA=0.5, EI=None, EA=300.0, GJ=4.0, rhoJ=0.02, modes={"x": 3, "twist": 3})
    k = np.pi / 2 / 2.0 * np.array([1, 3, 5])
    exact = np.sort([*(k * np.sqrt(300.0 / 0.5)), *(k * np.sqrt(4.0 / 0.02))])
    np.testing.assert_allclose(catena.modes(m).frequencies, exact, rtol=1e-10)


def test_an_arm_on_a_hub():
    """Four shapes of a cantilever on a hub that turns: 2e-7 in every frequency; more of them come
    closer, always from above.
    """
    exact = np.array(HUB["omega_rad_s"])
    ritz = np.array(HUB["ritz"])
    errors = [
        catena.modes(flexible.on_hub(modes=n)).frequencies[1 : n + 1] / exact[:n] - 1
        for n in (1, 2, 4)
    ]
    assert all((e > 0).all() for e in errors)
    assert errors[0] < 1e-3 and (errors[1] < 2e-5).all() and (errors[2] < 3e-7).all()
    np.testing.assert_allclose(
        catena.modes(flexible.on_hub(modes=4)).frequencies[1:5], ritz[:4], rtol=3e-7
    )


def test_damping_is_the_first_mode_s_ratio():
    m = beam(modes=3, damping=0.02)
    found = catena.modes(m)
    np.testing.assert_allclose(
        found.ratios, 0.02 * found.frequencies / found.frequencies[0], rtol=1e-10
    )
    poles = catena.linearize(m, np.zeros(3)).poles
    assert -poles[0].real / abs(poles[0]) == pytest.approx(0.02, rel=1e-9)


def test_the_rigid_limit():
    """A stiff beam swings as a rod does, sqrt(3 g / 2 L); what is left goes with 1/EI."""
    rod = np.sqrt(1.5 * 9.81)
    errors = []
    for EI in (1e3, 1e4, 1e5):
        m = Mechanism(
            "rod",
            [Body("boom", flexible=Beam(1.0, 1.0, EI=(EI, None), modes=3))],
            [Joint("pin", "revolute", "ground", "boom", Pose.turn("z", -np.pi / 2))],
            gravity=(0, -9.81, 0),
        )
        errors.append(catena.modes(m).frequencies[0] / rod - 1)
    np.testing.assert_allclose(np.array(errors[:-1]) / errors[1:], 10, rtol=1e-2)
    machine = catena.compile(m)
    assert machine.mass_matrix(np.zeros(4))[0, 0] == pytest.approx(1 / 3)
    assert machine.gravity(np.array([0.3, 0, 0, 0]))[0] == pytest.approx(9.81 / 2 * np.sin(0.3))


# --- spinning
def spinning(speed, EI, modes, **more) -> np.ndarray:
    """The poles of a beam whose hub is kept turning, speed in units of sqrt(EI / rhoA L^4)."""
    machine = catena.compile(beam("revolute", EI=EI, modes=modes, **more))
    v = np.zeros(machine.nv)
    v[0] = speed
    r_q, r_v, M = (x[1:, 1:] for x in machine.inverse_dynamics_derivatives(0 * v, v, 0 * v)[:3])
    n = len(M)
    return np.linalg.eigvals(
        np.block(
            [[np.zeros((n, n)), np.eye(n)], [-np.linalg.solve(M, r_q), -np.linalg.solve(M, r_v)]]
        )
    )


def frequencies(poles):
    assert np.abs(poles.real).max() < 1e-6
    return np.sort(poles.imag[poles.imag > 1e-6])


@pytest.mark.parametrize("speed", FLAPPING)
def test_a_spinning_beam_flaps_faster(speed):
    flap = frequencies(spinning(speed, (None, 1.0), 8))[:2]
    np.testing.assert_allclose(flap, FLAPPING[speed], rtol=1e-4)
    lag = frequencies(spinning(speed, (1.0, None), 8))[:2]  # in the plane of rotation: less speed^2
    np.testing.assert_allclose(lag, np.sqrt(np.square(FLAPPING[speed]) - speed**2), rtol=3e-4)


def test_southwell():
    """omega^2 = omega_0^2 + a speed^2 with the shape of rest: a = 1.193 of the first flapping
    shape.
    """
    squares = [frequencies(spinning(W, (None, 1.0), 1))[0] ** 2 for W in (0, 2, 4)]
    a = (squares[1] - squares[0]) / 4
    assert a == pytest.approx(1.193, abs=1e-3)
    assert squares[2] == pytest.approx(squares[0] + 16 * a, rel=1e-12)


def test_without_stiffening_a_spinning_beam_is_lost_above_its_first_frequency():
    """The classical error: omega^2 = omega_0^2 - speed^2."""
    first = ROOTS["clamped_free"][0] ** 2
    below = frequencies(spinning(0.9 * first, (1.0, None), 3, stiffening=False))[0]
    assert below == pytest.approx(first * np.sqrt(1 - 0.81), rel=1e-6)
    above = spinning(1.1 * first, (1.0, None), 3, stiffening=False)
    assert above.real.max() == pytest.approx(first * np.sqrt(0.21), rel=1e-6)
    assert np.abs(spinning(1.1 * first, (1.0, None), 3).real).max() < 1e-6


# --- motion
def pendulum(**more) -> Mechanism:
    boom = Body("boom", flexible=Beam(1.0, 0.5, EI=(3.0, None), **more))
    weight = Body("weight", 0.1, (0, 0, 0), (1e-4, 1e-4, 1e-4))
    joints = [
        Joint("pin", "revolute", "ground", "boom"),
        Joint("hook", "fixed", "boom", "weight", Pose(position=(1.0, 0, 0))),
    ]
    return Mechanism("pendulum", [boom, weight], joints, gravity=(0, -9.81, 0))


def test_modes_against_segments():
    """A flexible pendulum let go: the two ways show the same motion, the more alike the smaller it
    bends.
    """
    ways = {}
    for name, more in (("modes", {"modes": 4}), ("12", {"segments": 12}), ("24", {"segments": 24})):
        result = catena.simulate(pendulum(**more), until=0.6, output=0.1, tolerance=1e-8)
        assert result.ledger.relative_energy_balance < 1e-7
        ways[name] = result.machine.pose(result.q.values, "boom.tip")[:, :2, 3]
    finer = (4 * ways["24"] - ways["12"]) / 3  # segments converge with the square of their length
    assert np.abs(ways["modes"] - finer).max() < 2e-4
    slow = [
        catena.modes(pendulum(**more), [-np.pi / 2, *[0.0] * n]).frequencies[:3]
        for more, n in (
            ({"modes": 4, "ends": "pinned-free"}, 4),
            ({"segments": 12}, 12),
            ({"segments": 24}, 24),
        )
    ]
    # the shapes know nothing of the weight at the tip
    off = slow[0] / ((4 * slow[2] - slow[1]) / 3) - 1
    assert (np.abs(off) < [1e-5, 1e-3, 1e-2]).all()


def test_energy_in_every_formulation():
    m = flexible.planar()
    for by in ("recursive", "lagrange", "hamilton", "variational"):
        result = catena.simulate(m, until=0.3, by=by, output=0.1)
        assert result.ledger.relative_energy_balance < 1e-9, by


def test_the_hub_s_torque_for_a_given_turn():
    """Inverse dynamics of a flexible arm: the hub's motion is given, the shapes move freely, the
    torque comes out.
    """
    m = flexible.on_hub(modes=2)
    turn = quintic([0.0, 0.8], {"hub": [0.0, 1.0]})
    driven = catena.simulate(m, until=1.0, output=0.1, motion=turn)
    q, v, tau = (driven.data[name].values for name in ("q", "v", "tau"))
    np.testing.assert_allclose(q[:, 0], turn(driven.time)[0][:, 0], atol=1e-12)
    assert np.abs(tau[:, 1:]).max() < 1e-12 < np.abs(tau[:, 0]).max()
    assert np.abs(q[-1, 1:]).max() > 1e-3  # it goes on vibrating
    at = turn(0.4)[2][0]
    found, a = catena.hybrid_dynamics(m, q[4], v[4], motion={"hub": at})
    assert found[0] == pytest.approx(tau[4, 0], rel=1e-9)
    np.testing.assert_allclose(catena.compile(m).forward_dynamics(q[4], v[4], found), a, atol=1e-9)
    computed = catena.simulate(m, until=1.0, output=0.1, control=ComputedTorque(turn, 400.0, 40.0))
    np.testing.assert_allclose(computed.data["q"].values, q, atol=1e-6)


def test_pd_at_the_hub():
    """A hub held by a spring and a damper: the poles of the closed loop decide, and the run follows
    them.
    """
    m = flexible.on_hub(modes=3, damping=0.01)
    kp = 20.0
    kd = 2.0
    machine = catena.compile(m)
    A, B = catena.linearize(machine, np.zeros(4), actuated=["hub"])
    gains = np.zeros((1, 8))
    gains[0, [0, 4]] = kp, kd
    poles = np.linalg.eigvals(A - B @ gains)
    assert poles.real.max() < -0.1
    result = catena.simulate(
        m,
        q=[0.2, 0, 0, 0],
        until=3.0,
        output=0.5,
        control=PD({"hub": kp}, {"hub": kd}, {"hub": 0.0}),
    )
    assert np.abs(result.q.values[-1]).max() < 0.2 * np.exp(poles.real.max() * 3.0) * 5


def test_it_hangs_as_it_should():
    """A cantilever under its own weight: rhoA g L^4 / 8 EI at the tip, and rest found by
    `equilibrium`.
    """
    m = beam(gravity=(0, -1.0, 0), L=1.0, rhoA=0.01, EI=(1.0, None), modes=6)
    rest = catena.equilibrium(m, np.zeros(6))
    tip = catena.compile(m).pose(rest, "boom.tip")[1, 3]
    assert tip == pytest.approx(-0.01 / 8, rel=1e-4)


def test_strain_is_in_the_result_and_its_ledger():
    machine = catena.compile(catena.load("flexible_arm"))
    result = catena.simulate(machine, v=np.full(machine.nv, 0.1), until=0.2)  # turning and bending
    assert result.data["strain"].units == "J" and result.data["strain"].values.max() > 0
    assert result.ledger.strain == pytest.approx(result.data["strain"].values.max())
    assert "strain energy" in str(result.ledger)


@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit"])
def test_a_step_too_large_for_the_highest_mode_is_refused_with_both_numbers(integrator):
    arm = catena.load("flexible_arm")
    with pytest.raises(
        SimulationError, match=r"fastest mode has .* rad/s, and .* is stable up to .* s.*implicit"
    ):
        catena.simulate(arm, until=1.0, integrator=integrator, step=0.05)
    assert catena.simulate(arm, until=0.2, integrator="radau", tolerance=1e-5).complete
