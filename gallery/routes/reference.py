"""Several chains that carry one body, the reference member: [Merwe1995] chapter 6.

    M_k^-1 = phic' Lambda_k^-1 phic                                                    eq. 6.57
    S_k = alpha_c - phic' zeta + phic' xdd_open - phic' Lambda_k^-1 phi h
            eq. 6.20, 6.101, signs corrected
    f_k = P_k - R_k a_r,   P_k = phi h + phic M_k S_k,   R_k = phic M_k phic' X_k      eq. 6.24-6.25
    [I_r + sum X_k' R_k] a_r = sum X_k' P_k - b_r + g_r                                eq. 6.30
    qdd_k = qdd_open - Omega_k f_k                              eq. 6.34, Omega instead of Lambda^-1

Where M_k^-1 is singular, chain k forbids the member some motion: N_k' phic' X_k a_r = N_k' S_k with
N_k its null space. The source projects the force on the column space of sum X_k' R_k (6.63-6.65),
which is right only where all chains forbid the same; here these rows are kept, with the forces
along N_k as their multipliers. In its examples both give the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from catena.model.mechanism import Mechanism

from .chain import Chain, chain, motion_transform, skew, spatial_inertia

Array = np.ndarray


@dataclass(frozen=True)
class Supporting:
    """One chain from the ground to the reference member, at a state.

    phi_c (6, nc): the constrained directions of the contact, in the tip's axes. point (3,): where
    it touches, in the member's frame. h: known forces along the free directions phi (an actuated
    contact, type 1). alpha_c: the relative acceleration.
    """

    chain: Mechanism
    tip: str
    q: Array
    v: Array
    tau: Array
    phi_c: Array
    point: Array
    phi: Array | None = None
    h: Array | None = None
    alpha_c: Array | None = None


@dataclass(frozen=True)
class Carried:
    """What moves, and what pushes.

    a_r (6,): the member's acceleration, angular first, in its own axes at its origin. forces: f_k
    in the tips' axes, what each chain does to the member; moving: the part of it along motions the
    chain allows, as the source prints it. qdd: each chain's.
    """

    a_r: Array
    forces: tuple[Array, ...]
    moving: tuple[Array, ...]
    qdd: tuple[Array, ...]


@dataclass(frozen=True)
class _Side:
    X: Array
    P: Array
    R: Array
    N: Array  # phic N_k
    S: Array  # N_k' S_k
    Omega: Array
    qdd_open: Array


def reference_member(
    chains: Sequence[Supporting],
    mass: float,
    com: Array,
    inertia: Array,
    X_r: Array,
    velocity: Array,
    gravity: Array,
) -> Carried:
    """The motion of a body carried by chains.

    mass, com, inertia (3, 3 about the centre): the member's, in its axes. X_r (4, 4): its pose.
    velocity (6,): angular first, in its own axes at its origin. gravity (3,): in the ground's axes.
    """
    R_r, w = X_r[:3, :3], velocity[:3]
    I_r = spatial_inertia(mass, com, inertia)
    down = R_r.T @ gravity
    bar = I_r[:3, :3]
    b_r = np.concatenate([np.cross(w, bar @ w), mass * np.cross(w, np.cross(w, com))])
    g_r = np.concatenate([mass * np.cross(com, down), mass * down])
    sides = [_side(s, X_r, w) for s in chains]
    I_eff = I_r + sum(s.X.T @ s.R for s in sides)  # eq. 6.62
    push = sum(s.X.T @ s.P for s in sides) - b_r + g_r
    C = np.vstack([s.N.T @ s.X for s in sides])
    wanted = np.concatenate([s.S for s in sides])
    K = np.block([[I_eff, -C.T], [C, np.zeros((len(C), len(C)))]])
    solved = np.linalg.lstsq(K, np.concatenate([push, wanted]), rcond=1e-12)[0]
    a_r = solved[:6]
    mu = np.split(solved[6:], np.cumsum([s.N.shape[1] for s in sides])[:-1])
    moving = tuple(s.P - s.R @ a_r for s in sides)
    forces = tuple(f + s.N @ n for f, s, n in zip(moving, sides, mu))
    return Carried(
        a_r, forces, moving, tuple(s.qdd_open - s.Omega @ f for s, f in zip(sides, forces))
    )


def _side(s: Supporting, X_r: Array, w: Array) -> _Side:
    c: Chain = chain(s.chain, s.q, s.v, s.tip)
    back = np.kron(np.eye(2), c.pose[:3, :3].T)  # into the tip's axes
    J, rate = back @ c.J, back @ c.rate
    nc = s.phi_c.shape[1]
    phi = np.linalg.svd(s.phi_c)[0][:, nc:] if s.phi is None else s.phi
    h = np.zeros(phi.shape[1]) if s.h is None else s.h
    alpha_c = np.zeros(nc) if s.alpha_c is None else s.alpha_c
    X_rk = np.eye(4)
    X_rk[:3, :3], X_rk[:3, 3] = X_r[:3, :3].T @ c.pose[:3, :3], s.point
    X = motion_transform(X_rk)  # eq. 6.40
    zeta = X @ np.concatenate([np.zeros(3), skew(w) @ skew(w) @ s.point])  # eq. 6.56
    Omega = np.linalg.solve(c.H, J.T)
    Lambda_inverse = J @ Omega
    qdd_open = np.linalg.solve(c.H, s.tau - c.bias)
    xdd_open = J @ qdd_open + rate
    S = alpha_c - s.phi_c.T @ zeta + s.phi_c.T @ xdd_open - s.phi_c.T @ Lambda_inverse @ phi @ h
    values, U = np.linalg.eigh(s.phi_c.T @ Lambda_inverse @ s.phi_c)  # M_k^-1
    live = values > 1e-11 * max(values.max(initial=0.0), 1e-300)
    M = U[:, live] @ np.diag(1.0 / values[live]) @ U[:, live].T
    null = U[:, ~live]
    return _Side(
        X,
        phi @ h + s.phi_c @ M @ S,
        s.phi_c @ M @ s.phi_c.T @ X,
        s.phi_c @ null,
        null.T @ S,
        Omega,
        qdd_open,
    )
