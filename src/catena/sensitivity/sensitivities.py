"""Sensitivities: the derivatives of a run's outcome with respect to parameters, its start and its
joint forces.

    forward    the variations of all variables together with the run, in lanes: cost grows with the
               variables
    adjoint    the run backwards, for each output: cost grows with the outputs

Fixed steps are differentiated as they are computed, so that the result is the exact derivative of
the discrete solution. With adaptive steps, forward integrates the variational equations under the
same tolerance; the adjoint is that of the accepted steps. At events both apply the saltation
matrix.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
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
from .directions import Directions, find_variations
from .grazing import Guards
from .integration import integrate_segment, step_times
from .linearised import Linearised
from .outputs import Outputs, outputs
from .saltation import Saltation, end_before_rest, saltation
from .smooth_segments import Segment, run_segments
from .start_variations import directions, onto_active_constraints

Array = NDArray[np.float64]
WAYS = ("forward", "adjoint")


@dataclass(frozen=True)
class Sensitivities:
    """The derivatives of the outcome of a run.

    Attributes
    ----------
    of : tuple of str
        The names of the m outputs.
    with_respect_to : tuple of str
        The names of the n variables.
    values : array, shape (m,)
        The outputs.
    derivatives : array, shape (m, n)
        The derivatives in SI units; those by a coordinate of the start are along its speed.
    way : {"forward", "adjoint"}
        How they were computed.
    method : str
        A sentence that says what was differentiated.
    t : float
        The end of the run, s.
    events : tuple of (float, str)
        Time (s) and description of each event.
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
        """Return the derivative of one output by one variable: `s["q.elbow", "mass"]`.

        Raises StudyError for an unknown name.
        """
        of, wrt = names
        for name, known, what in ((of, self.of, "output"), (wrt, self.with_respect_to, "variable")):
            if name not in known:
                raise StudyError(unknown(what, name, known, "these sensitivities"))
        return float(self.derivatives[self.of.index(of), self.with_respect_to.index(wrt)])

    def table(self) -> Any:
        """Return the derivatives as an xarray.DataArray over `of` and `with_respect_to`."""
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
    """Compute the derivatives of a run's outcome, exactly and across events.

    Parameters
    ----------
    mechanism : Mechanism or Machine
        The mechanism.
    with_respect_to : iterable of str
        Parameters, numbers such as "body.rod.mass", "q.elbow", "v.elbow", "tau.elbow"; "q0", "v0"
        and "tau" for all of these; "forces" for every piece of given forces.
    of : str, iterable of str, mapping or None, default None
        Texts of the final state, or {name: text}: "q_elbow", "t", "integral(tau_elbow^2)". None
        means every coordinate and speed at the end.
    q, v : array_like, mapping or None
        The start, as for `catena.simulate`.
    until : float, default 1.0
        The end of the run, s.
    way : {"forward", "adjoint"} or None, default None
        None takes the cheaper.
    control : controller or None
        As for `catena.simulate`; it must be continuous.
    tolerance : float, default 1e-10
        The relative tolerance of adaptive integrators.
    **options
        Those of `catena.simulate`: forces, events, integrator, step and others.

    Returns
    -------
    Sensitivities
        Outputs and derivatives, with names.

    Raises
    ------
    StudyError
        If a name is unknown, or the run has no derivative: a guard grazes, events coincide, the
        controller is sampled, and so on.

    Examples
    --------
    >>> import catena
    >>> pendulum = catena.load("triple_pendulum")
    >>> s = catena.sensitivities(
    ...     pendulum, with_respect_to=["v0"], of="q_pin1", until=0.1, integrator="rk4", step=0.01
    ... )
    >>> s.derivatives.shape
    (1, 3)
    """
    if way not in (None, *WAYS):
        raise StudyError(unknown("way", way, WAYS, "sensitivities"))
    model = mechanism.mechanism if isinstance(mechanism, Machine) else mechanism
    given = options.get("forces")
    asked = find_variations(
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
    x0, segments = run_segments(plan)
    x0 = np.append(x0, np.zeros(tapes.size - plan.system.size))
    along = onto_active_constraints(plan, tapes, along, x0, segments[0])
    segments = [end_before_rest(tapes, segment, plan.p[0]) for segment in segments]
    run = _forward if way == "forward" else _adjoint
    values, derivatives, t = run(plan, tapes, x0, segments, along, _Ending(tapes, found))
    events = tuple(
        (segment.transition.t, segment.transition.description)
        for segment in segments
        if segment.transition is not None
    )
    return Sensitivities(
        found.names, along.names, values, derivatives, way, _method_sentence(plan, way), t, events
    )


def planned(model: Mechanism, q: Any, v: Any, until: float, options: Mapping[str, Any]) -> RunPlan:
    """Return the plan of the run; raise StudyError where it has no derivative."""
    given = dict(options)
    if given.get("output") is None:
        given["output"] = np.array([float(given.get("start", 0.0)), float(until)])
    parameters = {**dict(model.parameters), **(given.get("parameters") or {})}
    given |= {"parameters": parameters or None, "threads": 1}
    plan = prepare(model, q, v, until, RunOptions.of_many(**given))
    if plan.how.explicit:  # what is differentiated is the method that the choice begins with
        plan = replace(plan, how=METHODS[plan.how.explicit])
    faults = list(_faults(plan))
    if faults:
        raise StudyError(f"sensitivities of {model.name!r} cannot be found as asked:", faults)
    return plan


def _faults(plan: RunPlan) -> Iterable[str]:
    """Yield the reasons why a run cannot be differentiated."""
    if len(plan.x0) != 1:
        yield f"the start is one state; found the leading shape {plan.lead}"
    if plan.how.kind not in ("fixed", "adaptive"):
        known = ", ".join(
            m.name for m in METHODS.values() if m.kind in ("fixed", "adaptive") and not m.explicit
        )
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


def _method_sentence(plan: RunPlan, way: str) -> str:
    """Return a sentence that says which discrete or continuous solution was differentiated."""
    if plan.how.kind == "fixed":
        return f"the numbers of {plan.how.name} in equal steps, differentiated exactly"
    if way == "forward":
        return (
            f"variational equations solved with the run, {plan.how.name} at a tolerance of"
            f" {plan.tolerance:g}"
        )
    return (
        f"the accepted steps of {plan.how.name} at a tolerance of {plan.tolerance:g},"
        " differentiated exactly"
    )


class _Ending:
    """The outputs at the end of the run: values, and derivatives with respect to t, state and
    parameters.
    """

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
    segments: list[Segment],
    along: Directions,
    ending: _Ending,
) -> tuple[Array, Array, float]:
    """Return values (m,), derivatives (m, n) and the end (s) by forward variations."""
    p = plan.p[0]
    dx = along.x.copy()
    late = np.zeros(len(along.names))
    guards = Guards(tapes) if tapes.system.guards else None
    for k, segment in enumerate(segments):
        if guards is not None:
            guards.refuse_grazing(
                Steps(tapes, plan.how, x, segment.held, p, *step_times(plan, tapes, segment, x, p)),
                segment,
            )
        x, dx = integrate_segment(plan, tapes, segment, x, dx, p, along.p, along.u[segment.piece])
        if segment.transition is not None:
            x, after, jump = _cross_transition(plan, tapes, segment, segments[k + 1 :], x, p)
            late = jump.tx @ dx + jump.tp @ along.p
            x = after
            dx = jump.X @ dx + jump.P @ along.p
    end = segments[-1].end
    ends = segments[-1].transition is not None and segments[-1].transition.ends
    value, y_t, y_x, y_p = ending(end, x, p)
    return value, y_x @ dx + y_p @ along.p + (np.outer(y_t, late) if ends else 0.0), end


def _cross_transition(
    plan: RunPlan, tapes: Linearised, segment: Segment, later: list[Segment], x: Array, p: Array
) -> tuple[Array, Array, Saltation]:
    """Return the states of the nominal run on both sides of a transition, and the saltation."""
    transition = segment.transition
    assert transition is not None
    z = x[tapes.system.size :]
    before = np.append(transition.before, z)
    after = np.append(transition.after, z)
    return (
        before,
        after,
        saltation(
            tapes, plan, segment, before, after, p, later[0].held if later else transition.then
        ),
    )


# --- adjoint
def _adjoint(
    plan: RunPlan,
    tapes: Linearised,
    x: Array,
    segments: list[Segment],
    along: Directions,
    ending: _Ending,
) -> tuple[Array, Array, float]:
    """Return values (m,), derivatives (m, n) and the end (s) by the adjoint."""
    p = plan.p[0]
    parts = list[tuple[Segment, Steps, Saltation | None]]()
    guards = Guards(tapes) if tapes.system.guards else None
    for k, segment in enumerate(segments):
        steps = Steps(tapes, plan.how, x, segment.held, p, *step_times(plan, tapes, segment, x, p))
        if guards is not None:
            guards.refuse_grazing(steps, segment)
        x, jump = steps.after, None
        if segment.transition is not None:
            _, x, jump = _cross_transition(plan, tapes, segment, segments[k + 1 :], x, p)
        parts.append((segment, steps, jump))
    end = segments[-1].end
    ends = segments[-1].transition is not None and segments[-1].transition.ends
    value, y_t, y_x, y_p = ending(end, x, p)
    found = np.zeros((len(value), len(along.names)))
    width = default_width()
    for first in range(0, len(value), width):
        rows = slice(first, min(first + width, len(value)))
        late = y_t[rows] if ends else np.zeros(rows.stop - first)
        found[rows] = _pull_back(tapes, parts, along, y_x[rows], y_p[rows], late)
    return value, found, end


def _pull_back(
    tapes: Linearised,
    parts: list[tuple[Segment, Steps, Saltation | None]],
    along: Directions,
    y_x: Array,
    y_p: Array,
    late: Array,
) -> Array:
    """Return the derivatives (rows, n) of a few outputs, pulled back in lanes.

    late: the derivative of each output by the time at which an event ends the run.
    """
    W = 1 << (len(y_x) - 1).bit_length()
    lam = np.zeros((tapes.size, W))
    lam[:, : len(y_x)] = y_x.T
    found, weight = y_p @ along.p, late
    for segment, steps, jump in reversed(parts):
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
            own[:, :places] @ along.p[list(tapes.places)] + own[:, places:] @ along.u[segment.piece]
        )
    return found + lam[:, : len(y_x)].T @ along.x
