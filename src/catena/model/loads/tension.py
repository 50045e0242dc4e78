"""A tension along a path of frames, as in a muscle, or in a rope that is pulled over pulleys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from ...spatial import scale
from .keys import Key, Load, Scene, doc, register
from .springs import stretch_between


@register
@dataclass(frozen=True)
class Tension(Load):
    """A tension (N), a number or an expression, along the straight lines between the origins of
    several frames; it slides freely over the inner ones.
    """

    kind = "tension"
    frames: tuple[str, ...] = field(
        metadata=Key("frames").of() | doc("through whose origins it goes")
    )
    tension: str | float = field(metadata=Key("expression", "force").of() | doc("N"))

    def faults(self, parameters: Mapping[str, float]) -> Iterator[str]:
        """Yield a fault where there are fewer than two frames, or where two equal frames follow
        each other.
        """
        if len(self.frames) < 2:
            yield f"it goes through {len(self.frames)} frames; a path has two ends"
        yield from (f"it goes from {a!r} to itself" for a, b in pairwise(self.frames) if a == b)

    def gaps(self) -> tuple[tuple[str, str], ...]:
        """Return the ends of each straight part, whose origins must not coincide."""
        return tuple(pairwise(self.frames))

    def act(self, s: Scene) -> None:
        """Apply the same tension at both ends of every straight part."""
        pull = s.text(self.name, self.tension)
        for a, b in pairwise(self.frames):
            gap, distance, _ = stretch_between(s, a, b)
            s.push(b, scale(-pull / distance, gap))
            s.push(a, scale(pull / distance, gap))
