"""Trajectories: coordinates as functions of time.

courses             constant, sine, cubic, quintic, spline, straight lines of a frame, CSV tables
piecewise           Trajectory: polynomials and sines, on arrays or traced into expressions
trajectory_state    trajectories with many pieces, as part of the state of a system
"""

from typing import TYPE_CHECKING

from ...doors import door

if TYPE_CHECKING:
    from .courses import (
        constant,
        cosine,
        csv,
        cubic,
        cycloid,
        function,
        line,
        quintic,
        sine,
        spline,
        uniform,
    )
    from .piecewise import Trajectory, together
    from .trajectory_state import Following

__getattr__, __dir__ = door(__name__)
