"""Derivations that cut every body free: newton_euler, recursive, penalty, boltzmann_hamel."""

from __future__ import annotations

from collections.abc import Iterable

import casadi as ca
import numpy as np

from ...compiler import vector
from ...equations.readable import Name, upright
from ...model import GROUND
from .board import Board
from .energy_steps import constraint_step, load_step, rate_rows
from .free_bodies import FreeBodies
from .kane import active, inertia_forces
from .steps import Line, Step
from .words import block_of_g, bold, column_of

ELIMINATED = "equations of motion"
NOTHING = 1e-12  # rounding of an entry that vanishes, where the others are of size one


def newton_euler(board: Board) -> list[Step]:
    """Return the steps of newton_euler: Newton's and Euler's laws for every body, then the joints'
    freedoms.
    """
    free = FreeBodies(board)
    b = free.bodies
    return [
        b.positions(),
        b.velocities(),
        *b.turning(),
        b.accelerations(),
        *load_step(board),
        *laws(board, free),
        freedoms(board, free),
        eliminated(board, free),
        *constraint_step(board),
    ]


def laws(board: Board, free: FreeBodies) -> list[Step]:
    """Return the steps of Newton's law and Euler's law of every body."""
    newton, euler = [], []
    forces = [k - 3 for k in free.shown if k >= 3]
    torques = [k for k in free.shown if k < 3]
    for b in free.movers.values():
        newton += board.rows(
            (b.m * b.a)[forces],
            (free.force(b.name) + b.m * free.bodies.gravity)[forces],
            free.sizes[0],
        )
        euler += board.rows(
            (b.R @ (b.I @ b.alpha + ca.cross(b.w, b.I @ b.w)))[torques],
            free.torque(b.name, b.r)[torques],
            free.sizes[1],
        )
    which = ", ".join(free.movers)
    return [
        Step(
            "Newton's law",
            f"m a of each body ({which}) equals its weight plus the force of the joint that carries"
            " it, minus the forces of the joints that it carries.",
            _said(newton),
            True,
        ),
        Step(
            "Euler's law",
            "The rate of each body's angular momentum about its centre of mass is the torque of the"
            " same forces.",
            _said(euler),
            True,
        ),
    ]


def freedoms(board: Board, free: FreeBodies) -> Step:
    """Return the step of the joints' freedoms: along its freedom a joint carries nothing but its
    motor's force.
    """
    rows = board.rows(free.along_freedoms(), free.motors(), free.sizes[0] + free.sizes[1])
    return Step(
        "freedoms of the joints",
        "Along its freedom a joint transmits the force of its motor, and nothing else.",
        _said(rows),
        True,
    )


def eliminated(board: Board, free: FreeBodies) -> Step:
    """Return the step with the equations of motion without the joints' forces."""
    rows = rate_rows(board) + board.rows(
        -inertia_forces(board, free.bodies), active(board, free.bodies) + board.A.T @ board.lam
    )
    return Step(
        ELIMINATED, "Eliminate the forces of the joints from the rows above.", tuple(rows), True
    )


# --- recursive
def recursive(board: Board) -> list[Step]:
    """Return the steps of recursive: velocities and accelerations outwards, forces inwards, joint
    by joint, each along its own body's axes.
    """
    free = FreeBodies(board, "body")
    s = board.s
    g = free.bodies.gravity
    outward = []
    inward = []
    for b in free.movers.values():
        O = free.origin(b.name)
        u = ca.jtimes(O, s.q, s.coordinate_rate())
        a = b.R.T @ (free.bodies.rate(u) - g)
        if ca.depends_on(b.w, s.v):
            outward += [
                board.line(bold("omega", b.name), b.w, b.kernel[:3], axes=b.name),
                board.line(bold("alpha", b.name), b.alpha, b.kernel_rate[:3], axes=b.name),
            ]
        outward.append(
            board.line(
                bold("a", b.name),
                a,
                s.frame_acceleration(b.name, "body")[3:] - b.R.T @ g,
                axes=b.name,
            )
        )
    forces = [k - 3 for k in free.shown if k >= 3]
    torques = [k for k in free.shown if k < 3]
    for b in reversed(free.movers.values()):
        own = free.wrench[b.name]
        F = free.into(b, b.m * (b.a - g) - free.force(b.name)) + own[3:]
        spin = b.I @ b.alpha + ca.cross(b.w, b.I @ b.w) + ca.cross(b.com, b.R.T @ (b.m * (b.a - g)))
        T = spin - free.into(b, free.torque(b.name, free.origin(b.name))) + own[:3]
        inward += board.rows(own[3:][forces], F[forces], free.sizes[0]) + board.rows(
            own[:3][torques], T[torques], free.sizes[1]
        )
    rows = board.rows(free.motors(), free.along_freedoms(), free.sizes[0] + free.sizes[1])
    return [
        *load_step(board),
        Step(
            "outward pass",
            "From the ground to the leaves: each joint adds its own motion; the ground accelerates"
            " upwards with g, so that weight needs no term of its own. Origins of the bodies, along"
            " each body's own axes.",
            tuple(outward),
            True,
        ),
        Step(
            "inward pass",
            "From the leaves to the ground: the force in a joint is the rate of momentum of its"
            " body plus the forces in the joints that the body carries.",
            _said(inward),
            True,
        ),
        Step(
            "freedoms of the joints",
            "The motor's force is the component of the joint's force along its freedom.",
            _said(rows),
            True,
        ),
        eliminated(board, free),
        *constraint_step(board),
    ]


# --- penalty
def penalty(board: Board) -> list[Step]:
    """Return the steps of penalty: the joints yield a little, and springs of stiffness beta carry
    their forces.
    """
    free = FreeBodies(board)
    m, stretch = board.mechanism, []
    names: list[Name] = []
    beta = float(getattr(board.equations, "extra", {}).get("beta", 1e6))
    k = board.more("beta", [Name("beta_", "beta", r"\beta")], ca.SX(beta))
    for joint in m.ordered:
        if joint.parent == GROUND:
            continue
        held = (
            np.abs(board.numbers(free.relative(joint.child)).reshape(len(board.values), -1, 6)).max(
                (0, 1)
            )
            < NOTHING
        )
        for entry in (k for k in free.shown if held[k]):
            x = free.wrench[joint.child][entry]
            names.append(
                Name(
                    f"d{len(names)}_",
                    f"d{'xyz'[entry % 3]}{'r' if entry < 3 else ''}_{joint.name}",
                    rf"\{'varphi' if entry < 3 else 'delta'}^{{{'xyz'[entry % 3]}}}_{{{upright(joint.name)}}}",  # noqa: E501
                )
            )
            stretch.append((entry, joint.child, -x / k))
    rows = []
    if names:
        d = board.more("stretch", names, ca.vertcat(*(x for _, _, x in stretch)))
        rows = board.rows(
            vector([free.wrench[child][entry] for entry, child, _ in stretch]), -k * d
        )
    b = free.bodies
    return [
        b.positions(),
        b.velocities(),
        *b.turning(),
        b.accelerations(),
        *load_step(board),
        *laws(board, free),
        Step(
            "springs",
            "What a joint between two moving bodies forbids is a gap d with a spring and a damper,"
            " of force -beta (d + gamma d'); shown for a gap at rest. The joint at the ground keeps"
            " its own coordinate.",
            _said(rows),
            True,
        ),
        freedoms(board, free),
        Step(
            "the limit",
            "As beta grows the gaps vanish as 1/beta, and the rows approach the equations of"
            " motion.",
            eliminated(board, free).lines,
        ),
        *constraint_step(board),
    ]


# --- boltzmann_hamel
def boltzmann_hamel(board: Board) -> list[Step]:
    """Return the steps of boltzmann_hamel: inertial angular velocities as quasi-velocities, the
    matrix G, moments in the joints ([Quinn1991] eq. 22-39).
    """
    free = FreeBodies(board, "body")
    s = board.s
    b_all = free.bodies
    g = free.bodies.gravity
    quasi, moments = [], []
    for b in free.movers.values():
        if ca.depends_on(b.w, s.v):
            quasi.append(
                board.line(
                    bold("omega", b.name),
                    b.w,
                    b.kernel[:3],
                    axes=b.name,
                    seen=board.observed[b.name].w,
                )
            )
        spin = b.I @ b.alpha + ca.cross(b.w, b.I @ b.w) + ca.cross(b.com, b.R.T @ (b.m * (b.a - g)))
        own = free.wrench[b.name]
        F = free.into(b, b.m * (b.a - g) - free.force(b.name))
        forces = [k - 3 for k in free.shown if k >= 3]
        torques = [k for k in free.shown if k < 3]
        moments += board.rows(own[3:][forces], (F + own[3:])[forces], free.sizes[0])
        moments += board.rows(
            own[:3][torques],
            (spin - free.into(b, free.torque(b.name, free.origin(b.name))) + own[:3])[torques],
            free.sizes[1],
        )
    rows = rate_rows(board) + board.rows(
        -inertia_forces(board, b_all), active(board, b_all) + board.A.T @ board.lam
    )
    return [
        *load_step(board),
        Step(
            "quasi-velocities",
            "The angular velocity of each link, along its own axes, is used as a speed, although it"
            " is not the rate of any angle (eq. 30).",
            tuple(quasi),
            True,
        ),
        Step(
            "the matrix D",
            "How the rates of a joint's coordinates enter the angular velocity of its link relative"
            " to the link before, along the link's axes: Omega = D x' (eq. 28, 35).",
            tuple(_relative_rates(board, free)),
            True,
        ),
        Step(
            "the matrix G",
            "omega = G Omega: from the axes of each link to those of every link it carries (eq. 27,"
            " 31), columns x, y, z of each block; blocks on the diagonal are 1.",
            tuple(_connectivity(board, free)),
            True,
        ),
        b_all.accelerations(),
        Step(
            "links",
            "Force and moment in each joint, along the axes of the link it carries, about its"
            " origin (eq. 22): the link's own part and what lies beyond.",
            _said(moments),
        ),
        Step(
            "equations of motion",
            "G^T takes the moments to the joints, D^T to their freedoms (eq. 24-26, 37-39): D^T M"
            " is what the motors give.",
            tuple(rows),
            True,
        ),
        *constraint_step(board),
    ]


def _relative_rates(board: Board, free: FreeBodies) -> list[Line]:
    """Return the lines of the columns of D that do not vanish, joint by joint, along the axes of
    the link it carries.
    """
    found = []
    for b in free.movers.values():
        J = b.R.T @ free.relative(b.name)[:3, :]
        joint = next(j for j in board.mechanism.ordered if j.child == b.name)
        before = (
            ca.SX(3, 1)
            if joint.parent == GROUND
            else b.R.T @ free.movers[joint.parent].R @ free.movers[joint.parent].w
        )
        known = ca.jacobian(b.w - before, board.s.v)  # by differentiation of rotations
        for x, column, reference in zip(board.freedoms, ca.horzsplit(J), ca.horzsplit(known)):
            if np.abs(board.numbers(column)).max() > NOTHING:
                found.append(
                    board.line(
                        column_of("D", b.name, x),
                        ca.densify(column),
                        ca.densify(reference),
                        axes=b.name,
                    )
                )
    return found


def _connectivity(board: Board, free: FreeBodies) -> list[Line]:
    """Return the lines of C_ij, column by column, for links that turn and carry others that
    turn.
    """
    m, found = board.mechanism, []
    parent = {j.child: j.parent for j in m.ordered}
    turning = {name for name, b in free.movers.items() if ca.depends_on(b.w, board.s.v)}
    for i in (i for i in parent if i in turning):
        j = parent[i]
        while j != GROUND:
            if j in turning:
                seen = np.swapaxes(board.observed[i].R, 1, 2) @ board.observed[j].R
                C = free.movers[i].R.T @ free.movers[j].R
                found += [
                    board.line(block_of_g(i, j, k), C[:, k], seen[:, :, k], axes=i)
                    for k in range(3)
                ]
            j = parent[j]
    return found


def _said(lines: Iterable[Line]) -> tuple[Line, ...]:
    """Return the lines without rows that read 0 = 0."""
    return tuple(line for line in lines if line.left or any(line.right))
