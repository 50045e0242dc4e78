"""Random bodies that drop on a surface, and the same seen otherwise: turned, in a mirror, with its
corners renumbered, in other units, later.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

import catena
from catena import Body, Contact, Frame, Joint, Mechanism, Pose, Shape

Array = NDArray[np.float64]
GRAVITY = np.array([0.4, -0.3, -9.7])  # leans, so that nothing is symmetric by chance
SIZES = {
    "sphere": (0.2,),
    "capsule": (0.1, 0.4),
    "box": (0.3, 0.4, 0.5),
    "ellipsoid": (0.2, 0.3, 0.25),
    "cylinder": (0.2, 0.5),
}
BROAD = {
    "sphere": (1.0,),
    "capsule": (0.5, 3.0),
    "box": (2.0, 2.0, 1.0),
    "ellipsoid": (1.5, 1.2, 0.8),
    "cylinder": (0.6, 3.0),
}


@dataclass(frozen=True)
class View:
    """How a drop is seen. turn: a rotation of the world. mirror: whether its y is turned round.
    relabel: a rotation of the body's axes, by quarters of a turn. length, mass, time: how many new
    units make an old one. start: when it begins, s.
    """

    turn: Array
    mirror: bool
    relabel: Array
    length: float = 1.0
    mass: float = 1.0
    time: float = 1.0
    start: float = 0.0

    @staticmethod
    def plain() -> View:
        """As it is."""
        return View(np.eye(3), False, np.eye(3))

    @staticmethod
    def random(rng: np.random.Generator) -> View:
        """Everything at once."""
        axes = Rotation.create_group("O").as_matrix()
        return View(
            Rotation.random(random_state=int(rng.integers(2**31))).as_matrix(),
            bool(rng.integers(2)),
            np.round(axes[rng.integers(1, len(axes))]),
            *(10.0 ** rng.uniform(-2, 2, 3)),
            float(rng.uniform(-1.0, 1.0)),
        )

    @property
    def world(self) -> Array:
        """What places and velocities are multiplied by."""
        return self.turn @ self._flip

    @property
    def body(self) -> Array:
        """The same for vectors of the body."""
        return self.relabel @ self._flip

    @property
    def hand(self) -> float:
        """-1 in a mirror, of angular velocities."""
        return -1.0 if self.mirror else 1.0

    @property
    def _flip(self) -> Array:
        return np.diag([1.0, -1.0 if self.mirror else 1.0, 1.0])


@dataclass(frozen=True)
class Drop:
    """A free body of one shape above a surface: "plane" or another shape, whose top is at z = 0.

    q (7,), v (6,): its start. until: the end, s. contact: friction, restitution, law, impacts.
    """

    shape: str
    surface: str
    contact: tuple[float, float, str, str]
    q: Array
    v: Array
    until: float

    @staticmethod
    def random(
        rng: np.random.Generator,
        shape: str,
        surface: str,
        contact: tuple[float, float, str, str],
        until: float,
    ) -> Drop:
        """From just above the surface."""
        q = np.append(0.2 * rng.uniform(-1, 1, 3), rng.standard_normal(4))
        q[2] = 0.45
        q[3:] /= np.linalg.norm(q[3:])
        v = np.append(rng.uniform(-0.5, 0.5, 3), rng.uniform(-3, 3, 3))
        return Drop(shape, surface, contact, q, v, until)

    def mechanism(self, view: View) -> Mechanism:
        """As seen so."""
        m, L = view.mass, view.length
        inertia = np.abs(view.relabel) @ [0.03, 0.025, 0.02]
        size = np.array(SIZES[self.shape]) * L
        pose = Pose(tuple(map(tuple, view.relabel.tolist())))
        if self.shape == "box":  # its corners have other numbers
            size, pose = np.abs(view.relabel) @ size, Pose()
        solid = Shape(self.shape, tuple(size.tolist()), pose, collides=True)
        body = Body("it", m, (0, 0, 0), tuple((m * L**2 * inertia).tolist()), shapes=(solid,))
        flip = view.turn.T @ view.world
        frames: tuple[Frame, ...] = ()
        ground: tuple[Shape, ...] = ()
        if self.surface == "plane":
            frames = (Frame("plane", "ground", _pose(view.turn, np.zeros(3))),)
        else:
            R = (
                Rotation.from_rotvec([0.0, np.pi / 2, 0.0]).as_matrix()
                if _lies(self)
                else np.eye(3)
            )
            top = BROAD[self.surface][0] if _lies(self) else _height(self.surface)
            place = _pose(view.world @ R @ flip, L * view.world @ [0.0, 0.0, -top])
            wide = tuple(L * x for x in BROAD[self.surface])
            ground = (Shape(self.surface, wide, place, collides=True),)
        return Mechanism(
            "drop",
            (body,),
            (Joint("free", "free", "ground", "it"),),
            frames,
            ground=ground,
            gravity=tuple((L / view.time**2 * view.world @ GRAVITY).tolist()),
            contacts=(
                Contact(("it", "plane" if frames else "ground"), *self.contact, paradox="impact"),
            ),
        )

    def run(self, view: View, **options: object) -> Array:
        """(18,): place, rotation, velocity and angular velocity at the end, as they are without the
        view.
        """
        T, L = view.time, view.length
        if "step" in options:
            options = options | {"step": T * float(options["step"])}  # type: ignore[arg-type]
        R = view.world @ _matrix(self.q[3:]) @ view.body.T
        q = np.append(
            L * view.world @ self.q[:3], Rotation.from_matrix(R).as_quat(scalar_first=True)
        )
        v = np.append(L / T * view.world @ self.v[:3], view.hand / T * view.body @ self.v[3:])
        end = view.start + T * self.until
        found = catena.simulate(
            self.mechanism(view), q, v, end, start=view.start, output=[view.start, end], **options
        )
        q, v = found.q.values[-1], found.v.values[-1]
        return np.concatenate(
            [
                view.world.T @ q[:3] / L,
                (view.world.T @ _matrix(q[3:]) @ view.body).ravel(),
                view.world.T @ v[:3] * T / L,
                view.hand * view.body.T @ v[3:] * T,
            ]
        )


def _lies(drop: Drop) -> bool:
    return drop.surface in ("capsule", "cylinder")


def _height(surface: str) -> float:
    return BROAD[surface][-1] / (2.0 if surface == "box" else 1.0)


def _pose(R: Array, p: Array) -> Pose:
    return Pose(tuple(map(tuple, R.tolist())), tuple(p.tolist()))


def _matrix(quaternion: Array) -> Array:
    return np.asarray(Rotation.from_quat(quaternion, scalar_first=True).as_matrix())
