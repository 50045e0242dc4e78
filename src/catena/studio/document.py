"""Document: a model file under edit. The text of the file is the model, so that comments, order and
units are preserved.

Every change goes through tomlkit and produces a text; undo and redo step through these. `save`
writes the file atomically, and never overwrites changes that another program has made in the
meantime.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import CatenaError, FormatError
from ..formats import files

Path_ = Sequence[str | int]
EMPTY = (
    'name = "{name}"\ngravity = [0, -9.81, 0]\nplanar = true\n\n[parameters]\n\n[scenario]\nuntil ='
    ' "5 s"\n'
)
MAX_UNDO_STEPS = 500  # steps that can be undone


class ChangedOnDisk(CatenaError):
    """The file was changed by another program since it was read."""


@dataclass(frozen=True)
class Step:
    """A text of the file, and the key of the change that produced it; consecutive changes with the
    same key become one step of undo.
    """

    text: str
    key: str = ""


class Document:
    """A model file: its present text, the texts before and after it, and the text on disk."""

    def __init__(self, path: Path):
        self.path = path
        self.on_disk = self._read()
        start = self.on_disk if self.on_disk is not None else EMPTY.format(name=path.stem)
        self.steps, self.now = [Step(start)], 0

    @property
    def text(self) -> str:
        """The present text."""
        return self.steps[self.now].text

    @property
    def saved(self) -> bool:
        """Whether the file on disk has the present text."""
        return self.text == self.on_disk

    def data(self) -> dict[str, Any]:
        """Return the tables of the text; raise FormatError where it is not TOML."""
        try:
            return tomllib.loads(self.text)
        except ValueError as why:
            raise FormatError(self.path, f"the file is not TOML: {why}") from None

    # --- history
    def replace(self, text: str, key: str = "") -> None:
        """Set another text, as a step that can be undone."""
        if text == self.text:
            return
        joined = bool(key) and self.steps[self.now].key == key and self.now > 0
        kept = self.steps[: self.now if joined else self.now + 1]
        self.steps = [*kept, Step(text, key)][-MAX_UNDO_STEPS:]
        self.now = len(self.steps) - 1

    def undo(self) -> bool:
        """Go one step back; return whether there was one."""
        self.now, before = max(0, self.now - 1), self.now
        return self.now != before

    def redo(self) -> bool:
        """Go one step forward; return whether there was one."""
        self.now, before = min(len(self.steps) - 1, self.now + 1), self.now
        return self.now != before

    # --- changes
    def set(self, path: Path_, value: Any, key: str = "") -> None:
        """Write a value at a path such as ["body", 0, "mass"]; missing tables on the way are
        created.
        """
        self._change(lambda top: _put(top, path, value), key)

    def remove(self, path: Path_) -> None:
        """Remove the value at a path, and its table if that becomes empty."""

        def take(top: Any) -> None:
            *way, last = path
            holder = _at(top, way)
            del holder[last]
            if not len(holder) and way:
                del _at(top, way[:-1])[way[-1]]

        self._change(take)

    def add(
        self,
        tables: Sequence[tuple[str, Mapping[str, Any]]],
        parameters: Mapping[str, Any] | None = None,
    ) -> None:
        """Append [[kind]] tables, and parameters, in one step."""

        def append(top: Any) -> None:
            for name, value in (parameters or {}).items():
                _put(top, ["parameters", name], value)
            for kind, content in tables:
                _append(top, kind, content)

        self._change(append)

    def rename(self, path: Path_, name: str) -> None:
        """Rename a part, and update every reference to it, in values and in keys."""
        old = _at(self.data(), [*path, "name"])

        def walk(node: Any) -> None:
            for k in list(node) if isinstance(node, Mapping) else range(len(node)):
                value = node[k]
                if isinstance(value, (Mapping, list)):
                    walk(value)
                elif (
                    isinstance(value, str)
                    and value == old
                    and k
                    in (
                        "name",
                        "parent",
                        "child",
                        "body",
                        "start",
                        "end",
                        "frame",
                        "coordinate",
                        "joint",
                        "sphere",
                        "surface",
                    )
                ) or (isinstance(k, int) and value == old):
                    node[k] = name
                if k == old and isinstance(node, Mapping):
                    node[name] = node[old]  # type: ignore[index]  # a table of tomlkit
                    del node[old]  # type: ignore[attr-defined]

        self._change(walk)

    def _change(self, change: Callable[[Any], None], key: str = "") -> None:
        """Apply a change to the parsed text; raise CatenaError where it cannot be made."""
        try:
            import tomlkit
            from tomlkit.exceptions import TOMLKitError
        except ImportError:
            raise CatenaError(
                "editing needs the package tomlkit: pip install 'catena[studio]'"
            ) from None
        try:
            top = tomlkit.parse(self.text)
            change(top)
            text = tomlkit.dumps(top)
            tomllib.loads(text)
        except (TOMLKitError, KeyError, IndexError, TypeError, ValueError) as why:
            raise CatenaError(f"this change cannot be made: {why}") from None
        self.replace(text, key)

    # --- the file
    def save(self, force: bool = False) -> None:
        """Write the file; raise ChangedOnDisk where it was changed since it was read, unless
        `force`.
        """
        there = self._read()
        if there != self.on_disk and not force and there != self.text:
            raise ChangedOnDisk(
                f"{self.path.name} was changed on disk since it was read here; it was not written."
                " Take the file as it is on disk, or write over it"
            )
        files.write(self.path, self.text)
        self.on_disk = self.text

    def changed_on_disk(self) -> bool:
        """Return whether the file differs from the text that the studio last read or wrote."""
        return self._read() != self.on_disk

    def reload(self) -> None:
        """Replace the text by that on disk; undo restores the present text."""
        there = self._read()
        if there is not None:
            self.on_disk = there
            self.replace(there)

    def _read(self) -> str | None:
        """Return the text on disk, None where there is no file; raise FormatError where it is not
        UTF-8.
        """
        if not self.path.exists():
            return None
        data = files.read(self.path)
        try:
            return data.decode()
        except UnicodeDecodeError as why:
            raise FormatError(self.path, f"the file is not text in UTF-8: {why}") from None


def value_of_text(text: str) -> Any:
    """Return a string that a user typed as a TOML value: a number, true or false, a list or table
    in TOML syntax, or a string.
    """
    import tomlkit

    typed = text.strip()
    for read in (int, float):
        try:
            number = read(typed)
            return number if number == number and abs(number) != float("inf") else typed
        except ValueError:
            pass
    if typed in ("true", "false"):
        return typed == "true"
    if typed[:1] in ("[", "{"):
        try:
            return tomlkit.value(typed)
        except Exception as why:  # whatever its parser says of what is not TOML
            raise CatenaError(
                f'{typed!r} is not a list or table of TOML ({why}); such as [1, "2 cm", 0]'
            ) from None
    return text


# --- tables
def _at(top: Any, path: Path_) -> Any:
    """Return the value at a path."""
    for part in path:
        top = top[part]
    return top


def _put(top: Any, path: Path_, value: Any) -> None:
    """Write a value at a path, with the comment of the value that it replaces."""
    import tomlkit

    *way, last = path
    for k, part in enumerate(way):
        if isinstance(part, str) and part not in top:
            top[part] = tomlkit.table() if k == 0 else tomlkit.inline_table()
        top = top[part]
    if (
        isinstance(last, str)
        and last in top
        and hasattr(top[last], "comment")
        and not isinstance(value, (Mapping, list))
    ):
        made = tomlkit.item(value)
        made.trivia.comment = top[last].trivia.comment
        made.trivia.comment_ws = top[last].trivia.comment_ws
        made.trivia.indent = top[last].trivia.indent
        top[last] = made
    else:
        top[last] = _inline(value)


def _inline(value: Any) -> Any:
    """Return a value in inline form: mappings become inline tables."""
    import tomlkit

    if isinstance(value, Mapping):
        table = tomlkit.inline_table()
        for k, x in value.items():
            table[k] = _inline(x)
        return table
    return value


def _append(top: Any, kind: str, content: Mapping[str, Any]) -> None:
    """Append a [[kind]] table behind the others of its kind, or before [scenario] where it is the
    first.
    """
    import tomlkit

    table = tomlkit.table()
    for key, value in content.items():
        table[key] = _inline(value)
    if kind in top:
        top[kind].append(table)
        return
    last = top.pop("scenario", None)
    array = tomlkit.aot()
    array.append(table)
    top[kind] = array
    if last is not None:
        top["scenario"] = last
