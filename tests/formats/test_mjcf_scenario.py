"""MJCF and runs: actuators against MuJoCo's own forces, keyframes as named states, contacts with
friction, meshes and excluded pairs.
"""

from __future__ import annotations

import numpy as np
import pytest

import catena
from catena.errors import FormatError, StateError
from catena.formats import mapping
from catena.simulation.scenario import read
from catena.simulation.system.first_order import System

mujoco = pytest.importorskip("mujoco")
DRIVEN = """<mujoco><compiler angle="radian"/><option timestep="0.004" gravity="0 0 -9.81"/><worldbody>
  <body name="a"><joint name="one" axis="0 1 0" damping=".3"/><geom type="capsule" fromto="0 0 0 .5 0 0" size=".05"/>
    <body name="b" pos=".5 0 0"><joint name="two" axis="0 1 0" range="-2 2"/><geom type="capsule" fromto="0 0 0 .5 0 0" size=".04"/></body></body>
</worldbody>
<tendon><fixed name="both"><joint joint="one" coef="1.5"/><joint joint="two" coef="-.5"/></fixed></tendon>
<actuator><motor name="m" joint="one" gear="3" ctrlrange="-1 1" forcerange="-.5 .4"/><position name="p" joint="two" kp="20" kv="2" gear="2"/>
  <velocity name="v" joint="one" kv="7"/><motor name="t" tendon="both" gear="2"/><muscle name="flesh" joint="one" lengthrange="0 1"/></actuator>
<keyframe><key name="up" qpos=".3 -.7" qvel=".1 .2" ctrl=".9 .4 -.2 .3 0"/></keyframe></mujoco>"""  # noqa: E501


@pytest.fixture
def driven(tmp_path):
    (tmp_path / "driven.xml").write_text(DRIVEN)
    return tmp_path / "driven.xml"


def test_actuators_push_as_mujoco_says(driven):
    m = mujoco.MjModel.from_xml_string(DRIVEN)
    d = mujoco.MjData(m)
    asked = read(driven, until=1.0, initial="up")
    np.testing.assert_allclose(asked.q, [0.3, -0.7])
    np.testing.assert_allclose(asked.v, [0.1, 0.2])
    mujoco.mj_resetDataKeyframe(m, d, 0)
    d.ctrl[4], d.act[:] = 0.0, 0.0
    import casadi as ca

    system = System(asked.mechanism)
    tau = ca.Function(
        "tau", [system.t, system.q, system.v, system.p], [asked.options["control"].law(system).tau]
    )
    rng = np.random.default_rng(0)
    for _ in range(5):
        d.qpos[:], d.qvel[:] = rng.normal(size=2), rng.normal(size=2)
        d.ctrl[:4] = [0.9, 0.4, -0.2, 0.3]
        mujoco.mj_forward(m, d)
        muscle = d.actuator_force[4] * m.actuator_gear[4, 0]
        np.testing.assert_allclose(
            np.array(tau(0.0, d.qpos, d.qvel, [])).ravel() + [muscle, 0],
            d.qfrc_actuator,
            atol=1e-12,
        )


def test_a_run_holds_the_signals_of_its_keyframe(driven):
    asked = read(driven, until=0.05, initial="up", step=None)
    assert asked.options["step"] == 0.004
    run = catena.simulate(asked.mechanism, **asked.arguments)
    found = {(e.element, e.name): e for e in mapping(driven)}
    assert run.ledger.met is not False
    assert (
        "activation dynamics" in found["actuator", "flesh"].how
        and found["actuator", "p"].outcome == "taken"
    )
    with pytest.raises(FormatError, match="no state 'down' in the scenario; states are: up"):
        read(driven, until=1.0, initial="down")


LIMITED = """<mujoco><compiler angle="radian"/><worldbody>
  <body name="a"><joint name="one" axis="0 1 0" actuatorfrcrange="-2 3"/><geom size=".1" pos=".3 0 0"/>
  <body name="b" pos=".5 0 0"><joint name="two" axis="0 1 0"/><geom size=".1" pos=".2 0 0"/>
  <body name="c" pos=".5 0 0"><joint name="three" axis="0 1 0" actuatorfrcrange="-1 1"/>
  <geom size=".1" pos=".2 0 0"/></body></body></body></worldbody>
<tendon><fixed name="both" actuatorfrcrange="-.7 .4"><joint joint="two" coef="1.5"/></fixed></tendon>
<actuator><position name="p" joint="one" kp="20" dampratio="1" gear="-2" forcerange="-1.2 9"/>
  <damper name="d" joint="two" kv="3" ctrlrange="0 2"/><motor name="t" tendon="both" gear="2"/>
  <general name="g" joint="two" gaintype="affine" gainprm="1 2 3" biastype="affine" biasprm="4 5 6"/>
  <cylinder name="c" joint="two" area=".3" timeconst=".2" bias=".1 .2 .3"/>
  <motor name="s" joint="three"/><motor name="u" joint="three"/></actuator></mujoco>"""  # noqa: E501


def test_ranges_of_joints_and_gains_that_vary_act_as_in_mujoco(tmp_path):
    import casadi as ca

    path = tmp_path / "limited.xml"
    path.write_text(LIMITED)
    m = mujoco.MjModel.from_xml_string(LIMITED)
    d = mujoco.MjData(m)
    rng = np.random.default_rng(0)
    for _ in range(12):
        signals = dict(zip("pdtgcsu", [*rng.normal(size=5).tolist(), 0.3, 0.2]))
        asked = read(path, until=1.0, signals=signals)
        d.qpos[:], d.qvel[:], d.act[:] = rng.normal(size=3), rng.normal(size=3), rng.normal(size=1)
        d.ctrl[:] = list(signals.values())
        mujoco.mj_forward(m, d)
        system = System(asked.mechanism)
        law = asked.options["control"].law(system)
        tau = ca.Function("tau", [system.t, system.q, system.v, system.p, law.state], [law.tau])
        found = np.array(tau(0.0, d.qpos, d.qvel, [], d.act)).ravel()
        np.testing.assert_allclose(found, d.qfrc_actuator, atol=1e-12)
    how = {e.name: e for e in mapping(path) if e.element == "actuator"}
    assert how["p"].outcome == how["d"].outcome == "taken"
    assert "of all actuators together" in how["s"].how and how["u"].outcome == "approximated"


def test_actuators_and_keyframes_of_followers_belong_to_their_leaders(tmp_path):
    """A gripper: the servo acts on the finger that follows. Power is the same on both sides, so
    MuJoCo's forces, projected onto the leader, are ours.
    """
    import casadi as ca

    text = """<mujoco><compiler angle="radian"/><worldbody><body><joint name="lead" axis="0 1 0"/>
    <geom size=".1" pos=".2 0 0"/><body pos=".5 0 0"><joint name="tail" axis="0 1 0" ref=".1"/>
    <geom size=".1" pos=".2 0 0"/></body></body></worldbody>
    <equality><joint joint1="tail" joint2="lead" polycoef=".3 -2 0 0 0"/></equality>
    <actuator><position name="p" joint="tail" kp="20" kv="3" gear="1.5"/>
    <general name="g" joint="tail" gaintype="affine" gainprm="1 2 3" biastype="affine" biasprm="4 5 6"/>
    </actuator><keyframe><key name="home" qpos=".2 0" ctrl=".4 .5"/></keyframe></mujoco>"""  # noqa: E501
    path = tmp_path / "gripper.xml"
    path.write_text(text)
    m = mujoco.MjModel.from_xml_string(text)
    d = mujoco.MjData(m)
    asked = read(path, until=0.1, initial="home")
    np.testing.assert_allclose(asked.q, [0.2])
    mimic = asked.mechanism.joint("tail").mimic
    system = System(asked.mechanism)
    law = asked.options["control"].law(system)
    tau = ca.Function("tau", [system.t, system.q, system.v, system.p], [law.tau])
    for q, v in ((0.2, 0.7), (-0.4, -1.1)):
        d.qpos[:] = q, mimic.multiplier * q + mimic.offset
        d.qvel[:], d.ctrl[:] = (v, mimic.multiplier * v), (0.4, 0.5)
        mujoco.mj_forward(m, d)
        ours = float(tau(0.0, [q], [v], []))
        assert ours == pytest.approx(
            d.qfrc_actuator[0] + mimic.multiplier * d.qfrc_actuator[1], rel=1e-12
        )
    curved = tmp_path / "curved.xml"
    curved.write_text(text.replace(".3 -2 0 0 0", ".3 -2 .5 0 0"))
    assert sum("follows another by a function" in n for n in catena.load(curved).notes) == 2


ACTIVE = """<mujoco><compiler angle="radian"/><option density="900" viscosity=".5" wind=".3 -.2 .1"/><worldbody>
  <body name="drone" pos="0 0 1"><freejoint name="f"/><geom type="box" size=".1 .2 .05"/><site name="rotor" pos=".1 .2 0" euler=".3 .2 .1"/>
    <body name="b" pos=".2 0 0"><joint name="h" axis="0 0 1"/><joint name="k" axis="0 1 0"/><inertial pos=".1 .02 0" mass="1" fullinertia=".02 .03 .025 .001 .002 -.001"/></body></body>
</worldbody><actuator><position name="p" joint="h" kp="20" kv="2" timeconst=".2"/><general name="g" joint="k" dyntype="filter" dynprm=".1" gainprm="3" ctrlrange="-1 1"/>
  <intvelocity name="i" joint="k" kp="10" actrange="-.5 .3"/><motor name="r" site="rotor" gear="0 0 2 .1 0 .3" ctrlrange="0 3" forcerange="0 1.5"/></actuator>
<keyframe><key name="go" ctrl=".5 2 .4 2"/></keyframe></mujoco>"""  # noqa: E501


def test_activations_thrusters_and_the_medium_act_as_in_mujoco(tmp_path):
    import casadi as ca

    (tmp_path / "active.xml").write_text(ACTIVE)
    m = mujoco.MjModel.from_xml_string(ACTIVE)
    asked = read(tmp_path / "active.xml", until=1.0, initial="go")
    d = mujoco.MjData(m)
    system = System(asked.mechanism)
    law = asked.options["control"].law(system)
    both = ca.Function(
        "law", [system.t, system.q, system.v, system.p, law.state], [law.tau, law.rate]
    )
    machine = catena.compile(asked.mechanism)
    rng = np.random.default_rng(0)
    dry = catena.compile(asked.mechanism.with_(loads=()))
    for k in range(5):
        mujoco.mj_integratePos(m, d.qpos, rng.normal(size=m.nv), 1.0)
        d.qvel[:], d.ctrl[:], d.act[:] = (
            rng.normal(size=m.nv),
            m.key_ctrl[0],
            (0.3, -0.7, (0.1, 0.3, -0.5, 0.4, 0.2)[k]),
        )
        mujoco.mj_forward(m, d)
        tau, rate = (np.array(x).ravel() for x in both(0.0, d.qpos, d.qvel, [], d.act))
        np.testing.assert_allclose(
            dry.bias(d.qpos, d.qvel) - machine.bias(d.qpos, d.qvel), d.qfrc_passive, atol=1e-11
        )
        held = d.act[2] >= 0.3  # at the end of its range
        np.testing.assert_allclose(
            rate, [*d.act_dot[:2], 0.0 if held else d.act_dot[2]], atol=1e-12
        )
        d.act[2] = min(d.act[2], 0.3)
        mujoco.mj_forward(m, d)
        np.testing.assert_allclose(tau, d.qfrc_actuator, atol=1e-12)


def test_an_actuator_in_python_says_what_is_wrong():
    with pytest.raises(StateError, match="it is a range"):
        catena.control.Actuator({"one": 1.0}, forces=(1.0, -1.0))
    with pytest.raises(StateError, match="bias three"):
        catena.control.Actuator({})
    with pytest.raises(StateError, match="a number above zero, s"):
        catena.control.Actuator({"one": 1.0}, time_constant=0.0)
    with pytest.raises(StateError, match="three numbers along the frame's axes"):
        catena.control.Thruster("tip", force=(1.0,))
    with pytest.raises(
        StateError,
        match="'actuator' has the signal 'sin\\(t\\)'; a signal is a number, or a trajectory",
    ):
        catena.simulate(
            catena.load("pendulum"),
            until=0.1,
            control=catena.control.Actuator(
                {catena.load("pendulum").speed_names[0]: 1.0}, signal="sin(t)"
            ),
        )


FLOOR = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1" friction=".4"/>
<body name="ball" pos="0 0 .2"><freejoint/><geom size=".1" friction=".7"/></body>
<body name="can" pos="1 0 .2"><freejoint/><geom type="cylinder" size=".1 .1"/></body>
<body name="arm" pos="2 0 2"><joint/><geom size=".1" contype="0" conaffinity="0"/></body>
</worldbody><contact><exclude body1="ball" body2="can"/></contact></mujoco>"""


def test_contacts_come_when_they_are_asked_for(tmp_path):
    path = tmp_path / "floor.xml"
    path.write_text(FLOOR)
    assert catena.load(path).contacts == () and catena.load(path).collisions.exclude == (
        ("ball", "can"),
    )
    m = catena.load(path, contacts=True)
    touch, can = m.contacts
    assert can.between == (("can",), "floor") and can.kinetic == 1.0
    assert (
        touch.between == (("ball",), "floor") and touch.kinetic == 0.7 and touch.restitution == 0.0
    )
    assert any("can on floor" in note and "Coulomb friction 1" in note for note in m.notes)
    only = m.with_(
        bodies=m.bodies[:1],
        joints=m.joints[:1],
        contacts=(touch,),
        collisions=catena.CollisionFilter(),
    )
    run = catena.simulate(only, q=[0, 0, 0.2, 1, 0, 0, 0], v=[1, 0, 0, 0, 0, 0], until=1.0)
    # it lies on the floor, and rolls
    assert run.data["q"].values[-1, 2] == pytest.approx(0.1, abs=1e-6)
    assert run.data["v"].values[-1, 0] == pytest.approx(5 / 7, abs=1e-4)


PAIRS = """<mujoco><worldbody><geom name="ramp" type="plane" size="1 1 1" euler="0 20 0" pos="0 0 .1"/>
<geom name="table" type="box" size=".1 .1 .1"/>
<body name="one" pos="0 0 1"><freejoint/><geom name="g" size=".1" contype="0" conaffinity="0"/></body>
<body name="two" pos="0 0 2"><freejoint/><geom name="h" size=".1" condim="1"/></body>
<body name="three" pos="0 0 3"><freejoint/><geom name="i" size=".1" contype="0" conaffinity="2"/></body>
</worldbody><contact><pair geom1="g" geom2="h" friction=".3 .2" solref="-100 -2"/>
<pair geom1="ramp" geom2="g" condim="1"/><pair geom1="table" geom2="g"/></contact></mujoco>"""  # noqa: E501


def test_pairs_and_masks_say_what_touches(tmp_path):
    """MuJoCo's list of contacts is the reference: which bodies touch, with which friction."""
    path = tmp_path / "pairs.xml"
    path.write_text(PAIRS)
    m = catena.load(path, contacts=True)
    found = {c.name: (c.between, c.kinetic, round(c.restitution, 3)) for c in m.contacts}
    assert found == {
        "two on ramp": ((("two",), "ramp"), 1.0, 0.0),
        "two on ground": ((("two",), "ground"), 1.0, 0.0),
        "one on two": ((("one",), "two"), 0.3, 0.744),
        "one on ramp": ((("one",), "ramp"), 0.0, 0.0),
    }
    why = {(e.element, e.name): e.how for e in mapping(path, contacts=True)}
    assert "a plane of the ground" in why["pair", "one on ground"]
    assert "first direction" in why["pair", "one on two"]
    theirs = mujoco.MjModel.from_xml_string(PAIRS)
    d = mujoco.MjData(theirs)
    d.qpos[2], d.qpos[9], d.qpos[16] = 0.1, 0.15, 0.1
    d.qpos[7] = 0.15
    mujoco.mj_forward(theirs, d)
    bodies = [theirs.body(theirs.geom_bodyid[g]).name for c in d.contact for g in c.geom]
    assert "three" not in bodies and {"one", "two"} <= {*bodies}


@pytest.mark.parametrize("ratio", [0.05, 0.2, 0.5, 0.9])
def test_restitution_is_that_of_mujocos_spring_and_damper(tmp_path, ratio):
    """A ball dropped in MuJoCo, with an impedance near one so that its contact is a linear spring
    and damper, leaves with the share of its speed that the reader takes.
    """
    text = f"""<mujoco><option timestep="2e-5" gravity="0 0 0"/><default><geom
    solref=".004 {ratio}" solimp=".9999 .9999 .001"/></default><worldbody><geom name="floor"
    type="plane" size="1 1 1"/><body name="ball" pos="0 0 .101"><freejoint/><geom size=".1"/></body>
    </worldbody></mujoco>"""
    path = tmp_path / "ball.xml"
    path.write_text(text)
    m = mujoco.MjModel.from_xml_string(text)
    d = mujoco.MjData(m)
    d.qvel[2] = -1.0
    while d.time < 0.5 and not (d.ncon == 0 and d.qvel[2] >= 0):
        mujoco.mj_step(m, d)
    (touch,) = catena.load(path, contacts=True).contacts
    assert touch.restitution == pytest.approx(d.qvel[2], abs=0.01)


def test_a_mesh_stands_where_its_file_says(tmp_path):
    """A box of triangles that is not centred: MuJoCo moves it to its centre of mass, the shape does
    not.
    """
    corners = [(x, y, z) for x in (1, 2) for y in (0, 1) for z in (0, 3)]
    faces = [
        (0, 1, 3),
        (0, 3, 2),
        (4, 6, 7),
        (4, 7, 5),
        (0, 4, 5),
        (0, 5, 1),
        (2, 3, 7),
        (2, 7, 6),
        (0, 2, 6),
        (0, 6, 4),
        (1, 5, 7),
        (1, 7, 3),
    ]
    (tmp_path / "box.obj").write_text(
        "".join(f"v {x} {y} {z}\n" for x, y, z in corners)
        + "".join(f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in faces)
    )
    (tmp_path / "m.xml").write_text(
        '<mujoco><asset><mesh file="box.obj" scale=".1 .1 .1"/></asset><worldbody><body'
        ' name="b"><freejoint/><geom type="mesh" mesh="box" pos="1 2'
        ' 3"/></body></worldbody></mujoco>'
    )
    b = catena.load(tmp_path / "m.xml").body("b")
    np.testing.assert_allclose(b.com, (1.15, 2.05, 3.15), atol=1e-7)
    (shape,) = b.shapes
    np.testing.assert_allclose(
        shape.pose.matrix(), catena.Pose(position=(1, 2, 3)).matrix(), atol=1e-7
    )
    assert shape.file == str(tmp_path / "box.obj") and shape.size == pytest.approx((0.1, 0.1, 0.1))
