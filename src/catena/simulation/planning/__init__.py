"""Planning: the arguments of a run are checked, and everything that it needs is prepared.

plan      RunPlan and `prepare`
checks    times, initial states, names and options
starts    initial states from names and partial values
"""

from typing import TYPE_CHECKING

from ...doors import door

if TYPE_CHECKING:
    from . import checks
    from .plan import FIRST, RunPlan, decoded, initial_states, prepare, projected_states
    from .starts import from_names

__getattr__, __dir__ = door(__name__)
