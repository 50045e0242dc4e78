"""A chain whose tip touches its surroundings: [Merwe1995] chapter 5 (Lilly's method).

    Omega = H^-1 J',     Lambda^-1 = J Omega                                          eq. 5.12, 5.20
    [phic' Lambda^-1 phic] hc = phic' xdd_open - phic' Lambda^-1 phi h - gc        eq. 5.28, class I
    [phic' Lambda^-1 (phic + phi F)] hc = phic' xdd_open - gc,     h = F hc         class II (5.2.4)
    f = phi h + phic hc,     qdd = qdd_open - Omega f                                 eq. 5.13, 5.30

f is what the tip does to its surroundings. Class II has the forces in the free directions depend on
those in the constrained ones: sliding friction, for instance. Redundant directions: the shortest
hc.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from catena.model.mechanism import Mechanism

from .chain import Chain, chain

Array = np.ndarray


@dataclass(frozen=True)
class Contact:
    """The terms of the worked example of section 5.5, in its letters; vectors of the tip in the
    ground's axes.
    """

    chain: Chain
    Omega: Array
    Lambda_inverse: Array
    qdd_open: Array
    xdd_open: Array
    f: Array
    qdd: Array


def tip_contact(
    m: Mechanism,
    tip: str,
    q: Array,
    v: Array,
    tau: Array,
    phi_c: Array,
    *,
    phi: Array | None = None,
    h: Array | None = None,
    g_c: Array | None = None,
    coupling: Array | None = None,
) -> Contact:
    """The motion of a chain whose tip frame is constrained along the columns of phi_c (6, nc), in
    the ground's axes.

    phi (6, 6 - nc): the free directions, by default what phi_c leaves. h: known forces along them
    (class I). g_c: the given acceleration of the tip along phi_c, by default zero. coupling F (6 -
    nc, nc): h = F hc (class II).
    """
    c = chain(m, q, v, tip)
    nc = phi_c.shape[1]
    phi = np.linalg.svd(phi_c)[0][:, nc:] if phi is None else phi
    h = np.zeros(phi.shape[1]) if h is None else h
    g_c = np.zeros(nc) if g_c is None else g_c
    F = np.zeros((phi.shape[1], nc)) if coupling is None else coupling
    Omega = np.linalg.solve(c.H, c.J.T)
    Lambda_inverse = c.J @ Omega
    qdd_open = np.linalg.solve(c.H, tau - c.bias)
    xdd_open = c.J @ qdd_open + c.rate
    left = phi_c.T @ Lambda_inverse @ (phi_c + phi @ F)
    right = phi_c.T @ xdd_open - phi_c.T @ Lambda_inverse @ phi @ h - g_c
    h_c = np.linalg.lstsq(left, right, rcond=1e-11)[0]
    f = phi @ (h + F @ h_c) + phi_c @ h_c
    return Contact(c, Omega, Lambda_inverse, qdd_open, xdd_open, f, qdd_open - Omega @ f)
