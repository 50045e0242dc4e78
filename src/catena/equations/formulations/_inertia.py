"""The mass matrix of lagrange and hamilton, refused where nothing has inertia."""

from __future__ import annotations

import casadi as ca
import numpy as np

from ...errors import SingularError
from ...kernels.motion import BALL
from ...model.values import value_of
from ._energies import Energies

SINGULAR = 1e-12  # an eigenvalue of the mass matrix, scaled to a unit diagonal, that is nothing but rounding


def require_inertia(e: Energies, M: ca.SX, by: str) -> None:
    """Refuse a mechanism whose mass matrix is singular in every configuration: name the coordinate and the body."""
    m, rng = e.tracer.layout.mechanism, np.random.default_rng(0)
    f = ca.Function("mass_matrix", [e.q, e.p], [M])
    p = np.array(list(m.parameters.values()))
    found = [motion_without_energy(np.array(f(_some_place(e, rng), p))) for _ in range(3)]
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


def _some_place(e: Energies, rng: np.random.Generator) -> np.ndarray:
    q = rng.standard_normal(e.q.numel())
    for node in e.tracer.layout.nodes:
        if node.motion == BALL:
            q[node.qi : node.qi + 4] /= np.linalg.norm(q[node.qi : node.qi + 4])
    return q


def motion_without_energy(M: np.ndarray) -> np.ndarray | None:
    """A null vector of a mass matrix, or nothing."""
    size = np.sqrt(np.abs(np.diag(M)))
    if (size == 0).any():
        return np.eye(len(M))[int(np.argmax(size == 0))]
    values, vectors = np.linalg.eigh(M / np.outer(size, size))
    return vectors[:, 0] / size if values[0] < SINGULAR else None
