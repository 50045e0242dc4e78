"""Mechanism: frozen records of bodies, joints, frames and loads. It is data only; machines and
equations are made from it.

    ground --joint--> body --joint--> body ...        a tree; a joint that would close a loop is
                                                      listed in `loops`

A body's frame sits at its joint: it is the child frame of the joint that carries the body, unless
the joint has an `offset`. All values are SI (metres, kilograms, seconds, radians). A value may be a
SymPy expression of named parameters.
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
from .pose import Pose, Scalar, Vector, as_pose, require_texts, vector
from .sensors import Sensor
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
    """A named frame on a body.

    Parameters
    ----------
    name : str
        The name of the frame.
    body : str
        The name of the body that carries it, or "ground".
    pose : Pose or 3 scalars, default identity
        X_BF, the frame in the body's frame; three numbers are its position, m.

    Examples
    --------
    >>> Frame("tip", "arm", (0.4, 0, 0)).pose.position
    (0.4, 0.0, 0.0)
    """

    name: str
    body: str
    pose: Pose = Pose()

    def __post_init__(self) -> None:
        require_texts("frame", self, "name", "body")
        object.__setattr__(self, "pose", as_pose(self.pose, f"the pose of frame {self.name!r}"))


# what the lists of a mechanism hold; loads and rows are records of registered kinds
_MEMBERS: dict[str, type] = {
    "bodies": Body,
    "joints": Joint,
    "loops": Joint,
    "frames": Frame,
    "ground": Shape,
    "contacts": Contact,
    "notes": str,
    "actuators": Mapping,
    "sensors": Sensor,
}


def _belongs(attribute: str, x: object) -> bool:
    """Whether x may stand in this list of a mechanism."""
    if attribute in _MEMBERS:
        return isinstance(x, _MEMBERS[attribute])
    return attribute == "beams" or hasattr(x, "schema")


@dataclass(frozen=True)
class Mechanism:
    """Bodies, the joints that connect them to a tree, loops, frames, loads, constraints and
    contacts.

    All records are frozen; lists become tuples. Nothing is checked but types until `validate`.

    Parameters
    ----------
    name : str
        The name of the mechanism.
    bodies : sequence of Body
        The bodies, in any order. "ground" is not among them.
    joints : sequence of Joint
        The joints of the tree. Where they form cycles, `validate` cuts these.
    frames : sequence of Frame, optional
        Named frames on bodies.
    gravity : sequence of 3 scalars, default (0, 0, -9.81)
        Gravity in the ground's axes, m/s2.
    parameters : mapping of str to float, optional
        The values (SI) of the names that expressions use.
    loops : sequence of Joint, optional
        Joints that close loops of the tree. They have no coordinates but impose constraint rows.
    loads : sequence of Load, optional
        Springs, dampers, forces (`catena.model.loads`).
    nonholonomic : sequence of Nonholonomic, optional
        Constraints of speeds: rows A(q, t) v + B(q, t) = 0.
    planar : bool, optional
        Declared True or False, or None (default): it is found out.
    as_found : bool, default False
        Whether the inertias were read from another tool's file. An inertia that no body can have is
        then a warning, not a fault.
    notes : sequence of str, optional
        Remarks, such as those of the reader of the file.
    beams : sequence of Flexed, optional
        In a mechanism that `catena.model.flexible.discretise` returned: which records replace each
        flexible body. Before that step a flexible body is one body, without coordinates of its own.
    ground : sequence of Shape, optional
        The shapes of the ground, all of which collide.
    collisions : CollisionFilter, optional
        Which pairs of shapes are checked for distance and contact.
    contacts : sequence of Contact, optional
        Pairs that may touch.
    constraints : sequence of Holonomic, optional
        Constraints of coordinates besides loops: gears, cams, drives, expressions.
    units : mapping of str to str, optional
        The SI units of those parameters that were written with one, such as {"l": "m"}. The
        dimension of the others follows from their uses.
    actuators : sequence of mapping, optional
        The actuators that a file of another format gives: tables {"name": ..., "kind": ..., ...}
        with the arguments of a controller. They act in runs whose `control` names their signals.
    sensors : sequence of Sensor, optional
        What is measured on the mechanism.

    Raises
    ------
    MechanismError
        Where a field has the wrong type.

    Examples
    --------
    >>> rod = Body("rod", mass=1.0, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.001))
    >>> Mechanism("pendulum", [rod], [Joint("pivot", "revolute", "ground", "rod", axis=(1, 0, 0))])
    Mechanism('pendulum': 1 body, 1 joint, gravity (0, 0, -9.81) m/s2)
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
    actuators: tuple[Mapping[str, object], ...] = field(default=(), compare=False)
    sensors: tuple[Sensor, ...] = ()

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
            "actuators",
            "sensors",
        ):
            given = getattr(self, attribute)
            if not isinstance(given, Iterable):
                raise MechanismError(
                    f"mechanism {self.name!r}: {attribute} is a {type(given).__name__}; it is a"
                    " list of them"
                )
            members = tuple(given)
            if strange := [x for x in members if not _belongs(attribute, x)]:
                raise MechanismError(
                    f"mechanism {self.name!r}: {attribute} has {strange[0]!r:.60}, a"
                    f" {type(strange[0]).__name__}; it is a list of"
                    f" {_MEMBERS[attribute].__name__ if attribute in _MEMBERS else 'records'}"
                )
            object.__setattr__(self, attribute, members)
        if not isinstance(self.parameters, Mapping):
            raise MechanismError(
                f"mechanism {self.name!r}: parameters is a {type(self.parameters).__name__}; it is"
                " a mapping of names to numbers"
            )
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

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return dict(loaded("catena.studio.widget:bundle")(self))

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
                    (self.sensors, "sensor"),
                )
                if x
            ),
            f"gravity ({g}) m/s2",
            *([f"parameters {', '.join(self.parameters)}"] if self.parameters else []),
        ]
        return f"Mechanism({self.name!r}: {', '.join(parts)})"

    # --- looking up
    def body(self, name: str) -> Body:
        """Return the body of that name.

        Parameters
        ----------
        name : str
            The body's name.

        Returns
        -------
        Body

        Raises
        ------
        UnknownNameError
            Where there is none; the message has the names that exist.
        """
        return self._find("body", name, self._bodies)

    def joint(self, name: str) -> Joint:
        """Return the joint of that name, of the tree or of a loop.

        Parameters
        ----------
        name : str
            The joint's name.

        Returns
        -------
        Joint

        Raises
        ------
        UnknownNameError
            Where there is none; the message has the names that exist.
        """
        return self._find("joint", name, self._joints)

    def frame(self, name: str) -> Frame:
        """Return the frame of that name.

        Parameters
        ----------
        name : str
            A named frame; or a body, or "ground", for its own frame; or a joint, for the joint's
            frame on its child. They are looked up in this order.

        Returns
        -------
        Frame

        Raises
        ------
        UnknownNameError
            Where there is none; the message has the names that exist.
        """
        is_text = isinstance(name, str)  # an array or a list has no place in a table of names
        if is_text and name in self._frames:
            return self._frames[name]
        if is_text and (name in self._bodies or name == GROUND):
            return Frame(name, name)
        if is_text and name in self._joints:
            return Frame(name, self._joints[name].child, self._joints[name].offset)
        raise UnknownNameError(
            "frame", name, [*self._bodies, *self._frames], f"mechanism {self.name!r}"
        )

    def _find(self, what: str, name: str, table: Mapping[str, Thing]) -> Thing:
        if not isinstance(name, str) or name not in table:
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
        """The joints of the tree depth first, children in the order given: every parent comes
        before its children.
        """
        return tuple(walk(self.joints))

    @property
    def moving(self) -> tuple[Joint, ...]:
        """The joints that have coordinates of their own, in the order of `ordered`: neither fixed
        nor mimicking another joint.
        """
        return tuple(j for j in self.ordered if j.nv and j.mimic is None)

    @property
    def following(self) -> dict[str, Mimic]:
        """{joint: its Mimic} of the joints with one degree of freedom that follow another. The
        modal joints of flexible bodies, which share their amplitudes in the same way, are left out.
        """
        return {
            j.name: j.mimic
            for j in self.joints
            if j.mimic is not None and j.nv == 1 and not j.deflection
        }

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """The names of the coordinates q, in the order of the vector q."""
        return tuple(name for j in self.moving for name in j.coordinate_names)

    @property
    def speed_names(self) -> tuple[str, ...]:
        """The names of the speeds v, in the order of the vector v."""
        return tuple(name for j in self.moving for name in j.speed_names)

    @property
    def closes(self) -> bool:
        """Whether the coordinates are constrained, by loops or `constraints`."""
        return bool(self.loops or self.constraints)

    @property
    def constrained(self) -> bool:
        """Whether the coordinates or speeds are constrained, by loops, `constraints` or
        `nonholonomic`.
        """
        return bool(self.loops or self.constraints or self.nonholonomic)

    @property
    def row_records(self) -> tuple[Holonomic | Nonholonomic, ...]:
        """The records that add constraint rows after those of the loops, in the order of the rows:
        `constraints`, then `nonholonomic`.
        """
        return (*self.constraints, *self.nonholonomic)

    @cached_property
    def elastic(self) -> tuple[Joint, ...]:
        """The joints inside discretised flexible bodies."""
        inner = {name for flexed in self.beams for name in flexed.joints}
        return tuple(j for j in self.joints if j.name in inner)

    # --- changed copies
    def with_(self, **changes: Any) -> Mechanism:
        """Return a copy with some fields changed.

        Parameters
        ----------
        **changes
            New values of fields, by name.

        Returns
        -------
        Mechanism

        Examples
        --------
        >>> Mechanism("empty", [], []).with_(gravity=(0, 0, 0))
        Mechanism('empty': 0 bodies, 0 joints, gravity (0, 0, 0) m/s2)
        """
        return replace(self, **changes)

    def validate(self) -> Mechanism:
        """Check the mechanism and return it as a tree with loops.

        Returns
        -------
        Mechanism
            The mechanism itself, unless its joints form cycles: these are then cut, and `notes` of
            the copy says where.

        Raises
        ------
        MechanismError
            Where the mechanism has faults; all of them are in one error.
        """
        found = self
        for check in CHECKS:
            found = check(found)
        return found

    def scalars(self) -> Iterator[tuple[str, Scalar]]:
        """Yield every scalar that may be an expression of parameters.

        Returns
        -------
        iterator of tuple
            (the name of the record that holds it, the scalar).
        """
        yield from (("gravity", x) for x in self.gravity)
        for b in self.bodies:
            yield from ((f"body {b.name!r}", x) for x in (b.mass, *b.com, *b.inertia))
        for j in (*self.joints, *self.loops):
            yield from ((f"joint {j.name!r}", x) for x in j.scalars())
        for f in self.frames:
            yield from ((f"frame {f.name!r}", x) for x in f.pose.scalars())


# what `validate` does, one after the other; `catena.model` fills it
CHECKS: list[Callable[[Mechanism], Mechanism]] = []


def mechanism_of(question: str, given: object) -> Mechanism:
    """Return what was given, a mechanism; raise a MechanismError where it is none. question: what
    was asked of it, for the message.
    """
    if not isinstance(given, Mechanism):
        raise MechanismError(
            f"{question}: it takes a Mechanism; found {given!r:.60}, a {type(given).__name__};"
            " catena.load(path) reads one from a file"
        )
    return given


def walk(joints: Iterable[Joint]) -> Iterator[Joint]:
    """Yield the joints depth first from the ground, children in the order given."""
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
