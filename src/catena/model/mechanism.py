"""Mechanism: frozen records of bodies, joints, frames and loads. It is data only; machines and
equations are made from it.

    ground --joint--> body --joint--> body ...        a tree; a joint that would close a loop is
                                                      listed in `loops`

A body's frame sits at its joint: the child frame of the joint that carries it, unless the joint
says otherwise. All values are SI (metres, kilograms, seconds, radians). A value may be a SymPy
expression of named parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

from ..errors import MechanismError, UnknownNameError
from ..registry import loaded
from .beams import Flexed
from .bodies import Body
from .contacts import Contact
from .frozen import FrozenDict
from .joints import Joint, Mimic
from .loads import Holonomic, Load, Nonholonomic
from .pose import Pose, Scalar, Vector, as_pose, vector
from .shapes import CollisionFilter, Shape

__all__ = [
    "GRAVITY",
    "GROUND",
    "Body",
    "Contact",
    "Frame",
    "Joint",
    "Mechanism",
    "Mimic",
    "Shape",
    "walk",
]

GROUND = "ground"
GRAVITY: Vector = (0.0, 0.0, -9.81)
Thing = TypeVar("Thing", Body, Joint)


@dataclass(frozen=True)
class Frame:
    """A named frame on a body: pose is X_BF; three numbers are its position."""

    name: str
    body: str
    pose: Pose = Pose()

    def __post_init__(self) -> None:
        object.__setattr__(self, "pose", as_pose(self.pose, f"the pose of frame {self.name!r}"))


@dataclass(frozen=True)
class Mechanism:
    """Bodies, the joints that make them a tree, loops, frames and loads.

    parameters: the values of the names that expressions use. units: the SI units of those that were
    written with one, {"l": "m"}; of others the dimension follows from where they stand.
    gravity: m/s2 in the ground's axes. planar: declared True or False, or None to find out.
    loops: joints that close the tree. loads: springs, dampers, forces. nonholonomic: rows that the
    speeds obey. as_found: the inertias were read from a file of another tool; one that no body can
    have is then a doubt, not a fault. notes:
    what the reader of the file remarked. beams: in a mechanism that
    `catena.model.flexible.discretise` made, what became of each flexible body. Before that step a
    flexible body is one body, without coordinates of its own. ground: the shapes of what stands
    still, all of which collide. collisions: which pairs of shapes are looked at. contacts: pairs
    that may touch. constraints: rows that the coordinates obey besides loops: gears, cams, drives,
    expressions.
    """

    name: str
    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...]
    frames: tuple[Frame, ...] = ()
    gravity: Vector = GRAVITY
    parameters: Mapping[str, float] = field(default_factory=dict)
    loops: tuple[Joint, ...] = ()
    loads: tuple[Load, ...] = ()
    nonholonomic: tuple[Nonholonomic, ...] = ()
    planar: bool | None = None
    as_found: bool = False
    notes: tuple[str, ...] = ()
    beams: tuple[Flexed, ...] = ()
    ground: tuple[Shape, ...] = ()
    collisions: CollisionFilter = CollisionFilter()
    contacts: tuple[Contact, ...] = ()
    constraints: tuple[Holonomic, ...] = ()
    units: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for attribute in (
            "bodies",
            "joints",
            "frames",
            "loops",
            "loads",
            "nonholonomic",
            "notes",
            "beams",
            "ground",
            "contacts",
            "constraints",
        ):
            given = getattr(self, attribute)
            if not isinstance(given, Iterable):
                raise MechanismError(
                    f"mechanism {self.name!r}: {attribute} is a {type(given).__name__}; it is a"
                    " list of them"
                )
            object.__setattr__(self, attribute, tuple(given))
        object.__setattr__(self, "ground", tuple(replace(s, collides=True) for s in self.ground))
        try:
            object.__setattr__(self, "gravity", vector(self.gravity))
        except (TypeError, ValueError):
            raise MechanismError(
                f"mechanism {self.name!r}: gravity is {self.gravity!r}; it is three numbers, m/s2"
            ) from None
        object.__setattr__(
            self, "parameters", FrozenDict({str(k): float(v) for k, v in self.parameters.items()})
        )
        object.__setattr__(
            self, "units", FrozenDict({str(k): str(v) for k, v in self.units.items()})
        )

    def _repr_html_(self) -> str:
        return str(loaded("catena.results.notebook:mechanism")(self))

    def __repr__(self) -> str:
        g = ", ".join(f"{x:g}" if isinstance(x, float) else str(x) for x in self.gravity)
        parts = [
            _counted(len(self.bodies), "body", "bodies"),
            _counted(len(self.joints), "joint"),
            *(
                _counted(len(x), word)
                for x, word in (
                    (self.loops, "loop"),
                    (self.constraints, "constraint"),
                    (self.nonholonomic, "speed row"),
                    (self.loads, "load"),
                    (self.beams, "beam"),
                    (self.contacts, "contact"),
                )
                if x
            ),
            f"gravity ({g}) m/s2",
            *([f"parameters {', '.join(self.parameters)}"] if self.parameters else []),
        ]
        return f"Mechanism({self.name!r}: {', '.join(parts)})"

    # --- looking up
    def body(self, name: str) -> Body:
        """The body of that name."""
        return self._find("body", name, self._bodies)

    def joint(self, name: str) -> Joint:
        """The joint of that name, a loop's included."""
        return self._find("joint", name, self._joints)

    def frame(self, name: str) -> Frame:
        """The frame of that name: a named frame, a body's own, a joint's on its child, or the
        ground.
        """
        if name in self._frames:
            return self._frames[name]
        if name in self._bodies or name == GROUND:
            return Frame(name, name)
        if name in self._joints:
            return Frame(name, self._joints[name].child, self._joints[name].offset)
        raise UnknownNameError(
            "frame", name, [*self._bodies, *self._frames], f"mechanism {self.name!r}"
        )

    def _find(self, what: str, name: str, table: Mapping[str, Thing]) -> Thing:
        if name not in table:
            raise UnknownNameError(what, name, table, f"mechanism {self.name!r}")
        return table[name]

    @cached_property
    def _bodies(self) -> dict[str, Body]:
        return {b.name: b for b in self.bodies}

    @cached_property
    def _joints(self) -> dict[str, Joint]:
        return {j.name: j for j in (*self.joints, *self.loops)}

    @cached_property
    def _frames(self) -> dict[str, Frame]:
        return {f.name: f for f in self.frames}

    # --- order
    @cached_property
    def ordered(self) -> tuple[Joint, ...]:
        """The joints depth first, children in the order of the file: every parent stands before its
        children.
        """
        return tuple(walk(self.joints))

    @property
    def moving(self) -> tuple[Joint, ...]:
        """The joints that have coordinates of their own, in order: neither fixed nor mimicking
        another.
        """
        return tuple(j for j in self.ordered if j.nv and j.mimic is None)

    @property
    def following(self) -> dict[str, Mimic]:
        """What joints of one freedom follow, by their names; the places of flexible bodies, which
        do so too, are not among them.
        """
        return {
            j.name: j.mimic
            for j in self.joints
            if j.mimic is not None and j.nv == 1 and not j.deflection
        }

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """The names of the coordinates q, in order."""
        return tuple(name for j in self.moving for name in j.coordinate_names)

    @property
    def speed_names(self) -> tuple[str, ...]:
        """The names of the speeds v, in order."""
        return tuple(name for j in self.moving for name in j.speed_names)

    @property
    def closes(self) -> bool:
        """Whether its coordinates obey something: loops or constraints."""
        return bool(self.loops or self.constraints)

    @property
    def constrained(self) -> bool:
        """Whether its coordinates or speeds obey something: loops, constraints or speed rows."""
        return bool(self.loops or self.constraints or self.nonholonomic)

    @property
    def row_records(self) -> tuple[Holonomic | Nonholonomic, ...]:
        """What adds rows after those of loops, in the order of the rows: constraints, then speed
        rows.
        """
        return (*self.constraints, *self.nonholonomic)

    @cached_property
    def elastic(self) -> tuple[Joint, ...]:
        """The joints inside flexible bodies."""
        inner = {name for flexed in self.beams for name in flexed.joints}
        return tuple(j for j in self.joints if j.name in inner)

    # --- changed copies
    def with_(self, **changes: Any) -> Mechanism:
        """A copy with some fields changed, such as `mechanism.with_(gravity=(0, 0, 0))`."""
        return replace(self, **changes)

    def validate(self) -> Mechanism:
        """The mechanism as a tree with loops, all in order; or a MechanismError with every fault
        there is.

        It is the mechanism itself, unless its joints form cycles: those are then cut, and `notes`
        says where.
        """
        found = self
        for check in CHECKS:
            found = check(found)
        return found

    def scalars(self) -> Iterator[tuple[str, Scalar]]:
        """Every scalar that may be an expression of parameters, with where it stands."""
        yield from (("gravity", x) for x in self.gravity)
        for b in self.bodies:
            yield from ((f"body {b.name!r}", x) for x in (b.mass, *b.com, *b.inertia))
        for j in (*self.joints, *self.loops):
            yield from ((f"joint {j.name!r}", x) for x in j.scalars())
        for f in self.frames:
            yield from ((f"frame {f.name!r}", x) for x in f.pose.scalars())


# what `validate` does, one after the other; `catena.model` fills it
CHECKS: list[Callable[[Mechanism], Mechanism]] = []


def walk(joints: Iterable[Joint]) -> Iterator[Joint]:
    """The joints depth first from the ground, children in the order given."""
    children: dict[str, list[Joint]] = {}
    for j in joints:
        children.setdefault(j.parent, []).append(j)
    waiting = list(reversed(children.pop(GROUND, [])))
    while waiting:
        j = waiting.pop()
        yield j
        # pop: a faulty tree with a cycle ends too
        waiting.extend(reversed(children.pop(j.child, [])))


def _counted(n: int, one: str, many: str = "") -> str:
    return f"{n} {one if n == 1 else many or one + 's'}"
