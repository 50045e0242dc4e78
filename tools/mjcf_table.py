"""Load every MJCF file of some packages and compare it with MuJoCo: what loads, what is refused and
why, and the largest differences.

    pip download --no-deps gymnasium dm_control gymnasium-robotics playground brax robosuite
    metaworld unzip each wheel into FOLDER/package-version python tools/mjcf_table.py FOLDER >
    docs/mjcf_table.md

At 20 random states: mass matrix, bias force (over the larger of its largest entry and that of the
mass matrix times the largest speed squared, as a force that is zero has no size of its own) and the
Jacobians of up to six bodies; a file whose meshes are not in its package is read without them and
counts as such; at those from which loops close the rows of connect and weld equalities, by how far
they are from combinations of ours and ours from combinations of theirs. A file without freedoms
counts as loaded. Exit status 1 where a difference is above 1e-11.
"""

from __future__ import annotations

import sys
import warnings
from collections import defaultdict
from pathlib import Path

import mujoco
import numpy as np

import catena
from catena.errors import CatenaError, FormatError
from catena.formats.mjcf.names import Names
from catena.formats.mjcf.source import compiled

STATES, BODIES, BOUND = 20, 6, 1e-11
CONNECT, WELD = 0, 1  # mjtEq


def relative(ours: np.ndarray, theirs: np.ndarray, least: float = 0.0) -> float:
    """The largest difference over the largest entry."""
    size = max(np.abs(theirs).max(initial=0.0), least)
    return (
        float(np.abs(ours - theirs).max() / size) if size else float(np.abs(ours).max(initial=0.0))
    )


def states(m: mujoco.MjModel) -> list[tuple[np.ndarray, np.ndarray]]:
    """Random coordinates about the model's own, and speeds."""
    rng = np.random.default_rng(1)
    found = []
    for _ in range(STATES):
        q = np.array(m.qpos0)
        v = rng.normal(size=m.nv)
        mujoco.mj_integratePos(m, q, 0.7 * rng.normal(size=m.nv), 1.0)
        found.append((q, v))
    return found


def differences(m: mujoco.MjModel, mechanism: catena.Mechanism) -> float:
    """The largest relative difference of mass matrix, bias and Jacobians."""
    d = mujoco.MjData(m)
    machine = catena.compile(mechanism.with_(loads=(), loops=(), constraints=()))
    names = Names(m)
    bodies = np.random.default_rng(1).permutation(np.arange(1, m.nbody))[:BODIES]
    worst = 0.0
    for q, v in states(m):
        d.qpos[:], d.qvel[:] = q, v
        mujoco.mj_fwdPosition(m, d)
        mujoco.mj_fwdVelocity(m, d)
        M = np.zeros((m.nv, m.nv))
        sliding = np.zeros((3, m.nv))
        turning = np.zeros((3, m.nv))
        mujoco.mj_fullM(m, d, M)
        worst = max(
            worst,
            relative(machine.mass_matrix(q), M),
            relative(machine.bias(q, v), d.qfrc_bias, np.abs(M).max() * np.abs(v).max() ** 2),
        )
        for b in bodies:
            mujoco.mj_jacBody(m, d, sliding, turning, int(b))
            worst = max(
                worst, relative(machine.jacobian(q, names.body(b)), np.vstack([turning, sliding]))
            )
    return worst


def closures(m: mujoco.MjModel, mechanism: catena.Mechanism) -> float | None:
    """The largest difference of what connect and weld equalities span, at closed states; None where
    there are none.
    """
    if not mechanism.loops:
        return None
    machine = catena.compile(mechanism.with_(loads=(), constraints=()))
    d = mujoco.MjData(m)
    worst = 0.0
    seen = 0
    for q, _ in states(m):
        try:
            q, _ = catena.assemble(machine, q)
        except CatenaError:
            continue
        for _ in range(3):  # to rounding: rows off their closure differ by the gap
            error, *_, J = machine.constraint_rows(q, np.zeros(m.nv))
            mujoco.mj_integratePos(m, q, -np.linalg.pinv(J, 1e-6) @ error, 1.0)
        d.qpos[:] = q
        mujoco.mj_fwdPosition(m, d)
        J = np.zeros((d.nefc, m.nv))
        if mujoco.mj_isSparse(m):
            mujoco.mju_sparse2dense(J, d.efc_J, d.efc_J_rownnz, d.efc_J_rowadr, d.efc_J_colind)
        else:
            J[:] = d.efc_J.reshape(J.shape)
        equal = [
            k
            for k in range(d.nefc)
            if d.efc_type[k] == mujoco.mjtConstraint.mjCNSTR_EQUALITY
            and m.eq_type[d.efc_id[k]] in (CONNECT, WELD)
        ]
        worst = max(worst, spans(J[equal], machine.constraint_rows(q, np.zeros(m.nv))[3]))
        seen = seen + 1
    return worst if seen else None


def spans(A: np.ndarray, B: np.ndarray) -> float:
    """How far rows are from what the others span, both ways, over the largest entry: zero where A =
    T B and B = S A.
    """
    return max(relative(X @ np.linalg.pinv(Y, 1e-13) @ Y, X) for X, Y in ((A, B), (B, A)))


def loaded(path: Path, package: Path) -> tuple[catena.Mechanism, mujoco.MjModel, bool]:
    """The mechanism, MuJoCo's model of the same file, and whether both have their meshes."""
    try:
        return (
            catena.load(path, within=package, mimic=False),
            mujoco.MjModel.from_xml_path(str(path)),
            True,
        )
    except FormatError as why:
        if "mesh" not in str(why) or ("opening file" not in str(why) and "outside" not in str(why)):
            raise
        try:
            return (
                catena.load(path, within=package, mimic=False, meshes=False),
                compiled(path, package, meshes=False)[1],
                False,
            )
        except FormatError as again:
            raise (again if "without meshes" in str(again) else why) from None


def reason(why: FormatError, path: Path, folder: Path) -> str:
    """Why a file is refused, in one line and without the path."""
    text = " ".join(str(why).split()).replace(str(path), "").replace(str(folder), "").strip(" :")
    return text.replace("|", "/")


def main(folder: Path) -> int:
    """Print the tables."""
    rows: dict[str, list[float]] = defaultdict(list)
    closed: dict[str, list[float]] = defaultdict(list)
    refused: dict[str, list[tuple[str, str]]] = defaultdict(list)
    meshless: dict[str, int] = defaultdict(int)
    for path in sorted(folder.rglob("*.xml")):
        package = path.relative_to(folder).parts[0]
        if b"<mujoco" not in path.read_bytes()[:4096]:
            continue
        try:
            mechanism, m, whole = loaded(path, folder / package)
        except FormatError as why:
            refused[package].append(
                (str(path.relative_to(folder / package)), reason(why, path, folder))
            )
            continue
        meshless[package] += not whole
        found, loops = (differences(m, mechanism), closures(m, mechanism)) if m.nv else (0.0, None)
        rows[package].append(found)
        closed[package] += [] if loops is None else [loops]
        if max(found, loops or 0.0) > BOUND:
            print(f"{path}: {found:.1e} {loops}", file=sys.stderr)
    print(report(rows, closed, refused, meshless))
    return int(
        max((x for found in (*rows.values(), *closed.values()) for x in found), default=0.0) > BOUND
    )


def report(
    rows: dict[str, list[float]],
    closed: dict[str, list[float]],
    refused: dict[str, list[tuple[str, str]]],
    meshless: dict[str, int],
) -> str:
    """The tables as Markdown."""
    lines = [
        "# MJCF files of other packages",
        "",
        "Made by `tools/mjcf_table.py`, whose head says what is compared with MuJoCo and how.",
        "",
        (
            "| wheel | files | loaded | of these without meshes | refused | mass matrix, bias,"
            " Jacobians differ by at most | with connect or weld | their rows differ by at most |"
        ),
        "|---|---|---|---|---|---|---|---|",
    ]
    for p in sorted({*rows, *refused}):
        lines.append(
            f"| {p} | {len(rows[p]) + len(refused[p])} | {len(rows[p])} | {meshless[p] or ''} |"
            f" {len(refused[p])} | {max(rows[p], default=0.0):.1e} | {len(closed[p]) or ''} | "
            + (f"{max(closed[p]):.1e} |" if closed[p] else "|")
        )
    lines += ["", "What is refused, and why:", "", "| wheel | file | reason |", "|---|---|---|"]
    lines += [f"| {p} | {file} | {why} |" for p in sorted(refused) for file, why in refused[p]]
    return "\n".join(lines)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.exit(main(Path(sys.argv[1])))
