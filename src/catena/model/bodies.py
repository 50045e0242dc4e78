"""Bodies: mass, centre of mass, inertia and shapes. Values are SI, or expressions of parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import MechanismError
from .beams import Beam
from .pose import Scalar, Vector, scalar, vector
from .shapes import Shape


@dataclass(frozen=True)
class Body:
    """A rigid body, or a flexible one.

    mass: kg. com: centre of mass in the body's frame, m. inertia: about the centre of mass in the
    body's axes, kg m2, as (xx, xy, xz, yy, yz, zz); three values are taken as a diagonal, three
    rows as a matrix. flexible: the beam it is; mass, com and inertia are then the beam's and are
    left out.

    >>> Body("rod", mass=1.2, com=(0, 0, 0.5), inertia=(0.1, 0.1, 0.001)).inertia
    (0.1, 0.0, 0.0, 0.1, 0.0, 0.001)
    >>> Body("boom", flexible=Beam(length=4, rhoA=0.5, EI=900, segments=20)).mass
    2.0
    """

    name: str
    mass: Scalar = None
    com: Vector = None  # type: ignore[assignment]  # given, or the beam's
    inertia: tuple[Scalar, ...] = None  # type: ignore[assignment]
    shapes: tuple[Shape, ...] = ()
    flexible: Beam | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "shapes", tuple(self.shapes))
        if self.flexible is not None:
            self._take_from_beam(self.flexible)
        for attribute, read, wanted in (
            ("mass", scalar, "a number, kg"),
            ("com", vector, "three numbers, m"),
            ("inertia", symmetric, "3, 6 or 3 x 3 numbers, kg m2"),
        ):
            given = getattr(self, attribute)
            try:
                object.__setattr__(self, attribute, read(given))
            except MechanismError as why:
                raise MechanismError(f"body {self.name!r}: {why}") from None
            except (TypeError, ValueError):
                raise MechanismError(
                    f"body {self.name!r}: {attribute} is {given!r}; it is {wanted}, units are for"
                    " files"
                ) from None

    def _take_from_beam(self, beam: Beam) -> None:
        if not isinstance(beam, Beam):
            raise MechanismError(
                f"body {self.name!r}: flexible is a {type(beam).__name__}; it is a Beam"
            )
        given = (self.mass, self.com, self.inertia)
        mass, com, inertia = beam.rigid()
        own = (scalar(mass), vector(com), symmetric(inertia))
        if any(x is not None for x in given) and given != own:
            raise MechanismError(
                f"body {self.name!r}: mass, com and inertia of a flexible body come from its beam;"
                " leave them out"
            )
        for attribute, value in zip(("mass", "com", "inertia"), own):
            object.__setattr__(self, attribute, value)

    @property
    def collision(self) -> tuple[Shape, ...]:
        """The shapes that collide."""
        return tuple(s for s in self.shapes if s.collides)

    @staticmethod
    def massless(name: str, shapes: tuple[Shape, ...] = ()) -> Body:
        """A body that only carries others."""
        return Body(name, 0.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), shapes)


def symmetric(I: Sequence[Scalar] | Sequence[Sequence[Scalar]]) -> tuple[Scalar, ...]:
    """Six entries (xx, xy, xz, yy, yz, zz) from three (a diagonal), six, or three rows."""
    values = tuple(I)
    if len(values) == 3 and all(
        isinstance(row, Sequence) or getattr(row, "ndim", 0) for row in values
    ):
        rows = [tuple(row) for row in values]
        for i, j in ((0, 1), (0, 2), (1, 2)):
            a, b = rows[i][j], rows[j][i]
            if (
                isinstance(a, (int, float))
                and isinstance(b, (int, float))
                and abs(a - b) > 1e-9 * (abs(a) + abs(b))
            ):
                raise MechanismError(
                    f"an inertia matrix is symmetric; entries ({i},{j}) and ({j},{i}) are {a}"
                    f" and {b}"
                )
        values = (*rows[0], *rows[1][1:], rows[2][2])
    if len(values) == 3:
        values = (values[0], 0.0, 0.0, values[1], 0.0, values[2])
    if len(values) != 6:
        raise MechanismError(f"an inertia has 3, 6 or 3 x 3 values (kg m2), found {len(values)}")
    return tuple(scalar(x) for x in values)
