"""Beams that carry loads: shapes that suit them, and how far the first frequencies are trusted
where they do not.

|==========boom==========[load]      clamped at the left; the load has mass and rotary inertia
"""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from scipy.optimize import brentq

import catena
from catena import Beam, Body, Joint, Mechanism, Pose
from catena.compiler.trace import Tracer
from catena.errors import MechanismError, MechanismWarning
from catena.kernels.tree import layout
from catena.model.flexible import discretise, doubts, frequency_error, frequency_errors
from catena.model.flexible.integrals import Basis, integrals
from catena.model.flexible.shape_errors import _loads
from catena.model.flexible.shapes import uniform
from catena.report.description import describe


def loaded(
    modes, ends="clamped-free", mass=1.0, inertia=0.2, at=1.0, unit=1.0, **more
) -> Mechanism:
    """Its lengths are metres times `unit`; its frequencies are the same in every unit."""
    more.setdefault("EI", (unit**4, None))
    beam = Beam(unit, 1.0, modes=modes, ends=ends, **more)
    load = Body("load", mass * unit, (0, 0, 0), (inertia * unit**3,) * 3)
    joints = [
        Joint("root", "fixed", "ground", "boom"),
        Joint("clip", "fixed", "boom", "load", Pose(position=(at * unit, 0, 0))),
    ]
    return discretise(
        Mechanism("loaded beam", [Body("boom", flexible=beam), load], joints, gravity=(0, 0, 0))
    )


def exact(mass: float, inertia: float, count: int) -> np.ndarray:
    """omega of phi = A (cosh - cos) + B (sinh - sin) with phi'' = b^4 J phi', phi''' = -b^4 m phi
    at the tip, by bisection.
    """

    def determinant(b: float) -> float:
        c = np.cos(b)
        s = np.sin(b)
        C = np.cosh(b)
        S = np.sinh(b)
        moment = [C + c - b**3 * inertia * (S + s), S + s - b**3 * inertia * (C - c)]
        force = [S - s + b * mass * (C - c), C + c + b * mass * (S - s)]
        return (moment[0] * force[1] - moment[1] * force[0]) / C**2

    grid = np.linspace(0.05, 12.0, 4000)
    signs = np.sign([determinant(b) for b in grid])
    return np.square(
        [brentq(determinant, *grid[k : k + 2], xtol=1e-14) for k in np.flatnonzero(np.diff(signs))][
            :count
        ]
    )


def ritz(m: Mechanism) -> np.ndarray:
    """The frequencies that the mechanism's own shapes give, from its mass matrix and its forces at
    rest.
    """
    s = Tracer(layout(m))
    K = ca.jacobian(s.gravity(), s.q)
    M, K = (
        np.array(x) for x in ca.Function("MK", [s.q], [s.mass_matrix(), K])(np.zeros(s.layout.nq))
    )
    return np.sqrt(np.sort(np.linalg.eigvals(np.linalg.solve(M, K)).real))


@pytest.mark.parametrize(
    "ends, modes, within",
    [("clamped-free", 8, 0.2), ("craig-bampton", 2, 1e-4), ("craig-bampton", 8, 5e-6)],
)
def test_a_load_with_rotary_inertia(ends, modes, within):
    """The estimate is the error: shapes of a cantilever err by 11 % in the third, those of Craig
    and Bampton by 2e-6.
    """
    m = loaded(modes, ends)
    errors = frequency_errors(m, m.beams[0])["y"]
    true = ritz(m)[: len(errors)] / exact(1.0, 0.2, len(errors)) - 1
    assert np.abs(true).max() < within
    np.testing.assert_allclose(errors, true, rtol=1e-3, atol=1e-9)
    assert frequency_error(m) == errors.max()


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_a_doubt_is_told_in_every_unit(unit):
    (said,) = doubts(loaded(8, unit=unit))
    assert all(word in said for word in ("'boom'", "8 shapes along y", "11 %", "craig-bampton"))
    assert not doubts(loaded(8, "craig-bampton", unit=unit))
    assert not doubts(loaded(8, mass=1e-12, inertia=1e-12, unit=unit))


def test_a_machine_warns():
    with pytest.warns(MechanismWarning, match=r"'boom'.*11 % too high.*craig-bampton"):
        catena.compile(loaded(8))


def test_shapes_that_are_nearly_alike_leave_a_trace():
    powers = [f"(x/L)^{k}" for k in range(2, 10)]
    (said,) = doubts(loaded({"y": 8}, shapes=powers, mass=1e-9, inertia=1e-9))
    assert "shapes along y" in said and "loses 12 of its 16 digits" in said
    assert not doubts(loaded({"y": 4}, shapes=powers, mass=1e-9, inertia=1e-9))


def test_what_info_says():
    """One plane of bending, its doubts and its errors."""
    found = describe(loaded(8))
    assert found["beams"][0]["EI"] == [1.0, None]
    assert max(found["beams"][0]["frequency_errors"]["y"]) == pytest.approx(0.114, rel=0.01)
    assert any("craig-bampton" in said for said in found["doubts"])


def test_loads_on_the_way_and_other_directions():
    """Loads in the middle, in stretching and in twist are seen too, and more shapes are trusted
    more.
    """
    few, many = (max(frequency_errors(m := loaded(n, at=0.5), m.beams[0])["y"]) for n in (4, 16))
    assert few > many > 0
    for ends, low, high in (("clamped-free", 1e-3, 0.5), ("craig-bampton", 0, 1e-3)):
        m = loaded({"x": 4, "twist": 4}, ends, EI=None, EA=1.0, GJ=1.0, rhoJ=0.1)
        found = frequency_errors(m, m.beams[0])
        assert all(low <= max(found[d]) < high for d in ("x", "twist")), found


def test_what_a_place_carries():
    """Two bodies welded on in a row, turned and beside the axis, are one body; a long chain is no
    matter.
    """
    turned = Pose.turn("z", 0.4, (0.1, 0.2, 0))
    beside = Pose(position=(0.3, -0.1, 0))
    load = Body("load", 0.5, (0.1, 0, 0), (0.01, 0.02, 0.03))
    other = Body("other", 0.3, (0, 0.2, 0), (0.02, 0.01, 0.03))
    m = loaded(4)
    fork = m.with_(
        bodies=(*m.bodies[:-1], load, other),
        joints=(
            *m.joints[:-1],
            Joint("clip", "fixed", m.joint("clip").parent, "load", turned),
            Joint("more", "fixed", "load", "other", beside),
        ),
    )
    places = [
        np.array((turned @ Pose(position=load.com)).position),
        np.array((turned @ beside @ Pose(position=other.com)).position),
    ]
    first = 0.5 * places[0] + 0.3 * places[1]
    about = 0.03 + 0.03 + 0.5 * places[0] @ places[0] + 0.3 * places[1] @ places[1]
    ((place, M),) = _loads(fork, fork.beams[0], "y")
    assert place == 1.0
    np.testing.assert_allclose(M, [[0.8, first[0]], [first[0], about]], rtol=1e-12)
    links = [Body(f"link {k}", 0.1, (0, 0, 0), (0.1,) * 3) for k in range(1500)]
    pins = [
        Joint(f"pin {k}", "revolute", f"link {k - 1}" if k else "load", f"link {k}")
        for k in range(1500)
    ]
    chain = m.with_(bodies=(*m.bodies, *links), joints=(*m.joints, *pins))
    ((_, M),) = _loads(chain, chain.beams[0], "y")
    np.testing.assert_allclose(M, [[151.0, 0], [0, 0.2]], atol=1e-12)


@pytest.mark.parametrize("kind, n", [("bending", 2), ("stretching", 1)])
def test_constraint_modes(kind, n):
    """They move the tip alone, by one each, and store no energy together with the modes that hold
    it.
    """
    shapes = uniform(kind, "craig-bampton", n + 4)
    d = "y" if n == 2 else "x"
    ends = np.array([shapes(np.array([s]), order)[:, 0] for s in (0.0, 1.0) for order in range(n)])
    np.testing.assert_allclose(ends[:n], 0, atol=1e-11)
    np.testing.assert_allclose(ends[n:], np.eye(n, n + 4), atol=1e-11)
    bent = integrals(Basis({d: shapes}, {d: n + 4}, False)).bent
    np.testing.assert_allclose(bent[:n, n:] / np.sqrt(np.diag(bent)[n:]), 0, atol=1e-11)
    np.testing.assert_allclose(bent[:n, :n], [[12, -6], [-6, 4]] if n == 2 else [[1]], rtol=1e-12)


def test_craig_bampton_takes_a_shape_for_each_freedom_of_the_tip():
    with pytest.raises(MechanismError, match=r"'boom'.*craig-bampton.*1 mode.*at least 2"):
        loaded(1, "craig-bampton")
