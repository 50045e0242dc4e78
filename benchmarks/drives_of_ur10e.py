"""How well are the motor currents of a real UR10e predicted on logs that were not used, relative to
the published pipeline?

The logs are those of Mamedov and Mikhel (2020); the script takes their folder as an argument, by
default ../shared/data/ur10e, and a synthetic arm where there is none. The published pipeline is
ordinary least squares with offset, viscous and Coulomb friction and rotor inertia, without and with
physically feasible inertias; here it has the same filter, weights and gains, and the width of its
Coulomb friction and its cutoff are chosen by cross-validation between the logs to fit. Each log is
predicted by a fit to the others, on its own rows; "slow" counts the part of the current below
10 Hz, which the motion can explain.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
from peers import size

import catena
from catena.identification import condition, feasible, fit_drives, read_log
from catena.identification.logs import low_pass

NAMES = ("ur-20_02_12-50sec_12harm", "ur-20_02_10-30sec_12harm", "ur-20_01_31-unload")
STILL = ("ur-20_01_17-p1", "ur-20_01_17-p2", "ur-20_01_17-p3")


def real_logs(folder: Path):
    """The robot, logs with motion, and logs at rest."""
    robot = catena.compile(catena.load(str(folder / "ur10e.urdf")))
    logs = {n: read_log(robot, folder / f"{n}.csv") for n in (*NAMES, *STILL)}
    return robot, {n: logs[n] for n in NAMES}, {n: logs[n] for n in STILL}


def synthetic_logs():
    """An arm of two links with friction that depends on the load."""
    arm = catena.compile(catena.load("two_link_arm"))
    logs = {}
    for seed in range(2):
        t = np.arange(0.0, 8.0, 0.02)
        way = catena.identification.excitation(arm, "inertial", trials=1, seed=seed)
        q, v, a = way(t)
        load = arm.inverse_dynamics(q, v, a)
        tau = load + (1.0 + 0.1 * np.abs(load)) * np.tanh(v / 0.01) + 0.5 * v
        tau += 0.02 * np.random.default_rng(seed).standard_normal(tau.shape)
        columns = {"time": t}
        for k, n in enumerate(arm.speed_names):
            columns |= {f"q {n}": q[:, k], f"v {n}": v[:, k], f"current {n}": 0.1 * tau[:, k]}
        logs[f"synthetic {seed}"] = read_log(arm, columns)
    return arm, logs, {}


def errors(model, table):
    """Relative errors of all rows, and of the slow part."""
    motion = condition(table)
    e = motion.measured - model.at_rows(motion)
    even = [
        np.stack([np.interp(motion.t, motion.times, x) for x in y.T], 1)
        for y in (e, motion.measured)
    ]
    slow = [low_pass(x, min(10.0, 0.3 / motion.step), motion.step) for x in even]
    return tuple(
        np.sqrt(np.mean(a**2, axis=0) / np.mean(b**2, axis=0))
        for a, b in ((e, motion.measured), slow)
    )


def baseline(robot, logs):
    """The published pipeline with its cutoff chosen between the logs, and its feasible variant."""
    tried = [fit_drives(robot, logs, laws=(), cutoff=c) for c in size((None, 5.0, 10.0), (None,))]
    found = min(tried, key=lambda f: float((f.basic_cross_validated**2).sum()))
    inertias = feasible(found.model, found.covariance)
    return found.model, replace(found.model, theta=inertias.theta)


given = [x for x in sys.argv[1:] if not x.startswith("--")]
places = [p / "shared" / "data" / "ur10e" for p in Path(__file__).resolve().parents]
folder = Path(given[0]) if given else next((p for p in places if p.is_dir()), Path())
use_real = (folder / "ur10e.urdf").is_file() and "--tiny" not in sys.argv
robot, logs, still = real_logs(folder) if use_real else synthetic_logs()
print("relative error of", "the UR10e" if use_real else "a synthetic arm", *robot.speed_names)
ratios = []
for name in logs:
    others = [x for n, x in logs.items() if n != name]
    ours = fit_drives(robot, others).model
    published, possible = baseline(robot, others)
    shown = {}
    for title, model in (("published", published), ("feasible", possible), ("catena", ours)):
        shown[title] = errors(model, logs[name])
        for part, e in zip(("all", "slow"), shown[title]):
            print(f"{name:28s} {title:10s} {part:5s}", *(f"{x:7.4f}" for x in e))
    ratios.append([a / b for a, b in zip(shown["catena"], shown["published"])])
for k, part in enumerate(("all", "slow")):
    mean = np.mean([r[k] for r in ratios], axis=0)
    print(f"catena relative to the published pipeline, {part}:", *(f"{x:.3f}" for x in mean))
if still:
    both = list(logs.values())[:2]
    models = (fit_drives(robot, both).model, baseline(robot, both)[0])
    for name, log in still.items():
        for title, model in zip(("catena", "published"), models):
            print(f"{name:28s} {title:10s} rest ", *(f"{x:7.3f}" for x in errors(model, log)[0]))
