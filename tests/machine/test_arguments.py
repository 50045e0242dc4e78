"""What a machine takes for numbers, and what it refuses instead of answering something."""

from __future__ import annotations

import datetime
import pickle
from fractions import Fraction

import numpy as np
import pytest

import catena
import zoo
from catena import Body, Joint, Mechanism, Pose
from catena.errors import StateError
from catena.model.expressions import parse


@pytest.fixture(scope="module")
def arm() -> catena.Machine:
    """Two links about the vertical: the first angle enters no force. The second mass is a
    parameter.
    """
    m2 = parse("m2", ["m2"])
    bodies = [
        Body("one", 1, (0.1, 0, 0), (0.02,) * 3),
        Body("two", m2, (0.1, 0, 0), (m2 / 50,) * 3),
    ]
    joints = [
        Joint("a", "revolute", "ground", "one"),
        Joint("b", "revolute", "one", "two", Pose(position=(0.3, 0, 0))),
    ]
    return catena.compile(Mechanism("arm", bodies, joints, parameters={"m2": 2.0}), threads=1)


ZERO = np.zeros(2)


@pytest.mark.parametrize("batch", [(), (5,)])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("life", ["auto", "generic", "lanes"])
def test_a_coordinate_that_does_not_enter_must_be_a_number_too(arm, life, bad, batch):
    machine = catena.compile(arm.mechanism, threads=1, life=life)
    q = np.zeros((*batch, 2))
    q[..., 0] = bad
    for ask in (
        machine.mass_matrix,
        machine.gravity,
        lambda q: machine.inverse_dynamics(q, ZERO, ZERO),
    ):
        with pytest.raises(StateError, match=rf"q of 'a'.* is {bad}; it takes finite numbers"):
            ask(q)


@pytest.mark.parametrize(
    "other",
    [
        ["0.1", "0.2"],
        np.array(["1", "2"]),
        np.array(["2020-01-01", "2021-01-01"], "M8[D]"),
        np.array([1, 2], "m8[s]"),
        [datetime.date(2020, 1, 1)] * 2,
        np.ma.masked_array([1.0, 2.0], [True, False]),
        [1j, 0],
        [None, 0.0],
        b"ab",
    ],
)
def test_texts_dates_and_masked_entries_are_no_numbers(arm, other):
    for ask in (
        lambda: arm.gravity(other),
        lambda: arm.inverse_dynamics(ZERO, ZERO, other),
        lambda: arm.pose(other, "two"),
    ):
        with pytest.raises(StateError, match="not an array of real numbers"):
            ask()
    with pytest.raises(StateError, match="not an array of real numbers"):
        arm.inverse_dynamics(
            ZERO, ZERO, ZERO, {"two": [other[0]] * 6 if isinstance(other, list) else other}
        )


def test_whole_numbers_and_fractions_are_numbers(arm):
    for same in ([1, 0], np.array([1, 0]), [Fraction(1), 0], (np.float32(1), 0), [True, 0]):
        np.testing.assert_allclose(arm.bias(ZERO, same), arm.bias(ZERO, [1.0, 0.0]))


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"m2": -5}, "the mass of body 'two' .* is -5 where m2 = -5; it is zero or more"),
        ({"m2": [1.0, -2.0]}, "is -2 where m2 = -2"),
        (np.array([[1.0], [-3.0]]), "is -3 where m2 = -3"),
        ({"m2": np.nan}, "'m2' is nan; it takes a finite number"),
        ({"m2": "2"}, "not an array of real numbers"),
    ],
)
def test_parameters_leave_a_mechanism_possible(arm, parameters, words):
    with pytest.raises(StateError, match=words):
        arm.gravity(ZERO, parameters=parameters)
    np.testing.assert_array_equal(arm.gravity(ZERO, parameters={"m2": 3.0}).shape, (2,))


def test_an_inertia_no_body_can_have_is_refused():
    I = parse("I", ["I"])
    body = Body("b", 1, (0, 0, 0), (1.0, 0, 0, 1.0, 0, I))
    machine = catena.compile(
        Mechanism("m", [body], [Joint("j", "revolute", "ground", "b")], parameters={"I": 1.0})
    )
    with pytest.raises(
        StateError, match="body 'b' where I = 3: inertia breaks the triangle inequality"
    ):
        machine.mass_matrix(np.zeros((2, 1)), parameters={"I": [2.0, 3.0]})


def test_the_parameters_of_a_mechanism_do_not_change(arm):
    p = arm.mechanism.parameters
    for change in (
        lambda: p.__setitem__("m2", 9),
        lambda: p.update(m2=9),
        lambda: p.pop("m2"),
        lambda: p.clear(),
    ):
        with pytest.raises(TypeError, match=r"with_\(parameters="):
            change()
    assert p == {"m2": 2.0} == pickle.loads(pickle.dumps(p)) and hash(p) == hash(
        pickle.loads(pickle.dumps(p))
    )
    assert arm.mechanism.with_(parameters={"m2": 3.0}).parameters == {"m2": 3.0}


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (
            lambda m, q, v: m.bias(np.tile(q, (5, 1)), np.tile(v, (3, 1))),
            r"do not fit together: q \(5,\), v \(3,\)",
        ),
        (
            lambda m, q, v: m.bias(q, v, {"c": np.zeros((2, 6)), "b": np.zeros((3, 6))}),
            "do not fit together: c",
        ),
        (
            lambda m, q, v: m.bias(q, v, {"c": [0, 0, np.nan, 0, 0, 0]}),
            "wrenches hold a number that is not finite",
        ),
        (lambda m, q, v: m.bias(q, v, {"c": "abc"}), "the wrench at 'c' is a str"),
        (lambda m, q, v: m.bias(q, v, {("c", "world", 1): np.zeros(6)}), "at a frame, or at"),
        (lambda m, q, v: m.bias(q + 0j, v), "not an array of real numbers"),
        (lambda m, q, v: m.move(q[:2], v), r"move: q has shape \(2,\)"),
        (lambda m, q, v: catena.compile(m.mechanism, threads=-1), "threads is -1"),
        (lambda m, q, v: catena.compile(m.mechanism, snap=float("nan")), "snap is nan"),
        (lambda m, q, v: catena.compile("two_link_arm"), "made of a Mechanism, not of a str"),
    ],
)
def test_bad_arguments_are_named(ask, words):
    machine = catena.compile(zoo.follower())
    q = machine.neutral()
    with pytest.raises(StateError, match=words):
        ask(machine, q, np.zeros(machine.nv))
