"""Output: where the slices of a run (its output rows, piece by piece) are stored, and what results
show.

sinks             memory; result_file: a file that grows while the run goes on
record            rows, energies, the labelled dataset and the ledger
contact_record    gaps, forces, slips and modes of contacts over time; stepping_record: of time
                  steps
fingerprint       whether a run that is resumed is the run that was begun
friction_creep    how far joints creep where smoothed friction should hold them
"""

from typing import TYPE_CHECKING

from ...doors import door

if TYPE_CHECKING:
    from . import record
    from .fingerprint import fingerprint
    from .record import ObservedRows
    from .sinks import moved

__getattr__, __dir__ = door(__name__)
