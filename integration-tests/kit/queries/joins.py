"""Stream-stream joins, in every format of their state."""

from collections.abc import Callable, Mapping

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from kit.lines import NEWEST_JOIN
from kit.queries.rows import Link, Row
from kit.queries.streams import Streams, minute

# In minutes: a link is for rows of the half hour before it.
REACH = 30

VERSION = "spark.sql.streaming.join.stateFormatVersion"
ALL_FORMATS: Mapping[int, Mapping[str, str]] = {
    2: {},
    3: {VERSION: "3"},
    4: {VERSION: "4", "spark.sql.streaming.join.stateFormatV4.enabled": "true"},
}
# By what is added to a case's name.
FORMATS: Mapping[str, Mapping[str, str]] = {
    f", state format {version}" if settings else "": settings
    for version, settings in ALL_FORMATS.items()
    if version <= NEWEST_JOIN
}


def joined(streams: Streams, how: str) -> DataFrame:
    reach = f.expr(f"INTERVAL {REACH} MINUTES")
    within = (f.col("linked") >= f.col("at")) & (f.col("linked") <= f.col("at") + reach)
    return streams.timed.join(streams.links, (f.col("id") == f.col("ref")) & within, how)


def matching(row: Row, link: Link) -> bool:
    return row.id == link.ref and row.minute <= link.minute <= row.minute + REACH


def both_sides(how: str) -> Callable[[Streams], DataFrame]:
    return lambda s: joined(s, how).select("id", minute("at"), "ref", minute("linked"))
