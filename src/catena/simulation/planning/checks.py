"""Checks of the arguments of a simulation: times, initial states, names. Each message names the
argument, what was found, and what is allowed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...equations.formulations import formulation, formulations
from ...errors import SimulationError, StateError
from ...kernels import usual_length
from ...machine import Machine, arguments, coordinates, states, where
from ..integrators.methods import METHODS, Method
from ..terms.error_scales import coordinate_sizes
from .starts import from_names

if TYPE_CHECKING:
    from ..events.event_plan import EventPlan


Array = NDArray[np.float64]
MOST_ROWS = 100_000_000
START = 1e-9  # of the mechanism's length, or rad: how far outside its limits a run may start


def output_times(start: float, until: float, output: Any) -> Array:
    """Return the times of the output rows after the start: every `output` seconds, or the given
    times; by default two hundred equal intervals.
    """
    if not (_finite(start) and _finite(until) and until > start):
        raise SimulationError(
            f"a run goes from start to a later until; found start = {start} s, until = {until} s"
        )
    if output is None:
        return np.linspace(start, until, 201)[1:]
    if np.isscalar(output) or getattr(output, "ndim", 1) == 0:
        if not (_finite(output) and 0 < output <= until - start):
            raise SimulationError(
                f"output = {output} s; it is a spacing above zero and at most the run's"
                f" {until - start:g} s"
            )
        count = max(1, round((until - start) / float(output)))
        if count > MOST_ROWS:
            raise SimulationError(
                f"output = {output} s makes {count:.3g} rows of {until - start:g} s; at most"
                f" {MOST_ROWS:.0e} are kept: take a spacing of {(until - start) / MOST_ROWS:.1g} s"
                " or more"
            )
        return np.linspace(start, until, count + 1)[1:]
    times = arguments.numbers("simulate", "output", output)
    if (
        times.ndim != 1
        or not len(times)
        or not (np.diff(times) > 0).all()
        or not (times[0] >= start and times[-1] <= until)
    ):
        raise SimulationError(
            f"output times are a list that rises and lies between start = {start:g} and until ="
            f" {until:g} s"
        )
    return times[times > start]


def _finite(x: Any) -> bool:
    """Return whether x is one finite real number."""
    return _is_real(x) and bool(np.isfinite(x))


def _is_real(x: Any) -> bool:
    """Return whether x is one real number; a list is none, nor are rows of several lengths."""
    if isinstance(x, list | tuple | dict):
        return False
    return np.ndim(x) == 0 and np.asarray(x).dtype.kind in "iuf"


def steps(step: Any, largest: Any, duration: float) -> None:
    """Raise SimulationError where a step, or the largest step, is not a time (s) that an integrator
    can take; None leaves the choice to the integrator.
    """
    if step is not None and not (_finite(step) and 0 < step <= duration):
        raise SimulationError(
            f"step = {step} s; it lies above zero and is at most the run's {duration:g} s"
        )
    if largest is not None and not (_is_real(largest) and largest > 0):
        raise SimulationError(f"largest_step = {largest} s; it lies above zero")


def starting_points(
    machine: Machine, q: Any, v: Any, parameters: Any
) -> tuple[Array, Array, Array, tuple[int, ...]]:
    """Return q, v and parameters as arrays with one row per run, and the leading shape in which
    they were given.
    """
    return states(machine, "simulate", *from_names(machine, q, v), parameters)


def forces(given: Any, runs: int, nv: int) -> Array:
    """Return joint forces given as (nv,), (run, nv), (step, nv) or (run, step, nv) as an array
    (runs, pieces, nv).
    """
    try:
        found = np.asarray(given, float)
    except (TypeError, ValueError):
        raise StateError(
            f"simulate: forces is a {type(given).__name__}; it is an array (run, step, nv)"
        ) from None
    shape = found.shape
    if len(shape) == 2 and runs > 1 and shape[0] == runs:
        found = found[:, None]
    elif len(shape) in (1, 2) and found.size:
        found = found.reshape(1, -1, shape[-1])
    if (
        found.ndim != 3
        or found.shape[2] != nv
        or found.shape[0] not in (1, runs)
        or not found.shape[1]
    ):
        raise StateError(
            f"simulate: forces has shape {shape}; it is ({nv},), (step, {nv}), (run, {nv}) or (run,"
            f" step, {nv}), of {runs} runs"
        )
    if not np.isfinite(found).all():
        raise StateError("simulate: forces are finite numbers; there are others among them")
    return np.broadcast_to(found, (runs, *found.shape[1:]))


def bounds(machine: Machine) -> Array:
    """Return (2, nq): the lowest and the highest value at which each coordinate may start.
    Coordinates of quaternions have no bounds.
    """
    found = np.array([[-np.inf] * machine.nq, [np.inf] * machine.nq])
    slack = outside(machine)
    for c in coordinates(machine):
        found[:, c.qi] = c.lower - slack[c.qi], c.upper + slack[c.qi]
    return found


def outside(machine: Machine) -> Array:
    """Return (nq,): how far beyond its limits a coordinate may start, to allow for rounding. Where
    stops are active, such a coordinate is moved onto its stop.
    """
    return START * coordinate_sizes(machine.layout, usual_length(machine.layout))[0]


def within_limits(machine: Machine, q: Array, bounds: Array) -> None:
    """Raise StateError where starts (runs, nq) lie outside the limits of joints; the message names
    each of them.
    """
    if not ((q < bounds[0]) | (q > bounds[1])).any():
        return
    faults = []
    for c in coordinates(machine):
        low = q[:, c.qi].min()
        high = q[:, c.qi].max()
        if low < bounds[0, c.qi] or high > bounds[1, c.qi]:
            found = low if low < bounds[0, c.qi] else high
            faults.append(
                f"{c.name!r} starts at {found:.6g}, its limits are {c.lower:.6g} and {c.upper:.6g}"
            )
    shown = "; ".join(faults[:5]) + ("; ..." if len(faults) > 5 else "")
    raise StateError(
        f"simulate: {where(machine)}: {shown}. Start within the limits, or say limits='ignore'"
    )


def closed(machine: Machine, t: float, q: Array, v: Array, p: Array) -> None:
    """Raise ClosureError where starts (runs, ...) leave a loop open, or have speeds that would open
    one; the message names the loop and the gap. Gaps below `state_check.OPEN` are closed without a
    message.
    """
    if len(q) == 1:  # one run is no batch, in words
        q, v, p = q[0], v[0], p[0]
    machine.require_possible("simulate, at the start", q, v, p if p.shape[-1] else None, t)


def accelerated(machine: Machine, t: float, q: Array, v: Array, p: Array) -> None:
    """Raise a SingularError where bodies have no mass, and rows leave one of their motions free at
    the first start: no force decides it.
    """
    if machine.rows and any(not b.flexible and b.mass == 0 for b in machine.mechanism.bodies):
        given = p[0] if p.shape[-1] else None
        still = np.zeros(machine.nv)
        machine.evaluate("forward_dynamics", q[0], v[0], still, parameters=given, t=t, check=False)


def events_possible(scheme: EventPlan, how: Method, by: str, start: float, until: float) -> None:
    """Raise SimulationError for events at times outside the run, and for events that the integrator
    or the formulation cannot treat.
    """
    if late := [e for t, e in scheme.timed if not start <= t <= until]:
        raise SimulationError(
            f"{late[0].title} is to happen at {late[0].at} s; the run goes from {start:g} to"
            f" {until:g} s"
        )
    if not how.chooses_steps and (
        scheme.guarded or scheme.holding.contacts or any(h.guarded for h in scheme.holding.speeds)
    ):
        raise SimulationError(
            f"integrator {how.name!r} cannot locate events: it has no dense output. Stops,"
            " contacts, friction that sticks and `when` need one that chooses its steps:"
            f" {', '.join(m.name for m in METHODS.values() if m.chooses_steps)}"
        )
    if formulation(by).approximate and scheme.holding.size:
        exact = ", ".join(f.name for f in formulations() if not f.approximate)
        raise SimulationError(
            f"{by} holds nothing exactly: contacts, stops, locks and friction that sticks need"
            f" another formulation: {exact}"
        )


def no_stepping_options(asked: Mapping[str, Any]) -> None:
    """Raise SimulationError where options of time stepping are given without it."""
    if given := [name for name in ("iterations", "residual") if asked[name] is not None]:
        raise SimulationError(
            f"{' and '.join(given)} {'are' if len(given) > 1 else 'is'} of contact ="
            " 'time_stepping', which was not asked for"
        )
