"""Modelica: one flat model, der(x) = f. Loops are kept closed by Baumgarte's terms inside f, as
there is no projection.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import casadi as ca

from ...equations.readable import Argument, statements
from ..plant import VERSION, Plant, Variable
from .dialects import MODELICA, save, tape_of

RESERVED_WORDS = {  # reserved words
    *[
        "algorithm",
        "and",
        "annotation",
        "block",
        "break",
        "class",
        "connect",
        "connector",
        "constant",
        "constrainedby",
        "der",
        "discrete",
        "each",
        "else",
        "elseif",
        "elsewhen",
        "encapsulated",
        "end",
        "enumeration",
        "equation",
        "expandable",
        "extends",
        "external",
        "false",
        "final",
        "flow",
        "for",
        "function",
        "if",
        "import",
        "impure",
        "in",
        "initial",
        "inner",
        "input",
        "loop",
        "model",
        "not",
        "operator",
        "or",
        "outer",
        "output",
        "package",
        "parameter",
        "partial",
        "protected",
        "public",
        "pure",
        "record",
        "redeclare",
        "replaceable",
        "return",
        "stream",
        "then",
        "true",
        "type",
        "when",
        "while",
        "within",
        "time",
    ]
}


def text(plant: Plant) -> str:
    """Return the text of the model's file."""
    name = plant.name.title().replace("_", "")
    return (
        "\n".join(
            [
                f'model {name} "{plant.title}, written by catena {VERSION}"',
                *_inside(plant),
                f"end {name};",
            ]
        )
        + "\n"
    )


def write(plant: Plant, folder: Path) -> Path:
    """Write the model into a file with the model's name, as Modelica requires, and return its
    path.
    """
    return save(plant, folder, f"{plant.name.title().replace('_', '')}.mo", text(plant))


def _inside(plant: Plant) -> Iterator[str]:
    """Yield the lines between the first and the last line of the model."""
    groups = (plant.states, plant.inputs, plant.outputs, plant.parameters)
    names = _names([v for some in groups for v in some])
    cut = [sum(map(len, groups[:k])) for k in range(5)]
    x, u, y, p = (names[cut[k] : cut[k + 1]] for k in range(4))
    yield from (
        f"  parameter Real {n}{f'({_unit(v)[2:]})' if v.unit else ''} = {v.start!r}{_comment(v)};"
        for n, v in zip(p, plant.parameters)
    )
    yield from (
        f"  Real {n}(start = {v.start!r}, fixed = true{_unit(v)}){_comment(v)};"
        for n, v in zip(x, plant.states)
    )
    yield from (
        f"  input Real {n}(start = 0.0{_unit(v)}){_comment(v)};" for n, v in zip(u, plant.inputs)
    )
    yield from (
        f"  output Real {n}{f'({_unit(v)[2:]})' if v.unit else ''}{_comment(v)};"
        for n, v in zip(y, plant.outputs)
    )
    given = [
        Argument("t", ("time",)),
        Argument("x", tuple(x)),
        Argument("u", tuple(u)),
        Argument("p", tuple(p)),
    ]
    both = ca.Function(
        "both",
        plant.derivative.sx_in(),
        ca.cse(
            [plant.derivative(*plant.derivative.sx_in()), plant.output(*plant.derivative.sx_in())]
        ),
    )
    lines, results, _ = statements(
        tape_of(both, MODELICA, "Modelica", ("ERF",)), given, MODELICA, "catena_w"
    )
    yield from (f"  Real {line.partition(' ')[0]};" for line in lines)
    yield "equation"
    yield from (f"  {line}" for line in lines)
    yield from (f"  der({n}) = {r};" for n, r in zip(x, results))
    yield from (f"  {n} = {r};" for n, r in zip(y, results[len(x) :]))


def _names(variables: Sequence[Variable]) -> list[str]:
    """Return distinct names that Modelica allows: letters, digits and _."""
    found: list[str] = []
    for v in variables:
        plain = re.sub(r"\W", "_", v.name, flags=re.ASCII)
        plain = (
            f"v_{plain}" if not plain or plain[0].isdigit() or plain in RESERVED_WORDS else plain
        )
        while plain in found:
            plain += "_"
        found.append(plain)
    return found


def _unit(v: Variable) -> str:
    """Return the unit attribute of a variable, "" where its unit is not known."""
    return f', unit = "{v.unit}"' if v.unit else ""


def _comment(v: Variable) -> str:
    """Return the name of a variable as a Modelica comment."""
    return (
        ' "'
        + "".join(c if c.isprintable() else "?" for c in v.name)
        .replace("\\", "/")
        .replace('"', "'")
        + '"'
    )
