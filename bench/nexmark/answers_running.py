"""The answers in batch of the questions that have no windows, see `answers`."""

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from bench.nexmark.answers import WINDOWED, Answer, Tables, first

# The first prices of the ranks above the lowest one.
_RANKS: Final = (10_000, 1_000_000)
_BID: Final = ("auction", "bidder", "price", "channel", "url", "dateTime", "extra")


def q0(tables: Tables) -> DataFrame:
    """All bids."""
    return tables.bid.drop("channel", "url")


def q1(tables: Tables) -> DataFrame:
    """Prices in another currency."""
    return q0(tables).withColumn("price", _euros())


def q2(tables: Tables) -> DataFrame:
    """Some auctions' bids."""
    return tables.bid.where(sf.pmod("auction", sf.lit(123)) == 0).select("auction", "price")


def q3(tables: Tables) -> DataFrame:
    """Who sells."""
    sellers = tables.person.where(sf.col("state").isin("OR", "ID", "CA"))
    auctions = tables.auction.where("category = 10").select(sf.col("id").alias("item"), "seller")
    both = auctions.join(sellers, sf.col("seller") == sf.col("id"))
    return both.select("name", "city", "state", "item")


def q10(tables: Tables) -> DataFrame:
    """All bids, with the folders of their files."""
    minute = sf.date_trunc("minute", "dateTime").cast("string")
    return q0(tables).select("*", sf.substring(minute, 1, 10), sf.substring(minute, 12, 5))


def q12(tables: Tables) -> DataFrame:
    """Bids of each bidder: which windows they are in depends on the clock."""
    return tables.bid.groupBy("bidder").count()


def q13(tables: Tables) -> DataFrame:
    """Bids with a value."""
    keyed = tables.bid.withColumn("key", sf.pmod("auction", sf.lit(10_000)))
    both = keyed.join(tables.side_input, "key")
    return both.select("auction", "bidder", "price", "dateTime", "value")


def q14(tables: Tables) -> DataFrame:
    """Bids of some prices."""
    hour = sf.hour("dateTime")
    kind = (
        sf.when((hour < 7) | (hour > 19), "nightTime")  # noqa: PLR2004
        .when((hour == 7) | (hour == 19), "otherTime")  # noqa: PLR2004
        .otherwise("dayTime")
    )
    letters = sf.size(sf.split("extra", "c")) - 1
    chosen = q1(tables).where("price > 1000000 AND price < 50000000")
    return chosen.select("auction", "bidder", "price", kind, "dateTime", "extra", letters)


def q15(tables: Tables) -> DataFrame:
    """Counts of each day."""
    return tables.bid.groupBy(_day()).agg(*_counts(), *_distinct("bidder"), *_distinct("auction"))


def q16(tables: Tables) -> DataFrame:
    """Counts of each channel."""
    minute = sf.substring(sf.max("dateTime").cast("string"), 12, 5)
    all_distinct = (*_distinct("bidder"), *_distinct("auction"))
    return tables.bid.groupBy("channel", _day()).agg(minute, *_counts(), *all_distinct)


def q17(tables: Tables) -> DataFrame:
    """Prices of each auction."""
    prices = (sf.min("price"), sf.max("price"), sf.sum("price") / sf.count("*"), sf.sum("price"))
    return tables.bid.groupBy("auction", _day()).agg(*_counts(), *prices)


def q18(tables: Tables) -> DataFrame:
    """Last bids."""
    return first(tables.bid, ("bidder", "auction"), (sf.desc("dateTime"),), 1).select(*_BID)


def q19(tables: Tables) -> DataFrame:
    """Highest bids."""
    order = (sf.desc("price"), sf.asc("dateTime"))
    return first(tables.bid, ("auction",), order, 10).select(*_BID, "rank_number")


def q20(tables: Tables) -> DataFrame:
    """Bids with their auctions."""
    auctions = tables.auction.where("category = 10").withColumnsRenamed(
        {"dateTime": "auction_dateTime", "extra": "auction_extra"}
    )
    both = tables.bid.join(auctions, sf.col("auction") == sf.col("id")).drop("id")
    last = ("auction_dateTime", "expires", "seller", "category", "auction_extra")
    return both.select(*_BID, "itemName", "description", "initialBid", "reserve", *last)


def q21(tables: Tables) -> DataFrame:
    """Ids of channels."""
    known = sf.create_map(
        *(sf.lit(it) for pair in enumerate(("Apple", "Google", "Facebook", "Baidu")) for it in pair)
    )
    names = sf.map_from_entries(
        sf.transform(sf.map_entries(known), lambda it: sf.struct(it.value, it.key.cast("string")))
    )
    id_ = sf.coalesce(sf.try_element_at(names, "channel"), _after("url", "&channel_id="))
    found = tables.bid.withColumn("channel_id", id_).where("channel_id IS NOT NULL")
    return found.select("auction", "bidder", "price", "channel", "channel_id")


def q22(tables: Tables) -> DataFrame:
    """Folders of URLs."""
    parts = sf.split("url", "/")
    folders = [parts.getItem(it) for it in (3, 4, 5)]
    return tables.bid.select("auction", "bidder", "price", "channel", *folders)


def _day() -> Column:
    return sf.to_date("dateTime").cast("string")


def _euros() -> Column:
    return sf.col("price").cast("decimal(20,0)") * sf.lit("0.908").cast("decimal(3,3)")


def _after(name: str, mark: str) -> Column:
    """What follows a mark; null without one."""
    return sf.try_element_at(sf.split(name, mark), sf.lit(2))


def _ranks(what: Column) -> tuple[Column, ...]:
    """The condition of each rank of prices, and of all."""
    low, high = _RANKS
    rank = sf.when(what < low, 1).when(what < high, 2).otherwise(3)
    return (sf.lit(True), *(rank == it for it in (1, 2, 3)))  # noqa: FBT003


def _counts() -> list[Column]:
    return [sf.count_if(it) for it in _ranks(sf.col("price"))]


def _distinct(name: str) -> list[Column]:
    """Estimates: of the same values they are the same, whatever the order."""
    return [sf.approx_count_distinct(sf.when(it, sf.col(name))) for it in _ranks(sf.col("price"))]


ANSWERS: Final[dict[str, Answer]] = {
    it.__name__: it
    for it in (q0, q1, q2, q3, q10, q12, q13, q14, q15, q16, q17, q18, q19, q20, q21, q22)
} | WINDOWED
