"""The families of loads, speed rows and position rows. A member is a frozen record that defines how
each of its fields is read, checked and written (`Key`), and how it acts on a moving mechanism
(`act`, `contact` or `residual`). `register` adds a member from outside; no other code in catena
names one, except to create one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Protocol, TypeVar

from ...errors import MechanismError
from ..pose import Matrix, Scalar, Vector, scalar, unit
from .actions import Action, Sites


@dataclass(frozen=True)
class Key:
    """The content of a field, stored as its metadata. sort: one of

        frame        the name of a frame, a body, or the ground; frames: several
        coordinate   the name of a coordinate that has a speed of the same name; coordinates:
        several
        speed        the name of a speed
        number       a quantity; measure: its dimension (`formats.units.DIMENSIONS`, or "any")
        numbers      several; measure: one per value, or one for any number of them
        expression   a number, or a text of t, q_..., v_... and parameters
        expressions  three of them, x, y, z
        text         an expression that must be a text
        position     a text of t, parameters, q_... and the places of frames, x_..., y_..., z_...
        profile      a text of `angle` and parameters
        turning      the name of a body that turns about one axis of the body in the field
        `carrier`;
                     sliding: of a body that slides along one
        direction    three numbers that are not all zero; stored with length one
        word         one of `words`
        times        any number of instants, s

    zero, negative: whether a number may be zero, or negative. A field whose default is None may be
    omitted, and is then None.
    """

    sort: str
    measure: str | tuple[str, ...] = "any"
    zero: bool = True
    negative: bool = False
    words: tuple[str, ...] = ()

    def of(self) -> dict[str, Any]:
        """Return the key as metadata for a dataclass field."""
        return {"key": self}

    def stored(self, value: Any) -> Any:
        """Return a value given in Python in the form in which the record stores it."""
        if value is None:
            return None
        if self.sort == "number":
            return scalar(value)
        if self.sort == "numbers":
            return tuple(map(scalar, value))
        if self.sort in ("expressions", "frames", "coordinates"):
            return tuple(value)
        if self.sort == "times":
            return tuple(map(float, value))
        return unit(value) if self.sort == "direction" else value


FRAME = Key("frame").of()
COORDINATE = Key("coordinate").of()
SPEED = Key("speed").of()
DIRECTION = Key("direction").of()
TIMES = Key("times").of()


def doc(sentence: str) -> dict[str, str]:
    """Return the description of a field, in a few words, as metadata for a dataclass field: `FRAME
    | doc("where it begins")`.
    """
    return {"doc": sentence}


def number(measure: str, zero: bool = True, negative: bool = False) -> dict[str, Any]:
    """Return the metadata of a field with a number, which must not be negative unless `negative` is
    set.
    """
    return Key("number", measure, zero, negative).of()


class Places(Protocol):
    """The interface by which a position row reads the mechanism: scalars are numbers or symbols;
    vectors are triples in the ground's axes.
    """

    def value(self, x: Scalar) -> Scalar:
        """Return the number or symbol for the value of a field that holds a number."""

    def text(self, where: str, x: str | float) -> Scalar:
        """Return the value of a field of the sort "position" or "expression". where: the name of
        the row, for messages.
        """

    def profile(self, where: str, x: str, angle: Scalar) -> Scalar:
        """Return the value of a field of the sort "profile" at an angle (rad)."""

    def coordinate(self, name: str) -> Scalar:
        """Return the value of a coordinate."""

    def travel(self, body: str, carrier: str, sort: str) -> tuple[Scalar, Vector]:
        """Return the angle (rad) or displacement (m) of a body relative to its carrier, for a field
        of the sort "turning" or "sliding", and its axis, in the ground's axes with all coordinates
        zero.
        """


class Scene(Protocol):
    """The interface by which a load reads the moving mechanism and acts on it. Scalars are numbers
    or symbols; vectors are triples in the ground's axes.
    """

    def value(self, x: Scalar) -> Scalar:
        """Return the number or symbol for the value of a field that holds a number."""

    def text(self, where: str, x: str | float) -> Scalar:
        """Return the value of a field of the sort "expression". where: the name of the load, for
        messages.
        """

    def coordinate(self, name: str) -> tuple[Scalar, Scalar]:
        """Return a coordinate and its speed."""

    def axes(self, frame: str) -> Matrix:
        """Return R_WF of a frame, three rows."""

    def origin(self, frame: str) -> tuple[Vector, Vector]:
        """Return position and velocity of a frame's origin, m and m/s."""

    def spin(self, frame: str) -> Vector:
        """Return the angular velocity of a frame, rad/s."""

    def push(self, frame: str, force: Vector, torque: Vector = ...) -> None:
        """Apply a force at a frame's origin, N, and a torque, N m."""

    def drive(self, speed: str, force: Scalar) -> None:
        """Apply a generalised force along a speed, N m or N."""

    def store(self, energy: Scalar) -> None:
        """Add to the potential energy, J."""


@dataclass(frozen=True)
class Keyed:
    """A record whose fields, except its name, have a `Key` and a sentence (`doc`). kind: its name
    in files. written: whether files may contain it. alternatives: groups of fields, of which
    exactly one is given.
    """

    name: str
    kind: ClassVar[str]
    written: ClassVar[bool] = True
    alternatives: ClassVar[tuple[tuple[str, ...], ...]] = ()

    def __post_init__(self) -> None:
        for name, key in self.schema().items():
            given = getattr(self, name)
            try:
                object.__setattr__(self, name, key.stored(given))
            except (TypeError, ValueError) as why:
                raise MechanismError(
                    f"{self.kind} {self.name!r}: {name} is {given!r}, which is no {key.sort}: {why}"
                ) from None

    @classmethod
    def schema(cls) -> dict[str, Key]:
        """Return the keys of its fields, in order."""
        return {f.name: f.metadata["key"] for f in fields(cls) if "key" in f.metadata}

    def holding(self, *sorts: str) -> list[Any]:
        """Return the values of its fields of these sorts; for tuples, their items one by one."""
        found = [getattr(self, name) for name, key in self.schema().items() if key.sort in sorts]
        return [
            x
            for given in found
            if given is not None
            for x in (given if isinstance(given, tuple) else (given,))
        ]

    def faults(self, parameters: Mapping[str, float]) -> Iterator[str]:
        """Yield the faults of the record that the checks of its single keys do not find."""
        return iter(())


class Load(Keyed):
    """A record that exerts forces on a mechanism."""

    def act(self, s: Scene) -> None:
        """Apply the forces of the load to the scene, and record its potential energy there."""
        raise NotImplementedError(f"a load of kind {self.kind!r} does not say how it acts")

    def linear(self) -> tuple[str, Scalar, Scalar, Scalar] | None:
        """Return (coordinate, stiffness, rest, damping) where the load is linear in one coordinate
        and its speed, else None.
        """
        return None

    def gaps(self) -> tuple[tuple[str, str], ...]:
        """Return the pairs of frames whose origins must not coincide, since the force has no
        direction there.
        """
        return ()


class Nonholonomic(Keyed):
    """Constraints of speeds: one or more rows A(q, t) v + B(q, t) = 0.

    Either its `text` is the expression of the row, or its rows state that a point of the body with
    its `frame` has no velocity in some directions.
    """

    frame: str

    @property
    def text(self) -> str | None:
        """The row as an expression; None where the record has a `contact`."""
        return None

    @property
    def labels(self) -> tuple[str, ...]:
        """The meaning of each row, for users."""
        raise NotImplementedError

    def contact(
        self, R: Matrix, value: Callable[[Scalar], Scalar]
    ) -> tuple[Vector, tuple[Vector, ...]]:
        """Return the point from the frame's origin, m, and the directions in which it has no
        velocity; R = R_WF, both in the ground's axes.
        """
        raise NotImplementedError


class Holonomic(Keyed):
    """Constraints of coordinates: one or more rows g(q, t) = 0, as loops have too.

    The rows act along the speeds, as motors do: A' lam with A = dg/dq N. Rows that use positions of
    frames push at these frames. For rows of several coordinates, only the method `action` of the
    record can say on which bodies they push, and where.
    """

    @property
    def labels(self) -> tuple[str, ...]:
        """The meaning of each row, for users."""
        raise NotImplementedError

    def residual(self, s: Places) -> tuple[Scalar, ...]:
        """Return g, one value for each label."""
        raise NotImplementedError

    def action(self, s: Sites) -> Action | str | None:
        """Return where its one row acts on bodies, or a sentence that says why that is unknown.
        None: it acts at the frames that its expression names, or along the one joint that it names.
        """
        return None

    def misfits(self, axes: Mapping[str, Vector]) -> Iterator[str]:
        """Yield the faults of the axes of its fields of the sorts "turning" and "sliding", {field:
        axis}.
        """
        return iter(())

    def drives(self) -> str:
        """The coordinate whose motion over time it prescribes, or None."""
        return ""


LOADS: dict[str, type[Load]] = {}
CONSTRAINTS: dict[str, type[Holonomic]] = {}
ROWS: dict[str, type[Nonholonomic]] = {}
Member = TypeVar("Member", bound=type[Keyed])


def register(member: Member) -> Member:
    """Add a kind of load, of speed row or of position row, which files, validation, formulations
    and simulation then read.
    """
    family: dict[str, Any] = (
        LOADS
        if issubclass(member, Load)
        else CONSTRAINTS
        if issubclass(member, Holonomic)
        else ROWS
    )
    if member.kind in family:
        raise MechanismError(
            f"a load or row of kind {member.kind!r} exists already; give this one another word"
        )
    family[member.kind] = member
    return member


def identifier(coordinate: str) -> str:
    """Return the form of a coordinate's name in expressions, after q_ or v_."""
    return "".join(c if c.isalnum() else "_" for c in coordinate)
