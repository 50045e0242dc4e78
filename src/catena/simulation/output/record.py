"""From states to what results show: observed rows, the energy balance, the labelled dataset, and
the ledger.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...model.flexible import frequency_error, strain_energy
from ...results import (
    ContactLedger,
    Extremes,
    Ledger,
    event_table,
    impact_table,
    labelled,
    versions,
)
from ..integrators import drivers
from ..integrators.stiffness import Switch, methods_sentence
from ..terms.error_scales import REST
from . import contact_record, stepping_record
from .contact_record import ContactRows
from .friction_creep import creeping, travelled

if TYPE_CHECKING:
    import xarray as xr

    from ..handlers.contact_impacts import Hit
    from ..handlers.event_handler import Occurrence
    from ..integrators.engine import Tally
    from ..planning.plan import RunPlan

Array = NDArray[np.float64]
# the outputs of the tape `observe`
OBSERVED = ("q", "v", "a", "tau", "energy", "rows", "rank", "held", "losses")


@dataclass(frozen=True)
class ObservedRows:
    """What results show of the states x (run, time, size) and inputs u (run, time, nu) at t
    (time,): arrays (run, time, ...).

    q, v, a, tau: coordinates, speeds, accelerations, joint forces. energy: kinetic and potential,
    J; start (run, 2): the same at the start. strain: the part of the potential energy in flexible
    bodies, J. error: the change of energy less the work done, J. closure, rates: residuals and
    rates of the rows of loops and speed rows. rank: how close the rank of these rows was to
    changing. held: multipliers of switched constraints. losses: joint damping and friction.
    contacts: None without contacts.
    """

    t: Array
    x: Array
    u: Array
    q: Array
    v: Array
    a: Array
    tau: Array
    energy: Array
    start: Array
    strain: Array
    error: Array
    closure: Array
    rates: Array
    rank: Array
    held: Array
    losses: Array
    contacts: ContactRows | None = None

    @property
    def work(self) -> Array:
        """The work that everything but gravity and springs has done on the mechanism, J."""
        return self.x[..., -1]


def observe(
    plan: RunPlan, t: Array, x: Array, u: Array, p: Array, start: Array | None = None
) -> ObservedRows:
    """Return the rows of states x (run, time, size) and inputs u (run, time, nu) with parameters p
    (run, count) at t (time,). start (run, 2): the energies at the start, by default those of the
    first row.
    """
    runs, rows = x.shape[:2]
    kernel = plan.system.kernel("observe")
    flat = [
        np.tile(t, runs)[:, None],
        x.reshape(runs * rows, -1),
        u.reshape(runs * rows, -1),
        np.repeat(p, rows, axis=0),
    ]
    outs, _ = kernel([np.ascontiguousarray(a) for a in flat], runs * rows, threads=plan.threads)  # type: ignore[misc]
    seen = {name: out.reshape(runs, rows, -1) for name, out in zip(OBSERVED, outs)}
    closure, rates = np.split(seen.pop("rows"), 2, axis=-1)
    start = seen["energy"][:, 0] if start is None else start
    error = (seen["energy"] - start[:, None]).sum(axis=-1) - x[..., -1]
    contacts = None
    if plan.system.holding.contacts:
        found = contact_record.observe(
            plan,
            [np.ascontiguousarray(a) for a in flat],
            flat[2][:, plan.system.nv :],
            seen["held"].reshape(runs * rows, -1),
        )
        contacts = ContactRows(*(part.reshape(runs, rows, *part.shape[1:]) for part in found))
    elif plan.system.stepping is not None:
        seen_contacts = stepping_record.observe(plan, [np.ascontiguousarray(a) for a in flat])
        contacts = (
            None
            if seen_contacts is None
            else ContactRows(*(part.reshape(runs, rows, *part.shape[1:]) for part in seen_contacts))
        )
    return ObservedRows(
        t,
        x,
        u,
        **seen,
        start=start,
        closure=closure,
        rates=rates,
        strain=_strain(plan, seen["q"], p),
        error=error,
        contacts=contacts,
    )


def _strain(plan: RunPlan, q: Array, p: Array) -> Array:
    """Return (run, time): the strain energy of all flexible bodies, J."""
    m = plan.machine.mechanism
    each = (
        [strain_energy(m, row, dict(zip(m.parameters, own))) for row, own in zip(q, p)]
        if m.beams
        else []
    )
    return np.array([sum(found.values()) for found in each]) if each else np.zeros(q.shape[:2])


def extremes(plan: RunPlan, rows: ObservedRows) -> Extremes:
    """Return the largest value of each quantity that the ledger judges."""
    sizes = plan.row_sizes
    speeds = np.sqrt(plan.system.column_scales)
    lengths = [
        np.abs(np.linalg.norm(rows.q[..., k : k + 4], axis=-1) - 1)
        for k in plan.machine.spec.quaternions
    ]
    shown = {
        "weight": plan.weight,
        "pace": plan.pace,
        "kinetic": rows.energy[..., 0],
        "potential": rows.energy[..., 1],
        "change": rows.energy[..., 1] - rows.start[:, 1:],
        "work": rows.work,
        "balance": rows.error,
        "strain": rows.strain,
        "closure": rows.closure,
        "opening": rows.closure / sizes,
        "rate": rows.rates / sizes,
        "speed": _norms(rows.v / speeds),
        "rank": rows.rank,
        "quaternion": np.array(lengths),
    }
    if plan.adaptive:
        shown |= {"moved": _least_moved(plan, rows.q), "rounding": np.array(plan.rounding)}
    if plan.system.stepping is not None:
        shown |= stepping_record.residuals(plan, rows.x, rows.contacts)
    elif rows.contacts is not None:
        shown |= contact_record.residuals(plan, rows.contacts)
    slow, way = (tuple(x.tolist()) for x in travelled(plan, rows.t, rows.v))
    return Extremes(
        **{name: float(np.abs(x).max(initial=0.0)) for name, x in shown.items()}, slow=slow, way=way
    )


def _norms(v: Array) -> Array:
    """Return the norms along the last axis; infinity where a run that breaks off has speeds whose
    squares are too large for a number.
    """
    with np.errstate(over="ignore"):
        return np.linalg.norm(v, axis=-1)


def _least_moved(plan: RunPlan, q: Array) -> Array:
    """Return how far any coordinate has moved since the start, relative to its length scale, in the
    run that moves least; runs at rest do not count, unless all are at rest.
    """
    far = (np.abs(q - plan.start_coordinates[:, None]) / plan.coordinate_sizes).max(
        axis=(1, 2), initial=0.0
    )
    moving = far[far > REST]
    return np.array(moving.min(initial=np.inf) if len(moving) else 0.0)


def ledger(
    plan: RunPlan,
    seen: Extremes,
    tallies: Iterable[Tally],
    status: int,
    outcome: str,
    wall_time: float,
    contact: ContactLedger | None = None,
) -> Ledger:
    """Return the ledger of a run: how accurate its rows are, and what they cost. seen: the extremes
    of all rows; status: of the drivers; outcome: a sentence about it; wall_time: s.
    """
    cost = list(tallies)
    contact = contact if plan.system.stepping is None else stepping_record.ledger(plan, seen)
    return Ledger.of(
        seen,
        outcome=outcome,
        formulation=plan.system.by,
        integrator=methods_sentence(
            plan.how, [Switch(*s) for k in cost for s in k.switches], len(plan.x0)
        ),
        tolerance=plan.tolerance,
        step=(
            None
            if plan.adaptive
            else max((k.largest for k in cost), default=plan.step) or plan.step
        ),
        steps=sum(k.accepted for k in cost),
        rejected=sum(k.rejected for k in cost),
        evaluations=sum(k.evaluations for k in cost),
        wall_time=wall_time,
        runs=len(plan.x0),
        frequencies=frequency_error(plan.machine.mechanism),
        complete=status in (drivers.REACHED, drivers.EVENT),
        versions=versions(),
        contact=contact,
        creeping=creeping(plan, np.array(seen.slow), np.array(seen.way)),
        friction=plan.friction.reason,
        laboured=next((k.laboured for k in cost if k.laboured), ""),
    )


def dataset(
    plan: RunPlan,
    rows: ObservedRows,
    happened: Iterable[tuple[int, Occurrence]] = (),
    hits: Iterable[tuple[int, Hit]] = (),
) -> xr.Dataset:
    """Return the labelled dataset of a run, or of several. happened, hits: events and impacts, each
    as a pair with the index of its run.
    """
    machine = plan.machine
    single = not plan.lead
    found = variables(plan, rows)
    along: dict[str, Any] = {"time": ("time", rows.t, {"units": "s"})}
    if "closure" in found:
        along["row"] = [f"{joint}: {label}" for joint, label in machine.rows]
    if plan.varied:
        found["parameters"] = (("parameter",), plan.p)
        along["parameter"] = list(machine.parameter_names)
    shown = {
        name: (dims, values[0]) if single else (("run", *dims), values)
        for name, (dims, values) in found.items()
    }
    (in_runs, events), (in_others, impacts) = _numbered(happened), _numbered(hits)
    names = [c.name for c in plan.system.holding.contacts]
    for variables_, coordinates in (
        event_table(events, (plan.system.nq, plan.system.nv), None if single else in_runs),
        impact_table(impacts, names, None if single else in_others),
    ):
        shown = shown | variables_
        along = along | coordinates
    if not single:
        along["run"] = np.arange(len(rows.x))
    return labelled(shown, along, plan.system.labels)


def _numbered(pairs: Iterable[tuple[int, Any]]) -> tuple[list[int], list[Any]]:
    """Split pairs (index of a run, item) into a list of the indices and a list of the items."""
    pairs = list(pairs)
    return [k for k, _ in pairs], [x for _, x in pairs]


def variables(plan: RunPlan, rows: ObservedRows) -> dict[str, tuple[tuple[str, ...], Array]]:
    """Return {name: (dims, values (run, time, ...))} of the variables of a result."""
    system, nv = plan.system, plan.system.nv
    found: dict[str, tuple[tuple[str, ...], Array]] = {
        "q": (("time", "coordinate"), rows.q),
        **{name: (("time", "speed"), getattr(rows, name)) for name in ("v", "a", "tau")},
        **{
            name: (("time",), rows.energy[..., k])
            for k, name in enumerate(("kinetic", "potential"))
        },
        **({"strain": (("time",), rows.strain)} if system.mechanism.beams else {}),
        "work": (("time",), rows.work),
        "energy_error": (("time",), rows.error),
        "state": (("time", "state_name"), rows.x),
        "input": (("time", "speed"), rows.u[..., :nv]),
    }
    if rows.closure.shape[-1]:
        found["closure"] = (("time", "row"), rows.closure)
    if system.holding.size:
        found["mode"] = (("time", "mode_name"), rows.u[..., nv:])
    if system.holding.speeds:
        found["held_force"] = (("time", "holdable"), rows.held[..., : len(system.holding.speeds)])
    if rows.contacts is not None:
        found |= contact_record.variables(rows.contacts)
    if rows.contacts is not None and system.stepping is not None:
        found["contact_residual"] = (
            ("time",),
            stepping_record.residuals(plan, rows.x, None)["residual"],
        )
    if system.holding.size or not system.losses.is_zero():
        found["losses"] = (("time", "speed"), rows.losses)
    return found
