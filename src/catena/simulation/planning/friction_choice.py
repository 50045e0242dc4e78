"""The choice between sticking and smoothed dry friction of joints, for runs whose option `friction`
is not given.
"""

from __future__ import annotations

from typing import NamedTuple

from ...equations.formulations import formulation
from ...machine import Machine
from ...model import per_speed
from ..integrators.methods import Method
from ..options import RunOptions
from ..terms.switched_constraints import nonzero


class FrictionChoice(NamedTuple):
    """method: "stick" or "smooth". reason: why the program chose "smooth" for joints with dry
    friction, as a sentence; "" where it did not.
    """

    method: str
    reason: str = ""


def friction_of(machine: Machine, options: RunOptions, how: Method, by: str) -> FrictionChoice:
    """Return how dry friction is treated with this integrator and formulation. The option
    `friction` decides where it is given. Otherwise friction sticks, except where the run cannot
    locate events or cannot hold a speed at zero. For a mechanism without dry friction there is
    nothing to choose.
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
    """Return the reason why dry friction cannot stick in a run, or "" where it can."""
    if options["contact"] == "time_stepping":
        return ""  # friction is part of the contact problem of each step
    if not how.chooses_steps:
        return f"{how.name} takes equal steps and locates no events"
    if formulation(by).approximate:
        return f"{by} holds no speed exactly"
    return ""
