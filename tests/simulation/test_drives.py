"""Drives against closed forms, and against a mechanism that has their rotor as a body."""

import math

import numpy as np
import pytest

import catena
from catena import control, env
from catena.errors import StateError
from catena.model import Body, Joint, Mechanism
from catena.model.loads import JointSpring
from catena.simulation.scenario import read as read_scenario

INERTIA = 0.5


def wheel(**joint):
    """A wheel about a vertical axis: q'' = tau / 0.5."""
    body = Body("wheel", mass=1.0, com=(0, 0, 0), inertia=(INERTIA,) * 3)
    return Mechanism(
        "wheel", [body], [Joint("axle", "revolute", "ground", "wheel", axis=(0, 0, 1), **joint)]
    )


def run(drive, until=1.0, q=0.0, v=0.0, mechanism=None, **options):
    found = catena.simulate(
        mechanism or wheel(), q=[q], v=[v], until=until, control=drive, **options
    )
    return found, found.data["q"].values[:, 0], found.data["v"].values[:, 0]


def state(found, name):
    """A state of a drive over time."""
    return found.data["state"].sel(state_name=name).values


def test_force_servo_and_velocity_servo_have_their_closed_forms():
    _, q, v = run(control.Drive("axle", signal=0.3))
    assert q[-1] == pytest.approx(0.5 * 0.3 / INERTIA, rel=1e-9)
    _, _, v = run(control.Drive("axle", "velocity", signal=2.0, kd=1.5))
    assert v[-1] == pytest.approx(2.0 * (1 - math.exp(-1.5 / INERTIA)), rel=1e-8)
    _, q, v = run(control.Drive("axle", "position", signal=1.0, kp=8.0, kd=4.0))
    w = math.sqrt(8.0 / INERTIA)  # critically damped
    assert q[-1] == pytest.approx(1 - (1 + w) * math.exp(-w), rel=1e-8)


def test_torque_speed_curve_gives_an_exponential_run_up():
    """F = 2 (1 - w / 10): w = 10 (1 - exp(-t 2 / (10 I)))."""
    drive = control.Drive("axle", signal=5.0, effort=2.0, curve=((0.0, 2.0), (10.0, 0.0)))
    _, _, v = run(drive, until=3.0)
    assert v[-1] == pytest.approx(10 * (1 - math.exp(-3 * 0.2 / INERTIA)), rel=1e-7)
    # against the motion the whole effort is there
    _, _, v = run(control.Drive("axle", signal=-5.0, effort=2.0, speed=10.0), until=1.0, v=9.9)
    assert v[-1] == pytest.approx(9.9 - 2.0 / INERTIA, rel=1e-7)
    _, _q, v = run(control.Drive("axle", signal=5.0, effort=2.0, speed=10.0), until=30.0)
    assert v[-1] == pytest.approx(10.0, abs=1e-6)


def test_a_command_acts_after_its_delay():
    drive = control.Drive("axle", signal=1.0, sample=0.01, delay=0.05)
    found, _q, v = run(drive, until=0.2, output=0.01)
    t = found.data["time"].values
    assert v == pytest.approx(np.maximum(t - 0.05, 0.0) / INERTIA, abs=1e-9)


def test_elastic_gear_is_a_rotor_behind_a_spring():
    """The same motion as of two bodies of a mechanism with a spring between them."""
    rotor = Body("rotor", mass=1.0, com=(0, 0, 0), inertia=(0.02,) * 3)
    load = Body("wheel", mass=1.0, com=(0, 0, 0), inertia=(INERTIA,) * 3)
    two = Mechanism(
        "two",
        [rotor, load],
        [
            Joint("motor", "revolute", "ground", "rotor", axis=(0, 0, 1), damping=0.1),
            Joint("wound", "revolute", "rotor", "wheel", axis=(0, 0, 1), damping=0.3),
        ],
        loads=[JointSpring("gear", "wound", 40.0, 0.0)],
    )
    drive = control.Drive(
        "axle", signal=1.0, stiffness=40.0, damping=0.3, inertia=0.02, viscous=0.1
    )
    found, q, _v = run(drive, until=1.0)
    both = catena.simulate(
        two, q=[0, 0], until=1.0, control=control.Actuator({"motor": 1.0}, signal=1.0)
    )
    angles = both.data["q"].values
    assert q == pytest.approx(angles.sum(axis=1), abs=1e-8)
    assert state(found, "winding of axle") == pytest.approx(-angles[:, 1], abs=1e-8)


def test_backlash_leaves_the_joint_alone_until_the_teeth_meet():
    """J th'' = 1 until th = b/2: at t = sqrt(b J)."""
    drive = control.Drive("axle", signal=1.0, stiffness=1e4, inertia=0.1, backlash=0.2)
    found, q, _v = run(drive, until=1.0, output=0.001)
    t = found.data["time"].values
    meet = math.sqrt(0.2 * 0.1)
    assert np.abs(q[t < meet - 0.002]).max() < 1e-12
    assert q[t > meet + 0.01].min() > 0.0
    # later both move together: q'' = 1 / (I + J), and the joint lags by half the play
    assert np.ptp(state(found, "winding of axle")) < 0.2 + 0.02


def test_winding_heats_and_limits_the_motor():
    """T' = h F^2 - T / c on a joint that is held; at the end the limit balances the heat."""
    held = wheel(damping=1e6)
    drive = control.Drive("axle", signal=1.0, effort=5.0, heating=3.0, cooling=20.0, hottest=1e3)
    found, *_ = run(drive, until=10.0, mechanism=held)
    T = state(found, "temperature rise of axle")
    assert T[-1] == pytest.approx(60.0 * (1 - math.exp(-0.5)), rel=1e-7)
    drive = control.Drive("axle", signal=5.0, effort=5.0, heating=3.0, cooling=20.0, hottest=100.0)
    found, *_ = run(drive, until=200.0, mechanism=held)
    T = state(found, "temperature rise of axle")
    share = (100.0 - T[-1]) / 10.0
    assert T.max() < 100.0 and 3.0 * (5.0 * share) ** 2 == pytest.approx(T[-1] / 20.0, rel=1e-5)


def test_friction_of_the_gear_stops_the_wheel():
    """v = v0 - F t / I while it moves."""
    _, _q, v = run(control.Drive("axle", friction=0.2), until=1.0, v=1.0)
    assert v[-1] == pytest.approx(1.0 - 0.2 / INERTIA, rel=1e-6)


def test_drives_act_in_environments_and_files(tmp_path):
    drive = control.Drive("axle", "position", kp=8.0, kd=4.0, signals=(-1, 1), effort=9.0)
    worlds = env.Worlds(env.Environment(wheel(), [drive], ["axle", "v['axle']"], time_step=0.01), 4)
    worlds.reset()
    for _ in range(100):
        worlds.step(np.full((4, 1), 1.0))
    _, q, _ = run(control.Drive("axle", "position", signal=1.0, kp=8.0, kd=4.0, effort=9.0))
    assert worlds.q[:, 0] == pytest.approx(q[-1], abs=1e-6)
    catena.save(wheel(), tmp_path / "wheel.toml")
    with (tmp_path / "wheel.toml").open("a") as file:
        file.write(
            '\n[scenario]\nuntil = 1.0\ncontrol = { kind = "drive", joint = "axle", mode ='
            ' "position", signal = 1.0, kp = 8, kd = 4, effort = 3, curve = [[0, 3], [50, 1]] }\n'
        )
    read = read_scenario(tmp_path / "wheel.toml")
    assert read.options["control"].curve == ((0.0, 3.0), (50.0, 1.0))
    assert catena.simulate(read.mechanism, **read.arguments).data["q"].values[-1, 0] > 0.5


@pytest.mark.parametrize(
    "given, words",
    [
        ({"mode": "speed"}, "mode is 'speed'"),
        ({"mode": "position"}, "needs kp above zero"),
        ({"backlash": 0.1}, "backlash needs a stiffness"),
        ({"stiffness": 10.0}, "inertia of the rotor"),
        ({"delay": 0.1}, "needs a sample time"),
        ({"delay": 0.015, "sample": 0.01}, "no whole number of samples"),
        ({"speed": 3.0}, "needs effort"),
        ({"heating": 1.0}, "cooling, hottest and effort"),
        ({"curve": ((1.0, 1.0), (0.5, 0.0)), "effort": 1.0}, "speeds rise"),
    ],
)
def test_wrong_drives_are_refused(given, words):
    with pytest.raises(StateError, match=words):
        control.Drive("axle", **given)
