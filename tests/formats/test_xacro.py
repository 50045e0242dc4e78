"""xacro: macros and arguments expanded by xacro itself, never without the caller's word."""

from __future__ import annotations

import pytest

import catena
from catena import cli
from catena.errors import FormatError

pytest.importorskip("xacrodoc")
HEAD = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">'
ARM = (
    HEAD
    + """<xacro:arg name="mass" default="2"/><xacro:property name="length" value="${0.5 * 2}"/>
<xacro:macro name="rod" params="name"><link name="${name}"><inertial><origin xyz="0 0 ${length / 2}"/><mass value="$(arg mass)"/>
<inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial></link></xacro:macro>
<link name="base"/><xacro:rod name="arm"/>
<joint name="pin" type="continuous"><parent link="base"/><child link="arm"/></joint></robot>"""  # noqa: E501
)


@pytest.fixture
def path(tmp_path):
    (tmp_path / "robot").mkdir()
    (tmp_path / "robot" / "arm.xacro").write_text(ARM)
    return tmp_path / "robot" / "arm.xacro"


def test_macros_and_arguments(path, capsys):
    assert catena.load(path, trusted=True).body("arm").mass == 2.0
    assert catena.load(path, trusted=True, arguments={"mass": 3.5}).body("arm").com == (
        0.0,
        0.0,
        0.5,
    )
    with pytest.raises(SystemExit):
        cli.main(["info", str(path), "--trust", "--arg", "mass=7"])
    assert "total mass 7 kg" in capsys.readouterr().out


def test_nothing_is_evaluated_without_trust(path, tmp_path):
    with pytest.raises(FormatError, match="trusted=True"):
        catena.load(path)
    trap = tmp_path / "robot" / "trap.xacro"
    trap.write_text(
        HEAD
        + "<xacro:property name='x' value=\"$(eval open('%s', 'w'))\"/><link name='${x}'/></robot>"
        % (tmp_path / "made")
    )
    with pytest.raises(FormatError, match="a xacro file is a program"):
        catena.load(trap)
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (HEAD + "<link name='${1 / 0}'/></robot>", "xacro cannot expand the file"),
        (HEAD + "<xacro:missing/></robot>", "missing"),
        (HEAD + "<xacro:include filename='/etc/nothing.xacro'/></robot>", "xacro cannot expand"),
        (HEAD + "<xacro:include filename='{outside}'/></robot>", "outside"),
        (HEAD, "not XML"),
        ("<!DOCTYPE x [<!ENTITY a 'b'>]><robot>&a;</robot>", "entities are refused"),
    ],
)
def test_what_is_wrong_is_said(path, tmp_path, text, words):
    outside = tmp_path.parent / "outside.xacro"
    outside.write_text(HEAD + "<link name='far'/></robot>")
    path.write_text(text.replace("{outside}", str(outside)))
    with pytest.raises(FormatError, match=words):
        catena.load(path, trusted=True)


def test_an_argument_that_is_not_there_is_named(path):
    with pytest.raises(FormatError, match="no xacro argument 'mas' in the file"):
        catena.load(path, trusted=True, arguments={"mas": 1})
