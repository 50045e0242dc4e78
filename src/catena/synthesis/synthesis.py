"""synthesize: linkages for a task, examined for defects and ranked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import QuestionError, UnknownNameError
from ..formats import save
from ..model import Mechanism
from ..registry import loaded
from .defects import DEFECTS, Examination, Limits
from .four_bar import FourBar
from .tasks import TASKS, Proposal

Array = NDArray[np.float64]
# the default of the largest link, relative to the extent of the positions
MAX_RELATIVE_SIZE = 4.0
# an error below this, relative to the extent of the positions, is rounding
ROUNDING_ERROR = 1e-9


@dataclass(frozen=True)
class Candidate:
    """A linkage for a task.

    four_bar: its dimensions. angles, signs: crank angles (rad) and assembly at the positions.
    error: the root mean square of the remaining errors, in the unit of the task. defects: {name:
    sentence}. transmission_angle: the smallest one, rad.
    """

    four_bar: FourBar
    angles: Array
    signs: NDArray[Any]
    error: float
    defects: dict[str, str] = field(default_factory=dict)
    transmission_angle: float = 0.0

    @property
    def size(self) -> float:
        """The longest of its links and of the sides of the coupler's triangle, m."""
        return self.four_bar.size

    def mechanism(self, density: float, name: str = "four-bar") -> Mechanism:
        """Return the linkage as a mechanism of bars with this mass per length, kg/m."""
        return self.four_bar.mechanism(density, name)

    def start(self) -> dict[str, float]:
        """Return the coordinates {joint: rad} at the first position."""
        at = self.four_bar.linkage.positions(self.angles[0], modes=[int(self.signs[0])])
        assert at.q is not None
        names = self.four_bar.linkage.mechanism.coordinate_names
        return dict(zip(names, (float(x) for x in at.q)))


@dataclass(frozen=True)
class Synthesis:
    """The result of `synthesize`: candidates, the best first. task: its name. unit: of the errors.
    positions: the given positions, for pictures. limits: see `Limits`.
    """

    task: str
    unit: str
    positions: dict[str, Any]
    limits: Limits
    candidates: tuple[Candidate, ...]

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self.candidates)

    def __len__(self) -> int:
        return len(self.candidates)

    @property
    def best(self) -> Candidate:
        """The first candidate.

        Raises
        ------
        QuestionError
            Where there is none.
        """
        if not self.candidates:
            raise QuestionError(
                f"synthesize: no four-bar was found for this {self.task} task; move a position, or"
                " give more starts"
            )
        return self.candidates[0]

    def __str__(self) -> str:
        return "\n".join(
            [
                f"{self.task} generation: {len(self)} four-bars,"
                f" {sum(not c.defects for c in self)} without defects",
                f"{'':>3} {'error, ' + self.unit:>10} {'kind':14} {'ground':>9} {'crank':>9}"
                f" {'coupler':>9} {'rocker':>9} {'transm., deg':>12}  defects",
                *(self._line(k, c) for k, c in enumerate(self.candidates[:20], start=1)),
            ]
        )

    def _line(self, k: int, c: Candidate) -> str:
        lengths = " ".join(f"{x:9.4g}" for x in c.four_bar.lengths)
        return (
            f"{k:3} {c.error:10.2e} {c.four_bar.kind:14} {lengths}"
            f" {np.degrees(c.transmission_angle):12.1f}  {', '.join(c.defects) or 'none'}"
        )

    def plot(self, count: int = 6) -> Any:
        """Return a Matplotlib figure of the first candidates with their coupler curves.

        Parameters
        ----------
        count : int, default 6
            How many are drawn.

        Returns
        -------
        matplotlib.figure.Figure
        """
        return loaded("catena.synthesis.pictures:ranked")(self, count)

    def save(self, folder: str | Path, density: float, count: int = 6) -> list[Path]:
        """Write the first candidates as model files, with a picture of them.

        Parameters
        ----------
        folder : str or Path
            Where the files go; it is made where it does not exist.
        density : float
            Mass per length of the bars, kg/m.
        count : int, default 6
            How many candidates.

        Returns
        -------
        list of Path
            The files.
        """
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        files = []
        for k, c in enumerate(self.candidates[:count], start=1):
            files.append(place / f"candidate_{k}.toml")
            save(c.mechanism(density, f"{self.task} generator {k}"), files[-1])
        if self.candidates:
            files.append(place / "candidates.png")
            self.plot(count).savefig(files[-1], dpi=150)
        return files


def synthesize(
    task: str,
    *,
    full_turn: bool = False,
    transmission_angle: float | None = None,
    size: float | None = None,
    box: tuple[float, float, float, float] | None = None,
    ordered: bool = True,
    **values: Any,
) -> Synthesis:
    """Find four-bar linkages for a task, examine them for defects and rank them.

    Parameters
    ----------
    task : str
        "function" (the rocker follows the crank), "motion" (the coupler takes poses), "path" (a
        coupler point passes points) or "five points" (it passes five, with given pivots).
    full_turn : bool, default False
        Whether the crank must turn fully.
    transmission_angle : float, optional
        The smallest allowed transmission angle, rad.
    size : float, optional
        The largest allowed length of a link, m. By default four times the extent of the positions,
        or of the ground for a function.
    box : (x0, y0, x1, y1), optional
        Where the pivots must lie, m.
    ordered : bool, default True
        Whether the positions must be passed in the given order.
    **values
        Those of the task. function: `inputs`, `outputs` (rad; three, four or five each), `ground`
        (m). motion: `poses` (4 or 5 rows x, y, angle), `samples`. path: `points` (rows x, y),
        `timing` (rad), `starts`, `seed`. five points: `points`, `pivot`, `second_pivot` (x, y, m).

    Returns
    -------
    Synthesis
        Candidates, those without defects first, then by error and transmission angle.

    Raises
    ------
    QuestionError
        Where the task or its values are not valid.
    UnknownNameError
        Where a value is not one of the task's.

    Examples
    --------
    >>> import catena
    >>> found = catena.synthesize(
    ...     "function", inputs=[0.5, 0.9, 1.4, 2.1], outputs=[1.73, 1.84, 2.02, 2.28]
    ... )
    >>> found.best.error < 1e-9
    True
    """
    kind = TASKS.find(task)
    for name in values:
        if name not in kind.keys:
            raise UnknownNameError("value", name, kind.keys, f"a {task} task")
    required = [name for name in list(kind.keys)[: kind.required] if name not in values]
    if required:
        raise QuestionError(
            f"synthesize: a {task} task needs {required[0]!r}: {kind.keys[required[0]]}"
        )
    extent = kind.extent(values)
    longest = MAX_RELATIVE_SIZE * extent if size is None else size
    limits = Limits(full_turn, transmission_angle, longest, box, ordered)
    found = [examined(p, limits) for p in kind.propose(limits=limits, **values)]
    unit = extent if kind.unit == "m" else 1.0
    found.sort(key=lambda c: _rank(c, unit, extent))
    return Synthesis(task, kind.unit, dict(values), limits, tuple(found))


def _rank(c: Candidate, unit: float, extent: float) -> tuple[float, ...]:
    """Return the key of the ranking: defects, error in steps of a factor of ten down to rounding,
    size in steps of a factor of two, transmission angle.
    """
    exact = max(c.error / unit, ROUNDING_ERROR)
    return (
        len(c.defects),
        round(float(np.log10(exact))),
        max(0, round(float(np.log2(c.size / extent)))),
        -c.transmission_angle,
    )


def examined(p: Proposal, limits: Limits) -> Candidate:
    """Return a candidate with its defects."""
    x = Examination(p.four_bar, p.angles, p.signs, limits)
    defects = {name: text for name, d in DEFECTS.items() if (text := d.find(x)) is not None}
    return Candidate(p.four_bar, p.angles, p.signs, p.error, defects, x.smallest_transmission_angle)
