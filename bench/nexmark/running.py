"""The questions of Nexmark whose answers go on with each event, and joins that keep all rows."""

from typing import Final

from bench.nexmark.query import Query

_DISTINCT: Final = (
    "differs: estimates by `approx_count_distinct`. Structured Streaming refuses"
    " `count(DISTINCT ...)`"
)
_UPDATES: Final = "in update mode: a row replaces the one before of its key, Flink takes that back"


def _ranks(what: str, name: str) -> str:
    bounds = ("price < 10000", "price >= 10000 AND price < 1000000", "price >= 1000000")
    ranks = [
        f"{what} FILTER (WHERE {bound}) AS rank{rank}_{name}"
        for rank, bound in enumerate(bounds, 1)
    ]
    return ", ".join([f"{what} AS total_{name}", *ranks])


_COUNTS: Final = _ranks("count(*)", "bids")
_DISTINCT_COUNTS: Final = ", ".join(
    _ranks(f"approx_count_distinct({column})", f"{column}s") for column in ("bidder", "auction")
)
_DAY: Final = "date_format(dateTime, 'yyyy-MM-dd')"


def _update(name: str, asks: str, note: str, key: tuple[str, ...], sql: str) -> Query:
    return Query(name, asks, note, sql, mode="update", key=key, has_state=True)


RUNNING: Final = (
    Query(
        "q3",
        "who sells in three states and one category",
        "as Flink's, which keeps all persons and auctions too",
        """
        SELECT p.name, p.city, p.state, a.id FROM auction a JOIN person p ON a.seller = p.id
        WHERE a.category = 10 AND p.state IN ('OR', 'ID', 'CA')
        """,
        has_state=True,
    ),
    _update(
        "q12",
        "the bids of each bidder in 10 s of processing time",
        f"all events of a batch have the time at which it began; windows stay in the state,"
        f" Flink's leave it; {_UPDATES}",
        ("bidder", "starttime"),
        """
        SELECT bidder, count(*) AS bid_count, window.start AS starttime, window.end AS endtime
        FROM (SELECT bidder, current_timestamp() AS p_time FROM bid)
        GROUP BY bidder, window(p_time, '10 seconds')
        """,
    ),
    _update(
        "q15",
        "bids, bidders and auctions of each day by ranks of prices",
        f"{_DISTINCT}; {_UPDATES}",
        ("day",),
        f"SELECT {_DAY} AS day, {_COUNTS}, {_DISTINCT_COUNTS} FROM bid GROUP BY {_DAY}",  # noqa: S608
    ),
    _update(
        "q16",
        "the same for each channel",
        f"{_DISTINCT}; {_UPDATES}",
        ("channel", "day"),
        f"""
        SELECT channel, {_DAY} AS day, max(date_format(dateTime, 'HH:mm')) AS minute, {_COUNTS},
          {_DISTINCT_COUNTS} FROM bid GROUP BY channel, {_DAY}
        """,  # noqa: S608
    ),
    _update(
        "q17",
        "bids and prices of each auction and day",
        f"{_UPDATES}; averages are doubles, Flink's are whole",
        ("auction", "day"),
        f"""
        SELECT auction, {_DAY} AS day, {_COUNTS}, min(price) AS min_price,
          max(price) AS max_price, avg(price) AS avg_price, sum(price) AS sum_price
        FROM bid GROUP BY auction, {_DAY}
        """,  # noqa: S608
    ),
    _update(
        "q18",
        "the last bid of each bidder for each auction",
        f"by `max_by`, as there is no `row_number` of a stream; {_UPDATES}",
        ("auction", "bidder"),
        """
        SELECT last.* FROM (
          SELECT max_by(struct(auction, bidder, price, channel, url, dateTime, extra), dateTime)
            AS last
          FROM bid GROUP BY bidder, auction)
        """,
    ),
    _update(
        "q19",
        "the ten highest bids of each auction",
        "by `max_by` of ten, which Spark has from 4.2 on. In update mode: the ten rows of an"
        " auction replace those before, Flink takes single rows back",
        ("auction",),
        """
        SELECT top.row.*, rank + 1 AS rank_number FROM (
          SELECT posexplode(best) AS (rank, top) FROM (
            SELECT max_by(struct(struct(*) AS row), struct(price, -unix_micros(dateTime)), 10)
              AS best
            FROM bid GROUP BY auction))
        """,
    ),
    Query(
        "q20",
        "bids with their auctions of one category",
        "as Flink's, which keeps all bids and auctions too",
        """
        SELECT b.auction, b.bidder, b.price, b.channel, b.url, b.dateTime AS bid_dateTime,
          b.extra AS bid_extra, a.itemName, a.description, a.initialBid, a.reserve,
          a.dateTime AS auction_dateTime, a.expires, a.seller, a.category, a.extra AS auction_extra
        FROM bid b JOIN auction a ON b.auction = a.id WHERE a.category = 10
        """,
        has_state=True,
    ),
)
