"""What results show of contacts by time stepping: the same rows and the same ledger as for contacts
by events.

Forces are impulses divided by the step that ended at a row. Where rigid bodies do not determine
them (a table on four legs), they depend on the solver, and only their sums are meaningful. The
certificate is kept in the state, over all steps and not only the rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ... import contact
from ...compiler import Tracer, compile_lanes, vector
from ...kernels import usual_length
from ...results import ContactLedger, Extremes
from .. import stepping
from .contact_record import ContactRows

if TYPE_CHECKING:
    from ..planning.plan import RunPlan
    from ..system.first_order import System

Array = NDArray[np.float64]


class PointKinematics(NamedTuple):
    """Kinematics of k contact points, in the solver's order, at n states: gap (n, k), place (n, k,
    3), rate (n, k, 3) along normal and tangents, axes (n, k, 3, 3): these three.
    """

    gap: Array
    place: Array
    rate: Array
    axes: Array


def stepped_state(system: System) -> ca.Function:
    """Return the function (t, x, u, p) -> gaps (k,), places (3 k,), speeds (3 k,) and axes (9 k,)
    of contact points that do not belong to pairs of shapes, with zeros for tangents of points
    without friction; then poses and twists (38 n,) of n pairs of shapes.
    """
    c = system.stepping
    assert c is not None

    def seen(s: Tracer) -> list[ca.SX]:
        meets = [point.meet(s) for point in c.plain]
        none = [0.0] * 6
        twists = (
            [[*stepping.pair_pose(s, pair)] for pair in c.pairs],
            [[*stepping.pair_twist(s, pair)] for pair in c.pairs],
        )
        parts = [
            [m.gap for m in meets],
            [x for m in meets for x in m.place],
            [x for m in meets for x in (*m.velocity, *none)[:3]],
            [x for m in meets for x in (*(y for axis in m.axes for y in axis), *none)[:9]],
            [x for part in twists for row in part for x in row],
        ]
        return [vector(part) if part else ca.SX.zeros(0) for part in parts]

    found = system.tape("contact sight", c.words, seen)(system.t, system.q, system.v, system.p)
    return ca.Function("contacts", system.inputs, ca.cse([ca.densify(x) for x in found]))


def point_kinematics(
    plan_threads: int | None, system: System, flat: list[Array]
) -> PointKinematics:
    """Return the kinematics of all contact points at n states. flat: times, states, inputs and
    parameters.
    """
    c, n = system.stepping, len(flat[0])
    assert c is not None
    kernel = system.compiled(("stepped contacts",), lambda: compile_lanes(stepped_state(system)))
    (gap, place, rate, axes, pairs), _ = kernel(flat, n, threads=plan_threads)
    found = PointKinematics(
        gap, place.reshape(n, -1, 3), rate.reshape(n, -1, 3), axes.reshape(n, -1, 3, 3)
    )
    if not c.pairs:
        return found
    return PointKinematics(
        *(
            np.concatenate([x[:, : c.own], y, x[:, c.own :]], axis=1)
            for x, y in zip(found, c.layout.seen(pairs))
        )
    )


def observe(plan: RunPlan, flat: list[Array]) -> ContactRows | None:
    """Return the contact rows of n states; None where joints have stops and nothing else touches.
    flat: times, states, inputs and parameters.
    """
    system, n = plan.system, len(flat[0])
    c = system.stepping
    assert c is not None
    if not c.points:
        return None
    gap, place, rate, axes = point_kinematics(plan.threads, system, flat)
    force, mode, *_ = c.split(flat[1][:, -1 - len(c.names) : -1].T)
    k, rough = len(c.points), c.rough
    pushed = np.zeros((n, k, 3))
    pushed[:, :rough] = force[: 3 * rough].T.reshape(n, rough, 3)
    pushed[:, rough:, 0] = force[3 * rough : 2 * rough + k].T
    normal = pushed[..., 0]
    approach = rate[..., 0]
    along = axes[:, :, 1:]
    friction, slip = (np.einsum("tkj,tkja->tka", x[..., 1:], along) for x in (pushed, rate))
    total = normal[..., None] * axes[:, :, 0] + friction
    groups = [
        [i for i, p in enumerate(c.ordered) if p.point.contact == g]
        for g in sorted({p.point.contact for p in c.points})
    ]
    summed = np.stack([total[:, g].sum(axis=1) for g in groups], axis=1)
    pressed = np.stack([normal[:, g].sum(axis=1) for g in groups], axis=1)[..., None]
    moment = np.stack([(normal[:, g, None] * place[:, g]).sum(axis=1) for g in groups], axis=1)
    centre = np.where(pressed > 0.0, moment / np.where(pressed > 0.0, pressed, 1.0), np.nan)
    at = {p: i for i, p in enumerate(c.ordered)}
    back = [at[p] for p in c.points]  # the file's order
    gap, approach, normal, friction, slip, place, mode = (
        x[:, back] for x in (gap, approach, normal, friction, slip, place, mode[:k].T)
    )
    absent = np.isinf(gap)
    gap = np.where(absent, np.nan, gap)
    place = np.where(absent[..., None], np.nan, place)
    return ContactRows(
        gap,
        approach,
        normal,
        friction,
        slip,
        place,
        mode,
        np.ones((n, k, 2), bool),
        summed,
        centre,
        total[:, back],
    )


def residuals(plan: RunPlan, x: Array, rows: ContactRows | None) -> dict[str, Array]:
    """Return the fields of `Extremes` for contacts: the certificate of the states x (run, time,
    size), and the penetration at the rows.
    """
    c = plan.system.stepping
    assert c is not None
    names = contact.CERTIFICATE
    own = dict(zip(names, np.moveaxis(x[..., -1 - len(names) : -1], -1, 0)))
    deep = (
        own["depth"]
        if rows is None
        else np.maximum(own["depth"], np.fmax(-rows.gap, 0.0).max(axis=-1))
    )
    return {
        "penetration": deep / usual_length(plan.machine.layout),
        "residual": own["worst_residual"],
        "unconverged": own["unconverged"],
        "complementarity": own["complementarity"],
        "cone": own["cone"],
        "angle": own["angle"],
        "gained": own["gained"],
        "dissipated": own["dissipated"],
        "impacts": own["impacts"],
        "changes": own["changes"],
        "ahead": own["ahead"],
    }


def ledger(plan: RunPlan, seen: Extremes) -> ContactLedger:
    """Return how well the contact laws were satisfied, as the worst values of all runs."""
    c = plan.system.stepping
    assert c is not None
    return ContactLedger(
        "newton",
        penetration=seen.penetration,
        complementarity=seen.complementarity,
        cone=seen.cone,
        angle=seen.angle,
        gain=seen.gained / (seen.energy or 1.0),
        dissipated=seen.dissipated,
        impacts=int(seen.impacts),
        changes=int(seen.changes),
        residual=seen.residual,
        asked=c.residual,
        unconverged=int(seen.unconverged),
        ahead=int(seen.ahead),
        stepped=True,
    )
