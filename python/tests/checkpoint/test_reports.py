from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser

import pytest
from rich.console import Console

from keyfold.describe.description import Description
from keyfold.describe.values import OperatorDescription, Problem, StoreDescription
from keyfold.settings import PROVIDER_CLASS

STORE = StoreDescription(
    name="left-keyWithIndexToValue",
    rows=1_234_567,
    min_partition_rows=4_321,
    max_partition_rows=123_456,
    live_bytes=5 * 1024**3,
    disk_bytes=3 * 1024**2 + 500 * 1024,
    deltas=8_000,
    merged_deltas=0,
    snapshots=400,
    references=0,
    families=(),
)
OPERATOR = OperatorDescription(
    id=0,
    name="symmetricHashJoin",
    partitions=200,
    key_groups=4800,
    latest_version=1_042,
    oldest_loadable_version=943,
    newest_loadable_version=1_042,
    stores=(STORE, replace(STORE, name="right-keyToNumValues", rows=0)),
)
WHOLE = Description(
    path="/data/checkpoints/" + "long/" * 20 + "clicks",
    query_id="3b241101-e2bb-4255-8caf-4136c566a962",
    provider=PROVIDER_CLASS,
    last_batch=1_041,
    last_batch_ms=1_700_000_000_000,
    oldest_batch=942,
    oldest_batch_ms=1_699_990_000_000,
    operators=(OPERATOR,),
    problems=(),
)


def words(text: str) -> str:
    return " ".join(text.split())


def test_text_fits_80_columns_and_loses_nothing() -> None:
    text = str(WHOLE)
    assert max(len(line) for line in text.splitlines()) <= 80
    assert WHOLE.path in "".join(text.split())
    for expected in ("1,234,567", "4,321-123,456", "5.0 GiB", "3.5 MiB", "8,000", "400"):
        assert expected in text
    assert "2023-11-14 22:13:20 UTC" in text
    assert STORE.name in text
    assert "200 partitions, 4,800 key groups, versions 943 to 1042" in words(text)


def test_text_fits_80_columns_with_every_kind_of_file() -> None:
    store = replace(STORE, merged_deltas=1_600, references=200)
    text = str(replace(WHOLE, operators=(replace(OPERATOR, stores=(store,)),)))
    assert max(len(line) for line in text.splitlines()) <= 80
    # A long name breaks, and no number.
    for expected in ("1,234,567", "4,321-123,456", "3.5 MiB", "8,000", "1,600", "400", "200"):
        assert expected in text
    assert words(text).count("deltas merged snaps refs") == 1


def test_text_has_no_terminal_codes() -> None:
    assert "\x1b" not in str(WHOLE)


def test_rich_shows_the_same() -> None:
    console = Console(width=80, color_system=None, legacy_windows=False)
    with console.capture() as capture:
        console.print(WHOLE)
    assert words(capture.get()) == words(str(WHOLE))


@pytest.mark.parametrize("hostile", ["<script>alert(1)</script>", '"onload="x', "[red]a[/red]"])
def test_names_are_never_markup(hostile: str) -> None:
    found = replace(
        WHOLE,
        path=hostile,
        operators=(replace(OPERATOR, name=hostile),),
        problems=(Problem(hostile, "KEYFOLD_X", hostile),),
    )
    # A long line may break inside of it.
    assert "".join(str(found).split()).count(hostile) == 4
    parsed = Texts()
    parsed.feed(found._repr_html_())
    assert sum(hostile in text for text in parsed.texts) == 3
    tables = {"table", "thead", "tbody", "tr", "td", "th"}
    assert parsed.tags <= {"div", "h4", "ul", "li", "b"} | tables


def test_html_says_what_the_text_says() -> None:
    parsed = Texts()
    parsed.feed(WHOLE._repr_html_())
    for expected in (WHOLE.path, STORE.name, "1,234,567", "5.0 GiB", WHOLE.query_id):
        assert expected in parsed.texts


class Texts(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.tags: set[str] = set()

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        self.tags.add(tag)
