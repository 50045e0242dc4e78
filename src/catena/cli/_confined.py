"""One command in a process of its own that opens files of one folder only.

    python -m catena.cli._confined FOLDER info arm.toml
    python -m catena.cli._confined FOLDER drawing arm.toml picture.png

`catena mcp` runs every tool in this way. A hook on Python's audit events refuses to open files
outside of the folder, other than those of the installation, of the system's libraries and of the
caches; model files that name files elsewhere are refused too. Programs that a model names (xacro,
FMUs) need --trust, which the tools do not give.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

# what an interpreter and its packages read of a system
SYSTEM = ("/usr", "/lib", "/lib64", "/proc", "/sys", "/dev", "/etc/fonts", "/etc/localtime", "/opt")
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def confine(folder: Path) -> None:
    """Refuse from now on to open files outside of a folder."""
    import platformdirs

    from ..compiler import cache_state

    state = cache_state()
    scratch = [tempfile.gettempdir(), platformdirs.user_cache_dir(), platformdirs.user_config_dir()]
    scratch += [str(state.folder)] if state is not None else []
    source = str(Path(__file__).resolve().parents[2])
    writable = _roots([str(folder), *scratch, "/dev"])
    readable = writable + _roots([sys.prefix, sys.base_prefix, source, *sys.path[1:], *SYSTEM])
    sys.addaudithook(_hook(readable, writable, folder))


def _roots(paths: list[str]) -> list[str]:
    return [os.path.realpath(path) for path in paths if path]


def _hook(readable: list[str], writable: list[str], folder: Path) -> Callable[..., None]:
    def inside(path: str, roots: list[str]) -> bool:
        return any(path == root or path.startswith(root + os.sep) for root in roots)

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(arguments[0], (str, bytes)):
            path = os.path.realpath(os.fsdecode(arguments[0]))
            changes = bool((arguments[2] or 0) & WRITING)
            if not inside(path, writable if changes else readable):
                raise PermissionError(13, f"only files in {folder} may be opened", path)
        elif event in ("os.remove", "os.rename", "os.rmdir", "os.mkdir"):
            path = os.path.realpath(os.fsdecode(arguments[0]))
            if not inside(path, writable):
                raise PermissionError(13, f"only files in {folder} may be changed", path)
        elif event in ("os.system", "os.exec", "os.posix_spawn", "os.spawn"):
            raise PermissionError(13, "programs may not be started")

    return hook


def drawing(file: str, out: str) -> None:
    """Write a picture of a mechanism near its neutral configuration."""
    from ..errors import CatenaError
    from ..formats import load
    from ..results import png

    mechanism = load(file)
    picture = png(mechanism, (900, 640))
    if not picture:
        raise CatenaError(f"{mechanism.name!r} cannot be drawn; catena info says why")
    Path(out).write_bytes(picture)


def main() -> None:
    """Run the command of the arguments in the folder of the first of them."""
    from . import main as command
    from . import with_error_messages

    folder = Path(sys.argv[1]).resolve()
    os.chdir(folder)
    confine(folder)
    name, *words = sys.argv[2:]
    if name == "drawing":
        import typer

        try:
            with_error_messages(drawing)(*words)
        except typer.Exit as end:
            sys.exit(end.exit_code)
        return
    command([name, *words])


if __name__ == "__main__":
    main()
