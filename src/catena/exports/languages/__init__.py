"""A plant in other languages, one file each: MATLAB (and Octave), Julia, Modelica. Operation by
operation from the tapes.
"""
