"""Result: what came out. A labelled xarray dataset with names and units, and the ledger that says how far to trust it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from .errors import CatenaError, FormatError


@dataclass(frozen=True)
class Ledger:
    """The accuracy of a run, and what it cost.

    energy_balance: the largest |change of energy - work done|, J, and beside the largest kinetic energy. closure: the
    largest residual of a loop's row (m, or cosine). quaternion: the largest | |q| - 1 |. verdict: whether the accuracy that
    was asked for was met, in a sentence; verified: the largest difference to a run at a tighter tolerance, if there was one.
    """

    outcome: str
    formulation: str
    integrator: str
    tolerance: float
    energy_balance: float
    relative_energy_balance: float
    closure: float
    quaternion: float
    steps: int
    rejected: int
    evaluations: int
    wall_time: float
    runs: int = 1
    complete: bool = True
    verified: float | None = None
    verdict: str = ""
    versions: dict[str, str] = field(default_factory=dict)

    def rows(self) -> list[tuple[str, str]]:
        """Name and value, as a table shows them."""
        shown = [
            ("outcome", self.outcome),
            ("formulation", self.formulation),
            ("integrator", f"{self.integrator}, tolerance {self.tolerance:g}"),
            ("energy balance", f"{self.energy_balance:.3g} J, {self.relative_energy_balance:.2g} of the largest kinetic energy"),
            ("loop closure", f"{self.closure:.3g}"),
            ("quaternion length", f"{self.quaternion:.3g}"),
            ("steps", f"{self.steps} taken, {self.rejected} rejected, {self.evaluations} evaluations"),
            ("wall time", f"{self.wall_time:.3g} s for {self.runs} run{'s' if self.runs > 1 else ''}"),
        ]
        if self.verified is not None:
            shown.append(("verified", f"{self.verified:.3g} from a run at a tighter tolerance"))
        if self.verdict:
            shown.append(("verdict", self.verdict))
        return shown

    def __str__(self) -> str:
        return "\n".join(f"{name:>18}  {value}" for name, value in self.rows())


UNITS = {"time": "s", "kinetic": "J", "potential": "J", "work": "J", "energy_error": "J", "closure": "m"}


@dataclass(frozen=True)
class Result:
    """A run: `data` is an xarray Dataset over time (and run, for a batch); `ledger` its accuracy.

    Variables: q (time, coordinate), v, a, tau (time, speed), kinetic, potential, work, energy_error (time), state and input
    (what the integrator saw), and for loops closure (time, row).
    """

    data: xr.Dataset
    ledger: Ledger

    def __repr__(self) -> str:
        sizes = ", ".join(f"{k} {v}" for k, v in self.data.sizes.items())
        return f"Result({self.data.attrs.get('mechanism', '')!r}: {sizes}; {self.ledger.outcome})"

    def __getattr__(self, name: str) -> xr.DataArray:
        if name.startswith("_") or name not in self.data:
            raise AttributeError(f"a result has no {name!r}; it has: {', '.join(map(str, self.data))}")
        return self.data[name]

    @property
    def time(self) -> np.ndarray:
        """Seconds, (time,)."""
        return self.data["time"].values

    @property
    def energy(self) -> xr.DataArray:
        """Kinetic plus potential energy, J."""
        return self.data["kinetic"] + self.data["potential"]

    @property
    def complete(self) -> bool:
        """Whether the run reached its end; a partial one says so."""
        return self.ledger.complete

    def plot(self, what: str = "overview", **options: Any) -> Any:
        """A picture, as a matplotlib figure; see `catena.plots`."""
        from . import plots

        return plots.plot(self, what, **options)

    def to_pandas(self) -> Any:
        """One row a time (and run), one column a coordinate, speed, force and energy."""
        import pandas as pd

        columns: dict[Any, Any] = {}
        for name in ("q", "v", "a", "tau"):
            labels = self.data[name].dims[-1]
            for k, label in enumerate(self.data[labels].values):
                columns[f"{name} {label}"] = self.data[name].values[..., k].ravel()
        for name in ("kinetic", "potential", "work", "energy_error"):
            columns[name] = self.data[name].values.ravel()
        if "run" in self.data.dims:
            index = pd.MultiIndex.from_product([self.data["run"].values, self.time], names=["run", "time"])
        else:
            index = pd.Index(self.time, name="time")
        return pd.DataFrame(columns, index=index)

    def save(self, path: str | Path) -> Path:
        """Write to netCDF (.nc) or CSV (.csv), whole or not at all."""
        path = Path(path)
        partial = path.with_name(path.name + ".partial")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.suffix == ".csv":
                self.to_pandas().to_csv(partial)
            elif path.suffix == ".nc":
                data = self.data.copy()
                data.attrs["ledger"] = json.dumps(asdict(self.ledger))
                data.to_netcdf(partial, engine="h5netcdf")
            else:
                raise CatenaError(f"{path}: a result is saved as .nc or .csv, not {path.suffix!r}")
            partial.replace(path)
        except OSError as error:
            partial.unlink(missing_ok=True)
            raise CatenaError(f"{path}: the result could not be written ({error.strerror or error}); it is still in memory") from None
        return path


def load_result(path: str | Path) -> Result:
    """Read what `Result.save` wrote as netCDF."""
    path = Path(path)
    if not path.exists():
        raise FormatError(path, "there is no such file; a result is a .nc file that catena wrote")
    try:
        with xr.open_dataset(path, engine="h5netcdf") as file:
            data = file.load()
        ledger = Ledger(**json.loads(data.attrs.pop("ledger")))
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise FormatError(path, f"this is not a result of catena ({error})") from None
    return Result(data, ledger)
