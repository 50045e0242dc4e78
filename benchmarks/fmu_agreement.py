"""FMUs of ours in FMPy (model exchange by CVode, co-simulation by our own integrator) against `simulate`.

    python benchmarks/fmu_agreement.py            triple pendulum, four-bar, Panda; FMI 2 and 3
    python benchmarks/fmu_agreement.py --tiny     the triple pendulum, FMI 2, a tenth of a second
"""

from __future__ import annotations

import argparse
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
    for name, until in (("triple_pendulum", 0.1 if tiny else 2.0), *(() if tiny else (("four_bar", 1.0),))):
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

    print("mechanism         FMI  kind             problems  difference  largest entry  seconds")
    with tempfile.TemporaryDirectory() as folder:
        for name, m, q, v, tau, until in cases(tiny):
            ours = simulate(m, q, v, until, forces=tau, tolerance=1e-13, output=until / 10, limits="ignore").data
            wanted, p = np.concatenate([ours.q.values, ours.v.values], axis=1), plant(m, q, v, until=until)
            for version in (2,) if tiny else (2, 3):
                fmu = str(write_fmu(p, Path(folder) / f"{name}{version}.fmu", version).path)
                problems, names = len(validate_fmu(fmu)), [x.name for x in p.states]
                for kind in ("ModelExchange", "CoSimulation"):
                    began = time.perf_counter()
                    found = fmpy.simulate_fmu(fmu, stop_time=until, output_interval=0.01, relative_tolerance=1e-12, fmi_type=kind, output=names,
                                              start_values={u.name: float(f) for u, f in zip(p.inputs, tau)})  # fmt: skip
                    at = [int(np.argmin(np.abs(found["time"] - t))) for t in ours.time.values]
                    far = np.abs(np.stack([found[n] for n in names], axis=1)[at] - wanted).max()
                    print(f"{name:<16}  {version:>3}  {kind:<15}  {problems:>8}  {far:>10.1e}  {np.abs(wanted).max():>13.3g}  {time.perf_counter() - began:>7.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--tiny", action="store_true")
    main(parser.parse_args().tiny)
