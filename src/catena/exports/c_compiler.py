"""The C compiler of this machine, where there is one."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from ..errors import CompileError

NAMES = ("cc", "gcc", "clang")
SUFFIX = {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")
COMPILER_TIMEOUT = 600  # s


def find_compiler() -> str | None:
    """Return the compiler named by the environment variable CC, or the first of cc, gcc and clang
    that is installed; None where there is none.
    """
    names = (os.environ["CC"],) if os.environ.get("CC") else NAMES
    return next((found for name in names if (found := shutil.which(name))), None)


def shared_library(source: Path, library: Path) -> None:
    """Compile one C file into a shared library, with the options in CFLAGS added to ours.

    Raises CompileError, with the messages of the compiler, where that fails.
    """
    compiler = find_compiler()
    if compiler is None:
        raise CompileError(
            f"no C compiler was found (looked for {os.environ.get('CC') or ', '.join(NAMES)});"
            " install one, or name it in the variable CC"
        )
    library.parent.mkdir(parents=True, exist_ok=True)
    own = shlex.split(os.environ.get("CFLAGS", ""))
    command = [
        compiler,
        "-std=c99",
        "-O2",
        "-ffp-contract=off",
        *own,
        "-shared",
        "-fPIC",
        "-fvisibility=hidden",
        "-o",
        str(library),
        str(source),
        "-lm",
    ]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=COMPILER_TIMEOUT, cwd=source.parent
        )
    except (OSError, subprocess.TimeoutExpired) as why:
        raise CompileError(f"compiler {compiler!r} did not run: {why}") from None
    if done.returncode:
        raise CompileError(
            f"compiler {compiler!r} refused {source.name}:\n{done.stderr.strip()[:2000]}"
        )
