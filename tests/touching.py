"""Mechanisms that touch the ground, for tests and benchmarks of contact: a box, a hopper, and
Solo12 on four spherical feet.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np

import catena
from catena import Body, Contact, Joint, Mechanism, Pose, Shape
from catena.simulation.control import PD
from robots import urdf

GROUND = "ground"
ORIGIN = (0.0, 0.0, 0.0)
SOLE = 0.01  # m, the radius of the spheres under a foot of Talos
FOOT = 0.016  # m, the radius of a foot of Solo12
LEGS = ("FL", "FR", "HL", "HR")
TILT = 0.1  # rad: gravity leans, so that friction has to hold what stands
SLOPE = (9.81 * np.sin(TILT), 0.0, -9.81 * np.cos(TILT))


def box(
    friction: float = 0.5,
    restitution: float = 0.0,
    gravity=(0.0, 0.0, -9.81),
    size=(0.2, 0.2, 0.1),
    mass: float = 1.0,
) -> Mechanism:
    """A free box; its eight corners may touch."""
    x, y, z = size
    inertia = tuple(mass / 12 * s for s in (y * y + z * z, x * x + z * z, x * x + y * y))
    body = Body("box", mass, ORIGIN, inertia, shapes=(Shape("box", size, collides=True),))
    return Mechanism(
        "box",
        (body,),
        (Joint("free", "free", GROUND, "box"),),
        gravity=gravity,
        contacts=(Contact(("box", GROUND), friction, restitution),),
    )


def hopper(friction: float = 0.8, restitution: float = 0.0, gravity=(0.0, 0.0, -9.81)) -> Mechanism:
    """In the x-z plane: a torso on two slides and a hinge, a hip, and a leg that slides in it, with
    a spherical foot.

    [torso]  x, z, pitch
       o     hip
       |     leg
       O     foot
    """
    bodies = (
        Body("cart", 0.01, ORIGIN, (1e-6,) * 3),
        Body("lift", 0.01, ORIGIN, (1e-6,) * 3),
        Body("torso", 4.0, ORIGIN, (0.08, 0.08, 0.08)),
        Body("thigh", 0.8, (0, 0, -0.1), (0.004, 0.004, 0.001)),
        Body(
            "shank",
            0.3,
            (0, 0, -0.15),
            (0.003, 0.003, 0.0005),
            shapes=(Shape("sphere", (0.03,), Pose(position=(0, 0, -0.3)), collides=True),),
        ),
    )
    joints = (
        Joint("x", "prismatic", GROUND, "cart", axis=(1, 0, 0)),
        Joint("z", "prismatic", "cart", "lift", axis=(0, 0, 1)),
        Joint("pitch", "revolute", "lift", "torso", axis=(0, 1, 0)),
        Joint("hip", "revolute", "torso", "thigh", axis=(0, 1, 0)),
        Joint("leg", "prismatic", "thigh", "shank", axis=(0, 0, 1)),
    )
    return Mechanism(
        "hopper",
        bodies,
        joints,
        gravity=gravity,
        contacts=(Contact(("shank", GROUND), friction, restitution),),
    )


def solo12(friction: float = 0.7, restitution: float = 0.0, gravity=(0.0, 0.0, -9.81)) -> Mechanism:
    """The quadruped of example-robot-data on a free base, with a sphere for each foot."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        m = catena.load(urdf("solo12"), floating=True)
    feet = [f"{leg}_FOOT" for leg in LEGS]
    bodies = [
        Body(
            b.name,
            b.mass,
            b.com,
            b.inertia,
            shapes=(Shape("sphere", (FOOT,), collides=True),) if b.name in feet else (),
        )
        for b in m.bodies
    ]
    return m.with_(
        bodies=tuple(bodies),
        gravity=gravity,
        contacts=(Contact((feet, GROUND), friction, restitution),),
    )


def rough_solo12(**options) -> Mechanism:
    """Solo12 with dry friction of 0.05 N m in every joint of its legs, and limits of them."""
    m = solo12(**options)
    return m.with_(
        joints=tuple(
            replace(j, friction=(0.05,), lower=(-3.0,), upper=(3.0,)) if j.nv == 1 else j
            for j in m.joints
        )
    )


def rough_talos(
    friction: float = 0.7, restitution: float = 0.0, gravity=(0.0, 0.0, -9.81)
) -> Mechanism:
    """The humanoid of example-robot-data on a free base, with four spheres under each foot, and dry
    friction of 0.5 N m in every joint; its limits are those of the file.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        m = catena.load(urdf("talos"), floating=True)
    at = [(x, y, -0.107 + SOLE) for x in (-0.1, 0.1) for y in (-0.06, 0.06)]
    sole = tuple(Shape("sphere", (SOLE,), Pose(position=p), collides=True) for p in at)
    feet = [f"leg_{side}_6_link" for side in ("left", "right")]
    return m.with_(
        bodies=tuple(
            Body(b.name, b.mass, b.com, b.inertia, shapes=sole if b.name in feet else ())
            for b in m.bodies
        ),
        joints=tuple(replace(j, friction=(0.5,)) if j.nv == 1 else j for j in m.joints),
        gravity=gravity,
        contacts=(Contact((feet, GROUND), friction, restitution),),
    )


def crouch() -> dict[str, float]:
    """Coordinates of Solo12 standing with bent knees."""
    bent = {"HAA": 0.0, "HFE": 0.8, "KFE": -1.6}
    return {
        f"{leg}_{joint}": (1 if leg[0] == "F" else -1) * angle
        for leg in LEGS
        for joint, angle in bent.items()
    }


def stance() -> dict[str, float]:
    """Coordinates of Talos standing with bent knees, within its limits."""
    bent = {"leg_{}_3_joint": -0.3, "leg_{}_4_joint": 0.6, "leg_{}_5_joint": -0.3}
    found = {name.format(side): x for side in ("left", "right") for name, x in bent.items()}
    joints = [j for j in rough_talos().joints if j.nv == 1]
    return {
        j.name: float(np.clip(found.get(j.name, 0.0), j.lower[0] + 0.1, j.upper[0] - 0.1))
        for j in joints
    }


def _talos_servos() -> tuple[dict[str, float], dict[str, float], dict[str, float]]:
    """Stiff servos in the legs of Talos, soft ones elsewhere."""
    target = stance()
    legs = {name: name.startswith("leg") for name in target}
    return (
        {name: 400.0 if leg else 20.0 for name, leg in legs.items()},
        {name: 2.0 if leg else 0.02 for name, leg in legs.items()},
        target,
    )


SERVOS = {  # the servos of each mechanism: kp, kd and where they hold
    "box": ({}, {}, {}),
    "hopper": (
        {"hip": 60.0, "leg": 1500.0, "pitch": 40.0},
        {"hip": 2.0, "leg": 40.0, "pitch": 2.0},
        {"hip": 0.0, "leg": 0.0, "pitch": 0.0},
    ),
    "solo12": (dict.fromkeys(crouch(), 12.0), dict.fromkeys(crouch(), 0.2), crouch()),
}


def gains(name: str) -> tuple[dict[str, float], dict[str, float], dict[str, float]]:
    """The servos of a mechanism: kp, kd and where they hold."""
    return _talos_servos() if name == "rough_talos" else SERVOS[name.removeprefix("rough_")]


def servos(name: str):
    """The controller of a mechanism, None for the box."""
    kp, kd, target = gains(name)
    return PD(kp, kd, target, gravity=False) if kp else None


def starts(
    name: str, machine: catena.Machine, runs: int, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """q, v (runs, ...): a little above the ground, each a little different."""
    rng = np.random.default_rng(seed)
    q = np.tile(machine.neutral(), (runs, 1))
    v = 0.1 * rng.standard_normal((runs, machine.nv))
    names = list(machine.coordinate_names)
    if name == "box":
        q[:, 3:] += 0.05 * rng.standard_normal((runs, 4))
        q[:, 3:] /= np.linalg.norm(q[:, 3:], axis=1)[:, None]
        q[:, 2] = 0.09
        v[:, 0] += 0.5
    elif name == "hopper":
        q[:, names.index("z")] = 0.40 + 0.02 * rng.random(runs)
    elif name == "rough_talos":
        for joint, angle in stance().items():
            q[:, names.index(joint)] = angle + 0.02 * rng.standard_normal(runs)
        soles = [(x, y, -0.107) for x in (-0.1, 0.1) for y in (-0.06, 0.06)]
        low = [
            machine.pose(q, f"leg_{side}_6_link") @ np.array([*p, 1.0])
            for side in ("left", "right")
            for p in soles
        ]
        q[:, 2] += 0.005 - np.stack(low)[..., 2].min(axis=0)
    else:
        for joint, angle in crouch().items():
            q[:, names.index(joint)] = angle + 0.05 * rng.standard_normal(runs)
        feet = np.stack([machine.pose(q, f"{leg}_FOOT")[:, 2, 3] for leg in LEGS], axis=1)
        q[:, 2] += FOOT + 0.005 - feet.min(axis=1)
    return q, v


MECHANISMS = {
    "box": box,
    "hopper": hopper,
    "solo12": solo12,
    "rough_solo12": rough_solo12,
    "rough_talos": rough_talos,
}


def thrown(
    count: int, seed: int, apart: float, fast: float, aside: float
) -> tuple[np.ndarray, np.ndarray]:
    """Starts of two free, turning bodies that are thrown at each other from a distance `apart` (m),
    `fast` times it in a second, and `aside` (m/s).
    """
    rng = np.random.default_rng(seed)
    q = np.zeros((count, 14))
    v = np.zeros((count, 12))
    away = rng.standard_normal((count, 3))
    for k in (3, 10):
        q[:, k : k + 4] = rng.standard_normal((count, 4))
        q[:, k : k + 4] /= np.linalg.norm(q[:, k : k + 4], axis=1)[:, None]
    q[:, 7:10] = apart * away / np.linalg.norm(away, axis=1)[:, None]
    v[:, 6:9] = -fast * q[:, 7:10] + aside * rng.standard_normal((count, 3))
    v[:, 3:6], v[:, 9:] = rng.uniform(-3, 3, (2, count, 3))
    return q, v
