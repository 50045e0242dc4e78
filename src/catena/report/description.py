"""The description of a mechanism in plain data: for the tables of `catena info` and of reports,
and for JSON.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..equations.formulations import formulations
from ..errors import CatenaError
from ..machine import Machine, metric, spaces
from ..model import (
    CATALOGUE,
    Body,
    Flexed,
    Joint,
    Mechanism,
    analyse,
    coordinate_units,
    doubts,
    flexible,
    plane,
    speed_units,
    value_of,
)

ROUND_TRIP_STATES = 100  # random states of the round trip
# the largest mechanism whose other assemblies are searched for, which takes long
MAX_SPEEDS_FOR_ASSEMBLIES = 60


def describe(m: Mechanism) -> dict[str, Any]:
    """Return the data of a mechanism that need no computation. Values are SI, for the values of the
    parameters; None means no limit.
    """
    analysis = analyse(m)
    m = flexible.discretise(m)
    moving = m.moving
    normal = plane(m)
    return {
        "name": m.name,
        "bodies": [_body(b, m) for b in m.bodies],
        "joints": [_joint(j, m) for j in m.ordered],
        "loops": [_joint(j, m) for j in m.loops],
        "loads": [_load(x) for x in m.loads],
        "nonholonomic": [_load(x) for x in m.nonholonomic],
        "constraints": [_load(x) for x in m.constraints],
        "frames": [{"name": f.name, "body": f.body} for f in m.frames],
        "beams": [_beam(x, m) for x in m.beams],
        "coordinates": [
            _named(n, u, j) for j in moving for n, u in zip(j.coordinate_names, coordinate_units(j))
        ],
        "speeds": [_named(n, u, j) for j in moving for n, u in zip(j.speed_names, speed_units(j))],
        "parameters": dict(m.parameters),
        "parameter_units": dict(analysis.units),
        "gravity": _values(m.gravity, m),
        "total_mass": sum(_values([b.mass for b in m.bodies], m)),
        "nq": sum(j.nq for j in moving),
        "nv": sum(j.nv for j in moving),
        "planar": (
            None
            if normal is None
            else {"normal": [x + 0.0 for x in normal], "declared": m.planar is True}
        ),
        "formulations": {f.name: f.lacks(m) for f in formulations()},
        "notes": [*m.notes, *analysis.assumed],
        "doubts": [d for d in (*doubts(m), *flexible.doubts(m)) if d not in m.notes],
    }


def locked(m: Mechanism, names: Sequence[str]) -> Mechanism:
    """Return the mechanism with these joints fixed at coordinate zero."""
    m = flexible.discretise(m)
    for name in names:
        m.joint(name)
    fixed = {
        j.name: Joint(j.name, "fixed", j.parent, j.child, j.placement, offset=j.offset)
        for j in m.joints
        if j.name in names
    }
    return m.with_(joints=tuple(fixed.get(j.name, j) for j in m.joints)) if fixed else m


def mobility(machine: Machine, guess: np.ndarray | None = None) -> dict[str, Any]:
    """Return the degrees of freedom, nv minus the rank of the constraint rows; None and the reason
    where loops do not close.

    guess: coordinates from which loops are closed, such as those of a scenario; zero by default. At
    a singular configuration the number is that of configurations nearby, and `here` is the number
    at the configuration itself. `elsewhere`: the numbers of other assemblies found from random
    starts, where they differ.
    """
    if not machine.mechanism.constrained:
        return {"degrees_of_freedom": machine.nv, "rows": 0, "rank": 0}
    from ..analysis import mobility as of
    from ..analysis import other_assemblies

    try:
        found = of(machine, guess)
    except CatenaError as error:
        return {"degrees_of_freedom": None, "why": str(error)}
    own = found.degrees_of_freedom if found.nearby is None else found.nearby
    elsewhere = (
        other_assemblies(machine) - {own} if machine.nv <= MAX_SPEEDS_FOR_ASSEMBLIES else set()
    )
    return {
        "degrees_of_freedom": own,
        "rows": found.rows,
        "rank": machine.nv - own,
        "singular": found.singular,
        "here": found.degrees_of_freedom,
        "elsewhere": sorted(elsewhere),
    }


def state(machine: Machine, given: Mapping[str, str]) -> dict[str, Any]:
    """Return positions of bodies and frames at coordinates given by name, and the static joint
    forces.

    Loops are closed around the given coordinates.
    """
    q = coordinates_from_names(machine, given)
    where = [
        *(b.name for b in machine.mechanism.bodies),
        *(f.name for f in machine.mechanism.frames),
    ]
    return {
        "q": dict(zip(machine.coordinate_names, map(float, q))),
        "holding": dict(zip(machine.speed_names, map(float, machine.gravity(q)))),
        "positions": {name: [float(x) for x in machine.pose(q, name)[:3, 3]] for name in where},
    }


def coordinates_from_names(asked: Mechanism | Machine, given: Mapping[str, str]) -> np.ndarray:
    """Return coordinates (nq,) from values by name; the others are zero, or such that loops close.
    asked: the mechanism or machine.
    """
    from ..machine import machine_of
    from ..simulation.planning import from_names
    from ..simulation.scenario import placed

    machine = machine_of(asked)
    return from_names(machine, placed(machine.mechanism, given), None)[0]


def round_trip(machine: Machine) -> dict[str, Any]:
    """Compare inverse and forward dynamics at random states; `difference` is the largest, None if
    none.

    Without constraints: given accelerations and forward dynamics of their inverse dynamics,
    relative to the accelerations without forces. With rows A a = gamma, which tie the
    accelerations: given forces and inverse dynamics of their forward dynamics minus A' lambda,
    relative to the forces of inverse dynamics, at random motions of the assembled mechanism. The
    scale is at least 1.
    """
    rng = np.random.default_rng(0)
    try:
        with np.errstate(all="ignore"):  # a vanishing inertia raises its own error
            found, given, reference = (_constrained_trip if machine.rows else _free_trip)(
                machine, rng
            )
    except CatenaError as error:
        return {"states": ROUND_TRIP_STATES, "difference": None, "why": str(error)}
    scale = max(1.0, np.abs(reference).max(initial=0.0))
    return {
        "states": ROUND_TRIP_STATES,
        "difference": float(np.abs(found - given).max(initial=0.0) / scale),
        "rows": len(machine.rows),
    }


# found, given, and the scale relative to which their difference is judged
Trip = tuple[np.ndarray, np.ndarray, np.ndarray]


def _free_trip(machine: Machine, rng: np.random.Generator) -> Trip:
    """Return a round trip for a mechanism without constraints: accelerations, recomputed and given,
    at random states.
    """
    q, v, a = (
        machine.sample(rng, ROUND_TRIP_STATES),
        *rng.standard_normal((2, ROUND_TRIP_STATES, machine.nv)),
    )
    return (
        machine.forward_dynamics(q, v, machine.inverse_dynamics(q, v, a)),
        a,
        machine.forward_dynamics(q, v, 0 * v),
    )


def _constrained_trip(machine: Machine, rng: np.random.Generator) -> Trip:
    """Return a round trip for a mechanism with loops or speed constraints, at random states:
    (the applied forces recomputed from the accelerations that they cause, the applied forces,
    the inverse dynamics, which sets the scale of the difference).
    """
    from ..analysis import assemble

    q = assemble(machine)[0] if machine.mechanism.closes else machine.sample(rng, ROUND_TRIP_STATES)
    v, tau = rng.standard_normal((2, ROUND_TRIP_STATES, machine.nv))
    _, rate, _, A = machine.constraint_rows(q, v)
    # projected onto the speeds that the rows allow
    v -= [spaces(rows, metric(machine)).inverse @ x for rows, x in zip(A, rate)]
    a = machine.forward_dynamics(q, v, tau)
    multipliers = machine.multipliers(q, v, tau)
    forces = machine.inverse_dynamics(q, v, a)
    return forces - np.einsum("bij,bi->bj", A, multipliers), tau, forces


# --- parts
def _body(b: Body, m: Mechanism) -> dict[str, Any]:
    """Return the data of a body."""
    xx, xy, xz, yy, yz, zz = _values(b.inertia, m)
    principal = np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return {
        "name": b.name,
        "mass": _values([b.mass], m)[0],
        "com": _values(b.com, m),
        "principal_inertia": principal.tolist(),
    }


def _joint(j: Joint, m: Mechanism) -> dict[str, Any]:
    """Return the data of a joint."""
    follows = None
    if j.mimic:
        multiplier, offset = _values([j.mimic.multiplier, j.mimic.offset], m)
        follows = {"joint": j.mimic.joint, "multiplier": multiplier, "offset": offset}
    own = j.mimic is None and j not in m.loops
    per_speed = ("lower", "upper", "effort", "speed", "damping", "friction", "armature")
    return {
        **{
            "name": j.name,
            "kind": j.kind,
            "parent": j.parent,
            "child": j.child,
            "axes": [list(a) for a in j.axis],
        },
        "sequence": list(j.sequence),
        **({"pitch": _values([j.pitch], m)[0]} if CATALOGUE[j.kind].pitched else {}),
        **{
            name: [x if math.isfinite(x) else None for x in _values(getattr(j, name), m)]
            for name in per_speed
        },
        "coordinates": list(j.coordinate_names) if own else [],
        "speeds": list(j.speed_names) if own else [],
        "mimic": follows,
    }


def _beam(x: Flexed, m: Mechanism) -> dict[str, Any]:
    """Return the data of a flexible body: its beam, and the names of the parts that represent
    it.
    """
    values = {
        key: getattr(x.beam, key) for key in ("length", "rhoA", "EI", "EA", "GJ", "rhoJ", "damping")
    }
    number = lambda y: None if y is None else value_of(y, m.parameters)  # noqa: E731
    shown = {
        key: [number(y) for y in v] if isinstance(v, tuple) else number(v)
        for key, v in values.items()
    }
    way = {"segments": x.beam.segments} if x.beam.segments is not None else {"modes": x.beam.modes}
    way |= {
        "frequency_errors": {
            d: errors.tolist() for d, errors in flexible.frequency_errors(m, x).items()
        }
    }
    mass = value_of(x.beam.rhoA * x.beam.length, m.parameters)
    return {
        "name": x.body,
        "mass": mass,
        **shown,
        **way,
        "bodies": list(x.bodies),
        "joints": list(x.joints),
        "loads": list(x.loads),
    }


def _load(x: Any) -> dict[str, Any]:
    """Return the data of a load or a speed row: kind, name, and its other fields as texts."""
    fields = {k: str(value) for k, value in vars(x).items() if k != "name"}
    return {"name": x.name, "kind": type(x).__name__, **fields}


def _named(name: str, unit: str, j: Joint) -> dict[str, str]:
    """Return name, unit and joint of a coordinate or speed."""
    return {"name": name, "unit": unit, "joint": j.name}


def _values(scalars: Sequence[Any], m: Mechanism) -> list[float]:
    """Return the values of scalars, which may be expressions of the parameters."""
    return [float(value_of(x, m.parameters)) for x in scalars]
