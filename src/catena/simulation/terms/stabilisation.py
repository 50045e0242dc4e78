"""Stabilisers: how loops stay closed over a long time, although only their accelerations are in the
equations.

    project       after every step the state is moved back onto the loops, the shortest way in the
                  metric of the mass matrix; exact, costs two small solves per step, and is the
                  default
    baumgarte     A a = gamma - 2 alpha A v - beta^2 e: errors decay like a damped oscillator
                  (Baumgarte 1972)
    corrective    a force -K e - D e' is added to the constraint's, [Merwe1995] eq. 5.75; 60 N/m and
                  40 N s/m as in its 5.5.5
    none          nothing is done: the result shows the drift of the integrator

e are the rows' residuals (m, or the cosine of an angle), e' = A v their rates. A stabiliser is a
frozen record, a subclass of `Stabiliser` with `@register`; its fields have defaults, so that its
name alone selects it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca

from ...compiler import Tracer, solved
from ...equations import StateKind
from ...equations.formulations import formulations
from ...errors import SimulationError
from ...registry import Registry


@dataclass(frozen=True)
class Stabiliser:
    """The base of all stabilisers.

    name: the value of the option `stabilise` that selects it. projects: whether states are
    projected onto the loops after every step. pulls: whether `pull` adds accelerations.
    """

    name: ClassVar[str]
    projects: ClassVar[bool] = False
    pulls: ClassVar[bool] = False

    def pull(self, s: Tracer) -> tuple[ca.SX, ca.SX]:
        """Return the accelerations (nv,) that the stabiliser adds, and their power, W."""
        return ca.SX.zeros(s.layout.nv), ca.SX(0)


STABILISERS: Registry[type[Stabiliser]] = Registry("stabiliser", error=SimulationError)
register = STABILISERS.register


@register
@dataclass(frozen=True)
class Project(Stabiliser):
    """Project the state onto the loops after every step."""

    name = "project"
    projects = True


@register
@dataclass(frozen=True)
class Drift(Stabiliser):
    """Leave the drift of the loops as it is: neither project states nor add accelerations."""

    name = "none"


@register
@dataclass(frozen=True)
class Baumgarte(Stabiliser):
    """Add accelerations that let the errors of loops decay. alpha, beta: 1/s; equal ones damp
    errors critically with the time constant 1 / alpha.
    """

    alpha: float = 10.0
    beta: float = 10.0
    name = "baumgarte"
    pulls = True

    def pull(self, s: Tracer) -> tuple[ca.SX, ca.SX]:
        """Return the accelerations M^-1 A' mu that let the errors e decay, A M^-1 A' mu = -2 alpha
        e' - beta^2 e, and their power e' mu.
        """
        error, rate, _, A = s.constraint_rows()
        a, mu = s.smallest_change(A, -2.0 * self.alpha * rate - self.beta**2 * error)
        return a, ca.dot(mu, rate)


@register
@dataclass(frozen=True)
class Corrective(Stabiliser):
    """Add a spring and a damper along each row. stiffness: N/m (N m for the rows of rotations);
    damping: N s/m.
    """

    stiffness: float = 60.0
    damping: float = 40.0
    name = "corrective"
    pulls = True

    def pull(self, s: Tracer) -> tuple[ca.SX, ca.SX]:
        """Return the accelerations M^-1 A' f that springs and dampers along the rows cause, f = -K
        e - D e', and their power e' f.
        """
        error, rate, _, A = s.constraint_rows()
        f = -self.stiffness * error - self.damping * rate
        return solved(s._factor, A.T @ f), ca.dot(f, rate)


def stabiliser(asked: Stabiliser | str | None) -> Stabiliser:
    """Return the stabiliser of that name with its default values, or the record itself; None is
    "none". Raise SimulationError for an unknown name.
    """
    if isinstance(asked, Stabiliser):
        return asked
    return STABILISERS.find("none" if asked is None else str(asked))()


def needs_speeds(s: Stabiliser, by: str) -> SimulationError:
    """Return the error for a stabiliser that adds accelerations, used with a formulation `by` whose
    state is not (q, v).
    """
    able = [f.name for f in formulations() if f.state is StateKind.SPEEDS]
    return SimulationError(
        f"stabilise = {s.name!r} adds to accelerations, and the state of these equations by {by!r}"
        f" is not (q, v); take one of {', '.join(able)}, or stabilise='project'"
    )
