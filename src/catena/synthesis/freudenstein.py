"""Function generation by Freudenstein's equation, exact at three, four or five points.

    K1 cos(psi) - K2 cos(phi) + K3 = cos(phi - psi)
    K1 = d/a,   K2 = d/c,   K3 = (a^2 - b^2 + c^2 + d^2)/(2 a c)

phi and psi are the angles of crank and rocker from the line of the pivots, a, b, c, d the lengths
of crank, coupler, rocker and ground ([Freudenstein1955]). With phi = phi_i + phi_0 and psi = psi_i
+ psi_0 the equation is linear and homogeneous in z1 = K1 e^(i psi_0), z2 = K2 e^(i phi_0), K3 and
e = e^(i delta), delta = phi_0 - psi_0:

    points   free                equations, null space   condition on the null space
    3        K1, K2, K3          linear                  none
    4        and psi_0           4 of 6, a pencil        Im(z1 e) = 0, a quadratic
    5        and psi_0, phi_0    5 of 7, a pencil        Im(z2 conj(z1) conj(e)) = 0, a cubic
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import QuestionError
from .four_bar import FourBar

Array = NDArray[np.float64]
# the imaginary part of a root, relative to its size, below which it is real
REAL_ROOT = 1e-8


def function_generators(
    inputs: ArrayLike, outputs: ArrayLike, ground: float = 1.0
) -> list[tuple[FourBar, float, float]]:
    """Return all four-bars whose rocker takes given angles at given angles of the crank.

    Parameters
    ----------
    inputs, outputs : array (n,)
        Angles of the crank and of the rocker, rad, n = 3, 4 or 5. For four points the outputs, for
        five points also the inputs are counted from a reference angle that is found.
    ground : float, default 1.0
        The distance of the two pivots, m.

    Returns
    -------
    list of (FourBar, float, float)
        Each linkage with the reference angles phi_0 and psi_0, rad. Its pivots are 0 and `ground`.

    Raises
    ------
    QuestionError
        Where the number of points is not 3, 4 or 5, or the equations are singular.

    Examples
    --------
    >>> found = function_generators([0.5, 1.0, 1.6], [1.2, 1.5, 2.0])
    >>> four_bar, _, _ = found[0]
    >>> [round(x, 6) for x in four_bar.lengths]
    [1.0, 0.037586, 1.017263, 0.044112]
    """
    phi, psi = np.asarray(inputs, float), np.asarray(outputs, float)
    if phi.shape != psi.shape or phi.ndim != 1 or len(phi) not in _BY_COUNT:
        raise QuestionError(
            f"function generation: inputs have shape {phi.shape}, outputs {psi.shape}; give three,"
            " four or five angles of each"
        )
    found = []
    for K1, K2, K3, phi_0, psi_0 in _BY_COUNT[len(phi)](phi, psi):
        one = _linkage(K1, K2, K3, phi_0, psi_0, ground)
        if one is not None:
            found.append(one)
    return found


def rows(phi: Array, psi: Array) -> Array:
    """Return the coefficients (n, 7) of the unknowns Re z1, Im z1, Re z2, Im z2, K3, Re e, Im e in
    Freudenstein's equations, one row for each position.
    """
    d = phi - psi
    return np.stack(
        [
            np.cos(psi),
            -np.sin(psi),
            -np.cos(phi),
            np.sin(phi),
            np.ones_like(phi),
            -np.cos(d),
            np.sin(d),
        ],
        axis=1,
    )


def _three(phi: Array, psi: Array) -> list[tuple[float, ...]]:
    A = rows(phi, psi)
    try:
        K = np.linalg.solve(A[:, [0, 2, 4]], -A[:, 5])
    except np.linalg.LinAlgError:
        raise QuestionError(
            "function generation: Freudenstein's three equations are singular; the angles repeat,"
            " or crank and rocker turn alike. Change one of them"
        ) from None
    return [(*K, 0.0, 0.0)]


def _four(phi: Array, psi: Array) -> list[tuple[float, ...]]:
    A = rows(phi, psi)[:, [0, 1, 2, 4, 5, 6]]
    u, w = _pencil(A)

    def condition(x: Array) -> float:
        return float((complex(x[0], x[1]) * complex(x[4], x[5])).imag)

    found: list[tuple[float, ...]] = []
    for x in _on_pencil(u, w, condition, 2):
        e = complex(x[4], x[5])
        x, e = x / abs(e), e / abs(e)
        # delta = -psi_0: e = exp(-i psi_0), and K1 has the sign that z1 asks for
        psi_0 = -float(np.angle(e))
        found.append(((complex(x[0], x[1]) * e).real, x[2], x[3], 0.0, psi_0))
    return found


def _five(phi: Array, psi: Array) -> list[tuple[float, ...]]:
    u, w = _pencil(rows(phi, psi))

    def parts(x: Array) -> tuple[complex, complex, complex]:
        return complex(x[0], x[1]), complex(x[2], x[3]), complex(x[5], x[6])

    def condition(x: Array) -> float:
        z1, z2, e = parts(x)
        return float((z2 * z1.conjugate() * e.conjugate()).imag)

    found: list[tuple[float, ...]] = []
    for x in _on_pencil(u, w, condition, 3):
        x = x / abs(parts(x)[2])
        z1, z2, e = parts(x)
        psi_0 = float(np.angle(z1))
        phi_0 = psi_0 + float(np.angle(e))
        K2 = (z2 * np.exp(-1j * phi_0)).real
        found.append((abs(z1), float(K2), float(x[4]), phi_0, psi_0))
    return found


_BY_COUNT: dict[int, Callable[[Array, Array], list[tuple[float, ...]]]] = {
    3: _three,
    4: _four,
    5: _five,
}


def _pencil(A: Array) -> tuple[Array, Array]:
    """Return two vectors that span the null space of A."""
    _, s, Vt = np.linalg.svd(A)
    if s[-1] < 1e-12 * s[0]:
        raise QuestionError(
            "function generation: the equations are dependent; two of the points are the same, or"
            " crank and rocker turn alike. Change one of them"
        )
    return Vt[-1], Vt[-2]


def _on_pencil(u: Array, w: Array, condition: Callable[[Array], float], degree: int) -> list[Array]:
    """Return the vectors u cos(t) + w sin(t) at which a form of that degree vanishes."""
    at = np.arange(degree + 1) * np.pi / (degree + 1) + 0.1
    values = [condition(np.cos(t) * u + np.sin(t) * w) for t in at]
    powers = np.stack(
        [np.cos(at) ** (degree - k) * np.sin(at) ** k for k in range(degree + 1)], axis=1
    )
    form = np.linalg.solve(powers, values)  # sum of form[k] cos^(degree-k) sin^k
    roots = np.roots(form[::-1])  # of the tangent
    found = [
        np.cos(np.arctan(r.real)) * u + np.sin(np.arctan(r.real)) * w
        for r in roots
        if abs(r.imag) < REAL_ROOT * (1 + abs(r))
    ]
    if len(roots) < degree:  # the tangent is infinite
        found.append(w)
    return found


def _linkage(
    K1: float, K2: float, K3: float, phi_0: float, psi_0: float, ground: float
) -> tuple[FourBar, float, float] | None:
    """Return the linkage of three coefficients; None if its lengths are not real. A negative length
    is a link that points in the opposite direction.
    """
    if not (K1 and K2) or not np.isfinite([K1, K2, K3]).all():
        return None
    a, c = ground / K1, ground / K2
    bb = a * a + c * c + ground * ground - 2 * a * c * K3
    if not bb > 0:
        return None
    phi_0, psi_0 = (x + np.pi * (r < 0) for x, r in ((phi_0, a), (psi_0, c)))
    four_bar = FourBar(0j, complex(ground), float(abs(a)), float(np.sqrt(bb)), float(abs(c)))
    return four_bar, _wrapped(phi_0), _wrapped(psi_0)


def _wrapped(x: Any) -> float:
    return float(np.mod(x + np.pi, 2 * np.pi) - np.pi)
