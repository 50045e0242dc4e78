"""Contacts: pairs that may touch, with their laws of friction and impact. Frozen records; nothing
here moves.

    [[contact]]
    between = ["foot", "ground"]
    friction = 0.6
    restitution = 0.2

The first of `between` is what touches, one name or a list of names: a body (its shapes that
collide), a group of bodies, or a frame, which is a point, or with `radius` a sphere about the
frame's origin. The second is the surface: the ground, a body with shapes that collide, or a frame.
A frame is a half-space below its x-y plane with z the outward normal, unless `surface` says
otherwise. `collision.contact_points` makes the pairs of these.

    plane    the half-space z <= 0 of the frame
    sphere   a ball of `surface_radius` about the frame
    bowl     the inside of such a sphere
    trough   the inside of a cylinder along the frame's z
    hole     a round hole along z, whose radius exceeds that of the pin in it by `clearance`
    guide    two walls parallel to the x-y plane, with `clearance` between each of them and what
             slides
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import MechanismError
from .impact_laws import IMPACT_LAWS
from .pose import require_texts

# the allowed values of `impacts`, `paradox` and `surface`
ORDERS = ("simultaneous", "sequential")
PARADOX = ("stop", "impact")
SURFACES = ("plane", "sphere", "bowl", "trough", "hole", "guide")
SURFACES_WITH_CLEARANCE = ("hole", "guide")


@dataclass(frozen=True)
class Contact:
    """A pair that may touch, with its friction and its law of impact.

    Parameters
    ----------
    between : (str or sequence of str, str)
        What touches (bodies, groups of bodies, or frames), and the surface: "ground", a body, or a
        frame.
    friction : float or (float, float)
        Coulomb's coefficient, or (static, kinetic) with static >= kinetic.
    restitution : float
        The coefficient of restitution, 0 (plastic) to 1.
    law : str, default "newton"
        The law of impact: "newton", "poisson", "routh_poisson", "routh_newton" or "routh_stronge"
        (`catena.model.impact_laws`).
    impacts : str, default "simultaneous"
        How several impacts at one instant are treated: "simultaneous" or "sequential".
    paradox : str, default "stop"
        What happens where rigid bodies with friction have no motion, or several: "stop" ends the
        run with an error, "impact" applies an impact without collision.
    radius : float, optional
        The radius of the sphere about each frame that touches, m; with a hole or guide that of the
        pin, or half the height of what slides.
    surface : str, optional
        What the second is where it is a frame: "plane", "sphere", "bowl", "trough", "hole" or
        "guide".
    surface_radius : float, default 0
        The radius of a sphere, bowl or trough, m.
    clearance : float, default 0
        The play of a "hole" or a "guide": how far what is in its middle may move, m.
    name : str, optional
        The name in results; by default the names of `between`.

    Raises
    ------
    MechanismError
        Where a value is not allowed; all faults of the contact are in one error.

    Examples
    --------
    >>> Contact(("foot", "ground"), friction=0.6, restitution=0.2).name
    'foot-ground'
    """

    between: Any
    friction: Any
    restitution: float
    law: str = "newton"
    impacts: str = "simultaneous"
    paradox: str = "stop"
    radius: float | None = None
    surface: str = ""
    surface_radius: float = 0.0
    clearance: float = 0.0
    name: str = ""

    def __post_init__(self) -> None:
        pair = self.between
        if (
            not isinstance(pair, tuple | list)
            or len(pair) != 2
            or not all(_names(x) for x in pair)
            or not isinstance(pair[1], str)
        ):
            raise MechanismError(
                f"a contact is between {pair!r}; it takes what touches, a name or a list of them,"
                " and a surface"
            )
        object.__setattr__(self, "between", (_names(pair[0]), pair[1]))
        require_texts("contact", self, "name", "surface")
        object.__setattr__(self, "name", self.name or f"{', '.join(self.between[0])}-{pair[1]}")
        for field in ("friction", "restitution", "radius", "surface_radius", "clearance"):
            object.__setattr__(self, field, _plain(getattr(self, field)))
        both = (
            self.friction
            if isinstance(self.friction, (tuple, list))
            else (self.friction, self.friction)
        )
        object.__setattr__(self, "friction", tuple(_plain(x) for x in both))
        if faults := list(self._faults()):
            raise MechanismError(f"contact {self.name!r}: {'; '.join(faults)}")

    def _faults(self) -> Iterator[str]:
        """Yield a sentence for each value that is not allowed."""
        if len(self.friction) != 2 or not all(_number(x) and x >= 0.0 for x in self.friction):
            yield (
                f"friction is {_shown(self.friction)}; it is a coefficient of zero or more, or two:"
                " static, kinetic"
            )
        elif self.friction[0] < self.friction[1]:
            yield (
                f"its static friction {self.friction[0]:g} is below its kinetic friction"
                f" {self.friction[1]:g}"
            )
        if not _number(self.restitution) or not 0.0 <= self.restitution <= 1.0:
            yield f"restitution is {self.restitution!r}; it lies between 0 and 1"
        for what, given, known in (
            ("law", self.law, IMPACT_LAWS),
            ("impacts", self.impacts, ORDERS),
            ("paradox", self.paradox, PARADOX),
        ):
            if not isinstance(given, str) or given not in known:
                yield f"{what} is {given!r}; it is one of {', '.join(known)}"
        if self.surface and self.surface not in SURFACES:
            yield f"surface is {self.surface!r}; it is one of {', '.join(SURFACES)}"
        if self.radius is not None and not (_number(self.radius) and self.radius >= 0.0):
            yield f"radius is {self.radius!r}; it is zero or more, m"
        if self.surface in SURFACES_WITH_CLEARANCE and not (
            _number(self.clearance) and self.clearance > 0.0
        ):
            yield f"clearance is {self.clearance!r}; a {self.surface} has one above zero, m"
        if self.surface in SURFACES_WITH_CLEARANCE and self.radius is None:
            yield (
                f"a {self.surface} needs radius: of the pin, or half the height of what slides; 0"
                " for a point"
            )
        if self.surface not in SURFACES_WITH_CLEARANCE and self.clearance:
            yield (
                f"clearance is {self.clearance}; only a surface that is a"
                f" {' or a '.join(SURFACES_WITH_CLEARANCE)} has one"
            )
        if self.surface not in ("", "plane", *SURFACES_WITH_CLEARANCE) and not (
            _number(self.surface_radius) and self.surface_radius > 0.0
        ):
            yield (
                f"surface_radius is {self.surface_radius!r}; a {self.surface} has one above zero, m"
            )

    @property
    def static(self) -> float:
        """The coefficient of static friction, of a contact that sticks."""
        return float(self.friction[0])

    @property
    def kinetic(self) -> float:
        """The coefficient of kinetic friction, of a contact that slips."""
        return float(self.friction[1])


def _names(x: Any) -> tuple[str, ...]:
    """Return one name, or several, as a tuple; an empty tuple where x is neither."""
    found = (x,) if isinstance(x, str) else tuple(x) if isinstance(x, (tuple, list)) else ()
    return found if all(isinstance(name, str) and name for name in found) else ()


def _number(x: Any) -> bool:
    """Whether x is a finite number and no bool."""
    return isinstance(x, (int, float)) and not isinstance(x, bool) and abs(x) < float("inf")


def _plain(x: Any) -> Any:
    """Return a NumPy scalar or array as Python numbers, and any other object unchanged."""
    return x.tolist() if isinstance(x, (np.generic, np.ndarray)) else x


def _shown(friction: tuple[Any, ...]) -> str:
    """Return the friction in the form in which it was given (one value or both), for an error
    message.
    """
    return repr(friction[0]) if len(friction) == 2 and friction[0] is friction[1] else str(friction)
