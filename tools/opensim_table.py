"""Inverse dynamics of OpenSim models, ours beside OpenSim's, and the equations of Lagrange on
OpenSim's own mass matrix beside both.

    pip install opensim           # 4.6 has wheels for Linux
    python tools/opensim_table.py FOLDER > docs/opensim_table.md

At three random states, over the largest force: the difference of ours and OpenSim's, at rest and in
motion; and how far both are, in motion, from

    d/dt (M v) - 1/2 d(v' M v)/dq,

with M by OpenSim and the derivatives by differences of fourth order, which are good to about 1e-9.
Forces of muscles and contacts are switched off. A coordinate that follows another adds its force,
times its slope, to that one's. OpenSim brings a CasADi of its own, so that it works in a process of
its own.
"""

from __future__ import annotations

import multiprocessing
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import catena
from catena.errors import FormatError

STATES, STEP = 3, 2e-3
SAID = """
Rajagopal's knee has three turns that follow one angle. Where it moves, OpenSim 4.6 is off by 1e-5 of the largest force, against the equations of
Lagrange on its own mass matrix and against its own power; ours is not. Knees with one turn agree. OpenSim rounds numbers of files of version 3 to six digits
as it reads them (the inertia 0.01227763 of MoBL_ARMS_J becomes 0.0122776), which is what is left there at rest. Where Lagrange's column is above 1e-9, differences were
taken across a corner of a third derivative, at a point of a spline.
"""  # noqa: E501


def difference(f: Callable[[float], Any], h: float = STEP) -> Any:
    """df/dt at zero, of fourth order."""
    return (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h)


class Theirs:
    """A model in OpenSim, its coordinates in the order of its speeds."""

    def __init__(self, path: Path):
        import opensim

        opensim.Logger.setLevelString("Off")
        self.opensim = opensim
        self.model = opensim.Model(str(path))
        self.model.finalizeConnections()
        for k in range(self.model.getForceSet().getSize()):
            self.model.getForceSet().get(k).set_appliesForce(False)
        self.state = self.model.initSystem()
        found = [
            self.model.getCoordinateSet().get(k)
            for k in range(self.model.getCoordinateSet().getSize())
        ]
        for c in found:
            c.setLocked(self.state, False)
        self.nv, self.solver = self.state.getNU(), opensim.InverseDynamicsSolver(self.model)
        self.names = [c.getName() for c in sorted(found, key=self._place)]
        self.ranges = {
            c.getName(): (max(c.getRangeMin(), -1.0), min(c.getRangeMax(), 1.0)) for c in found
        }

    def _place(self, c: Any) -> int:
        self.state.setU(self._vector(np.zeros(self.nv)))
        c.setSpeedValue(self.state, 1.0)
        return next(k for k in range(self.nv) if self.state.getU()[k])

    def _vector(self, x: np.ndarray) -> Any:
        out = self.opensim.Vector(len(x), 0.0)
        for k, value in enumerate(x):
            out[k] = float(value)
        return out

    def _at(self, q: np.ndarray, v: np.ndarray) -> None:
        self.state.setQ(self._vector(q))
        self.state.setU(self._vector(v))
        self.model.realizeVelocity(self.state)

    def forces(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """Inverse dynamics by OpenSim."""
        self._at(q, v)
        return _array(self.solver.solve(self.state, self._vector(a)))

    def momentum(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """M(q) v."""
        self._at(q, v)
        out = self._vector(np.zeros(self.nv))
        self.model.getMatterSubsystem().multiplyByM(self.state, self._vector(v), out)
        return _array(out)

    def lagrange(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """Inverse dynamics of OpenSim's mass matrix and weights."""
        bent = [
            0.5 * difference(lambda t, e=e: v @ self.momentum(q + e * t, v))
            for e in np.eye(self.nv)
        ]
        return difference(lambda t: self.momentum(q + v * t, v)) - bent + self.forces(q, 0 * v, a)


def _array(x: Any) -> np.ndarray:
    return np.array([x[k] for k in range(x.size())])


def described(path: Path) -> tuple[list[str], dict[str, tuple[float, float]], int]:
    """Names of the coordinates (none where a ball's speeds are not their rates), where they are
    looked at, and the version of the file.
    """
    theirs = Theirs(path)
    names = theirs.names if theirs.state.getNQ() == theirs.nv else []
    return names, theirs.ranges, theirs.model.getDocumentFileVersion()


def answered(path: Path, states: list[tuple[np.ndarray, ...]]) -> list[tuple[np.ndarray, ...]]:
    """Of each (q, v, a at rest, a in motion): OpenSim's forces at rest and in motion, and those of
    Lagrange's equations in motion.
    """
    theirs = Theirs(path)
    return [
        (theirs.forces(q, 0 * v, rest), theirs.forces(q, v, a), theirs.lagrange(q, v, a))
        for q, v, rest, a in states
    ]


def compared(
    mechanism: catena.Mechanism,
    path: Path,
    pool: Any,
    names: list[str],
    ranges: dict[str, tuple[float, float]],
) -> np.ndarray:
    """The largest relative differences: at rest; in motion; ours and theirs from Lagrange's
    equations.
    """
    machine = catena.compile(mechanism)
    rng = np.random.default_rng(1)
    worst = np.zeros(4)
    led = {j.name: j.mimic for j in mechanism.joints if j.mimic and j.name in names}
    free = machine.coordinate_names
    asked, ours, lifts = [], [], []
    for _ in range(STATES):
        q, v, a = (
            np.array([rng.uniform(*ranges[name]) for name in free]),
            *rng.normal(size=(2, len(free))),
        )
        full = {name: (q[k], v[k], a[k], a[k]) for k, name in enumerate(free)}
        lift = np.zeros((len(free), len(names)))
        for k, name in enumerate(free):
            lift[k, names.index(name)] = 1.0
        for name, mimic in led.items():
            k = free.index(mimic.joint)
            y, slope, bend = mimic.function(q[k])
            full[name] = (y, slope * v[k], slope * a[k], slope * a[k] + bend * v[k] ** 2)
            lift[k, names.index(name)] = slope
        asked.append(tuple(np.array([full[name] for name in names]).T))
        ours.append((machine.inverse_dynamics(q, 0 * v, a), machine.inverse_dynamics(q, v, a)))
        lifts.append(lift)
    for lift, mine, found in zip(lifts, ours, pool.apply(answered, (path, asked))):
        rest, moving, third = (lift @ x for x in found)
        size = np.abs(mine[1]).max() or 1.0
        worst = np.maximum(
            worst,
            [
                np.abs(x).max() / size
                for x in (mine[0] - rest, mine[1] - moving, mine[1] - third, moving - third)
            ],
        )
    return worst


def main(folder: Path, pool: Any) -> None:
    """Print the table."""
    print(
        "# OpenSim models\n\nMade by `tools/opensim_table.py`, whose head says what is compared and"
        " how.\n"
    )
    print(
        "| model | version | ours and OpenSim's, at rest | in motion | ours and Lagrange's |"
        " OpenSim's and Lagrange's |\n|---|---|---|---|---|---|"
    )
    refused = []
    for path in sorted(folder.glob("*.osim")):
        try:
            mechanism = catena.load(path)
        except FormatError as why:
            refused.append(
                f"- {path.name}: " + " ".join(str(why).replace(str(path), "").strip(" :").split())
            )
            continue
        names, ranges, version = pool.apply(described, (path,))
        found = compared(mechanism, path, pool, names, ranges) if names else []
        print(
            f"| {path.stem} | {version // 10000} | "
            + (" | ".join(f"{x:.0e}" for x in found) or "not compared: it has a ball | | |")
            + " |",
            flush=True,
        )
    print(SAID + "\nRefused:\n\n" + "\n".join(refused))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        main(Path(sys.argv[1]), pool)
