"""The letters of compact statements, and the sets that their indices run over."""

from __future__ import annotations

from .language import Family, Over

# frames: where they are and how they move, in the ground's axes
R, P, Q = Family("R", "R"), Family("P", "P"), Family("Q", "Q")
o, o1, o2 = (Family("o", r"\mathbf{o}", k) for k in range(3))
rho, b, c, e, d = (Family(name, letter) for name, letter in (("rho", r"\boldsymbol{\rho}"), ("b", r"\mathbf{b}"), ("c", r"\mathbf{c}"),
                                                             ("e", r"\mathbf{e}"), ("d", r"\mathbf{d}")))  # fmt: skip
u, s = Family("u", r"\mathbf{u}"), Family("s", r"\mathbf{s}")
q, q1, q2 = (Family("q", "q", k) for k in range(3))
omega, alpha = Family("omega", r"\boldsymbol{\omega}"), Family("alpha", r"\boldsymbol{\alpha}")

# bodies: centres of mass, inertias, partial velocities
r, v, a = Family("r", r"\mathbf{r}"), Family("v", r"\mathbf{v}"), Family("a", r"\mathbf{a}")
m, I, J, g = Family("m", "m"), Family("I", "I"), Family("J", "J"), Family("G", r"\mathbf{g}", own="g")()
omega_j, v_j = Family("omega", r"\boldsymbol{\omega}", own="partial omega"), Family("v", r"\mathbf{v}", own="partial v")

# forces
tau, kappa, lam = Family("tau", r"\tau"), Family("kappa", r"\kappa"), Family("lambda", r"\lambda")
motor = Family("tau*", r"\tau^{*}")
f, n = Family("F", r"\mathbf{F}"), Family("N", r"\mathbf{N}")

# rows of loops
place_P, place_C, dir_P, dir_C = Family("y", r"\mathbf{y}"), Family("z", r"\mathbf{z}"), Family("f", r"\mathbf{f}"), Family("h", r"\mathbf{h}")
x_P, x_C = Family("xP", r"\mathbf{x}^{P}"), Family("xC", r"\mathbf{x}^{C}")
a_k, b_k = Family("a", r"\mathbf{a}", own="row a"), Family("b", r"\mathbf{b}", own="row b")
Phi, Phi2, A = Family("Phi", r"\Phi"), Family("Phi", r"\Phi", 2), Family("A", "A")
sigma, pull, twist, value = Family("sigma", r"\sigma"), Family("w", r"\mathbf{w}"), Family("t", r"\mathbf{t}"), Family("cos", r"\gamma", own="value")

FRAMES = Over("i", "frames", "i", "i")
BODIES = Over("i", "bodies", "i", "i")
SPEEDS, SPEEDS_K = Over("j", "freedoms", "j", "j"), Over("l", "freedoms", "l", "l")
BALLS = Over("j", "balls", "j", "j")
FREE = Over("i", "freedoms", "i", "i")
PATH = Over("j", "path", "j on the way to i", r"j\preceq i")
CHILDREN = Over("c", "children", "c on i", r"c\,:\,p(c)=i")
BEYOND = Over("l", "beyond", "l from i on", r"l\succeq i")
SPRUNG = Over("i", "sprung", "i", "i")
ROWS, SIDES = Over("k", "rows", "k", "k"), Over("i", "sides", "i = P, C", r"i=P,C")
ACROSS_P, ACROSS_C, ANGLES = (Over("k", *names) for names in (("ACROSS_P", "k", "k", "places"), ("ACROSS_C", "k", "k", "places along C"), ("ANGLE", "k", "k", "angles")))
AXES, AXES_L = Over("n", "axes", "n", "n"), Over("l", "axes", "l", "l")
HINGES = Over("i", "hinges", "i", "i")
