"""Linear programmes over friction cones: the smallest value of a force, or of a sum of forces,
where the forces are not unique.

    minimise c . f      f = f0 + Z y,      0 <= N,      |f_t| <= mu N          of k contacts

If all cones are polyhedra (no friction, slip, one tangent), this is a linear programme, solved at a
vertex. Circular cones are approached from inside by a logarithmic barrier: Newton's method for t c
. f - sum log(mu^2 N^2 - |f_t|^2), with t increased tenfold each time; the remaining error is 2 k /
t. If the cones have no common interior, as at the limit of friction, tangent planes of the cones
are added until none is violated.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
# The last weight t of the barrier method: the remaining error is 2 k / t, relative to the forces.
LAST_BARRIER_WEIGHT = 1e13
# A force beyond this, relative to the forces given, is unbounded.
UNBOUNDED_FORCE_RATIO = 1e9
# Cones whose common interior is less deep, relative to the forces given, have none.
NO_INTERIOR_RATIO = 1e-9
# A violation of a cone at most this, relative to the largest force, is rounding.
CONE_VIOLATION_RATIO = 1e-11
# Lower and upper bounds that differ by less, relative to the forces given, are equal.
BOUND_GAP_RATIO = 1e-10
# Rounds in which tangent planes are added.
MAX_CUTTING_ROUNDS = 60
# Tangent planes about a cone at the beginning.
INITIAL_FACETS = 8


class Cone(NamedTuple):
    """A friction cone: the coefficient mu, and the tangents (1, 2) along which there is a free
    force.
    """

    mu: float
    tangents: tuple[int, ...]

    @property
    def round(self) -> bool:
        """Whether the cone is circular, and so not a polyhedron."""
        return len(self.tangents) == 2 and self.mu > 0.0


class NoForces(Exception):
    """No forces lie within all cones."""


class ConeProgramme:
    """The set of contact forces f + Z y that lie within friction cones, for any y (n,). f (3 k,) is
    scaled so that its largest entry is about one; Z is (3 k, n).
    """

    def __init__(self, cones: list[Cone], f: Array, Z: Array):
        self.cones, self.f, self.Z = cones, f, Z
        self.round = [n for n, c in enumerate(cones) if c.round]
        self.flat = np.array(
            [_plane(len(f), n, x) for n, c in enumerate(cones) if not c.round for x in _faces(c)]
        ).reshape(-1, len(f))
        self.planes = [
            *self.flat,
            *(_plane(len(f), n, x) for n in self.round for x in _faces(cones[n])),
        ]
        self.start = self._find_interior() if self.round and Z.shape[1] else None

    def least(self, c: Array) -> float:
        """Return the minimum of c . f for c (3 k,); minus infinity if it is unbounded. Raises
        NoForces if no f lies within all cones.
        """
        if not self.Z.shape[1]:
            self._check()
            return float(c @ self.f)
        if not np.abs(c @ self.Z).max() > 1e-14 * np.abs(c).max():
            return float(c @ self.f)
        if self.start is None:
            return self._minimise_by_planes(c)
        below = self._minimise_within_planes(c)
        if below is not None and not list(self._violated_planes(below)):
            return float(c @ below)
        found = self._minimise_by_barrier(c, self.start)
        return (
            float(c @ below)
            if below is not None and found - c @ below <= BOUND_GAP_RATIO * np.abs(c).max()
            else found
        )

    def _check(self) -> None:
        """Raise NoForces if the forces f, which are unique, lie outside a cone."""
        for n, cone in enumerate(self.cones):
            N = self.f[3 * n]
            t = np.hypot(*self.f[3 * n + 1 : 3 * n + 3])
            if N < -NO_INTERIOR_RATIO or (
                cone.tangents and t > cone.mu * N + NO_INTERIOR_RATIO * (1.0 + cone.mu)
            ):
                raise NoForces

    # --- planes
    def _minimise_by_planes(self, c: Array) -> float:
        """Return the minimum of c . f by cutting planes: tangent planes are added until no cone is
        violated.
        """
        f = self._minimise_within_planes(c)
        for _ in range(MAX_CUTTING_ROUNDS):
            missed = [] if f is None else list(self._violated_planes(f))
            if f is None or not missed:
                break
            self.planes += missed
            try:
                f = self._minimise_within_planes(c)
            except NoForces:  # because of rounding: the cones have no common interior
                break
        return -np.inf if f is None else float(c @ f)

    def _minimise_within_planes(self, c: Array) -> Array | None:
        """Return the f of least c . f within the planes about the cones; None if it is
        unbounded.
        """
        from scipy.optimize import linprog

        A = np.array(self.planes)
        answer = linprog(
            c @ self.Z,
            A @ self.Z,
            -A @ self.f,
            bounds=(None, None),
            method="highs-ds",
            options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        )
        if answer.status not in (0, 3):
            raise NoForces
        return self.f + self.Z @ answer.x if answer.status == 0 else None

    def _violated_planes(self, f: Array) -> Iterator[Array]:
        """Yield a tangent plane of every cone that f violates."""
        for n in self.round:
            t = f[3 * n + 1 : 3 * n + 3]
            mu = self.cones[n].mu
            if np.hypot(*t) > mu * f[3 * n] + CONE_VIOLATION_RATIO * np.abs(f).max():
                yield _plane(len(f), n, np.array([-mu, *(t / np.hypot(*t))]))

    # --- barrier
    def _find_interior(self) -> Array | None:
        """Return y well inside all cones, or None if there is no interior. All normal forces are
        raised by a common s, and s is minimised until it is negative.
        """
        raised = np.zeros((len(self.f), 1))
        raised[::3] = 1.0
        y = np.zeros(self.Z.shape[1] + 1)
        Z = np.hstack([self.Z, raised])
        c = np.append(np.zeros(len(y) - 1), 1.0)
        y[-1] = 2.0 * max(
            float(np.abs(self.f).max()) * (1.0 + 1.0 / min(self.cones[n].mu for n in self.round)),
            1.0,
        )
        t = 1.0
        while t < 1e3 / NO_INTERIOR_RATIO:
            y = self._minimise_barrier(c, t, y, Z, stop=True)
            if y[-1] < 0.0:
                return y[:-1]
            t *= 10.0
        if y[-1] > 1e2 * NO_INTERIOR_RATIO:
            raise NoForces
        return None

    def _minimise_by_barrier(self, c: Array, y: Array) -> float:
        """Return the minimum of c . f by the barrier method from y, which is inside all cones."""
        t = 1.0
        along = (c @ self.Z) / np.abs(c).max()
        while t < LAST_BARRIER_WEIGHT:
            y = self._minimise_barrier(along, t, y, self.Z)
            f = self.f + self.Z @ y
            if -(c @ f) > UNBOUNDED_FORCE_RATIO * np.abs(c).max():
                return -np.inf
            t *= 10.0
        return float(c @ f)

    def _minimise_barrier(
        self, c: Array, t: float, y: Array, Z: Array, stop: bool = False
    ) -> Array:
        """Return the minimiser of t c . y plus the barrier, by Newton's method from y. With
        stop=True it returns as soon as the last entry of y is negative.
        """
        for _ in range(60):
            value, slope, H = self._barrier(y, Z)
            g = t * c + slope
            scale = 1.0 / np.sqrt(np.maximum(np.diagonal(H), 1e-300))
            step = -scale * np.linalg.lstsq(scale[:, None] * H * scale, scale * g, rcond=1e-15)[0]
            fall = float(-g @ step)
            if not fall > 1e-10:
                break
            size = min(1.0, 1.0 / (1e-300 + np.sqrt(fall))) if fall > 1.0 else 1.0
            while size > 1e-12:
                moved = y + size * step
                if (
                    t * c @ moved + self._barrier(moved, Z)[0]
                    < t * c @ y + value - 1e-4 * size * fall
                ):
                    break
                size *= 0.5
            else:
                break
            y = moved
            if (stop and y[-1] < 0.0) or np.abs(Z @ y).max() > 1e3 * UNBOUNDED_FORCE_RATIO:
                break
        return y

    def _barrier(self, y: Array, Z: Array) -> tuple[float, Array, Array]:
        """Return the value of the barrier (infinite outside the cones), its gradient and its
        Hessian by y.
        """
        f = self.f + Z @ y
        value = 0.0
        slope = np.zeros(len(y))
        H = np.zeros((len(y), len(y)))
        for n in self.round:
            own = Z[3 * n : 3 * n + 3]
            mu = self.cones[n].mu
            x = f[3 * n : 3 * n + 3]
            S = np.array([mu * mu, -1.0, -1.0])
            reach = mu * x[0]
            t = float(np.hypot(x[1], x[2]))
            if not reach > t:
                return np.inf, slope, H
            q = (reach - t) * (reach + t)
            d = 2.0 * (S * x) @ own
            value -= np.log(q)
            slope -= d / q
            H += np.outer(d, d) / q**2 - 2.0 * (own.T * S) @ own / q
        room = -(self.flat @ f)
        if not (room > 0.0).all():
            return np.inf, slope, H
        A = (self.flat @ Z) / room[:, None]
        return value - float(np.log(room).sum()), slope + A.sum(axis=0), H + A.T @ A


def _faces(cone: Cone) -> list[Array]:
    """Return normals x (3,) of planes x . f <= 0 about a cone: its own faces if it is a polyhedron,
    else INITIAL_FACETS tangent planes and 0 <= N.
    """
    if not cone.tangents or cone.mu == 0.0:
        return [np.array([-1.0, 0.0, 0.0])]
    if not cone.round:
        j = cone.tangents[0]
        return [
            np.array([-cone.mu, *(sign * float(j == i) for i in (1, 2))]) for sign in (1.0, -1.0)
        ]
    angles = 2.0 * np.pi * np.arange(INITIAL_FACETS) / INITIAL_FACETS
    return [
        np.array([-1.0, 0.0, 0.0]),
        *(np.array([-cone.mu, np.cos(x), np.sin(x)]) for x in angles),
    ]


def _plane(size: int, n: int, x: Array) -> Array:
    """Return the plane with normal x (3,) in the forces of contact n as a row (size,) over the
    forces of all contacts.
    """
    found = np.zeros(size)
    found[3 * n : 3 * n + 3] = x
    return found
