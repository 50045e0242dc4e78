"""MathML: equations for a browser, converted from LaTeX line by line."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from xml.etree import ElementTree

# a name of several letters, which TeX would take for a product
WORD = re.compile(r"(?<![\\A-Za-z{])([A-Za-z]{2,})(?![A-Za-z}])")
# and what it is multiplied by
PRODUCT = re.compile(
    r"(\\mathrm\{\w{2,}\}(?:[_^]\{(?:\\mathrm\{\w+\}|[^{}]*)\})*) (?=[\\A-Za-z])(?!\\right|\\,)"
)
# of an angle without brackets, which TeX sets apart and MathML does not
FUNCTION = re.compile(r"(\\(?:sin|cos|tan|exp|log)(?:\^\{\w+\})?) (?=[{\\A-Za-z])(?!\{?\\left)")
# displays, tables, and lines of words
PARTS = re.compile(r"\\begin\{(align\*|center)\}(.*?)\\end\{\1\}|([^\n]+)", re.DOTALL)
# the size of letters in a script relative to others, and the smallest relative size of a line
SMALL = 0.75
SMALLEST = 0.6


def mathml(latex: str, width: int | None = None) -> str:
    """Return the lines of an align* environment as MathML, one block each; the LaTeX itself where
    no converter is installed or it fails.

    width: approximately how many letters fit on a line; a longer line is broken at its sums, and
    set smaller where it has none.
    """
    try:
        from latex2mathml.converter import convert
    except ImportError:
        return (
            f"<pre>{html.escape(latex)}</pre><p>Rendered equations need the package latex2mathml:"
            " pip install 'catena[report]'</p>"
        )
    body = re.sub(r"^%.*\n", "", latex, flags=re.MULTILINE)
    if r"\begin{tabular}" in body:
        return _page(body, width, convert)
    return _lines(re.sub(r"\\(?:begin|end)\{align\*\}", "", body).strip(), width, convert)


def _page(latex: str, width: int | None, convert: Callable[..., str]) -> str:
    """Return text, tables and displayed formulas one below the other, as `catena.teaching.compact`
    writes them.
    """
    shown = []
    for kind, inside, words in PARTS.findall(latex):
        if kind == "align*":
            shown.append(_lines(inside.strip(), width, convert))
        elif kind:
            rows = re.sub(
                r"\\(begin|end)\{tabular\}(\{[^\n]*\})?|\\hline|^.*?(?=\\begin\{tabular\})",
                "",
                inside,
                flags=re.DOTALL,
            ).split("\\\\")
            cells = [
                "".join(f"<td>{_inline(x.strip(), convert)}</td>" for x in row.split("&"))
                for row in rows
            ]
            shown.append(f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>")
        elif said := re.sub(
            r"^\{?\\(small|raggedright)[^\n]*?(?=\\noindent|$)|\\noindent|\\par\}", "", words
        ).strip():
            shown.append(f"<p>{_inline(said, convert)}</p>")
    return "\n".join(shown)


def _inline(latex: str, convert: Callable[..., str]) -> str:
    """Return text with formulas between dollar signs."""
    pieces = latex.split("$")
    plain = [html.escape(re.sub(r"\\textbf\{(.*?)\}|\\(?=_)", r"\1", x)) for x in pieces[::2]]
    formulas = [
        re.sub(r"\\texttt\{(.*)\}", lambda t: rf"\text{{{t[1].replace('{}', '')}}}", x)
        for x in pieces[1::2]
    ]
    return "".join(x for pair in zip(plain, [*(convert(x) for x in formulas), ""]) for x in pair)


def _lines(body: str, width: int | None, convert: Callable[..., str]) -> str:
    """Return the lines of a display."""
    shown = []
    for line in re.split(r"\\\\\s*\n", body):
        text = FUNCTION.sub(
            r"\1 \\, ",
            PRODUCT.sub(r"\1 \\, ", WORD.sub(r"\\mathrm{\1}\\,", line.replace("&", " "))),
        ).strip()
        try:
            shown += (
                [
                    _line(convert(part, display="block"), width)
                    for part in _broken(text, width, convert)
                ]
                if text
                else []
            )
        except Exception:  # a line that it cannot read is shown as it is written
            shown.append(f"<pre>{html.escape(text)}</pre>")
    return "\n".join(shown)


def _line(made: str, width: int | None) -> str:
    """Return one line, set smaller where it is too wide."""
    scale = (
        max(SMALLEST, min(1.0, width / max(_letters(ElementTree.fromstring(made)), 1.0)))
        if width
        else 1.0
    )
    style = f' style="font-size:{scale:.2f}em"' if scale < 1.0 else ""
    further = " further" if '<mspace width="1em"' in made[:160] else ""
    return f'<div class="equation{further}"{style}>{made}</div>'


def _broken(text: str, width: int | None, convert: Callable[..., str]) -> Iterator[str]:
    """Return a line, or the parts of a line that is too wide: it is broken before signs outside
    fractions, and brackets around a break are not stretched.
    """
    made = ElementTree.fromstring(convert(text)) if width else None
    if width is None or made is None or _letters(made) <= width:
        yield text
        return
    plain = text.replace(r"\left(", "(").replace(r"\right)", ")")
    pieces, depth, start = [], 0, 0
    for k, c in enumerate(plain):
        depth += (c == "{") - (c == "}")
        if depth == 0 and k > start and plain[k : k + 3] in (" + ", " - "):
            pieces.append(plain[start:k])
            start = k
    line, indent = "", ""
    for piece in [*pieces, plain[start:]]:
        if line and _letters(ElementTree.fromstring(convert(line + piece))) > width:
            yield indent + line
            line, indent = "", r"\quad \quad {} "
        line += piece
    yield indent + line


def _letters(e: ElementTree.Element) -> float:
    """Return the approximate width of a formula, in letters."""
    tag = e.tag.rpartition("}")[2]
    parts = [_letters(x) for x in e]
    if tag == "mfrac":
        return max(parts)
    if tag in ("msub", "msup"):
        return parts[0] + SMALL * parts[1]
    if tag == "msubsup":
        return parts[0] + SMALL * max(parts[1:])
    if tag in ("mover", "munder"):
        return max(parts)
    own = {"mo": 1.6 if (e.text or "") in "+-=−" else 0.7, "mspace": 1.0}.get(
        tag, float(len(e.text or ""))
    )
    return sum(parts) if parts else own
