"""Stateful operators, each asked for in more than one way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from likespark.asked import RIGHT, Asked
from likespark.processors import KINDS, SAID, Keeper, counted_by_group, counted_for_ever

WINDOW, SLIDE, GAP = "20 minutes", "10 minutes", "5 minutes"
UPDATE_OR_COMPLETE = ("update", "complete")
ALL_MODES = (*UPDATE_OR_COMPLETE, "append")
# Spark refuses it, in every mode.
REFUSED = "count(distinct v)"
# None says something else when rows come in another order.
AGGREGATES = (
    "count(*)", "sum(v)", "avg(v)", "min(v)", "max(id)", "sum(cast(v as decimal(10,2)))",
    "array_sort(collect_set(v))", "array_sort(collect_list(id))", "approx_count_distinct(id)",
    "bool_and(v > 3)", "max(struct(v, id))", "max_by(id, id)",
    "percentile(v, 0.5)", "approx_percentile(v, 0.5)", "bit_xor(v)", "max(string(v))",
    "count(*) filter (where v > 5)", "count_if(v > 3)", "try_sum(v)", "min(at)",
    "max(unhex(string(v)))", "sum(null)", "max(null)",
)  # fmt: skip


@dataclass(frozen=True)
class Operator:
    """A question; `modes` are those drawn from, also some that Spark refuses."""

    name: str
    ask: Callable[[Asked], DataFrame]
    modes: tuple[str, ...] = ("append",)
    # Which of Spark's own providers can run it.
    on_hdfs: bool = True
    in_processing_time: bool = False
    # Spark gives its state no arrays and maps as keys.
    in_python: bool = False
    is_limit: bool = False


def _aggregates(it: Asked) -> list[str]:
    chosen = it.chance.sample(AGGREGATES, it.chance.randint(1, 4))
    if it.chance.random() < 0.02:
        chosen.append(REFUSED)
    if it.names and it.chance.random() < 0.3:
        chosen.append(f"{it.chance.choice(('count', 'min', 'max'))}({it.names[0]})")
    return chosen


def _by_frame(it: Asked) -> DataFrame:
    grouped = it.rows(watermark=it.chance.random() < 0.3).groupBy(*it.names)
    return grouped.agg(*map(f.expr, _aggregates(it)))


def _by_sql(it: Asked) -> DataFrame:
    it.rows().createOrReplaceTempView("stream")
    keys = ", ".join(it.names)
    grouped = it.chance.choice(("{}", "{}", "{}", "rollup({})", "cube({})")).format(keys)
    having = it.chance.choice(("", "", " having count(*) > 1"))
    what = ", ".join((keys, *_aggregates(it)))
    return it.session.sql(f"select {what} from stream group by {grouped}{having}")  # noqa: S608


def _global(it: Asked) -> DataFrame:
    return it.rows().agg(*map(f.expr, _aggregates(it)))


def _distinct(it: Asked) -> DataFrame:
    return it.rows().select(*it.names).distinct()


def _void_and_count(it: Asked) -> DataFrame:
    return it.rows().groupBy(f.lit(None).alias("nothing")).agg(f.count("*"))


def _window(it: Asked) -> DataFrame:
    slide = it.chance.choice((None, SLIDE))
    window = f.window("at", WINDOW, slide) if slide else f.window("at", WINDOW)
    keys = [window, *it.names]
    if it.chance.random() < 0.5:
        keys.reverse()
    return it.rows(watermark=True).groupBy(*keys).agg(*map(f.expr, _aggregates(it)))


def _event_time(it: Asked) -> DataFrame:
    return it.rows(watermark=True).groupBy("at", *it.names).agg(f.count("*"))


def _deduplicated(it: Asked) -> DataFrame:
    if it.chance.random() < 0.5:
        rows, names = it.rows(watermark=True), [k.name for k in it.keys]
        return rows.dropDuplicates([*names, "at"]).select(*it.names, "at")
    return it.rows().dropDuplicates([k.name for k in it.keys]).select(*it.names)


def _deduplicated_within(it: Asked) -> DataFrame:
    names = [k.name for k in it.keys]
    return it.rows(watermark=True).dropDuplicatesWithinWatermark(names).select(*it.names)


def _session_window(it: Asked) -> DataFrame:
    keys = [f.session_window("at", GAP), *it.names]
    if it.chance.random() < 0.5:
        keys.reverse()
    return it.rows(watermark=True).groupBy(*keys).agg(*map(f.expr, _aggregates(it)))


def _matched(it: Asked, left: DataFrame, right: DataFrame, how: str) -> DataFrame:
    same = it.chance.choice(("=", "=", "<=>"))
    on = [f"{key.quoted} {same} `{RIGHT}{key.quoted[1:]}" for key in it.keys]
    on.append(f"`{RIGHT}at` between at - interval 10 minutes and at + interval 10 minutes")
    return left.join(right, f.expr(" and ".join(on)), how)


def _join(it: Asked) -> DataFrame:
    hows = ("inner", "inner", "left", "right", "full", "left_semi")
    return _matched(it, it.rows(watermark=True), it.right(), it.chance.choice(hows))


def _self_join(it: Asked) -> DataFrame:
    left, right = it.branches()
    right = it.renamed(right).withWatermark(f"{RIGHT}at", "10 minutes")
    return _matched(it, it.timed(left), right, it.chance.choice(("inner", "left")))


def _self_union(it: Asked) -> DataFrame:
    left, right = it.branches()
    return left.union(right).groupBy(*it.names).agg(f.count("*"), f.sum("v"))


def _limit(it: Asked) -> DataFrame:
    rows = it.rows()
    if it.chance.random() < 0.3:
        rows = rows.dropDuplicates([k.name for k in it.keys])
    return rows.limit(it.chance.randint(1, 20)).select(f.lit(1).alias("one"))


def _pandas_state(it: Asked) -> DataFrame:
    timed = it.chance.random() < 0.5
    return (
        it.rows(watermark=timed)
        .groupBy(*it.names)
        .applyInPandasWithState(
            counted_by_group if timed else counted_for_ever,
            SAID,
            "n long",
            it.mode,
            "EventTimeTimeout" if timed else "NoTimeout",
        )
    )


def _processed(it: Asked, kinds: list[str], time: str, *, pandas: bool) -> DataFrame:
    chosen = tuple(it.chance.sample(kinds, it.chance.randint(1, 3)))
    keeper = Keeper(chosen, pandas=pandas)
    grouped = it.rows(watermark=time == "EventTime").groupBy(*it.names)
    call = grouped.transformWithStateInPandas if pandas else grouped.transformWithState
    begins = it.known().groupBy(*it.names) if it.chance.random() < 0.25 else None
    return call(keeper, SAID, "Update", time, begins)


def _with_timers(it: Asked, *, pandas: bool) -> DataFrame:
    time = it.chance.choice(("EventTime", "None"))
    kinds = [kind for kind in KINDS if "ttl" not in kind]
    if time == "None":
        kinds.remove("timers")
    return _processed(it, kinds, time, pandas=pandas)


def _with_ttl(it: Asked, *, pandas: bool) -> DataFrame:
    kinds = [kind for kind in KINDS if kind != "timers"]
    return _processed(it, kinds, "ProcessingTime", pandas=pandas)


# In which a key of a type may be kept, too.
WIDER = {
    "tinyint": ("int", "decimal(38,18)"),
    "smallint": ("int", "bigint"),
    "int": ("bigint", "string"),
    "bigint": ("decimal(38,18)", "string"),
    "float": ("double",),
    "decimal(5,2)": ("decimal(38,18)",),
    "decimal(18,4)": ("decimal(38,10)", "string"),
    "date": ("timestamp",),
}


def _typed(it: Asked, method: str) -> DataFrame:
    """By Scala's `as[K, Row]`: keys are kept in any order, and as types of their own."""
    keys = it.chance.sample(it.keys, len(it.keys))
    types = [it.chance.choice((key.type, *WIDER.get(key.type, ()))) for key in keys]
    key = ", ".join(f"{key.quoted} {type_}" for key, type_ in zip(keys, types, strict=True))
    gateway = it.session.sparkContext._gateway
    names = gateway.new_array(gateway.jvm.String, len(it.keys))
    for number, column in enumerate(it.keys):
        names[number] = column.name
    queries = gateway.jvm.io.keyfold.spark.TypedQueries
    return DataFrame(getattr(queries, method)(it.rows()._jdf, names, key), it.session)


def _chained_windows(it: Asked) -> DataFrame:
    inner = it.rows(watermark=True).groupBy(f.window("at", WINDOW), *it.names).count()
    return inner.groupBy(f.window("window", "40 minutes")).agg(f.sum("count"), f.count("*"))


def _deduplicated_then_counted(it: Asked) -> DataFrame:
    rows = it.rows(watermark=True).dropDuplicates([*(k.name for k in it.keys), "at"])
    return rows.groupBy(f.window("at", WINDOW), *it.names).count()


def _joined_then_counted(it: Asked) -> DataFrame:
    both = _matched(it, it.rows(watermark=True), it.right(), "inner")
    return both.groupBy(f.window("at", WINDOW), *it.names).count()


OPERATORS = (
    Operator("aggregation", _by_frame, ALL_MODES * 2 + UPDATE_OR_COMPLETE),
    Operator("aggregation in SQL", _by_sql, UPDATE_OR_COMPLETE),
    Operator("global aggregation", _global, UPDATE_OR_COMPLETE),
    Operator("distinct", _distinct, UPDATE_OR_COMPLETE),
    Operator("void and count", _void_and_count, UPDATE_OR_COMPLETE),
    Operator("window", _window, ALL_MODES),
    Operator("grouped by event time", _event_time, ALL_MODES),
    Operator("dropDuplicates", _deduplicated, ("append", "update")),
    Operator("dropDuplicatesWithinWatermark", _deduplicated_within, ("append", "update")),
    Operator("session window", _session_window, ("append", "complete") * 4 + ("update",)),
    Operator("join", _join, ("append",) * 9 + ("update",)),
    Operator("self-join", _self_join),
    Operator("self-union", _self_union, UPDATE_OR_COMPLETE),
    Operator("limit", _limit, is_limit=True),
    Operator("applyInPandasWithState", _pandas_state, ("update", "append")),
    *(
        Operator(
            f"transformWithState in {'pandas' if pandas else 'rows'}{name}",
            lambda it, ask=ask, pandas=pandas: ask(it, pandas=pandas),
            ("update",),
            on_hdfs=False,
            in_processing_time=ask is _with_ttl,
            in_python=True,
        )
        for pandas in (False, True)
        for name, ask in (("", _with_timers), (", ttl", _with_ttl))
    ),
    Operator(
        "transformWithState in Scala",
        lambda it: _typed(it, "counted"),
        ("update",),
        on_hdfs=False,
        in_processing_time=True,
    ),
    Operator("flatMapGroupsWithState in Scala", lambda it: _typed(it, "flatMapped"), ("update",)),
    Operator("chained windows", _chained_windows),
    Operator("dropDuplicates, then windows", _deduplicated_then_counted),
    Operator("join, then windows", _joined_then_counted),
)
