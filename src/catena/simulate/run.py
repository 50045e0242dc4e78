"""simulate: one call from a mechanism to a Result.

    plan     what is asked, checked at the door
    system   the mechanism, its losses and its controller as one tape
    engine   the method running that tape, many states side by side
    result   rows observed, energies balanced, the ledger written
"""

from __future__ import annotations

import os
import platform
import time as clock
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
import xarray as xr

from ..compile.host import default_width
from ..errors import SimulationError, StateError
from ..machine import Machine, compile
from ..mechanism import Mechanism
from ..results import Ledger, Result
from . import drivers
from .engine import Engine, Segment, Tally
from .methods import Method, method
from .system import System

Array = np.ndarray
ROWS_AT_ONCE = 4096  # output rows computed before they are handed on


@dataclass(frozen=True)
class Chunk:
    """A stretch of rows: times (n,), states (n, size, W), held inputs (n, nu, W)."""

    t: Array
    x: Array
    u: Array


def simulate(
    mechanism: Mechanism | Machine,
    q: Any = None,
    v: Any = None,
    until: float = 1.0,
    *,
    control: Any = None,
    by: str = "recursive",
    integrator: str = "dop853",
    tolerance: float = 1e-9,
    step: float | None = None,
    output: float | Array | None = None,
    parameters: Any = None,
    start: float = 0.0,
    threads: int | None = None,
    most_steps: int = 10_000_000,
    verify: bool = False,
    progress: Callable[[float], None] | None = None,
    **options: Any,
) -> Result:
    """Simulate from `start` to `until` seconds.

    q, v: the start, (nq,) and (nv,), by default at rest in the neutral place; with leading sizes, that many runs at once
    (the result then has a `run` dimension). control: None, joint forces (nv,), a controller of `catena.control`, or any
    function (t, q, v) -> forces with an attribute `sample` (s), called every so often and held. by: a formulation.
    integrator: one of `catena.ALL_INTEGRATORS`; tolerance: relative and absolute, for adaptive ones; step: s, for fixed ones.
    output: spacing (s) or times of the rows. parameters: {name: value or one a run}. verify: run again at a tenth of the
    tolerance (or half the step) and report the difference. progress: called with the time reached.
    """
    machine = mechanism if isinstance(mechanism, Machine) else compile(mechanism)
    began = clock.perf_counter()
    how = method(integrator)
    times = output_times(start, until, output)
    q, v, p, lead = starting_points(machine, q, v, parameters)
    system = System(machine.mechanism, by, law=control if hasattr(control, "law") else None, **options)
    tolerance = _tolerance(tolerance)
    h = step if step is not None else (times[0] - start) / 10 if how.kind != "adaptive" else min(1e-3, until - start)
    x0 = np.stack([system.start(*row) for row in zip(q, v, p)])
    groups = _groups(len(x0), how)
    tallies: list[Tally] = []
    outcomes: list[tuple[int, float]] = []

    def one(rows: slice) -> list[Chunk]:
        width = default_width() if len(x0) > 1 else 1
        x = _padded(x0[rows], width).T
        engine = Engine(system, how, x, _padded(p[rows], width).T, tolerance=tolerance, step=h, most=most_steps)
        chunks = list(stretches(engine, start, until, times, control, progress if rows.start == 0 else None, outcomes))
        tallies.append(engine.tally)
        return chunks

    with ThreadPoolExecutor(threads or os.cpu_count() or 1) as pool:
        parts = list(pool.map(one, groups)) if len(groups) > 1 else [one(groups[0])]
    result = _assemble(machine, system, how, start, parts, groups, x0, p, lead, tolerance, tallies, outcomes, began)
    if verify:
        tighter = {"tolerance": tolerance / 100} if how.kind == "adaptive" else {"step": h / 2}
        second = simulate(machine, q.reshape(*lead, -1), v.reshape(*lead, -1), until, control=control, by=by, integrator=integrator,
                          **{"tolerance": tolerance, "step": step, **tighter}, output=times, parameters=parameters, start=start,
                          threads=threads, most_steps=most_steps, **options)  # fmt: skip
        result = _verified(result, second, tolerance)
    return result


# ---------------------------------------------------------------------------------------------------- the time loop
def stretches(
    engine: Engine, start: float, until: float, times: Array, control: Any, progress: Any, outcomes: list
) -> Iterator[Chunk]:
    """The rows of a run, a stretch at a time; between stretches a sampled controller is asked, and the world is told."""
    sampled = callable(control) and not hasattr(control, "law")
    sample = float(getattr(control, "sample", 0.0)) if sampled else 0.0
    if sampled and not sample > 0:
        raise SimulationError("a Python controller needs a sample time: set control.sample = 0.001 (seconds)")
    if control is not None and not sampled and not hasattr(control, "law"):
        engine.u[:] = np.asarray(control, float).reshape(engine.system.nv, -1)
    t, row, n = start, 0, 0
    while t < until:
        if sampled:
            ask(engine, control, t)
            n += 1
        end = min(start + n * sample, until) if sampled else until
        last = row + int(np.searchsorted(times[row:], end * (1 + 1e-15), side="right"))
        last = min(last, row + ROWS_AT_ONCE)
        if not sampled and last < len(times):
            end = times[last - 1]
        part: Segment = engine.run(t, end, times[row:last])
        got = len(part.rows)
        if got:
            yield Chunk(times[row : row + got], part.rows, np.broadcast_to(engine.u, (got, *engine.u.shape)).copy())
        row, t = row + got, part.t
        if progress is not None:
            progress(t)
        if part.status != drivers.REACHED:
            outcomes.append((part.status, t))
            return
    outcomes.append((drivers.REACHED, t))


def ask(engine: Engine, control: Any, t: float) -> None:
    """Ask a Python controller for the forces to hold until its next sample."""
    s = engine.system
    q, v = decoded(s, engine.x, engine.buffer[1 + s.size + s.nv : 1 + s.size + s.nv + s.p.numel()])
    one = engine.W == 1
    answer = np.asarray(control(t, q[0], v[0]) if one else control(t, q, v), dtype=float)
    wanted = (s.nv,) if one else (engine.W, s.nv)
    if answer.shape != wanted:
        raise SimulationError(f"the controller returned shape {answer.shape} at t = {t:g} s; it returns {wanted}, one force a speed")
    if not np.isfinite(answer).all():
        k = int(np.argwhere(~np.isfinite(answer))[0][-1])
        names = [n for j in s.mechanism.moving for n in j.speed_names]
        raise SimulationError(f"the controller returned {answer[..., k]} for {names[k]!r} at t = {t:g} s; it returns finite numbers")
    engine.u[:] = answer.reshape(engine.W, s.nv).T


def decoded(s: System, x: Array, p: Array) -> tuple[Array, Array]:
    """q (W, nq) and v (W, nv) of states x (size, W)."""
    if s.by in ("recursive", "kane", "boltzmann_hamel"):
        return x[: s.nq].T.copy(), x[s.nq : s.nq + s.nv].T.copy()
    pairs = [s.equations.decode(x[: s.nx, l], p[:, l]) for l in range(x.shape[1])]
    return tuple(np.array([np.array(pair[k]).ravel() for pair in pairs]) for k in range(2))  # type: ignore[return-value]


# ---------------------------------------------------------------------------------------------------- at the door
def output_times(start: float, until: float, output: Any) -> Array:
    """The times of the rows after the start: every `output` seconds, or those given; by default two hundred."""
    if not (np.isfinite(start) and np.isfinite(until) and until > start):
        raise SimulationError(f"a run goes from start to a later until; found start = {start} s, until = {until} s")
    if output is None:
        return np.linspace(start, until, 201)[1:]
    if np.ndim(output) == 0:
        if not 0 < float(output) <= until - start:
            raise SimulationError(f"output = {output} s; it is a spacing above zero and at most the run's {until - start:g} s")
        count = max(1, round((until - start) / float(output)))
        return np.linspace(start, until, count + 1)[1:]
    times = np.asarray(output, float)
    if times.ndim != 1 or np.any(np.diff(times) <= 0) or times[0] < start or times[-1] > until:
        raise SimulationError("output times rise, and lie between start and until")
    return times[times > start]


def starting_points(machine: Machine, q: Any, v: Any, parameters: Any) -> tuple[Array, Array, Array, tuple[int, ...]]:
    """q, v and parameters as rows, one a run, and the leading shape they came in."""
    from ..compile import door

    q = machine.neutral() if q is None else door.array(machine, "simulate", "q", q)
    v = np.zeros(machine.nv) if v is None else door.array(machine, "simulate", "v", v)
    p = door.parameters(machine, parameters)
    p = np.array(list(machine.mechanism.parameters.values())) if p is None else p
    for name, x, names in (("q", q, machine.coordinate_names), ("v", v, machine.speed_names)):
        if not np.isfinite(x).all():
            raise StateError(f"simulate: {name} of {names[np.argwhere(~np.isfinite(x))[0][-1]]!r} is not a finite number")
    lead = np.broadcast_shapes(q.shape[:-1], v.shape[:-1], p.shape[:-1])
    runs = int(np.prod(lead))
    flat = [np.broadcast_to(x, (*lead, x.shape[-1])).reshape(runs, x.shape[-1]) for x in (q, v, p)]
    return flat[0], flat[1], flat[2], lead


def _tolerance(tolerance: float) -> float:
    if not 1e-14 <= tolerance <= 0.1:
        raise SimulationError(f"tolerance = {tolerance}; it lies between 1e-14 and 0.1")
    return float(tolerance)


def _groups(count: int, how: Method) -> list[slice]:
    width = default_width() if count > 1 else 1
    return [slice(k, min(k + width, count)) for k in range(0, count, width)]


def _padded(rows: Array, width: int) -> Array:
    """Rows filled up to a lane group with copies of the last."""
    return rows if len(rows) == width else np.concatenate([rows, np.repeat(rows[-1:], width - len(rows), axis=0)])


# ---------------------------------------------------------------------------------------------------- the result
def _assemble(machine, system, how, start, parts, groups, x0, p, lead, tolerance, tallies, outcomes, began) -> Result:
    """Rows of all runs observed: q, v, a, tau, energies, residuals; and the ledger."""
    shortest = min(sum(len(c.t) for c in chunks) for chunks in parts)
    t = np.concatenate([[start], *(c.t for c in parts[0])])[: shortest + 1]
    states, inputs = [], []
    for chunks, rows in zip(parts, groups):
        n = rows.stop - rows.start
        x = np.concatenate([c.x for c in chunks])[:shortest] if chunks else np.zeros((0, system.size, n))
        u = np.concatenate([c.u for c in chunks])[:shortest] if chunks else np.zeros((0, system.nv, n))
        x = np.concatenate([x0[rows].T[None], x[:, :, :n]])
        u = np.concatenate([u[:1, :, :n] if len(u) else np.zeros((1, system.nv, n)), u[:, :, :n]])
        states.append(np.moveaxis(x, 2, 0))
        inputs.append(np.moveaxis(u, 2, 0))
    x, u = np.concatenate(states), np.concatenate(inputs)  # (run, time, size)
    seen = observe(system, t, x, u, p)
    data = dataset(machine, system, t, x, u, seen, lead)
    status, reached = max(outcomes, key=lambda pair: pair[0])
    kinetic = float(np.abs(data["kinetic"]).max()) if data["kinetic"].size else 0.0
    balance = float(np.abs(data["energy_error"]).max())
    lengths = [np.abs(np.linalg.norm(seen["q"][..., k : k + 4], axis=-1) - 1).max() for k in machine._balls]
    sentence = drivers.OUTCOMES[status] if status == drivers.REACHED else f"{drivers.OUTCOMES[status]} at t = {reached:.9g} s"
    scale = kinetic or float(np.abs(data["potential"]).max()) or 1.0
    ledger = Ledger(
        outcome=sentence,
        formulation=system.by,
        integrator=how.name,
        tolerance=tolerance,
        energy_balance=balance,
        relative_energy_balance=balance / scale,
        closure=float(np.abs(seen["closure"]).max()) if "closure" in seen else 0.0,
        quaternion=float(max(lengths, default=0.0)),
        steps=sum(k.accepted for k in tallies),
        rejected=sum(k.rejected for k in tallies),
        evaluations=sum(k.evaluations for k in tallies),
        wall_time=clock.perf_counter() - began,
        runs=len(x0),
        complete=status == drivers.REACHED,
        versions={"catena": version("catena"), "python": platform.python_version(), "numpy": version("numpy")},
    )
    result = Result(data, ledger)
    if status != drivers.REACHED:
        raise SimulationError(f"{sentence}; what was computed until then is in this error's `.result`", result)
    return result


def observe(system: System, t: Array, x: Array, u: Array, p: Array) -> dict[str, Array]:
    """Everything that is shown of states x (run, time, size): arrays (run, time, ...)."""
    runs, rows = x.shape[:2]
    kernel = system.kernel("observe")
    flat = [np.tile(t, runs)[:, None], x.reshape(runs * rows, -1), u.reshape(runs * rows, -1), np.repeat(p, rows, axis=0)]
    outs, _ = kernel([np.ascontiguousarray(a) for a in flat], runs * rows, threads=os.cpu_count() or 1)  # type: ignore[misc]
    names = ("q", "v", "a", "tau", "energy", "closure")
    return {name: out.reshape(runs, rows, -1) for name, out in zip(names, outs)}


def dataset(machine: Machine, system: System, t: Array, x: Array, u: Array, seen: dict[str, Array], lead: tuple) -> xr.Dataset:
    """The labelled dataset of a run, or of several."""
    work = x[..., -1]
    kinetic, potential = seen["energy"][..., 0], seen["energy"][..., 1]
    total = kinetic + potential
    single = not lead

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
        "input": array(u, "time", "speed"),
    }
    if "closure" in seen:
        m = len(machine.rows)
        variables["closure"] = array(seen["closure"][..., :m], "time", "row")
    coordinates: dict[str, Any] = {
        "time": ("time", t, {"units": "s"}),
        "coordinate": list(machine.coordinate_names),
        "speed": list(machine.speed_names),
        "state_name": list(system.state_names),
    }
    if "closure" in seen:
        coordinates["row"] = [f"{joint}: {label}" for joint, label in machine.rows]
    if not single:
        coordinates["run"] = np.arange(len(x))
    data = xr.Dataset(variables, coordinates, {"mechanism": machine.mechanism.name, "formulation": system.by})
    for name in ("kinetic", "potential", "work", "energy_error"):
        data[name].attrs["units"] = "J"
    return data


def _verified(result: Result, second: Result, tolerance: float) -> Result:
    """The result with what a tighter run says of it."""
    from dataclasses import replace

    difference = float(np.abs(result.data["q"] - second.data["q"]).max())
    scale = max(1.0, float(np.abs(result.data["q"]).max()))
    met = difference <= 100 * tolerance * scale
    verdict = f"coordinates agree to {difference:.2g} with a tighter run: " + (
        "the accuracy asked for was met" if met else "the accuracy asked for was NOT met; the motion may be sensitive to its start"
    )
    return Result(result.data, replace(result.ledger, verified=difference, verdict=verdict))
