"""What an independent review found wrong, each as the example that showed it."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest
import sympy

import catena
import zoo
from catena import Body, Frame, Joint, Mechanism, Mimic, Pose
from catena.certify.certificate import random_states
from catena.errors import FormulationError, MechanismError, StateError
from catena.machine.reactions import reactions
from catena.model.loads import SpeedRow, Spring

EXACT = [name for name in catena.ALL_FORMULATIONS if name != "penalty"]


def follower(armature: float = 0.7, **more: object) -> Mechanism:
    """A leader with a rotor, and a slide that follows it with a rotor of its own."""
    rng = np.random.default_rng(1)
    place = zoo.random_pose(rng)
    joints = [
        Joint("leader", "revolute", "ground", "a", place, axis=(1, 2, 3), armature=0.3),
        Joint("slide", "prismatic", "a", "b", place, axis=(0, 1, 1), mimic=Mimic("leader", -2, 0.3), armature=armature),
        Joint("wrist", "ball", "b", "c", place),
    ]
    return Mechanism("follower", [zoo.random_body(rng, n) for n in "abc"], joints, **more)  # type: ignore[arg-type]


def still() -> Mechanism:
    """A mechanism in which nothing moves."""
    rng = np.random.default_rng(2)
    joints = [Joint("foot", "fixed", "ground", "a", zoo.random_pose(rng)), Joint("weld", "fixed", "a", "b", zoo.random_pose(rng))]
    return Mechanism("still", [zoo.random_body(rng, n) for n in "ab"], joints)


# ------------------------------------------------------------------------------------------ mechanisms
@pytest.mark.parametrize("life", ["generic", "lanes"])
def test_the_rotor_of_a_follower_counts_by_its_ratio_squared(life):
    with_rotor, without = (catena.compile(follower(x), life=life) for x in (0.7, 0.0))
    q = with_rotor.sample(np.random.default_rng(0), 4)
    added = with_rotor.mass_matrix(q) - without.mass_matrix(q)
    wanted = np.zeros_like(added)
    wanted[:, 0, 0] = 0.7 * 2**2
    np.testing.assert_allclose(added, wanted, atol=1e-12)


def test_the_formulations_agree_on_the_rotor_of_a_follower():
    certificate = catena.check(follower(), formulations=EXACT, states=20, run=False)
    assert certificate.passed, str(certificate)


def closed(**more: object) -> dict:
    """A body on two joints, the second a loop."""
    rng = np.random.default_rng(3)
    pin = {"placement": Pose(position=(1, 0, 0)), "axis": (0, 1, 0)}
    return {
        "bodies": [zoo.random_body(rng, n) for n in "abc"],
        "joints": [
            Joint("first", "revolute", "ground", "a", axis=(0, 1, 0)),
            Joint("second", "revolute", "a", "b", **pin),
            Joint("third", "revolute", "b", "c", **pin, mimic=more.get("mimic")),
        ],
        "loops": [Joint("closing", "revolute", "ground", "b", **pin, offset=Pose(position=(1, 0, 0)), **more.get("loop", {}))],
    }


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"mimic": Mimic("closing")}, "'third' mimics 'closing', which closes a loop"),
        ({"mimic": Mimic("first", float("nan"))}, "both are finite"),
        ({"loop": {"mimic": Mimic("first")}}, "loop 'closing' mimics 'first'"),
    ],
)
def test_mimics_that_have_no_coordinate_are_refused(more, words):
    with pytest.raises(MechanismError, match=words):
        Mechanism("m", **closed(**more)).validate()


def test_what_a_loop_cannot_use_is_a_doubt():
    from catena.model.validation import doubts

    m = Mechanism("m", **closed(loop={"damping": 2.0, "lower": -1.0}))
    assert any("'closing'" in d and "damping and limits" in d for d in doubts(m))


def test_two_coordinates_of_one_name_are_refused():
    rng = np.random.default_rng(0)
    joints = [Joint("u", "universal", "ground", "a"), Joint("u.first", "revolute", "a", "b")]
    with pytest.raises(MechanismError, match=r"both have a coordinate called 'u\.first'"):
        Mechanism("m", [zoo.random_body(rng, n) for n in "ab"], joints).validate()


def test_symbols_with_assumptions_are_parameters_like_any():
    m, l = sympy.symbols("m l", positive=True)
    rod = Mechanism("rod", [Body("rod", m, (l, 0, 0), (0, m * l**2, m * l**2))],
                    [Joint("pin", "revolute", "ground", "rod", Pose(position=(l, 0, 0)), axis=(0, 1, 0))],
                    parameters={"m": 2.0, "l": 0.5})  # fmt: skip
    for life in ("generic", "lanes"):
        np.testing.assert_allclose(catena.compile(rod, life=life).mass_matrix([0.3]), [[1.0]])


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: Body("rod", "10 kg", (0, 0, 0), (1, 1, 1)), "body 'rod': mass is '10 kg'"),
        (lambda: Body("rod", 1, (0, 0), (1, 1, 1)), "body 'rod': com"),
        (lambda: Body("rod", 1, (0, 0, 0), (1, 1)), "body 'rod': an inertia has"),
        (lambda: Joint("pin", "revolute", "ground", "a", axis="x"), "joint 'pin': axis is 'x'"),
        (lambda: Joint("pin", "revolute", "ground", "a", axis=(sympy.Symbol("l"), 0, 0)), "joint 'pin': axis"),
        (lambda: Mechanism("m", [Body.massless("a")], [], gravity=(0, 0)), "gravity"),
        (lambda: Mechanism("m", Body.massless("a"), []), "bodies is a Body"),
    ],
)
def test_what_cannot_be_read_is_named(build, words):
    with pytest.raises(MechanismError, match=words):
        build()


def test_axes_may_be_an_array():
    assert Joint("u", "universal", "ground", "a", axis=np.eye(3)[:2]).axis == ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))


# ------------------------------------------------------------------------------------------ machines
def test_a_batch_of_three_over_threads_is_a_batch_like_any():
    n = 700
    rod = {"mass": 1.0, "com": (0.05, 0, 0), "inertia": (0.01, 0.01, 0.01)}
    at = Pose.turn("x", 0.3, position=(0.1, 0, 0))
    joints = [Joint(f"j{i}", "revolute", f"b{i - 1}" if i else "ground", f"b{i}", at) for i in range(n)]
    frames = [Frame("tip", f"b{n - 1}", Pose(position=(0.1, 0.2, 0.3)))]
    chain = Mechanism("chain", [Body(f"b{i}", **rod) for i in range(n)], joints, frames)
    two, one = (catena.compile(chain, threads=k, life="generic") for k in (2, 1))
    q = 0.1 * np.random.default_rng(0).standard_normal((3, n))
    np.testing.assert_array_equal(two.pose(q, "tip"), one.pose(q, "tip"))
    push = {("tip", "world"): np.ones(6)}
    np.testing.assert_array_equal(two.inverse_dynamics(q, q, q, push), one.inverse_dynamics(q, q, q, push))


def test_a_machine_survives_copying_and_pickling(tmp_path):
    machine = catena.compile(follower())
    q = machine.sample(np.random.default_rng(0))
    wanted = machine.gravity(q)
    twin = copy.deepcopy(machine)
    assert twin._router.generic.structure is not machine._router.generic.structure
    np.testing.assert_allclose(twin.gravity(q), wanted)
    (tmp_path / "machine").write_bytes(pickle.dumps(machine))
    np.save(tmp_path / "q.npy", q)
    code = "import pickle, numpy; print(list(pickle.load(open('machine', 'rb')).gravity(numpy.load('q.npy')).round(9).tolist()))"
    there = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert there.stdout.strip() == str(wanted.round(9).tolist())


@pytest.mark.parametrize("life", ["auto", "generic", "lanes"])
def test_batches_of_no_state_keep_their_shape(life):
    machine = catena.compile(follower(), life=life)
    q, v = np.zeros((0, machine.nq)), np.zeros((2, 0, machine.nv))
    assert machine.inverse_dynamics(q, v, v).shape == (2, 0, machine.nv)
    assert machine.inverse_dynamics(q, v, v, {"c": np.zeros((0, 6))}).shape == (2, 0, machine.nv)
    assert machine.mass_matrix(q).shape == (0, machine.nv, machine.nv)
    assert machine.pose(q, "c").shape == (0, 4, 4)
    assert machine.reactions(q, v, v)["wrist"].shape == (2, 0, 6)
    assert machine.gravity(machine.neutral(), parameters={}).shape == (machine.nv,)


def test_a_state_with_strides_goes_through_the_lanes():
    machine = catena.compile(follower(), life="lanes")
    q = machine.sample(np.random.default_rng(0), 5)
    np.testing.assert_allclose(machine.gravity(np.asfortranarray(q)[2]), machine.gravity(q)[2])


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda m, q, v: m.bias(np.tile(q, (5, 1)), np.tile(v, (3, 1))), r"do not fit together: q \(5,\), v \(3,\)"),
        (lambda m, q, v: m.bias(q, v, {"c": np.zeros((2, 6)), "b": np.zeros((3, 6))}), "do not fit together: c"),
        (lambda m, q, v: m.bias(q, v, {"c": [0, 0, np.nan, 0, 0, 0]}), "wrenches hold a number that is not finite"),
        (lambda m, q, v: m.bias(q, v, {"c": "abc"}), "the wrench at 'c' is a str"),
        (lambda m, q, v: m.bias(q, v, {("c", "world", 1): np.zeros(6)}), "at a frame, or at"),
        (lambda m, q, v: m.bias(q + 0j, v), "not an array of real numbers"),
        (lambda m, q, v: m.move(q[:2], v), r"move: q has shape \(2,\)"),
        (lambda m, q, v: catena.compile(m.mechanism, threads=-1), "threads is -1"),
        (lambda m, q, v: catena.compile(m.mechanism, snap=float("nan")), "snap is nan"),
        (lambda m, q, v: catena.compile("two_link_arm"), "made of a Mechanism, not of a str"),
    ],
)
def test_bad_arguments_are_named(ask, words):
    machine = catena.compile(follower())
    q = machine.neutral()
    with pytest.raises(StateError, match=words):
        ask(machine, q, np.zeros(machine.nv))


@pytest.mark.parametrize("life", ["auto", "generic", "lanes"])
def test_a_mechanism_that_cannot_move_answers_what_it_can(life):
    machine, q, v = catena.compile(still(), life=life), np.zeros((3, 0)), np.zeros((3, 0))
    assert machine.mass_matrix(q).shape == (3, 0, 0)
    assert machine.jacobian(q, "b").shape == (3, 6, 0)
    assert machine.pose(q, "b").shape == (3, 4, 4)
    assert machine.energy(q, v)[0].shape == (3,)
    weight = 9.81 * sum(b.mass for b in still().bodies)
    np.testing.assert_allclose(np.linalg.norm(machine.reactions(q, v, v)["foot"][:, 3:], axis=-1), weight)
    for ask in (machine.momentum, lambda q, v: machine.forward_dynamics_derivatives(q, v, v)):
        with pytest.raises(StateError, match="nothing of mechanism 'still' moves"):
            ask(q, v)
    for ask in (catena.check, catena.compare):
        with pytest.raises(FormulationError, match="'still' has no motion"):
            ask(still())


# ------------------------------------------------------------------------------------------ formulations
@pytest.mark.parametrize("by", EXACT)
def test_compile_takes_equations_and_their_formulation(by):
    arm = catena.load("two_link_arm")
    machine, derived = catena.compile(arm), catena.compile(catena.derive(arm, by=by))
    rng = np.random.default_rng(0)
    q, v, tau = rng.standard_normal((3, 7, 2))
    push = {("tip", "world"): rng.standard_normal(6)}
    close = {"rtol": 1e-9, "atol": 1e-9}
    for p in (None, {"m2": np.linspace(1, 2, 7)}):
        np.testing.assert_allclose(derived.forward_dynamics(q, v, tau, push, p), machine.forward_dynamics(q, v, tau, push, p), **close)
    np.testing.assert_allclose(catena.compile(arm, by=by).forward_dynamics(q[0], v[0], tau[0]),
                               machine.forward_dynamics(q[0], v[0], tau[0]), **close)  # fmt: skip
    assert by in repr(copy.deepcopy(derived))


def test_compile_refuses_a_formulation_that_does_not_exist():
    with pytest.raises(FormulationError, match="no formulation 'lagrnge'.*Did you mean 'lagrange'"):
        catena.compile(catena.load("two_link_arm"), by="lagrnge")


@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "bricard", "two_four_bars"])
def test_the_certificate_holds_for_closed_examples(name):
    """bricard has a row too many where it is closed, and only there."""
    certificate = catena.check(catena.load(name), formulations=EXACT, states=20, run=False)
    assert certificate.passed, str(certificate)
    assert sum(f.reactions is not None for f in certificate.findings) >= 2


def test_recursive_reactions_know_of_loops():
    mechanism = catena.load("four_bar")
    machine, e = catena.compile(mechanism), catena.derive(mechanism)
    q, v, tau, _ = random_states(machine, 3, 0)
    for k in range(3):
        found = np.array(e.reactions(0, q[k], v[k], tau[k], e.parameters))
        wanted = reactions(machine, q[k], v[k], machine.forward_dynamics(q[k], v[k], tau[k]), tau[k])
        wanted = np.array([wanted[j.name] for j in mechanism.ordered])
        known = np.isfinite(wanted)
        np.testing.assert_allclose(found[known], wanted[known], rtol=1e-9, atol=1e-9)


def test_kane_leaves_out_rows_that_follow_from_others():
    mechanism = catena.load("bricard")
    e, machine = catena.derive(mechanism, by="kane"), catena.compile(mechanism)
    assert e.multipliers.size1_out(0) == len(machine.rows) == 5
    assert e.counts.largest_matrix == 1


def test_one_answer_that_is_no_number_does_not_hide_the_others():
    from catena.certify.certificate import _middle

    np.testing.assert_array_equal(_middle([np.array([1.0, 2.0]), np.array([np.nan, 2.0]), np.array([1.0, np.inf])]), [1.0, 2.0])


def test_a_loop_that_says_nothing_new_leaves_the_mechanism_as_it_is():
    """A planar joint on a chain that is planar already has no row that acts."""
    rng = np.random.default_rng(4)
    joints = [Joint("one", "revolute", "ground", "a"), Joint("two", "revolute", "a", "b", Pose(position=(1, 0, 0)))]
    tree = Mechanism("m", [zoo.random_body(rng, n) for n in "ab"], joints)
    same = tree.with_(loops=[Joint("glass", "planar", "ground", "b")])
    q, v, tau = rng.standard_normal((3, 4, 2))
    wanted = catena.compile(tree).forward_dynamics(q, v, tau)
    for life in ("generic", "lanes"):
        machine = catena.compile(same, life=life)
        assert machine.rows == ()
        np.testing.assert_allclose(machine.forward_dynamics(q, v, tau), wanted)
        np.testing.assert_allclose(machine.forward_dynamics(q[0], v[0], tau[0]), wanted[0])
    np.testing.assert_allclose(catena.compile(catena.derive(same)).forward_dynamics(q, v, tau), wanted)


def test_a_loop_that_closes_nothing_is_refused():
    with pytest.raises(MechanismError, match="loop 'nothing' is free"):
        follower(loops=[Joint("nothing", "free", "ground", "c")]).validate()


def test_one_speed_under_rows_keeps_the_matrix_a_matrix():
    rng = np.random.default_rng(5)
    rail = Mechanism("rail", [zoo.random_body(rng, "a")], [Joint("slide", "prismatic", "ground", "a")],
                     loops=[Joint("stop", "fixed", "ground", "a")])  # fmt: skip
    for life in ("generic", "lanes"):
        machine = catena.compile(rail, life=life)
        for q in (np.zeros(1), np.zeros((4, 1))):
            *_, A = machine.constraint_rows(q, q)
            assert A.shape == (*q.shape[:-1], len(machine.rows), 1)


def rail(**more: object) -> Mechanism:
    return Mechanism("rail", [Body("a", 1.0, (0, 0, 0), (1, 1, 1))], [Joint("slide", "prismatic", "ground", "a")], **more)  # type: ignore[arg-type]


def test_a_row_without_a_speed_is_refused():
    with pytest.raises(MechanismError, match="row 'r': 'q_slide' has no speed in it"):
        catena.compile(rail(nonholonomic=[SpeedRow("r", "q_slide")]))


def test_a_spring_whose_ends_meet_is_named():
    machine = catena.compile(rail(loads=[Spring("coil", "ground", "a", 10.0, 0.3)]))
    assert np.isfinite(machine.forward_dynamics([0.1], [0.0], [0.0])).all()
    for q in (np.zeros(1), np.array([[0.1], [0.0]])):
        with pytest.raises(StateError, match="the ends of spring 'coil', 'ground' and 'a', lie in one point"):
            machine.forward_dynamics(q, np.zeros(1), np.zeros(1))


# ------------------------------------------------------------------------------------------ other people's conventions
PLANAR = """<robot name="r"><link name="base"/>{links}
<joint name="table" type="planar"><parent link="base"/><child link="l1"/><origin xyz="0.1 0.2 0.3" rpy="0.3 0.2 0.1"/><axis xyz="{axis}"/></joint>
<joint name="arm" type="revolute"><parent link="l1"/><child link="l2"/><origin xyz="0.1 0.2 0.3" rpy="0.3 0.2 0.1"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""
LINK = """<link name="{}"><inertial><origin xyz="0.1 0 0.3" rpy="0.1 0.2 0.3"/><mass value="1"/>
<inertia ixx="1" ixy="0.1" ixz="0" iyy="1.2" iyz="0" izz="1.1"/></inertial></link>"""


def test_planar_joints_cross_the_bridge_to_pinocchio(tmp_path):
    pin = pytest.importorskip("pinocchio")
    text = PLANAR.format(links=LINK.format("l1") + LINK.format("l2"), axis="0 0 1")
    (tmp_path / "r.urdf").write_text(text)
    machine = catena.compile(catena.load(tmp_path / "r.urdf"))
    model = pin.buildModelFromXML(text)
    over, rng = catena.bridge.bridge(machine, "pinocchio"), np.random.default_rng(0)
    q, v, a = rng.standard_normal((3, machine.nv))
    assert over.peer_nq == model.nq
    found = pin.rnea(model, model.createData(), over.q_to(q), over.v_to(q, v), over.a_to(q, v, a))
    np.testing.assert_allclose(over.tau_to(q, machine.inverse_dynamics(q, v, a)), found, atol=1e-12)
    np.testing.assert_allclose(over.q_from(over.q_to(q)), q, atol=1e-12)
    np.testing.assert_allclose(over.v_from(q, over.v_to(q, v)), v, atol=1e-12)
    np.testing.assert_allclose(over.a_from(q, v, over.a_to(q, v, a)), a, atol=1e-12)
    (tmp_path / "tilted.urdf").write_text(text.replace('<axis xyz="0 0 1"/>', '<axis xyz="1 0 0"/>'))
    with pytest.raises(StateError, match="'table' is planar with a normal that is not z"):
        catena.bridge.bridge(catena.compile(catena.load(tmp_path / "tilted.urdf")), "pinocchio")
