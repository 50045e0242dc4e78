"""The form of each operation in other languages, and the code of one function in them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import casadi as ca

from ...compiler import Tape, read
from ...equations.readable import FUNCTIONS, SUM, Argument, Dialect, statements
from ...errors import CompileError
from ...formats import files
from ..plant import Plant

_TWO = ("atan2", "hypot", "copysign", "fmod", "remainder")
_PLAIN = {
    name.upper(): f"{name}({{}}, {{}})" if name in _TWO else f"{name}({{}})" for name in FUNCTIONS
}
_COMPARED = {"LT": "<", "LE": "<=", "EQ": "=="}

MATLAB = Dialect(
    _PLAIN
    | {op: f"double({{}} {sign} {{}})" for op, sign in _COMPARED.items()}
    | {
        "FMOD": "rem({}, {})",
        "REMAINDER": "({0} - {1}*round({0}/{1}))",
        "COPYSIGN": "(abs({0})*(1 - 2*({1} < 0)))",
        "POW": "({}^{})",
        "CONSTPOW": "({}^{})",
        "FABS": "abs({})",
        "FMIN": "min({}, {})",
        "FMAX": "max({}, {})",
        "FLOOR": "floor({})",
        "CEIL": "ceil({})",
        "SIGN": "sign({})",
        "NE": "double({} ~= {})",
        "NOT": "double({} == 0)",
        "AND": "double({} ~= 0 && {} ~= 0)",
        "OR": "double({} ~= 0 || {} ~= 0)",
        "IF_ELSE_ZERO": "only_if({}, {})",
    },
    "{} = {};",
    "Inf",
    "NaN",
)

JULIA = Dialect(
    _PLAIN
    | {op: f"Float64({{}} {sign} {{}})" for op, sign in _COMPARED.items()}
    | {
        "ATAN2": "atan({}, {})",
        "FMOD": "rem({}, {})",
        "REMAINDER": "rem({}, {}, RoundNearest)",
        "POW": "({}^{})",
        "CONSTPOW": "({}^{})",
        "FABS": "abs({})",
        "FMIN": "min({}, {})",
        "FMAX": "max({}, {})",
        "FLOOR": "floor({})",
        "CEIL": "ceil({})",
        "SIGN": "sign({})",
        "NE": "Float64({} != {})",
        "NOT": "Float64({} == 0)",
        "AND": "Float64({} != 0 && {} != 0)",
        "OR": "Float64({} != 0 || {} != 0)",
        "IF_ELSE_ZERO": "({} != 0 ? {} : 0.0)",
    },
    "{} = {}",
    "Inf",
    "NaN",
)

_CHOSEN = {
    op: f"noEvent(if {{}} {sign} {{}} then 1.0 else 0.0)"
    for op, sign in {**_COMPARED, "NE": "<>"}.items()
}
MODELICA = Dialect(
    {op: text for op, text in _PLAIN.items() if op not in ("ASINH", "ACOSH", "ATANH", "ERF")}
    | _CHOSEN
    | {
        "ASINH": "log({0} + sqrt({0}*{0} + 1.0))",
        "ACOSH": "log({0} + sqrt({0}*{0} - 1.0))",
        "ATANH": "(0.5*log((1.0 + {0})/(1.0 - {0})))",
        "LOG1P": "log(1.0 + {})",
        "EXPM1": "(exp({}) - 1.0)",
        "HYPOT": "sqrt({0}*{0} + {1}*{1})",
        "FMOD": "rem({}, {})",
        "REMAINDER": "({0} - {1}*noEvent(floor({0}/{1} + 0.5)))",
        "COPYSIGN": "(abs({0})*noEvent(if {1} < 0 then -1.0 else 1.0))",
        "POW": "({}^{})",
        "CONSTPOW": "({}^{})",
        "FABS": "abs({})",
        "FMIN": "min({}, {})",
        "FMAX": "max({}, {})",
        "FLOOR": "noEvent(floor({}))",
        "CEIL": "noEvent(ceil({}))",
        "SIGN": "noEvent(if {0} > 0 then 1.0 else if {0} < 0 then -1.0 else 0.0)",
        "NOT": "noEvent(if {} == 0 then 1.0 else 0.0)",
        "AND": "noEvent(if {} <> 0 and {} <> 0 then 1.0 else 0.0)",
        "OR": "noEvent(if {} <> 0 or {} <> 0 then 1.0 else 0.0)",
        "IF_ELSE_ZERO": "noEvent(if {} <> 0 then {} else 0.0)",
    },
    "{} = {};",
    "Modelica.Constants.inf",
    "(0.0/0.0)",
    sign=SUM,
)


def tape_of(f: ca.Function, dialect: Dialect, language: str, missing: Sequence[str] = ()) -> Tape:
    """Return the list of operations of a function; raise CompileError with the operations that the
    language lacks.
    """
    tape = read(f)
    own = {"INPUT", "CONST", "OUTPUT", "ADD", "SUB", "MUL", "DIV", "NEG", "SQ", "TWICE", "INV"}
    lacking = sorted(
        {node.op for node in tape.nodes} - own - set(dialect.operations)
        | {node.op for node in tape.nodes} & set(missing)
    )
    if lacking:
        raise CompileError(
            f"{language} has no {', '.join(op.lower() for op in lacking)}, which an expression of"
            " this mechanism uses; export C instead"
        )
    return tape


def arguments(names: Sequence[str], f: ca.Function, place: str) -> list[Argument]:
    """Return the arguments of a function, whose entries are written as place.format(name, k), k
    from 1.
    """
    sizes = [f.size1_in(k) for k in range(f.n_in())]
    return [
        Argument(x, (x,) if x in ("t", "dt") else tuple(place.format(x, k + 1) for k in range(n)))
        for x, n in zip(names, sizes)
    ]


def body(
    f: ca.Function,
    dialect: Dialect,
    language: str,
    names: Sequence[str],
    place: str,
    missing: Sequence[str] = (),
) -> tuple[list[str], list[str]]:
    """Return the assignments and the results of a function in a language."""
    lines, results, _ = statements(
        tape_of(f, dialect, language, missing), arguments(names, f, place), dialect, "w"
    )
    return lines, results


def save(plant: Plant, folder: Path, name: str, text: str) -> Path:
    """Write one file into a folder, and return its path."""
    files.write(folder / name, text)
    return folder / name


def listing(plant: Plant) -> list[str]:
    """Return lines that give the meaning of the entries of x, u, p and y, counted from one."""
    found = []
    for letter, some in (
        ("x", plant.states),
        ("u", plant.inputs),
        ("p", plant.parameters),
        ("y", plant.outputs),
    ):
        found += [
            f"{letter}({k}) "
            f" {''.join(c if c.isprintable() else '?' for c in v.name)}{', ' * bool(v.unit)}{v.unit}"  # noqa: E501
            for k, v in enumerate(some, 1)
        ]
    return found
