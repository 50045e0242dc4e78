"""Units and expressions: values to the last digit, errors as sentences, nothing that runs, nothing
that hangs.
"""

from __future__ import annotations

import math
import subprocess
import sys

import casadi as ca
import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from catena.errors import CatenaError, ExpressionError, QuantityError
from catena.formats.units import DIMENSIONS, PLAIN, in_pint, quantity
from catena.model.expression_functions import FUNCTIONS
from catena.model.expressions import constant, evaluate, parse, write

PARAMETERS = {"m1": 1.5, "l1": 2.0, "m": 3.0, "zero": 0.0}


# --- quantities
@pytest.mark.parametrize(
    ("value", "dimension", "si"),
    [
        (3, "mass", 3.0),
        ("3", "mass", 3.0),
        ("10 slug", "mass", 145.9390293720637),
        ("1 lbf*s^2/ft", "mass", 14.59390293720637),
        ("18 in", "length", 0.4572),
        ("18in", "length", 0.4572),
        ("3/4 in", "length", 0.01905),
        ("-2.5e-3 m", "length", -0.0025),
        ("90 deg", "angle", math.pi / 2),
        ("90°", "angle", math.pi / 2),
        ("0.25 turn", "angle", math.pi / 2),
        ("pi/2", "angle", math.pi / 2),
        ("2*pi rad", "angle", 2 * math.pi),
        ("0.5", "angle", 0.5),
        ("2 mm/turn", "pitch", 0.002 / (2 * math.pi)),
        ("0.25 N*m*s/rad", "angular damping", 0.25),
        ("0.25 N m s", "angular damping", 0.25),
        ("1 N*m*s/deg", "angular damping", 180 / math.pi),
        ("30 rpm", "angular speed", math.pi),
        ("3 kg·m²", "inertia", 3.0),
        ("3 kg m^2", "inertia", 3.0),
        ("2 kN/(m/s)", "damping", 2000.0),
        ("1 km/hour", "speed", 1 / 3.6),
        ("1 g_0", "acceleration", 9.80665),
        ("50 percent", "number", 0.5),
    ],
)
def test_units_become_si(value, dimension, si):
    assert quantity(value, dimension) == pytest.approx(si, rel=1e-15)


@pytest.mark.parametrize(
    ("value", "dimension", "sentence"),
    [
        ("3 m", "mass", "mass is '3 m', a length; a mass is wanted, such as '3 kg'"),
        ("3 m", "angle", "angle is '3 m', a length; an angle is wanted, such as '90 deg'"),
        ("2 mm", "pitch", "pitch is '2 mm', a length; a pitch is wanted, such as '2 mm/turn'"),
        (
            "3 Hz",
            "angular speed",
            "angular speed is '3 Hz', a frequency; an angular speed is wanted, such as '3 rad/s'",
        ),
        (
            "3 rad",
            "number",
            "number is '3 rad', an angle; a number without unit is wanted, such as 3.0",
        ),
        ("3 kgg", "mass", "mass is '3 kgg'; there is no unit 'kgg'. Did you mean 'kg'?"),
        ("3 kg kg", "mass", "mass is '3 kg kg', in kilogram^2; a mass is wanted, such as '3 kg'"),
        ("kg", "mass", "mass is 'kg', which has no number; a mass is wanted, such as '3 kg'."),
        (
            "3 degC",
            "mass",
            (
                "mass is '3 degC', and 'degC' is not a product of units; a mass is wanted, such as"
                " '3 kg'"
            ),
        ),
        (True, "mass", "mass is true; a mass is wanted, such as '3 kg'"),
        ([1], "mass", "mass is a list of 1; a mass is wanted, such as '3 kg'"),
        ({}, "mass", "mass is a table; a mass is wanted, such as '3 kg'"),
        (math.nan, "mass", "mass is nan; a finite number is wanted"),
        (math.inf, "mass", "mass is inf; a finite number is wanted"),
        ("1e999", "mass", "mass is '1e999'; a finite number is wanted"),
        (10**400, "mass", "mass is a number too large to be one"),
        (
            "9**9**9**9",
            "mass",
            (
                "mass is '9**9**9**9', which is not a number with a unit; a mass is wanted, such as"
                " '3 kg'"
            ),
        ),
    ],
)
def test_wrong_quantities_are_one_sentence(value, dimension, sentence):
    with pytest.raises(QuantityError) as caught:
        quantity(value, dimension, what=dimension)
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (
            "3 m",
            (
                "mass: '3 m': an operator is missing between '3' and 'm'. It holds m, so it is an"
                " expression; 'm' is no unit in it"
            ),
        ),
        ("2*mm1", "mass is '2*mm1'; there is no unit 'mm1'. Did you mean the parameter 'm1'?"),
        ("m1 + foo", "mass: 'm1 + foo': no name 'foo'; names are: m1, l1, m, zero."),
        (
            "m1/zero",
            "mass: 'm1/zero' has no value where m1 = 1.5, zero = 0.0 (float division by zero)",
        ),
        ("sqrt(-m1)", "mass: 'sqrt(-m1)' has no value where m1 = 1.5 (math domain error)"),
        ("exp(1000*m1)", "mass: 'exp(1000*m1)' has no value where m1 = 1.5 (math range error)"),
    ],
)
def test_wrong_expressions_are_one_sentence(value, sentence):
    with pytest.raises(QuantityError) as caught:
        quantity(value, "mass", PARAMETERS, what="mass")
    assert str(caught.value) == sentence


def test_limits_may_be_infinite_and_take_no_expressions():
    assert quantity(math.inf, "angle", infinite=True) == math.inf
    with pytest.raises(QuantityError, match="it takes numbers, not expressions of parameters"):
        quantity("2*l1", "length", PARAMETERS, symbolic=False)


def test_every_dimension_reads_its_own_example():
    for d in DIMENSIONS.values():
        assert quantity(d.example, d.name) > 0
        assert quantity(f"1 {d.unit}", d.name) == 1.0


@pytest.mark.parametrize("name", PLAIN)
def test_plain_units_are_those_of_pint(name: str):
    assert in_pint(name) == PLAIN[name]


def test_expressions_and_plain_units_need_no_pint_and_numbers_no_sympy():
    code = (
        "import sys; import catena.model.expressions as e; e.constant('2*pi'); from"
        " catena.formats.units import quantity; quantity(3, 'mass'); quantity('3 kg*m^2',"
        " 'inertia'); assert not {'pint', 'sympy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# --- expressions
def test_an_expression_stays_one():
    m, l = sympy.symbols("m l")
    assert parse("m*l^2/12", ["m", "l"]) == m * l**2 / 12
    assert quantity("m1*0", "mass", PARAMETERS) == 0.0
    assert constant("1/3 + 2^-1") == 5 / 6


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("m.real", "'.'"),
        ("m[0]", "'['"),
        ("'m'", '"\'"'),
        ("m; m", "';'"),
        ("m = 2", "'='"),
        ("m @ m", "'@'"),
        ("lambda", "no name 'lambda'"),
        ("__import__(m)", "no name '__import__'"),
        ("open(m)", "no name 'open'"),
        ("m(2)", "'m' is not a function"),
        ("sin", "needs its argument"),
        ("sin(m, 2)", "takes 1 argument, found 2"),
        ("max(m)", "takes 2 to 20 arguments, found 1"),
        ("m, 2", "a comma outside a function"),
        ("m 2", "operator is missing"),
        ("2m", "operator is missing"),
        ("(m", "check its operators"),
        ("m//2", "check its operators"),
        ("", "not an expression"),
        ("m if m else m", "operator is missing"),
        ("m**1000", "exponents go from"),
        ("9**9**9**9", "exponents go from"),
        ("m/0", "no finite real value"),
        ("1/(m - m)", "no finite real value"),
        ("log(0)", "no finite real value"),
        ("(-1)**0.5*m", "no finite real value"),
        ("sqrt(-2)", "no finite real value"),
        ("1e999*m", "no finite real value"),
        ("m" + "+m" * 6000, "at most 10000"),
        ("(" * 101 + "m" + ")" * 101, "nested"),
    ],
)
def test_what_is_not_allowed_is_named(text, word):
    with pytest.raises(ExpressionError) as caught:
        parse(text, ["m"])
    assert word in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    "bomb",
    [
        "9**9**9**9",
        "exp(exp(exp(100)))*m",
        "(9**99)**99**99*m",
        "((((9^99)^99)^99)^99)^99 + m",
        "9" * 900 + "**99*m",
        "max(sin(exp(exp(99*pi))), m)",
        "pi**pi**pi**pi**pi*m",
        "sqrt(" + "7" * 900 + ")*m",
    ],
)
def test_no_bomb_goes_off(bomb):
    try:
        parse(bomb, ["m"])
    except ExpressionError as refused:
        assert len(str(refused)) < 300


_leaves = st.one_of(
    st.sampled_from(["a", "b", "pi"]),
    st.integers(0, 9).map(str),
    st.floats(0.01, 100, allow_nan=False).map(repr),
)
_trees = st.recursive(
    _leaves,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "/"]), inner).map(
            lambda t: f"({t[0]}) {t[1]} ({t[2]})"
        ),
        st.tuples(inner, st.sampled_from(["2", "3", "-1", "0.5", "(1/3)"])).map(
            lambda t: f"({t[0]})^{t[1]}"
        ),
        st.tuples(st.sampled_from([f for f in FUNCTIONS if FUNCTIONS[f] == 1]), inner).map(
            lambda t: f"{t[0]}({t[1]})"
        ),
        st.tuples(st.sampled_from(["atan2", "min", "max"]), inner, inner).map(
            lambda t: f"{t[0]}({t[1]}, {t[2]})"
        ),
    ),
    max_leaves=6,
)


@settings(max_examples=150, derandomize=True, deadline=None)
@given(_trees)
def test_what_is_written_is_read_again(text):
    try:
        expression = parse(text, ["a", "b"])
    except ExpressionError:
        return
    again = parse(write(expression), ["a", "b"])
    for table in ({"a": 0.7, "b": 1.9}, {"a": -0.3, "b": 0.4}):
        try:
            value = evaluate(expression, table)
        except ExpressionError:
            continue
        assert evaluate(again, table) == pytest.approx(value, rel=1e-9, abs=1e-9)
        direct = ca.Function(
            "f", [], [ca.SX(1) * evaluate(expression, {k: ca.SX(v) for k, v in table.items()})]
        )
        assert float(direct()["o0"]) == pytest.approx(value, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(
    "text",
    [
        "m*l^2/12",
        "m/3 + 0.1*l",
        "-m",
        "1/m",
        "sqrt(2)*l",
        "max(m, l, 0.5)",
        "abs(m - l)",
        "exp(1)*m",
        "m^-2",
        "2/(m + l)",
        "atan2(m, l)",
        "1e-300*m",
        "0.1*m + 0.2*l",
        "sin(m)^2*cos(2*l)",
        "sign(m)*tanh(l)",
    ],
)
def test_plain_expressions_come_back_equal(text):
    expression = parse(text, ["m", "l"])
    assert parse(write(expression), ["m", "l"]) == expression


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_has_one_value_for_every_scalar(name):
    arguments = [0.3, 0.7, 0.5][: FUNCTIONS[name] or 3]
    names = ["x", "y", "z"][: len(arguments)]
    expression = parse(f"{name}({', '.join(names)})", names)
    value = evaluate(expression, dict(zip(names, arguments)))
    assert value == pytest.approx(float(expression.subs(dict(zip(names, arguments)))), rel=1e-12)
    batch = evaluate(expression, {n: np.array([x, x]) for n, x in zip(names, arguments)})
    assert batch == pytest.approx([value, value], rel=1e-12)
    symbols = {n: ca.SX.sym(n) for n in names}
    f = ca.Function("f", list(symbols.values()), [evaluate(expression, symbols)])
    assert float(f(*arguments)) == pytest.approx(value, rel=1e-12)


def test_evaluate_names_what_is_missing():
    with pytest.raises(CatenaError, match="no name 'l'; names are: m"):
        evaluate(parse("m*l", ["m", "l"]), {"m": 1.0})
    with pytest.raises(CatenaError, match="'Piecewise' of"):
        x = sympy.Symbol("x")
        evaluate(sympy.Piecewise((x, x > 0), (0, True)), {"x": 1.0})
