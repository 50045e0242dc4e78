"""Integrators as data: a method is a tableau, the driver that runs it, and a name.

    k_i = f(t + C_i h, x + h sum_j A_ij k_j),      x(t + h) = x + h sum_i B_i k_i

Adding a method is one `register(Method(...))`. A new kind of step needs a driver as well: a method
of `Engine`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import SimulationError, unknown
from ...registry import Registry

Array = NDArray[np.float64]

DRIVERS = {
    "map": "equal steps of a traced map x -> x",
    "fixed": "equal steps of an explicit tableau",
    "implicit": "equal steps of an implicit tableau, solved by fixed-point iteration",
    "stepping": "equal steps of Moreau and Jean, for contacts by time stepping",
    "adaptive": (
        "an explicit tableau with error estimate E and dense output P, which chooses its steps"
    ),
    "library": "SciPy's Radau with exact Jacobians, which chooses its steps",
}


@dataclass(frozen=True)
class Method:
    """An integrator.

    name: its word in the option `integrator`. kind: the driver that runs it, one of DRIVERS. order:
    of the error of a whole run. doc: one line for people. A (n, n), C (n,) over all stages, those
    for dense output last; B (s,); E: error weights over s + 1 stages, one row or two (Hairer's
    pair); P (n, d): dense output x + h sum_i k_i sum_d P_id theta^(d+1); D (n,): its last term at
    its largest, which bounds its error; dense: its order. stable: the largest product of frequency
    and step for which oscillations do not grow, infinite where the method is implicit or chooses
    its steps.
    """

    name: str
    kind: str
    order: int
    doc: str = ""
    A: Array = field(default_factory=lambda: np.zeros((1, 1)))
    B: Array = field(default_factory=lambda: np.zeros(1))
    C: Array = field(default_factory=lambda: np.zeros(1))
    E: Array = field(default_factory=lambda: np.zeros((0, 1)))
    P: Array = field(default_factory=lambda: np.zeros((0, 0)))
    D: Array = field(default_factory=lambda: np.zeros(0))
    dense: int = 0
    stable: float = np.inf

    def __post_init__(self) -> None:
        if self.kind not in DRIVERS:
            raise SimulationError(
                unknown("kind of driver", self.kind, DRIVERS, f"integrator {self.name!r}")
            )
        for name in "ABCEPD":  # one memory layout for all, so that the drivers are compiled once
            object.__setattr__(
                self, name, np.array(getattr(self, name), dtype=np.float64, order="C")
            )

    @property
    def stages(self) -> int:
        """The number of stages of one step, without the derivative at its end."""
        return len(self.B)

    @property
    def chooses_steps(self) -> bool:
        """Whether it chooses its steps by a tolerance, and has the dense output that locates
        events.
        """
        return self.kind in ("adaptive", "library")


def _adaptive(name: str, order: int, dense: int, doc: str) -> Method:
    """Return the adaptive method whose tableau is in a file of n columns: rows of A, then C, B, D,
    E, and P by powers of theta.
    """
    rows = np.loadtxt(Path(__file__).parent / "tableaux" / f"{name}.txt")
    n = rows.shape[1]
    A, (C, B, D), E, P = rows[:n], rows[n : n + 3], rows[n + 3 : -dense], rows[-dense:]
    B = np.trim_zeros(B, "b")
    return Method(name, "adaptive", order, doc, A, B, C, E[:, : len(B) + 1], P.T, D, dense)


def _with(tableau: Method, A: ArrayLike, B: ArrayLike, C: ArrayLike) -> Method:
    """Return a method with this tableau."""
    return replace(tableau, A=np.array(A), B=np.array(B), C=np.array(C))


_R = np.sqrt(3) / 6
METHODS = Registry(
    "integrator",
    (
        Method(
            "semi_implicit",
            "map",
            1,
            "speeds first, then coordinates with the new speeds; for large batches",
            B=np.zeros(0),
            stable=2.0,
        ),
        _with(
            Method("rk4", "fixed", 4, "Runge and Kutta, the classical one", stable=2.78),
            [[0.0, 0, 0, 0], [0.5, 0, 0, 0], [0, 0.5, 0, 0], [0, 0, 1.0, 0]],
            np.array([1, 2, 2, 1]) / 6,
            [0, 0.5, 0.5, 1],
        ),
        _adaptive("dopri5", 5, 4, "Dormand and Prince, 5(4), dense output of order 4"),
        _adaptive(
            "dop853",
            8,
            7,
            "Dormand and Prince after Hairer, 8(5,3), dense output of order 7; the default",
        ),
        _with(
            Method(
                "midpoint",
                "implicit",
                2,
                "Gauss, one stage: symplectic in canonical variables, reversible",
            ),
            [[0.5]],
            [1],
            [0.5],
        ),
        _with(
            Method("gauss4", "implicit", 4, "Gauss, two stages: the same at order 4"),
            [[0.25, 0.25 - _R], [0.25 + _R, 0.25]],
            [0.5, 0.5],
            [0.5 - _R, 0.5 + _R],
        ),
        Method(
            "radau",
            "library",
            5,
            "SciPy's Radau IIA with exact Jacobians: for stiff springs and dampers",
        ),
    ),
    SimulationError,
)
MOREAU_JEAN = Method(
    "moreau_jean",
    "stepping",
    1,
    "the step of contacts by time stepping: forces and contacts at its middle, impulses for all"
    " of it",
)
register = METHODS.register
method = METHODS.find


def __getattr__(name: str) -> tuple[str, ...]:
    if name != "ALL_INTEGRATORS":  # computed when it is used, since methods can be registered
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return tuple(METHODS)
