"""Equations of motion: derived by any of several formulations, in one canonical form, and printed
in textbook form.

equations       Equations: the canonical form and every sign convention
formulations/   one file per formulation, none importing another; derive picks one by name
readable/       the form people read: text, LaTeX, SymPy, Python, C
ground_angles   angles of planar linkages measured from the ground
absolute/       a mechanism taken apart into free bodies, for formulations in absolute coordinates
algebra         Everett's algebra of frames and variations
"""

from typing import TYPE_CHECKING

from ..doors import door

if TYPE_CHECKING:
    from . import formulations
    from .algebra import frames, variation
    from .equations import Equations
    from .formulation import FORMULATIONS, Formulation, StateKind
    from .formulations import ALL_FORMULATIONS, derive
    from .ground_angles import ground_angles
    from .statement import Derived, Statement

__getattr__, __dir__ = door(__name__)
