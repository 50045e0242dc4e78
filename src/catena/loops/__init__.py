"""Closing a loop: cut a graph to a tree, count what moves, assemble a configuration, stay on the constraints.

    graph --cut--> tree + loops --assemble--> q, v on the loops --project--> there again after a step of time

Each name is loaded when first used: a reader of files needs `cut` alone, and that needs no compiled code.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_WHERE = {
    "cut": "cutting",
    "rows_at": "rows",
    "Rows": "rows",
    "spaces": "rows",
    "mobility": "freedom",
    "Mobility": "freedom",
    "assemble": "assembly",
    "project": "projection",
}
__all__ = [
    "Mobility",
    "Rows",
    "assemble",
    "cut",
    "mobility",
    "project",
    "rows_at",
    "spaces",
]

if TYPE_CHECKING:
    from .assembly import assemble
    from .cutting import cut
    from .freedom import Mobility, mobility
    from .projection import project
    from .rows import Rows, rows_at, spaces


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'catena.loops' has no attribute {name!r}")
    return getattr(import_module(f".{_WHERE[name]}", __name__), name)
