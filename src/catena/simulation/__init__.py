"""Simulation: from a mechanism and a scenario to a Result, the time loop in machine code.

run             simulate: one call from a mechanism to a Result, in memory or written to a file as
                it goes
plan            the arguments, checked, and everything that a run needs
system          the mechanism, its losses and its controller as one first-order system, traced and
                compiled
integrators     methods as data; drivers, fixed_step, radau: the loops that run them; engine calls
                them
runner          the time loop, a generator of slices; sinks, result_file: where they end up; record:
                what is shown of them
events          records of events; event_kinds: how each kind is read, checked and handled
event_plan      the events of a run: switched_constraints (stops, friction, locks) with their guards
event_handler   handles an event; mode_choice: what is held afterwards; accumulation: infinitely
                many impacts (Zeno)
contact_handler contacts at events: contact_impacts with touching_stops, contact_terms;
                contact_shares: forces that are not determined
contact_rows, contact_slots: their rows and guards
control         controllers; trajectories: coordinates as functions of time
scenario/       the [scenario] of a file
"""

from typing import TYPE_CHECKING

from .integrators import METHODS
from .run import simulate

if TYPE_CHECKING:
    ALL_INTEGRATORS: tuple[str, ...]

__all__ = ["ALL_INTEGRATORS", "simulate"]


def __getattr__(name: str) -> tuple[str, ...]:
    if name != "ALL_INTEGRATORS":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return tuple(METHODS)
