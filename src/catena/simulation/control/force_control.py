"""Force control in the space of a frame, for mechanisms in contact with their environment.

    Impedance      F = K (x* - x) - D x',  tau = J' F + gravity
                   the frame behaves as if held by a spring and a damper
    Hybrid         along n a force, across it a position: F = -n f + (1 - n n') (K (x* - x) - D x')
                   - n d n . x'

x (3,) is the position of the frame, J its Jacobian (3, nv), in the axes of the ground. Neither law
needs the position of the wall: in contact, an impedance presses with K times the depth of its
target behind the wall [Hogan1985], and a hybrid law with the commanded force f, whatever the wall
does [Raibert1981].
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
    """A controller that pulls a frame to a target position like a spring and a damper.

    Parameters
    ----------
    frame : str
        The name of the frame.
    target : sequence of 3 floats
        x* in the ground, m.
    stiffness, damping : float or sequence of 3 floats
        K (N/m) and D (N s/m), zero or above: one for all, or one per axis of the ground.
    gravity : bool, default True
        Whether to add the forces that hold the mechanism still.

    Raises
    ------
    StateError
        If a number is missing, negative or not finite.
    """

    frame: str
    target: Sequence[float]
    stiffness: Three
    damping: Three
    gravity: bool = True

    def __post_init__(self) -> None:
        _check_numbers("Impedance", "target", self.target, only=3)
        for name in ("stiffness", "damping"):
            _check_numbers("Impedance", name, getattr(self, name), least=0.0)

    def law(self, system: SystemSymbols) -> Law:
        """Return the joint forces J' F, with gravity compensation if asked for; there is no
        state.
        """
        x, u, J = _frame_motion(system, self.frame)
        F = (
            ca.diag(_three(self.stiffness)) @ (ca.SX(np.array(self.target, float)) - x)
            - ca.diag(_three(self.damping)) @ u
        )
        return Law(J.T @ F + (_gravity(system) if self.gravity else 0.0))


@dataclass(frozen=True)
class Hybrid(Controller):
    """A controller that presses a frame against a wall and controls its position along the wall.

    Parameters
    ----------
    frame : str
        The name of the frame.
    normal : sequence of 3 floats
        n, pointing out of the wall, in the ground; its length does not matter.
    force : float
        f in N, into the wall.
    target : sequence of 3 floats
        x* in the ground, m; only its part across n counts.
    stiffness, damping : float
        K (N/m) and D (N s/m) across n, zero or above.
    approach : float
        d in N s/m along n; it limits the speed of approach to f/d.
    gravity : bool, default True
        Whether to add the forces that hold the mechanism still.

    Raises
    ------
    StateError
        If a number is missing, negative or not finite, or the normal is zero.
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
            _check_numbers("Hybrid", name, getattr(self, name), only=3)
        if not np.linalg.norm(self.normal) > 0.0:
            raise StateError(f"Hybrid: normal is {self.normal}; it is a direction, not zero")
        for name in ("stiffness", "damping", "approach"):
            _check_numbers("Hybrid", name, getattr(self, name), least=0.0)
        _check_numbers("Hybrid", "force", self.force)

    def law(self, system: SystemSymbols) -> Law:
        """Return the joint forces J' F, with gravity compensation if asked for; there is no
        state.
        """
        x, u, J = _frame_motion(system, self.frame)
        n = ca.SX(np.array(self.normal, float) / np.linalg.norm(self.normal))
        across = ca.SX.eye(3) - n @ n.T
        F = across @ (
            self.stiffness * (ca.SX(np.array(self.target, float)) - x) - self.damping * u
        ) - n * (self.force + self.approach * ca.dot(n, u))
        return Law(J.T @ F + (_gravity(system) if self.gravity else 0.0))


def _frame_motion(system: SystemSymbols, frame: str) -> tuple[ca.SX, ca.SX, ca.SX]:
    """Return the position x (3,), the velocity (3,) and J (3, nv) of a frame, in the ground's
    axes.
    """
    s = system.tracer()
    u = vector(elements(s.frame_velocity(frame, "world"))[3:])
    found = [ca.densify(ca.SX(x)) for x in (s.pose(frame)[:3, 3], u, ca.jacobian(u, s.v))]
    x, v, J = ca.Function("frame", [s.t, s.q, s.v, s.p], found)(
        system.t, system.q, system.v, system.p
    )
    return x, v, J


def _gravity(system: SystemSymbols) -> ca.SX:
    """Return the joint forces (nv,) that balance gravity and springs."""
    s = system.tracer()
    return ca.Function("gravity", [s.t, s.q, s.p], [s.gravity()])(system.t, system.q, system.p)


def _three(x: Three) -> ca.SX:
    """Return one number three times, or three numbers, as a vector (3,)."""
    return ca.SX(np.broadcast_to(np.array(x, float), 3).copy())


def _check_numbers(
    kind: str, name: str, given: object, only: int | None = None, least: float = -np.inf
) -> None:
    """Raise StateError unless a value is finite, at least `least`, and of the right shape. only:
    how many numbers it must have; None accepts one number or three.
    """
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
