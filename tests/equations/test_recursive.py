"""The recursive formulation: its reactions are those of the machine, loops included."""

from __future__ import annotations

import numpy as np

import catena
import zoo
from catena.certify.certificate import random_states
from catena.equations.equations import Later
from catena.machine.reactions import reactions


def test_recursive_reactions_know_of_loops():
    mechanism = catena.load("four_bar")
    machine = catena.compile(mechanism)
    e = catena.derive(mechanism)
    q, v, tau, _ = random_states(machine, 3, 0)
    for k in range(3):
        found = np.array(e.reactions(0, q[k], v[k], tau[k], e.parameters))
        wanted = reactions(
            machine, q[k], v[k], machine.forward_dynamics(q[k], v[k], tau[k]), tau[k]
        )
        wanted = np.array([wanted[j.name] for j in mechanism.ordered])
        known = np.isfinite(wanted)
        np.testing.assert_allclose(found[known], wanted[known], rtol=1e-9, atol=1e-9)


def test_functions_are_traced_when_they_are_asked_for():
    """A simulation asks for accelerations; what it does not ask for costs nothing, and copies share
    what was made.
    """
    for by in ("recursive", "kane"):
        e = catena.derive(zoo.pendulum(2), by)
        assert (
            all(isinstance(vars(e)[f"_{name}"], Later) for name in ("derivative", "reactions"))
            and e.multipliers is None
        )
        found = e.reactions
        assert e.reactions is found and e.with_(error=0.5).reactions is found
        assert isinstance(vars(e)["_derivative"], Later) and e.derivative.size_out(0) == (4, 1)
