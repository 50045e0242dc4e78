"""Where episodes start: coordinates, speeds and parameters drawn by counters.

The numbers of an episode depend on the seed, the world and the number of the episode in that world,
not on how many worlds there are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from ..compiler import uniform_numbers
from ..errors import UnknownNameError
from ..kernels import BALL
from ..machine import Machine
from .definition import Environment, Spread
from .spreads import distribution

Array = np.ndarray
START_STREAM = 1  # of the random numbers; sensors have others


@dataclass(frozen=True)
class Drawn:
    """What is random at a start. base (n,): values of everything that is set, q then v then p.
    places: of what is drawn. uniform: which of these are uniform. low, high: of uniform ones; mean
    and deviation of normal ones.
    """

    base: Array
    places: Array
    uniform: Array
    low: Array
    high: Array

    def values(self, seed: int, worlds: Array, episodes: Array) -> Array:
        """Return (worlds, n): q, v and p of each world at the start of an episode."""
        found = np.repeat(self.base[None], len(worlds), axis=0)
        if len(self.places):
            r = np.empty((len(worlds), len(self.places)))
            uniform_numbers(seed, START_STREAM, episodes, worlds, r)
            spread = np.where(
                self.uniform,
                self.low + (self.high - self.low) * r,
                self.low + self.high * ndtri(r),
            )
            found[:, self.places] += spread
        return found


def drawn(environment: Environment, machine: Machine, neutral: Array) -> Drawn:
    """Return how episodes of an environment start.

    Raises UnknownNameError for a name that the mechanism does not have, QuestionError for a spread
    that is none.
    """
    where = f"mechanism {machine.mechanism.name!r}"
    parameters = machine.mechanism.parameters
    nq, nv = machine.nq, machine.nv
    base = np.concatenate([neutral, np.zeros(nv), list(parameters.values())])
    places = {name: k for k, name in enumerate(machine.coordinate_names)}
    places |= {f"v['{name}']": nq + k for k, name in enumerate(machine.speed_names)}
    random: dict[int, tuple[bool, float, float]] = {}
    given: dict[int, float] = {}
    for name, spread in environment.start.items():
        if name in ("q", "v"):
            first, count = (0, nq) if name == "q" else (nq, nv)
            for k in range(first, first + count):
                random[k] = distribution(name, spread)
    for name, spread in environment.start.items():
        if name in ("q", "v"):
            continue
        if name not in places:
            raise UnknownNameError("coordinate or speed", name, ("q", "v", *places), where)
        _set(name, spread, places[name], given, random)
    for k, name in enumerate(parameters):
        if name in environment.parameters:
            _set(name, environment.parameters[name], nq + nv + k, given, random)
    for name in environment.parameters:
        if name not in parameters:
            raise UnknownNameError("parameter", name, parameters, where)
    for k, value in given.items():
        base[k] = value
    order = sorted(random)
    table = [random[k] for k in order]
    return Drawn(
        base,
        np.array(order, int),
        np.array([x[0] for x in table], bool),
        np.array([x[1] for x in table]),
        np.array([x[2] for x in table]),
    )


def _set(
    name: str,
    spread: Spread,
    place: int,
    given: dict[int, float],
    random: dict[int, tuple[bool, float, float]],
) -> None:
    """Note a number or a distribution for one place."""
    if isinstance(spread, int | float):
        given[place] = float(spread)
        random.pop(place, None)
    else:
        given[place] = 0.0
        random[place] = distribution(name, spread)


def unit_quaternions(machine: Machine, q: Array) -> None:
    """Divide the quaternions in coordinates (n, nq) by their lengths, in place."""
    for c in machine.layout.coordinates:
        if c.motion == BALL:
            part = q[:, c.qi : c.qi + 4]
            part /= np.linalg.norm(part, axis=1, keepdims=True)
