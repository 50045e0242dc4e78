#!/usr/bin/env bash
# Are the floors in pyproject.toml true? Installs the lowest version it allows of every requirement into a scratch environment,
# then runs there a few commands and the tests nearest to the requirements: units (pint), files of results (xarray, h5netcdf,
# h5py), films (scipy, matplotlib), robots (pin, example-robot-data), machine code (llvmlite, casadi). It takes some minutes.
#
#     tools/floors.sh                              with Python 3.11
#     tools/floors.sh tests/simulation             other tests
set -euo pipefail
cd "$(dirname "$0")/.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
[ $# -gt 0 ] || set -- tests/formats/test_units.py tests/results tests/compiler/test_one_state.py tests/machine/test_peers.py tests/analysis/test_clearance.py tests/simulation/test_contact.py

python3 -m venv "$scratch/uv" && "$scratch/uv/bin/pip" install --quiet --disable-pip-version-check uv
uv() { "$scratch/uv/bin/uv" --quiet "$@"; }
uv venv --python 3.11 "$scratch/lowest"
uv pip install --python "$scratch/lowest" --resolution lowest-direct ".[test]"
"$scratch/uv/bin/uv" pip list --python "$scratch/lowest"

export PATH="$scratch/lowest/bin:$PATH" CATENA_CACHE_DIR="$scratch/cache" PYTHONPATH=
catena --help
catena run --help
catena info four_bar
catena run triple_pendulum --until 0.5 --out "$scratch/run"
python -m pytest -q -p no:cacheprovider "$@"
