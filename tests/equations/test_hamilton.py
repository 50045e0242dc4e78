"""Hamilton's equations: agreement, the canonical form itself, conservation, and the printed
equations of [Baysec1996].
"""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
import sympy as sp

import zoo
from catena.equations.formulations.hamilton import hamilton
from catena.errors import FormulationError, SingularError
from catena.machine.machine import compile
from catena.model.mechanism import Body, Joint, Mimic
from linkages import g, triple_pendulum

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


def difference(equations, q, v, tau, expected) -> float:
    a = np.array(equations.acceleration(0, q.T, v.T, tau.T, equations.parameters)).T
    return float(np.max(np.abs(a - expected).max(1) / np.abs(expected).max(1)))


def forward(machine, q, v, tau):
    return np.array([machine.forward_dynamics(*state) for state in zip(q, v, tau)])


# --- agreement
@pytest.mark.parametrize("name", MECHANISMS)
def test_agrees_with_the_recursive_pass(name: str) -> None:
    machine = compile(MECHANISMS[name])
    q, v, tau = states(machine)
    assert difference(hamilton(MECHANISMS[name]), q, v, tau, forward(machine, q, v, tau)) < 1e-9


@pytest.mark.parametrize("name", PLANAR)
def test_absolute_angles_describe_the_same_motion(name: str) -> None:
    machine = compile(MECHANISMS[name])
    q, v, tau = states(machine, 1)
    equations = hamilton(MECHANISMS[name], coordinates="absolute")
    assert difference(equations, q, v, tau, forward(machine, q, v, tau)) < 1e-9


def test_coupled_coordinates_and_armature() -> None:
    m = zoo.arm(4)
    follower = Joint(
        "joint4",
        "revolute",
        "link3",
        "link4",
        m.joints[3].placement,
        mimic=Mimic("joint2", 0.5, 0.1),
    )
    motor = Joint("joint1", "revolute", "ground", "link1", m.joints[0].placement, armature=0.3)
    m = m.with_(joints=(motor, *m.joints[1:3], follower)).validate()
    machine = compile(m)
    q, v, tau = states(machine, 2)
    assert difference(hamilton(m), q, v, tau, forward(machine, q, v, tau)) < 1e-9


# --- canonical form
@pytest.mark.parametrize("name", MECHANISMS)
def test_momenta_and_state(name: str) -> None:
    """encode gives h = M v, decode the speeds again; the names are as many as the state has
    entries.
    """
    machine = compile(MECHANISMS[name])
    e = hamilton(MECHANISMS[name])
    rng = np.random.default_rng(3)
    q = machine.sample(rng)
    v = rng.normal(size=machine.nv)
    x = np.array(e.encode(q, v, e.parameters)).ravel()
    assert len(e.state_names) == len(x) == e.counts.first_order
    assert np.allclose(x[machine.nq :], machine.mass_matrix(q) @ v, rtol=1e-10, atol=1e-11)
    back = [np.array(part).ravel() for part in e.decode(x, e.parameters)]
    assert np.allclose(back[0], q) and np.allclose(back[1], v, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["triple_pendulum", "arm6", "screws", "general"])
def test_derivative_is_canonical(name: str) -> None:
    """(10), (11) with H differentiated through M^-1, which the formulation itself avoids."""
    machine = compile(MECHANISMS[name])
    e = hamilton(MECHANISMS[name])
    n = machine.nv
    rng = np.random.default_rng(4)
    x = ca.SX.sym("x", 2 * n)
    p = ca.SX.sym("p", 0)
    slope = ca.Function("slope", [x, p], [ca.gradient(e.extra["hamiltonian"](x, p), x)])
    at = rng.normal(size=2 * n)
    tau = rng.normal(size=n)
    dH = np.array(slope(at, [])).ravel()
    rate = np.array(e.derivative(0, at, tau, [])).ravel()
    assert np.allclose(rate[:n], dH[n:], rtol=1e-9)
    assert np.allclose(rate[n:], tau - dH[:n], rtol=1e-8, atol=1e-8 * np.abs(dH).max())


@pytest.mark.parametrize("name", MECHANISMS)
def test_power_put_in_is_the_rate_of_H(name: str) -> None:
    """dH/dt = v . tau along the flow, for every joint kind: what w x h does has no power."""
    machine = compile(MECHANISMS[name])
    e = hamilton(MECHANISMS[name])
    rng = np.random.default_rng(5)
    q = machine.sample(rng)
    v = rng.normal(size=machine.nv)
    tau = rng.normal(size=machine.nv)
    x = ca.SX.sym("x", e.counts.first_order)
    p = ca.SX.sym("p", 0)
    direction = ca.SX.sym("d", e.counts.first_order)
    along = ca.Function(
        "along", [x, direction, p], [ca.jtimes(e.extra["hamiltonian"](x, p), x, direction)]
    )
    at = e.encode(q, v, [])
    power = float(along(at, e.derivative(0, at, tau, []), []))
    assert power == pytest.approx(v @ tau, rel=1e-8, abs=1e-8)
    assert float(e.extra["hamiltonian"](at, [])) == pytest.approx(
        float(sum(machine.energy(q, v))), rel=1e-10
    )


def test_first_order_counts() -> None:
    assert hamilton(zoo.pendulum(3)).counts.first_order == 6
    assert hamilton(triple_pendulum(), coordinates="absolute").counts.first_order == 6


def test_state_names() -> None:
    e = hamilton(zoo.pendulum(2), coordinates="absolute")
    assert e.state_names == (
        "pin1",
        "pin2 (absolute)",
        "momentum of pin1",
        "momentum of pin2 (absolute)",
    )


def test_the_equations_of_a_six_axis_arm_stay_small() -> None:
    equations = hamilton(zoo.arm(6))
    assert equations.counts.operations <= 20_000
    assert equations.extra["operations of the derivative"] < equations.counts.operations


# --- [Baysec1996]
m1, m2, m3, l1, l2, l3, I1, I2, I3 = sp.symbols("m1 m2 m3 l1 l2 l3 I1 I2 I3")
th1, th2, th3 = sp.symbols("theta1:4")
w1, w2, w3 = sp.symbols("theta1_dot theta2_dot theta3_dot")
t1, t2, t3 = sp.symbols("tau_theta1:4")
c12 = sp.cos(th1 - th2)
c13 = sp.cos(th1 - th3)
c23 = sp.cos(th2 - th3)
s12 = sp.sin(th1 - th2)
s13 = sp.sin(th1 - th3)
s23 = sp.sin(th2 - th3)

BAYSEC = {  # eq. 60-65, the misprints of 61 and 65 mended
    "p_theta1": (
        w1 * (I1 + (m1 + m2 + m3) * l1**2)
        + w2 * (m2 + m3) * l1 * l2 * c12
        + w3 * m3 * l1 * l3 * c13
    ),
    "p_theta2": (
        w1 * (m2 + m3) * l1 * l2 * c12 + w2 * (I2 + (m2 + m3) * l2**2) + w3 * m3 * l2 * l3 * c23
    ),
    "p_theta3": w1 * m3 * l1 * l3 * c13 + w2 * m3 * l2 * l3 * c23 + w3 * (I3 + m3 * l3**2),
    "p_theta1_dot": (
        t1
        - t2
        - (m2 + m3) * w1 * w2 * l1 * l2 * s12
        - m3 * w1 * w3 * l1 * l3 * s13
        - (m1 + m2 + m3) * g * l1 * sp.cos(th1)
    ),
    "p_theta2_dot": (
        t2
        - t3
        + (m2 + m3) * w1 * w2 * l1 * l2 * s12
        - m3 * w2 * w3 * l2 * l3 * s23
        - (m2 + m3) * g * l2 * sp.cos(th2)
    ),
    "p_theta3_dot": (
        t3 + m3 * w1 * w3 * l1 * l3 * s13 + m3 * w2 * w3 * l2 * l3 * s23 - m3 * g * l3 * sp.cos(th3)
    ),
}

H_59 = (
    (m1 + m2 + m3) * l1**2 * w1**2 / 2
    + (m2 + m3) * l2**2 * w2**2 / 2
    + m3 * l3**2 * w3**2 / 2
    + (m2 + m3) * l1 * l2 * w1 * w2 * c12
    + m3 * l1 * l3 * w1 * w3 * c13
    + m3 * l2 * l3 * w2 * w3 * c23
    + I1 * w1**2 / 2
    + I2 * w2**2 / 2
    + I3 * w3**2 / 2
    + (m1 + m2 + m3) * g * l1 * sp.sin(th1)
    + (m2 + m3) * g * l2 * sp.sin(th2)
    + m3 * g * l3 * sp.sin(th3)
)


def printed() -> dict[str, sp.Expr]:
    """What catena prints for the triple pendulum: name -> right-hand side."""
    found = hamilton(triple_pendulum(), coordinates="absolute").sympy()
    assert not found.intermediates
    return {str(e.lhs): e.rhs for e in found.equations}


def test_seed_001_triple_pendulum() -> None:
    """Eq. 60-65, symbol for symbol."""
    found = printed()
    assert list(found) == list(BAYSEC)
    for name, right in BAYSEC.items():
        assert sp.simplify(found[name] - right) == 0, name


def test_seed_001_triple_pendulum_of_point_masses() -> None:
    found = hamilton(triple_pendulum(inertia=False), coordinates="absolute").sympy()
    for e in found.equations:
        assert sp.simplify(e.rhs - BAYSEC[str(e.lhs)].subs({I1: 0, I2: 0, I3: 0})) == 0


def test_seed_001_momenta_are_the_slopes_of_the_energy() -> None:
    """(13) as it should be, dL/dqdot = p, on the source's own (59): an independent proof of the l2
    that (61) lacks.
    """
    for name, w in (("p_theta1", w1), ("p_theta2", w2), ("p_theta3", w3)):
        assert sp.simplify(sp.diff(H_59, w) - BAYSEC[name]) == 0
    as_printed = BAYSEC["p_theta2"].subs(w3, 0) + w3 * m3 * l3 * c23
    assert sp.simplify(sp.diff(H_59, w2) - as_printed) != 0


def test_seed_001_H_must_not_be_differentiated_as_59_is_written() -> None:
    """(11) wants dH/dq at constant momenta; (59) shows speeds. At constant speeds the kinetic terms
    change their sign.
    """
    T = H_59.subs(g, 0)
    V = H_59.subs({w1: 0, w2: 0, w3: 0})
    for name, theta, Q in (
        ("p_theta1_dot", th1, t1 - t2),
        ("p_theta2_dot", th2, t2 - t3),
        ("p_theta3_dot", th3, t3),
    ):
        # an independent proof of (65)
        assert sp.simplify(Q + sp.diff(T, theta) - sp.diff(V, theta) - BAYSEC[name]) == 0
        assert sp.simplify(Q - sp.diff(H_59, theta) - BAYSEC[name]) != 0


# --- what is refused
def test_leaf_without_inertia_is_named() -> None:
    m = zoo.pendulum(2)
    with pytest.raises(
        SingularError, match=r"hamilton: .*coordinate 'pin2' moves no inertia; body 'rod2'"
    ):
        hamilton(m.with_(bodies=(m.bodies[0], Body.massless("rod2"))))


def test_absolute_angles_need_a_plane() -> None:
    with pytest.raises(FormulationError, match="one plane"):
        hamilton(zoo.arm(3), coordinates="absolute")
