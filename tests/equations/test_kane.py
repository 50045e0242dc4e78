"""kane: partial velocities, agreement with the recursive kernels, nonholonomic rows, and what it
refuses.
"""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
import sympy
from scipy.integrate import solve_ivp

import catena
from catena.analysis.assembly import assemble
from catena.compiler.trace import Tracer
from catena.equations.formulations.kane import bodies, generalised_force, kane
from catena.errors import FormulationError, SingularError
from catena.kernels.tree import layout
from catena.machine.machine import compile
from catena.model.mechanism import GROUND, Body, Frame, Joint, Mechanism, Mimic
from catena.model.pose import Pose
from zoo import arm, certificate_set, pendulum, random_tree

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


# --- agreement
@pytest.mark.parametrize("name", MECHANISMS)
def test_agrees_with_the_recursive_kernels(name):
    m = MECHANISMS[name]
    machine, eq = compile(m), kane(m)
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
    m = MECHANISMS["ball_chain"]
    machine, eq = compile(m), kane(m)
    q, v, tau = (x[0] for x in states(machine, 1))
    x = eq.encode(q, v, [])
    np.testing.assert_array_equal(np.array(eq.decode(x, [])[0]).ravel(), q)
    np.testing.assert_array_equal(np.array(eq.decode(x, [])[1]).ravel(), v)
    rate = np.concatenate([machine.coordinate_rate(q, v), machine.forward_dynamics(q, v, tau)])
    np.testing.assert_allclose(
        np.array(eq.derivative(0.0, x, tau, [])).ravel(), rate, rtol=1e-9, atol=1e-9
    )


def coupled() -> Mechanism:
    """Two fingers on one screw, a rotor on the wrist, and a hand mass left free."""
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
            "screw",
            "helical",
            "hand",
            "left",
            Pose.turn("x", 0.4, position=(l, 0, 0)),
            pitch=0.05,
            armature=0.1,
        ),
        Joint(
            "follow",
            "revolute",
            "hand",
            "right",
            place,
            axis=(1, 0, 0),
            mimic=Mimic("screw", -1.5, 0.2),
        ),
    ]
    return Mechanism("gripper", bodies, joints, parameters={"m": 2.0, "l": 0.4}).validate()


def test_rotors_followers_and_free_parameters():
    m = coupled()
    eq = kane(m)
    for p in ({"m": 2.0, "l": 0.4}, {"m": 0.7, "l": 1.3}):
        machine = compile(m.with_(parameters=p))
        q, v, tau = states(machine, 20)
        assert (
            worst(
                each(eq.acceleration, q, v, tau, p=list(p.values())),
                machine.forward_dynamics(q, v, tau),
            )
            < 1e-10
        )


def test_agrees_with_sympys_kanes_method():
    """The double pendulum on a cart of the zoo, derived by SymPy 1.14's KanesMethod."""
    from sympy.physics.mechanics import (
        KanesMethod,
        Particle,
        Point,
        ReferenceFrame,
        RigidBody,
        dynamicsymbols,
        inertia,
    )

    m = pendulum(2, slider=True)
    q = dynamicsymbols("q:3")
    u = dynamicsymbols("u:3")
    N, O = ReferenceFrame("N"), Point("O")
    O.set_vel(N, 0)
    cart = O.locatenew("cart", q[0] * N.x)
    cart.set_vel(N, u[0] * N.x)
    bodies = [Particle("cart", cart, m.bodies[0].mass)]
    loads = []
    frame = N
    hinge = cart
    for i, b in enumerate(m.bodies[1:], start=1):
        turned = frame.orientnew(f"B{i}", "Axis", (q[i], N.y))
        turned.set_ang_vel(frame, u[i] * N.y)
        com = hinge.locatenew(f"com{i}", b.com[2] * turned.z)
        com.v2pt_theory(hinge, N, turned)
        bodies.append(
            RigidBody(
                b.name,
                com,
                turned,
                b.mass,
                (inertia(turned, b.inertia[0], b.inertia[3], b.inertia[5]), com),
            )
        )
        loads.append((com, -9.81 * b.mass * N.z))
        tip = hinge.locatenew(f"tip{i}", 2 * b.com[2] * turned.z)
        tip.v2pt_theory(hinge, N, turned)
        frame, hinge = turned, tip
    method = KanesMethod(N, q, u, [a.diff() - b for a, b in zip(q, u)])
    method.kanes_equations(bodies, loads)
    M, f = sympy.lambdify([*q, *u], [method.mass_matrix, method.forcing])(
        0.3, 0.5, -1.1, 0.2, 1.4, -0.6
    )
    expected = np.linalg.solve(np.array(M, float), np.array(f, float).ravel())
    found = kane(m).acceleration(0.0, [0.3, 0.5, -1.1], [0.2, 1.4, -0.6], np.zeros(3), [])
    np.testing.assert_allclose(np.array(found).ravel(), expected, rtol=1e-11)


# --- chapter II
def test_partial_velocities_are_jacobians_and_their_rates_are_rates():
    m = MECHANISMS["every_joint"]
    machine = compile(
        m.with_(frames=[Frame(f"{b.name}_com", b.name, Pose(position=b.com)) for b in m.bodies])
    )
    s = Tracer(layout(m))
    arrays = [x for b in bodies(s).rigid for x in (b.G.w, b.G.V, b.G.dw @ s.v, b.G.dV @ s.v)]
    f = ca.Function("arrays", [s.q, s.v], [ca.densify(x) for x in arrays])
    q, v, _ = (x[0] for x in states(machine, 1))
    found = [np.array(x) for x in f(q, v)]
    for k, j in enumerate(m.ordered):
        frame, (w, V, dw, dV) = f"{j.child}_com", found[4 * k : 4 * k + 4]
        np.testing.assert_allclose(np.vstack([w, V]), machine.jacobian(q, frame), atol=1e-12)
        np.testing.assert_allclose(
            np.vstack([dw, dV]).ravel(), machine.jacobian_rate(q, v, frame), atol=1e-10
        )


def test_rate_arrays_by_finite_differences():
    """omega'_ijk and V'_ijk themselves, column by column, not only their sums with v."""
    m = MECHANISMS["general"]
    machine = compile(m)
    s = Tracer(layout(m))
    step = 1e-5
    masses = bodies(s).rigid
    value = ca.Function(
        "value", [s.q], [ca.densify(ca.vertcat(*(x for b in masses for x in (b.G.w, b.G.V))))]
    )
    rate = ca.Function(
        "rate", [s.q, s.v], [ca.densify(ca.vertcat(*(x for b in masses for x in (b.G.dw, b.G.dV))))]
    )
    q, v, _ = (x[0] for x in states(machine, 1))
    change = (value(machine.move(q, step * v)) - value(machine.move(q, -step * v))) / (2 * step)
    np.testing.assert_allclose(np.array(rate(q, v)), np.array(change), atol=1e-7)


def test_force_at_a_point():
    m = MECHANISMS["every_joint"].with_(
        frames=[Frame("tool", "body7", Pose(position=(0.3, -0.2, 0.5)))]
    )
    machine = compile(m)
    q = states(machine, 1)[0][0]
    F = np.array([1.0, -2.0, 0.5])
    Q = np.array(generalised_force(m, "tool")(q, F, [])).ravel()
    np.testing.assert_allclose(Q, machine.jacobian(q, "tool")[3:].T @ F, atol=1e-12)


# --- nonholonomic rows
def sleigh() -> Mechanism:
    """Chaplygin's sleigh: a knife edge at the origin of a body in the plane, its mass centre 0.3 m
    ahead.
    """
    body = Body("sleigh", 1.0, (0.3, 0, 0), (0.5, 0.5, 0.5))
    return Mechanism("sleigh", [body], [Joint("plane", "planar", GROUND, "sleigh")]).validate()


def knife_edge(t, q, p):
    return ca.horzcat(-ca.sin(q[2]), ca.cos(q[2]), 0), ca.SX(1, 1)


def along_the_blade(t, q, p):
    c, s = ca.cos(q[2]), ca.sin(q[2])
    return ca.blockcat([[c, -s, 0], [s, c, 0], [0, 0, 1]]), ca.SX(3, 1)


CHOICES = {
    "found": {},
    "given": {"dependent": (1,)},
    "along_the_blade": {"speeds": along_the_blade},
}


@pytest.mark.parametrize("options", CHOICES.values(), ids=CHOICES)
def test_chaplygin_sleigh_follows_its_closed_form(options):
    """u' = a w^2, w' = -m a u w / (I + m a^2) for the speed u along the blade and the turning w."""
    eq = kane(sleigh(), rows=knife_edge, **options)
    u0 = 0.2
    w0 = 2.0
    J = 0.5 + 0.3**2
    a = 0.3
    assert eq.counts.first_order == 5 and eq.counts.largest_matrix == 2
    q = np.array([0.0, 0.0, 0.4])
    v = np.array([u0 * np.cos(0.4), u0 * np.sin(0.4), w0])
    found = np.array(eq.acceleration(0.0, q, v, np.zeros(3), [])).ravel()
    forward = a * w0**2
    turn = -a * u0 * w0 / J
    across = u0 * w0  # the blade turns, so the velocity turns with it
    c, s = np.cos(0.4), np.sin(0.4)
    np.testing.assert_allclose(
        found, [c * forward - s * across, s * forward + c * across, turn], atol=1e-13
    )
    # Newton's law across the blade, at the com
    side = float(eq.multipliers(0.0, q, v, np.zeros(3), [])) * np.array([-s, c])
    np.testing.assert_allclose(side @ [-s, c], across + a * turn, atol=1e-12)
    x = np.array(eq.encode(q, v, [])).ravel()
    np.testing.assert_allclose(np.array(eq.decode(x, [])[1]).ravel(), v, atol=1e-14)


def test_chaplygin_sleigh_turns_round():
    """Six seconds through every heading, which the speeds along the blade allow."""
    eq = kane(sleigh(), rows=knife_edge, speeds=along_the_blade)
    assert eq.state_names == ("plane.x", "plane.y", "plane.angle", "u1", "u3")
    x = np.array(eq.encode(np.zeros(3), [0.2, 0.0, 2.0], [])).ravel()
    f = lambda t, x: np.array(eq.derivative(t, x, np.zeros(3), [])).ravel()  # noqa: E731
    end = solve_ivp(f, (0, 6), x, rtol=1e-11, atol=1e-12).y[:, -1]
    reference = [
        -6.343673811360283,
        -0.11252854890032088,
        3.650529858288421,
        1.5490058010221777,
        0.03138142599847285,
    ]
    # from the closed form u = k tanh, w = ... sech
    np.testing.assert_allclose(end, reference, atol=1e-7)


def rolling_disc(m=1.0, R=0.5):
    """A disc on the plane z = 0, its axis the body's y, and the three rows v + omega x r = 0 at the
    point below it.
    """
    disc = Body("disc", m, (0, 0, 0), (m * R**2 / 4, m * R**2 / 2, m * R**2 / 4))

    def rows(t, q, p):
        w, x, y, z = (q[3 + k] for k in range(4))
        E = ca.blockcat(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
            ]
        )
        n, down = E[:, 1], ca.SX([0, 0, -1])
        r = down - n * ca.dot(n, down)
        r = R * r / ca.norm_2(r)
        return ca.horzcat(ca.SX.eye(3), -ca.skew(r) @ E), ca.SX(3, 1)

    return Mechanism("disc", [disc], [Joint("free", "free", GROUND, "disc")]).validate(), rows


def test_rolling_disc():
    """One second of a leaning disc; end state from reference data made by two other formulations,
    good to 1e-7.
    """
    m, rows = rolling_disc()
    eq = kane(m, rows=rows, dependent=(0, 1, 2))
    assert eq.counts.first_order == 10
    q = np.array([0, 0, 0.4698463103929542, np.cos(np.pi / 18), np.sin(np.pi / 18), 0, 0])
    x = np.concatenate([q, [0.3, -4.0, 0.5]])
    f = lambda t, x: np.array(eq.derivative(t, x, np.zeros(6), [])).ravel()  # noqa: E731
    end = solve_ivp(f, (0, 1), x, rtol=1e-11, atol=1e-12).y[:, -1]
    com = [-1.2278595914351178, -1.3681437795056048, 0.4722525530153615]
    quaternion = [-0.4382437507710311, 0.3798866653439413, -0.5522934768898775, -0.5988325740880122]
    omega = [-0.3795697718237701, -3.9957758394309133, 0.05213106003821191]
    np.testing.assert_allclose(end[:3], com, atol=1e-7)
    np.testing.assert_allclose(end[3:7] * np.sign(end[3] * quaternion[0]), quaternion, atol=1e-7)
    np.testing.assert_allclose(end[7:], omega, atol=1e-7)


def test_any_rows_agree_with_multipliers():
    """Two rows with B on a random tree, against [M -A'; A 0] (a, lambda) = (tau - bias, -A' v -
    B').
    """
    m = random_tree(21, ["ball", "revolute", "universal"])
    machine = compile(m)
    rng = np.random.default_rng(4)
    K = rng.standard_normal((2, 6))
    k = rng.standard_normal(2)

    def rows(t, q, p):
        return ca.SX(K) + ca.sin(q[4]) * ca.SX(K[:, ::-1]), ca.SX(k) * (1 + ca.cos(q[5]))

    eq = kane(m, rows=rows)
    q, v, tau = (x[0] for x in states(machine, 1))
    v = np.array(eq.decode(eq.encode(q, v, []), [])[1]).ravel()
    A = K + np.sin(q[4]) * K[:, ::-1]
    B = k * (1 + np.cos(q[5]))
    np.testing.assert_allclose(A @ v + B, 0, atol=1e-12)
    gamma = -np.cos(q[4]) * v[3] * (K[:, ::-1] @ v) + k * np.sin(q[5]) * v[4]
    left = np.block([[machine.mass_matrix(q), -A.T], [A, np.zeros((2, 2))]])
    expected = np.linalg.solve(left, np.concatenate([tau - machine.bias(q, v), gamma]))
    np.testing.assert_allclose(
        np.array(eq.acceleration(0.0, q, v, tau, [])).ravel(), expected[:6], rtol=1e-9, atol=1e-9
    )
    np.testing.assert_allclose(
        np.array(eq.multipliers(0.0, q, v, tau, [])).ravel(), expected[6:], rtol=1e-9, atol=1e-9
    )


# --- cost and refusals
def test_the_equations_of_a_six_axis_arm_stay_small():
    eq = kane(arm(6))
    assert eq.counts.operations < 4000


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
        kane(Mechanism("beads", bodies, joints))


def test_two_slides_on_one_line_without_mass_between_are_named():
    bodies = [Body.massless("sleeve"), Body("rod", 1.0, (0, 0, 0), (0.1, 0.1, 0.1))]
    axis = (1, 2, 3)
    joints = [
        Joint("outer", "prismatic", GROUND, "sleeve", axis=axis),
        Joint("inner", "prismatic", "sleeve", "rod", axis=axis),
    ]
    with pytest.raises(SingularError, match=r"'outer'.*'sleeve'"):
        kane(Mechanism("telescope", bodies, joints))


def test_a_loop_is_rows_and_too_many_are_refused():
    m = pendulum(3).with_(
        loops=(
            Joint("rod_end", "revolute", GROUND, "rod3", Pose(position=(1, 0, 0)), axis=(0, 1, 0)),
        )
    )
    machine, e = compile(m), kane(m)
    q, v = assemble(machine, [0.3, 0.5, -0.2], [1.0, 0.0, 0.0])
    tau = np.array([0.3, -0.1, 0.2])
    expected = machine.forward_dynamics(q, v, tau)
    np.testing.assert_allclose(
        np.array(e.acceleration(0, q, v, tau, [])).ravel(), expected, rtol=1e-9, atol=1e-9
    )
    np.testing.assert_allclose(
        np.array(e.multipliers(0, q, v, tau, [])).ravel(), machine.multipliers(q, v, tau), rtol=1e-8
    )
    two = pendulum(2)
    with pytest.raises(SingularError, match="only 1 of the 2 rows"):
        kane(two.with_(loops=(Joint("rod_end", "revolute", "rod2", GROUND, axis=(0, 1, 0)),)))


def test_kane_leaves_out_rows_that_follow_from_others():
    mechanism = catena.load("bricard")
    e = catena.derive(mechanism, by="kane")
    machine = catena.compile(mechanism)
    assert e.multipliers.size1_out(0) == len(machine.rows) == 5
    assert e.counts.largest_matrix == 1


def test_rows_are_checked():
    def twice(t, q, p):
        A, B = knife_edge(t, q, p)
        return ca.vertcat(A, 2 * A), ca.vertcat(B, B)

    with pytest.raises(SingularError, match="only 1 of the 2 rows"):
        kane(sleigh(), rows=twice)
    with pytest.raises(FormulationError, match="depend on time"):
        kane(sleigh(), rows=lambda t, q, p: (knife_edge(t, q, p)[0], ca.sin(t)))
    with pytest.raises(FormulationError, match="a row of A has 3"):
        kane(sleigh(), rows=lambda t, q, p: (ca.SX.ones(1, 2), ca.SX(1, 1)), dependent=(0,))
