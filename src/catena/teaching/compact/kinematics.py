"""The kinematics of the frames: the equations with which compact forms begin. Terms that are zero
for a mechanism are left out.
"""

from __future__ import annotations

from ...model import RowKind
from .frames import Frames
from .language import TWO, ZERO, Cross, Dot, Equation, Expr, Over, Rate, Total
from .letters import (
    ACROSS_C,
    ACROSS_P,
    ANGLES,
    BODIES,
    FRAMES,
    PATH,
    ROWS,
    SIDES,
    SPEEDS,
    A,
    I,
    J,
    P,
    Phi,
    Phi2,
    Q,
    R,
    a,
    a_k,
    alpha,
    b,
    b_k,
    c,
    d,
    dir_C,
    dir_P,
    e,
    kappa,
    lam,
    motor,
    o,
    o1,
    o2,
    omega,
    omega_j,
    place_C,
    place_P,
    pull,
    q,
    q1,
    q2,
    r,
    rho,
    s,
    sigma,
    tau,
    twist,
    u,
    v,
    v_j,
    value,
    x_C,
    x_P,
)


def places(fr: Frames) -> list[Equation]:
    """Return the equations for R, o and the axes u and s of every frame."""
    turned = fr.has(lambda f: f.turned)
    at = R("p") * b("i")
    found = [Equation(R("i"), R("p") * P("i") * Q("i") if turned else R("p") * Q("i"), FRAMES)]
    if turns(fr):
        found.append(Equation(u("i"), R("i") * e("i"), FRAMES))
    if slides(fr):
        found += [
            Equation(s("i"), R("i") * d("i"), FRAMES),
            Equation(rho("i"), at + s("i") * q("i"), FRAMES),
        ]
    else:
        found.append(Equation(rho("i"), at, FRAMES))
    return [
        *found,
        Equation(o("i"), o("p") + rho("i"), FRAMES),
        Equation(r("i"), o("i") + R("i") * c("i"), FRAMES),
    ]


def turns(fr: Frames) -> bool:
    """Return whether some frame rotates relative to its carrier."""
    return fr.has(lambda f: f.nv > 0 and not f.slides)


def slides(fr: Frames) -> bool:
    """Return whether some frame slides relative to its carrier."""
    return fr.has(lambda f: f.slides)


def sliding(fr: Frames, x: Expr, *terms: Expr) -> Expr:
    """Return a sum, with the terms added that come from slides if there are slides."""
    return sum(terms, x) if slides(fr) else x


def velocities(fr: Frames) -> list[Equation]:
    """Return the equations of the angular velocities omega and of the velocities o' and v."""
    return [
        Equation(omega("i"), omega("p") + u("i") * q1("i"), FRAMES),
        Equation(
            o1("i"), sliding(fr, o1("p") + Cross(omega("p"), rho("i")), s("i") * q1("i")), FRAMES
        ),
        Equation(v("i"), o1("i") + Cross(omega("i"), R("i") * c("i")), FRAMES),
    ]


def accelerations(fr: Frames) -> list[Equation]:
    """Return the equations of the angular accelerations alpha and the accelerations o'', a."""
    arm = R("i") * c("i")
    moved = o2("p") + Cross(alpha("p"), rho("i")) + Cross(omega("p"), Cross(omega("p"), rho("i")))
    return [
        Equation(
            alpha("i"), alpha("p") + u("i") * q2("i") + Cross(omega("p"), u("i") * q1("i")), FRAMES
        ),
        Equation(
            o2("i"),
            sliding(fr, moved, s("i") * q2("i"), TWO * Cross(omega("p"), s("i") * q1("i"))),
            FRAMES,
        ),
        Equation(
            a("i"),
            o2("i") + Cross(alpha("i"), arm) + Cross(omega("i"), Cross(omega("i"), arm)),
            FRAMES,
        ),
    ]


def partials(fr: Frames) -> list[Equation]:
    """Return the equations of the partial velocities, the coefficients of q_j' in omega_i and v_i
    for the frames j on the way to i.
    """
    swept = Cross(u("j"), r("i") - o("j"))
    return [
        Equation(omega_j("i", "j"), u("j"), PATH),
        Equation(v_j("i", "j"), sliding(fr, swept, s("j")), PATH),
    ]


def masses(each: Over = BODIES) -> list[Equation]:
    """Return the equation for the inertias in the ground's axes."""
    return [Equation(J("i"), R("i") * I("i") * R("i").T, each)]


def with_motor(fr: Frames) -> list[Equation]:
    """Return the equation of the motor's force less the inertia force of its rotor, where a joint
    has one.
    """
    return [Equation(motor("i"), tau("i") - kappa("i") * q2("i"), FRAMES)] if rotors(fr) else []


def rotors(fr: Frames) -> bool:
    """Return whether some motor has a rotor with its own inertia."""
    return fr.has(lambda f: any(x != 0 for x in f.rotor))


def loops(fr: Frames, along_speeds: bool = True) -> list[Equation]:
    """Return the equations of the rows of loops: their residuals Phi, the force w and torque t of
    one unit of lambda on the two bodies; then the matrix A along the speeds, or Phi''.
    """
    kinds = {row.kind for row in fr.rows}
    if not kinds:
        return []
    found = [
        Equation(x_P("k"), o("P") + R("P") * place_P("k"), ROWS),
        Equation(x_C("k"), o("C") + R("C") * place_C("k"), ROWS),
    ]
    for kind, each, there in ((RowKind.ACROSS_P, ACROSS_P, x_C), (RowKind.ACROSS_C, ACROSS_C, x_P)):
        if kind in kinds:
            axis = R("P") * dir_P("k") if each is ACROSS_P else R("C") * dir_C("k")
            found += [
                Equation(a_k("k"), axis, each),
                Equation(Phi("k"), Dot(a_k("k"), x_C("k") - x_P("k")), each),
                Equation(pull("i", "k"), sigma("i", "k") * a_k("k"), each),
                Equation(
                    twist("i", "k"), sigma("i", "k") * Cross(there("k") - r("i"), a_k("k")), each
                ),
            ]
    if RowKind.ANGLE in kinds:
        found += [
            Equation(a_k("k"), R("P") * dir_P("k"), ANGLES),
            Equation(b_k("k"), R("C") * dir_C("k"), ANGLES),
            Equation(Phi("k"), Dot(a_k("k"), b_k("k")) - value("k"), ANGLES),
            Equation(twist("i", "k"), sigma("i", "k") * Cross(b_k("k"), a_k("k")), ANGLES),
        ]
    power: Expr = Dot(twist("i", "k"), omega_j("i", "j"))
    if kinds != {RowKind.ANGLE}:
        power = Dot(pull("i", "k"), v_j("i", "j")) + power
    if not along_speeds:
        now = Dot(pull("i", "k"), a("i")) + Dot(twist("i", "k"), alpha("i"))
        then = Dot(Rate(pull("i", "k")), v("i")) + Dot(Rate(twist("i", "k")), omega("i"))
        return [*found, Equation(Phi2("k"), Total(SIDES, now + then), ROWS)]
    return [*found, Equation(A("k", "j"), Total(SIDES, power), ROWS), closing()]


def closing() -> Equation:
    """Return the equation of the constraint rows, differentiated twice."""
    return Equation(Rate(Total(SPEEDS, A("k", "j") * q1("j"))), ZERO, ROWS, row=True)


def with_loop_forces(x: Expr, fr: Frames) -> Expr:
    """Return a generalised force with the forces of the loops added."""
    return x + Total(ROWS, A("k", "j") * lam("k")) if fr.rows else x
