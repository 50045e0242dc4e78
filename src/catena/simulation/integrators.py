"""Integrators as data: a method is a tableau and a name. The drivers in `drivers.py` run any of them.

k_i = f(t + C_i h, x + h sum_j A_ij k_j),      x(t + h) = x + h sum_i B_i k_i

name               kind        order   note
semi_implicit      map         1       speeds first, then coordinates with the new speeds; for large batches
rk4                fixed       4       the classical one
dopri5             adaptive    5(4)    Dormand and Prince, dense output of order 4
dop853             adaptive    8(5,3)  Hairer's, dense output of order 7; the default
midpoint           implicit    2       Gauss, symplectic in canonical variables, time reversible, keeps quaternions unit
gauss4             implicit    4       the same with two stages
radau              library     5       SciPy's, with exact Jacobians: for stiff springs and dampers
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache

import numpy as np

from ..errors import SimulationError, unknown

Array = np.ndarray


@dataclass(frozen=True)
class Method:
    """A method. A (n, n), C (n,) over all stages, those for dense output last; B (s,); E: error weights over s + 1 stages,
    one row or two (Hairer's pair); P (n, d): dense output x + h sum_i k_i sum_d P_id theta^(d+1); D (n,): its last term at its
    largest, which bounds its error; dense: its order."""

    name: str
    kind: str
    order: int
    A: Array = field(default_factory=lambda: np.zeros((1, 1)))
    B: Array = field(default_factory=lambda: np.zeros(1))
    C: Array = field(default_factory=lambda: np.zeros(1))
    E: Array = field(default_factory=lambda: np.zeros((0, 1)))
    P: Array = field(default_factory=lambda: np.zeros((0, 0)))
    D: Array = field(default_factory=lambda: np.zeros(0))
    dense: int = 0

    def __post_init__(self) -> None:
        for name in "ABCEPD":  # one memory layout for all, so that the drivers are compiled once
            object.__setattr__(self, name, np.array(getattr(self, name), dtype=np.float64, order="C"))

    @property
    def stages(self) -> int:
        """Stages of one step, without the derivative at its end."""
        return len(self.B)


def _semi_implicit() -> Method:
    return Method("semi_implicit", "map", 1)


def _rk4() -> Method:
    A = np.array([[0, 0, 0, 0], [0.5, 0, 0, 0], [0, 0.5, 0, 0], [0, 0, 1.0, 0]])
    return Method("rk4", "fixed", 4, A, np.array([1, 2, 2, 1]) / 6, np.array([0, 0.5, 0.5, 1]))


def _midpoint() -> Method:
    return Method("midpoint", "implicit", 2, np.array([[0.5]]), np.array([1.0]), np.array([0.5]))


def _gauss4() -> Method:
    r = np.sqrt(3) / 6
    A = np.array([[0.25, 0.25 - r], [0.25 + r, 0.25]])
    return Method("gauss4", "implicit", 4, A, np.array([0.5, 0.5]), np.array([0.5 - r, 0.5 + r]))


def _with_end(A: Array, B: Array, C: Array) -> tuple[Array, Array]:
    """A and C with one more stage: the derivative at the step's end."""
    n = len(B)
    wide = np.zeros((n + 1, n + 1))
    wide[:n, : A.shape[1]], wide[n, :n] = A, B
    return wide, np.append(C, 1.0)


def _dopri5() -> Method:
    from scipy.integrate import RK45

    A, C = _with_end(RK45.A, RK45.B, RK45.C)
    return Method("dopri5", "adaptive", 5, A, RK45.B, C, RK45.E[None], RK45.P, RK45.P[:, 3] / 16, 4)


def _dop853() -> Method:
    """Hairer's pair with the tableau that SciPy carries; its dense output written as powers of theta."""
    from scipy.integrate import DOP853 as S

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
    C, E, D = (
        np.append(C, S.C_EXTRA),
        np.stack([S.E5, S.E3]),
        F[-1] * (4 / 7) ** 4 * (3 / 7) ** 3,
    )  # theta^4 (1 - theta)^3, largest
    return Method("dop853", "adaptive", 8, wide, S.B, C, E, P[:, 1:], D, 7)


def _radau() -> Method:
    return Method("radau", "library", 5)


METHODS = {
    "semi_implicit": _semi_implicit,
    "rk4": _rk4,
    "dopri5": _dopri5,
    "dop853": _dop853,
    "midpoint": _midpoint,
    "gauss4": _gauss4,
    "radau": _radau,
}


@cache
def method(name: str) -> Method:
    """The method of that name."""
    if name not in METHODS:
        raise SimulationError(unknown("integrator", name, METHODS))
    return METHODS[name]()
