r"""Answers in LaTeX: \frac12 m\dot x^2. Adjacent letters are a product. A quantity is identified by
its dots, its letter and its index, however these are written: \dot\theta_1, \dot{\theta}_{1} and
\dot{\theta_1} are the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from ...equations.readable import Names
from .student_plain import FUNCTIONS, listed, refuse_inverse, refused, with_products

TOKEN = re.compile(r"\\[a-zA-Z]+|\\.|\d+\.?\d*|\.\d+|\s+|.", re.DOTALL)
SKIPPED = (
    r"\left",
    r"\right",
    r"\,",
    r"\;",
    r"\:",
    r"\!",
    r"\ ",
    r"\quad",
    r"\qquad",
    r"\displaystyle",
    r"\big",
    r"\Big",
    r"\bigl",
    r"\bigr",
    "&",
    r"\\",
    r"\[",
    r"\]",
    r"\(",
    r"\)",
)
UPRIGHT = (r"\mathrm", r"\text", r"\mathit", r"\operatorname", r"\mathbf")
FRACTIONS = (r"\frac", r"\tfrac", r"\dfrac")
DOTS = {r"\dot": 1, r"\ddot": 2}
BRACKETS = {"(": "(", "[": "(", ")": ")", "]": ")"}


class Quantity(NamedTuple):
    """What identifies a quantity in LaTeX: the dots above it, its letter or word, its index."""

    dots: int
    head: str
    below: str


def latex_text(text: str, names: Names) -> str:
    """Return a formula given in LaTeX in the notation of model files."""
    return _Latex(text, names).all()


class _Latex:
    """A reader of formulas in LaTeX. Each method removes what it reads from the tokens."""

    def __init__(self, text: str, names: Names):
        self.names = names
        self.known = quantities(names)
        self.tokens = [x for x in TOKEN.findall(text) if not x.isspace() and x not in SKIPPED]
        self.at = 0

    def all(self) -> str:
        """Return the whole formula in plain notation."""
        found = self.until("")
        return with_products(found)

    def peek(self) -> str:
        """Return the next token, or "" at the end."""
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self) -> str:
        """Remove and return the next token."""
        token = self.peek()
        self.at = self.at + 1
        return token

    def until(self, end: str) -> list[str]:
        """Return the pieces up to a closing token."""
        out: list[str] = []
        while (token := self.peek()) != end or not end:
            if not token:
                if end:
                    raise refused(f"a {end!r} is missing")
                break
            out += self.piece()
        self.take()
        return out

    def piece(self) -> list[str]:
        """Return one factor or sign."""
        token = self.peek()
        if token in ("^",):
            self.take()
            return ["^", "(", *self.argument(), ")"]
        if token in BRACKETS:
            return [BRACKETS[self.take()]]
        if token in (r"\cdot", r"\times"):
            self.take()
            return ["*"]
        if token == "{" and self.braced_quantity():
            return [self.quantity()]
        if token == "{":
            self.take()
            return ["(", *self.until("}"), ")"]
        if token in FRACTIONS:
            self.take()
            above = self.argument()
            below = self.argument()
            return ["(", "(", *above, ")", "/", "(", *below, ")", ")"]
        if token.removeprefix("\\") in FUNCTIONS and token.startswith("\\"):
            return self.function()
        if token.startswith("\\") or token.isalpha():
            return [self.quantity()]
        return [self.take()]

    def argument(self) -> list[str]:
        r"""Return the argument of a command: a group, or one token; for \frac12 one digit."""
        token = self.peek()
        if token == "{":
            self.take()
            return self.until("}")
        if token[:1].isdigit() and len(token) > 1:
            self.tokens[self.at] = token[1:]
            return [token[0]]
        return self.piece()

    def function(self) -> list[str]:
        r"""Read sin^2 x, \sin(x), \sin{x} or \sin 2x."""
        name = self.take().removeprefix("\\")
        power: list[str] = []
        if self.peek() == "^":
            self.take()
            power = ["^", "(", *self.argument(), ")"]
            refuse_inverse(name, power)
        if self.peek() in ("(", "["):
            inside = self.bracket()
        elif self.peek() == "{" and not self.braced_quantity():
            inside = self.argument()
        else:
            inside = [self.take()] if self.peek()[:1].isdigit() else []
            inside += self.piece()
        return ["(", name, "(", with_products(inside), ")", ")", *power]

    def bracket(self) -> list[str]:
        """Return the contents of round or square brackets, nested ones included."""
        self.take()
        out: list[str] = []
        while BRACKETS.get(token := self.peek()) != ")":
            if not token:
                raise refused("a ')' is missing")
            out += ["(", *self.bracket(), ")"] if token in BRACKETS else self.piece()
        self.take()
        return out

    # --- quantities
    def quantity(self) -> str:
        """Return a symbol of the worksheet: dots, a letter or a word, an index."""
        found = self.mark()
        if found in self.known:
            return self.known[found]
        if (found.dots, found.head, found.below) == (0, "pi", ""):
            return "pi"
        shown = f"{chr(39) * found.dots}".join(
            (found.head, f"_{found.below}" if found.below else "")
        )
        raise refused(f"there is no quantity {shown!r} here; {listed(self.names, 'latex')}")

    def mark(self) -> Quantity:
        """Return the identification of the next quantity."""
        token, dots, index = self.take(), 0, ""
        if token in DOTS:
            braced = self.peek() == "{"
            if braced:
                self.take()
            inner = self.mark()
            if braced and self.take() != "}":
                raise refused(f"{token} stands above one quantity")
            dots = DOTS[token] + inner.dots
            head = inner.head
            index = inner.below
        elif token == "{":
            dots, head, index = self.mark()
            if self.take() != "}":
                raise refused("an index or a prime stands behind one quantity")
        elif token in UPRIGHT:
            head = _flat(self.group())
        elif token.startswith("\\") and token[1:].isalpha():
            head = _greek(token)
        elif token.isalpha():
            head = token
        elif not token:
            raise refused("a quantity is missing at its end")
        else:
            raise refused(
                f"{token!r} is not known here; \\frac, \\sqrt, \\sin, \\cos, \\dot, \\ddot, \\left,"
                " \\right and Greek letters are"
            )
        dots += self.primes()
        if self.peek() == "_":
            self.take()
            index = _flat(self.group())
        return Quantity(dots + self.primes(), head, index)

    def primes(self) -> int:
        r"""Return the number of primes that come next, as signs or as a power: \theta'',
        \theta^{\prime}.
        """
        count = 0
        while self.peek() in ("'", r"\prime") or re.match(
            r"\^\{?(\\prime|')", "".join(self.tokens[self.at : self.at + 3])
        ):
            token = self.take()
            found = [x for x in self.group() if x not in ("{", "}")] if token == "^" else [token]
            if any(x not in ("'", r"\prime") for x in found):
                raise refused("primes and a power stand together; write (\\theta')^2")
            count += len(found)
        return count

    def braced_quantity(self) -> bool:
        r"""Whether a group is one letter with dots or primes on or behind it, such as {\theta}_1 or
        {\theta_1}'.
        """
        end, depth = self.at, 0
        while end < len(self.tokens):
            depth += (self.tokens[end] == "{") - (self.tokens[end] == "}")
            end += 1
            if not depth:
                break
        return "".join(self.tokens[end : end + 1]) in ("_", "'")

    def group(self) -> list[str]:
        """Return the tokens of a group, or the next token."""
        if self.peek() != "{":
            return [self.take()]
        depth, out = 0, []
        while token := self.take():
            depth += (token == "{") - (token == "}")
            if not depth:
                break
            out.append(token)
        return out


GREEK = (
    "alpha",
    "beta",
    "gamma",
    "delta",
    "epsilon",
    "varepsilon",
    "zeta",
    "eta",
    "theta",
    "vartheta",
    "iota",
    "kappa",
    "lambda",
    "mu",
    "nu",
    "xi",
    "pi",
    "rho",
    "sigma",
    "tau",
    "upsilon",
    "phi",
    "varphi",
    "chi",
    "psi",
    "omega",
    "Gamma",
    "Delta",
    "Theta",
    "Lambda",
    "Sigma",
    "Phi",
    "Psi",
    "Omega",
)


def _greek(token: str) -> str:
    if token[1:] not in GREEK:
        raise refused(
            f"{token} is not known here; \\frac, \\sqrt, \\sin, \\cos, \\dot, \\ddot, \\left,"
            " \\right and Greek letters are"
        )
    return token[1:]


def _flat(tokens: list[str]) -> str:
    """Return an index without braces, spaces and fonts."""
    return "".join(
        x.removeprefix("\\") for x in tokens if x not in ("{", "}", "_", ",", *UPRIGHT, *SKIPPED)
    )


def quantities(names: Names) -> Mapping[Quantity, str]:
    """Return {identification: symbol} of all names."""
    found: dict[Quantity, str] = {}
    for _, group in reversed(list(names.items())):
        for n in group:
            reader = _Latex.__new__(_Latex)
            reader.tokens = [
                x for x in TOKEN.findall(n.latex) if not x.isspace() and x not in SKIPPED
            ]
            reader.at = 0
            found[reader.mark()] = n.symbol
    return found
