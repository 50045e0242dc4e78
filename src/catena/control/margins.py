"""margins: the gain, phase and delay margins of each loop of a linear controller.

The loop of one input is opened at the plant, the others stay closed:

    L(s) = command of input i per force at input i,      S = 1 / (1 + L),      T = L S

The symmetric disk margin [Seiler2020] is alpha = 1 / max |S - T| / 2: gain and phase may change
together within a disk, alone by (1 + alpha/2) / (1 - alpha/2) and by 2 atan(alpha / 2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..analysis import StateSpace
from ..errors import QuestionError
from .feedback import StateFeedback
from .kalman import LQG

Array = np.ndarray
# decades of the grid of frequencies beyond the slowest and fastest pole, and its points per decade
DECADES_BEYOND, POINTS_PER_DECADE = 2.0, 400


@dataclass(frozen=True)
class LoopMargins:
    """The margins of the loop of one input.

    Attributes
    ----------
    input : str
        The name of the input.
    gain : tuple of two floats
        The factors, below and above 1, by which its gain may change alone.
    phase : float
        The phase that may be lost alone, rad.
    delay : float
        The delay that may be added alone, s.
    disk : float
        The symmetric disk margin alpha, from 0 to 2.
    frequency : ndarray (n,)
        rad/s.
    response : ndarray (n,)
        L at these frequencies.
    """

    input: str
    gain: tuple[float, float]
    phase: float
    delay: float
    disk: float
    frequency: Array
    response: Array

    @property
    def disk_gain(self) -> tuple[float, float]:
        """The factors of gain that the disk margin allows together with its phase."""
        a = 0.5 * self.disk
        high = (1 + a) / (1 - a) if a < 1 else np.inf
        return 1.0 / high if np.isfinite(high) else 0.0, high

    @property
    def disk_phase(self) -> float:
        """The phase that the disk margin allows together with its gain, rad."""
        return 2.0 * float(np.arctan(0.5 * self.disk))


def margins(system: StateSpace, controller: StateFeedback | LQG) -> tuple[LoopMargins, ...]:
    """Return the margins of the loop of each input of a linear controller.

    Parameters
    ----------
    system : StateSpace
        The linearised mechanism for which the controller was designed.
    controller : StateFeedback or LQG
        From `lqr`, `place` or `lqg`, continuous.

    Returns
    -------
    tuple of LoopMargins
        One for each input; the other loops stay closed.

    Raises
    ------
    QuestionError
        If the controller is sampled, or the closed loop is unstable.

    Examples
    --------
    >>> import catena
    >>> system = catena.linearize(catena.load("cart_pole"), [0.0, 0.0], actuated=["x"])
    >>> (found,) = catena.control.margins(system, catena.control.lqr(system, 1.0, 0.1))
    >>> bool(found.phase > 1.047), bool(found.gain[0] < 0.5)  # what every such LQR has
    (True, True)
    """
    system.require_one("margins")
    regulator = controller.regulator if isinstance(controller, LQG) else controller
    if regulator.sample is not None:
        raise QuestionError(
            "margins: the controller is sampled; design it without `sample` for its margins, or"
            " take the delay of half a sample from its delay margin"
        )
    return tuple(_loop(system, controller, k) for k in range(len(system.inputs)))


def _loop(system: StateSpace, controller: StateFeedback | LQG, k: int) -> LoopMargins:
    """Return the margins of the loop of input k."""
    A, b, c = _opened(system, controller, k)
    closed = np.linalg.eigvals(A - b @ c)
    if (closed.real > 1e-9 * np.abs(closed).max()).any():
        raise QuestionError(
            f"margins: the closed loop is unstable, its poles are {closed.round(4).tolist()} 1/s"
        )
    rates = np.abs(np.concatenate([np.linalg.eigvals(A), closed]))
    rates = rates[rates > 1e-9 * rates.max()]
    low, high = (np.log10(x) for x in (rates.min(), rates.max()))
    low, high = low - DECADES_BEYOND, high + DECADES_BEYOND
    w = np.logspace(low, high, int(POINTS_PER_DECADE * (high - low)))
    L = _response(A, b, c, w)
    gain, phase, delay = _classical(A, b, c, w, L)
    worst = _refined(lambda x: -_peak(_response(A, b, c, np.array([x]))[0]), w, -_peak(L))
    disk = 1.0 / _peak(_response(A, b, c, np.array([worst]))[0])
    return LoopMargins(system.inputs[k], gain, phase, delay, float(disk), w, L)


def _peak(L: Any) -> Any:
    """Return the size of the difference of sensitivity and complementary sensitivity, |S - T| / 2 =
    |(1 - L) / (1 + L)| / 2, from the loop gain L.
    """
    return 0.5 * np.abs((1.0 - L) / (1.0 + L))


def _opened(
    system: StateSpace, controller: StateFeedback | LQG, k: int
) -> tuple[Array, Array, Array]:
    """Return the matrices of the loop that is opened at input k: L = c (s - A)^-1 b."""
    others = [j for j in range(len(system.inputs)) if j != k]
    A, B = system.A, system.B
    if isinstance(controller, StateFeedback):
        K = controller.K
        return A - B[:, others] @ K[others], B[:, [k]], K[[k]]
    K, L, C, D = controller.regulator.K, controller.estimator.L, system.C, system.D
    n = len(A)
    off = D[:, others] @ K[others]
    estimate = A - B @ K - L @ (C - D @ K)
    whole = np.block([[A, -B[:, others] @ K[others]], [L @ C, estimate - L @ off]])
    return whole, np.vstack([B[:, [k]], L @ D[:, [k]]]), np.hstack([np.zeros((1, n)), K[[k]]])


def _response(A: Array, b: Array, c: Array, w: Array) -> Array:
    """Return the frequency response L(i w) of a loop at frequencies w (n,), rad/s."""
    shifted = 1j * w[:, None, None] * np.eye(len(A)) - A
    return (c @ np.linalg.solve(shifted, np.broadcast_to(b, (len(w), *b.shape)).astype(complex)))[
        :, 0, 0
    ]


def _classical(
    A: Array, b: Array, c: Array, w: Array, L: Array
) -> tuple[tuple[float, float], float, float]:
    """Return the gain margins, the phase margin (rad) and the delay margin (s)."""
    real = lambda x: _response(A, b, c, np.array([x]))[0]  # noqa: E731
    low, high, phase, delay = 0.0, np.inf, np.pi, np.inf
    for k in np.flatnonzero((L.imag[:-1] * L.imag[1:] <= 0) & (L.real[:-1] < 0)):
        crossing = _root(lambda x: real(x).imag, w[k], w[k + 1])
        factor = -1.0 / real(crossing).real
        low, high = (max(low, factor), high) if factor < 1 else (low, min(high, factor))
    size = np.abs(L) - 1.0
    for k in np.flatnonzero(size[:-1] * size[1:] <= 0):
        crossing = _root(lambda x: abs(real(x)) - 1.0, w[k], w[k + 1])
        angle = np.angle(-real(crossing))
        phase = min(phase, abs(angle))
        delay = min(delay, (angle % (2 * np.pi)) / crossing)
    return (float(low), float(high)), float(phase), float(delay)


def _root(f: Any, a: float, b: float) -> float:
    from scipy.optimize import brentq

    return a if f(a) == 0.0 else float(brentq(f, a, b, xtol=1e-14 * b))


def _refined(f: Any, w: Array, values: Array) -> float:
    """Return the frequency at which f is least, near the one where its values at w are least."""
    from scipy.optimize import minimize_scalar

    k = int(np.argmin(values))
    ends = w[max(k - 1, 0)], w[min(k + 1, len(w) - 1)]
    found = minimize_scalar(f, bounds=ends, method="bounded", options={"xatol": 1e-10 * ends[1]})
    return float(found.x) if found.fun < values[k] else float(w[k])
