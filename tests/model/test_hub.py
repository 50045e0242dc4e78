"""A hub: a body with inertia and without mass, wherever forces can still move it.

ground --shaft-- hub --elbow-- rod
"""

from __future__ import annotations

import numpy as np
import pytest

import catena
from catena import Body, Joint, Mechanism, Pose
from catena.equations.formulations import ALL_FORMULATIONS, derive
from catena.errors import SingularError, StateError
from catena.model.validation import doubts

HUB = Body("hub", 0, (0, 0, 0), (0.1, 0.1, 0.1))
ROD = Body("rod", 1, (0.5, 0, 0), (0.01, 0.1, 0.1))


def alone(kind: str) -> Mechanism:
    return Mechanism("hub", [HUB], [Joint("shaft", kind, "ground", "hub")])


def test_a_hub_with_a_rod():
    """Every formulation, beside M a = tau - bias of two turns about z written out; penalty in its
    limit.
    """
    elbow = Joint("elbow", "revolute", "hub", "rod", Pose(position=(0.2, 0, 0)))
    m = Mechanism(
        "hub and rod",
        [HUB, ROD],
        [Joint("shaft", "revolute", "ground", "hub"), elbow],
        gravity=(0, 0, 0),
    ).validate()
    assert not doubts(m)
    q = np.array([0.3, 0.7])
    v = np.array([0.4, -0.6])
    tau = np.array([1.0, 0.5])
    k = 0.2 * 0.5 * np.cos(q[1])
    J = 0.1 + 0.5**2
    M = np.array([[0.1 + 0.2**2 + J + 2 * k, J + k], [J + k, J]])
    s = 0.2 * 0.5 * np.sin(q[1])
    a = np.linalg.solve(M, tau - [-s * v[1] * (2 * v[0] + v[1]), s * v[0] ** 2])
    for by in ALL_FORMULATIONS:
        found = np.array(derive(m, by=by).acceleration(0, q, v, tau, [])).ravel()
        np.testing.assert_allclose(found, a, rtol=1e-4 if by == "penalty" else 1e-11, err_msg=by)


@pytest.mark.parametrize("kind, n", [("revolute", 1), ("ball", 3)])
def test_a_hub_alone_is_turned(kind, n):
    m = alone(kind).validate()
    assert not doubts(m)
    q = [1.0, 0, 0, 0] if kind == "ball" else [0.3]
    for by in ("recursive", "lagrange", "newton_euler"):
        found = np.array(derive(m, by=by).acceleration(0, q, np.zeros(n), np.ones(n), [])).ravel()
        np.testing.assert_allclose(found, 10.0, rtol=1e-12)


@pytest.mark.parametrize("kind", ["prismatic", "free", "planar"])
def test_a_hub_alone_cannot_be_pushed(kind):
    m = alone(kind).validate()
    (said,) = doubts(m)
    assert "joint 'shaft'" in said and "'hub'" in said and "no mass" in said
    for by in ("lagrange", "kane", "newton_euler", "variational"):
        with pytest.raises(SingularError, match="hub"):
            derive(m, by=by)


def test_no_mass_has_no_centre():
    with pytest.raises(StateError, match=r"momentum.*'hub'.*no mass.*no centre of mass"):
        catena.compile(alone("revolute")).momentum([0.3], [1.0])
