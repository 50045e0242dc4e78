"""boltzmann_hamel: quasi-velocities, agreement with the recursive kernels, joint loads, seed 000's
example.
"""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
import sympy

import closed
from catena.certify.certificate import random_states
from catena.compiler.trace import Tracer
from catena.equations.formulations import derive
from catena.equations.formulations._boltzmann_hamel_links import connectivity, links
from catena.equations.formulations.boltzmann_hamel import (
    absolute,
    boltzmann_hamel,
    generalised_force,
    inertial,
    joined,
    moved,
    quasi_inertia,
    relative,
)
from catena.errors import SingularError
from catena.kernels.tree import layout
from catena.machine.machine import compile
from catena.model.mechanism import GROUND, Body, Frame, Joint, Mechanism, Mimic
from catena.model.pose import Pose
from zoo import arm, certificate_set, pendulum

MECHANISMS = certificate_set()
STATES = 100


def states(machine, count=STATES, seed=3):
    """q, v, tau with one row per state."""
    rng = np.random.default_rng(seed)
    return machine.sample(rng, count), *rng.standard_normal((2, count, machine.nv))


def each(f, *rows, p=()):
    """A traced function (t, ..., p) on rows of states."""
    given = [
        np.zeros((1, len(rows[0]))),
        *(np.asarray(x).T for x in rows),
        np.tile(np.reshape(p, (-1, 1)), len(rows[0])),
    ]
    return np.array(f(*given)).T


def worst(found, expected):
    """The largest difference, relative to the largest entry of its state."""
    return (np.abs(found - expected).max(axis=1) / np.abs(expected).max(axis=1)).max()


def values(s, expressions, *given):
    """Numbers of traced expressions at (q, v, a)."""
    f = ca.Function("values", [s.q, s.v, s.a][: len(given)], [ca.densify(x) for x in expressions])
    found = f(*given)
    return [np.array(x) for x in (found if len(expressions) > 1 else [found])]


# --- agreement
@pytest.mark.parametrize("name", MECHANISMS)
def test_agrees_with_the_recursive_kernels(name):
    m = MECHANISMS[name]
    machine = compile(m)
    eq = boltzmann_hamel(m)
    q, v, tau = states(machine)
    expected = machine.forward_dynamics(q, v, tau)
    assert worst(each(eq.acceleration, q, v, tau), expected) < 1e-9
    assert eq.counts.first_order == machine.nq + machine.nv == len(eq.state_names)
    assert eq.counts.largest_matrix == machine.nv
    reactions = machine.reactions(q[:5], v[:5], expected[:5])
    for k in range(5):
        W = np.array(eq.reactions(0.0, q[k], v[k], tau[k], []))
        R = np.array([reactions[j.name][k] for j in m.ordered])
        assert np.abs(W - R).max() < 1e-9 * np.abs(R).max()


def test_state_is_coordinates_and_speeds():
    m = MECHANISMS["free_base"]
    machine = compile(m)
    eq = boltzmann_hamel(m)
    q, v, tau = (x[0] for x in states(machine, 1))
    x = eq.encode(q, v, [])
    np.testing.assert_array_equal(np.array(eq.decode(x, [])[0]).ravel(), q)
    np.testing.assert_array_equal(np.array(eq.decode(x, [])[1]).ravel(), v)
    rate = np.concatenate([machine.coordinate_rate(q, v), machine.forward_dynamics(q, v, tau)])
    np.testing.assert_allclose(
        np.array(eq.derivative(0.0, x, tau, [])).ravel(), rate, rtol=1e-9, atol=1e-9
    )


def test_rotors_followers_and_free_parameters():
    """A hinge with a rotor carries a slide and a screw that follows it; a mass and a length are
    left free.
    """
    m, l = sympy.symbols("m l")
    finger = {"com": (0.1, 0.02, 0.0), "inertia": (0.01, 0.02, 0.02)}
    place = Pose(position=(l, 0.1, 0))
    bodies = [
        Body("hand", m, (l / 2, 0, 0), (0.1, 0.2, 0.3)),
        Body("left", 0.4, **finger),
        Body("right", 0.5, **finger),
    ]
    joints = [
        Joint("wrist", "revolute", GROUND, "hand", axis=(0, 1, 0), armature=0.7),
        Joint(
            "slide",
            "prismatic",
            "hand",
            "left",
            Pose.turn("x", 0.4, position=(l, 0, 0)),
            armature=0.1,
        ),
        Joint(
            "follow",
            "helical",
            "hand",
            "right",
            place,
            axis=(1, 0, 0),
            pitch=0.2,
            mimic=Mimic("slide", -1.5, 0.2),
        ),
    ]
    gripper = Mechanism("gripper", bodies, joints, parameters={"m": 2.0, "l": 0.4}).validate()
    eq = boltzmann_hamel(gripper)
    for p in ({"m": 2.0, "l": 0.4}, {"m": 0.7, "l": 1.3}):
        machine = compile(gripper.with_(parameters=p))
        q, v, tau = states(machine, 20)
        assert (
            worst(
                each(eq.acceleration, q, v, tau, p=list(p.values())),
                machine.forward_dynamics(q, v, tau),
            )
            < 1e-10
        )


# --- quasi-velocities
@pytest.mark.parametrize("name", ["arm6", "every_joint", "planar_tree", "free_base"])
def test_inertia_of_the_quasi_velocities_is_twice_the_kinetic_energy(name):
    """(omega, U)' A (omega, U) = 2 T with (omega, U) = G D v, and A is symmetric."""
    m = MECHANISMS[name]
    machine = compile(m)
    s = Tracer(layout(m))
    chain = links(s, melt=True)
    C = connectivity(chain)
    D = ca.vertcat(*(k.D[:3, :] for k in chain), *(k.D[3:, :] for k in chain))
    q, v, _ = (x[0] for x in states(machine, 1))
    A, GD = values(s, [quasi_inertia(chain, C), joined(chain, C) @ D], q)
    np.testing.assert_allclose(A, A.T, atol=1e-12)
    w = GD @ v
    np.testing.assert_allclose(0.5 * w @ A @ w, machine.energy(q, v)[0], rtol=1e-12)
    np.testing.assert_allclose(GD.T @ A @ GD, machine.mass_matrix(q), atol=1e-11)


def test_inertial_angular_velocities_and_accelerations():
    """omega = G Omega and omega' = G Omega' + h (31), against the kernels' frame motion in body
    axes.
    """
    m = MECHANISMS["gimbals"]
    machine = compile(m)
    s = Tracer(layout(m))
    chain = links(s, melt=True)
    d = [k.D @ s.a for k in chain]
    w, dw = absolute(chain, [k.Omega for k in chain], [k.dOmega + x[:3] for k, x in zip(chain, d)])
    q, v, a = (x[0] for x in states(machine, 1))
    found = values(s, [*w, *dw], q, v, a)
    for k, link in enumerate(chain):
        # the link's axes are the node's, not the body's
        R = np.array(s.layout.seats[link.name].pose.rotation, float)
        np.testing.assert_allclose(
            R.T @ found[k].ravel(), machine.frame_velocity(q, v, link.name, "body")[:3], atol=1e-12
        )
        turning = machine.frame_acceleration(q, v, a, link.name, "body")[:3]
        np.testing.assert_allclose(R.T @ found[len(chain) + k].ravel(), turning, atol=1e-11)


def test_joint_moments_do_the_same_work_in_either_form():
    """(10a) = (10b): sum M_i . Omega_i = sum tau_i . omega_i with tau_i = M_i - C_i,i+1 M_i+1;
    (16)'s transpose breaks it.
    """
    m = MECHANISMS["ball_chain"]
    machine = compile(m)
    s = Tracer(layout(m))
    rng = np.random.default_rng(2)
    chain = links(s, melt=True)
    Omega, M = (list(rng.standard_normal((len(chain), 3))) for _ in range(2))
    w, _ = absolute(chain, [ca.SX(x) for x in Omega], [ca.SX(3, 1)] * len(chain))
    q = states(machine, 1)[0][0]
    found = values(s, [*w, *(k.C for k in chain)], q)
    w = [x.ravel() for x in found[: len(chain)]]
    C = found[len(chain) :]

    def work(turned):
        tau = [np.array(x) for x in M]
        for i, link in enumerate(chain):
            if link.parent >= 0:
                tau[link.parent] -= turned(C[i]) @ M[i]
        return sum(x @ y for x, y in zip(tau, w))

    expected = sum(x @ y for x, y in zip(M, Omega))
    np.testing.assert_allclose(work(lambda C: C), expected, rtol=1e-12)
    assert abs(work(np.transpose) - expected) > 0.1
    tau = rng.standard_normal((len(chain), 3))  # and M = G' tau undoes it
    back = [x.ravel() for x in values(s, relative(chain, [ca.SX(x) for x in tau]), q)]
    for i in range(len(chain)):
        outboard = sum(
            (C[c] @ back[c] for c, link in enumerate(chain) if link.parent == i), np.zeros(3)
        )
        np.testing.assert_allclose(back[i] - outboard, tau[i], atol=1e-12)


def test_joint_moments_are_what_the_joints_carry():
    m = MECHANISMS["every_joint"]
    machine = compile(m)
    eq = boltzmann_hamel(m)
    q, v, a = (x[0] for x in states(machine, 1))
    M = np.array(eq.extra["joint_moments"](q, v, a, []))
    reactions = machine.reactions(q, v, a)
    for k, j in enumerate(m.ordered):
        np.testing.assert_allclose(M[k], reactions[j.name][:3], atol=1e-9)


def test_force_at_a_point():
    m = MECHANISMS["every_joint"].with_(
        frames=[Frame("tool", "body7", Pose(position=(0.3, -0.2, 0.5)))]
    )
    machine = compile(m)
    q = states(machine, 1)[0][0]
    F = np.array([1.0, -2.0, 0.5])
    Q = np.array(generalised_force(m, "tool")(q, F, [])).ravel()
    np.testing.assert_allclose(Q, machine.jacobian(q, "tool")[3:].T @ F, atol=1e-12)


# --- seed 000
def test_seed_000_planar_manipulator():
    """Example one: two slender links of 0.915 m and 1.754 kg, without gravity; the elbow bends by
    q2 > 0.

        ground o==== link 1 ====o==== link 2 ====x tip

    The tip goes along a straight line with cos(t) ft/s2 on each axis. Numbers: reference data for
    seed 000, two other ways.
    """
    l, mass = 0.915, 1.754
    I = mass * l**2 / 12
    bodies = [Body(f"link{i}", mass, (l / 2, 0, 0), (0, I, I)) for i in (1, 2)]
    joints = [
        Joint("shoulder", "revolute", GROUND, "link1"),
        Joint("elbow", "revolute", "link1", "link2", Pose(position=(l, 0, 0))),
    ]
    tip = Frame("tip", "link2", Pose(position=(l, 0, 0)))
    m = Mechanism("planar manipulator", bodies, joints, gravity=(0, 0, 0), frames=[tip])
    machine = compile(m)
    moments = boltzmann_hamel(m).extra["joint_moments"]
    expected = {
        0.0: (0.35616178, -0.27701472),
        np.pi / 2: (0.05606731, 0.00934455),
        np.pi: (-0.48949755, 0.16316585),
    }
    for t, torque in expected.items():
        x, dx, ddx = (0.305 * k * np.ones(2) for k in (2 - np.cos(t), np.sin(t), np.cos(t)))
        q2 = np.arccos((x @ x - 2 * l**2) / (2 * l**2))
        q = np.array([np.arctan2(x[1], x[0]) - q2 / 2, q2])
        J = machine.jacobian(q, "tip")[3:5]
        v = np.linalg.solve(J, dx)
        a = np.linalg.solve(J, ddx - machine.jacobian_rate(q, v, "tip")[3:5])
        M = np.array(moments(q, v, a, []))
        np.testing.assert_allclose(M[:, 2], torque, atol=1e-8)
        # nothing bends a planar arm that has no weight
        np.testing.assert_allclose(M[:, :2], 0, atol=1e-12)


def test_the_inertial_form_is_cheaper_and_the_joint_problem_is_not():
    """Seed 000, section 3, for arm(6): 661 operations against 856; from joint motion to joint
    torques, 680.
    """
    extra = boltzmann_hamel(arm(6)).extra
    assert extra["operations_inertial"] < 0.85 * extra["operations_relative"]
    assert extra["operations_inertial"] < extra["operations_inverse"] < extra["operations_relative"]


def test_inertial_rows_balance_a_body_at_rest():
    """(22) at rest: the moment in a hinge holds the weight, tau = S x g."""
    m = pendulum(1)
    s = Tracer(layout(m))
    chain = links(s, melt=True)
    still = [ca.SX.zeros(3)]
    tau, F = inertial(chain, moved(s, chain, still, still, still, still))
    moment, force = values(s, [tau[0], F[0]], [0.3])
    np.testing.assert_allclose(
        np.abs(moment).max(), m.bodies[0].mass * 9.81 * 0.45 * np.sin(0.3), rtol=1e-12
    )
    np.testing.assert_allclose(np.linalg.norm(force), m.bodies[0].mass * 9.81, rtol=1e-12)


# --- cost and refusals
def test_the_equations_of_a_six_axis_arm_stay_small():
    eq = boltzmann_hamel(arm(6))
    assert eq.counts.operations < 3000


def test_a_body_without_inertia_is_named():
    bodies = [
        Body("arm", 1.0, (0.5, 0, 0), (0.1, 0.1, 0.1)),
        Body("bead", 0.2, (0, 0, 0), (0, 0, 0)),
    ]
    joints = [
        Joint("hinge", "revolute", GROUND, "arm"),
        Joint("spin", "revolute", "arm", "bead", axis=(1, 0, 0)),
    ]
    with pytest.raises(SingularError, match=r"'spin'.*'bead'"):
        boltzmann_hamel(Mechanism("beads", bodies, joints))


def test_two_slides_on_one_line_without_mass_between_are_named():
    bodies = [Body.massless("sleeve"), Body("rod", 1.0, (0, 0, 0), (0.1, 0.1, 0.1))]
    axis = (1, 2, 3)
    joints = [
        Joint("outer", "prismatic", GROUND, "sleeve", axis=axis),
        Joint("inner", "prismatic", "sleeve", "rod", axis=axis),
    ]
    with pytest.raises(SingularError, match=r"'outer'.*'sleeve'"):
        boltzmann_hamel(Mechanism("telescope", bodies, joints))


def test_a_closed_linkage_beside_the_recursive_passes():
    m = closed.slider_crank()
    machine = compile(m)
    e = derive(m, by="boltzmann_hamel")
    q, v, tau, p = (x[0] for x in random_states(machine, 1, 4))
    a = machine.forward_dynamics(q, v, tau)
    np.testing.assert_allclose(
        np.array(e.acceleration(0.0, q, v, tau, p)).ravel(), a, rtol=1e-9, atol=1e-9
    )
