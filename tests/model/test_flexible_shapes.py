"""Shapes of beams and their mass integrals, beside closed forms and SciPy's own quadrature."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad

import catena
from catena import Beam, Body, Joint, Mechanism
from catena.errors import MechanismError, MechanismWarning
from catena.model.flexible.integrals import Basis, integrals, rule
from catena.model.flexible.series import samples
from catena.model.flexible.shapes import ENDS, HELD, bending, given, stretching

ROOTS = json.loads((Path(__file__).parents[1] / "reference" / "flexible_beams.json").read_text())[
    "beam_roots"
]
NAMED = {
    "clamped-free": "clamped_free",
    "pinned-free": "clamped_pinned_or_pinned_free",
    "free-free": "free_free_or_clamped_clamped",
    "clamped-clamped": "free_free_or_clamped_clamped",
    "clamped-pinned": "clamped_pinned_or_pinned_free",
}


@pytest.mark.parametrize("ends", NAMED)
def test_roots(ends):
    expected = ROOTS[NAMED[ends]]
    np.testing.assert_allclose(bending(ends, len(expected)).b, expected, rtol=1e-14)


@pytest.mark.parametrize("ends", ENDS)
@pytest.mark.parametrize("n", [1, 5, 40])
def test_shapes_keep_their_ends_and_are_orthogonal(ends, n):
    """Also the fortieth, where cosh - sinh would have lost every digit."""
    phi, (s, w) = bending(ends, n), rule(40 + 4 * n)
    for place, end in zip((0.0, 1.0), ends.split("-")):
        for order in HELD[end]:
            assert np.abs(phi(np.array([place]), order)[:, 0] / phi.b**order).max() < 1e-12
    size = 0.25 if ends.endswith("free") else 0.5
    np.testing.assert_allclose((phi(s) * w) @ phi(s).T, size * np.eye(n), atol=1e-12)
    scaled = phi(s, 2) / phi.b[:, None] ** 2
    np.testing.assert_allclose((scaled * w) @ scaled.T, size * np.eye(n), atol=1e-12)
    np.testing.assert_allclose(phi(s, 4) / phi.b[:, None] ** 4, phi(s), atol=1e-11)


@pytest.mark.parametrize("ends", ENDS)
def test_stretching_is_sines_and_cosines(ends):
    phi, (s, w) = stretching(ends, 4), rule(40)
    np.testing.assert_allclose((phi(s) * w) @ phi(s).T, 0.5 * np.eye(4), atol=1e-13)
    np.testing.assert_allclose(phi(s, 2), -(phi.b[:, None] ** 2) * phi(s), atol=1e-11)


@pytest.mark.parametrize("ends", ["clamped-free", "pinned-free", "pinned-pinned"])
def test_mass_integrals_against_quadrature(ends):
    """Every S and P, the strains and the turning sections, to 1e-13 of their size."""
    counts = {"y": 3, "z": 2, "x": 1, "twist": 2}
    shapes = {d: (bending if d in ("y", "z") else stretching)(ends, n) for d, n in counts.items()}
    basis = Basis(shapes, counts, True)
    I = integrals(basis)
    size = np.sqrt(np.diag(I.P))
    for a, b in ((0, 0), (1, 1), (3, 3), (0, 3), (2, 6), (7, 7), (8, 12), (10, 15)):
        exact = quad(
            lambda s, a=a, b=b: float(np.prod(basis.at(s).B[[a, b], 0])),
            0,
            1,
            epsabs=1e-13,
            limit=200,
        )[0]
        assert abs(I.P[a, b] - exact) < 1e-13 * max(1.0, size[a] * size[b]), (a, b)
    exact = [
        quad(lambda s, a=a: float(basis.at(s).B[a, 0]), 0, 1, epsabs=1e-13, limit=200)[0]
        for a in range(len(I.S))
    ]
    np.testing.assert_allclose(I.S, exact, atol=2e-13 * size.max())
    g = basis.at(0.37).B[len(basis.moving) + 1, 0]  # of the first pair, (y1, y1)
    assert (
        abs(
            g
            - quad(
                lambda s: float(shapes["y"](np.array([s]), 1)[0, 0]) ** 2, 0, 0.37, epsabs=1e-14
            )[0]
        )
        < 1e-13
    )
    points = np.einsum("ak,bk,k->ab", basis.at(I.points).B, basis.at(I.points).B, I.weights)
    # the sections keep the integrals
    assert np.abs((points - I.P) / np.outer(size, size)).max() < 2e-13
    assert (I.weights > 0).all()


def test_fields_of_many_shapes():
    """g of the highest pair, added up from place to place, beside one rule over the whole way."""
    phi, (t, w) = bending("clamped-free", 60), rule(400)
    s = np.array([1.0, 0.37, 0.0])  # in any order
    g = Basis({"y": phi}, {"y": 60}, True).at(s).B[-1]
    np.testing.assert_allclose(g, [x * phi(x * t, 1)[-1] ** 2 @ w for x in s], rtol=1e-11)


# --- shapes of your own
def own(shapes, ends="clamped-free", modes=2, **more):
    beam = Beam(2.0, 0.5, EI=(3.0, None), modes={"y": modes}, ends=ends, shapes=shapes, **more)
    return Mechanism(
        "own",
        [Body("boom", flexible=beam)],
        [Joint("root", "fixed", "ground", "boom")],
        gravity=(0, 0, 0),
    )


def test_texts_and_functions_are_the_same():
    s = np.linspace(0, 1, 7)
    texts = given("b", ["x^2*(3*L - x)", "x^2*sin(pi*x/L)"], "clamped-free", "bending", 2.0)
    functions = given(
        "b",
        [lambda x: x**2 * (6 - x), lambda x: x**2 * np.sin(np.pi * x / 2)],
        "clamped-free",
        "bending",
        2.0,
    )
    for order, tolerance in ((0, 1e-13), (1, 1e-11), (2, 1e-9)):
        np.testing.assert_allclose(texts(s, order), functions(s, order), atol=tolerance)
    x = 2 * s
    np.testing.assert_allclose(texts(s, 2)[0], 4 * (12 - 6 * x), atol=1e-10)  # d2/ds2 = L^2 d2/dx2


def test_a_cantilever_by_polynomials():
    """Rayleigh and Ritz: powers of x, which are neither orthogonal nor natural, come to the exact
    frequencies from above.
    """
    exact = np.square(ROOTS["clamped_free"][:2]) * np.sqrt(3.0 / 0.5 / 2.0**4)
    with pytest.warns(
        MechanismWarning, match="its 5 shapes along y do not suit the bodies that it carries"
    ):
        errors = [
            catena.modes(own([f"(x/L)^{k}" for k in range(2, 2 + n)], modes=n)).frequencies[:2]
            / exact
            - 1
            for n in (2, 3, 5)
        ]
    assert (np.array(errors) > 0).all()
    assert errors[0][0] < 5e-3 and errors[1][0] < 5e-4 and errors[2][1] < 1e-3
    own(["(x/L)^2", "(x/L)^3", "(x/L)^4"], modes=2)  # fewer modes than shapes: the first


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
@pytest.mark.parametrize("k", [1, 3, 5, 7])
def test_shapes_by_cosh_and_cos(k, scale):
    """The textbook's form of a cantilever's shapes, whose terms cancel each other: noisy from the
    third on, and yet smooth.
    """
    b = float(bending("clamped-free", k).b[-1])
    L = 2.0
    ratio = (np.cosh(b) + np.cos(b)) / (np.sinh(b) + np.sin(b))

    def shape(x):
        z = b * x / L
        return scale * (np.cosh(z) - np.cos(z) - ratio * (np.sinh(z) - np.sin(z)))

    s = np.linspace(0, 1, 33)
    dense = samples()
    found = given("b", [shape], "clamped-free", "bending", L)
    exact = bending("clamped-free", k)
    size = found(np.ones(1))[0]
    # what this machine's cosh and sinh leave, at most a few ulp of cosh(b)
    noise = np.abs(shape(L * dense) / size - exact(dense)[-1]).max()
    assert noise < 1e-15 * np.cosh(b) + 1e-14
    # the largest second derivative on 0 to 1 of a polynomial that stays below 1
    markov = 4 * (d := (len(found.c) - 1) ** 2) * (d - 1) / 3
    np.testing.assert_allclose(found(s)[0] / size, exact(s)[-1], atol=1e-12 + 2 * noise)
    np.testing.assert_allclose(
        found(s, 2)[0] / size / b**2, exact(s, 2)[-1] / b**2, atol=1e-9 + markov / b**2 * noise
    )


def test_polynomials_written_out():
    """Degree 7 with coefficients that cancel: its derivatives are those of the polynomial."""
    c = [0, 0, 1.0, -27.0, 270.0, -1200.0, 2500.0, -2000.0]
    found = given(
        "b",
        ["x^2*(1 - 27*x/L + 270*(x/L)^2 - 1200*(x/L)^3 + 2500*(x/L)^4 - 2000*(x/L)^5)"],
        "clamped-free",
        "bending",
        2.0,
    )
    s = np.linspace(0, 1, 33)
    for order in (0, 1, 2):
        exact = 4 * np.polynomial.Polynomial(c).deriv(order)(s)
        np.testing.assert_allclose(found(s, order)[0], exact, atol=1e-10 * np.abs(exact).max())


@pytest.mark.parametrize("scales", [np.ones(9), 10.0 ** np.arange(-12, 15, 3)])
@pytest.mark.parametrize("n, outcome", [(7, ""), (9, ""), (10, "too alike"), (12, "too alike")])
def test_powers_are_independent_whatever_their_units(n, outcome, scales):
    shapes = [lambda x, k=k: float(np.resize(scales, n)[k]) * x ** (k + 2) for k in range(n)]
    if not outcome:
        assert given("b", shapes, "clamped-free", "bending", 1.0).c.shape == (n + 2, n)
        return
    with pytest.raises(MechanismError, match=outcome):
        given("b", shapes, "clamped-free", "bending", 1.0)


@pytest.mark.parametrize(
    "shapes, ends, said",
    [
        (["x"], "clamped-free", ["'x'", "slope", "x = 0", "clamped-free"]),
        (["1 + x^2"], "pinned-free", ["'1 + x^2'", "displacement", "x = 0"]),
        (["x"], "pinned-pinned", ["'x'", "displacement", "x = L"]),
        (["x^2*(1+y)"], "clamped-free", ["'y'"]),
        (["x^2", "2*x^2"], "clamped-free", ["not independent"]),
        (["x^2", "x^3", "x^4", "1e9*(2*x^2 - 3*x^3 + x^4)"], "clamped-free", ["not independent"]),
        (["0*x"], "clamped-free", ["zero"]),
        (["x^2*abs(x-1)"], "clamped-free", ["smooth"]),
    ],
)
def test_a_shape_that_cannot_be_is_refused_by_name(shapes, ends, said):
    with pytest.raises(MechanismError) as refused:
        own(shapes, ends, modes=len(shapes)).validate()
    assert all(word in str(refused.value) for word in ("boom", *said)), str(refused.value)


def test_other_refusals():
    with pytest.raises(MechanismError, match=r"boom.*3 modes.*in y.*2 shapes"):
        own(["x^2", "x^3"], modes=3).validate()
    with pytest.raises(MechanismError, match=r"boom.*glued.*clamped-free"):
        own(None, ends="glued").validate()
    for shapes in ("x^2", [1, 2], {"y": "x^2"}):
        with pytest.raises(MechanismError, match=r"boom.*list of texts"):
            own(shapes).validate()
    with pytest.raises(MechanismError, match=r"boom.*key 'w'.*y, z, x, twist"):
        own({"w": ["x^2"]}).validate()
    with pytest.raises(MechanismError, match=r"boom.*without a mode"):
        own(None, modes=0).validate()
    with pytest.raises(MechanismError, match=r"Python function.*text of x"):
        catena.save(own([lambda x: x**2], modes=1), "nowhere.toml")
    beam = Beam(1.0, 1.0, EI=1.0, modes=2)
    hub = Body("hub", 1.0, (0, 0, 0), (1, 1, 1))
    far = Joint("carrier", "revolute", "hub", "boom", offset=catena.Pose(position=(0.5, 0, 0)))
    with pytest.raises(MechanismError, match=r"boom.*carrier.*0.5 L.*x = 0"):
        Mechanism(
            "m", [hub, Body("boom", flexible=beam)], [Joint("base", "fixed", "ground", "hub"), far]
        ).validate()
