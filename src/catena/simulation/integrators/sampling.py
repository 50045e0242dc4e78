"""Sampled controllers: the engine advances from one sample, or knot of a trajectory, to the
next.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .drivers import REACHED


def advance_between_samples(engine: Any, t: float, end: float, times: np.ndarray) -> Any:
    """Advance an engine from t to `end` (s), or to an event, stopping at every sample of a
    controller and at every knot of a trajectory. At a sample the controller is evaluated; at a knot
    the next piece of the trajectory begins. Return a Segment with all rows.
    """
    system = engine.system
    jump = engine.system.kernel("jump", engine.W)
    rows, done = [], 0
    while True:
        for k, f in system.pieces:
            if t >= engine.x[k, 0] - 1e-12 * max(abs(engine.x[k, 0]), abs(t)):
                values = f.values(max(t, engine.x[k, 0]))
                engine.x[k : k + len(values)] = values[:, None]
        if jump is not None:
            engine.buffer[0], engine.buffer[1 : 1 + len(engine.x)] = t, engine.x
            jump.block(engine.buffer, engine.x)
        stop = min(end, *(engine.x[k, 0] for k in system.clocks))
        if not engine.method.chooses_steps and done < len(times):  # equal steps meet every row
            stop = min(stop, times[done])
        slack = 1e-7 * (stop - t)
        last = int(np.searchsorted(times, stop - slack))
        # an output time at a sample, up to rounding, is that of the sample
        if last < len(times) and times[last] <= stop + slack:
            stop, last = times[last], last + 1
        part = engine.advance(t, stop, times[done:last])
        rows.append(part.rows)
        t, done = part.t, done + len(part.rows)
        if part.status != REACHED or t >= end:
            return replace(part, rows=np.concatenate(rows))
