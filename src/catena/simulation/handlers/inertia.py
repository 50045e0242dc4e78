"""The mass matrix at an event, and its inverse. Impacts and the choice of modes at one instant
share them, since the configuration does not change.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...machine import Machine, accelerated

Array = NDArray[np.float64]
# norm of the inverse of the mass matrix scaled to a unit diagonal: with a smaller one the matrix is
# far from singular
REGULAR_INVERSE = 1e9


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
        size = np.sqrt(np.maximum(self.matrix.diagonal(), 0.0))
        if (size > 0.0).all():
            scale = size[:, None] * size
            try:
                inverse = np.linalg.inv(self.matrix / scale)
            except np.linalg.LinAlgError:
                inverse = np.full(scale.shape, np.inf)
            # its largest eigenvalue is at most its norm
            if np.linalg.norm(inverse) < REGULAR_INVERSE:
                return inverse / scale
        return accelerated(self.machine, self.matrix, np.eye(len(self.matrix)))
