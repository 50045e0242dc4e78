"""Mapping: a report on the elements of a file whose format can express more than a mechanism holds,
or other things.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

TAKEN = "taken"
APPROXIMATED = "approximated"
REFUSED = "refused"


@dataclass(frozen=True)
class Mapped:
    """The report on one element: its tag, its name, the outcome ("taken", "approximated",
    "refused"), and how or why.
    """

    element: str
    name: str
    outcome: str
    how: str = ""


@dataclass
class MappingReport:
    """The reports on the elements of a file, in the order in which they were read."""

    entries: list[Mapped] = field(default_factory=list)

    def take(self, element: str, name: str, how: str = "") -> None:
        """Record that the mechanism contains the element."""
        self.entries.append(Mapped(element, name, TAKEN, how))

    def approximate(self, element: str, name: str, how: str) -> None:
        """Record that the mechanism contains something close to the element."""
        self.entries.append(Mapped(element, name, APPROXIMATED, how))

    def refuse(self, element: str, name: str, why: str) -> None:
        """Record that the mechanism does not contain the element. The rest of the file is still
        read.
        """
        self.entries.append(Mapped(element, name, REFUSED, why))

    def notes(self) -> Iterator[str]:
        """Yield one sentence for each way in which elements were approximated or refused."""
        ways: dict[tuple[str, str, str], list[str]] = {}
        for e in self.entries:
            if e.outcome != TAKEN:
                ways.setdefault((e.element, e.outcome, e.how), []).append(e.name)
        for (element, outcome, how), names in ways.items():
            shown = ", ".join(n for n in names[:5] if n) + (
                f" and {len(names) - 5} more" if len(names) > 5 else ""
            )
            yield f"{element}{' ' + shown if shown else ''}: {outcome}, {how}"
