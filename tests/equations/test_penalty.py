"""Springs for joints: the error falls as 1 / beta, the printed [Baysec1996] equations, a run at the
step it is made for, refusals.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import closed
import zoo
from catena.analysis.assembly import assemble
from catena.equations.equations import Equations
from catena.equations.formulations.penalty import penalty
from catena.errors import FormulationError, SingularError
from catena.formats import load
from catena.machine.machine import Machine, compile
from catena.model.loads import Force, JointSpring, Rolling, Spring
from catena.model.mechanism import GROUND, Body, Joint, Mechanism, Mimic
from linkages import triple_pendulum

CERTIFIED = zoo.certificate_set()
BETAS = (1e5, 1e8)


def states(machine: Machine, count: int = 100):
    rng = np.random.default_rng(1)
    return (
        machine.sample(rng, count),
        rng.normal(size=(count, machine.nv)),
        rng.normal(size=(count, machine.nv)),
    )


def deviation(e: Equations, q, v, tau, a) -> float:
    """The largest relative difference of accelerations over a batch of states."""
    found = np.array(
        [np.array(e.acceleration(0, *one, e.parameters)).ravel() for one in zip(q, v, tau)]
    )
    return float(np.max(np.abs(found - a).max(1) / np.abs(a).max(1)))


def slope(errors) -> float:
    return float(np.polyfit(np.log(BETAS), np.log(errors), 1)[0])


# --- the limit
@pytest.mark.parametrize("name", [name for name in CERTIFIED if name != "pendulum"])
def test_error_falls_as_one_over_beta(name: str) -> None:
    machine = compile(CERTIFIED[name])
    q, v, tau = states(machine, 20)
    a = machine.forward_dynamics(q, v, tau)
    errors = [deviation(penalty(CERTIFIED[name], beta=beta), q, v, tau, a) for beta in BETAS]
    assert abs(slope(errors) + 1.0) < 0.02
    assert errors[-1] < 2e-6


@pytest.mark.parametrize("name", CERTIFIED)
def test_the_error_it_states_bounds_the_one_it_makes(name: str) -> None:
    machine = compile(CERTIFIED[name])
    e = penalty(CERTIFIED[name])
    q, v, tau = states(machine)
    made = deviation(e, q, v, tau, machine.forward_dynamics(q, v, tau))
    assert made < e.error + 1e-13
    assert e.error < 0.05


def test_a_body_hinged_to_the_ground_is_exact() -> None:
    e = penalty(CERTIFIED["pendulum"])
    assert e.error < 1e-13 and e.counts.first_order == 2


def test_a_bob_that_swings_about_the_ground_is_given_no_inertia() -> None:
    """A point mass on a pivot feels m l^2 there: its run is exact too, not only its
    acceleration.
    """
    e = penalty(load("pendulum"))
    q = np.array([-0.5])
    v = np.array([-1.2])
    tau = np.array([0.7])
    p = e.parameters
    rates = np.array(e.derivative(0.0, e.encode(q, v, p), tau, p)).ravel()
    assert rates[1] == pytest.approx(0.7 + 9.81 * np.sin(0.5), rel=1e-14)


# --- [Baysec1996]
def test_counts_of_the_triple_pendulum() -> None:
    counts = penalty(CERTIFIED["triple_pendulum"]).counts
    assert counts.first_order == 14  # [Baysec1996], "Approximate dynamic formulation generated 14"
    assert counts.largest_matrix == 1  # (70)-(76) divide by numbers


def test_seed_001_equations_67_to_77() -> None:
    """(66)-(77) as corrected, off the constraints too; rows 3 and 4 of (67) counted from the bob
    before, not the ground.
    """
    m = triple_pendulum()
    rng = np.random.default_rng(0)
    beta = 321.0
    gamma = 0.04
    e = penalty(m, beta=beta, gamma=gamma)
    assert [n.split(".")[-1] for n in e.state_names[:7]] == [
        "theta1",
        "x",
        "y",
        "angle",
        "x",
        "y",
        "angle",
    ]
    for _ in range(20):
        p = rng.uniform(0.5, 2.0, size=len(e.parameters))
        values = dict(zip(m.parameters, p))
        (m1, m2, m3), (l1, l2, l3), (I1, I2, I3) = (
            [values[f"{letter}{i}"] for i in (1, 2, 3)] for letter in "mlI"
        )
        x = rng.normal(size=14)
        tau = rng.normal(size=3)
        g = values["g"]
        (th1, x2, y2, th2, x3, y3, th3), (w1, u2, v2, w2, u3, v3, w3) = x[:7], x[7:]
        s = np.sin([th1, th2, th3])
        c = np.cos([th1, th2, th3])
        f = np.array(
            [
                x2 - l1 * c[0] - l2 * c[1],
                y2 - l1 * s[0] - l2 * s[1],
                x3 - x2 - l3 * c[2],
                y3 - y2 - l3 * s[2],
            ]
        )
        J = np.array(
            [
                [l1 * s[0], l2 * s[1], 0, 1, 0, 0, 0],
                [-l1 * c[0], -l2 * c[1], 0, 0, 1, 0, 0],
                [0, 0, l3 * s[2], -1, 0, 1, 0],
                [0, 0, -l3 * c[2], 0, -1, 0, 1],
            ]
        )
        rate = J @ [w1, w2, w3, u2, v2, u3, v3]
        # (69)
        Q = np.array(
            [tau[0] - tau[1] - m1 * g * l1 * c[0], tau[1] - tau[2], tau[2], 0, -m2 * g, 0, -m3 * g]
        )
        inertia = np.array([I1 + m1 * l1**2, I2, I3, m2, m2, m3, m3])
        expected = (Q - beta * J.T @ (f + gamma * rate)) / inertia  # (22), (77)
        found = np.array(e.derivative(0, x, tau, p)).ravel()
        assert np.allclose(found[:7], x[7:])
        assert np.allclose(found[7:], expected[[0, 3, 4, 1, 5, 6, 2]], rtol=1e-10, atol=1e-10)


# --- a run
def final(e: Equations, q, step: float, until: float) -> np.ndarray:
    """q at the end of a run from rest by the classical Runge-Kutta method."""
    zero, p = np.zeros(len(q)), e.parameters
    x, f = (
        np.array(e.encode(q, zero, p)).ravel(),
        lambda x: np.array(e.derivative(0, x, zero, p)).ravel(),
    )
    for _ in range(round(until / step)):
        k1 = f(x)
        k2 = f(x + step / 2 * k1)
        k3 = f(x + step / 2 * k2)
        x = x + step / 6 * (k1 + 2 * k2 + 2 * k3 + f(x + step * k3))
    return np.array(e.decode(x, p)[0]).ravel()


def test_a_run_at_the_step_of_the_defaults_is_stable_and_its_error_falls_with_beta() -> None:
    from catena.equations.formulations.newton_euler import newton_euler

    m = zoo.pendulum(3)
    q = np.array([0.8, -0.5, 0.3])
    exact = final(newton_euler(m), q, 1e-3, 0.5)
    error = {}
    for step in (1e-3, 5e-4):  # the default beta goes with 1 / step^2
        error[step] = np.abs(final(penalty(m, step=step), q, step, 0.5) - exact).max()
    assert error[1e-3] < 1e-2
    assert 3.5 < error[1e-3] / error[5e-4] < 4.5


# --- more than trees
def loaded() -> Mechanism:
    coil = JointSpring("coil", "pin2", 3.0, 0.2, 0.5)
    spring = Spring("spring", GROUND, "rod3", 10.0, 1.0)
    return zoo.pendulum(3).with_(loads=(coil, spring, Force("jet", "rod2", force=(1, 0, "t"))))


def disc() -> Mechanism:
    body = Body("disc", 1.0, (0, 0, 0), (0.1, 0.2, 0.1))
    base = Joint("base", "free", GROUND, "disc")
    return Mechanism("disc", (body,), (base,), nonholonomic=(Rolling("rolls", "disc", 0.5),))


def rotor() -> Mechanism:
    m = zoo.arm(3)
    return m.with_(joints=(replace(m.joints[0], armature=0.3), *m.joints[1:]))


MORE = {f.__name__: f for f in (loaded, disc, rotor, closed.four_link, closed.spatial_four_bar)}


@pytest.mark.parametrize("name", MORE)
def test_more_than_trees(name: str) -> None:
    m = MORE[name]()
    rng = np.random.default_rng(5)
    machine = compile(m)
    guess = machine.neutral() + 0.5 * np.eye(machine.nq)[2] if name == "disc" else None
    q, v = assemble(m, guess, rng.normal(size=machine.nv))
    tau = rng.normal(size=machine.nv)
    a = machine.forward_dynamics(q, v, tau)
    errors = [deviation(penalty(m, beta=beta), [q], [v], [tau], np.array([a])) for beta in BETAS]
    assert abs(slope(errors) + 1.0) < 0.02


# --- ties and light links
def driven_rotor() -> Mechanism:
    m = zoo.arm(3)
    return m.with_(joints=(m.joints[0], replace(m.joints[1], armature=0.3), m.joints[2]))


def follower() -> Mechanism:
    m = zoo.arm(3)
    return m.with_(joints=(*m.joints[:2], replace(m.joints[2], mimic=Mimic("joint1", 1.7))))


@pytest.mark.parametrize("make", [driven_rotor, follower])
def test_rotors_and_followers_on_springs_run_with_an_error_that_falls_with_beta(make) -> None:
    """A rotor between two moving links, and a joint that follows another, have a slip of their own
    in the state.
    """
    from catena.equations.formulations.kane import kane

    m = make()
    q = np.array([0.8, -0.5, 0.3])[: len(m.coordinate_names)]
    exact = final(kane(m), q, 2e-3, 0.1)
    error = {}
    for step in (2e-3, 1e-3):
        e = penalty(m, step=step)
        error[step] = np.abs(final(e, q, step, 0.1) - exact).max()
    assert sum(n.endswith("slip") for n in e.state_names) == 1 and e.counts.largest_matrix == 3
    assert 3.5 < error[2e-3] / error[1e-3] < 4.5


def test_bobs_without_inertia_are_given_some_that_falls_with_the_step() -> None:
    """The built-in triple pendulum of [Baysec1996], whose (71) and (72) divide by I2 = I3 = 0."""
    from catena.equations.formulations.kane import kane

    m = triple_pendulum(inertia=False)
    q = np.array([0.8, -0.5, 0.3])
    exact = final(kane(m), q, 1e-3, 0.3)
    error = {}
    for step in (1e-3, 5e-4):
        e = penalty(m, step=step)
        error[step] = np.abs(final(e, q, step, 0.3) - exact).max()
    assert e.counts.first_order == 14 and e.counts.largest_matrix == 1
    assert error[5e-4] < 0.5 * error[1e-3] < 0.01


# --- refusals
def test_a_mechanism_in_which_something_moves_without_inertia_is_refused() -> None:
    light = Mechanism(
        "light",
        (Body("a", 0.0, (0, 0, 0), (0.0, 0.0, 0.0)),),
        (Joint("spin", "revolute", GROUND, "a"),),
    )
    with pytest.raises(
        SingularError,
        match=r"penalty: the mass matrix of 'light' is singular everywhere: no body resists 'spin'",
    ):
        penalty(light)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"beta": -1.0}, "beta is -1; it is a number above zero, N/m"),
        ({"beta": float("inf")}, "beta is inf"),
        ({"step": 0.0}, "step is 0"),
        ({"gamma": -0.1}, "gamma is -0.1; it is a number from zero up, s"),
    ],
)
def test_numbers_that_are_none(options: dict, message: str) -> None:
    with pytest.raises(FormulationError, match=message):
        penalty(zoo.pendulum(2), **options)
