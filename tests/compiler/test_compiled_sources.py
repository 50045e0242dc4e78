"""Compiled code on disk is found by the sources it came from, wherever these stand."""

from __future__ import annotations

import re
from pathlib import Path

import catena
from catena.compiler.machine_function import COMPILED_ROOMS

ROOT = Path(catena.__file__).parent
COMPILED = re.compile(r"^@kernel\b|\bMachineFunction\(|\bmachine_function\(", re.MULTILINE)


def test_every_file_with_a_compiled_function_is_part_of_the_key() -> None:
    found = {
        path.relative_to(ROOT)
        for path in ROOT.rglob("*.py")
        if COMPILED.search(path.read_text(encoding="utf-8"))
    }
    assert len(found) > 20
    outside = [p for p in found if p.parts[0] not in (*COMPILED_ROOMS, "spatial.py")]
    assert not outside
