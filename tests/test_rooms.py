"""What a room exports is what others get, also where one of its modules has the same name."""

import pkgutil
from importlib import import_module
from types import ModuleType

import catena
from catena.doors import exported

ROOMS = [name for _, name, is_room in pkgutil.walk_packages(catena.__path__, "catena.") if is_room]


def test_no_module_hides_what_a_room_exports() -> None:
    hidden = []
    for room in ROOMS:
        module = import_module(room)
        for name, (_, own) in exported(room).items():
            if own is not None and isinstance(vars(module).get(name), ModuleType):
                hidden.append(f"{room}.{name}")
    assert not hidden


def test_the_room_of_readable_equations_exports_the_function_width() -> None:
    assert callable(import_module("catena.equations.readable").width)
