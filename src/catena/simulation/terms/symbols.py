"""What the parts of a system may read of it: its symbols and tapes, while it is being made.

Controllers, switched constraints and time steps are given the system that they become part of. They
see this much of `system.first_order.System`, which stands above them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import casadi as ca
import numpy as np

from ...compiler import Tracer
from ...equations import Equations, Formulation
from ...kernels import Layout
from ...model import Mechanism
from ..trajectories.piecewise import Trajectory
from ..trajectories.trajectory_state import Following
from .stabilisation import Stabiliser


class SystemSymbols(Protocol):
    """The symbols t (s), q (nq,), v (nv,), u (nv,), p of a system, its sizes, and its tapes."""

    mechanism: Mechanism
    layout: Layout
    equations: Equations
    formulation: Formulation
    t: ca.SX
    p: ca.SX
    x: ca.SX
    u: ca.SX
    q: ca.SX
    v: ca.SX
    c: ca.SX
    nq: int
    nv: int
    nx: int
    nc: int
    size: int
    controller: Any
    driven: Any
    stepping: Any
    touching_state: ca.SX
    holding: Any  # SwitchedConstraints
    stabiliser: Stabiliser

    def tracer(self) -> Tracer:
        """Return the mechanism's kernels with symbols of their own."""

    def tape(
        self,
        name: str,
        words: object,
        make: Callable[[Tracer], Sequence[ca.SX]],
        modes: bool = False,
    ) -> ca.Function:
        """Return (t, q, v, p) -> what `make` finds with a tracer."""

    def follow(self, trajectory: Trajectory) -> Following:
        """Return a trajectory whose `at(t)` gives q, v, a as expressions."""

    def aim(self, t: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Return q, v, a of what is driven, at t (s)."""

    def under(self, given: ca.SX) -> tuple[ca.SX, ca.SX]:
        """Return a and tau (nv,) when the joint forces `given` act."""

    def compiled(self, key: tuple, make: Callable[[], Any]) -> Any:
        """Return what `make` gives, made once for this system."""

    @property
    def inputs(self) -> list[ca.SX]:
        """What every tape of the system reads: t, the whole state, u and the modes, p."""

    @property
    def losses(self) -> ca.SX:
        """Joint damping and friction along the speeds (nv,)."""

    @property
    def tau(self) -> ca.SX:
        """The joint forces that act (nv,)."""

    @property
    def acceleration(self) -> ca.SX:
        """The accelerations under these forces (nv,)."""

    @property
    def power(self) -> ca.SX:
        """The power that goes into the mechanism (W)."""

    @property
    def binds(self) -> bool:
        """Whether there are rows onto which states are projected."""

    @property
    def held(self) -> tuple[ca.SX, ca.SX]:
        """The forces of the rows that can be held, and the joint forces they make."""

    @property
    def work(self) -> ca.SX:
        """The symbol of the work done (J)."""

    @property
    def length(self) -> float:
        """The mechanism's own length (m); zero where it has none."""

    @property
    def error_table(self) -> np.ndarray:
        """The sizes of the states relative to which errors are judged."""
