"""Derivations that cut every body free: newton_euler, recursive, penalty."""

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
from .words import bold

ELIMINATED = "equations of motion"
NOTHING = 1e-12  # rounding of an entry that vanishes, where the others are of size one


def newton_euler(board: Board) -> list[Step]:
    """Return the steps of newton_euler: Newton's and Euler's equations for every body, then the
    components along the degrees of freedom of the joints.
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
    """Return the steps with Newton's and Euler's equations of every body."""
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
    carry = any(j.parent in free.movers for j in board.mechanism.ordered)
    others = ", minus the forces of the joints that it carries" if carry else ""
    weight = "" if free.bodies.gravity.is_zero() else "its weight plus "
    loads = "; loads add theirs" if board.mechanism.loads else ""
    return [
        Step(
            "Newton's law",
            f"m a of each body ({which}) equals {weight}the force of the joint that carries it"
            f"{others}{loads}{free.row_words}.",
            _without_empty_rows(newton),
            True,
        ),
        Step(
            "Euler's law",
            "The rate of each body's angular momentum about its centre of mass is the torque of the"
            " same forces.",
            _without_empty_rows(euler),
            True,
        ),
    ]


def freedoms(board: Board, free: FreeBodies) -> Step:
    """Return the step about the degrees of freedom of the joints: along a degree of freedom the
    joint transmits only its motor's force.
    """
    rows = board.rows(free.along_freedoms(), free.motors(), free.sizes[0] + free.sizes[1])
    return Step(
        "freedoms of the joints",
        "Along its freedom a joint transmits the force of its motor"
        + (" and of the springs, dampers and rotors in it" if _more_than_motors(board) else "")
        + ", and nothing else.",
        _without_empty_rows(rows),
        True,
    )


def _more_than_motors(board: Board) -> bool:
    """Return whether loads or rotors act along the degrees of freedom of joints."""
    rotors = not vector(board.s.tree.armature).is_zero()
    return rotors or bool(board.mechanism.loads and not board.s.applied.forces.is_zero())


def eliminated(board: Board, free: FreeBodies) -> Step:
    """Return the step with the equations of motion after the joints' forces have been
    eliminated.
    """
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
            "From the ground to the leaves: each joint adds its own motion"
            + (
                ""
                if g.is_zero()
                else "; the ground accelerates upwards with g, so that weight needs no term of its"
                " own"
            )
            + ". Origins of the bodies, along each body's own axes.",
            tuple(outward),
            True,
        ),
        Step(
            "inward pass",
            "From the leaves to the ground: the force in a joint is the rate of momentum of its"
            f" body plus the forces in the joints that the body carries{free.row_words}.",
            _without_empty_rows(inward),
            True,
        ),
        Step(
            "freedoms of the joints",
            "The motor's force"
            + (", with springs, dampers and rotors," if _more_than_motors(board) else "")
            + " is the component of the joint's force along its freedom.",
            _without_empty_rows(rows),
            True,
        ),
        eliminated(board, free),
        *constraint_step(board),
    ]


# --- penalty
def penalty(board: Board) -> list[Step]:
    """Return the steps of penalty: springs of stiffness beta, which stretch a little, carry the
    forces of the joints.
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
            _without_empty_rows(rows),
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


def _without_empty_rows(lines: Iterable[Line]) -> tuple[Line, ...]:
    """Return the lines without equations that read 0 = 0."""
    return tuple(line for line in lines if line.left or any(line.right))
