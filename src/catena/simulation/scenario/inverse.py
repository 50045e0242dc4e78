"""The forces of a motion: inverse dynamics along a trajectory, as a Result.

With loops the trajectory drives as many coordinates as the mechanism has degrees of freedom; the
others follow, and the motors act on the driven ones.
"""

from __future__ import annotations

import time as clock
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...analysis import inverse_dynamics, kinematics, require_apart
from ...errors import CatenaError
from ...formats.toml import FaultLedger, Table
from ...machine import Machine
from ...model import Mechanism
from ...results import Extremes, Ledger, Result, labelled, labels, versions
from ..control.wrenches import Wrenches, along_states
from ..control.wrenches import wrenches as read_wrenches
from ..planning.plan import machine_of
from ..trajectories.courses import csv
from ..trajectories.piecewise import Trajectory, places
from .names import by_name
from .orientations import Orientation, orientations

if TYPE_CHECKING:
    import xarray as xr

Array = NDArray[np.float64]
ROWS = 1000
# rows; of the energy: with fewer, or where they leave more of the work unknown, there is no balance
FEW, UNKNOWN = 16, 1e-2


def placed(mechanism: Mechanism, given: Mapping[str, Any]) -> dict[str, float]:
    """Return {coordinate: number} of values by names of joints and coordinates, which are numbers
    or strings with a unit. Raises a CatenaError for a name that does not exist.
    """
    ledger = FaultLedger()
    table = Table({k: _number_or_text(x) for k, x in given.items()}, "q", ledger)
    found = by_name(table, mechanism, "q")
    if ledger.faults:
        raise CatenaError("; ".join(ledger.faults))
    return found


def _number_or_text(x: Any) -> Any:
    try:
        return float(x)
    except (TypeError, ValueError):
        return x


def along(
    mechanism: Mechanism,
    trajectory: Any,
    step: float | None = None,
    near: Array | None = None,
    *,
    held: Mapping[str, float] | None = None,
    wrenches: Any = None,
) -> Result:
    """Return the motor forces tau along a trajectory as a Result. They move the mechanism and
    overcome its damping and friction.

    trajectory: a Trajectory, or a .csv file (time and coordinates; a spline goes through its rows).
    step: the time between output rows, s. near: coordinates (nq,) from which loops are closed at
    the first instant, by default zero. held: {coordinate: value} of coordinates at rest that the
    trajectory does not contain. wrenches: external forces over time, a .csv file or `Wrenches`.
    """
    began = clock.perf_counter()
    machine = machine_of(mechanism)
    path = trajectory if isinstance(trajectory, Trajectory) else csv(Path(trajectory))
    still = {name: x for name, x in (held or {}).items() if name not in path.names}
    turned = orientations(mechanism, path.names)
    scalars = [name for name in path.names if not any(name in x.names for x in turned)]
    driven = places(mechanism, scalars)
    if not len(path.breaks):
        raise CatenaError(
            "this trajectory has no first and last time; give one that begins and ends"
        )
    # its last piece ends just after
    times = _times(float(path.breaks[0]), float(np.nextafter(path.breaks[-1], -np.inf)), step)
    course = dict(
        zip((c.name for c in driven), np.moveaxis(np.stack(path.of(scalars)(times)), -1, 0))
    )
    course |= {
        name: np.stack([np.full(len(times), x), 0 * times, 0 * times]) for name, x in still.items()
    }
    q, v, a = _followed(machine, path, times, course, turned, near)
    if not wrenches:  # else what touches may be among them
        require_apart(machine, "inverse dynamics", q)
    lost = machine.losses(v)
    outside = (
        along_states(
            machine,
            (wrenches if isinstance(wrenches, Wrenches) else read_wrenches(wrenches)).table,
            times,
            q,
        )
        if wrenches
        else None
    )
    data, between = _dataset(
        machine,
        times,
        q,
        v,
        a,
        _motors(machine, list(course), q, v, a, lost, outside),
        lost,
        outside,
    )
    closure = (
        float(np.abs(machine.constraint_rows(q, v)[0]).max(initial=0.0)) if machine.rows else 0.0
    )
    kinetic, potential, work, balance = (
        float(np.abs(data[x]).max()) for x in ("kinetic", "potential", "work", "energy_error")
    )
    change = float(np.abs(data["potential"] - data["potential"][0]).max())
    known = len(times) >= FEW and between <= UNKNOWN * max(kinetic, change, work)
    return Result(
        data,
        Ledger.of(
            Extremes(
                kinetic=kinetic,
                potential=potential,
                change=change,
                work=work,
                balance=balance if known else 0.0,
                closure=closure,
            ),
            formulation="recursive",
            integrator="none",
            tolerance=0.0,
            outcome=(
                f"forces at {len(times)} instants of a motion that was"
                f" given{'' if known else ', too far apart for an energy balance'}"
            ),
            steps=0,
            rejected=0,
            evaluations=len(times),
            wall_time=clock.perf_counter() - began,
            versions=versions(),
        ),
        mechanism,
        {"machine": machine},
    )


def _times(first: float, last: float, step: float | None) -> Array:
    if step is None:
        return np.linspace(first, last, ROWS + 1)
    if not 0 < step <= last - first:
        raise CatenaError(
            f"step = {step} s; it is above zero and at most the {last - first:g} s that the"
            " trajectory lasts"
        )
    return np.linspace(first, last, round((last - first) / step) + 1)


def _followed(
    machine: Machine,
    path: Trajectory,
    times: Array,
    course: dict[str, Array],
    turned: list[Orientation],
    near: Array | None,
) -> tuple[Array, Array, Array]:
    """Return q, v and a of all coordinates: those of the trajectory (scalar coordinates and
    orientations), and with loops also those that follow from them.
    """
    if machine.rows and turned:
        raise CatenaError(
            "the orientation of a body cannot be driven where there are loops or speed rows; drive"
            " scalar coordinates"
        )
    if machine.rows:
        q, v, a = kinematics(machine, {name: tuple(three) for name, three in course.items()}, near)
        return q, v, a
    names = [*course, *(name for x in turned for name in x.names)]
    if missing := [name for name in machine.coordinate_names if name not in names]:
        shown = ", ".join(map(repr, missing[:8])) + (", ..." if len(missing) > 8 else "")
        raise CatenaError(
            f"the trajectory has no column for {shown} of mechanism {machine.mechanism.name!r}"
        )
    q, v, a = (np.zeros((len(times), n)) for n in (machine.nq, machine.nv, machine.nv))
    for c in places(machine, list(course)):
        q[:, c.qi], v[:, c.vi], a[:, c.vi] = course[c.name]
    for x in turned:
        q[:, x.qi : x.qi + 4], v[:, x.vi : x.vi + 3], a[:, x.vi : x.vi + 3] = x.along(path, times)
    return q, v, a


def _motors(
    machine: Machine, driven: list[str], q: Array, v: Array, a: Array, lost: Array, outside: Any
) -> Array:
    """Return the forces of the motors, including joint losses."""
    if not machine.rows:
        return machine.inverse_dynamics(q, v, a, outside) - lost
    each = [{key: w[k] for key, w in outside.items()} if outside else None for k in range(len(q))]
    needs: Array = np.array(
        [
            np.asarray(inverse_dynamics(machine, q[k], v[k], a[k], actuated=driven, wrenches=w))
            for k, w in enumerate(each)
        ]
    )
    return needs


def _dataset(
    machine: Machine,
    t: Array,
    q: Array,
    v: Array,
    a: Array,
    tau: Array,
    lost: Array,
    outside: Any = None,
) -> tuple[xr.Dataset, float]:
    """Return the dataset of the result, and the uncertainty of the work (J) due to the distance
    between rows: the difference between Simpson's rule and the trapezoidal rule.
    """
    from scipy.integrate import cumulative_simpson, cumulative_trapezoid

    kinetic, potential = machine.energy(q, v)
    power = ((tau + lost) * v).sum(axis=1)
    for (frame, axes), w in (outside or {}).items():
        power = power + (w * machine.frame_velocity(q, v, frame, axes)).sum(axis=1)
    by_trapezia = cumulative_trapezoid(power, x=t, initial=0.0)
    work = cumulative_simpson(power, x=t, initial=0.0) if len(t) > 2 else by_trapezia
    total = kinetic + potential
    between = float(np.abs(work - by_trapezia).max())
    shown = labelled(
        {
            "q": (("time", "coordinate"), q),
            "v": (("time", "speed"), v),
            "a": (("time", "speed"), a),
            "tau": (("time", "speed"), tau),
            "losses": (("time", "speed"), lost),
            "kinetic": ("time", kinetic),
            "potential": ("time", potential),
            "work": ("time", work),
            "energy_error": ("time", total - total[0] - work),
        },
        {"time": ("time", t, {"units": "s"})},
        labels(machine.mechanism, "recursive"),
    )
    return shown, between
