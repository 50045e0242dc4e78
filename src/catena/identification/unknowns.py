"""Unknowns of a fit: groups of parameters in which the joint forces are linear, and the
mechanism's own named parameters.

    tau = known(q, v, a) + sum over unknowns of column * value

A group is a record; `register` adds one from outside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ..compiler import UNITS, Tracer, inertial_bodies, inertial_parameters, losses
from ..errors import StudyError, unknown
from ..machine import Machine
from ..model import SMOOTH, parameter_units, value_of
from ..registry import Registry
from .base_parameters import inertial_names, order
from .measured_motion import MeasuredMotion

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Columns:
    """Some unknowns.

    names, units: of the unknowns. values: their present values in the mechanism. matrix: their
    columns of the regressor, (T, nv, n).
    """

    names: tuple[str, ...]
    units: tuple[str, ...]
    values: Array
    matrix: Array


@dataclass(frozen=True, eq=False)
class Group:
    """A group of unknowns: its name, one line for help texts, and its columns along a motion."""

    name: str
    doc: str
    columns: Callable[[Machine, MeasuredMotion], Columns]


GROUPS: Registry[Group] = Registry("group of unknowns", error=StudyError)
register = GROUPS.register


def markdown() -> str:
    """Return the groups as a Markdown table, which docs/identification.md includes."""
    return "\n".join(
        [
            "| group | what is unknown |",
            "|---|---|",
            *(f"| `{g.name}` | {g.doc} |" for g in GROUPS.values()),
        ]
    )


def inertial(machine: Machine, motion: MeasuredMotion) -> Columns:
    """Return all ten parameters of each body, in the order in which base parameters are
    selected.
    """
    names = inertial_names(machine)
    take = order(len(inertial_names(machine)) // 10)
    Y = machine.regressor(motion.q, motion.v, motion.a)
    theta = inertial_parameters(machine.layout)
    units = UNITS * (len(names) // 10)
    return Columns(
        tuple(names[k] for k in take), tuple(units[k] for k in take), theta[take], Y[..., take]
    )


def masses(machine: Machine, motion: MeasuredMotion) -> Columns:
    """Return the mass of each body as an unknown; its centre of mass and the inertia about it do
    not change with it.
    """
    Y = machine.regressor(motion.q, motion.v, motion.a)
    p = machine.mechanism.parameters
    columns = []
    values = []
    bodies = inertial_bodies(machine.layout)
    for k, b in enumerate(bodies):
        x, y, z = (float(value_of(c, p)) for c in b.com)
        slope = np.array(
            [1.0, x, y, z, y * y + z * z, -x * y, x * x + z * z, -x * z, -y * z, x * x + y * y]
        )
        columns.append(Y[..., 10 * k : 10 * k + 10] @ slope)
        values.append(float(value_of(b.mass, p)))
    return Columns(
        tuple(f"mass of {b.name}" for b in bodies),
        ("kg",) * len(bodies),
        np.array(values),
        np.stack(columns, axis=-1),
    )


def _per_speed(
    word: str, attribute: str, unit: tuple[str, str], factor: Callable[[MeasuredMotion], Array]
) -> Callable[[Machine, MeasuredMotion], Columns]:
    """Return a group with one unknown per speed, whose column is a factor of the motion at that
    speed.
    """

    def columns(machine: Machine, motion: MeasuredMotion) -> Columns:
        moving = machine.mechanism.moving
        p = machine.mechanism.parameters
        nv = machine.nv
        values = [
            float(value_of(x, p))
            for j in moving
            for x in (getattr(j, attribute) if attribute else (0.0,) * j.nv)
        ]
        units = tuple(
            unit[f.motion.name == "SLIDE"] for j in moving for f in j.freedoms for _ in range(f.nv)
        )
        return Columns(
            tuple(f"{word} of {n}" for n in machine.speed_names),
            units,
            np.array(values),
            factor(motion)[..., None] * np.eye(nv),
        )

    return columns


damping = _per_speed("damping", "damping", ("N m s/rad", "N s/m"), lambda x: x.v)
coulomb = _per_speed("friction", "friction", ("N m", "N"), lambda x: np.tanh(x.v / SMOOTH))
armature = _per_speed("armature", "armature", ("kg m2", "kg"), lambda x: x.a)
offset = _per_speed("offset", "", ("N m", "N"), lambda x: np.ones_like(x.v))


def friction(machine: Machine, motion: MeasuredMotion) -> Columns:
    """Return viscous and Coulomb friction of each speed."""
    return joined([damping(machine, motion), coulomb(machine, motion)])


for _group in (
    Group(
        "inertial",
        "the ten inertial parameters of each body, as far as forces tell them: base parameters",
        inertial,
    ),
    Group(
        "masses",
        "the mass of each body; its centre of mass and the inertia about it are taken as they are",
        masses,
    ),
    Group(
        "friction",
        "viscous and Coulomb friction of each joint: `damping` and `coulomb` together",
        friction,
    ),
    Group("damping", "viscous friction of each joint", damping),
    Group(
        "coulomb",
        "Coulomb friction of each joint, smoothed over small speeds as in `simulate`",
        coulomb,
    ),
    Group("armature", "the inertia of each rotor, seen at its joint", armature),
    Group("offset", "a constant force of each joint: the zero of its sensor", offset),
):
    register(_group)


def joined(parts: Iterable[Columns]) -> Columns:
    """Return the columns of several groups as one."""
    parts = list(parts)
    return Columns(
        tuple(n for p in parts for n in p.names),
        tuple(u for p in parts for u in p.units),
        np.concatenate([p.values for p in parts]),
        np.concatenate([p.matrix for p in parts], axis=-1),
    )


def chosen(
    machine: Machine, motion: MeasuredMotion, asked: str | Iterable[str]
) -> tuple[Columns, tuple[str, ...]]:
    """Return the columns of the requested groups and single unknowns, and the names of the
    mechanism's own parameters among them. Raises StudyError for unknown names, and for an unknown
    that is requested twice.
    """
    words = [w.strip() for w in (asked.split(",") if isinstance(asked, str) else asked)]
    if not words or not all(words):
        raise StudyError(
            f"nothing is unknown; give some of the groups {', '.join(GROUPS)}, or names of"
            " parameters"
        )
    own = [w for w in words if w in machine.parameter_names]
    parts = [GROUPS[w].columns(machine, motion) for w in words if w in GROUPS]
    single = [w for w in words if w not in GROUPS and w not in own]
    every = joined(
        GROUPS[n].columns(machine, motion)
        for n in ("inertial", "masses", "damping", "coulomb", "armature", "offset")
    )
    if bad := [w for w in single if w not in every.names]:
        known = [*GROUPS, *machine.parameter_names, *every.names]
        raise StudyError(
            f"what is unknown cannot be read for mechanism {machine.mechanism.name!r}:",
            [unknown("unknown", w, known) for w in bad],
        )
    parts += [_only(every, w) for w in single]
    if own:
        parts.append(_own(machine, motion, own))
    found = joined(parts)
    if twice := sorted({n for n in found.names if found.names.count(n) > 1}):
        raise StudyError(
            f"{', '.join(map(repr, twice))} would be unknown twice; name each group and parameter"
            " once"
        )
    if any(n.startswith("mass of ") for n in found.names) and any(
        n.startswith("m of ") for n in found.names
    ):
        raise StudyError(
            "'masses' and 'inertial' are both unknown; the masses are among the inertial"
            " parameters: give one of them"
        )
    return found, tuple(own)


def _only(every: Columns, name: str) -> Columns:
    """Return the column of a single unknown."""
    k = every.names.index(name)
    return Columns(
        (name,), (every.units[k],), every.values[k : k + 1], every.matrix[..., k : k + 1]
    )


def _own(machine: Machine, motion: MeasuredMotion, names: list[str]) -> Columns:
    """Return the columns of the mechanism's own parameters: derivatives of the inverse dynamics at
    their present values.
    """
    dp = machine.inverse_dynamics_derivatives(
        motion.q, motion.v, motion.a, t=motion.t if machine.spec.timed else 0.0
    )[3]
    where = [machine.parameter_names.index(n) for n in names]
    units = parameter_units(machine.mechanism)
    values = np.array([machine.mechanism.parameters[n] for n in names], float)
    lost = losses(Tracer(machine.layout, machine.snap))
    v, p = lost.sx_in()
    slope = ca.Function("slope", [v, p], [ca.jacobian(lost(v, p), p)])
    change = (
        np.array(
            [np.array(slope(x, list(machine.mechanism.parameters.values()))) for x in motion.v]
        )
        if slope.nnz_out()
        else 0.0 * dp
    )
    return Columns(
        tuple(names), tuple(units.get(n, "") for n in names), values, (dp - change)[..., where]
    )
