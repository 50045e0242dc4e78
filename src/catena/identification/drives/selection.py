"""Selection of friction laws: forwards, by cross-validation between logs.

Starting from the required terms, each joint in turn adds the candidate that lowers the squared
error on held-out folds most, as long as it lowers it by MIN_IMPROVEMENT and no fold gets worse. A
fold is a log; where there is one log, a quarter of it. The inertial parameters are fitted to all
joints together, in each fold anew.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .joint_columns import Term
from .normal_equations import (
    Gram,
    Part,
    part,
    regular_inverse,
    weights_of,
)

Array = NDArray[np.float64]
MIN_IMPROVEMENT = 0.02  # of the squared error on held-out folds, relative
MAX_TERMS = 8  # that are added to those required, for each joint


def positions(terms: Sequence[Term]) -> list[list[int]]:
    """Return the columns of each term among those of all terms of a joint."""
    ends = np.cumsum([len(t.names) for t in terms])
    return [list(range(int(e) - len(t.names), int(e))) for t, e in zip(terms, ends)]


class Selection:
    """Cross-validation of all drives.

    folds: for each fold, the Gram matrix of each joint with all candidates. terms: the candidates
    of each joint, the required ones first. gains, variances: of the simpler model.
    """

    def __init__(
        self,
        folds: Sequence[Sequence[Gram]],
        terms: Sequence[Sequence[Term]],
        gains: Array,
        variances: Array,
    ):
        self.folds, self.terms, self.gains, self.variances = folds, terms, gains, variances
        n = len(terms)
        self.train = [
            [total([f[j] for m, f in enumerate(folds) if m != k]) for j in range(n)]
            for k in range(len(folds))
        ]
        self.places = [positions(of) for of in terms]

    def columns(self, joint: int, taken: Sequence[int]) -> list[int]:
        """Return the columns of the terms chosen for a joint."""
        return [c for k in taken for c in self.places[joint][k]]

    def choose(self, required: Sequence[int]) -> list[list[int]]:
        """Return the terms chosen for each joint; its first `required` candidates are always among
        them.
        """
        taken = [list(range(k)) for k in required]
        for j in range(len(self.terms)):
            others = [self._others(k, j, taken) for k in range(len(self.folds))]
            errors = self._errors(j, taken[j], others)
            for _ in range(MAX_TERMS):
                rest = [k for k in range(len(self.terms[j])) if k not in taken[j]]
                tried = [(self._errors(j, [*taken[j], k], others), k) for k in rest]
                better = [(x, k) for x, k in tried if (x <= errors).all()]
                best, k = min(better, key=lambda x: x[0].sum(), default=(errors, -1))
                if best.sum() > (1.0 - MIN_IMPROVEMENT) * errors.sum():
                    break
                errors = best
                taken[j].append(k)
        return taken

    def errors(self, taken: Sequence[Sequence[int]]) -> Array:
        """Return the error of each joint on held-out folds with the chosen terms, relative to the
        rms of the effort.
        """
        found = []
        for j in range(len(self.terms)):
            others = [self._others(k, j, taken) for k in range(len(self.folds))]
            found.append(self._errors(j, taken[j], others).sum())
        power = [total([f[j] for f in self.folds]).power for j in range(len(found))]
        return np.sqrt(np.array(found) / np.maximum(power, 1e-300))

    def _others(self, fold: int, joint: int, taken: Sequence[Sequence[int]]) -> tuple[Array, Array]:
        """Return the contributions of all other joints to the equations of theta in a fold."""
        grams = self.train[fold]
        S: Array = np.zeros((grams[0].base, grams[0].base))
        s: Array = np.zeros(grams[0].base)
        for j, gram in enumerate(grams):
            if j != joint:
                own = part(gram, self.columns(j, taken[j]), self.gains[j])
                S, s = S + own.S / self.variances[j], s + own.s / self.variances[j]
        return S, s

    def _errors(
        self, joint: int, taken: Sequence[int], others: Sequence[tuple[Array, Array]]
    ) -> Array:
        """Return the sum of squared errors of a joint on each fold, held out."""
        found = []
        chosen = self.columns(joint, taken)
        for k, (S, s) in enumerate(others):
            own: Part = part(self.train[k][joint], chosen, self.gains[joint])
            variance = self.variances[joint]
            theta = regular_inverse(S + own.S / variance) @ (s + own.s / variance)
            held = self.folds[k][joint]
            w = weights_of(held, chosen, self.gains[joint], theta, own.coefficients(theta))
            found.append(held.squared_error(w))
        return np.array(found)


def total(grams: Sequence[Gram]) -> Gram:
    """Return the sum of Gram matrices."""
    found = grams[0]
    for gram in grams[1:]:
        found = found + gram
    return found
