"""The pictures of a result: one file a kind, one house style, each a matplotlib Figure that nobody has shown yet.

plot(result, "energies").savefig("energies.pdf")

overview        stick figures, coordinates, speeds and energies on one page
coordinates     q over time, one panel a unit                     (only, degrees)
speeds          v                                                 (only, degrees)
accelerations   a                                                 (only, degrees)
torques         tau: joint torques and forces                     (only)
energies        kinetic, potential, total; the balance error on axes of its own
reactions       force and torque in every joint                   (joints, axes)
paths           where tips go                                     (frames)
phase           speed over coordinate                             (only, degrees)
cyclograph      stick figures at equal times                      (every, until, frames)
deflections     how far the tips of flexible bodies bend
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.figure import Figure

from ...errors import CatenaError, UnknownNameError
from ..result import Result
from ..storage import reason
from . import bending, cyclograph, energies, overview, paths, phase, reactions, series
from .style import HOUSE

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["KINDS", "plot", "save"]

ROWS = 4000  # rows that a picture shows of a long run
SUFFIXES = (".png", ".pdf", ".svg")

KINDS: dict[str, Callable[..., Figure]] = {
    "overview": overview.draw,
    "coordinates": series.coordinates,
    "speeds": series.speeds,
    "accelerations": series.accelerations,
    "torques": series.torques,
    "energies": energies.draw,
    "reactions": reactions.draw,
    "paths": paths.draw,
    "phase": phase.draw,
    "cyclograph": cyclograph.draw,
    "deflections": bending.draw,
}


def plot(result: Result, what: str = "overview", *, run: int = 0, title: str | None = None, **options: Any) -> Figure:
    """A picture of a result.

    what: one of `KINDS`. run: which of a batch. title: by default the mechanism's name, "" for none. Other options are the
    kind's own; see the list at the head of `catena.results.plots`.
    """
    if what not in KINDS:
        raise UnknownNameError("picture", what, KINDS, "catena.results.plots")
    _check(what, options)
    runs = result.data.sizes.get("run")
    shown = result.select(run=run).thinned(ROWS)
    shown.data.load()
    with mpl.rc_context(HOUSE):
        figure = KINDS[what](shown, **options)
        batch = f", run {run} of {runs}" if runs else ""
        partial = "" if result.complete else f" (partial, until {shown.time[-1]:g} s)"
        if title is None:
            title = f"{result.data.attrs.get('mechanism', '')}{batch}{partial}"
        if title:
            figure.suptitle(title, x=0.01, ha="left")
    return figure


def save(result: Result, path: str | Path, what: str = "overview", **options: Any) -> Path:
    """Draw and write a picture: .png, .pdf or .svg."""
    path = Path(path)
    if path.suffix not in SUFFIXES:
        raise CatenaError(f"{path}: a picture is saved as {', '.join(SUFFIXES)}, not {path.suffix or 'without a suffix'!r}")
    figure = plot(result, what, **options)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with mpl.rc_context(HOUSE):
            figure.savefig(path)
    except OSError as error:
        raise CatenaError(f"{path}: the picture could not be written ({reason(error)})") from None
    return path


def _check(what: str, options: Iterable[str]) -> None:
    """An option that the kind does not take is an error that names those it takes."""
    code = KINDS[what].__code__
    known = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
    for name in options:
        if name not in known:
            raise UnknownNameError("option", name, known, f"the picture {what!r}")
