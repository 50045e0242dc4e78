"""Dry friction of joints by time stepping: the boxed rows of the contact problem against the boxed
complementarity problem of runs with events, and whole runs against runs with events.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sympy as sp

import catena
from catena import Body, Joint, Mechanism, simulate
from catena.contact import boxed_forces
from catena.contact.problem import (
    CERTIFICATE,
    ContactAnswer,
    ContactProblem,
    ContactScratch,
    scratch_shapes,
)
from catena.contact.solvers.gauss_seidel import solve_contacts
from catena.contact.solvers.interior_point import interior
from touching import solo12, starts

from .test_friction_of_many_joints import rough

ORIGIN = (0.0, 0.0, 0.0)


def problem(
    W: np.ndarray, free: np.ndarray, limit: np.ndarray
) -> tuple[ContactProblem, ContactAnswer, ContactScratch]:
    """A problem of contacts of one row, whose last rows have these limits."""
    m = len(free)
    p = ContactProblem(
        np.zeros(m),
        free,
        free,
        W,
        np.zeros(m),
        np.zeros(m),
        np.zeros(m),
        np.zeros(0),
        np.zeros(0),
        np.zeros(len(CERTIFICATE)),
        np.array([1e-3]),
        limit=limit,
        thickness=np.full(m, np.inf),
    )
    a = ContactAnswer(
        np.zeros(m), np.zeros(m), np.zeros(m), np.zeros(len(CERTIFICATE)), np.zeros(1)
    )
    s = ContactScratch(*(np.zeros(x) for x in scratch_shapes(0, m, 0, boxed=len(limit))))
    return p, a, s


def random_problem(seed: int, m: int, boxed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    J = rng.standard_normal((m, m + 1)) * 10.0 ** rng.uniform(-1, 1, (m, 1))
    return J @ J.T, rng.standard_normal(m), 0.3 * rng.uniform(0.0, 1.0, boxed)


def expected(W: np.ndarray, free: np.ndarray, limit: np.ndarray) -> np.ndarray:
    """The impulses of the same problem by pivoting."""
    m, boxed = len(free), len(limit)
    low = np.concatenate([np.zeros(m - boxed), -limit])[None]
    high = np.concatenate([np.full(m - boxed, 1e300), limit])[None]
    return boxed_forces(W[None], free[None], low, high, np.full((1, m), 1e-13))[0][0]


@pytest.mark.parametrize("m, boxed", [(1, 1), (3, 3), (4, 2), (8, 8), (10, 6)])
def test_sweeps_find_what_pivoting_finds(m: int, boxed: int) -> None:
    for seed in range(4):
        W, free, limit = random_problem(seed, m, boxed)
        p, a, s = problem(W, free, limit)
        solve_contacts(p, a, s, 0, m, 0, 2000, 1e-13, boxed=boxed)
        assert pytest.approx(expected(W, free, limit), abs=1e-9) == a.P
        assert a.certificate[0] < 1e-12 and (np.abs(a.P[m - boxed :]) <= limit).all()


@pytest.mark.parametrize("m, boxed", [(1, 1), (4, 2), (8, 8), (10, 6)])
def test_the_interior_point_method_finds_what_pivoting_finds(m: int, boxed: int) -> None:
    for seed in range(4):
        W, free, limit = random_problem(seed, m, boxed)
        limit[0] *= seed > 0  # a joint whose friction is zero
        p, a, s = problem(W, free, limit)
        s.on[:], s.own[:, 0], s.mu[m - boxed :] = 1.0, np.diagonal(W), limit
        one = np.float64(1.0)
        busy = interior(p, a, s, 0, m, 0, 0, one, one, 1e-10, boxed)
        assert busy == 0.0
        assert pytest.approx(expected(W, free, limit), abs=1e-8) == a.P


@pytest.mark.parametrize("seed, joints", [(1, 2), (3, 8), (5, 20)])
def test_runs_converge_to_those_with_events_with_order_one(seed: int, joints: int) -> None:
    m = rough(seed, joints)
    v = np.random.default_rng(seed).normal(size=joints)
    exact = simulate(m, v=v, until=0.3, output=0.3).q.values[-1]
    errors = []
    for h in (1e-3, 2.5e-4):
        run = simulate(m, v=v, until=0.3, contact="time_stepping", step=h, output=0.3)
        assert run.ledger.contact.unconverged == 0 and run.ledger.contact.residual < 1e-8
        errors.append(np.abs(run.q.values[-1] - exact).max())
    assert errors[1] < 0.3 * errors[0] < 1e-3


def test_lanes_have_the_numbers_of_single_runs() -> None:
    m = rough(3, 8)
    v = np.random.default_rng(0).normal(size=(5, 8))
    options = {"until": 0.2, "contact": "time_stepping", "step": 1e-3, "output": 0.2}
    together = simulate(m, v=v, **options).q.values
    for k in range(5):
        # sums are rounded in another order
        assert np.abs(simulate(m, v=v[k], **options).q.values - together[k]).max() < 1e-12


def test_a_joint_that_sticks_does_not_move_at_all() -> None:
    m = rough(6, 20, friction=20.0)
    v = 0.3 * np.random.default_rng(6).normal(size=20)
    run = simulate(m, v=v, until=3.0, contact="time_stepping", step=1e-3)
    late = run.time > 1.5
    assert (run.v.values[late] == 0.0).all()
    assert (run.q.values[late] == run.q.values[-1]).all()


def test_friction_acts_on_a_stop_and_holds_on_a_slope() -> None:
    """A slide of 2 kg with 5 N of friction: it decelerates on the way to its stop, bounces, and
    friction holds it where it comes to rest; against the closed form.
    """
    slide = Joint("x", "prismatic", "ground", "b", axis=(1, 0, 0), upper=0.5, friction=(5.0,))
    m = Mechanism(
        "slide",
        (Body("b", 2.0, ORIGIN, (1, 1, 1)),),
        (slide,),
        gravity=(1.0, 0.0, -9.81),  # 2 N along the slide: less than friction
    )
    run = simulate(
        m,
        v=[2.0],
        until=2.0,
        contact="time_stepping",
        step=1e-4,
        limits="stop",
        restitution=0.5,
    )
    back = 0.5 * np.sqrt(2.0**2 - 2 * 1.5 * 0.5)  # decelerated by (5 - 2)/2
    assert run.q.values[-1, 0] == pytest.approx(0.5 - back**2 / (2 * 3.5), abs=1e-3)
    late = run.time > 1.5
    assert (run.v.values[late] == 0.0).all()


def test_friction_given_by_a_parameter_differs_between_lanes() -> None:
    m = Mechanism(
        "slide",
        (Body("b", 2.0, ORIGIN, (1, 1, 1)),),
        (Joint("x", "prismatic", "ground", "b", axis=(1, 0, 0), friction=(sp.Symbol("F"),)),),
        parameters={"F": 1.0},
    )
    F = np.array([[0.0], [1.0], [4.0]])
    run = simulate(
        m, v=[[1.0]] * 3, parameters=F, until=1.0, contact="time_stepping", step=1e-4, output=1.0
    )
    assert run.q.values[:, -1, 0] == pytest.approx([1.0, 0.75, 0.25], abs=2e-4)
    assert run.v.values[2, -1, 0] == 0.0


def test_solo12_stands_on_its_friction_without_creep() -> None:
    """Joints that friction alone holds, without servos, and feet that stick, after impacts that
    friction cannot hold against.
    """
    m = solo12()
    m = m.with_(
        joints=tuple(replace(j, friction=(8.0,)) if len(j.friction) == 1 else j for j in m.joints)
    )
    machine = catena.compile(m)
    q, _ = starts("solo12", machine, 3)
    run = simulate(
        machine, q, until=0.6, contact="time_stepping", step=1e-3, output=0.01, limits="stop"
    )
    legs = run.q.values[:, :, 7:]
    assert (legs[:, -1:] == legs[:, -10:]).all()
    assert run.ledger.contact.unconverged == 0
    assert run.contacts.force.values[:, -1, :, 2].sum(axis=-1) == pytest.approx(
        9.81 * sum(b.mass for b in m.bodies), rel=1e-3
    )
