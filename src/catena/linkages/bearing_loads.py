"""Bearing loads: the force in each bearing of a driven linkage over the angle of its crank.

The motion comes from the closed form, the motor torque from inverse dynamics, and the force in each
joint from `catena.analysis.reactions`. The shaking force is the force of the mechanism on the
ground, its weight included.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..analysis import inverse_dynamics
from ..errors import QuestionError, UnknownNameError
from ..machine import Machine, compile, reactions
from ..model import GROUND
from .linkage import Linkage

Array = NDArray[np.float64]


class Peak(NamedTuple):
    """The largest force (N) in a joint, and the driven coordinate (rad or m) at which it occurs."""

    joint: str
    force: float
    at: float


@dataclass(frozen=True)
class BearingLoads:
    """Forces over n values of the driven coordinate. Axes 1 and 2 are those of the plane.

    driven: its name. q (n,): its values. joints: the names of the bearings. ground (n, joints, 2):
    the force (N) of the parent on the child, in the plane's axes fixed to the ground. link (n,
    joints, 2): the same in axes fixed to the child. torque (n,): of the motor, N m or N.
    shaking_force (n, 2): N, and shaking_moment (n,): N m about the ground's origin, both on the
    ground.
    """

    driven: str
    q: Array
    joints: tuple[str, ...]
    ground: Array
    link: Array
    torque: Array
    shaking_force: Array
    shaking_moment: Array

    @property
    def magnitude(self) -> Array:
        """(n, joints) the magnitude of the force, N."""
        return np.asarray(np.linalg.norm(self.ground, axis=-1))

    @property
    def peaks(self) -> list[Peak]:
        """The peak load of every bearing, the largest first."""
        at = self.magnitude.argmax(axis=0)
        found = [
            Peak(name, float(self.magnitude[k, i]), float(self.q[k]))
            for i, (name, k) in enumerate(zip(self.joints, at))
        ]
        return sorted(found, key=lambda peak: -peak.force)

    def __str__(self) -> str:
        lines = [f"{'bearing':20} {'peak, N':>10} {'at ' + self.driven + ', rad':>20}"]
        return "\n".join(
            [*lines, *(f"{p.joint:20} {p.force:10.4g} {p.at:20.4g}" for p in self.peaks)]
        )

    def columns(self) -> dict[str, Array]:
        """Return all curves by a header with unit and axes, as they are written to CSV."""
        found = {f"{self.driven} [rad or m]": self.q, "motor [N m or N]": self.torque}
        for k, name in enumerate(self.joints):
            for i in range(2):
                found[f"{name}: force on child, ground axis {i + 1} [N]"] = self.ground[:, k, i]
            for i in range(2):
                found[f"{name}: force on child, child axis {i + 1} [N]"] = self.link[:, k, i]
            found[f"{name}: magnitude [N]"] = self.magnitude[:, k]
        for i in range(2):
            found[f"shaking force, ground axis {i + 1} [N]"] = self.shaking_force[:, i]
        found["shaking moment about the ground's origin [N m]"] = self.shaking_moment
        return found

    def to_csv(self, path: str | Path) -> None:
        """Write all curves to a CSV file; the header has units and axes."""
        columns = self.columns()
        with Path(path).open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            writer.writerows([repr(float(x)) for x in row] for row in zip(*columns.values()))

    def plot(self, joint: str | None = None) -> Any:
        """Return a figure: magnitudes over the driven coordinate, and the polar diagram of one
        bearing (the one with the largest peak by default) in ground and link axes.
        """
        from matplotlib.figure import Figure

        name = self.peaks[0].joint if joint is None else joint
        if name not in self.joints:
            raise UnknownNameError("bearing", name, self.joints, "these loads")
        k = self.joints.index(name)
        figure = Figure(figsize=(11, 4.5), layout="constrained")
        curves = figure.add_subplot(1, 2, 1)
        for i, joint_name in enumerate(self.joints):
            curves.plot(np.degrees(self.q), self.magnitude[:, i], label=joint_name)
        curves.set_xlabel(f"{self.driven}, deg")
        curves.set_ylabel("bearing force, N")
        curves.legend(fontsize=8)
        curves.grid(alpha=0.25)
        polar = figure.add_subplot(1, 2, 2)
        for force, label in ((self.ground, "ground axes"), (self.link, "axes of the link")):
            polar.plot(force[:, k, 0], force[:, k, 1], label=label)
        polar.plot([0], [0], "k+")
        polar.set_title(f"force on the child at {name}")
        polar.set_xlabel("axis 1, N")
        polar.set_ylabel("axis 2, N")
        polar.set_aspect("equal", adjustable="datalim")
        polar.legend(fontsize=8)
        polar.grid(alpha=0.25)
        return figure


def bearing_loads(
    linkage: Linkage,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike = 0.0,
    *,
    modes: ArrayLike | None = None,
) -> BearingLoads:
    """Return the force in every joint of a linkage with one driven coordinate.

    Parameters
    ----------
    linkage : Linkage
        With one driven coordinate, which has the motor.
    q : array (n,)
        Its values, rad or m.
    v, a : float or array (n,)
        Its speed and acceleration, rad/s or m/s; a is zero by default.
    modes : array (k,), optional
        The signs of the dyads.

    Returns
    -------
    BearingLoads

    Raises
    ------
    QuestionError
        Where several coordinates are driven, or a value cannot be assembled.
    """
    if len(linkage.driven) != 1:
        raise QuestionError(
            f"bearing_loads: {len(linkage.driven)} coordinates of {linkage.mechanism.name!r} are"
            " driven; one motor drives the linkage here"
        )
    at = np.atleast_1d(np.asarray(q, float))
    rates = [np.broadcast_to(np.asarray(x, float), at.shape) for x in (v, a)]
    motion = linkage.positions(at, *rates, modes=modes)
    if not motion.assembled.all():
        bad = float(at[~motion.assembled][0])
        raise QuestionError(
            f"bearing_loads: {linkage.mechanism.name!r} cannot be assembled at"
            f" {linkage.driven[0]} = {bad:.6g}; choose values between its dead points"
        )
    machine = compile(linkage.mechanism)
    states = [np.asarray(x, float) for x in (motion.q, motion.v, motion.a)]
    tau = np.array(
        [
            inverse_dynamics(machine, x, y, z, actuated=linkage.driven).tau
            for x, y, z in zip(*states)
        ]
    )
    return _loads(linkage, machine, at, states, tau)


def _loads(linkage: Linkage, machine: Machine, at: Array, states: Any, tau: Array) -> BearingLoads:
    q, v, a = states
    world = reactions(machine, q, v, a, tau, axes="world")
    body = reactions(machine, q, v, a, tau, axes="body")
    basis = linkage.decomposition.planar.basis
    joints = {j.name: j for j in (*linkage.mechanism.joints, *linkage.mechanism.loops) if j.nv}
    ground = np.stack([_in_plane(basis, world[name][..., 3:]) for name in joints], axis=1)
    link = np.stack(
        [
            _in_plane(basis @ linkage.rest_rotation(j.child), body[n][..., 3:])
            for n, j in joints.items()
        ],
        axis=1,
    )
    force, moment = _on_ground(machine, basis, joints, world, q)
    k = linkage.mechanism.speed_names.index(linkage.driven[0])
    return BearingLoads(
        linkage.driven[0], at, tuple(joints), ground, link, tau[:, k], force, moment
    )


def _in_plane(basis: Array, force: Array) -> Array:
    """Return the two components in the plane. Components out of the plane, which redundant rows do
    not determine (NaN), do not enter where the basis has a zero.
    """
    parts = [
        sum(
            (basis[i, k] * force[..., k] for k in range(3) if abs(basis[i, k]) > 1e-12),
            np.zeros(force.shape[:-1]),
        )
        for i in range(2)
    ]
    return np.stack(parts, axis=-1)


def _on_ground(
    machine: Machine, basis: Array, joints: dict[str, Any], world: dict[str, Array], q: Array
) -> tuple[Array, Array]:
    """Return the force (n, 2) and the moment (n,) about the origin that act on the ground."""
    force, moment = np.zeros((len(q), 2)), np.zeros(len(q))
    for name, j in joints.items():
        if GROUND not in (j.parent, j.child):
            continue
        sign = -1.0 if j.parent == GROUND else 1.0
        F = _in_plane(basis, world[name][..., 3:])
        about = _in_plane(np.stack([basis[2], basis[2]]), world[name][..., :3])[:, 0]
        r = np.zeros((len(q), 2))
        if j.child != GROUND:
            r = machine.pose(q, j.child)[:, :3, 3] @ basis[:2].T
        force += sign * F
        moment += sign * (about + r[:, 0] * F[:, 1] - r[:, 1] * F[:, 0])
    return force, moment
