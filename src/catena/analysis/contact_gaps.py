"""Gaps of contact points: expressions of where a point meets its surface, and coordinates that take what penetrates apart."""

from __future__ import annotations

from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from ..compiler.trace import Tracer, elements, vector
from ..errors import ClosureError
from ..kernels.contact_points import MEETINGS, shapes_meet, tangents
from ..kernels.rank import usual_length
from ..kernels.solids import Solid
from ..machine.lookup import where
from ..machine.machine import Machine
from ..model.contact_points import ContactPoint, contact_points
from ..model.pose import Pose
from ..model.shapes import Shape
from ..spatial import add, cross, dot, rotate, scale, sub
from .assembly import damped_steps, residual

Array = np.ndarray
APART = 1e-10  # of the mechanism's length: a penetration that is none


class Meet(NamedTuple):
    """Where a point meets its surface, as expressions: gap; normal and tangents, place (3,) in the ground's axes; velocity (1,) or
    (3,) of the point against the surface along the normal and the tangents."""

    gap: Any
    axes: tuple[Any, ...]
    place: Any
    velocity: Any


def meet(s: Tracer, p: ContactPoint, rough: bool) -> Meet:
    """Of a point at the tracer's symbols; with tangents where it is rough."""
    (R_A, o_A, w_A, v_A), (R_B, o_B, w_B, v_B) = moving(s, p.body), moving(s, p.other)
    if p.shape is not None and p.against is not None:
        first, second = solid(s, p.against, R_B, o_B), solid(s, p.shape, R_A, o_A)
        gap, n, place = shapes_meet((p.against.kind, p.shape.kind), first, second)
    else:
        centre = add(o_A, rotate(R_A, tuple(s.value(x) for x in p.centre)))
        R, origin = _placed(s, p.pose, R_B, o_B)
        radius = s.value(p.radius)
        gap, n = MEETINGS[p.surface](centre, radius, R, origin, s.value(p.size))
        place = sub(centre, scale(radius, n))
    u = sub(velocity_at(place, o_A, w_A, v_A), velocity_at(place, o_B, w_B, v_B))
    axes = (n, *tangents(n)) if rough else (n,)
    return Meet(gap, axes, place, [dot(axis, u) for axis in axes])


def moving(s: Tracer, body: str) -> tuple[Any, ...]:
    """Rotation by rows, origin, angular velocity and velocity of the origin of a body, in the ground's axes."""
    if body == "ground":
        zero = (0.0, 0.0, 0.0)
        return ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)), zero, zero, zero
    X, w = s.pose(body), elements(s.frame_velocity(body, "world"))
    return [[X[i, j] for j in range(3)] for i in range(3)], [X[i, 3] for i in range(3)], w[:3], w[3:]


def _placed(s: Tracer, pose: Pose, R_B: Any, o_B: Any) -> tuple[Any, Any]:
    """Rotation by rows and origin of a pose on a body."""
    columns = [rotate(R_B, column) for column in zip(*([s.value(x) for x in row] for row in pose.rotation))]
    return list(zip(*columns)), add(o_B, rotate(R_B, tuple(s.value(x) for x in pose.position)))


def solid(s: Tracer, shape: Shape, R_B: Any, o_B: Any) -> Solid:
    """A shape of a body where it is."""
    return Solid(*_placed(s, shape.pose, R_B, o_B), tuple(s.value(x) for x in shape.size))


def velocity_at(place: Any, origin: Any, w: Any, v: Any) -> Any:
    """The velocity of a body's point at a place."""
    return add(v, cross(w, sub(place, origin)))


# ---------------------------------------------------------------------------------------------------- apart
def separated(machine: Machine, q: Array, free: list[int]) -> Array:
    """q moved along the free speeds, a little, until no contact point penetrates and every loop is closed; those that did touch."""
    points = contact_points(machine.mechanism)
    if not points:
        return q
    s = Tracer(machine.layout)
    meets = [meet(s, p, False) for p in points]
    rates = vector([m.velocity[0] for m in meets])
    gaps = ca.Function("gaps", [s.q, s.p], [vector([m.gap for m in meets]), ca.jacobian(rates, s.v)])
    values = list(machine.mechanism.parameters.values())

    def residuals(machine: Machine, q: Array) -> tuple[Array, Array]:
        gap, J = (np.array(x) for x in gaps(q, values))
        deep = gap[:, 0] < 0.0
        error, A = residual(machine, q)
        return np.concatenate([error, np.where(deep, gap[:, 0], 0.0)]), np.vstack([A, np.where(deep[:, None], J, 0.0)])

    found = damped_steps(machine, q, residuals, lambda q, pull: free)
    gap = np.array(gaps(found, values)[0])[:, 0]
    worst = int(gap.argmin())
    if gap[worst] < -APART * usual_length(machine.layout):
        p = points[worst]
        raise ClosureError(f"{where(machine)}: {p.body!r} stays {-gap[worst]:.3g} m deep in {p.other!r} (contact {p.name!r}), whatever moves; give "
                           "a better guess, or fix fewer joints", {p.name: float(-gap[worst])})  # fmt: skip
    return found
