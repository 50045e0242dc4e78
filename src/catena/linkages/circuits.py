"""Circuits: the assembly modes of a linkage with one driven coordinate, connected where one mode
passes into another.

A branch is an interval of the driven coordinate in which one combination of signs can be
assembled. It ends at dead points, where the margin of a dyad vanishes; there the branch with the
other sign of that dyad ends too, and the linkage passes from one to the other. Branches connected
in this way form a circuit: the linkage cannot pass from one circuit to another without being taken
apart. [Chase1993]
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..errors import QuestionError
from .linkage import Linkage, Positions
from .planar_elements import TURN

Array = NDArray[np.float64]
TWO_PI = 2.0 * np.pi
BISECTIONS = 60
GOLDEN = (np.sqrt(5.0) - 1.0) / 2.0
GOLDEN_STEPS = 45
# how far a path stays from the ends of a branch, relative to its length: rounding decides there
DEAD_POINT_DISTANCE = 1e-12
# a margin (square of a sine) below this at its minimum is a change point: rounding decides it
CHANGE_MARGIN = 1e-12


@dataclass(frozen=True)
class Branch:
    """An interval of the driven coordinate with one combination of signs.

    signs: one per dyad with two solutions. lower, upper: the ends, rad or m; upper - lower is 2 pi
    where the driven joint turns fully. lower_dyad, upper_dyad: the index of the sign that changes
    at the end, None at the end of the examined range. smallest_margin: the smallest square of the
    sine of a transmission angle, over samples. circuit: the index of its circuit.
    """

    signs: tuple[int, ...]
    lower: float
    upper: float
    lower_dyad: int | None
    upper_dyad: int | None
    smallest_margin: float
    circuit: int = -1

    @property
    def full_turn(self) -> bool:
        """Whether the driven joint turns fully on this branch."""
        return self.lower_dyad is None and self.upper_dyad is None


@dataclass(frozen=True)
class Circuits:
    """The branches of a linkage. change_points: values of the driven coordinate where a margin
    touches zero inside a branch, so that the linkage may continue on either of two branches.
    """

    linkage: Linkage
    branches: tuple[Branch, ...]
    change_points: tuple[float, ...]

    @property
    def count(self) -> int:
        """The number of circuits."""
        return 1 + max((b.circuit for b in self.branches), default=-1)

    @property
    def dead_points(self) -> Array:
        """The values of the driven coordinate, sorted, at which it can move in one direction
        only.
        """
        ends = [
            x
            for b in self.branches
            for x, dyad in ((b.lower, b.lower_dyad), (b.upper, b.upper_dyad))
            if dyad is not None
        ]
        return np.unique(np.round(np.mod(np.array(ends) + np.pi, TWO_PI) - np.pi, 12))

    def path(self, circuit: int, samples: int = 360) -> tuple[Array, Array]:
        """Return driven values (n,) and signs (n, k) along one circuit, from end to end, and back
        on the next branch where there is one.
        """
        left = [b for b in self.branches if b.circuit == circuit]
        if not left:
            raise QuestionError(
                f"circuit {circuit} of {self.linkage.mechanism.name!r} does not exist; it has"
                f" {self.count}, counted from 0"
            )
        branch: Branch | None = left[0]
        values: list[Array] = []
        signs: list[Array] = []
        forward = True
        while branch is not None:
            left.remove(branch)
            # points are dense at the ends, where speeds are large
            u = 0.5 - 0.5 * np.cos(np.linspace(0.0, np.pi, samples))
            u = np.linspace(0.0, 1.0, samples) if branch.full_turn else u
            u = u if forward else u[::-1]
            u = DEAD_POINT_DISTANCE + (1.0 - 2.0 * DEAD_POINT_DISTANCE) * u
            values.append(branch.lower + (branch.upper - branch.lower) * u)
            signs.append(np.tile(np.array(branch.signs, float), (samples, 1)))
            branch = _next(left, branch, forward)
            forward = not forward
        return np.concatenate(values), np.concatenate(signs)

    def positions(self, circuit: int, samples: int = 360) -> tuple[Array, Positions]:
        """Return the driven values (n,) along a circuit and the positions; the turns of all
        coordinates are continuous.
        """
        values, signs = self.path(circuit, samples)
        found = self.linkage.positions(values, modes=signs)
        assert found.q is not None
        q = found.q.copy()
        known = np.isfinite(q).all(axis=1)
        for k in self.linkage.turning_columns:
            q[known, k] = np.unwrap(q[known, k])
        return values, replace(found, q=q)

    def __str__(self) -> str:
        lines = [
            f"{self.linkage.mechanism.name}: {self.count} circuits,"
            f" {len(self.branches)} branches of {', '.join(self.linkage.driven)}"
        ]
        for b in self.branches:
            signs = "".join("+" if s > 0 else "-" for s in b.signs)
            reach = "full turn" if b.full_turn else f"{b.lower:.6g} to {b.upper:.6g}"
            lines.append(f"  circuit {b.circuit}  {signs or 'one mode'}  {reach}")
        return "\n".join(lines)


def circuits(
    linkage: Linkage, lower: float | None = None, upper: float | None = None, samples: int = 720
) -> Circuits:
    """Return all branches and circuits of a linkage with one driven coordinate.

    Parameters
    ----------
    linkage : Linkage
        With one driven coordinate.
    lower, upper : float, optional
        The range of the driven coordinate, rad or m. By default a full turn, for a turning joint.
    samples : int, default 720
        Samples over the range. Dips of a margin between samples are searched, so that only a
        branch or a gap with no sample near its extremum is missed.

    Returns
    -------
    Circuits

    Raises
    ------
    QuestionError
        Where several coordinates are driven, or a slide is driven and no range is given.

    Examples
    --------
    >>> import catena
    >>> print(circuits(catena.linkages.linkage(catena.load("four_bar"), "motor pin")))
    four-bar linkage: 2 circuits, 2 branches of motor pin
      circuit 0  +  full turn
      circuit 1  -  full turn
    """
    if len(linkage.driven) != 1:
        raise QuestionError(
            f"circuits of {linkage.mechanism.name!r}: {len(linkage.driven)} coordinates are"
            " driven; circuits are found for one"
        )
    element = next(
        e for e in linkage.decomposition.planar.elements if e.coordinate == linkage.driven[0]
    )
    periodic = lower is None and upper is None and element.motion == TURN
    if not periodic and (lower is None or upper is None):
        raise QuestionError(
            f"circuits of {linkage.mechanism.name!r}: give lower and upper, the range of"
            f" {linkage.driven[0]!r}"
        )
    span = (-np.pi, np.pi) if periodic else (float(lower or 0.0), float(upper or 0.0))
    found: list[Branch] = []
    changes: list[float] = []
    for signs in linkage.modes:
        branches, touching = _branches(linkage, signs, span, periodic, samples)
        found += branches
        changes += touching
    return Circuits(linkage, _connected(found), tuple(sorted(set(np.round(changes, 9)))))


def least_margin(linkage: Linkage, signs: Array, q: Array) -> Array:
    """Return the smallest margin (n,) of all dyads; -1 where an earlier dyad already fails."""
    if not linkage.mode_count:
        return np.ones(np.shape(q))
    margins = linkage.positions(q, modes=signs, coordinates=False).margins
    return np.asarray(np.where(np.isnan(margins), -1.0, margins).min(axis=-1))


def _branches(
    linkage: Linkage, signs: Array, span: tuple[float, float], periodic: bool, samples: int
) -> tuple[list[Branch], list[float]]:
    """Return the branches of one combination of signs, and its change points."""

    def margin(q: Array) -> Array:
        return least_margin(linkage, signs, q)

    x = np.linspace(*span, samples + 1)
    x, y = _with_extrema(margin, x, margin(x), periodic)
    dips = (y[1:-1] < y[:-2]) & (y[1:-1] < y[2:]) & (np.abs(y[1:-1]) < CHANGE_MARGIN)
    touching = [float(v) for v in x[1:-1][dips]]
    y = y.copy()
    y[1:-1][dips] = np.maximum(y[1:-1][dips], 0.0)
    inside = y >= 0.0
    if inside.all():
        return [_branch(linkage, signs, *span, (False, False), y)], touching
    edges = np.flatnonzero(inside[1:] != inside[:-1])
    roots = _bisected(margin, x[edges], x[edges + 1], inside[edges])
    if periodic and inside[0]:  # begin the circle outside of every branch
        roots = np.concatenate([roots[1:], roots[:1] + TWO_PI])
        pairs = [(roots[k], roots[k + 1], (True, True)) for k in range(0, len(roots), 2)]
    else:
        starts = [span[0]] if inside[0] else []
        ends = [span[1]] if inside[-1] else []
        all_ = np.concatenate([starts, roots, ends])
        pairs = [
            (
                all_[k],
                all_[k + 1],
                (not (k == 0 and inside[0]), not (k + 2 == len(all_) and inside[-1])),
            )
            for k in range(0, len(all_), 2)
        ]
    found = []
    for low, high, dead in pairs:
        own = (x >= low) & (x <= high) | (x + TWO_PI >= low) & (x + TWO_PI <= high) & periodic
        found.append(_branch(linkage, signs, float(low), float(high), dead, y[own]))
    return found, touching


def _branch(
    linkage: Linkage,
    signs: Array,
    low: float,
    high: float,
    dead: tuple[bool, bool],
    margins: Array,
) -> Branch:
    """Return a branch, with the dyads whose margins vanish at its ends."""
    ends = np.array([low, high])
    inner = ends + np.array([1.0, -1.0]) * 1e-9 * (high - low)
    near = linkage.positions(inner, modes=signs, coordinates=False).margins
    which = [int(np.nanargmin(m)) if at_end else None for m, at_end in zip(near, dead)]
    smallest = 0.0 if any(dead) else float(max(margins.min(initial=1.0), 0.0))
    return Branch(tuple(int(s) for s in signs), low, high, which[0], which[1], smallest)


def _with_extrema(
    margin: Callable[[Array], Array], x: Array, y: Array, periodic: bool
) -> tuple[Array, Array]:
    """Return samples to which the extrema of the margin near zero are added, by golden sections, so
    that a short gap or a short branch between two samples is seen.
    """
    inner = np.arange(1, len(x) - 1)
    low = (y[inner] <= y[inner - 1]) & (y[inner] <= y[inner + 1]) & (y[inner] >= 0.0)
    high = (y[inner] >= y[inner - 1]) & (y[inner] >= y[inner + 1]) & (y[inner] < 0.0)
    at = inner[low | high]
    if not len(at):
        return x, y
    sign = np.where(y[at] < 0.0, -1.0, 1.0)
    a, b = x[at - 1], x[at + 1]
    for _ in range(GOLDEN_STEPS):
        c, d = b - GOLDEN * (b - a), a + GOLDEN * (b - a)
        left = sign * margin(c) < sign * margin(d)
        a, b = np.where(left, a, c), np.where(left, d, b)
    extra = 0.5 * (a + b)
    x, y = np.concatenate([x, extra]), np.concatenate([y, margin(extra)])
    order = np.argsort(x, kind="stable")
    return x[order], y[order]


def _bisected(
    margin: Callable[[Array], Array], a: Array, b: Array, inside_at_a: NDArray[np.bool_]
) -> Array:
    """Return the values between a and b at which the margin changes its sign, from the assembled
    side.
    """
    inner, outer = np.where(inside_at_a, a, b), np.where(inside_at_a, b, a)
    for _ in range(BISECTIONS):
        middle = 0.5 * (inner + outer)
        inside = margin(middle) >= 0.0
        inner, outer = np.where(inside, middle, inner), np.where(inside, outer, middle)
    return inner


def _flipped(signs: tuple[int, ...], dyad: int) -> tuple[int, ...]:
    return tuple(-s if k == dyad else s for k, s in enumerate(signs))


def _same_place(x: float, y: float) -> bool:
    return abs(np.mod(x - y + np.pi, TWO_PI) - np.pi) < 1e-6


def _meets(a: Branch, b: Branch, upper: bool) -> bool:
    """Whether two branches pass into each other at their upper or lower ends."""
    dyad, other = (a.upper_dyad, b.upper_dyad) if upper else (a.lower_dyad, b.lower_dyad)
    at, there = (a.upper, b.upper) if upper else (a.lower, b.lower)
    return (
        dyad is not None
        and dyad == other
        and b.signs == _flipped(a.signs, dyad)
        and _same_place(at, there)
    )


def _next(left: list[Branch], branch: Branch, forward: bool) -> Branch | None:
    """Return the branch that follows at its upper (forward) or lower end."""
    return next((b for b in left if _meets(branch, b, forward)), None)


def _connected(branches: list[Branch]) -> tuple[Branch, ...]:
    """Return the branches with the index of the circuit of each."""
    label = list(range(len(branches)))
    for i, a in enumerate(branches):
        for k in range(i):
            if _meets(a, branches[k], True) or _meets(a, branches[k], False):
                old, new = label[i], label[k]
                label = [new if x == old else x for x in label]
    order = list(dict.fromkeys(label))
    return tuple(replace(b, circuit=order.index(x)) for b, x in zip(branches, label))
