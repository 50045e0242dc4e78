"""The shelf: robots of packages and folders by name, and files of packages that models name."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

import catena
from catena.cli import app
from catena.errors import UnknownNameError
from catena.formats import shelf
from catena.formats.files import located
from catena.simulation.scenario import read

pytestmark = pytest.mark.filterwarnings("ignore::catena.errors.MechanismWarning")
ARM = """<robot name="arm"><link name="base"/><link name="tip"><inertial><mass value="1"/><inertia
ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial><collision><geometry><mesh
filename="package://arms_meshes/tip.obj"/></geometry></collision></link><joint name="turn"
type="revolute"><parent link="base"/><child link="tip"/><limit lower="0.2" upper="1" effort="9"
velocity="1"/></joint></robot>"""
BOX = """<mujoco model="crate"><worldbody><body><freejoint/><geom size=".1"/></body></worldbody>
</mujoco>"""
MESH = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


@pytest.fixture
def installed(tmp_path, monkeypatch) -> Path:
    """A folder of robots: a URDF with a mesh of another package, and two MJCF files of which one
    includes the other.
    """
    for name, text in {
        "arms_description/urdf/arms.urdf": ARM,
        "arms_description/urdf/arms_long_robot.urdf": ARM,
        "acme_crate/crate.xml": BOX,
        "acme_crate/apart.xml": BOX,
        "acme_crate/scene.xml": '<mujoco><include file="crate.xml"/></mujoco>',
        "arms_meshes/tip.obj": MESH,
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.setenv(shelf.FOLDERS, str(tmp_path))
    monkeypatch.setenv(shelf.CACHE, str(tmp_path / "nowhere"))
    return tmp_path


def test_the_main_file_of_a_folder_has_bodies(installed):
    parts = installed / "hand_of_acme"
    parts.mkdir()
    (parts / "keyframes.xml").write_text("<mujoco><keyframe/></mujoco>")
    (parts / "left.xml").write_text(BOX)
    (parts / "right.xml").write_text(BOX)
    (parts / "scene_right.xml").write_text('<mujoco><include file="right.xml"/></mujoco>')
    assert catena.robots()["hand_of_acme"].file == parts / "right.xml"
    (parts / "scene_right.xml").unlink()
    assert catena.robots()["hand_of_acme"].file == parts / "left.xml"


def test_robots_of_a_folder_are_found_by_name(installed):
    found = catena.robots()
    mine = {name for name, robot in found.items() if robot.source == "folders"}
    assert mine == {
        *("arms", "arms_long", "arms_long_robot"),
        *("acme_crate", "acme_crate/crate", "acme_crate/apart", "acme_crate/scene"),
    }
    assert found["acme_crate"].file == installed / "acme_crate" / "crate.xml"
    assert catena.load("robot:arms").name == catena.load("robot:ARMS").name == "arm"
    assert catena.load("robot:acme_crate/scene").bodies


def test_a_misspelt_robot_is_refused_with_the_nearest_name(installed):
    with pytest.raises(UnknownNameError, match=r"no robot 'amrs' in .* Did you mean 'arms'\?"):
        catena.load("robot:amrs")
    found = CliRunner().invoke(app, ["info", "robot:amrs"])
    assert found.exit_code == 2 or "Did you mean 'arms'?" in str(found.exception)


def test_without_packages_the_message_says_how_to_get_one(monkeypatch):
    monkeypatch.setattr(shelf, "SOURCES", {})
    with pytest.raises(UnknownNameError, match="pip install example-robot-data"):
        catena.load("robot:arms")


def test_a_source_from_outside_is_a_member_like_any(installed, monkeypatch):
    mine = shelf.RobotSource(
        "attic", "mine", lambda: [("arms", installed / "acme_crate/crate.xml")]
    )
    monkeypatch.setitem(shelf.SOURCES, "attic", mine)
    assert catena.robots()["attic/arms"].source == "attic"
    assert catena.load("robot:attic/arms").name == "crate"


def test_files_of_packages_are_found_without_hand_work(installed, monkeypatch, tmp_path_factory):
    model = installed / "arms_description" / "urdf" / "arms.urdf"
    mesh = str(installed / "arms_meshes" / "tip.obj")
    assert located("package://arms_meshes/tip.obj", model) == mesh
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "arms.urdf"
    assert located("package://arms_meshes/tip.obj", elsewhere) == mesh
    assert located("model://arms_meshes/tip.obj", elsewhere) == mesh
    monkeypatch.delenv(shelf.FOLDERS)
    assert located("package://arms_meshes/tip.obj", elsewhere).startswith("package://")
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(installed))
    assert located("package://arms_meshes/tip.obj", elsewhere) == mesh


def test_the_command_lists_robots(installed):
    found = CliRunner().invoke(app, ["robots", "crate", "--files"])
    assert found.exit_code == 0 and "acme_crate/apart" in found.output
    assert "arms" not in found.output.replace(str(installed), "")


def test_a_run_holds_a_robot_within_its_limits(installed, monkeypatch):
    """Zero lies outside the limits of the joint: it starts at the nearer one, and stays."""
    assert read("robot:arms", until=1.0).q == pytest.approx([0.2])
    monkeypatch.chdir(installed)
    found = CliRunner().invoke(
        app, ["run", "robot:arms", "--control", "hold", "--until", "0.5", "--no-pictures"]
    )
    assert found.exit_code == 0, found.output
    run = catena.load_result(installed / "arms_run" / "results.nc")
    assert abs(run.data["q"].values - 0.2).max() < 1e-9
    again = CliRunner().invoke(app, ["run", "robot:arms", "--control", "hodl", "--until", "1"])
    assert "Did you mean 'hold'?" in str(again.output) + str(again.exception)


def test_hold_leads_back_to_where_it_holds():
    """Each joint alone is critically damped at 10 rad/s: after a second little is left."""
    arm = catena.load("two_link_arm")
    control = catena.control.hold(arm, [0.3, 0.5])
    run = catena.simulate(arm, q=[0.4, 0.4], until=3.0, control=control)
    assert abs(run.data["q"].values[-1] - [0.3, 0.5]).max() < 1e-4
    with pytest.raises(catena.errors.StateError, match="no joint that a motor could hold"):
        box = catena.Mechanism(
            "box",
            [catena.Body("b", 1.0, (0, 0, 0), (1, 1, 1))],
            [catena.Joint("j", "free", "ground", "b")],
        )
        catena.control.hold(box, [0, 0, 0, 1, 0, 0, 0])


def test_every_robot_of_the_package_has_a_name():
    pytest.importorskip("pinocchio")
    known = catena.robots()
    assert {"panda", "talos", "ur5", "icub", "tiago"} <= set(known)
