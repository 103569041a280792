"""The questions of Nexmark that look at each event by itself."""

from typing import Final

from bench.nexmark.query import Query

SAME: Final = "as Flink's"

STATELESS: Final = (
    Query(
        "q0",
        "all bids as they are",
        SAME,
        "SELECT auction, bidder, price, dateTime, extra FROM bid",
    ),
    Query(
        "q1",
        "prices in another currency",
        SAME,
        "SELECT auction, bidder, 0.908 * price AS price, dateTime, extra FROM bid",
    ),
    Query(
        "q2",
        "bids for one auction in 123",
        SAME,
        "SELECT auction, price FROM bid WHERE auction % 123 = 0",
    ),
    Query(
        "q10",
        "all bids to files, a folder for each minute",
        "the folders are the same; Flink marks a folder as complete by a file in it, Spark lists"
        " the files of complete batches in `_spark_metadata`",
        "SELECT auction, bidder, price, dateTime, extra,"
        " date_format(dateTime, 'yyyy-MM-dd') AS dt, date_format(dateTime, 'HH:mm') AS hm FROM bid",
    ),
    Query(
        "q13",
        "bids with a value from a table",
        "the table is read again for each batch; Flink looks a row up as of the processing time",
        "SELECT b.auction, b.bidder, b.price, b.dateTime, s.value"
        " FROM bid b JOIN side_input s ON b.auction % 10000 = s.key",
    ),
    Query(
        "q14",
        "bids of some prices, with the time of day and a count of a letter",
        "the letter is counted by functions of SQL and not by one of a user",
        """
        SELECT auction, bidder, 0.908 * price AS price,
          CASE WHEN hour(dateTime) BETWEEN 8 AND 18 THEN 'dayTime'
            WHEN hour(dateTime) <= 6 OR hour(dateTime) >= 20 THEN 'nightTime'
            ELSE 'otherTime' END AS bidTimeType,
          dateTime, extra, length(extra) - length(replace(extra, 'c', '')) AS c_counts
        FROM bid WHERE 0.908 * price > 1000000 AND 0.908 * price < 50000000
        """,
    ),
    Query(
        "q21",
        "bids with an id of their channel",
        "`regexp_extract` gives an empty text without a match, where Flink's gives null",
        """
        SELECT * FROM (
          SELECT auction, bidder, price, channel,
            CASE lower(channel) WHEN 'apple' THEN '0' WHEN 'google' THEN '1'
              WHEN 'facebook' THEN '2' WHEN 'baidu' THEN '3'
              ELSE nullif(regexp_extract(url, '(&|^)channel_id=([^&]*)', 2), '') END AS channel_id
          FROM bid) WHERE channel_id IS NOT NULL
        """,
    ),
    Query(
        "q22",
        "bids with the folders of their URLs",
        SAME,
        """
        SELECT auction, bidder, price, channel, split_part(url, '/', 4) AS dir1,
          split_part(url, '/', 5) AS dir2, split_part(url, '/', 6) AS dir3 FROM bid
        """,
    ),
)
