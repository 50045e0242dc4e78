"""Geoms: shapes that are drawn, and that collide where contype or conaffinity is set."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...model import Shape
from ..mapping import MappingReport
from .names import Names
from .poses import pose

PLANE, HFIELD, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH, SDF = range(9)  # mjtGeom

# the kinds of shapes, in the order of mjtGeom
KINDS = (
    "plane",
    "heightfield",
    "sphere",
    "capsule",
    "ellipsoid",
    "cylinder",
    "box",
    "mesh",
    "signed distance field",
)


MeshFiles = dict[str, str]  # {mesh: its file}


def mesh_files(spec: Any, path: Path) -> MeshFiles:
    """Return the files of the meshes that come from files."""
    folder = path.parent / (spec.meshdir or "")
    return {
        mesh.name or Path(mesh.file).stem: str(folder / mesh.file)
        for mesh in spec.meshes
        if mesh.file
    }


def is_shape(m: Any, g: int, files: MeshFiles) -> bool:
    """Return whether a geom becomes a shape. Height fields, distance fields and meshes without a
    file do not.
    """
    kind = int(m.geom_type[g])
    return kind not in (MESH, SDF) or (kind == MESH and m.mesh(int(m.geom_dataid[g])).name in files)


def shapes(
    m: Any, b: int, files: MeshFiles, names: Names, mapping: MappingReport
) -> tuple[Shape, ...]:
    """Return the shapes of body b."""
    first = int(m.body_geomadr[b])
    found = (
        _shape(m, g, names.body(b), files, mapping)
        for g in range(first, first + int(m.body_geomnum[b]))
    )
    return tuple(s for s in found if s)


def _shape(m: Any, g: int, body: str, files: MeshFiles, mapping: MappingReport) -> Shape | None:
    name = m.geom(g).name
    kind = int(m.geom_type[g])
    x, y, z = (float(s) for s in m.geom_size[g])
    sizes = {
        PLANE: ("plane", ()),
        SPHERE: ("sphere", (x,)),
        CAPSULE: ("capsule", (x, 2 * y)),
        ELLIPSOID: ("ellipsoid", (x, y, z)),
        CYLINDER: ("cylinder", (x, 2 * y)),
        BOX: ("box", (2 * x, 2 * y, 2 * z)),
    }
    seen = {
        "colour": tuple(float(c) for c in m.geom_rgba[g]),
        "collides": bool(m.geom_contype[g] or m.geom_conaffinity[g])
        or g in m.pair_geom1
        or g in m.pair_geom2,
        "name": name,
    }
    if kind == MESH and (file := files.get(m.mesh(int(m.geom_dataid[g])).name)):
        mapping.take(
            "geom", name or f"of {body}", "the mesh of its file; what collides is the convex hull"
        )
        mesh = int(m.geom_dataid[g])  # MuJoCo moves meshes to their centre of mass
        X = (
            pose(m.geom_pos[g], m.geom_quat[g])
            @ pose(m.mesh_pos[mesh], m.mesh_quat[mesh]).inverse()
        )
        return Shape("mesh", tuple(float(x) for x in m.mesh_scale[mesh]), X, file, **seen)
    if kind == HFIELD:
        mapping.take("geom", name or f"of {body}", "the surface of its grid; it has no base")
        size, grid = _grid(m, int(m.geom_dataid[g]))
        X = pose(m.geom_pos[g], m.geom_quat[g])
        return Shape("heightfield", size, X, heights=grid, **seen)
    if kind not in sizes:
        word = "mesh without a file" if kind == MESH else "signed distance field"
        mapping.refuse(
            "geom", name or f"of {body}", f"a {word} is not taken as a shape; its mass is"
        )
        return None
    mapping.take("geom", name or f"of {body}")
    return Shape(*sizes[kind], pose(m.geom_pos[g], m.geom_quat[g]), **seen)


def _grid(m: Any, field: int) -> tuple[tuple[float, float, float], Any]:
    """Return the length, the width and the height of a height field, m, and its grid, 0 to 1."""
    x, y, top, _ = (float(s) for s in m.hfield_size[field])
    rows, columns = int(m.hfield_nrow[field]), int(m.hfield_ncol[field])
    first = int(m.hfield_adr[field])
    grid = m.hfield_data[first : first + rows * columns].reshape(rows, columns)
    return (2 * x, 2 * y, top), grid
