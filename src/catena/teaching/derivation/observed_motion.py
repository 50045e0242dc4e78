"""Observed motion: the poses of bodies along a curve of the coordinates, and their rates by finite
differences.

This second route to kinematics uses neither kernels nor derivatives of expressions: X is the
product of the joints' poses in numbers,

    q(t) = q + t q' + t^2/2 q'',     r', r'', R', R'' at t = 0 by central differences of eighth
                                     order
    tilde(omega) = R^T R',     tilde(alpha) = R^T R'' - tilde(omega)^2
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import casadi as ca
import numpy as np

from ...compiler import Tracer
from ...model import GROUND, Joint, Mechanism, Pose, displacement, value_of
from ...spatial import select

States = Sequence[Mapping[str, np.ndarray]]  # of each state the values of q, p and others, by role
SHARE = 0.02  # of the time in which the motion changes, for one step of the differences
FIRST = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0.0, 4 / 5, -1 / 5, 4 / 105, -1 / 280])
SECOND = np.array([-1 / 560, 8 / 315, -1 / 5, 8 / 5, -205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560])
STEPS = np.arange(-4, 5)


class Observed(NamedTuple):
    """The motion of one body: its axes R (states, 3, 3); and (states, 3) each: centre of mass r,
    its velocity and acceleration in the ground's axes; omega and alpha in the body's.
    """

    R: np.ndarray
    r: np.ndarray
    v: np.ndarray
    a: np.ndarray
    w: np.ndarray
    alpha: np.ndarray


def observed(
    s: Tracer, states: States, numbers: Callable[[ca.SX], np.ndarray]
) -> dict[str, Observed]:
    """Return {body: its motion} at random states of the symbols s. numbers: a function that returns
    the values of an expression, (states, entries).
    """
    m = s.layout.mechanism
    rate = s.coordinate_rate()
    q1 = numbers(rate)
    q2 = numbers(ca.jtimes(rate, s.q, rate) + ca.jtimes(rate, s.v, s.a))
    seen: dict[str, list[np.ndarray]] = {j.child: [] for j in m.ordered}
    h = SHARE / (1.0 + np.abs(q1).max(1) + np.sqrt(np.abs(q2).max(1)))  # one step for each state
    for k, state in enumerate(states):
        values = dict(zip(m.parameters, state["p"]))
        moments = [
            _poses(m, state["q"] + t * q1[k] + t * t / 2 * q2[k], values) for t in h[k] * STEPS
        ]
        for body, found in seen.items():
            found.append(np.array([X[body] for X in moments]))
    return {body: _seen(m, states, body, np.array(X), h[:, None]) for body, X in seen.items()}


def _seen(m: Mechanism, states: States, body: str, X: np.ndarray, h: np.ndarray) -> Observed:
    """Return the motion of a body from its poses X (states, times, 4, 4), at times h (states, 1)
    apart.
    """
    R = X[..., :3, :3]
    r = np.empty((*X.shape[:2], 3))
    for k, state in enumerate(states):
        values = dict(zip(m.parameters, state["p"]))
        com = np.array([float(value_of(x, values)) for x in m.body(body).com])
        r[k] = X[k, :, :3, :3] @ com + X[k, :, :3, 3]
    # from the middle, so that what stands still has rates of exactly zero
    turned = R - R[:, 4:5]
    moved = r - r[:, 4:5]
    back, dR, ddR = (
        np.swapaxes(R[:, 4], -1, -2),
        *(np.einsum("t,ktij->kij", c, turned) for c in (FIRST, SECOND)),
    )
    W = back @ dR
    A = back @ ddR - W @ W
    v = np.einsum("t,kti->ki", FIRST, moved) / h
    a = np.einsum("t,kti->ki", SECOND, moved) / h**2
    return Observed(R[:, 4], r[:, 4], v, a, _axial(W) / h, _axial(A) / h**2)


def _axial(W: np.ndarray) -> np.ndarray:
    return (
        np.stack([W[:, 2, 1] - W[:, 1, 2], W[:, 0, 2] - W[:, 2, 0], W[:, 1, 0] - W[:, 0, 1]], -1)
        / 2
    )


def _poses(m: Mechanism, q: np.ndarray, values: Mapping[str, float]) -> dict[str, np.ndarray]:
    """Return {body: X (4, 4)} in the ground at the coordinates q."""
    own = {}
    found = {GROUND: np.eye(4)}
    at = 0
    for j in m.moving:
        own[j.name], at = q[at : at + j.nq], at + j.nq
    for j in m.ordered:
        here = (
            _numeric(j.placement, values)
            @ displacement(j.freedoms, _coordinates(j, own, values).tolist()).matrix()
        )
        found[j.child] = found[j.parent] @ here @ np.linalg.inv(_numeric(j.offset, values))
    return found


def _coordinates(j: Joint, own: dict[str, np.ndarray], values: Mapping[str, float]) -> np.ndarray:
    """Return the coordinates of a joint: its own, or those that follow another joint."""
    if j.mimic is None:
        return own.get(j.name, np.empty(0))
    leader = own[j.mimic.joint]
    if j.mimic.function is not None:
        return np.array([float(j.mimic.function(float(leader[0]), select)[0])])
    own[j.name] = leader * float(value_of(j.mimic.multiplier, values)) + float(
        value_of(j.mimic.offset, values)
    )
    return own[j.name]


def _numeric(X: Pose, values: Mapping[str, float]) -> np.ndarray:
    return Pose(
        [[float(value_of(x, values)) for x in row] for row in X.rotation],  # type: ignore[arg-type]
        [float(value_of(x, values)) for x in X.position],  # type: ignore[arg-type]
    ).matrix()
