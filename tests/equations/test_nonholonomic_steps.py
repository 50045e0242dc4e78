"""Derivations under speed rows: independent speeds, no multipliers, only sentences that hold."""

from __future__ import annotations

import re

import casadi as ca
import numpy as np
import pytest
import sympy as sp

from catena import Body, Joint, Mechanism, load
from catena.equations.formulations import derive
from catena.model.loads import JointForce, JointSpring, KnifeEdge, SpeedRow

PROJECTING = ("kane", "maggi", "jourdain", "variational", "gibbs_appell")


def wheel() -> Mechanism:
    """A disc that rolls upright along its heading: x' = R cos(h) s', y' = R sin(h) s'."""
    names = ("x", "y", "h", "s")
    axes = ((1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 1, 0))
    kinds = ("prismatic", "prismatic", "revolute", "revolute")
    bodies = ["ground", "a", "b", "c", "disc"]
    massless = {"mass": 0.0, "com": (0, 0, 0), "inertia": (0, 0, 0)}
    return Mechanism(
        "upright disc",
        (
            *(Body(b, **massless) for b in bodies[1:-1]),
            Body("disc", mass=2.0, com=(0, 0, 0), inertia=(0.1, 0.2, 0.1)),
        ),
        tuple(
            Joint(n, k, bodies[i], bodies[i + 1], axis=a)
            for i, (n, k, a) in enumerate(zip(names, kinds, axes))
        ),
        nonholonomic=(
            SpeedRow("along", "v_x - 0.5*cos(q_h)*v_s"),
            SpeedRow("across", "v_y - 0.5*sin(q_h)*v_s"),
        ),
    )


def final_rows(text: str) -> list[str]:
    """Return the equations under the last heading, each on one line."""
    block = text.rpartition("equations of motion\n")[2]
    block = re.sub(r"\n\s{4,}", " ", "\n" + block)
    return [x.strip() for x in block.splitlines() if "=" in x and re.match(r"^\S.*'", x.strip())]


def parsed(row: str) -> sp.Expr:
    """Return a printed row as left minus right, read by SymPy from its text alone."""
    row = re.sub(r"([A-Za-z_]\w*)\.([a-z])", r"\1_\2", row).replace("^", "**")
    row = row.replace("''", "_ddot").replace("'", "_dot")
    left, right = row.split("=")
    local = {x: sp.Symbol(x) for x in set(re.findall(r"[A-Za-z]\w*", row)) - {"sin", "cos"}}
    return sp.sympify(left, locals=local) - sp.sympify(right, locals=local)


@pytest.mark.parametrize("by", PROJECTING)
@pytest.mark.parametrize("mechanism", [load("knife_edge"), wheel()], ids=["sleigh", "disc"])
def test_printed_rows_are_the_kernel_s_motion(mechanism: Mechanism, by: str) -> None:
    """The printed kinematic equations and rows, read back from text, give the accelerations of the
    recursive formulation.
    """
    text = derive(mechanism, by).text()
    assert "lambda" not in text and "A R = 0" not in text
    block = text.partition("# generalised speeds\n")[2].partition("\n\n")[0]
    kinematic = [parsed(x) for x in block.splitlines()]
    names = [re.sub(r"\W", "_", n) for n in mechanism.speed_names]
    q, v = ([sp.Symbol(f"{n}{dots}") for n in names] for dots in ("", "_dot"))
    rows = [parsed(x) for x in final_rows(text)]
    p = len(rows)
    u, du = ([sp.Symbol(f"u{k + 1}{dots}") for k in range(p)] for dots in ("", "_dot"))
    speeds = [v[k] - x for k, x in enumerate(kinematic)]  # v as functions of q and u
    rng = np.random.default_rng(3)
    exact = derive(mechanism, "recursive").acceleration
    for _ in range(3):
        at = {s: float(x) for s, x in zip((*q, *u), rng.normal(size=len(q) + p))}
        tau = rng.normal(size=len(q))
        at |= {sp.Symbol(f"tau_{n}"): x for n, x in zip(names, tau)}
        now = [float(x.subs(at)) for x in speeds]
        M, r = sp.linear_eq_to_matrix([x.subs(at) for x in rows], du)
        rates = np.linalg.solve(np.array(M, float), np.array(r, float).ravel())
        a = [
            sum(sp.diff(x, qi).subs(at) * vi for qi, vi in zip(q, now))
            + sum(sp.diff(x, ui).subs(at) * d for ui, d in zip(u, rates))
            for x in speeds
        ]
        known = np.array(exact(0.0, [at[x] for x in q], now, tau, [])).ravel()
        assert np.allclose(np.array(a, float), known, rtol=0, atol=1e-9 * np.abs(known).max())


@pytest.mark.parametrize("by", PROJECTING)
def test_what_the_blade_forbids_is_not_among_the_partial_velocities(by: str) -> None:
    """Every partial velocity of the blade's point is along the blade."""
    steps = derive(load("knife_edge"), by).steps()
    assert "lambda" not in steps.text()
    kinematic = next(s for s in steps if s.title == "generalised speeds")
    x, y, _ = (line.values[0] for line in kinematic.lines)
    angle = sp.Symbol("plane_angle")
    for u in (sp.Symbol("u1_"), sp.Symbol("u2_")):
        across = -sp.sin(angle) * sp.diff(x, u) + sp.cos(angle) * sp.diff(y, u)
        assert sp.simplify(across) == 0


def test_own_speeds_and_dependent_ones_are_honoured() -> None:
    """Speeds along and across the blade, then the speed along y expressed by that along x."""

    def along_and_across(t, q, p):
        c, s = ca.cos(q[2]), ca.sin(q[2])
        W = ca.vertcat(ca.horzcat(s, c, 0), ca.horzcat(-c, s, 0), ca.horzcat(0, 0, 1))
        return W, ca.SX.zeros(3)

    sleigh = load("knife_edge")
    steps = derive(sleigh, "kane", speeds=along_and_across, dependent=(0,)).steps()
    text = steps.text()
    assert "plane.x' = cos(plane.angle)*u1" in text and "plane.angle' = u2" in text
    solved = derive(sleigh, "kane", dependent=(1,)).steps().text()
    assert "plane.x' = u1" in solved and "plane.y' = " in solved and "lambda" not in solved


def pendulum_with(*loads) -> Mechanism:
    return load("pendulum").with_(loads=loads)


def test_the_potential_says_what_has_one() -> None:
    """Springs stand in V and H; the sentence about gravity alone only where that is so."""
    name = load("pendulum").coordinate_names[0]
    spring = JointSpring("coil", name, stiffness=3.0, rest=0.2, damping=0.5)
    for by in ("lagrange", "hamilton"):
        plain = derive(load("pendulum"), by).steps()
        sprung = derive(pendulum_with(spring), by).steps()
        assert "gravity alone has a potential" in plain.text()
        assert "gravity alone" not in sprung.text()
        assert "Gravity and springs have a potential" in sprung.text()
        V = next(s for s in sprung if s.title == "potential energy").lines[0].values[0]
        q = sp.Symbol(name)
        extra = V - next(s for s in plain if s.title == "potential energy").lines[0].values[0]
        assert sp.simplify(sp.nsimplify(extra - 1.5 * (q - 0.2) ** 2)) == 0
    still = derive(load("pendulum").with_(gravity=(0, 0, 0)), "lagrange").steps().text()
    assert "No force here has a potential" in still


def test_loops_alone_are_cut_and_said_to_be() -> None:
    text = " ".join(derive(load("four_bar"), "kane").steps().text().split())
    assert "The loops are cut; A' lambda" in text
    assert "The loops are cut" not in derive(load("knife_edge"), "kane").steps().text()
    assert "constraints" not in derive(load("cart_pole"), "kane").steps().text()


def test_a_row_of_a_frame_reads_as_the_row_of_speeds() -> None:
    """The knife edge by its direction and by its text give the same printed rows."""
    sleigh = load("knife_edge")
    assert isinstance(sleigh.nonholonomic[0], KnifeEdge)
    text = "-sin(q_plane_angle)*v_plane_x + cos(q_plane_angle)*v_plane_y"
    other = sleigh.with_(nonholonomic=(SpeedRow("edge", text),))
    assert derive(sleigh, "kane").text() == derive(other, "kane").text()


@pytest.mark.parametrize(
    ("by", "sentence"),
    [
        ("hamilton", "p' = Q - dH/dx + A' lambda"),
        ("natural_coordinates", "forces of the other rows"),
    ],
)
def test_multipliers_are_said_to_be_there_only_where_they_are(by: str, sentence: str) -> None:
    def said(name: str) -> str:
        return " ".join(derive(load(name), by).steps().text().split())

    assert sentence in said("knife_edge") and "lambda1" in said("knife_edge")
    assert sentence not in said("cart_pole") and "lambda" not in said("cart_pole")


def said(mechanism: Mechanism, by: str) -> str:
    """Return the text of a derivation on one line."""
    return " ".join(derive(mechanism, by).steps().text().split())


def test_variations_obey_the_rows_as_everett_writes_them() -> None:
    """[Everett1988] eq. 21-24: variations of the speeds, virtual displacements and rotations."""
    text = said(load("knife_edge"), "variational")
    assert "delta plane.y' = sin(plane.angle)*d1" in text and "theta_sleigh = (0, 0, d2)" in text
    assert "delta v_sleigh" in said(load("knife_edge"), "jourdain")
    assert "(eq. 21)" not in said(load("cart_pole"), "variational")


def test_kane_has_the_table_of_partial_velocities() -> None:
    text = derive(load("knife_edge"), "kane").text()
    table = text.partition("# partial velocities\n")[2].partition("\n\n")[0].splitlines()
    assert table[0].split() == ["v_sleigh_r", "omega_sleigh_r"]
    assert table[1].startswith("u1") and table[1].endswith(" 0")
    assert table[2].endswith("(0, 0, 1)")
    assert r"\begin{array}" in derive(load("knife_edge"), "kane").latex()


def held_by_a_text(gravity=(0, -9.81, 0)) -> Mechanism:
    """A pendulum with a spring that is written as a text: whether it has a potential is not
    known.
    """
    m = load("pendulum")
    name = m.coordinate_names[0]
    return m.with_(loads=(JointForce("coil", name, f"-3*q_{name}"),), gravity=gravity)


@pytest.mark.parametrize(
    ("by", "sentence", "false_for"),
    [
        ("newton_euler", "equals its weight plus", load("cart_pole").with_(gravity=(0, 0, 0))),
        ("newton_euler", "minus the forces of the joints that it carries", load("pendulum")),
        ("newton_euler", "lambda are the forces of the contacts", load("cart_pole")),
        ("lagrange", "the rows of speeds once", load("four_bar")),
        ("kane", "those of loops are differentiated once", load("knife_edge")),
        ("variational", "The work of weights and motors", load("knife_edge")),
        ("lagrange", "gravity alone has a potential", held_by_a_text()),
        ("hamilton", "gravity alone has a potential", held_by_a_text()),
        ("lagrange", "No force here has a potential", held_by_a_text((0, 0, 0))),
        ("lagrange", "loads that are not in V", load("cart_pole")),
        ("lagrange", "dissipation function", held_by_a_text()),
        ("lagrange", "coordinates bring their rates", load("pendulum")),
        ("lagrange", "A' lambda is what the constraints do", load("cart_pole")),
        ("lagrange", "omega.I omega", load("pendulum")),
        ("lagrange", "Rotors add", load("pendulum")),
        ("lagrange", "omega x dT/domega is taken off", load("cart_pole")),
        ("lagrange", "of springs are part of the loads Q", load("cart_pole")),
        ("newton_euler", "loads add theirs", load("cart_pole")),
        ("newton_euler", "springs, dampers and rotors", load("cart_pole")),
        ("boltzmann_hamel", "three-index symbols vanish", load("knife_edge")),
        ("boltzmann_hamel", "gamma^s_", load("cart_pole")),
        ("kane", "of the 3 speeds are independent", load("cart_pole")),
        ("maggi", "The forces of the constraints have no part", load("cart_pole")),
        ("variational", "they satisfy all constraints", load("cart_pole")),
        ("kane", "omega_r along the axes of its body", load("cart_pole")),
        ("kane", "-(I alpha + omega x I omega)", load("cart_pole")),
    ],
)
def test_a_sentence_is_absent_where_it_is_false(by, sentence, false_for) -> None:
    assert sentence not in said(false_for, by)


@pytest.mark.parametrize(
    ("by", "sentence", "true_for"),
    [
        ("newton_euler", "equals its weight plus", "cart_pole"),
        ("newton_euler", "minus the forces of the joints that it carries", "cart_pole"),
        ("newton_euler", "lambda are the forces of the contacts", "knife_edge"),
        ("lagrange", "the rows of speeds once", "knife_edge"),
        ("variational", "The work of weights and motors", "cart_pole"),
        ("lagrange", "gravity alone has a potential", "cart_pole"),
        ("lagrange", "coordinates bring their rates", "cart_pole"),
        ("lagrange", "A' lambda is what the constraints do", "knife_edge"),
        ("lagrange", "omega.I omega", "knife_edge"),
        ("lagrange", "omega x dT/domega is taken off", "top"),
        ("boltzmann_hamel", "three-index symbols vanish", "cart_pole"),
        ("boltzmann_hamel", "gamma^s_", "knife_edge"),
        ("kane", "of the 3 speeds are independent", "knife_edge"),
        ("maggi", "The forces of the constraints have no part", "knife_edge"),
        ("variational", "they satisfy all constraints", "knife_edge"),
        ("kane", "omega_r along the axes of its body", "knife_edge"),
        ("kane", "-(I alpha + omega x I omega)", "knife_edge"),
    ],
)
def test_and_printed_where_it_is_true(by, sentence, true_for) -> None:
    assert sentence in said(load(true_for), by)


def test_dampers_have_a_dissipation_function() -> None:
    coil = JointSpring("coil", load("pendulum").coordinate_names[0], 3.0, rest=0.0, damping=0.5)
    found = said(pendulum_with(coil), "hamilton")
    assert "Q = -dD/dv" in found and "D = -sum of Q v/2 = 1/4*pivot'^2" in found


def test_springs_and_rotors_are_named_where_they_act_along_a_freedom() -> None:
    coil = JointSpring("coil", load("pendulum").coordinate_names[0], stiffness=3.0, rest=0.0)
    assert "springs, dampers and rotors" in said(pendulum_with(coil), "newton_euler")
    assert "springs, dampers and rotors" not in said(load("pendulum"), "newton_euler")


def test_a_rolling_disc_is_three_equations_in_euler_angles() -> None:
    """Kane's rows of the disc, read back from text, give the accelerations of the kernel with its
    quaternion: the spatial acceleration of the disc at the same state.
    """
    disc = load("rolling_disc")
    text = derive(disc, "kane").text()
    assert "Piecewise" not in text and "0.99999" not in text and "sqrt" not in text
    rows = [parsed(x) for x in final_rows(text)]
    assert len(rows) == 3
    rng = np.random.default_rng(8)
    psi, theta, phi = rng.normal(size=3) * (1.0, 0.5, 1.0)
    u = rng.normal(size=3)
    at = dict(zip(sp.symbols("psi theta phi u1 u2 u3"), (psi, theta, phi, *u)))
    at |= {sp.Symbol(f"tau_{n}"): 0.0 for n in ("x", "y", "z", "psi", "theta", "phi")}
    at[sp.Symbol("g")] = 9.81
    M, r = sp.linear_eq_to_matrix([x.subs(at) for x in rows], sp.symbols("u1_dot u2_dot u3_dot"))
    du = np.linalg.solve(np.array(M, float), np.array(r, float).ravel())

    # the same by hand: R = Rz(psi) Rx(theta) Ry(phi), omega in the body's axes
    def spin(theta, phi, u):
        c, s = np.cos, np.sin
        return np.array(
            [
                -s(phi) * c(theta) * u[0] + c(phi) * u[1],
                s(theta) * u[0] + u[2],
                c(phi) * c(theta) * u[0] + s(phi) * u[1],
            ]
        )

    h = 1e-5
    alpha = (
        spin(theta + h * u[1], phi + h * u[2], u + h * du)
        - spin(theta - h * u[1], phi - h * u[2], u - h * du)
    ) / (2 * h)
    half = [
        np.array([np.cos(a / 2), *(np.sin(a / 2) * np.array(x))])
        for a, x in ((psi, (0, 0, 1)), (theta, (1, 0, 0)), (phi, (0, 1, 0)))
    ]

    def times(a, b):
        vector = a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])
        return np.array([a[0] * b[0] - a[1:] @ b[1:], *vector])

    Q = times(times(half[0], half[1]), half[2])
    c, s = np.cos, np.sin
    v = 0.5 * np.array(
        [
            s(theta) * c(psi) * u[0] + s(psi) * c(theta) * u[1] + c(psi) * u[2],
            s(psi) * s(theta) * u[0] - c(psi) * c(theta) * u[1] + s(psi) * u[2],
            -s(theta) * u[1],
        ]
    )
    q = [0.0, 0.0, 0.5 * np.cos(theta), *Q]
    exact = derive(disc, "recursive").acceleration
    known = np.array(exact(0.0, q, [*v, *spin(theta, phi, u)], np.zeros(6), [])).ravel()
    assert np.allclose(alpha, known[3:], rtol=0, atol=1e-7 * np.abs(known).max())
