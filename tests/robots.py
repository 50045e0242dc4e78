"""Real robots from the PyPI package example-robot-data, for tests and benchmarks."""

from __future__ import annotations

import sys
import sysconfig
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np

from catena.formats import load
from catena.machine.machine import compile

TOLERANCE = 1e-9  # relative to the largest entry

ROBOTS = {  # name -> (file, floating base)
    "ur5": ("ur_description/urdf/ur5_robot.urdf", False),
    "panda": ("panda_description/urdf/panda.urdf", False),
    "talos": ("talos_data/robots/talos_reduced.urdf", True),
    "solo12": ("solo_description/robots/solo12.urdf", True),
    "hyq": ("hyq_description/robots/hyq_no_sensors.urdf", True),
    "a1": ("a1_description/urdf/a1.urdf", True),
    "bolt": ("bolt_description/robots/bolt.urdf", True),
    "kinova": ("kinova_description/robots/kinova.urdf", False),
    "iris": ("iris_description/robots/iris_simple.urdf", True),
    "z1": ("z1_description/urdf/z1.urdf", False),
    "double_pendulum": ("double_pendulum_description/urdf/double_pendulum.urdf", False),
    "tiago": ("tiago_description/robots/tiago.urdf", False),
}


_SHARE = Path("cmeel.prefix") / "share" / "example-robot-data" / "robots"
ROOT = next(
    (Path(p) / _SHARE for p in sys.path if (Path(p) / _SHARE).is_dir()),
    Path(sysconfig.get_paths()["purelib"]) / _SHARE,
)


def urdf(name: str) -> Path:
    """Where a robot's URDF is installed."""
    return ROOT / ROBOTS[name][0]


def folder(name: str) -> Path:
    """Where the models of a robot of several formats are installed."""
    return ROOT / f"{name}_description" / "robots"


def close(ours, theirs, tolerance=TOLERANCE):
    scale = max(1.0, np.abs(theirs).max(initial=0.0))
    assert np.abs(np.asarray(ours) - theirs).max(initial=0.0) / scale < tolerance


def machine_of(name, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return compile(load(urdf(name), floating=ROBOTS[name][1], mimic=False), snap=0.0, **options)


def panda_in_capsules(tips=True):
    """The Panda with capsules (and a box around its finger tips) in place of its collision
    meshes.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        m = load(
            urdf("panda"),
            mimic=False,
            companion=Path(__file__).parent / "reference" / "robots" / "panda_capsules.toml",
        )
    kept = {"capsule", "box"} if tips else {"capsule"}
    return m.with_(
        bodies=tuple(
            replace(b, shapes=tuple(s for s in b.shapes if s.collides and s.kind in kept))
            for b in m.bodies
        )
    )
