"""One truth behind every door: the same question gives the same number, or a refusal by name.

A row of this table is a question, a column a door: a way to put the question to catena. `door` adds
one. The first door of a question is the reference; the others must give its numbers or refuse, and
must refuse where it refuses. Everything is asked of random mechanisms with loops, losses, springs,
drives, gears, cams and contacts, each written to a file with a scenario, as a user has it.

    CASES      name -> Case: a mechanism, a state, and the coordinate that is driven
    DOORS      (question, door) -> Door: a function of a Case that gives an array or raises
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import catena
from catena import Body, Contact, Frame, Joint, Mechanism, Pose, analysis, compile, simulate
from catena.cli import app
from catena.errors import CatenaError
from catena.exports.plant import plant
from catena.model.loads import Cam, Coupling, Drive, GearPair, JointSpring
from catena.simulation import trajectories
from catena.simulation.scenario import read

pytestmark = pytest.mark.filterwarnings("ignore::catena.errors.MechanismWarning")
TURN = {"axis": (0, 0, 1)}
NUMBERS = count()  # of files and folders, so that no two have one name
SOON = 0.02  # s: how long "soon" runs last
# relative to the largest number of an answer: short runs to 1e-10, tables and a spline
SAME = 1e-6


# --- cases
@dataclass(frozen=True, eq=False)
class Case:
    """A mechanism at a possible state (q, v), and a coordinate that moves at its speed."""

    name: str
    mechanism: Mechanism
    q: np.ndarray
    v: np.ndarray
    driven: str
    folder: Path

    @property
    def machine(self) -> catena.Machine:
        return _machine(self.mechanism)

    @property
    def place(self) -> int:
        return self.mechanism.speed_names.index(self.driven)

    @property
    def speed(self) -> float:
        return float(self.v[self.place])

    @property
    def slow(self) -> bool:
        """Whether joints are at rest or so slow that smoothed friction is another force."""
        return self.name.split("-")[0] in SPEEDS

    @property
    def angle(self) -> float:
        return float(self.q[self.mechanism.coordinate_names.index(self.driven)])

    def file(self, *extra: str) -> Path:
        """The mechanism with a scenario that starts in the state; extra: lines of the scenario."""
        path = self.folder / f"{self.name}{len(extra)}-{next(NUMBERS)}.toml"
        catena.save(self.mechanism, path)
        q, v = (
            ", ".join(f'"{n}" = {float(x)!r}' for n, x in zip(names, values))
            for names, values in (
                (self.mechanism.coordinate_names, self.q),
                (self.mechanism.speed_names, self.v),
            )
        )
        lines = [
            "[scenario]",
            f"until = {SOON}",
            f"output = {SOON / 4}",
            "tolerance = 1e-10",
            f"initial = {{ q = {{ {q} }}, v = {{ {v} }} }}",
            *extra,
        ]
        path.write_text("\n".join([path.read_text(), *lines, ""]))
        return path

    @property
    def motion(self) -> str:
        return (
            f'motion = {{ kind = "uniform", offset = {{ "{self.driven}" = {self.angle!r} }},'
            f' speed = {{ "{self.driven}" = {self.speed!r} }} }}'
        )


@cache
def _machine(m: Mechanism) -> catena.Machine:
    return compile(m)


def rod(name: str, length: float, rng: np.random.Generator) -> Body:
    mass = rng.uniform(0.5, 2.0)
    inertia = mass * length**2 / 12
    return Body(name, mass, (0.5 * length, 0, 0), (0.01 * inertia, inertia, inertia))


def slider_crank(rng: np.random.Generator) -> tuple[Mechanism, dict[str, float], str]:
    r, l = rng.uniform(0.2, 0.4), rng.uniform(0.8, 1.2)
    bodies = (rod("crank", r, rng), rod("rod", l, rng), rod("piston", 0.1, rng))
    joints = (
        Joint("shaft", "revolute", "ground", "crank", damping=(0.3,), friction=(0.2,), **TURN),
        Joint("pin", "revolute", "crank", "rod", Pose(position=(r, 0, 0)), **TURN),
        Joint(
            "cylinder",
            "prismatic",
            "ground",
            "piston",
            axis=(1, 0, 0),
            friction=(rng.uniform(5, 50),),
            damping=(rng.uniform(1, 20),),
        ),
    )
    wrist = Joint("wrist", "revolute", "rod", "piston", Pose(position=(l, 0, 0)), **TURN)
    spring = JointSpring("spring", "cylinder", stiffness=40.0, rest=0.9)
    m = Mechanism(
        "slider crank", bodies, joints, loops=(wrist,), loads=(spring,), gravity=(0, -9.81, 0)
    )
    return m, {"shaft": rng.uniform(0.5, 1.2), "pin": -0.6, "cylinder": 1.1}, "shaft"


def four_bar(rng: np.random.Generator) -> tuple[Mechanism, dict[str, float], str]:
    a, b, c = rng.uniform(0.2, 0.3), rng.uniform(0.75, 0.85), rng.uniform(0.55, 0.65)
    bodies = (rod("crank", a, rng), rod("coupler", b, rng), rod("rocker", c, rng))
    joints = (
        Joint("A", "revolute", "ground", "crank", **TURN),
        Joint(
            "B", "revolute", "crank", "coupler", Pose(position=(a, 0, 0)), damping=(0.1,), **TURN
        ),
        Joint("D", "revolute", "ground", "rocker", Pose(position=(0.9, 0, 0)), **TURN),
    )
    close = Joint(
        "C",
        "revolute",
        "coupler",
        "rocker",
        Pose(position=(b, 0, 0)),
        offset=Pose(position=(c, 0, 0)),
        **TURN,
    )
    spring = JointSpring("spring", "D", stiffness=15.0, rest=2.0)
    m = Mechanism(
        "four bar", bodies, joints, loops=(close,), loads=(spring,), gravity=(0, -9.81, 0)
    )
    return m, {"A": rng.uniform(0.5, 2.0), "B": -0.6, "D": 2.0}, "A"


def gears(rng: np.random.Generator) -> tuple[Mechanism, dict[str, float], str]:
    bodies = tuple(rod(n, 0.3, rng) for n in ("one", "two", "three"))
    joints = tuple(
        Joint(
            f"axle {k}",
            "revolute",
            "ground",
            b.name,
            Pose(position=(0.4 * k, 0, 0)),
            damping=(0.05,),
            friction=(0.1 * k,),
            **TURN,
        )
        for k, b in enumerate(bodies)
    )
    rows = (
        GearPair("mesh", first="one", second="two", carrier="ground", teeth=(20, 30)),
        Coupling("belt", coordinates=("axle 1", "axle 2"), ratios=(1.0, -2.0)),
    )
    m = Mechanism("gears", bodies, joints, constraints=rows, gravity=(0, -9.81, 0))
    return m, {"axle 0": rng.uniform(0.2, 1.0)}, "axle 0"


def cam(rng: np.random.Generator) -> tuple[Mechanism, dict[str, float], str]:
    bodies = (rod("cam", 0.05, rng), rod("follower", 0.1, rng))
    joints = (
        Joint("shaft", "revolute", "ground", "cam", friction=(0.02,), **TURN),
        Joint("guide", "prismatic", "ground", "follower", axis=(0, 1, 0), damping=(3.0,)),
    )
    row = Cam("lift", cam="shaft", follower="guide", profile="0.03 + 0.01*sin(angle)")
    spring = JointSpring("spring", "guide", stiffness=200.0, rest=-0.02)
    m = Mechanism("cam", bodies, joints, constraints=(row,), loads=(spring,), gravity=(0, -9.81, 0))
    return m, {"shaft": rng.uniform(0.2, 1.0), "guide": 0.03}, "shaft"


def pendulum(rng: np.random.Generator) -> tuple[Mechanism, dict[str, float], str]:
    bodies = tuple(rod(f"rod {k}", 0.5, rng) for k in range(3))
    joints = tuple(
        Joint(
            f"pin {k}",
            "revolute",
            "ground" if k == 0 else f"rod {k - 1}",
            f"rod {k}",
            Pose(position=(0.5 if k else 0.0, 0, 0)),
            damping=(0.2,),
            friction=(0.05 * k,),
            **TURN,
        )
        for k in range(3)
    )
    spring = JointSpring("spring", "pin 2", stiffness=3.0, rest=0.2)
    m = Mechanism("pendulum", bodies, joints, loads=(spring,), gravity=(0, -9.81, 0))
    return m, {f"pin {k}": x for k, x in enumerate(rng.uniform(-1.5, 0.5, 3))}, "pin 0"


def sliding_block(rng: np.random.Generator) -> tuple[Mechanism, dict[str, float], str]:
    """A block that slides on the ground, pressed down by its weight: a contact with friction."""
    body = Body("block", rng.uniform(1, 3), (0, 0, 0), (0.1, 0.1, 0.1))
    bodies = (Body.massless("cart"), body)
    joints = (
        Joint("rail", "prismatic", "ground", "cart", axis=(1, 0, 0)),
        Joint("lift", "prismatic", "cart", "block", axis=(0, 0, 1)),
    )
    m = Mechanism(
        "sliding block",
        bodies,
        joints,
        (Frame("foot", "block", Pose()),),
        contacts=(Contact(("foot", "ground"), rng.uniform(0.2, 0.6), 0.0),),
    )
    return m, {}, "rail"


def held_arm(rng: np.random.Generator) -> tuple[Mechanism, dict[str, float], str]:
    """An arm at rest: dry friction holds its first joint, and the second begins to slip."""
    bodies = tuple(rod(f"rod {k}", 0.5, rng) for k in range(2))
    joints = tuple(
        Joint(
            f"pin {k}",
            "revolute",
            "ground" if k == 0 else "rod 0",
            f"rod {k}",
            Pose(position=(0.5 if k else 0.0, 0, 0)),
            friction=(friction,),
            **TURN,
        )
        for k, friction in enumerate((200.0, 0.3))
    )
    m = Mechanism("held arm", bodies, joints, gravity=(0, -9.81, 0))
    return m, {f"pin {k}": x for k, x in enumerate(rng.uniform(-0.8, 0.5, 2))}, "pin 1"


def creeping_crank(rng: np.random.Generator) -> tuple[Mechanism, dict[str, float], str]:
    """A slider crank that turns so slowly that smoothed friction would be a damper."""
    return slider_crank(rng)


BUILDERS = (slider_crank, four_bar, gears, cam, pendulum, sliding_block, held_arm, creeping_crank)
# rad/s or m/s, of the driven coordinate where it is not 2
SPEEDS = {"held_arm": 0.0, "creeping_crank": 1e-4}
NAMES = [f"{b.__name__}-{seed}" for b in BUILDERS for seed in (1, 2)]


@pytest.fixture(scope="module")
def cases(tmp_path_factory) -> Callable[[str], Case]:
    folder = tmp_path_factory.mktemp("doors")

    @cache
    def one(name: str) -> Case:
        word, seed = name.split("-")
        build = next(b for b in BUILDERS if b.__name__ == word)
        m, guess, driven = build(np.random.default_rng(int(seed)))
        m = m.validate()
        machine = _machine(m)
        q = machine.neutral()
        for key, x in guess.items():
            q[machine.coordinate_names.index(key)] = x
        v = np.zeros(machine.nv)
        v[machine.speed_names.index(driven)] = SPEEDS.get(word, 2.0)
        fixed = [driven] if machine.rows else []
        q, v = catena.assemble(machine, q, v, fixed=fixed)
        if not machine.rows and len(guess) > 1 and word not in SPEEDS:
            v[:] = np.linspace(2.0, -1.0, machine.nv)
        return Case(name, m, q, v, driven, folder)

    return one


# --- doors
@dataclass(frozen=True)
class Door:
    """A way to put a question: its answer for a case, an array, or a CatenaError."""

    question: str
    name: str
    ask: Callable[[Case], Any]


DOORS: dict[tuple[str, str], Door] = {}


def door(question: str, name: str) -> Callable[[Callable[[Case], Any]], Callable[[Case], Any]]:
    """Register a door; the first of a question is the reference."""

    def add(ask: Callable[[Case], Any]) -> Callable[[Case], Any]:
        DOORS[question, name] = Door(question, name, ask)
        return ask

    return add


@dataclass(frozen=True)
class Refused:
    """No number, and why."""

    why: str


def answer(ask: Callable[[Case], Any], case: Case) -> np.ndarray | Refused:
    try:
        return np.asarray(ask(case), float)
    except CatenaError as error:
        return Refused(str(error))


def command(*words: object) -> str:
    """The output of a command; its refusal is a CatenaError."""
    found = CliRunner().invoke(app, [str(w) for w in words])
    if found.exit_code:
        if isinstance(found.exception, CatenaError):
            raise found.exception
        raise CatenaError(found.output or repr(found.exception))
    return found.output


@cache
def ran(case: Case, *extra: str) -> catena.Result:
    """The result of `catena run` on the written file."""
    folder = case.folder / f"{case.name}-run{len(extra)}-{next(NUMBERS)}"
    command("run", case.file(*extra), "--out", folder)
    return catena.load_result(folder / "results.nc")


@cache
def in_studio(case: Case, *extra: str) -> catena.Result:
    from catena.studio.live_model import LiveModel

    path = case.file(*extra)
    model = LiveModel(path)
    found = model.read(path.read_text())
    if found.scenario is None:
        raise CatenaError("; ".join(found.faults))
    return model.run(found.scenario)


# --- what accelerations does the state have, when nothing drives it?
FREE = "accelerations of the free motion"


@door(FREE, "simulate")
def _(case: Case) -> Any:
    return simulate(case.mechanism, case.q, case.v, SOON).data["a"].values[0]


@door(FREE, "run")
def _(case: Case) -> Any:
    return ran(case).data["a"].values[0]


@door(FREE, "studio")
def _(case: Case) -> Any:
    return in_studio(case).data["a"].values[0]


@door(FREE, "hybrid_dynamics")
def _(case: Case) -> Any:
    return catena.hybrid_dynamics(case.machine, case.q, case.v)[1]


@door(FREE, "forward_dynamics with losses")
def _(case: Case) -> Any:
    if case.mechanism.contacts:
        raise CatenaError("a Machine knows no contacts: 'foot-ground'")
    if case.slow:
        pytest.skip("Machine.losses smooths dry friction over small speeds, and says so")
    return case.machine.forward_dynamics(case.q, case.v, case.machine.losses(case.v))


@door(FREE, "linearize")
def _(case: Case) -> Any:
    if not case.v.any():
        pytest.skip("linearize takes joints at rest as without dry friction, and says so")
    outputs = [f"a['{name}']" for name in case.mechanism.speed_names]
    return catena.linearize(case.machine, case.q, case.v, outputs=outputs).y


@door(FREE, "linearize, a batch")
def _(case: Case) -> Any:
    if not case.v.any():
        pytest.skip("linearize takes joints at rest as without dry friction, and says so")
    outputs = [f"a['{name}']" for name in case.mechanism.speed_names]
    return catena.linearize(case.machine, case.q[None], case.v[None], outputs=outputs).y[0]


@door(FREE, "lagrange")
def _(case: Case) -> Any:
    return simulate(case.mechanism, case.q, case.v, SOON, by="lagrange").data["a"].values[0]


@door(FREE, "export")
def _(case: Case) -> Any:
    p = plant(case.mechanism, case.q, case.v)
    rate = p.derivative(0, p.start, np.zeros(len(p.inputs)), [x.start for x in p.parameters])
    return np.array(rate).ravel()[case.machine.nq :][: case.machine.nv]


@door(FREE, "page")
def _(case: Case) -> Any:
    from catena.model import rough_joints
    from catena.studio.running_page import page, program, smoothed_friction

    if case.slow:
        said = " ".join(smoothed_friction(case.mechanism))
        assert all(repr(name) in said for name in rough_joints(case.mechanism))
        pytest.skip("the page says by name which joints' dry friction it smooths")
    page(case.mechanism, case.folder / f"{case.name}.html", q=case.q, v=case.v)
    wasm = pytest.importorskip("wasm")
    pytest.importorskip("wasmtime")
    made = program(case.mechanism)
    p = list(case.mechanism.parameters.values())
    given = np.array([0.0, *case.q, *case.v, 0.0, *np.zeros(made.sizes["u"]), *p])
    rate = wasm.Instance(made.wasm).call("derivative", given, made.sizes["x"])
    return rate[case.machine.nq :][: case.machine.nv]


# --- how do the accelerations change with the state?
DERIVATIVE = "derivative of the accelerations along the motion"


def along(case: Case, f: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> np.ndarray:
    """The derivative of f(q, v) along the motion with the speeds as they are, by differences."""
    h = 1e-6
    ends = []
    for s in (h, -h):
        q = case.machine.move(case.q, s * case.v)
        q, v = catena.assemble(case.machine, q, case.v, fixed=[case.driven])
        ends.append(f(q, v))
    return (ends[0] - ends[1]) / (2 * h)


def smooth(case: Case) -> None:
    if case.slow or case.mechanism.contacts:
        pytest.skip("friction at rest and contacts have no derivative")


@door(DERIVATIVE, "hybrid_dynamics")
def _(case: Case) -> Any:
    smooth(case)
    return along(case, lambda q, v: catena.hybrid_dynamics(case.machine, q, v)[1])


@door(DERIVATIVE, "linearize")
def _(case: Case) -> Any:
    smooth(case)
    outputs = [f"a['{name}']" for name in case.mechanism.speed_names]
    x = catena.linearize(case.machine, case.q, case.v, outputs=outputs)
    names = case.mechanism.speed_names
    dz = [case.v[names.index(n)] for n in x.coordinates]
    # how the independent speeds change along it, with the driven one as it is
    dw = along(case, lambda q, v: v)[[names.index(n) for n in x.speeds]]
    return x.C @ [*dz, *dw]


# --- how do the speeds change by a blow?
BLOW = "change of the speeds by an impulse"
SIZE = 0.3  # N m s or N s


@door(BLOW, "simulate")
def _(case: Case) -> Any:
    strike = catena.events.Impulse(joint={case.driven: SIZE}, at=SOON / 2)
    found = simulate(case.mechanism, case.q, case.v, SOON, events=[strike]).data
    k = next(i for i, name in enumerate(found["event"].values) if "impulse" in str(name))
    return found["event_v_after"].values[k] - found["event_v_before"].values[k]


@door(BLOW, "run")
def _(case: Case) -> Any:
    strike = f'event = "impulse", joint = {{ "{case.driven}" = {SIZE} }}, at = {SOON / 2}'
    found = ran(case, f"events = [{{ {strike} }}]").data
    k = next(i for i, name in enumerate(found["event"].values) if "impulse" in str(name))
    return found["event_v_after"].values[k] - found["event_v_before"].values[k]


@door(BLOW, "impulse")
def _(case: Case) -> Any:
    found = simulate(case.mechanism, case.q, case.v, SOON / 2, tolerance=1e-11).data
    q, v = (found[x].values[-1] for x in "qv")
    return catena.impulse(case.machine, q, v, joint={case.driven: SIZE}, project=True).dv


# --- how heavy is it, and what inertia does a coordinate move?
INERTIA = "mass matrix"


@door(INERTIA, "machine")
def _(case: Case) -> Any:
    return case.machine.mass_matrix(case.q)


@door(INERTIA, "kinetic energies")
def _(case: Case) -> Any:
    """T of unit speeds, of which the energy is 1/2 v' M v; for open mechanisms, without rows."""
    unit = np.eye(case.machine.nv)
    T = lambda v: float(case.machine.energy(case.q, v)[0])  # noqa: E731
    return [[T(a + b) - T(a) - T(b) if a is not b else 2 * T(a) for b in unit] for a in unit]


@door(INERTIA, "inverse dynamics")
def _(case: Case) -> Any:
    none = np.zeros(case.machine.nv)
    rest = case.machine.inverse_dynamics(case.q, none, none)
    rows = [case.machine.inverse_dynamics(case.q, none, e) - rest for e in np.eye(case.machine.nv)]
    return np.array(rows).T


@door(INERTIA, "lagrange")
def _(case: Case) -> Any:
    return compile(catena.derive(case.mechanism, by="lagrange")).mass_matrix(case.q)


@door(INERTIA, "file")
def _(case: Case) -> Any:
    return compile(catena.load(case.file())).mass_matrix(case.q)


WEIGHT = "total mass"


@door(WEIGHT, "bodies")
def _(case: Case) -> Any:
    return sum(float(b.mass) for b in case.mechanism.bodies)


@door(WEIGHT, "info")
def _(case: Case) -> Any:
    return json.loads(command("info", case.file(), "--json"))["total_mass"]


@door(WEIGHT, "report")
def _(case: Case) -> Any:
    from catena.report.subject import Subject

    return Subject(read(case.file())).facts["total_mass"]


# --- what force does it take to keep a coordinate at its speed?
MOTOR = "force of a prescribed motion"


def uniform(case: Case) -> Any:
    return trajectories.uniform({case.driven: case.speed}, offset={case.driven: case.angle})


@door(MOTOR, "simulate")
def _(case: Case) -> Any:
    if case.slow:
        pytest.skip("a prescribed motion smooths dry friction, and the ledger says so")
    found = simulate(case.mechanism, case.q, case.v, SOON, motion=uniform(case))
    return found.data["tau"].values[0, case.place]


@door(MOTOR, "run")
def _(case: Case) -> Any:
    return ran(case, case.motion).data["tau"].values[0, case.place]


@door(MOTOR, "table")
def _(case: Case) -> Any:
    return ran(case, case.motion).to_pandas()[f"tau {case.driven}"].iloc[0]


@door(MOTOR, "plot")
def _(case: Case) -> Any:
    figure = ran(case, case.motion).plot("torques")
    lines = {line.get_label(): line for ax in figure.axes for line in ax.get_lines()}
    if len(lines) == 1:
        return next(iter(lines.values())).get_ydata()[0]
    return lines[case.driven].get_ydata()[0]


@door(MOTOR, "studio")
def _(case: Case) -> Any:
    return in_studio(case, case.motion).data["tau"].values[0, case.place]


@door(MOTOR, "hybrid_dynamics")
def _(case: Case) -> Any:
    found = catena.hybrid_dynamics(case.machine, case.q, case.v, {case.driven: 0.0})
    return found[0][case.place]


@door(MOTOR, "inverse_dynamics")
def _(case: Case) -> Any:
    _, a = catena.hybrid_dynamics(case.machine, case.q, case.v, {case.driven: 0.0})
    found = analysis.inverse_dynamics(case.machine, case.q, case.v, a, [case.driven])
    return found.tau[case.place]


@door(MOTOR, "inverse")
def _(case: Case) -> Any:
    path = case.folder / f"{case.name}.csv"
    times = np.linspace(0.0, SOON, 9)
    rows = [f"{t!r},{case.angle + case.speed * t!r}" for t in times.tolist()]
    path.write_text("\n".join([f"time,{case.driven}", *rows, ""]))
    found = command("inverse", case.file(), "--trajectory", path, "--csv").splitlines()
    columns = dict(zip(found[0].split(","), found[1].split(",")))
    return columns[f"tau {case.driven}"]


def with_drive(case: Case) -> Mechanism:
    drive = Drive("motor", coordinate=case.driven, motion=f"{case.angle!r} + {case.speed!r}*t")
    return case.mechanism.with_(constraints=(*case.mechanism.constraints, drive))


@door(MOTOR, "drive among the constraints")
def _(case: Case) -> Any:
    return simulate(with_drive(case), case.q, case.v, SOON).drive_forces().values[0, 0]


@door(MOTOR, "table of a drive")
def _(case: Case) -> Any:
    table = simulate(with_drive(case), case.q, case.v, SOON).to_pandas()
    return table["drive motor"].iloc[0]


@door(MOTOR, "plot of a drive")
def _(case: Case) -> Any:
    figure = simulate(with_drive(case), case.q, case.v, SOON).plot("torques")
    return figure.axes[0].get_lines()[0].get_ydata()[0]


@door(MOTOR, "export")
def _(case: Case) -> Any:
    from catena.exports.plant import plant_of_scenario

    return plant_of_scenario(read(case.file(case.motion))).start  # it refuses, by name


# --- what force keeps a coordinate at its speed, however slow, against dry friction?
DRIVE = "force of a drive"


@door(DRIVE, "drive among the constraints")
def _(case: Case) -> Any:
    return simulate(with_drive(case), case.q, case.v, SOON).drive_forces().values[0, 0]


@door(DRIVE, "table")
def _(case: Case) -> Any:
    table = simulate(with_drive(case), case.q, case.v, SOON).to_pandas()
    return table["drive motor"].iloc[0]


@door(DRIVE, "plot")
def _(case: Case) -> Any:
    figure = simulate(with_drive(case), case.q, case.v, SOON).plot("torques")
    return figure.axes[0].get_lines()[0].get_ydata()[0]


@door(DRIVE, "hybrid_dynamics")
def _(case: Case) -> Any:
    found = catena.hybrid_dynamics(case.machine, case.q, case.v, {case.driven: 0.0})
    return found[0][case.place]


# --- how many freedoms has it?
FREEDOMS = "degrees of freedom"


@door(FREEDOMS, "mobility")
def _(case: Case) -> Any:
    return catena.mobility(case.machine, case.q).degrees_of_freedom


@door(FREEDOMS, "mobility of a batch")
def _(case: Case) -> Any:
    return catena.mobility(case.machine, case.q[None]).degrees_of_freedom[0]


@door(FREEDOMS, "info")
def _(case: Case) -> Any:
    told = json.loads(command("info", case.file(), "--json"))
    return told["mobility"]["degrees_of_freedom"]


@door(FREEDOMS, "report")
def _(case: Case) -> Any:
    from catena.report.subject import Subject

    return Subject(read(case.file())).facts["mobility"]["degrees_of_freedom"]


@door(FREEDOMS, "linearize")
def _(case: Case) -> Any:
    return len(catena.linearize(case.machine, case.q, case.v).speeds)


# --- what energies has it?
ENERGY = "energies"


@door(ENERGY, "machine")
def _(case: Case) -> Any:
    return case.machine.energy(case.q, case.v)


@door(ENERGY, "simulate")
def _(case: Case) -> Any:
    found = simulate(case.mechanism, case.q, case.v, SOON).data
    return [found[name].values[0] for name in ("kinetic", "potential")]


@door(ENERGY, "table")
def _(case: Case) -> Any:
    return ran(case).to_pandas()[["kinetic", "potential"]].iloc[0]


@door(ENERGY, "studio")
def _(case: Case) -> Any:
    found = in_studio(case).data
    return [found[name].values[0] for name in ("kinetic", "potential")]


LATER = "energies after a while"


def later(found: Any) -> Any:
    return [found[name].values[-1] for name in ("kinetic", "potential", "work")]


@door(LATER, "simulate")
def _(case: Case) -> Any:
    return later(simulate(case.mechanism, case.q, case.v, SOON, tolerance=1e-10).data)


@door(LATER, "table")
def _(case: Case) -> Any:
    return ran(case).to_pandas()[["kinetic", "potential", "work"]].iloc[-1]


@door(LATER, "csv")
def _(case: Case) -> Any:
    folder = case.folder / f"{case.name}-csv-{next(NUMBERS)}"
    command("run", case.file(), "--out", folder, "--csv")
    lines = (folder / "results.csv").read_text().splitlines()
    head = next(k for k, line in enumerate(lines) if "kinetic" in line)
    names = [x.split(" (")[0].strip('" ') for x in lines[head].split(",")]
    last = dict(zip(names, lines[-1].split(",")))
    return [float(last[name]) for name in ("kinetic", "potential", "work")]


@door(LATER, "study")
def _(case: Case) -> Any:
    one = case.mechanism.coordinate_names[0]
    found = catena.study(
        case.mechanism,
        {f"q.{one}": [float(case.q[0])]},
        measures={name: f"final({name})" for name in ("kinetic", "potential", "work")},
        q=case.q,
        v=case.v,
        until=SOON,
        tolerance=1e-10,
    ).run()
    return [np.ravel(found[name])[0] for name in ("kinetic", "potential", "work")]


@door(LATER, "energies of the last state")
def _(case: Case) -> Any:
    found = ran(case).data
    energy = case.machine.energy(found["q"].values[-1], found["v"].values[-1])
    return [*energy, found["work"].values[-1]]


# --- how fast does it vibrate?
MODES = "natural frequencies, rad/s"


@door(MODES, "modes")
def _(case: Case) -> Any:
    q = catena.equilibrium(case.machine, case.q)
    return catena.modes(case.machine, q).frequencies


@door(MODES, "command")
def _(case: Case) -> Any:
    told = json.loads(command("modes", case.file(), "--json"))
    return [row["rad/s"] for row in told["modes"]]


@door(MODES, "linearize")
def _(case: Case) -> Any:
    q = catena.equilibrium(case.machine, case.q)
    poles = catena.linearize(case.machine, q, damping=False).poles
    return np.sort(poles.imag[poles.imag > 0])


# --- what does it do in a state that cannot be?
IMPOSSIBLE = "a state off its rows"


def off(case: Case) -> Case:
    """The state with one speed that the rows do not allow; a tree has none."""
    if not case.machine.rows:
        pytest.skip("a tree has no rows to break")
    v = case.v.copy()
    v[case.place] += 1.0
    return replace(case, v=v)


@door(IMPOSSIBLE, "simulate")
def _(case: Case) -> Any:
    return simulate(case.mechanism, case.q, off(case).v, SOON).data["a"].values[0]


@door(IMPOSSIBLE, "forward_dynamics")
def _(case: Case) -> Any:
    return case.machine.forward_dynamics(case.q, off(case).v, 0 * case.v)


@door(IMPOSSIBLE, "hybrid_dynamics")
def _(case: Case) -> Any:
    return catena.hybrid_dynamics(case.machine, case.q, off(case).v)[1]


@door(IMPOSSIBLE, "inverse_dynamics")
def _(case: Case) -> Any:
    return analysis.inverse_dynamics(case.machine, case.q, off(case).v, 0 * case.v).tau


@door(IMPOSSIBLE, "multipliers")
def _(case: Case) -> Any:
    return case.machine.multipliers(case.q, off(case).v, 0 * case.v)


@door(IMPOSSIBLE, "reactions")
def _(case: Case) -> Any:
    found = case.machine.reactions(case.q, off(case).v, 0 * case.v, tau=0 * case.v)
    return next(iter(found.values()))


@door(IMPOSSIBLE, "impulse")
def _(case: Case) -> Any:
    return catena.impulse(case.machine, case.q, off(case).v, joint={case.driven: 1.0}).dv


@door(IMPOSSIBLE, "linearize")
def _(case: Case) -> Any:
    return catena.linearize(case.machine, case.q, off(case).v).A


@door(IMPOSSIBLE, "run")
def _(case: Case) -> Any:
    return ran(off(case)).data["a"].values[0]


@door(IMPOSSIBLE, "studio")
def _(case: Case) -> Any:
    return in_studio(off(case)).data["a"].values[0]


@door(IMPOSSIBLE, "export")
def _(case: Case) -> Any:
    p = plant(case.mechanism, case.q, off(case).v)
    return p.derivative(0, p.start, np.zeros(len(p.inputs)), [x.start for x in p.parameters])


@door(IMPOSSIBLE, "page")
def _(case: Case) -> Any:
    from catena.studio.running_page import page

    path = case.folder / f"{case.name}-off.html"
    return page(case.mechanism, path, q=case.q, v=off(case).v).stat().st_size


@door(IMPOSSIBLE, "operator")
def _(case: Case) -> Any:
    torch = pytest.importorskip("torch")
    given = [torch.tensor(x) for x in (case.q, off(case).v, 0 * case.v)]
    return case.machine.torch("forward_dynamics")(*given).numpy()


OPEN_LOOP = "a configuration with an open loop"


def opened(case: Case) -> Case:
    """The configuration with one coordinate moved, so that loops are open; a tree has none."""
    if not case.machine.rows:
        pytest.skip("a tree has no rows to break")
    q = case.q.copy()
    q[case.mechanism.coordinate_names.index(case.driven)] += 0.37
    return replace(case, q=q)


@door(OPEN_LOOP, "simulate")
def _(case: Case) -> Any:
    return simulate(case.mechanism, opened(case).q, case.v, SOON).data["a"].values[0]


@door(OPEN_LOOP, "run")
def _(case: Case) -> Any:
    return ran(opened(case)).data["a"].values[0]


@door(OPEN_LOOP, "studio")
def _(case: Case) -> Any:
    return in_studio(opened(case)).data["a"].values[0]


@door(OPEN_LOOP, "forward_dynamics")
def _(case: Case) -> Any:
    return case.machine.forward_dynamics(opened(case).q, case.v, 0 * case.v)


@door(OPEN_LOOP, "hybrid_dynamics")
def _(case: Case) -> Any:
    return catena.hybrid_dynamics(case.machine, opened(case).q, case.v)[1]


@door(OPEN_LOOP, "static_torques")
def _(case: Case) -> Any:
    return analysis.static_torques(case.machine, opened(case).q).tau


@door(OPEN_LOOP, "modes")
def _(case: Case) -> Any:
    return catena.modes(case.machine, opened(case).q).squares


@door(OPEN_LOOP, "export")
def _(case: Case) -> Any:
    p = plant(case.mechanism, opened(case).q, case.v)
    return p.derivative(0, p.start, np.zeros(len(p.inputs)), [x.start for x in p.parameters])


@door(OPEN_LOOP, "page")
def _(case: Case) -> Any:
    from catena.studio.running_page import page

    path = case.folder / f"{case.name}-open.html"
    return page(case.mechanism, path, q=opened(case).q, v=case.v).stat().st_size


# --- what do the joints carry?
REACTIONS = "wrenches in the joints"


def stacked(found: dict[str, np.ndarray]) -> np.ndarray:
    return np.nan_to_num(np.stack(list(found.values())))


@door(REACTIONS, "simulate")
def _(case: Case) -> Any:
    found = simulate(case.mechanism, case.q, case.v, SOON).reactions().values[0]
    return np.nan_to_num(found)


@door(REACTIONS, "run")
def _(case: Case) -> Any:
    return np.nan_to_num(ran(case).reactions().values[0])


@door(REACTIONS, "hybrid_dynamics, then reactions")
def _(case: Case) -> Any:
    tau, a = catena.hybrid_dynamics(case.machine, case.q, case.v)
    whole = tau + case.machine.losses(case.v)
    return stacked(case.machine.reactions(case.q, case.v, a, tau=whole))


@door(REACTIONS, "drive, then none")
def _(case: Case) -> Any:
    """A motor that gives what it takes to keep the free acceleration gives nothing."""
    a = catena.hybrid_dynamics(case.machine, case.q, case.v)[1]
    driven = {case.driven: a[case.place]}
    tau, a = catena.hybrid_dynamics(case.machine, case.q, case.v, driven)
    whole = tau + case.machine.losses(case.v)
    return stacked(case.machine.reactions(case.q, case.v, a, tau=whole))


# --- how hard do bodies press on each other?
PRESSED = "contact forces"


def pressed(found: catena.Result) -> Any:
    return found.contacts.force.values[-1]


@door(PRESSED, "simulate")
def _(case: Case) -> Any:
    touching(case)
    return pressed(simulate(case.mechanism, case.q, case.v, SOON))


def touching(case: Case) -> None:
    if not case.mechanism.contacts:
        pytest.skip("nothing touches")


@door(PRESSED, "run")
def _(case: Case) -> Any:
    return pressed(ran(case))


@door(PRESSED, "studio")
def _(case: Case) -> Any:
    return pressed(in_studio(case))


@door(PRESSED, "time stepping")
def _(case: Case) -> Any:
    more = {"contact": "time_stepping", "step": SOON / 100}
    return pressed(simulate(case.mechanism, case.q, case.v, SOON, **more))


@door(PRESSED, "lagrange")
def _(case: Case) -> Any:
    return pressed(simulate(case.mechanism, case.q, case.v, SOON, by="lagrange"))


@door(PRESSED, "contact ranges")
def _(case: Case) -> Any:
    v = simulate(case.mechanism, case.q, case.v, SOON)
    last = (v.data[x].values[-1] for x in ("q", "v", "a"))
    found = catena.contact_ranges(case.machine, *last)
    return [[found.friction[0, 0, 0], found.friction[0, 1, 0], found.normal[0, 0]]]


# --- where is it soon?
SOON_AT = "state after a short while"


@door(SOON_AT, "simulate")
def _(case: Case) -> Any:
    found = simulate(case.mechanism, case.q, case.v, SOON, tolerance=1e-10).data
    return np.concatenate([found["q"].values[-1], found["v"].values[-1]])


@door(SOON_AT, "run")
def _(case: Case) -> Any:
    found = ran(case).data
    return np.concatenate([found["q"].values[-1], found["v"].values[-1]])


@door(SOON_AT, "studio")
def _(case: Case) -> Any:
    found = in_studio(case).data
    return np.concatenate([found["q"].values[-1], found["v"].values[-1]])


@door(SOON_AT, "sensitivities")
def _(case: Case) -> Any:
    found = catena.sensitivities(
        case.mechanism, with_respect_to=["v0"], q=case.q, v=case.v, until=SOON
    )
    return found.values


@door(SOON_AT, "study")
def _(case: Case) -> Any:
    one = case.mechanism.coordinate_names[0]
    names = [*(f"q['{n}']" for n in case.mechanism.coordinate_names)]
    names += [f"v['{n}']" for n in case.mechanism.speed_names]
    found = catena.study(
        case.mechanism,
        {f"q.{one}": [float(case.q[0])]},
        measures={f"m{k}": f"last({n})" for k, n in enumerate(names)},
        q=case.q,
        v=case.v,
        until=SOON,
        tolerance=1e-10,
    ).run()
    return [np.ravel(found[f"m{k}"])[0] for k in range(len(names))]


@door(SOON_AT, "fmu")
def _(case: Case) -> Any:
    fmpy = pytest.importorskip("fmpy")
    from catena.exports.fmi.package import write_fmu

    if not case.name.endswith("-1"):
        pytest.skip("one FMU of each kind")
    p = plant(case.mechanism, case.q, case.v, until=SOON)
    fmu = write_fmu(p, case.folder / f"{case.name}.fmu", 2)
    found = fmpy.simulate_fmu(
        str(fmu.path),
        stop_time=SOON,
        output_interval=SOON / 4,
        relative_tolerance=1e-10,
        fmi_type="ModelExchange",
        output=[x.name for x in p.states],
    )
    row = found[-1]
    return [row[x.name] for x in p.states][: case.machine.nq + case.machine.nv]


# --- the table
REFERENCE = {}
for _question, _name in DOORS:
    REFERENCE.setdefault(_question, _name)
PAIRS = [key for key in DOORS if REFERENCE[key[0]] != key[1]]


def compare(case: Case, question: str, name: str) -> None:
    """Fail where a door gives another number than the reference, or refuses without a name."""
    wanted = answer(DOORS[question, REFERENCE[question]].ask, case)
    found = answer(DOORS[question, name].ask, case)
    if isinstance(found, Refused):
        assert any(n in found.why for n in named(case.mechanism)), found.why
        return
    assert not isinstance(wanted, Refused), (
        f"{REFERENCE[question]} refuses ({wanted.why}), {name} answers {found}"
    )
    scale = max(np.abs(wanted).max(initial=0.0), 1e-9)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=SAME * scale)


def named(m: Mechanism) -> set[str]:
    """The names that a refusal may give: parts of the mechanism, or of its scenario."""
    groups = ("bodies", "joints", "loops", "constraints", "contacts", "frames")
    parts = {x.name for group in groups for x in getattr(m, group)}
    return parts | {m.name, "prescribed motion"}


@pytest.mark.parametrize("question, name", PAIRS, ids=["; ".join(key) for key in PAIRS])
@pytest.mark.parametrize("of", NAMES)
def test_the_same_number_or_a_refusal_by_name(cases, monkeypatch, of, question, name):
    monkeypatch.setenv("CFLAGS", "-O0")  # FMUs
    compare(cases(of), question, name)


def refuse_without_a_name(case: Case) -> Any:
    raise CatenaError("it does not work")


@pytest.mark.parametrize(
    "lie",
    [lambda case: 1.001 * np.array(case.machine.energy(case.q, case.v)), refuse_without_a_name],
    ids=["another number", "a refusal that names nothing"],
)
def test_a_door_that_lies_is_found(cases, monkeypatch, lie):
    monkeypatch.setitem(DOORS, (ENERGY, "liar"), Door(ENERGY, "liar", lie))
    with pytest.raises(AssertionError):
        compare(cases("four_bar-1"), ENERGY, "liar")
