"""The textbook's form: equations of terms, each a coefficient times accelerations, speeds, forces
or 1. statement -> harmonic sums -> grouped by a_j, v_j v_k, the rest -> coefficients factored
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import sympy as sp

from ...compiler import Node, Tape, read
from ..statement import Statement
from .convert import constant, expression, number
from .harmonics import OPERATIONS, Budget, Harmonics, NotHarmonic, OutOfBudget, exact, fraction
from .names import Names, symbols
from .ratios import Ratio, cancelled, root

# roles whose products head a term, in this order; others follow
MOVING = ("u_rate", "w_rate", "a", "u", "w", "v", "h", "h_rate", "q_rate", "tau", "lam")
STILL = ("t", "q", "p")  # roles that stand in coefficients
RATIOS = ("DIV", "INV", "SQRT")  # operations whose result may be a quotient
FACTORED = 30  # terms: longer coefficients stay as they are


class Term(NamedTuple):
    """The product coefficient * of, where `of` is a product of accelerations, speeds, momenta or
    forces, or 1.
    """

    coefficient: Any
    of: Any

    @property
    def value(self) -> Any:
        """The product."""
        return self.coefficient * self.of


@dataclass(frozen=True)
class EquationRow:
    """One equation: the sum of the terms on the left equals the sum of those on the right."""

    left: tuple[Term, ...]
    right: tuple[Term, ...]

    @property
    def equation(self) -> Any:
        """The row as SymPy's Eq."""
        left, right = (sp.Add(*(term.value for term in side)) for side in (self.left, self.right))
        return sp.Eq(left, right, evaluate=False)


def textbook(
    statement: Statement, names: Names, budget: Budget, units: Sequence[Sequence[Any]] = ()
) -> list[EquationRow]:
    """Return the rows of a statement in normal form. Raise NotHarmonic or OutOfBudget where there
    is no such form, or none within the budget. units: the symbols of quaternions of length 1; the
    square of the first symbol of each is replaced by those of the others.
    """
    inputs = [s for role in statement.roles for s in symbols(names[role])]
    left, right, meanings = _walk(statement, inputs, names, budget)
    for four in units:
        k = [inputs.index(x) for x in four]
        left, right = ([x.reduced(k[0], k[1:]) for x in side] for side in (left, right))
    others = [role for role in statement.roles if role not in (*MOVING, *STILL)]
    head = [
        inputs.index(s)
        for role in (*MOVING, *others)
        if role in statement.roles
        for s in symbols(names[role])
    ]
    return [
        EquationRow(*(_terms(side, meanings, head, budget) for side in sides))
        for sides in zip(left, right)
    ]


# --- from the tape
def _walk(
    statement: Statement, inputs: Sequence[Any], names: Names, budget: Budget
) -> tuple[list[Any], list[Any], list[Any]]:
    """Return the left and right sides as harmonic sums, and the expressions that the generators of
    the polynomial ring stand for.
    """
    tape = read(statement.tape)
    fixed = _of_parameters(tape, inputs, set(symbols(names["p"])))
    opaque = [
        n
        for n, node in enumerate(tape.nodes)
        if n in fixed and node.op not in (*OPERATIONS, "INPUT", "CONST")
    ]
    opaque = [n for n in opaque if not fixed[n].is_Number]
    meanings = [*inputs, *(fixed[n] for n in opaque)]
    ring = sp.polys.rings.PolyRing([f"x{k}" for k in range(len(meanings))], sp.QQ_I, sp.lex)
    zero = Harmonics(ring, {}, budget)
    values: list[Any] = []
    out: dict[int, Harmonics] = {}
    for n, node in enumerate(tape.nodes):
        if node.op == "OUTPUT":
            out[node.at] = values[node.args[0]].cleaned()
            values.append(None)
        elif n in opaque:
            values.append(zero.generator(len(inputs) + opaque.index(n)))
        else:
            values.append(_value(node, [values[a] for a in node.args], zero))
    rows = statement.tape.size1_out(0)
    terms = sum(x.terms for x in out.values())
    if terms > budget.terms:
        raise OutOfBudget(f"in full the equations have {terms} terms")
    return [out[k] for k in range(rows)], [out[k] for k in range(rows, 2 * rows)], meanings


def _of_parameters(tape: Tape, inputs: Sequence[Any], parameters: set[Any]) -> dict[int, Any]:
    """Return the instructions that depend on parameters and numbers only, as SymPy expressions."""
    fixed: dict[int, Any] = {}
    for n, node in enumerate(tape.nodes):
        if node.op == "INPUT" and inputs[node.at] not in parameters:
            continue
        if node.op != "OUTPUT" and all(a in fixed for a in node.args):
            fixed[n] = expression(node, [fixed[a] for a in node.args], inputs)
    return fixed


def _value(node: Node, arguments: Sequence[Harmonics], zero: Harmonics) -> Harmonics:
    """Evaluate one instruction of the CasADi function on harmonic sums."""
    if node.op == "INPUT":
        return zero.generator(node.at)
    if node.op == "CONST":
        return zero.constant(exact(constant(node)))
    if node.op in OPERATIONS:
        return OPERATIONS[node.op](*arguments)
    if node.op in RATIOS and not isinstance(arguments[-1], Ratio):
        divided = _ratio(node, arguments, zero)
        if divided is not None:
            return divided
    if any(isinstance(x, Ratio) for x in arguments):
        raise NotHarmonic(f"the operation {node.op.lower()} of a quotient")
    known = [x.number() for x in arguments]
    last = known[-1]
    if node.op == "DIV" and last:
        return arguments[0] * zero.constant(1 / last)
    if node.op == "INV" and last:
        return zero.constant(1 / last)
    if (
        node.op in ("POW", "CONSTPOW")
        and last is not None
        and last.denominator == 1
        and 0 <= last <= 8
    ):
        return arguments[0] ** int(last)
    if all(x is not None for x in known):
        return zero.constant(
            exact(float(expression(node, [sp.Float(float(x)) for x in known], [])))  # type: ignore[arg-type]
        )
    raise NotHarmonic(f"the operation {node.op.lower()}")


def _ratio(node: Node, arguments: Sequence[Any], zero: Harmonics) -> Any:
    """Return a quotient or a root of sums that are not numbers; None where they are numbers."""
    last = arguments[-1]
    if last.number() is not None:
        return None
    if node.op == "SQRT":
        return root(last)
    top = arguments[0] if node.op == "DIV" else zero.constant(Fraction(1))
    return top * cancelled(zero.constant(Fraction(1)), last)


# --- to terms
def _terms(
    x: Harmonics, meanings: Sequence[Any], head: Sequence[int], budget: Budget
) -> tuple[Term, ...]:
    """Group a sum by the powers of its moving symbols: accelerations first, then speeds, then terms
    without either.
    """
    # powers of the head -> cosine or sine -> coefficients
    groups: dict[tuple[int, ...], dict[Any, list[Any]]] = {}
    for mode, poly in x.parts.items():
        lead = next((k for k in mode if k), 0)
        if lead < 0:
            continue  # the conjugate of a mode that is there
        angle = sum((number(Fraction(k)) * s for k, s in zip(mode, meanings)), sp.Integer(0))
        for powers, c in poly.terms():
            waves = groups.setdefault(tuple(powers[k] for k in head), {})
            rest = sp.Mul(
                *(s**e for k, (s, e) in enumerate(zip(meanings, powers)) if e and k not in head)
            )
            # c exp(i angle) and its conjugate
            for part, wave in ((c.x, sp.cos(angle)), (-c.y, sp.sin(angle))):
                if part:
                    size = fraction(part) * (2 if lead else 1)
                    waves.setdefault(wave, []).append(
                        sp.Rational(size.numerator, size.denominator) * rest
                    )
    terms = []
    for powers in sorted(groups, key=lambda powers: (sum(powers) == 0, tuple(-e for e in powers))):
        parts = []
        for wave, coefficients in groups[powers].items():
            budget.spend()
            parts.append(tidy(sp.Add(*coefficients)) * wave)
        whole = _shortest(sp.Add(*parts))
        terms.append(
            Term(_decimal(whole), sp.Mul(*(meanings[k] ** e for k, e in zip(head, powers))))
        )
    return tuple(terms)


LARGEST_FACTOR = 10**12  # the largest whole number that taking out a common factor may make


def _shortest(e: Any) -> Any:
    """Return the shortest of several forms of an expression: with cosines of sums, with products of
    cosines, or with squares of sines.
    """
    factored = sp.factor_terms(e, sign=True)
    # decimals of many digits have no common factor that can be read
    forms = [e, *([factored] if _largest(factored) <= max(LARGEST_FACTOR, _largest(e)) else [])]
    if 1 < len(e.args) <= FACTORED and any(
        len(x.args[0].args) > 1 for x in e.atoms(sp.sin, sp.cos)
    ):
        products = sp.expand(sp.expand_trig(e))
        sines = sp.expand(
            products.replace(
                lambda x: x.is_Pow and isinstance(x.base, sp.cos) and x.exp == 2,
                lambda x: 1 - sp.sin(x.base.args[0]) ** 2,
            )
        )
        forms += [tidy(x) for x in (products, sines) if len(sp.Add.make_args(x)) <= FACTORED]
    return min(forms, key=lambda x: (_length(x), x.count(sp.Add)))


def _largest(e: Any) -> int:
    """Return the largest whole number in an expression."""
    return max((abs(int(x)) for x in e.atoms(sp.Integer)), default=0)


def tidy(e: Any) -> Any:
    """Return a polynomial of parameters as a product if it factors, else collected by the symbols
    that make it shortest.
    """
    if not e.is_Add or len(e.args) > FACTORED:
        return e
    best = min(e, sp.factor(e), key=_length)
    if best.is_Add:
        for s in sorted(e.free_symbols, key=lambda s: s.name):
            best = min(best, sp.collect(best, s), key=_length)
    return best


def _length(e: Any) -> int:
    """Return a measure of how long an expression appears in print: its number of operations, and
    the digits of its numbers.
    """
    digits = sum(
        len(f"{abs(float(x)):.15g}")
        for x in sp.preorder_traversal(e)
        if x.is_Rational and abs(x) != 1
    )
    return int(e.count_ops()) + digits


def _decimal(e: Any) -> Any:
    """Return whole numbers and simple fractions as they are, all other numbers as decimals."""
    return e.xreplace({x: number(Fraction(int(x.p), int(x.q))) for x in e.atoms(sp.Rational)})
