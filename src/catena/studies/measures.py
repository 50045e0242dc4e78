"""Measures: the numbers that a study stores for each run, given as an expression over the rows of
the run, in the language of files, or as a Python function.

    max(abs(torque['motor pin']))  rms(q['elbow'] - 0.3)  final(energy) - first(energy)
            time_of(y['tip'])  event['floor']

A string is parsed like the expressions of files (`model/expression_syntax.py`); it is never
executed. Names with a bracket are quantities over time; a function of `REDUCTIONS` with one
argument reduces one to a number. A measure without reduction is stored over time. Parameters are
plain names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import CatenaError, ExpressionError, StudyError, unknown
from ..machine import Machine
from ..model import FUNCTIONS, evaluate, parse, shown
from .reductions import REDUCTIONS, Reduction

Array = NDArray[np.float64]
# quantities without a bracket, and their units
PLAIN = {
    "t": "s",
    "kinetic": "J",
    "potential": "J",
    "energy": "J",
    "work": "J",
    "energy_error": "J",
}
# quantities with a bracket; torque and force are other words for tau
SUBSCRIPTED = ("q", "v", "a", "tau", "torque", "force", "x", "y", "z")
_SUBSCRIPT = re.compile(
    r"(?<!\w)(?P<word>[A-Za-z_]\w*)\s*\[\s*(?P<quote>['\"])(?P<name>[^'\"]*)(?P=quote)\s*\]"
)
_WORDS = re.compile(r"(?<![\w.])([A-Za-z_]\w*)\s*\(")


@dataclass(frozen=True)
class Signal:
    """A quantity over time: its word, and the name in its bracket.

    The word "event" is one number per run: the time of the first event of that name, s.
    """

    word: str
    name: str = ""

    def __str__(self) -> str:
        return f"{self.word}['{self.name}']" if self.name else self.word


@dataclass(frozen=True)
class Step:
    """One reduction within a measure.

    symbol: stands for its value in later expressions. text: as the user wrote it. of: the
    expression that is reduced. more: further arguments.
    """

    symbol: str
    text: str
    reduction: Reduction
    of: Any
    more: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Measure:
    """A measure that was read.

    signals: (symbol, signal). steps: the reductions, in the order of their evaluation. expression:
    the measure with the reductions replaced by their symbols. function: a Python function in place
    of the expression; it takes a Result of one run, or of all runs of a batch where `batch`.
    """

    name: str
    text: str
    signals: tuple[tuple[str, Signal], ...] = ()
    steps: tuple[Step, ...] = ()
    expression: Any = None
    function: Callable[[Any], Any] | None = None
    batch: bool = False

    @cached_property
    def over_time(self) -> bool:
        """Whether the measure is a function of time, because some signal in it is not reduced."""
        if self.function is not None or isinstance(self.expression, int | float):
            return False
        own = {symbol for symbol, signal in self.signals if signal.word != "event"}
        return bool(own & {str(s) for s in self.expression.free_symbols})

    def values(
        self, t: Array, table: Mapping[str, Array]
    ) -> tuple[Array, list[tuple[Step, Array]]]:
        """Return the values, and for each reduction without a value in some runs, which runs these
        are.

        The values are (runs,), or (runs, rows) for a measure over time. t: the times of the rows,
        s. table: signals by symbol (runs, rows), and numbers of runs (runs, 1).
        """
        found, missing = dict(table), []
        runs = len(next(iter(table.values())))
        with np.errstate(all="ignore"):
            for step in self.steps:
                x = np.broadcast_to(np.asarray(evaluate(step.of, found), float), (runs, len(t)))
                y = step.reduction.of(
                    t, x, *(np.asarray(evaluate(a, found), float) for a in step.more)
                )
                found[step.symbol] = np.asarray(y, float).reshape(runs, 1)
                if not np.isfinite(y).all():
                    missing.append((step, ~np.isfinite(y)))
            whole = np.asarray(evaluate(self.expression, found), float)
        size = len(t) if self.over_time else 1
        values = np.broadcast_to(whole, (runs, size))
        return (values if self.over_time else values[:, 0]), missing


def vectorised(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Mark a Python measure that takes a Result of many runs and returns one number for each,
    (runs,).
    """
    function.batch = True  # type: ignore[attr-defined]
    return function


# --- reading
def read_measures(given: Mapping[str, Any] | Any, machine: Machine) -> tuple[Measure, ...]:
    """Return the measures from {name: text or function}, or from a list of texts.

    Raises StudyError with every fault.
    """
    if not isinstance(given, Iterable):
        given = [given]
    named = (
        given
        if isinstance(given, Mapping)
        else {str(x): x for x in ([given] if isinstance(given, str) else given)}
    )
    found, faults = [], []
    for name, what in named.items():
        try:
            found.append(read_measure(str(name), what, machine))
        except CatenaError as why:
            faults.append(
                f"measure {shown(str(name))}: {why}" if name is not what else f"measure {why}"
            )
    if not named:
        faults.append(
            "no measure is given; give what is measured in each run, such as"
            " {'peak': \"max(abs(q['elbow']))\"}, or --measure \"max(abs(q['elbow']))\""
        )
    if faults:
        raise StudyError("the measures of a study cannot be read:", faults)
    return tuple(found)


def read_measure(name: str, what: Any, machine: Machine) -> Measure:
    """Return one measure from an expression or a function."""
    if callable(what):
        return Measure(
            name,
            getattr(what, "__name__", type(what).__name__),
            function=what,
            batch=bool(getattr(what, "batch", False)),
        )
    if not isinstance(what, str):
        raise StudyError(
            f"it is a {type(what).__name__}; a measure is a text or a function of a Result"
        )
    return _Reader(name, what, machine).measure()


class _Reader:
    """A parser of one expression string: brackets become symbols, then reductions from the
    innermost outwards.
    """

    def __init__(self, name: str, text: str, machine: Machine):
        self.name, self.whole, self.machine = name, text, machine
        self.signals: dict[str, Signal] = {}
        self.steps: list[Step] = []

    def measure(self) -> Measure:
        """Return the measure; raise ExpressionError where a name is unknown."""
        text = _SUBSCRIPT.sub(self._bracket, self.whole)
        if "[" in text:
            raise ExpressionError(
                f"{shown(self.whole)}: a bracket holds a name in quotation marks, such as"
                " q['elbow']"
            )
        for word in PLAIN:
            if (
                re.search(rf"(?<![\w.]){word}(?!\w)(?!\s*\()", text)
                and word not in self.machine.mechanism.parameters
            ):
                self.signals[word] = Signal(word)
        text = self._reduced(text)
        expression = self._parsed(text)
        return Measure(
            self.name, self.whole, tuple(self.signals.items()), tuple(self.steps), expression
        )

    def _parsed(self, text: str) -> Any:
        """Return the expression of a text whose brackets and reductions are symbols."""
        known = [*self.signals, *(s.symbol for s in self.steps), *self.machine.mechanism.parameters]
        try:
            return parse(text, known)
        except ExpressionError as why:
            raise ExpressionError(self._readable(str(why))) from None

    def _readable(self, message: str) -> str:
        """Return a message with the user's own string in place of internal symbols."""
        for symbol, signal in self.signals.items():
            if signal.name:
                message = message.replace(symbol, str(signal))
        for step in self.steps:
            message = message.replace(step.symbol, step.text)
        return message

    # --- brackets
    def _bracket(self, match: re.Match[str]) -> str:
        """Return the symbol of a quantity with a bracket, such as q['elbow']."""
        signal = Signal(
            "tau" if match["word"] in ("torque", "force") else match["word"], match["name"]
        )
        self._check(signal)
        for symbol, known in self.signals.items():
            if known == signal:
                return symbol
        symbol = f"signal_{len(self.signals)}_"
        self.signals[symbol] = signal
        return symbol

    def _check(self, signal: Signal) -> None:
        """Raise an error if the mechanism lacks the frame, coordinate or speed of a quantity."""
        machine = self.machine
        if signal.word in ("x", "y", "z"):
            machine.mechanism.frame(signal.name)
        elif signal.word in SUBSCRIPTED:
            place(machine, signal)
        elif signal.word != "event":
            raise ExpressionError(
                f"{shown(self.whole)}: {unknown('quantity', signal.word, (*SUBSCRIPTED, 'event'))}"
            )

    # --- reductions
    def _reduced(self, text: str) -> str:
        """Return the string with a symbol in place of each reduction. The last one to begin is
        replaced first, because it is innermost.
        """
        for match in reversed(list(_WORDS.finditer(text))):
            if match[1] not in REDUCTIONS and match[1] not in FUNCTIONS:
                raise ExpressionError(
                    f"{shown(self.whole)}:"
                    f" {unknown('function', match[1], dict.fromkeys((*REDUCTIONS, *FUNCTIONS)))}"
                )
            if match[1] not in REDUCTIONS:
                continue
            end = _closing(text, match.end() - 1, self.whole)
            arguments = list(_arguments(text[match.end() : end]))
            reduction = REDUCTIONS[match[1]]
            if match[1] in FUNCTIONS and len(arguments) > 1:
                continue  # min and max of several values, row by row
            if not 1 <= len(arguments) <= 1 + reduction.more:
                raise ExpressionError(
                    f"{shown(self.whole)}: {match[1]} takes"
                    f" {'one argument' if not reduction.more else 'one or two arguments'}, found"
                    f" {len(arguments)}"
                )
            of, *more = (self._parsed(a) for a in arguments)
            written = self._readable(text[match.start() : end + 1])
            self.steps.append(
                Step(f"reduced_{len(self.steps)}_", written, reduction, of, tuple(more))
            )
            text = f"{text[: match.start()]}{self.steps[-1].symbol}{text[end + 1 :]}"
        return text


def _closing(text: str, start: int, whole: str) -> int:
    """Return the index at which the parenthesis at `start` closes."""
    depth = 0
    for k in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[k], 0)
        if not depth:
            return k
    raise ExpressionError(f"{shown(whole)}: a parenthesis is not closed")


def _arguments(text: str) -> Iterator[str]:
    """Yield the parts of a string between commas that are outside of inner parentheses."""
    depth, begin = 0, 0
    for k, letter in enumerate(text):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "," and not depth:
            yield text[begin:k]
            begin = k + 1
    yield text[begin:]


def place(machine: Machine, signal: Signal) -> int:
    """Return the index of a coordinate or speed; a joint with one of them may be given by its
    name.

    Raises ExpressionError for a name that the mechanism does not have.
    """
    names = machine.coordinate_names if signal.word == "q" else machine.speed_names
    if signal.name in names:
        return list(names).index(signal.name)
    for j in machine.mechanism.moving:
        own = j.coordinate_names if signal.word == "q" else j.speed_names
        if j.name == signal.name and len(own) == 1:
            return list(names).index(own[0])
    what = "coordinate" if signal.word == "q" else "speed"
    raise ExpressionError(
        f"{signal}: {unknown(what, signal.name, names, f'mechanism {machine.mechanism.name!r}')}"
    )
