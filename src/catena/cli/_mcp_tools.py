"""The tools of `catena mcp`: functions that a language model may call, one per task.

A tool runs a command of the command line in a process of its own, in one folder, and returns what
the command prints. So an answer is the one that a person gets.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..errors import CatenaError

LONGEST_ANSWER = 20_000  # letters; a longer answer is cut, and says so
MOST_ROWS = 200  # of a table of values
MODELS = (".toml", ".urdf", ".xml", ".sdf", ".osim", ".usda")
PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_ .-]*")  # a name of an example or a robot


@dataclass(frozen=True)
class Workspace:
    """The folder whose files the tools may read and write, and the longest time of a tool, s."""

    folder: Path
    seconds: float = 120.0

    def inside(self, file: str) -> Path:
        """Return the path of a file of the folder; raise CatenaError for a file elsewhere."""
        path = (self.folder / file).resolve()
        if not path.is_relative_to(self.folder.resolve()):
            raise CatenaError(
                f"{file!r} is outside of the folder of this server, {self.folder}; use the name of"
                " a file in it, or of an example"
            )
        return path

    def place(self, file: str) -> str:
        """Return the path of a file of the folder, or the name of an example or a robot; raise
        CatenaError for anything else.
        """
        path = self.inside(file.removeprefix("robot:"))
        named = PLAIN.fullmatch(file.removeprefix("robot:")) and not path.exists()
        return file if named and not path.suffix else str(path)

    def run(self, *words: str) -> str:
        """Return what a command prints; raise CatenaError with its message where it fails."""
        try:
            done = subprocess.run(
                [sys.executable, "-m", "catena.cli._confined", str(self.folder), *words],
                capture_output=True,
                text=True,
                timeout=self.seconds,
                stdin=subprocess.DEVNULL,
                env={**os.environ, "COLUMNS": "140", "MPLBACKEND": "agg"},
            )
        except subprocess.TimeoutExpired:
            raise CatenaError(
                f"catena {' '.join(words)} took more than {self.seconds:g} s and was stopped; ask"
                " for less, or start the server with a larger --seconds"
            ) from None
        said = done.stderr.strip()
        if done.returncode not in (0, 1):
            raise CatenaError(said.removeprefix("catena: ") or f"exit status {done.returncode}")
        text = "\n".join(x for x in (done.stdout.rstrip(), said) if x)
        if len(text) > LONGEST_ANSWER:
            text = text[:LONGEST_ANSWER] + f"\n... {len(text) - LONGEST_ANSWER} more letters"
        return text

    # --- the tools; their docstrings are what a language model reads
    def models(self) -> str:
        """List the models and results of the folder, and the names of the built-in examples."""
        paths = sorted(p for p in self.folder.rglob("*") if p.suffix in {*MODELS, ".nc"})
        own = [str(p.relative_to(self.folder)) for p in paths[:500]]
        return "files:\n" + "\n".join(own or ["none"]) + "\n\nexamples:\n" + self.run("examples")

    def load(self, file: str, text: str = "") -> str:
        """Read a model and describe it, or say what is wrong with it. With `text`, write that text
        (TOML of catena, URDF, MJCF or SDF) to the file first. The file of an example, `catena
        examples NAME`, shows the format; units are written as in length = "40 cm".
        """
        if text:
            path = self.inside(file)
            if path.suffix not in MODELS:
                raise CatenaError(f"{file!r} is no model; write models as NAME.toml")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return self.run("info", self.place(file))

    def example(self, name: str) -> str:
        """Show the file of a built-in example, as a pattern for a new model."""
        return self.run("examples", self.place(name))

    def info(self, file: str, mapping: bool = False) -> str:
        """Describe a mechanism: bodies, joints, coordinates, mass, freedoms, and a check of forward
        against inverse dynamics. mapping: what was read of a file of another program, and what not.
        """
        return self.run("info", self.place(file), *(["--mapping"] if mapping else []))

    def simulate(
        self,
        file: str,
        until: str = "",
        q: Mapping[str, str] | None = None,
        parameters: Mapping[str, str] | None = None,
        control: str = "",
        out: str = "run",
    ) -> str:
        """Simulate a model as its [scenario] says, and return the ledger of the accuracy and the
        travel of each coordinate; rows go into the folder `out`, for `values` and `picture`. until:
        such as "5 s". q: the start, such as {"elbow": "30 deg"}. parameters: such as {"l1": "40
        cm"}. control: "hold" for PD with gravity compensation about the start, or "none".
        """
        words = [
            "run",
            self.place(file),
            "--out",
            str(self.inside(out)),
            "--force",
            "--no-pictures",
        ]
        words += ["--until", until] if until else []
        words += ["--control", control] if control else []
        for name, value in (q or {}).items():
            words += ["--q", f"{name}={value}"]
        for name, value in (parameters or {}).items():
            words += ["--set", f"{name}={value}"]
        return self.run(*words)

    def values(self, results: str, rows: int = 50) -> str:
        """Return rows of a result as comma-separated values in SI units, at equal distances in
        time: coordinates (q), speeds (v), accelerations (a), forces (tau) and energies.
        """
        with tempfile.TemporaryDirectory() as folder:
            words = ("export", self.place(results), "--to", "csv", "--out", folder)
            path = Path(self.run(*words).splitlines()[0])
            head, *lines = path.read_text(encoding="utf-8").splitlines()
        every = max(1, -(-len(lines) // min(max(rows, 2), MOST_ROWS)))
        return "\n".join([head, *lines[:-1:every], lines[-1]])

    def derive(self, file: str, by: str = "lagrange", form: str = "text") -> str:
        """Write the equations of motion by one formulation: lagrange, kane, newton_euler, hamilton,
        gibbs_appell and others. form: text, latex, python or c.
        """
        return self.run("equations", self.place(file), "--by", by, "--form", form)

    def check(self, file: str) -> str:
        """Certify that all formulations of the equations of motion agree on this mechanism."""
        return self.run("check", self.place(file))

    def picture(self, file: str, plot: str = "") -> bytes:
        """Return a picture: of a mechanism; or of a result (the folder of `simulate`), a plot such
        as overview, coordinates, energies, phase or paths.
        """
        place = self.place(file)
        with tempfile.TemporaryDirectory() as folder:
            out = str(Path(folder) / "picture.png")
            if plot or Path(place).is_dir() or place.endswith(".nc"):
                self.run("plot", place, "--what", plot or "overview", "--out", out)
            else:
                self.run("drawing", place, out)
            return Path(out).read_bytes()


TOOLS = ("models", "load", "example", "info", "simulate", "values", "derive", "check", "picture")
