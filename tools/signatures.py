"""Write or compare the signatures of the public names of catena.

    python tools/signatures.py --write      write tests/reference/public_signatures.txt
    python tools/signatures.py              compare; exit status 1 where they differ

The file is the promise of semantic versioning: whoever changes it changes what users rely on, and
says so in CHANGELOG.md.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path

FILE = Path(__file__).parent.parent / "tests" / "reference" / "public_signatures.txt"


def signatures() -> Iterator[str]:
    """Yield a line for each public function, class and public method: its name and signature."""
    import catena

    for name in sorted(catena.__all__):
        value = getattr(catena, name)
        if inspect.isfunction(value):
            yield f"{name}{inspect.signature(value)}"
        elif inspect.isclass(value):
            yield f"{name}{_of_class(value)}"
            for method in sorted(vars(value)):
                made = inspect.getattr_static(value, method)
                bare = getattr(made, "__func__", made)
                if not method.startswith("_") and inspect.isfunction(bare):
                    yield f"{name}.{method}{inspect.signature(bare)}"


def _of_class(value: type) -> str:
    """Return the signature of a class, or nothing where it takes any arguments."""
    try:
        return str(inspect.signature(value))
    except ValueError:
        return "(...)"


def main(arguments: list[str]) -> int:
    """Write or compare; return the exit status."""
    found = "\n".join(signatures()) + "\n"
    if "--write" in arguments:
        FILE.write_text(found, encoding="utf-8")
        return 0
    known = FILE.read_text(encoding="utf-8")
    changed = set(known.splitlines()) ^ set(found.splitlines())
    for line in sorted(changed):
        print(("removed: " if line in known.splitlines() else "added: ") + line)
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
