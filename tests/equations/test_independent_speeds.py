"""Independent speeds chosen at every instant: the complement of rows in any units, loops and wheels
that go far, what pulls.
"""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import closed
from catena.compiler.trace import Tracer
from catena.equations.formulations import derive
from catena.equations.formulations._independent_speeds import complement, measures
from catena.kernels.tree import layout
from catena.machine.machine import compile
from catena.model.loads import SpeedRow
from catena.model.mechanism import GROUND, Body, Joint, Mimic
from catena.simulation import simulate
from catena.simulation.system.first_order import System
from catena.simulation.terms.stabilisation import Baumgarte


# --- rows as numbers
@pytest.mark.parametrize("row_unit, speed_unit", [(1.0, 1.0), (1e12, 1e-12), (1e-12, 1e12)])
def test_a_complement_in_any_units(row_unit, speed_unit):
    """J Z = 0, J z = g, and the force f = J' lambda gives lambda back, with one row and one speed
    in units far from the others'.
    """
    rng = np.random.default_rng(0)
    J = rng.standard_normal((3, 6))
    M = np.eye(6)
    J[1] *= row_unit
    J[:, 4] *= speed_unit  # a speed counted in other units: its inertia goes with the square
    M[4, 4] = speed_unit**2
    g = rng.standard_normal(3) * [1, row_unit, 1]
    lam = rng.standard_normal(3) / [1, row_unit, 1]
    symbols = ca.SX.sym("J", 3, 6)
    left = complement(symbols, J, measures(M[None]))
    f = ca.Function(
        "f",
        [symbols],
        [
            ca.densify(x)
            for x in (left.Z, left.particular(ca.SX(g)), left.multipliers(ca.SX(J.T @ lam)))
        ],
    )
    Z, z, found = (np.array(x) for x in f(J))
    assert np.linalg.matrix_rank(np.sqrt(M) @ Z) == 3
    assert np.all(np.abs(J @ Z) <= 1e-14 * np.abs(J) @ np.abs(Z) + 1e-300)
    np.testing.assert_allclose((J @ z).ravel(), g, rtol=1e-13)
    np.testing.assert_allclose(found.ravel(), lam, rtol=1e-12)


def test_a_speed_without_inertia_has_a_measure():
    np.testing.assert_allclose(measures(np.diag([4.0, 0.0, 100.0])[None]), [0.5, 0.5, 0.1])


def test_rows_that_repeat_others_here_and_not_there():
    """Three rows of rank two: at each of three places another two are parallel, and the third row
    is needed.
    """
    rng = np.random.default_rng(1)
    base = rng.standard_normal((2, 5))
    symbols = ca.SX.sym("J", 3, 5)
    mixes = [
        np.array(mix)
        for mix in ([[1, 0], [2, 0], [0, 1]], [[1, 0], [0, 1], [3, 0]], [[1, 1], [0, 1], [0, 2]])
    ]
    left = complement(symbols, mixes[0] @ base, np.ones(5), rank=2)
    for mix in mixes:
        J = mix @ base
        lam = rng.standard_normal(3)
        w = rng.standard_normal(5)
        given = [ca.SX(J @ w), ca.SX(J.T @ lam)]
        f = ca.Function(
            "f",
            [symbols],
            [
                ca.densify(x)
                for x in (left.Z, left.particular(given[0]), left.multipliers(given[1]))
            ],
        )
        Z, z, found = (np.array(x) for x in f(J))
        assert np.linalg.matrix_rank(Z) == 3 and np.abs(J @ Z).max() < 1e-13
        np.testing.assert_allclose((J @ z).ravel(), J @ w, atol=1e-13)
        np.testing.assert_allclose((J.T @ found).ravel(), J.T @ lam, atol=1e-13)


# --- places far away
@pytest.mark.parametrize("by", ["kane", "variational"])
def test_a_bicycle_may_head_anywhere(by):
    """Heading along x, y is determined by the wheels; along y, x is. No fixed choice serves
    both.
    """
    machine = compile(closed.bicycle())
    e = derive(closed.bicycle(), by)
    assert e.counts.largest_matrix == 3 and len(e.state_names) == 18
    for heading in np.linspace(0.0, np.pi, 9):  # with both axes on the way, exactly
        q = machine.neutral()
        q[2:7] = 0.31, heading, 0.1, -0.02, 0.3
        v = np.linalg.svd(machine.constraint_rows(q, np.zeros(9))[3])[2][6:].T @ [3.0, -2.0, 1.0]
        tau = np.linspace(-1, 1, 9)
        a = machine.forward_dynamics(q, v, tau)
        np.testing.assert_allclose(
            np.array(e.acceleration(0, q, v, tau, [])).ravel(),
            a,
            rtol=0,
            atol=1e-11 * np.abs(a).max(),
        )


def test_rows_of_time_are_taken():
    """A shaft that a road turns: v = cos(3 t). The state has all speeds, so that time may stand in
    the rows.
    """
    m = closed.four_link(closed=False).with_(
        nonholonomic=(SpeedRow("road", "v_joint1 - cos(3*t)"),)
    )
    machine, (q, v, tau) = compile(m), np.random.default_rng(5).standard_normal((3, 4))
    v[0] = np.cos(2.1)  # as the road has it
    a = machine.forward_dynamics(q, v, tau, t=0.7)
    assert a[0] == pytest.approx(-3 * np.sin(2.1), abs=1e-12)
    for by in ("kane", "variational"):
        np.testing.assert_allclose(
            np.array(derive(m, by).acceleration(0.7, q, v, tau, [])).ravel(), a, rtol=1e-9
        )


@pytest.mark.parametrize("scale", [1.0, 1e-12, 1e12])
def test_a_row_in_other_units_is_no_repetition(scale):
    """A gear of next to no inertia beside a loop, its row in any units: kept, and met."""
    m = closed.slider_crank()
    gear = Body("gear", 1e-3, (0, 0, 0), (1e-10,) * 3)
    m = m.with_(
        bodies=(*m.bodies, gear),
        joints=(*m.joints, Joint("spin", "revolute", GROUND, "gear")),
        nonholonomic=(SpeedRow("teeth", f"{scale!r}*(v_spin + 10*v_shaft)"),),
    )
    e = derive(m, "kane")
    s = Tracer(layout(m))
    rows = ca.Function("rows", [s.q, s.v], [ca.densify(x) for x in s.constraint_rows()[2:]])
    q, v = np.random.default_rng(3).standard_normal((2, s.layout.nv))
    a = np.array(e.acceleration(0, q, v, np.ones(s.layout.nv), [])).ravel()
    gamma, A = (np.array(x) for x in rows(q, v))
    assert e.counts.largest_matrix == 1
    np.testing.assert_allclose(
        A @ a, gamma.ravel(), rtol=0, atol=1e-12 * (np.abs(A) @ np.abs(a)).max()
    )
    assert a[-1] == pytest.approx(-10 * a[0], rel=1e-12)


def test_kane_follows_a_loop_that_moves_far():
    """The chain of seed 004 without losses: three seconds, in which every fixed choice of speeds
    becomes singular.
    """
    run, other = (
        simulate(closed.four_link(), until=3.0, output=0.1, by=by) for by in ("kane", "recursive")
    )
    assert run.ledger.relative_energy_balance < 1e-8 and run.ledger.closure < 1e-12
    assert np.abs(run.q.values - other.q.values).max() < 1e-6


# --- what pulls loops shut
@pytest.mark.parametrize("by", ["recursive", "kane"])
def test_baumgarte_pulls_as_it_says(by):
    """A a = gamma - 2 alpha e' - beta^2 e, off the loop, with alpha and beta that differ."""
    m, (q, v) = closed.four_link(), np.random.default_rng(1).standard_normal((2, 4))
    alpha, beta = 3.0, 7.0
    rate = System(m, by, stabilise=Baumgarte(alpha, beta)).derivative(
        0.0, [*q, *v, 0.0], np.zeros(4), []
    )
    error, speed, gamma, A = compile(m).constraint_rows(q, v)
    assert np.abs(error).min() > 0.1 and np.abs(speed).min() > 0.1
    np.testing.assert_allclose(
        A @ np.array(rate).ravel()[4:8], gamma - 2 * alpha * speed - beta**2 * error, rtol=1e-7
    )


@pytest.mark.parametrize(
    "row", [(), (SpeedRow("tie", "v_joint1 + 0.5*v_joint2"),)], ids=["loop", "loop and row"]
)
def test_rows_are_met_where_a_joint_mimics(row):
    """A a = gamma, by each of the ways that a traced mechanism is solved."""
    m = closed.four_link()
    last = replace(m.joints[-1], mimic=Mimic(m.joints[-2].name, 0.5))
    m = m.with_(joints=(*m.joints[:-1], last), loops=m.loops if not row else (), nonholonomic=row)
    s = Tracer(layout(m))
    _, _, gamma, A = s.constraint_rows()
    f = ca.Function("f", [s.t, s.q, s.v, s.tau], [A @ s.constrained()[0], gamma])
    found, wanted = f(0.0, *np.random.default_rng(2).standard_normal((3, s.layout.nv)))
    np.testing.assert_allclose(np.array(found), np.array(wanted), rtol=1e-7, atol=1e-9)
