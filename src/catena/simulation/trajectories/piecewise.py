"""Piecewise trajectories: polynomials and sines of time, evaluated on arrays or traced into
machine code.

    q_j(t) = sum_k c_ijk s^k + A_ij sin(w_ij s + f_ij),      s = t - o_ij,      in piece i

Before its first time and after its last a trajectory continues at the speed it has there; one that
ends at rest stays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ...errors import StateError, UnknownNameError
from ...machine import Coordinate, Machine, coordinates, machine_of, where
from ...model import Mechanism

Array = np.ndarray
Values = Mapping[str, ArrayLike]  # {coordinate: its values}


@dataclass(frozen=True)
class Trajectory:
    """Coordinates over time: m pieces of n coordinates. A call with times (...) returns q, v, a,
    each (..., n).

    Parameters
    ----------
    names : tuple of str
        The n coordinates, or speeds where the trajectory is a table of forces.
    breaks : array, shape (m - 1,)
        The times at which one piece ends and the next begins, s.
    origins : array, shape (m, n)
        The time origin o of each piece and coordinate, s.
    powers : array, shape (m, n, K)
        The polynomial coefficients c_k, unit of the coordinate per s^k.
    waves : array, shape (m, n, 3)
        Amplitude (unit of the coordinate), angular frequency (rad/s) and phase (rad).

    Examples
    --------
    >>> from catena.trajectories import quintic
    >>> q, v, a = quintic([0.0, 2.0], {"elbow": [0.0, 1.0]})(1.0)
    >>> q.round(6).tolist(), v.round(6).tolist()
    ([0.5], [0.9375])
    """

    names: tuple[str, ...]
    breaks: Array
    origins: Array
    powers: Array
    waves: Array

    def __repr__(self) -> str:
        span = f"{self.breaks[0]:g} to {self.breaks[-1]:g} s" if len(self.breaks) else "always"
        return f"Trajectory({', '.join(self.names)}; {span}, {len(self.origins)} pieces)"

    # --- its two lives
    def __call__(self, t: ArrayLike) -> tuple[Array, Array, Array]:
        """Return q, v, a at times t.

        Parameters
        ----------
        t : array_like, shape (...)
            Times, s.

        Returns
        -------
        tuple of 3 arrays, shape (..., n)
            Positions (rad or m), speeds (per s) and accelerations (per s2).
        """
        t = np.asarray(t, float)
        i = np.searchsorted(self.breaks, t, side="right")
        s = t[..., None] - self.origins[i]
        found = _polynomial(np.moveaxis(self.powers[i], -1, 0), s)
        if self.waves.any():
            A, w, f = np.moveaxis(self.waves[i], -1, 0)
            found = tuple(x + y for x, y in zip(found, _wave(A, w, f, s, np)))
        return found

    def traced(self, t: ca.SX, until: ca.SX | None = None) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Return q, v, a (n,) as expressions of the symbol t. until: the end of the current piece
        (s), as a symbol; by default the current piece is found from t.
        """
        reached = [
            ca.SX(1.0),
            *(t >= b if until is None else until > b for b in self.breaks),
            ca.SX(0.0),
        ]
        # one in the piece that t is in, else zero
        here = ca.vertcat(*(a - b for a, b in pairwise(reached)))

        def pick(values: Array) -> ca.SX:
            same = np.all(values == values[:1], axis=0)
            chosen = ca.mtimes(here.T, ca.sparsify(ca.DM(np.where(same, 0.0, values)))).T
            return chosen + ca.DM(np.where(same, values[0], 0.0))

        columns = [self.origins[:, :, None], self.powers] + (
            [self.waves] if self.waves.any() else []
        )
        table = np.concatenate(columns, axis=2)
        return self.traced_piece(
            t, [pick(table[:, :, k]) for k in range(table.shape[2])], self.powers.shape[2]
        )

    def traced_piece(self, t: ca.SX, columns: list[ca.SX], K: int) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Return q, v, a (n,) of one piece as expressions of t.

        columns: vectors (n,): the origins, K powers, and the three columns of waves if there are
        any.
        """
        s = t - columns[0]
        found = _polynomial(columns[1 : 1 + K], s)
        if len(columns) > 1 + K:
            A, w, f = columns[1 + K :]
            found = tuple(x + y for x, y in zip(found, _wave(A, w, f, s, ca)))
        return tuple(ca.densify(x) for x in found)

    # --- against a mechanism
    def check(self, asked: Mechanism | Machine) -> tuple[Coordinate, ...]:
        """Return the places of the coordinates in q and v of a mechanism.

        Parameters
        ----------
        asked : Mechanism or Machine
            The mechanism.

        Returns
        -------
        tuple of Coordinate
            One record per name, with the indices of the coordinate in q and v.

        Raises
        ------
        UnknownNameError
            If the mechanism does not have a coordinate.
        """
        return places(asked, self.names)

    def along(
        self, asked: Mechanism | Machine, t: ArrayLike, q: ArrayLike | None = None
    ) -> tuple[Array, Array, Array]:
        """Return q, v, a of the whole mechanism at times t.

        Parameters
        ----------
        asked : Mechanism or Machine
            The mechanism.
        t : array_like, shape (...)
            Times, s.
        q : array_like, shape (nq,), or None, default None
            Where the other coordinates rest, rad or m; by default the neutral configuration.

        Returns
        -------
        tuple of 3 arrays
            q (..., nq), v (..., nv) and a (..., nv).

        Raises
        ------
        UnknownNameError
            If the mechanism does not have a coordinate of the trajectory.
        """
        machine = machine_of(asked)
        where_to = self.check(machine)
        qi = [c.qi for c in where_to]
        vi = [c.vi for c in where_to]
        moved = self(t)
        lead = moved[0].shape[:-1]
        rest = machine.neutral() if q is None else np.asarray(q, float)
        full = (
            np.broadcast_to(rest, (*lead, machine.nq)).copy(),
            np.zeros((*lead, machine.nv)),
            np.zeros((*lead, machine.nv)),
        )
        full[0][..., qi], full[1][..., vi], full[2][..., vi] = moved
        return full

    def jumps(self) -> list[str]:
        """Return a sentence for each knot at which a position or a speed jumps.

        No finite force makes a mechanism follow such a jump. A change counts as a jump where it
        exceeds 1e-9 (1 + |before| + |after|).
        """
        found = []
        for i, b in enumerate(self.breaks):
            before, after = (self._only(i + k)(b) for k in (0, 1))
            for what, x, y in (("place", before[0], after[0]), ("speed", before[1], after[1])):
                for j in np.flatnonzero(np.abs(y - x) > 1e-9 * (1.0 + np.abs(x) + np.abs(y))):
                    found.append(
                        f"the {what} of {self.names[j]!r} jumps from {x[j]:.6g} to {y[j]:.6g} at t"
                        f" = {b:g} s"
                    )
        return found

    # --- made from others
    def of(self, names: Sequence[str]) -> Trajectory:
        """Return the trajectory of some of the coordinates, in the order of `names`.

        Parameters
        ----------
        names : sequence of str
            The coordinates to keep.

        Returns
        -------
        Trajectory
            The same pieces of these coordinates.

        Raises
        ------
        UnknownNameError
            If the trajectory does not have a name.
        """
        for name in names:
            if name not in self.names:
                raise UnknownNameError("coordinate", name, self.names, "the trajectory")
        j = [self.names.index(name) for name in names]
        return Trajectory(
            tuple(names), self.breaks, self.origins[:, j], self.powers[:, j], self.waves[:, j]
        )

    def __or__(self, other: Trajectory) -> Trajectory:
        """Return two trajectories of different coordinates as one; raise StateError for a shared
        one.
        """
        return together([self, other])

    def _only(self, i: int) -> Trajectory:
        """Return the trajectory that is piece i at all times."""
        return Trajectory(
            self.names,
            np.zeros(0),
            self.origins[i : i + 1],
            self.powers[i : i + 1],
            self.waves[i : i + 1],
        )


def _polynomial(c: Any, s: Any) -> tuple[Any, Any, Any]:
    """Return the sum of c_k s^k and its two derivatives, by Horner's scheme."""
    q = v = a = 0.0 * s
    for k in reversed(range(len(c))):
        a = a * s + 2.0 * v
        v = v * s + q
        q = q * s + c[k]
    return q, v, a


def _wave(A: Any, w: Any, f: Any, s: Any, lib: Any) -> tuple[Any, Any, Any]:
    """Return A sin(w s + f) and its two derivatives; lib: numpy or casadi."""
    sine = lib.sin(w * s + f)
    cosine = lib.cos(w * s + f)
    return A * sine, A * w * cosine, -A * w**2 * sine


def places(asked: Mechanism | Machine, names: Sequence[str]) -> tuple[Coordinate, ...]:
    """Return the indices of coordinates in q and of their speeds in v; a name may be that of the
    coordinate or of its speed. Raises UnknownNameError for other names. The coordinates of
    quaternions have no trajectory, because their rates are not speeds.
    """
    known = {c.name: c for c in coordinates(asked)}
    found = {c.speed: c for c in known.values()} | known
    for name in names:
        if name not in found:
            raise UnknownNameError("coordinate", name, known, where(asked))
    return tuple(found[name] for name in names)


def together(parts: Sequence[Trajectory]) -> Trajectory:
    """Return several trajectories of different coordinates as one.

    Parameters
    ----------
    parts : sequence of Trajectory
        The trajectories.

    Returns
    -------
    Trajectory
        All coordinates in order, with the breaks of all parts.

    Raises
    ------
    StateError
        If a coordinate occurs twice.
    """
    names = [name for part in parts for name in part.names]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise StateError(
            f"a trajectory has one motion for each coordinate; {twice[0]!r} is given twice"
        )
    breaks = np.unique(np.concatenate([part.breaks for part in parts]))
    middles = 0.5 * (breaks[1:] + breaks[:-1])
    inside = (
        np.concatenate([breaks[:1] - 1.0, middles, breaks[-1:] + 1.0])
        if len(breaks)
        else np.zeros(1)
    )
    pieces = [np.searchsorted(part.breaks, inside, side="right") for part in parts]
    most = max(part.powers.shape[2] for part in parts)
    powers = [
        np.pad(part.powers[i], ((0, 0), (0, 0), (0, most - part.powers.shape[2])))
        for part, i in zip(parts, pieces)
    ]
    origins, waves = (
        [getattr(part, x)[i] for part, i in zip(parts, pieces)] for x in ("origins", "waves")
    )
    return Trajectory(
        tuple(names), breaks, *(np.concatenate(x, axis=1) for x in (origins, powers, waves))
    )


def trajectory(given: Any) -> Trajectory:
    """Return a Trajectory as it is, and {coordinate: number or Trajectory} as one trajectory.

    Raises StateError for anything else.
    """
    if isinstance(given, Trajectory):
        return given
    if not isinstance(given, Mapping) or not given:
        raise StateError(
            f"a trajectory is a Trajectory or {{coordinate: number or Trajectory}}, not {given!r}"
        )
    parts = []
    for name, x in given.items():
        if not isinstance(x, Trajectory):
            q = numbers("trajectory", name, x, 1)
            x = pieces((name,), np.zeros(0), np.zeros(1), q[None, :, None])
        elif len(x.names) == 1:
            x = Trajectory((name,), x.breaks, x.origins, x.powers, x.waves)
        parts.append(x.of([name]))
    return together(parts)


# --- making pieces
def from_scipy(names: tuple[str, ...], found: Any) -> Trajectory:
    """Return a piecewise polynomial of SciPy, x (m + 1,) and c (K, m, n), as a trajectory.

    Pieces of no length are left out.
    """
    real = np.flatnonzero(np.diff(found.x) > 0)
    t = np.append(found.x[real], found.x[-1])
    powers = np.moveaxis(found.c[::-1, real], 0, -1)
    q, v = found(t), found(t, 1)
    return closed(names, t, powers, None, q, v)


def closed(
    names: tuple[str, ...], t: Array, powers: Array, waves: Array | None, q: Array, v: Array
) -> Trajectory:
    """Return the trajectory of the pieces between the times t, with a piece of constant speed added
    before and after. q, v: positions and speeds at the times t; those at both ends define the added
    pieces.
    """
    before, after = (np.stack([q[k], v[k]], axis=-1)[None] for k in (0, -1))
    most = max(2, powers.shape[2])
    powers = np.concatenate(
        [np.pad(x, ((0, 0), (0, 0), (0, most - x.shape[2]))) for x in (before, powers, after)]
    )
    waves = None if waves is None else np.pad(waves, ((1, 1), (0, 0), (0, 0)))
    # the last time belongs to the last piece
    breaks = np.append(t[:-1], np.nextafter(t[-1], np.inf))
    return pieces(names, breaks, np.append(t[0], t), powers, waves)


def pieces(
    names: tuple[str, ...], breaks: Array, origins: Array, powers: Array, waves: Array | None = None
) -> Trajectory:
    """Return a trajectory whose pieces have one origin (m,) each for all coordinates. If `waves` is
    not given, there are no sines.
    """
    wide = np.repeat(origins[:, None], len(names), axis=1)
    return Trajectory(
        names, breaks, wide, powers, np.zeros((*wide.shape, 3)) if waves is None else waves
    )


def rising(kind: str, times: ArrayLike, positions: Values) -> tuple[Array, Array]:
    """Return the times (m,) and the positions (m, n) as arrays; raise StateError where times do not
    increase or numbers are missing. kind: the name of the trajectory, for the message.
    """
    t = np.asarray(times, float)
    if t.ndim != 1 or len(t) < 2 or not np.isfinite(t).all():
        raise StateError(f"{kind}: times are at least two finite numbers (s); found {times!r}")
    if len(falls := np.flatnonzero(np.diff(t) <= 0)):
        k = int(falls[0])
        raise StateError(
            f"{kind}: times rise; found {t[k]:g} s and then {t[k + 1]:g} s, in places {k} and"
            f" {k + 1}"
        )
    if not positions:
        raise StateError(
            f"{kind}: no coordinate is given; positions are {{coordinate: one value per time}}"
        )
    return t, np.stack([numbers(kind, name, x, len(t)) for name, x in positions.items()], axis=-1)


def numbers(kind: str, name: str, given: ArrayLike, count: int) -> Array:
    """Return `count` finite numbers as an array; one number is repeated. Raise StateError
    otherwise.
    """
    try:
        x = np.asarray(given, float)
    except (TypeError, ValueError):
        x = np.full(1, np.nan)
    if x.ndim == 0:
        x = np.full(count, x)
    if x.shape != (count,) or not np.isfinite(x).all():
        raise StateError(
            f"{kind}: {name!r} is given {given!r}; it takes {count} finite"
            f" number{'s' if count > 1 else ''}"
        )
    return x
