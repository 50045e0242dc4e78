"""Beams: bodies that bend, stretch and twist. Records only, as in `mechanism.py`;
`catena.model.flexible` makes them move.

A beam lies on the x axis of its body, straight and without stress from x = 0 to x = length. Its
sections stay plane and square to it (Euler and Bernoulli): no shear. A stiffness left out is
infinite.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .pose import Scalar, function, scalar

# bending along y (about z), bending along z (about y), stretching, turning about x
DIRECTIONS = ("y", "z", "x", "twist")
CLAMPED_FREE = 1.8751040687119611  # first root of cosh(b) cos(b) = -1


@dataclass(frozen=True)
class Beam:
    """A uniform beam along x, by `segments` (rigid pieces and springs) or by `modes` (shapes with
    amplitudes).

    length: m. rhoA: mass per length, kg/m. EI: bending stiffness, N m2, as a pair (along y, along
    z), None where it does not bend; one value bends in the plane of a planar mechanism, else in
    both planes alike. EA: N, or None: it keeps its length. GJ: N m2, or None: it does not twist.
    rhoJ: polar mass moment of inertia per length, kg m; half of it belongs to each bending plane.
    damping: ratio of the first mode of each kind, clamped at x = 0.

    segments: how many. modes: how many along y (and z), or a table of y, z, x, twist. ends, shapes,
    stiffening are for modes: how it is held, such as "clamped-free", or "craig-bampton" where it
    carries something at its tip; shapes of your own in place of those; whether tension stiffens it.

    >>> Beam(length=4, rhoA=0.8, EI=900, segments=20).EI
    900.0
    """

    length: Scalar
    rhoA: Scalar
    EI: Any = None
    EA: Scalar = None
    GJ: Scalar = None
    rhoJ: Scalar = 0.0
    damping: Scalar = 0.0
    modes: Any = None
    segments: int | None = None
    ends: str = "clamped-free"
    shapes: Any = None
    stiffening: bool = True

    def __post_init__(self) -> None:
        for attribute in ("length", "rhoA", "EA", "GJ", "rhoJ", "damping"):
            object.__setattr__(self, attribute, _number(getattr(self, attribute)))
        pair = isinstance(self.EI, Sequence) and not isinstance(self.EI, str)
        object.__setattr__(
            self, "EI", tuple(_number(x) for x in self.EI) if pair else _number(self.EI)
        )
        if isinstance(self.modes, Mapping):
            object.__setattr__(self, "modes", tuple(self.modes.items()))  # a record is hashable
        if isinstance(self.shapes, Mapping):
            object.__setattr__(
                self, "shapes", tuple((name, _listed(given)) for name, given in self.shapes.items())
            )
        else:
            object.__setattr__(self, "shapes", _listed(self.shapes))

    def rigid(self) -> tuple[Scalar, tuple[Scalar, ...], tuple[Scalar, ...]]:
        """Mass (kg), centre of mass (m) and inertia about it (kg m2, six values) of the beam as a
        straight rod.
        """
        try:
            return rod(self.rhoA, self.rhoJ, self.length)
        except TypeError:  # not numbers: validate() says so
            return 1.0, (0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 1.0, 0.0, 1.0)

    @property
    def planes(self) -> tuple[Scalar, Scalar]:
        """EI along y and along z, N m2; one value stands for both."""
        return self.EI if isinstance(self.EI, tuple) else (self.EI, self.EI)

    @property
    def stiffness(self) -> dict[str, Scalar]:
        """{direction: EI, EI, EA and GJ}, N m2 or N; None where it is rigid."""
        return dict(zip(DIRECTIONS, (*self.planes, self.EA, self.GJ)))

    def lag(self, direction: str) -> Scalar:
        """Damping over stiffness, s: 2 zeta / omega, omega the first frequency of that direction,
        clamped at x = 0.
        """
        if self.damping == 0.0:
            return 0.0
        wave = (
            CLAMPED_FREE**2 / self.length**2
            if direction in ("y", "z")
            else math.pi / 2 / self.length
        )
        inertia = self.rhoJ if direction == "twist" else self.rhoA
        return 2 * self.damping / (wave * function("sqrt", self.stiffness[direction] / inertia))

    @property
    def counts(self) -> dict[str, int]:
        """How many modes along y and z, in x and in twist: those of a table, or the same number
        wherever it bends.
        """
        if isinstance(self.modes, int):
            return {name: self.modes for name, EI in zip(DIRECTIONS, self.planes) if EI is not None}
        return dict(self.modes or ())


@dataclass(frozen=True)
class Flexed:
    """What a flexible body became: the names of the bodies, joints, frames and loads that stand for
    it, root to tip.

    body: its name. beam: as it was given. shapes: the body's own, as they were given. stations: x
    of the origin of each of the bodies along the straight beam, m. frames: those that were made,
    such as the tip's. modal: its shapes and their mass integrals
    (`catena.model.flexible.modes.Modal`), where it is made of modes.
    """

    body: str
    beam: Beam
    shapes: tuple[Any, ...] = ()
    bodies: tuple[str, ...] = ()
    stations: tuple[Scalar, ...] = ()
    joints: tuple[str, ...] = ()
    frames: tuple[str, ...] = ()
    loads: tuple[str, ...] = ()
    modal: Any = field(default=None, compare=False, repr=False)


def rod(
    rhoA: Scalar, rhoJ: Scalar, length: Scalar
) -> tuple[Scalar, tuple[Scalar, ...], tuple[Scalar, ...]]:
    """Mass (kg), centre of mass (m) and inertia about it (kg m2, six values) of a straight piece
    along x.
    """
    m, J = rhoA * length, rhoJ * length
    across = m * length * length / 12 + J / 2
    return m, (length / 2, 0.0, 0.0), (J, 0.0, 0.0, across, 0.0, across)


def _listed(x: Any) -> Any:
    """A list as a tuple, anything else as it is."""
    return tuple(x) if isinstance(x, Sequence) and not isinstance(x, str) else x


def _number(x: Any) -> Any:
    """A scalar where it can be one; otherwise as given, for validate() to refuse by the body's
    name.
    """
    try:
        return x if x is None or isinstance(x, bool) else scalar(x)
    except (TypeError, ValueError):
        return x
