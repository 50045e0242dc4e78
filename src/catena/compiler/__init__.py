"""From kernels to machine code.

    symbols, trace_kinematics, trace, derivatives    a kernel called with symbols becomes an expression of one mechanism
    load_expressions, beam_sections                  loads and flexible bodies as expressions; joint_springs: as arrays
    tape, emit, text, operations, sincos, transpose  an expression becomes LLVM text over lanes; host: text to code to addresses
    lanes, lane_call, threads                        compiled lanes, how they are called, and work shared among threads
    generic, one_state, fastcall, array_view         the kernels compiled once by Numba for any mechanism, and calls for one state
    cache, numba_cache                               machine code on disk: bound to its key, and no pickles
"""
