"""System: a mechanism, its losses and its controller as one first-order system, traced and
compiled.

    x' = f(t, x, u, p),      x = (state of the formulation, controller's own state, work done)

u: the forces that a sampled controller holds, then the modes of switched constraints
(`switched_constraints.py`); a traced controller is part of f. The last entry of x is the work that
everything but gravity and springs has done on the mechanism (J), so that the energy balance can be
checked at every instant.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from ...compiler import LaneKernel, Tracer, compile_lanes, coulomb, damping, kept, kept_tape, losses
from ...equations.formulations import derive, formulation
from ...kernels import SNAP, column_scales, layout, own_length
from ...results import Labels, labels
from ..control.traced_law import Law
from ..terms.contact_state import contact_state
from ..terms.error_scales import error_table
from ..terms.guards import Guard, expressions, fastest_turn
from ..terms.light_motions import accelerations, has_light_motions
from ..terms.power import load_power, row_power
from ..terms.stabilisation import Stabiliser, needs_speeds, stabiliser
from ..terms.switched_constraints import SwitchedConstraints
from ..trajectories.trajectory_state import Following, Follows
from .binding_rows import binding, settle, touching
from .euler_step import euler_step

if TYPE_CHECKING:
    from ...equations import Equations
    from ...model import Mechanism
    from ..stepping.time_stepping import SteppedContacts
    from ..trajectories.piecewise import Trajectory


class System:
    """The traced functions of one simulation.

    law: a controller that is part of the equations; its `law(system) -> Law` reads the symbols t,
    q, v, u, p of this system. motion: the prescribed motion, {coordinate: Trajectory} or {joint:
    "locked"}; see `prescribed.py`. friction: "smooth", or "stick" for the joints in `holding`.
    stabilise: how loops are kept closed, a name or record of `stabilisation.py`. holding: the
    switched constraints. equations: those by the formulation `by`, where they exist already;
    otherwise they are derived with `options`. snap: as for a Machine. stepping: contacts that are
    solved by time stepping.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        by: str = "recursive",
        law: Any = None,
        friction: str = "smooth",
        motion: Any = None,
        stabilise: Any = "project",
        holding: SwitchedConstraints | None = None,
        equations: Equations | None = None,
        snap: float = SNAP,
        stepping: SteppedContacts | None = None,
        **options: Any,
    ):
        self.mechanism, self.by, self.formulation, self.snap = mechanism, by, formulation(by), snap
        self.stabiliser: Stabiliser = stabiliser(stabilise)
        self.holding = SwitchedConstraints() if holding is None else holding
        # driven coordinates need no inertia, as they are not solved for
        self.layout = layout(mechanism)
        self.light = (
            bool(self.holding.contacts)
            and motion is None
            and self.formulation.by_blocks
            and has_light_motions(self.tracer())
        )
        quiet: Any = "raise" if motion is None and not self.light else "ignore"
        own = {"snap": snap, **options} if self.formulation.takes("snap") else options
        with np.errstate(divide=quiet, invalid="ignore"):
            self.equations = equations or kept(
                mechanism, "equations", [by, quiet, own], lambda: derive(mechanism, by, **own)
            )
        if self.stabiliser.pulls and not self.equations.state_is_qv:
            raise needs_speeds(self.stabiliser, by)
        self.law, self.friction = law, friction
        self.nq = self.layout.nq
        self.nv: int = self.layout.nv
        e = self.equations
        self.nx = len(e.state_names)
        self.t, self.p = ca.SX.sym("t"), ca.SX.sym("p", len(mechanism.parameters))
        self.x: ca.SX = ca.SX.sym("x", self.nx)
        self.u: ca.SX = ca.SX.sym("u", self.nv)
        self.q, self.v = e.decode(self.x, self.p)
        self.driven, self._followed = None, Follows()
        if motion is not None:
            from ..terms.prescribed import driven

            self.driven = driven(self.layout, motion)
            self.aim(self.t)
        self.controller: Law = law.law(self) if law is not None else Law(self.u)
        self.controller, pieces = self._followed.within(self.controller)
        # offsets in the state of the current pieces of trajectories
        self.pieces = [(self.nx + k, f) for k, f in pieces]
        self.stepping = stepping
        self._kernels = dict[tuple[Any, ...], Any]()
        self._compiling = RLock()
        self.controller, self.touching_state = (
            (self.controller, ca.SX.zeros(0))
            if stepping is None
            else stepping.with_contact_states(self.controller)
        )
        self.c, self.nc = self.controller.state, len(self.controller.names)
        # indices in the state of the times of the next samples
        self.clocks = [self.nx + k for k in self.controller.clocks]
        self.state_names = (*e.state_names, *self.controller.names, "work")
        self.size = self.nx + self.nc + 1
        self.nu = self.nv + self.holding.size

    def tracer(self) -> Tracer:
        """Return a tracer of the mechanism's kernels with its own symbols, from the cache where
        possible.
        """
        return kept(self.mechanism, "tracer", self.snap, lambda: Tracer(self.layout, self.snap))

    def tape(
        self,
        name: str,
        words: object,
        make: Callable[[Tracer], Sequence[ca.SX]],
        modes: bool = False,
    ) -> ca.Function:
        """Return the function (t, q, v, p) -> expressions that `make` computes with a tracer. It is
        cached under `name` and `words` for other systems of the same mechanism. With `modes` it
        also takes the modes of the switched constraints, and is cached only where these have a key.
        """
        s = self.tracer()
        more = [self.holding.symbols] if modes else []

        def make_tape() -> ca.Function:
            return ca.Function(
                name.replace(" ", "_"),
                [s.t, s.q, s.v, s.p, *more],
                [ca.densify(x) for x in make(s)],
            )

        unknown = modes and self.holding.words is None
        return (
            make_tape()
            if unknown
            else kept_tape(
                self.mechanism,
                name,
                [words, self.snap, self.holding.words if modes else ""],
                make_tape,
            )
        )

    def follow(self, trajectory: Trajectory) -> Following:
        """Return a trajectory as part of this system; its method `at(t)` returns q, v, a as
        expressions.
        """
        return self._followed.one(trajectory)

    def aim(self, t: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Return q, v, a of the coordinates with a prescribed motion, at the symbol t."""
        motion = self.driven.motion if self.driven is not None else None
        return self.follow(motion).at(t) if motion is not None else (ca.SX.zeros(0),) * 3

    @cached_property
    def column_scales(self) -> np.ndarray:
        """C (nv,) of `kernels.rank`: the scales of the speeds, as squared lengths."""
        return column_scales(self.layout)

    @cached_property
    def length(self) -> float:
        """The characteristic length of the mechanism, m; zero where it has none."""
        return own_length(self.layout)

    @cached_property
    def error_table(self) -> np.ndarray:
        """The scales of the states relative to which integration errors are judged
        (`error_scales.py`).
        """
        return error_table(self, self.length)

    @cached_property
    def row_scales(self) -> tuple[list[float], list[float]]:
        """The scales N of the rows of loops and speeds, and of the switched constraints. Zero
        stands for a row whose scale is computed from its entries.
        """
        s = self.tracer()
        return s.row_scales(), self.holding.row_scales(s)

    @property
    def inputs(self) -> list[ca.SX]:
        """The inputs of every function of this system: t, the whole state, (u, modes), p."""
        return [
            self.t,
            ca.vertcat(self.x, self.c, self.work),
            ca.vertcat(self.u, self.holding.symbols),
            self.p,
        ]

    @cached_property
    def work(self) -> ca.SX:
        """The symbol of the work done on the mechanism, J."""
        return ca.SX.sym("work")

    # --- tapes
    @cached_property
    def losses(self) -> ca.SX:
        """Joint damping and Coulomb friction along the speeds (nv,), N m or N.

        The friction is smoothed, or with "stick" that of the joints that slip and of those that are
        driven, against the sign of their prescribed speed.
        """
        if self.friction != "stick":
            return losses(self.tracer())(self.v, self.p)
        found = damping(self.tracer())(self.v, self.p) + self.holding.slipping(self.p, self)
        if self.driven is not None:
            dry = coulomb(self.tracer())(self.p)
            for k in self.driven.speeds:
                found[k] -= dry[k] * ca.sign(self.v[k])
        return found

    def under(self, given: ca.SX) -> tuple[ca.SX, ca.SX]:
        """Return the accelerations a (nv,), and tau (nv,), while the joint forces `given` act. On
        driven speeds tau is the force that their motion requires.
        """
        e = self.equations
        here = [self.t, self.q, self.v, self.p]
        if self.light:
            return accelerations(self, given), given
        if self.driven is None:
            return e.acceleration(*here[:3], given, self.p), given
        from ..terms.prescribed import forces, partitioned

        a_d = self.driven.accelerations(self.aim(self.t))
        if self.formulation.by_blocks:
            a, tau, _ = partitioned(self.layout, self.driven.speeds)(*here, a_d, given)
            return a, tau
        tau = forces(e.acceleration, self.driven.speeds, here, given, a_d)
        return e.acceleration(*here[:3], tau, self.p), tau

    @cached_property
    def held(self) -> tuple[ca.SX, ca.SX]:
        """The multipliers of the switched constraints, and the joint forces (nv,) that these
        cause.
        """
        if self.stepping is not None:
            return ca.SX.zeros(0), self.stepping.joint_forces(self)
        if not self.holding.size:
            return ca.SX.zeros(0), ca.SX.zeros(self.nv)
        return self.holding.force(self, self.controller.tau + self.losses)

    @cached_property
    def _moved(self) -> tuple[ca.SX, ca.SX]:
        """a and tau (nv,) under all forces, without the accelerations that a stabiliser adds."""
        return self.under(self.controller.tau + self.losses + self.held[1])

    @property
    def tau(self) -> ca.SX:
        """The joint forces (nv,): those of the controller, the losses and the switched
        constraints.

        On driven speeds it is the force that their motion requires.
        """
        return self._moved[1]

    @cached_property
    def acceleration(self) -> ca.SX:
        """The accelerations a (nv,) under these forces, with those that a stabiliser adds."""
        return self._moved[0] + self.pull[0]

    @cached_property
    def pull(self) -> tuple[ca.SX, ca.SX]:
        """The accelerations (nv,) that a stabiliser of loops adds, and their power, W."""
        if (
            not self.mechanism.constrained or self.driven is not None
        ):  # driven systems are projected
            return ca.SX.zeros(self.nv), ca.SX(0)
        a, power = self.tape("pull", self.stabiliser, self.stabiliser.pull)(
            self.t, self.q, self.v, self.p
        )
        return a, power

    @cached_property
    def _rate(self) -> ca.SX:
        """The rate of the formulation's state.

        Where the state is (q, v), the rates of held coordinates are exactly zero.
        """
        rate = self._free_rate()
        return self.holding.frozen(rate, self.nq) if self.equations.state_is_qv else rate

    def _free_rate(self) -> ca.SX:
        """Return the rate of the formulation's state before held coordinates are set to rest."""
        by_equations = self.driven is None or not self.formulation.by_blocks
        if by_equations and not self.stabiliser.pulls and not self.light:
            return self.equations.derivative(self.t, self.x, self.tau, self.p)
        s = self.tracer()
        rate = ca.Function("rate", [s.q, s.v], [s.coordinate_rate()])
        return ca.vertcat(rate(self.q, self.v), self.acceleration)

    @cached_property
    def power(self) -> ca.SX:
        """The power of all forces but gravity and springs, W."""
        return ca.dot(self.tau, self.v) + load_power(self) + row_power(self) + self.pull[1]

    @cached_property
    def derivative(self) -> ca.Function:
        """The function (t, x, u, p) -> x', the rate of the state."""
        rate = ca.vertcat(self._rate, self.controller.rate, self.power)
        return ca.Function("derivative", self.inputs, [ca.cse(ca.densify(rate))])

    @cached_property
    def tangent(self) -> ca.Function:
        """The function (t, x, u, p, d) -> the derivative of x' along d (size + 1,): the change of
        x, then that of t.
        """
        return self._tangent(self.derivative)

    @cached_property
    def free_tangent(self) -> ca.Function:
        """`tangent` with all switched constraints inactive."""
        return self.tangent if not self.holding.size else self._tangent(self.free_derivative)

    def _tangent(self, f: ca.Function) -> ca.Function:
        """Return the directional derivative of a function of this system."""
        t, x, *others = self.inputs
        d = ca.SX.sym("d", self.size + 1)
        (rate,) = f.call([t, x, *others])
        along = ca.jtimes(rate, ca.vertcat(x, t), d)
        return ca.Function("tangent", [t, x, *others, d], [ca.cse(ca.densify(along))])

    @cached_property
    def jacobian(self) -> ca.Function:
        """The function (t, x, u, p) -> dx'/dx, for implicit methods."""
        rate = ca.vertcat(self._rate, self.controller.rate, self.power)
        return ca.Function(
            "jacobian", self.inputs, [ca.cse(ca.densify(ca.jacobian(rate, self.inputs[1])))]
        )

    @cached_property
    def guards(self) -> tuple[Guard, ...]:
        """The guards of all events of the run."""
        return self.holding.guards(self)

    @cached_property
    def guard(self) -> ca.Function | None:
        """The function (t, x, u, p) -> values of the guards, their rates, and the fastest turn of
        the joints. None where the run has no guards.
        """
        s = self.tracer()
        turning = ca.Function("turning", [s.v], [fastest_turn(s, self.holding.watched_values(s))])
        g = expressions(self.guards, turning(self.v))
        return ca.Function("guard", self.inputs, [ca.cse(g)]) if g.numel() else None

    @cached_property
    def free_derivative(self) -> ca.Function:
        """`derivative` with all switched constraints inactive: the same numbers from fewer
        operations.
        """
        return self._free(self.derivative)

    @cached_property
    def free_guard(self) -> ca.Function | None:
        """`guard` with all switched constraints inactive."""
        return None if self.guard is None else self._free(self.guard)

    def _free(self, f: ca.Function) -> ca.Function:
        """Return a function of this system with all switched constraints inactive."""
        if not self.holding.size:
            return f
        t, x, u, p = self.inputs
        modes = self.holding.released(u[self.nv :])
        (out,) = f.call([t, x, ca.vertcat(u[: self.nv], modes), p])
        return ca.Function(f"free_{f.name()}", self.inputs, [ca.cse(ca.densify(out))])

    @cached_property
    def bounds(self) -> ca.Function:
        """The function p -> lower limits, upper limits and dry friction of the speeds that can be
        held.
        """
        s = self.tracer()
        return ca.Function("bounds", [s.p], list(self.holding.values(s)))

    @cached_property
    def forces(self) -> ca.Function:
        """The function (t, x, u, p) -> a, and the multipliers mu of the switched constraints."""
        return ca.Function(
            "forces", self.inputs, ca.cse([ca.densify(self.acceleration), ca.densify(self.held[0])])
        )

    @cached_property
    def jump(self) -> ca.Function | None:
        """The function (t, x, u, p) -> x after a sample of the controller; None if nothing is
        sampled.
        """
        if self.controller.jump is None:
            return None
        return ca.Function(
            "jump",
            self.inputs,
            [ca.cse(ca.densify(ca.vertcat(self.x, self.controller.jump, self.work)))],
        )

    @cached_property
    def binding(self) -> ca.Function:
        """The function (t, q, v, p, modes) -> the mass matrix M; the rows A that always hold, and
        their rates A v; the rows B that are switched, their rates B v, and which of them are on
        (z). See `binding_rows.binding`.
        """
        return binding(self)

    @cached_property
    def touching(self) -> ca.Function:
        """The function (t, q, v, p, modes) -> gaps (k,) of the contact points, and the right sides
        gamma of their rows B a = gamma, which keep closed contacts closed.
        """
        return touching(self)

    @cached_property
    def settle(self) -> ca.Function | None:
        """The function (t, x, u, p) -> x projected onto the constraints; None where there are
        none.
        """
        return settle(self)

    @property
    def binds(self) -> bool:
        """Whether states are projected onto rows or set to a prescribed motion."""
        rows = self.mechanism.constrained and self.stabiliser.projects
        return rows or bool(self.holding.locks or self.holding.contacts) or self.driven is not None

    @cached_property
    def step(self) -> ca.Function:
        """The function (t, x, u, p, h) -> x after one step of semi-implicit Euler."""
        return euler_step(self)

    @cached_property
    def observe(self) -> ca.Function:
        """The function (t, x, u, p) -> what a result records of a state. In order: q, v, a, tau,
        (kinetic, potential) energy, residuals and rates of the constraint rows, how close their
        rank is to changing, multipliers of the switched constraints, and the joint forces of losses
        and switched constraints.
        """
        here = self.t, self.q, self.v, self.p
        energy = self.tape("energy", "", lambda s: [s.energy()])(*here)
        outputs = [self.q, self.v, self.acceleration, self.tau - self.losses - self.held[1], energy]
        rows: Any = (ca.SX.zeros(0), ca.SX(0))
        if self.mechanism.constrained:
            rows = self.tape(
                "observed rows",
                "",
                lambda s: [ca.vertcat(*s.constraint_rows()[:2]), s.rank_closeness()],
            )(*here)
        outputs += [*rows, self.held[0], self.losses + self.held[1]]
        return ca.Function("observe", self.inputs, ca.cse([ca.densify(x) for x in outputs]))

    @cached_property
    def contacts(self) -> ca.Function:
        """The function (t, x, u, p) -> the contact quantities that `contact_record.observe`
        reads.
        """
        return ca.Function(
            "contacts", self.inputs, ca.cse([ca.densify(x) for x in contact_state(self)])
        )

    def kernel(self, name: str, width: int | None = None) -> LaneKernel | None:
        """Return the compiled function of that name for `width` lanes of states; None where the
        system has no such function.
        """
        f = getattr(self, name)
        return (
            None
            if f is None
            else self.compiled((name, width), lambda: compile_lanes(f, width=width))
        )

    def compiled(self, key: tuple[Any, ...], make: Callable[[], Any]) -> Any:
        """Return the compiled object of this key, and make it where there is none yet.

        Each key is compiled once under a lock: a second compilation would replace code that another
        thread runs.
        """
        with self._compiling:
            if key not in self._kernels:
                self._kernels[key] = make()
            return self._kernels[key]

    @cached_property
    def labels(self) -> Labels:
        """The coordinate labels that all results of this system share."""
        h = self.holding
        held = (
            {"mode_name": h.names, "holdable": [speed.name for speed in h.speeds]} if h.size else {}
        )
        if touching := h.contacts or (self.stepping.points if self.stepping is not None else ()):
            pairs = list(
                {
                    c.point.contact: c.contact.name
                    for c in sorted(touching, key=lambda c: c.point.contact)
                }.values()
            )
            held |= {"contact": [c.name for c in touching], "pair": pairs, "axis": ["x", "y", "z"]}
        return labels(self.mechanism, self.by, state_name=self.state_names, **held)

    # --- states
    def start(self, q: np.ndarray, v: np.ndarray, p: np.ndarray, t: float = 0.0) -> np.ndarray:
        """Return the state x of the run at (q, v) and time t (s): driven coordinates are set to
        their motion, q and v are encoded, the controller's states have their initial values with
        the first sample taken, and the work is zero.
        """
        if self.driven is not None:
            q, v = self.driven.start(t, q, v, p)
        x = np.concatenate(
            [np.array(self.equations.encode(q, v, p)).ravel(), self.controller.start, [0.0]]
        )
        for k, f in self.pieces:
            x[k : k + f.symbols.numel()] = f.values(t)
        return x if self.jump is None else np.array(self.jump(t, x, np.zeros(self.nu), p)).ravel()
