"""Outputs: measured quantities as texts, such as "q['elbow']" or "x['tip'] - x['cart']", traced
into expressions with exact derivatives.

    y = h(q, v, a, tau)

A text is an expression in the language of files; a word with a bracket is a quantity of
`OUTPUT_WORDS`. The name of a coordinate alone stands for that coordinate. These are the words that
studies use for measures of runs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca

from ..compiler import Tracer, vector
from ..errors import ExpressionError, QuestionError, unknown
from ..machine import Machine, speeds_of, where
from ..model import evaluate, parse, shown
from ..registry import Registry

_BRACKET = re.compile(
    r"(?<!\w)(?P<word>[A-Za-z_]\w*)\s*\[\s*(?P<quote>['\"])(?P<name>[^'\"]*)(?P=quote)\s*\]"
)


@dataclass(frozen=True)
class OutputWord:
    """A quantity that an output may contain, written as name['place'].

    name: the word. doc: what it is, with its unit. traced(tracer, place): its expression.
    """

    name: str
    doc: str
    traced: Callable[[Tracer, str], Any]


@dataclass(frozen=True)
class Outputs:
    """Outputs of a machine. texts: as they were given. function: (q, v, a, tau, p, t) -> y.

    differentiated: (q, v, a, tau, p, t) -> y, y_q along the speeds, y_v, y_a, y_tau.
    """

    texts: tuple[str, ...]
    function: ca.Function
    differentiated: ca.Function


def trace_outputs(machine: Machine, texts: Iterable[str]) -> Outputs:
    """Return the outputs of a machine as functions.

    Raises QuestionError or ExpressionError where a text is not an output of this mechanism.
    """
    several: Any = texts if isinstance(texts, Iterable) else (texts,)
    given: tuple[str, ...] = (texts,) if isinstance(texts, str) else tuple(several)
    for text in given:
        if not isinstance(text, str):
            raise QuestionError(
                f"an output is a text such as \"q['elbow']\" or \"x['tip']\"; found"
                f" {type(text).__name__} {text!r}"
            )
    s = Tracer(machine.layout, machine.snap)
    y = vector([trace_expression(machine, s, text) for text in given])
    N = ca.jacobian(s.coordinate_rate(), s.v)
    inputs = [s.q, s.v, s.a, s.tau, s.p, s.t]
    parts = [y, ca.jacobian(y, s.q) @ N, *(ca.jacobian(y, x) for x in (s.v, s.a, s.tau))]
    return Outputs(
        given,
        ca.Function("outputs", inputs, [ca.densify(y)]),
        ca.Function("outputs_derivatives", inputs, ca.cse([ca.densify(x) for x in parts])),
    )


def trace_expression(
    machine: Machine,
    s: Tracer,
    text: str,
    words: Mapping[str, OutputWord] | None = None,
    symbols: Mapping[str, Any] | None = None,
) -> Any:
    """Return one output as an expression of the tracer's symbols.

    words: the quantities that may stand with a name in brackets, OUTPUT_WORDS by default. symbols:
    further names and their expressions; a text of these alone is allowed where they are given.
    """
    words = OUTPUT_WORDS if words is None else words
    names = (*machine.coordinate_names, *machine.joint_names)
    found: dict[str, Any] = {}

    def symbol(match: re.Match[str]) -> str:
        word = match["word"]
        if word not in words:
            raise ExpressionError(f"{shown(text)}: {unknown('quantity', word, words)}")
        key = f"output_{len(found)}_"
        found[key] = words[word].traced(s, match["name"])
        return key

    whole = f"q['{text}']" if text in names else text
    plain = _BRACKET.sub(symbol, whole)
    if not found and symbols is None:
        raise ExpressionError(
            f"{shown(text)} is no output of {where(machine)}: it contains no quantity. Quantities"
            f" are {', '.join(words)} with a name in brackets, such as q['{names[0]}'], or"
            f" the name of a coordinate: {', '.join(machine.coordinate_names)}"
        )
    parameters = dict(zip(machine.mechanism.parameters, ca.vertsplit(s.p)))
    table = {**parameters, **(symbols or {}), **found}
    return ca.SX(evaluate(parse(plain, list(table)), table))


def _coordinate(s: Tracer, name: str) -> Any:
    """Return a coordinate: by its own name, or by that of a joint with one coordinate."""
    names = list(s.layout.mechanism.coordinate_names)
    for j in s.layout.mechanism.moving:
        if j.name == name and len(j.coordinate_names) == 1:
            name = j.coordinate_names[0]
    if name not in names:
        raise ExpressionError(
            f"q['{name}']:"
            f" {unknown('coordinate', name, names, f'mechanism {s.layout.mechanism.name!r}')}"
        )
    return s.q[names.index(name)]


def _along_speed(symbol: str) -> Callable[[Tracer, str], Any]:
    """Return the function that finds the entry of a joint or speed in the symbol v, a or tau."""

    def traced(s: Tracer, name: str) -> Any:
        places = speeds_of(s.layout.mechanism, name)
        if len(places) > 1:
            own = ", ".join(s.layout.mechanism.speed_names[k] for k in places)
            raise ExpressionError(
                f"{symbol}['{name}']: joint {name!r} has {len(places)} speeds; choose one of {own}"
            )
        return getattr(s, symbol)[places[0]]

    return traced


def _position(axis: int) -> Callable[[Tracer, str], Any]:
    """Return the function that finds a coordinate of the origin of a frame in the ground."""
    return lambda s, frame: s.pose(frame)[axis, 3]


def _velocity(row: int, axes: str) -> Callable[[Tracer, str], Any]:
    """Return the function that finds a component of the velocity of a frame, angular first."""
    return lambda s, frame: s.frame_velocity(frame, axes)[row]


OUTPUT_WORDS: Registry[OutputWord] = Registry(
    "quantity",
    (
        OutputWord("q", "a coordinate, rad or m", _coordinate),
        OutputWord("v", "a speed, rad/s or m/s", _along_speed("v")),
        OutputWord("a", "an acceleration, rad/s2 or m/s2", _along_speed("a")),
        OutputWord("tau", "a joint force, N m or N", _along_speed("tau")),
        *(
            OutputWord(word, f"{word} of the origin of a frame in the ground, m", _position(k))
            for k, word in enumerate("xyz")
        ),
        *(
            OutputWord(
                f"v{word}",
                f"the velocity of the origin of a frame along {word} of the ground, m/s",
                _velocity(3 + k, "world"),
            )
            for k, word in enumerate("xyz")
        ),
        *(
            OutputWord(
                f"w{word}",
                f"the angular velocity of a frame about its own axis {word}, rad/s",
                _velocity(k, "body"),
            )
            for k, word in enumerate("xyz")
        ),
    ),
    error=QuestionError,
)
