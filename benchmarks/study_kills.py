"""Does a study survive kill -9 at any instant? It is killed at random instants, resumed, and
compared bit for bit with an unbroken one.

python benchmarks/study_kills.py [KILLS]
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from peers import size

import catena

KILLS = next((int(w) for w in sys.argv[1:] if w.isdigit()), size(20, 1))
RUNS = size(60_000, 1024)
SHARD = size(1024, 256)
CHILD = """
import sys
from catena.studies import study
s = study("two_link_arm", {"q.shoulder": "uniform(-1, 1)", "q.elbow": "uniform(-1, 1)"}, measures={"end": "final(q['elbow'])", "a": "q['elbow']"},
          samples=RUNS, until=0.5, integrator="rk4", step=1e-3, output=0.05, control=None, limits="ignore")
print("begins", flush=True)
s.run(out=sys.argv[1], resume=sys.argv[2] == "resume", shard=SHARD)
print("done", flush=True)
"""  # noqa: E501


def child(path: Path, resume: bool) -> subprocess.Popen[str]:
    text = CHILD.replace("RUNS", str(RUNS)).replace("SHARD", str(SHARD))
    return subprocess.Popen(
        [sys.executable, "-c", text, str(path), "resume" if resume else "new"],
        stdout=subprocess.PIPE,
        text=True,
    )


def main() -> None:
    rng = random.Random(1)
    folder = Path(tempfile.mkdtemp())
    whole = folder / "whole.zarr"
    broken = folder / "broken.zarr"
    began = time.perf_counter()
    first = child(whole, False)
    out, _ = first.communicate()
    assert out.endswith("done\n"), out
    span = time.perf_counter() - began
    kills = 0
    lost = 0
    while kills < KILLS:
        process = child(broken, broken.exists())
        assert process.stdout is not None
        process.stdout.readline()  # it begins
        try:
            process.wait(rng.uniform(0.0, 1.5 * span / KILLS))
            break
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            kills += 1
    process = child(broken, broken.exists()) if process.returncode else process
    assert process.wait() == 0
    a = catena.studies.open_study(whole)
    b = catena.studies.open_study(broken)
    lost += int(b.attrs.get("missing", 0))
    same = all(
        a[n].values.tobytes() == b[n].values.tobytes()
        for n in a.variables
        if a[n].dtype.kind == "f"
    ) and bool(np.all(a["failure"].values == b["failure"].values))
    print(
        f"{RUNS} runs in shards of {SHARD}: {kills} kills, {lost} runs missing afterwards, bits"
        f" {'the same' if same else 'DIFFERENT'}"
    )
    assert same and not lost


if __name__ == "__main__":
    main()
