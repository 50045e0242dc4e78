"""The symbols of a compact form whose values are given at a state, in addition to the mechanism's
numbers: forces in joints and accelerations of free bodies, from the kernels.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi as ca
import numpy as np

from ..derivation.board import Board
from ..derivation.free_bodies import held_by_rows
from . import kinematics
from .evaluation import Evaluation, State
from .frames import Frames
from .language import Equation
from .page import Statement, by_name

BETA = 1e6  # the penalty factor of springs, where the formulation does not give one


def given(board: Board, frames: Frames, statement: Statement) -> list[State]:
    """Return the board's states with values for the symbols that the statement uses and does not
    define.
    """
    used = statement.symbols
    defined = set(statement.definitions)
    states = [State(numbers, {}) for numbers in board.values]
    if {"F", "N"} & (used - defined):
        wrenches = _wrenches(board)
        states = [
            State(s.numbers, _on_frames(frames, s, wrenches[k])) for k, s in enumerate(states)
        ]
    if "delta" in used:
        beta = float(getattr(board.equations, "extra", {}).get("beta", BETA))
        states = [
            State(s.numbers, {**s.given, **_gaps(frames, statement, s, beta)}) for s in states
        ]
    if {"a", "alpha"} & (used - defined):
        states = [State(s.numbers, {**s.given, **_accelerations(frames, s)}) for s in states]
    return states


def _wrenches(board: Board) -> np.ndarray:
    """Return the wrench of each joint on its child by the kernels, (states, joints, 6): torque
    about the child's origin and force, in the child's axes.
    """
    found = board.s.reactions(held_by_rows(board))
    return board.numbers(ca.vec(found.T)).reshape(len(board.values), -1, 6)


def _moving(frames: Frames, state: State) -> Evaluation:
    """Return an evaluation of the motion of the frames only."""
    equations: list[Equation] = [
        *kinematics.places(frames),
        *kinematics.velocities(frames),
        *kinematics.accelerations(frames),
        *kinematics.with_motor(frames),
    ]
    return Evaluation(frames, by_name(equations), state)


def _on_frames(frames: Frames, state: State, wrenches: np.ndarray) -> Mapping[tuple[Any, ...], Any]:
    """Return F and N of every frame in the ground's axes. The wrench of a joint is the same for all
    its frames, about the origin of each.
    """
    moving = _moving(frames, state)
    found = {}
    order = {j.name: k for k, j in enumerate(frames.mechanism.ordered)}
    seat = {f.joint.name: i for i, f in enumerate(frames.all) if f.body}
    for i, f in enumerate(frames.all):
        body = seat[f.joint.name]
        w = wrenches[order[f.joint.name]]
        R = moving.value("R", ("i",), {"i": body})
        arm = moving.value("o", ("i",), {"i": body}) - moving.value("o", ("i",), {"i": i})
        found["F", i] = R @ w[3:]
        found["N", i] = R @ w[:3] + np.cross(arm, found["F", i])
    return found


def _gaps(
    frames: Frames, statement: Statement, state: State, beta: float
) -> Mapping[tuple[Any, ...], Any]:
    """Return the gaps at which the springs of `penalty`, at rest, carry the forces of the
    joints.
    """
    moving = _moving(frames, state)
    found: dict[tuple[Any, ...], Any] = {("beta",): beta, ("gamma",): 0.0}
    for i in range(len(frames.all)):
        at = {"i": i}
        push = moving.value("tau*" if kinematics.rotors(frames) else "tau", ("i",), at)
        for gap, axis, wrench in (("delta", "s", "F"), ("phi", "u", "N")):
            along = moving.value(axis, ("i",), at) if axis in moving.definitions else np.zeros(3)
            motor = along @ push if np.ndim(along) == 2 and np.ndim(push) else along * push
            found[gap, i], found[f"{gap}'", i] = (
                (motor - state.given[wrench, i]) / beta,
                np.zeros(3),
            )
    return found


def _accelerations(frames: Frames, state: State) -> Mapping[tuple[Any, ...], Any]:
    """Return the accelerations of all frames that the joints permit."""
    moving = _moving(frames, state)
    return {
        (name, i): moving.value(name, ("i",), {"i": i})
        for i in range(len(frames.all))
        for name in ("a", "alpha")
    }
