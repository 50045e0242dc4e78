"""xacro: URDF with macros, expanded by the xacro package itself.

A xacro file is a program: its ${...} and $(eval ...) are Python expressions, which are evaluated
when the file is expanded. It is read only if the caller declares it trusted, and the files it
includes must lie in the folder that the caller names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from ...errors import FormatError, unknown
from .. import files
from ..draft import Draft
from ..xml import parse
from .reader import read_bytes

UNTRUSTED = (
    "a xacro file is a program, whose expressions are Python and are evaluated when it is read. If"
    " you trust it, say so: load(..., trusted=True), or --trust on the command line"
)
_ARGUMENT = re.compile(r"<xacro:arg\s[^>]*?name\s*=\s*[\"']([^\"']+)")


def read(
    path: Path,
    arguments: Mapping[str, object] | None = None,
    trusted: bool = False,
    within: str | PathLike[str] | None = None,
) -> Draft:
    """Return the draft of a xacro file. arguments: values of its <xacro:arg>. trusted: whether its
    expressions may be evaluated. within: the folder that contains all files that it includes; by
    default the one above its own, since robots have `urdf` and `meshes` in one folder.
    """
    data = files.read(path)
    parse(data, path)
    if not trusted:
        raise FormatError(path, UNTRUSTED)
    given = {str(k): str(x) for k, x in (arguments or {}).items()}
    text = _expanded(path, given, Path(within) if within else path.resolve().parent.parent)
    known = set(_ARGUMENT.findall(data.decode("utf-8", "replace")))
    if wrong := [name for name in given if known and name not in known]:
        raise FormatError(path, unknown("xacro argument", wrong[0], sorted(known), "the file"))
    return read_bytes(text.encode(), path)


def _expanded(path: Path, arguments: Mapping[str, str], within: Path) -> str:
    """Return the URDF that the file expands to."""
    xacro, document = _packages(path)
    xacro.all_includes.clear()
    try:
        found = document.from_file(
            str(path), subargs=dict(arguments), resolve_packages=False
        ).to_urdf_string()
    except Exception as why:  # whatever an expression of the file raises
        said = " ".join(str(why).split()) or type(why).__name__
        raise FormatError(path, f"xacro cannot expand the file: {said}") from None
    for name in xacro.all_includes:
        if not Path(name).resolve().is_relative_to(within.resolve()):
            raise FormatError(
                path,
                f"it includes {str(name)!r}, outside {str(within)!r}; load(..., within=FOLDER)"
                " allows another folder",
            )
    return found


def _packages(path: Path) -> tuple[Any, Any]:
    try:
        import xacro
        from xacrodoc import XacroDoc
    except ImportError:
        raise FormatError(
            path,
            "xacro files are expanded by xacrodoc; install it with pip install 'catena[xacro]'",
        ) from None
    return xacro, XacroDoc
