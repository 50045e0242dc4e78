"""What a page that runs by itself draws: the mechanism as lines and flat solids, and the code that paints them."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from importlib import resources
from typing import Any

import numpy as np

from ..results.plots.frames import Film


def filled(page: str, title: str, data: Mapping[str, object]) -> str:
    """A page with its title, the drawing code and its data written into it."""
    scene = (resources.files("catena.results.plots") / "scene.js").read_text(encoding="utf-8")
    text = json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    return page.replace("{{scene}}", scene).replace("{{title}}", html.escape(title)).replace("{{data}}", text)


def drawing(made: Film) -> dict[str, Any]:
    """What a page needs to draw it, rounded to a hundred-thousandth of what is seen."""
    reach = made.reach()
    digits = int(np.ceil(5 - np.log10(max(np.ptp(reach, axis=0).max(), 1e-6))))

    def short(x: np.ndarray) -> Any:
        return np.round(np.asarray(x, float), digits).tolist()

    names = [limb.body for limb in made.bones.limbs]
    bodies = [
        {
            "lines": short(limb.lines),
            "pins": short(limb.pins),
            "solids": [{"corners": short(s.corners), "radius": round(s.radius, digits), "colour": list(s.colour[:3])}
                       for s in limb.solids],
        }
        for limb in made.bones.limbs
    ]  # fmt: skip
    places = {name: k for k, name in enumerate(names)}
    guides = [[places.get(g.start, -1), short(g.at), places.get(g.end, -1), short(g.to)] for g in made.bones.guides]
    return {
        "title": made.title,
        "times": np.round(made.times, 6).tolist(),
        "bodies": bodies,
        "guides": guides,
        "ground": short(made.bones.ground),
        "positions": [short(made.at[name][:, :3, 3]) for name in names],
        "turns": [np.round(made.turns[name], 6).tolist() for name in names],
        "tracks": [{"body": places[made.tips[name][0]], "tip": short(made.tips[name][1]), "points": short(track)}
                   for name, track in made.tracks.items()],
        "view": {"right": made.view.right.tolist(), "up": made.view.up.tolist(), "planar": made.view.planar,
                 "vertical": made.vertical.tolist()},
        "middle": short(made.middle()),
        "size": np.maximum(np.ptp(reach, axis=0), 1e-3 * np.ptp(reach)).tolist(),
        "pace": made.pace,
    }  # fmt: skip
