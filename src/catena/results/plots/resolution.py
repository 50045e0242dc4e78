"""Resolution: the smallest change that a run resolves. Axes span at least that much, so that
rounding is not drawn as motion.
"""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from ...model import value_of
from ..result import Result
from ..scene.skeleton import typical_length

CONSTANT_MARGIN = 0.05  # the margin above and below a constant value, relative to the value


def resolution(result: Result, unit: str, largest: float = 0.0) -> float:
    """Return the smallest change of a quantity that the run resolves: its tolerance times the
    larger of the largest value and the typical value of that unit for the mechanism (from its
    length, its weight and the run's duration).
    """
    return (result.ledger.tolerance or 1e-9) * max(_scale(result, unit), largest)


def _scale(result: Result, unit: str) -> float:
    """Return the typical value of a quantity with this unit for the mechanism."""
    m = result.mechanism
    length = typical_length(m)
    duration = float(result.time[-1] - result.time[0]) or 1.0
    g = float(np.linalg.norm([value_of(x, m.parameters) for x in m.gravity]))
    mass = sum(
        float(value_of(b.flexible.rigid()[0] if b.flexible else b.mass, m.parameters))
        for b in m.bodies
    )
    rate = max(length / duration**2, g)  # m/s2
    turn = {
        "deg": 180 / np.pi,
        "deg/s": 180 / np.pi / duration,
        "deg/s2": 180 / np.pi * rate / length,
    }
    own = {
        "m": length,
        "m/s": length / duration,
        "m/s2": rate,
        "rad": 1.0,
        "1": 1.0,
        "rad/s": 1 / duration,
        "rad/s2": rate / length,
    }
    return {
        **turn,
        **own,
        "N": mass * rate,
        "N m": mass * rate * length,
        "J": mass * rate * length,
    }[unit]


def widen(ax: Axes, result: Result, unit: str, largest: float = 0.0) -> None:
    """Widen the y axis of lines that are constant within the run's resolution: to a fraction of
    their value, or for zeros to the mechanism's own scale, with only the zero labelled.
    """
    drawn = [
        y[np.isfinite(y)] for line in ax.lines if (y := np.asarray(line.get_ydata(), float)).size
    ]
    if not any(y.size for y in drawn):
        ax.set_yticks([])  # nothing is known, not even its scale
        return
    values = np.concatenate([y for y in drawn if y.size])
    low = float(values.min())
    high = float(values.max())
    least = resolution(result, unit, largest)
    if high - low <= least:
        largest = max(abs(low), abs(high))
        none = largest <= least
        room = _scale(result, unit) if none else max(least, CONSTANT_MARGIN * largest)
        ax.set_ylim(low - room, high + room)
        if none:
            ax.set_yticks([0.0], ["0"])


def still(result: Result, values: np.ndarray, unit: str) -> bool:
    """Whether values over time are constant within the run's resolution."""
    return bool(np.ptp(values) <= resolution(result, unit))
