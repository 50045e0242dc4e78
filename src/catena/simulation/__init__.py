"""Simulation: from a mechanism and a scenario to a Result, the time loop in machine code.

    run            `simulate`: make a plan, let a runner yield slices into a sink, return its Result
    scenario/      the [scenario] table of a file
    output/        sinks: memory, a file; the rows of a run, its ledger, its fingerprint
    runners/       the time loop: one run, a batch of runs, rollouts; why a run could not go on
    handlers/      what is done at an event: jumps, modes, impacts, contacts
    planning/      everything that a run needs, made of what is asked
    options        the options of a run: one record per option, and the values of one run
    integrators/   methods as data, the drivers that step them over lanes, and the engine
    system/        mechanism, losses and controller as one first-order system x' = f(t, x, u, p)
    stepping/      contacts by time stepping
    events/        records of events, their kinds, and the plan of a run's events
    control/       controllers, actuators, sampled and traced laws
    terms/         what the system is made of: switched constraints, contact rows, losses,
                   projection
    trajectories/  coordinates as functions of time

A floor uses those below it in this list.
"""

from typing import TYPE_CHECKING

from ..doors import door

if TYPE_CHECKING:
    from . import control, events, trajectories
    from .integrators.methods import ALL_INTEGRATORS
    from .options import RUN_OPTIONS, RunOption, RunOptions
    from .run import simulate


__all__ = ["ALL_INTEGRATORS", "simulate"]

__getattr__, __dir__ = door(__name__)
