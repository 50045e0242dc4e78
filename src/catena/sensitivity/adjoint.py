"""The adjoint of explicit steps: the exact transposed derivative of the numbers that a Runge-Kutta
method computes.

The forward pass records the stages; where they would take more than MAX_STAGE_BYTES it keeps states
only, and each part of the run is computed once more on the way back (checkpoints). The loops are in
`simulation/integrators/adjoint_steps.py`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..errors import StudyError
from ..simulation.integrators import Method, backward, record
from .linearised import Linearised

Array = NDArray[np.float64]
MAX_STAGE_BYTES = 2**28  # memory for recorded stages


class Steps:
    """Steps taken from one state with the same forces and modes, ready to be pulled back.

    T, H (steps,): the begin of each step and its size, s. x (size,): the state before the first
    step; `after`: the state behind the last. held: the forces and modes (nu,) during the steps. p:
    the parameters.
    """

    def __init__(
        self, tapes: Linearised, method: Method, x: Array, held: Array, p: Array, T: Array, H: Array
    ):
        self.tapes, self.method, self.held, self.p, self.T, self.H = (
            tapes,
            method,
            held,
            p,
            np.ascontiguousarray(T),
            np.ascontiguousarray(H),
        )
        each = 8 * max(1, method.stages) * tapes.size
        self.part = max(1, min(len(T), MAX_STAGE_BYTES // each))
        self.x = np.array(x)
        self.checkpoints: list[Array] = []
        self._last: tuple[Array, Array] | None = None
        for first in range(0, len(T), self.part):
            self.checkpoints.append(self.x.copy())
            self._last = self._record(self.x, first)
        self.after = self.x
        if not np.isfinite(self.after).all():
            raise StudyError(
                f"the run from t = {T[0]:.6g} s on has values that are not finite, so that it has"
                " no derivative; take a shorter step"
            )

    def states(self) -> Iterator[tuple[int, Array, Array]]:
        """Yield for each part of the run its first step, the states (steps, size) before its
        steps, and the state (size,) behind its last step.
        """
        for k, checkpoint in enumerate(self.checkpoints):
            last = k == len(self.checkpoints) - 1
            X = (
                self._last[0]
                if last and self._last is not None
                else self._record(checkpoint.copy(), k * self.part)[0]
            )
            yield k * self.part, X, self.after if last else self.checkpoints[k + 1]

    def _record(self, x: Array, first: int) -> tuple[Array, Array]:
        """Return states and stages of the part that begins with step `first`; x is advanced to its
        end.
        """
        tapes, m = self.tapes, self.method
        T = self.T[first : first + self.part].copy()
        H = self.H[first : first + self.part].copy()
        X = np.empty((len(T), tapes.size))
        K = np.empty((len(T), m.stages, tapes.size))
        buffer = np.concatenate([[0.0], x, self.held, self.p])
        record(
            tapes.address("flow", 1),
            tapes.address("settle", 1),
            m.A,
            m.B[None],
            m.C,
            x,
            buffer,
            K,
            X,
            T,
            H,
        )
        return X, K

    def pull(self, lam: Array, gradient: Array) -> None:
        """Pull lam (size, W), the adjoint behind the last step, back to before the first, in
        place.

        The derivatives with respect to parameters and forces are added to gradient (parameters and
        forces, W).
        """
        tapes = self.tapes
        m = self.method
        W = lam.shape[1]
        same = np.concatenate([np.zeros(1 + tapes.size), self.held, self.p, np.zeros(tapes.size)])
        buffer = np.ascontiguousarray(np.repeat(same[:, None], W, axis=1)).reshape(-1)
        flat = lam.reshape(-1)
        gathered = gradient.reshape(-1)
        Y = np.zeros((m.stages, lam.size))
        y = np.zeros(lam.size + gradient.size)
        seed = np.zeros(lam.size)
        addresses = tapes.address("pullback flow", W), tapes.address("pullback settle", W)
        for k in range(len(self.checkpoints) - 1, -1, -1):
            first = k * self.part
            X, K = (
                self._last
                if self._last is not None
                else self._record(self.checkpoints[k].copy(), first)
            )
            self._last = None
            T = self.T[first : first + self.part].copy()
            H = self.H[first : first + self.part].copy()
            backward(
                *addresses,
                m.A,
                m.B[None],
                m.C,
                buffer,
                K,
                X,
                T,
                H,
                np.zeros(tapes.size),
                flat,
                seed,
                Y,
                y,
                gathered,
                W,
            )
