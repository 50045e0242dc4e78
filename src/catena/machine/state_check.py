"""Whether a state is possible: every loop and constraint closed, and no speed that opens one.

Forces, accelerations and multipliers of a state that breaks its constraint rows answer no question
about the mechanism. Everything that takes a state asks here, so that there is one rule, which is
written down in `possible_states`.

Compiled code carries the rule with it (`poisoned`), where it costs next to nothing; where it finds
a state that is not possible, `require_possible` says why.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import casadi as ca
import numpy as np

from ..compiler import Tracer
from ..errors import ClosureError
from ..model import Mechanism
from .arguments import place_in
from .possible_states import OPEN
from .quantities import Quantity, find
from .request import Array, Request
from .row_metric import metric
from .spec import Spec


class Asked(Protocol):
    """The router, which stands above this check: what it is asked for, and its spec."""

    spec: Spec

    def ask(
        self, quantity: Quantity, states: Any, wrenches: Any, parameters: Any, *, t: Any
    ) -> Any:
        """Return the outputs of a quantity."""


def _violations(s: Tracer) -> ca.SX:
    """(3,): the largest residual and the largest rate, relative to the sizes of their rows; the
    fastest speed.
    """
    error, rate, _, A = s.constraint_rows()
    column = np.asarray(s.con.column, float)
    sizes = []
    for k, n in enumerate(s.row_scales()):
        own = ca.dot(A[k, :].T ** 2, ca.SX(column)) if n == 0.0 else None
        sizes.append(ca.SX(n) if own is None else ca.if_else(own > 0.0, own, 1.0))
    size = ca.sqrt(ca.vertcat(*sizes))
    fastest = ca.mmax(ca.fabs(s.v) / np.sqrt(column))
    return ca.vertcat(ca.mmax(ca.fabs(error) / size), ca.mmax(ca.fabs(rate) / size), fastest)


STATE = Quantity(
    "state",
    ("q", "v"),
    (),
    "A state alone, for which nothing is computed: its arguments are checked as any quantity's.",
    _violations,
    time=True,
    of_rows=True,
)


def require_possible(
    router: Asked,
    request: Request,
    question: str = "",
    speeds: bool = True,
    advice: str = "begin with q, v = catena.assemble(mechanism, q, v)",
) -> None:
    """Raise a ClosureError where a state of a request, which begins with q and v, leaves a loop
    open or has speeds that open one.

    The message names the loop, the row, how far it is open and relative to what, and in a batch
    which state. States that are not finite are left to the question itself. question: what was
    asked, in words; the quantity unless given. speeds: whether the speeds count. advice: what to
    do.
    """
    rows = Violations.of(router, request)
    bad = rows.bad(speeds) & np.isfinite(rows.fastest)
    if bad.any():
        raise rows.refusal(router.spec, question or request.quantity.name, bad, advice)


@dataclass(frozen=True)
class Violations:
    """The constraint rows of some states: residuals and rates (..., rows), both relative to the
    sizes of the rows too; the fastest speed (...,) of each state, 1/s.
    """

    error: Array
    rate: Array
    opened: Array
    torn: Array
    fastest: Array

    @classmethod
    def of(cls, router: Asked, request: Request) -> Violations:
        """Those of the states of a request."""
        q, v = request.states[:2]
        time = 0.0 if request.time is None else request.time[..., 0]
        asked = router.ask(find("constraint_rows"), (q, v), None, request.parameters, t=time)
        by = metric(router.spec)
        fastest = np.abs(v / np.sqrt(by.column)).max(axis=-1, initial=0.0)
        error, rate, _, A = asked
        torn, opened = (np.abs(by.beside(x, A)) for x in (rate, error))
        return cls(error, rate, opened, torn, np.maximum(fastest, router.spec.resting))

    def bad(self, speeds: bool) -> Array:
        """(...,): whether a state breaks a row, by its coordinates or (`speeds`) its speeds."""
        opened, torn = (x.max(axis=-1, initial=0.0) for x in (self.opened, self.torn))
        return np.asarray((opened > OPEN) | (speeds & (torn > OPEN * self.fastest)))

    def refusal(self, spec: Spec, question: str, bad: Array, advice: str) -> ClosureError:
        """The error for the first of the states that are `bad` (...,)."""
        state = int(np.flatnonzero(bad)[0])
        error, rate, opened, torn = (
            np.abs(x).reshape(-1, len(spec.rows))[state]
            for x in (self.error, self.rate, self.opened, self.torn)
        )
        speed = float(np.broadcast_to(self.fastest, bad.shape).reshape(-1)[state])
        is_open = bool(opened.max() > OPEN)
        size = error if is_open else rate
        share = opened if is_open else torn / max(speed, np.finfo(float).tiny)
        k = int(share.argmax())
        name, label = spec.rows[k]
        unit, of = _measure(spec.mechanism, name, label)
        if is_open:
            found = f"stays open by {size[k]:.3g} {unit} in its {label}, {share[k]:.2g} of {of}"
        else:
            found = (
                f"is torn open at {size[k]:.3g} {unit}/s in its {label} by the speeds given,"
                f" {share[k]:.2g} of what the fastest of them amounts to"
            )
        gaps: dict[str, float] = {}
        for (row, _), x, y in zip(spec.rows, size, share):
            if y > OPEN:
                gaps[row] = max(gaps.get(row, 0.0), float(x))
        where = place_in(bad.shape, state)
        return ClosureError(
            f"{question}: {called(spec.mechanism, name)} of mechanism {spec.mechanism.name!r}"
            f" {found}{where}; allowed is {OPEN:g}: {advice}",
            gaps,
        )


def _measure(mechanism: Mechanism, name: str, label: str) -> tuple[str, str]:
    """The unit of a row's residual, and what it is relative to."""
    if any(x.name == name for x in mechanism.row_records):
        return "(m or rad)", "the size of the row"
    if label.startswith("rotation"):
        return "(cosine)", "one"
    return "m", "the length of the loop"


def called(mechanism: Mechanism, name: str) -> str:
    """What adds a row, for people: a loop, a constraint or a speed row, and its name."""
    words = {x.name: "constraint" for x in mechanism.constraints} | {
        x.name: "speed row" for x in mechanism.nonholonomic
    }
    return f"{words.get(name, 'loop')} {name!r}"


def poisoned(s: Tracer, results: list[ca.SX], resting: float) -> list[ca.SX]:
    """Results of a quantity that are no numbers where the state of this tracer breaks the rows: the
    compiled code finds that at no cost of its own, and the router then says what is wrong.
    """
    error, rate, fastest = ca.vertsplit(_violations(s))
    keeps = ca.logic_and(error <= OPEN, rate <= OPEN * ca.fmax(fastest, resting))
    first = ca.if_else(keeps, results[0], ca.DM.nan(*results[0].shape))
    return [first, *results[1:]]
