"""Impacts of open mechanisms: the small boxed problem against the general impact equations, and
robots of many freedoms on many stops.
"""

from __future__ import annotations

import numpy as np
import pytest

import catena
import zoo
from catena import Body, Joint, Mechanism, simulate
from catena.contact import boxed_forces, impact
from catena.machine import Metric
from catena.simulation.handlers.open_impact import open_impact
from catena.simulation.runners import diagnostics

pytestmark = pytest.mark.filterwarnings("ignore::catena.errors.MechanismWarning")


@pytest.mark.parametrize("seed", range(6))
def test_the_boxed_problem_solves_the_impact_equations(seed):
    """Speeds that stop, rebound or are pushed one way, with an applied impulse in every other case:
    the same speeds and the same work as by the active-set search over general rows.
    """
    rng = np.random.default_rng(seed)
    machine = catena.compile(zoo.random_tree(seed, ("revolute", "prismatic") * 5))
    q, v, n = machine.sample(rng), rng.standard_normal(machine.nv), machine.nv
    M = machine.mass_matrix(q)
    P = rng.standard_normal(n) if seed % 2 else None
    index = rng.permutation(n)[:8]
    side = rng.choice([-1.0, 0.0, 1.0], 8)
    to = np.where(side == 0.0, rng.standard_normal(8), 0.0)
    held = {int(k): (float(x), float(s)) for k, x, s in zip(index, to, side)}
    found = open_impact(np.linalg.inv(M), v, P, held)
    applied = np.zeros(n) if P is None else P
    B = np.eye(n)[index]
    dv, _, _ = impact(machine, M, B, to - v[index], applied, Metric(np.ones(n), np.ones(8)), side)
    np.testing.assert_allclose(found.after, v + dv, rtol=1e-9, atol=1e-9)
    kinetic = 0.5 * (found.after @ M @ found.after - v @ M @ v)
    assert found.work == pytest.approx(kinetic, rel=1e-9, abs=1e-9)
    pushes = side != 0.0
    assert (found.after[index][pushes] * side[pushes] >= -1e-9).all()


@pytest.mark.parametrize("seed", range(8))
def test_one_boxed_problem_is_solved_as_many_are(seed):
    rng = np.random.default_rng(seed)
    m = 1 + 2 * seed
    A, a0 = rng.standard_normal((m, m)), 3.0 * rng.standard_normal(m)
    W = A @ A.T + 0.1 * np.eye(m)
    kind = rng.integers(0, 4, m)  # friction, two stops, a lock
    low = np.choose(kind, [-0.5, 0.0, -np.inf, -np.inf])
    high = np.choose(kind, [0.5, np.inf, 0.0, np.inf])
    given = (W, a0, low, high, np.full(m, 1e-12))
    one, two = (boxed_forces(*(np.array([x] * n) for x in given)) for n in (1, 2))
    np.testing.assert_allclose(one[0][0], two[0][1], rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(one[1][0], two[1][1])


def chain(count: int, **joint) -> Mechanism:
    bodies = tuple(Body(f"link{k}", 1.0, (0.1, 0, 0), (1e-3, 1e-2, 1e-2)) for k in range(count))
    joints = tuple(
        Joint(
            f"pin{k}",
            "revolute",
            f"link{k - 1}" if k else "ground",
            f"link{k}",
            (0.2 if k else 0.0, 0, 0),
            axis=(0, 1, 0.1 * (k % 3)),
            lower=-0.4,
            upper=0.4,
            **joint,
        )
        for k in range(count)
    )
    return Mechanism("chain", bodies, joints)


@pytest.mark.parametrize("friction", [0.0, 0.3])
def test_ten_joints_on_their_stops(friction):
    """No joint leaves its range, energy balances, and the balance counts what the stops took; the
    same run in lanes, by the handler of many runs, ends in the same state.
    """
    m = chain(10, friction=friction, damping=0.05)
    rng = np.random.default_rng(3)
    v = rng.standard_normal(10)
    run = simulate(m, np.zeros(10), v, until=0.4, limits="stop")
    q = run.data["q"].values
    assert np.abs(q).max() <= 0.4 + 1e-12
    assert run.data["event"].size > 10
    assert run.ledger.relative_energy_balance < 1e-9
    both = simulate(m, np.zeros((2, 10)), np.array([v, v]), until=0.4, limits="stop")
    np.testing.assert_allclose(both.data["q"].values[:, -1], [q[-1]] * 2, atol=1e-9)


def gimbal(armature: float = 0.0) -> Mechanism:
    """A body on three massless rings; where the middle axis has turned by a quarter, the other two
    are in one line.
    """
    turn = {"armature": armature}
    joints = (
        Joint("z", "revolute", "ground", "ring", axis=(0, 0, 1), **turn),
        Joint("x", "revolute", "ring", "inner", axis=(1, 0, 0), **turn),
        Joint("y", "revolute", "inner", "rod", axis=(0, 1, 0), **turn),
    )
    rod = Body("rod", 1.0, (0.1, -0.3, 0.2), (2e-2, 3e-2, 4e-2))
    return Mechanism("gimbal", (Body.massless("ring"), Body.massless("inner"), rod), joints)


def test_joints_in_one_line_are_named_and_an_armature_is_offered():
    q, v = np.array([0.1, np.pi / 2 - 1e-6, 0.3]), np.zeros(3)
    said = diagnostics._condition(catena.compile(gimbal()), q, v, None, 0.0)
    assert (
        "move together" in said
        and "'z'" in said
        and "'y'" in said
        and "'x'" not in said
        and "armature" in said
    )
    assert not diagnostics._condition(catena.compile(gimbal(1e-3)), q, v, None, 0.0)


def test_a_run_is_hopeless_after_many_slices_without_progress_only():
    """2000 steps of a picosecond, of a run of 2 s with ten million steps allowed."""
    slowest, stuck = diagnostics.SlowestSlice(), (1.0, 1.0 + 2e-9, 2.0, 2000, 10**7)
    nine = [slowest.is_hopeless(*stuck) for _ in range(diagnostics.HOPELESS_SLICES - 1)]
    assert not any(nine)
    assert not slowest.is_hopeless(1.0, 1.0 + 2e-3, 2.0, 2000, 10**7)  # progress again
    again = [slowest.is_hopeless(*stuck) for _ in range(diagnostics.HOPELESS_SLICES)]
    assert again[-1] and not any(again[:-1])
