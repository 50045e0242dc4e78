"""Lagrange's equations: agreement, the printed [Baysec1996] equations, the textbook's two-link arm,
a peer, and what is refused.
"""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

import closed
import zoo
from catena.analysis.assembly import assemble
from catena.equations.formulations import derive
from catena.equations.formulations.hamilton import hamilton
from catena.equations.formulations.lagrange import generalised_force, lagrange
from catena.errors import FormulationError, SingularError
from catena.machine.machine import compile
from catena.model.loads import Bushing, Force, JointForce, JointSpring, KnifeEdge, Rolling, Spring
from catena.model.mechanism import GROUND, Body, Frame, Joint, Mechanism, Mimic
from catena.model.pose import Pose
from linkages import g, triple_pendulum, two_link_arm

MECHANISMS = zoo.certificate_set()
PLANAR = ("pendulum", "double_pendulum", "triple_pendulum", "cart_pole", "planar_tree")
STATES = 100


def states(machine, seed: int = 0):
    rng = np.random.default_rng(seed)
    return (
        machine.sample(rng, STATES),
        rng.normal(size=(STATES, machine.nv)),
        rng.normal(size=(STATES, machine.nv)),
    )


def difference(equations, q, v, tau, expected, parameters=None) -> float:
    """The largest relative difference of accelerations over a batch of states."""
    p = equations.parameters if parameters is None else parameters
    a = np.array(equations.acceleration(0, q.T, v.T, tau.T, p)).T
    return float(np.max(np.abs(a - expected).max(1) / np.abs(expected).max(1)))


def forward(machine, q, v, tau):
    return np.array([machine.forward_dynamics(*state) for state in zip(q, v, tau)])


def decorated() -> Mechanism:
    """Armature on one joint, a second that follows the first: the wrist bends half as much as the
    elbow, and a bit more.
    """
    m = zoo.arm(4)
    joints = list(m.joints)
    joints[0] = Joint("joint1", "revolute", GROUND, "link1", joints[0].placement, armature=0.3)
    joints[3] = Joint(
        "joint4", "revolute", "link3", "link4", joints[3].placement, mimic=Mimic("joint2", 0.5, 0.1)
    )
    return m.with_(joints=tuple(joints)).validate()


# --- agreement
@pytest.mark.parametrize("name", MECHANISMS)
def test_agrees_with_the_recursive_pass(name: str) -> None:
    machine = compile(MECHANISMS[name])
    q, v, tau = states(machine)
    assert difference(lagrange(MECHANISMS[name]), q, v, tau, forward(machine, q, v, tau)) < 1e-9


@pytest.mark.parametrize("name", PLANAR)
def test_absolute_angles_describe_the_same_motion(name: str) -> None:
    machine = compile(MECHANISMS[name])
    q, v, tau = states(machine, 1)
    equations = lagrange(MECHANISMS[name], coordinates="absolute")
    assert difference(equations, q, v, tau, forward(machine, q, v, tau)) < 1e-9


def test_coupled_coordinates_and_armature() -> None:
    machine = compile(decorated())
    q, v, tau = states(machine, 2)
    assert difference(lagrange(decorated()), q, v, tau, forward(machine, q, v, tau)) < 1e-9


def test_parameters_stay_free() -> None:
    m = triple_pendulum()
    equations = lagrange(m)
    machine = compile(m)
    q, v, tau = states(machine, 3)
    p = np.random.default_rng(4).uniform(0.5, 2.0, len(m.parameters))
    expected = machine.forward_dynamics(q, v, tau, parameters=dict(zip(m.parameters, p)))
    assert difference(equations, q, v, tau, expected, p) < 1e-9


def skate() -> Mechanism:
    """A body on ice, its blade along its x axis."""
    blade = Body("blade", 1.5, (0.2, 0.1, 0), (0.1, 0.1, 0.2))
    base = Joint("base", "planar", GROUND, "blade")
    return Mechanism(
        "skate",
        (blade,),
        (base,),
        gravity=(0, 0, 0),
        nonholonomic=(KnifeEdge("edge", "blade", (0, 1, 0)),),
    )


def disc() -> Mechanism:
    """A thin disc on a ball and three slides, rolling on the ground."""
    body = Body("disc", 1.0, (0, 0, 0), (0.1, 0.2, 0.1))
    base = Joint("base", "free", GROUND, "disc")
    return Mechanism("disc", (body,), (base,), nonholonomic=(Rolling("roll", "disc", 0.4),))


HELD = {
    f.__name__: f
    for f in (closed.four_link, closed.two_link_load, closed.windows, closed.bricard, skate, disc)
}


@pytest.mark.parametrize("name", HELD)
@pytest.mark.parametrize("by", [lagrange, hamilton])
def test_rows_and_their_multipliers(name: str, by) -> None:
    """Eq. 9: loops and nonholonomic rows; those of redundant rows (bricard) are not determined one
    by one, what they do is.
    """
    m = HELD[name]()
    machine = compile(m)
    e = by(m)
    rng = np.random.default_rng(8)
    q = closed.two_link_state() if name == "two_link_load" else machine.neutral()
    q, v = assemble(m, q, rng.normal(size=machine.nv))
    tau = rng.normal(size=machine.nv)
    a = np.array(e.acceleration(0, q, v, tau, [])).ravel()
    expected = machine.forward_dynamics(q, v, tau)
    assert np.abs(a - expected).max() < 1e-9 * np.abs(expected).max()
    lam = np.array(e.multipliers(0, q, v, tau, [])).ravel()
    wanted = machine.multipliers(q, v, tau)
    does = machine.constraint_rows(q, v)[3].T if name == "bricard" else np.eye(len(lam))
    assert np.abs(does @ (lam - wanted)).max() < 1e-9 * np.abs(wanted).max()
    rate = np.array(e.derivative(0, e.encode(q, v, []), tau, [])).ravel()
    assert np.allclose(rate[: machine.nq], machine.coordinate_rate(q, v), atol=1e-12)


@pytest.mark.parametrize("by", [lagrange, hamilton])
def test_absolute_angles_close_a_loop_too(by) -> None:
    m = closed.four_link()
    machine = compile(m)
    e = by(m, coordinates="absolute")
    rng = np.random.default_rng(9)
    q, v = assemble(m, machine.neutral(), rng.normal(size=machine.nv))
    tau = rng.normal(size=machine.nv)
    assert np.allclose(
        np.array(e.acceleration(0, q, v, tau, [])).ravel(),
        machine.forward_dynamics(q, v, tau),
        rtol=1e-9,
    )
    assert np.allclose(
        np.array(e.multipliers(0, q, v, tau, [])).ravel(), machine.multipliers(q, v, tau), rtol=1e-9
    )


@pytest.mark.parametrize("by", [lagrange, hamilton])
@pytest.mark.parametrize("coordinates", ["joint", "absolute"])
def test_loads(by, coordinates: str) -> None:
    """Springs, dampers, a bushing and a force at a point as generalised forces, eq. 8."""
    m = (
        zoo.planar_tree()
        .with_(
            frames=(Frame("tip", "b3", Pose(position=(0.3, 0.1, 0))),),
            loads=(
                JointSpring("hinge", "left", 3.0, 0.2, 0.1),
                Spring("strap", "b1", "tip", 5.0, 0.4, 0.2),
                Bushing("mount", "ground", "b0", (1.0, 2.0, 3.0, 4.0, 5.0, 6.0), (0.1,) * 6),
                Force("wind", "tip", ("0", "0", "0.3*v_left"), ("1 + q_base_x", "0.2", "0")),
                JointForce("motor", "rod", "-2*q_rod"),
            ),
        )
        .validate()
    )
    machine = compile(m)
    q, v, tau = states(machine, 10)
    assert difference(by(m, coordinates=coordinates), q, v, tau, forward(machine, q, v, tau)) < 1e-9


# --- the face
@pytest.mark.parametrize("coordinates", ["joint", "absolute"])
def test_derivative_is_the_rate_of_the_encoded_state(coordinates: str) -> None:
    m = zoo.planar_tree()
    e = lagrange(m, coordinates=coordinates)
    machine = compile(m)
    rng = np.random.default_rng(5)
    q = machine.sample(rng)
    v = rng.normal(size=machine.nv)
    tau = rng.normal(size=machine.nv)
    x = np.array(e.encode(q, v, e.parameters)).ravel()
    back = [np.array(part).ravel() for part in e.decode(x, e.parameters)]
    assert np.allclose(back, [q, v], atol=1e-14)
    rate = np.array(e.derivative(0, x, tau, e.parameters)).ravel()
    a = machine.forward_dynamics(q, v, tau)
    # encode is linear here
    assert np.allclose(rate, np.array(e.encode(v, a, e.parameters)).ravel(), rtol=1e-11)


def test_first_order_counts() -> None:
    assert lagrange(zoo.pendulum(3)).counts.first_order == 6
    assert lagrange(triple_pendulum(), coordinates="absolute").counts.first_order == 6
    assert lagrange(MECHANISMS["ball_chain"]).counts.first_order == 2 * 4 + 1 + 7


def test_state_names() -> None:
    e = lagrange(zoo.pendulum(2, slider=True), coordinates="absolute")
    assert e.state_names == (
        "rail",
        "pin1",
        "pin2 (absolute)",
        "rail'",
        "pin1'",
        "pin2' (absolute)",
    )


def test_the_equations_of_a_six_axis_arm_stay_small() -> None:
    equations = lagrange(zoo.arm(6))
    assert equations.counts.operations <= 20_000


@pytest.mark.parametrize("name", ["arm6", "ball_chain", "planar_tree"])
def test_mass_matrix_is_the_hessian_and_symmetric(name: str) -> None:
    """Eq. 55, [Baysec1996]'s "very important means of checking for correctness"."""
    machine = compile(MECHANISMS[name])
    e = lagrange(MECHANISMS[name])
    q = machine.sample(np.random.default_rng(6))
    M = np.array(e.extra["mass_matrix"](q, e.parameters))
    assert np.allclose(M, M.T, rtol=1e-12, atol=1e-13)
    assert np.allclose(M, machine.mass_matrix(q), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ["arm6", "free_base", "screws"])
def test_force_at_a_point(name: str) -> None:
    """Eq. 8: Q_j = sum F_k dx_k/dq_j, against the kernels' Jacobian."""
    m = MECHANISMS[name]
    machine = compile(MECHANISMS[name])
    rng = np.random.default_rng(7)
    frame = m.bodies[-1].name
    q = machine.sample(rng)
    F = rng.normal(size=3)
    Q = np.array(generalised_force(m, frame)(q, F, [])).ravel()
    assert np.allclose(Q, machine.jacobian(q, frame)[3:].T @ F, rtol=1e-11, atol=1e-12)


# --- [Baysec1996]
m1, m2, m3, l1, l2, l3, I1, I2, I3 = sp.symbols("m1 m2 m3 l1 l2 l3 I1 I2 I3")
th1, th2, th3 = sp.symbols("theta1:4")
w1, w2, w3 = sp.symbols("theta1_dot theta2_dot theta3_dot")
a1, a2, a3 = sp.symbols("theta1_ddot theta2_ddot theta3_ddot")
t1, t2, t3 = sp.symbols("tau_theta1:4")

BAYSEC = [  # (left, right) of eq. 56-58, the misprints of 56 and 58 mended
    (
        a1 * (l1**2 * (m1 + m2 + m3) + I1)
        + a2 * (m2 + m3) * l1 * l2 * sp.cos(th1 - th2)
        + a3 * m3 * l1 * l3 * sp.cos(th1 - th3),
        -(m2 + m3) * l1 * l2 * w2**2 * sp.sin(th1 - th2)
        - m3 * l1 * l3 * w3**2 * sp.sin(th1 - th3)
        - (m1 + m2 + m3) * g * l1 * sp.cos(th1)
        + t1
        - t2,
    ),
    (
        a1 * (m2 + m3) * l1 * l2 * sp.cos(th1 - th2)
        + a2 * (l2**2 * (m2 + m3) + I2)
        + a3 * m3 * l2 * l3 * sp.cos(th2 - th3),
        (m2 + m3) * l1 * l2 * w1**2 * sp.sin(th1 - th2)
        - m3 * l2 * l3 * w3**2 * sp.sin(th2 - th3)
        - (m2 + m3) * g * l2 * sp.cos(th2)
        + t2
        - t3,
    ),
    (
        a1 * m3 * l1 * l3 * sp.cos(th1 - th3)
        + a2 * m3 * l2 * l3 * sp.cos(th2 - th3)
        + a3 * (l3**2 * m3 + I3),
        m3 * l1 * l3 * w1**2 * sp.sin(th1 - th3)
        + m3 * l2 * l3 * w2**2 * sp.sin(th2 - th3)
        - m3 * g * l3 * sp.cos(th3)
        + t3,
    ),
]


def residual(equation) -> sp.Expr:
    return equation.lhs - equation.rhs


def test_seed_001_triple_pendulum() -> None:
    """Eq. 56-58, symbol for symbol."""
    found = lagrange(triple_pendulum(), coordinates="absolute").sympy()
    assert not found.intermediates and len(found.equations) == 3
    for equation, (left, right) in zip(found.equations, BAYSEC):
        assert sp.simplify(residual(equation) - (left - right)) == 0


def test_seed_001_triple_pendulum_of_point_masses() -> None:
    found = lagrange(triple_pendulum(inertia=False), coordinates="absolute").sympy()
    for equation, (left, right) in zip(found.equations, BAYSEC):
        assert sp.simplify(residual(equation) - (left - right).subs({I1: 0, I2: 0, I3: 0})) == 0


def test_seed_001_misprints_are_misprints() -> None:
    """(58) as printed breaks the symmetry (55) that the source itself asks for; (56) as printed is
    odd in the speeds.
    """
    first, _, third = (
        residual(e) for e in lagrange(triple_pendulum(), coordinates="absolute").sympy().equations
    )
    M23 = BAYSEC[1][0].coeff(a3)
    M32 = third.expand().coeff(a2)
    printed = m3 * l2 * sp.cos(th2 - th3)
    assert sp.simplify(M32 - M23) == 0 and sp.simplify(printed - M23) != 0
    reversed_motion = first.subs({w1: -w1, w2: -w2, w3: -w3}, simultaneous=True)
    # conservative motion runs backwards too; theta' without square does not
    assert sp.simplify(first - reversed_motion) == 0


# --- textbook, peer
def test_two_link_arm_of_the_textbook() -> None:
    """Spong, Hutchinson, Vidyasagar, Robot Modeling and Control, planar elbow manipulator: d_ij, h,
    phi_i; relative angles.
    """
    lc1, lc2 = sp.symbols("lc1 lc2")
    d11 = m1 * lc1**2 + m2 * (l1**2 + lc2**2 + 2 * l1 * lc2 * sp.cos(th2)) + I1 + I2
    d12 = m2 * (lc2**2 + l1 * lc2 * sp.cos(th2)) + I2
    d22 = m2 * lc2**2 + I2
    h = -m2 * l1 * lc2 * sp.sin(th2)
    phi1 = (m1 * lc1 + m2 * l1) * g * sp.cos(th1) + m2 * lc2 * g * sp.cos(th1 + th2)
    phi2 = m2 * lc2 * g * sp.cos(th1 + th2)
    textbook = [
        d11 * a1 + d12 * a2 + h * w2 * w1 + h * w1 * w2 + h * w2**2 + phi1 - t1,
        d12 * a1 + d22 * a2 - h * w1**2 + phi2 - t2,
    ]
    found = lagrange(two_link_arm()).sympy()
    assert all(sp.simplify(residual(e) - row) == 0 for e, row in zip(found.equations, textbook))
    assert "2*l1*lc2*m2*cos(theta2)" in found.text() and "cos(theta1 + theta2)" in found.text()


def test_sympy_lagranges_method_is_a_peer() -> None:
    """SymPy's own LagrangesMethod on the double pendulum of point masses, numerically."""
    from sympy.physics.mechanics import LagrangesMethod, dynamicsymbols

    q = dynamicsymbols("x1:3")
    t = dynamicsymbols._t
    x = l1 * sp.cos(q[0])
    y = l1 * sp.sin(q[0])
    X = x + l2 * sp.cos(q[0] + q[1])
    Y = y + l2 * sp.sin(q[0] + q[1])
    T = sum(
        m * (sp.diff(u, t) ** 2 + sp.diff(v, t) ** 2) / 2 for m, u, v in ((m1, x, y), (m2, X, Y))
    )
    peer = LagrangesMethod(T - g * (m1 * y + m2 * Y), q)
    peer.form_lagranges_equations()
    values = {m1: 1.2, m2: 1.2, l1: 0.7, l2: 0.7, g: 9.81}
    state = {q[0].diff(t): 0.4, q[1].diff(t): -1.1, q[0]: 0.3, q[1]: 0.9}
    M, f = (X.subs(values).subs(state) for X in (peer.mass_matrix, peer.forcing))
    expected = np.array(M.LUsolve(f), float).ravel()
    e = lagrange(triple_pendulum(2, inertia=False))
    a = np.array(e.acceleration(0, [0.3, 0.9], [0.4, -1.1], [0, 0], e.parameters)).ravel()
    assert np.allclose(a, expected, rtol=1e-12)


# --- what is refused
def test_leaf_without_inertia_is_named() -> None:
    m = zoo.pendulum(2)
    m = m.with_(bodies=(m.bodies[0], Body.massless("rod2")))
    with pytest.raises(
        SingularError, match=r"coordinate 'pin2' moves no inertia; body 'rod2' of joint 'pin2'"
    ) as error:
        lagrange(m)
    assert error.value.where == "pin2"


def test_two_joints_about_one_axis_are_named() -> None:
    m = zoo.pendulum(1)
    joints = (
        Joint("sleeve", "revolute", GROUND, "ring", axis=(0, 1, 0)),
        Joint("pin1", "revolute", "ring", "rod1", axis=(0, 1, 0)),
    )
    m = m.with_(bodies=(Body.massless("ring"), *m.bodies), joints=joints)
    with pytest.raises(
        SingularError, match=r"'sleeve' together with 'pin1' moves no inertia; body 'ring'"
    ):
        lagrange(m)


def test_absolute_angles_need_a_plane() -> None:
    with pytest.raises(
        FormulationError, match=r"'arm3' do not all move in one plane; ask for coordinates='joint'"
    ):
        lagrange(zoo.arm(3), coordinates="absolute")


def test_absolute_angles_need_free_angles() -> None:
    m = zoo.pendulum(3)
    follower = Joint(
        "pin3",
        "revolute",
        "rod2",
        "rod3",
        m.joints[2].placement,
        axis=(0, 1, 0),
        mimic=Mimic("pin2"),
    )
    with pytest.raises(FormulationError, match="joint 'pin3' of 'pendulum3' follows another"):
        lagrange(m.with_(joints=(*m.joints[:2], follower)), coordinates="absolute")


def test_unknown_coordinates() -> None:
    with pytest.raises(
        FormulationError, match=r"no coordinate system 'absolut'.*Did you mean 'absolute'"
    ):
        lagrange(zoo.pendulum(2), coordinates="absolut")


def test_nothing_to_derive() -> None:
    m = Mechanism(
        "statue",
        (Body("stone", 1.0, (0, 0, 0), (1, 1, 1)),),
        (Joint("base", "fixed", GROUND, "stone"),),
    )
    with pytest.raises(FormulationError, match="'statue' has no motion to derive"):
        derive(m, "lagrange")
