"""The wrench in every joint, loops included: each body balances, joints do no work, and what
rigidity does not say is NaN.
"""

from __future__ import annotations

import numpy as np
import pytest

from catena.analysis.assembly import assemble
from catena.errors import QuestionError, UnknownNameError
from catena.machine.constraint_rows import metric, rows_at, spaces
from catena.machine.machine import compile
from catena.machine.reactions import reactions, rotated
from catena.model.loads import KnifeEdge, Spring
from catena.model.mechanism import GROUND, Body, Frame, Joint, Mechanism
from catena.model.pose import Pose
from closed import (
    at,
    bricard,
    cut_four_bar,
    high_stiffness,
    high_stiffness_state,
    slider_crank,
    spatial_four_bar,
    stewart,
    windows,
)
from zoo import arm

DETERMINED = {
    "spatial_four_bar": spatial_four_bar,
    "stewart": stewart,
    "high_stiffness": high_stiffness,
}


def moving(make, seed=3):
    machine = compile(make())
    rng = np.random.default_rng(seed)
    guess = high_stiffness_state() if make is high_stiffness else None
    q, v = assemble(machine, guess, rng.normal(size=machine.nv))
    tau = rng.normal(size=machine.nv)
    return machine, q, v, machine.forward_dynamics(q, v, tau), tau


def balance(machine, q, v, a, wrenches, body):
    """Wrench of all joints on a body about its origin in its axes, less inertia and weight: zero
    (Newton and Euler).
    """
    m = machine.mechanism
    b = machine.mechanism.body(body)
    R = machine.pose(q, body)[:3, :3]
    total = np.zeros(6)
    for j in (*m.ordered, *m.loops):
        if j.child == body:
            total += wrenches[j.name]
        if j.parent == body:
            X, Y = (
                np.eye(4) if name == GROUND else machine.pose(q, name) for name in (j.child, body)
            )
            f = X[:3, :3] @ wrenches[j.name][3:]
            t = X[:3, :3] @ wrenches[j.name][:3] + np.cross(X[:3, 3] - Y[:3, 3], f)
            total -= np.concatenate([R.T @ t, R.T @ f])
    acceleration = machine.frame_acceleration(q, v, a, body, "body")
    spin = machine.frame_velocity(q, v, body, "body")[:3]
    xx, xy, xz, yy, yz, zz = b.inertia
    I = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    c = np.array(b.com)
    centre = acceleration[3:] + np.cross(acceleration[:3], c) + np.cross(spin, np.cross(spin, c))
    force = b.mass * (centre - R.T @ np.array(m.gravity))
    torque = I @ acceleration[:3] + np.cross(spin, I @ spin) + np.cross(c, force)
    return total - np.concatenate([torque, force])


@pytest.mark.parametrize("name", DETERMINED)
def test_every_body_balances(name):
    machine, q, v, a, tau = moving(DETERMINED[name])
    W = reactions(machine, q, v, a, tau)
    size = max(np.abs(w).max() for w in W.values())
    assert all(np.isfinite(w).all() for w in W.values())
    for b in machine.mechanism.bodies:
        assert np.abs(balance(machine, q, v, a, W, b.name)).max() < 1e-8 * size


@pytest.mark.parametrize("name", DETERMINED)
def test_virtual_work_of_reactions_is_zero(name):
    """Along the freedoms of a tree joint its motor pushes and nothing else; along those of a loop
    nothing does.
    """
    machine, q, v, a, tau = moving(DETERMINED[name])
    W = reactions(machine, q, v, a, tau, axes="joint")
    k = l = 0
    for j in machine.mechanism.moving:
        phi = j.motion_subspace(list(q[k : k + j.nq]))
        np.testing.assert_allclose(phi.T @ W[j.name], tau[l : l + j.nv], atol=1e-7)
        k, l = k + j.nq, l + j.nv
    for j in machine.mechanism.loops:
        if j.kind == "ball":
            assert np.abs(W[j.name][:3]).max() < 1e-8
        elif j.kind == "universal":
            first = (
                np.linalg.inv(machine.pose(q, j.child)[:3, :3])
                @ machine.pose(q, j.parent)[:3, :3]
                @ np.array(j.axis[0])
            )
            assert (
                abs(first @ W[j.name][:3]) < 1e-8
                and abs(np.array(j.axis[1]) @ W[j.name][:3]) < 1e-8
            )


def test_a_planar_loop_in_space_leaves_three_components_undetermined():
    machine, q, v, a, tau = moving(cut_four_bar)
    W = reactions(machine, q, v, a, tau)
    for joint in ("A", "B", "C", "D"):
        assert (np.isnan(W[joint]) == [True, True, False, False, False, True]).all()
    known = {name: np.nan_to_num(w) for name, w in W.items()}
    for b in machine.mechanism.bodies:  # in the plane everything is known, and balances
        assert np.abs(balance(machine, q, v, a, known, b.name)[[2, 3, 4]]).max() < 1e-8


def test_a_door_on_two_hinges_does_not_say_which_of_them_carries_it():
    """Each hinge alone could carry the door, so only the component about them is known. A ball and
    a sleeve say it all.
    """
    door = Body("door", 20.0, (0.5, 0, 0), (2.0, 1.0, 1.5))
    hinge = Joint("high", "revolute", GROUND, "door", at(0, 0, 2), offset=at(0, 0, 2))
    both = Mechanism("door", (door,), (Joint("low", "revolute", GROUND, "door"),), loops=(hinge,))
    W = reactions(both, *[np.zeros(1)] * 3, axes="joint")
    for name in ("low", "high"):
        assert (np.isnan(W[name]) == [True, True, False, True, True, True]).all() and W[name][
            2
        ] == 0.0
    sleeve = Joint(
        "high",
        "general",
        GROUND,
        "door",
        at(0, 0, 2),
        sequence=("Rx", "Ry", "Rz", "Dz"),
        offset=at(0, 0, 2),
    )
    known = Mechanism("door", (door,), (Joint("low", "ball", GROUND, "door"),), loops=(sleeve,))
    W = reactions(known, np.array([1.0, 0, 0, 0]), np.zeros(3), np.zeros(3), axes="joint")
    pull = 20 * 9.81 * 0.5 / 2  # the weight's moment over the distance of the two
    np.testing.assert_allclose(W["low"], [0, 0, 0, pull, 0, 20 * 9.81], atol=1e-9)
    np.testing.assert_allclose(W["high"], [0, 0, 0, -pull, 0, 0], atol=1e-9)


def test_axes_are_the_same_wrench_seen_differently():
    machine, q, v, a, tau = moving(spatial_four_bar)
    body, world, joint = (
        reactions(machine, q, v, a, tau, axes=axes) for axes in ("body", "world", "joint")
    )
    for j in (*machine.mechanism.ordered, *machine.mechanism.loops):
        R = machine.pose(q, j.child)[:3, :3]
        np.testing.assert_allclose(
            world[j.name], np.concatenate([R @ body[j.name][:3], R @ body[j.name][3:]]), atol=1e-12
        )
        p = np.array(j.offset.position)
        np.testing.assert_allclose(
            joint[j.name][:3], body[j.name][:3] - np.cross(p, body[j.name][3:]), atol=1e-10
        )


def test_a_batch_and_a_tree():
    machine, q, v, a, tau = moving(slider_crank)
    many = reactions(machine, np.stack([q, q]), v, np.stack([a, a]), tau)
    one = reactions(machine, q, v, a, tau)
    assert many["wrist_pin"].shape == (2, 6)
    np.testing.assert_array_equal(many["wrist_pin"][1], one["wrist_pin"])
    tree = compile(arm(3))
    q, v, a = np.random.default_rng(1).normal(size=(3, 3))
    for name, W in tree.reactions(q, v, a).items():
        np.testing.assert_allclose(reactions(tree, q, v, a)[name], W, atol=1e-13)


def by_singular_values(machine, q, v, a, tau):
    """The second route: shortest multipliers and inner loads by singular values, wrenches by
    virtual work, one state.
    """
    rows = rows_at(machine, q, v)
    m = machine.mechanism
    lam = np.linalg.lstsq(rows.A.T, machine.inverse_dynamics(q, v, a) - tau, rcond=1e-10)[0]
    inner = spaces(rows.A, metric(machine, acting=False)).N
    tree = dict(zip([j.name for j in m.ordered], machine.evaluate("reactions", q, v, a)[0]))
    found = {}
    for j in (*m.ordered, *m.loops):
        carried = {j.child} if j.name in tree else set()
        for other in m.ordered:
            carried |= {other.child} if other.parent in carried else set()
        ends = [
            float(p in carried) - float(c in carried) if carried else float(n == j.name)
            for (n, _), (p, c) in zip(rows.names, rows.between)
        ]
        X = np.eye(4) if j.child == GROUND else machine.pose(q, j.child)
        G = np.array(ends)[:, None] * rows.wrench
        f = G[:, 3:] @ X[:3, :3]
        effect = np.hstack([(G[:, :3] - np.cross(X[:3, 3], G[:, 3:])) @ X[:3, :3], f]).T
        found[j.name] = np.where(
            np.abs(effect @ inner).max(axis=1, initial=0.0) > 1e-8,
            np.nan,
            tree.get(j.name, 0.0) + effect @ lam,
        )
    return found


@pytest.mark.parametrize("make", [cut_four_bar, bricard, windows])
def test_lanes_and_singular_values_agree_where_rows_are_redundant(make):
    """Two routes, a batch of seven states: the same components are not determined, and the others
    are the same.
    """
    machine = compile(make())
    rng = np.random.default_rng(5)
    pairs = [assemble(machine, None, x) for x in rng.normal(size=(7, machine.nv))]
    q, v = (np.array([pair[k] for pair in pairs]) for k in (0, 1))
    tau = rng.normal(size=v.shape)
    a = machine.forward_dynamics(q, v, tau)
    W = reactions(machine, q, v, a, tau)
    alone = reactions(machine, q[4:5], v[4:5], a[4:5], tau[4:5])
    for k in range(7):
        for name, w in by_singular_values(machine, q[k], v[k], a[k], tau[k]).items():
            np.testing.assert_allclose(
                W[name][k], w, rtol=0, atol=1e-9 * np.nanmax(np.abs(w), initial=1.0)
            )
    for name, w in alone.items():
        np.testing.assert_array_equal(w[0], W[name][4])  # whoever its neighbours are, to the bit


def test_wrenches_from_outside_and_springs_are_carried():
    """A push on the piston against the crank's motor: the crank pin carries it to the shaft."""
    machine = compile(slider_crank())
    q, v = assemble(machine, [0.5, 0, 1.2])
    push = {("piston", "world"): np.array([0, 0, 0, -50.0, 0, 0])}
    tau = machine.inverse_dynamics(q, v, np.zeros(3), push)
    a = machine.forward_dynamics(q, v, np.zeros(3), push)
    W = reactions(machine, q, v, a, np.zeros(3), wrenches=push, axes="world")
    # the piston's own balance along x
    np.testing.assert_allclose(W["wrist_pin"][3] - 50.0, 0.5 * a[2], atol=1e-8)
    assert tau.shape == (3,)
    wall = Frame("wall", GROUND, at(2, 0, 0))
    spring = Spring("spring", "piston", "wall", 100.0, 0.5)
    sprung = compile(slider_crank().with_(frames=(wall,), loads=(spring,)))
    b = sprung.forward_dynamics(q, v, np.zeros(3))
    W = reactions(sprung, q, v, b, np.zeros(3), axes="world")
    pull = 100.0 * (2 - q[2] - 0.5)
    np.testing.assert_allclose(W["wrist_pin"][3] + pull, 0.5 * b[2], atol=1e-8)


def test_a_knife_edge_pushes_sideways():
    """A skate on a plane, pushed sideways off centre: the edge takes the push, and the plane joint
    carries nothing across.
    """
    skate = Body("skate", 2.0, (0.1, 0, 0), (0.1, 0.1, 0.1))
    blade = KnifeEdge("blade", "skate", (0, 1, 0))
    m = Mechanism(
        "sleigh", (skate,), (Joint("ice", "planar", GROUND, "skate"),), nonholonomic=(blade,)
    )
    machine = compile(m)
    q = np.zeros(3)
    v = np.array([1.0, 0.0, 0.3])
    a = machine.forward_dynamics(q, v, np.zeros(3))
    W = reactions(machine, q, v, a)["ice"]
    lam = machine.multipliers(q, v, np.zeros(3))
    # the planar joint gives no force in its plane; the blade's force is what turns the skate's
    # path: lam = m (w u + ...)
    np.testing.assert_allclose(W[[2, 3, 4]], 0, atol=1e-9)
    assert lam[0] == pytest.approx(2.0 * (a[1] + a[2] * 0.1), abs=1e-9)


def test_reactions_say_what_is_wrong():
    machine, q, v, a, tau = moving(slider_crank)
    with pytest.raises(
        QuestionError,
        match=r"mechanism 'slider_crank' does not move like this under these joint forces: "
        r"'\w+' is short of",
    ):
        reactions(machine, q, v, a)
    with pytest.raises(UnknownNameError, match="no axes 'parent' in reactions"):
        reactions(machine, q, v, a, tau, axes="parent")


def test_what_is_determined_survives_a_change_of_axes():
    """A planar four-bar in space: forces in its plane and the torque about its normal are known
    along any axes in the plane.
    """
    turned = Frame("turned", GROUND, Pose.turn("z", 0.7))
    four_bar = cut_four_bar()
    machine = compile(four_bar.with_(frames=(*four_bar.frames, turned)))
    q, v = assemble(machine, None, np.ones(machine.nv))
    tau = np.zeros(machine.nv)
    a = machine.forward_dynamics(q, v, tau)
    body, along = (reactions(machine, q, v, a, tau, axes=axes) for axes in ("body", "turned"))
    known = np.array([False, False, True, True, True, False])
    for j in (*machine.mechanism.ordered, *machine.mechanism.loops):
        assert np.isfinite(body[j.name][known]).all() and np.isfinite(along[j.name][known]).all()
        assert np.isnan(body[j.name]).any()
        R = machine.pose(q, "turned")[:3, :3].T @ machine.pose(q, j.child)[:3, :3]
        ours = rotated(R, body[j.name])
        np.testing.assert_array_equal(np.isnan(ours), np.isnan(along[j.name]))
        np.testing.assert_allclose(ours[known], along[j.name][known], atol=1e-9)
        assert np.isnan((R @ body[j.name][3:])[:2]).all()  # what a plain product would make of it
    with pytest.raises(UnknownNameError, match="no axes 'turnd'"):
        reactions(machine, q, v, a, tau, axes="turnd")
