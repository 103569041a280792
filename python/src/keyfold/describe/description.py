"""What `Checkpoint.describe` returns."""

from __future__ import annotations

from dataclasses import dataclass

from rich.console import RenderableType

from keyfold.describe import html_report, text_report
from keyfold.describe.values import CheckpointValues


@dataclass(frozen=True)
class Description(CheckpointValues):
    """A checkpoint at one moment, as plain values. It can be printed, or shown in a notebook.

    Times are in ms since 1970, None if no log has them. `oldest_batch` is the oldest still in the
    batch log. `earlier_batches` are those before a migration.
    """

    def __str__(self) -> str:
        """A text of at most 80 columns, without colours."""
        return text_report.plain(self)

    def __rich__(self) -> RenderableType:
        """The text for a rich console."""
        return text_report.render(self)

    def _repr_html_(self) -> str:
        return html_report.render(self)
