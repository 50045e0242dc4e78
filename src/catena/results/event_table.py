"""What happened in runs, as variables and coordinates of their dataset: events in words, and the
impacts of contacts.

    event (occurrence,) with event_time, s            impulse, impulse_sum (impact, component), N s;
                                                      approach (impact,), m/s; with impact_time, s,
                                                      and impact_contact, the point's name

Of several runs, `event_run` and `impact_run` say in which.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Tables = tuple[dict[str, Any], dict[str, Any]]  # variables and coordinates, (dims, values) each


def event_table(events: Sequence[Any], runs: Sequence[int] | None = None) -> Tables:
    """Of events, (time, words)."""
    if not events:
        return {}, {}
    times, words = zip(*events)
    return {"event": (("occurrence",), np.array(words))}, _along("event", "occurrence", times, runs)


def impact_table(
    hits: Sequence[Any], names: Sequence[str], runs: Sequence[int] | None = None
) -> Tables:
    """Of impacts, (time, point, approach, impulse, sum of the contact, mode); names: of the contact
    points.
    """
    if not hits:
        return {}, {}
    times, points, approach, impulse, total, _ = zip(*hits)
    shown = {
        "impulse": (("impact", "component"), np.array(impulse, float)),
        "impulse_sum": (("impact", "component"), np.array(total, float)),
        "approach": (("impact",), np.array(approach)),
    }
    along = {
        "component": ["normal", "tangent 1", "tangent 2"],
        "impact_contact": ("impact", [str(names[k]) for k in points]),
    }
    return shown, along | _along("impact", "impact", times, runs)


def _along(
    what: str, dimension: str, times: Sequence[float], runs: Sequence[int] | None
) -> dict[str, Any]:
    found = {f"{what}_time": (dimension, list(times), {"units": "s"})}
    return found if runs is None else found | {f"{what}_run": (dimension, list(runs))}
