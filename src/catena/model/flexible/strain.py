"""Strain energy: what flexible bodies store in their bending, stretching and twisting. It is part of the potential energy."""

from __future__ import annotations

import numpy as np

from ..loads import JointSpring, Strain
from ..mechanism import Mechanism
from ..validation import value_of

Array = np.ndarray


def strain_energy(m: Mechanism, q: Array) -> dict[str, Array]:
    """{body: (...)}: 1/2 sum of k (q - rest)^2 over the springs of each flexible body, or 1/2 e'K e of its shapes, J. q: (..., nq)."""
    q = np.asarray(q, float)
    at = {name: k for k, name in enumerate(n for j in m.moving for n in j.coordinate_names)}
    loads = {load.name: load for load in m.loads}
    value = lambda x: float(value_of(x, m.parameters))  # noqa: E731
    found = {}
    for flexed in m.beams:
        total = np.zeros(q.shape[:-1])
        for load in (loads[name] for name in flexed.loads if name in loads):
            if isinstance(load, JointSpring):
                total += 0.5 * value(load.stiffness) * (q[..., at[load.coordinate]] - value(load.rest)) ** 2
            elif isinstance(load, Strain):
                K = np.array([[value(x) for x in row] for row in load.K])
                e = q[..., np.array([at[n] for n in load.coordinates])]
                total += 0.5 * np.einsum("...i,ij,...j->...", e, K, e)
        found[flexed.body] = total
    return found
