"""Spec: the mechanism and the options of a machine, from which both backends, generic and lanes,
are built.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from ..compiler import Springs, Tracer, inertial_bodies, springs, structure
from ..kernels import BALL, SNAP, Layout, layout, row_names, usual_length
from ..model import GROUND, Mechanism, value_of
from .parameter_check import ParameterCheck

# Speeds below this, relative to those of a fall through the mechanism's length, are rest: they
# change forces by their square relative to the weights, which is rounding.
RESTING_SPEED_RATIO = 1e-6

# a function of a Tracer (and a frame, and axes) that returns one expression or a tuple of them
Trace = Callable[..., Any]


class Sizes(NamedTuple):
    """The numbers that the shapes of quantities depend on.

    nq, nv: coordinates and speeds. rows: constraint rows; loop_rows: those of loops among them;
    every_row: all, those that can never act included. joints: joints of the tree, fixed ones
    included, one per body; all_joints: those of loops included. parameters: of the mechanism.
    inertial: inertial parameters, ten for each body that has columns in the regressor.
    """

    nq: int
    nv: int
    rows: int
    loop_rows: int
    joints: int
    parameters: int
    every_row: int
    all_joints: int
    inertial: int


@dataclass(frozen=True, eq=False)
class Spec:
    """A mechanism and the options with which it is compiled.

    threads, snap, life: as in `compile`. traces: {name: expression} of quantities that have
    expressions other than those of the recursive kernels, such as a formulation's equations.
    """

    mechanism: Mechanism
    threads: int = 1
    snap: float = SNAP
    life: str = "auto"
    traces: Mapping[str, Trace] = field(default_factory=dict)

    @cached_property
    def layout(self) -> Layout:
        """The layout of the mechanism: the places of its coordinates and speeds in q and v."""
        return layout(self.mechanism)

    @cached_property
    def structure(self) -> str | None:
        """The hash of everything that the traced expressions of the mechanism depend on; the key of
        their cache on disk.
        """
        return structure(self.mechanism)

    @cached_property
    def sizes(self) -> Sizes:
        """The numbers that the shapes of quantities depend on."""
        m = self.mechanism
        joints = len(m.ordered)
        loop_rows = len(row_names(self.layout))
        every_row = sum(len(j.closure) for j in m.loops) + len(self.rows) - loop_rows
        inertial = 10 * len(inertial_bodies(self.layout))
        return Sizes(
            self.layout.nq,
            self.layout.nv,
            len(self.rows),
            loop_rows,
            joints,
            len(m.parameters),
            every_row,
            joints + len(m.loops),
            inertial,
        )

    @property
    def spec(self) -> Spec:
        """The spec itself, so that a Spec and a Machine can be passed alike
        (`arguments.Specified`).
        """
        return self

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        """The names of the moving joints, in order."""
        return tuple(j.name for j in self.mechanism.moving)

    @cached_property
    def coordinate_names(self) -> tuple[str, ...]:
        """The name of each entry of q."""
        return tuple(n for j in self.mechanism.moving for n in j.coordinate_names)

    @cached_property
    def speed_names(self) -> tuple[str, ...]:
        """The name of each entry of v."""
        return tuple(n for j in self.mechanism.moving for n in j.speed_names)

    @cached_property
    def parameter_names(self) -> tuple[str, ...]:
        """The name of each parameter."""
        return tuple(self.mechanism.parameters)

    @cached_property
    def rows(self) -> tuple[tuple[str, str], ...]:
        """(joint or row, direction) of each constraint row: those of loops that can act, then those
        of constraints and of speed rows.
        """
        found = tuple(row_names(self.layout))
        return (
            (*found, *Tracer(self.layout, self.snap).applied.rows()[1])
            if self.mechanism.row_records
            else found
        )

    @cached_property
    def pushed(self) -> dict[str, tuple[str, str]]:
        """{constraint: (parent, child)}: the two bodies that the rows of a constraint push against
        each other; twice the ground for a constraint that acts along speeds only. A constraint that
        pushes several bodies in another way is left out.
        """
        s = Tracer(self.layout, self.snap)
        found = {}
        for k, row in enumerate(self.mechanism.constraints):
            pushes = s.applied.placed.pushes(k)
            ends = (GROUND, GROUND, *pushes)[-2:]
            if len(pushes) < 2 or (len(pushes) == 2 and self._balanced(s, list(pushes.values()))):
                found[row.name] = (ends[0], ends[1])
        return found

    @cached_property
    def rheonomic(self) -> tuple[str, ...]:
        """The names of the constraints that depend on the time."""
        if not self.mechanism.constraints:
            return ()
        s = Tracer(self.layout, self.snap)
        return tuple(
            row.name
            for row, g in zip(self.mechanism.constraints, s.applied.placed.own)
            if ca.depends_on(g, s.t)
        )

    def _balanced(self, s: Tracer, pushes: list[Any]) -> bool:
        """Return whether two wrenches are opposite to each other, up to rounding, at three random
        configurations.
        """
        both = [ca.horzcat(t, f) for t, f in pushes]
        at = ca.Function("both", [s.t, s.q, s.p], [both[0] + both[1], both[0]])
        rng = np.random.default_rng(5)
        p = list(self.mechanism.parameters.values())
        found = [
            [np.abs(np.array(x)).max() for x in at(0.3, self.layout.sample(rng), p)]
            for _ in range(3)
        ]
        return all(left <= 1e-9 * size for left, size in found)

    @cached_property
    def parameter_check(self) -> ParameterCheck:
        """The check of parameter values."""
        return ParameterCheck(self.mechanism)

    @cached_property
    def timed(self) -> bool:
        """Whether the mechanism has loads, constraints or speed rows, which are expressions that
        may depend on time.
        """
        return bool(self.mechanism.loads or self.mechanism.row_records)

    @cached_property
    def resting(self) -> float:
        """The speed, 1/s, below which a mechanism counts as at rest: RESTING_SPEED_RATIO times
        sqrt(g / L), with L a typical length. Rounding errors of larger speeds are below it.
        """
        g = [value_of(x, self.mechanism.parameters) for x in self.mechanism.gravity]
        return RESTING_SPEED_RATIO * float(np.sqrt(np.linalg.norm(g) / usual_length(self.layout)))

    @cached_property
    def springs(self) -> Springs | None:
        """The joint springs, where they are the only loads, so that the generic kernels can include
        them; else None.
        """
        return springs(self.layout)

    @property
    def generic(self) -> bool:
        """Whether the generic kernels treat everything in this mechanism: no joint follows others
        by a function, and there are no loads but joint springs.
        """
        return not self.layout.followers and (not self.timed or self.springs is not None)

    @cached_property
    def quaternions(self) -> tuple[int, ...]:
        """The indices in q where quaternions begin."""
        return tuple(c.qi for c in self.layout.coordinates if c.motion == BALL)
