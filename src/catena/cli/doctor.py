"""`catena doctor`: what is installed here, and what that means for catena."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterator
from importlib import metadata

from ._tables import console, table

# the extras that a user may want, and what each brings; those for developers are left out
EXTRAS = {
    "studio": "`catena studio` and `catena view` in the browser, meshes of robots",
    "notebook": "live widgets of mechanisms and results in Jupyter, VS Code and marimo",
    "mcp": "`catena mcp`, tools for language models",
    "rerun": "results as recordings of the Rerun viewer",
    "mujoco": "MJCF files, and meshes that MuJoCo reads",
    "xacro": "xacro files",
    "studies": "studies on disk (`catena sweep --out`), global sensitivities",
    "cluster": "studies on a cluster of workers",
    "control": "exports to python-control, zeros of systems, solvers of quadratic programmes",
    "synthesis": "enumeration of kinematic chains",
    "logs": "logs in Parquet files, ROS bags and MCAP files; results as MCAP",
    "usd": "USD files",
    "identification": "physically consistent parameters in `catena fit`",
    "concave": "concave meshes in contact",
    "learning": "Gymnasium environments and ONNX policies",
    "film": "MP4 films",
    "fmi": "FMUs of other tools as controllers",
    "report": "formulas in `catena report`",
    "torch": "machines as functions of PyTorch",
    "jax": "machines as functions of JAX",
}
FOR_DEVELOPERS = {"test", "docs", "dev", "peers"}


def doctor() -> None:
    """Show the version, the processor, the cache of compiled code, and which optional packages are
    installed.
    """
    screen = console()
    screen.print(table(["here", ""], [*_machine(), *_cache()]))
    screen.print()
    screen.print(table(["extra", "state", "what it brings"], _extras()))
    screen.print(
        '\nInstall an extra with `pip install "catena[NAME]"`.', markup=False, soft_wrap=True
    )


def _machine() -> Iterator[list[str]]:
    """Yield the rows about Python, the processor and threads."""
    from ..compiler import target

    yield ["catena", metadata.version("catena")]
    yield ["Python", f"{platform.python_version()}, {platform.system()} {platform.machine()}"]
    found = target()
    yield ["processor", f"{found.cpu}, {found.width} doubles in a vector register"]
    yield ["threads", f"{os.cpu_count()} processors; batches use as many unless threads= says less"]


def _cache() -> Iterator[list[str]]:
    """Yield the row about the cache of compiled code."""
    from ..compiler import cache_state

    found = cache_state()
    yield [
        "cache",
        "off (CATENA_CACHE): every process compiles anew"
        if found is None
        else f"{found.entries} compiled kernels, {found.size / 2**20:.1f} of"
        f" {found.limit / 2**20:.0f} MB, in {found.folder}",
    ]


def _extras() -> Iterator[list[str]]:
    """Yield a row for each extra: whether all of its packages are installed."""
    for name, brings in EXTRAS.items():
        missing = [p for p in _packages(name) if not _installed(p)]
        state = f"missing: {', '.join(missing)}" if missing else "installed"
        yield [name, state, brings]


def _packages(extra: str) -> list[str]:
    """Return the packages that an extra of catena needs."""
    needs = metadata.requires("catena") or []
    marker = re.compile(rf"extra\s*==\s*['\"]{extra}['\"]")
    names = (re.match(r"[A-Za-z0-9._-]+", need) for need in needs if marker.search(need))
    return [found.group() for found in names if found]


def _installed(package: str) -> bool:
    """Whether a distribution of this name is installed."""
    try:
        metadata.version(package)
    except metadata.PackageNotFoundError:
        # mujoco contains all of mujoco-core
        return package == "mujoco-core" and _installed("mujoco")
    return True
