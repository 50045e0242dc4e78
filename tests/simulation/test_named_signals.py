"""control = {name: value}: signals of the actuators of a file, and forces at joints."""

from __future__ import annotations

import numpy as np
import pytest

import catena
from catena.errors import StateError, UnknownNameError
from catena.simulation import scenario

mujoco = pytest.importorskip("mujoco")

ARM = """<mujoco><option timestep="1e-4" integrator="RK4"/><worldbody>
<body name="upper"><joint name="one" axis="0 1 0" damping=".5"/><geom size=".05" pos="0 0 .3"/>
<body name="lower" pos="0 0 .3"><joint name="two" axis="0 1 0" damping=".2"/>
<geom size=".04" pos="0 0 .3"/>
<body name="tool" pos="0 0 .3"><joint name="three" axis="1 0 0" damping=".2"/>
<geom size=".03" pos="0 .1 .1"/></body></body></body></worldbody><actuator>
<position name="servo" joint="one" kp="200" kv="20" forcerange="-40 40" ctrlrange="-1 1"/>
<motor name="drive" joint="two" gear="3"/></actuator></mujoco>"""


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("arm") / "arm.xml"
    path.write_text(ARM)
    return path


def test_signals_by_joint_move_as_in_mujoco(file):
    run = catena.simulate(catena.load(file), until=0.5, control={"one": 0.4, "drive": -0.7})
    m = mujoco.MjModel.from_xml_string(ARM)
    d = mujoco.MjData(m)
    d.ctrl[:] = 0.4, -0.7
    for _ in range(5000):
        mujoco.mj_step(m, d)
    np.testing.assert_allclose(run.data["q"].values[-1], d.qpos, atol=1e-9)


def test_a_scenario_with_these_signals_is_the_same_run(file):
    signals = {"servo": 0.4, "two": -0.7}
    asked = scenario.read(file, until=0.5, signals=signals)
    by_scenario = catena.simulate(asked.mechanism, **asked.arguments)
    run = catena.simulate(catena.load(file), until=0.5, control=signals)
    end = by_scenario.data["q"].values[-1]
    np.testing.assert_allclose(run.data["q"].values[-1], end, atol=1e-12)


def test_a_joint_without_an_actuator_takes_a_force_in_every_run_of_a_batch(file):
    arm = catena.compile(catena.load(file))
    both = catena.simulate(arm, q=np.zeros((2, 3)), until=0.3, control={"three": 0.05})
    held = catena.control.Actuator({"one": 1.0}, bias=(0, -200, -20), gain=200, forces=(-40, 40))
    force = catena.control.Actuator({"three": 1.0}, 0.05)
    by_hand = catena.simulate(arm, until=0.3, control=held + force)
    for q in both.data["q"].values[:, -1]:
        np.testing.assert_allclose(q, by_hand.data["q"].values[-1], atol=1e-9)


def test_without_actuators_values_are_forces():
    arm = catena.load("two_link_arm")
    names = catena.compile(arm).coordinate_names
    run = catena.simulate(arm, until=0.3, control={names[1]: 2.0})
    forces = catena.simulate(arm, until=0.3, control=[0.0, 2.0])
    np.testing.assert_allclose(run.data["q"].values, forces.data["q"].values, atol=1e-9)


def test_names_that_say_nothing_are_refused(file):
    arm = catena.load(file)
    with pytest.raises(UnknownNameError, match="no actuator or joint 'four'"):
        catena.simulate(arm, until=0.1, control={"four": 1.0})
    with pytest.raises(StateError, match="'servo' is given two signals"):
        catena.simulate(arm, until=0.1, control={"one": 1.0, "servo": 0.5})
    with pytest.raises(StateError, match="a signal is a number, or a trajectory"):
        catena.simulate(arm, until=0.1, control={"one": "up"})


def test_two_actuators_of_a_joint_are_named(tmp_path):
    path = tmp_path / "two.xml"
    path.write_text(ARM.replace("</actuator>", '<motor name="also" joint="two"/></actuator>'))
    with pytest.raises(StateError, match="give the signals of 'drive', 'also' by their names"):
        catena.simulate(catena.load(path), until=0.1, control={"two": 1.0})
