"""The derivations of kane, gibbs_appell, variational and jourdain: partial velocities, generalised
active forces, generalised inertia forces ([Passerello1972] chapters I-III).
"""

from __future__ import annotations

from dataclasses import replace

import casadi as ca

from ...compiler import vector
from ...equations.readable import Name
from .board import Board
from .energy_steps import constraint_step, load_step, rate_rows
from .kinematics import Bodies
from .steps import Label, Line, Step, Table
from .words import along, bold, partial


def kane(board: Board) -> list[Step]:
    """Return the steps of kane: F_r + F*_r = 0 along every independent speed."""
    bodies = Bodies(board, independent=True)
    u = bodies.speeds
    F = active(board, bodies)
    F_star = inertia_forces(board, bodies)
    loads = bool(board.mechanism.loads)
    lines_F = board.lines(
        along("F", u.freedoms),
        F,
        u.along(board.pushed - board.weight),
        [_active(bodies, x.latex, loads) for x in u.freedoms],
        scale=u.along(board.weight),
    )
    lines_S = board.lines(
        along("F", u.freedoms, "*"),
        F_star,
        -u.along(board.inertial),
        [_inertial(bodies, x.latex) for x in u.freedoms],
    )
    rows = rate_rows(board, u) + board.rows(-F_star, F + u.closing)
    return [
        bodies.positions(),
        *u.steps(),
        bodies.velocities(),
        *bodies.turning(),
        Step(
            "partial velocities",
            "What multiplies each speed in the velocities and angular velocities.",
            tuple(partials(board, bodies)),
            True,
            partial_table(bodies),
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
            f"The same with {_inertia_words(bodies)} in place of forces and torques.",
            tuple(lines_S),
            True,
        ),
        Step(
            "equations of motion",
            f"F + F* = 0 for each speed, with F* brought to the left and collected.{u.remark}",
            tuple(rows),
            True,
        ),
        *constraint_step(board, u),
    ]


def gibbs_appell(board: Board) -> list[Step]:
    """Return the steps of gibbs_appell: dS/da = F, with S the energy of the accelerations."""
    s, bodies = board.s, Bodies(board, independent=True)
    u = bodies.speeds
    S = u.written(ca.dot(vector(s.tree.armature) * s.a, s.a) / 2)
    for b in bodies.all:
        S = (
            S
            + b.m * ca.dot(b.a, b.a) / 2
            + ca.dot(b.alpha, b.I @ b.alpha) / 2
            + ca.dot(b.alpha, ca.cross(b.w, b.I @ b.w))
        )
    slopes = ca.gradient(S, u.u_rate)
    F = active(board, bodies)
    labels = [
        Label(f"dS/d{x.text}", rf"\frac{{\partial S}}{{\partial {x.latex}}}") for x in u.rate_names
    ]
    moving = S - ca.substitute(S, u.u_rate, ca.SX.zeros(u.u_rate.numel()))
    # S = a.M a/2 + a.h with h the forces of the motion at a = 0, at a = G u' + c less that at c
    changed = s.a - u.rest(s.a)
    held = board.inertial - board.inertia @ s.a / 2
    known = ca.dot(changed, held) + ca.dot(changed, board.inertia @ u.rest(s.a)) / 2
    means = Label(
        "sum of m a^2/2 + alpha.I alpha/2 + alpha.(omega x I omega)",
        r"\sum \tfrac12 m\,\mathbf{a}\cdot\mathbf{a} + \tfrac12\,\boldsymbol{\alpha}\cdot"
        r"\mathbf{I}\boldsymbol{\alpha} +"
        r" \boldsymbol{\alpha}\cdot(\boldsymbol{\omega}\times\mathbf{I}\boldsymbol{\omega})",
    )
    lines_F = board.lines(
        along("Q", u.freedoms),
        F,
        u.along(board.pushed - board.weight),
        scale=u.along(board.weight),
    )
    rows = rate_rows(board, u) + board.rows(slopes, F + u.closing)
    return [
        bodies.positions(),
        *u.steps(),
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
            tuple(board.lines(labels, slopes, u.along(board.inertial))),
            True,
        ),
        Step(
            "generalised forces",
            f"Those of {acting(board, bodies)} along each speed.",
            tuple(lines_F),
            True,
        ),
        Step(
            "equations of motion",
            "The derivative of S by each acceleration equals the generalised force along it."
            f"{u.remark}",
            tuple(rows),
            True,
        ),
        *constraint_step(board, u),
    ]


def variational(board: Board) -> list[Step]:
    """Return the steps of variational: Hamilton's principle on vectors ([Everett1988] eq.
    25-32).
    """
    bodies, momenta = Bodies(board, independent=True), []
    u = bodies.speeds
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
            w, dw = b.kernel[:3], b.kernel_rate[:3]
            momenta.append(
                board.line(
                    Label(
                        f"D(I w)_{b.name}",
                        rf"\frac{{d}}{{dt}}\left(\mathbf{{I}}\,{bold('omega', b.name).latex}\right)",  # noqa: E501
                    ),
                    b.I @ b.alpha + ca.cross(b.w, b.I @ b.w),
                    b.I @ dw + ca.cross(w, b.I @ w),
                    axes=b.name,
                )
            )
    F = active(board, bodies)
    rows = rate_rows(board, u) + board.rows(-inertia_forces(board, bodies), F + u.closing)
    work = board.lines(
        along("W", u.freedoms),
        F,
        u.along(board.pushed - board.weight),
        scale=u.along(board.weight),
    )
    return [
        bodies.positions(),
        *u.steps(),
        bodies.velocities(),
        *bodies.turning(),
        *_variations(board, bodies),
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
            f"The work of {acting(board, bodies)} in each variation d_r.",
            tuple(work),
            True,
        ),
        Step(
            "equations of motion",
            f"The variations are arbitrary, so what multiplies each of them vanishes.{u.remark}",
            tuple(rows),
            True,
        ),
        *constraint_step(board, u),
    ]


def _variations(board: Board, bodies: Bodies) -> list[Step]:
    """Return the steps of the variations: under constraints those of the speeds first, which obey
    them ([Everett1988] eq. 20-24).
    """
    u = bodies.speeds
    why = "A virtual displacement is what multiplies an arbitrary variation d_r in the velocities"
    shown = Step("variations", f"{why} (eq. 31, 32).", tuple(partials(board, bodies)), True)
    A, B = board.own_rows
    if not (u.own and A.shape[0]):
        return [shown]
    p = u.u.numel()
    names = [Name(f"d{k + 1}_", f"d{k + 1}", rf"\delta_{{{k + 1}}}") for k in range(p)]
    d = board.more("d", names, u.u)
    moved = u.G @ d
    allowed = moved - A.T @ ca.solve(A @ A.T, A @ moved)
    labels = [Label(f"delta {n.text}", rf"\delta {n.latex}") for n in board.names["v"]]
    still = (
        ""
        if B.is_zero()
        else " What the rows prescribe has no variation, since time does not vary."
    )
    obeyed = Step(
        "variations of the speeds",
        f"{p} of them {'is' if p == 1 else 'are'} arbitrary; the others follow from the constraints"
        f" (eq. 21).{still}",
        tuple(board.lines(labels, moved, allowed)),
        True,
    )
    lines = []
    for b in bodies.all:
        w, V = b.partial(u.u)
        turned = ca.jacobian(b.kernel[:3], board.s.v) @ moved
        pushed = ca.jacobian(b.kernel[3:], board.s.v) @ moved
        if b.heavy:
            label = Label(f"delta r_{b.name}", rf"\delta {bold('r', b.name).latex}")
            lines.append(board.line(label, V @ d, pushed, axes="ground"))
        if b.stiff:
            lines.append(board.line(bold("theta", b.name), w @ d, turned, axes=b.name))
    displaced = Step(
        "virtual displacements",
        "The sum of dV/du_i d_i for each centre of mass, and of domega/du_i d_i for each body: they"
        " satisfy all constraints (eq. 22-24).",
        tuple(lines),
        True,
    )
    return [obeyed, displaced]


def jourdain(board: Board) -> list[Step]:
    """Return the steps of jourdain: the virtual power of forces and inertia along every virtual
    velocity.
    """
    steps = variational(board)
    power = next(s.why for s in steps if s.title == "virtual work")
    titles = {
        "variations": (
            "virtual velocities",
            (
                "A virtual velocity is what multiplies an arbitrary variation of one speed in the"
                " velocities."
            ),
        ),
        "variations of the speeds": (
            "variations of the speeds",
            "Those of the independent speeds are arbitrary; the constraints give the others.",
        ),
        "virtual displacements": (
            "virtual velocities",
            "The variation of each velocity and angular velocity, which obeys all constraints.",
        ),
        "rates of the momenta": (
            "rates of the momenta",
            "What inertia sets against the virtual velocities.",
        ),
        "virtual work": (
            "virtual power",
            power.replace("work", "power").replace("d_r", "of a speed"),
        ),
        "equations of motion": (
            "equations of motion",
            "The virtual power vanishes for every variation, so what multiplies each of them does.",
        ),
    }
    return [
        replace(
            s,
            title=titles[s.title][0],
            why=titles[s.title][1] + _remark(s),
            lines=tuple(_of_velocity(line) for line in s.lines),
        )
        if s.title in titles
        else s
        for s in steps
    ]


def _of_velocity(line: Line) -> Line:
    """Return the line of a virtual displacement rewritten for a virtual velocity."""
    if not isinstance(line.left, Label):
        return line
    text, latex = line.left
    for old, new, shown, other in (
        ("delta r_", "delta v_", r"\delta \mathbf{r}", r"\delta \mathbf{v}"),
        ("theta_", "delta omega_", r"\boldsymbol{\theta}", r"\delta \boldsymbol{\omega}"),
    ):
        if text.startswith(old):
            label = Label(text.replace(old, new, 1), latex.replace(shown, other, 1))
            return replace(line, left=label)
    return line


def _remark(step: Step) -> str:
    """Return what a step says about constraints, after its first sentence."""
    return "".join(step.why.partition(" vanishes.")[2:])


def partials(board: Board, bodies: Bodies) -> list[Line]:
    """Return the lines of the partial velocities, for each body and speed where one of them is not
    zero.
    """
    s, u, found = board.s, bodies.speeds, []
    for b in bodies.all:
        w, V = b.partial(u.u)
        turned = ca.jacobian(b.kernel[:3], s.v) @ u.G
        moved = ca.jacobian(b.kernel[3:], s.v) @ u.G
        for k, name in enumerate(u.names):
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


def partial_table(bodies: Bodies) -> Table:
    """Return the table of the partial velocities: a row for each speed, a column for each centre of
    mass and for each body that rotates.
    """
    columns = [
        (letter, b.name)
        for letter, has in (("v", "heavy"), ("omega", "stiff"))
        for b in bodies.all
        if getattr(b, has)
    ]
    speeds = bodies.speeds.names
    return Table(
        tuple(bold(*column) for column in columns),
        tuple(Label(n.text, n.latex) for n in speeds),
        tuple(tuple(partial(*column, n).text for column in columns) for n in speeds),
    )


def acting(board: Board, bodies: Bodies) -> str:
    """Return a phrase that lists the kinds of forces that act on the mechanism."""
    u, g = bodies.speeds.u, bodies.gravity
    heavy = any(not ca.sparsify(b.partial(u)[1].T @ (b.m * g)).is_zero() for b in bodies.all)
    who = ["weights"] * heavy + ["motors"] + ["loads"] * bool(board.mechanism.loads)
    return " and ".join(filter(None, (", ".join(who[:-1]), who[-1])))


def active(board: Board, bodies: Bodies) -> ca.SX:
    """Return F_r of weights, motors and loads, one per independent speed."""
    u = bodies.speeds
    F = u.along(u.written(board.s.tau + board.loads))
    for b in bodies.all:
        F = F + b.partial(u.u)[1].T @ (b.m * bodies.gravity)
    return F


def inertia_forces(board: Board, bodies: Bodies) -> ca.SX:
    """Return F*_r, one per independent speed."""
    s, u = board.s, bodies.speeds
    F = -u.along(u.written(vector(s.tree.armature) * s.a))
    for b in bodies.all:
        w, V = b.partial(u.u)
        F = F - V.T @ (b.m * b.a) - w.T @ (b.I @ b.alpha + ca.cross(b.w, b.I @ b.w))
    return F


def _active(bodies: Bodies, latex: str, loads: bool) -> Label:
    """Return the definition of a generalised active force: the terms that the mechanism has."""
    heavy = any(b.heavy for b in bodies.all) and not bodies.gravity.is_zero()
    parts = [
        *([("sum of v_r . m g", rf"\sum m\,\mathbf{{g}}\cdot\mathbf{{v}}^{{\,{latex}}}")] * heavy),
        ("motors", r"\mathrm{motors}") if bodies.speeds.own else ("tau", rf"\tau_{{{latex}}}"),
        *([("loads", r"\mathrm{loads}")] * loads),
    ]
    return Label(" + ".join(x for x, _ in parts), " + ".join(y for _, y in parts))


def _inertia_words(bodies: Bodies) -> str:
    """Return a phrase about the inertia forces that oppose a motion."""
    heavy = any(b.heavy for b in bodies.all)
    stiff = any(b.stiff for b in bodies.all)
    parts = ["-m a"] * heavy + ["-(I alpha + omega x I omega)"] * stiff
    return " and ".join(parts) or "the inertia of the rotors"


def _inertial(bodies: Bodies, latex: str) -> Label:
    """Return the definition of a generalised inertia force, with the terms that the mechanism
    has.
    """
    heavy = any(b.heavy for b in bodies.all)
    stiff = any(b.stiff for b in bodies.all)
    parts = [
        *([("v_r . m a", rf"m\,\mathbf{{a}}\cdot\mathbf{{v}}^{{\,{latex}}}")] * heavy),
        *(
            [
                (
                    "omega_r . (I alpha + omega x I omega)",
                    rf"\boldsymbol{{\omega}}^{{\,{latex}}}\cdot(\mathbf{{I}}\boldsymbol{{\alpha}}"
                    r" + \boldsymbol{\omega}\times\mathbf{I}\boldsymbol{\omega})",
                )
            ]
            * stiff
        ),
    ]
    text = " + ".join(x for x, _ in parts)
    shown = " + ".join(y for _, y in parts)
    many = len(parts) > 1
    return Label(
        f"-sum of ({text})" if many else f"-sum of {text}",
        rf"-\sum\left({shown}\right)" if many else rf"-\sum {shown}",
    )
