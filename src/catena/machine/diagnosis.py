"""Diagnosis: why a result is not finite or extremely large: a bad input, a spring of zero length,
or a singular inertia.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..errors import SingularError, StateError
from ..kernels import BALL, EXACT, SLIDE, Work, dynamics, motion_without_energy
from .arguments import Array, place_in
from .quantities import QUANTITIES
from .request import Request
from .row_metric import metric
from .spec import Spec

Ask = Callable[..., tuple[Array, ...]]  # `Router.ask`

# An inertia that exceeds its pivot by this factor cannot be inverted in double precision.
SINGULAR_INERTIA_OVER_PIVOT = 1e13
# Results of quantities that invert inertias are examined for a singular inertia above this absolute
# value (SI units); it only decides whether to look, not whether to raise.
SUSPICIOUS_RESULT = 1e9


def suspicious(request: Request, out: Array) -> bool:
    """Return whether a result is so large (SUSPICIOUS_RESULT) that its cause is examined before it
    is returned.
    """
    return request.quantity.inverts and bool(
        out.max(initial=0.0) > SUSPICIOUS_RESULT or out.min(initial=0.0) < -SUSPICIOUS_RESULT
    )


def explain(spec: Spec, ask: Ask, request: Request, out: Array) -> None:
    """Raise an error that says why a result is not finite: an input that is not, a spring of zero
    length, or a singular inertia. ask: `Router.ask` of the same machine. For a result that is large
    but finite, with a regular inertia, no error is raised.
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
    _check_spring_lengths(spec, ask, request)
    if request.quantity.inverts or "tau" in request.quantity.inputs:
        rows = np.abs(out.reshape(request.batch, -1)).max(axis=-1)
        worst = int(np.nanargmax(np.where(np.isfinite(rows), rows, np.inf)))
        lead = request.lead
        given = dict(zip(request.quantity.inputs, request.states))
        given.setdefault("tau", np.zeros(spec.sizes.nv))
        q, v, tau = (
            np.broadcast_to(x, (*lead, x.shape[-1])).reshape(-1, x.shape[-1])[worst]
            for x in (given[name] for name in ("q", "v", "tau"))
        )
        _singular(spec, ask, q, v, tau, place_in(lead, worst))
        if np.isfinite(out).all():
            return
    raise StateError(
        f"{quantity}: the result is not finite for these inputs; they may be too large"
    )


def _check_spring_lengths(spec: Spec, ask: Ask, request: Request) -> None:
    """Raise an error where both ends of a spring are at one point, because its force has no
    direction there.
    """
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
    """Raise an error that names a joint, where the articulated-body pass meets a pivot that is zero
    relative to the inertia of the joint.
    """
    if spec.rows:
        _singular_on_rows(spec, ask, q, v, at)
        return
    if spec.layout.modal:  # the articulated-body pass has no flexible bodies
        _singular_matrix(spec, ask, q, at)
        return
    n = len(spec.layout.nodes)
    nv = spec.sizes.nv
    tree = spec.layout.tree(snap=spec.snap)
    x = Work.empty(n)
    with np.errstate(all="ignore"):  # the pass itself, in Python, for its pivots
        dynamics.forward_dynamics(tree, q, v, tau, np.zeros((n, 6)), np.zeros(nv), x, np.zeros(nv))
    for i in reversed(range(len(tree.parent))):
        S = x.C[i] if tree.motion[i] == SLIDE else x.A[i]
        scale = S[0] + S[3] + S[5]
        if tree.motion[i] == BALL:
            small = not scale > 0
        else:
            small = not scale * x.D[i, 0] < SINGULAR_INERTIA_OVER_PIVOT
        if small:
            name = spec.speed_names[tree.vi[i]]
            joint = next(j for j in spec.mechanism.moving if name in j.speed_names)
            why = (
                f"body {joint.child!r} and what it carries have no inertia about it; give the"
                " joint a rotor inertia, as by load(..., armature=1e-4)"
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


def _singular_on_rows(spec: Spec, ask: Ask, q: Array, v: Array, at: str) -> None:
    """Raise where a motion that the constraint rows allow has no inertia, and name the speed with
    the largest part in it.
    """
    by = metric(spec)
    _, s, Vt = np.linalg.svd(by.scaled(ask(QUANTITIES["constraint_rows"], (q, v))[3]))
    T = (Vt.T * np.sqrt(by.column)[:, None])[:, int((s > EXACT).sum()) :]
    M = ask(QUANTITIES["mass_matrix"], (q,))[0]
    found = motion_without_energy(T.T @ M @ T) if T.shape[1] else None
    if found is not None:
        name = spec.speed_names[int(np.argmax(np.abs(T @ found)))]
        raise SingularError(
            f"forward dynamics: {name!r} cannot be accelerated by a finite force{at}: nothing that"
            " moves with it, as loops and constraints allow, has inertia; prescribe its motion, or"
            " give a body mass and inertia, or its joint a rotor inertia, as by"
            " load(..., armature=1e-4)",
            where=name,
        )


def _singular_matrix(spec: Spec, ask: Ask, q: Array, at: str) -> None:
    """Raise an error where the mass matrix is singular. It names the speed with the largest part in
    the motion that has no inertia.
    """
    found = motion_without_energy(ask(QUANTITIES["mass_matrix"], (q,))[0])
    if found is not None:
        name = spec.speed_names[int(np.argmax(np.abs(found)))]
        raise SingularError(
            f"forward dynamics: {name!r} cannot be accelerated by a finite force{at}: nothing it"
            " moves has inertia; give its joint a rotor inertia, as by load(..., armature=1e-4)",
            where=name,
        )
