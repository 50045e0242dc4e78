"""How much faster than Exudyn is a mechanism with closed loops, at the same accuracy?

Two four-bars side by side, problem A02 of the IFToMM library with N = 2: ten seconds through every
singular place, the top of the first post never farther than 1 mm from the exact motion. Exudyn has
five rigid bodies and seven revolute joints in the plane, as its own example of this problem, and
the fastest of several settings that reaches 1 mm: step, damping at high frequencies, Newton's
tolerance and how often its matrix is renewed; one thread, its model assembled before the clock
starts. catena has the loosest tolerance that reaches it. Needs `pip install exudyn`. Asked: not
slower.
"""

from __future__ import annotations

import itertools
import json
import warnings
from pathlib import Path

import exudyn as exu
import exudyn.itemInterface as items
import numpy as np
from peers import best, interleaved, size

import catena
import closed

UNTIL, ERROR, EVERY = 10.0, 1e-3, 0.1
MOTIONS = Path(__file__).parent.parent / "tests" / "reference" / "motions"
PUBLISHED = "published: Exudyn 0.078 s with steps of 10 ms (i9), OpenSim 3.2 0.455 s (i5-4570)"


def exact() -> np.ndarray:
    """The place of the first post's top every EVERY seconds, (rows, 2)."""
    known = json.loads((MOTIONS / "A01_A02_N2.json").read_text())["A02_N2"]
    rows = [
        int(np.argmin(np.abs(np.array(known["t"]) - t)))
        for t in np.arange(0.0, UNTIL + EVERY / 2, EVERY)
    ]
    return np.array(known["B0_x_y_vx_vy"])[rows, :2]


class Peer:
    """The same in Exudyn."""

    def __init__(self) -> None:
        self.container = exu.SystemContainer()
        self.system = m = self.container.AddSystem()
        ground = m.AddObject(items.ObjectGround())
        posts = [self.bar((k, 0.5, np.pi / 2), (0.5, 0, -1)) for k in range(3)]
        beams = [self.bar((k + 0.5, 1.0, 0.0), (1.0, 0, 0)) for k in range(2)]
        for k, post in enumerate(posts):
            self.pin(self.point(ground, (k, 0, 0)), self.point(post, (-0.5, 0, 0)))
        for k, beam in enumerate(beams):
            self.pin(self.point(posts[k], (0.5, 0, 0)), self.point(beam, (-0.5, 0, 0)))
            self.pin(self.point(beam, (0.5, 0, 0)), self.point(posts[k + 1], (0.5, 0, 0)))
        place = {
            "localPosition": [0.5, 0, 0],
            "storeInternal": True,
            "outputVariableType": exu.OutputVariableType.Position,
        }
        self.top = m.AddSensor(items.SensorBody(bodyNumber=posts[0], **place))
        m.Assemble()

    def bar(self, place: tuple, speed: tuple) -> int:
        m = self.system
        node = m.AddNode(
            items.NodeRigidBody2D(referenceCoordinates=list(place), initialVelocities=list(speed))
        )
        body = m.AddObject(
            items.ObjectRigidBody2D(nodeNumber=node, physicsMass=1.0, physicsInertia=1 / 12)
        )
        weight = m.AddMarker(items.MarkerBodyMass(bodyNumber=body))
        m.AddLoad(items.LoadMassProportional(markerNumber=weight, loadVector=[0, -9.81, 0]))
        return body

    def point(self, body: int, place: tuple) -> int:
        return self.system.AddMarker(
            items.MarkerBodyPosition(bodyNumber=body, localPosition=list(place))
        )

    def pin(self, one: int, other: int) -> None:
        self.system.AddObject(items.ObjectJointRevolute2D(markerNumbers=[one, other]))

    def settings(
        self, step: float, radius: float, tolerance: float, modified: bool
    ) -> exu.SimulationSettings:
        s = exu.SimulationSettings()
        s.timeIntegration.numberOfSteps = round(UNTIL / step)
        s.timeIntegration.endTime = UNTIL
        s.timeIntegration.verboseMode = 0
        s.timeIntegration.newton.useModifiedNewton = modified
        s.timeIntegration.newton.relativeTolerance = tolerance
        s.timeIntegration.generalizedAlpha.spectralRadius = radius
        s.timeIntegration.generalizedAlpha.computeInitialAccelerations = True
        s.solutionSettings.writeSolutionToFile = False
        s.solutionSettings.sensorsWritePeriod = EVERY
        return s

    def run(self, settings: exu.SimulationSettings) -> np.ndarray:
        self.system.SolveDynamic(settings, showHints=False)
        return self.system.GetSensorStoredData(self.top)[:, 1:3]


def theirs(known: np.ndarray) -> tuple[Peer, exu.SimulationSettings, float, str]:
    """Exudyn at the settings that reach ERROR first: the model, the settings, its error, and words
    for them.
    """
    peer, found = Peer(), []
    for radius, tolerance, modified in itertools.product(
        size((0.95, 0.8, 0.6), (0.8,)), size((1e-8, 1e-6), (1e-6,)), size((True, False), (True,))
    ):
        for step in (5e-3, 4e-3, 2.5e-3, 2e-3, 1.25e-3, 1e-3):
            s = peer.settings(step, radius, tolerance, modified)
            try:
                rows = peer.run(s)
            except Exception:  # it does not get through the singular places with these
                continue
            error = float(np.abs(rows - known).max()) if rows.shape == known.shape else np.inf
            if error < ERROR:
                words = (
                    f"steps of {step * 1e3:g} ms, radius {radius}, Newton to {tolerance:g}, matrix"
                    f" {'kept' if modified else 'renewed'}"
                )
                found.append((best(lambda: peer.run(s), 0.0, 2), s, error, words))
                break
    _, s, error, words = min(found, key=lambda x: x[0])
    return peer, s, error, words


def main() -> None:
    warnings.simplefilter("ignore", DeprecationWarning)  # Exudyn's names, which change
    exu.config.printToConsole = False  # settings that fail are passed over
    known = exact()
    machine = catena.compile(closed.windows(2))
    start = [-1.0 if name.startswith("A") else 1.0 for name in machine.speed_names]
    times = np.linspace(0.0, UNTIL, len(known))

    def ours(tolerance: float) -> catena.Result:
        return catena.simulate(machine, v=start, until=UNTIL, output=times, tolerance=tolerance)

    def wrong(tolerance: float) -> float:
        q = ours(tolerance).q.values[:, 0]
        return float(np.abs(np.stack([-np.sin(q), np.cos(q)], axis=1) - known).max())

    asked = next(
        x for x in 10.0 ** np.arange(-2.0, -10.0, -0.5) if wrong(x) < ERROR and wrong(x / 3) < ERROR
    )
    peer, s, error, words = theirs(known)
    a, b = interleaved(lambda: ours(asked), lambda: peer.run(s), rounds=3)
    print(f"Exudyn {exu.GetVersionString()}: {b * 1e3:.1f} ms, error {error:.1e} m ({words})")
    print(f"catena: {a * 1e3:.2f} ms, error {wrong(asked):.1e} m (tolerance {asked:.1g})")
    print(f"ratio {b / a:.0f}; {PUBLISHED}")


if __name__ == "__main__":
    main()
