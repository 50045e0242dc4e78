"""Trajectories: coordinates as functions of time, with their speeds and accelerations; see
`piecewise.py` for what one is.

    constant   a fixed position                     sine    a sine for all times
    uniform    a constant speed
    cubic      between states, speeds given         spline  through points, the speeds are found
    quintic    accelerations too                    csv     a spline through the rows of a file
    cycloid   [Passerello1972] eq. 5.1  line    a frame along a straight line, by inverse kinematics
    cosine     half a swing                function  texts such as "0.4*sin(3*t)", or functions of t

Times are in s, coordinates in rad or m. After its last time a trajectory continues at its last
speed. Bad arguments raise StateError or UnknownNameError.
"""

from __future__ import annotations

import csv as tables
import io
import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...errors import FormatError, QuestionError, StateError, UnknownNameError
from ...formats import files
from ...machine import Machine, machine_of, where
from ...model import Mechanism, evaluate, parse
from .piecewise import (
    Array,
    Trajectory,
    Values,
    closed,
    from_scipy,
    numbers,
    pieces,
    rising,
    together,
)

__all__ = [
    "Trajectory",
    "constant",
    "cosine",
    "csv",
    "cubic",
    "cycloid",
    "function",
    "line",
    "quintic",
    "sine",
    "spline",
    "together",
    "uniform",
]


# --- for all times
def constant(values: Values) -> Trajectory:
    """Coordinates that stay: {coordinate: number}, rad or m."""
    q = np.array([numbers("constant", name, x, 1)[0] for name, x in values.items()])
    return pieces(tuple(values), np.zeros(0), np.zeros(1), q[None, :, None])


def uniform(speed: Values, *, offset: Values | None = None) -> Trajectory:
    """offset + speed t, for ever: what a motor at a constant speed does. {coordinate: rad/s or
    m/s}; offset: {coordinate: rad or m}.
    """
    u = np.array([numbers("uniform", name, x, 1)[0] for name, x in speed.items()])
    c = np.array([numbers("uniform", name, (offset or {}).get(name, 0.0), 1)[0] for name in speed])
    return pieces(tuple(speed), np.zeros(0), np.zeros(1), np.stack([c, u], axis=-1)[None])


def sine(
    amplitude: Values, frequency: float, *, phase: float = 0.0, offset: Values | None = None
) -> Trajectory:
    """offset + amplitude sin(frequency t + phase), for ever. amplitude, offset: {coordinate: rad or
    m}; frequency: rad/s.
    """
    A = np.array([numbers("sine", name, x, 1)[0] for name, x in amplitude.items()])
    c = np.array([numbers("sine", name, (offset or {}).get(name, 0.0), 1)[0] for name in amplitude])
    if not (np.isfinite(frequency) and np.isfinite(phase)):
        raise StateError(
            f"sine: frequency {frequency} rad/s and phase {phase} rad are finite numbers"
        )
    waves = np.stack([A, np.full(len(A), float(frequency)), np.full(len(A), float(phase))], axis=-1)
    return pieces(tuple(amplitude), np.zeros(0), np.zeros(1), c[None, :, None], waves[None])


# --- between states
def cubic(times: ArrayLike, positions: Values, speeds: Values | ArrayLike = 0.0) -> Trajectory:
    """Cubic polynomials between states ([Merwe1995] section 4.6): place and speed given at each of
    the rising times (s).

    positions, speeds: {coordinate: one value per time}; a speed that is not given is zero, one
    number is for all.
    """
    return _hermite("cubic", times, positions, speeds)


def quintic(
    times: ArrayLike,
    positions: Values,
    speeds: Values | ArrayLike = 0.0,
    accelerations: Values | ArrayLike = 0.0,
) -> Trajectory:
    """As `cubic`, with the acceleration given too at each time; force and torque then have no
    jumps.
    """
    return _hermite("quintic", times, positions, speeds, accelerations)


def cycloid(times: ArrayLike, positions: Values) -> Trajectory:
    """q0 + (q1 - q0) (s/T - sin(2 pi s/T) / 2 pi) between places, at rest, unaccelerated at each
    ([Passerello1972] 5.1).
    """
    t, q = rising("cycloid", times, positions)
    T = np.diff(t)[:, None]
    D = np.diff(q, axis=0)
    powers = np.stack([q[:-1], D / T], axis=-1)
    waves = np.stack(np.broadcast_arrays(-D / (2 * np.pi), 2 * np.pi / T, 0.0), axis=-1)
    return closed(tuple(positions), t, powers, waves, q, np.zeros_like(q))


def cosine(times: ArrayLike, positions: Values) -> Trajectory:
    """q0 + (q1 - q0) (1 - cos(pi s/T)) / 2 between places ([Quinn1991] section 5): at rest at each,
    accelerated by a cosine.
    """
    t, q = rising("cosine", times, positions)
    T = np.diff(t)[:, None]
    D = np.diff(q, axis=0)
    powers = (q[:-1] + 0.5 * D)[..., None]
    waves = np.stack(np.broadcast_arrays(-0.5 * D, np.pi / T, 0.5 * np.pi), axis=-1)
    return closed(tuple(positions), t, powers, waves, q, np.zeros_like(q))


def spline(times: ArrayLike, positions: Values, ends: str = "rest") -> Trajectory:
    """The cubic spline through places at rising times (s): speeds and accelerations without jumps.

    ends: "rest" (no speed at the first and last), "natural" (no acceleration there) or "free"
    (SciPy's not-a-knot).
    """
    from scipy.interpolate import CubicSpline

    kinds = {"rest": "clamped", "natural": "natural", "free": "not-a-knot"}
    if ends not in kinds:
        raise UnknownNameError("kind of end", ends, kinds, "a spline")
    t, q = rising("spline", times, positions)
    return from_scipy(tuple(positions), CubicSpline(t, q, bc_type=kinds[ends]))


def _hermite(
    kind: str, times: ArrayLike, positions: Values, *rates: Values | ArrayLike
) -> Trajectory:
    """Polynomials between states: places, and as many of their derivatives as `rates` has."""
    from scipy.interpolate import BPoly, PPoly

    t, q = rising(kind, times, positions)
    states = [q]
    for what, given in zip(("speeds", "accelerations"), rates):
        if isinstance(given, Mapping):
            for name in given:
                if name not in positions:
                    raise UnknownNameError(
                        "coordinate", name, positions, f"{kind}, whose {what} are given"
                    )
        each = [given.get(name, 0.0) if isinstance(given, Mapping) else given for name in positions]
        states.append(
            np.stack(
                [numbers(f"{kind}, {what}", name, x, len(t)) for name, x in zip(positions, each)],
                axis=-1,
            )
        )
    return from_scipy(
        tuple(positions),
        PPoly.from_bernstein_basis(BPoly.from_derivatives(t, np.stack(states, axis=1))),
    )


# --- of time
def function(values: Values, times: Any, tolerance: float = 1e-10) -> Trajectory:
    """Coordinates as functions of time between two times (s): {coordinate: text such as
    "0.4*sin(3*t)", or function of t}.

    A function is called once with a symbol: it computes with +, -, *, /, ** and NumPy's functions.
    Speeds and accelerations are its exact derivatives. The trajectory is made of polynomials of
    degree five, as many as it takes for places and speeds to lie within `tolerance` (beside the
    largest) of the function between them; a StateError says of which coordinate they do not.
    """
    import casadi as ca
    from scipy.interpolate import BPoly, PPoly

    span = np.asarray(times, float)
    if span.shape != (2,) or not np.isfinite(span).all() or not span[0] < span[1]:
        raise StateError(
            f"function: times are two that rise, where it begins and ends (s); found {times!r}"
        )
    t = ca.SX.sym("t")
    q = ca.vertcat(*(_of_time(name, x, t) for name, x in values.items()))
    v = ca.jacobian(q, t)
    states = ca.Function("states", [t], [q, v, ca.jacobian(v, t)])
    count = 8
    while count <= 2**14:
        at = np.linspace(span[0], span[1], count + 1)
        exact = _states(states, at)  # (count + 1, 3, n)
        if not np.isfinite(exact).all():
            raise StateError(
                f"function: {_worst(values, ~np.isfinite(exact))!r} has no finite value, speed or"
                " acceleration at some time"
            )
        found = from_scipy(
            tuple(values), PPoly.from_bernstein_basis(BPoly.from_derivatives(at, exact))
        )
        between = 0.7 * at[:-1] + 0.3 * at[1:]  # not the middle, where errors of odd order vanish
        off = np.abs(
            _states(states, between)[:, :2] - np.stack(found(between)[:2], axis=1)
        ) / np.maximum(1.0, np.abs(exact[:, :2]).max(axis=0))
        if off.max() < tolerance:
            return found
        count *= 2
    raise StateError(
        f"function: {_worst(values, off)!r} is not followed to {tolerance:g} by {count // 2}"
        " polynomials; it has a corner, or is too fast: give times nearer to each other, or a"
        " larger tolerance"
    )


def of_run(motion: Any, start: float, until: float) -> Any:
    """What `motion` drives in a run, its texts and functions of time as trajectories from start to
    until.
    """
    if not isinstance(motion, Mapping):
        return motion

    def timed(x: Any) -> bool:
        return (isinstance(x, str) and x != "locked") or (
            callable(x) and not isinstance(x, Trajectory)
        )

    return {
        name: function({name: x}, (start, until)) if timed(x) else x for name, x in motion.items()
    }


def _of_time(name: str, x: Any, t: Any) -> Any:
    """An expression of the symbol t: from a text, from a function, or a number."""
    if isinstance(x, str):
        return evaluate(parse(x, ["t"]), {"t": t})
    try:
        with warnings.catch_warnings():
            # CasADi announces that NumPy's functions will give other types
            warnings.simplefilter("ignore", FutureWarning)
            found = x(t) if callable(x) else float(x)
        # math.sin makes NaN of a symbol
        usable = not isinstance(found, float) or np.isfinite(found)
    except (TypeError, ValueError, NotImplementedError):
        usable = False
    if not usable:
        raise StateError(
            f"function: {name!r} is given {x!r}, which does not take the symbol t; compute with"
            " NumPy's functions (not those of math), give a text such as '0.4*sin(3*t)', or a"
            " spline through points"
        )
    return found


def _states(states: Any, t: Array) -> Array:
    """q, v and a at times t (m,), (m, 3, n)."""
    return np.stack(
        [np.array(x).reshape(-1, len(t), order="A") for x in states.map(len(t))(t[None])], axis=0
    ).transpose(2, 0, 1)


def _worst(values: Values, off: Array) -> str:
    """The coordinate in which something, (..., n), is largest."""
    return [*values][int(off.reshape(-1, off.shape[-1]).max(axis=0).argmax())]


# --- from a file
def csv(path: str | Path, ends: str = "natural") -> Trajectory:
    """The spline through the rows of a file: a column `time` (s), one column per coordinate (rad or
    m), a header line.

    A result that catena wrote as CSV is one too: of its columns those that begin with "q " are
    taken.
    """
    names, times, values = csv_table(Path(path))
    return spline(times, dict(zip(names, values.T)), ends)


def csv_table(path: Path) -> tuple[list[str], Array, Array]:
    """The names of the columns but time, the times (T,), and the values (T, n) of a .csv file."""
    rows = _lines(path)
    names, columns = _header(path, rows)
    titles = rows[0][1]
    width = len(rows[0][1])
    faults = [
        f"line {n}: {len(row)} values; the header has {width}"
        for n, row in rows[1:]
        if len(row) != width
    ]
    good = [(n, row) for n, row in rows[1:] if len(row) == width]
    cells = [[_cell(faults, n, titles[k], row[k]) for k in columns] for n, row in good]
    values = np.array(cells).reshape(-1, len(columns))
    for k in np.flatnonzero(np.diff(values[:, 0]) <= 0):
        faults.append(
            f"line {good[k + 1][0]}: time {values[k + 1, 0]:g} s follows {values[k, 0]:g} s; times"
            " rise"
        )
    if len(values) < 2:
        faults.append(f"{len(values)} rows of numbers; a trajectory has at least two")
    if faults:
        raise FormatError(
            path,
            f"this is not a trajectory, for {len(faults)} reason{'s' if len(faults) > 1 else ''}:",
            faults,
        )
    return names, values[:, 0], values[:, 1:]


def _lines(path: Path) -> list[tuple[int, list[str]]]:
    """The lines of a file that hold something, split at commas, with their numbers."""
    if not os.path.exists(path):
        raise FormatError(
            path,
            "there is no such file; a trajectory is a .csv file with a column 'time' and"
            " coordinates",
        )
    try:
        reader = tables.reader(io.StringIO(files.read(path).decode("utf-8-sig"), newline=""))
        return [(reader.line_num, row) for row in reader if any(x.strip() for x in row)]
    except UnicodeDecodeError as why:
        raise FormatError(
            path, f"the file is not UTF-8 text: byte {why.start} cannot be read"
        ) from None
    except tables.Error as why:
        raise FormatError(
            path, f"the file is not a table of values with commas between them: {why}"
        ) from None


def _header(path: Path, rows: list) -> tuple[list[str], list[int]]:
    """The coordinates' names, and the columns to read: time first."""
    titles = [x.strip() for x in rows[0][1]] if rows else []
    clock = [k for k, x in enumerate(titles) if x.lower() in ("time", "t")]
    chosen = [k for k, x in enumerate(titles) if x.startswith("q ")] or [
        k for k in range(len(titles)) if k not in clock
    ]
    names = [titles[k].removeprefix("q ") for k in chosen]
    faults = []
    shown = ", ".join(x[:30] for x in titles[:8]) or "nothing"
    if len(clock) != 1:
        faults.append(f"{len(clock)} columns are called 'time' (s); there is one. Found: {shown}")
    faults += [
        f"column {name!r} is there twice"
        for name in sorted({n for n in names if names.count(n) > 1})
    ]
    if not names:
        faults.append("no column has a coordinate's name")
    if faults:
        raise FormatError(path, "the first line of a trajectory names its columns:", faults)
    return names, [*clock, *chosen]


def _cell(faults: list[str], line: int, title: str, text: str) -> float:
    try:
        x = float(text)
    except ValueError:
        x = np.nan
    if not np.isfinite(x):
        faults.append(
            f"line {line}: {text.strip()!r} in column {title.strip()!r} is not a finite number"
        )
    return x


# --- a frame's path
LAWS = {"cubic": cubic, "quintic": quintic, "cycloid": cycloid, "cosine": cosine}


def line(
    asked: Mechanism | Machine,
    frame: str,
    to: ArrayLike,
    *,
    times: ArrayLike,
    start: ArrayLike | None = None,
    law: str = "quintic",
    guess: ArrayLike | None = None,
    upright: bool = False,
    tolerance: float = 1e-7,
) -> Trajectory:
    """A frame's origin goes straight from `start` to `to`, (3,) m in the ground, between two times
    (s) ([Quinn1991] section 5).

    law: how fast, one of LAWS: from zero to one over the way. start: by default where the frame is
    at `guess`, a configuration near which the motion begins. upright: the frame keeps the
    orientation it begins with. Coordinates come from inverse kinematics at as many instants as it
    takes for the frame to stay within `tolerance` (m) of the line between them; the trajectory is a
    spline of order five through them. A QuestionError says where the frame cannot go.
    """
    machine = machine_of(asked)
    if machine.spec.quaternions:
        raise QuestionError(
            f"line: {where(machine)} has a ball or free joint, whose coordinates have no"
            " trajectory; fix it"
        )
    if law not in LAWS:
        raise UnknownNameError("law", law, LAWS, "line")
    t = np.asarray(times, float)
    if t.shape != (2,):
        raise StateError(
            f"line: times are two, when it leaves and when it arrives (s); found {times!r}"
        )
    from ...analysis import inverse_kinematics

    q0 = machine.neutral() if guess is None else np.asarray(guess, float)
    here = machine.pose(q0, frame)
    a, b = (np.asarray(x, float) for x in (here[:3, 3] if start is None else start, to))
    if a.shape != (3,) or b.shape != (3,):
        raise StateError("line: start and to are points in the ground, three numbers (m) each")
    turn = here[:3, :3] if upright else None
    q0 = inverse_kinematics(machine, frame, position=a, orientation=turn, guess=q0)
    part = LAWS[law](t, {"way": [0.0, 1.0]})
    count = 9
    while count < 5000:
        at = np.linspace(t[0], t[1], count)
        q = [q0]
        for s in part(at[1:])[0]:
            q.append(
                inverse_kinematics(
                    machine, frame, position=a + s * (b - a), orientation=turn, guess=q[-1]
                )
            )
        found = _through(machine, frame, at, np.array(q), part, b - a, upright)
        between = 0.5 * (at[1:] + at[:-1])
        off = machine.pose(found(between)[0], frame)[..., :3, 3] - (a + part(between)[0] * (b - a))
        if np.abs(off).max() < tolerance:
            return found
        count = 2 * count - 1
    raise QuestionError(
        f"line: frame {frame!r} of {where(machine)} leaves the line by {np.abs(off).max():.3g} m,"
        " however many points are taken; it passes a singular place or a joint's limit"
    )


def _through(
    machine: Machine, frame: str, t: Array, q: Array, part: Trajectory, way: Array, upright: bool
) -> Trajectory:
    """The spline of order five through coordinates at times t, with the ends' speeds and
    accelerations:

    J v = x',      J a = x'' - J' v
    """
    from scipy.interpolate import PPoly, make_interp_spline
    from scipy.special import factorial

    ends = []
    for k in (0, -1):
        _, rate, second = part(t[k])
        J = machine.jacobian(q[k], frame)[0 if upright else 3 :]
        pinv = np.linalg.pinv(J, rcond=1e-9)
        still = [np.zeros(3)] if upright else []
        v = pinv @ np.concatenate([*still, rate * way])
        drift = machine.jacobian_rate(q[k], v, frame)[0 if upright else 3 :]
        ends.append([(1, v), (2, pinv @ (np.concatenate([*still, second * way]) - drift))])
    found = make_interp_spline(t, q, k=5, bc_type=tuple(ends))
    knots = np.unique(found.t)
    taylor = np.stack([found(knots[:-1], k) / factorial(k) for k in reversed(range(6))])
    return from_scipy(machine.coordinate_names, PPoly(taylor, knots))
