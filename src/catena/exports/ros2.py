"""ROS 2: a package with the dynamics of a robot as C, a C++ header, and a plugin.

    package.xml  CMakeLists.txt  plugins.xml  README.md
    include/NAME/NAME.hpp        the kernels behind std::array, without ROS
    src/kernels/*.c, *.h         one C function each, no allocation, no branches
    src/solver.cpp               a plugin of inverse_dynamics_solver::InverseDynamicsSolver

The plugin answers the interface of the package inverse_dynamics_solver, which controllers of
ros2_control load by pluginlib.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..errors import CompileError
from ..formats import files
from ..machine import CKernel, Machine, c_kernel, identifier, machine_of
from ..model import Mechanism
from .plant import VERSION

# quantity -> (arguments, results per speed: "vector" or "matrix")
QUANTITIES = {
    "inverse_dynamics": (("q", "v", "a"), "vector"),
    "forward_dynamics": (("q", "v", "tau"), "vector"),
    "mass_matrix": (("q",), "matrix"),
    "bias": (("q", "v"), "vector"),
    "gravity": (("q",), "vector"),
    "losses": (("v",), "vector"),
}
TEMPLATES = Path(__file__).parent / "templates" / "ros2"


def package(mechanism: Mechanism | Machine, name: str | None = None) -> dict[str, str]:
    """Return the files of a ROS 2 package, {path: text}.

    Parameters
    ----------
    mechanism : Mechanism or Machine
        An open mechanism without ball and free joints; its parameters are written into the code.
    name : str, optional
        Of the package; by default that of the mechanism with "_dynamics".

    Returns
    -------
    dict of str to str
        The texts of all files.

    Raises
    ------
    CompileError
        If the mechanism has loops, constraints, quaternions, or loads that depend on time.
    """
    machine = machine_of(mechanism)
    m = machine.mechanism
    if machine.rows or machine.nq != machine.nv:
        what = "closed loops or constraints" if machine.rows else "ball or free joints"
        raise CompileError(
            f"mechanism {m.name!r} has {what}; a solver of joint torques takes open mechanisms with"
            " one coordinate per joint. c_kernel writes its kernels one by one"
        )
    if machine.spec.timed:
        raise CompileError(f"mechanism {m.name!r} has loads that depend on time; leave them out")
    own = name or identifier(f"{m.name}_dynamics")
    kernels = {
        quantity: c_kernel(machine, quantity, name=f"{own}_{quantity}", fixed=True)
        for quantity in QUANTITIES
    }
    words = {
        "NAME": own,
        "GUARD": own.upper(),
        "CLASS": "".join(part.capitalize() for part in own.split("_")),
        "N": str(machine.nv),
        "VERSION": VERSION,
        "ROBOT": m.name.replace("&", "and").replace("<", "").replace(">", "").replace('"', "'"),
        "JOINTS": ", ".join(f'"{n}"' for n in m.speed_names),
        "INCLUDES": "\n".join(f'#include "{own}/kernels/{k.name}.h"' for k in kernels.values()),
        "SOURCES": "\n  ".join(f"src/kernels/{k.name}.c" for k in kernels.values()),
        "METHODS": "\n".join(_method(q, k) for q, k in kernels.items()),
        "OPERATIONS": "\n".join(
            f"| {q} | {sum(k.operations.values())} | {_most(k)} |" for q, k in kernels.items()
        ),
    }
    found = {
        _filled(path.relative_to(TEMPLATES).as_posix().replace("NAME", own), {}): _filled(
            path.read_text(), words
        )
        for path in sorted(TEMPLATES.rglob("*"))
        if path.is_file()
    }
    for k in kernels.values():
        found[f"src/kernels/{k.name}.c"] = k.source
        found[f"include/{own}/kernels/{k.name}.h"] = k.header
    return found


def write_package(mechanism: Mechanism | Machine, folder: str | Path) -> list[Path]:
    """Write the package into a folder of its own inside `folder`, and return the paths."""
    texts = package(mechanism)
    own = next(p for p in texts if p.startswith("include/")).split("/")[1]
    found = []
    for name, text in texts.items():
        path = Path(folder) / own / name
        path.parent.mkdir(parents=True, exist_ok=True)
        files.write(path, text)
        found.append(path)
    return found


def _filled(text: str, words: dict[str, str]) -> str:
    """Return a template with @WORD@ replaced."""
    for word, value in words.items():
        text = text.replace(f"@{word}@", value)
    return text


def _method(quantity: str, kernel: CKernel) -> str:
    """Return a member function of the C++ class."""
    arguments, shape = QUANTITIES[quantity]
    given = ", ".join(f"const Vector& {x}" for x in arguments)
    passed = ", ".join(f"{x}.data()" for x in arguments)
    result = "Matrix" if shape == "matrix" else "Vector"
    return (
        f"  /** {kernel.title}. */\n"
        f"  static {result} {quantity}({given}) noexcept {{\n"
        f"    {result} out;\n    {kernel.name}({passed}, out.data());\n    return out;\n  }}"
    )


def _most(kernel: CKernel) -> str:
    """Return the counts of the most frequent operations, in words."""
    first: Sequence[tuple[str, int]] = list(kernel.operations.items())[:4]
    return ", ".join(f"{count} {op}" for op, count in first)
