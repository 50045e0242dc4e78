"""The form in which equations of motion are printed: that of the textbook if it fits on a page,
else the formulation's compact form.

    the last steps of the derivation -> the same without eliminated rows -> the formulation's own
    equations -> the compact form

The first of these that fits on a page is printed. A page is measured in points of print
(`readable.height`), not in time, so that the same mechanism gives the same text on every machine.
"""

from __future__ import annotations

from collections.abc import Callable

from ..equations import Derived
from ..equations.readable import PAGE_HEIGHT as PAGE
from ..equations.readable import Readable, height
from ..errors import FormulationError
from .compact import compact_form
from .derivation import WrongLineError, latex_form, text_form, textbook_forms

# The largest number of speeds of a mechanism whose derivation is tried: larger ones do not fit on a
# page.
LARGEST_DERIVED_SPEEDS = 8
FORMS = {"text": text_form, "latex": latex_form}


def printed(
    equations: Derived, readable: Callable[[], Readable], how: str, full: bool = False
) -> str:
    """Return the equations as "text" or "latex" (how). readable: a function that returns the
    formulation's own equations. full: whether to print the scalar equations on as many pages as
    they need.
    """
    large = not full and len(equations.mechanism.speed_names) > LARGEST_DERIVED_SPEEDS
    derived = [] if large else textbook_forms(equations)
    for form in derived:
        if height(latex_form(form)) <= PAGE:
            return FORMS[how](form)
    rows = readable() if equations.readable is not None or not (derived or large) else None
    if rows is not None and not rows.intermediates and (full or height(rows.latex()) <= PAGE):
        return getattr(rows, how)()
    if not full:
        try:
            return compact_form(equations, how)
        except WrongLineError:
            raise
        except FormulationError:
            if large:
                return printed(equations, readable, how, full=True)
            # the compact form cannot express it: print the rows as they are, however long
    return (
        FORMS[how](derived[0])
        if derived and (full or rows is None)
        else getattr(rows or readable(), how)()
    )
