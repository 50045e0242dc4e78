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
    "rosenbrock": (
        "a linearly implicit tableau with exact Jacobians, error estimate and dense output, which"
        " chooses its steps: for stiff systems"
    ),
    "library": "SciPy's Radau with exact Jacobians, which chooses its steps",
}


@dataclass(frozen=True)
class Method:
    """An integrator.

    name: the value of the option `integrator` that selects it. kind: the driver that runs it, one
    of DRIVERS. order: of the error of a whole run. doc: one line for people. A (n, n), C (n,) over
    all stages, those for dense output last; B (s,); E: error weights over s + 1 stages, one row or
    two (Hairer's pair); P (n, d): dense output x + h sum_i k_i sum_d P_id theta^(d+1); D (n,): the
    largest value of its last term, which bounds its error; dense: its order. stable: the largest
    product of frequency and step for which oscillations do not grow, infinite where the method is
    implicit or chooses its steps.

    A Rosenbrock method has stages that are solutions of linear systems with one matrix, and which
    come after the derivative at the start (`rosenbrock.py`): gamma, its diagonal; couplings (n, n)
    of stages on the right sides; slopes (n,): factors of the derivative by time.

    explicit, stiff: for a method that chooses automatically, the names of the method that it begins
    with (whose tables these are) and of the one that it changes to where a system is stiff; "" for
    other methods.
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
    gamma: float = 0.0
    couplings: Array = field(default_factory=lambda: np.zeros((0, 0)))
    slopes: Array = field(default_factory=lambda: np.zeros(0))
    explicit: str = ""
    stiff: str = ""

    def __post_init__(self) -> None:
        if self.kind not in DRIVERS:
            raise SimulationError(
                unknown("kind of driver", self.kind, DRIVERS, f"integrator {self.name!r}")
            )
        for name in (
            *"ABCEPD",
            "couplings",
            "slopes",
        ):  # one memory layout for all, so that the drivers are compiled once
            object.__setattr__(
                self, name, np.array(getattr(self, name), dtype=np.float64, order="C")
            )

    @property
    def stages(self) -> int:
        """The number of stages of one step, without the derivative at its end."""
        return len(self.B)

    @property
    def chooses_steps(self) -> bool:
        """Whether the method chooses its steps by a tolerance, and has the dense output with which
        events are located.
        """
        return self.kind in ("adaptive", "rosenbrock", "library")

    @property
    def in_lanes(self) -> bool:
        """Whether many runs are advanced in one call, each with its own steps."""
        return self.kind in ("adaptive", "rosenbrock")


def _adaptive(name: str, order: int, dense: int, doc: str) -> Method:
    """Return the adaptive method whose tableau is in a file of n columns: rows of A, then C, B, D,
    E, and P by powers of theta.
    """
    rows = np.loadtxt(Path(__file__).parent / "tableaux" / f"{name}.txt")
    n = rows.shape[1]
    A, (C, B, D), E, P = rows[:n], rows[n : n + 3], rows[n + 3 : -dense], rows[-dense:]
    B = np.trim_zeros(B, "b")
    return Method(name, "adaptive", order, doc, A, B, C, E[:, : len(B) + 1], P.T, D, dense)


def _rosenbrock(name: str, order: int, steps: int, gamma: float, doc: str) -> Method:
    """Return the Rosenbrock method whose tableau is in a file, in the form of [Hairer1996],
    equation IV.7.25: rows of A and of the couplings C, then c, d, and H of dense output.

    Of its stages, the first `steps` make a step, and the last of these is its error estimate. They
    become rows 1, 2, ... of the tables here: row 0 is the derivative at the start of a step, and
    the row after the stages of a step is the derivative at its end.

        x(t + theta h) = x + theta (x_1 - x) + theta (1 - theta) (H_1 + theta (H_2 + ...))
    """
    rows = np.loadtxt(Path(__file__).parent / "tableaux" / f"{name}.txt")
    n = rows.shape[1]
    at = np.arange(n) + 1 + (np.arange(n) >= steps)
    A, couplings = np.zeros((2, n + 2, n + 2))
    A[np.ix_(at, at)], couplings[np.ix_(at, at)] = rows[:n], rows[n : 2 * n]
    A[steps + 1, 1 : steps + 1] = B = np.append(rows[steps - 1, : steps - 1], 1.0)
    C, slopes, error = np.zeros((3, n + 2))
    C[at], slopes[at], C[steps + 1], error[steps] = rows[2 * n], rows[2 * n + 1], 1.0, 1.0
    H = rows[2 * n + 2 :]
    P = np.zeros((n + 2, len(H) + 1))
    P[at, :-1] = H.T
    P[at, 1:] -= H.T
    P[: steps + 2, 0] += A[steps + 1, : steps + 2]
    return Method(
        name,
        "rosenbrock",
        order,
        doc,
        A,
        np.append(0.0, B),
        C,
        error[None, : steps + 2],
        P,
        error,  # the error of dense output has the order and the size of the estimate
        len(H) + 1,
        gamma=gamma,
        couplings=couplings,
        slopes=slopes,
    )


def _with(tableau: Method, A: ArrayLike, B: ArrayLike, C: ArrayLike) -> Method:
    """Return a method with the tables A, B and C of this tableau."""
    return replace(tableau, A=np.array(A), B=np.array(B), C=np.array(C))


_R = np.sqrt(3) / 6
_DOP853 = _adaptive(
    "dop853", 8, 7, "Dormand and Prince after Hairer, 8(5,3), dense output of order 7"
)
METHODS = Registry(
    "integrator",
    (
        replace(
            _DOP853,
            name="auto",
            doc="dop853, and rodas6p where the system is stiff; the default",
            explicit="dop853",
            stiff="rodas6p",
        ),
        Method(
            "semi_implicit",
            "map",
            1,
            "speeds first, then coordinates with the new speeds; for large batches",
            B=np.zeros(0),
            stable=2.0,
        ),
        Method(
            "euler",
            "fixed",
            1,
            "explicit Euler, as in some environments for learning; for comparisons with these only",
            stable=0.0,
            B=np.ones(1),
        ),
        _with(
            Method("rk4", "fixed", 4, "Runge and Kutta, the classical one", stable=2.78),
            [[0.0, 0, 0, 0], [0.5, 0, 0, 0], [0, 0.5, 0, 0], [0, 0, 1.0, 0]],
            np.array([1, 2, 2, 1]) / 6,
            [0, 0.5, 0.5, 1],
        ),
        _adaptive("dopri5", 5, 4, "Dormand and Prince, 5(4), dense output of order 4"),
        _DOP853,
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
        _rosenbrock(
            "rodas6p",
            6,
            16,
            0.26,
            "Rosenbrock after Steinebach, 6(5), L-stable: for stiff springs, dampers, controllers",
        ),
        Method(
            "radau",
            "library",
            5,
            "SciPy's Radau IIA with exact Jacobians: a second opinion on stiff runs",
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
