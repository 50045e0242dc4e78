"""Compliant contact: a sphere that presses into a half-space, by Hunt and Crossley's law, with
smoothed Coulomb friction.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ...spatial import add, cross, dot, neg, scale, sub
from ..expression_functions import apply
from ..pose import Scalar
from .keys import FRAME, Load, Scene, doc, number, register


@register
@dataclass(frozen=True)
class CompliantContact(Load):
    """A sphere about the origin of a frame presses into a half-space below another frame's x-y
    plane ([Hunt1975]).

    The normal force is stiffness depth^exponent (1 + 3/2 damping rate), never below zero;
    stiffness: N/m^exponent, damping: s/m. With little damping, the coefficient of restitution is
    about e = 1 - damping speed, of the speed of impact. friction: Coulomb's coefficient; the
    friction force reaches its full value at slips of a few times `slip_speed` (m/s), and a contact
    that would stick creeps more slowly than that. radius: of the sphere, m; 0 is a point.
    """

    kind = "compliant_contact"
    sphere: str = field(metadata=FRAME | doc("about whose origin the sphere is"))
    surface: str = field(metadata=FRAME | doc("whose x-y plane is the surface, z outwards"))
    stiffness: Scalar = field(metadata=number("any", zero=False) | doc("N/m^exponent"))
    damping: Scalar = field(
        default=0.0,
        metadata=number("contact damping")
        | doc("s/m: about the loss of speed per speed of impact"),
    )
    exponent: Scalar = field(
        default=1.5, metadata=number("number", zero=False) | doc("of the depth")
    )
    friction: Scalar = field(default=0.0, metadata=number("number") | doc("Coulomb's coefficient"))
    slip_speed: Scalar = field(
        default=1e-3, metadata=number("speed", zero=False) | doc("slip below which friction fades")
    )
    radius: Scalar = field(
        default=0.0, metadata=number("length") | doc("of the sphere; 0 is a point")
    )

    def faults(self, parameters: Mapping[str, float]) -> Iterator[str]:
        """Yield a fault where both frames are the same."""
        if self.sphere == self.surface:
            yield f"it presses {self.sphere!r} into itself; a contact is between two frames"

    def act(self, s: Scene) -> None:
        """Apply the force at the sphere's lowest point, and the reaction on the other body
        there.
        """
        k, c, power, mu, slow, radius = map(
            s.value,
            (
                self.stiffness,
                self.damping,
                self.exponent,
                self.friction,
                self.slip_speed,
                self.radius,
            ),
        )
        (p, u), (o, w) = s.origin(self.sphere), s.origin(self.surface)
        normal = tuple(row[2] for row in s.axes(self.surface))
        arm = scale(-radius, normal)
        place = add(p, arm)
        slip = sub(
            add(u, cross(s.spin(self.sphere), arm)),
            add(w, cross(s.spin(self.surface), sub(place, o))),
        )
        rate = -dot(slip, normal)
        depth = apply("max", [radius - dot(sub(p, o), normal), 0.0])
        press = apply("max", [k * depth**power * (1.0 + 1.5 * c * rate), 0.0])
        along = add(slip, scale(rate, normal))
        drag = scale(-mu * press / apply("sqrt", [dot(along, along) + slow * slow]), along)
        force = add(scale(press, normal), drag)
        s.push(self.sphere, force, cross(arm, force))
        s.push(self.surface, neg(force), neg(cross(sub(place, o), force)))
        s.store(k * depth ** (power + 1.0) / (power + 1.0))
