"""The interface by which the parts of a system read it while it is being built: its symbols and
traced functions.

Controllers, switched constraints and time steps receive the system that they become part of. They
use this part of `system.first_order.System`, which they do not import.
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
    """A first-order system as its parts see it.

    Symbols: t (s), q (nq,), v (nv,), u (nv,), p, the whole state x, the controller's state c.
    Sizes: nq, nv, nx of the state of the equations, nc of the controller, size of the whole state.
    """

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
    light: bool  # whether motions without inertia are determined by contacts (`light_motions.py`)

    def tracer(self) -> Tracer:
        """Return the mechanism's kernels with symbols of their own."""

    def tape(
        self,
        name: str,
        words: object,
        make: Callable[[Tracer], Sequence[ca.SX]],
        modes: bool = False,
    ) -> ca.Function:
        """Return the function (t, q, v, p) -> the expressions that `make` returns for a tracer,
        cached by its name and `words`; with `modes`, these are an argument too.
        """

    def follow(self, trajectory: Trajectory) -> Following:
        """Return a trajectory as a part of the system, whose `at(t)` gives q, v, a as
        expressions.
        """

    def aim(self, t: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Return position, speed and acceleration (q, v, a) of the driven coordinates at t (s), as
        expressions.
        """

    def under(self, given: ca.SX) -> tuple[ca.SX, ca.SX]:
        """Return the accelerations a (nv,), and tau (nv,), while the joint forces `given` act."""

    def compiled(self, key: tuple[Any, ...], make: Callable[[], Any]) -> Any:
        """Return the result of `make`, cached for this system under a key."""

    @property
    def inputs(self) -> list[ca.SX]:
        """The inputs of every function of the system: t, the whole state, u and the modes, p."""

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
        """The forces of the active switched rows, and the joint forces that these cause."""

    @property
    def work(self) -> ca.SX:
        """The symbol of the work done so far (J)."""

    @property
    def length(self) -> float:
        """The mechanism's own length (m); zero where it has none."""

    @property
    def error_table(self) -> np.ndarray:
        """The scales of the states relative to which errors are judged."""
