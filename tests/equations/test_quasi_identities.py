"""[Quinn1991] eq. 18c, 20, 21 by SymPy alone: what leads from the energies to eq. 22.

The print's tilde is the transpose of the usual skew matrix, a~ b = -(a x b) (docs/misprints.md).
"""

from __future__ import annotations

import sympy as sp

GAMMA = sp.symbols("g1:4")
A, B = (sp.Matrix(sp.symbols(f"{x}1:4")) for x in "ab")


def tilde(x: sp.Matrix) -> sp.Matrix:
    """Return the print's skew matrix, eq. 4."""
    return sp.Matrix([[0, x[2], -x[1]], [-x[2], 0, x[0]], [x[1], -x[0], 0]])


def rotation() -> sp.Matrix:
    """Return C_NB of Euler angles about x, y, z: from the body's axes to the ground's."""
    a, b, c = GAMMA
    turns = (sp.rot_axis1(-a), sp.rot_axis2(-b), sp.rot_axis3(-c))
    return turns[0] * turns[1] * turns[2]


def rates() -> sp.Matrix:
    """Return D with omega = D gamma', in the body's axes, from C' = C omega~^T (eq. 3)."""
    C = rotation()
    columns = []
    for g in GAMMA:
        S = sp.simplify(C.T * C.diff(g))  # the usual skew matrix of a column of D
        columns.append(sp.Matrix([S[2, 1], S[0, 2], S[1, 0]]))
    return sp.Matrix.hstack(*columns)


def test_rotations_turn_by_the_transposed_tilde() -> None:
    C, D = rotation(), rates()
    speeds = sp.Matrix(sp.symbols("r1:4"))
    rate = sum((C.diff(g) * r for g, r in zip(GAMMA, speeds)), sp.zeros(3))
    assert sp.simplify(rate - C * tilde(D * speeds).T) == sp.zeros(3)


def test_the_gradient_of_a_bilinear_form_needs_no_angles() -> None:
    """Eq. 18c and 20: D^-T d(a' C b)/d gamma = b~^T C' a, in which no angle is left but C."""
    C, D = rotation(), rates()
    form = (A.T * C * B)[0]
    slope = sp.Matrix([form.diff(g) for g in GAMMA])
    assert sp.simplify(slope - D.T * (tilde(B).T * C.T * A)) == sp.zeros(3, 1)


def test_the_identity_of_two_tildes() -> None:
    """Eq. 21: a~' b~ + b~ a~ + (a~ b)~ = 0, Jacobi's identity."""
    a, b = tilde(A), tilde(B)
    assert sp.expand(a.T * b + b * a + tilde(a * B)) == sp.zeros(3)


def test_lagrange_in_quasi_coordinates_is_lagrange_in_angles() -> None:
    """Eq. 18b against 19 for one body: D' (d/dt dT/dw + w x dT/dw) is Lagrange's left side."""
    D = rates()
    t = sp.Symbol("t")
    angles = [sp.Function(f"f{k}")(t) for k in range(3)]
    inertia = sp.diag(*sp.symbols("I1:4"))
    Dt = D.subs(dict(zip(GAMMA, angles)))
    w = Dt * sp.Matrix([x.diff(t) for x in angles])
    p = inertia * w
    quasi = p.diff(t) + w.cross(p)
    values = {"f": (0.3, -0.7, 1.1), "r": (0.4, 0.9, -0.6), "s": (1.2, -0.5, 0.8)}
    T = (w.T * p)[0] / 2

    def at(x: sp.Expr) -> float:
        for k, f in enumerate(angles):
            x = x.subs(f.diff(t, 2), values["s"][k])
        for k, f in enumerate(angles):
            x = x.subs(f.diff(t), values["r"][k])
        for k, f in enumerate(angles):
            x = x.subs(f, values["f"][k])
        return float(x.subs(dict(zip(sp.symbols("I1:4"), (1.0, 2.0, 4.0)))))

    moments = Dt.T * quasi
    for k, f in enumerate(angles):
        left = T.diff(f.diff(t)).diff(t) - T.diff(f)
        assert abs(at(left) - at(moments[k])) < 1e-12
