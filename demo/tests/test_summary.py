"""The page: it says plainly when an answer is not exact, and where the kill hit."""

from dataclasses import replace

from demo.batches import Batch, Spread
from demo.compare import Verdict
from demo.queries import QUERIES, queries_of
from demo.record import Record, Rescaled
from demo.replay import Replayed
from demo.summary import page

PROGRESS = {
    "name": "flights",
    "batchId": 3,
    "numInputRows": 10,
    "durationMs": {"triggerExecution": 700},
    "stateOperators": [
        {
            "numRowsTotal": rows,
            "memoryUsedBytes": 2048,
            "commitTimeMs": 5,
            "numRowsRemoved": 1,
            "numRowsDroppedByWatermark": 0,
        }
        for rows in (7, 8)
    ],
}


def record(missing: int) -> Record:
    return Record(
        provider="hdfs",
        replayed=Replayed(files=2, flights=10, repeats=3),
        batches=[Batch.from_progress(PROGRESS)],
        finished=dict.fromkeys(QUERIES, 4),
        killed_in={"flights": 3, "delays": None, "chains": 3, "totals": 2},
        resumed={"flights": 3, "delays": 4, "chains": 3},
        state_file_bytes={"flights": 3 * 1024 * 1024},
        verdicts=[Verdict("flights", "pandas", rows=10, missing=missing, unexpected=0)],
    )


def test_an_exact_run_says_so_and_tells_of_the_kill() -> None:
    text = page(record(missing=0))
    assert "**Every answer is exact.**" in text
    assert "`flights` was hit within batch 3 and went on with batch 3." in text
    assert "`delays` was hit between two batches and went on with batch 4." in text
    assert "`totals` was hit within batch 2 and had no more to do." in text
    assert "| flights | 15 | 4.0 KiB | 3.0 MiB | 2 | 0 |" in text


def test_rescales_are_told_by_query_with_their_times() -> None:
    changed = record(missing=0)
    assert "partitions" not in page(changed).split("## Answers")[0]
    for query in QUERIES:
        changed.rescaled.append(Rescaled(query, before=4, after=6, ms=81))
    for query in QUERIES:
        changed.rescaled.append(Rescaled(query, before=6, after=3, ms=1234))
    text = page(changed)
    for query in QUERIES:
        assert f"    - `{query}`: 4 -> 6 in 81 ms, 6 -> 3 in 1,234 ms." in text


def test_a_query_that_the_store_cannot_run_is_named_as_left_out() -> None:
    queries = queries_of("hdfs")
    assert set(QUERIES) - set(queries) == {"absences", "limits"}
    assert queries_of("keyfold") == queries_of("rocksdb") == QUERIES
    some = record(missing=0)
    some.finished = dict.fromkeys(queries, 4)
    lines = page(some).split("## Answers")[0].splitlines()
    assert [line for line in lines if line.endswith(", left out.")] == [
        line for line in lines if line.startswith(("- `absences`", "- `limits`"))
    ]


def test_other_ends_than_files_are_named() -> None:
    of_files = record(missing=0)
    assert "came as 2 files, 3 of them twice" in page(of_files)
    assert "Delta" not in page(of_files)
    other = replace(of_files, source="kafka", sink="delta")
    assert "came as records from Kafka, 3 of them twice" in page(other)
    assert "- The answers went to tables of Delta." in page(other)


def test_one_missing_row_is_the_first_thing_said() -> None:
    text = page(record(missing=1))
    assert "**NOT every answer is exact.**" in text
    assert "| flights | pandas | 10 | 1 | 0 | NOT EXACT |" in text


def test_no_comparison_is_no_success() -> None:
    assert not Record("hdfs").exact


def test_a_spread_of_one_value_is_that_value() -> None:
    assert Spread.of([5]) == Spread(5, 5, 5)
    assert Spread.of(range(1, 12)) == Spread(6, 10, 11)
