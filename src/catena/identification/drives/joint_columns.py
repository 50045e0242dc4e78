"""Columns of all drives along a log: the base regressor, and candidates of friction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...machine import Machine
from ..logs import Motion, drive_regressor
from .friction_laws import FRICTION_LAWS, JointMotion, Shape, jitter_free
from .normal_equations import Gram

Array = NDArray[np.float64]
# the band within which a joint counts as still, relative to the deviation of its measured positions
# from the filtered ones
JITTER_DEVIATIONS = 1.0
STILL_DEVIATIONS = 30.0  # of a whole log: a joint with a smaller range of positions never moved


@dataclass(frozen=True)
class Term:
    """A friction law that a drive model uses, with its shape."""

    law: str
    shape: Shape = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its coefficients, with the shape where there is one."""
        own = ", ".join(f"{x:.4g}" for x in self.shape)
        return tuple(f"{n} ({own})" if own else n for n in FRICTION_LAWS[self.law].terms)


@dataclass(frozen=True)
class Drives:
    """A log with the data from which its columns are computed: regressor (T, n, b) of the base
    parameters.
    """

    motion: Motion
    regressor: Array
    joints: tuple[JointMotion, ...]

    def with_loads(self, loads: Array) -> Drives:
        """Return a copy with other rigid-body forces (T, n), in units of the efforts."""
        joints = tuple(
            JointMotion(x.t, x.q, x.v, x.a, loads[:, k], x.stretch, x.cache)
            for k, x in enumerate(self.joints)
        )
        return Drives(self.motion, self.regressor, joints)

    def blocks(self, count: int) -> list[Drives]:
        """Return the log divided into this many blocks, each as a log in which only the rows of the
        block are valid.
        """
        part = np.arange(len(self.motion.t)) * count // len(self.motion.t)
        return [
            Drives(
                replace(self.motion, valid=self.motion.valid & (part == k)),
                self.regressor,
                self.joints,
            )
            for k in range(count)
        ]


def drives(machine: Machine, motion: Motion, kept: Sequence[int], coupling: Array) -> Drives:
    """Return a log with the columns `kept` of its regressor, and without rigid-body forces."""
    Y = drive_regressor(machine, motion.q, motion.v, motion.a, coupling, list(kept))
    zero = np.zeros(len(motion.t))
    Q, V, A = (x @ coupling.T for x in (motion.q, motion.v, motion.a))
    noise = np.abs(coupling) @ motion.jitter
    joints = []
    for k in range(motion.q.shape[1]):
        q = Q[:, k]
        jitter = JITTER_DEVIATIONS * float(noise[k])
        if np.ptp(q) < STILL_DEVIATIONS * jitter:  # it never moved
            jitter = np.inf
        joints.append(JointMotion(motion.t, q, V[:, k], A[:, k], zero, jitter_free(q, jitter), {}))
    return Drives(motion, Y, tuple(joints))


def friction_columns(joint: JointMotion, terms: Sequence[Term]) -> Array:
    """Return the columns (T, m) of some terms of one joint."""
    parts = [c for term in terms for c in FRICTION_LAWS[term.law].columns(joint, term.shape)]
    return np.stack(parts, axis=1) if parts else np.zeros((len(joint.t), 0))


def grams(log: Drives, terms: Sequence[Sequence[Term]]) -> list[Gram]:
    """Return the Gram matrix of each joint with its candidates."""
    valid = log.motion.valid
    found = []
    for k, joint in enumerate(log.joints):
        columns = np.column_stack(
            [log.regressor[:, k], friction_columns(joint, terms[k]), log.motion.effort[:, k]]
        )[valid]
        found.append(Gram(columns.T @ columns, log.regressor.shape[-1], len(columns)))
    return found
