"""What queries have said, in bounded memory, and whether that is right."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count, islice
from typing import Any

from kit.queries.builtin import WINDOW
from soak.stream import IDS, KEYS, LINKED, RUN, counts, rows_between

Row = tuple[Any, ...]
# A batch of a busy machine is as long as a run, and a watermark some batches behind.
OPEN_RUNS = 5


@dataclass
class Said:
    """What a query has said so far, in bounded memory."""

    rows: int = 0
    ids: int = 0
    greatest: int = -1
    latest: dict[Any, Row] = field(default_factory=dict)
    wrong: list[Row] = field(default_factory=list)


def latest(said: Said, row: Row) -> None:
    said.latest[row[0]] = row


def is_count_of_all(said: Said, read: int) -> str | None:
    """Each key's latest row says how many came before; together they are the first so many."""
    found = {key: row[1] for key, row in said.latest.items()}
    expected = dict(counts(sum(found.values())))
    is_right = found == expected and sum(found.values()) >= read
    return None if is_right else f"{found}, of {read} rows or more"


def each_id(said: Said, row: Row) -> None:
    said.ids += row[0]
    said.greatest = max(said.greatest, row[0])


def is_each_once(step: int) -> Callable[[Said, int], str | None]:
    """Every id that is a multiple of `step`, up to the greatest that came, has come once."""

    def problem(said: Said, _read: int) -> str | None:
        last = said.greatest // step
        found, expected = (said.rows, said.ids), (last + 1, step * last * (last + 1) // 2)
        return None if found == expected else f"(ids, their sum) {found}, and must be {expected}"

    return problem


def is_all_ids(said: Said, _read: int) -> str | None:
    return is_each_once(1)(said, 0) or (None if said.greatest == IDS - 1 else "ids are missing")


def with_partner(said: Said, row: Row) -> None:
    """Rows without a partner come later than others, and are counted apart."""
    if (row[2] is None) != (row[0] % LINKED != 0) or row[2] not in {None, row[0]}:
        said.wrong.append(row)
    if row[2] is None:
        number, total, _ = said.latest.get("alone", (0, 0, 0))
        said.latest["alone"] = (number + 1, total + row[0], row[0])
        said.rows -= 1
    else:
        each_id(said, row)


def is_each_once_or_alone(said: Said, _read: int) -> str | None:
    number, total, _ = said.latest["alone"]
    first = list(islice((it for it in count() if it % LINKED != 0), number))
    if total != sum(first):
        return f"{number} rows without a partner, whose ids sum up to {total}, not {sum(first)}"
    return is_each_once(LINKED)(said, 0)


def of_a_run(column: int) -> Callable[[Said, Row], None]:
    """Of each key as many rows come in each run."""

    def take(said: Said, row: Row) -> None:
        if row[column] != RUN // KEYS:
            said.wrong.append(row)

    return take


def of_a_window(said: Said, row: Row) -> None:
    key, start, found, *_ = row
    if found != rows_between(key, start, start + WINDOW):
        said.wrong.append(row)


def is_many(said: Said, read: int) -> str | None:
    """Groups of all runs but those that the watermark has not passed."""
    expected = (read // RUN - OPEN_RUNS) * KEYS
    return None if said.rows >= expected else f"{said.rows} groups, and must be {expected}"


def remembered(said: Said, row: Row) -> None:
    """Of a key all rows are of one part; of what lives for no batch, little may be left."""
    key, _, parts, left = row
    latest(said, (key, int(parts.split(":")[1])))
    if left > 3:  # noqa: PLR2004 - a value, a list and a map
        said.wrong.append(row)
