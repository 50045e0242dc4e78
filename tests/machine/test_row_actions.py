"""What bearings carry of gears, cams, belts, racks and screws: by hand, by the balance of every
body under forces that the test writes down itself, and by the linkage that moves alike.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import catena
from catena import Body, Joint, Mechanism, Pose
from catena.machine.reactions import reactions, undetermined
from catena.model.loads import (
    Belt,
    Cam,
    Constraint,
    Coupling,
    Drive,
    Force,
    GearPair,
    JointForce,
    RackAndPinion,
    Screw,
    SpeedRow,
)
from catena.model.mechanism import GROUND, Frame

ALPHA = np.radians(20.0)
PI = np.pi


def body(name: str, mass: float = 1.0, J: float = 0.1) -> Body:
    return Body(name, mass, (0, 0, 0), (J, 0, 0, J, 0, J))


def at(x: float, y: float, z: float = 0.0) -> Pose:
    return Pose(position=(x, y, z))


def moved(m: Mechanism, speeds, tau, fixed=()):
    """A machine, an assembled state with these speeds, the accelerations under these forces."""
    machine = catena.compile(m.validate())
    q, v = catena.assemble(machine, None, speeds, fixed=fixed)
    return machine, q, v, machine.forward_dynamics(q, v, tau)


def unbalanced(machine, q, v, a, W, forces) -> float:
    """The largest part of force or torque that a body has too much, relative to the largest force.

    W: the reactions in the ground's axes. forces: [(body, point, force)] that the test writes down,
    torques as (body, None, torque). Every body has its centre of mass at its origin.
    """
    m = machine.mechanism
    worst, size = 0.0, max(np.abs(w).max() for w in W.values())
    for b in m.bodies:
        R = machine.pose(q, b.name)[:3, :3]
        p = machine.pose(q, b.name)[:3, 3]
        total = np.zeros(6)
        for j in (*m.ordered, *m.loops):
            origin = np.zeros(3) if j.child == GROUND else machine.pose(q, j.child)[:3, 3]
            t = W[j.name][:3] + np.cross(origin - p, W[j.name][3:])
            sign = float(j.child == b.name) - float(j.parent == b.name)
            total += sign * np.concatenate([t, W[j.name][3:]])
        for name, point, f in forces:
            if name == b.name:
                pair = [f, 0 * f] if point is None else [np.cross(point - p, f), f]
                total += np.concatenate(pair)
        w = machine.frame_velocity(q, v, b.name, "world")[:3]
        acceleration = machine.frame_acceleration(q, v, a, b.name, "world")
        xx, xy, xz, yy, yz, zz = (float(x) for x in b.inertia)
        I = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T
        torque = I @ acceleration[:3] + np.cross(w, I @ w)
        force = float(b.mass) * (acceleration[3:] - np.array(m.gravity, float))
        worst = max(worst, np.abs(total - np.concatenate([torque, force])).max())
    return worst / size


# --- gears
def train(**teeth) -> Mechanism:
    """Sun of 20 mm, planet of 15 mm, ring of 50 mm fixed, an arm of 35 mm; a torque on the arm."""
    joints = [
        Joint("sun", "revolute", "ground", "sun"),
        Joint("arm", "revolute", "ground", "arm"),
        Joint("planet", "revolute", "arm", "planet", at(0.035, 0), axis=(0, 0, -1)),
        Joint("ring", "fixed", "ground", "ring"),
    ]
    pairs = [
        GearPair("inner", "sun", "planet", "arm", (20, 15), **teeth),
        GearPair("outer", "ring", "planet", "arm", (50, 15), "internal", **teeth),
    ]
    bodies = [
        body("sun", 0.3, 2e-4),
        body("arm", 0.5, 3e-4),
        body("planet", 0.2, 1e-4),
        body("ring", 1.0, 2e-3),
    ]
    return Mechanism("train", bodies, joints, constraints=pairs, gravity=(0, 0, 0))


def test_a_planet_pin_bears_the_torque_of_its_carrier():
    """Still, 11.66 N m on the arm and what holds it on the sun: the pin pushes the planet round by
    11.66 / 0.035 = 333 N, half of it at each mesh; the sideways forces at both meshes cancel.
    """
    m = train(pressure_angle=ALPHA)
    machine = catena.compile(m.validate())
    q = np.zeros(3)
    tau = np.array([-11.66 * 20 / 70, 11.66, 0.0])
    a = machine.forward_dynamics(q, np.zeros(3), tau)
    np.testing.assert_allclose(a, 0.0, atol=1e-9)
    W = reactions(machine, q, np.zeros(3), a, tau, axes="world")
    pin = 11.66 / 0.035
    np.testing.assert_allclose(W["planet"], [0, 0, 0, 0, pin, 0], atol=1e-9)
    side = pin / 2 * np.tan(ALPHA)
    # the planet pushes the sun away from itself, and on along the arm's torque
    np.testing.assert_allclose(W["sun"][3:], [side, -pin / 2, 0], atol=1e-9)
    np.testing.assert_allclose(W["ring"][3:], [-side, -pin / 2, 0], atol=1e-9)
    np.testing.assert_allclose(W["ring"][2], -pin / 2 * 0.05, atol=1e-10)
    np.testing.assert_allclose(W["arm"][3:], [0, pin, 0], atol=1e-9)
    # whoever bears all of it, the ground feels a torque and no force
    np.testing.assert_allclose(sum(W[j][3:] for j in ("sun", "ring", "arm")), 0, atol=1e-9)


@pytest.mark.parametrize("seed", [0, 1])
def test_every_body_of_a_train_balances_under_tooth_forces_written_by_hand(seed):
    rng = np.random.default_rng(seed)
    tau = rng.normal(size=3)
    machine, q, v, a = moved(train(pressure_angle=ALPHA), [5.0, 0, 0], tau, ["sun"])
    W = reactions(machine, q, v, a, tau, axes="world")
    lam = machine.multipliers(q, v, tau)
    c, s = np.cos(q[1]), np.sin(q[1])
    u, w = np.array([c, s, 0.0]), np.array([-s, c, 0.0])
    # row "inner" turns the sun by its multiplier, row "outer" the ring
    inner = lam[0] / 0.02 * w - abs(lam[0] / 0.02) * np.tan(ALPHA) * u
    outer = lam[1] / 0.05 * w + abs(lam[1] / 0.05) * np.tan(ALPHA) * u
    forces = [
        ("sun", 0.02 * u, inner),
        ("planet", 0.02 * u, -inner),
        ("ring", 0.05 * u, outer),
        ("planet", 0.05 * u, -outer),
    ]
    assert unbalanced(machine, q, v, a, W, forces) < 1e-11
    assert unbalanced(machine, q, v, a, W, forces[:2]) > 1e-3  # the check has teeth


def test_without_a_pressure_angle_only_what_it_pushes_apart_is_open():
    m = train()
    machine = catena.compile(m.validate())
    tau = np.array([-1.0, 3.5, 0.0])
    W = reactions(machine, np.zeros(3), np.zeros(3), np.zeros(3), tau, axes="world")
    for name in ("sun", "planet", "ring", "arm"):
        assert (np.isnan(W[name]) == [False, False, False, True, False, False]).all(), name
    assert W["planet"][4] == pytest.approx(100.0)
    assert undetermined(m)["sun"] == ("'inner': its pressure_angle is not known",)
    assert undetermined(train(pressure_angle=ALPHA)) == {}


def test_three_planets_share_the_load_in_a_way_that_nobody_knows():
    m = train(pressure_angle=ALPHA)
    more = [
        Joint(f"p{k}", "revolute", "arm", f"p{k}", at(0.035 * np.cos(x), 0.035 * np.sin(x)))
        for k, x in ((2, 2 * PI / 3), (3, 4 * PI / 3))
    ]
    pairs = [
        pair
        for k in (2, 3)
        for pair in (
            GearPair(f"i{k}", "sun", f"p{k}", "arm", (20, 15), pressure_angle=ALPHA),
            GearPair(f"o{k}", "ring", f"p{k}", "arm", (50, 15), "internal", pressure_angle=ALPHA),
        )
    ]
    three = m.with_(
        bodies=[*m.bodies, body("p2"), body("p3")],
        joints=[*m.joints, *more],
        constraints=[*m.constraints, *pairs],
    )
    machine = catena.compile(three.validate())
    n = machine.nv
    tau = np.zeros(n)
    tau[:2] = [-1.0, 3.5]
    W = reactions(machine, np.zeros(n), np.zeros(n), np.zeros(n), tau, axes="world")
    assert np.isnan(W["planet"][3:5]).all() and np.isnan(W["sun"][3:5]).all()
    np.testing.assert_allclose([W["sun"][2], W["arm"][2]], [-1.0, 3.5], atol=1e-12)
    np.testing.assert_allclose(W["ring"][2], -2.5, atol=1e-12)


def test_gears_apart_along_their_axis_leave_the_tilting_torques_open():
    def pair(z: float) -> Mechanism:
        joints = [
            Joint("a", "revolute", "ground", "a"),
            Joint("b", "revolute", "ground", "b", at(0.3, 0, z)),
        ]
        mesh = GearPair("mesh", "a", "b", "ground", (10, 20), pressure_angle=ALPHA)
        return Mechanism("pair", [body("a"), body("b")], joints, constraints=[mesh])

    zero = np.zeros(2)
    tau = [1.0, 0.0]
    for z, open_ in ((0.0, False), (0.05, True)):
        machine = catena.compile(pair(z).validate())
        a = machine.forward_dynamics(zero, zero, tau)
        W = reactions(machine, zero, zero, a, tau, axes="world")
        assert (np.isnan(W["a"]) == [open_, open_, False, False, False, False]).all()
        (lam,) = machine.multipliers(zero, zero, tau)
        np.testing.assert_allclose(W["a"][4], -lam / 0.1, rtol=1e-12)


# --- belts, racks, screws
@pytest.mark.parametrize("run", ["open", "crossed"])
def test_wheels_of_a_belt_balance_under_its_two_strands(run):
    joints = [
        Joint("a", "revolute", "ground", "a", at(0.1, 0.2)),
        Joint("b", "revolute", "ground", "b", at(1.1, 0.5)),
    ]
    belt = Belt("belt", "a", "b", "ground", (0.1, 0.25), run, pretension=40.0)
    m = Mechanism("belt", [body("a"), body("b")], joints, constraints=[belt])
    tau = np.array([0.7, 0.2])
    machine, q, v, a = moved(m, [3.0, 0], tau, ["a"])
    W = reactions(machine, q, v, a, tau, axes="world")
    (lam,) = machine.multipliers(q, v, tau)
    # the tangents by angles: the belt leaves a wheel at beta from the line of centres
    way = np.array([1.0, 0.3, 0.0])
    d = np.hypot(1.0, 0.3)
    gamma = np.arctan2(0.3, 1.0)
    beta = np.arccos((0.1 - 0.25 if run == "open" else 0.1 + 0.25) / d)
    forces = []
    for side, tension in ((1.0, 40.0 - lam / 0.2), (-1.0, 40.0 + lam / 0.2)):
        angle = gamma + side * beta
        normal = np.array([np.cos(angle), np.sin(angle), 0])
        one = np.array([0.1, 0.2, 0]) + 0.1 * normal
        other = np.array([1.1, 0.5, 0]) + (0.25 if run == "open" else -0.25) * normal
        pull = tension * (other - one) / np.linalg.norm(other - one)
        assert abs((other - one) @ normal) < 1e-12
        forces += [("a", one, pull), ("b", other, -pull)]
    assert unbalanced(machine, q, v, a, W, forces) < 1e-11
    bare = m.with_(constraints=[replace(belt, pretension=None)])
    assert undetermined(bare.validate())["a"] == ("'belt': its pretension is not known",)
    W = reactions(bare, q, v, a, tau, axes="world")
    across = np.array([-way[1], way[0], 0]) / d  # the mean pull is along the line of centres
    assert np.isnan(W["a"][3:5]).all() and np.isfinite(W["a"][[0, 1, 2, 5]]).all()
    assert np.isfinite(across).all()


@pytest.mark.parametrize("radius", [0.05, -0.05])
def test_a_rack_pushes_its_pinion_away(radius):
    joints = [
        Joint("pinion", "revolute", "ground", "pinion", at(0.2, 0.1)),
        Joint("rack", "prismatic", "ground", "rack", axis=(1, 0, 0)),
    ]
    mesh = RackAndPinion("mesh", "pinion", "rack", "ground", radius, pressure_angle=ALPHA)
    m = Mechanism("rack", [body("pinion"), body("rack")], joints, constraints=[mesh])
    tau = np.array([0.3, 2.0])
    machine, q, v, a = moved(m, [1.0, 0], tau, ["pinion"])
    W = reactions(machine, q, v, a, tau, axes="world")
    (lam,) = machine.multipliers(q, v, tau)
    # n x r = x: the pitch point lies below the axis for a positive radius
    point = np.array([0.2, 0.1 - radius, 0.0])
    f = np.array([lam, -np.sign(radius) * abs(lam) * np.tan(ALPHA), 0.0])
    forces = [("rack", point, f), ("pinion", point, -f)]
    assert unbalanced(machine, q, v, a, W, forces) < 1e-11


@pytest.mark.parametrize("axis", [(0, 0, 1), (0, 0, -1)])
def test_a_screw_pushes_along_its_axis_and_turns_its_nut(axis):
    joints = [
        Joint("spindle", "revolute", "ground", "spindle", at(0.1, 0)),
        Joint("nut", "prismatic", "ground", "nut", at(0.1, 0.02), axis=axis),
    ]
    thread = Screw("thread", "spindle", "nut", "ground", 0.004)
    m = Mechanism("jack", [body("spindle"), body("nut", 5.0)], joints, constraints=[thread])
    tau = np.array([0.3, 0.0])
    machine, q, v, a = moved(m, [1.0, 0], tau, ["spindle"])
    W = reactions(machine, q, v, a, tau, axes="world")
    (lam,) = machine.multipliers(q, v, tau)
    f = lam * np.array(axis, float)
    t = 0.004 / (2 * PI) * f
    point = np.array([0.1, 0, 0])
    forces = [("nut", point, f), ("nut", None, t), ("spindle", point, -f), ("spindle", None, -t)]
    assert unbalanced(machine, q, v, a, W, forces) < 1e-11


# --- cams
def lifted(end: str | None, tip: str | None = None) -> Mechanism:
    """An eccentric disc, 20 mm off its shaft, and a follower pressed onto it."""
    joints = [
        Joint("shaft", "revolute", "ground", "cam"),
        Joint("guide", "prismatic", "ground", "rod", at(0, 0.1), axis=(0, 1, 0)),
    ]
    # the centre of a roller goes on a circle of 100 mm about the disc's centre
    profile = "0.02*sin(angle) + sqrt(0.01 - 0.0004*cos(angle)^2) - 0.1"
    if end == "flat":
        profile = "0.02*sin(angle)"
    return Mechanism(
        "cam",
        [body("cam", 2.0), body("rod", 0.5)],
        joints,
        gravity=(0, -9.81, 0),
        frames=[Frame("centre", "cam", at(0.02, 0))],
        loads=[Force("spring", "rod", force=(0.0, -300.0, 0.0))],
        constraints=[
            Cam(
                "lift",
                "shaft",
                "guide",
                profile,
                end=end,
                tip=tip,
            ),
            Drive("motor", "shaft", "0.4 + 15*t"),
        ],
    )


def test_a_shaft_bears_what_its_cam_pushes():
    """A flat follower: the bearing carries the weight of the cam and all that moves the follower,
    300 N and more; the guide carries the moment, as far off the shaft as the lift grows by angle.
    """
    m = lifted("flat")
    q, v = catena.assemble(m.validate())
    result = catena.simulate(m, q=q, v=v, until=0.4, output=0.01)
    W = result.reactions("world")
    t = result.time
    angle = 0.4 + 15 * t
    push = 0.5 * (9.81 - 0.02 * 15**2 * np.sin(angle)) + 300.0
    shaft, guide = (W.sel(joint=name).values for name in ("shaft", "guide"))
    np.testing.assert_allclose(shaft[:, 4], 2.0 * 9.81 + push, atol=1e-6)
    np.testing.assert_allclose(shaft[:, [0, 1, 3, 5]], 0.0, atol=1e-8)
    np.testing.assert_allclose(guide[:, 2], -push * 0.02 * np.cos(angle), atol=1e-6)
    np.testing.assert_allclose(guide[:, 3:], 0.0, atol=1e-6)
    assert shaft[:, 4].max() > 300.0


def test_a_roller_pushes_as_the_rod_of_a_crank_does():
    """A roller on an eccentric disc moves as a slider crank: its rod, a constraint of two frames,
    and the cam have the same reactions in shaft and guide. Without an end the force along the
    guide is still the same.
    """
    m = lifted("point", "rod").validate()
    rod = Constraint("rod", "sqrt((x_rod - x_centre)^2 + (y_rod - y_centre)^2) - 0.1")
    crank = m.with_(constraints=[rod, m.constraints[1]]).validate()
    for angle in (0.4, 1.9, 3.3, 5.0):
        t = (angle - 0.4) / 15
        machines = [catena.compile(x) for x in (m, crank, lifted(None).validate())]
        q, v = catena.assemble(machines[0], [angle, 0.0], t=t)
        W = []
        for machine in machines:
            a = machine.forward_dynamics(q, v, np.zeros(2), t=t)
            W.append(reactions(machine, q, v, a, axes="world", t=t))
        for joint in ("shaft", "guide"):
            np.testing.assert_allclose(W[0][joint], W[1][joint], rtol=0, atol=1e-7)
        assert abs(W[0]["shaft"][3]) > 5.0  # across the guide
        np.testing.assert_allclose(W[2]["shaft"][4], W[0]["shaft"][4], rtol=1e-9)
        assert np.isnan(W[2]["shaft"][3]) and np.isnan(W[2]["guide"][3])
    assert undetermined(lifted(None).validate())["shaft"] == ("'lift': its end is not known",)


def test_a_lever_on_a_cam_is_a_four_bar():
    """The roller of a lever on an eccentric disc moves as a four-bar linkage."""
    joints = [
        Joint("shaft", "revolute", "ground", "cam"),
        Joint("lever", "revolute", "ground", "lever", at(0.2, 0)),
    ]
    frames = [Frame("centre", "cam", at(0.02, 0)), Frame("roller", "lever", at(-0.15, 0))]
    rod = Constraint("rod", "sqrt((x_roller - x_centre)^2 + (y_roller - y_centre)^2) - 0.1")
    bar = Mechanism(
        "four-bar",
        [body("cam", 2.0), body("lever", 0.5)],
        joints,
        frames=frames,
        gravity=(0, -9.81, 0),
        loads=[JointForce("spring", "lever", 4.0)],
        constraints=[rod, Drive("motor", "shaft", "0.4 + 15*t")],
    ).validate()
    angles = np.linspace(0.0, 2 * PI, 241)
    lifts = []
    q = np.array([0.0, -0.6])
    for angle in angles[:-1]:
        q, _ = catena.assemble(bar.with_(constraints=[rod]), [angle, q[1]], fixed=["shaft"])
        lifts.append(q[1])
    cam = Cam(
        "lift", "shaft", "lever", angles=angles, lifts=[*lifts, lifts[0]], end="point", tip="roller"
    )
    m = bar.with_(constraints=[cam, bar.constraints[1]]).validate()
    for angle in (0.4, 2.5, 4.0):
        t = (angle - 0.4) / 15
        W = []
        near = [angle, lifts[int(angle / (2 * PI) * 240)]]
        for each in (m, bar):
            machine = catena.compile(each)
            q, v = catena.assemble(machine, near, t=t)
            a = machine.forward_dynamics(q, v, np.zeros(2), t=t)
            W.append(reactions(machine, q, v, a, axes="world", t=t))
        for joint in ("shaft", "lever"):  # a spline through 240 points: to 1e-4
            size = np.abs(W[1][joint]).max()
            np.testing.assert_allclose(W[0][joint], W[1][joint], rtol=0, atol=2e-4 * size)


def test_a_cam_says_what_its_end_needs():
    with pytest.raises(catena.errors.MechanismError, match="`tip`, the frame at that point"):
        lifted("point").validate()


# --- what nobody knows
def test_rows_of_coordinates_alone_leave_their_joints_undetermined_by_name():
    joints = [
        Joint("frame", "prismatic", "ground", "frame", axis=(1, 0, 0)),
        Joint("a", "revolute", "frame", "a"),
        Joint("b", "revolute", "frame", "b", at(0.5, 0)),
    ]
    bodies = [body("frame"), body("a"), body("b")]
    m = Mechanism("tied", bodies, joints)
    ties = [
        {"constraints": [Coupling("rope", ("a", "b"), (1, -2))]},
        {"constraints": [Constraint("rope", "q_a - 2*q_b")]},
        {"constraints": [GearPair("rope", "a", "b", "frame", (1, 2), "bevel")]},
        {"nonholonomic": [SpeedRow("rope", "v_a - 2*v_b")]},
    ]
    for tie in ties:
        tied = m.with_(**tie)
        if "constraints" in tie and tie["constraints"][0].kind == "gear_pair":
            turned = Joint("b", "revolute", "frame", "b", at(0.5, 0), axis=(1, 0, 0))
            tied = tied.with_(joints=[*joints[:2], turned])
        machine, q, v, a = moved(tied, [0, 1.0, 0], [0.0, 1.0, 0.0], ["a"])
        W = reactions(machine, q, v, a, [0.0, 1.0, 0.0])
        assert np.isnan(W["a"]).all() and np.isnan(W["b"]).all()
        assert np.isfinite(W["frame"]).all()  # what acts inside the frame does not reach its guide
        (why,) = undetermined(machine)["a"]
        assert why.startswith("'rope': ") and "not" in why
    lone = moved(m.with_(constraints=[Constraint("lock", "q_a - 0.3")]), None, [0.0, 1.0, 0.0])
    assert all(np.isfinite(w).all() for w in reactions(*lone, [0.0, 1.0, 0.0]).values())
    assert undetermined(lone[0]) == {}


def test_wheels_whose_axes_coincide_have_no_point_at_which_they_touch():
    joints = [Joint("a", "revolute", "ground", "a"), Joint("b", "revolute", "ground", "b")]
    mesh = GearPair("mesh", "a", "b", "ground", (10, 20))
    m = Mechanism("one axis", [body("a"), body("b")], joints, constraints=[mesh]).validate()
    assert "its gears have one axis" in undetermined(m)["a"][0]
    W = reactions(m, np.zeros(2), np.zeros(2), np.zeros(2))
    assert np.isnan(W["a"]).all()


def test_a_blow_has_tooth_forces_and_no_pretension():
    """The impulse in the bearings of two gears under a blow: as the reactions of the same numbers
    under a force.
    """
    joints = [
        Joint("a", "revolute", "ground", "a"),
        Joint("b", "revolute", "ground", "b", at(0.3, 0)),
    ]
    belt = Belt("belt", "a", "b", "ground", (0.1, 0.05), pretension=40.0)
    m = Mechanism(
        "pair", [body("a"), body("b")], joints, constraints=[belt], gravity=(0, 0, 0)
    ).validate()
    machine = catena.compile(m)
    zero = np.zeros(2)
    strike = {("a", "world"): np.array([0, 0, 1.0, 0, 0, 0])}
    found = catena.impulse(machine, zero, zero, at="a", angular=(0, 0, 1.0))
    a = machine.forward_dynamics(zero, zero, zero, strike)
    W = reactions(machine, zero, zero, a, wrenches=strike)
    still = reactions(machine, zero, zero, zero)
    for name in ("a", "b"):
        np.testing.assert_allclose(found.impulses[name], W[name] - still[name], atol=1e-9)
        assert np.abs(still[name][3]) > 70.0
