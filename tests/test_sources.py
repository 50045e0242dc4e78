"""The table of the five sources: complete, and what it refers to exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from catena.cli import app

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "sources.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
    for line in PAGE.splitlines()
    if line.startswith("|")
][2:]


def test_every_item_has_a_place_and_a_number_or_figure() -> None:
    assert len(ROWS) >= 75 and f"{len(ROWS)} equations, figures and examples" in PAGE
    assert sum(bool(row[0]) for row in ROWS) == 5
    for row in ROWS:
        assert len(row) == 4 and all(row[1:]), row
    assert "open" not in re.findall(r"\w+", PAGE)


def test_what_is_referred_to_exists() -> None:
    for link in re.findall(r"\]\(([\w/.]+\.md)\)", PAGE):
        assert (ROOT / "docs" / link).is_file(), link
    for path in re.findall(r"`(tests/[\w/]+\.py)`", PAGE):
        assert (ROOT / path).is_file(), path


COMMANDS = [
    "derive planar_two_link --by boltzmann_hamel --steps",
    "derive knife_edge --by variational --steps",
    "derive double_pendulum --by kane --steps",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_table_runs(command: str) -> None:
    assert f"`catena {command}`" in PAGE
    found = CliRunner().invoke(app, command.split())
    assert found.exit_code == 0 and "largest error" in found.output
    lines, error = re.search(r"(\d+) lines in .*largest error (\S+)", found.output).groups()
    assert float(error) < 1e-9
    if f"{lines} lines, error" not in PAGE:
        assert "knife_edge" in command
