"""URDF: every robot of example-robot-data against Pinocchio, hostile XML, faults in words, and the
way back.
"""

from __future__ import annotations

import math
import warnings
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

import catena
import zoo
from catena.errors import CatenaError, FormatError, MechanismError, MechanismWarning
from catena.formats import load, save
from catena.model.mechanism import GROUND, Body, Frame, Joint, Mechanism, Mimic, Shape
from catena.model.pose import Pose
from catena.model.validation import doubts
from robots import ROOT

ROBOTS = ROOT
ALL = sorted(ROBOTS.rglob("*.urdf"))
REFUSED = {  # files of the package that are not robots, and the words that say so
    "ur3.urdf": "it has no body",
    "alex_psyonic_hands.urdf": "joint 'Left_index_q2' mimics no joint 'index_q1'",
}
COMPARED = [
    "ur5_robot",
    "panda",
    "talos_reduced",
    "solo12",
    "anymal",
    "tiago_dual",
    "romeo",
    "baxter",
    "icub",
    "hyq_no_sensors",
    "double_pendulum_continuous",
    "g1_29dof_rev_1_0",
    "kinova",
    "pr2",
    "TwoDofs",
]

LINK = (
    '<link name="{}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0"'
    ' iyz="0"/></inertial></link>'
)
A, B, C = (LINK.format(name) for name in "abc")
JOINT = (
    '<joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>'
    '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
)


def robot(*elements: str) -> str:
    return f'<robot name="r">{"".join(elements)}</robot>'


def path_of(name: str) -> Path:
    return next(p for p in ALL if p.stem == name)


def quietly(path: Path, **asked) -> Mechanism:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MechanismWarning)
        return load(path, **asked)


@pytest.fixture
def read(tmp_path):
    """Load a text as a file."""

    def _read(text: str | bytes, **asked) -> Mechanism:
        path = tmp_path / "r.urdf"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return load(path, **asked)

    return _read


def faults_of(read, text: str | bytes, **asked) -> list[str]:
    with pytest.raises(FormatError) as caught:
        read(text, **asked)
    return list(caught.value.faults) or [str(caught.value).split(": ", 1)[1]]


def poses(m: Mechanism) -> dict[str, np.ndarray]:
    """Every body's pose in the ground where all coordinates are zero (and quaternions one), as 4 x
    4 matrices.
    """
    X = {GROUND: Pose()}
    for j in m.ordered:
        q = [1.0 if label == "qw" else 0.0 for f in j.freedoms for label in f.labels]
        if j.mimic:
            q = [j.mimic.offset]
        X[j.child] = X[j.parent] @ j.pose(q)
    return {name: pose.matrix() for name, pose in X.items()}


# --- real robots
@pytest.mark.parametrize("path", ALL, ids=lambda p: p.stem)
def test_every_robot_loads_or_is_refused_in_words(path):
    if path.name in REFUSED:
        with pytest.raises(FormatError, match=REFUSED[path.name]):
            quietly(path)
        return
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        m = load(path)
    assert len(caught) == bool(doubts(m)), "one warning, and only where there is a doubt"
    assert set(doubts(m)) <= set(m.notes)
    assert m.as_found


@pytest.mark.parametrize("name", COMPARED)
def test_a_robot_is_the_one_pinocchio_reads(name):
    path = path_of(name)
    model = pin.buildModelFromUrdf(str(path))
    data = model.createData()
    m = quietly(path, mimic=False)
    assert {j.name for j in m.moving} == set(model.names[1:])
    mass = sum(b.mass for b in m.bodies)
    on_ground = m.body(m.joints[0].child).mass  # Pinocchio leaves out what cannot move
    rest = sum(b.mass for b in m.bodies if _moves(m, b.name))
    assert pin.computeTotalMass(model) == pytest.approx(rest, rel=1e-12)
    assert mass >= rest and mass - rest >= on_ground - 1e-12
    for j in m.moving:
        if j.nv == 1:
            _same_limits(j, model)
    pin.framesForwardKinematics(model, data, pin.neutral(model))
    ours = poses(m)
    for frame, placement in zip(model.frames, data.oMf):
        name = {GROUND: f"{GROUND}_link"}.get(frame.name, frame.name)
        if frame.type == pin.FrameType.BODY and name in ours:
            assert ours[name] == pytest.approx(placement.homogeneous, abs=1e-12), frame.name
    assert len(ours) - 1 == sum(f.type == pin.FrameType.BODY for f in model.frames)


def _moves(m: Mechanism, name: str) -> bool:
    carrier = {j.child: j for j in m.joints}
    while name != GROUND:
        if carrier[name].nv:
            return True
        name = carrier[name].parent
    return False


def _same_limits(j: Joint, model: pin.Model) -> None:
    k = model.joints[model.getJointId(j.name)]
    effort = float(model.upperEffortLimit[k.idx_v])
    speed = float(model.upperVelocityLimit[k.idx_v])
    assert (j.effort[0], j.speed[0]) == (pytest.approx(effort), pytest.approx(speed)), j.name
    assert j.damping[0] == pytest.approx(float(model.damping[k.idx_v])), j.name
    if k.nq == 1:  # a continuous joint is a point on a circle there
        limits = float(model.lowerPositionLimit[k.idx_q]), float(model.upperPositionLimit[k.idx_q])
        assert (j.lower[0], j.upper[0]) == pytest.approx(limits), j.name
    else:
        assert (j.lower[0], j.upper[0]) == (-math.inf, math.inf)


@pytest.mark.parametrize(
    "name", ["ur5_robot", "talos_reduced", "anymal", "baxter", "simple_humanoid"]
)
def test_inertias_are_those_pinocchio_reads(name):
    """Each body's inertia, turned into the link's axes, put together by Pinocchio itself where
    bodies melt on fixed joints.
    """
    model = pin.buildModelFromUrdf(str(path_of(name)))
    m = quietly(path_of(name), mimic=False)
    total = {model.names[i]: pin.Inertia.Zero() for i in range(1, model.njoints)}
    carrier = {j.child: j for j in m.joints}
    for b in m.bodies:
        X, at = pin.SE3.Identity(), b.name
        while at != GROUND and not carrier[at].nv:
            X = pin.SE3(carrier[at].pose([]).matrix()) * X
            at = carrier[at].parent
        if at == GROUND:
            continue
        xx, xy, xz, yy, yz, zz = b.inertia
        I = pin.Inertia(
            b.mass, np.array(b.com), np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        )
        total[carrier[at].name] = total[carrier[at].name] + X.act(I)
    for joint, I in total.items():
        assert I.matrix() == pytest.approx(
            model.inertias[model.getJointId(joint)].matrix(), abs=1e-10
        ), joint


def test_order_is_the_order_of_the_file():
    m = quietly(path_of("solo12"))
    text = path_of("solo12").read_text()
    assert [j.name for j in m.joints[1:]] == sorted(
        (j.name for j in m.joints[1:]), key=lambda n: text.index(f'<joint name="{n}"')
    )


def test_floating_and_fixed_base():
    fixed = quietly(path_of("solo12"))
    floating = quietly(path_of("solo12"), floating=True)
    for m, kind, nv in ((fixed, "fixed", 12), (floating, "free", 18)):
        assert (m.joints[0].name, m.joints[0].kind, m.joints[0].parent) == (
            "root_joint",
            kind,
            GROUND,
        )
        assert sum(j.nv for j in m.moving) == nv


def test_mimic_is_coupled_or_said_to_be_free():
    coupled = quietly(path_of("panda"))
    free = quietly(path_of("panda"), mimic=False)
    assert coupled.joint("panda_finger_joint2").mimic == Mimic("panda_finger_joint1", 1.0, 0.0)
    assert (len(coupled.moving), len(free.moving)) == (8, 9)
    assert any("move on their own: panda_finger_joint2" in note for note in free.notes)
    assert free.body("panda_hand").collision and not any(
        "not read: collision" in note for note in free.notes
    )


# --- every element
@pytest.mark.filterwarnings("ignore::catena.errors.MechanismWarning")
def test_every_element_is_read(read):
    m = read("""<?xml version="1.0"?><!DOCTYPE robot><robot name="all">
      <material name="red"><color rgba="1 0 0 1"/></material>
      <link name="base"/>
      <link name="a"><inertial><origin xyz="1 2 3" rpy="0 0 1.5707963267948966"/><mass value="2"/>
        <inertia ixx="1" iyy="2" izz="2.5" ixy="0.1" ixz="0" iyz="0"/></inertial>
        <visual><origin xyz="0 0 1"/><geometry><box size="1 2 3"/></geometry><material name="red"/></visual>
        <visual><geometry><cylinder radius="0.1" length="2"/></geometry></visual>
        <visual><geometry><sphere radius="0.5"/></geometry><material name="x"><color rgba="0 1 0 0.5"/></material></visual>
        <visual><geometry><mesh filename="package://a/b.stl" scale="1 1 2"/></geometry></visual>
        <collision><geometry><box size="3 2 1"/></geometry></collision></link>
      <link name="b"/><link name="c"/><link name="d"/><link name="e"/><link name="f"/>
      <joint name="slide" type="prismatic"><parent link="base"/><child link="a"/><limit lower="0" upper="1" effort="5" velocity="inf"/>
        <dynamics damping="0.5" friction="0.25"/><safety_controller k_velocity="1"/></joint>
      <joint name="spin" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 2 0"/></joint>
      <joint name="follow" type="revolute"><parent link="b"/><child link="c"/><limit upper="1" effort="1" velocity="1"/>
        <mimic joint="spin" multiplier="-2" offset="0.5"/></joint>
      <joint name="plane" type="planar"><parent link="c"/><child link="d"/><axis xyz="0 0 1"/></joint>
      <joint name="fly" type="floating"><parent link="d"/><child link="e"/></joint>
      <joint name="bolt" type="fixed"><parent link="e"/><child link="f"/><origin rpy="0 0.5 0"/></joint>
      <gazebo/><transmission/></robot>""")  # noqa: E501
    a = m.body("a")
    slide = m.joint("slide")
    spin = m.joint("spin")
    assert (a.mass, a.com) == (2.0, (1.0, 2.0, 3.0))
    # turned by 90 degrees about z
    assert a.inertia == pytest.approx((2.0, -0.1, 0.0, 1.0, 0.0, 2.5), abs=1e-15)
    assert [s.kind for s in a.shapes] == ["box", "cylinder", "sphere", "mesh", "box"]
    assert a.collision == (Shape("box", (3.0, 2.0, 1.0), collides=True, drawn=False),)
    assert a.shapes[0] == Shape(
        "box", (1.0, 2.0, 3.0), Pose(position=(0, 0, 1)), colour=(1.0, 0.0, 0.0, 1.0)
    )
    assert (a.shapes[2].colour, a.shapes[3].file, a.shapes[3].size) == (
        (0.0, 1.0, 0.0, 0.5),
        "package://a/b.stl",
        (1.0, 1.0, 2.0),
    )
    assert slide.axis == ((1.0, 0.0, 0.0),), "URDF's default axis is x"
    assert (slide.lower, slide.upper, slide.effort, slide.speed) == (
        (0.0,),
        (1.0,),
        (5.0,),
        (math.inf,),
    )
    assert (slide.damping, slide.friction) == ((0.5,), (0.25,))
    assert (spin.kind, spin.axis, spin.upper) == ("revolute", ((0.0, 1.0, 0.0),), (math.inf,))
    assert (m.joint("follow").mimic, m.joint("follow").lower) == (Mimic("spin", -2.0, 0.5), (0.0,))
    assert [m.joint(n).kind for n in ("plane", "fly", "bolt", "root_joint")] == [
        "planar",
        "free",
        "fixed",
        "fixed",
    ]
    assert m.body("b") == Body.massless("b")
    assert "elements of the file that are not read: gazebo, safety_controller" in m.notes
    assert any("transmission 'number 1' is not taken: it has 0 joints" in n for n in m.notes)


MOTOR = """<robot name="r" xmlns:drake="drake"><link name="a"/><link name="b">
<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
</link><joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="30" velocity="1"/></joint>{}</robot>"""


@pytest.mark.parametrize(
    "actuator",
    [
        "<mechanicalReduction>-50</mechanicalReduction><rotorInertia>2e-4</rotorInertia>",
        '<drake:gear_ratio value="-50"/><drake:rotor_inertia value="2e-4"/>',
    ],
)
def test_a_motor_behind_a_gear_drives_its_joint_and_adds_its_rotor(tmp_path, actuator):
    """(I + n^2 J) a = n f with I = 1: by hand."""
    from catena.simulation.scenario import read

    path = tmp_path / "motor.urdf"
    path.write_text(
        MOTOR.format(
            '<transmission name="t"><type>SimpleTransmission</type><joint name="j"/>'
            f'<actuator name="motor">{actuator}</actuator></transmission>'
        )
    )
    m = catena.load(path)
    assert m.joint("j").armature[0] == pytest.approx(0.5)
    assert catena.compile(m).mass_matrix([0.0])[0, 0] == pytest.approx(1.5)
    for signals, force in (({"motor": 0.1}, -5.0), ({"j": 0.1}, -5.0), ({"motor": -9.0}, 30.0)):
        asked = read(path, until=0.1, signals=signals)
        run = catena.simulate(asked.mechanism, **asked.arguments)
        assert run.v.values[-1, 0] == pytest.approx(force / 1.5 * 0.1, rel=1e-9)
    with pytest.raises(FormatError, match=r"no actuator 'moter'.*'motor'"):
        read(path, until=0.1, signals={"moter": 1.0})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('<joint name="k"/><actuator name="m"/>', "the file has no joint 'k'"),
        ('<joint name="j"/><joint name="k"/><actuator name="m"/>', "2 joints and 1 actuators"),
        (
            '<joint name="j"/><actuator name="m"><gear_ratio value="0"/></actuator>',
            "its reduction is 0.0; a number other than zero",
        ),
        (
            '<joint name="j"/><actuator name="m"><rotorInertia>heavy</rotorInertia></actuator>',
            "its rotor inertia is 'heavy'",
        ),
    ],
)
def test_a_transmission_that_is_not_taken_is_named(tmp_path, text, words):
    path = tmp_path / "motor.urdf"
    path.write_text(MOTOR.format(f'<transmission name="t">{text}</transmission>'))
    assert any("transmission 't' is not taken" in n and words in n for n in catena.load(path).notes)


def test_ground_is_a_name_that_is_taken(read):
    bare = read(robot('<link name="ground"/>', B, JOINT.replace('"a"', '"ground"')))
    assert [j.name for j in bare.joints] == ["j"] and bare.joint("j").parent == GROUND
    heavy = read(robot(LINK.format("ground"), B, JOINT.replace('"a"', '"ground"')))
    assert (
        heavy.joint("j").parent == "ground_link"
        and "link 'ground' is called 'ground_link' here" in heavy.notes[0]
    )


def test_a_default_namespace_is_forgotten(read):
    assert (
        read(f'<robot name="r" xmlns="http://ros.org" xmlns:x="http://x"><x:macro/>{A}</robot>')
        .body("a")
        .mass
        == 1.0
    )


# --- faults
@pytest.mark.parametrize(
    ("text", "faults"),
    [
        (
            robot(A, B, JOINT.replace("revolute", "screw")),
            [
                "joint 'j': no joint type 'screw'; joint types are: fixed, continuous, revolute,"
                " prismatic, planar, floating."
            ],
        ),
        (
            robot(A, B, JOINT.replace('"a"', '"x"')),
            ["joint 'j': its parent: no body 'x'; bodies are: ground, a, b."],
        ),
        (
            robot(A, B, C, JOINT),
            ["2 links are carried by no joint ('a', 'c'); a URDF has one root link"],
        ),
        (robot(A, A), ["2 bodies are called 'a'; give each its own name"]),
        (
            robot(
                A,
                B,
                JOINT,
                JOINT.replace('"j"', '"k"')
                .replace('"a"', '"x"')
                .replace('"b"', '"a"')
                .replace('"x"', '"b"'),
            ),
            [
                f"body {n!r} is not joined to 'ground': its parents lead round in a cycle or to a"
                " loose body"
                for n in "ab"
            ],
        ),
        (
            robot(A, B, JOINT.replace("0 0 1", "0,0 1")),
            [
                "joint 'j': axis: xyz is '0,0 1'; 3 numbers with spaces between them are wanted;"
                " write a point, not a comma"
            ],
        ),
        (
            robot(A, B, JOINT.replace("0 0 1", "0 0 nan")),
            ["joint 'j': axis: xyz is '0 0 nan'; 3 numbers with spaces between them are wanted"],
        ),
        (
            robot(A, B, JOINT.replace("0 0 1", "0 0 0")),
            [
                "joint 'j': axis (0.0, 0.0, 0.0) has no direction; give three finite numbers that"
                " are not all zero"
            ],
        ),
        (
            robot(A, B, JOINT.replace('"-1"', '"${x}"')),
            [
                "joint 'j': limit: lower is '${x}'; a number is wanted; this is a xacro file, run"
                " xacro first"
            ],
        ),
        (
            robot(A, B, JOINT.replace('"-1"', '"3"')),
            ["joint 'j': lower limit 3 is above upper limit 1"],
        ),
        (
            robot(A.replace('value="1"', 'value="-1"')),
            ["body 'a': mass is -1 kg; a mass is zero or more"],
        ),
        (
            robot(A.replace('value="1"', 'value="1e999"')),
            ["link 'a': inertial: mass: value is '1e999'; a number is wanted"],
        ),
        (robot(A.replace(' ixy="0"', "")), ["link 'a': inertial: inertia: ixy is missing"]),
        (
            robot('<link name="a"><inertial><mass value="1"/></inertial></link>'),
            ["link 'a': inertial: inertia is missing"],
        ),
        (
            robot(A, B, JOINT.replace("</joint>", '<mimic joint="q"/></joint>')),
            ["joint 'j' mimics no joint 'q'; joints are: root_joint, j."],
        ),
        (
            robot(A, B, JOINT.replace("</joint>", "<mimic/></joint>")),
            ["joint 'j': mimic: joint is missing"],
        ),
        (robot("<link/>"), ["link number 1: name is missing"]),
        (robot(), ["it has no body; give it at least one"]),
        ("<mujoco/>", ["the file is a MuJoCo model (MJCF); a URDF begins with <robot>"]),
        ("<a><b></a>", ["the file is not XML: mismatched tag: line 1, column 8"]),
        ("", ["the file is not XML: no element found: line 1, column 0"]),
        (
            '<?xml version="1.0" encoding="klingon"?><robot/>',
            ["the file is not XML that can be read: unknown encoding: klingon"],
        ),
    ],
)
def test_each_fault_is_one_sentence(read, text, faults):
    assert faults_of(read, text) == faults


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (
            '<!DOCTYPE r [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]><robot name="&b;"/>',
            "defines an XML entity 'a'; entities are refused",
        ),
        (
            '<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/passwd">]><robot name="r">&a;</robot>',
            "defines an XML entity 'a'; entities are refused",
        ),
        (
            '<!DOCTYPE r [<!ENTITY % p SYSTEM "http://localhost/x.dtd"> %p;]><robot/>',
            "entities are refused",
        ),
        ("<a>" * 100_000, "more than 100 deep"),
    ],
)
def test_hostile_xml_is_refused(read, text, word):
    assert word in faults_of(read, text)[0]


def test_an_external_dtd_is_not_fetched(read):
    assert (
        read(f'<!DOCTYPE robot SYSTEM "http://localhost:1/robot.dtd">{robot(A)}').body("a").mass
        == 1.0
    )


def test_a_huge_file_is_refused(tmp_path):
    path = tmp_path / "huge.urdf"
    with path.open("wb") as file:
        file.truncate(51 * 2**20)
    with pytest.raises(FormatError, match="larger than 50 MB"):
        load(path)


# --- the way back
@pytest.mark.parametrize(
    "name",
    [
        "ur5_robot",
        "panda",
        "talos_reduced",
        "g1_29dof_rev_1_0",
        "tiago_dual",
        "romeo",
        "double_pendulum_continuous",
    ],
)
def test_a_robot_written_and_read_again_is_the_same(name, tmp_path):
    m = quietly(path_of(name))
    save(m, tmp_path / "again.urdf")
    again = quietly(tmp_path / "again.urdf")
    assert [j.name for j in again.ordered] == [j.name for j in m.ordered]
    assert again.bodies == m.bodies
    for j, k in zip(m.joints, again.joints):
        assert (j.kind, j.parent, j.child, j.axis, j.mimic) == (
            k.kind,
            k.parent,
            k.child,
            k.axis,
            k.mimic,
        )
        assert (j.lower, j.upper, j.effort, j.speed, j.damping, j.friction) == (
            k.lower,
            k.upper,
            k.effort,
            k.speed,
            k.damping,
            k.friction,
        )
    ours, theirs = poses(m), poses(again)
    assert all(ours[n] == pytest.approx(theirs[n], abs=1e-14) for n in ours)
    pin.buildModelFromUrdf(str(tmp_path / "again.urdf"))  # and another reader takes it
    save(m, tmp_path / "again.toml")
    assert quietly(tmp_path / "again.toml") == m


def test_offsets_frames_and_a_free_base_survive(tmp_path):
    tree = zoo.random_tree(4, ["free", "revolute", "prismatic", "planar", "fixed", "revolute"])
    m = tree.with_(
        frames=(
            Frame("tip", "body5", Pose.rpy(1, 2, 3, (1, 2, 3))),
            Frame("mark", GROUND, Pose(position=(1, 0, 0))),
        )
    )
    save(m, tmp_path / "tree.urdf")
    again = load(tmp_path / "tree.urdf")
    assert [j.name for j in again.moving] == [j.name for j in m.moving]
    ours, theirs = poses(m), poses(again)
    for name in ours:
        assert theirs[name] == pytest.approx(ours[name], abs=1e-14), name
    for f in m.frames:
        assert theirs[f.name] == pytest.approx((ours[f.body] @ f.pose.matrix()), abs=1e-14)
    assert all(
        again.body(b.name).inertia == b.inertia and again.body(b.name).com == b.com
        for b in m.bodies
    )


@pytest.mark.parametrize("pitch", [math.pi / 2, -math.pi / 2, math.pi / 2 - 1e-9, 1.5707963, 0.3])
def test_roll_pitch_yaw_is_exact_near_the_poles(pitch):
    for roll in (-2.0, 0.0, 0.7):
        for yaw in (0.0, 1.1, 3.0):
            R = Pose.rpy(roll, pitch, yaw)
            assert np.array(Pose.rpy(*R.roll_pitch_yaw()).rotation) == pytest.approx(
                np.array(R.rotation), abs=1e-15
            )


def test_what_urdf_cannot_say_is_refused_by_name(tmp_path):
    ball = zoo.random_tree(1, ["ball", "helical", "revolute"]).with_(gravity=(0, 0, 0))
    elbow = Joint("elbow", "revolute", "body1", "body2", armature=0.1)
    m = ball.with_(
        joints=(*ball.joints[:2], elbow), loops=(Joint("close", "ball", "body2", GROUND),)
    )
    with pytest.raises(MechanismError) as caught:
        save(m, tmp_path / "tree.urdf")
    assert "save it as .toml" in str(caught.value)
    assert list(caught.value.faults) == [
        "URDF has no gravity, and its readers take (0.0, 0.0, -9.81); here it is (0.0, 0.0, 0.0)",
        "joint 'ball0': URDF has no ball joint",
        "joint 'helical1': URDF has no helical joint",
        "joint 'elbow': URDF has no armature",
        "loop 'close': URDF has no loops",
    ]
    assert not list(tmp_path.iterdir())


def test_a_name_xml_cannot_hold_is_refused(tmp_path):
    m = Mechanism(
        "m",
        (Body("a\x01", 1, (0, 0, 0), (1, 1, 1)),),
        (Joint("root_joint", "fixed", GROUND, "a\x01"),),
    )
    with pytest.raises(CatenaError, match="which XML cannot hold"):
        save(m, tmp_path / "m.urdf")
