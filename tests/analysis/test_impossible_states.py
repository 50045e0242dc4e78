"""States that break their constraint rows are refused by every question, or projected where asked.

      B----------C          a four-bar; C closes the loop
     /            \
    A              D
"""

from __future__ import annotations

import numpy as np
import pytest

import catena
from catena import Body, Joint, Mechanism, Pose, analysis, compile
from catena.errors import ClosureError, StateError

TURN = {"axis": (0, 0, 1)}


def four_bar(length: float = 1.0, gravity: float = 9.81) -> Mechanism:
    """Links of 0.3, 0.8, 0.6 on a base of 0.9, times a length."""
    inertia = tuple(length**2 * x for x in (0.01, 0.02, 0.02))
    bodies = tuple(
        Body(n, 1.0, (0.1 * length, 0, 0), inertia) for n in ("crank", "coupler", "rocker")
    )
    joints = (
        Joint("A", "revolute", "ground", "crank", **TURN),
        Joint("B", "revolute", "crank", "coupler", Pose(position=(0.3 * length, 0, 0)), **TURN),
        Joint("D", "revolute", "ground", "rocker", Pose(position=(0.9 * length, 0, 0)), **TURN),
    )
    close = Joint(
        "C",
        "revolute",
        "coupler",
        "rocker",
        Pose(position=(0.8 * length, 0, 0)),
        offset=Pose(position=(0.6 * length, 0, 0)),
        **TURN,
    )
    return Mechanism("four bar", bodies, joints, loops=(close,), gravity=(0, -gravity, 0))


MACHINE = compile(four_bar())
GUESS = [1.0, -0.6, 2.0]
Q, V = catena.assemble(MACHINE, GUESS, [2.0, 0.0, 0.0], fixed=["A"])
ZERO = np.zeros(3)
A = MACHINE.forward_dynamics(Q, V, ZERO)
TAU, HYBRID = catena.hybrid_dynamics(MACHINE, Q, V, motion={"A": 0.0})

# every question about a state with speeds, and its answer where the state is possible
QUESTIONS = {
    "forward_dynamics": lambda q, v: MACHINE.forward_dynamics(q, v, ZERO),
    "forward_dynamics of lists": lambda q, v: MACHINE.forward_dynamics(list(q), list(v), [0, 0, 0]),
    "forward_dynamics with wrenches": lambda q, v: MACHINE.forward_dynamics(
        q, v, ZERO, wrenches={"rocker": np.ones(6)}
    ),
    "forward_dynamics, generic": lambda q, v: compile(four_bar(), life="generic").forward_dynamics(
        q, v, ZERO
    ),
    "by lagrange": lambda q, v: compile(four_bar(), by="lagrange").forward_dynamics(q, v, ZERO),
    "evaluate": lambda q, v: MACHINE.evaluate("forward_dynamics", q, v, ZERO)[0],
    "multipliers": lambda q, v: MACHINE.multipliers(q, v, ZERO),
    "derivatives": lambda q, v: MACHINE.forward_dynamics_derivatives(q, v, ZERO)[0],
    "reactions": lambda q, v: MACHINE.reactions(q, v, A, tau=ZERO)["A"],
    "hybrid_dynamics": lambda q, v: catena.hybrid_dynamics(MACHINE, q, v, motion={"A": 0.0})[0],
    "inverse_dynamics": lambda q, v: analysis.inverse_dynamics(MACHINE, q, v, HYBRID, ["A"]).tau,
    "impulse": lambda q, v: catena.impulse(MACHINE, q, v, at="rocker", linear=(0, 1, 0)).dv,
    "linearize": lambda q, v: catena.linearize(MACHINE, q, v).A,
}
OF_POSITIONS = {
    "static_torques": lambda q: analysis.static_torques(MACHINE, q, ["A"]).tau,
    "modes": lambda q: catena.modes(MACHINE, q, analysis.static_torques(MACHINE, q)),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_speeds_off_their_rows_are_refused(question):
    assert np.isfinite(QUESTIONS[question](Q, V)).any()
    with pytest.raises(
        ClosureError, match=r"loop 'C' of mechanism 'four bar' is torn open at .* m/s .*assemble"
    ) as caught:
        QUESTIONS[question](Q, np.array([10.0, 0.0, 0.0]))
    assert set(caught.value.gaps) == {"C"} and caught.value.gaps["C"] > 0.1


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_loop_that_is_open_is_refused(question):
    with pytest.raises(
        ClosureError, match=r"loop 'C' of mechanism 'four bar' stays open by 0\.\d+ m in its"
    ):
        QUESTIONS[question](Q + [0.5, 0.0, 0.0], V)


@pytest.mark.parametrize("question", OF_POSITIONS)
def test_questions_about_rest_refuse_a_loop_that_is_open(question):
    OF_POSITIONS[question](Q)
    with pytest.raises(ClosureError, match=r"loop 'C' .* stays open by 0\.\d+ m"):
        OF_POSITIONS[question](Q + [0.5, 0.0, 0.0])


def test_a_batch_says_which_row():
    q, v = np.tile(Q, (3, 4, 1)), np.tile(V, (3, 4, 1))
    for ask in (
        lambda v: MACHINE.forward_dynamics(q, v, ZERO),
        lambda v: catena.linearize(MACHINE, q, v).A,
    ):
        assert np.isfinite(ask(v)).all()
        wrong = v.copy()
        wrong[1, 2, 0] += 1e-3
        with pytest.raises(ClosureError, match=r"at \(1, 2\) of the batch|at \(6,\) of the batch"):
            ask(wrong)


def test_states_are_projected_where_that_is_asked():
    off = np.array([2.5, -1.0, 0.3])
    open_by_little = Q + [0.01, 0.0, 0.0]
    q, v = catena.assemble(MACHINE, open_by_little, off)
    close = np.testing.assert_allclose
    there = {"project": True}
    tau, _ = catena.hybrid_dynamics(MACHINE, open_by_little, off, {"A": 0.0}, **there)
    close(tau, catena.hybrid_dynamics(MACHINE, q, v, {"A": 0.0})[0], rtol=1e-9, atol=1e-12)
    found = catena.impulse(MACHINE, open_by_little, off, at="rocker", linear=(0, 1, 0), **there)
    close(found.dv, catena.impulse(MACHINE, q, v, at="rocker", linear=(0, 1, 0)).dv, rtol=1e-9)
    found = catena.linearize(MACHINE, open_by_little, off, **there)
    close(found.A, catena.linearize(MACHINE, q, v).A, rtol=1e-9, atol=1e-9)
    batch = catena.linearize(MACHINE, [open_by_little] * 2, [off] * 2, **there)
    close(batch.A[1], found.A, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("length", [1e-6, 1e-3, 1.0, 1e6])
@pytest.mark.parametrize("pace", [1e-6, 1.0, 1e6])
def test_the_rule_knows_no_units(length, pace):
    """A mechanism of another size, at another pace: the same states are possible."""
    machine = compile(four_bar(length, 9.81 * length * pace**2))
    q, v = catena.assemble(machine, GUESS, [2.0 * pace, 0.0, 0.0], fixed=["A"])
    machine.forward_dynamics(q, v, ZERO)
    for error, refused in ((1e-8, False), (1e-4, True)):
        for states in ((q + [error, 0, 0], v), (q, v * [1.0 + error, 1.0, 1.0])):
            if refused:
                with pytest.raises(ClosureError):
                    machine.forward_dynamics(*states, ZERO)
            else:
                machine.forward_dynamics(*states, ZERO)


def test_what_is_left_of_large_speeds_is_rest():
    """A structure: the projection leaves rounding of a speed, which is not judged by itself."""
    stiff = four_bar()
    bar = Joint(
        "E",
        "revolute",
        "ground",
        "coupler",
        Pose(position=tuple(MACHINE.pose(Q, "coupler")[:3, 3])),
        **TURN,
    )
    machine = compile(stiff.with_(loops=(*stiff.loops, bar)))
    q, v = catena.assemble(machine, Q, [10.0, -3.0, 7.0])
    assert np.abs(v).max() < 1e-12
    np.testing.assert_allclose(machine.forward_dynamics(q, v, ZERO), 0.0, atol=1e-6)


def test_numbers_that_are_none_are_named_as_such():
    with pytest.raises(StateError, match="v of 'B' is nan"):
        MACHINE.forward_dynamics(Q, [0.0, np.nan, 0.0], ZERO)
    for question in (MACHINE.coordinate_rate, MACHINE.move):
        with pytest.raises(StateError, match="q of 'A' is nan; it takes finite numbers"):
            question([np.nan, 0.0, 0.0], ZERO)
        with pytest.raises(StateError, match=r"of 'B' at \(1,\) of the batch is inf"):
            question(np.tile(Q, (2, 1)), [[0, 0, 0], [0, np.inf, 0]])


def test_a_tree_has_no_rows_to_break():
    tree = compile(four_bar().with_(loops=()))
    assert np.isfinite(tree.forward_dynamics([1.0, 2.0, 3.0], [10.0, 0.0, 0.0], ZERO)).all()


def test_unchecked_answers_stay_available():
    off = np.array([10.0, 0.0, 0.0])
    (a,) = MACHINE.evaluate("forward_dynamics", Q, off, ZERO, check=False)
    _, _, gamma, rows = MACHINE.constraint_rows(Q, off)
    np.testing.assert_allclose(rows @ a, gamma, atol=1e-9)
