"""A description of a checkpoint, as text for a terminal and as HTML for a notebook."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from html import escape
from io import StringIO
from itertools import compress
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from keyfold.describe.values import OperatorDescription, Problem, StoreDescription
from keyfold.format.footer import total
from keyfold.schema.schema_file import DEFAULT_FAMILY
from keyfold.spark_log.migrated import Earlier
from keyfold.subtasks.declared import SUBTASK_OF
from keyfold.text.html_table import html_table
from keyfold.text.printable import printable
from keyfold.text.units import count, moment, plural, size, span

# Until each partition has loaded its rows.
_NOT_COUNTED = "rows not known before the next batch (a rescale reads none)"
_COLUMNS = (
    "store", "rows", "per partition", "live", "on disk", "deltas", "merged", "snaps", "refs",
)  # fmt: skip

_WIDTH = 80


@dataclass(frozen=True)
class Description:
    """A checkpoint at one moment, as plain values. It can be printed, or shown in a notebook.

    Times are in ms since 1970, None if no log has them. `query_id` is None if it cannot be read.
    `oldest_batch` is the oldest still in the batch log; it is the query's first only if it is 0.
    `earlier_batches` are those in the log from before a migration, whose state is another
    provider's; None if there are none.
    """

    path: str
    query_id: str | None
    provider: str | None
    last_batch: int | None
    last_batch_ms: int | None
    oldest_batch: int | None
    oldest_batch_ms: int | None
    operators: tuple[OperatorDescription, ...]
    problems: tuple[Problem, ...]
    earlier_batches: Earlier | None = None

    @property
    def rows(self) -> int | None:
        """Rows of all operators."""
        return total(operator.rows for operator in self.operators)

    @property
    def live_bytes(self) -> int | None:
        """Bytes of keys and values of all operators."""
        return total(store.live_bytes for it in self.operators for store in it.stores)

    @property
    def disk_bytes(self) -> int:
        """Bytes of the files of all operators."""
        return sum(store.disk_bytes for it in self.operators for store in it.stores)

    def to_dict(self) -> dict[str, Any]:
        """The same as values for JSON, with the totals."""
        totals = {"rows": self.rows, "live_bytes": self.live_bytes, "disk_bytes": self.disk_bytes}
        return asdict(self) | {"totals": totals}

    def __str__(self) -> str:
        """A text of at most 80 columns, without colours or trailing spaces."""
        console = Console(file=StringIO(), width=_WIDTH, color_system=None, legacy_windows=False)
        with console.capture() as capture:
            console.print(self)
        return "\n".join(line.rstrip() for line in capture.get().splitlines())

    def __rich__(self) -> RenderableType:
        """The text for a rich console."""
        lines = Table.grid(padding=(0, 2))
        lines.add_column(style="dim", no_wrap=True)
        lines.add_column(overflow="fold")
        for label, text in _summary(self):
            lines.add_row(Text(label), _text(text))
        parts: list[RenderableType] = [lines]
        for operator in self.operators:
            parts += [Text(), _text(_heading(operator), style="bold")]
            parts += [*map(_text, _notes(operator)), _grid(operator)]
        if self.problems:
            parts += [Text(), Text("Problems", style="bold red")]
        parts += [
            _text(f"- {problem.condition} {problem.path}: {problem.message}")
            for problem in self.problems
        ]
        return Group(*parts)

    def _repr_html_(self) -> str:
        return html(self)


def _summary(it: Description) -> list[tuple[str, str]]:
    """Label and text of each line above the operators."""
    rows = _NOT_COUNTED if it.rows is None else plural(it.rows, "row")
    live = "" if it.live_bytes is None else f"{size(it.live_bytes)} live, "
    state = f"{rows}, {live}{size(it.disk_bytes)} on disk"
    return [
        ("checkpoint", it.path),
        ("query", it.query_id or "not known: see `keyfold fsck`"),
        ("provider", it.provider or "not known yet"),
        ("last batch", _batch(it.last_batch, it.last_batch_ms, "none committed yet")),
        ("oldest batch", _batch(it.oldest_batch, it.oldest_batch_ms, "none in the log")),
        *([("migrated", str(it.earlier_batches))] if it.earlier_batches else []),
        ("state", state + (" (incomplete, see below)" if it.problems else "")),
    ]


def _heading(it: OperatorDescription) -> str:
    """One line about an operator."""
    parts = [f"Operator {it.id}, {it.name}: {plural(it.partitions, 'partition')}"]
    if it.key_groups is not None:
        parts.append(plural(it.key_groups, "key group"))
    parts.append(_versions(it))
    return ", ".join(parts)


def _notes(it: OperatorDescription) -> list[str]:
    """Lines about what is not so with every operator."""
    return [note for note in (_subtasks(it), _strays(it)) if note is not None]


def _subtasks(it: OperatorDescription) -> str | None:
    """A line about the state of an operator's subtasks; None if it is none of that kind."""
    families = {family.name: family for store in it.stores for family in store.families}
    own = next((name for name in families if name.startswith(SUBTASK_OF)), None)
    if own is None:
        return None
    states = (
        f"{name} ({plural(family.values, 'value')})"
        for name, family in sorted(families.items())
        if name not in {own, DEFAULT_FAMILY} and not family.internal
    )
    name = own.removeprefix(SUBTASK_OF)
    return f"{name}, {plural(families[own].rows, 'subtask')}: {', '.join(states)}"


def _strays(it: OperatorDescription) -> str | None:
    """A line about families whose rows do not follow their hash; None if there are none."""
    names = {family.name for store in it.stores for family in store.families if family.strays}
    if not names:
        return None
    return (
        f"rows are where Spark put them, not where their hash says, in: {', '.join(sorted(names))} "
        "(cannot be rescaled)"
    )


def _table(it: OperatorDescription) -> list[tuple[str, ...]]:
    """A heading and a row for each store; merged deltas and references only if there are any."""
    absent = {
        "merged": not any(store.merged_deltas for store in it.stores),
        "refs": not any(store.references for store in it.stores),
    }
    rows = [_COLUMNS, *(_cells(store) for store in it.stores)]
    shown = [not absent.get(name, False) for name in _COLUMNS]
    return [tuple(compress(row, shown)) for row in rows]


def _cells(it: StoreDescription) -> tuple[str, ...]:
    return (
        it.name,
        count(it.rows),
        span(it.min_partition_rows, it.max_partition_rows),
        size(it.live_bytes),
        size(it.disk_bytes),
        count(it.deltas),
        count(it.merged_deltas),
        count(it.snapshots),
        count(it.references),
    )


def _versions(it: OperatorDescription) -> str:
    oldest, newest = it.oldest_loadable_version, it.newest_loadable_version
    if it.latest_version is None:
        return "nothing committed yet"
    if oldest is None or newest is None:
        return f"version {it.latest_version} and all before it cannot be loaded"
    if newest == it.latest_version:
        return f"version {newest}" if oldest == newest else f"versions {oldest} to {newest}"
    return f"version {it.latest_version} cannot be loaded, {oldest} to {newest} can"


def _batch(number: int | None, started_ms: int | None, absent: str) -> str:
    return absent if number is None else f"{number}, started {moment(started_ms)}"


def html(it: Description) -> str:
    """The report as one `div`."""
    parts = [f"<table>{''.join(_line(*line) for line in _summary(it))}</table>"]
    for operator in it.operators:
        parts.append(f"<h4>{escape(_heading(operator))}</h4>")
        parts += [f"<p>{escape(note)}</p>" for note in _notes(operator)]
        names, *rows = _table(operator)
        parts.append(html_table(names, rows, right=range(1, len(names))))
    if it.problems:
        items = "".join(
            f"<li><b>{escape(problem.condition)}</b> {escape(problem.path)}: "
            f"{escape(problem.message)}</li>"
            for problem in it.problems
        )
        parts.append(f"<h4>Problems</h4><ul>{items}</ul>")
    return f"<div>{''.join(parts)}</div>"


def _line(label: str, text: str) -> str:
    left = 'style="text-align:left"'
    return f"<tr><th {left}>{escape(label)}</th><td {left}>{escape(text)}</td></tr>"


def _grid(operator: OperatorDescription) -> Table:
    names, *rows = _table(operator)
    grid = Table(box=None, padding=(0, 1, 0, 0), header_style="dim")
    for index, name in enumerate(names):
        grid.add_column(name, justify="right" if index else "left", overflow="fold")
    for row in rows:
        grid.add_row(*map(_text, row))
    return grid


def _text(text: str, style: str = "") -> Text:
    return Text(printable(text), style)
