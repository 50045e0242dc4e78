"""The tables of docs/logs.md are those of the registries."""

from pathlib import Path

import pytest

from catena.identification.drives.friction_laws import markdown as laws
from catena.identification.logs.log_checks import markdown as checks
from catena.identification.logs.readers import markdown as readers


@pytest.mark.parametrize("table", [laws, checks, readers])
def test_tables_are_in_the_page(table):
    page = Path(__file__).parents[2] / "docs" / "logs.md"
    assert table() in page.read_text(encoding="utf-8")
