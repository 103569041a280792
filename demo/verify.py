"""The verifying driver: asks the same questions in batch and compares the answers."""

import argparse
from dataclasses import asdict
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from demo.compare import compare
from demo.events import send
from demo.questions import CSV_OPTIONS, SCHEMA, chains, delays, each_once, totals, with_event_time
from demo.replay import END_CARRIER
from demo.session import batch_session
from demo.truth import truth
from demo.workspace import Workspace


def answers(spark: SparkSession, workspace: Workspace) -> dict[str, DataFrame]:
    """Answer every question from all files at once."""
    rows = spark.read.schema(SCHEMA).options(**CSV_OPTIONS).csv(str(workspace.input))
    flights = with_event_time(rows.where(f"carrier <> '{END_CARRIER}'"))
    once = each_once(flights)
    return {
        "flights": once,
        "delays": delays(once),
        "chains": chains(once),
        "totals": totals(flights),
    }


def streamed(spark: SparkSession, workspace: Workspace) -> dict[str, DataFrame]:
    """Read what the queries wrote; of the running total, the last batch."""

    def number(folder: Path) -> int:
        return int(folder.name.removeprefix("batch="))

    flights = spark.read.parquet(str(workspace.result("flights")))
    chained = spark.read.parquet(str(workspace.result("chains")))
    hourly = spark.read.parquet(str(workspace.result("delays")))
    last = max(workspace.result("totals").glob("batch=*"), key=number)
    return {
        "flights": flights.where(f"carrier <> '{END_CARRIER}'"),
        "delays": hourly,
        "chains": chained,
        "totals": spark.read.parquet(str(last)),
    }


def main() -> None:
    """Compare every query's result with each answer there is to it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    workspace = Workspace(parser.parse_args().out)
    spark = batch_session(workspace.local)
    send("note", text="Spark has started")
    found = {query: frame.toArrow() for query, frame in streamed(spark, workspace).items()}
    send("note", text="The results of the streams have been read")
    for query, answer in answers(spark, workspace).items():
        verdict = compare(query, "Spark in batch", found[query], answer.toArrow())
        send("verdict", verdict=asdict(verdict))
    for query, table in truth().items():
        verdict = compare(query, "pandas", found[query], table)
        send("verdict", verdict=asdict(verdict))
    spark.stop()


if __name__ == "__main__":
    main()
