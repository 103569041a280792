"""What the page says of the requests to the server of the checkpoints."""

from collections import Counter
from collections.abc import Iterator

from demo.markdown import table
from demo.record import LOOKING, RESCALING, STREAMING, Record
from demo.requests import PARTS, Counts, Request

# In this order, then any others: those that write or list, which cost most, come first.
KINDS = ("PUT", "COPY", "LIST", "GET", "HEAD", "DELETE", "DELETE MANY")


def story(record: Record) -> Iterator[str]:
    """Say in a line where the checkpoints were, if that was on a server."""
    if record.requests:
        total = sum(counts.total() for counts in record.requests.values())
        delay = f", each held back {record.delay_ms:g} ms" if record.delay_ms else ""
        yield (
            f"- The checkpoints were on an S3 server, which got {total:,} requests{delay}; "
            "input and results were on a local disk."
        )


def section(record: Record) -> Iterator[str]:
    """Say how many requests there were, and for what; nothing if none were counted."""
    if not record.requests:
        return
    yield from ("## Requests to S3", "", "Counted at the server. Of a batch, on average:", "")
    yield from per_batch(record)
    yield ""
    yield (
        "They include what is not a batch's own: a start of the query in each stage and after the "
        "kill, loads of the state, snapshots, deletions, and the batch that ran twice. Those of "
        "`state PUT` wrote a file of state, and are in `state` too."
    )
    yield from ("", "All, by kind:", "")
    yield from by_kind(record)
    if record.rescaled:
        yield from ("", "Maintenance goes on during a rescale, and is counted with it.")
    yield ""


def per_batch(record: Record) -> Iterator[str]:
    """Divide the requests of each query by its batches; those of rescales are no part of either."""
    streaming = record.requests[STREAMING]
    requests = placed(streaming)
    rescales = Counter(it.query for it in record.rescaled)

    def row(query: str, batches: int) -> list[str]:
        parts = [requests[query, part] / batches for part in PARTS]
        puts = streaming[f"PUT {query}/state"] / batches
        return [query, f"{batches}", *(f"{number:.1f}" for number in (puts, *parts, sum(parts)))]

    head = ["query", "batches", "state PUT", *PARTS, "all"]
    ran = {query: number - rescales[query] for query, number in record.finished.items()}
    return table(head, [row(query, number) for query, number in ran.items() if number > 0])


def placed(counts: Counts) -> Counter[tuple[str, str]]:
    """Sum up by query and part."""
    found: Counter[tuple[str, str]] = Counter()
    for name, number in counts.items():
        request = Request.named(name)
        found[request.query, request.part] += number
    return found


def by_kind(record: Record) -> Iterator[str]:
    """Show what each activity took, streaming by the part of the checkpoint too."""
    lines: dict[str, Counts] = {}
    for activity in (STREAMING, RESCALING, LOOKING):
        counted = record.requests.get(activity, Counter())
        requests = [(Request.named(name), number) for name, number in counted.items()]
        for request, number in sorted(requests, key=lambda it: PARTS.index(it[0].part)):
            part = f": {request.part}" if activity == STREAMING else ""
            lines.setdefault(activity + part, Counter())[request.kind] += number
    lines["all"] = sum(lines.values(), Counter())
    kinds = sorted(lines["all"], key=lambda it: KINDS.index(it) if it in KINDS else len(KINDS))
    return table(
        ["for", *kinds, "all"],
        [
            [name, *(f"{counts[kind]:,}" for kind in kinds), f"{counts.total():,}"]
            for name, counts in lines.items()
        ],
    )
