"""The dynamics seen at a frame: identities on real arms, loops, batches, gradients, contact."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import catena
from catena.analysis import operational_space
from catena.errors import QuestionError


@pytest.fixture(scope="module")
def arm():
    """The Stanford arm with its wrist, five speeds, at one state."""
    machine = catena.compile(catena.load("stanford_arm"))
    rng = np.random.default_rng(4)
    q, v = rng.normal(size=(2, machine.nv))
    return machine, q, v, machine.mechanism.bodies[-1].name


def test_the_frame_moves_as_its_equation_says(arm) -> None:
    """Lambda x'' + bias = F + Jbar' tau, against forward dynamics with a wrench at it."""
    machine, q, v, body = arm
    space = operational_space(machine, q, v, frame=body, directions="position")
    rng = np.random.default_rng(1)
    tau, F = rng.normal(size=machine.nv), rng.normal(size=3)
    a = machine.forward_dynamics(q, v, tau, wrenches={(body, "world"): [0, 0, 0, *F]})
    x = machine.frame_acceleration(q, v, a, body)[3:]
    left = space.Lambda @ x + space.bias
    right = F + space.inverse.T @ tau
    assert np.allclose(left, right, rtol=0, atol=1e-10 * np.abs(left).max())


def test_identities(arm) -> None:
    """Lambda = (J M^-1 J')^-1 by the mass matrix itself, J Jbar = 1, and forces of the null space
    do not move the frame.
    """
    machine, q, v, body = arm
    space = operational_space(machine, q, v, frame=body, directions="position")
    J, M = machine.jacobian(q, body)[3:], machine.mass_matrix(q)
    assert np.allclose(space.Lambda, np.linalg.inv(J @ np.linalg.solve(M, J.T)), rtol=1e-9)
    assert np.allclose(J @ space.inverse, np.eye(3), atol=1e-10)
    free = space.null_space() @ np.arange(1.0, machine.nv + 1)
    assert np.abs(J @ np.linalg.solve(M, free)).max() < 1e-9


def test_a_batch_is_its_states(arm) -> None:
    machine, q, _, body = arm
    many = np.stack([q, q + 0.3, q - 0.2]).reshape(3, 1, -1)
    found = operational_space(machine, many, many, frame=body, axes="body")
    assert found.Lambda.shape == (3, 1, 6, 6) and found.rank.tolist() == [[5]] * 3
    one = operational_space(machine, many[2, 0], many[2, 0], frame=body, axes="body")
    assert np.allclose(found.Lambda[2, 0], one.Lambda) and np.allclose(found.bias[2, 0], one.bias)


def test_rank_does_not_depend_on_the_unit_of_length(arm) -> None:
    """An elbow on a circle moves in one direction; in another unit it still does."""
    planar = catena.load("two_link_arm")
    for size in (1e-3, 1.0, 1e3):
        scaled = planar.with_(parameters={**planar.parameters, "l1": size, "l2": size})
        space = operational_space(scaled, [0.3, 0.8], frame="tip")
        assert space.rank == 2
        assert operational_space(scaled, [0.3, 0.8], frame="fore", directions="position").rank == 1


def test_gradients_by_casadi_are_those_of_finite_differences(arm) -> None:
    machine, q, v, body = arm
    f = machine.function("operational_space", body, "world")
    x = [ca.SX.sym(f"x{k}", *f.size_in(k)) for k in range(f.n_in())]
    slope = ca.Function("slope", x, [ca.jacobian(ca.vec(f(*x)[0]), x[0])])
    rest = [np.zeros(f.size_in(k)) for k in range(2, f.n_in())]
    exact = np.array(slope(q, v, *rest))
    h = 1e-6
    for k in range(machine.nv):
        step = h * np.eye(machine.nv)[k]
        up, down = (np.array(f(q + s, v, *rest)[0]) for s in (step, -step))
        assert np.allclose(exact[:, k], ((up - down) / (2 * h)).ravel("F"), rtol=1e-6, atol=1e-6)


def test_loops_stiffen_the_frame() -> None:
    """The coupler of a four-bar linkage has one freedom: its acceleration is the kernel's."""
    machine = catena.compile(catena.load("four_bar"))
    q, v = catena.assemble(machine)
    space = operational_space(machine, q, v, frame="coupler")
    assert space.rank == 1
    a = machine.forward_dynamics(q, v, np.zeros(machine.nv))
    known = machine.frame_acceleration(q, v, a, "coupler")
    assert np.allclose(space.open_acceleration, known, atol=1e-9 * np.abs(known).max())


def test_contact_of_both_classes(arm) -> None:
    """Class I: the tip stays on a wall. Class II: with friction against a given direction, by the
    complete system of equations.
    """
    machine, q, v, body = arm
    space = operational_space(machine, q, v, frame=body, directions="position")
    normal = np.array([[1.0], [0.0], [0.0]])
    slide = np.array([[0.0], [0.3], [0.0]])
    tau = np.ones(machine.nv)
    for coupling in (None, slide):
        f, change = space.contact(normal, coupling=coupling, tau=tau)
        a = machine.forward_dynamics(q, v, tau) + change
        assert abs(machine.frame_acceleration(q, v, a, body)[3]) < 1e-9
        held = machine.forward_dynamics(q, v, tau, wrenches={(body, "world"): [0, 0, 0, *-f]})
        assert np.allclose(a, held, atol=1e-8 * np.abs(a).max())
    assert f[1] == pytest.approx(0.3 * f[0])


def test_what_cannot_be_held_is_said(arm) -> None:
    machine, q, v, body = arm
    space = operational_space(machine, q, v, frame=body, directions="position")
    with pytest.raises(QuestionError, match="columns of 3 entries"):
        space.contact(np.eye(6))
    with pytest.raises(QuestionError, match="one of 'pose', 'rotation', 'position'"):
        operational_space(machine, q, v, frame=body, directions="place")
    normal = np.array([[1.0], [0.0], [0.0]])
    response = space.response[0]
    # friction that cancels the response of the normal: no force holds the tip (it jams)
    jam = np.array([[0.0], [-response[0] / response[1]], [0.0]])
    with pytest.raises(QuestionError, match="no force holds"):
        space.contact(normal, coupling=jam)
