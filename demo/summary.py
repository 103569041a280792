"""Writes the page that says what a run has shown."""

from collections.abc import Iterator
from statistics import median

from demo import request_tables
from demo.batches import Batch, Spread
from demo.markdown import table
from demo.queries import QUERIES
from demo.record import Record, Rescaled
from demo.workspace import FILES

QUESTIONS = {
    "flights": "each flight once (deduplication)",
    "delays": "delays per origin, carrier and hour (deduplication, then windows)",
    "chains": "chains of flights per aircraft (deduplication, then session windows)",
    "totals": "running total of all rows (aggregation without keys)",
    "aircraft": "running record per aircraft (deduplication, then a function of pandas with state)",
    "weather": "flights with the weather at departure (deduplication, then stream-stream join)",
    "absences": "aircraft not seen for two weeks (transformWithState with a timer, then with TTL)",
    "limits": (
        "flights later than their airline's latest of the day before (deduplication, then an "
        "operator whose subtasks keep the limits of a second stream)"
    ),
}

DESCRIBED = ("What Keyfold read in the checkpoints without Spark is in `state.txt`.", "")


def page(record: Record) -> str:
    """Write the whole page in Markdown."""
    verdict = "Every answer is exact." if record.exact else "NOT every answer is exact."
    total = sum(record.seconds.values())
    lines = [
        "# Keyfold demo",
        "",
        f"**{verdict}** State store: {record.provider}. Total time: {total:.0f} s.",
        "",
        *story(record),
        "",
        "## Answers",
        "",
        *answers(record),
        "",
        "## Batches, in milliseconds",
        "",
        *batches(record),
        "",
        "Commits are summed over the partitions of a query, which commit in parallel.",
        "",
        "## State",
        "",
        *states(record),
        "",
        *(DESCRIBED if record.described else ()),
        *request_tables.section(record),
        "## Time, in seconds",
        "",
        *table(["phase", "s"], [[name, f"{s:.1f}"] for name, s in record.seconds.items()]),
        "",
    ]
    return "\n".join(lines)


def story(record: Record) -> Iterator[str]:
    """Tell what happened."""
    replayed = record.replayed
    files = f"as {replayed.files} files" if record.source == FILES else "as records from Kafka"
    yield (
        f"- {replayed.flights:,} flights of 2013 came {files}, "
        f"{replayed.repeats:,} of them twice, "
        f"with {replayed.observations:,} hourly observations of the weather and "
        f"{replayed.limits:,} limits of delays."
    )
    for query, question in QUESTIONS.items():
        batches = f"{record.finished[query]} batches" if query in record.finished else "left out"
        yield f"- `{query}`: {question}, {batches}."
    if record.sink != FILES:
        yield "- The answers went to tables of Delta."
    yield from request_tables.story(record)
    if record.rescaled:
        yield "- Twice, the stopped queries got another number of partitions for their state:"
        yield from rescale_story(record.rescaled)
    if record.killed_in:
        yield "- Half way, the driver and its JVM were killed with SIGKILL and started again:"
        yield from kill_story(record.killed_in, record.resumed)
    else:
        yield "- The driver was not killed."


def rescale_story(rescaled: list[Rescaled]) -> Iterator[str]:
    """Tell from how many partitions each query went to how many, and how long that took."""
    for query in QUERIES:
        changes = [
            f"{it.before} -> {it.after} in {it.ms:,} ms" for it in rescaled if it.query == query
        ]
        yield f"    - `{query}`: {', '.join(changes)}."


def kill_story(killed_in: dict[str, int | None], resumed: dict[str, int]) -> Iterator[str]:
    """Tell where each query was hit and where it went on."""
    for query, batch in killed_in.items():
        hit = "between two batches" if batch is None else f"within batch {batch}"
        on = f"went on with batch {resumed[query]}" if query in resumed else "had no more to do"
        yield f"    - `{query}` was hit {hit} and {on}."


def answers(record: Record) -> Iterator[str]:
    """Say how each result compares."""
    head = ["query", "compared with", "rows", "missing", "unexpected", "verdict"]
    rows = [
        [
            verdict.query,
            verdict.reference,
            f"{verdict.rows:,}",
            f"{verdict.missing:,}",
            f"{verdict.unexpected:,}",
            "exact" if verdict.exact else "NOT EXACT",
        ]
        for verdict in record.verdicts
    ]
    return table(head, rows)


def batches(record: Record) -> Iterator[str]:
    """Say how long batches took."""

    def row(query: str, ran: list[Batch]) -> list[str]:
        spread = Spread.of(batch.duration_ms for batch in ran)
        commit = median(batch.commit_ms for batch in ran)
        values = (spread.median, spread.p90, spread.greatest, commit)
        return [query, *(f"{value:,.0f}" for value in values)]

    head = ["query", "median", "90 %", "longest", "state commit, median"]
    return table(head, [row(query, ran) for query, ran in by_query(record)])


def states(record: Record) -> Iterator[str]:
    """Say how big the state was."""
    head = [
        "query",
        "most rows",
        "most memory",
        "files at the end",
        "rows evicted",
        "rows too late",
    ]
    rows = [
        [
            query,
            f"{max(batch.state_rows for batch in ran):,}",
            size(max(batch.state_bytes for batch in ran)),
            size(record.state_file_bytes[query]),
            f"{sum(batch.evicted_rows for batch in ran):,}",
            f"{sum(batch.late_rows for batch in ran):,}",
        ]
        for query, ran in by_query(record)
    ]
    return table(head, rows)


def by_query(record: Record) -> Iterator[tuple[str, list[Batch]]]:
    """Group the batches that were reported; a query without any is left out."""
    for query in QUERIES:
        ran = [batch for batch in record.batches if batch.query == query]
        if ran:
            yield query, ran


def size(count: int) -> str:
    """Write a number of bytes for people, in binary units."""
    kib = 1024
    return f"{count / kib**2:.1f} MiB" if count >= kib**2 else f"{count / kib:.1f} KiB"
