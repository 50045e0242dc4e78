"""A derivation as one HTML page, two derivations side by side, and a notebook."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from html import escape
from importlib.util import find_spec

from ...equations.readable import mathml, text_writer
from ...registry import loaded
from .steps import Derivation, Step
from .writing import given, latex_step, text_line

# a factor and the function behind it, which TeX sets apart and MathML does not
APART = re.compile(r"(?<=[\w})]) (?=\\(?:sin|cos|tan|exp|log))")
STYLE = """body{font:16px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem;color:#1c2430;background:#fff}
h1{font-size:1.5rem}h2{font-size:1.1rem;margin:1.6rem 0 .2rem}p{margin:.2rem 0 .5rem;color:#465062}
pre{background:#f4f6f9;border-left:3px solid #3b6ea5;padding:.6rem .8rem;overflow-x:auto;font:14px/1.6 ui-monospace,monospace;margin:0}
.lines{background:#f4f6f9;border-left:3px solid #3b6ea5;padding:.4rem .8rem;overflow-x:auto}.lines pre{border:0;padding:.2rem 0}.same .lines{border-color:#2e8b57}
.equation{margin:.35rem 0}.equation math{display:math;width:max-content}details{font-size:.8rem;color:#7a8494}
.pair{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:0 2rem}.pair pre{white-space:pre-wrap}.same pre{border-color:#2e8b57}small{color:#7a8494}
table{border-collapse:collapse;font:14px/1.6 ui-monospace,monospace}td,th{text-align:left;padding:.1rem 1.5rem .1rem 0;border-bottom:1px solid #d5dbe3}
@media(max-width:60rem){.pair{grid-template-columns:minmax(0,1fr)}}
@media(prefers-color-scheme:dark){body{background:#14181f;color:#e6eaf0}p{color:#a9b3c1}pre,.lines{background:#1d232d}}"""  # noqa: E501


def html(d: Derivation, blank: bool = False) -> str:
    """Return a derivation as one page that needs no other files. blank: as a worksheet."""
    parts = [_step(step, k, d, blank) for k, step in enumerate(d.steps, 1)]
    checked = (
        f"<small>After {escape(d.source)}; every line checked at {d.states} random states, largest"
        f" error {d.error:.0e}.</small>"
    )
    about = f"<p>{escape(given(d))}</p>" if blank else checked
    return _page(f"{d.mechanism} by {d.formulation}", about + free_bodies(d) + "".join(parts))


def free_bodies(d: Derivation) -> str:
    """Return the free-body diagrams as HTML; nothing where no bodies are cut free."""
    if d.free_bodies is None:
        return ""
    drawn = loaded("catena.teaching.worksheets.sketch:free_bodies")(d.free_bodies)
    return f"<h2>Free-body diagrams</h2>{drawn.svg()}"


def side_by_side(one: Derivation, two: Derivation, same: Sequence[tuple[str, str]] = ()) -> str:
    """Return a page with two derivations in two columns; lines in both are marked in green. same:
    terms of the second and the equal terms of the first.
    """
    shared = _written(one) & _written(two)
    columns = []
    for d in (one, two):
        steps = "".join(_step(step, k, d, False, shared) for k, step in enumerate(d.steps, 1))
        columns.append(
            f"<div><h2>{escape(d.formulation)} <small>{escape(d.source)}</small></h2>{steps}</div>"
        )
    about = "<p>Steps whose lines all stand in both derivations have a green bar.</p>"
    if same:
        rows = "".join(f"<tr><td>{escape(a)}</td><td>{escape(b)}</td></tr>" for a, b in same)
        head = f"<tr><th>{escape(two.formulation)}</th><th>{escape(one.formulation)}</th></tr>"
        about += f"<h2>Which terms correspond</h2><table>{head}{rows}</table>"
    return _page(
        f"{one.mechanism}: {one.formulation} and {two.formulation}",
        f'{about}<div class="pair">{"".join(columns)}</div>',
    )


def _written(d: Derivation) -> set[str]:
    write = text_writer(d.names)
    return {"\n".join(text_line(line, write)) for step in d.steps for line in step.lines}


def _step(
    step: Step, number: int, d: Derivation, blank: bool, shared: set[str] | None = None
) -> str:
    write = text_writer(d.names)
    shown = [
        "\n".join(text_line(line, write, f"{number}.{k}" if blank else ""))
        for k, line in enumerate(step.lines, 1)
    ]
    same = ' class="same"' if shared is not None and set(shown) <= shared else ""
    lines = (
        mathml(APART.sub(r" \\, ", latex_step(step, d)))
        if not blank and find_spec("latex2mathml")
        else ""
    )
    return (
        f"<div{same}><h2>{number}."
        f" {escape(step.title)}</h2><p>{escape(step.why)}</p>{_lines(lines, shown)}</div>"
    )


def _lines(formulas: str, shown: list[str]) -> str:
    """Return formulas as MathML, with their text to copy; the text alone where no converter is
    installed.
    """
    text = f"<pre>{escape(chr(10).join(shown))}</pre>"
    return (
        f'<div class="lines">{formulas}<details><summary>as text</summary>{text}</details></div>'
        if formulas
        else text
    )


def _page(title: str, body: str) -> str:
    head = (
        '<meta charset="utf-8"><meta name="viewport"'
        f' content="width=device-width"><title>{escape(title)}</title><style>{STYLE}</style>'
    )
    return (
        "<!doctype html><html"
        f" lang=en><head>{head}</head><body><h1>{escape(title)}</h1>{body}</body></html>"
    )


def notebook(d: Derivation, file: str) -> str:
    """Return a Jupyter notebook (nbformat 4.5): a cell of LaTeX for each step, and one that derives
    everything again.
    """
    cells = [
        _markdown(
            "head",
            f"# {d.mechanism} by {d.formulation}\n\nAfter {d.source}. Every line was checked at"
            f" {d.states} random states.",
        )
    ]
    cells += [
        _markdown(
            f"step{k}",
            f"## {k}."
            f" {s.title}\n\n{s.why}\n\n$$\n{latex_step(s, d).replace('align*', 'aligned')}\n$$",
        )
        for k, s in enumerate(d.steps, 1)
    ]
    code = (
        f"import catena\n\nmechanism = catena.load({file!r})  # the file of"
        f' {d.mechanism}\nprint(catena.derive(mechanism, by="{d.formulation}").steps())'
    )
    cells.append(
        {
            "cell_type": "code",
            "id": "again",
            "metadata": {},
            "execution_count": None,
            "outputs": [],
            "source": code,
        }
    )
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return json.dumps(
        {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5},
        indent=1,
    )


def _markdown(name: str, source: str) -> dict[str, object]:
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": source}
