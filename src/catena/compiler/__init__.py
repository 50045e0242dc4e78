"""From kernels to machine code.

symbols, trace_kinematics, trace, derivatives    a kernel called with symbols becomes an expression
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
                                                 pickles
"""
