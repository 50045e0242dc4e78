"""Measurement: the sensors of a mechanism as one compiled function of the state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from ..compiler import LaneKernel, Tracer, compile_lanes, vector
from ..errors import QuestionError
from ..machine import Machine, machine_of
from ..model import SENSOR_KINDS, Mechanism, Sensor
from ..registry import loaded

Array = np.ndarray


def trace_sensor(s: Tracer, sensor: Sensor) -> list[Any]:
    """Return the true values of a sensor as expressions of a tracer's symbols.

    Raises a QuestionError for a sensor that measures no function of the state.
    """
    kind = SENSOR_KINDS[sensor.kind]
    if not kind.trace:
        raise QuestionError(
            f"sensor {sensor.name!r} of kind {sensor.kind!r} measures what only a run knows: ask"
            " catena.sensors.readings for a result"
        )
    return list(loaded(kind.trace)(s, sensor))


@dataclass(frozen=True)
class Measurement:
    """The true values of sensors, as a function of q, v, a, tau. channels: the names of its
    numbers.
    """

    machine: Machine
    sensors: tuple[Sensor, ...]

    @property
    def channels(self) -> tuple[str, ...]:
        """The names of all readings, sensor by sensor."""
        return tuple(c for sensor in self.sensors for c in sensor.channels)

    def __call__(
        self, q: Any, v: Any, a: Any = None, tau: Any = None, parameters: Any = None
    ) -> Array:
        """Return the values (..., channels) for states (..., nq) and (..., nv).

        a, tau: accelerations and joint forces, which accelerometers, force-torque sensors and
        currents need; zero by default.
        """
        (y,) = self._evaluate(self._kernel, q, v, a, tau, parameters)
        return y

    def derivatives(
        self, q: Any, v: Any, a: Any = None, tau: Any = None, parameters: Any = None
    ) -> tuple[Array, Array, Array, Array]:
        """Return the derivatives (..., channels, nv) by positions, along the speeds, by v, a and
        tau.
        """
        found = self._evaluate(self._differentiated, q, v, a, tau, parameters)
        n, nv = len(self.channels), self.machine.nv
        one, two, three, four = (x.reshape(*x.shape[:-1], n, nv) for x in found)
        return one, two, three, four

    def _evaluate(
        self, kernel: LaneKernel, q: Any, v: Any, a: Any, tau: Any, parameters: Any
    ) -> list[Array]:
        nv = self.machine.nv
        own = list(self.machine.mechanism.parameters.values()) if parameters is None else parameters
        given = [np.asarray(q, float), np.asarray(v, float)]
        given += [np.zeros(nv) if x is None else np.asarray(x, float) for x in (a, tau)]
        given += [np.asarray(own, float)]
        lead = np.broadcast_shapes(*(x.shape[:-1] for x in given))
        count = int(np.prod(lead))
        flat = [
            np.ascontiguousarray(np.broadcast_to(x, (*lead, x.shape[-1])).reshape(count, -1))
            for x in given
        ]
        found, _ = kernel(flat, count, threads=self.machine.threads or 1)
        return [y.reshape(*lead, -1) for y in found]

    @cached_property
    def _kernel(self) -> LaneKernel:
        return compile_lanes(self.function)

    @cached_property
    def _differentiated(self) -> LaneKernel:
        s, y = self._traced
        N = ca.jacobian(s.coordinate_rate(), s.v)
        parts = [ca.jacobian(y, s.q) @ N, *(ca.jacobian(y, x) for x in (s.v, s.a, s.tau))]
        return compile_lanes(
            ca.Function(
                "derivatives",
                [s.q, s.v, s.a, s.tau, s.p],
                ca.cse([ca.densify(ca.vec(x.T)) for x in parts]),
            )
        )

    @cached_property
    def function(self) -> ca.Function:
        """The function (q, v, a, tau, p) -> values, of CasADi symbols or numbers."""
        s, y = self._traced
        return ca.Function("sensors", [s.q, s.v, s.a, s.tau, s.p], [ca.cse(y)])

    @cached_property
    def _traced(self) -> tuple[Tracer, ca.SX]:
        s = Tracer(self.machine.layout, self.machine.snap)
        return s, vector([x for sensor in self.sensors for x in trace_sensor(s, sensor)])


def measurement(
    mechanism: Mechanism | Machine, sensors: Sequence[Sensor] | None = None
) -> Measurement:
    """Return the true values of sensors as a compiled function with derivatives.

    Parameters
    ----------
    mechanism : Mechanism or Machine
        What is measured.
    sensors : sequence of Sensor, optional
        By default those of the mechanism.

    Returns
    -------
    Measurement
        A function of q, v, a, tau.

    Raises
    ------
    QuestionError
        If there are no sensors, or one measures what is no function of the state.

    Examples
    --------
    >>> import catena
    >>> from catena.model import Sensor
    >>> arm = catena.load("two_link_arm")
    >>> gyro = catena.sensors.measurement(arm, [Sensor("gyro", "gyroscope", "tip")])
    >>> gyro([0.3, 0.4], [1.0, 2.0])[2].round(12)
    np.float64(3.0)
    """
    machine = machine_of(mechanism)
    found = tuple(machine.mechanism.sensors if sensors is None else sensors)
    if not found:
        raise QuestionError(
            f"mechanism {machine.mechanism.name!r} has no sensors; give it some, or give `sensors`"
        )
    return Measurement(machine, found)
