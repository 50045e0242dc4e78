"""Joints: a joint of some kind of the catalogue (`joint_kinds`) between two bodies, and a
coordinate that follows another.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import MechanismError
from .closure import ClosureRow
from .coordinate_functions import CoordinateFunction
from .joint_kinds import CATALOGUE, SAME, JointKind, Reverse, along_z
from .motions import Deflection, Freedom, displacement, elementary, motion_subspace
from .pose import Pose, Scalar, Vector, as_pose, require_texts, scalar, unit

AxesLike = Sequence[float] | Sequence[Sequence[float]] | np.ndarray
PerSpeed = Scalar | Sequence[Scalar]
# one value per speed of the joint
PER_SPEED = ("lower", "upper", "effort", "speed", "damping", "friction", "armature")


@dataclass(frozen=True)
class Mimic:
    """A rule by which the coordinate of a joint follows that of another: q = multiplier q[joint] +
    offset, or q = function(q[joint]). Both joints have one degree of freedom.

    Parameters
    ----------
    joint : str
        The name of the joint that leads.
    multiplier : scalar, default 1
        Unit of the following coordinate per unit of the leading one.
    offset : scalar, default 0
        rad or m.
    function : CoordinateFunction, optional
        A polynomial or a spline, in place of multiplier and offset.

    Examples
    --------
    >>> Mimic("left_finger", multiplier=-1).multiplier
    -1.0
    """

    joint: str
    multiplier: Scalar = 1.0
    offset: Scalar = 0.0
    function: CoordinateFunction | None = None

    def __post_init__(self) -> None:
        for attribute in ("multiplier", "offset"):
            object.__setattr__(self, attribute, scalar(getattr(self, attribute)))


@dataclass(frozen=True)
class Joint:
    """A joint between a parent body (or "ground") and a child body.

    Its frame J is fixed on the parent by `placement`; the child's side of it, displaced by the
    coordinates, is fixed on the child by `offset`: X_PC = placement D(q) offset^-1.

    Parameters
    ----------
    name : str
        The name of the joint.
    kind : str
        One of `catena.JOINT_KINDS`, such as "revolute", "prismatic", "ball", "free", "fixed".
    parent, child : str
        The names of the two bodies; the parent may be "ground".
    placement : Pose or 3 scalars, default identity
        X_PJ, the joint's frame in the parent; three numbers are its position, m.
    axis : 3 floats, or several such, optional
        The axis or axes in the joint's frame, of any length above zero; by default those of the
        kind.
    pitch : scalar, default 0
        Of a helical joint, m/rad.
    sequence : sequence of str, optional
        The freedoms of a general joint, such as ("Rz", "Dx").
    offset : Pose or 3 scalars, default identity
        X_CJ, the joint's frame in the child.
    lower, upper : float or one per speed, default -inf, inf
        Limits of the coordinates, rad or m.
    effort : float or one per speed, default inf
        The largest motor torque or force, N m or N.
    speed : float or one per speed, default inf
        The largest speed, rad/s or m/s.
    damping : scalar or one per speed, default 0
        Viscous damping, N m s/rad or N s/m.
    friction : scalar or one per speed, default 0
        Coulomb friction, N m or N.
    armature : scalar or one per speed, default 0
        Rotor inertia reflected to the joint, kg m2 or kg.
    mimic : Mimic, optional
        The joint that this one follows.
    deflection : Deflection, optional
        Of a modal joint: how its coordinates move the child. catena sets it.

    Raises
    ------
    MechanismError
        Where a pose or an axis has the wrong form. All else is checked by `Mechanism.validate`.

    Examples
    --------
    >>> Joint("elbow", "revolute", "upper", "fore", (0.3, 0, 0), axis=(0, 2, 0)).axis
    ((0.0, 1.0, 0.0),)
    """

    name: str
    kind: str
    parent: str
    child: str
    placement: Pose = Pose()
    axis: tuple[Vector, ...] = None  # type: ignore[assignment]  # the kind's own
    pitch: Scalar = 0.0
    sequence: tuple[str, ...] = ()
    offset: Pose = Pose()
    lower: tuple[float, ...] = -math.inf  # type: ignore[assignment]  # one for all becomes one per speed
    upper: tuple[float, ...] = math.inf  # type: ignore[assignment]
    effort: tuple[float, ...] = math.inf  # type: ignore[assignment]
    speed: tuple[float, ...] = math.inf  # type: ignore[assignment]
    damping: tuple[Scalar, ...] = 0.0  # type: ignore[assignment]
    friction: tuple[Scalar, ...] = 0.0  # type: ignore[assignment]
    armature: tuple[Scalar, ...] = 0.0  # type: ignore[assignment]
    mimic: Mimic | None = None
    deflection: Deflection | None = None

    if TYPE_CHECKING:  # the types that may be given, which are more than those that are stored

        def __init__(
            self,
            name: str,
            kind: str,
            parent: str,
            child: str,
            placement: Pose | Sequence[Scalar] = ...,
            axis: AxesLike | None = None,
            pitch: Scalar = 0.0,
            sequence: Sequence[str] = (),
            offset: Pose | Sequence[Scalar] = ...,
            lower: PerSpeed = ...,
            upper: PerSpeed = ...,
            effort: PerSpeed = ...,
            speed: PerSpeed = ...,
            damping: PerSpeed = ...,
            friction: PerSpeed = ...,
            armature: PerSpeed = ...,
            mimic: Mimic | None = None,
            deflection: Deflection | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        require_texts("joint", self, "name", "kind", "parent", "child")
        if not (self.mimic is None or isinstance(self.mimic, Mimic)):
            raise MechanismError(
                f"joint {self.name!r}: mimic is {self.mimic!r:.60}; it is a Mimic of another joint"
            )
        for attribute in ("placement", "offset"):
            what = f"the {attribute} of joint {self.name!r}"
            object.__setattr__(self, attribute, as_pose(getattr(self, attribute), what))
        kind = CATALOGUE.get(self.kind)
        if kind is None or kind.internal != (self.deflection is not None):
            return  # validate() says so, with every other fault
        fixed: dict[str, object] = {
            "axis": self._axes(kind),
            "pitch": self._measured("pitch", scalar),
            "sequence": self._measured("sequence", tuple),
        }
        for attribute, value in fixed.items():
            object.__setattr__(self, attribute, value)
        for attribute in PER_SPEED if self.sound else ():
            each = partial(_each, n=self.nv)
            object.__setattr__(self, attribute, self._measured(attribute, each))

    def _measured(self, attribute: str, read: Callable[[Any], Any]) -> Any:
        """Return what `read` makes of an attribute; raise a MechanismError where it is no
        number.
        """
        given = getattr(self, attribute)
        try:
            return read(given)
        except (TypeError, ValueError):
            raise MechanismError(
                f"joint {self.name!r}: {attribute} is {given!r:.60}; it takes numbers, in SI units"
                " (units are for files)"
            ) from None

    def _axes(self, kind: JointKind) -> tuple[Vector, ...]:
        """Return the axes as unit vectors: those given, or the defaults of the kind."""
        given: Any = kind.axes if self.axis is None else self.axis
        try:
            nested = (
                len(given) == 0
                or isinstance(given[0], (tuple, list))
                or bool(getattr(given[0], "ndim", 0))
            )
            return tuple(_axis(a) for a in given) if nested else (_axis(given),)
        except (TypeError, ValueError, KeyError):
            raise MechanismError(
                f"joint {self.name!r}: axis is {self.axis!r}; an axis is three numbers (no"
                " parameters), several axes are a list of such"
            ) from None

    @property
    def sound(self) -> bool:
        """Whether the kind is in the catalogue, with valid axes and a valid sequence, so that
        `freedoms` exist.
        """
        kind = CATALOGUE.get(self.kind)
        if (
            kind is None
            or kind.internal != (self.deflection is not None)
            or len(self.axis) != len(kind.axes)
        ):
            return False
        return kind.internal or not self.sequence or set(self.sequence) <= set(kind.words)

    @cached_property
    def freedoms(self) -> tuple[Freedom, ...]:
        """The elementary motions of the joint, from the parent's side to the child's."""
        return CATALOGUE[self.kind].freedoms(self.axis, self.pitch, self.sequence)

    @property
    def closure(self) -> tuple[ClosureRow, ...]:
        """The constraint rows that the joint imposes where it closes a loop: six less its number of
        degrees of freedom.
        """
        return CATALOGUE[self.kind].closure(self.axis, self.pitch, self.sequence)

    @property
    def motions(self) -> tuple[Freedom, ...]:
        """The motion of the child relative to the parent: the freedoms; for a modal joint, the
        motion by which the shape functions of the flexible body move the place that carries the
        child.
        """
        return (
            tuple(elementary(s.motion) for s in self.deflection.shifts)
            if self.deflection
            else self.freedoms
        )

    def scalars(self) -> tuple[Scalar, ...]:
        """Return every value of the joint that may be an expression of parameters.

        Returns
        -------
        tuple
            Numbers and expressions.
        """
        losses = (getattr(self, name) for name in ("damping", "friction", "armature"))
        each = (x for given in losses for x in (given if isinstance(given, tuple) else (given,)))
        mimic = (self.mimic.multiplier, self.mimic.offset) if self.mimic else ()
        return (self.pitch, *self.placement.scalars(), *self.offset.scalars(), *each, *mimic)

    def of_coordinates(self) -> list[str]:
        """Return which values the joint has that only a joint of the tree can have.

        Returns
        -------
        list of str
            Some of damping, friction, armature, limits and mimic. A joint that closes a loop has
            no coordinate on which they could act.
        """
        free = {
            "damping": 0.0,
            "friction": 0.0,
            "armature": 0.0,
            "lower": -math.inf,
            "upper": math.inf,
        }
        found = [
            name
            for name, value in free.items()
            if self.sound and any(x != value for x in getattr(self, name))
        ]
        return [f"{name} limit" if name in ("lower", "upper") else name for name in found] + (
            ["mimic"] if self.mimic else []
        )

    @property
    def nq(self) -> int:
        """The number of coordinates: 7 for a free joint, 4 for a ball, else as many as speeds."""
        return sum(f.nq for f in self.freedoms)

    @property
    def nv(self) -> int:
        """The number of speeds, which are the degrees of freedom: 0 to 6, or the number of shapes
        of a modal joint.
        """
        return sum(f.nv for f in self.freedoms)

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """The names of its coordinates: the joint's own name where there is one, else
        "joint.label".
        """
        labels = [label for f in self.freedoms for label in f.labels]
        return self._names(labels)

    @property
    def speed_names(self) -> tuple[str, ...]:
        """The names of its speeds: as those of the coordinates, except where four coordinates of a
        quaternion have three speeds.
        """
        return self._names([label for f in self.freedoms for label in f.speeds])

    def _names(self, labels: list[str]) -> tuple[str, ...]:
        if self.deflection:
            return tuple(f"{self.deflection.body}.{label}" for label in labels)
        return (
            (self.name,) if len(labels) == 1 else tuple(f"{self.name}.{label}" for label in labels)
        )

    @staticmethod
    def from_denavit_hartenberg(
        name: str,
        kind: str,
        parent: str,
        child: str,
        *,
        a: Scalar,
        alpha: Scalar,
        d: Scalar,
        theta: Scalar,
        custom: str,
        **others: Any,
    ) -> Joint:
        """Return a joint from Denavit-Hartenberg parameters.

        The pose at coordinate q is `Pose.denavit_hartenberg` with theta + q for a turn, d + q for a
        slide. Both conventions move along z, so the kind is one whose freedoms do: revolute,
        prismatic, helical, cylindrical. Modified: everything constant comes before the motion, in
        `placement`. Standard: alpha and a come after it, in `offset`.

        Parameters
        ----------
        name, kind, parent, child : str
            As of `Joint`.
        a, d : scalar
            Displacements along x and z, m.
        alpha, theta : scalar
            Turns about x and z, rad.
        custom : str
            "modified" or "standard", see `Pose.denavit_hartenberg`.
        **others
            Other fields of `Joint` but placement, offset and axis.

        Returns
        -------
        Joint

        Raises
        ------
        MechanismError
            Where `custom` is another word, a field is given twice, or the kind does not move about
            or along z.

        Examples
        --------
        >>> parameters = {"a": 0.4, "alpha": 0, "d": 0, "theta": 0, "custom": "standard"}
        >>> elbow = Joint.from_denavit_hartenberg("e", "revolute", "upper", "fore", **parameters)
        >>> elbow.pose([0.0]).position
        (0.4, 0.0, 0.0)
        """
        here = f"joint {name!r}"
        if custom not in ("modified", "standard"):
            raise MechanismError(
                f"{here}: Denavit-Hartenberg custom is {custom!r}; it is 'modified' or 'standard'"
            )
        if taken := sorted(others.keys() & {"placement", "offset", "axis"}):
            raise MechanismError(
                f"{here}: {', '.join(taken)} and Denavit-Hartenberg parameters exclude each other"
            )
        about_x = Pose.turn("x", alpha, (a, 0.0, 0.0))
        about_z = Pose.turn("z", theta, (0.0, 0.0, d))
        if custom == "modified":
            joint = Joint(name, kind, parent, child, placement=about_x @ about_z, **others)
        else:
            joint = Joint(
                name, kind, parent, child, placement=about_z, offset=about_x.inverse(), **others
            )
        if joint.sound and not along_z(CATALOGUE[kind], joint.sequence):
            raise MechanismError(
                f"{here}: Denavit-Hartenberg joints turn about or slide along z; a {kind} joint"
                " does not"
            )
        return joint

    @property
    def reverse(self) -> Reverse:
        """How the kind of the joint changes when parent and child are interchanged. An unknown kind
        counts as reversible, because validate() refuses it by name.
        """
        return CATALOGUE[self.kind].reverse if self.kind in CATALOGUE else SAME

    def reversed(self) -> Joint:
        """Return the same joint with parent and child interchanged.

        Returns
        -------
        Joint

        Raises
        ------
        MechanismError
            Where the catalogue has no such joint (`reverse.cost` is 2), as for a general joint.

        Examples
        --------
        >>> knee = Joint("knee", "revolute", "thigh", "shank", axis=(0, 1, 0))
        >>> knee.reversed().parent, knee.reversed().axis
        ('shank', ((0.0, -1.0, 0.0),))
        """
        if self.reverse.cost > 1:
            raise MechanismError(
                f"joint {self.name!r} would have to be walked from {self.child!r} to"
                f" {self.parent!r}, but {self.reverse.remark}; write it the other way round, or"
                " list it as a loop"
            )
        turned: dict[str, Any] = (
            {name: tuple(reversed(getattr(self, name))) for name in PER_SPEED} if self.sound else {}
        )
        turned |= {"axis": self.reverse.axes(self.axis)} if self.axis else {}
        return replace(
            self,
            parent=self.child,
            child=self.parent,
            placement=self.offset,
            offset=self.placement,
            **turned,
        )

    def pose(self, q: Sequence[float]) -> Pose:
        """Return the pose of the child in the parent.

        Parameters
        ----------
        q : sequence of float
            The joint's own coordinates (nq,), rad or m.

        Returns
        -------
        Pose
            X_PC.
        """
        moved = self.deflection.pose(q) if self.deflection else displacement(self.freedoms, q)
        return self.placement @ moved @ self.offset.inverse()

    def motion_subspace(self, q: Sequence[float]) -> np.ndarray:
        """Return the motion subspace of the joint: its relative velocity is this matrix times v.

        Parameters
        ----------
        q : sequence of float
            The joint's own coordinates (nq,), rad or m.

        Returns
        -------
        numpy.ndarray
            phi (6, nv), angular rows first, in the axes of the joint on its child
            ([Merwe1995] eq. 2.9).
        """
        return motion_subspace(self.freedoms, q)


def _axis(a: Sequence[float]) -> Vector:
    """Return the axis with length one, or the numbers as given if they have no direction, so that
    validate() refuses them with the name of the joint.
    """
    try:
        return unit(a)
    except (ValueError, TypeError):
        return tuple(float(x) for x in a)  # type: ignore[return-value]


def _each(value: PerSpeed, n: int) -> tuple[Scalar, ...]:
    """Return one value for each of n speeds: the given values, or a single value n times."""
    many = isinstance(value, Sequence) or bool(getattr(value, "ndim", False))
    return tuple(scalar(x) for x in value) if many else (scalar(value),) * n
