"""A controller inside the tape: forces and the rate of its own state as expressions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import casadi as ca


@dataclass(frozen=True)
class Law:
    """A traced controller: tau (nv,) and the rate of its own state c, as expressions of (t, q, v,
    c, u, p).

    state: the symbols of c, with their names and what they start from. jump: what c becomes when a
    sample is due, nothing if nothing is sampled; clocks: the places in c that hold the time of the
    next sample. integrals: for each of the first of c, the coordinate of which it is an integral
    over time, -1 for none: beside that its error is judged, that of others beside one.
    """

    tau: Any
    rate: Any = field(default_factory=lambda: ca.SX.zeros(0))
    state: Any = field(default_factory=lambda: ca.SX.zeros(0))
    names: tuple[str, ...] = ()
    start: tuple[float, ...] = ()
    jump: Any = None
    clocks: tuple[int, ...] = ()
    integrals: tuple[int, ...] = ()
