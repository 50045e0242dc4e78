"""Equations of motion: derived by sibling formulations, in one canonical form, printed as people
read them.

equations       Equations: the canonical form and every sign convention
formulations/   one file per formulation, none importing another; derive picks one by name
readable/       the form people read: text, LaTeX, SymPy, Python, C
absolute/       a mechanism taken apart into free bodies, for formulations in absolute coordinates
algebra         Everett's algebra of frames and variations
"""
