"""What results show of contacts by events: gaps, forces, slips and modes over time, and how well
the laws were kept.

Forces that rigid bodies do not determine are NaN (a table on four legs); the sum over a contact's
points and its pressure centre are given where they are determined. Friction and slip are vectors in
the ground's axes: the force on the first body, and its velocity relative to the second.
"""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...kernels import RANK, usual_length
from ...machine import Metric, spaces
from ..terms.contact_rows import OFF_SLACK

if TYPE_CHECKING:
    from ..planning.plan import RunPlan

Array = NDArray[np.float64]
MODES = np.array(["open", "slip", "stick"])
# share of a force in a normalised combination of forces that moves nothing: with less the force is
# determined
UNDETERMINED_SHARE = 1e-6
# largest entry of a row, in the metric of rank, relative to that of the largest row: with less the
# row moves nothing, as a tangent across a plane of motion
IMMOBILE_ROW = 1e-9
# slip speed relative to the fastest slip: of faster slips the direction is compared with friction
MOVING_SLIP = 1e-6


class ContactRows(NamedTuple):
    """Arrays (run, time, k, ...) of k contact points.

    gap: m; rate: of the gap, m/s; normal: force, N; friction (3,): N; slip (3,): m/s; place (3,):
    m. mode: 0 open, 1 slip, 2 stick. known (4,): whether the normal force, and friction along each
    of the ground's axes, are determined; (2,) in time stepping: of normal force and friction.
    total, centre (run, time, c, 3): the summed force (N) and the pressure centre (m) of c contacts.
    push (3,): the whole force of a point as the run had it, also where rigid bodies do not
    determine it, N.
    """

    gap: Array
    rate: Array
    normal: Array
    friction: Array
    slip: Array
    place: Array
    mode: Array
    known: Any
    total: Array
    centre: Array
    push: Array


def observe(plan: RunPlan, flat: list[Array], modes: Array, held: Array) -> ContactRows:
    """Return the contact rows of n states. flat: the inputs of the compiled function `contacts`;
    modes (n, size); held (n, m): the multipliers of all active rows.
    """
    system, n = plan.system, len(flat[0])
    kernel = system.kernel("contacts")
    h = plan.system.holding
    outs, _ = kernel(flat, n, threads=plan.threads)  # type: ignore[misc]
    gap, place, rate, axes, acting = outs
    force = held[:, held.shape[1] - rate.shape[1] :]
    ends = list(accumulate((c.count for c in h.contacts), initial=0))
    axes = axes.reshape(n, -1, 3)
    k = len(h.contacts)
    normal = np.zeros((n, k))
    approach = np.zeros((n, k))
    mode = np.zeros((n, k))
    friction = np.zeros((n, k, 3))
    slip = np.zeros((n, k, 3))
    for i, (a, b) in enumerate(pairwise(ends)):
        normal[:, i], approach[:, i] = force[:, a], rate[:, a]
        own = modes[:, h.slots[h.first_contact + i]]
        mode[:, i] = own[:, 0] * (1.0 + own[:, 1])
        if b - a == 3:
            slip[:, i] = np.einsum("tj,tja->ta", rate[:, a + 1 : b], axes[:, a + 1 : b])
            held = np.einsum("tj,tja->ta", force[:, a + 1 : b], axes[:, a + 1 : b])
            friction[:, i] = np.where(
                own[:, 1:2] > 0.5,
                held,
                _slipping(h.contacts[i], own, rate[:, a + 1 : b], normal[:, i], axes[:, a + 1 : b]),
            )
    place = place.reshape(n, k, 3)
    absent = _absent(h, modes)
    total = normal[..., None] * axes[:, ends[:-1]] + friction
    groups = [
        [i for i, c in enumerate(h.contacts) if c.point.contact == g]
        for g in sorted({c.point.contact for c in h.contacts})
    ]
    along = axes.copy()
    # the force per unit of a row's multiplier: of a contact that slips, with its friction
    for i, a in enumerate(ends[:-1]):
        slips = (mode[:, i] == 1.0) & (normal[:, i] != 0.0)
        along[slips, a] = total[slips, i] / normal[slips, i, None]
    owner = np.repeat(
        [next(g for g, own in enumerate(groups) if i in own) for i in range(k)], np.diff(ends)
    )
    summed = np.stack([total[:, g].sum(axis=1) for g in groups], axis=1)
    pressed = np.stack([normal[:, g].sum(axis=1) for g in groups], axis=1)[..., None]
    moment = np.stack([(normal[:, g, None] * place[:, g]).sum(axis=1) for g in groups], axis=1)
    centre = np.where(pressed > 0.0, moment / np.where(pressed > 0.0, pressed, 1.0), np.nan)
    seen = ForceGeometry(ends, owner, axes, along, place, centre)
    known, sums, middles = _known(plan, acting.reshape(n, -1, system.nv), mode, seen)
    summed, centre = np.where(sums, summed, np.nan), np.where(middles, centre, np.nan)
    gap = np.where(absent, np.nan, gap)
    place = np.where(absent[..., None], np.nan, place)
    return ContactRows(
        gap, approach, normal, friction, slip, place, mode, known, summed, centre, total
    )


def _absent(h: Any, modes: Array) -> NDArray[np.bool_]:
    """Return (n, k): whether a contact point does not exist at a state, because its patch has no
    feature for it or its contact is switched off.
    """
    own = [modes[:, h.slots[h.first_contact + i]] for i in range(len(h.contacts))]
    keys = [
        x[:, c.mode._fields.index("key")] if hasattr(c.mode, "key") else np.ones(len(modes))
        for x, c in zip(own, h.contacts)
    ]
    slack = [
        x[:, c.mode._fields.index("slack")] if "slack" in c.mode._fields else np.zeros(len(modes))
        for x, c in zip(own, h.contacts)
    ]
    return (np.stack(keys, axis=1) < 0.5) | (np.stack(slack, axis=1) >= OFF_SLACK)


def _slipping(c: Any, own: Array, u: Array, N: Array, axes: Array) -> Array:
    """Return the friction (n, 3) of a slip u (n, 2) under normal forces N (n,); own: the modes of
    the point.
    """
    speed = np.linalg.norm(u, axis=1)
    moving = (own[:, 2] * u[:, 0] + own[:, 3] * u[:, 1] > 0.0) & (speed > own[:, 4])
    d = np.where(moving[:, None], u / np.where(speed > 0.0, speed, 1.0)[:, None], own[:, 2:4])
    return -c.contact.kinetic * (N * own[:, 0])[:, None] * np.einsum("tj,tja->ta", d, axes)


class ForceGeometry(NamedTuple):
    """The data of n output rows from which `_known` decides which forces are determined. ends: the
    index of the first constraint row of each of the k points, then the number m of these rows.
    owner (m,): the contact of each row. axes, along (n, m, 3): the axis of each row, and the force
    on the body per unit of its multiplier. place (n, k, 3), centre (n, c, 3): positions, m.
    """

    ends: list[int]
    owner: Array
    axes: Array
    along: Array
    place: Array
    centre: Array


def _known(
    plan: RunPlan, acting: Array, mode: Array, shown: ForceGeometry
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
    """Return (n, k, 4), (n, c, 3), (n, c, 3): whether the motion determines the normal force and
    friction of each point, and the sum and pressure centre of each contact, along each axis. It
    does where no combination of row forces that causes no motion contributes to them.
    """
    system, ends = plan.system, shown.ends
    found = np.ones((len(acting), len(ends) - 1, 4), bool)
    sums, middles = (np.ones(shown.centre.shape, bool) for _ in range(2))
    first = len(system.row_scales[1]) - ends[-1]
    sizes = np.append(np.array(system.row_scales[1]), system.row_scales[0])
    for n in np.flatnonzero((mode > 0.0).any(axis=1)):
        reach = np.abs(acting[n] * np.sqrt(system.column_scales)).max(axis=1) / np.where(
            sizes > 0.0, np.sqrt(sizes), 1.0
        )
        on = np.flatnonzero(reach > IMMOBILE_ROW * reach.max())
        N = spaces(acting[n][on], Metric(system.column_scales, sizes[on]), np.sqrt(RANK)).N
        if N.size:
            loose = np.zeros((acting.shape[1], N.shape[1]))
            loose[on] = N
            parts = _parts(loose[first : first + ends[-1]], int(n), shown)
            found[n], sums[n], middles[n] = (
                np.abs(x).max(axis=-1) < UNDETERMINED_SHARE for x in parts
            )
    return found, sums, middles


def _parts(loose: Array, n: int, shown: ForceGeometry) -> tuple[Array, Array, Array]:
    """Return (k, 4, z), (c, 3, z), (c, 3, z): the contributions of z combinations of row forces,
    loose (m, z), to the normal forces and friction, to the sums, and to the pressure centres
    (relative to the distances from these).
    """
    ends, owner, axes, along, place, centre = shown
    begin = ends[:-1]
    pushed = np.einsum("ma,mz->maz", along[n], loose)
    normal = loose[begin]
    dragged = pushed - np.einsum("ma,mz->maz", axes[n], loose) * _is_normal(ends)[:, None, None]
    friction = np.add.reduceat(dragged, begin, axis=0)
    sums, middles = [], []
    for g in range(len(centre[n])):
        own = owner == g
        sums.append(pushed[own].sum(axis=0))
        apart = np.where(own[begin][:, None], place[n] - centre[n, g], 0.0)
        far = float(np.linalg.norm(np.nan_to_num(apart), axis=1).max()) or 1.0
        middles.append(np.einsum("ka,kz->az", np.nan_to_num(apart) / far, normal))
    return np.concatenate([normal[:, None], friction], axis=1), np.array(sums), np.array(middles)


def _is_normal(ends: list[int]) -> Array:
    """Return (m,): 1 for the first row of each point, its normal, else 0."""
    found = np.zeros(ends[-1])
    found[ends[:-1]] = 1.0
    return found


def variables(rows: ContactRows) -> dict[str, tuple[tuple[str, ...], Array]]:
    """Return {name: (dims, values (run, time, ...))} of the variables about contacts in a
    result.
    """
    at = ("time", "contact")
    vector = ("time", "contact", "axis")
    return {
        "contact_gap": (at, rows.gap),
        "contact_normal_force": (at, np.where(rows.known[..., 0], rows.normal, np.nan)),
        "contact_friction_force": (vector, np.where(rows.known[..., 1:], rows.friction, np.nan)),
        "contact_slip": (vector, np.where(rows.mode[..., None] > 0.0, rows.slip, np.nan)),
        "contact_place": (vector, rows.place),
        "contact_mode": (at, rows.mode),
        "contact_force": (("time", "pair", "axis"), rows.total),
        "contact_pressure_centre": (("time", "pair", "axis"), rows.centre),
        "contact_push": (vector, rows.push),
    }


def residuals(plan: RunPlan, rows: ContactRows) -> dict[str, Array]:
    """Return the fields of `Extremes` about contacts: the largest violations of the contact
    laws.
    """
    h = plan.system.holding
    length = usual_length(plan.machine.layout)
    N = rows.normal
    f = rows.friction
    u = rows.slip
    closed = rows.mode > 0.0
    mu = np.array([c.contact.static for c in h.contacts])
    size = np.linalg.norm(f, axis=-1)
    speed = np.linalg.norm(u, axis=-1)
    moving = (
        (rows.mode == 1.0)
        & (speed > MOVING_SLIP * max(speed.max(initial=0.0), 1e-300))
        & (size > 0.0)
    )
    across = np.linalg.norm(np.cross(f, u), axis=-1) / np.where(moving, size * speed, 1.0)
    return {
        "penetration": np.fmax(-rows.gap, 0.0) / length,
        "pressing": np.abs(N),
        "grinding": np.abs(N * rows.rate) / length,
        "outside": np.where(closed, np.maximum(size - mu * N, 0.0), 0.0),
        "pulling": np.where(closed, np.maximum(-N, 0.0), 0.0),
        "angle": np.where(moving, across, 0.0),
        "gain": np.maximum((f * u).sum(axis=-1), 0.0) / length,
    }
