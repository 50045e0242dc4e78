"""StateFeedback: u = u* - K x, the controller that linear designs return."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ..kernels import layout
from ..machine import Machine, machine_of
from ..model import Mechanism
from ..simulation.control import Controller, Law, clip_forces, sample_and_hold
from ..simulation.terms import SystemSymbols
from .operating_point import OperatingPoint

Array = np.ndarray


@dataclass(frozen=True)
class StateFeedback(Controller):
    """Linear state feedback about an operating point: tau = tau* - K x along the inputs.

    Attributes
    ----------
    K : ndarray (inputs, n)
        The gain, N m or N per unit of the state.
    point : OperatingPoint
        q*, v*, tau*, and the names of states and inputs.
    P : ndarray (n, n)
        The cost that is left at x is x' P x; empty for designs without a cost.
    poles : ndarray (n,)
        The poles of the closed loop: 1/s, or per sample if it is sampled.
    limits : "effort", float, mapping or None
        The largest force, as for `PID`.
    sample : float or None
        The sample time, s; None for a continuous controller.
    """

    K: Array
    point: OperatingPoint
    P: Array
    poles: Array
    limits: Any = None
    sample: float | None = None

    def law(self, system: SystemSymbols) -> Law:
        """Return the forces; there is no state unless it is sampled."""
        self.point.require_driven("StateFeedback", system.layout)
        x = self.point.deviation(system.layout, system.q, system.v)
        u = self.point.input_forces(system.layout) - ca.DM(self.K) @ x
        tau = clip_forces(system, self.point.spread(system.layout, u), self.limits)
        return sample_and_hold(self.sample, system, Law(tau))

    def forces(self, mechanism: Mechanism | Machine, q: ArrayLike, v: ArrayLike) -> Array:
        """Return the joint forces (..., nv) at states q (..., nq), v (..., nv), without limits."""
        machine = machine_of(mechanism)
        own = layout(machine.mechanism)
        s, w = ca.SX.sym("q", machine.nq), ca.SX.sym("v", machine.nv)
        u = self.point.input_forces(own) - ca.DM(self.K) @ self.point.deviation(own, s, w)
        f = ca.Function("forces", [s, w], [self.point.spread(own, u)])
        q, v = np.asarray(q, float), np.asarray(v, float)
        lead = np.broadcast_shapes(q.shape[:-1], v.shape[:-1])
        rows = [np.broadcast_to(y, (*lead, y.shape[-1])).reshape(-1, y.shape[-1]) for y in (q, v)]
        return np.array(f.map(len(rows[0]))(*(y.T for y in rows))).T.reshape(*lead, machine.nv)
