"""The formulations: siblings with one face, none importing another. `derive` picks one by its name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import Any

import casadi as ca

from ...compiler.trace import Tracer
from ...errors import FormulationError, unknown
from ...kernels.tree import layout
from ...model.mechanism import Mechanism
from ..equations import Equations, operations
from .capabilities import CAPABILITIES, RIGID

ALL_FORMULATIONS = ("newton_euler", "lagrange", "hamilton", "kane", "boltzmann_hamel", "penalty", "recursive", "variational")

WITHOUT_LOADS = ("kane", "boltzmann_hamel")  # they know joint forces only; `loaded` gives them the loads as such


def formulation(name: str) -> Callable[..., Equations]:
    """The function of that name."""
    if name not in ALL_FORMULATIONS:
        raise FormulationError(unknown("formulation", name, ALL_FORMULATIONS))
    return getattr(import_module(f".{name}", __package__), name)


def derive(mechanism: Mechanism, by: str = "recursive", **options: object) -> Equations:
    """The equations of motion of a mechanism, by one of `ALL_FORMULATIONS`."""
    derived = formulation(by)
    bending = [flexed.body for flexed in mechanism.beams if flexed.modal]
    if bending and not CAPABILITIES[by] >= RIGID:
        can = [name for name, features in CAPABILITIES.items() if features >= RIGID]
        raise FormulationError(f"{by} treats rigid bodies, and body {bending[0]!r} of {mechanism.name!r} bends by modes; take "
                               f"{', '.join(can[:-1])} or {can[-1]}, or make the body of segments")  # fmt: skip
    equations = derived(mechanism.validate(), **options)
    return loaded(equations) if mechanism.loads and by in WITHOUT_LOADS else equations


def loaded(e: Equations) -> Equations:
    """The same equations with the mechanism's loads acting, as generalised forces beside tau."""
    s = Tracer(layout(e.mechanism))
    Q = ca.Function("loads", [s.t, s.q, s.v, s.p], [s.applied.generalised()])
    t, tau, x = s.t, s.tau, ca.SX.sym("x", len(e.state_names))
    at_x = e.derivative(t, x, tau + Q(t, *e.decode(x, s.p), s.p), s.p)
    given = [t, s.q, s.v, tau, s.p]

    def at(f: Any) -> Any:
        return f and ca.Function(f.name(), given, [ca.cse(f(t, s.q, s.v, tau + Q(t, s.q, s.v, s.p), s.p))])

    acceleration = at(e.acceleration)
    return replace(
        e,
        derivative=ca.Function("derivative", [t, x, tau, s.p], [ca.cse(at_x)]),
        acceleration=acceleration,
        multipliers=at(e.multipliers),
        reactions=None,  # a load moves reactions where it acts, which a generalised force does not say
        counts=replace(e.counts, operations=operations(acceleration)),
    )
