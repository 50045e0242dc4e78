"""Results as files of tables: netCDF, CSV and Parquet."""

from __future__ import annotations

from pathlib import Path

from ..errors import CatenaError
from .result import Result


def write_netcdf(result: Result, path: Path) -> None:
    """Write everything that a result holds; `load_result` reads it."""
    result.with_ledger().to_netcdf(path, engine="h5netcdf")


def write_csv(result: Result, path: Path) -> None:
    """Write the table of `to_pandas` as text."""
    result.to_pandas().to_csv(path)


def write_parquet(result: Result, path: Path) -> None:
    """Write the table of `to_pandas` as Parquet, with the ledger and the text of the mechanism in
    its metadata.
    """
    table = result.to_pandas()
    table.attrs = {str(name): text for name, text in result.with_ledger().attrs.items()}
    try:
        table.to_parquet(path, engine="pyarrow")
    except ImportError:
        raise CatenaError(
            f"{path}: Parquet needs the package pyarrow: pip install 'catena[logs]'"
        ) from None
