"""Page: one HTML file in which the mechanism runs by itself.

    Mechanism -> System (x' = f(t, x, u, p), settle, energy, poses) -> functions -> WebAssembly ->
    page

The equations of motion in the page are those of `simulate`; so are the classical Runge-Kutta steps,
so that both go through the same states to rounding. Parameters, the initial state and the force
with which the user pulls a body (u) are inputs of the functions.
"""

from __future__ import annotations

import base64
import html
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ..compiler import PAGE, Tape, module, read
from ..errors import CatenaError
from ..formats import files
from ..machine import Machine, compile
from ..model import (
    SMOOTH,
    Mechanism,
    coordinate_units,
    parameter_units,
    rough_joints,
    speed_units,
)
from ..model.flexible import discretise
from ..results import film
from ..results.scene import wire
from ..simulation import simulate
from ..simulation.system import System
from ..simulation.trajectories import Following
from .page_scene import page_scene

HORIZON = 6.0  # s of motion that must fit into the view


@dataclass(frozen=True)
class Program:
    """The compiled functions of a mechanism, all with the inputs (t, x, u, p), and the sizes of
    these.

    x: q, v, the current pieces of prescribed motions, and the work done. pieces: for each
    prescribed motion the index of its states in x, the times (s) at which one piece ends and the
    next begins, and the states of each. driven: the indices in q and in v of the coordinates that
    follow a motion.
    """

    tapes: dict[str, Tape]
    sizes: dict[str, int]
    pieces: list[dict[str, Any]]
    driven: tuple[list[int], list[int]] = ([], [])

    @property
    def wasm(self) -> bytes:
        """The WebAssembly module, with memory for the inputs and the largest outputs."""
        largest = max(sum(r * c for r, c in tape.output_shapes) for tape in self.tapes.values())
        return module(self.tapes, pages=-(-8 * (self.sizes["inputs"] + largest) // PAGE))


def program(mechanism: Mechanism, motion: Any = None) -> Program:
    """Return the functions that a page needs: derivative, energy, poses of the bodies, and settle
    where states are projected.

    motion: the prescribed motion, as for `simulate`.
    """
    system = System(mechanism, motion=motion)
    machine = compile(mechanism)
    here = [
        *([system.p] if machine.parameter_names else []),
        *([system.t] if machine.spec.timed else []),
    ]
    energy = machine.function("energy")(system.q, system.v, *here)
    poses = [machine.function("pose", b.name)(system.q, *here) for b in mechanism.bodies]
    functions = {
        "derivative": system.derivative,
        "energy": ca.Function("energy", system.inputs, [ca.densify(energy)]),
        "poses": ca.Function("poses", system.inputs, [ca.densify(X) for X in poses]),
    }
    if system.settle is not None:
        functions["settle"] = system.settle
    sizes = {
        "x": system.size,
        "q": system.nq,
        "v": system.nv,
        "u": system.nu,
        "p": len(mechanism.parameters),
    }
    sizes["inputs"] = 1 + sizes["x"] + sizes["u"] + sizes["p"]
    d = system.driven
    return Program(
        {name: read(f) for name, f in functions.items()},
        sizes,
        [_pieces(at, f) for at, f in system.pieces],
        ([], []) if d is None else (d.qi, d.speeds),
    )


def _pieces(at: int, f: Following) -> dict[str, Any]:
    """Return the pieces of one motion in the form that the page reads."""
    breaks = f.trajectory.breaks.tolist()
    inside = [min([0.0, *breaks]) - 1.0, *breaks]  # a time in each piece
    return {"at": at, "breaks": breaks, "values": [f.values(t).tolist() for t in inside]}


def page(
    mechanism: Mechanism,
    path: str | Path,
    *,
    q: ArrayLike | None = None,
    v: ArrayLike | None = None,
    step: float = 1e-3,
    notes: Sequence[str] = (),
    folders: Sequence[Path] | None = None,
    contact: str = "events",
    motion: Any = None,
) -> Path:
    """Write one HTML file in which the mechanism runs, without a server and without a network.

    Equal steps locate no events: dry friction of joints is smoothed about zero speed, where a run
    lets it stick, and the page names these joints.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism.
    path : str or Path
        The file to write.
    q, v : array_like or None
        The start (nq,) and (nv,), on its loops; by default the neutral state.
    step : float, default 1e-3
        The size of the Runge-Kutta steps, s.
    notes : sequence of str
        Sentences that the page shows below its title.
    folders : sequence of Path or None
        Where mesh files may be.
    contact : {"events", "ignore"}, default "events"
        "ignore" leaves out the contacts, and the page says so; otherwise a mechanism with contacts
        is refused, as fixed steps do not find where bodies touch.
    motion : mapping or None
        The prescribed motion, as for `simulate`; the page follows it.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    CatenaError
        If the mechanism cannot be simulated in a page.
    CompileError
        If a load uses a function that browsers do not have.
    """
    if not 0 < step < np.inf:
        raise CatenaError(f"step = {step}; it is a time above zero, s")
    m = discretise(mechanism)
    left_out = _without_contacts(m, contact)
    machine = compile(m)
    start = simulate(
        machine,
        q=q,
        v=v,
        until=HORIZON,
        tolerance=1e-6,
        contact="ignore" if left_out else "events",
        motion=motion,
    )
    scene, slopes = page_scene(m, folders)
    made = film(start, 1.0, 30, scene=scene)
    header, triangles = wire.header(scene, made.at[0], made.box())
    header["tips"] = [tip for tip in header["tips"] if tip["name"] in made.tracks]
    data = {
        "scene": header,
        "triangles": wire.packed(triangles),
        "slopes": slopes,
        "step": step,
        "notes": [*left_out, *smoothed_friction(m), *notes],
    }
    made_program = program(m, motion)
    data |= _program(made_program) | _state(
        machine, start.data["q"].values[0], start.data["v"].values[0], made_program.driven
    )
    text = (resources.files("catena.studio") / "page.html").read_text(encoding="utf-8")
    text = wire.page(text, title=html.escape(m.name), data=wire.text(data))
    files.write(Path(path), text)
    return Path(path)


def _without_contacts(m: Mechanism, contact: str) -> list[str]:
    """Return the note about contacts that are left out; raise CatenaError where they must not
    be.
    """
    if not m.contacts:
        return []
    if contact != "ignore":
        raise CatenaError(
            f"page of mechanism {m.name!r}: it has contacts, and a page runs by equal Runge-Kutta"
            " steps, which do not find where bodies touch. Leave the contacts out with"
            " contact='ignore' (--contact ignore), or make a film of a run: catena run, then"
            " catena animate --out FILE.html"
        )
    return ["Its contacts are left out: bodies go through each other."]


def smoothed_friction(m: Mechanism) -> list[str]:
    """Return the note about joints whose dry friction a page smooths; empty without any."""
    rough = ", ".join(map(repr, rough_joints(m)))
    return (
        [
            f"Dry friction of {rough} is smoothed about zero speed (over {SMOOTH:g} rad/s or m/s):"
            " here these joints creep where friction holds them in a run, and the numbers differ."
        ]
        if rough
        else []
    )


def _program(made: Program) -> dict[str, Any]:
    """Return the data of the program for the page."""
    return {
        "sizes": made.sizes,
        "wasm": base64.b64encode(made.wasm).decode(),
        "follow": made.pieces,
    }


def _state(
    machine: Machine, q: np.ndarray, v: np.ndarray, driven: tuple[list[int], list[int]]
) -> dict[str, Any]:
    """Return names, units and values of coordinates, speeds and parameters, and which of them are
    driven.
    """
    moving = machine.mechanism.moving
    units = (
        [u for j in moving for u in coordinate_units(j)],
        [u for j in moving for u in speed_units(j)],
    )
    own = parameter_units(machine.mechanism)
    rows = {
        "coordinates": zip(machine.coordinate_names, units[0], q),
        "speeds": zip(machine.speed_names, units[1], v),
        "parameters": (
            (name, own.get(name, "").replace("*", " "), x)
            for name, x in machine.mechanism.parameters.items()
        ),
    }
    found: dict[str, list[dict[str, Any]]] = {
        key: [{"name": n, "unit": u, "value": float(x)} for n, u, x in values]
        for key, values in rows.items()
    }
    for key, places in zip(("coordinates", "speeds"), driven):
        for k in places:
            found[key][k]["driven"] = True
    return found | {"mass": float(sum(_mass(machine.mechanism)))}


def _mass(m: Mechanism) -> list[float]:
    """Return the masses of the bodies, kg."""
    from ..model import value_of

    return [float(value_of(b.mass, m.parameters) or 0.0) for b in m.bodies]
