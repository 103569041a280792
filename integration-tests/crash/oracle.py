"""Compares what a checkpoint holds, and what came out, with what the model says."""

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from datetime import datetime
from pathlib import Path
from typing import Any

import keyfold
from crash.history import History
from crash.models import Tables
from crash.spark_driver import CrashError
from crash.world import World
from keyfold.table.state_table import StateTable

MOST_BATCHES = 3
MOST_KEYS = 3
SHOWN = 5
SESSION = "session_window"


class Oracle:
    """Checks one query's batches and state; what was compared is counted."""

    def __init__(self, world: World, counts: Counter[str]) -> None:
        self._world = world
        self._counts = counts

    def check(self, history: History, chance: random.Random) -> None:
        """Everything that came out, and the state after the last and some other batches."""
        kept = self._kept(history)
        last = history.last_committed
        if last < 0 or self._world.provider:
            return
        retained = history.retained()
        others = [it for it in retained if it != last]
        picked = {last, *chance.sample(others, min(len(others), MOST_BATCHES - 1))}
        self.check_state(history.checkpoint, {it: kept[it] for it in picked}, chance)

    def check_sink(self, history: History, rows: Iterable[Sequence[Any]]) -> None:
        """All that a sink has: it may have the batch that the query has begun and not committed."""
        model, committed = self._world.kind.model(), history.last_committed
        expected: list[tuple[Any, ...]] = []
        found = list(map(sorted_text, map(tuple, rows)))
        for number, batch in history.batches():
            more = [] if batch is None else model.take(batch)
            if number > committed and Counter(found) == Counter(expected):
                break
            expected += more
            if number in history.evolved:
                model.evolve(history.evolved[number])
        self._same(f"the sink after batch {committed}", found, expected)
        self._counts["rows in sinks"] += len(found)

    def kept(self, history: History, batch: int) -> Tables:
        """What the state is to be after a committed batch."""
        return self._kept(history)[batch]

    def check_state(
        self, checkpoint: Path, kept: Mapping[int, Tables], chance: random.Random
    ) -> None:
        """Rows, keys, counts, differences and files of a checkpoint's state after batches."""
        opened = keyfold.open_checkpoint(checkpoint)
        damage = [it for it in opened.fsck(deep=True).findings if it.is_damage]
        if damage:
            raise CrashError("fsck finds damage:\n" + "\n".join(map(str, damage)))
        description = opened.describe()
        if description.problems:
            raise CrashError(f"describe finds {description.problems}")
        stores = description.operators[0].stores
        families = {family.name: family.rows for store in stores for family in store.families}
        operator = opened[0]
        last = max(kept)
        for name in kept[last]:
            table = operator[name]
            for batch, tables in kept.items():
                self._same(f"table {name} after batch {batch}", of(table, batch), tables[name])
            self._check_keys(table, kept[last][name], last, chance)
            rows = families.get(name)
            if rows is not None and table.kind in {"rows", "list", "map"}:
                keys = len({key for key, _ in kept[last][name]})
                if rows != keys:
                    raise CrashError(f"describe counts {rows} rows in {name}, there are {keys}")
            if len(kept) > 1 and table.kind != "join side":
                self._check_difference(table, min(kept), last, kept)

    def _kept(self, history: History) -> dict[int, Tables]:
        """The model's state after each committed batch; what came out is compared on the way."""
        model, found = self._world.kind.model(), {}
        for number, batch in history.batches():
            if batch is not None:
                rows = history.rows_of(number)
                expected = model.take(batch)
                if rows is not None:
                    self._same(f"batch {number} wrote", map(sorted_text, rows), expected)
                    self._counts["rows written"] += len(rows)
            if number in history.evolved:
                model.evolve(history.evolved[number])
            if number <= history.last_committed:
                found[number] = deepcopy(model.tables())
        return found

    def _check_keys(
        self, table: StateTable, kept: list[tuple[Any, Any]], batch: int, chance: random.Random
    ) -> None:
        """Some keys one by one, and one that is not there."""
        rows = table.scan(batch=batch).to_arrow().to_pylist()
        for row in chance.sample(rows, min(len(rows), MOST_KEYS)):
            name = plain(row["key"])
            found = map(plain_row, table.get(row["key"], batch).to_pylist())
            self._same(
                f"key {name} of {table.name}", found, [it for it in kept if outer(it) == name]
            )
            other = {it: absent(value) for it, value in row["key"].items()}
            if table.get(other, batch).num_rows:
                raise CrashError(f"{table.name} has rows of {other}, which was never there")

    def _check_difference(
        self, table: StateTable, before: int, after: int, kept: Mapping[int, Tables]
    ) -> None:
        old, new = (by_key(kept[it][table.name], table.kind) for it in (before, after))
        expected = [("inserted", key) for key, _ in new.keys() - old.keys()]
        expected += [("deleted", key) for key, _ in old.keys() - new.keys()]
        expected += [
            ("updated", key) for key, at in new.keys() & old.keys() if new[key, at] != old[key, at]
        ]
        rows = table.diff(before, after).to_pylist()
        found = [(row["change"], plain_row(row)[0]) for row in rows]
        self._same(f"changes of {table.name} from batch {before} to {after}", found, expected)

    def _same(self, what: str, found: Iterable[Any], expected: Iterable[Any]) -> None:
        is_, must = Counter(found), Counter(expected)
        self._counts["comparisons"] += 1
        self._counts["rows compared"] += is_.total()
        lost, invented = must - is_, is_ - must
        if lost or invented:
            said = [
                f"{how} {its.total()}: {sorted(its.elements(), key=str)[:SHOWN]}"
                for how, its in (("lost", lost), ("invented", invented))
            ]
            raise CrashError(f"{what}: of {must.total()} rows " + "; ".join(said))


def of(table: StateTable, batch: int) -> list[tuple[Any, Any]]:
    return [plain_row(row) for row in table.scan(batch=batch).to_arrow().to_pylist()]


def plain_row(row: Mapping[str, Any]) -> tuple[Any, Any]:
    """Key and value of a row of any table."""
    key = plain(row["key"])
    if "user_map_key" in row:
        return (key, plain(row["user_map_key"])), plain(row.get("user_map_value"))
    if "expiration_timestamp_ms" in row:
        return key, row["expiration_timestamp_ms"]
    value = row["list_element"] if "list_element" in row else row.get("value")
    # Spark puts a session first or behind its key, as its numbering of columns happens to be.
    if isinstance(value, Mapping) and SESSION in value:
        value = {SESSION: value[SESSION], **value}
    return key, plain(value)


def plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return tuple(map(plain, value.values()))
    if isinstance(value, datetime):
        return round(value.timestamp() * 1000)
    return value


def outer(row: tuple[Any, Any]) -> Any:
    """The grouping key of a row: of a map's it is the first part of its key."""
    key = row[0]
    return key[0] if key and isinstance(key[0], tuple) else key


def absent(value: Any) -> Any:
    """Part of a key that is not there."""
    if isinstance(value, str):
        return f"{value} is not there"
    return -987_654_321 if isinstance(value, int) else value


def by_key(rows: Iterable[tuple[Any, Any]], kind: str) -> dict[tuple[Any, Any], Any]:
    """What each key has; to a timer's belongs its time."""
    found = defaultdict(list)
    for key, value in rows:
        found[key, value if kind == "timers" else None].append(value)
    return {key: sorted(values, key=str) for key, values in found.items()}


def sorted_text(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """A row with the numbers that Scala's processor lists in the order of its input sorted."""
    if len(row) != 1 or row[0].startswith("timer"):
        return row
    key, count, *lists = row[0].split(" ")
    lists = [",".join(sorted(it.split(","))) for it in lists]
    return (" ".join([key, count, *lists]),)
