"""Controllers in the space of a frame: of what touches something, and shall press as it is told.

    Impedance  F = K (x* - x) - D x',  tau = J' F + gravity
            the frame behaves as a spring and damper
    Hybrid         along n a force, across it a position: F = -n f + (1 - n n') (K (x* - x) - D x')
                   - n d n . x'

x (3,) is the place of the frame, J its Jacobian (3, nv), axes those of the ground. Neither needs to
know where the wall is: in touch, an impedance presses with K times the depth at which its target
lies behind the wall [Hogan1985], and a hybrid law with the force f that was asked for, whatever the
wall does [Raibert1981].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ...compiler import elements, vector
from ...errors import StateError
from ..terms.symbols import SystemSymbols
from .control_laws import Controller
from .traced_law import Law

Three = float | Sequence[float]


@dataclass(frozen=True)
class Impedance(Controller):
    """A frame that is drawn to a place as by a spring and a damper.

    frame: its name. target: x*, (3,) m. stiffness, damping: K (N/m) and D (N s/m), one for all or
    one per axis of the ground. gravity: add the forces that hold the mechanism still.
    """

    frame: str
    target: Sequence[float]
    stiffness: Three
    damping: Three
    gravity: bool = True

    def __post_init__(self) -> None:
        _checked("Impedance", "target", self.target, only=3)
        for name in ("stiffness", "damping"):
            _checked("Impedance", name, getattr(self, name), least=0.0)

    def law(self, system: SystemSymbols) -> Law:
        """No state of its own."""
        x, u, J = _moving(system, self.frame)
        F = (
            ca.diag(_three(self.stiffness)) @ (ca.SX(np.array(self.target, float)) - x)
            - ca.diag(_three(self.damping)) @ u
        )
        return Law(J.T @ F + (_gravity(system) if self.gravity else 0.0))


@dataclass(frozen=True)
class Hybrid(Controller):
    """A frame that presses with a force along a normal, and keeps its place across it.

    normal: n (3,), out of the wall. force: f, N, into the wall. target: x* (3,) m, of which the
    part across n counts. stiffness, damping: K and D across n, one number each; approach: d, N s/m
    along n, which limits the speed f/d at which it comes to the wall.
    """

    frame: str
    normal: Sequence[float]
    force: float
    target: Sequence[float]
    stiffness: float
    damping: float
    approach: float
    gravity: bool = True

    def __post_init__(self) -> None:
        for name in ("normal", "target"):
            _checked("Hybrid", name, getattr(self, name), only=3)
        if not np.linalg.norm(self.normal) > 0.0:
            raise StateError(f"Hybrid: normal is {self.normal}; it is a direction, not zero")
        for name in ("stiffness", "damping", "approach"):
            _checked("Hybrid", name, getattr(self, name), least=0.0)
        _checked("Hybrid", "force", self.force)

    def law(self, system: SystemSymbols) -> Law:
        """No state of its own."""
        x, u, J = _moving(system, self.frame)
        n = ca.SX(np.array(self.normal, float) / np.linalg.norm(self.normal))
        across = ca.SX.eye(3) - n @ n.T
        F = across @ (
            self.stiffness * (ca.SX(np.array(self.target, float)) - x) - self.damping * u
        ) - n * (self.force + self.approach * ca.dot(n, u))
        return Law(J.T @ F + (_gravity(system) if self.gravity else 0.0))


def _moving(system: SystemSymbols, frame: str) -> tuple[ca.SX, ca.SX, ca.SX]:
    """x, its velocity (3,) and J (3, nv) of a frame, in the ground's axes."""
    s = system.tracer()
    u = vector(elements(s.frame_velocity(frame, "world"))[3:])
    found = [ca.densify(ca.SX(x)) for x in (s.pose(frame)[:3, 3], u, ca.jacobian(u, s.v))]
    x, v, J = ca.Function("frame", [s.t, s.q, s.v, s.p], found)(
        system.t, system.q, system.v, system.p
    )
    return x, v, J


def _gravity(system: SystemSymbols) -> ca.SX:
    s = system.tracer()
    return ca.Function("gravity", [s.t, s.q, s.p], [s.gravity()])(system.t, system.q, system.p)


def _three(x: Three) -> ca.SX:
    return ca.SX(np.broadcast_to(np.array(x, float), 3).copy())


def _checked(
    kind: str, name: str, given: object, only: int | None = None, least: float = -np.inf
) -> None:
    """A StateError where numbers are missing, or too small."""
    try:
        x = np.array(given, float)
    except (TypeError, ValueError):
        x = np.array(np.nan)
    if (
        x.shape not in (((only,),) if only else ((), (3,)))
        or not np.isfinite(x).all()
        or (x < least).any()
    ):
        sort = f"{only} numbers" if only else "a number, or three"
        raise StateError(
            f"{kind}: {name} is {given!r}; it is {sort}{', zero or more' if least == 0.0 else ''}"
        )
