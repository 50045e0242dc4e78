"""The checked request for an optimal design: its poses, its unknowns, and first guesses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import StudyError, unknown
from ..machine import Machine
from ..model import Mechanism
from ..sensitivity import planned
from ..studies import vary
from .loop_rows import assemble_in_turn
from .motion_problem import actuated_speeds, design_range

Array = NDArray[np.float64]


@dataclass(frozen=True)
class PoseProblem:
    """A request for an optimal design.

    names, places, ranges: of the unknown parameters: names, indices in p (all parameters), lowest
    and highest values. q (K, nq): a guess of the poses. which: the indices of the coordinates that
    are given; loose: those of them whose values are guesses. rates: {speed: value}, None at rest.
    points: {frame: (K, 2) or (K, 3)}. actuated: the speeds whose forces are free.
    """

    machine: Machine
    names: list[str]
    places: list[int]
    ranges: tuple[Array, Array]
    p: Array
    q: Array
    which: list[int]
    loose: list[int]
    rates: dict[int, float] | None
    points: dict[str, Array]
    actuated: list[int]

    @staticmethod
    def of(
        model: Mechanism,
        q: Any,
        over: Mapping[str, Any],
        points: Mapping[str, Any],
        speeds: Mapping[str, float],
        free: list[str],
        actuated: Any,
        design: Mapping[str, tuple[float, float]],
        parameters: Any,
    ) -> PoseProblem:
        """Return the checked request; raise StudyError with every fault."""
        if not design:
            raise StudyError(
                "optimize: over poses something must be unknown: design = {parameter: (low, high)}"
            )
        varied = vary(model, None, design)
        plan = planned(
            varied.mechanism,
            q,
            None,
            1.0,
            {
                "parameters": parameters,
                "integrator": "dop853",
                "contact": "ignore",
                "limits": "ignore",
                "friction": "smooth",
            },
        )
        machine, p = plan.machine, plan.p[0]
        values = {name: np.atleast_1d(np.asarray(x, float)) for name, x in over.items()}
        goals = {name: np.asarray(x, float) for name, x in points.items()}
        if faults := _faults(machine, values, goals, speeds, free):
            raise StudyError(f"optimize: the design of {model.name!r} cannot be as asked:", faults)
        names = list(machine.coordinate_names)
        which = [names.index(name) for name in values]
        ranges = np.array([design_range(x.name, x.goes, design) for x in varied.variables])
        poses, _ = assemble_in_turn(
            machine, plan.x0[0, : machine.nq], p, which, np.stack(list(values.values()), axis=1)
        )
        speed_of = {c.qi: c.vi for c in machine.spec.layout.coordinates}
        rates = {speed_of[k]: float(speeds.get(names[k], 0.0)) for k in which} if speeds else None
        return PoseProblem(
            machine,
            [x.name for x in varied.variables],
            [x.place for x in varied.variables],
            (ranges[:, 0], ranges[:, 1]),
            p,
            poses,
            which,
            [names.index(n) for n in free],
            rates,
            goals,
            actuated_speeds(machine, actuated),
        )

    def unknowns(self, own: int) -> tuple[Array, Array, Array]:
        """Return the guess, the lowest and the highest values of all unknowns.

        They are `own` unknowns of each pose, q, v, a first, then the parameters.
        """
        machine, K = self.machine, len(self.q)
        nq, nv = machine.nq, machine.nv
        z = np.zeros((K, own))
        low = np.full((K, own), -np.inf)
        high = np.full((K, own), np.inf)
        z[:, :nq] = self.q
        fixed = [
            k for k in range(nq) if (k in self.which or not machine.rows) and k not in self.loose
        ]
        low[:, fixed] = high[:, fixed] = self.q[:, fixed]
        if self.rates is not None:
            moved = self.rates if machine.rows else {k: self.rates.get(k, 0.0) for k in range(nv)}
            for k, value in moved.items():
                z[:, nq + k] = low[:, nq + k] = high[:, nq + k] = value
                low[:, nq + nv + k] = high[:, nq + nv + k] = 0.0
        w = np.clip(self.p[self.places], *self.ranges)
        return np.append(z, w), np.append(low, self.ranges[0]), np.append(high, self.ranges[1])

    def pose(self, k: int) -> str:
        """Return the given coordinates of pose k as text."""
        return ", ".join(
            f"{self.machine.coordinate_names[c]} = {self.q[k, c]:.4g}" for c in self.which
        )


def _faults(
    machine: Machine,
    over: Mapping[str, Array],
    points: Mapping[str, Array],
    speeds: Mapping[str, float],
    free: list[str],
) -> list[str]:
    """Return a sentence for each name that does not exist and each array of a wrong shape."""
    m = machine.mechanism
    names = list(m.coordinate_names)
    frames = [*(f.name for f in m.frames), *(b.name for b in m.bodies)]
    faults = [
        f"{what}: {unknown('coordinate', name, names, f'mechanism {m.name!r}')}"
        for what, given in (("over", over), ("speeds", speeds), ("free", free))
        for name in given
        if name not in names
    ]
    faults += [
        f"{what}: {name!r} is not among the coordinates of over, which are: {', '.join(over)}"
        for what, given in (("speeds", speeds), ("free", free))
        for name in given
        if name in names and name not in over
    ]
    faults += [
        f"points: {unknown('frame', name, frames, f'mechanism {m.name!r}')}"
        for name in points
        if name not in frames
    ]
    faults += [
        f"points: {name!r} has the shape {x.shape}; it is (poses, 2) or (poses, 3)"
        for name, x in points.items()
        if x.ndim != 2 or x.shape[1] not in (2, 3)
    ]
    counts = {name: len(x) for name, x in {**over, **points}.items()}
    if len(set(counts.values())) != 1:
        faults.append(
            "over and points: every pose has one value of each; found"
            f" {', '.join(f'{n} of {name}' for name, n in counts.items())}"
        )
    return faults
