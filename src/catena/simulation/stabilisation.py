"""Stabilisers: how loops stay closed over a long time, although only their accelerations are in the equations.

    project       after every step the state is moved back onto the loops, the shortest way in the metric of the mass matrix;
                  exact, costs two small solves a step, and is the default
    baumgarte     A a = gamma - 2 alpha A v - beta^2 e: errors die away like a damped oscillator (Baumgarte 1972)
    corrective    a force -K e - D e' is added to the constraint's, [Merwe1995] eq. 5.75; 60 N/m and 40 N s/m as in its 5.5.5
    none          nothing: the drift of the integrator is seen as it is

e are the rows' residuals (m, or the cosine of an angle), e' = A v their rates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ..compiler.trace import Tracer, elements, vector
from ..errors import SimulationError, unknown
from ..kernels.dynamics import solve

SPEEDS = ("recursive", "lagrange", "kane", "boltzmann_hamel")  # formulations whose state ends with the speeds v


@dataclass(frozen=True)
class Project:
    """Back onto the loops after every step."""

    projects = True
    pulls = False

    def pull(self, s: Tracer) -> tuple[ca.SX, ca.SX]:
        """What is added to the accelerations (nv,), and its power: nothing."""
        return ca.SX.zeros(s.layout.nv), ca.SX(0)


@dataclass(frozen=True)
class Drift(Project):
    """Nothing is done."""

    projects = False


@dataclass(frozen=True)
class Baumgarte(Drift):
    """alpha, beta: 1/s; equal ones damp errors critically with the time constant 1 / alpha."""

    alpha: float = 10.0
    beta: float = 10.0
    pulls = True

    def pull(self, s: Tracer) -> tuple[ca.SX, ca.SX]:
        """M^-1 A' mu with A M^-1 A' mu = -2 alpha e' - beta^2 e, and its power e' mu."""
        error, rate, _, A = s.constraint_rows()
        a, mu = s.smallest_change(A, -2.0 * self.alpha * rate - self.beta**2 * error)
        return a, ca.dot(mu, rate)


@dataclass(frozen=True)
class Corrective(Drift):
    """stiffness: N/m (N m for the rows of rotations); damping: N s/m."""

    stiffness: float = 60.0
    damping: float = 40.0
    pulls = True

    def pull(self, s: Tracer) -> tuple[ca.SX, ca.SX]:
        """M^-1 A' f with f = -K e - D e', and its power e' f."""
        error, rate, _, A = s.constraint_rows()
        f = -self.stiffness * error - self.damping * rate
        a = np.array(elements(ca.densify(ca.mtimes(A.T, f))), dtype=object)
        solve(s._factor, a)
        return vector(a), ca.dot(f, rate)


Stabiliser = Project
STABILISERS: dict[str, type[Project]] = {"project": Project, "baumgarte": Baumgarte, "corrective": Corrective, "none": Drift}


def stabiliser(asked: Any, by: str) -> Stabiliser:
    """The stabiliser of a name, with its default values, or the record itself; None is "none"."""
    if isinstance(asked, Project):
        found = asked
    else:
        name = "none" if asked is None else str(asked)
        if name not in STABILISERS:
            raise SimulationError(unknown("stabiliser", name, STABILISERS))
        found = STABILISERS[name]()
    if found.pulls and by not in SPEEDS:
        name = type(found).__name__.lower()
        raise SimulationError(
            f"stabilise = {name!r} adds to accelerations, and the state of {by!r} has no speeds; take one of "
            f"{', '.join(SPEEDS)}, or stabilise='project'"
        )
    return found
