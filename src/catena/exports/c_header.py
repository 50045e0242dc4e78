"""C: a plant (a mechanism as a first-order system) in one header, with its integrators.

    arm_derivative(t, x, u, p, dx)      the rate of the state
    arm_outputs(t, x, u, p, y)          the outputs
    arm_project(t, x, u, p, x)          the state projected onto its constraints
    arm_tangent(...)                    directional derivatives of rate and outputs
    arm_step(t, x, u, p, h)             one step of RK4 of fixed length, for an embedded loop
    arm_advance(&t, x, u, p, until, tolerance, &h)
                                        Dormand and Prince's pair 5(4), with step sizes chosen by
                                        the tolerance

C99, nothing but math.h; no memory is allocated and no state is kept, so every function may be
called from any thread.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path

import casadi as ca

from ..compiler import read
from ..equations.readable import program
from ..formats import files as texts
from .plant import VERSION, Plant

GIVEN = ("t", "x", "u", "p")


def template(name: str, plant: Plant) -> str:
    """Return the text of a template with the names of the plant filled in."""
    text = files("catena.exports").joinpath("templates", name).read_text(encoding="utf-8")
    return (
        text.replace("PLANT_HEADER", f"{plant.name}.h")
        .replace("PLANT_TITLE", plant.title)
        .replace("PLANT_", f"{plant.name}_")
    )


def header(plant: Plant) -> str:
    """Return the text of NAME.h."""
    n = plant.name
    guard = f"{plant.name.upper()}_PLANT_H"
    return "\n".join(
        [
            _about(plant),
            f"#ifndef {guard}\n#define {guard}\n\n#include <math.h>\n",
            _sizes(plant),
            _array(f"{n}_start", [v.start for v in plant.states]),
            _array(f"{n}_parameters", [v.start for v in plant.parameters]),
            _array(f"{n}_switches", plant.switches),
            _function(f"{n}_derivative", plant.derivative, GIVEN, ("dx",), "x' = f(t, x, u, p)"),
            _function(f"{n}_outputs", plant.output, GIVEN, ("y",), "y = g(t, x, u, p)"),
            _projection(plant),
            _function(
                f"{n}_tangent",
                plant.tangent,
                (*GIVEN, "dt", "dx", "du", "dp"),
                ("ddx", "dy"),
                "how x' and y change with t, x, u, p",
            ),
            *_sticking(plant),
            template("integrator.h", plant),
            "#endif\n",
        ]
    )


def write(plant: Plant, folder: str | Path) -> Path:
    """Write NAME.h into a folder, which is created if needed, and return its path."""
    where = Path(folder)
    where.mkdir(parents=True, exist_ok=True)
    texts.write(where / f"{plant.name}.h", header(plant))
    return where / f"{plant.name}.h"


# --- pieces
def _about(plant: Plant) -> str:
    """Return the comment at the top of the header: the meaning of x, u, p and y."""
    lines = [
        f"{plant.title} as a first-order system, written by catena {VERSION}. SI units.",
        "",
        (
            "x' = f(t, x, u, p), y = g(t, x, u, p). All functions are reentrant; results may be"
            " written over arguments."
        ),
    ]
    for letter, what, some in (
        ("x", "states", plant.states),
        ("u", "inputs", plant.inputs),
        ("p", "parameters", plant.parameters),
        ("y", "outputs", plant.outputs),
    ):
        lines += [
            "",
            f"{letter}[{len(some)}]  {what}:",
            *(
                f"  {k:>3}  {_plain(v.name)}{', ' * bool(v.unit)}{v.unit}"
                for k, v in enumerate(some)
            ),
        ]
    return "/*\n" + "\n".join(f" * {line}".rstrip() for line in lines) + "\n */"


def _plain(text: str) -> str:
    """Return a text that is safe inside a C comment."""
    return (
        "".join(c if c.isprintable() else "?" for c in text)
        .replace("*/", "* /")
        .replace("/*", "/ *")
        .replace("??", "? ?")
        .replace("\\", "/")
    )


def _sizes(plant: Plant) -> str:
    """Return the enumeration of the sizes of x, u, y, p and the switches."""
    n = plant.name
    counts = {"NX": plant.states, "NU": plant.inputs, "NY": plant.outputs, "NP": plant.parameters}
    sizes = ", ".join(f"{n}_{letter} = {len(some)}" for letter, some in counts.items())
    k = len(plant.sticking.speeds) if plant.sticking else 0
    return (
        f"enum {{ {sizes}, {n}_PROJECTS = {int(plant.project is not None)}, {n}_NS ="
        f" {len(plant.switches)}, {n}_NK = {k}, {n}_NM = {4 * k}, {n}_NG = {3 * k} }};\n"
    )


def _sticking(plant: Plant) -> list[str]:
    """Return the C functions of dry friction that sticks, where the plant has some."""
    f, n = plant.sticking, plant.name
    if f is None:
        return []
    return [
        f"\n#define {n}_STICKS 1",
        f"static const int {n}_speeds[] = {{{', '.join(map(str, f.speeds))}}};",
        _function(
            f"{n}_guards", f.guards, GIVEN, ("z",), "a mode ends where one of z falls below zero"
        ),
        _function(
            f"{n}_response",
            f.response,
            GIVEN,
            ("r",),
            "W and a of the joints with friction, inertia, limit, f' M^-1 f, v' M v",
        ),
    ]


def _array(name: str, values: Sequence[float]) -> str:
    """Return a constant C array; an empty one holds a single zero."""
    return (
        f"static const double {name}[] = {{{', '.join(repr(float(x)) for x in values) or '0.0'}}};"
    )


def _function(
    name: str, f: ca.Function, inputs: Iterable[str], outputs: Sequence[str], about: str
) -> str:
    """Return a C function that evaluates a CasADi function."""
    sizes = [f.size1_in(k) for k in range(f.n_in())]
    arguments = [
        program.Argument(x, (x,) if x in ("t", "dt") else tuple(f"{x}{k}_" for k in range(n)))
        for x, n in zip(inputs, sizes)
    ]
    results = [f"{y}[{k}]" for i, y in enumerate(outputs) for k in range(f.size1_out(i))]
    body = program.c_body(read(f), arguments, results, "w")
    unused = "".join(f"\n    (void){y};" for i, y in enumerate(outputs) if not f.size1_out(i))
    return (
        f"\n/* {about} */\nstatic inline"
        f" {program.c_head(name, arguments, outputs)}\n{{\n{body}{unused}\n}}"
    )


def _projection(plant: Plant) -> str:
    """Return the C function that projects a state onto its constraints, or copies it without
    any.
    """
    about = (
        "the state nearest to x that meets the constraints (one Newton step in the metric of the"
        " mass matrix, unit quaternions)"
    )
    if plant.project is not None:
        return _function(f"{plant.name}_project", plant.project, GIVEN, ("settled",), about)
    return (
        f"\n/* {about}: nothing binds it */\nstatic inline void {plant.name}_project(double t,"
        " const double *x, const double *u, const double *p, double *settled)\n{\n    int i;\n   "
        f" (void)t; (void)u; (void)p;\n    for (i = 0; i < {plant.name}_NX; i++) settled[i] ="
        " x[i];\n}"
    )
