"""Load every MJCF file below a folder and compare it with MuJoCo: what loads, what is refused and why, and the largest differences.

    python tools/mjcf_table.py FOLDER            FOLDER/package/...: one row per package, then one line per file that is refused

Mass matrix, bias force and the Jacobians of up to six bodies at 20 random states, relative to the largest entry. A file without
freedoms counts as loaded. Exit status 1 where a difference is above 1e-11.
"""

from __future__ import annotations

import sys
import warnings
from collections import defaultdict
from pathlib import Path

import mujoco
import numpy as np

import catena
from catena.errors import FormatError
from catena.formats.mjcf.names import Names

STATES, BODIES, BOUND, FLOOR = 20, 6, 1e-11, 1e-9


def relative(ours: np.ndarray, theirs: np.ndarray) -> float:
    """The largest difference over the largest entry; entries that are all below FLOOR are noise."""
    return float(np.abs(ours - theirs).max() / max(np.abs(theirs).max(), FLOOR))


def differences(path: Path, mechanism: catena.Mechanism) -> float:
    """The largest relative difference of mass matrix, bias and Jacobians."""
    m, rng = mujoco.MjModel.from_xml_path(str(path)), np.random.default_rng(1)
    if not m.nv:
        return 0.0
    d, machine, names = mujoco.MjData(m), catena.compile(mechanism.with_(loads=(), loops=())), Names(m)
    bodies = rng.permutation(np.arange(1, m.nbody))[:BODIES]
    worst = 0.0
    for _ in range(STATES):
        q, v = np.array(m.qpos0), rng.normal(size=m.nv)
        mujoco.mj_integratePos(m, q, 0.7 * rng.normal(size=m.nv), 1.0)
        d.qpos[:], d.qvel[:] = q, v
        mujoco.mj_forward(m, d)
        M, sliding, turning = np.zeros((m.nv, m.nv)), np.zeros((3, m.nv)), np.zeros((3, m.nv))
        mujoco.mj_fullM(m, d, M)
        worst = max(worst, relative(machine.mass_matrix(q), M), relative(machine.bias(q, v), d.qfrc_bias))
        for b in bodies:
            mujoco.mj_jacBody(m, d, sliding, turning, int(b))
            worst = max(worst, relative(machine.jacobian(q, names.body(b)), np.vstack([turning, sliding])))
    return worst


def main(folder: Path) -> int:
    """Print the table."""
    rows: dict[str, list[float]] = defaultdict(list)
    refused: dict[str, list[str]] = defaultdict(list)
    for path in sorted(folder.rglob("*.xml")):
        package = path.relative_to(folder).parts[0]
        if b"<mujoco" not in path.read_bytes()[:4096]:
            continue
        try:
            rows[package].append(differences(path, catena.load(path, within=folder / package, mimic=False)))
        except FormatError as why:
            refused[package].append(f"{path.relative_to(folder)}: {str(why).replace(str(path), '').replace(str(folder), '')}")
    print("| package | loaded | refused | largest difference |\n|---|---|---|---|")
    for package in sorted(rows | refused):
        print(f"| {package} | {len(rows[package])} | {len(refused[package])} | {max(rows[package], default=0.0):.1e} |")
    print(*(line for lines in refused.values() for line in lines), sep="\n")
    return int(max((x for found in rows.values() for x in found), default=0.0) > BOUND)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.exit(main(Path(sys.argv[1])))
