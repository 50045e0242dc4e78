"""FMUs as controllers: a functional mock-up unit for co-simulation is stepped at a fixed sample
time and its forces are held in between.

    FMU("pd.fmu", inputs={"angle": "q_elbow", "rate": "v_elbow"}, outputs={"elbow": "torque"},
    sample=0.001)

At the start the inputs are set during initialisation. At every later sample t_n they are set to
their values at t_n, the FMU steps from t_(n-1) to t_n, and its outputs act until t_(n+1). A law
without memory thus equals a Python function called at these times; a law with memory sees, over
each step, what was measured at the end of that step.

An FMU contains a compiled program: a mechanism file may name one only where the caller allows it
(`trusted`).
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
from .control_laws import check_sample_time

VERSIONS = ("2.0", "3.0")  # the versions of FMI that FMPy runs
REALS = {"2.0": ("Real",), "3.0": ("Float64",)}  # the types of a real number, by version


@dataclass(frozen=True)
class FMU:
    """A controller from an FMU of FMI 2 or 3 for co-simulation.

    It needs the package FMPy: pip install 'catena[fmi]'.

    Parameters
    ----------
    path : str or Path
        The .fmu file.
    inputs : mapping
        {input of the FMU: a number, or a text of t, q_<coordinate>, v_<speed> and parameters}.
    outputs : mapping
        {joint, coordinate or speed: output of the FMU}, N m or N.
    sample : float
        The sample time, s.
    parameters : mapping, default empty
        {parameter of the FMU: value}, set before initialisation.

    Attributes
    ----------
    digest : str
        The SHA-256 digest of the file.

    Raises
    ------
    StateError
        If FMPy or the file is missing, the FMU cannot run on this machine, or a name is not one of
        its variables.
    """

    path: str | Path
    inputs: Mapping[str, str | float]
    outputs: Mapping[str, str]
    sample: float
    parameters: Mapping[str, float] = field(default_factory=dict)
    digest: str = field(init=False, default="")

    def __post_init__(self) -> None:
        check_sample_time("FMU", self.sample)
        if self.sample is None:
            raise StateError("FMU: sample is None; it is a time above zero (s)")
        object.__setattr__(self, "path", str(self.path))
        description = _read_description(str(self.path))
        if faults := [*_platform_faults(self, description), *_variable_faults(self, description)]:
            raise StateError(
                f"FMU {self.path!r} cannot be this controller:"
                + "".join(f"\n  - {x}" for x in faults)
            )
        object.__setattr__(self, "digest", hashlib.sha256(Path(self.path).read_bytes()).hexdigest())

    def bound(self, machine: Machine) -> BoundFMU:
        """Return the controller of one mechanism: a function (t, q, v) -> forces with FMU
        instances.
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
    """An FMU whose names were looked up in a mechanism, with one FMU instance per parallel run."""

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
        self._along, self._measured = (
            _output_speeds(asked, machine),
            _input_function(asked, machine),
        )
        self._folder: str = ""
        self._instances: list[_Instance] = []
        self._begun = False

    def begin(self, t: float) -> None:
        """Begin a run at time t (s): free the FMU instances of an earlier run."""
        self._free()
        self._begun, self._last = True, t

    def __call__(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Return the forces at the sample time t: (nv,), or (W, nv) for states of W parallel
        runs.
        """
        if not self._begun:
            raise SimulationError(
                f"FMU {self.asked.path!r}: a run with an FMU cannot be resumed, as what it"
                " remembers is not in the result; start it anew"
            )
        q, v, single = np.atleast_2d(q), np.atleast_2d(v), np.ndim(q) == 1
        tau = np.zeros((len(q), self.nv))
        while len(self._instances) < len(q):
            self._instances.append(self._instantiate(t))
        for k, instance in enumerate(self._instances[: len(q)]):
            given = np.array(self._measured(t, q[k], v[k])).ravel()
            for i, x in zip(self._along, instance.at(t, given)):
                tau[k, i] += x
        return tau[0] if single else tau

    def _instantiate(self, t: float) -> _Instance:
        """Return a new FMU instance; the archive is unpacked once, into a temporary folder."""
        import fmpy

        if not self._folder:
            self._folder = fmpy.extract(self.asked.path)
            weakref.finalize(self, _remove_folder, self._folder)
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
        """Free all FMU instances."""
        for instance in self._instances:
            instance.free()
        self._instances = []


class _Instance:
    """One instance of an FMU, with the time it has reached."""

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
        """Set the inputs, initialise or step to time t (s), and return the outputs."""
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
        """Set parameters and inputs, and initialise the FMU at time t (s)."""
        self._set([*self.parameters], [*self.parameters.values()])
        if self.three:
            self.fmu.enterInitializationMode(startTime=t)
        else:
            self.fmu.setupExperiment(startTime=t)
            self.fmu.enterInitializationMode()
        self._set(self.inputs, given)
        self.fmu.exitInitializationMode()

    def _set(self, references: list[int], values: Any) -> None:
        """Set real variables by their value references."""
        if references:
            (self.fmu.setFloat64 if self.three else self.fmu.setReal)(
                references, [float(x) for x in values]
            )

    def free(self) -> None:
        """Terminate the instance and free its memory."""
        try:
            self.fmu.terminate()
        finally:
            self.fmu.freeInstance()


# --- what can be wrong
def _read_description(path: str) -> Any:
    """Return the model description of an FMU, read by FMPy; raise StateError where there is
    none.
    """
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


def _platform_faults(asked: FMU, description: Any) -> Iterator[str]:
    """Yield the reasons why this FMU cannot run on this machine."""
    if description.coSimulation is None:
        yield (
            "it has no co-simulation, only model exchange; export it for co-simulation (catena"
            " export --kind cs, or its tool's option of that name)"
        )
        return
    from fmpy import platform, platform_tuple

    here = {platform, platform_tuple} if description.fmiVersion == "2.0" else {platform_tuple}
    with zipfile.ZipFile(asked.path) as archive:
        binaries = sorted(
            {
                parts[1]
                for name in archive.namelist()
                if (parts := name.split("/"))[0] == "binaries" and len(parts) > 2
            }
        )
    if not here & set(binaries):
        sources = "; it may hold sources: fmpy compile FILE makes a binary" if not binaries else ""
        yield (
            f"it has no binary for this machine ({' or '.join(sorted(here))}); it holds"
            f" {', '.join(binaries) or 'none'}{sources}"
        )


def _variable_faults(asked: FMU, description: Any) -> Iterator[str]:
    """Yield a sentence for each variable that is missing or has the wrong causality or type."""
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


def _output_speeds(asked: FMU, machine: Machine) -> list[int]:
    """Return the index of the speed along which each output acts."""
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


def _input_function(asked: FMU, machine: Machine) -> ca.Function:
    """Return the function (t, q, v) -> values of the FMU's inputs."""
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


def _remove_folder(folder: str) -> None:
    """Remove the folder into which an FMU was unpacked."""
    import shutil

    shutil.rmtree(folder, ignore_errors=True)
