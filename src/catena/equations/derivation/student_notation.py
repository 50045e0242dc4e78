r"""What a student writes, as an expression: Python's notation, a hand's (m l^2 theta'^2, ½mẋ²), or LaTeX's (\frac12 m\dot x^2).

    text -> tokens -> names of the worksheet, numbers, + - * / ^ ( ) and functions -> the parser of model files

Nothing is run. In LaTeX letters that stand together are a product; a quantity is known by its dots, its letter and its index, however
these are written: \dot\theta_1, \dot{\theta}_{1} and \dot{\theta_1} are one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Any, NamedTuple

from ...errors import ExpressionError
from ...model.expressions import parse
from ..readable.names import Names

TOKEN = re.compile(r"\\[a-zA-Z]+|\\.|\d+\.?\d*|\.\d+|\s+|.", re.DOTALL)
FUNCTIONS = ("sin", "cos", "tan", "sqrt", "exp", "log", "sinh", "cosh", "tanh")
SKIPPED = (r"\left", r"\right", r"\,", r"\;", r"\:", r"\!", r"\ ", r"\quad", r"\qquad", r"\displaystyle", r"\big", r"\Big", r"\bigl", r"\bigr", "$")
UPRIGHT = (r"\mathrm", r"\text", r"\mathit", r"\operatorname", r"\mathbf")
FRACTIONS = (r"\frac", r"\tfrac", r"\dfrac")
DOTS = {r"\dot": 1, r"\ddot": 2}
SIGNS = {"·": "*", "×": "*", "−": "-", "–": "-", "½": "(1/2)", "¼": "(1/4)", "¾": "(3/4)", "²": "^2", "³": "^3", "′": "'", "″": "''", "⋅": "*"}
INDEX = {0x2080 + k: str(k) for k in range(10)}  # small figures below the line
RATE = re.compile(r"\\[td]?frac\s*\{\s*(?:\\mathrm\{d\}|d)(\^\{?2\}?)?\s*([^{}]+|[^{}]*\{[^{}]*\})\}\s*\{\s*(?:\\mathrm\{d\}|d)\s*t\s*(?:\^\{?2\}?)?\s*\}")
BRACKETS = {"(": "(", "[": "(", ")": ")", "]": ")"}


class Quantity(NamedTuple):
    """How a quantity is known in LaTeX: dots above it, its letter or word, its index."""

    dots: int
    head: str
    below: str


def expression(text: str, names: Names) -> Any:
    """A student's text as a SymPy expression of the worksheet's symbols."""
    if not text.strip():
        raise ExpressionError("the answer is empty: write an expression, such as m*l^2*theta'")
    plain = RATE.sub(lambda m: rf"\{'d' * (1 + bool(m[1]))}ot{{{m[2]}}}", _hand(text))
    symbols = {n.symbol for group in names.values() for n in group}
    try:
        written = _Latex(plain, names).all() if "\\" in plain else _plain(plain, names)
        return parse(written, symbols)
    except ExpressionError as why:
        reason = str(why).partition("': ")[2] or "check its operators and brackets"
        raise ExpressionError(f"the answer {text.strip()!r} cannot be read: {getattr(why, 'said', reason)}") from None


def entries(text: str) -> list[str]:
    """The entries of a vector: between commas or semicolons outside brackets, or the rows of a matrix in LaTeX."""
    if inside := re.search(r"\\begin\{[a-z]*matrix\}(.*)\\end\{", text, re.DOTALL):
        return [x for x in re.split(r"\\\\|&", inside[1]) if x.strip()]
    text = re.sub(r"\\(left|right)(?![a-zA-Z])", "", text.strip().strip("$"))
    inner = text[1:-1] if re.match(r"^[(\[].*[,;].*[)\]]$", text, re.DOTALL) else text
    parts, depth = [""], 0
    for c in re.split(r"(\\[,;]|[,;(){}])", inner):
        depth += (c in ("(", "{")) - (c in (")", "}"))
        if c in (",", ";") and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return parts


def _refused(said: str) -> ExpressionError:
    error = ExpressionError(said)
    error.said = said  # type: ignore[attr-defined]
    return error


def _hand(text: str) -> str:
    """Letters and signs of a hand: Greek by name, dots as primes, small figures as powers."""
    for sign, plain in SIGNS.items():
        text = text.replace(sign, plain)
    text = re.sub("([\u0307\u0308]+)([\u2080-\u2089]+)", r"\2\1", unicodedata.normalize("NFD", text))
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


# ------------------------------------------------------------------------------------------------------- plain notation
def _plain(text: str, names: Names) -> str:
    """Names as symbols, a sign * between factors that stand side by side, brackets around what a function takes."""
    shown = {n.text: n.symbol for _, group in reversed(list(names.items())) for n in group}
    for word in sorted(shown, key=len, reverse=True):
        text = re.sub(rf"(?<![\w.@]){re.escape(word)}(?![\w'])", lambda _: f" @{shown[word]} ", text)  # noqa: B023
    pieces = re.findall(r"\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+|@?[^\W\d]\w*|\*\*|\S", text)
    known = {n.symbol for group in names.values() for n in group}
    return _with_products(_bracketed([y for x in pieces for y in _word(x, known, names)]))


def _bracketed(pieces: list[str]) -> list[str]:
    """Brackets around what a function without any takes: cos theta, sin 2 theta."""
    out: list[str] = []
    while pieces:
        piece, *pieces = pieces
        out.append(piece)
        if piece in FUNCTIONS and pieces and re.match(r"[\w.]", pieces[0]):
            number = pieces[0][0].isdigit() and len(pieces) > 1 and bool(re.match(r"[^\W\d]", pieces[1])) and pieces[1] not in FUNCTIONS
            taken, pieces = pieces[: 1 + number], pieces[1 + number :]
            out += ["(", *taken, ")"]
    return out


def _word(piece: str, known: set[str], names: Names) -> list[str]:
    """A word as a name, as a function, or as the product of its letters where each is a name."""
    if not re.match(r"@?[^\W\d]", piece):
        return [piece.replace("[", "(").replace("]", ")")]
    word = piece.removeprefix("@")
    if word in known or word in FUNCTIONS or word in ("pi", "e"):
        return [word]
    if alike := [n.symbol for group in names.values() for n in group if _bare(word) in (_bare(n.symbol), _bare(n.text))]:
        return alike[:1]
    if all(c in known for c in word):
        return list(word)
    raise _refused(f"there is no quantity {word!r} here; {_listed(names, 'text')}")


def _bare(word: str) -> str:
    """A name without what joins its parts: theta_1_dot, theta1_dot and theta1dot are one."""
    return word.replace("_", "").replace(".", "")


def _listed(names: Names, how: str) -> str:
    """The quantities of a worksheet, as they are written."""
    shown = dict.fromkeys(getattr(n, how) for role in ("q", "v", "a", "tau", "p") for n in names[role])
    return f"quantities are: {', '.join(shown)}. A letter of your own for one of them is said by --letter YOURS=OURS, letters= in Python"


def _with_products(pieces: list[str]) -> str:
    out: list[str] = []
    for piece in pieces:
        begins = piece == "(" or bool(re.match(r"[\w.]", piece))
        ended = bool(out) and (out[-1] == ")" or bool(re.match(r"[\w.]", out[-1]))) and out[-1] not in FUNCTIONS
        out += ["*", piece] if begins and ended else [piece]
    return "".join(out)


# ------------------------------------------------------------------------------------------------------- LaTeX
class _Latex:
    """A reader of formulas in LaTeX; each method takes what it reads off the tokens."""

    def __init__(self, text: str, names: Names):
        self.names = names
        self.known = _quantities(names)
        self.tokens = [x for x in TOKEN.findall(text) if not x.isspace() and x not in SKIPPED]
        self.at = 0

    def all(self) -> str:
        """The whole formula in plain notation."""
        found = self.until("")
        return _with_products(found)

    def peek(self) -> str:
        """The next token, or nothing."""
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self) -> str:
        """The next token."""
        token, self.at = self.peek(), self.at + 1
        return token

    def until(self, end: str) -> list[str]:
        """Pieces up to a closing token."""
        out: list[str] = []
        while (token := self.peek()) != end or not end:
            if not token:
                if end:
                    raise _refused(f"a {end!r} is missing")
                break
            out += self.piece()
        self.take()
        return out

    def piece(self) -> list[str]:
        """One factor or sign."""
        token = self.peek()
        if token in ("^",):
            self.take()
            return ["^", "(", *self.argument(), ")"]
        if token in BRACKETS:
            return [BRACKETS[self.take()]]
        if token in (r"\cdot", r"\times"):
            self.take()
            return ["*"]
        if token == "{":
            self.take()
            return ["(", *self.until("}"), ")"]
        if token in FRACTIONS:
            self.take()
            above, below = self.argument(), self.argument()
            return ["(", "(", *above, ")", "/", "(", *below, ")", ")"]
        if token.removeprefix("\\") in FUNCTIONS and token.startswith("\\"):
            return self.function()
        if token.startswith("\\") or token.isalpha():
            return [self.quantity()]
        return [self.take()]

    def argument(self) -> list[str]:
        """What a command takes: a group, or one token; of \\frac12 one figure."""
        token = self.peek()
        if token == "{":
            self.take()
            return self.until("}")
        if token[:1].isdigit() and len(token) > 1:
            self.tokens[self.at] = token[1:]
            return [token[0]]
        return self.piece()

    def function(self) -> list[str]:
        """sin^2 x, \\sin(x), \\sin{x} or \\sin 2x."""
        name = self.take().removeprefix("\\")
        power: list[str] = []
        if self.peek() == "^":
            self.take()
            power = ["^", "(", *self.argument(), ")"]
        if self.peek() == "(":
            self.take()
            inside = self.until(")")
        elif self.peek() == "{":
            inside = self.argument()
        else:
            inside = [self.take()] if self.peek()[:1].isdigit() else []
            inside += self.piece()
        return ["(", name, "(", _with_products(inside), ")", ")", *power]

    # -------------------------------------------------------------------------------------------- quantities
    def quantity(self) -> str:
        """A symbol of the worksheet: dots, a letter or a word, an index."""
        found = self.mark()
        if found in self.known:
            return self.known[found]
        if (found.dots, found.head, found.below) == (0, "pi", ""):
            return "pi"
        shown = f"{chr(39) * found.dots}".join((found.head, f"_{found.below}" if found.below else ""))
        raise _refused(f"there is no quantity {shown!r} here; {_listed(self.names, 'latex')}")

    def mark(self) -> Quantity:
        """What stands next, as a quantity is known."""
        token, dots, index = self.take(), 0, ""
        if token in DOTS:
            braced = self.peek() == "{"
            if braced:
                self.take()
            inner = self.mark()
            if braced and self.take() != "}":
                raise _refused(f"{token} stands above one quantity")
            dots, head, index = DOTS[token] + inner.dots, inner.head, inner.below
        elif token in UPRIGHT:
            head = _flat(self.group())
        elif token.startswith("\\") and token[1:].isalpha():
            head = _greek(token)
        elif token.isalpha():
            head = token
        else:
            raise _refused(f"{token!r} is not known here; \\frac, \\sqrt, \\sin, \\cos, \\dot, \\ddot, \\left, \\right and Greek letters are")
        while self.peek() == "'":
            dots, _ = dots + 1, self.take()
        if self.peek() == "_":
            self.take()
            index = _flat(self.group())
        return Quantity(dots, head, index)

    def group(self) -> list[str]:
        """The tokens of a group, or the next token."""
        if self.peek() != "{":
            return [self.take()]
        depth, out = 0, []
        while token := self.take():
            depth += (token == "{") - (token == "}")
            if not depth:
                break
            out.append(token)
        return out


GREEK = ("alpha", "beta", "gamma", "delta", "epsilon", "varepsilon", "zeta", "eta", "theta", "vartheta", "iota", "kappa", "lambda", "mu", "nu", "xi", "pi",
         "rho", "sigma", "tau", "upsilon", "phi", "varphi", "chi", "psi", "omega", "Gamma", "Delta", "Theta", "Lambda", "Sigma", "Phi", "Psi", "Omega")  # fmt: skip


def _greek(token: str) -> str:
    if token[1:] not in GREEK:
        raise _refused(f"{token} is not known here; \\frac, \\sqrt, \\sin, \\cos, \\dot, \\ddot, \\left, \\right and Greek letters are")
    return token[1:]


def _flat(tokens: list[str]) -> str:
    """An index without braces, spaces and fonts."""
    return "".join(x.removeprefix("\\") for x in tokens if x not in ("{", "}", "_", ",", *UPRIGHT, *SKIPPED))


def _quantities(names: Names) -> Mapping[Quantity, str]:
    """{how it is known: its symbol}."""
    found: dict[Quantity, str] = {}
    for _, group in reversed(list(names.items())):
        for n in group:
            reader = _Latex.__new__(_Latex)
            reader.tokens, reader.at = [x for x in TOKEN.findall(n.latex) if not x.isspace() and x not in SKIPPED], 0
            found[reader.mark()] = n.symbol
    return found
