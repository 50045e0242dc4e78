"""Synthetic logs of a robot: a planar arm of two links in gravity, with friction and noise.

    o---------o---------x
shoulder    elbow
"""

from __future__ import annotations

import numpy as np

import catena
from catena.identification import Excitation

JOINTS = ("shoulder", "elbow")
VISCOUS = np.array([0.8, 0.5])
COULOMB = np.array([1.5, 0.9])


def motion(seed=0, duration=8.0, rate=100.0):
    """Times and a smooth motion of both joints that begins and ends anywhere."""
    rng = np.random.default_rng(seed)
    t = np.arange(0.0, duration, 1.0 / rate)
    way = Excitation(
        JOINTS,
        8.0,
        np.array([0.3, -0.4]),
        rng.normal(0, 0.35, (2, 5)),
        rng.normal(0, 0.35, (2, 5)),
        1.0,
        1.0,
    )
    return t, *way(t)


def arm():
    return catena.compile(catena.load("two_link_arm"))


def log(machine, seed=0, noise=0.02, friction=None, kind="tau", **options):
    """A log as a mapping of columns; friction: from v, load to a force, in place of the usual."""
    t, q, v, a = motion(seed, **options)
    load = machine.inverse_dynamics(q, v, a)
    rng = np.random.default_rng(seed + 1000)
    usual = VISCOUS * v + COULOMB * np.tanh(v / 0.01)
    tau = load + (usual if friction is None else friction(v, load))
    tau = tau + noise * np.sqrt(np.mean(tau**2, axis=0)) * rng.standard_normal(tau.shape)
    columns = {"time": t}
    for k, n in enumerate(JOINTS):
        columns[f"q {n}"] = q[:, k] + 1e-5 * rng.standard_normal(len(t))
        columns[f"v {n}"] = v[:, k] + 1e-3 * rng.standard_normal(len(t))
        columns[f"{kind} {n}"] = tau[:, k]
    return columns
