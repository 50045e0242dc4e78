"""FMUs of ours in FMPy (model exchange by CVode, co-simulation by our own integrator) against
`simulate`.

Model exchange is run at several tolerances of CVode, whose backward differences are the error that
is seen; the same functions of the same FMU are also integrated by SciPy's DOP853, which is a
Runge-Kutta method.

    python benchmarks/fmu_agreement.py            triple pendulum, four-bar, Panda; FMI 2 and 3
    python benchmarks/fmu_agreement.py --tiny     the triple pendulum, FMI 2, a tenth of a second
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from catena.exports.fmi import write_fmu
from catena.exports.plant import plant
from catena.formats import load
from catena.machine.machine import compile
from catena.simulation import simulate
from catena.simulation.scenario.read import read


def cases(tiny: bool):
    """Name, mechanism, q, v, forces, seconds."""
    for name, until in (
        ("triple_pendulum", 0.1 if tiny else 2.0),
        *(() if tiny else (("four_bar", 1.0),)),
    ):
        s = read(name)
        yield name, s.mechanism, s.q, s.v, np.zeros(len(s.v)), until
    if not tiny:
        from robots import urdf

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            m = load(urdf("panda"))
        q = np.array([0.1, -0.3, 0.2, -1.5, 0.1, 1.2, 0.3, 0.01])
        yield "panda", m, q, np.zeros(8), compile(m).gravity(q) + 0.3, 0.5


def main(tiny: bool) -> None:
    """Print one line per FMU and kind."""
    import fmpy
    from fmpy.validation import validate_fmu

    print(
        "mechanism         FMI  how                   problems  difference  largest entry  seconds"
    )
    with tempfile.TemporaryDirectory() as folder:
        for name, m, q, v, tau, until in cases(tiny):
            ours = simulate(
                m, q, v, until, forces=tau, tolerance=1e-13, output=until / 10, limits="ignore"
            ).data
            wanted = np.concatenate([ours.q.values, ours.v.values], axis=1)
            p = plant(m, q, v, until=until)
            for version in (2,) if tiny else (2, 3):
                fmu = str(write_fmu(p, Path(folder) / f"{name}{version}.fmu", version).path)
                problems = len(validate_fmu(fmu))
                names = [x.name for x in p.states]
                start = {u.name: float(f) for u, f in zip(p.inputs, tau)}
                for kind, tolerance in (
                    ("ModelExchange", 1e-12),
                    ("ModelExchange", 1e-13),
                    ("ModelExchange", 1e-14),
                    ("CoSimulation", 1e-12),
                ):
                    began = time.perf_counter()
                    found = fmpy.simulate_fmu(
                        fmu,
                        stop_time=until,
                        output_interval=0.005,
                        relative_tolerance=tolerance,
                        fmi_type=kind,
                        output=names,
                        start_values=start,
                    )
                    at = [int(np.argmin(np.abs(found["time"] - t))) for t in ours.time.values]
                    far = np.abs(np.stack([found[n] for n in names], axis=1)[at] - wanted).max()
                    line(name, version, f"{kind} {tolerance:g}", problems, far, wanted, began)
                if version == 2:
                    began = time.perf_counter()
                    far = np.abs(
                        by_runge_kutta(fmu, start, ours.time.values, len(names)) - wanted
                    ).max()
                    line(name, version, "by DOP853 1e-13", problems, far, wanted, began)


def line(
    name: str, version: int, how: str, problems: int, far: float, wanted: np.ndarray, began: float
) -> None:
    print(
        f"{name:<16}  {version:>3}  {how:<20}  {problems:>8}  {far:>10.1e} "
        f" {np.abs(wanted).max():>13.3g}  {time.perf_counter() - began:>7.2f}"
    )


def by_runge_kutta(path: str, inputs: dict[str, float], times: np.ndarray, nx: int) -> np.ndarray:
    """The states of an FMU of FMI 2 at some times, its derivatives integrated by SciPy."""
    import ctypes

    import fmpy
    from scipy.integrate import solve_ivp

    about = fmpy.read_model_description(path)
    folder = fmpy.extract(path)
    fmu = fmpy.instantiate_fmu(folder, about, "ModelExchange")
    references = {v.name: v.valueReference for v in about.modelVariables}
    fmu.setupExperiment(startTime=0.0)
    fmu.setReal([references[n] for n in inputs], [*inputs.values()])
    fmu.enterInitializationMode()
    fmu.exitInitializationMode()
    fmu.newDiscreteStates()
    fmu.enterContinuousTimeMode()
    x, dx = np.zeros(nx), np.zeros(nx)
    at = lambda a: a.ctypes.data_as(ctypes.POINTER(ctypes.c_double))  # noqa: E731
    fmu.getContinuousStates(at(x), nx)

    def rate(t: float, y: np.ndarray) -> np.ndarray:
        y = np.ascontiguousarray(y)
        fmu.setTime(t)
        fmu.setContinuousStates(at(y), nx)
        fmu.getDerivatives(at(dx), nx)
        return dx.copy()

    found = solve_ivp(
        rate, (0.0, times[-1]), x, method="DOP853", rtol=1e-13, atol=1e-13, t_eval=times
    ).y.T
    fmu.terminate()
    fmu.freeInstance()
    shutil.rmtree(folder, ignore_errors=True)
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--tiny", action="store_true")
    main(parser.parse_args().tiny)
