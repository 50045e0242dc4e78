"""How far from the truth are contacts in catena's event life, and in MuJoCo at its best settings?
And who is faster at the same error?

The first table runs cases of `tests/reference/contact/` (closed forms) in both. MuJoCo gets
elliptic cones, Newton's solver, and every combination of the settings below: the one nearest to the
truth is shown. Its contacts have no coefficient of restitution: where a case has one, the damping
of its contact is that of a linear spring which gives this coefficient, where it lets go as soon as
it would pull.

The second and third tables are boxes on a rough floor for five seconds: one that bounces, tips over
its corners, slides and comes to rest, and one that slides through all its impacts, for which a
spring and Newton's law have the same limit. Their truth is a run of ours at tolerance 1e-12.
MuJoCo's step falls until its time is many times ours; of each step the best of all settings is
printed. Asked: faster than MuJoCo at the step that it needs for the same error. It comes to no such
step: the errors of its springs, of friction during an impact above all, do not fall with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import NamedTuple

import mujoco
import numpy as np
from peers import best, size
from scipy.optimize import brentq

import catena
from catena import Body, Contact, Joint, Mechanism, Shape

G, ORIGIN = 9.81, (0.0, 0.0, 0.0)
STEPS = size((1e-3, 1e-4), (1e-3,))
INTEGRATORS = size(("Euler", "RK4", "implicitfast"), ("implicitfast",))
IMPRATIOS = size((1, 100), (100,))
NOSLIP = size((0, 20), (20,))
TIMES = size((2.0, 5.0), (2.0,))
EVERY = list(product(INTEGRATORS, IMPRATIOS, NOSLIP, (2.0, 5.0, 20.0, 40.0), (0.95, 0.9999)))
FEW = list(product(("implicitfast",), (1, 100), (0,), (5.0, 40.0), (0.9999,)))
BOX_STEPS = size(
    {
        1e-3: EVERY,
        1e-4: list(
            product(("Euler", "implicitfast"), (1, 100), (0,), (2.0, 20.0, 40.0), (0.95, 0.9999))
        ),
        1e-5: FEW,
        5e-6: FEW[:2],
    },
    {1e-3: EVERY[:1]},
)


class Case(NamedTuple):
    """A free body over the plane z = 0, at q and v (7,), (6,) until a time; what is measured of (q,
    v) then, and its true value.
    """

    name: str
    shape: str
    sizes: tuple[float, ...]
    mass: float
    mu: float
    e: float
    slope: float
    q: tuple[float, ...]
    v: tuple[float, ...]
    until: float
    measure: Callable[[np.ndarray, np.ndarray], float]
    truth: float
    unit: str


def cases() -> Iterator[Case]:
    """From block_incline, sphere_slide_roll, sphere_backspin, bouncing_ball."""
    level, R = (1.0, 0.0, 0.0, 0.0), 0.1
    beta = 0.8 * np.arctan(0.4)
    yield Case(
        "block sticks on an incline, 10 s",
        "box",
        (0.2, 0.2, 0.1),
        2.0,
        0.4,
        0.0,
        beta,
        (0, 0, 0.05, *level),
        (0,) * 6,
        10.0,
        lambda q, v: q[0],
        0.0,
        "m",
    )
    yield Case("block slides until it stops", "box", (0.2, 0.2, 0.01), 2.0, 0.4, 0.0, 0.0, (0, 0, 0.005, *level), (2.0, 0, 0, 0, 0, 0), 2.0,  # noqa: E501
               lambda q, v: q[0], 4.0 / (2 * 0.4 * G), "m")  # fmt: skip
    yield Case(
        "sphere slides, then rolls",
        "sphere",
        (R,),
        3.0,
        0.15,
        0.0,
        0.0,
        (0, 0, R, *level),
        (2.0, 0, 0, 0, 0, 0),
        3.0,
        lambda q, v: q[0],
        10 / 7 * (3.0 - 4 / (7 * 0.15 * G)) + 12 / 7 * 4 / (7 * 0.15 * G),
        "m",
    )
    spin = -100.0
    back = _backspin(2.0, spin, 0.05, 0.2, 4.0)
    yield Case(
        "sphere with backspin comes back",
        "sphere",
        (0.05,),
        0.2,
        0.2,
        0.0,
        0.0,
        (0, 0, 0.05, *level),
        (2.0, 0, 0, 0, spin, 0),
        4.0,
        lambda q, v: q[0],
        back,
        "m",
    )
    first = np.sqrt(2.0 / G)
    yield Case(
        "ball rebounds with e = 0.5",
        "sphere",
        (R,),
        0.5,
        0.0,
        0.5,
        0.0,
        (0, 0, 1.0 + R, *level),
        (0,) * 6,
        0.7,
        lambda q, v: v[2],
        0.5 * G * first - G * (0.7 - first),
        "m/s",
    )
    yield Case(
        "ball at rest",
        "sphere",
        (R,),
        0.5,
        0.0,
        0.0,
        0.0,
        (0, 0, 0.2 + R, *level),
        (0,) * 6,
        2.0,
        lambda q, v: q[2],
        R,
        "m",
    )


def _backspin(v: float, w: float, R: float, mu: float, until: float) -> float:
    """Where a sphere is that starts with v and turns with w about y (rolling: w = v/R)."""
    slip = v - R * w
    roll = 2 * slip / (7 * mu * G)  # slip falls by 7/2 mu g
    x = v * roll - 0.5 * mu * G * roll**2
    speed = v - mu * G * roll
    return x + speed * (until - roll)


def inertia(c: Case) -> tuple[float, float, float]:
    """About the centre, homogeneous."""
    if c.shape == "sphere":
        return (0.4 * c.mass * c.sizes[0] ** 2,) * 3
    x, y, z = (s * s * c.mass / 12 for s in c.sizes)
    return y + z, x + z, x + y


def ours(c: Case) -> Mechanism:
    """In catena."""
    body = Body(
        "body", c.mass, ORIGIN, inertia(c), shapes=(Shape(c.shape, size=c.sizes, collides=True),)
    )
    return Mechanism(
        "body",
        (body,),
        (Joint("free", "free", "ground", "body"),),
        gravity=(G * np.sin(c.slope), 0.0, -G * np.cos(c.slope)),
        contacts=(Contact(("body", "ground"), c.mu, c.e),),
    )


def damping_ratio(e: float) -> float:
    """Of a linear spring and damper that lets go where it would pull, and rebounds with e
    [Schwager2007].
    """

    def left(z: float) -> float:
        root = np.sqrt(1.0 - z * z)
        return np.exp(-z / root * (np.pi - np.arctan2(2.0 * z * root, 1.0 - 2.0 * z * z))) - e

    return 1.0 if e == 0.0 else brentq(left, 0.0, 0.99)


def theirs(
    c: Case,
    step: float,
    integrator: str,
    impratio: float,
    noslip: int,
    time: float,
    impedance: float = 0.9999,
) -> mujoco.MjModel:
    """In MuJoCo. time: of its contact spring, in steps; impedance: how much of its acceleration the
    spring has, the rest is the bodies' own.
    """
    half = " ".join(str(s if c.shape == "sphere" else s / 2) for s in c.sizes)
    k = 1.0 / (time * step) ** 2
    damping = 2.0 * damping_ratio(c.e) * np.sqrt(k)
    geom = (
        f'condim="{3 if c.mu else 1}" friction="{c.mu} 0 0" solref="{-k} {-damping}"'
        f' solimp="{impedance} {impedance} 0.001"'
    )
    return mujoco.MjModel.from_xml_string(
        f"""<mujoco><option timestep="{step}" integrator="{integrator}" cone="elliptic" solver="Newton"
      impratio="{impratio}" noslip_iterations="{noslip}" tolerance="1e-12" iterations="200" gravity="{G * np.sin(c.slope)} 0 {-G * np.cos(c.slope)}"/>
      <worldbody><geom type="plane" size="100 100 1" {geom}/><body><freejoint/><inertial pos="0 0 0" mass="{c.mass}" diaginertia="{" ".join(map(str, inertia(c)))}"/>
      <geom type="{c.shape}" size="{half}" {geom}/></body></worldbody></mujoco>"""  # noqa: E501
    )


def roll(model: mujoco.MjModel, c: Case) -> tuple[np.ndarray, np.ndarray]:
    """The state at the end."""
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = c.q, c.v
    mujoco.mj_step(model, data, round(c.until / model.opt.timestep))
    return data.qpos.copy(), data.qvel.copy()


def accuracy() -> None:
    """The first table."""
    print(f"{'case':34} {'catena':>10} {'MuJoCo':>10}  at its best")
    for c in list(cases())[size(slice(None), slice(2, 3))]:  # a sphere is one point, a box eight
        run = catena.simulate(ours(c), c.q, c.v, c.until, output=c.until, tolerance=1e-10)
        own = abs(c.measure(run.q.values[-1], run.v.values[-1]) - c.truth)
        errors = []
        for how in product(STEPS, INTEGRATORS, IMPRATIOS, NOSLIP, TIMES):
            error = abs(c.measure(*roll(theirs(c, *how), c)) - c.truth)
            errors.append((error if np.isfinite(error) else np.inf, how))
        worst, (step, integrator, impratio, noslip, time) = min(errors)
        print(
            f"{c.name:34} {own:8.1e} {c.unit:3} {worst:8.1e} {c.unit:3} step {step:g},"
            f" {integrator}, impratio {impratio}, noslip {noslip}, spring {time:g} steps"
        )


def boxes() -> Iterator[Case]:
    """Thrown so that it tumbles, and so that it slides through its impacts."""
    until = size(5.0, 0.5)
    tilt = np.array([0.95, 0.12, 0.25, 0.15])
    lean = 0.15
    solid = size(("box", (0.3, 0.2, 0.1)), ("sphere", (0.1,)))
    yield Case(
        "a box tumbles",
        *solid,
        2.0,
        0.4,
        0.3,
        0.0,
        (0, 0, 0.4, *(tilt / np.linalg.norm(tilt))),
        (1.5, 0.3, 0, 1.0, 3.0, 0.5),
        until,
        lambda q, v: 0.0,
        0.0,
        "m",
    )
    yield Case(
        "a box slides through its impacts",
        *solid,
        2.0,
        0.2,
        0.3,
        0.0,
        (0, 0, 0.15, np.cos(lean / 2), 0, np.sin(lean / 2), 0),
        (3.0, 0, 0, 0, 1.0, 0),
        until,
        lambda q, v: 0.0,
        0.0,
        "m",
    )


def speed(c: Case) -> None:
    """The second and third table."""
    m = ours(c)

    def run(tolerance):
        return catena.simulate(m, c.q, c.v, c.until, output=c.until, tolerance=tolerance)

    truth = run(1e-12)
    q = truth.q.values[-1]
    print(
        f"\n{c.name}: {len(truth.event)} events, {truth.ledger.contact.impacts} impacts; at the end"
        f" at {np.round(q[:3], 4)}, {', '.join(truth.contacts.mode.values[-1])}"
    )

    def error(x):
        found = float(np.abs(x[:3] - q[:3]).max())
        return found if np.isfinite(found) else np.inf

    for tolerance in (1e-6, 1e-9):
        print(
            f"catena, tolerance {tolerance:g}: {error(run(tolerance).q.values[-1]):8.1e} m in"
            f" {best(lambda: run(tolerance), 0.2, 3):.3f} s"
        )
    for step, hows in BOX_STEPS.items():
        found, how = min((error(roll(theirs(c, step, *how), c)[0]), how) for how in hows)
        model = theirs(c, step, *how)
        print(
            f"MuJoCo, step {step:g}: {found:8.1e} m in {best(lambda: roll(model, c), 0.0, 1):.3f} s"
            f" at the best of {len(hows)} settings: {how[0]}, impratio {how[1]}, noslip {how[2]},"
            f" spring {how[3]:g} steps, impedance {how[4]:g}"
        )


if __name__ == "__main__":
    accuracy()
    for c in boxes():
        speed(c)
