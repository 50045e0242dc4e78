"""Journal: what the studio must not lose when its process ends: edits that were not saved, and the
address of its page.

There is one small file for each model, in the user's state folder, readable by that user alone. It
is written whole or not at all. The edits are gone from it once the model is saved.

    CATENA_STATE_DIR=/some/where    the folder, instead of the user's state folder
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import platformdirs

from ..errors import FormatError
from ..formats import files


def folder() -> Path:
    """Where journals are kept."""
    chosen = os.environ.get("CATENA_STATE_DIR", "").strip()
    home = chosen or platformdirs.user_state_dir("catena", appauthor=False)
    return Path(home) / "studio"


@dataclass
class Journal:
    """The journal of a model file. A folder that cannot be written means that nothing is kept."""

    model: Path
    held: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        with contextlib.suppress(FormatError, ValueError):
            found = json.loads(files.read(self.place))
            self.held = found if isinstance(found, dict) else {}

    @property
    def place(self) -> Path:
        """The file."""
        name = hashlib.sha256(str(self.model.resolve()).encode()).hexdigest()[:32]
        return folder() / f"{name}.json"

    # --- edits
    def keep(self, text: str, on_disk: str | None) -> None:
        """Keep a text that is not saved; one that is saved is taken out."""
        edits = None if text == on_disk else {"text": text, "disk": _digest(on_disk)}
        if self.held.get("edits") != edits:
            self._write(edits=edits)

    def edits(self, on_disk: str | None) -> tuple[str, bool] | None:
        """The text of an earlier session that was not saved, and whether the file is still what it
        was made from.
        """
        found = self.held.get("edits")
        if not isinstance(found, dict) or not isinstance(found.get("text"), str):
            return None
        if found["text"] == on_disk:
            return None
        return found["text"], found.get("disk") == _digest(on_disk)

    # --- the address
    def seat(self) -> tuple[int, str] | None:
        """The port and the token of the last session."""
        port, token = self.held.get("port"), self.held.get("token")
        if isinstance(port, int) and 0 < port < 65536 and isinstance(token, str) and token:
            return port, token
        return None

    def sit(self, port: int, token: str) -> None:
        """Keep the port and the token of this session."""
        self._write(port=port, token=token)

    def _write(self, **changes: Any) -> None:
        self.held = {"model": str(self.model.resolve()), **self.held, **changes}
        with contextlib.suppress(OSError, FormatError):
            self.place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.chmod(self.place.parent, 0o700)  # the token is the key to the page
            files.write(self.place, json.dumps(self.held))


def _digest(text: str | None) -> str | None:
    return None if text is None else hashlib.sha256(text.encode()).hexdigest()
