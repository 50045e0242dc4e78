"""Derivatives of the inverse dynamics in closed form, against those of the tape by automatic
differentiation.
"""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from catena.compiler.derivatives import _tangent, forward_dynamics_derivatives
from catena.compiler.symbols import matrix
from catena.compiler.trace import Tracer
from catena.kernels.dynamics_derivatives import inverse_dynamics_derivatives
from catena.kernels.tree import layout
from catena.machine import configurations as coordinates
from catena.machine.spec import Spec
from catena.model.joint_kinds import KINDS
from zoo import follower, random_tree

MOVING = [kind for kind in KINDS if kind != "fixed"]
TREES = {
    "every_kind": random_tree(3, [*MOVING[:5], "fixed", *MOVING[5:]]),
    "branches": random_tree(4, ["free", "revolute", "ball"] * 2),
    "mimic": follower(),
}


@pytest.mark.parametrize("name", TREES)
def test_closed_form_and_automatic_differentiation_agree(name):
    m = TREES[name]
    s, nv = Tracer(layout(m)), layout(m).nv
    found = [s.blank(nv, nv) for _ in range(3)]
    inverse_dynamics_derivatives(s.tree, s.Q, s.V, s.OWN[2], s.work(), *found)
    expected = (*_tangent(s, s.inverse_dynamics(), s.v), s.mass_matrix())
    both = ca.Function("both", [s.q, s.v, s.a], [*map(matrix, found), *expected])
    rng = np.random.default_rng(0)
    for _ in range(3):
        *ours, dq, dv, M = both(coordinates.sample(Spec(m), rng), *rng.standard_normal((2, nv)))
        for got, want in zip(ours, (dq, dv, M)):
            np.testing.assert_allclose(
                np.array(got), np.array(want), rtol=0, atol=1e-12 * np.abs(np.array(want)).max()
            )


@pytest.mark.parametrize("name", TREES)
def test_the_inverse_by_branches_undoes_the_mass_matrix(name):
    """d a / d tau = M^-1 and d a / d v = -M^-1 d tau / d v at the acceleration of tau."""
    m = TREES[name]
    s, nv = Tracer(layout(m)), layout(m).nv
    forward = ca.Function(
        "forward",
        [s.q, s.v, s.tau],
        [*forward_dynamics_derivatives(s), s.forward_dynamics(), s.mass_matrix()],
    )
    inverse = ca.Function("inverse", [s.q, s.v, s.a], _tangent(s, s.inverse_dynamics(), s.v))
    rng = np.random.default_rng(1)
    q, v, tau = coordinates.sample(Spec(m), rng), *rng.standard_normal((2, nv))
    *found, a, M = (np.array(x) for x in forward(q, v, tau))
    expected = [*(-np.linalg.solve(M, np.array(x)) for x in inverse(q, v, a)), np.linalg.inv(M)]
    for got, want in zip(found, expected):
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-10 * np.abs(want).max())
