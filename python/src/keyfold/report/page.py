"""One self-contained HTML page about a checkpoint."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from os import PathLike
from pathlib import Path

import pyarrow as pa  # type: ignore[import-untyped]

from keyfold.describe.batch_table import batch_table
from keyfold.describe.description import Description, html
from keyfold.errors import InvalidArgumentError, KeyfoldError, StorageError
from keyfold.inspection.inspector import Inspector
from keyfold.report import pictures
from keyfold.report.figure import is_installed
from keyfold.report.growth import Progress, sizes
from keyfold.storage.storage import Storage
from keyfold.text.html_table import html_of_arrow
from keyfold.text.units import size

_STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.45 system-ui, sans-serif; max-width: 1060px; margin: 24px auto; }
body { padding: 0 20px; }
h1 { font-size: 22px; overflow-wrap: anywhere; } h2 { font-size: 17px; margin: 32px 0 6px; }
h4 { margin: 18px 0 6px; } nav a { margin-right: 14px; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { padding: 3px 18px 3px 0; border-bottom: 1px solid #8a8f9833; vertical-align: top; }
th { font-weight: 600; } td { font-variant-numeric: tabular-nums; }
p.note { opacity: .75; margin: 0 0 8px; } svg { display: block; margin: 8px 0; }
"""

_KEYS = 10
# A few seconds, in bytes of files.
_MOST_READ = 256 << 20


@dataclass(frozen=True)
class _Section:
    title: str
    note: str
    content: str


def write_report(
    storage: Storage,
    described: Description,
    path: str | PathLike[str],
    progress: Progress | None = None,
) -> None:
    """Writes the page to a local file; raises ExtraMissingError and InvalidArgumentError."""
    # Before everything is read, which may take long.
    folder = Path(path).absolute().parent
    if not folder.is_dir():
        raise InvalidArgumentError(f"Cannot write {path}: there is no folder {folder}.")
    title = f"State of {described.path}"
    sections = [_Section("Summary", "", html(described)), *_figures(storage, described, progress)]
    links = "".join(f'<a href="#{it.title.lower()}">{it.title}</a>' for it in sections)
    body = "".join(
        f'<section><h2 id="{it.title.lower()}">{it.title}</h2>{_shown(it)}</section>'
        for it in sections
    )
    page = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head>'
        f"<body><h1>{escape(title)}</h1><nav>{links}</nav>{body}</body></html>\n"
    )
    try:
        Path(path).write_text(page, encoding="utf-8")
    except OSError as error:
        raise StorageError(
            f"Cannot write {path}: {error.strerror}. Name a file that you may write, on a disk "
            "with space."
        ) from error


def notebook(storage: Storage, described: Description) -> str:
    """The same for a notebook, without pictures where Matplotlib is not installed."""
    parts = [html(described)]
    if is_installed():
        found = _figures(storage, described, None)
        parts += [f"<h4>{it.title}</h4>{_shown(it)}" for it in found]
    return f'<div style="max-width:1060px">{"".join(parts)}</div>'


def _keys(inspector: Inspector, described: Description) -> _Section:
    """The heaviest keys, if it does not take long to read all rows."""
    if described.disk_bytes > _MOST_READ:
        note = (
            f"The state has {size(described.disk_bytes)}, which were not read. For the heaviest "
            "keys, run keyfold inspect with skew."
        )
        return _Section("Keys", note, "")
    try:
        heaviest = inspector.skew(top=_KEYS).keys.slice(0, _KEYS)
    except KeyfoldError as error:
        return _Section("Keys", str(error), "")
    note = "The keys with the most bytes in the last batch's state."
    return _Section("Keys", note, html_of_arrow(heaviest, _KEYS))


def _shown(it: _Section) -> str:
    note = f'<p class="note">{escape(it.note)}</p>' if it.note else ""
    return note + it.content


def _figures(
    storage: Storage, described: Description, progress: Progress | None
) -> Iterator[_Section]:
    """Each chart with a caption; the error instead if it cannot be drawn."""
    stores = sum(it.partitions * len(it.stores) for it in described.operators)
    if described.last_batch is None or not described.operators:
        return
    inspector = Inspector(storage)
    files = inspector.files()
    found = sizes(storage, stores, progress)
    if found:
        note = "Size of the state after each retained batch."
        yield _Section("Growth", note, pictures.growth(found))
    else:
        yield _Section("Growth", "No file has the size of the state.", "")
    try:
        spread = pictures.spread(inspector.partitions(), inspector.groups())
        note = "Distribution of the last batch's state over partitions and key groups."
        yield _Section("Spread", note, spread)
    except KeyfoldError as error:
        yield _Section("Spread", str(error), "")
    yield _keys(inspector, described)
    yield _Section(
        "Files",
        "Files of each partition. A task loads the newest snapshot, then the merged deltas and "
        "deltas after it.",
        pictures.timeline(files),
    )
    yield _Section(
        "Batches",
        "Duration of each batch, and when its state was durable.",
        pictures.durations(batch_table(storage).to_pylist(), _written(files)),
    )


def _written(files: pa.Table) -> dict[int, int]:
    """The time of the last delta of each batch, where it is known."""
    written: dict[int, int] = {}
    for row in files.select(["batch_id", "kind", "modified_ms"]).to_pylist():
        if row["kind"] == "delta" and row["modified_ms"] is not None:
            number = row["batch_id"]
            written[number] = max(written.get(number, 0), row["modified_ms"])
    return written
