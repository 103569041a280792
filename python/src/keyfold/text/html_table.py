"""Tables as HTML, with all text escaped."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from html import escape

import pyarrow as pa  # type: ignore[import-untyped]

from keyfold.text.arrow_values import to_python


def html_table(
    names: Sequence[str], rows: Iterable[Sequence[str]], right: Collection[int] = ()
) -> str:
    """A `table` with a heading; the columns `right` are aligned right, for numbers."""
    body = "".join(_row("td", row, right) for row in rows)
    return f"<table><thead>{_row('th', names, right)}</thead><tbody>{body}</tbody></table>"


def html_of_arrow(table: pa.Table, most: int) -> str:
    """A `table` of the first rows of an Arrow table."""
    right = [
        number
        for number, field in enumerate(table.schema)
        if pa.types.is_integer(field.type) or pa.types.is_floating(field.type)
    ]
    columns = [to_python(column) for column in table.slice(0, most).columns]
    rows = [[_text(value) for value in row] for row in zip(*columns, strict=True)]
    return html_table(table.schema.names, rows, right)


def _text(value: object) -> str:
    return "null" if value is None else str(value)


def _row(tag: str, texts: Sequence[str], right: Collection[int]) -> str:
    cells = "".join(
        f'<{tag} style="text-align:{"right" if number in right else "left"}">{escape(text)}</{tag}>'
        for number, text in enumerate(texts)
    )
    return f"<tr>{cells}</tr>"
