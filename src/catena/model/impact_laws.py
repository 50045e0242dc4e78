"""The registry of impact laws by name, which files, runs, sensitivities and documentation read. The
laws themselves are computed in `catena.contact`.

A law is a function (G, u, e, mu) -> impulses of k contacts; `strike` is the function or its
location, "package.module:name", so that a mechanism can be described without importing it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..errors import MechanismError
from ..registry import Registry


@dataclass(frozen=True)
class ImpactLaw:
    """A law of impact.

    name: its name in files, `law = NAME`. strike: its function, or "package.module:name". doc: one
    line for users. one_point: whether the law is defined for a single contact point only, so that
    several coupled contacts have their impacts one after the other. by_speeds: whether the impulse
    leaves the normal speed -e u_n. stages: the number of contact mode problems that it reduces to;
    0 for a law that does not reduce to such problems, and has no derivatives. steps: whether time
    stepping supports it.
    """

    name: str
    strike: Callable[..., Any] | str
    doc: str
    one_point: bool = False
    by_speeds: bool = False
    stages: int = 0
    steps: bool = False


_ALGEBRAIC = "catena.contact.impact_laws"
_PATH = "catena.contact.routh"
IMPACT_LAWS: Registry[ImpactLaw] = Registry(
    "law of impact",
    (
        ImpactLaw(
            "newton",
            f"{_ALGEBRAIC}:newton",
            "the speed of separation is e times that of approach, friction against the velocities"
            " after [Moreau1988]",
            by_speeds=True,
            stages=1,
            steps=True,
        ),
        ImpactLaw(
            "poisson",
            f"{_ALGEBRAIC}:poisson",
            "compression, then at least e times its impulses [Glocker1995]",
            stages=2,
        ),
        ImpactLaw(
            "routh_poisson",
            f"{_PATH}:routh_poisson",
            "friction is integrated along the impact [Routh1905], which ends at 1 + e times the"
            " normal impulse of compression",
            one_point=True,
        ),
        ImpactLaw(
            "routh_newton",
            f"{_PATH}:routh_newton",
            "the same path; it ends where the speed of separation is e times that of approach",
            one_point=True,
            by_speeds=True,
        ),
        ImpactLaw(
            "routh_stronge",
            f"{_PATH}:routh_stronge",
            "the same path; it ends where the normal work of expansion is e^2 times that of"
            " compression [Stronge1990]",
            one_point=True,
        ),
    ),
    MechanismError,
)
register = IMPACT_LAWS.register
