"""State check: whether every loop and constraint of a state is closed, and no speed opens one.

Forces, accelerations and multipliers have no meaning at a state that violates its constraint rows.
All functions that take a state use the tolerances of `possible_states`.

Compiled code includes this check (`nan_off_rows`) at almost no cost: it returns NaN for a state
that is not possible, and `require_possible` then says why.
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
    """The part of the router's interface that this check uses."""

    spec: Spec

    def ask(
        self, quantity: Quantity, states: Any, wrenches: Any, parameters: Any, *, t: Any
    ) -> Any:
        """Return the outputs of a quantity for given states."""


def _violations(s: Tracer) -> ca.SX:
    """Return (3,): the largest residual and the largest rate, relative to the sizes of their rows,
    and the fastest speed (1/s).
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
    """Raise a ClosureError where a state of a request, whose first inputs are q and v, leaves a
    loop open or has speeds that open one.

    The message names the loop, the row, how far it is open and relative to what, and in a batch
    which state. States that are not finite raise no error here. question: what is computed, as a
    phrase; by default the quantity. speeds: whether speeds are checked too. advice: what the user
    can do.
    """
    rows = Violations.of(router, request)
    bad = rows.bad(speeds) & np.isfinite(rows.fastest)
    if bad.any():
        raise rows.refusal(router.spec, question or request.quantity.name, bad, advice)


@dataclass(frozen=True)
class Violations:
    """The violations of constraint rows at some states. error, rate: residuals and rates, (...,
    rows). opened, torn: residuals and rates relative to the sizes of the rows. fastest (...,): the
    fastest speed of each state, 1/s.
    """

    error: Array
    rate: Array
    opened: Array
    torn: Array
    fastest: Array

    @classmethod
    def of(cls, router: Asked, request: Request) -> Violations:
        """Return the violations at the states of a request."""
        q, v = request.states[:2]
        time = 0.0 if request.time is None else request.time[..., 0]
        asked = router.ask(find("constraint_rows"), (q, v), None, request.parameters, t=time)
        by = metric(router.spec)
        fastest = np.abs(v / np.sqrt(by.column)).max(axis=-1, initial=0.0)
        error, rate, _, A = asked
        torn, opened = (np.abs(by.relative(x, A)) for x in (rate, error))
        return cls(error, rate, opened, torn, np.maximum(fastest, router.spec.resting))

    def bad(self, speeds: bool) -> Array:
        """Return whether each state violates a row, (...,): by its coordinates, or with `speeds` by
        its speeds.
        """
        opened, torn = (x.max(axis=-1, initial=0.0) for x in (self.opened, self.torn))
        return np.asarray((opened > OPEN) | (speeds & (torn > OPEN * self.fastest)))

    def refusal(self, spec: Spec, question: str, bad: Array, advice: str) -> ClosureError:
        """Return the error for the first of the states that are `bad` (...,)."""
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
    """Return the unit of the residual of a row, and the quantity relative to which it is judged."""
    if any(x.name == name for x in mechanism.row_records):
        return "(m or rad)", "the size of the row"
    if label.startswith("rotation"):
        return "(cosine)", "one"
    return "m", "the length of the loop"


def called(mechanism: Mechanism, name: str) -> str:
    """Return the name of a row for messages, with the word loop, constraint or speed row before
    it.
    """
    words = {x.name: "constraint" for x in mechanism.constraints} | {
        x.name: "speed row" for x in mechanism.nonholonomic
    }
    return f"{words.get(name, 'loop')} {name!r}"


def nan_off_rows(s: Tracer, results: list[ca.SX], resting: float) -> list[ca.SX]:
    """Return the results of a quantity, with NaN for the first of them where the state of this
    tracer violates the rows. The router then finds out which row, and raises the error.
    """
    error, rate, fastest = ca.vertsplit(_violations(s))
    keeps = ca.logic_and(error <= OPEN, rate <= OPEN * ca.fmax(fastest, resting))
    first = ca.if_else(keeps, results[0], ca.DM.nan(*results[0].shape))
    return [first, *results[1:]]
