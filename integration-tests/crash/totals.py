"""A count by key whose keys and aggregates change while its query goes on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from random import Random

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
Group = dict[str, int | None]


@dataclass(frozen=True)
class Totals:
    """The query at one time: what it groups by and what it computes, in the order of its state."""

    keys: tuple[str, ...] = ("key", "value")
    aggregates: tuple[str, ...] = ("count", "total", "last")

    def changed(self, chance: Random) -> Totals:
        """Another by chance; a key that was dropped stays away."""
        keys = chance.sample(self.keys, len(self.keys))
        if chance.random() < 0.3:
            keys = keys[:1]
        names = list(_SPARKS)
        return Totals(tuple(keys), tuple(chance.sample(names, chance.randint(1, len(names)))))

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

    def key(self, row: Row) -> tuple[str | int, ...]:
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

    def output(self, key: tuple[str | int, ...], group: Group) -> tuple[str | int | None, ...]:
        known = dict(zip(self.keys, key, strict=True)) | group
        return tuple(known.get(it) for it in _COLUMNS)
