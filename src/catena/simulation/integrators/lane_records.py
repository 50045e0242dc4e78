"""The records of adaptive steps in lanes (`lane_driver.py`): code, method, runs, lanes and
memory.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Code(NamedTuple):
    """The addresses of the derivative, of the projection onto constraints and of the guards, zero
    for none. guarded: whether there are guards.
    """

    rate: Any
    settle: Any
    guard: Any
    guarded: Any


class Tableau(NamedTuple):
    """A method: stages A, C, of which s make a step; the weights E of its error, and its order; the
    weights P of dense output, D of its error, and its degree; looks: weights of dense output at the
    places of `lane_events.locate`.
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


class Norm(NamedTuple):
    """How errors are judged. table: that of `error_scales.py`. limits: rtol, then the limits of
    `error_scales.py`.
    """

    table: Any
    limits: Any


class Runs(NamedTuple):
    """R runs.

    X (R, size): states. given (R, inputs): inputs, modes and parameters. T, H, end (R,): times,
    steps and ends, s. times: of the output rows; row, until_row (R,): the index of the next row,
    and the index after the last one. most (R,): the number of steps after which a segment ends. out
    (R, rows, size), held (R, rows, nu): rows are written from `first` on. tally (R, 3): accepted
    steps, rejected steps and evaluations, which are added to. ended (R, 2): status and guard.
    origin (R, size), moved (R, 2): where the runs began, how far and how fast they have been
    (`error_scales.py`). guards: on which side of zero the conditions of events were last seen
    (`guard_sides.py`). watch (R, WATCHED): the evidence of the stiffness of each (`stiffness.py`).
    """

    X: Any
    given: Any
    T: Any
    H: Any
    end: Any
    times: Any
    row: Any
    until_row: Any
    most: Any
    out: Any
    held: Any
    first: Any
    tally: Any
    ended: Any
    origin: Any
    moved: Any
    guards: Any
    watch: Any


class Lanes(NamedTuple):
    """Values of each lane, arrays (W,).

    who: the index of its run, -1 for an empty lane. t, h, step: the time, the proposed step size,
    and the step size being tried, s. clipped: whether the step being tried was shortened to end at
    the end of the run. error, last: the error of this step and of the last accepted one, relative
    to what is allowed; inside: the error of its dense output. refused: whether the last step was
    rejected. later: first the factor of the next step size, then that step size, s. accepted:
    whether the step is accepted. needs: whether dense output is needed, or an event is still being
    located. fresh: whether the run has just entered the lane. none: zeros. event: the guard that
    falls to zero in this step, -1 for none; low, high: fractions of the step that enclose the
    event; below, above: the values of the guard there. part: a fraction of the step. due: marks the
    lanes to which the next operation applies. far, fast: how far and how fast the run has been;
    reach, pace: the same at the end of the step; base: the length of the motion, relative to which
    rounding is judged (`error_scales.py`).
    """

    t: Any
    h: Any
    step: Any
    last: Any
    later: Any
    error: Any
    part: Any
    low: Any
    high: Any
    below: Any
    above: Any
    accepted: Any
    needs: Any
    fresh: Any
    due: Any
    none: Any
    far: Any
    fast: Any
    reach: Any
    pace: Any
    base: Any
    inside: Any
    who: Any
    event: Any
    refused: Any
    clipped: Any


class Memory(NamedTuple):
    """Work arrays of all lanes, flat.

    x, new: states at the beginning and at the end of the step. K: derivatives of the stages.
    buffer: the arguments of the compiled functions. scratch, zero: of the size of x. e,
    inverse_allowed, sums: errors, 1 over the allowed errors, and sums of squares. g, g_new, values,
    before: guards at the step's start, at its end, at the present place within it, and at the
    previous place. w: weights of dense output. origin: the states at which the runs began.
    """

    x: Any
    new: Any
    K: Any
    buffer: Any
    scratch: Any
    zero: Any
    e: Any
    inverse_allowed: Any
    sums: Any
    g: Any
    g_new: Any
    values: Any
    before: Any
    w: Any
    origin: Any


def lanes_of(whole, W):
    """Return the record of W empty lanes. whole: memory for (4, W) integers."""
    f = np.zeros((22, W))
    for l in range(W):
        whole[0, l] = -1
    return Lanes(
        f[0],
        f[1],
        f[2],
        f[3],
        f[4],
        f[5],
        f[6],
        f[7],
        f[8],
        f[9],
        f[10],
        f[11],
        f[12],
        f[13],
        f[14],
        f[15],
        f[16],
        f[17],
        f[18],
        f[19],
        f[20],
        f[21],
        whole[0],
        whole[1],
        whole[2],
        whole[3],
    )


def memory_of(size, K, buffer, g, stages, W):
    """Return the work arrays for states of that size in W lanes."""
    return Memory(
        np.zeros(size * W),
        np.zeros(size * W),
        K,
        buffer,
        np.zeros(size * W),
        np.zeros(size * W),
        np.zeros(size * W),
        np.zeros(size * W),
        np.zeros((2, W)),
        g,
        np.zeros(len(g)),
        np.zeros(len(g)),
        np.zeros(len(g)),
        np.zeros((stages, W)),
        np.zeros(size * W),
    )
