"""View: a mechanism in the browser, to look at, to move by hand and to run.

Coordinates have sliders within their limits; loops stay closed while one moves. A body can be
dragged. A run begins from the pose that is shown. Parameters have sliders, which repeat the run
that is played. Modes are animated, and a saved result is played. Nothing is written.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial.transform import Rotation

from ..analysis import assemble
from ..errors import CatenaError, UnknownNameError
from ..machine import Machine, compile, coordinates
from ..model import Mechanism, coordinate_units, parameter_units
from ..model.flexible import discretise
from ..results import forces, with_own_parameters
from ..results.scene import Scene, describe, poses, wire
from .posing import Posed, pull, set_coordinate
from .server import Client

if TYPE_CHECKING:
    from ..results import Film, Result

    RunAgain = Callable[[Mapping[str, float]], Result]

Array = np.ndarray
LONGEST_RUN = 1000.0  # s that a page may ask for
# how far bodies turn (rad) and move (relative to the size of the scene) in an animated mode
MODE_SWING, MODE_SHIFT = 0.35, 0.12
RATE = 60  # pictures per second of film


class Viewer:
    """The session behind the page of `catena view`."""

    def __init__(
        self,
        mechanism: Mechanism,
        *,
        q: Array | None = None,
        folders: Sequence[Path] | None = None,
        result: Result | None = None,
    ):
        if result is not None:
            result = result.select(run=0)
        m = discretise(mechanism)
        m = m if result is None else with_own_parameters(result, m)
        self.machine = Machine(m, life="generic")
        self.folders = folders
        self.result = result
        self.again: RunAgain | None = None if result is None else result.shared.get("again")
        self.scene = describe(m, folders=folders)
        self.q = np.asarray(q, float) if q is not None else self._assembled()
        self.home = self.q.copy()
        self.clients: list[Client] = []
        self._lock = threading.RLock()

    def _assembled(self) -> Array:
        """Return the neutral coordinates within their limits, with loops closed where that is
        possible.
        """
        q = self.machine.neutral()
        for c in coordinates(self.machine):  # within the limits
            q[c.qi] = min(max(q[c.qi], c.lower), c.upper)
        try:
            return _closing(self.machine, q)
        except CatenaError:
            return q

    # --- the page
    def page(self, link: str = "") -> str:
        """Return the HTML of the page with its scripts. link: code that opens its connection in
        another way than by a WebSocket.
        """
        folder = resources.files("catena.studio")
        text, live = (
            (folder / name).read_text(encoding="utf-8") for name in ("view.html", "live.js")
        )
        return wire.page(text, live=link + live)

    def opened(self, client: Client) -> None:
        """Send the scene, the coordinates, and the film of a result to a browser that has
        connected.
        """
        with self._lock:
            self.clients.append(client)
        self._send_scene(client)
        self._send_result(client)

    def _send_scene(self, client: Client) -> None:
        """Send what is drawn, and the rows of coordinates and parameters."""
        seen = None if self.film is None else self.film.box()
        header, blob = wire.header(self.scene, poses(self.scene, self.machine, self.q), seen)
        client.send(
            "scene",
            blob,
            scene=header,
            coordinates=self._coordinates(),
            parameters=self._parameters() if self.result is None or self.again else [],
            loops=len(self.machine.mechanism.loops),
            notes=self._notes(),
        )

    def closed(self, client: Client) -> None:
        """Remove a browser that has disconnected."""
        with self._lock:
            self.clients.remove(client)

    def received(self, client: Client, message: dict[str, Any]) -> None:
        """Handle a message of a page."""
        with self._lock:
            getattr(self, f"_on_{message.get('kind')}", self._unknown)(client, message)

    def _unknown(self, client: Client, message: dict[str, Any]) -> None:
        """Raise CatenaError for a message of an unknown kind."""
        raise CatenaError(f"this page does not know {message.get('kind')!r}")

    # --- moving by hand
    def _on_set(self, client: Client, message: dict[str, Any]) -> None:
        """Set one coordinate by its slider."""
        name = str(message["name"])
        value = float(message["value"])
        c = next((c for c in coordinates(self.machine) if c.name == name), None)
        if not np.isfinite(value):
            raise CatenaError(f"{name} is {value}; it takes a finite number")
        if c is not None:
            self._posed(set_coordinate(self.machine, self.q, c, value))
        else:
            self._turn(name, value)

    def _turn(self, name: str, value: float) -> None:
        """Set roll, pitch or yaw of a ball joint."""
        joint, _, label = name.rpartition(".")
        for own, at in self._balls():
            if own == joint and label in ("roll", "pitch", "yaw"):
                angles = Rotation.from_quat(self.q[at : at + 4], scalar_first=True).as_euler("xyz")
                angles[("roll", "pitch", "yaw").index(label)] = value
                q = self.q.copy()
                q[at : at + 4] = Rotation.from_euler("xyz", angles).as_quat(scalar_first=True)
                self._posed(Posed(_closing(self.machine, q)))
                return
        raise CatenaError(f"there is no coordinate {name!r}")

    def _on_grab(self, client: Client, message: dict[str, Any]) -> None:
        """Pull a point of a body to a position."""
        body = str(message["body"])
        point = np.array(message["point"], float)
        self.machine.mechanism.body(body)
        position = np.array(message["position"], float)
        turn = message.get("orientation")
        R = None if turn is None else np.array(turn, float).reshape(3, 3)
        if not (np.isfinite(position).all() and np.isfinite(point).all()):
            raise CatenaError("a body is pulled to three finite numbers")
        self._posed(pull(self.machine, self.q, body, point, position, R))

    def _on_home(self, client: Client, message: dict[str, Any]) -> None:
        """Return to the initial pose."""
        self._posed(Posed(self.home.copy()))

    def _posed(self, found: Posed) -> None:
        """Use the coordinates that result from a move, and send the pose to every browser."""
        self.q = found.q
        X = poses(self.scene, self.machine, self.q)[..., :3, :].astype("<f4").tobytes()
        for client in self.clients:
            client.send("pose", X, values=self._values(), said=found.said)

    # --- runs
    def _on_run(self, client: Client, message: dict[str, Any]) -> None:
        """Run from the pose that is shown, at rest, and send the film."""
        until = float(message["until"])
        if not 0 < until <= LONGEST_RUN:
            raise CatenaError(
                f"a run of {until:g} s was asked for; from a page it takes up to {LONGEST_RUN:g} s"
            )
        self.again = partial(_run, self._lanes, self.q.copy(), until)
        self._repeat()

    def _on_parameter(self, client: Client, message: dict[str, Any]) -> None:
        """Set one parameter by its slider, and repeat the run where the page plays one."""
        name, value = str(message["name"]), float(message["value"])
        before = self.machine, self.q, self.home, self.scene
        values = self.machine.mechanism.parameters
        if name not in values:
            raise UnknownNameError("parameter", name, values, "this mechanism")
        try:
            self.machine = Machine(
                self.machine.mechanism.with_(parameters={**values, name: value}), life="generic"
            )
            self.q, self.home = (_closing(self.machine, q) for q in (self.q, self.home))
            self.scene = describe(self.machine.mechanism, folders=self.folders)
            if message.get("playing"):
                self._repeat(keep=True)
            else:
                for each in self.clients:
                    self._send_scene(each)
        except (CatenaError, ArithmeticError):
            self.machine, self.q, self.home, self.scene = before
            raise

    def _repeat(self, keep: bool = False) -> None:
        """Run as before, at the parameters of now, and send scene and film. keep: whether the page
        plays on at its time.
        """
        if self.again is None:
            raise CatenaError(
                "this result cannot be run again from here: a file does not hold its controller,"
                " motion and events. Show what `catena.simulate` returns"
            )
        result = self.again(dict(self.machine.mechanism.parameters))
        self.result = result
        self.__dict__.pop("film", None)
        for client in self.clients:
            self._send_scene(client)
            self._send_result(client, keep, "; ".join(result.ledger.doubts()))

    @cached_property
    def _lanes(self) -> Machine:
        """The machine that runs are made with."""
        return compile(self.machine.mechanism)

    # --- films
    def _on_modes(self, client: Client, message: dict[str, Any]) -> None:
        """Send the modes about the nearest stable equilibrium, or about the present pose with
        joints held by forces.
        """
        from ..analysis import equilibrium, modes, static_torques

        said = "about the rest nearest to where it stood"
        try:
            rest = equilibrium(self.machine, self.q)
            found = modes(self.machine, rest)
            if (found.squares < 0).any():
                raise CatenaError("it does not stay there")
            self._posed(Posed(rest))
        except CatenaError:
            try:
                found = modes(self.machine, self.q, static_torques(self.machine, self.q))
                said = "about where it stands, held there by forces in its joints"
            except CatenaError as why:
                client.send("modes", modes=[], said=str(why))
                return
        self.found_modes = found
        rows = [
            {"hertz": float(h) if np.isfinite(h) else None, "square": float(s)}
            for h, s in zip(found.hertz, found.squares)
        ]
        client.send("modes", modes=rows, said=said)

    def _on_mode(self, client: Client, message: dict[str, Any]) -> None:
        """Send one swing of a mode as a film."""
        k = int(message["number"])
        at = swing(self.scene, self.machine, self.q, self.found_modes.shapes[:, k])
        client.send(
            "film",
            _bytes(at),
            times=np.linspace(0, 2.0, len(at)).tolist(),
            tracks=[],
            name=f"mode {k + 1}",
            loop=True,
            box=self.scene.box(
                {name: at[:, b] for b, name in enumerate(self.scene.bodies)}
            ).tolist(),
        )

    @cached_property
    def film(self) -> Film | None:
        """The film of the result that is played; None where there is none."""
        from ..results import film

        return None if self.result is None else film(self.result, 1.0, RATE, scene=self.scene)

    def _send_result(self, client: Client, keep: bool = False, said: str = "") -> None:
        """Send the film of the result, and its forces without those in joints. keep: whether the
        page plays on at its time. said: a sentence to show.
        """
        film = self.film
        if film is None:
            return
        tracks = [
            np.asarray(film.tracks.get(name, np.zeros((0, 3)))).round(6).ravel().tolist()
            for name in self.scene.tips
        ]
        client.send(
            "film",
            _bytes(film.at),
            times=film.times.round(6).tolist(),
            tracks=tracks,
            name="result",
            loop=False,
            keep=keep,
            said=said,
            box=film.box().tolist(),
        )
        self._send_forces(client, joints=False)

    def _send_forces(self, client: Client, joints: bool) -> None:
        """Send the forces along the result; joints: those in joints too."""
        assert self.result is not None
        head, numbers = forces(self.result, joints=joints).wire(self.scene)
        client.send("forces", numbers, known=joints, **head)

    def _on_forces(self, client: Client, message: dict[str, Any]) -> None:
        """Send the forces of every joint on its child along the result that is played."""
        if self.result is None:
            raise CatenaError(
                "forces in joints are those of a result; play one: catena view FILE --result"
                " RESULTS"
            )
        self._send_forces(client, joints=True)

    # --- what the page shows
    def _coordinates(self) -> list[dict[str, Any]]:
        """Return name, unit, range and value of each coordinate for its slider."""
        m = self.machine.mechanism
        units = dict(zip(m.coordinate_names, (u for j in m.moving for u in coordinate_units(j))))
        reach = float(
            np.linalg.norm(
                np.ptp(
                    self.scene.box(
                        dict(zip(self.scene.bodies, poses(self.scene, self.machine, self.q)))
                    ),
                    axis=0,
                )
            )
        )
        rows = []
        for c in coordinates(self.machine):
            wide = np.pi if units[c.name] == "rad" else reach
            low = c.lower if np.isfinite(c.lower) else -wide
            high = c.upper if np.isfinite(c.upper) else wide
            rows.append(
                {
                    "name": c.name,
                    "unit": units[c.name],
                    "low": low,
                    "high": high,
                    "joint": c.joint,
                    "value": float(self.q[c.qi]),
                }
            )
        for joint, at in self._balls():
            angles = Rotation.from_quat(self.q[at : at + 4], scalar_first=True).as_euler("xyz")
            rows += [
                {
                    "name": f"{joint}.{label}",
                    "unit": "rad",
                    "low": -np.pi,
                    "high": np.pi,
                    "joint": joint,
                    "value": float(a),
                }
                for label, a in zip(("roll", "pitch", "yaw"), angles)
            ]
        return rows

    def _parameters(self) -> list[dict[str, Any]]:
        """Return name, unit, range and value of each parameter for its slider."""
        m = self.machine.mechanism
        units = parameter_units(m)
        return [
            {
                "name": name,
                "unit": units.get(name, "").replace("*", " "),
                "low": min(0.2 * x, 3 * x),
                "high": max(0.2 * x, 3 * x) if x else 1.0,
                "value": x,
            }
            for name, x in m.parameters.items()
        ]

    def _values(self) -> dict[str, float]:
        """Return the present value of each coordinate."""
        found = {c.name: float(self.q[c.qi]) for c in coordinates(self.machine)}
        for joint, at in self._balls():
            angles = Rotation.from_quat(self.q[at : at + 4], scalar_first=True).as_euler("xyz")
            found |= {
                f"{joint}.{label}": float(a) for label, a in zip(("roll", "pitch", "yaw"), angles)
            }
        return found

    def _balls(self) -> list[tuple[str, int]]:
        """Return (joint, index in q) of every quaternion."""
        found, at = [], 0
        for j in self.machine.mechanism.moving:
            for f in j.freedoms:
                if f.nq == 4:
                    found.append((j.name, at))
                at += f.nq
        return found

    def _notes(self) -> list[str]:
        """Return the notes of the scene and of the mechanism."""
        return [*self.scene.notes, *self.machine.mechanism.notes]


def _run(
    machine: Machine, q: Array, until: float, parameters: Mapping[str, float] | None = None
) -> Result:
    """Return a run from a pose, at rest, without control."""
    from ..simulation import simulate

    q = assemble(machine, q, parameters=parameters)[0] if machine.mechanism.closes else q
    return simulate(machine, q=q, until=until, output=1 / RATE, parameters=parameters or None)


def swing(scene: Scene, machine: Machine, q: Array, shape: Array) -> Array:
    """Return the poses (n, bodies, 4, 4) of one oscillation of a mode about q. Its amplitude is
    large enough to be seen well and, if there are loops, small enough for them to close.
    """
    at = lambda x: poses(scene, machine, x)  # noqa: E731
    size = float(np.linalg.norm(np.ptp(scene.box(dict(zip(scene.bodies, at(q)))), axis=0)))
    shape = shape / (np.abs(shape).max() or 1.0)
    small = 1e-6
    X = at(q)
    Y = at(machine.move(q, small * shape))
    gone = np.linalg.norm(Y[:, :3, 3] - X[:, :3, 3], axis=1).max() / (small * MODE_SHIFT * size)
    turned = np.linalg.norm(Y[:, :3, :3] - X[:, :3, :3], axis=(1, 2)).max() / (
        np.sqrt(2) * small * MODE_SWING
    )
    far = 1 / (max(gone, turned) or 1.0)
    for reach in (far, far / 3, far / 10):
        try:
            return at(
                np.stack(
                    [
                        _closing(machine, machine.move(q, reach * np.sin(p) * shape))
                        for p in np.linspace(0, 2 * np.pi, 61)
                    ]
                )
            )
        except CatenaError:
            continue  # its loops do not close so far away
    raise CatenaError("the loops of this mode do not close away from where it rests")


def _closing(machine: Machine, q: Array) -> Array:
    """Return q with closed loops."""
    return assemble(machine, q)[0] if machine.mechanism.closes else q


def _bytes(at: Array) -> bytes:
    """Return the poses of a film as float32 bytes."""
    return wire.film_numbers(at).astype("<f4").tobytes()


def viewer(
    file: str,
    *,
    result: str | None = None,
    floating: bool = False,
    mimic: bool = True,
    meshes: Sequence[Path] = (),
) -> Viewer:
    """Return the session of `catena view FILE`: a mechanism from a file, an example or a robot by
    name; or a result with its own mechanism.
    """
    import warnings

    from .. import formats
    from ..errors import MechanismWarning
    from .robots import find

    if Path(file).suffix == ".nc" or (Path(file) / "results.nc").is_file():
        found = _load_played(file)
        return Viewer(
            found.mechanism,
            q=found.select(run=0).data["q"].values[0],
            folders=[Path(file).parent, *meshes],
            result=found,
        )
    name = find(file)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MechanismWarning)  # shown on the page, as notes
        mechanism = formats.load(name, floating=floating, mimic=mimic)
    folders = [formats._find(name).resolve().parent, *meshes]
    played = _load_played(result) if result else None
    return Viewer(mechanism, q=_start(name, mechanism), folders=folders, result=played)


def _load_played(path: str) -> Result:
    """Return the result in a file or in a folder."""
    from ..results import load_result

    return load_result(Path(path) / "results.nc" if Path(path).is_dir() else Path(path))


def _start(name: str, mechanism: Mechanism) -> Array | None:
    """Return the coordinates at the start of the file's scenario, None where it has none that can
    be read.
    """
    if Path(name).suffix not in ("", ".toml"):
        return None  # before what is slow to import
    from ..simulation.scenario import read

    try:
        asked = read(name, until=1.0)
    except CatenaError:
        return None
    return asked.q if len(asked.q) == len(discretise(mechanism).coordinate_names) else None
