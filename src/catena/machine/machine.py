"""Machine: the quantities of a mechanism as methods that take arrays with any leading shape.

Each method evaluates one quantity of the table in `quantities`. The router (`router`) chooses which
of two backends evaluates it. Usually this is "lanes", for one state as for a batch: machine code
that is compiled for this mechanism and evaluates several states at once. Mechanisms with more than
`LANES_UP_TO` nodes use "generic" instead, kernels that are compiled once for all mechanisms,
because the time to compile lanes grows with the mechanism. Both give the same results to rounding.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import BuiltinFunctionType
from typing import Any

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
from .router import LANES_UP_TO, LIVES, RoutedCalls, Router, SingleCalls, written
from .spec import Spec, Trace
from .state_check import STATE, require_possible

__all__ = ["LANES_UP_TO", "Machine", "compile", "quaternion_product"]

Array = NDArray[np.float64]


class Machine:
    """A mechanism with compiled code for its kinematics and dynamics.

    The equations of motion are M(q) a + bias(q, v) = tau + sum of J' wrench. Here tau is the whole
    generalised force along the joints' speeds. Joint damping and friction are not part of the other
    methods (as in Pinocchio): `losses` returns them, and `simulate` and the questions about motors
    add them. Armature is part of M.

    Every array argument has the shape (..., n). Leading dimensions are a batch; those of the
    arguments are broadcast against each other.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism. It is validated, and flexible bodies are discretised.
    threads : int, optional
        The number of threads that share a batch. Default: one per core.
    snap : float, default 1.1e-11
        The largest entry of a rotation (dimensionless) that is taken for an exact zero where it is
        the residue of a right angle written with too few digits; 0 keeps every digit. See
        `compile`.
    life : {"auto", "generic", "lanes"}, default "auto"
        Which compiled code is used. See `compile`.

    Attributes
    ----------
    nq, nv : int
        The number of coordinates and of speeds.
    coordinate_names, speed_names, joint_names, parameter_names : tuple of str
        Names in the order of q, of v, of the moving joints and of the parameters.
    rows : sequence of (str, str)
        Joint or constraint, and label, of each constraint row.

    Raises
    ------
    StateError
        If an argument has the wrong type or an unknown value.

    Examples
    --------
    >>> import catena
    >>> arm = catena.compile(catena.load("two_link_arm"))
    >>> arm.nq, arm.nv, arm.speed_names
    (2, 2, ('shoulder', 'elbow'))
    >>> arm.mass_matrix([[0.0, 0.0], [0.0, 1.0]]).shape
    (2, 2, 2)
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
        """Return {name: expression} of the quantities whose expressions are not those of the
        recursive kernels.
        """
        return {}

    def __repr__(self) -> str:
        return (
            f"Machine({self.mechanism.name!r}: nq {self.nq}, nv {self.nv}, {len(self.layout.nodes)}"
            f" nodes, {self.threads} threads, life {self.life!r}, placements snapped at"
            f" {self.snap:g})"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the function and arguments that rebuild the machine from its mechanism, for copies
        and pickles: memory addresses and machine code cannot be copied.
        """
        return _again, (type(self), self.mechanism, self.threads, self.snap, self.life)

    def at(self, parameters: Mapping[str, float]) -> Machine:
        """Return the same machine at other parameter values, sharing its compiled code.

        Parameters
        ----------
        parameters : mapping of str to float
            New values by name, in SI units. Parameters that are not named keep their values.

        Returns
        -------
        Machine
            A machine that shares the lanes compiled for this one, and always uses lanes.

        Raises
        ------
        UnknownNameError
            If the mechanism has no parameter of that name.
        StateError
            If the values give a body an impossible mass or inertia.

        Examples
        --------
        >>> import catena
        >>> arm = catena.compile(catena.load("two_link_arm"))
        >>> heavy = arm.at({"m2": 8.0})
        >>> bool(heavy.gravity([0.0, 0.0])[1] > arm.gravity([0.0, 0.0])[1])
        True
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
        out: Array | None = None,
    ) -> Array:
        """Return the generalised forces that produce the accelerations `a`.

        tau = M a + bias - sum of J' wrench; [Merwe1995] chapter 4. Also available as `rnea`.

        Parameters
        ----------
        q : array_like, shape (..., nq)
            Coordinates (rad, m; quaternions as unit vectors, scalar first).
        v : array_like, shape (..., nv)
            Speeds (rad/s, m/s).
        a : array_like, shape (..., nv)
            Accelerations, the rates of the speeds (rad/s2, m/s2).
        wrenches : mapping, optional
            External wrenches, {frame: (..., 6)}, torque first (N m, N), about the frame's origin
            along the frame's own axes. The key (frame, "world") means along the ground's axes.
        parameters : mapping or array_like, optional
            Parameter values, {name: (...)} or (..., number of parameters). Default: the mechanism's
            own.
        t : array_like, default 0.0
            Time (s), for loads that depend on it.
        out : ndarray, optional
            Where to write the result, for loops that may not allocate; it is returned.

        Returns
        -------
        ndarray, shape (..., nv)
            tau (N m for rotations, N for displacements).

        Raises
        ------
        StateError
            If an argument has the wrong shape, is not a number, or names an unknown frame or
            parameter.

        Examples
        --------
        >>> import catena
        >>> arm = catena.compile(catena.load("two_link_arm"))
        >>> arm.inverse_dynamics([0.0, 0.0], [0.0, 0.0], [0.0, 0.0]).round(3)
        array([42.183,  7.848])
        """
        if wrenches is None and parameters is None:
            if out is None:
                return self._single["inverse_dynamics"](q, v, a, t)
            return self._into("inverse_dynamics", out, q, v, a, t)
        found = self._ask("inverse_dynamics", (q, v, a), wrenches, parameters, t=t)[0]
        return found if out is None else written("inverse_dynamics", found, out)

    def forward_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        wrenches: Wrenches | None = None,
        parameters: Parameters | None = None,
        t: ArrayLike = 0.0,
        out: Array | None = None,
    ) -> Array:
        """Return the accelerations that the generalised forces `tau` produce.

        a = M^-1 (tau - bias + sum of J' wrench), under the constraint rows where the mechanism has
        any. Also available as `aba`.

        Parameters
        ----------
        q : array_like, shape (..., nq)
            Coordinates.
        v : array_like, shape (..., nv)
            Speeds (rad/s, m/s).
        tau : array_like, shape (..., nv)
            Generalised forces (N m, N).
        wrenches, parameters, t, out
            As in `inverse_dynamics`.

        Returns
        -------
        ndarray, shape (..., nv)
            Accelerations (rad/s2, m/s2).

        Raises
        ------
        ClosureError
            If a state leaves a loop open, or its speeds open one; `catena.assemble(mechanism, q,
            v)` finds a state that does not.
        SingularError
            If nothing resists some motion, so that the acceleration is not determined.

        Examples
        --------
        >>> import catena
        >>> arm = catena.compile(catena.load("two_link_arm"))
        >>> arm.forward_dynamics([0.0, 0.0], [0.0, 0.0], [0.0, 0.0]).round(3)
        array([-24.135,  31.088])
        """
        if wrenches is None and parameters is None:
            if out is None:
                return self._single["forward_dynamics"](q, v, tau, t)
            return self._into("forward_dynamics", out, q, v, tau, t)
        found = self._ask("forward_dynamics", (q, v, tau), wrenches, parameters, t=t)[0]
        return found if out is None else written("forward_dynamics", found, out)

    def _into(self, name: str, out: Array, *given: Any) -> Array:
        """Evaluate a quantity at a single state, or a batch, into an array."""
        call = self._single[name]
        if isinstance(call, BuiltinFunctionType):
            return call(*given, out)
        return written(name, call(*given), out)

    rnea, aba = inverse_dynamics, forward_dynamics

    def mass_matrix(
        self,
        q: ArrayLike,
        parameters: Parameters | None = None,
        out: Array | None = None,
    ) -> Array:
        """Return the mass matrix M; the kinetic energy is 1/2 v' M v.

        Also available as `crba`.

        Parameters
        ----------
        q : array_like, shape (..., nq)
            Coordinates.
        parameters : mapping or array_like, optional
            Parameter values, as in `inverse_dynamics`.
        out : ndarray, optional
            Where to write the result.

        Returns
        -------
        ndarray, shape (..., nv, nv)
            M, symmetric (kg m2, kg m or kg).

        Examples
        --------
        >>> import catena
        >>> arm = catena.compile(catena.load("two_link_arm"))
        >>> arm.mass_matrix([0.0, 0.0]).round(3)
        array([[2.54 , 0.615],
               [0.615, 0.225]])
        """
        if parameters is None:
            if out is None:
                return self._single["mass_matrix"](q)
            return self._into("mass_matrix", out, q)
        found = self._ask("mass_matrix", (q,), None, parameters)[0]
        return found if out is None else written("mass_matrix", found, out)

    crba = mass_matrix

    def bias(
        self,
        q: ArrayLike,
        v: ArrayLike,
        wrenches: Wrenches | None = None,
        parameters: Parameters | None = None,
        t: ArrayLike = 0.0,
        out: Array | None = None,
    ) -> Array:
        """Return the generalised forces of a motion without accelerations.

        These are the Coriolis, centrifugal and gravity terms, less the loads of the mechanism and
        the external wrenches: `inverse_dynamics` with a = 0.

        Parameters
        ----------
        q : array_like, shape (..., nq)
            Coordinates.
        v : array_like, shape (..., nv)
            Speeds (rad/s, m/s).
        wrenches, parameters, t, out
            As in `inverse_dynamics`.

        Returns
        -------
        ndarray, shape (..., nv)
            Generalised forces (N m, N).
        """
        if wrenches is None and parameters is None:
            if out is None:
                return self._single["bias"](q, v, t)
            return self._into("bias", out, q, v, t)
        found = self._ask("bias", (q, v), wrenches, parameters, t=t)[0]
        return found if out is None else written("bias", found, out)

    def gravity(
        self,
        q: ArrayLike,
        parameters: Parameters | None = None,
        t: ArrayLike = 0.0,
        out: Array | None = None,
    ) -> Array:
        """Return the generalised forces that hold the mechanism at rest, dV/dq.

        This is `inverse_dynamics` with v = 0 and a = 0, so loads such as springs are part of it.

        Parameters
        ----------
        q : array_like, shape (..., nq)
            Coordinates.
        parameters, t, out
            As in `inverse_dynamics`.

        Returns
        -------
        ndarray, shape (..., nv)
            Generalised forces (N m, N).
        """
        if parameters is None:
            if out is None:
                return self._single["gravity"](q, t)
            return self._into("gravity", out, q, t)
        found = self._ask("gravity", (q,), None, parameters, t=t)[0]
        return found if out is None else written("gravity", found, out)

    def losses(self, v: ArrayLike, parameters: Parameters | None = None) -> Array:
        """Return the forces of joint damping and of dry friction at the speeds `v`.

        In the other methods tau is the whole force along the joints' speeds. In `simulate`,
        `hybrid_dynamics` and `catena.analysis.inverse_dynamics` tau is the force of the motors, and
        these forces act in addition: whole force = motors + losses.

        Parameters
        ----------
        v : array_like, shape (..., nv)
            Speeds (rad/s, m/s).
        parameters : mapping or array_like, optional
            Parameter values, as in `inverse_dynamics`.

        Returns
        -------
        ndarray, shape (..., nv)
            Forces along the speeds (N m, N). Dry friction is smoothed over small speeds.
        """
        return self._ask("losses", (v,), None, parameters)[0]

    def coriolis_matrix(
        self, q: ArrayLike, v: ArrayLike, parameters: Parameters | None = None
    ) -> Array:
        """Return the Coriolis matrix C, with C v + gravity = bias and Mdot - 2 C skew-symmetric.

        Parameters
        ----------
        q : array_like, shape (..., nq)
            Coordinates.
        v : array_like, shape (..., nv)
            Speeds (rad/s, m/s).
        parameters : mapping or array_like, optional
            Parameter values, as in `inverse_dynamics`.

        Returns
        -------
        ndarray, shape (..., nv, nv)
            C.
        """
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
        """Return the wrench in every joint, fixed joints and joints that close loops included.

        It is the action of the parent on the child through the joint, its motor included, about the
        child body's origin and along the child body's axes. `catena.machine.reactions` has other
        axes, and a function that rotates wrenches with undetermined components.

        Parameters
        ----------
        q : array_like, shape (..., nq)
            Coordinates.
        v : array_like, shape (..., nv)
            Speeds (rad/s, m/s).
        a : array_like, shape (..., nv)
            Accelerations (rad/s2, m/s2).
        wrenches, parameters, t
            As in `inverse_dynamics`. Mechanisms with constraint rows take no `parameters` here.
        tau : array_like, shape (..., nv), optional
            The joint forces of the motion (N m, N), for mechanisms with constraint rows: the motion
            alone does not determine them. Default: zero.

        Returns
        -------
        dict of str to ndarray, shape (..., 6)
            {joint: wrench}, torque first (N m, N). A component that is NaN is not determined,
            because constraint rows are redundant or because a constraint does not say where it
            acts.

        Raises
        ------
        StateError
            If `parameters` are given for a mechanism with constraint rows.
        QuestionError
            If `tau` and `a` contradict each other.
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
        """Return the regressor Y: the forces are linear in the inertial parameters theta.

        tau = Y theta + armature a, less loads; [KhalilDombre2002] chapter 12.

        Parameters
        ----------
        q : array_like, shape (..., nq)
            Coordinates.
        v : array_like, shape (..., nv)
            Speeds (rad/s, m/s).
        a : array_like, shape (..., nv)
            Accelerations (rad/s2, m/s2).
        parameters : mapping or array_like, optional
            Parameter values, as in `inverse_dynamics`.

        Returns
        -------
        ndarray, shape (..., nv, 10 bodies)
            Y. The columns are, body by body, the mass, the first moment and the inertia about the
            body's origin (m, hx, hy, hz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz);
            `catena.identification.inertial_names(machine)` names them.
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
        """Return the multipliers lambda of the constraint rows at the motion that `tau` produces.

        Where rows are redundant, lambda is not unique; the one of least norm is returned, in the
        metric of `kernels.rank`.

        Parameters
        ----------
        q : array_like, shape (..., nq)
            Coordinates.
        v : array_like, shape (..., nv)
            Speeds (rad/s, m/s).
        tau : array_like, shape (..., nv)
            Generalised forces (N m, N).
        wrenches, parameters, t
            As in `inverse_dynamics`.

        Returns
        -------
        ndarray, shape (..., rows)
            lambda, in the order of `rows` (N for displacements, N m for directions).

        Raises
        ------
        ClosureError
            If a state breaks the constraint rows, as in `forward_dynamics`.
        """
        least = loaded("catena.machine.constraint_rows:least_multipliers")
        return least(self, q, v, tau, wrenches, parameters, t)

    def constraint_rows(
        self, q: ArrayLike, v: ArrayLike, parameters: Parameters | None = None, t: ArrayLike = 0.0
    ) -> tuple[Array, Array, Array, Array]:
        """Return the residuals of the constraint rows, their rates, gamma and the Jacobian A.

        A v = rate for rows that do not depend on the time, and A a = gamma.

        Parameters
        ----------
        q : array_like, shape (..., nq)
            Coordinates.
        v : array_like, shape (..., nv)
            Speeds (rad/s, m/s).
        parameters, t
            As in `inverse_dynamics`.

        Returns
        -------
        error : ndarray, shape (..., rows)
            Residuals: metres for displacements, cosines for directions.
        rate : ndarray, shape (..., rows)
            The rates of the residuals (1/s times their units).
        gamma : ndarray, shape (..., rows)
            The right side of A a = gamma.
        A : ndarray, shape (..., rows, nv)
            The constraint Jacobian.
        """
        error, rate, gamma, A = self._ask("constraint_rows", (q, v), None, parameters, t=t)
        return error, rate, gamma, A

    # --- kinematics
    def energy(
        self, q: ArrayLike, v: ArrayLike, parameters: Parameters | None = None
    ) -> tuple[Array, Array]:
        """Return the kinetic and the potential energy.

        Parameters
        ----------
        q : array_like, shape (..., nq)
            Coordinates.
        v : array_like, shape (..., nv)
            Speeds (rad/s, m/s).
        parameters : mapping or array_like, optional
            Parameter values, as in `inverse_dynamics`.

        Returns
        -------
        kinetic : ndarray, shape (...)
            Kinetic energy (J).
        potential : ndarray, shape (...)
            Potential energy (J); that of gravity is zero at the ground's origin.

        Examples
        --------
        >>> import catena
        >>> arm = catena.compile(catena.load("two_link_arm"))
        >>> kinetic, potential = arm.energy([0.0, 0.0], [1.0, 0.0])
        >>> round(float(kinetic), 3)
        1.27
        """
        (E,) = self._ask("energy", (q, v), None, parameters)
        return E[..., 0], E[..., 1]

    def momentum(
        self, q: ArrayLike, v: ArrayLike, parameters: Parameters | None = None
    ) -> dict[str, Array]:
        """Return mass, centre of mass, its velocity and the momenta, in the ground's axes.

        Bodies that are fixed to the ground are not counted.

        Parameters
        ----------
        q : array_like, shape (..., nq)
            Coordinates.
        v : array_like, shape (..., nv)
            Speeds (rad/s, m/s).
        parameters : mapping or array_like, optional
            Parameter values, as in `inverse_dynamics`.

        Returns
        -------
        dict of str to ndarray
            "mass" (...) in kg; "com" (..., 3), the centre of mass, in m; "com_velocity" (..., 3) in
            m/s; "linear" (..., 3) in kg m/s; "angular" (..., 3), about the centre of mass, in kg
            m2/s.

        Raises
        ------
        StateError
            If the mechanism has no mass, or nothing of it moves.
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
        """Return the pose of a frame or body in the ground.

        Parameters
        ----------
        q : array_like, shape (..., nq)
            Coordinates.
        frame : str
            The name of a frame or a body.
        parameters : mapping or array_like, optional
            Parameter values, as in `inverse_dynamics`.

        Returns
        -------
        ndarray, shape (..., 4, 4)
            The homogeneous transform from the frame to the ground (translation in m).

        Examples
        --------
        >>> import catena
        >>> arm = catena.compile(catena.load("two_link_arm"))
        >>> arm.pose([0.0, 0.0], "tip")[:3, 3].round(3)
        array([0.9, 0. , 0. ])
        """
        (top,) = self._ask("pose", (q,), None, parameters, (frame,))
        X = np.zeros((*top.shape[:-2], 4, 4))
        X[..., :3, :], X[..., 3, 3] = top, 1.0
        return X

    def jacobian(
        self, q: ArrayLike, frame: str, axes: str = "world", parameters: Parameters | None = None
    ) -> Array:
        """Return the Jacobian J of a frame, angular rows first.

        (angular velocity, velocity of the frame's origin) = J v.

        Parameters
        ----------
        q : array_like, shape (..., nq)
            Coordinates.
        frame : str
            The name of a frame or a body.
        axes : {"world", "body"}, default "world"
            Whether the components are along the ground's axes or the frame's own.
        parameters : mapping or array_like, optional
            Parameter values, as in `inverse_dynamics`.

        Returns
        -------
        ndarray, shape (..., 6, nv)
            J.
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
        """Return Jdot v, the acceleration of a frame with a = 0, in the same axes as `jacobian`.

        Parameters
        ----------
        q : array_like, shape (..., nq)
            Coordinates.
        v : array_like, shape (..., nv)
            Speeds (rad/s, m/s).
        frame, axes, parameters
            As in `jacobian`.

        Returns
        -------
        ndarray, shape (..., 6)
            Jdot v, angular components first (rad/s2, m/s2). In "body" axes it is the rate of J in
            those turning axes times v.
        """
        return self._ask("jacobian_rate", (q, v), None, parameters, (frame, axes))[0]

    def frame_velocity(
        self,
        q: ArrayLike,
        v: ArrayLike,
        frame: str,
        axes: str = "world",
        parameters: Parameters | None = None,
    ) -> Array:
        """Return the angular velocity of a frame and the velocity of its origin.

        Parameters
        ----------
        q : array_like, shape (..., nq)
            Coordinates.
        v : array_like, shape (..., nv)
            Speeds (rad/s, m/s).
        frame, axes, parameters
            As in `jacobian`.

        Returns
        -------
        ndarray, shape (..., 6)
            Angular velocity (rad/s), then velocity of the origin (m/s).
        """
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
        """Return the angular acceleration of a frame and the acceleration of its origin.

        Parameters
        ----------
        q : array_like, shape (..., nq)
            Coordinates.
        v : array_like, shape (..., nv)
            Speeds (rad/s, m/s).
        a : array_like, shape (..., nv)
            Accelerations (rad/s2, m/s2).
        frame, axes, parameters
            As in `jacobian`.

        Returns
        -------
        ndarray, shape (..., 6)
            Angular acceleration (rad/s2), then acceleration of the origin (m/s2).
        """
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
        """Return the derivatives of `inverse_dynamics`.

        Derivatives with respect to q are along the speeds: column k is the change of tau when the
        coordinates move along speed k. A quaternion therefore has three columns.

        Parameters
        ----------
        q, v, a, wrenches, parameters, t
            As in `inverse_dynamics`.

        Returns
        -------
        tuple of ndarray
            d tau / d q, d tau / d v and d tau / d a = M, each (..., nv, nv); then d tau / d
            parameters, (..., nv, number of parameters), if the mechanism has parameters.
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
        """Return the derivatives of `forward_dynamics`.

        Derivatives with respect to q are along the speeds, as in `inverse_dynamics_derivatives`.

        Parameters
        ----------
        q, v, tau, wrenches, parameters, t
            As in `forward_dynamics`.

        Returns
        -------
        tuple of ndarray
            d a / d q, d a / d v and d a / d tau, each (..., nv, nv); without constraint rows the
            last is M^-1. Then d a / d parameters, (..., nv, number of parameters), if the mechanism
            has parameters.

        Raises
        ------
        ClosureError
            If a state breaks the constraint rows, as in `forward_dynamics`.
        """
        return self._ask("forward_dynamics_derivatives", (q, v, tau), wrenches, parameters, t=t)

    # --- coordinates
    def neutral(self) -> Array:
        """Return the neutral coordinates: every coordinate zero, every quaternion the identity.

        Returns
        -------
        ndarray, shape (nq,)
            q.
        """
        return coordinates.neutral(self.spec)

    def sample(self, rng: np.random.Generator, *shape: int) -> Array:
        """Return random coordinates.

        Parameters
        ----------
        rng : numpy.random.Generator
            The source of random numbers.
        *shape : int
            Leading sizes of the result.

        Returns
        -------
        ndarray, shape (*shape, nq)
            Standard normal numbers, reflected at the limits of their joints until they lie between
            them; quaternions have length one, and the amplitudes of flexible bodies are small.
            Loops are not closed: `catena.assemble` closes them from there.
        """
        return coordinates.sample(self.spec, rng, *shape)

    def coordinate_rate(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Return the rates of the coordinates, qdot = N(q) v.

        Parameters
        ----------
        q : array_like, shape (..., nq)
            Coordinates.
        v : array_like, shape (..., nv)
            Speeds (rad/s, m/s).

        Returns
        -------
        ndarray, shape (..., nq)
            The speeds themselves; for a quaternion, half its product with the angular velocity.
        """
        return coordinates.coordinate_rate(self.spec, q, v)

    def move(self, q: ArrayLike, change: ArrayLike) -> Array:
        """Return the coordinates after a finite displacement along the speeds.

        Parameters
        ----------
        q : array_like, shape (..., nq)
            Coordinates.
        change : array_like, shape (..., nv)
            The displacement along each speed (rad, m).

        Returns
        -------
        ndarray, shape (..., nq)
            The new coordinates. A ball joint turns exactly by the rotation vector given.
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
        """Raise a ClosureError where states leave a loop open, or have speeds that open one.

        The tolerance is that of `catena.machine.state_check`.

        Parameters
        ----------
        question : str
            What is computed, for the error message.
        q : array_like, shape (..., nq)
            Coordinates.
        v : array_like, shape (..., nv), optional
            Speeds (rad/s, m/s). Without them only positions are checked.
        parameters, t
            As in `inverse_dynamics`.
        **words : str
            Passed on to `state_check.require_possible`, which words the error with them.

        Raises
        ------
        ClosureError
            If a state breaks a constraint row.
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
        """Return the outputs of a quantity of the table, by its name.

        `catena.machine.quantities.find(name).help()` describes the inputs and outputs of a
        quantity. Quantities that were registered from outside catena are evaluated in the same way.

        Parameters
        ----------
        quantity : str
            The name of the quantity.
        *states : array_like, shape (..., n)
            Its inputs, in the order of the table.
        frame : str, optional
            The frame or body, for quantities of a frame.
        axes : {"world", "body"}, default "world"
            Whose axes are used, for quantities that have axes.
        wrenches, parameters, t
            As in `inverse_dynamics`.
        check : bool, default True
            Whether to raise where a state breaks the constraint rows, for quantities that are only
            defined on them.

        Returns
        -------
        tuple of ndarray
            One array per output; its leading shape is that of the batch.

        Raises
        ------
        UnknownNameError
            If there is no quantity of that name.
        StateError
            If an argument is missing or has the wrong shape.

        Examples
        --------
        >>> import catena
        >>> arm = catena.compile(catena.load("two_link_arm"))
        >>> (energy,) = arm.evaluate("energy", [0.0, 0.0], [1.0, 0.0])
        >>> energy.shape
        (2,)
        """
        found = find(quantity)
        named = "" if frame is None else frame
        which = () if not found.frame else (named, axes) if found.axes else (named,)
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
        """Return the outputs of a quantity, evaluated by the router."""
        return self._router.ask(find(quantity), states, wrenches, parameters, which, t, check)

    def torch(self, quantity: str, *which: str) -> Callable[..., object]:
        """Return a quantity as a differentiable PyTorch operator.

        Parameters
        ----------
        quantity : str
            The name of the quantity.
        *which : str
            The frame, then "world" or "body", for quantities of a frame.

        Returns
        -------
        callable
            A function of float64 tensors on the CPU; leading dimensions are a batch.
        """
        return loaded("catena.machine.operators:torch_operator")(self, quantity, *which)

    def jax(self, quantity: str, *which: str) -> Callable[..., object]:
        """Return a quantity as a differentiable JAX operator, with grad (reverse mode), jit and
        vmap.

        Parameters
        ----------
        quantity : str
            The name of the quantity.
        *which : str
            The frame, then "world" or "body", for quantities of a frame.

        Returns
        -------
        callable
            A function of float64 arrays; leading dimensions are a batch.
        """
        return loaded("catena.machine.operators:jax_operator")(self, quantity, *which)

    def function(
        self, quantity: str, *which: str, wrenches: Sequence[tuple[str, str]] = ()
    ) -> ca.Function:
        """Return the traced expression of a quantity as a CasADi function of one state.

        Its inputs are q, v, a or tau as far as the quantity depends on them, then the components of
        the external wrenches side by side, (6 k), then the parameters where the mechanism has any,
        then the time where the mechanism has loads or speed rows.

        Parameters
        ----------
        quantity : str
            The name of the quantity.
        *which : str
            The frame, then "world" or "body", for quantities of a frame.
        wrenches : sequence of (str, str), default ()
            (frame, axes) of each external wrench.

        Returns
        -------
        casadi.Function
            The function; it has one output per output of the quantity.
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
    """Return a Machine for a mechanism, or for the equations of one formulation.

    Parameters
    ----------
    mechanism : Mechanism or Equations
        What is compiled.
    by : str, default "recursive"
        The formulation whose equations give the forward dynamics, one of `catena.ALL_FORMULATIONS`.
        Ignored where `mechanism` is an Equations.
    threads : int, optional
        The number of threads that share a batch. Default: one per core.
    snap : float, default 1.1e-11
        A right angle that was written with a limited number of digits (1.57079632679) leaves
        entries such as 4.9e-12 in a rotation. Entries that are such residues, and at most this
        large, are replaced by zero. The default accepts right angles with ten decimals or more, and
        changes no result by more than about 1e-11; 0 keeps every digit.
    life : {"auto", "generic", "lanes"}, default "auto"
        Which compiled code is used. "lanes": code compiled for this mechanism, over several states
        at once. "generic": kernels compiled once for all mechanisms; quantities that have no such
        kernel still use lanes. "auto": lanes, for one state and for batches, except for mechanisms
        with more than 64 nodes, which use the generic kernels.

    Returns
    -------
    Machine
        The compiled mechanism.

    Raises
    ------
    MechanismError
        If the mechanism is not valid.
    StateError
        If an option has a value that is not allowed.

    Examples
    --------
    >>> import catena
    >>> arm = catena.compile(catena.load("two_link_arm"))
    >>> arm.gravity([0.0, 0.0]).round(3)
    array([42.183,  7.848])
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
