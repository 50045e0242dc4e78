"""LiveModel: from the text of a model to its picture and its motion, fast enough to follow a
slider.

The numbers of the model become parameters of one compiled system (`lifted`), so that a run after a
change of any of them needs no compilation; only a change of structure does.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import sympy

from ..errors import CatenaError, FormatError, MechanismWarning
from ..formats.toml import parsed
from ..machine import Machine
from ..model import Body, Joint, Mechanism, Pose, doubts
from ..results import Result
from ..simulation import simulate
from ..simulation.scenario import Scenario, mechanism_of_table, read_table

Array = np.ndarray
DEFAULT_DURATION = 5.0  # s, of a model whose file gives no duration
NUMBER_PREFIX = "number_"  # of the names of parameters that stand for numbers


@dataclass(frozen=True)
class Reading:
    """The result of reading a text: the mechanism and its scenario where they could be read,
    faults and doubts as sentences.
    """

    mechanism: Mechanism | None = None
    scenario: Scenario | None = None
    faults: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()


@dataclass
class LiveModel:
    """The last structure that was compiled, and its machine."""

    path: Path
    structure: Mechanism | None = None
    machine: Machine | None = None
    compiled: int = field(default=0)  # how many structures so far
    _lock: Lock = field(default_factory=Lock)

    def read(self, text: str) -> Reading:
        """Return mechanism, scenario and faults of a text."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MechanismWarning)
            try:
                top = parsed(self.path, text.encode())
                m = mechanism_of_table(self.path, top)
            except CatenaError as why:
                return Reading(faults=_sentences(why))
            try:
                until: dict[str, Any] = (
                    {}
                    if "until" in (top.data.get("scenario") or {})
                    else {"until": DEFAULT_DURATION}
                )
                return Reading(
                    m, read_table(self.path, top, m, self.at, **until), doubts=tuple(doubts(m))
                )
            except CatenaError as why:
                return Reading(m, None, _sentences(why), tuple(doubts(m)))

    def at(self, m: Mechanism) -> Machine:
        """Return the machine of a mechanism; it is compiled only if the structure has changed."""
        return self._both(m)[1]

    def _both(self, m: Mechanism) -> tuple[Machine, Machine]:
        """Return the machine compiled for this structure, and the same machine at the mechanism's
        numbers.
        """
        made, values = lifted(m)
        bare = made.with_(parameters=dict.fromkeys(made.parameters, 1.0))
        with self._lock:  # runs, drags and questions come from several threads
            if bare != self.structure or self.machine is None:
                self.machine = Machine(made, life="lanes")
                self.structure = bare
                self.compiled = self.compiled + 1
            base = self.machine
        return base, base.at(values)

    def run(
        self,
        asked: Scenario,
        until: float | None = None,
        rate: float = 60.0,
        progress: Callable[[float], None] | None = None,
    ) -> Result:
        """Return the motion of a scenario, with at least `rate` rows per second.

        until: an earlier end, s. progress: called with the time that the run has reached.
        """
        base, tuned = self._both(asked.mechanism)
        p = np.array(list(tuned.mechanism.parameters.values()))
        options = dict(asked.options)
        own = options.pop("parameters", {})
        if own:
            names = list(tuned.mechanism.parameters)
            p[[names.index(name) for name in own]] = list(own.values())
        end = min(asked.until, until) if until else asked.until
        spacing = options.pop("output", None)
        output = (
            min(1 / rate, float(spacing))
            if np.ndim(spacing) == 0 and spacing is not None
            else 1 / rate
        )
        options.setdefault("tolerance", 1e-7)
        options |= {
            "output": min(output, end / 4),
            "parameters": p if len(p) else None,
            "progress": progress,
        }
        return simulate(base, q=asked.q, v=asked.v, until=end, **options)


def _sentences(why: CatenaError) -> tuple[str, ...]:
    """Return the faults in an error, or its message."""
    return tuple(why.faults) if isinstance(why, FormatError) and why.faults else (str(why),)


# --- numbers made parameters
def lifted(m: Mechanism) -> tuple[Mechanism, dict[str, float]]:
    """Return the mechanism with its numbers as parameters, and their values.

    Numbers are those of bodies, positions of joints and frames, losses and springs. Zeros,
    rotations, axes and all numbers of flexible bodies are not replaced, because they belong to the
    structure.
    """
    values = dict(m.parameters)

    def lift(x: Any) -> Any:
        if not isinstance(x, float) or x == 0.0 or not np.isfinite(x):
            return x
        name = f"{NUMBER_PREFIX}{len(values)}"
        values[name] = x
        return sympy.Symbol(name)

    if m.beams or m.as_found:
        return m, values
    made = m.with_(
        bodies=tuple(_body(b, lift) for b in m.bodies),
        joints=tuple(_joint(j, lift) for j in m.joints),
        loops=tuple(_joint(j, lift) for j in m.loops),
        frames=tuple(replace(f, pose=_pose(f.pose, lift)) for f in m.frames),
        loads=tuple(_load(x, lift) for x in m.loads),
    )
    return made.with_(parameters=values), values


def _body(b: Body, lift: Callable[[Any], Any]) -> Body:
    """Return a body with parameters for numbers, and without shapes."""
    return replace(
        b,
        mass=lift(b.mass),
        com=tuple(map(lift, b.com)),
        inertia=tuple(map(lift, b.inertia)),
        shapes=(),
    )


def _pose(X: Pose, lift: Callable[[Any], Any]) -> Pose:
    """Return a pose with parameters for the numbers of its position."""
    return replace(X, position=tuple(map(lift, X.position)))


def _joint(j: Joint, lift: Callable[[Any], Any]) -> Joint:
    """Return a joint with parameters for the numbers of its positions and losses."""
    losses: Mapping[str, Any] = {
        name: tuple(map(lift, getattr(j, name))) for name in ("damping", "friction", "armature")
    }
    return replace(j, placement=_pose(j.placement, lift), offset=_pose(j.offset, lift), **losses)


def _load(load: Any, lift: Callable[[Any], Any]) -> Any:
    """Return a load with parameters for its numbers."""
    names = [
        n
        for n in ("stiffness", "length", "damping", "rest")
        if isinstance(getattr(load, n, None), float)
    ]
    return replace(load, **{n: lift(getattr(load, n)) for n in names}) if names else load
