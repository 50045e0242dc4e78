"""The first-order system x' = f(t, x, u, p) of a run, traced and compiled.

first_order     System: mechanism, losses and controller, with all compiled functions of a run
binding_rows    the constraint rows of a state: loops, speed rows, switched constraints
euler_step      a step of semi-implicit Euler as a compiled function
"""

from typing import TYPE_CHECKING

from ...doors import door

if TYPE_CHECKING:
    from .first_order import System

__getattr__, __dir__ = door(__name__)
