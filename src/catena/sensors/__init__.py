"""Sensors: what is measured on a mechanism, and how wrong it is.

true_values     the quantity of each kind as an expression of the state
measurement     all sensors of a mechanism compiled, for states in lanes, with derivatives
reading_errors  noise, bias, offset, delay, range and resolution of readings, by counters
readings        the readings of the sensors of a run
"""

from typing import TYPE_CHECKING

from ..doors import door

if TYPE_CHECKING:
    from .measurement import Measurement, measurement, trace_sensor
    from .reading_errors import ReadingErrors
    from .readings import readings

__getattr__, __dir__ = door(__name__)
