"""Equations as a browser shows them: LaTeX made into MathML, line by line."""

from __future__ import annotations

import html
import re

WORD = re.compile(r"(?<![\\A-Za-z{])([A-Za-z]{2,})(?![A-Za-z}])")  # a name of several letters, which TeX would take for a product
PRODUCT = re.compile(r"(\\mathrm\{\w{2,}\}(?:[_^]\{(?:\\mathrm\{\w+\}|[^{}]*)\})*) (?=[\\A-Za-z])(?!\\right|\\,)")  # and what it is multiplied by


def mathml(latex: str) -> str:
    """The lines of an align* environment as MathML, one block each; the LaTeX itself where no converter is installed or it fails."""
    try:
        from latex2mathml.converter import convert
    except ImportError:
        return f"<pre>{html.escape(latex)}</pre><p>Rendered equations need the package latex2mathml: pip install 'catena[studio]'</p>"
    body = re.sub(r"^%.*\n", "", latex, flags=re.MULTILINE)
    body = re.sub(r"\\(?:begin|end)\{align\*\}", "", body).strip()
    shown = []
    for line in re.split(r"\\\\\s*\n", body):
        text = PRODUCT.sub(r"\1 \\, ", WORD.sub(r"\\mathrm{\1}\\,", line.replace("&", " "))).strip()
        if not text:
            continue
        try:
            shown.append(f'<div class="equation">{convert(text, display="block")}</div>')
        except Exception:  # a line that it cannot read is shown as it is written
            shown.append(f"<pre>{html.escape(text)}</pre>")
    return "\n".join(shown)
