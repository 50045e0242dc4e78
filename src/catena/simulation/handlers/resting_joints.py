"""Joints at rest with dry friction while contacts are closed. Contacts and friction hold such a
joint together, so that which of them slips is one problem. There the joint is a contact whose
normal force is the limit of its friction.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...contact import MOST, STICK, Solution
from ..terms.contact_rows import JointShareMode
from ..terms.switched_constraints import SpeedMode
from .context import HandlerContext
from .mode_choice import slow

Array = NDArray[np.float64]


class RestingJoints(NamedTuple):
    """j joints at rest with dry friction. parts: their indices among the switched constraints.
    speeds: the indices of their speeds in v. limit (j,): the limit of their friction, N or N m.
    """

    parts: list[int]
    speeds: list[int]
    limit: Array

    def rows(self, nv: int) -> Array:
        """Return the Jacobian (3 j, nv) of these joints as contacts: a row of zeros for the normal,
        the row of the speed, and a row of zeros for the second tangent.
        """
        found = np.zeros((3 * len(self.parts), nv))
        found[1::3] = np.eye(nv)[self.speeds]
        return found

    def release(self, handler: HandlerContext) -> None:
        """Remove the friction of these joints, neither sticking nor slipping, so that accelerations
        are those without it.
        """
        for k, F in zip(self.parts, self.limit):
            handler.set_mode(k, SpeedMode(0.0, 0.0, -F, F))
            handler.set_mode(handler.constraints.rest + 1 + k, JointShareMode())

    def apply(self, handler: HandlerContext, one: Solution, slack: Array) -> None:
        """Set the modes of these joints from a solution of which they are the last contacts. slack
        (j,): the tolerance by which a force may exceed its limit before that is an event.
        """
        first = len(one.modes) - len(self.parts)
        for n, (k, F, more) in enumerate(zip(self.parts, self.limit, slack), first):
            held = one.modes[n].endswith(STICK)
            way = 0.0 if held else float(np.sign(one.direction[n, 0]))
            handler.set_mode(k, SpeedMode(float(held), way, -F - more, F + more))


NO_JOINTS = RestingJoints([], [], np.zeros(0))


def resting_joints(handler: HandlerContext, M: Array, contacts: int) -> RestingJoints:
    """Return the joints that are at rest and have dry friction, and that no stop or lock holds;
    none where there are too many of them, with so many contact points, to be treated together. M
    (nv, nv): the mass matrix.
    """
    v = handler.state_of()[1]
    stopped = {k for k, _ in handler.touching}
    found = [
        k
        for k, h in enumerate(handler.constraints.speeds)
        if handler.dry[k] > 0.0
        and k not in stopped
        and not handler.mode(k).locked
        and (handler.mode(k).held > 0.5 or _still(handler, M, v, h.index))
    ]
    if not found or len(found) + contacts > MOST:
        return NO_JOINTS
    return RestingJoints(
        found, [handler.constraints.speeds[k].index for k in found], handler.dry[found]
    )


def _still(handler: HandlerContext, M: Array, v: Array, k: int) -> bool:
    """Return whether speed k counts as zero."""
    inertia, energy = M[k, [k]][None], np.array([handler.energy])
    return bool(slow(v[None, [k]], inertia, energy)[0, 0])
