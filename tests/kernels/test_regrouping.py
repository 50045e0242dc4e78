"""Inertia moved towards the root: what acts along the freedoms does not change."""

from __future__ import annotations

import numpy as np
import pytest

from catena.compiler.symbols import Symbols
from catena.kernels import dynamics
from catena.kernels.motion import BALL, SLIDE, TURN
from catena.kernels.regrouping import regrouped
from catena.kernels.tree import layout
from catena.kernels.workspace import Work
from catena.model.expressions import parse
from catena.model.mechanism import Body, Joint, Mechanism
from zoo import MOVING, follower, random_tree

TREES = {
    "every_kind": random_tree(3, MOVING),
    "branches": random_tree(4, ["free", "revolute", "ball"] * 2),
    "mimic": follower(),
}


def forces(tree, q, v, a):
    """tau and M of one state, by the kernels with plain numbers."""
    n = len(tree.parent)
    nv = len(tree.armature)
    tau = np.zeros(nv)
    M = np.zeros((nv, nv))
    dynamics.inverse_dynamics(tree, q, v, a, np.zeros((n, 6)), Work.empty(n), tau)
    dynamics.mass_matrix(tree, q, Work.empty(n), M)
    return tau, M


@pytest.mark.parametrize("name", TREES)
def test_forces_along_the_freedoms_and_the_mass_matrix_stay(name):
    made = layout(TREES[name])
    tree = made.tree()
    rng = np.random.default_rng(5)
    for _ in range(3):
        state = made.sample(rng), *rng.standard_normal((2, made.nv))
        for found, wanted in zip(forces(regrouped(tree), *state), forces(tree, *state)):
            np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-13 * np.abs(wanted).max())


@pytest.mark.parametrize("name", TREES)
def test_what_a_node_keeps(name):
    """Seven numbers of a turn, four of a slide, nine of a ball."""
    tree = regrouped(layout(TREES[name]).tree())
    turns, slides, balls = (tree.motion == kind for kind in (TURN, SLIDE, BALL))
    assert (
        not tree.mass[turns | balls].any()
        and not tree.h[turns, 2].any()
        and not tree.J[turns, 5].any()
    )
    assert not tree.J[slides].any()


def test_symbols_stay_where_they_are():
    """A mass that is a parameter is left to its own node, so that its name stays in what people
    read.
    """
    rod = Body("rod", parse("m", {"m"}), (0.5, 0.0, 0.0), (0.1, 0.1, 0.1))
    m = Mechanism(
        "rod",
        (rod,),
        (Joint("hinge", "revolute", "ground", "rod", axis=(0, 1, 0)),),
        parameters={"m": 2.0},
    )
    tree = Symbols(layout(m)).tree
    assert regrouped(tree) is tree
