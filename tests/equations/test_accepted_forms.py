"""Right answers are right in any form, wrong ones are not: datum, combinations, angles from the
ground, d/dt, other lines.
"""

from __future__ import annotations

import numpy as np
import pytest

from catena import load
from catena.equations.formulations import derive
from catena.teaching.derivation import accepted_forms as forms
from catena.teaching.derivation import grade


@pytest.fixture(scope="module")
def cart_pole():
    return derive(load("cart_pole"), "lagrange").steps()


@pytest.fixture(scope="module")
def double_pendulum():
    return derive(load("double_pendulum"), "lagrange").steps()


ROW = "(M + m)*x'' - m*l*cos(theta)*theta'' + m*l*sin(theta)*theta'^2 - tau_x"


def test_a_potential_has_any_datum(cart_pole) -> None:
    found = grade(cart_pole, "4.1", "m*g*l*(cos(theta) - 1)")
    assert found.right and "differs by a constant" in str(found)
    # a kinetic energy has none
    assert not grade(cart_pole, "3.1", "m*g*l*(cos(theta) - 1)").right
    assert not grade(cart_pole, "4.1", "m*g*l*cos(theta) + x").right
    assert not grade(cart_pole, "4.1", "m*g*l*cos(theta) + 0*x + x'").right


def test_equations_are_solved_for_an_acceleration(cart_pole) -> None:
    solved = (
        "x'' = (tau_x + cos(theta)/l*tau_theta + m*g*sin(theta)*cos(theta)"
        " - m*l*sin(theta)*theta'^2)/(M + m*sin(theta)^2)"
    )
    found = grade(cart_pole, "8.1", solved)
    assert found.right and "combines the lines 8.1 and 8.2" in str(found)
    assert not grade(cart_pole, "8.1", solved.replace("- m*l", "+ m*l")).right


@pytest.mark.parametrize("factor", ["theta", "sin(theta)", "x^2", "(theta - 1)", "theta'", "0"])
def test_a_factor_that_vanishes_is_no_factor(cart_pole, factor: str) -> None:
    assert not grade(cart_pole, "8.1", f"{factor}*({ROW}) = 0").right


@pytest.mark.parametrize("factor", ["2", "exp(theta)", "1/(l*cos(theta))", "(2 + sin(x))"])
def test_a_factor_that_vanishes_nowhere_is_right(cart_pole, factor: str) -> None:
    assert grade(cart_pole, "8.1", f"{factor}*({ROW}) = 0").right


def test_an_error_of_one_millionth_is_an_error(cart_pole) -> None:
    found = grade(cart_pole, "4.1", "1.000001*m*g*l*cos(theta)")
    assert found.remarks == (
        "the part without speeds, accelerations and forces is 1.000001 times what it should be",
    )


def test_angles_from_the_ground(double_pendulum) -> None:
    found = grade(
        double_pendulum, "1.2", "l1*sin(theta1) + l2*sin(theta2), -l1*cos(theta1) - l2*cos(theta2)"
    )
    assert found.right and "theta2 measured from the ground" in str(found)
    mixed = "l1*sin(theta1) + l2*sin(theta2), -l1*cos(theta1) - l2*cos(theta1 + theta2)"
    assert not grade(double_pendulum, "1.2", mixed).right


def test_another_line_is_named(cart_pole) -> None:
    assert grade(cart_pole, "5.1", "m*l^2*theta' - m*l*cos(theta)*x'").remarks == (
        "this is line 5.2, dT/dtheta'",
    )
    second = "m*l^2*theta'' - m*l*cos(theta)*x'' - m*g*l*sin(theta) = tau_theta"
    assert str(grade(cart_pole, "8.1", second)) == "right: this is line 8.2"


def test_rates_are_differentiated(cart_pole) -> None:
    assert grade(cart_pole, "6.1", "d/dt((M+m)*x' - m*l*cos(theta)*theta')").right
    assert grade(
        cart_pole, "6.1", r"\frac{d}{dt}\left((M+m)\dot x - ml\dot\theta\cos\theta\right)"
    ).right
    assert not grade(cart_pole, "6.1", "d/dt((M+m)*x' + m*l*cos(theta)*theta')").right


def test_every_printed_line_is_its_own_answer() -> None:
    from catena.equations.readable import text_writer
    from catena.teaching.derivation.steps import Label

    for by in ("kane", "boltzmann_hamel"):
        d = derive(load("knife_edge"), by).steps()
        write = text_writer(d.names)
        for k, step in enumerate(d.steps, 1):
            for n, line in enumerate(step.lines, 1):
                right = ", ".join(write(x, False) for x in line.values)
                if not isinstance(line.left, Label):
                    right = f"{write(sum(t.value for t in line.left), False)} = {right}"
                assert grade(d, f"{k}.{n}", right).right, (by, k, n, right)


def test_a_form_is_added_from_outside(cart_pole) -> None:
    def doubled(asked, entries):
        right, own = (asked.states.at(x[0]) for x in (asked.right, entries))
        return "twice" if np.allclose(own, 2 * right) else None

    forms.register(forms.AcceptedForm("toy", doubled))
    try:
        found = grade(cart_pole, "5.1", "2*(M+m)*x' - 2*m*l*cos(theta)*theta'")
    finally:
        del forms.ACCEPTED_FORMS["toy"]
    assert str(found) == "right: twice"
