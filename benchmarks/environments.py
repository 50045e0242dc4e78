"""Steps of worlds per second: `catena.env` against Gymnasium's vector environments and
`mujoco.rollout`, one thread each?

The classic tasks against Gymnasium's own vector environments; hopper, half-cheetah and ant without
contact on the same steps of RK4, against `gymnasium.make_vec` and `mujoco.rollout`, whichever is
faster; ant with contact, whose physics differs: rigid contacts with stops here, springs there.
Asked: 20 times. Numbers are steps of the environment, each of several steps of physics, resets
included.

    python benchmarks/environments.py
"""

from __future__ import annotations

import time
import warnings

import gymnasium
import mujoco
import mujoco.rollout
import numpy as np
from peers import size

from catena import env
from catena.env.tasks import gymnasium_asset

WORLDS = size(4096, 16)
CLASSIC = {"cart_pole": "CartPole-v1", "pendulum": "Pendulum-v1", "acrobot": "Acrobot-v1"}
ROBOTS = {"hopper": "Hopper-v5", "half_cheetah": "HalfCheetah-v5", "ant": "Ant-v5"}


def seconds(step, rounds: int = size(12, 1), warm: int = size(3, 1)) -> float:
    """Return the least processor time of a call, s."""
    for _ in range(warm):
        step()
    found = []
    for _ in range(rounds):
        begin = time.process_time()
        step()
        found.append(time.process_time() - begin)
    return min(found)


def ours(task: env.Environment) -> float:
    """Return the steps of worlds per second."""
    worlds = env.Worlds(task, WORLDS, seed=1)
    worlds.reset()
    rng = np.random.default_rng(0)
    if task.choices:
        actions = rng.integers(0, len(task.choices), WORLDS)
    else:
        actions = rng.uniform(*task.signals[0], (WORLDS, len(task.actions)))
    return WORLDS / seconds(lambda: worlds.step(actions), warm=size(60, 1))


def gymnasium_steps(name: str, count: int, mode: str) -> float:
    """Return the steps per second of a vector environment of Gymnasium."""
    envs = gymnasium.make_vec(name, num_envs=count, vectorization_mode=mode)
    envs.reset(seed=1)
    actions = envs.action_space.sample()
    found = count / seconds(lambda: envs.step(actions))
    envs.close()
    return found


def rollout_steps(task: env.Environment, name: str, contact: bool) -> float:
    """Return the steps of the environment per second of `mujoco.rollout`."""
    m = mujoco.MjModel.from_xml_path(str(gymnasium_asset(name)))
    if not contact:
        m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    m.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    d = mujoco.MjData(m)
    count, steps = size(256, 4), round(task.time_step / m.opt.timestep)
    mujoco.mj_forward(m, d)
    start = np.zeros(mujoco.mj_stateSize(m, mujoco.mjtState.mjSTATE_FULLPHYSICS))
    mujoco.mj_getState(m, d, start, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    rng = np.random.default_rng(0)
    states = np.repeat(start[None], count, axis=0)
    control = np.repeat(rng.uniform(-1, 1, (count, 10, m.nu)), steps, axis=1)
    return 10 * count / seconds(lambda: mujoco.rollout.rollout(m, d, states, control))


def main() -> None:
    warnings.simplefilter("ignore")
    print(f"{'task':22} {'catena':>12} {'peer':>12} {'ratio':>8}")
    for task, name in CLASSIC.items():
        mine = ours(env.task(task))
        kinds = ("vector_entry_point", "sync") if task == "cart_pole" else ("sync",)
        for mode in kinds:
            theirs = gymnasium_steps(name, WORLDS if mode != "sync" else size(64, 2), mode)
            print(f"{task:22} {mine:12.0f} {theirs:12.0f} {mine / theirs:8.1f}  {name}, {mode}")
    for task, name in ROBOTS.items():
        own = env.task(task, integrator="rk4", alive={})
        mine, theirs = ours(own), rollout_steps(own, task, contact=False)
        print(f"{task:22} {mine:12.0f} {theirs:12.0f} {mine / theirs:8.1f}  rollout, no contact")
        theirs = gymnasium_steps(name, size(8, 1), "sync")
        print(f"{task:22} {mine:12.0f} {theirs:12.0f} {mine / theirs:8.1f}  {name}, sync, contact")
    own = env.task("ant", contacts=True)
    mine, theirs = ours(own), rollout_steps(own, "ant", contact=True)
    print(f"{'ant with contact':22} {mine:12.0f} {theirs:12.0f} {mine / theirs:8.1f}  rollout")


if __name__ == "__main__":
    main()
