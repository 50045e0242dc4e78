"""Machine elements: constraints of coordinates, in questions, formulations and simulation, against
closed forms and loops.
"""

from __future__ import annotations

import numpy as np
import pytest

import catena
from catena import Body, Joint, Mechanism, Pose
from catena.equations.formulations import ALL_FORMULATIONS, formulation
from catena.errors import ClosureError, QuestionError, StateError
from catena.machine.constraint_rows import rows_at
from catena.model.loads import (
    Belt,
    Cam,
    Constraint,
    Coupling,
    Drive,
    GearPair,
    RackAndPinion,
    Screw,
)
from catena.model.mechanism import Frame
from catena.simulation.scenario.read import read

PI, TAU = np.pi, 2 * np.pi


def body(name: str, mass: float = 1.0, J: float = 0.1) -> Body:
    return Body(name, mass, (0, 0, 0), (J, 0, 0, J, 0, J))


def planetary(ring: str = "revolute", **gear) -> Mechanism:
    """Sun, arm, planet on the arm, ring; the ring's joint may point the other way, which changes
    nothing.

    (sun)====(planet)  |ring        ==== arm
    """
    joints = [
        Joint("sun", "revolute", "ground", "sun"),
        Joint("arm", "revolute", "ground", "arm"),
        Joint("planet", "revolute", "arm", "planet", Pose(position=(0.3, 0, 0)), axis=(0, 0, -1)),
        Joint("ring", ring, "ground", "ring"),
    ]
    pairs = [
        GearPair("inner", "sun", "planet", "arm", (20, 15)),
        GearPair("outer", "planet", "ring", "arm", (15, 50), "internal", **gear),
    ]
    bodies = [body("sun"), body("arm", 2.0, 0.3), body("planet", 0.5, 0.02), body("ring", 3.0, 0.8)]
    return Mechanism("planetary", bodies, joints, constraints=pairs, gravity=(0, 0, 0)).validate()


def cam(**profile) -> Mechanism:
    joints = [
        Joint("shaft", "revolute", "ground", "cam"),
        Joint("guide", "prismatic", "ground", "rod", axis=(0, 1, 0)),
    ]
    return Mechanism(
        "cam",
        [body("cam"), body("rod")],
        joints,
        gravity=(0, -9.81, 0),
        parameters={"h": 0.03},
        constraints=[Cam("lift", "shaft", "guide", **profile)],
    ).validate()


# --- gears
def test_a_planetary_train_turns_as_willis_says():
    """(sun - arm) / (ring - arm) = -z_ring / z_sun, at every level: positions, speeds,
    accelerations.
    """
    m = planetary()
    rng = np.random.default_rng(1)
    sun, arm = rng.standard_normal((2, 3, 4))
    q, v, a = catena.analysis.kinematics(m, {"sun": tuple(sun), "arm": tuple(arm)})
    for x, given in ((q, 0), (v, 1), (a, 2)):
        np.testing.assert_allclose((x[:, 0] - x[:, 1]) / (x[:, 3] - x[:, 1]), -2.5, rtol=1e-10)
        np.testing.assert_allclose(x[:, :2].T, [sun[given], arm[given]], atol=1e-12)
    found = catena.mobility(m)
    assert found.degrees_of_freedom == 2 and found.rank == found.tied_rows == 2
    assert "2 constraint rows (2 of constraints), 2 of them independent" in str(found)


def test_a_planetary_train_moves_by_its_reduced_inertia():
    """The ring is fixed: one freedom, whose inertia is a sum of squares of ratios; also with the
    power of the constraints, none.
    """
    m = planetary("fixed")
    i_arm = 20 / 70
    i_planet = -(1 - i_arm) * 20 / 15  # in the arm
    J = 0.1 + (0.3 + 0.5 * 0.3**2) * i_arm**2 + 0.02 * (i_planet + i_arm) ** 2
    machine = catena.compile(m)
    a = machine.forward_dynamics(np.zeros(3), np.zeros(3), [1.0, 0, 0])
    # the planet's axis points down
    np.testing.assert_allclose(a, np.array([1, i_arm, -i_planet]) / J, rtol=1e-12)
    result = catena.simulate(
        m,
        v=catena.assemble(m, None, [1.0, 0, 0], fixed=["sun"])[1],
        until=1.0,
        control=catena.control.Forces({"sun": 1.0}),
    )
    np.testing.assert_allclose(result.data["v"].values[-1, 0], 1 + 1 / J, rtol=1e-10)


def test_every_formulation_that_takes_constraints_agrees_on_a_train():
    told = str(catena.check(planetary(), states=10))
    assert "the formulations agree" in told and told.count(" agrees") >= 12


@pytest.mark.parametrize(("axis", "sign"), [((0, 0, 1), 1.0), ((0, 0, -1), -1.0)])
def test_belts_turn_by_their_radii_whatever_way_axes_point(axis, sign):
    joints = [
        Joint("a", "revolute", "ground", "a"),
        Joint("b", "revolute", "ground", "b", Pose(position=(1, 0, 0)), axis=axis),
    ]
    for run, sense in (("open", 1.0), ("crossed", -1.0)):
        m = Mechanism(
            "belt",
            [body("a"), body("b")],
            joints,
            constraints=[Belt("belt", "a", "b", "ground", (0.1, 0.25), run, phase=0.3)],
        ).validate()
        q, v, a = catena.analysis.kinematics(m, {"a": (0.7, 2.0, -1.0)})
        np.testing.assert_allclose(
            [q[1], v[1], a[1]], sign * sense * 0.4 * np.array([0.4, 2.0, -1.0]), rtol=1e-12
        )


def test_bevel_gears_racks_screws_and_couplings():
    joints = [
        Joint("x", "revolute", "ground", "x", axis=(1, 0, 0)),
        Joint("y", "revolute", "ground", "y", axis=(0, 1, 0)),
        Joint("rack", "prismatic", "ground", "rack", axis=(0, 1, 0)),
        Joint("nut", "prismatic", "ground", "nut", axis=(-1, 0, 0)),
        Joint("w", "revolute", "ground", "w"),
    ]
    ties = [
        GearPair("bevel", "x", "y", "ground", (10, 30), "bevel"),
        RackAndPinion("teeth", "x", "rack", "ground", -0.02, 0.5),
        Screw("thread", "x", "nut", "ground", 0.005),
        Coupling("shaft", ("w", "x", "y"), (1, -2, 3), 0.25),
    ]
    m = Mechanism("gearbox", [body(j.name) for j in joints], joints, constraints=ties).validate()
    q, v, _ = catena.analysis.kinematics(m, {"x": (0.9, 1.0)})
    np.testing.assert_allclose(
        q, [0.9, -0.3, 0.5 - 0.018, -0.005 * 0.9 / TAU, 0.25 + 1.8 + 0.9], rtol=1e-12
    )
    np.testing.assert_allclose(v, [1.0, -1 / 3, -0.02, -0.005 / TAU, 3.0], rtol=1e-12)


def test_bevel_gears_roll_on_each_other_where_they_touch():
    """The two cones have one velocity along the line on which they touch: the sense that `mesh`
    means, by geometry.
    """
    # tan of the cone's half angle: 10/30
    w1 = np.array([1.0, 0, 0])
    w2 = np.array([0, -1 / 3, 0])
    pitch = np.array([3.0, 1.0, 0])
    np.testing.assert_allclose(np.cross(w1, pitch), np.cross(w2, pitch))


# --- cams
def test_a_constant_velocity_cam():
    """Lift h |...|: half a turn up and half a turn down, also after several turns and backwards."""
    angle = np.array([0.4, 2.0, 4.0, 9.0, -1.0])
    w = 2.0
    h = 0.03
    q, v, a = catena.analysis.kinematics(
        cam(profile="h*(1 - abs(angle/pi - 1))"), {"shaft": (angle, w, 0.0)}
    )
    x = angle % TAU
    np.testing.assert_allclose(q[:, 1], h * np.where(x < PI, x, TAU - x) / PI, atol=1e-14)
    np.testing.assert_allclose(v[:, 1], h * w / PI * np.where(x < PI, 1, -1), atol=1e-14)
    np.testing.assert_allclose(a[:, 1], 0, atol=1e-14)


def test_the_example_cam_lifts_by_a_cycloid():
    """Lift, speed and acceleration in closed form, along a run of three turns; the force of the row
    is Newton's.
    """
    m = catena.load("cycloidal_cam")
    q, v = catena.assemble(m)
    result = catena.simulate(m, q=q, v=v, until=1.0, output=0.01)
    t, h, w = result.time, 0.01, 20.0
    u = 1 - np.abs((w * t % TAU) / PI - 1)
    up = np.where(w * t % TAU < PI, 1.0, -1.0)
    lift = h * (u - np.sin(TAU * u) / TAU)
    speed = up * h * w / PI * (1 - np.cos(TAU * u))
    bend = h * (w / PI) ** 2 * TAU * np.sin(TAU * u)
    for letter, x in (("q", lift), ("v", speed), ("a", bend)):
        np.testing.assert_allclose(result.data[letter].values[:, 1], x, atol=1e-10)
    assert np.abs(result.data["a"].values[:, 1]).max() == pytest.approx(2 * h * w**2 / PI, rel=1e-3)
    force = result.multipliers().sel(row="cam: lift").values
    np.testing.assert_allclose(force, 0.4 * (bend + 9.81) + 400 * (lift + 0.02), atol=1e-9)
    assert force.min() > 0  # it never pulls: a real follower would stay on


def test_a_cam_through_points_is_a_closed_spline():
    from scipy.interpolate import CubicSpline

    x = np.linspace(0, TAU, 13)
    y = 0.01 * (1 - np.cos(x))
    known = CubicSpline(x, y, bc_type="periodic")
    at = np.array([0.0, 1.234, 5.0, TAU + 0.1])
    q, v, a = catena.analysis.kinematics(cam(angles=x, lifts=y), {"shaft": (at, 1.0, 0.0)})
    for found, d in ((q, 0), (v, 1), (a, 2)):
        np.testing.assert_allclose(found[:, 1], known(at % TAU, d), atol=1e-10)


def test_a_cam_through_many_points_is_a_short_tape_also_with_a_parameter_in_its_lifts():
    """A spline is linear in its points: h times one of numbers, not 145 products for each number of
    each of its 144 pieces. The lifts are those of the numbers, and of the mean of two parameters.
    """
    import casadi as ca
    import sympy

    from catena.compiler.trace import Tracer
    from catena.kernels.tree import layout

    h, k = sympy.symbols("h k")
    x = np.linspace(0, TAU, 145)
    part = [float(z) for z in 0.5 * (1 - np.cos(x))]
    part[-1] = part[0]
    made = {
        "numbers": cam(angles=x, lifts=[0.03 * z for z in part]),
        "h": cam(angles=x, lifts=[z * h for z in part]),
    }
    mean = Cam("lift", "shaft", "guide", angles=x, lifts=[z * (h + k) / 2 for z in part])
    both = made["numbers"].with_(parameters={"h": 0.02, "k": 0.04}, constraints=[mean])
    at = {"shaft": (np.array([0.3, 2.0, 5.5]), 1.0, 0.5)}
    wanted = catena.analysis.kinematics(made["numbers"], at)
    sizes = {}
    for name, m in {**made, "both": both.validate()}.items():
        for found, known in zip(catena.analysis.kinematics(m, at), wanted):
            np.testing.assert_allclose(found, known, atol=1e-13)
        s = Tracer(layout(m))
        rows = s.applied.placed.rows
        sizes[name] = ca.Function("rows", [s.q, s.t, s.p], [rows]).n_instructions()
    assert sizes["numbers"] < 50 * 145 and sizes["h"] < 1.1 * sizes["numbers"]
    assert sizes["both"] < 2.1 * sizes["numbers"]


# --- expressions and drives
def bead(**more) -> Mechanism:
    """A bead that slides in x and z, on a circle about the origin."""
    joints = [
        Joint("x", "prismatic", "ground", "slide", axis=(1, 0, 0)),
        Joint("z", "prismatic", "slide", "bead", axis=(0, 0, 1)),
    ]
    return Mechanism("bead", [body("slide", 0.5), body("bead")], joints, **more)


def test_a_constraint_of_frames_is_the_loop_that_says_the_same():
    """A bead on a rod: by an expression of the bead's place, and by a rod of next to no inertia
    with its pin, a loop.
    """
    ours = bead(constraints=[Constraint("length", "sqrt(x_bead^2 + z_bead^2) - 1")]).validate()
    rod = Body("rod", 0.0, (0, 0, 0), (1e-10, 0, 0, 1e-10, 0, 1e-10))
    other = bead()
    other = other.with_(
        bodies=[*other.bodies, rod],
        joints=[*other.joints, Joint("rod", "revolute", "bead", "rod", axis=(0, 1, 0))],
        loops=[
            Joint("pin", "revolute", "rod", "ground", Pose(position=(-1, 0, 0)), axis=(0, 1, 0))
        ],
    ).validate()
    q, v = catena.assemble(ours, [0.6, -0.7], [1.0, 0.0])
    found = rows_at(catena.compile(ours), q, v)
    assert abs(found.error[0]) < 1e-12 and abs(found.rate[0]) < 1e-12
    q2, v2 = catena.assemble(other, [*q, np.arctan2(-q[1], q[0])], [*v, 0.0], fixed=["x", "z"])
    one = catena.compile(ours)
    two = catena.compile(other)
    a = one.forward_dynamics(q, v, [0.3, 0.1])
    a2 = two.forward_dynamics(q2, v2, [0.3, 0.1, 0.0])
    np.testing.assert_allclose(a, a2[:2], rtol=1e-8)
    W = one.reactions(q, v, a, tau=[0.3, 0.1])
    W2 = two.reactions(q2, v2, a2, tau=[0.3, 0.1, 0.0])
    for joint in ("x", "z"):
        known = ~np.isnan(W2[joint])  # what a planar pin in space leaves open
        assert known[[1, 3, 5]].all()
        np.testing.assert_allclose(W[joint][known], W2[joint][known], atol=1e-7)


def test_a_constraint_of_two_bodies_pushes_both():
    """Two beads held at a distance: reactions of their guides; one that pushes them otherwise has
    no reactions, and says so.
    """
    joints = [
        Joint("a", "prismatic", "ground", "a", axis=(1, 0, 0)),
        Joint("b", "prismatic", "ground", "b", axis=(0, 0, 1)),
    ]
    tie = Constraint("rod", "sqrt((x_a - x_b)^2 + (z_a - z_tip)^2) - 1")
    m = Mechanism(
        "beads", [body("a"), body("b")], joints, frames=[Frame("tip", "b")], constraints=[tie]
    ).validate()
    machine = catena.compile(m)
    q = np.array([0.6, 0.8])
    a = machine.forward_dynamics(q, [0, 0], [0, 0])
    (lam,) = machine.multipliers(q, [0, 0], [0, 0])
    W = machine.reactions(q, [0, 0], a, tau=[0, 0])
    # the rod pulls b down and pushes a down
    np.testing.assert_allclose(W["a"][3:], [0, 0, 9.81 + 0.8 * lam], atol=1e-9)
    np.testing.assert_allclose(W["b"][3:], [0.6 * lam, 0, 0], atol=1e-9)
    odd = m.with_(constraints=[Constraint("odd", "x_a - 2*z_b")]).validate()
    with pytest.raises(
        QuestionError,
        match=(
            "constraint 'odd' of mechanism 'beads' acts on several bodies with forces that are"
            " not opposite pairs"
        ),
    ):
        catena.compile(odd).reactions([0, 0], [0, 0], [0, 0])


def test_a_drive_turns_at_its_speed_and_its_power_is_in_the_balance():
    bob = Body("bob", 1.0, (0.5, 0, 0), (0.01, 0, 0, 0.01, 0, 0.01))
    joint = Joint("crank", "revolute", "ground", "bob", axis=(0, 1, 0), damping=0.2)
    m = Mechanism(
        "drive",
        [bob],
        [joint],
        constraints=[Drive("motor", "crank", "0.2 + w*t")],
        parameters={"w": 3.0},
    ).validate()
    q, v = catena.assemble(m)
    np.testing.assert_allclose([*q, *v], [0.2, 3.0])
    result = catena.simulate(m, q=q, v=v, until=2.0)
    np.testing.assert_allclose(result.data["q"].values[:, 0], 0.2 + 3 * result.time, atol=1e-10)
    known = -9.81 * 0.5 * np.cos(0.2 + 3 * result.time) + 0.6
    np.testing.assert_allclose(result.multipliers().values[:, 0], known, atol=1e-9)
    assert result.ledger.relative_energy_balance < 1e-8
    with pytest.raises(
        QuestionError, match="constraint 'motor' of mechanism 'drive' depends on time"
    ):
        catena.analysis.kinematics(m, {"crank": 0.0})


def test_modes_under_a_gear_have_the_inertia_of_both_shafts():
    joints = [Joint("a", "revolute", "ground", "a"), Joint("b", "revolute", "ground", "b")]
    spring = catena.model.loads.JointSpring("bar", "a", 5.0, 0.0)
    m = Mechanism(
        "shafts",
        [body("a", J=0.1), body("b", J=0.4)],
        joints,
        loads=[spring],
        constraints=[GearPair("mesh", "a", "b", "ground", (10, 20))],
    ).validate()
    (mode,) = catena.modes(m).frequencies
    assert mode == pytest.approx(np.sqrt(5.0 / (0.1 + 0.4 / 4)), rel=1e-12)
    poles = np.linalg.eigvals(catena.linearize(m, np.zeros(2)).A)
    np.testing.assert_allclose(np.abs(poles), np.sqrt(5.0 / 0.2), rtol=1e-12)


# --- what cannot be
def three(*meshes: str) -> Mechanism:
    names = ("a", "b", "c")
    ties = [
        GearPair(f"{x}{y}", x, y, "ground", (1, 1), mesh)
        for (x, y), mesh in zip((("a", "b"), ("b", "c"), ("c", "a")), meshes)
    ]
    return Mechanism(
        "three",
        [body(n) for n in names],
        [Joint(n, "revolute", "ground", n) for n in names],
        constraints=ties,
    ).validate()


def test_three_gears_in_a_ring_are_stuck_by_the_sign_of_one():
    stuck = catena.mobility(three("external", "external", "external"))
    assert stuck.degrees_of_freedom == 0 and stuck.stuck == ("a", "b", "c")
    assert "cannot move in this configuration: a, b, c" in str(stuck)
    free = catena.mobility(three("external", "external", "internal"))
    assert free.degrees_of_freedom == 1 and free.redundant == (("ca", "teeth"),)
    with pytest.raises(ClosureError, match=r"the fixed speeds open constraint '\w\w' at"):
        catena.assemble(three("external", "external", "external"), None, [1.0, 0, 0], fixed=["a"])


def test_drives_that_contradict_each_other_through_a_gear_are_named():
    m = three("external", "external", "internal")
    both = m.with_(
        constraints=[*m.constraints, Drive("one", "a", "t"), Drive("two", "b", "0.5 + t")]
    ).validate()
    with pytest.raises(ClosureError, match=r"cannot be assembled: constraint '\w+' stays open by"):
        catena.assemble(both)
    speeds = m.with_(
        constraints=[*m.constraints, Drive("one", "a", "t"), Drive("two", "b", "t")]
    ).validate()
    assert catena.mobility(speeds).redundant == (("ca", "teeth"), ("two", "motion of the drive"))
    with pytest.raises(ClosureError, match=r"the fixed speeds open constraint '\w+' at"):
        catena.assemble(speeds)


def test_assembly_at_an_instant_of_a_drive():
    """Cam and drive at t: the shaft where the drive has it, the follower at its lift, both at their
    speeds.
    """
    cam = catena.load("cycloidal_cam")
    drive = next(x for x in cam.constraints if x.kind == "drive")
    shaft = cam.coordinate_names.index(drive.coordinate)
    at_rest, _ = catena.assemble(cam)
    moved, speeds = catena.assemble(cam, at_rest, t=0.01)
    machine = catena.compile(cam)
    error, rate, *_ = machine.constraint_rows(moved, speeds, t=0.01)
    assert (
        max(np.abs(error).max(), np.abs(rate).max()) < 1e-12
        and moved[shaft] - at_rest[shaft] > 1e-3
    )
    with pytest.raises(StateError, match="t works for one start only"):
        catena.assemble(cam, np.stack([at_rest, at_rest]), t=0.1)
    with pytest.raises(StateError, match="t = inf; it is a time"):
        catena.assemble(cam, t=np.inf)


def test_the_planetary_train_of_the_examples_turns_its_arm_at_a_quarter():
    """[Willis1870]: with the ring held, arm / sun = z_sun / (z_sun + z_ring) = 1/4, in a run by
    torques as in its kinematics.
    """
    s = read("planetary_gear")
    run = catena.simulate(s.mechanism, **{**s.arguments, "until": 0.2})
    names = list(s.mechanism.speed_names)
    sun, arm = (run.v.values[:, names.index(x)] for x in ("sun", "arm"))
    assert np.abs(sun).max() > 0.1 and np.abs(arm - sun / 4).max() < 1e-10 * np.abs(sun).max()


def test_every_exact_formulation_has_the_forces_of_cam_and_drive():
    """The multipliers of a mechanism that is driven in every freedom, by twelve formulations and by
    the machine.
    """
    cam = catena.load("cycloidal_cam")
    machine, (q, v) = catena.compile(cam), catena.assemble(cam, t=0.03)
    wanted = machine.multipliers(q, v, np.zeros(2), t=0.03)
    found = {}
    for by in ALL_FORMULATIONS:
        e = catena.derive(cam, by=by)
        if e.multipliers is not None and not formulation(by).approximate:
            found[by] = np.array(e.multipliers(0.03, q, v, np.zeros(2), e.parameters)).ravel()
    assert len(found) >= 12 and np.abs(wanted).max() > 1.0
    for by, x in found.items():
        np.testing.assert_allclose(x, wanted, rtol=0, atol=1e-12 * np.abs(wanted).max(), err_msg=by)
