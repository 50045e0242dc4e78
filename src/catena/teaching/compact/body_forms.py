"""Compact statements in which the bodies are cut free: newton_euler, penalty, recursive,
boltzmann_hamel.
"""

from __future__ import annotations

from . import kinematics as k
from .frames import Frames
from .joint_forms import LOOPS, PARTIAL, PLACES, moving, spin
from .language import TWO, ZERO, Cross, Dot, Equation, Expr, Family, Total
from .letters import (
    BEYOND,
    CHILDREN,
    FRAMES,
    FREE,
    ROWS,
    SPRUNG,
    I,
    P,
    Q,
    R,
    a,
    alpha,
    b,
    c,
    d,
    e,
    f,
    g,
    lam,
    m,
    motor,
    n,
    o,
    o2,
    omega,
    pull,
    q,
    q1,
    q2,
    r,
    s,
    tau,
    twist,
    u,
)
from .page import Block, row, say

I_ = ("i", "i")
P_ = ("p", "p")
C_ = ("c", "c")
beta = Family("beta", r"\beta")()
gamma = Family("gamma", r"\gamma")()
gap = Family("delta", r"\boldsymbol{\delta}")
gap1 = Family("delta", r"\boldsymbol{\delta}", 1)
tilt = Family("phi", r"\boldsymbol{\varphi}")
tilt1 = Family("phi", r"\boldsymbol{\varphi}", 1)
C = Family("C", "C", own="step")
l = Family("l", r"\boldsymbol{\ell}")
acc = Family("a", r"\mathbf{a}", own="acc")
H = Family("H", r"\mathbf{H}")
K = Family("K", r"\mathbf{K}")
G = Family("C", "C", own="G")
Fb = Family("F", r"\mathbf{F}", own="of link")
Eb = Family("E", r"\mathbf{E}")
tb = Family("T", r"\mathbf{T}", own="moment")
Mb = Family("M", r"\mathbf{M}")
dw = Family("omega", r"\boldsymbol{\omega}", 1)


def force_of_motor(fr: Frames, i: str) -> Expr:
    """Return the symbol of the force of the motor of frame i: tau, or, with rotors, tau less the
    inertia force of the rotor.
    """
    return motor(i) if k.rotors(fr) else tau(i)


def rotor_equations(fr: Frames) -> list[Equation]:
    """Return the equation of the motors' forces, where there are rotors."""
    return k.with_motor(fr)


def loop_blocks(fr: Frames) -> list[Block]:
    """Return the blocks about the rows of loops, with the partial velocities that they use."""
    return (
        [Block(PARTIAL, tuple(k.partials(fr))), Block(LOOPS, tuple(k.loops(fr)))] if fr.rows else []
    )


def loop_blocks_by_motion(fr: Frames) -> list[Block]:
    """Return the block about the rows of loops, in terms of the motion of the two bodies."""
    if not fr.rows:
        return []
    *rows, second = k.loops(fr, along_speeds=False)
    return [Block(LOOPS, (*rows, row(second.right, ZERO, ROWS)))]


def with_loops(x: Expr, fr: Frames, term: Expr) -> Expr:
    """Return a sum with the term of the loops' forces added, where there are loops."""
    return x + Total(ROWS, lam("k") * term) if fr.rows else x


def along(fr: Frames, turning: Expr, sliding: Expr) -> Expr:
    """Return the component of a wrench along the degree of freedom of a frame. turning, sliding:
    the expressions for a rotation and for a translation.
    """
    if not k.slides(fr):
        return turning
    return turning + sliding if k.turns(fr) else sliding


# --- ground's axes
def laws(fr: Frames) -> list[Equation]:
    """Return Newton's and Euler's equations of every frame."""
    force = with_loops(m("i") * g + f("i") - Total(CHILDREN, f("c")), fr, pull("i", "k"))
    torque = (
        n("i")
        + Cross(o("i") - r("i"), f("i"))
        - Total(CHILDREN, n("c") + Cross(o("c") - r("i"), f("c")))
    )
    return [
        row(m("i") * a("i"), force, FRAMES),
        row(spin(), with_loops(torque, fr, twist("i", "k")), FRAMES),
    ]


def free(fr: Frames) -> Equation:
    """Return the equations along the degrees of freedom of the joints: the component of each wrench
    along its degree of freedom is the motor's force.
    """
    return row(along(fr, Dot(u("i"), n("i")), Dot(s("i"), f("i"))), force_of_motor(fr, "i"), FREE)


def motion_blocks(fr: Frames) -> list[Block]:
    """Return the blocks about the motion of the frames and the rows of loops."""
    return [moving(fr, *k.masses(FRAMES)), *loop_blocks_by_motion(fr)]


def newton_euler(fr: Frames) -> list[Block]:
    """Return the blocks of newton_euler: the equations of each body, with the forces of its
    joints.
    """
    return [
        *motion_blocks(fr),
        Block(
            say(
                "Newton's and Euler's law: {} and {} are force and torque about {} by which {} acts"
                " on {}, motor included; {} is carried by {}.",
                f("i"),
                n("i"),
                o("i"),
                P_,
                I_,
                C_,
                I_,
            ),
            tuple(laws(fr)),
        ),
        Block(
            say("Along its freedom a joint transmits the force of its motor, and nothing else."),
            (*rotor_equations(fr), free(fr)),
        ),
    ]


def penalty(fr: Frames) -> list[Block]:
    """Return the blocks of penalty: the equations of each body, with springs in place of the
    joints' constraints.
    """
    push = force_of_motor(fr, "i")
    force, torque = (-beta * (x("i") + gamma * y("i")) for x, y in ((gap, gap1), (tilt, tilt1)))
    springs = [
        row(f("i"), s("i") * push + force if k.slides(fr) else force, SPRUNG),
        row(n("i"), u("i") * push + torque if k.turns(fr) else torque, SPRUNG),
    ]
    return [
        *motion_blocks(fr),
        Block(
            say(
                "Newton's and Euler's law of the free frames: {} and {} are force and torque about"
                " {} by which {} acts on {}.",
                f("i"),
                n("i"),
                o("i"),
                P_,
                I_,
            ),
            tuple(laws(fr)),
        ),
        Block(
            say(
                "Between moving frames they are springs and dampers, of gaps {} in place and {} in"
                " angle across the freedom; as {} grows the gaps vanish as {}. Along the freedom"
                " acts the motor, and a joint at the ground keeps its own coordinate.",
                gap("i"),
                tilt("i"),
                beta,
                ("1/beta", r"1/\beta"),
            ),
            (*rotor_equations(fr), *springs, free(fr)),
        ),
    ]


# --- own axes
def arms(fr: Frames, turned: bool) -> list[Equation]:
    """Return the equation for the position of the origin of frame i relative to frame p."""
    step = P("i") * d("i") * q("i") if turned else d("i") * q("i")
    return [Equation(l("i"), b("i") + step if k.slides(fr) else b("i"), FRAMES)]


def own(fr: Frames, term: Expr) -> Expr:
    """Return the term with the forces of the loops, along the body's own axes."""
    return R("i").T * Total(ROWS, lam("k") * term)


def recursive(fr: Frames) -> list[Block]:
    """Return the blocks of recursive: velocities and accelerations outwards, forces inwards, each
    along its own axes ([Merwe1995] eq. 4.7-4.24, by blocks of three).
    """
    turned = fr.has(lambda x: x.turned)
    spun = Cross(C("i") * omega("p"), e("i") * q1("i"))
    carried = C("i") * (
        acc("p") + Cross(alpha("p"), l("i")) + Cross(omega("p"), Cross(omega("p"), l("i")))
    )
    outward = [
        Equation(C("i"), (P("i") * Q("i")).T if turned else Q("i").T, FRAMES),
        *arms(fr, turned),
        Equation(omega("i"), C("i") * omega("p") + e("i") * q1("i"), FRAMES),
        Equation(alpha("i"), C("i") * alpha("p") + e("i") * q2("i") + spun, FRAMES),
        Equation(
            acc("i"),
            k.sliding(
                fr, carried, d("i") * q2("i"), TWO * Cross(C("i") * omega("p"), d("i") * q1("i"))
            ),
            FRAMES,
        ),
        Equation(
            H("i"),
            m("i")
            * (acc("i") + Cross(alpha("i"), c("i")) + Cross(omega("i"), Cross(omega("i"), c("i")))),
            FRAMES,
        ),
        Equation(
            K("i"),
            I("i") * alpha("i") + Cross(omega("i"), I("i") * omega("i")) + Cross(c("i"), H("i")),
            FRAMES,
        ),
    ]
    F = H("i") + Total(CHILDREN, C("c").T * f("c"))
    N = K("i") + Total(CHILDREN, C("c").T * n("c") + Cross(l("c"), C("c").T * f("c")))
    if fr.rows:
        F = F - own(fr, pull("i", "k"))
        N = N - own(fr, twist("i", "k") + Cross(R("i") * c("i"), pull("i", "k")))
    looping = [Block(PLACES, tuple(k.places(fr))), *loop_blocks(fr)] if fr.rows else []
    return [
        *looping,
        Block(
            say(
                "Outwards, along each frame's own axes: angular velocity, angular acceleration, and"
                " acceleration {} of the origin; that of the ground is {}, so that weight needs no"
                " term of its own.",
                acc("i"),
                -g,
            ),
            tuple(outward),
        ),
        Block(
            say(
                "Inwards: force and torque about the origin by which {} acts on {}; {} is carried"
                " by {}.",
                P_,
                I_,
                C_,
                I_,
            ),
            (Equation(f("i"), F, FRAMES), Equation(n("i"), N, FRAMES)),
        ),
        Block(
            say("The motor's force is the part along the freedom."),
            (
                *rotor_equations(fr),
                row(
                    force_of_motor(fr, "i"),
                    along(fr, Dot(e("i"), n("i")), Dot(d("i"), f("i"))),
                    FREE,
                ),
            ),
        ),
    ]


def boltzmann_hamel(fr: Frames) -> list[Block]:
    """Return the blocks of boltzmann_hamel: angular velocities as quasi-velocities, moments by G
    and D ([Quinn1991] eq. 22-39).
    """
    turned = fr.has(lambda x: x.turned)
    swept = R("p") * (Cross(dw("p"), l("i")) + Cross(omega("p"), Cross(omega("p"), l("i"))))
    origin = k.sliding(
        fr, o2("p") + swept, s("i") * q2("i"), TWO * Cross(R("p") * omega("p"), s("i") * q1("i"))
    )
    force = m("i") * (o2("i") - g) + R("i") * (
        Cross(dw("i"), m("i") * c("i")) + Cross(omega("i"), Cross(omega("i"), m("i") * c("i")))
    )
    moment = (
        I("i") * dw("i")
        + Cross(omega("i"), I("i") * omega("i"))
        + Cross(c("i"), R("i").T * Fb("i"))
        + Total(CHILDREN, Cross(l("c"), R("i").T * Eb("c")))
    )
    if fr.rows:
        force = force - Total(ROWS, lam("k") * pull("i", "k"))
        moment = moment - own(fr, twist("i", "k"))
    quasi = [
        *arms(fr, turned),
        Equation(G("i", "j"), R("i").T * R("j"), FRAMES),
        Equation(omega("i"), G("i", "p") * omega("p") + e("i") * q1("i"), FRAMES),
        Equation(
            dw("i"),
            G("i", "p") * dw("p")
            + e("i") * q2("i")
            + Cross(G("i", "p") * omega("p"), e("i") * q1("i")),
            FRAMES,
        ),
        Equation(o2("i"), origin, FRAMES),
    ]
    return [
        Block(PLACES, tuple(k.places(fr))),
        *loop_blocks(fr),
        Block(
            say(
                "Quasi-velocities: {} along the link's own axes. The blocks {} lead from the axes"
                " of {} to those of {}: they are the matrix {} of {}, and {} is {} (eq. 27-31). {}"
                " is along the ground's axes.",
                omega("i"),
                G("i", "j"),
                ("j", "j"),
                I_,
                ("G", "G"),
                ("omega = G Omega", r"\boldsymbol{\omega} = G\,\boldsymbol{\Omega}"),
                ("Omega_i = e_i q_i'", r"\boldsymbol{\Omega}_i = \mathbf{e}_i\,\dot{q}_i"),
                ("D q'", r"D\,\dot{q}"),
                o2("i"),
            ),
            tuple(quasi),
        ),
        Block(
            say(
                "The links (eq. 22): force {} of a link, {} of all links from {} on, and the moment"
                " {} about the link's origin along its own axes.",
                Fb("i"),
                Eb("i"),
                I_,
                tb("i"),
            ),
            (
                Equation(Fb("i"), force, FRAMES),
                Equation(Eb("i"), Total(BEYOND, Fb("l")), FRAMES),
                Equation(tb("i"), moment, FRAMES),
            ),
        ),
        Block(
            say(
                "{} takes the moments to the joints, {} to their freedoms (eq. 24-26, 37-39).",
                ("G^T", "G^{T}"),
                ("D^T", "D^{T}"),
            ),
            (
                *rotor_equations(fr),
                Equation(Mb("i"), Total(BEYOND, G("i", "l") * tb("l")), FRAMES),
                row(
                    along(fr, Dot(e("i"), Mb("i")), Dot(d("i"), R("i").T * Eb("i"))),
                    force_of_motor(fr, "i"),
                    FREE,
                ),
            ),
        ),
    ]
