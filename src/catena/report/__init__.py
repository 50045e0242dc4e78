"""Report: one document about a mechanism and a run of it.

document      the report as a whole; chapters: the registry of its chapters
configuration_chart   how the axes of bodies turn, as dots and lines
drive_page    the page of a fit of a robot's drives
page          HTML and its style; printed: PDF by a browser
tables, pictures, numbers, description, blocks, subject
              what chapters are made of
"""

from typing import TYPE_CHECKING

from ..doors import door

if TYPE_CHECKING:
    from .configuration_chart import configuration_chart
    from .description import coordinates_from_names, describe, locked, mobility, round_trip, state
    from .document import checked, report
    from .drive_page import drive_report
    from .numbers import count, number, plain, vector
    from .subject import Subject
    from .tables import MODE_HEAD, TRAVEL_HEAD, closing, heading, mode_rows, tables, travel_rows

__getattr__, __dir__ = door(__name__)
