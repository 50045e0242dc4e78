"""Does reading a model file cost the same per body, from 250 to 8000 bodies? Asked: within 1.5, for
TOML and URDF.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from long_chains import chain
from peers import size

import catena


def seconds(path: Path) -> float:
    began = time.perf_counter()
    catena.load(path)
    return time.perf_counter() - began


def main(sizes: tuple[int, ...] = size((250, 1000, 8000), (5, 20))) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for suffix in (".toml", ".urdf"):
            costs = []
            for n in sizes:
                path = Path(folder) / f"chain{n}{suffix}"
                catena.save(chain(n), path)
                costs.append(min(seconds(path) for _ in range(3)) / n)
            listed = ", ".join(
                f"{n} bodies {1e6 * cost:.0f} us per body" for n, cost in zip(sizes, costs)
            )
            print(f"{suffix[1:]}: {listed}; largest over smallest: {max(costs) / min(costs):.2f}")


if __name__ == "__main__":
    main()
