"""Scenes: several mechanisms in one, and parts of one.

    attach(scene, robot, prefix="left_", on="table", at=Pose(...))
                                        everything of the robot under new names, on a body of the
                                        scene
    subtree(mechanism, "forearm")       a body and all that it carries, fixed to the ground
    pruned(mechanism, "gripper")        the mechanism without a body and all that it carries
    replaced(mechanism, "gripper", tool, prefix="tool_")
                                        another mechanism in their place
    locked(mechanism, {"elbow": 0.5})   joints made rigid at given coordinates
    mirrors.mirrored(mechanism)         its mirror image

Each returns a new mechanism; its arguments stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from ..errors import MechanismError, UnknownNameError
from .carriers import place_names
from .contacts import Contact
from .loads.keys import Keyed, identifier
from .mechanism import GROUND, Body, Frame, Joint, Mechanism
from .pose import Pose, Scalar, as_pose
from .sensors import Sensor
from .shapes import CollisionFilter
from .values import with_scalars

Record = TypeVar("Record")
Named = TypeVar("Named", bound=Keyed)
HERE = Pose()
_WORD = re.compile(r"[A-Za-z_]\w*")
_PREFIX = re.compile(r"[A-Za-z]\w*")


def attach(
    scene: Mechanism, part: Mechanism, prefix: str, on: str = GROUND, at: Pose = HERE
) -> Mechanism:
    """Return a scene with another mechanism attached to it.

    Joints, loops, loads, constraints, contacts and shapes of the part's ground come along. Gravity
    is the scene's; loads in world axes stay in the world's axes.

    Parameters
    ----------
    scene : Mechanism
        The mechanism that is added to.
    part : Mechanism
        The mechanism that is added.
    prefix : str
        Put before every name of the part: bodies, joints, frames, loads and parameters. A letter,
        then letters, digits and _.
    on : str, default "ground"
        A body or frame of the scene, or the ground, that takes the place of the part's ground.
    at : Pose or 3 scalars, default identity
        The pose of the part's ground in `on`; three numbers are its position, m.

    Returns
    -------
    Mechanism
        The scene with the part; it has the scene's name.

    Raises
    ------
    MechanismError
        Where the prefix cannot stand before names.
    UnknownNameError
        Where the scene has no frame `on`.

    Examples
    --------
    >>> from catena.formats import load
    >>> arm = load("two_link_arm")
    >>> scene = attach(Mechanism("two arms", (), ()), arm, "left_")
    >>> attach(scene, arm, "right_", at=Pose(position=(1, 0, 0))).coordinate_names
    ('left_shoulder', 'left_elbow', 'right_shoulder', 'right_elbow')
    """
    if not _PREFIX.fullmatch(prefix):
        raise MechanismError(
            f"the prefix {prefix!r} cannot stand before names: it is a letter, then letters, digits"
            " and _"
        )
    frame = scene.frame(on)
    where = as_pose(at, f"attach: the place `at` of {prefix!r}")
    taken = _Attached(prefix, part, frame.body, frame.pose @ where)
    notes = (
        ()
        if part.gravity == scene.gravity
        else (f"{prefix}: its gravity {part.gravity} is left out, the scene's holds",)
    )
    shapes = {} if taken.body == GROUND else {taken.body: tuple(taken.shapes())}
    combined = replace(
        scene,
        bodies=(
            *(replace(b, shapes=(*b.shapes, *shapes.get(b.name, ()))) for b in scene.bodies),
            *map(taken.part_of, part.bodies),
        ),
        joints=(*scene.joints, *map(taken.joint, part.joints)),
        loops=(*scene.loops, *map(taken.joint, part.loops)),
        frames=(*scene.frames, *map(taken.frame, part.frames), *taken.mount()),
        loads=(*scene.loads, *map(taken.keyed, part.loads)),
        nonholonomic=(*scene.nonholonomic, *map(taken.keyed, part.nonholonomic)),
        constraints=(*scene.constraints, *map(taken.keyed, part.constraints)),
        contacts=(*scene.contacts, *map(taken.contact, part.contacts)),
        sensors=(*scene.sensors, *map(taken.sensor, part.sensors)),
        parameters={
            **scene.parameters,
            **{prefix + name: x for name, x in part.parameters.items()},
        },
        units={**scene.units, **{prefix + name: x for name, x in part.units.items()}},
        ground=(*scene.ground, *(taken.shapes() if taken.body == GROUND else ())),
        collisions=_both(scene.collisions, taken.collisions()),
        planar=None,
        as_found=scene.as_found or part.as_found,
        notes=(*scene.notes, *(f"{prefix}: {note}" for note in part.notes), *notes),
    )
    return combined


def subtree(mechanism: Mechanism, body: str) -> Mechanism:
    """Return a body and all that it carries, with the body fixed to the ground where its frame was.

    Everything else is left out. Loops, loads, constraints and contacts that refer to bodies outside
    are left out too, and `notes` names them.
    """
    m = mechanism
    carried = _carried(mechanism, body)
    root = Joint(next(j.name for j in m.joints if j.child == body), "fixed", GROUND, body)
    joints = (root, *(j for j in m.joints if j.parent in carried))
    return _without(
        m,
        f"the subtree of {body!r}",
        joints,
        bodies=tuple(b for b in m.bodies if b.name in carried),
    )


def pruned(mechanism: Mechanism, body: str) -> Mechanism:
    """Return the mechanism without a body and all that it carries. Records that refer to these are
    left out too, and `notes` names them.
    """
    m = mechanism
    removed = _carried(mechanism, body)
    joints = tuple(j for j in m.joints if j.child not in removed)
    return _without(
        m,
        f"without {body!r} and what it carries",
        joints,
        bodies=tuple(b for b in m.bodies if b.name not in removed),
    )


def replaced(mechanism: Mechanism, body: str, part: Mechanism, prefix: str) -> Mechanism:
    """Return the mechanism with another one in the place of a body and all that it carries; the
    ground of `part` is placed where the body's frame was. The body must be fixed to its parent, as
    a tool is to a flange; if its joint moves, lock it first.
    """
    holder = next((j for j in mechanism.joints if j.child == body), None)
    if holder is not None and holder.nv:
        raise MechanismError(
            f"body {body!r} moves by joint {holder.name!r} ({holder.kind}); what is replaced is"
            " fixed to a body: lock the joint, or replace a body behind it"
        )
    left = pruned(mechanism, body)
    return (
        attach(left, part, prefix, holder.parent, holder.placement @ holder.offset.inverse())
        if holder
        else left
    )


def _carried(m: Mechanism, body: str) -> set[str]:
    """Return the names of a body and all that it carries."""
    m.body(body)
    found = {body}
    for j in m.ordered:
        if j.parent in found:
            found.add(j.child)
    return found


def locked(mechanism: Mechanism, joints: Mapping[str, float | Sequence[float]]) -> Mechanism:
    """Return the mechanism with some joints made rigid at values of their own coordinates (rad, m,
    quaternions scalar first).

    Loads along their coordinates are left out, and `notes` names them.
    """
    m = mechanism
    for name in joints:
        if name not in {j.name for j in m.joints}:
            raise UnknownNameError(
                "joint", name, [j.name for j in m.joints], f"mechanism {m.name!r}"
            )
    return _without(
        m,
        f"with {', '.join(joints)} locked",
        tuple(_rigid(j, joints[j.name]) if j.name in joints else j for j in m.joints),
    )


def _rigid(j: Joint, q: float | Sequence[float]) -> Joint:
    own = [float(x) for x in np.atleast_1d(np.asarray(q, float))]
    if len(own) != j.nq:
        raise MechanismError(
            f"joint {j.name!r} is locked at {len(own)} values; it has {j.nq} coordinates:"
            f" {', '.join(j.coordinate_names)}"
        )
    return Joint(
        j.name, "fixed", j.parent, j.child, placement=j.pose(own) @ j.offset, offset=j.offset
    )


def _without(
    m: Mechanism, what: str, joints: tuple[Joint, ...], bodies: tuple[Body, ...] | None = None
) -> Mechanism:
    """Return the mechanism without these joints and bodies, and without everything that refers to
    them. what: how these are called in the notes.
    """
    bodies = m.bodies if bodies is None else bodies
    there = {GROUND, *(b.name for b in bodies)}
    frames = tuple(f for f in m.frames if f.body in there)
    loops = tuple(j for j in m.loops if {j.parent, j.child} <= there)
    reduced = replace(m, bodies=bodies, joints=joints, loops=loops, frames=frames)
    places = there | {f.name for f in frames}
    names = {*reduced.coordinate_names, *reduced.speed_names}
    symbols = {f"{letter}_{identifier(n)}" for letter in "qv" for n in names} | {"t", *m.parameters}
    removed_places = {*(b.name for b in m.bodies), *(f.name for f in m.frames)} - places

    def stays(x: Any) -> bool:
        if isinstance(x, Contact):
            return {*x.between[0], x.between[1]} <= places
        texts = [
            w
            for text in x.holding("expression", "expressions", "text", "position")
            if isinstance(text, str)
            for w in _WORD.findall(text)
        ]
        words = {f"{axis}_{identifier(n)}" for n in removed_places for axis in "xyz"}
        return (
            {*x.holding("frame", "frames", "turning", "sliding")} <= places
            and not words & set(texts)
            and {*x.holding("coordinate", "coordinates", "speed")} <= names
            and all(w in symbols for w in texts if w[:2] in ("q_", "v_"))
        )

    parts: dict[str, Any] = {
        key: tuple(x for x in getattr(m, key) if stays(x))
        for key in ("loads", "nonholonomic", "constraints", "contacts")
    }
    left_out = [
        x.name for key, remaining in parts.items() for x in getattr(m, key) if x not in remaining
    ]
    left_out += [j.name for j in m.loops if j not in loops]
    measured = {*names, *places, *(j.name for j in reduced.moving), *(c.name for c in m.contacts)}
    parts["sensors"] = tuple(x for x in m.sensors if x.at in measured)
    left_out += [x.name for x in m.sensors if x not in parts["sensors"]]
    notes = (
        (*m.notes, f"{what}: left out, as they need what is not there: {', '.join(left_out)}")
        if left_out
        else m.notes
    )
    return replace(reduced, **parts, notes=notes, planar=None)


# --- new names
@dataclass(frozen=True)
class _Attached:
    """A part under its new names in a scene: the prefix of its names, and the pose X of its ground
    on a body of the scene.
    """

    prefix: str
    source: Mechanism
    body: str
    X: Pose

    def name(self, name: str) -> str:
        return self.prefix + name

    def joint(self, j: Joint) -> Joint:
        new = self.renamed(j)
        mimic = replace(new.mimic, joint=self.name(new.mimic.joint)) if new.mimic else None
        (parent, placement), (child, offset) = (
            self.end(j.parent, new.placement),
            self.end(j.child, new.offset),
        )
        return replace(
            new,
            name=self.name(j.name),
            parent=parent,
            child=child,
            placement=placement,
            offset=offset,
            mimic=mimic,
        )

    def end(self, body: str, X: Pose) -> tuple[str, Pose]:
        """Return (body, pose) in the scene for a pose X on a body of the part, or on the part's
        ground.
        """
        return (self.body, self.X @ X) if body == GROUND else (self.name(body), X)

    def part_of(self, b: Body) -> Body:
        return replace(self.renamed(b), name=self.name(b.name))

    def frame(self, f: Frame) -> Frame:
        return Frame(self.name(f.name), *self.end(f.body, self.renamed(f.pose)))

    def mount(self) -> Iterator[Frame]:
        """Yield the part's ground as a frame of the scene, if a record of the part refers to it."""
        if any(
            GROUND in x.holding("frame", "frames", "turning", "sliding")
            for x in (*self.source.loads, *self.source.row_records)
        ):
            yield Frame(self.name(GROUND), self.body, self.X)

    def keyed(self, x: Named) -> Named:
        """Return a load or constraint with the new names of frames, coordinates and speeds, also
        inside its expressions.
        """
        rename: dict[str, Callable[[str], str]] = {
            **dict.fromkeys(
                ("frame", "frames", "turning", "sliding", "coordinate", "coordinates", "speed"),
                self.name,
            ),
            **dict.fromkeys(
                ("expression", "expressions", "text", "position", "profile"), self.text
            ),
        }
        changes = {
            key: _each(getattr(x, key), rename[k.sort])
            for key, k in x.schema().items()
            if k.sort in rename and getattr(x, key) is not None
        }
        return replace(self.renamed(x), name=self.name(x.name), **changes)

    def contact(self, c: Contact) -> Contact:
        touching, surface = c.between
        pair = tuple(map(self.name, touching)), surface if surface == GROUND else self.name(surface)
        return replace(c, between=pair, name=self.name(c.name))

    def sensor(self, x: Sensor) -> Sensor:
        return replace(x, name=self.name(x.name), at=self.name(x.at))

    def shapes(self) -> Iterable[Any]:
        return (replace(s, pose=self.X @ s.pose) for s in map(self.renamed, self.source.ground))

    def collisions(self) -> CollisionFilter:
        c = self.source.collisions
        named = lambda n: n if n == GROUND else self.name(n)  # noqa: E731
        pairs = {
            key: tuple((named(a), named(b)) for a, b in getattr(c, key))
            for key in ("include", "exclude", "only")
        }
        return CollisionFilter(
            **pairs, groups={self.name(k): tuple(map(named, v)) for k, v in c.groups.items()}
        )

    def text(self, text: str) -> str:
        """Return an expression of the part with the new names of its coordinates, speeds and
        parameters.
        """

        def new(match: re.Match[str]) -> str:
            word = match[0]
            if word[:2] in ("q_", "v_") or word in self.places:
                return word[:2] + self.prefix + word[2:]
            return self.name(word) if word in self.source.parameters else word

        return _WORD.sub(new, text)

    @property
    def places(self) -> dict[str, tuple[str, int]]:
        """The names of the coordinates of frames, such as x_tip, that expressions of the part may
        use.
        """
        return place_names(self.source)

    def renamed(self, x: Record) -> Record:
        """Return a record whose numbers are expressions of the parameters under their new names."""
        if not self.source.parameters:
            return x
        return with_scalars(x, self._symbols)

    def _symbols(self, x: Scalar) -> Scalar:
        import sympy

        return x.xreplace({s: sympy.Symbol(self.name(s.name)) for s in x.free_symbols})


def _each(value: Any, rename: Callable[[str], str]) -> Any:
    if isinstance(value, tuple):
        return tuple(_each(x, rename) for x in value)
    return rename(value) if isinstance(value, str) else value


def _both(a: CollisionFilter, b: CollisionFilter) -> CollisionFilter:
    return CollisionFilter(
        (*a.include, *b.include),
        (*a.exclude, *b.exclude),
        (*a.only, *b.only),
        {**a.groups, **b.groups},
    )
