"""The mass matrix at an event, and its inverse. Impacts and the choice of modes at one instant
share them, since the configuration does not change.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...machine import Machine, accelerated

Array = NDArray[np.float64]


class Inertia:
    """The inertia of a mechanism at one configuration.

    q (nq,): the configuration. matrix (nv, nv): the mass matrix there.
    """

    def __init__(self, machine: Machine, q: Array, parameters: Array | None):
        self.machine, self.q = machine, q
        self.matrix: Array = machine.mass_matrix(q, parameters=parameters)

    @cached_property
    def inverse(self) -> Array:
        """The inverse mass matrix (nv, nv). Raises SingularError where a joint has no inertia."""
        return accelerated(self.machine, self.matrix, np.eye(len(self.matrix)))
