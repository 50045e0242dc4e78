"""Policies: networks in ONNX files as controllers of `catena.simulate`.

    file -> expressions of the observations -> signals of the motors, held between two samples

The network becomes part of the compiled code, so it acts in single runs, batches, studies and C
alike, and no other runtime is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from ..analysis import OUTPUT_WORDS, trace_expression
from ..compiler import Tracer
from ..errors import FormatError, QuestionError
from ..machine import machine_of
from ..registry import Registry
from ..simulation.control import Controller, Law, check_sample_time
from .definition import Environment
from .tapes import Motors, observed, sensor_word

# a sample is due this share of the sample time early, since times are rounded
EARLY = 1e-6


# --- files
@dataclass(frozen=True)
class Operator:
    """An operator of ONNX. apply(inputs, attributes) -> the output, on rows (1, n) of symbols or
    arrays.
    """

    name: str
    apply: Callable[[list[Any], dict[str, Any]], Any]


def _each(function: Callable[..., Any]) -> Callable[[list[Any], dict[str, Any]], Any]:
    """Return an operator that acts on each number."""
    return lambda x, attributes: function(*(ca.SX(y) for y in x))


def _gemm(x: list[Any], attributes: dict[str, Any]) -> Any:
    """Return alpha A B + beta C, each transposed where that is asked."""
    A, B = (ca.SX(y) for y in x[:2])
    A = A.T if attributes.get("transA") else A
    B = B.T if attributes.get("transB") else B
    found = attributes.get("alpha", 1.0) * (A @ B)
    return found + attributes.get("beta", 1.0) * _row(x[2]) if len(x) > 2 else found


def _row(x: Any) -> ca.SX:
    """Return a vector as a row; others as they are."""
    x = ca.SX(x)
    return x.T if x.shape[1] == 1 else x


def _binary(function: Callable[[Any, Any], Any]) -> Callable[[list[Any], dict[str, Any]], Any]:
    return lambda x, attributes: function(_row(x[0]), _row(x[1]))


def _clip(x: list[Any], attributes: dict[str, Any]) -> Any:
    """Return the numbers within limits, which are inputs or attributes."""
    low = x[1] if len(x) > 1 and x[1] is not None else attributes.get("min", -np.inf)
    high = x[2] if len(x) > 2 and x[2] is not None else attributes.get("max", np.inf)
    return ca.fmin(ca.fmax(ca.SX(x[0]), ca.SX(low)), ca.SX(high))


def _leaky(x: list[Any], attributes: dict[str, Any]) -> Any:
    y = ca.SX(x[0])
    return ca.if_else(y < 0, attributes.get("alpha", 0.01) * y, y)


def _elu(x: list[Any], attributes: dict[str, Any]) -> Any:
    y = ca.SX(x[0])
    return ca.if_else(y < 0, attributes.get("alpha", 1.0) * (ca.exp(y) - 1), y)


def _concat(x: list[Any], attributes: dict[str, Any]) -> Any:
    return ca.horzcat(*(_row(y) for y in x))


def _same(x: list[Any], attributes: dict[str, Any]) -> Any:
    return x[0]


OPERATORS: Registry[Operator] = Registry(
    "operator of ONNX",
    (
        Operator("Gemm", _gemm),
        Operator("MatMul", lambda x, attributes: _row(x[0]) @ ca.SX(x[1])),
        Operator("Add", _binary(lambda a, b: a + b)),
        Operator("Sub", _binary(lambda a, b: a - b)),
        Operator("Mul", _binary(lambda a, b: a * b)),
        Operator("Div", _binary(lambda a, b: a / b)),
        Operator("Tanh", _each(ca.tanh)),
        Operator("Relu", _each(lambda x: ca.fmax(x, 0))),
        Operator("Sigmoid", _each(lambda x: 1 / (1 + ca.exp(-x)))),
        Operator("Softplus", _each(lambda x: ca.log(1 + ca.exp(x)))),
        Operator("Exp", _each(ca.exp)),
        Operator("Neg", _each(lambda x: -x)),
        Operator("Sqrt", _each(ca.sqrt)),
        Operator("LeakyRelu", _leaky),
        Operator("Elu", _elu),
        Operator("Clip", _clip),
        Operator("Concat", _concat),
        *(Operator(name, _same) for name in ("Identity", "Cast", "Flatten", "Dropout")),
    ),
)


def read_network(file: str | Path) -> ca.Function:
    """Return the network of an ONNX file as a function of one row of observations.

    Raises
    ------
    FormatError
        If the network has several inputs, or an operator that is not among `OPERATORS`.
    """
    try:
        from onnx import load_model, numpy_helper
        from onnx.helper import get_attribute_value
    except ImportError as error:
        raise QuestionError(
            'ONNX files are read with the package onnx: pip install "catena[learning]"'
        ) from error
    path = Path(file)
    if not path.is_file():
        raise FormatError(path, "there is no such file")
    graph = load_model(str(path)).graph
    known: dict[str, Any] = {"": None}
    for tensor in graph.initializer:
        known[tensor.name] = _array(path, tensor.name, numpy_helper.to_array(tensor))
    inputs = [x for x in graph.input if x.name not in known]
    if len(inputs) != 1 or len(graph.output) < 1:
        names = ", ".join(x.name for x in inputs) or "none"
        raise FormatError(path, f"a policy has one input, a row of observations; found {names}")
    dims = inputs[0].type.tensor_type.shape.dim
    count = int(dims[-1].dim_value) if dims else 0
    if count < 1:
        raise FormatError(
            path, f"the number of observations is not fixed in the input {inputs[0].name!r}"
        )
    row = ca.SX.sym("o", 1, count)
    known[inputs[0].name] = row
    for node in graph.node:
        attributes = {a.name: get_attribute_value(a) for a in node.attribute}
        if node.op_type == "Constant":
            value = numpy_helper.to_array(attributes["value"])
            known[node.output[0]] = _array(path, node.output[0], value)
            continue
        if node.op_type not in OPERATORS:
            raise FormatError(
                path,
                f"it has the operator {node.op_type!r}; operators are {', '.join(OPERATORS)}",
            )
        known[node.output[0]] = OPERATORS[node.op_type].apply(
            [known[name] for name in node.input], attributes
        )
    out = ca.densify(_row(known[graph.output[0].name]))
    return ca.Function("policy", [row], [ca.cse(out)])


def _array(path: Path, name: str, x: np.ndarray) -> ca.DM:
    """Return a tensor of at most two dimensions; leading ones of size one are dropped."""
    while x.ndim > 2 and x.shape[0] == 1:
        x = x[0]
    if x.ndim > 2:
        raise FormatError(
            path, f"tensor {name!r} has {x.ndim} dimensions; a policy has at most two"
        )
    return ca.DM(np.asarray(x, float))


# --- control
@dataclass(frozen=True)
class Policy(Controller):
    """A network as a controller: from the observations of an environment to its motors.

    Parameters
    ----------
    environment : Environment
        Says what is observed, which motors there are, and the choices, if there are any.
    file : str or Path
        The ONNX file. It has one output per motor, or one score per choice, of which the highest
        is chosen.
    sample : float or None
        The time for which the signals are held, s; by default the time step of the environment.

    Raises
    ------
    QuestionError
        If the sizes of the network and of the environment differ.
    """

    environment: Environment
    file: str | Path
    sample: float | None = None

    def __post_init__(self) -> None:
        check_sample_time("Policy", self.sample)
        e, f = self.environment, read_network(self.file)
        parts = observed(e)
        if wrong := [x.name for _, x in parts if x is not None and not x.exact]:
            raise QuestionError(
                f"the policy observes {', '.join(wrong)}, whose readings have errors, and a run has"
                " true values: give the sensors none, or step `Worlds`"
            )
        texts = tuple(text for own, _ in parts for text in own)
        object.__setattr__(self, "texts", texts)
        sizes = len(texts), len(e.choices) or len(e.actions)
        found = f.numel_in(0), f.numel_out(0)
        if found != sizes:
            raise QuestionError(
                f"the policy {str(self.file)!r} takes {found[0]} numbers and returns {found[1]};"
                f" environment {e.name!r} has {sizes[0]} observations and {sizes[1]}"
                f" {'choices' if e.choices else 'motors'}"
            )
        object.__setattr__(self, "network", f)

    def law(self, system: Any) -> Law:
        """Return the motors' forces under signals that are computed at every sample and held."""
        e = self.environment
        own = Motors(e.actions).law(system)
        period = e.time_step if self.sample is None else float(self.sample)
        held, due = ca.SX.sym("held", len(e.actions)), ca.SX.sym("due")
        inputs = system.u[: len(e.actions)]
        tau, rate = (ca.substitute(ca.SX(x), inputs, held) for x in (own.tau, own.rate))
        state = ca.vertcat(own.state, held, due)
        fresh = ca.vertcat(own.state, self._signals(system), system.t + period)
        names = (
            *own.names,
            *(f"signal of {motor.name}" for motor in e.actions),
            f"next sample, every {period:g} s",
        )
        return Law(
            tau,
            ca.vertcat(rate, ca.SX.zeros(len(e.actions) + 1)),
            state,
            names,
            (*own.start, *(0.0 for _ in e.actions), -1e300),  # the first sample is due at once
            ca.if_else(system.t >= due - EARLY * period, fresh, state),
            (len(names) - 1,),
            own.integrals,
        )

    def _signals(self, system: Any) -> ca.SX:
        """Return the signals (motors,) at the state of a system."""
        e = self.environment
        s: Tracer = system.tracer()
        machine = machine_of(system.mechanism)
        words = {**OUTPUT_WORDS, "sensor": sensor_word(e)}
        texts = self.texts  # type: ignore[attr-defined]
        seen = ca.vertcat(*(trace_expression(machine, s, text, words) for text in texts))
        f = ca.Function("seen", [s.t, s.q, s.v, s.p], [ca.densify(seen)])
        out = self.network(f(system.t, system.q, system.v, system.p).T).T  # type: ignore[attr-defined]
        if not e.choices:
            return out
        chosen, best = ca.SX(ca.DM(e.choices[0])), out[0]
        for k, row in enumerate(e.choices[1:], 1):
            chosen = ca.if_else(out[k] > best, ca.DM(row), chosen)
            best = ca.fmax(best, out[k])
        return chosen
