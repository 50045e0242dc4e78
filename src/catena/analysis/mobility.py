"""Mobility: degrees of freedom, redundant constraint rows, and what motors can drive.

The number of degrees of freedom is nv - rank A, with the constraint Jacobian A where the loops are
closed. Gruebler's formula, which counts rows, is wrong for every planar loop in space and for
Bricard's mechanism; the rank is not.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from ..errors import ClosureError
from ..kernels import EXACT
from ..machine import (
    Machine,
    Metric,
    Rows,
    all_speeds_of,
    is_batch,
    machine_of,
    metric,
    openings,
    position_count,
    rows_at,
    spaces,
    state,
    states,
)
from ..model import Mechanism
from ..registry import loaded
from .assembly import assemble, closed, gauss_newton
from .closure_search import CLOSED
from .mobility_in_lanes import NEARBY_DISTANCE, NEARBY_SAMPLES, STUCK_SPEED_RATIO, mobilities

Array = np.ndarray
# A smallest singular value below this, relative to the largest, is reported as near singular.
NEAR_SINGULAR_RATIO = 1e-4


@dataclass(frozen=True)
class Mobility:
    """How a mechanism can move at one configuration.

    Attributes
    ----------
    name : str
        The name of the mechanism.
    coordinates : int
        The number of speeds, nv.
    rows, speed_rows, tied_rows : int
        The number of constraint rows; how many of these are rows of speeds (rolling, knife edges),
        and how many are rows of constraints (gears, cams, expressions). The others are of loops.
    rank : int
        The rank of the constraint Jacobian A.
    redundant : tuple of (joint, direction)
        Rows that depend on others; one choice where several are possible.
    singular : bool
        Whether the rank is lower here than at nearby configurations.
    condition : float
        The smallest singular value of A that is not zero, relative to the largest.
    stuck : tuple of str
        Speeds that are zero in every motion that this configuration allows.
    actuated : tuple of str or None
        Speeds with a motor; None if motors were not given.
    held : int
        How many of the degrees of freedom the motors can drive.
    nearby : int or None
        The degrees of freedom at nearby configurations; fewer than here at a singular one. None if
        they were not computed.
    """

    name: str
    coordinates: int
    rows: int
    speed_rows: int
    rank: int
    redundant: tuple[tuple[str, str], ...]
    singular: bool
    condition: float
    stuck: tuple[str, ...]
    actuated: tuple[str, ...] | None
    held: int
    tied_rows: int = 0
    nearby: int | None = None

    @property
    def degrees_of_freedom(self) -> int:
        """The number of independent speeds at this configuration: nv less the rank of A."""
        return self.coordinates - self.rank

    @property
    def underactuated(self) -> int:
        """The number of degrees of freedom that no motor drives; 0 if motors are not given."""
        return self.degrees_of_freedom - self.held

    @property
    def overactuated(self) -> int:
        """The number of motors beyond those needed, which can load the mechanism without moving it;
        0 if motors are not given.
        """
        return 0 if self.actuated is None else len(self.actuated) - self.held

    def _repr_html_(self) -> str:
        return str(loaded("catena.results.notebook:plain")(self))

    def __str__(self) -> str:
        plural = "" if self.degrees_of_freedom == 1 else "s"
        nearby = f" here, {self.nearby} nearby" if self.singular and self.nearby is not None else ""
        lines = [f"{self.name}: {self.degrees_of_freedom} degree{plural} of freedom{nearby}"]
        lines.append(f"  {self.coordinates} speeds, {self._rows()}")
        if self.redundant:
            lines.append(
                f"  {len(self.redundant)} redundant row{'s' if len(self.redundant) > 1 else ''}:"
            )
            lines += [f"    {joint}: {direction}" for joint, direction in self.redundant]
        if self.singular:
            lines.append(
                "  singular here: nearby the rows have a higher rank, so branches of motion meet"
            )
        elif self.condition < NEAR_SINGULAR_RATIO:
            lines.append(
                f"  near a singular configuration: smallest singular value {self.condition:.2g} of"
                " the largest"
            )
        if self.stuck:
            lines.append(f"  cannot move in this configuration: {', '.join(self.stuck)}")
        if self.actuated is not None:
            lines.append(f"  {_counted(len(self.actuated), 'motor')}: {self._motors()}")
        return "\n".join(lines)

    def _rows(self) -> str:
        counts = {
            "of loops": self.rows - self.speed_rows - self.tied_rows,
            "of constraints": self.tied_rows,
            "of speeds": self.speed_rows,
        }
        parts = " and ".join(f"{n} {what}" for what, n in counts.items() if n)
        if not parts:
            return "no constraint rows"
        independent = (
            "which is independent"
            if self.rows == self.rank == 1
            else f"{self.rank} of them independent"
        )
        return f"{_counted(self.rows, 'constraint row')} ({parts}), {independent}"

    def _motors(self) -> str:
        words = []
        if self.underactuated:
            words.append(f"underactuated, {self.underactuated} degree(s) of freedom have none")
        if self.overactuated:
            words.append(f"overactuated by {self.overactuated}")
        return ", ".join(words) or "one for each degree of freedom"


@dataclass(frozen=True)
class Mobilities:
    """How a mechanism can move at many configurations.

    The attributes are those of `Mobility`, with one value per configuration: rank, singular,
    condition, held and nearby (...,); redundant (..., rows) and stuck (..., nv) are booleans, in
    the order of `row_names` and of `speed_names`. q (..., nq) holds the configurations, after
    assembly. `result[index]` is the Mobility of one configuration.
    """

    name: str
    q: Array
    row_names: tuple[tuple[str, str], ...]
    speed_names: tuple[str, ...]
    speed_rows: int
    tied_rows: int
    rank: Array
    redundant: Array
    singular: Array
    condition: Array
    stuck: Array
    actuated: tuple[str, ...] | None
    held: Array
    nearby: Array

    @property
    def degrees_of_freedom(self) -> Array:
        """The number (...,) of independent speeds at each configuration."""
        return len(self.speed_names) - self.rank

    def __len__(self) -> int:
        return len(self.rank)

    def __getitem__(self, index: Any) -> Mobility:
        """Return the Mobility of one configuration."""
        redundant = tuple(
            name for name, on in zip(self.row_names, self.redundant[index], strict=True) if on
        )
        stuck = tuple(
            name for name, on in zip(self.speed_names, self.stuck[index], strict=True) if on
        )
        return Mobility(
            self.name,
            len(self.speed_names),
            len(self.row_names),
            self.speed_rows,
            int(self.rank[index]),
            redundant,
            bool(self.singular[index]),
            float(self.condition[index]),
            stuck,
            self.actuated,
            int(self.held[index]),
            self.tied_rows,
            int(self.nearby[index]),
        )

    def __str__(self) -> str:
        values, counts = np.unique(self.degrees_of_freedom, return_counts=True)
        parts = ", ".join(
            f"{_counted(d, 'degree')} of freedom at {n}"
            for d, n in zip(values.tolist(), counts.tolist())
        )
        return (
            f"{self.name}, {_counted(self.rank.size, 'configuration')}: {parts}; singular at"
            f" {int(self.singular.sum())}"
        )


@overload
def mobility(
    m: Mechanism | Machine, q: None = None, actuated: Iterable[str] | None = None
) -> Mobility: ...
@overload
def mobility(
    m: Mechanism | Machine, q: ArrayLike, actuated: Iterable[str] | None = None
) -> Any: ...
def mobility(
    m: Mechanism | Machine, q: ArrayLike | None = None, actuated: Iterable[str] | None = None
) -> Mobility | Mobilities:
    """Return the degrees of freedom at a configuration, redundant rows, and what motors can drive.

    Parameters
    ----------
    m : Mechanism or Machine
        The mechanism, or the machine compiled from it.
    q : array (nq,) or (..., nq), optional
        Coordinates, rad or m; by default zero. If they leave a loop open, they are the guess from
        which the mechanism is assembled first.
    actuated : iterable of str, optional
        Joints or coordinates that have a motor. If omitted, the result says nothing about motors.

    Returns
    -------
    Mobility or Mobilities
        Mobilities if `q` has leading dimensions: all configurations are computed at once, in lanes.

    Raises
    ------
    ClosureError
        If the mechanism cannot be assembled.

    Examples
    --------
    >>> import catena
    >>> found = catena.mobility(catena.load("four_bar"))
    >>> found.degrees_of_freedom, found.rows, found.rank, len(found.redundant)
    (1, 5, 2, 3)
    """
    machine = machine_of(m)
    motors = list(range(machine.nv)) if actuated is None else all_speeds_of(machine, actuated)
    if is_batch("mobility", q=q):
        return _batch(machine, q, motors, actuated is not None)
    (q,) = state(machine, "mobility", q=q)
    everything = list(range(machine.nv))
    if openings(machine, rows_at(machine, q)).max(initial=0.0) > CLOSED:
        q = closed(machine, q, everything)
    rows = rows_at(machine, q)
    by = metric(machine, acting=False)
    rank, T, _, values, _ = spaces(rows.A, by)
    # of order one, independent of units
    ways = np.linalg.qr(T / np.sqrt(by.column)[:, None])[0] if T.size else T
    held = (
        int(np.linalg.matrix_rank(ways[motors], tol=STUCK_SPEED_RATIO)) if T.size and motors else 0
    )
    still = [
        name
        for k, name in enumerate(machine.speed_names)
        if np.abs(ways[k]).max(initial=0.0) < STUCK_SPEED_RATIO
    ]
    highest = max(rank, highest_rank(machine, q, T))
    return Mobility(
        machine.mechanism.name,
        machine.nv,
        len(rows.names),
        len(machine.rows) - position_count(machine),
        rank,
        redundant(rows, by),
        highest > rank,
        float(values[rank - 1] / values[0]) if rank else 1.0,
        tuple(still),
        None if actuated is None else tuple(machine.speed_names[k] for k in motors),
        held,
        sum(len(x.labels) for x in machine.mechanism.constraints),
        machine.nv - highest,
    )


def other_assemblies(machine: Machine, count: int = 8) -> set[int]:
    """Return the numbers of degrees of freedom that occur at regular configurations assembled from
    `count` random starts. There is more than one number if the mechanism can be assembled in ways
    that move differently.
    """
    if not machine.mechanism.constrained:
        return {machine.nv}
    q = machine.sample(np.random.default_rng(3), count)
    try:
        q, _ = assemble(machine, q)
    except ClosureError as error:
        q = np.delete(np.asarray(error.q), list(error.failed), axis=0)
    if not len(q):
        return set()
    found = mobilities(machine, q, [])
    return set(found["nearby"].tolist())


def _batch(machine: Machine, q: Any, motors: list[int], motors_given: bool) -> Mobilities:
    """Return the Mobilities of many configurations; without motors unless `motors_given`."""
    q, _, _, lead = states(machine, "mobility", q, None, None)
    if machine.rows:
        q = _assembled(machine, q)
    found = {
        name: x.reshape(*lead, *x.shape[1:]) for name, x in mobilities(machine, q, motors).items()
    }
    return Mobilities(
        machine.mechanism.name,
        q.reshape(*lead, -1),
        tuple(rows_at(machine, q[0]).names),
        machine.speed_names,
        len(machine.rows) - position_count(machine),
        sum(len(x.labels) for x in machine.mechanism.constraints),
        actuated=tuple(machine.speed_names[k] for k in motors) if motors_given else None,
        **found,
    )


def _assembled(machine: Machine, q: Array) -> Array:
    """Return the configurations (n, nq), with those that leave a loop open assembled."""
    error, _, _, A = machine.constraint_rows(q, np.zeros((len(q), machine.nv)))
    apart = np.abs(metric(machine).relative(error, A)).max(axis=1, initial=0.0) > CLOSED
    return np.where(apart[:, None], assemble(machine, q)[0], q) if apart.any() else q


def _counted(n: int, what: str) -> str:
    """Return a number and its noun, in the plural unless the number is one."""
    return f"{n} {what}{'' if n == 1 else 's'}"


def redundant(rows: Rows, by: Metric) -> tuple[tuple[str, str], ...]:
    """Return the names of the rows that depend on the rows before them (Gram-Schmidt, in the order
    of the rows).
    """
    basis: list[Array] = []
    found = []
    for name, row in zip(rows.names, by.scaled(rows.A)):
        left = row.copy()
        for _ in range(2):  # two passes are enough
            for b in basis:
                left -= (b @ left) * b
        size = np.linalg.norm(left)
        if size > 10 * EXACT:
            basis.append(left / size)
        else:
            found.append(name)
    return tuple(found)


def highest_rank(machine: Machine, q: Array, T: Array) -> int:
    """Return the highest rank of the constraint Jacobian A at configurations near q with closed
    loops. They are reached by small random motions in the basis T (nv, d) of the motions that the
    rows allow at q.
    """
    if not T.shape[1] or not machine.rows:
        return 0
    rng = np.random.default_rng(2)
    best = 0
    everything = list(range(machine.nv))
    unit = np.sqrt(metric(machine).column)
    for _ in range(NEARBY_SAMPLES):
        way = T @ rng.standard_normal(T.shape[1])
        near = gauss_newton(
            machine, machine.move(q, NEARBY_DISTANCE * way / np.linalg.norm(way / unit)), everything
        )
        rows = rows_at(machine, near)
        if openings(machine, rows).max(initial=0.0) < CLOSED:
            best = max(best, spaces(rows.A, metric(machine, acting=False)).rank)
    return best
