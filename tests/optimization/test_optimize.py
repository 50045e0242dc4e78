"""Optimal motions against closed forms, and what is said where there is none."""

from __future__ import annotations

import numpy as np
import pytest

import catena
from catena.errors import FormatError, StudyError


def cart(effort=np.inf):
    """One mass on a rail: the double integrator."""
    slide = catena.Joint("x", "prismatic", "ground", "cart", axis=(1, 0, 0), effort=effort)
    return catena.Mechanism("cart", [catena.Body("cart", 1.0, (0, 0, 0), (1, 1, 1))], [slide])


@pytest.mark.parametrize("method", ["collocation", "shooting"])
def test_the_double_integrator_of_least_energy(method):
    o = catena.optimize(
        cart(),
        cost="torque squared",
        end={"q": {"x": 1.0}, "v": "rest"},
        until=1.0,
        intervals=40,
        method=method,
    )
    n, t = 40, (np.arange(40) + 0.5) / 40
    # u(t) = 6 - 12 t costs 12; the best of n constant forces costs 12 n^2/(n^2 - 1)
    assert o.cost == pytest.approx(12 * n**2 / (n**2 - 1), rel=1e-8)
    assert np.abs(o.forces[:, 0] - (6 - 12 * t) * n**2 / (n**2 - 1)).max() < 1e-6
    assert o.difference < 1e-9 and o.result.ledger is not None
    assert "forward simulation at a tolerance of 1e-11 differs by" in str(o)


def test_least_time_is_bang_bang():
    o = catena.optimize(
        cart(effort=1.0),
        cost="time",
        end={"q": {"x": 1.0}, "v": "rest"},
        until=(0.5, 5.0),
        intervals=20,
    )
    assert o.t[-1] == pytest.approx(2.0, abs=1e-6)  # 2 sqrt(d / a)
    assert np.abs(np.abs(o.forces) - 1.0).max() < 1e-4 and o.forces[0, 0] > 0 > o.forces[-1, 0]


def test_least_energy_is_bang_coast_bang():
    """Work is done twice, to reach the coasting speed and to lose it: v^2/a - v T + d = 0."""
    o = catena.optimize(
        cart(effort=1.0), cost="energy", end={"q": {"x": 1.0}, "v": "rest"}, until=3.0, intervals=30
    )
    v = (3.0 - np.sqrt(5.0)) / 2.0
    assert v**2 < o.cost < v**2 * (1 + 4 / 30**2)  # the switch is not at the end of an interval
    assert np.abs(o.forces[6:-6]).max() < 1e-6


def test_the_brachistochrone_is_a_cycloid():
    """A bead on a wire without friction, whose force does no work: energy is kept. From rest
    through pi R and 2 R down in pi sqrt(R/g).
    """
    bodies = [
        catena.Body("rail", 0.0, (0, 0, 0), (0, 0, 0)),
        catena.Body("bead", 1.0, (0, 0, 0), (0, 0, 0)),
    ]
    joints = [
        catena.Joint("x", "prismatic", "ground", "rail", axis=(1, 0, 0)),
        catena.Joint("y", "prismatic", "rail", "bead", axis=(0, 1, 0)),
    ]
    bead = catena.Mechanism("bead", bodies, joints, gravity=(0, -9.81, 0))
    R = 0.5
    g = 9.81
    wire = {"0.5*(v_x^2 + v_y^2) + 9.81*q_y": 0.0}
    off = []
    for n in (10, 20):
        o = catena.optimize(
            bead,
            cost="time",
            end={"q": {"x": np.pi * R, "y": -2 * R}},
            until=(0.3, 3.0),
            conditions=wire,
            intervals=n,
        )
        assert np.abs(0.5 * (o.v**2).sum(axis=1) + g * o.q[:, 1]).max() < 1e-8
        off.append(o.t[-1] / (np.pi * np.sqrt(R / g)) - 1)
    # constant forces: second order
    assert 0 < off[1] < 1e-3 and off[0] / off[1] == pytest.approx(4.0, abs=0.2)
    phi = 2 * np.pi * R * np.linspace(0, 1, 21) / (2 * R)  # of the cycloid, at equal times
    # and the path of first
    assert np.abs(o.q - R * np.stack([phi - np.sin(phi), np.cos(phi) - 1], axis=1)).max() < 0.1 / 20


def test_an_unknown_parameter_is_found():
    """The mass of least effort is the smallest that is allowed."""
    o = catena.optimize(
        cart(),
        end={"q": {"x": 1.0}, "v": "rest"},
        design={"body.cart.mass": (0.5, 2.0)},
        intervals=10,
    )
    assert list(o.parameters.values()) == pytest.approx([0.5], abs=1e-6)


def test_the_swing_up_of_a_file():
    mechanism, asked = catena.optimization.read_optimize("swing_up")
    o = catena.optimize(mechanism, **{**asked, "intervals": 40})
    assert asked["end"] == {"q": {"x": 1.0, "theta": 0.0}, "v": "rest"}
    assert np.abs(o.q[-1] - [1.0, 0.0]).max() < 1e-9 and np.abs(o.forces[:, 1]).max() == 0.0
    assert np.abs(o.forces).max() <= 20.0 + 1e-6 and o.difference < 1e-2


def test_a_closed_loop_turns_once_with_the_least_torque():
    mechanism, asked = catena.optimization.read_optimize("four_bar")
    o = catena.optimize(mechanism, **{**asked, "intervals": 20}, accuracy=2e-3)
    machine = catena.compile(mechanism)
    error, rate, _, _ = machine.constraint_rows(o.q, o.v)
    assert np.abs(error).max() < 1e-9 and np.abs(rate).max() < 1e-7  # every knot is on the loop
    assert len(o.forces) == 40 and o.difference < 2e-3
    assert (
        o.q[-1, 0] - o.q[0, 0] == pytest.approx(2 * np.pi, abs=1e-9)
        and np.abs(o.v[-1]).max() < 1e-7
    )
    assert np.abs(o.forces[:, 1:]).max() == 0.0
    work = o.forces[:, 0] * np.diff(o.q[:, 0])
    assert abs(work.sum()) < 1e-2 * np.abs(work).sum()  # from rest to rest, back where it was


@pytest.mark.parametrize("method", ["collocation", "shooting"])
def test_the_derivatives_are_those_of_casadi(method):
    """A random place of a program with a loop-free plant, free time, an unknown, work and a
    condition.
    """
    import casadi as ca

    from catena.optimization.motion import Motion
    from catena.optimization.motion_problem import MotionProblem

    problem = MotionProblem.of(
        catena.load("swing_up"), None, None, (1.0, 2.0), ["x"], {"l": (0.3, 0.6)}, 3, None
    )
    motion = Motion.of(
        problem,
        problem.ranges({"v": "rest"}, {}),
        {"energy": 1.0, "tau_x^2": 0.1},
        method,
        {"v_x^2 + tau_x": (-1.0, 1.0)},
    )
    program, _ = motion.program()
    z = ca.MX.sym("z", program.size)
    c = motion.copies
    rows, costs = c.tape.map(c.count)(
        ca.horzcat(*(z[row.tolist()] for row in program.places)), c.given.T
    )
    f = ca.sum2(costs)
    g = ca.vec(rows)
    lam = ca.MX.sym("lam", program.count)
    sigma = ca.MX.sym("sigma")
    H = ca.triu(ca.hessian(sigma * f + ca.dot(lam, g), z)[0])
    rng = np.random.default_rng(3)
    at = rng.uniform(0.3, 1.5, program.size)
    by = rng.standard_normal(program.count)
    want = ca.Function("want", [z, sigma, lam], [f, g, ca.gradient(f, z), ca.jacobian(g, z), H])(
        at, 0.7, by
    )
    ours = (
        program.cost(at),
        program.constraints(at),
        program.gradient(at),
        program.jacobian(at),
        program.hessian(at, 0.7, by),
    )
    for x, y, sparsity in zip(
        ours, want, (None, None, None, program.jacobian_sparsity, program.hessian_sparsity)
    ):
        full = np.array(ca.DM(sparsity, x)) if sparsity is not None else np.ravel(x)
        assert np.allclose(full, np.array(ca.densify(y)).reshape(full.shape), rtol=1e-9, atol=1e-9)


def test_what_cannot_be_is_said():
    end = {"q": {"x": 1.0}, "v": "rest"}
    with pytest.raises(
        StudyError,
        match=(
            r"no motion of 'cart' was found.*equation of motion of '[qv].x' between t = .* At their"
            r" limits are .*tau.x"
        ),
    ):
        catena.optimize(cart(effort=1.0), end=end, until=1.0, intervals=10)
    with pytest.raises(StudyError, match=r"the condition 'q_x' between t = 0.9 and 1 s, by"):
        catena.optimize(cart(), end=end, conditions={"q_x": (-1.0, 0.5)}, intervals=10)
    with pytest.raises(
        StudyError, match=r"condition 'q_x' is \(1, 0\); it is a value, or \(low, high\)"
    ):
        catena.optimize(cart(), end=end, conditions={"q_x": (1, 0)})
    with pytest.raises(StudyError, match=r"condition 'q_z': .*no name 'q_z'"):
        catena.optimize(cart(), end=end, conditions={"q_z": 0})
    with pytest.raises(StudyError, match="rewards work that is counted positive"):
        catena.optimize(cart(), end=end, cost={"energy": -1.0})
    with pytest.raises(StudyError, match="end: no coordinate 'y' in mechanism 'cart'"):
        catena.optimize(cart(), end={"q": {"y": 1.0}})
    with pytest.raises(StudyError, match=r"the end: q.x = 1 is beyond its limits, -0.5 to 0.5"):
        catena.optimize(cart(), end=end, bounds={"q.x": (-0.5, 0.5)})
    with pytest.raises(StudyError, match="no state or force 'q.z'"):
        catena.optimize(cart(), end=end, bounds={"q.z": (0, 1)})
    with pytest.raises(
        StudyError,
        match=r"cost \(time, torque squared, energy, or a text\) 'tau_y'.*no name 'tau_y'",
    ):
        catena.optimize(cart(), end=end, cost="tau_y")
    with pytest.raises(StudyError, match="no method 'magic'; methods are: collocation, shooting"):
        catena.optimize(cart(), end=end, method="magic")
    with pytest.raises(StudyError, match="a duration, or a range of durations"):
        catena.optimize(cart(), end=end, until=-1.0)
    with pytest.raises(FormatError, match=r"it has no table \[optimize\]"):
        catena.optimization.read_optimize("pendulum")


def carriage(friction=0.5):
    """A carriage of 1 kg on a block of 3 kg that stands on a rough floor: its motor pushes the
    block back.
    """
    bodies = [
        catena.Body("rail", 0.0, (0, 0, 0), (0, 0, 0)),
        catena.Body(
            "block",
            3.0,
            (0, 0, 0),
            (1, 1, 1),
            shapes=(catena.Shape("sphere", (0.1,), collides=True),),
        ),
        catena.Body("carriage", 1.0, (0, 0, 0), (1, 1, 1)),
    ]
    joints = [
        catena.Joint("x", "prismatic", "ground", "rail", axis=(1, 0, 0)),
        catena.Joint("z", "prismatic", "rail", "block", axis=(0, 0, 1)),
        catena.Joint("ride", "prismatic", "block", "carriage", axis=(1, 0, 0)),
    ]
    return catena.Mechanism(
        "cart", bodies, joints, contacts=(catena.Contact(("block", "ground"), friction, 0.0),)
    )


def test_a_contact_that_shall_stick_bounds_the_motion():
    """The least time over d: full ahead, full back, as hard as the friction of the block allows, mu
    4 g.
    """
    asked = {
        "q": [0.0, 0.1, 0.0],
        "end": {"q": {"ride": 1.0}, "v": {"ride": 0.0}},
        "until": (0.1, 3.0),
        "actuated": ["ride"],
        "cost": "time",
        "intervals": 20,
    }
    best = catena.optimize(carriage(), contacts={"block-ground": "stick"}, **asked)
    assert best.t[-1] == pytest.approx(2 * np.sqrt(1.0 / (0.5 * 4 * 9.81)), rel=1e-6)
    assert best.difference < 1e-6 and not best.result.contacts["mode"].isin(["open"]).any()
    with pytest.raises(StudyError, match=r"(?s)'cart' has contacts.*'block-ground' is not given"):
        catena.optimize(carriage(), **asked)
    with pytest.raises(
        StudyError, match="'block-ground' is given as 'stick', and at the start it is 0.2 m apart"
    ):
        catena.optimize(
            carriage(), contacts={"block-ground": "stick"}, **{**asked, "q": [0.0, 0.3, 0.0]}
        )


def test_dry_friction_is_smoothed_and_that_is_said():
    """A slide with friction from rest to rest: the result compares the solver with a run in which
    friction sticks, which is as far off as the smooth one where the slide only stops at the end.
    """
    slide = catena.Joint("x", "prismatic", "ground", "b", axis=(1, 0, 0), friction=(2.0,))
    block = catena.Body("b", 1.0, (0, 0, 0), (1, 1, 1))
    m = catena.Mechanism("slide", (block,), (slide,))
    found = catena.optimize(m, end={"q": {"x": 0.5}, "v": "rest"}, intervals=10)
    assert found.smoothed == ("x",)
    assert found.sticking_difference == pytest.approx(found.difference, rel=0.1)
    assert "dry friction of 'x' is smoothed about zero speed" in str(found)
