"""Bodies: mass, centre of mass, inertia and shapes. Values are SI, or expressions of parameters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..errors import MechanismError
from .beams import Beam
from .pose import Scalar, Vector, require_texts, scalar, vector
from .shapes import Shape


@dataclass(frozen=True)
class Body:
    """A rigid body, or a flexible one.

    Parameters
    ----------
    name : str
        The name of the body.
    mass : scalar
        kg; a number or an expression of parameters, as all scalars here.
    com : 3 scalars
        The centre of mass in the body's frame, m.
    inertia : 3, 6 or 3 x 3 scalars
        The inertia about the centre of mass in the body's axes, kg m2, stored as (xx, xy, xz, yy,
        yz, zz). Three values are a diagonal, three rows a symmetric matrix.
    shapes : sequence of Shape, optional
        What is drawn, and what collides.
    flexible : Beam, optional
        The beam that the body is. Mass, com and inertia are then those of the beam and are left
        out.

    Raises
    ------
    MechanismError
        Where a value has the wrong form, the matrix is not symmetric (1e-9 relative to the two
        entries), or a flexible body has a mass, com or inertia of its own.

    Examples
    --------
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
        require_texts("body", self, "name")
        shapes = tuple(self.shapes) if isinstance(self.shapes, Iterable) else (self.shapes,)
        if strange := [s for s in shapes if not isinstance(s, Shape)]:
            raise MechanismError(
                f"body {self.name!r}: shapes has {strange[0]!r:.60}; it is a list of Shape"
            )
        object.__setattr__(self, "shapes", shapes)
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
        """Set mass, com and inertia to those of the undeformed beam; raise MechanismError where
        others were given.
        """
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
        """The shapes of the body that collide."""
        return tuple(s for s in self.shapes if s.collides)

    @staticmethod
    def massless(name: str, shapes: tuple[Shape, ...] = ()) -> Body:
        """Return a body without mass and inertia, which only carries other bodies.

        Parameters
        ----------
        name : str
            Its name.
        shapes : tuple of Shape, optional
            Shapes for drawing and contact.

        Returns
        -------
        Body
        """
        return Body(name, 0.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), shapes)


def symmetric(I: Sequence[Scalar] | Sequence[Sequence[Scalar]]) -> tuple[Scalar, ...]:
    """Return the six entries (xx, xy, xz, yy, yz, zz) of an inertia that was given as three (a
    diagonal), six, or three rows.
    """
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
