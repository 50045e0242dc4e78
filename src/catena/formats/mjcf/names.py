"""Names of MuJoCo's objects: those of the file, or generated ones where it gives none or gives one
twice.
"""

from __future__ import annotations

from typing import Any

from ...model import GROUND


class Names:
    """The names of bodies, joints and sites of a compiled model, unique among bodies and sites, and
    among joints.
    """

    def __init__(self, m: Any):
        taken = {GROUND}
        self._bodies = [
            GROUND,
            *(_free(m.body(b).name or f"body{b}", taken) for b in range(1, m.nbody)),
        ]
        self._sites = [_free(m.site(s).name or f"site{s}", taken, " site") for s in range(m.nsite)]
        self._taken, held = taken, set[str]()
        self._joints = [_free(m.joint(j).name or self._unnamed(m, j), held) for j in range(m.njnt)]
        self._held, self._centres = held, dict[int, str]()

    def _unnamed(self, m: Any, j: int) -> str:
        body = m.jnt_bodyid[j]
        several = m.body_jntnum[body] > 1
        return f"{self._bodies[body]}{f' {j - m.body_jntadr[body] + 1}' if several else ''} joint"

    def body(self, b: int) -> str:
        """Return the name of the body; MuJoCo's world is the ground."""
        return self._bodies[b]

    def site(self, s: int) -> str:
        """Return the name of the site, as a frame."""
        return self._sites[s]

    def joint(self, j: int) -> str:
        """Return the name of the joint."""
        return self._joints[j]

    def centre(self, b: int) -> str:
        """Return the name of a frame at the body's centre of mass."""
        if b not in self._centres:
            self._centres[b] = _free(f"{self._bodies[b]} centre of mass", self._taken)
        return self._centres[b]

    def medium(self, b: int) -> str:
        """Return the name of a frame at the body's centre of mass, along its principal axes."""
        return _free(f"{self._bodies[b]} principal axes", self._taken)

    def surface(self, name: str) -> str:
        """Return the name of a frame at a plane of the ground."""
        return _free(name, self._taken, " surface")

    def between(self, b: int, k: int) -> str:
        """Return the name of the massless body behind joint k of a body that has several."""
        return _free(f"{self._bodies[b]} {k + 1}", self._taken)

    def weld(self, b: int) -> str:
        """Return the name of the fixed joint of a body that has no joint of its own."""
        return _free(f"{self._bodies[b]} weld", self._held)


def _free(name: str, taken: set[str], word: str = "") -> str:
    """Return the name, with a suffix where it is taken."""
    found, k = name, 1
    while found in taken:
        found = f"{name}{word if k == 1 and word else f' ({k + 1})'}"
        k = k + 1
    taken.add(found)
    return found
