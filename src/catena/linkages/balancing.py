"""Balancing: counterweights that cancel or reduce the shaking force of a linkage.

The shaking force of inertia is F = -sum m_i a_i over the centres of mass. A counterweight on a link
that turns about a fixed pivot adds -(m r) times the acceleration of the unit vector along r, which
is linear in the moment m r (kg m). The moments are therefore found by linear least squares over a
cycle; for a four-bar with counterweights on crank and rocker the force vanishes. [Berkof1969]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import QuestionError
from ..model import GROUND, Body, Frame, Mechanism, Motion, Pose, value_of
from .linkage import Linkage

Array = NDArray[np.float64]
SAMPLES = 180


@dataclass(frozen=True)
class Balance:
    """Counterweights. moments: {body: (2,)} m r in the plane's axes fixed to the body at zero
    coordinates, kg m. before, after: the root mean square of the shaking force at unit speed of
    the driven coordinate, N s2. mechanism: with the counterweights as point masses.
    """

    moments: dict[str, Array]
    before: float
    after: float
    mechanism: Mechanism


def balance_force(
    linkage: Linkage,
    bodies: Sequence[str],
    radii: Mapping[str, float],
    *,
    q: ArrayLike | None = None,
    modes: ArrayLike | None = None,
) -> Balance:
    """Return the counterweights on some links that minimise the shaking force over a cycle.

    Parameters
    ----------
    linkage : Linkage
        With one driven coordinate.
    bodies : sequence of str
        The links that carry a counterweight; each turns about a fixed pivot.
    radii : mapping of str to float
        The distance of each counterweight from its pivot, m.
    q : array (n,), optional
        The driven values, rad or m; by default a full turn.
    modes : array (k,), optional
        The signs of the dyads.

    Returns
    -------
    Balance

    Raises
    ------
    QuestionError
        Where a body does not turn about a fixed pivot, or the cycle cannot be assembled.
    """
    m = linkage.mechanism
    basis = linkage.decomposition.planar.basis
    at = np.linspace(0, 2 * np.pi, SAMPLES, endpoint=False) if q is None else np.asarray(q, float)
    frames = [Frame(f"com of {b.name}", b.name, Pose(position=b.com)) for b in m.bodies]
    for name in bodies:
        pivot, axes = _pivot(m, name), _own_axes(linkage, name)
        frames += [
            Frame(f"point {k} of {name}", name, Pose(position=tuple(pivot + p)))
            for k, p in enumerate((np.zeros(3), *axes))
        ]
    moving = Linkage(m.with_(frames=frames), linkage.driven, [f.name for f in frames])
    found = moving.positions(at, np.ones(len(at)), np.zeros(len(at)), modes=modes)
    if not found.assembled.all():
        raise QuestionError(
            f"balance_force: {m.name!r} cannot be assembled over the whole cycle; give q between"
            " its dead points"
        )
    assert found.point_accelerations is not None
    a = found.point_accelerations @ basis[:2].T
    mass = np.array([value_of(b.mass, m.parameters) for b in m.bodies])
    force = -np.einsum("b,nbi->ni", mass, a[:, : len(mass)])
    columns = []
    for k in range(len(bodies)):
        _, one, two = (a[:, len(mass) + 3 * k + i] for i in range(3))
        columns += [-one, -two]
    A = np.stack(columns, axis=-1).reshape(-1, 2 * len(bodies))
    x = np.linalg.lstsq(A, -force.reshape(-1), rcond=None)[0]
    left = force.reshape(-1) + A @ x
    moments = {name: x[2 * k : 2 * k + 2] for k, name in enumerate(bodies)}
    return Balance(
        moments,
        float(np.sqrt((force**2).sum(axis=1).mean())),
        float(np.sqrt((left**2).sum() / len(at))),
        _with_weights(linkage, moments, radii),
    )


def _pivot(m: Mechanism, name: str) -> Array:
    """Return the point (3,) of a body about which it turns on the ground."""
    m.body(name)
    for j in (*m.joints, *m.loops):
        turns = j.nv == 1 and j.freedoms[0].motion == Motion.TURN
        if turns and {j.parent, j.child} == {GROUND, name}:
            place = j.offset if j.child == name else j.placement
            return np.array([value_of(x, m.parameters) for x in place.position], float)
    raise QuestionError(
        f"balance_force: body {name!r} does not turn about a fixed pivot; put counterweights on"
        " links that a turning joint connects to the ground"
    )


def _own_axes(linkage: Linkage, name: str) -> Array:
    """Return the plane's two directions in the axes of a body at zero coordinates, (2, 3)."""
    return np.asarray(linkage.decomposition.planar.basis[:2] @ linkage.rest_rotation(name))


def _with_weights(
    linkage: Linkage, moments: Mapping[str, Array], radii: Mapping[str, float]
) -> Mechanism:
    """Return the mechanism with point masses."""
    m = linkage.mechanism
    changed = {}
    for name, moment in moments.items():
        radius = radii.get(name, 0.0)
        if not radius > 0:
            raise QuestionError(
                f"balance_force: the counterweight of {name!r} has radius {radius!r}; give its"
                " distance from the pivot, m"
            )
        size = float(np.linalg.norm(moment))
        if size:
            place = _pivot(m, name) + moment @ _own_axes(linkage, name) * (radius / size)
            changed[name] = _heavier(m.body(name), size / radius, place, m.parameters)
    return m.with_(bodies=tuple(changed.get(b.name, b) for b in m.bodies))


def _heavier(b: Body, mass: float, place: Array, parameters: Mapping[str, float]) -> Body:
    """Return a body with a point mass at `place` in its frame."""
    own = float(value_of(b.mass, parameters))
    com = np.array([value_of(x, parameters) for x in b.com], float)
    I = np.array([value_of(x, parameters) for x in b.inertia], float)
    total = own + mass
    centre = (own * com + mass * place) / total
    J = np.array([[I[0], I[1], I[2]], [I[1], I[3], I[4]], [I[2], I[4], I[5]]])
    for weight, point in ((own, com), (mass, place)):
        d = point - centre
        J += weight * (d @ d * np.eye(3) - np.outer(d, d))
    inertia = tuple(tuple(float(x) for x in row) for row in J)
    return replace(b, mass=total, com=tuple(map(float, centre)), inertia=inertia)  # type: ignore[arg-type]
