"""The quadratic programme of whole-body control, solved by an active-set method that starts from
the active set of the last call.

    minimise 1/2 a' H a - g' a + s/2 |f|^2,    E_a a + E_f f = e,    rows x <= high (or >= low)

In each round the equations and the rows that are active are solved; a contact point whose normal
force is negative is lifted (its three forces are zero), a row that is violated becomes active, and
one that pulls is released. A lifted point is put down where its gradient leaves the dual of its
friction pyramid. The first round starts with what was active in the last call, so that usually one
round suffices.

    a = H^-1 (g + E_a' mu),   f = E_f' mu / s,   (E_a H^-1 E_a' + E_f E_f' / s) mu = rest
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

Array = np.ndarray
MAX_ROUNDS = 12  # then a solver of quadratic programmes takes over
# relative to the largest entry of a row's terms: a violation below this is rounding
ROW_VIOLATION = 1e-9


@dataclass
class ActiveContacts:
    """The active set. cones: 4 rows for each point, first of all rows. friction (points,): mu /
    sqrt(2). lifted (points,), sides (rows,): 0 inactive, 1 at the upper bound, -1 at the lower.
    """

    friction: Array
    small: float
    rounds: int = 0
    lifted: Array = field(default_factory=lambda: np.zeros(0, bool))
    sides: Array = field(default_factory=lambda: np.zeros(0))

    def solve(self, parts: dict[str, Array], nv: int) -> Array | None:
        """Return x = (a, f), or None if the largest number of rounds did not suffice."""
        points, rows = len(self.friction), len(parts["G"])
        if len(self.sides) != rows:
            self.lifted, self.sides = np.zeros(points, bool), np.zeros(rows)
        factor, fault = dpotrf(parts["H0"])
        if fault:
            return None
        A = parts["A"]
        Y, _ = dpotrs(factor, np.column_stack([A[:, :nv].T, parts["g0"]]))
        for k in range(MAX_ROUNDS):
            self.rounds = k + 1
            found = self._round(parts, nv, factor, Y)
            if found is None:
                break
            x, changed = found
            if not changed:
                return x
        self.lifted, self.sides = np.zeros(points, bool), np.zeros(rows)
        return None

    def _round(
        self, parts: dict[str, Array], nv: int, factor: Array, Y: Array
    ) -> tuple[Array, bool] | None:
        """Solve for the active set; return x and whether the set has changed."""
        A, b, G = parts["A"], parts["b"], parts["G"]
        active = np.flatnonzero(self.sides)
        own = Y[:, :-1]
        if len(active):
            A = np.vstack([A, G[active]])
            bounds = np.where(
                self.sides[active, None] > 0, parts["high"][active], parts["low"][active]
            )
            b = np.vstack([b, bounds])
            more, _ = dpotrs(factor, np.ascontiguousarray(G[active, :nv].T))
            own = np.hstack([own, more])
        keep = np.ones(A.shape[1] - nv)
        keep[: 3 * len(self.lifted)] = np.repeat(~self.lifted, 3)
        E_a, E_f = A[:, :nv], A[:, nv:] * keep
        if not len(A):
            return Y[:, -1], self._change(parts, Y[:, -1:], np.zeros(0), np.zeros(0), active)
        S, fault = dpotrf(E_a @ own + E_f @ (E_f.T / self.small))
        if fault:  # rows that depend on each other
            return None
        a, f = Y[:, -1:], np.zeros((E_f.shape[1], 1))
        mu = np.zeros((len(A), 1))
        for _ in range(2):  # the second time, what rounding has left
            step, _ = dpotrs(S, b - E_a @ a - E_f @ f)
            mu += step
            a, f = a + own @ step, f + E_f.T @ step / self.small
        x = np.concatenate([a, f])
        gradient = -(A[:, nv:].T @ mu)[:, 0]
        return x[:, 0], self._change(parts, x, mu[len(parts["A"]) :, 0], gradient, active)

    def _change(
        self, parts: dict[str, Array], x: Array, pull: Array, gradient: Array, active: Array
    ) -> bool:
        """Change the active set where it is wrong; return whether it was."""
        y, high, low = (parts["G"] @ x)[:, 0], parts["high"][:, 0], parts["low"][:, 0]
        slack = ROW_VIOLATION * (1.0 + np.abs(y))
        sides = np.where(y > high + slack, 1.0, np.where(y < low - slack, -1.0, 0.0))
        # an active row stays where its multiplier has the right sign
        sides[active] = np.where(pull * self.sides[active] <= 0.0, self.sides[active], 0.0)
        points = len(self.friction)
        f = x[len(x) - len(gradient) :, 0][: 3 * points].reshape(points, 3)
        own = gradient[: 3 * points].reshape(points, 3)
        pressed = own[:, 2] >= self.friction * np.abs(own[:, :2]).sum(axis=1)
        lifted = np.where(
            self.lifted, pressed, f[:, 2] < -ROW_VIOLATION * (1.0 + np.abs(f).max(initial=0.0))
        )
        sides[: 4 * points][np.repeat(lifted | self.lifted, 4)] = 0.0
        changed = bool((sides != self.sides).any() or (lifted != self.lifted).any())
        self.sides, self.lifted = sides, lifted
        return changed
