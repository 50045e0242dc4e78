"""What `catena run` of a pendulum and `catena info` load, and how often they do what is needed
once.
"""

import json
import subprocess
import sys

import pytest

CODE = """
import json, sys
from unittest import mock
import catena
from catena.kernels import tree
from catena.model import validation
with (
    mock.patch.object(validation, "_found", wraps=validation._found) as validated,
    mock.patch.object(tree, "_laid_out", wraps=tree._laid_out) as laid_out,
):
    from catena.cli import main
    try:
        main(sys.argv[1:])
    except SystemExit as end:
        assert not end.code
names = [name for name in sys.modules if name.partition(".")[0] == "catena"]
with open("found.json", "w") as file:
    json.dump([names, validated.call_count, laid_out.call_count], file)
"""
# rooms and files that a run without contacts, events and controllers does not need
UNNEEDED = (
    "catena.analysis.",
    "catena.certify",
    "catena.collision.",
    "catena.contact.",
    "catena.control",
    "catena.exports",
    "catena.formats.mjcf.",
    "catena.formats.osim.",
    "catena.formats.sdf.",
    "catena.formats.urdf.",
    "catena.formats.usd.",
    "catena.identification",
    "catena.optimization",
    "catena.sensitivity",
    "catena.simulation.control.fmu_control",
    "catena.simulation.handlers.",
    "catena.simulation.stepping.time_stepping",
    "catena.studies",
    "catena.studio",
    "catena.synthesis",
    "catena.teaching",
)
MOST_MODULES = 280


@pytest.mark.parametrize(
    "words", [("run", "pendulum", "--out", "results"), ("info", "pendulum")], ids=["run", "info"]
)
def test_a_pendulum_loads_what_it_needs_and_is_validated_and_laid_out_once(words, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", CODE, *words], cwd=tmp_path, capture_output=True, text=True
    )
    assert not done.returncode, done.stderr
    names, validated, laid_out = json.loads((tmp_path / "found.json").read_text())
    needless = [name for name in names if name.startswith(UNNEEDED)]
    if words[0] == "info":  # it counts the freedoms of the mechanism
        needless = [name for name in needless if not name.startswith("catena.analysis.")]
    assert not needless
    assert len(names) < MOST_MODULES
    assert (validated, laid_out) == (1, 1)
