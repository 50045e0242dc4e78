"""The files of a model, checked before MuJoCo opens any of them: XML without entities, and no path
outside the folder that the user names.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from ...errors import FormatError
from .. import files
from ..xml import parse
from .meshless import LeftOut, strip, strip_missing

_FOLDERS = {"mesh": "meshdir", "skin": "meshdir", "texture": "texturedir", "hfield": "assetdir"}
# attributes that are never numbers
_WORDS = ("name", "class", "childclass", "prefix", "suffix", "file")
_PLACES = (
    "body_pos",
    "body_quat",
    "body_ipos",
    "body_iquat",
    "body_mass",
    "body_inertia",
    "jnt_pos",
    "jnt_axis",
    "qpos0",
    "geom_pos",
    "geom_quat",
    "site_pos",
    "site_quat",
)
_FILES = ("file", *(f"file{side}" for side in ("right", "left", "up", "down", "front", "back")))


def compiled(
    path: Path, within: Path | None, meshes: bool = True
) -> tuple[Any, Any, list[LeftOut]]:
    """Return MuJoCo's specification of a file, its compiled model, and a list of what was left out.
    within: the folder that contains everything the file may name; by default its own folder.
    meshes: whether meshes, height fields and textures are opened. Those whose files are missing are
    left out, unless a mass is computed from them.
    """
    root = parse(files.read(path), path)
    if root.tag != "mujoco":
        what = (
            "a part that other files include"
            if root.tag == "mujocoinclude"
            else f"an XML file of <{root.tag}>"
        )
        raise FormatError(path, f"the file is {what}; a model of MuJoCo begins with <mujoco>")
    _inside(path, root, (within or path.parent).resolve(), () if meshes else tuple(_FOLDERS))
    mujoco = _mujoco(path)
    try:
        spec = mujoco.MjSpec.from_file(str(path))
        left_out = strip_missing(spec, path) if meshes else strip(spec, path)
        model = spec.compile()
    except FormatError:
        raise
    except (ValueError, RuntimeError, mujoco.FatalError) as why:
        said = " ".join(str(why).replace("XML Error:", "").split())
        hint = (
            "; load(..., meshes=False) leaves meshes out"
            if meshes and "opening file" in said and "include" not in said
            else ""
        )
        raise FormatError(path, f"MuJoCo does not take the file: {said}{hint}") from None
    for name in _PLACES:
        found = getattr(model, name)
        if not np.isfinite(found).all() or (
            name.endswith("quat") and not np.linalg.norm(found, axis=-1).all()
        ):
            raise FormatError(
                path,
                f"its numbers are too large: {name} of MuJoCo's compiled model is not finite; give"
                " smaller ones",
            )
    return spec, model, left_out


def _mujoco(path: Path) -> Any:
    try:
        import mujoco
    except ImportError:
        raise FormatError(
            path,
            "a model of MuJoCo is read by MuJoCo itself; install it with pip install"
            " 'catena[mujoco]'",
        ) from None
    return mujoco


def _inside(path: Path, root: Element, within: Path, unopened: tuple[str, ...] = ()) -> None:
    """Raise FormatError where a file, or one that it includes, names another one outside `within`,
    or includes itself. unopened: tags whose files will not be opened.
    """
    documents = list(_documents(path, root, within, path.resolve(), ()))
    folders: dict[str, str] = {}  # MuJoCo reads included files as if they stood in the main one
    for _, document in documents:
        for compiler in document.iter("compiler"):
            folders |= compiler.attrib
    for where, document in documents:
        for named, tag in _named(document, folders):
            if tag not in unopened:
                bases = dict.fromkeys((path.resolve().parent, where.resolve().parent))
                _allowed(where, tag, [base / named for base in bases], named, within)


def _documents(
    path: Path, root: Element, within: Path, main: Path, trail: tuple[Path, ...]
) -> Iterator[tuple[Path, Element]]:
    """Yield the file and those that it includes, each checked before it is opened."""
    _finite(path, root)
    here = path.resolve()
    if here in trail:
        raise FormatError(
            path,
            f"the file includes itself, by way of {' -> '.join(p.name for p in (*trail, here))}",
        )
    yield path, root
    for e in root.iter("include"):
        named = e.get("file", "")
        other = main.parent / named
        _allowed(path, "include", [other], named, within)
        included = other if os.path.exists(other) else here.parent / named
        if os.path.isfile(included):  # MuJoCo says what is missing
            inner = parse(files.read(included), included)
            yield from _documents(included, inner, within, main, (*trail, here))


def _allowed(path: Path, tag: str, places: list[Path], named: str, within: Path) -> None:
    """Raise FormatError where a named file lies outside the folder, or would lie outside in one of
    the places where MuJoCo looks for it: the folders of the main file and of the file that names
    it.
    """
    outside = [p for p in places if not p.resolve().is_relative_to(within)]
    if len(outside) == len(places) or any(os.path.exists(p) for p in outside):
        raise FormatError(
            path,
            f"<{tag}> names {named!r}, outside {str(within)!r}; "
            "load(..., within=FOLDER) allows another folder",
        )


def _finite(path: Path, root: Element) -> None:
    """Raise FormatError for values that are not numbers, because MuJoCo's compiler never returns
    from some of them. Ranges may be infinite.
    """
    faults = [
        f"<{e.tag}> {e.get('name', '')}: {key} = {value!r}"
        for e in root.iter()
        for key, value in e.attrib.items()
        if key not in _WORDS
        for x in value.split()
        if x.lower().lstrip("+-") in ("nan", "inf", "infinity")
        if math.isnan(float(x)) or not key.endswith("range")
    ]
    if faults:
        raise FormatError(
            path, f"only finite numbers are taken; found {'; '.join(dict.fromkeys(faults))}"
        )


def _named(root: Element, folders: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the files of assets that a document names, each with its tag. folders: the attributes
    of <compiler>.
    """
    for e in root.iter():
        folder = (
            folders.get(_FOLDERS.get(e.tag, ""), folders.get("assetdir", ""))
            if e.tag in _FOLDERS
            else ""
        )
        yield from (
            ((folder.rstrip("/") + "/" if folder else "") + e.attrib[key], e.tag)
            for key in _FILES
            if key in e.attrib and e.tag != "include"
        )
