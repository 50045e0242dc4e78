"""The page of a drive fit: prediction against measurement, residual spectra, parameters, and the
parameters that the data do not determine.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from ..errors import CatenaError, StudyError
from ..exports import VERSION
from ..formats import files, save
from ..identification import DriveFit, LogError
from ..identification import feasible as feasible_model
from .blocks import Block, Cells, Paragraph, Picture
from .numbers import number
from .page import page
from .pictures import svg

MAX_POINTS = 1500  # of a curve
INK, MODEL = "#1a1a1a", "#c8102e"


def drive_report(found: DriveFit, folder: str | Path, force: bool = False) -> list[Path]:
    """Write index.html, model.json and the mechanism fitted.toml into a folder; return the files.

    Raises CatenaError where the folder has such files and `force` is not given.
    """
    place = Path(folder)
    targets = [place / n for n in ("index.html", "model.json", "fitted.toml")]
    if there := [p for p in targets if p.exists() and not force]:
        raise CatenaError(f"{there[0]} exists already; give another folder, or --force")
    place.mkdir(parents=True, exist_ok=True)
    written = [place / "index.html", place / "model.json"]
    sentences = []
    try:
        consistent = feasible_model(found.model, found.covariance)
        save(consistent.mechanism, targets[2])
        written.append(targets[2])
        bodies = consistent.inertias
        sentences.append(
            "Inertias that bodies of positive density can have are in `fitted.toml`. The nearest"
            f" ones raise the weighted sum of squares by {bodies.cost - bodies.free_cost:.4g}; the"
            " friction there is the part that the file format knows: damping, Coulomb friction,"
            " armature."
        )
    except StudyError as why:
        sentences.append(f"No mechanism with consistent inertias was written: {why}")
    files.write(written[1], json.dumps(_model(found), indent=1) + "\n")
    chapters: list[tuple[str, str, list[Block]]] = [
        ("errors", "Errors", list(_errors(found))),
        ("prediction", "Prediction and measurement", list(_curves(found))),
        ("spectra", "Spectra of the residuals", list(_spectra(found))),
        ("parameters", "Parameters", [*(Paragraph(s) for s in sentences), *_parameters(found)]),
        ("open", "What the data do not determine", [Paragraph(s) for s in found.sentences()]),
        ("logs", "What was done to the logs", list(_notes(found))),
    ]
    title = f"Drives of {found.model.machine.mechanism.name}"
    about = f"A fit to {sum(not e.held_out for e in found.errors)} logs; efforts in {_unit(found)}."
    files.write(written[0], page(title, about, chapters, f"Written by catena {VERSION}."))
    return written


def _unit(found: DriveFit) -> str:
    """Return the unit of the efforts for labels."""
    return "the log's own unit" if found.model.unit == "unknown" else found.model.unit


def _errors(found: DriveFit) -> Iterator[Block]:
    """Yield the table of errors, and how the laws were chosen."""
    yield Paragraph(
        "The root mean square of measured minus predicted efforts, relative to that of the measured"
        " ones, at the rows of each log."
    )
    rows = [
        [
            Path(e.source).name,
            "held out" if e.held_out else "fitted",
            *(f"{x:.3f}" for x in e.error),
        ]
        for e in found.errors
    ]
    rows += [
        ["cross-validation", "chosen laws", *(f"{x:.3f}" for x in found.cross_validated)],
        [
            "cross-validation",
            "viscous and Coulomb",
            *(f"{x:.3f}" for x in found.basic_cross_validated),
        ],
    ]
    yield Cells("", ["log", "use", *found.joints], rows)
    laws = [
        [joint, ", ".join(dict.fromkeys(t.law for t in of))]
        for joint, of in zip(found.joints, found.model.terms)
    ]
    yield Cells("friction laws, chosen by cross-validation between logs", ["joint", "laws"], laws)
    for finding in found.findings:
        yield Paragraph(finding, doubt=True)


def _curves(found: DriveFit) -> Iterator[Block]:
    """Yield one picture per log: measured and predicted effort of each joint."""
    for e in found.errors:
        figure = Figure(figsize=(9, 1.5 * len(found.joints)), layout="constrained")
        axes = np.atleast_1d(figure.subplots(len(found.joints), 1, sharex=True))
        every = max(1, len(e.motion.times) // MAX_POINTS)
        t = e.motion.times[::every]
        for k, (joint, ax) in enumerate(zip(found.joints, axes)):
            ax.plot(t, e.motion.measured[::every, k], color=INK, lw=0.6, label="measured")
            ax.plot(t, e.predicted[::every, k], color=MODEL, lw=0.8, label="predicted")
            ax.set_title(f"{joint}: error {e.error[k]:.3f}", fontsize=8, loc="left")
            ax.tick_params(labelsize=7)
        axes[0].legend(fontsize=7, ncols=2, loc="upper right", frameon=False)
        axes[-1].set_xlabel("time, s", fontsize=8)
        use = "held out" if e.held_out else "fitted"
        yield Picture(svg(figure), f"{Path(e.source).name} ({use}): efforts in {_unit(found)}")


def _spectra(found: DriveFit) -> Iterator[Block]:
    """Yield a picture of the spectrum of each joint's residual, fitted and held out."""
    from scipy.signal import welch

    moving = [e for e in found.errors if not e.at_rest]
    if not moving:
        return
    figure = Figure(figsize=(9, 2.2 * -(-len(found.joints) // 2)), layout="constrained")
    axes = np.atleast_1d(figure.subplots(-(-len(found.joints) // 2), 2, sharex=True)).reshape(-1)
    for k, (joint, ax) in enumerate(zip(found.joints, axes)):
        for e in moving:
            f, power = _spectrum(welch, e, k)
            ax.loglog(
                f[1:],
                power[1:],
                lw=0.8,
                ls="-" if not e.held_out else "--",
                label=Path(e.source).name,
            )
        ax.set_title(joint, fontsize=8, loc="left")
        ax.tick_params(labelsize=7)
    axes[0].legend(fontsize=6, frameon=False)
    yield Picture(
        svg(figure),
        f"Power of the residuals, ({_unit(found)})^2 / Hz, over frequency in Hz; dashed: held out."
        " A flat spectrum is noise; a peak is something that the model lacks.",
    )


def _spectrum(welch: object, e: LogError, joint: int) -> tuple[np.ndarray, np.ndarray]:
    """Return frequency and power of the residual of a joint at even times."""
    left = e.motion.measured[:, joint] - e.predicted[:, joint]
    even = np.interp(e.motion.t, e.motion.times, left)
    return welch(even, fs=1 / e.motion.step, nperseg=min(512, len(even)))  # type: ignore[operator]


def _parameters(found: DriveFit) -> Iterator[Block]:
    """Yield the table of estimates with their intervals."""
    rows = [
        [
            e.name,
            number(e.value),
            number(e.sigma),
            f"{number(e.value - 1.96 * e.sigma)} to {number(e.value + 1.96 * e.sigma)}",
            "" if e.unit == "unknown" else e.unit,
            number(e.before) if " of " in e.name and e.before else "",
            "" if e.determined else "not determined",
        ]
        for e in found.estimates
    ]
    head = ["parameter", "value", "sigma", "95 %", "unit", "file", ""]
    yield Cells("estimates", head, rows)
    orders = ", ".join(f"{j} {k}" for j, k in zip(found.joints, found.orders))
    yield Paragraph(
        f"The intervals count the colour of the residuals (orders of autoregression: {orders})."
    )


def _notes(found: DriveFit) -> Iterator[Block]:
    """Yield the notes of each log."""
    for e in found.errors:
        yield Cells(Path(e.source).name, [""], [[n] for n in e.motion.notes])


def _model(found: DriveFit) -> dict[str, object]:
    """Return the model as data: enough to predict efforts elsewhere."""
    return {
        "mechanism": found.model.machine.mechanism.name,
        "effort_unit": found.model.unit,
        "base_parameters": [
            {"name": n, "value": float(x)}
            for n, x in zip(found.model.base.combinations, found.model.theta)
        ],
        "gains": dict(zip(found.joints, map(float, found.model.gains))),
        "friction": found.model.rows(),
        "errors": [
            {
                "log": Path(e.source).name,
                "held_out": e.held_out,
                "error": [float(x) for x in e.error],
            }
            for e in found.errors
        ],
    }
