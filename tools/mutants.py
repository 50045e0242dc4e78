"""Do the tests notice? Small faults are put into a copy of the source, one at a time, and the tests
nearest to each are run.

    python tools/mutants.py               all of MUTANTS: some minutes, for each is compiled anew
    python tools/mutants.py beta stream   those whose file, text or tests contain one of these words

Exit status 1 where a fault survived, or where its old text is no longer in the file: then mend the
row, or write the test.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
PATIENCE = 300.0  # s for the tests of one mutant; what takes longer has been noticed


class Mutant(NamedTuple):
    """A fault: in a file of src/catena, one text for another, and the tests that must fail."""

    file: str
    old: str
    new: str
    tests: str


MUTANTS = [
    Mutant(
        "kernels/dynamics.py",
        "A[5] + armature[k + 2])",
        "A[5] + armature[k + 1])",
        "machine/test_theorems.py -k armature",
    ),
    Mutant(
        "kernels/constraint_rows.py",
        "error[k] -= (TURN * h) *",
        "error[k] -= 0.0 * (TURN * h) *",
        "analysis/test_loops.py -k whole_turns",
    ),
    Mutant(
        "kernels/rank.py",
        "kept = G[k, k] > RANK * size[k]",
        "kept = G[k, k] > RANK",
        "kernels/test_rank.py -k repeats_others",
    ),
    Mutant(
        "compiler/trace.py",
        "G[k, k] / (RANK * size[k])",
        "G[k, k] / size[k]",
        "kernels/test_rank.py -k close_decision",
    ),
    Mutant(
        "simulation/terms/stabilisation.py",
        "self.beta**2 * error",
        "self.beta * error",
        "simulation/test_stabilisers.py -k baumgarte",
    ),
    Mutant(
        "simulation/terms/stabilisation.py",
        "-2.0 * self.alpha * rate",
        "-self.alpha * rate",
        "simulation/test_stabilisers.py -k baumgarte",
    ),
    Mutant(
        "simulation/terms/stabilisation.py",
        "- self.damping * rate",
        "+ self.damping * rate",
        "simulation/test_stabilisers.py -k corrective",
    ),
    Mutant(
        "compiler/single_state.py",
        "{bits_of(UNIT):016X}",
        "{bits_of(1e9):016X}",
        "compiler/test_one_state.py -k long_way",
    ),
    Mutant(
        "analysis/linearization.py",
        "a_v - P @ (t.r_v + np.diag(D)",
        "a_v - P @ (t.r_v - np.diag(D)",
        "analysis/test_questions_statics.py -k damping",
    ),
    Mutant(
        "machine/diagnosis.py",
        "SUSPICIOUS_RESULT = 1e9",
        "SUSPICIOUS_RESULT = 1e30",
        "machine/test_theorems.py -k gimbal_lock",
    ),
    Mutant(
        "simulation/handlers/event_handler.py",
        "EVENTS_AT_ONE_INSTANT = 100 ",
        "EVENTS_AT_ONE_INSTANT = 1000 ",
        "simulation/test_events.py -k crowd",
    ),
    Mutant(
        "results/ledger.py",
        "energy_balance=seen.balance,",
        "energy_balance=0.0,",
        "simulation/test_stream.py -k ledger_of",
    ),
    Mutant(
        "simulation/output/record.py",
        '"balance": rows.error,',
        '"balance": 0.0 * rows.error,',
        "simulation/test_stream.py -k ledger_of",
    ),
    Mutant(
        "equations/readable/harmonics.py",
        "self.start > self.seconds",
        "self.start > 2 * self.seconds",
        "equations/test_readable.py -k runs_out",
    ),
    Mutant(
        "simulation/output/fingerprint.py",
        '"mechanism": plan.machine.mechanism, ',
        "",
        "simulation/test_stream.py -k another_mechanism",
    ),
    Mutant(
        "compiler/cache.py",
        "if data[:head] != _head(name, code):",
        "if data[:head] != _head(name, code) and False:",
        "compiler/test_cache.py -k exchanged",
    ),
    Mutant(
        "machine/state_check.py",
        "error <= OPEN, rate <= OPEN",
        "error <= OPEN, 0.0 * rate <= OPEN",
        "analysis/test_impossible_states.py -k speeds_off",
    ),
    Mutant(
        "analysis/hybrid_dynamics.py",
        "b=at.b - machine.losses(v)",
        "b=at.b",
        "test_doors.py -k slider_crank-1",
    ),
]


def verdict(mutant: Mutant) -> str:
    """ "killed", "SURVIVED", or why it could not be tried."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("src", "tests"):
            shutil.copytree(
                ROOT / name, Path(folder) / name, ignore=shutil.ignore_patterns("__pycache__")
            )
        shutil.copy(ROOT / "pyproject.toml", folder)
        path = Path(folder) / "src" / "catena" / mutant.file
        text = path.read_text()
        if text.count(mutant.old) != 1:
            return f"STALE: its old text stands {text.count(mutant.old)} times in {mutant.file}"
        path.write_text(text.replace(mutant.old, mutant.new))
        return outcome(folder, mutant.tests.split())


def outcome(folder: str, tests: list[str]) -> str:
    """What pytest says of the copy: 0 all passed, 1 some failed, other numbers that it could not
    run.
    """
    environment = os.environ | {
        "PYTHONPATH": f"{folder}/src",
        "CATENA_CACHE_DIR": f"{folder}/cache",
    }
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "-p",
        "no:cacheprovider",
        f"tests/{tests[0]}",
        *tests[1:],
    ]
    try:
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=PATIENCE
        )
    except subprocess.TimeoutExpired:
        return "killed (out of time)"
    named = {0: "SURVIVED", 1: "killed"}
    return named.get(
        done.returncode, f"NOT RUN: {(done.stdout + done.stderr).strip().splitlines()[-1]}"
    )


def main(words: list[str]) -> int:
    """Try those mutants that a word names, or all; how many survived decides the exit status."""
    chosen = [m for m in MUTANTS if not words or any(w in " ".join(m) for w in words)]
    bad = 0
    for mutant in chosen:
        found = verdict(mutant)
        bad += not found.startswith("killed")
        print(
            f"{found:10} {mutant.file}: {mutant.old.splitlines()[0].strip()}  ({mutant.tests})",
            flush=True,
        )
    print(f"{len(chosen) - bad} of {len(chosen)} killed")
    return int(bad > 0)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
