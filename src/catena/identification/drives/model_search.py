"""The search of a drive model: the basic model, its loads, candidates, and selection between
logs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...compiler import inertial_parameters
from ...machine import Machine
from ..base_parameters import BaseParameters, base_parameters, random_states
from ..logs import Motion, drive_regressor
from .drive_model import DriveModel
from .friction_laws import FRICTION_LAWS, REQUIRED, ripple_shapes
from .gain_steps import free_gain_solution
from .joint_columns import Drives, Term, drives, friction_columns, grams
from .normal_equations import Gram, Solution, solve
from .selection import Selection, total

Array = NDArray[np.float64]
BASIC = tuple(Term(*x) for x in REQUIRED)
MOVING = 0.05  # rad/s or m/s: slower rows are left out where ripple is sought
BLOCKS_OF_ONE_LOG = 4
LOAD_ROUNDS = 4  # of friction that depends on the load, and loads of the model with it
SAME_EFFECT = 1e-6  # of the part of a column that others do not explain, relative to the column


@dataclass(frozen=True)
class Searched:
    """The outcome of a search.

    model: with the chosen laws. basic: with only the required laws. before, after (n,): their
    errors on held-out folds. logs: with the loads of the model.
    """

    model: DriveModel
    basic: DriveModel
    before: Array
    after: Array
    logs: tuple[Drives, ...]


def search(
    machine: Machine,
    motions: Sequence[Motion],
    laws: Sequence[str],
    unit: str,
    free: bool,
    coupling: Array,
) -> Searched:
    """Return the model whose friction laws predict held-out folds (parts of the data) best."""
    base = base_parameters(machine)
    logs = [drives(machine, m, base.reduction.kept, coupling) for m in motions]
    n = machine.nv
    required = _required(machine, base, coupling)
    empty = DriveModel(
        machine,
        base,
        np.zeros(base.rank),
        np.ones(n),
        required,
        (np.zeros(0),) * n,
        unit,
        coupling,
    )
    basic, variances = fitted(empty, logs, required, free)
    terms = [_candidates(basic, logs, j, laws) for j in range(n)]
    logs = [log.with_loads(basic.loads(log)) for log in logs]
    selection = Selection(_folds(logs, terms), terms, basic.gains, variances)
    least = [len(of) for of in required]
    taken = selection.choose(least)
    before = selection.errors([list(range(k)) for k in least])
    after = selection.errors(taken)
    chosen = tuple(tuple(of[k] for k in own) for of, own in zip(terms, taken))
    model = basic
    for _ in range(LOAD_ROUNDS):  # the loads of some laws follow the inertial parameters
        model, _ = fitted(basic, logs, chosen, free)
        logs = [log.with_loads(model.loads(log)) for log in logs]
    return Searched(model, basic, before, after, tuple(logs))


def _required(
    machine: Machine, base: BaseParameters, coupling: Array
) -> tuple[tuple[Term, ...], ...]:
    """Return the required laws of each joint.

    The rotor's inertia is left out where the inertial parameters have the same effect: at a joint
    that stands on the ground, for example.
    """
    q, v, a = random_states(machine, 3 * base.rank)
    W = drive_regressor(machine, q, v, a, coupling, list(base.reduction.kept))
    found = []
    for j in range(machine.nv):
        rotor = np.zeros(W.shape[:2])
        rotor[:, j] = a @ coupling[j]
        A, y = W.reshape(-1, W.shape[-1]), rotor.reshape(-1)
        left = y - A @ np.linalg.lstsq(A, y, rcond=None)[0]
        dependent = np.linalg.norm(left) <= SAME_EFFECT * np.linalg.norm(y)
        found.append(tuple(t for t in BASIC if not (dependent and t.law == "rotor")))
    return tuple(found)


def fitted(
    basic: DriveModel, logs: Sequence[Drives], terms: tuple[tuple[Term, ...], ...], free: bool
) -> tuple[DriveModel, Array]:
    """Return the model with these laws, fitted to all logs, and the variances of its residuals."""
    own = [grams(log, terms) for log in logs]
    n = len(terms)
    sums = [total([g[j] for g in own]) for j in range(n)]
    chosen = [list(range(sum(len(t.names) for t in of))) for of in terms]
    found = solve(sums, chosen, basic.gains)
    if free:
        file_values = basic.base.of(inertial_parameters(basic.machine.layout))
        found = _scaled(free_gain_solution(sums, chosen, found), sums, file_values)
    model = replace(
        basic,
        theta=found.theta,
        gains=found.gains,
        terms=terms,
        coefficients=found.coefficients,
    )
    return model, found.variances


def _scaled(found: Solution, sums: Sequence[Gram], file_values: Array) -> Solution:
    """Return a solution whose rigid-body forces have the size of those of the model file.

    Efforts determine the ratios of the gains; their common scale is set so that the forces of the
    fitted theta are nearest to those of the file's masses.
    """
    b = len(found.theta)
    B = sum(g.matrix[:b, :b] / g.matrix[:b, :b].trace() for g in sums if g.matrix[:b, :b].any())
    own = float(found.theta @ B @ found.theta)
    scale = float(found.theta @ B @ file_values) / own if own > 0 else 1.0
    if scale <= 0.0:
        return found
    return Solution(scale * found.theta, found.gains / scale, found.coefficients, found.variances)


def _candidates(
    basic: DriveModel, logs: Sequence[Drives], joint: int, laws: Sequence[str]
) -> list[Term]:
    """Return the terms from which those of a joint are chosen, the required ones first."""
    found = [Term(n, shape) for n in laws for shape in FRICTION_LAWS[n].shapes]
    if "ripple" in laws:
        q, r = [], []
        for log in logs:
            own = log.joints[joint]
            friction = friction_columns(own, basic.terms[joint]) @ basic.coefficients[joint]
            left = log.motion.effort[:, joint] - basic.loads(log)[:, joint] - friction
            moving = log.motion.valid & (np.abs(own.v) > MOVING)
            q.append(own.q[moving])
            r.append(left[moving])
        found += [
            Term("ripple", shape) for shape in ripple_shapes(np.concatenate(q), np.concatenate(r))
        ]
    required = basic.terms[joint]
    return [*required, *(t for t in found if t not in required)]


def _folds(logs: Sequence[Drives], terms: Sequence[Sequence[Term]]) -> list[list[Gram]]:
    """Return the Gram matrices of each fold: each log, or blocks of the only one."""
    if len(logs) > 1:
        return [grams(log, terms) for log in logs]
    return [grams(log, terms) for log in logs[0].blocks(BLOCKS_OF_ONE_LOG)]
