"""gibbs_appell: the Gibbs function itself, Euler's equations from it, and the wrenches that
releases bring into evidence.
"""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import closed
import zoo
from catena.certify.certificate import random_states
from catena.equations.formulations.gibbs_appell import gibbs_appell
from catena.errors import SingularError
from catena.machine.machine import compile
from catena.machine.reactions import reactions
from catena.model.loads import KnifeEdge
from catena.model.mechanism import Body, Joint, Mechanism


def test_the_slope_of_the_gibbs_function_is_the_force_of_the_motion():
    m = zoo.random_tree(10, ["revolute", "ball", "prismatic", "universal"])
    e = gibbs_appell(m)
    machine = compile(m)
    rng = np.random.default_rng(0)
    q, v, a = machine.sample(rng, 1)[0], *rng.standard_normal((2, machine.nv))
    S = e.extra["gibbs_function"]
    x = ca.SX.sym("a", machine.nv)
    slope = ca.Function("slope", [x], [ca.gradient(S(q, v, x, []), x)])
    np.testing.assert_allclose(
        np.array(slope(a)).ravel(), machine.inverse_dynamics(q, v, a), rtol=1e-11, atol=1e-11
    )


def test_quasi_accelerations_of_a_ball_give_eulers_equations():
    """I w' + w x I w = tau, of a body on its centre of mass: no bracket is written, dS/da has
    it.
    """
    I = np.array([0.3, 0.5, 0.7])
    m = Mechanism(
        "top", [Body("b", 1.0, (0, 0, 0), tuple(I))], [Joint("pivot", "ball", "ground", "b")]
    ).validate()
    w = np.array([1.0, -2.0, 0.5])
    tau = np.array([0.1, 0.2, -0.4])
    found = np.array(gibbs_appell(m).acceleration(0, [1, 0, 0, 0], w, tau, [])).ravel()
    np.testing.assert_allclose(found, (tau - np.cross(w, I * w)) / I, rtol=1e-13)


def test_the_gibbs_function_of_a_pendulum():
    """S = 1/2 (I + m l^2) a^2 + m g l sin(q) a + what has no acceleration, about y with z up and
    the bob below.
    """
    m = Mechanism(
        "bob",
        [Body("bob", 2.0, (0, 0, -0.5), (0.1, 0.1, 0.1))],
        [Joint("pin", "revolute", "ground", "bob", axis=(0, 1, 0))],
    )
    S = gibbs_appell(m.validate()).extra["gibbs_function"]
    at = lambda a: float(S([0.7], [1.3], [a], []))  # noqa: E731
    expected = lambda a: 0.5 * (0.1 + 2 * 0.25) * a**2 + 2 * 9.81 * 0.5 * np.sin(0.7) * a  # noqa: E731
    assert at(2.0) - at(0.0) == pytest.approx(expected(2.0), rel=1e-12)


def test_releases_of_a_closed_linkage_and_of_a_skate():
    """The wrenches of all joints beside those of the machine, which come from other passes."""
    chain = zoo.random_tree(1, ["free", "revolute", "revolute"], branching=0)
    for m in (
        closed.slider_crank(),
        chain.with_(nonholonomic=(KnifeEdge("skate", "body2", (0, 1, 0)),)),
    ):
        machine, e = compile(m), gibbs_appell(m)
        q, v, tau, p = (x[0] for x in random_states(machine, 1, 3))
        a = np.array(e.acceleration(0, q, v, tau, p)).ravel()
        expected = reactions(machine, q, v, a, tau)
        W = np.array(e.reactions(0, q, v, tau, p))
        for k, j in enumerate(m.ordered):
            known = np.isfinite(expected[j.name])
            assert np.abs(W[k] - expected[j.name])[known].max() < 1e-9 * np.abs(W).max(), j.name


def test_what_moves_nothing_is_refused_by_name():
    m = Mechanism(
        "empty",
        [Body("a", 0.0, (0, 0, 0), (0, 0, 0))],
        [Joint("slide", "prismatic", "ground", "a")],
    )
    with pytest.raises(SingularError, match="gibbs_appell.*'empty'.*'slide'"):
        gibbs_appell(m)
