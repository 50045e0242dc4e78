"""`pytest --shuffle SEED` runs the tests in a random order, the same for the same seed and in every
worker.
"""

from __future__ import annotations

import gc
import random

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--shuffle", metavar="SEED", type=int, help="run the tests in a random order")


def pytest_report_header(config: pytest.Config) -> str | None:
    seed = config.getoption("shuffle")
    return None if seed is None else f"order of tests: --shuffle {seed}"


def pytest_collection_finish() -> None:
    """What was imported stays to the end: the collector of garbage need not look at it again, nor
    as often as it would.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


@pytest.hookimpl(tryfirst=True)  # pytest itself then brings together what shares a costly fixture
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Files in a random order, and the tests in each; a file stays together, so that its compiled
    mechanisms serve it once.
    """
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
