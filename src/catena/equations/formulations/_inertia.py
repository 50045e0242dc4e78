"""Error messages for mechanisms whose mass matrix is singular in every configuration; they name the
motion without inertia.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from ...compiler import Tracer
from ...errors import SingularError
from ...kernels import motion_without_energy
from ...model import value_of
from ..equations import without_inertia
from ._energies import Energies


def require_inertia(by: str, s: Tracer, M: ca.SX, names: Sequence[str] = ()) -> None:
    """Raise a SingularError that names a speed, if the mechanism can move without inertia in every
    configuration. names: of the columns of M, by default the speeds.
    """
    motion = _motion_without_inertia(s, M, s.q)
    if motion is not None:
        m = s.layout.mechanism
        raise without_inertia(by, m, (names or m.speed_names)[int(np.argmax(np.abs(motion)))])


def require_inertia_of_coordinates(by: str, e: Energies, M: ca.SX) -> None:
    """Raise the same error for the mass matrix of lagrange and hamilton, with the names of all
    coordinates of the motion and of the body.
    """
    motion = _motion_without_inertia(e.tracer, M, e.q)
    m = e.tracer.layout.mechanism
    if motion is None:
        return
    moved = [name for name, x in zip(m.speed_names, motion) if abs(x) > 1e-6]
    joints = [j for j in m.moving if set(moved) & set(j.speed_names)]
    light = next(
        (j for j in joints if not value_of(m.body(j.child).mass, m.parameters)), joints[-1]
    )
    where = next(name for name in moved if name in light.speed_names)
    together = (
        f" together with {', '.join(repr(name) for name in moved if name != where)}"
        if len(moved) > 1
        else ""
    )
    raise SingularError(
        f"{by}: the mass matrix of {m.name!r} is singular in every configuration: coordinate"
        f" {where!r}{together} moves no inertia; body {light.child!r} of joint {light.name!r} has"
        " none to offer. Give it mass and inertia, give the joint an armature, or make the joint"
        " fixed",
        where=where,
    )


def _motion_without_inertia(s: Tracer, M: ca.SX, q: ca.SX) -> np.ndarray | None:
    """Return the motion whose kinetic energy by M is zero, if there is one in each of three random
    configurations.
    """
    f = ca.Function("M", [s.t, q, s.p], [ca.densify(M)])
    found = [
        motion_without_energy(np.array(f(0.0, *s.layout.somewhere(seed)))) for seed in range(3)
    ]
    return None if any(motion is None for motion in found) else found[0]
