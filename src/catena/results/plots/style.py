"""The style of all pictures: fonts, colours, axes and legends."""

from __future__ import annotations

import re
from collections.abc import Sequence
from io import BytesIO
from itertools import pairwise
from typing import Any

import numpy as np
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import AutoLocator, MaxNLocator, ScalarFormatter

# Okabe and Ito: seen by everybody
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#5A5A5A")
INK, FAINT = "#222222", "#8A8A8A"
# early is pale, late is dark
TIMES = LinearSegmentedColormap.from_list("times", ["#C9DDEA", "#56A0CB", "#0B5C92", "#062F4F"])
RAISED = str.maketrans("0123456789-\N{MINUS SIGN}", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁻")
WIDTH = 7.0  # inches: two columns of a journal

HOUSE: dict[str, Any] = {
    "font.family": "DejaVu Sans",  # comes with matplotlib: the same picture on every machine
    "font.size": 8.5,
    "mathtext.fontset": "dejavusans",
    "axes.titlesize": 8.5,
    "axes.labelsize": 8.5,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.xmargin": 0.0,
    "axes.ymargin": 0.06,
    "axes.formatter.limits": (-3, 4),
    "axes.prop_cycle": cycler(color=COLOURS),
    "grid.color": "#E4E4E4",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.3,
    "lines.solid_capstyle": "round",
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "legend.handlelength": 1.6,
    "figure.titlesize": 9.5,
    "figure.titleweight": "bold",
    "figure.dpi": 120,
    "savefig.dpi": 200,
    "figure.constrained_layout.h_pad": 0.05,
    "figure.constrained_layout.w_pad": 0.05,
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
}


# width of a letter, and least distance of two numbers along an axis, in heights of a letter
LETTER, GAP = 0.65, 0.7


class Ticks(ScalarFormatter):
    """matplotlib's own tick labels, with the power of ten at the axis written as ×10⁻³ in plain
    text, which is drawn faster than a formula.
    """

    def get_offset(self) -> str:
        return re.sub(
            r"e\+?(\W?\d+)", lambda power: f"×10{power[1].translate(RAISED)}", super().get_offset()
        ).removeprefix("1")


class Spaced(MaxNLocator):
    """Tick places along x, as many as have room. matplotlib assumes labels of four characters, so
    that longer ones such as 0.0250 would run into their neighbours.
    """

    def __init__(self) -> None:
        super().__init__(nbins=9, steps=[1, 2, 2.5, 5, 10])

    def tick_values(self, vmin: float, vmax: float) -> Any:
        """Return at most nine places, few enough that their labels stay apart."""
        axis: Any = self.axis
        room = 3.0 * axis.get_tick_space()  # the axis in heights of a letter
        write = axis.get_major_formatter().format_ticks
        for count in range(9, 0, -1):
            self.set_params(nbins=count)
            found = super().tick_values(vmin, vmax)
            inside = [x for x in found if vmin <= x <= vmax]
            letters = max((len(text) for text in write(inside)), default=0)
            if len(inside) < 3 or LETTER * letters + GAP <= room / (vmax - vmin) * (
                inside[1] - inside[0]
            ):
                break
        return found


def plain_ticks(figure: Figure) -> None:
    """Use `Ticks` on all axes that have matplotlib's own labels, and `Spaced` along x."""
    for axis in (axis for ax in figure.axes for axis in (ax.xaxis, ax.yaxis)):
        if type(axis.get_major_formatter()) is ScalarFormatter:
            axis.set_major_formatter(Ticks())
    for ax in figure.axes:
        if type(ax.xaxis.get_major_locator()) is AutoLocator:
            ax.xaxis.set_major_locator(Spaced())


class Picture(Figure):
    """A matplotlib Figure that a notebook displays even if pyplot is not imported."""

    def _repr_png_(self) -> bytes:
        with BytesIO() as file:
            self.savefig(file, format="png", dpi=110)
            return file.getvalue()


def page(rows: float, width: float = WIDTH, each: float = 2.0) -> Figure:
    """Return an empty figure with the height of so many panels. width, each: inches."""
    return Picture(figsize=(width, 0.6 + each * rows), layout="constrained")


def stacked(count: int, each: float = 2.0) -> tuple[Figure, list[Axes]]:
    """Return a figure with panels below each other and a common time axis. each: height of a panel,
    inches.
    """
    figure = page(count, each=each)
    axes = list(figure.subplots(count, 1, sharex=True, squeeze=False)[:, 0])
    axes[-1].set_xlabel("time (s)")
    return figure, axes


def said(text: str) -> Figure:
    """Return a figure that shows one sentence, where there is nothing to draw."""
    figure = Picture(figsize=(WIDTH, 0.9), layout="constrained")
    figure.text(0.5, 0.4, text, ha="center", va="center", color=INK)
    return figure


def fitted(
    low: np.ndarray, high: np.ndarray, at_side: float = 1.2, least: float = 2.2, most: float = 5.5
) -> Figure:
    """Return a figure for one panel with equal scales, from corner `low` to corner `high` (m).
    at_side: the space next to the panel, inches. least, most: limits of its height, inches.
    """
    wide, tall = np.maximum(high - low, 1e-9 * max(*(high - low), 1e-9))
    height = np.clip((WIDTH - at_side) * tall / wide, least, most)
    # a tall panel has a narrow figure, without a blank half
    width = np.clip(height * wide / tall + at_side + 0.6, 3.6, WIDTH)
    return Picture(figsize=(width, height + 0.9), layout="constrained")


def pen(k: int) -> dict[str, Any]:
    """Return the colour and the dashes of the k-th line: different colours first, then different
    dashes.
    """
    return {
        "color": COLOURS[k % len(COLOURS)],
        "linestyle": ("-", "--", ":", "-.")[k // len(COLOURS) % 4],
    }


def legend(ax: Axes) -> None:
    """Draw the legend outside the panel, at its right."""
    if ax.get_legend_handles_labels()[0]:
        ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.03), borderaxespad=0.4)


def pretty(unit: str) -> str:
    """Return a unit as it is printed: rad/s², N·m."""
    return {"1": ""}.get(unit, unit.replace("s2", "s²").replace("N m", "N·m").replace("m2", "m²"))


def named(quantity: str, unit: str) -> str:
    """Return an axis label of the form: quantity (unit)."""
    shown = pretty(unit)
    return f"{quantity} ({shown})" if shown else quantity


def degrees_of(values: np.ndarray, unit: str, degrees: bool) -> tuple[np.ndarray, str]:
    """Return values and their unit, in degrees where they are radians and degrees are wanted."""
    turned = degrees and unit.startswith("rad")
    return (np.degrees(values), unit.replace("rad", "deg")) if turned else (values, unit)


def balanced(count: int, most: int) -> list[range]:
    """Split range(count) into as few groups of nearly equal size as have at most `most` members."""
    groups = -(-count // most)
    edges = [round(k * count / groups) for k in range(groups + 1)]
    return [range(a, b) for a, b in pairwise(edges)]


def by_unit(units: Sequence[str], most: int = 7) -> list[tuple[str, list[int]]]:
    """Return (unit, indices) of each panel: one unit per panel, with at most `most` lines."""
    panels = []
    for unit in dict.fromkeys(units):
        places = [k for k, u in enumerate(units) if u == unit]
        panels += [(unit, [places[k] for k in part]) for part in balanced(len(places), most)]
    return panels
