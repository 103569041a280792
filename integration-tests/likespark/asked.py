"""What a question is asked of: two streams of rows with the query's keys."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from random import Random

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from likespark.inputs import DELAY, SCHEMA
from likespark.keys import KeyColumn

RIGHT = "r_"


@dataclass(frozen=True)
class Asked:
    """A session's streams over a folder of input; the keys, the query's output mode, and chance."""

    session: SparkSession
    folder: Path
    keys: list[KeyColumn]
    mode: str
    chance: Random

    @property
    def names(self) -> list[str]:
        """Of the keys, as expressions."""
        return [it.quoted for it in self.keys]

    def rows(self, *, watermark: bool = False) -> DataFrame:
        """Those of the left side: the keys, `id`, `v` and `at`."""
        return self._timed(self._keyed(self._read("left")), watermark=watermark)

    def right(self) -> DataFrame:
        """Those of the right side, with a watermark; all names begin with `RIGHT`."""
        return self.renamed(self._keyed(self._read("right"))).withWatermark(
            f"{RIGHT}at", f"{DELAY} seconds"
        )

    def known(self) -> DataFrame:
        """Rows of another table, which does not change."""
        return self._keyed(self.session.range(12).selectExpr("id", "id % 4 as v", "id as s"))

    def branches(self) -> tuple[DataFrame, DataFrame]:
        """Rows of the left side in two branches of one stream."""
        source = self._keyed(self._read("left"))
        return source.where("v % 2 = 0"), source.where("v % 3 = 0")

    @staticmethod
    def renamed(rows: DataFrame) -> DataFrame:
        """With `RIGHT` before all names."""
        return rows.toDF(*(f"{RIGHT}{it}" for it in rows.columns))

    @staticmethod
    def timed(rows: DataFrame) -> DataFrame:
        return Asked._timed(rows, watermark=True)

    @staticmethod
    def _timed(rows: DataFrame, *, watermark: bool) -> DataFrame:
        return rows.withWatermark("at", f"{DELAY} seconds") if watermark else rows

    def _read(self, side: str) -> DataFrame:
        stream = self.session.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
        return stream.json(str(self.folder / side))

    def _keyed(self, rows: DataFrame) -> DataFrame:
        keys = [f.expr(it.expression).alias(it.name) for it in self.keys]
        return rows.select(*keys, "id", "v", f.expr("timestamp_seconds(s)").alias("at"))
