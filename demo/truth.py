"""Answers from the original file with pandas: no Spark, no replay and no repeats in it."""

import pandas as pd  # type: ignore[import-untyped]
import pyarrow as pa  # type: ignore[import-untyped]

from demo.replay import archive

TEXT = ["carrier", "tailnum", "origin", "dest"]
TIME = "time_hour"


def truth() -> dict[str, pa.Table]:
    """Answer the questions that do not depend on how the flights were replayed."""
    flights = _flights()
    return {
        "flights": pa.Table.from_pandas(flights, preserve_index=False),
        "delays": pa.Table.from_pandas(_delays(flights), preserve_index=False),
    }


def _flights() -> pd.DataFrame:
    """Read all flights; whole numbers stay whole where values are missing."""
    names = pd.read_csv(archive(), nrows=0).columns
    types = {name: "str" if name in TEXT else "Int64" for name in names if name != TIME}
    flights = pd.read_csv(
        archive(), dtype=types, parse_dates=[TIME], na_values=["NA"], keep_default_na=False
    )
    minutes = pd.to_timedelta(flights["minute"], unit="min")
    return flights.assign(event_time=flights[TIME] + minutes)


def _delays(flights: pd.DataFrame) -> pd.DataFrame:
    """Group by the hour column of the original, which no window function has computed."""
    cancelled = flights["dep_time"].isna().astype("int64")
    groups = flights.assign(cancelled=cancelled).groupby(["origin", "carrier", TIME])
    hourly = pd.DataFrame({"flights": groups.size(), "cancelled": groups["cancelled"].sum()})
    for column in ("dep_delay", "arr_delay"):
        hourly[f"{column}_count"] = groups[column].count()
        # The sum of no value is missing, as it is in SQL, and not zero.
        hourly[f"{column}_sum"] = groups[column].sum(min_count=1)
        hourly[f"{column}_min"] = groups[column].min()
        hourly[f"{column}_max"] = groups[column].max()
    return hourly.reset_index().rename(columns={TIME: "hour"})
