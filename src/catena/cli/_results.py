"""Arguments that commands on results share: the file, and where pictures go."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import CatenaError

if TYPE_CHECKING:
    from ..results import Result

Results = Annotated[
    str,
    typer.Argument(metavar="RESULTS", help="A .nc file that catena wrote, or the folder it is in."),
]
Force = Annotated[bool, typer.Option("--force", help="Write over what is there.")]
NAME = "results.nc"


def opened(path: str, lazy: bool = True) -> Result:
    """Return the result in a file, or in the results.nc of a folder."""
    from ..results import load_result

    place = Path(path)
    return load_result(place / NAME if (place / NAME).is_file() else place, lazy=lazy)


def free(path: Path, force: bool) -> Path:
    """Return the path; raise CatenaError where a file exists there already, unless `force`."""
    if path.exists() and not force:
        raise CatenaError(f"{path} exists already; give another path, or --force to overwrite it")
    return path
