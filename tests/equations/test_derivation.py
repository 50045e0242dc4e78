"""Derivations step by step: every line holds, the last is the equation of motion, and a wrong line
is never shown.
"""

from __future__ import annotations

import json
from importlib import import_module

import casadi as ca
import numpy as np
import pytest
import sympy as sp

from catena import Body, CatenaError, Joint, Mechanism, Pose, load
from catena.equations.formulations import derive
from catena.errors import FormulationError
from catena.teaching.derivation import DERIVATIONS, derivation
from catena.teaching.derivation.answers import grade
from catena.teaching.derivation.board import Board
from catena.teaching.derivation.comparison import Comparison
from catena.teaching.derivation.steps import Label

QUICK = ("pendulum", "cart_pole", "spherical_pendulum", "atwood_machine")


@pytest.fixture(scope="module")
def cart_pole():
    return derive(load("cart_pole"), "lagrange").steps()


def ways():
    return [(name, by) for name in QUICK for by in DERIVATIONS]


@pytest.mark.parametrize(("name", "by"), ways())
def test_every_line_is_checked(name: str, by: str) -> None:
    found = derive(load(name), by).steps()
    assert 0 <= found.error < 1e-9 and all(step.lines and step.why.endswith(".") for step in found)
    assert max(map(len, found.text().splitlines())) <= 110
    source = found.latex()
    assert source.count("{") == source.count("}") and source.count(r"\left") == source.count(
        r"\right"
    )


def test_the_cart_pole_is_the_textbook_s(cart_pole) -> None:
    """The textbook's form without friction, derived by hand, with theta the other way round."""
    M, m, l, g, theta, w, a, b, F, tau = sp.symbols(
        "M m l g theta theta_dot x_ddot theta_ddot tau_x tau_theta"
    )
    rows = list(cart_pole.steps[-1].lines)
    found = [sp.Add(*(t.value for t in row.left)) - row.values[0] for row in rows]
    printed = [
        (M + m) * a - m * l * b * sp.cos(theta) + m * l * w**2 * sp.sin(theta) - F,
        m * l**2 * b - m * l * a * sp.cos(theta) - m * g * l * sp.sin(theta) - tau,
    ]
    assert [sp.expand(x - y) for x, y in zip(found, printed)] == [0, 0]


def test_a_wrong_line_is_not_shown() -> None:
    board = Board(derive(load("pendulum"), "lagrange"))
    wrong = board.s.v * ca.sin(board.s.q)
    with pytest.raises(
        FormulationError,
        match="speed of 'pendulum' by lagrange differs by .* the derivation is not shown",
    ):
        board.line(Label("speed", "v"), wrong, board.s.v)


def test_text_of_kane_has_partial_velocities_and_no_intermediates() -> None:
    assert (
        derive(load("cart_pole"), "kane").text()
        == """\
# partial velocities
         v_cart_r    v_pole_r
x'       (1, 0, 0)   (1, 0, 0)
theta'   0           (-l*cos(theta), -l*sin(theta), 0)

# generalised active forces
F_x = sum of v_r . m g + tau = tau_x
F_theta = sum of v_r . m g + tau = tau_theta + g*l*m*sin(theta)

# generalised inertia forces
F*_x = -sum of v_r . m a = -(M + m)*x'' + l*m*cos(theta)*theta'' - l*m*sin(theta)*theta'^2
F*_theta = -sum of v_r . m a = l*m*cos(theta)*x'' - l^2*m*theta''

# equations of motion
(M + m)*x'' - l*m*cos(theta)*theta'' + l*m*sin(theta)*theta'^2 = tau_x
-l*m*cos(theta)*x'' + l^2*m*theta'' = tau_theta + g*l*m*sin(theta)"""
    )


def test_newton_euler_names_the_reactions() -> None:
    text = derive(load("cart_pole"), "newton_euler").text()
    assert (
        "M*x'' = Fx_x - Fx_theta" in text and "Tz_theta = tau_theta" in text and "1.2" not in text
    )


def test_the_same_text_twice() -> None:
    assert len({derive(load("double_pendulum"), "lagrange").text() for _ in range(2)}) == 1


def test_worksheet_page_and_notebook(cart_pole) -> None:
    blank = cart_pole.text(blank=True)
    assert "(3.1)  T = sum of m v^2/2 = ________" in blank and "cos(theta)" not in blank
    page = cart_pole.html()
    assert (
        "<h2>3. kinetic energy</h2>" in page
        and page.count("<math") >= 16
        and "<summary>as text</summary><pre>T = sum of m v^2/2" in page
    )
    cells = json.loads(cart_pole.notebook("cart_pole"))["cells"]
    assert [c["cell_type"] for c in cells] == ["markdown"] * (1 + len(cart_pole)) + ["code"]
    # the cell that derives it anew runs as it stands
    exec(compile(cells[-1]["source"], "notebook", "exec"), {})


def test_worksheets_say_with_what_and_number_every_line(cart_pole) -> None:
    """A student with any of the three forms knows the symbols, and by which number a line is
    graded.
    """
    for written in (cart_pole.text(blank=True), cart_pole.html(blank=True)):
        assert (
            "coordinates x, theta; speeds x" in written
            and "parameters M, m, l, g. " in written.replace("\n", " ")
            and "(8.2)" in written
        )
    source = cart_pole.latex(blank=True)
    assert (
        r"coordinates $x$, $\theta$; speeds $\dot{x}$" in source
        and r"\tag{3.1}" in source
        and source.count(r"\tag{") == sum(len(s.lines) for s in cart_pole)
    )


def test_a_page_without_the_converter_has_text(cart_pole, monkeypatch) -> None:
    monkeypatch.setattr(
        import_module("catena.teaching.derivation.pages"), "find_spec", lambda name: None
    )
    assert "<math" not in cart_pole.html() and "<pre>T = sum of m v^2/2" in cart_pole.html()


@pytest.mark.parametrize("by", ["kane", "maggi", "udwadia_kalaba"])
@pytest.mark.parametrize("length", [1e-6, 1e6])
def test_axes_askew_leave_no_rounding_behind(by: str, length: float) -> None:
    """What vanishes but for the digits of an axis, such as the velocity of a centre of mass on it,
    is zero: neither shown nor taken for a fault.
    """
    n = np.array([0.65804089, 0.0, 0.75298344])
    bodies = [
        Body("wheel", 2.0, (0, 0, 0), tuple([0.3 * length**2] * 3)),
        Body("disc", 2.0, tuple(0.3 * length * n), tuple([0.1 * length**2] * 3)),
    ]
    joints = [
        Joint("spin", "revolute", "ground", "wheel", Pose.rpy(0.3, 0.2, 0.1), axis=(1, 2, 3)),
        Joint("turn", "revolute", "wheel", "disc", axis=tuple(n)),
    ]
    for m in (
        Mechanism("askew", bodies, joints),
        Mechanism("one", bodies[1:], [Joint("turn", "revolute", "ground", "disc", axis=tuple(n))]),
    ):
        found = derive(m, by).steps()
        numbers = [
            abs(float(x))
            for step in found
            for line in step.lines
            for terms in line.right
            for term in terms
            for x in sp.sympify(term.coefficient).atoms(sp.Float)
        ]
        assert found.error < 1e-9 and not [x for x in numbers if x < 1e-9 * min(1.0, length**2)]


@pytest.mark.parametrize(
    ("name", "by"),
    [("cardan_shaft", "kane"), ("differential", "lagrange"), ("balanced_engine", "udwadia_kalaba")],
)
def test_bodies_that_turn_in_place_are_no_fault(name: str, by: str) -> None:
    """Their centres of mass stand still: zero by one route, and by finite differences zero too, not
    what rounding leaves.
    """
    assert derive(load(name), by).steps().error < 1e-9


def test_a_wrong_line_is_caught_at_every_scale() -> None:
    for length in (1e-6, 1.0, 1e6):
        board = Board(
            derive(
                Mechanism(
                    "rod",
                    [Body("rod", 1.0, (length, 0, 0), (0, length**2, length**2))],
                    [Joint("pin", "revolute", "ground", "rod", axis=(0.6, 0, 0.8))],
                ),
                "kane",
            )
        )
        v = length * ca.vertcat(board.s.v, 0, 0)
        with pytest.raises(FormulationError, match="by another route"):
            board.line(Label("v", "v"), v, v * (1 + 1e-8))


def test_two_ways_side_by_side_and_which_terms_correspond(cart_pole) -> None:
    both = Comparison(cart_pole, derivation(derive(load("cart_pole"), "kane")))
    table = {c.left.text: c.right.text for c in both.correspondences}
    assert (
        table["F*_theta"] == "dT/dtheta - d/dt dT/dtheta'"
        and table["F_theta"] == "tau_theta - dV/dtheta"
    )
    assert both.html().count('class="same"') == 4  # positions and velocities, in both columns
    assert (
        "F*_theta = dT/dtheta - d/dt dT/dtheta'" in both.text()
        and r"F^{*}_{\theta} &= " in both.latex()
    )
    assert len(json.loads(both.notebook())["cells"]) == 1 + len(both.one) + len(both.two) + 4


def test_quasi_coordinates_of_a_plane_chain_are_inertial() -> None:
    """[Quinn1991] eq. 24a: in inertial angular velocities the row of a link has the moments of its
    two joints, M1 - M2; no three-index symbol is left in the plane.
    """
    text = derive(load("double_pendulum"), "boltzmann_hamel").text()
    assert "w2 = theta1' + theta2'" in text and "= tau_theta1 - tau_theta2" in text
    assert "gamma" not in text and "w1*w2" not in text.rpartition("# equations of motion")[2]


def test_three_index_symbols_of_a_ball_and_of_a_blade() -> None:
    """Euler's equations: gamma^3_12 = 1 and its cyclic partners. Chaplygin's sleigh: w3, which is
    zero, still enters through dT/dw3.
    """
    top = " ".join(derive(load("top"), "boltzmann_hamel").steps().text().split())
    assert "gamma3_12 = 1 gamma2_13 = -1 gamma1_23 = 1" in top
    sleigh = derive(load("knife_edge"), "boltzmann_hamel").text()
    assert "gamma3_12 = -1" in sleigh and "dT/dw3 = 0.3*w2" in sleigh
    assert "w1' - 0.3*w2^2 =" in sleigh and "lambda" not in sleigh and "Piecewise" not in sleigh


@pytest.mark.parametrize(
    "answer",
    [
        (
            r"\begin{pmatrix}\dot x - l\cos\theta\dot\theta \\ -l\sin\theta\dot\theta \\"
            r" 0\end{pmatrix}"
        ),
        r"\left(\dot x - l\cos\theta\dot\theta, -l\sin\theta\dot\theta, 0\right)",
    ],
)
def test_vectors_in_latex(cart_pole, answer: str) -> None:
    assert grade(cart_pole, "2.2", answer).right
    assert grade(cart_pole, "2.2", answer.replace("-l", "l")).remarks == (
        "y: the term of theta' has the wrong sign",
    )


def test_motion_is_observed_by_another_route() -> None:
    """A velocity that the kernels would let pass is caught by finite differences of poses."""
    board = Board(derive(load("pendulum"), "lagrange"))
    with pytest.raises(FormulationError, match="by another route"):
        board.line(
            Label("v", "v"),
            ca.vertcat(board.s.v, 0, 0),
            ca.vertcat(board.s.v, 0, 0),
            seen=2 * board.numbers(ca.vertcat(board.s.v, 0, 0)),
        )


@pytest.mark.parametrize(
    "answer",
    [
        "x'^2*(M + m)/2 - m*l*cos(theta)*x'*theta' + m*l^2*theta'^2/2",
        "0.5*(M + m)*x_dot**2 - l*m*cos(theta)*theta_dot*x_dot + l^2*m*theta_dot**2/2",
        (
            r"\frac{1}{2}(M+m)\dot{x}^2 - m l \cos\theta \, \dot{x}\dot{\theta} + \frac{m"
            r" l^{2}}{2}\dot{\theta}^{2}"
        ),
        (
            r"T = \frac12 (M+m) \dot x^2 - ml \dot x \dot\theta \cos\theta + \tfrac12 m l^2"
            r" \dot\theta^2"
        ),
        (
            r"$\frac{1}{2}m(\dot{x}^2 - 2l\dot{x}\dot{\theta}\cos(\theta) + l^2\dot{\theta}^2) +"
            r" \frac{1}{2}M\dot{x}^2$"
        ),
        "½(M+m)ẋ² - m·l·cos(θ)·ẋ·θ̇ + ½ml²θ̇²",
        "1/2 (M + m) x'^2 - m l cos theta x' theta' + 1/2 m l^2 theta'^2",
        (
            r"\frac{M + m}{2} \dot{x}^{2} - l m \cos{\left(\theta \right)} \dot{\theta} \dot{x} +"
            r" \frac{1}{2} m l^2 \dot{\theta}^2"
        ),
        "½ M ẋ² + ½ m ((ẋ − l θ̇ cos θ)² + l² θ̇² sin²θ)",
        "M*x'^2/2 + m/2*((x' - l*theta'*cos(theta))^2 + l^2*theta'^2*sin^2(theta))",
        "(M+m)/2 x'^2 - mlx'theta'cos(theta) + ml^2theta'^2/2",
        "(M+m)/2 x'x' - mlcos(theta)x'theta' + ml^2 theta'theta'/2",
        "0.5*(M+m)*x_dot**2 - m*l*np.cos(theta)*theta_dot*x_dot + 0.5*m*l**2*theta_dot**2",
        (
            r"\[ \frac12 (M+m)\dot x^2 - ml\dot x\dot\theta\cos\left[\theta\right] + \frac12"
            r" ml^2\dot\theta^2 \]"
        ),
        (
            r"\begin{align*} T &= \frac12 (M+m)\dot x^2 \\ &\quad - ml\dot x\dot\theta\cos\theta +"
            r" \frac12 ml^2\dot\theta^2 \end{align*}"
        ),
        (
            r"\frac{M+m}{2}\left(\frac{\mathrm d x}{\mathrm d t}\right)^2 -"
            r" ml\,x'\theta^{\prime}\cos((\theta + \theta)/2) + \frac m2 (l{\theta}')^2"
        ),
    ],
)
def test_right_answers(cart_pole, answer: str) -> None:
    assert grade(cart_pole, "3.1", answer).right


def test_wrong_answers_are_told_by_their_term(cart_pole) -> None:
    found = grade(
        cart_pole, "3.1", "x'^2*(M + m)/2 + m*l*cos(theta)*x'*theta' + m*l^2*theta'^2 + g"
    )
    assert not found.right
    assert set(found.remarks) == {
        "the term of theta'*x' has the wrong sign",
        "the term of theta'^2 is 2 times what it should be",
        "the part without speeds, accelerations and forces should not be there: g",
    }
    assert grade(cart_pole, "3.1", "(M + m)*x'^2/2 - m*l*cos(theta)*x'*theta'").remarks == (
        "the term of theta'^2 is missing",
    )
    assert grade(
        cart_pole, "8.1", "(M + m)*x'' - m*l*cos(theta)*theta'' + m*l*sin(theta)*theta'^2 = tau_x"
    ).right
    assert grade(
        cart_pole, "2.2", "(x' - l*cos(theta)*theta', l*sin(theta)*theta', 0)"
    ).remarks == ("y: the term of theta' has the wrong sign",)


@pytest.mark.parametrize(
    "answer",
    [
        "tau_x = (M + m)*x'' - l*m*cos(theta)*theta'' + l*m*sin(theta)*theta'^2",
        "x'' = (tau_x + l*m*cos(theta)*theta'' - l*m*sin(theta)*theta'^2)/(M + m)",
        "(M+m) xddot - m l cos theta thetaddot + m l sin theta thetadot**2 - tau_x = 0",
        "theta'' = ((M + m)*x'' + l*m*sin(theta)*theta'^2 - tau_x)/(l*m*cos(theta))",
        (
            r"(M+m)\frac{d^2x}{dt^2} - ml\cos\theta\,\frac{d^2\theta}{dt^2} +"
            r" ml\sin\theta\left(\frac{d\theta}{dt}\right)^2 = \tau_x"
        ),
    ],
)
def test_an_equation_is_right_on_either_side_and_times_a_factor(cart_pole, answer: str) -> None:
    assert grade(cart_pole, "8.1", answer).right


def test_the_wrong_term_is_found_behind_a_factor_and_trivial_equations_are_not_right(
    cart_pole,
) -> None:
    wrong = grade(cart_pole, "8.2", "-cos(theta)*x'' + l*theta'' + g*sin(theta) = tau_theta/(l*m)")
    assert wrong.remarks == (
        "the part without speeds, accelerations and forces has the wrong sign",
    )
    twice = grade(
        cart_pole, "8.2", "2*(-cos(theta)*x'' + l*theta'' - g*sin(theta)) = tau_theta/(l*m)"
    )
    assert twice.remarks == ("the term of tau_theta is 1/2 times what it should be",)
    assert grade(cart_pole, "1.2", "(x + l*sin(theta), l*cos(theta), 0)").remarks == (
        "x: the term l*sin(theta) has the wrong sign",
    )
    for nothing in ("0 = 0", "tau_theta = tau_theta", "0*x'' = 0"):
        assert "the term of tau_theta is missing" in grade(cart_pole, "8.2", nothing).remarks


def test_a_wrong_answer_is_not_right_because_numbers_are_positive(cart_pole) -> None:
    for wrong in ("cos(theta)*sqrt(theta'^2)", "sqrt(1 - sin(theta)^2)*theta'"):
        assert not grade(
            cart_pole, "3.1", f"(M + m)*x'^2/2 - m*l*{wrong}*x' + m*l^2*theta'^2/2"
        ).right


def test_one_term_of_a_coefficient_is_named(cart_pole) -> None:
    assert grade(
        cart_pole, "3.1", "M*x'^2/2 - m*l*cos(theta)*x'*theta' + m*l^2*theta'^2/2"
    ).remarks == ("the term m*x'^2 is missing",)
    assert grade(
        cart_pole, "3.1", "(M - m)*x'^2/2 - m*l*cos(theta)*x'*theta' + m*l^2*theta'^2/2"
    ).remarks == ("the term m*x'^2 has the wrong sign",)
    third = grade(
        cart_pole, "3.1", "(M + m)*x'^2/2 - m*l*cos(theta)*x'*theta'/3 + m*l^2*theta'^2/2"
    )
    assert third.remarks == ("the term of theta'*x' is 1/3 times what it should be",)


@pytest.mark.parametrize(
    "answer",
    [
        "sqrt(-m)",
        "log(-m)",
        "exp(exp(exp(exp(100*x))))",
        "(x + theta + m + M + l)^100",
        "sin((x + theta + m + M + l)^100)",
    ],
)
def test_answers_without_a_real_value_or_too_long_are_not_right(cart_pole, answer: str) -> None:
    assert not grade(cart_pole, "3.1", answer).right


@pytest.mark.parametrize(
    "answer",
    [
        "np.array([x - l*sin(theta), l*cos(theta), 0])",
        "Matrix([x - l*sin(theta), l*cos(theta), 0])",
        r"(x - l\sin\theta,\; l\cos\theta,\; 0)^T",
        r"\begin{array}{c} x - l\sin\theta \\ l\cos\theta \\ 0 \end{array}",
    ],
)
def test_vectors_as_people_write_them(cart_pole, answer: str) -> None:
    assert grade(cart_pole, "1.2", answer).right


def test_indices_are_read_however_they_are_written() -> None:
    d = derive(load("double_pendulum"), "lagrange").steps()
    for answer in (
        r"-g\,((m_1+m_2)l_1\cos\theta_1 + m_2l_2\cos(\theta_1+\theta_2))",
        r"-g((m_1+m_2)l_1\cos{\theta}_1 + m_2l_2\cos({\theta_1}+\theta_{2}))",
        "-g((m₁+m₂)l₁cos θ₁ + m₂l₂cos(θ₁+θ₂))",
        "-g((m1+m2)l1 cos theta1 + m2l2cos(theta_1+theta_2))",
    ):
        assert grade(d, "4.1", answer).right
    assert grade(d, "5.2", r"m_2l_2(l_2({\theta}_1'+\theta_2') + l_1{\theta_1}'\cos\theta_2)").right


def test_letters_of_the_students_own(cart_pole) -> None:
    own = {"phi": "theta", "F": "tau_x", "m_c": "M"}
    assert grade(
        cart_pole, "8.1", "(m_c+m) x'' - m l cos(phi) phi'' + m l sin(phi) phi'^2 = F", own
    ).right
    assert grade(
        cart_pole, "8.1", r"(m_c+m)\ddot x - ml\cos\phi\ddot\phi + ml\sin\phi\dot\phi^2 = F", own
    ).right
    assert grade(cart_pole, "8.2", "l*phi'' - cos(phi)*x'' - g*sin(phi) = tau_phi/(l*m)", own).right
    with pytest.raises(CatenaError, match="phi = psi: there is no quantity 'psi' here"):
        grade(cart_pole, "8.1", "0", {"phi": "psi"})
    with pytest.raises(CatenaError, match="'m' is a quantity here"):
        grade(cart_pole, "8.1", "0", {"m": "M"})


@pytest.mark.parametrize(
    ("number", "answer", "said"),
    [
        (
            "9.9",
            "x",
            "no line '9.9' in the derivation of 'cart-pole' by lagrange; lines are: 1.1, 1.2",
        ),
        ("2.2", "x", "is a vector of 3 entries; the answer has 1"),
        ("3.1", "__import__('os').system('true')", ""),
        ("8.1", "a = b = c", "an answer is an expression, or one equation"),
        (
            "3.1",
            "m*velocity",
            (
                "there is no quantity 'velocity' here; quantities are: x, theta, x', theta', x'',"
                " theta'', tau_x, tau_theta, M, m, l, g"
            ),
        ),
        ("3.1", r"\frac{1}{2", "a '}' is missing"),
        ("3.1", r"\foo{3}", r"\foo is not known here; \frac"),
        ("3.1", r"\dot{y}", 'there is no quantity "y\'" here'),
        ("3.1", " ", "the answer is empty"),
        ("3.1", "(M + m", "check its operators and brackets"),
        ("3.1", "1/(m - m)", "it divides by zero"),
        ("3.1", "x" * 5000, "the answer has 5000 characters; at most 4000 are read"),
        ("3.1", r"\sin^{-1}\theta", "may be 1/sin or the inverse function"),
        ("3.1", "cos(theta", "a ')' is missing"),
        ("3.1", r"\cos((\theta)", "a ')' is missing"),
        ("3.1", r"\dot", "a quantity is missing at its end"),
        ("3.1", "ml2", "there is no quantity 'ml2' here"),
    ],
)
def test_answers_that_cannot_be_read(cart_pole, number: str, answer: str, said: str) -> None:
    with pytest.raises(CatenaError) as error:
        grade(cart_pole, number, answer)
    assert said in str(error.value)


def test_steps_in_angles_from_the_ground_are_the_textbook_s() -> None:
    """[Baysec1996] eq. 56-58, 60-65, derived by SymPy from T and V in these angles."""
    d = derive(load("double_pendulum"), "lagrange", coordinates="absolute").steps()
    assert d.error < 1e-9 and "theta2 is measured from the ground" in d.steps[0].why
    m1, m2, l1, l2, g, t = sp.symbols("m1 m2 l1 l2 g t")
    theta = [sp.Function(f"th{k}")(t) for k in (1, 2)]
    x = [l1 * sp.sin(theta[0]), l1 * sp.sin(theta[0]) + l2 * sp.sin(theta[1])]
    y = [-l1 * sp.cos(theta[0]), -l1 * sp.cos(theta[0]) - l2 * sp.cos(theta[1])]
    T = sum(m * (a.diff(t) ** 2 + b.diff(t) ** 2) / 2 for m, a, b in zip((m1, m2), x, y))
    V = sum(m * g * b for m, b in zip((m1, m2), y))
    tau = sp.symbols("tau_theta1 tau_theta2")
    for k, Q in enumerate((tau[0] - tau[1], tau[1])):
        row = (T - V).diff(theta[k].diff(t)).diff(t) - (T - V).diff(theta[k]) - Q
        for order, end in ((2, "_ddot"), (1, "_dot"), (0, "")):
            named = {theta[i].diff(t, order): sp.Symbol(f"theta{i + 1}{end}") for i in (0, 1)}
            row = row.subs(named)
        line = d.steps[-1].lines[k]
        own = sp.Add(*(term.value for term in line.left)) - line.values[0]
        assert sp.simplify(own - row) == 0


def test_lines_in_latex_are_numbered_and_referable(cart_pole) -> None:
    source = cart_pole.latex()
    for k, step in enumerate(cart_pole.steps, 1):
        for n in range(1, len(step.lines) + 1):
            assert source.count(rf"\tag{{{k}.{n}}}\label{{eq:lagrange-{k}.{n}}}") == 1
    assert r"$\frac{d}{dt}\frac{\partial T}{\partial v} - \frac{\partial T}" in source  # in prose


def test_momenta_in_angles_from_the_ground() -> None:
    d = derive(load("double_pendulum"), "hamilton", coordinates="absolute").steps()
    assert d.error < 1e-9
    assert "p_theta1' = -l1*l2*m2*sin(theta1 - theta2)*theta1'*theta2'" in d.text()
