"""A transformWithState query that is stopped again and again while it uses its state.

Usage: stops_job.py FOLDER STOPS SEED

Its state is filled in one batch. Then, STOPS times, a batch reads and writes it in a loop, of list,
map or timers in turn, until the query is stopped in the middle. In the end a batch says what the
state is. Output goes to FOLDER/answers, a line of JSON a row.
"""

import json
import random
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.stateful_processor import TimerValues

FILLED = 1000
DAY_MS = 24 * 60 * 60 * 1000
FAR = 4_000_000_000_000
DEADLINE_S = 60
LONGEST_MS = 400

folder, stops, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
source, checkpoint, answers = folder / "in", folder / "checkpoint", folder / "answers"
busy, begun = str(folder / "busy"), str(folder / "begun")
spark = SparkSession.builder.getOrCreate()
chance = random.Random(seed)  # noqa: S311 - to be repeated, not to be secret


def expect(condition: bool) -> None:  # noqa: FBT001 - as assert has it
    """Fails unless the condition holds."""
    if not condition:
        raise AssertionError


class Keeper(StatefulProcessor):
    """Fills its state, uses it for as long as it is busy, or says what it is."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Makes the state."""
        self.handle = handle
        self.list = handle.getListState("list", "n long, text string")
        self.map = handle.getMapState("map", "k long", "v long")

    def handleInputRows(  # noqa: N802
        self,
        key: tuple[int],
        rows: Iterator[Any],
        timerValues: TimerValues,  # noqa: ARG002, N803
    ) -> Iterator[Row]:
        """Does as the file says whose name is that of what keeps it busy."""
        asked = [row.what for row in rows]
        if "fill" in asked:
            self.list.put([(n, str(n) * 8) for n in range(FILLED)])
            for n in range(FILLED):
                self.map.updateValue((n,), (n,))
            for n in range(100):
                self.handle.registerTimer(FAR + n * DAY_MS)
        if Path(busy).exists():
            Path(begun).touch()
            use = {"list": self.use_list, "map": self.use_map, "timers": self.use_timers}
            while Path(busy).exists():
                use[Path(busy).read_text()]()
        listed = sorted(n for n, _ in self.list.get())
        mapped = sorted((k, v) for (k,), (v,) in self.map.iterator())
        timers = sorted(self.handle.listTimers())
        yield Row(
            key=key[0],
            list=json.dumps(listed),
            map=json.dumps(mapped),
            timers=json.dumps(timers),
        )

    def use_list(self) -> None:
        """Reads all values, and adds one."""
        expect(len(list(self.list.get())) >= FILLED)
        self.list.appendValue((-1, "not committed"))

    def use_map(self) -> None:
        """Reads all pairs, some keys, and changes some."""
        expect(len(list(self.map.iterator())) >= FILLED)
        for n in range(0, FILLED, 50):
            expect(self.map.getValue((n,)) is not None)
            self.map.updateValue((n,), (-n,))
            self.map.updateValue((FILLED + n,), (n,))

    def use_timers(self) -> None:
        """Registers timers, lists them and takes some away."""
        for n in range(0, 1000, 10):
            self.handle.registerTimer(FAR + n * DAY_MS + 1)
        expect(len(list(self.handle.listTimers())) > FILLED // 10)
        for n in range(0, 1000, 20):
            self.handle.deleteTimer(FAR + n * DAY_MS + 1)


def put(number: int, what: str) -> None:
    """A file with two keys, for a batch of its own."""
    source.mkdir(exist_ok=True)
    lines = [json.dumps({"key": key, "what": what}) for key in (1, 2)]
    hidden = source / f".{number}"
    hidden.write_text("\n".join(lines))
    hidden.rename(source / f"{number:05d}.json")


def write(batch: DataFrame, number: int) -> None:
    """Keeps a batch's answers, if there are any, under its number."""
    answers.mkdir(exist_ok=True)
    if lines := [json.dumps(row.asDict()) for row in batch.collect()]:
        (answers / f"{number:05d}.json").write_text("\n".join(lines))


def start() -> StreamingQuery:
    """The query, until all files are read."""
    return (
        spark.readStream.schema("key long, what string")
        .json(str(source))
        .groupBy("key")
        .transformWithState(
            Keeper(), "key long, list string, map string, timers string", "update", "ProcessingTime"
        )
        .writeStream.outputMode("update")
        .foreachBatch(write)
        .option("checkpointLocation", str(checkpoint))
        .trigger(processingTime="0 seconds")
        .start()
    )


def wait_until(happened: Callable[[], bool], query: StreamingQuery) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not happened():
        expect(query.isActive and time.monotonic() < deadline)
        time.sleep(0.005)


def finish() -> None:
    """Runs until the batch of the newest file, and no empty one that came before, is committed."""
    answered = len(list(answers.glob("*.json")))
    query = start()
    wait_until(lambda: len(list(answers.glob("*.json"))) > answered, query)
    last = max(int(file.stem) for file in answers.glob("*.json"))
    wait_until((checkpoint / "commits" / str(last)).exists, query)
    query.stop()


put(0, "fill")
finish()
put(1, "look")
for stop in range(stops):
    Path(busy).write_text(("list", "map", "timers")[stop % 3])
    Path(begun).unlink(missing_ok=True)
    query = start()
    wait_until(lambda: Path(begun).exists(), query)
    time.sleep(chance.randrange(LONGEST_MS) / 1000)
    query.stop()
    # Whatever is left of Python ends, too.
    Path(busy).unlink()
    survived = folder / "survived"
    survived.write_text(str(stop + 1))
finish()
