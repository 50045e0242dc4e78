"""Regressors and base parameters: beside Pinocchio, beside Khalil's counts, and beside a rank at 50
digits.
"""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

import catena
from catena.compiler.regressor import inertial_parameters
from catena.identification import base_parameters, pseudo_inertia
from catena.identification.base_parameters import projected, random_states
from robots import machine_of, urdf

pin = pytest.importorskip(
    "pinocchio", reason="Pinocchio, beside which the regressor is tested, is not installed"
)


def puma():
    """PUMA 560 by its modified Denavit-Hartenberg parameters, with ten inertial parameters of each
    link and no rotors.

    The geometry is that of B. Armstrong, O. Khatib and J. Burdick, 1986; [Gautier1990] counts 36
    base parameters.
    """
    rng = np.random.default_rng(1)
    right = math.pi / 2
    table = [
        (0, 0, 0),
        (-right, 0, 0),
        (0, 0.4318, 0.15005),
        (-right, 0.0203, 0.4318),
        (right, 0, 0),
        (-right, 0, 0),
    ]
    bodies, joints = [], []
    for k, (alpha, a, d) in enumerate(table):
        bodies.append(
            catena.Body(
                f"link{k + 1}",
                1 + rng.random(),
                rng.standard_normal(3) / 10,
                tuple(0.1 + 0.05 * rng.random(3)),
            )
        )
        c, s = math.cos(alpha), math.sin(alpha)
        place = catena.Pose(
            position=(a, -s * d, c * d), rotation=((1, 0, 0), (0, c, -s), (0, s, c))
        )
        joints.append(
            catena.Joint(
                f"joint{k + 1}",
                "revolute",
                f"link{k}" if k else "ground",
                f"link{k + 1}",
                place,
                axis=(0, 0, 1),
            )
        )
    return catena.Mechanism("PUMA 560", bodies, joints)


MECHANISMS = {
    "puma": lambda: catena.compile(puma()),
    "stanford": lambda: catena.compile(catena.load("stanford_arm")),
    "panda": lambda: catena.compile(catena.load(urdf("panda"), mimic=False)),
}


def rank_at_50_digits(machine) -> int:
    """The rank of the regressor over random states: its tape in numbers of 50 digits, row after row
    eliminated.
    """
    tape = machine.function("regressor")
    n = machine.spec.sizes.inertial
    rng = np.random.default_rng(5)
    basis = []
    idle = 0
    with mpmath.workdps(50):
        while idle < 2 * machine.nv:  # two states that add nothing
            states = [
                machine.sample(rng),
                rng.standard_normal(machine.nv),
                rng.standard_normal(machine.nv),
            ]
            flat = played(tape, [[mpmath.mpf(float(x)) for x in y] for y in states])
            for i in range(machine.nv):
                idle = 0 if added(basis, [flat[k * machine.nv + i] for k in range(n)]) else idle + 1
    return len(basis)


def played(tape, states):
    """The first output of a CasADi tape, its instructions played over numbers of any kind."""
    import casadi as ca

    act = {
        ca.OP_ADD: lambda x, y: x + y,
        ca.OP_SUB: lambda x, y: x - y,
        ca.OP_MUL: lambda x, y: x * y,
        ca.OP_NEG: lambda x: -x,
        ca.OP_SIN: mpmath.sin,
        ca.OP_COS: mpmath.cos,
        ca.OP_SQ: lambda x: x * x,
        ca.OP_TWICE: lambda x: 2 * x,
        ca.OP_ASSIGN: lambda x: x,
    }
    work = [mpmath.mpf(0)] * tape.sz_w()
    out = [mpmath.mpf(0)] * tape.nnz_out(0)
    for k in range(tape.n_instructions()):
        op = tape.instruction_id(k)
        i = tape.instruction_input(k)
        o = tape.instruction_output(k)
        if op == ca.OP_CONST:
            work[o[0]] = mpmath.mpf(tape.instruction_constant(k))
        elif op == ca.OP_INPUT:
            work[o[0]] = states[i[0]][i[1]]
        elif op == ca.OP_OUTPUT:
            out[o[1]] = work[i[0]]
        else:
            work[o[0]] = act[op](*(work[x] for x in i))
    return out


def added(basis, row) -> bool:
    """Whether a row is none of the basis (pivot column, row with a one there); it joins it then."""
    size = max(abs(x) for x in row)
    for j, known in basis:
        if factor := row[j]:
            row = [x - factor * y if y else x for x, y in zip(row, known)]
    value, j = max((abs(x), j) for j, x in enumerate(row))
    if value > mpmath.mpf(10) ** -12 * size:
        basis.append((j, [x / row[j] for x in row]))
        return True
    return False


@pytest.mark.parametrize(("name", "rank"), [("puma", 36), ("stanford", 24), ("panda", None)])
def test_the_rank_is_that_of_50_digits(name, rank):
    machine = MECHANISMS[name]()
    base = base_parameters(machine)
    assert base.reduction.gap[0] > 1e-3 and base.reduction.gap[1] < 1e-14  # nothing is close
    assert base.rank == rank_at_50_digits(machine)
    assert rank is None or base.rank == rank


@pytest.mark.parametrize("name", ["two_link_arm", "four_bar", "stanford_arm"])
def test_forces_are_the_regressor_times_the_parameters(name):
    machine = catena.compile(catena.load(name))
    q, v, a = random_states(machine, 5)
    armature = machine.layout.tree().armature
    without = machine.inverse_dynamics(q, v, a) - armature * a
    ours, theirs = projected(
        machine, q, v, machine.regressor(q, v, a) @ inertial_parameters(machine.layout), without
    )
    assert np.abs(ours - theirs).max() < 1e-10 * max(1.0, np.abs(theirs).max())


def test_base_parameters_carry_the_forces():
    machine = machine_of("ur5")
    base, (q, v, a) = base_parameters(machine), random_states(machine, 50, seed=3)
    Y = machine.regressor(q, v, a)
    theta = inertial_parameters(machine.layout)
    assert np.allclose(Y[..., base.reduction.kept] @ base.of(theta), Y @ theta, atol=1e-10)
    assert base.rank == 36 and "m of shoulder_link" in base.without_effect


def test_the_regressor_is_that_of_pinocchio():
    machine = machine_of("ur5")
    model = pin.buildModelFromUrdf(str(urdf("ur5")))
    q, v, a = random_states(machine, 4)
    bridge = catena.bridge.bridge(machine, "pinocchio")
    theta = np.concatenate(
        [model.inertias[k].toDynamicParameters() for k in range(1, model.njoints)]
    )
    for k in range(4):
        Y = pin.computeJointTorqueRegressor(
            model,
            model.createData(),
            bridge.q_to(q)[k],
            bridge.v_to(q, v)[k],
            bridge.a_to(q, v, a)[k],
        )
        assert np.allclose(
            machine.regressor(q[k], v[k], a[k]) @ inertial_parameters(machine.layout),
            Y @ theta,
            atol=1e-9,
        )


def test_names_of_a_textbook_arm():
    base = base_parameters(catena.load("two_link_arm"))
    assert base.combinations[:2] == ["Izz of upper + 0.25 m of fore", "hx of upper + 0.5 m of fore"]
    assert base.alone == ["hy of upper", "Izz of fore", "hx of fore", "hy of fore"]


def test_the_pseudo_inertia_of_a_body_is_positive():
    theta = inertial_parameters(machine_of("panda").layout).reshape(-1, 10)
    assert np.linalg.eigvalsh(pseudo_inertia(theta[3])).min() > 0
