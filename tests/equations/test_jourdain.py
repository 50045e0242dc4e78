"""jourdain: virtual power, agreement where virtual velocities are restricted, and the wrenches in
joints.
"""

from __future__ import annotations

import numpy as np
import pytest

import closed
import flexible
import zoo
from catena.certify.certificate import random_states
from catena.equations.formulations.jourdain import jourdain
from catena.machine.machine import compile
from catena.machine.reactions import reactions
from catena.model.flexible import discretise
from catena.model.loads import KnifeEdge

CHAIN = zoo.random_tree(1, ["revolute", "ball", "revolute"], branching=0)
CASES = {
    "tree": CHAIN,
    "follower": zoo.follower(),
    "slider_crank": closed.slider_crank(),
    "skate": (
        zoo.random_tree(6, ["free", "revolute"]).with_(
            nonholonomic=(KnifeEdge("skate", "body1", (0, 1, 0)),)
        )
    ),
    "boom": flexible.on_hub(modes=1),
}


@pytest.mark.parametrize("name", CASES)
def test_virtual_power(name):
    """delta v . (M a + bias - tau) = 0 for every virtual velocity that the rows allow; the wrenches
    are the machine's.
    """
    m = CASES[name]
    machine = compile(m)
    e = jourdain(discretise(m))
    q, v, tau, p = (x[0] for x in random_states(machine, 1, 5))
    a = np.array(e.acceleration(0, q, v, tau, p)).ravel()
    missing = machine.inverse_dynamics(q, v, a) - tau
    scale = np.abs(machine.inverse_dynamics(q, v, a)).max() + 1.0
    if machine.rows:
        A = machine.constraint_rows(q, v)[3]
        free = np.linalg.svd(A)[2][np.linalg.matrix_rank(A, tol=1e-9) :]
        assert np.abs(free @ missing).max(initial=0.0) < 1e-10 * scale
        lam = np.array(e.multipliers(0, q, v, tau, p)).ravel()
        np.testing.assert_allclose(A.T @ lam, missing, atol=1e-9 * scale)
    else:
        assert np.abs(missing).max() < 1e-10 * scale
    expected = reactions(machine, q, v, a, tau)
    W = np.array(e.reactions(0, q, v, tau, p))
    for k, j in enumerate(machine.mechanism.ordered):
        known = np.isfinite(expected[j.name])
        assert np.abs(W[k] - expected[j.name])[known].max(initial=0.0) < 1e-9 * np.abs(W).max(), (
            j.name
        )


def test_first_order_equations_and_the_largest_matrix():
    assert (jourdain(CHAIN).counts.first_order, jourdain(CHAIN).counts.largest_matrix) == (11, 5)
    assert jourdain(closed.slider_crank()).counts.largest_matrix == 1
