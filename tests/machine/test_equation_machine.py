"""A machine made of derived equations answers as the machine of the mechanism does."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import catena
from catena.errors import FormulationError

EXACT = [name for name in catena.ALL_FORMULATIONS if name != "penalty"]


@pytest.mark.parametrize("by", EXACT)
def test_compile_takes_equations_and_their_formulation(by):
    arm = catena.load("two_link_arm")
    machine = catena.compile(arm)
    derived = catena.compile(catena.derive(arm, by=by))
    rng = np.random.default_rng(0)
    q, v, tau = rng.standard_normal((3, 7, 2))
    push = {("tip", "world"): rng.standard_normal(6)}
    close = {"rtol": 1e-9, "atol": 1e-9}
    for p in (None, {"m2": np.linspace(1, 2, 7)}):
        np.testing.assert_allclose(
            derived.forward_dynamics(q, v, tau, push, p),
            machine.forward_dynamics(q, v, tau, push, p),
            **close,
        )
    np.testing.assert_allclose(
        catena.compile(arm, by=by).forward_dynamics(q[0], v[0], tau[0]),
        machine.forward_dynamics(q[0], v[0], tau[0]),
        **close,
    )
    assert by in repr(copy.deepcopy(derived))


def test_compile_refuses_a_formulation_that_does_not_exist():
    with pytest.raises(FormulationError, match="no formulation 'lagrnge'.*Did you mean 'lagrange'"):
        catena.compile(catena.load("two_link_arm"), by="lagrnge")
