"""Trajectories: coordinates as functions of time, with their speeds and accelerations;
`piecewise.py` defines what a trajectory is.

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
    """Return a trajectory whose coordinates do not move.

    Parameters
    ----------
    values : mapping
        {coordinate: position}, rad or m.

    Returns
    -------
    Trajectory
        One piece for all times.

    Examples
    --------
    >>> from catena.trajectories import constant
    >>> constant({"elbow": 0.5})(3.0)[0].tolist()
    [0.5]
    """
    q = np.array([numbers("constant", name, x, 1)[0] for name, x in values.items()])
    return pieces(tuple(values), np.zeros(0), np.zeros(1), q[None, :, None])


def uniform(speed: Values, *, offset: Values | None = None) -> Trajectory:
    """Return the trajectory offset + speed t for all times: a motor at constant speed.

    Parameters
    ----------
    speed : mapping
        {coordinate: speed}, rad/s or m/s.
    offset : mapping or None, default None
        {coordinate: position at t = 0}, rad or m; zero for coordinates not named.

    Returns
    -------
    Trajectory
        One piece for all times.

    Examples
    --------
    >>> from catena.trajectories import uniform
    >>> uniform({"crank": 2.0})(3.0)[0].tolist()
    [6.0]
    """
    u = np.array([numbers("uniform", name, x, 1)[0] for name, x in speed.items()])
    c = np.array([numbers("uniform", name, (offset or {}).get(name, 0.0), 1)[0] for name in speed])
    return pieces(tuple(speed), np.zeros(0), np.zeros(1), np.stack([c, u], axis=-1)[None])


def sine(
    amplitude: Values, frequency: float, *, phase: float = 0.0, offset: Values | None = None
) -> Trajectory:
    """Return the trajectory offset + amplitude sin(frequency t + phase) for all times.

    Parameters
    ----------
    amplitude : mapping
        {coordinate: amplitude}, rad or m.
    frequency : float
        The angular frequency, rad/s.
    phase : float, default 0.0
        The phase, rad.
    offset : mapping or None, default None
        {coordinate: offset}, rad or m; zero for coordinates not named.

    Returns
    -------
    Trajectory
        One piece for all times.

    Raises
    ------
    StateError
        If a number is not finite.
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
    """Return cubic polynomials between states: position and speed are given at each time.

    See [Merwe1995] section 4.6.

    Parameters
    ----------
    times : array_like, shape (m,)
        Increasing times, s.
    positions : mapping
        {coordinate: m positions}, rad or m; one number stands for all times.
    speeds : mapping, array_like or float, default 0.0
        {coordinate: m speeds}, rad/s or m/s, zero for coordinates not named; without names, the
        speeds of every coordinate.

    Returns
    -------
    Trajectory
        m - 1 polynomials of degree three.

    Raises
    ------
    StateError
        If times do not increase, or there are not m finite numbers.
    UnknownNameError
        If speeds name a coordinate that has no positions.

    Examples
    --------
    >>> from catena.trajectories import cubic
    >>> q, v, a = cubic([0.0, 2.0], {"elbow": [0.0, 1.0]})(1.0)
    >>> q.tolist(), v.tolist()
    ([0.5], [0.75])
    """
    return _hermite("cubic", times, positions, speeds)


def quintic(
    times: ArrayLike,
    positions: Values,
    speeds: Values | ArrayLike = 0.0,
    accelerations: Values | ArrayLike = 0.0,
) -> Trajectory:
    """Return polynomials of degree five: as `cubic`, with the acceleration given too at each time.

    Forces then have no jumps.

    Parameters
    ----------
    times : array_like, shape (m,)
        Increasing times, s.
    positions : mapping
        {coordinate: m positions}, rad or m; one number stands for all times.
    speeds : mapping, array_like or float, default 0.0
        {coordinate: m speeds}, rad/s or m/s, as for `cubic`.
    accelerations : mapping, array_like or float, default 0.0
        {coordinate: m accelerations}, rad/s2 or m/s2, likewise.

    Returns
    -------
    Trajectory
        m - 1 polynomials of degree five.

    Raises
    ------
    StateError
        If times do not increase, or there are not m finite numbers.
    UnknownNameError
        If speeds or accelerations name a coordinate that has no positions.
    """
    return _hermite("quintic", times, positions, speeds, accelerations)


def cycloid(times: ArrayLike, positions: Values) -> Trajectory:
    """Return cycloidal motions between positions, with zero speed and acceleration at each of
    them.

        q0 + (q1 - q0) (s/T - sin(2 pi s/T) / 2 pi)      ([Passerello1972] 5.1)

    Parameters
    ----------
    times : array_like, shape (m,)
        Increasing times, s.
    positions : mapping
        {coordinate: m positions}, rad or m.

    Returns
    -------
    Trajectory
        m - 1 pieces.

    Raises
    ------
    StateError
        If times do not increase, or there are not m finite numbers.
    """
    t, q = rising("cycloid", times, positions)
    T = np.diff(t)[:, None]
    D = np.diff(q, axis=0)
    powers = np.stack([q[:-1], D / T], axis=-1)
    waves = np.stack(np.broadcast_arrays(-D / (2 * np.pi), 2 * np.pi / T, 0.0), axis=-1)
    return closed(tuple(positions), t, powers, waves, q, np.zeros_like(q))


def cosine(times: ArrayLike, positions: Values) -> Trajectory:
    """Return half swings of a cosine between positions, with zero speed at each of them.

        q0 + (q1 - q0) (1 - cos(pi s/T)) / 2      ([Quinn1991] section 5)

    Parameters
    ----------
    times : array_like, shape (m,)
        Increasing times, s.
    positions : mapping
        {coordinate: m positions}, rad or m.

    Returns
    -------
    Trajectory
        m - 1 pieces; the acceleration jumps at inner times.

    Raises
    ------
    StateError
        If times do not increase, or there are not m finite numbers.
    """
    t, q = rising("cosine", times, positions)
    T = np.diff(t)[:, None]
    D = np.diff(q, axis=0)
    powers = (q[:-1] + 0.5 * D)[..., None]
    waves = np.stack(np.broadcast_arrays(-0.5 * D, np.pi / T, 0.5 * np.pi), axis=-1)
    return closed(tuple(positions), t, powers, waves, q, np.zeros_like(q))


def spline(times: ArrayLike, positions: Values, ends: str = "rest") -> Trajectory:
    """Return the cubic spline through positions: speeds and accelerations have no jumps.

    Parameters
    ----------
    times : array_like, shape (m,)
        Increasing times, s.
    positions : mapping
        {coordinate: m positions}, rad or m.
    ends : {"rest", "natural", "free"}, default "rest"
        "rest": zero speed at the first and last time; "natural": zero acceleration there; "free":
        SciPy's not-a-knot.

    Returns
    -------
    Trajectory
        m - 1 polynomials of degree three.

    Raises
    ------
    StateError
        If times do not increase, or there are not m finite numbers.
    UnknownNameError
        If `ends` has another value.
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
    """Return polynomials between states, given by positions and as many derivatives as `rates`
    has.
    """
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
    """Return coordinates as functions of time between two times.

    A Python function is called once with a symbol: it must compute with +, -, *, /, ** and NumPy's
    functions. Speeds and accelerations are exact derivatives. The trajectory consists of
    polynomials of degree five, as many as needed (8 to 16384) for positions and speeds to lie
    within `tolerance` of the function between their ends.

    Parameters
    ----------
    values : mapping
        {coordinate: text such as "0.4*sin(3*t)", function of t, or number}, rad or m.
    times : array_like, shape (2,)
        Begin and end, s.
    tolerance : float, default 1e-10
        The largest error, relative to the largest position or speed of each coordinate, or to 1
        where that is smaller.

    Returns
    -------
    Trajectory
        Polynomials between the two times.

    Raises
    ------
    StateError
        If a function cannot be traced, is not finite, or is not followed to the tolerance.

    Examples
    --------
    >>> from catena.trajectories import function
    >>> function({"elbow": "0.4*sin(3*t)"}, [0.0, 2.0]).names
    ('elbow',)
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
    """Return the prescribed motion of a run, with expressions and functions of time made into
    trajectories. motion: {coordinate: Trajectory, number, string or function; or joint: "locked"};
    anything else is returned as it is. The trajectories last from start to until, s.
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
    """Return an expression of the symbol t from a string, a function of t, or a number."""
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
    """Return positions, speeds and accelerations of the given states, (m, 3, n), at their times t
    (m,).
    """
    return np.stack(
        [np.array(x).reshape(-1, len(t), order="A") for x in states.map(len(t))(t[None])], axis=0
    ).transpose(2, 0, 1)


def _worst(values: Values, off: Array) -> str:
    """Return the name of the coordinate in which an error, (..., n), is largest."""
    return [*values][int(off.reshape(-1, off.shape[-1]).max(axis=0).argmax())]


# --- from a file
def csv(path: str | Path, ends: str = "natural") -> Trajectory:
    """Return the cubic spline through the rows of a .csv file.

    The file has a header line, a column `time` (s) and one column per coordinate (rad or m). A
    result that catena wrote as CSV works too: of its columns those that begin with "q " are taken.

    Parameters
    ----------
    path : str or Path
        The file.
    ends : {"natural", "rest", "free"}, default "natural"
        The end conditions, as for `spline`.

    Returns
    -------
    Trajectory
        The spline.

    Raises
    ------
    FormatError
        If the file is missing, or is not a table of finite numbers with increasing times.
    """
    names, times, values = csv_table(Path(path))
    return spline(times, dict(zip(names, values.T)), ends)


def csv_table(path: Path) -> tuple[list[str], Array, Array]:
    """Return the column names without time, the times (T,) in s, and the values (T, n) of a .csv
    file.

    Raises FormatError, with all faults, where it is not a table of numbers with increasing times.
    """
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
    """Return the non-empty lines of a file, split at commas, each with its line number."""
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


def _header(path: Path, rows: list[Any]) -> tuple[list[str], list[int]]:
    """Return the names of the coordinates, and the indices of the columns to read, time first."""
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
    """Return the number in a cell; a cell without a finite number is added to the faults."""
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
    """Return the motion in which the origin of a frame moves along a straight line.

    Coordinates come from inverse kinematics at as many instants as needed for the frame to stay
    within `tolerance` of the line between them; the trajectory is a spline of degree five through
    them. See [Quinn1991] section 5.

    Parameters
    ----------
    asked : Mechanism or Machine
        The mechanism, without ball or free joints.
    frame : str
        The name of the frame.
    to : array_like, shape (3,)
        The end of the line in the ground, m.
    times : array_like, shape (2,)
        Times of departure and arrival, s.
    start : array_like, shape (3,), or None, default None
        The start of the line in the ground, m; by default where the frame is at `guess`.
    law : {"quintic", "cubic", "cycloid", "cosine"}, default "quintic"
        How the distance along the line grows over time.
    guess : array_like, shape (nq,), or None, default None
        A configuration near which the motion begins; by default the neutral one.
    upright : bool, default False
        Whether the frame keeps the orientation it has at `guess`.
    tolerance : float, default 1e-7
        The largest distance of the frame from its place on the line, per axis, m.

    Returns
    -------
    Trajectory
        All coordinates of the mechanism.

    Raises
    ------
    QuestionError
        If the frame cannot follow the line, or the mechanism has a ball or free joint.
    StateError
        If times or points have a wrong shape.
    UnknownNameError
        If the frame or the law does not exist.
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
    path = LAWS[law](t, {"way": [0.0, 1.0]})
    count = 9
    while count < 5000:
        at = np.linspace(t[0], t[1], count)
        q = [q0]
        for s in path(at[1:])[0]:
            q.append(
                inverse_kinematics(
                    machine, frame, position=a + s * (b - a), orientation=turn, guess=q[-1]
                )
            )
        found = _spline_through(machine, frame, at, np.array(q), path, b - a, upright)
        between = 0.5 * (at[1:] + at[:-1])
        off = machine.pose(found(between)[0], frame)[..., :3, 3] - (a + path(between)[0] * (b - a))
        if np.abs(off).max() < tolerance:
            return found
        count = 2 * count - 1
    raise QuestionError(
        f"line: frame {frame!r} of {where(machine)} leaves the line by {np.abs(off).max():.3g} m,"
        " however many points are taken; it passes a singular place or a joint's limit"
    )


def _spline_through(
    machine: Machine,
    frame: str,
    t: Array,
    q: Array,
    path: Trajectory,
    way: Array,
    upright: bool,
) -> Trajectory:
    """Return the spline of degree five through coordinates q (m, nq) at times t (m,).

    At both ends it has the speeds and accelerations with which the frame moves along the line:

        J v = x',      J a = x'' - J' v
    """
    from scipy.interpolate import PPoly, make_interp_spline
    from scipy.special import factorial

    ends = []
    for k in (0, -1):
        _, rate, second = path(t[k])
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
