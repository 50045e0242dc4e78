"""The mechanism of one run, at the parameters of that run."""

from __future__ import annotations

import numpy as np

from ..model import Mechanism
from .result import Result


def with_own_parameters(result: Result, mechanism: Mechanism | None = None) -> Mechanism:
    """Return the mechanism of one run, at the parameters of that run. mechanism: the same
    mechanism from elsewhere, such as a file with meshes.
    """
    m = result.mechanism if mechanism is None else mechanism
    if "parameters" not in result.data:
        return m
    own = np.asarray(result.data["parameters"].values, float)
    return m.with_(parameters=dict(zip(m.parameters, own)))
