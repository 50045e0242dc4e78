"""Checks of logs."""
from __future__ import annotations
from typing import Any
def checked_log(machine: Any, table: Any) -> Any:
    return table
