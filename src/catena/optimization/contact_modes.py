"""Contacts with given modes in an optimal motion: a closed contact stays on its surface, an open
one stays above it.

    open     gap >= 0
    stick    gap = 0, no slip; normal force N >= 0, mu N - |f| >= 0
    slip     of a frictionless contact: gap = 0, N >= 0

The forces of closed contacts are those of the compiled equations; the end of an interval is
projected onto their constraint rows as for loops (`loop_rows.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ..contact import OPEN, SLIP, STICK
from ..errors import StudyError, unknown
from ..machine import Metric
from ..simulation.planning import RunPlan
from ..simulation.system import System
from ..simulation.terms import ContactMode
from ..studies import independent_rows

Array = NDArray[np.float64]
MODE_NAMES = (OPEN, STICK, SLIP)
# gap of a closed contact at the start, relative to the mechanism's length
START_GAP_TOLERANCE = 1e-8


@dataclass(frozen=True)
class ContactRows:
    """The constraint rows of contacts whose modes are given.

    modes: (size,), of all switched constraints. names, rows, positions: as in `LoopRows`, among the
    rows of contacts. touching, apart: the indices of closed and of open contact points.
    """

    modes: Array
    names: tuple[str, ...] = ()
    rows: tuple[int, ...] = ()
    positions: tuple[int, ...] = ()
    touching: tuple[int, ...] = ()
    apart: tuple[int, ...] = ()

    @staticmethod
    def of(plan: RunPlan, given: Mapping[str, str]) -> ContactRows:
        """Return the rows of the given modes, {contact: "open", "stick" or "slip"}.

        Raises StudyError where a name or a mode is unknown, or the start is not in that mode.
        """
        s = plan.system
        x = plan.x0[0]
        p = plan.p[0]
        h = s.holding
        modes = plan.system.holding.start()
        if not h.contacts:
            return ContactRows(modes)
        if h.patches:
            x = h.patches[0].patch
            raise StudyError(
                f"optimize: contact {x.name!r} is between a {x.shape.kind} and a {x.against.kind},"
                " whose points are chosen on the way; let frames or spheres touch instead"
            )
        words = _words(plan, given)
        for k, c in enumerate(h.contacts):
            if words[k] != OPEN:
                mode = ContactMode(
                    1.0,
                    float(words[k] == STICK),
                    static=c.contact.static,
                    kinetic=c.contact.kinetic,
                    straight=0.0,
                )
                modes[h.slots[h.first_contact + k]] = (*mode, *c.mode[len(mode) :])
        closed, apart = (
            [
                k
                for k, word in enumerate(words)
                if (word != OPEN) is on and h.contacts[k].mode.present
            ]
            for on in (True, False)
        )
        state = (plan.start, x[: s.nq], x[s.nq : s.nq + s.nv], p, modes)
        gap = np.array(s.touching(*state)[0]).ravel()
        length = float(np.sqrt(max(s.row_scales[1][-1:] or [1.0])))
        for k in closed:
            if abs(gap[k]) > START_GAP_TOLERANCE * length:
                raise StudyError(
                    f"optimize: contact {h.contacts[k].name!r} is given as {words[k]!r}, and at the"
                    f" start it is {gap[k]:.3g} m apart; start on it"
                )
        B = np.array(s.binding(*state)[3])
        first = B.shape[0] - sum(c.count for c in h.contacts)
        every = [
            (k, j, first + at)
            for k, j, at in _places(h.contacts)
            if k in closed and (j == 0 or words[k] == STICK)
        ]
        own, _ = (
            independent_rows(
                Metric(s.column_scales, np.array(s.row_scales[1])[[at for *_, at in every]]).scaled(
                    B[[at for *_, at in every]]
                )
            )
            if every
            else ([], 0.0)
        )
        kept = [every[i] for i in own]
        normal = [at for _, j, at in kept if j == 0]
        called = lambda k: f"contact {h.contacts[k].name!r}"  # noqa: E731
        names = [f"{called(k)} (gap)" for k, j, _ in kept if j == 0] + [
            f"rate of {called(k)} ({('normal', 'tangent', 'tangent')[j]})" for k, j, _ in kept
        ]
        return ContactRows(
            modes,
            tuple(names),
            tuple(at for *_, at in kept),
            tuple(normal),
            tuple(closed),
            tuple(apart),
        )

    @property
    def corrections(self) -> int:
        """The number of unknowns per interval that project its end onto the rows; see
        `LoopRows`.
        """
        return len(self.positions) + len(self.rows)

    def at_end(
        self, system: System, t: ca.SX, x: ca.SX, p: ca.SX, given: ca.SX
    ) -> tuple[ca.SX, ca.SX]:
        """Return the correction of the end of an interval, and the rows there; see
        `LoopRows.at_end`.
        """
        if not self.rows:
            return ca.SX.zeros(system.nq + system.nv), ca.SX.zeros(0)
        rows = system.tape(
            "rows of contacts",
            "",
            lambda s: [
                *(system.holding.rows(s)[k] for k in (0, 1, 3)),
                ca.jacobian(s.coordinate_rate(), s.v),
            ],
            modes=True,
        )
        error, rate, B, G = rows(t, x[: system.nq], x[system.nq :], p, self.modes)
        gamma = given[: len(self.positions)]
        mu = given[len(self.positions) :]
        back = ca.vertcat(
            (
                G @ (B[list(self.positions), :].T @ gamma)
                if self.positions
                else ca.SX.zeros(system.nq)
            ),
            B[list(self.rows), :].T @ mu,
        )
        return back, ca.vertcat(error[list(self.positions)], rate[list(self.rows)])

    def conditions(self, system: System) -> tuple[ca.SX, list[str]]:
        """Return expressions of the system's symbols that must not be negative, and their names."""
        h = system.holding
        found = list[ca.SX]()
        names = list[str]()
        if not h.contacts:
            return ca.SX.zeros(0), names
        gaps = system.touching(system.t, system.q, system.v, system.p, h.symbols)[0]
        for k in self.apart:
            found.append(gaps[k])
            names.append(f"the gap of contact {h.contacts[k].name!r}, which is open")
        for k in self.touching:
            f = system.held[0][h.contact_rows()[k]]
            c = h.contacts[k]
            found.append(f[0])
            names.append(f"the push of contact {c.name!r}")
            if c.rough:
                found.append(c.contact.static**2 * f[0] ** 2 - ca.sumsqr(f[1:]))
                names.append(f"the friction cone of contact {c.name!r}")
        return ca.densify(ca.vertcat(*found)) if found else ca.SX.zeros(0), names


def _places(contacts: tuple[Any, ...]) -> list[tuple[int, int, int]]:
    """Return, for every row, (its contact point, which of the point's rows it is, its index among
    the rows of contacts).
    """
    found = [(k, j) for k, c in enumerate(contacts) for j in range(c.count)]
    return [(k, j, at) for at, (k, j) in enumerate(found)]


def _words(plan: RunPlan, given: Mapping[str, str]) -> list[str]:
    """Return the mode of each point. The names in `given` are those of points, or of contacts with
    several points. Raises StudyError with every fault.
    """
    points = plan.system.holding.contacts
    faults = []
    known = list(dict.fromkeys([*(c.name for c in points), *(c.contact.name for c in points)]))
    faults += [
        unknown("contact", name, known, f"mechanism {plan.machine.mechanism.name!r}")
        for name in given
        if name not in known
    ]
    faults += [
        f"contact {name!r} is {word!r}; it is one of {', '.join(MODE_NAMES)}"
        for name, word in given.items()
        if word not in MODE_NAMES
    ]
    words = [given.get(c.name, given.get(c.contact.name, "")) for c in points]
    faults += [
        f"the mode of contact {c.name!r} is not given; say {{'{c.name}': 'open'}}, 'stick' or"
        " 'slip'"
        for c, word in zip(points, words)
        if not word
    ]
    faults += [
        f"contact {c.name!r} is rough and given as 'slip', whose direction is open; give 'stick',"
        " or leave its friction out"
        for c, word in zip(points, words)
        if word == SLIP and c.rough
    ]
    if faults:
        raise StudyError(
            f"optimize: {plan.machine.mechanism.name!r} has contacts, and what each does during the"
            " motion is given by `contacts`:",
            faults,
        )
    return words
