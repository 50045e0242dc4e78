"""How long until the first answer: importing catena, loading Talos, one inverse dynamics; with a warm and a cold cache."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from peers import size

ROBOT = size("talos", "double_pendulum")

CODE = """
import time, warnings, sys
warnings.simplefilter("ignore")
sys.path.insert(0, {tests!r})
began = time.perf_counter()
import catena
imported = time.perf_counter()
from robots import urdf
machine = catena.compile(catena.load(urdf({robot!r}), floating=True))
import numpy as np
machine.inverse_dynamics(machine.neutral(), np.zeros(machine.nv), np.zeros(machine.nv))
print(imported - began, time.perf_counter() - began)
"""


def run(cache: str) -> tuple[float, float]:
    code = CODE.format(robot=ROBOT, tests=str(Path(__file__).parent.parent / "tests"))
    environment = os.environ | {"CATENA_CACHE_DIR": cache}
    out = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True).stdout
    imported, answered = map(float, out.split())
    return imported, answered


def main() -> None:
    with tempfile.TemporaryDirectory() as cache:
        began = time.perf_counter()
        cold = run(cache)
        warm = min((run(cache) for _ in range(size(3, 1))), key=lambda pair: pair[1])
    print(f"import catena: {warm[0]:.2f} s")
    print(f"{ROBOT} loaded and answered: warm {warm[1]:.2f} s, cold {cold[1]:.2f} s (in all {time.perf_counter() - began:.0f} s)")


if __name__ == "__main__":
    main()
