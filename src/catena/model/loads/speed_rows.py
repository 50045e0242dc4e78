"""Speed rows: knife edges, rolling discs, and rows written as expressions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ...spatial import dot, rotate, scale, sub
from ..expression_functions import apply
from ..motions import X, Y, Z
from ..pose import Matrix, Scalar, Vector
from .keys import DIRECTION, FRAME, Key, Nonholonomic, doc, number, register


@register
@dataclass(frozen=True)
class KnifeEdge(Nonholonomic):
    """The origin of a frame has no velocity along `direction`, an axis of the frame: a skate, the
    side of a thin wheel.

    Parameters
    ----------
    name : str
        The name of the constraint.
    frame : str
        The frame whose origin does not slip.
    direction : 3 floats
        The direction without velocity, in the frame's axes; stored with length one.

    Examples
    --------
    >>> KnifeEdge("skate", "blade", (0, 2, 0)).direction
    (0.0, 1.0, 0.0)
    """

    kind = "knife_edge"
    labels = ("sideways velocity",)
    frame: str = field(metadata=FRAME | doc("whose origin does not slip"))
    direction: Vector = field(metadata=DIRECTION | doc("in the frame's axes, without velocity"))

    def contact(
        self, R: Matrix, value: Callable[[Scalar], Scalar]
    ) -> tuple[Vector, tuple[Vector, ...]]:
        """Return the frame's origin as the point, and `direction` in the ground's axes."""
        return (0.0, 0.0, 0.0), (rotate(R, self.direction),)


@register
@dataclass(frozen=True)
class Rolling(Nonholonomic):
    """A thin disc rolls without slipping on a plane through the ground's origin.

    Three rows say that the point of the disc that touches the plane has no velocity.

    Parameters
    ----------
    name : str
        The name of the constraint.
    frame : str
        A frame at the centre of the disc.
    radius : scalar
        m.
    axis : 3 floats, default (0, 1, 0)
        The axis of the disc, in the frame's axes.
    normal : 3 floats, default (0, 0, 1)
        The normal of the plane, in the ground's axes.

    Examples
    --------
    >>> Rolling("wheel rolls", "hub", radius=0.3).axis
    (0.0, 1.0, 0.0)
    """

    kind = "rolling"
    labels = tuple(f"contact velocity {axis}" for axis in "xyz")
    frame: str = field(metadata=FRAME | doc("at the disc's centre"))
    radius: Scalar = field(metadata=number("length", zero=False) | doc("of the disc"))
    axis: Vector = field(default=Y, metadata=DIRECTION | doc("the disc's own, in the frame's axes"))
    normal: Vector = field(
        default=Z, metadata=DIRECTION | doc("of the plane, in the ground's axes")
    )

    def contact(
        self, R: Matrix, value: Callable[[Scalar], Scalar]
    ) -> tuple[Vector, tuple[Vector, ...]]:
        """Return the lowest point of the disc from its centre, and the three axes of the ground."""
        axis = rotate(R, self.axis)
        n = self.normal
        up = sub(n, scale(dot(n, axis), axis))  # the steepest direction in the disc's plane
        return scale(-value(self.radius) / apply("sqrt", [dot(up, up)]), up), (X, Y, Z)


@register
@dataclass(frozen=True)
class SpeedRow(Nonholonomic):
    """A(q, t) v + B(q, t) = 0 as one expression, linear in the speeds v_<name>.

    Parameters
    ----------
    name : str
        The name of the constraint.
    expression : str
        A text of t, parameters, q_<coordinate> and v_<speed>.

    Examples
    --------
    >>> SpeedRow("ratio", "v_left - 2*v_right").labels
    ('v_left - 2*v_right',)
    """

    kind = "expression"
    expression: str = field(
        metadata=Key("text").of() | doc("A(q, t) v + B(q, t), linear in the speeds v_NAME")
    )

    @property
    def text(self) -> str:
        """The expression of the row."""
        return self.expression

    @property
    def labels(self) -> tuple[str, ...]:
        """The expression as the label of the one row."""
        return (self.expression,)
