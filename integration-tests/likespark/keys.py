"""Columns that a query groups by: every type that Spark has, with the values that are odd in it."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

NULL = "null"
# Bytes that are no UTF-8, and two spellings of one letter.
STRINGS = ("''", "'a'", "'A'", "'b '", "cast(x'ff00fe' as string)", "'e\\u0301'", "'\\u00e9'")


def _doubles(name: str) -> tuple[str, ...]:
    odd = ("NaN", "-0.0", "0.0", "Infinity", "-Infinity", "1.5")
    return (*(f"{name}('{it}')" for it in odd), f"-{name}('NaN')")


# By type, expressions of its values; each may be null too.
TYPES: dict[str, tuple[str, ...]] = {
    "boolean": ("true", "false"),
    "tinyint": ("-128Y", "0Y", "127Y"),
    "smallint": ("-32768S", "0S", "7S"),
    "int": ("-2147483648", "0", "7", "8"),
    "bigint": ("-9223372036854775807L", "0L", "9007199254740993L", "9007199254740992L"),
    "float": _doubles("float"),
    "double": _doubles("double"),
    "decimal(5,2)": ("0.00", "-999.99", "1.10"),
    "decimal(18,4)": ("0", "99999999999999.9999", "1.1"),
    "decimal(19,0)": ("0", "9999999999999999999", "-1"),
    "decimal(38,10)": ("0", "1.1", "-9999999999999999999999999999.9999999999"),
    "decimal(38,0)": ("0", "1", "99999999999999999999999999999999999999"),
    "string": (*STRINGS, f"'{'long ' * 20}'"),
    "string collate UTF8_LCASE": ("'a'", "'A'", "'b'"),
    "string collate UNICODE_CI": ("'a'", "'A'", "'b'"),
    "string collate UNICODE": ("'a'", "'A'", "'b'"),
    "string collate UTF8_BINARY_RTRIM": ("'a'", "'a '", "'b'"),
    "binary": ("x''", "x'00'", "x'0000'", "x'ff00fe'"),
    "date": ("date'1970-01-01'", "date'0001-01-01'", "date'1582-10-10'", "date'9999-12-31'"),
    # Of an hour that there is twice in New York.
    "timestamp": (
        "timestamp_seconds(1730610000)",
        "timestamp_seconds(1730613600)",
        "timestamp_micros(1)",
        "timestamp_micros(-1)",
        "timestamp_seconds(1704110400)",
    ),
    "timestamp_ntz": (
        "timestamp_ntz'2024-11-03 01:30:00'",
        "timestamp_ntz'2024-03-10 02:30:00'",
        "timestamp_ntz'1969-12-31 23:59:59.999999'",
    ),
    "time": ("time'00:00:00'", "time'23:59:59.999999'"),
    "interval year to month": ("interval '1-2' year to month", "interval '-1-0' year to month"),
    "interval day to second": ("interval '1' day", "interval '-0 00:00:00.000001' day to second"),
    "interval": ("make_interval(0, 1)", "make_interval(0, 0, 0, 30)"),
    "void": (),
    "struct<a: int, b: string>": ("struct(1, 'x')", "struct(null, 'x')", "struct(1, null)"),
    "struct<a: double>": ("struct(double('NaN'))", "struct(double('-0.0'))", "struct(0.0D)"),
    "struct<a: struct<b: decimal(38,2)>>": ("struct(struct(1.5))", "struct(struct(null))"),
    "struct<a: void>": ("struct(null)",),
    "struct<m: map<string, int>>": ("struct(map('a', 1, 'b', 2))", "struct(map('b', 2, 'a', 1))"),
    "array<int>": ("array()", "array(1)", "array(1, null)", "array(null)"),
    "array<double>": ("array(double('NaN'))", "array(double('-0.0'))", "array(0.0D)"),
    "array<string>": ("array('')", "array()", "array(cast(x'ff' as string))"),
    "array<struct<a: int>>": ("array(struct(1))", "array()"),
    "map<string, int>": ("map()", "map('a', 1, 'b', 2)", "map('b', 2, 'a', 1)"),
    "map<int, array<string>>": ("map(1, array('x'))", "map(2, array())"),
    "variant": ("parse_json('1')", "parse_json('{\"a\": 1}')"),
}
# Spark refuses most of what groups by these.
RARE = {"time", "interval", "variant", "string collate UTF8_LCASE", "string collate UNICODE_CI"}
# How its columns are called; operators and Spark's own columns of state have some of these names.
NAMES = (
    ("k", "l", "m"),
    ("key", "userKey", "value"),
    ("value", "key", "count"),
    ("a.b", "c d", "e`f"),
    ("_groupingmapsort", "field0", "index"),
    ("timestampMs", "expiryTimestampMs", "existingKey"),
)


@dataclass(frozen=True)
class KeyColumn:
    """A column: its name, the name of its type, and an expression of `id` that has its values."""

    name: str
    type: str
    expression: str

    @property
    def quoted(self) -> str:
        return "`" + self.name.replace("`", "``") + "`"


def draw_keys(chance: Random, *, for_python: bool) -> list[KeyColumn]:
    """One column in most queries, or two or three."""
    rare = {it for it in TYPES if it in RARE or (for_python and ("array" in it or "map" in it))}
    names = chance.choice(NAMES) if chance.random() < 0.4 else NAMES[0]
    numbers = range(chance.choice((1, 1, 1, 2, 2, 3)))
    return [_draw(chance, names[it], rare, for_python=for_python) for it in numbers]


def _draw(chance: Random, name: str, rare: set[str], *, for_python: bool) -> KeyColumn:
    (it,) = chance.choices(list(TYPES), [1 if it in rare else 8 for it in TYPES])
    values = chance.sample(TYPES[it], len(TYPES[it]))[: chance.randint(2, 6)]
    if for_python:
        # There it is not itself: its rows come one by one, in an order that N decides.
        values = [value for value in values if "NaN" not in value]
    if not values or chance.random() < 0.6:
        values.append(NULL)
    cases = " ".join(
        f"when {number} then cast({value} as {it})" for number, value in enumerate(values)
    )
    # Columns beside each other change at different rows.
    step = chance.choice((1, 1, 2, 3))
    return KeyColumn(name, it, f"case pmod(id div {step}, {len(values)}) {cases} end")
