"""Whole-body control: its equations, its limits, its priorities, and two routes to its minimum."""

import numpy as np
import pytest

import catena
from catena.control import ComTask, FrameContact, FrameTask, PostureTask, whole_body
from catena.errors import StateError
from robots import machine_of as robot

pytest.importorskip("proxsuite")
FEET = ("FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT")


def standing():
    """A Solo12 on its four feet, knees bent."""
    machine = robot("solo12")
    q = machine.neutral()
    names = list(machine.coordinate_names)
    for leg in ("FL", "FR", "HL", "HR"):
        for joint, angle in (("HFE", 0.7), ("KFE", -1.4)):
            q[names.index(f"{leg}_{joint}")] = angle
    return machine, q, np.zeros(machine.nv)


def controller(machine, friction=0.7, **options):
    feet = [FrameContact(foot, friction) for foot in FEET]
    return whole_body(machine, [ComTask(10.0), PostureTask(0.1)], contacts=feet, **options)


def test_the_solution_is_a_motion_of_the_robot():
    """tau and the contact forces cause the accelerations, the feet do not accelerate, and the
    forces are inside their cones.
    """
    machine, q, v = standing()
    rng = np.random.default_rng(2)
    v = 0.01 * rng.standard_normal(machine.nv)
    law = controller(machine)
    com = machine.momentum(q, v)["com"]
    found = law.solve(q, v, {"com": com + [0.01, 0.02, 0.01], "posture": q})
    wrenches = {foot: np.r_[0, 0, 0, f] for foot, f in zip(FEET, found.forces)}
    a = machine.forward_dynamics(q, v, found.tau, wrenches=wrenches)
    assert np.allclose(a, found.a, atol=1e-6 * (1 + abs(a).max()))
    for foot in FEET:
        rows = machine.jacobian(q, foot, axes="body")[3:]
        rate = machine.jacobian_rate(q, v, foot, axes="body")[3:]
        assert abs(rows @ found.a + rate).max() < 1e-7
    assert (found.forces[:, 2] >= -1e-9).all()
    assert (np.hypot(*found.forces[:, :2].T) <= 0.7 * found.forces[:, 2] + 1e-6).all()
    assert abs(found.tau[:6]).max() == 0.0


@pytest.mark.parametrize("shift", [[0, 0, 0], [0.05, 0, 0], [0.0, 0.3, -0.2], [0.3, 0.3, 0]])
def test_the_active_set_and_a_solver_find_the_same_minimum(shift):
    pytest.importorskip("quadprog")
    machine, q, v = standing()
    law = controller(machine, friction=0.3, solver="quadprog", effort=2.5)
    y = law.targets({"com": machine.momentum(q, v)["com"] + shift, "posture": q})
    theirs = law._by_priority(law._evaluate(q, v, y))
    for _ in range(2):  # the second time from the active set of the first
        mine = law.solve(q, v, y)
        x = np.r_[mine.a, mine.forces.ravel()]
        assert np.allclose(x, theirs, atol=1e-6 * (1 + abs(theirs).max()))


def test_a_task_of_higher_priority_is_not_disturbed():
    machine = robot("ur5")
    q, v = np.array([0.1, -1.2, 1.3, -0.4, 0.5, 0.2]), np.zeros(6)
    frame = "wrist_3_link"
    goal = machine.pose(q, frame)
    goal[:3, 3] += [0.05, 0.0, 0.05]
    hand = FrameTask(frame, orientation=0.0)
    far = {frame: goal, "posture": q + 1.0}
    alone = whole_body(machine, [hand], effort=None).solve(q, v, {frame: goal})
    both = whole_body(machine, [[hand], [PostureTask(1.0)]], effort=None).solve(q, v, far)
    J = machine.jacobian(q, frame)[3:]
    assert np.allclose(J @ both.a, J @ alone.a, atol=1e-4)
    assert np.linalg.norm(both.a - 100.0) < np.linalg.norm(alone.a - 100.0)  # kp e of the posture


def test_a_closed_loop_is_driven_through_its_rows():
    machine = catena.compile(catena.load("four_bar"))
    q, _ = catena.assemble(machine, machine.neutral())
    v = np.zeros(machine.nv)
    crank = machine.joint_names[0]
    law = whole_body(machine, [PostureTask(1.0, joints=(crank,))], actuated=[crank], effort=None)
    goal = q.copy()
    goal[0] += 0.1
    found = law.solve(q, v, {"posture": goal})
    a = machine.forward_dynamics(q, v, found.tau)
    assert np.allclose(a, found.a, atol=1e-4 * abs(a).max())
    assert found.a[0] == pytest.approx(10.0, rel=1e-3)


def test_wrong_arguments_are_refused_by_name():
    machine = robot("ur5")
    with pytest.raises(StateError, match="one task or more"):
        whole_body(machine, [])
    with pytest.raises(StateError, match="friction"):
        FrameContact("foot", 0.0)
    with pytest.raises(StateError, match="gains are zero or above"):
        whole_body(machine, [PostureTask()], kp=-1.0)
