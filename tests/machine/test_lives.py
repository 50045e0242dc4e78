"""The lives of a kernel against each other: the tape in lanes, generic code in lanes, each for one
state and for many, and plain symbols.
"""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import zoo
from catena.compiler import lanes
from catena.compiler.trace import Tracer
from catena.machine.machine import compile
from catena.model.joint_kinds import KINDS

MOVING = tuple(kind for kind in KINDS if kind != "fixed")


def tree(seed: int):
    """A random tree with every other kind of joint, in an order of its own; an odd and an even seed
    have all of them.
    """
    kinds = MOVING[seed % 2 :: 2]
    return zoo.random_tree(
        seed, [kinds[k] for k in np.random.default_rng(seed).permutation(len(kinds))]
    )


def close(found, wanted, accuracy: float = 1e-12) -> None:
    np.testing.assert_allclose(
        found, wanted, rtol=0.0, atol=accuracy * max(1.0, np.abs(wanted).max())
    )


@pytest.mark.parametrize("seed", [11, 12])
def test_all_lives_agree_on_trees_of_every_kind(seed: int) -> None:
    """RNEA, CRBA and ABA: the tape for many states, for one; generic for many, for one; and
    CasADi's own arithmetic.
    """
    m = tree(seed)
    tape = compile(m, life="lanes")
    generic = compile(m, life="generic")
    rng = np.random.default_rng(seed)
    q = tape.sample(rng, 5)
    v, a = rng.standard_normal((2, 5, tape.nv))
    s = Tracer(tape.layout, tape.snap)
    plain = ca.Function(
        "plain",
        [s.q, s.v, s.a, s.p],
        [ca.densify(s.inverse_dynamics()), ca.densify(s.mass_matrix())],
    )
    tau = tape.inverse_dynamics(q, v, a)
    M = tape.mass_matrix(q)
    for k in range(5):
        by_symbols = plain(q[k], v[k], a[k], np.zeros(0))
        close(np.array(by_symbols[0]).ravel(), tau[k])
        close(np.array(by_symbols[1]), M[k])
        for machine in (tape, generic):
            close(machine.inverse_dynamics(q[k], v[k], a[k]), tau[k])
            close(machine.mass_matrix(q[k]), M[k])
            close(machine.forward_dynamics(q[k], v[k], tau[k]), a[k], 1e-9)
    close(generic.inverse_dynamics(q, v, a), tau)
    close(generic.mass_matrix(q), M)
    close(generic.forward_dynamics(q, v, tau), tape.forward_dynamics(q, v, tau), 1e-10)


@pytest.mark.parametrize("life", ["lanes", "generic"])
def test_a_state_of_a_batch_is_the_same_to_the_bit_whoever_its_neighbours_are(
    life: str, monkeypatch
) -> None:
    """Also whichever lane it is in, and however many threads there are."""
    monkeypatch.setattr(lanes, "WORTH_A_THREAD", 100)
    m = tree(13)
    alone = compile(m, life=life, threads=1)
    shared = compile(m, life=life, threads=3)
    rng = np.random.default_rng(0)
    q = alone.sample(rng, 131)
    v, a = rng.standard_normal((2, 131, alone.nv))
    whole = alone.inverse_dynamics(q, v, a)
    tau = alone.forward_dynamics(q, v, whole)
    assert np.array_equal(shared.inverse_dynamics(q, v, a), whole) and np.array_equal(
        shared.forward_dynamics(q, v, whole), tau
    )
    for first, last in ((0, 1), (3, 4), (5, 22), (101, 131)):
        part = slice(first, last)
        assert np.array_equal(alone.inverse_dynamics(q[part], v[part], a[part]), whole[part])
        assert np.array_equal(
            alone.forward_dynamics(q[part][::-1], v[part][::-1], whole[part][::-1])[::-1], tau[part]
        )


def test_the_first_answer_is_the_later_one() -> None:
    """One state, asked again, and asked after a batch was: the same bits."""
    machine = compile(tree(11))
    rng = np.random.default_rng(4)
    q = machine.sample(rng, 20)
    v, a = rng.standard_normal((2, 20, machine.nv))
    first = machine.inverse_dynamics(q[0], v[0], a[0])
    many = machine.inverse_dynamics(q, v, a)
    assert all(np.array_equal(machine.inverse_dynamics(q[0], v[0], a[0]), first) for _ in range(3))
    close(many[0], first)
