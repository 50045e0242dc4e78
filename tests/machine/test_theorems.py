"""Physical identities on random mechanisms that contain every joint kind, in both lives."""

from __future__ import annotations

import numpy as np
import pytest

from catena.errors import SingularError
from catena.machine.machine import compile
from catena.model.joint_kinds import KINDS
from catena.model.loads import KnifeEdge
from catena.model.mechanism import Joint, Mimic
from zoo import MOVING, arm, follower, random_tree, replaced

TREES = {
    "every_kind_chain": random_tree(11, ["free", *MOVING, "fixed", "revolute"], branching=0),
    "every_kind_tree": random_tree(12, [*MOVING, "fixed", "revolute", "ball"]),
    "arm": arm(6),
}
PAIR = random_tree(27, ["revolute", "prismatic", "revolute"], branching=0)
# every joint kind, mimic joints, loops and speed rows, in mechanisms small enough to differentiate
SMALL = {
    "free": random_tree(21, ["free", "revolute"]),
    "balls": random_tree(22, ["ball", "fixed", "ball"]),
    "sliding": random_tree(23, ["prismatic", "helical", "cylindrical"]),
    "gimbals": random_tree(24, ["universal", "gimbal"]),
    "general": random_tree(25, ["planar", "general"]),
    "mimic": PAIR.with_(
        joints=(*PAIR.joints[:2], replaced(PAIR.joints[2], mimic=Mimic("revolute0", 2.0)))
    ),
    "loop": random_tree(
        28, ["ball", "revolute"], branching=0, loops=(Joint("shut", "ball", "ground", "body1"),)
    ),
    "mimic_rows": PAIR.with_(
        joints=(*PAIR.joints[:2], replaced(PAIR.joints[2], mimic=Mimic("revolute0", 2.0))),
        nonholonomic=(KnifeEdge("skate", "body2", (0, 1, 0)),),
    ),
}
LIVES = ("generic", "lanes")
BATCH = 5


@pytest.fixture(
    scope="module", params=[(name, life) for name in TREES for life in LIVES], ids="-".join
)
def case(request):
    """A machine and a batch of random states."""
    name, life = request.param
    machine = compile(TREES[name], life=life)
    rng = np.random.default_rng(5)
    q = machine.sample(rng, BATCH)
    v, a = rng.standard_normal((2, BATCH, machine.nv))
    return machine, q, v, a


def close(x, y, tolerance=1e-11):
    scale = max(1.0, np.abs(y).max(initial=0.0))
    assert np.abs(np.asarray(x) - y).max(initial=0.0) / scale < tolerance


def along(machine, f, q, v, step=1e-5):
    """df/dt while the coordinates move along the speeds v, by central differences of order four."""
    near = f(machine.move(q, step * v)) - f(machine.move(q, -step * v))
    far = f(machine.move(q, 2 * step * v)) - f(machine.move(q, -2 * step * v))
    return (8 * near - far) / (12 * step)


def test_forward_after_inverse_is_the_identity(case):
    machine, q, v, a = case
    close(machine.forward_dynamics(q, v, machine.inverse_dynamics(q, v, a)), a, 1e-10)


def test_mass_matrix_is_symmetric_and_positive_definite(case):
    machine, q, _, _ = case
    M = machine.mass_matrix(q)
    close(M, np.swapaxes(M, -1, -2), 1e-13)
    assert np.linalg.eigvalsh(M).min() > 0


def test_inverse_dynamics_is_mass_matrix_times_acceleration_plus_bias(case):
    machine, q, v, a = case
    close(
        machine.inverse_dynamics(q, v, a),
        np.einsum("bij,bj->bi", machine.mass_matrix(q), a) + machine.bias(q, v),
    )


def test_kinetic_energy_is_half_v_m_v(case):
    machine, q, v, _ = case
    close(machine.energy(q, v)[0], 0.5 * np.einsum("bi,bij,bj->b", v, machine.mass_matrix(q), v))


def test_gravity_is_the_gradient_of_potential_energy(case):
    machine, q, v, _ = case
    rate = along(machine, lambda x: machine.energy(x, 0 * v)[1], q, v)
    close(np.einsum("bi,bi->b", machine.gravity(q), v), rate, 1e-8)


def test_mdot_minus_two_c_is_skew(case):
    machine, q, v, _ = case
    C = machine.coriolis_matrix(q, v)
    close(np.einsum("bij,bj->bi", C, v) + machine.gravity(q), machine.bias(q, v))
    N = along(machine, machine.mass_matrix, q, v) - 2 * C
    close(N, -np.swapaxes(N, -1, -2), 1e-7)


def test_power_in_is_the_rate_of_energy(case):
    machine, q, v, a = case
    tau = machine.inverse_dynamics(q, v, a)
    step = 1e-5

    def total(h):
        return sum(machine.energy(machine.move(q, h * v + 0.5 * h * h * a), v + h * a))

    rate = (8 * (total(step) - total(-step)) - (total(2 * step) - total(-2 * step))) / (12 * step)
    close(np.einsum("bi,bi->b", tau, v), rate, 1e-7)


@pytest.mark.parametrize("axes", ["world", "body"])
def test_jacobian_gives_the_frame_velocity_and_its_rate(case, axes):
    machine, q, v, a = case
    frame = machine.mechanism.bodies[-1].name
    J = machine.jacobian(q, frame, axes)
    close(np.einsum("bij,bj->bi", J, v), machine.frame_velocity(q, v, frame, axes))
    rate = np.einsum(
        "bij,bj->bi", along(machine, lambda x: machine.jacobian(x, frame, axes), q, v), v
    )
    close(machine.jacobian_rate(q, v, frame, axes), rate, 1e-7)
    world = machine.jacobian(q, frame)
    acceleration = np.einsum("bij,bj->bi", world, a) + machine.jacobian_rate(q, v, frame)
    close(machine.frame_acceleration(q, v, a, frame), acceleration)


def test_jacobian_is_the_derivative_of_the_pose(case):
    machine, q, v, _ = case
    frame = machine.mechanism.bodies[-1].name
    X = machine.pose(q, frame)
    dX = along(machine, lambda x: machine.pose(x, frame), q, v)
    # the angular velocity tensor, [Merwe1995] eq. 3.4
    W = dX[:, :3, :3] @ np.swapaxes(X[:, :3, :3], -1, -2)
    J = machine.jacobian(q, frame)
    velocity = np.einsum("bij,bj->bi", J, v)
    close(np.stack([W[:, 2, 1], W[:, 0, 2], W[:, 1, 0]], axis=-1), velocity[:, :3], 1e-7)
    close(dX[:, :3, 3], velocity[:, 3:], 1e-7)


@pytest.mark.parametrize("axes", ["world", "body"])
def test_wrenches_enter_through_the_jacobian(case, axes):
    machine, q, v, a = case
    frame = machine.mechanism.bodies[-2].name
    w = np.random.default_rng(3).standard_normal((BATCH, 6))
    push = np.einsum("bij,bi->bj", machine.jacobian(q, frame, axes), w)
    key = (frame, "world") if axes == "world" else frame
    close(
        machine.inverse_dynamics(q, v, a, wrenches={key: w}),
        machine.inverse_dynamics(q, v, a) - push,
        1e-10,
    )
    tau = machine.inverse_dynamics(q, v, a, wrenches={key: w})
    close(machine.forward_dynamics(q, v, tau, wrenches={key: w}), a, 1e-9)


def test_momentum_changes_by_outside_forces_only(case):
    """The reaction of the root joint and the weight are all that can change momentum."""
    machine, q, v, a = case
    m = machine.momentum(q, v)
    root = machine.mechanism.ordered[0]
    W = machine.reactions(q, v, a)[root.name]
    R = machine.pose(q, root.child)[:, :3, :3]
    step = 1e-5

    def linear(h):
        return machine.momentum(machine.move(q, h * v + 0.5 * h * h * a), v + h * a)["linear"]

    rate = (8 * (linear(step) - linear(-step)) - (linear(2 * step) - linear(-2 * step))) / (
        12 * step
    )
    weight = m["mass"][:, None] * np.array(machine.mechanism.gravity)
    close(np.einsum("bij,bj->bi", R, W[:, 3:]) + weight, rate, 1e-7)


def test_reactions_along_the_freedoms_are_the_joint_forces(case):
    machine, q, v, a = case
    tau = machine.inverse_dynamics(q, v, a)
    W = machine.reactions(q, v, a)
    k = l = 0
    for j in machine.mechanism.moving:
        for b in range(BATCH):
            R = np.array(j.offset.rotation)
            p = np.array(j.offset.position)
            t = W[j.name][b, :3]
            f = W[j.name][b, 3:]
            # about the joint's frame, in its axes
            at_joint = np.concatenate([R.T @ (t - np.cross(p, f)), R.T @ f])
            close(j.motion_subspace(q[b, k : k + j.nq]).T @ at_joint, tau[b, l : l + j.nv], 1e-9)
        k, l = k + j.nq, l + j.nv


@pytest.fixture(scope="module", params=SMALL)
def small(request):
    """A machine whose derivatives come from the lanes, another in the generic life for differences,
    and a batch of states.
    """
    m = SMALL[request.param]
    lanes = compile(m, life="lanes")
    generic = compile(m, life="generic")
    rng = np.random.default_rng(5)
    q = generic.sample(rng, BATCH)
    v, x, d = rng.standard_normal((3, BATCH, generic.nv))
    return lanes, generic, q, v, x, d


def test_the_small_mechanisms_have_every_joint_kind():
    assert {j.kind for m in SMALL.values() for j in m.joints} == set(KINDS)


def test_derivatives_of_inverse_dynamics(small):
    """Along any direction d of coordinates, quaternions included, of speeds and of
    accelerations.
    """
    lanes, generic, q, v, a, d = small
    dq, dv, da = lanes.inverse_dynamics_derivatives(q, v, a)
    close(
        np.einsum("bij,bj->bi", dq, d),
        along(generic, lambda x: generic.inverse_dynamics(x, v, a), q, d),
        1e-7,
    )
    # quadratic in v: exact
    close(np.einsum("bij,bj->bi", dv, d), (generic.bias(q, v + d) - generic.bias(q, v - d)) / 2)
    close(da, generic.mass_matrix(q))


def test_derivatives_of_forward_dynamics(small):
    """The same of the accelerations; with loops these are the accelerations under their rows."""
    lanes, generic, q, v, tau, d = small

    def accelerations(q, v, tau):
        """Also off the rows, where a derivative by differences must go."""
        return generic.evaluate("forward_dynamics", q, v, tau, check=False)[0]

    fq, fv, ft = lanes.evaluate("forward_dynamics_derivatives", q, v, tau, check=False)
    close(
        np.einsum("bij,bj->bi", fq, d),
        along(generic, lambda x: accelerations(x, v, tau), q, d),
        1e-6,
    )
    h = 1e-3
    there, back = (accelerations(q, v + s * d, tau) for s in (h, -h))
    close(np.einsum("bij,bj->bi", fv, d), (there - back) / (2 * h), 1e-8)
    there, back = (accelerations(q, v, tau + s * d) for s in (1.0, -1.0))
    close(np.einsum("bij,bj->bi", ft, d), (there - back) / 2, 1e-10)


def test_derivatives_are_those_of_inverse_functions(small):
    """Of a tree: a(q, v, tau(q, v, a)) = a, so that da/dx = - M^-1 dtau/dx."""
    lanes, generic, q, v, a, _ = small
    dq, dv, da = lanes.inverse_dynamics_derivatives(q, v, a)
    tau = generic.inverse_dynamics(q, v, a)
    fq, fv, ft = lanes.evaluate("forward_dynamics_derivatives", q, v, tau, check=False)
    if generic.rows:
        A = generic.constraint_rows(q, v)[3]
        close(A @ ft, 0 * A, 1e-9)  # no force of the joints accelerates the rows
        return
    close(ft @ da, np.broadcast_to(np.eye(generic.nv), da.shape), 1e-9)
    close(fq, -ft @ dq, 1e-9)
    close(fv, -ft @ dv, 1e-9)


@pytest.mark.parametrize("life", LIVES)
def test_each_axis_of_a_ball_has_its_own_armature(life):
    plain = random_tree(22, ["ball", "revolute"])
    rotors = np.array([0.2, 0.7, 1.9])
    geared = plain.with_(
        joints=(replaced(plain.joints[0], armature=tuple(rotors)), plain.joints[1])
    )
    machine = compile(geared, life=life)
    without = compile(plain, life=life)
    rng = np.random.default_rng(5)
    q = machine.sample(rng, BATCH)
    v, a = rng.standard_normal((2, BATCH, machine.nv))
    close(
        machine.mass_matrix(q) - without.mass_matrix(q),
        np.broadcast_to(np.diag([*rotors, 0.0]), (BATCH, 4, 4)),
    )
    close(
        machine.inverse_dynamics(q, v, a) - without.inverse_dynamics(q, v, a),
        np.array([*rotors, 0.0]) * a,
    )
    close(machine.forward_dynamics(q, v, machine.inverse_dynamics(q, v, a)), a, 1e-10)
    close(
        np.subtract(machine.energy(q, v), without.energy(q, v))[0], 0.5 * (v[:, :3] ** 2 @ rotors)
    )


@pytest.mark.parametrize("life", LIVES)
def test_gimbal_lock_is_said_and_a_great_force_is_not_taken_for_it(life):
    """Near the lock accelerations grow as 1 / cos^2; 1e-7 rad from it they are 1e14, finite, and
    nothing but rounding.
    """
    machine = compile(random_tree(24, ["gimbal"]), life=life)
    q = np.array([[0.3, np.pi / 2 - 1e-7, 0.1]] * 2)
    still = np.zeros((2, 3))
    with pytest.raises(SingularError, match=r"'gimbal0.*gimbal lock"):
        machine.forward_dynamics(q, still, still + [1.0, 2.0, 3.0])
    tau = still + 1e14
    close(
        machine.forward_dynamics(0.5 * q, still, tau),
        np.linalg.solve(machine.mass_matrix(0.5 * q), tau[..., None])[..., 0],
        1e-9,
    )


@pytest.mark.parametrize("name", TREES)
def test_both_lives_give_the_same_numbers(name):
    one = compile(TREES[name], life="generic")
    two = compile(TREES[name], life="lanes")
    rng = np.random.default_rng(6)
    q = one.sample(rng, 7)
    v, a = rng.standard_normal((2, 7, one.nv))
    frame = one.mechanism.bodies[-1].name
    for quantity, given in (
        ("inverse_dynamics", (q, v, a)),
        ("mass_matrix", (q,)),
        ("bias", (q, v)),
        ("gravity", (q,)),
        ("coriolis_matrix", (q, v)),
        ("pose", (q, frame)),
        ("jacobian", (q, frame)),
        ("frame_velocity", (q, v, frame)),
        ("frame_acceleration", (q, v, a, frame)),
        ("jacobian_rate", (q, v, frame)),
    ):
        close(getattr(one, quantity)(*given), getattr(two, quantity)(*given), 1e-12)
    close(one.energy(q, v), np.array(two.energy(q, v)), 1e-12)
    tau = one.inverse_dynamics(q, v, a)
    close(one.forward_dynamics(q, v, tau), two.forward_dynamics(q, v, tau), 1e-10)
    for joint, W in one.reactions(q, v, a).items():
        close(W, two.reactions(q, v, a)[joint], 1e-12)


def test_one_state_is_a_batch_of_one():
    machine = compile(TREES["every_kind_tree"])
    rng = np.random.default_rng(9)
    q = machine.sample(rng, 3)
    v, a = rng.standard_normal((2, 3, machine.nv))
    for k in range(3):
        close(
            machine.inverse_dynamics(q[k], v[k], a[k]), machine.inverse_dynamics(q, v, a)[k], 1e-12
        )
        close(machine.mass_matrix(q[k]), machine.mass_matrix(q)[k], 1e-12)


def test_any_leading_shape_is_a_batch_and_arguments_broadcast():
    machine = compile(TREES["arm"])
    rng = np.random.default_rng(10)
    q = machine.sample(rng, 2, 3)
    v = rng.standard_normal((3, 6))
    tau = machine.inverse_dynamics(q, v, np.zeros(6))
    assert tau.shape == (2, 3, 6)
    close(tau[1, 2], machine.inverse_dynamics(q[1, 2], v[2], np.zeros(6)))
    assert machine.inverse_dynamics(np.zeros((0, 6)), np.zeros((0, 6)), np.zeros((0, 6))).shape == (
        0,
        6,
    )
    assert machine.pose(q, "link6").shape == (2, 3, 4, 4)


@pytest.mark.parametrize("life", ["generic", "lanes"])
def test_the_rotor_of_a_follower_counts_by_its_ratio_squared(life):
    with_rotor, without = (compile(follower(x), life=life) for x in (0.7, 0.0))
    q = with_rotor.sample(np.random.default_rng(0), 4)
    added = with_rotor.mass_matrix(q) - without.mass_matrix(q)
    wanted = np.zeros_like(added)
    wanted[:, 0, 0] = 0.7 * 2**2
    np.testing.assert_allclose(added, wanted, atol=1e-12)
