"""simulate: one call from a mechanism to a Result.

    plan --Runner--> slices --> a sink: Memory, or File (`out=`) --> Result with its Ledger

plan          the arguments, checked
system        the mechanism, its losses and its controller as one tape
engine        the method running that tape, many states side by side
runner        the time loop, a generator of slices; rollouts: of equal steps, many groups in one
              call
event_handler events: stops, impulses, locks
sinks         where slices end up; record: what is shown of them, and the ledger
"""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from ..errors import SimulationError
from ..machine import Machine
from ..model import Mechanism
from ..results import Result
from .events.records import Event
from .integrators import drivers
from .options import RUN_OPTIONS, RunOptions
from .output.result_file import File
from .output.sinks import Memory, ResultSink, Sink, TighterRun
from .planning.plan import RunPlan, machine_of, prepare, usual_formulation
from .runners.batch_runner import BatchRunner, RunEnd
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
    integrator: str = "dop853",
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
    friction: str = "smooth",
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
    **options: Any,
) -> Result:
    """Simulate from `start` to `until` seconds.

    q, v: the start, (nq,) and (nv,), by default at rest in the neutral place; with leading sizes,
    that many runs at once (the result then has a `run` dimension). By names, {"shoulder": 0.3},
    what is not named is zero, and with loops the named ones are kept and the others found. control:
    None, joint forces (nv,), a controller of `catena.control`, or any function (t, q, v) -> forces
    with an attribute `sample` (s), called every so often and held. forces: joint forces in its
    place, (nv,), (step, nv), (run, nv) or (run, step, nv); steps are equal parts of the time, and
    their forces are held in them. by: a formulation, by default the Machine's own, or recursive.
    integrator: one of `catena.ALL_INTEGRATORS`; tolerance: relative and absolute, of the whole run,
    for adaptive ones; step: s, the largest of fixed ones; largest_step: s, of adaptive ones, so
    that a short pulse of a force is not stepped over (loads may say their `switches` instead).
    output: spacing (s), brought to the nearest that divides the run, or times of the rows.
    parameters: {name: value or one per run}. motion: coordinates that are prescribed, {coordinate:
    Trajectory, text or function of t, or "locked"}.

    events: what happens at instants, records of `catena.events`. limits: "check" the start alone,
    "ignore" them, or "stop" joints there, with `restitution` (0: they stay, 1: they bounce without
    loss). friction: dry friction is "smooth", turned round over a small speed, or can "stick".
    contact: contacts are met as "events", located, or by "time_stepping" in equal steps of `step`
    seconds for many runs in lanes, or are left to "ignore"; iterations, residual: of the solver of
    such a step, sweeps at most and its residual beside the fastest speed of a contact (200, 1e-8).
    stabilise: how loops stay closed: "project", "baumgarte", "corrective" or None, or a record of
    `catena.simulation.terms.stabilisation`. verify: run again at a hundredth of the tolerance (or
    with every step halved) and report the difference. threads: for many runs at once, by default
    the Machine's. most_steps: of one run, after which it stops. progress: called with the time
    reached. options: of the formulation, and those that were added to RUN_OPTIONS.

    out: a file (.nc) into which the rows of one run are written as they come; memory then does not
    grow with the run. resume: continue the run that the file holds, if it is the same. Ctrl-C
    leaves a file that says it is partial; without a file, what one run has computed until then is
    in the `.result` of the KeyboardInterrupt. A run that cannot go on is a SimulationError, with
    what was computed until then in its `.result`.
    """
    # the arguments that have a record: all of them, so that none is forgotten on the way
    given = {name: x for name, x in locals().items() if name in RUN_OPTIONS} | options
    began = clock.perf_counter()
    machine = machine_of(mechanism)
    plan = prepare(machine, q, v, until, RunOptions.of(usual_formulation(machine), **given))
    if out is None and resume:
        raise SimulationError("resume continues the run of a file; say which: out='run.nc'")
    if out is None:
        return _ended(plan, Memory(plan, began), verify, progress)
    with File(Path(out), plan, began, resume) as file:
        return _ended(plan, file, verify, progress, f"{out}, and in ")


def _ended(
    plan: RunPlan, sink: ResultSink, verify: bool, progress: Progress | None, where: str = ""
) -> Result:
    """Run into a sink, and once more if that is asked; a SimulationError where the run could not go
    on.
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
    """Run everything into a sink, groups in threads."""
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
    """one(rows) of all parts, in threads."""
    if threads == 1 or len(parts) == 1:
        for rows in parts:
            one(rows)
        return
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(one, parts))


def follow(plan: RunPlan, rows: slice, sink: Sink, progress: Progress | None) -> None:
    """Run one group to its end."""
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
    """Run some groups to their end in one call; group by group where one of them cannot go on."""
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
    end = RunEnd(drivers.REACHED, drivers.OUTCOMES[drivers.REACHED], rollout.tally)
    for part in found:
        sink.take(part, end, rows)
    for group in groups:
        sink.finish(end, group)
    if progress is not None:
        progress(plan.until)


def follow_batches(plan: RunPlan, sink: Sink, progress: Progress | None) -> None:
    """Run all in lanes, each with steps and events of its own: at least as many batches as there
    are threads.
    """
    count = len(plan.x0)
    each = -(-count // max(1, min(plan.threads, count // LEAST)))
    each = min(each, MOST) if plan.scheme.empty else each
    batches = [slice(k, min(k + each, count)) for k in range(0, count, each)]

    def one(rows: slice) -> None:
        batch = BatchRunner(plan, rows, sink.room(rows))
        for t in batch.run():
            if progress is not None and rows.start == 0:
                progress(t)
        for part in batch.parts:
            sink.take(batch.slice_of(part), batch.end_of(part.start - rows.start), part)
        for k in range(rows.start, rows.stop):
            sink.finish(batch.end_of(k - rows.start), slice(k, k + 1))

    _each(one, batches, plan.threads)
