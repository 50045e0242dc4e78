"""Result: the labelled rows of a run as an xarray dataset with names and units, and the ledger of
its accuracy.

    run --> Dataset over time (and run) + Ledger + the mechanism's own text --save--> .nc, .csv
                                                                           <--load_result-- .nc

Quantities that follow from the states (poses, momentum, reactions, multipliers) are computed when
they are asked for. So are the dataset and the ledger themselves, so that a batch of which few runs
are read costs little.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import CatenaError, FormatError, UnknownNameError
from ..formats import as_path
from ..registry import loaded
from . import plotting, storage
from .event_table import event_table, impact_table
from .file_kinds import FILE_KINDS
from .labels import TEXT, read_text
from .ledger import Ledger
from .storage import reason

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped]
    import rerun
    import xarray as xr

    from ..machine import Machine
    from ..model import Mechanism

__all__ = ["Ledger", "Result", "load_result"]

AXES = ["x", "y", "z"]
WRENCH = ["torque x", "torque y", "torque z", "force x", "force y", "force z"]
ENERGIES = ("kinetic", "potential", "strain", "work", "energy_error")


@dataclass(frozen=True)
class Result:
    """The rows of a run, or of a batch of runs, with names and units.

    The variables of `data` can also be read as attributes, such as `result.q`. They are q (time,
    coordinate); v, a and tau (time, speed); kinetic, potential, work and energy_error (time), in J;
    strain (time), the part of potential in flexible bodies, where there are any; state and input,
    as the integrator saw them; and with loops closure (time, row). The coordinates
    `coordinate_unit`, `speed_unit`, `acceleration_unit` and `force_unit` give the unit of each
    name. A batch has a leading dimension `run`.

    Parameters
    ----------
    source : xarray.Dataset or callable
        The data, or a function that returns them when they are first read.
    trust : Ledger or callable
        The ledger, or a function that returns it when it is first read.
    model : Mechanism, optional
        The mechanism that ran. Without it, it is read from the attributes of the data.
    shared : dict, optional
        A cache that all parts of one result share (`select`, `thinned`).

    Examples
    --------
    >>> import catena
    >>> result = catena.simulate(catena.load("pendulum"), q=[0.5], until=1.0)
    >>> result.q.dims, float(result.time[-1])
    (('time', 'coordinate'), 1.0)
    >>> result.ledger.complete
    True
    """

    source: xr.Dataset | Callable[[], xr.Dataset]
    trust: Ledger | Callable[[], Ledger]
    model: Mechanism | None = None
    # a cache that all parts of one result share
    shared: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def data(self) -> xr.Dataset:
        """The labelled rows, an xarray.Dataset over time (and run, for a batch)."""
        return self.source() if callable(self.source) else self.source

    @cached_property
    def ledger(self) -> Ledger:
        """The accuracy and the cost of the run, a `catena.results.Ledger`."""
        return self.trust() if callable(self.trust) else self.trust

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the function and arguments that rebuild the result, for copies and pickles, which
        hold the rows themselves.
        """
        return Result, (self.data, self.ledger, self.model)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return dict(loaded("catena.studio.widget:bundle")(self))

    def _repr_html_(self) -> str:
        return str(loaded("catena.results.notebook:result")(self))

    def __repr__(self) -> str:
        sizes = ", ".join(f"{k} {v}" for k, v in self.data.sizes.items())
        return f"Result({self.data.attrs.get('mechanism', '')!r}: {sizes}; {self.ledger.outcome})"

    def __getattr__(self, name: str) -> xr.DataArray:
        if name.startswith("_") or name not in self.data:
            raise AttributeError(
                f"a result has no {name!r}; it has: {', '.join(map(str, self.data))}"
            )
        return self.data[name]

    @property
    def time(self) -> np.ndarray:
        """The times of the rows in seconds, an ndarray of shape (time,)."""
        return self.data["time"].values

    @property
    def energy(self) -> xr.DataArray:
        """The kinetic plus the potential energy in joules, (..., time)."""
        return self.data["kinetic"] + self.data["potential"]

    @property
    def complete(self) -> bool:
        """Whether the run reached its end."""
        return self.ledger.complete

    def plot(self, what: str = "overview", **options: Any) -> Any:
        """Return one of the plots of a result as a matplotlib Figure.

        Parameters
        ----------
        what : str, default "overview"
            The name of the plot, one of `catena.results.plotting.PLOTS`.
        **options
            `run`, `title` and the options of the plot, as in `catena.results.plotting.plot`.

        Returns
        -------
        matplotlib.figure.Figure
            The figure; it is not shown.

        Raises
        ------
        UnknownNameError
            If there is no such plot or option.
        """
        return plotting.plot(self, what, **options)

    def animate(self, path: str | Path | None = None, **options: Any) -> Any:
        """Write an animation to a file, or return one for a notebook.

        Parameters
        ----------
        path : str or Path, optional
            A file .gif, .mp4 or .html. Without it, nothing is written.
        **options
            The options of `catena.results.animation.animate`.

        Returns
        -------
        Path or Playing
            The path that was written; without a path, an object that plays inside a notebook.
        """
        if path is None:
            return loaded("catena.results.animation:playing")(self, **options)
        return loaded("catena.results.animation:animate")(self, path, **options)

    # --- parts of it
    def select(self, run: int | None = None, every: int = 1) -> Result:
        """Return one run of a batch, or fewer rows.

        Parameters
        ----------
        run : int, optional
            The number of the run. Default: all of them.
        every : int, default 1
            Take one row in so many.

        Returns
        -------
        Result
            The rows selected, with the same ledger.

        Raises
        ------
        CatenaError
            If there is no run of that number.
        """
        data = self.data.isel(time=slice(None, None, every)) if every > 1 else self.data
        if run is not None and "run" in data.dims:
            if not 0 <= run < data.sizes["run"]:
                raise CatenaError(
                    f"run {run} was asked for; this result has runs 0 to {data.sizes['run'] - 1}"
                )
            data = data.isel(run=run, drop=True)
        return replace(self, source=data)

    def thinned(self, rows: int) -> Result:
        """Return at most a given number of rows, at equal distances in the row number.

        Parameters
        ----------
        rows : int
            The largest number of rows.

        Returns
        -------
        Result
            The rows selected, with the same ledger.
        """
        return self.select(every=-(-self.data.sizes["time"] // rows))

    @property
    def contacts(self) -> xr.Dataset:
        """The contact variables over time, an xarray.Dataset.

        For each contact point: gap (m), normal_force (N), friction_force (N) and slip (m/s) as
        vectors in the ground's axes, mode ("open", "slip" or "stick") and place (m). For each
        contact, summed over its points: force (N) and pressure_centre (m). NaN: the contact is
        open, or rigid bodies do not determine the value.

        Raises
        ------
        CatenaError
            If the mechanism has no contacts.
        """
        own = {
            str(name): str(name).removeprefix("contact_")
            for name in self.data
            if str(name).startswith("contact_")
        }
        if not own:
            raise CatenaError(
                "this result has no contacts; give the mechanism some: Mechanism(...,"
                " contacts=[Contact(...)])"
            )
        found = self.data[list(own)].rename(own)
        words = np.array(["open", "slip", "stick"])[found["mode"].values.astype(int)]
        return found.assign(mode=(found["mode"].dims, words))

    # --- on request
    @property
    def mechanism(self) -> Mechanism:
        """The mechanism that ran, with its flexible bodies discretised.

        Raises
        ------
        CatenaError
            If the result was read from a file that does not hold its mechanism, and `load_result`
            was not given it.
        """
        if self.model is not None:
            from ..model.flexible import discretise

            return discretise(self.model)
        if TEXT not in self.data.attrs:
            raise CatenaError(
                "this result does not contain its mechanism, which could not be written to a"
                " file; give it: load_result(path, mechanism=...)"
            )
        return self._once("mechanism", lambda: read_text(self.data.attrs[TEXT]))

    @property
    def machine(self) -> Machine:
        """The mechanism that ran, compiled: a `Machine`."""
        from ..machine import compile

        return self._once("machine", lambda: compile(self.mechanism))

    def _once(self, name: str, make: Callable[[], Any]) -> Any:
        if name not in self.shared:
            self.shared[name] = make()
        return self.shared[name]

    def poses(self, frames: Iterable[str] | None = None) -> xr.Dataset:
        """Return the poses of frames along the run.

        Parameters
        ----------
        frames : iterable of str, optional
            Names of frames or bodies. Default: every body.

        Returns
        -------
        xarray.Dataset
            position (..., frame, axis) in m, and rotation (..., frame, axis, column), both in the
            ground.
        """
        import xarray as xr

        names = [b.name for b in self.mechanism.bodies] if frames is None else list(frames)
        X = np.stack(
            [
                self.machine.pose(self._rows("q"), name, parameters=self._parameters)
                for name in names
            ],
            axis=-3,
        )
        return xr.Dataset(
            {
                "position": ((*self._lead, "frame", "axis"), X[..., :3, 3], {"units": "m"}),
                "rotation": (
                    (*self._lead, "frame", "axis", "column"),
                    X[..., :3, :3],
                    {"units": "1"},
                ),
            },
            {**self._labels, "frame": names, "axis": AXES, "column": AXES},
        )

    def momentum(self) -> xr.Dataset:
        """Return the centre of mass, its velocity and the momenta along the run, in the ground's
        axes.

        Returns
        -------
        xarray.Dataset
            com (m), com_velocity (m/s), linear (kg m/s) and angular (kg m2/s, about the centre of
            mass), each (..., axis).
        """
        import xarray as xr

        found = self.machine.momentum(self._rows("q"), self._rows("v"), parameters=self._parameters)
        units = {"com": "m", "com_velocity": "m/s", "linear": "kg m/s", "angular": "kg m2/s"}
        made = {
            name: ((*self._lead, "axis"), found[name], {"units": unit})
            for name, unit in units.items()
        }
        return xr.Dataset(made, {**self._labels, "axis": AXES})

    def reactions(self, axes: str = "body") -> xr.DataArray:
        """Return the wrench on the child of every joint along the run, loops included.

        Parameters
        ----------
        axes : {"body", "joint", "world"}, default "body"
            The axes and the point, as in `catena.analysis.reactions`. The name of a frame or body
            means along its axes.

        Returns
        -------
        xarray.DataArray, shape (..., joint, component)
            Torque first (N m, N). NaN: not determined by rigid bodies, or by what a constraint
            states of where it acts; the attribute `undetermined` then names the joints and the
            reasons.

        Raises
        ------
        CatenaError
            If a lock held a frame during the run: its force is not among the loads.
        """
        import xarray as xr

        if held := self._caught_frames():
            raise CatenaError(
                f"the reactions of joints in a run that locks the frame {held} are not known yet:"
                " what holds it acts on a body, and is not among the loads; write the lock as a"
                " loop joint, or ask for the run before it"
            )
        q, v, a = (self._rows(name) for name in "qva")
        if "contact_mode" in self.data and self.data["contact_mode"].values.any():
            with_contacts = loaded("catena.results.contact_wrenches:reactions_with_contacts")
            found = with_contacts(self, axes, q, v, a, self._acting)
        elif axes == "body" and not self.mechanism.constrained:
            found = self.machine.reactions(q, v, a, parameters=self._parameters, t=self.time)
        else:
            found = self._reactions(axes, q, v, a, self._acting)
        return xr.DataArray(
            np.stack(list(found.values()), axis=-2),
            {**self._labels, "joint": list(found), "component": WRENCH},
            (*self._lead, "joint", "component"),
            "reactions",
            {"units": "N m, N", "axes": axes, **self._undetermined()},
        )

    def _undetermined(self) -> dict[str, str]:
        """Return the attribute that names the joints whose wrenches are not fully determined; an
        empty mapping where there are none.
        """
        from ..machine import undetermined

        found = undetermined(self.machine) if self.mechanism.row_records else {}
        said = [f"{joint}: {'; '.join(why)}" for joint, why in found.items()]
        return {"undetermined": "\n".join(said)} if said else {}

    def _caught_frames(self) -> str:
        """Return the names of the locks that hold a frame at some row, separated by commas."""
        if "mode" not in self.data:
            return ""
        names = [str(n) for n in self.data["mode_name"].values]
        # the mode of a frame is followed by its pose
        found = [n.removesuffix(" xx") for n in names if n.endswith(" xx")]
        on = [n for n in found if self.data["mode"].values[..., names.index(f"{n} locked")].any()]
        return ", ".join(n.removeprefix("the lock of ") for n in on)

    def _reactions(self, axes: str, *rows: np.ndarray) -> dict[str, np.ndarray]:
        """Return {joint: wrenches} by `catena.machine.reactions`. That function uses the parameters
        of one mechanism, so that runs with different parameters are evaluated one after another.
        """
        from ..machine import compile, reactions

        def asked(
            machine: Machine, q: np.ndarray, v: np.ndarray, a: np.ndarray, tau: np.ndarray
        ) -> dict[str, np.ndarray]:
            return reactions(machine, q, v, a, tau, axes=axes, t=self.time, check=False)

        if "parameters" not in self.data:
            return asked(self.machine, *rows)
        names = self.data["parameter"].values
        values = self.data["parameters"].values
        many = values.ndim > 1
        own = [
            self.mechanism.with_(parameters=dict(zip(names, row))) for row in np.atleast_2d(values)
        ]
        found = [asked(compile(m), *x) for m, x in zip(own, zip(*rows) if many else [rows])]
        return (
            {joint: np.stack([each[joint] for each in found]) for joint in found[0]}
            if many
            else found[0]
        )

    def multipliers(self) -> xr.DataArray:
        """Return the multipliers of the constraint rows along the run.

        Returns
        -------
        xarray.DataArray, shape (..., row)
            The forces of the rows of loops, constraints and speed rows (N for displacements, N m
            for directions).
        """
        import xarray as xr

        from ..machine import least_multipliers

        q, v = self._rows("q"), self._rows("v")
        found = least_multipliers(
            self.machine, q, v, self._acting, None, self._parameters, self.time, check=False
        )
        rows = [f"{joint}: {label}" for joint, label in self.machine.rows]
        return xr.DataArray(
            found,
            {**self._labels, "row": rows},
            (*self._lead, "row"),
            "multipliers",
            {"units": "N, N m"},
        )

    def drive_forces(self) -> xr.DataArray:
        """Return the torque or force of every drive of the mechanism along the run.

        Returns
        -------
        xarray.DataArray, shape (..., drive)
            N m or N. NaN: other rows impose the same motion, so that the force is not determined.
        """
        return loaded("catena.results.drive_forces:drive_forces")(self)

    @property
    def _lead(self) -> tuple[str, ...]:
        return ("run", "time") if "run" in self.data.dims else ("time",)

    @property
    def _labels(self) -> dict[str, Any]:
        return {name: self.data[name] for name in self._lead}

    def _rows(self, name: str) -> np.ndarray:
        return self.data[name].transpose(*self._lead, ...).values

    @property
    def _parameters(self) -> np.ndarray | None:
        """The parameters of each row, (..., 1, count), if each run of a batch has its own; else
        None.
        """
        return self.data["parameters"].values[..., None, :] if "parameters" in self.data else None

    @property
    def _acting(self) -> np.ndarray:
        """The joint forces that act, (..., nv): those of the controller, plus damping, friction and
        holding forces where the rows record them.
        """
        return self._rows("tau") + (self._rows("losses") if "losses" in self.data else 0.0)

    # --- tables and files
    def to_pandas(self) -> pd.DataFrame:
        """Return the rows as a table, in SI units.

        Returns
        -------
        pandas.DataFrame
            One row per time (and run), one column per coordinate, speed, acceleration, force and
            energy, such as "q elbow". The force of a drive has a column "drive NAME".
        """
        import pandas as pd

        columns: dict[Any, Any] = {}
        for name in ("q", "v", "a", "tau"):
            for k, label in enumerate(self.data[self.data[name].dims[-1]].values):
                columns[f"{name} {label}"] = self._rows(name)[..., k].ravel()
        if any(x.drives() for x in self.mechanism.constraints):
            forces = self.drive_forces()
            for k, drive in enumerate(forces["drive"].values):
                columns[f"drive {drive}"] = forces.values[..., k].ravel()
        for name in (n for n in ENERGIES if n in self.data):
            columns[name] = self._rows(name).ravel()
        if "run" in self.data.dims:
            index = pd.MultiIndex.from_product(
                [self.data["run"].values, self.time], names=["run", "time"]
            )
        else:
            index = pd.Index(self.time, name="time")
        return pd.DataFrame(columns, index=index)

    def to_rerun(self) -> rerun.RecordingStream:
        """Return one run as a recording of Rerun: solids that move, traces, and all quantities.

        Returns
        -------
        rerun.RecordingStream
            The recording; `.spawn()` opens the viewer, `.save("run.rrd")` writes it.

        Raises
        ------
        CatenaError
            If rerun-sdk is not installed, or the result is a batch.
        """
        return loaded("catena.results.rerun_log:recording")(self)

    def save(self, path: str | Path) -> Path:
        """Write the result to a file. The file appears only when it is complete.

        Parameters
        ----------
        path : str or Path
            A file .nc (netCDF: everything, which `load_result` reads), .csv or .parquet (the table
            of `to_pandas`), .rrd (the recording of `to_rerun`) or .mcap (joint states, poses and
            energies of one run as messages, for Foxglove and tools of ROS).

        Returns
        -------
        Path
            The path.

        Raises
        ------
        CatenaError
            If the suffix is another, a package is missing, or the file cannot be written.
        """
        path = Path(path)
        if path.suffix not in FILE_KINDS:
            *most, last = FILE_KINDS
            raise CatenaError(
                f"{path}: a result is saved as {', '.join(most)} or {last}, not"
                f" {path.suffix or 'without a suffix'!r}"
            )
        partial = path.with_name(f".{path.name}.partial")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            storage.reserve(partial, self.data.nbytes + 2**16)
            loaded(FILE_KINDS[path.suffix].write)(self, partial)
            os.replace(partial, path)
        except (OSError, RuntimeError) as error:
            raise CatenaError(
                f"{path}: the result could not be written ({reason(error)}); it is still in memory"
            ) from None
        finally:
            with suppress(OSError):
                partial.unlink(missing_ok=True)
        return path

    def with_ledger(self) -> xr.Dataset:
        """Return the data with the ledger as JSON among their attributes, as files hold them.

        Returns
        -------
        xarray.Dataset
            The data; nothing is copied.
        """
        return self.data.assign_attrs(ledger=json.dumps(asdict(self.ledger)))


def load_result(
    path: str | Path, *, every: int = 1, lazy: bool = False, mechanism: Mechanism | None = None
) -> Result:
    """Read a result that `Result.save` or a streamed run wrote as netCDF.

    Parameters
    ----------
    path : str or Path
        The .nc file.
    every : int, default 1
        Take one row in so many.
    lazy : bool, default False
        Leave the rows in the file until they are used, for a run that is larger than memory.
    mechanism : Mechanism, optional
        The mechanism that ran, for a file that could not hold it.

    Returns
    -------
    Result
        The result. If the run was interrupted, it has the rows written until then.

    Raises
    ------
    FormatError
        If the file does not exist, is not a result of catena, or is damaged.

    Examples
    --------
    >>> import catena, tempfile
    >>> from pathlib import Path
    >>> result = catena.simulate(catena.load("pendulum"), q=[0.5], until=1.0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = result.save(Path(folder) / "swing.nc")
    ...     again = catena.load_result(path, every=10)
    >>> again.time.shape
    (21,)
    """
    import xarray as xr

    path = as_path(path)
    if not os.path.exists(path):
        raise FormatError(path, "there is no such file; a result is a .nc file that catena wrote")
    if path.is_dir():
        raise FormatError(
            path, "this is a folder; a result is a .nc file in it, such as results.nc"
        )
    try:
        file = xr.open_dataset(path, engine="h5netcdf", decode_times=False)
    except Exception as error:
        # whatever HDF5 and its readers make of a file that is none, or that is damaged
        raise FormatError(path, f"this is not a result of catena: {reason(error)}") from None
    try:
        data, ledger = _unpacked(file, every)
        return Result(data if lazy else data.load(), ledger, mechanism)
    except (OSError, RuntimeError) as error:
        raise FormatError(path, f"the file is damaged: {reason(error)}") from None
    except KeyError as error:
        raise FormatError(path, f"this is not a result of catena: it lacks {error}") from None
    except Exception as error:
        raise FormatError(path, f"this is not a result of catena: {reason(error)}") from None
    finally:
        if not lazy:
            file.close()


def _unpacked(file: xr.Dataset, every: int) -> tuple[xr.Dataset, Ledger]:
    """Return the valid rows of a file, and the ledger: from the attributes of a saved result, or
    from the journal of a file that was written during a run.
    """
    if storage.JOURNAL not in file and "ledger" not in file.attrs:
        raise KeyError("ledger")
    for name in ("time", "q", "v", "a", "tau", "kinetic", "potential", "work", "energy_error"):
        if file[name].dtype.kind != "f" or "time" not in file[name].dims:
            raise TypeError(f"its {name!r} are not numbers over time")
    for name in (
        "coordinate",
        "speed",
        "coordinate_unit",
        "speed_unit",
        "acceleration_unit",
        "force_unit",
    ):
        file[name]
    if storage.JOURNAL not in file:
        data = file.isel(time=slice(None, None, every))
        return data, Ledger.read(json.loads(data.attrs.pop("ledger")))
    entry = storage.latest(file[storage.JOURNAL].values)
    if entry is None:
        raise OSError("no part of its journal can be read")
    log = storage.read_log(entry, file[storage.LOG].values)
    if entry.lost:
        log.events.append(
            (
                log.events[-1][0],
                f"and {entry.lost} more events and impacts, for which the file has no room",
                (),
                (),
            )
        )
    data = file.drop_vars([storage.JOURNAL, storage.LOG]).isel(time=slice(0, entry.row, every))
    for shown, along in (
        event_table(log.events, (data.sizes["coordinate"], data.sizes["speed"])),
        impact_table(log.impacts, data["contact"].values.tolist() if log.impacts else []),
    ):
        data = data.assign_coords(along).assign(shown)
    return data, Ledger.read(entry.ledger)


def chosen(
    asked: Iterable[str] | str | None, known: Iterable[str], what: str, where: str
) -> list[str]:
    """Return the requested names, or all known names where None is given. Raise an
    UnknownNameError, with the nearest known name, for an unknown one.
    """
    names = list(known)
    if asked is None:
        return names
    picked = [asked] if isinstance(asked, str) else list(asked)
    for name in picked:
        if name not in names:
            raise UnknownNameError(what, name, names, where)
    return picked
