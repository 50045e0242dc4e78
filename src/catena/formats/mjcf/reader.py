"""Reader: MuJoCo's compiled model as a mechanism, with a report on how each element was treated."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from ... import spatial
from ...model import (
    GROUND,
    IDENTITY,
    ORIGIN,
    Body,
    Contact,
    Frame,
    Joint,
    Matrix,
    Mechanism,
    Mimic,
    Pose,
    Shape,
    Vector,
    vector,
)
from ...model.loads import Force
from ..draft import Draft
from ..mapping import MappingReport
from .actuation import scenario
from .contacts import exclusions, touched
from .equalities import equalities
from .geoms import MeshFiles, mesh_files, shapes
from .joints import joints
from .medium import medium
from .names import Names
from .poses import pose
from .sensors import sensors
from .source import compiled
from .tendons import tendons

SAME, SAME_AXES = 1, 3  # mjtSameFrame
FLEXIBLE = (
    "flexible bodies of finite elements have no counterpart; describe a beam as `flexible` in a"
    " TOML file"
)


def read(
    path: Path,
    within: str | PathLike[str] | None = None,
    contacts: bool = False,
    meshes: bool = True,
) -> Draft:
    """Return the draft of an MJCF file's mechanism.

    within: the folder that contains all files it may name, by default its own folder. contacts:
    whether bodies touch the planes of the ground, and each other as the pairs of the file say,
    rigidly and with the friction of their geoms (`contacts`); MuJoCo's own contacts are soft.
    meshes: whether files of meshes, height fields and textures are opened; otherwise, and where
    they are missing, the geoms that use them are left out.
    """
    spec, m, left_out = compiled(path, Path(within) if within else None, meshes)
    names = Names(m)
    mapping = MappingReport()
    files = mesh_files(spec, path)
    for entry in left_out:
        mapping.refuse(*entry)
    faults = [f"flex {i}: {FLEXIBLE}" for i in range(m.nflex)]
    tree = [joints(m, b, names, mapping) for b in range(1, m.nbody)]
    loops, mimics, held = equalities(m, names, mapping)
    wet, fluids = medium(m, names, mapping)
    loads = [
        *(x for found in tree for x in found.loads),
        *tendons(m, names, mapping),
        *_weightless(m, names, mapping),
        *fluids,
    ]
    run = scenario(m, names, mapping)
    _world(spec, m, mapping)
    surfaces, touching = touched(m, files, names, mapping, contacts)
    mechanism = Mechanism(
        spec.modelname or path.stem,
        tuple(
            x
            for b, found in enumerate(tree, start=1)
            for x in (*found.between, _body(m, b, files, names, mapping))
        ),
        tuple(_following(j, mimics) for found in tree for j in found.joints),
        frames=(*_frames(m, names, mapping), *_centres(m, names), *wet, *surfaces),
        gravity=_gravity(m),
        loops=tuple(loops),
        loads=tuple(loads),
        constraints=tuple(held),
        ground=_ground(shapes(m, 0, files, names, mapping), touching),
        collisions=exclusions(m, names, mapping),
        contacts=touching,
        sensors=sensors(m, names, mapping),
        as_found=True,
        notes=tuple(mapping.notes()),
    )
    return Draft(path, mechanism, faults, noted=True, mapping=mapping.entries, scenario=run)


def _body(m: Any, b: int, files: MeshFiles, names: Names, mapping: MappingReport) -> Body:
    """Return the body with mass, centre of mass and inertia in its own axes, from the principal
    ones that MuJoCo stores.
    """
    name = names.body(b)
    if m.body_mocapid[b] >= 0:
        mapping.approximate("body", name, "a mocap body stands where the file puts it")
    else:
        mapping.take("body", name)
    centre, R = _inertial(m, b)
    x, y, z = (float(I) for I in m.body_inertia[b])
    six = spatial.unrotate_symmetric(spatial.transpose(R), (x, 0.0, 0.0, y, 0.0, z))  # R I R'
    return Body(name, float(m.body_mass[b]), centre, six, shapes(m, b, files, names, mapping))


def _inertial(m: Any, b: int) -> tuple[Vector, Matrix]:
    """Return centre of mass and principal axes as MuJoCo uses them: those within 1e-6 of the body's
    frame coincide with it.
    """
    same = int(m.body_sameframe[b])
    R = IDENTITY if same in (SAME, SAME_AXES) else Pose.quaternion(*m.body_iquat[b]).rotation
    return ORIGIN if same == SAME else vector(m.body_ipos[b]), R


def _following(j: Joint, mimics: dict[str, Mimic]) -> Joint:
    return replace(j, mimic=mimics[j.name]) if j.name in mimics else j


def _ground(shapes: tuple[Shape, ...], touching: tuple[Contact, ...]) -> tuple[Shape, ...]:
    """Return the shapes of the ground. Where bodies touch them, planes do not collide among them,
    because their contacts are with frames.
    """
    if not any(c.between[1] == GROUND for c in touching):
        return shapes
    return tuple(replace(s, collides=s.collides and s.kind != "plane") for s in shapes)


def _gravity(m: Any) -> Vector:
    import mujoco

    off = int(m.opt.disableflags) & int(mujoco.mjtDisableBit.mjDSBL_GRAVITY)
    return (0.0, 0.0, 0.0) if off else vector(m.opt.gravity)


def _frames(m: Any, names: Names, mapping: MappingReport) -> list[Frame]:
    for s in range(m.nsite):
        mapping.take("site", names.site(s))
    return [
        Frame(names.site(s), names.body(m.site_bodyid[s]), pose(m.site_pos[s], m.site_quat[s]))
        for s in range(m.nsite)
    ]


def _compensated(m: Any) -> list[int]:
    return [b for b in range(1, m.nbody) if m.body_gravcomp[b] and m.body_mass[b]]


def _centres(m: Any, names: Names) -> list[Frame]:
    """Return frames at the centres of mass of bodies whose weight is compensated."""
    return [
        Frame(names.centre(b), names.body(b), Pose(position=_inertial(m, b)[0]))
        for b in _compensated(m)
    ]


def _weightless(m: Any, names: Names, mapping: MappingReport) -> list[Force]:
    """Return the forces that carry a fraction of the weight of bodies (gravcomp)."""
    g = _gravity(m)
    for b in _compensated(m):
        mapping.take("gravcomp", names.body(b), "a force at its centre of mass")
    return [
        Force(
            f"gravcomp {names.body(b)}",
            names.centre(b),
            force=tuple(float(-m.body_gravcomp[b] * m.body_mass[b] * x) for x in g),
        )
        for b in _compensated(m)
    ]


def _world(spec: Any, m: Any, mapping: MappingReport) -> None:
    """Report how the masses, the surroundings and the named states of the file were treated."""
    guessed = [
        b.name or "(unnamed)"
        for b in spec.bodies
        if not b.explicitinertial and b.name != "world" and b.geoms
    ]
    for name in guessed:
        mapping.take(
            "inertial",
            name,
            "not in the file: mass and inertia are those MuJoCo takes from geoms and densities",
        )
    for n, word in (
        (m.nskin, "skin"),
        (m.nplugin, "plugin"),
    ):
        if n:
            mapping.refuse(word, "", f"{n} in the file; they are not read")
