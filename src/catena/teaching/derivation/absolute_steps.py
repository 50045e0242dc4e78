"""Derivations that begin with free bodies and then impose the constraints: maggi, udwadia_kalaba,
natural_coordinates.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from ...compiler import matrix, vector
from ...equations.readable import Name
from ...model import Joint, Motion
from ...spatial import euler_tensor, full
from .board import Board
from .energy_steps import constraint_step, load_step, rate_rows
from .free_bodies import FreeBodies
from .independent_speeds import IndependentSpeeds
from .kane import acting, active, inertia_forces, partials
from .kinematics import Bodies, Mover
from .steps import Label, Line, Step
from .words import along, bold, of_body


# --- maggi
def maggi(board: Board) -> list[Step]:
    """Return the steps of maggi: R^T (M (R v' + N) - F) = tau, with the velocities V = R v of free
    bodies that the constraints allow ([Kurdila1990]).
    """
    bodies = Bodies(board, independent=True)
    u = bodies.speeds
    still = ca.SX.zeros(u.u.numel())
    inertia = ca.jacobian(-inertia_forces(board, bodies), u.u_rate)
    rest = active(board, bodies) + ca.substitute(inertia_forces(board, bodies), u.u_rate, still)
    known = u.along(
        board.pushed
        - board.weight
        - board.inertial
        + board.inertia @ (board.s.a - u.rest(board.s.a))
    )
    rows = rate_rows(board, u) + board.rows(inertia @ u.u_rate, rest + u.closing)
    x = "u" if u.own else "x'"
    return [
        bodies.positions(),
        *u.steps(),
        bodies.velocities(),
        *bodies.turning(),
        *load_step(board),
        Step(
            "velocities that the constraints allow",
            f"The columns of R in V = R {x}{_drift(u)}, V the velocities of all free bodies; those"
            " that vanish are left out.",
            tuple(partials(board, bodies)),
            True,
        ),
        Step(
            f"accelerations where {x}' = 0",
            f"N in V' = R {x}' + N.",
            tuple(_remainders(board, bodies)),
            True,
        ),
        Step(
            "projected inertia",
            "R^T M R, M the masses and inertias of the free bodies.",
            tuple(_entries(board, inertia, u)),
            True,
        ),
        Step(
            "projected forces",
            f"R^T (F - M N): the forces of {'joints and constraints' if u.own else 'the joints'}"
            " have no part in it, since they do no work along the columns of R.",
            tuple(
                board.lines(
                    along("Q", u.freedoms),
                    rest,
                    known,
                    scale=u.along(board.weight) + u.along(board.inertial),
                )
            ),
            True,
        ),
        Step(
            "equations of motion",
            f"R^T M R {x}' = R^T (F - M N), F of {acting(board, bodies)}.{u.remark}",
            tuple(rows),
            True,
        ),
        *constraint_step(board, u),
    ]


def _drift(u: IndependentSpeeds) -> str:
    """Return the part of the velocities that is prescribed by rows that depend on time."""
    return " + what the constraints prescribe" if u.own and not u.b.is_zero() else ""


def _remainders(board: Board, bodies: Bodies) -> list[Line]:
    """Return the lines of the parts of the accelerations that do not depend on the rates of the
    speeds.
    """
    s, u, found = board.s, bodies.speeds, []
    still = ca.SX.zeros(u.u.numel())
    for b in bodies.all:
        pairs = [("N", b.a, b.kernel_rate[3:], "ground")] * b.heavy + [
            ("n", b.alpha, b.kernel_rate[:3], b.name)
        ] * b.stiff
        for letter, x, known, axes in pairs:
            at_rest = ca.substitute(x, u.u_rate, still)
            reference = ca.substitute(known, s.a, u.rest(s.a))
            found.append(board.line(bold(letter, b.name), at_rest, reference, axes=axes))
    return [line for line in found if any(line.right)]


def _entries(board: Board, M: ca.SX, u: IndependentSpeeds) -> list[Line]:
    """Return the lines of the upper triangle of a symmetric matrix, without entries that vanish."""
    n, names = M.shape[0], u.freedoms
    known = u.along(u.along(board.inertia).T)
    places = [(i, j) for i in range(n) for j in range(i, n)]
    lines = [
        board.line(_entry(names[i], names[j]), ca.densify(M[i, j]), ca.densify(known[i, j]))
        for i, j in places
    ]
    return [line for line in lines if any(line.right)]


def _entry(x: Name, y: Name) -> Label:
    return Label(f"(R'MR)_{x.text},{y.text}", rf"(R^{{T}} M R)_{{{x.latex},\,{y.latex}}}")


# --- udwadia_kalaba
def udwadia_kalaba(board: Board) -> list[Step]:
    """Return the steps of udwadia_kalaba: the free motion, and of all motions that obey the joints
    the nearest to it, in the metric of the masses ([Udwadia1992]).
    """
    free = FreeBodies(board)
    bodies, s = free.bodies, board.s
    freely, corrections = [], []
    left = ca.SX.zeros(s.layout.nv)
    right = ca.SX.zeros(s.layout.nv)
    for b in free.movers.values():
        F, T = _applied(board, free, b)
        w, V = b.partial(bodies.speeds.u)
        turned = b.I @ b.alpha + ca.cross(b.w, b.I @ b.w)
        left = left + V.T @ (b.m * b.a) + w.T @ turned
        right = right + V.T @ F + w.T @ (b.R.T @ T)
        if b.heavy:
            # what the joints do, by the kernels
            held = (free.force(b.name) + b.m * free.weight_direction - F) / b.m
            freely.append(
                board.line(
                    bold("a", b.name, "0"),
                    F / b.m,
                    b.kernel_rate[3:] - held,
                    axes="ground",
                    scale=b.kernel_rate[3:],
                )
            )
            corrections.append(
                board.line(
                    bold("c", b.name),
                    b.a - F / b.m,
                    held,
                    _difference("a", b.name),
                    "ground",
                    scale=b.kernel_rate[3:],
                )
            )
        if b.stiff:
            held = b.R.T @ (free.torque(b.name, b.r) - T)
            spin = b.I @ b.kernel_rate[:3] + ca.cross(b.kernel[:3], b.I @ b.kernel[:3])
            freely.append(
                board.line(
                    bold("T", b.name, "0"),
                    b.R.T @ T,
                    spin - held,
                    axes=b.name,
                    scale=ca.vertcat(spin, held),
                )
            )
    rows = rate_rows(board) + board.rows(left, right + board.A.T @ board.lam)
    return [
        bodies.positions(),
        bodies.velocities(),
        *bodies.turning(),
        bodies.accelerations(),
        *load_step(board),
        Step(
            "free motion",
            f"a_0 of each body without joints, under {acting(board, bodies)}"
            + (
                "; where it has inertia, T_0 is the torque by which it would turn."
                if any(b.stiff for b in free.movers.values())
                else "."
            ),
            tuple(freely),
            True,
        ),
        Step(
            "corrections",
            f"What the joints{' and contacts' if board.mechanism.nonholonomic else ''} add. Of all"
            " accelerations that obey them the true ones are nearest to a_0 in the metric of the"
            " masses (Gauss).",
            tuple(corrections),
        ),
        Step(
            "equations of motion",
            "At the nearest point the corrections, times the masses, have no part along any motion"
            f" that the joints allow{free.row_words}.",
            tuple(rows),
            True,
        ),
        *constraint_step(board),
    ]


def _difference(letter: str, body: str) -> Label:
    one = bold(letter, body)
    two = bold(letter, body, "0")
    return Label(f"{one.text} - {two.text}", f"{one.latex} - {two.latex}")


def _applied(board: Board, free: FreeBodies, b: Mover) -> tuple[ca.SX, ca.SX]:
    """Return the force on a body and the torque about its centre of mass, in the ground's axes, of
    weight, loads and motors, without joints.
    """
    F = b.m * free.weight_direction
    T = ca.SX.zeros(3)
    loads = board.s.applied.wrenches if board.mechanism.loads else {}
    if b.name in loads:
        t, f = loads[b.name]
        F = F + f
        T = T + t + ca.cross(free.origin(b.name) - b.r, f)
    for joint in (
        j
        for j in board.mechanism.ordered
        if b.name in (j.parent, j.child) and j.nv and j.mimic is None
    ):
        couple, push, at = _motor(board, free, joint)
        sign = 1 if joint.child == b.name else -1
        F = F + sign * push
        T = T + sign * (couple + ca.cross(at - b.r, push))
    return F, T


def _motor(board: Board, free: FreeBodies, joint: Joint) -> tuple[ca.SX, ca.SX, ca.SX]:
    """Return the wrench of a joint's motors on its child, in the ground's axes: a couple about the
    axes of its turns, a force along its slides at its frame.
    """
    s = board.s
    J = free.relative(joint.child)
    m = board.mechanism
    first = sum(j.nv for j in m.moving[: m.moving.index(joint)])
    turns: list[int] = []
    slides: list[int] = []
    k = first
    for f in joint.freedoms:
        (slides if f.motion == Motion.SLIDE else turns).extend(range(k, k + f.nv))
        k += f.nv
    tau = free.motors()
    X = s.pose(joint.child)
    at = X[:, 3] + X[:, :3] @ vector([s.value(x) for x in joint.offset.position])
    return _along(board, J[:3, turns], tau[turns]), _along(board, J[3:, slides], tau[slides]), at


def _along(board: Board, K: ca.SX, tau: ca.SX) -> ca.SX:
    """Return the vector in the span of the columns of K whose components along these columns are
    tau.
    """
    n = K.shape[1]
    if not n:
        return ca.SX.zeros(3)
    G = board.numbers(ca.densify(K.T @ K)).reshape(-1, n, n)
    return K @ tau if np.allclose(G, np.eye(n), atol=1e-12) else K @ ca.solve(K.T @ K, tau)


# --- natural_coordinates
def natural_coordinates(board: Board) -> list[Step]:
    """Return the steps of natural_coordinates: points and unit vectors with a constant mass matrix;
    the rows of rigidity and of joints do no work ([GarciaDeJalon1994]).
    """
    bodies, s = Bodies(board), board.s
    vectors, second, masses = [], [], []
    left = vector(s.tree.armature) * s.a
    for b in bodies.all:
        left += b.partial(bodies.speeds.u)[1].T @ (b.m * b.a)
        if not b.stiff:
            continue
        J = 0.5 * ca.trace(b.I) * ca.SX.eye(3) - b.I
        known = _euler_tensor(board, b.name)
        W, A = (ca.skew(x) for x in (b.w, b.alpha))
        rate, twice = b.R @ W, b.R @ (A + W @ W)
        U, dU = (ca.skew(x) for x in (b.kernel[:3], b.kernel_rate[:3]))
        for k in (k for k in range(3) if ca.sparsify(J[:, k]).nnz()):
            seen = board.observed[b.name].R[:, :, k]
            vectors.append(board.line(_unit(b.name, k), b.R[:, k], seen, axes="ground"))
            second.append(
                board.line(
                    _unit(b.name, k, 2), twice[:, k], (b.R @ (dU + U @ U))[:, k], axes="ground"
                )
            )
            for j in range(k + 1):
                if not J[j, k].is_zero():
                    masses.append(
                        board.line(
                            _moment(b.name, j, k), ca.densify(J[j, k]), ca.densify(known[j, k])
                        )
                    )
        for j in range(3):
            for k in range(3):
                if not J[j, k].is_zero():
                    left += J[j, k] * (ca.jacobian(rate[:, j], s.v).T @ twice[:, k])
    rows = rate_rows(board) + board.rows(left, active(board, bodies) + board.A.T @ board.lam)
    return [
        bodies.positions(),
        bodies.accelerations(),
        *load_step(board),
        Step(
            "unit vectors",
            "The axes of each body with inertia, as Cartesian coordinates of their own.",
            tuple(vectors),
            True,
        ),
        Step(
            "second derivatives of the unit vectors",
            "Differentiate them twice; they are coordinates themselves, so that no angle is"
            " needed.",
            tuple(second),
        ),
        Step(
            "constant mass matrix",
            "Its entries are m for a body's centre of mass and J = tr(I)/2 - I for its unit"
            " vectors: T = m r'.r'/2 + sum of J_jk e_j'.e_k'/2.",
            tuple(masses),
            True,
        ),
        Step(
            "equations of motion",
            "M y'' = Q plus the forces of the rows. The forces of rigidity and of joints do no"
            " work along a motion that obeys them, so they vanish from (dy'/dx')^T (M y'' - Q) = 0."
            + (
                " A' lambda are the forces of the other rows, which x' does not obey by itself."
                if board.lam.numel()
                else ""
            ),
            tuple(rows),
            True,
        ),
        *constraint_step(board),
    ]


def _euler_tensor(board: Board, body: str) -> ca.SX:
    """Return J (3, 3) of a body from the kernels' tensor ([Merwe1995] eq. 3.21)."""
    s = board.s
    return matrix(full(euler_tensor(tuple(s.value(x) for x in board.mechanism.body(body).inertia))))


def _unit(body: str, k: int, rates: int = 0) -> Label:
    head = (r"\mathbf{e}", r"\dot{\mathbf{e}}", r"\ddot{\mathbf{e}}")[rates]
    return Label(f"e{k + 1}{chr(39) * rates}_{body}", f"{head}_{{{of_body(body)},{k + 1}}}")


def _moment(body: str, j: int, k: int) -> Label:
    return Label(f"J{j + 1}{k + 1}_{body}", f"J_{{{of_body(body)},{j + 1}{k + 1}}}")
