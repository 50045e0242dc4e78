"""Sensitivities: the derivatives of a run's outcome with respect to parameters, its start and its
joint forces.

    forward    the variations of all variables beside the run, in lanes: cost grows with the
               variables
    adjoint    the run backwards, for each output: cost grows with the outputs

Equal steps are differentiated as they are computed: the derivative is that of the numbers. Adaptive
steps: forward integrates the variational equations under the same tolerance; the adjoint is that of
the steps that were accepted. At events both have the saltation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ..compiler import default_width
from ..errors import StudyError, unknown
from ..machine import Machine
from ..model import Mechanism
from ..simulation import RunOptions
from ..simulation.integrators import METHODS
from ..simulation.planning import RunPlan, prepare
from .adjoint import Steps
from .directions import Directions, wanted
from .grazing import Guards
from .integration import span, taken
from .linearised import Linearised
from .outputs import Outputs, outputs
from .saltation import Saltation, before_rest, saltation
from .smooth_segments import Leg, legs
from .start_variations import directions, held

Array = NDArray[np.float64]
WAYS = ("forward", "adjoint")


@dataclass(frozen=True)
class Sensitivities:
    """of (m,) and with_respect_to (n,): names. values (m,): the outputs. derivatives (m, n), in SI
    units; of a coordinate of the start along its speed. way: forward or adjoint; method: what was
    differentiated, in a sentence. t: the end of the run, s. events: (s, what).
    """

    of: tuple[str, ...]
    with_respect_to: tuple[str, ...]
    values: Array
    derivatives: Array
    way: str
    method: str
    t: float
    events: tuple[tuple[float, str], ...] = ()

    def __getitem__(self, names: tuple[str, str]) -> float:
        """The derivative of one output with respect to one variable, by their names."""
        of, wrt = names
        for name, known, what in ((of, self.of, "output"), (wrt, self.with_respect_to, "variable")):
            if name not in known:
                raise StudyError(unknown(what, name, known, "these sensitivities"))
        return float(self.derivatives[self.of.index(of), self.with_respect_to.index(wrt)])

    def table(self) -> Any:
        """The derivatives as an xarray.DataArray with names."""
        import xarray

        return xarray.DataArray(
            self.derivatives,
            coords={"of": list(self.of), "with_respect_to": list(self.with_respect_to)},
            dims=("of", "with_respect_to"),
        )


def sensitivities(
    mechanism: Mechanism | Machine,
    *,
    with_respect_to: Iterable[str],
    of: Any = None,
    q: Any = None,
    v: Any = None,
    until: float = 1.0,
    way: str | None = None,
    control: Any = None,
    tolerance: float = 1e-10,
    **options: Any,
) -> Sensitivities:
    """The derivatives of a run's outcome.

    with_respect_to: parameters, numbers such as "body.rod.mass", "q.elbow", "v.elbow", "tau.elbow";
    "q0", "v0", "tau" for all of these, "forces" for every piece of given forces. of: texts of the
    final state, or {name: text}: "q_elbow", "t", "integral(tau_elbow^2)"; by default every
    coordinate and speed. way: "forward" or "adjoint", by default the cheaper. The rest as of
    `catena.simulate`: q, v, until (s), control, forces, events, integrator, step, tolerance and
    others.
    """
    if way not in (None, *WAYS):
        raise StudyError(unknown("way", way, WAYS, "sensitivities"))
    model = mechanism.mechanism if isinstance(mechanism, Machine) else mechanism
    given = options.get("forces")
    asked = wanted(
        model,
        control,
        with_respect_to,
        0 if given is None else np.atleast_2d(np.asarray(given, float)).shape[-2],
    )
    plan = planned(
        asked.varied.mechanism,
        q,
        v,
        until,
        {**options, "control": asked.varied.control, "tolerance": tolerance},
    )
    found = outputs(plan.system, of)
    tapes = Linearised(plan.system, asked.places, found.integrals)
    along = directions(asked, plan, tapes, (q, v))
    way = way or ("adjoint" if len(found.names) < len(along.names) else "forward")
    x0, course = legs(plan)
    x0 = np.append(x0, np.zeros(tapes.size - plan.system.size))
    along = held(plan, tapes, along, x0, course[0])
    course = [before_rest(tapes, leg, plan.p[0]) for leg in course]
    run = _forward if way == "forward" else _adjoint
    values, derivatives, t = run(plan, tapes, x0, course, along, _Ending(tapes, found))
    events = tuple((leg.turn.t, leg.turn.said) for leg in course if leg.turn is not None)
    return Sensitivities(
        found.names, along.names, values, derivatives, way, _said(plan, way), t, events
    )


def planned(model: Mechanism, q: Any, v: Any, until: float, options: Mapping[str, Any]) -> RunPlan:
    """The plan of the run, refused where it has no derivative."""
    given = dict(options)
    if given.get("output") is None:
        given["output"] = np.array([float(given.get("start", 0.0)), float(until)])
    parameters = {**dict(model.parameters), **(given.get("parameters") or {})}
    given |= {"parameters": parameters or None, "threads": 1}
    plan = prepare(model, q, v, until, RunOptions.of_many(**given))
    faults = list(_faults(plan))
    if faults:
        raise StudyError(f"sensitivities of {model.name!r} cannot be found as asked:", faults)
    return plan


def _faults(plan: RunPlan) -> Iterable[str]:
    if len(plan.x0) != 1:
        yield f"the start is one state; found the leading shape {plan.lead}"
    if plan.how.kind not in ("fixed", "adaptive"):
        known = ", ".join(m.name for m in METHODS.values() if m.kind in ("fixed", "adaptive"))
        yield f"integrator {plan.how.name!r} is not differentiated; take one of {known}"
    if callable(plan.control) and not hasattr(plan.control, "law"):
        yield (
            "its control is a Python function, whose derivative is not known; take a controller of"
            " catena.control"
        )
    if plan.system.clocks:
        yield "its controller samples at instants; take one that acts all the time (sample=None)"
    if not plan.system.equations.state_is_qv:
        yield f"the state of formulation {plan.system.by!r} is not (q, v); take 'recursive'"


def _said(plan: RunPlan, way: str) -> str:
    if plan.how.kind == "fixed":
        return f"the numbers of {plan.how.name} in equal steps, differentiated exactly"
    if way == "forward":
        return (
            f"variational equations beside the run, {plan.how.name} at a tolerance of"
            f" {plan.tolerance:g}"
        )
    return (
        f"the accepted steps of {plan.how.name} at a tolerance of {plan.tolerance:g},"
        " differentiated exactly"
    )


class _Ending:
    """The outputs at the end: values and derivatives along t, state and parameters."""

    def __init__(self, tapes: Linearised, found: Outputs):
        t, X, _, P = tapes.inputs
        y = found.value(X[tapes.system.size :])
        self._f = ca.Function(
            "ending", [t, X, P], [y, *(ca.densify(ca.jacobian(y, w)) for w in (t, X, P))]
        )

    def __call__(self, t: float, x: Array, p: Array) -> tuple[Array, Array, Array, Array]:
        value, y_t, y_x, y_p = (np.array(y) for y in self._f(t, x, p))
        return value.ravel(), y_t.ravel(), y_x, y_p


# --- forward
def _forward(
    plan: RunPlan,
    tapes: Linearised,
    x: Array,
    course: list[Leg],
    along: Directions,
    ending: _Ending,
) -> tuple[Array, Array, float]:
    p = plan.p[0]
    dx = along.x.copy()
    late = np.zeros(len(along.names))
    guards = Guards(tapes) if tapes.system.guards else None
    for k, leg in enumerate(course):
        if guards is not None:
            guards.refuse_grazing(
                Steps(tapes, plan.how, x, leg.held, p, *taken(plan, tapes, leg, x, p)), leg
            )
        x, dx = span(plan, tapes, leg, x, dx, p, along.p, along.u[leg.piece])
        if leg.turn is not None:
            x, after, jump = _turned(plan, tapes, leg, course[k + 1 :], x, p)
            late = jump.tx @ dx + jump.tp @ along.p
            x = after
            dx = jump.X @ dx + jump.P @ along.p
    end = course[-1].end
    ends = course[-1].turn is not None and course[-1].turn.ends
    value, y_t, y_x, y_p = ending(end, x, p)
    return value, y_x @ dx + y_p @ along.p + (np.outer(y_t, late) if ends else 0.0), end


def _turned(
    plan: RunPlan, tapes: Linearised, leg: Leg, later: list[Leg], x: Array, p: Array
) -> tuple[Array, Array, Saltation]:
    """The states on both sides of a turn, those of the nominal run, and the saltation."""
    turn = leg.turn
    assert turn is not None
    z = x[tapes.system.size :]
    before = np.append(turn.before, z)
    after = np.append(turn.after, z)
    return (
        before,
        after,
        saltation(tapes, plan, leg, before, after, p, later[0].held if later else turn.then),
    )


# --- adjoint
def _adjoint(
    plan: RunPlan,
    tapes: Linearised,
    x: Array,
    course: list[Leg],
    along: Directions,
    ending: _Ending,
) -> tuple[Array, Array, float]:
    p = plan.p[0]
    parts = list[tuple[Leg, Steps, Saltation | None]]()
    guards = Guards(tapes) if tapes.system.guards else None
    for k, leg in enumerate(course):
        steps = Steps(tapes, plan.how, x, leg.held, p, *taken(plan, tapes, leg, x, p))
        if guards is not None:
            guards.refuse_grazing(steps, leg)
        x, jump = steps.after, None
        if leg.turn is not None:
            _, x, jump = _turned(plan, tapes, leg, course[k + 1 :], x, p)
        parts.append((leg, steps, jump))
    end = course[-1].end
    ends = course[-1].turn is not None and course[-1].turn.ends
    value, y_t, y_x, y_p = ending(end, x, p)
    found = np.zeros((len(value), len(along.names)))
    width = default_width()
    for first in range(0, len(value), width):
        rows = slice(first, min(first + width, len(value)))
        late = y_t[rows] if ends else np.zeros(rows.stop - first)
        found[rows] = _pulled(tapes, parts, along, y_x[rows], y_p[rows], late)
    return value, found, end


def _pulled(
    tapes: Linearised,
    parts: list[tuple[Leg, Steps, Saltation | None]],
    along: Directions,
    y_x: Array,
    y_p: Array,
    late: Array,
) -> Array:
    """The derivatives (rows, n) of a few outputs, in lanes."""
    W = 1 << (len(y_x) - 1).bit_length()
    lam = np.zeros((tapes.size, W))
    lam[:, : len(y_x)] = y_x.T
    found, weight = y_p @ along.p, late
    for leg, steps, jump in reversed(parts):
        if jump is not None:
            back = lam[:, : len(y_x)]
            found += back.T @ (jump.P @ along.p) + np.outer(weight, jump.tp @ along.p)
            lam[:, : len(y_x)] = jump.X.T @ back + np.outer(jump.tx, weight)
            weight = np.zeros_like(weight)
        gradient = np.zeros((len(tapes.places) + tapes.nv, W))
        steps.pull(lam, gradient)
        own = gradient[:, : len(y_x)].T
        places = len(tapes.places)
        found += (
            own[:, :places] @ along.p[list(tapes.places)] + own[:, places:] @ along.u[leg.piece]
        )
    return found + lam[:, : len(y_x)].T @ along.x
