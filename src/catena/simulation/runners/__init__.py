"""Runners: the time loop as a generator of slices.

runner          one run; batch_runner: many runs by an adaptive method
rollouts        many runs of equal steps
diagnostics     why a run could not go on: when, where, the likely reason, and what to do
"""

from typing import TYPE_CHECKING

from ...doors import door

if TYPE_CHECKING:
    from .batch_runner import BatchRunner, RunEnd
    from .rollouts import Rollout
    from .runner import Runner, forces

__getattr__, __dir__ = door(__name__)
