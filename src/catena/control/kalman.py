"""kalman: the steady-state Kalman filter of a linearised mechanism; lqg: a regulator that acts on
its estimate.

    continuous    xh' = A xh + B u + L (y - y* - C xh - D u)
    sampled       xh+ = xh + L (y - y* - C xh - D u),      xh(t + T) = Ad xh+ + Bd u
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ..analysis import StateSpace, trace_outputs
from ..compiler import vector
from ..errors import QuestionError, StateError
from ..machine import machine_of
from ..simulation.control import Controller, Law, check_sample_time, clip_forces
from ..simulation.terms import SystemSymbols
from .feedback import StateFeedback
from .lqr import require_equilibrium
from .riccati import continuous_riccati, discrete_riccati, hold_inputs, noise_of_sample
from .weights import Weight, weight_matrix

Array = np.ndarray


@dataclass(frozen=True)
class KalmanFilter:
    """The steady-state Kalman filter of a linearised mechanism.

    Attributes
    ----------
    L : ndarray (n, outputs)
        The gain.
    P : ndarray (n, n)
        The covariance of the error of the estimate; of a sampled filter, before the measurement.
    system : StateSpace
        The mechanism, with its outputs.
    poles : ndarray (n,)
        The poles of the error: 1/s, or per sample if it is sampled.
    sample : float or None
        The sample time, s.
    """

    L: Array
    P: Array
    system: StateSpace
    poles: Array
    sample: float | None = None


def kalman(
    system: StateSpace, process: Weight, measurement: Weight, *, sample: float | None = None
) -> KalmanFilter:
    """Return the steady-state Kalman filter of a linearised mechanism.

    Parameters
    ----------
    system : StateSpace
        The mechanism about an equilibrium with outputs, from `catena.linearize(..., outputs=...)`.
    process : float, array or mapping
        The spectral density of white noise in the rates of the states: a number, n numbers, a
        matrix (n, n), or {state: density} with the names of `system.states`. A random force along
        an input of density s has the density s B B'.
    measurement : float, array or mapping
        The noise of the outputs, positive definite: a spectral density, or with a sample time the
        covariance of one measurement. By output as for `process`.
    sample : float, optional
        The sample time, s. By default the filter is continuous.

    Returns
    -------
    KalmanFilter
        The gain and the covariance; `lqg` makes a controller of it.

    Raises
    ------
    QuestionError
        If the state is no equilibrium, there are no outputs, or they do not show an unstable
        motion.

    Examples
    --------
    >>> import catena
    >>> system = catena.linearize(
    ...     catena.load("cart_pole"), [0.0, 0.0], actuated=["x"], outputs=["x", "theta"]
    ... )
    >>> filter = catena.control.kalman(system, process=1.0, measurement=1e-4)
    >>> bool((filter.poles.real < 0).all())
    True
    """
    system.require_one("kalman")
    system.require_outputs("kalman")
    check_sample_time("kalman", sample)
    require_equilibrium("kalman", system)
    A, C = system.A, system.C
    W = weight_matrix("kalman, process", process, system.states)
    V = weight_matrix("kalman, measurement", measurement, system.outputs, positive=True)
    none = np.zeros_like(C.T)
    try:
        if sample is None:
            K, P = continuous_riccati("kalman", A.T, C.T, W, V, none)
            L, error = K.T, A - K.T @ C
        else:
            Ad, _ = hold_inputs(A, system.B, sample)
            _, P = discrete_riccati("kalman", Ad.T, C.T, noise_of_sample(A, W, sample), V, none)
            L = np.linalg.solve(C @ P @ C.T + V, C @ P).T
            error = Ad @ (np.eye(len(A)) - L @ C)
    except QuestionError as why:
        hidden = system.unobservable()
        raise (
            QuestionError(f"kalman: {'; '.join(hidden)}; add outputs") if hidden else why
        ) from None
    return KalmanFilter(L, P, system, np.linalg.eigvals(error), sample)


def lqg(regulator: StateFeedback, estimator: KalmanFilter) -> LQG:
    """Return the controller that feeds the estimate of a Kalman filter to a state feedback.

    Parameters
    ----------
    regulator : StateFeedback
        From `lqr` or `place`.
    estimator : KalmanFilter
        From `kalman`, of the same mechanism about the same state, with the same sample time.

    Returns
    -------
    LQG
        A controller for `catena.simulate`. It reads the outputs of the mechanism, and its states
        are the estimate.

    Raises
    ------
    StateError
        If the two were designed for different states or sample times.

    Examples
    --------
    >>> import catena
    >>> cart = catena.load("cart_pole")
    >>> system = catena.linearize(cart, [0.0, 0.0], actuated=["x"], outputs=["x", "theta"])
    >>> control = catena.control.lqg(
    ...     catena.control.lqr(system, Q=1.0, R=0.1), catena.control.kalman(system, 1.0, 1e-4)
    ... )
    >>> run = catena.simulate(cart, q=[0.0, 0.1], until=12.0, control=control)
    >>> bool(abs(run.data["q"].values[-1]).max() < 1e-3)
    True
    """
    mine, theirs = regulator.point, estimator.system
    same = (
        mine.coordinates == theirs.coordinates
        and mine.speeds == theirs.speeds
        and mine.inputs == theirs.inputs
        and np.array_equal(mine.q, theirs.q)
        and np.array_equal(mine.tau, theirs.tau)
    )
    if not same or regulator.sample != estimator.sample:
        raise StateError(
            "lqg: the regulator and the filter are for different systems: coordinates"
            f" {', '.join(mine.coordinates)} and {', '.join(theirs.coordinates)}, inputs"
            f" {', '.join(mine.inputs)} and {', '.join(theirs.inputs)}, sample times"
            f" {regulator.sample} and {estimator.sample} s. Design both from one StateSpace, with"
            " the same sample time"
        )
    return LQG(regulator, estimator)


@dataclass(frozen=True)
class LQG(Controller):
    """A state feedback on the estimate of a Kalman filter; see `lqg`."""

    regulator: StateFeedback
    estimator: KalmanFilter

    @property
    def poles(self) -> Array:
        """The poles of the closed loop: those of the regulator and those of the filter."""
        return np.concatenate([self.regulator.poles, self.estimator.poles])

    def law(self, system: SystemSymbols) -> Law:
        """Return the forces; the estimate is the state, with the held input of a sampled
        controller.
        """
        point, plant = self.regulator.point, self.estimator.system
        point.require_driven("lqg", system.layout)
        n = len(plant.states)
        x = ca.SX.sym("estimate", n)
        names = tuple(f"estimate of {name}" for name in plant.states)
        base = point.input_forces(system.layout)
        K, L = ca.DM(self.regulator.K), ca.DM(self.estimator.L)

        def clipped(u: ca.SX) -> tuple[ca.SX, ca.SX]:
            """Return the joint forces of the inputs u, clipped to their limits, along all speeds;
            and the corresponding changes of the inputs.
            """
            tau = point.spread(system.layout, base + u)
            tau = clip_forces(system, tau, self.regulator.limits)
            own = [list(system.mechanism.speed_names).index(name) for name in point.inputs]
            return tau, vector([tau[k] for k in own]) - base

        def innovation(tau: ca.SX, u: ca.SX, x: ca.SX) -> ca.SX:
            return _outputs(system, plant, tau) - plant.y - ca.DM(plant.C) @ x - ca.DM(plant.D) @ u

        if self.estimator.sample is None:
            tau, u = clipped(-K @ x)
            rate = ca.DM(plant.A) @ x + ca.DM(plant.B) @ u + L @ innovation(tau, u, x)
            return Law(tau, rate, x, names, (0.0,) * n)
        return self._sampled(system, x, names, clipped, innovation)

    def _sampled(
        self, system: SystemSymbols, x: ca.SX, names: tuple[str, ...], clipped: Any, innovation: Any
    ) -> Law:
        """Return the law of a sampled controller; prediction and input are constant between
        samples.
        """
        sample, plant = self.estimator.sample, self.estimator.system
        assert sample is not None
        A, B = (ca.DM(m) for m in hold_inputs(plant.A, plant.B, sample))
        K, L = ca.DM(self.regulator.K), ca.DM(self.estimator.L)
        held, due = ca.SX.sym("held", len(plant.inputs)), ca.SX.sym("due")
        tau, before = clipped(held)
        corrected = x + L @ innovation(tau, before, x)
        _, after = clipped(-K @ corrected)
        state = ca.vertcat(x, held, due)
        fresh = ca.vertcat(A @ corrected + B @ after, after, system.t + sample)
        names = (*names, *(f"held {k}" for k in plant.inputs), f"next sample, every {sample:g} s")
        return Law(
            tau,
            ca.SX.zeros(state.numel()),
            state,
            names,
            (*(0.0 for _ in range(len(names) - 1)), -1e300),  # the first sample is due at once
            ca.if_else(system.t >= due - 1e-6 * sample, fresh, state),
            (len(names) - 1,),
        )


def _outputs(system: SystemSymbols, plant: StateSpace, tau: ca.SX) -> ca.SX:
    """Return the outputs of the mechanism while the joint forces tau act, as expressions."""
    s = system.tracer()
    machine = machine_of(system.mechanism)
    h = trace_outputs(machine, plant.outputs).function
    a = ca.SX.zeros(system.nv)
    if h.jac_sparsity(0, 2).nnz():
        forward = ca.Function("forward", [s.t, s.q, s.v, s.tau, s.p], [s.forward_dynamics()])
        a = forward(system.t, system.q, system.v, tau + system.losses, system.p)
    return h(system.q, system.v, a, tau, system.p, system.t)
