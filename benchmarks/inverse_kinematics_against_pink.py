"""Differential inverse kinematics of a Panda with limits, and whole-body control of a Talos on two
feet: processor time of one step from Python, against pink and against the same programme given to
solvers.

    python benchmarks/inverse_kinematics_against_pink.py

The step of catena contains kinematics, Jacobians, the programme and its solution. That of pink
contains Pinocchio's kinematics, the same task, the same limits, and its default solver (proxqp).
TSID is not compared: it has no wheel on PyPI for this Python.
"""

from __future__ import annotations

import time

import numpy as np
from peers import size

from catena.control import (
    ComTask,
    FrameContact,
    FrameTask,
    PostureTask,
    differential_ik,
    whole_body,
)
from catena.control.qp_solvers import QP_SOLVERS
from robots import machine_of, urdf

DT = 0.005


def cost(step, count: int = 2000, rounds: int = size(5, 1)) -> float:
    """Return the processor time of one call, us: the best of some rounds, after a warm-up in which
    code is optimised.
    """
    end = time.monotonic() + size(8.0, 0.0)
    count = size(count, 2)
    step()
    while time.monotonic() < end:
        step()
    found = []
    for _ in range(rounds):
        begin = time.process_time()
        for _ in range(count):
            step()
        found.append((time.process_time() - begin) / count * 1e6)
    return min(found)


def panda():
    machine = machine_of("panda")
    frame = "panda_link7"
    q = machine.neutral()
    q[:7] = [0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.8]
    goal = machine.pose(q, frame)
    goal[:3, 3] += [0.1, 0.1, -0.1]
    ik = differential_ik(machine, [FrameTask(frame), PostureTask(1e-3)], dt=DT, speed_limits=2.0)
    y = ik.targets({frame: goal, "posture": q})
    ik(q, y)
    mine = cost(lambda: ik.step(q, y))
    print(f"Panda, one step with limits of speeds and joints   catena {mine:8.2f} us")
    many = q + 0.1 * np.random.default_rng(0).standard_normal((size(4096, 8), machine.nq))
    batch = cost(lambda: ik(many, y), count=3) / len(many)
    print(f"Panda, in a batch of 4096                          catena {batch:8.2f} us a state")
    try:
        theirs = pink_step(frame, q, goal)
    except ImportError as why:
        print(f"pink is not installed ({why})")
        return
    print(f"Panda, the same tasks and limits                   pink   {theirs:8.2f} us")
    print(f"ratio                                                     {theirs / mine:8.1f}")


def pink_step(frame, q, goal):
    """Return the processor time of one step of pink, us."""
    import pink
    import pinocchio as pin
    from pink.tasks import FrameTask as PinkFrame
    from pink.tasks import PostureTask as PinkPosture

    model = pin.buildModelFromUrdf(str(urdf("panda")))
    model.velocityLimit[:] = 2.0
    data = model.createData()
    configuration = pink.Configuration(model, data, q[: model.nq])
    hand = PinkFrame(frame, position_cost=1.0, orientation_cost=1.0)
    hand.set_target(pin.SE3(goal[:3, :3], goal[:3, 3]))
    posture = PinkPosture(cost=np.sqrt(1e-3))
    posture.set_target(q[: model.nq])

    def step():
        configuration.update(q[: model.nq])
        return pink.solve_ik(configuration, [hand, posture], DT, solver="proxqp")

    return cost(step, count=100)


def talos():
    machine = machine_of("talos")
    q, v = machine.neutral(), np.zeros(machine.nv)
    names = list(machine.coordinate_names)
    for side in ("left", "right"):
        for k, x in zip((3, 4, 5), (-0.45, 0.9, -0.45)):
            q[names.index(f"leg_{side}_{k}_joint")] = x
    com = machine.momentum(q, v)["com"]
    feet = [FrameContact(f"leg_{s}_6_link", 0.6, (0.1, 0.05)) for s in ("left", "right")]
    tasks = [ComTask(10.0), PostureTask(0.1)]
    law = whole_body(machine, tasks, contacts=feet)
    for what, shift in (("inside its cones", 0.005), ("with points at their limits", 0.01)):
        y = law.targets({"com": com + [shift, 0.0, 0.0], "posture": q})
        law.solve(q, v, y)
        mine = cost(lambda: law.solve(q, v, y), count=200)
        print(f"Talos on two feet, {what:30s}  catena {mine:8.1f} us")
        for name in QP_SOLVERS:
            other = whole_body(machine, tasks, contacts=feet, solver=name)
            try:
                theirs = cost(lambda: other._by_priority(other._evaluate(q, v, y)), count=50)
            except Exception as why:  # a solver that is not installed
                print(f"    {name}: {why}")
                continue
            print(f"    the same programme by {name:12s}                {theirs:8.1f} us")
    assembly = cost(lambda: law._call(q, v, y), count=500)
    print(f"    of this, the matrices of the programme                {assembly:8.1f} us")


if __name__ == "__main__":
    panda()
    if size(True, False):
        talos()
