"""Dry friction of joints in an export that holds events: the modes of joints that stick or slip,
the guards that end a mode, and the data from which the next one follows.

The modes (`SpeedMode`: held, way, low, high of each joint) are further inputs of every function,
after the forces of the motors, so that a change of mode needs no new compilation:

    guards      (t, x, u, p) -> z (3 k,): a mode ends where one of them falls below zero
    response    (t, x, u, p) -> W (k k,), a (k,), inertia (k,), limit (k,), f' M^-1 f, v' M v

W is the block of M^-1 and a the accelerations of the k joints with friction; these two define the
boxed complementarity problem by which joints at rest stick or slip (`contact.boxed_problem`). The
rest are the scales of its thresholds (`simulation.handlers`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca

from ..compiler import solve_columns
from ..machine import Machine
from ..simulation.events import plan_events
from ..simulation.system import System


@dataclass(frozen=True)
class Sticking:
    """The dry friction of k joints; see the head of this file.

    speeds: the places of their speeds in the state x. names: of these speeds. start: the modes at
    the start, before the first choice.
    """

    speeds: tuple[int, ...]
    names: tuple[str, ...]
    start: tuple[float, ...]
    guards: ca.Function
    response: ca.Function


def sticking_system(machine: Machine, stabilise: str) -> System:
    """Return the system of a machine whose dry friction sticks."""
    holding = plan_events(machine, (), "ignore", "stick", contact="ignore").holding
    return System(
        machine.mechanism,
        "recursive",
        friction="stick",
        snap=machine.snap,
        stabilise=stabilise,
        holding=holding,
    )


def sticking(s: System, here: list[Any], inside: list[Any]) -> Sticking:
    """Return the functions of the friction of a system. here: t, x, u, p of the exported functions;
    inside: the same as the arguments of the system's own functions.
    """
    speeds = s.holding.speeds
    count = len(s.guards)
    assert s.guard is not None
    index = [h.index for h in speeds]
    (M, W) = s.tape("mass matrix and its inverse", tuple(index), lambda x: _inertia(x, index))(
        s.t, s.q, s.v, s.p
    )
    a = s.forces(*inside)[0]
    M = ca.reshape(M, s.nv, s.nv)
    limit = s.bounds(s.p)[2]
    found = [W, a[index], ca.diag(M)[index], limit, ca.dot(a, M @ a), ca.dot(s.v, M @ s.v)]
    return Sticking(
        tuple(s.nq + k for k in index),
        tuple(h.name for h in speeds),
        tuple(float(x) for x in s.holding.start()),
        ca.Function("guards", here, [ca.cse(ca.densify(s.guard(*inside)[:count]))]),
        ca.Function("response", here, [ca.cse(ca.densify(ca.vertcat(*found)))]),
    )


def _inertia(x: Any, index: list[int]) -> list[ca.SX]:
    """Return the mass matrix M, and the rows and columns `index` of M^-1, each as one column."""
    columns = solve_columns(x._factor, ca.SX.eye(x.layout.nv)[:, index])
    return [ca.vec(x.mass_matrix()), ca.vec(columns[index, :])]
