"""How much of a file the reader touches, and what it checks between files."""

from __future__ import annotations

import pytest

from keyfold.errors import (
    FileCorruptError,
    NotAKeyfoldFileError,
)
from keyfold.format.reader import read_blocks, read_footer
from keyfold.format.source import BytesSource, Source
from kit.golden.encoder import encode
from kit.golden.spec import family, link, spec
from kit.golden.valid import CONTINUED, DELTA, REFERENCE
from kit.state_files import entries, read_columns

NAME = "cp/state/2/3/7.delta"


class CountingSource(Source):
    def __init__(self, path: str, content: bytes) -> None:
        super().__init__(path, len(content), self._counted)
        self.reads: list[tuple[int, int]] = []
        self._content = content

    def _counted(self, offset: int, length: int) -> bytes:
        self.reads.append((offset, length))
        return self._content[offset : offset + length]


def large(entries: int) -> bytes:
    """A delta with one block of about 40 bytes an entry."""
    first = DELTA["blocks"][0]["entries"][0]
    return encode(
        DELTA
        | {
            "blocks": [{"family": 0, "codec": "none", "entries": [first] * entries}],
            "groups": [DELTA["groups"][0] | {"entries": entries, "bytes": 32 * entries}],
        }
    )


def test_a_block_is_read_alone_though_it_continues_a_list_of_the_block_before() -> None:
    source = BytesSource("5.snapshot", encode(CONTINUED))
    footer = read_footer(source)
    alone = list(read_blocks(source, footer, [1]))
    _, (_, second) = read_columns(source)
    assert [list(entries(it)) for it in alone] == [list(entries(second))]


def test_footer_of_a_large_file_takes_one_read() -> None:
    source = CountingSource(NAME, large(5000))
    assert source.size > 200_000
    assert read_footer(source).blocks[0].entries == 5000
    assert source.reads == [(source.size - 65536, 65536)]


def test_large_footer_takes_a_second_read() -> None:
    families = [family(number, f"family {number:030}", 1, 1) for number in range(1000)]
    source = CountingSource("7.delta", encode(spec("", "delta", {"version": 7}, families=families)))
    footer = read_footer(source)
    assert len(footer.families) == 1000
    assert len(source.reads) == 2


def test_damage_in_the_header_of_a_large_file_is_seen_by_a_full_read() -> None:
    content = bytearray(large(5000))
    content[9] ^= 1
    source = BytesSource(NAME, bytes(content))
    read_footer(source)
    with pytest.raises(FileCorruptError, match="the header has checksum"):
        read_columns(source)


def test_large_file_without_trailer_is_foreign_only_if_its_header_is() -> None:
    content = large(5000)[:-1] + b"?"
    with pytest.raises(FileCorruptError, match="trailer's magic"):
        read_footer(BytesSource(NAME, content))
    with pytest.raises(NotAKeyfoldFileError):
        read_footer(BytesSource(NAME, b"?" + content[1:]))


def test_longer_file_is_told_by_its_lengths() -> None:
    content = encode(DELTA)
    size = len(content)
    with pytest.raises(FileCorruptError, match=f"has {size + 1} bytes, its trailer says {size}"):
        read_footer(BytesSource(NAME, content[:16] + b"x" + content[16:]))


def test_file_that_shrinks_while_read_is_refused() -> None:
    content = encode(DELTA)
    shrinking = Source(NAME, len(content), lambda at, length: content[at : at + length - 1])
    with pytest.raises(FileCorruptError, match="has become shorter"):
        read_footer(shrinking)


def test_message_names_operator_and_partition() -> None:
    with pytest.raises(FileCorruptError, match=r"cp/state/2/3/7.delta \(operator 2 partition 3\)"):
        read_footer(BytesSource(NAME, b""))


def test_reference_with_blocks_is_refused() -> None:
    content = encode(REFERENCE | {"blocks": DELTA["blocks"], "groups": DELTA["groups"]})
    with pytest.raises(FileCorruptError, match="a reference has blocks"):
        read_footer(BytesSource("31_77a1e90c.ref", content))


@pytest.mark.parametrize(
    ("versions", "message"),
    [
        ([7, 6], "the lineage goes from version 7 to 7"),
        ([6, 6], "the lineage goes from version 6 to 6"),
    ],
)
def test_lineage_that_does_not_fall_is_refused(versions: list[int], message: str) -> None:
    lineage = [link(version, "delta") for version in versions]
    with pytest.raises(FileCorruptError, match=message):
        read_footer(BytesSource(NAME, encode(DELTA | {"lineage": lineage})))
