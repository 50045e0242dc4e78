"""Simulation: from a mechanism and a scenario to a Result, the time loop in machine code.

The room bears the name of its main function, and answers to it: `catena.simulate(mechanism, until=5.0)` runs, and
`catena.simulate.control` is a part of the room.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from .methods import METHODS
from .run import simulate

ALL_INTEGRATORS = tuple(METHODS)

__all__ = ["ALL_INTEGRATORS", "simulate"]


class _Room(ModuleType):
    """A module that can be called."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return simulate(*arguments, **options)


_Room.__call__.__doc__ = simulate.__doc__
sys.modules[__name__].__class__ = _Room
