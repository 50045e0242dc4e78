"""Compact forms in terms of the joints' own speeds: lagrange, hamilton, kane, gibbs_appell,
jourdain, variational, maggi.
"""

from __future__ import annotations

from . import kinematics as k
from .frames import Frames
from .language import HALF, ZERO, Cross, Dot, Equation, Expr, Family, Rate, Slope, Total
from .letters import (
    BALLS,
    BODIES,
    SPEEDS,
    SPEEDS_K,
    J,
    Phi,
    a,
    alpha,
    g,
    kappa,
    lam,
    m,
    omega,
    omega_j,
    pull,
    q1,
    q2,
    r,
    tau,
    twist,
    v,
    v_j,
)
from .page import NOTHING, Block, row, say

T, V, H, S = (Family(x, x)() for x in "TVHS")
M = Family("M", "M")
h = Family("p", "p")
h1 = Family("p", "p", 1)
F = Family("F", "F")
F_star = Family("F*", "F^{*}")
F_of = Family("Q", "Q", own="projected")
L = Family("L", r"\mathbf{L}")
W = Family("W", "W")
Z = Family("N", r"\mathbf{N}", own="rest of v")
z = Family("n", r"\mathbf{n}", own="rest of omega")
bracket = Family("B", "B")

I_, J_ = ("i", "i"), ("j", "j")
PLACES = say(
    "Frames along the axes of the ground: rotation, axis, origin, centre of mass {}.", r("i")
)
MOTION = say(
    "Frames along the axes of the ground: rotation, axis, origin, centre of mass {}; then"
    " velocities.",
    r("i"),
)
AGAIN = say(
    "Frames along the axes of the ground: rotation, axis, origin, centre of mass {}; then"
    " velocities and accelerations.",
    r("i"),
)
PARTIAL = say(
    "Partial velocities: what multiplies {} in {} and {}, of frames {} on the way from the ground"
    " to {}; others vanish.",
    q1("j"),
    omega("i"),
    v("i"),
    J_,
    I_,
)
LOOPS = say(
    "Loops: the rows {} vanish; {} and {} are force and torque of a unit of {} on body {}, where"
    " {}, and {}, where it is 1.",
    Phi("k"),
    pull("i", "k"),
    twist("i", "k"),
    lam("k"),
    ("P", "P"),
    ("sigma = -1", r"\sigma_{i,k} = -1"),
    ("C", "C"),
)


def moving(fr: Frames, *more: Equation, accelerating: bool = True) -> Block:
    """Return the block of equations for positions, velocities and (with `accelerating`)
    accelerations of the frames.
    """
    found = [*k.places(fr), *k.velocities(fr), *more]
    return (
        Block(AGAIN, (*found, *k.accelerations(fr)))
        if accelerating
        else Block(MOTION, tuple(found))
    )


def opening(fr: Frames, accelerating: bool = True) -> list[Block]:
    """Return the blocks with which every compact form begins: motion of the frames, partial
    velocities, rows of loops.
    """
    return [
        moving(fr, *k.masses(), accelerating=accelerating),
        Block(PARTIAL, tuple(k.partials(fr))),
        *([Block(LOOPS, tuple(k.loops(fr)))] if fr.rows else []),
    ]


def effort(fr: Frames) -> Expr:
    """Return tau plus the term of the loops' forces."""
    return k.with_loop_forces(tau("j"), fr)


def weight() -> Expr:
    """Return the expression of the generalised force of all weights along one speed, with the index
    j.
    """
    return Total(BODIES, m("i") * Dot(g, v_j("i", "j")))


def spin(i: str = "i") -> Expr:
    """Return the rate of the angular momentum of body i about its centre of mass."""
    return J(i) * alpha(i) + Cross(omega(i), J(i) * omega(i))


def with_rotors(fr: Frames, x: Expr, rotor: Expr) -> Expr:
    """Return a sum with the term of the rotors added, where there are rotors."""
    return x + rotor if k.rotors(fr) else x


# --- energies
def inertia(fr: Frames) -> list[Equation]:
    """Return the equations of T, V, the mass matrix and the momenta."""
    moving = Total(
        BODIES, HALF * m("i") * Dot(v("i"), v("i")) + HALF * Dot(omega("i"), J("i") * omega("i"))
    )
    entry = Total(
        BODIES,
        m("i") * Dot(v_j("i", "j"), v_j("i", "l"))
        + Dot(omega_j("i", "j"), J("i") * omega_j("i", "l")),
    )
    return [
        Equation(
            T, with_rotors(fr, moving, Total(SPEEDS, HALF * Dot(q1("j"), kappa("j") * q1("j"))))
        ),
        Equation(V, -Total(BODIES, m("i") * Dot(g, r("i")))),
        Equation(M("j", "l"), entry, SPEEDS),
        Equation(
            h("j"),
            with_rotors(fr, Total(SPEEDS_K, M("j", "l") * q1("l")), kappa("j") * q1("j")),
            SPEEDS,
        ),
    ]


def turned(fr: Frames, x: Expr) -> Expr:
    """Return a sum with omega x p added, which acts along the axes of balls, because these axes
    rotate.
    """
    return x + bracket("j") if fr.has(lambda f: f.ball) else x


def brackets(fr: Frames) -> list[Equation]:
    """Return the equation of omega x p, if there are balls."""
    return (
        [Equation(bracket("j"), Cross(q1("j"), h("j")), BALLS)] if fr.has(lambda f: f.ball) else []
    )


BALL = say(
    "Along the axes of a ball, which turn, {}; for all others {}.",
    ("B = q' x p", r"B = \dot{q}\times p"),
    ("B = 0", "B = 0"),
)


def lagrange(fr: Frames) -> list[Block]:
    """Return the blocks of lagrange: d/dt p - dT/dq + dV/dq = tau."""
    left = turned(fr, Rate(h("j")) - Slope(T, "j") + Slope(V, "j"))
    more = BALL if fr.has(lambda f: f.ball) else NOTHING
    return [
        *opening(fr, accelerating=False),
        Block(
            say(
                "Energies, mass matrix, and momenta {}.",
                ("p_j = dT/dq_j'", r"p_j = \partial T/\partial\dot{q}_j"),
            ),
            (*inertia(fr), *brackets(fr)),
        ),
        Block(
            say("Lagrange's equations, for each {}.", J_) + more, (row(left, effort(fr), SPEEDS),)
        ),
    ]


def hamilton(fr: Frames) -> list[Block]:
    """Return the blocks of hamilton: q' = dH/dp, p' = tau - dH/dq."""
    right = effort(fr) + Slope(T, "j") - Slope(V, "j")
    right = right - bracket("j") if fr.has(lambda f: f.ball) else right
    more = BALL if fr.has(lambda f: f.ball) else NOTHING
    return [
        *opening(fr, accelerating=False),
        Block(
            say("Energies, mass matrix, and the momenta, to be solved for the speeds."),
            (*inertia(fr), *brackets(fr)),
        ),
        Block(
            say(
                "Hamilton's function, and the second half of his equations: {} at constant momenta"
                " is {} at constant speeds.",
                ("dH/dq_j", r"\partial H/\partial q_j"),
                ("dV/dq_j - dT/dq_j", r"\partial V/\partial q_j - \partial T/\partial q_j"),
            )
            + more,
            (Equation(H, T + V), row(Rate(h("j")), right, SPEEDS)),
        ),
    ]


# --- powers
def kane(fr: Frames) -> list[Block]:
    """Return the blocks of kane: F + F* = 0."""
    inertial = -Total(BODIES, m("i") * Dot(a("i"), v_j("i", "j")) + Dot(spin(), omega_j("i", "j")))
    inertial = inertial - kappa("j") * q2("j") if k.rotors(fr) else inertial
    return [
        *opening(fr),
        Block(
            say(
                "Generalised active forces and generalised inertia forces, along each speed {}.", J_
            ),
            (
                Equation(F("j"), effort(fr) + weight(), SPEEDS),
                Equation(F_star("j"), inertial, SPEEDS),
            ),
        ),
        Block(say("Kane's equations."), (row(F("j") + F_star("j"), ZERO, SPEEDS),)),
    ]


def gibbs_appell(fr: Frames) -> list[Block]:
    """Return the blocks of gibbs_appell: dS/dq'' = Q."""
    energy = Total(
        BODIES,
        HALF * m("i") * Dot(a("i"), a("i"))
        + HALF * Dot(alpha("i"), J("i") * alpha("i"))
        + Dot(alpha("i"), Cross(omega("i"), J("i") * omega("i"))),
    )
    slope = Total(BODIES, m("i") * Dot(v_j("i", "j"), a("i")) + Dot(omega_j("i", "j"), spin()))
    return [
        *opening(fr),
        Block(
            say(
                "The energy of the accelerations, and its derivatives: {} is the partial"
                " velocity {}.",
                ("da_i/dq_j''", r"\partial\mathbf{a}_i/\partial\ddot{q}_j"),
                v_j("i", "j"),
            ),
            (
                Equation(
                    S,
                    with_rotors(
                        fr, energy, Total(SPEEDS, HALF * Dot(q2("j"), kappa("j") * q2("j")))
                    ),
                ),
                Equation(slope_of_S("j"), with_rotors(fr, slope, kappa("j") * q2("j")), SPEEDS),
            ),
        ),
        Block(
            say("Appell's equations, for each {}.", J_),
            (row(slope_of_S("j"), effort(fr) + weight(), SPEEDS),),
        ),
    ]


def slope_of_S(j: str) -> Expr:
    """Return the symbol of the derivative of Gibbs' function S along speed j, dS/dq_j''."""
    return Family("dS/dq''", r"\partial S/\partial\ddot{q}")(j)


def jourdain(fr: Frames) -> list[Block]:
    """Return the blocks of jourdain: the virtual power of forces and of rates of momenta along
    every virtual velocity.
    """
    power = Total(BODIES, Dot(v_j("i", "j"), m("i") * a("i")) + Dot(omega_j("i", "j"), L("i")))
    return [
        *opening(fr),
        Block(
            say(
                "Rates of the angular momenta, and the power of forces for each virtual speed {}.",
                J_,
            ),
            (Equation(L("i"), spin(), BODIES), Equation(W("j"), effort(fr) + weight(), SPEEDS)),
        ),
        Block(
            say("The virtual power vanishes, whatever the variation of the speeds."),
            (row(with_rotors(fr, power, kappa("j") * q2("j")), W("j"), SPEEDS),),
        ),
    ]


def variational(fr: Frames) -> list[Block]:
    """Return the blocks of variational: Hamilton's principle ([Everett1988] eq. 30-32)."""
    work: Expr = Total(
        BODIES,
        -Dot(L("i"), omega_j("i", "j"))
        - m("i") * Dot(a("i"), v_j("i", "j"))
        + m("i") * Dot(g, v_j("i", "j")),
    )
    work = work - kappa("j") * q2("j") if k.rotors(fr) else work
    return [
        *opening(fr),
        Block(
            say(
                "Virtual rotations and displacements are sums of {} and {} times arbitrary"
                " variations (eq. 31, 32); {} is the rate of the angular momentum in the ground.",
                omega_j("i", "j"),
                v_j("i", "j"),
                L("i"),
            ),
            (Equation(L("i"), spin(), BODIES),),
        ),
        Block(
            say("What multiplies each variation vanishes (eq. 30)."),
            (row(work + effort(fr), ZERO, SPEEDS),),
        ),
    ]


def maggi(fr: Frames) -> list[Block]:
    """Return the blocks of maggi: R^T M R q'' = R^T (F - M N)."""
    entry = Total(
        BODIES,
        m("i") * Dot(v_j("i", "j"), v_j("i", "l"))
        + Dot(omega_j("i", "j"), J("i") * omega_j("i", "l")),
    )
    rest = Total(
        BODIES,
        Dot(v_j("i", "j"), m("i") * (g - Z("i")))
        - Dot(omega_j("i", "j"), J("i") * z("i") + Cross(omega("i"), J("i") * omega("i"))),
    )
    return [
        *opening(fr),
        Block(
            say(
                "The free bodies' velocities are {}, {} having the partial velocities as columns;"
                " their rates are {}, {} and {} being the parts of {}.",
                ("R q'", r"\mathcal{R}\dot{q}"),
                ("R", r"\mathcal{R}"),
                ("R q'' + N", r"\mathcal{R}\ddot{q} + \mathcal{N}"),
                Z("i"),
                z("i"),
                ("N", r"\mathcal{N}"),
            ),
            (
                Equation(Z("i"), a("i") - Total(SPEEDS, v_j("i", "j") * q2("j")), BODIES),
                Equation(z("i"), alpha("i") - Total(SPEEDS, omega_j("i", "j") * q2("j")), BODIES),
            ),
        ),
        Block(
            say(
                "Inertia {} and forces {}, projected on what the joints allow, and Maggi's"
                " equations.",
                ("R^T M R", r"\mathcal{R}^{T}\mathcal{M}\mathcal{R}"),
                ("R^T (F - M N)", r"\mathcal{R}^{T}(\mathcal{F} - \mathcal{M}\mathcal{N})"),
            ),
            (
                Equation(M("j", "l"), entry, SPEEDS),
                Equation(F_of("j"), effort(fr) + rest, SPEEDS),
                row(
                    with_rotors(fr, Total(SPEEDS_K, M("j", "l") * q2("l")), kappa("j") * q2("j")),
                    F_of("j"),
                    SPEEDS,
                ),
            ),
        ),
    ]
