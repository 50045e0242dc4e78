"""Integrators as data: a method is a tableau, the driver that runs it, and a name.

    k_i = f(t + C_i h, x + h sum_j A_ij k_j),      x(t + h) = x + h sum_i B_i k_i

Adding a method is one `register(Method(...))`. A new kind of step needs a driver as well: a method of `Engine`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import DOP853, RK45

from ..errors import SimulationError, unknown
from ..registry import Registry

Array = NDArray[np.float64]

DRIVERS = {
    "map": "equal steps of a traced map x -> x",
    "fixed": "equal steps of an explicit tableau",
    "implicit": "equal steps of an implicit tableau, solved by fixed-point iteration",
    "adaptive": "an explicit tableau with error estimate E and dense output P, which chooses its steps",
    "library": "SciPy's Radau with exact Jacobians, which chooses its steps",
}


@dataclass(frozen=True)
class Method:
    """An integrator.

    name: its word in `integrator=`. kind: the driver that runs it, one of DRIVERS. order: of the error of a whole run. doc: one
    line for people. A (n, n), C (n,) over all stages, those for dense output last; B (s,); E: error weights over s + 1 stages,
    one row or two (Hairer's pair); P (n, d): dense output x + h sum_i k_i sum_d P_id theta^(d+1); D (n,): its last term at its
    largest, which bounds its error; dense: its order. stable: the largest frequency times step on which oscillations do not
    grow, infinite where the method is implicit or chooses its steps.
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
            raise SimulationError(unknown("kind of driver", self.kind, DRIVERS, f"integrator {self.name!r}"))
        for name in "ABCEPD":  # one memory layout for all, so that the drivers are compiled once
            object.__setattr__(self, name, np.array(getattr(self, name), dtype=np.float64, order="C"))

    @property
    def stages(self) -> int:
        """Stages of one step, without the derivative at its end."""
        return len(self.B)

    @property
    def chooses_steps(self) -> bool:
        """Whether it chooses its steps by a tolerance, and has the dense output that locates events."""
        return self.kind in ("adaptive", "library")


def _with_end(A: Array, B: Array, C: Array) -> tuple[Array, Array]:
    """A and C with one more stage: the derivative at the step's end."""
    n = len(B)
    wide = np.zeros((n + 1, n + 1))
    wide[:n, : A.shape[1]], wide[n, :n] = A, B
    return wide, np.append(C, 1.0)


def _dopri5() -> Method:
    A, C = _with_end(RK45.A, RK45.B, RK45.C)
    return Method("dopri5", "adaptive", 5, "Dormand and Prince, 5(4), dense output of order 4",
                  A, RK45.B, C, RK45.E[None], RK45.P, RK45.P[:, 3] / 16, 4)  # fmt: skip


def _dop853() -> Method:
    """Hairer's pair with the tableau that SciPy carries; its dense output written as powers of theta."""
    S = DOP853
    A, C = _with_end(S.A, S.B, S.C)
    n, more = len(A), len(S.A_EXTRA)
    wide = np.zeros((n + more, n + more))
    wide[:n, :n], wide[n:, : S.A_EXTRA.shape[1]] = A, S.A_EXTRA
    end = np.append(S.B, np.zeros(1 + more))  # dx = h sum end_i k_i
    first, last = np.eye(n + more)[0], np.eye(n + more)[n - 1]
    F = [end, first - end, 2 * end - (last + first), *S.D]  # Hairer's coefficients, as weights on the k_i
    P = np.zeros((n + more, 8))
    basis = np.polynomial.Polynomial([1.0])
    for row, weights in enumerate(F):  # x + theta (F0 + (1 - theta)(F1 + theta (F2 + ...)))
        basis = basis * np.polynomial.Polynomial([0.0, 1.0] if row % 2 == 0 else [1.0, -1.0])
        P[:, : len(basis.coef)] += np.outer(weights, basis.coef)
    D = F[-1] * (4 / 7) ** 4 * (3 / 7) ** 3  # theta^4 (1 - theta)^3 at its largest
    return Method("dop853", "adaptive", 8, "Dormand and Prince after Hairer, 8(5,3), dense output of order 7; the default",
                  wide, S.B, np.append(C, S.C_EXTRA), np.stack([S.E5, S.E3]), P[:, 1:], D, 7)  # fmt: skip


def _with(tableau: Method, A: ArrayLike, B: ArrayLike, C: ArrayLike) -> Method:
    """The method with a tableau written out."""
    return replace(tableau, A=np.array(A), B=np.array(B), C=np.array(C))


_R = np.sqrt(3) / 6
METHODS = Registry("integrator", (
    Method("semi_implicit", "map", 1, "speeds first, then coordinates with the new speeds; for large batches", stable=2.0),
    _with(Method("rk4", "fixed", 4, "Runge and Kutta, the classical one", stable=2.78),
          [[0.0, 0, 0, 0], [0.5, 0, 0, 0], [0, 0.5, 0, 0], [0, 0, 1.0, 0]], np.array([1, 2, 2, 1]) / 6, [0, 0.5, 0.5, 1]),
    _dopri5(),
    _dop853(),
    _with(Method("midpoint", "implicit", 2, "Gauss, one stage: symplectic in canonical variables, reversible"),
          [[0.5]], [1], [0.5]),
    _with(Method("gauss4", "implicit", 4, "Gauss, two stages: the same at order 4"),
          [[0.25, 0.25 - _R], [0.25 + _R, 0.25]], [0.5, 0.5], [0.5 - _R, 0.5 + _R]),
    Method("radau", "library", 5, "SciPy's Radau IIA with exact Jacobians: for stiff springs and dampers"),
), SimulationError)  # fmt: skip
register, method = METHODS.register, METHODS.find
