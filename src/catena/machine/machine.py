"""Machine: a mechanism that answers. Its kernels in two lives, behind methods that take arrays of any leading shape.

One state goes through the generic life (nothing to compile), a batch through lanes of machine code made for this mechanism
alone, a mechanism of hundreds of bodies through the generic life again. The answers are the same to rounding.
"""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import casadi as ca
import numpy as np

from ..compiler import fastcall, generic, one_state
from ..compiler.joint_springs import springs
from ..compiler.trace import Tracer
from ..equations.equations import Equations
from ..errors import MechanismWarning, StateError, UnknownNameError
from ..kernels.constraint_rows import row_names
from ..kernels.motion import BALL
from ..kernels.tree import SNAP, Layout, layout
from ..model import flexible
from ..model.mechanism import Mechanism
from ..model.validation import value_of
from . import arguments
from .generic_batches import GENERIC, rows

Array = np.ndarray
LANES_UP_TO = 100  # nodes; a tape grows with the mechanism, and its compilation with it

INPUTS = {  # what each quantity is a function of, besides external wrenches and parameters
    "inverse_dynamics": "qva",
    "forward_dynamics": "qvt",
    "multipliers": "qvt",
    "constraint_rows": "qv",
    "row_wrenches": "q",
    "mass_matrix": "q",
    "coriolis_matrix": "qv",
    "bias": "qv",
    "gravity": "q",
    "energy": "qv",
    "momentum": "qv",
    "pose": "q",
    "jacobian": "q",
    "jacobian_rate": "qv",
    "frame_velocity": "qv",
    "frame_acceleration": "qva",
    "reactions": "qva",
    "inverse_dynamics_derivatives": "qva",
    "forward_dynamics_derivatives": "qvt",
}
MATRICES = {"mass_matrix", "coriolis_matrix", "pose", "jacobian", "reactions", "inverse_dynamics_derivatives",
            "forward_dynamics_derivatives", "row_wrenches"}  # quantities that stay matrices even with one column  # fmt: skip

ONE_STATE = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "bias", "gravity")  # with a call of their own for one state


class Machine:
    """A mechanism with compiled kernels. Arrays are (..., n): any leading shape is a batch.

    M(q) a + bias(q, v) = tau + sum of J' wrench. tau is the whole generalised force in the joints' freedoms: joint damping
    and friction are losses that `simulate` adds; they are not in here (as in Pinocchio). Armature is.
    """

    _own: frozenset[str] = frozenset()  # quantities that are not the recursive kernels' (`derived`)

    def __init__(self, mechanism: Mechanism, *, threads: int | None = None, snap: float = SNAP, life: str = "auto"):
        if life not in ("auto", "generic", "lanes"):
            raise StateError(f"life {life!r} is not known; allowed are 'auto', 'generic' and 'lanes'")
        if not isinstance(mechanism, Mechanism):
            raise StateError(f"a Machine is made of a Mechanism, not of a {type(mechanism).__name__}; catena.load(...) reads one")
        if threads is not None and (not isinstance(threads, (int, np.integer)) or isinstance(threads, bool) or threads < 1):
            raise StateError(f"threads is {threads!r}; it is a whole number from 1 on, or None for one a core")
        if not snap >= 0:
            raise StateError(f"snap is {snap!r}; it is zero (keep every digit) or more")
        self.mechanism = mechanism.validate()
        for doubt in flexible.doubts(mechanism):
            warnings.warn(f"mechanism {mechanism.name!r}: {doubt}", MechanismWarning, stacklevel=3)
        self.layout: Layout = layout(mechanism)
        self.threads = threads or os.cpu_count() or 1
        self.snap, self.life = snap, life
        self.nq, self.nv = self.layout.nq, self.layout.nv
        self.joint_names = tuple(j.name for j in mechanism.moving)
        self.coordinate_names = tuple(n for j in mechanism.moving for n in j.coordinate_names)
        self.speed_names = tuple(n for j in mechanism.moving for n in j.speed_names)
        self.parameter_names = tuple(mechanism.parameters)
        self._handle = generic.Handle(self.layout, snap)
        self.rows = tuple(row_names(self.layout))
        self._traced_only = bool(mechanism.loads or mechanism.nonholonomic)  # known as expressions, not to the generic life
        self._springs = springs(self.layout)  # but joint springs are, where they are all there is
        if mechanism.nonholonomic:
            self.rows += tuple(Tracer(self.layout, snap).applied.rows()[1])
        self._handles: list[generic.Handle] = []
        self._turn = threading.Lock()  # the handles' scratch memory serves one batch at a time
        self._kernels: dict[tuple, Any] = {}
        self._balls = [c.qi for c in self.layout.coordinates if c.motion == BALL]

    def __repr__(self) -> str:
        return (f"Machine({self.mechanism.name!r}: nq {self.nq}, nv {self.nv}, {len(self.layout.nodes)} nodes, "
                f"{self.threads} threads, life {self.life!r}, placements snapped at {self.snap:g})")  # fmt: skip

    def __reduce__(self) -> tuple:
        """Copies and pickles are made anew from the mechanism: addresses of memory and machine code do not travel."""
        return _again, (type(self), self.mechanism, self.threads, self.snap, self.life)

    # ------------------------------------------------------------------------------------------------ dynamics
    def inverse_dynamics(self, q: Any, v: Any, a: Any, wrenches: Any = None, parameters: Any = None, t: Any = 0.0) -> Array:
        """tau (..., nv): the forces of a motion, M a + bias - sum of J' wrench.

        wrenches: what acts from outside, {frame: (..., 6)} with torque first, about and along the frame's own axes at its
        origin (N m, N); the key (frame, "world") means along the ground's axes. parameters: {name: value}, for those the
        mechanism leaves free. t: the time, seconds, for loads that depend on it. [Merwe1995] chapter 4.
        """
        if wrenches is None and parameters is None and (tau := self._one_inverse_dynamics(q, v, a)) is not None:
            return tau
        return self._evaluate("inverse_dynamics", (q, v, a), wrenches, parameters, t=t)

    def forward_dynamics(self, q: Any, v: Any, tau: Any, wrenches: Any = None, parameters: Any = None, t: Any = 0.0) -> Array:
        """a (..., nv): the motion of forces, M^-1 (tau - bias + sum of J' wrench)."""
        if wrenches is None and parameters is None and (a := self._one_forward_dynamics(q, v, tau)) is not None:
            return a
        return self._evaluate("forward_dynamics", (q, v, tau), wrenches, parameters, t=t)

    rnea, aba = inverse_dynamics, forward_dynamics

    def mass_matrix(self, q: Any, parameters: Any = None) -> Array:
        """M (..., nv, nv): kinetic energy is 1/2 v' M v."""
        if parameters is None and (M := self._one_mass_matrix(q)) is not None:
            return M
        return self._evaluate("mass_matrix", (q,), None, parameters)

    crba = mass_matrix

    def bias(self, q: Any, v: Any, wrenches: Any = None, parameters: Any = None, t: Any = 0.0) -> Array:
        """(..., nv): the forces of a motion with a = 0: Coriolis, centrifugal and gravity."""
        if wrenches is None and parameters is None and (tau := self._one_bias(q, v)) is not None:
            return tau
        return self._evaluate("bias", (q, v), wrenches, parameters, t=t)

    def gravity(self, q: Any, parameters: Any = None, t: Any = 0.0) -> Array:
        """(..., nv): the forces that hold the mechanism still, dV/dq."""
        if parameters is None and (tau := self._one_gravity(q)) is not None:
            return tau
        return self._evaluate("gravity", (q,), None, parameters, t=t)

    def coriolis_matrix(self, q: Any, v: Any, parameters: Any = None) -> Array:
        """C (..., nv, nv) with C v + gravity = bias and Mdot - 2 C skew."""
        return self._evaluate("coriolis_matrix", (q, v), None, parameters)

    def reactions(
        self, q: Any, v: Any, a: Any, wrenches: Any = None, parameters: Any = None, t: Any = 0.0, tau: Any = None
    ) -> dict[str, Array]:
        """The wrench in every joint, fixed ones and loops included: {joint: (..., 6)}, torque first.

        What the parent does to the child through the joint (its motor included), about the child body's origin, in the
        child body's axes (N m, N). With loops give the joint forces tau of the motion (by default none act): a motion alone
        does not say which motors push; components that redundant rows leave open come back as NaN, not determined. Other
        axes: `catena.analysis.reactions`.
        """
        if self.rows:
            from .reactions import reactions

            if parameters is not None:
                raise StateError("reactions: with loops the mechanism's own parameters are used; change them with mechanism.with_(...)")
            return reactions(self, q, v, a, tau, wrenches, t=t)
        W = self._evaluate("reactions", (q, v, a), wrenches, parameters, t=t)
        return {j.name: W[..., k, :] for k, j in enumerate(self.mechanism.ordered)}

    # ------------------------------------------------------------------------------------------------ loops
    def multipliers(self, q: Any, v: Any, tau: Any, wrenches: Any = None, parameters: Any = None, t: Any = 0.0) -> Array:
        """lambda (..., rows): the forces of the loops' rows, as `machine.rows` names them, at the motion of tau.

        Where rows are redundant, of all lambda that act alike the shortest.
        """
        if not self.rows:
            return np.zeros((*np.shape(q)[:-1], 0))
        lam = self._evaluate("multipliers", (q, v, tau), wrenches, parameters, t=t)
        short = (lam == 0.0).any(axis=-1)  # rows that say what others say were left out there
        if short.any():
            A = np.broadcast_to(self.constraint_rows(q, v, parameters, t=t)[3], (*short.shape, lam.shape[-1], self.nv))[short]
            lam[short] = np.einsum("...ij,...kj,...k->...i", np.linalg.pinv(np.swapaxes(A, -1, -2), rcond=1e-10), A, lam[short])
        return lam

    def constraint_rows(self, q: Any, v: Any, parameters: Any = None, t: Any = 0.0) -> tuple[Array, Array, Array, Array]:
        """Residuals, their rates, gamma (..., rows) each, and A (..., rows, nv): A v = rate, A a = gamma.

        Residuals are metres for displacements and cosines for rotations.
        """
        found = self._evaluate("constraint_rows", (q, v), None, parameters, t=t)
        if isinstance(found, tuple):
            error, rate, gamma, A = found
            return error, rate, gamma, A.reshape(*error.shape, self.nv)
        m = len(self.rows)
        error, rate, gamma = (found[..., k * m : (k + 1) * m] for k in range(3))
        return error, rate, gamma, found[..., 3 * m :].reshape(*found.shape[:-1], m, self.nv)

    # ------------------------------------------------------------------------------------------------ kinematics
    def energy(self, q: Any, v: Any, parameters: Any = None) -> tuple[Array, Array]:
        """(kinetic, potential), joules, each (...). Potential counts from the ground's origin."""
        E = self._evaluate("energy", (q, v), None, parameters)
        return E[..., 0], E[..., 1]

    def momentum(self, q: Any, v: Any, parameters: Any = None) -> dict[str, Array]:
        """mass, com (centre of mass), com_velocity, linear and angular momentum (about it), in the ground's axes.

        Of the bodies that move: those fixed to the ground are part of it.
        """
        self._moving("momentum")
        if not any(value_of(b.mass, self.mechanism.parameters) for b in self.mechanism.bodies):
            raise StateError(f"momentum: mechanism {self.mechanism.name!r} has no mass, and so no centre of mass; give a body a mass")
        m = self._evaluate("momentum", (q, v), None, parameters)
        mass, velocity = m[..., 0], m[..., 4:7]
        return {"mass": mass, "com": m[..., 1:4], "com_velocity": velocity, "linear": mass[..., None] * velocity,
                "angular": m[..., 7:]}  # fmt: skip

    def pose(self, q: Any, frame: str, parameters: Any = None) -> Array:
        """(..., 4, 4): the homogeneous pose of a frame or body in the ground."""
        top = self._evaluate("pose", (q,), None, parameters, (frame,))
        X = np.zeros((*top.shape[:-2], 4, 4))
        X[..., :3, :], X[..., 3, 3] = top, 1.0
        return X

    def jacobian(self, q: Any, frame: str, axes: str = "world", parameters: Any = None) -> Array:
        """J (..., 6, nv), angular first: (angular velocity, velocity of the frame's origin) = J v, in "world" or "body" axes."""
        return self._evaluate("jacobian", (q,), None, parameters, (frame, axes))

    def jacobian_rate(self, q: Any, v: Any, frame: str, axes: str = "world", parameters: Any = None) -> Array:
        """Jdot v (..., 6), in the same axes as J."""
        return self._evaluate("jacobian_rate", (q, v), None, parameters, (frame, axes))

    def frame_velocity(self, q: Any, v: Any, frame: str, axes: str = "world", parameters: Any = None) -> Array:
        """(..., 6): angular velocity (rad/s), then velocity of the origin (m/s)."""
        return self._evaluate("frame_velocity", (q, v), None, parameters, (frame, axes))

    def frame_acceleration(self, q: Any, v: Any, a: Any, frame: str, axes: str = "world", parameters: Any = None) -> Array:
        """(..., 6): angular acceleration (rad/s2), then acceleration of the origin (m/s2)."""
        return self._evaluate("frame_acceleration", (q, v, a), None, parameters, (frame, axes))

    # ------------------------------------------------------------------------------------------------ derivatives
    def inverse_dynamics_derivatives(
        self, q: Any, v: Any, a: Any, wrenches: Any = None, parameters: Any = None, t: Any = 0.0
    ) -> tuple[Array, ...]:
        """d tau / d q, d tau / d v, d tau / d a, each (..., nv, nv), and d tau / d parameters where there are any.

        d/dq is along the speeds: column k is the change when the coordinates move along the k-th speed, so that a
        quaternion has three columns.
        """
        self._moving("inverse_dynamics_derivatives")
        return self._evaluate("inverse_dynamics_derivatives", (q, v, a), wrenches, parameters, t=t)

    def forward_dynamics_derivatives(
        self, q: Any, v: Any, tau: Any, wrenches: Any = None, parameters: Any = None, t: Any = 0.0
    ) -> tuple[Array, ...]:
        """d a / d q, d a / d v, d a / d tau = M^-1, and d a / d parameters where there are any; d/dq along the speeds."""
        self._moving("forward_dynamics_derivatives")
        return self._evaluate("forward_dynamics_derivatives", (q, v, tau), wrenches, parameters, t=t)

    def _moving(self, quantity: str) -> None:
        if not self.nv:
            raise StateError(f"{quantity}: nothing of mechanism {self.mechanism.name!r} moves, all its joints are fixed")

    # ------------------------------------------------------------------------------------------------ coordinates
    def neutral(self) -> Array:
        """q with every coordinate zero and every quaternion the identity."""
        q = np.zeros(self.nq)
        q[self._balls] = 1.0
        return q

    def sample(self, rng: np.random.Generator, *shape: int) -> Array:
        """Random coordinates (*shape, nq): normal numbers, quaternions of length one, small bending of flexible bodies."""
        q = rng.standard_normal((*shape, self.nq))
        for k in self._balls:
            q[..., k : k + 4] /= np.linalg.norm(q[..., k : k + 4], axis=-1, keepdims=True)
        for modal in self.layout.modal:
            for name, size in modal.sizes(self.mechanism.parameters).items():
                q[..., self.coordinate_names.index(name)] *= size
        return q

    def coordinate_rate(self, q: Any, v: Any) -> Array:
        """qdot (..., nq): the speeds themselves, and half the quaternion times the angular velocity."""
        q, v = (arguments.array(self, "coordinate_rate", name, x) for name, x in (("q", q), ("v", v)))
        lead = np.broadcast_shapes(q.shape[:-1], v.shape[:-1])
        rate = np.zeros((*lead, self.nq))
        for c in self.layout.coordinates:
            k, l = c.qi, c.vi
            if c.motion == BALL:
                pure = np.concatenate([np.zeros((*v.shape[:-1], 1)), v[..., l : l + 3]], axis=-1)
                rate[..., k : k + 4] = 0.5 * quaternion_product(q[..., k : k + 4], pure)
            else:
                rate[..., k] = v[..., l]
        return rate

    def move(self, q: Any, change: Any) -> Array:
        """The coordinates after moving by `change` (..., nv) along the speeds, exactly: a ball turns by its rotation vector."""
        q, d = arguments.array(self, "move", "q", q), arguments.array(self, "move", "change", change)
        q, d = (np.broadcast_to(x, np.broadcast_shapes(q.shape[:-1], d.shape[:-1]) + x.shape[-1:]) for x in (q, d))
        moved = q.copy()
        for c in self.layout.coordinates:
            k, l = c.qi, c.vi
            if c.motion == BALL:
                half = 0.5 * d[..., l : l + 3]
                angle = np.linalg.norm(half, axis=-1, keepdims=True)
                turn = np.concatenate([np.cos(angle), np.sinc(angle / np.pi) * half], axis=-1)
                moved[..., k : k + 4] = quaternion_product(q[..., k : k + 4], turn)
            else:
                moved[..., k] = q[..., k] + d[..., l]
        return moved

    # ------------------------------------------------------------------------------------------------ one state
    def __getattr__(self, name: str) -> Callable:
        """The built-in of a quantity for one state, such as _one_inverse_dynamics, made at its first use.

        It answers None to what is not one good state of doubles; the long way takes that, or says what is wrong with it.
        """
        quantity = name.removeprefix("_one_")
        if quantity == name or quantity not in ONE_STATE:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        hidden = self._traced_only and self._springs is None
        taken = self.life != "lanes" and not hidden and quantity not in self._own and fastcall.available()
        found: Callable = partial(self._first, name, quantity) if taken else _nothing
        self.__dict__[name] = found
        return found

    def _first(self, name: str, quantity: str, *given: Any) -> Any:
        """The first single state: its built-in is compiled, or found, and takes over. A batch does not wait for it."""
        if getattr(given[0], "ndim", 0) != 1:
            return None
        kernel = quantity
        if quantity == "forward_dynamics":
            kernel = ("constrained_dynamics" if self.mechanism.loops else quantity) + ("_dense" if self.layout.coupled else "")
        found = one_state.bound(kernel, self._handle)
        self.__dict__[name] = found if self._springs is None else self._springs.one(quantity, found)
        return self.__dict__[name](*given)

    # ------------------------------------------------------------------------------------------------ evaluation
    def _evaluate(
        self, quantity: str, given: Sequence[Any], wrenches: Any = None, parameters: Any = None, which: tuple[str, ...] = (),
        t: Any = 0.0,
    ) -> Any:  # fmt: skip
        names = INPUTS[quantity]
        if which:
            self.mechanism.frame(which[0])
            if len(which) > 1 and which[1] not in ("world", "body"):
                raise UnknownNameError("axes", which[1], ("world", "body"), f"{quantity} of {which[0]!r}")
        arrays = [arguments.array(self, quantity, arguments.LETTERS[k], x) for k, x in zip(names, given)]
        keys, forces = arguments.wrenches(self, quantity, wrenches)
        p = arguments.parameters(self, parameters)
        time = np.asarray(t, float)[..., None] if self._traced_only else None
        lead = arguments.batch(quantity, {**dict(zip((arguments.LETTERS[k] for k in names), arrays)), "wrenches": forces, "parameters": p, "t": time})
        batch = int(np.prod(lead))
        empty = batch == 0
        if empty:  # one state stands for none, to learn the shapes
            arrays = [np.zeros(x.shape[-1:]) + (self.neutral() if k == "q" else 0.0) for k, x in zip(names, arrays)]
            forces, p, time = (x if x is None else np.ones(x.shape[-1:]) for x in (forces, p, time))
            shape, lead, batch = lead, (), 1
        wide = len(self.layout.nodes) > LANES_UP_TO or not lead
        known = not self._traced_only or self._springs is not None
        use_generic = (self.life == "generic" or (self.life == "auto" and wide) or not self.nv) and known
        if use_generic and parameters is None and quantity in GENERIC and quantity not in self._own:
            states = [rows(x, lead, batch) for x in arrays]
            given = (states, keys, forces, lead, batch, *which)
            kernel = partial(GENERIC[quantity], self)
            out = kernel(*given) if self._springs is None else self._springs.around(quantity, kernel, *given)
            outs, shapes, finite = [out.reshape(batch, -1)], [out.shape[1:]], bool(np.isfinite(out).all())
        else:
            kernel = self._kernel(quantity, keys, *which)
            if p is None and self.parameter_names:
                p = np.array(list(self.mechanism.parameters.values()))
            flat = [np.ascontiguousarray(x) if x.ndim == 1 else rows(x, lead, batch) for x in (*arrays, forces, p, time) if x is not None]
            outs, finite = kernel(flat, batch, threads=self.threads)
            shapes = [s if s[1] > 1 or quantity in MATRICES else s[:1] for s in kernel.output_shapes]
        if empty:
            results = tuple(np.zeros((*shape, *each)) for each in shapes)
            return results if len(results) > 1 else results[0]
        if not finite or arguments.suspicious(self, quantity, outs[0]):
            given_too = {"wrenches": forces, "parameters": p, "t": time}
            arguments.explain(self, quantity, dict(zip(names, arrays)), lead, outs[0], given_too)
        results = tuple(out.reshape((*lead, *shape)) for out, shape in zip(outs, shapes))
        return results if len(results) > 1 else results[0]

    def function(self, quantity: str, *which: str, wrenches: Sequence[tuple[str, str]] = ()) -> ca.Function:
        """The tape of a quantity, as a CasADi function of q, v, a or tau (those it needs), wrenches and parameters.

        which: the frame, then "world" or "body", for quantities of a frame. wrenches: (frame, axes) of each external wrench;
        the function then takes their components side by side, (6 k). Parameters come next where the mechanism has any, the
        time last where it has loads or speed rows.
        """
        if quantity not in INPUTS:
            raise UnknownNameError("quantity", quantity, INPUTS, "a machine")
        t = Tracer(self.layout, self.snap, wrenches)
        result = getattr(t, quantity)(*which)
        outputs = list(result) if isinstance(result, tuple) else [result]
        inputs = [{"q": t.q, "v": t.v, "a": t.a, "t": t.tau}[k] for k in INPUTS[quantity]]
        inputs += ([t.w] if wrenches else []) + ([t.p] if self.parameter_names else []) + ([t.t] if self._traced_only else [])
        return ca.Function(quantity, inputs, ca.cse(outputs), {"allow_free": False})

    def _kernel(self, quantity: str, wrenches: tuple, *which: str) -> Any:
        """The lane kernel of a quantity, compiled at its first use."""
        key = (quantity, wrenches, which)
        if key not in self._kernels:
            from ..compiler.lanes import compile_lanes

            self._kernels[key] = compile_lanes(self.function(quantity, *which, wrenches=wrenches))
        return self._kernels[key]


def _nothing(*_: Any) -> None:
    """No state is taken here."""


def quaternion_product(a: Array, b: Array) -> Array:
    """a b, scalar first, over any leading shapes."""
    w, x, y, z = np.moveaxis(a, -1, 0)
    k, l, m, n = np.moveaxis(b, -1, 0)
    return np.stack([w * k - x * l - y * m - z * n, w * l + x * k + y * n - z * m, w * m + y * k + z * l - x * n,
                     w * n + z * k + x * m - y * l], axis=-1)  # fmt: skip


def compile(mechanism: Mechanism | Equations, by: str = "recursive", *, threads: int | None = None, snap: float = SNAP,
            life: str = "auto") -> Machine:  # fmt: skip
    """A Machine for this mechanism, or for its equations by one formulation.

    by: whose forward dynamics it has; Equations bring their own.

    threads: over batches, by default one a core. snap: entries of rotations this near to 0 or 1 are taken for them (a file
    that writes 1.5707963 means a right angle); 0 keeps every digit. life: "auto" (one state generic, batches in lanes, very
    large mechanisms generic), or "generic" or "lanes" always.
    """
    if isinstance(mechanism, Equations) or by != "recursive":
        from .equation_machine import Derived, derive

        equations = mechanism if isinstance(mechanism, Equations) else derive(mechanism, by)
        return Derived(equations, threads=threads, snap=snap, life=life)
    return Machine(mechanism, threads=threads, snap=snap, life=life)


def _again(kind: type[Machine], mechanism: Mechanism, threads: int, snap: float, life: str) -> Machine:
    return kind(mechanism, threads=threads, snap=snap, life=life)
