"""The plots of a result, one file each, in one style; `catena.results.plotting` is their registry.

plot(result, "energies").savefig("energies.pdf")

    overview, series (coordinates, speeds, accelerations, torques), energies, reactions, paths,
    phase, cyclograph, bending, clearance, contacts
                plots of a result
    overlay     the same plot of several runs in one figure
    style       colours, fonts, panels
    view        axes, limits and scale bars of drawings
    sticks      a mechanism as lines
    tip_paths   the paths of the tips
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...doors import door
from ..plotting import PLOTS, Plot, plot, register, save

__all__ = ["PLOTS", "Plot", "plot", "register", "save"]

if TYPE_CHECKING:
    from .bending import deflections
    from .style import (
        COLOURS,
        FAINT,
        HOUSE,
        INK,
        WIDTH,
        Picture,
        legend,
        named,
        page,
        pen,
        plain_ticks,
        stacked,
    )

__getattr__, __dir__ = door(__name__)
