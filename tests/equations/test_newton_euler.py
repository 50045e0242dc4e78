"""Free bodies with joint forces: agreement in accelerations and reactions, the printed [Baysec1996]
equations, what is refused.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import catena
import closed
import zoo
from catena.analysis.assembly import assemble
from catena.equations.absolute.attitude import angles, quaternion, rotation
from catena.equations.equations import Equations
from catena.equations.formulations import derive
from catena.equations.formulations.newton_euler import newton_euler
from catena.errors import FormulationError, SingularError
from catena.machine.machine import Machine, compile
from catena.model.loads import (
    Bushing,
    Force,
    JointForce,
    JointSpring,
    KnifeEdge,
    Rolling,
    SpeedRow,
    Spring,
)
from catena.model.mechanism import GROUND, Body, Joint, Mechanism, Mimic
from catena.model.pose import Pose
from linkages import triple_pendulum

CERTIFIED = zoo.certificate_set()
STATES = 100
EXAMPLES = Path(catena.__file__).parent / "examples"
BAYSEC = json.loads(
    (Path(__file__).parents[1] / "reference" / "baysec1996_triple_pendulum.json").read_text()
)


@cache
def derived(name: str) -> tuple[Equations, Machine]:
    return newton_euler(CERTIFIED[name]), compile(CERTIFIED[name])


def states(machine: Machine, count: int = STATES, seed: int = 0, spread: float = 1.0):
    rng = np.random.default_rng(seed)
    q = machine.sample(rng, count)
    v = rng.normal(size=(count, machine.nv))
    tau = rng.normal(size=(count, machine.nv))
    balls = [
        k for node in machine.layout.nodes if node.motion == 3 for k in range(node.qi, node.qi + 4)
    ]
    q[:, [k for k in range(machine.nq) if k not in balls]] *= spread
    return q, v, tau


def asked(f: ca.Function, *given, p) -> np.ndarray:
    """A function of (t, q, v, tau, p) at a batch of states."""
    return np.array([np.array(f(0, *one, p)) for one in zip(*given)])


def relative(found: np.ndarray, expected: np.ndarray) -> float:
    """The largest difference of a batch, each state beside its own largest entry."""
    found, expected = (np.reshape(x, (len(x), -1)) for x in (found, expected))
    return float(np.max(np.abs(found - expected).max(1) / np.abs(expected).max(1)))


def rate_of_speeds(e: Equations, x: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """d/dt of the speeds that `decode` reads, along `derivative`: accelerations that know nothing
    but body states.
    """
    y = ca.SX.sym("y", len(x[0]))
    dy = ca.SX.sym("dy", len(x[0]))
    p = ca.SX.sym("p", len(e.parameters))
    along = ca.Function("along", [y, dy, p], [ca.jtimes(e.decode(y, p)[1], y, dy)])
    return np.array(
        [
            np.array(along(one, e.derivative(0, one, f, e.parameters), e.parameters)).ravel()
            for one, f in zip(x, tau)
        ]
    )


# --- agreement
@pytest.mark.parametrize("name", CERTIFIED)
def test_accelerations_and_reactions_agree_with_the_recursive_pass(name: str) -> None:
    m, (e, machine) = CERTIFIED[name], derived(name)
    q, v, tau = states(machine)
    a = machine.forward_dynamics(q, v, tau)
    W = machine.reactions(q, v, a)
    assert relative(asked(e.acceleration, q, v, tau, p=e.parameters)[..., 0], a) < 1e-9
    found = asked(e.reactions, q, v, tau, p=e.parameters)
    assert relative(found, np.stack([W[j.name] for j in m.ordered], 1)) < 1e-9


@pytest.mark.parametrize("name", CERTIFIED)
def test_a_body_state_alone_gives_the_motion(name: str) -> None:
    e, machine = derived(name)
    # the second of three turns stays in the branch that holds zero
    q, v, tau = states(machine, 20, spread=0.4)
    x = np.array([np.array(e.encode(*one, e.parameters)).ravel() for one in zip(q, v)])
    back = [e.decode(one, e.parameters) for one in x]
    assert np.allclose([np.array(b[1]).ravel() for b in back], v, atol=1e-12)
    again = [np.array(e.encode(*b, e.parameters)).ravel() for b in back]
    # encode after decode: a state on the constraints stays where it is
    assert np.allclose(again, x, atol=1e-12)
    assert relative(rate_of_speeds(e, x, tau), machine.forward_dynamics(q, v, tau)) < 1e-9


def test_angles_in_the_plane_are_not_cut_at_a_turn() -> None:
    e, _ = derived("triple_pendulum")
    q = np.array([7.0, -9.0, 4.0])
    assert np.allclose(
        np.array(e.decode(e.encode(q, np.zeros(3), []), [])[0]).ravel(), q, atol=1e-13
    )


def armatures() -> Mechanism:
    m = CERTIFIED["every_joint"]
    return m.with_(joints=tuple(replace(j, armature=0.3) if j.nv else j for j in m.joints))


def followers() -> Mechanism:
    m = zoo.arm(5)
    j = list(m.joints)
    j[3], j[4] = (
        replace(j[3], mimic=Mimic("joint2", -0.7, 0.2)),
        replace(j[4], mimic=Mimic("joint1", 2.0, 0.1), armature=0.2),
    )
    return m.with_(joints=tuple(j))


def welds() -> Mechanism:
    m = zoo.random_tree(11, ["fixed", "revolute", "fixed", "ball", "fixed", "fixed", "prismatic"])
    return m.with_(
        bodies=tuple(Body.massless(b.name) if b.name == "body2" else b for b in m.bodies)
    )


def without_inertia() -> Mechanism:
    """A massless link between two joints, and a point mass beyond it."""
    m = zoo.arm(4)
    odd = {"link2": Body.massless("link2"), "link3": Body("link3", 1.0, (0.1, 0, 0.3), (0, 0, 0))}
    return m.with_(bodies=tuple(odd.get(b.name, b) for b in m.bodies))


def across_the_plane(tilt: tuple[float, ...] = (0.0, 0.0, 0.0)) -> Mechanism:
    """Planar joints, but gravity, centres of mass and products of inertia that load them across the
    plane.
    """
    m = zoo.random_tree(3, ["revolute"] * 3, offsets=False)
    place = Pose.turn("z", 0.3, position=(0.4, 0.1, 0.2))
    j = [
        replace(j, placement=place if k else Pose.rpy(*tilt) @ place, axis=(0, 0, 1))
        for k, j in enumerate(m.joints)
    ]
    return m.with_(joints=tuple(j))


def loaded() -> Mechanism:
    m = zoo.random_tree(11, ["revolute", "fixed", "ball", "fixed", "prismatic"])
    loads = (
        JointSpring("coil", "revolute0", 3.0, 0.2, 0.5),
        Spring("spring", GROUND, "body4", 10.0, 1.0, 0.3),
        Bushing("rubber", "body1", "body3", (1, 2, 3, 4, 5, 6), (0.1,) * 6),
        JointForce("push", "prismatic4", "2*t - q_prismatic4"),
        Force(
            "jet",
            "body3",
            torque=("sin(t)", 0.1, "q_revolute0"),
            force=(1.0, 2.0, "v_prismatic4"),
            axes="body",
        ),
    )
    return m.with_(loads=loads).validate()


ODD = {
    "armatures": armatures,
    "followers": followers,
    "welds": welds,
    "without_inertia": without_inertia,
    "loaded": loaded,
    "across_the_plane": across_the_plane,
    "across_a_tilted_plane": lambda: across_the_plane((0.3, 0.5, 0.1)),
    "symbols": triple_pendulum,
    "one_free_body": lambda: zoo.random_tree(1, ["free"]),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_mechanisms_agree(name: str) -> None:
    m = ODD[name]()
    e, machine = newton_euler(m), compile(m)
    q, v, tau = states(machine, 20)
    a = machine.forward_dynamics(q, v, tau)
    W = machine.reactions(q, v, a)
    assert relative(asked(e.acceleration, q, v, tau, p=e.parameters)[..., 0], a) < 1e-9
    assert (
        relative(
            asked(e.reactions, q, v, tau, p=e.parameters),
            np.stack([W[j.name] for j in m.ordered], 1),
        )
        < 1e-9
    )


def test_parameters_stay_free() -> None:
    m = triple_pendulum()
    e = newton_euler(m)
    machine = compile(m)
    rng = np.random.default_rng(2)
    q, v, tau = states(machine, 1)
    for p in rng.uniform(0.5, 2.0, size=(5, len(e.parameters))):
        named = dict(zip(m.parameters, p))
        a = machine.forward_dynamics(q, v, tau, parameters=named)
        assert relative(asked(e.acceleration, q, v, tau, p=p)[..., 0], a) < 1e-9


# --- loops and speed rows
def skate() -> Mechanism:
    m = zoo.random_tree(6, ["free", "revolute", "ball"])
    rows = (
        KnifeEdge("edge", "body2", (0, 1, 0)),
        SpeedRow("gear", "v_revolute1 - 0.3*q_revolute1*v_free0_wx"),
    )
    return m.with_(nonholonomic=rows).validate()


def disc() -> Mechanism:
    body = Body("disc", 1.0, (0, 0, 0), (0.1, 0.2, 0.1))
    base = Joint("base", "free", GROUND, "disc")
    return Mechanism(
        "disc", (body,), (base,), nonholonomic=(Rolling("rolls", "disc", 0.5),)
    ).validate()


HELD = {
    f.__name__: f
    for f in (
        closed.four_link,
        closed.windows,
        closed.slider_crank,
        closed.spatial_four_bar,
        closed.bricard,
        closed.stewart,
        skate,
        disc,
    )
}


@pytest.mark.parametrize("name", HELD)
def test_loops_and_speed_rows_agree(name: str) -> None:
    m = HELD[name]()
    rng = np.random.default_rng(3)
    e, machine = newton_euler(m), compile(m)
    guess = {
        "stewart": machine.neutral() + np.eye(machine.nq)[2],
        "disc": machine.neutral() + 0.5 * np.eye(machine.nq)[2],
    }
    q, v = assemble(m, guess.get(name), rng.normal(size=machine.nv))
    tau = rng.normal(size=machine.nv)
    a = machine.forward_dynamics(q, v, tau)
    assert relative(asked(e.acceleration, [q], [v], [tau], p=e.parameters), [a]) < (
        1e-6 if name == "bricard" else 1e-9
    )
    # its rows say one thing twice, and two least-norm answers are measured differently
    if name != "bricard":
        assert (
            relative(
                asked(e.multipliers, [q], [v], [tau], p=e.parameters),
                [machine.multipliers(q, v, tau)],
            )
            < 1e-8
        )


def test_reactions_of_a_closed_chain_are_those_of_the_open_one_pushed_by_the_loop() -> None:
    m = closed.four_link()
    e = newton_euler(m)
    machine = compile(m)
    rng = np.random.default_rng(1)
    q, v = assemble(m, None, rng.normal(size=4))
    tau = rng.normal(size=4)
    # x and z of the ground, on the tip
    a = machine.forward_dynamics(q, v, tau)
    force = machine.multipliers(q, v, tau)
    tip = {("end", "world"): np.array([0, 0, 0, force[0], 0, force[1]])}
    W = compile(m.with_(loops=())).reactions(q, v, a, wrenches=tip)
    assert np.allclose(
        np.array(e.reactions(0, q, v, tau, [])), np.stack([W[j.name] for j in m.ordered]), atol=1e-9
    )


# --- [Baysec1996]
def test_a_planar_mechanism_may_be_declared_spatial() -> None:
    m = CERTIFIED["triple_pendulum"].with_(planar=False)
    e, machine = newton_euler(m), compile(m)
    q, v, tau = states(machine, 5)
    assert e.counts.first_order == 39
    assert (
        relative(
            asked(e.acceleration, q, v, tau, p=[])[..., 0], machine.forward_dynamics(q, v, tau)
        )
        < 1e-9
    )


def test_small_bodies_keep_their_inertia() -> None:
    """A pendulum of a tenth of a millimetre: lengths by 1e-4, masses by 1e-12, inertias by
    1e-20.
    """
    m, k = zoo.pendulum(2), 1e-4
    bodies = []
    for b in m.bodies:
        com = tuple(k * x for x in b.com)
        inertia = tuple(k**5 * x for x in b.inertia)
        bodies.append(replace(b, mass=b.mass * k**3, com=com, inertia=inertia))
    joints = [
        replace(j, placement=Pose(position=tuple(k * x for x in j.placement.position)))
        for j in m.joints
    ]
    small = m.with_(bodies=tuple(bodies), joints=tuple(joints))
    e = newton_euler(small)
    machine = compile(small)
    q, v, tau = states(machine, 5)
    tau *= k**4
    assert (
        relative(
            asked(e.acceleration, q, v, tau, p=[])[..., 0], machine.forward_dynamics(q, v, tau)
        )
        < 1e-9
    )


def test_counts_of_the_triple_pendulum() -> None:
    counts = derived("triple_pendulum")[0].counts
    assert counts.first_order == 18  # [Baysec1996], "has produced 18 first order equations"
    assert counts.largest_matrix == 15  # "These 15 equations must be simultaneously solved"


def test_seed_001_equations_23_to_43() -> None:
    """The 15 printed equations, (42) with its minus, solved as they stand for accelerations and pin
    forces.
    """
    e = newton_euler(triple_pendulum())
    rng = np.random.default_rng(0)
    names = list(e.mechanism.parameters)
    for _ in range(20):
        p = rng.uniform(0.5, 2.0, size=len(names))
        m, l, I = ([dict(zip(names, p))[f"{letter}{i}"] for i in (1, 2, 3)] for letter in "mlI")
        theta, omega, tau = rng.normal(size=(3, 3))
        x, F = _printed(theta, omega, tau, m, l, I, dict(zip(names, p))["g"])
        q = np.diff(theta, prepend=0.0)
        v = np.diff(omega, prepend=0.0)
        found = np.array(e.derivative(0, e.encode(q, v, p), tau, p)).ravel()[9:]
        assert np.allclose(found, x, rtol=1e-10, atol=1e-10)
        W = np.array(e.reactions(0, q, v, tau, p))[:, 3:5]
        turned = [[np.cos(t), -np.sin(t), np.sin(t), np.cos(t)] for t in theta]
        assert np.allclose(
            [np.reshape(R, (2, 2)) @ w for R, w in zip(turned, W)], F, rtol=1e-9, atol=1e-9
        )


def _printed(theta, omega, tau, m, l, I, g):
    """(23)-(31) and (38)-(43): accelerations (x, y, theta) link by link, and forces on each link at
    its inner pin.
    """
    K = np.zeros((15, 15))
    right = np.zeros(15)
    s = np.sin(theta)
    c = np.cos(theta)
    # unknowns: 3 i + (x, y, theta) of link i, 9 + 2 i + (x, y) of the pin that carries it
    for i in range(3):
        x = 3 * i
        y = 3 * i + 1
        th = 3 * i + 2
        Fx = 9 + 2 * i
        Fy = 10 + 2 * i
        K[x, [x, Fx]], K[y, [y, Fy]], right[y] = (m[i], -1), (m[i], -1), -m[i] * g
        K[th, [th, Fx, Fy]], right[th] = (
            (I[i], -l[i] * s[i], l[i] * c[i]),
            tau[i] - (tau[i + 1] if i < 2 else 0.0),
        )
        if i < 2:
            K[x, Fx + 2], K[y, Fy + 2] = 1, 1
        # (38), (40), (42) with its minus
        K[Fx, [x, th]], right[Fx] = (-1, -l[i] * s[i]), l[i] * omega[i] ** 2 * c[i]
        K[Fy, [y, th]], right[Fy] = (-1, l[i] * c[i]), l[i] * omega[i] ** 2 * s[i]
        if i:
            K[Fx, x - 3], K[Fy, y - 3] = 1, 1
    z = np.linalg.solve(K, right)
    return z[:9], z[9:].reshape(3, 2)


def test_seed_001_motion_and_pin_forces() -> None:
    """Figure 1's pendulum, bobs without inertia, from rest: 18 equations integrated for 5 s against
    the reference.
    """
    e = newton_euler(catena.load(EXAMPLES / "triple_pendulum.toml"))
    p, zero = e.parameters, np.zeros(3)
    start = np.array(e.encode(zero, zero, p)).ravel()
    run = solve_ivp(
        lambda t, x: np.array(e.derivative(t, x, zero, p)).ravel(),
        (0, 5),
        start,
        "DOP853",
        (1.0, 3.0, 5.0),
        rtol=1e-12,
        atol=1e-12,
    )
    for t, x in zip(("1.00", "3.00", "5.00"), run.y.T):
        expected = BAYSEC[t]
        q, v = (np.array(z).ravel() for z in e.decode(x, p))
        assert np.allclose(np.cumsum(q), expected["theta"], atol=1e-8)
        W = np.array(e.reactions(0, q, v, zero, p))[:, 3:5]
        F = [
            [np.cos(a) * w[0] - np.sin(a) * w[1], np.sin(a) * w[0] + np.cos(a) * w[1]]
            for a, w in zip(np.cumsum(q), W)
        ]
        assert np.allclose(F, np.transpose([expected["Fx"], expected["Fy"]]), atol=1e-6)


# --- cost and refusals
def test_the_equations_of_a_six_axis_arm_stay_small() -> None:
    e = newton_euler(CERTIFIED["arm6"])
    assert e.counts.first_order == 78 and e.counts.largest_matrix == 66
    assert e.counts.operations < 6000


def test_operations_grow_with_the_number_of_links_only() -> None:
    few, many = (newton_euler(zoo.arm(n)).counts.operations for n in (4, 8))
    assert many < 2.6 * few


def test_motion_without_inertia_is_refused_by_name() -> None:
    m = zoo.arm(2)
    with pytest.raises(
        SingularError, match=r"'link2\.wz' moves no inertia.*joint 'joint2' an armature"
    ) as error:
        newton_euler(m.with_(bodies=(m.bodies[0], Body.massless("link2"))))
    assert error.value.where == "joint2"


def test_nothing_that_moves_is_refused() -> None:
    m = Mechanism(
        "wall",
        (Body("stone", 1.0, (0, 0, 0), (1, 1, 1)),),
        (Joint("mortar", "fixed", GROUND, "stone"),),
    )
    with pytest.raises(
        FormulationError, match="'wall' has no motion to derive: all its joints are fixed"
    ):
        derive(m, "newton_euler")


# --- attitude
@pytest.mark.parametrize("count", [1, 2, 3])
def test_turns_are_read_back(count: int) -> None:
    rng = np.random.default_rng(count)
    for _ in range(200):
        axes = [tuple(a / np.linalg.norm(a)) for a in rng.normal(size=(count, 3))]
        q = rng.uniform(-3.0, 3.0, size=count)
        R = np.linalg.multi_dot(
            [np.eye(3), np.eye(3), *(np.array(rotation(a, x)) for a, x in zip(axes, q))]
        )
        found = [float(x) for x in angles(axes, R.tolist())]
        again = np.linalg.multi_dot(
            [np.eye(3), np.eye(3), *(np.array(rotation(a, x)) for a, x in zip(axes, found))]
        )
        assert np.allclose(again, R, atol=1e-7)
        if count < 3:
            assert np.allclose(found, q, atol=1e-9)


def test_a_quaternion_is_read_at_every_angle() -> None:
    rng = np.random.default_rng(0)
    for angle in (0.0, 1e-9, 1.0, np.pi - 1e-9, np.pi):
        axis = rng.normal(size=3)
        axis /= np.linalg.norm(axis)
        expected = np.array([np.cos(angle / 2), *(np.sin(angle / 2) * axis)])
        found = np.array([float(x) for x in quaternion(rotation(tuple(axis), angle))])
        assert min(np.abs(found - expected).max(), np.abs(found + expected).max()) < 1e-15
