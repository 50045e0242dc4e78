"""MJCF: mass matrix, bias, Jacobians, springs and loops against MuJoCo itself; hostile files; what
the mapping says.
"""

from __future__ import annotations

import numpy as np
import pytest

import catena
from catena.errors import FormatError, UnknownNameError
from catena.formats import mapping
from catena.formats.mjcf.names import Names
from catena.machine.machine import Machine
from mjcf_models import INERTIAL, TREE

mujoco = pytest.importorskip("mujoco")
CLOSED = """<mujoco><option jacobian="dense"/><worldbody>
  <body name="a">%s<joint axis="0 0 1"/>
    <body name="b" pos="1 0 0">%s<joint axis="0 1 0"/><site name="s" pos="1 0 .2" quat="1 0 0 1"/></body></body>
  <body name="c" pos="1 1 0">%s<freejoint/><site name="t" quat="1 1 1 0" pos=".3 .2 .1"/></body>
</worldbody><equality>{}</equality></mujoco>""" % ((INERTIAL.format(1),) * 3)  # noqa: E501

LOOPS = f"""<mujoco><compiler angle="radian"/><worldbody>
  <body name="a">{INERTIAL.format(1)}<joint name="ja" axis="0 0 1"/>
    <body name="b" pos="1 0 0">{INERTIAL.format(1)}<joint name="jb" axis="0 0 1"/><site name="s" pos="1 0 .2"/></body></body>
  <body name="c" pos="1 1 0">{INERTIAL.format(1)}<joint name="jc" type="ball"/><joint name="jd" type="slide" axis="1 0 0"/></body>
  <body name="d" pos="0 2 0">{INERTIAL.format(1)}<joint name="je" axis="0 0 1" ref=".3"/></body>
</worldbody><equality>
  <connect name="pin" body1="b" body2="c" anchor=".5 .2 .1"/>
  <weld name="held" body1="c" body2="d" relpose=".1 .2 .3 .9 .1 .2 .3" anchor=".1 .1 .1"/>
  <joint name="follow" joint1="je" joint2="ja" polycoef=".1 2 0 0 0"/>
  <joint name="curved" joint1="jb" joint2="ja" polycoef="0 1 1 0 0"/>
</equality></mujoco>"""  # noqa: E501


@pytest.fixture
def files(tmp_path):
    def write(text, name="model.xml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return write


def states(m, n=5):
    rng = np.random.default_rng(3)
    for _ in range(n):
        q = np.array(m.qpos0)
        mujoco.mj_integratePos(m, q, rng.normal(size=m.nv), 1.0)
        yield q, rng.normal(size=m.nv)


def moved(m, q, v):
    d = mujoco.MjData(m)
    d.qpos[:], d.qvel[:] = q, v
    mujoco.mj_forward(m, d)
    return d


def jacobian(m, d, b):
    turning = np.zeros((3, m.nv))
    sliding = np.zeros((3, m.nv))
    mujoco.mj_jacBody(m, d, sliding, turning, b)
    return np.vstack([turning, sliding])


def test_a_tree_with_every_joint_moves_as_mujoco_says(files):
    m = mujoco.MjModel.from_xml_string(TREE)
    mechanism = catena.load(files(TREE))
    bare = catena.compile(mechanism.with_(loads=()))
    full = catena.compile(mechanism)
    names = Names(m)
    for q, v in states(m):
        d = moved(m, q, v)
        M = np.zeros((m.nv, m.nv))
        mujoco.mj_fullM(m, d, M)
        np.testing.assert_allclose(bare.mass_matrix(q), M, rtol=0, atol=1e-12)
        np.testing.assert_allclose(bare.bias(q, v), d.qfrc_bias, rtol=0, atol=1e-11)
        for b in range(1, m.nbody):
            np.testing.assert_allclose(
                bare.jacobian(q, names.body(b)), jacobian(m, d, b), rtol=0, atol=1e-12
            )
        loads = bare.bias(q, v) - full.bias(q, v)  # springs, tendons, compensated weight
        np.testing.assert_allclose(loads - m.dof_damping * v, d.qfrc_passive, rtol=0, atol=1e-11)


@pytest.mark.parametrize("life", ["lanes", "generic"])
@pytest.mark.parametrize("poly", ["0.1 -0.8 0 0 0", "0.1 0.5 0.3 -0.2 0.05"])
def test_a_spring_on_a_joint_that_follows_another_is_felt_there(files, poly, life):
    """d'Alembert: the force along the leader is its own and that of the follower times dq2/dq1,
    MuJoCo's qfrc_passive of both.
    """
    text = f"""<mujoco><compiler autolimits="true"/><worldbody>
      <body name="a"><joint name="lead" type="hinge" axis="0 1 0" stiffness="3" springref="20" damping=".2"/><geom size=".1" mass="1"/>
      <body name="b" pos=".3 0 0"><joint name="tail" type="slide" axis="1 0 0" ref=".2" stiffness="7" springref="0.4"/><geom size=".1" mass="2"/></body></body></worldbody>
      <equality><joint joint1="tail" joint2="lead" polycoef="{poly}"/></equality></mujoco>"""  # noqa: E501
    m = mujoco.MjModel.from_xml_string(text)
    mechanism = catena.load(files(text))
    full, bare = (Machine(x, life=life) for x in (mechanism, mechanism.with_(loads=())))
    f = np.polynomial.Polynomial([float(x) for x in poly.split()])
    for q in (-0.7, 0.3, 1.1):
        d = moved(m, [q, 0.2 + f(q)], [0.5, 0.5 * f.deriv()(q)])
        slope = f.deriv()(q)
        # less the damping, which is a loss here
        passive = d.qfrc_passive[0] + slope * d.qfrc_passive[1] + 0.2 * 0.5
        np.testing.assert_allclose(
            bare.bias([q], [0.5]) - full.bias([q], [0.5]), [passive], rtol=0, atol=1e-12
        )
    stored = full.energy([0.3], [0.0])[1] - bare.energy([0.3], [0.0])[1]
    assert stored == pytest.approx(
        1.5 * (0.3 - np.radians(20)) ** 2 + 3.5 * (0.2 + f(0.3) - 0.4) ** 2, abs=1e-12
    )


@pytest.mark.parametrize(
    "equality",
    [
        '<connect name="pin" body1="b" body2="c" anchor=".5 .2 .1"/>',
        '<weld body1="b" body2="c" relpose=".1 .2 .3 .9 .1 .2 .3" anchor=".1 .1 .1"/>',
        '<connect site1="s" site2="t"/>',
        '<weld site1="s" site2="t"/>',
    ],
)
def test_connect_and_weld_have_the_jacobian_of_mujoco(files, equality):
    text = CLOSED.format(equality)
    m = mujoco.MjModel.from_xml_string(text)
    machine = catena.compile(catena.load(files(text)))
    q, _ = catena.assemble(machine, next(states(m))[0])
    d = moved(m, q, np.zeros(m.nv))
    assert np.abs(d.efc_pos).max() < 1e-9  # closed there, closed here
    ours = machine.constraint_rows(q, np.zeros(m.nv))[3]
    theirs = np.array(d.efc_J).reshape(d.nefc, m.nv)
    assert len(ours) == len(theirs)
    np.testing.assert_allclose(
        np.linalg.pinv(ours) @ ours, np.linalg.pinv(theirs) @ theirs, rtol=0, atol=1e-9
    )


@pytest.mark.parametrize(
    "second", ['tendon2="two" polycoef=".1 -.6 0 0 0"', 'polycoef=".1 0 0 0 0"']
)
def test_equalities_of_fixed_tendons_couple_coordinates(files, second):
    text = (
        LOOPS[: LOOPS.index("<equality>")]
        + f"""<tendon><fixed name="one"><joint joint="ja" coef=".7"/><joint joint="je" coef="-2"/></fixed>
      <fixed name="two"><joint joint="jb" coef=".5"/><joint joint="ja" coef=".2"/></fixed></tendon><equality><tendon name="tied" tendon1="one" {second}/></equality></mujoco>"""  # noqa: E501
    )
    m = mujoco.MjModel.from_xml_string(text)
    machine = Machine(catena.load(files(text)))
    q = np.array(next(states(m))[0])
    d = mujoco.MjData(m)
    d.qpos[:] = q
    mujoco.mj_forward(m, d)
    J = np.zeros((d.nefc, m.nv))
    (
        mujoco.mju_sparse2dense(J, d.efc_J, d.efc_J_rownnz, d.efc_J_rowadr, d.efc_J_colind)
        if mujoco.mj_isSparse(m)
        else J.flat.__setitem__(slice(None), d.efc_J)
    )
    error, *_, ours = machine.constraint_rows(q, np.zeros(m.nv))
    np.testing.assert_allclose(ours, J[:1], atol=1e-14)
    np.testing.assert_allclose(error, d.efc_pos[:1], atol=1e-14)


def test_the_mapping_says_what_became_of_every_element(files):
    found = {(e.element, e.name): e for e in mapping(files(TREE))}
    assert found["joint", "hinge"].outcome == "taken"
    assert found["tendon", "rope"].how.startswith("a cable")
    assert found["actuator", "actuator0"].outcome == "taken"
    assert "initial = 'home'" in found["keyframe", "home"].how
    mechanism = catena.load(files(LOOPS))
    assert mechanism.joint("je").mimic.multiplier == 2 and mechanism.joint(
        "je"
    ).mimic.offset == pytest.approx(0.3 + 0.1)
    assert mechanism.joint("jb").mimic.function.y == (0.0, 1.0, 1.0)


def test_shapes_collide_where_the_file_lets_them(files):
    mechanism = catena.load(files(TREE))
    assert [s.kind for s in mechanism.ground] == ["plane"] and mechanism.ground[0].collides
    assert (
        mechanism.body("arm").shapes[0].size == (0.05, 0.4)
        and not mechanism.body("arm").shapes[0].collides
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<mujoco><include file='model.xml'/></mujoco>", "includes itself"),
        ("<mujoco><include file='../other.xml'/></mujoco>", "outside"),
        ("<mujoco><asset><mesh file='/tmp/x.stl'/></asset></mujoco>", "outside"),
        ("<mujoco><asset><mesh file='x.stl'/></asset></mujoco>", "x.stl"),
        (
            "<mujoco><worldbody><body><joint/></body></worldbody></mujoco>",
            "MuJoCo does not take the file",
        ),
        ("<mujoco><nonsense/></mujoco>", "nonsense"),
        ("<mujoco><worldbody/></mujoco>", "no body"),
        ("<mujocoinclude/>", "a part that other files include"),
        ("<!DOCTYPE x [<!ENTITY a 'b'>]><mujoco>&a;</mujoco>", "entities are refused"),
        ("<mujoco>", "not XML"),
        ("<mujoco>" + "<body>" * 200 + "</body>" * 200 + "</mujoco>", "deep"),
    ],
)
def test_a_file_that_cannot_be_taken_is_refused_in_a_sentence(files, text, words):
    with pytest.raises(FormatError, match=words):
        catena.load(files(text))


def test_meshes_that_are_not_there_can_be_left_out_but_no_mass(files):
    text = """<mujoco><asset><mesh name="m" file="none.stl"/><texture name="t" type="2d" file="none.png"/><material name="c" texture="t"/></asset><worldbody><body name="a">{}
      <joint name="j" axis="0 1 0"/><geom name="seen" type="mesh" mesh="m" material="c"/></body></worldbody></mujoco>"""  # noqa: E501
    path = files(text.format(INERTIAL.format(2)))
    for options in ({}, {"meshes": False}):  # what is missing is left out, or all of them
        m = catena.load(path, **options)
        assert m.body("a").mass == 2.0 and m.body("a").shapes == ()
    assert any("geom seen: refused" in n and "is missing" in n for n in catena.load(path).notes)
    assert {
        (e.element, e.name) for e in mapping(path, meshes=False) if "meshes=False" in e.how
    } == {("geom", "seen"), ("mesh", "m"), ("texture", "t")}
    with pytest.raises(FormatError, match="mass and inertia of these bodies are not known: a"):
        catena.load(files(text.format("")), meshes=False)
    with pytest.raises(FormatError, match="mass and inertia of these bodies are not known: a"):
        catena.load(files(text.format("")))


def test_only_the_meshes_that_are_missing_are_left_out(files, tmp_path):
    (tmp_path / "tip.obj").write_text(
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
    )
    path = files(
        f"""<mujoco><asset><mesh name="here" file="tip.obj"/><mesh name="gone" file="none.obj"/>
        </asset><worldbody><body name="a">{INERTIAL.format(2)}<freejoint/>
        <geom name="one" type="mesh" mesh="here"/><geom name="two" type="mesh" mesh="gone"/></body>
        </worldbody><sensor><accelerometer site="s"/></sensor></mujoco>""".replace(
            "<freejoint/>", '<freejoint/><site name="s"/>'
        )
    )
    assert [s.name for s in catena.load(path).body("a").shapes] == ["one"]
    assert {(e.element, e.name) for e in mapping(path) if "missing" in e.how} == {
        *(("geom", "two"), ("mesh", "gone"), ("sensor", "")),
    }


def test_meshes_of_included_files_lie_where_the_main_file_says(files, tmp_path):
    (tmp_path / "shapes").mkdir()
    (tmp_path / "shapes" / "tip.obj").write_text(
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
    )
    files("<mujoco><asset><mesh file='../shapes/tip.obj'/></asset></mujoco>", "parts/assets.xml")
    path = files(
        "<mujoco><compiler meshdir='parts'/><include file='parts/assets.xml'/><worldbody><body"
        " name='a'><freejoint/><geom type='mesh' mesh='tip'/></body></worldbody></mujoco>"
    )
    assert catena.load(path).body("a").mass > 0


CHAIN = """<mujoco><compiler angle="radian"/><worldbody><body>
<joint name="a" axis="0 1 0" ref=".2"/><geom size=".1" pos=".3 0 0"/>
<body pos=".5 0 0"><joint name="b" axis="0 1 0" ref=".1"/><geom size=".1"/>
<body pos=".5 0 0"><joint name="c" axis="0 1 0"/><geom size=".1"/></body></body></body></worldbody>
<equality>{}</equality></mujoco>"""


def test_a_joint_that_follows_a_follower_follows_its_leader(files):
    """q_c = .3 + 2 q_b', q_b' = q_b - .1 = .4 - 3 (q_a - .2): checked by MuJoCo's own residuals."""
    text = CHAIN.format(
        '<joint joint1="c" joint2="b" polycoef=".3 2 0 0 0"/>'
        '<joint joint1="b" joint2="a" polycoef=".4 -3 0 0 0"/>'
    )
    mechanism = catena.load(files(text))
    assert [j.mimic.joint for j in mechanism.joints if j.mimic] == ["a", "a"]
    m = mujoco.MjModel.from_xml_string(text)
    d = mujoco.MjData(m)
    for a in (0.1, 0.7):
        b, c = (
            mechanism.joint(n).mimic.multiplier * a + mechanism.joint(n).mimic.offset for n in "bc"
        )
        d.qpos[:] = a, b, c
        mujoco.mj_forward(m, d)
        np.testing.assert_allclose(d.efc_pos[:2], 0.0, atol=1e-14)


def test_a_curve_holds_a_joint_with_losses_by_a_constraint(files):
    """A follower by a function can have no damping of its own."""
    text = CHAIN.replace('name="c" axis', 'name="c" damping=".1" axis').format(
        '<joint joint1="c" joint2="b" polycoef=".3 2 .5 0 0"/>'
    )
    mechanism = catena.load(files(text))
    assert mechanism.joint("c").mimic is None and len(mechanism.constraints) == 1
    m = mujoco.MjModel.from_xml_string(text)
    d = mujoco.MjData(m)
    d.qpos[:] = 0.2, 0.4, -0.3
    mujoco.mj_forward(m, d)
    error, *_, rows = Machine(mechanism).constraint_rows(d.qpos, np.zeros(3))
    np.testing.assert_allclose(error, d.efc_pos[:1], atol=1e-14)
    np.testing.assert_allclose(rows, np.array(d.efc_J).reshape(-1, 3)[:1], atol=1e-14)


def test_equalities_that_no_follower_can_hold_are_constraints(files):
    """A joint held at a value, two equalities of one joint, and a circle of them."""
    text = CHAIN.format(
        '<joint joint1="c" joint2="b" polycoef=".3 2 .5 0 0"/><joint joint1="c" joint2="a"/>'
        '<joint joint1="b" joint2="c" polycoef="0 1 0 0 .2"/>'
        '<joint joint1="a" polycoef=".25 0 0 0 0"/>'
    )
    mechanism = catena.load(files(text))
    assert len(mechanism.constraints) == 3 and mechanism.joint("c").mimic.joint == "b"
    m = mujoco.MjModel.from_xml_string(text)
    d = mujoco.MjData(m)
    machine = Machine(mechanism)
    f = mechanism.joint("c").mimic.function.y
    for a, b in ((0.1, 0.3), (-0.4, 0.7)):
        d.qpos[:] = a, b, np.polynomial.Polynomial(f)(b)
        mujoco.mj_forward(m, d)
        np.testing.assert_allclose(d.efc_pos[0], 0.0, atol=1e-14)
        found = machine.constraint_rows([a, b], np.zeros(2))[0]
        np.testing.assert_allclose(found, d.efc_pos[1:4], atol=1e-13)


def test_another_folder_must_be_named(files, tmp_path):
    files(
        "<mujoco><worldbody><body name='x'><freejoint/><geom"
        " size='.1'/></body></worldbody></mujoco>",
        "part.xml",
    )
    inner = files("<mujoco><include file='../part.xml'/></mujoco>", "inner/model.xml")
    with pytest.raises(FormatError, match="within"):
        catena.load(inner)
    assert catena.load(inner, within=tmp_path).body("x").mass > 0
    with pytest.raises(UnknownNameError, match="within"):
        catena.load(inner, folder=tmp_path)
