"""Creep: how far joints travel where dry friction would hold them, because a run smooths it over a
small speed (`joint_losses.py`).

    f = F tanh(v / SMOOTH)

A load below F, which Coulomb's friction would hold, moves such a joint at SMOOTH atanh(load / F)
for ever. For each row that is slower than SLOW_SPEED times SMOOTH, the speed times the time since
the row before is counted, which is right on average: a joint that reverses is slow for a moment,
one that creeps is slow all the time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...kernels import usual_length
from ...model import SMOOTH, per_speed
from ...results import units
from ..terms.error_scales import coordinate_sizes
from ..terms.switched_constraints import nonzero

if TYPE_CHECKING:
    from ..planning.plan import RunPlan

Array = NDArray[np.float64]
# creep relative to the length scale of the coordinate: more than LARGE_CREEP is always reported,
# less than SMALLEST_CREEP never; in between it is reported if it is at least CREEP_SHARE of all
# that the coordinate travels
LARGE_CREEP, SMALLEST_CREEP, CREEP_SHARE = 1e-3, 1e-6, 1e-2
# speed relative to the one over which friction is smoothed: above it, friction is Coulomb's to half
# a percent
SLOW_SPEED = 3.0


def travelled(plan: RunPlan, t: Array, v: Array) -> tuple[Array, Array]:
    """Return (nv,), (nv,): the distance travelled while slow, and the total distance (m or rad), of
    each speed, in the run where it creeps most. t: the times of the rows, s; v (run, time, nv):
    speeds. Both arrays are empty without smoothed friction.
    """
    rough = np.array([nonzero(x) for x in per_speed(plan.machine.mechanism, "friction")], bool)
    if plan.system.driven is not None:
        rough[plan.system.driven.speeds] = False
    if plan.system.friction != "smooth" or not rough.any():
        return np.zeros(0), np.zeros(0)
    known = np.append(plan.start, plan.times)
    before = known[np.maximum(np.searchsorted(known, t, side="left") - 1, 0)]
    way = np.abs(v) * (np.maximum(t - before, 0.0))[:, None] * rough
    slow = np.where(np.abs(v) < SLOW_SPEED * SMOOTH, way, 0.0).sum(axis=1)
    run = slow.argmax(axis=0), np.arange(len(rough))
    return slow[run], way.sum(axis=1)[run]


def creeping(plan: RunPlan, slow: Array, way: Array) -> str:
    """Return a sentence about the joint that crept most relative to its length scale; "" where
    creep is negligible. slow, way (nv,): as `travelled` returns them.
    """
    if not len(slow):
        return ""
    relative = slow / coordinate_sizes(plan.machine.layout, usual_length(plan.machine.layout))[1]
    k = int(relative.argmax())
    if relative[k] < SMALLEST_CREEP or (
        relative[k] < LARGE_CREEP and slow[k] < CREEP_SHARE * way[k]
    ):
        return ""
    unit = units(plan.machine.mechanism.moving)[1][k]
    mechanism = plan.machine.mechanism
    return (
        f"{mechanism.speed_names[k]!r} creeps by {slow[k]:.2g} {unit} at speeds below"
        f" {SLOW_SPEED * SMOOTH:g} {unit}/s, where dry friction may hold it; friction='stick' does"
    )
