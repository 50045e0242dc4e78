"""The quantities that the laws of contact need at one state of a run: Jacobian, speeds and gaps of
all points, the response of the mechanism without contacts, and the scales of tolerances.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...contact import ContactRows, Response, RimMotion, response
from ...kernels import usual_length
from ...results import ContactLedger
from ..terms.light_motions import LIGHT_INERTIA_RATIO, inertia_of_choice
from .context import HandlerContext
from .resting_joints import RestingJoints

Array = NDArray[np.float64]
# gap relative to the mechanism's length: a smaller one counts as closed at the start and at an
# impact
CLOSED_GAP = 1e-10


class Terms(NamedTuple):
    """The terms of the k contact points of a run at one state.

    M (nv, nv): mass matrix. J (3 k, nv) and u = J v (3 k,): normal and two tangents of each point;
    the tangential rows of points without friction are zero. gap (k,): m, infinite for points that
    are switched off or have no feature. gamma (3 k,): the acceleration of a contact is J a - gamma.
    """

    M: Array
    J: Array
    u: Array
    gap: Array
    gamma: Array


class ContactMotion(NamedTuple):
    """What determines the accelerations of the k contact points that touch at one instant.

    terms: of all contact points. W: the response of the accelerations to forces, without contacts.
    J (3 k, nv): the Jacobian of these points. acting (3 k,): the sum of the magnitudes of the terms
    of b, relative to which rounding of b is judged. rows: G = J W J', b, slip speeds and friction
    of these points. exact: the same rows where some motions have little inertia. joints: those at
    rest with dry friction, whose rows are the last.
    """

    terms: Terms
    W: Response
    J: Array
    acting: Array
    rows: RimMotion
    exact: ContactRows
    joints: RestingJoints


class ContactTerms:
    """The contact points of a run with the coefficients of their laws, which of them touch, and the
    record of how well the laws were satisfied.

    points: all contact points. places: the rows of each among the constraint rows. touching, off:
    the indices of points that touch, and of those that are switched off. length: of the mechanism,
    m. static, kinetic, e (k,): coefficients of friction and restitution. light: whether motions of
    little inertia are treated apart (`contact.light_motions`); choice_inertia (nv,): that of the
    whole mechanism, which they have while contacts are chosen. available: twice the work that the
    present forces would do along the mechanism's length, J. ledger: the ledger.
    """

    def __init__(self, handler: HandlerContext):
        self.handler = handler
        self.points = handler.constraints.contacts
        self.places = handler.constraints.contact_rows()
        self.touching: set[int] = set()
        self.off: set[int] = set()
        self.length = usual_length(handler.machine.layout)
        self.static, self.kinetic = (
            np.array([getattr(p.contact, x) for p in self.points]) for x in ("static", "kinetic")
        )
        self.e = np.array([p.contact.restitution for p in self.points])
        self.light = handler.system.light
        self.choice_inertia = inertia_of_choice(handler.system.tracer())
        self.available = 0.0
        self.ledger = ContactLedger(
            f"{self.points[0].contact.law}, {self.points[0].contact.impacts}"
        )

    def at(self, t: float) -> Terms:
        """Return the terms of all points at the present state, at t (s); the largest energy so far
        is updated.
        """
        h = self.handler
        (q, v), modes = h.state_of(), h.engine.modes[:, 0]
        M, _, _, B, rate, _ = (np.array(x) for x in h.system.binding(t, q, v, h.p, modes))
        gap, gamma = (np.array(x).ravel() for x in h.system.touching(t, q, v, h.p, modes))
        k = len(self.points)
        J = np.zeros((3 * k, len(v)))
        u = np.zeros(3 * k)
        drift = np.zeros(3 * k)
        first = h.constraints.first_contact
        for i, at in enumerate(self.places):
            if i in self.off or not h.mode(first + i).present:
                gap[i] = np.inf
                continue
            own = slice(3 * i, 3 * i + self.points[i].count)
            J[own], u[own], drift[own] = B[at], rate.ravel()[at], gamma[at]
        h.energy = max(h.energy, float(v @ M @ v), 2.0 * abs(float(h.engine.x[-1, 0])))
        return Terms(M, J, u, gap, drift)

    def response(self, t: float, M: Array, impulsive: bool, stops: bool = True) -> Response:
        """Return the change of speeds by impulses, or of accelerations by forces, while all
        constraint rows but those of contacts hold. stops: whether stops of joints are among the
        rows that hold.
        """
        R, by = self.handler.bilateral(t, impulsive, stops)
        if not self.light:
            return response(M, R, by.column, by.size)
        inertia = float((self.choice_inertia * by.column)[0])
        return response(M, R, by.column, by.size, inertia, LIGHT_INERTIA_RATIO)

    def without_rows(self, M: Array, J: Array) -> Array:
        """Return J M^-1 J' (3 k, 3 k) for k contacts, as if no locks and no prescribed motion held
        the bodies. Light motions count with the inertia of the whole mechanism.
        """
        M = M + np.diag(self.choice_inertia) if self.light else M
        return np.asarray(J @ np.linalg.solve(M, J.T))

    def small(self, G: Array, rows: list[int] | slice, of: float) -> Array:
        """Return the thresholds below which speeds along these rows count as zero: `of` times the
        speed that the largest energy so far would give, by the diagonal of G.
        """
        return of * np.sqrt(np.maximum(np.diagonal(G)[rows], 0.0) * self.energy)

    @property
    def energy(self) -> float:
        """Twice the largest energy so far, J: kinetic energy or work done, or the work that the
        forces would do along the mechanism's length.
        """
        return max(self.handler.energy, self.available)

    def free(self, t: float, terms: Terms) -> Array:
        """Return the accelerations a (nv,) of the present state with all contacts open, and update
        the energy that the forces could give. Where some motions have little inertia,
        `choice_inertia` is added to the mass matrix.
        """
        rest = self.handler.constraints.rest
        before = self.handler.mode(rest)
        self.handler.set_mode(rest, before._replace(inertia=float(self.light)))
        a = self.handler.engine.evaluate("forces", t)[0][:, 0]
        self.handler.set_mode(rest, before)
        fastest = float(np.abs(terms.J @ a - terms.gamma).max())
        self.available = float(a @ terms.M @ a) * self.length / fastest if fastest > 0.0 else 0.0
        return a

    def remark(self, words: str) -> None:
        """Set the remark of the ledger about contacts."""
        self.ledger = replace(self.ledger, remark=words)

    def named(self, now: list[int]) -> str:
        """Return the names of these points with their bodies, for messages."""
        return ", ".join(
            f"{self.points[i].name} (of {self.points[i].point.body!r} and"
            f" {self.points[i].point.other!r})"
            for i in now
        )
