"""The outputs of a sensitivity: the final state, or expressions of it and of integrals over the
run.

final state        every coordinate and speed at the end, q.NAME and v.NAME
text               "q_elbow^2 + v_elbow", "t", "integral(tau_elbow^2)": names as in expressions of
                   loads, tau_NAME the given joint forces
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca

from ..errors import CatenaError, StudyError
from ..model import evaluate, parse
from ..model.loads import identifier
from ..simulation.system import System

INTEGRAL = "integral("


@dataclass(frozen=True)
class Outputs:
    """The outputs of a sensitivity.

    names: (m,). integrals: expressions whose integrals are appended to the state. terms: for each
    output its expression, or None and the index of an integral.
    """

    names: tuple[str, ...]
    integrals: tuple[ca.SX, ...]
    terms: tuple[tuple[ca.SX | None, int], ...]

    def value(self, z: ca.SX) -> ca.SX:
        """Return the outputs (m,) as expressions of the system's symbols and of the integrals z."""
        return ca.densify(ca.vertcat(*(z[k] if own is None else own for own, k in self.terms)))


def symbols(system: System) -> dict[str, Any]:
    """Return the symbols that expressions may use: t, parameters, q_NAME, v_NAME, tau_NAME."""
    m = system.mechanism
    table: dict[str, Any] = {name: system.p[k] for k, name in enumerate(m.parameters)} | {
        "t": system.t
    }
    table |= {f"q_{identifier(n)}": system.q[k] for k, n in enumerate(m.coordinate_names)}
    for letter, vector in (("v", system.v), ("tau", system.u)):
        table |= {f"{letter}_{identifier(n)}": vector[k] for k, n in enumerate(m.speed_names)}
    return table


def expression(text: str, table: Mapping[str, Any], what: str) -> ca.SX:
    """Return a string as an expression of symbols; raise StudyError, whose message begins with
    `what`.
    """
    try:
        return ca.SX(evaluate(parse(text, list(table)), table))
    except (CatenaError, ValueError) as why:
        raise StudyError(f"{what} {text!r}: {why}") from None


def outputs(system: System, of: Any) -> Outputs:
    """Return the outputs: the final state where `of` is None, otherwise {name: expression} or a
    list of expressions.
    """
    if of is None:
        m = system.mechanism
        names = [f"q.{n}" for n in m.coordinate_names] + [f"v.{n}" for n in m.speed_names]
        state = ca.vertcat(system.q, system.v)
        return Outputs(tuple(names), (), tuple((state[k], -1) for k in range(len(names))))
    texts: Iterable[tuple[str, str]] = (
        of.items()
        if isinstance(of, Mapping)
        else [(x, x) for x in ([of] if isinstance(of, str) else of)]
    )
    table = symbols(system)
    names = []
    integrals = list[ca.SX]()
    terms = list[tuple[ca.SX | None, int]]()
    for name, text in texts:
        names.append(name)
        body = text.strip()
        if body.startswith(INTEGRAL) and body.endswith(")"):
            terms.append((None, len(integrals)))
            integrals.append(
                expression(body[len(INTEGRAL) : -1], table, f"measure {name!r}: integral of")
            )
        else:
            found = expression(body, table, f"measure {name!r}:")
            if ca.depends_on(found, system.u):
                raise StudyError(
                    f"measure {name!r}: {text!r} has a joint force in it, which is no part of the"
                    " final state; take integral(...)"
                )
            terms.append((found, -1))
    if not names:
        raise StudyError(
            "sensitivities of nothing were asked; leave `of` out for the final state, or give texts"
            ' such as "q_elbow"'
        )
    return Outputs(tuple(names), tuple(integrals), tuple(terms))
