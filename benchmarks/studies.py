"""What does a study cost beside the driver that integrates its runs?

A million runs of a double pendulum (2 s, RK4, steps of 1 ms, a row every 10 ms), both masses and
both angles drawn, two measures a run, written to zarr: in the threads of one process, and on a Dask
cluster of as many workers on this machine, which is there and has compiled its machine code. Beside
it the driver of equal steps alone, blocks of groups of lanes in as many threads from starts that
are there, every row written down and forgotten. Asked: within 10 % of the driver, below 1 GB of
memory, and the cluster within 10 % of the threads.

    python benchmarks/studies.py [RUNS] [driver|threads|dask ...] [--rounds=3]

Several rounds take turns, and medians are compared.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
from peers import TINY, size

import catena
from catena.simulation.planning.plan import initial_states
from catena.studies import engines

WORDS = [word for word in sys.argv[1:] if not word.startswith("-")]
RUNS = next((int(float(w)) for w in WORDS if w[0].isdigit()), size(1_000_000, 128))
PARTS = [w for w in WORDS if not w[0].isdigit()] or ["driver", "threads", "dask"]
UNTIL = size(2.0, 0.05)
STEP = 1e-3
ROWS = size(200, 5)
CORES = engines.cores()


def double_pendulum() -> catena.Mechanism:
    """Two rods below each other, 1 m each, of masses m1 and m2."""
    import sympy

    m = [sympy.Symbol("m1"), sympy.Symbol("m2")]
    bodies = [
        catena.Body(f"rod {k + 1}", x, (0, 0, -0.5), (x / 12, x / 12, 0)) for k, x in enumerate(m)
    ]
    joints = [
        catena.Joint("upper", "revolute", "ground", "rod 1", axis=(0, 1, 0)),
        catena.Joint(
            "lower", "revolute", "rod 1", "rod 2", catena.Pose(position=(0, 0, -1)), axis=(0, 1, 0)
        ),
    ]
    return catena.Mechanism("double pendulum", bodies, joints, parameters={"m1": 1.0, "m2": 1.0})


def study(runs: int = RUNS) -> catena.Study:
    draws = {
        "q.upper": "uniform(-2, 2)",
        "q.lower": "uniform(-2, 2)",
        "m1": "uniform(0.5, 2)",
        "m2": "uniform(0.5, 2)",
    }
    measures = {"end": "final(q['lower'])", "fastest": "max(abs(v['lower']))"}
    return catena.study(
        double_pendulum(),
        draws,
        measures=measures,
        samples=runs,
        until=UNTIL,
        integrator="rk4",
        step=STEP,
        output=UNTIL / ROWS,
    )


def driver(s: catena.Study) -> tuple[float, float]:
    """Seconds of the driver alone, of the clock and of processors: blocks of as many runs from
    starts that are there, in as many threads.
    """
    experiment = engines.experiment_of(s)
    rollout = experiment.rollout
    block = min(experiment.block_size, RUNS)
    q, v, p, u, _ = experiment.starts(s.design.rows(0, block))
    x0 = initial_states(experiment.plan.system, 0.0, q, v, p)
    rooms = threading.local()

    def one(_: int) -> None:
        if not hasattr(rooms, "out"):
            rooms.out = np.empty((block, 1 + ROWS, x0.shape[1]))
        rollout.drive(x0, np.concatenate([u, p], axis=1), rooms.out)

    one(0)
    began = clocks()
    with ThreadPoolExecutor(CORES) as pool:
        list(pool.map(one, range(RUNS // block)))
    whole = RUNS / (RUNS // block * block)
    return tuple(whole * x for x in spent(began))


def timed(s: catena.Study, on: object = None) -> tuple[float, float]:
    """Seconds of the study with machine code that is there already, written to zarr: of the clock,
    and of this process's processors.
    """
    with tempfile.TemporaryDirectory() as folder:
        began = clocks()
        s.run(out=Path(folder) / "study.zarr", on=on)
        return spent(began)


def clocks() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def spent(began: tuple[float, float]) -> tuple[float, float]:
    now = clocks()
    return now[0] - began[0], now[1] - began[1]


def main() -> None:
    timed(study(64))  # zarr and xarray are loaded
    s = study()
    rounds = next((int(w.partition("=")[2]) for w in sys.argv if w.startswith("--rounds=")), 1)
    print(
        f"{RUNS} runs of a double pendulum, {UNTIL:g} s by RK4 with 1 ms, {CORES} cores, {rounds}"
        f" rounds: {s.estimate()}",
        flush=True,
    )
    taken: dict[str, list[tuple[float, float]]] = {
        part: [] for part in ("driver", "threads", "dask")
    }
    with workers() if "dask" in PARTS else nullcontext() as client:
        if client is not None:
            # each worker's machine code, once
            client.run(lambda text: engines._task(text, 0, 64), engines._pickle_study(s))
        ways = {
            "driver": lambda: driver(s),
            "threads": lambda: timed(s),
            "dask": lambda: timed(s, client),
        }
        for _ in range(rounds):
            for part in PARTS:
                taken[part].append(ways[part]())
                print(
                    f"  {part:8} {taken[part][-1][0]:7.2f} s of the clock,"
                    f" {taken[part][-1][1]:7.2f} s of this process's processors",
                    flush=True,
                )
    (alone, work), (threads, own), (cluster, _) = (
        np.median(x, axis=0) if x else (np.nan, np.nan) for x in taken.values()
    )
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(
        f"{'driver alone':24} {alone:7.2f} s  {alone / RUNS * CORES * 1e6:6.2f} us of a core a run;"
        f" {work:.2f} s of processors"
    )
    print(
        f"{'study, threads, zarr':24} {threads:7.2f} s  {threads / alone:5.3f} times the driver,"
        f" {own / work:5.3f} in time of processors; at most {memory:.2f} GB of memory"
    )
    print(f"{'study, Dask, zarr':24} {cluster:7.2f} s  {cluster / threads:5.3f} times threads")


@contextmanager
def workers() -> Iterator[Any]:
    """A cluster of one worker for each core."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=CORES if not TINY else 1,
            threads_per_worker=1,
            dashboard_address=None,
            processes=not TINY,
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


if __name__ == "__main__":
    main()
