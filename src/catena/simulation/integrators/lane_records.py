"""The records of adaptive steps in lanes (`lane_driver.py`): code, method, runs, lanes and
memory.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Code(NamedTuple):
    """Addresses of the derivative, of the projection onto constraints and of the guards, zero for
    none; guarded: whether there are guards.
    """

    rate: Any
    settle: Any
    guard: Any
    guarded: Any


class Tableau(NamedTuple):
    """A method: stages A, C, of which s make a step; its error E and order; dense output P, its
    error D and degree; looks: of `locate`.
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
    """How errors are judged: the table of `error_scales.py`, and rtol with its limits."""

    table: Any
    limits: Any


class Runs(NamedTuple):
    """R runs. X (R, size), given (R, inputs): states; inputs, modes and parameters. T, H, end (R,):
    times, steps and ends, s. times: of the rows; row, until_row (R,): the next of them, and where
    they end. most (R,): steps, after which a segment ends. out (R, rows, size), held (R, rows, nu):
    rows are written from `first` on. tally (R, 3) is added to; ended (R, 2): status and guard.
    origin (R, size), moved (R, 2): where they began, how far and how fast they have been
    (`error_scales.py`). guards: on which side of zero the conditions of events were last seen
    (`guard_sides.py`).
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


class Lanes(NamedTuple):
    """Numbers of each lane (W,). who: its run, -1 for none. t, h, step: its time, the step wanted
    and the one tried, s; clipped: whether that one ends at the run's end. error, last: of this step
    and the last accepted, relative to what is allowed, and inside: of its dense output; refused:
    whether the last one was refused. later: the step after this one. accepted: whether the step is;
    needs: whether its dense output is needed; fresh: whether the run has just come. event: the
    guard that falls in this step, -1 for none, between `low` and `high` of the step, with its
    values below and above. part: of the step; due: whether it is taken. far, fast: how far and how
    fast the run has been; reach, pace: the same with what this step adds; base: its length, as
    rounding sees it.
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
    """Numbers of all lanes: states x and those at the step's end, derivatives K of the stages, what
    the code reads (buffer), errors and what they may be, the guards here, at the step's end and
    elsewhere, weights of dense output, the runs' origins.
    """

    x: Any
    new: Any
    K: Any
    buffer: Any
    scratch: Any
    zero: Any
    e: Any
    beside: Any
    sums: Any
    g: Any
    g_new: Any
    values: Any
    before: Any
    w: Any
    origin: Any


def lanes_of(whole, W):
    """Lanes in which there is no run. whole: (4, W) whole numbers."""
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
    """Memory of states of that size in W lanes."""
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
