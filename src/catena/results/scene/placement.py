"""Placement: the poses of all bodies for one configuration or many, by the kinematic pass with
arrays as scalars.

Nothing is compiled, and all bodies come from one pass, so that a drawing of a hundred bodies
follows the mouse.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping

import numpy as np

from ...kernels import Layout, Lift, Work, kinematics, layout
from ...model import GROUND, Mechanism, Scalar, value_of

Array = np.ndarray
CACHED_PLACEMENTS = 16  # the number of placements in the cache


class Scalars(np.ndarray):
    """One scalar for each of many configurations, with the operations that the kernels use."""

    def sin(self) -> Array:
        """Return the sine of each scalar."""
        return np.sin(self)

    def cos(self) -> Array:
        """Return the cosine of each scalar."""
        return np.cos(self)


class Placement:
    """The poses of the bodies of a mechanism at some parameter values."""

    def __init__(self, laid_out: Layout, parameters: Mapping[str, float]):
        self.layout, self.parameters = laid_out, parameters
        self.tree = laid_out.tree(self.value)
        m = laid_out.mechanism
        self.seats = {b.name: laid_out.seat(b.name) for b in m.bodies}

    def value(self, x: Scalar) -> float:
        """Return the number of a scalar."""
        return x if isinstance(x, float) else float(value_of(x, self.parameters))

    def at(self, q: Array) -> dict[str, Array]:
        """Return {body: (..., 4, 4)} at coordinates q (..., nq), the ground included."""
        lead = q.shape[:-1]
        flat = [
            column.view(Scalars)
            for column in np.ascontiguousarray(q.reshape(int(np.prod(lead)), q.shape[-1]).T)
        ]
        x = Work.empty(len(self.layout.nodes), object)
        kinematics.poses(self.tree, Lift(self.layout, self.value, flat).q, x)
        found = {GROUND: np.broadcast_to(np.eye(4), (*lead, 4, 4))}
        for name, seat in self.seats.items():
            R = [[self.value(y) for y in row] for row in seat.pose.rotation]
            R_WB, p = kinematics.frame_pose(
                seat.node, R, [self.value(y) for y in seat.pose.position], x
            )
            X = np.zeros((int(np.prod(lead)), 4, 4))
            for i in range(3):
                X[:, i, 3] = p[i]
                for j in range(3):
                    X[:, i, j] = R_WB[i][j]
            X[:, 3, 3] = 1.0
            found[name] = X.reshape(*lead, 4, 4)
        return found


_cache: OrderedDict[tuple[int, tuple[float, ...]], Placement] = OrderedDict()


def placement(m: Mechanism, parameters: Array | None = None) -> Placement:
    """Return the placement of a mechanism at its own parameters or at others, from a cache after
    the first call.
    """
    values = (
        m.parameters
        if parameters is None
        else dict(zip(m.parameters, np.asarray(parameters, float).tolist()))
    )
    laid_out = layout(m)
    key = (id(laid_out), tuple(values.values()))
    if key not in _cache:
        _cache[key] = Placement(laid_out, values)
        while len(_cache) > CACHED_PLACEMENTS:
            _cache.popitem(last=False)
    return _cache[key]
