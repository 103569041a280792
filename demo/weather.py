"""Flights with the weather at their airport: a question asked of two inputs at once."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name every Spark user knows

from demo.questions import FLIGHT

SCHEMA = """
    origin STRING, year BIGINT, month BIGINT, day BIGINT, hour BIGINT, temp DOUBLE, dewp DOUBLE,
    humid DOUBLE, wind_dir DOUBLE, wind_speed DOUBLE, wind_gust DOUBLE, precip DOUBLE,
    pressure DOUBLE, visib DOUBLE, time_hour TIMESTAMP
"""

MEASURED = ["temp", "wind_speed", "precip", "visib"]


def observations(rows: DataFrame) -> DataFrame:
    """Name the columns so that none is also a flight's; `observed` is the beginning of the hour."""
    return rows.select(
        F.col("origin").alias("airport"),
        F.col("time_hour").alias("weather_hour"),
        F.col("time_hour").alias("observed"),
        *MEASURED,
    )


def with_weather(flights: DataFrame, weather: DataFrame) -> DataFrame:
    """Each flight with the weather in the hour of its departure; without, if nobody measured it.

    Airport and hour alone find the weather. From the range of times a stream learns how long a
    flight must be kept for weather that is still to come.
    """
    begin, departure = F.col("observed"), F.col("event_time")
    same_hour = (F.col("origin") == F.col("airport")) & (
        F.col("time_hour") == F.col("weather_hour")
    )
    within = (departure >= begin) & (departure < begin + F.expr("INTERVAL 1 HOUR"))
    joined = flights.join(weather, same_hour & within, "left_outer")
    return joined.select(*FLIGHT, "event_time", "dep_delay", "observed", *MEASURED)
