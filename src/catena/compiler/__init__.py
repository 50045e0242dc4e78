"""From a mechanism to machine code: tracing, the LLVM back-end with lanes, the disk cache, and the Machine in front of them."""

from __future__ import annotations

from typing import Any


def compile(mechanism: Any, **options: Any) -> Any:
    """A Machine for this mechanism."""
    from ..machine import compile as make

    return make(mechanism, **options)
