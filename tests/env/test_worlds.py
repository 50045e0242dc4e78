"""Worlds against Gymnasium's own equations, MuJoCo, and each other."""

import warnings
from dataclasses import replace

import gymnasium
import mujoco
import numpy as np
import onnxruntime
import pytest

import catena
from catena import env
from catena.compiler.counter_random import philox, uniform
from catena.env.tasks import gymnasium_asset
from catena.errors import FormatError, QuestionError, UnknownNameError

F = 0xFFFFFFFF
CLASSIC = {"cart_pole": "CartPole-v1", "pendulum": "Pendulum-v1", "acrobot": "Acrobot-v1"}
# where Gymnasium keeps the state: places of q and v in it
PLACES = {"cart_pole": ([0, 2], [1, 3]), "pendulum": ([0], [1]), "acrobot": ([0, 1], [2, 3])}


@pytest.mark.parametrize(
    "counter, key, words",
    [
        ([0] * 4, [0] * 2, "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        ([F] * 4, [F] * 2, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        (
            [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
            [0xA4093822, 0x299F31D0],
            "d16cfe09 94fdcceb 5001e420 24126ea1",
        ),
    ],
)
def test_philox_known_answers(counter, key, words):
    """The known answers of Random123 [Salmon2011]."""
    assert philox(*counter, *key) == tuple(int(w, 16) for w in words.split())


def test_uniform_in_machine_code_is_philox_in_python():
    out = uniform(2**40 + 7, 3, np.array([5, 9]), np.array([1, 2]), np.empty((2, 3)))
    for row, first, second in zip(out, (5, 9), (1, 2), strict=False):
        words = [philox(block, first, second, 3, 7, 2**8) for block in (0, 1)]
        pairs = [w[k : k + 2] for w in words for k in (0, 2)]
        expected = [((a >> 5) * 2**26 + (b >> 6)) * 2.0**-53 + 2.0**-54 for a, b in pairs]
        assert (row == expected[:3]).all()


@pytest.mark.parametrize("name", CLASSIC)
def test_classic_task_follows_gymnasium(name):
    """States to rounding, rewards and ends exactly, over 60 steps of five worlds."""
    e = env.task(name)
    worlds = env.Worlds(e, 5, seed=1, autoreset="off")
    worlds.reset()
    peers = [gymnasium.make(CLASSIC[name]).unwrapped for _ in range(5)]
    q, v = PLACES[name]
    for k, peer in enumerate(peers):
        peer.reset(seed=0)
        peer.state = np.empty(len(q) + len(v))
        peer.state[q], peer.state[v] = worlds.q[k], worlds.v[k]
    rng = np.random.default_rng(0)
    for _n in range(60):
        actions = rng.integers(0, len(e.choices), 5) if e.choices else rng.uniform(-3, 3, (5, 1))
        seen, paid, ended, _ = worlds.step(actions)
        for k, peer in enumerate(peers):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                o, r, over, _, _ = peer.step(actions[k])
            assert seen[k] == pytest.approx(o, abs=2e-6)  # theirs are single
            off = worlds.q[k] - np.array(peer.state)[q]
            if name == "acrobot":
                off = np.angle(np.exp(1j * off))
            assert np.abs(off).max() < 1e-11
            assert np.abs(worlds.v[k] - np.array(peer.state)[v]).max() < 1e-11
            assert over == ended[k]
            if name != "cart_pole":  # which pays nothing after the end
                assert paid[k] == pytest.approx(r, abs=1e-11)


@pytest.mark.parametrize("name, within", [("hopper", 1e-8), ("half_cheetah", 1e-8), ("ant", 1e-8)])
def test_robot_of_gymnasium_follows_mujoco_without_contact(name, within):
    """The same steps of RK4. Ant has a free joint, whose quaternion MuJoCo advances otherwise: both
    converge, so the steps are shorter.
    """
    step = {"step": 0.0005, "time_step": 0.01} if name == "ant" else {}
    e = env.task(name, integrator="rk4", **step)
    worlds = env.Worlds(e, 2, seed=1, autoreset="off")
    worlds.reset()
    m = mujoco.MjModel.from_xml_path(str(gymnasium_asset(name)))
    m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    m.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    m.opt.timestep = e.step
    d = mujoco.MjData(m)
    d.qpos[:], d.qvel[:] = worlds.q[0], worlds.v[0]
    rng = np.random.default_rng(0)
    for _ in range(20):
        actions = rng.uniform(-1, 1, (2, len(e.actions)))
        worlds.step(actions)
        d.ctrl[:] = actions[0]
        for _ in range(e.steps):
            mujoco.mj_step(m, d)
    assert np.abs(worlds.q[0] - d.qpos).max() < within
    assert np.abs(worlds.v[0] - d.qvel).max() < 10 * within


def test_worlds_do_not_depend_on_their_number_or_threads():
    e = env.task("cart_pole", parameters={}, longest=30)
    few, many = (env.Worlds(e, n, seed=5, threads=t) for n, t in ((11, 1), (100, 2)))
    few.reset(), many.reset()
    actions = np.random.default_rng(0).integers(0, 2, (80, 100))
    for a in actions:
        few.step(a[:11]), many.step(a)
        assert (few.q == many.q[:11]).all() and (few.rewards == many.rewards[:11]).all()
        assert (few.observations == many.observations[:11]).all()
        assert (few.terminated == many.terminated[:11]).all()
    assert few.episodes.min() > 0
    many.close()


def test_a_world_that_is_lost_ends_alone():
    e = env.task("pendulum")
    worlds = env.Worlds(e, 8, autoreset="off")
    q, v = np.zeros((8, 1)), np.zeros((8, 1))
    q[3] = np.nan
    worlds.set_states(q, v)
    *_, ended, _ = worlds.step(np.zeros((8, 1)))
    assert ended.tolist() == [k == 3 for k in range(8)]
    assert worlds.rewards[3] == 0.0


def test_autoreset_within_the_step_and_in_the_next():
    e = env.task("cart_pole", longest=5)
    same, later = (env.Worlds(e, 3, seed=2, autoreset=a) for a in ("same_step", "next_step"))
    same.reset(), later.reset()
    for _n in range(5):
        same.step(np.ones(3, int)), later.step(np.ones(3, int))
    assert same.truncated.all() and (same.elapsed == 0).all() and (later.elapsed == 5).all()
    assert (same.final_observations == later.observations).all()
    _, paid, ended, cut = later.step(np.zeros(3, int))
    assert (later.observations == same.observations).all()
    assert (paid == 0).all() and not ended.any() and not cut.any()


def test_parameters_and_starts_are_drawn_anew():
    m = catena.load("cart_pole")
    e = env.Environment(
        m,
        ["x"],
        ["x", "theta"],
        start={"theta": 0.1, "x": {"mean": 2.0, "deviation": 0.1}},
        parameters={"m": (0.1, 0.3)},
        longest=3,
    )
    worlds = env.Worlds(e, 400, seed=1)
    worlds.reset()
    q = worlds.q
    assert (q[:, 1] == 0.1).all() and abs(q[:, 0].mean() - 2) < 0.02
    assert abs(q[:, 0].std() - 0.1) < 0.02
    worlds.step(np.zeros((400, 1)))
    assert np.ptp(worlds.observations[:, 1]) > 1e-6  # masses differ


def test_rewards_as_functions_and_texts_agree():
    text = env.task("pendulum")

    def reward(w):
        off = np.arctan2(np.sin(w.previous_q[:, 0]), np.cos(w.previous_q[:, 0]))
        return -(off**2 + 0.1 * w.previous_v[:, 0] ** 2 + 0.001 * w.actions[:, 0] ** 2)

    one, other = (env.Worlds(e, 9, seed=3) for e in (text, text.with_(reward=reward)))
    one.reset(), other.reset()
    for _ in range(5):
        a = np.linspace(-3, 3, 9)[:, None]
        assert one.step(a)[1] == pytest.approx(other.step(a)[1], abs=1e-12)


def test_gymnasium_checks_the_vector_environment():
    envs = env.VectorEnv(env.task("pendulum", longest=4), 3)
    o, _ = envs.reset(seed=7)
    assert envs.observation_space.contains(o) and envs.single_action_space.shape == (1,)
    again, _ = envs.reset(seed=7)
    assert (o == again).all()
    for _ in range(4):
        o, r, ended, cut, _ = envs.step(envs.action_space.sample())
    assert cut.all() and not ended.any() and r.shape == (3,) and o.dtype == np.float32
    recorded = gymnasium.wrappers.vector.RecordEpisodeStatistics(envs)
    recorded.reset(seed=1)
    for _ in range(4):
        *_, infos = recorded.step(envs.action_space.sample())
    assert (infos["episode"]["l"] == 4).all()


def test_contacts_by_time_stepping_hold_the_ant_up():
    e = env.task("ant", contacts=True, longest=None, alive={})
    worlds = env.Worlds(e, 2, seed=1, autoreset="off")
    worlds.reset()
    for _ in range(20):
        worlds.step(np.zeros((2, 8)))
    assert (worlds.q[:, 2] > 0.2).all() and (worlds.q[:, 2] < 0.9).all()


# --- policies
def test_policy_of_an_onnx_file_is_the_network(tmp_path):
    e = env.task("cart_pole", integrator="rk4")
    network = env.Network.random(np.random.default_rng(0), (4, 16, 16, 2), last=1.0)
    file = network.save(tmp_path / "policy.onnx")
    f = env.read_network(file)
    session = onnxruntime.InferenceSession(str(file))
    o = np.random.default_rng(1).standard_normal((7, 4))
    theirs = session.run(None, {"observations": o})[0]
    assert np.abs(theirs - network(o)).max() < 1e-13
    assert np.abs(theirs - np.array([np.array(f(x[None])).ravel() for x in o])).max() < 1e-13
    starts = [[0.0, 0.1], [0.02, -0.1]]
    run = catena.simulate(
        e.mechanism,
        q=starts,
        until=0.6,
        control=env.Policy(e, file),
        integrator="rk4",
        step=0.02,
        output=0.02,
    )
    worlds = env.Worlds(e, 2, autoreset="off")
    o = worlds.set_states(starts, 0.0)
    for n in range(30):
        o, *_ = worlds.step(network(o).argmax(axis=1))
        assert np.abs(worlds.q - run.data["q"].values[:, n + 1]).max() < 1e-10


def test_policy_with_an_operator_that_is_not_known_is_refused(tmp_path):
    from onnx import TensorProto, helper, save_model

    shape = helper.make_tensor_value_info
    graph = helper.make_graph(
        [helper.make_node("LSTM", ["o"], ["a"])],
        "g",
        [shape("o", TensorProto.FLOAT, [1, 4])],
        [shape("a", TensorProto.FLOAT, [1, 2])],
    )
    save_model(helper.make_model(graph), str(tmp_path / "p.onnx"))
    with pytest.raises(FormatError, match="operator 'LSTM'"):
        env.read_network(tmp_path / "p.onnx")


def test_ppo_learns_to_balance_a_pole():
    """The whole training is in the gallery; here are its first updates."""
    found = env.train(env.task("cart_pole"), steps=60_000, seed=1)
    assert found.returns[0] < 30.0 and max(found.returns) > 60.0


def test_gradients_of_ppo_are_those_of_the_loss():
    """Of a network, by differences."""
    rng = np.random.default_rng(0)
    network = env.Network.random(rng, (3, 5, 2), last=1.0)
    x, w = rng.standard_normal((4, 3)), rng.standard_normal((4, 2))
    _, memory = network.remember(x)
    found = network.backward(memory, w)
    for weight, gradient in zip(network.weights, found, strict=False):
        at = tuple(rng.integers(0, n) for n in weight.shape)
        before = weight[at]
        ends = []
        for h in (1e-6, -1e-6):
            weight[at] = before + h
            ends.append((w * network(x)).sum())
        weight[at] = before
        assert (ends[0] - ends[1]) / 2e-6 == pytest.approx(gradient[at], rel=1e-6)


# --- files and messages
MODEL = """
[[body]]
name = "rod"
mass = "1 kg"
com = [0, 0, "50 cm"]
inertia = [0.1, 0.1, 0]
[[joint]]
name = "pin"
kind = "revolute"
parent = "ground"
child = "rod"
axis = [0, 1, 0]
limits = { effort = "2 N*m" }
[environment]
actions = ["pin"]
observations = ["q['pin']", "v['pin']"]
reward = "-q['pin']^2"
alive = { pin = ["-90 deg", "90 deg"] }
start = { pin = ["-5 deg", "5 deg"], v = { mean = 0, deviation = 0.1 } }
time_step = "10 ms"
step = "5 ms"
longest = 100
"""


def test_environment_of_a_file(tmp_path):
    (tmp_path / "m.toml").write_text(MODEL)
    e = env.read_environment(tmp_path / "m.toml")
    assert e.alive["pin"] == pytest.approx((-np.pi / 2, np.pi / 2)) and e.steps == 2
    assert e.signals.tolist() == [[-2.0, 2.0]]
    assert e.start["v"] == {"mean": 0, "deviation": 0.1}
    worlds = env.Worlds(e, 3)
    worlds.reset()
    assert np.abs(worlds.q).max() < np.radians(5)
    assert worlds.step(np.zeros((3, 1)))[1] == pytest.approx(-(worlds.q[:, 0] ** 2))


def test_faults_of_a_file_are_listed(tmp_path):
    text = MODEL.replace('"90 deg"]', '"90 kg"]').replace("longest", "langest")
    (tmp_path / "m.toml").write_text(text)
    with pytest.raises(FormatError, match="(?s)langest.*90 kg"):
        env.read_environment(tmp_path / "m.toml")


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"observations": []}, "observations is empty"),
        ({"time_step": 0.05, "step": 0.02}, "not a whole number of steps"),
        ({"alive": {"x": (1, -1)}}, "the lower value is first"),
        ({"limits": "stop"}, "needs contact"),
        ({"choices": [[1.0, 2.0]]}, "one signal for each"),
        ({"actions": ["elbow"]}, "no joint or coordinate"),
        ({"integrator": "dop853"}, "no equal explicit steps"),
        ({"reward": "action['pull']"}, "no motor 'pull'|unknown|motor"),
        ({"start": {"y": 1.0}}, "coordinate or speed 'y'"),
        ({"start": {"x": (2.0, 1.0)}}, "it is a number, \\(lowest, highest\\)"),
    ],
)
def test_wrong_environments_are_refused(changes, words):
    with pytest.raises((QuestionError, UnknownNameError), match=words):
        env.Worlds(env.task("cart_pole", **changes), 2)


def test_wrong_actions_are_refused():
    worlds = env.Worlds(env.task("cart_pole"), 2)
    with pytest.raises(QuestionError, match="whole numbers from 0 to 1"):
        worlds.step(np.zeros((2, 1)))
    with pytest.raises(QuestionError, match="number of one of the choices"):
        worlds.step(np.array([0, 2]))
    with pytest.raises(QuestionError, match="one signal per motor: motor"):
        env.Worlds(env.task("pendulum"), 2).step(np.zeros(2))


def test_a_load_that_depends_on_time_is_refused():
    m = catena.load("cart_pole")
    pushed = replace(m, loads=(catena.JointForce("gust", "x", "sin(t)"),))
    with pytest.raises(QuestionError, match="depends on time"):
        env.Worlds(env.Environment(pushed, ["x"], ["x"]), 2)
