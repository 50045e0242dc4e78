"""Rank decisions know neither units nor ratios of inertia; a run that leaves its rows is not called
a success.

      pin
     o------ rod ------o wrist
shaft|  crank          [piston]= slide         gear on the ground, v_spin = -10 v_shaft
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sympy import Symbol

import catena
from catena import Body, Joint, Mechanism, Pose, SpeedRow
from catena.errors import QuestionError
from catena.kernels.rank import independent
from catena.machine.constraint_rows import Metric, least_change, metric
from catena.simulation.runners import diagnostics

LENGTHS = (0.3, 1.0)
SPEED = 6.0


def at(x: float) -> Pose:
    return Pose(position=(x, 0, 0))


def crank_and_gear(
    length: float = 1.0,
    mass: float = 1.0,
    rod: object = Symbol("rod"),
    gear: object = Symbol("gear"),
) -> Mechanism:
    """A slider-crank that drives a gear. length, mass: units in a metre, a kg; rod: times the rod's
    mass; gear: inertia.
    """
    I, (r, l) = mass * length**2, LENGTHS
    bodies = [
        Body("crank", mass, (0.1 * length, 0, 0), (0.02 * I,) * 3),
        Body("rod", 0.8 * mass * rod, (0.4 * length, 0, 0), (0.07 * I * rod,) * 3),
        Body("piston", 5 * mass, (0, 0, 0), (0.001 * I,) * 3),
        Body("gear", 1e-3 * mass, (0, 0, 0), (I * gear,) * 3),
    ]
    joints = [
        Joint("shaft", "revolute", "ground", "crank"),
        Joint("pin", "revolute", "crank", "rod", at(r * length)),
        Joint("slide", "prismatic", "ground", "piston", axis=(1, 0, 0)),
        Joint("spin", "revolute", "ground", "gear"),
    ]
    wrist = Joint("wrist", "revolute", "rod", "piston", at(l * length))
    teeth = SpeedRow("teeth", "v_spin + 10*v_shaft")
    values = {"rod": 1.0, "gear": 1e-3} if isinstance(rod, Symbol) else {}
    return Mechanism(
        "m",
        bodies,
        joints,
        loops=[wrist],
        nonholonomic=[teeth],
        parameters=values,
        gravity=(0, -9.81 * length, 0),
    )


def state(angle: float, length: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """q and v of the crank's angle, at SPEED: in closed form."""
    r, l = LENGTHS
    down = -np.arcsin(r * np.sin(angle) / l)
    turn = -r * np.cos(angle) / (l * np.cos(down)) * SPEED
    x = r * np.cos(angle) + l * np.cos(down)
    speed = -r * np.sin(angle) * SPEED - l * np.sin(down) * turn
    return np.array([angle, down - angle, x * length, 0.0]), np.array(
        [SPEED, turn - SPEED, speed * length, -10 * SPEED]
    )


def expected(angle: float, gear: float, rod: float) -> float:
    """The crank's acceleration by its one equation of energy, T(angle) speed^2 + V(angle),
    differentiated by complex steps.
    """
    r, l = LENGTHS

    def energies(phi: complex) -> tuple[complex, complex]:
        down = -np.arcsin(r * np.sin(phi) / l)
        turn = -r * np.cos(phi) / (l * np.cos(down))  # of the rod, a unit of speed
        velocity = np.array(
            [
                -r * np.sin(phi) - 0.4 * np.sin(down) * turn,
                r * np.cos(phi) + 0.4 * np.cos(down) * turn,
            ]
        )
        piston = -r * np.sin(phi) - l * np.sin(down) * turn
        T = 0.5 * (
            0.03
            + 100 * gear
            + 0.8 * rod * (velocity @ velocity)
            + 0.07 * rod * turn**2
            + 5 * piston**2
        )
        return T, 9.81 * (0.1 * np.sin(phi) + 0.8 * rod * (r * np.sin(phi) + 0.4 * np.sin(down)))

    T, V = energies(angle + 1e-30j)
    return float(-(T.imag / 1e-30 * SPEED**2 + V.imag / 1e-30) / (2 * T.real))


RATIOS = [(10.0**k, 1.0) for k in (-12, -10, -8, -3, 3, 12)] + [
    (1e-3, 10.0**k) for k in (-12, -6, 6, 12)
]
MACHINE = catena.compile(crank_and_gear())


@pytest.mark.parametrize(("gear", "rod"), RATIOS)
def test_accelerations_do_not_depend_on_ratios_of_inertia(gear, rod):
    q, v = state(0.7)
    a = MACHINE.forward_dynamics(q, v, np.zeros(4), parameters={"gear": gear, "rod": rod})
    _, rate, gamma, A = MACHINE.constraint_rows(q, v)
    assert np.abs(rate).max() < 1e-14 and np.abs(A @ a - gamma).max() < 1e-10 * np.abs(a).max()
    assert a[0] == pytest.approx(expected(0.7, gear, rod), rel=1e-8)


@pytest.mark.parametrize("by", ["lagrange", "hamilton", "newton_euler", "kane"])
def test_no_formulation_knows_units_or_ratios(by):
    """newton_euler holds a rod 1e12 times as heavy as the crank by forces whose difference moves
    the crank: six digits are left.
    """
    q, v = state(0.7)
    ratios = catena.derive(MACHINE.mechanism, by=by)
    e = catena.derive(crank_and_gear(1e6, 1e-6, 1.0, 1e-3), by=by)
    for gear, rod in RATIOS:
        a = float(ratios.acceleration(0, q, v, np.zeros(4), [rod, gear])[0])
        assert a == pytest.approx(
            expected(0.7, gear, rod), rel=1e-5 if rod > 1e6 and by == "newton_euler" else 1e-9
        )
    assert float(e.acceleration(0, *state(0.7, 1e6), np.zeros(4), [])[0]) == pytest.approx(
        expected(0.7, 1e-3, 1.0), rel=1e-12
    )


@pytest.mark.parametrize("rod", [1e-12, 1e-6, 1.0, 1e6, 1e12])
@pytest.mark.parametrize("length", [1.0, 1e3, 1e-6, 1e6])
def test_the_generic_life_knows_neither_units_nor_ratios(length, rod):
    machine = catena.compile(
        crank_and_gear(length, 1e3, rod, 1.0).with_(nonholonomic=()), life="generic"
    )
    q, v = state(0.7, length)
    a = machine.forward_dynamics(q, v, np.zeros(4))
    A = metric(machine).scaled(machine.constraint_rows(q, v)[3])
    one = catena.compile(crank_and_gear(1.0, 1.0, 1.0, 1.0).with_(nonholonomic=()), life="generic")
    assert pytest.approx(metric(one).scaled(one.constraint_rows(*state(0.7))[3]), abs=1e-14) == A
    assert a[0] == pytest.approx(expected(0.7, 0.0, rod), rel=1e-8)


def test_questions_know_neither_units_nor_ratios():
    for length, rod in ((1.0, 1.0), (1e3, 1e-12), (1e-6, 1e12), (1e6, 1e6)):
        machine = catena.compile(
            crank_and_gear(length, 1e3, rod, 1.0).with_(nonholonomic=()), life="generic"
        )
        q, v = state(0.7, length)
        found = catena.mobility(machine, q)
        assert (found.rank, found.held, found.stuck, found.singular) == (2, 2, (), False)
        off = np.array([1.0, -1.0, length, 1.0]) * 1e-6
        near, speeds = catena.assemble(machine, q + off, v + off)
        error, rate, _, _ = machine.constraint_rows(near, speeds)
        assert np.abs(error).max() < 1e-12 * max(1.0, length) and np.abs(rate).max() < 1e-12 * max(
            1.0, length
        )
        kept = catena.assemble(machine, q, v)[1]
        assert kept / [1, 1, length, 1] == pytest.approx(v / [1, 1, length, 1], abs=1e-9)
        driven = catena.analysis.kinematics(
            machine, {"shaft": (0.7, SPEED, 0.0), "spin": (0.0, -10 * SPEED, 0.0)}, q
        )
        assert driven.v / [1, 1, length, 1] == pytest.approx(v / [1, 1, length, 1], abs=1e-9)
        with pytest.raises(QuestionError, match="do not keep loop 'wrist'"):
            catena.analysis.kinematics(
                machine, {"shaft": (0.7, SPEED), "pin": (q[1], 1e-3), "spin": 0.0}, q
            )


@pytest.mark.parametrize(("length", "rod"), [(1.0, 1.0), (1e3, 1e-12), (1e-6, 1e12), (1e6, 1e6)])
def test_forces_of_rows_know_neither_units_nor_ratios(length, rod):
    """The wrist's force by Newton's law of the piston; refused forces are refused in any unit."""
    machine = catena.compile(
        crank_and_gear(length, 1e3, rod, 1.0).with_(nonholonomic=()), life="generic"
    )
    q, v = state(0.7, length)
    still = np.zeros(4)
    a = machine.forward_dynamics(q, v, still)
    push = -catena.analysis.reactions(machine, q, v, a, still, axes="world")["wrist"][3]
    # a difference of the rod's forces
    assert abs(push) == pytest.approx(abs(5e3 * a[2]), rel=1e-6 if rod <= 1e6 else 1e-4)
    lam = machine.multipliers(q, v, still)
    A = machine.constraint_rows(q, v)[3]
    need = (machine.inverse_dynamics(q, v, a) - A.T @ lam) / np.abs(A.T @ lam).max()
    assert np.abs(need).max() < 1e-6
    with pytest.raises(QuestionError, match="'spin' is short"):
        catena.analysis.reactions(
            machine, q, v, a, np.array([0, 0, 0, max(rod, 1.0) * length**2]), axes="world"
        )


@pytest.mark.parametrize("length", [1e-12, 1.0, 1e12])
def test_rows_that_act_are_found_in_any_unit(length):
    """Two links on balls, hinged to the ground: three displacements and two angles, whatever a
    metre is.
    """
    links = [Body(n, 1.0, (0.5 * length, 0, 0), (0.1 * length**2,) * 3) for n in "ab"]
    balls = [Joint("A", "ball", "ground", "a"), Joint("B", "ball", "a", "b", at(length))]
    hinge = Joint("C", "revolute", "b", "ground", at(length), offset=at(length))
    assert (
        len(catena.compile(Mechanism("m", links, balls, loops=[hinge]), life="generic").rows) == 5
    )


def test_the_smallest_change_is_that_of_the_whole_system_of_equations():
    """Two rows that share a light speed: by hand, d = (1 - 2, 2) up to the ratio; lam carries the
    heavy one.
    """
    A = np.array([[1.0, 1.0], [1.0, 2.0], [2.0, 3.0]])
    r = np.array([1.0, 3.0, 4.0])
    for ratio in 10.0 ** np.arange(-12, 13, 6):
        d, lam = least_change(np.diag([ratio, 1.0]), A, r, Metric(np.ones(2), np.ones(3)))
        assert d == pytest.approx([-1.0, 2.0], abs=1e-12) and A.T @ lam == pytest.approx(
            [-ratio, 2.0], rel=1e-3, abs=1e-9
        )


def test_a_row_that_repeats_others_is_left_out_whatever_its_scale():
    rows = np.array([[1.0, 1, 0], [0, 1, 1], [1, 2, 1], [1e-17, 0, 0]])
    for scale in (1e-12, 1.0, 1e12):
        A = rows * np.array([[scale], [1 / scale], [1.0], [1.0]])
        keep = np.zeros(4)
        size = np.array([2 * scale**2, 2 / scale**2, 6.0, 1.0])
        independent(A @ A.T, size, keep)
        assert keep.tolist() == [0, 1, 1, 0]


@pytest.mark.parametrize("gear", [1e-8, 1e-10])
def test_a_light_gear_does_not_open_the_loop(gear):
    run = catena.simulate(MACHINE.mechanism, *state(0.0), 1.0, parameters={"gear": gear})
    assert run.ledger.closure < 1e-12 and run.ledger.slip < 1e-12 and run.ledger.imbalance < 1e-8
    assert run.ledger.met is None and run.ledger.outcome == "the end was reached"


# --- the verdict
def test_a_run_that_opens_its_loop_is_not_met():
    options = {"stabilise": None, "integrator": "rk4", "output": 0.1}
    wide, close = (
        catena.simulate(MACHINE.mechanism, *state(0.0), 1.0, step=h, **options) for h in (0.1, 0.02)
    )
    assert wide.ledger.met is False and "NOT to be trusted: loops open by" in repr(wide)
    assert close.ledger.met is None and close.ledger.verdict.startswith("close: loops open by")
    again = wide.ledger.judged(0.0, 1.0)
    # a tighter run may be wrong in the same way
    assert again.met is False and "NOT to be trusted" in again.verdict


def test_a_streamed_run_has_the_same_verdict(tmp_path):
    options = {"stabilise": None, "integrator": "rk4", "output": 0.1, "step": 0.1}
    whole = catena.simulate(MACHINE.mechanism, *state(0.0), 1.0, **options)
    found = catena.simulate(MACHINE.mechanism, *state(0.0), 1.0, **options, out=tmp_path / "run.nc")
    for name in ("opening", "slip", "imbalance", "verdict", "met", "outcome"):
        assert getattr(found.ledger, name) == getattr(whole.ledger, name)


def test_a_close_decision_on_rank_leaves_a_trace():
    """A rhombus, nearly flat: the pivots pass the threshold as its angle does, in the square."""
    m = rhombus()
    for angle, close in ((1.0, False), (1.1e-3, True), (1e-3, True)):
        ledger = catena.simulate(m, q=[angle, -angle, np.pi + angle], until=1e-3).ledger
        assert (ledger.rank > 1e-2) is close and ("threshold of rank" in ledger.verdict) is close
        assert ledger.met is None
    assert catena.simulate(MACHINE.mechanism, *state(0.0), 0.1).ledger.rank < 1e-5


@pytest.mark.parametrize(
    ("field", "word"), [("opening", "open"), ("slip", "not met"), ("imbalance", "energy")]
)
def test_every_doubt_has_its_words(field, word):
    sound = catena.simulate(MACHINE.mechanism, *state(0.0), 0.1).ledger
    assert not sound.doubts() and sound.weighed() == sound
    for value in (1.0, np.nan):
        found = replace(sound, **{field: value}).weighed()
        assert (
            found.met is False
            and word in found.verdict
            and found.outcome.startswith("the end was reached; NOT")
        )


def rhombus() -> Mechanism:
    """Four equal links."""
    links = [Body(n, 1.0, (0.5, 0, 0), (0.1,) * 3) for n in "abc"]
    joints = [
        Joint("A", "revolute", "ground", "a"),
        Joint("B", "revolute", "a", "b", at(1)),
        Joint("C", "revolute", "b", "c", at(1)),
    ]
    return Mechanism(
        "rhombus", links, joints, loops=[Joint("D", "revolute", "c", "ground", at(1), offset=at(1))]
    )


def test_a_singular_configuration_is_named_before_forces_are_blamed():
    """A rhombus lies flat: its rows lose rank, and branches of motion meet."""
    machine = catena.compile(rhombus(), life="generic")
    there = np.array([0.0, 0.0, np.pi])
    assert "singular configuration is likely" in diagnostics._condition(
        machine, there, np.zeros(3), None, 0.0
    )
    q, _ = catena.assemble(machine, [1.0, -1.0, -2.1])
    assert diagnostics._condition(machine, q, np.zeros(3), None, 0.0) == ""
