"""Shapes of bodies and of the ground, and which pairs of them may collide."""

from __future__ import annotations

from ...errors import MechanismError
from ...model import SHAPE_KINDS as KINDS
from ...model import CollisionFilter, Shape
from .poses import read_pose
from .schema import COLLISIONS, SHAPE
from .tables import REQUIRED, Table


def read_shape(t: Table, collides: bool = False) -> Shape:
    """Return a shape. collides: whether it can collide if the file does not say so."""
    word = t.text("kind")
    if word not in KINDS:
        if word:
            t.fault(f"kind is {word!r}; it is one of {', '.join(KINDS)}")
        return Shape("sphere", (1.0,))
    kind = KINDS[word]
    t.only(
        (
            SHAPE.word,
            *SHAPE.names,
            *(("size",) if kind.sizes else ()),
            *(("file",) if kind.from_file or kind.has_grid else ()),
            *(("heights",) if kind.has_grid else ()),
        )
    )
    default = (1.0,) * len(kind.sizes) if kind.from_file else REQUIRED if kind.sizes else ()
    size = t.vector("size", kind.measure, default, kind.sizes, instead=1.0)
    file = t.text("file", REQUIRED if kind.from_file else "")
    heights = tuple(t.items("heights", [])) if kind.has_grid else ()
    if kind.has_grid and bool(heights) == bool(file):
        t.fault("give either heights, a list of rows of numbers, or the file that holds them")
    flags = t.flag("collides", collides), t.flag("drawn", True)
    try:
        return Shape(
            word, size, read_pose(t), file, _colour(t), *flags, t.text("name", ""), heights
        )
    except MechanismError as why:
        t.fault(str(why))
        return Shape("sphere", (1.0,))


def read_collisions(top: Table) -> CollisionFilter:
    """Return the filter of [collisions]: pairs that are included, excluded or checked exclusively,
    and groups.
    """
    t = top.table("collisions")
    if t is None:
        return CollisionFilter()
    t.only(COLLISIONS.names)
    groups = t.table("groups")
    members = (
        {name: _names(groups, groups.items(name), name) for name in groups.data} if groups else {}
    )
    include, exclude, only = (tuple(_pairs(t, key)) for key in COLLISIONS.names[:3])
    return CollisionFilter(include, exclude, only, members)


def _pairs(t: Table, key: str) -> list[tuple[str, str]]:
    found = [
        _names(t, pair if isinstance(pair, list) else [], key) for pair in t.items(key, default=[])
    ]
    if any(len(pair) != 2 for pair in found):
        t.fault(f"{key} is a list of pairs of bodies or groups, such as [['hand', 'table']]")
    return [(pair[0], pair[1]) for pair in found if len(pair) == 2]


def _names(t: Table, values: list[object], what: str) -> tuple[str, ...]:
    if wrong := [x for x in values if not isinstance(x, str)]:
        t.fault(f"{what} holds {wrong[0]!r}; it takes names")
    return tuple(map(str, values))


def _colour(t: Table) -> tuple[float, ...]:
    names = ("red", "green", "blue", "alpha")
    values = t.items("colour", default=[])
    return (
        t.components(values, "colour", "number", names[: max(3, len(values))], symbolic=False)
        if values
        else ()
    )
