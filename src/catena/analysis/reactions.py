"""Reactions and constraint rows as questions. They are computed in `machine`."""

from __future__ import annotations

from ..machine import Rows, reactions, rows_at, spaces

__all__ = ["Rows", "reactions", "rows_at", "spaces"]
