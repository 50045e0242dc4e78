"""Flexible bodies by segments: what does a body cost, in lanes and in a long cable?

A six-axis arm whose forearm is a beam of 20 segments (26 speeds): forward dynamics of a batch,
beside Pinocchio's articulated-body pass on the same tree with the springs' forces handed to it, and
RK4 steps of rollouts. A cable of 50 to 400 segments: one state at a time, in nanoseconds a body.
Asked: cost that grows as the number of bodies, within 1.5.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from peers import best, interleaved, size

import catena
from catena import Beam, Body, Joint, Mechanism, Pose
from catena.model.flexible import discretise
from catena.simulation.integrators import fixed_step
from catena.simulation.integrators.methods import method
from catena.simulation.system.first_order import System

BATCH = size(1024, 16)
STEPS = size(50, 2)
STEP = 1e-5
SEGMENTS = size(20, 1)
SIX = (  # a PUMA-like arm: axis of each joint, where the next one sits (m), mass (kg)
    ((0, 0, 1), (0, 0, 0.4), 8.0), ((0, 1, 0), (0.45, 0, 0), 6.0), ((0, 1, 0), (0.5, 0, 0), 0.0), ((1, 0, 0), (0.05, 0, 0), 1.0),  # noqa: E501
    ((0, 1, 0), (0.05, 0, 0), 0.7), ((1, 0, 0), (0.05, 0, 0), 0.4),
)  # fmt: skip


def arm(segments: int) -> Mechanism:
    """The third link is a beam of 0.5 m that bends in its x-y plane; none for zero segments."""
    bodies = []
    joints = []
    parent = "ground"
    place = (0, 0, 0)
    for k, (axis, end, mass) in enumerate(SIX):
        name = f"link{k}"
        com = tuple(x / 2 for x in end)
        size = sum(x * x for x in end)
        inertia = tuple(mass * size / 12 + 1e-4 * mass for _ in range(3))
        beam = (
            Beam(0.5, 4.0, EI=(200.0, None), segments=segments)
            if mass == 0.0 and segments
            else None
        )
        rigid = Body(name, mass or 2.0, com, tuple(x + 0.02 for x in inertia))
        bodies.append(Body(name, flexible=beam) if beam else rigid)
        joints.append(Joint(f"axis{k}", "revolute", parent, name, Pose(position=place), axis=axis))
        parent, place = name, end
    return Mechanism(f"arm with {segments} segments", bodies, joints)


def peer(machine: catena.Machine) -> tuple[pin.Model, np.ndarray]:
    """The same tree for Pinocchio, joint by joint, and the springs' stiffness along the speeds."""
    m = machine.mechanism
    model = pin.Model()
    index = {"ground": 0}
    for j in m.ordered:
        axis = np.array(j.freedoms[0].axis)
        kind = (
            pin.JointModelRevoluteUnaligned(axis)
            if np.abs(axis).max() < 1
            else [pin.JointModelRX(), pin.JointModelRY(), pin.JointModelRZ()][
                int(np.abs(axis).argmax())
            ]
        )
        index[j.child] = model.addJoint(
            index[j.parent], kind, pin.SE3(np.eye(3), np.array(j.placement.position)), j.name
        )
        b = m.body(j.child)
        xx, xy, xz, yy, yz, zz = b.inertia
        model.appendBodyToJoint(
            index[j.child],
            pin.Inertia(
                b.mass, np.array(b.com), np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
            ),
            pin.SE3.Identity(),
        )
    model.gravity.linear = np.array(m.gravity)
    k = np.zeros(machine.nv)
    for load in m.loads:
        k[machine.speed_names.index(load.coordinate)] = load.stiffness
    return model, k


def batches() -> None:
    """Forward dynamics of a batch on one thread."""
    rigid, machine = (catena.compile(arm(n), threads=1) for n in (0, SEGMENTS))
    rng = np.random.default_rng(0)
    q, v, tau = 0.05 * rng.standard_normal((3, BATCH, machine.nv))
    model, k = peer(machine)
    data = model.createData()

    def theirs() -> np.ndarray:
        force = tau - k * q
        return np.array([pin.aba(model, data, q[b], v[b], force[b]) for b in range(BATCH)])

    difference = (
        np.abs(machine.forward_dynamics(q, v, tau) - theirs()).max() / np.abs(theirs()).max()
    )
    a, b = interleaved(lambda: machine.forward_dynamics(q, v, tau), theirs)
    generic = catena.compile(machine.mechanism, threads=1, life="generic")
    c = best(lambda: generic.forward_dynamics(q, v, tau))
    s = [0.05 * x for x in rng.standard_normal((3, BATCH, rigid.nv))]
    rigid.forward_dynamics(*s)
    d = best(lambda: rigid.forward_dynamics(*s))
    print(f"forward dynamics of the arm, {BATCH} states, one thread (difference {difference:.0e})")
    print(
        f"  Pinocchio {b / BATCH * 1e9:6.0f} ns, generic {c / BATCH * 1e9:6.0f} ns, lanes"
        f" {a / BATCH * 1e9:6.0f} ns: {b / a:.1f} times Pinocchio; {a / d:.1f} times the rigid arm"
        " of six speeds"
    )


def rollouts() -> None:
    """RK4 steps of many runs side by side."""
    m = discretise(arm(SEGMENTS))
    system, rk4 = System(m), method("rk4")
    kernel = system.kernel("derivative")
    W, batch = kernel.width, size(64, 8)
    q = 0.01 * np.random.default_rng(0).standard_normal((batch, system.nv))
    x0 = np.stack([system.start(row, 0 * row, np.zeros(0)) for row in q])
    out = np.zeros((W, 1, system.size))
    none = np.zeros((W, 0, system.nv))
    buffer = np.zeros(sum(kernel.input_sizes) * W)
    K = np.zeros((4, system.size * W))

    def run() -> None:
        for g in range(batch // W):
            x = np.ascontiguousarray(x0[g * W : (g + 1) * W].T).reshape(-1)
            fixed_step.explicit(
                kernel.block_address,
                0,
                rk4.A,
                rk4.B[None],
                rk4.C,
                x,
                buffer,
                K,
                none,
                1,
                0,
                0.0,
                STEP,
                STEPS,
                STEPS,
                out,
                0,
                W,
            )

    run()
    assert np.isfinite(out).all()
    print(
        f"RK4 rollouts of the arm, {W} lanes, one thread: {best(run) / batch / STEPS * 1e6:.2f} us"
        " per step"
    )


def cables() -> None:
    """One state of a cable, by the generic life."""
    print(f"{'segments':>9} {'a state':>10} {'a body':>9}")
    costs = []
    rng = np.random.default_rng(0)
    for n in size((50, 100, 200, 400), (2, 4)):
        boom = Body("cable", flexible=Beam(10.0, 0.5, EI=0.05, segments=n))
        machine = catena.compile(
            Mechanism(
                "cable",
                [boom],
                [Joint("hook", "revolute", "ground", "cable")],
                gravity=(0, -9.81, 0),
            )
        )
        q, v, tau = 0.01 * rng.standard_normal((3, machine.nv))
        cost = best(lambda m=machine, s=(q, v, tau): m.forward_dynamics(*s))
        costs.append(cost / (n + 1))
        print(f"{n:9} {cost * 1e6:7.1f} us {costs[-1] * 1e9:6.0f} ns")
    print(f"largest over smallest: {max(costs) / min(costs):.2f}")


if __name__ == "__main__":
    batches()
    rollouts()
    cables()
