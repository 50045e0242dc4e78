"""Arrows of contact forces, for stick figures and films."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from ..result import Result
from ..scene.view import View

Array = np.ndarray
LARGEST_ARROW = 0.22  # length of the arrow of the largest force, relative to the picture's span
LEAST_FORCE = 0.01  # the least force that has an arrow, relative to the largest
RED = "#c00000"


def contact_arrows(result: Result, times: Array, span: float) -> Array:
    """Return tail and head of the force at each contact point at these times, (n, k, 2, 3), m; NaN
    where there is none.

    The largest arrow has LARGEST_ARROW times the length `span` (m). A force is that of the last row
    at or before the time.
    """
    if "contact_push" not in result.data:
        return np.zeros((len(times), 0, 2, 3))
    row = np.clip(np.searchsorted(result.time, times, side="right") - 1, 0, len(result.time) - 1)
    force, place = (result.data[f"contact_{name}"].values[row] for name in ("push", "place"))
    closed = result.data["contact_mode"].values[row] > 0.0
    size = np.linalg.norm(force, axis=-1)
    most = size[closed].max(initial=0.0)
    head = place + force * (LARGEST_ARROW * span / most if most > 0.0 else 0.0)
    shown = closed & (size > LEAST_FORCE * most)
    return np.where(shown[..., None, None], np.stack([place, head], axis=-2), np.nan)


def draw_arrows(ax: Axes, arrows: Array, view: View) -> list[Any]:
    """Draw the arrows (k, 2, 3) of one instant, and return what was drawn."""
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
