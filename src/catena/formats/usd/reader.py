"""Reader: a USD stage with UsdPhysics as a mechanism, with every fault of the file."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import FormatError
from ...model import GROUND, Body, Joint, Mechanism, Pose
from ..draft import ROOT_JOINT, Draft
from ..mapping import MappingReport

KINDS = {
    "PhysicsRevoluteJoint": "revolute",
    "PhysicsPrismaticJoint": "prismatic",
    "PhysicsSphericalJoint": "ball",
    "PhysicsFixedJoint": "fixed",
}
AXES = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}
# the rest pose of a file differs from zero coordinates by more than rounding: rad or m
REST_DIFFERENCE = 1e-5
STANDARD_GRAVITY = 9.81


def read(path: Path) -> Draft:
    """Return the draft of a USD file; its inertias are taken as found."""
    try:
        from pxr import Tf, Usd
    except ImportError:
        raise FormatError(
            path,
            "USD files are read with usd-core, which is not installed: pip install catena[usd]",
        ) from None
    if not path.is_file():
        raise FormatError(path, "there is no such file")
    try:
        stage = Usd.Stage.Open(str(path))
    except Tf.ErrorException as error:
        raise FormatError(path, f"the file is not a USD stage: {error}") from None
    return _Reader(stage, path).draft()


class _Reader:
    """The state of reading a stage."""

    def __init__(self, stage: Any, path: Path):
        from pxr import Usd, UsdGeom, UsdPhysics

        self.stage, self.path = stage, path
        self.faults, self.mapping = list[str](), MappingReport()
        self.length = float(UsdGeom.GetStageMetersPerUnit(stage))
        self.mass_unit = float(UsdPhysics.GetStageKilogramsPerUnit(stage))
        self.up = str(UsdGeom.GetStageUpAxis(stage))
        self.cache = UsdGeom.XformCache(Usd.TimeCode.Default())
        self.physics = UsdPhysics
        self.prims = list(stage.Traverse())
        self.names: dict[str, str] = {}  # path of a body's prim: its name
        self.poses: dict[str, Pose] = {GROUND: Pose()}
        self.scales: dict[str, np.ndarray] = {GROUND: np.ones(3)}

    def draft(self) -> Draft:
        bodies = [p for p in self.prims if p.HasAPI(self.physics.RigidBodyAPI)]
        if not bodies:
            raise FormatError(
                self.path,
                "the stage has no prim with PhysicsRigidBodyAPI; a mechanism is made of rigid"
                " bodies and joints of UsdPhysics",
            )
        self._name(bodies)
        found = tuple(self.body(p) for p in bodies)
        joints = [j for p in self.prims if (j := self.joint(p)) is not None]
        self._unread()
        root = self.stage.GetDefaultPrim()
        mechanism = Mechanism(
            root.GetName() if root else self.path.stem,
            found,
            (*self.base(found, joints), *joints),
            gravity=self.gravity(),
            as_found=True,
            notes=tuple(self.mapping.notes()),
        )
        return Draft(self.path, mechanism, self.faults, noted=True, mapping=self.mapping.entries)

    def _name(self, bodies: list[Any]) -> None:
        """Name bodies after their prims; bodies that would share a name are named after their
        paths.
        """
        short = [p.GetName() for p in bodies]
        for p in bodies:
            path = str(p.GetPath())
            name = p.GetName()
            self.names[path] = (
                name if short.count(name) == 1 and name != GROUND else path.strip("/")
            )
            matrix = np.array(self.cache.GetLocalToWorldTransform(p)).T
            scale = np.linalg.norm(matrix[:3, :3], axis=0)
            self.scales[self.names[path]] = scale
            self.poses[self.names[path]] = _pose(
                matrix[:3, :3] / scale, matrix[:3, 3] * self.length
            )

    # --- bodies
    def body(self, prim: Any) -> Body:
        """Return the body of a prim."""
        name = self.names[str(prim.GetPath())]
        api = self.physics.MassAPI(prim)
        mass = float(api.GetMassAttr().Get() or 0.0) * self.mass_unit
        inertia = np.array(api.GetDiagonalInertiaAttr().Get() or (0, 0, 0), float)
        if not mass > 0:
            self.faults.append(
                f"body {name!r} has no physics:mass; catena does not compute masses from densities"
                " and geometry: write it into the file"
            )
            mass = 1.0
        if not inertia.any():
            self.faults.append(
                f"body {name!r} has no physics:diagonalInertia; write its principal moments of"
                " inertia into the file"
            )
        com = np.array(api.GetCenterOfMassAttr().Get() or (0, 0, 0), float)
        com = np.where(np.isfinite(com), com, 0.0) * self.scales[name] * self.length
        R = _rotation(api.GetPrincipalAxesAttr().Get())
        I = R @ np.diag(inertia * self.mass_unit * self.length**2) @ R.T
        self.mapping.take("body", name)
        six = tuple(float(I[i, j]) for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)))
        return Body(name, mass, (float(com[0]), float(com[1]), float(com[2])), six)

    # --- joints
    def joint(self, prim: Any) -> Joint | None:
        """Return the joint of a prim; None where the prim is not a joint, or is switched off."""
        if not prim.IsA(self.physics.Joint):
            return None
        name, word = prim.GetName(), str(prim.GetTypeName())
        joint = self.physics.Joint(prim)
        if not joint.GetJointEnabledAttr().Get():
            self.mapping.refuse("joint", name, "physics:jointEnabled is false")
            return None
        if word not in KINDS:
            self.faults.append(
                f"joint {name!r} is a {word}; catena reads {', '.join(KINDS)}: replace it"
            )
            return None
        (parent, X_PJ), (child, X_CJ) = (self.end(joint, k) for k in (0, 1))
        if parent == child:
            self.faults.append(f"joint {name!r} joins {parent!r} to itself; give it two bodies")
            return None
        sign = 1.0
        if child == GROUND:  # seen from its other side, the joint moves the other way
            sign, parent, child, X_PJ, X_CJ = -1.0, child, parent, X_CJ, X_PJ
        extra = self.values(prim, KINDS[word], sign)
        self.mapping.take("joint", name)
        self._rest(name, KINDS[word], (parent, X_PJ), (child, X_CJ))
        return Joint(name, KINDS[word], parent, child, X_PJ, offset=X_CJ, **extra)

    def end(self, joint: Any, k: int) -> tuple[str, Pose]:
        """Return the body at one end of a joint, and the joint's frame in it. A target that is not
        a body belongs to the nearest body above it, or to the world.
        """
        targets = (joint.GetBody0Rel, joint.GetBody1Rel)[k]().GetTargets()
        position = (joint.GetLocalPos0Attr, joint.GetLocalPos1Attr)[k]().Get()
        rotation = (joint.GetLocalRot0Attr, joint.GetLocalRot1Attr)[k]().Get()
        X = _pose(_rotation(rotation), np.array(position, float))
        if not targets:
            return GROUND, Pose(X.rotation, _three(np.array(X.position) * self.length))
        prim = self.stage.GetPrimAtPath(targets[0])
        if not prim:
            self.faults.append(
                f"joint {joint.GetPrim().GetName()!r} joins {targets[0]}, which does not exist"
            )
            return GROUND, X
        matrix = np.array(self.cache.GetLocalToWorldTransform(prim)).T
        scale = np.linalg.norm(matrix[:3, :3], axis=0)
        X_WT = _pose(matrix[:3, :3] / scale, matrix[:3, 3] * self.length)
        X_TJ = Pose(X.rotation, _three(np.array(X.position) * scale * self.length))
        while prim and str(prim.GetPath()) not in self.names:
            prim = prim.GetParent()
        body = self.names[str(prim.GetPath())] if prim else GROUND
        X_WB = self.poses[body]
        return body, X_TJ if X_WB == X_WT else X_WB.inverse() @ X_WT @ X_TJ

    def values(self, prim: Any, kind: str, sign: float) -> dict[str, Any]:
        """Return axis, limits and armature of a joint."""
        if kind in ("ball", "fixed"):
            return {}
        token = str(prim.GetAttribute("physics:axis").Get() or "X")
        unit = math.pi / 180 if kind == "revolute" else self.length
        found: dict[str, Any] = {"axis": tuple(sign * x for x in AXES[token])}
        for key, attribute in (("lower", "physics:lowerLimit"), ("upper", "physics:upperLimit")):
            value = prim.GetAttribute(attribute).Get()
            if value is not None and math.isfinite(value):
                found[key] = float(value) * unit
        armature = prim.GetAttribute("physxJoint:armature").Get()
        if armature:
            size = self.length**2 if kind == "revolute" else 1.0
            found["armature"] = float(armature) * self.mass_unit * size
        friction = prim.GetAttribute("physxJoint:jointFriction").Get()
        if friction:
            self.mapping.refuse(
                "joint friction", prim.GetName(), "PhysX scales it in its own way; give `friction`"
            )
        if any("DriveAPI" in str(s) for s in prim.GetAppliedSchemas()):
            self.mapping.refuse("drive", prim.GetName(), "give its controller in a [scenario]")
        return found

    def _rest(self, name: str, kind: str, parent: Any, child: Any) -> None:
        """Report joints whose pose in the stage is not that of the coordinate zero."""
        (P, X_PJ), (C, X_CJ) = parent, child
        D = (self.poses[P] @ X_PJ).inverse() @ self.poses[C] @ X_CJ
        apart = float(np.abs(np.array(D.position)).max())
        turned = float(np.abs(np.array(D.rotation) - np.eye(3)).max())
        if max(apart, turned) > REST_DIFFERENCE:
            self.mapping.approximate(
                "joint",
                name,
                "its two frames are apart in the stage; coordinates are counted from where they"
                " meet",
            )

    def base(self, bodies: tuple[Body, ...], joints: list[Joint]) -> tuple[Joint, ...]:
        """Return the joint that holds a model which no joint connects to the world."""
        if any(GROUND in (j.parent, j.child) for j in joints):
            return ()
        root = bodies[0].name
        self.mapping.approximate(
            "body", root, "no joint connects the model to the world: it is held by this body"
        )
        return (Joint(ROOT_JOINT, "fixed", GROUND, root, self.poses[root]),)

    def gravity(self) -> tuple[float, float, float]:
        """Return the gravity of the first PhysicsScene, in m/s2; without one it is 9.81 down."""
        scene = next((p for p in self.prims if p.IsA(self.physics.Scene)), None)
        down = -np.array(AXES[self.up])
        size = STANDARD_GRAVITY
        if scene is not None:
            api = self.physics.Scene(scene)
            direction = np.array(api.GetGravityDirectionAttr().Get() or (0, 0, 0), float)
            magnitude = api.GetGravityMagnitudeAttr().Get()
            if direction.any():
                down = direction / np.linalg.norm(direction)
            if magnitude is not None and math.isfinite(magnitude) and magnitude >= 0:
                size = float(magnitude) * self.length
        return _three(down * size)

    def _unread(self) -> None:
        """Report the geometry, which is not read."""
        for p in self.prims:
            if str(p.GetTypeName()) in ("Mesh", "Cube", "Sphere", "Cylinder", "Capsule", "Cone"):
                self.mapping.refuse(str(p.GetTypeName()), p.GetName(), "geometry is not read")


def _rotation(q: Any) -> np.ndarray:
    """Return the matrix of a quaternion of any length; the identity for zero or none."""
    if q is None:
        return np.eye(3)
    w, v = float(q.GetReal()), np.array(q.GetImaginary(), float)
    size = math.sqrt(w * w + v @ v)
    if not size:
        return np.eye(3)
    w, (x, y, z) = w / size, v / size
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def _three(x: Any) -> tuple[float, float, float]:
    return (float(x[0]) + 0.0, float(x[1]) + 0.0, float(x[2]) + 0.0)


def _pose(R: np.ndarray, p: np.ndarray) -> Pose:
    """Return a pose; the rotation is made orthogonal to rounding."""
    U, _, Vt = np.linalg.svd(R)
    R = U @ Vt
    return Pose((_three(R[0]), _three(R[1]), _three(R[2])), _three(p))
