"""Physically consistent inertias: ten parameters that a body of positive density can have, nearest
to the data.

    minimise |W theta - y|^2 + small |theta - theta_0|^2  with, for each body,  P = [ S  h ; h'  m ]
            positive definite

P (4, 4) is the pseudo-inertia, S = 1/2 tr(I) 1 - I the second moment of the mass ([Wensing2018]).
The problem is convex; Clarabel solves it. Among inertias that fit equally well, the second term
chooses those nearest to the mechanism's own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..compiler import INERTIAL, inertial_bodies
from ..errors import StudyError

if TYPE_CHECKING:
    from ..machine import Machine
    from .unknowns import Columns

Array = NDArray[np.float64]
# weight of the distance to the mechanism's own inertias relative to the data, with parameters and
# columns of size one
PRIOR_WEIGHT = 1e-8
MIN_EIGENVALUE = 1e-6  # smallest eigenvalue of P, relative to the diagonal of the mechanism's own P


@dataclass(frozen=True)
class Inertias:
    """Consistent inertias theta (bodies, 10) of named bodies.

    cost: the weighted sum of squared residuals; free_cost: the same without the condition.
    """

    bodies: tuple[str, ...]
    theta: Array
    cost: float
    free_cost: float

    def of(self, body: str) -> tuple[float, tuple[float, float, float], tuple[float, ...]]:
        """Return mass, centre of mass, and the inertia about it (xx, xy, xz, yy, yz, zz) of a
        body.
        """
        m, hx, hy, hz, xx, xy, yy, xz, yz, zz = (
            float(x) for x in self.theta[self.bodies.index(body)]
        )
        c = np.array([hx, hy, hz]) / m
        I = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) - m * (
            c @ c * np.eye(3) - np.outer(c, c)
        )
        return (
            m,
            (float(c[0]), float(c[1]), float(c[2])),
            (
                float(I[0, 0]),
                float(I[0, 1]),
                float(I[0, 2]),
                float(I[1, 1]),
                float(I[1, 2]),
                float(I[2, 2]),
            ),
        )


def pseudo_inertia(theta: Array) -> Array:
    """Return P (..., 4, 4) of ten inertial parameters (..., 10).

    >>> float(np.linalg.eigvalsh(pseudo_inertia(np.array([1.0, 0, 0, 0, 2, 0, 2, 0, 0, 2]))).min())
    1.0
    """
    m, hx, hy, hz, xx, xy, yy, xz, yz, zz = np.moveaxis(np.asarray(theta, float), -1, 0)
    half = 0.5 * (xx + yy + zz)
    rows = [
        [half - xx, -xy, -xz, hx],
        [-xy, half - yy, -yz, hy],
        [-xz, -yz, half - zz, hz],
        [hx, hy, hz, m],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def consistent_inertias(
    machine: Machine, W: Array, y: Array, weights: Array, columns: Columns
) -> Inertias:
    """Return the physically consistent inertias that fit best, together with all other unknowns.

    Raises StudyError where Clarabel is not installed or finds no solution.
    """
    try:
        import clarabel
        from scipy import sparse
    except ImportError:
        raise StudyError(
            "consistent inertias need Clarabel: pip install catena[identification]"
        ) from None
    A = W / weights[:, None]
    b = y / weights + A @ columns.values
    # scales that make the unknowns of size one
    size = np.maximum(np.abs(columns.values), 1e-3 * np.abs(columns.values).max(initial=1.0))
    both: Array = np.linalg.qr(np.column_stack([A * size, b]), mode="r")  # type: ignore[assignment]  # with mode="r" an array
    R, z = both[:, :-1], both[:, -1]
    scale = np.linalg.norm(R, ord=2)
    H = (R.T @ R) / scale**2 + PRIOR_WEIGHT * np.eye(R.shape[1])
    g = -(R.T @ z) / scale**2 - PRIOR_WEIGHT * columns.values / size
    G, h, cones = _cones(machine, columns, size)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_rel = 1e-10
    settings.tol_feas = 1e-10
    upper = sparse.csc_matrix(np.triu(H))
    solution = clarabel.DefaultSolver(
        upper, g, sparse.csc_matrix(G), h, [clarabel.PSDTriangleConeT(4)] * cones, settings
    ).solve()
    if str(solution.status) not in ("Solved", "AlmostSolved"):
        raise StudyError(
            f"no consistent inertias were found: the conic solver says {solution.status}; the data"
            " or the weights of the joints may be wrong"
        )
    x = np.array(solution.x) * size
    bodies = tuple(b.name for b in inertial_bodies(machine.layout))
    theta = np.array(
        [[x[columns.names.index(f"{part} of {body}")] for part in INERTIAL] for body in bodies]
    )
    free = np.linalg.lstsq(A, b, rcond=1e-12)[0]
    return Inertias(
        bodies, theta, float(np.sum((A @ x - b) ** 2)), float(np.sum((A @ free - b) ** 2))
    )


def _cones(machine: Machine, columns: Columns, size: Array) -> tuple[Array, Array, int]:
    """Return G, h and the number of cones, with h - G x = scaled upper triangles of P - least.

    The triangles are stacked body by body, column by column, as Clarabel takes them.
    """
    pairs = [(i, j) for j in range(4) for i in range(j + 1)]
    root = np.array([1.0 if i == j else np.sqrt(2.0) for i, j in pairs])
    shape = (
        np.array([[P[i, j] for i, j in pairs] for P in pseudo_inertia(np.eye(10))]).T
        * root[:, None]
    )
    bodies = inertial_bodies(machine.layout)
    G = []
    h = []
    for b in bodies:
        where = [columns.names.index(f"{part} of {b.name}") for part in INERTIAL]
        own = pseudo_inertia(columns.values[where])
        D = np.sqrt(np.maximum(np.diag(own), 1e-12 * np.trace(own)))
        unit = 1.0 / np.array([D[i] * D[j] for i, j in pairs])  # P in units of the body itself
        block = np.zeros((10, len(size)))
        block[:, where] = -shape * size[where] * unit[:, None]
        G.append(block)
        h.append(np.array([-MIN_EIGENVALUE if i == j else 0.0 for i, j in pairs]))
    return np.concatenate(G), np.concatenate(h), len(bodies)
