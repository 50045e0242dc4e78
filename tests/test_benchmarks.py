"""Every script of benchmarks/ runs at its tiny size: that it works, not how fast. Those whose peer
is not installed are skipped.
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"
SCRIPTS = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "peers")
PEERS = ("coal", "exudyn", "mujoco", "numba", "pinocchio", "pylinkage")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SCRIPTS)
def test_a_benchmark_runs_at_its_tiny_size(name, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [name, "--tiny"])
    monkeypatch.setattr(sys, "path", [str(FOLDER), *sys.path])
    before = set(sys.modules)
    try:
        runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.partition(".")[0] not in PEERS:
            raise
        pytest.skip(f"{missing.name}, beside which {name} measures, is not installed")
    finally:
        for module in {"peers", *SCRIPTS} & (set(sys.modules) - before):
            del sys.modules[module]  # its sizes are the tiny ones
    assert capsys.readouterr().out.strip()
