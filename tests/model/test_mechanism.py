"""Mechanisms made in Python: what they say of themselves, loops that are found, names of
coordinates, faults by name.
"""

from __future__ import annotations

import numpy as np
import pytest
import sympy

import catena
from catena import Body, Joint, KnifeEdge, Mechanism, Pose, Spring
from catena.errors import MechanismError
from catena.model.joint_kinds import CATALOGUE, KINDS
from catena.model.pose import unit

END = Pose(position=(1, 0, 0))


def bar(name: str) -> Body:
    return Body(name, 1.0, (0.5, 0, 0), (0.01, 0.1, 0.1))


def joints() -> list[Joint]:
    """A four-bar, every joint in one list:  A crank B coupler C rocker D."""
    return [
        Joint("A", "revolute", "ground", "crank"),
        Joint("B", "revolute", "crank", "coupler", END),
        Joint("C", "revolute", "coupler", "rocker", END, offset=END),
        Joint("D", "revolute", "ground", "rocker", END),
    ]


def four_bar(**more) -> Mechanism:
    return Mechanism(
        "four bar",
        [bar("crank"), bar("coupler"), bar("rocker")],
        joints(),
        gravity=(0, -9.81, 0),
        **more,
    )


# --- loops
def test_joints_that_form_a_cycle_in_python_are_cut_as_in_a_file(tmp_path):
    m = four_bar().validate()
    assert [j.name for j in m.joints] == ["A", "B", "D"] and [j.name for j in m.loops] == ["C"]
    assert m.notes == (
        "joint 'C' (revolute, 'coupler' to 'rocker') closes a loop: the tree was cut there",
    )
    assert m.validate() is m, "a tree stays what it is"
    catena.save(four_bar(), tmp_path / "four_bar.toml")
    assert catena.load(tmp_path / "four_bar.toml") == m


def test_every_question_takes_a_cycle_as_it_takes_the_tree_and_its_loop():
    cyclic = four_bar()
    by_hand = four_bar().with_(joints=[j for j in joints() if j.name != "C"], loops=joints()[2:3])
    q = np.array([1.2, -1.2, 1.2])
    v = np.array([0.3, -0.3, 0.3])
    a, b = (catena.compile(m).forward_dynamics(q, v, np.zeros(3)) for m in (cyclic, by_hand))
    np.testing.assert_array_equal(a, b)
    assert (
        catena.mobility(cyclic, q).degrees_of_freedom
        == catena.mobility(by_hand, q).degrees_of_freedom
        == 1
    )


def test_a_cycle_with_a_fault_is_told_of_the_fault():
    crooked = [
        *joints()[:2],
        Joint("C", "universal", "coupler", "rocker", END, axis=[(1, 0, 0)]),
        joints()[3],
    ]
    with pytest.raises(
        MechanismError, match="joint 'C': a universal joint takes 2 axis vectors, found 1"
    ):
        four_bar().with_(joints=crooked).validate()


# --- words
def test_a_mechanism_says_what_it_is_made_of():
    one = Mechanism("m", [bar("a")], [Joint("j", "revolute", "ground", "a")])
    assert repr(one) == "Mechanism('m': 1 body, 1 joint, gravity (0, 0, -9.81) m/s2)"
    assert "3 bodies, 3 joints, 1 loop, gravity" in repr(four_bar().validate())
    assert "1 joint, 1 speed row, 1 load," in repr(
        one.with_(
            nonholonomic=[KnifeEdge("k", "a", (0, 1, 0))], loads=[Spring("s", "ground", "a", 1, 1)]
        )
    )


@pytest.mark.parametrize(
    ("axes", "labels"),
    [
        (None, "rx ry rz"),
        ([(0, 0, 1), (1, 0, 0), (0, 0, 1)], "rz1 rx rz2"),
        ([(0, 0, 1), (0, -1, 0), (1, 0, 0)], "rz ry rx"),
        ([(1, 0, 0), (0, 1, 1), (1, 0, 0)], "rx1 r2 rx2"),
        ([(1, 1, 0), (0, 1, 1), (1, 0, 1)], "r1 r2 r3"),
    ],
)
def test_the_angles_of_a_gimbal_are_called_after_their_axes(axes, labels):
    j = Joint("g", "gimbal", "ground", "a", axis=axes)
    assert j.coordinate_names == j.speed_names == tuple(f"g.{label}" for label in labels.split())


def test_names_of_coordinates_and_speeds_are_the_machine_s():
    m = catena.load("every_joint")
    machine = catena.compile(m)
    assert (m.coordinate_names, m.speed_names) == (machine.coordinate_names, machine.speed_names)
    assert (len(m.coordinate_names), len(m.speed_names)) == (machine.nq, machine.nv)


def test_the_documentation_names_every_kind_of_joint_load_and_row():
    from pathlib import Path

    from catena.model.loads import CONSTRAINTS, LOADS, ROWS

    page = (Path(__file__).parents[2] / "docs" / "file_format.md").read_text()
    for word in (*KINDS, *LOADS, *ROWS, *CONSTRAINTS):
        assert f"| {word} |" in page or f"`{word}`" in page, word
    for kind in CATALOGUE.values():
        assert kind.doc


def test_symbols_with_assumptions_are_parameters_like_any():
    m, l = sympy.symbols("m l", positive=True)
    rod = Mechanism(
        "rod",
        [Body("rod", m, (l, 0, 0), (0, m * l**2, m * l**2))],
        [Joint("pin", "revolute", "ground", "rod", Pose(position=(l, 0, 0)), axis=(0, 1, 0))],
        parameters={"m": 2.0, "l": 0.5},
    )
    for life in ("generic", "lanes"):
        np.testing.assert_allclose(catena.compile(rod, life=life).mass_matrix([0.3]), [[1.0]])


def test_axes_may_be_an_array():
    assert Joint("u", "universal", "ground", "a", axis=np.eye(3)[:2]).axis == (
        (1.0, 0.0, 0.0),
        (0.0, 1.0, 0.0),
    )


# --- thresholds
@pytest.mark.parametrize("size", [1e-300, 1e-12, 1e-6, 1.0, 1e6, 1e12, 1e300])
def test_a_direction_has_no_size(size):
    assert unit((3 * size, 0.0, 4 * size)) == pytest.approx((0.6, 0.0, 0.8), abs=1e-15)
    assert KnifeEdge("k", "a", (0, size, 0)).direction == (0, 1, 0)
    assert Joint("j", "revolute", "ground", "a", axis=(0, size, 0)).axis == ((0, 1, 0),)


@pytest.mark.parametrize(
    "direction", [(0, 0, 0), (float("nan"), 0, 0), (float("inf"), 0, 0), (1, 0), "xyz"]
)
def test_what_is_no_direction_is_refused_by_name(direction):
    with pytest.raises(MechanismError, match="knife_edge 'k': direction is"):
        KnifeEdge("k", "a", direction)


def test_three_numbers_are_a_position_where_a_pose_is_wanted():
    """Joints, frames, shapes and `attach` take them; anything else is refused at once, by name."""
    x = sympy.Symbol("x")
    for given in ((1, 0, 0), [1.0, 0, 0], np.array([1.0, 0, 0])):
        assert Joint("elbow", "revolute", "upper", "lower", given).placement == END
        assert Joint("elbow", "revolute", "upper", "lower", offset=given).offset == END
        assert catena.Frame("tip", "lower", given).pose == END
        assert catena.Shape("sphere", (0.1,), given).pose == END
    symbolic = Joint("elbow", "revolute", "upper", "lower", (x, 0, 0)).placement
    assert symbolic == Pose(position=(x, 0, 0))
    arm = catena.load("two_link_arm")
    assert catena.attach(arm, arm, "b_", at=(1, 0, 0)).joint("b_shoulder").placement == END
    for wrong in ((1, 0), 1.0, "elbow", None, ((1, 0, 0), (0, 1, 0), (0, 0, 1))):
        with pytest.raises(MechanismError, match="placement of joint 'elbow' is .*it is a Pose"):
            Joint("elbow", "revolute", "upper", "lower", wrong)
        with pytest.raises(MechanismError, match="the pose of frame 'tip' is"):
            catena.Frame("tip", "lower", wrong)
    with pytest.raises(MechanismError, match=r"a position three numbers: Pose\(position="):
        Pose((1, 0, 0))
    with pytest.raises(MechanismError, match="a rotation of 2 rows"):
        Pose(((1, 0, 0), (0, 1, 0)))
