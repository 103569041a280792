"""Answers from the original files with pandas: no Spark, no replay and no repeats in it."""

import pandas as pd  # type: ignore[import-untyped]
import pyarrow as pa  # type: ignore[import-untyped]

from demo.originals import FLIGHTS, WEATHER, original
from demo.questions import FLIGHT
from demo.weather import MEASURED

TEXT = ["carrier", "tailnum", "origin", "dest"]
TIME = "time_hour"


def truth() -> dict[str, pa.Table]:
    """Answer the questions that do not depend on how the flights were replayed."""
    flights = _flights()
    answers = {
        "flights": flights,
        "delays": _delays(flights),
        "aircraft": _aircraft(flights),
        "weather": _with_weather(flights),
        "absences": _absences(flights),
        "limits": _above_limits(flights),
    }
    return {
        query: pa.Table.from_pandas(answer, preserve_index=False)
        for query, answer in answers.items()
    }


def _flights() -> pd.DataFrame:
    """Read all flights; whole numbers stay whole where values are missing."""
    names = pd.read_csv(original(FLIGHTS), nrows=0).columns
    types = {name: "str" if name in TEXT else "Int64" for name in names if name != TIME}
    flights = pd.read_csv(
        original(FLIGHTS), dtype=types, parse_dates=[TIME], na_values=["NA"], keep_default_na=False
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


def _aircraft(flights: pd.DataFrame) -> pd.DataFrame:
    """Group by tail number; a flight without one belongs to an aircraft of that name."""
    departed = flights["dep_time"].notna()
    groups = flights.assign(
        aircraft=flights["tailnum"].fillna("none"),
        cancelled=(~departed).astype("int64"),
        miles=flights["distance"].where(departed, 0),
    ).groupby("aircraft")
    return groups.agg(
        flights=("event_time", "size"),
        cancelled=("cancelled", "sum"),
        miles=("miles", "sum"),
        longest_delay=("dep_delay", "max"),
        first_departure=("event_time", "min"),
        last_departure=("event_time", "max"),
    ).reset_index()


def _absences(flights: pd.DataFrame) -> pd.DataFrame:
    """Shift the departures of each aircraft by one; the last of the year has none after it."""
    named = flights.assign(aircraft=flights["tailnum"].fillna("none")).sort_values("event_time")
    away = named.groupby("aircraft")["event_time"].diff(-1).abs()
    last = named[away.isna() | (away > pd.Timedelta(days=14))]
    number = last.groupby("aircraft").cumcount() + 1
    return last.assign(last_seen=last["event_time"], number=number)[
        ["aircraft", "last_seen", "number"]
    ]


def _above_limits(flights: pd.DataFrame) -> pd.DataFrame:
    """Look up the day before on which the airline flew last; days are whole numbers here."""
    day = pd.to_datetime(flights[["year", "month", "day"]])
    flights = flights.assign(date=day).sort_values("date")
    latest = flights.groupby(["carrier", "date"])["dep_delay"].max().dropna().reset_index()
    told = latest.assign(date=latest["date"] + pd.Timedelta(days=1), minutes=latest["dep_delay"])
    told = told[["carrier", "date", "minutes"]].sort_values("date")
    found = pd.merge_asof(flights, told, on="date", by="carrier")
    late = found[(found["dep_delay"] > found["minutes"]).fillna(value=False)]
    return late[[*FLIGHT, "dep_delay", "minutes"]]


def _with_weather(flights: pd.DataFrame) -> pd.DataFrame:
    """Look the hour up in the original of the weather; doubles as exact as Spark reads them."""
    weather = pd.read_csv(
        original(WEATHER),
        usecols=["origin", TIME, *MEASURED],
        parse_dates=[TIME],
        float_precision="round_trip",
    )
    found = flights.merge(weather.assign(observed=weather[TIME]), "left", ["origin", TIME])
    return found[[*FLIGHT, "event_time", "dep_delay", "observed", *MEASURED]]
