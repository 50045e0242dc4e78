"""The variables of an FMU, in the order of their value references: time, states, derivatives,
inputs, outputs, parameters, event indicators.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from xml.sax.saxutils import quoteattr

import casadi as ca

from ...model import si_powers
from ..c_header import header
from ..plant import VERSION, Plant

UNITS = {  # unit -> exponents of base units
    "rad": "rad='1'",
    "rad/s": "rad='1' s='-1'",
    "rad/s2": "rad='1' s='-2'",
    "m": "m='1'",
    "m/s": "m='1' s='-1'",
    "m/s2": "m='1' s='-2'",
    "N": "kg='1' m='1' s='-2'",
    "N.m": "kg='1' m='2' s='-2'",
    "J": "kg='1' m='2' s='-2'",
    "s": "s='1'",
    "1": "",
    "1/s": "s='-1'",
}
RATES = {"rad": "rad/s", "m": "m/s", "rad/s": "rad/s2", "m/s": "m/s2", "1": "1/s"}
KINDS = {"me": ("ModelExchange", 1), "cs": ("CoSimulation", 2)}
TOLERANCE = 1e-9  # relative tolerance of co-simulation where the importing tool gives none


@dataclass(frozen=True)
class FmuVariable:
    """A variable of an FMU.

    reference: its value reference. derivative_of: the reference of the state whose rate it is, or
    0. The other fields are attributes of modelDescription.xml.
    """

    reference: int
    name: str
    causality: str
    variability: str
    initial: str
    unit: str
    meaning: str
    start: float | None = None
    derivative_of: int = 0


@dataclass(frozen=True)
class Unit:
    """An FMU to be written: the plant, the kinds ("me", "cs"), and the variables that follow from
    them.
    """

    plant: Plant
    kinds: tuple[str, ...]

    @cached_property
    def token(self) -> str:
        """The identifier of this model: equal models have equal tokens."""
        digest = hashlib.sha256(f"{header(self.plant)}{self.kinds}".encode()).hexdigest()
        return "-".join((digest[:8], digest[8:12], digest[12:16], digest[16:20], digest[20:32]))

    @cached_property
    def variables(self) -> tuple[FmuVariable, ...]:
        """All variables, in the order of their references."""
        return tuple(FmuVariable(k, *rest) for k, rest in enumerate(self._rows()))

    def _rows(self) -> Iterator[tuple[Any, ...]]:
        """Yield the fields of each variable after its reference."""
        p = self.plant
        yield "time", "independent", "continuous", "", "s", "time"
        for x in p.states:
            yield x.name, "output", "continuous", "exact", x.unit, x.meaning, x.start
        for k, x in enumerate(p.states):
            yield (
                f"der({x.name})",
                "local",
                "continuous",
                "calculated",
                RATES[x.unit],
                f"rate of {x.name}",
                None,
                k + 1,
            )
        for x in p.inputs:
            yield x.name, "input", "continuous", "", x.unit, x.meaning, x.start
        for x in p.outputs:
            yield x.name, "output", "continuous", "calculated", x.unit, x.meaning
        for x in p.parameters:
            yield x.name, "parameter", "tunable", "exact", x.unit, x.meaning, x.start
        for name in p.sticking.names if p.sticking else ():
            for word, unit in (
                ("slip", ""),
                ("force above lowest", ""),
                ("force below highest", ""),
            ):
                meaning = f"dry friction of {name}: its mode ends where this falls below zero"
                yield f"{word} of {name}", "local", "continuous", "calculated", unit, meaning

    @property
    def derivatives(self) -> list[FmuVariable]:
        """The rates of the states."""
        return [x for x in self.variables if x.derivative_of]

    @property
    def outputs(self) -> list[FmuVariable]:
        """The variables with causality output: states and outputs of the plant."""
        return [x for x in self.variables if x.causality == "output"]

    @property
    def indicators(self) -> list[FmuVariable]:
        """The event indicators."""
        count = 3 * len(self.plant.sticking.names) if self.plant.sticking else 0
        return list(self.variables[len(self.variables) - count :])

    @property
    def unknown_at_start(self) -> list[FmuVariable]:
        """The variables whose values are computed from the start values."""
        found = [x for x in self.variables if x.initial == "calculated"]
        return found[: len(found) - len(self.indicators)]

    def dependencies(self, x: FmuVariable, start: bool = False) -> list[int]:
        """Return the references of the variables on which x depends, by the sparsity of the plant's
        functions: among time, states and inputs, and at the start also parameters.
        """
        p = self.plant
        if x.derivative_of:
            f = p.derivative
            row = x.derivative_of - 1
        elif x.initial == "exact":
            return [x.reference]
        else:
            f = p.output
            row = x.reference - self._first["y"]
        found = []
        sizes = {"u": len(p.inputs)}  # modes of friction are no variables
        for k, letter in enumerate("txup"):
            if letter != "p" or start:
                columns = _columns(f, k).get(row, [])
                columns = [c for c in columns if c < sizes.get(letter, len(columns) + c)]
                found += [self._first[letter] + column for column in columns]
        return found

    @cached_property
    def _first(self) -> dict[str, int]:
        """The first references of time, states, inputs, outputs and parameters."""
        p = self.plant
        u = 1 + 2 * len(p.states)
        return {
            "t": 0,
            "x": 1,
            "u": u,
            "y": u + len(p.inputs),
            "p": u + len(p.inputs) + len(p.outputs),
        }

    @property
    def units(self) -> list[str]:
        """The units that the variables use."""
        used = dict.fromkeys(x.unit for x in self.variables if x.unit)
        return [*(u for u in UNITS if u in used), *(u for u in used if u not in UNITS)]


def exponents(unit: str) -> str:
    """Return the exponents of the base units of a unit such as "kg.m2", as XML attributes."""
    if unit in UNITS:
        return UNITS[unit]
    powers = si_powers(re.sub(r"([^\W\d])(\d)", r"\1^\2", unit.replace(".", "*")))
    short = {"kilogram": "kg", "meter": "m", "second": "s", "radian": "rad", "ampere": "A"}
    short |= {"kelvin": "K", "mole": "mol", "candela": "cd"}
    return " ".join(f"{short[base]}='{k}'" for base, k in powers.items())


def _columns(f: ca.Function, k: int) -> dict[int, list[int]]:
    """Return {row: columns on which it depends} of the derivative of f by its k-th argument."""
    found: dict[int, list[int]] = {}
    for row, column in zip(*f.jac_sparsity(0, k).get_triplet()):
        found.setdefault(row, []).append(column)
    return found


def attributes(**given: object) -> str:
    """Return XML attributes of the values that are not None or empty; numbers have all digits."""
    said = {
        name: repr(x) if isinstance(x, float) else str(x)
        for name, x in given.items()
        if x is not None and (x != "" or name == "dependencies")
    }
    return "".join(f" {name}={quoteattr(_clean(text))}" for name, text in said.items())


def _clean(text: str) -> str:
    """Return a text with characters that XML does not allow replaced by spaces."""
    return "".join(c if c.isprintable() else " " for c in text)


def heading(unit: Unit) -> dict[str, object]:
    """Return the attributes of the model that FMI 2 and FMI 3 have in common."""
    return {
        "modelName": unit.plant.mechanism.name or unit.plant.name,
        "generationTool": f"catena {VERSION}",
        "variableNamingConvention": "flat",
    }
