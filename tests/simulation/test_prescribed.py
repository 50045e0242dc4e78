"""Prescribed motion: some coordinates are driven, the rest follows; forces against closed forms and
a second route.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from catena.analysis.assembly import assemble
from catena.analysis.hybrid_dynamics import hybrid_dynamics
from catena.analysis.kinematic_drive import kinematics
from catena.errors import (
    CatenaError,
    ClosureError,
    SimulationError,
    SingularError,
    StateError,
    UnknownNameError,
)
from catena.formats import load
from catena.kernels.tree import layout
from catena.machine.machine import compile
from catena.model.mechanism import GROUND, Body, Joint, Mechanism
from catena.model.pose import Pose
from catena.simulation import control as C
from catena.simulation import simulate
from catena.simulation import trajectories as T
from catena.simulation.terms import prescribed
from closed import four_link
from zoo import arm, pendulum, random_tree

Y = (0.0, 1.0, 0.0)
FILE = Path(__file__).parents[1] / "reference" / "passerello1972_space_manipulator.json"


def shaken(axis: tuple) -> Mechanism:
    """A pendulum of 1 kg on a massless rod of 0.5 m, its support on a slide along `axis`; it turns
    about y.

    <-- support -->
          o
          |  0.5 m
         (m)
    """
    bodies = (
        Body("support", 2.0, (0, 0, 0), (1, 1, 1)),
        Body("bob", 1.0, (0, 0, -0.5), (0.0, 0.0, 0.0)),
    )
    return Mechanism(
        "shaken",
        bodies,
        (
            Joint("slide", "prismatic", GROUND, "support", axis=axis),
            Joint("pin", "revolute", "support", "bob", axis=(0, 1, 0)),
        ),
    )


# --- known answers
def test_forced_pendulum() -> None:
    """l f'' = -g sin f + s'' cos f (f about y, so that the bob moves to -x), and the support's
    force is that of both masses.
    """
    A, w, l, g = 0.1, 5.0, 0.5, 9.81
    result = simulate(
        shaken((1, 0, 0)),
        [0, 0.3],
        until=4.0,
        output=0.1,
        motion={"slide": T.sine({"x": A}, w)},
        tolerance=1e-11,
    )
    t = result.time
    f = result.q.values[:, 1]

    def rate(t: float, y: np.ndarray) -> list:
        return [y[1], (-g * np.sin(y[0]) + (-A * w**2 * np.sin(w * t)) * np.cos(y[0])) / l]

    known = solve_ivp(rate, (0, 4), [0.3, 0.0], "DOP853", t, rtol=1e-12, atol=1e-12)
    assert np.abs(f - known.y[0]).max() < 1e-8
    # the driven one is exactly on its motion
    assert np.abs(result.q.values[:, 0] - A * np.sin(w * t)).max() < 1e-14
    v = known.y[1]
    a = np.array([rate(x, y)[1] for x, y in zip(t, known.y.T)])
    s2 = -A * w**2 * np.sin(w * t)
    force = 2.0 * s2 + 1.0 * (s2 - l * (a * np.cos(f) - v**2 * np.sin(f)))
    assert (
        np.abs(result.tau.values[:, 0] - force).max() < 1e-6
        and np.abs(result.tau.values[:, 1]).max() < 1e-12
    )
    assert result.ledger.energy_balance < 1e-8


def test_small_swings_in_closed_form() -> None:
    """f'' + w0^2 f = s''/l: f = B (sin(w t) - w/w0 sin(w0 t)), B = -A w^2/l / (w0^2 - w^2)."""
    A, w, l = 1e-5, 3.0, 0.5
    w0 = np.sqrt(9.81 / l)
    result = simulate(
        shaken((1, 0, 0)),
        until=5.0,
        output=0.1,
        motion={"slide": T.sine({"x": A}, w)},
        tolerance=1e-12,
    )
    B = -A * w**2 / l / (w0**2 - w**2)
    known = B * (np.sin(w * result.time) - w / w0 * np.sin(w0 * result.time))
    assert np.abs(result.q.values[:, 1] - known).max() < 1e-4 * np.abs(known).max()


def test_kapitza() -> None:
    """A support shaken fast enough, A w > sqrt(2 g l), keeps the pendulum upright; a slower one
    does not.
    """

    def swing(w: float) -> np.ndarray:
        motion = {"slide": T.sine({"z": 0.02}, w)}
        return np.abs(
            simulate(shaken((0, 0, 1)), [0, np.pi - 0.1], until=3.0, motion=motion).q.values[:, 1]
            - np.pi
        )

    critical = np.sqrt(2 * 9.81 * 0.5) / 0.02
    assert swing(2.0 * critical).max() < 0.3
    assert swing(0.5 * critical).max() > 1.0


def test_driven_everything_is_inverse_dynamics() -> None:
    machine = compile(arm(4))
    rng = np.random.default_rng(3)
    path = T.cycloid([0, 1], dict(zip(machine.coordinate_names, rng.uniform(-1, 1, (4, 2)))))
    result = simulate(machine, until=1.0, output=0.05, motion=path)
    assert np.allclose(
        result.tau.values, machine.inverse_dynamics(*path(result.time)), rtol=0, atol=1e-9
    )
    assert np.allclose(result.q.values, path(result.time)[0], rtol=0, atol=1e-14)
    assert result.ledger.energy_balance < 1e-7


def test_forces_make_the_motion() -> None:
    """The forces found, played back as a table, make the same motion with nothing driven."""
    machine = compile(pendulum(2, slider=True))
    path = T.quintic([0, 1], {"rail": [0.0, 0.4]})
    result = simulate(machine, [0, 0.4, 0.1], until=1.0, output=0.01, motion=path, tolerance=1e-11)
    played = C.Forces({"rail": T.spline(result.time, {"f": result.tau.values[:, 0]}, ends="free")})
    again = simulate(machine, [0, 0.4, 0.1], until=1.0, output=0.01, control=played)
    assert np.abs(again.q.values - result.q.values).max() < 1e-6


@pytest.mark.parametrize(
    "kinds", [["free", "revolute", "revolute"], ["ball", "prismatic", "universal"]]
)
def test_against_hybrid_dynamics(kinds: list[str]) -> None:
    """At every row the accelerations and forces are those of the question, which shares no code
    with the tape.
    """
    machine = compile(random_tree(11, kinds))
    last = machine.coordinate_names[-1]
    path = T.sine({last: 0.4}, 3.0)
    rng = np.random.default_rng(0)
    q = machine.sample(rng)
    control = C.PD(3.0, 1.0, {machine.coordinate_names[machine.nq - 2]: 0.2}, gravity=False)
    result = simulate(
        machine,
        q,
        0.3 * rng.standard_normal(machine.nv),
        until=1.0,
        output=0.1,
        motion=path,
        control=control,
        tolerance=1e-9,
    )
    for k in (0, 4, 10):
        force = dict(zip(machine.speed_names[:-1], result.tau.values[k]))
        tau, a = hybrid_dynamics(
            machine,
            result.q.values[k],
            result.v.values[k],
            {last: path(result.time[k])[2][0]},
            force,
        )
        assert np.allclose(a, result.a.values[k], atol=1e-8) and np.allclose(
            tau, result.tau.values[k], atol=1e-8
        )
    assert result.ledger.energy_balance < 1e-7


# --- all formulations
@pytest.mark.parametrize("by", ["newton_euler", "lagrange", "hamilton", "kane", "boltzmann_hamel"])
def test_formulations_agree(by: str) -> None:
    """By another formulation the forces come from its own accelerations, a = a0 + W tau."""
    m = pendulum(2, slider=True)
    given = {
        "until": 1.0,
        "output": 0.1,
        "motion": {"rail": T.sine({"x": 0.2}, 4.0)},
        "tolerance": 1e-10,
    }
    known, got = (simulate(m, [0, 0.4, 0.1], by=x, **given) for x in ("recursive", by))  # type: ignore[arg-type]
    assert np.abs(got.q.values - known.q.values).max() < 1e-7
    assert np.abs(got.tau.values - known.tau.values).max() < 1e-5
    assert got.ledger.energy_balance < 1e-7


@pytest.mark.parametrize(
    "integrator, bound",
    [("rk4", 1e-8), ("dopri5", 1e-7), ("gauss4", 1e-7), ("semi_implicit", 5e-3)],
)
def test_integrators_agree(integrator: str, bound: float) -> None:
    given = {"until": 1.0, "output": 0.1, "motion": {"slide": T.sine({"x": 0.2}, 4.0)}}
    known = simulate(shaken((1, 0, 0)), [0, 0.3], tolerance=1e-11, **given)  # type: ignore[arg-type]
    got = simulate(shaken((1, 0, 0)), [0, 0.3], integrator=integrator, step=1e-3, **given)  # type: ignore[arg-type]
    assert np.abs(got.q.values - known.q.values).max() < bound


def test_batch_is_single_runs() -> None:
    q = np.array([[0, x] for x in np.linspace(-1, 1, 6)])
    motion = {"slide": T.cycloid([0.0, 0.5], {"x": [0.0, 0.3]})}
    many = simulate(shaken((1, 0, 0)), q, until=1.0, output=0.1, motion=motion, tolerance=1e-10)
    for k in (0, 5):
        one = simulate(
            shaken((1, 0, 0)), q[k], until=1.0, output=0.1, motion=motion, tolerance=1e-10
        )
        assert np.abs(many.q.values[k] - one.q.values).max() < 1e-8


# --- [Passerello1972]
def space_manipulator(base: str) -> Mechanism:
    """[Passerello1972] figure 10: a hull with two arms of two rods, a disk at each end; slug, inch,
    second.

    disk-fore-o-upper-o[hull]o-upper-o-fore-disk
    """
    # the mass centre of rod and disk together is 24 in from the elbow
    rod, disk, c = 0.5, 0.25, 24.0
    I = 54 + rod * (18 - c) ** 2 + 0.5 + disk * (36 - c) ** 2
    bodies = [Body("hull", 10.0, (0, 0, 0), (240, 240, 240))]
    joints = [Joint("base", "free", GROUND, "hull")]
    if base == "angles":
        bodies.insert(0, Body.massless("carrier"))
        joints = [
            Joint("place", "general", GROUND, "carrier", sequence=("Dx", "Dy", "Dz")),
            Joint("turn", "gimbal", "carrier", "hull"),
        ]
    for k in "AB":
        bodies += [
            Body(f"upper{k}", rod, (0, 0, -18), (54, 54, 0)),
            Body(f"fore{k}", rod + disk, (0, 0, -c), (I, I, 1)),
        ]
        joints += [
            Joint(f"shoulder{k}", "gimbal", "hull", f"upper{k}", Pose(position=(0, 0, -6))),
            Joint(
                f"elbow{k}", "revolute", f"upper{k}", f"fore{k}", Pose(position=(0, 0, -36)), axis=Y
            ),
        ]
    return Mechanism("space_manipulator", tuple(bodies), tuple(joints), gravity=(0, 0, 0))


def arms(known: dict) -> T.Trajectory:
    """All arm angles by eq. 5.1 in one second. The second shoulder starts in gimbal lock: nothing
    is solved for it.
    """
    names = [
        f"{joint}{k}{label}"
        for k in "AB"
        for joint, labels in (("shoulder", (".rx", ".ry", ".rz")), ("elbow", ("",)))
        for label in labels
    ]
    return T.cycloid(
        [0, 1],
        {n: np.radians(pair) for n, *pair in zip(names, known["start_deg"], known["end_deg"])},
    )


def test_seed_003_hull_drifts() -> None:
    """Problem one: the arms move, the free hull moves against them."""
    known = json.loads(FILE.read_text())
    motion = arms(known)
    result = simulate(
        space_manipulator("angles"), until=1.0, output=known["t"], motion=motion, tolerance=1e-11
    )
    assert np.abs(result.q.values[:, :6] - known["base_pose_free"]).max() < 1e-10
    # of 1600 slug in2/s2
    assert np.abs(result.tau.values[:, :6]).max() < 1e-9 and result.ledger.energy_balance < 1e-6
    machine = compile(space_manipulator("free"))
    free = simulate(machine, until=1.0, output=known["t"], motion=motion, tolerance=1e-11)
    assert np.abs(free.q.values[:, :3] - np.array(known["base_pose_free"])[:, :3]).max() < 1e-10
    momentum = machine.momentum(free.q.values, free.v.values)
    assert max(np.abs(momentum["linear"]).max(), np.abs(momentum["angular"]).max()) < 1e-6


@pytest.mark.parametrize(
    "base, held", [("angles", {"place": "locked", "turn": "locked"}), ("free", {"base": "locked"})]
)
def test_seed_003_hull_held(base: str, held: dict) -> None:
    """Problem two: what holds the hull, and what the arms take."""
    known = json.loads(FILE.read_text())
    motion = arms(known)
    result = simulate(
        space_manipulator(base),
        until=1.0,
        output=known["t"],
        motion={n: motion.of([n]) for n in motion.names} | held,
    )
    for got, name in (
        (result.tau.values[:, :6], "holding_wrench_base_fixed"),
        (result.tau.values[:, 6:], "joint_torques_base_fixed"),
    ):
        assert np.abs(got - known[name]).max() < 1e-9 * np.abs(known[name]).max()
    assert np.ptp(result.q.values[:, :6], axis=0).max() == 0.0


# --- loops
def crank() -> Mechanism:
    """A four-bar in the x-z plane: crank 0.3 m, coupler 0.9 m, rocker 0.7 m, the two pivots 1 m
    apart.

        o-----------o
       /             \\
      o crank         o rocker
    """
    rod = lambda name, m, l: Body(name, m, (0, 0, l / 2), (m * l * l / 12, m * l * l / 12, 0))  # noqa: E731
    up = lambda l: Pose(position=(0, 0, l))  # noqa: E731
    return Mechanism(
        "crank",
        (rod("crank", 0.5, 0.3), rod("coupler", 1.5, 0.9), rod("rocker", 1.0, 0.7)),
        (
            Joint("drive", "revolute", GROUND, "crank", axis=Y),
            Joint("joint", "revolute", "crank", "coupler", up(0.3), axis=Y),
            Joint("rock", "revolute", GROUND, "rocker", Pose(position=(1, 0, 0)), axis=Y),
        ),
        loops=(Joint("close", "revolute", "coupler", "rocker", up(0.9), axis=Y, offset=up(0.7)),),
    )


def test_driven_crank() -> None:
    """A crank at constant speed: the rest by kinematics, the torque by the power that goes into
    energy.
    """
    machine = compile(crank())
    q, _ = assemble(machine, [0.2, 1.0, -0.2])
    motion = T.Trajectory(
        ("drive",), np.zeros(0), np.zeros((1, 1)), np.array([[[q[0], 4.0]]]), np.zeros((1, 1, 3))
    )
    result = simulate(machine, q, until=2.0, output=0.05, motion=motion, tolerance=1e-10)
    assert np.abs(result.q.values[:, 0] - (q[0] + 4.0 * result.time)).max() < 1e-12
    moved = kinematics(machine, {"drive": (result.q.values[:, 0], np.full(41, 4.0))}, guess=q)
    assert (
        np.abs(result.q.values - moved.q).max() < 1e-8
        and np.abs(result.v.values - moved.v).max() < 1e-8
    )
    assert np.abs(result.a.values - moved.a).max() < 1e-6
    tau, _ = hybrid_dynamics(machine, result.q.values[7], result.v.values[7], {"drive": 0.0})
    assert np.allclose(result.tau.values[7], tau, atol=1e-8)
    assert result.ledger.closure < 1e-9 and result.ledger.energy_balance < 1e-7


def test_start_is_closed_by_the_others() -> None:
    """The start given is of another crank angle: the driven coordinate is put on its motion, the
    others close the loop.
    """
    machine = compile(crank())
    q, _ = assemble(machine, [0.2, 1.0, -0.2])
    result = simulate(machine, q, until=0.2, motion={"drive": T.cubic([0, 1], {"a": [0.6, 0.9]})})
    assert result.q.values[0, 0] == pytest.approx(0.6) and result.ledger.closure < 1e-9


def test_driven_computed_torque_in_a_loop() -> None:
    machine = compile(crank())
    q, _ = assemble(machine, [0.2, 1.0, -0.2])
    path = T.quintic([0, 1], {"drive": [q[0], q[0] + 1.0]})
    result = simulate(
        machine,
        q,
        until=1.0,
        output=0.1,
        control=C.ComputedTorque(path, 100.0, 20.0),
        tolerance=1e-10,
    )
    assert np.abs(result.q.values[:, 0] - path(result.time)[0][:, 0]).max() < 1e-8
    assert np.all(result.tau.values[:, 1:] == 0.0)


# --- bad input
STEP = T.Trajectory(
    ("pin1",), np.array([1.0]), np.zeros((2, 1)), np.array([[[0.0]], [[2.0]]]), np.zeros((2, 1, 3))
)


@pytest.mark.parametrize(
    "motion, kind, words",
    [
        ({"pin9": 0.0}, UnknownNameError, "no coordinate 'pin9' in mechanism 'pendulum2'"),
        ({"pin1": "lockd"}, CatenaError, "'lockd': no name 'lockd'; names are: t"),
        ({"pni1": "locked"}, UnknownNameError, "Did you mean 'pin1'?"),
        (STEP, SimulationError, "the place of 'pin1' jumps from 0 to 2 at t = 1 s"),
        (3.0, StateError, "motion is 3.0"),
        ({"pin1": [1, 2]}, StateError, "'pin1' is given [1, 2]"),
    ],
)
def test_bad_motions(motion: object, kind: type, words: str) -> None:
    with pytest.raises(kind) as error:
        simulate(pendulum(2), until=1.0, motion=motion)
    assert words in str(error.value) and isinstance(error.value, CatenaError)


def test_too_much_is_driven() -> None:
    machine = compile(crank())
    q, _ = assemble(machine, [0.2, 1.0, -0.2])
    with pytest.raises((SimulationError, ClosureError), match=r"driven|open"):
        simulate(machine, q, until=1.0, motion={"drive": float(q[0]), "rock": float(q[2]) + 0.3})
    with pytest.raises(SimulationError, match="more of mechanism 'crank' is driven"):
        simulate(machine, q, until=1.0, motion={"drive": float(q[0]), "rock": float(q[2])})
    with pytest.raises(SimulationError, match="every coordinate of mechanism 'crank' is driven"):
        simulate(
            machine,
            q,
            until=1.0,
            control=C.ComputedTorque(dict(zip(machine.coordinate_names, map(float, q))), 1.0, 1.0),
        )


def test_free_body_without_inertia() -> None:
    """What is driven needs none; what is free does."""
    bodies = (Body("arm", 1.0, (0, 0, -1), (0, 0, 0)), Body.massless("hand"))
    m = Mechanism(
        "light",
        bodies,
        (
            Joint("elbow", "revolute", GROUND, "arm", axis=(0, 1, 0)),
            Joint("wrist", "revolute", "arm", "hand", axis=(0, 1, 0)),
        ),
    )
    result = simulate(m, until=0.5, motion={"wrist": T.sine({"w": 1.0}, 5.0)})
    assert np.abs(result.tau.values).max() < 1e-12
    with pytest.raises(SingularError, match="'wrist' of mechanism 'light' moves no inertia"):
        simulate(m, until=0.5, motion={"elbow": 0.0})


def test_four_link_locked() -> None:
    """Seed 004's closed chain has two freedoms; with two joints locked it stands still under
    gravity.
    """
    machine = compile(four_link())
    q = np.zeros(4)
    result = simulate(machine, q, until=0.5, motion={"joint1": "locked", "joint2": "locked"})
    assert np.abs(result.q.values - q).max() < 1e-9
    held = result.tau.values[-1]
    a = machine.forward_dynamics(q, np.zeros(4), held)
    assert np.abs(a).max() < 1e-7


# --- in O(n)
@pytest.mark.parametrize("driven", ["first", "middle", "last"])
def test_articulated_bodies_and_the_mass_matrix_give_the_same_partition(driven, monkeypatch):
    """Two routes: the O(n) pass in which driven nodes do not give way, and the blocks of the mass
    matrix.
    """
    m = random_tree(5, ["free", "revolute", "ball", "prismatic", "helical", "revolute"])
    place = layout(m)
    joint = {"first": m.moving[0], "middle": m.moving[len(m.moving) // 2], "last": m.moving[-1]}[
        driven
    ]
    names = [n for j in m.moving for n in j.speed_names]
    d = [names.index(n) for n in joint.speed_names]
    routes = []
    for dense in (0, 1000):
        monkeypatch.setattr(prescribed, "DENSE", dense)
        routes.append(prescribed._partitioned(place, d))
    rng = np.random.default_rng(3)
    q = compile(m).sample(rng)
    given = (
        0.0,
        q,
        rng.standard_normal(place.nv),
        list(m.parameters.values()),
        rng.standard_normal(len(d)),
        rng.standard_normal(place.nv),
    )
    for x, y in zip(*(f(*given) for f in routes)):
        np.testing.assert_allclose(np.array(x), np.array(y), rtol=1e-10, atol=1e-10)


def test_the_tape_of_a_prescribed_motion_grows_with_the_number_of_bodies():
    sizes = [prescribed._partitioned(layout(arm(n)), [0]).n_instructions() for n in (16, 32)]
    assert sizes[1] < 2.2 * sizes[0]


def test_a_free_joint_without_inertia_is_refused_by_both_routes(monkeypatch):
    m = arm(3)
    m = m.with_(bodies=(*m.bodies[:2], m.bodies[2].massless(m.bodies[2].name)))
    for dense in (0, 1000):
        monkeypatch.setattr(prescribed, "DENSE", dense)
        with pytest.raises(SingularError, match="'joint3' of mechanism 'arm3' moves no inertia"):
            prescribed._partitioned(layout(m), [0])


def test_a_motion_is_a_text_or_a_function_of_time():
    two = load("two_link_arm")
    given = "0.3 + 0.2*sin(t)", lambda t: 0.3 + 0.2 * np.sin(t)
    runs = [
        simulate(two, q=[0.3, -0.5], v=[0.2, 0.0], until=1.0, output=0.5, motion={"shoulder": x})
        for x in given
    ]
    exact = simulate(
        two,
        q=[0.3, -0.5],
        v=[0.2, 0.0],
        until=1.0,
        output=0.5,
        motion=T.sine({"shoulder": 0.2}, frequency=1.0, offset={"shoulder": 0.3}),
    )
    for run in runs:
        np.testing.assert_allclose(run.q.values, exact.q.values, atol=1e-8)
