"""Beams by finite segments, beside the closed forms of beam theory and beside themselves with twice
as many segments.
"""

from __future__ import annotations

import numpy as np
import pytest

import catena
from catena import Beam, Body, Force, Joint, Mechanism, Pose
from catena.model.flexible import discretise, strain_energy

COUNTS = (8, 16, 32)

# Roots b L of the frequency equations of uniform beams, omega = (b L)^2 sqrt(EI / rhoA L^4): cos
# cosh = -1 (clamped and free), tan = tanh (pinned and free, or clamped and pinned). Blevins,
# Formulas for Natural Frequency and Mode Shape, table 8-1.
CLAMPED_FREE = (1.8751040687119611, 4.694091132974175, 7.854757438237613)
PINNED_FREE = (3.926602312047919, 7.068582745628732, 10.21017612281303)
PINNED_PINNED = (np.pi, 2 * np.pi)

# The elastica with a load P across its tip, from the closed form of [Bisshopp1945]: P L^2/EI -> tip
# slope, shortening/L, deflection/L.
ELASTICA = {
    1.0: (0.46135194971187976, 0.056433236283376154, 0.3017207737998133),
    5.0: (1.2153681176116817, 0.38762836072442985, 0.7137915236119129),
    10.0: (1.4302855388038573, 0.5549955977537513, 0.8106090248802966),
}

# A beam on a hub free to turn, L = 1 m, EI = 2 N m2, rhoA = 0.5 kg/m, hub 0.1 kg m2: roots of its
# frequency equation, rad/s.
ON_HUB = (11.203277260324706, 44.9968665481725, 123.72086432980649)

# First flapping frequency of a uniform rotating beam clamped at the axis, in units of sqrt(EI /
# rhoA L^4), over the speed of rotation in the same units: [Wright1982].
FLAPPING = {0: 3.5160, 1: 3.6817, 2: 4.1373, 4: 5.5850, 8: 9.2568}


def cantilever(n: int, root: str = "fixed", **more) -> Mechanism:
    """A beam of unit length, stiffness and mass, on the ground."""
    boom = Body("boom", flexible=Beam(1.0, 1.0, segments=n, **{"EI": (1.0, None), **more}))
    return Mechanism(
        f"beam of {n}", [boom], [Joint("root", root, "ground", "boom")], gravity=(0, 0, 0)
    )


def frequencies(m: Mechanism, count: int) -> np.ndarray:
    found = catena.modes(m).frequencies
    return found[found > 1e-3][:count]


def slopes(errors: list[np.ndarray]) -> np.ndarray:
    """The measured order, from each number of segments to twice as many."""
    return np.log2(np.abs(np.array(errors[:-1]) / np.array(errors[1:])))


# --- small vibrations
@pytest.mark.parametrize(
    "root, roots, order", [("fixed", CLAMPED_FREE, 2), ("revolute", PINNED_FREE, 4)]
)
def test_bending_frequencies_converge(root, roots, order):
    """With order two where an end is clamped, with order four where both may turn."""
    exact = np.square(roots)
    errors = [frequencies(cantilever(n, root), 3) / exact - 1 for n in COUNTS]
    assert np.all(np.abs(slopes(errors)[-1] - order) < 0.05), slopes(errors)
    np.testing.assert_allclose(
        (2**order * errors[2] - errors[1])[:2] / (2**order - 1), 0, atol=3e-5
    )


def test_a_beam_pinned_at_both_ends():
    """The far pin slides along x: a loop, and the sines of the elementary book."""
    end = Pose(position=(1, 0, 0))
    errors = []
    for n in COUNTS[:2]:
        boom = Body("boom", flexible=Beam(1.0, 1.0, EI=(1.0, None), segments=n))
        far = Joint("far", "general", "ground", "boom", end, sequence=("Rz", "Dx"), offset=end)
        m = Mechanism(
            "pinned",
            [boom],
            [Joint("near", "revolute", "ground", "boom")],
            gravity=(0, 0, 0),
            loops=(far,),
        )
        errors.append(frequencies(m, 2) / np.square(PINNED_PINNED) - 1)
    assert np.all(np.abs(slopes(errors)[-1] - 4) < 0.2), errors
    assert np.abs(errors[-1]).max() < 2e-5


@pytest.mark.parametrize(
    "stiffness", [{"EA": 1.0, "EI": None}, {"GJ": 0.01, "rhoJ": 0.01, "EI": None}]
)
def test_stretching_and_twisting(stiffness):
    """omega = (2k - 1) pi/2 sqrt(EA/rhoA)/L, and the same with GJ/rhoJ."""
    exact = np.pi / 2 * np.array([1, 3, 5])
    errors = [frequencies(cantilever(n, **stiffness), 3) / exact - 1 for n in COUNTS]
    assert np.all(np.abs(slopes(errors)[-1] - 2) < 0.05), errors


def test_an_arm_on_its_hub():
    errors = []
    for n in COUNTS:
        boom = Body("boom", flexible=Beam(1.0, 0.5, EI=2.0, segments=n))
        joints = [
            Joint("motor", "revolute", "ground", "hub"),
            Joint("root", "fixed", "hub", "boom"),
        ]
        m = Mechanism(
            "arm", [Body("hub", 1.0, (0, 0, 0), (0.1, 0.1, 0.1)), boom], joints, gravity=(0, 0, 0)
        )
        m = discretise(m)
        # bends in the plane of the hub
        assert m.beams[0].beam.EI == 2.0 and len(m.elastic) == n and m.elastic[0].nv == 1
        errors.append(frequencies(m, 3) / ON_HUB - 1)
    assert np.all(np.abs(slopes(errors)[-1] - 2) < 0.05), errors
    np.testing.assert_allclose((4 * errors[2] - errors[1])[:2] / 3, 0, atol=1e-5)


@pytest.mark.parametrize("speed", FLAPPING)
def test_spinning_stiffens(speed):
    """Flapping across the plane of rotation: nothing was told about centrifugal forces."""
    found = []
    for n in (12, 24):
        m = cantilever(n, "revolute", EI=(None, 1.0))
        v = np.zeros(n + 1)
        v[0] = speed
        poles = catena.linearize(m, np.zeros(n + 1), v).poles
        assert np.abs(poles.real).max() < 1e-6
        found.append(np.sort(poles.imag[poles.imag > 1e-6])[0])
    assert (4 * found[1] - found[0]) / 3 == pytest.approx(FLAPPING[speed], abs=2e-4)
    assert ritz(speed) == pytest.approx(FLAPPING[speed], abs=1e-4)
    if speed:
        assert 1.14 < (ritz(speed) ** 2 - ritz(0) ** 2) / speed**2 < 1.20  # Southwell's coefficient


def ritz(speed: float, count: int = 9) -> float:
    """The same by a second route: polynomials x^2, x^3, ... in 1/2 int w''^2 + T w'^2, T = speed^2
    (1 - x^2) / 2.
    """
    x, weights = np.polynomial.legendre.leggauss(40)
    x, weights = (x + 1) / 2, weights / 2
    n = np.arange(2, 2 + count)[:, None]
    w = x**n
    slope = n * x ** (n - 1)
    bend = n * (n - 1) * x ** (n - 2)
    K = (bend * weights) @ bend.T + (slope * weights * speed**2 * (1 - x**2) / 2) @ slope.T
    return float(np.sqrt(np.linalg.eigvals(np.linalg.solve((w * weights) @ w.T, K)).real.min()))


def test_damping_is_what_was_asked_for():
    m = cantilever(12, damping=0.02)
    found = catena.modes(m)
    assert found.ratios[0] == pytest.approx(0.02, rel=0.01)
    # ~ stiffness
    np.testing.assert_allclose(
        found.ratios / found.frequencies, found.ratios[0] / found.frequencies[0]
    )
    poles = catena.linearize(m, np.zeros(12)).poles
    first = poles[np.argmin(np.abs(np.abs(poles) - found.frequencies[0]))]
    assert -first.real / abs(first) == pytest.approx(found.ratios[0], rel=1e-6)


# --- large deflections
def test_the_elastica():
    """Extrapolated from two numbers of segments; the slope of the error is two."""
    for load, exact in ELASTICA.items():
        found = []
        for n in (8, 16, 32):
            m = cantilever(n)
            push = Force("tip load", "boom.tip", force=(0.0, "-P", 0.0))
            machine = catena.compile(m.with_(loads=(*m.loads, push), parameters={"P": load}))
            q = catena.equilibrium(machine, np.full(n, -0.5 / n))
            X = machine.pose(q, "boom.tip")
            found.append((np.arctan2(-X[1, 0], X[0, 0]), 1 - X[0, 3], -X[1, 3]))
        errors = [np.array(f) - exact for f in found]
        assert np.all(np.abs(slopes(errors)[-1] - 2) < 0.1), (load, errors)
        np.testing.assert_allclose((4 * np.array(found[2]) - found[1]) / 3, exact, atol=3e-5)


def test_stiffness_without_end_is_a_rigid_arm():
    """The droop is w L^4 / 8 EI and falls as 1/EI; what is left moves as the rigid rod."""
    droop = {}
    for EI in (1e2, 1e3, 1e4):
        m = cantilever(20, EI=(EI, None)).with_(gravity=(0, -9.81, 0))
        machine = catena.compile(m)
        droop[EI] = -machine.pose(catena.equilibrium(machine), "boom.tip")[1, 3]
    assert droop[1e4] * 8e4 / 9.81 == pytest.approx(1, rel=3e-3)
    assert np.log10(droop[1e3] / droop[1e4]) == pytest.approx(1, abs=1e-4)
    fall = []
    for EI in (1e3, 1e4):
        m = cantilever(6, "revolute", EI=(EI, None)).with_(gravity=(0, -9.81, 0))
        result = catena.simulate(m, until=0.3, output=0.3)
        fall.append(result.data["q"].values[-1, 0])
    rod = Mechanism(
        "rod",
        [Body("rod", 1.0, (0.5, 0, 0), (0, 1 / 12, 1 / 12))],
        [Joint("root", "revolute", "ground", "rod")],
        gravity=(0, -9.81, 0),
    )
    exact = catena.simulate(rod, until=0.3, output=0.3).data["q"].values[-1, 0]
    assert abs(fall[1] - exact) < 0.2 * abs(fall[0] - exact) < 1e-3


def test_energy_of_a_free_run_is_conserved():
    """Kinetic, of weight and of strain together; the strain is what `strain_energy` says."""
    m = cantilever(8, "revolute", EI=(0.5, None)).with_(gravity=(0, -9.81, 0))
    result = catena.simulate(m, q=[0.3] + [0.0] * 8, until=1.0, output=0.05)
    assert result.ledger.relative_energy_balance < 1e-9
    q = result.data["q"].values
    v = result.data["v"].values
    m = discretise(m)
    still = m.with_(loads=(), beams=())
    weight = catena.compile(still).energy(q, v)[1]
    strain = strain_energy(m, q)["boom"]
    assert strain.max() > 0.1
    np.testing.assert_allclose(weight + strain, result.data["potential"].values, atol=1e-12)


# --- both lives
@pytest.mark.parametrize(
    "stiffness", [{"EI": (1.0, None)}, {"EI": (1.0, 2.0), "EA": 1e3, "GJ": 1.0, "rhoJ": 1e-3}]
)
def test_springs_in_the_generic_life(stiffness):
    m = cantilever(5, "revolute", damping=0.02, **stiffness).with_(gravity=(0, -9.81, 1))
    lanes, generic, auto = (catena.compile(m, life=life) for life in ("lanes", "generic", "auto"))
    rng = np.random.default_rng(0)
    q, v, x = 0.3 * rng.standard_normal((3, 4, lanes.nv))
    for name, given in (
        ("forward_dynamics", (q, v, x)),
        ("inverse_dynamics", (q, v, x)),
        ("bias", (q, v)),
        ("gravity", (q,)),
        ("energy", (q, v)),
        ("mass_matrix", (q,)),
    ):
        wanted = np.array(getattr(lanes, name)(*given))
        size = np.abs(wanted).max()
        np.testing.assert_allclose(
            np.array(getattr(generic, name)(*given)), wanted, atol=1e-11 * size
        )
        one = np.array(getattr(auto, name)(*(y[0] for y in given)))
        np.testing.assert_allclose(
            one, wanted[:, 0] if name == "energy" else wanted[0], atol=1e-11 * size
        )


def test_a_long_cable_takes_the_generic_life():
    """Twice the segments, the same forces: and no tape of two hundred bodies is made for one
    state.
    """
    m = cantilever(200, "revolute", EI=(0.01, None)).with_(gravity=(0, -9.81, 0))
    machine = catena.compile(m)
    q, v, tau = 0.01 * np.random.default_rng(1).standard_normal((3, 201))
    a = machine.forward_dynamics(q, v, tau)
    np.testing.assert_allclose(machine.inverse_dynamics(q, v, a), tau, atol=1e-9)
    np.testing.assert_allclose(
        machine.forward_dynamics(np.stack([q] * 3), v, tau)[2], a, rtol=1e-12
    )
    assert not machine._router.lanes.kernels


def test_differences_are_the_derivatives_of_the_tape():
    """What long mechanisms use in place of CasADi's derivatives, on one that is short enough for
    both: a loop, a ball, springs.
    """
    from catena.analysis.differences import differences
    from catena.analysis.tangent import rest

    end = Pose(position=(1, 0, 0))
    boom = Body("boom", flexible=Beam(1.0, 1.0, EI=(1.0, 2.0), EA=1e4, segments=3))
    far = Joint("far", "ball", "ground", "boom", Pose(position=(0.9, 0, 0)), offset=end)
    m = Mechanism("arch", [boom], [Joint("near", "ball", "ground", "boom")], loops=(far,))
    machine = catena.compile(m)
    rng = np.random.default_rng(2)
    q = machine.move(machine.neutral(), 0.2 * rng.standard_normal(machine.nv))
    lam = rng.standard_normal(len(machine.rows))
    A, K = differences(machine, q, lam)
    exact = rest(machine, q, lam)
    np.testing.assert_allclose(A, exact.A, atol=1e-12)
    np.testing.assert_allclose(K, exact.r_q, atol=1e-10)
