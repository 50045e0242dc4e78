"""Worksheets: problems stated with a sketch, derivations with room for answers, solutions apart.

problems        the registry of problems from the classics, with their models/
statement       what a problem says: bodies, coordinates with zero and sense, forces
sketch          the drawing of a mechanism, and free-body diagrams, as SVG or TikZ
sheet           Worksheet: text, and the forms below
page            a page that grades in place, by grader.js and the numbers of answer_key
exercise_notebook, exam   a Jupyter notebook that grades, an exam sheet in LaTeX
"""

from typing import TYPE_CHECKING

from ...doors import door

if TYPE_CHECKING:
    from .answer_key import answer_key
    from .problems import PROBLEMS, Problem, register
    from .sheet import FORMS, Worksheet, worksheet
    from .sketch import Mark, Sketch, free_bodies, sketch

__getattr__, __dir__ = door(__name__)
