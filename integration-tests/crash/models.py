"""What Spark's own operators must say and keep, in plain Python, batch by batch."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from kit.queries.builtin import GAP, WINDOW, window_of
from kit.queries.joins import REACH, matching
from kit.queries.processor import milliseconds
from kit.queries.rows import DELAY, Link, Row
from kit.queries.totals import Groups, Totals

Rows = list[tuple[Any, ...]]
# Rows of state by name of the table: a key, and a value.
Tables = Mapping[str, list[tuple[Any, Any]]]


@dataclass(frozen=True)
class Batch:
    """What a batch is given. Times are in ms.

    Rows at or before `late` come too late; what has ended at `over` is over. A batch that is not
    a query's but a rescale's does nothing at all.
    """

    rows: list[Row]
    links: list[Link]
    late: int
    over: int
    now: int

    @property
    def timely(self) -> list[Row]:
        return [row for row in self.rows if milliseconds(row.minute) > self.late]


class Model(ABC):
    """An operator: takes batches in their order."""

    @abstractmethod
    def take(self, batch: Batch) -> Rows:
        """What comes out of the next batch."""

    @abstractmethod
    def tables(self) -> Tables:
        """What is kept after the last batch."""

    def evolve(self, totals: Totals) -> None:
        """The query changes, and takes its state with it; only some can."""
        raise NotImplementedError


def totals(count: int, total: int, last: int, row: Row) -> tuple[int, int, int]:
    """Count, sum and greatest id with one row more."""
    return count + 1, total + row.value, max(last, row.id)


NOTHING = (0, 0, -(10**9))


class Aggregation(Model):
    """Totals by key, in update mode, of a query that changes."""

    def __init__(self) -> None:
        self._groups = Groups()

    def evolve(self, totals: Totals) -> None:
        self._groups.evolve(totals)

    def take(self, batch: Batch) -> Rows:
        return self._groups.take(batch.rows)

    def tables(self) -> Tables:
        return {"default": self._groups.rows()}


class Windows(Model):
    """Totals per key and window, in append mode."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, int], tuple[int, int, int]] = {}

    def take(self, batch: Batch) -> Rows:
        for row in batch.rows:
            key = row.key, window_of(row.minute)
            if _end(key) > batch.late:
                self._kept[key] = totals(*self._kept.get(key, NOTHING), row)
        over = [key for key in self._kept if _end(key) <= batch.over]
        return [(*key, *self._kept.pop(key)) for key in over]

    def tables(self) -> Tables:
        def whole(key: str, window: int) -> tuple[Any, ...]:
            return key, (milliseconds(window), milliseconds(window + WINDOW))

        return {"default": [(whole(*key), value) for key, value in self._kept.items()]}


def _end(key: tuple[str, int]) -> int:
    return milliseconds(key[1] + WINDOW)


class Deduplication(Model):
    """Each id once."""

    def __init__(self) -> None:
        self._kept: set[int] = set()

    def take(self, batch: Batch) -> Rows:
        new = {row.id: row for row in batch.rows if row.id not in self._kept}
        self._kept |= new.keys()
        return [(row.id, row.key, row.value, row.minute) for row in new.values()]

    def tables(self) -> Tables:
        return {"default": [((it,), (None,)) for it in self._kept]}


class DeduplicationWithin(Model):
    """Each id once, until the watermark has passed its first row by the delay."""

    def __init__(self) -> None:
        self._kept: dict[int, int] = {}

    def take(self, batch: Batch) -> Rows:
        new = {row.id: row for row in batch.timely if row.id not in self._kept}
        self._kept |= {row.id: milliseconds(row.minute + DELAY) for row in new.values()}
        self._kept = {it: end for it, end in self._kept.items() if end > batch.over}
        return [(row.id, row.key, row.value, row.minute) for row in new.values()]

    def tables(self) -> Tables:
        return {"default": [((it,), (end * 1000,)) for it, end in self._kept.items()]}


@dataclass(frozen=True)
class Session:
    """A session of a key, from its first minute to the gap after its last."""

    key: str
    start: int
    end: int
    count: int
    total: int

    def with_(self, it: "Session") -> "Session":
        start, end = min(self.start, it.start), max(self.end, it.end)
        return Session(self.key, start, end, self.count + it.count, self.total + it.total)


class Sessions(Model):
    """Count and sum of each session, in append mode."""

    def __init__(self) -> None:
        self._kept: list[Session] = []

    def take(self, batch: Batch) -> Rows:
        new = [Session(it.key, it.minute, it.minute + GAP, 1, it.value) for it in batch.rows]
        timely = [it for it in new if milliseconds(it.end) > batch.late]
        merged: list[Session] = []
        for it in sorted(self._kept + timely, key=lambda it: (it.key, it.start)):
            if merged and merged[-1].key == it.key and it.start <= merged[-1].end:
                merged[-1] = merged[-1].with_(it)
            else:
                merged.append(it)
        self._kept = [it for it in merged if milliseconds(it.end) > batch.over]
        over = [it for it in merged if milliseconds(it.end) <= batch.over]
        return [(it.key, it.start, it.end, it.count, it.total) for it in over]

    def tables(self) -> Tables:
        def value(it: Session) -> tuple[Any, ...]:
            times = milliseconds(it.start), milliseconds(it.end)
            return times, it.key, it.count, it.total

        return {"default": [((it.key, milliseconds(it.start)), value(it)) for it in self._kept]}


class InnerJoin(Model):
    """Rows with the links of the half hour after them."""

    def __init__(self) -> None:
        self._rows: list[tuple[Row, list[bool]]] = []
        self._links: list[Link] = []

    def take(self, batch: Batch) -> Rows:
        found: Rows = []
        for row in batch.timely:
            partners = [link for link in self._links if matching(row, link)]
            found += [_pair(row, link) for link in partners]
            # Also a row that is over: links of this batch may be its partners.
            self._rows.append((row, [bool(partners)]))
        for link in batch.links:
            if milliseconds(link.minute) <= batch.late:
                continue
            for row, matched in self._rows:
                if matching(row, link):
                    matched[0] = True
                    found.append(_pair(row, link))
            self._links.append(link)
        self._links = [it for it in self._links if milliseconds(it.minute) >= batch.over]
        over = [it for it in self._rows if _row_is_over(it[0], batch)]
        self._rows = [it for it in self._rows if not _row_is_over(it[0], batch)]
        return found + self._alone([row for row, matched in over if not matched[0]])

    def _alone(self, _rows: list[Row]) -> Rows:
        return []

    def tables(self) -> Tables:
        return {
            "left": [((it.id,), (it.id, milliseconds(it.minute))) for it, _ in self._rows],
            "right": [((it.ref,), (it.ref, milliseconds(it.minute))) for it in self._links],
        }


class LeftJoin(InnerJoin):
    """The same, with rows that have no link."""

    def _alone(self, rows: list[Row]) -> Rows:
        return [(row.id, row.minute, None, None) for row in rows]


def _row_is_over(row: Row, batch: Batch) -> bool:
    return milliseconds(row.minute + REACH) < batch.over


def _pair(row: Row, link: Link) -> tuple[Any, ...]:
    return row.id, row.minute, link.ref, link.minute


def by_key(
    rows: Iterable[Row], of: Callable[[Row], Any] = lambda row: row.key
) -> dict[Any, list[Row]]:
    """Rows by their key, in their order."""
    found: dict[Any, list[Row]] = {}
    for row in rows:
        found.setdefault(of(row), []).append(row)
    return found
