"""Stream-stream joins of every type, in every format of their state."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

from pyspark.sql import DataFrame

from kit.queries.builtin import window_of, windowed
from kit.queries.joins import FORMATS, both_sides, joined, matching
from kit.queries.rows import Link, Row
from kit.queries.streams import Streams, minute
from operators.builtin_cases import SAVE, of_groups
from operators.cases import Answer, Case, not_rescaled, under_format_1
from operators.inputs import settled, settled_links

JOIN = "symmetricHashJoin"


def pairs() -> Iterator[tuple[Row, Link]]:
    return ((row, link) for row in settled() for link in settled_links() if matching(row, link))


def of_pairs(*, rows_alone: bool = False, links_alone: bool = False) -> Answer:
    """What a join says, with the rows or links that have no partner if it is an outer one."""
    for row, link in pairs():
        yield row.id, row.minute, link.ref, link.minute
    if rows_alone:
        for row in settled():
            if not any(matching(row, link) for link in settled_links()):
                yield row.id, row.minute, None, None
    if links_alone:
        for link in settled_links():
            if not any(matching(row, link) for row in settled()):
                yield None, None, link.ref, link.minute


def with_partner() -> Answer:
    rows = (row for row in settled() if any(matching(row, link) for link in settled_links()))
    return ((row.id, row.minute) for row in rows)


def left_side(streams: Streams) -> DataFrame:
    return joined(streams, "left_semi").select("id", minute("at"))


def linked_per_window() -> Answer:
    return of_groups(((row.key, window_of(row.minute)), row) for row, _ in pairs())


def in_every_format(case: Case) -> Iterator[Case]:
    for name, settings in FORMATS.items():
        yield replace(case, name=case.name + name, settings=settings)


INNER = Case("inner join", both_sides("inner"), of_pairs, (JOIN,))
LEFT = Case("left outer join", both_sides("left_outer"), lambda: of_pairs(rows_alone=True), (JOIN,))
RIGHT = Case(
    "right outer join", both_sides("right_outer"), lambda: of_pairs(links_alone=True), (JOIN,)
)
FULL = Case(
    "full outer join",
    both_sides("full_outer"),
    lambda: of_pairs(rows_alone=True, links_alone=True),
    (JOIN,),
)
SEMI = Case("left semi join", left_side, with_partner, (JOIN,))

JOINS = (
    *chain.from_iterable(map(in_every_format, (INNER, LEFT, RIGHT, FULL, SEMI))),
    Case(
        "inner join, then windows",
        lambda s: windowed(joined(s, "inner")),
        linked_per_window,
        (SAVE, JOIN),
    ),
    under_format_1(LEFT),
    *map(not_rescaled, (*in_every_format(LEFT), under_format_1(RIGHT))),
)
