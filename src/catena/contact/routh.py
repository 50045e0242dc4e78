"""Friction integrated along an impact of one contact point: Routh's construction, in the plane and
in space.

The normal impulse p grows from zero, and friction acts against the current slip:

    du/dp = G (1, -mu d),      d = u_t / |u_t|                     while it slips
    du/dp = G (1, f),      f = -G_tt^-1 G_tn  while it sticks: where slip has stopped, and |f| <= mu
    G_tn = (c + mu G_tt) d,  c > 0
            where slip has stopped and cannot stick: the one direction of departure

(G_tn - mu G_tt d keeps that direction, so that it is a straight line.) Compression ends where u_n
reaches zero; the impact ends

    poisson  at p = (1 + e) p_c  newton  at u_n = -e u_n-  stronge  at w = (1 - e^2) w_c,
            dw = u_n dp

with p_c and w_c those of compression. If the point approaches again before the end, which is
possible in space, compression resumes.

u_n - mu |u_t|, the power of the impulse, grows along p at a rate that never increases. So Poisson's
end gains no energy, nor does Stronge's; Newton's can [Kane1985] and is refused if it would.

Where the direction of slip changes, the independent variable is tau, dtau = dp / |u_t|, in which
the equations are smooth up to the end of slip:

    d ln|u_t| / dtau = d . (G_tn - mu G_tt d),      dphi / dtau = across d . (G_tn - mu G_tt d)

Sources: [Routh1905], [Keller1986], [Stronge1990], [Batlle1993].
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import DOP853
from scipy.optimize import brentq

from ..errors import QuestionError, SingularError
from .impact_laws import Blow
from .modes import FIXED_TANGENT_RATIO, OPEN, SLIP, STICK

Array = NDArray[np.float64]
# A slip at most this fast, relative to the speeds before, is zero; likewise a change of its
# direction.
NO_SLIP_RATIO = 1e-13
# ln |u_t| at which a slip has ended, u relative to the speeds before.
SLIP_END_LOG = -37.0
# Relative tolerance of the integration along a slip that changes its direction.
INTEGRATION_TOLERANCE = 1e-13
# Pieces of a path, at most.
MAX_PATH_PIECES = 100
# Contacts whose coupling in G is at most this, relative to the diagonal, are not coupled.
UNCOUPLED_RATIO = 1e-12


class Problem(NamedTuple):
    """The impact of one point: G (3, 3) scaled to G_nn = 1; u (3,) before, scaled so that its
    largest entry is 1; e, mu; end: the condition for the end of the impact, such as `_poisson`.
    """

    G: Array
    u: Array
    e: float
    mu: float
    end: End


class Moment(NamedTuple):
    """A state along an impact: impulses P (3,) so far; work of the normal impulse; compression: (p,
    work) at the end of compression, None before it; ended: whether the impact is over.
    """

    P: Array
    work: float = 0.0
    compression: tuple[float, float] | None = None
    ended: bool = False


End = Callable[[Problem, Moment, float], tuple[float, float, float]]
Rate = Callable[[float, Array], Array]
Guard = Callable[[Array], float]


# --- the laws
def routh_poisson(G: Array, u: Array, e: Array, mu: Array) -> Blow:
    """Return the impulses of an impact in which the normal impulse of restitution is e times that
    of compression.
    """
    return _solve_uncoupled(G, u, e, mu, _poisson)


def routh_newton(G: Array, u: Array, e: Array, mu: Array) -> Blow:
    """Return the impulses of an impact in which the speed of separation is e times that of
    approach.
    """
    return _solve_uncoupled(G, u, e, mu, _newton)


def routh_stronge(G: Array, u: Array, e: Array, mu: Array) -> Blow:
    """Return the impulses of an impact in which the normal work of restitution is e^2 times that of
    compression.
    """
    return _solve_uncoupled(G, u, e, mu, _stronge)


def _poisson(one: Problem, at: Moment, rise: float) -> tuple[float, float, float]:
    """Return the coefficients a, b, c of Poisson's end condition along a straight piece with
    du_n/dp = rise: the impact ends where a + b x + c x^2 reaches zero, x the normal impulse from
    here.
    """
    return at.P[0] - (1.0 + one.e) * _compression_end(at)[0], 1.0, 0.0


def _newton(one: Problem, at: Moment, rise: float) -> tuple[float, float, float]:
    """Return the coefficients of Newton's end condition; see `_poisson`."""
    return one.G[0] @ at.P + (1.0 + one.e) * one.u[0], rise, 0.0


def _stronge(one: Problem, at: Moment, rise: float) -> tuple[float, float, float]:
    """Return the coefficients of Stronge's end condition; see `_poisson`."""
    return (
        at.work - (1.0 - one.e**2) * _compression_end(at)[1],
        one.u[0] + one.G[0] @ at.P,
        0.5 * rise,
    )


def _compression_end(at: Moment) -> tuple[float, float]:
    """Return p and work at the end of compression, or values that are never reached before it."""
    return at.compression or (np.inf, -np.inf)


def _solve_uncoupled(G: Array, u: Array, e: Array, mu: Array, end: End) -> Blow:
    """Return the impulses of contacts that are not coupled through G; raise a QuestionError if they
    are.
    """
    k = len(e)
    size = np.sqrt(np.diagonal(G))
    P, modes = np.zeros(3 * k), [OPEN] * k
    for i in range(k):
        own = slice(3 * i, 3 * i + 3)
        others = np.delete(np.arange(3 * k), np.arange(3 * i, 3 * i + 3))
        if (np.abs(G[own][:, others]) > UNCOUPLED_RATIO * np.outer(size[own], size[others])).any():
            raise QuestionError(
                f"this law integrates friction along the impact of a single point, and here {k}"
                " coupled points touch; use impacts = 'sequential', by which points have their"
                " impacts one after the other, or take law = 'newton' or 'poisson'"
            )
        if u[3 * i] < 0.0:
            P[own], modes[i] = _solve_point(G[own, own], u[own], float(e[i]), float(mu[i]), end)
    return Blow(P, u + G @ P, tuple(modes), known=np.ones(3 * k, bool))


def _solve_point(G: Array, u: Array, e: float, mu: float, end: End) -> tuple[Array, str]:
    """Return the impulses (3,) of one point, and whether it sticks or slips at the end."""
    if not G[0, 0] > 0.0:
        raise SingularError("neither body can move along the normal")
    fast = float(np.abs(u).max())
    one = Problem(G / G[0, 0], u / fast, e, mu, end)
    at, mode = _path(one)
    if at.P @ (one.u + 0.5 * one.G @ at.P) > NO_SLIP_RATIO:
        raise SingularError(
            "its slip stops or reverses, and a rebound with e times the speed of approach would"
            " gain energy"
        )
    return at.P * fast / G[0, 0], mode


# --- the path
def _path(one: Problem) -> tuple[Moment, str]:
    """Integrate from the first touch to the end; return the final Moment and the mode."""
    at = Moment(np.zeros(3))
    t = one.u[1:]
    slips = float(np.hypot(*t)) > NO_SLIP_RATIO
    for _ in range(MAX_PATH_PIECES):
        if one.mu == 0.0:
            return _line(one, at, np.zeros(2), np.inf), SLIP
        if not slips:
            f, sticks = _from_rest(one)
            return _line(one, at, f, np.inf), STICK if sticks else SLIP
        t = one.u[1:] + one.G[1:] @ at.P
        d = t / np.hypot(*t)
        along, across = _turn(one, d)
        if abs(across) <= NO_SLIP_RATIO * np.abs(one.G).max() * (1.0 + one.mu):
            at = _line(one, at, -one.mu * d, np.hypot(*t) / -along if along < 0.0 else np.inf)
        else:
            at = _curve(one, at, t)
        if at.ended:
            return at, SLIP
        slips = False
        # remove the slip that rounding leaves
        at = at._replace(
            P=at.P - np.append(0.0, _solve_tangents(one, one.u[1:] + one.G[1:] @ at.P))
        )
    raise SingularError("the integration of friction along the impact did not come to an end")


def _turn(one: Problem, d: Array) -> tuple[float, float]:
    """Return d ln|u_t| / dtau and dphi / dtau for the direction of slip d."""
    t = one.G[1:, 0] - one.mu * one.G[1:, 1:] @ d
    return float(d @ t), float(d[0] * t[1] - d[1] * t[0])


def _solve_tangents(one: Problem, t: Array) -> Array:
    """Return G_tt^-1 t, restricted to the directions in which a tangential impulse
    causes motion.
    """
    w, V = _tangents(one)
    return V @ ((V.T @ t) / w)


def _tangents(one: Problem) -> tuple[Array, Array]:
    """Return the eigenvalues w (m,) and eigenvectors V (2, m) of the tangential block G_tt of the
    Delassus matrix, without those across a plane of motion.
    """
    w, V = np.linalg.eigh(one.G[1:, 1:])
    live = w > max(FIXED_TANGENT_RATIO, NO_SLIP_RATIO * w[-1])
    return w[live], V[:, live]


def _from_rest(one: Problem) -> tuple[Array, bool]:
    """Return the friction (2,) per unit of normal impulse if nothing slips, and whether it sticks:
    the friction that holds the point, or that of the one slip that can begin.
    """
    f = -_solve_tangents(one, one.G[1:, 0])
    if np.hypot(*f) <= one.mu * (1.0 + NO_SLIP_RATIO):
        return f, True
    w, V = _tangents(one)
    c = V.T @ one.G[1:, 0]
    # the norm below is |f| / mu > 1 at x = 0, and at most one at x = most
    most = float(np.linalg.norm(c))
    x = brentq(
        lambda x: float(np.linalg.norm(c / (x + one.mu * w))) - 1.0,
        0.0,
        most,
        xtol=1e-300,
        rtol=1e-15,
    )
    d = V @ (c / (x + one.mu * w))
    return -one.mu * d / np.hypot(*d), False


def _line(one: Problem, at: Moment, f: Array, most: float) -> Moment:
    """Return the Moment after following du/dp = G (1, f), by at most `most` of normal impulse."""
    x = np.append(1.0, f)
    rise = float(one.G[0] @ x)
    for _ in range(MAX_PATH_PIECES):
        u = float(one.u[0] + one.G[0] @ at.P)
        if at.compression is None:
            step = max(-u, 0.0) / rise if rise > 0.0 else np.inf
        else:
            step = _first_root(*one.end(one, at, rise))
            back = u / -rise if rise < 0.0 else np.inf
            if back < min(step, most):
                at = _advance(at, x, u, rise, back)._replace(compression=None)
                most = most - back
                continue
        if step > most:
            return _advance(at, x, u, rise, most)
        at = _advance(at, x, u, rise, step)
        most = most - step
        if at.compression is not None:
            return at._replace(ended=True)
        at = at._replace(compression=(at.P[0], at.work))
    raise SingularError("the integration of friction along the impact did not come to an end")


def _advance(at: Moment, x: Array, u: float, rise: float, step: float) -> Moment:
    """Return the Moment after a normal impulse `step` along x, where u_n is u and
    rises at `rise`.
    """
    if not np.isfinite(step):
        raise SingularError("no normal impulse stops its approach")
    return at._replace(P=at.P + step * x, work=at.work + step * (u + 0.5 * rise * step))


def _first_root(a: float, b: float, c: float) -> float:
    """Return the smallest x >= 0 where a + b x + c x^2 rises to zero; infinity if there is none."""
    if a >= 0.0:
        return 0.0
    under = b * b - 4.0 * a * c
    if under < 0.0 or (b <= 0.0 and c <= 0.0):
        return np.inf
    return -2.0 * a / (b + np.sqrt(under)) if b >= 0.0 else (-b + np.sqrt(under)) / (2.0 * c)


# --- a slip that turns
def _curve(one: Problem, at: Moment, t: Array) -> Moment:
    """Return the Moment at the end of the slip t (2,), or of the impact, by integration of y =
    (ln|u_t|, phi, P (3,), work) over tau.
    """

    def rate(_: float, y: Array) -> Array:
        """Return the rate dy/dtau of the integrated quantities y."""
        d = np.array([np.cos(y[1]), np.sin(y[1])])
        s = np.exp(y[0])
        along, across = _turn(one, d)
        return np.array([along, across, s, *(-one.mu * s * d), s * (one.u[0] + one.G[0] @ y[2:5])])

    y = np.array([np.log(np.hypot(*t)), np.arctan2(t[1], t[0]), *at.P, at.work])
    for _ in range(MAX_PATH_PIECES):
        y, event = _integrate_to_event(rate, y, _events(one, at))
        at = at._replace(P=y[2:5].copy(), work=float(y[5]))
        if event == "slip":
            return at
        if event == "end":
            return at._replace(ended=True)
        at = at._replace(compression=(at.P[0], at.work) if event == "turn" else None)
        if at.compression is not None and one.end(one, at, 0.0)[0] >= 0.0:
            return at._replace(ended=True)
    raise SingularError("the integration of friction along the impact did not come to an end")


def _events(one: Problem, at: Moment) -> dict[str, Guard]:
    """Return the guards by name; an event is where its guard rises to zero."""

    def normal(y: Array) -> float:
        """Return the normal speed."""
        return float(one.u[0] + one.G[0] @ y[2:5])

    found: dict[str, Guard] = {"slip": lambda y: SLIP_END_LOG - float(y[0])}
    if at.compression is None:
        return found | {"turn": normal}
    return found | {
        "end": lambda y: one.end(one, Moment(y[2:5], float(y[5]), at.compression), 0.0)[0],
        "back": lambda y: -normal(y) - NO_SLIP_RATIO,
    }


def _integrate_to_event(rate: Rate, y: Array, events: dict[str, Guard]) -> tuple[Array, str]:
    """Return the state at the first event, and its name; the step to the event is integrated again
    up to it.
    """
    solver = DOP853(
        rate, 0.0, y, np.inf, rtol=INTEGRATION_TOLERANCE, atol=1e-3 * INTEGRATION_TOLERANCE
    )
    while True:
        before = solver.y.copy()
        start = solver.t
        if solver.step() is not None or solver.status != "running":
            raise SingularError("the path of its friction cannot be followed")
        crossed = {name: g for name, g in events.items() if g(solver.y) >= 0.0}
        if not crossed:
            continue
        at = {name: _zero(g, solver.dense_output(), start, solver.t) for name, g in crossed.items()}
        first = min(at, key=lambda name: at[name])
        return _project_to_event(rate, before, at[first] - start, crossed[first]), first


def _zero(g: Guard, y: Callable[[float], Array], a: float, b: float) -> float:
    """Return where g(y) rises to zero between a and b; an end of the interval if rounding places it
    there.
    """
    if g(y(a)) >= 0.0:
        return a
    return float(brentq(lambda x: g(y(x)), a, b, xtol=1e-300, rtol=1e-14)) if g(y(b)) > 0.0 else b


def _project_to_event(rate: Rate, y: Array, span: float, g: Guard) -> Array:
    """Return the state after `span`, moved along its rate to the zero of g nearby."""
    if span > 0.0:
        solver = DOP853(
            rate, 0.0, y, span, rtol=INTEGRATION_TOLERANCE, atol=1e-3 * INTEGRATION_TOLERANCE
        )
        while solver.status == "running":
            solver.step()
        y = solver.y
    r, h = rate(0.0, y), 1e-6
    slope = (g(y + h * r) - g(y - h * r)) / (2.0 * h)
    return y - r * (g(y) / slope) if slope > 0.0 else y
