"""Files: read as a whole, with a limit of size, and written either completely or not at all."""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path

from ..errors import FormatError
from .shelf import package_folders

PACKAGES = ("package://", "model://")
MAX_FILE_SIZE = 50 * 2**20  # bytes; the largest robot known to us has 0.3 MB


def as_path(given: object) -> Path:
    """Return the argument as the path of a file; raise FormatError where it is not one."""
    if isinstance(given, str):
        return Path(given)
    if isinstance(given, os.PathLike) and isinstance(text := os.fspath(given), str):
        return Path(text)
    raise FormatError(
        repr(given),
        f"it is no path (its type is {type(given).__name__}); the path of a file is wanted, as a"
        " text or a pathlib.Path",
    )


def read(path: Path) -> bytes:
    """Return the bytes of a file of at most MAX_FILE_SIZE. Raise FormatError for a pipe or a
    device, because reading it might never begin or never end.
    """
    try:
        with open(path, "rb", opener=_without_waiting) as file:
            regular = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
            data = file.read(MAX_FILE_SIZE + 1) if regular else b""
    except FileNotFoundError:
        raise FormatError(path, "there is no such file") from None
    except (OSError, ValueError) as why:  # a directory, no permission, a name with a null byte
        raise FormatError(
            path, f"the file cannot be read: {getattr(why, 'strerror', None) or why}"
        ) from None
    if not regular:
        raise FormatError(path, "it is a pipe or a device; give a file")
    if len(data) > MAX_FILE_SIZE:
        raise FormatError(
            path, f"the file is larger than {MAX_FILE_SIZE // 2**20} MB, the most that is read"
        )
    return data


def _without_waiting(path: str, flags: int) -> int:
    # opening a pipe would wait for its writer
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def write(path: Path, text: str) -> None:
    """Write the text to a temporary file in the same folder, then rename it: a reader sees the old
    file or the new one.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with temporary.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except (OSError, ValueError) as why:  # ValueError: a lone surrogate in a name
        raise FormatError(
            path, f"the file cannot be written: {getattr(why, 'strerror', None) or why}"
        ) from None
    finally:
        temporary.unlink(missing_ok=True)


def located(file: str, model: Path) -> str:
    """Return the path of a file that a model names: relative to the model's folder, or, for
    package://NAME/... and model://NAME/..., in a folder above it or in those where packages are
    installed (`shelf.package_folders`); else the name unchanged.
    """
    name = file.removeprefix("file://")
    here = model.resolve()
    if name.startswith(PACKAGES):
        rest = Path(name.partition("://")[2])
        places = [
            *(folder / tail for folder in here.parents for tail in (rest, Path(*rest.parts[1:]))),
            *(folder / rest for folder in package_folders()),
        ]
    else:
        places = [here.parent / name]
    return str(next((place for place in places if os.path.isfile(place)), file))
