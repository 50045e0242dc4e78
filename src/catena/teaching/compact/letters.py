"""The symbols of compact forms, and the sets that their indices run over."""

from __future__ import annotations

from .language import Family, Over

# frames: where they are and how they move, in the ground's axes
R = Family("R", "R")
P = Family("P", "P")
Q = Family("Q", "Q")
o, o1, o2 = (Family("o", r"\mathbf{o}", k) for k in range(3))
rho, b, c, e, d = (
    Family(name, letter)
    for name, letter in (
        ("rho", r"\boldsymbol{\rho}"),
        ("b", r"\mathbf{b}"),
        ("c", r"\mathbf{c}"),
        ("e", r"\mathbf{e}"),
        ("d", r"\mathbf{d}"),
    )
)
u = Family("u", r"\mathbf{u}")
s = Family("s", r"\mathbf{s}")
q, q1, q2 = (Family("q", "q", k) for k in range(3))
omega = Family("omega", r"\boldsymbol{\omega}")
alpha = Family("alpha", r"\boldsymbol{\alpha}")

# bodies: centres of mass, inertias, partial velocities
r = Family("r", r"\mathbf{r}")
v = Family("v", r"\mathbf{v}")
a = Family("a", r"\mathbf{a}")
m = Family("m", "m")
I = Family("I", "I")
J = Family("J", "J")
g = Family("G", r"\mathbf{g}", own="g")()
omega_j = Family("omega", r"\boldsymbol{\omega}", own="partial omega")
v_j = Family("v", r"\mathbf{v}", own="partial v")

# forces
tau = Family("tau", r"\tau")
kappa = Family("kappa", r"\kappa")
lam = Family("lambda", r"\lambda")
motor = Family("tau*", r"\tau^{*}")
f = Family("F", r"\mathbf{F}")
n = Family("N", r"\mathbf{N}")

# rows of loops
place_P = Family("y", r"\mathbf{y}")
place_C = Family("z", r"\mathbf{z}")
dir_P = Family("f", r"\mathbf{f}")
dir_C = Family("h", r"\mathbf{h}")
x_P = Family("xP", r"\mathbf{x}^{P}")
x_C = Family("xC", r"\mathbf{x}^{C}")
a_k = Family("a", r"\mathbf{a}", own="row a")
b_k = Family("b", r"\mathbf{b}", own="row b")
Phi = Family("Phi", r"\Phi")
Phi2 = Family("Phi", r"\Phi", 2)
A = Family("A", "A")
sigma = Family("sigma", r"\sigma")
pull = Family("w", r"\mathbf{w}")
twist = Family("t", r"\mathbf{t}")
value = Family("cos", r"\gamma", own="value")

FRAMES = Over("i", "frames", "i", "i")
BODIES = Over("i", "bodies", "i", "i")
SPEEDS = Over("j", "freedoms", "j", "j")
SPEEDS_K = Over("l", "freedoms", "l", "l")
BALLS = Over("j", "balls", "j", "j")
FREE = Over("i", "freedoms", "i", "i")
PATH = Over("j", "path", "j on the way to i", r"j\preceq i")
CHILDREN = Over("c", "children", "c on i", r"c\,:\,p(c)=i")
BEYOND = Over("l", "beyond", "l from i on", r"l\succeq i")
SPRUNG = Over("i", "sprung", "i", "i")
ROWS = Over("k", "rows", "k", "k")
SIDES = Over("i", "sides", "i = P, C", r"i=P,C")
ACROSS_P, ACROSS_C, ANGLES = (
    Over("k", *names)
    for names in (
        ("ACROSS_P", "k", "k", "places"),
        ("ACROSS_C", "k", "k", "places along C"),
        ("ANGLE", "k", "k", "angles"),
    )
)
AXES = Over("n", "axes", "n", "n")
AXES_L = Over("l", "axes", "l", "l")
HINGES = Over("i", "hinges", "i", "i")
