"""Rosenbrock methods: adaptive steps of stiff systems, with the exact Jacobian.

    (I / gamma - h J) k_i = f(t + C_i h, x + h sum_j A_ij k_j) + sum_j G_ij k_j + h d_i df/dt

with J = df/dx and df/dt at the start of the step, over stages j before i; G are the couplings and d
the slopes of the method. Every stage is one evaluation and one linear solution with the same
matrix: there is no iteration that could fail to converge. See [Hairer1996], section IV.7.

    K[0]            the derivative at the start of a step, as for explicit methods
    K[1 ... s - 1]  the stages
    K[s]            the derivative at its end; K[s + 1 ...]: the stages of dense output

So steps are judged, rows written and events located by the functions of `lane_driver.py`, for one
run at a time. The Jacobian is computed in the lanes of registers: each lane has a direction, along
which the compiled function `tangent` gives the derivative.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...compiler import call_block, machine_function, weighted
from ..terms.guard_sides import GuardSides
from .lane_arithmetic import lanewise, stage
from .lane_driver import advance_lanes
from .lane_records import Norm, Runs, lanes_of, memory_of


class RosenbrockCode(NamedTuple):
    """The addresses of `lane_records.Code`, and: tangent: the address of the directional derivative
    for `lanes` directions at once. linear: the linear system of the stages.
    """

    rate: Any
    settle: Any
    guard: Any
    guarded: Any
    tangent: Any
    lanes: Any
    linear: Any


class RosenbrockTableau(NamedTuple):
    """The tables of `lane_records.Tableau`, and the couplings, slopes and gamma of
    `methods.Method`.
    """

    A: Any
    s: Any
    C: Any
    E: Any
    P: Any
    D: Any
    looks: Any
    order: Any
    degree: Any
    couplings: Any
    slopes: Any
    gamma: Any


class LinearSystem(NamedTuple):
    """The matrix of the stages of a system with n states.

    jacobian (n, columns): df/dx, then df/dt. factors (n, columns): the factors L and U of the
    matrix, with rows in the order `order`. directions: the arguments of `tangent`; block: its
    results. right (n,): a right side. pivot (1,): the factor by which a row is multiplied.
    """

    jacobian: Any
    factors: Any
    order: Any
    directions: Any
    block: Any
    right: Any
    pivot: Any


# --- the Jacobian
def differentiate(code, lanes, memory, L):
    """Compute the Jacobian at the start of the step, L directions at a time."""
    linear = code.linear
    n, known = len(memory.x), len(memory.buffer)
    memory.buffer[0] = lanes.t[0]
    for k in range(n):
        memory.buffer[1 + k] = memory.x[k]
    for k in range(known):
        for l in range(L):
            linear.directions[k * L + l] = memory.buffer[k]
    for first in range(0, n + 1, L):
        for k in range(n + 1):
            for l in range(L):
                linear.directions[(known + k) * L + l] = 1.0 if k == first + l else 0.0
        call_block(code.tangent, linear.directions, linear.block)
        for k in range(n):
            for l in range(L):
                linear.jacobian[k, first + l] = linear.block[k * L + l]


# --- linear algebra
@lanewise("factor")
def subtract_row(into, row, factor, first, W):
    """Subtract a multiple of a row from another one, from column `first` on."""
    for n in range(first, len(into), W):
        into[n] = into[n] - factor[0] * row[n]


@lanewise("factor")
def scale_row(into, row, factor, W):
    """Compute a multiple of a row."""
    for n in range(0, len(into), W):
        into[n] = factor[0] * row[n]


def factorise(linear, gamma, h, L):
    """Compute the LU factorisation of I / gamma - h J with partial pivoting."""
    n = len(linear.right)
    linear.pivot[0] = -h
    for k in range(n):
        scale_row(linear.factors[k], linear.jacobian[k], linear.pivot, L)
        linear.factors[k, k] += 1.0 / gamma
        linear.order[k] = k
    for k in range(n):
        largest, at = 0.0, k
        for i in range(k, n):
            if abs(linear.factors[i, k]) > largest:
                largest = abs(linear.factors[i, k])
                at = i
        if at != k:
            exchange(linear, k, at)
        inverse = 1.0 / linear.factors[k, k]
        whole = (k // L + 1) * L  # from this column on, registers are full
        for i in range(k + 1, n):
            factor = linear.factors[i, k] * inverse
            linear.factors[i, k] = factor
            if factor != 0.0:
                for j in range(k + 1, whole):
                    linear.factors[i, j] -= factor * linear.factors[k, j]
                linear.pivot[0] = factor
                subtract_row(linear.factors[i], linear.factors[k], linear.pivot, whole, L)


def exchange(linear, k, at):
    """Exchange two rows of the matrix."""
    for j in range(linear.factors.shape[1]):
        kept = linear.factors[k, j]
        linear.factors[k, j] = linear.factors[at, j]
        linear.factors[at, j] = kept
    row = linear.order[k]
    linear.order[k] = linear.order[at]
    linear.order[at] = row


def solve(linear, out):
    """Solve the system of the stages with the right side `right`."""
    n = len(linear.right)
    for k in range(n):
        total = linear.right[linear.order[k]]
        for j in range(k):
            total -= linear.factors[k, j] * out[j]
        out[k] = total
    for back in range(n):
        k = n - 1 - back
        total = out[k]
        for j in range(k + 1, n):
            total -= linear.factors[k, j] * out[j]
        out[k] = total / linear.factors[k, k]


# --- stages
def solved_stages(code, method, lanes, memory, first, last, W):
    """Compute the stages from `first` to before `last`. Before the first stage of a step, also
    compute the factors of the matrix, and the Jacobian unless it is known from a rejected trial of
    the same step.
    """
    linear = code.linear
    n = len(memory.x)
    if first == 1:
        if lanes.refused[0] == 0:
            differentiate(code, lanes, memory, code.lanes)
        factorise(linear, method.gamma, lanes.step[0], code.lanes)
    for i in range(first, last):
        stage(
            code.rate,
            memory.buffer,
            memory.x,
            memory.K,
            method.A,
            method.C,
            i,
            lanes.t,
            lanes.step,
            W,
        )
        if i != method.s:
            weighted(memory.K[i], memory.K, method.couplings, i, i, 1.0, linear.right, 0)
            slope = lanes.step[0] * method.slopes[i]
            for k in range(n):
                linear.right[k] += slope * linear.jacobian[k, n]
            solve(linear, memory.K[i])


@machine_function("L", "guarded", quick=True)
def advance(
    rate,
    settle,
    guard,
    tangent,
    A,
    s,
    C,
    E,
    P,
    D,
    looks,
    order,
    degree,
    couplings,
    slopes,
    gamma,
    largest,
    table,
    limits,
    times,
    which,
    X,
    given,
    T,
    H,
    end,
    row,
    until_row,
    most,
    out,
    held,
    first,
    tally,
    ended,
    origin,
    moved,
    edge,
    sides,
    seen,
    distant,
    watch,
    buffer,
    K,
    g,
    whole,
    rows,
    guarded,
    L,
):
    """Advance the runs of a list `which`, one after another; as `lane_driver.advance`, with one
    lane. tangent: the address of the directional derivative, for L lanes. rows: scratch memory of
    (n,) integers.
    """
    n = X.shape[1]
    columns = (n // L + 1) * L
    linear = LinearSystem(
        np.zeros((n, columns)),
        np.zeros((n, columns)),
        rows,
        np.zeros((len(buffer) + n + 1) * L),
        np.zeros(n * L),
        np.zeros(n),
        np.zeros(1),
    )
    code = RosenbrockCode(rate, settle, guard, guarded, tangent, L, linear)
    method = RosenbrockTableau(A, s, C, E, P, D, looks, order, degree, couplings, slopes, gamma)
    runs = Runs(
        X,
        given,
        T,
        H,
        end,
        times,
        row,
        until_row,
        most,
        out,
        held,
        first,
        tally,
        ended,
        origin,
        moved,
        GuardSides(edge, sides, seen, distant),
        watch,
    )
    lanes = lanes_of(whole, 1)
    memory = memory_of(n, K, buffer, g, P.shape[0], 1)
    return advance_lanes(
        solved_stages,
        False,
        code,
        method,
        Norm(table, limits),
        largest,
        which,
        runs,
        lanes,
        memory,
        1,
    )
