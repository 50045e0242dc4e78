"""Distances of pairs of convex shapes without a closed form, such as cylinders, ellipsoids and
convex meshes, by MuJoCo's solver.

MuJoCo (`pip install "catena[mujoco]"`) was chosen over Coal by measurement: at a tolerance of 1e-10
its distances and depths are accurate to 1e-8 of the sizes and it never fails, while Coal is
accurate to 1e-5, or fails in one overlap out of ten at a tighter tolerance; and it has wheels for
Linux, macOS and Windows. It stores the points of meshes in single precision.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..collision import Collider, warn_if_concave
from ..errors import QuestionError
from ..model import GROUND, value_of

if TYPE_CHECKING:
    from ..machine import Machine

Array = np.ndarray
# Tolerance of MuJoCo's convex solver.
MUJOCO_TOLERANCE = 1e-10
# Iterations of MuJoCo's convex solver.
MUJOCO_ITERATIONS = 200
# Largest distance, m, up to which MuJoCo computes distances; absolute.
MUJOCO_DISTANCE_LIMIT = 1e6
# kind of shape -> MuJoCo's word, and its half sizes
_SIZES: dict[str, tuple[str, Callable[..., tuple[float, ...]]]] = {
    "sphere": ("SPHERE", lambda r: (r, 0, 0)),
    "capsule": ("CAPSULE", lambda r, length: (r, length / 2, 0)),
    "cylinder": ("CYLINDER", lambda r, length: (r, length / 2, 0)),
    "box": ("BOX", lambda x, y, z: (x / 2, y / 2, z / 2)),
    "ellipsoid": ("ELLIPSOID", lambda x, y, z: (x, y, z)),
}


class ConvexPairs:
    """Pairs of convex shapes in a MuJoCo model, whose distances are computed one by one."""

    def __init__(self, machine: Machine, pairs: list[tuple[Collider, Collider]]):
        self.machine, self.pairs = machine, pairs
        self.shapes = {c.name: c for pair in pairs for c in pair}
        if not pairs:
            return
        self.mujoco = _mujoco(pairs[0])
        self.model = self._compiled()
        self.data = self.mujoco.MjData(self.model)
        self.places = {
            c.name: self._place(k, c)
            for k, c in enumerate(c for c in self.shapes.values() if c.shape.kind != "plane")
        }

    # --- the model
    def _compiled(self) -> Any:
        """Return the compiled MuJoCo model with one geom per shape."""
        spec = self.mujoco.MjSpec()
        spec.option.ccd_tolerance = MUJOCO_TOLERANCE
        spec.option.ccd_iterations = MUJOCO_ITERATIONS
        for c in self.shapes.values():
            if c.shape.kind == "mesh":
                mesh = spec.add_mesh(name=c.name, file=_file(c), scale=self._size(c))
                mesh.inertia = self.mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX
                spec.worldbody.add_geom(
                    name=c.name, type=self.mujoco.mjtGeom.mjGEOM_MESH, meshname=c.name
                )
            elif c.shape.kind in _SIZES:
                word, halves = _SIZES[c.shape.kind]
                spec.worldbody.add_geom(
                    name=c.name,
                    type=getattr(self.mujoco.mjtGeom, f"mjGEOM_{word}"),
                    size=halves(*self._size(c)),
                )
            elif c.shape.kind != "plane":
                raise QuestionError(
                    f"clearance: shape {c.name!r} is a {c.shape.kind}, for which there is no"
                    " distance"
                )
        try:
            return spec.compile()
        except ValueError as why:
            raise QuestionError(
                f"clearance: a mesh cannot be read: {str(why).splitlines()[0]}; give STL or OBJ"
                " files"
            ) from None

    def _place(self, geom: int, c: Collider) -> tuple[int, Array]:
        """Return the geom and its frame on the body (4, 4). MuJoCo moves the points of a mesh to
        their principal axes, which is undone here.
        """
        X = self._matrix(c)
        mesh = self.model.geom_dataid[geom]
        if mesh < 0:
            return geom, X
        own, R = np.eye(4), np.zeros(9)
        self.mujoco.mju_quat2Mat(R, self.model.mesh_quat[mesh])
        own[:3, :3], own[:3, 3] = R.reshape(3, 3), self.model.mesh_pos[mesh]
        self._convex(c, self.vertices(mesh), mesh)
        return geom, X @ own

    def vertices(self, mesh: int) -> Array:
        """Return the points (n, 3) of a mesh in the frame of its geom, m."""
        first = self.model.mesh_vertadr[mesh]
        return self.model.mesh_vert[first : first + self.model.mesh_vertnum[mesh]].astype(float)

    def _convex(self, c: Collider, points: Array, mesh: int) -> None:
        """Warn if a mesh is smaller than its convex hull."""
        from scipy.spatial import ConvexHull

        first = self.model.mesh_faceadr[mesh]
        corners = points[self.model.mesh_face[first : first + self.model.mesh_facenum[mesh]]]
        volume = (
            abs(np.einsum("fi,fi->f", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])).sum())
            / 6
        )
        hull = ConvexHull(points).volume
        warn_if_concave(f"{c.shape.file!r} of {c.name!r}", volume, hull, "distances")

    def _size(self, c: Collider) -> list[float]:
        """Return the numerical sizes of a shape."""
        return [float(value_of(x, self.machine.mechanism.parameters)) for x in c.shape.size]

    def _matrix(self, c: Collider) -> Array:
        """Return the pose X_BS (4, 4) of a shape on its body."""
        value = lambda x: float(value_of(x, self.machine.mechanism.parameters))  # noqa: E731
        X = np.eye(4)
        X[:3, :3] = [[value(x) for x in row] for row in c.shape.pose.rotation]
        X[:3, 3] = [value(x) for x in c.shape.pose.position]
        return X

    # --- answers
    def ask(self, q: Array, p: Array | None) -> Array:
        """Return (..., pairs, 7): distances, nearest points of the first shapes, and normals, at q
        (..., nq).
        """
        if p is not None:
            raise QuestionError(
                "clearance: parameters are for pairs in closed form; give the mechanism its own"
                " with mechanism.with_(parameters=...)"
            )
        flat = q.reshape(-1, q.shape[-1])
        bodies = {c.body for c in self.shapes.values()}
        poses = {
            b: (
                np.broadcast_to(np.eye(4), (len(flat), 4, 4))
                if b == GROUND
                else self.machine.pose(flat, b)
            )
            for b in bodies
        }
        found = np.empty((len(flat), len(self.pairs), 7))
        for k, (a, b) in enumerate(self.pairs):
            if "plane" in (a.shape.kind, b.shape.kind):
                found[:, k] = self._on_plane(a, b, poses)
                continue
            (i, Xa), (j, Xb) = self.places[a.name], self.places[b.name]
            for row, A, B in zip(found[:, k], poses[a.body] @ Xa, poses[b.body] @ Xb):
                row[:] = self._one(i, A, j, B)
        return found.reshape(*q.shape[:-1], len(self.pairs), 7)

    def _one(self, i: int, A: Array, j: int, B: Array) -> Array:
        """Return distance, nearest point and normal (7,) of geoms i and j at the poses A and B."""
        d, ends = self.data, np.zeros(6)
        for geom, X in ((i, A), (j, B)):
            d.geom_xpos[geom], d.geom_xmat[geom] = X[:3, 3], X[:3, :3].ravel()
        distance = self.mujoco.mj_geomDistance(self.model, d, i, j, MUJOCO_DISTANCE_LIMIT, ends)
        along = (ends[3:] - ends[:3]) * np.sign(distance)
        length = np.linalg.norm(along)
        return np.concatenate(
            [[distance], ends[:3], along / length if length > 0 else np.array([0.0, 0.0, 1.0])]
        )

    def _on_plane(self, a: Collider, b: Collider, poses: dict[str, Array]) -> Array:
        """Return distance, nearest point and normal (n, 7) of a half-space and a mesh: those of its
        deepest point.
        """
        plane, other = (a, b) if a.shape.kind == "plane" else (b, a)
        geom, X = self.places[other.name]
        P = poses[plane.body] @ self._matrix(plane)
        points = (
            np.einsum(
                "bij,nj->bni",
                (M := poses[other.body] @ X)[:, :3, :3],
                self.vertices(self.model.geom_dataid[geom]),
            )
            + M[:, None, :3, 3]
        )
        height = np.einsum("bni,bi->bn", points - P[:, None, :3, 3], n := P[:, :3, 2])
        at = height.argmin(axis=1)
        rows = np.arange(len(at))
        d = height[rows, at][:, None]
        low = points[rows, at]
        return np.concatenate([d, *([low - d * n, n] if plane is a else [low, -n])], axis=1)


def _mujoco(pair: tuple[Collider, Collider]) -> Any:
    """Return the module mujoco; raise a QuestionError about the pair if it is not installed."""
    try:
        import mujoco
    except ImportError:
        a, b = pair
        raise QuestionError(
            f"clearance: the pair {a.name} - {b.name} ({a.shape.kind} and {b.shape.kind}) has no"
            ' closed form and needs MuJoCo\'s convex solver: pip install "catena[mujoco]", or use'
            " spheres, capsules, boxes and planes"
        ) from None
    return mujoco


def _file(c: Collider) -> str:
    """Return the absolute path of a mesh file; raise a QuestionError if it does not exist."""
    path = Path(c.shape.file.removeprefix("file://"))
    if not os.path.isfile(path):
        raise QuestionError(
            f"clearance: the mesh {c.shape.file!r} of {c.name!r} is not there; give a path from"
            " where you are, or an absolute one"
        )
    return str(path.resolve())
