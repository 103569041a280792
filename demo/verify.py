"""The verifying driver: asks the same questions in batch and compares the answers."""

import argparse
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from demo.absences import absences
from demo.aircraft import records
from demo.compare import compare
from demo.ends import Ends
from demo.events import send
from demo.limits import SCHEMA as LIMITS_SCHEMA
from demo.limits import above_limits_in_batch
from demo.queries import OUTPUT_MODES, queries_of
from demo.questions import CSV_OPTIONS, SCHEMA, chains, delays, each_once, totals, with_event_time
from demo.replay import END_MARK
from demo.session import PROVIDERS, batch_session
from demo.sink import Sink
from demo.truth import truth
from demo.weather import SCHEMA as WEATHER_SCHEMA
from demo.weather import observations, with_weather
from demo.workspace import FLIGHTS, LIMITS, WEATHER, Workspace


def answers(spark: SparkSession, workspace: Workspace) -> dict[str, DataFrame]:
    """Answer every question from all files at once."""

    def read(name: str, schema: str) -> DataFrame:
        return spark.read.schema(schema).options(**CSV_OPTIONS).csv(str(workspace.input(name)))

    rows, weather = read(FLIGHTS, SCHEMA), read(WEATHER, WEATHER_SCHEMA)
    limits = read(LIMITS, LIMITS_SCHEMA)
    flights = with_event_time(rows.where(f"carrier <> '{END_MARK}'"))
    once = each_once(flights).cache()
    return {
        "flights": once,
        "delays": delays(once),
        "chains": chains(once),
        "totals": totals(flights),
        "aircraft": records(once),
        "weather": with_weather(once, observations(weather)),
        "absences": absences(once),
        "limits": above_limits_in_batch(once, limits),
    }


def streamed(spark: SparkSession, sink: Sink, queries: Iterable[str]) -> dict[str, DataFrame]:
    """Read what the queries wrote."""
    whole = {query: sink.read(query, spark, OUTPUT_MODES[query]) for query in queries}
    return {
        **whole,
        # The closing row comes out of these two as it is; the others keep it in their state.
        "flights": whole["flights"].where(f"carrier <> '{END_MARK}'"),
        "aircraft": whole["aircraft"]
        .where(f"complete AND aircraft <> '{END_MARK}'")
        .drop("complete"),
    }


def main() -> None:
    """Compare every query's result with each answer there is to it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--provider", choices=PROVIDERS, required=True)
    parser.add_argument("--ends", type=Ends.from_json, required=True)
    options = parser.parse_args()
    workspace = Workspace(options.out)
    queries = queries_of(options.provider)
    spark = batch_session(workspace.local, options.ends.conf)
    send("note", text="Spark has started")
    sink = options.ends.sink_in(workspace)
    found = {query: frame.toArrow() for query, frame in streamed(spark, sink, queries).items()}
    send("note", text="The results of the streams have been read")
    for query, answer in answers(spark, workspace).items():
        if query in queries:
            verdict = compare(query, "Spark in batch", found[query], answer.toArrow())
            send("verdict", verdict=asdict(verdict))
    for query, table in truth().items():
        if query in queries:
            verdict = compare(query, "pandas", found[query], table)
            send("verdict", verdict=asdict(verdict))
    spark.stop()


if __name__ == "__main__":
    main()
