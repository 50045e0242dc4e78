"""Trajectories: both lives agree, speeds are rates, what a law promises at its ends holds, files
and names are checked.
"""

from __future__ import annotations

import math
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

from catena.errors import FormatError, QuestionError, StateError, UnknownNameError
from catena.machine.machine import compile
from catena.model.mechanism import GROUND, Body, Frame, Joint, Mechanism
from catena.model.pose import Pose
from catena.simulation import trajectories as T
from zoo import arm, pendulum, random_tree

TIMES = [0.0, 1.0, 1.5, 3.0]
PLACES = {"a": [0.0, 1.0, 2.0, -1.0], "b": [3.0, 2.0, 5.0, 5.0]}
EVERY = {
    "constant": T.constant({"a": 3.0, "b": -1.0}),
    "sine": T.sine({"a": 0.3, "b": 2.0}, 5.0, phase=0.2, offset={"a": 1.0}),
    "cubic": T.cubic(TIMES, PLACES, {"a": [0.0, 0.3, 0.1, 0.2]}),
    "quintic": T.quintic(TIMES, PLACES, {"a": [0.0, 0.3, 0.1, 0.2]}, {"b": [1.0, 0.0, -2.0, 0.0]}),
    "cycloid": T.cycloid(TIMES, PLACES),
    "cosine": T.cosine(TIMES, PLACES),
    "spline": T.spline(TIMES, PLACES),
    "together": (
        T.cubic([0.2, 1.0], {"a": [0.0, 1.0]})
        | T.cycloid([0.5, 2.0], {"b": [1.0, 2.0]})
        | T.constant({"c": 4.0})
    ),
}


@pytest.mark.parametrize("name", EVERY)
def test_traced_is_called(name: str) -> None:
    trajectory = EVERY[name]
    t = ca.SX.sym("t")
    f = ca.Function("f", [t], list(trajectory.traced(t)))
    for at in (*np.linspace(-0.5, 4.0, 47), *TIMES):
        assert np.allclose(trajectory(at), [np.array(x).ravel() for x in f(at)], rtol=0, atol=1e-13)


@pytest.mark.parametrize("name", EVERY)
def test_speed_is_the_rate(name: str) -> None:
    trajectory, h = EVERY[name], 1e-5
    t = np.linspace(-0.5, 4.0, 47) + 0.013
    _, v, a = trajectory(t)
    (ahead, faster, _), (behind, slower, _) = trajectory(t + h), trajectory(t - h)
    assert np.allclose((ahead - behind) / (2 * h), v, atol=1e-7)
    assert np.allclose((faster - slower) / (2 * h), a, atol=1e-6)
    assert trajectory.jumps() == []


def test_states_are_met() -> None:
    q, v, a = EVERY["quintic"](TIMES)
    assert np.allclose(q, np.transpose(list(PLACES.values())), atol=1e-12)
    assert np.allclose(v[:, 0], [0.0, 0.3, 0.1, 0.2], atol=1e-12) and np.allclose(
        a[:-1, 1], [1.0, 0.0, -2.0], atol=1e-11
    )
    q, v, _ = EVERY["cubic"](TIMES)
    assert np.allclose(q, np.transpose(list(PLACES.values())), atol=1e-12) and np.allclose(
        v[:, 1], 0.0, atol=1e-12
    )


def test_known_laws() -> None:
    """The formulas of the sources, half way and at a quarter."""
    one = {"a": [2.0, 5.0]}
    s = 0.25
    assert np.allclose(
        T.cycloid([0, 4], one)(1.0)[0], 2 + 3 * (s - np.sin(2 * np.pi * s) / (2 * np.pi))
    )
    assert np.allclose(T.cosine([0, 4], one)(1.0)[0], 2 + 1.5 * (1 - np.cos(np.pi * s)))
    assert np.allclose(T.cubic([0, 4], one)(1.0)[0], 2 + 3 * (3 * s**2 - 2 * s**3))
    assert np.allclose(T.quintic([0, 4], one)(1.0)[0], 2 + 3 * (10 * s**3 - 15 * s**4 + 6 * s**5))
    assert np.allclose(T.cycloid([0, 4], one)([0.0, 4.0])[1:], 0.0, atol=1e-12)


def test_it_goes_on_at_its_last_speed() -> None:
    moving = T.cubic([0.0, 1.0], {"a": [0.0, 1.0]}, {"a": [0.5, 2.0]})
    q, v, a = moving([-1.0, 2.0])
    assert (
        np.allclose(q[:, 0], [-0.5, 3.0])
        and np.allclose(v[:, 0], [0.5, 2.0])
        and np.allclose(a, 0.0)
    )
    assert np.allclose(T.cubic([0.0, 1.0], {"a": [0.0, 1.0]})(9.0)[0], 1.0)


def test_a_jump_is_told() -> None:
    step = T.Trajectory(
        ("a",), np.array([1.0]), np.zeros((2, 1)), np.array([[[0.0]], [[2.0]]]), np.zeros((2, 1, 3))
    )
    assert step.jumps() == ["the place of 'a' jumps from 0 to 2 at t = 1 s"]


def test_along_a_mechanism() -> None:
    machine = compile(pendulum(3))
    q, v, a = T.cubic([0, 1], {"pin2": [0.0, 1.0]}).along(
        machine, [0.0, 0.5, 1.0], q=[0.1, 9.0, 0.3]
    )
    assert np.allclose(q, [[0.1, 0.0, 0.3], [0.1, 0.5, 0.3], [0.1, 1.0, 0.3]]) and v[
        1
    ].tolist() == [0.0, 1.5, 0.0]
    assert a.shape == (3, 3)


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: T.cubic([0, 1, 1], {"a": [0, 1, 2]}), "times rise; found 1 s and then 1 s"),
        (lambda: T.cubic([0], {"a": [0]}), "at least two finite numbers"),
        (
            lambda: T.cycloid([0, 1], {"a": [0, 1, 2]}),
            "'a' is given [0, 1, 2]; it takes 2 finite numbers",
        ),
        (lambda: T.spline([0, 1], {"a": [0, np.nan]}), "it takes 2 finite numbers"),
        (lambda: T.constant({"a": "up"}), "'a' is given 'up'"),
        (lambda: T.cubic([0, 1], {}), "no coordinate is given"),
        (lambda: T.constant({"a": 1}) | T.constant({"a": 2}), "'a' is given twice"),
        (lambda: T.sine({"a": 1.0}, np.inf), "frequency inf rad/s"),
    ],
)
def test_bad_tables(make, words: str) -> None:
    with pytest.raises(StateError) as error:
        make()
    assert words in str(error.value)


def test_names_are_checked() -> None:
    with pytest.raises(
        UnknownNameError,
        match=r"no coordinate 'pin4' in mechanism 'pendulum3'; .* Did you mean 'pin",
    ):
        T.constant({"pin4": 0.0}).check(pendulum(3))
    with pytest.raises(UnknownNameError, match="Did you mean 'elbow'"):
        T.cubic([0, 1], {"elbow": [0, 1]}, {"elbw": [0, 1]})
    ball = random_tree(5, ["ball", "revolute"])
    assert [c.name for c in T.constant({"revolute1": 0.0}).check(ball)] == ["revolute1"]
    with pytest.raises(UnknownNameError, match="coordinates are: revolute1"):
        T.constant({"ball0.qw": 1.0}).check(compile(ball))


def test_functions_of_time_have_their_exact_derivatives():
    """A text, a Python function and a number; against the derivatives by hand."""
    f = T.function({"a": "0.4*sin(3*t)", "b": lambda t: np.exp(-t) * t, "c": 2}, [0.0, 2.0])
    t = np.linspace(0, 2, 777)
    q, v, a = f(t)
    hand = (
        [0.4 * np.sin(3 * t), t * np.exp(-t), 2 + 0 * t],
        [1.2 * np.cos(3 * t), (1 - t) * np.exp(-t), 0 * t],
    )
    np.testing.assert_allclose(q.T, hand[0], atol=2e-10)
    np.testing.assert_allclose(v.T, hand[1], atol=2e-10)
    np.testing.assert_allclose(a[:, 1], (t - 2) * np.exp(-t), atol=1e-6)
    with pytest.raises(
        StateError, match="'a' is not followed to 1e-10 by 16384 polynomials; it has a corner"
    ):
        T.function({"a": "abs(t - 0.3)"}, [0, 1])
    with pytest.raises(StateError, match="'a' has no finite value, speed or acceleration"):
        T.function({"a": "sqrt(t)"}, [0, 1])
    with pytest.raises(StateError, match="compute with NumPy's functions"):
        T.function({"a": math.sin}, [0, 1])
    with pytest.raises(StateError, match="times are two that rise"):
        T.function({"a": "t"}, [1, 0])


# --- files
def write(path: Path, text: str) -> Path:
    file = path / "path.csv"
    file.write_text(text)
    return file


def test_csv(tmp_path: Path) -> None:
    t = np.linspace(0, 1, 21)
    rows = "\n".join(f"{x},{np.sin(x)},{2 * x}" for x in t)
    got = T.csv(write(tmp_path, f"time, elbow, wrist.rx\n{rows}\n\n"), ends="free")
    assert got.names == ("elbow", "wrist.rx")
    q, v, a = got(0.33)
    assert np.allclose(q, [np.sin(0.33), 0.66], atol=1e-7) and np.allclose(
        v, [np.cos(0.33), 2.0], atol=1e-5
    )
    assert np.allclose(a, [-np.sin(0.33), 0.0], atol=1e-3)


def test_csv_of_a_result(tmp_path: Path) -> None:
    got = T.csv(write(tmp_path, "time,q pin1,v pin1,kinetic\n0,1,0,3\n1,2,0,3\n2,4,0,3\n"))
    assert got.names == ("pin1",) and np.allclose(got([0.0, 1.0, 2.0])[0][:, 0], [1, 2, 4])


@pytest.mark.parametrize(
    "text, words",
    [
        ("", "0 columns are called 'time'"),
        ("elbow\n1\n2\n", "0 columns are called 'time' (s); there is one. Found: elbow"),
        ("time\n1\n2\n", "no column has a coordinate's name"),
        ("time,a,a\n0,1,2\n1,2,3\n", "column 'a' is there twice"),
        ("time,a\n0,1\n1,x\n", "line 3: 'x' in column 'a' is not a finite number"),
        ("time,a\n0,1\n1,inf\n", "line 3: 'inf' in column 'a' is not a finite number"),
        ("time,a\n0,1\n1,2,3\n2,1\n", "line 3: 3 values; the header has 2"),
        ("time,a\n0,1\n1,2\n1,3\n", "line 4: time 1 s follows 1 s; times rise"),
        ("time,a\n0,1\n", "1 rows of numbers; a trajectory has at least two"),
    ],
)
def test_bad_csv(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(FormatError) as error:
        T.csv(write(tmp_path, text))
    assert words in str(error.value) and "path.csv" in str(error.value)


def test_every_fault_at_once(tmp_path: Path) -> None:
    with pytest.raises(FormatError) as error:
        T.csv(write(tmp_path, "time,a\n0,x\n1\n0.5,2\n0.4,2\n"))
    assert len(error.value.faults) == 3
    with pytest.raises(FormatError, match="no such file"):
        T.csv(tmp_path / "none.csv")


# --- lines
def two_links() -> Mechanism:
    """[Quinn1991] example one: two uniform rods of 0.915 m and 1.754 kg in the x-y plane, no
    gravity.
    """
    m, l = 1.754, 0.915
    rods = tuple(
        Body(f"rod{k}", m, (l / 2, 0, 0), (0, m * l**2 / 12, m * l**2 / 12)) for k in (1, 2)
    )
    joints = (
        Joint("q1", "revolute", GROUND, "rod1"),
        Joint("q2", "revolute", "rod1", "rod2", Pose(position=(l, 0, 0))),
    )
    return Mechanism(
        "two_links",
        rods,
        joints,
        (Frame("tip", "rod2", Pose(position=(l, 0, 0))),),
        gravity=(0, 0, 0),
    )


def test_seed_000_straight_line() -> None:
    """The tip from (0.305, 0.305) to (0.915, 0.915) m, accelerated by cos t along each axis in
    feet; its torques.
    """
    machine = compile(two_links())
    path = T.line(
        machine,
        "tip",
        (0.915, 0.915, 0),
        start=(0.305, 0.305, 0),
        times=(0, np.pi),
        law="cosine",
        guess=[-0.5, 2.6],
    )
    t = np.array([0.0, np.pi / 2, np.pi])
    q, v, a = path(t)
    tau = machine.inverse_dynamics(q, v, a)
    assert np.allclose(q[[0, 2]], [[-0.54745704, 2.66571040], [0.0, np.pi / 2]], atol=2e-8)
    assert np.allclose(
        tau,
        [[0.35616178, -0.27701472], [0.05606731, 0.00934455], [-0.48949755, 0.16316585]],
        atol=2e-6,
    )
    t = np.linspace(0, np.pi, 200)
    x = machine.pose(path(t)[0], "tip")[:, :3, 3]
    assert (
        np.abs(x[:, 0] - (0.305 + 0.305 * (1 - np.cos(t)))).max() < 1e-7
        and np.abs(x[:, 0] - x[:, 1]).max() < 1e-7
    )


def test_line_keeps_the_orientation() -> None:
    base = arm(6)
    machine = compile(base.with_(frames=(Frame("tip", "link6", Pose(position=(0.1, 0.0, 0.2))),)))
    guess = np.array([0.1, -1.2, -1.4, 0.8, -1.1, 0.5])
    start = machine.pose(guess, "tip")
    path = T.line(
        machine,
        "tip",
        start[:3, 3] + (0.05, -0.08, 0.03),
        times=(0.0, 2.0),
        guess=guess,
        upright=True,
    )
    t = np.linspace(0, 2, 50)
    q, v, a = path(t)
    X = machine.pose(q, "tip")
    assert np.abs(X[:, :3, :3] - start[:3, :3]).max() < 1e-6
    away = X[:, :3, 3] - start[:3, 3]
    assert np.abs(np.cross(away, (0.05, -0.08, 0.03))).max() < 1e-7
    assert np.allclose(v[[0, -1]], 0.0, atol=1e-9) and np.allclose(a[[0, -1]], 0.0, atol=1e-7)


def test_line_out_of_reach() -> None:
    with pytest.raises(QuestionError, match="cannot reach the goal"):
        T.line(two_links(), "tip", (3.0, 0, 0), times=(0, 1), guess=[0.3, 0.5])
    with pytest.raises(QuestionError, match="ball or free joint"):
        T.line(random_tree(5, ["ball"]), "body0", (0, 0, 0), times=(0, 1))
    with pytest.raises(UnknownNameError, match="Did you mean 'cycloid'"):
        T.line(two_links(), "tip", (1.0, 0, 0), times=(0, 1), law="cykloid")
