"""Weights and covariances of linear design: given as a number, a vector, a matrix, or by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import StateError, UnknownNameError
from ..machine import arguments

Array = np.ndarray
Weight = Any  # a number, a vector (n,), a matrix (n, n), or {name: number}
# relative to the largest eigenvalue: a negative one below this is not rounding
NEGATIVE_EIGENVALUE = 1e-12


def weight_matrix(
    what: str, given: Weight, names: tuple[str, ...], positive: bool = False
) -> Array:
    """Return a symmetric weight (n, n) for the named quantities.

    A number stands for all of them, a vector for the diagonal, and a mapping names its entries, of
    which those left out are zero. positive: whether it must be positive definite, not only
    semidefinite.

    Raises StateError where it is not a weight, UnknownNameError for an unknown name.
    """
    n = len(names)
    if isinstance(given, Mapping):
        diagonal = np.zeros(n)
        for name, x in given.items():
            if name not in names:
                raise UnknownNameError("entry", name, names, what)
            diagonal[names.index(name)] = x
        found = np.diag(diagonal)
    else:
        x = arguments.numbers(what, "the weight", given)
        found = x * np.eye(n) if x.ndim == 0 else np.diag(x) if x.ndim == 1 else x
    if found.shape != (n, n):
        raise StateError(
            f"{what}: it has the shape {np.shape(given)}; it is a number, {n} numbers, a matrix"
            f" ({n}, {n}), or a mapping of these names: {', '.join(names)}"
        )
    if not np.isfinite(found).all() or not np.allclose(found, found.T, rtol=1e-12, atol=0.0):
        raise StateError(f"{what}: it is not a symmetric matrix of finite numbers")
    eigenvalues = np.linalg.eigvalsh(found) if n else np.zeros(0)
    least = -NEGATIVE_EIGENVALUE * np.abs(eigenvalues).max(initial=0.0)
    if (eigenvalues < least).any() or (positive and (eigenvalues <= -least).any()):
        kind = "positive definite" if positive else "positive semidefinite"
        raise StateError(
            f"{what}: its smallest eigenvalue is {eigenvalues.min():.3g}; it must be {kind}"
        )
    return 0.5 * (found + found.T)
