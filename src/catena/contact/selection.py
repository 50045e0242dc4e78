"""The active contacts of a step, packed, so that the work of a step is that of the points that
touch; over lanes of runs.

A contact is active if it is so in at least one lane; in a lane where it is not, its impulse stays
zero. p, a, s are the ContactProblem, ContactAnswer and ContactScratch of `problem`.
"""

from __future__ import annotations

from ..spatial import any_lane, kernel, select
from .patches import row_of_patch
from .problem import ContactAnswer, ContactProblem
from .response import find_columns


@kernel
def selected(p, a, s):
    """Return the problem and the answer of the active contacts, in the memory that `pack` fills."""
    return (
        ContactProblem(
            s.gap, s.before, s.free, s.X, p.P, s.mode, p.e, p.static, p.kinetic, p.so_far, p.h
        ),
        ContactAnswer(s.impulse, s.shift, s.found, a.certificate, a.work),
    )


@kernel
def pack(p, a, s, rough, smooth, width, points):
    """Pack the active contacts. Return how many have friction, how many have one row, and how many
    inactive contacts were closed in the previous step (per lane).
    """
    few, alone, left = 0, 0, 0.0 * p.h[0]
    plain = rough - points
    for i in range(rough):
        s.took[i] = s.on[i]
        if any_lane(s.on[i] > 0.5):
            _one(p, s, i, few)
            for r in range(3):
                _row(p, a, s, 3 * i + r, 3 * few + r)
                if points > 0 and i >= plain:
                    row_of_patch(p, s, i - plain, r, 3 * few + r, width)
                else:
                    s.X[3 * few + r] = p.W[3 * i + r]
            find_columns(s.X, s, few, 3 * few, 3, width)
            few += 1
        else:
            left = left + select(p.mode[i] == 0.0, 0.0 * left, 1.0 + 0.0 * left)
    for i in range(rough, rough + smooth):
        s.took[i] = s.on[i]
        if any_lane(s.on[i] > 0.5):
            _one(p, s, i, few + alone)
            _row(p, a, s, 2 * rough + i, 3 * few + alone)
            s.X[3 * few + alone] = p.W[3 * plain + i - rough]
            find_columns(s.X, s, few + alone, 3 * few + alone, 1, width)
            alone += 1
        else:
            left = left + select(p.mode[i] == 0.0, 0.0 * left, 1.0 + 0.0 * left)
    return few, alone, left


@kernel
def _one(p, s, i, to):
    """Copy the data of contact i to position `to` of the packed arrays."""
    s.on[to], s.target[to], s.after[to], s.mu[to] = s.on[i], s.target[i], s.after[i], s.mu[i]
    s.gap[to], s.mode[to] = p.gap[i], p.mode[i]


@kernel
def _row(p, a, s, row, to):
    """Copy the speeds and the impulse of a row to position `to` of the packed arrays."""
    s.before[to], s.free[to], s.impulse[to] = p.before[row], p.free[row], a.P[row]


@kernel
def unpack(a, s, rough, smooth, few):
    """Copy the answer of the active contacts to all contacts, with zero for the others. few: the
    number of active contacts with friction.
    """
    one = 0
    alone = few
    zero = 0.0 * a.work[0]
    for i in range(rough):
        if any_lane(s.took[i] > 0.5):
            a.mode[i] = s.found[one]
            for r in range(3):
                a.P[3 * i + r], a.shift[3 * i + r] = s.impulse[3 * one + r], s.shift[3 * one + r]
            one += 1
        else:
            a.mode[i] = zero
            for r in range(3):
                a.P[3 * i + r], a.shift[3 * i + r] = zero, zero
    for i in range(rough, rough + smooth):
        if any_lane(s.took[i] > 0.5):
            a.shift[2 * rough + i], a.mode[i], a.P[2 * rough + i] = (
                s.shift[2 * few + alone],
                s.found[alone],
                s.impulse[2 * few + alone],
            )
            alone += 1
        else:
            a.shift[2 * rough + i], a.mode[i], a.P[2 * rough + i] = zero, zero, zero
