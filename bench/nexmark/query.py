"""A question of Nexmark, as Structured Streaming can say it or not."""

from dataclasses import dataclass
from typing import Final

from pyspark.sql import DataFrame, SparkSession

from bench.nexmark.generator import Generator

DELAY: Final = "4 seconds"


@dataclass(frozen=True)
class Query:
    """A question in SQL, of the views `bid`, `auction` and `person`.

    `note` is how it differs from Flink's, or why Structured Streaming cannot say it; `sql` is empty
    then. In update mode a batch gives all rows anew of each `key` that has changed.
    """

    name: str
    asks: str
    note: str
    sql: str = ""
    mode: str = "append"
    key: tuple[str, ...] = ()
    has_state: bool = False
    has_watermark: bool = False

    def over(self, numbers: DataFrame, generator: Generator) -> DataFrame:
        """The answer of the events whose numbers `n` come in a stream."""
        spark = numbers.sparkSession
        for name, rows in (
            ("bid", generator.bids(numbers)),
            ("auction", generator.auctions(numbers)),
            ("person", generator.persons(numbers)),
        ):
            seen = rows.withWatermark("dateTime", DELAY) if self.has_watermark else rows
            seen.createOrReplaceTempView(name)
        side_input(spark).createOrReplaceTempView("side_input")
        return spark.sql(self.sql.format(longest_us=generator.longest_us))


def side_input(spark: SparkSession) -> DataFrame:
    """The table of query 13."""
    return spark.range(10_000).selectExpr("id AS key", "cast(id AS string) AS value")
