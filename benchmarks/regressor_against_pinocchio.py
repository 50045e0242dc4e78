"""How fast is the regressor of a batch beside Pinocchio's computeJointTorqueRegressor, state after
state? The same numbers first.

Pinocchio writes one matrix over and over, in the cache; a batch has one for each state. So two
batches are measured: one whose results have room in the cache, and a large one, whose results go to
new memory. What memory alone allows is the last column: the ratio if the results took only the time
of filling as many new bytes with zeros, on as many threads. Asked: 20.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pinocchio as pin
from peers import BATCH, ROBOTS, best, interleaved, robot, size, states

from catena.compiler.regressor import inertial_parameters

NEAR = 8_000_000  # bytes of results that stay in the cache


def theirs_at(
    model: pin.Model, data: pin.Data, q: np.ndarray, v: np.ndarray, a: np.ndarray
) -> np.ndarray:
    return pin.computeJointTorqueRegressor(model, data, q, v, a)


def filled(count: int, threads: int, pool: ThreadPoolExecutor) -> None:
    """New memory for so many doubles, filled with zeros."""
    parts = np.array_split(np.empty(count), threads)
    list(pool.map(lambda part: part.fill(0.0), parts))


def measured(name: str) -> None:
    machine, model, bridge = robot(name)
    data = model.createData()
    theta = inertial_parameters(machine.layout)
    q, v, a = states(machine, BATCH)
    Q, V = bridge.q_to(q), bridge.v_to(q, v)
    A = bridge.a_to(q, v, a)
    few = min(BATCH, 256)
    own = np.concatenate([model.inertias[k].toDynamicParameters() for k in range(1, model.njoints)])
    calls = list(zip(Q[:few], V[:few], A[:few]))
    their_tau = np.array([theirs_at(model, data, *x) @ own for x in calls])
    gap = (
        np.abs(
            machine.regressor(q[:few], v[:few], a[:few]) @ theta
            - bridge.tau_from(q[:few], their_tau)
        ).max()
        / np.abs(their_tau).max()
    )
    entries = machine.nv * len(theta)
    threads = machine.threads
    for batch in size((max(64, NEAR // (8 * entries) // 64 * 64), BATCH), (BATCH,)):
        given = q[:batch], v[:batch], a[:batch]
        ours, theirs = interleaved(
            lambda given=given: machine.regressor(*given),
            lambda: [theirs_at(model, data, *x) for x in calls],
        )
        ours = ours / batch
        theirs = theirs / few
        with ThreadPoolExecutor(threads) as pool:
            memory = (
                best(lambda batch=batch, pool=pool: filled(batch * entries, threads, pool), 0.3)
                / batch
            )
        print(
            f"{name:8} {batch:6} {ours * 1e6:9.3f} {theirs * 1e6:9.3f} {theirs / ours:7.1f}"
            f" {len(theta):8} {theirs / memory:8.1f}   {gap:.1e}",
            flush=True,
        )


print(
    f"{'robot':8} {'batch':>6} {'ours us':>9} {'pin us':>9} {'ratio':>7} {'columns':>8}"
    f" {'allowed':>8}   largest difference of tau"
)
for robot_name in ROBOTS:
    measured(robot_name)
