"""The classics that are built in: one physical number of each, from a closed form or by a second
road.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipk

import catena
from catena import compile, load, simulate
from catena.simulation.scenario import read

G = 9.81


def run(name: str, **changes):
    """The scenario of an example, with some of its options changed."""
    asked = read(name)
    return simulate(asked.mechanism, **{**asked.arguments, **changes})


def at_end(result, frame: str) -> np.ndarray:
    """The place of a frame in the last row, m."""
    return compile(result.mechanism).pose(result.q[-1], frame)[:3, 3]


def meet(p, r, q, s, side):
    """Where circles about p and q of radii r and s meet: to the left (1) or right (-1) of the line
    from p to q.
    """
    d = np.subtract(q, p)
    n = np.hypot(*d)
    x = (r * r - s * s + n * n) / (2 * n)
    return p + x / n * d + side * math.sqrt(r * r - x * x) / n * np.array([-d[1], d[0]])


def path_of(name: str, crank: str, frame: str, angles) -> np.ndarray:
    """The path of a frame of a linkage while its crank goes through angles, (angles, 2) m."""
    asked = read(name)
    machine = compile(asked.mechanism)
    q = asked.q.copy()
    found = []
    k = machine.coordinate_names.index(crank)
    for angle in angles:
        q[k] = angle
        q, _ = catena.assemble(machine, q, fixed=[crank])
        found.append(machine.pose(q, frame)[:2, 3])
    return np.array(found)


# --- pendulums
def test_pendulum_has_the_period_of_large_swings():
    period = 4 * math.sqrt(1 / G) * ellipk(math.sin(math.pi / 4) ** 2)
    result = run("pendulum", until=period)
    assert result.q[-1, 0] == pytest.approx(math.pi / 2, abs=1e-8) and result.v[
        -1, 0
    ] == pytest.approx(0, abs=1e-7)


def test_double_pendulum_has_the_two_frequencies_of_the_textbook():
    expected = np.sqrt(G * (2 + np.array([-1, 1]) * math.sqrt(2)))
    np.testing.assert_allclose(
        catena.modes(load("double_pendulum")).frequencies, expected, rtol=1e-12
    )


def test_cart_pole_falls_at_its_rate():
    poles = catena.linearize(load("cart_pole"), [0, 0]).poles
    assert max(poles.real) == pytest.approx(math.sqrt(1.2 * G / 0.5), rel=1e-10)


def test_furuta_pendulum_swings_with_a_free_arm():
    r, l, m, J, I = 0.2, 0.15, 0.1, 0.002, 0.0007
    expected = math.sqrt(m * G * l / (I + m * l**2 - (m * r * l) ** 2 / (J + m * r**2)))
    assert max(catena.modes(load("furuta_pendulum")).frequencies) == pytest.approx(
        expected, rel=1e-10
    )


def test_spherical_pendulum_keeps_to_its_circle():
    circle = math.sqrt(G / math.cos(math.pi / 3))
    result = run("spherical_pendulum", v=[circle, 0.0], until=3.0)
    np.testing.assert_allclose(result.q[:, 1], math.pi / 3, atol=1e-9)
    assert result.q[-1, 0] == pytest.approx(3 * circle, rel=1e-9)


def test_foucault_pendulum_turns_with_the_sine_of_the_latitude():
    """The plane of swing, from the moments of the path in the room over the last swings, after ten
    minutes.
    """
    result = run("foucault_pendulum", output=0.05)
    machine = compile(result.mechanism)
    last = result.q[result.time > 600 - 16.422]
    p = machine.pose(last, "bob centre")[:, :3, 3]
    room = machine.pose(last, "room")[:, :3, :3]
    x, y, _ = np.einsum("tji,tj->it", room, p)
    turned = 0.5 * math.atan2(2 * (x * y).mean(), (x * x - y * y).mean())
    expected = -7.292115e-5 * math.sin(math.radians(48.85)) * (600 - 16.422 / 2)
    assert turned == pytest.approx(expected, rel=0.02)


def test_bead_rests_where_the_hoop_holds_it():
    still = run("bead_on_hoop", q=[0, math.pi / 3], until=1.0)
    np.testing.assert_allclose(still.q[:, 1], math.pi / 3, atol=1e-9)
    period = 2 * math.pi / (math.sqrt(2 * G / 0.5) * math.sin(math.pi / 3))
    near = run("bead_on_hoop", q=[0, math.pi / 3 + 1e-4], until=period)
    assert near.q[-1, 1] - math.pi / 3 == pytest.approx(1e-4, rel=1e-3)


# --- tops, wheels, stones
def test_top_precesses_without_nutation():
    result = run("top", until=math.pi)  # W = 2 rad/s: one whole round
    height = compile(result.mechanism).pose(result.q, "handle")[:, 2, 3]
    np.testing.assert_allclose(height, 0.12 * math.cos(math.pi / 6), atol=1e-9)
    np.testing.assert_allclose(
        at_end(result, "handle"),
        compile(result.mechanism).pose(result.q[0], "handle")[:3, 3],
        atol=1e-8,
    )


def test_gyroscope_walks_round_and_does_not_fall():
    result = run("gyroscope", until=5.0)
    np.testing.assert_allclose(result.q[:, 1], 0, atol=1e-9)
    assert result.q[-1, 0] == pytest.approx(5 * 0.05 * G * 0.1 / 0.2, rel=1e-9)


def test_atwood_machine_accelerates():
    expected = -0.2 * G / (2.2 + 0.002 / 0.1**2)
    assert run("atwood_machine", until=1.0).q[-1, 0] * 0.1 == pytest.approx(expected / 2, rel=1e-9)


def test_sphere_rolls_down_with_five_sevenths():
    result = run("rolling_sphere", until=1.0)
    assert result.q[-1, 0] == pytest.approx(5 / 14 * G * math.sin(math.radians(20)), rel=1e-9)


def test_bicycle_weaves_below_and_capsizes_above():
    """The published speeds between which it is stable, 4.292 and 6.024 m/s."""

    def grows(speed):
        m = load("bicycle")
        machine = compile(m)
        names = list(machine.speed_names)
        v = np.zeros(machine.nv)
        q = np.zeros(machine.nq)
        q[2] = 0.3
        v[0], v[names.index("rear axle")], v[names.index("front axle")] = (
            speed,
            speed / 0.3,
            speed / 0.35,
        )
        poles = catena.linearize(machine, q, v).poles
        return max(p.real for p in poles if abs(p) > 1e-3) > 0

    assert grows(4.28) and not grows(4.30) and not grows(6.01) and grows(6.04)


def test_rattleback_turns_back_as_an_independent_program_says():
    """The same stone by Newton and Euler at its centre of mass with the force at the contact as
    unknown, integrated by SciPy.
    """
    a2 = np.array([0.2, 0.03, 0.02]) ** 2
    I = np.array([[2e-4, -2e-5, 0], [-2e-5, 1.6e-3, 0], [0, 0, 1.7e-3]])
    c = np.array([0, 0, -0.01])

    def rates(_, y):
        # the vertical and the angular velocity in the body's axes
        n = y[:3]
        w = y[3:]
        s = math.sqrt(a2 @ n**2)
        r = c + a2 * n / s  # from the contact to the centre of mass
        dn = np.cross(n, w)
        dr = a2 * (dn / s - n * (a2 @ (n * dn)) / s**3)
        # about the contact; acceleration of c = w' x r + w x r' + w x (w x r)
        inertia = I + (r @ r) * np.eye(3) - np.outer(r, r)
        rest = np.cross(w, dr) + np.cross(w, np.cross(w, r)) + G * n
        dw = np.linalg.solve(inertia, -np.cross(w, I @ w) - np.cross(r, rest))
        return np.concatenate([dn, dw])

    result = run("rattleback", until=4.0)
    w0 = result.v.values[0, 3:]
    q = result.q.values[0, 3:]
    n0 = [
        2 * (q[1] * q[3] - q[0] * q[2]),
        2 * (q[2] * q[3] + q[0] * q[1]),
        q[0] ** 2 - q[1] ** 2 - q[2] ** 2 + q[3] ** 2,
    ]
    theirs = solve_ivp(rates, (0, 4), [*n0, *w0], rtol=1e-11, atol=1e-13, method="DOP853").y[3:, -1]
    np.testing.assert_allclose(result.v[-1, 3:], theirs, atol=1e-6)
    # it was spun the wrong way, and has turned back
    assert result.v[0, 5] < -4 < 0 < result.v[:, 5].max()


# --- machines
def test_acrobot_hangs_with_the_frequencies_of_its_matrices():
    M22 = 0.33 + 1.0
    M12 = M22 + 1.0
    M11 = 0.083 + 0.25 + 1 + M22 + 2.0
    K = G * np.array([[0.5 + 1 + 1, 1], [1, 1]])
    squares = np.sort(np.linalg.eigvals(np.linalg.solve([[M11, M12], [M12, M22]], K)).real)
    m = load("acrobot")
    np.testing.assert_allclose(catena.modes(m.with_(loads=())).squares, squares, rtol=1e-10)


def test_load_below_a_quadrotor_swings_faster_than_on_a_hook():
    held = load("quadrotor_with_load")
    machine = compile(held)
    poles = catena.linearize(machine, [0, 0, 2, 1, 0, 0, 0, 0, 0]).poles
    assert np.abs(np.abs(poles.imag) - math.sqrt(1.3 * G / 0.8)).min() < 1e-6


def test_trebuchet_throws_as_an_independent_program_says():
    """Three masses on arms at absolute angles (beam, hanger, sling), their accelerations by J and
    its rate, integrated by SciPy.
    """
    masses = (
        (120, ((-2.25, 0, 0.0),)),
        (2000, ((1.5, 0, 0.0), (1.2, 1, -math.pi / 2))),
        (15, ((-6.0, 0, 0.0), (5.0, 2, 0.0))),
    )

    def rates(_, y):
        q, v = y[:3], y[3:]
        M = np.diag([560.0, 0, 0])
        f = np.zeros(3)
        for m, arms in masses:
            J = np.zeros((2, 3))
            rest = np.array([0, G])
            for r, k, turned in arms:
                x = q[k] + turned
                J[:, k] += r * np.array([-math.sin(x), math.cos(x)])
                rest -= r * v[k] ** 2 * np.array([math.cos(x), math.sin(x)])
            M = M + m * J.T @ J
            f = f - m * J.T @ rest
        return np.concatenate([v, np.linalg.solve(M, f)])

    def opens(_, y):
        return y[2] + 3.742

    opens.terminal = True
    theirs = solve_ivp(
        rates,
        (0, 3),
        [math.radians(50), 0, 0, 0, 0, 0],
        events=opens,
        rtol=1e-12,
        atol=1e-12,
        method="DOP853",
    )
    a, _, c, da, _, dc = theirs.y[:, -1]
    thrown = 6 * da * np.array([math.sin(a), -math.cos(a)]) + 5 * dc * np.array(
        [-math.sin(c), math.cos(c)]
    )
    ours = run("trebuchet")
    machine = compile(ours.mechanism)
    assert ours.data["event"].values[-1] == "the sling opens" and ours.time[-1] == pytest.approx(
        theirs.t[-1], rel=1e-9
    )
    np.testing.assert_allclose(
        machine.jacobian(ours.q[-1], "stone centre")[3:5] @ ours.v.values[-1], thrown, rtol=1e-8
    )
    assert math.degrees(math.atan2(thrown[1], thrown[0])) == pytest.approx(45, abs=0.1)
    assert machine.pose(ours.q.values, "stone centre")[:, 1, 3].min() > 0  # it clears the ground
    fall = 2000 * G * (lambda y: y[0] - y[-1])(machine.pose(ours.q, "counterweight")[:, 1, 3])
    assert 0.3 < 0.5 * 15 * thrown @ thrown / fall < 0.9


def test_differential_gives_both_wheels_the_same_torque():
    """T/2 each, less what speeds up the carrier: w' of left and right as 1 to 10."""
    result = run("differential", until=1.0)
    left, right = 8.0, 0.8
    # carrier's acceleration for a torque S/2 in each wheel, S = 1
    mean = 0.5 * (1 / left + 1 / right) / 2
    S = 50 / (1 + 0.1 * mean)
    np.testing.assert_allclose(result.v[-1], [S * mean, S / 2 / left, S / 2 / right], rtol=1e-9)


def test_arm_held_level_needs_what_its_weights_say():
    m = load("human_arm")
    machine = compile(m)
    q = machine.neutral()
    q[:4] = [math.sqrt(0.5), 0, -math.sqrt(0.5), 0]
    moment = G * (
        1.978 * 0.162 + 1.183 * (0.28 + 0.114) + 0.445 * (0.53 + 0.068) + 2 * (0.53 + 0.08)
    )
    assert np.linalg.norm(machine.gravity(q)[:3]) == pytest.approx(math.hypot(moment, 0), rel=1e-12)


def test_reaction_wheel_turns_the_hull_the_other_way():
    result = run("reaction_wheels", until=10.0)
    hull = 8 + 0.02 + 2 * 0.01
    np.testing.assert_allclose(result.v[:, 5], -0.02 / hull * result.v[:, 8], rtol=1e-8, atol=1e-12)
    assert abs(result.v[-1, 5]) > 1e-2


# --- linkages
def test_watt_linkage_draws_a_straight_line():
    path = path_of("watt_linkage", "left pin", "tracer", np.radians(np.linspace(-13.5, 13.5, 28)))
    assert abs(path[:, 0]).max() < 1e-3 and path[-1, 1] - path[0, 1] > 0.45


def test_stephenson_linkage_lies_where_circles_meet():
    angles = np.radians(np.arange(90, 440, 30))
    path = path_of("stephenson_linkage", "A", "output", angles)
    np.testing.assert_allclose(path, [[0.48, 0.05]] * len(angles), atol=1e-12)
    asked = read("stephenson_linkage")
    machine = compile(asked.mechanism)
    B = np.array([0, 0.1])
    C = meet(B, 0.3, np.array([0.28, 0]), 0.25, 1)
    D = B + np.array([[0, -1], [1, 0]]) @ (C - B) / 2 + (C - B) / 2
    E = meet(D, 0.3, np.array([0.48, 0.05]), 0.25, 1)
    ours = machine.pose(asked.q, "output")[:3] @ [0.25, 0, 0, 1]
    np.testing.assert_allclose(ours[:2], E, atol=1e-9)


def test_klann_linkage_walks():
    angles = np.radians(np.arange(90, 450, 10))
    A = np.zeros(2)
    B = np.array([-38.8, -12.5])
    D = np.array([-14.6, 41.9])

    def foot(angle):
        C = A + 17.5 * np.array([math.cos(angle), math.sin(angle)])
        H = meet(B, 23.7, C, 38.8, 1)
        F = meet(C, 73.4, H, 35.2, 1)
        E = meet(D, 34.1, F, 57.7, -1)
        return meet(E, 111.7, F, 59.0, 1)

    expected = np.array([foot(angle) for angle in angles]) / 100
    np.testing.assert_allclose(path_of("klann_linkage", "A", "foot", angles), expected, atol=1e-9)
    assert np.ptp(expected[:, 0]) == pytest.approx(0.741, abs=2e-3)  # its stride


def test_jansen_linkage_walks():
    angles = np.radians(np.arange(90, 450, 10))
    P = np.array([-38, -7.8])

    def foot(angle):
        C = 15 * np.array([math.cos(angle), math.sin(angle)])
        J1 = meet(P, 41.5, C, 50, 1)
        J2 = meet(P, 39.3, C, 61.9, -1)
        J4 = meet(meet(P, 40.1, J1, 55.8, 1), 39.4, J2, 36.7, -1)
        return meet(J2, 49, J4, 65.7, 1)

    expected = np.array([foot(angle) for angle in angles]) / 100
    np.testing.assert_allclose(path_of("jansen_linkage", "O", "foot", angles), expected, atol=1e-9)


def test_stewart_platform_has_six_freedoms_and_six_equal_legs():
    m = load("stewart_platform")
    assert catena.mobility(m).degrees_of_freedom == 6
    plate = m.with_(
        bodies=tuple(
            b if b.name == "plate" else catena.Body(b.name, 1e-9, (0, 0, 0), (1e-12,) * 3)
            for b in m.bodies
        )
    )
    machine = compile(plate)
    rest = np.zeros(machine.nv)
    legs = [f"leg {k}" for k in range(1, 7)]
    tau = catena.analysis.inverse_dynamics(machine, machine.neutral(), rest, rest, actuated=legs)
    length = 1.3524716657845601
    np.testing.assert_allclose(tau.tau[tau.tau != 0], [20 * G / 6 * length / 1.2] * 6, rtol=1e-6)


def test_rssr_linkage_obeys_the_length_of_its_rod():
    result = run("rssr_linkage", until=0.5)
    assert catena.mobility(result.mechanism, result.q[0]).degrees_of_freedom == 2
    crank, rocker = (
        result.q[:, compile(result.mechanism).coordinate_names.index(n)]
        for n in ("crank shaft", "rocker shaft")
    )
    a = np.stack([0.1 * np.cos(crank), 0.1 * np.sin(crank), 0 * crank])
    b = np.stack([0.5 + 0.3 * np.sin(rocker), 0.05 + 0 * rocker, -0.25 + 0.3 * np.cos(rocker)])
    np.testing.assert_allclose(np.linalg.norm(a - b, axis=0), 0.6, atol=1e-9)


def test_cardan_shaft_runs_unevenly():
    """Between cos(30 deg) and its inverse."""
    result = run("cardan_shaft", until=1.0)
    machine = compile(result.mechanism)
    axis = np.array([0, math.sin(math.pi / 6), math.cos(math.pi / 6)])
    driven = np.array(
        [
            axis @ (machine.jacobian(q, "driven")[:3] @ v)
            for q, v in zip(result.q.values, result.v.values)
        ]
    )
    ratio = driven / result.v.values[:, 0]
    b = math.pi / 6
    theta = result.q.values[:, 0]
    np.testing.assert_allclose(
        ratio, math.cos(b) / (1 - (math.sin(b) * np.sin(theta)) ** 2), rtol=1e-7
    )


def test_engine_shakes_less_with_its_counterweight():
    """At the dead centre: w^2 r ((m + mr/3)(1 + r/l) - balance)."""
    asked = read("balanced_engine")
    machine = compile(asked.mechanism)
    w = 3000 * math.pi / 30
    _, a = catena.hybrid_dynamics(machine, asked.q, asked.v, motion={"shaft": 0.0})
    m = {"crank": 2.0, "rod": 0.3, "piston": 0.5}
    com = {"crank": (-0.04 * 0.5 / 2, 0, 0), "rod": (0.14 / 3, 0, 0), "piston": (0, 0, 0)}
    shake = 0.0
    for body, mass in m.items():
        frame = asked.mechanism.with_(
            frames=(
                *asked.mechanism.frames,
                catena.Frame("c", body, catena.Pose(position=com[body])),
            )
        )
        at = compile(frame)
        shake += mass * (at.jacobian(asked.q, "c") @ a + at.jacobian_rate(asked.q, asked.v, "c"))[3]
    assert -shake == pytest.approx(w**2 * 0.04 * (0.6 * (1 + 40 / 140) - 0.3), rel=1e-9)
