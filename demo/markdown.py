"""Pieces of a page in Markdown."""

from collections.abc import Iterable, Iterator, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Write a table."""
    for cells in (head, ["---"] * len(head), *rows):
        yield f"| {' | '.join(cells)} |"
