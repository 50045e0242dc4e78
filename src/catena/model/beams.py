"""Beams: bodies that bend, stretch and twist. Records only, as in `mechanism.py`;
`catena.model.flexible` makes them move.

A beam lies on the x axis of its body, straight and without stress from x = 0 to x = length. Its
sections stay plane and perpendicular to it (Euler and Bernoulli): no shear. A stiffness left out is
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
    """A uniform beam along x, discretised by `segments` (rigid pieces and springs) or by `modes`
    (shape functions with amplitudes).

    Parameters
    ----------
    length : scalar
        m.
    rhoA : scalar
        Mass per length, kg/m.
    EI : scalar or pair of scalars, optional
        Bending stiffness, N m2, as a pair (along y, along z), None where it does not bend. One
        value bends in the plane of a planar mechanism, else in both planes alike.
    EA : scalar, optional
        Stiffness against stretching, N; None (default): it keeps its length.
    GJ : scalar, optional
        Stiffness against twist, N m2; None (default): it does not twist.
    rhoJ : scalar, default 0
        Polar mass moment of inertia per length, kg m; half of it belongs to each bending plane.
    damping : scalar, default 0
        Damping ratio of the first mode of each direction, of the beam clamped at x = 0.
    modes : int or mapping, optional
        The number of modes along y (and z), or a table such as {"y": 3, "x": 1, "twist": 1}.
    segments : int, optional
        The number of elements. Exactly one of `modes` and `segments` is given.
    ends : str, default "clamped-free"
        With modes: how the shapes are held at root and tip, such as "pinned-pinned", or
        "craig-bampton" for a beam that carries something at its tip.
    shapes : sequence or mapping, optional
        With modes: shape functions of the user, texts or functions of x (m), in place of those of
        `ends`; a mapping gives them by direction.
    stiffening : bool, default True
        With modes: whether tension stiffens the beam.

    Examples
    --------
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
        """Return mass, centre of mass and inertia of the undeformed beam.

        Returns
        -------
        tuple
            Mass (kg), centre of mass (m), and the six values of the inertia about it (kg m2).
        """
        try:
            return rod(self.rhoA, self.rhoJ, self.length)
        except TypeError:  # not numbers: validate() says so
            return 1.0, (0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 1.0, 0.0, 1.0)

    @property
    def planes(self) -> tuple[Scalar, Scalar]:
        """The bending stiffnesses EI along y and along z, N m2; a single given value is used for
        both.
        """
        return self.EI if isinstance(self.EI, tuple) else (self.EI, self.EI)

    @property
    def stiffness(self) -> dict[str, Scalar]:
        """The stiffnesses {"y": EI, "z": EI, "x": EA, "twist": GJ}, N m2 or N; None where the beam
        is rigid.
        """
        return dict(zip(DIRECTIONS, (*self.planes, self.EA, self.GJ)))

    def lag(self, direction: str) -> Scalar:
        """Return the ratio of damping to stiffness in a direction: 2 zeta / omega.

        Parameters
        ----------
        direction : str
            "x", "y", "z" or "twist".

        Returns
        -------
        float or expression
            The ratio, s. omega is the first frequency in that direction of the beam clamped at
            x = 0, and zeta its damping ratio.
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
        """The number of modes {direction: count}: those of the table `modes`, or the same number in
        each plane in which the beam bends.
        """
        if isinstance(self.modes, int):
            return {name: self.modes for name, EI in zip(DIRECTIONS, self.planes) if EI is not None}
        return dict(self.modes or ())


@dataclass(frozen=True)
class Flexed:
    """The bodies, joints, frames and loads that replace a flexible body, by their names, from root
    to tip.

    body: the name of the flexible body. beam, shapes: its beam and its shapes, as given. stations:
    x of the origin of each of the replacing bodies along the undeformed beam, m. frames: the frames
    that were added, such as the tip's. modal: its shape functions and their mass integrals
    (`catena.model.flexible.modes.Modal`), where it is discretised by modes.
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
    """Return mass (kg), centre of mass (m) and inertia about it (kg m2, six values) of a straight
    rod along x from 0 to `length`.
    """
    m, J = rhoA * length, rhoJ * length
    across = m * length * length / 12 + J / 2
    return m, (length / 2, 0.0, 0.0), (J, 0.0, 0.0, across, 0.0, across)


def _listed(x: Any) -> Any:
    """Return a list as a tuple, which is hashable, and anything else as it is."""
    return tuple(x) if isinstance(x, Sequence) and not isinstance(x, str) else x


def _number(x: Any) -> Any:
    """Return a value as a scalar if it can be one, else unchanged, so that validate() reports it
    with the name of the body.
    """
    try:
        return x if x is None or isinstance(x, bool) else scalar(x)
    except (TypeError, ValueError):
        return x
