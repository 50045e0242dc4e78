"""maggi, udwadia_kalaba and natural_coordinates: free bodies and constraints, three ways to solve
them.
"""

from __future__ import annotations

import numpy as np
import pytest

import closed
import flexible
import zoo
from catena.certify.certificate import random_states
from catena.equations.formulations import derive
from catena.errors import SingularError
from catena.machine.machine import compile
from catena.model.mechanism import Body, Joint, Mechanism, Mimic
from catena.model.pose import Pose

FREE = ("maggi", "udwadia_kalaba", "natural_coordinates")


def light() -> Mechanism:
    """A massless frame between two bodies, one of them a point mass on a rod without inertia."""
    at = lambda x: Pose(position=(x, 0, 0))  # noqa: E731
    bodies = [
        Body("base", 2.0, (0.1, 0, 0), (0.1, 0.2, 0.3)),
        Body("frame", 0.0, (0, 0, 0), (0, 0, 0)),
        Body("bob", 0.5, (0.4, 0, 0), (0, 0, 0)),
    ]
    joints = [
        Joint("a", "revolute", "ground", "base", axis=(0, 0, 1)),
        Joint("b", "revolute", "base", "frame", at(0.3), axis=(0, 1, 0)),
        Joint("c", "revolute", "frame", "bob", at(0.2), axis=(0, 0, 1)),
    ]
    return Mechanism("light", bodies, joints).validate()


def chain_of_followers() -> Mechanism:
    """One that follows a follower."""
    m = zoo.random_tree(11, ["revolute", "revolute", "revolute"], branching=0)
    second = zoo.replaced(m.joints[1], mimic=Mimic("revolute0", -1.5, 0.1))
    third = zoo.replaced(m.joints[2], mimic=Mimic("revolute0", 0.5, 0.2), armature=0.3)
    return m.with_(joints=(m.joints[0], second, third))


CASES = {
    "light": light(),
    "followers": chain_of_followers(),
    "spatial_four_bar": closed.spatial_four_bar(),
    "bricard": closed.bricard(),
    "boom": flexible.planar(),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("by", FREE)
def test_agrees_with_the_recursive_passes(by, name):
    m = CASES[name]
    machine, e = compile(m), derive(m, by)
    for q, v, tau, p in zip(*random_states(machine, 3, 2)):
        a = machine.forward_dynamics(q, v, tau)
        assert (
            np.abs(np.array(e.acceleration(0, q, v, tau, p)).ravel() - a).max()
            < 1e-9 * np.abs(a).max()
        )
        x = e.encode(q, v, p)
        back = [np.array(z).ravel() for z in e.decode(x, p)]
        rate = _signed(np.concatenate([machine.coordinate_rate(q, v), a]), q, back[0])
        np.testing.assert_allclose(_rates(e, q, v, tau, p), rate, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(back[1], v, atol=1e-9)


def _signed(rate, q, back):
    """The rates of q with the sign of each coordinate as it came back: a quaternion may be its
    negative.
    """
    rate[: len(q)] *= np.where(np.sign(q) == np.sign(back), 1.0, -1.0)
    return rate


def _rates(e, q, v, tau, p):
    """q' and v' by moving the state along its own derivative for a moment, and reading it back."""
    x = np.array(e.encode(q, v, p)).ravel()
    h = 1e-7
    dx = np.array(e.derivative(0, x, tau, p)).ravel()
    ahead, behind = (
        np.concatenate([np.array(z).ravel() for z in e.decode(x + s * h * dx, p)]) for s in (1, -1)
    )
    return (ahead - behind) / (2 * h)


def test_the_mass_matrix_of_natural_coordinates_is_constant_and_has_the_kinetic_energy():
    """T = 1/2 y' M y', with y' by differences of y along the motion."""
    m = zoo.random_tree(5, ["ball", "revolute", "prismatic"])
    machine = compile(m)
    e = derive(m, "natural_coordinates")
    rng = np.random.default_rng(1)
    q = machine.sample(rng, 1)[0]
    v = rng.standard_normal(machine.nv)
    h = 1e-6
    y = lambda s: np.array(e.extra["natural_coordinates"](machine.move(q, s * h * v), [])).ravel()  # noqa: E731
    n = len(m.moving)
    M = np.array(e.extra["mass_matrix"]([]))
    order = [
        k
        for i in range(n)
        for k in (*range(3 * i, 3 * i + 3), *range(3 * n + 9 * i, 3 * n + 9 * i + 9))
    ]
    rate = ((y(1) - y(-1)) / (2 * h))[order]
    assert 0.5 * rate @ M @ rate == pytest.approx(machine.energy(q, v)[0], rel=1e-7)
    assert e.counts.largest_matrix == 12 * n + 6 * n + 3 + 5 + 5


def test_the_correction_is_the_smallest_by_gauss():
    """Of all motions that the rows allow, that of udwadia_kalaba is nearest to the free one: moved
    along freedoms, its constraint G = sum (a - a_free)' M (a - a_free) grows; here in joint
    coordinates, where loops are the only rows.
    """
    m = closed.four_bar()
    machine = compile(m)
    e = derive(m, "udwadia_kalaba")
    q, v, tau, p = (x[0] for x in random_states(machine, 1, 2))
    a = np.array(e.acceleration(0, q, v, tau, p)).ravel()
    M = machine.mass_matrix(q)
    free = np.linalg.solve(M, tau - machine.bias(q, v))
    A = machine.constraint_rows(q, v)[3]
    along = np.linalg.svd(A)[2][-1]
    gauss = lambda x: (x - free) @ M @ (x - free)  # noqa: E731
    assert all(gauss(a) < gauss(a + s * along) for s in (1e-3, -1e-3))


def test_counts():
    """In the plane 6 first-order equations a link; joint states elsewhere."""
    m = zoo.pendulum(3)
    assert [derive(m, by).counts.first_order for by in FREE] == [6, 18, 6]


@pytest.mark.parametrize("by", FREE)
def test_what_moves_nothing_is_refused_by_name(by):
    m = Mechanism(
        "empty",
        [Body("a", 0.0, (0, 0, 0), (0, 0, 0))],
        [Joint("slide", "prismatic", "ground", "a")],
    )
    with pytest.raises(SingularError, match=f"{by}.*'empty'.*'slide'"):
        derive(m, by)
