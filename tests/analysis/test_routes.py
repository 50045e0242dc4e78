"""Constrained dynamics by every route: the worked examples of [Merwe1995] to their printed digits,
and agreement to 1e-9.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from catena.analysis.assembly import assemble
from catena.analysis.statics import static_torques
from catena.errors import QuestionError
from catena.machine.constraint_rows import rows_at
from catena.machine.machine import compile
from catena.machine.reactions import reactions
from catena.model.mechanism import GROUND, Body, Frame, Joint, Mechanism
from closed import (
    AZIMUTHS,
    POINTS,
    Y,
    at,
    bricard,
    cut_four_bar,
    four_link,
    high_stiffness,
    high_stiffness_state,
    leg,
    slider_crank,
    spatial_four_bar,
    stewart,
    two_link_load,
    two_link_state,
    windows,
)
from gallery.routes import Supporting, chain, minimal_coordinates, reference_member, tip_contact
from zoo import MOVING, arm, random_tree

REFERENCE = Path(__file__).parents[1] / "reference"
SEED_004 = json.loads((REFERENCE / "merwe1995_static.json").read_text())
PIN_Y = np.eye(6)[:, [0, 2, 3, 4, 5]]  # everything but turning about y
CLOSED = {
    "four_link": four_link,
    "two_link_load": two_link_load,
    "high_stiffness": high_stiffness,
    "bricard": bricard,
    "windows": windows,
    "four_bar": cut_four_bar,
    "slider_crank": slider_crank,
    "spatial_four_bar": spatial_four_bar,
    "stewart": stewart,
}
STATES = {"two_link_load": two_link_state, "high_stiffness": high_stiffness_state}


def closed_state(name, machine, rng):
    """A state on the loops, in motion, and joint forces."""
    guess = STATES[name]() if name in STATES else None
    guess = machine.neutral() if guess is None else guess
    q, v = assemble(
        machine, machine.move(guess, 0.2 * rng.normal(size=machine.nv)), rng.normal(size=machine.nv)
    )
    return q, v, rng.normal(size=machine.nv)


def close(x, y, tolerance=1e-9):
    assert np.abs(np.asarray(x) - y).max() <= tolerance * max(1.0, np.abs(y).max())


# --- the routes agree
@pytest.mark.parametrize("name", CLOSED)
@pytest.mark.parametrize("life", ["generic", "lanes"])
def test_the_machine_and_minimal_coordinates_agree(name, life):
    machine = compile(CLOSED[name](), life=life)
    rng = np.random.default_rng(3)
    q, v, tau = closed_state(name, machine, rng)
    a = machine.forward_dynamics(q, v, tau)
    close(a, minimal_coordinates(machine, q, v, tau))
    rows = rows_at(machine, q, v)
    close(rows.A @ a, rows.gamma)


@pytest.mark.parametrize("name", CLOSED)
def test_multipliers_do_no_work_and_balance_the_motion(name):
    """M a + b = tau + A' lam, and lam' A v = 0: power in is the change of energy."""
    machine = compile(CLOSED[name]())
    rng = np.random.default_rng(4)
    q, v, tau = closed_state(name, machine, rng)
    a = machine.forward_dynamics(q, v, tau)
    lam = machine.multipliers(q, v, tau)
    A = machine.constraint_rows(q, v)[3]
    close(machine.inverse_dynamics(q, v, a), tau + A.T @ lam, 1e-8)
    assert abs(lam @ A @ v) < 1e-9 * max(1.0, np.abs(lam).max())
    h = 1e-5

    def total(t):
        return sum(machine.energy(machine.move(q, t * v + 0.5 * t * t * a), v + t * a))

    rate = (8 * (total(h) - total(-h)) - (total(2 * h) - total(-2 * h))) / (12 * h)
    assert abs(rate - tau @ v) < 1e-6 * max(1.0, abs(tau @ v))


@pytest.mark.parametrize("kind", MOVING)
def test_a_chain_by_recursion_is_the_machine(kind):
    """H, bias, J and Jdot qd of a chain with every kind of joint, by the recursive method (5.6,
    5.46, 5.64-5.71).
    """
    m = random_tree(21 + MOVING.index(kind), ["revolute", kind, "universal"], branching=0)
    machine = compile(m)
    rng = np.random.default_rng(5)
    q = machine.sample(rng)
    v = rng.normal(size=machine.nv)
    c = chain(m, q, v, "body2")
    close(c.H, machine.mass_matrix(q), 1e-12)
    close(c.bias, machine.bias(q, v), 1e-11)
    close(c.J, machine.jacobian(q, "body2"), 1e-12)
    close(c.rate, machine.jacobian_rate(q, v, "body2"), 1e-11)
    close(c.pose, machine.pose(q, "body2"), 1e-12)


def test_the_chain_route_takes_chains_only():
    with pytest.raises(QuestionError, match="mechanism 'four_link' is not a serial chain"):
        chain(four_link(), np.zeros(4), np.zeros(4), "end")


# --- chapter 5
def test_seed_004_section_5_5_by_the_tip_route():
    zero = np.zeros(4)
    printed = SEED_004["5.5_four_link"]
    c = tip_contact(four_link(closed=False), "end", zero, zero, zero, PIN_Y)
    H = [
        [26.35, 8.35, 5.4, 0.95],
        [8.35, 5.35, 2.4, 0.95],
        [5.4, 2.4, 1.9, 0.45],
        [0.95, 0.95, 0.45, 0.45],
    ]
    close(c.chain.H, H, 1e-14)
    close(c.chain.bias, [-30, -30, -5, -5], 1e-14)
    close(c.chain.J, printed["J_end_angular_first"], 1e-14)
    close(c.Omega, printed["Omega"], 1e-13)
    close(c.Omega[3], [0, 2.8739003, 0, -0.7058824, 0, -2.28739], 1e-7)
    close(c.Lambda_inverse, printed["Lambda_inv"], 1e-13)
    close(c.Lambda_inverse[[1, 3, 5], [1, 3, 5]], [2.8739003, 0.69019610, 2.228739], 1e-7)
    close(c.qdd_open, [0, 10.2639296, -10.2639296, -0.2932551], 1e-8)
    close(c.xdd_open, [0, -0.29325510, 0, 0, 0, -9.9706745], 1e-7)
    close(c.f, [0, 0, 0, 0, 0, -4.4736842], 1e-8)
    close(c.qdd, [0, 10.5263158, -10.5263158, -10.5263158], 1e-8)


def test_seed_004_section_5_5_by_the_loop():
    """The tip pushes down with 4.4736842 N: the pin pushes it up. Along y and about x and z rigid
    bodies do not say.
    """
    machine = compile(four_link())
    zero = np.zeros(4)
    a = machine.forward_dynamics(zero, zero, zero)
    close(a, [0, 10.5263158, -10.5263158, -10.5263158], 1e-8)
    W = reactions(machine, zero, zero, a, axes="joint")["tip"]
    np.testing.assert_allclose(W[[1, 3, 5]], [0, 0, 4.4736842], atol=1e-7)
    assert np.isnan(W[[0, 2, 4]]).all()


def test_the_tip_route_agrees_in_motion():
    machine = compile(four_link())
    rng = np.random.default_rng(6)
    q, v, tau = closed_state("four_link", machine, rng)
    c = tip_contact(four_link(closed=False), "end", q, v, tau, PIN_Y)
    a = machine.forward_dynamics(q, v, tau)
    close(c.qdd, a)
    close(c.f[[3, 5]], -reactions(machine, q, v, a, tau, axes="world")["tip"][[3, 5]])


def test_the_tip_route_of_a_spatial_arm_held_at_a_point_and_welded():
    m = arm(7)
    rng = np.random.default_rng(7)
    for kind, phi_c in (("ball", np.eye(6)[:, 3:]), ("fixed", np.eye(6))):
        held = m.with_(joints=m.joints, loops=(_held(m, kind, rng),))
        machine = compile(held)
        q, v = assemble(machine, np.linspace(0.1, 1.0, 7), rng.normal(size=7))
        tau = rng.normal(size=7)
        c = tip_contact(m, "link7", q, v, tau, phi_c)
        close(c.qdd, machine.forward_dynamics(q, v, tau))


def _held(m, kind, rng):
    from catena.model.pose import Pose

    X = compile(m).pose(np.linspace(0.1, 1.0, 7), "link7")
    return Joint("hold", kind, GROUND, "link7", Pose(tuple(map(tuple, X[:3, :3])), tuple(X[:3, 3])))


def test_contact_of_class_two_is_sliding_friction():
    """A chain's tip slides on the plane z = 3 with friction 0.3: h is a linear function of hc
    (5.2.4).

    Checked by putting the contact force found on the open chain from outside.
    """
    m = four_link(closed=False)
    rng = np.random.default_rng(8)
    machine = compile(m)
    q = np.zeros(4)
    v = np.array([0.0, 0.5, -0.5, -0.5])
    tau = rng.normal(size=4)
    # along the plane
    v = v - np.linalg.pinv(machine.jacobian(q, "end")[5:]) @ machine.jacobian(q, "end")[5:] @ v
    slide = math.copysign(1.0, (machine.jacobian(q, "end") @ v)[3])
    phi_c = np.eye(6)[:, [5]]
    phi = np.eye(6)[:, :5]
    mu = 0.3
    F = np.zeros((5, 1))
    # the plane pushes up, hc < 0 is what the tip does to it; friction opposes the sliding
    F[3, 0] = -mu * slide
    c = tip_contact(m, "end", q, v, tau, phi_c, phi=phi, coupling=F)
    assert c.f[5] < 0 and c.f[3] * slide > 0  # the tip presses, and drags the plane along
    np.testing.assert_allclose(abs(c.f[3] / c.f[5]), mu, rtol=1e-12)
    a = machine.forward_dynamics(q, v, tau, wrenches={("end", "world"): -c.f})
    close(c.qdd, a)
    assert abs(machine.frame_acceleration(q, v, a, "end")[5]) < 1e-9
    class_one = tip_contact(m, "end", q, v, tau, phi_c, phi=phi, h=c.f[:5])
    close(class_one.qdd, c.qdd)


# --- chapter 6
def one_link(k: int) -> Mechanism:
    link = Body("link", 1.0, (0.75, 0, 0), (0.025, 0.25, 0.25))
    joint = Joint("joint", "revolute", GROUND, "link", at(0.8 * (k - 1)), axis=Y)
    return Mechanism(
        f"chain{k}", (link,), (joint,), (Frame("tip", "link", at(1.5)),), gravity=(0, 0, -10)
    )


def carried(q, v, tau, X_r, velocity):
    sides = [
        Supporting(one_link(k + 1), "tip", q[[k]], v[[k]], tau[[k]], PIN_Y, np.array([point, 0, 0]))
        for k, point in ((0, -0.4), (1, 0.4))
    ]
    return reference_member(
        sides, 5.0, np.zeros(3), 0.5 * np.eye(3), X_r, velocity, np.array([0, 0, -10.0])
    )


def test_seed_004_section_6_5_by_the_reference_member_route():
    machine = compile(two_link_load())
    X_r = machine.pose(two_link_state(), "load")
    found = carried(np.full(2, math.pi / 4), np.zeros(2), np.zeros(2), X_r, np.zeros(6))
    close(found.a_r, [0, 0, 0, -5.2427184, 0, -5.2427184], 1e-8)
    for k in range(2):
        close(found.moving[k], [0, 0, 0, 0, 0, -0.8581393], 1e-7)
        close(found.qdd[k], [4.9428824], 1e-8)
    held = carried(
        np.full(2, math.pi / 4), np.zeros(2), np.full(2, -31.819805153394636), X_r, np.zeros(6)
    )
    assert np.abs(held.a_r).max() < 1e-12 and np.abs(held.qdd).max() < 1e-12


def test_seed_004_section_6_5_by_the_loop():
    machine = compile(two_link_load())
    q = two_link_state()
    zero = np.zeros(3)
    a = machine.forward_dynamics(q, zero, zero)
    close(a, [4.9428824, -4.9428824, 4.9428824], 1e-8)
    close(
        machine.frame_acceleration(q, zero, a, "load"), [0, 0, 0, -5.2427184, 0, -5.2427184], 1e-8
    )
    hold = static_torques(machine, q, ["joint1", "joint2"])
    close(hold.tau[[0, 2]], -31.819805, 1e-8)
    assert not hold.unique  # either motor alone could hold it: equal shares are the least
    link1 = static_torques(machine, q, ["joint1"])
    assert link1.unique
    close(link1.tau[0], -63.63961, 1e-8)


def test_the_reference_member_route_agrees_in_motion():
    machine = compile(two_link_load())
    rng = np.random.default_rng(9)
    q, v, tau = closed_state("two_link_load", machine, rng)
    tau[1] = 0.0  # the contact is not powered
    a = machine.forward_dynamics(q, v, tau)
    found = carried(
        q[[0, 2]],
        v[[0, 2]],
        tau[[0, 2]],
        machine.pose(q, "load"),
        machine.frame_velocity(q, v, "load", "body"),
    )
    close(np.concatenate(found.qdd), a[[0, 2]])
    close(found.a_r, machine.frame_acceleration(q, v, a, "load", "body"))


def test_the_reference_member_route_with_powered_contacts():
    """Type 1: the joint at the member is actuated, the one at the ground is not; h is its force."""
    machine = compile(two_link_load())
    rng = np.random.default_rng(10)
    q, v, _ = closed_state("two_link_load", machine, rng)
    tau = np.array([0.0, 7.0, 0.0])
    a = machine.forward_dynamics(q, v, tau)
    phi = np.eye(6)[:, [1]]
    sides = [
        Supporting(
            one_link(1),
            "tip",
            q[[0]],
            v[[0]],
            np.zeros(1),
            PIN_Y,
            np.array([-0.4, 0, 0]),
            phi=phi,
            h=np.array([7.0]),
        ),
        Supporting(one_link(2), "tip", q[[2]], v[[2]], np.zeros(1), PIN_Y, np.array([0.4, 0, 0])),
    ]
    spin = machine.frame_velocity(q, v, "load", "body")
    found = reference_member(
        sides,
        5.0,
        np.zeros(3),
        0.5 * np.eye(3),
        machine.pose(q, "load"),
        spin,
        np.array([0, 0, -10.0]),
    )
    close(np.concatenate(found.qdd), a[[0, 2]])


# --- chapter 8
PRINTED_QDD = [0, -3.6239142, 9.2218498, 0, 3.6239142]
PRINTED_HOLD = [0, 6.3164555, -41.113563, 0, 0.25]


def legs(v, tau):
    sides = []
    for k in (1, 2, 3):
        bodies, joints = leg(k)
        own = Mechanism(
            f"leg{k}", bodies, joints, (Frame("tip", f"lower{k}", at(0.1)),), gravity=(0, -10, 0)
        )
        here = slice(5 * k - 5, 5 * k)
        state = high_stiffness_state()[here], v[here], tau[here]
        sides.append(Supporting(own, "tip", *state, np.eye(6), np.array(POINTS[k - 1])))
    return reference_member(
        sides, 5.0, np.zeros(3), 0.01 * np.eye(3), np.eye(4), np.zeros(6), np.array([0, -10.0, 0])
    )


def test_seed_004_chapter_8_by_the_reference_member_route():
    found = legs(np.zeros(15), np.zeros(15))
    close(found.a_r, [0, 0, 0, 0, -10.0286429, 0], 1e-8)
    for k in range(3):
        close(found.qdd[k], PRINTED_QDD, 1e-7)
    # y is up in the tips' axes too
    down = [f[3:] @ np.array([math.sin(0), 1, 0]) for f in found.forces]
    close(down, -0.0477382, 1e-6)
    held = legs(np.zeros(15), np.tile(PRINTED_HOLD, 3))
    assert np.abs(held.a_r).max() < 1e-6
    assert len(AZIMUTHS) == 3


def test_seed_004_chapter_8_by_the_loop():
    machine = compile(high_stiffness())
    q = high_stiffness_state()
    zero = np.zeros(15)
    a = machine.forward_dynamics(q, zero, zero)
    close(a, np.tile(PRINTED_QDD, 3), 1e-7)
    close(machine.frame_acceleration(q, zero, a, "platform"), [0, 0, 0, 0, -10.0286429, 0], 1e-8)
    close(minimal_coordinates(machine, q, zero, zero), a)
    held = machine.forward_dynamics(q, zero, np.tile(PRINTED_HOLD, 3))
    assert np.abs(held).max() < 1e-6
    slides = [name for name in machine.speed_names if name.endswith("Dx")]
    hold = static_torques(machine, q, slides)
    reference = json.loads((REFERENCE / "merwe1995_hslm_static.json").read_text())
    close(hold.tau[2::5], reference["prismatic_only_holding_force"], 1e-9)
    assert hold.unique


# --- benchmarks
def test_iftomm_bricard():
    """Overconstrained and closed at every time of the reference; its accelerations are the rates of
    the reference's speeds.
    """
    reference = json.loads((REFERENCE / "iftomm_bricard.json").read_text())
    machine = compile(bricard())
    for q, v, points in zip(reference["q"], reference["qd"], reference["P1_P5"]):
        q, v = np.array(q), np.array(v)
        rows = rows_at(machine, q, v)
        assert np.abs(rows.error).max() < 1e-12 and np.abs(rows.rate).max() < 1e-12
        close(machine.pose(q, "rod5")[:3, 3], points[3], 1e-12)
    a = machine.forward_dynamics(np.zeros(5), np.zeros(5), np.zeros(5))
    # q = a t^2/2 + a_4 t^4/24 + ...: the first two times of the reference give a to the fourth
    # order
    t = np.array(reference["t"][1:3])
    q = np.array(reference["q"][1:3])
    leading = np.linalg.solve(np.column_stack([t**2 / 2, t**4 / 24]), q)[0]
    close(leading, a, 1e-4)
    close(minimal_coordinates(machine, np.zeros(5), np.zeros(5), np.zeros(5)), a)


def test_iftomm_windows():
    """A02: the exact motion is that of one upright link; its angular acceleration follows from
    energy at every time.
    """
    reference = json.loads((REFERENCE / "iftomm_windows.json").read_text())
    machine = compile(windows(2))
    for x, y, vx, vy in reference["B0_x_y_vx_vy"]:
        angle = math.atan2(-x, y)
        rate = -vx * y + vy * x
        q = np.array([angle, -angle, angle, -angle, angle])
        v = rate * np.array([1.0, -1, 1, -1, 1])
        rows = rows_at(machine, q, v)
        assert np.abs(rows.error).max() < 1e-12 and np.abs(rows.rate).max() < 1e-12
        a = machine.forward_dynamics(q, v, np.zeros(5))
        # three posts turn, two beams move along: (3/3 + 2) theta'' = g (3/2 + 2) sin(theta)
        close(a, 9.81 * 3.5 * math.sin(angle) / 3.0 * np.array([1.0, -1, 1, -1, 1]), 1e-8)
        kinetic, potential = machine.energy(q, v)
        close(kinetic + potential, 1.5 + 9.81 * 3.5, 1e-9)  # as at the start: 1 rad/s, upright
