"""Riccati equations and sampling, by SciPy, with a step of Newton's method on the result.

continuous    0 = A' P + P A - (P B + N) R^-1 (B' P + N') + Q
discrete      P = A' P A - (A' P B + N) (R + B' P B)^-1 (B' P A + N') + Q
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from ..errors import QuestionError

Array = np.ndarray


def continuous_riccati(
    question: str, A: Array, B: Array, Q: Array, R: Array, N: Array
) -> tuple[Array, Array]:
    """Return the gain K (m, n) and P (n, n) of the continuous equation. [Kleinman1968] has the step
    of Newton's method.
    """
    try:
        P = linalg.solve_continuous_are(A, B, Q, R, s=N)
    except (np.linalg.LinAlgError, ValueError) as why:
        raise _without_solution(question, why) from None
    K = np.linalg.solve(R, B.T @ P + N.T)
    F = A - B @ K
    right = Q + K.T @ R @ K - N @ K - K.T @ N.T
    P = linalg.solve_continuous_lyapunov(F.T, -right)
    P = 0.5 * (P + P.T)
    return np.linalg.solve(R, B.T @ P + N.T), P


def discrete_riccati(
    question: str, A: Array, B: Array, Q: Array, R: Array, N: Array
) -> tuple[Array, Array]:
    """Return the gain K (m, n) and P (n, n) of the discrete equation."""
    try:
        P = linalg.solve_discrete_are(A, B, Q, R, s=N)
    except (np.linalg.LinAlgError, ValueError) as why:
        raise _without_solution(question, why) from None
    K = np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A + N.T)
    F = A - B @ K
    right = Q + K.T @ R @ K - N @ K - K.T @ N.T
    P = linalg.solve_discrete_lyapunov(F.T, right)
    P = 0.5 * (P + P.T)
    return np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A + N.T), P


def hold_inputs(A: Array, B: Array, sample: float) -> tuple[Array, Array]:
    """Return the matrices of x(t + T) = Ad x + Bd u with u held over the sample time T (s)."""
    n, m = B.shape[-2:]
    both = np.zeros((*A.shape[:-2], n + m, n + m))
    both[..., :n, :n], both[..., :n, n:] = A, B
    found = linalg.expm(sample * both)
    return found[..., :n, :n], found[..., :n, n:]


def hold_cost(
    A: Array, B: Array, Q: Array, R: Array, N: Array, sample: float
) -> tuple[Array, Array, Array]:
    """Return Q, R and N of one sample: the integral of x' Q x + 2 x' N u + u' R u over the sample
    time T, with u held. [VanLoan1978]
    """
    n, m = B.shape
    F = np.zeros((n + m, n + m))
    F[:n, :n], F[:n, n:] = A, B
    return _split(_integral(F, np.block([[Q, N], [N.T, R]]), sample), n)


def noise_of_sample(A: Array, W: Array, sample: float) -> Array:
    """Return the covariance (n, n) that white noise of density W leaves after the sample time T:
    the integral of e^(A s) W e^(A' s). [VanLoan1978]
    """
    return _integral(A.T, W, sample)


def _integral(F: Array, W: Array, sample: float) -> Array:
    """Return the integral of e^(F' s) W e^(F s) over s from 0 to the sample time T."""
    n = len(F)
    both = np.zeros((2 * n, 2 * n))
    both[:n, :n], both[:n, n:], both[n:, n:] = -F.T, W, F
    found = linalg.expm(sample * both)
    cost = found[n:, n:].T @ found[:n, n:]
    return 0.5 * (cost + cost.T)


def _split(whole: Array, n: int) -> tuple[Array, Array, Array]:
    return whole[:n, :n], whole[n:, n:], whole[:n, n:]


def _without_solution(question: str, why: Exception) -> QuestionError:
    return QuestionError(
        f"{question}: the Riccati equation has no stabilising solution ({why}); an unstable motion"
        " cannot be reached or seen, or weights leave one on the imaginary axis. See unreachable()"
        " and unobservable() of the StateSpace"
    )
