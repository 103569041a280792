"""What the pages of figures say: the constants of the model, and what it is compared with."""

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from typing import Final

from bench.pictures.tables import number, rows, tables

CORES: Final = 2
"""Of the machine that all figures are from."""
BATCH: Final = 200_000
"""Rows of a batch of `streaming-count`."""
COLUMNS: Final = {
    "HDFSBacked": "HDFSBacked",
    "RocksDB": "RocksDB counting",
    "Keyfold": "Keyfold",
}
COUNT: Final = "streaming count, batch of 200k, {}"
KEYS: Final = ("500k int", "1M int", "5M int")


def cell(page: str, row: str, column: str) -> float:
    """The number in the row that begins with `row`, which is there.

    Raises:
        LookupError: the page has no such number.
    """
    for it in rows(page):
        if next(iter(it.values())) == row and column in it:
            found = number(it[column])
            if found is not None:
                return found
    raise LookupError(f"{page} has no number in {row!r}, {column!r}")


def store_ms(name: str, keys: str) -> float:
    """Milliseconds of a batch that a provider adds to a query without a store.

    What such a query takes hardly depends on its keys, so the median of its three figures counts.
    """
    without = median(cell("benchmarks.md", COUNT.format(it), "no store") for it in KEYS)
    return cell("benchmarks.md", COUNT.format(keys), COLUMNS[name]) - without


def requests(name: str, heading: str) -> float:
    """Requests of the store in a batch, of the table below the heading."""
    place = f"{name} v2" if name == "Keyfold" else name
    for table in tables("benchmarks-checkpoints.md"):
        if table.heading == heading:
            for it in table.rows:
                if it["provider"] == place:
                    part = it["requests a batch"].split("state ")[1]
                    return float(part.split(",")[0].split(";")[0])
    raise LookupError(f"benchmarks-checkpoints.md has no {place!r} below {heading!r}")


@dataclass(frozen=True)
class Costs:
    """What a provider takes; None: it cannot, or it was not measured.

    `warm`, `cold`: core seconds of a changed row, in memory and beyond. `copied`: of each row of
    the state, in each batch. `load`: of a row, to the first answer. `rescale`: of a row of the
    state. `requests`, `load_requests`: to an object store, of a partition. `memory`: of a row.
    """

    name: str
    warm: float
    copied: float
    cold: float | None
    load: float
    rescale: float | None
    requests: float
    load_requests: float
    memory: float


def costs() -> Iterator[Costs]:
    """Of each provider, from the pages."""
    for name, column in COLUMNS.items():
        at_1m, at_5m = store_ms(name, "1M int") / 1000, store_ms(name, "5M int") / 1000
        # HDFSBacked copies its map in each batch: two figures give both of its constants.
        copied = (at_5m - at_1m) / 4e6 if name == "HDFSBacked" else 0.0
        yield Costs(
            name,
            warm=(at_1m - copied * 1e6) * CORES / BATCH,
            copied=copied * CORES,
            cold=cold(name),
            load=cell("benchmarks.md", "load, to the first row, 5M int", column) / 1000 / 5e6,
            rescale=rescale(name, column),
            requests=requests(name, S3) / 4,
            load_requests=(requests(name, RESTART) - requests(name, S3)) / 4,
            memory=cell("benchmarks.md", MEMORY[name], column),
        )


S3: Final = "S3, 25 ms a request: 4 partitions, 2,000 rows a batch, 2,000 keys"
S3_200: Final = "S3, 25 ms a request: 200 partitions, 10 rows a batch, 20 keys"
RESTART: Final = (
    "S3, after a restart, 25 ms a request: 4 partitions, 2,000 rows a batch, 2,000 keys"
)
MEMORY: Final = {
    "HDFSBacked": "heap, per row, 5M int",
    "RocksDB": "resident memory, per row, 5M int",
    "Keyfold": "resident memory, per row, 5M int",
}
LIMITS: Final = "benchmarks-limits.md"
COLD: Final = {
    "RocksDB": "RocksDB, default settings, with a changelog",
    "Keyfold": "Keyfold",
}
BIG_BATCH: Final = 500_000


def cold(name: str) -> float | None:
    """Core seconds of a row beyond memory, of a state of which little is in it.

    Of the whole batch: it was not measured without a store.
    """
    if name not in COLD:
        return None
    return cell(LIMITS, COLD[name], "ms a batch, median") / 1000 * CORES / BIG_BATCH


def rescale(name: str, column: str) -> float | None:
    """Core seconds of a row of the state."""
    if name == "HDFSBacked":
        return None
    of = [
        cell("benchmarks.md", f"rescale, 16 to 32 partitions, {it} int", column) / 1000
        for it in ("1M", "5M")
    ]
    return (of[1] - of[0]) / 4e6 * CORES
