from __future__ import annotations

from html.parser import HTMLParser

import keyfold
from keyfold.report import pictures
from keyfold.report.growth import Size, sizes
from keyfold.storage.storage import Storage
from kit.fake_checkpoint import FakeCheckpoint
from kit.state_writer import StateWriter


class Words(HTMLParser):
    def __init__(self, svg: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(svg)

    def handle_data(self, data: str) -> None:
        self.found += [data.strip()] if data.strip() else []


def test_operators_are_told_apart_in_their_order() -> None:
    found = [Size(batch, f"{it} op", 5, 700) for batch in (3, 4) for it in (2, 10)]
    words = Words(pictures.growth(found)).found
    assert [it for it in words if it.endswith("op")] == ["2 op", "10 op"]
    # The topmost line is that of all together.
    assert "1 KiB" in words
    assert "10" in words


def test_one_operator_needs_no_legend() -> None:
    assert "0 op" not in Words(pictures.growth([Size(0, "0 op", 5, 700)])).found


def test_batches_whose_size_is_not_known_are_left_out(fake: FakeCheckpoint) -> None:
    writer = StateWriter(fake)
    for number in range(4):
        writer.batch(dict.fromkeys(range(number, number + 10), number))
    writer.path(2).unlink()
    found = sizes(Storage(fake.root), 2, None)
    assert [(it.batch, it.rows) for it in found] == [(0, 10), (2, 12), (3, 13)]
    assert {it.operator for it in found} == {"0 stateStoreSave"}


def test_kinds_of_files_are_told_apart(fake: FakeCheckpoint) -> None:
    writer = StateWriter(fake, partitions=1)
    for number in range(4):
        writer.batch({number: number}, snapshots=number == 0)
    kinds = {"deltas", "merged deltas", "snapshots", "references"}

    def named() -> set[str]:
        files = keyfold.open_checkpoint(fake.root).inspect.files()
        return kinds & set(Words(pictures.timeline(files)).found)

    assert named() == {"deltas", "snapshots"}
    writer.merge(1, 0)
    assert named() == {"deltas", "merged deltas", "snapshots"}


def test_neighbouring_partitions_are_one_line() -> None:
    places = [(1, 0), (1, 1), (1, 2), (1, 4), (2, 5), (3, 5), (3, 6)]
    assert list(pictures._runs(places)) == [(1, 0, 2), (1, 4, 4), (2, 5, 5), (3, 5, 6)]


def test_page_of_many_key_groups_stays_small(fake: FakeCheckpoint) -> None:
    writer = StateWriter(fake, groups=5000)
    writer.batch(dict.fromkeys(range(4000), 1))
    groups = keyfold.open_checkpoint(fake.root).inspect.groups()
    assert groups.num_rows > 2000
    svg = pictures.spread(keyfold.open_checkpoint(fake.root).inspect.partitions(), groups)
    assert len(svg) < 60_000
