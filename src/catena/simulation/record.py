"""From the states of a run to its Result: rows observed, energies balanced, the ledger written."""

from __future__ import annotations

import os
import platform
from dataclasses import replace
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from ..machine.machine import Machine
from ..model.flexible import frequency_error, strain_energy
from ..results.labels import labelled
from ..results.ledger import energy_scale
from ..results.result import Ledger, Result
from . import drivers
from .event_handler import Occurrence
from .system import System

if TYPE_CHECKING:
    from .plan import Plan
    from .run import Track

Array = np.ndarray


def result(plan: Plan, tracks: list[Track], wall_time: float) -> Result:
    """The result of all tracks; rows up to the end of the shortest."""
    s = plan.system
    lengths = [sum(len(c.t) for c in track.slices) for track in tracks]
    shortest, longest = min(lengths) + 1, tracks[int(np.argmax(lengths))]
    t = np.concatenate([[plan.start], *(c.t for c in longest.slices)])[:shortest]
    x, u = np.empty((len(plan.x0), shortest, s.size)), np.empty((len(plan.x0), shortest, s.nu))
    for track in tracks:
        at, n = 1, track.rows.stop - track.rows.start
        x[track.rows, 0], u[track.rows, 0] = plan.x0[track.rows], track.u0[:, :n].T
        for c in track.slices:
            here = (track.rows, slice(at, at + len(c.t)))
            x[here], u[here] = (np.moveaxis(y[: max(0, shortest - at), :, :n], 2, 0) for y in (c.x, c.u))
            at += len(c.t)
    happened = [(run, o) for track in tracks for run, o in track.log]
    varied = plan.p if plan.varied else None
    seen = cache(lambda: observe(s, t, x, u, plan.p))  # all this when it is looked at
    rows = cache(lambda: dataset(plan.machine, s, t, x, u, seen(), plan.lead, varied, happened))
    trust = cache(lambda: ledger(plan, tracks, seen(), x[..., -1], wall_time))
    return Result(rows, trust, plan.machine.mechanism)


def ledger(plan: Plan, tracks: list[Track], seen: dict[str, Array], work: Array, wall_time: float) -> Ledger:
    """How far the rows can be trusted, and what they cost."""
    worst = max(tracks, key=lambda track: track.status)
    big = largest(plan, seen, imbalance(seen, work), work, seen["energy"][:, :1, 1])
    tallies = [track.tally for track in tracks]
    return Ledger(
        **measured(big),
        outcome=worst.sentence,
        formulation=plan.system.by,
        integrator=plan.how.name,
        tolerance=plan.tolerance,
        steps=sum(k.accepted for k in tallies),
        rejected=sum(k.rejected for k in tallies),
        evaluations=sum(k.evaluations for k in tallies),
        wall_time=wall_time,
        runs=len(plan.x0),
        strain=float(strain(plan.system, seen["q"]).max()) if plan.system.mechanism.beams else 0.0,
        frequencies=frequency_error(plan.system.mechanism),
        complete=worst.status in (drivers.REACHED, drivers.EVENT),
        versions=dict(versions()),
    ).weighed()


def largest(plan: Plan, seen: dict[str, Array], balance: Array, work: Array, potential: Array) -> dict[str, float]:
    """The largest values of some rows, from which the ledger is made. balance, work: of the rows; potential: at the start."""
    sizes, speeds = plan.row_sizes, np.sqrt(plan.system.column_scales)
    lengths = [np.abs(np.linalg.norm(seen["q"][..., k : k + 4], axis=-1) - 1) for k in plan.machine._balls]
    found = {
        "kinetic": seen["energy"][..., 0],
        "potential": seen["energy"][..., 1],
        "change": seen["energy"][..., 1] - potential,
        "work": work,
        "balance": balance,
        "closure": seen["closure"],
        "opening": seen["closure"] / sizes,
        "rate": seen["opening"] / sizes,
        "speed": np.linalg.norm(seen["v"] / speeds, axis=-1),
        "quaternion": np.array(lengths),
    }
    return {name: float(np.abs(x).max(initial=0.0)) for name, x in found.items()}


def measured(big: dict[str, float]) -> dict[str, Any]:
    """The ledger's numbers from the largest values of a run."""
    scale = energy_scale(*(big[name] for name in ("kinetic", "change", "work", "potential")))
    return {
        "energy_balance": big["balance"],
        "relative_energy_balance": big["balance"] / (big["kinetic"] or big["potential"] or 1.0),
        "closure": big["closure"],
        "quaternion": big["quaternion"],
        "opening": big["opening"],
        "slip": big["rate"] / (big["speed"] or 1.0),
        "imbalance": big["balance"] / (scale or 1.0),
    }


def strain(system: System, q: Array) -> Array:
    """(run, time): what all flexible bodies store, at the mechanism's own parameters; part of the potential energy, J."""
    return np.sum(list(strain_energy(system.mechanism, q).values()), axis=0)


def imbalance(seen: dict[str, Array], work: Array) -> Array:
    """(run, time): the change of energy less the work done, J."""
    total = seen["energy"].sum(axis=-1)
    return total - total[:, :1] - work


@cache
def versions() -> tuple[tuple[str, str], ...]:
    """What ran: catena, Python, NumPy."""
    return ("catena", version("catena")), ("python", platform.python_version()), ("numpy", version("numpy"))


def observe(system: System, t: Array, x: Array, u: Array, p: Array) -> dict[str, Array]:
    """Everything that is shown of states x (run, time, size): arrays (run, time, ...)."""
    runs, rows = x.shape[:2]
    kernel = system.kernel("observe")
    flat = [np.tile(t, runs)[:, None], x.reshape(runs * rows, -1), u.reshape(runs * rows, -1), np.repeat(p, rows, axis=0)]
    outs, _ = kernel([np.ascontiguousarray(a) for a in flat], runs * rows, threads=os.cpu_count() or 1)  # type: ignore[misc]
    names = ("q", "v", "a", "tau", "energy", "rows", "held", "losses")
    seen = {name: out.reshape(runs, rows, -1) for name, out in zip(names, outs)}
    seen["closure"], seen["opening"] = np.split(seen.pop("rows"), 2, axis=-1)  # residuals of the rows, and their rates
    return seen


def dataset(
    machine: Machine, system: System, t: Array, x: Array, u: Array, seen: dict[str, Array], lead: tuple[int, ...],
    parameters: Array | None = None, happened: list[tuple[int, Occurrence]] | None = None,
) -> xr.Dataset:  # fmt: skip
    """The labelled dataset of a run, or of several. x (run, time, size), u (run, time, nu)."""
    single = not lead
    found = variables(system, x, u, seen)
    along: dict[str, Any] = {"time": ("time", t, {"units": "s"})}
    if "closure" in found:
        along["row"] = [f"{joint}: {label}" for joint, label in machine.rows]
    if parameters is not None:
        found["parameters"] = (("parameter",), parameters)
        along["parameter"] = list(machine.parameter_names)
    shown = {name: (dims, values[0]) if single else (("run", *dims), values) for name, (dims, values) in found.items()}
    if happened:
        shown["event"] = (("occurrence",), np.array([o.what for _, o in happened]))
        along["event_time"] = ("occurrence", [o.time for _, o in happened], {"units": "s"})
        if not single:
            along["event_run"] = ("occurrence", [run for run, _ in happened])
    if not single:
        along["run"] = np.arange(len(x))
    return labelled(shown, along, system.labels)


def variables(system: System, x: Array, u: Array, seen: dict[str, Array]) -> dict[str, tuple[tuple[str, ...], Array]]:
    """{name: (dims, values (run, time, ...))} of what is kept of each row."""
    nv, holding = system.nv, system.holding
    found = {
        **{name: (("time", "coordinate" if name == "q" else "speed"), seen[name]) for name in ("q", "v", "a", "tau")},
        **{name: (("time",), seen["energy"][..., k]) for k, name in enumerate(("kinetic", "potential"))},
        **({"strain": (("time",), strain(system, seen["q"]))} if system.mechanism.beams else {}),
        "work": (("time",), x[..., -1]),
        "energy_error": (("time",), imbalance(seen, x[..., -1])),
        "state": (("time", "state_name"), x),
        "input": (("time", "speed"), u[..., :nv]),
    }
    if seen["closure"].shape[-1]:
        found["closure"] = (("time", "row"), seen["closure"])
    if holding.size:
        found["mode"] = (("time", "mode_name"), u[..., nv:])
        found["held_force"] = (("time", "holdable"), seen["held"][..., : len(holding.speeds)])
    if holding.size or not system.losses.is_zero():
        found["losses"] = (("time", "speed"), seen["losses"])
    return found


def verified(first: Result, second: Result) -> Result:
    """The result with what a tighter run says of it."""
    rows = min(first.data.sizes["time"], second.data.sizes["time"])
    q, other = (r.data["q"].isel(time=slice(0, rows)).values for r in (first, second))
    return replace(first, trust=first.ledger.judged(float(np.abs(q - other).max()), float(np.abs(q).max(initial=0.0))))
