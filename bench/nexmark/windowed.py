"""The questions of Nexmark whose answers are final once the watermark has passed them."""

from typing import Final

from bench.nexmark.query import Query

# `expires` has no watermark. The second bound tells Spark how long to keep an auction.
_BIDS_IN_TIME: Final = """
    auction a JOIN bid b ON a.id = b.auction
      AND b.dateTime >= a.dateTime AND b.dateTime <= a.expires
      AND b.dateTime <= a.dateTime + INTERVAL '0.000001' SECOND * {longest_us}
"""


def _final(name: str, asks: str, note: str, sql: str) -> Query:
    return Query(name, asks, note, sql, has_state=True, has_watermark=True)


WINDOWED: Final = (
    _final(
        "q4",
        "the average of winning prices for each category",
        "differs: for each 10 s in which auctions begin. Two aggregations in one query need append"
        " mode, where each group ends by the watermark; Flink takes the average of all time back"
        " and gives it anew with each bid. Bids and auctions leave the state by the watermark,"
        " Flink's stay",
        f"""
        SELECT category, avg(final) AS final, window.start AS start FROM (
          SELECT max(b.price) AS final, a.category, a.dateTime FROM {_BIDS_IN_TIME}
          GROUP BY a.id, a.category, a.dateTime)
        GROUP BY category, window(dateTime, '10 seconds')
        """,  # noqa: S608
    ),
    _final(
        "q5",
        "the auctions with most bids in 10 s, every 2 s",
        "as Flink's; the counts are made twice, once for each side of the join",
        """
        WITH counts AS (
          SELECT auction, count(*) AS num, window
          FROM bid GROUP BY auction, window(dateTime, '10 seconds', '2 seconds'))
        SELECT c.auction, c.num, c.window.start AS start FROM counts c
        JOIN (SELECT max(num) AS num, window FROM counts GROUP BY window) m
        ON c.window = m.window AND c.num = m.num
        """,
    ),
    _final(
        "q7",
        "the highest bids of each 10 s",
        # A copy of `dateTime` has no watermark: a side of a join has one column with it.
        "a bid belongs to one window; Flink's BETWEEN also compares one at a window's very end with"
        " the window before",
        """
        SELECT b.auction, b.price, b.bidder, b.dateTime, b.extra
        FROM (SELECT auction, price, bidder, extra, window(dateTime, '10 seconds') AS window,
          timestamp_micros(unix_micros(dateTime)) AS dateTime FROM bid) b
        JOIN (SELECT max(price) AS price, window FROM bid
          GROUP BY window(dateTime, '10 seconds')) m
        ON b.price = m.price AND b.window = m.window
        """,
    ),
    _final(
        "q8",
        "persons who have come and begun an auction in the same 10 s",
        "as Flink's",
        """
        SELECT p.id, p.name, p.window.start AS start FROM (
          SELECT id, name, window FROM person GROUP BY id, name, window(dateTime, '10 seconds')) p
        JOIN (SELECT seller, window FROM auction
          GROUP BY seller, window(dateTime, '10 seconds')) a
        ON p.id = a.seller AND p.window = a.window
        """,
    ),
    _final(
        "q9",
        "the winning bid of each auction",
        "once, when the watermark has passed all bids of the auction; Flink gives each bid that"
        " leads and takes it back. By `max_by`, as there is no `row_number` of a stream",
        f"""
        SELECT won.* FROM (
          SELECT max_by(
            struct(a.id, a.itemName, a.description, a.initialBid, a.reserve, a.dateTime, a.expires,
              a.seller, a.category, a.extra, b.auction, b.bidder, b.price,
              b.dateTime AS bid_dateTime, b.extra AS bid_extra),
            struct(b.price, -unix_micros(b.dateTime))) AS won
          FROM {_BIDS_IN_TIME} GROUP BY a.id, a.dateTime)
        """,  # noqa: S608
    ),
    _final(
        "q11",
        "the bids of each session of a bidder, which ends after 10 s without",
        "as Flink's",
        """
        SELECT bidder, count(*) AS bid_count, session_window.start AS starttime,
          session_window.end AS endtime
        FROM bid GROUP BY bidder, session_window(dateTime, '10 seconds')
        """,
    ),
)
