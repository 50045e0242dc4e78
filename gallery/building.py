"""Building: all pages in parallel processes, checked at the door, the index last."""

from __future__ import annotations

import multiprocessing
import secrets
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from catena.errors import CatenaError
from catena.formats import files

from . import NAMES, example
from .writing import Entry, index, make

PROCESSES = 2


def build(
    folder: str | Path,
    names: Iterable[str] = (),
    *,
    processes: int = PROCESSES,
    progress: Callable[[Entry], None] | None = None,
) -> list[Entry]:
    """Make the pages of these examples (all, if none is named) in a folder; the index where all are
    made.

    progress: called with each page made. A CatenaError says which numbers do not agree, after
    everything is written.
    """
    chosen = list(dict.fromkeys(names)) or list(NAMES)
    for name in chosen:
        if name not in NAMES:
            example(name)  # an UnknownNameError that lists the names
    where = writable(Path(folder))
    made = []
    for entry in _entries(chosen, where, processes):
        made.append(entry)
        if progress is not None:
            progress(entry)
    if len(made) == len(NAMES):
        files.write(where / "index.md", index(made))
    if wrong := [e for e in made if e.disagreements]:
        told = "; ".join(f"{e.name}: {', '.join(e.disagreements)}" for e in wrong)
        raise CatenaError(
            "the pages are written, but these numbers do not agree with the print or the"
            f" reference: {told}"
        )
    return made


def _entries(names: list[str], folder: Path, processes: int) -> Iterable[Entry]:
    """Each page as it is made; one process makes a single page."""
    if min(processes, len(names)) <= 1:
        yield from (make(name, folder) for name in names)
        return
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(processes, len(names)), mp_context=fresh) as pool:
        waiting = [pool.submit(make, name, folder) for name in names]
        try:
            for done in as_completed(waiting):
                yield done.result()
        finally:
            for job in waiting:
                job.cancel()


def writable(folder: Path) -> Path:
    """The folder, made if need be; a CatenaError where nothing can be written in it."""
    probe = folder / f".{secrets.token_hex(4)}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe.write_text("")
        probe.unlink()
    except (OSError, ValueError) as why:
        reason = getattr(why, "strerror", None) or why
        raise CatenaError(
            f"{folder}: the pages cannot be written there ({reason}); nothing was computed"
        ) from None
    return folder
