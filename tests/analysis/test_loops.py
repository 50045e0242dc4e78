"""Cutting graphs, counting freedoms, closing loops: on the linkages of `closed.py`, with every
error read.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import catena
from catena.analysis.assembly import assemble
from catena.analysis.mobility import mobility
from catena.errors import ClosureError, MechanismError, UnknownNameError
from catena.machine.constraint_rows import rows_at
from catena.machine.machine import compile
from catena.model.joint_kinds import KINDS
from catena.model.loads import JointSpring
from catena.model.mechanism import GROUND, Body, Joint, Mechanism, Mimic
from catena.model.motions import displacement
from catena.model.spanning_tree import cut
from catena.simulation.system.first_order import System
from closed import (
    Y,
    at,
    bricard,
    four_bar,
    four_link,
    high_stiffness,
    slider_crank,
    spatial_four_bar,
    stewart,
    windows,
)
from zoo import MOVING, ONE_AXIS, random_body, random_pose

LOOPED = {
    "slider_crank": slider_crank,
    "spatial_four_bar": spatial_four_bar,
    "stewart": stewart,
    "bricard": bricard,
}


@pytest.fixture(scope="module", params=LOOPED)
def machine(request):
    return compile(LOOPED[request.param]())


def joint_of(kind: str, rng: np.random.Generator, name: str, parent: str, child: str) -> Joint:
    axis = tuple(rng.normal(size=3)) if kind in ONE_AXIS else None
    sequence = ("Rx", "Rz", "Dy") if kind == "general" else ()
    pitch = 0.2 if kind == "helical" else 0.0
    places = {"placement": random_pose(rng), "offset": random_pose(rng)}
    return Joint(name, kind, parent, child, axis=axis, pitch=pitch, sequence=sequence, **places)


# --- rows
@pytest.mark.parametrize("life", ["generic", "lanes"])
@pytest.mark.parametrize("turns", [-3, -1, 0, 1, 4])
def test_whole_turns_of_a_screw_do_not_open_it(turns, life):
    """A nut that slides and turns, closed by a screw: shut wherever it has gone pitch times its
    angle, and open by what is more.
    """
    pitch = 0.02
    angle = 2.5 + 2 * math.pi * turns
    nut = Mechanism(
        "nut",
        [Body("nut", 1.0, (0, 0, 0), (1, 1, 1))],
        [Joint("bolt", "cylindrical", GROUND, "nut")],
        loops=[Joint("thread", "helical", GROUND, "nut", pitch=pitch)],
    )
    machine = compile(nut, life=life)
    slide = machine.coordinate_names.index("bolt.z") if "bolt.z" in machine.coordinate_names else 1
    q = np.array([angle, angle])
    q[slide] = pitch * angle
    assert np.abs(machine.constraint_rows(q, np.zeros(2))[0]).max() < 1e-14
    q[slide] += 0.3 * pitch
    assert np.abs(machine.constraint_rows(q, np.zeros(2))[0]).max() == pytest.approx(0.3 * pitch)


# --- reversing
@pytest.mark.parametrize("kind", [k for k in KINDS if KINDS[k].reverse.cost == 0])
def test_a_reversed_joint_is_the_inverse_at_the_same_coordinates(kind):
    rng = np.random.default_rng(1)
    j = joint_of(kind, rng, "j", "a", "b")
    q = list(rng.normal(size=j.nq))
    np.testing.assert_allclose((j.reversed().pose(q) @ j.pose(q)).matrix(), np.eye(4), atol=1e-12)


@pytest.mark.parametrize("kind", ["universal", "gimbal"])
def test_a_reversed_sequence_of_turns_has_its_angles_in_the_opposite_order(kind):
    rng = np.random.default_rng(2)
    j = joint_of(kind, rng, "j", "a", "b")
    q = list(rng.normal(size=j.nq))
    np.testing.assert_allclose(
        (j.reversed().pose(q[::-1]) @ j.pose(q)).matrix(), np.eye(4), atol=1e-12
    )


@pytest.mark.parametrize("kind", ["ball", "planar", "free"])
def test_a_reversed_group_reaches_the_inverse_at_other_coordinates(kind):
    rng = np.random.default_rng(3)
    j = joint_of(kind, rng, "j", "a", "b")
    forward = displacement(j.freedoms, [0.9, 0.1, -0.3, 0.2, 0.1, 0.3, -0.2][: j.nq])
    R = np.array(forward.inverse().rotation)
    p = np.array(forward.inverse().position)
    w = 0.5 * math.sqrt(1 + np.trace(R))
    quaternion = [w, *((R[b, c] - R[c, b]) / (4 * w) for b, c in ((2, 1), (0, 2), (1, 0)))]
    if kind == "ball":
        back = quaternion
    elif kind == "free":
        back = [*p, *quaternion]
    else:
        x, y = (np.array(f.axis) for f in j.freedoms[:2])
        back = [p @ x, p @ y, 2 * math.atan2(np.dot(quaternion[1:], j.axis[0]), w)]
    np.testing.assert_allclose(
        displacement(j.reversed().freedoms, back).matrix(), forward.inverse().matrix(), atol=1e-12
    )


def test_limits_and_losses_turn_round_with_the_joint():
    j = Joint("u", "universal", "a", "b", lower=(-1, -2), upper=(1, 2), damping=(0.1, 0.2))
    assert (
        j.reversed().lower == (-2, -1)
        and j.reversed().upper == (2, 1)
        and j.reversed().damping == (0.2, 0.1)
    )


def test_a_general_joint_has_no_reverse_and_says_so():
    j = Joint("slide", "general", "a", "b", sequence=("Rz", "Dx"))
    with pytest.raises(
        MechanismError, match="joint 'slide' would have to be walked from 'b' to 'a'"
    ):
        j.reversed()
    assert j.reverse.cost == 2


# --- cutting
def test_a_four_bar_in_any_order_is_cut_in_the_middle():
    m = cut(four_bar())
    assert [j.name for j in m.loops] == ["C"]
    tree = [(j.name, j.parent, j.child) for j in m.joints]
    assert tree == [("D", GROUND, "rocker"), ("A", GROUND, "crank"), ("B", "crank", "coupler")]
    assert m.notes == (
        "joint 'D' is walked from 'ground' to 'rocker'; its coordinates keep their meaning",
        "joint 'C' (revolute, 'coupler' to 'rocker') closes a loop: the tree was cut there",
    )
    m.validate()


def test_the_cut_can_be_chosen():
    m = cut(four_bar(), at=["B"])
    assert [j.name for j in m.loops] == ["B"]
    assert "joint 'B' (revolute, 'crank' to 'coupler') closes a loop: as asked" in m.notes
    tree = {(j.name, j.parent, j.child) for j in m.joints}
    assert tree == {("D", GROUND, "rocker"), ("C", "rocker", "coupler"), ("A", GROUND, "crank")}


@pytest.mark.parametrize("at", ["A", "B", "C", "D"])
def test_the_cut_does_not_change_the_motion(at):
    """Wherever it is cut, the crank has the same acceleration and the pins carry the same
    forces.
    """
    machine = compile(cut(four_bar(), at=[at]))
    reference = compile(cut(four_bar(), at=["C"]))
    q, v = assemble(reference, [0.3, 0.9, 0.0], [0.0, 1.0, 0.0])
    a = reference.forward_dynamics(q, v, np.zeros(3))
    where = {body: reference.pose(q, body)[:3, :3] for body in ("crank", "coupler", "rocker")}
    turn = {body: math.atan2(R[1, 0], R[0, 0]) for body, R in where.items()}
    turned = {GROUND: 0.0, **turn}
    own = [(turned[j.child] - turned[j.parent]) * j.axis[0][2] for j in machine.mechanism.moving]
    spin = {body: reference.frame_velocity(q, v, body)[2] for body in turn} | {GROUND: 0.0}
    rate = [(spin[j.child] - spin[j.parent]) * j.axis[0][2] for j in machine.mechanism.moving]
    q2, v2 = assemble(machine, own, rate)
    np.testing.assert_allclose(q2, own, atol=1e-10)
    np.testing.assert_allclose(v2, rate, atol=1e-10)
    found = machine.forward_dynamics(q2, v2, np.zeros(3))
    for body in turn:
        ours = machine.frame_acceleration(q2, v2, found, body)
        theirs = reference.frame_acceleration(q, v, a, body)
        np.testing.assert_allclose(ours, theirs, atol=1e-8)


def test_a_joint_of_many_freedoms_is_cut_before_one_of_few():
    assert [j.name for j in cut(four_bar(kind="ball")).loops] == ["C"]
    joints = [
        Joint("A", "ball", GROUND, "crank"),
        Joint("B", "revolute", "crank", "coupler", at(1)),
    ]
    joints.append(Joint("C", "revolute", "coupler", "rocker", at(2), offset=at(1.5)))
    joints.append(Joint("D", "revolute", GROUND, "rocker", at(1.8)))
    m = cut(four_bar().with_(joints=tuple(joints)))
    assert [j.name for j in m.loops] == ["A"]


def test_a_joint_with_a_spring_or_losses_keeps_its_coordinate():
    from dataclasses import replace

    graph = four_bar()
    damped = graph.with_(
        joints=tuple(replace(j, damping=0.1) if j.name == "C" else j for j in graph.joints)
    )
    assert "C" not in [j.name for j in cut(damped).loops]
    sprung = graph.with_(loads=(JointSpring("spring", "C", 10.0, 0.0),))
    assert "C" not in [j.name for j in cut(sprung).loops]
    note = cut(damped, at=["C"]).notes[-1]
    assert note.endswith("closes a loop: as asked; its damping is not felt there")


def test_a_tree_stays_as_it_is():
    m = four_link(closed=False)
    assert cut(m) is m


def test_a_graph_that_the_ground_does_not_reach_is_left_to_validate():
    rod = Body("rod", 1.0, (0, 0, 0), (1, 1, 1))
    other = Body("other", 1.0, (0, 0, 0), (1, 1, 1))
    loose = Mechanism(
        "loose",
        (rod, other),
        (Joint("a", "revolute", "rod", "other"), Joint("b", "revolute", "other", "rod")),
    )
    with pytest.raises(MechanismError, match="is not joined to 'ground'"):
        cut(loose).validate()


def test_cutting_says_what_is_wrong():
    with pytest.raises(
        UnknownNameError,
        match="no joint 'E' in mechanism 'four_bar', asked to cut there; joints are: D, C, A, B",
    ):
        cut(four_bar(), at=["E"])
    with pytest.raises(
        MechanismError, match="cutting at 'A', 'B' leaves body 'crank' joined to nothing"
    ):
        cut(four_bar(), at=["A", "B"])
    from dataclasses import replace

    graph = four_bar()
    geared = graph.with_(
        joints=tuple(replace(j, mimic=Mimic("C")) if j.name == "B" else j for j in graph.joints)
    )
    with pytest.raises(
        MechanismError, match="joint 'B' mimics 'C', and 'C' would have to close a loop"
    ):
        cut(geared, at=["C"])


# --- mobility
def test_a_planar_four_bar_has_one_freedom_and_three_redundant_rows():
    found = mobility(cut(four_bar()))
    assert (found.degrees_of_freedom, found.rank, found.rows) == (1, 2, 5)
    assert found.redundant == (
        ("C", "displacement z"),
        ("C", "rotation x"),
        ("C", "rotation y"),
    )
    assert "four_bar: 1 degree of freedom" in str(found) and "3 redundant rows:" in str(found)


@pytest.mark.parametrize(
    ("make", "freedoms", "redundant"),
    [
        (slider_crank, 1, 3),
        (spatial_four_bar, 1, 0),
        (stewart, 6, 0),
        (bricard, 1, 1),
        (high_stiffness, 3, 0),
    ],
)
def test_mobility_by_rank(make, freedoms, redundant):
    found = mobility(make())
    assert (found.degrees_of_freedom, len(found.redundant)) == (freedoms, redundant)


def test_a_parallelogram_is_singular_when_it_lies_flat():
    upright = mobility(windows(1))
    flat = mobility(windows(1), [math.pi / 2, -math.pi / 2, math.pi / 2])
    assert upright.degrees_of_freedom == 1 and not upright.singular
    assert flat.degrees_of_freedom == 2 and flat.singular
    assert "singular here: nearby the rows have a higher rank" in str(flat)
    near = mobility(windows(1), assemble(windows(1), [1.5707, -1.5707, 1.5707], fixed=["A0"])[0])
    assert not near.singular and near.condition < 1e-3


def test_motors_are_counted_against_freedoms():
    machine = compile(stewart())
    legs = mobility(machine, actuated=[f"leg{k}" for k in range(1, 7)])
    assert (legs.held, legs.underactuated, legs.overactuated) == (6, 0, 0)
    five = mobility(machine, actuated=[f"leg{k}" for k in range(1, 6)])
    assert five.underactuated == 1 and "underactuated, 1 degree(s) of freedom have none" in str(
        five
    )
    both = mobility(cut(four_bar()), actuated=["A", "B"])
    assert both.overactuated == 1 and "overactuated by 1" in str(both)
    dead_centre = mobility(slider_crank(), [0, 0, 1.3], actuated=["cylinder"])
    assert dead_centre.stuck == ("cylinder",) and dead_centre.underactuated == 1


def test_mobility_names_what_it_counts():
    """Rows of speeds are no rows of loops, a sleigh's side is stuck in this configuration only, and
    pins are no motors.
    """
    sleigh = mobility(catena.load("knife_edge"))
    assert (sleigh.degrees_of_freedom, sleigh.rows, sleigh.speed_rows) == (2, 1, 1)
    assert "3 speeds, 1 constraint row (1 of speeds)" in str(sleigh)
    assert "cannot move in this configuration: plane.y" in str(sleigh)
    assert (
        sleigh.actuated is None
        and (sleigh.underactuated, sleigh.overactuated) == (0, 0)
        and "motor" not in str(sleigh)
    )
    assert "2 motors: one for each degree of freedom" in str(
        mobility(catena.load("knife_edge"), actuated=["plane.x", "plane.angle"])
    )


def test_a_tree_has_all_its_freedoms():
    found = mobility(four_link(closed=False))
    assert found.degrees_of_freedom == 4 and found.rows == 0 and not found.singular


# --- assembly
def test_assembly_closes_every_loop(machine):
    rng = np.random.default_rng(5)
    q, v = assemble(machine, None, rng.normal(size=machine.nv))
    rows = rows_at(machine, q, v)
    assert np.abs(rows.error).max() < 1e-13
    assert np.abs(rows.rate).max() < 1e-12


def test_speeds_are_the_nearest_in_kinetic_energy(machine):
    """What assembly takes away is M-orthogonal to every motion that the loops allow."""
    rng = np.random.default_rng(6)
    given = rng.normal(size=machine.nv)
    q, v = assemble(machine, None, given)
    from catena.machine.constraint_rows import spaces

    T = spaces(rows_at(machine, q).A).T
    assert np.abs(T.T @ machine.mass_matrix(q) @ (given - v)).max() < 1e-10


def test_fixed_coordinates_keep_their_value():
    machine = compile(slider_crank())
    q, v = assemble(machine, [0.7, 0.1, 1.0], [2.0, 0.0, 0.0], fixed=["shaft"])
    assert q[0] == 0.7 and v[0] == 2.0
    np.testing.assert_allclose(
        q[2], 0.3 * math.cos(0.7) + math.sqrt(1 - 0.09 * math.sin(0.7) ** 2), atol=1e-13
    )
    slide = (
        -0.3 * math.sin(0.7) * (1 + 0.3 * math.cos(0.7) / math.sqrt(1 - 0.09 * math.sin(0.7) ** 2))
    )
    np.testing.assert_allclose(v[2], 2.0 * slide, atol=1e-12)


@pytest.mark.parametrize("kind", MOVING)
def test_every_kind_of_joint_closes_a_loop(kind):
    """A chain of seven freedoms is laid down, a joint of each kind put where its end is, and the
    chain disturbed.
    """
    if kind == "free":
        pytest.skip("a free joint forbids nothing")
    rng = np.random.default_rng(40 + MOVING.index(kind))
    kinds = ["ball", "prismatic", "ball"]
    bodies, joints = [], []
    for i, k in enumerate(kinds):
        bodies.append(random_body(rng, f"body{i}"))
        joints.append(joint_of(k, rng, f"j{i}", GROUND if i == 0 else f"body{i - 1}", f"body{i}"))
    chain = Mechanism(f"closed_by_{kind}", tuple(bodies), tuple(joints))
    machine = compile(chain)
    q = machine.sample(rng)
    closing = joint_of(kind, rng, "closing", GROUND, "body2")
    own = list(0.3 * rng.normal(size=closing.nq))
    from catena.model.pose import Pose

    X = machine.pose(q, "body2")
    X_WC = Pose(tuple(map(tuple, X[:3, :3])), tuple(X[:3, 3]))
    from dataclasses import replace

    if kind == "ball":
        own = [1.0, 0.0, 0.0, 0.0]
    placed = replace(
        closing, placement=X_WC @ closing.offset @ displacement(closing.freedoms, own).inverse()
    )
    machine = compile(chain.with_(loops=(placed,)))
    assert np.abs(rows_at(machine, q).error).max() < 1e-12
    disturbed = machine.move(q, 0.05 * rng.normal(size=machine.nv))
    assert np.abs(rows_at(machine, disturbed).error).max() > 1e-3
    found, v = assemble(machine, disturbed, rng.normal(size=machine.nv))
    rows = rows_at(machine, found, v)
    assert np.abs(rows.error).max() < 1e-12 and np.abs(rows.rate).max() < 1e-11
    assert mobility(machine, found).degrees_of_freedom == machine.nv - len(rows.names)


def test_a_pin_is_not_put_in_upside_down():
    """Rows know angles by cosines; an axis that points the wrong way satisfies them, and is
    refused.
    """
    rod = Body("rod", 1.0, (0, 0, 0), (1, 1, 1))
    pin = Joint("pin", "revolute", GROUND, "rod", axis=Y)
    free = Mechanism("pin", (rod,), (Joint("base", "free", GROUND, "rod"),), loops=(pin,))
    q, _ = assemble(free, [0.1, 0, 0, 0.0, 1.0, 0.0, 0.0])  # upside down: y points along -y
    machine = compile(free)
    assert machine.pose(q, "rod")[1, 1] > 0.999999
    turning = Mechanism(
        "hung",
        (rod,),
        (Joint("base", "revolute", GROUND, "rod", axis=(1, 0, 0)),),
        loops=(Joint("pin", "prismatic", GROUND, "rod", axis=(1, 0, 0)),),
    )
    q, _ = assemble(turning, [3.0])
    assert abs(math.sin(q[0])) < 1e-9 and math.cos(q[0]) > 0


def test_a_loop_that_cannot_close_says_which_and_by_how_much():
    said = r"loop 'C' stays open by 0\.\d+ m in its displacement [xy] \(the best of 30 starts\)"
    with pytest.raises(ClosureError, match=said) as error:
        assemble(cut(four_bar(lengths=(1.0, 0.3, 0.2, 1.8))))
    # the loop is 0.3 m too short when it is drawn out straight
    assert error.value.gaps == {"C": pytest.approx(0.3, rel=1e-9)}


def test_a_loop_open_across_its_plane_says_that_nothing_moves_it():
    bent = four_link()
    from dataclasses import replace

    bent = bent.with_(loops=(replace(bent.loops[0], placement=at(2, 0.25, 3)),))
    with pytest.raises(
        ClosureError,
        match=r"stays open by 0\.25 m in its displacement y, where no joint that is free moves it",
    ):
        assemble(bent)


def test_loops_that_contradict_each_other_are_named():
    """Two balls hold two points of a rod, further apart than the points are: they share the
    difference.
    """
    rod = Body("rod", 1.0, (0, 0, 0), (1, 1, 1))
    ends = (
        Joint("near", "ball", GROUND, "rod"),
        Joint("far", "ball", GROUND, "rod", at(1.2), offset=at(1.0)),
    )
    m = Mechanism("held", (rod,), (Joint("base", "free", GROUND, "rod"),), loops=ends)
    with pytest.raises(ClosureError, match=r"loop 'near' stays open by 0\.1 m") as error:
        assemble(m)
    assert error.value.gaps == pytest.approx({"near": 0.1, "far": 0.1}, abs=1e-6)


def test_fixed_speeds_that_contradict_each_other_are_named():
    with pytest.raises(ClosureError, match="the fixed speeds open loop 'wrist_pin' at"):
        assemble(
            slider_crank(),
            [0.0, 0.0, 1.3],
            [1.0, 0.0, 1.0],
            fixed=["shaft", "crank_pin", "cylinder"],
        )
    with pytest.raises(ClosureError, match="with every coordinate fixed"):
        assemble(slider_crank(), [0.0, 0.0, 1.0], fixed=["shaft", "crank_pin", "cylinder"])
    with pytest.raises(
        UnknownNameError, match="no coordinate 'piston' in mechanism 'slider_crank'"
    ):
        assemble(slider_crank(), fixed=["piston"])


# --- projection
def test_projection_of_a_batch_ends_on_the_loops(machine):
    rng = np.random.default_rng(8)
    q, v = assemble(machine, None, rng.normal(size=machine.nv))
    near = machine.move(q, 1e-3 * rng.normal(size=(4, machine.nv)))
    x = np.hstack([near, v + 1e-3 * rng.normal(size=(4, machine.nv)), np.zeros((4, 1))]).T
    settle = System(machine.mechanism).settle
    still = np.zeros((machine.nv, 4))
    for _ in range(5):
        x = np.array(settle(0.0, x, still, np.zeros(0)))
    error, rate, _, _ = machine.constraint_rows(x[: machine.nq].T, x[machine.nq : -1].T)
    assert np.abs(error).max() < 1e-12 and np.abs(rate).max() < 1e-11
    np.testing.assert_allclose(np.array(settle(0.0, x, still, np.zeros(0))), x, atol=1e-11)


def test_a_tree_of_pins_needs_no_projection():
    assert System(four_link(closed=False)).settle is None
