"""Doors: how a package exports names that are loaded when they are first used. The `__init__.py` of
a package documents it, and imports its public names in a block for type checkers; `door` makes the
same names work at run time:

    if TYPE_CHECKING:
        from .mechanism import Mechanism as Mechanism

    __getattr__, __dir__ = door(__name__)

So the list is written once, importing a package costs nothing, and the use of a name loads only its
own module.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

__all__ = ["ShortNames", "door"]


class Room(ModuleType):
    """A package, as a module class in which exported names have precedence over modules of the same
    name.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        # the import system binds a module in its package: `mobility`, the file, would hide
        # `mobility`, the function that the room exports
        if isinstance(value, ModuleType) and hides(self, name):
            return
        super().__setattr__(name, value)


def hides(room: ModuleType, name: str) -> bool:
    """Return whether a module bound to `name` would hide an object that the package exports by that
    name.
    """
    return exported(room.__name__).get(name, ("", None))[1] is not None


@cache
def exported(package: str) -> dict[str, tuple[str, str | None]]:
    """Return the exports of a package: name -> (module, its name there, or None for the module
    itself).

    It is read from the imports of the block `if TYPE_CHECKING:` of its `__init__.py`.
    """
    found: dict[str, tuple[str, str | None]] = {}
    for statement in ast.parse(inspect.getsource(sys.modules[package])).body:
        if isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING":
            for line in statement.body:
                if isinstance(line, ast.ImportFrom) and line.level:
                    for name in line.names:
                        shown = name.asname or name.name
                        found[shown] = (
                            ("." * line.level + line.module, name.name)
                            if line.module
                            else ("." * line.level + name.name, None)
                        )
    return found


def door(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` for a package.

    Parameters
    ----------
    package : str
        The room's own `__name__`.

    Returns
    -------
    tuple of two functions
        What a module needs to load its exported names on first use ([PEP 562]).
    """
    room = sys.modules[package]
    room.__class__ = Room
    for name in [name for name, value in vars(room).items() if isinstance(value, ModuleType)]:
        if hides(room, name):  # what the room imported itself was bound before it was a Room
            del vars(room)[name]

    def __getattr__(name: str) -> Any:
        if name.startswith("__") or name not in exported(package):
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, own = exported(package)[name]
        value = import_module(module, package)
        if own is not None:
            value = getattr(value, own)
            if not name.startswith("ALL_"):  # families may grow
                vars(room)[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted({*vars(room), *exported(package)})

    return __getattr__, __dir__


class ShortNames:
    """Lets `import catena.bridge` find the module that the name `catena.bridge` stands for.

    An object of this class is a finder and a loader of the import system: append it to
    `sys.meta_path`.
    """

    def __init__(self, package: str, modules: dict[str, str]):
        """Take `modules`, {short name: full name}, for `import package.short_name`."""
        self.modules = {f"{package}.{short}": full for short, full in modules.items()}

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return the spec of a module that has a short name, None for all others."""
        return ModuleSpec(name, self) if name in self.modules else None  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the module itself, with the spec that the import system is about to replace."""
        module = import_module(self.modules[spec.name])
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Give the module its own spec back: it was run under its full name."""
        assert module.__spec__ is not None
        module.__spec__ = module.__spec__.loader_state
