"""The mechanism that results from a drive fit, with consistent inertias of all bodies, friction and
rotors.

The information of the fit about theta is a small least-squares problem of its own: its factor times
the base parameters. `consistent_inertias` solves it under the condition that each body has an
inertia that a body of positive density can have.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...compiler import UNITS, inertial_parameters
from ...model import Mechanism
from ..base_parameters import inertial_names
from ..consistency import Inertias, consistent_inertias
from ..fitted_mechanism import fitted_mechanism
from ..unknowns import Columns
from .drive_model import DriveModel

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Feasible:
    """Consistent inertias, the drive model that uses them, and the mechanism with these inertias
    and the fitted friction and rotors.
    """

    inertias: Inertias
    theta: Array
    mechanism: Mechanism


def feasible(model: DriveModel, covariance: Array) -> Feasible:
    """Return the consistent inertias nearest to the estimates in the metric of their covariance.

    Raises StudyError where Clarabel is not installed.
    """
    b = len(model.theta)
    machine = model.machine
    names = inertial_names(machine)
    values = inertial_parameters(machine.layout)
    zeros = np.zeros((0, machine.nv, len(names)))
    columns = Columns(names, UNITS * (len(names) // 10), values, zeros)
    factor = _factor(covariance[:b, :b])
    W = factor @ model.base.reduction.K
    y = factor @ model.theta - W @ values
    inertias = consistent_inertias(machine, W, y, np.ones(len(W)), columns)
    theta = model.base.of(inertias.theta.reshape(-1))
    return Feasible(inertias, theta, fitted_mechanism(machine, _of_joints(model), inertias))


def _factor(covariance: Array) -> Array:
    """Return F with F'F the inverse of a covariance, its scales removed before it is inverted."""
    size = np.sqrt(np.maximum(np.diag(covariance), 1e-300))
    values, V = np.linalg.eigh(covariance / np.outer(size, size))
    values = np.maximum(values, 1e-12 * values[-1])
    return (V / np.sqrt(values)).T / size


def _of_joints(model: DriveModel) -> dict[str, float]:
    """Return damping, friction and armature of the joints in the form that the model file has.
    Friction laws that the file cannot express are added up at the speed of interest: the file's
    Coulomb friction is the part of the model that keeps its magnitude at small speeds.
    """
    words = {"viscous": "damping", "rotor": "armature"}
    constant = ("coulomb", "bristle", "creep")
    found: dict[str, float] = {}
    several = np.count_nonzero(model.coupling, axis=1) > 1
    shared = {n for n, x in zip(model.machine.speed_names, several) if x}
    for row in model.rows():
        joint = row["joint"]
        if joint in shared:  # its friction depends on several speeds, which no joint of a file has
            continue
        gain = model.gains[model.machine.speed_names.index(joint)]
        word = row["name"].partition(" (")[0]
        if word in words:
            found[f"{words[word]} of {joint}"] = row["value"] / gain
        elif word in constant:
            key = f"friction of {joint}"
            found[key] = found.get(key, 0.0) + row["value"] / gain
    return found
