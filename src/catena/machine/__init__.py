"""Machine: the quantities of a mechanism, compiled. Arguments are checked once, machine code
evaluates.

Machine method -> SingleCalls (one state of plain doubles) or Router -> Request -> backend -> Answer

machine            compile, Machine: the quantities of a mechanism as methods, for one state and for
                   batches
quantities         the table of quantities, one record each: inputs, outputs, expression, kernels;
                   `register` adds one
spec               the data of a machine: mechanism, layout, names, sizes
request            the records: Quantity, Request, Answer
router             which backend (lanes or generic kernels) evaluates a request
generic_life       kernels compiled once for all mechanisms (generic_kernels: one function per
                   quantity)
lanes_life         code compiled for this mechanism, over several states at once
arguments          checks of states, wrenches and frames; parameter_check: of parameters;
                   diagnosis: why a result is not finite
state_check        whether states keep their loops closed; possible_states: the rule in numbers
configurations     neutral and random coordinates, their rates, displacements along the speeds
lookup             a Machine from a Mechanism or a Machine, and the places of names in q and v
equation_machine   a Machine whose forward dynamics are those of one formulation
constraint_rows    the rows that loops and speed constraints add, at one state; terms: M, b, A and
                   gamma
reactions          the wrench in every joint, loops included; row_actions: where constraints act
bridge             the conventions of Pinocchio, MuJoCo and Drake
export             a quantity as C; operators: as a differentiable operator of PyTorch and JAX
"""

from typing import TYPE_CHECKING

from ..doors import door

if TYPE_CHECKING:
    from . import arguments, bridge
    from .arguments import Wrenches, array, numbers
    from .constraint_rows import (
        Metric,
        Rows,
        Spaces,
        across,
        all_rows,
        least_change,
        least_multipliers,
        metric,
        openings,
        position_count,
        ranks,
        rows_at,
        spaces,
    )
    from .equation_machine import EquationMachine
    from .export import CArgument, CKernel, c_kernel, identifier
    from .generic_kernels import rows
    from .lookup import (
        Coordinate,
        all_speeds_of,
        by_speed,
        coordinates,
        is_batch,
        machine_of,
        speeds_of,
        state,
        states,
        where,
    )
    from .machine import Machine, compile
    from .quantities import find
    from .reactions import joints_of, reactions, under_rows, undetermined
    from .reactions import rotated as rotated_wrench
    from .reactions import undetermined as undetermined_reactions
    from .router import LANES_UP_TO
    from .state_check import called
    from .terms import Terms, accelerated, name_of, terms, torn_row

__getattr__, __dir__ = door(__name__)
