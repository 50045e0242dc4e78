"""extended_kalman: the state of a moving mechanism from measured outputs and joint forces.

    predict    x = f(x, u),  P = F P F' + W        f: one step of RK4,  F = df/dx, exact
    correct    K = P H' (H P H' + V)^-1,      x = x + K (y - h(x, u))
               P = (1 - K H) P (1 - K H)' + K V K'

Each is one compiled function with exact derivatives; x = (q, v).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ..analysis import trace_outputs
from ..errors import StateError
from ..machine import Machine, machine_of
from ..model import Mechanism
from ..simulation.control import check_sample_time
from .plant_step import plant_rate, require_independent, rk4_step
from .riccati import noise_of_sample
from .weights import Weight, weight_matrix

Array = np.ndarray


@dataclass(frozen=True)
class ExtendedKalmanFilter:
    """An extended Kalman filter; see `extended_kalman`.

    Attributes
    ----------
    states, outputs : tuple of str
        The names of the states, coordinates then speeds, and of the outputs.
    sample : float
        The time between two measurements, s.
    W, V : ndarray
        The covariances of the noise of one sample (n, n), and of one measurement.
    predict : casadi.Function
        (x, u, P) -> x, P after one sample.
    correct : casadi.Function
        (x, u, P, y) -> x, P after a measurement.
    """

    states: tuple[str, ...]
    outputs: tuple[str, ...]
    sample: float
    W: Array
    V: Array
    predict: ca.Function
    correct: ca.Function

    def step(self, x: Any, P: Any, u: Any, y: Any) -> tuple[Array, Array]:
        """Return the state (n,) and its covariance (n, n) after one sample with joint forces u
        (nv,), corrected by the measurement y (outputs,) at its end.
        """
        x, P = self.predict(x, u, P)
        x, P = self.correct(x, u, P, y)
        return np.array(x).ravel(), np.array(P)

    def run(self, x: Any, P: Any, u: Any, y: Any) -> tuple[Array, Array]:
        """Return the states (T, n) and covariances (T, n, n) after each measurement.

        x (n,), P (n, n): at the start. u (T, nv): the joint forces of each sample. y (T, outputs):
        the measurements at their ends.
        """
        u, y = np.atleast_2d(np.asarray(u, float)), np.atleast_2d(np.asarray(y, float))
        if len(u) != len(y) or y.shape[1] != len(self.outputs):
            raise StateError(
                f"extended_kalman: u has the shape {u.shape} and y {y.shape}; they have one row for"
                f" each sample, and y has {len(self.outputs)} columns: {', '.join(self.outputs)}"
            )
        xs, Ps = [], []
        for force, measured in zip(u, y):
            x, P = self.step(x, P, force, measured)
            xs.append(x)
            Ps.append(P)
        return np.array(xs), np.array(Ps)


def extended_kalman(
    mechanism: Mechanism | Machine,
    outputs: Iterable[str],
    process: Weight,
    measurement: Weight,
    *,
    sample: float,
) -> ExtendedKalmanFilter:
    """Return an extended Kalman filter of a moving mechanism.

    Parameters
    ----------
    mechanism : Mechanism or Machine
        The mechanism, without loops and without ball and free joints.
    outputs : iterable of str
        What is measured, as for `linearize`.
    process : float, array or mapping
        The spectral density of white noise in the rates of the states, as for `kalman`.
    measurement : float, array or mapping
        The covariance of one measurement, positive definite.
    sample : float
        The time between two measurements, s.

    Returns
    -------
    ExtendedKalmanFilter
        Its `step` takes one measurement, its `run` many.

    Raises
    ------
    QuestionError
        If the mechanism has loops, speed rows or quaternions.

    Examples
    --------
    >>> import catena, numpy as np
    >>> pendulum = catena.load("pendulum")
    >>> swing = catena.simulate(pendulum, q=[1.0], until=2.0, output=0.01)
    >>> filter = catena.control.extended_kalman(pendulum, ["pivot"], 1e-6, 1e-6, sample=0.01)
    >>> y = swing.data["q"].values[1:]
    >>> x, _ = filter.run([0.9, 0.0], np.eye(2), np.zeros((200, 1)), y)
    >>> end = [swing.data["q"].values[-1, 0], swing.data["v"].values[-1, 0]]
    >>> bool(abs(x[-1] - end).max() < 1e-3)
    True
    """
    machine = machine_of(mechanism)
    check_sample_time("extended_kalman", sample)
    require_independent("extended_kalman", machine)
    measured = trace_outputs(machine, outputs)
    states = (*machine.coordinate_names, *(f"v['{x}']" for x in machine.speed_names))
    density = weight_matrix("extended_kalman, process", process, states)
    V = weight_matrix("extended_kalman, measurement", measurement, measured.texts, positive=True)
    n, nv = len(states), machine.nv
    # noise enters between samples: positions integrate that of the speeds
    drift = np.zeros((n, n))
    drift[:nv, nv:] = np.eye(nv)
    W = noise_of_sample(drift, density, sample)
    x, u, P = ca.SX.sym("x", n), ca.SX.sym("u", nv), ca.SX.sym("P", n, n)
    rate = plant_rate(machine)
    after = rk4_step(rate, x, u, sample)
    F = ca.jacobian(after, x)
    predict = ca.Function("predict", [x, u, P], [after, F @ P @ F.T + ca.DM(W)])
    y = ca.SX.sym("y", len(measured.texts))
    p, nq = list(machine.mechanism.parameters.values()), machine.nq
    expected = measured.function(x[:nq], x[nq:], rate(x, u)[nq:], u, p, 0.0)
    H = ca.jacobian(expected, x)
    S = H @ P @ H.T + ca.DM(V)
    K = ca.solve(S, H @ P).T
    rest = ca.SX.eye(n) - K @ H
    better = rest @ P @ rest.T + K @ ca.DM(V) @ K.T
    correct = ca.Function(
        "correct", [x, u, P, y], [x + K @ (y - expected), 0.5 * (better + better.T)]
    )
    return ExtendedKalmanFilter(states, measured.texts, sample, W, V, predict, correct)
