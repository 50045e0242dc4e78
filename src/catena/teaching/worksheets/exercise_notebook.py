"""A worksheet as a Jupyter notebook: the statement with its sketch, and a cell for each line, in
which the answer is written and graded.
"""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

from ..derivation.steps import Label, Line

if TYPE_CHECKING:
    from .sheet import Worksheet


def exercise_notebook(sheet: Worksheet, solutions: bool = False) -> str:
    """Return the notebook (nbformat 4.5) as JSON."""
    if solutions:
        return sheet.derivation.notebook(sheet.problem.name if sheet.problem else sheet.file)
    d = sheet.derivation
    facts = "\n".join(f"- {x}" for x in sheet.given)
    picture = base64.b64encode(sheet.sketch.svg().encode()).decode()
    cells: list[dict[str, Any]] = [
        _markdown(
            "statement",
            f"# {sheet.title}\n\n{sheet.asked}\n\n"
            f"![sketch](data:image/svg+xml;base64,{picture})\n\n{facts}",
        ),
        _code(
            "setup",
            f"import catena\nfrom catena.teaching.derivation import grade\n{_loaded(sheet)}"
            f"sheet = catena.derive(mechanism, by={d.formulation!r}).steps()\n\n\n"
            "def check(line, answer):\n"
            '    print(grade(sheet, line, answer) if answer.strip() else "to be filled in")',
        ),
    ]
    for k, step in enumerate(d.steps, 1):
        cells.append(_markdown(f"step{k}", f"## {k}. {step.title}\n\n{step.why}"))
        for n, line in enumerate(step.lines, 1):
            cells.append(_code(f"line{k}-{n}", f'# {_head(line)}\ncheck("{k}.{n}", "")'))
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return json.dumps(
        {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5},
        indent=1,
    )


def _loaded(sheet: Worksheet) -> str:
    """Return the lines that load the mechanism, on any machine."""
    if sheet.problem is None:
        return f"\nmechanism = catena.load({sheet.file!r})\n"
    return (
        "from catena.teaching.worksheets import PROBLEMS\n\n"
        f"mechanism = PROBLEMS[{sheet.problem.name!r}].load()\n"
    )


def _head(line: Line) -> str:
    if not isinstance(line.left, Label):
        return "an equation of motion, left = right"
    means = f" = {line.means.text}" if line.means else ""
    axes = f", along the axes of {line.axes}" if line.axes not in ("", "ground") else ""
    return f"{line.left.text}{means} = ?{axes}"


def _markdown(name: str, source: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": source}


def _code(name: str, source: str) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "id": name,
        "metadata": {},
        "execution_count": None,
        "outputs": [],
        "source": source,
    }
