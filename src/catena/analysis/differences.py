"""Finite differences: the derivatives at rest of a mechanism with hundreds of bodies, by the
generic kernels.

    f'(q) = sum of w_k (f(q + k s) - f(q - k s)) / s,   k = 1, 2, 3,   w = 3/4, -3/20, 1/60

of order six (B. Fornberg, Mathematics of Computation 51 (1988) 699-706, table 1). The
differentiated function is a polynomial of sines and cosines of the coordinates and of lengths, so
that a step of s = 0.02 (rad, m) is accurate to about 1e-12. Springs are linear and are added
exactly.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from ..machine import LANES_UP_TO, Machine

Array = np.ndarray
# Step s of the differences: rad, m.
DIFFERENCE_STEP = 0.02
WEIGHTS = (3 / 4, -3 / 20, 1 / 60)
_bare: WeakKeyDictionary[Machine, Machine] = WeakKeyDictionary()


def long(machine: Machine) -> bool:
    """Return whether derivatives are taken by finite differences: the mechanism has more than
    LANES_UP_TO bodies, no constraint rows from equations of the user, and no loads other than
    springs.
    """
    m = machine.mechanism
    return (
        len(machine.layout.nodes) > LANES_UP_TO
        and not m.row_records
        and (machine.spec.springs is not None or not m.loads)
    )


def differences(machine: Machine, q: Array, lam: Array) -> tuple[Array, Array]:
    """Return A (rows, nv) at q, and the derivative (nv, nv) of gravity - A' lam by displacements
    along the speeds.
    """
    bare = _springless(machine)
    nv = machine.nv
    A = machine.constraint_rows(q, np.zeros(nv))[3] if machine.rows else np.zeros((0, nv))
    total = np.zeros((nv, nv))
    for k, w in enumerate(WEIGHTS, start=1):
        for sign in (1.0, -1.0):
            moved = machine.move(q, sign * k * DIFFERENCE_STEP * np.eye(nv))
            total += sign * w / DIFFERENCE_STEP * _residual(bare, moved, lam)
    r_q = total.T
    springs = machine.spec.springs
    if springs is not None:
        np.add.at(r_q, (springs.speed, springs.speed), springs.k)
    return A, r_q


def _residual(machine: Machine, q: Array, lam: Array) -> Array:
    """Return gravity - A' lam of each state, (states, nv)."""
    g = machine.gravity(q)
    return (
        g - np.einsum("bki,k->bi", machine.constraint_rows(q, np.zeros(machine.nv))[3], lam)
        if len(lam)
        else g
    )


def _springless(machine: Machine) -> Machine:
    """Return the same machine without springs and beams; it is built once and cached."""
    if machine.spec.springs is None:
        return machine
    if machine not in _bare:
        _bare[machine] = Machine(
            machine.mechanism.with_(loads=(), beams=()),
            threads=machine.threads,
            snap=machine.snap,
            life="generic",
        )
    return _bare[machine]
