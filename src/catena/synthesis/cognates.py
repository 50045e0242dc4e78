"""Cognates: the three four-bars that draw the same coupler curve, by Roberts and Chebyshev.

With A0, B0 the pivots and k = p/b the coupler point in units of the coupler A-B (a complex number),
the third pivot is C0 = A0 + k (B0 - A0). A cognate has the pivots A0, C0 and the links

    crank A0-A1 = p (the side A-P of the coupler),   coupler A1-P with the factor k of the crank a,
    rocker C0-C1 with k times the rocker c

and the other one follows by exchanging the roles of A0 and B0. [Roberts1875], [Hunt1978]
"""

from __future__ import annotations

import numpy as np

from .four_bar import FourBar


def cognates(four_bar: FourBar) -> tuple[FourBar, FourBar]:
    """Return the two other four-bars with the same coupler curve.

    Parameters
    ----------
    four_bar : FourBar
        With a coupler point that is neither A nor B.

    Returns
    -------
    tuple of two FourBar
        The left cognate, with pivots A0 and C0, and the right one, with pivots B0 and C0. `sign` is
        the assembly mode at one position; where the coupler turns fully, it changes on the way.

    Examples
    --------
    >>> left, right = cognates(FourBar(0, 4, 1, 3.5, 3, 1 + 1j))
    >>> left.second_pivot == right.second_pivot
    True
    """
    return _left(four_bar), _left(_mirrored(four_bar))


def _mirrored(f: FourBar) -> FourBar:
    """Return the same linkage with crank and rocker exchanged. The coupler's axis then runs from B
    to A, so that its point is p' = b - p in these axes.
    """
    return FourBar(
        f.second_pivot, f.pivot, f.rocker, f.coupler, f.crank, f.coupler - f.point, -f.sign
    )


def _left(f: FourBar) -> FourBar:
    """Return the cognate on the pivots A0 and C0.

    Parallelogram A0-A-P-A1: A1 = A0 + (P - A), and P - A1 = a e^(i theta). The triangle A1-P-C1 is
    similar to A-B-P: C1 - A1 = k (P - A1), and C1 - C0 = k (B - B0).
    """
    k = f.point / f.coupler
    third = f.pivot + k * (f.second_pivot - f.pivot)
    # the new coupler A1-C1 = k a e^(i theta), and its point P - A1 = (C1 - A1)/k
    coupler = abs(k) * f.crank
    return FourBar(f.pivot, third, abs(f.point), coupler, abs(k) * f.rocker, coupler / k, _side(f))


def _side(f: FourBar) -> int:
    """Return on which side of the line A1-C0 the new pin C1 lies, at one position."""
    angles = np.linspace(-3.0, 3.0, 721)
    A = f.pivot + f.crank * np.exp(1j * angles)
    P = f.coupler_points(angles)
    known = np.flatnonzero(np.isfinite(P))
    k = f.point / f.coupler
    i = known[len(known) // 2]
    A1 = f.pivot + P[i] - A[i]
    C1 = A1 + k * (P[i] - A1)
    C0 = f.pivot + k * (f.second_pivot - f.pivot)
    side = ((C1 - A1) * np.conj(C0 - A1)).imag
    return 1 if side > 0 else -1
