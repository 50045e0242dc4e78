"""simulate: one call from a mechanism to a Result.

    plan --Runner--> slices --> a sink: Memory, or File (`out=`) --> Result with its Ledger

plan          the arguments, checked
system        the mechanism, its losses and its controller as one compiled function
engine        an integration method applied to that function, for many states side by side
runner        the time loop, a generator of slices; rollouts: of equal steps, many groups in one
              call
event_handler events: stops, impulses, locks
sinks         where slices end up; record: what is shown of them, and the ledger
"""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from .. import analysis
from ..errors import SimulationError
from ..machine import Machine
from ..model import Mechanism
from ..results import Result
from . import runners
from .events.records import Event
from .integrators import drivers
from .options import RUN_OPTIONS, RunOptions
from .output.result_file import File
from .output.sinks import Memory, ResultSink, Sink, TighterRun
from .planning.plan import RunPlan, machine_of, prepare, usual_formulation
from .runners.rollouts import Rollout, rollout_of
from .runners.runner import Runner

Progress = Callable[[float], None]
LEAST = 32  # runs with steps of their own, for which a thread is worth while
MOST = 256  # of them between two instants at which a calculation can be interrupted


def simulate(
    mechanism: Mechanism | Machine,
    q: ArrayLike | Mapping[str, ArrayLike] | None = None,
    v: ArrayLike | Mapping[str, ArrayLike] | None = None,
    until: float = 1.0,
    *,
    control: Any = None,
    forces: ArrayLike | None = None,
    by: str | None = None,
    integrator: str = "auto",
    tolerance: float = 1e-9,
    step: float | None = None,
    largest_step: float | None = None,
    output: ArrayLike | None = None,
    parameters: Mapping[str, ArrayLike] | ArrayLike | None = None,
    start: float = 0.0,
    motion: Any = None,
    events: Iterable[Event] = (),
    limits: str = "check",
    restitution: float = 0.0,
    friction: str | None = None,
    contact: str = "events",
    iterations: int | None = None,
    residual: float | None = None,
    stabilise: Any = "project",
    threads: int | None = None,
    most_steps: int = 10_000_000,
    verify: bool = False,
    out: str | Path | None = None,
    resume: bool = False,
    progress: Progress | None = None,
    **formulation_options: Any,
) -> Result:
    """Simulate a mechanism from `start` to `until` seconds.

    Parameters
    ----------
    mechanism : Mechanism or Machine
        What moves. A Machine brings its formulation and its threads.
    q, v : array_like or dict, optional
        Initial coordinates (nq,) and speeds (nv,); by default at rest in the neutral configuration,
        or as near to it as limits of joints and loops allow. With a leading dimension, a batch of
        runs. As {name: value}, what is not named is zero; in a mechanism with loops the named
        values are kept and the others are found.
    until : float, default 1.0
        The end of the run, s.
    control : controller, dict, array_like or callable, optional
        A controller of `catena.control`, constant joint forces (nv,), or a function (t, q, v) ->
        joint forces with an attribute `sample` (s), at which it is called; its forces are held
        until the next call. A dict {name: value} switches on the actuators that the file of the
        mechanism has, with these signals (a number or a trajectory each) by the name of the
        actuator or of the joint that it alone drives; a joint without an actuator takes a force,
        N m or N.
    forces : array_like, optional
        Joint forces in place of a controller: (nv,), (step, nv), (run, nv) or (run, step, nv). The
        steps are equal parts of the run, and forces are constant in each part.
    by : str, optional
        The formulation: by default that of the Machine, or "recursive".
    integrator : str, default "auto"
        One of `catena.ALL_INTEGRATORS`. "auto" is dop853, and where the run is found to be stiff
        the implicit rodas6p, and back; the ledger says what was chosen, and when.
    tolerance : float, default 1e-9
        The error that a step of an adaptive integrator may have, relative to the scale of the
        state.
    step : float, optional
        The longest step of integrators with a fixed step, and the step of time stepping, s.
    largest_step : float, optional
        The longest step of adaptive integrators, s, so that a short pulse of a force is not missed.
        (Loads may give the instants of their `switches` instead.)
    output : float or array_like, optional
        Time between the rows of the result, s, which is rounded so that it divides the run; or the
        times of the rows. By default 200 intervals.
    parameters : dict, optional
        {name: value, or one value for each run}, in place of the mechanism's own.
    start : float, default 0.0
        The time at which the run begins, s.
    motion : dict or trajectory, optional
        Prescribed coordinates: {coordinate: trajectory, expression or function of t, or "locked"}.
    events : iterable of events, optional
        Records of `catena.events`.
    limits : {"check", "ignore", "stop"}
        Joint limits: check the initial state only, ignore them, or stop the joint there.
    restitution : float, default 0.0
        Coefficient of restitution of these stops: 0, no rebound, to 1, no loss.
    friction : {"stick", "smooth"}, optional
        Dry friction of joints. "stick" is Coulomb's law: a joint at rest is held until the force
        exceeds its friction. "smooth" replaces it by F tanh(v / v0) with v0 = 1 mm/s or 1 mrad/s,
        under which a joint creeps and the equations are stiff. By default "stick", or "smooth"
        where the run cannot locate events, which the ledger then says.
    contact : {"events", "time_stepping", "ignore"}
        Contacts: each change is located as an event; or equal steps of `step` seconds, for batches;
        or left out.
    iterations : int, optional
        The largest number of solver sweeps in one step of time stepping; 200 by default.
    residual : float, optional
        Tolerance of that solver, relative to the fastest speed of a contact; 1e-8 by default.
    stabilise : str or record, default "project"
        How loops are kept closed: "project", "baumgarte", "corrective" or "none".
    threads : int, optional
        Threads for a batch of runs; by default those of the Machine.
    most_steps : int, default 10_000_000
        Steps after which one run stops.
    verify : bool, default False
        Run again at a hundredth of the tolerance (or with half the step), and report the difference
        in the ledger.
    out : path, optional
        A file (.nc) into which the rows of one run are written as they are computed, so that memory
        does not grow with the run.
    resume : bool, default False
        Continue the run that the file `out` holds, if it is the same run.
    progress : callable, optional
        Called with the time reached, s.
    **formulation_options
        Options of the formulation, such as `beta` of the penalty method, and run options that were
        added to RUN_OPTIONS.

    Returns
    -------
    Result
        The motion and its ledger. A batch has a dimension `run`.

    Raises
    ------
    SimulationError
        Where an argument is not allowed, or the run cannot go on; what was computed until then is
        in the `.result` of the error. After Ctrl-C it is in the `.result` of the KeyboardInterrupt,
        or in the file `out`, which is marked as partial.

    Examples
    --------
    >>> import catena
    >>> fall = catena.simulate(catena.load("pendulum"), q=[0.3], until=0.5)
    >>> fall.complete
    True
    """
    # the arguments that have a record: all of them, so that none is forgotten on the way
    given = {name: x for name, x in locals().items() if name in RUN_OPTIONS} | formulation_options
    began = clock.perf_counter()
    if not (progress is None or callable(progress)):
        raise SimulationError(
            f"progress is a {type(progress).__name__}; it is a function of the time, s"
        )
    if not (out is None or isinstance(out, str | PathLike)):
        raise SimulationError(
            f"out is a {type(out).__name__}; it is the path of a file, as a text or a pathlib.Path"
        )
    machine = machine_of(mechanism)
    options = RunOptions.of(usual_formulation(machine), **given)
    plan = prepare(machine, q, v, until, options)
    if out is None and resume:
        raise SimulationError("resume continues the run of a file; say which: out='run.nc'")
    if out is None:
        found = _ended(plan, Memory(plan, began), verify, progress)
        if not plan.lead:
            found.shared["again"] = partial(run_again, machine, found, until, options)
        return found
    with File(Path(out), plan, began, resume) as file:
        return _ended(plan, file, verify, progress, f"{out}, and in ")


def run_again(
    machine: Machine,
    found: Result,
    until: float,
    options: RunOptions,
    parameters: Mapping[str, float],
) -> Result:
    """Return the run of a result at other values of parameters, with all of its options. Its start
    is that of the result; loops that do not close there at these values are closed.
    """
    q, v = (found.data[name].isel(time=0).values for name in "qv")
    if machine.mechanism.closes:
        q, v = analysis.assemble(machine, q, v, parameters=parameters)
    given = {**options, **options.of_formulation, "parameters": parameters or None}
    return simulate(machine, q, v, until, **given)


def _ended(
    plan: RunPlan, sink: ResultSink, verify: bool, progress: Progress | None, where: str = ""
) -> Result:
    """Run a plan into a sink, and a second time at a tighter tolerance if `verify` is set; raise
    SimulationError where the run could not go on.
    """
    try:
        run(plan, sink, progress)
    except KeyboardInterrupt as stopped:
        if (kept := sink.partial) is not None:
            stopped.result = kept  # type: ignore[attr-defined]
            stopped.add_note(
                f"{sink.outcome.sentence}. What was computed until then is in this exception's"
                " `.result`; out='run.nc' would keep it on disk, to be resumed"
            )
        raise
    if not sink.outcome.complete:
        said = (
            f"{sink.outcome.sentence}. What was computed until then is in {where}this error's"
            " `.result`"
        )
        raise SimulationError(said, sink.result())
    if not verify:
        return sink.result()
    finer = plan.tighter(sink.outcome.steps)
    again = TighterRun(finer, sink)
    run(finer, again, progress)
    return sink.result(again.difference)


def run(plan: RunPlan, sink: Sink, progress: Progress | None = None) -> None:
    """Run all groups of a plan into a sink, in threads."""
    if plan.batched:
        follow_batches(plan, sink, progress)
        return
    rollout = rollout_of(plan)
    parts = plan.groups if rollout is None else rollout.parts
    if len(parts) > 1:
        plan.engine(plan.groups[0])  # compiled once, before threads begin

    def one(rows: slice) -> None:
        said = progress if rows.start == 0 else None
        if rollout is None:
            follow(plan, rows, sink, said)
        else:
            follow_rollout(rollout, rows, sink, said)

    _each(one, parts, plan.threads)


def _each(one: Callable[[slice], None], parts: list[slice], threads: int) -> None:
    """Call one(rows) for all parts, in threads."""
    if threads == 1 or len(parts) == 1:
        for rows in parts:
            one(rows)
        return
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(one, parts))


def follow(plan: RunPlan, rows: slice, sink: Sink, progress: Progress | None) -> None:
    """Run one group to its end, passing its slices to the sink."""
    runner = Runner(plan, rows)
    sink.begin(runner)
    try:
        for part in runner.slices():
            sink.take(part, runner, rows)
            if progress is not None:
                progress(runner.t)
    except KeyboardInterrupt:
        sink.interrupt(runner, rows)
        raise
    sink.finish(runner, rows)


def follow_rollout(rollout: Rollout, rows: slice, sink: Sink, progress: Progress | None) -> None:
    """Run some groups to their end in one call; if one of them cannot go on, group by group."""
    plan = rollout.plan
    groups = [
        slice(k, min(k + rollout.plan.width, rows.stop))
        for k in range(rows.start, rows.stop, rollout.plan.width)
    ]
    found = rollout.slices(rows, sink.room(rows))
    if not found:
        for group in groups:
            follow(plan, group, sink, progress)
        return
    end = runners.RunEnd(drivers.REACHED, drivers.OUTCOMES[drivers.REACHED], rollout.tally)
    for part in found:
        sink.take(part, end, rows)
    for group in groups:
        sink.finish(end, group)
    if progress is not None:
        progress(plan.until)


def follow_batches(plan: RunPlan, sink: Sink, progress: Progress | None) -> None:
    """Run all runs in lanes, each with its own steps and events, in at least as many batches as
    there are threads.
    """
    count = len(plan.x0)
    each = -(-count // max(1, min(plan.threads, count // LEAST)))
    each = min(each, MOST) if plan.scheme.empty else each
    batches = [slice(k, min(k + each, count)) for k in range(0, count, each)]

    def one(rows: slice) -> None:
        batch = runners.BatchRunner(plan, rows, sink.room(rows))
        for t in batch.run():
            if progress is not None and rows.start == 0:
                progress(t)
        for part in batch.parts:
            sink.take(batch.slice_of(part), batch.end_of(part.start - rows.start), part)
        for k in range(rows.start, rows.stop):
            sink.finish(batch.end_of(k - rows.start), slice(k, k + 1))

    _each(one, batches, plan.threads)
