"""Ledger: how far a result can be trusted, and what it cost."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

MET = 10.0  # times the tolerance: a run no farther from a tighter one has the accuracy asked for


@dataclass(frozen=True)
class Ledger:
    """The accuracy of a run, and what it cost.

    energy_balance: the largest |change of energy - work done|, J, and beside the largest kinetic energy. closure: the
    largest residual of a loop's row (m, or cosine). quaternion: the largest | |q| - 1 |. verified: the largest difference to
    a run at a tighter tolerance, if there was one; met: whether the accuracy asked for was met by that; verdict: in a sentence.
    strain: the most that flexible bodies stored, J.
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
            *([("loop closure", f"open by at most {self.closure:.3g} (m, or cosine)")] if self.closure else []),
            *([("quaternion length", f"one to {self.quaternion:.2g}")] if self.quaternion else []),
            ("steps", f"{self.steps} taken, {self.rejected} rejected, {self.evaluations} evaluations"),
            ("wall time", f"{self.wall_time:.3g} s for {self.runs} run{'s' if self.runs > 1 else ''}"),
        ]
        if self.verdict:
            shown.append(("verdict", self.verdict))
        return shown

    def judged(self, difference: float, size: float) -> Ledger:
        """The ledger with the difference of coordinates to a tighter run, judged beside the largest coordinate, at least one."""
        met = difference <= MET * self.tolerance * max(1.0, size)
        said = f"{difference:.2g} from a tighter run"
        verdict = f"accuracy met: {said}" if met else f"accuracy NOT met: {said}; the motion may be sensitive to its start"
        return replace(self, verified=difference, verdict=verdict, met=met)

    def __str__(self) -> str:
        return "\n".join(f"{name:>18}  {value}" for name, value in self.rows())
