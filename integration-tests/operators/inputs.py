"""What every query is given, a file a batch: rows that repeat or come too late, and links to them.

The last file moves the watermark past everything else.
"""

from itertools import chain
from pathlib import Path

from kit.queries.rows import END, Link, Row, write_file

FILES = 4
# Files that are there before the application is started again.
FILES_BEFORE = 2
ROWS_PER_FILE = 40
MINUTES_PER_FILE = 120
KEYS = 7
LATE, LATE_ROWS = 1, 5


def _row(number: int, minute: int) -> Row:
    """Three in a row have the same key, also from one file to the next."""
    return Row(number, f"k{number // 3 % KEYS}", number * 37 % 101, minute)


def _new_rows(file: int) -> list[Row]:
    numbers = range(ROWS_PER_FILE)
    return [_row(file * ROWS_PER_FILE + n, file * MINUTES_PER_FILE + 3 * n) for n in numbers]


def _in_time_for_next(row: Row) -> bool:
    return row.minute % MINUTES_PER_FILE >= MINUTES_PER_FILE // 2


def rows_of(file: int) -> list[Row]:
    """The rows of a file: new ones, and some of the file before once more."""
    if file == FILES - 1:
        late = [_row(900 + number, LATE) for number in range(LATE_ROWS)]
        return [*late, Row(999, "end", 0, END)]
    before = _new_rows(file - 1) if file > 0 else []
    return _new_rows(file) + [row for row in before if row.id % 4 == 0 and _in_time_for_next(row)]


def links_of(file: int) -> list[Link]:
    """A third of the rows has a link in the same file, some in the next; some links have no row."""

    def linked(file: int, rest: int) -> list[Row]:
        return [row for row in _new_rows(file) if row.id % 3 == rest]

    before = [row for row in linked(file - 1, 1) if _in_time_for_next(row)] if file > 0 else []
    if file == FILES - 1:
        late, end = Link(0, LATE + 10), Link(-999, END)
        return [*(Link(row.id, row.minute + 10) for row in before), late, end]
    lonely = [Link(-1, file * MINUTES_PER_FILE + minute) for minute in (5, 65, 119)]
    return [*(Link(row.id, row.minute + 10) for row in linked(file, 0) + before), *lonely]


def everything() -> list[Row]:
    """All rows of all files."""
    return list(chain.from_iterable(map(rows_of, range(FILES))))


def timely() -> list[Row]:
    """All rows that a watermark lets through."""
    return [row for row in everything() if row.minute != LATE]


def settled() -> list[Row]:
    """All rows that a watermark lets through, and has passed in the end."""
    return [row for row in timely() if row.minute != END]


def settled_links() -> list[Link]:
    """All links that a watermark lets through, and has passed in the end."""
    links = chain.from_iterable(map(links_of, range(FILES)))
    return [link for link in links if link.minute not in {LATE + 10, END}]


def write_input(folder: Path, files: range) -> None:
    """Writes files below `folder`, in the order in which Spark takes them."""
    for file in files:
        write_file(folder, file, rows_of(file), links_of(file))
