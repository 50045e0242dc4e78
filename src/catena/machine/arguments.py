"""Checks of the arguments of a Machine: states, external wrenches, parameters, frames.

Every function takes an object with a `spec`: a Machine, or the Spec itself.
"""

from __future__ import annotations

import numbers as numeric
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..compiler import UNIT
from ..errors import StateError, UnknownNameError
from .quantities import Quantity
from .spec import Spec

Array = NDArray[np.float64]
AXES = ("world", "body")
Wrenches = Mapping[Any, ArrayLike]  # frame, or (frame, "world") or (frame, "body"), to (..., 6)
# by name, or (..., count) in the order of `parameter_names`
Parameters = Mapping[str, ArrayLike] | ArrayLike


class Specified(Protocol):
    """A Machine or a Spec: an object that has a `spec`."""

    @property
    def spec(self) -> Spec:
        """The mechanism and the options of the machine."""
        ...


def threads(n: int | None) -> int | None:
    """Return the requested number of threads, or None. Raise a StateError where it is not a
    positive integer.
    """
    if n is not None and (not isinstance(n, (int, np.integer)) or isinstance(n, bool) or n < 1):
        raise StateError(
            f"threads is {n!r}; it is a whole number from 1 on, or None for one per core"
        )
    return n


def array(m: Specified, quantity: str, name: str, x: ArrayLike) -> Array:
    """Return an argument as doubles. Raise a StateError where its last size is wrong, or a
    quaternion does not have length one.
    """
    spec = m.spec
    size, names = (
        (spec.sizes.nq, spec.coordinate_names) if name == "q" else (spec.sizes.nv, spec.speed_names)
    )
    array = numbers(quantity, name, x)
    if array.ndim == 0 or array.shape[-1] != size:
        shown = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
        raise StateError(
            f"{quantity}: {name} has shape {array.shape}; its last size is {size} for mechanism "
            f"{spec.mechanism.name!r} ({shown}), and any leading sizes are a batch"
        )
    if name == "q":
        for k in spec.quaternions:
            _unit(spec, quantity, k, array)
    return array


def _unit(spec: Spec, quantity: str, k: int, q: Array) -> None:
    """Raise a StateError where the quaternion at entry k does not have length one."""
    length = np.einsum("...i,...i->...", q[..., k : k + 4], q[..., k : k + 4])
    worst = np.abs(length - 1.0)
    if not (worst < UNIT).all() and np.isfinite(q).all():
        at = place_in(worst.shape, int(worst.argmax()))
        raise StateError(
            f"{quantity}: the quaternion at {spec.coordinate_names[k]!r}{at} has length"
            f" {np.sqrt(length.flat[worst.argmax()]):.6g}; a rotation has length 1: divide by it, w"
            " first"
        )


def numbers(quantity: str, name: str, x: ArrayLike) -> Array:
    """Return an argument as doubles. Raise a StateError where it is not an array of real numbers,
    such as strings, dates or masked arrays.
    """
    if type(x) is np.ndarray and x.dtype == np.float64:
        return x
    detail = ""
    try:
        array = np.asarray(x)
        # NumPy loads the latter when it is named
        if isinstance(x, np.ndarray) and isinstance(x, np.ma.MaskedArray):
            detail = " (some of its entries may be masked)"
        elif array.dtype.kind in "fiub" or (
            array.dtype.kind == "O" and all(isinstance(y, numeric.Real) for y in array.flat)
        ):
            return np.asarray(array, dtype=np.float64)
        elif array.size:
            detail = f" (it has {array.flat[0]!r})"
    except (TypeError, ValueError):
        pass
    raise StateError(
        f"{quantity}: {name} is a {type(x).__name__} that is not an array of real numbers{detail};"
        " convert it first"
    ) from None


def batch(quantity: str, given: Mapping[str, Array | None]) -> tuple[int, ...]:
    """Return the leading shape of all arguments, broadcast against each other."""
    known = {name: x.shape[:-1] for name, x in given.items() if x is not None}
    first, *others = known.values()
    if all(lead == first for lead in others):
        return first
    try:
        return np.broadcast_shapes(*known.values())
    except ValueError:
        shown = ", ".join(f"{name} {lead}" for name, lead in known.items() if lead)
        raise StateError(
            f"{quantity}: the batches do not fit together: {shown}; leading sizes are equal, or 1,"
            " or left out"
        ) from None


def check_frame(spec: Spec, quantity: Quantity, which: tuple[str, ...]) -> None:
    """Raise an error where a quantity needs a frame or axes that are missing or unknown."""
    wanted = quantity.frame + quantity.axes
    if len(which) != wanted:
        takes = ("no frame", "a frame", 'a frame, then axes "world" or "body"')[wanted]
        raise StateError(
            f"{quantity.name} takes {takes}; found {', '.join(map(repr, which)) or 'none'}"
        )
    if which:
        spec.mechanism.frame(which[0])
    if len(which) > 1 and which[1] not in AXES:
        raise UnknownNameError("axes", which[1], AXES, f"{quantity.name} of {which[0]!r}")


def wrenches(
    m: Specified, quantity: str, wrenches: Wrenches | None
) -> tuple[tuple[tuple[str, str], ...], Array | None]:
    """Return the (frame, axes) keys of the external wrenches, and their components side by side,
    (..., 6 k).
    """
    if wrenches is None:
        return (), None
    if not isinstance(wrenches, Mapping):
        raise StateError(
            f"{quantity}: wrenches is a {type(wrenches).__name__}; give a mapping of frame to"
            " (..., 6)"
        )
    if not wrenches:
        return (), None
    keys, parts = [], []
    for key, value in wrenches.items():
        if isinstance(key, tuple) and len(key) != 2:
            raise StateError(
                f"{quantity}: a wrench is given at {key!r}; it is given at a frame, or at (frame,"
                " 'world')"
            )
        frame, axes = key if isinstance(key, tuple) else (key, "body")
        m.spec.mechanism.frame(frame)
        if axes not in AXES:
            raise UnknownNameError("axes", axes, AXES, f"wrench at {frame!r}")
        w = numbers(quantity, f"the wrench at {frame!r}", value)
        if w.ndim == 0 or w.shape[-1] != 6:
            raise StateError(
                f"{quantity}: the wrench at {frame!r} has shape {w.shape}; it is (..., 6), torque"
                " first"
            )
        keys.append((frame, axes))
        parts.append(w)
    lead = batch(f"{quantity}, wrenches", {str(key[0]): w for key, w in zip(keys, parts)})
    return tuple(keys), np.concatenate([np.broadcast_to(w, (*lead, 6)) for w in parts], axis=-1)


def parameters(m: Specified, parameters: Parameters | None) -> Array | None:
    """Return the values of the parameters (..., count), with the mechanism's own for those not
    given. Raise where a value is not finite, or gives a body an impossible mass or inertia.
    """
    values = None if parameters is None else _values(m.spec, parameters)
    if values is not None:
        m.spec.parameter_check(values)
    return values


def _values(spec: Spec, parameters: Parameters) -> Array | None:
    """Return the values of the parameters (..., count) of a mapping or an array; None where there
    are none.
    """
    names = spec.parameter_names
    if not isinstance(parameters, Mapping):
        array = numbers("parameters", "the array", parameters)
        if array.ndim and array.shape[-1] == len(names):
            return array if names else None
        raise StateError(
            f"parameters has shape {array.shape}; its last size is {len(names)}, one for each of:"
            f" {', '.join(names) or 'none'}"
        )
    for name in parameters:
        if name not in names:
            raise UnknownNameError("parameter", name, names, f"mechanism {spec.mechanism.name!r}")
    values = [
        numbers("parameters", n, parameters.get(n, spec.mechanism.parameters[n])) for n in names
    ]
    if not values:
        return None
    batch("parameters", {n: x[..., None] for n, x in zip(names, values)})
    return np.stack(np.broadcast_arrays(*values), axis=-1)


def place_in(lead: tuple[int, ...], k: int) -> str:
    """Return a phrase such as " at (0, 3) of the batch" for the k-th state of a batch, for
    messages; "" for a single state.
    """
    return f" at {tuple(int(i) for i in np.unravel_index(k, lead))} of the batch" if lead else ""
