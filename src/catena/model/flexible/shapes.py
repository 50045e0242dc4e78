"""Shape functions of a beam: how it may bend, stretch or twist, each shape with an amplitude of its
own.

    bending       phi'''' = b^4 phi,  phi = C1 cos bs + C2 sin bs + C3 exp(-bs) + C4 exp(-b(1-s))
    stretching    phi''   = -b^2 phi, phi = C1 cos bs + C2 sin bs                    (also twist)

s = x/L runs from 0 to 1 and ' is d/ds. The boundary conditions determine b, and C up to a factor:
phi(1) = 1 where the tip can move, else the mean of phi^2 is 1/2, as that of a sine. The two
exponentials decay away from the ends, so that nothing cancels as in cosh - sinh, and every shape is
as accurate as the first. Shapes of the user, given as expressions of x or as functions of x (m),
become Chebyshev series.

The ends "craig-bampton" are for a beam that is clamped at x = 0 and carries something at its tip
([Craig1968]). First come the constraint modes, the static shapes with the tip moved by one, or
turned by one, and otherwise held; then the modes of the beam with both ends clamped. Such shapes
can transmit any force and moment to the tip, which those of a cantilever, free there, cannot.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.polynomial import polynomial

from ...errors import MechanismError
from .series import Series, fitted, samples

Array = np.ndarray
# the derivatives of phi that vanish at such an end
HELD = {"clamped": (0, 1), "pinned": (0, 2), "free": (2, 3)}
ENDS = {  # root near (k + this) pi, k = 1, 2, ...
    "clamped-free": -0.5,
    "pinned-free": 0.25,
    "pinned-pinned": 0.0,
    "clamped-pinned": 0.25,
    "clamped-clamped": 0.5,
    "free-free": 0.5,
}
CRAIG_BAMPTON = "craig-bampton"
# coefficients of 1, s, s^2, s^3
CONSTRAINT_MODES = {"bending": ((0, 0, 3, -2), (0, 0, -1, 1)), "stretching": ((0, 1),)}
WORDS = {"pinned": "pinned-pinned", "cantilever": "clamped-free"}  # other words for some
# relative to the largest value of the shape's derivative of that order: a boundary condition whose
# violation is not larger holds
BOUNDARY_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Waves:
    """n shapes by their wave numbers b (n,) and coefficients C (n, 4)."""

    b: Array
    C: Array

    def __call__(self, s: Array, order: int = 0) -> Array:
        """Return the derivatives (n, k) of that order of all shapes at s = x/L (k,)."""
        return np.einsum("nc,nck->nk", self.C, _basis(self.b, np.asarray(s, float), order))

    @property
    def points(self) -> int:
        """The number of Gauss points that integrate the product of any two of them, or of their
        derivatives, to rounding.
        """
        return 20 + 2 * len(self.b)


@dataclass(frozen=True)
class Powers:
    """n polynomials of s by their coefficients c (degree + 1, n)."""

    c: Array

    def __call__(self, s: Array, order: int = 0) -> Array:
        """Return the derivatives (n, k) of that order of all shapes at s = x/L (k,)."""
        return polynomial.polyval(np.asarray(s, float), polynomial.polyder(self.c, order))

    @property
    def points(self) -> int:
        """The number of Gauss points that integrate the product of any two of them."""
        return len(self.c)


@dataclass(frozen=True)
class Both:
    """Shapes of one kind, followed by those of another."""

    first: Powers
    then: Waves

    def __call__(self, s: Array, order: int = 0) -> Array:
        """Return the derivatives (n, k) of that order of all shapes at s = x/L (k,)."""
        return np.concatenate([self.first(s, order), self.then(s, order)])

    @property
    def points(self) -> int:
        """The number of Gauss points that integrate the product of any two of them, or of their
        derivatives, to rounding.
        """
        return self.first.points + self.then.points


Shapes = Waves | Series | Both


def ends_of(name: str) -> str:
    """Return the key of ENDS for the name that a user gave."""
    found = WORDS.get(name, name)
    if found not in ENDS and found != CRAIG_BAMPTON:
        raise MechanismError(
            f"ends is {name!r}; it is one of {', '.join([*ENDS, CRAIG_BAMPTON, *WORDS])}"
        )
    return found


def held(ends: str) -> tuple[str, str]:
    """Return how root and tip of shapes with these ends are held: "clamped", "pinned" or "free"."""
    root, tip = ("clamped", "free") if ends == CRAIG_BAMPTON else ends.split("-")
    return root, tip


def uniform(kind: str, ends: str, n: int) -> Shapes:
    """Return the first n shapes of a uniform beam. kind: "bending", or "stretching" (and twist)."""
    waves = bending if kind == "bending" else stretching
    if ends != CRAIG_BAMPTON:
        return waves(ends, n)
    c = np.array(CONSTRAINT_MODES[kind], float).T
    if n < c.shape[1]:
        raise MechanismError(
            f"ends is {ends!r} with {n} mode of {kind}; it takes at least {c.shape[1]}: one for"
            " each way in which the tip moves and turns"
        )
    return Both(Powers(c), waves("clamped-clamped", n - c.shape[1]))


# --- of a uniform beam
def bending(ends: str, n: int) -> Waves:
    """Return the first n bending shapes of a beam with these ends; rigid motions of a beam that is
    not held are left out.

    >>> [round(float(b), 10) for b in bending("clamped-free", 2).b]
    [1.8751040687, 4.694091133]
    """
    root, tip = ends.split("-")
    b = np.array([_root(root, tip, (k + ENDS[ends]) * math.pi) for k in range(1, n + 1)])
    C = np.array([np.linalg.svd(_conditions(root, tip, x))[2][-1] for x in b]).reshape(n, 4)
    return _scaled(Waves(b, C), tip_moves=tip == "free")


def stretching(ends: str, n: int) -> Waves:
    """Return the first n shapes of stretching or twisting: held at a clamped or pinned root, and at
    the tip only if that is clamped.
    """
    root, tip = (end != "free" for end in ends.split("-"))
    tip = ends.endswith("clamped")
    b = np.pi * (np.arange(1, n + 1) - (0.5 if root and not tip else 0.0))
    C = np.zeros((n, 4))
    C[:, 1 if root else 0] = 1.0
    return _scaled(Waves(b, C), tip_moves=not tip)


def _basis(b: Array, s: Array, order: int) -> Array:
    """Return the four functions of each b, differentiated `order` times, at s (k,): (n, 4, k)."""
    x = np.outer(b, s)
    turned = x + 0.5 * np.pi * order
    parts = (np.cos(turned), np.sin(turned), (-1.0) ** order * np.exp(-x), np.exp(x - b[:, None]))
    return b[:, None, None] ** order * np.stack(parts, axis=1)


def _conditions(root: str, tip: str, b: float) -> Array:
    """Return the matrix (4, 4) of the boundary conditions on C, each row divided by its power of
    b.
    """
    rows = [
        _basis(np.array([b]), np.array([s]), d)[0, :, 0] / b**d
        for s, end in ((0.0, root), (1.0, tip))
        for d in HELD[end]
    ]
    return np.array(rows)


def _root(root: str, tip: str, near: float) -> float:
    """Return the root b near `near` at which the boundary conditions have a solution."""
    from scipy.optimize import brentq

    def determinant(b: float) -> float:
        return float(np.linalg.det(_conditions(root, tip, b)))

    return float(
        brentq(determinant, near - 0.3 * math.pi, near + 0.3 * math.pi, xtol=1e-15, rtol=1e-15)
    )


def _scaled(shapes: Waves, tip_moves: bool) -> Waves:
    if tip_moves:
        size = shapes(np.ones(1))[:, 0]
    else:
        s, w = np.polynomial.legendre.leggauss(40 + 4 * len(shapes.b))
        values = shapes(0.5 * (s + 1))
        rise = shapes(np.array([1e-3]))[:, 0]
        size = np.sqrt(values**2 @ w) * np.sign(rise)  # the mean of phi^2 is half of this sum
    return Waves(shapes.b, shapes.C / size[:, None])


# --- given ones
def given(
    what: str, shapes: Sequence[str | Callable[..., Any]], ends: str, kind: str, length: float
) -> Series:
    """Return the user's shapes on a beam of that length (m), checked at its ends. kind: "bending",
    or "stretching" (and twist).

    A string may use x (m) and L, the length. Only the geometric boundary conditions are required of
    a shape; those of forces need not hold. what: the name of their owner, for messages.
    """
    values = np.array([_values(what, f, length * samples(), length) for f in shapes]).reshape(
        len(shapes), -1
    )
    found = fitted(what, [_name(f, k) for k, f in enumerate(shapes)], values)
    for k, f in enumerate(shapes):
        _check(f"{what}: shape {_name(f, k)}", found, k, ends, kind)
    return found


def _values(what: str, f: str | Callable[..., Any], x: Array, length: float) -> Array:
    if isinstance(f, str):
        from ..expressions import evaluate, parse

        try:
            values = evaluate(parse(f, ["x", "L"]), {"x": x, "L": length})
        except ValueError as why:
            raise MechanismError(f"{what}: {why}") from None
    else:
        values = [f(float(at)) for at in x]
    values = np.broadcast_to(np.asarray(values, float), x.shape)
    if not np.isfinite(values).all() or not values.any():
        raise MechanismError(
            f"{what}: shape {_name(f, 0)} is"
            f" {'zero' if np.isfinite(values).all() else 'not finite'} along the beam"
        )
    return values


def _check(who: str, shapes: Series, k: int, ends: str, kind: str) -> None:
    """Raise MechanismError where a shape moves at an end that is held."""
    size = [np.abs(shapes(np.linspace(0, 1, 201), d)[k]).max() for d in range(2)]
    root, tip = held(ends)
    for end, s, place in ((root, 0.0, "x = 0"), (tip, 1.0, "x = L")):
        asked = (
            [d for d in HELD[end] if d < 2]
            if kind == "bending"
            else [0]
            if end == "clamped" or (s == 0 and end == "pinned")
            else []
        )
        for d in asked:
            found = float(shapes(np.array([s]), d)[k, 0])
            if abs(found) > BOUNDARY_TOLERANCE * size[d] + shapes.rounding(d)[k]:
                does, scaled = (
                    ("slope", f"{found:.3g} m / L"),
                    ("displacement", f"{found:.3g} m"),
                )[d == 0]
                raise MechanismError(
                    f"{who} has the {does} {scaled} at {place}, where a beam that is {ends} has"
                    " none; give a shape that vanishes there, or other ends"
                )


def _name(f: str | Callable[..., Any], k: int) -> str:
    return repr(f) if isinstance(f, str) else repr(getattr(f, "__name__", f"number {k + 1}"))
