"""Fluid: the forces of a medium on a body that moves in it, approximated by a box of the same
size.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from ...spatial import rotate, sub, unrotate
from ..expression_functions import apply
from ..pose import Scalar
from .keys import FRAME, Key, Load, Scene, doc, number, register


@register
@dataclass(frozen=True)
class Fluid(Load):
    """A medium around a box with sides b along the axes of a frame, its centre at the origin: along
    each axis i (j, k the others)

        f_i = -1/2 density b_j b_k |u_i| u_i - 3 pi d viscosity u_i,       d = (b_1 + b_2 + b_3) / 3
        t_i = -1/64 density b_i (b_j^4 + b_k^4) |w_i| w_i - pi d^3 viscosity w_i

    u: velocity of the frame in the stream, w: its angular velocity, both in its own axes. The first
    terms are drag of a box, the second ones Stokes' law of a ball of diameter d. It is the law by
    which MuJoCo treats bodies in its medium.
    """

    kind = "fluid"
    frame: str = field(metadata=FRAME | doc("the box's centre and axes"))
    size: tuple[Scalar, ...] = field(
        metadata=Key("numbers", ("length",) * 3).of() | doc("the box's sides along these axes")
    )
    density: Scalar = field(default=0.0, metadata=number("density") | doc("of the medium, kg/m^3"))
    viscosity: Scalar = field(
        default=0.0, metadata=number("viscosity") | doc("of the medium, Pa s")
    )
    stream: tuple[Scalar, ...] = field(
        default=(0.0, 0.0, 0.0),
        metadata=Key("numbers", ("speed",) * 3, negative=True).of()
        | doc("velocity of the medium in the ground's axes"),
    )

    def act(self, s: Scene) -> None:
        """Apply the drag against the velocity relative to the stream, axis by axis."""
        (x, y, z), b = map(s.value, self.stream), [s.value(x) for x in self.size]
        R = s.axes(self.frame)
        rho = s.value(self.density)
        mu = s.value(self.viscosity)
        d = (b[0] + b[1] + b[2]) / 3.0
        u = unrotate(R, sub(s.origin(self.frame)[1], (x, y, z)))
        w = unrotate(R, s.spin(self.frame))
        others = ((1, 2), (0, 2), (0, 1))
        force = [
            -0.5 * rho * b[j] * b[k] * _square(u[i]) - 3 * math.pi * d * mu * u[i]
            for i, (j, k) in enumerate(others)
        ]
        torque = [
            -rho * b[i] * (b[j] ** 4 + b[k] ** 4) * _square(w[i]) / 64 - math.pi * d**3 * mu * w[i]
            for i, (j, k) in enumerate(others)
        ]
        s.push(
            self.frame,
            rotate(R, (force[0], force[1], force[2])),
            rotate(R, (torque[0], torque[1], torque[2])),
        )


def _square(x: Scalar) -> Scalar:
    """Return |x| x, the square of x with the sign of x."""
    return apply("abs", [x]) * x
