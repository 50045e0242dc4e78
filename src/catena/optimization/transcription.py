"""An optimal motion as a program: states at N + 1 instants, constant forces between them, the
duration and unknown parameters.

    y = (x_0, u, x_1, w),  u = (forces, gamma, mu, e),    w = (T, unknown parameters),     h = T / N

    collocation  Hermite-Simpson: x_m = (x_0 + x_1)/2 + h/8 (f_0 - f_1),
            x_1 - x_0 - h/6 (f_0 + 4 f_m + f_1) = 0
    shooting      x_1 - RK4(x_0, u, h) = 0, in RK4_STEPS steps

Closed loops: the accelerations keep the loops closed up to the error of an interval. Therefore the
end of each interval is projected back onto the loops, along their own rows (as [Posa2016] does at
the middle; here it is done at the end):

    q_1 - ... - A'(q_1) gamma = 0,    v_1 - ... - A'(q_1) mu = 0,     e(q_1) = 0,     A(q_1) v_1 = 0

gamma and mu are of the order of that error. The absolute value of a work W_j is represented by an
unknown e_j with W_j <= e_j and -W_j <= e_j, so that it has derivatives. All intervals have the same
function. A transcription is a function (flow, t, h, x_0, x_1) -> (defect, integrals) of one
interval; they are a registry.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ..registry import Registry
from ..simulation.system import System
from .contact_modes import ContactRows
from .copies import Copies
from .loop_rows import LoopRows

Array = NDArray[np.float64]
Flow = Callable[[ca.SX, ca.SX], Any]  # (t, x) -> x', the rates of what is integrated
RK4_STEPS = 4  # steps of RK4 per interval


@dataclass(frozen=True)
class Transcription:
    """A discretisation of an interval.

    defect(flow, t, h, x0, x1): the expressions that must be zero, and the integrals over the
    interval. doc: one line.
    """

    name: str
    defect: Callable[[Flow, ca.SX, ca.SX, ca.SX, ca.SX], tuple[ca.SX, ca.SX]]
    doc: str


def _collocation(flow: Flow, t: ca.SX, h: ca.SX, x0: ca.SX, x1: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Return the defect, which must be zero, and the integrals over an interval, by Hermite-Simpson
    collocation.
    """
    (f0, l0), (f1, l1) = flow(t, x0), flow(t + h, x1)
    fm, lm = flow(t + h / 2, (x0 + x1) / 2 + h / 8 * (f0 - f1))
    return x1 - x0 - h / 6 * (f0 + 4 * fm + f1), h / 6 * (l0 + 4 * lm + l1)


def _shooting(flow: Flow, t: ca.SX, h: ca.SX, x0: ca.SX, x1: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Return the defect, which must be zero, and the integrals of an interval, by steps of RK4."""
    x, cost, d = x0, ca.SX(0), h / RK4_STEPS
    for n in range(RK4_STEPS):
        at = t + n * d
        k1, l1 = flow(at, x)
        k2, l2 = flow(at + d / 2, x + d / 2 * k1)
        k3, l3 = flow(at + d / 2, x + d / 2 * k2)
        k4, l4 = flow(at + d, x + d * k3)
        x = x + d / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        cost = cost + d / 6 * (l1 + 2 * l2 + 2 * l3 + l4)
    return x1 - x, cost


TRANSCRIPTIONS: Registry[Transcription] = Registry(
    "transcription",
    [
        Transcription(
            "collocation", _collocation, "Hermite and Simpson: fourth order, implicit, forgiving"
        ),
        Transcription(
            "shooting", _shooting, "multiple shooting: four steps of RK4 in each interval"
        ),
    ],
)


@dataclass(frozen=True)
class Shape:
    """The unknowns of a motion.

    count: the number of intervals. actuated: the speeds whose forces are free. unknown: the indices
    of the unknown parameters; p: the values of all. free_time: whether w begins with the duration
    T; otherwise it is `until` (s).
    """

    count: int
    actuated: Sequence[int]
    unknown: Sequence[int]
    p: Array
    free_time: bool
    until: float


def interval(
    system: System,
    cost: tuple[ca.SX, float],
    transcription: Transcription,
    shape: Shape,
    loops: LoopRows,
    contacts: ContactRows,
    paths: ca.SX,
) -> Copies:
    """Return the copies of the function of an interval, of y and its place s = k / N.

    cost: its rate, and the weight of work in it. Its rows: defects (nx,), those of loops and
    contacts, `paths` at its end, and e - W, e + W of each force where work has a weight.
    """
    nx = system.nq + system.nv
    nf = len(shape.actuated)
    works = len(shape.actuated) if cost[1] else 0
    x0 = ca.SX.sym("x0", nx)
    x1 = ca.SX.sym("x1", nx)
    own_rows = loops.corrections + contacts.corrections
    held = ca.DM(contacts.modes)
    u = ca.SX.sym("u", nf + own_rows + works)
    w = ca.SX.sym("w", int(shape.free_time) + len(shape.unknown))
    s = ca.SX.sym("s")
    T = w[0] if shape.free_time else ca.SX(shape.until)
    forces = ca.SX.zeros(system.nv)
    own = ca.SX(shape.p)
    for k, place in enumerate(shape.actuated):
        forces[place] = u[k]
    for k, place in enumerate(shape.unknown):
        own[place] = w[int(shape.free_time) + k]
    power = (system.u * system.v)[list(shape.actuated)[:works]]
    f = ca.Function(
        "flow",
        [system.t, system.x, system.u, system.p, system.holding.symbols],
        [ca.densify(system._rate), ca.vertcat(cost[0], power), paths],
    )
    t, h = s * T, T / shape.count
    defect, integrals = transcription.defect(
        lambda t, x: tuple(f.call([t, x, forces, own, held])[:2]), t, h, x0, x1
    )
    back, closed = loops.at_end(system, t + h, x1, own, u[nf : nf + loops.corrections])
    onto, touching = contacts.at_end(
        system, t + h, x1, own, u[nf + loops.corrections : nf + own_rows]
    )
    along = f.call([t + h, x1, forces, own, held])[2]
    rows = [defect - back - onto, closed, touching, along]
    total = integrals[0]
    if works:
        e, W = u[nf + own_rows :], integrals[1:]
        rows = [*rows, e - W, e + W]
        total = total + cost[1] * ca.sum1(e)
    return Copies(
        ca.vertcat(x0, u, x1, w),
        s,
        ca.vertcat(*rows),
        total,
        (np.arange(shape.count) / shape.count)[:, None],
    )
