"""FMUs as controllers: a functional mock-up unit of co-simulation, asked every so often, its forces
held in between.

    FMU("pd.fmu", inputs={"angle": "q_elbow", "rate": "v_elbow"}, outputs={"elbow": "torque"},
    sample=0.001)

At the start its inputs are set while it initialises; at every later sample t_n they are set to
their values there, the FMU steps from t_(n-1) to t_n, and its outputs act until t_(n+1). A law
without memory is thus the same as a Python function asked at these times; one with memory sees over
each step what was measured at its end.

An FMU is a program of somebody's: files name one on the caller's word alone (`trusted`).
"""

from __future__ import annotations

import hashlib
import math
import os
import weakref
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn
from xml.etree import ElementTree

import casadi as ca
import numpy as np

from ...errors import CatenaError, ExpressionError, SimulationError, StateError, unknown
from ...machine import Machine, speeds_of
from ...model import evaluate, parse
from ...model.loads import identifier
from .control_laws import sampling

VERSIONS = ("2.0", "3.0")
REALS = {"2.0": ("Real",), "3.0": ("Float64",)}


@dataclass(frozen=True)
class FMU:
    """A controller out of an FMU of FMI 2 or 3 for co-simulation (needs FMPy: pip install
    'catena[fmi]').

    path: the .fmu file. inputs: {its input: a number, or a text of t, q_<coordinate>, v_<speed> and
    parameters}. outputs: {joint, coordinate or speed: its output, N m or N}. sample: seconds
    between samples. parameters: {its parameter: value}, set before it initialises.
    """

    path: str | Path
    inputs: Mapping[str, str | float]
    outputs: Mapping[str, str]
    sample: float
    parameters: Mapping[str, float] = field(default_factory=dict)
    digest: str = field(init=False, default="")

    def __post_init__(self) -> None:
        sampling("FMU", self.sample)
        if self.sample is None:
            raise StateError("FMU: sample is None; it is a time above zero (s)")
        object.__setattr__(self, "path", str(self.path))
        description = _described(str(self.path))
        if faults := [*_unfit(self, description), *_misnamed(self, description)]:
            raise StateError(
                f"FMU {self.path!r} cannot be this controller:"
                + "".join(f"\n  - {x}" for x in faults)
            )
        object.__setattr__(self, "digest", hashlib.sha256(Path(self.path).read_bytes()).hexdigest())

    def bound(self, machine: Machine) -> BoundFMU:
        """The controller of this mechanism: a function (t, q, v) -> forces, with instances of the
        FMU.
        """
        return BoundFMU(self, machine)

    def __add__(self, other: object) -> NoReturn:
        raise StateError(
            "an FMU cannot be added to another controller: it is asked from Python, and the others"
            " run inside the machine code; let the FMU give all forces, or write the other as a"
            " load of the mechanism"
        )

    __radd__ = __add__


class BoundFMU:
    """An FMU with the names of a mechanism looked up; one instance for each run that goes on side
    by side.
    """

    def __init__(self, asked: FMU, machine: Machine):
        import fmpy

        self.asked = asked
        self.sample = asked.sample
        self.nv = machine.nv
        self._description = fmpy.read_model_description(asked.path)
        references = {x.name: x.valueReference for x in self._description.modelVariables}
        self._inputs, self._outputs = (
            [references[x] for x in asked.inputs],
            [references[x] for x in asked.outputs.values()],
        )
        self._parameters = {references[x]: float(value) for x, value in asked.parameters.items()}
        self._along, self._measured = _places(asked, machine), _measured(asked, machine)
        self._folder: str = ""
        self._instances: list[_Instance] = []
        self._begun = False

    def begin(self, t: float) -> None:
        """A run begins: what instances there are belong to another."""
        self._free()
        self._begun, self._last = True, t

    def __call__(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """The forces (nv,) at a sample; of several runs side by side (W, nv)."""
        if not self._begun:
            raise SimulationError(
                f"FMU {self.asked.path!r}: a run with an FMU cannot be resumed, as what it"
                " remembers is not in the result; start it anew"
            )
        q, v, single = np.atleast_2d(q), np.atleast_2d(v), np.ndim(q) == 1
        tau = np.zeros((len(q), self.nv))
        while len(self._instances) < len(q):
            self._instances.append(self._made(t))
        for k, instance in enumerate(self._instances[: len(q)]):
            given = np.array(self._measured(t, q[k], v[k])).ravel()
            for i, x in zip(self._along, instance.at(t, given)):
                tau[k, i] += x
        return tau[0] if single else tau

    def _made(self, t: float) -> _Instance:
        import fmpy

        if not self._folder:
            self._folder = fmpy.extract(self.asked.path)
            weakref.finalize(self, _removed, self._folder)
        try:
            fmu = fmpy.instantiate_fmu(self._folder, self._description, "CoSimulation")
        except Exception as why:
            raise SimulationError(f"FMU {self.asked.path!r} could not be started: {why}") from None
        return _Instance(
            fmu,
            self._description.fmiVersion,
            self._inputs,
            self._outputs,
            self._parameters,
            str(self.asked.path),
        )

    def _free(self) -> None:
        for instance in self._instances:
            instance.free()
        self._instances = []


class _Instance:
    """One running FMU."""

    def __init__(
        self,
        fmu: Any,
        version: str,
        inputs: list[int],
        outputs: list[int],
        parameters: Mapping[int, float],
        path: str,
    ):
        self.fmu = fmu
        self.inputs = inputs
        self.outputs = outputs
        self.parameters = parameters
        self.path = path
        self.three = version == "3.0"
        self.last = math.nan

    def at(self, t: float, given: np.ndarray) -> list[float]:
        """The outputs at time t with the inputs given."""
        try:
            if math.isnan(self.last):
                self._start(t, given)
            else:
                self._set(self.inputs, given)
                self.fmu.doStep(
                    currentCommunicationPoint=self.last, communicationStepSize=t - self.last
                )
            self.last = t
            return list((self.fmu.getFloat64 if self.three else self.fmu.getReal)(self.outputs))
        except CatenaError:
            raise
        except Exception as why:  # what FMPy raises where the FMU answers with an error
            raise SimulationError(f"FMU {self.path!r} failed at t = {t:.6g} s: {why}") from None

    def _start(self, t: float, given: np.ndarray) -> None:
        self._set([*self.parameters], [*self.parameters.values()])
        if self.three:
            self.fmu.enterInitializationMode(startTime=t)
        else:
            self.fmu.setupExperiment(startTime=t)
            self.fmu.enterInitializationMode()
        self._set(self.inputs, given)
        self.fmu.exitInitializationMode()

    def _set(self, references: list[int], values: Any) -> None:
        if references:
            (self.fmu.setFloat64 if self.three else self.fmu.setReal)(
                references, [float(x) for x in values]
            )

    def free(self) -> None:
        """End it."""
        try:
            self.fmu.terminate()
        finally:
            self.fmu.freeInstance()


# --- what can be wrong
def _described(path: str) -> Any:
    """Its model description, read by FMPy."""
    try:
        import fmpy
    except ImportError:
        raise StateError(
            f"FMU {path!r}: FMUs are run by the package FMPy, which is not installed: pip install"
            " 'catena[fmi]'"
        ) from None
    if not os.path.isfile(path):
        raise StateError(f"FMU {path!r}: there is no such file")
    try:
        with zipfile.ZipFile(path) as unit:
            version = ElementTree.fromstring(unit.read("modelDescription.xml")).get("fmiVersion")
        if version not in VERSIONS:
            raise StateError(
                f"FMU {path!r} is of FMI {version}; versions {' and '.join(VERSIONS)} are taken"
            )
        return fmpy.read_model_description(path, validate=False)
    except StateError:
        raise
    except Exception as why:
        first = (str(why).strip().splitlines() or [type(why).__name__])[0]
        raise StateError(
            f"FMU {path!r} has no model description that can be read: {first}"
        ) from None


def _unfit(asked: FMU, description: Any) -> Iterator[str]:
    """Why this FMU is not to be run here."""
    if description.coSimulation is None:
        yield (
            "it has no co-simulation, only model exchange; export it for co-simulation (catena"
            " export --kind cs, or its tool's option of that name)"
        )
        return
    from fmpy import platform, platform_tuple

    here = {platform, platform_tuple} if description.fmiVersion == "2.0" else {platform_tuple}
    with zipfile.ZipFile(asked.path) as archive:
        held = sorted(
            {
                parts[1]
                for name in archive.namelist()
                if (parts := name.split("/"))[0] == "binaries" and len(parts) > 2
            }
        )
    if not here & set(held):
        sources = "; it may hold sources: fmpy compile FILE makes a binary" if not held else ""
        yield (
            f"it has no binary for this machine ({' or '.join(sorted(here))}); it holds"
            f" {', '.join(held) or 'none'}{sources}"
        )


def _misnamed(asked: FMU, description: Any) -> Iterator[str]:
    """Variables that are not there, or not what they are taken for."""
    known = {x.name: x for x in description.modelVariables}
    for names, word, causalities in (
        (asked.inputs, "input", ("input",)),
        (asked.outputs.values(), "output", ("output", "local")),
        (asked.parameters, "parameter", ("parameter",)),
    ):
        fit = [n for n, x in known.items() if x.causality in causalities]
        for name in names:
            if name not in known:
                yield unknown(word, name, fit or ["(none)"], "the FMU")
            elif known[name].causality not in causalities:
                yield (
                    f"variable {name!r} has the causality {known[name].causality},"
                    f" {' or '.join(causalities)} is wanted"
                )
            elif (
                known[name].type not in REALS.get(description.fmiVersion, ())
                or known[name].dimensions
            ):
                yield f"variable {name!r} is of type {known[name].type}; one real number is wanted"
    yield from (
        f"parameter {name!r} is {x!r}; a finite number is wanted"
        for name, x in asked.parameters.items()
        if isinstance(x, bool | str) or not np.isfinite(x)
    )
    if not asked.outputs:
        yield "outputs is empty; it names the forces, {joint: output}"


def _places(asked: FMU, machine: Machine) -> list[int]:
    """The speeds along which its outputs act."""
    found = []
    for name in asked.outputs:
        places = speeds_of(machine, name)
        if len(places) != 1:
            raise StateError(
                f"FMU {asked.path!r}: output {asked.outputs[name]!r} acts along {name!r}, which has"
                f" {len(places)} speeds; name one of them"
            )
        found += places
    return found


def _measured(asked: FMU, machine: Machine) -> ca.Function:
    """(t, q, v) -> its inputs."""
    t = ca.SX.sym("t")
    q = ca.SX.sym("q", machine.nq)
    v = ca.SX.sym("v", machine.nv)
    m = machine.mechanism
    table: dict[str, Any] = {**m.parameters, "t": t} | {
        f"q_{identifier(n)}": q[k] for k, n in enumerate(machine.coordinate_names)
    }
    table |= {f"v_{identifier(n)}": v[k] for k, n in enumerate(machine.speed_names)}
    found = []
    for name, x in asked.inputs.items():
        try:
            found.append(
                ca.SX(evaluate(parse(x, list(table)), table))
                if isinstance(x, str)
                else ca.SX(float(x))
            )
        except (ExpressionError, ValueError) as why:
            raise StateError(f"FMU {asked.path!r}: input {name!r}: {why}") from None
    return ca.Function("inputs", [t, q, v], [ca.densify(ca.vertcat(*found))])


def _removed(folder: str) -> None:
    import shutil

    shutil.rmtree(folder, ignore_errors=True)
