"""Compact forms in coordinates of free bodies: udwadia_kalaba, natural_coordinates."""

from __future__ import annotations

from . import kinematics as k
from .body_forms import force_of_motor, loop_blocks, rotor_equations
from .frames import Frames
from .joint_forms import LOOPS, PARTIAL, effort, moving
from .language import TWO, ZERO, Cross, Dot, Equation, Expr, Family, Total
from .letters import (
    AXES,
    AXES_L,
    BODIES,
    CHILDREN,
    FRAMES,
    HINGES,
    SPEEDS,
    J,
    P,
    R,
    a,
    alpha,
    c,
    e,
    g,
    kappa,
    m,
    o,
    o1,
    o2,
    omega,
    omega_j,
    q2,
    r,
    rho,
    s,
    u,
    v_j,
)
from .page import Block, row, say

turn_rel = Family("y", r"\mathbf{y}", own="relative turn")
slide_rel = Family("x", r"\mathbf{x}", own="relative slide")
turn_row = Family("h", r"\mathbf{h}", own="turn row")
slide_row = Family("k", r"\mathbf{k}", own="slide row")
X = Family("X", r"\mathbf{X}")
T = Family("T", r"\mathbf{T}")
E = Family("e", r"\mathbf{e}", own="E")
E2 = Family("e", r"\mathbf{e}", 2, "E")
Jn = Family("J", "J", own="Jn")
L = Family("L", r"\mathbf{L}")
unit = Family("1", "1")
one = Family("1", "1", own="[1]")()
big_A, pinv, big_M, big_Q, big_x, big_b = (
    Family(x, y, own=f"[{x}]")()
    for x, y in (
        ("A", "A"),
        ("A^+", "A^{+}"),
        ("M", "M"),
        ("Q", "Q"),
        ("x''", r"\ddot{x}"),
        ("b", "b"),
    )
)


def udwadia_kalaba(fr: Frames) -> list[Block]:
    """Return the blocks of udwadia_kalaba: (1 - A^+ A)(M x'' - Q) = 0, A x'' = b ([Udwadia1992],
    [Udwadia2010]).
    """
    motor = force_of_motor(fr, "i")
    force: Expr = m("i") * g
    torque: Expr = (
        u("i") * motor
        - Total(CHILDREN, u("c") * force_of_motor(fr, "c"))
        - Cross(omega("i"), J("i") * omega("i"))
    )
    if k.slides(fr):
        force = force + s("i") * motor - Total(CHILDREN, s("c") * force_of_motor(fr, "c"))
        torque = (
            torque
            + Cross(o("i") - r("i"), s("i") * motor)
            - Total(CHILDREN, Cross(o("c") - r("i"), s("c") * force_of_motor(fr, "c")))
        )
    drift = Cross(omega("p"), Cross(omega("p"), rho("i"))) + TWO * Cross(
        omega("p"), o1("i") - o1("p") - Cross(omega("p"), rho("i"))
    )
    arm = R("i") * c("i")
    more = (" and Phi_k'' = 0", r"\text{ and }\ddot{\Phi}_k = 0") if fr.rows else ("", "")
    return [
        moving(fr, *k.masses(FRAMES), accelerating=False),
        *([Block(LOOPS, tuple(k.loops(fr, along_speeds=False)))] if fr.rows else []),
        Block(
            say(
                "Every frame is free: {} holds {} and {}, the diagonal of {} holds {} and {}, and"
                " {} holds {} and {}: weights, motors, gyration.",
                big_x,
                a("i"),
                alpha("i"),
                big_M,
                m("i"),
                J("i"),
                big_Q,
                X("i"),
                T("i"),
            ),
            (
                *rotor_equations(fr),
                Equation(X("i"), force, FRAMES),
                Equation(T("i"), torque, FRAMES),
            ),
        ),
        Block(
            say(
                "Accelerations {} and {} in the carrier, and what of them the joint forbids: the"
                " rows {} and {}{} are {}.",
                turn_rel("i"),
                slide_rel("i"),
                ("h_i = 0", r"\mathbf{h}_i = 0"),
                ("k_i = 0", r"\mathbf{k}_i = 0"),
                more,
                ("A x'' = b", r"A\,\ddot{x} = b"),
            ),
            (
                Equation(
                    o2("i"),
                    a("i") - Cross(alpha("i"), arm) - Cross(omega("i"), Cross(omega("i"), arm)),
                    FRAMES,
                ),
                Equation(
                    turn_rel("i"),
                    alpha("i") - alpha("p") - Cross(omega("p"), omega("i") - omega("p")),
                    FRAMES,
                ),
                Equation(
                    slide_rel("i"), o2("i") - o2("p") - Cross(alpha("p"), rho("i")) - drift, FRAMES
                ),
                Equation(
                    turn_row("i"), turn_rel("i") - u("i") * Dot(u("i"), turn_rel("i")), FRAMES
                ),
                Equation(
                    slide_row("i"),
                    (
                        slide_rel("i") - s("i") * Dot(s("i"), slide_rel("i"))
                        if k.slides(fr)
                        else slide_rel("i")
                    ),
                    FRAMES,
                ),
            ),
        ),
        Block(
            say(
                "Of the accelerations that obey the rows, the true ones are nearest to the free"
                " ones in the metric of {} (Gauss); {} is the pseudo-inverse.",
                big_M,
                pinv,
            ),
            (
                row(big_A * big_x, big_b, None),
                row((one - pinv * big_A) * (big_M * big_x - big_Q), ZERO, None),
            ),
        ),
    ]


def natural_coordinates(fr: Frames) -> list[Block]:
    """Return the blocks of natural_coordinates: B^T (M y'' - Q) = 0 with a constant mass matrix, B
    the rates of y by the speeds ([GarciaDeJalon1994]).
    """
    turned = fr.has(lambda x: x.turned)
    second = Cross(alpha("i"), E("i", "l")) + Cross(omega("i"), Cross(omega("i"), E("i", "l")))
    couple = Total(AXES, Total(AXES_L, Jn("i", "n", "l") * Cross(E("i", "n"), E2("i", "l"))))
    left: Expr = Total(
        BODIES, m("i") * Dot(v_j("i", "j"), a("i") - g) + Dot(omega_j("i", "j"), L("i"))
    )
    left = left + kappa("j") * q2("j") if k.rotors(fr) else left
    ties = [row(o("i"), o("p") + rho("i"), FRAMES)]
    if k.turns(fr):
        ties.append(
            row(R("i") * e("i"), R("p") * P("i") * e("i") if turned else R("p") * e("i"), HINGES)
        )
    return [
        moving(fr),
        *(loop_blocks(fr) or [Block(PARTIAL, tuple(k.partials(fr)))]),
        Block(
            say(
                "Natural coordinates {} of a body: {} and its unit vectors {}, the columns of {}."
                " The rows {} keep them rigid ({} is 1 or 0) and joined.",
                ("y", "y"),
                r("i"),
                E("i", "n"),
                R("i"),
                ("Phi(y) = 0", r"\Phi(y) = 0"),
                unit("n", "l"),
            ),
            (row(Dot(E("i", "n"), E("i", "l")), unit("n", "l"), BODIES), *ties),
        ),
        Block(
            say(
                "The mass matrix {} is constant: {} for {}, and {} between the unit vectors. Their"
                " part of {} is the moment {}.",
                ("M", "M"),
                m("i"),
                r("i"),
                ("J_i = tr(I_i)/2 - I_i", r"J_i = \tfrac{1}{2}\operatorname{tr}(I_i) - I_i"),
                ("M y''", r"M\,\ddot{y}"),
                L("i"),
            ),
            (Equation(E2("i", "l"), second, BODIES), Equation(L("i"), couple, BODIES)),
        ),
        Block(
            say(
                "{}. The columns of {}, the rates of {} at the speeds, are {} and {}; as {}, {}.",
                ("M y'' + Phi_y^T lambda = Q", r"M\,\ddot{y} + \Phi_y^{T}\lambda = Q"),
                ("B", "B"),
                ("y", "y"),
                v_j("i", "j"),
                Cross(omega_j("i", "j"), E("i", "n")),
                ("Phi_y B = 0", r"\Phi_y B = 0"),
                ("B^T (M y'' - Q) = 0", r"B^{T}(M\,\ddot{y} - Q) = 0"),
            ),
            (row(left, effort(fr), SPEEDS),),
        ),
    ]
