"""Cutting: a mechanism whose bodies and joints make a graph with cycles becomes a spanning tree and
the joints that close it.

The tree grows from the ground (Prim): of all joints that reach a new body the cheapest is taken,
compared by

    1. whether it can be traversed in this direction: a joint whose child comes first needs a
       reverse in the catalogue
    2. whether cutting it would lose something: damping, friction, armature, limits, mimics and
       loads exist only on coordinates of the tree
    3. its number of freedoms: a joint of few freedoms in the tree means few coordinates; cut, it
       means many rows
    4. the depth of the tree: short branches keep the mass matrix well conditioned and the loops'
       rows balanced
    5. whether it is traversed as written, whether its coordinate keeps its meaning, and last the
       order of the file

The remaining joints close loops. The choice is written into `mechanism.notes`; the argument `at`
overrides it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..errors import MechanismError, UnknownNameError
from .joints import Joint
from .loads import identifier
from .mechanism import GROUND, Mechanism


def cut(mechanism: Mechanism, at: Iterable[str] = ()) -> Mechanism:
    """The same mechanism as a tree plus loops; itself when it is a tree already and `at` is empty.

    mechanism: its `joints` may reach a body several times and may be written in any order and
    direction. at: names of the joints to cut; others are cut only where cycles remain.

    >>> import catena
    >>> bar = lambda name: catena.Body(name, 1.0, (0.5, 0, 0), (0.01, 0.1, 0.1))
    >>> end = catena.Pose(position=(1, 0, 0))
    >>> four_bar = catena.Mechanism("four bar", [bar("crank"), bar("coupler"), bar("rocker")], [
    ...     catena.Joint("A", "revolute", "ground", "crank"),
    ...     catena.Joint("B", "revolute", "crank", "coupler", end),
    ...     catena.Joint("C", "revolute", "coupler", "rocker", end, offset=end),
    ...     catena.Joint("D", "revolute", "ground", "rocker", end)])
    >>> print(*cut(four_bar).notes)
    joint 'C' (revolute, 'coupler' to 'rocker') closes a loop: the tree was cut there
    """
    names = [j.name for j in (*mechanism.joints, *mechanism.loops)]
    wanted = tuple(at)
    for name in wanted:
        if name not in names:
            raise UnknownNameError(
                "joint", name, names, f"mechanism {mechanism.name!r}, asked to cut there"
            )
    if not wanted and _is_tree(mechanism):
        return mechanism
    tree_joints, unreached = _grow(
        joints_in_loads(mechanism), [j for j in mechanism.joints if j.name not in wanted]
    )
    reached = {GROUND, *(j.child for j in tree_joints.values())}
    if wanted and (lost := [b.name for b in mechanism.bodies if b.name not in reached]):
        raise MechanismError(
            f"mechanism {mechanism.name!r}: cutting at {', '.join(map(repr, wanted))} leaves body"
            f" {lost[0]!r} joined to nothing ({len(lost)} in all); cut where another joint still"
            " carries it"
        )
    closing = [j for j in mechanism.joints if j.name not in tree_joints and j not in unreached]
    tree = [tree_joints.get(j.name, j) for j in mechanism.joints if j not in closing]
    _mimics(mechanism, tree, closing)
    notes = [
        *_reversal_notes(mechanism.joints, tree_joints),
        *(_cut_note(j, j.name in wanted) for j in closing),
    ]
    return mechanism.with_(
        joints=tree, loops=(*mechanism.loops, *closing), notes=(*mechanism.notes, *notes)
    )


def cut_cycles(m: Mechanism, at: Iterable[str] = ()) -> Mechanism:
    """Return the mechanism cut at the joints `at`, and where joints reach a body twice or end on
    the ground. Return it unchanged where there is nothing to cut, or where its joints are faulty.
    """
    children = [j.child for j in m.joints]
    at = tuple(at)
    cyclic = at or GROUND in children or len(set(children)) < len(children)
    return cut(m, at) if cyclic and _walkable(m) else m


def _walkable(m: Mechanism) -> bool:
    """Return whether every joint is valid, has a unique name and connects two existing bodies."""
    names = [j.name for j in (*m.joints, *m.loops)]
    bodies = {GROUND, *(b.name for b in m.bodies)}
    return len(set(names)) == len(names) and all(
        j.sound and j.parent != j.child and {j.parent, j.child} <= bodies for j in m.joints
    )


def _is_tree(m: Mechanism) -> bool:
    children = [j.child for j in m.joints]
    return (
        len(set(children)) == len(children)
        and GROUND not in children
        and len(m.ordered) == len(m.joints)
    )


def joints_in_loads(m: Mechanism) -> set[str]:
    """Return the names of the joints whose coordinates or speeds are named by loads, constraints
    and speed rows.
    """
    things = (*m.loads, *m.row_records)
    texts = [
        x
        for thing in things
        for x in thing.holding("expression", "expressions", "text", "position")
        if isinstance(x, str)
    ]
    words = {w for text in texts for w in re.findall(r"[A-Za-z_]\w*", text)}
    named = {x for thing in things for x in thing.holding("coordinate", "coordinates", "speed")}
    found = set()
    for j in (j for j in m.joints if j.sound):
        own = {*j.coordinate_names, *j.speed_names}
        if own & named or words & {
            f"{letter}_{identifier(name)}" for name in own for letter in "qv"
        }:
            found.add(j.name)
    return found


def _grow(named_by_loads: set[str], joints: list[Joint]) -> tuple[dict[str, Joint], list[Joint]]:
    """Return the joints of the tree by name, each in the direction in which it is traversed, and
    the joints between bodies that the ground does not reach.
    """
    depth, tree_joints = {GROUND: 0}, {}
    order = {id(j): k for k, j in enumerate(joints)}
    while True:
        frontier = [j for j in joints if (j.parent in depth) != (j.child in depth)]
        if not frontier:
            break
        best = min(frontier, key=lambda j: _cost(j, depth, order[id(j)], j.name in named_by_loads))
        walked = best if best.parent in depth else best.reversed()
        depth[walked.child] = depth[walked.parent] + bool(walked.nv if walked.sound else 1)
        tree_joints[best.name] = walked
    return tree_joints, [j for j in joints if j.parent not in depth and j.child not in depth]


def _cost(
    j: Joint, depth: dict[str, int], order: int, named_by_loads: bool
) -> tuple[bool | int, ...]:
    """Return the key by which `_grow` compares joints; the least is taken."""
    backwards = j.parent not in depth
    cost = j.reverse.cost if backwards else 0
    root = depth[j.child if backwards else j.parent]
    freedoms = j.nv if j.sound else 6
    return (
        cost > 1,
        not (named_by_loads or j.of_coordinates()),
        freedoms,
        root,
        cost,
        backwards,
        order,
    )


def _mimics(m: Mechanism, tree: list[Joint], closing: list[Joint]) -> None:
    """Raise MechanismError where a joint that closes a loop mimics another joint or leads one."""
    cut_names = {j.name for j in closing}
    for j in (*tree, *closing):
        if j.mimic and (j.name in cut_names or j.mimic.joint in cut_names):
            which = j.name if j.name in cut_names else j.mimic.joint
            raise MechanismError(
                f"mechanism {m.name!r}: joint {j.name!r} mimics {j.mimic.joint!r}, and {which!r}"
                " would have to close a loop; both need a coordinate: cut at another joint"
            )


def _reversal_notes(joints: Iterable[Joint], tree_joints: dict[str, Joint]) -> list[str]:
    """Return a note for each joint that is traversed from its child to its parent."""
    return [
        f"joint {j.name!r} is walked from {j.child!r} to {j.parent!r}; {j.reverse.remark}"
        for j in joints
        if j.name in tree_joints and tree_joints[j.name].parent != j.parent
    ]


def _cut_note(j: Joint, asked: bool) -> str:
    """Return the note about a joint that closes a loop, with the values of the joint that have no
    effect there.
    """
    lost = j.of_coordinates()
    tail = (
        f"; its {', '.join(lost)} {'is' if len(lost) == 1 else 'are'} not felt there"
        if lost
        else ""
    )
    why = "as asked" if asked else "the tree was cut there"
    return f"joint {j.name!r} ({j.kind}, {j.parent!r} to {j.child!r}) closes a loop: {why}{tail}"
