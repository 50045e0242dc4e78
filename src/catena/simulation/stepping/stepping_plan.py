"""The plan of contacts by time stepping: the options, checked with every fault at once, and the
check that no start penetrates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ...collision import contact_points
from ...compiler import LaneKernel, Tracer, compile_lanes, vector
from ...contact import START_DEPTH
from ...equations import FORMULATIONS, StateKind
from ...equations.formulations import formulation
from ...errors import SimulationError, StateError
from ...kernels import BALL, usual_length
from ...machine import Machine, where
from ...model import IMPACT_LAWS, per_speed
from ..terms.stabilisation import stabiliser
from ..terms.switched_constraints import nonzero
from ..terms.symbols import SystemSymbols
from .stepped_patches import SteppedPoint, manifold_points, pair_pose, patch_faults
from .stepped_rims import stepped_points
from .time_stepping import DryFriction, SteppedContacts, Stop
from .tolerances import ITERATIONS, RESIDUAL

Array = NDArray[np.float64]
DEFAULT_INTEGRATOR = "auto"


def stepped_contacts(
    machine: Machine,
    asked: dict[str, Any],
    keep: Callable[[tuple[Any, ...], Any, Callable[[], Any]], Any],
) -> SteppedContacts:
    """Return the contacts and stops of a run by time stepping. Raise SimulationError with every
    fault.

    asked: the options of `simulate` by name. keep: a cache, called with a key, the object that owns
    the entry, and a function that makes it.
    """
    faults = [*patch_faults(machine.mechanism), *_faults(machine, asked), *_numbers(asked)]
    names = ("limits", "restitution", "friction", "iterations", "residual")
    own = {name: asked[name] for name in names}
    contacts: SteppedContacts = (
        _build(machine, own)
        if faults
        else keep(("stepped", id(machine), *own.values()), machine, lambda: _build(machine, own))
    )
    if not contacts.count:
        faults.append(
            f"mechanism {machine.mechanism.name!r} has no contacts, no limits that stop joints, and"
            " no dry friction of joints; give it some, or leave contact out"
        )
    if faults:
        raise SimulationError(f"contact = 'time_stepping': {'; '.join(faults)}")
    return contacts


def _build(machine: Machine, asked: dict[str, Any]) -> SteppedContacts:
    """Return the contacts and stops of a run, without a check of the options."""
    m = machine.mechanism
    points: tuple[SteppedPoint, ...] = (
        *(x for p in contact_points(m) for x in stepped_points(p, m.contacts[p.contact])),
        *manifold_points(m),
    )
    stops = tuple(_stops(machine, float(asked["restitution"]))) if asked["limits"] == "stop" else ()
    rubbing = tuple(_rubbing(machine)) if asked["friction"] != "smooth" else ()
    return SteppedContacts(
        points, stops, rubbing, asked["iterations"] or ITERATIONS, asked["residual"] or RESIDUAL
    )


def _faults(machine: Machine, asked: dict[str, Any]) -> Iterator[str]:
    """Yield a sentence for each option that belongs to events, or that time stepping does not
    support.
    """
    if asked["step"] is None:
        yield (
            "step is missing; time stepping takes equal steps: give their length, step = 1e-3 (s)"
        )
    if asked["integrator"] not in (DEFAULT_INTEGRATOR, "moreau_jean"):
        yield (
            f"integrator = {asked['integrator']!r} does not apply, for the step is that of Moreau"
            " and Jean: leave it out"
        )
    for name, word in (
        ("events", "events are"),
        ("motion", "a prescribed motion is"),
        ("largest_step", "largest_step is"),
    ):
        if asked[name] not in (None, ()):
            yield f"{word} not supported: leave {name} out, or use contact = 'events'"
    form = formulation(asked["by"])
    if form.approximate or form.state is not StateKind.SPEEDS:
        known = ", ".join(
            f.name
            for f in FORMULATIONS.values()
            if not f.approximate and f.state is StateKind.SPEEDS
        )
        yield f"{form.name} does not integrate coordinates and speeds; take one of {known}"
    if stabiliser(asked["stabilise"]).pulls:
        yield "loops are put back by projection after each step: leave stabilise out"
    for c in machine.mechanism.contacts:
        if not IMPACT_LAWS[c.law].steps or c.impacts != "simultaneous":
            known = " or ".join(law.name for law in IMPACT_LAWS.values() if law.steps)
            yield (
                f"contact {c.name!r} has law = {c.law!r} and impacts = {c.impacts!r}; supported are"
                f" only law = {known} and impacts = simultaneous"
            )


def _numbers(asked: dict[str, Any]) -> Iterator[str]:
    """Yield a sentence for each number among the options of the solver that is not allowed."""
    iterations = asked["iterations"]
    residual = asked["residual"]
    if iterations is not None and not (
        isinstance(iterations, (int, np.integer))
        and not isinstance(iterations, bool)
        and iterations >= 1
    ):
        yield f"iterations = {iterations!r}; it is a whole number of sweeps, one or more"
    if residual is not None and not (
        isinstance(residual, (int, float, np.number)) and 1e-15 <= residual < 1.0
    ):
        yield (
            f"residual = {residual!r}; it lies between 1e-15 and 1, relative to the fastest speed"
            " of a contact"
        )


def _stops(machine: Machine, restitution: float) -> Iterator[Stop]:
    """Yield a stop for each finite limit of a joint."""
    limits = [values for j in machine.mechanism.moving for values in zip(j.lower, j.upper)]
    for c in machine.layout.coordinates:
        if c.motion == BALL:
            continue
        lower, upper = limits[c.vi]
        for sign, value, word in ((1.0, lower, "lower"), (-1.0, upper, "upper")):
            if not (isinstance(value, (int, float)) and np.isinf(value)):
                yield Stop(
                    f"{word} limit of {machine.speed_names[c.vi]}",
                    c.vi,
                    c.qi,
                    sign,
                    value,
                    restitution,
                )


def _rubbing(machine: Machine) -> Iterator[DryFriction]:
    """Yield the record of dry friction of each speed that has some."""
    for k, limit in enumerate(per_speed(machine.mechanism, "friction")):
        if nonzero(limit):
            yield DryFriction(f"friction of {machine.speed_names[k]}", k, limit)


def apart(machine: Machine, system: SystemSymbols, t: float, q: Array, p: Array) -> None:
    """Raise StateError where a start (runs, nq) penetrates, naming the contact, its depth, and the
    run.
    """
    c = system.stepping
    assert c is not None
    kernel, deep = system.compiled(
        ("gaps",), lambda: (_gaps(system, c), START_DEPTH * usual_length(machine.layout))
    )
    (gap, pairs), _ = kernel([np.full((len(q), 1), float(t)), np.ascontiguousarray(q), p], len(q))
    if c.pairs:
        gap = np.concatenate([gap[:, : c.own], c.layout.seen(pairs).gap, gap[:, c.own :]], axis=1)
    run, worst = np.unravel_index(int(gap.argmin()), gap.shape)
    if gap[run, worst] < -deep:
        which = f" (run {run})" if len(q) > 1 else ""
        if worst >= len(c.ordered):
            passed = c.stops[worst - len(c.ordered)].name
            raise StateError(
                f"simulate: {where(machine)}: at the start{which} the {passed} is passed by"
                f" {-gap[run, worst]:.3g}; start within it"
            )
        named = c.ordered[worst]
        raise StateError(
            f"simulate: {where(machine)}: at the start{which} {named.point.body!r} is"
            f" {-gap[run, worst]:.3g} m deep in {named.point.other!r} (contact {named.name!r});"
            " start apart, or with the contact closed"
        )


def _gaps(system: SystemSymbols, c: SteppedContacts) -> LaneKernel:
    """Return the function (t, q, p) -> gaps of the contact points that do not belong to pairs of
    shapes, then poses of the pairs, with zeros in place of their twists.
    """

    def gaps(s: Tracer) -> list[ca.SX]:
        return [
            c.kinematics(s)[0],
            vector(
                [*(x for pair in c.pairs for x in pair_pose(s, pair)), *[0.0] * (6 * len(c.pairs))]
                or [0.0]
            ),
        ]

    found = system.tape("contact gaps", c.words, gaps)(
        system.t, system.q, ca.SX.zeros(system.nv), system.p
    )
    return compile_lanes(
        ca.Function("gaps", [system.t, system.q, system.p], [ca.densify(x) for x in found])
    )
