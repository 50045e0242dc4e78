"""Arrows of contact forces: where contacts touch and how hard, for stick figures and films."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from ..result import Result
from ..scene.view import View

Array = np.ndarray
LONGEST = 0.22  # of what is seen: the arrow of the largest force
SHORTEST = 0.01  # of the largest force: less has no arrow
RED = "#c00000"


def contact_arrows(result: Result, times: Array, span: float) -> Array:
    """(n, k, 2, 3): tail and head of the force at each contact point at these times, the largest as
    long as LONGEST of a span (m); NaN where there is none. Forces are those of the nearest row.
    """
    if "contact_push" not in result.data:
        return np.zeros((len(times), 0, 2, 3))
    row = np.clip(np.searchsorted(result.time, times, side="right") - 1, 0, len(result.time) - 1)
    force, place = (result.data[f"contact_{name}"].values[row] for name in ("push", "place"))
    closed = result.data["contact_mode"].values[row] > 0.0
    size = np.linalg.norm(force, axis=-1)
    most = size[closed].max(initial=0.0)
    head = place + force * (LONGEST * span / most if most > 0.0 else 0.0)
    shown = closed & (size > SHORTEST * most)
    return np.where(shown[..., None, None], np.stack([place, head], axis=-2), np.nan)


def draw_arrows(ax: Axes, arrows: Array, view: View) -> list[Any]:
    """Those (k, 2, 3) of one instant; what was drawn."""
    found: list[Any] = []
    for tail, head in (view.flat(pair) for pair in arrows if np.isfinite(pair).all()):
        found.append(
            ax.annotate(
                "",
                head,
                tail,
                arrowprops={
                    "arrowstyle": "-|>",
                    "color": RED,
                    "lw": 1.3,
                    "shrinkA": 0,
                    "shrinkB": 0,
                },
                zorder=6,
            )
        )
        found.append(ax.plot(*tail, ".", color=RED, ms=5, zorder=6)[0])
    return found
