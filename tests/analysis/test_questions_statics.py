"""Equilibrium, holding forces, linearisation and vibration: against closed forms, finite
differences and Bernoulli's chain.
"""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from catena.analysis.assembly import assemble, closed, consistent
from catena.analysis.linearization import linearize
from catena.analysis.statics import equilibrium, static_torques
from catena.analysis.vibration import modes
from catena.errors import QuestionError
from catena.machine.constraint_rows import rows_at, spaces
from catena.machine.machine import compile
from catena.model.loads import Bushing, JointSpring, KnifeEdge, Rolling, Spring
from catena.model.mechanism import GROUND, Body, Frame, Joint, Mechanism
from closed import (
    at,
    bicycle,
    cut_four_bar,
    high_stiffness,
    high_stiffness_state,
    slider_crank,
    spatial_four_bar,
    two_link_load,
    two_link_state,
)
from zoo import pendulum, random_tree

CHAIN = json.loads((Path(__file__).parents[1] / "reference" / "hanging_chain.json").read_text())


def hanging_chain(n: int) -> Mechanism:
    """n uniform rods, 1 m and 1 kg together, hanging from a pin."""
    length = 1.0 / n
    I = length**2 / n / 12
    bodies = [Body(f"rod{i}", 1.0 / n, (0, 0, -length / 2), (I, I, 0.0)) for i in range(n)]
    joints = [Joint("pin0", "revolute", GROUND, "rod0", axis=(0, 1, 0))]
    joints += [
        Joint(f"pin{i}", "revolute", f"rod{i - 1}", f"rod{i}", at(0, 0, -length), axis=(0, 1, 0))
        for i in range(1, n)
    ]
    return Mechanism(f"chain{n}", tuple(bodies), tuple(joints))


# --- equilibrium
def test_pendulums_hang_down_and_stand_up():
    machine = compile(pendulum(3))
    np.testing.assert_allclose(np.cos(equilibrium(machine, [2.5, 0.4, -0.3])), 1.0, atol=1e-9)
    up = equilibrium(machine, [3.0, 0.1, -0.1], stable=False)
    np.testing.assert_allclose(up, [math.pi, 0, 0], atol=1e-9)
    assert modes(machine).stable and not modes(machine, up).stable


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_a_guess_that_would_fall_is_left_downhill(size):
    """A rod on a spring that is too weak to keep it upright rests at k q = m g l sin q; upright it
    would stay only without a push.
    """
    rod = Mechanism(
        "rod",
        (Body("rod", 1.0, (0, 0, size), (0.01 * size**2,) * 3),),
        (Joint("pin", "revolute", GROUND, "rod", axis=(0, 1, 0)),),
        loads=(JointSpring("spring", "pin", 5.0 * size, 0.0),),
    )
    (q,) = equilibrium(rod, [0.0])
    assert (
        abs(5.0 * q - 9.81 * np.sin(q)) < 1e-12 and q > 1.0 and modes(rod, [q]).frequencies[0] > 0
    )
    assert equilibrium(rod, [0.0], stable=False) == 0.0
    np.testing.assert_allclose(np.cos(equilibrium(pendulum(2), [np.pi, 0.0])), 1.0, atol=1e-9)


def test_a_loop_hangs_at_the_bottom_of_its_well():
    machine = compile(two_link_load())
    q = equilibrium(machine, two_link_state())
    np.testing.assert_allclose(q, [math.pi / 2, -math.pi / 2, math.pi / 2], atol=1e-9)
    four = compile(cut_four_bar())
    q = equilibrium(four, assemble(four, [0.3, 0.9, 0.0])[0])
    rows = rows_at(four, q)
    assert np.abs(rows.error).max() < 1e-12
    T = spaces(rows.A).T
    assert np.abs(T.T @ four.gravity(q)).max() < 1e-9
    height = four.energy(q, np.zeros(3))[1]
    for way in (-0.05, 0.05):
        other = closed(four, four.move(q, way * T[:, 0]), [0, 1, 2])
        assert four.energy(other, np.zeros(3))[1] > height


def test_a_spring_holds_a_mass():
    """m g = k x; and a spring from point to point, at rest where its pull balances the weight."""
    block = Body("block", 2.0, (0, 0, 0), (0.1, 0.1, 0.1))
    rail = Joint("rail", "prismatic", GROUND, "block", axis=(0, 0, 1))
    m = Mechanism("block", (block,), (rail,), loads=(JointSpring("coil", "rail", 100.0, 0.5),))
    assert equilibrium(m)[0] == pytest.approx(0.5 - 2 * 9.81 / 100)
    assert modes(m, equilibrium(m)).frequencies[0] == pytest.approx(math.sqrt(100 / 2))
    hook = Frame("hook", GROUND, at(0, 0, 3))
    coil = Spring("coil", "hook", "block", 100.0, 1.0)
    hung = Mechanism("block", (block,), (rail,), (hook,), loads=(coil,))
    assert equilibrium(hung, [1.0])[0] == pytest.approx(2.0 - 2 * 9.81 / 100)


def test_a_soft_joint_carries_a_beam():
    """A bushing at the wall: the block sinks by m g / k and turns by its moment over the torsional
    stiffness.
    """
    block = Body("block", 1.0, (0.2, 0, 0), (0.1, 0.1, 0.1))
    m = Mechanism(
        "soft",
        (block,),
        (Joint("base", "free", GROUND, "block"),),
        (Frame("wall", GROUND),),
        loads=(Bushing("rubber", "wall", "block", (1e5,) * 3 + (2e4,) * 3),),
    )
    q = equilibrium(m)
    assert q[2] == pytest.approx(-9.81 / 2e4, rel=1e-6)
    assert 2 * q[5] == pytest.approx(9.81 * 0.2 / 1e5, rel=1e-3)


def test_joint_forces_move_the_equilibrium():
    machine = compile(pendulum(1))
    mgl = abs(machine.gravity(np.array([math.pi / 2]))[0])
    q = equilibrium(machine, [0.0], tau=[0.5 * mgl])
    assert abs(math.sin(q[0])) == pytest.approx(0.5)


def test_no_rest_is_said():
    with pytest.raises(
        QuestionError,
        match=r"mechanism 'tree6' has no equilibrium that was found: .* along 'free0\.\w+'",
    ):
        equilibrium(random_tree(6, ["free"]))
    with pytest.raises(QuestionError, match=r"8\.227 .* along 'pin1'"):
        modes(pendulum(3), [0.1, 0, 0])


# --- vibration
@pytest.mark.parametrize("n", [5, 20, 50])
def test_a_hanging_chain_swings_as_bernoulli_found(n):
    found = modes(hanging_chain(n)).frequencies[:5]
    np.testing.assert_allclose(found, CHAIN["uniform_rods_N"][str(n)][:5], rtol=1e-9)


def test_a_finer_chain_comes_nearer_to_bernoulli():
    errors = [
        abs(modes(hanging_chain(n)).frequencies[0] / CHAIN["exact_omega"][0] - 1)
        for n in (5, 10, 20)
    ]
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    assert (orders > 1.9).all()  # second order


def test_mode_shapes_are_orthonormal_and_printed():
    machine = compile(pendulum(3))
    found = modes(machine)
    np.testing.assert_allclose(
        found.shapes.T @ machine.mass_matrix(np.zeros(3)) @ found.shapes, np.eye(3), atol=1e-12
    )
    np.testing.assert_allclose(found.hertz, found.frequencies / (2 * math.pi))
    assert str(found).startswith("3 modes\n  1: ") and "rad/s" in str(found)
    assert "grows as exp(" in str(modes(machine, equilibrium(machine, [3.1, 0, 0], stable=False)))


def test_modes_of_a_loop_are_the_poles_of_its_linearisation():
    machine = compile(cut_four_bar())
    q = equilibrium(machine, assemble(machine, [0.3, 0.9, 0.0])[0])
    poles = linearize(machine, q).poles
    np.testing.assert_allclose(np.abs(poles.imag), modes(machine, q).frequencies[0], rtol=1e-9)
    free = compile(random_tree(41, ["ball", "universal", "ball"]))
    q = equilibrium(free)
    swings = np.sort(np.abs(linearize(free, q).poles.imag))[::2]
    np.testing.assert_allclose(swings, np.sort(modes(free, q).frequencies), rtol=1e-6, atol=1e-5)


def test_a_pendulum_of_two_closed_links_swings_as_one():
    """Two parallel links and a load that only shifts: omega^2 = g (m_links l/2 + m l) / (I_links +
    m l^2).
    """
    machine = compile(two_link_load())
    q = equilibrium(machine, two_link_state())
    omega = math.sqrt(10 * (2 * 0.75 + 5 * 1.5) / (2 * 0.8125 + 5 * 1.5**2))
    assert modes(machine, q).frequencies[0] == pytest.approx(omega)


# --- linearisation
def minus(machine, a, b):
    """The change along the speeds that takes the coordinates b to a."""
    from catena.kernels.motion import BALL
    from catena.machine.machine import quaternion_product

    d = np.zeros(machine.nv)
    for node in machine.layout.nodes:
        k, l = node.qi, node.vi
        if node.motion == BALL:
            turn = quaternion_product(b[k : k + 4] * [1, -1, -1, -1], a[k : k + 4])
            d[l : l + 3] = 2 * turn[1:] / turn[0] if abs(turn[0]) < 1 else 2 * turn[1:]
        else:
            d[l] = a[k] - b[k]
    return d


def step(machine, q, v, tau, h):
    """One small step of time, second order in h."""
    a = machine.forward_dynamics(q, v, tau)
    return machine.move(q, h * v + 0.5 * h * h * a), v + h * a


@pytest.mark.parametrize(
    "kinds", [["revolute", "universal"], ["ball", "revolute"], ["free", "helical"]]
)
def test_linearisation_of_a_tree_against_two_neighbouring_motions(kinds):
    """The difference of two motions, as a change along the speeds of the first, grows as A says;
    balls in motion included.
    """
    machine = compile(random_tree(51, kinds))
    rng = np.random.default_rng(3)
    q = machine.sample(rng)
    v = rng.normal(size=machine.nv)
    tau = rng.normal(size=machine.nv)
    A, B = linearize(machine, q, v, tau)
    n, eps, h = machine.nv, 1e-6, 1e-5
    for _ in range(3):
        z, w, u = rng.normal(size=(3, n))
        rates = []
        for sign in (1, -1):
            near = machine.move(q, sign * eps * z), v + sign * eps * w, tau + sign * eps * u
            first, second = (step(machine, *near, t) for t in (h, -h))
            base, back = (step(machine, q, v, tau, t) for t in (h, -h))
            dq = (minus(machine, first[0], base[0]) - minus(machine, second[0], back[0])) / (2 * h)
            rates.append(sign * np.concatenate([dq, machine.forward_dynamics(*near)]) / (2 * eps))
        slope = np.concatenate([(rates[0] + rates[1])[:n], (rates[0] + rates[1])[n:]])
        np.testing.assert_allclose(
            A @ np.concatenate([z, w]) + B @ u, slope, rtol=2e-4, atol=2e-4 * np.abs(slope).max()
        )


@pytest.mark.parametrize("make", [cut_four_bar, slider_crank, spatial_four_bar])
def test_linearisation_of_a_loop_against_finite_differences(make):
    m = make()
    rng = np.random.default_rng(4)
    machine = compile(m.with_(joints=tuple(replace(j, damping=0.7) for j in m.joints)))
    q, v = assemble(
        machine,
        machine.move(machine.neutral(), 0.3 * rng.normal(size=machine.nv)),
        rng.normal(size=machine.nv),
    )
    tau = rng.normal(size=machine.nv)
    names = {"four_bar": ["A"], "slider_crank": ["shaft"], "spatial_four_bar": ["motor"]}[
        machine.mechanism.name
    ]
    found = linearize(machine, q, v, tau, coordinates=names)
    k = machine.speed_names.index(names[0])
    free = [i for i in range(machine.nv) if i != k]
    place = machine.coordinate_names.index(names[0])

    def rate(z, w, u):
        near = q.copy()
        near[place] += z
        near = closed(machine, near, free)
        speeds = v.copy()
        speeds[k] += w
        speeds = consistent(machine, near, speeds, free)
        return np.array(
            [speeds[k], machine.forward_dynamics(near, speeds, tau + u - 0.7 * speeds)[k]]
        )

    h = 1e-4
    for way in np.eye(3):
        slope = (
            8 * (rate(*h * way) - rate(*-h * way)) - (rate(*2 * h * way) - rate(*-2 * h * way))
        ) / (12 * h)
        wanted = found.A @ way[:2] + found.B.sum(axis=1) * way[2]
        np.testing.assert_allclose(
            wanted, slope, rtol=1e-6, atol=1e-6 * max(1.0, np.abs(slope).max())
        )


def test_damping_is_felt_and_can_be_left_out():
    block = Body("block", 2.0, (0, 0, 0), (0.1, 0.1, 0.1))
    m = Mechanism(
        "block",
        (block,),
        (Joint("rail", "prismatic", GROUND, "block", axis=(1, 0, 0), damping=3.0),),
    )
    np.testing.assert_allclose(linearize(m, [0.0]).A, [[0, 1], [0, -1.5]])
    np.testing.assert_allclose(linearize(m, [0.0], damping=False).A, [[0, 1], [0, 0]])
    sprung = m.with_(loads=(JointSpring("coil", "rail", 8.0, 0.0, damping=1.0),))
    np.testing.assert_allclose(linearize(sprung, [0.0]).A, [[0, 1], [-4, -2]])
    np.testing.assert_allclose(linearize(sprung, [0.0]).B, [[0], [0.5]])


def test_damping_acts_through_loops():
    """d a / d v along the loop's motion, by differences of accelerations under the damping; at rest
    and moving.
    """
    m = slider_crank()
    m = m.with_(joints=tuple(replace(j, damping=0.3 + k) for k, j in enumerate(m.joints)))
    machine = compile(m)
    D = 0.3 + np.arange(3.0)
    for speed in (0.0, 2.0):
        q, v = assemble(machine, q=[0.4, 0.1, 0.2], v=[speed, 0.0, 0.0])
        found = linearize(machine, q, v)
        (k,) = [machine.speed_names.index(name) for name in found.speeds]
        way = found.others[:, 0]  # all speeds when the independent one is 1
        there, back = (machine.forward_dynamics(q, v + w, -D * (v + w)) for w in (way, -way))
        # quadratic in v: exact
        np.testing.assert_allclose(found.A[1, 1], (there - back)[k] / 2, rtol=1e-9)
        free = linearize(machine, q, v, damping=False).A[1, 1]
        assert found.A[1, 1] - free == pytest.approx(
            -(D @ way**2) / (way @ machine.mass_matrix(q) @ way), rel=1e-9
        )


def test_a_rolling_wheel_falls_or_steadies_itself_by_its_speed():
    """A disc that rolls on, upright: lean'' = (m g r - C (C + m r^2) s^2 / A) / (A + m r^2) lean,
    so that it is steady for s^2 > m g r A / (C (C + m r^2)), g / (3 r) for a thin disc. Heading,
    lean and spin are its angles: only then is A constant.
    """
    m, r, g = 1.0, 0.5, 9.81
    A, C = m * r**2 / 4, m * r**2 / 2
    wheel = Mechanism(
        "wheel",
        (Body.massless("hub"), Body("disc", m, (0, 0, 0), (A, C, A))),
        (
            Joint("place", "general", GROUND, "hub", sequence=("Dx", "Dy", "Dz")),
            Joint("turn", "gimbal", "hub", "disc", axis=((0, 0, 1), (1, 0, 0), (0, 1, 0))),
        ),
        nonholonomic=(Rolling("road", "disc", r),),
    )
    machine = compile(wheel)
    for spin in (0.5, 3.0, 8.0):
        q = np.array([0, 0, r, 0, 0, 0])
        v = np.array([spin * r, 0, 0, 0, 0, spin])
        assert np.abs(machine.constraint_rows(q, v)[1]).max() < 1e-12
        found = linearize(machine, q, v)
        assert len(found.coordinates) == 6 and len(found.speeds) == 3
        exact = np.sqrt(complex((m * g * r - C * (C + m * r**2) * spin**2 / A) / (A + m * r**2)))
        assert min(abs(found.poles - exact)) < 1e-6 and min(abs(found.poles + exact)) < 1e-6


def test_a_bicycle_weaves_and_capsizes_as_published():
    """The four eigenvalues of the benchmark bicycle at every speed, by the exact linearisation of
    the whole machine.
    """
    reference = json.loads((Path(__file__).parents[1] / "reference" / "bicycle.json").read_text())
    machine = compile(bicycle())
    q = machine.neutral()
    q[2] = 0.3
    for speed in ("2", "5", "8"):
        u = float(speed)
        v = np.array([u, 0, 0, 0, 0, 0, u / 0.3, 0, u / 0.35])
        assert np.abs(machine.constraint_rows(q, v)[1]).max() < 1e-12
        poles = linearize(machine, q, v).poles
        for real, imaginary in reference["eigs"][speed]:
            assert min(abs(poles - complex(real, imaginary))) < 1e-7


def test_linearisation_says_what_is_wrong():
    machine = compile(cut_four_bar())
    q, _ = assemble(machine, [0.3, 0.9, 0.0])
    with pytest.raises(
        QuestionError,
        match="'A', 'B' are not independent coordinates for the 1 degrees of freedom of",
    ):
        linearize(machine, q, coordinates=["A", "B"])
    skate = Mechanism(
        "sleigh",
        (Body("skate", 1.0, (0, 0, 0), (1, 1, 1)),),
        (Joint("ice", "planar", GROUND, "skate"),),
        nonholonomic=(KnifeEdge("blade", "skate", (0, 1, 0)),),
    )
    with pytest.raises(
        QuestionError, match="mechanism 'sleigh' has speed rows, for which vibration modes"
    ):
        modes(skate)


# --- holding
def test_holding_forces_hold():
    machine = compile(high_stiffness())
    q = high_stiffness_state()
    hold = static_torques(machine, q)
    assert not hold.unique and "12 of them are spare" in hold.sentence
    assert np.abs(machine.forward_dynamics(q, np.zeros(15), np.asarray(hold))).max() < 1e-8
    with pytest.raises(
        QuestionError,
        match=r"\('hip1.Dx', 'hip2.Dx'\) cannot make this motion: they drive 2 of its 3 "
        "degrees of freedom",
    ):
        static_torques(machine, q, ["hip1.Dx", "hip2.Dx"])
