"""Scenes: two mechanisms in one move as each alone; parts taken out and joints locked move as the
whole does there.
"""

from __future__ import annotations

import numpy as np
import pytest

import catena
from catena.errors import FormatError, MechanismError, UnknownNameError
from catena.model.loads import JointForce, SpeedRow, Spring
from catena.model.mirrors import mirrored
from catena.model.pose import Pose
from catena.model.scenes import attach, locked, pruned, replaced, subtree

AT = Pose.turn((1.0, 2.0, 3.0), 0.7, position=(0.3, -0.2, 1.0))
EMPTY = catena.Mechanism("scene", (), ())


@pytest.mark.parametrize("name", ["triple_pendulum", "four_bar", "every_joint", "stanford_arm"])
def test_a_part_moves_in_a_scene_as_it_does_alone(name):
    """Turned with its gravity, it has the same accelerations."""
    alone = catena.load(name).with_(loads=(), nonholonomic=())
    turned = tuple(float(x) for x in np.array(AT.rotation, float) @ np.array(alone.gravity, float))
    scene = catena.compile(attach(EMPTY.with_(gravity=turned), alone, "a_", at=AT).validate())
    machine = catena.compile(alone)
    rng = np.random.default_rng(2)
    q = rng.normal(size=machine.nq)
    v = rng.normal(size=machine.nv)
    for k in machine.spec.quaternions:
        q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
    assert scene.coordinate_names == tuple(f"a_{n}" for n in machine.coordinate_names)
    np.testing.assert_allclose(scene.mass_matrix(q), machine.mass_matrix(q), rtol=0, atol=1e-12)
    np.testing.assert_allclose(scene.bias(q, v), machine.bias(q, v), rtol=0, atol=1e-10)


def test_two_parts_do_not_feel_each_other_and_share_nothing():
    arm = catena.load("triple_pendulum")
    both = catena.compile(
        attach(
            attach(EMPTY.with_(gravity=arm.gravity), arm, "a_"),
            arm,
            "b_",
            at=Pose(position=(5, 0, 0)),
        )
    )
    one = catena.compile(arm)
    q, v = np.random.default_rng(1).normal(size=(2, 6))
    M = both.mass_matrix(q)
    assert not M[:3, 3:].any()
    np.testing.assert_allclose(M[3:, 3:], one.mass_matrix(q[3:]), atol=1e-13)
    heavy = both.bias(q, v, parameters={"a_m3": 5.0})
    np.testing.assert_allclose(heavy[3:], one.bias(q[3:], v[3:]), atol=1e-12)
    assert abs(heavy[:3] - both.bias(q, v)[:3]).max() > 1.0


def test_a_tool_on_a_flange_is_carried_by_it():
    arm = catena.load("two_link_arm")
    tool = catena.Mechanism(
        "tool",
        [catena.Body("blade", 0.5, (0.1, 0, 0), (0.01,) * 3)],
        [catena.Joint("grip", "fixed", "ground", "blade")],
        frames=[catena.Frame("edge", "blade", Pose(position=(0.2, 0, 0)))],
    )
    last = arm.bodies[-1].name
    held = catena.compile(attach(arm, tool, "tool_", on=last, at=Pose(position=(0.4, 0, 0))))
    q = np.array([0.4, -0.9])
    there = catena.compile(arm).pose(q, last) @ Pose(position=(0.6, 0, 0)).matrix()
    np.testing.assert_allclose(held.pose(q, "tool_edge"), there, atol=1e-14)


def test_loads_and_rows_come_along_under_new_names():
    arm = catena.load("two_link_arm")
    last = arm.bodies[-1].name
    arm = arm.with_(
        parameters={**arm.parameters, "k": 3.0},
        nonholonomic=[SpeedRow("row", "v_shoulder + k*v_elbow")],
        loads=[
            JointForce("f", "elbow", "-k*q_shoulder*v_elbow + sin(t)"),
            Spring("s", "ground", last, 5.0, 0.1),
        ],
    )
    made = attach(
        EMPTY.with_(gravity=arm.gravity), arm, "x_", at=Pose(position=(0, 1, 0))
    ).validate()
    assert (
        made.loads[0].force == "-x_k*q_x_shoulder*v_x_elbow + sin(t)"
        and made.loads[1].start == "x_ground"
    )
    assert made.nonholonomic[0].expression == "v_x_shoulder + x_k*v_x_elbow"
    q = np.array([0.3, 0.4])
    v = np.array([1.0, 2.0])
    ours, alone = (catena.compile(m.with_(nonholonomic=())) for m in (made, arm))
    np.testing.assert_allclose(ours.bias(q, v, t=0.3), alone.bias(q, v, t=0.3), atol=1e-12)


def test_a_subtree_is_what_a_body_carries():
    m = catena.load("stanford_arm")
    j = m.ordered[2]
    part = catena.compile(subtree(m, j.child).with_(gravity=(0, 0, 0)))
    whole = catena.compile(m.with_(gravity=(0, 0, 0)))
    q = np.random.default_rng(3).normal(size=whole.nq)
    own = [k for k, name in enumerate(whole.coordinate_names) if name in part.coordinate_names]
    np.testing.assert_allclose(
        part.mass_matrix(q[own]), whole.mass_matrix(q)[np.ix_(own, own)], atol=1e-12
    )


def test_a_locked_joint_stays():
    m = catena.load("stanford_arm")
    first, *rest = m.coordinate_names
    stiff = catena.compile(locked(m, {first: 0.6}))
    whole = catena.compile(m)
    q = np.array([0.6, *np.random.default_rng(4).normal(size=whole.nq - 1)])
    assert stiff.coordinate_names == tuple(rest)
    np.testing.assert_allclose(stiff.mass_matrix(q[1:]), whole.mass_matrix(q)[1:, 1:], atol=1e-12)
    with pytest.raises(UnknownNameError, match="joint"):
        locked(m, {"nobody": 0.0})
    with pytest.raises(MechanismError, match="values"):
        locked(m, {first: [0.0, 1.0]})


SCENE = """
name = "scene"
gravity = [0, -9.81, 0]
[[include]]
file = "arm.toml"
prefix = "left_"
parameters = { m1 = "2 kg" }
[[include]]
file = "arm.toml"
prefix = "right_"
on = "left_link3"
at = ["50 cm", 0, 0]
"""


def test_a_file_includes_others(tmp_path):
    catena.save(catena.load("triple_pendulum"), tmp_path / "arm.toml")
    (tmp_path / "scene.toml").write_text(
        SCENE.replace("left_link3", "left_" + catena.load("triple_pendulum").bodies[-1].name)
    )
    m = catena.load(tmp_path / "scene.toml")
    assert len(m.bodies) == 6 and m.parameters["left_m1"] == 2.0 and m.parameters["right_m1"] == 1.0
    again = tmp_path / "again.toml"
    catena.save(m, again)
    assert catena.load(again).coordinate_names == m.coordinate_names


@pytest.mark.parametrize(
    ("file", "more", "words"),
    [
        ("scene.toml", "", "includes itself"),
        ("../other.toml", "", "outside"),
        ("nobody.toml", "", "no such file"),
        ("arm.toml", "parameters = { m9 = 1 }", "m9"),
        ("arm.toml", "on = 'nobody'", "nobody"),
        ("arm.toml", "nonsense = 1", "nonsense"),
    ],
)
def test_a_wrong_include_is_refused_by_name(tmp_path, file, more, words):
    catena.save(catena.load("triple_pendulum"), tmp_path / "arm.toml")
    (tmp_path / "scene.toml").write_text(
        f'name = "s"\n[[include]]\nfile = "{file}"\nprefix = "a_"\n{more}\n'
    )
    with pytest.raises(FormatError, match=words):
        catena.load(tmp_path / "scene.toml")


def test_a_prefix_is_a_word():
    with pytest.raises(MechanismError, match="prefix"):
        attach(EMPTY, catena.load("two_link_arm"), "1-")


@pytest.mark.parametrize("normal", ["x", "y", "z"])
def test_a_mirror_image_moves_with_the_same_numbers(normal):
    """Turns, slides and a screw, oblique and offset: the image has the same inverse dynamics at the
    same coordinates.
    """

    def body(name):
        return catena.Body(
            name,
            1.3,
            (0.1, -0.05, 0.2),
            ((0.05, 0.004, 0.001), (0.004, 0.06, -0.003), (0.001, -0.003, 0.07)),
        )

    m = catena.Mechanism(
        "arm",
        [body(n) for n in "abcd"],
        [
            catena.Joint("one", "revolute", "ground", "a", AT, axis=(1, 2, 3)),
            catena.Joint("two", "prismatic", "a", "b", AT, axis=(0, 1, 2), offset=AT),
            catena.Joint("three", "helical", "b", "c", AT, axis=(2, -1, 1), pitch=0.3),
            catena.Joint("four", "universal", "c", "d", AT),
        ],
        frames=[catena.Frame("tip", "d", AT)],
        gravity=(1.0, 2.0, -9.0),
        loads=[catena.JointSpring("s", "one", 3.0, 0.1)],
    )
    image = mirrored(m, normal)
    here = catena.compile(m)
    there = catena.compile(image)
    q, v, a = np.random.default_rng(3).normal(size=(3, here.nv))
    np.testing.assert_allclose(
        there.inverse_dynamics(q, v, a), here.inverse_dynamics(q, v, a), atol=1e-11
    )
    S = np.diag([-1.0 if x == normal else 1.0 for x in "xyz"])
    np.testing.assert_allclose(
        there.pose(q, "tip")[:3, 3], S @ here.pose(q, "tip")[:3, 3], atol=1e-12
    )
    np.testing.assert_allclose(
        there.pose(q, "tip")[:3, :3], S @ here.pose(q, "tip")[:3, :3] @ S, atol=1e-12
    )
    again = catena.compile(mirrored(image, normal))
    np.testing.assert_allclose(again.bias(q, v), here.bias(q, v), atol=1e-12)


def test_what_has_no_image_is_refused_all_at_once():
    with pytest.raises(
        MechanismError, match=r"is planar(.|\n)*is general|is general(.|\n)*is planar"
    ):
        mirrored(catena.load("every_joint"))
    with pytest.raises(UnknownNameError, match="'w'"):
        mirrored(catena.load("two_link_arm"), "w")


def test_a_tool_is_replaced_and_a_branch_taken_off():
    arm = catena.load("two_link_arm")
    tool = catena.Mechanism(
        "tool",
        [catena.Body("blade", 0.5, (0.1, 0, 0), (0.01,) * 3)],
        [catena.Joint("grip", "fixed", "ground", "blade")],
    )
    last = arm.bodies[-1].name
    held = attach(arm, tool, "old_", on=last, at=AT)
    new = replaced(held, "old_blade", tool, "new_")
    q = np.array([0.4, -0.9])
    np.testing.assert_allclose(
        catena.compile(new).pose(q, "new_blade"),
        catena.compile(held).pose(q, "old_blade"),
        atol=1e-14,
    )
    assert [b.name for b in pruned(held, "old_blade").bodies] == [b.name for b in arm.bodies]
    with pytest.raises(MechanismError, match="lock the joint"):
        replaced(arm, last, tool, "t_")


def test_two_arms_hold_one_load():
    """Two copies of an arm, the second mirrored, close over a bar that both hold: the loop takes
    what planar arms lose.
    """
    arm = catena.load("two_link_arm")
    hand = arm.bodies[-1].name
    bar = catena.Mechanism(
        "bar",
        [catena.Body("bar", 1.0, (0.5, 0, 0), (0.01, 0.1, 0.1))],
        [catena.Joint("hold", "revolute", "ground", "bar", axis=arm.joints[0].axis)],
    )
    scene = attach(
        attach(EMPTY.with_(gravity=arm.gravity), arm, "l_"),
        mirrored(arm, "x"),
        "r_",
        at=Pose(position=(1.2, 0, 0)),
    )
    scene = attach(scene, bar, "b_", on=f"l_{hand}", at=Pose(position=(0.3, 0, 0)))
    closed = scene.with_(
        loops=[
            catena.Joint(
                "other",
                "revolute",
                f"r_{hand}",
                "b_bar",
                Pose(position=(-0.3, 0, 0)),
                axis=arm.joints[0].axis,
                offset=Pose(position=(1.0, 0, 0)),
            )
        ]
    )
    machine = catena.compile(closed)
    assert (
        catena.mobility(
            machine, catena.assemble(machine, np.array([0.6, 0.5, 0.6, 0.5, -0.5]))[0]
        ).degrees_of_freedom
        == 3
    )


def test_a_robot_on_a_vehicle_pushes_it(tmp_path):
    """A scene file with a URDF arm on a sliding vehicle: the whole has no outside force along the
    rail, so its momentum stays.
    """
    (tmp_path / "arm.urdf").write_text(
        '<robot name="arm"><link name="base"/><link name="rod"><inertial><origin xyz="0 0'
        ' .5"/><mass value="2"/><inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0"'
        ' iyz="0"/></inertial></link><joint name="pin" type="continuous"><origin xyz="0 0'
        ' .2"/><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/></joint></robot>'
    )
    (tmp_path / "scene.toml").write_text("""name = "rail"
        [[body]]
        name = "cart"
        mass = 5
        com = [0, 0, 0]
        inertia = [1, 1, 1]
        [[joint]]
        name = "rail"
        kind = "prismatic"
        parent = "ground"
        child = "cart"
        axis = [1, 0, 0]
        [[include]]
        file = "arm.urdf"
        prefix = "arm_"
        on = "cart"
        at = [0, 0, "10 cm"]
        """)
    machine = catena.compile(catena.load(tmp_path / "scene.toml"))
    assert machine.coordinate_names == ("rail", "arm_pin")
    run = catena.simulate(machine, q=[0, 1.0], until=0.5)
    p = machine.momentum(run.data["q"].values, run.data["v"].values)["linear"]
    assert np.abs(p[:, 0]).max() < 1e-7 and np.abs(run.data["q"].values[-1, 0]) > 0.01
