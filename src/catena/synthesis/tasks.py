"""Tasks of dimensional synthesis: a registry. Each task finds linkages, with the crank angles at
which they reach its precision positions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import QuestionError
from ..registry import Registry
from .burmester import Dyad, dyads, poses_array
from .defects import Limits
from .five_points import four_bars_through
from .four_bar import FourBar, grashof_type
from .freudenstein import function_generators
from .path_fit import fit_path

Array = NDArray[np.float64]
ANY = Limits()
MAX_PATH_CANDIDATES = 40
MAX_PAIRS = 150  # pairs of dyads that are examined; the others have defects or are larger


@dataclass(frozen=True)
class Proposal:
    """A linkage for a task: crank angles (n,) and signs (n,) at the positions, and the error.
    error: the root mean square of the remaining errors, in the unit of the task (m or rad).
    """

    four_bar: FourBar
    angles: Array
    signs: NDArray[Any]
    error: float


@dataclass(frozen=True)
class Task:
    """A kind of task. keys: its values by name, each with one line; the first `required` must be
    given. propose(limits=..., **values) yields the linkages. unit: of the error. extent(values): a
    length that is typical for the task, m.
    """

    name: str
    doc: str
    keys: dict[str, str]
    unit: str
    propose: Callable[..., Iterator[Proposal]]
    extent: Callable[[Mapping[str, Any]], float]
    required: int = 1


TASKS: Registry[Task] = Registry("task of synthesis", error=QuestionError)
register = TASKS.register


def _extent(positions: Any) -> float:
    """Return the larger side (m) of the box around positions whose first columns are x and y."""
    p = np.asarray(positions, float)
    return float(np.ptp(p[:, :2], axis=0).max()) if p.ndim == 2 and len(p) else 1.0


def _angle(x: Any) -> Any:
    return np.mod(x + np.pi, 2 * np.pi) - np.pi


def function_proposals(
    inputs: ArrayLike, outputs: ArrayLike, ground: float = 1.0, limits: Limits = ANY
) -> Iterator[Proposal]:
    """Yield the four-bars of Freudenstein's equation. The sign of each position is the one whose
    rocker angle is nearest.
    """
    phi, psi = np.asarray(inputs, float), np.asarray(outputs, float)
    for four_bar, phi_0, psi_0 in function_generators(phi, psi, ground):
        angles = _angle(phi + phi_0)
        miss = np.array(
            [
                np.abs(_angle(four_bar.with_sign(s).rocker_angles(angles) - psi - psi_0))
                for s in (1, -1)
            ]
        )
        miss = np.where(np.isfinite(miss), miss, np.inf)
        signs = np.where(miss[0] <= miss[1], 1, -1)
        error = float(np.sqrt((miss.min(axis=0) ** 2).mean()))
        yield Proposal(four_bar.with_sign(int(signs[0])), angles, signs, error)


def motion_proposals(
    poses: ArrayLike, samples: int = 60, limits: Limits = ANY
) -> Iterator[Proposal]:
    """Yield the four-bars made of two dyads that guide the body; either may be the crank. The
    coupler point is the origin of the body.
    """
    P = poses_array(poses)
    pairs = [
        (key, *pair)
        for pair in permutations(dyads(P, samples), 2)
        if (key := _pair_key(*pair, P, limits)) is not None
    ]
    pairs.sort(key=lambda found: found[0])
    for _, crank, rocker in pairs[:MAX_PAIRS]:
        yield guided(crank, rocker, P)


def _signs(crank: Dyad, rocker: Dyad, poses: Array) -> tuple[Array, Array]:
    """Return the crank angles (n,) and signs (n,) of the four-bar of two dyads at the poses."""
    d, turn = poses[:, 0] + 1j * poses[:, 1], np.exp(1j * poses[:, 2])
    A, B = d + turn * crank.point, d + turn * rocker.point
    signs = np.where(((B - A) * np.conj(rocker.centre - A)).imag > 0, 1, -1)
    return np.angle(A - crank.centre), signs


def _pair_key(crank: Dyad, rocker: Dyad, poses: Array, limits: Limits) -> tuple[int, float] | None:
    """Return the sort key of a pair of dyads, before pairs are examined: defects that are found at
    once, and the length of the longest link. None where a link has no length.
    """
    lengths = (
        abs(rocker.centre - crank.centre),
        crank.length,
        abs(rocker.point - crank.point),
        rocker.length,
    )
    if min(lengths) < 1e-6 * max(lengths):
        return None
    _, signs = _signs(crank, rocker, poses)
    turning = grashof_type(*lengths) in ("crank-rocker", "double-crank")
    faults = int((signs != signs[0]).any()) + int(limits.full_turn and not turning)
    size = max(*lengths, abs(crank.point), abs(rocker.point))
    return faults + int(limits.size is not None and size > limits.size), size


def guided(crank: Dyad, rocker: Dyad, poses: Array) -> Proposal:
    """Return the four-bar of two dyads, whose coupler point is the origin of the body."""
    angles, signs = _signs(crank, rocker, poses)
    side = rocker.point - crank.point
    four_bar = FourBar(
        crank.centre,
        rocker.centre,
        crank.length,
        abs(side),
        rocker.length,
        -crank.point * abs(side) / side,
        int(signs[0]),
    )
    at = four_bar.linkage.positions(angles, modes=signs[:, None], coordinates=False)
    miss = np.linalg.norm(at.points[:, 0, :2] - poses[:, :2], axis=1)
    miss = np.where(np.isfinite(miss), miss, np.inf)
    return Proposal(four_bar, angles, signs, float(np.sqrt((miss**2).mean())))


def path_proposals(
    points: ArrayLike,
    timing: ArrayLike | None = None,
    starts: int = 500,
    seed: int = 0,
    limits: Limits = ANY,
) -> Iterator[Proposal]:
    """Yield the best four-bars whose coupler point passes the points."""
    for fit in fit_path(points, starts, seed, timing, limits.size)[:MAX_PATH_CANDIDATES]:
        signs = np.full(len(fit.angles), fit.four_bar.sign)
        yield Proposal(fit.four_bar, _angle(fit.angles), signs, fit.error)


def five_point_proposals(
    points: ArrayLike, pivot: ArrayLike, second_pivot: ArrayLike, limits: Limits = ANY
) -> Iterator[Proposal]:
    """Yield all four-bars with given pivots whose coupler point passes five points."""
    w = np.asarray(points, float) @ np.array([1.0, 1j])
    ends = [_place(name, x) for name, x in (("pivot", pivot), ("second_pivot", second_pivot))]
    for four_bar, angles, signs in four_bars_through(points, *ends):
        at = four_bar.linkage.positions(angles, modes=signs[:, None], coordinates=False)
        miss = np.abs(at.points[:, 0, :2] @ np.array([1.0, 1j]) - w)
        miss = np.where(np.isfinite(miss), miss, np.inf)
        yield Proposal(four_bar, angles, signs, float(np.sqrt((miss**2).mean())))


def _place(name: str, x: ArrayLike) -> complex:
    p = np.asarray(x, float)
    if p.shape != (2,) or not np.isfinite(p).all():
        raise QuestionError(f"five points: {name} is {x!r}; it is x, y (m)")
    return complex(p[0], p[1])


for _task in (
    Task(
        "function",
        "the rocker takes given angles at given angles of the crank",
        {
            "inputs": "angles of the crank, three to five, rad",
            "outputs": "angles of the rocker, as many, rad",
            "ground": "distance of the pivots, m (default 1)",
        },
        "rad",
        function_proposals,
        lambda values: float(values.get("ground", 1.0)),
        2,
    ),
    Task(
        "motion",
        "the coupler takes given poses",
        {
            "poses": "four or five rows x, y, angle: m, m, rad",
            "samples": "cuts of Burmester's curve for four poses (default 60)",
        },
        "m",
        motion_proposals,
        lambda values: _extent(values["poses"]),
    ),
    Task(
        "path",
        "a point of the coupler passes given points",
        {
            "points": "rows x, y, m, in the order of the path",
            "timing": "crank angles at the points relative to the first, rad (default free)",
            "starts": "linkages from which the search begins (default 500)",
            "seed": "of the random numbers (default 0)",
        },
        "m",
        path_proposals,
        lambda values: _extent(values["points"]),
    ),
    Task(
        "five points",
        "a point of the coupler passes five points, with given pivots",
        {
            "points": "five rows x, y, m",
            "pivot": "x, y of the crank's pivot, m",
            "second_pivot": "x, y of the rocker's pivot, m",
        },
        "m",
        five_point_proposals,
        lambda values: _extent([*values["points"], values["pivot"], values["second_pivot"]]),
        3,
    ),
):
    register(_task)
