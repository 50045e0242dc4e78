"""A report: all chapters in order, in one file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from ..errors import CatenaError
from ..exports import VERSION
from ..formats import files
from .chapters import CHAPTERS
from .page import page
from .printed import print_page
from .subject import Subject

SUFFIXES = (".html", ".pdf")


def report(
    subject: Subject,
    path: str | Path,
    without: Sequence[str] = (),
    progress: Callable[[str], None] | None = None,
) -> Path:
    """Write everything about a mechanism into a .html or .pdf file, and return its path.

    without: names of chapters to leave out. progress: called with the title of each chapter before
    its turn.
    """
    where = checked(path)
    for name in without:
        CHAPTERS.find(name)
    written = []
    for chapter in CHAPTERS.values():
        if chapter.name not in without:
            if progress:
                progress(chapter.title)
            written.append((chapter.name, chapter.title, chapter.blocks(subject)))
    source = f"from {subject.source}; " if subject.source else ""
    text = page(
        subject.mechanism.name,
        f"Report on a mechanism, {source}SI units.",
        written,
        f"Written by catena {VERSION}.",
    )
    if where.suffix == ".pdf":
        print_page(text, where)
    else:
        files.write(where, text)
    return where


def checked(path: str | Path) -> Path:
    """Return the path; raise CatenaError where its suffix is not supported or its folder is
    missing.
    """
    where = Path(path)
    if where.suffix.lower() not in SUFFIXES:
        raise CatenaError(
            f"{where}: a report is written as {' or '.join(SUFFIXES)}, not"
            f" {where.suffix or 'without a suffix'!r}"
        )
    if not where.parent.is_dir():
        raise CatenaError(
            f"{where}: folder {str(where.parent)!r} is not there; make it, or choose another"
        )
    return where
