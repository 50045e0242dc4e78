"""A process of its own that decomposes one mesh: `python coacd_process.py MESH PARTS THRESHOLD
CORNERS`, with NumPy files.

In a process that has loaded coacd, CasADi prints numbers as empty texts, because both bring a C++
library; so coacd is loaded here only.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np


def main(mesh: str, parts: str, threshold: str, corners: str) -> None:
    """Read vertices and faces, and write those of each convex part."""
    import coacd

    coacd.set_log_level("error")
    with np.load(mesh) as data:
        found = coacd.run_coacd(
            coacd.Mesh(data["vertices"], data["faces"]),
            threshold=float(threshold),
            decimate=True,
            max_ch_vertex=int(corners),
            seed=0,
        )
    arrays: dict[str, Any] = {}
    for n, (vertices, faces) in enumerate(found):
        arrays[f"vertices {n}"] = np.asarray(vertices, float)
        arrays[f"faces {n}"] = np.asarray(faces, np.int64)
    np.savez(parts, **arrays)


if __name__ == "__main__":
    main(*sys.argv[1:])
