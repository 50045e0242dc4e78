"""Optimal motions and designs.

optimize        `catena.optimize`
motion          a motion to be found          motion_problem what is asked of it, checked; its guess
transcription   one interval                                       loop_rows      closed loops in it
costs           costs by name                 copies         one tape, many copies, with derivatives
layout          where unknowns stand                  program        the whole as solvers ask for it
ipopt           the solver                                optimum        what was found, run forward
design          a best design over poses                             poses          one pose of it
"""
