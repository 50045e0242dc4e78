"""Flexible bodies by modes: the formulations agree, and what is true of every mechanism is true of
them.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import catena
import flexible
from catena.compiler.trace import Tracer
from catena.equations.formulations import derive, formulations
from catena.kernels.tree import layout
from catena.model.flexible import discretise

TREES = [name for name in flexible.ALL if name != "four_bar"]
EXACT = [f.name for f in formulations() if not f.approximate]
# alike there
COSTLY = {
    "spatial": {"udwadia_kalaba"},
    "linear": {"newton_euler", "maggi", "udwadia_kalaba", "natural_coordinates"},
}


@pytest.fixture(scope="module")
def machines():
    return {name: catena.compile(make()) for name, make in flexible.ALL.items()}


# --- two routes
@pytest.mark.parametrize("name", flexible.ALL)
def test_formulations_agree(machines, name):
    """Sections added up (recursive) against mass integrals (the others), to 1e-9."""
    machine = machines[name]
    if machine.rows:
        q, v = catena.assemble(machine, machine.neutral() + [0.9, -0.6, 0.01, -0.002, 1.8])
        q, v = q[None], v[None] + 0.0
    else:
        q, v, _ = flexible.states(machine)
    tau = np.random.default_rng(3).standard_normal((len(q), machine.nv))
    p = list(machine.mechanism.parameters.values())
    a = machine.forward_dynamics(q, v, tau)
    for by in (by for by in EXACT if by not in COSTLY.get(name, ())):
        e = derive(machine.mechanism, by)
        found = np.array(
            [np.array(e.acceleration(0.0, q[k], v[k], tau[k], p)).ravel() for k in range(len(q))]
        )
        assert np.abs(found - a).max() < 1e-9 * np.abs(a).max(), by


def test_certificate():
    certificate = catena.check(flexible.on_hub(modes=2, damping=0.01), states=10)
    assert certificate.passed, str(certificate)
    assert [f.formulation for f in certificate.findings if f.acceleration is not None] == [
        f.name for f in formulations()
    ]


# --- theorems
@pytest.mark.parametrize("name", TREES)
def test_theorems(machines, name):
    m = machines[name]
    q, v, a = flexible.states(m)
    M = m.mass_matrix(q)
    tau = m.inverse_dynamics(q, v, a)
    np.testing.assert_allclose(M, M.swapaxes(1, 2), atol=1e-14)
    assert np.linalg.eigvalsh(M).min() > 0
    np.testing.assert_allclose(m.forward_dynamics(q, v, tau), a, atol=1e-8)
    np.testing.assert_allclose(
        m.energy(q, v)[0], 0.5 * np.einsum("bi,bij,bj->b", v, M, v), rtol=1e-12
    )
    np.testing.assert_allclose(tau - m.bias(q, v), np.einsum("bij,bj->bi", M, a), atol=1e-10)
    C, h = m.coriolis_matrix(q, v), 1e-6
    dampers = m.bias(q, v) - m.gravity(q) - np.einsum("bij,bj->bi", C, v)
    assert np.abs(dampers).max() < 1e-10 or m.mechanism.name in (
        "polynomial boom",
        "parametric boom",
    )
    rate = (m.mass_matrix(m.move(q, h * v)) - m.mass_matrix(m.move(q, -h * v))) / (2 * h)
    np.testing.assert_allclose(rate - C - C.swapaxes(1, 2), 0, atol=1e-6)
    slope = [
        (m.energy(m.move(q, h * e), 0 * v)[1] - m.energy(m.move(q, -h * e), 0 * v)[1]) / (2 * h)
        for e in np.eye(m.nv)
    ]
    np.testing.assert_allclose(m.gravity(q), np.array(slope).T, atol=1e-6)


@pytest.mark.parametrize("name", ["planar", "spatial", "pinned"])
def test_kinematics_of_the_tip(machines, name):
    m = machines[name]
    q, v, a = flexible.states(m)
    h, frame = 1e-6, "boom.tip"
    J = m.jacobian(q, frame)
    V = m.frame_velocity(q, v, frame)
    np.testing.assert_allclose(np.einsum("bij,bj->bi", J, v), V, atol=1e-12)
    moved = (m.pose(m.move(q, h * v), frame) - m.pose(m.move(q, -h * v), frame)) / (2 * h)
    np.testing.assert_allclose(moved[:, :3, 3], V[:, 3:], atol=1e-7)
    R = m.pose(q, frame)[:, :3, :3]
    spin = moved[:, :3, :3] @ R.swapaxes(1, 2)
    np.testing.assert_allclose(spin[:, [2, 0, 1], [1, 2, 0]], V[:, :3], atol=1e-7)
    A = m.frame_acceleration(q, v, a, frame)
    np.testing.assert_allclose(
        A, np.einsum("bij,bj->bi", J, a) + m.jacobian_rate(q, v, frame), atol=1e-11
    )


def test_momentum_of_a_free_flyer(machines):
    """No force from outside: linear and angular momentum stay, in a run too."""
    m = flexible.spatial().with_(gravity=(0, 0, 0))
    machine = catena.compile(m)
    q, v, _ = flexible.states(machine, 1)
    result = catena.simulate(machine, q[0], 0.3 * v[0], until=0.5, output=0.25)
    before, *_, after = (
        machine.momentum(result.q.values[k], result.v.values[k]) for k in (0, 1, 2)
    )
    np.testing.assert_allclose(after["linear"], before["linear"], atol=1e-9)
    np.testing.assert_allclose(after["angular"], before["angular"], atol=1e-9)
    assert result.ledger.relative_energy_balance < 1e-10
    M = machine.mass_matrix(q[0])
    J = np.zeros(machine.nv)
    J[:3] = 1.0
    assert machine.momentum(q[0], v[0])["mass"] == pytest.approx(M[0, 0])
    np.testing.assert_allclose(machine.momentum(q[0], v[0])["linear"], (M @ v[0])[:3], atol=1e-12)


def test_reactions_balance(machines):
    """What the base does to the hub is the whole of gravity and inertia, and the tip's joint
    carries what hangs there.
    """
    m = machines["planar"]
    q, v, a = flexible.states(m)
    found = m.reactions(q, v, a)
    h = 1e-6
    total = m.momentum(q, v)["mass"]

    def linear(t):
        return m.momentum(m.move(m.move(q, t * v), 0.5 * t * t * a), v + t * a)["linear"]

    rate = (linear(h) - linear(-h)) / (2 * h)
    R = m.pose(q, "hub")[:, :3, :3]
    np.testing.assert_allclose(
        np.einsum("bij,bj->bi", R, found["hub"][:, 3:]),
        rate - total[:, None] * m.mechanism.gravity,
        atol=1e-6,
    )
    np.testing.assert_allclose(found["hub"][:, 2], m.inverse_dynamics(q, v, a)[:, 0], atol=1e-10)


def test_a_loop_closed_by_a_flexible_coupler(machines):
    machine = machines["four_bar"]
    q, v = catena.assemble(machine, machine.neutral() + [0.9, -0.6, 0.0, 0.0, 1.8])
    result = catena.simulate(machine, q, v, until=0.5, output=0.1)
    assert result.ledger.relative_energy_balance < 1e-8
    assert np.abs(machine.constraint_rows(result.q.values, result.v.values)[0]).max() < 1e-9
    assert catena.mobility(machine).degrees_of_freedom == 3  # the crank, and two shapes


def test_assembly_of_a_loop_on_an_inner_place_of_a_beam():
    """A place of the beam beside its tip follows the amplitudes and has no coordinate of its own;
    the tip may be loose.
    """
    m = flexible.slider_crank()
    q, v = catena.assemble(m)
    np.testing.assert_allclose(q, [0, 0, 0, 0, 1.3], atol=1e-12)  # stretched out, the beam straight
    assert not v.any()
    q, _ = catena.assemble(m, [1.0, -0.3, 0, 0, 1.1], fixed=["shaft"])
    np.testing.assert_allclose(q[2:4], 0, atol=1e-12)  # assembly turns the rod and does not bend it
    np.testing.assert_allclose(
        q[4], 0.3 * np.cos(1) + np.sqrt(1 - (0.3 * np.sin(1)) ** 2), atol=1e-12
    )


@pytest.mark.parametrize("EI", [(1.0, None), (None, 1.0)])
@pytest.mark.parametrize("gravity", [(0, 0, 0), (0, -9.81, 0)])
def test_one_shape_traces_whatever_gravity_is(EI, gravity):
    """A vector of one entry that is zero by structure is no number to NumPy."""
    boom = catena.Body("boom", flexible=catena.Beam(length=1, rhoA=1, EI=EI, modes=1))
    m = catena.Mechanism(
        "m", [boom], [catena.Joint("root", "revolute", "ground", "boom")], gravity=gravity
    )
    s = Tracer(layout(discretise(m)))
    for quantity in (
        s.gravity,
        s.bias,
        s.forward_dynamics,
        s.coriolis_matrix,
        s.reactions,
        s.energy,
        s.momentum,
    ):
        assert quantity().is_dense()


def test_lanes_and_one_state(machines):
    m = machines["spatial"]
    q, v, tau = flexible.states(m, 64)
    batch = m.forward_dynamics(
        q.reshape(8, 8, -1), v.reshape(8, 8, -1), tau.reshape(8, 8, -1)
    ).reshape(64, -1)
    np.testing.assert_allclose(
        batch, [m.forward_dynamics(*row) for row in zip(q, v, tau)], rtol=1e-10, atol=1e-9
    )


def test_parameters_stay_free(machines):
    """A beam's length, mass and stiffness as parameters: another value is another beam."""
    m = machines["parametric"]
    q, v, tau = flexible.states(m)
    other = {"L": 1.1, "EI": 5.0, "rhoA": 0.4, "zeta": 0.03}
    made = catena.compile(m.mechanism.with_(parameters=other))
    np.testing.assert_allclose(
        m.forward_dynamics(q, v, tau, parameters=other), made.forward_dynamics(q, v, tau), rtol=1e-9
    )
    dp = m.inverse_dynamics_derivatives(q, v, tau)[3]
    h = 1e-5
    for k, name in enumerate(m.parameter_names):
        value = m.mechanism.parameters[name]
        ends = [m.inverse_dynamics(q, v, tau, parameters={name: value + d}) for d in (h, -h)]
        np.testing.assert_allclose(dp[..., k], (ends[0] - ends[1]) / (2 * h), atol=1e-4)


def test_written_and_read_again(tmp_path):
    for make in (flexible.planar, flexible.polynomial, flexible.spatial):
        m = make()
        catena.save(m, tmp_path / "m.toml")
        again = catena.load(tmp_path / "m.toml")
        assert again == m
        assert catena.compile(again).coordinate_names == catena.compile(m).coordinate_names


def test_derivatives_and_wrenches(machines):
    m = machines["planar"]
    q, v, tau = (x[0] for x in flexible.states(m, 1))
    h = 1e-6
    found = m.forward_dynamics_derivatives(q, v, tau)
    for part, moved in zip(
        found,
        (lambda e: (m.move(q, e), v, tau), lambda e: (q, v + e, tau), lambda e: (q, v, tau + e)),
    ):
        slope = [
            (m.forward_dynamics(*moved(h * e)) - m.forward_dynamics(*moved(-h * e))) / (2 * h)
            for e in np.eye(m.nv)
        ]
        np.testing.assert_allclose(part, np.array(slope).T, atol=1e-6 * np.abs(part).max())
    w = np.array([0.1, -0.2, 0.3, 1.0, -2.0, 0.5])
    pushed = m.inverse_dynamics(q, v, tau, wrenches={("boom.tip", "world"): w})
    np.testing.assert_allclose(
        pushed, m.inverse_dynamics(q, v, tau) - m.jacobian(q, "boom.tip").T @ w, atol=1e-11
    )


def test_the_drawn_line_goes_from_the_frame_to_the_tip(machines):
    from catena.results.scene.curves import pieces
    from catena.results.scene.skeleton import moved, placed, skeleton

    m = machines["spatial"]
    q = m.sample(np.random.default_rng(0), 3)
    # a beam that stretches by a tenth would show gaps
    q[:, m.coordinate_names.index("boom.x1")] *= 0.01
    at = placed(m, q)
    lengths = pieces(m.mechanism)
    limbs = {limb.body: limb for limb in skeleton(m.mechanism).limbs}
    ends = [moved(at[name], limbs[name].lines[0]) for name in lengths]  # (states, 2, 3) each
    np.testing.assert_allclose(ends[0][:, 0], m.pose(q, "boom")[:, :3, 3], atol=1e-12)
    np.testing.assert_allclose(ends[-1][:, 1], m.pose(q, "boom.tip")[:, :3, 3], atol=5e-3)
    gaps = [np.abs(a[:, 1] - b[:, 0]).max() for a, b in pairwise(ends)]
    assert max(gaps) < 5e-3
