"""Many worlds in lanes that are advanced in place by one call: what environments for learning do at
each step.

A world that is no longer finite does not stop the others: its numbers stay in its own lane.
"""

from __future__ import annotations

from ...compiler import call_block, machine_function, weighted
from .drivers import place, settle_flat, stage


def _observe(observe, X, before, given, watch, Y, t, W):
    """Evaluate the tape of observations (t, x, u, p, x before) -> y for one group of worlds."""
    place(watch, X, t, W)
    first = W + len(X)
    for n in range(len(given)):
        watch[first + n] = given[n]
    first = first + len(given)
    for n in range(len(before)):
        watch[first + n] = before[n]
    call_block(observe, watch, Y)


@machine_function("W")
def advance_explicit(
    address, settle, A, B, C, X, given, before, buffer, K, t, h, steps, observe, watch, Y, W
):
    """Advance groups of W worlds by `steps` explicit steps of h seconds. Return their number.

    X (groups, size W): states, flat in lanes, changed in place. given (groups, (nu + count) W):
    inputs, modes and parameters. before (groups, size W): where the states before are written. Y
    (groups, outputs W): observations. With no stages (B is empty) the tape is the step itself.
    """
    s = B.shape[1]
    first = W + X.shape[1]
    for g in range(X.shape[0]):
        for n in range(given.shape[1]):
            buffer[first + n] = given[g, n]
        for n in range(X.shape[1]):
            before[g, n] = X[g, n]
        for _ in range(steps):
            if s == 0:
                place(buffer, X[g], t, W)
                for l in range(W):
                    buffer[len(buffer) - W + l] = h
                call_block(address, buffer, X[g])
            else:
                for i in range(s):
                    stage(address, buffer, X[g], K, A, i, t, h, W)
                weighted(X[g], K, B, 0, s, h, X[g], 0)
            settle_flat(settle, buffer, X[g], t, 1, W)
        _observe(observe, X[g], before[g], given[g], watch, Y[g], t, W)
    return X.shape[0]


@machine_function("W")
def advance_contacts(
    problem,
    solver,
    finish,
    settle,
    X,
    given,
    before,
    buffer,
    room,
    size,
    t,
    h,
    steps,
    observe,
    watch,
    Y,
    W,
):
    """Advance groups of worlds with contacts by time stepping, as `advance_explicit` does. room:
    the memory of the three pieces of a step, of which the first `size` numbers are the problem.
    """
    first = W + X.shape[1]
    for l in range(W):
        buffer[len(buffer) - W + l] = h
    for g in range(X.shape[0]):
        for n in range(given.shape[1]):
            buffer[first + n] = given[g, n]
        for n in range(X.shape[1]):
            before[g, n] = X[g, n]
        for _ in range(steps):
            place(buffer, X[g], t, W)
            call_block(problem, buffer, room)
            call_block(solver, room, room[size : len(room)])
            call_block(finish, room, X[g])
            settle_flat(settle, buffer, X[g], t, 1, W)
        _observe(observe, X[g], before[g], given[g], watch, Y[g], t, W)
    return X.shape[0]


@machine_function("W")
def observe_groups(groups, X, given, before, t, observe, watch, Y, W):
    """Evaluate the observations of some groups of worlds, by their numbers. Return how many."""
    for k in range(len(groups)):
        g = groups[k]
        _observe(observe, X[g], before[g], given[g], watch, Y[g], t, W)
    return len(groups)
