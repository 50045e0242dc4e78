"""Simulation: from a mechanism and a scenario to a Result, the time loop in machine code."""

from __future__ import annotations

from .methods import METHODS
from .run import simulate

ALL_INTEGRATORS = tuple(METHODS)

__all__ = ["ALL_INTEGRATORS", "simulate"]
