"""Rollouts of model-predictive control: how many per second of a cart-pole, against
`mujoco.rollout`, one thread each?

Both simulate the same candidates, 50 intervals of 20 ms with a force on the cart that is constant
in each, by RK4 with one step per interval, from one state, and write all states down. Then the
whole control step of MPPI: random forces, rollouts, costs, weights. Asked: 20 times.

    python benchmarks/mppi_against_mujoco.py
"""

from __future__ import annotations

import time

import mujoco
import mujoco.rollout
import numpy as np
from peers import size

import catena
from catena.control import sampling_mpc

SAMPLES = size(4096, 64)
INTERVALS, INTERVAL = 50, 0.02

MODEL = """
<mujoco><option timestep="0.02" integrator="RK4" gravity="0 0 -9.81">
    <flag constraint="disable" contact="disable" energy="disable"/></option>
  <worldbody><body><joint name="x" type="slide" axis="1 0 0"/>
    <inertial pos="0 0 0" mass="1" diaginertia="0.01 0.01 0.01"/>
    <body><joint name="theta" type="hinge" axis="0 -1 0"/>
      <inertial pos="0 0 0.5" mass="0.2" diaginertia="1e-12 1e-12 1e-12"/></body></body>
  </worldbody><actuator><motor joint="x"/></actuator></mujoco>
"""


def cost(q: np.ndarray, v: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Height and position, at the rows."""
    return (1.0 - np.cos(q[..., 1])).sum(axis=1) + 0.1 * (q[..., 0] ** 2).sum(axis=1)


def best(step, rounds: int = size(20, 2)) -> float:
    """Return the least processor time of a call, s."""
    step()
    found = []
    for _ in range(rounds):
        begin = time.process_time()
        step()
        found.append(time.process_time() - begin)
    return min(found)


def main() -> None:
    machine = catena.compile(catena.load("cart_pole"), threads=1)
    mpc = sampling_mpc(
        machine,
        cost,
        horizon=INTERVALS * INTERVAL,
        intervals=INTERVALS,
        samples=SAMPLES,
        actuated=["x"],
        sigma=5.0,
        limits=20.0,
    )
    u = 5.0 * np.random.default_rng(0).standard_normal((SAMPLES, INTERVALS, 1))
    q, v = np.array([0.0, 3.0]), np.zeros(2)
    model = mujoco.MjModel.from_xml_string(MODEL)
    data = mujoco.MjData(model)
    start = np.zeros((SAMPLES, 1 + 4))
    start[:, 2] = 3.0
    out = np.zeros((SAMPLES, INTERVALS, 5))

    def theirs():
        mujoco.rollout.rollout(model, data, start, control=u, nstep=INTERVALS, state=out)

    for _ in range(size(300, 2)):  # until the code is optimised
        mpc.rollout(q, v, u)
    mine, peer = best(lambda: mpc.rollout(q, v, u)), best(theirs)
    difference = np.abs(mpc.rollout(q, v, u)[0][:, 1:] - out[..., 1:3]).max()
    plan = mpc.start()
    whole = best(lambda: mpc.improve(q, v, plan))
    print(
        f"{SAMPLES} rollouts of {INTERVALS} steps of a cart-pole, largest difference"
        f" {difference:.1e}"
    )
    print(f"mujoco.rollout   {SAMPLES / peer:12.0f} rollouts/s")
    print(f"catena           {SAMPLES / mine:12.0f} rollouts/s   ratio {peer / mine:6.1f}")
    print(f"whole MPPI step  {SAMPLES / whole:12.0f} rollouts/s   ratio {peer / whole:6.1f}")


if __name__ == "__main__":
    main()
