"""Pictures that an example needs beyond those of a result: lines over time, one panel a quantity,
in the house style.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from catena.model.mechanism import Mechanism
from catena.results.plots import sticks
from catena.results.plots.style import FAINT, HOUSE, INK, TIMES, fitted, legend, page, pen
from catena.results.plots.view import dress
from catena.results.scene.skeleton import placed, skeleton
from catena.results.scene.view import view_of

Array = np.ndarray


def house() -> AbstractContextManager:
    """The house style, for a figure drawn by hand."""
    return mpl.rc_context(HOUSE)


def over_time(
    t: Any,
    panels: Sequence[tuple[str, Mapping[str, Any]]],
    each: float = 1.9,
    across: str = "time (s)",
    marks: Sequence[float] = (),
) -> Figure:
    """Panels below each other: (what its axis measures, {name: values over t}); marks: instants, as
    thin lines.
    """
    with house():
        figure = page(len(panels), each=each)
        axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
        for ax, (label, lines) in zip(axes, panels):
            for k, (name, values) in enumerate(lines.items()):
                ax.plot(t, values, label=name, **pen(k))
            for mark in marks:
                ax.axvline(mark, color=FAINT, linewidth=0.8, linestyle=":")
            ax.set_ylabel(label)
            if len(lines) > 1:
                legend(ax)
        axes[-1].set_xlabel(across)
    return figure


def panels(
    count: int, draw: Callable[..., None], width: float = 7.0, height: float = 3.2, **options: Any
) -> Figure:
    """A figure with panels side by side, drawn by hand in the house style: draw(*axes)."""
    with house():
        figure = Figure(figsize=(width, height), layout="constrained")
        draw(*np.ravel(figure.subplots(1, count, squeeze=False, **options)))
    return figure


def poses(
    m: Mechanism,
    q: Array,
    names: Sequence[str] = (),
    azimuth: float = -60.0,
    elevation: float = 22.0,
) -> Figure:
    """Stick figures of one mechanism at configurations q (n, nq), from pale to dark, on one
    page.
    """
    from catena.machine.machine import compile

    with house():
        bones = skeleton(m)
        view = view_of(m, azimuth, elevation)
        at = placed(compile(m), q)
        reach = sticks.reach(bones, at, view)
        figure = fitted(reach.min(axis=0), reach.max(axis=0))
        ax = figure.subplots()
        row(ax, m, q, names, view)
    return figure


def row(
    ax: Axes,
    m: Mechanism,
    q: Array,
    names: Sequence[str] = (),
    view: Any = None,
    apart: float = 0.0,
    guides: bool = True,
) -> None:
    """Stick figures in one panel; with `apart` (m) side by side, each named below. guides: with the
    thin lines of slides.
    """
    from catena.machine.machine import compile

    view = view_of(m) if view is None else view
    bones = skeleton(m)
    at = placed(compile(m), q)
    if not guides:
        bones = replace(bones, guides=())
    reach = []
    for k in range(len(q)):
        shift = np.eye(4)
        shift[:3, 3] = apart * k * view.right
        here = {body: shift @ X[k] for body, X in at.items()}
        early = k / (len(q) - 1) if len(q) > 1 else 1.0
        sticks.stick(
            ax,
            bones,
            here,
            view,
            INK if apart else TIMES(early),
            bool(apart) or k == len(q) - 1,
            1.6,
        )
        reach.append(sticks.reach(bones, here, view))
        if k < len(names):
            place = view.flat(here[m.bodies[0].name][:3, 3])
            ax.annotate(
                names[k],
                (place[0], reach[-1][:, 1].min()),
                (0, -9),
                textcoords="offset points",
                ha="center",
                va="top",
                fontsize=8,
            )
    if apart:
        low = np.concatenate(reach).min(axis=0)
        reach.append(low[None] - (0.0, 0.3 * apart))  # room below the names
    else:
        sticks.ground(ax, bones, view)
    dress(ax, view, np.concatenate(reach))
