"""How fast is the regressor of a batch beside Pinocchio's computeJointTorqueRegressor, state after state? The same numbers first.

Pinocchio writes one matrix over and over, in the cache; a batch has one for each state. What memory alone allows is the last column: the ratio if
the results took only the time of filling as many new bytes with zeros, on as many threads.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pinocchio as pin
from peers import BATCH, ROBOTS, best, interleaved, robot, states


def theirs_at(model: pin.Model, data: pin.Data, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    return pin.computeJointTorqueRegressor(model, data, q, v, a)


def filled(size: int, threads: int, pool: ThreadPoolExecutor) -> None:
    """New memory for so many doubles, filled with zeros."""
    parts = np.array_split(np.empty(size), threads)
    list(pool.map(lambda part: part.fill(0.0), parts))


print(f"{'robot':8} {'ours us':>9} {'pin us':>9} {'ratio':>7} {'columns':>8} {'allowed':>8}   largest difference of tau")
for name in ROBOTS:
    machine, model, bridge = robot(name)
    data = model.createData()
    q, v, a = states(machine, BATCH)
    Q, V = bridge.q_to(q), bridge.v_to(q, v)
    A = bridge.a_to(q, v, a)
    few = min(BATCH, 256)
    theta = np.concatenate([model.inertias[k].toDynamicParameters() for k in range(1, model.njoints)])
    from catena.compiler.regressor import inertial_parameters

    ours_tau = machine.regressor(q[:few], v[:few], a[:few]) @ inertial_parameters(machine.layout)
    their_tau = np.array([theirs_at(model, data, *x) @ theta for x in zip(Q[:few], V[:few], A[:few])])
    gap = np.abs(ours_tau - bridge.tau_from(q[:few], their_tau)).max() / np.abs(their_tau).max()
    calls = list(zip(Q[:few], V[:few], A[:few]))
    ours, theirs = interleaved(lambda: machine.regressor(q, v, a), lambda: [theirs_at(model, data, *x) for x in calls])
    ours, theirs = ours / BATCH, theirs / few
    columns, threads = len(inertial_parameters(machine.layout)), machine.threads
    with ThreadPoolExecutor(threads) as pool:
        memory = best(lambda: filled(BATCH * machine.nv * columns, threads, pool), 0.3) / BATCH
    print(f"{name:8} {ours * 1e6:9.3f} {theirs * 1e6:9.3f} {theirs / ours:7.1f} {columns:8} {theirs / memory:8.1f}   {gap:.1e}")
