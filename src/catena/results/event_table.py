"""Events and impacts of runs, as variables and coordinates of their dataset.

    event (occurrence,) with event_time, s            impulse, impulse_sum (impact, component), N s;
    event_q_before, event_q_after                     approach (impact,), m/s; with impact_time, s,
    (occurrence, coordinate), event_v_before,         and impact_contact, the point's name
    event_v_after (occurrence, speed): just before
    and just after all of that instant

For several runs, `event_run` and `impact_run` give the index of the run. Where nothing happened,
all of these variables exist and are empty. States that a file does not hold are NaN.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Tables = tuple[dict[str, Any], dict[str, Any]]  # variables and coordinates, (dims, values) each


def event_table(
    events: Sequence[Any], sizes: tuple[int, int], runs: Sequence[int] | None = None
) -> Tables:
    """Return variables and coordinates for events, each given as (time, description, state before,
    state after). sizes: nq and nv. runs: the index of the run of each event.
    """
    nq, nv = sizes
    states = np.full((2, len(events), nq + nv), np.nan)
    for n, (_, _, *both) in enumerate(events):
        for k, x in enumerate(both):
            if len(x) == nq + nv:
                states[k, n] = x
    shown: dict[str, Any] = {"event": (("occurrence",), np.array([e[1] for e in events], str))}
    for k, when in enumerate(("before", "after")):
        shown[f"event_q_{when}"] = (("occurrence", "coordinate"), states[k, :, :nq])
        shown[f"event_v_{when}"] = (("occurrence", "speed"), states[k, :, nq:])
    return shown, _along("event", "occurrence", [e[0] for e in events], runs)


def impact_table(
    hits: Sequence[Any], names: Sequence[str], runs: Sequence[int] | None = None
) -> Tables:
    """Return variables and coordinates for impacts, each given as (time, point, approach, impulse,
    sum of the contact, mode). names: of the contact points. runs: the index of the run of each
    impact.
    """
    times, points, approach, impulse, total, _ = zip(*hits) if hits else ((),) * 6
    shown = {
        "impulse": (("impact", "component"), np.array(impulse, float).reshape(-1, 3)),
        "impulse_sum": (("impact", "component"), np.array(total, float).reshape(-1, 3)),
        "approach": (("impact",), np.array(approach, float)),
    }
    along = {
        "component": ["normal", "tangent 1", "tangent 2"],
        "impact_contact": ("impact", np.array([str(names[k]) for k in points], str)),
    }
    return shown, along | _along("impact", "impact", times, runs)


def _along(
    what: str, dimension: str, times: Sequence[float], runs: Sequence[int] | None
) -> dict[str, Any]:
    """Return the coordinates of events or impacts along their dimension: times, and runs where
    given.
    """
    found = {f"{what}_time": (dimension, np.array(times, float), {"units": "s"})}
    return found if runs is None else found | {f"{what}_run": (dimension, np.array(runs, int))}
