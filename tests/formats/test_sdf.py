"""SDF: Cassie's closed loops, a four-bar against our own, poses in other frames, and what is
refused.
"""

from __future__ import annotations

import numpy as np
import pytest

import catena
from catena.errors import FormatError
from catena.formats import mapping
from catena.formats.draft import ROOT_JOINT
from robots import folder

INERTIAL = (
    "<inertial><pose>.1 0 0 .3 0"
    " 0</pose><mass>2</mass><inertia><ixx>.1</ixx><iyy>.2</iyy><izz>.25</izz><ixy>0</ixy><ixz>0</ixz><iyz>.01</iyz></inertia></inertial>"  # noqa: E501
)
LINK = "<link name='{}'><pose{}>{}</pose>" + INERTIAL + "</link>"
HINGE = (
    "<joint name='{}' type='revolute'><parent>{}</parent><child>{}</child><axis><xyz>0 0"
    " 1</xyz>{}</axis></joint>"
)

GEARBOX = (
    "<joint name='g'"
    " type='gearbox'><parent>{}</parent><child>{}</child><gearbox_reference_body>{}</gearbox_reference_body><gearbox_ratio>{}</gearbox_ratio><axis><xyz>0"  # noqa: E501
    " 0 1</xyz></axis><axis2><xyz>{}</xyz></axis2></joint>"
)


def model(*parts, head=""):
    return f"<sdf version='1.7'>{head}<model name='m'>{''.join(parts)}</model></sdf>"


@pytest.fixture
def load(tmp_path):
    def read(text, **options):
        (tmp_path / "m.sdf").write_text(text)
        return catena.load(tmp_path / "m.sdf", **options)

    return read


def test_cassie_is_closed_and_has_the_freedoms_that_finite_differences_find():
    """22 hinges and four rods that close with balls. The ranks of two routes agree: rows, and
    differences of the gaps.
    """
    m = catena.load(folder("cassie") / "cassie_v2.sdf")
    machine = catena.compile(m)
    assert len(m.loops) == 4 and {j.kind for j in m.loops} == {"ball"} and machine.nv == 22
    q, _ = catena.assemble(
        machine, machine.neutral() + 0.05 * np.random.default_rng(0).normal(size=22)
    )

    def gaps(q):
        ends = [
            (
                machine.pose(q, j.parent) @ j.placement.matrix(),
                machine.pose(q, j.child) @ j.offset.matrix(),
            )
            for j in m.loops
        ]
        return np.concatenate([P[:3, :3].T @ (C - P)[:3, 3] for P, C in ends])

    assert np.abs(gaps(q)).max() < 1e-9
    F = np.array([(gaps(q + e) - gaps(q - e)) / 2e-6 for e in 1e-6 * np.eye(22)]).T
    rank = int((np.linalg.svd(F)[1] > 1e-7).sum())
    assert catena.mobility(machine).degrees_of_freedom == 22 - rank == 12
    assert (
        catena.load(folder("cassie") / "cassie_v2.sdf", floating=True).joint(ROOT_JOINT).kind
        == "free"
    )
    assert {x.name for x in m.loads} == {
        f"spring {side}-{j}"
        for side in ("left", "right")
        for j in ("knee-shin-joint", "tarsus-spring-joint")
    }


@pytest.mark.parametrize(
    "ratio, axis, turned", [(3, "0 0 1", -1), (3, "0 0 -1", 1), (-3, "0 0 1", 1)]
)
def test_a_gearbox_turns_its_child_by_minus_its_ratio(load, ratio, axis, turned):
    """theta2 = -ratio theta1 about axis2 and axis, in a reference body that moves itself; the
    child's joint points the other way.
    """
    links = [LINK.format(name, "", "0 0 0 0 0 0") for name in ("arm", "a", "b")]
    m = load(
        model(
            *links,
            HINGE.format("j", "world", "arm", ""),
            HINGE.format("k", "arm", "a", ""),
            HINGE.format("l", "arm", "b", "").replace("0 0 1", "0 0 -1"),
            GEARBOX.format("a", "b", "arm", ratio, axis),
        )
    )
    q, v, _ = catena.analysis.kinematics(m, {"j": (0.3, 1.0, 0.0), "k": (0.2, 2.0, 0.0)})
    np.testing.assert_allclose([q[2], v[2]], [-turned * 3 * 0.2, -turned * 3 * 2.0], atol=1e-12)


@pytest.mark.filterwarnings("ignore::catena.errors.MechanismWarning")
def test_cassie_loads_with_its_gears():
    m = catena.load(folder("cassie") / "cassie.sdf")
    assert len(m.constraints) == 10 and catena.mobility(m).tied_rows == 10


def test_poses_may_stand_in_other_frames(load):
    """The same pendulum told in the model's frame, in a link's, and in that of a frame that hangs
    on a joint.
    """
    plain = load(
        model(
            LINK.format("a", "", "0 0 1 0 0 0"),
            LINK.format("b", "", "1 0 1 0 .5 0"),
            HINGE.format("j", "world", "a", ""),
            HINGE.format("k", "a", "b", ""),
        )
    )
    other = load(
        model(
            LINK.format("a", "", "0 0 1 0 0 0"),
            LINK.format("b", " relative_to='f'", "0 0 0 0 .5 0"),
            HINGE.format("j", "world", "a", ""),
            HINGE.format("k", "a", "b", ""),
            "<frame name='f' attached_to='a'><pose>1 0 0 0 0 0</pose></frame>",
        )
    )
    q = np.array([0.3, -0.7])
    v = np.array([1.0, 2.0])
    for ours, theirs in zip(
        *(
            (
                catena.compile(m).mass_matrix(q),
                catena.compile(m).bias(q, v),
                catena.compile(m).pose(q, "b"),
            )
            for m in (plain, other)
        )
    ):
        np.testing.assert_allclose(ours, theirs, atol=1e-14)
    assert other.frame("f").body == "a"
    expressed = load(
        model(
            LINK.format("a", "", "0 0 1 0 .5 0"),
            HINGE.format("j", "world", "a", "").replace("<xyz>", "<xyz expressed_in='__model__'>"),
        )
    )
    np.testing.assert_allclose(
        expressed.joint("j").axis[0], (-np.sin(0.5), 0, np.cos(0.5)), atol=1e-15
    )


def test_limits_springs_and_gravity_of_a_world(load):
    values = "<limit><lower>-1e16</lower><upper>2</upper><effort>-1</effort><velocity>3</velocity></limit><dynamics><damping>.1</damping><spring_stiffness>4</spring_stiffness></dynamics>"  # noqa: E501
    text = (
        model(LINK.format("a", "", "0 0 0 0 0 0"), HINGE.format("j", "world", "a", values))
        .replace("<model", "<world name='w'><gravity>0 0 -1.6</gravity><model")
        .replace("</model>", "</model></world>")
    )
    m = load(text)
    j = m.joint("j")
    assert (j.lower, j.upper, j.effort, j.speed, j.damping) == (
        (-np.inf,),
        (2.0,),
        (np.inf,),
        (3.0,),
        (0.1,),
    )
    assert m.gravity == (0.0, 0.0, -1.6) and m.loads[0].stiffness == 4.0


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        (
            [LINK.format("a", "", "0 0 0 0 0 0"), HINGE.format("j", "wrold", "a", "")],
            "no link 'wrold' in the model",
        ),
        (
            [LINK.format("a", "", "0 0 0 0 0"), HINGE.format("j", "world", "a", "")],
            "6 numbers with spaces",
        ),
        ([LINK.format("a", " relative_to='a'", "0 0 0 0 0 0")], "relative to itself"),
        (
            [LINK.format("a", "", "0 0 0 0 0 0"), GEARBOX.format("world", "a", "", 2, "0 0 1")],
            "a gearbox has a gearbox_reference_body",
        ),
        (
            [
                LINK.format("a", "", "0 0 0 0 0 0"),
                LINK.format("b", "", "0 0 0 0 0 0"),
                GEARBOX.format("a", "b", "world", 2, "0 1 1"),
            ],
            "taken where they are parallel",
        ),
        (
            [
                LINK.format("a", "", "0 0 0 0 0 0"),
                "<joint name='g' type='revolut'><parent>world</parent><child>a</child></joint>",
            ],
            "Did you mean 'revolute'",
        ),
        (
            [LINK.format("a", "", "0 0 0 0 0 0"), "<model name='inner'/>"],
            "model 'inner' inside the model",
        ),
        (["<include><uri>x</uri></include>"], "by <include>"),
        ([LINK.format("ground", "", "0 0 0 0 0 0")], "what stands still"),
        (
            [LINK.format("a", "", "0 0 0 0 0 0").replace("<mass>2", "<mass>2 kg")],
            "a number is wanted",
        ),
    ],
)
def test_what_cannot_be_taken_is_said(load, parts, words):
    with pytest.raises(FormatError, match=words):
        load(model(*parts))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<sdf>", "not XML"),
        ("<robot/>", "begins with <sdf>"),
        ("<sdf/>", "no model"),
        ("<sdf><model/><model/></sdf>", "2 models"),
        (
            "<!DOCTYPE x [<!ENTITY a 'b'><!ENTITY c '&a;&a;&a;'>]><sdf>&c;</sdf>",
            "entities are refused",
        ),
    ],
)
def test_other_files_are_refused(load, text, words):
    with pytest.raises(FormatError, match=words):
        load(text)


def test_the_mapping_names_what_is_not_read(tmp_path):
    (tmp_path / "m.sdf").write_text(
        model(
            LINK.format("a", "", "0 0 0 0 0 0"),
            "<link name='b'/><plugin name='p' filename='f'/>",
            HINGE.format("k", "a", "b", ""),
        )
    )
    found = {(e.element, e.name): e for e in mapping(tmp_path / "m.sdf")}
    assert (
        found["plugin", ""].outcome == "refused"
        and "1 kg" in found["link", "b"].how
        and "floating=True" in found["model", "m"].how
    )


def test_drakes_motors_of_joints_are_read(tmp_path):
    """(I + n^2 J) = 1 + 20^2 0.01: by hand."""
    path = tmp_path / "motor.sdf"
    path.write_text(
        """<sdf version="1.7" xmlns:drake="drake.mit.edu"><model name="m"><link name="a"><inertial>
        <mass>1</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial></link>
        <joint name="j" type="revolute"><parent>world</parent><child>a</child><axis><xyz>0 0 1</xyz>
        </axis><drake:rotor_inertia>0.01</drake:rotor_inertia><drake:gear_ratio>20</drake:gear_ratio>
        </joint></model></sdf>"""
    )
    m = catena.load(path)
    assert catena.compile(m).mass_matrix([0.0])[0, 0] == pytest.approx(5.0)
    law = catena.formats.drafted(path).scenario["control"][0]
    assert law == {"kind": "actuator", "name": "j", "gear": {"j": 20.0}}
