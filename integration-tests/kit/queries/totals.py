"""A count by key whose keys and aggregates change while its query goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from random import Random
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from kit.queries.rows import Row

# By name: the aggregate, what it is of one row, and of two groups together.
_SPARKS: dict[str, Callable[[], Column]] = {
    "count": lambda: f.count("*"),
    "total": lambda: f.sum("value"),
    "last": lambda: f.max("id"),
    "first": lambda: f.min("id"),
}
_OF_ROW: dict[str, Callable[[Row], int]] = {
    "count": lambda _: 1,
    "total": lambda row: row.value,
    "last": lambda row: row.id,
    "first": lambda row: row.id,
}
_TOGETHER: dict[str, Callable[[int, int], int]] = {
    "count": lambda a, b: a + b,
    "total": lambda a, b: a + b,
    "last": max,
    "first": min,
}
_COLUMNS = ("key", "value", *_SPARKS)
_DROPS_A_KEY = 0.3
Key = tuple[str | int, ...]
Group = dict[str, int | None]


@dataclass(frozen=True)
class Totals:
    """The query at one time: what it groups by and what it computes, in the order of its state."""

    keys: tuple[str, ...] = ("key", "value")
    aggregates: tuple[str, ...] = ("count", "total", "last")

    def changed(self, chance: Random) -> Totals:
        """Another by chance; a key that was dropped stays away."""
        keys = chance.sample(self.keys, len(self.keys))
        if chance.random() < _DROPS_A_KEY:
            keys = keys[:1]
        chosen = chance.sample(list(_SPARKS), chance.randint(1, len(_SPARKS)))
        # Spark computes them in the order of the output.
        return Totals(tuple(keys), tuple(it for it in _SPARKS if it in chosen))

    def question(self, stream: DataFrame) -> DataFrame:
        """Its output has the same columns whatever it is."""
        totals = [_SPARKS[it]().alias(it) for it in self.aggregates]
        counts = stream.groupBy(*self.keys).agg(*totals)
        types = dict.fromkeys(_COLUMNS, "bigint") | {"key": "string"}
        return counts.select(
            *(
                f.col(it) if it in counts.columns else f.lit(None).cast(types[it]).alias(it)
                for it in _COLUMNS
            )
        )

    def key(self, row: Row) -> Key:
        return tuple(getattr(row, it) for it in self.keys)

    def with_row(self, group: Group | None, row: Row) -> Group:
        """A group, None if it is new, with one row more."""
        return self.together(group, {it: _OF_ROW[it](row) for it in self.aggregates})

    def together(self, a: Group | None, b: Group) -> Group:
        """Two groups that become one, the first perhaps None."""
        found: Group = {}
        for it in self.aggregates:
            known = [n for group in (a or {}, b) if (n := group.get(it)) is not None]
            found[it] = reduce(_TOGETHER[it], known) if known else None
        return found

    def carried(self, group: Group) -> Group:
        """What it takes of a group of the query before; new aggregates start empty."""
        empty: Group = {it: 0 if it == "count" else None for it in self.aggregates}
        return empty | {it: group[it] for it in self.aggregates if it in group}

    def output(self, key: Key, group: Group) -> tuple[str | int | None, ...]:
        known = dict(zip(self.keys, key, strict=True)) | group
        return tuple(known.get(it) for it in _COLUMNS)


class Groups:
    """What such a query must say and keep, in plain Python."""

    def __init__(self) -> None:
        """Of the query that it is at first."""
        self.totals = Totals()
        self._kept: dict[Key, Group] = {}

    def evolve(self, totals: Totals) -> None:
        """The query changes, and takes its state with it."""
        before, groups = self.totals, self._kept
        self.totals, self._kept = totals, {}
        for whole, group in groups.items():
            named = dict(zip(before.keys, whole, strict=True))
            key = tuple(named[it] for it in totals.keys)
            self._kept[key] = totals.together(self._kept.get(key), totals.carried(group))

    def take(self, rows: Iterable[Row]) -> list[tuple[Any, ...]]:
        """What comes out of a batch with these rows, in update mode."""
        keys = set()
        for row in rows:
            key = self.totals.key(row)
            self._kept[key] = self.totals.with_row(self._kept.get(key), row)
            keys.add(key)
        return [self.totals.output(key, self._kept[key]) for key in keys]

    def rows(self) -> list[tuple[Any, Any]]:
        """Of the state: keys and values."""
        return [(key, tuple(it.values())) for key, it in self._kept.items()]
