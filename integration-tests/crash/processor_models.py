"""What processors must say and keep, in plain Python, batch by batch."""

from collections import Counter
from typing import Any

from crash.models import Batch, Model, Rows, Tables, by_key
from crash.processor import values_of
from kit.queries.processor import CENTURY_MS, HOUR, listed, milliseconds, part_of

TIMER_MS = 10_000


class Processed(Model):
    """Of `processor.Everything`."""

    def __init__(self) -> None:
        self._totals: dict[str, tuple[int, int]] = {}
        self._values: dict[str, list[int]] = {}
        self._parts: dict[str, dict[int, int]] = {}
        self._hours: Counter[tuple[str, int]] = Counter()

    def take(self, batch: Batch) -> Rows:
        found: Rows = []
        for key, rows in by_key(sorted(batch.timely)).items():
            values = self._values.setdefault(key, [])
            values += [value for row in rows for value in values_of(key, row.value)]
            count, total = self._totals.get(key, (0, 0))
            self._totals[key] = count + len(rows), total + sum(row.value for row in rows)
            parts = self._parts.setdefault(key, {})
            for row in rows:
                part = part_of(row.id)
                if row.value % 10 == 0:
                    parts.pop(part, None)
                else:
                    parts[part] = parts.get(part, 0) + 1
            self._hours.update((key, row.minute // HOUR) for row in rows)
            found.append((key, *self._totals[key], sum(values), listed(parts.items()), -1))
        over = [it for it in self._hours if milliseconds((it[1] + 1) * HOUR) <= batch.over]
        return found + [(key, self._hours.pop((key, hour)), 0, 0, "", hour) for key, hour in over]

    def tables(self) -> Tables:
        return {
            "totals": [((key,), it) for key, it in self._totals.items()],
            "values": [((key,), (value,)) for key, its in self._values.items() for value in its],
            "parts": [
                (((key,), (part,)), (rows,))
                for key, parts in self._parts.items()
                for part, rows in parts.items()
            ],
            "hours": [(((key,), (hour,)), (rows,)) for (key, hour), rows in self._hours.items()],
            "timers": [((key,), milliseconds((hour + 1) * HOUR)) for key, hour in self._hours],
        }


class Forgetful(Model):
    """Of `processors.Forgetful`: what is to be forgotten at once is there for a batch."""

    def __init__(self) -> None:
        self._totals: dict[str, tuple[int, int]] = {}
        self._parts: dict[tuple[str, int], tuple[int, int]] = {}
        self._last: dict[str, list[Any]] = {}
        self._now = 0

    def take(self, batch: Batch) -> Rows:
        self._last, self._now = by_key(sorted(batch.rows)), batch.now
        century = batch.now + CENTURY_MS
        found: Rows = []
        for key, rows in self._last.items():
            total = self._totals.get(key, (0, 0))[0] + sum(row.value for row in rows)
            self._totals[key] = total, century
            for row in rows:
                part = key, part_of(row.id)
                self._parts[part] = self._parts.get(part, (0, 0))[0] + 1, century
            parts = listed((it[1], rows) for it, (rows, _) in self._parts.items() if it[0] == key)
            found.append((key, total, parts, 0))
        return found

    def tables(self) -> Tables:
        end = self._now + 1
        return {
            "total": [((key,), ((it,), century)) for key, (it, century) in self._totals.items()],
            "parts": [
                (((key,), (part,)), ((rows,), century))
                for (key, part), (rows, century) in self._parts.items()
            ],
            "goneValue": [((key,), ((its[-1].value,), end)) for key, its in self._last.items()],
            "goneList": [
                ((key,), ((it.value,), end)) for key, its in self._last.items() for it in its
            ],
            "goneMap": [
                (((key,), (it,)), ((value,), end))
                for key, its in self._last.items()
                for it, value in {row.id: row.value for row in its}.items()
            ],
        }


class EventCounts(Model):
    """Of Scala's `EventCounts.Everything`."""

    def __init__(self) -> None:
        self._seconds: dict[str, list[int]] = {}
        self._timers: set[tuple[str, int]] = set()

    def take(self, batch: Batch) -> Rows:
        found: Rows = []
        for key, rows in by_key(batch.timely).items():
            seconds = self._seconds.setdefault(key, [])
            seconds += [milliseconds(row.minute) // 1000 for row in rows]
            self._timers |= {(key, milliseconds(row.minute) + TIMER_MS) for row in rows}
            said = f"{key} {len(seconds)} {_joined(seconds)} {_joined(set(seconds))}"
            found.append((said,))
        over = {it for it in self._timers if it[1] <= batch.over}
        self._timers -= over
        return found + [(f"timer {key} {at}",) for key, at in over]

    def tables(self) -> Tables:
        its = self._seconds.items()
        return {
            "count": [((key,), (len(seconds),)) for key, seconds in its],
            "list": [((key,), (second,)) for key, seconds in its for second in seconds],
            "map": [
                (((key,), (second,)), (key,)) for key, seconds in its for second in set(seconds)
            ],
            "timers": [((key,), at) for key, at in self._timers],
        }


def _joined(seconds: Any) -> str:
    return ",".join(sorted(map(str, seconds)))
