"""A streaming query over words, started again as often as a test wants."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

Query = Callable[[DataFrame], DataFrame]


def run(  # noqa: PLR0913 - one by name
    spark: SparkSession,
    root: Path,
    query: Query,
    batches: list[list[str]],
    name: str = "cp",
    *,
    files: Path | None = None,
) -> Path:
    """Runs one micro-batch for each list of words; returns the checkpoint's path.

    A root that has been used goes on where it was; checkpoints of other names share its input.
    With a folder for `files` there is a file sink, in append mode.
    """
    source, checkpoint = root / "in", root / name
    source.mkdir(parents=True, exist_ok=True)
    for words in batches:
        number = len(list(source.iterdir()))
        lines = "\n".join(json.dumps({"word": word}) for word in words)
        (source / f"{number}.json").write_text(lines, encoding="utf-8")
        stream = query(spark.readStream.schema("word string").json(str(source)))
        writer = stream.writeStream.outputMode("append" if files else "update")
        writer = (
            writer.format("json").option("path", str(files)) if files else writer.format("noop")
        )
        writer = writer.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True)
        writer.start().awaitTermination()
    return checkpoint


def by_word(stream: DataFrame) -> DataFrame:
    """Counts of words."""
    return stream.groupBy("word").count()
