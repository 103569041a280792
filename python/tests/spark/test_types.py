"""Rows of random schemas equal those that Spark reads, of every type that state can have."""

from __future__ import annotations

import tempfile
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

import keyfold
from kit.reading import bag, compare
from kit.session import NEEDS_JAR
from python.tests.spark.query import Query

pytestmark = NEEDS_JAR

UTC = timezone.utc
_TIMES = {"min_value": datetime(1900, 1, 1), "max_value": datetime(2200, 1, 1)}  # noqa: DTZ001


def whole(bits: int) -> st.SearchStrategy[int]:
    return st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def decimals(precision: int, scale: int) -> st.SearchStrategy[Decimal]:
    most = 10**precision - 1
    # From text, since arithmetic would round to the 28 digits of the default context.
    return st.integers(-most, most).map(lambda it: Decimal(f"{it}E-{scale}"))


ATOMIC: dict[str, st.SearchStrategy[Any]] = {
    "boolean": st.booleans(),
    "byte": whole(8),
    "short": whole(16),
    "int": whole(32),
    "bigint": whole(64),
    "float": st.floats(width=32),
    "double": st.floats(),
    "string": st.text(max_size=20),
    "binary": st.binary(max_size=20),
    "date": st.dates(date(1900, 1, 1), date(2200, 1, 1)),
    "timestamp": st.datetimes(**_TIMES).map(lambda it: it.replace(tzinfo=UTC)),
    "timestamp_ntz": st.datetimes(**_TIMES),
    "decimal(7,2)": decimals(7, 2),
    "decimal(18,0)": decimals(18, 0),
    "decimal(38,10)": decimals(38, 10),
    "interval day to second": st.timedeltas(timedelta(-9999), timedelta(9999)),
}
Column = tuple[str, st.SearchStrategy[Any]]


def nullable(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(st.none(), values, values, values)


atoms: st.SearchStrategy[Column] = st.sampled_from(sorted(ATOMIC.items(), key=lambda it: it[0]))


def structs(inner: st.SearchStrategy[Column]) -> st.SearchStrategy[Column]:
    return st.lists(inner, min_size=1, max_size=3).map(
        lambda fields: (
            f"struct<{','.join(f'f{i}:{it[0]}' for i, it in enumerate(fields))}>",
            st.tuples(*(nullable(it[1]) for it in fields)),
        )
    )


def arrays(inner: st.SearchStrategy[Column]) -> st.SearchStrategy[Column]:
    return inner.map(lambda it: (f"array<{it[0]}>", st.lists(nullable(it[1]), max_size=4)))


def maps(inner: st.SearchStrategy[Column]) -> st.SearchStrategy[Column]:
    keys = st.sampled_from(["int", "string", "bigint", "date"])
    return st.tuples(keys, inner).map(
        lambda it: (
            f"map<{it[0]},{it[1][0]}>",
            st.dictionaries(ATOMIC[it[0]], nullable(it[1][1]), max_size=4),
        )
    )


of_keys = st.recursive(atoms, lambda it: structs(it) | arrays(it), max_leaves=4)
of_values = st.recursive(atoms, lambda it: structs(it) | arrays(it) | maps(it), max_leaves=5)


# Not shrunk: each example is a query.
@settings(
    max_examples=6,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
)
@given(st.data())
def test_random_schemas(spark: SparkSession, data: st.DataObject) -> None:
    keys = data.draw(st.lists(of_keys, min_size=1, max_size=5), label="keys")
    values = data.draw(st.lists(of_values, min_size=1, max_size=8), label="values")
    names = [f"k{i}" for i in range(len(keys))] + [f"v{i}" for i in range(len(values))]
    schema = ", ".join(f"{n} {it[0]}" for n, it in zip(names, [*keys, *values], strict=True))
    row = st.tuples(*(nullable(it[1]) for it in [*keys, *values]))
    rows = data.draw(st.lists(row, min_size=1, max_size=30), label="rows")

    def build(stream: Any) -> Any:
        # One struct, since Spark gives the columns of several firsts one name each.
        first = sf.first(sf.struct(*names[len(keys) :]))
        return stream.groupBy(*names[: len(keys)]).agg(first)

    with tempfile.TemporaryDirectory() as folder:
        query = Query(spark, Path(folder), schema, build)
        query.run(rows)
        compare(spark, query.checkpoint)
        opened = keyfold.open_checkpoint(query.checkpoint)
        # The hash of every key, as this package computes it, is the one that Spark placed it by.
        assert opened.fsck(deep=True).findings == ()
        shown = opened[0].scan().to_pylist()
        found = opened[0].get(shown[0]["key"]).to_pylist()
        assert repr(shown[0]) in [repr(it) for it in found]


def test_every_atomic_type_at_once(spark: SparkSession, tmp_path: Path) -> None:
    names = [f"c{i}" for i in range(len(ATOMIC))]
    schema = ", ".join(f"{n} {it}" for n, it in zip(names, ATOMIC, strict=True))
    example: list[Any] = [
        True, -1, -2, -3, -4, 0.5, -0.0, "ß🙂", b"\x00\xff", date(1969, 12, 31),
        datetime(1969, 12, 31, 23, 59, 59, 999999, UTC), datetime(2024, 2, 29), Decimal("-1.50"),  # noqa: DTZ001
        Decimal(-7), Decimal("-12345678901234567890.0123456789"), timedelta(-1, 1, 1),
    ]  # fmt: skip
    rows = [tuple(example), tuple([None] * len(names))]
    query = Query(spark, tmp_path, schema, lambda s: s.dropDuplicates(), "append")
    assert compare(spark, query.run(rows)) == {"default": 2}
    assert keyfold.open_checkpoint(query.checkpoint).fsck(deep=True).findings == ()


def test_strings_that_are_no_utf8_have_the_hashes_of_their_bytes(
    spark: SparkSession, tmp_path: Path
) -> None:
    def build(stream: Any) -> Any:
        text = sf.expr("cast(b as string)")
        return stream.groupBy(text, sf.create_map(text, sf.lit(1))).count()

    query = Query(spark, tmp_path, "b binary", build)
    query.run([(b"\xff",), (b"\xc3(",), (b"ok",)])
    assert keyfold.open_checkpoint(query.checkpoint).fsck(deep=True).findings == ()


def test_times_that_python_cannot_hold(spark: SparkSession, tmp_path: Path) -> None:
    latest = 2**63 - 1

    def build(stream: Any) -> Any:
        day = f"max(if(v > 0, date_from_unix_date({2**31 - 1}), date'1970-01-01'))"
        moments = sf.first(sf.expr("array(timestamp_micros(v))"))
        at = sf.expr("timestamp_micros(v)").alias("t")
        return stream.groupBy(at).agg(moments.alias("some"), sf.expr(day).alias("day"))

    query = Query(spark, tmp_path, "v bigint", build)
    query.run([(latest,), (0,)])
    table = keyfold.open_checkpoint(query.checkpoint)[0]
    zero = datetime(1970, 1, 1, tzinfo=UTC)
    expected = {latest: ([latest], 2**31 - 1), zero: ([zero], zero.date())}
    found = {
        next(iter(row["key"].values())): (row["value"]["first"], row["value"]["max"])
        for row in table.scan().to_pylist()
    }
    assert found == expected
    frame = table.scan(["value.max"]).to_pandas()
    assert set(frame["value.max"]) == {2**31 - 1, zero.date()}
    assert repr(table.scan().to_pandas())
    for key, (_, day) in expected.items():
        assert [it["value"]["max"] for it in keyfold.to_pylist(table.get({"t": key}))] == [day]
        assert keyfold.to_pylist(table.history({"t": key}))[0]["value"]["max"] == day


def test_types_that_only_values_can_have(spark: SparkSession, tmp_path: Path) -> None:
    def build(stream: Any) -> Any:
        return stream.groupBy("k").agg(
            sf.first(
                sf.struct(
                    sf.expr("make_ym_interval(0, v)").alias("months"),
                    sf.expr("make_interval(1, v, 0, 3, 4, 5, 6.5)").alias("calendar"),
                    sf.expr("parse_json(concat('{\"a\":', v, '}'))").alias("variant"),
                    sf.expr("array(make_ym_interval(1, v), null)").alias("several"),
                )
            )
        )

    query = Query(spark, tmp_path, "k int, v int", build)
    query.run([(1, 7), (2, -30)])
    mine = {row["key"]["k"]: row["value"]["first"] for row in _rows(query.checkpoint)}
    read = spark.read.format("statestore").load(str(query.checkpoint))
    theirs = read.selectExpr("key.k", "value.first.*").selectExpr(
        "k",
        "cast(months as int) months",
        "cast(several[0] as int) several",
        "cast(calendar as string) calendar",
        "cast(variant as string) variant",
    )
    theirs = theirs.collect()
    assert {row.k for row in theirs} == set(mine) == {1, 2}
    for row in theirs:
        value = mine[row.k]
        assert (value["months"], value["several"]) == (row.months, [row.several, None])
        months, days, nanos = value["calendar"]
        hours, rest = divmod(nanos, 3600 * 10**9)
        years, left = divmod(months, 12) if months >= 0 else (-(-months // 12), -(-months % 12))
        parts = [f"{years} years" if years else "", f"{left} months" if left else ""]
        text = " ".join(it for it in [*parts, f"{days} days", f"{hours} hours"] if it)
        assert row.calendar.startswith(text), (row.calendar, text)
        assert rest == (5 * 60 + 6) * 10**9 + 5 * 10**8
        assert value["variant"]["metadata"][-1:] == b"a"
        assert row.variant == f'{{"a":{7 if row.k == 1 else -30}}}'
        assert value["variant"]["value"][-1] == (7 if row.k == 1 else 256 - 30)


def _rows(checkpoint: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = keyfold.open_checkpoint(checkpoint)[0].scan().to_pylist()
    return found


def test_state_as_a_frame_of_spark(spark: SparkSession, tmp_path: Path) -> None:
    query = Query(spark, tmp_path, "k int, v int", lambda s: s.groupBy("k").agg(sf.sum("v")))
    query.run([(n % 50, n) for n in range(200)])
    operator = keyfold.open_checkpoint(query.checkpoint)["agg"]
    assert bag(operator.to_spark(spark).toArrow()) == bag(operator.scan().to_arrow())
