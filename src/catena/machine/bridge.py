"""Conversions of q, v, a and tau to and from the conventions of Pinocchio, MuJoCo and Drake, for
the same URDF.

                      catena                  Pinocchio               MuJoCo                   Drake
    joint order  file, depth first  siblings sorted by name     file, depth first  file, depth first
    quaternion        w x y z                 x y z w               w x y z                  w x y z
    free joint, q  position, quaternion  position, quaternion  position, quaternion
            quaternion, position
    free joint, v  velocity in the parent, velocity and angular  velocity in the parent,
            angular velocity and
                      angular in the body  velocity in the body  angular in the body
                              velocity in the parent
    ball joint, v     in the child            in the child    in the child             in the parent
    continuous, q     angle                   cosine, sine                 angle               angle
    planar, q         x, y, angle             x, y, cosine, sine           x, y, angle   x, y, angle
    planar, v         in the parent           in the child    in the parent            in the parent

A `Bridge` is made for one machine and one other program, the peer. Its methods convert catena's
arrays (..., n) to the peer's, and back. Accelerations are the rates of the speeds, so that a
rotating base adds a term between frames. Forces are converted such that the power tau' v is the
same on both sides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import StateError, unknown
from ..model import CATALOGUE, Joint, walk
from .machine import Machine

Array = np.ndarray


@dataclass(frozen=True)
class _Joint:
    """The indices and sizes of one joint's coordinates and speeds, in catena's vectors and in the
    peer's.
    """

    kind: str  # "plain", "ball", "free", "continuous" or "planar"
    q: int
    v: int
    peer_q: int
    peer_v: int
    nq: int
    nv: int
    peer_nq: int


@dataclass(frozen=True)
class Bridge:
    """Conversions between the vectors of a machine and those of a peer.

    Arrays have the shape (..., n); leading dimensions are a batch. Units are SI on both sides.

    Parameters
    ----------
    peer : {"pinocchio", "mujoco", "drake"}
        Whose conventions are meant.
    joints : tuple
        The places of each joint's numbers on both sides.
    nq, nv : int
        The number of catena's coordinates and speeds; the peer has as many speeds.
    peer_nq : int
        The number of the peer's coordinates.
    joint_order : tuple of str
        The moving joints in the peer's order.
    """

    peer: str
    joints: tuple[_Joint, ...]
    nq: int
    nv: int
    peer_nq: int
    joint_order: tuple[str, ...]  # the peer's

    # --- coordinates
    def q_to(self, q: Array) -> Array:
        """Return catena's coordinates q (..., nq) as the peer's (..., peer_nq)."""
        return self._copy(np.asarray(q, float), self._q_out)

    def q_from(self, q: Array) -> Array:
        """Return the peer's coordinates q (..., peer_nq) as catena's (..., nq)."""
        return self._copy(np.asarray(q, float), self._q_in, back=True)

    def _q_out(self, kind: str, q: Array) -> Array:
        """Return the coordinates of one joint in the peer's convention, from catena's."""
        if kind == "plain" or self.peer == "mujoco":
            return q
        if kind == "continuous":
            return np.concatenate([np.cos(q), np.sin(q)], axis=-1)
        if kind == "planar":
            return np.concatenate([q[..., :2], np.cos(q[..., 2:]), np.sin(q[..., 2:])], axis=-1)
        position, quaternion = (q[..., :3], q[..., 3:]) if kind == "free" else (q[..., :0], q)
        if self.peer == "pinocchio":
            return np.concatenate([position, quaternion[..., 1:], quaternion[..., :1]], axis=-1)
        return np.concatenate([quaternion, position], axis=-1)

    def _q_in(self, kind: str, q: Array) -> Array:
        """Return the coordinates of one joint in catena's convention, from the peer's."""
        if kind == "plain" or self.peer == "mujoco":
            return q
        if kind == "continuous":
            return np.arctan2(q[..., 1:], q[..., :1])
        if kind == "planar":
            return np.concatenate([q[..., :2], np.arctan2(q[..., 3:], q[..., 2:3])], axis=-1)
        if self.peer == "pinocchio":
            position, quaternion = (q[..., :3], q[..., 3:]) if kind == "free" else (q[..., :0], q)
            return np.concatenate([position, quaternion[..., 3:], quaternion[..., :3]], axis=-1)
        return np.concatenate([q[..., 4:], q[..., :4]], axis=-1)

    # --- speeds and forces
    def v_to(self, q: Array, v: Array) -> Array:
        """Return catena's speeds v (..., nv), at catena's coordinates q, as the peer's."""
        return self._rotated(q, v, inward=False)

    def v_from(self, q: Array, v: Array) -> Array:
        """Return the peer's speeds v (..., nv) as catena's; q is in catena's coordinates."""
        return self._rotated(q, v, inward=True)

    def tau_to(self, q: Array, tau: Array) -> Array:
        """Return catena's generalised forces tau (..., nv) as the peer's. The maps between speeds
        are orthogonal, so that forces transform in the same way as speeds.
        """
        return self.v_to(q, tau)

    def tau_from(self, q: Array, tau: Array) -> Array:
        """Return the peer's generalised forces tau (..., nv) as catena's; q is in catena's
        coordinates.
        """
        return self.v_from(q, tau)

    def a_to(self, q: Array, v: Array, a: Array) -> Array:
        """Return catena's accelerations a (..., nv), at catena's q and v, as the rates of the
        peer's speeds.
        """
        return self.v_to(q, a) + self._spin(q, v)

    def a_from(self, q: Array, v: Array, a: Array) -> Array:
        """Return the rates of the peer's speeds (..., nv) as catena's accelerations; q and v are
        catena's.
        """
        return self.v_from(q, np.asarray(a, float) - self._spin(q, v))

    def matrix_to(self, q: Array, M: Array) -> Array:
        """Return a matrix (..., nv, nv) that refers to catena's speeds, such as the mass matrix,
        for the peer's speeds.
        """
        T = self._map(q)
        return T @ np.asarray(M, float) @ np.swapaxes(T, -1, -2)

    def jacobian_to(self, q: Array, J: Array) -> Array:
        """Return a Jacobian (..., 6, nv) with its columns along the peer's speeds; rows stay
        angular first.
        """
        return np.asarray(J, float) @ np.swapaxes(self._map(q), -1, -2)

    def _map(self, q: Array) -> Array:
        """Return the matrix T (..., nv, nv) that converts catena's speeds to the peer's, v_peer = T
        v.
        """
        q = np.asarray(q, float)
        columns = [
            self.v_to(q, np.broadcast_to(e, (*q.shape[:-1], self.nv))) for e in np.eye(self.nv)
        ]
        return np.stack(columns, axis=-1)

    def _spin(self, q: Array, v: Array) -> Array:
        """Return Tdot v (..., nv), the term that turning axes add to the rates of the peer's
        speeds.
        """
        q = np.asarray(q, float)
        v = np.asarray(v, float)
        added = np.zeros(np.broadcast_shapes(q.shape[:-1], v.shape[:-1]) + (self.nv,))
        for j in self.joints:
            if j.kind == "planar" or (j.kind == "free" and self.peer == "pinocchio"):
                n = 2 if j.kind == "planar" else 3  # (R' u)' = R' u' - w x R' u
                linear, w = np.zeros((2, *v.shape[:-1], 3))
                linear[..., :n], w[..., n - j.nv :] = (
                    v[..., j.v : j.v + n],
                    v[..., j.v + n : j.v + j.nv],
                )
                inside = np.einsum("...ji,...j->...i", self._rotation(j, q), linear)
                added[..., j.peer_v : j.peer_v + n] = -np.cross(w, inside)[..., :n]
        return added  # in the parent's axes w x w vanishes, so Drake's angular rates need nothing

    def _rotation(self, j: _Joint, q: Array) -> Array:
        """Return R (..., 3, 3) of a ball, free or planar joint, from the child's axes to the
        parent's.
        """
        if j.kind != "planar":
            k = j.q + 3 if j.kind == "free" else j.q
            return rotation(q[..., k : k + 4])
        half = 0.5 * q[..., j.q + 2]
        zero = np.zeros(q.shape[:-1])
        return rotation(np.stack([np.cos(half), zero, zero, np.sin(half)], axis=-1))

    def _block(self, j: _Joint, q: Array) -> Array | None:
        """Return T (..., n, n) of one joint, orthogonal, with v_peer = T v; None for the
        identity.
        """
        if (
            j.kind in ("plain", "continuous")
            or self.peer == "mujoco"
            or (j.kind == "ball" and self.peer == "pinocchio")
        ):
            return None
        R = self._rotation(j, q)
        T = np.zeros((*q.shape[:-1], j.nv, j.nv))
        if j.kind == "ball":
            T[...] = R
        elif self.peer == "drake":  # the angular part turns and comes first
            T[..., :3, 3:], T[..., 3:, :3] = R, np.eye(3)
        else:  # the linear part turns
            n = j.nv - 3 if j.kind == "free" else 2
            T[..., :n, :n], T[..., n:, n:] = np.swapaxes(R, -1, -2)[..., :n, :n], np.eye(j.nv - n)
        return T

    def _rotated(self, q: Array, v: Array, inward: bool) -> Array:
        """Return speeds v (..., nv) transformed joint by joint: to the peer's, or with `inward`
        from them.
        """
        q = np.asarray(q, float)
        v = np.asarray(v, float)
        for name, x, n in (("q", q, self.nq), ("v", v, self.nv)):
            if x.shape[-1:] != (n,):
                raise StateError(f"{name} has shape {x.shape}; its last size is {n}")
        out = np.zeros((*np.broadcast_shapes(q.shape[:-1], v.shape[:-1]), self.nv))
        for j in self.joints:
            source, target = (j.peer_v, j.v) if inward else (j.v, j.peer_v)
            part = v[..., source : source + j.nv]
            T = self._block(j, q)
            rotated = (
                part
                if T is None
                else np.einsum("...ji,...j->...i" if inward else "...ij,...j->...i", T, part)
            )
            out[..., target : target + j.nv] = rotated
        return out

    def _copy(self, x: Array, f: Callable[..., Any], back: bool = False) -> Array:
        """Return coordinates transformed joint by joint by `f`: to the peer's, or with `back` from
        them.
        """
        given, wanted = (self.peer_nq, self.nq) if back else (self.nq, self.peer_nq)
        if x.shape[-1:] != (given,):
            raise StateError(f"q has shape {x.shape}; its last size is {given}")
        out = np.zeros((*x.shape[:-1], wanted))
        for j in self.joints:
            here = slice(j.q, j.q + j.nq)
            there = slice(j.peer_q, j.peer_q + j.peer_nq)
            source, target = (there, here) if back else (here, there)
            out[..., target] = f(j.kind, x[..., source])
        return out


def bridge(machine: Machine, peer: str, joint_order: Sequence[str] | None = None) -> Bridge:
    """Return the conversions between a machine and a peer.

    The mechanism must be the same on both sides: read from the same URDF, with mimic joints treated
    alike.

    Parameters
    ----------
    machine : Machine
        The compiled mechanism.
    peer : {"pinocchio", "mujoco", "drake"}
        Whose conventions are meant.
    joint_order : sequence of str, optional
        The moving joints in the peer's own order, such as `model.names[1:]` of Pinocchio. Default:
        the order that the peer's rule gives.

    Returns
    -------
    Bridge
        Conversions of coordinates, speeds, accelerations, forces and matrices.

    Raises
    ------
    StateError
        If the peer is not known, `joint_order` has other joints, or a planar joint has a normal
        that Pinocchio cannot represent.

    Examples
    --------
    >>> import catena
    >>> from catena.machine.bridge import bridge
    >>> arm = catena.compile(catena.load("two_link_arm"))
    >>> bridge(arm, "pinocchio").joint_order
    ('shoulder', 'elbow')
    """
    if peer not in ("pinocchio", "mujoco", "drake"):
        raise StateError(unknown("peer", peer, ("pinocchio", "mujoco", "drake")))
    moving = {j.name: j for j in machine.mechanism.moving}
    order = list(joint_order) if joint_order is not None else _order(machine, peer)
    if sorted(order) != sorted(moving):
        missing = sorted(set(moving) - set(order))
        extra = sorted(set(order) - set(moving))
        raise StateError(
            f"joint_order is not the machine's joints in another order: missing {missing}, not"
            f" known {extra}"
        )
    here: dict[str, tuple[int, int]] = {}
    k = l = 0
    for name, j in moving.items():
        here[name] = (k, l)
        k, l = k + j.nq, l + j.nv
    words = {name: _layout(j, peer) for name, j in moving.items()}
    tilted = [
        name
        for name, j in moving.items()
        if words[name] == "planar" and j.axis != ((0.0, 0.0, 1.0),)
    ]
    if tilted:
        raise StateError(
            f"joint {tilted[0]!r} is planar with a normal that is not z; Pinocchio takes z whatever"
            " the file says"
        )
    rows, k, l = [], 0, 0
    for name in order:
        j, kind = moving[name], words[name]
        size = {"continuous": 2, "planar": 4}.get(kind, j.nq)
        rows.append(_Joint(kind, *here[name], k, l, j.nq, j.nv, size))
        k, l = k + size, l + j.nv
    return Bridge(peer, tuple(rows), machine.nq, machine.nv, k, tuple(order))


def _layout(j: Joint, peer: str) -> str:
    """Return how the coordinates of a joint are stored in the peer's vectors, from the joint
    catalogue.
    """
    layouts = CATALOGUE[j.kind].layouts
    endless, limited = layouts.get(peer) or layouts.get("", ("plain", "plain"))
    return limited if any(np.isfinite((*j.lower, *j.upper))) else endless


def _order(machine: Machine, peer: str) -> list[str]:
    """Return the peer's order of the moving joints: catena's, except that Pinocchio visits the
    children of a link in the order of their joints' names.
    """
    if peer != "pinocchio":
        return list(machine.joint_names)
    by_name = sorted(machine.mechanism.joints, key=lambda j: j.name)
    return [j.name for j in walk(by_name) if j.nv and j.mimic is None]


def rotation(quaternion: Array) -> Array:
    """Return the rotation matrices R (..., 3, 3) of unit quaternions (..., 4), scalar first."""
    w, x, y, z = np.moveaxis(np.asarray(quaternion, float), -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
