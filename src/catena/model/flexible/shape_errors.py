"""The error of the first frequencies of a beam by modes with the loads that it carries, by the
Rayleigh-Ritz method.

A load at a place of the beam requires of its shapes a moment and a shear force there: EI phi'' =
omega^2 J phi', EI phi''' = -omega^2 m phi. Shapes whose ends are free (or that are smooth where a
load is attached) cannot have them, and their frequencies come out too high. So the frequencies are
computed once more with further shapes that can: polynomials, and cubics that begin where a load is.
How much lower they become is the error of the shapes.

The beam has length one and mass one; its body's frame is fixed, except for a beam whose root is
free, which moves with it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.polynomial import legendre

from ..beams import Flexed
from ..mechanism import Mechanism
from ..values import value_of
from .integrals import rule
from .series import NEARLY_DEPENDENT_SHAPES
from .shapes import HELD, ends_of, held

Array = np.ndarray
MAX_FREQUENCIES = 3  # the lowest frequencies that are checked; at most half as many as shapes
POLYNOMIAL_DEGREE = 9  # of the polynomials that are added to the shapes
# eigenvalues of the mass matrix, scaled to a diagonal of one, that are not larger belong to
# linearly dependent shapes and are dropped
DEPENDENT_EIGENVALUE = 1e-11
MAX_FREQUENCY_ERROR = 0.01  # relative error of a frequency above which a warning says so
AXIS = {"x": 0, "y": 1, "z": 2, "twist": 0}
# s = x/L of the place, and M (2, 2) of displacement and slope d/ds there, relative to the beam's
# mass
Load = tuple[float, Array]

Carried = tuple[float, Array, Array]  # mass, first moment (3,) and inertia (3, 3) about a place


def frequency_errors(m: Mechanism, flexed: Flexed) -> dict[str, Array]:
    """Return {direction: (k,)}, the relative errors by which the first frequencies of a beam by
    modes are too high, k up to MAX_FREQUENCIES.
    """
    basis = flexed.modal.integrals.basis
    ends = ends_of(flexed.beam.ends)
    rotary = _value(m, flexed.beam.rhoJ) / (
        2 * _value(m, flexed.beam.rhoA) * _value(m, flexed.beam.length) ** 2
    )
    return {
        d: _errors(d, shapes, held(ends), list(_loads(m, flexed, d)), rotary)
        for d, shapes in basis.shapes.items()
    }


def likeness_doubts(m: Mechanism) -> Iterator[str]:
    """Yield a sentence for each beam whose shapes are so nearly dependent that the mass matrix
    loses digits.
    """
    for flexed in (x for x in m.beams if x.modal):
        for d, shapes in flexed.modal.integrals.basis.shapes.items():
            if (apart := getattr(shapes, "apart", 1.0)) < NEARLY_DEPENDENT_SHAPES:
                yield (
                    f"body {flexed.body!r}: its shapes along {d} are so alike that a combination of"
                    f" them is {apart:.1g} of their size: the mass matrix loses"
                    f" {-2 * math.log10(apart):.0f} of its 16 digits; give fewer shapes, or ones"
                    " that differ more"
                )


def frequency_doubts(m: Mechanism) -> Iterator[str]:
    """Yield a sentence for each beam whose shapes do not suit the bodies that it carries."""
    for flexed in (x for x in m.beams if x.modal):
        for d, errors in frequency_errors(m, flexed).items():
            if errors.max(initial=0.0) > MAX_FREQUENCY_ERROR:
                k = int(errors.argmax())
                yield (
                    f"body {flexed.body!r}: its {flexed.modal.integrals.basis.counts[d]} shapes"
                    f" along {d} do not suit the bodies that it carries: frequency {k + 1} of the"
                    f" beam with fixed root is {100 * errors[k]:.2g} % too high; give it ends ="
                    ' "craig-bampton" for a load at its tip, more modes, or segments'
                )


# --- Rayleigh and Ritz
def _errors(d: str, shapes: Any, ends: tuple[str, str], loads: list[Load], rotary: float) -> Array:
    """Return the relative errors of the first frequencies in direction d: the frequencies with the
    shapes alone are compared with those with added shapes.
    """
    bent = 2 if d in ("y", "z") else 1
    inner = sorted({place for place, _ in loads if 0 < place < 1})
    edges = np.array([0.0, *inner, 1.0])
    t, w = rule(shapes.points + POLYNOMIAL_DEGREE)
    s = (edges[:-1, None] + np.outer(np.diff(edges), t)).ravel()
    w = np.outer(np.diff(edges), w).ravel()
    rigid, more = (
        _AddedShapes(bent, ends, degree, places)
        for degree, places in ((bent - 1, ()), (POLYNOMIAL_DEGREE, inner))
    )
    found = []
    for added in (rigid, more):

        def at(s: Any, order: int, added: _AddedShapes = added) -> Array:
            return np.vstack([shapes(np.atleast_1d(s), order), added(np.atleast_1d(s), order)])

        M = (at(s, 0) * w) @ at(s, 0).T + (bent == 2) * rotary * (at(s, 1) * w) @ at(s, 1).T
        for place, load in loads:
            moved = np.hstack([at(place, 0), at(place, 1)])
            M = M + moved @ load @ moved.T
        found.append(_frequencies((at(s, bent) * w) @ at(s, bent).T, M)[rigid.count :])
    n = min(MAX_FREQUENCIES, (len(shapes(np.zeros(1))) + 1) // 2)
    return np.maximum(found[0][:n] / found[1][:n] - 1, 0.0)


def _frequencies(K: Array, M: Array) -> Array:
    """Return the frequencies of K and M in increasing order; linearly dependent combinations of
    shapes are dropped.
    """
    size = np.sqrt(np.diag(M))
    values, U = np.linalg.eigh(M / np.outer(size, size))
    U = (
        U[:, values > DEPENDENT_EIGENVALUE] / np.sqrt(values[values > DEPENDENT_EIGENVALUE])
    ) / size[:, None]
    return np.sqrt(np.maximum(np.linalg.eigvalsh(U.T @ K @ U), 0.0))


class _AddedShapes:
    """Polynomials up to a degree, and cubics (lines, for stretching) that begin at some places,
    restricted to those that the ends allow.
    """

    def __init__(self, bent: int, ends: tuple[str, str], degree: int, places: Any):
        from scipy.linalg import null_space

        self.bent, self.degree, self.places = bent, degree, places
        held = [
            (s, k)
            for s, end in enumerate(ends)
            for k in HELD[end]
            if k < bent and not (bent == 1 and s == 1 and end == "pinned")
        ]
        rows = [self._all(np.array([float(s)]), k)[:, 0] for s, k in held]
        self.N = null_space(np.array(rows)) if rows else np.eye(degree + 1 + bent * len(places))

    @property
    def count(self) -> int:
        """The number of added shapes."""
        return self.N.shape[1]

    def __call__(self, s: Array, order: int) -> Array:
        """Return the derivatives (n, k) of that order of all shapes at s = x/L (k,)."""
        return self.N.T @ self._all(s, order)

    def _all(self, s: Array, order: int) -> Array:
        smooth = legendre.legval(
            2 * s - 1, legendre.legder(np.eye(self.degree + 1), order, scl=2.0)
        ).reshape(-1, len(s))
        powers = [(p, a) for a in self.places for p in ((2, 3) if self.bent == 2 else (1,))]
        begun = [
            math.perm(p, order) * np.where(s > a, s - a, 0.0) ** max(p - order, 0) * (s > a)
            for p, a in powers
        ]
        return np.vstack([smooth, *begun])


# --- what a beam carries
def _loads(m: Mechanism, flexed: Flexed, d: str) -> Iterator[Load]:
    """Yield (s, M) of the bodies attached at each place s = x/L: M (2, 2) is their inertia for
    displacement and slope there, relative to the beam's mass.
    """
    mass, length, rotor = (
        _value(m, x) for x in (m.body(flexed.body).mass, flexed.beam.length, flexed.beam.rhoJ)
    )
    through = _through(m)
    for body, x in zip(flexed.bodies, flexed.stations):
        carried = [
            through[j.name] for j in m.joints if j.parent == body and j.name not in flexed.joints
        ]
        if not (place := _value(m, x) / length) or not any(c[0] or c[2].any() for c in carried):
            continue
        total, first, I = _added(carried)
        if d in ("y", "z"):
            yield (
                place,
                np.array(
                    [
                        [total, first[0] / length],
                        [first[0] / length, I[3 - AXIS[d], 3 - AXIS[d]] / length**2],
                    ]
                )
                / mass,
            )
        else:
            yield place, np.diag([total / mass if d == "x" else I[0, 0] / (rotor * length), 0.0])


def _through(m: Mechanism) -> dict[str, Carried]:
    """Return the mass that each joint carries with all coordinates zero, about its parent's frame.
    Of bodies that move relative to the parent through the joint, only the mass is counted, at the
    joint.
    """
    on: dict[str, list[Carried]] = {}
    found = {}
    for j in reversed(m.ordered):
        carried = _added([_body(m, j.child), *on.pop(j.child, [])])
        if j.nv and j.deflection is None:
            p = np.array([_value(m, x) for x in j.placement.position])
            found[j.name] = _moved((carried[0], np.zeros(3), np.zeros((3, 3))), np.eye(3), p)
        else:
            X = j.placement @ j.offset.inverse()
            R = np.array([[_value(m, x) for x in row] for row in X.rotation])
            found[j.name] = _moved(carried, R, np.array([_value(m, x) for x in X.position]))
        on.setdefault(j.parent, []).append(found[j.name])
    return found


def _body(m: Mechanism, name: str) -> Carried:
    """Return mass, first moment and inertia of a body about its own frame."""
    b = m.body(name)
    mass, xx, xy, xz, yy, yz, zz = (_value(m, x) for x in (b.mass, *b.inertia))
    about_com = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return _moved(
        (mass, np.zeros(3), about_com), np.eye(3), np.array([_value(m, x) for x in b.com])
    )


def _moved(carried: Carried, R: Array, p: Array) -> Carried:
    """Return mass, first moment and inertia about another frame. R, p: the pose of the first frame
    in it.
    """
    mass, first, I = carried
    s = R @ first
    shift = (
        (mass * p @ p + 2 * p @ s) * np.eye(3)
        - mass * np.outer(p, p)
        - np.outer(p, s)
        - np.outer(s, p)
    )
    return mass, s + mass * p, R @ I @ R.T + shift


def _added(parts: list[Carried]) -> Carried:
    return (
        sum(x[0] for x in parts),
        np.sum([x[1] for x in parts], axis=0),
        np.sum([x[2] for x in parts], axis=0),
    )


def _value(m: Mechanism, x: Any) -> float:
    return float(value_of(x, m.parameters))
