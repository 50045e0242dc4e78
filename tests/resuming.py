"""Runs that are cut in the middle and go on from a checkpoint, for tests of what the modes of
contacts keep.
"""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np

from catena.simulation.integrators.engine import Tally
from catena.simulation.planning.plan import RunPlan
from catena.simulation.runners.runner import Checkpoint, Runner


def goes_on_bit_for_bit(plan: RunPlan, least: int) -> None:
    """A run of at least so many slices, and one that continues from the middle of it: the same
    states, modes and log.
    """
    whole, ends = Runner(plan), []
    for _ in whole.slices():
        ends.append(json.dumps(asdict(whole.checkpoint())))
    half = json.loads(ends[len(ends) // 2])
    rest = Runner(plan)
    rest.restore(Checkpoint(**{**half, "tally": Tally(**half["tally"])}))
    for _ in rest.slices():
        pass
    assert (
        len(ends) > least
        and np.array_equal(rest.engine.x, whole.engine.x)
        and np.array_equal(rest.engine.held, whole.engine.held)
        and rest.log == whole.log
    )
