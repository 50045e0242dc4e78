"""Are the signed distances of all pairs in closed form those of a second library, on 100 000 random
pairs each?

Sizes are random too, over a factor of ten. `apart`: the largest difference of distances, and of
normals (degrees), where the shapes are apart; Coal's own tolerance is 1e-6. `overlap`: how much
deeper (+) and shallower (-) Coal's overlap is than ours. Deeper is not the shortest translation;
shallower than rounding would be a fault of ours, unless Coal's own normal does not part them by as
much as it says (`false`).
"""

from __future__ import annotations

import coal
import numpy as np
from peers import size  # which puts the tests on the path
from scipy.spatial.transform import Rotation

from solids import COAL, PAIRS, SIZES, asked, support

# pairs of each kind; sets of sizes
N = size(100_000, 200)
ROUNDS = size(100, 2)


def theirs(kinds: tuple[str, str], sizes: list, R: list, p: list) -> tuple[np.ndarray, np.ndarray]:
    request = coal.DistanceRequest(True, True)
    result = coal.DistanceResult()
    a, b = (COAL[k](*s) for k, s in zip(kinds, sizes))
    d = np.empty(len(p[0]))
    n = np.empty((len(p[0]), 3))
    for i in range(len(d)):
        result.clear()
        d[i] = coal.distance(
            a,
            coal.Transform3s(R[0][i], p[0][i]),
            b,
            coal.Transform3s(R[1][i], p[1][i]),
            request,
            result,
        )
        n[i] = result.normal
    return d, n


def main() -> None:
    print(
        f"{'pair':20} {'apart':>8} {'degrees':>8} {'overlaps':>8} {'deeper':>8} {'shallower':>9}"
        f" {'false':>6}"
    )
    for kinds in PAIRS:
        rng = np.random.default_rng(0)
        rows = []
        for _ in range(ROUNDS):
            sizes = [tuple(x * 10 ** rng.uniform(-0.5, 0.5) for x in SIZES[k]) for k in kinds]
            R = [Rotation.random(N // ROUNDS, random_state=rng).as_matrix() for _ in range(2)]
            p = [0.45 * rng.standard_normal((N // ROUNDS, 3)) for _ in range(2)]
            d, _, _, n = asked(kinds, sizes, R, p)
            D, M = theirs(kinds, sizes, R, p)
            own = [np.einsum("bji,bj->bi", R[k], (1 - 2 * k) * M) for k in range(2)]
            true = np.einsum("bi,bi->b", M, p[1] - p[0]) - sum(
                0.0 if k == "plane" else support(k, s, x) for k, s, x in zip(kinds, sizes, own)
            )
            rows.append(
                np.stack(
                    [
                        d,
                        D,
                        np.degrees(np.arccos(np.clip(np.einsum("bi,bi->b", n, M), -1, 1))),
                        true,
                    ],
                    axis=1,
                )
            )
        d, D, angle, true = np.concatenate(rows).T
        apart = d > 0
        honest = np.abs(true - D) < 1e-5
        less = (D - d)[~apart & honest].max(initial=0.0)
        print(
            f"{'-'.join(kinds):20} {np.abs(d - D)[apart].max():8.0e} {angle[apart].max():8.0e}"
            f" {(~apart).sum():8} {(d - D)[~apart].max():8.0e} {less:9.0e}"
            f" {(~apart & ~honest).sum():6}"
        )


if __name__ == "__main__":
    main()
