"""Positions, velocities and accelerations of frames as expressions of a mechanism's symbols."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from ..kernels import Work, kinematics
from ..spatial import add, cross, rotate, transpose, unrotate
from .symbols import Symbols, elements, matrix, vector


class Kinematics(Symbols):
    """The kinematic quantities: each method returns one of them as an expression of the symbols."""

    @cached_property
    def posed(self) -> Work:
        """The poses of all nodes."""
        x = self.work()
        kinematics.poses(self.tree, self.Q, x)
        return x

    def seat(self, frame: str) -> tuple[int, Any, Any]:
        """Return node, rotation R_NF and origin p_NF of a frame."""
        seat = self.layout.seat(frame)
        R = tuple(tuple(self.value(x) for x in row) for row in seat.pose.rotation)
        return seat.node, R, tuple(self.value(x) for x in seat.pose.position)

    def wrench(self, k: int) -> tuple[int, Any, Any]:
        """Return the k-th external wrench as (node, torque about the node's origin, force), in the
        node's axes.
        """
        frame, axes = self.wrenches[k]
        node, R, p = self.seat(frame)
        t = elements(self.w[6 * k : 6 * k + 3])
        f = elements(self.w[6 * k + 3 : 6 * k + 6])
        if axes == "world":
            N = self.posed.R[node] if node >= 0 else np.eye(3)
            t, f = unrotate(N, t), unrotate(N, f)
        else:
            t, f = rotate(R, t), rotate(R, f)
        return node, add(t, cross(p, f)), f

    def pose(self, frame: str) -> ca.SX:
        """Return (3, 4): rotation and origin of a frame in the ground."""
        R, p = kinematics.frame_pose(*self.seat(frame), self.posed)
        return matrix([[*R[k], p[k]] for k in range(3)])

    def jacobian(self, frame: str, axes: str) -> ca.SX:
        """Return (6, nv), angular rows first; axes "world" or "body"."""
        node, R, p = self.seat(frame)
        J = self.blank(6, len(self.V))
        R, p = kinematics.frame_pose(node, R, p, self.posed)
        kinematics.jacobian(self.tree, node, p, self.posed, J)
        full = matrix([self.lift.back(row) for row in J])
        if axes == "body":
            E = matrix(transpose(R))
            full = ca.vertcat(E @ full[:3, :], E @ full[3:, :])
        return ca.densify(full)

    def frame_velocity(self, frame: str, axes: str) -> ca.SX:
        """Return (6,): angular velocity and velocity of the frame's origin."""
        node, R, p = self.seat(frame)
        x = self.work()
        kinematics.velocities(self.tree, self.Q, self.V, x)
        return self._in_axes(
            kinematics.frame_velocity(node, R, p, x) if node >= 0 else None, frame, axes
        )

    def frame_acceleration(self, frame: str, axes: str, a: Any = None) -> ca.SX:
        """Return (6,): angular acceleration and acceleration of the frame's origin, without
        gravity.
        """
        node, R, p = self.seat(frame)
        x = self.work()
        nodes = self.A if a is None else self.lift.a(self.OWN[1], a)
        kinematics.accelerations(self.tree, self.Q, self.V, nodes, (0.0, 0.0, 0.0), x)
        return self._in_axes(
            kinematics.frame_acceleration(node, R, p, x) if node >= 0 else None, frame, axes
        )

    def jacobian_rate(self, frame: str, axes: str) -> ca.SX:
        """Return Jdot v (6,): the acceleration with a = 0; in body axes minus w x u, the rate of
        the axes.
        """
        rate = self.frame_acceleration(frame, axes, a=self.still)
        if axes == "world":
            return rate
        velocity = self.frame_velocity(frame, axes)
        return ca.vertcat(rate[:3], rate[3:] - ca.cross(velocity[:3], velocity[3:]))

    def _in_axes(self, pair: Any, frame: str, axes: str) -> ca.SX:
        """Return a pair of vectors, given in the frame's own axes, in the requested axes."""
        if pair is None:
            return ca.SX.zeros(6)
        if axes == "body":
            return vector((*pair[0], *pair[1]))
        R, _ = kinematics.frame_pose(*self.seat(frame), self.posed)
        return vector((*rotate(R, pair[0]), *rotate(R, pair[1])))
