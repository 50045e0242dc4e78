"""Real robots from the PyPI package example-robot-data, for tests and benchmarks."""

from __future__ import annotations

import sysconfig
from pathlib import Path

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


def urdf(name: str) -> Path:
    """Where a robot's URDF is installed."""
    root = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix" / "share" / "example-robot-data" / "robots"
    return root / ROBOTS[name][0]
