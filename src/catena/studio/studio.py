"""Studio: a model file in the browser, to edit, run, play and plot.

    page --edits--> Document (the file's text) --> LiveModel (mechanism, scenario, faults) -->
    scene, motion, plots --> page

Edits may arrive at any rate; a worker thread processes only the newest text. The studio edits the
file: it can do nothing that a file cannot express.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import CatenaError, SimulationError
from ..model import parameter_units
from ..results import Result, forces
from ..results.scene import Scene, View, bodies_at, describe, placement, wire
from . import additions, schema
from .document import Document
from .edits import EDITS, Edits
from .journal import Journal
from .live_model import LiveModel, Reading
from .run_series import RATE, film_of, series_of
from .server import Client

Array = np.ndarray
FIRST_SECONDS = 0.4  # s of motion that is shown while the rest is computed
SLOW_READING_SECONDS = 0.4  # s of reading a model, after which the page says that it takes long


class Superseded(Exception):
    """Raised in a run whose model has changed in the meantime."""


class Studio(Edits):
    """The session behind the page of `catena studio`."""

    def __init__(self, document: Document, folders: Sequence[Path] = ()):
        self.document, self.folders = document, [document.path.resolve().parent, *folders]
        self.model, self.reading = LiveModel(document.path), Reading()
        self.scene: Scene | None = None
        self.q: Array | None = None
        self.result: Result | None = None
        self.clients: list[Client] = []
        self._begin()
        self.runs, self.shown, self.auto = 0, 0, True
        self._lock, self._news, self._over = threading.RLock(), threading.Event(), False
        threading.Thread(target=self._work, daemon=True).start()
        self._news.set()

    def _begin(self) -> None:
        """Restore the unsaved edits of an earlier session of this document."""
        self.journal = Journal(self.document.path)
        self.taken_up = ""
        found = self.journal.edits(self.document.on_disk)
        if found is None:
            return
        text, same = found
        self.document.replace(text)
        changed = "" if same else ", though the file was changed on disk since then"
        self.taken_up = (
            f"edits of an earlier session that were not saved are here again{changed}; Undo goes"
            " back to the file"
        )

    # --- the page
    def page(self) -> str:
        """Return the HTML of the page with its scripts."""
        folder = resources.files("catena.studio")
        read = lambda name: (folder / name).read_text(encoding="utf-8")  # noqa: E731
        return wire.page(
            read("studio.html"),
            **{name: read(f"{name}.js") for name in ("live", "tree", "plots", "draw")},
        )

    def opened(self, client: Client) -> None:
        """Send everything to a browser that has connected."""
        with self._lock:
            self.clients.append(client)
            menu = [{"name": a.name, "doc": a.doc} for a in additions.ADDITIONS.values()]
            client.send(
                "hello",
                schema=schema.described(),
                additions=menu,
                editor=client.editor,
                path=str(self.document.path),
                files=self.openable(),
            )
            if self.taken_up:
                client.send("status", text=self.taken_up)
        self._news.set()

    def closed(self, client: Client) -> None:
        """Remove a browser that has disconnected; the model stays."""
        with self._lock:
            self.clients.remove(client)

    def close(self) -> None:
        """End the worker thread."""
        self._over = True
        self._news.set()

    def received(self, client: Client, message: dict[str, Any]) -> None:
        """Handle a message of a page; changes are accepted only from the editor."""
        kind = str(message.get("kind"))
        handle = getattr(self, f"_on_{kind}", None)
        if handle is None:
            raise CatenaError(f"this page does not know {kind!r}")
        try:
            if kind in EDITS and not client.editor:
                raise CatenaError("another browser edits this model; this one looks")
            with self._lock:
                handle(client, message)
        except Exception:
            # what was typed there is not so: the page shows the model again
            if kind in EDITS:
                with self._lock:
                    client.send("model", **self._model(self.document.text, self.reading))
            raise
        if kind in EDITS:
            with self._lock:
                self.journal.keep(self.document.text, self.document.on_disk)
            self._news.set()

    def _tell(self, kind: str, blob: bytes = b"", **data: Any) -> None:
        """Send a message to every browser."""
        for client in list(self.clients):
            client.send(kind, blob, **data)

    # --- questions
    def _send_pose(self) -> None:
        """Send the present pose to every browser."""
        assert self.scene is not None and self.reading.mechanism is not None and self.q is not None
        at = bodies_at(self.reading.mechanism, self.q)
        X = np.stack([at[name] for name in self.scene.bodies])
        self._tell("pose", X[:, :3, :].astype("<f4").tobytes())

    def _turn_to(self, document: Document) -> None:
        """Switch to another document; unsaved edits of this one stay in its journal."""
        self.journal.keep(self.document.text, self.document.on_disk)
        self.document = document
        self.folders = [document.path.resolve().parent, *self.folders[1:]]
        self.model, self.reading = LiveModel(document.path), Reading()
        self.scene, self.q, self.result = None, None, None
        self._again = True
        self._begin()
        self._tell("opened", path=str(document.path), files=self.openable())
        if self.taken_up:
            self._tell("status", text=self.taken_up)

    # --- questions
    def _on_run(self, client: Client, message: dict[str, Any]) -> None:
        """Run the model again, and set whether it runs after every change."""
        self.auto = bool(message.get("auto", self.auto))
        self._again = True
        self._news.set()

    def _on_equations(self, client: Client, message: dict[str, Any]) -> None:
        """Derive the equations of motion in a thread, and send them."""
        m = self.reading.mechanism
        by = str(message.get("by", "lagrange"))
        if m is None:
            raise CatenaError("the model has faults; equations are those of a sound one")
        threading.Thread(target=self._equations, args=(client, m, by), daemon=True).start()

    def _equations(self, client: Client, m: Any, by: str) -> None:
        """Send the equations of motion by a formulation, or why there are none."""
        from ..equations.formulations import derive
        from ..equations.readable import mathml

        try:
            text = derive(m, by).latex()
            client.send("equations", by=by, latex=text, html=mathml(text))
        except CatenaError as why:
            client.send("equations", by=by, latex="", html="", said=str(why))

    def _on_forces(self, client: Client, message: dict[str, Any]) -> None:
        """Send the forces of every joint on its child along the shown run, as arrows at the
        joints.
        """
        m = self.reading.mechanism
        result = self.result
        if m is None or result is None or self.scene is None:
            raise CatenaError("run the model first; arrows show the forces of a run")
        head, numbers = forces(result, self.model.at(m)).wire(self.scene)
        client.send("forces", numbers, number=self.runs, **head)

    def _on_certificate(self, client: Client, message: dict[str, Any]) -> None:
        """Compute the certificate in a thread, and send it."""
        m = self.reading.mechanism
        if m is None:
            raise CatenaError("the model has faults; a certificate is that of a sound one")
        threading.Thread(target=self._certificate, args=(client, m), daemon=True).start()

    def _certificate(self, client: Client, m: Any) -> None:
        """Send the certificate of a mechanism, with progress."""
        from ..certify import check

        try:
            found = check(
                m,
                states=4,
                progress=lambda name: client.send(
                    "certificate", progress=f"deriving by {name} ..."
                ),
            )
        except CatenaError as why:
            client.send("certificate", said=str(why), rows=[], passed=False)
            return
        head = ["formulation", "accelerations", "reactions", "power", "free run", "verdict"]
        client.send(
            "certificate",
            rows=[head, *([str(x) for x in row] for row in found.rows())],
            passed=bool(found.passed),
            said=(
                f"the formulations agree at {found.states} random states"
                if found.passed
                else f"they do NOT agree: {', '.join(found.failed)}"
            ),
        )

    # --- the worker
    _again = False

    def _work(self) -> None:
        """Process the newest text whenever there is one; this is the loop of the worker thread."""
        done = None
        while not self._over:
            self._news.wait(timeout=2.0)
            if self._over:
                return
            self._news.clear()
            with self._lock:
                text = self.document.text
                again = self._again
                self._again = False
                state = (text, tuple(map(id, self.clients)))
            if state == done and not again:
                self._watch()
                continue
            done = state
            try:
                self._show_text(text)
            except Exception as why:  # the page stays up whatever happens to a model
                self._tell("fault", text=f"{type(why).__name__}: {why}")

    def _watch(self) -> None:
        """Report, once per change, that another program has changed the file on disk."""
        changed = self.document.changed_on_disk()
        if changed and not getattr(self, "_warned", False):
            self._tell(
                "conflict",
                text=(
                    f"{self.document.path.name} was changed on disk; take it from there, or go on"
                    " and write over it"
                ),
                soft=True,
            )
        self._warned = changed

    def _show_text(self, text: str) -> None:
        """Read a text and show the model, then its motion."""
        reading = self._read(text)
        with self._lock:
            if self.document.text != text:
                return  # something newer is to be read
            self.reading = reading
            self._tell("model", **self._model(text, reading))
            if reading.mechanism is None:
                if self.scene is None:
                    self._blank()
                return
            self._show(reading)
        if reading.scenario is not None and self.auto and reading.mechanism.moving:
            self._run(text, reading)

    def _read(self, text: str) -> Reading:
        """Return the model of a text, with closed loops.

        Where that takes long, as for lengths with which loops cannot close, the page is informed
        after SLOW_READING_SECONDS.
        """
        announced = threading.Event()

        def tell() -> None:
            announced.set()
            self._tell("status", text="closing the loops ...")

        sign = threading.Timer(SLOW_READING_SECONDS, tell)
        sign.daemon = True
        sign.start()
        try:
            return self.model.read(text)
        finally:
            sign.cancel()
            if announced.is_set():
                self._tell("status", text="")

    def _model(self, text: str, reading: Reading) -> dict[str, Any]:
        """Return the data of the model for the page."""
        d = self.document
        try:
            data = d.data()
        except CatenaError:
            data = None
        m = reading.mechanism
        return {
            "text": text,
            "data": _plain(data),
            "faults": list(reading.faults),
            "doubts": list(reading.doubts),
            "saved": d.saved,
            "undo": d.now > 0,
            "redo": d.now < len(d.steps) - 1,
            "names": schema.names(m) if m else {},
            "parameters": dict(m.parameters) if m else {},
            "units": parameter_units(m) if m else {},
            "moves": bool(m and m.moving),
        }

    def _show(self, reading: Reading) -> None:
        """Send the scene of a model in its initial pose."""
        m = reading.mechanism
        assert m is not None
        motors = tuple(reading.scenario.options.get("motion", {})) if reading.scenario else ()
        driven = tuple(n for n in motors if isinstance(n, str))
        self.scene = describe(m, folders=self.folders, motors=driven)
        if reading.scenario is not None:
            self.q = np.asarray(reading.scenario.q, float)
        elif self.q is None or len(self.q) != len(m.coordinate_names):
            self.q = self.model.at(m).neutral()
        at = bodies_at(m, self.q)
        X = np.stack([at[name] for name in self.scene.bodies])
        header, blob = wire.header(self.scene, X)
        header["pins"] = self._pins(m, at)
        self.shown += 1
        self._tell("scene", blob, scene=header, version=self.shown)

    def _blank(self) -> None:
        """Send an empty x-y plane, seen from the front, to draw on."""
        x, y, z = np.eye(3)
        sheet = Scene(
            self.document.path.stem, ("ground",), {}, (), (), 0.01, View(x, y, z, True), y, {}
        )
        header, blob = wire.header(
            sheet, np.eye(4)[None], np.array([[-0.4, -0.25, 0.0], [0.4, 0.35, 0.0]])
        )
        self._tell("scene", blob, scene={**header, "pins": []})

    def _pins(self, m: Any, at: dict[str, Array]) -> list[dict[str, Any]]:
        """Return the places of joints and tips, at which a drawn line can begin or end."""
        found = []
        for j in (*m.joints, *m.loops):
            X = at[j.parent] @ np.array(_matrix(m, j.placement))
            found.append(
                {
                    "name": j.name,
                    "body": j.child if j.child != "ground" else j.parent,
                    "at": X[:3, 3].tolist(),
                }
            )
        for name, (body, point) in (self.scene.tips if self.scene else {}).items():
            X = at[body]
            found.append(
                {"name": name, "body": body, "at": (X[:3, :3] @ point + X[:3, 3]).tolist()}
            )
        return found

    def _run(self, text: str, reading: Reading) -> None:
        """Run the scenario, its first FIRST_SECONDS first, and send the motion."""
        assert reading.scenario is not None
        asked, said = reading.scenario, ""
        result: Result | None = None
        self.runs += 1
        for until in (FIRST_SECONDS, None) if asked.until > 2 * FIRST_SECONDS else (None,):
            self._tell("status", text="running ..." if self.model.compiled else "compiling ...")
            try:
                result = self.model.run(asked, until, RATE, lambda t: self._still(text))
            except Superseded:
                return
            except SimulationError as why:
                said = str(why)
                result = why.result if isinstance(why.result, Result) else None
            except CatenaError as why:
                said, result = str(why), None
            with self._lock:
                if self.document.text != text:
                    return  # something newer is to be shown
                if result is not None and len(result.time) > 1:
                    self._send_run(result, reading, said, done=until is None or bool(said))
                elif said:
                    self._tell("status", text=said, bad=True)
            if said:
                return

    def _still(self, text: str) -> None:
        """Raise Superseded if the text of a run is no longer the newest."""
        if self._over or self.document.text != text:
            raise Superseded("there is a newer text")

    def _send_run(self, result: Result, reading: Reading, said: str, done: bool) -> None:
        """Send a run: its film, plots and ledger."""
        assert self.scene is not None
        self.result = result
        shown = film_of(result, self.scene)
        series, numbers = series_of(result, shown)
        film_bytes = wire.film_numbers(shown.at).astype("<f4").tobytes()
        box = shown.box()
        self._tell(
            "run",
            film_bytes + numbers.astype("<f4").tobytes(),
            number=self.runs,
            times=shown.times.round(6).tolist(),
            film=len(film_bytes),
            points=numbers.shape[1],
            series=series,
            done=done,
            version=self.shown,
            said=said,
            until=reading.scenario.until if reading.scenario else 0.0,
            box=box.tolist(),
            verdict=result.ledger.verdict if done and not said else "",
            tracks=[
                shown.tracks[name][::2].round(6).ravel().tolist() if name in shown.tracks else []
                for name in shown.scene.tips
            ],
        )


def _plain(x: Any) -> Any:
    """Return a TOML value as JSON types: dates and infinities become texts."""
    if isinstance(x, dict):
        return {k: _plain(y) for k, y in x.items()}
    if isinstance(x, list):
        return [_plain(y) for y in x]
    if isinstance(x, float) and not np.isfinite(x):
        return str(x)
    return x if isinstance(x, (str, int, float, bool)) or x is None else str(x)


def _matrix(m: Any, X: Any) -> Array:
    """Return a pose as a matrix (4, 4) at the values of the parameters."""
    value = placement(m).value
    made = np.eye(4)
    made[:3, :3] = [[value(x) for x in row] for row in X.rotation]
    made[:3, 3] = [value(x) for x in X.position]
    return made


def studio(file: str, meshes: Sequence[Path] = ()) -> Studio:
    """Return the studio of a file.

    An example, or a file of another format, becomes a new .toml file in the working folder when it
    is saved.
    """
    from .. import formats
    from ..formats import toml
    from .robots import find

    path = Path(file)
    if path.suffix.lower() == ".toml":
        if path.exists() and not path.is_file():
            raise CatenaError(f"{path} is a folder; the studio edits a .toml file")
        return Studio(Document(path), meshes)
    if not path.suffix and len(path.parts) == 1 and path.with_suffix(".toml").exists():
        return Studio(Document(path.with_suffix(".toml")), meshes)
    source = formats._find(find(file))
    document = Document(Path(f"{path.stem}.toml"))
    text = (
        source.read_text(encoding="utf-8")
        if source.suffix == ".toml"
        else toml.FORMAT.write(formats.load(source))
    )
    if document.on_disk is not None:
        raise CatenaError(
            f"{document.path} is here already; open it by that name, or work in another folder"
        )
    document.steps = [replace(document.steps[0], text=text)]
    return Studio(document, [source.resolve().parent, *meshes])
