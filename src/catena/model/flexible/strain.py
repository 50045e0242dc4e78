"""Strain energy: the elastic energy of flexible bodies in bending, stretching and twisting. It is
part of the potential energy.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..mechanism import Mechanism
from ..pose import Scalar
from ..values import value_of

Array = np.ndarray


def strain_energy(
    m: Mechanism, q: Array, parameters: Mapping[str, float] | None = None
) -> dict[str, Array]:
    """Return {body: (...)}, J: 1/2 sum of k (q - rest)^2 over the springs of each flexible body, or
    1/2 e'K e of its shapes.

    q: (..., nq). parameters: values in place of the mechanism's own.
    """
    loads = {load.name: load for load in m.loads}
    found = {}
    known = m.parameters if parameters is None else parameters
    for flexed in m.beams:
        scene = _Stored(m, np.asarray(q, float), known)
        for load in (loads[name] for name in flexed.loads if name in loads):
            load.act(scene)  # type: ignore[arg-type]  # of a `Scene` it sees coordinates only
        found[flexed.body] = scene.energy
    return found


class _Stored:
    """The part of the `Scene` interface that loads along coordinates use. It gives coordinates at
    rest, and records the energy that the loads store.
    """

    def __init__(self, m: Mechanism, q: Array, parameters: Mapping[str, float]):
        self.q, self.energy, self.parameters = q, np.zeros(q.shape[:-1]), parameters
        self.at = {name: k for k, name in enumerate(m.coordinate_names)}

    def value(self, x: Scalar) -> float:
        return float(value_of(x, self.parameters))

    def coordinate(self, name: str) -> tuple[Array, float]:
        return self.q[..., self.at[name]], 0.0

    def drive(self, speed: str, force: Array) -> None:
        pass

    def store(self, energy: Array) -> None:
        self.energy = self.energy + energy
