"""A small study that the tests of this room share."""

from __future__ import annotations

import pytest

import catena
import study_tables


@pytest.fixture(scope="session")
def swings() -> catena.Study:
    return study_tables.swings()
