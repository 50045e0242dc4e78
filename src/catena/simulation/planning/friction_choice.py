"""How dry friction of joints is run where nobody says it: with sticking, or smoothed."""

from __future__ import annotations

from typing import NamedTuple

from ...equations.formulations import formulation
from ...machine import Machine
from ...model import per_speed
from ..integrators.methods import Method
from ..options import RunOptions
from ..terms.switched_constraints import nonzero


class FrictionChoice(NamedTuple):
    """method: "stick" or "smooth". reason: a sentence that says why the program chose "smooth" for
    joints with dry friction; empty where it did not.
    """

    method: str
    reason: str = ""


def friction_of(machine: Machine, options: RunOptions, how: Method, by: str) -> FrictionChoice:
    """Return how dry friction is run with this integrator and formulation.

    What the options say counts. Otherwise friction sticks, except where the run cannot locate
    events or cannot hold a speed. A mechanism without dry friction has nothing that could stick.
    """
    if options["friction"] is not None:
        return FrictionChoice(options["friction"])
    if not any(map(nonzero, per_speed(machine.mechanism, "friction"))):
        return FrictionChoice("smooth")
    reason = _obstacle(options, how, by)
    if not reason:
        return FrictionChoice("stick")
    return FrictionChoice("smooth", f"smoothed about zero speed, since {reason}")


def _obstacle(options: RunOptions, how: Method, by: str) -> str:
    """Return why dry friction cannot stick in a run; empty where it can."""
    if options["contact"] == "time_stepping":
        return ""  # friction is part of the contact problem of each step
    if not how.chooses_steps:
        return f"{how.name} takes equal steps and locates no events"
    if formulation(by).approximate:
        return f"{by} holds no speed exactly"
    return ""
