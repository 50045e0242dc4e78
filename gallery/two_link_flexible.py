"""Two flexible links: [Everett1988] eq. 33-37 at work, with control at the joints and torques for a
motion that is given.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from catena.analysis.linearization import linearize
from catena.analysis.vibration import modes
from catena.certify import check
from catena.equations.formulations import formulation
from catena.errors import MechanismWarning
from catena.formats import load
from catena.model.beams import Beam
from catena.model.flexible import discretise
from catena.model.mechanism import Body, Joint, Mechanism
from catena.model.pose import Pose
from catena.results.plots import plot
from catena.results.plots.bending import deflections
from catena.results.result import Result
from catena.simulation import simulate
from catena.simulation.control import PD
from catena.simulation.trajectories import cycloid

from .drawing import over_time
from .page import Example, Number, Page, Picture, Table, number

ROOTS = np.square([1.8751040687119611, 4.694091132974175])  # of a cantilever
START = {"shoulder": -np.pi / 6, "elbow": np.radians(80)}
END = {"shoulder": np.pi / 3, "elbow": np.radians(20)}
LASTS = 1.0  # s
MOVE = cycloid([0.0, LASTS], {name: [START[name], END[name]] for name in START})
KP = {"shoulder": 150.0, "elbow": 60.0}
KD = {"shoulder": 40.0, "elbow": 12.0}
COUNTS = (2, 3, 4, 6)


def run() -> Page:
    """The arm led by its joints, the torques of the same motion prescribed, and what the choice of
    shapes does.
    """
    m = load("two_link_flexible")
    led = simulate(m, q=_at(m, START), until=2.0, output=0.01, control=PD(KP, KD, MOVE))
    driven = {
        name: simulate(arm, q=_at(arm, START), until=1.6, output=0.01, motion=MOVE)
        for name, arm in (("flexible", m), ("rigid", _rigid(m)))
    }
    errors = {n: (_straight(n, True), _straight(n, False)) for n in COUNTS}
    worst = max(
        f.acceleration or 0.0
        for f in check(m, states=10, run=False).findings
        if not formulation(f.formulation).approximate
    )
    return Page(
        (
            number(
                "twelve formulations, all but penalty: largest relative difference",
                worst,
                reference=0.0,
                within=1e-9,
            ),
            number(
                "joints locked in line, two links of 1 m and four powers each: two frequencies"
                " compared with one beam of 2 m, less one",
                errors[4][0],
                reference=(0.0, 0.0),
                basis="closed form, roots of cos cosh = -1",
                within=1e-5,
            ),
            *_ringing(m),
            number(
                "work of the joints less what is left in the arm and lost in it, relative to the"
                " largest kinetic energy",
                led.ledger.relative_energy_balance,
                reference=0.0,
                within=1e-8,
            ),
        ),
        (
            Picture(plot(led, "cyclograph", until=1.2, title=""), "The arm led from its joints."),
            Picture(
                _led(led),
                "Joints lag behind their aim and links bend; soft control at the joints takes the"
                " ringing out of them.",
            ),
            Picture(
                _torques(driven),
                "The torques of one and the same motion of the joints, for flexible and for rigid"
                " links. The motion ends at 1 s (dotted); to hold the joints still then, the motors"
                " must bear the ringing.",
            ),
        ),
        tables=(_table(errors),),
        text=(
            "The amplitudes of the shapes are coordinates like the joints' angles. What is given"
            " and what is asked for may be mixed: here the joints' motion is given, the shapes move"
            " as they must, and the torques come out (`motion` of a run, `hybrid_dynamics` at one"
            " instant). Which shapes are taken matters more than how many: those of a cantilever"
            " have no moment at their end, but the end of the upper link carries the other one."
        ),
    )


def _at(m: Mechanism, angles: dict[str, float]) -> list[float]:
    return [angles.get(name, 0.0) for name in discretise(m).coordinate_names]


def _rigid(m: Mechanism) -> Mechanism:
    """The same arm with rigid links."""
    bodies = [b if b.flexible is None else Body(b.name, *b.flexible.rigid()) for b in m.bodies]
    return Mechanism("two rigid links", bodies, m.joints, gravity=m.gravity)


# --- vibration
def _straight(n: int, powers: bool) -> np.ndarray:
    """Two frequencies of two links in one line, locked, compared with those of the beam they
    make, less one.
    """
    shapes = [f"(x/L)^{k}" for k in range(2, n + 2)] if powers else None
    links = [
        Body(name, flexible=Beam(1.0, 0.8, EI=(40.0, None), modes={"y": n}, shapes=shapes))
        for name in ("upper", "fore")
    ]
    joints = [
        Joint("shoulder", "fixed", "ground", "upper"),
        Joint("elbow", "fixed", "upper", "fore", Pose(position=(1.0, 0, 0))),
    ]
    line = Mechanism("line", tuple(links), tuple(joints), gravity=(0, 0, 0))
    with warnings.catch_warnings():  # of shapes that do not suit: the table shows by how much
        warnings.simplefilter("ignore", MechanismWarning)
        found = modes(line).frequencies[:2]
    return found / (ROOTS * np.sqrt(40.0 / 0.8 / 2.0**4)) - 1


def _ringing(m: Mechanism) -> list[Number]:
    """The slowest vibration of the arm under control: as its poles say, and as a run shows it."""
    q = np.array(_at(m, END))
    state = linearize(m, q, actuated=["shoulder", "elbow"])
    K = np.zeros((2, len(state.A)))
    for row, name in enumerate(state.inputs):
        (
            K[row, state.coordinates.index(name)],
            K[row, len(state.coordinates) + state.speeds.index(name)],
        ) = (
            KP[name],
            KD[name],
        )
    A = state.A - state.B @ K
    poles = np.linalg.eigvals(A)
    # what dies out last, of all that rings
    slow = max(poles[poles.imag > 1.0], key=lambda p: p.real)
    values, vectors = np.linalg.eig(A)
    y = vectors[:, int(np.argmin(np.abs(values - slow)))].real
    y *= 1e-4 / np.abs(y).max()
    n = len(state.coordinates)
    run = simulate(
        m,
        q + y[:n],
        y[n:],
        until=4 * np.pi / slow.imag,
        output=2 * np.pi / slow.imag / 100,
        control=PD(KP, KD, END),
        tolerance=1e-12,
    )
    k = int(np.argmax(np.abs(y[:n])))
    x = run.q.values[:, k] - q[k]
    decay = np.log(x[0] / x[100]) * slow.imag / (2 * np.pi)
    return [
        number(
            "decay of its last ringing under control, by a run",
            decay,
            reference=-slow.real,
            basis="the poles",
            unit="1/s",
            within=1e-3,
        )
    ]


# --- pictures
def _led(led: Result) -> Any:
    q = np.degrees(led.q.values)
    t = led.time
    names = list(led.data["coordinate"].values)
    aim = {name: np.degrees(MOVE.of([name])(np.minimum(t, LASTS))[0][:, 0]) for name in START}
    off = {name: q[:, names.index(name)] - aim[name] for name in START}
    bent = {name: 1e3 * w for name, w in deflections(led).items() if name.endswith("y")}
    return over_time(
        t,
        [("joint less its aim (deg)", off), ("tip relative to its link (mm)", bent)],
        marks=(LASTS,),
    )


def _torques(driven: dict[str, Result]) -> Any:
    lines: list[tuple[str, dict[str, Any]]] = []
    for joint in START:
        found = {name: r.data["tau"].sel(speed=joint).values for name, r in driven.items()}
        lines.append((f"{joint} (N m)", found))
    return over_time(driven["flexible"].time, lines, marks=(LASTS,))


def _table(errors: dict[int, tuple[np.ndarray, np.ndarray]]) -> Table:
    rows = tuple(
        (str(n), *(f"{abs(x):.1e}" for x in (*powers, *own))) for n, (powers, own) in errors.items()
    )
    return Table(
        "Two links locked in one line, compared with one beam: relative error of two frequencies",
        (
            "shapes a link",
            "powers, first",
            "powers, second",
            "cantilever's, first",
            "cantilever's, second",
        ),
        rows,
        "A cantilever's own shapes leave the elbow without moment; powers of x do not.",
    )


EXAMPLE = Example(
    "Two flexible links",
    "L. J. Everett, An Alternative Algebra for Deriving Equations of Motion of Flexible"
    " Manipulators, Journal of Robotic Systems 5(6), 1988: eq. 33-41.",
    "Flexible links by modes with shapes of one's own: control at the joints, torques of a given"
    " motion, formulations that agree.",
    ("two_link_flexible",),
    run,
    commands=(
        "catena run two_link_flexible",
        "catena check two_link_flexible --states 10",
        "catena modes two_link_flexible",
    ),
)
