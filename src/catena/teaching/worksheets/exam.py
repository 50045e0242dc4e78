"""An exam sheet in LaTeX: the statement with its sketch, and room for each line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..derivation.writing import latex_step, prose, words

if TYPE_CHECKING:
    from .sheet import Worksheet

HEAD = r"""\documentclass[11pt,a4paper]{article}
\usepackage[margin=22mm]{geometry}
\usepackage{amsmath,amssymb,tikz}
\setlength{\parindent}{0pt}\setlength{\parskip}{4pt}
\begin{document}"""


def exam(sheet: Worksheet, solutions: bool = False) -> str:
    """Return a document that compiles alone: the problem, or its solutions."""
    d = sheet.derivation
    kind = "Solutions: " if solutions else ""
    parts = [HEAD, rf"\section*{{{kind}{words(sheet.title)}}}"]
    if not solutions:
        parts += [
            r"Name: \underline{\hspace{8cm}}\hfill Date: \underline{\hspace{3cm}}",
            prose(sheet.asked),
            rf"\begin{{center}}{sheet.sketch.tikz()}\end{{center}}",
            "\\begin{itemize}\\setlength{\\itemsep}{0pt}\n"
            + "\n".join(rf"\item {prose(x)}" for x in sheet.given)
            + "\n\\end{itemize}",
        ]
        if sheet.free_bodies is not None:
            parts.append(
                "Free-body diagrams:\n\n\\resizebox{\\textwidth}{!}{"
                f"{sheet.free_bodies.tikz()}}}"
            )
    for k, step in enumerate(d.steps, 1):
        parts.append(
            rf"\subsection*{{{k}. {words(step.title)}}}"
            f"\n{prose(step.why)}\n{latex_step(step, d, 0 if solutions else k)}"
        )
    return "\n\n".join([*parts, r"\end{document}"])
