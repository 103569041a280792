"""The answers of Nexmark's questions in batch, by other means than the streaming queries.

Windows by arithmetic, winners and ranks by `row_number`, sessions by gaps between rows. Columns are
compared by their place.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

WINDOW_US: Final = 10_000_000
SLIDE_US: Final = 2_000_000


@dataclass(frozen=True)
class Tables:
    """The events of a batch, and the table that query 13 joins."""

    bid: DataFrame
    auction: DataFrame
    person: DataFrame
    side_input: DataFrame


Answer = Callable[[Tables], DataFrame]


def micros(name: str = "dateTime") -> Column:
    """Event time as a number."""
    return sf.unix_micros(name)


def window(name: str = "dateTime") -> Column:
    """The number of the window of 10 s that a time is in."""
    return sf.floor(micros(name) / WINDOW_US)


def start(number: str) -> Column:
    """When the window of a number begins."""
    return sf.timestamp_micros(sf.col(number) * WINDOW_US)


def first(rows: DataFrame, by: tuple[str, ...], order: tuple[Column, ...], most: int) -> DataFrame:
    """The first rows of each group, with their ranks."""
    ranks = sf.row_number().over(Window.partitionBy(*by).orderBy(*order))
    return rows.withColumn("rank_number", ranks).where(sf.col("rank_number") <= most)


def in_time(tables: Tables) -> DataFrame:
    """Auctions with the bids that came while they lived."""
    bids = tables.bid.withColumnsRenamed({"dateTime": "bid_dateTime", "extra": "bid_extra"}).drop(
        "channel", "url"
    )
    both = tables.auction.join(bids, tables.auction.id == bids.auction)
    return both.where(sf.col("bid_dateTime").between(sf.col("dateTime"), sf.col("expires")))


def q4(tables: Tables) -> DataFrame:
    """Averages of winning prices."""
    by = in_time(tables).groupBy("id", "category", "dateTime")
    final = by.agg(sf.max("price").alias("final")).withColumn("w", window())
    averages = final.groupBy("category", "w").agg(sf.avg("final").alias("final"))
    return averages.select("category", "final", start("w"))


def q5(tables: Tables) -> DataFrame:
    """Hot items: a bid is in five windows."""
    last = sf.floor(micros() / SLIDE_US)
    starts = sf.explode(sf.sequence(last - (WINDOW_US // SLIDE_US - 1), last))
    counts = tables.bid.withColumn("w", starts).groupBy("w", "auction").count()
    most = sf.max("count").over(Window.partitionBy("w"))
    hot = counts.withColumn("most", most).where("count = most")
    return hot.select("auction", "count", sf.timestamp_micros(sf.col("w") * SLIDE_US))


def q7(tables: Tables) -> DataFrame:
    """Highest bids."""
    most = sf.max("price").over(Window.partitionBy(window()))
    highest = tables.bid.withColumn("most", most).where("price = most")
    return highest.select("auction", "price", "bidder", "dateTime", "extra")


def q8(tables: Tables) -> DataFrame:
    """New persons who sell."""
    persons = tables.person.withColumn("w", window()).select("id", "name", "w")
    sellers = tables.auction.withColumn("w", window()).select(sf.col("seller").alias("id"), "w")
    return persons.join(sellers, ["id", "w"], "left_semi").select("id", "name", start("w"))


def q9(tables: Tables) -> DataFrame:
    """Winning bids."""
    order = (sf.desc("price"), sf.asc("bid_dateTime"))
    won = first(in_time(tables), ("id",), order, 1)
    bid = ("auction", "bidder", "price", "bid_dateTime", "bid_extra")
    return won.select(*tables.auction.columns, *bid)


def q11(tables: Tables) -> DataFrame:
    """Sessions: a new one begins when the bid before is 10 s ago or more."""
    by = Window.partitionBy("bidder").orderBy("us")
    rows = tables.bid.select("bidder", micros().alias("us"))
    begins = sf.coalesce(sf.col("us") - sf.lag("us").over(by), sf.lit(WINDOW_US)) >= WINDOW_US
    numbered = rows.withColumn("begins", begins.cast("int"))
    numbered = numbered.withColumn("session", sf.sum("begins").over(by))
    found = numbered.groupBy("bidder", "session").agg(
        sf.count("*").alias("bids"), sf.min("us").alias("low"), sf.max("us").alias("high")
    )
    ends = sf.timestamp_micros(sf.col("high") + WINDOW_US)
    return found.select("bidder", "bids", sf.timestamp_micros("low"), ends)


WINDOWED: Final[dict[str, Answer]] = {
    "q4": q4,
    "q5": q5,
    "q7": q7,
    "q8": q8,
    "q9": q9,
    "q11": q11,
}
