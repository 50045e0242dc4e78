"""Instances: the tree of parts and assemblies of a Simscape Multibody file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from ...model import Pose
from ..xml_node import XmlNode

Path = tuple[str, ...]


@dataclass(frozen=True)
class Instance:
    """A part or an assembly at its place.

    path: the identifiers from the root to it. entity: the identifier of the part or assembly.
    X_WI: its pose in the world. grounded: whether the file holds it in its assembly. inside: the
    instances of an assembly.
    """

    path: Path
    name: str
    entity: str
    X_WI: Pose
    grounded: bool
    inside: tuple[Instance, ...] = field(default=())

    def parts(self) -> Iterator[Instance]:
        """Yield the parts in this instance, itself where it is one."""
        if not self.inside:
            yield self
        for other in self.inside:
            yield from other.parts()

    def anchor(self) -> Instance:
        """Return the part that carries this instance: of an assembly, its grounded or first one."""
        if not self.inside:
            return self
        held = [x for x in self.inside if x.grounded]
        return (held or list(self.inside))[0].anchor()


def instances(
    node: XmlNode, length: float, path: Path = (), X_W: Pose | None = None
) -> list[Instance]:
    """Return the instances inside an element.

    length: of its unit, m. path, X_W: of the instance that the element is, None for the world.
    """
    found = []
    for child in node.children("Instance"):
        own = (*path, child.text("uid", "?"))
        X = (X_W or Pose()) @ transform(child, length)
        found.append(
            Instance(
                own,
                child.text("name", own[-1]),
                child.text("entityUid", "?"),
                X,
                child.element.get("grounded") == "true",
                tuple(instances(child, length, own, X)),
            )
        )
    return found


def transform(node: XmlNode, length: float) -> Pose:
    """Return the pose of the Transform in an element; the rotation is written row by row."""
    given = node.child("Transform")
    if given is None:
        return Pose()
    R = np.reshape(given.vector("Rotation", (1, 0, 0, 0, 1, 0, 0, 0, 1), 9), (3, 3))
    p = length * np.array(given.vector("Translation", (0, 0, 0)))
    if abs(np.linalg.det(R) - 1.0) > 1e-3:
        given.fault("Rotation is no rotation matrix; its rows have length one and are orthogonal")
        return Pose()
    U, _, Vt = np.linalg.svd(R)  # the file has nine digits
    x, y, z = ((float(a), float(b), float(c)) for a, b, c in U @ Vt)
    return Pose((x, y, z), (float(p[0]), float(p[1]), float(p[2])))
