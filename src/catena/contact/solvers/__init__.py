"""Solvers of the contact problem of one time step, over lanes of runs.

gauss_seidel      sweeps over the contacts, each solved exactly
active_set        Newton steps for fixed modes, where friction of joints couples the contacts
anderson          acceleration of slowly converging sweeps
interior_point    second-order cones, for problems on which sweeps do not converge
certificate       how well a step was solved, and the correction of penetrations
"""

from typing import TYPE_CHECKING

from ...doors import door

if TYPE_CHECKING:
    from .gauss_seidel import solve_contacts

__getattr__, __dir__ = door(__name__)
