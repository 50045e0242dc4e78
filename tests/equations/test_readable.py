"""The form people read: every operation of a tape, the normal form, fallbacks that say so, and
programs that run.
"""

from __future__ import annotations

import ctypes
import math
import re
import shutil
import subprocess

import casadi as ca
import numpy as np
import pytest
import sympy as sp

import closed
import zoo
from catena import load
from catena.equations.equations import Equations
from catena.equations.formulations import derive
from catena.equations.formulations.hamilton import hamilton
from catena.equations.formulations.lagrange import lagrange
from catena.equations.formulations.recursive import recursive
from catena.equations.readable import Readable, program, read, sx_to_sympy
from catena.equations.readable.convert import OPERATIONS, number
from catena.equations.readable.harmonics import Budget, NotHarmonic, OutOfBudget
from catena.equations.readable.names import names_of
from catena.equations.readable.program import Argument
from catena.equations.readable.textbook import textbook
from catena.equations.readable.width import PAGE, width
from catena.equations.statement import Statement
from catena.errors import UnknownNameError
from catena.machine.machine import compile as machine_of
from catena.model.loads import JointSpring
from catena.model.mechanism import GROUND, Body, Joint, Mechanism
from linkages import triple_pendulum, two_link_arm

MECHANISMS = zoo.certificate_set()

UNARY = {
    "NEG": lambda x: -x,
    "SQ": lambda x: x * x,
    "TWICE": lambda x: 2 * x,
    "INV": lambda x: 1 / x,
    "SQRT": ca.sqrt,
    "EXP": ca.exp,
    "LOG": ca.log,
    "LOG1P": ca.log1p,
    "EXPM1": ca.expm1,
    "ERF": ca.erf,
    "SIN": ca.sin,
    "COS": ca.cos,
    "TAN": ca.tan,
    "ASIN": lambda x: ca.asin(x / 4),
    "ACOS": lambda x: ca.acos(x / 4),
    "ATAN": ca.atan,
    "SINH": ca.sinh,
    "COSH": ca.cosh,
    "TANH": ca.tanh,
    "ASINH": ca.asinh,
    "ACOSH": lambda x: ca.acosh(1 + x),
    "ATANH": lambda x: ca.atanh(x / 4),
    "SIGN": ca.sign,
    "FLOOR": ca.floor,
    "CEIL": ca.ceil,
    "FABS": ca.fabs,
    "NOT": lambda x: ca.logic_not(x > 1),
    "CONSTPOW": lambda x: x**2.7,
}
BINARY = {
    "ADD": lambda x, y: x + y,
    "SUB": lambda x, y: x - y,
    "MUL": lambda x, y: x * y,
    "DIV": lambda x, y: x / y,
    "POW": ca.power,
    "ATAN2": ca.atan2,
    "FMOD": ca.fmod,
    "REMAINDER": ca.remainder,
    "HYPOT": ca.hypot,
    "FMIN": ca.fmin,
    "FMAX": ca.fmax,
    "COPYSIGN": ca.copysign,
    "LT": lambda x, y: x < y,
    "LE": lambda x, y: x <= y,
    "EQ": lambda x, y: ca.eq(x, y),
    "NE": lambda x, y: ca.ne(x, y),
    "AND": lambda x, y: ca.logic_and(x > 1, y > 1),
    "OR": lambda x, y: ca.logic_or(x > 1, y > 1),
    "IF_ELSE_ZERO": lambda x, y: ca.if_else(x < y, ca.exp(x), 0),
}
ALL = {**{op: lambda x, y, f=f: f(x) for op, f in UNARY.items()}, **BINARY}
POINTS = [(0.7, 1.3), (2.5, 0.4), (1.9, 1.9), (3.1, 2.2)]


def one(op: str) -> ca.Function:
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    return ca.Function("f", [x, y], [ca.densify(ALL[op](x, y)) + 0 * y])


def run(source: str, name: str):
    """The function of a Python text; nothing but math may be imported."""
    assert re.findall(r"^import (\w+)", source, re.M) == ["math"]
    space: dict = {}
    exec(source, space)
    return space[name]


# --- tape to SymPy
def test_the_table_is_complete() -> None:
    assert set(ALL) == set(OPERATIONS)
    assert (
        set(OPERATIONS)
        == {*program.PYTHON, *program.BINARY, "NEG", "SQ", "TWICE", "INV"}
        == {*program.C, *program.BINARY, "NEG", "SQ", "TWICE", "INV"}
    )


@pytest.mark.parametrize("op", ALL)
def test_every_operation_becomes_sympy(op: str) -> None:
    f = one(op)
    (value,), _ = sx_to_sympy(f, [["x"], ["y"]])
    for x, y in POINTS:
        exact = value[0].subs({"x": sp.Rational(str(x)), "y": sp.Rational(str(y))})
        assert float(exact.evalf()) == pytest.approx(float(f(x, y)), rel=1e-13, abs=1e-14)


@pytest.mark.parametrize("op", ALL)
def test_every_operation_becomes_python(op: str) -> None:
    f = one(op)
    g = run(
        program.python(f, [Argument("x", ("x",)), Argument("y", ("y",))], "One operation.", "z"),
        "f",
    )
    for point in POINTS:
        assert g(*point) == [pytest.approx(float(f(*point)), rel=1e-14)]


def test_matrices_keep_their_shape_and_order() -> None:
    A = ca.SX.sym("A", 2, 3)
    f = ca.Function("f", [A], [ca.densify(A.T), A[0, :] * 2])
    names = [["a", "b", "c", "d", "e", "f"]]  # by rows
    (transposed, row), _ = sx_to_sympy(f, names)
    a, b, c, d, e, f_ = sp.symbols("a b c d e f")
    assert transposed == sp.Matrix([[a, d], [b, e], [c, f_]]) and row == sp.Matrix(
        [[2 * a, 2 * b, 2 * c]]
    )


def test_numbers() -> None:
    fractions = {0.5: (1, 2), 2.0: (2, 1), 1 / 12: (1, 12), -0.75: (-3, 4), 1 / 3: (1, 3)}
    assert all(number(x) == sp.Rational(*f) for x, f in fractions.items())
    assert number(193 / 16).is_Float and number(82.5).is_Float and number(193.0) == 193
    assert number(9.81) == sp.Float(9.81) and number(0.1).is_Float and number(math.inf) == sp.oo


def test_intermediate_variables_give_the_same_values() -> None:
    m = zoo.arm(6)
    s = lagrange(m).readable()
    names = [[n.symbol for n in names_of(m)[role]] for role in s.roles]
    (left, _), steps = sx_to_sympy(s.tape, names, "z")
    rng = np.random.default_rng(0)
    given = [rng.normal(size=len(group)) for group in names]
    known = dict(zip([sp.Symbol(n) for group in names for n in group], np.concatenate(given)))
    for symbol, value in steps:
        known[symbol] = float(value.xreplace(known))
    found = [float(x.xreplace(known)) for x in left]
    assert np.allclose(found, np.array(s.tape(*given)[0]).ravel(), rtol=1e-11, atol=1e-12)
    assert len(steps) < 250  # of 1500 operations


# --- the normal form
def normal(expression, q, p=()):
    """What `textbook` makes of one expression of coordinates q and parameters p."""
    m = Mechanism(
        "m",
        tuple(Body(f"b{i}", 1.0, (0, 0, 0), (1, 1, 1)) for i in range(len(q))),
        tuple(
            Joint(n, "revolute", GROUND if i == 0 else f"b{i - 1}", f"b{i}")
            for i, n in enumerate(q)
        ),
        parameters=dict.fromkeys(p, 1.0),
    )
    Q = ca.SX.sym("q", len(q))
    P = ca.SX.sym("p", len(p))
    statement = Statement.of(
        {"q": Q, "p": P}, expression(*ca.vertsplit(Q), *(ca.vertsplit(P) if p else ())), ca.SX(0)
    )
    (row,) = textbook(statement, names_of(m), Budget(10**7, 500))
    return row.equation.lhs


def test_products_of_cosines_become_cosines_of_sums() -> None:
    x, y = sp.symbols("x y")
    assert normal(lambda x, y: ca.cos(x) * ca.cos(y) + ca.sin(x) * ca.sin(y), "xy") == sp.cos(x - y)
    assert normal(lambda x, y: ca.sin(x) * ca.cos(y) - ca.cos(x) * ca.sin(y), "xy") == sp.sin(x - y)
    assert normal(lambda x: ca.cos(x) ** 2 + ca.sin(x) ** 2, "x") == 1
    assert normal(lambda x: 2 * ca.sin(x) * ca.cos(x), "x") == sp.sin(2 * x)
    assert normal(lambda x: ca.cos(x / 2) ** 2, "x") == (1 + sp.cos(x)) / 2


def test_constant_angles_and_parameters() -> None:
    x, k, m = sp.symbols("x k m")
    assert (
        sp.simplify(
            normal(lambda x, k: ca.cos(x + k) * ca.cos(k), "x", "k")
            - (sp.cos(x) + sp.cos(x + 2 * k)) / 2
        )
        == 0
    )
    assert normal(lambda x, m, k: ca.sqrt(k / m) * ca.cos(x), "x", "mk") == sp.sqrt(k / m) * sp.cos(
        x
    )
    # what rounding leaves of cos(pi/2) is gone
    assert normal(lambda x: ca.cos(x + math.pi / 2), "x") == -sp.sin(x)


def test_what_has_no_normal_form_says_why() -> None:
    with pytest.raises(NotHarmonic, match="the operation sqrt"):
        normal(lambda x: ca.sqrt(x), "x")
    with pytest.raises(NotHarmonic, match="sine of a sine"):
        normal(lambda x: ca.sin(ca.sin(x)), "x")
    with pytest.raises(OutOfBudget, match="grew beyond 500 terms"):
        normal(lambda *x: sum(ca.cos(k * z) for z in x for k in range(1, 9)) ** 4, "xyz")


def test_simplification_that_runs_out_of_operations_says_so_and_stops() -> None:
    found = lagrange(triple_pendulum(8)).sympy(effort=300)
    assert (
        "not simplified: the limit of 300 operations ran out" in found.note and found.intermediates
    )
    assert found.text().startswith("# not simplified")


def test_long_equations_come_in_steps() -> None:
    found = lagrange(zoo.arm(6)).sympy()
    assert "intermediate variables, in the order of computation" in found.note
    assert 20 < len(found.intermediates) < 250 and len(found.equations) == 6


@pytest.mark.parametrize(
    "name", ["double_pendulum", "cart_pole", "planar_tree", "arm3", "sliding_chain"]
)
@pytest.mark.parametrize("by", [lagrange, hamilton])
def test_the_normal_form_has_the_values_of_the_tape(name: str, by) -> None:
    m = MECHANISMS[name]
    s = by(m).readable()
    names = names_of(m)
    rows = textbook(s, names, Budget(10**8, 5000))
    rng = np.random.default_rng(1)
    given = [rng.normal(size=len(names[role])) for role in s.roles]
    known = dict(
        zip([sp.Symbol(n.symbol) for role in s.roles for n in names[role]], np.concatenate(given))
    )
    found = [
        [float(side.xreplace(known)) for side in (row.equation.lhs, row.equation.rhs)]
        for row in rows
    ]
    assert np.allclose(np.array(found).T, np.squeeze(s.tape(*given)), rtol=1e-10, atol=1e-11)


# --- text and LaTeX
def test_text_of_a_two_link_arm() -> None:
    assert (
        lagrange(two_link_arm()).text()
        == """\
(I1 + I2 + 2*l1*lc2*m2*cos(theta2) + lc1^2*m1 + m2*(l1^2 + lc2^2))*theta1''
    + (I2 + l1*lc2*m2*cos(theta2) + lc2^2*m2)*theta2'' - 2*l1*lc2*m2*sin(theta2)*theta1'*theta2'
    - l1*lc2*m2*sin(theta2)*theta2'^2 + g*(lc2*m2*cos(theta1 + theta2) + (l1*m2 + lc1*m1)*cos(theta1))
    = tau_theta1

(I2 + l1*lc2*m2*cos(theta2) + lc2^2*m2)*theta1'' + (I2 + lc2^2*m2)*theta2''
    + l1*lc2*m2*sin(theta2)*theta1'^2 + g*lc2*m2*cos(theta1 + theta2) = tau_theta2"""  # noqa: E501
    )


def test_text_of_absolute_angles_says_so() -> None:
    text = hamilton(triple_pendulum(), coordinates="absolute").text()
    assert text.startswith("# theta2, theta3: measured from the ground")
    assert "p_theta3 = l1*l3*m3*cos(theta1 - theta3)*theta1' +" in text


def test_text_of_a_sum_keeps_its_signs() -> None:
    spring = JointSpring("spring", "pin1", stiffness=3.0, rest=0.25, damping=0.1)
    text = lagrange(zoo.pendulum(1).with_(loads=(spring,))).text()
    assert text == "0.405*pin1'' + 6.62175*sin(pin1) = -0.1*pin1' + tau_pin1 + 3/4 - 3*pin1"


def sprung() -> Mechanism:
    return zoo.pendulum(2, slider=True).with_(
        loads=(JointSpring("s", "pin2", 3.0, 0.25, 0.1), JointSpring("r", "rail", 2.0, -0.5))
    )


@pytest.mark.parametrize(
    "m",
    [sprung(), zoo.planar_tree(), zoo.arm(3), zoo.arm(6), closed.four_link()],
    ids=lambda m: m.name,
)
@pytest.mark.parametrize("by", [lagrange, hamilton])
def test_text_read_back_is_the_statement(m: Mechanism, by) -> None:
    """The printed text itself, parsed by SymPy and evaluated, against the tape."""
    e = by(m)
    statement = e.readable()
    text = e.text(full=True)
    names = names_of(m, statement.size("lam"))
    # v before q_rate
    known = {n.text: n.symbol for role in reversed(statement.roles) for n in names[role]}
    for shown in sorted(known, key=len, reverse=True):  # theta1'' before theta1' before theta1
        text = re.sub(rf"(?<![\w.@]){re.escape(shown)}(?![\w.@'])", f"@{known[shown]}", text)
    text = text.replace("@", "").replace("\n    ", " ").replace("^", "**")
    rng = np.random.default_rng(5)
    given = [rng.normal(size=len(names[role])) for role in statement.roles]
    values = dict(
        zip([n.symbol for role in statement.roles for n in names[role]], np.concatenate(given))
    )
    space = {"sin": math.sin, "cos": math.cos, "sqrt": math.sqrt, **values}
    rows = []
    for line in (line for line in text.split("\n") if line and not line.startswith("#")):
        left, right = line.split(" = ")
        if re.fullmatch(r"z\d+", left):
            space[left] = eval(right, space)
        else:
            rows.append((eval(left, space), eval(right, space)))
    assert np.allclose(np.array(rows).T, np.squeeze(statement.tape(*given)), rtol=1e-9, atol=1e-10)


def test_text_of_a_loop_has_multipliers() -> None:
    text = lagrange(closed.two_link_load(), coordinates="absolute").text()
    assert (
        "= tau_joint1 - tau_carry1 - 3*sin(joint1 - joint2)/2*lambda1 - 3*cos(joint1 -"
        " joint2)/2*lambda2" in text
    )
    assert text.endswith(
        "+ (-0.8*cos(joint2) + 0.8*cos(carry1 - joint2) + 1.5*cos(joint1 - joint2))*joint2' = 0"
    )


def test_latex_of_a_pendulum() -> None:
    source = lagrange(triple_pendulum(1)).latex()
    left = (
        r"\left(I_{1} + l_{1}^{2} m_{1}\right) \, \ddot{\theta}_{1} + g l_{1} m_{1} \cos"
        r" {\theta_{1}}"
    )
    assert source == f"\\begin{{align*}}\n& {left} = \\tau_{{\\theta_{{1}}}}\n\\end{{align*}}"


LINES = (
    (
        r"l_{1}^{2} \left(m_{1} + m_{2}\right) \, \ddot{\theta}_{1} + l_{2} m_{2} \left(l_{1} \cos"
        r" {\theta_{2}} + l_{2}\right) \, \ddot{\theta}_{2}"
    ),
    (
        r"- 2 l_{1} l_{2} m_{2} \sin {\left(\theta_{1} + \theta_{2} \right)} \, \dot{\theta}_{1}"
        r" \dot{\theta}_{2} = \tau_{\theta_{1}}"
    ),
    (
        r"F^{x}_{\theta_{2}} = -m \sin {\theta} \, \ddot{x} - l m \, \dot{\theta}^{2} + g m \cos"
        r" {\theta}"
    ),
    (
        r"\mathbf{v}_{\mathrm{pole}}^{\,\dot{\theta}} = \left(-l \cos {\theta},\; -l \sin"
        r" {\theta},\; 0\right)"
    ),
    r"J_{\mathrm{upper}} \, \ddot{\phi} + 0.0123 \, \dot{\psi}^{2} + 9.81 m l_{\mathrm{upper}}",
    (
        r"C_{1} \sin^{2} {\theta} + A \cos {\left(2 \theta - \phi \right)} - \left(I_{1} -"
        r" I_{3}\right) \, \omega_{x} \omega_{z}"
    ),
)


@pytest.mark.parametrize("line", LINES)
def test_the_width_of_a_line_is_that_of_a_renderer(line: str) -> None:
    """Matplotlib sets formulas in Computer Modern, as LaTeX does."""
    import matplotlib
    from matplotlib.font_manager import FontProperties
    from matplotlib.mathtext import MathTextParser

    with matplotlib.rc_context({"mathtext.fontset": "cm"}):
        rendered = MathTextParser("path").parse(f"${line}$", 72, FontProperties(size=10))[0] / 10
    assert 0.98 * rendered < width(line) < 1.08 * rendered


@pytest.mark.parametrize("name", ["cart_pole", "double_pendulum", "spherical_pendulum", "top"])
def test_every_line_fits_on_a_page(name: str) -> None:
    for by in ("lagrange", "hamilton", "kane", "newton_euler", "maggi"):
        environments = re.findall(
            r"\\begin\{align\*\}\n(.*?)\n\\end", derive(load(name), by).latex(), re.DOTALL
        )
        rows = [row for body in environments for row in body.split(" \\\\\n")]
        assert len(rows) <= 40 and max(map(width, rows)) <= PAGE + 0.5
        assert not any("z_{1}" in row for row in rows)


def test_names_of_joints_with_several_coordinates() -> None:
    """Dots stand over the letter of a coordinate, not over its joint's name; a joint that is alone
    needs no index.
    """
    top, pendulum = (names_of(load(name)) for name in ("top", "spherical_pendulum"))
    assert [n.latex for n in top["q"]] == ["q_{w}", "q_{x}", "q_{y}", "q_{z}"]
    assert [n.latex for n in top["a"]] == [
        r"\dot{\omega}_{x}",
        r"\dot{\omega}_{y}",
        r"\dot{\omega}_{z}",
    ]
    assert [n.latex for n in pendulum["v"]] == [
        r"\dot{\mathrm{pivot}}_{1}",
        r"\dot{\mathrm{pivot}}_{2}",
    ]


def test_latex_is_balanced_for_every_mechanism() -> None:
    for m in (MECHANISMS["free_base"], zoo.arm(6), zoo.planar_tree()):
        source = hamilton(m).latex(effort=100_000)
        assert source.count("{") == source.count("}") and source.count(r"\left") == source.count(
            r"\right"
        )


def test_other_formulations_print_their_accelerations() -> None:
    found = recursive(zoo.pendulum(2)).sympy()
    assert isinstance(found, Readable) and [str(e.lhs) for e in found.equations] == [
        "pin1_ddot",
        "pin2_ddot",
    ]
    assert found.note.startswith("accelerations as recursive computes them; ")


def test_a_spinning_top_is_euler_s() -> None:
    """A body on a ball: q' = N w, then I w' + w x I w = tau, eq. 5 in Poincare's form."""
    A, B, C = sp.symbols("A B C")
    top = Mechanism(
        "top",
        (Body("top", 1.0, (0, 0, 0), (A, B, C)),),
        (Joint("spin", "ball", GROUND, "top"),),
        parameters={"A": 1.0, "B": 1.1, "C": 1.2},
    )
    assert (
        lagrange(top).text()
        == """\
spin.qw' = -spin.qx/2*spin.wx - spin.qy/2*spin.wy - spin.qz/2*spin.wz
spin.qx' = spin.qw/2*spin.wx - spin.qz/2*spin.wy + spin.qy/2*spin.wz
spin.qy' = spin.qz/2*spin.wx + spin.qw/2*spin.wy - spin.qx/2*spin.wz
spin.qz' = -spin.qy/2*spin.wx + spin.qx/2*spin.wy + spin.qw/2*spin.wz
A*spin.wx' - (B - C)*spin.wy*spin.wz = tau_spin.wx
B*spin.wy' + (A - C)*spin.wx*spin.wz = tau_spin.wy
C*spin.wz' - (A - B)*spin.wx*spin.wy = tau_spin.wz"""
    )


def test_names_of_a_ball_and_of_a_free_body() -> None:
    names = names_of(MECHANISMS["free_base"])
    assert [n.symbol for n in names["q"][:4]] == ["free0_x", "free0_y", "free0_z", "free0_qw"]
    assert [n.symbol for n in names["v"][:4]] == ["free0_vx", "free0_vy", "free0_vz", "free0_wx"]
    assert [n.text for n in names["a"][3:7]] == [
        "free0.wx'",
        "free0.wy'",
        "free0.wz'",
        "revolute1''",
    ]


def test_names_give_way_to_parameters_and_to_languages() -> None:
    m = sp.Symbol("lambda")
    rod = Body("rod", m, (sp.Symbol("swing"), 0, 0), (0, 0, 0))
    clash = Mechanism(
        "clash",
        (rod,),
        (Joint("swing", "revolute", GROUND, "rod"),),
        gravity=(0, -1, 0),
        parameters={"swing": 0.5, "lambda": 2.0, "q": 1.0, "z1": 3.0},
    )
    e = lagrange(clash)
    a = run(e.python(), "acceleration")(0.0, [0.3], [0.1], [0.2])
    assert a == [pytest.approx(float(e.acceleration(0, 0.3, 0.1, 0.2, e.parameters)))]
    assert [n.symbol for n in names_of(clash)["q"]] == ["swing_"]


# --- programs
@pytest.mark.parametrize("name", ["cart_pole", "arm6", "ball_chain", "every_joint"])
@pytest.mark.parametrize("by", [lagrange, hamilton, recursive])
def test_python_text_runs_and_agrees(name: str, by) -> None:
    e = by(MECHANISMS[name])
    machine = machine_of(MECHANISMS[name])
    rng = np.random.default_rng(2)
    q = machine.sample(rng)
    v = rng.normal(size=machine.nv)
    tau = rng.normal(size=machine.nv)
    a = run(e.python(), "acceleration")(0.0, q.tolist(), v.tolist(), tau.tolist())
    assert np.allclose(a, np.array(e.acceleration(0, q, v, tau, [])).ravel(), rtol=1e-12)
    x = np.array(e.encode(q, v, [])).ravel()
    rate = run(e.python("derivative"), "derivative")(0.0, x.tolist(), tau.tolist())
    assert np.allclose(rate, np.array(e.derivative(0, x, tau, [])).ravel(), rtol=1e-12)


def test_python_text_takes_parameters() -> None:
    e = lagrange(triple_pendulum())
    p = np.random.default_rng(3).uniform(0.5, 2.0, len(e.parameters))
    f = run(e.python(), "acceleration")
    state = [0.1, 0.2, 0.3], [0.4, 0.5, 0.6], [0.0, 0.1, 0.0]
    assert np.allclose(
        f(0.0, *state, p.tolist()), np.array(e.acceleration(0, *state, p)).ravel(), rtol=1e-13
    )
    assert np.allclose(
        f(0.0, *state), np.array(e.acceleration(0, *state, e.parameters)).ravel(), rtol=1e-13
    )
    assert "m1, m2, m3, l1, l2, l3, I1, I2, I3, g = p" in e.python()


def compiled(source: str, name: str, tmp_path) -> ctypes._CFuncPtr:
    (tmp_path / "f.c").write_text(source)
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("no C compiler here")
    command = [
        compiler,
        "-std=c99",
        "-Wall",
        "-Werror",
        "-shared",
        "-fPIC",
        "-o",
        tmp_path / "f.so",
        tmp_path / "f.c",
        "-lm",
    ]
    subprocess.run(command, check=True)
    return getattr(ctypes.CDLL(str(tmp_path / "f.so")), name)


def test_c_text_compiles_and_agrees(tmp_path) -> None:
    m = MECHANISMS["every_joint"]
    e = lagrange(m)
    machine = machine_of(m)
    rng = np.random.default_rng(4)
    q = machine.sample(rng)
    v = rng.normal(size=machine.nv)
    tau = rng.normal(size=machine.nv)
    f = compiled(e.c(), "acceleration", tmp_path)
    a = np.zeros(machine.nv)
    pointers = [
        x.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) for x in (q, v, tau, np.zeros(1), a)
    ]
    f(ctypes.c_double(0.0), *pointers)
    assert np.allclose(a, np.array(e.acceleration(0, q, v, tau, [])).ravel(), rtol=1e-9)


def test_every_operation_becomes_c(tmp_path) -> None:
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    f = ca.Function("every", [x, y], [ca.densify(ca.vertcat(*(op(x, y) for op in ALL.values())))])
    g = compiled(
        program.c(f, [Argument("x", ("x",)), Argument("y", ("y",))], "Each once.", "z"),
        "every",
        tmp_path,
    )
    for point in POINTS:
        out = np.zeros(len(ALL))
        g(*map(ctypes.c_double, point), out.ctypes.data_as(ctypes.POINTER(ctypes.c_double)))
        assert np.allclose(out, np.array(f(*point)).ravel(), rtol=1e-13)


def test_unknown_program() -> None:
    with pytest.raises(
        UnknownNameError, match=r"no program 'accelerations'.*Did you mean 'acceleration'"
    ):
        lagrange(zoo.pendulum(1)).python("accelerations")


def test_the_readable_field_is_optional() -> None:
    e = lagrange(zoo.pendulum(1))
    bare = Equations(
        e.mechanism,
        "mine",
        e.state_names,
        e.derivative,
        e.encode,
        e.decode,
        e.acceleration,
        counts=e.counts,
    )
    assert str(read(bare).equations[0].lhs) == "pin1_ddot"
