"""Mechanism: what it is. Frozen records of bodies, joints, frames and shapes; nothing here moves or computes.

    ground --joint--> body --joint--> body ...        a tree; a joint that would close a loop is listed in `loops`

A body's frame sits at its joint: the child frame of the joint that carries it, unless the joint says otherwise.
All values are SI (metres, kilograms, seconds, radians). A value may be a SymPy expression of named parameters.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from ..errors import MechanismError, UnknownNameError
from . import joints as catalogue
from .beams import Beam, Flexed
from .frozen import FrozenDict
from .joints import Deflection, Freedom
from .loads import Load, Nonholonomic
from .pose import Pose, Scalar, Vector, scalar, unit, vector

GROUND = "ground"
GRAVITY: Vector = (0.0, 0.0, -9.81)


@dataclass(frozen=True)
class Shape:
    """Something to draw on a body: kind "box", "cylinder", "sphere", "mesh" or "line", its sizes in metres, its pose.

    size: box (x, y, z), cylinder (radius, length along z), sphere (radius,), line (x, y, z of its far end), mesh (scale).
    """

    kind: str
    size: tuple[float, ...]
    pose: Pose = Pose()
    file: str = ""
    colour: tuple[float, ...] = ()


@dataclass(frozen=True)
class Body:
    """A rigid body, or a flexible one.

    mass: kg. com: centre of mass in the body's frame, m. inertia: about the centre of mass in the body's axes, kg m2, as
    (xx, xy, xz, yy, yz, zz); three values are taken as a diagonal, three rows as a matrix. flexible: the beam it is; mass,
    com and inertia are then the beam's and are left out.

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
        if self.flexible is not None:
            self._take_from_beam(self.flexible)
        for attribute, read, wanted in (("mass", scalar, "a number, kg"), ("com", vector, "three numbers, m"),
                                        ("inertia", symmetric, "3, 6 or 3 x 3 numbers, kg m2")):  # fmt: skip
            given = getattr(self, attribute)
            try:
                object.__setattr__(self, attribute, read(given))
            except MechanismError as why:
                raise MechanismError(f"body {self.name!r}: {why}") from None
            except (TypeError, ValueError):
                raise MechanismError(f"body {self.name!r}: {attribute} is {given!r}; it is {wanted}, units are for files") from None

    def _take_from_beam(self, beam: Beam) -> None:
        if not isinstance(beam, Beam):
            raise MechanismError(f"body {self.name!r}: flexible is a {type(beam).__name__}; it is a Beam")
        given = (self.mass, self.com, self.inertia)
        mass, com, inertia = beam.rigid()
        own = (scalar(mass), vector(com), symmetric(inertia))
        if any(x is not None for x in given) and given != own:
            raise MechanismError(f"body {self.name!r}: mass, com and inertia of a flexible body come from its beam; leave them out")
        for attribute, value in zip(("mass", "com", "inertia"), own):
            object.__setattr__(self, attribute, value)

    @staticmethod
    def massless(name: str, shapes: tuple[Shape, ...] = ()) -> Body:
        """A body that only carries others."""
        return Body(name, 0.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), shapes)


@dataclass(frozen=True)
class Mimic:
    """A coordinate that follows another joint's: q = multiplier q[joint] + offset. Both joints have one freedom."""

    joint: str
    multiplier: Scalar = 1.0
    offset: Scalar = 0.0

    def __post_init__(self) -> None:
        for attribute in ("multiplier", "offset"):
            object.__setattr__(self, attribute, scalar(getattr(self, attribute)))


@dataclass(frozen=True)
class Joint:
    """A joint between a parent body (or "ground") and a child body.

    kind: one of `catena.JOINT_KINDS`. placement: X_PJ, the joint's frame in the parent. offset: X_CJ, the joint's frame in
    the child, the identity unless the body's frame sits elsewhere. axis: the axis (or axes) in the joint's frame. pitch:
    metres a radian, of a helical joint. sequence: the freedoms of a general joint, such as ("Rz", "Dx"). lower, upper:
    limits; effort, speed: the largest force and speed; damping (N m s/rad or N s/m), friction (Coulomb, N m or N), armature
    (rotor inertia seen at the joint, kg m2 or kg): one value a speed, or one for all. mimic: the joint it follows.
    deflection: of a modal joint, how its coordinates move the child.
    """

    name: str
    kind: str
    parent: str
    child: str
    placement: Pose = Pose()
    axis: Any = None
    pitch: Scalar = 0.0
    sequence: tuple[str, ...] = ()
    offset: Pose = Pose()
    lower: Any = -math.inf
    upper: Any = math.inf
    effort: Any = math.inf
    speed: Any = math.inf
    damping: Any = 0.0
    friction: Any = 0.0
    armature: Any = 0.0
    mimic: Mimic | None = None
    deflection: Deflection | None = None

    def __post_init__(self) -> None:
        def fix(attribute: str, value: object) -> None:
            object.__setattr__(self, attribute, value)

        kind = catalogue.kind_of(self.kind)
        if kind is None or (self.kind in catalogue.MADE and self.deflection is None):
            return  # validate() says so, with every other fault
        default = kind.axes
        given: Any = default if self.axis is None else self.axis
        try:
            nested = len(given) == 0 or isinstance(given[0], (tuple, list)) or bool(getattr(given[0], "ndim", 0))
            fix("axis", tuple(_axis(a) for a in given) if nested else (_axis(given),))
        except (TypeError, ValueError):
            raise MechanismError(f"joint {self.name!r}: axis is {self.axis!r}; an axis is three numbers (no parameters), "
                                 "several axes are a list of such") from None  # fmt: skip
        fix("pitch", scalar(self.pitch))
        fix("sequence", tuple(self.sequence))
        if self.kind == "general" and not set(self.sequence) <= set(catalogue.GENERAL):
            return
        if len(self.axis) != len(default):
            return
        for attribute in ("lower", "upper", "effort", "speed", "damping", "friction", "armature"):
            fix(attribute, _each(getattr(self, attribute), self.nv))

    @cached_property
    def freedoms(self) -> tuple[Freedom, ...]:
        """The elementary motions, root to leaf."""
        return catalogue.freedoms(self.kind, self.axis, self.pitch, self.sequence)

    @property
    def motions(self) -> tuple[Freedom, ...]:
        """What its child does in its parent: the freedoms, or what the shapes of a flexible body do to a place of it."""
        return tuple(catalogue.elementary(s.motion) for s in self.deflection.shifts) if self.deflection else self.freedoms

    @property
    def nq(self) -> int:
        """How many coordinates: 7 for a free joint, 4 for a ball, else as many as speeds."""
        return sum(f.nq for f in self.freedoms)

    @property
    def nv(self) -> int:
        """How many speeds: the degrees of freedom, 0 to 6."""
        return sum(f.nv for f in self.freedoms)

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """The joint's name for one freedom, else name.label."""
        labels = [label for f in self.freedoms for label in f.labels]
        return self._names(labels)

    @property
    def speed_names(self) -> tuple[str, ...]:
        """As the coordinates, except where a quaternion has three speeds."""
        return self._names([label for f in self.freedoms for label in f.speeds])

    def _names(self, labels: list[str]) -> tuple[str, ...]:
        if self.deflection:
            return tuple(f"{self.deflection.body}.{label}" for label in labels)
        return (self.name,) if len(labels) == 1 else tuple(f"{self.name}.{label}" for label in labels)

    @staticmethod
    def from_denavit_hartenberg(
        name: str, kind: str, parent: str, child: str, *,
        a: Scalar, alpha: Scalar, d: Scalar, theta: Scalar, custom: str, **others: Any,
    ) -> Joint:  # fmt: skip
        """A joint from Denavit-Hartenberg parameters (metres, radians) in the custom "modified" or "standard".

        The pose at coordinate q is `Pose.denavit_hartenberg` with theta + q for a turn, d + q for a slide. Both customs
        move along z, so the kind is one whose freedoms do: revolute, prismatic, helical, cylindrical. Modified: everything
        constant stands before the motion, in `placement`. Standard: alpha and a come after it, in `offset`.

        >>> elbow = Joint.from_denavit_hartenberg(
        ...     "elbow", "revolute", "upper", "fore", a=0.4, alpha=0, d=0, theta=0, custom="standard")
        >>> elbow.pose([0.0]).position
        (0.4, 0.0, 0.0)
        """
        here = f"joint {name!r}"
        if custom not in ("modified", "standard"):
            raise MechanismError(f"{here}: Denavit-Hartenberg custom is {custom!r}; it is 'modified' or 'standard'")
        if taken := sorted(others.keys() & {"placement", "offset", "axis"}):
            raise MechanismError(f"{here}: {', '.join(taken)} and Denavit-Hartenberg parameters exclude each other")
        about_x, about_z = Pose.turn("x", alpha, (a, 0.0, 0.0)), Pose.turn("z", theta, (0.0, 0.0, d))
        if custom == "modified":
            joint = Joint(name, kind, parent, child, placement=about_x @ about_z, **others)
        else:
            joint = Joint(name, kind, parent, child, placement=about_z, offset=about_x.inverse(), **others)
        if not catalogue.along_z(kind, joint.sequence):
            raise MechanismError(f"{here}: Denavit-Hartenberg joints turn about or slide along z; a {kind} joint does not")
        return joint

    def pose(self, q: Sequence[float]) -> Pose:
        """X_PC, the child in the parent at the joint's own coordinates q."""
        moved = self.deflection.pose(q) if self.deflection else catalogue.displacement(self.freedoms, q)
        return self.placement @ moved @ self.offset.inverse()

    def motion_subspace(self, q: Sequence[float]) -> Any:
        """phi, 6 x nv, angular first, in the child-side joint axes ([Merwe1995] eq. 2.9)."""
        return catalogue.motion_subspace(self.freedoms, q)

    def constraint_subspace(self, q: Sequence[float]) -> Any:
        """psi_c, 6 x (6 - nv): the directions of the constraint forces, phi' psi_c = 0 ([Merwe1995] eq. 2.13)."""
        return catalogue.dual_bases(self.motion_subspace(q))[2]


@dataclass(frozen=True)
class Frame:
    """A named frame on a body: pose is X_BF."""

    name: str
    body: str
    pose: Pose = Pose()


@dataclass(frozen=True)
class Mechanism:
    """Bodies, the joints that make them a tree, and what stands around them.

    parameters: the values of the names that expressions use. gravity: m/s2 in the ground's axes. planar: declared True or
    False, or None to find out. loops: joints that close the tree. loads: springs, dampers, forces. nonholonomic: rows that
    the speeds obey. as_found: the inertias are those of somebody's file; one
    that no body can have is then a doubt, not a fault. notes: what the reader of the file remarked. beams: what became of
    flexible bodies, which are replaced by ordinary bodies, joints and springs here and now (`catena.model.flexible`).
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

    def __post_init__(self) -> None:
        for attribute in ("bodies", "joints", "frames", "loops", "loads", "nonholonomic", "notes", "beams"):
            given = getattr(self, attribute)
            if not isinstance(given, Iterable):
                raise MechanismError(f"mechanism {self.name!r}: {attribute} is a {type(given).__name__}; it is a list of them")
            object.__setattr__(self, attribute, tuple(given))
        try:
            object.__setattr__(self, "gravity", vector(self.gravity))
        except (TypeError, ValueError):
            raise MechanismError(f"mechanism {self.name!r}: gravity is {self.gravity!r}; it is three numbers, m/s2") from None
        object.__setattr__(self, "parameters", FrozenDict({str(k): float(v) for k, v in self.parameters.items()}))
        if self.beams or any(getattr(b, "flexible", None) is not None for b in self.bodies):
            from .flexible import expand

            for attribute, value in expand(self).changes().items():
                object.__setattr__(self, attribute, value)

    def __repr__(self) -> str:
        g = ", ".join(f"{x:g}" if isinstance(x, float) else str(x) for x in self.gravity)
        free = f", parameters {', '.join(self.parameters)}" if self.parameters else ""
        return f"Mechanism({self.name!r}: {len(self.bodies)} bodies, {len(self.joints)} joints, gravity ({g}) m/s2{free})"

    # ------------------------------------------------------------------------------------------------ looking up
    def body(self, name: str) -> Body:
        """The body of that name."""
        return self._find("body", name, self._bodies)

    def joint(self, name: str) -> Joint:
        """The joint of that name, a loop's included."""
        return self._find("joint", name, self._joints)

    def frame(self, name: str) -> Frame:
        """The frame of that name: a named frame, a body's own, a joint's on its child, or the ground."""
        if name in self._frames:
            return self._frames[name]
        if name in self._bodies or name == GROUND:
            return Frame(name, name)
        if name in self._joints:
            return Frame(name, self._joints[name].child, self._joints[name].offset)
        raise UnknownNameError("frame", name, [*self._bodies, *self._frames], f"mechanism {self.name!r}")

    def _find(self, what: str, name: str, table: Mapping[str, Any]) -> Any:
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

    # ------------------------------------------------------------------------------------------------ order
    @cached_property
    def ordered(self) -> tuple[Joint, ...]:
        """The joints depth first, children in the order of the file: every parent stands before its children."""
        return tuple(walk(self.joints))

    @property
    def moving(self) -> tuple[Joint, ...]:
        """The joints that have coordinates of their own, in order: neither fixed nor mimicking another."""
        return tuple(j for j in self.ordered if j.nv and j.mimic is None)

    @cached_property
    def elastic(self) -> tuple[Joint, ...]:
        """The joints inside flexible bodies."""
        inner = {name for flexed in self.beams for name in flexed.joints}
        return tuple(j for j in self.joints if j.name in inner)

    # ------------------------------------------------------------------------------------------------ changed copies
    def with_(self, **changes: Any) -> Mechanism:
        """A copy with some fields changed, such as `mechanism.with_(gravity=(0, 0, 0))`."""
        return replace(self, **changes)

    def validate(self) -> Mechanism:
        """Raise a MechanismError with every fault there is, or return the mechanism itself."""
        from .validation import faults

        found = faults(self)
        if found:
            count = f"{len(found)} fault{'s' if len(found) > 1 else ''}"
            raise MechanismError(f"mechanism {self.name!r} has {count}:", found)
        return self


def walk(joints: Iterable[Joint]) -> Iterator[Joint]:
    """The joints depth first from the ground, children in the order given."""
    children: dict[str, list[Joint]] = {}
    for j in joints:
        children.setdefault(j.parent, []).append(j)
    waiting = list(reversed(children.pop(GROUND, [])))
    while waiting:
        j = waiting.pop()
        yield j
        waiting.extend(reversed(children.pop(j.child, [])))  # pop: a faulty tree with a cycle ends too


def symmetric(I: Sequence[Any]) -> tuple[Scalar, ...]:
    """Six entries (xx, xy, xz, yy, yz, zz) from three (a diagonal), six, or three rows."""
    values = tuple(I)
    if len(values) == 3 and all(isinstance(row, Sequence) or getattr(row, "ndim", 0) for row in values):
        rows = [tuple(row) for row in values]
        for i, j in ((0, 1), (0, 2), (1, 2)):
            a, b = rows[i][j], rows[j][i]
            if isinstance(a, (int, float)) and isinstance(b, (int, float)) and abs(a - b) > 1e-9 * (abs(a) + abs(b)):
                raise MechanismError(f"an inertia matrix is symmetric; entries ({i},{j}) and ({j},{i}) are {a} and {b}")
        values = (*rows[0], *rows[1][1:], rows[2][2])
    if len(values) == 3:
        values = (values[0], 0.0, 0.0, values[1], 0.0, values[2])
    if len(values) != 6:
        raise MechanismError(f"an inertia has 3, 6 or 3 x 3 values (kg m2), found {len(values)}")
    return tuple(scalar(x) for x in values)


def _axis(a: Sequence[float]) -> Vector:
    """A unit axis where it can be one; otherwise as given, for validate() to refuse by the joint's name."""
    try:
        return unit(a)
    except (ValueError, TypeError):
        return tuple(float(x) for x in a)  # type: ignore[return-value]


def _each(value: Any, n: int) -> tuple[Scalar, ...]:
    """One value for each of n speeds."""
    many = isinstance(value, Sequence) or bool(getattr(value, "ndim", False))
    return tuple(scalar(x) for x in value) if many else (scalar(value),) * n
