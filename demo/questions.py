"""The questions asked of the flights, each written once and asked both as a stream and in batch."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name every Spark user knows

SCHEMA = """
    year BIGINT, month BIGINT, day BIGINT, dep_time BIGINT, sched_dep_time BIGINT,
    dep_delay BIGINT, arr_time BIGINT, sched_arr_time BIGINT, arr_delay BIGINT, carrier STRING,
    flight BIGINT, tailnum STRING, origin STRING, dest STRING, air_time BIGINT, distance BIGINT,
    hour BIGINT, minute BIGINT, time_hour TIMESTAMP
"""

# A missing value is written NA; a row that does not parse must stop the demo, not become nulls.
CSV_OPTIONS = {"header": "true", "nullValue": "NA", "mode": "FAILFAST"}

# What tells one flight from another. Without the time of day 24 of them would be taken for repeats.
FLIGHT = ["year", "month", "day", "sched_dep_time", "carrier", "flight", "origin"]

# A repeat is at most two days older than the newest flight seen: nothing is dropped as late.
WATERMARK = "3 days"


# Most aircraft fly again within half a day, or not before the next.
CHAIN_GAP = "12 hours"


def with_event_time(rows: DataFrame) -> DataFrame:
    """Add the scheduled departure as `event_time`; `time_hour` is in UTC, free of clock changes."""
    departure = F.col("time_hour") + F.make_dt_interval(mins=F.col("minute").cast("int"))
    return rows.withColumn("event_time", departure)


def each_once(flights: DataFrame) -> DataFrame:
    """Keep one row of each flight; the event time is in the key, so a stream can forget it."""
    return flights.dropDuplicates([*FLIGHT, "event_time"])


def delays(flights: DataFrame) -> DataFrame:
    """Delays in minutes per origin, carrier and hour; whole sums, so that equal means equal."""
    return (
        flights.groupBy("origin", "carrier", F.window("event_time", "1 hour").alias("hours"))
        .agg(
            F.count("*").alias("flights"),
            F.count_if(F.col("dep_time").isNull()).alias("cancelled"),
            *_statistics("dep_delay"),
            *_statistics("arr_delay"),
        )
        .withColumn("hour", F.col("hours.start"))
        .drop("hours")
    )


def chains(flights: DataFrame) -> DataFrame:
    """Flights of one aircraft in a row, each within `CHAIN_GAP` of the one before; miles flown.

    Flights without a tail number are one aircraft: a filter would be pushed below the watermark and
    keep the closing row from moving it.
    """
    return (
        flights.groupBy(
            F.coalesce("tailnum", F.lit("none")).alias("aircraft"),
            F.session_window("event_time", CHAIN_GAP).alias("chain"),
        )
        .agg(F.count("*").alias("flights"), F.sum("distance").alias("miles"))
        .withColumn("begins", F.col("chain.start"))
        .withColumn("ends", F.col("chain.end"))
        .drop("chain")
    )


def totals(deliveries: DataFrame) -> DataFrame:
    """Count everything delivered, repeats too: one row, one group, no key."""
    return deliveries.agg(
        F.count("*").alias("deliveries"),
        F.count_if(F.col("dep_time").isNull()).alias("cancelled"),
        *_statistics("dep_delay"),
        *_statistics("arr_delay"),
    )


def _statistics(column: str) -> list[Column]:
    """Count, sum, least and greatest of a column; its mean is the sum over the count."""
    functions = {"count": F.count, "sum": F.sum, "min": F.min, "max": F.max}
    return [function(column).alias(f"{column}_{name}") for name, function in functions.items()]
