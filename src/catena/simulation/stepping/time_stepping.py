"""Contacts by time stepping: one step of Moreau and Jean as three pieces of machine code, for
batches of runs in lanes.

    problem    q_m = q + h/2 v;  v_f = v + h a(t + h/2, q_m, v);
               gap, J, W = J M^-1 J' at q_m
    solver     impulses P, and the shift of what penetrates, from W and J v_f:
               `contact.solvers`
    finish     v <- v_f + M^-1 J' P;  q <- q_m moved by h/2 v + M^-1 J' shift

Loops act inside M^-1: they are closed while impulses act. Stops of joints (limits = "stop") are
contacts of one row, and dry friction of joints is a row whose impulse lies between two limits; a
joint that sticks in a step has the speed zero exactly. The forces P/h, the modes and the
certificate are a part of the state, behind the controller's own, so that rows, files and
checkpoints have them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ...collision import thickness_of
from ...compiler import (
    BlockFunction,
    LaneKernel,
    Record,
    Tracer,
    compile_lanes,
    solve_columns,
    triangle,
    vector,
)
from ...contact import (
    CERTIFICATE,
    MANY,
    ContactAnswer,
    ContactProblem,
    ContactScratch,
    scratch_shapes,
)
from ...contact.solvers import solve_contacts
from ...model import Mechanism
from ..terms.contact_rows import TouchingPoint
from ..terms.power import load_power, row_power
from ..terms.projection import moved
from .stepped_patches import (
    ManifoldPoint,
    PairLayout,
    SteppedPair,
    SteppedPoint,
    pair_pose,
    pair_twist,
)
from .tolerances import ITERATIONS, RESIDUAL

if TYPE_CHECKING:
    from ..control.traced_law import Law
    from ..terms.symbols import SystemSymbols

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Stop:
    """A limit of a joint as a contact of one row: gap = sign (q - value). speed, place: where the
    speed is in v, and the coordinate in q.
    """

    name: str
    speed: int
    place: int
    sign: float
    value: Any
    restitution: float


@dataclass(frozen=True)
class DryFriction:
    """Dry friction of a joint as a row: the impulse along the speed with index `speed` in v is at
    most `limit` (N or N m, a number or an expression) times the step.
    """

    name: str
    speed: int
    limit: Any


@dataclass(frozen=True)
class SteppedContacts:
    """The contacts of a run by time stepping.

    points: the contact points, in the order of the file. stops: of joints. rubbing: the dry
    friction of joints. iterations: the most sweeps of the solver in a step. residual: at which it
    stops, relative to the fastest speed of a contact. The solver's order is: points with friction,
    of which those of pairs of shapes come last, then points without friction, then stops, then
    friction of joints.
    """

    points: tuple[SteppedPoint, ...]
    stops: tuple[Stop, ...] = ()
    rubbing: tuple[DryFriction, ...] = ()
    iterations: int = ITERATIONS
    residual: float = RESIDUAL

    @cached_property
    def ordered(self) -> tuple[SteppedPoint, ...]:
        """The points in the order of the solver."""
        return tuple(sorted(self.points, key=lambda c: not c.rough))

    @cached_property
    def plain(self) -> tuple[TouchingPoint, ...]:
        """The points that are not of pairs of shapes, in the order of the solver."""
        return tuple(c for c in self.ordered if isinstance(c, TouchingPoint))

    @cached_property
    def pairs(self) -> tuple[SteppedPair, ...]:
        """The pairs of shapes, whose points are found in every step."""
        return tuple(dict.fromkeys(c.point for c in self.ordered if isinstance(c, ManifoldPoint)))

    @cached_property
    def layout(self) -> PairLayout:
        """How the compiled code treats the pairs."""
        return PairLayout(self.pairs)

    @property
    def own(self) -> int:
        """The number of points with friction that are not of pairs of shapes."""
        return self.rough - self.layout.points

    @property
    def words(self) -> str:
        """A string that is equal for contacts with the same compiled equations."""
        return repr(
            [(c.point, c.rough) for c in self.plain]
            + [self.pairs]
            + [replace(stop, restitution=0.0) for stop in self.stops]
            + [*self.rubbing]
        )

    @property
    def rough(self) -> int:
        """The number of points with friction, which have three rows each."""
        return sum(c.rough for c in self.points)

    @property
    def smooth(self) -> int:
        """The number of contacts of one row: points without friction, stops, friction of joints."""
        return len(self.points) - self.rough + len(self.stops) + len(self.rubbing)

    @property
    def count(self) -> int:
        """The number of all contacts."""
        return self.rough + self.smooth

    @property
    def rows(self) -> int:
        """The number of rows of all contacts."""
        return 3 * self.rough + self.smooth

    # --- a part of the state
    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of those states that belong to contacts: forces of the rows (N, or N m), modes,
        the summed moment and force of each pair of shapes, and the certificate.
        """
        joints = [stop.name for stop in self.stops] + [row.name for row in self.rubbing]
        contacts = [c.name for c in self.ordered] + joints
        rows = [
            f"{name} {axis}"
            for c in self.ordered
            for name, axis in zip([c.name] * c.count, ("normal", "tangent 1", "tangent 2"))
        ]
        rows += joints
        sums = [
            f"{what} of {pair.name} {axis}"
            for pair in self.pairs
            for what in ("moment", "force")
            for axis in "xyz"
        ]
        return (
            *(f"force of {name}" for name in rows),
            *(f"mode of {name}" for name in contacts),
            *sums,
            *(f"contact {word}" for word in CERTIFICATE),
        )

    def with_contact_states(self, law: Law) -> tuple[Law, ca.SX]:
        """Return the law of the controller with the states of the contacts added after its own, and
        the symbols of these states.
        """
        own = ca.SX.sym("contact", len(self.names))
        jump = None if law.jump is None else ca.vertcat(law.jump, own)
        return (
            replace(
                law,
                rate=ca.vertcat(law.rate, ca.SX.zeros(len(self.names))),
                state=ca.vertcat(law.state, own),
                jump=jump,
                names=(*law.names, *self.names),
                start=(*law.start, *[0.0] * len(self.names)),
            ),
            own,
        )

    def split(self, own: Any) -> tuple[Any, Any, Any, Any]:
        """Split the contacts' part of a state along its first axis: return forces, modes, sums of
        pairs, and the certificate.
        """
        m, k = self.rows, self.count
        last = m + k + 6 * len(self.pairs)
        return own[:m], own[m : m + k], own[m + k : last], own[last:]

    def with_pairs(self, values: ca.SX, each: int) -> ca.SX:
        """Return numbers of the plain contacts with zeros inserted for those of pairs of shapes.
        each: how many numbers a contact with friction has.
        """
        first = each * self.own
        one, other = ca.vertsplit(values, [0, first, values.numel()])
        return ca.vertcat(one, ca.SX.zeros(each * self.layout.points), other)

    def without_pairs(self, values: ca.SX, each: int) -> ca.SX:
        """Return the numbers without those of pairs of shapes: the inverse of `with_pairs`."""
        first = each * self.own
        last = each * self.rough
        one, _, other = ca.vertsplit(values, [0, first, last, values.numel()])
        return ca.vertcat(one, other)

    # --- at a configuration
    def kinematics(self, s: Tracer) -> tuple[ca.SX, ca.SX]:
        """Return the gaps (k,) of the plain points and stops, with zeros for friction of joints;
        and their Jacobian J (m, nv), followed by the Jacobian of the twists of pairs of shapes (6
        n, nv).
        """
        meets = [c.meet(s) for c in self.plain]
        rate = (
            vector(
                [
                    *(x for m in meets for x in m.velocity),
                    *(x for pair in self.pairs for x in pair_twist(s, pair)),
                ]
            )
            if self.points
            else ca.SX.zeros(0)
        )
        J = ca.jacobian(rate, s.v)
        e = ca.SX.eye(s.layout.nv)
        own = sum(len(m.velocity) for m in meets)
        gaps = [m.gap for m in meets] + [
            stop.sign * (s.q[stop.place] - s.value(stop.value)) for stop in self.stops
        ]
        gaps += [ca.SX(0.0) for _ in self.rubbing]
        return ca.densify(vector(gaps)), ca.vertcat(
            J[:own, :],
            *(stop.sign * e[stop.speed, :] for stop in self.stops),
            *(e[row.speed, :] for row in self.rubbing),
            J[own:, :],
        )

    def response(self, s: Tracer) -> tuple[ca.SX, ca.SX, ca.SX, list[ca.SX]]:
        """Return gap and J of `kinematics`; W = J M^-1 J' with loops closed, or, where the solver
        makes W, X (m, nv) with W = X X'; and the matrices that `speed_change` needs.

        M = L' D^-1 L,  X' = D^(1/2) L'^-1 J',  dv = L^-1 D^(1/2) X' P. With loops dv = Y P, and X'
        = D^(-1/2) L Y.
        """
        gap, J = self.kinematics(s)
        J = ca.sparsify(J)
        L, D = triangle(s._factor)
        root = ca.sqrt(ca.densify(D))
        if s.layout.mechanism.constrained:
            A = ca.sparsify(s.constraint_rows()[3])
            Y = solve_columns(s._factor, J.T)
            Y = ca.horzcat(
                *(Y[:, i] + s.smallest_change(A, -(A @ Y[:, i]))[0] for i in range(J.shape[0]))
            )
            return (
                gap,
                J,
                (ca.diag(1.0 / root) @ L @ Y).T if self.width(s) else J @ Y,
                [ca.densify(Y)],
            )
        X = ca.sparsify(ca.diag(root) @ ca.solve(L.T, J.T))
        return gap, J, X.T if self.width(s) else _symmetric(X), [X, L, root]

    def width(self, s: Tracer) -> int:
        """Return nv where the solver computes W from its factor; 0 where the compiled equations
        contain W.
        """
        return s.layout.nv if self.count > MANY or self.pairs else 0

    def joint_forces(self, system: SystemSymbols) -> ca.SX:
        """Return the joint forces (nv,) of the contact forces in the state."""
        J = system.tape("contact rows", self.words, lambda s: [ca.vec(self.kinematics(s)[1])])(
            system.t, system.q, system.v, system.p
        )
        force, _, sums, _ = self.split(system.touching_state)
        force = ca.vertcat(self.without_pairs(force, 3), sums)
        return ca.reshape(J, force.numel(), system.nv).T @ force

    # --- records of the solver
    def problem_shapes(self, s: Tracer) -> tuple[tuple[int, ...], ...]:
        """Return the shapes of the arrays of the `ContactProblem`."""
        k = self.count
        m = self.rows
        r = self.rough
        n = len(self.pairs)
        width = self.width(s)
        return (
            (k,),
            (m,),
            (m,),
            (m - 3 * self.layout.points, width or m),
            (m,),
            (k,),
            (k,),
            (r,),
            (r,),
            (len(CERTIFICATE),),
            (1,),
            (n, 32),
            (n, 6),
            (n, 6),
            (6 * n, width),
            (len(self.rubbing),),
            (k,),
        )

    def solver(self, s: Tracer, lanes: int) -> BlockFunction:
        """Return the solver for these contacts, compiled for so many lanes."""
        k = self.count
        m = self.rows
        r = self.rough
        n = len(self.pairs)
        answer = Record(ContactAnswer, ((m,), (m,), (k,), (len(CERTIFICATE),), (1,), (n, 12)))
        scratch = Record(
            ContactScratch,
            scratch_shapes(
                r, self.smooth, self.width(s), *self.layout.scratch, boxed=len(self.rubbing)
            ),
            self.layout.hulls if n else None,
        )
        return BlockFunction(
            solve_contacts,
            Record(ContactProblem, self.problem_shapes(s)),
            answer,
            scratch,
            lanes,
            r,
            self.smooth,
            self.width(s),
            self.iterations,
            self.residual,
            self.layout.groups,
            n,
            self.layout.points,
            len(self.rubbing),
        )

    def thicknesses(self, m: Mechanism) -> list[float]:
        """Return how thick both shapes of each contact are together, m."""
        found = [thickness_of(c.point, m) for c in self.ordered]
        return found + [np.inf] * (len(self.stops) + len(self.rubbing))

    @property
    def laws(self) -> tuple[list[float], list[float], list[float]]:
        """The coefficients of restitution of all contacts, and of static and kinetic friction of
        those with friction.
        """
        e = [float(c.contact.restitution) for c in self.ordered]
        e += [stop.restitution for stop in self.stops] + [0.0] * len(self.rubbing)
        return (
            e,
            [c.contact.static for c in self.ordered if c.rough],
            [c.contact.kinetic for c in self.ordered if c.rough],
        )


class Stepper:
    """The three functions of a step, compiled for `width` lanes. size: the size of the memory in
    which they pass on numbers; given: how many of these are the contact problem.
    """

    def __init__(self, system: SystemSymbols, width: int):
        assert system.stepping is not None
        problem, finish = step_tapes(system)
        self.problem: LaneKernel = compile_lanes(problem, width=width)
        self.solver = system.stepping.solver(system.tracer(), width)
        self.finish: LaneKernel = compile_lanes(finish, width=width)
        self.given = self.problem.output_sizes[0] * width
        self.size = (self.finish.input_sizes[0] + self.solver.behind) * width

    @property
    def addresses(self) -> tuple[int, int, int]:
        """The addresses of the three functions: problem, solver, finish."""
        return self.problem.block_address, self.solver.block_address, self.finish.block_address

    def used(self, steps: int) -> None:
        """Announce to the kernels that so many steps follow, see `LaneKernel.used`."""
        self.problem.used(steps)
        self.finish.used(steps)


def stepper(system: SystemSymbols, width: int) -> Stepper:
    """Return the functions of a step of a system for `width` lanes, compiled once per system."""
    compiled: Stepper = system.compiled(("stepper", width), lambda: Stepper(system, width))
    return compiled


def step_tapes(system: SystemSymbols) -> tuple[ca.Function, ca.Function]:
    """Return two functions: (t, x, u, p, h) -> the numbers of a `ContactProblem`, then the numbers
    that the second function needs; and the function from these and the solver's solution to the
    state after the step.
    """
    c = system.stepping
    s = system.tracer()
    h = ca.SX.sym("h")
    assert c is not None
    move = ca.Function("move", [s.q, s.v, h], [moved(s, h)])
    t, x, u, p = system.inputs
    problem, rest, carried = _problem_arrays(system, c, h)
    at = ca.Function(
        "at", [*system.inputs, h], [ca.densify(ca.vertcat(*(ca.vec(x) for x in (*problem, *rest))))]
    )
    handed = at(t + 0.5 * h, ca.vertcat(move(system.q, system.v, 0.5 * h), x[system.nq :]), u, p, h)
    # after the solver
    n = len(c.pairs)
    sizes = [c.rows, c.rows, c.count, len(CERTIFICATE), 1, 12 * n]
    taken = ca.SX.sym("taken", handed.numel())
    answer = ca.SX.sym("answer", sum(sizes))
    P, shift, mode, certificate, gained, sums = ca.vertsplit(
        answer, np.cumsum([0, *sizes]).tolist()
    )
    sums = ca.reshape(sums, 12, n)
    first = sum(x.numel() for x in problem)
    _, free, q, own, work, before, push, *factors = ca.vertsplit(
        taken, np.cumsum([0, first, *(x.numel() for x in rest)]).tolist()
    )
    step = taken[sum(x.numel() for x in problem[:10])]
    factors = [ca.SX(pattern, x) for pattern, x in zip(carried, factors)]
    v = free + speed_change(factors, ca.vertcat(c.without_pairs(P, 3), ca.vec(sums[:6, :])))
    for k, row in enumerate(c.rubbing, c.count - len(c.rubbing)):  # not only to the residual
        v[row.speed] = ca.if_else(mode[k] == 2.0, 0.0, v[row.speed])
    q = move(
        q,
        v
        + (2.0 / step)
        * speed_change(factors, ca.vertcat(c.without_pairs(shift, 3), ca.vec(sums[6:, :]))),
        0.5 * step,
    )
    after = ca.vertcat(
        q,
        v,
        own,
        P / step,
        mode,
        ca.vec(sums[:6, :]) / step,
        certificate,
        work + gained + 0.5 * ca.dot(push, before + v),
    )
    return (
        ca.Function("problem", [*system.inputs, h], [ca.cse(handed)]),
        ca.Function("finish", [ca.vertcat(taken, answer)], [ca.cse(ca.densify(after))]),
    )


def speed_change(factors: Sequence[ca.SX], P: ca.SX) -> ca.SX:
    """Return the change of speeds dv (nv,) by the impulses P (m,) of the contact rows. factors: the
    matrices that `SteppedContacts.response` returned.
    """
    if len(factors) == 1:
        return factors[0] @ P
    X, L, root = factors
    return ca.solve(L, ca.densify(root * (X @ P)))


def _problem_arrays(
    system: SystemSymbols, c: SteppedContacts, h: ca.SX
) -> tuple[list[ca.SX], list[ca.SX], list[ca.Sparsity]]:
    """Return, at one configuration: the arrays of a `ContactProblem`; then the arrays that the end
    of the step needs: free speeds, q, the controller's state and the loads' work after the step,
    speeds before it, the impulses of the joint forces, and the nonzero entries of the matrices of
    `response`; and the sparsity patterns of these.
    """
    s = system.tracer()
    acting = system.controller.tau + system.losses
    tree = not system.mechanism.constrained
    patterns: list[ca.Sparsity] = []

    def response() -> ca.Function:
        gap, J, W, factors = c.response(s)
        patterns.extend(x.sparsity() for x in factors)
        a = s._free() if tree else ca.SX.zeros(system.nv)
        pose = (
            vector([x for pair in c.pairs for x in pair_pose(s, pair)])
            if c.pairs
            else ca.SX.zeros(0)
        )
        return ca.Function(
            "response",
            [s.t, s.q, s.v, s.tau, s.p],
            [gap, ca.densify(J), ca.densify(W), a, pose, *(_entries(x) for x in factors)],
        )

    gap, J, W, a, pose, *factors = response()(system.t, system.q, system.v, acting, system.p)
    tau = acting
    if not (tree and system.formulation.by_blocks):
        a, tau = system.under(acting)
    J = ca.sparsify(J)
    free = system.v + h * a
    force, mode, _, certificate = c.split(system.touching_state)
    parts = [0, J.shape[0] - 6 * len(c.pairs), J.shape[0]]
    (before, turning), (without, turns), (W, Y) = (
        ca.vertsplit(x, parts) for x in (J @ system.v, J @ free, W)
    )
    e, static, kinetic = (vector(x) for x in c.laws)
    limits = [h * s.value(row.limit) for row in c.rubbing]
    limit = ca.Function("limit", [s.p, h], [vector(limits) if limits else ca.SX.zeros(0)])
    count = system.nc - len(c.names)
    own = system.c[:count] + h * system.controller.rate[:count]
    work = system.work + h * (load_power(system) + row_power(system))
    problem = [
        c.with_pairs(gap, 1),
        c.with_pairs(before, 3),
        c.with_pairs(without, 3),
        W.T,
        h * force,
        mode,
        e,
        static,
        kinetic,
        certificate,
        h,
        pose,
        turning,
        turns,
        Y.T,
        limit(system.p, h),
        vector(c.thicknesses(system.mechanism)),
    ]
    return problem, [free, system.q, own, work, system.v, h * tau, *factors], patterns


def _entries(x: ca.SX) -> ca.SX:
    """Return the structurally nonzero entries of a sparse matrix as a column."""
    entries: list[Any] = x.nonzeros()
    return vector(entries)


def _symmetric(X: ca.SX) -> ca.SX:
    """Return X' X; only its lower half is computed."""
    rows = [ca.densify(X[:, i].T @ X[:, : i + 1]) for i in range(X.shape[1])]
    return ca.vertcat(
        *(
            ca.horzcat(rows[i], *(rows[j][i] for j in range(i + 1, len(rows))))
            for i in range(len(rows))
        )
    )
