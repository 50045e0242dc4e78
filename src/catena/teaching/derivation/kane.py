"""The derivations of kane, gibbs_appell, variational and jourdain: partial velocities, generalised
active forces, generalised inertia forces ([Passerello1972] chapters I-III).
"""

from __future__ import annotations

from dataclasses import replace

import casadi as ca

from ...compiler import vector
from .board import Board
from .energy_steps import constraint_step, load_step, rate_rows
from .kinematics import Bodies
from .steps import Label, Line, Step
from .words import along, bold, partial


def kane(board: Board) -> list[Step]:
    """Return the steps of kane: F_r + F*_r = 0 along every speed."""
    bodies = Bodies(board)
    names = board.freedoms
    F = active(board, bodies)
    F_star = inertia_forces(board, bodies)
    m = board.mechanism
    lines_F = board.lines(
        along("F", names),
        F,
        board.pushed - board.weight,
        [_active(bodies, x.text, x.latex, bool(m.loads)) for x in names],
    )
    lines_S = board.lines(
        along("F", names, "*"),
        F_star,
        -board.inertial,
        [_inertial(bodies, x.text, x.latex) for x in names],
    )
    rows = rate_rows(board) + board.rows(-F_star, F + board.A.T @ board.lam)
    held = (
        " A' lambda is what the constraints do; projected on the independent speeds it does no"
        " work."
        if board.lam.numel()
        else ""
    )
    return [
        bodies.positions(),
        bodies.velocities(),
        *bodies.turning(),
        Step(
            "partial velocities",
            "What multiplies each speed in the velocities; those that vanish are left out.",
            tuple(partials(board, bodies)),
            True,
        ),
        bodies.accelerations(),
        *load_step(board),
        Step(
            "generalised active forces",
            "Each force times the partial velocity of its point, each torque times the partial"
            " angular velocity.",
            tuple(lines_F),
            True,
        ),
        Step(
            "generalised inertia forces",
            "The same with -m a and -(I alpha + omega x I omega) in place of forces and torques.",
            tuple(lines_S),
            True,
        ),
        Step(
            "equations of motion",
            f"F + F* = 0 for each speed, with F* brought to the left and collected.{held}",
            tuple(rows),
            True,
        ),
        *constraint_step(board),
    ]


def gibbs_appell(board: Board) -> list[Step]:
    """Return the steps of gibbs_appell: dS/da = F, with S the energy of the accelerations."""
    s, bodies = board.s, Bodies(board)
    S = ca.dot(vector(s.tree.armature) * s.a, s.a) / 2
    for b in bodies.all:
        S = (
            S
            + b.m * ca.dot(b.a, b.a) / 2
            + ca.dot(b.alpha, b.I @ b.alpha) / 2
            + ca.dot(b.alpha, ca.cross(b.w, b.I @ b.w))
        )
    slopes = ca.gradient(S, s.a)
    F = active(board, bodies)
    labels = [
        Label(f"dS/d{x.text}", rf"\frac{{\partial S}}{{\partial {x.latex}}}")
        for x in board.names["a"]
    ]
    moving = S - ca.substitute(S, s.a, ca.SX.zeros(s.layout.nv))
    known = ca.dot(s.a, board.inertial) - ca.dot(s.a, board.inertia @ s.a) / 2
    means = Label(
        "sum of m a^2/2 + alpha.I alpha/2 + alpha.(omega x I omega)",
        r"\sum \tfrac12 m\,\mathbf{a}\cdot\mathbf{a} + \tfrac12\,\boldsymbol{\alpha}\cdot"
        r"\mathbf{I}\boldsymbol{\alpha} +"
        r" \boldsymbol{\alpha}\cdot(\boldsymbol{\omega}\times\mathbf{I}\boldsymbol{\omega})",
    )
    lines_F = board.lines(
        along("Q", board.freedoms), F, board.pushed - board.weight, beside=board.weight
    )
    rows = rate_rows(board) + board.rows(slopes, F + board.A.T @ board.lam)
    return [
        bodies.positions(),
        bodies.velocities(),
        *bodies.turning(),
        bodies.accelerations(),
        *load_step(board),
        Step(
            "energy of the accelerations",
            "Gibbs's function; what no acceleration multiplies is left out, since it is not"
            " differentiated.",
            (board.line(Label("S", "S"), moving, known, means),),
            True,
        ),
        Step(
            "its derivatives",
            "Differentiate it by each acceleration.",
            tuple(board.lines(labels, slopes, board.inertial)),
            True,
        ),
        Step(
            "generalised forces",
            "Weights, motors and loads along each speed.",
            tuple(lines_F),
            True,
        ),
        Step("equations of motion", "dS/da = Q for each speed.", tuple(rows), True),
        *constraint_step(board),
    ]


def variational(board: Board) -> list[Step]:
    """Return the steps of variational: Hamilton's principle on vectors ([Everett1988] eq.
    25-32).
    """
    bodies, momenta = Bodies(board), []
    for b in bodies.all:
        if b.heavy:
            momenta.append(
                board.line(
                    Label(
                        f"D(m V)_{b.name}",
                        rf"\frac{{d}}{{dt}}\left(m\,{bold('v', b.name).latex}\right)",
                    ),
                    b.m * b.a,
                    b.m * b.kernel_rate[3:],
                    axes="ground",
                )
            )
        if b.stiff:
            u, du = b.kernel[:3], b.kernel_rate[:3]
            momenta.append(
                board.line(
                    Label(
                        f"D(I w)_{b.name}",
                        rf"\frac{{d}}{{dt}}\left(\mathbf{{I}}\,{bold('omega', b.name).latex}\right)",  # noqa: E501
                    ),
                    b.I @ b.alpha + ca.cross(b.w, b.I @ b.w),
                    b.I @ du + ca.cross(u, b.I @ u),
                    axes=b.name,
                )
            )
    F = active(board, bodies)
    rows = rate_rows(board) + board.rows(-inertia_forces(board, bodies), F + board.A.T @ board.lam)
    work = board.lines(
        along("W", board.freedoms), F, board.pushed - board.weight, beside=board.weight
    )
    return [
        bodies.positions(),
        bodies.velocities(),
        *bodies.turning(),
        Step(
            "variations",
            "A virtual displacement is what multiplies an arbitrary variation d_r in the velocities"
            " (eq. 31, 32).",
            tuple(partials(board, bodies)),
            True,
        ),
        Step(
            "rates of the momenta",
            "Integration by parts in time moves the rate from the variation to the momentum (eq."
            " 30).",
            tuple(momenta),
            True,
        ),
        *load_step(board),
        Step(
            "virtual work",
            "Of weights, motors and loads, beside each variation d_r.",
            tuple(work),
            True,
        ),
        Step(
            "equations of motion",
            "The variations are arbitrary, so what multiplies each of them vanishes.",
            tuple(rows),
            True,
        ),
        *constraint_step(board),
    ]


def jourdain(board: Board) -> list[Step]:
    """Return the steps of jourdain: the virtual power of forces and inertia along every virtual
    velocity.
    """
    titles = {
        "variations": (
            "virtual velocities",
            (
                "A virtual velocity is what multiplies an arbitrary variation of one speed in the"
                " velocities."
            ),
        ),
        "rates of the momenta": (
            "rates of the momenta",
            "What inertia sets against the virtual velocities.",
        ),
        "virtual work": (
            "virtual power",
            "Of weights, motors and loads, beside each variation of a speed.",
        ),
        "equations of motion": (
            "equations of motion",
            "The virtual power vanishes for every variation, so what multiplies each of them does.",
        ),
    }
    steps = variational(board)
    return [
        replace(s, title=titles[s.title][0], why=titles[s.title][1]) if s.title in titles else s
        for s in steps
    ]


def partials(board: Board, bodies: Bodies) -> list[Line]:
    """Return the lines of the partial velocities, for each body and speed where one of them is not
    zero.
    """
    s, found = board.s, []
    for b in bodies.all:
        w, V = b.partial(s)
        turned = ca.jacobian(b.kernel[:3], s.v)
        moved = ca.jacobian(b.kernel[3:], s.v)
        for k, name in enumerate(board.names["v"]):
            if b.heavy:
                found.append(
                    board.line(
                        partial("v", b.name, name),
                        ca.densify(V[:, k]),
                        ca.densify(moved[:, k]),
                        axes="ground",
                    )
                )
            if b.stiff:
                found.append(
                    board.line(
                        partial("omega", b.name, name),
                        ca.densify(w[:, k]),
                        ca.densify(turned[:, k]),
                        axes=b.name,
                    )
                )
    return [line for line in found if any(line.right)]


def active(board: Board, bodies: Bodies) -> ca.SX:
    """Return F_r (nv,), of weights, motors and loads."""
    F = board.s.tau
    for b in bodies.all:
        F = F + b.partial(board.s)[1].T @ (b.m * bodies.gravity)
    return F + board.loads


def inertia_forces(board: Board, bodies: Bodies) -> ca.SX:
    """Return F*_r (nv,)."""
    s = board.s
    F = -vector(s.tree.armature) * s.a
    for b in bodies.all:
        w, V = b.partial(s)
        F = F - V.T @ (b.m * b.a) - w.T @ (b.I @ b.alpha + ca.cross(b.w, b.I @ b.w))
    return F


def _active(bodies: Bodies, text: str, latex: str, loads: bool) -> Label:
    more = (" + loads", r" + \mathrm{loads}") if loads else ("", "")
    return Label(
        f"sum of v_r . m g + tau{more[0]}",
        rf"\sum m\,\mathbf{{g}}\cdot\mathbf{{v}}^{{\,{latex}}} + \tau_{{{latex}}}{more[1]}",
    )


def _inertial(bodies: Bodies, text: str, latex: str) -> Label:
    stiff = any(b.stiff for b in bodies.all)
    turned = (
        (
            " - omega_r . (I alpha + omega x I omega)",
            (
                rf" - \boldsymbol{{\omega}}^{{\,{latex}}}\cdot(\mathbf{{I}}\boldsymbol{{\alpha}} +"
                r" \boldsymbol{\omega}\times\mathbf{I}\boldsymbol{\omega})"
            ),
        )
        if stiff
        else ("", "")
    )
    return Label(
        f"-sum of v_r . m a{turned[0]}",
        rf"-\sum m\,\mathbf{{a}}\cdot\mathbf{{v}}^{{\,{latex}}}{turned[1]}",
    )
