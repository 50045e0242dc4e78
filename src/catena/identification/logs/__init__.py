"""Logs: from files of any format to motions at even times.

file --readers--> columns --column_layout--> roles --log_table--> table with units --conditioning-->
Motion

readers               the formats; text_reader, array_readers, ros_readers: one each
column_layout         which column holds what: a mapping, the header, or the number of columns
log_table             the table; log_checks: faults of logs, found and named
coupled_drives        drives that turn with several joints
conditioning          outliers, gaps, even times, filter, derivatives
"""

from typing import TYPE_CHECKING

from ...doors import door

if TYPE_CHECKING:
    from .conditioning import Motion, condition, low_pass
    from .coupled_drives import Coupling, coupling_matrix, drive_regressor
    from .log_checks import LOG_CHECKS, LogCheck, checked_log, every_check, findings
    from .log_table import joint_units, read_log
    from .readers import LOG_READERS, LogReader, RawLog, checked_columns

__getattr__, __dir__ = door(__name__)
