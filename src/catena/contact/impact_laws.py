"""Impact laws: how the speeds at contacts change suddenly where bodies meet.

    u+ = u- + G P        u (3 k,): normal and tangential speeds of k contacts, P their impulses, G =
                         J W J'

newton       u_n+ >= -e u_n-, complementary to P_n >= 0, friction against the speeds after; all
             contacts at once [Moreau1988]
poisson      compression until nothing approaches, then at least e times its impulses [Glocker1995]
sequential   by any law, one contact after the other: the one that approaches with the largest
             energy, u_n^2 / G_nn, until none does. Contacts with equal approach that are coupled
             strike together, because no order of them would be symmetric

`model.impact_laws` holds all laws by name; those that integrate friction along an impact are in
`routh.py`.

W includes joints and loops, so that all of them act at the same instant.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import QuestionError, SingularError
from ..model import IMPACT_LAWS
from ..registry import loaded
from .friction import Friction
from .light_motions import ContactRows, Response, response_of
from .modes import MAX_ENUMERATED_CONTACTS, MAX_PROVED_SLIPS, STICK, Solution, solutions

Array = NDArray[np.float64]
# Impacts of a sequence, after which all remaining approach is stopped at once.
MAX_SEQUENTIAL_IMPACTS = 1000
# An impulse is determined if its share in every combination that causes no motion is less.
LOOSE_SHARE = 1e-6
# An approach at most this, relative to the fastest, is zero.
NEGLIGIBLE_APPROACH_RATIO = 1e-12
# Approaches that differ by less are equal, relative to the fastest, in the square root of their
# energy. It is more than the errors of a run at its default tolerance, on which no order may
# depend.
EQUAL_APPROACH_RATIO = 1e-6
# Contacts whose coupling in G is at most this, relative to the diagonal, are not coupled.
UNCOUPLED_RATIO = 1e-12


class Blow(NamedTuple):
    """The solution of an impact of k contacts.

    P (3 k,): impulses, N s. after (3 k,): speeds after the impact, m/s. modes (k,): as in `modes`.
    order: the contacts in the order of their impacts, for sequential impacts. several: whether the
    law has other solutions too. known (3 k,): whether rigid-body mechanics determines each impulse.
    light: the changes of speed along the motions of little inertia (`light_motions.py`).
    """

    P: Array
    after: Array
    modes: tuple[str, ...]
    order: tuple[int, ...] = ()
    several: bool = False
    known: NDArray[np.bool_] = np.ones(0, bool)
    light: Array = np.zeros(0)


def blow(
    G: Array,
    u: Array,
    e: Array,
    mu: Array,
    law: str = "newton",
    impacts: str = "simultaneous",
    proved: int = MAX_PROVED_SLIPS,
    rows: ContactRows | None = None,
) -> Blow:
    """Return the impulses of an impact.

    G (3 k, 3 k): the Delassus matrix. u (3 k,): speeds before, m/s. e, mu (k,): coefficients of
    restitution and friction. law: the name of the law. impacts: "simultaneous" or "sequential".
    proved: see `modes.solutions`. rows: the exact rows where some motions have little inertia; the
    law must be one that is solved in stages, such as "newton".
    """
    rows = rows if rows is not None and len(rows.D) else None
    return (
        sequence(G, u, e, mu, law, rows)
        if impacts == "sequential"
        else _apply_law(law, G, u, e, mu, proved, rows)
    )


def _apply_law(
    law: str,
    G: Array,
    u: Array,
    e: Array,
    mu: Array,
    proved: int = MAX_PROVED_SLIPS,
    rows: ContactRows | None = None,
) -> Blow:
    """Return the impulses by the law of that name, all contacts together."""
    own = IMPACT_LAWS.find(law)
    options: dict[str, Any] = {"proved": proved} if proved != MAX_PROVED_SLIPS else {}
    if rows is not None:
        options["rows"] = rows
        if not own.stages:
            raise QuestionError(
                f"law = {law!r} follows friction along the impact by the inertia at the contact,"
                " and here a motion has next to none; take law = 'newton' or 'poisson', or give the"
                " bodies inertia"
            )
    found: Blow = loaded(own.strike)(G, u, e, mu, **(options if own.stages else {}))
    return found


def newton(
    G: Array,
    u: Array,
    e: Array,
    mu: Array,
    proved: int = MAX_PROVED_SLIPS,
    rows: ContactRows | None = None,
) -> Blow:
    """Return the impulses by Newton's law: u_n+ = -e u_n- where there is an impulse."""
    b = u.copy()
    b[::3] += e * np.minimum(u[::3], 0.0)
    rows = rows or ContactRows.plain(G, u)
    found = solutions(G, b, Friction.at_rest(mu, mu), proved, rows.at(b))
    one, several = _select_solution(found, u, len(e))
    after = rows.at(u).rate(one.force, one.light)
    return Blow(
        one.force, after, one.modes, several=several, known=_determined(one), light=one.light
    )


def poisson(
    G: Array,
    u: Array,
    e: Array,
    mu: Array,
    proved: int = MAX_PROVED_SLIPS,
    rows: ContactRows | None = None,
) -> Blow:
    """Return the impulses by Poisson's law: compression, then expansion with at least e times the
    normal impulses of compression.
    """
    rows = rows or ContactRows.plain(G, u)
    found = solutions(G, u, Friction.at_rest(mu, mu), proved, rows.at(u))
    first, several = _select_solution(found, u, len(e))
    if not (e * first.force[::3]).any():
        return Blow(
            first.force,
            first.rate,
            first.modes,
            several=several,
            known=_determined(first),
            light=first.light,
        )
    base = Friction.at_rest(mu, mu, e * first.force[::3])
    found = solutions(G, first.rate, base, proved, rows.at(first.rate))
    again, more = _select_solution(found, first.rate, len(e))
    P, y = first.force + again.force, first.light + again.light
    return Blow(
        P,
        rows.at(u).rate(P, y),
        again.modes,
        several=several or more,
        known=_determined(first) & _determined(again),
        light=y,
    )


def sequence(
    G: Array,
    u: Array,
    e: Array,
    mu: Array,
    law: str = "newton",
    rows: ContactRows | None = None,
) -> Blow:
    """Return the impulses of sequential impacts: each time the contact that approaches with the
    largest energy.
    """
    exact = rows or ContactRows.plain(G, u)
    light = np.zeros(len(exact.D))
    P, now = np.zeros(len(u)), u.copy()
    known = np.ones(len(u), bool)
    several = False
    order: list[int] = []
    modes = ["open"] * len(e)
    size = np.sqrt(np.diagonal(G)[::3])
    size = np.where(
        size > 0.0, size, np.inf
    )  # a contact that cannot move has no energy of approach
    fastest = np.abs(u[::3] / size).max(initial=0.0)
    for _ in range(MAX_SEQUENTIAL_IMPACTS):
        approach = -now[::3] / size
        if approach.max(initial=0.0) <= NEGLIGIBLE_APPROACH_RATIO * fastest:
            return Blow(P, now, tuple(modes), tuple(order), several, known, light)
        alike = np.flatnonzero(approach >= approach.max() - EQUAL_APPROACH_RATIO * fastest)
        struck = _coupled(G, alike)
        own = (3 * struck[:, None] + np.arange(3)).ravel()
        one = _apply_law(
            _law_of_several(law) if len(struck) > 1 else law,
            G[np.ix_(own, own)],
            now[own],
            e[struck],
            mu[struck],
            rows=exact.of(own) if rows is not None else None,
        )
        if not one.P.any():  # an approach that is negligible relative to the slip
            break
        P[own] += one.P
        now = now + exact.G[:, own] @ one.P
        if rows is not None:
            now, light = now + exact.E @ one.light, light + one.light
        known[own] &= one.known
        several |= one.several
        for i, mode in zip(struck.tolist(), one.modes):
            modes[i] = mode
            order.append(i)
    rest = newton(G, now, 0.0 * e, mu, rows=rows)  # without rebound the laws agree
    known = known & rest.known
    light = light + rest.light
    return Blow(P + rest.P, rest.after, rest.modes, tuple(order), several, known, light)


def _coupled(G: Array, alike: NDArray[np.int_]) -> NDArray[np.int_]:
    """Return those contacts of equal approach that the first of them is coupled with through G,
    also indirectly.
    """
    size = np.sqrt(np.diagonal(G))
    found = [int(alike[0])]
    for i in found:
        own = slice(3 * i, 3 * i + 3)
        for j in alike.tolist():
            other = slice(3 * j, 3 * j + 3)
            feels = np.abs(G[own, other]) > UNCOUPLED_RATIO * np.outer(size[own], size[other])
            if j not in found and feels.any():
                found.append(j)
    return np.sort(np.array(found))


def _law_of_several(law: str) -> str:
    """Return the name of the law for contacts that strike together: for laws of one point only, the
    nearest law of several points.
    """
    own = IMPACT_LAWS.find(law)
    if not own.one_point:
        return law
    return "newton" if own.by_speeds else "poisson"


def _determined(one: Solution) -> NDArray[np.bool_]:
    """Return booleans (3 k,): whether each impulse of a solution is determined."""
    size = np.linalg.norm(one.loose, axis=0)
    return (
        np.abs(one.loose / np.where(size > 0.0, size, 1.0)).max(axis=1, initial=0.0) < LOOSE_SHARE
    )


def _select_solution(found: list[Solution], before: Array, contacts: int) -> tuple[Solution, bool]:
    """Return, of several solutions, one in which most contacts stick, and among these the one that
    loses most energy; and whether there are several. Raises a SingularError if there is none.
    """
    if not found and contacts > MAX_ENUMERATED_CONTACTS:
        raise SingularError(
            f"no impulses were found; the modes of more than {MAX_ENUMERATED_CONTACTS} contacts at"
            " one instant are searched for, not enumerated"
        )
    if not found:
        raise SingularError(
            "the contact jams: no impulse within its friction cone gives the rebound"
        )
    stick = [sum(mode.endswith(STICK) for mode in one.modes) for one in found]
    work = [float(one.force @ (before + one.rate)) for one in found]
    return min(zip(found, stick, work), key=lambda x: (-x[1], x[2]))[0], len(found) > 1


def response(
    M: Array,
    A: Array,
    column: Array,
    size: Array,
    inertia: float = 1.0,
    ratio: float = 0.0,
) -> Response:
    """Return how dv follows impulses under the rows A dv = 0. column, size: C and N of
    `kernels.rank`; inertia, ratio: see `light_motions.response_of`.
    """
    from ..machine import Metric, spaces

    T = spaces(A, Metric(column, size)).T if len(A) else np.eye(len(M))
    return response_of(M, T, column, inertia, ratio)
