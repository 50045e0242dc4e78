"""`catena fit ROBOT LOG...`: the drives of a robot from its logs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import CatenaError
from ._tables import console, table

if TYPE_CHECKING:
    from ..identification import DriveFit
    from ..model import Mechanism


def fit_logs(
    mechanism: Mechanism,
    logs: Sequence[str],
    asked: tuple[Sequence[str], str | None, float | None, str | None, Sequence[str]],
    *,
    forbidden: Sequence[str | None],
    csv: bool,
    force: bool,
) -> None:
    """Fit the drives to logs, print the errors, and write a report if requested.

    asked: held-out logs, the mapping of columns, the cutoff, the folder of the report, the drives
    that turn with other joints.
    """
    from ..identification import fit_drives

    if any(forbidden):
        raise CatenaError(
            "logs are given as arguments, and --data or --unknown too; these belong to fits of"
            " single unknowns: give one or the other"
        )
    held, columns, cutoff, folder, couplings = asked
    found = fit_drives(
        mechanism,
        list(logs),
        validate=held,
        columns=columns,
        cutoff=cutoff,
        coupling=_coupling(couplings),
    )
    if csv:
        print(found.to_pandas().to_csv(), end="")
    else:
        _print(console(), mechanism.name, found)
    if folder is not None:
        from ..report import drive_report

        for path in drive_report(found, folder, force):
            console().print(str(path), markup=False, soft_wrap=True)


def _coupling(given: Sequence[str]) -> dict[str, dict[str, float]]:
    """Return the couplings of texts DRIVE:JOINT=FACTOR; raise CatenaError for others."""
    found: dict[str, dict[str, float]] = {}
    for text in given:
        drive, _, rest = text.partition(":")
        joint, _, factor = rest.partition("=")
        try:
            found.setdefault(drive, {})[joint] = float(factor)
        except ValueError:
            raise CatenaError(
                f"--coupling {text!r} is not DRIVE:JOINT=FACTOR, such as wrist_3:wrist_2=1"
            ) from None
    return found


def _print(screen: Any, name: str, found: DriveFit) -> None:
    """Print the errors on each log, the laws that were chosen, and what is not determined."""
    screen.print(
        f"{name}: rms of the error relative to the rms of the effort", style="bold", markup=False
    )
    rows = [
        [
            Path(e.source).name,
            "held out" if e.held_out else "fitted",
            *(f"{x:.3f}" for x in e.error),
        ]
        for e in found.errors
    ]
    rows.append(["cross-validation", "", *(f"{x:.3f}" for x in found.cross_validated)])
    basic = [f"{x:.3f}" for x in found.basic_cross_validated]
    rows.append(["viscous and Coulomb alone", "", *basic])
    screen.print(table(["log", "", *found.joints], rows))
    for joint, of in zip(found.joints, found.model.terms):
        laws = ", ".join(dict.fromkeys(t.law for t in of))
        screen.print(f"  {joint}: {laws}", markup=False)
    for finding in found.findings:
        screen.print(f"  {finding}", markup=False)
    for sentence in found.sentences():
        screen.print(sentence, markup=False)
