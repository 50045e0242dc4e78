"""Ledger: how far a result can be trusted, and what it cost."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

MET = 10.0  # times the tolerance: a run no farther from a tighter one has the accuracy asked for
OPEN, OPENING = 1e-3, 1e-6  # of its length, a loop is open; and not far from it: worth a word
SLIP, SLIPPING = 1e-3, 1e-6  # of the fastest speed: a row that is not met, and not far from it
ABSURD, POOR = 0.1, 1e-3  # of the energy that came and went: lost or found; and worth a word


def energy_scale(kinetic: float, change: float, work: float, potential: float) -> float:
    """The energy beside which a balance is judged, J, of the largest values in a run: what came and went, or rounding."""
    return max(kinetic, change, work, 1e-6 * potential)


@dataclass(frozen=True)
class Ledger:
    """The accuracy of a run, and what it cost.

    energy_balance: the largest |change of energy - work done|, J, and beside the largest kinetic energy. closure: the
    largest residual of a loop's row (m, or cosine). quaternion: the largest | |q| - 1 |. verified: the largest difference to
    a run at a tighter tolerance, if there was one; met: whether the accuracy asked for was met by that; verdict: in a sentence.
    strain: the most that flexible bodies stored, J. opening: the largest residual of a loop's row beside the loop's length, or
    one for an angle. slip: the largest rate of a row beside its size and the fastest speed (`kernels.rank` has the sizes).
    imbalance: the energy balance beside the energy that came and went.

    A run whose loops open, whose rows are not met or whose energy balance is absurd is not to be trusted: `doubts` says
    why, and then `met` is False, whatever a tighter run says, which may be wrong in the same way.

    frequencies: by how much the first frequencies of beams by modes are too high with what they carry, relative; None
    without such beams.
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
    imbalance: float = 0.0
    frequencies: float | None = None
    versions: dict[str, str] = field(default_factory=dict)

    def rows(self) -> list[tuple[str, str]]:
        """Name and value, as a table shows them."""
        relative = f"{self.relative_energy_balance:.2g}"
        shown = [
            ("outcome", self.outcome),
            ("formulation", self.formulation),
            ("integrator", f"{self.integrator}, tolerance {self.tolerance:g}"),
            ("energy balance", f"{self.energy_balance:.3g} J, {relative} of the largest kinetic energy"),
            *([("strain energy", f"{self.strain:.3g} J in flexible bodies, at most")] if self.strain else []),
            *([("beams by modes", f"first frequencies {100 * self.frequencies:.2g} % too high, at most")] if self.frequencies is not None else []),
            *([("loop closure", f"open by at most {self.closure:.3g} (m, or cosine)")] if self.closure else []),
            *([("quaternion length", f"one to {self.quaternion:.2g}")] if self.quaternion else []),
            ("steps", f"{self.steps} taken, {self.rejected} rejected, {self.evaluations} evaluations"),
            ("wall time", f"{self.wall_time:.3g} s for {self.runs} run{'s' if self.runs > 1 else ''}"),
        ]
        if self.verdict:
            shown.append(("verdict", self.verdict))
        return shown

    def doubts(self) -> list[str]:
        """Why the run is not to be trusted; nothing where there is no reason."""
        return self._said(OPEN, SLIP, ABSURD)

    def _said(self, opening: float, slip: float, imbalance: float) -> list[str]:
        """What exceeds these limits, in words; a number that is none does."""
        found = [
            (self.opening, opening, f"loops open by {self.opening:.2g} of their length (or cosine)"),
            (self.slip, slip, f"rows are not met: rates of {self.slip:.2g} of the fastest speed"),
            (self.imbalance, imbalance, f"the energy balance is off by {self.imbalance:.2g} of the energy that came and went"),
        ]
        return [words for x, limit, words in found if not x <= limit]

    def weighed(self) -> Ledger:
        """The ledger with a verdict on closure, rows and energy, where there is one to speak: both kinds of runs end here."""
        doubts, close = self.doubts(), self._said(OPENING, SLIPPING, POOR)
        if doubts:
            text = f"NOT to be trusted: {'; '.join(doubts)}"
            return replace(self, outcome=f"{self.outcome}; {text}", verdict=text, met=False)
        return replace(self, verdict=f"close: {'; '.join(close)}") if close else self

    def judged(self, difference: float, size: float) -> Ledger:
        """The ledger with the difference of coordinates to a tighter run, judged beside the largest coordinate, at least one."""
        met = difference <= MET * self.tolerance * max(1.0, size)
        said = f"{difference:.2g} from a tighter run"
        verdict = f"accuracy met: {said}" if met else f"accuracy NOT met: {said}; the motion may be sensitive to its start"
        verdict = f"{self.verdict}; {said}" if self.doubts() else "; ".join(filter(None, (verdict, self.verdict)))
        return replace(self, verified=difference, verdict=verdict, met=met and not self.doubts())

    def __str__(self) -> str:
        return "\n".join(f"{name:>18}  {value}" for name, value in self.rows())
