"""A cache of objects derived from a mechanism, stored on the mechanism itself: traced functions,
machines, systems and their machine code.

A table in a module would keep every mechanism of a process alive, because the derived objects refer
to it. So the table is held by the mechanism. Both then refer only to each other, and Python's
garbage collector frees them together when the mechanism is no longer used. The collector counts
Python's objects and not the machine code behind them, so it is called when many tables were created
since its last run. A table is not a part of the mechanism's value: comparisons, hashes, copies and
pickles do not see it.
"""

from __future__ import annotations

import gc
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

MIN_TABLES = 32  # tables that may be alive before the garbage collector is called
_alive: weakref.WeakSet[_Life] = weakref.WeakSet()
_next = {"look": MIN_TABLES}


class _Life:
    """A marker object with the same lifetime as its table; the live markers count the tables."""


class Attached(OrderedDict[object, Any]):
    """The values derived from one object, by keys, least recently used first."""

    def __init__(self, owner: Any = None):
        super().__init__()
        self.life = _Life()
        self.owner = weakref.ref(owner) if owner is not None else lambda: None

    def __reduce__(self) -> tuple[Any, ...]:
        return Attached, ()  # neither pickled nor copied


def attached(owner: Any, sort: str) -> Attached:
    """Return the table of this sort that belongs to an object; a copy of the object has a new
    one.
    """
    place = f"_{sort}_made_of_it"
    found: Attached | None = owner.__dict__.get(place)
    if found is None or found.owner() is not owner:
        found = owner.__dict__[place] = Attached(owner)
        _alive.add(found.life)
        _collect_garbage()
    return found


def _collect_garbage() -> None:
    """Run the garbage collector if there are twice as many tables as were alive after its last run,
    so that a program which holds thousands of mechanisms is not slowed down.
    """
    if len(_alive) > _next["look"]:
        gc.collect()
        _next["look"] = max(MIN_TABLES, 2 * len(_alive))


def keep(owner: Any, sort: str, most: int, key: object, make: Callable[[], Any]) -> Any:
    """Return the value of this key in the owner's table of this sort; `make` computes it the first
    time. At most `most` values of one sort are stored; the least recently used are dropped.
    """
    table = attached(owner, sort)
    if key not in table:
        table[key] = make()
        while len(table) > most:
            table.popitem(last=False)
    table.move_to_end(key)
    return table[key]
