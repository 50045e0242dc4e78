"""Evaluation: numerical values of the symbols of a compact form at one state. Given symbols come
from the mechanism, all others from the equations of the compact form itself.

A symbol is evaluated when it is first used, by the equation that defines it. Derivatives are found
by a complex step of 1e-30: the same equations with that imaginary part added to a coordinate, or to
all of them along the motion; there is no difference of nearly equal numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...model import Motion, RowKind, value_of
from ...spatial import full
from .frames import GROUNDED, Frames
from .language import At, Equation, Expr, Over, skew

COMPLEX_STEP = 1e-30  # small enough that its square vanishes relative to any value in doubles


@dataclass(frozen=True)
class State:
    """A state. numbers: arrays by role (q, v, a, tau, lam, p). given: {(name, index ...): value} of
    other symbols that the statement does not define.
    """

    numbers: Mapping[str, np.ndarray]
    given: Mapping[tuple[Any, ...], Any]


class Evaluation:
    """The values of symbols at one state. definitions: {name: its equations}; the first equation
    whose index set contains the given indices is used.
    """

    def __init__(self, frames: Frames, definitions: Mapping[str, Sequence[Equation]], state: State):
        self.frames = frames
        self.definitions = definitions
        self.state = state
        self.known: dict[tuple[Any, ...], Any] = dict(state.given)
        self.varied: dict[Any, Evaluation] = {}
        self.parameters = dict(zip(frames.mechanism.parameters, state.numbers["p"]))

    # --- of the language
    def value(self, name: str, index: tuple[str, ...], at: At) -> Any:
        """Return the value of a symbol. at: {letter of an index: its number}."""
        places = tuple(self._place(letter, at) for letter in index)
        key = (name, *places)
        if key not in self.known:
            self.known[key] = self._found(name, places)
        return self.known[key]

    def members(self, over: Over, at: At) -> list[int]:
        """Return the members of a set. at: {letter of an index: its number}."""
        f = self.frames
        i = at.get("i", GROUNDED)
        if over.name in RowKind.__members__:
            return [k for k, x in enumerate(f.rows) if x.kind == RowKind[over.name]]
        sets: dict[str, Callable[[], list[int]]] = {
            "frames": lambda: list(range(len(f.all))),
            "bodies": lambda: f.bodies,
            "freedoms": lambda: f.freedoms,
            "children": lambda: f.carried(i),
            "path": lambda: [j for j in f.path(i) if f.all[j].nv],
            "beyond": lambda: [k for k in range(len(f.all)) if i in f.path(k)],
            "rows": lambda: list(range(len(f.rows))),
            "sides": lambda: [x for x in (f.rows[at["k"]].P, f.rows[at["k"]].C) if x != GROUNDED],
            "axes": lambda: [0, 1, 2],
            "hinges": lambda: [j for j in f.freedoms if not (f.all[j].ball or f.all[j].slides)],
            "balls": lambda: [j for j in f.freedoms if f.all[j].ball],
            "sprung": lambda: [j for j, x in enumerate(f.all) if x.carrier != GROUNDED],
        }
        return sets[over.name]()

    def slope(self, of: Expr, along: str, at: At) -> Any:
        """Return the derivative of an expression with respect to the coordinate of a frame."""
        f = self.frames.all[at[along]]
        found = [
            np.imag(of.at(self._moved(("q", f.v + k), {f.v + k: 1.0}), at)) / COMPLEX_STEP
            for k in range(f.nv)
        ]
        return np.array(found) if f.ball else found[0]

    def rate(self, of: Expr, at: At) -> Any:
        """Return the derivative of an expression in time, along the motion."""
        v = self.state.numbers["v"]
        a = self.state.numbers["a"]
        return np.imag(of.at(self._moved("t", dict(enumerate(v)), a), at)) / COMPLEX_STEP

    # --- how
    def _place(self, letter: str, at: At) -> int:
        """Return the number that the letter of an index stands for."""
        if letter in at:
            return at[letter]
        if letter == "p":
            return self.frames.all[at["i"]].carrier
        row = self.frames.rows[at["k"]]
        return row.P if letter == "P" else row.C

    def _found(self, name: str, places: tuple[int, ...]) -> Any:
        """Compute the value of a symbol for given indices."""
        if places and places[0] == GROUNDED:
            return np.eye(3) if name == "R" else -self._gravity() if name == "acc" else np.zeros(3)
        if name in PARTIAL and places[1] not in self.frames.path(places[0]):
            return np.zeros((3, 3)) if self.frames.all[places[1]].ball else np.zeros(3)
        for equation in self.definitions.get(name, ()):
            at = dict(zip(equation.letters, places))
            if equation.each is None or at[equation.each.letter] in self.members(equation.each, at):
                return equation.right.at(self, at)
        if name in ZERO_ELSEWHERE:
            return np.zeros(3) if name == "w" else 0.0
        return getattr(self, f"_{NATIVE[name]}")(*places)

    def _moved(
        self, key: Any, along: Mapping[int, float], a: np.ndarray | None = None
    ) -> Evaluation:
        """Return the evaluation at the state after an imaginary step along some speeds; with
        accelerations `a` the speeds change too.
        """
        if key not in self.varied:
            numbers = {
                role: np.array(x, complex) for role, x in self.state.numbers.items() if role != "p"
            }
            numbers["p"] = self.state.numbers["p"]
            for f in self.frames.all:
                speeds = np.array([along.get(f.v + k, 0.0) for k in range(f.nv)])
                if f.nv:
                    numbers["q"][f.q : f.q + f.nq] += (
                        1j
                        * COMPLEX_STEP
                        * _coordinate_rate(f, numbers["q"][f.q : f.q + f.nq], speeds)
                    )
            if a is not None:
                numbers["v"] = numbers["v"] + 1j * COMPLEX_STEP * a
            self.varied[key] = Evaluation(self.frames, self.definitions, State(numbers, {}))
        return self.varied[key]

    # --- what is given
    def number(self, x: Any) -> float:
        """Return the value of a scalar of the mechanism, which may be an expression."""
        return float(value_of(x, self.parameters))

    def vector(self, xs: Sequence[Any]) -> np.ndarray:
        """Return the values of three scalars."""
        return np.array([self.number(x) for x in xs])

    def _of_role(self, role: str, i: int) -> Any:
        f = self.frames.all[i]
        x = self.state.numbers[role]
        return x[f.v : f.v + f.nv] if f.ball else x[f.v] if f.nv else 0.0

    def _coordinate(self, i: int) -> Any:
        f = self.frames.all[i]
        if f.ball:
            return np.zeros(3)  # a ball has no displacement
        return self.state.numbers["q"][f.q] if f.nv else 0.0

    def _speed(self, i: int) -> Any:
        return self._of_role("v", i)

    def _acceleration(self, i: int) -> Any:
        return self._of_role("a", i)

    def _effort(self, i: int) -> Any:
        return self._of_role("tau", i)

    def _rotor(self, i: int) -> Any:
        found = [self.number(x) for x in self.frames.all[i].rotor]
        return np.diag(found) if self.frames.all[i].ball else found[0] if found else 0.0

    def _place_in_carrier(self, i: int) -> np.ndarray:
        return self.vector(self.frames.all[i].pose.position)

    def _turned(self, i: int) -> np.ndarray:
        return np.array([self.vector(row) for row in self.frames.all[i].pose.rotation])

    def _moving(self, i: int) -> np.ndarray:
        f = self.frames.all[i]
        if f.motion is None or f.slides:
            return np.eye(3)
        q = self.state.numbers["q"][f.q : f.q + f.nq]
        if f.ball:
            return quaternion_rotation(q)
        K = skew(np.array(f.motion.axis, float))
        return np.eye(3) + np.sin(q[0]) * K + (1 - np.cos(q[0])) * K @ K

    def _turn_axis(self, i: int) -> np.ndarray:
        f = self.frames.all[i]
        if f.ball:
            return np.eye(3)
        return (
            np.array(f.motion.axis, float)
            if f.motion and f.motion.motion == Motion.TURN
            else np.zeros(3)
        )

    def _slide_axis(self, i: int) -> np.ndarray:
        f = self.frames.all[i]
        if f.ball:
            return np.zeros((3, 3))
        return np.array(f.motion.axis, float) if f.motion and f.slides else np.zeros(3)

    def _mass(self, i: int) -> float:
        body = self.frames.all[i].body
        return self.number(body.mass) if body else 0.0

    def _centre(self, i: int) -> np.ndarray:
        body = self.frames.all[i].body
        return self.vector(body.com) if body else np.zeros(3)

    def _inertia(self, i: int) -> np.ndarray:
        body = self.frames.all[i].body
        return np.array(full(tuple(self.vector(body.inertia)))) if body else np.zeros((3, 3))

    def _gravity(self) -> np.ndarray:
        return self.vector(self.frames.mechanism.gravity)

    def _unit_vector(self, i: int, n: int) -> np.ndarray:
        return self.value("R", ("i",), {"i": i})[:, n]

    def _moment(self, i: int, n: int, l: int) -> float:
        I = self._inertia(i)
        return float(np.trace(I) / 2 * (n == l) - I[n, l])

    def _same(self, n: int, l: int) -> float:
        return float(n == l)

    # --- of all free frames
    @cached_property
    def _rows_of_joints(self) -> tuple[np.ndarray, np.ndarray]:
        """Return A and b of A x'' = b, the constraint rows of all joints and loops. They are linear
        in the accelerations, so that a step in each acceleration gives them exactly.
        """
        unknown = [
            (name, i, k)
            for i in range(len(self.frames.all))
            for name in ("a", "alpha")
            for k in range(3)
        ]
        still = {("a", i): np.zeros(3) for i in range(len(self.frames.all))} | {
            ("alpha", i): np.zeros(3) for i in range(len(self.frames.all))
        }
        self._residual  # noqa: B018  # so that what the rows share is known before it is taken over
        at_rest = self._with(still)._residual
        columns = [
            self._with({**still, (name, i): np.eye(3)[k]})._residual - at_rest
            for name, i, k in unknown
        ]
        return np.array(columns).T, -at_rest

    def _with(self, given: Mapping[tuple[Any, ...], Any]) -> Evaluation:
        """Return the evaluation for other accelerations. Values that do not depend on them are
        reused.
        """
        other = Evaluation(self.frames, self.definitions, self.state)
        other.known = {key: x for key, x in self.known.items() if key[0] not in ACCELERATED} | dict(
            given
        )
        other.varied = self.varied
        return other

    @property
    def _residual(self) -> np.ndarray:
        rows = [
            self.value(name, ("i",), {"i": i})
            for i in range(len(self.frames.all))
            for name in ("turn row", "slide row")
        ]
        rows += [
            np.atleast_1d(self.value("Phi''", ("k",), {"k": k}))
            for k in range(len(self.frames.rows))
        ]
        return np.concatenate(rows)

    def _identity(self) -> np.ndarray:
        return np.eye(6 * len(self.frames.all))

    def _matrix_A(self) -> np.ndarray:
        return self._rows_of_joints[0]

    def _vector_b(self) -> np.ndarray:
        return self._rows_of_joints[1]

    def _inverse_A(self) -> np.ndarray:
        return np.linalg.pinv(self._rows_of_joints[0], rcond=1e-10)

    def _matrix_M(self) -> np.ndarray:
        M = np.zeros((6 * len(self.frames.all),) * 2)
        for i in range(len(self.frames.all)):
            M[6 * i : 6 * i + 3, 6 * i : 6 * i + 3] = self._mass(i) * np.eye(3)
            M[6 * i + 3 : 6 * i + 6, 6 * i + 3 : 6 * i + 6] = self.value("J", ("i",), {"i": i})
        return M

    def _stacked(self, *names: str) -> np.ndarray:
        return np.concatenate(
            [
                self.value(name, ("i",), {"i": i})
                for i in range(len(self.frames.all))
                for name in names
            ]
        )

    def _vector_Q(self) -> np.ndarray:
        return self._stacked("X", "T")

    def _vector_x(self) -> np.ndarray:
        return self._stacked("a", "alpha")

    # --- of rows of loops
    def _multiplier(self, k: int) -> float:
        return float(np.real(self.state.numbers["lam"][k]))

    def _end(self, k: int, side: int) -> np.ndarray:
        return self.vector(self.frames.rows[k].at[side].position)

    def _end_P(self, k: int) -> np.ndarray:
        return self._end(k, 0)

    def _end_C(self, k: int) -> np.ndarray:
        return self._end(k, 1)

    def _direction(self, k: int, side: int, x: Any) -> np.ndarray:
        return np.array(
            [self.vector(row) for row in self.frames.rows[k].at[side].rotation]
        ) @ np.array(x, float)

    def _direction_P(self, k: int) -> np.ndarray:
        return self._direction(k, 0, self.frames.rows[k].a)

    def _direction_C(self, k: int) -> np.ndarray:
        return self._direction(k, 1, self.frames.rows[k].b)

    def _side(self, i: int, k: int) -> float:
        row = self.frames.rows[k]
        return float(i == row.C) - float(i == row.P)

    def _offset(self, k: int) -> float:
        row = self.frames.rows[k]
        return self.number(row.value) if row.kind == RowKind.ANGLE else 0.0


ZERO_ELSEWHERE = ("w", "B")  # an angle pulls at nothing; axes that do not turn have no bracket
ACCELERATED = (
    "a",
    "alpha",
    "o''",
    "relative turn",
    "relative slide",
    "turn row",
    "slide row",
    "Phi''",
)
PARTIAL = ("partial omega", "partial v")  # partial velocities (i, j): zero where j does not carry i
NATIVE = {
    "q": "coordinate",
    "q'": "speed",
    "q''": "acceleration",
    "tau": "effort",
    "kappa": "rotor",
    "b": "place_in_carrier",
    "P": "turned",
    "Q": "moving",
    "e": "turn_axis",
    "d": "slide_axis",
    "m": "mass",
    "c": "centre",
    "I": "inertia",
    "g": "gravity",
    "lambda": "multiplier",
    "y": "end_P",
    "z": "end_C",
    "f": "direction_P",
    "h": "direction_C",
    "sigma": "side",
    "value": "offset",
    "E": "unit_vector",
    "Jn": "moment",
    "1": "same",
    "[1]": "identity",
    "[A]": "matrix_A",
    "[A^+]": "inverse_A",
    "[M]": "matrix_M",
    "[Q]": "vector_Q",
    "[x'']": "vector_x",
    "[b]": "vector_b",
}


def _coordinate_rate(f: Any, q: np.ndarray, speeds: np.ndarray) -> np.ndarray:
    """Return the rates of a frame's coordinates at its speeds: for a quaternion, half its product
    with the angular velocity.
    """
    if not f.ball:
        return speeds
    w, x, y, z = q
    a, b, c = speeds
    return 0.5 * np.array(
        [
            -x * a - y * b - z * c,
            w * a + y * c - z * b,
            w * b + z * a - x * c,
            w * c + x * b - y * a,
        ]
    )


def quaternion_rotation(q: np.ndarray) -> np.ndarray:
    """Return the rotation matrix of a unit quaternion, scalar first."""
    w, u = q[0], skew(q[1:])
    return np.eye(3) + 2 * w * u + 2 * u @ u
