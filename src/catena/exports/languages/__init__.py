"""A plant in other languages, one file each: MATLAB (and Octave), Julia, Modelica. The code is
written operation by operation from the plant's functions.
"""
