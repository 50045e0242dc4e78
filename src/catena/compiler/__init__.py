"""From kernels to machine code.

symbols, trace_kinematics, trace, derivatives,
frame_dynamics                                   a kernel called with symbols becomes an expression
                                                 of one mechanism
load_expressions, beam_sections                  loads and flexible bodies as expressions;
                                                 joint_springs: as arrays
tape, emit, text, operations, sincos, transpose  an expression becomes LLVM text over lanes; host:
                                                 text to code to addresses
lanes, single_state, threads                     compiled lanes, how they are called, and work
                                                 shared among threads; xla_handler: called by XLA
kernel_compiler, kernel_intrinsics, kernel_text  a kernel's own Python becomes LLVM text, for any
                                                 mechanism
generic, generic_binding, machine_function       the kernels of any mechanism in lanes, bound to
                                                 one; the drivers of the time loop
cache                                            machine code on disk: bound to its key, and no
                                                 pickles; trace_cache: tapes; fingerprint: hashes of
                                                 values, for their keys
"""

from typing import TYPE_CHECKING

from ..doors import door

if TYPE_CHECKING:
    from . import derivatives, generic, generic_binding, looped, single_state
    from .attached import keep
    from .block_function import BlockFunction, Record, WholeNumbers
    from .cache import CacheState, cache_state
    from .counter_random import normal as normal_numbers
    from .counter_random import uniform as uniform_numbers
    from .fingerprint import PACKAGE, digest, fingerprint
    from .frame_dynamics import frame_dynamics
    from .host import default_width, target
    from .joint_losses import coulomb, damping, loss_forces, losses
    from .joint_springs import AFTER, BEFORE, ENERGY, Springs, springs
    from .kernel_compiler import Module
    from .kernel_intrinsics import intrinsic
    from .kernel_text import Array, Value
    from .lanes import LaneKernel, compile_lanes, compile_single
    from .machine_function import call_block, machine_function, weighted
    from .massless import row_inertia, whole_inertia
    from .regressor import INERTIAL, UNITS, inertial_bodies, inertial_parameters, regressor
    from .single_state import LARGEST, UNIT, Single
    from .symbols import elements, entries, matrix, vector
    from .tape import OPERATIONS, Node, Tape, read
    from .trace import (
        DENSE,
        Tracer,
        factored,
        met,
        smallest_change,
        solve_columns,
        solved,
        triangle,
    )
    from .trace_cache import kept, kept_tape, structure, tape_on_disk
    from .transpose import rows_of_lanes
    from .wasm import PAGE, module
    from .xla_handler import ARGUMENTS, DATA, EXECUTE, EXTENSION, FUNCTIONS, RESULTS, STAGE, Handler

__getattr__, __dir__ = door(__name__)
