"""Motions of little or no inertia in the problem of contact.

    a = G f + b         needs G = J M^-1 J', which grows without bound as an inertia goes to zero

With N (nv, n) the motions of little inertia, and G and b those of the others alone,

    a = G f + E y + b,      E' f - D y + g = 0,      E = J N,   D = N' M N

y (n,) are the accelerations (or changes of speed) along N, g (n,) the forces along them without
contacts. For D > 0 this is the same problem as with M^-1; it is as well conditioned for D = 0,
where the forces are in equilibrium along N and contacts alone determine y. N has the size with
which the inertia of the whole mechanism would be one, so that y and D have no units.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
# inertia relative to that of the whole mechanism: a smaller one is rounding, and counts as none
NO_INERTIA_RATIO = 1e-12
# Rounding error of a sum of some dozens of terms, relative to the sum of their absolute values.
SUM_ROUNDING = 64.0 * float(np.finfo(float).eps)


class ContactRows(NamedTuple):
    """The rows of k contacts: G (3 k, 3 k) and b (3 k,) by the motions with inertia; E (3 k, n), D
    (n, n), g (n,) by the n motions with little or no inertia.
    """

    G: Array
    b: Array
    E: Array
    D: Array
    g: Array

    @staticmethod
    def plain(G: Array, b: Array) -> ContactRows:
        """Return the rows of a problem in which every motion has inertia."""
        return ContactRows(G, b, np.zeros((len(b), 0)), np.zeros((0, 0)), np.zeros(0))

    def at(self, b: Array) -> ContactRows:
        """Return the same matrices for a problem of impulses: b (3 k,) are speeds, and no forces
        act along the light motions.
        """
        return self._replace(b=b, g=np.zeros(len(self.D)))

    def of(self, rows: NDArray[np.int_]) -> ContactRows:
        """Return the same problem with these rows only."""
        return self._replace(G=self.G[np.ix_(rows, rows)], b=self.b[rows], E=self.E[rows])

    def under(self, f: Array) -> ContactRows:
        """Return the rows while the forces f (3 k,) act as well."""
        return self._replace(b=self.b + self.G @ f, g=self.g + self.E.T @ f)

    def rate(self, f: Array, y: Array) -> Array:
        """Return the accelerations (3 k,) under the forces f, with y along the light motions."""
        return self.b + self.G @ f + self.E @ y

    def rounding(self, f: Array, y: Array) -> Array:
        """Return (3 k,): the rounding error of `rate`, whose terms may be large and cancel."""
        total = np.abs(self.G) @ np.abs(f) + np.abs(self.E) @ np.abs(y) + np.abs(self.b)
        return SUM_ROUNDING * total

    @property
    def mobility(self) -> Array:
        """(3 k,): the diagonal of J M^-1 J' for k contacts, where light motions count with the
        inertia of the whole mechanism.
        """
        return np.diagonal(self.G) + (self.E**2).sum(axis=1)

    def light_sizes(self, rows: list[int], size: Array) -> Array:
        """Return the scale of each light motion, (n,): the larger of the root of its inertia and
        its largest entry in these rows, relative to their sizes. So the digits of a motion that
        only its inertia determines are not lost. size (3 k,): the sizes of the rows.
        """
        opposed = np.abs(self.E[rows] / size[rows, None]).max(axis=0, initial=0.0)
        found = np.maximum(opposed, np.sqrt(np.diagonal(self.D)))
        return np.where(found > 0.1 * np.sqrt(NO_INERTIA_RATIO), found, 1.0)

    def matrix(self, rows: list[int], F: Array) -> Array:
        """Return the matrix of the equations a = 0 in these rows and of the light motions, for
        forces F x and for y.
        """
        E = self.E[rows]
        return np.block([[self.G[rows] @ F, E], [self.E.T @ F, -self.D]])


class Response(NamedTuple):
    """How speeds follow impulses, or accelerations follow forces, along nv speeds, while rows other
    than those of contacts hold.

    W (nv, nv): the response by which sizes are judged, in which light motions have the inertia of
    the whole mechanism. heavy (nv, nv): the response of the other motions alone. N (nv, n), D (n,
    n): the light motions and their inertia; n = 0 where there are none, and W is exact then.
    """

    W: Array
    heavy: Array
    N: Array
    D: Array

    def rows(self, J: Array, b: Array, extra: Array | None = None) -> ContactRows:
        """Return the rows of contacts with the Jacobian J (3 k, nv). extra (nv,): forces along the
        speeds that are not included in b.
        """
        rows = ContactRows(J @ self.heavy @ J.T, b, J @ self.N, self.D, np.zeros(len(self.D)))
        if extra is None:
            return rows
        return rows._replace(b=b + J @ (self.heavy @ extra), g=self.N.T @ extra)

    @property
    def massless(self) -> Array:
        """(nv, r): the motions without any inertia."""
        w, V = np.linalg.eigh(self.D)
        return np.asarray(self.N @ V[:, w <= 0.5 * NO_INERTIA_RATIO])

    def change(self, P: Array, y: Array) -> Array:
        """Return the change (nv,) under the forces P (nv,), with y (n,) along the light motions."""
        return np.asarray(self.heavy @ P + self.N @ y)


def response_of(M: Array, T: Array, column: Array, inertia: float, ratio: float) -> Response:
    """Return the response of a mass matrix M (nv, nv), which may be singular, along the motions T
    (nv, r).

    column (nv,): C of `kernels.rank`. inertia: of the whole mechanism, kg m^2; motions with less
    than `ratio` of it are light.
    """
    unit = T / np.sqrt(column)[:, None]
    basis = T @ np.linalg.inv(np.linalg.cholesky(unit.T @ unit)).T / np.sqrt(inertia)
    values, vectors = np.linalg.eigh(basis.T @ M @ basis)
    motions = basis @ vectors
    light = values < ratio
    if not light.any():
        W = T @ np.linalg.solve(T.T @ M @ T, T.T)
        return Response(W, W, np.zeros((len(T), 0)), np.zeros((0, 0)))
    own, rest = motions[:, light], motions[:, ~light]
    heavy = rest @ np.linalg.solve(rest.T @ M @ rest, rest.T)
    N = _few_speeds(own, np.sqrt(column / inertia))
    N = N - heavy @ (M @ N)  # no kinetic energy is shared with the other motions
    D = N.T @ M @ N
    w, V = np.linalg.eigh(D)
    if w[0] <= NO_INERTIA_RATIO:
        D = (V * np.where(w > NO_INERTIA_RATIO, w, 0.0)) @ V.T
    return Response(heavy + own @ own.T, heavy, N, D)


def _few_speeds(N: Array, scale: Array) -> Array:
    """Return a basis of the columns of N (nv, n) in which each has one of n speeds to itself, so
    that motions of separate bodies are not mixed. scale (nv,): of the speeds.
    """
    from scipy.linalg import qr  # loaded late: few runs need it

    _, _, chosen = qr((N / scale[:, None]).T, pivoting=True)
    pivots = chosen[: N.shape[1]]
    return np.asarray(N @ np.linalg.inv(N[pivots] / scale[pivots, None]))
