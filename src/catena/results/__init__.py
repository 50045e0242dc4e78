"""Results: the rows of a run or of inverse dynamics, their accuracy, and plots of them.

result        Result and load_result: a labelled dataset with its mechanism
ledger        the accuracy of a result, as numbers and one verdict
storage       rows on disk, valid after any interruption
interference  when, where and how deep shapes overlap along a motion
forces        forces of joints and contacts along a run, for arrows
file_kinds    the registry of files that a result is saved as
rerun_log     recordings of Rerun; mcap_log: messages; tables: netCDF, CSV, Parquet
plotting      the registry of plots, and how one is drawn and saved
plots/        one file per plot
animation     GIF files and pages with a player
"""

from typing import TYPE_CHECKING

from ..doors import door

if TYPE_CHECKING:
    from . import plotting, storage
    from .animation import animate
    from .event_table import event_table, impact_table
    from .file_kinds import FILE_KINDS, FileKind
    from .film import Film, between, film
    from .forces import forces
    from .interference import interference
    from .labels import Labels, labelled, labels, units
    from .ledger import OPEN, ContactLedger, Extremes, Ledger, versions
    from .notebook import png
    from .own_parameters import with_own_parameters
    from .plots.paper import STYLES, Style
    from .plotting import PLOTS, SUFFIXES, Plot, find, save
    from .result import Result, load_result
    from .storage import lock, reason

__getattr__, __dir__ = door(__name__)
