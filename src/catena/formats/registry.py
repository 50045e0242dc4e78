"""The registry of file formats: one record per format with everything that `load` and `save`
need.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import FormatError, UnknownNameError
from ..model import Mechanism
from ..registry import loaded
from . import files
from .draft import Draft

HEAD_SIZE = 4096  # bytes at the beginning of a file that `recognises` is given


def _anything(head: bytes) -> bool:
    return True


@dataclass(frozen=True)
class Format:
    """A file format.

    name: its name. doc: one line for users. suffixes: of its files, such as (".toml",). read(path,
    **options): the draft of a file's mechanism. text(mechanism): the file of a valid mechanism;
    None where the format cannot be written. options: the names of the options of `read`.
    recognises(head): whether a file with this beginning has this format, used where several formats
    share a suffix. add(draft, path): add the contents of a file of this format to the draft of
    another (a companion). hints: messages for similar suffixes that the format does not have,
    {suffix: sentence}. A function may be given as "module:name", and is then imported when a file
    of the format is read or written.
    """

    name: str
    doc: str
    suffixes: tuple[str, ...]
    read: Callable[..., Draft] | str
    text: Callable[[Mechanism], str] | str | None = None
    options: tuple[str, ...] = ()
    recognises: Callable[[bytes], bool] = _anything
    add: Callable[[Draft, Path], None] | str | None = None
    hints: Mapping[str, str] = field(default_factory=dict)

    def draft(self, path: Path, options: Mapping[str, object]) -> Draft:
        """Return the draft of a file, read with these options."""
        for name in options:
            if name not in self.options:
                raise UnknownNameError("option", name, self.options, f"the reader of {self.name}")
        found: Draft = loaded(self.read)(path, **options)
        return found

    def write(self, mechanism: Mechanism) -> str:
        """Return the text of a file that holds a valid mechanism."""
        assert self.text is not None, f"{self.name} cannot be written"
        return str(loaded(self.text)(mechanism))

    def complete(self, draft: Draft, path: Path) -> None:
        """Add the contents of a companion file of this format to the draft of another file."""
        assert self.add is not None, f"{self.name} has no companion files"
        loaded(self.add)(draft, path)


FORMATS: dict[str, Format] = {}


def register(form: Format) -> Format:
    """Add a format, which `load`, `save` and the command line then use."""
    if form.name in FORMATS:
        raise FormatError(
            form.name, "a format of that name is known already; give this one another"
        )
    FORMATS[form.name] = form
    return form


def suffixes() -> list[str]:
    """Return the suffixes of all formats."""
    return list(dict.fromkeys(s for form in FORMATS.values() for s in form.suffixes))


def format_of(path: Path, able: str = "read") -> Format:
    """Return the format of a file: that of its suffix, and where several have it the one that
    recognises the file's beginning.
    """
    suffix = path.suffix.lower()
    found = [
        form
        for form in FORMATS.values()
        if suffix in form.suffixes and getattr(form, able) is not None
    ]
    if not found:
        hint = next(
            (h for form in FORMATS.values() for s, h in form.hints.items() if s == suffix), ""
        )
        what = f"the suffix {suffix!r} is not known" if suffix else "the file has no suffix"
        raise FormatError(path, f"{what}; known are {', '.join(suffixes())}{hint}")
    if able != "read":  # the format whose own suffix it is, before those that share it
        return min(found, key=lambda form: form.suffixes[0] != suffix)
    if len(found) == 1:
        return found[0]
    head = files.read(path)[:HEAD_SIZE]
    return next((form for form in found if form.recognises(head)), found[0])
