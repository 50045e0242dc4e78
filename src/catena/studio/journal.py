"""Journal: data that survive the end of the studio's process: unsaved edits, and the address of its
page.

There is one small file per model in the user's state folder, readable by that user alone and
written atomically. The edits are removed from it once the model is saved.

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
    """Return the folder of the journals."""
    chosen = os.environ.get("CATENA_STATE_DIR", "").strip()
    home = chosen or platformdirs.user_state_dir("catena", appauthor=False)
    return Path(home) / "studio"


@dataclass
class Journal:
    """The journal of a model file. If its folder cannot be written, nothing is stored."""

    model: Path
    held: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        with contextlib.suppress(FormatError, ValueError):
            found = json.loads(files.read(self.place))
            self.held = found if isinstance(found, dict) else {}

    @property
    def place(self) -> Path:
        """The file of the journal."""
        name = hashlib.sha256(str(self.model.resolve()).encode()).hexdigest()[:32]
        return folder() / f"{name}.json"

    # --- edits
    def keep(self, text: str, on_disk: str | None) -> None:
        """Store a text that is not saved yet; delete the entry if the text equals the file on
        disk.
        """
        edits = None if text == on_disk else {"text": text, "disk": _digest(on_disk)}
        if self.held.get("edits") != edits:
            self._write(edits=edits)

    def edits(self, on_disk: str | None) -> tuple[str, bool] | None:
        """Return the unsaved text of an earlier session, and whether the file on disk is still its
        base.
        """
        found = self.held.get("edits")
        if not isinstance(found, dict) or not isinstance(found.get("text"), str):
            return None
        if found["text"] == on_disk:
            return None
        return found["text"], found.get("disk") == _digest(on_disk)

    # --- the address
    def last_address(self) -> tuple[int, str] | None:
        """Return the port and the token of the last session; None where they are not known."""
        port, token = self.held.get("port"), self.held.get("token")
        if isinstance(port, int) and 0 < port < 65536 and isinstance(token, str) and token:
            return port, token
        return None

    def store_address(self, port: int, token: str) -> None:
        """Store the port and the token of this session."""
        self._write(port=port, token=token)

    def _write(self, **changes: Any) -> None:
        """Update the journal and write its file, where that is possible."""
        self.held = {"model": str(self.model.resolve()), **self.held, **changes}
        with contextlib.suppress(OSError, FormatError):
            self.place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.chmod(self.place.parent, 0o700)  # the token is the key to the page
            files.write(self.place, json.dumps(self.held))


def _digest(text: str | None) -> str | None:
    """Return the SHA-256 digest of a text, None for None."""
    return None if text is None else hashlib.sha256(text.encode()).hexdigest()
