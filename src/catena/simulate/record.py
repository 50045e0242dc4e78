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

from ..machine import Machine
from ..results import Ledger, Result
from . import drivers
from .agenda import Occurrence
from .system import System

if TYPE_CHECKING:
    from .plan import Plan
    from .run import Track

Array = np.ndarray


def result(plan: Plan, tracks: list[Track], wall_time: float) -> Result:
    """The result of all tracks; rows up to the end of the shortest."""
    s = plan.system
    shortest = min(sum(len(c.t) for c in track.chunks) for track in tracks)
    longest = max(tracks, key=lambda track: sum(len(c.t) for c in track.chunks))
    t = np.concatenate([[plan.start], *(c.t for c in longest.chunks)])[: shortest + 1]
    states, inputs = [], []
    for track in tracks:
        n = track.rows.stop - track.rows.start
        x = np.concatenate([plan.x0[track.rows].T[None], *(c.x[:, :, :n] for c in track.chunks)])[: shortest + 1]
        u = np.concatenate([track.u0[None, :, :n], *(c.u[:, :, :n] for c in track.chunks)])[: shortest + 1]
        states.append(np.moveaxis(x, 2, 0))
        inputs.append(np.moveaxis(u, 2, 0))
    x, u = np.concatenate(states), np.concatenate(inputs)  # (run, time, size)
    seen = observe(s, t, x, u, plan.p)
    happened = [(run, o) for track in tracks for run, o in track.log]
    data = dataset(plan.machine, s, t, x, u, seen, plan.lead, plan.p if plan.varied else None, happened)
    worst = max(tracks, key=lambda track: track.status)
    return Result.of(plan.machine.mechanism, data, ledger(plan, tracks, data, seen, worst, wall_time))


def ledger(plan: Plan, tracks: list[Track], data: xr.Dataset, seen: dict[str, Array], worst: Track, wall_time: float) -> Ledger:
    """How far the rows can be trusted, and what they cost."""
    kinetic, potential = (float(np.abs(seen["energy"][..., k]).max()) for k in range(2))
    balance = float(np.abs(data["energy_error"].values).max())
    lengths = [np.abs(np.linalg.norm(seen["q"][..., k : k + 4], axis=-1) - 1).max() for k in plan.machine._balls]
    tallies = [track.tally for track in tracks]
    return Ledger(
        outcome=worst.sentence,
        formulation=plan.system.by,
        integrator=plan.how.name,
        tolerance=plan.tolerance,
        energy_balance=balance,
        relative_energy_balance=balance / (kinetic or potential or 1.0),
        closure=float(np.abs(seen["closure"]).max(initial=0.0)),
        quaternion=float(max(lengths, default=0.0)),
        steps=sum(k.accepted for k in tallies),
        rejected=sum(k.rejected for k in tallies),
        evaluations=sum(k.evaluations for k in tallies),
        wall_time=wall_time,
        runs=len(plan.x0),
        complete=worst.status in (drivers.REACHED, drivers.EVENT),
        versions=dict(versions()),
    )


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
    work = x[..., -1]
    kinetic, potential = seen["energy"][..., 0], seen["energy"][..., 1]
    total = kinetic + potential
    single, nv, m = not lead, system.nv, len(machine.rows)

    def array(values: Array, *dims: str) -> tuple:
        return (dims, values[0]) if single else (("run", *dims), values)

    variables = {
        "q": array(seen["q"], "time", "coordinate"),
        "v": array(seen["v"], "time", "speed"),
        "a": array(seen["a"], "time", "speed"),
        "tau": array(seen["tau"], "time", "speed"),
        "kinetic": array(kinetic, "time"),
        "potential": array(potential, "time"),
        "work": array(work, "time"),
        "energy_error": array(total - total[:, :1] - work, "time"),
        "state": array(x, "time", "state_name"),
        "input": array(u[..., :nv], "time", "speed"),
    }
    labels: dict[str, Any] = {
        "time": ("time", t, {"units": "s"}),
        "coordinate": list(machine.coordinate_names),
        "speed": list(machine.speed_names),
        "state_name": list(system.state_names),
    }
    if m:
        variables["closure"] = array(seen["closure"], "time", "row")
        labels["row"] = [f"{joint}: {label}" for joint, label in machine.rows]
    if system.holding.size:
        variables["mode"] = array(u[..., nv:], "time", "mode_name")
        labels["mode_name"] = list(system.holding.names)
        variables["held_force"] = array(seen["held"][..., : len(system.holding.speeds)], "time", "holdable")
        labels["holdable"] = [h.name for h in system.holding.speeds]
    if system.holding.size or not system.losses.is_zero():
        variables["losses"] = array(seen["losses"], "time", "speed")
    if parameters is not None:
        variables["parameters"] = array(parameters, "parameter")
        labels["parameter"] = list(machine.parameter_names)
    if happened:
        variables["event"] = ("occurrence", np.array([o.what for _, o in happened]))
        labels["event_time"] = ("occurrence", [o.time for _, o in happened], {"units": "s"})
        if not single:
            labels["event_run"] = ("occurrence", [run for run, _ in happened])
    if not single:
        labels["run"] = np.arange(len(x))
    return xr.Dataset(variables, labels, {"mechanism": machine.mechanism.name, "formulation": system.by})


def verified(first: Result, second: Result) -> Result:
    """The result with what a tighter run says of it."""
    rows = min(first.data.sizes["time"], second.data.sizes["time"])
    q, other = (r.data["q"].isel(time=slice(0, rows)).values for r in (first, second))
    return replace(first, ledger=first.ledger.judged(float(np.abs(q - other).max()), float(np.abs(q).max(initial=0.0))))
