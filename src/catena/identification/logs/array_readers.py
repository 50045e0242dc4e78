"""Logs in files of arrays: NumPy, MATLAB, Parquet.

An array of shape (T, n) becomes n columns "NAME 1" to "NAME n", so that `q` of shape (T, 6) is read
as positions of the joints in the mechanism's order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import FormatError
from .readers import RawLog, checked_columns


def read_npz(path: Path) -> RawLog:
    """Return the columns of the arrays in a .npz file; pickled objects are refused."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            found = {name: np.asarray(arrays[name]) for name in arrays.files}
    except (ValueError, OSError) as why:
        raise FormatError(path, f"its arrays cannot be read: {str(why).splitlines()[0]}") from None
    return checked_columns(dict(_columns(found)), str(path))


def read_mat(path: Path) -> RawLog:
    """Return the columns of the variables of a .mat file; fields of structures by their names."""
    from scipy.io import loadmat
    from scipy.io.matlab import MatReadError

    try:
        found = loadmat(path, squeeze_me=True, struct_as_record=False)
    except NotImplementedError:
        found = _read_hdf(path)
    except (ValueError, OSError, TypeError, MatReadError) as why:
        raise FormatError(path, f"this is no MATLAB file: {str(why).splitlines()[0]}") from None
    plain = {k: x for k, x in found.items() if not k.startswith("__")}
    return checked_columns(dict(_columns(dict(_fields(plain)))), str(path))


def read_parquet(path: Path) -> RawLog:
    """Return the columns of a Parquet file."""
    import pandas as pd  # type: ignore[import-untyped]

    try:
        table = pd.read_parquet(path)
    except ImportError:
        raise FormatError(path, "Parquet needs pyarrow: pip install catena[logs]") from None
    except (ValueError, OSError) as why:
        raise FormatError(path, f"this is no Parquet file: {str(why).splitlines()[0]}") from None
    return checked_columns({str(c): table[c].to_numpy() for c in table.columns}, str(path))


def _read_hdf(path: Path) -> dict[str, Any]:
    """Return the variables of a MATLAB 7.3 file, which is HDF5 with arrays transposed."""
    import h5py  # type: ignore[import-untyped]

    found: dict[str, Any] = {}
    with h5py.File(path, "r") as file:

        def visit(name: str, item: Any) -> None:
            if isinstance(item, h5py.Dataset) and item.dtype.kind in "fiu":
                found[name.rpartition("/")[2]] = np.asarray(item).T.squeeze()

        file.visititems(visit)
    return found


def _fields(found: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield variables, and the fields of structures in their place."""
    for name, x in found.items():
        if hasattr(x, "_fieldnames"):
            yield from _fields({n: getattr(x, n) for n in x._fieldnames})
        else:
            yield name, x


def _columns(arrays: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield columns: arrays of one dimension as they are, of two dimensions one for each column.

    Of two dimensions the longer one is time.
    """
    for name, x in arrays.items():
        array = np.asarray(x)
        if array.dtype.kind not in "fiub" or array.ndim not in (1, 2) or array.size < 2:
            continue
        if array.ndim == 1 or 1 in array.shape:
            yield name, array.reshape(-1)
            continue
        tall = array if array.shape[0] >= array.shape[1] else array.T
        for k in range(tall.shape[1]):
            yield f"{name} {k + 1}", tall[:, k]
