"""Positions in closed form against Newton's method, closed forms and finite differences."""

from __future__ import annotations

import numpy as np
import pytest

import catena
from catena.errors import QuestionError, StateError, UnknownNameError
from catena.linkages import TRIANGLES, circuits

EXAMPLES = {
    "four_bar": ("motor pin", 2),
    "slider_crank": ("shaft", 2),
    "watt_linkage": ("left pin", 2),
    "stephenson_linkage": ("A", 4),
    "klann_linkage": ("A", 4),
    "jansen_linkage": ("O", 8),
}


def body(name):
    return catena.Body(name, 1.0, (0.1, 0, 0), (0.1, 0.1, 0.1))


@pytest.mark.parametrize("name", EXAMPLES)
def test_positions_equal_those_of_newtons_method(name):
    driven, modes = EXAMPLES[name]
    machine = catena.compile(catena.load(name))
    linkage = catena.linkages.linkage(machine, driven)
    assert len(linkage.modes) == modes
    angle = np.linspace(-0.6, 0.4, 7)[:, None]
    found = linkage.positions(
        angle, np.full((7, 1), 1.3), np.full((7, 1), -0.4), modes=linkage.modes
    )
    inside = found.assembled & (found.margins.min(axis=-1) > 1e-3)
    q, v, a = found.q[inside], found.v[inside], found.a[inside]
    assert len(q) >= 5
    newton, speeds = catena.assemble(
        machine,
        q
        + 1e-4
        * np.sin(np.arange(q.size)).reshape(q.shape)
        * (np.arange(machine.nq) != machine.coordinate_names.index(driven)),
        v,
        fixed=[driven],
    )
    assert np.abs(np.angle(np.exp(1j * (newton - q)))).max() < 1e-12
    assert np.abs(speeds - v).max() < 1e-11
    _, _, gamma, A = machine.constraint_rows(q, v)
    assert np.abs(np.einsum("nij,nj->ni", A, a) - gamma).max() < 1e-10


def test_points_agree_with_the_poses_of_the_machine():
    m = catena.load("jansen_linkage")
    machine = catena.compile(m)
    linkage = catena.linkages.linkage(m, "O", frames=["foot", "J3"])
    found = linkage.positions(np.linspace(0, 6, 20), np.ones(20), modes=[-1, 1, -1])
    poses = machine.pose(found.q, "foot")
    assert np.abs(found.points[:, 0] - poses[..., :3, 3]).max() < 1e-14
    J = machine.jacobian(found.q, "foot")
    velocity = np.einsum("nij,nj->ni", J, found.v)[:, 3:]
    R = poses[..., :3, :3]
    turned = np.einsum("nij,nj->ni", R, velocity)
    assert min(np.abs(found.point_velocities[:, 0] - x).max() for x in (velocity, turned)) < 1e-12


def test_velocities_and_accelerations_are_derivatives():
    linkage = catena.linkages.linkage(catena.load("four_bar"), "motor pin", frames=["marker"])
    h, t = 1e-4, np.linspace(0, 1, 5)
    q, v, a = (lambda t: 2 * t + t**2), (lambda t: 2 + 2 * t), (lambda t: 2 + 0 * t)
    at = linkage.positions(q(t), v(t), a(t))
    up, down = (linkage.positions(q(t + s)) for s in (h, -h))
    assert np.abs((up.q - down.q) / (2 * h) - at.v).max() < 1e-6
    assert np.abs((up.q - 2 * at.q + down.q) / h**2 - at.a).max() < 1e-5
    assert np.abs((up.points - down.points) / (2 * h) - at.point_velocities).max() < 1e-6


def test_dimensions_vary_from_lane_to_lane():
    m = catena.load("four_bar")
    span = np.array([0.25, 0.28, 0.3])
    many = catena.linkages.linkage(m, "motor pin").positions(0.7, parameters={"span": span})
    for k, x in enumerate(span):
        one = m.with_(parameters={**m.parameters, "span": x})
        assert (
            np.abs(many.q[k] - catena.linkages.linkage(one, "motor pin").positions(0.7).q).max()
            < 1e-15
        )


# The triangle of three groups of links in every arrangement of its joints:
#
#     ground --AB-- b --BC-- c --CA-- ground,     with a crank that moves the point of AB
@pytest.mark.parametrize("kind", sorted(TRIANGLES))
def test_every_dyad(kind):
    words = {"R": ("revolute", (0, 0, 1)), "P": ("prismatic", None)}
    slides = iter([(1.0, 0.2, 0.0), (-0.3, 1.0, 0.0)])

    def joint(name, letter, parent, child, **others):
        word, axis = words[letter]
        return catena.Joint(name, word, parent, child, axis=axis or next(slides), **others)

    AB, BC, CA = kind
    m = catena.Mechanism(
        "dyad",
        [body("crank"), body("b"), body("c")],
        [
            catena.Joint("drive", "revolute", "ground", "crank"),
            joint("AB", AB, "crank", "b", placement=(0.3, 0, 0)),
            joint("CA", CA, "ground", "c", placement=(1.0, 0.1, 0)),
        ],
        loops=[joint("BC", BC, "b", "c", placement=(0.9, 0.1, 0), offset=(0.1, 0.4, 0))],
    )
    machine = catena.compile(m)
    linkage = catena.linkages.linkage(m, "drive")
    assert sorted(linkage.groups[0].kind) == sorted(kind)
    found = linkage.positions(
        np.array([[0.1], [0.3]]), np.ones((2, 1)), np.zeros((2, 1)), modes=linkage.modes
    )
    assert found.assembled.all()
    e, rate, gamma, A = machine.constraint_rows(found.q, found.v)
    assert np.abs(e).max() < 1e-14 and np.abs(rate).max() < 1e-13
    assert np.abs(np.einsum("...ij,...j->...i", A, found.a) - gamma).max() < 1e-11


def test_a_driven_slide_between_moving_links():
    """A cylinder that turns a boom: ground - barrel =P= rod - boom - ground."""
    m = catena.Mechanism(
        "boom",
        [body("barrel"), body("rod"), body("boom")],
        [
            catena.Joint("foot", "revolute", "ground", "barrel"),
            catena.Joint("cylinder", "prismatic", "barrel", "rod", axis=(1, 0, 0)),
            catena.Joint("pivot", "revolute", "ground", "boom", (1.0, 0, 0)),
        ],
        loops=[catena.Joint("eye", "revolute", "rod", "boom", offset=(0.6, 0, 0))],
    )
    stroke = np.linspace(0.6, 1.2, 5)
    found = catena.linkages.linkage(m, "cylinder").positions(stroke)
    cosine = (1 + 0.36 - stroke**2) / 1.2  # the triangle 1, 0.6, stroke
    pivot = found.q[:, m.coordinate_names.index("pivot")]
    assert np.allclose(np.cos(np.pi - pivot), cosine, atol=1e-14)


def test_circuits_of_a_double_rocker_end_at_the_dead_points_of_the_cosine_law():
    m = catena.load("four_bar")
    r = {"crank": 0.3, "coupler": 0.1, "rocker": 0.25, "span": 0.28}  # the shortest is the coupler
    m = m.with_(parameters={**m.parameters, **r})
    found = circuits(catena.linkages.linkage(m, "motor pin"))
    assert found.count == 2 and len(found.branches) == 4
    for reach in (0.35, 0.15):  # coupler and rocker in line
        limit = np.arccos((0.3**2 + 0.28**2 - reach**2) / (2 * 0.3 * 0.28))
        assert np.abs(np.abs(found.dead_points) - limit).min() < 1e-9
    _, along = found.positions(0)
    assert along.assembled.all() and np.abs(np.diff(along.q, axis=0)).max() < 0.1


def test_circuits_of_a_crank_rocker_and_of_a_triple_rocker():
    m = catena.load("four_bar")
    crank = circuits(catena.linkages.linkage(m, "motor pin"))
    assert crank.count == 2 and all(b.full_turn for b in crank.branches)
    triple = m.with_(
        parameters={**m.parameters, "crank": 0.2, "coupler": 0.2, "rocker": 0.2, "span": 0.5}
    )
    assert circuits(catena.linkages.linkage(triple, "motor pin")).count == 1


def test_refusals_name_what_to_do():
    m = catena.load("stephenson_linkage")
    with pytest.raises(QuestionError, match="Assur group of a higher class.*drive another joint"):
        catena.linkages.linkage(m, "F")
    with pytest.raises(UnknownNameError, match="no coordinate 'crank'"):
        catena.linkages.linkage(m, "crank")
    with pytest.raises(QuestionError, match="one plane"):
        catena.linkages.linkage(
            catena.load("stewart_platform"), catena.load("stewart_platform").coordinate_names[0]
        )
    with pytest.raises(QuestionError, match="leaves 1 freedom"):
        catena.linkages.linkage(
            catena.load("two_link_arm"), catena.load("two_link_arm").coordinate_names[0]
        )
    with pytest.raises(StateError, match="2 signs"):
        catena.linkages.linkage(m, "A").positions(0.1, modes=[1])
