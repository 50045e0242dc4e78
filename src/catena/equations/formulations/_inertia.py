"""The mass matrix of lagrange and hamilton, refused where nothing has inertia."""

from __future__ import annotations

import casadi as ca
import numpy as np

from ...errors import SingularError
from ...kernels.rank import motion_without_energy
from ...model.values import value_of
from ._energies import Energies


def require_inertia(e: Energies, M: ca.SX, by: str) -> None:
    """Refuse a mechanism whose mass matrix is singular in every configuration: name the coordinate and the body."""
    m, layout = e.tracer.layout.mechanism, e.tracer.layout
    f = ca.Function("mass_matrix", [e.q, e.tracer.p], [M])
    found = [motion_without_energy(np.array(f(*layout.somewhere(seed)))) for seed in range(3)]
    if any(motion is None for motion in found):
        return
    moved = [name for name, x in zip(m.speed_names, found[0]) if abs(x) > 1e-6]  # type: ignore[arg-type]
    joints = [j for j in m.moving if set(moved) & set(j.speed_names)]
    light = next((j for j in joints if not value_of(m.body(j.child).mass, m.parameters)), joints[-1])
    where = next(name for name in moved if name in light.speed_names)
    together = f" together with {', '.join(repr(name) for name in moved if name != where)}" if len(moved) > 1 else ""
    raise SingularError(
        f"{by}: the mass matrix of {m.name!r} is singular in every configuration: coordinate {where!r}{together} moves no "
        f"inertia; body {light.child!r} of joint {light.name!r} has none to offer. Give it mass and inertia, give the joint an "
        "armature, or make the joint fixed",
        where=where,
    )

