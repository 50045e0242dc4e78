"""The door of a Machine: what comes in is checked here, once, and what goes wrong is told in the user's words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..compiler import generic
from ..errors import SingularError, StateError, UnknownNameError
from ..kernels.motion import BALL, SLIDE
from ..model.loads import Spring

if TYPE_CHECKING:
    from .machine import Machine

Array = np.ndarray
LETTERS = {"q": "q", "v": "v", "a": "a", "t": "tau"}
HUGE = 1e9  # accelerations this large are looked into before they are handed out


def array(m: Machine, quantity: str, name: str, x: Any) -> Array:
    """An argument as doubles of the right last size, finite, with unit quaternions."""
    size, names = (m.nq, m.coordinate_names) if name == "q" else (m.nv, m.speed_names)
    array = numbers(quantity, name, x)
    if array.ndim == 0 or array.shape[-1] != size:
        shown = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
        raise StateError(
            f"{quantity}: {name} has shape {array.shape}; its last size is {size} for mechanism "
            f"{m.mechanism.name!r} ({shown}), and any leading sizes are a batch"
        )
    if name == "q":
        for k in m._balls:
            length = np.einsum("...i,...i->...", array[..., k : k + 4], array[..., k : k + 4])
            worst = np.abs(length - 1.0)
            if not (worst < generic.UNIT).all() and np.isfinite(array).all():
                at = place_in(worst.shape, int(worst.argmax()))
                raise StateError(
                    f"{quantity}: the quaternion at {m.coordinate_names[k]!r}{at} has length "
                    f"{np.sqrt(length.flat[worst.argmax()]):.6g}; a rotation has length 1: divide by it, w first"
                )
    return array


def numbers(quantity: str, name: str, x: Any) -> Array:
    """An argument as doubles."""
    try:
        if np.iscomplexobj(x):
            raise TypeError
        return np.asarray(x, dtype=np.float64)
    except (TypeError, ValueError):
        raise StateError(f"{quantity}: {name} is a {type(x).__name__} that is not an array of real numbers") from None


def batch(quantity: str, given: Mapping[str, Array | None]) -> tuple[int, ...]:
    """The leading shape of all arguments together."""
    known = {name: x.shape[:-1] for name, x in given.items() if x is not None}
    try:
        return np.broadcast_shapes(*known.values())
    except ValueError:
        shown = ", ".join(f"{name} {lead}" for name, lead in known.items() if lead)
        raise StateError(f"{quantity}: the batches do not fit together: {shown}; leading sizes are equal, or 1, or left out") from None


def wrenches(m: Machine, quantity: str, wrenches: Any) -> tuple[tuple, Array | None]:
    """The wrenches' (frame, axes) keys, and their components side by side (..., 6 k)."""
    if not wrenches:
        return (), None
    if not isinstance(wrenches, Mapping):
        raise StateError(f"{quantity}: wrenches is a {type(wrenches).__name__}; give a mapping of frame to (..., 6)")
    keys, parts = [], []
    for key, value in wrenches.items():
        if isinstance(key, tuple) and len(key) != 2:
            raise StateError(f"{quantity}: a wrench is given at {key!r}; it is given at a frame, or at (frame, 'world')")
        frame, axes = key if isinstance(key, tuple) else (key, "body")
        m.mechanism.frame(frame)
        if axes not in ("world", "body"):
            raise UnknownNameError("axes", axes, ("world", "body"), f"wrench at {frame!r}")
        w = numbers(quantity, f"the wrench at {frame!r}", value)
        if w.ndim == 0 or w.shape[-1] != 6:
            raise StateError(f"{quantity}: the wrench at {frame!r} has shape {w.shape}; it is (..., 6), torque first")
        keys.append((frame, axes))
        parts.append(w)
    lead = batch(f"{quantity}, wrenches", {str(key[0]): w for key, w in zip(keys, parts)})
    return tuple(keys), np.concatenate([np.broadcast_to(w, (*lead, 6)) for w in parts], axis=-1)


def parameters(m: Machine, parameters: Any) -> Array | None:
    """The parameters' values (..., count), those not given at the mechanism's own."""
    if parameters is None:
        return None
    if not isinstance(parameters, Mapping):
        array = numbers("parameters", "the array", parameters)
        if array.ndim and array.shape[-1] == len(m.parameter_names):
            return array if m.parameter_names else None
        raise StateError(f"parameters has shape {array.shape}; its last size is {len(m.parameter_names)}, "
                         f"one for each of: {', '.join(m.parameter_names) or 'none'}")  # fmt: skip
    for name in parameters:
        if name not in m.parameter_names:
            raise UnknownNameError("parameter", name, m.parameter_names, f"mechanism {m.mechanism.name!r}")
    values = [numbers("parameters", n, parameters.get(n, m.mechanism.parameters[n])) for n in m.parameter_names]
    if not values:
        return None
    batch("parameters", {n: x[..., None] for n, x in zip(m.parameter_names, values)})
    return np.stack(np.broadcast_arrays(*values), axis=-1)


def suspicious(m: Machine, quantity: str, out: Array) -> bool:
    """Whether a result is so large that it is looked into before it is handed out."""
    return quantity == "forward_dynamics" and bool(np.abs(out).max(initial=0.0) > HUGE)


def explain(m: Machine, quantity: str, arrays: Mapping[str, Array], lead: tuple, out: Array, others: Mapping[str, Any]) -> None:
    """Say why a result is not finite: an input that is not, or an inertia that vanishes."""
    for name, x in others.items():
        if x is not None and not np.isfinite(x).all():
            raise StateError(f"{quantity}: {name} hold a number that is not finite: {x[~np.isfinite(x)][0]}; give finite numbers")
    for k, x in arrays.items():
        bad = ~np.isfinite(x)
        if bad.any():
            index = np.argwhere(bad)[0]
            names = m.coordinate_names if k == "q" else m.speed_names
            at = place_in(x.shape[:-1], int(np.ravel_multi_index(index[:-1], x.shape[:-1]))) if x.ndim > 1 else ""
            raise StateError(f"{quantity}: {LETTERS[k]} of {names[index[-1]]!r}{at} is {x[tuple(index)]}; it takes finite numbers")
    short(m, quantity, arrays["q"])
    if quantity.startswith("forward"):
        rows = np.abs(out).max(axis=-1)
        worst = int(np.nanargmax(np.where(np.isfinite(rows), rows, np.inf)))
        q, v, tau = (np.broadcast_to(x, (*lead, x.shape[-1])).reshape(-1, x.shape[-1])[worst] for x in arrays.values())
        singular(m, q, v, tau, place_in(lead, worst))
        if np.isfinite(out).all():
            return
    raise StateError(f"{quantity}: the result is not finite for these inputs; they may be too large")


def short(m: Machine, quantity: str, q: Array) -> None:
    """Raise where the ends of a spring lie in one point: its force has no direction there."""
    for load in (x for x in m.mechanism.loads if isinstance(x, Spring)):
        gap = m.pose(q, load.end)[..., :3, 3] - m.pose(q, load.start)[..., :3, 3]
        none = ~gap.any(axis=-1)
        if none.any():
            raise StateError(f"{quantity}: the ends of spring {load.name!r}, {load.start!r} and {load.end!r}, lie in one point"
                             f"{place_in(none.shape, int(none.argmax()))} (length 0 m), and its force has no direction there")  # fmt: skip


def singular(m: Machine, q: Array, v: Array, tau: Array, at: str) -> None:
    """Raise when the articulated pass meets a pivot that is nothing beside its inertia, and name the joint."""
    if m.layout.modal:  # no articulated pass knows of flexible bodies
        _singular_matrix(m, q, at)
        return
    handle = generic.Handle(m.layout, m.snap)
    out = np.zeros((1, m.nv))
    states = [np.array(x[None], order="C") for x in (q, v, tau)]
    generic.compiled("forward_dynamics")(handle.address, *states, np.zeros((0, 1)), out)
    x, tree = handle.work, handle.tree
    for i in reversed(range(len(tree.parent))):
        S = x.C[i] if tree.motion[i] == SLIDE else x.A[i]
        scale = S[0] + S[3] + S[5]
        small = not scale > 0 if tree.motion[i] == BALL else not scale * x.D[i, 0] < generic.SINGULAR
        if small:
            name = m.speed_names[tree.vi[i]]
            joint = next(j for j in m.mechanism.moving if name in j.speed_names)
            why = (f"body {joint.child!r} and what it carries have no inertia about it" if joint.nv == 1 or not scale > 0
                   else "its axes have come into one line (gimbal lock); a ball joint has no such place")  # fmt: skip
            raise SingularError(
                f"forward dynamics: coordinate {name!r} of joint {joint.name!r} cannot be accelerated by a finite force{at}: {why}",
                where=name,
            )


def _singular_matrix(m: Machine, q: Array, at: str) -> None:
    """The same by the mass matrix: raise where a motion has no inertia, and name the speed that has the largest part in it."""
    M = m.mass_matrix(q)
    size = np.sqrt(np.abs(np.diag(M)))
    size[size == 0.0] = 1.0
    values, vectors = np.linalg.eigh(M / np.outer(size, size))
    if values[0] < 1e-12:
        name = m.speed_names[int(np.argmax(np.abs(vectors[:, 0])))]
        raise SingularError(f"forward dynamics: {name!r} cannot be accelerated by a finite force{at}: nothing it moves has inertia", where=name)


def place_in(lead: tuple[int, ...], k: int) -> str:
    """Where the k-th state of a batch stands, in words; nothing for one state."""
    return f" at {tuple(int(i) for i in np.unravel_index(k, lead))} of the batch" if lead else ""
