"""TOML files: what is read, what is refused and in which words, and that what is written is read
again.
"""

from __future__ import annotations

import itertools
import math
import os
import re
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
import sympy

import zoo
from catena.errors import FormatError, MechanismError, MechanismWarning, UnknownNameError
from catena.formats import examples, load, save
from catena.model.joint_kinds import KINDS
from catena.model.loads import JointSpring
from catena.model.mechanism import GROUND, Body, Frame, Joint, Mechanism, Mimic, Shape
from catena.model.planarity import plane
from catena.model.pose import Pose
from catena.model.values import value_of

DOCS = Path(__file__).parents[2] / "docs" / "file_format.md"
BODY = 'name = "a"\nmass = 1\ncom = [0, 0, 0]\ninertia = [1, 1, 1]\n'
ARM = f'[[body]]\n{BODY}[[joint]]\nname = "j"\nkind = "revolute"\nparent = "ground"\nchild = "a"\n'


@pytest.fixture
def read(tmp_path):
    """Load a text as a file."""

    def _read(text: str, **asked) -> Mechanism:
        path = tmp_path / "arm.toml"
        path.write_text(text)
        return load(path, **asked)

    return _read


@pytest.fixture
def again(tmp_path):
    """Save a mechanism and load it."""

    def _again(m: Mechanism) -> Mechanism:
        save(m, tmp_path / "again.toml")
        return load(tmp_path / "again.toml")

    return _again


def faults_of(read, text: str, **asked) -> list[str]:
    with pytest.raises(FormatError) as caught:
        read(text, **asked)
    return list(caught.value.faults) or [str(caught.value)]


# --- reading
def test_the_example_of_the_documentation(read):
    (text,) = (
        block
        for block in re.findall(r"```toml\n(.*?)```", DOCS.read_text(), re.DOTALL)
        if "[[loop]]" in block
    )
    m = read(text)
    assert (
        [b.name for b in m.bodies]
        and m.loops
        and m.frames
        and m.parameters
        and m.joint(m.loops[0].name)
    )


def test_inertia_in_four_ways(read):
    ways = [
        "[1, 2, 2.5]",
        "[1, 0, 0, 2, 0, 2.5]",
        "[[1, 0, 0], [0, 2, 0], [0, 0, 2.5]]",
        "{ xx = 1, yy = 2, zz = '2.5 kg*m^2' }",
    ]
    for way in ways:
        assert read(ARM.replace("[1, 1, 1]", way)).body("a").inertia == (
            1.0,
            0.0,
            0.0,
            2.0,
            0.0,
            2.5,
        )


def test_rotation_in_four_ways(read):
    ways = [
        "rpy = [0, 0, '90 deg']",
        "quaternion = [0.7071067811865476, 0, 0, 0.7071067811865476]",
        "axis = [0, 0, 2], angle = '90 deg'",
        "matrix = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]",
    ]
    for way in ways:
        R = read(f"{ARM}rotate = {{ {way} }}").joint("j").placement.rotation
        assert np.array(R) == pytest.approx(np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]]), abs=1e-15)


def test_numbers_of_numpy_are_written_as_numbers(tmp_path):
    """Also a zero, which NumPy would compare with an empty tuple element by element."""
    zero = np.float64(0.0)
    one = np.float64(1.0)
    m = Mechanism(
        "rod",
        (Body("rod", one, np.zeros(3), np.ones(3)),),
        (Joint("pin", "revolute", GROUND, "rod", axis=(0, 1, 0), damping=zero),),
        loads=(JointSpring("spring", "pin", zero, zero, zero),),
    )
    save(m, tmp_path / "rod.toml")
    assert load(tmp_path / "rod.toml") == m


def test_values_of_each_speed(read):
    m = read(
        ARM.replace("revolute", "cylindrical")
        + 'damping = ["1 N*m*s/rad", "2 N*s/m"]\nlimits = { upper = [inf, "3 ft"] }\n'
    )
    assert m.joint("j").damping == (1.0, 2.0)
    assert m.joint("j").upper == (math.inf, pytest.approx(0.9144))
    assert read(ARM.replace("revolute", "gimbal") + "armature = 0.5").joint("j").armature == (
        0.5,
        0.5,
        0.5,
    )


def test_a_body_without_mass_needs_no_more(read):
    m = read(
        f'{ARM}[[body]]\nname = "b"\nmass = 0\n[[joint]]\nname = "k"\nkind = "fixed"\nparent ='
        ' "a"\nchild = "b"'
    )
    assert m.body("b") == Body.massless("b")


def test_parameters_hide_units_and_stay_symbols(read):
    m = read(
        ARM.replace("mass = 1", 'mass = "2*m"').replace("[0, 0, 0]", '["l/2", 0, 0]')
        + '[parameters]\nm = "3 lb"\nl = 2\n'
    )
    assert m.body("a").mass == 2 * sympy.Symbol("m")
    assert m.body("a").com[0] == sympy.Symbol("l") / 2
    assert m.parameters == {"m": pytest.approx(1.36077711), "l": 2.0}


@pytest.mark.parametrize("custom", ["modified", "standard"])
@pytest.mark.parametrize("kind", ["revolute", "prismatic", "cylindrical"])
def test_denavit_hartenberg(read, kind, custom):
    a, alpha, d, theta = 0.3, 0.7, -0.2, 1.1
    text = f'{ARM}dh = {{ custom = "{custom}", a = {a}, alpha = {alpha}, d = {d}, theta = {theta} }}'.replace(  # noqa: E501
        "revolute", kind
    )
    turn, slide = {"revolute": (0.4, 0.0), "prismatic": (0.0, 0.6), "cylindrical": (0.4, 0.6)}[kind]
    q = {"revolute": [turn], "prismatic": [slide], "cylindrical": [turn, slide]}[kind]
    expected = Pose.denavit_hartenberg(a, alpha, d + slide, theta + turn, custom=custom).matrix()
    joint = read(text).joint("j")
    assert joint.pose(q).matrix() == pytest.approx(expected, abs=1e-15)
    assert joint == Joint.from_denavit_hartenberg(
        "j", kind, GROUND, "a", a=a, alpha=alpha, d=d, theta=theta, custom=custom
    )


def test_denavit_hartenberg_refuses_by_name():
    numbers = {"a": 0, "alpha": 0, "d": 0, "theta": 0}
    for kind, more, word in (
        ("ball", {}, "a ball joint does not"),
        ("planar", {}, "a planar joint does not"),
        ("fixed", {}, "a fixed joint does not"),
        ("revolute", {"axis": (1, 0, 0)}, "axis and Denavit"),
    ):
        with pytest.raises(MechanismError, match=word):
            Joint.from_denavit_hartenberg(
                "j", kind, GROUND, "a", custom="modified", **numbers, **more
            )
    with pytest.raises(MechanismError, match="custom is 'craig'; it is 'modified' or 'standard'"):
        Joint.from_denavit_hartenberg("j", "revolute", GROUND, "a", custom="craig", **numbers)


# --- what load is asked
def test_floating_puts_the_root_on_a_free_joint(read):
    fixed = ARM.replace("revolute", "fixed") + "at = [1, 2, 3]"
    joint = read(fixed, floating=True).joint("root_joint")
    assert (joint.kind, joint.child, joint.placement.position) == ("free", "a", (1.0, 2.0, 3.0))
    loose = f"[[body]]\n{BODY}"
    assert read(loose, floating=True).joint("root_joint").kind == "free"
    assert faults_of(read, ARM, floating=True) == [
        "floating=True asks for one root body, fixed to the ground; its joints to the ground: 'j'"
        " (revolute)"
    ]


def test_gravity_of_the_caller(read):
    assert read(ARM).gravity == (0.0, 0.0, -9.81)
    assert read(ARM, gravity=(0, 0, 0)).gravity == (0.0, 0.0, 0.0)
    assert "three finite numbers are wanted" in faults_of(read, ARM, gravity=(1, 2))[0]


def test_mimic_can_be_let_go(read):
    second = f'[[body]]\n{BODY}[[joint]]\nname = "k"\nkind = "revolute"\nparent = "a"\nchild = "b"\n'.replace(  # noqa: E501
        'name = "a"', 'name = "b"'
    )
    text = f'{ARM}{second}mimic = {{ joint = "j", multiplier = 2 }}'
    assert read(text).joint("k").mimic == Mimic("j", 2.0, 0.0)
    free = read(text, mimic=False)
    assert free.joint("k").mimic is None
    assert "move on their own: k" in free.notes[0]


def test_a_companion_adds_what_another_format_cannot_say(read, tmp_path):
    companion = tmp_path / "loops.toml"
    companion.write_text(
        'gravity = [0, -9.81, 0]\n[parameters]\nh = "2 m"\n[[joint]]\nname = "j"\ndamping ='
        ' 0.5\narmature = "0.1 kg*m^2"\n[[frame]]\nname = "tip"\nbody = "a"\nat = [1, 0,'
        ' 0]\n[[loop]]\nname = "l"\nkind = "ball"\nparent = "a"\nchild = "ground"\nat = [0, 0, "h"]'
    )
    m = read(ARM, companion=companion)
    assert (m.gravity, m.joint("j").damping, m.joint("j").armature) == (
        (0.0, -9.81, 0.0),
        (0.5,),
        (0.1,),
    )
    assert m.frame("tip").body == "a" and m.joint("l").kind == "ball" and m.parameters == {"h": 2.0}
    assert read(ARM, companion=companion, gravity=(0, 0, 0)).gravity == (0.0, 0.0, 0.0)
    companion.write_text('[[joint]]\nname = "k"\n[[body]]\nname = "b"\n[[bodi]]\nname = "b"')
    with pytest.raises(FormatError) as caught:
        read(ARM, companion=companion)
    assert caught.value.path == str(companion)
    assert caught.value.faults == (
        (
            "no key 'bodi'; keys are: gravity, parameters, expressions, body, ground, collisions,"
            " joint, frame, loop, load, row, constraint, ... (15 in all). Did you mean 'body'?"
        ),
        "joint 'k': no joint 'k' in mechanism 'arm'; joints are: j.",
        "body 'b': no body 'b' in mechanism 'arm'; bodies are: a.",
    )


def test_doubts_are_warned_of_once(read):
    with pytest.warns(
        MechanismWarning, match="joint 'j' moves body 'a' and what it carries, which have no mass"
    ) as caught:
        read('[[body]]\nname = "a"\nmass = 0\n' + ARM[ARM.index("[[joint]]") :])
    assert len(caught) == 1
    assert caught[0].filename == __file__


# --- faults
@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (
            ("mass = 1", "mass = 1\nmas = 1"),
            (
                "body 'a': no key 'mas'; keys are: name, mass, com, inertia, shapes, flexible. Did"
                " you mean 'mass'?"
            ),
        ),
        (
            ("mass = 1", "mass = '3 m'"),
            "body 'a': mass is '3 m', a length; a mass is wanted, such as '3 kg'",
        ),
        (("mass = 1\n", ""), "body 'a': mass is missing"),
        (("mass = 1", "mass = -1"), "body 'a': mass is -1 kg; a mass is zero or more"),
        (("mass = 1", "mass = true"), "body 'a': mass is true; a mass is wanted, such as '3 kg'"),
        (
            ("com = [0, 0, 0]", "com = [0, 0]"),
            "body 'a': com has 2 values; 3 values are wanted, [x, y, z]",
        ),
        (
            ("com = [0, 0, 0]", "com = [0, nan, 0]"),
            "body 'a': com.y is nan; a finite number is wanted",
        ),
        (("com = [0, 0, 0]", "com = 3"), "body 'a': com is 3; 3 values are wanted, [x, y, z]"),
        (
            ("[1, 1, 1]", "[1, 1]"),
            (
                "body 'a': inertia has 2 values; 3 (a diagonal), 6 [xx, xy, xz, yy, yz, zz] or 3"
                " rows of 3 are wanted"
            ),
        ),
        (
            ("[1, 1, 1]", "[1, 1, 3]"),
            (
                "body 'a': inertia breaks the triangle inequality: principal moments 1, 1, 3 kg m2;"
                " the two smaller add up to at least the largest"
            ),
        ),
        (
            ("[1, 1, 1]", "[[1, 2, 0], [3, 1, 0], [0, 0, 1]]"),
            "body 'a': inertia is a symmetric matrix, but xy is 2.0 and yx is 3.0",
        ),
        (("[1, 1, 1]", "{ xx = 1, yy = 1 }"), "body 'a': inertia: zz is missing"),
        (
            ('"revolute"', '"revolut"'),
            (
                "joint 'j': no joint kind 'revolut'; joint kinds are: fixed, revolute, prismatic,"
                " helical, cylindrical, universal, gimbal, ball, planar, free, general. Did you"
                " mean 'revolute'?"
            ),
        ),
        (('"revolute"', '"helical"'), "joint 'j': pitch is missing"),
        (
            ('"ground"', '"grund"'),
            "joint 'j': its parent: no body 'grund'; bodies are: ground, a. Did you mean 'ground'?",
        ),
        (('parent = "ground"\n', ""), "joint 'j': parent is missing"),
        (('name = "j"', "name = 3"), "joint number 1: name is 3; a text is wanted"),
        (
            ('child = "a"', 'child = "a"\npitch = 1'),
            "joint 'j': a revolute joint takes no pitch; a helical joint does",
        ),
        (
            ('child = "a"', 'child = "a"\naxis = [0, 0, 0]'),
            (
                "joint 'j': axis (0.0, 0.0, 0.0) has no direction; give three finite numbers that"
                " are not all zero"
            ),
        ),
        (
            ('child = "a"', 'child = "a"\naxis = ["x", 0, 0]'),
            (
                "joint 'j': axis.x is 'x', which has no number; a number without unit is wanted,"
                " such as 3.0."
            ),
        ),
        (
            ('child = "a"', 'child = "a"\ndamping = "3 m"'),
            (
                "joint 'j': damping is '3 m', a length; an angular damping is wanted, such as '3"
                " N*m*s/rad'"
            ),
        ),
        (
            ('child = "a"', 'child = "a"\ndamping = [1, 2]'),
            "joint 'j': damping has 2 values; one is wanted",
        ),
        (
            ('child = "a"', 'child = "a"\nlimits = { lower = 2, upper = 1 }'),
            "joint 'j': lower limit 2 is above upper limit 1",
        ),
        (
            ('child = "a"', 'child = "a"\nrotate = { quaternion = [1, 1, 0, 0] }'),
            (
                "joint 'j': rotate: quaternion [w, x, y, z] has the length 1.41421; a rotation is a"
                " quaternion of length one"
            ),
        ),
        (
            (
                'child = "a"',
                'child = "a"\nrotate = { matrix = [[1, 0, 0], [0, 1, 0], [0, 0, -1]] }',
            ),
            (
                "joint 'j': placement is not a rotation but a reflection: its determinant is -1;"
                " turn one axis round"
            ),
        ),
        (
            ('child = "a"', 'child = "a"\nrotate = { angle = 1 }'),
            "joint 'j': rotate: axis is missing",
        ),
        (
            ('child = "a"', 'child = "a"\nrotate = { axis = [0, 0, 0], angle = 1 }'),
            (
                "joint 'j': rotate: axis is [0.0, 0.0, 0.0]; it needs a direction, three numbers"
                " that are not all zero"
            ),
        ),
        (
            ('child = "a"', 'child = "a"\nrotate = { rpy = [0, 0, 0], matrix = [] }'),
            (
                "joint 'j': rotate: one of rpy, quaternion, axis with angle, matrix is wanted;"
                " found rpy and matrix"
            ),
        ),
        (
            ('child = "a"', 'child = "a"\nmimic = { joint = "j" }'),
            "joint 'j' mimics itself; name the joint it follows",
        ),
        (
            (
                'child = "a"',
                (
                    'child = "a"\nat = [0, 0, 0]\ndh = { custom = "standard", a = 0, alpha = 0, d ='
                    " 0, theta = 0 }"
                ),
            ),
            "joint 'j': dh stands in place of at; give one or the other",
        ),
        (
            (
                'child = "a"',
                'child = "a"\ndh = { custom = "craig", a = 0, alpha = 0, d = 0, theta = 0 }',
            ),
            "joint 'j': Denavit-Hartenberg custom is 'craig'; it is 'modified' or 'standard'",
        ),
        (('child = "a"', 'child = "a"\n[[frame]]\nname = "f"'), "frame 'f': body is missing"),
        (
            ('child = "a"', 'child = "a"\n[[frame]]\nname = "f"\nbody = "b"'),
            "frame 'f': no body 'b'; bodies are: a.",
        ),
        (
            ('child = "a"', 'child = "a"\n[parameters]\npi = 3'),
            (
                "parameter 'pi' cannot stand in an expression; take letters, digits and _, "
                "and no word of Python's or ours"
            ),
        ),
        (
            ("[[body]]", "nme = 3\n[[body]]"),
            (
                "no key 'nme'; keys are: name, gravity, planar, as_found, notes, cut, parameters,"
                " expressions, body, joint, frame, loop, ... (24 in all). Did you mean 'name'?"
            ),
        ),
        (
            ("[[body]]", "gravity = 9.81\n[[body]]"),
            "gravity is 9.81; 3 values are wanted, [x, y, z]",
        ),
        (("[[body]]", "planar = 'yes'\n[[body]]"), "planar is 'yes'; true or false is wanted"),
        (
            ("[1, 1, 1]", "[1, 1, 1]\nshapes = [{ kind = 'cone', size = [1] }]"),
            (
                "body 'a': shape number 1: kind is 'cone'; it is one of box, sphere, capsule,"
                " cylinder, ellipsoid, plane, mesh, concave_mesh, heightfield, line"
            ),
        ),
    ],
)
def test_each_fault_is_one_sentence(read, change, fault):
    assert change[0] in ARM
    assert faults_of(read, ARM.replace(*change, 1)) == [fault]


def test_every_fault_at_once(read):
    text = (
        ARM.replace("mass = 1", "mas = 1")
        .replace("revolute", "revolut")
        .replace("[1, 1, 1]", "[1]")
        + "pitch = 3\nbad = 1"
    )
    found = faults_of(read, text)
    assert len(found) == 5
    for word in (
        "no key 'mas'",
        "mass is missing",
        "inertia has 1 values",
        "no key 'bad'",
        "no joint kind 'revolut'",
    ):
        assert any(word in fault for fault in found), word


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("a = [", "the file is not TOML: Invalid value"),
        ("a = 1\na = 2", "the file is not TOML: Cannot overwrite a value"),
        ("x = " + "[" * 5000, "nested too deeply"),
        ("x = " + "9" * 5000, "the file is not TOML"),
        ("", "it has no body"),
        ("body = 3", "body is 3; write [[body]]"),
        ("[body]", "body is a table; write [[body]]"),
        ("body = [1]", "not a list of tables"),
        ("[[scene]]", "no key 'scene'"),
        ("[[load]]", "load number 1: kind is missing"),
    ],
)
def test_files_that_are_no_mechanism(read, text, word):
    with pytest.raises(FormatError) as caught:
        read(text)
    assert word in str(caught.value)


def test_files_that_cannot_be_read(tmp_path):
    for name, data, word in (
        ("none.toml", None, "there is no such file"),
        ("bytes.toml", b"\xff\xfe", "not UTF-8"),
        ("x.step", b"", "suffix '.step' is not known"),
        ("x.urdf.xacro", b"", "the file is not XML"),
        ("plain", b"", "no suffix"),
    ):
        if data is not None:
            (tmp_path / name).write_bytes(data)
        with pytest.raises(FormatError, match=word):
            load(tmp_path / name)
    with pytest.raises(FormatError, match="cannot be read"):
        load(tmp_path.with_suffix(".toml").parent / "." / "x\0.toml")
    (tmp_path / "dir.toml").mkdir()
    with pytest.raises(FormatError, match="Is a directory"):
        load(tmp_path / "dir.toml")
    with pytest.raises(UnknownNameError, match="Did you mean 'triple_pendulum'"):
        load("tripel_pendulum")


def test_a_huge_file_is_refused(tmp_path):
    path = tmp_path / "huge.toml"
    with path.open("wb") as file:
        file.truncate(51 * 2**20)
    with pytest.raises(FormatError, match="larger than 50 MB"):
        load(path)


# --- writing
@pytest.mark.parametrize("seed", range(3))
def test_a_random_tree_comes_back_equal(again, seed):
    m = zoo.random_tree(seed, [*KINDS, *reversed(KINDS)])
    assert again(m) == m


@pytest.mark.parametrize("name", examples())
def test_an_example_comes_back_equal(again, name):
    m = load(name)
    assert again(m) == m


def test_everything_comes_back_equal(again):
    m1, l1 = sympy.symbols("m1 l1")
    shapes = (
        Shape(
            "mesh",
            (1.0, 1.0, 2.0),
            Pose.turn("x", 0.3, (1, 2, 3)),
            'a "mesh".stl',
            (0.1, 0.2, 0.3, 1.0),
        ),
        Shape("line", (l1, 0.0, 0.0)),
    )
    a = Body(
        "a",
        m1,
        (l1 / 3, 0, 0.1),
        (m1 * l1**2 / 12, 0, 0, 0.1 + m1 * l1**2, 0, 0.1 + m1 * l1**2),
        shapes,
    )
    b = Body('ünïcode \U0001f916 \x7f\t"', 1.0, (0, 0, 0), (1, 1, 1))
    turn = Joint(
        "turn",
        "revolute",
        GROUND,
        "a",
        Pose.turn((1, 2, 3), 0.1234, (0.1, 0.2, l1)),
        axis=(3, 4, 0),
        lower=-1,
        upper=2,
        effort=3,
        speed=4,
        damping=m1 * 0.1,
        friction=0.2,
        armature=0.3,
    )
    follow = Joint(
        "follow",
        "revolute",
        "a",
        b.name,
        Pose.turn("z", sympy.Symbol("angle")),
        mimic=Mimic("turn", 2.0, -0.1),
        offset=Pose.rpy(1, 2, 3),
    )
    loop = Joint(
        "loop",
        "cylindrical",
        b.name,
        GROUND,
        Pose.turn("y", 1e-7),
        damping=(0.1, 0.2),
        upper=(math.inf, 5.0),
    )
    m = Mechanism(
        "every \\ thing",
        (a, b),
        (turn, follow),
        (Frame("f", "a", Pose(position=(1e-300, 1 / 3, -0.0))),),
        (0, 0.1 + 0.2, -9.81),
        {"m1": 1 / 3, "l1": 1e10, "angle": 0.5},
        (loop,),
        planar=False,
        as_found=True,
        notes=("one\n", "two"),
    )
    with pytest.warns(MechanismWarning, match="its damping and upper limit are not used"):
        assert again(m.validate()) == m


def test_save_writes_all_or_nothing(tmp_path, monkeypatch):
    path = tmp_path / "arm.toml"
    m = load("two_link_arm")
    save(m, path)
    before = path.read_bytes()
    with pytest.raises(MechanismError):
        save(m.with_(bodies=()), path)
    monkeypatch.setattr(
        os, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device"))
    )
    with pytest.raises(FormatError, match="cannot be written: No space left on device"):
        save(load("triple_pendulum"), path)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["arm.toml"]
    with pytest.raises(FormatError, match="cannot be written: No such file"):
        save(m, tmp_path / "nowhere" / "arm.toml")


LOADED = (
    ARM
    + """
[parameters]
k = "200 N/m"
d = "7 N*s"
[[frame]]
name = "tip"
body = "a"
at = [1, 0, 0]
[[load]]
name = "coil"
kind = "joint_spring"
coordinate = "j"
stiffness = "3 N*m/rad"
rest = "30 deg"
damping = 0.1
[[load]]
name = "rope"
kind = "spring"
start = "ground"
end = "tip"
stiffness = "2*k"
length = "40 cm"
[[load]]
name = "rubber"
kind = "bushing"
start = "ground"
end = "tip"
stiffness = [1, 2, 3, "4 N/mm", 5, 6]
[[load]]
name = "wind"
kind = "force"
frame = "tip"
force = ["sin(t)", 0, "-d*v_j"]
axes = "body"
[[load]]
name = "brake"
kind = "joint_force"
coordinate = "j"
force = "-0.3*v_j*abs(v_j)"
[[row]]
name = "skate"
kind = "knife_edge"
frame = "tip"
direction = [0, 2, 0]
[[row]]
name = "law"
kind = "expression"
expression = "v_j - cos(t)"
"""
)


def test_loads_and_rows_go_through_a_file(read, tmp_path):
    m = read(LOADED)
    assert [type(x).__name__ for x in m.loads] == [
        "JointSpring",
        "Spring",
        "Bushing",
        "Force",
        "JointForce",
    ]
    assert (
        m.loads[0].rest == pytest.approx(math.pi / 6)
        and m.loads[1].length == 0.4
        and m.loads[2].stiffness[3] == 4000.0
    )
    assert m.nonholonomic[0].direction == (0.0, 1.0, 0.0)
    save(m, tmp_path / "again.toml")
    assert load(tmp_path / "again.toml") == m


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        (
            'coordinate = "j"\nstiffness',
            'coordinate = "jj"\nstiffness',
            "load 'coil': no coordinate 'jj'; coordinates are: j.",
        ),
        (
            'end = "tip"\nstiffness = "2*k"',
            'end = "top"\nstiffness = "2*k"',
            "load 'rope': no frame 'top'",
        ),
        ('"sin(t)"', '"sin(time)"', "load 'wind': 'sin(time)': no name 'time'"),
        ('"sin(t)"', '"open(t)"', "load 'wind': 'open(t)'"),
        (
            'stiffness = "3 N*m/rad"',
            "stiffness = -3",
            "load 'coil': stiffness is -3; it is zero or more",
        ),
        ('kind = "knife_edge"', 'kind = "knife"', "no row kind 'knife'"),
        (
            'end = "tip"\nstiffness = [',
            'end = "ground"\nstiffness = [',
            "load 'rubber': it joins 'ground' to itself",
        ),
        ('length = "40 cm"', 'length = "40 kg"', "load 'rope': length is '40 kg', a mass"),
    ],
)
def test_faults_of_loads(read, old, new, fault):
    assert old in LOADED
    with pytest.raises(FormatError, match=re.escape(fault)):
        read(LOADED.replace(old, new, 1))


def test_a_graph_with_a_cycle_is_cut(read):
    """Two carriers of one body: the reader keeps a tree, and says where it cut."""
    second = (
        '[[joint]]\nname = "k"\nkind = "ball"\nparent = "ground"\nchild = "a"\nat = [1, 0,'
        " 0]\nchild_at = [1, 0, 0]"
    )
    m = read(ARM + second)
    assert [j.name for j in m.joints] == ["j"] and [j.name for j in m.loops] == ["k"]
    assert "closes a loop" in m.notes[0]


# --- examples
def potential(m: Mechanism, q: np.ndarray) -> float:
    """The potential energy at the joints' coordinates, by products of joint poses alone."""
    values = {s: m.parameters[str(s)] for s in map(sympy.Symbol, m.parameters)}

    def number(X: Pose) -> np.ndarray:
        return np.array(
            [
                [float(sympy.sympify(x).subs(values)) for x in (*row, p)]
                for row, p in zip(X.rotation, X.position)
            ]
            + [[0, 0, 0, 1]]
        )

    X, k, V = {GROUND: np.eye(4)}, 0, 0.0
    for j in m.ordered:
        X[j.child] = X[j.parent] @ number(j.pose([float(x) for x in q[k : k + j.nq]]))
        k += j.nq
        b = m.body(j.child)
        com = np.array([value_of(x, m.parameters) for x in b.com] + [1.0])
        V -= value_of(b.mass, m.parameters) * float(
            np.array(m.gravity, float) @ (X[j.child] @ com)[:3]
        )
    return V


def gradient(m: Mechanism, q: np.ndarray, h: float = 1e-5) -> np.ndarray:
    return np.array(
        [(potential(m, q + e) - potential(m, q - e)) / (2 * h) for e in h * np.eye(len(q))]
    )


def test_seed_004_stanford_gravity():
    """[Merwe1995] section 4.5 at q = 0: the joint forces that hold the arm."""
    m = load("stanford_arm")
    assert gradient(m, np.zeros(5)) == pytest.approx([0.0, 18.25641, 0.0, 2.16801, 0.0], abs=1e-7)
    assert [name for j in m.moving for name in j.coordinate_names] == [
        "joint1",
        "joint2.Rz",
        "joint2.Dx",
        "joint3",
        "joint4",
    ]


def test_seed_001_triple_pendulum_energy():
    """[Baysec1996] figure 1 at t = 1 s: V = -54.889174791 J."""
    m = load("triple_pendulum")
    theta = np.array([-1.71288943189032, -1.734778857568118, -2.4309887777924177])
    assert potential(m, np.diff(theta, prepend=0.0)) == pytest.approx(-54.88917479118625, rel=1e-12)
    assert m.planar and abs(plane(m)[2]) == 1.0


def test_two_link_arm_gravity():
    """Textbook: g1 = (m1 lc1 + m2 l1) g cos q1 + m2 lc2 g cos(q1 + q2), g2 = m2 lc2 g cos(q1 +
    q2).
    """
    q, g = np.array([0.3, 0.8]), 9.81
    second = 4 * 0.2 * g * math.cos(q.sum())
    assert gradient(load("two_link_arm"), q) == pytest.approx(
        [(6 * 0.25 + 4 * 0.5) * g * math.cos(q[0]) + second, second], abs=1e-8
    )


def test_every_joint_has_every_joint():
    assert {j.kind for j in load("every_joint").joints} == set(KINDS)


# --- size
def chain(n: int) -> Mechanism:
    bodies = tuple(Body(f"b{i}", 1.0, (0.5, 0, 0), (0.01, 0.1, 0.1)) for i in range(n))
    joints = tuple(
        Joint(f"j{i}", "revolute", f"b{i - 1}" if i else GROUND, f"b{i}", Pose(position=(1, 0, 0)))
        for i in range(n)
    )
    return Mechanism("chain", bodies, joints)


@pytest.mark.parametrize("suffix", [".toml", ".urdf"])
def test_a_long_chain_is_read_by_calls_in_proportion(tmp_path, suffix):
    few, many = (calls_of_reading(tmp_path / f"chain{n}{suffix}", n) for n in (100, 400))
    assert many < 1.02 * 4 * few


def calls_of_reading(path: Path, n: int) -> int:
    """How many functions are called to read a chain of n bodies."""
    save(chain(n), path)
    calls = itertools.count()
    sys.setprofile(lambda frame, event, argument: next(calls) if "call" in event else None)
    try:
        read = load(path)
    finally:
        sys.setprofile(None)
    assert len(read.joints) in (n, n + 1)
    return next(calls)


def test_ten_thousand_faults_end_soon(tmp_path):
    path = tmp_path / "faults.toml"
    path.write_text(
        "".join(
            f'[[joint]]\nname = "j{i}"\nkind = "revolute"\nparent = "x{i}"\nchild = "y{i}"\n'
            for i in range(3000)
        )
        + ARM
    )
    with pytest.raises(FormatError) as caught, warnings.catch_warnings():
        load(path)
    assert len(caught.value.faults) == 1000
    assert "... and 950 more" in str(caught.value)
