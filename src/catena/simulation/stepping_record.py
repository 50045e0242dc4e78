"""What is shown of contacts by time stepping: the same rows and the same ledger as of contacts by events.

Forces are impulses over the step that ended at a row. Where rigid bodies do not determine them (a table on four legs) they are the ones that the
solver came to: sums are what counts. The certificate is kept in the state, over all steps and not the rows alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ..compiler.lanes import compile_lanes
from ..compiler.trace import Tracer, vector
from ..kernels.contact_problem import CERTIFICATE
from ..kernels.rank import usual_length
from ..results.ledger import ContactLedger, Extremes
from .contact_record import ContactRows

if TYPE_CHECKING:
    from .plan import RunPlan
    from .system import System

Array = NDArray[np.float64]


def stepped_state(system: System) -> ca.Function:
    """(t, x, u, p) -> gaps (k,), places (3 k,), speeds (m,) and axes (3 m,) of the points' rows."""
    c = system.stepping
    assert c is not None

    def seen(s: Tracer) -> list[ca.SX]:
        meets = c.meets(s)
        return [vector([m.gap for m in meets]), vector([x for m in meets for x in m.place]), vector([x for m in meets for x in m.velocity]),
                vector([x for m in meets for axis in m.axes for x in axis])]  # fmt: skip

    found = system.tape("contact sight", c.words, seen)(system.t, system.q, system.v, system.p)
    return ca.Function("contacts", system.inputs, ca.cse([ca.densify(x) for x in found]))


def observe(plan: RunPlan, flat: list[Array]) -> ContactRows | None:
    """Of the states (n, size), inputs and parameters; None where joints have stops and nothing else touches."""
    system, n = plan.system, len(flat[0])
    c = system.stepping
    assert c is not None
    if not c.points:
        return None
    kernel = system.compiled(("stepped contacts",), lambda: compile_lanes(stepped_state(system)))
    (gap, place, rate, axes), _ = kernel(flat, n, threads=plan.threads)
    force, mode, _ = c.split(flat[1][:, -1 - len(c.names) : -1].T)
    k, rough = len(c.points), c.rough
    axes, normals = axes.reshape(n, -1, 3), [*range(0, 3 * rough, 3), *range(3 * rough, 2 * rough + k)]
    normal, approach = force[normals].T, rate[:, normals]
    friction, slip = np.zeros((n, k, 3)), np.zeros((n, k, 3))
    for i in range(rough):
        own = slice(3 * i + 1, 3 * i + 3)
        friction[:, i] = np.einsum("jt,tja->ta", force[own], axes[:, own])
        slip[:, i] = np.einsum("tj,tja->ta", rate[:, own], axes[:, own])
    total, place = normal[..., None] * axes[:, normals] + friction, place.reshape(n, k, 3)
    groups = [[i for i, p in enumerate(c.ordered) if p.point.contact == g] for g in sorted({p.point.contact for p in c.points})]
    summed = np.stack([total[:, g].sum(axis=1) for g in groups], axis=1)
    pressed = np.stack([normal[:, g].sum(axis=1) for g in groups], axis=1)[..., None]
    moment = np.stack([(normal[:, g, None] * place[:, g]).sum(axis=1) for g in groups], axis=1)
    centre = np.where(pressed > 0.0, moment / np.where(pressed > 0.0, pressed, 1.0), np.nan)
    back = [c.ordered.index(p) for p in c.points]  # the file's order
    gap, approach, normal, friction, slip, place, mode = (x[:, back] for x in (gap, approach, normal, friction, slip, place, mode[:k].T))
    return ContactRows(gap, approach, normal, friction, slip, place, mode, np.ones((n, k, 2), bool), summed, centre, total[:, back])


def residuals(plan: RunPlan, x: Array, rows: ContactRows | None) -> dict[str, Array]:
    """What `Extremes` has of contacts: the certificate of the states x (run, time, size), and the gaps of rows."""
    c = plan.system.stepping
    assert c is not None
    own = dict(zip(CERTIFICATE, np.moveaxis(x[..., -1 - len(CERTIFICATE) : -1], -1, 0)))
    deep = own["depth"] if rows is None else np.maximum(own["depth"], np.maximum(-rows.gap, 0.0).max(axis=-1))
    return {"penetration": deep / usual_length(plan.machine.layout), "residual": own["worst_residual"], "unconverged": own["unconverged"],
            "complementarity": own["complementarity"], "cone": own["cone"], "angle": own["angle"], "gained": own["gained"],
            "dissipated": own["dissipated"], "impacts": own["impacts"], "changes": own["changes"]}  # fmt: skip


def ledger(plan: RunPlan, seen: Extremes) -> ContactLedger:
    """How well the laws were kept: the worst of all runs."""
    c = plan.system.stepping
    assert c is not None
    return ContactLedger("newton", penetration=seen.penetration, complementarity=seen.complementarity, cone=seen.cone, angle=seen.angle,
                         gain=seen.gained / (seen.energy or 1.0), dissipated=seen.dissipated, impacts=int(seen.impacts), changes=int(seen.changes),
                         residual=seen.residual, asked=c.residual, unconverged=int(seen.unconverged), stepped=True)  # fmt: skip
