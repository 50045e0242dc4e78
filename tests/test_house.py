"""The shape of the house: rooms in one order, small files, small functions, types on the public
face.
"""

from __future__ import annotations

import configparser
import inspect
from collections.abc import Iterator
from pathlib import Path

import catena
from tools import imports

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "catena"


def contracts() -> configparser.ConfigParser:
    found = configparser.ConfigParser()
    found.read(ROOT / ".importlinter")
    return found


def test_the_contract_has_no_exceptions():
    assert contracts()["importlinter:contract:flow"]["exhaustive"] == "True"
    for name, contract in contracts().items():
        assert not {"ignore_imports", "unmatched_ignore_imports_alerting"} & set(contract), name
        if contract.get("type") == "layers":
            assert ":" not in contract["layers"], (
                f"{name}: what stands in one line must not import each other: write |"
            )


def test_few_modules_are_outside_the_rooms():
    assert {path.stem for path in SOURCE.glob("*.py")} == {
        "__init__",
        "doors",
        "registry",
        "spatial",
    }


def test_no_cycles_no_windows_no_private_imports():
    files = imports.modules(SOURCE)
    assert [*imports.cycles(files), *imports.windows(files), *imports.private(files)] == []


def test_the_check_of_imports_sees_cycles_windows_and_private_names(tmp_path):
    root = tmp_path / "house"
    texts = {
        "__init__.py": "",
        "one/__init__.py": "",
        "one/a.py": "from .b import x\n",
        "one/b.py": "def f() -> None:\n    from .a import y\n\n    y()\n",
        "two/__init__.py": "",
        "two/c.py": "from ..one.a import x\nfrom .d import _hidden\n",
        "two/d.py": "_hidden = 1\n",
    }
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    files = imports.modules(root)
    assert [x[:18] for x in imports.cycles(files)] == ["cycle of 2 modules"]
    assert imports.windows(files) == ["house.two.c imports x from house.one.a, which is no door"]
    assert imports.private(files) == [
        "house.two.c imports the private name _hidden from house.two.d"
    ]


def functions(owner: object, name: str) -> Iterator[tuple[str, object]]:
    """The public functions of a public name: itself, or those of a class or module."""
    if inspect.isfunction(owner):
        yield name, owner
    elif inspect.isclass(owner) or inspect.ismodule(owner):
        here = owner.__name__ if inspect.ismodule(owner) else owner.__module__
        for own, value in vars(owner).items():
            value = getattr(value, "__func__", getattr(value, "fget", value))
            if getattr(value, "__module__", None) == here and (
                own == "__init__" or not own.startswith("_")
            ):
                yield from functions(value, f"{name}.{own}")


def test_signatures_of_the_public_face_say_their_types():
    found = [pair for name in catena.__all__ for pair in functions(getattr(catena, name), name)]
    assert len(found) > 150
    loose = [
        name
        for name, f in found
        if any("Any" in str(x) for x in getattr(f, "__annotations__", {}).values())
    ]
    assert len(loose) < 30, loose
