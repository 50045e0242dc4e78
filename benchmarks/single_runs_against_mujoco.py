"""How fast are single runs with stops and dry friction, relative to MuJoCo at its default step?

    python benchmarks/single_runs_against_mujoco.py [ROBOT ...]

Each robot, of a copy of MuJoCo's menagerie on the shelf, moves for 2 s from a random state within
its limits, without contacts and actuators: in MuJoCo by the step and the integrator of its file
(one call of `mujoco.rollout`), and in catena with limits="stop" at three tolerances. Errors are
those of the last coordinates, relative to a run at 1e-12; MuJoCo's limits and friction are soft, so
that its error does not fall with the step.
Times are of the processor, on one thread, the best of five. Asked: 5 times as fast as MuJoCo at an
error that is not larger.
"""

from __future__ import annotations

import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import mujoco
import mujoco.rollout
import numpy as np

import catena
from catena.formats.mjcf.source import compiled

UNTIL = 2.0  # s
SEED = 26
SPEED = 0.5  # standard deviation of the initial speeds, rad/s or m/s
TOLERANCES = (1e-3, 1e-6, 1e-9)
NAMES = ("universal_robots_ur5e", "kuka_iiwa_14", "unitree_go2", "unitree_g1", "shadow_hand")
OFF = mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_ACTUATION
SMALL = """<mujoco><worldbody><body><joint name="j" axis="0 1 0" range="-1 1" limited="true"
frictionloss=".1"/><geom size=".1" pos="1 0 0"/></body></worldbody></mujoco>"""  # of --tiny


def best(f: Callable[[], object]) -> float:
    """Seconds of the processor, the best of five."""
    times = []
    for _ in range(5):
        began = time.process_time()
        f()
        times.append(time.process_time() - began)
    return min(times)


def compare(name: str, file: Path) -> None:
    """Print the times and errors of one robot."""
    machine = catena.compile(catena.load(file), threads=1)
    rng = np.random.default_rng(SEED)
    q, v = machine.sample(rng), SPEED * rng.standard_normal(machine.nv)

    def ours(tolerance: float) -> catena.Result:
        return catena.simulate(
            machine, q=q, v=v, until=UNTIL, limits="stop", tolerance=tolerance, output=UNTIL
        )

    exact = ours(1e-12).data["q"].values[-1]
    m = compiled(file, None)[1]
    m.opt.disableflags |= int(OFF)
    steps = round(UNTIL / m.opt.timestep)
    first = np.zeros((1, mujoco.mj_stateSize(m, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
    first[0, 1 : 1 + m.nq], first[0, 1 + m.nq : 1 + m.nq + m.nv] = q, v
    states, d = np.zeros((1, steps, first.shape[1])), mujoco.MjData(m)
    theirs = best(lambda: mujoco.rollout.rollout(m, d, first, None, nstep=steps, state=states))
    error = np.abs(states[0, -1, 1 : 1 + m.nq] - exact).max()
    print(f"{name:24} {m.nv:3} {'MuJoCo':12} {theirs * 1e3:8.2f} ms {'':6} error {error:7.1e}")
    for tolerance in TOLERANCES:
        run = ours(tolerance)
        mine = best(lambda tolerance=tolerance: ours(tolerance))
        error = np.abs(run.data["q"].values[-1] - exact).max()
        events = run.data["event_time"].size if "event_time" in run.data else 0
        print(
            f"{'':28} {f'catena {tolerance:.0e}':12} {mine * 1e3:8.2f} ms {theirs / mine:6.2f}"
            f" error {error:7.1e}, {run.ledger.steps} steps, {events} events",
            flush=True,
        )


def main(names: list[str]) -> None:
    warnings.simplefilter("ignore")
    if names == ["--tiny"]:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "small.xml")
            file.write_text(SMALL)
            compare("small", file)
        return
    shelf = catena.robots()
    for name in names or NAMES:
        if name in shelf:
            compare(name, shelf[name].file)
        else:
            print(f"{name}: it is not installed; CATENA_ROBOTS names a copy of mujoco_menagerie")


if __name__ == "__main__":
    main(sys.argv[1:])
