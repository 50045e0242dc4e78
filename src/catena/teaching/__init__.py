"""Teaching: how equations of motion are derived and printed, and how answers are graded.

derivation/   the steps of a derivation by each method, checked at random states; the grading of
              a student's lines
worksheets/   problems with a sketch, fields that grade, solutions on a sheet of their own
compact/      the statement of a formulation in its own symbols, for mechanisms whose equations do
              not fit on a page
printed       which of the forms is printed: the first that fits on a page
"""

from typing import TYPE_CHECKING

from ..doors import door

if TYPE_CHECKING:
    from .derivation import Derivation, derivation
    from .printed import printed

__getattr__, __dir__ = door(__name__)
