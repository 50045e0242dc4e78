"""Clearance: the distance of pairs of shapes over time."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from ...analysis import proximities
from ..result import Result, chosen
from .series import Names
from .style import legend, named, pen, stacked

SHOWN_PAIRS = 7  # the number of pairs shown: those that come closest


def draw(result: Result, pairs: Names = None) -> Figure:
    """Draw signed distances over time, of the pairs that come closest or of those named "first -
    second". Overlaps are shaded.
    """
    own = proximities(result.machine)
    names = [" - ".join(pair) for pair in own.names]
    d = own.distance(result._rows("q"), result._parameters)
    order = [names[k] for k in np.argsort(d.min(axis=0))][:SHOWN_PAIRS]
    asked = (
        order
        if pairs is None
        else chosen(pairs, names, "pair", f"mechanism {result.mechanism.name!r}")
    )
    figure, (ax,) = stacked(1, each=3.2)
    for k, name in enumerate(asked):
        ax.plot(result.time, d[:, names.index(name)], label=name, **pen(k))
    low = d[:, [names.index(name) for name in asked]].min()
    if low < 0:
        ax.axhspan(1.05 * low, 0.0, alpha=0.12, color="tab:red", lw=0)
    ax.axhline(0.0, lw=0.8, color="0.4")
    ax.set_ylabel(named("signed distance", "m"))
    legend(ax)
    return figure
