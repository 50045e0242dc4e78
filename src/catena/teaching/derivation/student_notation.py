r"""A student's answer as an expression: in Python's notation, as written by hand (m l^2 theta'^2,
½mẋ²), or in LaTeX (\frac12 m\dot x^2).

    text -> tokens -> names of the worksheet, numbers, + - * / ^ ( ) and functions -> the parser of
    model files

Nothing is executed. In LaTeX adjacent letters are a product; a quantity is identified by its dots,
its letter and its index, however these are written: \dot\theta_1, \dot{\theta}_{1} and
\dot{\theta_1} are the same.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Any

import sympy as sp

from ...equations.readable import Name, Names
from ...errors import ExpressionError
from ...model import parse
from .student_latex import latex_text
from .student_plain import plain_text

# in what a formula is set
SETTING = re.compile(
    r"\\(?:begin|end)\{(?:equation|align|aligned|gather|split|math|displaymath)\*?\}|\$"
)
# characters that are read, and of an answer that is refused shown; a right answer to a line is far
# shorter
LENGTH, SHOWN = 4000, 300
SIGNS = {
    "·": "*",
    "×": "*",
    "−": "-",
    "–": "-",
    "½": "(1/2)",
    "¼": "(1/4)",
    "¾": "(3/4)",
    "²": "^2",
    "³": "^3",
    "′": "'",
    "″": "''",
    "⋅": "*",
}
INDEX = {0x2080 + k: str(k) for k in range(10)}  # small figures below the line
_D = r"(?:\\mathrm\s*\{\s*d\s*\}|\\mathrm\s+d|d)"
RATE = re.compile(
    rf"\\[td]?frac\s*\{{\s*{_D}(\^\{{?2\}}?)?\s*([^{{}}]+|[^{{}}]*\{{[^{{}}]*\}})\}}\s*\{{\s*{_D}\s*t\s*(?:\^\{{?2\}}?)?\s*\}}"
)


# the sign d/dt before a bracket, as text and in LaTeX
TIME_RATE = re.compile(
    rf"(?<![\w.])d\s*/\s*dt\s*(?=[(\[])"
    rf"|\\[td]?frac\s*\{{\s*{_D}\s*\}}\s*\{{\s*{_D}\s*t\s*\}}\s*(?:\\(?:left|[bB]igg?l?))?\s*(?=[(\[])"
)


def expression(text: str, names: Names) -> Any:
    """Return a student's text as a SymPy expression of the worksheet's symbols. d/dt(...) is
    differentiated.
    """
    if len(text) > LENGTH:
        raise ExpressionError(f"the answer has {len(text)} characters; at most {LENGTH} are read")
    if sign := TIME_RATE.search(text):
        inner, rest = _bracket(text, sign.end())
        rate = _time_rate(expression(inner, names), names)
        word = f"ratex{chr(ord('a') + len(names))}"
        mark = Name(word, word, rf"\mathrm{{{word}}}")
        shown = f" {mark.latex if chr(92) in text else word} "
        found = expression(text[: sign.start()] + shown + rest, {**names, f"rate {word}": (mark,)})
        return sp.sympify(found).xreplace({sp.Symbol(word): rate})
    if not text.strip():
        raise ExpressionError("the answer is empty: write an expression, such as m*l^2*theta'")
    plain = RATE.sub(
        lambda m: rf"\{'d' * (1 + bool(m[1]))}ot{{{m[2]}}}", SETTING.sub(" ", _hand(text))
    )
    symbols = {n.symbol for group in names.values() for n in group}
    try:
        written = latex_text(plain, names) if "\\" in plain else plain_text(plain, names)
        return parse(written, symbols)
    except ExpressionError as why:
        short = text.strip() if len(text) <= SHOWN else text.strip()[:SHOWN] + "..."
        raise ExpressionError(
            f"the answer {short!r} cannot be read: {getattr(why, 'said', _reason(str(why)))}"
        ) from None


def _bracket(text: str, start: int) -> tuple[str, str]:
    """Return what stands in the bracket that opens at `start`, and what comes after it."""
    depth = 0
    for k in range(start, len(text)):
        depth += (text[k] in "([") - (text[k] in ")]")
        if depth == 0:
            inner = re.sub(r"\\(right|[bB]igg?r?)\s*$", "", text[start + 1 : k])
            return inner, text[k + 1 :]
    raise ExpressionError(f"the answer {text.strip()!r} cannot be read: a ')' is missing")


def _time_rate(e: Any, names: Names) -> Any:
    """Return de/dt: coordinates become speeds, speeds accelerations."""
    symbols = {
        n.text: sp.Symbol(n.symbol) for _, group in reversed(list(names.items())) for n in group
    }
    fixed = {sp.Symbol(n.symbol) for n in names["p"]}
    total = sp.Integer(0)
    for text, symbol in symbols.items():
        slope = sp.diff(e, symbol)
        if symbol in fixed or slope == 0:
            continue
        if f"{text}'" not in symbols:
            raise ExpressionError(
                f"d/dt(...): the rate of {text} has no name here; differentiate it yourself"
            )
        total += slope * symbols[f"{text}'"]
    return total + sp.diff(e, sp.Symbol("t"))


def entries(text: str) -> list[str]:
    """Return the entries of a vector: separated by commas or semicolons outside brackets, or the
    rows of a matrix in LaTeX.
    """
    if inside := re.search(
        r"\\begin\{(?:[a-z]*matrix|array)\}(?:\{[clr]*\})?(.*)\\end\{", text, re.DOTALL
    ):
        return [x for x in re.split(r"\\\\|&", inside[1]) if x.strip()]
    text = re.sub(r"\\(left|right)(?![a-zA-Z])", "", text.strip().strip("$")).strip()
    # a row that was turned into a column
    text = re.sub(r"\s*(\^\{?\s*(T|\\top|\\(mathrm|mathsf)\s*\{?T\}?)\s*\}?|\.T)$", "", text)
    text = re.sub(r"^(?:\w+\.)?(?:array|Matrix)\s*\((.*)\)$", r"\1", text, flags=re.DOTALL)
    inner = text[1:-1] if re.match(r"^[(\[].*[,;].*[)\]]$", text, re.DOTALL) else text
    parts, depth = [""], 0
    for c in re.split(r"(\\[,;]|[,;(){}])", inner):
        depth += (c in ("(", "{")) - (c in (")", "}"))
        if c in (",", ";") and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return parts


def _reason(said: str) -> str:
    """Return the message of the parser without the part that quotes the text."""
    after = said.partition("': ")[2]
    return after or (
        "it has no finite real value: it divides by zero or takes the root of less"
        if "no finite" in said
        else "check its operators and brackets"
    )


def _hand(text: str) -> str:
    """Return a text with handwritten signs replaced: Greek letters by their names, dots by primes,
    superscripts by powers.
    """
    for sign, plain in SIGNS.items():
        text = text.replace(sign, plain)
    text = re.sub(
        "([\u0307\u0308]+)([\u2080-\u2089]+)", r"\2\1", unicodedata.normalize("NFD", text)
    )
    latex, out = "\\" in text, ""
    text = text.translate({k: f"_{x}" if latex else x for k, x in INDEX.items()})
    for c in text:
        name = unicodedata.name(c, "")
        if name in ("COMBINING DOT ABOVE", "COMBINING DIAERESIS"):
            out = out.rstrip() + ("'" if "DOT" in name else "''")
        elif name.startswith("GREEK SMALL LETTER "):
            letter = name.removeprefix("GREEK SMALL LETTER ").lower().replace("lamda", "lambda")
            out += f"\\{letter} " if latex else f" {letter}"
        else:
            out += c
    return out
