"""The first-order system x' = f(t, x, u, p) of a run, traced and compiled.

first_order     System: mechanism, losses and controller, with all tapes that a run needs
binding_rows    the constraint rows of a state: loops, speed rows, switched constraints
euler_step      semi-implicit Euler as a tape
"""

from typing import TYPE_CHECKING

from ...doors import door

if TYPE_CHECKING:
    from .first_order import System

__getattr__, __dir__ = door(__name__)
