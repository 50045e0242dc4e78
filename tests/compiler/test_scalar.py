"""Scalars are CasADi's symbols with a shorter way to the same nodes."""

from __future__ import annotations

import operator

import casadi as ca
import numpy as np
import pytest

from catena.compiler.scalar import Scalar
from catena.compiler.symbols import elements

OPERATORS = (
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.iadd,
    operator.isub,
    operator.imul,
    operator.itruediv,
)
OTHERS = {
    "number": 2.5,
    "one": 1,
    "zero": 0.0,
    "minus zero": -0.0,
    "of NumPy": np.float64(-3.0),
    "integer of NumPy": np.int64(2),
    "symbol": ca.SX.sym("y"),
    "scalar": Scalar.of(ca.SX.sym("z")),
    "matrix": ca.SX.sym("A", 2, 2),
}


def code(e: ca.SX) -> str:
    return ca.Function(
        "f", ca.symvar(ca.vec(ca.SX(e))), [e], {"allow_duplicate_io_names": True}
    ).serialize()


@pytest.mark.parametrize("other", OTHERS)
def test_every_operation_makes_the_node_that_casadi_makes(other: str) -> None:
    x, y = ca.SX.sym("x"), OTHERS[other]
    quick = Scalar.of(x + 0)
    plain = ca.SX(quick)
    right = ca.SX(y) if isinstance(y, ca.SX) else y
    for f in OPERATORS:
        mine = f(quick, y)
        theirs = f(plain, right)
        assert type(mine) is Scalar and type(theirs) is ca.SX and code(mine) == code(theirs), f
        assert code(f(y, quick)) == code(f(right, plain)), f


def test_functions_and_zeros() -> None:
    x = ca.SX.sym("x")
    quick = Scalar.of(ca.SX(x))
    for name in ("sin", "cos", "sqrt", "floor"):
        assert code(getattr(quick, name)()) == code(getattr(x, name)())
    assert (quick * 0.0).is_zero() and (quick - quick).is_zero()
    assert str(quick + -0.0) == str(x + -0.0)


def test_arrays_are_taken_entry_by_entry_and_matrices_column_by_column() -> None:
    x = Scalar.of(ca.SX.sym("x"))
    for product in (x * np.array([x, 2.0], dtype=object), np.array([x, 2.0], dtype=object) * x):
        assert str(product) == "[sq(x), (2.*x)]"
    A = ca.SX.sym("A", 2, 2)
    assert [str(e) for e in elements(A)] == [str(A[k]) for k in range(4)]
    assert elements(ca.SX(0, 1)) == [] and [float(e) for e in elements(ca.DM([1, 0]))] == [1.0, 0.0]


def test_functions_of_expressions_take_it_without_a_warning(recwarn):
    """The scalar is CasADi's by birth, not by its own module; NumPy's route to it warns."""
    from catena.model.expression_functions import FUNCTIONS, apply

    x = Scalar.of(ca.SX.sym("x"))
    for name, count in FUNCTIONS.items():
        assert ca.is_equal(
            ca.SX(apply(name, [x] * (count or 2))), ca.SX(apply(name, [ca.SX(x)] * (count or 2))), 3
        )
    assert not recwarn.list
