"""Laws of impact: how the speeds at contacts jump where bodies meet.

    u+ = u- + G P        u (3 k,): normal and tangential speeds of k contacts, P their impulses, G =
                         J W J'

newton       u_n+ >= -e u_n-, complementary to P_n >= 0, friction against the speeds after; all
             contacts at once [Moreau1988]
poisson      compression until nothing approaches, then at least e times its impulses [Glocker1995]
sequential   by any law, one contact after the other, the first that approaches, until none does

`model.impact_laws` has all laws by name; those that follow friction along an impact are in
`routh.py`.

W holds joints and loops too, so that all of them act at the same instant.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import SingularError
from ..errors.registry import loaded
from ..model.impact_laws import IMPACT_LAWS
from .contact_modes import MOST, PROVED, Friction, Solution, solutions

Array = NDArray[np.float64]
TURNS = 1000  # impacts of a sequence, after which what is left comes to rest at once
LOOSE = 1e-6  # the share of an impulse in a combination that moves nothing, below which it has none
NEGLIGIBLE = 1e-12  # an approach this slow beside the fastest is none


class Blow(NamedTuple):
    """P (3 k,): impulses. after (3 k,): speeds. modes (k,): as `contact_modes`. order: the contacts
    in turn, of a sequence. several: whether the law has other solutions too. known (3 k,): whether
    rigid bodies determine the impulses.
    """

    P: Array
    after: Array
    modes: tuple[str, ...]
    order: tuple[int, ...] = ()
    several: bool = False
    known: NDArray[np.bool_] = np.ones(0, bool)


def blow(
    G: Array,
    u: Array,
    e: Array,
    mu: Array,
    law: str = "newton",
    impacts: str = "simultaneous",
    proved: int = PROVED,
) -> Blow:
    """The impulses of an impact with speeds u before; e, mu (k,). proved: see
    `contact_modes.solutions`.
    """
    return (
        sequence(G, u, e, mu, law) if impacts == "sequential" else _struck(law, G, u, e, mu, proved)
    )


def _struck(law: str, G: Array, u: Array, e: Array, mu: Array, proved: int = PROVED) -> Blow:
    """By the law of that name."""
    own = IMPACT_LAWS.find(law)
    found: Blow = loaded(own.strike)(
        G, u, e, mu, **({"proved": proved} if own.stages and proved != PROVED else {})
    )
    return found


def newton(G: Array, u: Array, e: Array, mu: Array, proved: int = PROVED) -> Blow:
    """u_n+ = -e u_n- where there is an impulse."""
    b = u.copy()
    b[::3] += e * np.minimum(u[::3], 0.0)
    one, several = _one(solutions(G, b, Friction.at_rest(mu, mu), proved), len(e))
    return Blow(one.force, u + G @ one.force, one.modes, several=several, known=_known(one))


def poisson(G: Array, u: Array, e: Array, mu: Array, proved: int = PROVED) -> Blow:
    """Compression, then expansion with at least e times its normal impulses."""
    first, several = _one(solutions(G, u, Friction.at_rest(mu, mu), proved), len(e))
    if not (e * first.force[::3]).any():
        return Blow(first.force, first.rate, first.modes, several=several, known=_known(first))
    again, more = _one(
        solutions(G, first.rate, Friction.at_rest(mu, mu, e * first.force[::3]), proved), len(e)
    )
    P = first.force + again.force
    return Blow(
        P, u + G @ P, again.modes, several=several or more, known=_known(first) & _known(again)
    )


def sequence(G: Array, u: Array, e: Array, mu: Array, law: str = "newton") -> Blow:
    """One contact after the other: the first that approaches."""
    P, now = np.zeros(len(u)), u.copy()
    order: list[int] = []
    modes = ["open"] * len(e)
    size = np.sqrt(np.diagonal(G)[::3])
    fastest = np.abs(u[::3] / size).max(initial=0.0)
    for _ in range(TURNS):
        nearing = np.flatnonzero(now[::3] / size < -NEGLIGIBLE * fastest)
        if not len(nearing):
            return Blow(P, now, tuple(modes), tuple(order), known=np.ones(len(u), bool))
        i = int(nearing[0])
        own = slice(3 * i, 3 * i + 3)
        one = _struck(law, G[own, own], now[own], e[i : i + 1], mu[i : i + 1])
        P[own] += one.P
        now = now + G[:, own] @ one.P
        modes[i] = one.modes[0]
        order.append(i)
    rest = newton(G, now, 0.0 * e, mu)  # without rebound the laws of several points are one
    return Blow(P + rest.P, rest.after, rest.modes, tuple(order), known=rest.known)


def _known(one: Solution) -> NDArray[np.bool_]:
    size = np.linalg.norm(one.loose, axis=0)
    return np.abs(one.loose / np.where(size > 0.0, size, 1.0)).max(axis=1, initial=0.0) < LOOSE


def _one(found: list[Solution], contacts: int) -> tuple[Solution, bool]:
    if not found and contacts > MOST:
        raise SingularError(
            f"no impulses were found; the modes of more than {MOST} contacts at one instant are"
            " searched for, not enumerated"
        )
    if not found:
        raise SingularError("it jams, for no impulse within its friction cone gives the rebound")
    return found[0], len(found) > 1


def response(M: Array, A: Array, column: Array, size: Array) -> Array:
    """W (n, n): dv = W P under the rows A dv = 0. column, size: C and N of `kernels.rank`."""
    from ..machine.constraint_rows import Metric, spaces

    T = spaces(A, Metric(column, size)).T if len(A) else np.eye(len(M))
    return T @ np.linalg.solve(T.T @ M @ T, T.T)
