"""Rows of loops: those that say nothing new are left out, and few speeds keep their shape."""

from __future__ import annotations

import numpy as np

import catena
import zoo
from catena import Joint, Mechanism, Pose


def test_a_loop_that_says_nothing_new_leaves_the_mechanism_as_it_is():
    """A planar joint on a chain that is planar already has no row that acts."""
    rng = np.random.default_rng(4)
    joints = [
        Joint("one", "revolute", "ground", "a"),
        Joint("two", "revolute", "a", "b", Pose(position=(1, 0, 0))),
    ]
    tree = Mechanism("m", [zoo.random_body(rng, n) for n in "ab"], joints)
    same = tree.with_(loops=[Joint("glass", "planar", "ground", "b")])
    q, v, tau = rng.standard_normal((3, 4, 2))
    wanted = catena.compile(tree).forward_dynamics(q, v, tau)
    for life in ("generic", "lanes"):
        machine = catena.compile(same, life=life)
        assert machine.rows == ()
        np.testing.assert_allclose(machine.forward_dynamics(q, v, tau), wanted)
        np.testing.assert_allclose(machine.forward_dynamics(q[0], v[0], tau[0]), wanted[0])
    np.testing.assert_allclose(
        catena.compile(catena.derive(same)).forward_dynamics(q, v, tau), wanted
    )


def test_one_speed_under_rows_keeps_the_matrix_a_matrix():
    rng = np.random.default_rng(5)
    rail = Mechanism(
        "rail",
        [zoo.random_body(rng, "a")],
        [Joint("slide", "prismatic", "ground", "a")],
        loops=[Joint("stop", "fixed", "ground", "a")],
    )
    for life in ("generic", "lanes"):
        machine = catena.compile(rail, life=life)
        for q in (np.zeros(1), np.zeros((4, 1))):
            *_, A = machine.constraint_rows(q, q)
            assert A.shape == (*q.shape[:-1], len(machine.rows), 1)
