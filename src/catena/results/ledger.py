"""Ledger: the accuracy of a result, and what it cost."""

from __future__ import annotations

import platform
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from importlib.metadata import version
from typing import Any

import numpy as np

from ..registry import loaded

# A run has the accuracy asked for if its difference to a tighter run is at most this many times the
# tolerance.
VERIFIED_TOLERANCES = 10.0
# Residual of a loop's row relative to the loop's length (or as a cosine): above OPEN the loop is
# open, above NOTED_OPENING the verdict mentions it.
OPEN = 1e-3
NOTED_OPENING = 1e-6
# Ratio of a pivot to the threshold of rank, or of the threshold to it, above which the verdict
# mentions that the rank was nearly another.
NOTED_RANK_RATIO = 1e-2
# Rate of a row relative to its size and the fastest speed: above UNMET_ROW_RATE the row is not met,
# above NOTED_ROW_RATE the verdict mentions it.
UNMET_ROW_RATE = 1e-3
NOTED_ROW_RATE = 1e-6
# Energies below this times weight and length, and speeds below this times the pace, are rounding.
ROUNDING = 1e-12
# Error that rounding leaves to the steps, relative to the motion, above which the verdict mentions
# it.
NOTED_RESOLUTION = 1e-6
# Error of the energy balance relative to the energy that came and went: above ABSURD_IMBALANCE the
# run is not to be trusted, above NOTED_IMBALANCE the verdict mentions it.
ABSURD_IMBALANCE = 0.1
NOTED_IMBALANCE = 1e-3
# Difference to a tighter run relative to the motion, above which the verdict mentions their ratio.
NOTED_DIFFERENCE = 1e-3


@dataclass(frozen=True)
class Extremes:
    """The largest magnitudes in the rows of a run so far.

    kinetic, potential, strain: energies, J. weight: the mechanism's weight times its length, J.
    change: of the potential energy since the start, J. work: done, J. balance: change of energy
    less work, J. closure: residuals of rows (m, or cosine); opening: the same relative to the
    loop's length, or one for an angle. rate, speed: the rates of rows relative to their sizes, and
    the fastest speed, 1/s, in the metric of `kernels.rank`; pace: the speed expected from gravity
    or from the duration of the run, 1/s. rank: how close the decision of a rank came to its
    threshold, as a ratio that is 1 at the threshold. quaternion: | |q| - 1 |. moved: how far
    anything has moved relative to its length (1 for an angle), for the run that moves least;
    rounding: the part of that length which steps do not resolve.

    For contacts: penetration, relative to the mechanism's length; pressing: normal force, N;
    grinding: normal force times gap rate, and gain: power of friction, both relative to the length;
    outside: friction outside its cone, N; pulling: normal force that pulls, N; angle: sine of the
    angle between friction and slip.

    For contacts by time stepping, over all steps of one run: residual of the solver relative to the
    fastest speed; unconverged: steps with a residual above the tolerance; complementarity and cone,
    each relative to the largest of its step; gained, dissipated: energy by contacts, J; impacts;
    changes of mode; ahead: steps in which fast bodies were stopped ahead of a contact.

    For joints with smoothed friction, for each speed: slow and way, the distances travelled slowly
    and in all, m or rad (`simulation.friction_creep`).
    """

    kinetic: float = 0.0
    potential: float = 0.0
    weight: float = 0.0
    change: float = 0.0
    work: float = 0.0
    balance: float = 0.0
    strain: float = 0.0
    closure: float = 0.0
    opening: float = 0.0
    rate: float = 0.0
    rank: float = 0.0
    speed: float = 0.0
    pace: float = 0.0
    quaternion: float = 0.0
    moved: float = 0.0
    rounding: float = 0.0
    penetration: float = 0.0
    pressing: float = 0.0
    grinding: float = 0.0
    outside: float = 0.0
    pulling: float = 0.0
    angle: float = 0.0
    gain: float = 0.0
    residual: float = 0.0
    unconverged: float = 0.0
    complementarity: float = 0.0
    cone: float = 0.0
    gained: float = 0.0
    dissipated: float = 0.0
    impacts: float = 0.0
    changes: float = 0.0
    ahead: float = 0.0
    slow: tuple[float, ...] = ()
    way: tuple[float, ...] = ()

    def __or__(self, other: Extremes) -> Extremes:
        """Return the extremes of both; NaN stays NaN. The distances `slow` and `way` are added."""
        theirs = asdict(other)
        sums: dict[str, Any] = {
            name: tuple((np.array(getattr(self, name)) + getattr(other, name)).tolist())
            for name in ("slow", "way")
        }
        return Extremes(
            **(
                {
                    name: float(np.maximum(x, theirs[name]))
                    for name, x in asdict(self).items()
                    if name not in sums
                }
                | sums
            )
        )

    @property
    def energy(self) -> float:
        """The energy, J, relative to which the energy balance is judged: the largest of kinetic
        energy, change of potential energy and work, and at least rounding.
        """
        return max(
            self.kinetic, self.change, self.work, 1e-6 * self.potential, ROUNDING * self.weight
        )

    @property
    def largest(self) -> float:
        """The largest kinetic energy, J; for a mechanism at rest the largest potential energy, and
        at least rounding.
        """
        least = ROUNDING * self.weight
        return self.kinetic if self.kinetic > least else max(self.potential, least)

    @property
    def moving(self) -> float:
        """The speed, 1/s, relative to which rates are judged: the fastest, and at least
        rounding.
        """
        return max(self.speed, ROUNDING * self.pace)


@cache
def _versions() -> tuple[tuple[str, str], ...]:
    return (
        ("catena", version("catena")),
        ("python", platform.python_version()),
        ("numpy", version("numpy")),
    )


def versions() -> dict[str, str]:
    """Return the versions of catena, Python and NumPy with which the run was computed."""
    return dict(_versions())


@dataclass(frozen=True)
class ContactLedger:
    """How well a run satisfied the laws of contact, in its rows and in its impacts.

    penetration: the deepest, relative to the mechanism's length. complementarity: normal force
    times gap rate, and impulses times the residual of the impact law, each relative to its largest
    value. cone: forces outside their friction cones, or that pull, relative to the largest force.
    angle: between friction and the direction opposite to slip, rad. gain: the most energy that
    contacts have added, relative to the energy that came and went. dissipated: in impacts, J. law:
    of impact. impacts, accumulations, changes: the number of impacts, of accumulations of impacts,
    and of changes of mode. remark: a sentence where motions are not unique. margin: where rigid
    bodies do not determine the forces, the distance of the most admissible ones from the border of
    their cones, relative to the force of the contact, as the least value at the events of the run;
    None where all forces were determined.

    stepped: whether by time stepping; then dissipated counts all contacts, and the numbers are
    those of the worst run over all its steps. residual: the largest of the solver, relative to the
    fastest speed of a contact; asked: the tolerance on it; unconverged: the number of steps above
    that tolerance; ahead: the number of steps in which a body would have passed through a thinner
    one, and was stopped ahead of it.
    """

    law: str
    penetration: float = 0.0
    complementarity: float = 0.0
    cone: float = 0.0
    angle: float = 0.0
    gain: float = 0.0
    dissipated: float = 0.0
    impacts: int = 0
    accumulations: int = 0
    changes: int = 0
    remark: str = ""
    margin: float | None = None
    residual: float = 0.0
    asked: float = 0.0
    unconverged: int = 0
    ahead: int = 0
    stepped: bool = False

    @classmethod
    def read(cls, given: Any) -> ContactLedger | None:
        """Return the contact ledger of a file; None where it has none."""
        return None if given is None else cls(**given)

    def __or__(self, other: ContactLedger) -> ContactLedger:
        """Return the contact ledger of the runs of both: the largest residuals, the sums of counts
        and of dissipated energy, and the first remark.
        """
        worst = {
            name: max(getattr(self, name), getattr(other, name))
            for name in ("penetration", "complementarity", "cone", "angle", "gain", "residual")
        }
        sums = {
            name: getattr(self, name) + getattr(other, name)
            for name in (
                "dissipated",
                "impacts",
                "accumulations",
                "changes",
                "unconverged",
                "ahead",
            )
        }
        margins = [x.margin for x in (self, other) if x.margin is not None]
        margin = min(margins, default=None)
        return replace(self, remark=self.remark or other.remark, margin=margin, **worst, **sums)

    def of_rows(self, seen: Extremes) -> ContactLedger:
        """Return the contact ledger with the extremes of the rows added."""
        force = seen.pressing or 1.0
        power = (seen.pressing * seen.moving) or 1.0
        return replace(
            self,
            penetration=seen.penetration,
            angle=seen.angle,
            cone=max(self.cone, seen.outside / force, seen.pulling / force),
            complementarity=max(self.complementarity, seen.grinding / power),
            gain=max(self.gain, seen.gain / power),
        )

    def rows(self) -> list[tuple[str, str]]:
        """Return (name, value) pairs for a table."""
        kept = (
            f"penetration {self.penetration:.2g} of the length, complementarity"
            f" {self.complementarity:.2g}, cone {self.cone:.2g}"
        )
        ends = (
            f", {self.accumulations} accumulation{'s' * (self.accumulations != 1)} taken to the"
            " limit"
            if self.accumulations
            else ""
        )
        return [
            (
                "contact laws",
                (
                    f"{kept}, friction against slip to {self.angle:.2g} rad, energy gained"
                    f" {self.gain:.2g}"
                ),
            ),
            (
                "impacts",
                (
                    f"{self.impacts} by {self.law}, {self.dissipated:.6g} J dissipated{ends};"
                    f" {self.changes} change{'s' * (self.changes != 1)} of mode"
                ),
            ),
            *(
                [
                    (
                        "contact solver",
                        (
                            f"residual {self.residual:.2g}, {self.asked:.2g} asked;"
                            f" {self.unconverged} steps above it"
                        ),
                    )
                ]
                if self.stepped
                else []
            ),
            *(
                [
                    (
                        "shared forces",
                        f"inside their cones by at least {self.margin:.2g} where rigid bodies do"
                        " not determine them",
                    )
                ]
                if self.margin is not None
                else []
            ),
            *([("contact remark", self.remark)] if self.remark else []),
        ]

    def missed(self, limit: float) -> list[str]:
        """Return a sentence for each law of contact whose error exceeds the limit or is NaN."""
        found = [
            (self.penetration, f"bodies penetrate by {self.penetration:.2g} of their length"),
            (
                self.complementarity,
                (
                    "contacts that move apart carry forces: complementarity"
                    f" {self.complementarity:.2g}"
                ),
            ),
            (self.cone, f"contact forces leave their cones by {self.cone:.2g}"),
            (self.angle, f"friction is not against the slip by {self.angle:.2g} rad"),
            (self.gain, f"contacts have put in {self.gain:.2g} of the energy that came and went"),
        ]
        unsolved = (
            [
                f"{self.unconverged} steps of the contact solver ended above the residual"
                f" {self.asked:.2g} asked, the worst at {self.residual:.2g}: take more iterations"
                " or a smaller step"
            ]
            if self.unconverged and (limit < OPEN or not self.residual <= limit)
            else []
        )
        fast = (
            [
                f"in {self.ahead} steps bodies moved by more than they are thick and were stopped"
                " ahead of a contact: take a smaller step"
            ]
            if self.ahead
            else []
        )
        return [words for x, words in found if not x <= limit] + unsolved + fast


@dataclass(frozen=True)
class Ledger:
    """The accuracy of a run, and what it cost.

    energy_balance: the largest difference between the change of energy and the work done, J;
    relative_energy_balance: relative to the largest kinetic energy; imbalance: relative to the
    energy that was exchanged. closure: the largest residual of a loop's row (m, or cosine);
    opening: relative to the loop's length, or one for an angle. slip: the largest rate of a row
    relative to its size and the fastest speed (`kernels.rank` has the sizes). rank: how close the
    decision which rows are redundant came to its threshold, as a ratio that is 1 at the threshold.
    quaternion: the largest difference of a quaternion's length from 1. strain: the most energy that
    flexible bodies stored, J. step: the longest of equal steps, s; None where the tolerance
    determined the steps. resolution: the accuracy that rounding leaves to the steps of an adaptive
    method, relative to how far anything has moved; of many runs, that of the run that moves least.

    verified: the largest difference from a run with a tighter tolerance, if there was one; met:
    whether it is within the requested accuracy; verdict: the same in a sentence.

    A run whose loops open, whose constraint rows are violated or whose energy balance is off by
    more than a tenth is not to be trusted: `doubts` says why, and `met` is then False even if a
    tighter run agrees, because that run may be wrong in the same way.

    contact: how well the laws of contact were satisfied; None where there are no contacts.
    creeping: a sentence with the joint that creeps most under smoothed dry friction, and by how
    much; "" where none does. friction: a sentence with the reason why the program smoothed dry
    friction; "" where it did not. laboured: a sentence with where and how many steps a run took, if
    these are so many that the run passed close to a singular configuration or is stiff; else "".
    frequencies: by how much, relative, the first frequencies of modal beams are too high with the
    bodies that they carry; None without such beams.
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
    met: bool | None = None
    strain: float = 0.0
    opening: float = 0.0
    slip: float = 0.0
    rank: float = 0.0
    imbalance: float = 0.0
    resolution: float = 0.0
    frequencies: float | None = None
    step: float | None = None
    contact: ContactLedger | None = None
    creeping: str = ""
    friction: str = ""
    laboured: str = ""
    versions: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, seen: Extremes, **more: Any) -> Ledger:
        """Return the ledger of rows with these extremes. more: the other fields."""
        if more.get("contact") is not None:
            more["contact"] = more["contact"].of_rows(seen)
        relative = seen.balance / (seen.largest or 1.0)
        imbalance = seen.balance / (seen.energy or 1.0)
        found = cls(
            energy_balance=seen.balance,
            relative_energy_balance=relative,
            imbalance=imbalance,
            closure=seen.closure,
            opening=seen.opening,
            slip=seen.rate / (seen.moving or 1.0),
            rank=seen.rank,
            quaternion=seen.quaternion,
            strain=seen.strain,
            resolution=seen.rounding / seen.moved if seen.moved else 0.0,
            **more,
        )
        return found.weighed()

    @classmethod
    def read(cls, given: dict[str, Any]) -> Ledger:
        """Return the ledger of a file. Raise a TypeError where a field has another type."""
        found = cls(**{**given, "contact": ContactLedger.read(given.get("contact"))})
        for name, kinds in (
            ("outcome formulation integrator verdict creeping friction laboured", str),
            ("steps rejected evaluations runs", int),
            (
                (
                    "tolerance energy_balance relative_energy_balance closure quaternion wall_time"
                    " strain opening slip rank imbalance resolution"
                ),
                (int, float),
            ),
            ("verified step frequencies", (int, float, type(None))),
            ("met", (bool, type(None))),
            ("complete", bool),
            ("versions", dict),
        ):
            for each in name.split():
                if not isinstance(getattr(found, each), kinds):
                    raise TypeError(f"{each} of its ledger is {getattr(found, each)!r}")
        return found

    def rows(self) -> list[tuple[str, str]]:
        """Return (name, value) pairs for a table."""
        relative = f"{self.relative_energy_balance:.2g}"
        shown = [
            ("outcome", self.outcome),
            ("formulation", self.formulation),
            (
                "integrator",
                (
                    f"{self.integrator},"
                    f" {f'tolerance {self.tolerance:g}' if self.step is None else f'step {self.step:.6g} s'}"  # noqa: E501
                ),
            ),
            (
                "energy balance",
                f"{self.energy_balance:.3g} J, {relative} of the largest kinetic energy",
            ),
            *([("dry friction", self.friction)] if self.friction else []),
            *(
                [("strain energy", f"{self.strain:.3g} J in flexible bodies, at most")]
                if self.strain
                else []
            ),
            *(
                [
                    (
                        "beams by modes",
                        f"first frequencies {100 * self.frequencies:.2g} % too high, at most",
                    )
                ]
                if self.frequencies is not None
                else []
            ),
            *(
                [("loop closure", f"open by at most {self.closure:.3g} (m, or cosine)")]
                if self.closure
                else []
            ),
            *(self.contact.rows() if self.contact is not None else []),
            *([("quaternion length", f"one to {self.quaternion:.2g}")] if self.quaternion else []),
            (
                "steps",
                f"{self.steps} taken, {self.rejected} rejected, {self.evaluations} evaluations",
            ),
            (
                "wall time",
                f"{self.wall_time:.3g} s for {self.runs} run{'s' if self.runs > 1 else ''}",
            ),
        ]
        if self.verdict:
            shown.append(("verdict", self.verdict))
        return shown

    def doubts(self) -> list[str]:
        """Return the reasons why the run is not to be trusted; an empty list where there are
        none.
        """
        return self._exceeded(OPEN, UNMET_ROW_RATE, ABSURD_IMBALANCE, np.inf, np.inf)

    def _exceeded(
        self, opening: float, slip: float, imbalance: float, rank: float, resolution: float
    ) -> list[str]:
        """Return a sentence for each quantity that exceeds its limit or is NaN."""
        found = [
            (
                self.opening,
                opening,
                f"loops open by {self.opening:.2g} of their length (or cosine)",
            ),
            (self.slip, slip, f"rows are not met: rates of {self.slip:.2g} of the fastest speed"),
            (
                self.imbalance,
                imbalance,
                (
                    f"the energy balance is off by {self.imbalance:.2g} of the energy that came and"
                    " went"
                ),
            ),
            (
                self.rank,
                rank,
                (
                    f"a row was kept or left out within a factor of {1 / (self.rank or 1):.2g} of"
                    " the threshold of rank, as near a singular configuration"
                ),
            ),
            (
                self.resolution,
                resolution,
                (
                    f"the motion is so small that rounding leaves its steps {self.resolution:.2g}"
                    f" of it, not the tolerance of {self.tolerance:.2g}"
                ),
            ),
        ]
        laws = self.contact.missed(opening) if self.contact is not None else []
        return [words for x, limit, words in found if not x <= limit] + laws

    def weighed(self) -> Ledger:
        """Return the ledger with a verdict on closure, constraint rows and energy, if one of them
        is doubtful or nearly so.
        """
        doubts = self.doubts()
        close = self._exceeded(
            NOTED_OPENING,
            NOTED_ROW_RATE,
            NOTED_IMBALANCE,
            NOTED_RANK_RATIO,
            max(NOTED_RESOLUTION, VERIFIED_TOLERANCES * self.tolerance),
        )
        close += [words for words in (self.creeping, self.laboured) if words]
        if doubts:
            text = f"NOT to be trusted: {'; '.join(doubts)}"
            return replace(self, outcome=f"{self.outcome}; {text}", verdict=text, met=False)
        return replace(self, verdict=f"close: {'; '.join(close)}") if close else self

    def judged(
        self, difference: float, size: float, again: int | None = None, stopped: str = ""
    ) -> Ledger:
        """Return the ledger with a verdict on the difference of the coordinates to a tighter run.

        difference: the largest, rad or m. size: how far the run has moved, rad or m, relative to
        which its own errors are judged. again: the number of steps of the tighter run; one that
        took the same steps gives no verdict. stopped: why the tighter run did not reach the end,
        in which case the accuracy is not met, whatever the rows have in common.
        """
        if stopped:
            said = f"accuracy NOT met: a tighter run did not reach the end: {stopped}"
            verdict = "; ".join(filter(None, (said, self.verdict)))
            return replace(self, verified=None, verdict=verdict, met=False)
        if difference == 0.0 and again == self.steps:
            said = "no verdict: a tighter run was asked for, and took the same steps"
            return replace(self, verdict="; ".join(filter(None, (self.verdict, said))))
        asked = VERIFIED_TOLERANCES * self.tolerance * size
        met = difference <= asked
        said = f"{difference:.2g} from a tighter run, {asked:.2g} allowed"
        if size < 1.0 and difference > NOTED_DIFFERENCE * size:
            said += (
                f"; that is {difference / size if size else np.inf:.2g} of the largest coordinate:"
                " a motion this small needs a smaller tolerance or step"
            )
        verdict = (
            f"accuracy met: {said}"
            if met
            else (
                f"accuracy NOT met: {said}; the motion may be sensitive to its start, or a force"
                " may have a pulse shorter than the steps (largest_step, switches)"
            )
        )
        verdict = (
            f"{self.verdict}; {said}"
            if self.doubts()
            else "; ".join(filter(None, (verdict, self.verdict)))
        )
        return replace(self, verified=difference, verdict=verdict, met=met and not self.doubts())

    def _repr_html_(self) -> str:
        return str(loaded("catena.results.notebook:ledger")(self))

    def __str__(self) -> str:
        return "\n".join(f"{name:>18}  {value}" for name, value in self.rows())
