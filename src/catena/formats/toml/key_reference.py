"""The page of every key of a file, from the records of its tables: docs/file_keys.md."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .keys import TABLES, FileKey, FileTable

HEAD = """# Every key of a file

Made of the records by which files are read: `catena schema --form markdown`. [Files](file_format.md) explains them with examples.
A number without unit is in the unit of its row; a text may carry another one, `"30 cm"`. A *quantity* has the unit of what it belongs to.
In the column of defaults, *none* means that nothing is there unless it is given. An unknown key is a fault, with the nearest known one.

Editors complete and check files by a [JSON Schema](howto/editor.md) that is made of the same records.
"""  # noqa: E501
ROW = "| key | meaning | what may stand there | unit | default |\n|---|---|---|---|---|"


def markdown() -> str:
    """Return the page, with every registered table."""
    return "\n".join([HEAD, *(line for table in TABLES.values() for line in _section(table))])


def _section(table: FileTable) -> Iterator[str]:
    yield (
        f"(keys-of-{table.name.replace('.', '').replace(' ', '-').replace('_', '-')})=\n##"
        f" {table.name}\n\n`{table.heading}`: {table.doc}\n"
    )
    if table.alternatives:
        yield (
            "Exactly one of"
            f" {', '.join(' with '.join(f'`{key}`' for key in group) for group in table.alternatives)}"  # noqa: E501
            " is given.\n"
        )
    if table.keys:
        yield from _rows(table.keys)
    for kind in table.kinds() if table.kinds else ():
        remark = " (the default)" if kind.name == table.usual else ""
        yield (
            f'### {table.name}: {kind.name}\n\n`{table.word} = "{kind.name}"`{remark}:'
            f" {kind.doc}.\n"
        )
        if kind.alternatives:
            yield (
                "Exactly one of"
                f" {', '.join(' with '.join(f'`{key}`' for key in group) for group in kind.alternatives)}"  # noqa: E501
                " is given.\n"
            )
        if kind.keys:
            yield from _rows(kind.keys)
    if table.otherwise is not None:
        yield f"Without `{table.word}`: {table.otherwise.words()}, {table.otherwise.unit()}.\n"


def _rows(keys: Iterable[FileKey]) -> Iterator[str]:
    yield ROW
    for key in keys:
        usual = (
            f"needed by {', '.join(key.kinds())}, and only there"
            if key.kinds is not None
            else key.usual()
        )
        yield f"| `{key.name}` | {key.doc} | {key.type.words()} | {key.type.unit()} | {usual} |"
    yield ""
