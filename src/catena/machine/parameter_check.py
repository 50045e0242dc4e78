"""Checks of parameter values: the mass and inertia of a body must be physically possible, and
coefficients of losses must not be negative.

A mechanism is checked at its own parameters when it is compiled. Here the same rules are applied to
the parameters of a call, for whole batches.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import StateError
from ..model import Body, Mechanism, evaluate, impossible_inertia

Array = NDArray[np.float64]
# Tolerance on the triangle inequality of principal moments, relative to the largest entry of the
# inertia, as in `impossible_inertia`.
INERTIA_TOLERANCE = 1e-6


class ParameterCheck:
    """The rules for those scalars of one mechanism that depend on parameters."""

    def __init__(self, mechanism: Mechanism):
        self.names = tuple(mechanism.parameters)
        self.positive = [(where, x) for where, x in _zero_or_more(mechanism) if _depends(x)]
        rigid = [b for b in mechanism.bodies if b.flexible is None and not mechanism.as_found]
        self.bodies = [b for b in rigid if any(map(_depends, b.inertia))]
        self._passed: bytes = b""

    def __call__(self, values: Array) -> None:
        """Raise a StateError where values (..., count) make a mass negative or an inertia
        impossible, or are not finite.
        """
        seen = values.tobytes() if values.size <= len(self.names) else b""
        if seen and seen == self._passed:
            return
        table = {name: values[..., k] for k, name in enumerate(self.names)}
        self._finite(values)
        for where, x in self.positive:
            found = np.asarray(evaluate(x, table), float)
            if not (found >= 0.0).all():
                worst = int(np.argmin(np.where(np.isnan(found), -np.inf, found)))
                raise StateError(
                    f"parameters: {where} is {found.flat[worst]:g}{_at(table, worst)}; it is zero"
                    " or more"
                )
        for body in self.bodies:
            self._inertia(body, table)
        self._passed = seen

    def _finite(self, values: Array) -> None:
        bad = ~np.isfinite(values)
        if bad.any():
            *_, k = np.argwhere(bad)[0]
            raise StateError(
                f"parameters: {self.names[k]!r} is {values[bad][0]}; it takes a finite number"
            )

    def _inertia(self, body: Body, table: Mapping[str, Array]) -> None:
        parts = np.broadcast_arrays(*(np.asarray(evaluate(x, table), float) for x in body.inertia))
        I = np.stack(parts, axis=-1).reshape(-1, 6)
        size = np.maximum(np.abs(I).max(axis=-1, keepdims=True), 1e-12)
        turned = (I / size)[:, [0, 1, 2, 1, 3, 4, 2, 4, 5]].reshape(-1, 3, 3)
        principal = not I[:, [1, 2, 4]].any()  # its axes are the body's own
        moments = (
            np.sort(np.diagonal(turned, axis1=1, axis2=2))
            if principal
            else np.linalg.eigvalsh(turned)
        )
        bad = (moments[:, 0] < -INERTIA_TOLERANCE) | (
            moments[:, 0] + moments[:, 1] < moments[:, 2] - INERTIA_TOLERANCE
        )
        if bad.any():
            k = int(bad.argmax())
            raise StateError(
                f"parameters: body {body.name!r}{_at(table, k)}:"
                f" {impossible_inertia(I[k].tolist())}"
            )


def _zero_or_more(m: Mechanism) -> Iterator[tuple[str, Any]]:
    """Yield the scalars that must not be negative, each with its name for messages."""
    for b in m.bodies:
        if b.flexible is None:
            yield f"the mass of body {b.name!r} (kg)", b.mass
    for j in (*m.joints, *m.loops):
        for attribute in ("damping", "friction", "armature"):
            given = getattr(j, attribute)
            for x in given if isinstance(given, tuple) else (given,):
                yield f"the {attribute} of joint {j.name!r}", x


def _depends(x: Any) -> bool:
    return not isinstance(x, (int, float)) and bool(x.free_symbols)


def _at(table: Mapping[str, Array], k: int) -> str:
    """Return a phrase with the values of the parameters of state k, for messages."""
    values = {name: x.flat[k] if x.size > k else x.flat[0] for name, x in table.items()}
    return " where " + ", ".join(f"{name} = {x:g}" for name, x in list(values.items())[:6])
