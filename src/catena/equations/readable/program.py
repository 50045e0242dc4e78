"""A CasADi function as a program: one function in plain Python (math only) or in C (math.h only).

Each value that is used more than once has a line of its own; the others are written where they are
used. The arithmetic is that of the CasADi function, operation by operation.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import casadi as ca

from ...compiler import Tape, read
from .convert import constant, uses

LONGEST_EXPRESSION = 90  # characters: a longer expression gets a line of its own
SUM, PRODUCT, SIGNED, ATOM = range(4)  # how tightly an expression binds

BINARY = {"ADD": (" + ", SUM), "SUB": (" - ", SUM), "MUL": ("*", PRODUCT), "DIV": ("/", PRODUCT)}
FUNCTIONS = (
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "atan2",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "exp",
    "log",
    "log1p",
    "expm1",
    "erf",
    "sqrt",
    "fmod",
    "remainder",
    "copysign",
    "hypot",
)

PYTHON = {
    name.upper(): (
        f"math.{name}({{}}, {{}})"
        if name in ("atan2", "fmod", "remainder", "copysign", "hypot")
        else f"math.{name}({{}})"
    )
    for name in FUNCTIONS
} | {
    "POW": "math.pow({}, {})",
    "CONSTPOW": "math.pow({}, {})",
    "FABS": "abs({})",
    "FMIN": "min({}, {})",
    "FMAX": "max({}, {})",
    "FLOOR": "float(math.floor({}))",
    "CEIL": "float(math.ceil({}))",
    "SIGN": "float(({0} > 0) - ({0} < 0))",
    "LT": "float({} < {})",
    "LE": "float({} <= {})",
    "EQ": "float({} == {})",
    "NE": "float({} != {})",
    "NOT": "float(not {})",
    "AND": "float({} != 0 and {} != 0)",
    "OR": "float({} != 0 or {} != 0)",
    "IF_ELSE_ZERO": "({1} if {0} else 0.0)",
}
C = {op: line.removeprefix("math.") for op, line in PYTHON.items()} | {
    "FABS": "fabs({})",
    "FMIN": "fmin({}, {})",
    "FMAX": "fmax({}, {})",
    "FLOOR": "floor({})",
    "CEIL": "ceil({})",
    "SIGN": "({0} > 0 ? 1.0 : {0} < 0 ? -1.0 : {0})",
    "LT": "(double)({} < {})",
    "LE": "(double)({} <= {})",
    "EQ": "(double)({} == {})",
    "NE": "(double)({} != {})",
    "NOT": "(double)({} == 0)",
    "AND": "(double)({} != 0 && {} != 0)",
    "OR": "(double)({} != 0 || {} != 0)",
    "IF_ELSE_ZERO": "({0} != 0 ? {1} : 0.0)",
}


@dataclass(frozen=True)
class Dialect:
    """A programming language: the form of each operation and of names, and its constants for
    infinity and NaN.

    sign: how tightly a sign binds; SUM where a minus is allowed only at the beginning of a sum.
    """

    operations: Mapping[str, str]
    assign: str
    infinity: str
    not_a_number: str
    sign: int = SIGNED


AS_PYTHON = Dialect(PYTHON, "{} = {}", "math.inf", "math.nan")
AS_C = Dialect(C, "const double {} = {};", "INFINITY", "NAN")


@dataclass(frozen=True)
class Argument:
    """An argument of the function: its name, a name for each of its entries, and default values.

    An argument whose only entry has its own name is a number; any other is a list.
    """

    name: str
    entries: tuple[str, ...]
    default: tuple[float, ...] | None = None

    @property
    def scalar(self) -> bool:
        """Whether it is one number."""
        return self.entries == (self.name,)


def python(f: ca.Function, arguments: Sequence[Argument], about: str, letter: str) -> str:
    """Return the source of a Python function of lists that returns a list."""
    lines, results, used = statements(read(f), arguments, AS_PYTHON, letter)
    head = ", ".join(a.name if a.default is None else f"{a.name}={a.default!r}" for a in arguments)
    lists = [a for a in arguments if used & set(a.entries) and not a.scalar]
    unpack = [f"{', '.join(a.entries)}{',' * (len(a.entries) == 1)} = {a.name}" for a in lists]
    body = [*unpack, *lines, f"return [{', '.join(results)}]"]
    return (
        f'import math\n\n\ndef {f.name()}({head}):\n    """{about}"""\n    '
        + "\n    ".join(body)
        + "\n"
    )


def c(f: ca.Function, arguments: Sequence[Argument], about: str, letter: str) -> str:
    """Return the source of a C function that writes its results into the last argument."""
    out, tape = f"{letter}_out", read(f)
    results = [f"{out}[{k}]" for k in range(_size(tape))]
    head = c_head(f.name(), arguments, [out])
    return (
        f"#include <math.h>\n\n/* {about}"
        f" */\n{head}\n{{\n{c_body(tape, arguments, results, letter)}\n}}\n"
    )


def c_head(name: str, arguments: Sequence[Argument], outputs: Sequence[str]) -> str:
    """Return the prototype of a C function of these arguments that fills arrays of these names,
    without a semicolon.
    """
    taken = [f"double {a.name}" if a.scalar else f"const double *{a.name}" for a in arguments]
    return f"void {name}({', '.join([*taken, *(f'double *{out}' for out in outputs)])})"


def c_body(tape: Tape, arguments: Sequence[Argument], results: Sequence[str], letter: str) -> str:
    """Return the statements of a C function. Arguments are read first and results stored last, so
    that they may share memory.
    """
    lines, values, used = statements(tape, arguments, AS_C, letter)
    entries = [(x, a.name, k) for a in arguments if not a.scalar for k, x in enumerate(a.entries)]
    unpack = [f"const double {x} = {name}[{k}];" for x, name, k in entries if x in used]
    stores = [f"{place} = {x};" for place, x in zip(results, values)]
    unused = [f"(void){a.name};" for a in arguments if not used & set(a.entries)]
    return "\n".join(f"    {line}" for line in (*unpack, *lines, *stores, *unused))


def statements(
    tape: Tape, arguments: Sequence[Argument], dialect: Dialect, letter: str
) -> tuple[list[str], list[str], set[str]]:
    """Return the assignments, the results, and the names of the inputs that are used."""
    inputs = [entry for a in arguments for entry in a.entries]
    often, used = uses(tape), set[str]()
    lines: list[str] = []
    values: list[Text] = []
    results: dict[int, str] = {}
    for node in tape.nodes:
        if node.op in ("SQ", "SIGN"):  # written with their argument twice
            often[node.args[0]] += 1
    for n, node in enumerate(tape.nodes):
        arguments_here = [values[a] for a in node.args]
        if node.op == "OUTPUT":
            results[node.at] = arguments_here[0][0]
            values.append(("", ATOM))
            continue
        if node.op == "INPUT":
            used.add(inputs[node.at])
            value = inputs[node.at], ATOM
        elif node.op == "CONST":
            value = _literal(constant(node), dialect)
        else:
            value = _expression(node.op, arguments_here, dialect)
            if often.get(n, 0) > 1 or len(value[0]) > LONGEST_EXPRESSION:
                name = f"{letter}{len(lines) + 1}"
                lines.append(dialect.assign.format(name, value[0]))
                value = name, ATOM
        values.append(value)
    return lines, [results[k] for k in range(_size(tape))], used


def _size(tape: Tape) -> int:
    return sum(rows * columns for rows, columns in tape.output_shapes)


Text = tuple[str, int]  # an expression and how tightly it binds


def _literal(x: float, dialect: Dialect) -> Text:
    size = (
        dialect.not_a_number
        if math.isnan(x)
        else dialect.infinity
        if math.isinf(x)
        else repr(abs(x))
    )
    return (f"-{size}", dialect.sign) if math.copysign(1.0, x) < 0 else (size, ATOM)


def _expression(op: str, arguments: Sequence[Text], dialect: Dialect) -> Text:
    """Return one operation, with no more brackets than it needs."""
    table = dialect.operations

    def at_least(x: Text, level: int) -> str:
        return x[0] if x[1] >= level else f"({x[0]})"

    short: dict[str, Callable[[], Text]] = {
        "NEG": lambda: (f"-{at_least(arguments[0], ATOM)}", dialect.sign),
        "SQ": lambda: (f"{at_least(arguments[0], ATOM)}*{at_least(arguments[0], ATOM)}", PRODUCT),
        "TWICE": lambda: (f"2.0*{at_least(arguments[0], ATOM)}", PRODUCT),
        "INV": lambda: (f"1.0/{at_least(arguments[0], ATOM)}", PRODUCT),
    }
    if op in short:
        return short[op]()
    if op in BINARY:
        sign, level = BINARY[op]
        return f"{at_least(arguments[0], level)}{sign}{at_least(arguments[1], level + 1)}", level
    call = re.fullmatch(r"[\w.]+\(\{\}(, \{\})?\)", table[op])  # a comma needs no brackets
    return table[op].format(*(x[0] if call else at_least(x, ATOM) for x in arguments)), ATOM
