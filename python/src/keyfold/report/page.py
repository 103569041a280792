"""One page of HTML about a checkpoint, which needs nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from os import PathLike
from pathlib import Path

from keyfold import html_report
from keyfold.batch_table import batch_table
from keyfold.description import Description
from keyfold.errors import KeyfoldError
from keyfold.inspection.inspector import Inspector
from keyfold.report import pictures
from keyfold.report.figure import is_installed
from keyfold.report.growth import Progress, sizes
from keyfold.storage import Storage

_STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.45 system-ui, sans-serif; max-width: 1060px; margin: 24px auto; }
body { padding: 0 20px; }
h1 { font-size: 22px; } h2 { font-size: 17px; margin: 28px 0 6px; }
h4 { margin: 18px 0 6px; } table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { padding: 3px 14px 3px 0; border-bottom: 1px solid #8a8f9833; vertical-align: top; }
th { font-weight: 600; } p.note { opacity: .7; }
"""


def write_report(
    storage: Storage,
    described: Description,
    path: str | PathLike[str],
    progress: Progress | None = None,
) -> None:
    """Writes the page to a local file; raises ExtraMissingError and OSError."""
    title = f"State of {described.path}"
    body = "".join(
        f"<h2>{escape(name)}</h2>{content}"
        for name, content in [
            ("Summary", html_report.render(described)),
            *figures(storage, described, progress),
        ]
    )
    page = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head>'
        f"<body><h1>{escape(title)}</h1>{body}</body></html>\n"
    )
    Path(path).write_text(page, encoding="utf-8")


def notebook(storage: Storage, described: Description) -> str:
    """The same for a notebook, without pictures where Matplotlib is not installed."""
    parts = [html_report.render(described)]
    if is_installed():
        parts += [f"<h4>{escape(it[0])}</h4>{it[1]}" for it in figures(storage, described, None)]
    return f'<div style="max-width:1060px">{"".join(parts)}</div>'


def figures(
    storage: Storage, described: Description, progress: Progress | None
) -> Iterator[tuple[str, str]]:
    """Title and content of each picture; what cannot be read is said instead."""
    stores = sum(it.partitions * len(it.stores) for it in described.operators)
    if described.last_batch is None or not described.operators:
        return
    inspector = Inspector(storage)
    files = inspector.files()
    yield "Growth", pictures.growth(sizes(storage, stores, progress))
    try:
        yield "Spread", pictures.spread(inspector.partitions(), inspector.groups())
    except KeyfoldError as error:
        yield "Spread", f"<p class='note'>{escape(str(error))}</p>"
    yield "Files", pictures.timeline(files)
    yield "Batches", pictures.durations(batch_table(storage), files)
