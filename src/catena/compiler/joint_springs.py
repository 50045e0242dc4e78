"""Joint springs in generic kernels: they are linear in the coordinates and speeds, so that arrays
describe them.

    tau' = tau - k (q - rest) - c v        before the articulated-body pass, at the speeds that have
                                           a spring
    V' = V + 1/2 k (q - rest)^2

Other loads are known as expressions only and are compiled as tapes (`load_expressions`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..kernels import Layout
from ..model import Mechanism, Scalar, value_of

Array = np.ndarray
# where springs enter a quantity: into tau, out of the result, into V
BEFORE, AFTER, ENERGY = "before", "after", "energy"


class Springs:
    """The joint springs of a mechanism. speed, coordinate: their indices, one entry per spring; k,
    rest, c: their values.
    """

    def __init__(self, layout: Layout):
        m = layout.mechanism
        q, v = (
            {n: i for i, n in enumerate(names)} for names in (m.coordinate_names, m.speed_names)
        )
        found = [_led(m, *x) for load in m.loads if (x := load.linear())]
        self.coordinate: Array = np.array([q[name] for name, *_ in found], np.int64)
        self.speed: Array = np.array([v[name] for name, *_ in found], np.int64)
        rows = [[value_of(x, m.parameters) for x in numbers] for _, *numbers in found]
        self.k, self.rest, self.c = np.ascontiguousarray(np.array(rows, float).reshape(-1, 3).T)
        self._shapes, self._still = ((layout.nq,), (layout.nv,), (layout.nv,)), np.zeros(layout.nv)

    def pushed(self, q: Array, v: Array, tau: Array, sign: float = 1.0) -> Array:
        """Return tau (..., nv) with the forces of the springs added (sign 1) or subtracted (-1)."""
        out = np.array(tau, float)
        pull = sign * (self.k * (q[..., self.coordinate] - self.rest) + self.c * v[..., self.speed])
        np.subtract.at(out.T, self.speed, pull.T)  # several springs may act on one speed
        return out

    def energy(self, q: Array) -> Array:
        """Return the energy stored in the springs, (...), J."""
        return 0.5 * (self.k * (q[..., self.coordinate] - self.rest) ** 2).sum(axis=-1)

    # --- around kernels
    def around(self, kernel: Callable[[Any], Array], request: Any) -> Array:
        """Return the results of a generic kernel for a request over many states, with the springs
        included.
        """
        enter = request.quantity.springs
        states = request.states
        if enter == BEFORE:
            q, v, tau = states
            return kernel(request._replace(states=(q, v, self.pushed(q, v, tau))))
        out = kernel(request)
        if enter == AFTER:
            q = states[0]
            v = states[1] if len(states) > 1 else np.zeros_like(out)
            return self.pushed(q, v, out, -1.0)
        if enter == ENERGY:
            out[:, 1] += self.energy(states[0])
        return out

    def one(
        self, enter: str, bind: Callable[..., Callable[..., Any]], rest: Callable[..., Any]
    ) -> Callable[..., Any]:
        """Return a function for one state, with the springs included. bind: makes the function of
        the kernel; rest: the fallback for arguments that it cannot handle.
        """
        if enter not in (BEFORE, AFTER):
            return bind(rest)
        # its own arguments have the springs' forces in them: the others' answer is not its answer
        kernel = bind(_unanswered)

        def call(*given: Any) -> Any:
            if not all(
                type(x) is np.ndarray and x.shape == shape and x.dtype == float
                for x, shape in zip(given[:-1], self._shapes)
            ):
                return rest(*given)
            q = given[0]
            v = given[1] if len(given) > 2 else self._still
            if enter == BEFORE:
                found = kernel(q, v, self.pushed(q, v, given[2]), given[-1])
            else:
                found = kernel(*given)
                found = None if found is None else self.pushed(q, v, found, -1.0)
            return rest(*given) if found is None else found

        return call


def _unanswered(*_: Any) -> None:
    """Return None, which means that the kernel could not handle a state."""


def springs(layout: Layout) -> Springs | None:
    """Return the springs of a mechanism whose loads are all linear in one coordinate; None where
    there are other loads, or speed rows, or no load.
    """
    m = layout.mechanism
    curved = {
        name
        for name, x in m.following.items()
        if x.function is not None or not value_of(x.multiplier, m.parameters)
    }
    only = (
        bool(m.loads)
        and all((x := load.linear()) and x[0] not in curved for load in m.loads)
        and not m.row_records
    )
    return Springs(layout) if only else None


def _led(
    m: Mechanism, name: str, k: Scalar, rest: Scalar, c: Scalar
) -> tuple[str, Scalar, Scalar, Scalar]:
    """Return the spring of a joint that follows another, y = r q + b, as a spring of the leading
    joint: k r^2 (q - (rest - b) / r).
    """
    if name not in m.following:
        return name, k, rest, c
    mimic = m.following[name]
    r = mimic.multiplier
    return mimic.joint, k * r * r, (rest - mimic.offset) / r, c * r * r
