"""Axes on the page: their letters, limits, a triad and a scale bar."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from ..scene.view import View
from .style import FAINT, INK

Array = np.ndarray
NARROW_SIDE = 0.3  # a side is narrow below this, relative to the other side


def letters(v: View) -> tuple[str, str]:
    """Return the names of the page's axes: x, y or z where they are parallel to an axis of the
    ground, else "across" and "upwards".
    """
    return _letter(v.right, "across"), _letter(v.up, "upwards")


def dress(ax: Axes, v: View, reach: Array) -> None:
    """Set equal scales and limits around points `reach` (n, 2). A planar mechanism has axes in
    metres, others a scale bar and a triad.
    """
    low = reach.min(axis=0)
    high = reach.max(axis=0)
    margin = 0.06 * max(high - low) or 0.1
    ax.set_aspect("equal", adjustable="box")
    ax.set_xlim(low[0] - margin, high[0] + margin)
    ax.set_ylim(low[1] - margin, high[1] + margin)
    if v.planar:
        across, upwards = letters(v)
        ax.set(xlabel=f"{across} (m)", ylabel=f"{upwards} (m)")
        wide, tall = high - low
        for axis, long, short in ((ax.xaxis, tall, wide), (ax.yaxis, wide, tall)):
            if short < NARROW_SIDE * long:  # few tick labels, which would otherwise overlap
                axis.set_major_locator(MaxNLocator(1, min_n_ticks=1))
        return
    ax.grid(False)
    ax.axis("off")
    _triad(ax, v)
    _scale(ax, *(high - low))


def _letter(direction: Array, otherwise: str) -> str:
    k = int(np.argmax(np.abs(direction)))
    if abs(abs(direction[k]) - 1) > 1e-6:
        return otherwise
    return ("-" if direction[k] < 0 else "") + "xyz"[k]


def _triad(ax: Axes, v: View, length: float = 20.0) -> None:
    """Draw the ground's axes below the lower left corner. They are excluded from the layout, which
    would otherwise shrink a small panel. length: points.
    """
    for k, name in enumerate("xyz"):
        x, y = v.flat(np.eye(3)[k]) * length
        arrow = ax.annotate(
            "",
            (x, y - 4),
            (0, -4),
            xycoords="axes points",
            textcoords="axes points",
            arrowprops={"arrowstyle": "-|>", "color": FAINT, "lw": 0.8, "shrinkA": 0, "shrinkB": 0},
        )
        letter = ax.annotate(
            name,
            (1.35 * x, 1.35 * y - 4),
            xycoords="axes points",
            ha="center",
            va="center",
            color=FAINT,
        )
        for drawn in (arrow, letter):
            drawn.set_in_layout(False)


def _scale(ax: Axes, across: float, upwards: float) -> None:
    """Draw a bar of a round length below the lower right corner, or at the side of a narrow
    panel.
    """
    from mpl_toolkits.axes_grid1.anchored_artists import AnchoredSizeBar  # type: ignore[import-untyped]

    size = max(across, upwards)
    narrow = across < upwards / 2
    power = 10.0 ** np.floor(np.log10(size / 4 or 1.0))
    length = next(k * power for k in (5, 2, 1) if k * power <= size / 4 or k == 1)
    bar = AnchoredSizeBar(
        ax.transData,
        length,
        f"{length:g} m",
        "lower left" if narrow else "upper right",
        pad=0.3,
        sep=3,
        frameon=False,
        color=INK,
        bbox_to_anchor=(1.0, 0.0),
        bbox_transform=ax.transAxes,
        label_top=True,
    )
    bar.set_in_layout(False)
    ax.add_artist(bar)
