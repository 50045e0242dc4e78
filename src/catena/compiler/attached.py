"""What was made of a mechanism, kept with it: tapes, machines, systems and their machine code.

A table of all that was made, at the level of a module, would keep every mechanism of a process
alive, since what is made of a mechanism refers to it. So it is held by the mechanism itself. Both
then refer to each other and to nobody else, and Python's garbage collector frees them together when
the mechanism is gone. The collector counts Python's objects and not the machine code behind them,
so it is asked to look when many tables were made since it last did. A table is no part of the
mechanism: comparisons, hashes, copies and pickles do not see it.
"""

from __future__ import annotations

import gc
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

LEAST = 32  # tables that may be alive before the collector is asked to look
_alive: weakref.WeakSet[_Life] = weakref.WeakSet()
_next = {"look": LEAST}


class _Life:
    """As long as a table lives, this does."""


class Attached(OrderedDict[object, Any]):
    """What was made of one object, by keys; those that were not used for longest go first."""

    def __init__(self, owner: Any = None):
        super().__init__()
        self.life = _Life()
        self.owner = weakref.ref(owner) if owner is not None else lambda: None

    def __reduce__(self) -> tuple[Any, ...]:
        return Attached, ()  # neither pickled nor copied


def attached(owner: Any, sort: str) -> Attached:
    """What of this sort was made of this very object; of a copy of it nothing was."""
    place = f"_{sort}_made_of_it"
    found: Attached | None = owner.__dict__.get(place)
    if found is None or found.owner() is not owner:
        found = owner.__dict__[place] = Attached(owner)
        _alive.add(found.life)
        _look()
    return found


def _look() -> None:
    """Free tables whose owners are gone, where there are many: twice as many as were needed the
    last time, so that a program which holds thousands of mechanisms is not held up.
    """
    if len(_alive) > _next["look"]:
        gc.collect()
        _next["look"] = max(LEAST, 2 * len(_alive))


def keep(owner: Any, sort: str, most: int, key: object, make: Callable[[], Any]) -> Any:
    """What `make` made of the owner for this key, now or before; at most so many things of one sort
    are kept.
    """
    made = attached(owner, sort)
    if key not in made:
        made[key] = make()
        while len(made) > most:
            made.popitem(last=False)
    made.move_to_end(key)
    return made[key]
