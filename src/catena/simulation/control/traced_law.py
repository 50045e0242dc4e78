"""A controller as part of the compiled equations: its forces and the rates of its states as
expressions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import casadi as ca


@dataclass(frozen=True)
class Law:
    """A traced controller: forces and the rate of its own state c, as expressions of (t, q, v, c,
    u, p).

    Parameters
    ----------
    tau : SX, shape (nv,)
        The joint forces, N m or N.
    rate : SX, shape (nc,)
        The time derivative of c; empty by default.
    state : SX, shape (nc,)
        The symbols of c; empty by default.
    names : tuple of str
        The names of the entries of c.
    start : tuple of float
        The values of c at the start of a run.
    jump : SX, shape (nc,), or None
        The value of c after a sample; None where nothing is sampled.
    clocks : tuple of int
        The indices of the entries of c that hold the time of the next sample.
    integrals : tuple of int
        For each of the first entries of c, the index of the coordinate of which it is an integral
        over time, or -1. The integration error of an integral is judged relative to the scale of
        its coordinate, that of all other entries relative to one.
    """

    tau: Any
    rate: Any = field(default_factory=lambda: ca.SX.zeros(0))
    state: Any = field(default_factory=lambda: ca.SX.zeros(0))
    names: tuple[str, ...] = ()
    start: tuple[float, ...] = ()
    jump: Any = None
    clocks: tuple[int, ...] = ()
    integrals: tuple[int, ...] = ()
