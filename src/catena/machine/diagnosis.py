"""Diagnosis: why a result is not finite or extremely large: a bad input, a spring of no length, a
singular inertia.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..errors import SingularError, StateError
from ..kernels import BALL, SLIDE, Work, dynamics, motion_without_energy
from .arguments import Array, place_in
from .quantities import QUANTITIES
from .request import Request
from .spec import Spec

Ask = Callable[..., tuple[Array, ...]]  # `Router.ask`

SINGULAR = 1e13  # an inertia so many times its own pivot cannot be inverted in doubles
HUGE = 1e9  # accelerations this large are looked into before they are handed out


def suspicious(request: Request, out: Array) -> bool:
    """Whether a result is so large that it is looked into before it is handed out."""
    return request.quantity.inverts and bool(
        out.max(initial=0.0) > HUGE or out.min(initial=0.0) < -HUGE
    )


def explain(spec: Spec, ask: Ask, request: Request, out: Array) -> None:
    """Say why a result is not finite: an input that is not, or an inertia that vanishes. ask: what
    answers further questions to the same machine.
    """
    quantity = request.quantity.name
    for name, x in (
        ("wrenches", request.forces),
        ("parameters", request.parameters),
        ("t", request.time),
    ):
        if x is not None and not np.isfinite(x).all():
            raise StateError(
                f"{quantity}: {name} hold a number that is not finite: {x[~np.isfinite(x)][0]};"
                " give finite numbers"
            )
    for name, x in zip(request.quantity.inputs, request.states):
        bad = ~np.isfinite(x)
        if bad.any():
            index = np.argwhere(bad)[0]
            names = spec.coordinate_names if name == "q" else spec.speed_names
            at = (
                place_in(x.shape[:-1], int(np.ravel_multi_index(index[:-1], x.shape[:-1])))
                if x.ndim > 1
                else ""
            )
            raise StateError(
                f"{quantity}: {name} of {names[index[-1]]!r}{at} is {x[tuple(index)]}; it takes"
                " finite numbers"
            )
    _short(spec, ask, request)
    if request.quantity.inputs == ("q", "v", "tau"):
        rows = np.abs(out.reshape(request.batch, -1)).max(axis=-1)
        worst = int(np.nanargmax(np.where(np.isfinite(rows), rows, np.inf)))
        lead = request.lead
        q, v, tau = (
            np.broadcast_to(x, (*lead, x.shape[-1])).reshape(-1, x.shape[-1])[worst]
            for x in request.states
        )
        _singular(spec, ask, q, v, tau, place_in(lead, worst))
        if np.isfinite(out).all():
            return
    raise StateError(
        f"{quantity}: the result is not finite for these inputs; they may be too large"
    )


def _short(spec: Spec, ask: Ask, request: Request) -> None:
    """Raise where the ends of a spring lie in one point: its force has no direction there."""
    for load, start, end in ((x, *ends) for x in spec.mechanism.loads for ends in x.gaps()):
        ends = (
            ask(QUANTITIES["pose"], request.states[:1], which=(f,))[0][..., 3] for f in (end, start)
        )
        none = ~np.subtract(*ends).any(axis=-1)
        if none.any():
            raise StateError(
                f"{request.quantity.name}: the ends of {load.kind} {load.name!r}, {start!r} and"
                f" {end!r}, lie in one point{place_in(none.shape, int(none.argmax()))} (length 0"
                " m), and its force has no direction there"
            )


def _singular(spec: Spec, ask: Ask, q: Array, v: Array, tau: Array, at: str) -> None:
    """Raise when the articulated pass meets a pivot that is nothing beside its inertia, and name
    the joint.
    """
    if spec.layout.modal:  # no articulated pass knows of flexible bodies
        _singular_matrix(spec, ask, q, at)
        return
    n = len(spec.layout.nodes)
    nv = spec.sizes.nv
    tree = spec.layout.tree(snap=spec.snap)
    x = Work.empty(n)
    with np.errstate(all="ignore"):  # the pass itself, in Python, to look at its pivots
        dynamics.forward_dynamics(tree, q, v, tau, np.zeros((n, 6)), np.zeros(nv), x, np.zeros(nv))
    for i in reversed(range(len(tree.parent))):
        S = x.C[i] if tree.motion[i] == SLIDE else x.A[i]
        scale = S[0] + S[3] + S[5]
        small = not scale > 0 if tree.motion[i] == BALL else not scale * x.D[i, 0] < SINGULAR
        if small:
            name = spec.speed_names[tree.vi[i]]
            joint = next(j for j in spec.mechanism.moving if name in j.speed_names)
            why = (
                f"body {joint.child!r} and what it carries have no inertia about it"
                if joint.nv == 1 or not scale > 0
                else (
                    "its axes have come into one line (gimbal lock); a ball joint has no such place"
                )
            )
            raise SingularError(
                f"forward dynamics: coordinate {name!r} of joint {joint.name!r} cannot be"
                f" accelerated by a finite force{at}: {why}",
                where=name,
            )


def _singular_matrix(spec: Spec, ask: Ask, q: Array, at: str) -> None:
    """The same by the mass matrix: raise where a motion has no inertia, and name the speed that has
    the largest part in it.
    """
    found = motion_without_energy(ask(QUANTITIES["mass_matrix"], (q,))[0])
    if found is not None:
        name = spec.speed_names[int(np.argmax(np.abs(found)))]
        raise SingularError(
            f"forward dynamics: {name!r} cannot be accelerated by a finite force{at}: nothing it"
            " moves has inertia",
            where=name,
        )
