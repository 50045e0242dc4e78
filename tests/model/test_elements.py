"""Machine elements in files and records: read, written, refused in one sentence; loads of machines
against closed forms.
"""

from __future__ import annotations

import numpy as np
import pytest

import catena
from catena import Body, Joint, Mechanism, Pose
from catena.errors import CatenaError, StateError
from catena.model.loads import (
    Cam,
    Clutch,
    Constraint,
    Coupling,
    Drag,
    Drive,
    Freewheel,
    GearPair,
    RackAndPinion,
)
from catena.simulation.control import DCMotor


def body(name: str, J: float = 0.1) -> Body:
    return Body(name, 1.0, (0, 0, 0), (J, 0, 0, J, 0, J))


JOINTS = (
    Joint("a", "revolute", "ground", "a"),
    Joint("b", "revolute", "ground", "b"),
    Joint("s", "prismatic", "ground", "s", axis=(1, 0, 0)),
    Joint("c", "revolute", "s", "c"),
    Joint("x", "revolute", "ground", "x", axis=(1, 0, 0)),
)


def made(*constraints, **more) -> Mechanism:
    return Mechanism(
        "box", [body(j.name) for j in JOINTS], JOINTS, constraints=constraints, **more
    ).validate()


BAD = {
    "constraint 'g': 'c' does not turn about an axis of its carrier 'ground': joint 's' (prismatic) lies between them": GearPair(  # noqa: E501
        "g", "a", "c", "ground", (1, 2)
    ),
    "constraint 'g': 'a' does not move in its carrier 'a'; name the body that carries both wheels": GearPair(  # noqa: E501
        "g", "a", "b", "a", (1, 2)
    ),
    "constraint 'g': teeth is -20; it is above zero": GearPair("g", "a", "b", "ground", (-20, 40)),
    "constraint 'g': no mesh 'outer'; meshes are: external, internal, bevel": GearPair(
        "g", "a", "b", "ground", (20, 40), "outer"
    ),
    "the axes of 'a' and 'x' are not parallel, as those of an external pair are": GearPair(
        "g", "a", "x", "ground", (1, 2)
    ),
    "the axes of 'a' and 'b' are parallel; bevel gears have axes that meet": GearPair(
        "g", "a", "b", "ground", (1, 2), "bevel"
    ),
    "constraint 'g': teeth has 3 values; 2 are wanted": GearPair(
        "g", "a", "b", "ground", (1, 2, 3)
    ),
    "constraint 'g': no body 'd'": GearPair("g", "a", "d", "ground", (1, 2)),
    "the rack 's' does not slide across the axis of the pinion 'x'": RackAndPinion(
        "r", "x", "s", "ground", 0.1
    ),
    "constraint 'c': its profile does not close: the lift is 0 at the angle 0 and 0.3 after one turn": Cam(  # noqa: E501
        "c", "a", "s", "0.3*angle/(2*pi)"
    ),
    "constraint 'c': its profile does not close: the lift is 0 at the angle 0 and 0.1 after one turn": Cam(  # noqa: E501
        "c", "a", "s", angles=np.linspace(0, 2 * np.pi, 5), lifts=(0, 0.1, 0.2, 0.1, 0.1)
    ),
    "its angles go from 0 to 3 rad; they rise from 0 to one turn": Cam(
        "c", "a", "s", angles=(0, 1, 2, 3), lifts=(0, 1, 1, 0)
    ),
    "its lift is given by `profile`, or by points `angles` and `lifts`; one of the two is wanted": (
        Cam("c", "a", "s")
    ),
    "no name 'angel'": Cam("c", "a", "s", "angel"),
    "constraint 'e': 'q_a - v_b': no name 'v_b'": Constraint("e", "q_a - v_b"),
    "it couples a; two or more different coordinates are wanted": Coupling("k", ("a",), (1,)),
}


@pytest.mark.parametrize("told", BAD)
def test_what_is_wrong_with_an_element_is_one_sentence(told):
    with pytest.raises(CatenaError) as error:
        made(BAD[told])
    assert told in str(error.value)


def test_two_drives_on_one_freedom_are_named():
    with pytest.raises(
        CatenaError,
        match="constraint 'two': 'a' is driven by 'one' already; one drive per freedom is wanted",
    ):
        made(Drive("one", "a", "t"), Drive("two", "a", "2*t"))
    with pytest.raises(
        CatenaError, match="2 constraints or rows are called 'one'; give each its own name"
    ):
        made(Drive("one", "a", "t"), Drive("one", "b", "t"))


FILE = """
[parameters]
r = 2
w = 3
c = 4
[[body]]
name = "a"
mass = 1
com = [0, 0, 0]
inertia = [1, 1, 1]
[[body]]
name = "b"
mass = 1
com = [0, 0, 0]
inertia = [1, 1, 1]
[[joint]]
name = "a"
kind = "revolute"
parent = "ground"
child = "a"
[[joint]]
name = "b"
kind = "revolute"
parent = "ground"
child = "b"
[[frame]]
name = "tip"
body = "a"
at = ["r", 0, 0]
"""
TABLES = {
    'name = "tie"\nzero = "q_b - c*y_tip"': Constraint("tie", "q_b - c*y_tip"),
    'name = "tie"\nkind = "gear_pair"\nfirst = "a"\nsecond = "b"\ncarrier = "ground"\nteeth = [20, 30]\nphase = "90 deg"': GearPair(  # noqa: E501
        "tie", "a", "b", "ground", (20, 30), phase=np.pi / 2
    ),
    'name = "tie"\nkind = "cam"\ncam = "a"\nfollower = "b"\nangles = ["0 deg", "90 deg", "180 deg", "360 deg"]\nlifts = [0, 1, 1, 0]': Cam(  # noqa: E501
        "tie", "a", "b", angles=(0, np.pi / 2, np.pi, 2 * np.pi), lifts=(0, 1, 1, 0)
    ),
    'name = "tie"\nkind = "drive"\ncoordinate = "a"\nmotion = "w*t"': Drive("tie", "a", "w*t"),
}


@pytest.mark.parametrize("table", TABLES)
def test_constraints_stand_in_files_and_are_written_back(table, tmp_path):
    path = tmp_path / "box.toml"
    path.write_text(FILE + "[[constraint]]\n" + table + "\n")
    m = catena.load(path)
    assert m.constraints == (TABLES[table],) and "1 constraint," in repr(m)
    catena.save(m, tmp_path / "again.toml")
    assert catena.load(tmp_path / "again.toml").constraints == m.constraints


def test_a_file_with_an_unknown_kind_is_told_the_kinds(tmp_path):
    path = tmp_path / "box.toml"
    path.write_text(FILE + '[[constraint]]\nname = "tie"\nkind = "gear"\n')
    with pytest.raises(CatenaError, match="no constraint kind 'gear'.*gear_pair"):
        catena.load(path)


def test_a_scene_renames_what_constraints_say():
    part = made(Constraint("e", "q_a - x_c"), GearPair("g", "a", "b", "ground", (1, 2)))
    scene = catena.attach(Mechanism("two", (), ()), part, "left_", at=Pose(position=(1, 0, 0)))
    assert (
        scene.constraints[0].zero == "q_left_a - x_left_c"
        and scene.constraints[1].carrier == "left_ground"
    )
    q = catena.assemble(scene.validate(), fixed=["left_a"])[0]
    assert np.isfinite(q).all()


# --- loads of machines
def one(**more) -> Mechanism:
    return Mechanism(
        "one",
        [body("a")],
        [Joint("a", "prismatic", "ground", "a", axis=(1, 0, 0))],
        gravity=(0, 0, 0),
        **more,
    ).validate()


def test_drag_slows_as_one_over_the_way():
    """m v' = -c v^2: v = v0 / (1 + c v0 t / m); in a stream of the same speed there is none."""
    result = catena.simulate(one(loads=[Drag("air", "a", 0.3)]), v=[4.0], until=2.0)
    np.testing.assert_allclose(result.data["v"].values[-1, 0], 4 / (1 + 0.3 * 4 * 2), rtol=1e-8)
    still = catena.compile(one(loads=[Drag("air", "a", 0.3, stream=(4, 0, 0))])).forward_dynamics(
        [0], [4.0], [0]
    )
    np.testing.assert_allclose(still, 0, atol=1e-15)


def test_a_clutch_slips_at_its_capacity_and_then_sticks():
    """Two flywheels: constant torque while they slip, then one speed, that of their common
    momentum.
    """
    joints = [Joint(n, "revolute", "ground", n) for n in ("a", "b")]
    m = Mechanism(
        "clutch",
        [body("a", 0.1), body("b", 0.3)],
        joints,
        gravity=(0, 0, 0),
        loads=[Clutch("clutch", "a", 0.5, 1e-3, ("b",))],
    ).validate()
    result = catena.simulate(m, v=[8.0, 0.0], until=2.0, output=0.5, integrator="radau")
    np.testing.assert_allclose(
        result.data["v"].values[1], [8 - 5 * 0.5, 0.5 * 0.5 / 0.3], rtol=1e-6
    )
    np.testing.assert_allclose(result.data["v"].values[-1], [2.0, 2.0], rtol=1e-6)


def test_a_freewheel_runs_forwards_alone():
    m = one(loads=[Freewheel("pawl", "a", 50.0)])
    np.testing.assert_allclose(
        catena.compile(m).forward_dynamics([[0], [0]], [[2.0], [-2.0]], [[0], [0]]), [[0], [100]]
    )


def test_a_motor_has_its_electrical_time_constant():
    """Locked rotor: i = u/R (1 - exp(-t R/L)); free it runs up to u/k."""
    m = one()
    motor = {"resistance": 2.0, "inductance": 0.5, "constant": 0.4}
    held = m.with_(constraints=[Drive("lock", "a", 0.0)]).validate()
    result = catena.simulate(
        held, until=1.0, output=0.25, control=DCMotor({"a": 3.0}, 6.0, **motor)
    )
    np.testing.assert_allclose(
        result.data["tau"].values[:, 0], 3 * 0.4 * 3 * (1 - np.exp(-4 * result.time)), atol=1e-8
    )
    free = catena.simulate(m, until=30.0, output=30.0, control=DCMotor({"a": 3.0}, 6.0, **motor))
    np.testing.assert_allclose(free.data["v"].values[-1, 0], 6 / (3 * 0.4), rtol=1e-6)
    with pytest.raises(
        StateError, match="motor 'motor': inductance is 0; it is a number above zero, H"
    ):
        DCMotor({"a": 1.0}, 1.0, 1.0, 0, 1.0)
