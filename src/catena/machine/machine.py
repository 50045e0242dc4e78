"""Machine: a mechanism that answers, behind methods that take arrays of any leading shape.

Each method is a quantity of the table in `quantities`; the router decides which life of its kernels
answers: one state goes through the generic life (nothing to compile for it), a batch through lanes
of machine code made for this mechanism alone, a mechanism of hundreds of bodies through the generic
life again. The answers are the same to rounding.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..equations import Equations
from ..errors import MechanismWarning, StateError, UnknownNameError
from ..kernels import SNAP
from ..model import Mechanism, flexible, value_of
from ..registry import loaded
from . import arguments
from . import configurations as coordinates
from .arguments import Parameters, Wrenches
from .configurations import quaternion_product
from .lanes_life import tape
from .quantities import find
from .router import LANES_UP_TO, LIVES, RoutedCalls, Router, SingleCalls
from .spec import Spec, Trace
from .state_check import STATE, require_possible

__all__ = ["LANES_UP_TO", "Machine", "compile", "quaternion_product"]

Array = NDArray[np.float64]


class Machine:
    """A mechanism with compiled kernels. Arrays are (..., n): any leading shape is a batch.

    M(q) a + bias(q, v) = tau + sum of J' wrench. tau is the whole generalised force in the joints'
    freedoms: joint damping and friction are losses that `simulate` and the questions about motors
    add; they are not in here (as in Pinocchio), `losses` has them. Armature is.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        *,
        threads: int | None = None,
        snap: float = SNAP,
        life: str = "auto",
    ):
        if life not in LIVES:
            raise StateError(
                f"life {life!r} is not known; allowed are 'auto', 'generic' and 'lanes'"
            )
        if not isinstance(mechanism, Mechanism):
            raise StateError(
                f"a Machine is made of a Mechanism, not of a {type(mechanism).__name__};"
                " catena.load(...) reads one"
            )
        if not snap >= 0:
            raise StateError(f"snap is {snap!r}; it is zero (keep every digit) or more")
        mechanism = self.mechanism = flexible.discretise(mechanism.validate())
        for doubt in flexible.doubts(mechanism):
            warnings.warn(f"mechanism {mechanism.name!r}: {doubt}", MechanismWarning, stacklevel=3)
        self.spec = spec = Spec(
            mechanism, arguments.threads(threads) or os.cpu_count() or 1, snap, life, self._traces()
        )
        self.layout = spec.layout
        self.threads = spec.threads
        self.snap = snap
        self.life = life
        self.nq = self.layout.nq
        self.nv: int = self.layout.nv
        self.joint_names = spec.joint_names
        self.coordinate_names = spec.coordinate_names
        self.speed_names = spec.speed_names
        self.parameter_names = spec.parameter_names
        self.rows = spec.rows
        self._router = Router(spec)
        self._single = SingleCalls(self._router)

    def _traces(self) -> Mapping[str, Trace]:
        """The quantities that have expressions of their own, other than the recursive kernels'."""
        return {}

    def __repr__(self) -> str:
        return (
            f"Machine({self.mechanism.name!r}: nq {self.nq}, nv {self.nv}, {len(self.layout.nodes)}"
            f" nodes, {self.threads} threads, life {self.life!r}, placements snapped at"
            f" {self.snap:g})"
        )

    def __reduce__(self) -> tuple:
        """Copies and pickles are made anew from the mechanism: addresses of memory and machine code
        do not travel.
        """
        return _again, (type(self), self.mechanism, self.threads, self.snap, self.life)

    def at(self, parameters: Mapping[str, float]) -> Machine:
        """The same machine at other values of its parameters: what is compiled for one serves the
        other.
        """
        m = self.mechanism.with_(parameters={**self.mechanism.parameters, **parameters})
        if unknown := sorted(parameters.keys() - self.mechanism.parameters.keys()):
            raise UnknownNameError(
                "parameter", unknown[0], self.mechanism.parameters, f"mechanism {m.name!r}"
            )
        self.spec.parameter_check(np.array(list(m.parameters.values())))
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.mechanism, other.spec = m, replace(self.spec, mechanism=m, life="lanes")
        other.layout, other._router = other.spec.layout, Router(other.spec)
        other._router.lanes.kernels = self._router.lanes.kernels
        other._single = RoutedCalls(other._router)  # type: ignore[assignment]  # the same face
        return other

    # --- dynamics
    def inverse_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        wrenches: Wrenches | None = None,
        parameters: Parameters | None = None,
        t: ArrayLike = 0.0,
    ) -> Array:
        """tau (..., nv): the forces of a motion, M a + bias - sum of J' wrench.

        wrenches: what acts from outside, {frame: (..., 6)} with torque first, about and along the
        frame's own axes at its origin (N m, N); the key (frame, "world") means along the ground's
        axes. parameters: {name: value}, for those the mechanism leaves free. t: the time, seconds,
        for loads that depend on it. [Merwe1995] chapter 4.
        """
        if wrenches is None and parameters is None:
            return self._single["inverse_dynamics"](q, v, a, t)
        return self._ask("inverse_dynamics", (q, v, a), wrenches, parameters, t=t)[0]

    def forward_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        wrenches: Wrenches | None = None,
        parameters: Parameters | None = None,
        t: ArrayLike = 0.0,
    ) -> Array:
        """a (..., nv): the motion of forces, M^-1 (tau - bias + sum of J' wrench).

        With loops or other constraint rows a ClosureError refuses states that leave one open, or
        have speeds that open one; `catena.assemble(mechanism, q, v)` finds possible ones.
        """
        if wrenches is None and parameters is None:
            return self._single["forward_dynamics"](q, v, tau, t)
        return self._ask("forward_dynamics", (q, v, tau), wrenches, parameters, t=t)[0]

    rnea, aba = inverse_dynamics, forward_dynamics

    def mass_matrix(self, q: ArrayLike, parameters: Parameters | None = None) -> Array:
        """M (..., nv, nv): kinetic energy is 1/2 v' M v."""
        if parameters is None:
            return self._single["mass_matrix"](q)
        return self._ask("mass_matrix", (q,), None, parameters)[0]

    crba = mass_matrix

    def bias(
        self,
        q: ArrayLike,
        v: ArrayLike,
        wrenches: Wrenches | None = None,
        parameters: Parameters | None = None,
        t: ArrayLike = 0.0,
    ) -> Array:
        """(..., nv): the forces of a motion with a = 0: Coriolis, centrifugal and gravity."""
        if wrenches is None and parameters is None:
            return self._single["bias"](q, v, t)
        return self._ask("bias", (q, v), wrenches, parameters, t=t)[0]

    def gravity(
        self, q: ArrayLike, parameters: Parameters | None = None, t: ArrayLike = 0.0
    ) -> Array:
        """(..., nv): the forces that hold the mechanism still, dV/dq."""
        if parameters is None:
            return self._single["gravity"](q, t)
        return self._ask("gravity", (q,), None, parameters, t=t)[0]

    def losses(self, v: ArrayLike, parameters: Parameters | None = None) -> Array:
        """(..., nv): the forces of joint damping and of dry friction at the speeds v, along them.

        In the other methods tau is the whole force in the joints' freedoms. What motors give is
        less by these: tau = motors + losses, in `simulate`, `hybrid_dynamics` and
        `catena.analysis.inverse_dynamics`, where tau is what the motors give.
        """
        return self._ask("losses", (v,), None, parameters)[0]

    def coriolis_matrix(
        self, q: ArrayLike, v: ArrayLike, parameters: Parameters | None = None
    ) -> Array:
        """C (..., nv, nv) with C v + gravity = bias and Mdot - 2 C skew."""
        return self._ask("coriolis_matrix", (q, v), None, parameters)[0]

    def reactions(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        wrenches: Wrenches | None = None,
        parameters: Parameters | None = None,
        t: ArrayLike = 0.0,
        tau: ArrayLike | None = None,
    ) -> dict[str, Array]:
        """The wrench in every joint, fixed ones and loops included: {joint: (..., 6)}, torque
        first.

        What the parent does to the child through the joint (its motor included), about the child
        body's origin, in the child body's axes (N m, N). With loops give the joint forces tau of
        the motion (by default none act): a motion alone does not say which motors push; components
        that redundant rows leave open come back as NaN, not determined. Other axes, and how to
        rotate a wrench with such components: `catena.machine.reactions`.
        """
        if self.rows:
            if parameters is not None:
                raise StateError(
                    "reactions: with loops the mechanism's own parameters are used; change them"
                    " with mechanism.with_(...)"
                )
            reactions = loaded("catena.machine.reactions:reactions")
            return reactions(self, q, v, a, tau, wrenches, t=t)
        W = self._ask("reactions", (q, v, a), wrenches, parameters, t=t)[0]
        return {j.name: W[..., k, :] for k, j in enumerate(self.mechanism.ordered)}

    def regressor(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, parameters: Parameters | None = None
    ) -> Array:
        """Y (..., nv, 10 bodies) with tau = Y theta + armature a, less loads: the forces are linear
        in the inertial parameters theta.

        Columns: mass, first moment and inertia about the body's origin (m, hx, hy, hz, Ixx, Ixy,
        Iyy, Ixz, Iyz, Izz), body by body; `catena.identification.inertial_names(machine)`
        names them.
        [KhalilDombre2002] chapter 12.
        """
        return self._ask("regressor", (q, v, a), None, parameters)[0]

    # --- loops
    def multipliers(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        wrenches: Wrenches | None = None,
        parameters: Parameters | None = None,
        t: ArrayLike = 0.0,
    ) -> Array:
        """lambda (..., rows): the forces of the loops' rows, as `machine.rows` names them, at the
        motion of tau.

        Where rows are redundant, of all lambda that act alike the shortest, in the metric of
        `kernels.rank`. States that break the rows are refused, as by `forward_dynamics`.
        """
        least = loaded("catena.machine.constraint_rows:least_multipliers")
        return least(self, q, v, tau, wrenches, parameters, t)

    def constraint_rows(
        self, q: ArrayLike, v: ArrayLike, parameters: Parameters | None = None, t: ArrayLike = 0.0
    ) -> tuple[Array, Array, Array, Array]:
        """Residuals, their rates, gamma (..., rows) each, and A (..., rows, nv): A v = rate, A a =
        gamma.

        Residuals are metres for displacements and cosines for rotations.
        """
        error, rate, gamma, A = self._ask("constraint_rows", (q, v), None, parameters, t=t)
        return error, rate, gamma, A

    # --- kinematics
    def energy(
        self, q: ArrayLike, v: ArrayLike, parameters: Parameters | None = None
    ) -> tuple[Array, Array]:
        """(kinetic, potential), joules, each (...). Potential counts from the ground's origin."""
        (E,) = self._ask("energy", (q, v), None, parameters)
        return E[..., 0], E[..., 1]

    def momentum(
        self, q: ArrayLike, v: ArrayLike, parameters: Parameters | None = None
    ) -> dict[str, Array]:
        """mass, com (centre of mass), com_velocity, linear and angular momentum (about it), in the
        ground's axes.

        Of the bodies that move: those fixed to the ground are part of it.
        """
        if not any(value_of(b.mass, self.mechanism.parameters) for b in self.mechanism.bodies):
            raise StateError(
                f"momentum: mechanism {self.mechanism.name!r} has no mass, and so no centre of"
                " mass; give a body a mass"
            )
        (m,) = self._ask("momentum", (q, v), None, parameters)
        mass, velocity = m[..., 0], m[..., 4:7]
        return {
            "mass": mass,
            "com": m[..., 1:4],
            "com_velocity": velocity,
            "linear": mass[..., None] * velocity,
            "angular": m[..., 7:],
        }

    def pose(self, q: ArrayLike, frame: str, parameters: Parameters | None = None) -> Array:
        """(..., 4, 4): the homogeneous pose of a frame or body in the ground."""
        (top,) = self._ask("pose", (q,), None, parameters, (frame,))
        X = np.zeros((*top.shape[:-2], 4, 4))
        X[..., :3, :], X[..., 3, 3] = top, 1.0
        return X

    def jacobian(
        self, q: ArrayLike, frame: str, axes: str = "world", parameters: Parameters | None = None
    ) -> Array:
        """J (..., 6, nv), angular first: (angular velocity, velocity of the frame's origin) = J v,
        in "world" or "body" axes.
        """
        return self._ask("jacobian", (q,), None, parameters, (frame, axes))[0]

    def jacobian_rate(
        self,
        q: ArrayLike,
        v: ArrayLike,
        frame: str,
        axes: str = "world",
        parameters: Parameters | None = None,
    ) -> Array:
        """Jdot v (..., 6), in the same axes as J."""
        return self._ask("jacobian_rate", (q, v), None, parameters, (frame, axes))[0]

    def frame_velocity(
        self,
        q: ArrayLike,
        v: ArrayLike,
        frame: str,
        axes: str = "world",
        parameters: Parameters | None = None,
    ) -> Array:
        """(..., 6): angular velocity (rad/s), then velocity of the origin (m/s)."""
        return self._ask("frame_velocity", (q, v), None, parameters, (frame, axes))[0]

    def frame_acceleration(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        frame: str,
        axes: str = "world",
        parameters: Parameters | None = None,
    ) -> Array:
        """(..., 6): angular acceleration (rad/s2), then acceleration of the origin (m/s2)."""
        return self._ask("frame_acceleration", (q, v, a), None, parameters, (frame, axes))[0]

    # --- derivatives
    def inverse_dynamics_derivatives(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        wrenches: Wrenches | None = None,
        parameters: Parameters | None = None,
        t: ArrayLike = 0.0,
    ) -> tuple[Array, ...]:
        """d tau / d q, d tau / d v, d tau / d a, each (..., nv, nv), and d tau / d parameters where
        there are any.

        d/dq is along the speeds: column k is the change when the coordinates move along the k-th
        speed, so that a quaternion has three columns.
        """
        return self._ask("inverse_dynamics_derivatives", (q, v, a), wrenches, parameters, t=t)

    def forward_dynamics_derivatives(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        wrenches: Wrenches | None = None,
        parameters: Parameters | None = None,
        t: ArrayLike = 0.0,
    ) -> tuple[Array, ...]:
        """d a / d q, d a / d v, d a / d tau = M^-1, and d a / d parameters where there are any;
        d/dq along the speeds.
        """
        return self._ask("forward_dynamics_derivatives", (q, v, tau), wrenches, parameters, t=t)

    # --- coordinates
    def neutral(self) -> Array:
        """q with every coordinate zero and every quaternion the identity."""
        return coordinates.neutral(self.spec)

    def sample(self, rng: np.random.Generator, *shape: int) -> Array:
        """Random coordinates (*shape, nq): normal numbers, quaternions of length one, small bending
        of flexible bodies.
        """
        return coordinates.sample(self.spec, rng, *shape)

    def coordinate_rate(self, q: ArrayLike, v: ArrayLike) -> Array:
        """qdot (..., nq): the speeds themselves, and half the quaternion times the angular
        velocity.
        """
        return coordinates.coordinate_rate(self.spec, q, v)

    def move(self, q: ArrayLike, change: ArrayLike) -> Array:
        """The coordinates after moving by `change` (..., nv) along the speeds, exactly: a ball
        turns by its rotation vector.
        """
        return coordinates.move(self.spec, q, change)

    def require_possible(
        self,
        question: str,
        q: ArrayLike,
        v: ArrayLike | None = None,
        parameters: Parameters | None = None,
        t: ArrayLike = 0.0,
        **words: str,
    ) -> None:
        """Raise a ClosureError where states q (..., nq), v (..., nv) leave a loop open, or have
        speeds that open one: `state_check`. v: None looks at positions alone.
        """
        if self.rows:
            given = (q, np.zeros(self.nv) if v is None else v)
            request = self._router.request(STATE, given, None, parameters, (), t)
            require_possible(self._router, request, question, v is not None, **words)

    # --- any quantity
    def evaluate(
        self,
        quantity: str,
        *states: ArrayLike,
        frame: str | None = None,
        axes: str = "world",
        wrenches: Wrenches | None = None,
        parameters: Parameters | None = None,
        t: ArrayLike = 0.0,
        check: bool = True,
    ) -> tuple[Array, ...]:
        """A quantity of the table by its name: its outputs as the table gives them, one array (...,
        *shape) each.

        states: what it is a function of, in order. `catena.machine.quantities.find(name).help()`
        says what it takes and gives; quantities that were registered from outside are answered in
        the same way. check: refuse states that break the constraint rows, for quantities that mean
        nothing there.
        """
        found = find(quantity)
        which = () if not found.frame else (frame or "", axes) if found.axes else (frame or "",)
        if found.frame and frame is None:
            raise StateError(
                f"{quantity} is a quantity of a frame; give frame=..., one of the mechanism's"
                " bodies or frames"
            )
        return self._ask(quantity, states, wrenches, parameters, which, t, check)

    def _ask(
        self,
        quantity: str,
        states: tuple[ArrayLike, ...],
        wrenches: Wrenches | None = None,
        parameters: Parameters | None = None,
        which: tuple[str, ...] = (),
        t: ArrayLike = 0.0,
        check: bool = True,
    ) -> tuple[Array, ...]:
        """The results of a quantity, through the router."""
        return self._router.ask(find(quantity), states, wrenches, parameters, which, t, check)

    def torch(self, quantity: str, *which: str) -> Callable[..., object]:
        """A quantity as a differentiable operator of PyTorch: float64 tensors on the CPU, any
        leading shape a batch. which: as in `function`.
        """
        return loaded("catena.machine.operators:torch_operator")(self, quantity, *which)

    def jax(self, quantity: str, *which: str) -> Callable[..., object]:
        """A quantity as a differentiable operator of JAX: float64 arrays, any leading shape a
        batch; with grad (reverse), jit and vmap.
        """
        return loaded("catena.machine.operators:jax_operator")(self, quantity, *which)

    def function(
        self, quantity: str, *which: str, wrenches: Sequence[tuple[str, str]] = ()
    ) -> ca.Function:
        """The tape of a quantity, as a CasADi function of q, v, a or tau (those it needs), wrenches
        and parameters.

        which: the frame, then "world" or "body", for quantities of a frame. wrenches: (frame, axes)
        of each external wrench; the function then takes their components side by side, (6 k).
        Parameters come next where the mechanism has any, the time last where it has loads or speed
        rows.
        """
        return tape(self.spec, find(quantity), which, tuple(wrenches))


def compile(
    mechanism: Mechanism | Equations,
    by: str = "recursive",
    *,
    threads: int | None = None,
    snap: float = SNAP,
    life: str = "auto",
) -> Machine:
    """A Machine for this mechanism, or for its equations by one formulation.

    by: whose forward dynamics it has; Equations bring their own.

    threads: over batches, by default one per core. snap: a right angle that was written with a
    limited number of digits (1.57079632679) leaves entries such as 4.9e-12 in a rotation; those
    that are such residues, and at most this large, are taken for the zeros they mean. By default
    that is from ten decimals on, and no answer moves by more than about 1e-11; 0 keeps every digit.
    life: "auto" (one state generic, batches in lanes, very large mechanisms generic), or "generic"
    or "lanes" always.
    """
    if isinstance(mechanism, Equations) or by != "recursive":
        from ..equations.formulations import derive

        equations = mechanism if isinstance(mechanism, Equations) else derive(mechanism, by)
        by_equations = loaded("catena.machine.equation_machine:EquationMachine")
        return by_equations(equations, threads=threads, snap=snap, life=life)
    return Machine(mechanism, threads=threads, snap=snap, life=life)


def _again(
    kind: type[Machine], mechanism: Mechanism, threads: int, snap: float, life: str
) -> Machine:
    return kind(mechanism, threads=threads, snap=snap, life=life)
