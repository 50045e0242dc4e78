"""Spreads: how a start value is given, as a number, a range, or a mean and a deviation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import QuestionError


def distribution(name: str, spread: Any) -> tuple[bool, float, float]:
    """Return (whether uniform, first number, second number) of a distribution."""
    if isinstance(spread, Mapping):
        if set(spread) == {"mean", "deviation"} and float(spread["deviation"]) >= 0.0:
            return False, float(spread["mean"]), float(spread["deviation"])
    else:
        try:
            low, high = (float(x) for x in spread)
        except (TypeError, ValueError):
            low, high = 1.0, 0.0
        if low <= high:
            return True, low, high
    raise QuestionError(
        f"start of {name!r} is {spread!r}; it is a number, (lowest, highest), or"
        ' {"mean": .., "deviation": ..}'
    )


def middle(name: str, spread: Any) -> float:
    """Return the number itself, the middle of a range, or the mean."""
    if isinstance(spread, int | float):
        return float(spread)
    uniform, first, second = distribution(name, spread)
    return 0.5 * (first + second) if uniform else first
