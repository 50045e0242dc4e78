"""A worksheet as one page that grades in place, without a server and without other files."""

from __future__ import annotations

import json
from html import escape
from importlib import resources
from typing import TYPE_CHECKING

from ..derivation.pages import STYLE
from ..derivation.steps import Label, Line
from .answer_key import answer_key

if TYPE_CHECKING:
    from .sheet import Worksheet

OWN_STYLE = """
.line{display:grid;grid-template-columns:3.2rem minmax(8rem,max-content) 1fr;gap:.3rem .7rem;align-items:center;margin:.35rem 0}
.line label{font:14px/1.4 ui-monospace,monospace}.line input{font:14px ui-monospace,monospace;padding:.3rem;width:100%;box-sizing:border-box}
.line output{grid-column:3;font-size:.85rem;min-height:1.2em}.right input{border:2px solid #2e8b57}.wrong input{border:2px solid #b3361e}
.right output{color:#2e8b57}.wrong output{color:#b3361e}#score{position:sticky;top:0;background:#fff;padding:.4rem 0;font-weight:600}
svg{max-width:100%;height:auto;background:#fff}
@media(prefers-color-scheme:dark){#score{background:#14181f}}"""  # noqa: E501
ACTIONS = """
const key = JSON.parse(document.getElementById("key").textContent);
const score = document.getElementById("score");
function count() {
  const all = document.querySelectorAll(".line").length;
  const right = document.querySelectorAll(".line.right").length;
  score.textContent = `${right} of ${all} lines are right`;
}
for (const line of document.querySelectorAll(".line")) {
  const input = line.querySelector("input"), output = line.querySelector("output");
  input.addEventListener("change", () => {
    line.classList.remove("right", "wrong");
    output.textContent = "";
    if (input.value.trim()) {
      const found = grade(key, line.dataset.number, input.value);
      line.classList.add(found.right ? "right" : "wrong");
      output.textContent = [found.right ? "right" : "not yet right", ...found.remarks].join(": ");
    }
    count();
  });
}
count();
"""


def page(sheet: Worksheet) -> str:
    """Return the page. Its numbers are the lines' values at random states; the results are not on
    it.
    """
    d = sheet.derivation
    steps = []
    for k, step in enumerate(d.steps, 1):
        lines = "".join(_line(f"{k}.{n}", line) for n, line in enumerate(step.lines, 1))
        steps.append(f"<h2>{k}. {escape(step.title)}</h2><p>{escape(step.why)}</p>{lines}")
    facts = "".join(f"<li>{escape(x)}</li>" for x in sheet.given)
    cut = sheet.free_bodies
    apart = f"<h2>Free-body diagrams</h2>{cut.svg()}" if cut is not None else ""
    symbols = ", ".join(dict.fromkeys(n.text for r in ROLES for n in d.names.get(r, ())))
    grader = (resources.files(__package__) / "grader.js").read_text(encoding="utf-8")
    key = json.dumps(answer_key(d)).replace("</", "<\\/")
    body = (
        f"<h1>{escape(sheet.title)}</h1><p>{escape(sheet.asked)}</p>{sheet.sketch.svg()}"
        f"<ul>{facts}</ul>{apart}<p>Write with {escape(symbols)}; theta' and theta'' are rates."
        " LaTeX is read too, and d/dt(...). A vector is its entries, separated by commas; an"
        f' equation has its two sides.</p><div id="score"></div>{"".join(steps)}'
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport"'
        f' content="width=device-width"><title>{escape(sheet.title)}</title>'
        f"<style>{STYLE}{OWN_STYLE}</style></head><body>{body}"
        f'<script type="application/json" id="key">{key}</script>'
        f"<script>{grader}{ACTIONS}</script></body></html>"
    )


ROLES = ("q", "v", "a", "tau", "p")


def _line(number: str, line: Line) -> str:
    """Return the field of a line."""
    if isinstance(line.left, Label):
        means = f" = {line.means.text}" if line.means else ""
        axes = f" [axes of {line.axes}]" if line.vector and line.axes != "ground" else ""
        head = f"{line.left.text}{means} ={axes}"
    else:
        head = "equation:"
    name = f"line-{number}"
    return (
        f'<div class="line" data-number="{number}"><span>({number})</span>'
        f'<label for="{name}">{escape(head)}</label>'
        f'<input id="{name}" autocomplete="off" spellcheck="false"><output></output></div>'
    )
