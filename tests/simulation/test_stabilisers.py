"""What stabilisers add to the equations of a mechanism whose loops stand open: their formulas, row
by row.
"""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import closed
import zoo
from catena.compiler.trace import Tracer
from catena.kernels.motion import BALL
from catena.kernels.tree import layout
from catena.model.mechanism import Joint, Mechanism, Mimic
from catena.simulation.terms.stabilisation import Baumgarte, Corrective


def geared() -> Mechanism:
    """A chain whose last joint follows the first, its tip held by a ball."""
    m = zoo.random_tree(27, ["revolute", "revolute", "ball", "revolute"], branching=0)
    last = zoo.replaced(m.joints[3], mimic=Mimic("revolute0", 2.0))
    return m.with_(joints=(*m.joints[:3], last), loops=(Joint("shut", "ball", "ground", "body3"),))


MECHANISMS = {
    "four_link": closed.four_link(),
    "spatial": closed.spatial_four_bar(),
    "geared": geared(),
}


@pytest.fixture(params=MECHANISMS)
def opened(request) -> tuple[Tracer, list[np.ndarray]]:
    """A tracer, and values q, v, tau at which no row is met."""
    s = Tracer(layout(MECHANISMS[request.param]))
    rng = np.random.default_rng(2)
    q, v, tau = (rng.standard_normal(x.numel()) for x in (s.q, s.v, s.tau))
    for k in [node.qi for node in s.layout.nodes if node.motion == BALL]:
        q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
    return s, [q, v, tau]


def values(s: Tracer, given: list[np.ndarray], *expressions: ca.SX) -> list[np.ndarray]:
    f = ca.Function("values", [s.q, s.v, s.tau], [ca.densify(x) for x in expressions])
    return [np.array(x).squeeze() for x in f.call(given)]


def test_baumgarte_pulls_as_a_damped_oscillator(opened) -> None:
    """A a = -2 alpha e' - beta^2 e where the rows are independent; its power is that of the
    multipliers along e'.
    """
    s, given = opened
    pull, power = Baumgarte(alpha=3.0, beta=7.0).pull(s)
    error, rate, _, A = s.constraint_rows()
    a, P, e, e1, J, M = values(s, given, pull, power, error, rate, A, s.mass_matrix())
    wanted = np.linalg.pinv(J @ np.linalg.solve(M, J.T), rcond=1e-9) @ (-2 * 3.0 * e1 - 7.0**2 * e)
    np.testing.assert_allclose(
        a, np.linalg.solve(M, J.T @ wanted), rtol=1e-6, atol=1e-6 * np.abs(a).max()
    )
    assert pytest.approx(given[1] @ M @ a, rel=1e-6) == P


def test_the_corrective_force_is_a_spring_and_a_damper_in_the_gap(opened) -> None:
    s, given = opened
    pull, power = Corrective(stiffness=5.0, damping=11.0).pull(s)
    error, rate, _, A = s.constraint_rows()
    a, P, e, e1, J, M = values(s, given, pull, power, error, rate, A, s.mass_matrix())
    f = -5.0 * e - 11.0 * e1
    np.testing.assert_allclose(M @ a, J.T @ f, rtol=1e-10, atol=1e-10 * np.abs(J.T @ f).max())
    assert pytest.approx(f @ e1, rel=1e-10) == P
