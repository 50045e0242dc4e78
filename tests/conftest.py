"""`pytest --shuffle SEED` runs the tests in a random order; `--shuffle random` draws a seed and prints it."""

from __future__ import annotations

import random
from typing import Any

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--shuffle", metavar="SEED", help="run the tests in a random order: a number, or 'random'")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: Any) -> None:
    """The seed is drawn once, before workers are started: they are given the same options and so the same order."""
    if config.getoption("shuffle") == "random":
        config.option.shuffle = str(random.randrange(10**6))


def pytest_report_header(config: pytest.Config) -> str | None:
    seed = config.getoption("shuffle")
    return None if seed is None else f"order of tests: --shuffle {seed}"


@pytest.hookimpl(tryfirst=True)  # pytest itself then brings together what shares a costly fixture
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Files in a random order, and the tests in each; a file stays together, so that its compiled mechanisms serve it once."""
    seed = config.getoption("shuffle")
    if seed is None:
        return
    rng, files = random.Random(seed), {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    groups = list(files.values())
    for group in (groups, *groups):
        rng.shuffle(group)
    items[:] = [item for group in groups for item in group]
