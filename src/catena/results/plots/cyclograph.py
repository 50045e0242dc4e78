"""Chrono-cyclograph: stick figures at equal times, as in [Baysec1996] figure 1."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from ...errors import CatenaError
from ..result import Result
from ..scene.skeleton import placed, skeleton
from ..scene.view import view_of
from . import sticks
from .contact_arrows import contact_arrows, draw_arrows
from .series import Names
from .style import FAINT, TIMES, fitted
from .tip_paths import positions
from .view import dress

FIGURES = 18  # as many as in [Baysec1996]


def draw(
    result: Result, every: float | None = None, until: float | None = None, frames: Names = None
) -> Figure:
    """Draw stick figures every `every` seconds from the start to `until` (s), early ones pale, over
    the paths of frames.
    """
    scene = Cyclograph(result, every, until, frames)
    figure = fitted(scene.reach.min(axis=0), scene.reach.max(axis=0))
    ax = figure.subplots()
    scene.draw(ax)
    times = scene.times
    bar = figure.colorbar(
        ScalarMappable(Normalize(times[0], times[-1]), TIMES),
        ax=ax,
        shrink=0.8,
        pad=0.02,
        aspect=28,
    )
    bar.outline.set_visible(False)
    bar.set_label(f"time (s), every {(times[-1] - times[0]) / max(1, len(times) - 1):.3g} s")
    return figure


class Cyclograph:
    """The figures and paths of a result, to be drawn on any axes."""

    def __init__(
        self,
        result: Result,
        every: float | None = None,
        until: float | None = None,
        frames: Names = None,
    ):
        rows = _rows(
            result.time, every, _turn(result) if every is None and until is None else until
        )
        self.times = result.time[rows]
        self.view, self.bones = view_of(result.mechanism), skeleton(result.mechanism)
        own = result.data["parameters"].values if "parameters" in result.data else None
        self.at = placed(result.machine, result.data["q"].values[rows], own)
        self.paths = [
            self.view.flat(path[: rows[-1] + 1]) for path in positions(result, frames).values()
        ]
        self.reach = np.concatenate([sticks.reach(self.bones, self.at, self.view), *self.paths])
        self.arrows = contact_arrows(result, self.times, float(np.ptp(self.reach, axis=0).max()))
        heads = self.view.flat(self.arrows[np.isfinite(self.arrows)].reshape(-1, 3))
        self.reach = np.concatenate([self.reach, heads])

    def draw(self, ax: Axes) -> None:
        """Draw the paths, the figures from pale to dark with the last one strongest, and the
        ground.
        """
        for path in self.paths:
            ax.plot(*path.T, color=FAINT, linewidth=0.6, zorder=0)
        last = len(self.times) - 1
        for k in range(last + 1):
            at = {body: X[k] for body, X in self.at.items()}
            sticks.stick(
                ax,
                self.bones,
                at,
                self.view,
                TIMES(k / max(1, last)),
                k == last,
                1.9 if k == last else 1.1,
            )
            draw_arrows(ax, self.arrows[k], self.view)
        sticks.ground(ax, self.bones, self.view)
        dress(ax, self.view, self.reach)


def _turn(result: Result) -> float | None:
    """Return the time at which the coordinate that rotates first completes its first turn, if it
    turns more than twice; else None. Figures of many turns would cover each other. Turns with fewer
    rows than half of FIGURES, such as those of a gyroscope's rotor, do not count.
    """
    angles = result.data["q"].values[:, result.data["coordinate_unit"].values == "rad"]
    ways = np.abs(np.diff(angles, axis=0)).cumsum(axis=0)
    rows = 1 + np.array([np.searchsorted(way, 2 * np.pi) for way in ways.T], int)
    turns = rows[(ways[-1] > 4 * np.pi) & (rows >= FIGURES // 2)] if ways.size else rows[:0]
    return float(result.time[turns.min()]) if turns.size else None


def _rows(time: np.ndarray, every: float | None, until: float | None) -> np.ndarray:
    """Return the rows nearest to equally spaced times."""
    end = time[-1] if until is None else until
    if not time[0] < end <= time[-1] * (1 + 1e-12):
        raise CatenaError(f"until = {end:g} s; this result goes from {time[0]:g} to {time[-1]:g} s")
    if every is None:
        every = (end - time[0]) / (FIGURES - 1)
    if not 0 < every <= end - time[0]:
        raise CatenaError(
            f"every = {every:g} s; it is above zero and at most the {end - time[0]:g} s shown"
        )
    wanted = time[0] + every * np.arange(int(np.floor((end - time[0]) / every * (1 + 1e-9))) + 1)
    return np.unique(
        np.clip(np.searchsorted(time, wanted - 0.5 * np.gradient(time).min()), 0, len(time) - 1)
    )
