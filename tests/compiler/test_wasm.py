"""WebAssembly: every operation of a tape gives the number that CasADi gives, in a real engine."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from catena.compiler.tape import read
from catena.compiler.wasm import module
from catena.errors import CompileError

pytest.importorskip("wasmtime")
from wasm import Instance

x, y, z = (ca.SX.sym(name) for name in "xyz")
OPERATIONS = {
    "arithmetic": [
        x + y,
        x - y,
        x * y,
        x / y,
        -x,
        x * x,
        x + x,
        1 / y,
        ca.sqrt(ca.fabs(z)),
        ca.floor(x),
        ca.ceil(x),
    ],
    "choice": [
        ca.fmin(x, y),
        ca.fmax(x, z),
        ca.sign(x),
        ca.copysign(x, y),
        ca.if_else(x > y, z, 3),
        ca.if_else(x <= y, z, y),
        ca.logic_and(x > 0, y > 0),
        ca.logic_or(x > 0, y > 0),
        ca.logic_not(x > 0),
        x == y,
        x != y,
    ],
    "functions": [
        ca.tan(x),
        ca.asin(ca.tanh(x)),
        ca.acos(ca.tanh(y)),
        ca.atan(x),
        ca.atan2(x, y),
        ca.exp(x),
        ca.log(ca.fabs(y)),
        ca.sinh(x),
        ca.cosh(x),
        ca.fabs(y) ** x,
    ],
    "angles": [ca.sin(x), ca.cos(x), ca.sin(y) * ca.cos(z) + ca.sin(x), ca.cos(ca.sin(x) + y)],
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_operations_are_those_of_casadi(name):
    f = ca.Function("f", [ca.vertcat(x, y, z)], [ca.vertcat(*OPERATIONS[name])])
    instance = Instance(module({"f": read(f)}))
    for state in np.random.default_rng(1).normal(size=(200, 3)) * 3:
        theirs = np.array(f(state)).ravel()
        ours = instance.call("f", state, len(theirs))
        np.testing.assert_allclose(ours, theirs, rtol=4e-16, atol=3e-16)


def test_angles_of_every_size():
    f = ca.Function("f", [x], [ca.vertcat(ca.sin(x), ca.cos(x))])
    instance = Instance(module({"f": read(f)}))
    near = np.pi / 2 * np.arange(-8, 9)
    for angle in (
        *near,
        *np.nextafter(near, 9),
        *10.0 ** np.arange(-300, 16, 7.0),
        1e6,
        1.0000001e6,
        -3e9,
        0.0,
    ):
        np.testing.assert_allclose(
            instance.call("f", [angle], 2), [np.sin(angle), np.cos(angle)], rtol=5e-16, atol=2e-16
        )


def test_a_function_that_browsers_lack_is_refused():
    with pytest.raises(CompileError, match="erf"):
        module({"f": read(ca.Function("f", [x], [ca.erf(x)]))})
