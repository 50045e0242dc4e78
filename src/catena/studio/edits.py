"""Edits: the changes that a page may make to a model. Each kind of message has a method
`_on_KIND`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import CatenaError
from ..formats import examples
from ..machine import coordinates
from ..results.scene import Scene, placement
from . import additions, linkage
from .document import ChangedOnDisk, Document, value_of_text
from .live_model import LiveModel, Reading
from .posing import pull
from .server import Client

Array = np.ndarray
EDITS = frozenset(
    {
        "set",
        "remove",
        "rename",
        "add",
        "parameter",
        "text",
        "undo",
        "redo",
        "reload",
        "save",
        "draw",
        "start_here",
        "run",
        "grab",
        "open",
        "new",
    }
)
_NUMBER = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(.*)")


class Edits:
    """The methods that change a document; the class of the studio inherits them."""

    document: Document
    folders: Sequence[Path]
    model: LiveModel
    reading: Reading
    scene: Scene | None
    q: Array | None

    def _tell(self, kind: str, blob: bytes = b"", **data: Any) -> None:
        """Send a message to every browser."""

    def _send_pose(self) -> None:
        """Send the present pose to every browser."""

    def _on_set(self, client: Client, message: dict[str, Any]) -> None:
        """Write a value at a path."""
        value = value_of_text(message["text"]) if "text" in message else message["value"]
        self.document.set(_path(message), value, str(message.get("key", "")))

    def _on_remove(self, client: Client, message: dict[str, Any]) -> None:
        """Remove the value at a path."""
        self.document.remove(_path(message))

    def _on_rename(self, client: Client, message: dict[str, Any]) -> None:
        """Rename a part."""
        name = str(message["name"]).strip()
        if not name:
            raise CatenaError("a name has a letter at least")
        self.document.rename(_path(message), name)

    def _on_add(self, client: Client, message: dict[str, Any]) -> None:
        """Add an entry of the menu."""
        size = 0.3 if self.scene is None or not self.scene.parts else 20 * self.scene.unit
        additions.ADDITIONS.find(str(message["what"])).add(
            self.document, self.reading.mechanism, str(message.get("selected", "")), size
        )

    def _on_parameter(self, client: Client, message: dict[str, Any]) -> None:
        """Set a parameter to a value in SI units, written in the unit that it has in the file."""
        name = str(message["name"])
        value = float(message["value"])
        given = self.document.data()["parameters"][name]
        m = self.reading.mechanism
        text: Any = float(f"{value:.6g}")
        if (
            isinstance(given, str)
            and (found := _NUMBER.fullmatch(given))
            and m is not None
            and m.parameters.get(name)
        ):
            factor = m.parameters[name] / float(found[1]) if float(found[1]) else 1.0
            text = f"{value / factor:.5g} {found[2]}".strip()
        self.document.set(["parameters", name], text, f"slide {name}")

    def _on_text(self, client: Client, message: dict[str, Any]) -> None:
        """Replace the whole text."""
        self.document.replace(str(message["text"]), "typing")

    def _on_undo(self, client: Client, message: dict[str, Any]) -> None:
        """Go one step back."""
        self.document.undo()

    def _on_redo(self, client: Client, message: dict[str, Any]) -> None:
        """Go one step forward."""
        self.document.redo()

    def _on_reload(self, client: Client, message: dict[str, Any]) -> None:
        """Replace the model by the file on disk."""
        self.document.reload()

    def _on_save(self, client: Client, message: dict[str, Any]) -> None:
        """Save the file, or report that it was changed on disk."""
        try:
            self.document.save(force=bool(message.get("force")))
        except ChangedOnDisk as why:
            client.send("conflict", text=str(why))
            return
        self._tell("saved", path=str(self.document.path))

    def _on_draw(self, client: Client, message: dict[str, Any]) -> None:
        """Add a chain of links with pins through points that were clicked in a plane."""
        data = self.document.data()
        plane = linkage.PLANES.get(str(message.get("plane", "x-y")))
        if plane is None:
            raise CatenaError(
                f"there is no plane {message.get('plane')!r}; planes are:"
                f" {', '.join(linkage.PLANES)}"
            )
        taken = {
            row.get("name")
            for kind in ("body", "joint", "loop", "load", "frame")
            for row in data.get(kind, [])
        } | set(data.get("parameters", {}))
        start, turned = self._anchor(message.get("start"), plane)
        end = self._anchor(message["end"], plane)[0] if message.get("end") else None
        made = linkage.chain(message["points"], start, end, turned, taken, plane)
        # as a new model has it
        if not data.get("body") and data.get("gravity") == [0, -9.81, 0] != plane.down:
            self.document.set(["gravity"], plane.down)
            client.send(
                "status",
                text=f"gravity is along -{'xyz'[plane.axes[1]]} now, downwards in this plane",
            )
        density = {} if "density" in data.get("parameters", {}) else {"density": linkage.DENSITY}
        self.document.add(made.tables, {**made.parameters, **density})
        additions.drawn_start(self.document, made.angles, first=start.body == "ground")

    def _anchor(
        self, given: dict[str, Any] | None, plane: linkage.Plane
    ) -> tuple[linkage.Anchor, float]:
        """Return the start or end of a chain, and the angle (rad) of that body in the plane."""
        body = str((given or {}).get("body", "ground"))
        m = self.reading.mechanism
        if body == "ground" or m is None:
            return linkage.Anchor(), 0.0
        X = placement(m).at(self._present_coordinates())[body]
        point = X[:3, :3].T @ (np.array([*given["point"], 0.0][:3]) - X[:3, 3])  # type: ignore[index]
        at = self._named(m, body, point) or [float(f"{x:.6g}") for x in point]
        return linkage.Anchor(body, tuple(at)), plane.angle(X)

    def _named(self, m: Any, body: str, point: Array) -> list[Any] | None:
        """Return the place of a frame or joint at this point of the body, as the file writes it;
        None if there is none. A pin that is placed in this way follows the same lengths.
        """
        data = self.document.data()
        for row in data.get("frame", []):
            if row.get("body") == body and "at" in row:
                X = m.frame(row["name"]).pose.position
                if np.allclose([float(placement(m).value(x)) for x in X], point, atol=1e-6):
                    return list(row["at"])
        for key, own in (("at", "parent"), ("child_at", "child")):
            for kind in ("joint", "loop"):
                for row in data.get(kind, []):
                    if row.get(own) == body and key in row:
                        j = m.joint(row["name"])
                        X = (j.placement if key == "at" else j.offset).position
                        if np.allclose([float(placement(m).value(x)) for x in X], point, atol=1e-6):
                            return list(row[key])
        return None

    def _present_coordinates(self) -> Array:
        """Return the present coordinates; empty where there are none."""
        return self.q if self.q is not None else np.zeros(0)

    # --- other files
    def openable(self) -> list[str]:
        """Return the model files in the folder of this one, and the built-in examples."""
        here = self.document.path.resolve().parent
        return [*sorted(p.name for p in here.glob("*.toml")), *examples()]

    def _on_open(self, client: Client, message: dict[str, Any]) -> None:
        """Open another file of the folder, or an example as a new file."""
        name = str(message["name"]).strip()
        here = self.document.path.resolve().parent
        if name in examples() and not (here / f"{name}.toml").exists():
            document = Document(here / f"{name}.toml")
            text = str((resources.files("catena") / "examples" / f"{name}.toml").read_text("utf-8"))
            document.replace(text)
            self._turn_to(document)
            return
        path = here / (name if name.endswith(".toml") else f"{name}.toml")
        if path.parent != here or not path.is_file():
            raise CatenaError(
                f"there is no model {name!r} in this folder; there are:"
                f" {', '.join(self.openable()[:12])}"
            )
        self._turn_to(Document(path))

    def _on_new(self, client: Client, message: dict[str, Any]) -> None:
        """Open a new, empty model in this folder."""
        name = str(message["name"]).strip().removesuffix(".toml")
        here = self.document.path.resolve().parent
        if not name or Path(name).name != name or name.startswith("."):
            raise CatenaError(f"{name!r} is no name of a file; take letters, digits and _")
        path = here / f"{name}.toml"
        if path.exists():
            raise CatenaError(f"{path.name} exists already; open it, or take another name")
        self._turn_to(Document(path))

    def _turn_to(self, document: Document) -> None:
        """Switch to another document; unsaved edits of this one stay in its journal."""

    # --- posing by hand
    def _on_grab(self, client: Client, message: dict[str, Any]) -> None:
        """Pull a point of a body to a position."""
        if self.reading.mechanism is None or self.q is None or self.scene is None:
            return
        machine = self.model.at(self.reading.mechanism)
        turn = message.get("orientation")
        R = None if turn is None else np.array(turn, float).reshape(3, 3)
        found = pull(
            machine,
            self.q,
            str(message["body"]),
            np.array(message["point"], float),
            np.array(message["position"], float),
            R,
        )
        self.q = found.q
        self._send_pose()

    def _on_start_here(self, client: Client, message: dict[str, Any]) -> None:
        """Write the present pose as the start of the scenario."""
        m = self.reading.mechanism
        if m is None or self.q is None:
            return
        tied = m.closes
        for k, c in enumerate(coordinates(m)):
            angle = any(f.motion.name != "SLIDE" for f in m.joint(c.joint).freedoms)
            x = self.q[c.qi]
            text = f"{np.degrees(x):.5g} deg" if angle else f"{1000 * x:.5g} mm"
            self.document.set(["scenario", "initial", "near" if tied and k else "q", c.name], text)


def _path(message: dict[str, Any]) -> list[str | int]:
    """Return the path in a message; raise CatenaError where it is not a list of names and
    indices.
    """
    path = message["path"]
    if not isinstance(path, list) or not all(isinstance(p, (str, int)) for p in path) or not path:
        raise CatenaError("a path is a list of names and numbers")
    return path
