"""Drivers with equal steps, explicit and implicit. As in `drivers.py`: flat arrays, compiled once
for all mechanisms.
"""

from __future__ import annotations

import numpy as np

from ...compiler import call_block, machine_function, weighted
from .drivers import NOT_FINITE, NOT_SOLVED, REACHED, place, settle_flat, stage
from .lane_arithmetic import finite, write

FIXED_POINT_ROUNDS = 60  # most fixed-point rounds for the stages of an implicit step
# change of a round relative to the largest rate: a smaller one is rounding, so the stages are
# solved
SOLVED_CHANGE = 4e-16
# change of the last round relative to the largest rate: with a larger one the step has failed
ADMITTED_CHANGE = 1e-11
# change of a state in a step relative to its scale: a smaller change of a round may be noise
NOISE_CHANGE = 1e-14


def _all_finite(K, W):
    """Return whether all derivatives of the stages are finite."""
    good = True
    for i in range(K.shape[0]):
        good = good and finite(K[i], W)
    return good


def push(buffer, F, at, n, hold, W):
    """Write the piecewise constant forces of step n into the buffer, from entry `at` on, if a new
    piece begins there: F (W, pieces, nv), each lasting `hold` steps.
    """
    if F.shape[1] > 0 and n % hold == 0:
        for l in range(W):
            for k in range(F.shape[2]):
                buffer[at + k * W + l] = F[l, n // hold, k]


def _row(x, n, every, out, row, W):
    """Write the states to the next output row if step n completes a multiple of `every` steps.
    Return the index of the next row.
    """
    if (n + 1) % every == 0:
        write(out, row, x, W)
        return row + 1
    return row


@machine_function("W")
def explicit(
    address, settle, A, B, C, x, buffer, K, F, hold, done, t, h, steps, every, out, row, W
):
    """Take `steps` explicit steps of size h (s), and write an output row after every `every` of
    them, from index `row` of `out` on. Return status, t, the index of the next row, and the number
    of evaluations. If the method has no stages (B is empty), the compiled function is the step
    itself, a map x -> F(t, x, u, p, h), whose last inputs are h. F, hold: piecewise constant
    forces, see `push`; `done` steps were taken before.
    """
    s, start = B.shape[1], t
    for n in range(steps):
        push(buffer, F, len(x) + W, done + n, hold, W)
        if s == 0:
            place(buffer, x, t, W)
            for l in range(W):
                buffer[len(buffer) - W + l] = h
            call_block(address, buffer, x)
        else:
            for i in range(s):
                stage(address, buffer, x, K, A, i, t + C[i] * h, h, W)
            weighted(x, K, B, 0, s, h, x, 0)
        t = start + (n + 1) * h
        settle_flat(settle, buffer, x, t, 1, W)
        if not finite(x, W):
            return NOT_FINITE, t, row, (n + 1) * max(s, 1)
        row = _row(x, n, every, out, row, W)
    return REACHED, t, row, steps * max(s, 1)


@machine_function("W")
def stepping(
    problem,
    solver,
    finish,
    settle,
    x,
    buffer,
    room,
    given,
    F,
    hold,
    done,
    t,
    h,
    steps,
    every,
    out,
    row,
    W,
):
    """Take `steps` steps with contacts. Each consists of three functions (see `time_stepping.py`)
    that pass their results on in `room`: its first `given` numbers are the contact problem, and the
    solution follows them. Return status, t, the index of the next row, and the number of
    evaluations.
    """
    start = t
    for l in range(W):
        buffer[len(buffer) - W + l] = h
    for n in range(steps):
        push(buffer, F, len(x) + W, done + n, hold, W)
        place(buffer, x, t, W)
        call_block(problem, buffer, room)
        call_block(solver, room, room[given : len(room)])
        call_block(finish, room, x)
        t = start + (n + 1) * h
        settle_flat(settle, buffer, x, t, 1, W)
        if not finite(x, W):
            return NOT_FINITE, t, row, n + 1
        row = _row(x, n, every, out, row, W)
    return REACHED, t, row, steps


def _round(address, A, C, x, buffer, K, fresh, weight, left, t, h, W):
    """Do one fixed-point iteration for the stages, in those lanes whose last change `left[0]` is
    not zero. left (3, W): the changes in this iteration and in the one before, and the largest
    rates.
    """
    for l in range(W):
        left[1, l] = left[0, l]
        left[0, l] = 0.0
        left[2, l] = 0.0
    for i in range(K.shape[0]):
        weighted(x, K, A, i, K.shape[0], h, buffer, W)
        for l in range(W):
            buffer[l] = t + C[i] * h
        call_block(address, buffer, fresh)
        for k in range(len(x)):
            l = k % W
            if left[1, l] > 0.0:
                left[0, l] = max(left[0, l], weight[k] * abs(fresh[k] - K[i, k]))
                left[2, l] = max(left[2, l], weight[k] * abs(fresh[k]))
                K[i, k] = fresh[k]


def _solved(left, W):
    """Return whether the stages of all lanes have converged. Lanes that have converged do not
    change any more, so that no run depends on its neighbours.
    """
    solved = True
    for l in range(W):
        if left[0, l] <= SOLVED_CHANGE * left[2, l] or (
            left[0, l] >= left[1, l] and left[0, l] <= NOISE_CHANGE
        ):
            left[0, l] = 0.0
        solved = solved and left[0, l] == 0.0
    return solved


@machine_function("W")
def implicit(
    address, settle, A, B, C, x, buffer, K, F, hold, done, t, h, steps, every, out, row, weight, W
):
    """Take `steps` implicit steps of size h (s). Their stages are found by fixed-point iteration,
    which starts from the stages of the step before. Return status, t, the index of the next row,
    and the number of evaluations. weight: factors by which rates of states are multiplied to give
    the change in a step relative to the scale of the state. A stage has converged if an iteration
    changes it by rounding only, or by no less than the iteration before and so little that the
    change is noise from cancellation.
    """
    s = B.shape[1]
    start = t
    evaluations = 0
    size = len(x)
    fresh = np.zeros(size)
    left = np.zeros((3, W))
    push(buffer, F, size + W, done, hold, W)
    for i in range(s):
        place(buffer, x, t, W)
        call_block(address, buffer, K[i])
    for n in range(steps):
        push(buffer, F, size + W, done + n, hold, W)
        for l in range(W):
            left[0, l] = np.inf
        for _ in range(FIXED_POINT_ROUNDS):
            _round(address, A, C, x, buffer, K, fresh, weight, left, t, h, W)
            evaluations += s
            if _solved(left, W):
                break
        failed = not _all_finite(K, W)  # NaN does not show in the largest change
        for l in range(W):
            failed = failed or left[0, l] > ADMITTED_CHANGE * left[2, l] + NOISE_CHANGE
        if failed:
            place(buffer, x, t, W)
            call_block(address, buffer, fresh)
            return (NOT_SOLVED if finite(fresh, W) else NOT_FINITE), t, row, evaluations
        weighted(x, K, B, 0, s, h, x, 0)
        t = start + (n + 1) * h
        settle_flat(settle, buffer, x, t, 1, W)
        row = _row(x, n, every, out, row, W)
    return REACHED, t, row, evaluations


@machine_function("W")
def rollout(
    address, settle, A, B, C, X, held, buffer, K, F, hold, t, h, steps, every, out, ended, W
):
    """Take the steps of `explicit` for many groups of W runs one after another, without returning
    to Python between them. Return the number of groups. X (groups, size W): the states, flat, which
    become those at the end. held (groups, (nu + count) W): inputs, modes and parameters, in the
    layout of the buffer. F (groups, W, pieces, nv), hold: the forces, see `push`. out (groups, W, 1
    + rows, size): the start and the output rows. ended (groups, 2): the status of each group, and
    the time that it reached.
    """
    first = W + X.shape[1]
    for g in range(X.shape[0]):
        for n in range(held.shape[1]):
            buffer[first + n] = held[g, n]
        write(out[g], 0, X[g], W)
        status, reached, _, _ = explicit(
            address,
            settle,
            A,
            B,
            C,
            X[g],
            buffer,
            K,
            F[g],
            hold,
            0,
            t,
            h,
            steps,
            every,
            out[g],
            1,
            W,
        )
        ended[g, 0] = status
        ended[g, 1] = reached
    return X.shape[0]
