"""OperatingPoint: the state about which a linear controller works, and the deviation from it.

    x = (z, w),      z = q - q* of the independent coordinates,      w = v - v* of the speeds

The deviation of a ball joint is the rotation vector from q* to q, along its speeds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ..analysis import StateSpace
from ..compiler import vector
from ..errors import StateError
from ..kernels import Layout
from ..machine import speeds_of
from ..model import Motion

Array = np.ndarray
# smaller rotations than this (rad, squared) are their own sine to the last digit
TINY_ROTATION_SQUARED = 1e-300


@dataclass(frozen=True)
class OperatingPoint:
    """A state with the names of its independent coordinates, speeds and inputs.

    q (nq,), v (nv,), tau (nv,): SI. wrap: whether angles are compared modulo one turn.
    """

    q: Array
    v: Array
    tau: Array
    coordinates: tuple[str, ...]
    speeds: tuple[str, ...]
    inputs: tuple[str, ...]
    wrap: bool = False

    @staticmethod
    def of(system: StateSpace, wrap: bool = False) -> OperatingPoint:
        """Return the operating point of a linearised mechanism."""
        return OperatingPoint(
            system.q,
            system.v,
            system.tau,
            system.coordinates,
            system.speeds,
            system.inputs,
            wrap,
        )

    def deviation(self, layout: Layout, q: Any, v: Any) -> ca.SX:
        """Return the deviation x (n,) from the operating point as an expression of q (nq,) and v
        (nv,).
        """
        return deviation(layout, self, q, v, ca.SX(self.q), ca.SX(self.v))

    def spread(self, layout: Layout, u: Any) -> ca.SX:
        """Return forces (nv,) along all speeds from those of the inputs."""
        tau = [ca.SX(0)] * layout.nv
        for name, x in zip(self.inputs, ca.vertsplit(u)):
            tau[_place(layout, name)] += x
        return vector(tau)

    def input_forces(self, layout: Layout) -> Array:
        """Return the joint forces at the point, those of the inputs only."""
        return self.tau[[_place(layout, name) for name in self.inputs]]

    def require_driven(self, question: str, layout: Layout) -> None:
        """Raise a StateError where a joint force at the point is not that of an input."""
        own = {_place(layout, name) for name in self.inputs}
        for k in np.flatnonzero(self.tau):
            if int(k) not in own:
                raise StateError(
                    f"{question}: the operating point has the force {self.tau[k]:g} along"
                    f" {layout.mechanism.speed_names[k]!r}, which is no input; inputs are"
                    f" {', '.join(self.inputs)}. Linearise with this joint among `actuated`, or"
                    " about a state that needs no force there"
                )


def deviation(
    layout: Layout, at: OperatingPoint, q: Any, v: Any, q_star: Any, v_star: Any
) -> ca.SX:
    """Return the deviation x (n,) between two states, in the coordinates and speeds of an operating
    point.
    """
    change = coordinate_change(layout, q, q_star, at.wrap)
    z = [change[_place(layout, name)] for name in at.coordinates]
    w = [v[k] - v_star[k] for k in (_place(layout, name) for name in at.speeds)]
    return vector([*z, *w])


def coordinate_change(layout: Layout, q: Any, q_star: Any, wrap: bool = False) -> list[Any]:
    """Return the change (nv,) along the speeds that leads from q_star to q."""
    found: list[Any] = [ca.SX(0)] * layout.nv
    for c in layout.coordinates:
        k, l = c.qi, c.vi
        if c.motion == Motion.BALL:
            found[l : l + 3] = _rotation(
                ca.vertsplit(q[k : k + 4]), ca.vertsplit(q_star[k : k + 4])
            )
        elif c.motion == Motion.TURN and wrap:
            e = q[k] - q_star[k]
            found[l] = ca.atan2(ca.sin(e), ca.cos(e))
        else:
            found[l] = q[k] - q_star[k]
    return found


def _rotation(b: Any, a: Any) -> list[Any]:
    """Return the rotation vector (3,) from the quaternion a to b, in the axes of a; the shorter
    way round.
    """
    w = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]
    x = a[0] * b[1] - a[1] * b[0] - a[2] * b[3] + a[3] * b[2]
    y = a[0] * b[2] - a[2] * b[0] - a[3] * b[1] + a[1] * b[3]
    z = a[0] * b[3] - a[3] * b[0] - a[1] * b[2] + a[2] * b[1]
    side = ca.if_else(w < 0.0, -1.0, 1.0)
    sine = ca.sqrt(x * x + y * y + z * z + TINY_ROTATION_SQUARED)
    factor = 2.0 * side * ca.atan2(sine, side * w) / sine
    return [factor * x, factor * y, factor * z]


def _place(layout: Layout, name: str) -> int:
    return speeds_of(layout.mechanism, name)[0]
